"""Trees and slots of parameters to the lines of Python that check arguments and write them to the exchange block.

`$` begins every name that is not the user's. A value that does not fit raises `Mismatch` before anything is written.
"""

import math
from collections.abc import Callable, Iterator
from itertools import chain
from operator import countOf
from struct import error
from typing import Any

from rosejit.abi import Leaf, Node, Slot, Static, Tree, leaves
from rosejit.containers import NARROW, of_node
from rosejit.ir.types import STORED
from rosejit.numeric import is_at_hand, np
from rosejit.runtime.marshalling import convert, dynamic_arrays
from rosejit.runtime.marshalling.rows import MANY, columns_of, floats, is_floats, packing, row_of
from rosejit.runtime.residency.memory import AT_ONCE

_PYTHON: dict[str, Any] = {
    f"$py_{known.__name__}": known
    for known in (
        type, isinstance, len, map, zip, iter, float, int, bool, tuple, list, dict,
        BaseException, LookupError, IndexError, KeyError, NameError, AttributeError, ValueError,
    )
}  # fmt: skip
"""What the lines need of Python's own: a parameter may be called `type`."""
_FEW = 1 << 9
"""So many bytes are copied twice in the time of a look at what order they are in."""
_EXACT = {"real": "$py_float", "int": "$py_int", "bool": "$py_bool"}
_PLAIN = (float, int, bool)
_MEMORY = {"real": ("reals", 8), "int": ("ints", 8), "bool": ("octets", 1)}
_LINES = 256
"""So many numbers of structures that are alike are written line by line: that is faster, until the code is long."""
_WIDE = frozenset({"real", "int"})
"""The kinds that take 8 bytes."""


