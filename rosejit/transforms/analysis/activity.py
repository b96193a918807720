"""Which variables of a function have a tangent that may differ from zero, when some of its parameters have one."""

from dataclasses import field
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.types import Ref, has_real
from rosejit.lazy_dataclass import dataclass

Mask = tuple[bool, ...]

MASKS = 8
"""Different masks under which one function is derived on the way of one derivation; every further one becomes the full
mask, so that the size of a derivative stays linear in that of the function."""


@dataclass(slots=True)
class Activity:
    """The active variables of a function, and which of its results are active."""

    active: set[ir.Var]
    results: Mask
    is_final: bool = True
    """False while the function is being analysed: what a recursive call then sees is an assumption, and kept to."""


@dataclass(slots=True, eq=False)
class Derivation:
    """What is known of the functions that one function calls while that is being derived. Nothing of it outlives the
    derivation: what is derived of a function must not depend on what was derived before."""

    masks: dict[ir.Function, list[Mask]] = field(default_factory=lambda: {})
    activities: dict[tuple[ir.Function, Mask], Activity] = field(default_factory=lambda: {})
    assumed: set[tuple[ir.Function, Mask]] = field(default_factory=lambda: set())
    """Whose results were taken to be active by a recursive call."""
    made: dict[tuple[ir.Function, Mask], Any] = field(default_factory=lambda: {})
    """What has been derived, by function and mask."""

    def allowed(self, f: ir.Function, wanted: Mask, full: Mask) -> Mask:
        """The mask under which a call of `f` is derived: `wanted`, or `full` where there have been too many."""
        seen = self.masks.setdefault(f, [])
        if wanted not in seen:
            if len(seen) >= MASKS:
                wanted = full
            seen.append(wanted)
        return wanted

    def activity(self, f: ir.Function, mask: Mask) -> Activity:
        """What is active in `f` under an `effective` mask. A recursive call assumes that every real result is."""
        key = (f, mask)
        if key in self.activities:
            return self.activities[key]
        real_results = tuple(has_real(t) for t in f.results)
        if f.body is None or f.rule is not None:
            return Activity(set(), real_results)
        found = Activity({p for p, on in zip(f.params, mask, strict=True) if on}, real_results, is_final=False)
        self.activities[key] = found
        _ActivityAnalysis(found.active, self).until_stable(f.body)
        if key not in self.assumed:
            found.results = tuple([a in found.active for a in f.body.results])
        found.is_final = True
        return found

    def call(self, e: ir.Call, active: set[ir.Var]) -> tuple[Mask, Mask]:
        """The effective mask of a call and the activity of its results; all False where nothing is differentiated."""
        mask = tuple([a in active for a in e.args])
        f = e.function
        if not any(mask):
            return mask, (False,) * len(f.results)
        mask = self.allowed(f, effective(f, mask), tuple(has_real(p.type) for p in f.params))
        known = self.activity(f, mask)
        if not known.is_final:
            self.assumed.add((f, mask))
        return mask, known.results


def effective(f: ir.Function, mask: Mask) -> Mask:
    """`mask` without parameters that have no tangent, and with every place, which is always active."""
    return tuple(has_real(p.type) and (on or isinstance(p.type, Ref)) for p, on in zip(f.params, mask, strict=True))


class _ActivityAnalysis:
    """Marks variables in program order; what a back edge adds is found by another sweep over the whole function."""

    def __init__(self, active: set[ir.Var], derivation: Derivation) -> None:
        self.active = active
        self.derivation = derivation
        self.again = False

    def until_stable(self, body: ir.Block) -> None:
        self.again = True
        while self.again:
            self.again = False
            self.block(body)

    def block(self, block: ir.Block) -> None:
        active = self.active
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                if e.op.differentiable and not active.isdisjoint(e.args):
                    active.add(let.binders[0])
            else:
                self.form(let, e)

    def mark(self, binders: tuple[ir.Var, ...], flags: list[bool] | Mask) -> None:
        self.active.update([b for b, on in zip(binders, flags, strict=True) if on])

    def form(self, let: ir.Let, e: ir.Expr) -> None:
        active = self.active
        match e:
            case ir.If(then=then, orelse=orelse):
                self.block(then)
                self.block(orelse)
                self.mark(let.binders, self.either(then, orelse))
            case ir.Case(scrutinees=scrutinees, left=left, right=right):
                on = [s in active for s in scrutinees]
                for side in (left, right):
                    self.mark(side.params, [a and has_real(p.type) for a, p in zip(on, side.params, strict=True)])
                    self.block(side.block)
                self.mark(let.binders, self.either(left.block, right.block))
            case ir.Loop() | ir.While():
                self.loop(let, e)
            case ir.Call():
                self.mark(let.binders, self.derivation.call(e, active)[1])
            case ir.Accum() | ir.View():
                self.mark(let.binders, [has_real(let.binders[0].type)])
            case ir.Resolve():
                self.mark(let.binders, [has_real(let.binders[0].type)])
            case ir.MakeTuple(items=read) | ir.MakeArray(items=read):
                self.mark(let.binders, [any([a in active for a in read])])
            case ir.Update(base=base, value=value):
                self.mark(let.binders, [base in active or value in active])
            case ir.Index(base=value) | ir.Untuple(value=value) | ir.Inject(value=value) | ir.Extract(value=value):
                if value in active:
                    self.mark(let.binders, [has_real(b.type) for b in let.binders])
            case ir.Copy(value=value):
                self.mark(let.binders, [value in active])
            case ir.Zero() | ir.Add() | ir.Check() | ir.Apply():
                pass
            case _:
                ir.assert_never(e)

    def either(self, one: ir.Block, other: ir.Block) -> list[bool]:
        active = self.active
        return [a in active or b in active for a, b in zip(one.results, other.results, strict=True)]

    def loop(self, let: ir.Let, e: ir.Looping) -> None:
        active = self.active
        self.mark(e.carries, [a in active for a in e.inits])
        if isinstance(e, ir.Loop):
            self.mark(tuple(s.param for s in e.scans), [s.array in active for s in e.scans])
        self.block(e.body)
        n = len(e.carries)
        after = [a in active for a in e.body.results]
        for carry, on in zip(e.carries, after[:n], strict=True):
            if on and carry not in active:
                active.add(carry)
                self.again = True
        carried = [c in active for c in e.carries]
        counted = [False] if isinstance(e, ir.While) else []
        self.mark(let.binders, counted + carried + after[n:])
