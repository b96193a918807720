"""Trees and slots of results to the Python expressions that read them, and what those expressions call."""

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from rosejit.abi import Leaf, Node, Slot, Static, Tree, leaves
from rosejit.containers import CHOSEN, COMPLEX, CONJUGATE, DATACLASS, NARROW, of_argument, of_node
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.ir.types import STORED
from rosejit.made_anew import MadeAnew, renewed
from rosejit.numeric import np
from rosejit.runtime.marshalling import convert
from rosejit.runtime.marshalling.dynamic_arrays import receive
from rosejit.runtime.marshalling.result_buffers import copier
from rosejit.runtime.marshalling.rows import MANY, blanks_of, packing, row_of, tuples_of
from rosejit.runtime.marshalling.write_arguments import names_of, next_slot, packs, runs, unlike

_MANY_KEYS = 16
"""A dict of so many numbers is made of all at once."""


class Results:
    """The lines for the results of an entry, which leave them in `$result`."""

    def __init__(self, tree: Tree, slots: Iterator[Slot]) -> None:
        self.views: list[Slot] = []
        self.memories: set[str] = set()
        self.scope: dict[str, Any] = {"$dyn": receive, "$fill": _fill, "$outputs": self.outputs}
        self._slots = slots
        self._tree = tree
        self._numbers: list[tuple[Slot, str]] = []
        """The scalars, and the names of theirs in the expression."""
        self._loops: list[str] = []
        """The lines that make what is made in loops."""
        self._anew: list[Any] = []
        """The host values of which each call gets its own."""
        self._expression = self._read(tree)
        copies = [f"$anew = {self._constant(renewed)}({self._constant(self._anew)})"] if self._anew else []
        self._before = [*self._unpacked(), *copies, *self._loops]
        for slot in self.views:
            self.scope |= names_of(slot)

    def fresh(self, lends: bool = False) -> list[str]:
        """The lines that make arrays of the caller's own, or leave them where they are, as far as `$loan` allows."""
        if not lends:
            return [*self._before, f"$result = {self._expression}"]
        return ["$loan = $lend($free, $bound)", *self._before, "$result = " + self._with("$lent($loan, $view{k})")]

    def into_given(self, lends: bool = False) -> list[str]:
        """The lines that do so too, or write the arrays of the argument `out` where there is one."""
        if isinstance(self._tree, Leaf):
            given = ["out[...] = $view0", "$result = out"]
        else:
            given = [*self._before, "$result = " + self._with("$fill($out[{k}], $view{k})")]
        if lends:
            given.insert(0, "$loan = None")
        return ["if out is None:", *_indented(self.fresh(lends)), "else:", *_indented(given)]

    def after(self, changing: list[str]) -> list[str]:
        """The lines that hand the states behind the result to those that have changed in the call."""
        lines: list[str] = []
        for name in changing:
            lines.append(f"{name}.__rose_after__($copy{len(self.views)}())")
            self.views.append(next(self._slots))
        return lines

    def _with(self, taken: str) -> str:
        """The expression of the result, an array being taken as it says, with its number."""
        text = self._expression
        for k in range(len(self.views)):
            text = text.replace(f"$copy{k}()", taken.format(k=k))
        return text

    def given(self) -> list[str]:
        """The line that checks the argument `out`: a lone array in place, a structure becomes the list `$out`."""
        if isinstance(self._tree, Leaf):
            wrong = f"{unlike('out', self.views[0])} or not out.flags.writeable"
            return [f"if out is not None and ({wrong}): $outputs(out)"]
        return ["if out is not None: $out = $outputs(out)"]

    def outputs(self, out: Any) -> list[Any]:
        """The arrays of `out`, which has the structure of the result, in order; None where a fresh one is wanted."""
        return outputs(self._tree, out)

    def _read(self, tree: Tree) -> str:
        match tree:
            case Static(key=MadeAnew() as value):
                self._anew.append(value)
                return f"$anew[{len(self._anew) - 1}]"
            case Static(key=key):
                return self._constant(key)
            case Leaf():
                return self._leaf(next_slot(self._slots, tree))
            case Node(kind="none"):
                return "None"
            case Node(children=children):
                kind, row = of_node(tree), row_of(tree)
                if kind is NARROW and isinstance(children[0], Leaf) and children[0].kind in ("array", "dyn"):
                    return self._narrow(tree, children[0])
                if row is not None and kind.type is not None:
                    return kind.gathered(tree, self._rows(tree, *row), self._constant)
                if packs(tree) and (not kind.of_any_keys or len(children) >= _MANY_KEYS):
                    return self._block(tree)
                return kind.literal(tree, [self._read(child) for child in children], self._constant)

    def _narrow(self, tree: Node, leaf: Leaf) -> str:
        """An array of few bits, which may lie in memory as one of 64."""
        slot = next_slot(self._slots, leaf)
        taken = self._leaf(slot)
        return taken if slot.element in STORED else NARROW.literal(tree, [taken], self._constant)

    def _leaf(self, slot: Slot) -> str:
        match slot.kind:
            case "real" | "int" | "bool":
                self._numbers.append((slot, f"$n{len(self._numbers)}"))
                return self._numbers[-1][1]
            case "array":
                self.views.append(slot)
                return f"$copy{len(self.views) - 1}()"
            case _:
                return f"$dyn($instance, {self._memory('ints')}[{slot.offset // 8}], {self._constant(slot)})"

    def _unpacked(self) -> list[str]:
        """The lines that name many numbers at once; few are read where they stand in the expression."""
        lines: list[str] = []
        alone: dict[str, str] = {}
        for run in runs(self._numbers):
            if len(run) < MANY:
                alone |= {name: self._number(slot) for slot, name in run}
            else:
                lines.append(f"{', '.join([name for _, name in run])} = {self._many([slot for slot, _ in run])}")
        self._expression = re.sub(r"\$n\d+\b", lambda found: alone.get(found[0], found[0]), self._expression)
        return lines

    def _number(self, slot: Slot) -> str:
        match slot.kind:
            case "real":
                return f"{self._memory('reals')}[{slot.offset // 8}]"
            case "int":
                return f"{self._memory('ints')}[{slot.offset // 8}]"
            case _:
                return f"{self._memory('octets')}[{slot.offset}] != 0"

    def _many(self, slots: list[Slot]) -> str:
        """The expression for the tuple of many numbers."""
        return f"{self._constant(packing(slots).unpack_from)}({self._memory('octets')}, {slots[0].offset})"

    def _block(self, tree: Node) -> str:
        values = self._many([next_slot(self._slots, child) for child in tree.children])
        return values if tree.kind == "tuple" else of_node(tree).gathered(tree, values, self._constant)

    def _rows(self, tree: Node, row: Node, width: int) -> str:
        """The name of the list of the parts of `tree`, which are alike and of numbers."""
        slots = [next_slot(self._slots, leaf) for leaf in leaves(tree)]
        mark = len(self._loops)
        rows, numbers, names = f"$rows{mark}", f"$numbers{mark}", [f"$x{k}" for k in range(width)]
        tuples = tuples_of(row, len(tree.children), numbers, self._constant)
        if tuples is not None:
            self._loops += [f"{numbers} = $py_iter({self._many(slots)})", f"{rows} = {tuples}"]
            return rows
        body = list[str]()
        blanks = blanks_of(row, len(tree.children), self._constant)
        self._loops += [f"{rows} = {blanks or '[]'}", f"{numbers} = $py_iter({self._many(slots)})"]
        given, taken = [numbers] * width, iter(names)
        if blanks is None:
            made = self._row(row, taken, body)
            body.append(f"{rows}.append({made})")
        else:  # made at once, in C
            parts = [self._row(child, taken, body) for child in row.children]
            body += of_node(row).put(row, "$row", parts, self._constant)[1:]
            names, given = ["$row", *names], [rows, *given]
        self._loops += [f"for {', '.join(names)}, in $py_zip({', '.join(given)}):", *_indented(body)]
        return rows

    def _row(self, tree: Tree, names: Iterator[str], lines: list[str]) -> str:
        """The name of a structure of the numbers `names`, which `lines` make."""
        if not isinstance(tree, Node):
            return next(names)
        if tree.kind == "none":
            return "None"
        parts = [self._row(child, names, lines) for child in tree.children]
        made = f"$o{len(lines)}"
        lines += of_node(tree).put(tree, made, parts, self._constant)
        return made

    def _memory(self, name: str) -> str:
        self.memories.add(name)
        return f"${name}"

    def _constant(self, value: Any) -> str:
        name = f"$r{len(self.scope)}"
        self.scope[name] = value
        return name


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _fill(given: Any, view: Any) -> Any:
    if given is None:
        return copier(view)()
    given[...] = view
    return given


