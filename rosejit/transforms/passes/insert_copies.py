"""Inserts the copies that make a program obey the rules of ownership (docs/ir.md), and changes nothing else.

A value is copied before a consumption when it is borrowed, is read later, or occurs twice. Where only a view of it is
read later, that view is copied where it is bound: a row, not the matrix. Places are left alone. One sweep backwards
finds the copies, with what is live; a second one, forwards, puts them in.
"""

from itertools import count

from rosejit.ir import syntax as ir
from rosejit.ir.facts import FACTS
from rosejit.ir.traversal import callees, operands, rebuild, scopes, views
from rosejit.ir.types import is_boxed


def insert_copies(f: ir.Function) -> ir.Function:
    """`f` with its copies, calling functions with theirs; `f` itself where nothing was missing in all of these."""
    if "own" not in f.derived:
        _insert_all_copies(_closure(f))
    made: ir.Function = f.derived["own"]
    return made


def known_owned(f: ir.Function) -> ir.Function:
    """`f`, which is known to have all copies."""
    f.derived["own"] = f
    return f


def body_with_copies(f: ir.Function) -> ir.Block:
    """The body of `f` with its copies; for passes that are making `f`."""
    assert f.body is not None
    plan = _plan(f)
    return _Insertion(plan, {}).block(f.body) if plan.copies or plan.detached else f.body


Closure = dict[ir.Function, list[ir.Function]]


def _closure(f: ir.Function) -> Closure:
    """`f` and all it reaches that have not been looked at, each with what it reaches directly, by its rule too."""
    found: Closure = {}
    todo = [f]
    while todo:
        g = todo.pop()
        if g not in found and (g is f or "own" not in g.derived):
            found[g] = [*callees(g), *([g.rule] if g.rule is not None else [])]
            todo += found[g]
    return found


def _insert_all_copies(functions: Closure) -> None:
    plans: dict[ir.Function, _CopyPlan] = {}
    users: dict[ir.Function, list[ir.Function]] = {}
    changed: list[ir.Function] = []
    for f, used in functions.items():
        plan = plans[f] = _plan(f)
        for g in used:
            users.setdefault(g, []).append(f)
        if plan.copies or plan.detached or any(g.derived.get("own", g) is not g for g in used):
            changed.append(f)
    new: dict[ir.Function, ir.Function] = {}
    while changed:
        f = changed.pop()
        if f not in new:
            new[f] = f.with_body(None)
            changed += users.get(f, [])
    for f in functions:
        made = f.derived["own"] = new.get(f, f)
        made.derived["own"] = made
    for f, made in new.items():
        made.rule = None if f.rule is None else f.rule.derived["own"]
        if f.body is not None:
            made.body = _Insertion(plans[f], {g: g.derived["own"] for g in functions[f]}).block(f.body)


def consumed_positions(e: ir.Expr) -> list[int]:
    """Which of `operands(e)` are boxed and consumed."""
    numbers = FACTS[e.__class__].consumed(e)
    if not numbers:
        return []
    atoms = operands(e)
    return [i for i in numbers if is_boxed(atoms[i].type)]


def _may_copy(body: ir.Block) -> bool:
    """Whether anything boxed is consumed at all: straight-line code of numbers need not be looked at closely."""
    if any([is_boxed(a.type) for a in body.results]):
        return True
    return any(
        [
            bool(scopes(let.expr)) or bool(consumed_positions(let.expr))
            for let in body.lets
            if not isinstance(let.expr, ir.Apply | ir.Index)
        ]
    )


