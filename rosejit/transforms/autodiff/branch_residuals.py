"""The two sides of a split branch: they save in shared slots, so that the residual is as large as the larger side."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import renamed
from rosejit.ir.types import BOOL, INT, REAL, UNIT, Sum, Tuple, Type, is_boxed
from rosejit.transforms.autodiff.residuals import Needs, ResidualPlanner, SplitBlock, reads


class BranchSide:
    """One side of a branch: what it saves, scalar values in slots that both sides share, boxed ones in a record."""

    def __init__(
        self,
        planner: ResidualPlanner,
        split: SplitBlock,
        params: tuple[ir.Var, ...] = (),
        dual_params: tuple[ir.Var, ...] = (),
    ) -> None:
        self.split = split
        self.params = params
        self.dual_params = dual_params
        self.kept = planner.keep(split, set(), set(params), side=True)
        scalar_payload = [p for p in params if not is_boxed(p.type) and reads(split, self.kept, p)]
        self.payload_needs = {p for p in params if reads(split, self.kept, p)} - set(scalar_payload)
        self.scalars = [*scalar_payload, *(v for v in self.kept.saved if not is_boxed(v.type))]
        self.boxed = [v for v in self.kept.saved if is_boxed(v.type)]
        self.number = 0
        self.slots: dict[ir.Var, ir.Var] = {}
        self.record_type: Type = Tuple(tuple(v.type for v in self.boxed)) if self.boxed else UNIT

    def primal(self, shared: "SharedResiduals") -> ir.Block:
        """The primal half, which fills the slots."""
        lets = list(self.split.primal)
        by_slot = {slot: v for v, slot in self.slots.items()}
        results: list[ir.Atom] = [*self.split.primal_results]
        results += [by_slot.get(slot, _filler(slot.type)) for slot in shared.slots]
        if shared.flag is not None:
            results.append(ir.Lit(self.number == 0, BOOL))
        if shared.record is not None:
            payload: ir.Atom = ir.NOTHING
            if self.boxed:
                payload = ir.Var(self.record_type, "saved")
                lets.append(ir.Let((payload,), ir.MakeTuple(tuple(self.boxed))))
            record = ir.Var(shared.record.type, "rec")
            lets.append(ir.Let((record,), ir.Inject(self.number, payload)))
            results.append(record)
        return ir.Block(lets, tuple(results))

    def linear(self) -> ir.Block:
        """The linear half, reading its slots."""
        block = ir.Block(self.kept.repeated + self.split.linear, self.split.linear_results)
        return renamed(block, self.slots) if self.slots else block

    def linear_branch(self, params: tuple[ir.Var, ...]) -> ir.Branch:
        """The linear half as a side of a `case`, whose first scrutinee is the record of boxed values, if any."""
        block = self.linear()
        if not self.has_record:
            return ir.Branch(params, block)
        record = ir.Var(self.record_type, "saved")
        fields = [ir.Let((v,), ir.Index(record, (ir.Field(k),), checked=False)) for k, v in enumerate(self.boxed)]
        return ir.Branch((record, *params), ir.Block(fields + block.lets, block.results))

    has_record = False


class SharedResiduals:
    """What the two sides of a branch hand to their linear halves."""

    def __init__(self, sides: list[BranchSide], tag: bool = False) -> None:
        self.sides = sides
        self.slots: list[ir.Var] = []
        for number, side in enumerate(sides):
            side.number = number
            unused: dict[Type, list[ir.Var]] = {}
            for slot in self.slots:
                unused.setdefault(slot.type, []).append(slot)
            for v in side.scalars:
                free = unused.get(v.type)
                slot = free.pop(0) if free else ir.Var(v.type, v.hint)
                if slot not in self.slots:
                    self.slots.append(slot)
                side.slots[v] = slot
        self.record: ir.Var | None = None
        if any(side.boxed for side in sides):
            self.record = ir.Var(Sum(sides[0].record_type, sides[1].record_type), "rec")
            for side in sides:
                side.has_record = True
        wants_flag = tag and self.record is None and not any(side.payload_needs for side in sides)
        self.flag: ir.Var | None = ir.Var(BOOL, "left") if wants_flag else None

    @property
    def binders(self) -> tuple[ir.Var, ...]:
        """What the primal branch binds for the linear one."""
        flag = () if self.flag is None else (self.flag,)
        record = () if self.record is None else (self.record,)
        return (*self.slots, *flag, *record)

    def needs(self) -> Needs:
        """What the linear halves read of enclosing blocks."""
        needs: Needs = {}
        for side in self.sides:
            needs.update(side.kept.rest)
        needs.update(dict.fromkeys(self.binders))
        return needs


def _filler(t: Type) -> ir.Lit:
    """What a side that does not use a slot puts there."""
    if t is REAL:
        return ir.real(0.0)
    return ir.integer(0) if t is INT else ir.FALSE