class Arguments:
    """The lines for all parameters of an entry; `same` compares a static argument with its key, `exact` are the leaves
    that take one kind of number only, `own` those that take arrays, and no lists."""

    def __init__(
        self,
        slots: Iterator[Slot],
        same: Callable[[Any, Any], bool],
        exact: frozenset[int] = frozenset(),
        own: frozenset[int] = frozenset(),
    ) -> None:
        self.checks: list[str] = []
        self.lent: list[str] = []
        """The lines that free after the call what was allocated for it."""
        self.changing: list[str] = []
        """The variables of what takes its state back after the call."""
        self.views: list[Slot] = []
        self.memories: set[str] = set()
        self.ints: list[str] = []
        """The variables of ints, and of lists of ints, which may turn out too big when they are written."""
        self.scope: dict[str, Any] = {
            "$Mismatch": convert.Mismatch, "$real": convert.real, "$int": convert.integer, "$bool": convert.boolean,
            "$array": convert.array, "$too_big": convert.too_big, "$same": same,
            "$python_real": convert.of_pythons, "$python_int": convert.of_pythons, "$python_bool": convert.of_pythons,
            "$exact_real": convert.exact_real, "$exact_array": convert.exact_array,
            "$stored_array": convert.stored_array,
            "$own_array": convert.own_array, "$own_exact_array": convert.own_exact_array,
            "$exact_int": convert.exact_integer,
            "$PackingError": error, "$count": countOf, "$rows": dynamic_arrays.rows, "$send": dynamic_arrays.send,
            "$give_back": dynamic_arrays.give_back,
            **_PYTHON,
        }  # fmt: skip
        self._slots = slots
        self._exact = exact
        self._own = own
        self._leaves = 0
        self._names = 0
        self._scalars: list[tuple[Slot, str]] = []
        self._others: list[str] = []
        """The lines that write what is no scalar by itself."""

    def writes(self) -> list[str]:
        """The lines that write to memory what was checked."""
        lines: list[str] = []
        for run in runs(self._scalars):
            if len(run) < MANY:
                lines += [self._written(slot, value) for slot, value in run]
            else:
                lines.append(self._packed([slot for slot, _ in run], ", ".join([value for _, value in run])))
        return lines + self._others

    def take(self, tree: Tree, value: str) -> None:
        """Add the lines for the expression `value`, which is a name."""
        match tree:
            case Static(key=key):
                constant = self._constant(key)
                self._check(f"{value} is not {constant} and not $same({value}, {constant})")
            case Leaf(kind="array"):
                self._array(next_slot(self._slots, tree), value, self._converter("array"))
            case Leaf(kind="dyn"):
                self._leaves += 1
                self._dynamic(next_slot(self._slots, tree), value)
            case Leaf(kind=kind, cls=cls):
                converter = self._converter(kind, cls)
                if _is_of_class(tree):
                    self._check(f"$py_type({value}) is not {self._constant(cls)}")
                self.checks.append(f"if $py_type({value}) is not {_EXACT[kind]}: {value} = {converter}({value})")
                self._scalars.append((next_slot(self._slots, tree), value))
                self.ints += [value] * (kind == "int")
            case Node():
                self._node(tree, value)

    def _node(self, tree: Node, value: str) -> None:
        if hasattr(tree.cls, "__rose_given__"):
            self.checks.append(f"{value} = {self._constant(tree.cls)}.__rose_given__({value})")
        if hasattr(tree.cls, "__rose_after__"):
            self.changing.append(value)
        if tree.kind == "none":
            self._check(f"{value} is not None")
            return
        kind = of_node(tree)
        if kind is NARROW and self._is_stored():
            self._stored(tree.children[0], value)
            return
        self._check(kind.unlike(tree, value, self._constant))
        row, each = row_of(tree), None if any(map(_is_of_class, leaves(tree))) else kind.each(tree, value)
        if each is not None and not kind.is_named and packs(tree) and len(_kinds(tree)) == 1:
            self._block(tree, value)
        elif each is not None and row is not None and row[1] * len(tree.children) > _LINES:
            self._rows(tree, *row, each)
        elif tree.children:
            names = [self._name() for _ in tree.children]
            self.checks += kind.take(tree, value, names, self._constant)
            for child, name in zip(tree.children, names, strict=True):
                self.take(child, name)

    def _is_stored(self) -> bool:
        """Whether the next slot holds elements of few bits."""
        slot = next(self._slots)
        self._slots = chain((slot,), self._slots)
        return slot.element in STORED

    def _stored(self, leaf: Tree, value: str) -> None:
        """An array of few bits, which is copied as it is."""
        slot = next_slot(self._slots, leaf)
        if slot.kind == "dyn":
            self._leaves += 1
            self._dynamic(slot, value)
        else:
            self._converter("array")
            self._array(slot, value, "$stored_array")

    def _rows(self, tree: Node, row: Node, width: int, each: str) -> None:
        """Many structures of numbers alone: the numbers of all are one list."""
        slots = [next_slot(self._slots, leaf) for leaf in leaves(tree)]
        one, numbers = self._name(), self._name()
        body, names = self._row(row, one)
        if of_node(row).type is None:  # the classes of all are compared at once, which takes a third of the time
            del body[0]
            of_class = f"$count($py_map($py_type, {each}), {self._constant(row.cls)})"
            self._check(f"{of_class} != {len(tree.children)}")
        lines = columns_of(row, each, names)
        if lines:
            self.checks += lines
            if is_floats(slots):
                self._floats(tree, slots, numbers, names)
                return
            places = ", ".join([f"{numbers}[{k}::{width}]" for k in range(width)])
            self.checks.append(f"{numbers} = [*{', *'.join(names)}]")
            self.checks += [f"{places} = {', '.join(names)}"] * (width > 1)
        else:
            self.checks += [f"{numbers} = []", f"for {one} in {each}:", *(f"    {line}" for line in body)]
            self.checks.append(f"    {numbers} += ({', '.join(names)},)")
        needed = [(leaf.kind, self._converter(leaf.kind, leaf.cls)) for leaf in leaves(tree)]
        columns = [max(needed[k::width], key=lambda one: len(one[1])) for k in range(width)]  # the strictest
        if len({*columns}) == 1:
            del columns[1:]
        for k, (kind, converter) in enumerate(columns):
            column = f"{numbers}[{k}::{len(columns)}]" if k or columns[1:] else numbers
            wrong = f"$count($py_map($py_type, {column}), {_EXACT[kind]}) != {len(slots) // len(columns)}"
            self.checks.append(f"if {wrong}: {column} = [*$py_map({converter}, {column})]")
            self.ints += [column] * (kind == "int")
        self._others.append(self._packed(slots, f"*{numbers}"))

    def _row(self, tree: Tree, value: str) -> tuple[list[str], list[str]]:
        """The lines that check a structure of numbers, and the names of the numbers."""
        if not isinstance(tree, Node):
            return [], [value]
        if tree.kind == "none":
            return [_refused(f"{value} is not None")], []
        kind, names = of_node(tree), [self._name() for _ in tree.children]
        lines = [_refused(kind.unlike(tree, value, self._constant))]
        lines += kind.take(tree, value, names, self._constant) if names else []
        found: list[str] = []
        for child, name in zip(tree.children, names, strict=True):
            inside, numbers = self._row(child, name)
            lines += inside
            found += numbers
        return lines, found

    def _block(self, tree: Node, value: str) -> None:
        slots = [next_slot(self._slots, child) for child in tree.children]
        kind, name = slots[0].kind, self._name()
        if is_floats(slots):
            self.checks.append(f"{name} = [*{value}]")
            self._floats(tree, slots, self._name(), [name])
            return
        converter = max({self._converter(kind, leaf.cls) for leaf in leaves(tree)}, key=len)  # the strictest
        self.checks.append(f"{name} = {value}")
        self.checks.append(
            f"if $count($py_map($py_type, {name}), {_EXACT[kind]}) != {len(slots)}: "
            f"{name} = [*$py_map({converter}, {name})]"
        )
        self.ints += [name] * (kind == "int")
        self._others.append(self._packed(slots, f"*{name}"))

    def _floats(self, tree: Node, slots: list[Slot], name: str, columns: list[str]) -> None:
        """Many floats, of which the lists `columns` hold the first, second, ... of each row."""
        converters = [self._converter("real", leaf.cls) for leaf in leaves(tree)]
        needed = [max(converters[k :: len(columns)], key=len) for k in range(len(columns))]  # the strictest
        converted = [f"[*$py_map({one}, {column})]" for one, column in zip(needed, columns, strict=True)]
        self.scope["$floats"] = floats
        self.checks.append(f"{name} = $floats([{', '.join(columns)}])")
        self.checks.append(f"if {name} is None: {name} = $floats([{', '.join(converted)}])")
        whole = Slot("array", slots[0].offset, (len(slots),))
        self._others.append(f"$in{len(self.views)}{_copied(whole, name)}")
        self.views.append(whole)

    def _written(self, slot: Slot, value: str) -> str:
        memory, size = _MEMORY[slot.kind]
        self.memories.add(memory)
        return f"${memory}[{slot.offset // size}] = {value}"

    def _packed(self, slots: list[Slot], values: str) -> str:
        self.memories.add("octets")
        return f"{self._constant(packing(slots).pack_into)}($octets, {slots[0].offset}, {values})"

    def _converter(self, kind: str, cls: Any = None) -> str:
        """What makes the next leaf of a value of another type than Python's own, or than `cls`."""
        self._leaves += 1
        if cls is not None:
            return f"$python_{kind}" if cls in _PLAIN else f"${kind}"
        own = "own_" if kind == "array" and self._leaves - 1 in self._own else ""
        return f"${own}exact_{kind}" if self._leaves - 1 in self._exact and kind != "bool" else f"${own}{kind}"

    def _array(self, slot: Slot, value: str, converter: str) -> None:
        self.scope |= names_of(slot)
        self.checks.append(f"if {unlike(value, slot)}: {value} = {converter}({value}, {slot.shape}, {slot.element!r})")
        if math.prod(slot.shape):
            self._others.append(f"$in{len(self.views)}{_copied(slot, value)}")
            self.views.append(slot)

    def _dynamic(self, slot: Slot, value: str) -> None:
        constant, place = self._constant(slot), f"$ints[{slot.offset // 8}]"
        self.memories.add("ints")
        self.checks.append(f"{value} = $rows({value}, {slot.shape}, {slot.element!r})")
        self._others.append(f"{place} = $sent{len(self.lent)} = $send($instance, {value}, {constant})")
        self.lent.append(f"$give_back($instance, $sent{len(self.lent)}, {constant})")

    def _check(self, wrong: str) -> None:
        self.checks.append(_refused(wrong))

    def _constant(self, value: Any) -> str:
        name = f"$k{len(self.scope)}"
        self.scope[name] = value
        return name

    def _name(self) -> str:
        self._names += 1
        return f"$a{self._names}"


