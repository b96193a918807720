"""Straight code as numbers to an artifact: functions of some hundreds of steps each, with no parameters and no frame.

A value has a local where it is made. What a later part reads is in a global: an instance runs one call at a time, and
this code calls nothing but kernels.
"""

# Several functions of NumPy 2.5 are of types that are unknown in part.
# pyright: reportUnknownMemberType=false

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise

from rosejit.abi import Artifact
from rosejit.codegen.body import LOADS, STORES, Kind, kind_of
from rosejit.codegen.columns import CODES_END, TWICE, Column, columns
from rosejit.codegen.emitter import literal
from rosejit.codegen.entries import Border, border
from rosejit.codegen.kernels import codes_of
from rosejit.codegen.module import Module
from rosejit.codegen.pieces import Pieces, lengths_of
from rosejit.codegen.program import add_memory
from rosejit.collector import paused
from rosejit.ir.syntax import Function, Lit
from rosejit.ir.types import INT
from rosejit.numeric import np
from rosejit.transforms.numbering import Straight
from rosejit.transforms.rows import OPS, Leaf
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import (
    Immediate,
    call,
    f64_const,
    global_get,
    global_set,
    i32_const,
    local_get,
    local_set,
)
from rosejit.wasm.module import Export, Locals, ModuleBuilder
from rosejit.wasm.opcodes import OP

PART = 512
"""Steps of one function. Compilers of Wasm take time that grows faster than its length."""
_WHOLE = 8
"""So many parts are one function if that is all there is: nothing crosses, winch takes 16 % less time for it, Cranelift
7 % more."""
_CHUNK = 16
"""Parts that are written at a time: then columns are short enough for the caches."""

_ADDRESS = i32_const[0]
"""Stands in front of what a load reads or a store writes; the address itself is in the instruction."""
_ROUND = 4096
"""The constants of kernels begin at a multiple of it: kernels are written once for each place."""
_GLOBALS = 50_000
"""What crosses beyond that is in memory: engines take a million globals at most."""
_KINDS: tuple[Kind, ...] = ("f64", "i64", "i32")


