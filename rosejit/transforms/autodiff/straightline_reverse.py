"""Reverse mode of straight-line programs (basic blocks, and calls of such functions): one sweep backwards, op by op,
from IR to IR.

It is what the four passes give, less what they make in between: each primitive goes through them alone, once for each
pattern of active operands, and becomes a Python function that appends its pullback. Long straight-line code is what
staging makes of host loops, so its derivative is on the way of every first call of such a program.
"""

from functools import cache

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import REAL, TAN, Ref, Scalar, has_real, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis import rule_templates
from rosejit.transforms.analysis.activity import Derivation, Mask
from rosejit.transforms.autodiff.transpose import transpose
from rosejit.transforms.passes.erase import erase

ADD, SELECT = PRIMITIVES["add"], PRIMITIVES["select"]


PrimitiveTranspose = tuple[tuple[ir.Var, ...], list[ir.Let], tuple[ir.Atom | None, ...]]
"""The pullback of a primitive: parameters, straight-line code, outputs."""


def primitive_transpose(op: Primitive, mask: Mask) -> PrimitiveTranspose:
    """From the operands of `op`, its result and the cotangent of that to one cotangent for each operand in `mask`, None
    where it is zero."""
    params = tuple([ir.Var(t) for t in (*op.params, op.result)])
    tangents = tuple([ir.Var(TAN) for on in mask if on])
    b = Builder()
    (dy,) = rule_templates.tangent(op, mask)(b.lets, None, "t", *params, *tangents)
    linear = ir.Function(op.name, (*params, *tangents), (TAN,), b.block(ir.ZERO if dy is None else dy))
    back = erase(transpose(linear))
    assert back.body is not None
    outputs = tuple([a if isinstance(a, ir.Var) else None for a in back.body.results])
    return back.params, back.body.lets, outputs


@cache
def pullback_template(op: Primitive, mask: Mask) -> rule_templates.Make:
    """What makes lets of `primitive_transpose`."""
    return rule_templates.pruned(*primitive_transpose(op, mask))


@cache
def _rule_pullback_template(rule: ir.Function, called: int, mask: Mask) -> rule_templates.Make | None:
    """As `pullback_template`, for a function of numbers that has a custom derivative; None where that is not straight.
    What the rule calls the function for is known: its result, after `called` parameters."""
    assert rule.body is not None
    params, tangents = rule.params[:called], rule.params[called:]
    y = ir.Var(REAL)
    lets: list[ir.Let] = []
    atoms: dict[ir.Atom, ir.Atom] = {}
    for let in rule.body.lets:
        e = let.expr
        if isinstance(e, ir.Call) and e.function.rule is rule and e.args == params:
            atoms[let.binders[0]] = y
        elif isinstance(e, ir.Apply) and not e.op.failure:
            lets.append(ir.Let(let.binders, ir.Apply(e.op, tuple([atoms.get(a, a) for a in e.args])), let.span))
        else:
            return None
    linear = ir.Function(rule.name, (*params, y, *tangents), (TAN,), ir.Block(lets, rule.body.results[1:]))
    back = erase(transpose(linear))
    assert back.body is not None
    found = iter(back.body.results)
    given = [next(found) if has_real(p.type) else None for p in params]
    outputs = [a for a, on in zip(given, mask, strict=True) if on]
    return rule_templates.pruned(
        back.params, back.body.lets, tuple([a if isinstance(a, ir.Var) else None for a in outputs])
    )


def has_straight_line_rule(f: ir.Function) -> bool:
    """Whether a custom derivative, of one number, only computes."""
    if f.rule is None or f.rule.body is None or f.results != (REAL,):
        return False
    if any([not isinstance(p.type, Scalar) for p in f.params]):
        return False
    return _rule_pullback_template(f.rule, len(f.params), tuple([has_real(p.type) for p in f.params])) is not None


# --- which functions are straight


@dataclass(slots=True, frozen=True)
class _Known:
    """Whether a body is straight, whether it may run twice (nothing in it fails), and how deeply its calls nest."""

    body: ir.Block | None
    straight_line: bool = False
    pure: bool = False
    depth: int = 0


def _known(f: ir.Function) -> _Known:
    known: _Known | None = f.derived.get("straight")
    if known is None or known.body is not f.body:
        f.derived["straight"] = _Known(f.body)  # it may call itself: then it is not
        known = f.derived["straight"] = _classified(f)
    return known


def _classified(f: ir.Function) -> _Known:
    if f.body is None or f.own or any([not isinstance(t, Scalar) for t in f.results]):
        return _Known(f.body)
    given = set(f.params)
    pure, depth = True, 0
    for let in f.body.lets:
        e = let.expr
        if type(e) is ir.Apply:
            pure = pure and not e.op.failure
        elif type(e) is ir.Index:
            if not isinstance(let.binders[0].type, Scalar) or e.base not in given:
                return _Known(f.body)
            pure = pure and not e.checked
        elif isinstance(e, ir.Check):
            pure = False
        elif not isinstance(e, ir.Call) or not _is_step(e.function):
            return _Known(f.body)
        elif e.function.rule is None:
            depth = max(depth, 1 + _known(e.function).depth)
    return _Known(f.body, not any([isinstance(p.type, Ref) for p in f.params]), pure, depth)


