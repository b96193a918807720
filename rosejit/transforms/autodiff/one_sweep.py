"""A recursive function and its pullback in one function, which keeps no residuals.

Of `s += a[i] * f(rest)` the cotangent of `f(rest)` is known before the call: it is `a[i]` times that of the sum. If
that is so of all calls in a cycle of functions, `both_f(x.., ct_y..): y.., ct_x..` calls itself, and nothing is saved
for a second sweep.

It has the lets of the first half, and of the pullback each form as soon as what it reads is known: a branch, a loop or
a call becomes one with that of the first half that has saved for it. What is added to places comes in another order
then. Where a cotangent is not known in time, the caller computes the function alone, and later once more with its
pullback, as if it were checkpointed.
"""

from collections import Counter
from collections.abc import Iterable

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import (
    Renaming,
    callees,
    captures,
    consumed,
    consumed_within,
    operands,
    reachable,
    rebuild,
    renamed,
    scopes,
)
from rosejit.ir.types import Array, Nominal, Ref, is_boxed
from rosejit.transforms.autodiff.checkpoint import make_bodies, promised
from rosejit.transforms.autodiff.record_replay import calls_host
from rosejit.transforms.autodiff.transpose import transpose
from rosejit.transforms.autodiff.unzip_forms import Halves
from rosejit.transforms.passes.insert_copies import body_with_copies


def cycle(f: ir.Function) -> frozenset[ir.Function]:
    """The functions that `f` reaches and that reach it, itself too; none where it does not call itself."""
    if "cycle" not in f.derived:
        program = reachable(f)
        order = {g: k for k, g in enumerate(program)}
        callers: dict[ir.Function, list[ir.Function]] = {g: [] for g in program}
        heads: dict[ir.Function, None] = {}
        for g in program:
            g.derived.setdefault("cycle", frozenset())
            for h in callees(g):
                callers[h].append(g)
                if order[h] >= order[g]:
                    heads[h] = None
        for head in heads:
            below, found, todo = set(reachable(head)), {head}, [head]
            while todo:
                new = [g for g in callers[todo.pop()] if g in below and g not in found]
                found.update(new)
                todo += new
            for g in found:
                g.derived["cycle"] = frozenset(found)
    return f.derived["cycle"]


def from_outside(f: ir.Function, plain: dict[ir.Function, Halves]) -> Halves:
    """The halves of `f` for callers outside of its cycle, of which `plain` are the halves that save: the first is the
    function alone, the pullback is `both`, if each call of the cycle comes behind what makes its cotangent. Host
    functions are called once, and added to places is once: there the halves are those that save."""
    mine = plain[f]
    first = frozenset([halves.forward for halves in plain.values()])
    if mine.residuals is None or mine.forward not in reachable(*callees(mine.forward)):  # its recursion keeps nothing
        return mine
    both = combined(mine, first)
    if not first.isdisjoint(reachable(both)):
        return mine
    mine.one_sweep = True
    primal = f.derived.get("primal")
    if primal is None or calls_host(primal) or any(isinstance(p.type, Ref) for p in mine.forward.params):
        return mine
    halves = promised(f)
    make_bodies(halves, f, primal, mine)
    halves.linear.checkpoint = False
    halves.linear.derived["both"] = both
    halves.linear.derived["transpose"] = _pullback(halves, mine, both)
    halves.forward.derived["halves"] = halves
    halves.one_sweep = True
    return halves


def _pullback(halves: Halves, plain: Halves, both: ir.Function) -> ir.Function:
    """The transpose of the linear half: what `both` gives beside the results."""
    linear, back = halves.linear, transpose(plain.linear)
    new = ir.Function(f"bwd_{linear.name.removeprefix('lin_')}", (), back.results, span=linear.span)
    copy = Renaming()
    old = (*linear.params[: 1 + len(halves.again)], *_given(plain, back))
    params = tuple(map(copy.fresh, old))
    record = linear.params[0].type
    assert isinstance(record, Nominal)
    fields = [ir.Var(t, "x") for t in record.fields]
    lets = [ir.Let((v,), ir.Index(params[0], (ir.Field(k),), False)) for k, v in enumerate(fields)]
    handed, kept = dict(zip(halves.again, params[1:], strict=False)), iter(fields)
    args = [handed[k] if k in handed else next(kept) for k in range(len(plain.forward.params))]
    found = tuple([ir.Var(t, "ct") for t in both.results])
    call = ir.Call(both, (*args, *params[1 + len(halves.again) :]))
    new.params = params
    new.own = frozenset([p for p, was in zip(params, old, strict=True) if was in back.own])
    new.body = ir.Block([*lets, ir.Let(found, call, linear.span)], found[len(both.results) - len(back.results) :])
    new.body = body_with_copies(new)
    return new


