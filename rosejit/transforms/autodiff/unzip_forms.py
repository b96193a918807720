"""A block with tangents in two, form by form: what computes primal values, and what is linear in the tangents."""

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TypeVar

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import consumed, operands, scopes
from rosejit.ir.types import INT, Array, Nominal, is_linear
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.autodiff.branch_residuals import BranchSide, SharedResiduals
from rosejit.transforms.autodiff.mixed_mode import as_matrix, pays, single
from rosejit.transforms.autodiff.residuals import Needs, ResidualPlanner, Residuals, SplitBlock, reads

Typed = TypeVar("Typed", bound=ir.Var | ir.Lit)


@dataclass(slots=True)
class Halves:
    """`forward(x..): y.., residuals`; `linear(residuals, again.., dx..): dy..`.

    `again` are the parameters of `forward` that `linear` takes once more rather than find in the residuals;
    `residuals` is None where nothing is saved.
    """

    forward: ir.Function
    linear: ir.Function
    residuals: Nominal | None
    again: tuple[int, ...]
    is_dual: tuple[bool, ...]
    """Which parameters of the original are linear."""
    is_complete: bool = False
    """False while the function is being split: what a recursive call then sees is assumed, and kept to."""
    assumed: bool = False
    one_sweep: bool = False
    """Whether a caller that knows the cotangents in time calls both halves as one function (`one_sweep.py`)."""


@dataclass(slots=True)
class LetPair:
    """A let in two: one or no let for each half, and what the linear one reads."""

    primal: list[ir.Let]
    linear: list[ir.Let]
    needs: Needs = field(default_factory=dict[ir.Var, None])

    def read(self, atoms: Iterable[ir.Atom]) -> None:
        """Add nonlinear variables among `atoms` to the needs."""
        for a in atoms:
            if isinstance(a, ir.Var) and not is_linear(a.type):
                self.needs[a] = None


def parted(atoms: Iterable[Typed]) -> tuple[tuple[Typed, ...], tuple[Typed, ...]]:
    """The nonlinear and the linear ones."""
    both = list(atoms)
    return tuple([a for a in both if not is_linear(a.type)]), tuple([a for a in both if is_linear(a.type)])


def _linear_at_all(let: ir.Let) -> bool:
    """Whether a Tan occurs in `let`, at any depth. Iterative, since it is asked of every nested form once a level."""
    pending = [let]
    while pending:
        current = pending.pop()
        if any([is_linear(b.type) for b in current.binders]):
            return True
        if any([is_linear(a.type) for a in operands(current.expr)]):
            return True
        for params, block in scopes(current.expr):
            if any([is_linear(p.type) for p in params]):
                return True
            pending += block.lets
    return False


