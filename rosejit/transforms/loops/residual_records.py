"""Joins what a loop stacks of each iteration into one record an iteration, where one other loop walks it: the tape of a
`while`.

A stack of its own for each number costs an address, a length and a test for room; a record has the numbers side by
side, each once. What a called function saves is a record already; where it was made in the iteration its numbers go in
too.
"""

from dataclasses import field

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms, operands, rebuild, scopes
from rosejit.ir.types import Array, Scalar, Tuple
from rosejit.lazy_dataclass import dataclass

Stacks = list[tuple[ir.Var, ir.Atom]]
"""Outputs of a loop, and what an iteration gives to each."""


def pack_residuals(f: ir.Function) -> ir.Function:
    """`f` with the stacks of its `while` loops, and those of records that an iteration makes, joined; the same object
    where there are none."""
    if f.body is None:
        return f
    makers = [let for let in forms(f.body) if isinstance(let.expr, ir.Looping)]
    plan = _PackingPlan(f.body)
    for let in makers:
        plan.consider(let)
    if not plan.packs:
        return f
    body = _Rewriting(plan).block(f.body)
    return f.with_body(body)


@dataclass(slots=True, eq=False)
class _Pack:
    """The stacks that become one: `items` are the numbers of an iteration, `places` where each stack, or each field of
    a stacked record, is among them."""

    stack: ir.Var
    items: tuple[ir.Atom, ...]
    places: dict[tuple[ir.Var, int | None], int] = field(default_factory=dict[tuple[ir.Var, int | None], int])

    @property
    def stacks(self) -> set[ir.Var]:
        """The stacks that go."""
        return {stack for stack, _ in self.places}


class _PackingPlan:
    """Which stacks are joined: `packs` by the let that makes them, `readers` by the loop that walks them, each those of
    one loop."""

    def __init__(self, body: ir.Block) -> None:
        self.packs: dict[ir.Let, _Pack] = {}
        self.readers: dict[ir.Expr, list[_Pack]] = {}
        self._walked: dict[ir.Atom, ir.Loop] = {}
        self._rows: dict[ir.Atom, ir.Var] = {}
        self._made: dict[ir.Atom, tuple[ir.Atom, ...]] = {}
        self._whole: set[ir.Atom] = set(body.results)
        """What is read otherwise than by one loop that walks it, or than by its fields."""
        for let in forms(body):
            self._survey(let.expr, let)

    def _survey(self, e: ir.Expr, let: ir.Let) -> None:
        walked: set[ir.Atom] = set()
        if isinstance(e, ir.Loop):
            for scan in e.scans:
                if scan.array in self._walked or scan.array in walked or scan.consumes:
                    self._whole.add(scan.array)
                walked.add(scan.array)
                self._walked[scan.array] = e
                self._rows[scan.array] = scan.param
            self._whole.update(e.inits)
        elif isinstance(e, ir.MakeTuple):
            self._made[let.binders[0]] = e.items
        if isinstance(e, ir.Index) and len(e.path) == 1 and isinstance(e.path[0], ir.Field):
            return
        if not isinstance(e, ir.Loop):
            self._whole.update(operands(e))
        carried = len(e.carries) if isinstance(e, ir.Looping) else None
        for _, block in scopes(e):
            self._whole.update(block.results[:carried])

    def consider(self, let: ir.Let) -> None:
        """Plan the stacks of one loop."""
        e = let.expr
        assert isinstance(e, ir.Looping)
        first = len(e.carries) + isinstance(e, ir.While)
        pairs = list(zip(let.binders[first:], e.body.results[len(e.carries) :], strict=True))
        alone = [(stack, a) for stack, a in pairs if stack in self._walked and stack not in self._whole]
        made: Stacks = [(stack, a) for stack, a in alone if self._is_record(stack, a)]
        if isinstance(e, ir.Loop) and not made:
            return
        scalars: Stacks = [(stack, a) for stack, a in alone if isinstance(a.type, Scalar)]
        readers = {self._walked[stack] for stack, _ in (*made, *scalars)}
        if len(readers) == 1 and len(made) + len(scalars) > (not made):
            (reader,) = readers
            self.packs[let] = pack = self._pack(made, scalars, e)
            self.readers.setdefault(reader, []).append(pack)

    def _is_record(self, stack: ir.Var, a: ir.Atom) -> bool:
        """Whether an iteration makes `a` of numbers, for a loop that reads nothing but these."""
        items = self._made.get(a)
        if items is None or a in self._whole or self._rows[stack] in self._whole:
            return False
        return all([isinstance(item.type, Scalar) for item in items])

    def _pack(self, made: Stacks, scalars: Stacks, e: ir.Looping) -> _Pack:
        items: list[ir.Atom] = []
        places: dict[tuple[ir.Var, int | None], int] = {}
        known: dict[ir.Atom, int] = {}

        def place(a: ir.Atom) -> int:
            if a not in known or isinstance(a, ir.Lit):  # 0.0 and -0.0 are equal
                known[a] = len(items)
                items.append(a)
            return known[a]

        for stack, a in scalars:
            places[stack, None] = place(a)
        for stack, a in made:
            for k, item in enumerate(self._made[a]):
                places[stack, k] = place(item)
        length = e.constant_trips if isinstance(e, ir.Loop) else None
        row = Tuple(tuple([a.type for a in items]))
        return _Pack(ir.Var(Array(length, row), "tape"), tuple(items), places)


