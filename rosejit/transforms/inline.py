"""A program into one in which functions that are called once, or are small, stand where they were called."""

from collections import Counter

from rosejit.ir import syntax as ir
from rosejit.ir.types import is_heavy
from rosejit.ir.walk import Renaming, lets, operands, reachable, rebuild, scopes

SMALL = 12
"""Lets up to which a copy costs less than a call (1.15 ns) and the code that makes it."""
LARGE = 3000
"""Lets from which a function gets nothing inlined: it runs as fast without, and compiles faster."""


def inline(roots: tuple[ir.Function, ...]) -> dict[ir.Function, ir.Function]:
    """New functions for `roots` and all that they still call, callees first where there is no cycle. Recursive
    functions, host functions and roots of whole programs stay."""
    program = reachable(*roots)
    surveys = {f: _survey(f) for f in program}
    times = Counter(g for called, _ in surveys.values() for g in called)
    recursive = _recursive(program, surveys)
    new = {f: f if f.body is None else _empty(f) for f in program}
    sizes: dict[ir.Function, int] = {}
    remaining: dict[ir.Function, list[ir.Function]] = {}
    for f, (called, count) in surveys.items():
        if f.body is None:
            remaining[f] = []
            continue
        fits = {g for g in called if g in sizes and g not in recursive} if count <= LARGE else set[ir.Function]()
        once = {g for g in fits if times[g] == 1 and sizes[g] <= LARGE}
        inlined = once | {g for g in fits if sizes[g] <= SMALL}
        new[f].body = _Inliner(f, new, inlined, once).block(f.body) if called else f.body
        sizes[f] = count + sum([sizes[g] - 1 for g in called if g in inlined])
        remaining[f] = [h for g in called for h in (remaining[g] if g in inlined else [g])]
    return {f: new[f] for f in _closure(roots, remaining)}


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


def _empty(f: ir.Function) -> ir.Function:
    return ir.Function(f.name, f.params, f.results, None, f.own, None, f.rule, f.checkpoint, f.span)


Survey = tuple[list[ir.Function], int]


def _survey(f: ir.Function) -> Survey:
    """What `f` calls, as often as it does, and how many lets it has."""
    called: list[ir.Function] = []
    lets = 0
    pending = [] if f.body is None else [f.body]
    while pending:
        block = pending.pop()
        lets += len(block.lets)
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                continue
            if isinstance(e, ir.Call):
                called.append(e.function)
            pending += [inner for _, inner in scopes(e)]
    return called, lets


def _recursive(program: list[ir.Function], surveys: dict[ir.Function, Survey]) -> set[ir.Function]:
    """Functions with a call that goes back in the order of callees first: one at least on every cycle."""
    order = {f: k for k, f in enumerate(program)}
    return {h for f in program for g in surveys[f][0] if order[g] >= order[f] for h in (f, g)}


class _Inliner:
    """Puts the bodies of `inlined` in place of their calls in `f`. Callees that are called `once` keep their variables,
    but for those that another half of the same function has brought along before."""

    def __init__(
        self,
        f: ir.Function,
        new: dict[ir.Function, ir.Function],
        inlined: set[ir.Function],
        once: set[ir.Function],
    ) -> None:
        self.new = new
        self.inlined = inlined
        self.once = once
        self.atoms: dict[ir.Atom, ir.Atom] = {}
        self.tuples: dict[ir.Atom, tuple[ir.Atom, ...]] = {}
        self.bound = set(f.params)
        if once and f.body is not None:
            self.bound.update([b for let in lets(f.body) for b in let.binders])

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        done: list[ir.Let] = []
        get = self.atoms.get
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                args = tuple(map(get, e.args, e.args))
                done.append(let if args == e.args else ir.Let(let.binders, ir.Apply(e.op, args), let.span))
                continue
            changed = rebuild(e, self.atom, block=self.block)
            if isinstance(changed, ir.Call):
                if changed.function in self.inlined:
                    self.inline(let, changed, done)
                    continue
                changed.function = self.new[changed.function]
            done.append(ir.Let(let.binders, changed, let.span))
        return ir.Block(done, tuple(map(get, block.results, block.results)))

    def inline(self, let: ir.Let, call: ir.Call, done: list[ir.Let]) -> None:
        """The body of the callee in place of the call."""
        f, keep, bound = self.new[call.function], call.function in self.once, self.bound
        assert f.body is not None
        renaming = Renaming(dict(zip(f.params, call.args, strict=True)))
        get = renaming.atoms.get
        for inner in f.body.lets:
            e = inner.expr
            if keep and isinstance(e, ir.Apply) and inner.binders[0] not in bound:
                bound.add(inner.binders[0])
                args = tuple(map(get, e.args, e.args))
                done.append(inner if args == e.args else ir.Let(inner.binders, ir.Apply(e.op, args), inner.span))
            elif isinstance(e, ir.Index) and (found := self.field(inner, e, get(e.base, e.base))) is not None:
                renaming.atoms[inner.binders[0]] = found
            else:
                done.append(renaming.let(inner))
                if isinstance(e, ir.MakeTuple):
                    self.tuples[done[-1].binders[0]] = operands(done[-1].expr)
        self.atoms.update(zip(let.binders, map(get, f.body.results, f.body.results), strict=True))

    def field(self, let: ir.Let, e: ir.Index, base: ir.Atom) -> ir.Atom | None:
        """The number that `let` takes from a tuple `base`, if that was made here: how residuals are handed on."""
        items, step = self.tuples.get(base), e.path[0]
        if items is None or is_heavy(let.binders[0].type) or len(e.path) > 1:
            return None
        assert isinstance(step, ir.Field)
        return items[step.number]
