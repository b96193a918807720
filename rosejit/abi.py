"""How values cross the border of a compiled module: places in memory, structures, and the artifact itself.

Memory of an instance, from address 0 (fixed, so that the runtime finds it without asking)::

    0   i32   never written: address 0 is no object
    4   i32   interrupt: the host sets it to 1, loops poll it and fail with the failure `INTERRUPT`
    8   i32   number of the failure that is being reported, an index into `Artifact.failures`, or one of the
              negative numbers below
    16  4 x i64 or f64   what the failure says of the values involved (an index and a length, say)
    64  ...   the exchange block: arguments and results of entries, at the offsets of their slots;
              then constants; then the heap

An entry is exported under its name as `() -> ()`. The host writes the arguments at their slots, calls, and reads
the results at theirs. A slot of kind `dyn` (an array whose length only the run knows) holds the address of a
record (the address of the data, then the length) and one of kind `handle` the address of a record that only the
module understands; the host owns both and gives them back through the exported `release_k(address)` of the slot.
For a parameter of kind `dyn` it takes a block for the elements and then one of two addresses for the record from the
exported `allocate(bytes) -> address`, and gives the record back after the call. So it takes what a handle of another
instance stands for, whose blocks `Artifact.blocks` describes. Addresses, and the lengths and numbers
of bytes beside them, are i32; in a wide module (`Artifact.wide`), which may use more than 4 GiB, they are i64.
A module that fails writes the failure and executes `unreachable`; the instance is then discarded, since what it had
allocated is lost.

Host functions are imported as ("host", str(index in `Artifact.imports`)). Scalars are passed as f64, i64 and i32 (a
Bool), arrays as an address of contiguous elements; scalar results are returned (several: multi-value), an array
result is written to memory whose address the module passes behind the other arguments.
In memory a Real and a Tan take 8 bytes, an Int 8, a Bool 1. Elements of arrays that are known to be numbers of one of
NumPy's smaller dtypes may lie there in that dtype, which `Slot.element` then names.
"""

from collections.abc import Iterable
from dataclasses import field
from math import prod
from typing import Any, Literal

from rosejit.ir.syntax import Failure
from rosejit.ir.types import STORED, Stored
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span

INTERRUPT_FLAG = 4
FAILURE_NUMBER = 8
FAILURE_VALUES = 16
EXCHANGE = 64

# failures that belong to no line of the user's
INTERRUPTED = -1
OUT_OF_MEMORY = -2  # FAILURE_VALUES: bytes asked

ADDRESS_SPACE: dict[bool, int] = {False: 1 << 32, True: 1 << 38}
"""The bytes that addresses reach: of a wide module, and of others."""

Scalar = Literal["real", "int", "bool"]
Element = Scalar | Stored
"""What elements of arrays are in memory: numbers of few bits are called as NumPy calls them."""
Tier = Literal["auto", "fast", "best"]
"""Which native code a program has: one after the other, what is made at once, or what runs best."""

