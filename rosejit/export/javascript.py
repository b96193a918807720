"""Entries of a module to the JavaScript that checks and writes arguments, and reads results."""

from collections.abc import Callable, Iterator, Sequence

from rosejit.abi import Leaf, Node, Static, Tree, leaves
from rosejit.containers import of_node
from rosejit.export import js_names
from rosejit.export.memory_cells import VIEWS, Place, divided, looped, shape_name

_CHECKS = {"real": "$real", "int": "$int", "bool": "$bool"}
_WRITERS = {"real": "$reals", "int": "$ints", "bool": "$bools"}
_READERS = {"real": "$f64s", "int": "$i64s", "bool": "$flags"}
_READ = {"real": "{}", "int": "$whole({})", "bool": "{} !== 0"}
_AS = {"real": "", "int": "", "bool": ", Boolean"}


def indented(lines: Iterator[str] | Sequence[str]) -> list[str]:
    """`lines` one level further in."""
    return [f"  {line}" for line in lines]


class Writer:
    """Statements and expressions of one function; their variables do not collide."""

    def __init__(self) -> None:
        self._names = 0
        self._loops = 0

    def fresh(self) -> str:
        """A new variable."""
        self._names += 1
        return f"$v{self._names}"

    # --- arguments

    def write(self, tree: Tree, cells: Sequence[Place], value: str, path: str) -> Iterator[str]:
        """Check `value`, an expression that `path` names, and write it."""
        match tree:
            case Static():
                pass
            case Leaf(kind="array"):
                (cell,) = cells
                shape = shape_name(cell.slot.shape)
                yield f"{_WRITERS[cell.element]}({cell.index()}, {shape}, {value}, {js_names.text(path)});"
            case Leaf(kind="dyn", length=length) if length:
                slot = cells[0].slot
                place = f"{slot.offset}, {list(slot.shape)}, {cells[0].size}, {_WRITERS[slot.element]}"
                names = f"{js_names.text(length)}, {js_names.text(slot.release)}"
                yield f"$open($call, {place}, {names}, {value}, {js_names.text(path)});"
            case Leaf():
                yield from self._number(cells[0], value, path)
            case Node(kind="none"):
                yield f"$nothing({value}, {js_names.text(path)});"
            case Node():
                yield from self._structure(tree, cells, value, path)

    def _number(self, cell: Place, value: str, path: str) -> Iterator[str]:
        place = cell.number
        named = js_names.text(path)
        if cell.element != "real":
            yield f"{place} = {_CHECKS[cell.element]}({value}, {named});"
            return
        given = value
        if not js_names.is_word(value.removeprefix("$")):
            given = self.fresh()
            yield f"const {given} = {value};"
        yield f'{place} = typeof {given} === "number" ? {given} : $real({given}, {named});'

    def _structure(self, tree: Node, cells: Sequence[Place], value: str, path: str) -> Iterator[str]:
        by_name = of_node(tree).is_named
        if by_name:
            checked = f"$object({value}, {js_names.text(path)})"
        else:
            checked = f"$list({value}, {len(tree.children)}, {js_names.text(path)})"
        if not tree.children:
            yield f"{checked};"
            return
        whole = self.fresh()
        yield f"const {whole} = {checked};"
        together = looped(tree, cells, f"$turn[{self._loops}]")
        if together is not None:
            first = tree.children[0]
            yield from self._loop(tree, path, lambda i, inner: self.write(first, together, f"{whole}[{i}]", inner))
            return
        for k, (child, part) in enumerate(zip(tree.children, divided(tree, cells), strict=True)):
            inner = js_names.member(whole, tree.keys[k]) if by_name else f"{whole}[{k}]"
            yield from self.write(
                child, part, inner, js_names.member(path, tree.keys[k]) if by_name else f"{path}[{k}]"
            )

    def _loop(self, tree: Node, path: str, body: Callable[[str, str], Iterator[str]]) -> Iterator[str]:
        """A loop over the parts of `tree`; its number lies where `$said` finds it, so that no iteration makes a
        text.
        """
        i, inner = f"$turn[{self._loops}]", f"{path}[{js_names.loop_counter(self._loops)}]"
        self._loops += 1
        yield f"for ({i} = 0; {i} < {len(tree.children)}; {i}++) {{"
        yield from indented(body(i, inner))
        yield "}"
        self._loops -= 1

    # --- results

    def read(self, tree: Tree, cells: Sequence[Place]) -> str:
        """The expression for a fresh result."""
        match tree:
            case Static(key=value):
                return js_names.literal(value, "a part of the result")
            case Leaf(kind="array"):
                return self._array(cells[0])
            case Leaf(kind="dyn"):
                (cell,) = cells
                inside = f"{cell.slot.offset}, {list(cell.slot.shape)}, {cell.size}, {_READERS[cell.element]}"
                return f"$dyn({inside}, {js_names.text(cell.slot.release)})"
            case Leaf():
                (cell,) = cells
                return _READ[cell.element].format(cell.number)
            case Node(kind="none"):
                return "null"
            case Node():
                return self._made(tree, cells)

    def _array(self, cell: Place) -> str:
        reader = _READERS[cell.element]
        if len(cell.slot.shape) > 1:
            return f"$rows({reader}, {cell.index()}, {shape_name(cell.slot.shape)})"
        view = {"real": "$f.slice", "int": "$q.slice", "bool": "$flags"}[cell.element]
        return f"{view}({cell.index()}, {cell.index(cell.slot.bytes // cell.size)})"

    def _made(self, tree: Node, cells: Sequence[Place]) -> str:
        by_name = of_node(tree).is_named
        if not by_name:
            i = self.fresh()
            together = looped(tree, cells, i)
            if together is not None:
                item = self.read(tree.children[0], together)
                return f"Array.from({{ length: {len(tree.children)} }}, (_, {i}) => ({item}))"
        items = [self.read(child, part) for child, part in zip(tree.children, divided(tree, cells), strict=True)]
        if tree.kind == "optional":
            return f"({items[0]} ? {items[1]} : null)"
        if tree.kind == "chosen":
            return _one_of(tree, *items)
        if not by_name:
            return f"[{', '.join(items)}]"
        pairs = [f"{js_names.key(key)}: {item}" for key, item in zip(tree.keys, items, strict=True)]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"

    def fill(self, tree: Tree, cells: Sequence[Place], out: str, path: str) -> Iterator[str]:
        """Write a result, a structure or an array, to what the caller gave."""
        match tree:
            case Leaf(kind="array"):
                (cell,) = cells
                rest = f"{shape_name(cell.slot.shape)}, {out}, {js_names.text(path)}{_AS[cell.element]}"
                yield f"$fill({VIEWS[cell.element]}, {cell.index()}, {rest});"
            case Static() | Leaf() | Node(kind="none" | "optional" | "chosen"):
                yield f"{out} = {self.read(tree, cells)};"
            case Node():
                yield from self._filled(tree, cells, out, path)

    def _filled(self, tree: Node, cells: Sequence[Place], out: str, path: str) -> Iterator[str]:
        by_name = of_node(tree).is_named
        count = f", {len(tree.children)}" if not by_name else ""
        whole = self.fresh()
        yield f"const {whole} = {'$object' if by_name else '$list'}({out}{count}, {js_names.text(path)});"
        together = None if by_name else looped(tree, cells, f"$turn[{self._loops}]")
        if together is not None:
            first = tree.children[0]
            yield from self._loop(tree, path, lambda i, inner: self.fill(first, together, f"{whole}[{i}]", inner))
            return
        for k, (child, part) in enumerate(zip(tree.children, divided(tree, cells), strict=True)):
            place = js_names.member(whole, tree.keys[k]) if by_name else f"{whole}[{k}]"
            inner = js_names.member(path, tree.keys[k]) if by_name else f"{path}[{k}]"
            yield from self.fill(child, part, place, inner)


def _one_of(tree: Node, position: str, *options: str) -> str:
    """The expression of the value of the host that a position tells, or of those that an array of positions does."""
    if tree.state:
        return "null"
    if isinstance(tree.children[0], Leaf) and tree.children[0].kind == "array":
        return f"Array.from({position}, (k) => [{', '.join(options)}][k])"
    return f"[{', '.join(options)}][{position}]"


def can_be_filled(tree: Tree) -> bool:
    """Whether a result can be written to something that the caller gives."""
    if isinstance(tree, Node):
        return tree.kind not in ("none", "chosen") and not any(leaf.kind == "dyn" for leaf in leaves(tree))
    return isinstance(tree, Leaf) and tree.kind == "array"
