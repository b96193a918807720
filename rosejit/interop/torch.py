"""Functions of rosejit as functions of PyTorch's tensors: autograd differentiates through them, to any order."""

# Values of users, and all that PyTorch has, are of any type.

import functools
import math
from collections.abc import Iterable
from typing import Any

from rosejit.api.decorators import as_function
from rosejit.api.derivation.gradients import value_and_grad
from rosejit.api.derivation.modes import forward_pass, pulled
from rosejit.api.function import Function
from rosejit.errors import NotDifferentiable, StagingTypeError
from rosejit.interop.foreign_arguments import (
    beside,
    gives_real,
    in_order,
    is_atom,
    is_number,
    is_real,
    leaves_of,
    refuse_complex,
    require_hosts,
    required,
    with_leaves,
)
from rosejit.numeric import np

torch = required("torch", "torch")


def wrap(f: Any, *, dtype: Any = None) -> Any:
    """`f` as a function of tensors, which autograd knows: backward passes, also of backward passes, run compiled code.

    Arguments are tensors on the CPU, numbers, arrays, structures of them, and host values where `f` has such; numbers
    and arrays of the result are tensors. They are of float64, as `f` computes; `dtype=torch.float32`, say, takes
    tensors of any such type and gives results of that one, and gradients come in the type of their tensors.

    Where a gradient is wanted, a call is `rose.vjp(f, ...)`, whose pullback the backward pass calls; where the result
    is one real number, it is `rose.value_and_grad(f)`, and the backward pass multiplies.
    """
    return _Wrapped(as_function(f), _checked(dtype))


def _checked(dtype: Any) -> Any:
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise StagingTypeError(f"`dtype` is a type of real tensors, like `torch.float32`, given {dtype!r}")
    return dtype