class _CopyPlan:
    """What is to be copied: operands and results by position, and views where they are bound."""

    def __init__(self) -> None:
        self.copies: dict[ir.Let | int, set[int]] = {}  # at a let, or (by identity) at the end of a block
        self.detached: set[ir.Var] = set()
        self._views: dict[ir.Var, list[ir.Var]] = {}  # of a variable: the ones that are directly into it
        self._is_view: set[ir.Var] = set()
        self._owner: dict[ir.Var, int] = {}  # the region (function, loop body) whose block may consume it
        self._region = 0
        self._regions = count(1)
        self._live: list[set[ir.Var]] = [set()]  # of the open blocks of this region
        self._borrowed: dict[ir.Var, list[tuple[ir.Let | int, int]]] = {}  # copied for no reason but being a view

    def function(self, f: ir.Function, body: ir.Block) -> None:
        """Fill the plan."""
        self._owner.update(dict.fromkeys(f.own, 0))
        self._block(body)

    # --- what is bound, forwards

    def _bind(self, let: ir.Let) -> None:
        for v, of in views(let):
            if isinstance(of, ir.Var) and is_boxed(v.type):
                self._views.setdefault(of, []).append(v)
                self._is_view.add(v)
                self._owner[v] = self._region
        for b in let.binders:
            self._owner[b] = self._region

    # --- what is read later, backwards

    def _block(self, block: ir.Block) -> None:
        for let in block.lets:
            if not isinstance(let.expr, ir.Apply):
                self._bind(let)
        boxed = [i for i, a in enumerate(block.results) if is_boxed(a.type)]
        self._consume(id(block), block.results, boxed, set())
        self._read(block.results)
        for let in reversed(block.lets):
            e = let.expr
            if isinstance(e, ir.Apply):
                continue
            if isinstance(e, ir.Index) and not is_boxed(let.binders[0].type):
                self._read((e.base,))
            else:
                self._let(let)

    def _read(self, atoms: tuple[ir.Atom, ...]) -> None:
        self._live[-1].update([a for a in atoms if isinstance(a, ir.Var) and is_boxed(a.type)])

    def _let(self, let: ir.Let) -> None:
        e = let.expr
        self._live[-1].difference_update(let.binders)
        captured = self._inside(e) if isinstance(e, ir.Control) else set[ir.Var]()
        atoms = operands(e)
        taken = consumed_positions(e)
        if taken:
            others = captured.union([a for i, a in enumerate(atoms) if i not in taken and isinstance(a, ir.Var)])
            self._consume(let, atoms, taken, others)
        self._read(atoms)
        self._live[-1] |= captured

    def _inside(self, e: ir.Control) -> set[ir.Var]:
        match e:
            case ir.If() | ir.Case():
                return self._sides(e)
            case ir.Loop() | ir.While():
                return self._loop(e)
            case _:
                return ir.assert_never(e)

    def _sides(self, e: ir.Branching) -> set[ir.Var]:
        """What the blocks of `e` read is live where it stands; nothing is captured that they may not consume."""
        read: set[ir.Var] = set()
        for params, block in scopes(e):
            self._live.append(set())
            self._block(block)
            read |= self._live.pop().difference(params)
        self._live[-1] |= read
        return set()

    def _loop(self, e: ir.Looping) -> set[ir.Var]:
        """The variables that the blocks of `e` capture: none of them is consumed inside, so nothing is live there."""
        outside = self._region, self._live
        captured: set[ir.Var] = set()
        for params, block in reversed(scopes(e)):
            self._region, self._live = next(self._regions), [set()]
            if block is e.body:
                self._owner.update(dict.fromkeys(params, self._region))
            self._block(block)
            captured |= self._live[0].difference(params)
        self._region, self._live = outside
        return captured

    # --- what is consumed

    def _consume(
        self, site: ir.Let | int, atoms: tuple[ir.Atom, ...], positions: list[int], others: set[ir.Var]
    ) -> None:
        seen: set[ir.Var] = set()
        for i in positions:
            v = atoms[i]
            assert isinstance(v, ir.Var)
            if v in seen or v in others or self._owner.get(v) != self._region or self._is_live(v):
                self.copies.setdefault(site, set()).add(i)
            elif v in self._is_view and v not in self.detached:
                self.copies.setdefault(site, set()).add(i)
                if not self._read_views(v, others):
                    self._borrowed.setdefault(v, []).append((site, i))
            else:
                for w in self._read_views(v, others):
                    self._detach(w)
            seen.add(v)

    def _is_live(self, v: ir.Var) -> bool:
        return any([v in layer for layer in self._live])

    def _read_views(self, v: ir.Var, others: set[ir.Var]) -> list[ir.Var]:
        """The views into `v` that are read later or at once; views into these are left out."""
        found: list[ir.Var] = []
        todo = [v]
        while todo:
            for w in self._views.get(todo.pop(), ()):
                if w in others or self._is_live(w):
                    found.append(w)
                elif w not in self.detached:
                    todo.append(w)
        return [w for w in found if w not in self.detached]

    def _detach(self, view: ir.Var) -> None:
        """Copy `view` where it is bound: it is owned then, and what borrowed it may have it."""
        self.detached.add(view)
        for site, i in self._borrowed.pop(view, ()):
            self.copies[site].discard(i)


