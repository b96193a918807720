"""Lists of structures that staged loops make: an array for every part."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar, NoReturn

from rosejit.abi import Leaf
from rosejit.containers import of_class
from rosejit.frontend.arrays.access import copy
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import side_by_side, stacked
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.row_aliases import HELD, hold, same_rows
from rosejit.frontend.soa.element_proxy import arrays_in, assign, row_of, uses_of
from rosejit.frontend.values.pytree import is_alike, members, objects, with_parts
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape, merged
from rosejit.ir.types import INT
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

TAKEN = "an element was taken from a list of the host by a staged index"


@dataclass(frozen=True, repr=False, eq=False)
class StructOfArrays:
    """A list of structures made by a staged loop: `value` has an array for every part of an element."""

    value: Any
    since: ClassVar[tuple[int, ...] | None] = None
    """Of a slice with elements that are those of the list: how many were replaced when it was taken."""

    def __rose_host__(self) -> list[Any]:
        """The list that a caller in Python gets."""
        return host_elements(self.value, len(self))

    @classmethod
    def __rose_given__(cls, items: Any) -> Any:
        """What stands for a list that a caller in Python gives."""
        return cls(_of_items(list(items))) if isinstance(items, (list, tuple)) else items

    def __len__(self) -> int:
        return _length(self.value)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(index)
        row = row_of(self.value, index, since=self.since)
        if isinstance(row, (list, dict)):
            tape_of(self.value).freeze("it is an element of a list that a staged loop made", row)
        return row

    def __setitem__(self, index: Any, element: Any) -> None:
        tape = tape_of(self.value)
        if isinstance(index, slice):
            raise tape.type_fault("a part of a list of structures is assigned", "assign one element after the other")
        if self.since is not None:
            raise tape.type_fault(
                "an element of a slice of a list is assigned, which is another list", "assign it in the list itself"
            )
        assign(tape, row_of(self.value, index, live=True), element)

    def _part(self, index: slice) -> "StructOfArrays":
        """A slice: another list, with the same elements."""
        part = StructOfArrays(map_arrays(self.value, lambda column: get(column, index)))
        if not any(True for _ in objects(self.value)):
            return StructOfArrays(map_arrays(part.value, _copied))
        since = self.since or tuple(len(uses_of(column).replaced) for column in arrays_in(self.value))
        object.__setattr__(part, "since", since)
        return part

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") or not hasattr(list, name):
            raise AttributeError(f"'list' object has no attribute '{name}'")
        raise tape_of(self.value).type_fault(
            f"`.{name}` of a list that a comprehension over a staged range has made",
            "its length is fixed: assign its elements (`items[i] = ...`), or make it over Python's own `range(n)`",
        )


def _copied(column: Array) -> Array:
    made = copy(column)
    same_rows(column, made)
    return made


def tape_of(value: Any) -> Tape:
    """The tape of the arrays in a structure."""
    return next(array.tape for array in arrays_in(value))


def map_arrays(value: Any, change: Callable[[Array], Any]) -> Any:
    """A structure with its arrays changed."""
    if value.__class__ is Array:
        return change(value)
    inside = members(value)
    return value if inside is None else with_parts(value, [map_arrays(item, change) for item in inside])


def _length(value: Any) -> int:
    if value.__class__ is Array or isinstance(value, np.ndarray):
        return value.shape[0]
    return max((_length(part) for part in members(value) or ()), default=0)


def host_elements(value: Any, count: int) -> list[Any]:
    """The elements for Python: numbers, and arrays that nothing else holds."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim == 1 else [row.copy() for row in value]
    inside = members(value)
    if inside is None:
        return [value] * count
    columns = [host_elements(part, count) for part in inside]
    kind = of_class(value.__class__)
    if kind is None or not columns:
        return [with_parts(value, [column[k] for column in columns]) for k in range(count)]
    return list(map(kind.maker(kind.node(value, ())), *columns))


def _of_items(items: list[Any]) -> Any:
    """One structure with NumPy's arrays for the numbers and arrays of many."""
    inside = [members(item) for item in items]
    if inside and inside[0] is not None:
        return with_parts(items[0], [_of_items(list(each)) for each in zip(*(p or () for p in inside), strict=True)])
    is_known = not items or items[0] is None or isinstance(items[0], (str, bytes))
    return (items or [None])[0] if is_known else np.stack([np.asarray(item) for item in items])


def of_list(tape: Tape, value: Any, like: Any) -> Any:
    """A list of the host as one that a staged loop could have made, if `like` is such a list and of its length."""
    if like.__class__ is not StructOfArrays or value.__class__ is not list or len(value) != len(like) or not value:
        return value
    found = _side_by_side(tape, value)
    if found is None or found.__class__ is Array or not is_alike(found, like.value):
        return value
    tape.freeze(HELD, value, *(other for item in value for other in objects(item)))
    for column, array in product(arrays_in(found), (array for item in value for array in arrays_in(item))):
        hold(column, array)
    return StructOfArrays(found)


def widened(columns: StructOfArrays, wanted: Sequence[Leaf]) -> StructOfArrays:
    """A list whose elements have leaves of these kinds: Ints become Reals."""
    kinds = iter(wanted)

    def change(column: Any) -> Any:
        leaf = next(kinds)
        real = leaf.kind == "real" or (leaf.kind == "array" and leaf.element == "real")
        return column + 0.0 if real and column.type is INT else column

    return StructOfArrays(map_arrays(columns.value, change))


def taken(tape: Tape, items: Sequence[Any], index: Any) -> Any:
    """The element of a list of the host at a staged index; None where the elements are not alike.

    It is another object than the one in the list: a change of it is one of that.
    """
    element = detached_at(tape, items, index)
    if element is None:
        return None
    tape.identities.view(element, items, index, TAKEN)
    for array in (*arrays_in(element), *(found for item in items for found in arrays_in(item))):
        array.box.readonly = array.box.readonly or TAKEN
    return element


def detached_at(tape: Tape, items: Sequence[Any], index: Any) -> Any:
    """A copy of the element at a staged index; None where the elements are not alike."""
    value = _side_by_side(tape, items) if items else None
    if value is None:
        return None
    element = map_arrays(value, lambda column: get(column, index))
    pending = [element]
    while pending:  # tuples too: `is` asks for them
        found = pending.pop()
        inside = members(found)
        if inside is not None:
            merged(tape, found)
            pending += inside
    return element


def _side_by_side(tape: Tape, items: Sequence[Any]) -> Any:
    """One structure with arrays for the parts of some that are alike; None if they are not."""
    first = items[0]
    if type_of(first) is not None or first.__class__ is Array:
        alike = all(type_of(item) is not None or item.__class__ is Array for item in items)
        shapes = {item.shape if item.__class__ is Array else () for item in items} if alike else ()
        return side_by_side(tape, stacked(tape, items), items) if len(shapes) == 1 else None
    if first is None or isinstance(first, (str, bytes)):
        return first if all(item.__class__ is first.__class__ and item == first for item in items) else None
    if members(first) is None or not all(is_alike(first, item) for item in items):
        return None
    columns = [_side_by_side(tape, each) for each in zip(*(members(item) or () for item in items), strict=True)]
    known = [c is not None or part is None for c, part in zip(columns, members(first) or (), strict=True)]
    return with_parts(first, columns) if all(known) else None