def compile_straight(made: Straight) -> Artifact:
    """The module with `made` as its entry `main`."""
    with paused():
        builder = ModuleBuilder()
        f = Function(made.name, made.base.params, tuple([r.type for r in made.results]), span=made.base.span)
        place = border("main", f, {})
        module = Module(builder, -(-place.end // _ROUND) * _ROUND)
        index = _Writer(module, made, place).write()
        builder.exports.append(Export("main", "func", index))
        module.told(index, f)
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
        self.columns = c = columns(made.code, len(made.leaves), results, PART, _WHOLE * PART)
        self.codes = codes_of(module, tuple(np.unique(c.ops).tolist()))
        self.local = np.zeros(c.none + 2, np.int64)
        """Of each value, in the part that makes it."""
        self.lanes: Locals = ((1, "v128"),) if TWICE in self.codes else ()
        """The locals in front of the others."""
        self.local[c.values] = len(self.lanes) + np.arange(len(c.values)) - np.repeat(c.starts[:-1], np.diff(c.starts))
        self.kinds = np.array(_kinds())[c.ops]
        """Of what each step makes."""
        self.held = np.full(c.none + 2, -1)
        """The global of a value that is read outside of its part."""
        self.address = np.full(c.none + 2, -1)
        """Where a value lies that is a result, or has no global."""
        self.address[results] = np.fromiter(homes.values(), np.int64, len(homes))
        self._keep()
        self._pieces()

    def _keep(self) -> None:
        """Give what crosses a global until its last read: compilers do less for those than for memory."""
        c, module, free, count = self.columns, self.module, list[int](), 0
        steps = np.flatnonzero((c.last[c.values] >= 0) & (self.address[c.values] < 0))
        crossing = c.values[steps]
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
            del free[kept:]
            free += slots[ending[ends[part] : ends[part + 1]]].tolist()
            count += new
        real = (slots < _GLOBALS) & (self.kinds[steps] == 0)
        self.held[crossing[real]] = slots[real]
        self.address[crossing[~real]] = module.end + 8 * slots[~real]
        module.reserve(0 if real.all() else 8 * count)
        module.builder.add_global("f64", f64_const(0.0), count=min(count, _GLOBALS))

    def _pieces(self) -> None:
        c = self.columns
        self.pieces = pieces = Pieces()
        longest = int(np.diff(c.starts).max(initial=0)) + len(self.lanes)
        count = max(PART, 1 << longest.bit_length())
        self.gets, self.sets = [pieces.put(*made) for made in _of_locals(count)]
        code = np.zeros(CODES_END, np.int64)
        code[list(self.codes)] = pieces.add(self.codes.values()) + np.arange(len(self.codes))
        self.done = code[c.ops]
        """What each step does with its operands."""
        self.outside = np.zeros(c.none + 2, np.int64)
        """What leaves a value where it is no local; nothing leaves nothing."""
        self.outside[c.none + 1] = pieces.add([OP["f64x2.splat"]])
        self.outside[c.leaf : c.none] = pieces.add(self.leaves) + np.arange(len(self.leaves))
        self.stores = np.zeros((len(c.values), 2), np.int64)
        """What puts what a step makes where it is read elsewhere: in front of it and behind it."""
        held, kept = np.flatnonzero(self.held[c.values] >= 0), np.flatnonzero(self.address[c.values] >= 0)
        first, kinds = np.zeros(len(held), np.int64), self.kinds[kept]
        self._put(held, self.held, (_heads([global_get])[first], _heads([global_set])[first]), 0)
        loads, stores = [[table[kind] for kind in _KINDS] for table in (LOADS, STORES)]
        self._put(kept, self.address, (_heads(loads, _ADDRESS)[kinds], _heads(stores)[kinds]), pieces.add([_ADDRESS]))

    def _put(self, at: Column, places: Column, heads: tuple[Column, Column], before: int) -> None:
        """Steps put what they make at `places`; `heads` are what begins to read it there, and to write it."""
        values, each = self.columns.values[at], np.arange(len(at))
        self.outside[values] = self.pieces.add_numbered(heads[0], places[values]) + each
        self.stores[at, 0], self.stores[at, 1] = before, self.pieces.add_numbered(heads[1], places[values]) + each

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
        kept = stores[:, 1] > 0
        before = np.concatenate(([0], np.cumsum(kept)))  # so many rows are stores
        at = np.arange(len(values)) + before[:-1]
        rows = np.zeros((len(values) + before[-1], max(3, len(operands) + 2)), np.int64)
        for k, column in enumerate((*operands, self.done[here], self.sets + local)):
            rows[at, k] = column
        for k, column in enumerate((stores[kept, 0], self.gets + local[kept], stores[kept, 1])):
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
        return (*self.lanes, *[(len(list(run)), _KINDS[kind]) for kind, run in runs])

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


@cache
def _of_locals(count: int) -> list[tuple[Column, Column]]:
    """What reads and what writes each of so many locals."""
    return [lengths_of([instruction[k] for k in range(count)]) for instruction in (local_get, local_set)]


def _heads(instructions: Sequence[Immediate], before: bytes = b"") -> Column:
    """Instructions without the number that ends them, a row each."""
    return np.array([list(before + instruction[0][:-1]) for instruction in instructions], np.uint8)


@cache
def _kinds() -> list[int]:
    """Of what each code makes."""
    return [_KINDS.index(kind_of(op.result) or "f64") for op in OPS] + [0] * (CODES_END - len(OPS))


def _leaf(leaf: Leaf, place: Border) -> bytes:
    """Leaves a constant, an argument or an element of one."""
    if isinstance(leaf, Lit):
        return literal(leaf)
    number, offset = leaf
    slot = place.entry.params[number]
    return _ADDRESS + LOADS["i64" if slot.kind == "int" else "f64"][slot.offset + 8 * offset]
