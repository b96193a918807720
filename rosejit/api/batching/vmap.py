"""`vmap`: a function to one of arrays of its arguments: a loop over the batch, on the host also spread over threads."""

# The values are whatever a user's function takes.

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from rosejit.api.batching import axes
from rosejit.api.batching.axes import Axes, Batched
from rosejit.api.batching.vmap_threads import spread
from rosejit.api.calling.specialisation import Staged
from rosejit.api.decorators import as_function, wrapped_like
from rosejit.api.function import Function, FunctionSource, made_once
from rosejit.api.public_entry import public
from rosejit.errors import StagingTypeError
from rosejit.frontend.arrays.array import Array, made_outside
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.control.chosen import none_among
from rosejit.frontend.control.comprehensions import Comprehension
from rosejit.frontend.control.optional import holds_optional
from rosejit.frontend.control.staged_range import StagedRange
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call, handed_on
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays, map_arrays
from rosejit.frontend.values.open_lengths import opened
from rosejit.frontend.values.pytree import parts, with_parts
from rosejit.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from rosejit.api.public_hints import Mat, Vec

    @overload
    def vmap(f: Callable[..., int], in_axes: Axes = ..., threads: int = ...) -> Function[..., Any]: ...

    @overload
    def vmap(f: Callable[..., float], in_axes: Axes = ..., threads: int = ...) -> Function[..., Vec]: ...

    @overload
    def vmap(f: Callable[..., Vec], in_axes: Axes = ..., threads: int = ...) -> Function[..., Mat]: ...

    @overload
    def vmap(f: Callable[..., Any], in_axes: Axes = ..., threads: int = ...) -> Function[..., Any]: ...


@public
def vmap(f: Callable[..., Any], in_axes: Axes = 0, threads: int = 1) -> Function:
    """`f` for a whole batch: it takes arrays with one more axis, and its results are stacked along axis 0.

    `in_axes` says along which axis each argument is mapped: a number for all of them, or a tuple with a number, `None`
    (the same for all of the batch), or a structure of these, for each. Where it does not speak of a parameter that has
    a default, an array is mapped over axis 0 and a number is not mapped. Static arguments are never mapped.

    The batch is a loop, its effects in order. On the host `threads=k` spreads it over `k` threads, in order on one if
    `f` calls host functions.

    >>> import numpy as np
    >>> import rosejit as rose
    >>> rose.vmap(lambda x, y: x * y, in_axes=(0, None))(np.array([1.0, 2.0, 3.0]), 10.0)
    array([10., 20., 30.])
    """
    base = as_function(f)
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise StagingTypeError(f"`threads` is a number of threads, at least 1, given {threads!r}")
    return made_once(base, (vmap, repr(in_axes), threads), lambda: _vmap(base, in_axes, threads))


def _vmap(base: Function, in_axes: Axes, threads: int) -> Function:
    binding = axes.batched(base.binding, base.__name__, in_axes, base.__signature__)
    rows = _Rows(base, binding)

    def every(*args, **kwargs):
        return rows(*args, **kwargs)

    def stage(self: Function, call: Call, at: Session) -> Staged:
        source = at.stage(every, self.binding, handed_on(call), self.__name__, (self, call.key))
        return Staged(source.function, tuple(call.trees), source.result, tuple(source.statics), source)

    def rebuilt(self: Function) -> Any:
        return vmap, (base, in_axes, threads)

    python = None if threads == 1 else spread(vmap(base, in_axes), binding, threads)
    made = Function(binding, base.options, FunctionSource(stage, rebuilt, python))
    wrapped_like(made, base, f"vmap_{base.__name__}")
    made.__signature__ = _unhinted(base.__signature__)
    return made


def _unhinted(found: inspect.Signature) -> inspect.Signature:
    """The parameters without hints, which speak of one element of the batch."""
    empty = inspect.Parameter.empty
    plain = [p.replace(annotation=empty) for p in found.parameters.values()]
    return found.replace(parameters=plain, return_annotation=empty)


@dataclass(slots=True)
class _Rows:
    """The function on each element of the batch, in staged code."""

    base: Function
    binding: Batched

    def __rose_stage__(self, at: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = self.binding.bind(args, kwargs)
        values = self.binding.arrange(*args, **kwargs)
        made = Comprehension(at.tape, StagedRange(at.tape, 0, *opened(at.tape, (self.binding.length(call), 1))))
        for index in made.first:
            mapped, row = iter(self.binding.mapped_axes(call)), partial(_row, at, index)
            given = [axes.pick(t, value, mapped, row) for t, value in zip(call.trees, values, strict=True)]
            at.opened.objects.note(at.tape, call.trees, self.base.__signature__.parameters, given)
            result = self.binding.apply(lambda *xs, **named: self.base.__rose_stage__(at, xs, named), given)
            result = none_among(result)
            if holds_optional(result):
                raise at.tape.type_fault(
                    f"`{self.base.__name__}` gives a value or None, and `rose.vmap` stacks what it gives",
                    "give a number for None (`math.nan`), or a truth value beside it",
                )
            made.put((result,))  # a list of numbers alone would be taken for a row
        columns = made.result
        return _batched(columns.value[0]) if columns.__class__ is StructOfArrays else columns[0][0]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("staged code calls it by its protocol")


def _batched(result: Any) -> Any:
    """The result for the batch: the elements of a list stay its outermost axis."""
    if result.__class__ is StructOfArrays:
        return StructOfArrays(map_arrays(result.value, lambda column: column.swapaxes(0, 1)))  # pyright: ignore[reportAttributeAccessIssue]  # methods are installed
    if hasattr(result, "__rose_dynamic__"):
        raise StagingTypeError(
            "the result of a mapped function is a list whose length only running tells: each would have its own",
            help="give back a number that is made of it, or an array of a known length",
        )
    inside = parts(result)
    return result if inside is None else with_parts(result, [_batched(part) for part in inside])


def _row(at: Session, index: Any, leaf: Any, axis: int) -> Any:
    """Element `index` of an array along an axis."""
    held = leaf if leaf.__class__ is Array else made_outside(at.tape, leaf)
    return get(held, (*(slice(None),) * axis, index) if axis else index)
