"""The steps of a routine to functions of some hundreds of them each, with no parameters and no frame.

A value has a local where it is made. What a later part reads lies at a fixed address.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rosejit.codegen.body import LOADS, STORES, Kind, kind_of
from rosejit.codegen.kernels import code_of
from rosejit.codegen.module import Module
from rosejit.ir.primitive import Emit, Primitive
from rosejit.ops import PRIMITIVES
from rosejit.ops.kernels import KERNELS
from rosejit.transforms.routines import Step
from rosejit.transforms.rows import OPS
from rosejit.wasm.instructions import call, i32_const, local_get, local_set, local_tee
from rosejit.wasm.module import Locals, ValueType
from rosejit.wasm.opcodes import OP

PART = 256
"""Steps of one function. Compilers of Wasm take time that grows faster than its length."""

_GETS, _SETS = [local_get[k] for k in range(2 * PART)], [local_set[k] for k in range(2 * PART)]
_SIN, _COS = PRIMITIVES["sin"], PRIMITIVES["cos"]
ADDRESS = i32_const[0]
"""Stands in front of what a load reads or a store writes; the address itself is in the instruction."""


@dataclass(slots=True, frozen=True)
class Slot:
    """A place in memory: code that leaves what is there, code that stores there."""

    load: bytes
    store: bytes

    @staticmethod
    def of(kind: Kind, address: int) -> "Slot":
        """The place at an address."""
        return Slot(ADDRESS + LOADS[kind][address], STORES[kind][address])


Form = Callable[["Part", int, Step], None]


class Writer:
    """Writes the parts in order. Of a value `k`, `reads[k]` is what leaves it: of a leaf at the end of the list."""

    def __init__(
        self,
        module: Module,
        name: str,
        code: list[Step],
        leaves: list[bytes],
        homes: list[tuple[int, Slot]],
        acts: Sequence[int],
        forms: Mapping[type, Form],
    ) -> None:
        self.module = module
        self.name = name
        self.code = list(map(_ordered, code))
        ops = dict.fromkeys([step[0] for step in self.code])
        self.codes = {op: code_of(module, op) for op in ops if isinstance(op, Primitive)}
        kinds: dict[Primitive, Kind | None] = {op: kind_of(op.result) for op in self.codes}
        self.odd: dict[Primitive, Kind] = {op: kind for op, kind in kinds.items() if kind not in ("f64", None)}
        """The ops whose result is no Real."""
        self.reads = [b""] * len(self.code) + leaves[::-1]
        self.start = self.end = module.end
        """Of the slots for values that are read in a later part than they are made in."""
        self.free: dict[Kind, list[Slot]] = {"f64": [], "i64": [], "i32": []}
        self.ending: dict[int, list[tuple[Kind, Slot]]] = defaultdict(list)
        """By part: slots that are free behind it."""
        self.homes: dict[int, Slot] = {}
        """The values that are results."""
        self.copies: list[tuple[int, Slot]] = []
        """Results that are no steps, or are results already."""
        self._settle(homes)
        self.acts = acts
        """The steps that are done even if nobody reads them."""
        self.forms = forms
        """How steps are written that are no primitives."""
        self.pairs = self._pairs() if _SIN in ops and _COS in ops else {}
        """Sines and cosines of the same value, the first one's number to the other's: one call gives both."""
        self.written = set(self.pairs.values())
        self.uses, self.last = self._used()

    def _settle(self, homes: list[tuple[int, Slot]]) -> None:
        for a, home in homes:
            if a >= 0 and a not in self.homes:
                self.homes[a] = home
            else:
                self.copies.append((a, home))

    def write(self) -> int:
        """The index of a function that runs all parts."""
        length = len(self.code)
        parts = [Part(self, start, min(start + PART, length)).write() for start in range(0, length, PART)]
        for k in range(0, len(self.copies), PART):
            copies = self.copies[k : k + PART]
            parts.append(self.function((), [ADDRESS + self.reads[a] + home.store for a, home in copies]))
        self.module.reserve(self.end - self.start)
        return self.function((), [call[part] for part in parts])

    def _pairs(self) -> dict[int, int]:
        first: dict[int, int] = {}
        found: dict[int, int] = {}
        for k, step in enumerate(self.code):
            if step[0] is _SIN or step[0] is _COS:
                known = first.setdefault(step[1], k)
                if known != k:
                    found[known] = k
        return found

    def _used(self) -> tuple[list[int], list[int]]:
        """How often each value is read by steps that matter, and last where; results are read behind the end."""
        code, n, written = self.code, len(self.code), self.written
        uses, last = [0] * len(self.reads), [0] * len(self.reads)
        for a in self.homes:
            uses[a], last[a] = 1, n
        for a in self.acts:
            uses[a], last[a] = 1, a
        for k in range(n - 1, -1, -1):
            other = self.pairs.get(k, k)
            if (uses[k] or uses[other]) and k not in written:
                for a in code[k][1:]:
                    if uses[a]:
                        uses[a] += 1
                    else:
                        uses[a], last[a] = 1, k
        return uses, last

    def function(self, locals_: Locals, code: list[bytes]) -> int:
        """The index of a function without parameters."""
        index = self.module.builder.declare_function((), (), self.name)
        self.module.builder.define(index, locals_, code)
        return index

    def slot(self, kind: Kind, k: int) -> Slot:
        """Where the value `k`, which is read outside of its part, is kept."""
        home = self.homes.get(k)
        if home is not None:
            return home
        free = self.free[kind]
        if not free:
            free.append(Slot.of(kind, self.end))
            self.end += 8
        slot = free.pop()
        self.ending[self.last[k] // PART].append((kind, slot))
        return slot

    def finish(self, part: int) -> None:
        """Slots whose values are last read in a part are free behind it."""
        for kind, slot in self.ending.pop(part, ()):
            self.free[kind].append(slot)


class Part:
    """The function that runs the steps from `start` to `end`. Its locals of Reals come behind the others."""

    def __init__(self, whole: Writer, start: int, end: int) -> None:
        self.whole, self.start, self.end = whole, start, end
        code, odd = whole.code, whole.odd
        self.others = [k for k in range(start, end) if code[k][0] in odd] if odd else []
        self.local = self.most = len(self.others)
        self.out: list[bytes] = []
        self.crossing: list[tuple[int, Slot]] = []
        """What later parts read."""
        self.top: int | None = None
        """The value that is set last, if only one step reads it: that may find it on the stack."""

    def write(self) -> int:
        """The index of the function."""
        whole = self.whole
        uses, pairs, written = whole.uses, whole.pairs, whole.written
        for k in range(self.start, self.end):
            if k in pairs and uses[pairs[k]]:
                self._pair(k)
            elif uses[k] and k not in written:
                self._step(k)
        for k, slot in self.crossing:
            whole.reads[k] = slot.load
        whole.finish(self.start // PART)
        kinds: list[tuple[int, ValueType]] = [(1, whole.odd[whole.code[k][0]]) for k in self.others]
        return whole.function((*kinds, (self.most - len(self.others), "f64")), self.out)

    def _step(self, k: int) -> None:
        whole, out, reads = self.whole, self.out, self.whole.reads
        step = whole.code[k]
        op: Primitive = step[0]
        if type(op) is not Primitive:
            whole.forms[type(op)](self, k, step)
            return
        given: list[int] = [*step[1:]]
        top, leaves_part = self.top, whole.last[k] >= self.end
        if leaves_part:
            out.append(ADDRESS)
        elif top is not None and (top == given[0] or (op.commutes and top == given[-1])):
            out.pop()
            self.local -= 1
            given.remove(top)
        for a in given:
            out.append(reads[a])
        out.append(whole.codes[op])
        kind, place = self._local(k, op)
        reads[k] = _GETS[place]
        if leaves_part:
            slot = whole.slot(kind, k)
            self.crossing.append((k, slot))
            out += (local_tee[place], slot.store)
        else:
            out.append(_SETS[place])

    def _local(self, k: int, op: Primitive) -> tuple[Kind, int]:
        """Where the value that is made now is, and whether the next step may find it on the stack instead."""
        self.top = None
        odd = self.whole.odd
        if odd and op in odd:
            return odd[op], self.others.index(k)
        place = self.local
        self.local = place + 1
        self.most = max(self.most, place + 1)
        if self.whole.uses[k] == 1 and self.whole.last[k] < self.end:
            self.top = k
        return "f64", place

    def named(self) -> int:
        """A new local for a Real."""
        self.local += 1
        self.most = max(self.most, self.local)
        return self.local - 1

    def keep(self, k: int, place: int) -> None:
        """The value `k` is in a local from here on; later parts find it in memory."""
        self.whole.reads[k] = _GETS[place]
        if self.whole.last[k] >= self.end:
            slot = self.whole.slot("f64", k)
            self.crossing.append((k, slot))
            self.out += (ADDRESS, _GETS[place], slot.store)

    def _pair(self, k: int) -> None:
        """Write a sine and a cosine of the same value."""
        whole, out = self.whole, self.out
        angle: int = whole.code[k][1]
        if angle == self.top:
            out.pop()
            self.local -= 1
        else:
            out.append(whole.reads[angle])
        self.top = None
        out.append(whole.module.callee(KERNELS["sin_cos"]()).code)
        other = whole.pairs[k]
        for v in (k, other) if whole.code[k][0] is _COS else (other, k):  # the cosine is on top
            if not whole.uses[v]:
                out.append(OP["drop"])
                continue
            place = self.named()
            out.append(_SETS[place])
            self.keep(v, place)


def _ordered(step: Step) -> Step:
    """A primitive in place of its code, operands in the order of the stack."""
    code = step[0]
    if type(code) is not int:
        return step
    op = OPS[code]
    return (op, *step[2:], step[1]) if isinstance(op.wasm, Emit) else (op, *step[1:])
