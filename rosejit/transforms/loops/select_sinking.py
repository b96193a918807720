"""Numbers that a loop chooses from its iterations, as the least of many, to what the last iteration that was chosen
gives, done again behind the loop: the derivative is that of one iteration, and nothing is kept of the others.

What is done again neither fails nor acts, and reads nothing that is carried, so all results are the same bits.
"""

from collections.abc import Iterable

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.primitive import Primitive
from rosejit.ir.traversal import Renaming, captures, operands, scopes, within
from rosejit.ir.traversal import lets as all_lets
from rosejit.ir.types import BOOL, INT, REAL, Ref
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis.effects import fails_or_acts
from rosejit.transforms.passes.range_checks import has_loops

SELECT, NUMBER, BELOW, OR, BITS, FROM_BITS = (
    PRIMITIVES[name] for name in ("select", "iselect", "ilt", "or", "bits", "from_bits")
)
EXTREMES = {PRIMITIVES[name]: PRIMITIVES[test] for name, test in (("max", "gt"), ("min", "lt"))}
"""What gives its second operand if that passes the test against the first, else the first."""
PROPER = {PRIMITIVES[name]: PRIMITIVES[test] for name, test in (("maximum", "ge"), ("minimum", "le"))}
"""What gives its first operand if that passes the test against the second, or is NaN, else the second; but of two zeros
the greater or smaller, whose slope is that of the first."""
UNEQUAL = PRIMITIVES["ne"]
FEWEST = 4
"""Iterations from which on it is worth it."""
_PURE = (ir.Apply, ir.Index, ir.Call, ir.If, ir.Loop, ir.MakeArray, ir.Zero, ir.Copy, ir.Update)


def sink_selects(f: ir.Function) -> ir.Function:
    """`f` with such numbers made behind their loops; the same object where there are none."""
    if f.body is None or not has_loops(f.body):
        return f
    sweep = _SelectSinking(_read_in(f.body))
    body = sweep.block(f.body)
    if not sweep.changed:
        return f
    return f.with_body(body)


@dataclass(slots=True, frozen=True)
class _Choice:
    """A carry that becomes `value`, made by `steps`, in iterations where `condition` holds, or does not if
    `otherwise`.
    """

    carry: int
    condition: ir.Atom
    otherwise: bool
    value: ir.Atom
    steps: tuple[ir.Let, ...]
    tests: tuple[ir.Let, ...] = ()
    """What makes the condition, if nothing does yet."""
    proper: Primitive | None = None
    """What gives the sign of a zero."""


def _read_in(block: ir.Block) -> set[ir.Atom]:
    """What anybody reads in a block, or gives as its result, but for its bits, which have no derivative."""
    found = set(block.results)
    for let in block.lets:
        if not (isinstance(let.expr, ir.Apply) and let.expr.op is BITS):
            found.update(operands(let.expr))
        for _, inner in scopes(let.expr):
            found |= _read_in(inner)
    return found


class _Last:
    """The last iteration of a choice: as it is carried, as it is next, as it is in the end."""

    __slots__ = ("carry", "end", "next")

    def __init__(self) -> None:
        self.carry, self.next, self.end = (ir.Var(INT, "last") for _ in range(3))


class _SelectSinking:
    """Goes through all blocks; `changed` counts. `read` is all that anybody reads."""

    def __init__(self, read: set[ir.Atom]) -> None:
        self.read = read
        self.changed = 0

    def block(self, block: ir.Block) -> ir.Block:
        """The block with its loops changed, those inside first."""
        new: list[ir.Let] = []
        for let in block.lets:
            changed = within(let, self.block)
            e = changed.expr
            choices = [c for c in _choices(e) if let.binders[c.carry] in self.read] if isinstance(e, ir.Loop) else []
            if isinstance(e, ir.Loop) and choices:
                self.changed += 1
                new += _behind(let, e, choices)
            else:
                new.append(changed)
        return ir.Block(new, block.results)


def _choices(e: ir.Loop) -> list[_Choice]:
    """The carries of a loop that are chosen from its iterations."""
    if e.constant_trips is not None and e.constant_trips < FEWEST:
        return []
    made: dict[ir.Atom, ir.Let] = {b: let for let in e.body.lets for b in let.binders}
    found: list[_Choice] = []
    for k, (carry, new) in enumerate(zip(e.carries, e.body.results, strict=False)):
        let = made.get(new)
        tests: list[ir.Let] = []
        sides = _sides(let, new, tests) if carry.type is REAL and let is not None else None
        if let is None or sides is None or (sides[1] is carry) == (sides[2] is carry):
            continue
        otherwise = sides[1] is carry
        value = sides[2] if otherwise else sides[1]
        steps = _steps(e, value, made)
        proper = let.expr.op if isinstance(let.expr, ir.Apply) and let.expr.op in PROPER else None
        if steps is not None:
            found.append(_Choice(k, sides[0], otherwise, value, steps, tuple(tests), proper))
    return found