_NOTHING = _CopyPlan()


def _plan(f: ir.Function) -> _CopyPlan:
    """What is to be copied in `f`."""
    if f.body is None or not _may_copy(f.body):
        return _NOTHING
    plan = _CopyPlan()
    plan.function(f, f.body)
    return plan


class _Insertion:
    """Makes blocks with the copies of a plan, and with calls of `functions` in their new form."""

    def __init__(self, plan: _CopyPlan, functions: dict[ir.Function, ir.Function]) -> None:
        self.plan = plan
        self.functions = functions

    def block(self, block: ir.Block) -> ir.Block:
        """A new block, of the same lets where nothing changes."""
        made: list[ir.Let] = []
        for let in block.lets:
            if isinstance(let.expr, ir.Apply):
                made.append(let)
            else:
                self._let(let, made)
        results = list(block.results)
        for i in sorted(self.plan.copies.get(id(block), ())):
            results[i] = _copy(results[i], None, made)
        return ir.Block(made, tuple(results))

    def _let(self, let: ir.Let, made: list[ir.Let]) -> None:
        new: dict[int, ir.Atom] = {}
        atoms = operands(let.expr)
        for i in sorted(self.plan.copies.get(let, ())):
            new[i] = _copy(atoms[i], let, made)
        expr = self._expr(let.expr, new)
        if let.binders and let.binders[0] in self.plan.detached:
            (v,) = let.binders
            view = ir.Var(v.type, v.hint, v.like)
            made += [ir.Let((view,), expr, let.span), ir.Let((v,), ir.Copy(view), let.span)]
        else:
            made.append(let if expr is let.expr else ir.Let(let.binders, expr, let.span))

    def _expr(self, e: ir.Expr, new: dict[int, ir.Atom]) -> ir.Expr:
        if isinstance(e, ir.Case):
            e = ir.Case(e.scrutinees, self._branch(e.left), self._branch(e.right))
        elif new or scopes(e):
            numbers = count()
            e = rebuild(e, lambda a: new.get(next(numbers), a), block=self.block)
        if isinstance(e, ir.Call) and self.functions.get(e.function, e.function) is not e.function:
            e = ir.Call(self.functions[e.function], e.args)
        return e

    def _branch(self, branch: ir.Branch) -> ir.Branch:
        block, params = self.block(branch.block), list(branch.params)
        for i, p in enumerate(params):
            if p in self.plan.detached:
                params[i] = ir.Var(p.type, p.hint, p.like)
                block.lets.insert(0, ir.Let((p,), ir.Copy(params[i])))
        return ir.Branch(tuple(params), block)


def _copy(a: ir.Atom, let: ir.Let | None, made: list[ir.Let]) -> ir.Var:
    assert isinstance(a, ir.Var)
    copy = ir.Var(a.type, a.hint, a.like)
    made.append(ir.Let((copy,), ir.Copy(a), None if let is None else let.span))
    return copy
