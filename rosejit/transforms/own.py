"""Inserts the copies that make a program obey the rules of ownership (docs/ir.md), and changes nothing else.

A value is copied before a consumption when it is borrowed, is read later, or is read or consumed elsewhere in the same let.
Where only a view of it is read later, that view is copied where it is bound: a row, not the matrix.
"""

from dataclasses import dataclass, field

from rosejit.ir import syntax as ir
from rosejit.ir.types import is_heavy
from rosejit.ir.walk import consumed, operands, rebuild


def own(f: ir.Function) -> ir.Function:
    """`f` itself where nothing was missing; memorised on `f`."""
    if "own" not in f.derived:
        f.derived["own"] = f
        if f.body is not None:
            pass_ = _Own()
            pass_.function(f)
            if pass_.copies:
                f.body = pass_.body
    return f.derived["own"]


@dataclass(slots=True)
class _Scope:
    """What a block may consume, and what is read after it."""

    owned: set[ir.Var]
    live: set[ir.Var]
    reads: set[ir.Var] = field(default_factory=set[ir.Var])
    """Everything that the block reads, its own variables too."""


class _Own:
    def __init__(self) -> None:
        self.copies = 0
        self.body = ir.Block([], ())
        self.bases: dict[ir.Var, ir.Var] = {}
        self.detached: set[ir.Var] = set()
        """Views that must be copied where they are bound."""

    def function(self, f: ir.Function) -> None:
        assert f.body is not None
        self.body = self.block(f.body, _Scope(set(f.own), set()))

    # --- views

    def chain(self, v: ir.Var) -> list[ir.Var]:
        """What `v` is a view of, nearest first."""
        found: list[ir.Var] = []
        while v in self.bases and v not in self.detached:
            v = self.bases[v]
            found.append(v)
        return found

    def views_of(self, v: ir.Var, among: set[ir.Var]) -> list[ir.Var]:
        return [w for w in among if w in self.bases and v in self.chain(w)]

    # --- blocks

    def block(self, block: ir.Block, scope: _Scope) -> ir.Block:
        for let in block.lets:
            self.introduce(let, scope)
        backwards: list[ir.Let] = []
        results = self.results(block.results, scope, backwards)
        for let in reversed(block.lets):
            self.let(let, scope, backwards)
        backwards.reverse()
        return ir.Block(backwards, results)

    def introduce(self, let: ir.Let, scope: _Scope) -> None:
        e = let.expr
        if isinstance(e, ir.Apply):
            return
        if isinstance(e, ir.Index):
            if is_heavy(let.binders[0].type) and isinstance(e.base, ir.Var):
                self.bases[let.binders[0]] = e.base
            return
        scope.owned.update([b for b in let.binders if is_heavy(b.type)])

    def results(self, atoms: tuple[ir.Atom, ...], scope: _Scope, backwards: list[ir.Let]) -> tuple[ir.Atom, ...]:
        """The results, each heavy one owned, distinct and no view; copies go behind the last let."""
        others = [a for a in atoms if isinstance(a, ir.Var) and is_heavy(a.type)]
        new: list[ir.Atom] = []
        consumed_here: set[ir.Var] = set()
        for k, a in enumerate(atoms):
            if isinstance(a, ir.Var) and is_heavy(a.type):
                rest = {w for w in others if w is not a}
                if a in consumed_here or not self.may_consume(a, scope, rest):
                    new.append(self.copy(a, backwards, None))
                else:
                    consumed_here.add(a)
                    new.append(a)
            else:
                new.append(atoms[k])
        self.read(atoms, scope)
        return tuple(new)

    def read(self, atoms: tuple[ir.Atom, ...], scope: _Scope) -> None:
        variables = [a for a in atoms if isinstance(a, ir.Var) and is_heavy(a.type)]
        scope.live.update(variables)
        scope.reads.update(variables)

    def copy(self, v: ir.Var, backwards: list[ir.Let], let: ir.Let | None) -> ir.Var:
        self.copies += 1
        new = ir.Var(v.type, v.hint, v.like)
        backwards.append(ir.Let((new,), ir.Copy(v), None if let is None else let.span))
        return new

    def may_consume(self, v: ir.Var, scope: _Scope, others: set[ir.Var]) -> bool:
        """Whether `v` may be consumed here; views of it that are read later are detached rather than `v` copied."""
        if v in self.bases and v not in self.detached:
            return False
        if v not in scope.owned or v in scope.live or v in others or self.views_of(v, others):
            return False
        for w in self.views_of(v, scope.live):
            nearest = [w, *self.chain(w)]
            self.detached.add(nearest[nearest.index(v) - 1])
        return True

    def let(self, let: ir.Let, scope: _Scope, backwards: list[ir.Let]) -> None:
        e = let.expr
        if isinstance(e, ir.Apply):
            backwards.append(let)
            return
        for b in let.binders:
            scope.live.discard(b)
        if let.binders and let.binders[0] in self.detached:
            self.copies += 1
            view = ir.Var(let.binders[0].type, let.binders[0].hint)
            backwards.append(ir.Let(let.binders, ir.Copy(view), let.span))
            let = ir.Let((view,), e, let.span)
        inside: set[ir.Var] = set()
        new = self.inner(e, scope, inside)
        taken = [a for a in consumed(e) if isinstance(a, ir.Var) and is_heavy(a.type)]
        before: list[ir.Let] = []
        if taken:
            new = self.consume(new, taken, inside, scope, before, let)
        backwards.append(let if new is e else ir.Let(let.binders, new, let.span))
        backwards += before
        self.read(operands(e), scope)
        scope.live |= inside
        scope.reads |= inside

    def consume(
        self,
        e: ir.Expr,
        taken: list[ir.Var],
        inside: set[ir.Var],
        scope: _Scope,
        before: list[ir.Let],
        let: ir.Let,
    ) -> ir.Expr:
        replacements: list[ir.Atom] = []
        reads = [a for a in operands(e) if isinstance(a, ir.Var)]
        for v in taken:
            reads.remove(v)
        seen: set[ir.Var] = set()
        for v in taken:
            others = {*reads, *inside, *seen, *(w for w in taken if w is not v)}
            allowed = v not in seen and self.may_consume(v, scope, others)
            seen.add(v)
            replacements.append(v if allowed else self.copy(v, before, let))
        if replacements == taken:
            return e
        return _with_consumed(e, replacements)

    def inner(self, e: ir.Expr, scope: _Scope, inside: set[ir.Var]) -> ir.Expr:
        """`e` with its blocks done; `inside` gets what they read."""
        match e:
            case ir.If() | ir.Case():
                if isinstance(e, ir.Case):
                    for branch in (e.left, e.right):
                        for p, s in zip(branch.params, e.scrutinees, strict=True):
                            if is_heavy(p.type) and isinstance(s, ir.Var):
                                self.bases[p] = s
                return rebuild(e, lambda a: a, block=lambda b: self.nested(b, set(scope.owned), scope.live, inside))
            case ir.Loop():
                owned = {c for c in e.carries if is_heavy(c.type)}
                owned |= {s.param for s in e.scans if s.consumes and is_heavy(s.param.type)}
                for s in e.scans:
                    if not s.consumes and is_heavy(s.param.type) and isinstance(s.array, ir.Var):
                        self.bases[s.param] = s.array
                return rebuild(e, lambda a: a, block=lambda b: self.nested(b, owned, set(), inside))
            case ir.While():
                owned = {c for c in e.carries if is_heavy(c.type)}
                self.nested(e.condition, set(), set(), inside)
                return ir.While(e.carries, e.inits, e.condition, self.nested(e.body, owned, set(), inside))
            case _:
                return e

    def nested(self, block: ir.Block, owned: set[ir.Var], live: set[ir.Var], inside: set[ir.Var]) -> ir.Block:
        inner = _Scope(owned, set(live))
        copies = self.copies
        done = self.block(block, inner)
        inside |= inner.reads
        return done if self.copies > copies else block