def _given(halves: Halves, back: ir.Function) -> tuple[ir.Var, ...]:
    """The parameters of a pullback behind what the first half hands it: cotangents and places."""
    return back.params[(halves.residuals is not None) + len(halves.again) :]


def combined(halves: Halves, first: frozenset[ir.Function] = frozenset()) -> ir.Function:
    """The function of both halves: it takes the parameters of the first, then cotangents of the results and places,
    and gives the results, then what the pullback gives. Calls of the first halves `first` are taken to be such, too."""
    linear, forward = halves.linear, halves.forward
    if "both" not in linear.derived:
        back = transpose(linear)
        results = forward.results[: len(forward.results) - (halves.residuals is not None)]
        new = ir.Function(f"both_{forward.name.removeprefix('fwd_')}", (), (*results, *back.results), span=forward.span)
        linear.derived["both"] = new  # before the body: it may call itself
        copy, other = Renaming(), Renaming()
        given = _given(halves, back)
        new.params = (*map(copy.fresh, forward.params), *map(other.fresh, given))
        old = zip(new.params, (*forward.params, *given), strict=True)
        new.own = frozenset([p for p, was in old if was in forward.own | back.own])
        assert forward.body is not None
        assert back.body is not None
        body = copy.block(forward.body)
        record = body.results[len(results) :]
        handed = (*record, *[new.params[k] for k in halves.again])
        other.atoms.update(zip(back.params, handed, strict=False))
        joiner = _Joiner(first)
        joiner.know(record, body.lets)
        new.body = joiner.block(ir.Block(body.lets, body.results[: len(results)]), other.block(back.body))
        new.body = body_with_copies(new)
    return linear.derived["both"]


def _reads(let: ir.Let) -> set[ir.Atom]:
    return {*operands(let.expr), *captures(let.expr)}


def _taken(e: ir.Expr) -> set[ir.Atom]:
    """The boxed values and places of the block that `e` stands in which it consumes."""
    inside = captures(e)
    taken = {*consumed(e), *[a for _, block in scopes(e) for a in consumed_within(block) if a in inside]}
    return {a for a in taken if is_boxed(a.type) or isinstance(a.type, Ref)}


class _Joiner:
    """Puts a pullback behind what it goes back through, block by block."""

    def __init__(self, first: frozenset[ir.Function]) -> None:
        self.first = first
        self.atoms: dict[ir.Var, ir.Atom] = {}
        """What variables of the pullback are equal to."""
        self.records: dict[ir.Atom, tuple[ir.Atom, ...]] = {}
        """Tuples of what was saved."""

    def know(self, records: Iterable[ir.Atom], lets: list[ir.Let]) -> None:
        """Note what is in `records`, which `lets` make."""
        made: dict[ir.Atom, ir.Expr] = {b: let.expr for let in lets for b in let.binders}
        for record in records:
            e = made.get(record)
            if isinstance(e, ir.MakeTuple):
                self.records[record] = e.items

    def atom(self, a: ir.Atom) -> ir.Atom:
        """What stands for `a`."""
        return self.atoms.get(a, a) if isinstance(a, ir.Var) else a

    def resolved(self, lets: list[ir.Let]) -> list[ir.Let]:
        """Lets of the pullback that read what was saved in place of records of it."""
        found: list[ir.Let] = []
        for let in lets:
            e = rebuild(let.expr, self.atom, block=lambda b: renamed(b, self.atoms))
            if isinstance(e, ir.Index) and e.base in self.records and isinstance(e.path[0], ir.Field):
                item = self.records[e.base][e.path[0].number]
                if len(e.path) == 1:
                    self.atoms[let.binders[0]] = item
                    continue
                e = ir.Index(item, e.path[1:], e.checked)
            found.append(ir.Let(let.binders, e, let.span))
        return found

    def block(self, primal: ir.Block, back: ir.Block) -> ir.Block:
        """Both blocks as one, with the results of both."""
        behind = self.resolved(back.lets)
        results = (*primal.results, *map(self.atom, back.results))
        lets = _without_records(primal.lets, {*results}.union(*map(_reads, behind)))
        return ir.Block(_Order(self, lets, behind, results).run(), results)