class _Rewriting:
    """Makes the blocks in which stacks are joined; `fields` are the numbers of rows."""

    def __init__(self, plan: _PackingPlan) -> None:
        self.plan = plan
        self.atoms: dict[ir.Atom, ir.Atom] = {}
        self.fields: dict[tuple[ir.Atom, int], ir.Atom] = {}

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        new: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            if (
                isinstance(e, ir.Index)
                and isinstance(e.path[0], ir.Field)
                and (e.base, e.path[0].number) in self.fields
            ):
                self.atoms[let.binders[0]] = self.fields[e.base, e.path[0].number]
                continue
            read = self.plan.readers.get(e, ())
            for pack in read:
                assert isinstance(e, ir.Loop)
                e = self.reading(e, pack)
            changed = rebuild(e, self.atom, block=self.block)
            pack = self.plan.packs.get(let)
            if pack is None:
                new.append(ir.Let(let.binders, changed, let.span))
            else:
                assert isinstance(changed, ir.Looping)
                new.append(self.stacking(let, changed, pack))
        return ir.Block(new, tuple(map(self.atom, block.results)))

    def stacking(self, let: ir.Let, e: ir.Looping, pack: _Pack) -> ir.Let:
        """A loop that stacks records."""
        first = len(let.binders) - len(e.body.results) + len(e.carries)
        gone = pack.stacks
        outputs = zip(let.binders[first:], e.body.results[len(e.carries) :], strict=True)
        kept = [(stack, a) for stack, a in outputs if stack not in gone]
        assert isinstance(pack.stack.type, Array)
        row = ir.Var(pack.stack.type.element, "turn")
        lets = [*e.body.lets, ir.Let((row,), ir.MakeTuple(tuple(map(self.atom, pack.items))))]
        e.body = ir.Block(lets, (*e.body.results[: len(e.carries)], *[a for _, a in kept], row))
        return ir.Let((*let.binders[:first], *[stack for stack, _ in kept], pack.stack), e, let.span)

    def reading(self, e: ir.Loop, pack: _Pack) -> ir.Loop:
        """A loop that walks them."""
        assert isinstance(pack.stack.type, Array)
        row = ir.Var(pack.stack.type.element, "turn")
        numbers = [ir.Var(a.type, "x") for a in pack.items]
        fields = [ir.Let((v,), ir.Index(row, (ir.Field(k),), checked=False)) for k, v in enumerate(numbers)]
        params = {scan.array: scan.param for scan in e.scans}
        for (stack, number), k in pack.places.items():
            if number is None:
                self.atoms[params[stack]] = numbers[k]
            else:
                self.fields[params[stack], number] = numbers[k]
        scans = [scan for scan in e.scans if scan.array not in pack.stacks]
        body = ir.Block([*fields, *e.body.lets], e.body.results)
        return ir.Loop(e.trips, e.index, e.carries, e.inits, (*scans, ir.Scan(row, pack.stack)), body, e.down)