def _with_consumed(e: ir.Expr, new: list[ir.Atom]) -> ir.Expr:
    """`e` with the heavy operands that it consumes replaced, in order."""
    given = iter(new)

    def put(a: ir.Atom) -> ir.Atom:
        return next(given) if isinstance(a, ir.Var) and is_heavy(a.type) else a

    def put_all(atoms: tuple[ir.Atom, ...]) -> tuple[ir.Atom, ...]:
        return tuple([put(a) for a in atoms])

    match e:
        case ir.MakeTuple(items=items):
            return ir.MakeTuple(put_all(items))
        case ir.MakeArray(items=items):
            return ir.MakeArray(put_all(items))
        case ir.Untuple(value=value):
            return ir.Untuple(put(value))
        case ir.Inject(side=side, value=value):
            return ir.Inject(side, put(value))
        case ir.Extract(side=side, value=value):
            return ir.Extract(side, put(value))
        case ir.Accum(value=value):
            return ir.Accum(put(value))
        case ir.Update():
            return ir.Update(put(e.base), e.path, e.value, e.checked)
        case ir.Call(function=f, args=args):
            return ir.Call(f, tuple([put(a) if p in f.own else a for p, a in zip(f.params, args, strict=True)]))
        case ir.Loop():
            inits = put_all(e.inits)
            scans = tuple([ir.Scan(s.param, put(s.array), True) if s.consumes else s for s in e.scans])
            return ir.Loop(e.trips, e.index, e.carries, inits, scans, e.body, e.down)
        case ir.While():
            return ir.While(e.carries, put_all(e.inits), e.condition, e.body)
        case _:
            raise AssertionError(f"{type(e).__name__} consumes nothing")