def outputs(tree: Tree, out: Any) -> list[Any]:
    """The arrays of `out`, which has the structure of `tree`, in order; None where a fresh one is wanted."""
    found: list[Any] = []
    _flatten(tree, out, found)
    apart(found)
    return found


def apart(given: list[Any]) -> None:
    """Raise where two arrays to be written have an element in common."""
    arrays = [array for array in given if array is not None]
    for one, other in combinations(arrays, 2):
        if np.shares_memory(one, other):
            raise StagingTypeError("two arrays of `out` are in the same memory")


def _flatten(tree: Tree, out: Any, found: list[Any]) -> None:
    match tree:
        case Leaf(kind="array", shape=shape, element=element):
            found.append(checked(out, shape, convert.dtype(element)))
        case Node(kind=CHOSEN.name, children=(positions, *_)):
            found += [None] * (getattr(positions, "kind", "") == "array")  # what is written is its own
        case Node(children=children) if children:
            for child, part in zip(children, _parts(tree, out), strict=True):
                _flatten(child, part, found)
        case Leaf(kind="dyn") if out is not None:
            raise StagingTypeError("`out` cannot hold an array whose length only the run knows")
        case _:  # a number: nothing is written in place
            pass


def _parts(tree: Node, out: Any) -> list[Any]:
    if out is not None and tree.kind in (COMPLEX.name, CONJUGATE.name):
        raise StagingTypeError("`out` cannot hold complex numbers", help="take the result as it is returned")
    if out is not None and tree.kind == NARROW.name:
        raise StagingTypeError(f"`out` cannot hold numbers of {tree.state}", help="take the result as it is returned")
    try:
        if out is None:
            return [None] * len(tree.children)
        kind, given = of_node(tree), of_argument(out)
        is_like = kind is DATACLASS or (given is not None and given.of_any_keys == kind.of_any_keys)
        parts = kind.picked(out, tree.keys) if is_like else []
        if len(parts) == len(tree.children):
            return parts
    except (LookupError, TypeError, AttributeError):
        pass
    raise StagingTypeError(f"`out` must have the structure of the result, a {tree.kind} of {len(tree.children)}")


def checked(out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array that can be written where one of this shape is the result; None as it is."""
    if out is None:
        return None
    if not issubclass(type(out), np.ndarray):
        raise StagingTypeError(f"`out` must be an array, not a {type(out).__name__}")
    if out.dtype != dtype:
        raise StagingTypeError(f"`out` must be an array of {dtype}, not of {out.dtype}")
    if out.shape != shape:
        raise ShapeError(f"`out` must have the shape {shape} of the result, not {out.shape}")
    if not out.flags.writeable:
        raise StagingTypeError("`out` cannot be written")
    return out
