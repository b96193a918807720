"""A program into one in which functions that are called once, or are small, stand where they were called."""

from collections import Counter

from rosejit.ir import syntax as ir
from rosejit.ir.walk import Renaming, lets, reachable, rebuild, size

SMALL = 12
"""Lets up to which a copy costs less than a call (1.15 ns) and the code that makes it."""
LARGE = 3000
"""Lets from which a function gets nothing inlined: it runs as fast without, and compiles faster."""


def inline(roots: tuple[ir.Function, ...]) -> dict[ir.Function, ir.Function]:
    """New functions for all that `roots` reach. Recursive functions, host functions and whole-program roots stay."""
    program = reachable(*roots)
    calls: Counter[ir.Function] = Counter()
    for f in program:
        if f.body is not None:
            calls.update(let.expr.function for let in lets(f.body) if isinstance(let.expr, ir.Call))
    order = {f: k for k, f in enumerate(program)}
    new: dict[ir.Function, ir.Function] = {}
    sizes: dict[ir.Function, int] = {}
    recursive = _recursive(program, order)
    for f in program:
        if f.body is None:
            new[f] = f
            continue
        new[f] = ir.Function(f.name, f.params, f.results, None, f.own, None, f.rule, f.checkpoint, f.span)
    for f in program:
        if f.body is None:
            continue
        inlined = {
            g
            for g in calls
            if g in sizes and g not in recursive and (sizes[g] <= SMALL or (calls[g] == 1 and sizes[g] <= LARGE))
        }
        sizes[f] = size(f)
        new[f].body = _Inliner(new, inlined if sizes[f] <= LARGE else set()).block(f.body)
        sizes[f] = size(new[f])
    return new


def _recursive(program: list[ir.Function], order: dict[ir.Function, int]) -> set[ir.Function]:
    """Functions with a call that goes back in the order of callees first: one at least on every cycle."""
    found: set[ir.Function] = set()
    for f in program:
        for let in lets(f.body) if f.body is not None else ():
            if isinstance(let.expr, ir.Call) and order[let.expr.function] >= order[f]:
                found |= {f, let.expr.function}
    return found


class _Inliner:
    def __init__(self, new: dict[ir.Function, ir.Function], inlined: set[ir.Function]) -> None:
        self.new = new
        self.inlined = inlined
        self.atoms: dict[ir.Var, ir.Atom] = {}

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a) if isinstance(a, ir.Var) else a

    def block(self, block: ir.Block) -> ir.Block:
        done: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                args = tuple([self.atom(a) for a in e.args]) if self.atoms else e.args
                done.append(let if args == e.args else ir.Let(let.binders, ir.Apply(e.op, args), let.span))
                continue
            changed = rebuild(e, self.atom, block=self.block)
            if isinstance(changed, ir.Call):
                if changed.function in self.inlined:
                    self.copy(let, changed, done)
                    continue
                changed.function = self.new[changed.function]
            done.append(ir.Let(let.binders, changed, let.span))
        return ir.Block(done, tuple([self.atom(a) for a in block.results]))

    def copy(self, let: ir.Let, e: ir.Call, done: list[ir.Let]) -> None:
        """The body of the callee, in new names, in place of the call."""
        f = self.new[e.function]
        assert f.body is not None
        renaming = Renaming(dict(zip(f.params, e.args, strict=True)))
        done += [renaming.let(inner) for inner in f.body.lets]
        for b, a in zip(let.binders, f.body.results, strict=True):
            self.atoms[b] = renaming.atom(a)