def _sides(let: ir.Let, v: ir.Atom, tests: list[ir.Let]) -> tuple[ir.Atom, ir.Atom, ir.Atom] | None:
    """What decides of `v`, and what it is then: variables from outside of the branch, if it is one. What decides is
    made by `tests` where nothing has made it."""
    e = let.expr
    if isinstance(e, ir.Apply) and (e.op in EXTREMES or e.op in PROPER):
        one, other = e.args
        b = Builder(let.span)
        if e.op in EXTREMES:
            condition, one, other = b.apply(EXTREMES[e.op], other, one, hint="chosen"), other, one
        else:
            passes = b.apply(PROPER[e.op], one, other, hint="chosen")
            condition = b.apply(OR, passes, b.apply(UNEQUAL, one, one, hint="nan"), hint="chosen")
        tests += b.lets
        return condition, one, other
    if isinstance(e, ir.Apply) and e.op is SELECT:
        condition, one, other = e.args
        return condition, one, other
    if isinstance(e, ir.If):
        k = let.binders.index(v)
        one, other = e.then.results[k], e.orelse.results[k]
        inside = {b for side in (e.then, e.orelse) for inner in side.lets for b in inner.binders}
        return None if one in inside or other in inside else (e.condition, one, other)
    return None


def _steps(e: ir.Loop, value: ir.Atom, made: dict[ir.Atom, ir.Let]) -> tuple[ir.Let, ...] | None:
    """The lets of an iteration that make `value`, in order; None where they cannot be done again."""
    needed: set[ir.Let] = set()
    todo = [value]
    given = {*e.carries, *(scan.param for scan in e.scans if scan.consumes)}
    while todo:
        a = todo.pop()
        if a in given:
            return None
        let = made.get(a)
        if let is None or let in needed:
            continue
        if not _is_pure(let):
            return None
        needed.add(let)
        todo += _read(let.expr)
    return tuple([let for let in e.body.lets if let in needed])


def _read(e: ir.Expr) -> Iterable[ir.Atom]:
    return (*operands(e), *captures(e)) if scopes(e) else operands(e)


def _is_pure(let: ir.Let) -> bool:
    """Whether a let, with all inside, does nothing but make its results."""
    inside = [let, *(inner for _, block in scopes(let.expr) for inner in all_lets(block))]
    return all(isinstance(x.expr, _PURE) and not fails_or_acts(x.expr) and not _adds(x.expr) for x in inside)


def _adds(e: ir.Expr) -> bool:
    return any(isinstance(a.type, Ref) for a in operands(e))


def _behind(let: ir.Let, e: ir.Loop, choices: list[_Choice]) -> list[ir.Let]:
    """The loop, which now tells the last iteration of each choice, and what the chosen numbers are."""
    n = len(e.carries)
    lets, renamed = list(e.body.lets), list(let.binders)
    behind: list[ir.Let] = []
    lasts: dict[tuple[ir.Atom, bool], _Last] = {}
    for choice in choices:
        key = choice.condition, choice.otherwise
        lets += choice.tests
        last = lasts.get(key)
        if last is None:
            last = lasts[key] = _Last()
            sides = (last.carry, e.index) if choice.otherwise else (e.index, last.carry)
            lets.append(ir.Let((last.next,), ir.Apply(NUMBER, (choice.condition, *sides))))
        result = renamed[choice.carry] = ir.Var(REAL, let.binders[choice.carry].hint)
        behind += _again(let, e, choice, last.end)
        if choice.proper is not None:
            behind[-1:] = _with_sign(behind[-1], choice.proper, result)
    made = lasts.values()
    results = (*e.body.results[:n], *[last.next for last in made], *e.body.results[n:])
    carries, inits = (*e.carries, *[last.carry for last in made]), (*e.inits, *[ir.Lit(-1, INT)] * len(made))
    loop = ir.Loop(e.trips, e.index, carries, inits, e.scans, ir.Block(lets, results), e.down)
    return [ir.Let((*renamed[:n], *[last.end for last in made], *renamed[n:]), loop, let.span), *behind]


def _with_sign(let: ir.Let, op: Primitive, result: ir.Var) -> list[ir.Let]:
    """What was chosen, but for the sign of a zero, which is that of what the loop gives."""
    (binder,) = let.binders
    chosen = ir.Var(REAL, binder.hint)
    b = Builder(let.span)
    b.lets.append(ir.Let((chosen,), let.expr, let.span))
    given = b.apply(FROM_BITS, b.apply(BITS, result, hint="bits"), hint=binder.hint)
    b.lets.append(ir.Let((binder,), ir.Apply(op, (chosen, given)), let.span))
    return b.lets


def _again(let: ir.Let, e: ir.Loop, choice: _Choice, iteration: ir.Var) -> list[ir.Let]:
    """What was chosen last, or what there was before, if there was no iteration like that."""
    copy = Renaming({e.index: iteration})
    read = {a for step in choice.steps for a in _read(step.expr)} | {choice.value}
    lets: list[ir.Let] = []
    for scan in e.scans:
        if scan.param in read:
            lets.append(ir.Let((copy.fresh(scan.param),), ir.Index(scan.array, (iteration,), False), let.span))
    lets += [copy.let(step) for step in choice.steps]
    was = ir.Var(BOOL, "none")
    side = ir.Block(lets, (copy.atom(choice.value),))
    branch = ir.If(was, ir.Block([], (e.inits[choice.carry],)), side)
    test = ir.Let((was,), ir.Apply(BELOW, (iteration, ir.Lit(0, INT))), let.span)
    return [test, ir.Let((let.binders[choice.carry],), branch, let.span)]
