"""Drops lets whose results nobody reads, dead results of branches, and dead carries and outputs of loops."""

from collections.abc import Callable
from functools import cache, partial
from typing import TypeVar

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import operands, scopes, writes
from rosejit.ir.types import Ref, is_linear
from rosejit.transforms.analysis.effects import bases, fails_or_acts


def dce(f: ir.Function) -> ir.Function:
    """`f` without dead code; the same object where there is none."""
    if f.body is None:
        return f
    sweep = _DeadCodeElimination({p for p in f.params if isinstance(p.type, Ref)}, cache(partial(bases, f.body)))
    body = sweep.block(f.body, f.body.results)
    if not sweep.dropped:
        return f
    return f.with_body(body)


def without_dead_tangents(f: ir.Function) -> ir.Block:
    """The body of `f` without tangents that nobody reads, as those of numbers that are only compared; all else stays.

    Their factors would be kept for the way back, in slots that the sides of a branch share: a second derivative then
    takes the factor, which may be infinite, times the zero cotangent that came back to the slot.
    """
    assert f.body is not None
    live: set[ir.Var] = set(f.params)
    pending = [f.body]
    while pending:
        for let in pending.pop().lets:
            live.update([b for b in let.binders if not is_linear(b.type)])
            for params, inner in scopes(let.expr):
                live.update([p for p in params if not is_linear(p.type)])
                pending.append(inner)
    sweep = _DeadCodeElimination(live, cache(partial(bases, f.body)))
    body = sweep.block(f.body, f.body.results)
    return body if sweep.dropped else f.body


_Carried = tuple[list[bool], ir.Block]


class _DeadCodeElimination:
    """One backward sweep; `live` holds what is read later, a place too if what is added to it matters. Few functions
    have places, so `bases` are only looked for when they are asked for."""

    def __init__(self, live: set[ir.Var] | set[ir.Atom], bases: Callable[[], dict[ir.Atom, ir.Atom]]) -> None:
        self.live: set[ir.Atom] = set(live)
        self.bases = bases
        self.dropped = 0
        self.found: dict[tuple[ir.Var, ...], list[bool]] = {}
        """Which carries of a loop mattered when less was live: they matter now."""

    def block(self, block: ir.Block, results: tuple[ir.Atom, ...]) -> ir.Block:
        """`block` giving only `results`."""
        live = self.live
        live.update(results)
        backwards: list[ir.Let] = []
        for let in reversed(block.lets):
            e = let.expr
            if type(e) is ir.Apply:
                if let.binders[0] in live or e.op.failure:
                    live.update(e.args)
                    backwards.append(let)
                else:
                    self.dropped += 1
            elif type(e) is ir.Index and let.binders[0] in live:
                live.update(operands(e))
                backwards.append(let)
            elif self.needed(let):
                backwards.append(self.kept(let))
            else:
                self.dropped += 1
        backwards.reverse()
        return ir.Block(backwards, results)

    def needed(self, let: ir.Let) -> bool:
        if any([b in self.live for b in let.binders]) or fails_or_acts(let.expr):
            return True
        if any([self.place_matters(p) for p in writes(let.expr)]):
            return True
        return any(self.needed(inner) for _, block in scopes(let.expr) for inner in block.lets)

    def place_matters(self, place: ir.Atom) -> bool:
        while place not in self.live and place in (bases := self.bases()):
            place = bases[place]
        return place in self.live

    def kept(self, let: ir.Let) -> ir.Let:
        e = let.expr
        live = self.live
        if isinstance(e, ir.Simple | ir.Call):
            live.update(operands(e))
            return let
        match e:
            case ir.If(condition=condition):
                on = self.wanted(let)
                then, orelse = (self.block(side, where(side.results, on)) for side in (e.then, e.orelse))
                live.add(condition)
                return ir.Let(where(let.binders, on), ir.If(condition, then, orelse), let.span)
            case ir.Case():
                on = self.wanted(let)
                sides = [
                    ir.Branch(s.params, self.block(s.block, where(s.block.results, on))) for s in (e.left, e.right)
                ]
                live.update(e.scrutinees)
                return ir.Let(where(let.binders, on), ir.Case(e.scrutinees, sides[0], sides[1]), let.span)
            case ir.Loop():
                return self.loop(let, e)
            case ir.While():
                return self.whilst(let, e)
            case _:
                return ir.assert_never(e)

    def wanted(self, let: ir.Let) -> list[bool]:
        on = [b in self.live for b in let.binders]
        self.dropped += len(on) - sum(on)
        return on

    def carries(self, carries: tuple[ir.Var, ...], finals: tuple[ir.Var, ...], body: ir.Block) -> _Carried:
        """Which carries matter, those read after the loop and those that the body needs for what matters, and the body
        that gives these. It is looked at until nothing is found that is new, and what the last look made is the body:
        another one would be two for each loop around."""
        on = [x in self.live for x in finals]
        if carries in self.found:
            on = [a or b for a, b in zip(on, self.found[carries], strict=True)]
        while not all(on):
            probe = _DeadCodeElimination(self.live, self.bases)
            probe.found = self.found
            new = probe.block(body, where(body.results[: len(carries)], on) + body.results[len(carries) :])
            found = [a or c in probe.live for a, c in zip(on, carries, strict=True)]
            if found == on:
                self.live.update(probe.live)
                self.dropped += probe.dropped
                return on, new
            on = self.found[carries] = found
        return on, self.block(body, body.results)

    def loop(self, let: ir.Let, e: ir.Loop) -> ir.Let:
        live, n = self.live, len(e.carries)
        stacked = [b in live for b in let.binders[n:]]
        body = ir.Block(e.body.lets, e.body.results[:n] + where(e.body.results[n:], stacked))
        on, new = self.carries(e.carries, let.binders[:n], body)
        scans = tuple([s for s in e.scans if s.param in live])
        inits = where(e.inits, on)
        self.dropped += len(on) - sum(on) + len(stacked) - sum(stacked) + len(e.scans) - len(scans)
        live.update((e.trips, *inits, *[s.array for s in scans]))
        loop = ir.Loop(e.trips, e.index, where(e.carries, on), inits, scans, new, e.down)
        return ir.Let(where(let.binders[:n], on) + where(let.binders[n:], stacked), loop, let.span)

    def whilst(self, let: ir.Let, e: ir.While) -> ir.Let:
        live, n = self.live, len(e.carries)
        condition = self.block(e.condition, e.condition.results)
        outputs = let.binders[1 + n :]
        stacked = [b in live for b in outputs]
        body = ir.Block(e.body.lets, e.body.results[:n] + where(e.body.results[n:], stacked))
        on, new = self.carries(e.carries, let.binders[1 : 1 + n], body)
        inits = where(e.inits, on)
        self.dropped += len(on) - sum(on) + len(stacked) - sum(stacked)
        live.update(inits)
        binders = let.binders[:1] + where(let.binders[1 : 1 + n], on) + where(outputs, stacked)
        return ir.Let(binders, ir.While(where(e.carries, on), inits, condition, new), let.span)


Item = TypeVar("Item")


def where(items: tuple[Item, ...], on: list[bool]) -> tuple[Item, ...]:
    """The `items` whose flag is set."""
    return tuple([item for item, keep in zip(items, on, strict=True) if keep])
