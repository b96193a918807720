"""Loops whose turns do not touch each other, two turns at a time: bit for bit what one at a time gives."""

from collections.abc import Iterable

from rosejit.codegen.emitter import Emitter
from rosejit.codegen.lanes import Lanes, can_apply
from rosejit.codegen.layout import DATA, Column, elements_of
from rosejit.codegen.paths import ADD
from rosejit.codegen.segments import PARENT
from rosejit.ir.primitive import Kernel
from rosejit.ir.syntax import Add, Apply, Atom, Index, Let, Lit, Loop, Path, Var, View
from rosejit.ir.types import REAL, TAN, Array, Ref, Type
from rosejit.ops.kernels import small_kernel
from rosejit.wasm.instructions import i32_load, i64_const, i64x2_const, v128_load, v128_store
from rosejit.wasm.opcodes import OP

FEWEST = 4
"""A loop of fewer turns is not worth it."""

FEWEST_CALLS = 32
"""Nor is one that calls kernels, of fewer turns than this: the engine takes most of a millisecond to compile two."""


def _reals(types: Iterable[Type]) -> bool:
    return all(t is REAL or t is TAN for t in types)


def _column_of_reals(t: Type) -> bool:
    return isinstance(t, Array) and _reals((t.element,))


def can_be_paired(e: Emitter, let: Let, x: Loop) -> bool:
    """Whether every turn touches only its own elements of arrays of Reals, by what can be done to two lanes."""
    trips = x.trips.value if isinstance(x.trips, Lit) and isinstance(x.trips.value, int) else FEWEST_CALLS
    if e.inside is PARENT or trips < FEWEST or (trips < FEWEST_CALLS and _calls(e, x)):
        return False
    stacks = let.binders[len(x.carries) :]
    unchanged = all(a is c for a, c in zip(x.body.results, x.carries, strict=False))
    if not unchanged or not _reals(c.type for c in x.carries) or not (x.scans or x.body.lets):
        return False
    if not all(_column_of_reals(scan.array.type) for scan in x.scans):
        return False
    return all(_column_of_reals(v.type) for v in stacks) and all(_plain(e, inner, x) for inner in x.body.lets)


def _calls(e: Emitter, x: Loop) -> bool:
    """Whether the body calls kernels."""
    ops = [let.expr.op for let in x.body.lets if isinstance(let.expr, Apply)]
    return any(isinstance(op.wasm, Kernel) and small_kernel(op) is None for op in ops)


def _plain(e: Emitter, let: Let, x: Loop) -> bool:
    match let.expr:
        case Apply(op=op, args=args):
            return can_apply(e.module, op, args)
        case Index(base=base, path=path) as read:
            return _own_element(path, x) and _column_of_reals(base.type) and read not in e.plan.tests
        case View(place=place, path=path) as view:
            target = place.type.target if isinstance(place.type, Ref) else place.type
            return _own_element(path, x) and _column_of_reals(target) and view not in e.plan.tests
        case Add(place=place):
            views = [inner.binders[0] for inner in x.body.lets if isinstance(inner.expr, View)]
            return place in views
        case _:
            return False


def _own_element(path: Path, x: Loop) -> bool:
    return len(path) == 1 and path[0] is x.index


class Pairs(Lanes):
    """The body for two turns; `offset` holds the bytes in front of the first element of both.

    Nothing is written to memory before it is known that these turns need no second sides: they are left without a
    trace if they do.
    """

    inlines = True
    rare = 1

    def __init__(self, e: Emitter, offset: Var) -> None:
        super().__init__(e.module, e.body, e.read)
        self._e = e
        self._offset = offset
        self._effects: list[bytes] = []

    def counted(self, index: Var) -> None:
        """The numbers of the turns."""
        first = self._e.read(self._offset) + OP["i64.extend_i32_u"] + i64_const[3] + OP["i64.shr_u"]
        self.codes[index] = first + OP["i64x2.splat"] + i64x2_const(0, 1) + OP["i64x2.add"]

    def scanned(self, v: Var, base: Var) -> None:
        """The rows of a scanned array, whose elements `base` points to."""
        self.bind(v, self._e.read(base), self._e.read(self._offset), ADD, v128_load[0])

    def run(self, lets: Iterable[Let]) -> None:
        """The lets of the body."""
        for let in lets:
            match let.expr:
                case Index(base=base):
                    self.bind(let.binders[0], self._element(base), v128_load[0])
                case View(place=place):
                    self.codes[let.binders[0]] = self._element(place)
                case Add(place=Var() as place, value=value):
                    at = self.codes[place]
                    self._effects += (at, at, v128_load[0], self.value(value), OP["f64x2.add"], v128_store[0])
                case _:
                    super().run((let,))

    def stacked(self, base: Var, value: Atom) -> None:
        """Puts a row into a stack."""
        self._effects += (self._e.read(base), self._e.read(self._offset), ADD, self.value(value), v128_store[0])

    def finish(self) -> list[bytes]:
        """The whole code."""
        return self.code + self._effects

    def _element(self, base: Atom) -> bytes:
        """The address of this turn's element."""
        assert isinstance(base, Var)
        t = base.type.target if isinstance(base.type, Ref) else base.type
        column = isinstance(elements_of(self._e.module.layouts.of(t)), Column)
        return self._e.read(base) + (i32_load[DATA] if column else b"") + self._e.read(self._offset) + ADD
