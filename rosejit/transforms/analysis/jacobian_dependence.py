"""Jacobian sparsity: which tangent inputs each tangent result of a function depends on.

Abstract interpretation over the domain of `abstract_values`. Loops whose trip count is known are walked iteration by
iteration, with the values of their indices; of a condition that is not known both sides count, and a loop that may end
at any iteration is walked to a fixpoint. So no entry is missed; too many are found only where a branch or an index
depends on real numbers, or on what a host function gives.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.failure import FAULTS
from rosejit.ir.types import BOOL, INT, TAN, Array, Sum, Type, fields_of, is_linear
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.analysis.abstract_values import (
    ABSENT,
    Either,
    Join,
    Known,
    Many,
    Places,
    anything,
    copied,
    elements_of,
    join_of,
    joined,
    lists_in,
    matters,
    zero,
)

Env = dict[ir.Atom, Known]
Step = Callable[[Env], None]
DEEPEST = 100
"""Calls inside each other that are followed: each takes several of Python's."""


class TooDeep(Exception):
    """A recursion that does not end here, or not soon; more iterations than are to be followed."""


class Journal:
    """What was written in lists, to be undone: the value before, by list and key."""

    def __init__(self) -> None:
        self.entries: dict[tuple[int, int], tuple[list[Known], int, Known, Join]] = {}

    def note(self, cells: list[Known], key: int, join: Join) -> None:
        """Remember what is there now, unless it was written before."""
        self.entries.setdefault((id(cells), key), (cells, key, cells[key], join))

    def undo(self) -> dict[tuple[int, int], tuple[list[Known], int, Known, Join]]:
        """Restore, and give what was there instead."""
        found = {at: (cells, key, cells[key], join) for at, (cells, key, _, join) in self.entries.items()}
        for cells, key, before, _ in self.entries.values():
            cells[key] = before
        return found


@dataclass(slots=True)
class Prepared:
    """A block made ready: what to do, and its results."""

    steps: list[Step]
    results: list[tuple[ir.Atom, bool]]

    def run(self, env: Env) -> list[Known]:
        """What is known of the results, from what `env` knows of the variables."""
        for step in self.steps:
            step(env)
        return [env[a] if matters_ else None for a, matters_ in self.results]


class _Constants(dict[ir.Atom, Known]):
    """The values of variables; literals are made when they are read."""

    def __missing__(self, a: ir.Atom) -> Known:
        assert isinstance(a, ir.Lit), f"{a!r} is not known"
        value = self[a] = 0 if a.type is TAN else a.value
        return value


