"""A function with tangents to the inputs that each of its tangent results depends on: the pattern of its Jacobian.

Loops whose number of turns is known are walked turn by turn, with the values of their indices; of a condition that is
not known both sides count, and a loop that may end at any turn is walked until nothing is added. So no entry is
missed; too many are found only where a branch or an index depends on real numbers, or on what a host function gives.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.types import Array
from rosejit.transforms.dependence_steps import Env, Journal, Prepared, Step, Steps, TooDeep, values_of
from rosejit.transforms.lattice import (
    ABSENT,
    Either,
    Known,
    Many,
    elements_of,
    join_of,
    joined,
    lists_in,
    matters,
    zero,
)

__all__ = ["TooDeep", "dependences"]


def dependences(f: ir.Function, args: list[Known]) -> list[Known]:
    """What is known of the results of `f`. Raises TooDeep."""
    return _Analysis().call(f, args)


class _Analysis(Steps):
    # --- calls and branches

    def _call(self, binders: tuple[ir.Var, ...], e: ir.Call) -> Step:
        return lambda env: env.update(zip(binders, self.call(e.function, values_of(env, e.args)), strict=True))

    def _if(self, binders: tuple[ir.Var, ...], e: ir.If) -> Step:
        then, orelse = self.block(e.then), self.block(e.orelse)

        def branch(env: Env) -> None:
            condition = env[e.condition]
            if condition is None:
                found = self.both(binders, lambda: then.run(env), lambda: orelse.run(env))
            else:
                found = (then if condition else orelse).run(env)
            env.update(zip(binders, found, strict=True))

        return branch

    def _case(self, binders: tuple[ir.Var, ...], e: ir.Case) -> Step:
        sides = [(k, side.params, self.block(side.block)) for k, side in enumerate((e.left, e.right))]

        def taken(env: Env, k: int, params: tuple[ir.Var, ...], block: Prepared) -> list[Known]:
            for p, s in zip(params, e.scrutinees, strict=True):
                env[p] = _payload(env[s], k)
            return block.run(env)

        def branch(env: Env) -> None:
            possible = [side for side in sides if _has(env[e.scrutinees[0]], side[0])]
            if len(possible) == 2:
                one, other = possible
                found = self.both(binders, lambda: taken(env, *one), lambda: taken(env, *other))
            elif possible:
                found = taken(env, *possible[0])
            else:
                found = [zero(b.type) for b in binders]
            env.update(zip(binders, found, strict=True))

        return branch

    def both(self, binders: tuple[ir.Var, ...], one: Callable[[], Any], other: Callable[[], Any]) -> list[Known]:
        """The results of two blocks of which one will run: what either writes may be written."""
        first, left = self.tried(one)
        after = first.undo()
        second, right = self.tried(other)
        for at, (cells, key, value, join) in after.items():
            second.entries.pop(at, None)
            self.write(cells, key, join(cells[key], value), join)
        for cells, key, before, join in second.entries.values():
            self.write(cells, key, join(cells[key], before), join)
        pairs = zip(binders, left, right, strict=True)
        return [a if a is b else join_of(v.type)(a, b) for v, a, b in pairs]

    def tried(self, run: Callable[[], Any]) -> tuple[Journal, Any]:
        """What `run` gives, and what it writes."""
        journal = Journal()
        self.journals.append(journal)
        try:
            return journal, run()
        finally:
            self.journals.pop()

    # --- loops

    def _loop(self, binders: tuple[ir.Var, ...], e: ir.Loop) -> Step:
        body, n = self.block(e.body), len(e.carries)
        scans = [s for s in e.scans if matters(s.param.type)]
        stacked = [matters(b.type) for b in binders[n:]]

        def loop(env: Env) -> None:
            trips, state = env[e.trips], values_of(env, e.inits)
            if trips is None or any(isinstance(env[s.array], Many) for s in scans):
                self.endless(env, binders, e.carries, state, lambda: self.any_row(env, e, body))
                return
            order = range(trips - 1, -1, -1) if e.down else range(trips)
            stacks: list[list[Known]] = [[] for _ in stacked]
            for k in order:
                env[e.index] = k
                for s in scans:
                    env[s.param] = env[s.array][k]
                env.update(zip(e.carries, state, strict=True))
                found = body.run(env)
                state = found[:n]
                for stack, value in zip(stacks, found[n:], strict=True):
                    stack.append(value)
            rows = [
                (stack[::-1] if e.down else stack) if on else None for stack, on in zip(stacks, stacked, strict=True)
            ]
            env.update(zip(binders, (*state, *rows), strict=True))

        return loop

    def any_row(self, env: Env, e: ir.Loop, body: Prepared) -> list[Known]:
        """A turn of which it is not known which one it is."""
        env[e.index] = None
        for s in e.scans:
            if matters(s.param.type):
                rows = elements_of(env[s.array])
                env[s.param] = joined(join_of(s.param.type), rows) if rows else zero(s.param.type)
        return body.run(env)

    def _while(self, binders: tuple[ir.Var, ...], e: ir.While) -> Step:
        condition, body, n = self.block(e.condition), self.block(e.body), len(e.carries)

        def loop(env: Env) -> None:
            state, turns = values_of(env, e.inits), 0
            stacks: list[list[Known]] = [[] for _ in binders[n + 1 :]]
            while True:
                env.update(zip(e.carries, state, strict=True))
                (more,) = condition.run(env)
                if more is None:
                    break
                if not more:
                    rows = [
                        stack if matters(b.type) else None for stack, b in zip(stacks, binders[n + 1 :], strict=True)
                    ]
                    env.update(zip(binders, (turns, *state, *rows), strict=True))
                    return
                found = body.run(env)
                state, turns = found[:n], turns + 1
                for stack, value in zip(stacks, found[n:], strict=True):
                    stack.append(value)
            env[binders[0]] = None
            self.endless(env, binders[1:], e.carries, state, lambda: (condition.run(env), body.run(env))[1], stacks)

        return loop

    def endless(
        self,
        env: Env,
        binders: tuple[ir.Var, ...],
        carries: tuple[ir.Var, ...],
        state: list[Known],
        turn: Callable[[], list[Known]],
        before: Sequence[list[Known]] = (),
    ) -> None:
        """Any number of turns: one more is tried until it adds nothing. `before` has the rows of sure turns."""
        n, joins = len(carries), [join_of(c.type) for c in carries]
        changed = True
        outputs: list[Known] = []
        outside = lists_in(list(env.values()))
        while changed:
            env.update(zip(carries, state, strict=True))
            outside |= lists_in(state)
            journal, found = self.tried(turn)
            changed = False
            for cells, key, held, join in journal.entries.values():
                merged = join(held, cells[key])
                changed |= merged != held and id(cells) in outside  # others were made in this turn
                self.write(cells, key, merged, join)
            merged_state = [a if a is b else join(a, b) for join, a, b in zip(joins, state, found[:n], strict=True)]
            changed |= merged_state != state
            state, outputs = merged_state, found[n:]
        env.update(zip(binders[:n], state, strict=True))
        for k, (b, value) in enumerate(zip(binders[n:], outputs, strict=True)):
            if isinstance(b.type, Array) and matters(b.type):
                rows = [*(before[k] if before else ()), value]
                env[b] = Many(joined(join_of(b.type.element), rows))


def _has(scrutinee: Known, k: int) -> bool:
    """Whether a sum, or one of the places of a sum, may be of a side."""
    if isinstance(scrutinee, Either):
        return scrutinee.sides[k] is not ABSENT
    return any(cells[key].sides[k] is not ABSENT for cells, key in scrutinee)


def _payload(scrutinee: Known, k: int) -> Known:
    """What a sum holds on a side; of the places of a sum the places of that."""
    if isinstance(scrutinee, Either):
        return scrutinee.sides[k]
    return [(cells[key].sides, k) for cells, key in scrutinee if cells[key].sides[k] is not ABSENT]