def _copied(slot: Slot, value: str) -> str:
    """What is written behind the name of the place of an array, to copy `value` there."""
    if slot.bytes > AT_ONCE:
        return f"[...] = {value}"
    if slot.bytes <= _FEW or not is_at_hand(worth_loading=False):  # plain arrays have no other bytes
        return f".raw = {value}.tobytes()"
    return f".raw = {value} if {value}.flags.c_contiguous else {value}.copy()"


def unlike(value: str, slot: Slot) -> str:
    """The condition that `value` is no plain array as that of `slot`; it needs `names_of(slot)`."""
    shape = f"{value}.shape != {slot.shape}"
    if len(slot.shape) == 1:
        shape = f"{value}.ndim != 1 or $py_len({value}) != {slot.shape[0]}"  # no tuple is made
    return f"$py_type({value}) is not $ndarray or {value}.dtype is not ${slot.element}_dtype or {shape}"


def names_of(slot: Slot) -> dict[str, Any]:
    """What lines that name the type of the array of `slot` need."""
    return {f"${slot.element}_dtype": convert.dtype(slot.element), "$ndarray": np.ndarray}  # loaded by the dtype


def next_slot(slots: Iterator[Slot], leaf: Tree) -> Slot:
    """The slot of `leaf`: those of an entry stand in the order of the leaves."""
    slot = next(slots)
    found = (slot.kind, slot.shape, slot.element) if slot.kind in ("array", "dyn") else (slot.kind,)
    assert isinstance(leaf, Leaf), leaf
    element = slot.element if slot.element in STORED else leaf.element
    wanted = (leaf.kind, leaf.shape, element) if leaf.kind in ("array", "dyn") else (leaf.kind,)
    assert found == wanted, f"the entry has {found} where the signature has {wanted}"
    return slot


def runs(scalars: list[tuple[Slot, str]]) -> Iterator[list[tuple[Slot, str]]]:
    """Scalars that `packing` knows, side by side in memory; others each by itself."""
    run: list[tuple[Slot, str]] = []
    for slot, value in scalars:
        follows = run and slot.kind in _WIDE and run[-1][0].kind in _WIDE and slot.offset == run[-1][0].offset + 8
        if run and not follows:
            yield run
            run = []
        run.append((slot, value))
    if run:
        yield run


def packs(tree: Node) -> bool:
    """Whether the children are many scalars of 8 bytes."""
    return len(tree.children) >= MANY and _kinds(tree) <= _WIDE


def _refused(wrong: str) -> str:
    return f'if {wrong}: raise $Mismatch("another type")'


def _is_of_class(leaf: Leaf) -> bool:
    """Whether a number has to be of one class that is none of Python's own."""
    return leaf.cls is not None and leaf.cls not in _PLAIN


def _kinds(tree: Node) -> set[str]:
    return {child.kind if isinstance(child, Leaf) else "" for child in tree.children}
