"""What is known of the values of expressions in a loop that may be rolled, and what names are bound to."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rosejit.frontend import grids, lifted
from rosejit.frontend.applied import Applied
from rosejit.frontend.grids import Content, Grid
from rosejit.frontend.lifted import Known, Number, unroll
from rosejit.frontend.plans import Plan
from rosejit.frontend.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL

_STEPS = 4_000
"""How many parts of plans are looked at before the loop is unrolled without further thought."""


@dataclass(slots=True)
class Pack:
    """A tuple or list made in the loop."""

    items: list[Any]


@dataclass(slots=True, frozen=True)
class Partial:
    """The value of a name that may be unbound."""

    value: Any


@dataclass(slots=True)
class Operands:
    """The names and arrays of a loop, and what expressions of them are."""

    tape: Tape
    reader: Callable[[str], Any]
    """What a name was bound to before the loop."""
    widening: frozenset[str] = frozenset()
    """Names that are Ints before the loop and Reals after a turn."""
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    contents: dict[Any, Content] = field(default_factory=dict[Any, Content])
    """What is in the arrays, by their identity."""
    origins: dict[Any, Content] = field(default_factory=dict[Any, Content])
    """What was in those from before the loop."""
    reached: dict[Any, set[str]] = field(default_factory=dict[Any, set[str]])
    """The names by which the arrays from before the loop are reached."""
    steps: int = _STEPS

    # --- names

    def read(self, name: str) -> Any:
        """What `name` is bound to."""
        value = self.found(name)
        if value is None or value.__class__ is Partial:
            unroll(f"`{name}` may be unbound")
        if value.__class__ is Grid and value.place in self.reached:
            self.reached[value.place].add(name)
        return value

    def found(self, name: str) -> Any:
        """What `name` is bound to; None for nothing."""
        if name not in self.names:
            self.names[name] = self.classified(self.reader(name), name)
        return self.names[name]

    def classified(self, value: Any, name: str) -> Any:
        """What is known of a value from before the loop; None for no value."""

        def enter(place: Any, content: Content) -> None:
            self.contents.setdefault(place, self.origins.setdefault(place, content))
            self.reached.setdefault(place, set()).add(name)

        return grids.classified(self.tape, value, enter)

    # --- expressions

    def value(self, node: Plan) -> Any:
        """What is known of the value of an expression."""
        found = self.widened(node)
        if self.is_widening(node, found):
            unroll(f"`{node[1]}` is an int that becomes a real")
        return found

    def widened(self, node: Plan) -> Any:
        """As `value`, where an int that becomes a real may stand."""
        self.steps -= 1
        if self.steps < 0:
            unroll("the body is long")
        return self.read(node[1]) if node[0] == "name" else _RULES[node[0]](self, *node[1:])

    def is_widening(self, node: Plan, value: Any) -> bool:
        """Whether an operand is an int in some turns, and a real in others."""
        return node[0] == "name" and node[1] in self.widening and value.__class__ is Number and value.kind is INT


# --- expressions


def _binary(at: Operands, op: str, a: Any, b: Any) -> Any:
    """An operation of numbers or arrays."""
    if Grid in (a.__class__, b.__class__):
        return grids.combined(at.contents, op, a, b)
    return lifted.binary(op, a, b)


def operation(at: Operands, op: str, left: Plan, right: Plan) -> Any:
    """`left op right`."""
    a, b = at.widened(left), at.widened(right)
    for node, own, other in ((left, a, b), (right, b, a)):
        if at.is_widening(node, own):
            real = other.__class__ is Number and other.kind is REAL
            if op not in ("+", "-", "*", "/") or not real:
                unroll(f"`{node[1]}` is an int that becomes a real")
    return _binary(at, op, a, b)


def _constant(at: Operands, value: Any) -> Any:
    """A literal."""
    return Known(value)


def _unary(at: Operands, op: str, operand: Plan) -> Any:
    """`-x`, `+x`, `not x`."""
    value = at.value(operand)
    if op == "not":
        return _negated(value)
    if value.__class__ is Grid:
        return grids.combined(at.contents, "*", value, Known(-1)) if op == "-" else unroll("`+` of an array")
    return lifted.negative(value) if op == "-" else value


def _comparison(at: Operands, ops: tuple[str, ...], items: Plan) -> Any:
    """`a < b < c`."""
    values = [at.value(item) for item in items]
    if any(value.__class__ is Grid for value in values):
        return unroll("a chain of arrays") if len(values) > 2 else _binary(at, ops[0], *values)
    found: Any = Known(True)
    for op, left, right in zip(ops, values, values[1:], strict=False):
        found = conjunction("and", found, lifted.compare(op, left, right))
    return found


def _circuit(at: Operands, word: str, items: Plan) -> Any:
    """`a and b`, `a or b`."""
    found: Any = Known(word == "and")
    for item in items:
        found = conjunction(word, found, at.value(item))
        if found.__class__ is Known and found.value is (word == "or"):
            break
    return found


def _choice(at: Operands, test: Plan, first: Plan, second: Plan) -> Any:
    """`first if test else second`."""
    decided = lifted.truth(at.value(test))
    if decided.__class__ is Known:
        return at.value(first if decided.value else second)
    made = either(at.value(first), at.value(second), not decided.is_lifted)
    return made if made.__class__ is not Partial else unroll("one of two values of the host")


def _item(at: Operands, base: Plan, index: Plan) -> Any:
    """`base[index]`."""
    held, found = at.value(base), at.value(index)
    if held.__class__ is Grid:
        return grids.item(at.contents, held, items_of(found))
    if held.__class__ is Known and found.__class__ is Known and _is_plain(held.value):
        try:
            return at.classified(held.value[found.value], "*")
        except (IndexError, TypeError):
            unroll("the host fails")
    return unroll("the index is an index of a container of the host")


def _is_plain(container: Any) -> bool:
    """Whether reading an item of a container runs no code of the user's."""
    return getattr(type(container), "__getitem__", None) in (list.__getitem__, tuple.__getitem__)


