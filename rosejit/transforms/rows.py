"""Long straight code to rows of small numbers: for each let its primitive and where its operands were made.

Rows are what everything behind them needs to know of such a function, so they are also what its digest is of.
"""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from struct import pack

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Emit, Primitive
from rosejit.ir.types import INT, REAL, Array, Type, has_real
from rosejit.ops import PRIMITIVES

WORTHWHILE = 100
"""Shorter code takes no time worth saving."""

Leaf = ir.Lit | tuple[int, int]
"""A constant, or the number of an argument and the place of an element in it."""
Row = tuple[int, ...]
"""The number of a primitive and the places of its operands: row `k` is place `k`, leaf `k` is place `~k`."""

OPS: tuple[Primitive, ...] = tuple(PRIMITIVES.values())
ELEMENT = len(OPS)
"""Stands for a read of an element, whose place is the operand."""


def _is_plain(op: Primitive) -> bool:
    return not op.failure and (not isinstance(op.wasm, Emit) or op.wasm.name == "select")


CODES = {op: code for code, op in enumerate(OPS)}
_PLAIN = {op: code for op, code in CODES.items() if _is_plain(op)}
"""The ops of numbers."""


@dataclass(slots=True)
class Rows:
    """A function as rows."""

    base: ir.Function
    rows: list[Row]
    leaves: list[Leaf]
    results: tuple[int, ...]
    """Their places."""

    @property
    def text(self) -> bytes:
        """What tells it from all other functions, and its artifact from theirs."""
        f = self.base
        params = [(p.type, p in f.own) for p in f.params]
        leaves = [(leaf.type, _bits(leaf)) if isinstance(leaf, ir.Lit) else leaf for leaf in self.leaves]
        head = (f.name, f.span, params, f.results, f.checkpoint, leaves, self.results)
        return repr(head).encode() + array("i", chain.from_iterable(self.rows)).tobytes()


def _bits(literal: ir.Lit) -> object:
    return pack("<d", literal.value) if literal.type is REAL else literal.value


class _Leaves:
    """Numbers leaves as they are met; a leaf is there once."""

    def __init__(self, f: ir.Function) -> None:
        self.all: list[Leaf] = []
        self.at: dict[ir.Atom, int] = {}
        self._params = {p: k for k, p in enumerate(f.params)}
        self._known: dict[object, int] = {}
        for p, k in self._params.items():
            if p.type is REAL or p.type is INT:
                self.at[p] = self._leaf((k, 0), (k, 0))

    def _leaf(self, key: object, leaf: Leaf) -> int:
        number = self._known.setdefault(key, ~len(self.all))
        if number == ~len(self.all):
            self.all.append(leaf)
        return number

    def literal(self, a: ir.Atom) -> int:
        """The place of a constant."""
        assert isinstance(a, ir.Lit)
        return self._leaf((a.type, a.value or repr(a.value)), a)  # tells 0.0 from -0.0

    def element(self, e: ir.Index) -> int | None:
        """The place of an element of an argument, if it is known which one it is."""
        p, offset = self._params.get(e.base), 0  # type: ignore[arg-type]  # whatever is no parameter is not found
        t = e.base.type
        for step in e.path:
            if not isinstance(step, ir.Lit) or not isinstance(t, Array) or t.length is None or not has_real(t):
                return None
            if not isinstance(step.value, int) or not 0 <= step.value < t.length:
                return None
            t, offset = t.element, offset * t.length + step.value
        return None if p is None or t is not REAL else self._leaf((p, offset), (p, offset))


def rows(f: ir.Function) -> Rows | None:
    """`f` as rows, if it is long and straight, and takes only Reals, Ints and arrays of Reals of known lengths."""
    if f.body is None or f.rule is not None or len(f.body.lets) < WORTHWHILE:
        return None
    if not all([count(p.type) for p in f.params]) or not all([t is REAL or t is INT for t in f.results]):
        return None
    leaves = _Leaves(f)
    at, literal = leaves.at, leaves.literal
    found = _rows(f.body, leaves, at, literal)
    if found is None:
        return None
    results = tuple([at[a] if isinstance(a, ir.Var) else literal(a) for a in f.body.results])
    return Rows(f, found, leaves.all, results)


def _rows(
    body: ir.Block, leaves: _Leaves, at: dict[ir.Atom, int], literal: Callable[[ir.Atom], int]
) -> list[Row] | None:
    codes, made, var = _PLAIN, list[Row](), ir.Var
    append = made.append
    for k, let in enumerate(body.lets):
        e = let.expr
        if type(e) is not ir.Apply:
            place = leaves.element(e) if isinstance(e, ir.Index) else None
            if place is None:
                return None
            append((ELEMENT, place))
        else:
            code, args = codes.get(e.op), e.args
            if code is None:
                return None
            if len(args) == 2:
                a, b = args
                append((code, at[a] if type(a) is var else literal(a), at[b] if type(b) is var else literal(b)))
            else:
                append((code, *[at[a] if type(a) is var else literal(a) for a in args]))
        at[let.binders[0]] = k
    return made


def count(t: Type) -> int:
    """How many numbers there are in a value of type `t`, if they are Reals side by side; else 0."""
    found = 1
    while isinstance(t, Array):
        found, t = found * (t.length or 0), t.element
    return found if t is REAL or (t is INT and found == 1) else 0