class _Wrapped:
    """What `wrap` gives."""

    def __init__(self, base: Function, dtype: Any) -> None:
        functools.update_wrapper(self, base, updated=())
        self.base = base
        self.dtype = dtype
        self._scalars: dict[tuple[type, ...], _Scalar | None] = {}
        self._backs: dict[int, _Wrapped] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result, of tensors."""
        if not kwargs:
            classes = tuple([arg.__class__ for arg in args])
            scalar = self._scalars[classes] if classes in self._scalars else self._scalar(classes, args)
            if scalar is not None:
                tensors = [args[k] for k in scalar.places]
                self._look_at(tensors)
                try:
                    return _ScalarFunction.apply(scalar, torch.is_grad_enabled(), args, *tensors)
                except _NoScalar:  # a static argument makes it so
                    self._scalars[classes] = None
        args = in_order(self.base, args, kwargs)
        tensors = [*leaves_of(args, _is_tensor)]
        self._look_at(tensors)
        require_hosts(self.base, args, _is_tensor, "a tensor")
        call = _Call(self, args)
        found = _Function.apply(call, torch.is_grad_enabled(), *tensors)
        return found[0] if is_number(call.result) else with_leaves(call.result, is_number, iter(found))

    def _scalar(self, classes: tuple[type, ...], args: tuple[Any, ...]) -> "_Scalar | None":
        """How calls with arguments of these classes run, if none is a structure and the result is one real number."""
        places = [k for k, arg in enumerate(args) if _is_tensor(arg)]
        made = None
        if all(is_atom(arg) for k, arg in enumerate(args) if k not in places):
            self._look_at([args[k] for k in places])
            require_hosts(self.base, args, _is_tensor, "a tensor")
            if gives_real(self.base, with_leaves(args, _is_tensor, map(_as_numpy, [args[k] for k in places]))):
                made = _Scalar(self, places)
        self._scalars[classes] = made
        return made

    def _look_at(self, tensors: list[Any]) -> None:
        for tensor in tensors:
            if tensor.dtype is not torch.float64 or not tensor.is_cpu or tensor.layout is not torch.strided:
                self._require(tensor)

    def back(self, count: int) -> "_Wrapped":
        """The cotangents of `count` arguments as a function of tensors, which is differentiated where these are."""
        if count not in self._backs:
            self._backs[count] = _Wrapped(pulled(self.base, count), self.dtype)
        return self._backs[count]

    def _require(self, tensor: Any) -> None:
        """Refuse what is no strided tensor of numbers on the CPU, and other types than float64 unless asked for."""
        name = self.base.__name__
        if tensor.device.type != "cpu" or tensor.layout is not torch.strided or tensor.dtype.is_complex:
            raise StagingTypeError(
                f"`{name}` takes dense real tensors on the CPU, given one of {tensor.dtype} on {tensor.device}"
                + ("" if tensor.layout is torch.strided else f" that is {tensor.layout}"),
                help="move it: `x.to('cpu')`, `x.to_dense()`",
            )
        if tensor.dtype.is_floating_point and tensor.dtype is not torch.float64 and self.dtype is None:
            raise StagingTypeError(
                f"`{name}` computes in float64, given a tensor of {tensor.dtype}",
                help=f"convert it: `x.double()`, or ask for it: `wrap({name}, dtype={tensor.dtype})`",
            )

    def __reduce__(self) -> Any:
        return _rewrapped, (self.base, self.dtype)

    def __repr__(self) -> str:
        return f"<rose.interop.torch {self.base.__name__}{self.base.__signature__}>"


def _rewrapped(base: Function, dtype: Any) -> _Wrapped:
    return _Wrapped(base, dtype)


class _NoScalar(Exception):
    """The result is no real number."""


class _Scalar:
    """Calls whose arguments are tensors, numbers and host values, and whose result is one real number."""

    __slots__ = ("_gradients", "places", "wrapped")

    def __init__(self, wrapped: _Wrapped, places: list[int]) -> None:
        self.wrapped = wrapped
        self.places = places
        self._gradients: dict[tuple[bool, ...], Function] = {}

    def gradient(self, needed: tuple[bool, ...]) -> Function:
        """The value, and the derivatives by those tensors that need one."""
        found = self._gradients.get(needed)
        if found is None:
            by = tuple([k for k, need in zip(self.places, needed, strict=True) if need])
            found = self._gradients[needed] = value_and_grad(self.wrapped.base, by)
        return found

    def values(self, args: tuple[Any, ...], tensors: tuple[Any, ...]) -> list[Any]:
        """The arguments as a function of rosejit takes them."""
        values = list(args)
        for k, tensor in zip(self.places, tensors, strict=True):
            values[k] = _as_numpy(tensor)
        return values


class _ScalarFunction(torch.autograd.Function):
    """The result of a call, a number, and its derivative: the gradient times a number."""

    @staticmethod
    def forward(ctx: Any, scalar: _Scalar, graded: bool, args: tuple[Any, ...], *tensors: Any) -> Any:
        """The number. The gradient is kept."""
        values = scalar.values(args, tensors)
        needed = ctx.needs_input_grad
        if graded and True in needed:
            try:
                value, slopes = scalar.gradient(needed[3:])(*values)
            except NotDifferentiable:
                raise _NoScalar from None
            ctx.save_for_backward(*tensors)
            ctx.kept = scalar, args, slopes
        else:
            value = scalar.wrapped.base(*values)
            if value.__class__ is not float:
                raise _NoScalar
        return _as_tensor(value, scalar.wrapped.dtype)

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> tuple[Any, ...]:
        """The cotangents of the tensors."""
        scalar, args, slopes = ctx.kept
        tensors = ctx.saved_tensors
        needed = ctx.needs_input_grad[3:]
        ct = cotangent.item()
        if torch.is_grad_enabled():
            given = with_leaves(args, _is_tensor, iter(tensors))
            found = scalar.wrapped.back(len(args))(given, cotangent)
            slopes = [found[k] for k, need in zip(scalar.places, needed, strict=True) if need]
        elif ct and math.isfinite(ct):
            slopes = [ct * slope for slope in slopes]  # fresh arrays: autograd adds into what it is given
        else:  # an infinite slope times zero is zero where a branch says so
            found = pulled(scalar.wrapped.base, len(args))(tuple(scalar.values(args, tensors)), ct)
            slopes = [found[k] for k, need in zip(scalar.places, needed, strict=True) if need]
        given = iter(slopes)
        return (
            None,
            None,
            None,
            *[
                _as_tensor(next(given), tensor.dtype) if need else None
                for tensor, need in zip(tensors, needed, strict=True)
            ],
        )


class _Call:
    """One call: autograd itself takes tensors only, one by one."""

    __slots__ = ("args", "pullback", "result", "wrapped")

    def __init__(self, wrapped: _Wrapped, args: tuple[Any, ...]) -> None:
        self.wrapped = wrapped
        self.args = args
        self.result: Any = None
        self.pullback: Any = None


class _Function(torch.autograd.Function):
    """The result of a call, flat, and its derivative."""

    @staticmethod
    def forward(ctx: Any, call: _Call, graded: bool, *tensors: Any) -> tuple[Any, ...]:
        """The numbers and arrays of the result."""
        base, dtype = call.wrapped.base, call.wrapped.dtype
        values = with_leaves(call.args, _is_tensor, map(_as_numpy, tensors))
        if graded and True in ctx.needs_input_grad:
            call.result, call.pullback = forward_pass(base, values)
            ctx.save_for_backward(*tensors)
            ctx.call = call
        else:
            call.result = base(*values)
        refuse_complex(base, call.result)
        found = [*leaves_of(call.result, is_number)]
        made = tuple([_as_tensor(x, dtype if is_real(x) else None) for x in found])
        others = [t for x, t in zip(found, made, strict=True) if not is_real(x)]
        if others:
            ctx.mark_non_differentiable(*others)
        return made

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        """The cotangents of the tensors: by the pullback, or, to be differentiated again, by another such call."""
        call, tensors = ctx.call, ctx.saved_tensors
        if torch.is_grad_enabled():
            args = with_leaves(call.args, _is_tensor, iter(tensors))
            found = call.wrapped.back(len(args))(args, _seeded(call.result, cotangents))
        else:
            found = call.pullback(_seeded(call.result, map(_as_numpy, cotangents)))
        wanted = zip(ctx.needs_input_grad[2:], tensors, beside(call.args, found, _is_tensor), strict=True)
        return None, None, *[_as_tensor(x, tensor.dtype) if needed else None for needed, tensor, x in wanted]


def _seeded(result: Any, found: Iterable[Any]) -> Any:
    """The structure of a result, with the cotangents of its real numbers and None for the others."""
    if is_number(result):
        (ct,) = found
        return ct if is_real(result) else None
    kept = (ct if is_real(x) else None for x, ct in zip(leaves_of(result, is_number), found, strict=True))
    return with_leaves(result, is_number, kept)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _as_numpy(tensor: Any) -> Any:
    """The elements of a tensor as a function of rosejit takes them; a tensor without dimensions is a number."""
    if not tensor.ndim:
        return tensor.item()
    if tensor.dtype is not torch.float64 and tensor.dtype.is_floating_point:
        tensor = tensor.double()
    return tensor.numpy(force=True)


def _as_tensor(value: Any, dtype: Any) -> Any:
    """A number, an array or a tensor as a tensor of that type, or of its own."""
    if isinstance(value, np.ndarray):
        value = torch.from_numpy(value)
    elif isinstance(value, float):
        value = torch.from_numpy(np.array(value))
    elif not _is_tensor(value):
        value = torch.tensor(value)
    return value if dtype in (None, value.dtype) else value.to(dtype)
