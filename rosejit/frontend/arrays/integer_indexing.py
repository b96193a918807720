"""Stages indices that are arrays: the elements, rows or columns that integers pick, and what is stored there."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable
from typing import Any

from rosejit.errors import RoseIndexError
from rosejit.frontend.arrays.access import Indices, along, base, build, check_writable, path, put, whole_axes
from rosejit.frontend.arrays.array import Array, Run, atom_of, fresh, host_data, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.basic_indexing import check_index, is_direct, may_never_run, single
from rosejit.frontend.arrays.broadcast import broadcast_shape
from rosejit.frontend.arrays.dynamic_slice import run_of
from rosejit.frontend.arrays.setitem_cast import fitting, spread
from rosejit.frontend.values.open_lengths import OpenLength
from rosejit.frontend.values.scalars import ATOMS, P, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Block, Index, Lit, Loop, Update, Var
from rosejit.ir.types import BOOL, INT
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

Place = Callable[[Indices], Atom]
"""The index along one dimension of an array, given the indices of what is picked."""
Combine = Callable[[Any, Any], Any]
"""What is stored, of what was there and what is given."""


def is_list(item: Any) -> bool:
    """Whether an index picks several elements."""
    return isinstance(item, (list, np.ndarray)) or (item.__class__ is Array and bool(item.shape))


def as_picks(tape: Tape, index: Any) -> Any:
    """An index with arrays for lists; a mask that staging knows becomes the integers that it stands for."""
    items: list[Any] = []
    for item in index if isinstance(index, tuple) else (index,):
        if not is_list(item):
            items.append(item)
            continue
        picks = as_array(tape, np.array(item, int) if isinstance(item, list) and not item else item)
        if picks is None or picks.type not in (INT, BOOL):
            shown = type(item).__name__ if picks is None else f"an array of {picks.type}s"
            raise tape.type_fault(f"an array is indexed with integers, slices and masks, given {shown}", "use integers")
        known = host_data(picks) if picks.type is BOOL else None
        items += [picks] if known is None else [of_host(tape, found) for found in np.nonzero(known)]
    return tuple(items)


@dataclass(slots=True)
class Picks:
    """What an index with arrays does: `shape` comes out, and `places` says for each dimension where it is read."""

    array: Array
    shape: tuple[int, ...]
    places: list[Place]
    staged: list[int]
    """The dimensions whose indices only running tells."""
    common: slice
    """The axes along which the arrays of the index run together."""

    @property
    def checked(self) -> bool:
        """Whether accesses check the indices by themselves."""
        return bool(self.staged) and is_direct(self.array)

    def at(self, indices: Indices) -> Indices:
        """The indices of the array for the element that comes out at `indices`."""
        a = self.array
        found = tuple(place(indices) for place in self.places)
        for dimension in () if self.checked else self.staged:
            check_index(a.tape, found[dimension], a.shape[dimension])
        return found

    def tested_once(self) -> "Picks":
        """These picks with their indices tested in front, where the axes before theirs would test them again and again:
        what is read then fails no more, and is a neighbour of what reads it."""
        before = self.shape[: self.common.start]
        if not self.staged or not before or any([n.__class__ is OpenLength or not n for n in self.shape]):
            return self
        self._test(self.array.tape, tuple([Lit(0, INT) for _ in before]))
        return Picks(self.array, self.shape, self.places, [], self.common)

    def _test(self, tape: Tape, indices: Indices) -> None:
        if len(indices) == self.common.stop:
            for dimension in self.staged:
                check_index(tape, self.places[dimension](indices), self.array.shape[dimension])
            return
        index = Var(INT, "i")
        with tape.block() as lets:
            self._test(tape, (*indices, index))
        tape.bind_all(Loop(Lit(self.shape[len(indices)], INT), index, (), (), (), Block(lets, ())), ())


def picks_of(a: Array, items: list[Any]) -> Picks:
    """What the items do, one for each dimension and None for each new one. Arrays among them run together."""
    tape = a.tape
    common = broadcast_shape(tape, [item for item in items if item.__class__ is Array])
    numbers = [k for k, item in enumerate(items) if item is not None and not isinstance(item, slice)]
    begin = numbers[0] if numbers and numbers[-1] - numbers[0] + 1 == len(numbers) else 0
    lengths: list[int] = []
    places: list[Place] = []
    staged: list[int] = []
    for item in items:
        axis = len(lengths) if len(lengths) < begin else len(lengths) + len(common)
        dimension = len(places)
        if item is None:
            lengths.append(1)
        elif isinstance(item, slice):
            run, count = run_of(tape, item, a.shape[dimension], axis)
            places.append(_running(tape, run))
            lengths.append(count)
        elif item.__class__ is Array and item.shape:
            known = _in_range(a, item, dimension)
            places.append(
                _picked(
                    item if known is None else known,
                    slice(begin, begin + len(common)),
                    a.shape[dimension],
                    known is None,
                )
            )
            staged += [dimension] * (known is None)
        else:
            at = single(a, item, dimension)
            places.append(lambda indices, at=at: at)
            staged += [dimension] * isinstance(at, Var)
    own = slice(begin, begin + len(common))
    return Picks(a, (*lengths[:begin], *common, *lengths[begin:]), places, staged, own)


def _running(tape: Tape, run: Run) -> Place:
    return lambda indices: along(tape, run, indices[run.axis])


def _picked(picks: Array, own: slice, length: int, wrapped: bool) -> Place:
    def place(indices: Indices) -> Atom:
        at: Atom = spread(picks, indices[own]).atom
        return picks.tape.apply(P["wrap_index"], at, Lit(length, INT)) if wrapped else at

    return place


def _in_range(a: Array, picks: Array, dimension: int) -> Array | None:
    """Integers that staging knows, from 0; None for others, and for wrong ones where they may never be used."""
    data, length = host_data(picks), a.shape[dimension]
    if data is None:
        return None
    for k in data.ravel().tolist():
        if not -length <= k < length:
            if may_never_run(a.tape):
                return None
            facts = (f"the shape of `{a.box.name}` is {a.shape}",)
            raise a.tape.fault(RoseIndexError, f"index {k} is out of range for length {length}", facts=facts)
    return of_host(a.tape, np.where(data < 0, data + length, data))


# --- reading and writing


def gather(a: Array, items: list[Any]) -> Array:
    """`a[items]`, in a new array."""
    tape = a.tape
    picks = picks_of(a, items)
    _materialise(a, items)
    picks = picks.tested_once()

    def make(indices: Indices) -> Atom:
        at = picks.at(indices)
        var, axes = base(a)
        steps = path(a, axes, at)
        return tape.bind(Index(var, steps, checked=picks.checked), a.type) if steps else var

    made = build(tape, picks.shape, a.type, make)
    assert isinstance(made, Var)
    return fresh(tape, made)


def scatter(a: Array, items: list[Any], value: Any, combine: Combine | None = None) -> None:
    """`a[items] = value`, in order; or with `combine` what that makes of the element there and the one of `value`."""
    tape = a.tape
    check_writable(a)
    picks = picks_of(a, items)
    value = fitting(tape, a.type, picks.shape, value)
    _materialise(a, [*items, value])

    def level(depth: int, into: Var, indices: Indices) -> Var:
        if depth == len(picks.shape):
            at = path(a, whole_axes(a), picks.at(indices))
            new = spread(value, indices)
            if combine is not None:
                new = combine(wrap(tape, tape.bind(Index(into, at, checked=picks.checked), a.type)), new)
            atom = ATOMS[a.type](tape, new)
            if atom is None:
                raise tape.type_fault(
                    f"a {type_of(new)} does not fit into an array of {a.type}s", "make it an array of floats"
                )
            return tape.bind(Update(into, at, atom, checked=picks.checked), into.type, into.hint)
        index, carry = Var(INT, "i"), Var(into.type, into.hint)
        with tape.block() as lets:
            done = level(depth + 1, carry, (*indices, index))
        loop = Loop(Lit(picks.shape[depth], INT), index, (carry,), (into,), (), Block(lets, (done,)))
        return tape.bind(loop, into.type, into.hint)

    put(a, level(0, atom_of(tape, a.box), ()))


def _materialise(a: Array, values: list[Any]) -> None:
    """Make variables of contents that the host still holds, before loops over them are opened."""
    for value in (a, *values):
        if value.__class__ is Array:
            atom_of(a.tape, value.box)
