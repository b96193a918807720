"""Says what `a[...]` with numbers and slices picks: one element, or a view."""

# Values of users are of any type: what they are is asked while staging.

from functools import lru_cache
from typing import Any

from rosejit.errors import RoseIndexError
from rosejit.frontend.arrays.access import along, base, base_lengths, element, is_prefix, number, path
from rosejit.frontend.arrays.array import Anchor, Array, Axes, Fixed, Run, atom_of
from rosejit.frontend.arrays.dynamic_slice import plain, run_of
from rosejit.frontend.values.host_scalars import LARGEST, SMALLEST, number_kind
from rosejit.frontend.values.open_lengths import OpenLength
from rosejit.frontend.values.scalars import Int, P, int_atom
from rosejit.frontend.values.tape import Tape
from rosejit.ir.failure import index_failure
from rosejit.ir.syntax import Atom, Index, Lit, Var
from rosejit.ir.types import BOOL, INT, array

Step = Fixed | Run | None
"""What an index does to one dimension: fix it, run along it (`axis` is set later), or insert one of length 1."""


def expanded(a: Array, index: Any) -> list[Any]:
    """One item for each dimension, and None for each new one."""
    items = list(index) if isinstance(index, tuple) else [index]
    used = sum(_dimensions(item) for item in items)
    if used > a.ndim:
        raise a.tape.fault(
            RoseIndexError,
            f"`{a.box.name}` has {a.ndim} dimension{'s' * (a.ndim != 1)}, and is indexed with {used}",
            facts=(f"its shape is {a.shape}",),
        )
    missing: list[Any] = [slice(None)] * (a.ndim - used)
    if Ellipsis in [item for item in items if item is Ellipsis]:
        at = next(k for k, item in enumerate(items) if item is Ellipsis)
        return [*items[:at], *missing, *items[at + 1 :]]
    return [*items, *missing]


def _dimensions(item: Any) -> int:
    """How many dimensions an item is about: a mask has several."""
    if item.__class__ is Array and item.type is BOOL:
        return item.ndim
    return int(item is not None and item is not Ellipsis)


def steps_of(a: Array, items: list[Any]) -> tuple[list[Step], tuple[int, ...]]:
    """What each item does, and the shape that comes out."""
    steps: list[Step] = []
    shape: list[int] = []
    dimension = 0
    for item in items:
        if item is None:
            steps.append(None)
            shape.append(1)
            continue
        length = a.shape[dimension]
        if isinstance(item, slice):
            run, count = run_of(a.tape, item, length, len(shape))
            steps.append(run)
            shape.append(count)
        else:
            steps.append(Fixed(single(a, item, dimension)))
        dimension += 1
    return steps, tuple(shape)


def single(a: Array, item: Any, dimension: int) -> Atom:
    """An index in range: known now, or checked at run time. Negative ones count from the end."""
    tape, length = a.tape, a.shape[dimension]
    if length.__class__ is OpenLength or item.__class__ is OpenLength:
        return tape.apply(P["wrap_index"], _open_index(tape, item), Lit(length, INT))
    if type(item) is int and -length <= item < length:
        return _known(item % length)
    item = plain(tape, item)
    if number_kind(item) == "int":
        k = int(item)
        if -length <= k < length:
            return _known(k % length)
        if may_never_run(tape) and SMALLEST <= k <= LARGEST:
            return tape.apply(P["wrap_index"], Lit(k, INT), Lit(length, INT))
        facts = (f"the shape of `{a.box.name}` is {a.shape}",)
        raise tape.fault(RoseIndexError, f"index {k} is out of range for length {length}", facts=facts)
    if item.__class__ is not Int:
        shown = getattr(type(item), "__name__", "object")
        raise tape.type_fault(f"an array is indexed with integers and slices, given {shown}", "convert with `int(...)`")
    atom: Atom = item.atom
    if item.low < 0:
        atom = tape.apply(P["wrap_index"], atom, Lit(length, INT))
    return atom


