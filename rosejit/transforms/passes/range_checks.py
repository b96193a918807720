"""Drops the checks of indices and of Ints that the ranges of loops prove needless, in one forward sweep; Ints that all
iterations add the same to are counted by the iterations."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms, rebuild
from rosejit.ir.types import INT, REAL
from rosejit.ops import PRIMITIVES
from rosejit.ops.integer import LARGEST, SMALLEST
from rosejit.transforms.analysis.integer_ranges import (
    Range,
    after,
    growth,
    in_range,
    index_range,
    range_of,
    result_range,
)

SUM, PRODUCT, LARGER, WRAPPED = (PRIMITIVES[name] for name in ("wadd", "wmul", "imax", "wrap_index"))
EXACT = 2**53
"""Up to here all Ints are Reals."""
ON_REALS = {PRIMITIVES[f"r{name}"]: PRIMITIVES[name] for name in ("lt", "le", "gt", "ge", "eq", "ne")}


def eliminate_range_checks(f: ir.Function) -> ir.Function:
    """`f` without needless checks, sums of an Int and constants made of one constant; the same object without loops."""
    if f.body is None or not has_loops(f.body):
        return f
    return f.with_body(_RangeCheckElimination().block(f.body))


def has_loops(body: ir.Block) -> bool:
    """Whether there is a loop at any depth."""
    return any(isinstance(let.expr, ir.Looping) for let in forms(body))


class _RangeCheckElimination:
    """`known` has the ranges, `sums` what is a variable plus a constant, `atoms` what is just that variable, `rests`
    what is a constant less something, `ends` by indices of loops of so many iterations the same."""

    def __init__(self) -> None:
        self.known: dict[ir.Atom, Range] = {}
        self.sums: dict[ir.Atom, tuple[ir.Var, int]] = {}
        self.rests: dict[ir.Atom, tuple[int, ir.Atom]] = {}
        self.ends: dict[ir.Atom, tuple[int, ir.Atom]] = {}
        self.atoms: dict[ir.Atom, ir.Atom] = {}

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        new: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                if e.op.result is INT:
                    self.integer(let, e, new)
                elif e.op in ON_REALS:
                    self.comparison(let, e, new)
                else:
                    args = tuple(map(self.atoms.get, e.args, e.args))
                    new.append(let if args == e.args else ir.Let(let.binders, ir.Apply(e.op, args), let.span))
                continue
            counted: list[ir.Let] = []
            if isinstance(e, ir.Loop):
                let, e, counted = self.loop(let, e)
            changed = rebuild(e, self.atom, block=self.block)
            if isinstance(changed, ir.Access) and changed.checked:
                base = changed.place if isinstance(changed, ir.View) else changed.base
                changed.checked = not in_range(base.type, changed.path, self.known)
            new.append(ir.Let(let.binders, changed, let.span))
            if counted:
                new += self.block(ir.Block(counted, ())).lets
        return ir.Block(new, tuple(map(self.atoms.get, block.results, block.results)))

    def loop(self, let: ir.Let, e: ir.Loop) -> tuple[ir.Let, ir.Loop, list[ir.Let]]:
        """What is known in a loop; the loop without carries that the iterations count, and lets for them behind it."""
        trips = self.atom(e.trips)
        self.known[e.index] = index_range(trips, self.known)
        if trips in self.rests:
            self.ends[e.index] = self.rests[trips]
        most_trips = max(range_of(trips, self.known)[1], 0)
        gone: dict[ir.Var, int] = {}
        for c, added in growth(e, self.known).items():
            k = e.carries.index(c)
            start = range_of(e.inits[k], self.known)
            inside, behind = after(start, added, max(most_trips - 1, 0)), after(start, added, most_trips)
            if inside is not None and behind is not None:
                self.known[c], self.known[let.binders[k]] = inside, behind
                if added[0] == added[1] and not e.down:
                    gone[c] = added[0]
        if not gone:
            return let, e, []
        return _counted(let, e, gone, never=range_of(trips, self.known)[0] < 0)

    def integer(self, let: ir.Let, e: ir.Apply, new: list[ir.Let]) -> None:
        """An op that gives an Int."""
        (binder,), op, args = let.binders, e.op, tuple(map(self.atoms.get, e.args, e.args))
        found = result_range(op, args, self.known)
        if op is WRAPPED and range_of(args[0], self.known)[0] >= 0:
            self.atoms[binder] = args[0]
            self.known[binder] = range_of(args[0], self.known)
            return
        if found is not None:
            self.known[binder] = found = self.ended(op, args, found)
            if op.adds == (1, -1) and isinstance(args[0], ir.Lit) and isinstance(args[0].value, int):
                self.rests[binder] = args[0].value, args[1]
            op = PRIMITIVES[op.unchecked] if op.unchecked else op
            split = self.split(op, args)
            if split is not None:
                self.sums[binder] = var, constant = split
                if not constant:
                    self.atoms[binder] = var
                    return
                op, args = SUM, (var, ir.integer(constant))
        new.append(ir.Let(let.binders, ir.Apply(op, args), let.span))

    def ended(self, op: ir.Primitive, args: tuple[ir.Atom, ...], found: Range) -> Range:
        """The range of a sum: an index of a loop of n - an iterations and a are less than n."""
        if op.adds == (1, 1):
            for one, other in (args, args[::-1]):
                end, start = self.ends.get(one, (0, None))
                if start is not None and start == other:
                    return found[0], max(min(found[1], end - 1), found[0])
        return found

    def comparison(self, let: ir.Let, e: ir.Apply, new: list[ir.Let]) -> None:
        """Of an Int with a Real: of two Reals, where the Int is sure to be one."""
        op, (whole, x) = e.op, tuple(map(self.atoms.get, e.args, e.args))
        low, high = range_of(whole, self.known)
        if max(-low, high) <= EXACT:
            real = ir.Var(REAL)
            new.append(ir.Let((real,), ir.Apply(PRIMITIVES["to_real"], (whole,)), let.span))
            op, whole = ON_REALS[op], real
        new.append(ir.Let(let.binders, ir.Apply(op, (whole, x)), let.span))

    def split(self, op: ir.Primitive, args: tuple[ir.Atom, ...]) -> tuple[ir.Var, int] | None:
        """A sum as a variable and a constant; the variable's own sum with a constant fits 64 bits as well."""
        if len(op.adds) != 2:
            return None
        (one, other), (sign, last) = args, op.adds
        if isinstance(one, ir.Lit) and sign == last:
            one, other = other, one
        if not isinstance(one, ir.Var) or not isinstance(other, ir.Lit) or not isinstance(other.value, int):
            return None
        var, constant = self.sums.get(one, (one, 0))
        constant += last * other.value
        return (var, constant) if SMALLEST <= constant <= LARGEST else None


