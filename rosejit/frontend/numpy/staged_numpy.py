"""NumPy's functions for functions that are written with them: `of(tape).where(...)` is what a user's `np.where` is."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import operator
from functools import partial
from math import prod
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import refuse_no_array
from rosejit.frontend.arrays.reductions import axes_of
from rosejit.frontend.numpy import manipulation
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape
from rosejit.numeric import np


class StagedNumPy:
    """The functions, staged wherever something staged is among their arguments."""

    __slots__ = ("_call", "_path")

    def __init__(self, call: Any, path: str = "") -> None:
        self._call = call
        self._path = path

    def __getattr__(self, name: str) -> Any:
        path = f"{self._path}.{name}".lstrip(".")
        return StagedNumPy(self._call, path)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the function of that name gives."""
        return self._call(operator.attrgetter(self._path)(np), *args, **options)


def of(tape: Tape) -> Any:
    """What stands for `np` in a function of ours."""
    return StagedNumPy(tape.session.hooks.call)


def calling(tape: Tape, function: Any, *first: Any, **options: Any) -> Any:
    """A function that calls one of the user's, as his own code would."""
    return partial(tape.session.hooks.call, function, *first, **options)


def array_of(tape: Tape, name: str, value: Any) -> Any:
    """What may be an array as one; a number is one without dimensions."""
    found = as_array(tape, [value] if type_of(value) is not None else value)
    if found is None:
        refuse_no_array(tape, f"`{name}`", value)
    return manipulation.reshaped(found, ()) if type_of(value) is not None else found


def vector(tape: Tape, name: str, value: Any) -> Any:
    """What must have one dimension."""
    found = array_of(tape, name, value)
    if found.ndim != 1:
        raise tape.fault(ShapeError, f"`{name}` takes a vector, given an array of shape {found.shape}")
    return found


def lined(a: Array, axis: Any) -> Any:
    """The elements along some axes, or all, in one last dimension."""
    gone = axes_of(a, axis)
    kept = [k for k in range(a.ndim) if k not in gone]
    if len(gone) == 1 and gone[0] == a.ndim - 1:
        return a
    moved = manipulation.transposed(a, (*kept, *gone))
    return manipulation.reshaped(moved, (*(a.shape[k] for k in kept), prod(a.shape[k] for k in gone)))


def with_axes(a: Array, found: Any, axis: Any, keepdims: bool) -> Any:
    """What was made of the elements along some axes of `a`; with `keepdims` these stay, with length 1."""
    if not keepdims:
        return found
    gone = axes_of(a, axis)
    shape = tuple(1 if k in gone else n for k, n in enumerate(a.shape))
    return manipulation.reshaped(array_of(a.tape, "keepdims", found), shape) if shape else found
