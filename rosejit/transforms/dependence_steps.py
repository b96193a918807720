"""Single lets, without the forms that hold blocks, to what they do to what is known of values (`lattice.py`)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.failure import FAULTS
from rosejit.ir.types import BOOL, INT, TAN, Array, Sum, Type, fields_of, is_linear
from rosejit.ir.walk import scopes
from rosejit.transforms.lattice import (
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
    matters,
    zero,
)

Env = dict[ir.Atom, Known]
Step = Callable[[Env], None]
DEEPEST = 100
"""Calls inside each other that are followed: each takes several of Python's."""


class TooDeep(Exception):
    """A recursion that does not end here, or not soon."""


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


class Steps:
    """Makes of each let what it does to what is known; blocks are made ready once."""

    def __init__(self) -> None:
        self.blocks: dict[int, tuple[ir.Block, Prepared]] = {}
        self.journals: list[Journal] = []
        self.depth = 0

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
        if isinstance(e, ir.Apply):
            return self.apply(binders[0], e) if matters(binders[0].type) else None
        if isinstance(e, ir.Check):
            return None
        if isinstance(e, ir.Add):
            return self.add(e) if matters(e.value.type) else None
        if not scopes(e) and not isinstance(e, ir.Call) and not any(matters(b.type) for b in binders):
            return None
        make: Callable[[tuple[ir.Var, ...], Any], Step] = getattr(self, f"_{type(e).__name__.lower()}")
        return make(binders, e)

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

    def _copy(self, binders: tuple[ir.Var, ...], e: ir.Copy) -> Step:
        return lambda env: env.__setitem__(binders[0], copied(env[e.value]))

    def _zero(self, binders: tuple[ir.Var, ...], e: ir.Zero) -> Step:
        (y,) = binders
        return lambda env: env.__setitem__(y, zero(y.type, None if e.like is None else env[e.like]))

    def _maketuple(self, binders: tuple[ir.Var, ...], e: ir.MakeTuple) -> Step:
        return lambda env: env.__setitem__(binders[0], values_of(env, e.items))

    def _makearray(self, binders: tuple[ir.Var, ...], e: ir.MakeArray) -> Step:
        return lambda env: env.__setitem__(binders[0], values_of(env, e.items))

    def _untuple(self, binders: tuple[ir.Var, ...], e: ir.Untuple) -> Step:
        return lambda env: env.update(zip(binders, env[e.value], strict=True))

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
