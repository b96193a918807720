"""Lists with a column for each number of an item, as arguments and results: one item describes all."""

# Values of users are of any type: what they are is asked while staging.

import dataclasses
from typing import Any

from rosejit.abi import Tree, leaves
from rosejit.frontend.hints.hints import Description, Inferred
from rosejit.frontend.lists.dynamic_array import DynamicArray
from rosejit.frontend.lists.dynamic_dict import DYNAMIC
from rosejit.frontend.lists.dynamic_list import DynamicList
from rosejit.frontend.lists.list_rows import read
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays, tape_of, widened
from rosejit.frontend.values.pytree import flatten
from rosejit.ir.types import INT

COLUMNED = DYNAMIC | {StructOfArrays}
"""The classes of such lists."""


def of_columns(binder: Any, item: Description, value: StructOfArrays, where: str) -> Tree:
    """A list that a staged loop made."""
    if not isinstance(item, Inferred) and len(value):
        value = _as_hinted(binder, item, value, value[0], f"{where}[0]")
    return _flat(binder, value)


def of_dynamic(binder: Any, item: Description, value: Any, where: str) -> Tree:
    """A list, or a dict with values of that kind, whose length only running tells."""
    if value.__class__ is not DynamicList:
        held = _hinted(binder, item, value.held, f"{where}[...]")
        return _flat(binder, dataclasses.replace(value, held=held))
    return _flat(binder, _hinted(binder, item, value, f"{where}[0]"))


def of_array(binder: Any, is_real: bool, value: DynamicArray) -> Tree:
    """An array that is made of such a list."""
    rows = value.held.rows
    held = dataclasses.replace(value.held, rows=rows + 0.0 if is_real and rows.type is INT else rows)
    return _flat(binder, dataclasses.replace(value, held=held))


def _hinted(binder: Any, item: Description, value: DynamicList, where: str) -> DynamicList:
    first = read(tape_of(value.rows), value.rows, 0)
    columns = _as_hinted(binder, item, StructOfArrays(value.rows), first, where)
    return dataclasses.replace(value, rows=columns.value)


def _as_hinted(binder: Any, item: Description, value: StructOfArrays, first: Any, where: str) -> StructOfArrays:
    return widened(value, leaves(binder.alone().tree(item, first, where)))


def _flat(binder: Any, value: Any) -> Tree:
    found: list[Any] = []
    tree = flatten(value, found, binder.call.statics)
    for part in found:
        binder.leaf(part.leaf, part)
    return tree
