"""Loops whose turns do not touch each other, two turns at a time: bit for bit what one at a time gives."""

from collections.abc import Iterable

from rosejit.codegen.emitter import Emitter
from rosejit.codegen.layout import DATA, Column, elements_of
from rosejit.codegen.paths import ADD
from rosejit.codegen.segments import PARENT
from rosejit.ir.primitive import Instr, Primitive
from rosejit.ir.syntax import Add, Apply, Atom, Index, Let, Lit, Loop, Path, Var, View
from rosejit.ir.types import REAL, TAN, Array, Ref, Type
from rosejit.wasm.instructions import f64x2_const, i32_load, local_get, local_set, v128_load, v128_store
from rosejit.wasm.opcodes import OP

FEWEST = 4
"""A loop of fewer turns is not worth it."""

SPLAT = OP["f64x2.splat"]


def _twin(op: Primitive) -> bytes | None:
    """The instruction that does what `op` does to both halves."""
    if not isinstance(op.wasm, Instr) or len(op.wasm.names) != 1 or not _reals((*op.params, op.result)):
        return None
    prefix, _, name = op.wasm.names[0].partition(".")
    return OP.get(f"f64x2.{name}") if prefix == "f64" else None


def _reals(types: Iterable[Type]) -> bool:
    return all(t is REAL or t is TAN for t in types)


def _column_of_reals(t: Type) -> bool:
    return isinstance(t, Array) and _reals((t.element,))


def can_be_paired(e: Emitter, let: Let, x: Loop) -> bool:
    """Whether every turn reads and writes only its own elements of arrays of Reals, by plain arithmetic."""
    if e.inside is PARENT or (isinstance(x.trips, Lit) and isinstance(x.trips.value, int) and x.trips.value < FEWEST):
        return False
    stacks = let.binders[len(x.carries) :]
    unchanged = all(a is c for a, c in zip(x.body.results, x.carries, strict=False))
    if not unchanged or not _reals(c.type for c in x.carries) or not (x.scans or x.body.lets):
        return False
    if not all(_column_of_reals(scan.array.type) for scan in x.scans):
        return False
    return all(_column_of_reals(v.type) for v in stacks) and all(_plain(e, inner, x) for inner in x.body.lets)


def _plain(e: Emitter, let: Let, x: Loop) -> bool:
    match let.expr:
        case Apply(op=op):
            return _twin(op) is not None
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


class Pairs:
    """The body for two turns; `offset` holds the bytes in front of the first element of both."""

    def __init__(self, e: Emitter, offset: Var) -> None:
        self._e = e
        self._offset = offset
        self._codes: dict[Var, bytes] = {}
        self.code: list[bytes] = []

    def scanned(self, v: Var, base: Var) -> None:
        """The rows of a scanned array, whose elements `base` points to."""
        self._bind(v, self._e.read(base), self._e.read(self._offset), ADD, v128_load[0])

    def run(self, lets: Iterable[Let]) -> None:
        """The lets of the body."""
        for let in lets:
            match let.expr:
                case Apply(op=op, args=args):
                    twin = _twin(op)
                    assert twin is not None
                    self._bind(let.binders[0], *map(self._value, args), twin)
                case Index(base=base):
                    self._bind(let.binders[0], self._element(base), v128_load[0])
                case View(place=place):
                    self._codes[let.binders[0]] = self._element(place)
                case Add(place=Var() as place, value=value):
                    at = self._codes[place]
                    self.code += (at, at, v128_load[0], self._value(value), OP["f64x2.add"], v128_store[0])
                case _:
                    raise AssertionError("this loop cannot be paired")

    def stacked(self, base: Var, value: Atom) -> None:
        """Puts a row into a stack."""
        self.code += (self._e.read(base), self._e.read(self._offset), ADD, self._value(value), v128_store[0])

    def _bind(self, v: Var, *code: bytes) -> None:
        local = self._e.body.fresh("v128")
        self.code += (*code, local_set[local])
        self._codes[v] = local_get[local]

    def _value(self, a: Atom) -> bytes:
        if isinstance(a, Lit):
            value = float(a.value or 0.0)
            return f64x2_const(value, value)
        known = self._codes.get(a)
        return self._e.read(a) + SPLAT if known is None else known

    def _element(self, base: Atom) -> bytes:
        """The address of this turn's element."""
        assert isinstance(base, Var)
        t = base.type.target if isinstance(base.type, Ref) else base.type
        column = isinstance(elements_of(self._e.module.layouts.of(t)), Column)
        return self._e.read(base) + (i32_load[DATA] if column else b"") + self._e.read(self._offset) + ADD
