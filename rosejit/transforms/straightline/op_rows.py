"""Capture of straight-line functions (basic blocks of primitives, reads of elements and calls) as rows of small
integers, one row for each let: its operation, and where its operands were made.

Rows are the block as it is written, nothing shared yet: the reverse sweep goes over them (`numbered_gradient.py`),
clones are functions of equal rows (`merge_clones.py`), and a digest of them is the fingerprint of the function in the
disk cache, which takes a third of the time of printed text.
"""

import marshal
from collections.abc import Mapping
from functools import cache
from struct import pack

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import REAL, Array, Scalar, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES

Row = tuple[int, ...]
"""A code and places of operands. Row `k` is place `k`, parameter `k` is place `~k`, constants follow behind those."""

OPS: tuple[Primitive, ...] = tuple(PRIMITIVES.values())
CODES = {op: code for code, op in enumerate(OPS)}
ELEMENT, CALL, RESULT = range(len(OPS), len(OPS) + 3)
"""A read of an element: the array, the indices. A call: the arguments. A result of the call in front of it, behind the
first one."""
_TOTAL = {op: code for op, code in CODES.items() if not op.failure}
"""The ops that cannot fail."""
_PLAIN = 2
"""The version of `marshal` that writes equal objects alike, whether they are one or two."""


@dataclass(slots=True)
class OpRows:
    """A function as rows."""

    base: ir.Function
    rows: list[Row]
    constants: list[ir.Lit]
    """In order, each as often as it is read: functions that differ in constants alone have the same rows."""
    calls: tuple[ir.Function, ...]
    """What is called, in the order of the calls."""
    spans: list[object]
    """Where calls are written, without repetitions in a row."""
    results: tuple[int, ...]
    """Their places."""
    code: bytes
    """All but the constants, the calls and the name: clones have the same, and make the same calls."""

    def constant(self, place: int) -> ir.Lit | None:
        """The constant at a place."""
        number = ~place - len(self.base.params)
        return self.constants[number] if number >= 0 else None

    def text(self, numbers: Mapping[ir.Function, int]) -> bytes:
        """The fingerprint: tells the function from all others, and its artifact from theirs. `numbers` are those of
        what it calls."""
        f = self.base
        own = [p in f.own for p in f.params] if f.own else None
        rule = None if f.rule is None else numbers[f.rule]
        reals = [a.value for a in self.constants if a.type is REAL]
        others = [a.value for a in self.constants if a.type is not REAL]
        calls = [numbers[g] for g in self.calls]
        head = repr((f.name, f.span, own, f.checkpoint, rule, calls, self.spans, others))
        return head.encode() + pack(f"<{len(reals)}d", *reals) + self.code


@cache
def _text(t: Type) -> str:
    return repr(t)


def rows(f: ir.Function) -> OpRows | None:
    """`f` as rows; None where it has more than primitives that cannot fail, reads of what it is given at indices that
    are in range, and calls, all of them of numbers and arrays of numbers."""
    if f.body is None:
        return None
    body, found = f.derived.get("rows", (None, None))
    if body is not f.body:
        found = _captured(f, f.body)
        f.derived["rows"] = (f.body, found)
    return found


def _captured(f: ir.Function, body: ir.Block) -> OpRows | None:
    types = (*[p.type for p in f.params], *f.results)
    if not all([_is_numeric(t) for t in types]):
        return None
    capture = _Capture(f)
    at, made, literal, codes = capture.at, capture.rows, capture.literal, _TOTAL
    append, k = made.append, 0
    for let in body.lets:
        e = let.expr
        if type(e) is not ir.Apply:
            if not capture.form(let, e):
                return None
            k = len(made)
            continue
        code, args = codes.get(e.op), e.args
        if code is None:
            return None
        at[let.binders[0]] = k
        k += 1
        try:
            if len(args) == 2:
                append((code, at[args[0]], at[args[1]]))
            else:
                append((code, *[at[a] for a in args]))
        except KeyError:  # constants
            append((code, *[at[a] if type(a) is ir.Var else literal(a) for a in args]))
    results = tuple(capture.places(body.results))
    code = marshal.dumps(([_text(t) for t in types], made, results), _PLAIN)
    return OpRows(f, made, capture.constants, tuple(capture.calls), capture.spans, results, code)


class _Capture:
    """The rows so far."""

    def __init__(self, f: ir.Function) -> None:
        self.at: dict[ir.Atom, int] = {p: ~k for k, p in enumerate(f.params)}
        self.rows: list[Row] = []
        self.constants: list[ir.Lit] = []
        self.calls: list[ir.Function] = []
        self.spans: list[object] = []
        self._first = ~len(f.params)

    def literal(self, a: ir.Atom) -> int:
        """The place of a constant."""
        assert isinstance(a, ir.Lit)
        self.constants.append(a)
        return self._first - len(self.constants) + 1

    def places(self, atoms: tuple[ir.Atom, ...]) -> list[int]:
        """Of atoms, in order."""
        return [self.at[a] if isinstance(a, ir.Var) else self.literal(a) for a in atoms]

    def form(self, let: ir.Let, e: ir.Expr) -> bool:
        """Add an expression that is no primitive; false where that is no row."""
        made = len(self.rows)
        match e:
            case ir.Call(function=g, args=args):
                self.calls.append(g)
                if not self.spans or self.spans[-1] is not let.span:
                    self.spans.append(let.span)
                self.rows += [(CALL, *self.places(args)), *[(RESULT,)] * (len(let.binders) - 1)]
            case ir.Index(base=base, path=path) if base in self.at and _is_proven(e):
                steps = tuple([step for step in path if not isinstance(step, ir.Field)])
                if len(steps) < len(path):
                    return False
                self.rows.append((ELEMENT, self.at[base], *self.places(steps)))
            case _:
                return False
        for k, b in enumerate(let.binders, made):
            self.at[b] = k
        return True


def _is_proven(e: ir.Index) -> bool:
    """Whether an index cannot be out of range."""
    if not e.checked:
        return True
    t: Type = e.base.type
    for step in e.path:
        if not isinstance(t, Array) or t.length is None or not isinstance(step, ir.Lit):
            return False
        if not 0 <= int(step.value or 0) < t.length:
            return False
        t = t.element
    return True


def _is_numeric(t: Type) -> bool:
    while isinstance(t, Array):
        t = t.element
    return type(t) is Scalar
