"""Trees and slots of results to the Python expressions that read them, and what those expressions call."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from rosejit.abi import Leaf, Node, Slot, Static, Tree
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.numeric import np
from rosejit.runtime import convert
from rosejit.runtime.arguments import names_of, next_slot, packing, packs, unlike
from rosejit.runtime.dynamic import receive
from rosejit.runtime.recycled import copier


class Results:
    """The lines for the results of an entry, which leave them in `$result`."""

    def __init__(self, tree: Tree, slots: Iterator[Slot]) -> None:
        self.views: list[Slot] = []
        self.memories: set[str] = set()
        self.scope: dict[str, Any] = {"$dyn": receive, "$fill": _fill, "$outputs": self.outputs}
        self._slots = slots
        self._tree = tree
        self._expression = self._read(tree)
        for slot in self.views:
            self.scope |= names_of(slot)

    def fresh(self, lends: bool = False) -> list[str]:
        """The lines that make arrays of the caller's own, or leave them where they are, as far as `$loan` allows."""
        if not lends:
            return [f"$result = {self._expression}"]
        return ["$loan = $lend($free, $bound)", "$result = " + self._with("$lent($loan, $view{k})")]

    def into_given(self, lends: bool = False) -> list[str]:
        """The lines that do so too, or write the arrays of the argument `out` where there is one."""
        if isinstance(self._tree, Leaf):
            given = ["out[...] = $view0", "$result = out"]
        else:
            given = ["$result = " + self._with("$fill($out[{k}], $view{k})")]
        if lends:
            given.insert(0, "$loan = None")
        return ["if out is None:", *_indented(self.fresh(lends)), "else:", *_indented(given)]

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
            case Static(key=key):
                return self._constant(key)
            case Leaf():
                return self._leaf(next_slot(self._slots, tree))
            case Node(kind="none"):
                return "None"
            case Node(kind=kind) if packs(tree) and kind != "dict":
                return self._block(tree)
            case Node(children=children):
                return self._build(tree, [self._read(child) for child in children])

    def _leaf(self, slot: Slot) -> str:
        match slot.kind:
            case "real":
                return f"{self._memory('reals')}[{slot.offset // 8}]"
            case "int":
                return f"{self._memory('ints')}[{slot.offset // 8}]"
            case "bool":
                return f"{self._memory('octets')}[{slot.offset}] != 0"
            case "array":
                self.views.append(slot)
                return f"$copy{len(self.views) - 1}()"
            case _:
                return f"$dyn($instance, {self._memory('words')}[{slot.offset // 4}], {self._constant(slot)})"

    def _block(self, tree: Node) -> str:
        slots = [next_slot(self._slots, child) for child in tree.children]
        values = f"{self._constant(packing(slots).unpack_from)}({self._memory('octets')}, {slots[0].offset})"
        return self._build_from(tree, values) if tree.kind == "tuple" else self._build(tree, [f"*{values}"])

    def _build(self, tree: Node, items: list[str]) -> str:
        listed = ", ".join(items)
        match tree.kind:
            case "list":
                return self._build_from(tree, f"[{listed}]")
            case "dict":
                keys = map(self._constant, tree.keys)
                return self._build_from(tree, f"{{{', '.join(f'{k}: {v}' for k, v in zip(keys, items, strict=True))}}}")
            case "namedtuple":
                return f"{self._constant(tree.cls)}._make(({listed},))" if items else f"{self._constant(tree.cls)}()"
            case "dataclass":
                return f"{self._constant(maker(tree))}({listed})"
            case _:
                return self._build_from(tree, f"({listed},)" if items else "()")

    def _build_from(self, tree: Node, literal: str) -> str:
        plain = tree.cls is None or tree.cls in (tuple, list, dict)
        return literal if plain else f"{self._constant(tree.cls)}({literal})"

    def _memory(self, name: str) -> str:
        self.memories.add(name)
        return f"${name}"

    def _constant(self, value: Any) -> str:
        name = f"$r{len(self.scope)}"
        self.scope[name] = value
        return name


def maker(tree: Node) -> Callable[..., Any]:
    """Fields to an instance of a dataclass, as the compiled code left it: `__post_init__` has run while staging."""
    cls: Any = tree.cls
    keys = tree.keys
    put = object.__setattr__  # frozen classes have another one

    def make(*values: Any) -> Any:
        made: Any = cls.__new__(cls)
        for key, value in zip(keys, values, strict=True):
            put(made, key, value)
        return made.__rose_host__() if hasattr(cls, "__rose_host__") else made

    return make


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
        case Node(children=children) if children:
            for child, part in zip(children, _parts(tree, out), strict=True):
                _flatten(child, part, found)
        case Leaf(kind="dyn") if out is not None:
            raise StagingTypeError("`out` cannot hold an array whose length only the run knows")
        case _:  # a number: nothing is written in place
            pass


def _parts(tree: Node, out: Any) -> list[Any]:
    try:
        if out is None:
            return [None] * len(tree.children)
        if tree.kind == "dict":
            return [out[key] for key in tree.keys]
        if tree.kind == "dataclass":
            return [getattr(out, key) for key in tree.keys]
        if isinstance(out, (tuple, list)):
            parts: list[Any] = [*out]
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