class Splitter:
    """Splits the blocks of one function; `halves` gives those of a function that it calls. `mixed`: loops may keep
    partial derivatives."""

    def __init__(self, f: ir.Function, halves: Callable[[ir.Function], Halves], mixed: bool) -> None:
        self.planner = ResidualPlanner(f)
        self.halves = halves
        self.mixed = mixed

    def block(self, block: ir.Block, owned: Iterable[ir.Var] = ()) -> SplitBlock:
        """Both halves of a block; nothing is saved yet. Its form binds the variables `owned` and gives them away."""
        two = LetPair([], [])
        primal, linear, needs = two.primal, two.linear, two.needs
        partners = [v for v in owned if v.like is not None]
        for let in block.lets:
            e = let.expr
            if not isinstance(e, ir.Apply):
                partners += self.other(let, e, two)
            elif e.op.erased:
                linear.append(let)
                for k in e.op.nonlinear:
                    a = e.args[k]
                    if isinstance(a, ir.Var):
                        needs[a] = None
            else:
                primal.append(let)
        primal_results, linear_results = parted(block.results)
        if partners:
            _keep_partners(two, partners, linear_results)
        return SplitBlock(primal, linear, primal_results, linear_results, needs)

    def other(self, let: ir.Let, e: ir.Expr, two: LetPair) -> list[ir.Var]:
        """Append the halves of a let that is no primitive; its binders whose zeros may need a partner."""
        self.planner.bind(let.binders)
        if isinstance(e, ir.Control | ir.Call):
            if _linear_at_all(let):
                self.form(let, e, two)
                return [b for b in let.binders if b.like is not None]
            two.primal.append(let)
        elif any([is_linear(b.type) for b in let.binders]) or any([is_linear(a.type) for a in operands(e)]):
            two.linear.append(let)
            two.read(operands(e))
            return [b for b in let.binders if b.like is not None and not isinstance(e, ir.Index)]
        else:
            two.primal.append(let)
            self.planner.definitions.update(dict.fromkeys(let.binders, let))
        return []

    def form(self, let: ir.Let, e: ir.Control | ir.Call, two: LetPair) -> None:
        """Append both halves of a form that holds both kinds."""
        match e:
            case ir.If():
                self.branch(let, e, two)
            case ir.Case():
                self.case(let, e, two)
            case ir.Loop() | ir.While():
                self.loop(let, e, two)
            case ir.Call():
                self.call(let, e, two)
            case _:
                ir.assert_never(e)

    def branch(self, let: ir.Let, e: ir.If, two: LetPair) -> None:
        """A branch: both halves take the same side."""
        sides = [BranchSide(self.planner, self.block(b)) for b in (e.then, e.orelse)]
        shared = SharedResiduals(sides)
        primal_binders, linear_binders = parted(let.binders)
        primal = ir.If(e.condition, sides[0].primal(shared), sides[1].primal(shared))
        two.primal += _unless_empty(ir.Let((*primal_binders, *shared.binders), primal, let.span))
        two.needs.update(shared.needs())
        if shared.record is None:
            read: ir.Expr = ir.If(e.condition, sides[0].linear(), sides[1].linear())
            two.read((e.condition,))
        else:
            read = ir.Case((shared.record,), sides[0].linear_branch(()), sides[1].linear_branch(()))
        two.linear.append(ir.Let(linear_binders, read, let.span))

    def case(self, let: ir.Let, e: ir.Case, two: LetPair) -> None:
        """A case: scrutinees that the linear half needs are passed to it once more."""
        scrutinees, duals = parted(e.scrutinees)
        sides: list[BranchSide] = []
        for branch in (e.left, e.right):
            pairs = list(zip(branch.params, e.scrutinees, strict=True))
            params = tuple(p for p, s in pairs if not is_linear(s.type))
            self.planner.rows.update(zip(params, scrutinees, strict=True))
            split = self.block(branch.block)
            sides.append(BranchSide(self.planner, split, params, tuple(p for p, s in pairs if is_linear(s.type))))
        shared = SharedResiduals(sides, tag=not duals)
        primal_binders, linear_binders = parted(let.binders)
        if scrutinees:
            left, right = (ir.Branch(s.params, s.primal(shared)) for s in sides)
            primal = ir.Let((*primal_binders, *shared.binders), ir.Case(scrutinees, left, right), let.span)
            two.primal += _unless_empty(primal)
        else:
            assert not shared.binders, "a case of tangents alone computes no primal value"
        two.needs.update(shared.needs())
        read = self.case_again(shared, scrutinees, duals)
        two.read(operands(read))
        two.linear.append(ir.Let(linear_binders, read, let.span))

    def case_again(
        self, shared: SharedResiduals, scrutinees: tuple[ir.Atom, ...], duals: tuple[ir.Atom, ...]
    ) -> ir.Expr:
        """The linear half of a case: steered by the record of boxed values, by scrutinees that it reads once more, by
        linear ones, or by a flag where there is none of these."""
        sides = shared.sides
        again = [k for k in range(len(scrutinees)) if any(s.params[k] in s.payload_needs for s in sides)]
        record = () if shared.record is None else (shared.record,)
        steering = (*record, *(scrutinees[k] for k in again), *duals)
        if not steering:
            assert shared.flag is not None
            return ir.If(shared.flag, sides[0].linear(), sides[1].linear())
        left, right = (s.linear_branch((*(s.params[k] for k in again), *s.dual_params)) for s in sides)
        return ir.Case(steering, left, right)

    def loop(self, let: ir.Let, e: ir.Looping, two: LetPair) -> None:
        """A loop: what is saved becomes stacked outputs of one half and scans of the other."""
        scans = e.scans if isinstance(e, ir.Loop) else ()
        self.planner.rows.update({s.param: s.array for s in scans if not s.consumes})
        owned = (*e.carries, *(s.param for s in scans if s.consumes))
        trips: ir.Atom = e.trips if isinstance(e, ir.Loop) else let.binders[0]
        length = e.constant_trips if isinstance(e, ir.Loop) else None
        self.planner.trips.append(length if length is not None else SOME if isinstance(e, ir.Loop) else 1)
        self.planner.lengths.append(length)
        self.planner.bind(e.carries)
        split = single(e) if self.mixed and isinstance(e, ir.Loop) else None
        split = split or self.block(e.body, owned)
        carries, dual_carries = parted(e.carries)
        primal_binders, linear_binders = parted(let.binders)
        primal_scans = tuple(s for s in scans if not is_linear(s.param.type))
        again = {s.param for s in primal_scans if not s.consumes}
        given = {e.index} | again if isinstance(e, ir.Loop) else again
        bound = {*carries, *(s.param for s in primal_scans if s.consumes)}
        split, kept = self.cheapest(split, bound, given)
        self.planner.trips.pop()
        self.planner.lengths.pop()
        stacks = tuple(ir.Var(Array(length, v.type), f"{v.hint}s") for v in kept.saved)
        body = ir.Block(split.primal, (*split.primal_results, *kept.saved))
        inits, dual_inits = _parted_as(e.carries, e.inits)
        if isinstance(e, ir.Loop):
            primal: ir.Expr = ir.Loop(e.trips, e.index, carries, inits, primal_scans, body, e.down)
        else:
            primal = ir.While(carries, inits, e.condition, body)
        two.primal.append(ir.Let((*primal_binders, *stacks), primal, let.span))
        read = _loop_again(e, trips, split, kept, stacks)
        read.carries, read.inits = dual_carries, dual_inits
        two.linear.append(ir.Let(linear_binders, read, let.span))
        two.read(operands(read))
        two.needs.update(kept.rest)

    def cheapest(self, split: SplitBlock, bound: set[ir.Var], given: set[ir.Var]) -> tuple[SplitBlock, Residuals]:
        """The body of a loop and what of it is kept: the factors of its linear half, or the matrix that they make."""
        kept = self.planner.keep(split, bound, given)
        matrix = as_matrix(split) if self.mixed and kept.saved else None
        if matrix is not None:
            other = self.planner.keep(matrix.split, bound, given)
            if pays(split, kept, matrix, other):
                return matrix.split, other
        return split, kept

    def call(self, let: ir.Let, e: ir.Call, two: LetPair) -> None:
        """A call of the forward half, and one of the linear half with its residuals; one of a linear host function
        belongs to the linear half."""
        if e.function.adjoint is not None:
            two.linear.append(let)
            two.read(e.args)
            return
        halves = self.halves(e.function)
        nonlinear = tuple(a for a, dual in zip(e.args, halves.is_dual, strict=True) if not dual)
        duals = tuple(a for a, dual in zip(e.args, halves.is_dual, strict=True) if dual)
        primal_binders, linear_binders = parted(let.binders)
        residuals = () if halves.residuals is None else (ir.Var(halves.residuals, "r"),)
        read = (*residuals, *(nonlinear[k] for k in halves.again))
        two.read(read)
        two.primal.append(ir.Let((*primal_binders, *residuals), ir.Call(halves.forward, nonlinear), let.span))
        two.linear.append(ir.Let(linear_binders, ir.Call(halves.linear, (*read, *duals)), let.span))