def _without_records(lets: list[ir.Let], live: set[ir.Atom]) -> list[ir.Let]:
    """`lets` without records that are read no more."""
    kept: list[ir.Let] = []
    for let in reversed(lets):
        if isinstance(let.expr, ir.MakeTuple | ir.Inject | ir.Copy) and live.isdisjoint(let.binders):
            continue
        kept.append(let)
        live |= _reads(let)
    return kept[::-1]


class _Order:
    """The lets of one block: those of the first half, `lets`, in their order, and those of the pullback, `behind`."""

    def __init__(self, joiner: _Joiner, lets: list[ir.Let], behind: list[ir.Let], results: tuple[ir.Atom, ...]) -> None:
        self.joiner = joiner
        self.lets = lets
        self.behind = behind
        self.reads = {let: _reads(let) for let in behind}
        self.readers: Counter[ir.Atom] = Counter(results)
        for let in lets:
            self.readers.update(_reads(let))
        for read in self.reads.values():
            self.readers.update(read)
        self.place: dict[ir.Atom, int] = {b: k for k, let in enumerate(lets) for b in let.binders}
        self.known = dict(self.place)
        """Behind which let of the first half a variable is known: -1 in the beginning, where it is not in here."""
        self.joined: dict[int, ir.Let] = {}

    def run(self) -> list[ir.Let]:
        """All lets, those of the pullback that others wait for in front of these."""
        for let in self.behind:
            partner = self.partner(let) if self.may_move(let.expr) else None
            if partner is not None and partner not in self.joined and self.is_known(let, partner):
                self.joined[partner] = let
                at = partner
            else:
                at = self.when(self.reads[let]) if self.may_move(let.expr) else len(self.lets)
            self.known.update(dict.fromkeys(let.binders, at))
        before = self.wanted()
        found: list[ir.Let] = []
        for k, let in enumerate(self.lets):
            found += [other for other in self.behind if before.get(other) == k]
            found.append(self.one(let, self.joined[k]) if k in self.joined else let)
        done = set(self.joined.values()) | before.keys()
        return found + [let for let in self.behind if let not in done]

    def when(self, atoms: Iterable[ir.Atom]) -> int:
        """Behind which let all of `atoms` are known."""
        return max([self.known.get(a, -1) for a in atoms], default=-1)

    def may_move(self, e: ir.Expr) -> bool:
        """Whether nothing else reads what `e` consumes, which would have to come first."""
        return all(self.readers[a] == 1 for a in _taken(e))

    def is_known(self, let: ir.Let, at: int) -> bool:
        """Whether all that `let` reads, but what the let `at` gives, is known before that."""
        return self.when(self.reads[let].difference(self.lets[at].binders)) < at

    def wanted(self) -> dict[ir.Let, int]:
        """The lets of the pullback that what is joined reads, each with the first let that it must come before."""
        maker: dict[ir.Atom, ir.Let] = {b: let for let in self.behind for b in let.binders}
        found: dict[ir.Let, int] = {}
        where = {let: k for k, let in self.joined.items()}
        for let in reversed(self.behind):
            k = where.get(let, found.get(let))
            if k is not None:
                for other in {maker[a] for a in self.reads[let] if a in maker}.difference(where):
                    found[other] = min(found.get(other, k), k)
        return found

    # --- pairs

    def partner(self, let: ir.Let) -> int | None:
        """The let of the first half that `let` goes back through, if it can be done together with it."""
        match let.expr:
            case ir.Call() as e:
                return self.partner_of_call(e)
            case ir.Case(scrutinees=(record,)) as e:
                at = self.place.get(record)
                good = at is not None and isinstance(self.lets[at].expr, ir.If) and self.readers[record] == 1
                return at if good else None
            case ir.If(condition=condition) as e:
                same = [
                    k
                    for k in {self.place[a] for a in self.reads[let] if a in self.place}
                    if isinstance(other := self.lets[k].expr, ir.If) and other.condition == condition
                ]
                return max(same, default=None)
            case ir.Loop() as e:
                return self.partner_of_loop(e)
            case _:
                return None

    def partner_of_call(self, e: ir.Call) -> int | None:
        """A call of the first half that gives the record that this one is handed."""
        at = self.place.get(e.args[0]) if e.args else None
        other = None if at is None else self.lets[at]
        if other is None or not isinstance(other.expr, ir.Call) or other.binders[-1] is not e.args[0]:
            return None
        halves: Halves | None = other.expr.function.derived.get("halves")
        if halves is None or not (halves.one_sweep or halves.forward in self.joiner.first):
            return None
        again = tuple([other.expr.args[k] for k in halves.again])
        fits = halves.residuals is not None and e.function is transpose(halves.linear)
        return at if fits and e.args[1 : 1 + len(again)] == again and self.readers[e.args[0]] == 1 else None

    def partner_of_loop(self, e: ir.Loop) -> int | None:
        """The loop that has stacked what this one scans, in the same order."""
        found = {self.place[scan.array] for scan in e.scans if scan.array in self.place}
        for at in sorted(found, reverse=True):
            other, binders = self.lets[at].expr, self.lets[at].binders
            if not isinstance(other, ir.Loop) or (other.trips, other.down) != (e.trips, e.down):
                continue
            shared = [v for v in binders[len(other.carries) :] if self.readers[v] > 1]
            boxed = [v for v in shared if isinstance(v.type, Array) and is_boxed(v.type.element)]
            if not boxed and {*e.inits, *captures(e)}.isdisjoint(binders):
                return at
        return None

    # --- one of two

    def one(self, first: ir.Let, second: ir.Let) -> ir.Let:
        """One let for a pair."""
        match first.expr, second.expr:
            case ir.Call() as e, ir.Call() as other:
                halves: Halves = e.function.derived["halves"]
                both = combined(halves, self.joiner.first)
                args = (*e.args, *other.args[1 + len(halves.again) :])
                return ir.Let((*first.binders[:-1], *second.binders), ir.Call(both, args), second.span)
            case ir.If() as e, (ir.If() | ir.Case()) as other:
                return self.branch(first, e, second, other)
            case ir.Loop() as e, ir.Loop() as other:
                return self.loop(first, e, second, other)
            case _:
                raise AssertionError(first, second)

    def branch(self, first: ir.Let, e: ir.If, second: ir.Let, other: ir.If | ir.Case) -> ir.Let:
        """A branch of both: the pullback of each side reads what that side has computed."""
        gone = other.scrutinees if isinstance(other, ir.Case) else ()
        on = [k for k, b in enumerate(first.binders) if b not in gone]
        sides: list[ir.Block] = []
        for (_, side), (params, back) in zip(scopes(e), scopes(other), strict=True):
            atoms = dict(zip(first.binders, side.results, strict=True))
            results: dict[ir.Atom, ir.Atom] = {**atoms}
            made: dict[ir.Atom, ir.Expr] = {b: let.expr for let in side.lets for b in let.binders}
            for p, record in zip(params, gone, strict=True):
                injected = made[results[record]]
                assert isinstance(injected, ir.Inject)
                atoms[p] = injected.value
                self.joiner.know((injected.value,), side.lets)
            block = ir.Block(side.lets, tuple([side.results[k] for k in on]))
            sides.append(self.joiner.block(block, renamed(back, atoms)))
        binders = (*[first.binders[k] for k in on], *second.binders)
        return ir.Let(binders, ir.If(e.condition, *sides), second.span)

    def loop(self, first: ir.Let, e: ir.Loop, second: ir.Let, other: ir.Loop) -> ir.Let:
        """A loop of both: the pullback of an iteration reads what that iteration has computed."""
        n, m = len(e.carries), len(other.carries)
        rows: dict[ir.Atom, ir.Atom] = dict(zip(first.binders[n:], e.body.results[n:], strict=True))
        atoms: dict[ir.Var, ir.Atom] = {other.index: e.index}
        atoms |= {scan.param: rows[a] for scan in other.scans if (a := scan.array) in rows}
        scans = (*e.scans, *[scan for scan in other.scans if scan.array not in rows])
        kept = [v for v in first.binders[n:] if self.readers[v] > 1 or v not in self.reads[second]]
        primal = ir.Block(e.body.lets, (*e.body.results[:n], *[rows[v] for v in kept]))
        body = self.joiner.block(primal, renamed(other.body, atoms))
        given, taken = body.results[: n + len(kept)], body.results[n + len(kept) :]
        body = ir.Block(body.lets, (*given[:n], *taken[:m], *given[n:], *taken[m:]))
        carries, inits = (*e.carries, *other.carries), (*e.inits, *other.inits)
        binders = (*first.binders[:n], *second.binders[:m], *kept, *second.binders[m:])
        return ir.Let(binders, ir.Loop(e.trips, e.index, carries, inits, scans, body, e.down), second.span)
