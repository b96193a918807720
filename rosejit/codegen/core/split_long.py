"""Cuts long blocks: engines take time that grows with the square of the values that live at once in one function."""

from collections.abc import Sequence

from rosejit.codegen.core.function_facts import Plan
from rosejit.ir.syntax import Apply, Let, Var
from rosejit.ir.traversal import bound

LONGEST = 500
"""A function of more lets than this keeps what its parts share in a frame."""

CHUNK = 250
"""About so many lets are one part."""

SHORT = 24
"""So few are not worth a function of their own."""

PARENT: frozenset[Var] = frozenset()
"""The variables that may live in locals of the code between the parts: none."""


def weight(lets: Sequence[Let], plan: Plan) -> int:
    """What `lets` weigh."""
    weights = plan.weights
    return sum([weights.get(let, 1) for let in lets]) if weights else len(lets)


def short(lets: Sequence[Let], plan: Plan) -> bool:
    """Whether `lets` stay in the function that they are in."""
    return len(lets) <= SHORT and weight(lets, plan) <= SHORT


def segments(lets: Sequence[Let], plan: Plan) -> list[tuple[int, int]]:
    """The ranges of `lets` that are parts; a let that is too heavy for one is a range of its own."""
    weights = plan.weights
    if not weights:
        return [(start, min(start + CHUNK, len(lets))) for start in range(0, len(lets), CHUNK)]
    found: list[tuple[int, int]] = []
    start = total = 0
    for at, let in enumerate(lets):
        heavy = weights.get(let, 1)
        if total + heavy > CHUNK:
            if at > start:
                found.append((start, at))
            start, total = at, 0
            if heavy > LONGEST:
                found.append((at, at + 1))
                start = at + 1
                continue
        total += heavy
    if start < len(lets):
        found.append((start, len(lets)))
    return found


def variables(lets: Sequence[Let]) -> set[Var]:
    """All that is bound in `lets`, at any depth."""
    found = {let.binders[0] for let in lets if let.binders}
    for let in lets:
        if type(let.expr) is not Apply:
            found.update(let.binders)
            found |= bound(let.expr)
    return found
