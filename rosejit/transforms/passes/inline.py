"""A program into one in which functions that are called once, or are small, stand where they were called."""

import math
from collections import Counter
from collections.abc import Container
from dataclasses import field

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import Renaming, operands, reachable, rebuild, scopes
from rosejit.ir.types import is_boxed
from rosejit.lazy_dataclass import dataclass

SMALL = 12
"""Lets up to which a copy costs less than a call (1.15 ns) and the code that makes it."""

DEEPEST = 50
"""So many calls inside each other at most become one function: the inliner recurs as deeply as they nest."""


def inline(
    roots: tuple[ir.Function, ...],
    kept: Container[ir.Function] = (),
    small: int = SMALL,
    once: float = math.inf,
    loops: int = 0,
    in_loops: int = 0,
) -> dict[ir.Function, ir.Function]:
    """New functions for `roots` and all that they still call, callees first where there is no cycle. Recursive
    functions, host functions, roots that are called and those in `kept` stay; so does what has more than `small` lets,
    or more than `once` where it is called once, unless it has loops and all its copies together have at most `loops`
    lets, or is called in loops alone and they have at most `in_loops`."""
    program = reachable(*roots)
    surveys = {f: _survey(f) for f in program}
    times = Counter(g for survey in surveys.values() for g in survey.calls)
    outside = {g for survey in surveys.values() for g in survey.outside}
    plan = _Plan({f for f in program if f.body is None or f in kept} | _recursive(surveys))
    sizes: dict[ir.Function, int] = {}
    depths: dict[ir.Function, int] = {}
    remaining: dict[ir.Function, list[ir.Function]] = {}
    for f, survey in surveys.items():
        sizes[f] = survey.lets + sum([sizes[g] - 1 for g in survey.calls if g in plan.inlined])
        depths[f] = 1 + max([depths[g] for g in survey.calls if g in plan.inlined], default=0)
        remaining[f] = [h for g in survey.calls for h in (remaining[g] if g in plan.inlined else [g])]
        stays = f in plan.fixed or f in roots or depths[f] >= DEEPEST
        budget = loops if survey.has_loops else in_loops if f not in outside else 0
        most = once if times[f] == 1 else max(small, budget // (times[f] or 1))
        if not stays and sizes[f] <= most:
            plan.inlined.add(f)
            if times[f] == 1:
                plan.once.add(f)
    kept = _closure(roots, remaining)
    plan.new = {f: f if f.body is None else f.with_body(None) for f in kept}
    for f in kept:
        if f.body is not None:
            plan.new[f].body = _Inliner(plan, f).body() if surveys[f].calls else f.body
    return plan.new


@dataclass(slots=True)
class _Survey:
    """What a function calls, as often as it does, and outside of loops; how many lets it has, and whether loops are
    among them."""

    calls: list[ir.Function] = field(default_factory=list[ir.Function])
    outside: set[ir.Function] = field(default_factory=set[ir.Function])
    lets: int = 0
    has_loops: bool = False


def _survey(f: ir.Function) -> _Survey:
    found = _Survey()
    pending = [] if f.body is None else [(f.body, False)]
    while pending:
        block, in_loop = pending.pop()
        found.lets += len(block.lets)
        for let in [let for let in block.lets if type(let.expr) is not ir.Apply]:
            e = let.expr
            if isinstance(e, ir.Call):
                found.calls.append(e.function)
                if not in_loop:
                    found.outside.add(e.function)
            found.has_loops |= isinstance(e, ir.Loop)
            within = in_loop or isinstance(e, ir.Looping)
            pending += [(inner, within) for _, inner in scopes(e)]
    return found


def _recursive(surveys: dict[ir.Function, _Survey]) -> set[ir.Function]:
    """Functions with a call that goes back in the order of callees first: one at least on every cycle."""
    order = {f: k for k, f in enumerate(surveys)}
    return {h for f, survey in surveys.items() for g in survey.calls if order[g] >= order[f] for h in (f, g)}


def _closure(roots: tuple[ir.Function, ...], calls: dict[ir.Function, list[ir.Function]]) -> list[ir.Function]:
    """What `roots` reach by `calls`, in the order of `calls`."""
    found: set[ir.Function] = set()
    todo = list(roots)
    while todo:
        f = todo.pop()
        if f not in found:
            found.add(f)
            todo += calls[f]
    return [f for f in calls if f in found]


class _Plan:
    """What stands where it is called: `inlined`, some of it called `once`; `fixed` never does, and `new` has what stays
    a function."""

    def __init__(self, fixed: set[ir.Function]) -> None:
        self.fixed = fixed
        self.inlined: set[ir.Function] = set()
        self.once: set[ir.Function] = set()
        self.new: dict[ir.Function, ir.Function] = {}


class _Inliner:
    """Makes the body of one function. Each let of the program is visited once, however deep the calls nest."""

    def __init__(self, plan: _Plan, f: ir.Function) -> None:
        self.plan = plan
        self.f = f
        self.bound: set[ir.Var] = set(f.params)
        self.tuples: dict[ir.Atom, tuple[ir.Atom, ...]] = {}

    def body(self) -> ir.Block:
        """The body of the function, with those of its callees."""
        assert self.f.body is not None
        return _Copy(self, {}, keep=True).block(self.f.body)


class _Copy(Renaming):
    """One body on its way into another. With `keep` its variables stay the same, but for those that another half of
    the same function has brought along before."""

    __slots__ = ("into", "keep")

    def __init__(self, into: _Inliner, atoms: dict[ir.Var, ir.Atom], keep: bool) -> None:
        super().__init__(atoms)
        self.into = into
        self.keep = keep

    def fresh(self, var: ir.Var) -> ir.Var:
        """The variable itself where it may stay."""
        if self.keep and var not in self.into.bound:
            self.into.bound.add(var)
            return var
        return super().fresh(var)

    def block(self, block: ir.Block) -> ir.Block:
        """The copy of a block, calls replaced."""
        done: list[ir.Let] = []
        self.lets(block.lets, done)
        return ir.Block(done, tuple([self.atom(a) for a in block.results]))

    def lets(self, lets: list[ir.Let], done: list[ir.Let]) -> None:
        """Append the copies of `lets`."""
        get, same, keep, bound = self.atoms.get, self.atoms.keys().isdisjoint, self.keep, self.into.bound
        for let in lets:
            e = let.expr
            if type(e) is not ir.Apply:
                self.form(let, e, done)
                continue
            args = e.args
            changed = not same(args)
            if changed:
                args = tuple(map(get, args, args))
            binders = let.binders
            if keep and binders[0] not in bound:
                bound.add(binders[0])
                if not changed:
                    done.append(let)
                    continue
            else:
                binders = (self.fresh(binders[0]),)
            done.append(ir.Let(binders, ir.Apply(e.op, args), let.span))

    def form(self, let: ir.Let, e: ir.Expr, done: list[ir.Let]) -> None:
        """Append the copy of a let that is no primitive."""
        plan, tuples = self.into.plan, self.into.tuples
        if type(e) is ir.Index and tuples and (found := self.field(let, e)) is not None:
            self.atoms[let.binders[0]] = found
            return
        if type(e) is ir.Call and e.function in plan.inlined:
            self.inline(let, e, done)
            return
        changed = rebuild(e, self.atom, self.fresh, self.block)
        if type(changed) is ir.Call:
            changed.function = plan.new[changed.function]
        done.append(ir.Let(tuple([self.fresh(b) for b in let.binders]), changed, let.span))
        if isinstance(changed, ir.MakeTuple):
            tuples[done[-1].binders[0]] = operands(changed)

    def inline(self, let: ir.Let, call: ir.Call, done: list[ir.Let]) -> None:
        """The body of the callee in place of the call."""
        f = call.function
        assert f.body is not None
        args = [self.atom(a) for a in call.args]
        inner = _Copy(self.into, dict(zip(f.params, args, strict=True)), keep=f in self.into.plan.once)
        inner.lets(f.body.lets, done)
        self.atoms.update({b: inner.atom(a) for b, a in zip(let.binders, f.body.results, strict=True)})

    def field(self, let: ir.Let, e: ir.Index) -> ir.Atom | None:
        """The number that `let` takes from a tuple, if that was made here: how residuals are handed on."""
        items, step = self.into.tuples.get(self.atom(e.base)), e.path[0]
        if items is None or is_boxed(let.binders[0].type) or len(e.path) > 1:
            return None
        assert isinstance(step, ir.Field)
        return items[step.number]