class Steps(ABC):
    """Makes of each let what it does to what is known; blocks are made ready once."""

    def __init__(self) -> None:
        self.blocks: dict[int, tuple[ir.Block, Prepared]] = {}
        self.journals: list[Journal] = []
        self.depth = 0
        self.spent = 0
        """Iterations of loops that were followed."""

    # --- functions and blocks

    def call(self, f: ir.Function, args: list[Known]) -> list[Known]:
        """What is known of the results of `f`. Raises TooDeep."""
        if f.body is None:
            return [anything(t) for t in f.results]
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        env: Env = _Constants(zip(f.params, args, strict=True))
        found = self.block(f.body).run(env)
        self.depth -= 1
        return found

    def block(self, block: ir.Block) -> Prepared:
        """The block made ready, once."""
        known = self.blocks.get(id(block))
        if known is None:
            steps = [step for let in block.lets if (step := self.step(let)) is not None]
            made = Prepared(steps, [(a, matters(a.type)) for a in block.results])
            known = self.blocks[id(block)] = (block, made)
        return known[1]

    def step(self, let: ir.Let) -> Step | None:
        """What a let does; None where nothing that it does is of interest."""
        e, binders = let.expr, let.binders
        if isinstance(e, ir.Control | ir.Call):
            return self.nested(binders, e)
        if isinstance(e, ir.Add):
            return self.add(e) if matters(e.value.type) else None
        return self.simple(binders, e) if any(matters(b.type) for b in binders) else None

    @abstractmethod
    def nested(self, binders: tuple[ir.Var, ...], e: ir.Control | ir.Call) -> Step:
        """A form with blocks, or a call."""

    def simple(self, binders: tuple[ir.Var, ...], e: ir.Simple) -> Step | None:
        """A form without blocks."""
        match e:
            case ir.Apply():
                return self.apply(binders[0], e)
            case ir.Index():
                return self._index(binders, e)
            case ir.Update():
                return self._update(binders, e)
            case ir.View():
                return self._view(binders, e)
            case ir.Accum():
                return self._accum(binders, e)
            case ir.Resolve():
                return self._resolve(binders, e)
            case ir.MakeTuple() | ir.MakeArray():
                return lambda env: env.__setitem__(binders[0], values_of(env, e.items))
            case ir.Untuple():
                return lambda env: env.update(zip(binders, env[e.value], strict=True))
            case ir.Inject():
                return self._inject(binders, e)
            case ir.Extract():
                return self._extract(binders, e)
            case ir.Copy():
                return lambda env: env.__setitem__(binders[0], copied(env[e.value]))
            case ir.Zero():
                return self._zero(binders, e)
            case ir.Add() | ir.Check():
                return None
            case _:
                return ir.assert_never(e)

    # --- numbers

    def apply(self, y: ir.Var, e: ir.Apply) -> Step:
        """A primitive: tangents depend on what their operands do, integers are computed."""
        args = e.args
        if y.type is TAN:
            read = [a for a in args if isinstance(a, ir.Var) and a.type is TAN]
            if len(read) == 1:
                (x,) = read

                def alias(env: Env) -> None:
                    env[y] = env[x]

                return alias

            def union(env: Env) -> None:
                found = 0
                for a in read:
                    found |= env[a]
                env[y] = found

            return union
        if not all(a.type in (INT, BOOL) for a in args):
            return lambda env: env.__setitem__(y, None)
        evaluate = e.op.evaluate

        def compute(env: Env) -> None:
            values = [env[a] for a in args]
            try:
                env[y] = None if None in values else evaluate(*values)
            except FAULTS:  # the run fails here, and has no derivative
                env[y] = None

        return compute

    # --- paths

    def reach(self, env: Env, base: Known, path: ir.Path) -> tuple[Places, bool]:
        """The places that `path` may mean, and whether it is the one that it finds and no other."""
        found: Places = []
        holders, sure = [base], True
        for n, step in enumerate(path):
            at = step.number if isinstance(step, ir.Field) else env[step]
            found = []
            for holder in holders:
                cells = elements_of(holder)
                if isinstance(holder, Many):
                    at, sure = 0, False
                keys = range(len(cells)) if at is None else (at,) if 0 <= at < len(cells) else ()
                found += [(cells, key) for key in keys]
            if n + 1 < len(path):
                holders = [cells[key] for cells, key in found]
        return found, sure and len(found) == 1

    def write(self, cells: list[Known], key: int, value: Known, join: Join) -> None:
        """Write in a list, and in the journals."""
        for journal in self.journals:
            journal.note(cells, key, join)
        cells[key] = value

    def _index(self, binders: tuple[ir.Var, ...], e: ir.Index) -> Step:
        (y,) = binders
        base, path, join = e.base, e.path, join_of(y.type)

        def anywhere(env: Env) -> None:
            values = [cells[key] for cells, key in self.reach(env, env[base], path)[0]]
            env[y] = joined(join, values) if values else zero(y.type)

        single, *others = path
        if others or isinstance(single, ir.Field):
            return anywhere

        def one(env: Env) -> None:
            cells, at = env[base], env[single]
            if cells.__class__ is list and at is not None and 0 <= at < len(cells):
                env[y] = cells[at]
            else:
                anywhere(env)

        return one

    def _update(self, binders: tuple[ir.Var, ...], e: ir.Update) -> Step:
        (y,) = binders
        join = join_of(e.value.type)

        def update(env: Env) -> None:
            base = env[y] = env[e.base]
            value = env[e.value]
            places, sure = self.reach(env, base, e.path)
            if sure:
                cells, key = places[0]
                self.write(cells, key, copied(value), join)
                return
            for cells, key in places:
                self.write(cells, key, join(cells[key], value), join)

        return update

    # --- places

    def _accum(self, binders: tuple[ir.Var, ...], e: ir.Accum) -> Step:
        return lambda env: env.__setitem__(binders[0], [([env[e.value]], 0)])

    def _resolve(self, binders: tuple[ir.Var, ...], e: ir.Resolve) -> Step:
        def resolve(env: Env) -> None:
            ((cells, key),) = env[e.place]
            env[binders[0]] = cells[key]

        return resolve

    def _view(self, binders: tuple[ir.Var, ...], e: ir.View) -> Step:
        def view(env: Env) -> None:
            env[binders[0]] = [p for cells, key in env[e.place] for p in self.reach(env, cells[key], e.path)[0]]

        return view

    def add(self, e: ir.Add) -> Step:
        """`+=`: to each place that is meant."""

        def add(env: Env) -> None:
            value = env[e.value]
            for cells, key in env[e.place]:
                self.spread(cells, key, value, e.value.type)

        return add

    def spread(self, cells: list[Known], key: int, value: Known, t: Type) -> None:
        """Add to a place, number by number: other places may be parts of it."""
        if t is TAN:
            if value | cells[key] != cells[key]:
                self.write(cells, key, value | cells[key], join_of(t))
            return
        if not is_linear(t) or value is ABSENT:
            return
        target = cells[key]
        if isinstance(t, Array):
            here, there = elements_of(target), elements_of(value)
            same = len(here) == len(there)
            for k, item in enumerate(there):
                self.spread(here, k if same else 0, item, t.element)
        elif isinstance(t, Sum):
            for k, side in enumerate((t.left, t.right)):
                self.spread(target.sides, k, value.sides[k], side)
        else:
            for k, field in enumerate(fields_of(t)):
                self.spread(target, k, value[k], field)

    # --- structures

    def _zero(self, binders: tuple[ir.Var, ...], e: ir.Zero) -> Step:
        (y,) = binders
        return lambda env: env.__setitem__(y, zero(y.type, None if e.like is None else env[e.like]))

    def _inject(self, binders: tuple[ir.Var, ...], e: ir.Inject) -> Step:
        def inject(env: Env) -> None:
            (value,) = values_of(env, (e.value,))
            env[binders[0]] = Either(ABSENT, value) if e.side else Either(value, ABSENT)

        return inject

    def _extract(self, binders: tuple[ir.Var, ...], e: ir.Extract) -> Step:
        (y,) = binders

        def extract(env: Env) -> None:
            side = env[e.value].sides[e.side]
            env[y] = zero(y.type) if side is ABSENT else side

        return extract


