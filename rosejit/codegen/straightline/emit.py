"""Emission of straight-line programs after value numbering: Wasm functions of some hundreds of steps each, with no
parameters and no frame.

A value has a local where it is made. What a later part reads is in a global: an instance runs one call at a time, and
no function is entered again before it is left.
"""

# Several functions of NumPy 2.5 are of types that are unknown in part.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from rosejit.codegen.core.address_type import KINDS, Kind
from rosejit.codegen.core.function_body import LOADS, STORES
from rosejit.codegen.core.module_builder import ModuleContext
from rosejit.codegen.straightline.code_pieces import FragmentTable
from rosejit.codegen.straightline.kernel_code import codes_of
from rosejit.codegen.straightline.schedule import CODES_END, TWICE, Column, Steps, columns
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.transforms.straightline.op_rows import OPS
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
from rosejit.wasm.module import Locals, ValueType
from rosejit.wasm.opcodes import OP

PART = 512
"""Steps of one function. Compilers of Wasm take time that grows faster than its length."""
_WHOLE = 8
"""So many parts are one function if that is all there is: nothing crosses, winch takes 16 % less time for it, Cranelift
7 % more."""
_CHUNK = 16
"""Parts that are written at a time: then columns are short enough for the caches."""

ADDRESS = i32_const[0]
"""Stands in front of what a load reads or a store writes; the address itself is in the instruction."""
_GLOBALS = 50_000
"""What crosses beyond that is in memory: engines take a million globals at most."""
_KINDS: tuple[Kind, ...] = ("f64", "i64", "i32")


@dataclass(slots=True)
class StraightLineModule:
    """Functions without parameters, as steps, and what these are where they are no primitives."""

    steps: Steps
    names: list[str]
    leaves: list[bytes]
    """What leaves each leaf."""
    actions: Callable[[list[int]], list[bytes]]
    """What each action does with its operands, given the index of each function."""
    makes: Column
    """Whether an action makes a Real, for each; the others make nothing."""
    held: dict[int, int]
    """The globals of some values."""
    homes: dict[int, int]
    """Where other values lie in memory."""


