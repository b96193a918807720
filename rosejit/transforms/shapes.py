"""Functions of nothing but primitives, reads of elements and calls to what tells each from all others: its shape, as
one row of small numbers, and its constants.

The same sweep serves `outline.py`, which looks for equal shapes, and digests, for which text would take longer.
"""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

from rosejit.ir import syntax as ir
from rosejit.ir.types import BOOL, INT, REAL, TAN, UNIT, Array, Scalar, Type
from rosejit.transforms.rows import CODES

_CONSTANT, _CALL, _INDEX, _END = -1, -2, -3, -4
"""Stand for a constant, in front of a call and of a read, and behind the lets. Codes of primitives are not negative."""

_SCALARS = {t: k for k, t in enumerate((REAL, INT, BOOL, TAN, UNIT))}


@dataclass(slots=True)
class Shape:
    """What a function is but for its constants, and these in order."""

    code: bytes
    calls: tuple[ir.Function, ...]
    """What is called, in the order of the calls."""
    constants: list[ir.Lit]
    spans: list[object]
    """Where calls are written, without repetitions in a row."""

    def text(self, f: ir.Function, numbers: Mapping[ir.Function, int]) -> bytes:
        """What tells `f`, which has this shape, from all other functions, and its artifact from theirs; `numbers`
        are those of what it calls."""
        own = [p in f.own for p in f.params] if f.own else 0
        rule = 0 if f.rule is None else 1 + numbers[f.rule]
        calls = [numbers[g] for g in self.calls]
        constants = [a.value for a in self.constants]
        return repr((f.name, f.span, own, f.checkpoint, rule, calls, constants, self.spans)).encode() + self.code


def shape(f: ir.Function) -> Shape | None:
    """None where a function has more than primitives, reads of what it is given, and calls."""
    if f.body is None:
        return None
    body, found = f.derived.get("shape", (None, None))
    if body is not f.body:
        found = _shape(f, f.body)
        f.derived["shape"] = (f.body, found)
    return found


def _shape(f: ir.Function, body: ir.Block) -> Shape | None:
    sweep = _Sweep(f)
    if not sweep.fits:
        return None
    row, numbers, constants, codes, var = sweep.row, sweep.numbers, sweep.constants, CODES, ir.Var
    append, constant = row.append, constants.append
    for let in body.lets:
        e = let.expr
        if type(e) is ir.Apply and not e.op.failure:  # nearly all are: no calls for these
            append(codes[e.op])
            for a in e.args:
                if type(a) is var:
                    append(numbers[a])
                else:
                    append(_CONSTANT)
                    constant(a)
            numbers[let.binders[0]] = len(numbers)
        elif not sweep.form(let, e):
            return None
    row.append(_END)
    sweep.atoms(body.results)
    return Shape(array("q", row).tobytes(), tuple(sweep.calls), constants, sweep.spans)


class _Sweep:
    """The row so far, in which variables are numbered as they come."""

    def __init__(self, f: ir.Function) -> None:
        self.numbers: dict[ir.Atom, int] = {p: k for k, p in enumerate(f.params)}
        self.constants: list[ir.Lit] = []
        self.calls: list[ir.Function] = []
        self.spans: list[object] = []
        self.row: list[int] = [len(f.params)]
        self.fits = all([self.type(t) for t in (*[p.type for p in f.params], *f.results)])

    def type(self, t: Type) -> bool:
        """Add a type; false where it is no number, and no array of numbers."""
        while isinstance(t, Array):
            self.row += (_INDEX, -1 if t.length is None else t.length)
            t = t.element
        if type(t) is not Scalar:
            return False
        self.row.append(_SCALARS[t])
        return True

    def form(self, let: ir.Let, e: ir.Expr) -> bool:
        """Add an expression that is no primitive; false where it has no place in a shape."""
        match e:
            case ir.Call(function=g, args=args):
                self.row += (_CALL, len(let.binders))
                self.calls.append(g)
                if not self.spans or self.spans[-1] is not let.span:
                    self.spans.append(let.span)
                self.atoms(args)
            case ir.Index(base=base, path=path) if base in self.numbers and _is_proven(e):
                steps = tuple([step for step in path if not isinstance(step, ir.Field)])
                if len(steps) < len(path):
                    return False
                self.row += (_INDEX, self.numbers[base], len(path))
                self.atoms(steps)
            case _:
                return False
        for b in let.binders:
            self.numbers[b] = len(self.numbers)
        return True

    def atoms(self, atoms: tuple[ir.Atom, ...]) -> None:
        for a in atoms:
            if isinstance(a, ir.Lit):
                self.row.append(_CONSTANT)
                self.constants.append(a)
            else:
                self.row.append(self.numbers[a])


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