def _counted(let: ir.Let, e: ir.Loop, gone: dict[ir.Var, int], *, never: bool) -> tuple[ir.Let, ir.Loop, list[ir.Let]]:
    """A loop without carries to which each iteration adds a constant, which is a sum with so many times the index;
    `never` says whether the number of iterations may be negative."""
    kept = [k for k, c in enumerate(e.carries) if c not in gone]
    inside: list[ir.Let] = []
    behind: list[ir.Let] = []
    whole = e.trips
    if never:
        whole = ir.Var(INT)
        behind.append(ir.Let((whole,), ir.Apply(LARGER, (e.trips, ir.integer(0))), let.span))
    for k, c in enumerate(e.carries):
        if c in gone:
            _sum_to(inside, c, e.inits[k], e.index, gone[c], let)
            _sum_to(behind, let.binders[k], e.inits[k], whole, gone[c], let)
    n = len(e.carries)
    results = (*[e.body.results[k] for k in kept], *e.body.results[n:])
    body = ir.Block([*inside, *e.body.lets], results)
    carries, inits = tuple([e.carries[k] for k in kept]), tuple([e.inits[k] for k in kept])
    binders = (*[let.binders[k] for k in kept], *let.binders[n:])
    loop = ir.Loop(e.trips, e.index, carries, inits, e.scans, body, e.down)
    return ir.Let(binders, loop, let.span), loop, behind


def _sum_to(into: list[ir.Let], v: ir.Var, start: ir.Atom, trips: ir.Atom, added: int, let: ir.Let) -> None:
    """Appends lets that make `v` that start and so many times what each iteration adds."""
    if added != 1:
        product = ir.Var(INT)
        into.append(ir.Let((product,), ir.Apply(PRODUCT, (trips, ir.integer(added))), let.span))
        trips = product
    into.append(ir.Let((v,), ir.Apply(SUM, (start, trips)), let.span))
