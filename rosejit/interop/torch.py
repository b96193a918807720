"""Functions of rosejit as functions of PyTorch's tensors: autograd differentiates through them, to any order."""

# Values of users, and all that PyTorch has, are of any type.

import functools
import math
from collections.abc import Iterable
from typing import Any

from rosejit.api.batching.vmap import vmap
from rosejit.api.decorators import as_function
from rosejit.api.derivation.gradients import value_and_grad
from rosejit.api.derivation.modes import forward_pass, pulled, pushed
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
    mapped,
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
    is one real number, it is `rose.value_and_grad(f)`, and the backward pass multiplies. Under the transforms of
    `torch.func` (`grad`, `jvp`, `jacrev`, `hessian`, `vmap`) it is `rose.vjp(f, ...)`, `rose.jvp` and `rose.vmap(f)`.
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
        self._flats: dict[tuple[type, ...], _Flat | None] = {}
        self._backs: dict[int, _Wrapped] = {}
        self._alongs: dict[int, _Wrapped] = {}
        self._batched: dict[str, _Wrapped] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result, of tensors."""
        if _is_transformed():
            return self._transformed(in_order(self.base, args, kwargs))
        if not kwargs:
            classes = tuple([arg.__class__ for arg in args])
            flat = self._flats[classes] if classes in self._flats else self._flat(classes, args)
            if flat is not None:
                tensors = [args[k] for k in flat.places]
                self._look_at(tensors)
                try:
                    return _FlatFunction.apply(flat, torch.is_grad_enabled(), args, *tensors)
                except _NotFlat:  # a static argument makes it so
                    self._flats[classes] = None
        args = in_order(self.base, args, kwargs)
        tensors = [*leaves_of(args, _is_tensor)]
        self._look_at(tensors)
        require_hosts(self.base, args, _is_tensor, "a tensor")
        call = _Call(self, args)
        found = _Function.apply(call, torch.is_grad_enabled(), *tensors)
        return found[0] if is_number(call.result) else with_leaves(call.result, is_number, iter(found))

    def _flat(self, classes: tuple[type, ...], args: tuple[Any, ...]) -> "_Flat | None":
        """How calls with arguments of these classes run, if none is a structure and the result is one real number or
        array."""
        places = [k for k, arg in enumerate(args) if _is_tensor(arg)]
        made = None
        if all(is_atom(arg) for k, arg in enumerate(args) if k not in places):
            self._look_at([args[k] for k in places])
            require_hosts(self.base, args, _is_tensor, "a tensor")
            gives = gives_real(self.base, with_leaves(args, _is_tensor, map(_as_numpy, [args[k] for k in places])))
            made = gives and _Flat(self, places, gives == "array")
        self._flats[classes] = made
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

    def _transformed(self, args: tuple[Any, ...]) -> Any:
        """A call under `torch.func`."""
        tensors = [*leaves_of(args, _is_tensor)]
        self._look_at(tensors)
        require_hosts(self.base, args, _is_tensor, "a tensor")
        call = _Call(self, args)
        found = _Transformed.apply(call, *tensors)
        return with_leaves(call.result, _is_given, iter(found))

    def along(self, count: int) -> "_Wrapped":
        """The tangents of the result as a function of `count` arguments and their tangents."""
        if count not in self._alongs:
            self._alongs[count] = _Wrapped(pushed(self.base, count), self.dtype)
        return self._alongs[count]

    def batched(self, axes: Any) -> "_Wrapped":
        """The function of arguments some of which are batches, along their first axis: 0 and None as `rose.vmap` takes
        them."""
        key = repr(axes)
        if key not in self._batched:
            self._batched[key] = _Wrapped(vmap(self.base, axes), self.dtype)
        return self._batched[key]

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


class _NotFlat(Exception):
    """The result is no real number, or no array of them."""


class _Flat:
    """Calls whose arguments are tensors, numbers and host values, and whose result is one real number, or one array."""

    __slots__ = ("_gradients", "is_array", "places", "wrapped")

    def __init__(self, wrapped: _Wrapped, places: list[int], is_array: bool) -> None:
        self.wrapped = wrapped
        self.places = places
        self.is_array = is_array
        self._gradients: dict[tuple[bool, ...], tuple[Function, tuple[int, ...]]] = {}

    def forward(self, values: list[Any], needed: tuple[bool, ...]) -> tuple[Any, Any]:
        """The result, and what a backward pass needs of it: the derivatives by those tensors that need one, by their
        places, or the pullback."""
        if self.is_array:
            return forward_pass(self.wrapped.base, values)
        known = self._gradients.get(needed)
        if known is None:
            by = tuple([k for k, need in zip(self.places, needed, strict=True) if need])
            known = self._gradients[needed] = value_and_grad(self.wrapped.base, by), by
        gradient, by = known
        try:
            value, slopes = gradient(*values)
        except NotDifferentiable:
            raise _NotFlat from None
        return value, dict(zip(by, slopes, strict=True))

    def is_given(self, value: Any) -> bool:
        """Whether the result is what it was before."""
        return value.__class__ is np.ndarray and value.dtype.kind == "f" if self.is_array else value.__class__ is float

    def multiplied(self, slopes: dict[int, Any], ct: float, args: tuple[Any, ...], tensors: tuple[Any, ...]) -> Any:
        """The gradient times a number."""
        if ct and math.isfinite(ct):
            return {k: ct * slope for k, slope in slopes.items()}  # fresh arrays: autograd adds into what it is given
        # an infinite slope times zero is zero where a branch says so
        return pulled(self.wrapped.base, len(args))(tuple(self.values(args, tensors)), ct)

    def values(self, args: tuple[Any, ...], tensors: tuple[Any, ...]) -> list[Any]:
        """The arguments as a function of rosejit takes them."""
        values = list(args)
        for k, tensor in zip(self.places, tensors, strict=True):
            values[k] = _as_numpy(tensor)
        return values


class _FlatFunction(torch.autograd.Function):
    """The result of a call and its derivative: of a number the gradient times a number, of an array a pullback."""

    @staticmethod
    def forward(ctx: Any, flat: _Flat, graded: bool, args: tuple[Any, ...], *tensors: Any) -> Any:
        """The result. The gradient, or the pullback, is kept."""
        values = flat.values(args, tensors)
        needed = ctx.needs_input_grad
        if graded and True in needed:
            value, kept = flat.forward(values, needed[3:])
            ctx.save_for_backward(*tensors)
            ctx.kept = flat, args, kept
        else:
            value = flat.wrapped.base(*values)
        if not flat.is_given(value):
            raise _NotFlat
        return _as_tensor(value, flat.wrapped.dtype)

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> tuple[Any, ...]:
        """The cotangents of the tensors."""
        flat, args, kept = ctx.kept
        tensors = ctx.saved_tensors
        if torch.is_grad_enabled():
            given = with_leaves(args, _is_tensor, iter(tensors))
            found = flat.wrapped.back(len(args))(given, cotangent)
        elif flat.is_array:
            found = kept(_as_numpy(cotangent))
        else:
            found = flat.multiplied(kept, cotangent.item(), args, tensors)
        return (
            None,
            None,
            None,
            *[
                _as_tensor(found[k], tensor.dtype) if need else None
                for k, tensor, need in zip(flat.places, tensors, ctx.needs_input_grad[3:], strict=True)
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


class _Transformed(torch.autograd.Function):
    """The result of a call, flat, under the transforms of `torch.func`: its rules are calls of other functions, which
    go through the transforms that are left."""

    @staticmethod
    def forward(call: _Call, *tensors: Any) -> tuple[Any, ...]:
        """The numbers and arrays of the result."""
        base, dtype = call.wrapped.base, call.wrapped.dtype
        call.result = base(*with_leaves(call.args, _is_tensor, map(_as_numpy, tensors)))
        refuse_complex(base, call.result)
        return tuple([_as_tensor(x, dtype if is_real(x) else None) for x in leaves_of(call.result, is_number)])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        """Keep the tensors, which are the arguments of the rules."""
        ctx.call, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.mark_non_differentiable(*[tensor for tensor in output if not tensor.is_floating_point()])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        """The cotangents of the tensors."""
        call, tensors = ctx.call, ctx.saved_tensors
        args = with_leaves(call.args, _is_tensor, iter(tensors))
        found = call.wrapped.back(len(args))(args, _seeded(call.result, cotangents))
        wanted = zip(ctx.needs_input_grad[1:], tensors, beside(call.args, found, _is_tensor), strict=True)
        return None, *[_as_tensor(x, tensor.dtype) if needed else None for needed, tensor, x in wanted]

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        """The tangents of the result."""
        call, tensors = ctx.call, ctx.saved_tensors
        args = with_leaves(call.args, _is_tensor, iter(tensors))
        given = zip(tensors, tangents, strict=True)
        whole = iter([torch.zeros_like(x) if t is None and x.is_floating_point() else t for x, t in given])
        found = call.wrapped.along(len(args))(args, mapped(call.args, _is_tensor, lambda x: next(whole)))
        results = leaves_of(call.result, _is_given)
        return tuple(
            [t if _is_real(x) else None for x, t in zip(results, beside(call.result, found, _is_given), strict=True)]
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], call: _Call, *tensors: Any) -> tuple[Any, Any]:
        """The results for a batch, and where their axes are."""
        axes = [None if dim is None else 0 for dim in in_dims[1:]]
        moved = [x if dim is None else x.movedim(dim, 0) for x, dim in zip(tensors, in_dims[1:], strict=True)]
        named = iter(axes)
        batched = call.wrapped.batched(tuple([mapped(arg, _is_tensor, lambda x: next(named)) for arg in call.args]))
        call.result = batched(*with_leaves(call.args, _is_tensor, iter(moved)))
        found = tuple(leaves_of(call.result, _is_given))
        return found, (0,) * len(found)


_is_transformed = torch._C._are_functorch_transforms_active


def _is_given(value: Any) -> bool:
    """Whether a result is a number, an array or a tensor."""
    return is_number(value) or _is_tensor(value)


def _is_real(value: Any) -> bool:
    """Whether a result has a derivative."""
    return value.is_floating_point() if _is_tensor(value) else is_real(value)


def _seeded(result: Any, found: Iterable[Any]) -> Any:
    """The structure of a result, with the cotangents of its real numbers and None for the others."""
    if _is_given(result):
        (ct,) = found
        return ct if _is_real(result) else None
    kept = (ct if _is_real(x) else None for x, ct in zip(leaves_of(result, _is_given), found, strict=True))
    return with_leaves(result, _is_given, kept)


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
