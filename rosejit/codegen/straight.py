"""Straight code as numbers to an artifact: functions of some hundreds of steps each, with no parameters and no frame.

A value has a local where it is made. What a later part reads lies at a fixed address: an instance runs one call at a
time, and this code calls nothing but kernels.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise

from rosejit.abi import Artifact
from rosejit.codegen.body import LOADS, STORES, Kind, kind_of
from rosejit.codegen.columns import BOTH, OTHER, Column, columns
from rosejit.codegen.emitter import literal
from rosejit.codegen.entries import Border, border
from rosejit.codegen.module import Module
from rosejit.codegen.pieces import Pieces
from rosejit.codegen.program import add_memory, write_pending
from rosejit.collector import paused
from rosejit.ir.primitive import Emit
from rosejit.ir.syntax import Function, Lit
from rosejit.ir.types import INT
from rosejit.numeric import np
from rosejit.ops.kernels import KERNELS
from rosejit.transforms.numbering import Straight
from rosejit.transforms.rows import OPS, Leaf
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import Immediate, call, i32_const, local_get, local_set
from rosejit.wasm.module import Export, Locals, ModuleBuilder
from rosejit.wasm.opcodes import OP

PART = 512
"""Steps of one function. Compilers of Wasm take time that grows faster than its length."""
_CHUNK = 16
"""Parts that are written at a time: then columns are short enough for the caches."""

_ADDRESS = i32_const[0]
"""Stands in front of what a load reads or a store writes; the address itself is in the instruction."""
_KINDS: tuple[Kind, ...] = ("f64", "i64", "i32")


def compile_straight(made: Straight) -> Artifact:
    """The module with `made` as its entry `main`."""
    with paused():
        builder = ModuleBuilder()
        f = Function(made.name, made.base.params, tuple([r.type for r in made.results]), span=made.base.span)
        place = border("main", f, {})
        module = Module(builder, place.end)
        index = _Writer(module, made, place).write()
        builder.exports.append(Export("main", "func", index))
        module.told(index, f)
        write_pending(module, {}, set())
        add_memory(module)
        wasm, entries = encode(builder.build()), {"main": place.entry}
        names, places = module.names, module.places
        return Artifact(wasm, entries, (), (), names, places, lasting=False, recursive=False)


class _Writer:
    """Writes the parts in order, many steps at once: operands, what is done to them, the local where it is put."""

    def __init__(self, module: Module, made: Straight, place: Border) -> None:
        self.module = module
        self.name = made.name
        self.leaves = [_leaf(leaf, place) for leaf in made.leaves]
        homes, self.copies = _results(made, place)
        results = np.fromiter(homes, np.int64, len(homes))
        self.columns = c = columns(made.code, len(made.leaves), results, PART)
        self.local = np.zeros(c.none + 1, np.int64)
        """Of each value, in the part that makes it."""
        self.local[c.values] = np.arange(len(c.values)) - np.repeat(c.starts[:-1], np.diff(c.starts))
        self.kinds = np.array([_KINDS.index(_kind(code)) for code in range(OTHER + 1)])[c.ops]
        self.address = np.full(c.none + 1, -1)
        """Where a value lies that is read outside of its part, or is a result."""
        self.address[results] = np.fromiter(homes.values(), np.int64, len(homes))
        self._keep()
        self._pieces()

    def _keep(self) -> None:
        """Give what crosses a place until it is read for the last time."""
        c, module, free, count = self.columns, self.module, list[int](), 0
        crossing = c.values[(c.last[c.values] >= 0) & (self.address[c.values] < 0)]
        slots = np.zeros(len(crossing), np.int64)
        parts = np.arange(len(c.starts))
        made = np.searchsorted(c.part[crossing], parts).tolist()
        ending = np.argsort(c.last[crossing], kind="stable")
        ends = np.searchsorted(c.last[crossing][ending], parts).tolist()
        for part in range(len(made) - 1):
            wanted = made[part + 1] - made[part]
            new = max(0, wanted - len(free))
            kept = len(free) - wanted + new
            slots[made[part] : made[part + 1]] = [*free[kept:], *range(count, count + new)]
            free, count = free[:kept] + slots[ending[ends[part] : ends[part + 1]]].tolist(), count + new
        self.address[crossing] = module.end + 8 * slots
        module.reserve(8 * count)

    def _pieces(self) -> None:
        c = self.columns
        self.pieces = pieces = Pieces()
        self.gets = pieces.add([local_get[k] for k in range(PART + 1)])
        self.sets = pieces.add([local_set[k] for k in range(PART + 1)])
        self.start = pieces.add([_ADDRESS])
        used = np.unique(c.ops)
        codes = np.zeros(OTHER + 1, np.int64)
        codes[used] = pieces.add([_code(self.module, code) for code in used.tolist()]) + np.arange(len(used))
        self.codes = codes[c.ops]
        kept = np.flatnonzero(self.address[c.values] >= 0)
        values, kinds = c.values[kept], self.kinds[kept]
        self.outside = np.zeros(c.none + 1, np.int64)
        """What leaves a value where it is no local; nothing leaves nothing."""
        self.outside[c.leaf : c.none] = pieces.add(self.leaves) + np.arange(len(self.leaves))
        self.outside[values] = self._at(values, _heads(LOADS)[kinds], _ADDRESS)
        self.stores = np.zeros(len(c.values), np.int64)
        """What stores what a step makes, behind the address and the value."""
        self.stores[kept] = self._at(values, _heads(STORES)[kinds], b"")

    def _at(self, values: Column, heads: Column, before: bytes) -> Column:
        """Pieces that do something at the addresses of values."""
        front = np.broadcast_to(np.frombuffer(before, np.uint8), (len(values), len(before)))
        return self.pieces.add_numbered(np.concatenate((front, heads), axis=1), self.address[values]) + np.arange(
            len(values)
        )

    def write(self) -> int:
        """The index of a function that runs all parts."""
        c = self.columns
        parts: list[int] = []
        for first in range(0, len(c.starts) - 1, _CHUNK):
            bounds = c.starts[first : first + _CHUNK + 1].tolist()
            for (start, end), code in zip(pairwise(bounds), self.written(bounds), strict=True):
                parts.append(self.function(self.locals(start, end), code))
        for k in range(0, len(self.copies), PART):
            copies = [self._copy(*copy) for copy in self.copies[k : k + PART]]
            parts.append(self.function((), b"".join(copies)))
        return self.function((), b"".join([call[part] for part in parts]))

    def written(self, bounds: list[int]) -> Iterator[bytes]:
        """The code of the parts that start and end at these steps."""
        c, here = self.columns, slice(bounds[0], bounds[-1])
        values = c.values[here]
        own, local, stores = c.part[values], self.local[values], self.stores[here]
        operands = [
            np.where(c.part[x] == own, self.gets + self.local[x], self.outside[x])
            for x in (o[here] for o in c.operands)
        ]
        kept = stores > 0
        before = np.concatenate(([0], np.cumsum(kept)))  # so many rows are stores
        at = np.arange(len(values)) + before[:-1]
        rows = np.zeros((len(values) + before[-1], max(3, len(operands) + 2)), np.int64)
        for k, column in enumerate((*operands, self.codes[here], self.sets + local)):
            rows[at, k] = column
        for k, column in enumerate((self.start, self.gets + local[kept], stores[kept])):
            rows[at[kept] + 1, k] = column
        code, ends = self.pieces.joined(rows)
        cuts = [0, *[int(ends[k - bounds[0] + before[k - bounds[0]] - 1]) for k in bounds[1:]]]
        data = code.tobytes()
        for start, end in pairwise(cuts):
            yield data[start:end]

    def locals(self, start: int, end: int) -> Locals:
        """One for each step."""
        kinds = self.kinds[start:end]
        runs = groupby(kinds.tolist()) if kinds.any() else [(0, range(start, end))]
        return tuple([(len(list(run)), _KINDS[kind]) for kind, run in runs])

    def function(self, locals_: Locals, code: bytes) -> int:
        """The index of a function without parameters."""
        index = self.module.builder.declare_function((), (), self.name)
        self.module.builder.define(index, locals_, (code,))
        return index

    def _copy(self, a: int, kind: Kind, to: int) -> bytes:
        value = self.leaves[~a] if a < 0 else _ADDRESS + LOADS[kind][int(self.address[a])]
        return _ADDRESS + value + STORES[kind][to]


def _results(made: Straight, place: Border) -> tuple[dict[int, int], list[tuple[int, Kind, int]]]:
    """Where values that are results lie; then results that are no steps, or are results already, and where they go."""
    homes: dict[int, int] = {}
    copies: list[tuple[int, Kind, int]] = []
    for result, slot in zip(made.results, place.entry.results, strict=True):
        for k, a in enumerate(result.elements):
            if a >= 0 and a not in homes:
                homes[a] = slot.offset + 8 * k
            else:
                copies.append((a, "i64" if result.type is INT else "f64", slot.offset + 8 * k))
    return homes, copies


def _heads(instructions: Mapping[str, Immediate]) -> Column:
    """Loads or stores of all kinds, without the offset that ends them."""
    return np.array([list(instructions[kind][0][:-1]) for kind in _KINDS], np.uint8)


def _kind(code: int) -> Kind:
    return kind_of(OPS[code].result) or "f64" if code < BOTH else "f64"


def _code(module: Module, code: int) -> bytes:
    """What is written for an op behind its operands."""
    if code >= BOTH:
        return module.callee(KERNELS["sin_cos"]()).code if code == BOTH else b""
    op = OPS[code]
    found = OP["select"] if isinstance(op.wasm, Emit) else module.code(op)
    assert found is not None
    return found


def _leaf(leaf: Leaf, place: Border) -> bytes:
    """Leaves a constant, an argument or an element of one."""
    if isinstance(leaf, Lit):
        return literal(leaf)
    number, offset = leaf
    slot = place.entry.params[number]
    return _ADDRESS + LOADS["i64" if slot.kind == "int" else "f64"][slot.offset + 8 * offset]