def _slice(at: Operands, parts: Plan) -> Any:
    """`a:b:c`, which must be the same in every turn."""
    values = [at.value(part) for part in parts]
    if any(value.__class__ is not Known for value in values):
        unroll("a slice that changes")
    return Known(slice(*(value.value for value in values)))


def _pack(at: Operands, items: Plan) -> Any:
    """A tuple or list."""
    return Pack([at.value(item) for item in items])


def _attribute(at: Operands, base: Plan, name: str) -> Any:
    """`base.name`."""
    held = at.value(base)
    if held.__class__ is Grid:
        return grids.attribute(at.contents, held, name)
    if held.__class__ is not Known:
        unroll("an attribute of a number")
    return at.classified(grids.attribute_of_host(held.value, name), "*")


def _call(at: Operands, function: Plan, args: Plan, keywords: Plan) -> Any:
    """A call."""
    given = [at.value(arg) for arg in args]
    named = {name: at.value(value) for name, value in keywords}
    applied = Applied(at.contents)
    if function[0] == "attribute":
        base = at.value(function[1])
        if isinstance(base, Grid):
            return applied.method(base, function[2], given, named)
    return _packed(applied.call(at.value(function), given, named))


_RULES: dict[str, Callable[..., Any]] = {
    "value": _constant, "binary": operation, "unary": _unary,
    "compare": _comparison, "circuit": _circuit, "choice": _choice, "item": _item,
    "slice": _slice, "pack": _pack, "attribute": _attribute, "call": _call,
}  # fmt: skip


def _packed(value: Any) -> Any:
    return Pack([_packed(item) for item in value]) if value.__class__ is list else value


def items_of(index: Any) -> list[Any]:
    """The indices of `a[index]`."""
    return index.items if index.__class__ is Pack else [index]


def _negated(value: Any) -> Any:
    tested = lifted.truth(value)
    decided = lifted.decision(tested)
    if tested.__class__ is Known:
        return Known(not tested.value)
    return tested if decided is None else lifted.lifted(not decided)


def conjunction(word: str, a: Any, b: Any) -> Any:
    """`a and b`, `a or b` as a condition."""
    for value in (a, b):
        boolean = isinstance(value.value, bool) if value.__class__ is Known else _is_truth(value)
        if not boolean:
            unroll("something else than a truth value is tested")
    decided = lifted.decision(a)
    if decided is not None:
        kept = a if decided is (word == "or") else b
        return lifted.number(kept) if kept.__class__ is Known and a.__class__ is Number else kept
    if b.__class__ is Known:
        return a
    return Number(BOOL, None if a.is_lifted or b.is_lifted else ())


def _is_truth(value: Any) -> bool:
    return value.__class__ is Number and value.kind is BOOL


def either(a: Any, b: Any, by_running: bool) -> Any:
    """What is one of two values, after an `if`."""
    if a is b or (a.__class__ is Known and a == b):
        return a
    if a is None or b is None:
        return Partial(b if a is None else a)
    if Partial in (a.__class__, b.__class__):
        first, second = (value.value if value.__class__ is Partial else value for value in (a, b))
        return Partial(either(first, second, by_running))
    if a.__class__ is Grid or b.__class__ is Grid:
        if a.__class__ is b.__class__ and a.place is b.place and a.shape == b.shape:
            return a
        unroll("one of two arrays")
    if not all(value.__class__ is Number or lifted.is_known_number(value) for value in (a, b)):
        unroll("one of two values of the host")
    return lifted.either(lifted.number(a), lifted.number(b), by_running)
