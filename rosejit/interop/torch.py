"""Functions of rosejit as functions of PyTorch's tensors: autograd differentiates through them, to any order."""

# Values of users, and all that PyTorch has, are of any type.

import functools
from collections.abc import Iterable
from typing import Any

from rosejit.api.decorators import as_function
from rosejit.api.derivation.modes import pulled, vjp
from rosejit.api.function import Function
from rosejit.errors import StagingTypeError
from rosejit.interop.foreign_arguments import (
    beside,
    in_order,
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

    Where a gradient is wanted, a call is `rose.vjp(f, ...)`, whose pullback the backward pass calls.
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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result, of tensors."""
        args = in_order(self.base, args, kwargs)
        tensors = [*leaves_of(args, _is_tensor)]
        for tensor in tensors:
            if tensor.dtype is not torch.float64 or not tensor.is_cpu or tensor.layout is not torch.strided:
                self._require(tensor)
        require_hosts(self.base, args, _is_tensor, "a tensor")
        call = _Call(self, args)
        found = _Function.apply(call, *tensors)
        return found[0] if is_number(call.result) else with_leaves(call.result, is_number, iter(found))

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
    def forward(ctx: Any, call: _Call, *tensors: Any) -> tuple[Any, ...]:
        """The numbers and arrays of the result."""
        base, dtype = call.wrapped.base, call.wrapped.dtype
        values = with_leaves(call.args, _is_tensor, map(_as_numpy, tensors))
        if True in ctx.needs_input_grad:
            call.result, call.pullback = vjp(base, *values)
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
            back = _Wrapped(pulled(call.wrapped.base, len(call.args)), call.wrapped.dtype)
            args = with_leaves(call.args, _is_tensor, iter(tensors))
            found = back(args, _seeded(call.result, cotangents))
        else:
            found = call.pullback(_seeded(call.result, map(_as_numpy, cotangents)))
        wanted = zip(ctx.needs_input_grad[1:], tensors, beside(call.args, found, _is_tensor), strict=True)
        return None, *[_as_tensor(x, tensor.dtype) if needed else None for needed, tensor, x in wanted]


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
        return torch.scalar_tensor(value, dtype=dtype or torch.float64)
    elif not _is_tensor(value):
        value = torch.tensor(value)
    return value if dtype in (None, value.dtype) else value.to(dtype)