SCALAR_BYTES: dict[Element, int] = {
    "real": 8, "int": 8, "bool": 1, **{name: int(name.lstrip("uintfloa")) // 8 for name in STORED},
}  # fmt: skip
SCALAR_OF: dict[str, Scalar] = {"f": "real", "i": "int", "u": "int", "b": "bool"}
"""By NumPy's letter for a kind of elements."""


@dataclass(slots=True, frozen=True)
class Slot:
    """A value at the border. `offset` counts from address 0; it has no meaning for the slots of an import."""

    kind: Literal["real", "int", "bool", "array", "dyn", "handle"]
    offset: int = 0
    shape: tuple[int, ...] = ()
    """Of an array; of a `dyn` the shape of one element of its outer axis."""
    element: Element = "real"
    release: str = ""
    """The export that frees a `dyn` or `handle`."""

    @property
    def bytes(self) -> int:
        """What the slot takes in the exchange block."""
        match self.kind:
            case "array":
                return prod(self.shape) * SCALAR_BYTES[self.element]
            case "dyn" | "handle":
                return 8  # of which an address of 32 bits takes the first half
            case kind:
                return SCALAR_BYTES[kind]


@dataclass(slots=True, frozen=True)
class Entry:
    """An exported function: what it takes and gives."""

    name: str
    params: tuple[Slot, ...]
    results: tuple[Slot, ...]


@dataclass(slots=True, frozen=True)
class Border:
    """Of the parameters and results of an entry the dtypes that the host has arrays in, by name; "" for all else."""

    params: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class Import:
    """A host function: its name for people, and how its values are passed."""

    name: str
    params: tuple[Slot, ...]
    results: tuple[Slot, ...]


@dataclass(slots=True, frozen=True)
class Block:
    """Memory that a module has allocated, as the host sees it: a number of bytes, and what in them is not plain."""

    bytes: int
    inside: tuple["Inside", ...] = ()


@dataclass(slots=True, frozen=True)
class Owned:
    """The address of a block, by its name in `Artifact.blocks`."""

    offset: int
    block: str


@dataclass(slots=True, frozen=True)
class Elements:
    """The record of an array whose length only the run knows, at the beginning of its block: address, length, bytes.
    An element takes `stride` bytes and has `inside` what is not plain."""

    stride: int
    inside: tuple["Inside", ...] = ()


@dataclass(slots=True, frozen=True)
class Rows:
    """An array of a known length, in place."""

    offset: int
    stride: int
    length: int
    inside: tuple["Inside", ...]


@dataclass(slots=True, frozen=True)
class Either:
    """One of two values in one place; the byte at `tag` says whether it is the second."""

    tag: int
    first: tuple["Inside", ...]
    second: tuple["Inside", ...]


Inside = Owned | Elements | Rows | Either


@dataclass(slots=True)
class Artifact:
    """A compiled program, complete but for the host functions it imports."""

    wasm: bytes
    entries: dict[str, Entry]
    imports: tuple[Import, ...] = ()
    failures: tuple[Failure, ...] = ()
    functions: dict[int, str] = field(default_factory=dict[int, str])
    """Index of a Wasm function to the user's name for it."""
    places: dict[int, Span] = field(default_factory=dict[int, Span])
    """And to where it is written, if that is known."""
    lasting: bool = True
    """Whether a call may last: it has loops or recursion that nobody knows the end of."""
    recursive: bool = True
    """Whether a function may call itself, so that only the stack of the thread bounds the depth of its calls."""
    failure_values: tuple[tuple[Scalar, ...], ...] = ()
    """The kinds of the values at FAILURE_VALUES, for each of `failures`; missing for "index" (two ints) and none."""
    wide: bool = False
    """Whether addresses have 64 bits."""
    blocks: dict[str, Block] = field(default_factory=dict[str, Block])
    """The blocks of results of kind `handle`, by the names of their `release`, and those that they own."""


@dataclass(slots=True, frozen=True)
class Node:
    """A Python structure whose leaves cross the border one by one.

    `keys` are field names or dict keys (empty for tuples and lists); `cls` rebuilds the user's class. The items of a
    dict that is `ordered` come in the order of its keys, those of another one in any. `kind` is the name of a kind of
    containers (`containers.KINDS`) or "none"; `state` is what such a container has beside its parts.
    """

    kind: str
    children: tuple["Tree", ...] = ()
    keys: tuple[Any, ...] = ()
    cls: type | None = None
    ordered: bool = False
    state: Any = None

    def __hash__(self) -> int:
        """Lists of numbers are long, and all alike: one of them is asked."""
        items = self.children
        first = items[0] if items else None
        alike = items.count(first) == len(items)
        return hash((self.kind, len(items), first if alike else items, self.keys, self.cls))


@dataclass(slots=True, frozen=True)
class Leaf:
    """One value of a signature, as types see it (a `Slot` without its place)."""

    kind: Literal["real", "int", "bool", "array", "dyn"]
    shape: tuple[int, ...] = ()
    element: Scalar = "real"
    length: str = ""
    """Of a `dyn` that an exported function takes: the name of its length, which others of that name share."""
    cls: Any = None
    """Of a number of which the program asks what class it is: that class, if it is not the one Python's own have."""


def leaf_of(shape: tuple[int, ...], kind: Scalar) -> Leaf:
    """What an array is at the border of a function; without dimensions a number."""
    return Leaf("array", shape, kind) if shape else Leaf(kind)


@dataclass(slots=True, frozen=True)
class Static:
    """A parameter that the host keeps: it reaches staging, and the key, but not the module."""

    key: Any = None


Tree = Node | Leaf | Static


@dataclass(slots=True, frozen=True)
class HostSignature:
    """What a host function takes and gives as its author sees it, where compiled code passes the leaves.

    The attribute `signature` of what `ir.Function.host` holds; `statics` are the host values in `trees`, in order.
    """

    trees: tuple[Tree, ...]
    result: Tree
    statics: tuple[Any, ...] = ()
    prints: bool = False
    """Whether it is what `print` was staged to."""
    forms: tuple[tuple[int, tuple["str | tuple[str, str]", ...]], ...] = ()
    """Of `print` and `raises`: arguments, by number, that are texts with gaps; a gap has conversion and format of the
    value there, and the tree of the argument has the values."""
    raises: str = ""
    """Of what only ends the call: the name of the exception's class. The one argument is the message."""
    span: Span | None = None
    """Where that is."""


def changed(trees: Iterable[Tree]) -> list[Leaf]:
    """The leaves of arguments that a call changes, in order: the states of generators of random numbers. An entry gives
    what they are afterwards behind its result, and the method `__rose_after__` of their class takes it."""
    found: list[Leaf] = []
    for tree in trees:
        if isinstance(tree, Node):
            found += leaves(tree) if hasattr(tree.cls, "__rose_after__") else changed(tree.children)
    return found


def leaves(tree: Tree) -> list[Leaf]:
    """The values of `tree`, in the order in which they cross."""
    found: list[Leaf] = []
    pending: list[Tree] = [tree]
    while pending:
        one = pending.pop()
        if isinstance(one, Leaf):
            found.append(one)
        elif isinstance(one, Node):
            pending += reversed(one.children)
    return found