def _open_index(tape: Tape, item: Any) -> Atom:
    """An index where only the run knows whether it is in range: a variable, so that it is checked."""
    item = plain(tape, item)
    atom = int_atom(tape, item) if item.__class__ is Int or number_kind(item) == "int" else None
    if atom is None:
        shown = getattr(type(item), "__name__", "object")
        raise tape.type_fault(f"an array is indexed with integers and slices, given {shown}", "convert with `int(...)`")
    return atom


@lru_cache(maxsize=4096)
def _known(k: int) -> Lit:
    """An index as an atom; the same one is used again."""
    return Lit(k, INT)


def may_never_run(tape: Tape) -> bool:
    """Whether a wrong index is wrong only where the code gets there, and then at run time."""
    return tape.is_staged and not tape.catching


def is_direct(a: Array) -> bool:
    """Whether an access checks the indices by itself: every dimension of the view is one of the base, whole."""
    if a.axes is None:
        return True
    runs = [(entry, n) for entry, n in zip(a.axes, base_lengths(a), strict=True) if isinstance(entry, Run)]
    return len(runs) == a.ndim and all(e == Run(e.axis) and a.shape[e.axis] == n for e, n in runs)


def view(a: Array, steps: list[Step], shape: tuple[int, ...]) -> Any:
    """The element or the view that `steps` pick; staged indices are checked here, as in NumPy."""
    tape = a.tape
    staged = any(isinstance(step, Fixed) and isinstance(step.at, Var) for step in steps)
    if not shape and None not in steps and is_direct(a):
        indices = tuple(step.at for step in steps if isinstance(step, Fixed))
        var, axes = base(a)
        return number(tape, tape.bind(Index(var, path(a, axes, indices), checked=staged), a.type))
    part = part_of(a, steps, shape)
    if staged and is_direct(a) and shape and is_prefix(part) is not None:
        _anchor(part)
    elif staged:
        check(a, steps)
    return part if shape or None in steps else number(tape, element(part, ()))


def _anchor(part: Array) -> None:
    """Bind the row that `part` is: that checks the indices, and reads of the row start there."""
    var, axes = base(part)
    at = tuple(entry.at for entry in axes if isinstance(entry, Fixed))
    row = part.tape.bind(Index(var, at), array(part.shape, part.type), "row")
    fixed = is_prefix(part)
    assert fixed is not None
    part.anchor = Anchor(atom_of(part.tape, part.box), row, fixed, part.tape.frame, part.tape.frame.epoch)


def part_of(a: Array, steps: list[Step], shape: tuple[int, ...]) -> Array:
    """The view that `steps` show."""
    dims = [step for step in steps if step is not None]
    own: Axes = tuple(Run(k) for k in range(a.ndim)) if a.axes is None else a.axes
    made = Array(a.tape, a.box, shape, a.type, tuple(_composed(a.tape, entry, dims) for entry in own))
    made.anchor = a.anchor
    return made


def _composed(tape: Tape, entry: Fixed | Run, dims: list[Fixed | Run]) -> Fixed | Run:
    if isinstance(entry, Fixed):
        return entry
    step = dims[entry.axis]
    if isinstance(step, Fixed):
        return Fixed(along(tape, entry, step.at))
    return Run(step.axis, along(tape, entry, step.start), entry.step * step.step)


def check(a: Array, steps: list[Step]) -> None:
    """Check the staged indices against the shape that the user sees."""
    dims = [step for step in steps if step is not None]
    for length, step in zip(a.shape, dims, strict=True):
        if isinstance(step, Fixed) and isinstance(step.at, Var):
            check_index(a.tape, step.at, length)


def check_index(tape: Tape, at: Atom, length: int) -> None:
    """Fail at run time unless the index is in range."""
    low, high = tape.apply(P["ige"], at, Lit(0, INT)), tape.apply(P["ilt"], at, Lit(length, INT))
    tape.check(tape.apply(P["and"], low, high), index_failure(tape.here()), at, Lit(length, INT))
