"""The gradient of straight-line code in one sweep backwards, op by op.

It is what the four passes give, less what they make in between: each primitive goes through them alone, once for each
pattern of active operands, and becomes a Python function that appends its way back. Long straight-line code is what
staging makes of host loops, so its derivative is on the way of every first call of such a program.
"""

from functools import cache

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import REAL, TAN, Ref, Scalar, has_real
from rosejit.ops import PRIMITIVES
from rosejit.transforms import templates
from rosejit.transforms.activity import Mask
from rosejit.transforms.erase import erase
from rosejit.transforms.transpose import transpose

ADD = PRIMITIVES["add"]


Back = tuple[tuple[ir.Var, ...], list[ir.Let], tuple[ir.Atom | None, ...]]
"""The way back of a primitive: parameters, straight-line code, outputs."""


def back_of(op: Primitive, mask: Mask) -> Back:
    """From the operands of `op`, its result and the cotangent of that to one cotangent for each operand in `mask`, None
    where it is zero."""
    params = tuple([ir.Var(t) for t in (*op.params, op.result)])
    tangents = tuple([ir.Var(TAN) for on in mask if on])
    b = Builder()
    (dy,) = templates.tangent(op, mask)(b.lets, None, "t", *params, *tangents)
    linear = ir.Function(op.name, (*params, *tangents), (TAN,), b.block(ir.ZERO if dy is None else dy))
    back = erase(transpose(linear))
    assert back.body is not None
    outputs = tuple([a if isinstance(a, ir.Var) else None for a in back.body.results])
    return back.params, back.body.lets, outputs


@cache
def pullback(op: Primitive, mask: Mask) -> templates.Make:
    """What makes lets of `back_of`."""
    return templates.pruned(*back_of(op, mask))


def is_straight(f: ir.Function) -> bool:
    """Whether `f` only computes numbers from numbers and from elements of arrays that it is given."""
    if f.body is None or f.rule is not None or any([not isinstance(t, Scalar) for t in f.results]):
        return False
    given = set(f.params)
    for let in f.body.lets:
        e = let.expr
        if isinstance(e, ir.Apply | ir.Check):
            continue
        if not isinstance(e, ir.Index) or not isinstance(let.binders[0].type, Scalar) or e.base not in given:
            return False
    return not any([isinstance(p.type, Ref) for p in f.params])


class Sweep:
    """The lets of a straight function, with the way back of each active one."""

    def __init__(self, f: ir.Function, mask: Mask) -> None:
        assert f.body is not None
        self.f = f
        self.active: set[ir.Atom] = {p for p, on in zip(f.params, mask, strict=True) if on}
        self.steps: list[tuple[ir.Let, ir.Apply | ir.Index, templates.Make | None, list[ir.Atom]]] = []
        self.sums: dict[ir.Atom, ir.Atom] = {}
        active, steps = self.active, self.steps
        for let in f.body.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                if e.op.differentiable and not active.isdisjoint(e.args):
                    on = tuple([a in active for a in e.args])
                    steps.append((let, e, pullback(e.op, on), [a for a in e.args if a in active]))
                    active.add(let.binders[0])
            elif isinstance(e, ir.Index) and e.base in active and has_real(let.binders[0].type):
                steps.append((let, e, None, []))
                active.add(let.binders[0])

    def back(self, b: Builder, result: ir.Atom, seed: ir.Atom, places: dict[ir.Atom, ir.Var]) -> None:
        """Append the way from the cotangent of `result` to `sums`, the cotangents of numbers; those of elements are
        added to the `places` of their arrays."""
        if result not in self.active:
            return
        self.sums[result] = seed
        lets, take, give = b.lets, self.sums.pop, self.give
        for let, e, make, operands in reversed(self.steps):
            y = let.binders[0]
            ct = take(y, None)
            if ct is None:
                continue
            b.span = let.span
            if make is None:
                assert isinstance(e, ir.Index)
                at = b.bind(ir.View(places[e.base], e.path, False), Ref(REAL), "at")
                b.do(ir.Add(at, ct))
                continue
            assert isinstance(e, ir.Apply)
            for x, part in zip(operands, make(lets, let.span, "ct", *e.args, y, ct), strict=True):
                if part is not None:
                    give(b, x, part)

    def give(self, b: Builder, x: ir.Atom, ct: ir.Atom) -> None:
        """Add to the cotangent of a number."""
        have = self.sums.get(x)
        if have is not None:
            var = ir.Var(REAL, "ct")
            b.lets.append(ir.Let((var,), ir.Apply(ADD, (have, ct)), b.span))
            ct = var
        self.sums[x] = ct