SOME = 64
"""Iterations that a counted loop is taken to have of which only the run knows how many: what it stacked would be arrays
of their own, allocated one by one."""


def _keep_partners(two: LetPair, partners: list[ir.Var], results: tuple[ir.Atom, ...]) -> None:
    """A tangent that nothing consumes may need a zero whose shape only its primal value tells (see `Var.like`)."""
    kept = {a for let in two.linear for a in consumed(let.expr)}.union(results)
    two.read(b.like for b in partners if b.like is not None and b not in kept)


def _parted_as(binders: tuple[ir.Var, ...], atoms: tuple[ir.Atom, ...]) -> tuple[tuple[ir.Atom, ...], ...]:
    """`atoms` parted by the types of `binders`."""
    pairs = list(zip(binders, atoms, strict=True))
    return tuple(a for b, a in pairs if not is_linear(b.type)), tuple(a for b, a in pairs if is_linear(b.type))


def _loop_again(
    e: ir.Looping, trips: ir.Atom, split: SplitBlock, kept: Residuals, stacks: tuple[ir.Var, ...]
) -> ir.Loop:
    """The linear half of a loop, without carries: what was saved is scanned, what was scanned is scanned once more."""
    scans = [ir.Scan(v, stack) for v, stack in zip(kept.saved, stacks, strict=True)]
    for s in e.scans if isinstance(e, ir.Loop) else ():
        if is_linear(s.param.type) or (not s.consumes and reads(split, kept, s.param)):
            scans.append(s)
    index = e.index if isinstance(e, ir.Loop) else ir.Var(INT, "i")
    body = ir.Block(kept.repeated + split.linear, split.linear_results)
    return ir.Loop(trips, index, (), (), tuple(scans), body, isinstance(e, ir.Loop) and e.down)


def _unless_empty(let: ir.Let) -> list[ir.Let]:
    """`let`, or nothing where both sides of its branch do nothing and give nothing."""
    if not let.binders and not any(block.lets for _, block in scopes(let.expr)):
        return []
    return [let]
