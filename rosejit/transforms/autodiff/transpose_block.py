"""The walk over one block of a linear function, last let first."""

from collections.abc import Callable

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.facts import Table
from rosejit.ir.traversal import captures, consumed, forms, operands, scopes, size
from rosejit.ir.types import Ref, is_linear
from rosejit.transforms.analysis import rule_templates
from rosejit.transforms.autodiff.accumulate_in_place import in_place
from rosejit.transforms.autodiff.branch_on_select import DEEPEST, SHORT, selected
from rosejit.transforms.autodiff.cotangents import Cotangents, is_scalar

Seeds = list[tuple[ir.Atom, ir.Atom | None]]
Linear = ir.Access | ir.Structure | ir.Accum | ir.Add | ir.Resolve | ir.Call | ir.Branching | ir.Loop
"""Forms that can be linear, beside primitives."""
Forms = Table[Linear, Callable[..., None]]
"""For each of them the rule that walks one let of it: `rule(walk, let, let.expr)`."""


def is_linear_let(let: ir.Let) -> bool:
    """Whether `let` belongs to the linear part of a linear function."""
    e = let.expr
    if isinstance(e, ir.Apply):
        return e.op.erased != ""
    if isinstance(e, ir.Index):
        return is_linear(e.base.type)
    if any([is_linear(b.type) for b in let.binders]) or any([is_linear(a.type) for a in operands(e)]):
        return True
    return any([is_linear_let(inner) for _, block in scopes(e) for inner in block.lets])


def is_expensive(e: ir.Expr) -> bool:
    """Whether a branch around the pullback of `e` costs less than to walk it in vain."""
    if isinstance(e, ir.Call):
        body = e.function.body
        return body is None or size(e.function) > SHORT or any([isinstance(let.expr, ir.Loop) for let in forms(body)])
    return isinstance(e, ir.Loop)


class BlockTransposer(Cotangents):
    """One block, walked backwards."""

    def __init__(
        self, parent: Cotangents | None, b: Builder, block: ir.Block, bound: tuple[ir.Var, ...], forms: Forms
    ) -> None:
        super().__init__(parent, b, bound)
        self.depth: int = parent.depth + 1 if isinstance(parent, BlockTransposer) else 0
        """Of how many blocks this one is inside."""
        prepared = in_place(block)
        self.source = selected(prepared) if self.depth < DEEPEST else prepared
        self.forms = forms
        self.guards: dict[ir.Atom, tuple[ir.Atom, bool]] = {}
        """Of cotangents that may be zero because another side was selected: the condition, and where it is not zero."""

    def inside(self, block: ir.Block, bound: tuple[ir.Var, ...]) -> "BlockTransposer":
        """The walk of a block of a form in this one."""
        return BlockTransposer(self, Builder(self.b.span), block, bound, self.forms)

    def exchanged(self, params: list[ir.Var]) -> tuple[ir.Var, ...]:
        """New parameters for linear ones: places for values that are read, values for places that are added to."""
        new: list[ir.Var] = []
        for p in params:
            if isinstance(p.type, Ref):
                new.append(ir.Var(p.type.target, f"ct_{p.hint}", p.like))
                self.readable[p] = new[-1]
            else:
                new.append(ir.Var(Ref(p.type), f"acc_{p.hint}", p.like))
                self.accumulators[p] = new[-1]
        return tuple(new)

    def run(self, seeds: Seeds) -> None:
        """Give `seeds` to the results of the block, then walk it backwards."""
        linear = self.nonlinear_first()
        for a, ct in seeds:
            if ct is not None:
                self.give(a, ct)
        take, give, lets = self.sums.pop, self.give, self.b.lets
        for let in reversed(linear):
            self.b.span = let.span
            e = let.expr
            if isinstance(e, ir.Apply):
                ct = take(let.binders[0], None)
                if ct is not None:
                    op, args = e.op, e.args
                    outputs = rule_templates.transpose(op)(lets, let.span, "ct", ct, *args)
                    for k in op.linear:
                        give(args[k], outputs[k])
                    if op.selects:
                        self.guards |= {outputs[1]: (args[0], True), outputs[2]: (args[0], False)}
            else:
                e = self.guarded(let, e) if self.guards and is_expensive(e) else e
                assert not isinstance(e, ir.Apply | ir.While | ir.Check)
                self.forms[type(e)](self, let, e)

    def guarded(self, let: ir.Let, e: ir.Expr) -> ir.Expr:
        """`e` as a side of a branch, if all that comes back to it is zero unless a number that depends on it was
        selected: then there is nothing to do on the other side. A minimum has one such number of many."""
        cts = [self.sums.get(x) for x in let.binders]
        found = {self.guards[ct] for ct in cts if ct in self.guards}
        read = [a for a in (*operands(e), *captures(e)) if is_linear(a.type)]
        places = [a for a in read if isinstance(a.type, Ref)]
        if len(found) != 1 or any(ct is not None and ct not in self.guards for ct in cts):
            return e
        if places or not all(is_scalar(a.type) for a in (*let.binders, *consumed(e)) if is_linear(a.type)):
            return e
        ((condition, side),) = found
        sides = (ir.Block([let], let.binders), ir.Block([], tuple([ir.ZERO for _ in let.binders])))
        return ir.If(condition, *(sides if side else sides[::-1]))

    def nonlinear_first(self) -> list[ir.Let]:
        """Append the nonlinear lets; the linear ones, what they bind made known."""
        linear: list[ir.Let] = []
        nonlinear = self.b.lets
        for let in self.source.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                (linear if e.op.erased else nonlinear).append(let)
                continue
            if not is_linear_let(let):
                nonlinear.append(let)
                continue
            linear.append(let)
            self.bound.update(let.binders)
            if isinstance(e, ir.Index | ir.View) and not is_scalar(let.binders[0].type):
                self.views[let.binders[0]] = e
        return linear

    def add(self, x: ir.Atom, ct: ir.Atom) -> None:
        """Add `ct`, which is only read, to the cotangent of `x`."""
        if is_scalar(x.type):
            self.give(x, ct)
        elif isinstance(x, ir.Var):
            if self.is_new(x):
                self.values[x] = self.append(x, ir.Copy(ct))
            else:
                self.b.do(ir.Add(self.place(x), ct))