def values_of(env: Env, atoms: tuple[ir.Atom, ...]) -> list[Known]:
    """What is known of `atoms`; of what does not matter None."""
    return [env[a] if matters(a.type) else None for a in atoms]


__all__ = ["TooDeep", "dependences"]


def dependences(f: ir.Function, args: list[Known], most: float = math.inf) -> list[Known]:
    """What is known of the results of `f`. Raises TooDeep, also where more than so many iterations were followed."""
    return _Analysis(most).call(f, args)


class _Analysis(Steps):
    def __init__(self, most: float) -> None:
        super().__init__()
        self.most = most

    def spend(self, iterations: int) -> None:
        """Raise TooDeep where this is too much."""
        self.spent += iterations
        if self.spent > self.most:
            raise TooDeep

    # --- calls and branches

    def nested(self, binders: tuple[ir.Var, ...], e: ir.Control | ir.Call) -> Step:
        """A form with blocks, or a call."""
        match e:
            case ir.Call():
                return self._call(binders, e)
            case ir.If():
                return self._if(binders, e)
            case ir.Case():
                return self._case(binders, e)
            case ir.Loop():
                return self._loop(binders, e)
            case ir.While():
                return self._while(binders, e)
            case _:
                return ir.assert_never(e)

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
            self.spend(trips)
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
        """An iteration of which it is not known which one it is."""
        env[e.index] = None
        for s in e.scans:
            if matters(s.param.type):
                rows = elements_of(env[s.array])
                env[s.param] = joined(join_of(s.param.type), rows) if rows else zero(s.param.type)
        return body.run(env)

    def _while(self, binders: tuple[ir.Var, ...], e: ir.While) -> Step:
        condition, body, n = self.block(e.condition), self.block(e.body), len(e.carries)

        def loop(env: Env) -> None:
            state, count = values_of(env, e.inits), 0
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
                    env.update(zip(binders, (count, *state, *rows), strict=True))
                    return
                self.spend(1)
                found = body.run(env)
                state, count = found[:n], count + 1
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
        iteration: Callable[[], list[Known]],
        before: Sequence[list[Known]] = (),
    ) -> None:
        """Any number of iterations: one more is tried until it adds nothing. `before` has the rows of sure
        iterations.
        """
        n, joins = len(carries), [join_of(c.type) for c in carries]
        changed = True
        outputs: list[Known] = []
        outside = lists_in(list(env.values()))
        while changed:
            env.update(zip(carries, state, strict=True))
            outside |= lists_in(state)
            journal, found = self.tried(iteration)
            changed = False
            for cells, key, held, join in journal.entries.values():
                merged = join(held, cells[key])
                changed |= merged != held and id(cells) in outside  # others were made in this iteration
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