def _is_step(f: ir.Function) -> bool:
    """Whether a call of `f` is gone back by what is made of `f` alone. That computes `f` again: it may not fail."""
    if f.rule is not None:
        return has_straight_line_rule(f)
    known = _known(f)
    return known.straight_line and known.pure and not f.checkpoint


DEEPEST = 2
"""What calls of calls compute is computed again at each level in the reverse pass: more than two of them are too
many.
"""


def is_flat(f: ir.Function) -> bool:
    """Whether `f` only computes numbers from numbers and from elements of arrays that it is given, itself or by calls
    of such functions."""
    return f.rule is None and _known(f).straight_line


def is_straight_line(f: ir.Function) -> bool:
    """Whether the gradient of `f` is found in one sweep: it is flat, and its calls do not nest too deeply."""
    return is_flat(f) and _known(f).depth <= DEEPEST


# --- the reverse pass

Step = tuple[ir.Let, ir.Apply | ir.Index | ir.Call, rule_templates.Make | None, list[ir.Atom]]
Guard = tuple[ir.Atom, bool]
"""A condition, and what it is where a number may differ from zero."""


class ReverseSweep:
    """The lets of a straight-line function, with the pullback of each active one."""

    def __init__(self, f: ir.Function, mask: Mask, derivation: Derivation | None = None) -> None:
        assert f.body is not None
        self.derivation = derivation or Derivation()
        self.active: set[ir.Atom] = {p for p, on in zip(f.params, mask, strict=True) if on}
        self.steps: list[Step] = []
        self.sums: dict[ir.Atom, ir.Atom] = {}
        self.guards: dict[ir.Atom, Guard] = {}
        self.guarded = 0
        """Lets of the reverse pass that have been looked at for guards."""
        active, steps = self.active, self.steps
        for let in f.body.lets:
            e = let.expr
            if type(e) is ir.Apply:
                args = e.args
                if e.op.differentiable and not active.isdisjoint(args):
                    on = tuple([a in active for a in args])
                    steps.append((let, e, pullback_template(e.op, on), [a for a in args if a in active]))
                    active.add(let.binders[0])
            elif isinstance(e, ir.Index) and e.base in active and has_real(let.binders[0].type):
                steps.append((let, e, None, []))
                active.add(let.binders[0])
            elif isinstance(e, ir.Call) and not active.isdisjoint(e.args):
                self.call(let, e)

    def call(self, let: ir.Let, e: ir.Call) -> None:
        """Note a call of a function that is straight, or has a rule that is."""
        mask = tuple([a in self.active for a in e.args])
        if e.function.rule is not None:
            make = _rule_pullback_template(e.function.rule, len(e.args), mask)
            self.steps.append((let, e, make, [a for a in e.args if a in self.active]))
            self.active.update(let.binders)
            return
        mask = _masked(e.function, mask, self.derivation)
        results = _callee_pullback(e.function, mask, self.derivation).active
        if any(results):
            self.steps.append((let, e, None, []))
            self.active.update([b for b, on in zip(let.binders, results, strict=True) if on])

    def run_reverse(self, b: Builder, seeds: dict[ir.Atom, ir.Atom], places: dict[ir.Atom, ir.Var]) -> None:
        """Append the way from `seeds`, the cotangents of results, to `sums`, the cotangents of numbers; those of
        elements are added to the `places` of their arrays."""
        self.sums.update({y: ct for y, ct in seeds.items() if y in self.active})
        lets, take, give = b.lets, self.sums.pop, self.give
        for let, e, make, operands in reversed(self.steps):
            y = let.binders[0]
            if make is None and isinstance(e, ir.Call):
                self.called(b, let, e, places)
                continue
            ct = take(y, None)
            if ct is None:
                continue
            b.span = let.span
            if make is None:
                assert isinstance(e, ir.Index)
                at = b.bind(ir.View(places[e.base], e.path, False), Ref(REAL), "at")
                b.do(ir.Add(at, ct))
                continue
            assert not isinstance(e, ir.Index)
            give(b, operands, make(lets, let.span, "ct", *e.args, y, ct))

    def called(self, b: Builder, let: ir.Let, e: ir.Call, places: dict[ir.Atom, ir.Var]) -> None:
        """The pullback of a call: one of the function that goes it."""
        mask = _masked(e.function, tuple([a in self.active for a in e.args]), self.derivation)
        way = _callee_pullback(e.function, mask, self.derivation)
        cts = [self.sums.pop(y, None) for y, on in zip(let.binders, way.active, strict=True) if on]
        if not any([ct is not None for ct in cts]):
            return
        b.span = let.span
        wanted = [(p, a) for p, a, on in zip(e.function.params, e.args, mask, strict=True) if on]
        into = [places[a] for p, a in wanted if is_boxed(p.type)]
        seeds = [ct or ir.real(0.0) for ct in cts]
        back = ir.Call(way.function, (*e.args, *seeds, *into))
        found = _called(b, back, self.guard(b, [ct for ct in cts if ct is not None]))
        given = [a for p, a in wanted if not is_boxed(p.type)]
        self.give(b, given, tuple([ct if a in self.active else None for a, ct in zip(given, found, strict=True)]))

    def guard(self, b: Builder, cts: list[ir.Atom]) -> Guard | None:
        """When all of `cts` are zero, if one selection decides that."""
        for let in b.lets[self.guarded :]:
            e = let.expr
            if isinstance(e, ir.Apply) and e.op is SELECT and (found := guard_of(*e.args)) is not None:
                self.guards[let.binders[0]] = found
        self.guarded = len(b.lets)
        found = {self.guards.get(ct) for ct in cts}
        return found.pop() if len(found) == 1 else None

    def give(self, b: Builder, numbers: list[ir.Atom], cts: tuple[ir.Atom | None, ...]) -> None:
        """Add to the cotangents of numbers, of each if there is anything to add."""
        sums, span = self.sums, b.span
        for x, ct in zip(numbers, cts, strict=True):
            if ct is not None:
                have = sums.get(x)
                if have is None:
                    sums[x] = ct
                else:
                    sums[x] = var = ir.Var(REAL, "ct")
                    b.lets.append(ir.Let((var,), ir.Apply(ADD, (have, ct)), span))