class StraightLineEmitter:
    """Writes the parts in order, many steps at once: operands, what is done to them, the local where it is put."""

    def __init__(self, module: ModuleContext, given: StraightLineModule) -> None:
        self.module, self.given = module, given
        self.columns = c = columns(given.steps, PART, _WHOLE * PART)
        self.codes = codes_of(module, tuple(np.unique(c.ops[c.ops < CODES_END]).tolist()))
        self.kinds = np.array([*_kinds(), *[0] * len(given.makes)])[c.ops]
        """Of what each step makes."""
        self.makes = np.concatenate((np.ones(CODES_END, bool), given.makes))[c.ops]
        """Whether a step makes anything."""
        self.lanes: Locals = ((1, "v128"),) if TWICE in self.codes else ()
        """The locals in front of the others."""
        self.local = np.zeros(c.none + 2, np.int64)
        """Of each value, in the part that makes it."""
        self.counts = self._locals()
        """Of each part: how many values of each kind it makes."""
        self.held = np.full(c.none + 2, -1)
        """The global of a value that is read outside of its part."""
        self.address = np.full(c.none + 2, -1)
        """Where a value lies that is a result, or has no global."""
        for column, places in ((self.held, given.held), (self.address, given.homes)):
            column[np.fromiter(places, np.int64, len(places))] = np.fromiter(places.values(), np.int64, len(places))
        self._keep()
        self.indices: list[int] = []
        """Of each part."""
        self.functions = [
            self._define_function(name, span) for name, span in zip(given.names, pairwise(c.functions), strict=True)
        ]
        self._pieces()

    def _locals(self) -> list[list[int]]:
        """Give each value that a step makes a local; those of one kind lie together."""
        c, steps = self.columns, np.flatnonzero(self.makes)
        values = c.values[steps]
        kinds = c.part[values] * len(_KINDS) + self.kinds[steps]
        counts = np.bincount(kinds, minlength=len(_KINDS) * (len(c.starts) - 1)).reshape(-1, len(_KINDS))
        every = counts.sum(1)
        place = np.arange(len(steps))
        if self.kinds.any():
            place[np.argsort(kinds, kind="stable")] = np.arange(len(steps))
        self.local[values] = len(self.lanes) + place - (np.cumsum(every) - every)[c.part[values]]
        return counts.tolist()

    def _keep(self) -> None:
        """Give what crosses a global until its last read: compilers do less for those than for memory."""
        c, module, free, count = self.columns, self.module, list[int](), 0
        placed = (self.address[c.values] >= 0) | (self.held[c.values] >= 0)
        steps = np.flatnonzero((c.last[c.values] >= 0) & ~placed)
        crossing = c.values[steps]
        slots = np.zeros(len(crossing), np.int64)
        parts = np.arange(len(c.starts))
        made = np.searchsorted(c.part[crossing], parts).tolist()
        ending = np.argsort(c.last[crossing], kind="stable")
        ends = np.searchsorted(c.last[crossing][ending], parts).tolist()
        functions = set(c.functions)
        for part in range(len(made) - 1):
            if part in functions:  # what another one holds is needed when it goes on
                free = list[int]()
            wanted = made[part + 1] - made[part]
            new = max(0, wanted - len(free))
            kept = len(free) - wanted + new
            slots[made[part] : made[part + 1]] = [*free[kept:], *range(count, count + new)]
            del free[kept:]
            free += slots[ending[ends[part] : ends[part + 1]]].tolist()
            count += new
        real = (slots < _GLOBALS) & (self.kinds[steps] == 0)
        first = module.builder.add_global("f64", f64_const(0.0), count=min(count, _GLOBALS))
        self.held[crossing[real]] = first + slots[real]
        self.address[crossing[~real]] = module.end + 8 * slots[~real]
        module.reserve(0 if real.all() else 8 * count)

    def _define_function(self, name: str, span: tuple[int, int]) -> int:
        """The index of a function that runs all its parts."""
        builder = self.module.builder
        parts = [builder.declare_function((), (), name) for _ in range(*span)]
        self.indices += parts
        if len(parts) == 1:
            return parts[0]
        whole = builder.declare_function((), (), name)
        builder.define(whole, (), [call[part] for part in parts])
        return whole

    def _pieces(self) -> None:
        c = self.columns
        self.pieces = pieces = FragmentTable()
        longest = int(np.diff(c.starts).max(initial=0)) + len(self.lanes)
        count = max(PART, 1 << longest.bit_length())
        gets, sets = [pieces.put(*made) for made in _of_locals(count)]
        self.inside = np.zeros(c.none + 2, np.int64)
        """What leaves a value in the part that makes it."""
        self.inside[c.values] = np.where(self.makes, gets + self.local[c.values], 0)
        self.sets = np.where(self.makes, sets + self.local[c.values], 0)
        """What puts what a step makes into its local."""
        codes = [*self.codes.values(), *self.given.actions(self.functions)]
        code = np.zeros(CODES_END + len(codes) - len(self.codes), np.int64)
        code[[*self.codes, *range(CODES_END, len(code))]] = pieces.add(codes) + np.arange(len(codes))
        self.done = code[c.ops]
        """What each step does with its operands."""
        self.outside = np.zeros(c.none + 2, np.int64)
        """What leaves a value where it is no local; nothing leaves nothing."""
        self.outside[c.none + 1] = pieces.add([OP["f64x2.splat"]])
        self.outside[c.leaf : c.none] = pieces.add(self.given.leaves) + np.arange(c.none - c.leaf)
        self.stores = np.zeros((len(c.values), 2), np.int64)
        """What puts what a step makes where it is read elsewhere: in front of it and behind it."""
        held, kept = np.flatnonzero(self.held[c.values] >= 0), np.flatnonzero(self.address[c.values] >= 0)
        first, kinds = np.zeros(len(held), np.int64), self.kinds[kept]
        self._put(held, self.held, (_heads([global_get])[first], _heads([global_set])[first]), 0)
        loads, stores = [[table[kind] for kind in _KINDS] for table in (LOADS, STORES)]
        self._put(kept, self.address, (_heads(loads, ADDRESS)[kinds], _heads(stores)[kinds]), pieces.add([ADDRESS]))

    def _put(self, at: Column, places: Column, heads: tuple[Column, Column], before: int) -> None:
        """Steps put what they make at `places`; `heads` are what begins to read it there, and to write it."""
        values, each = self.columns.values[at], np.arange(len(at))
        self.outside[values] = self.pieces.add_numbered(heads[0], places[values]) + each
        self.stores[at, 0], self.stores[at, 1] = before, self.pieces.add_numbered(heads[1], places[values]) + each

    def write(self) -> int:
        """The index of the last function."""
        c = self.columns
        for first in range(0, len(self.indices), _CHUNK):
            bounds = c.starts[first : first + _CHUNK + 1].tolist()
            indices = self.indices[first : first + _CHUNK]
            counts = self.counts[first : first + _CHUNK]
            for index, count, code in zip(indices, counts, self.written(bounds), strict=True):
                kinds: list[tuple[int, ValueType]] = [(n, kind) for n, kind in zip(count, _KINDS, strict=True) if n]
                self.module.builder.define(index, (*self.lanes, *kinds), (code,))
        return self.functions[-1]

    def written(self, bounds: list[int]) -> Iterator[bytes]:
        """The code of the parts that start and end at these steps."""
        c, here = self.columns, slice(bounds[0], bounds[-1])
        values = c.values[here]
        own, inside, stores = c.part[values], self.inside, self.stores[here]
        operands = [np.where(c.part[x] == own, inside[x], self.outside[x]) for x in (o[here] for o in c.operands)]
        kept = stores[:, 1] > 0
        before = np.concatenate(([0], np.cumsum(kept)))  # so many rows are stores
        at = np.arange(len(values)) + before[:-1]
        rows = np.zeros((len(values) + before[-1], max(3, len(operands) + 2)), np.int64)
        for k, column in enumerate((*operands, self.done[here], self.sets[here])):
            rows[at, k] = column
        for k, column in enumerate((stores[kept, 0], inside[values[kept]], stores[kept, 1])):
            rows[at[kept] + 1, k] = column
        code, ends = self.pieces.joined(rows)
        cuts = [int(ends[k + before[k] - 1]) if k else 0 for k in [bound - bounds[0] for bound in bounds]]
        data = code.tobytes()
        for start, end in pairwise(cuts):
            yield data[start:end]


@cache
def _of_locals(count: int) -> list[tuple[Column, Column]]:
    """What reads and what writes each of so many locals."""
    groups = np.arange(count)[:, None] >> 7 * np.arange(1 + count.bit_length() // 7)
    used = groups > 0
    used[:, 0] = True
    lengths = 1 + used.sum(1)
    numbers = groups & 0x7F | np.roll(used, -1, axis=1) << 7
    numbers[:, -1] &= 0x7F
    rows = np.column_stack((np.zeros(count, np.int64), numbers))
    found: list[tuple[Column, Column]] = []
    for instruction in (local_get, local_set):
        rows[:, 0] = instruction[0][0]
        found.append((rows[np.column_stack((np.ones(count, bool), used))].astype(np.uint8), lengths))
    return found


def _heads(instructions: Sequence[Immediate], before: bytes = b"") -> Column:
    """Instructions without the number that ends them, a row each."""
    return np.array([list(before + instruction[0][:-1]) for instruction in instructions], np.uint8)


@cache
def _kinds() -> list[int]:
    """Of what each code makes."""
    return [_KINDS.index(KINDS[op.result] or "f64") for op in OPS] + [0] * (CODES_END - len(OPS))
