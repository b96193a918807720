"""Induction variables of the host: names that a loop steps from a known number by what the host knows (`t += dt`).

In the unrolled loop they are numbers of the host in every iteration, and after it. So the rolled loop does not carry
them: it reads them from a table, and after the loop they are what the host has computed.
"""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rosejit.frontend.arrays.host_tables import NotTabled, along
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, CannotRoll, Constant, is_known_number
from rosejit.frontend.rolling.abstract_operands import AbstractOperands, operation
from rosejit.frontend.rolling.abstract_tables import numbered
from rosejit.frontend.syntax.loop_plan import Plan, bound_names

_MOST = 20_000
"""So many iterations are stepped through."""


def inductions(
    at: AbstractOperands,
    variable: AbstractNumber,
    plan: Plan,
    before: dict[str, Any],
    enter: Callable[[Any], None],
) -> dict[str, Any]:
    """The values of the induction variables of a loop, before each iteration and after the last. `variable` is the
    number that the loop counts by, `enter` binds the names of its target for one number."""
    target, body, leaving = plan[:3]
    if variable.table is None or leaving or variable.table.size > _MOST:
        return {}
    found: dict[str, Any] = {}
    entered = bound_names((("bind", target),))
    for name, step in _steps(body):
        start: Any = before.get(name)
        if start.__class__ is Constant and is_known_number(start) and name not in entered:
            held = at.names.copy()
            values = _stepped(at, name, step, start, enter, variable.table.values())
            at.names.clear()
            at.names.update(held)
            if values is not None:
                found[name] = values
    return found


def _steps(body: Plan) -> Iterator[tuple[str, Plan]]:
    """The statements at the top of a body that bind a name to what is made of itself, of names that are bound nowhere
    else in it."""
    every: list[str] = []
    for node in body:
        every += bound_names((node,))
    for node in body:
        match node:
            case ("change", ("name", name), op, step):
                expression: Any = ("binary", op, ("name", name), step)
            case ("bind", ("name", name), ("binary", *_) as expression):
                pass
            case _:
                continue
        if every.count(name) == 1 and _names(expression).isdisjoint({*every} - {name}) and name in _names(expression):
            yield name, expression


def _names(node: Any) -> set[str]:
    if node.__class__ is not tuple:
        return set()
    if node[:1] == ("name",):
        return {node[1]}
    return {"@call"} if node[:1] in (("call",), ("lambda",)) else set().union(*map(_names, node))


def _stepped(
    at: AbstractOperands,
    name: str,
    step: Plan,
    start: Constant,
    enter: Callable[[Any], None],
    numbers: Sequence[Any],
) -> list[Any] | None:
    """What the steps make of `start`; None where they are not the host's in all iterations."""
    values = [start.value]
    try:
        for number in numbers:
            enter(Constant(number))
            at.names[name] = Constant(values[-1])
            made = operation(at, *step[1:])
            if made.__class__ is not Constant or made.value.__class__ is not start.value.__class__:
                return None
            values.append(made.value)
    except CannotRoll:
        return None
    return values


def before_each(at: AbstractOperands, name: str, variable: AbstractNumber, values: list[Any]) -> Any:
    """An induction variable in the body of the loop, before its step."""
    (axis,) = variable.table.axes
    key = "induction", id(variable.table), name, id(values)
    if key not in at.tables.made:
        at.tables.made[key] = values, along(axis, values[:-1])
    try:
        return numbered(at.tables.made[key][1])
    except NotTabled:
        return None