def guard_of(condition: ir.Atom, one: ir.Atom, other: ir.Atom) -> Guard | None:
    """What must hold so that a selection may be more than zero."""
    if isinstance(other, ir.Lit) and other.value == 0.0:
        return condition, True
    return (condition, False) if isinstance(one, ir.Lit) and one.value == 0.0 else None


def _called(b: Builder, back: ir.Call, guard: Guard | None) -> tuple[ir.Var, ...]:
    """The results of `back`, which runs only where `guard` holds: what was not selected, a minimum of many numbers say,
    costs nothing, and poisons nothing where it has no slope."""
    types = back.function.results
    if guard is None:
        return b.bind_all(back, types, "ct")
    binders = tuple([ir.Var(t, "ct") for t in types])
    condition, side = guard
    sides = (ir.Block([ir.Let(binders, back, b.span)], binders), ir.Block([], (ir.real(0.0),) * len(types)))
    return b.bind_all(ir.If(condition, *(sides if side else sides[::-1])), types, "ct")


def _masked(f: ir.Function, mask: Mask, derivation: Derivation) -> Mask:
    """The mask under which a call of `f` is derived; where there are too many, all its numbers are in it."""
    wanted = tuple([on and has_real(p.type) for p, on in zip(f.params, mask, strict=True)])
    return derivation.allowed(f, wanted, tuple([on or p.type is REAL for p, on in zip(f.params, wanted, strict=True)]))


@dataclass(slots=True)
class _CalleePullback:
    """`function` takes the parameters, the cotangents of the `active` results and places for the arrays in the mask; it
    gives the cotangents of the numbers in the mask. It computes again what it needs."""

    function: ir.Function
    active: Mask


def _callee_pullback(f: ir.Function, mask: Mask, derivation: Derivation) -> _CalleePullback:
    key = (f, mask)
    if key not in derivation.made:
        assert f.body is not None
        sweep = ReverseSweep(f, mask, derivation)
        b = Builder(f.span)
        b.lets += f.body.lets
        on = tuple([y in sweep.active for y in f.body.results])
        cts = tuple([ir.Var(REAL, "ct") for active in on if active])
        wanted = [p for p, active in zip(f.params, mask, strict=True) if active]
        places: dict[ir.Atom, ir.Var] = {p: ir.Var(Ref(p.type), "acc") for p in wanted if is_boxed(p.type)}
        seeds: dict[ir.Atom, ir.Atom] = {}
        for y, ct in zip([y for y, active in zip(f.body.results, on, strict=True) if active], cts, strict=True):
            seeds[y] = b.apply(ADD, seeds[y], ct) if y in seeds else ct
        sweep.run_reverse(b, seeds, places)
        given = tuple([sweep.sums.get(p) or ir.real(0.0) for p in wanted if not is_boxed(p.type)])
        params = (*f.params, *cts, *places.values())
        made = ir.Function(f"back_{f.name}", params, tuple([REAL] * len(given)), b.block(*given), span=f.span)
        derivation.made[key] = _CalleePullback(made, on)
    return derivation.made[key]
