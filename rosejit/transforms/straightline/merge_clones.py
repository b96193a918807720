"""Function merging: functions that differ in constants alone (clones) become one function, which takes these.

Host code that makes functions makes them alike: a term of an energy for each pair of shapes, say. Two of them are
clones if they are the same lets but for constants and for where they read arrays. Constants in which the clones do not
differ stay; those that differ in the same way are one parameter.
"""

from collections.abc import Iterator
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import callees, reachable, rebuild, within
from rosejit.ir.types import INT
from rosejit.transforms.straightline.op_rows import rows

LEAST = 12
"""Lets from which on a call costs less than a copy."""

MOST = 100
"""Parameters that a function may get: more of them travel through memory."""

Key = tuple[Any, ...]


def merge_functions(f: ir.Function) -> ir.Function:
    """`f` with one function for all clones that it calls; `f` itself where there are none."""
    program = reachable(f)
    if len(program) < 3:
        return f
    calls = dict[ir.Function, tuple[ir.Function, tuple[ir.Lit, ...]]]()
    for members in _groups(program, f):
        calls.update(_merged(members))
    if not calls:
        return f
    new: dict[ir.Function, ir.Function] = {}
    for g in program:
        new[g] = g if g in calls or g.rule is not None else _redirected(g, new, calls)
    return new[f]


def _groups(program: list[ir.Function], root: ir.Function) -> Iterator[list[tuple[ir.Function, list[ir.Lit]]]]:
    """Functions that are clones of each other, with their constants."""
    groups: dict[Key, list[tuple[ir.Function, list[ir.Lit]]]] = {}
    for g in program:
        if g is root or g.body is None or g.rule is not None or g.checkpoint or g.own or len(g.body.lets) < LEAST:
            continue
        found = rows(g)
        if found is not None:
            groups.setdefault((found.code, found.calls), []).append((g, found.constants))
    return (members for members in groups.values() if len(members) > 1)


# --- one function for many


def _merged(
    members: list[tuple[ir.Function, list[ir.Lit]]],
) -> dict[ir.Function, tuple[ir.Function, tuple[ir.Lit, ...]]]:
    """For each of the clones the function that takes its place, and what that is given."""
    params: dict[Key, ir.Var] = {}
    chosen: list[int] = []
    slots: list[ir.Var | None] = []
    for k, column in enumerate(zip(*[constants for _, constants in members], strict=True)):
        kind, values = column[0].type, [_identity(c) for c in column]
        key = (kind, *values)
        if values.count(values[0]) == len(values):
            slots.append(None)
            continue
        if key not in params:
            params[key] = ir.Var(kind, "k" if kind is INT else "c")
            chosen.append(k)
        slots.append(params[key])
    if len(params) > MOST:
        return {}
    made = _copy(members[0][0], slots, tuple(params.values()))
    return {f: (made, tuple([constants[k] for k in chosen])) for f, constants in members}


def _identity(a: ir.Lit) -> Any:
    """A key that tells 0.0 from -0.0, and one nan from another by its type alone."""
    return repr(a.value) if a.value == 0 or a.value != a.value else a.value


def _copy(f: ir.Function, slots: list[ir.Var | None], more: tuple[ir.Var, ...]) -> ir.Function:
    """`f` with parameters in place of constants."""
    assert f.body is not None
    params = tuple([ir.Var(p.type, p.hint) for p in f.params])
    atoms: dict[ir.Atom, ir.Atom] = dict(zip(f.params, params, strict=True))
    rest = iter(slots)

    def atom(a: ir.Atom) -> ir.Atom:
        return next(rest) or a if isinstance(a, ir.Lit) else atoms[a]

    lets: list[ir.Let] = []
    for let in f.body.lets:
        e = let.expr
        if type(e) is ir.Apply:
            e = ir.Apply(e.op, tuple([atoms[a] if type(a) is ir.Var else next(rest) or a for a in e.args]))
        elif type(e) is ir.Index:
            steps = [atom(step) for step in e.path if not isinstance(step, ir.Field)]
            e = ir.Index(atom(e.base), tuple(steps), False)
        else:
            e = rebuild(e, atom)
        binders = tuple([ir.Var(b.type, b.hint) for b in let.binders])
        atoms.update(zip(let.binders, binders, strict=True))
        lets.append(ir.Let(binders, e, let.span))
    results = tuple([atom(a) for a in f.body.results])
    return ir.Function(f.name, (*params, *more), f.results, ir.Block(lets, results), span=f.span)


def _redirected(
    f: ir.Function,
    new: dict[ir.Function, ir.Function],
    calls: dict[ir.Function, tuple[ir.Function, tuple[ir.Lit, ...]]],
) -> ir.Function:
    """`f` with calls of what has taken the place of the functions that it calls; `f` itself where nothing has."""
    if f.body is None or not any([g in calls or new.get(g, g) is not g for g in callees(f)]):
        return f

    def block(old: ir.Block) -> ir.Block:
        return ir.Block([let if type(let.expr) is ir.Apply else other(let) for let in old.lets], old.results)

    def other(let: ir.Let) -> ir.Let:
        e = let.expr
        if type(e) is ir.Call:
            target, constants = calls.get(e.function) or (new.get(e.function, e.function), ())
            return ir.Let(let.binders, ir.Call(target, (*e.args, *constants)), let.span)
        return within(let, block)

    return f.with_body(block(f.body))
