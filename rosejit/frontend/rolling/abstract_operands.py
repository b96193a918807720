"""The names of a loop that may be rolled, and abstract evaluation of expressions of them."""

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import field
from typing import Any

from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.host_tables import is_known
from rosejit.frontend.control.optional import Optional
from rosejit.frontend.rolling import (
    abstract_arrays,
    abstract_helpers,
    abstract_items,
    abstract_numbers,
    abstract_records,
    abstract_transforms,
)
from rosejit.frontend.rolling.abstract_arrays import AbstractArray, AbstractElements
from rosejit.frontend.rolling.abstract_calls import AbstractCalls
from rosejit.frontend.rolling.abstract_helpers import AbstractClosure
from rosejit.frontend.rolling.abstract_memo import Memo
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, CannotRoll, Constant, TooLong, unroll
from rosejit.frontend.rolling.abstract_records import AbstractStructure, SamePlaces
from rosejit.frontend.rolling.abstract_tables import (
    Tables,
    followed,
    is_computed,
    is_method_computed,
    listed,
    negated,
    operated,
)
from rosejit.frontend.rolling.refused_at import text
from rosejit.frontend.syntax.loop_plan import Plan
from rosejit.frontend.syntax.lower_jumps import VALUE
from rosejit.frontend.values.generators import Generator
from rosejit.frontend.values.pytree import is_record
from rosejit.frontend.values.scalars import Int
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.lazy_dataclass import dataclass

# Values of users are of any type: what they are is asked while staging.
_STEPS = 200_000
"""How many parts of plans are looked at before the walk begins again with more of the inner loops rolled."""


@dataclass(slots=True, frozen=True)
class MaybeBound:
    """The value of a name that may be unbound, or that is one of two arrays, and the host knows which."""

    value: Any
    is_one_of_two: bool = False


@dataclass(slots=True)
class AbstractOperands:
    """The names and arrays of a loop, and what expressions of them are."""

    tape: Tape
    reader: Callable[[str], Any]
    """What a name was bound to before the loop."""
    widening: frozenset[str] = frozenset()
    """Names that are Ints before the loop and Reals after an iteration."""
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    contents: dict[Any, AbstractElements] = field(default_factory=dict[Any, AbstractElements])
    """What is in the arrays, by their identity."""
    origins: dict[Any, AbstractElements] = field(default_factory=dict[Any, AbstractElements])
    """What was in those from before the loop."""
    reached: dict[Any, set[str]] = field(default_factory=dict[Any, set[str]])
    """The names by which the arrays from before the loop are reached."""
    steps: int = _STEPS
    depth: int = 0
    """How many helpers are open."""
    bound: frozenset[str] = frozenset()
    """The names that the loop binds."""
    picked: set[Any] = field(default_factory=set[Any])
    """The arrays that were picked out of lists at indices of loops: they may not be written."""
    same: SamePlaces = field(default_factory=SamePlaces)
    """The arrays that may be one another, by which side of an `if` has run."""
    growing: dict[int, Plan] = field(default_factory=dict[int, Plan])
    """The statements that append to lists from before the loop, by `id` of the list."""
    made: dict[str, tuple[Any, int]] = field(default_factory=dict[str, tuple[Any, int]])
    """The lists that are made in the loop and that nothing else holds than the name, each with the block it was made
    in: they may be appended to in that block."""
    opened: int = 0
    """The block that is open, by the number of those that were opened before."""
    tables: Tables = None  # type: ignore[assignment]  # made with the walk
    memo: Memo = field(default_factory=Memo)
    """The calls of helpers so far."""
    around: dict[str, Any] = field(default_factory=dict[str, Any])
    """The globals of the function that the loop is in."""

    # --- names

    def read(self, name: str) -> Any:
        """What `name` is bound to."""
        value = self.lookup(name)
        if value.__class__ is MaybeBound and name == VALUE and not value.is_one_of_two:
            value = value.value  # a function ends with a `return`, on whatever path
        if value is None or value.__class__ is MaybeBound:
            unroll(f"`{name}` may be unbound")
        if value.__class__ is AbstractArray and value.place in self.reached:
            self.reached[value.place].add(name)
        return value

    def lookup(self, name: str) -> Any:
        """What `name` is bound to; None for nothing."""
        if name not in self.names:
            self.names[name] = self.classified(self.reader(name), name)
        return self.names[name]

    def classified(self, value: Any, name: str) -> Any:
        """What is known of a value from before the loop; None for no value."""

        def enter(place: Any, content: AbstractElements) -> None:
            self.contents.setdefault(place, self.origins.setdefault(place, content))
            self.reached.setdefault(place, set()).add(name)
            self.memo.met.append(place)

        found = abstract_arrays.classified(self.tape, value, enter)
        if value.__class__ is Int and self.tape.rolled is not None and is_known(self.tape, value):
            self.tables.around[id(found)] = found
        if value.__class__ is Optional:
            return abstract_records.structured(found, lambda part: self.classified(part, name))
        return found

    def entered(self, value: Any) -> Any:
        """`value`, which an `if` has given: the arrays that are new in it are staged."""
        for leaf in abstract_records.leaves(value):
            if leaf.__class__ is AbstractArray:
                self.contents.setdefault(leaf.place, abstract_arrays.STAGED)
        return value

    def looked_into(self, node: Plan) -> Any:
        """What is known of the value of an expression that is asked for what is in it, and not handed on."""
        held = self.made.get(node[1]) if node[0] == "name" else None
        return self.value(node) if held is None or held[0] is not self.names.get(node[1]) else held[0]

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
            raise TooLong("the body is long")
        if node[0] == "name":
            self.made.pop(node[1], None)
            return self._not_growing(self.read(node[1]))
        try:
            return self._not_growing(_RULES[node[0]](self, *node[1:]))
        except CannotRoll as refusal:
            refusal.expression = refusal.expression or text(node)
            raise

    def _not_growing(self, value: Any) -> Any:
        is_growing = value.__class__ is Constant and id(value.value) in self.growing
        return unroll("a list that grows is read") if is_growing else value

    def is_widening(self, node: Plan, value: Any) -> bool:
        """Whether an operand is an int in some iterations, and a real in others."""
        return (
            node[0] == "name" and node[1] in self.widening and value.__class__ is AbstractNumber and value.kind is INT
        )


# --- expressions


def binary(at: AbstractOperands, op: str, a: Any, b: Any) -> Any:
    """An operation of numbers or arrays."""
    a, b = abstract_records.required(a), abstract_records.required(b)
    for method, given in abstract_records.operator_of(op, a, b):
        found = abstract_helpers.result(at, method, given, {})
        if found.__class__ is not Constant or found.value is not NotImplemented:
            return found
    if AbstractArray in (a.__class__, b.__class__):
        return operated(at, op, a, b, lambda: abstract_arrays.combined(at.contents, op, a, b))
    return operated(at, op, a, b, lambda: abstract_numbers.binary(op, a, b))


def operation(at: AbstractOperands, op: str, left: Plan, right: Plan) -> Any:
    """`left op right`."""
    a, b = at.widened(left), at.widened(right)
    for node, own, other in ((left, a, b), (right, b, a)):
        if at.is_widening(node, own):
            real = other.__class__ is AbstractNumber and other.kind is REAL
            if op not in ("+", "-", "*", "/") or not real:
                unroll(f"`{node[1]}` is an int that becomes a real")
    return binary(at, op, a, b)


def _constant(at: AbstractOperands, value: Any) -> Any:
    """A literal."""
    return Constant(value)


def _unary(at: AbstractOperands, op: str, operand: Plan) -> Any:
    """`-x`, `+x`, `not x`."""
    value = at.value(operand)
    if op == "not":
        return _negated(value)
    value = abstract_records.required(value)
    method = abstract_records.method_of(value, "__neg__" if op == "-" else "__pos__")
    if method is not None:
        return abstract_helpers.result(at, method, [value], {})
    if op == "+":
        return unroll("`+` of an array") if value.__class__ is AbstractArray else value
    return negated(at, value, lambda: _minus(at, value))


def _minus(at: AbstractOperands, value: Any) -> Any:
    if value.__class__ is AbstractArray:
        return abstract_arrays.combined(at.contents, "*", value, Constant(-1))
    return abstract_numbers.negative(value)


def _comparison(at: AbstractOperands, ops: tuple[str, ...], items: Plan) -> Any:
    """`a < b < c`."""
    values = [at.value(item) for item in items]
    if not {*ops} & {"is", "is not"}:
        values = [abstract_records.required(value) for value in values]
    if any(value.__class__ is AbstractArray for value in values):
        return unroll("a chain of arrays") if len(values) > 2 else binary(at, ops[0], *values)
    found: Any = Constant(True)
    for op, left, right in zip(ops, values, values[1:], strict=False):
        decided = _is_none(op, left, right) if op in ("is", "is not") else None
        found = conjunction("and", found, decided or abstract_numbers.compare(op, left, right))
    return found


def _is_none(op: str, left: Any, right: Any) -> Any:
    """`left is None` of what is staged; nothing of other values."""
    for value, other in ((left, right), (right, left)):
        if other == Constant(None) and abstract_records.is_optional(value):
            return value.items[0] if op == "is not" else _negated(value.items[0])
        if value.__class__ in (AbstractNumber, AbstractArray, AbstractStructure) and other == Constant(None):
            return Constant(op == "is not")
    return None


def _circuit(at: AbstractOperands, word: str, items: Plan) -> Any:
    """`a and b`, `a or b`."""
    found: Any = Constant(word == "and")
    for item in items:
        found = conjunction(word, found, at.value(item))
        if found.__class__ is Constant and found.value is (word == "or"):
            break
    return found


def _choice(at: AbstractOperands, test: Plan, first: Plan, second: Plan) -> Any:
    """`first if test else second`."""
    decided = abstract_records.truth(at.value(test))
    if decided.__class__ is Constant:
        return at.value(first if decided.value else second)
    each = at.value(first), at.value(second)
    made = at.entered(either(*each, not decided.is_lifted))
    at.same.join(made, *each)
    return made if made.__class__ is not MaybeBound else unroll("one of two values of the host")


def _item(at: AbstractOperands, base: Plan, index: Plan) -> Any:
    """`base[index]`."""
    held, found = abstract_records.required(at.looked_into(base)), abstract_records.required(at.value(index))
    if held.__class__ is AbstractArray:
        return part(at, held, items_of(found))
    items = held
    held = abstract_records.structured(held, lambda part: at.classified(part, "*"))
    is_known = found.__class__ is Constant and isinstance(found.value, int)
    is_key = found.__class__ is Constant and type(found.value) in (int, str)
    try:
        if is_known and held.__class__ is AbstractStructure and issubclass(held.made, (list, tuple)):
            return held.items[found.value]
        if found.__class__ is Constant and held.__class__ is Constant and _is_plain(held.value, is_key):
            return at.classified(held.value[found.value], "*")
    except (LookupError, TypeError):
        unroll("the host fails")
    return listed(at, items, found)


def part(at: AbstractOperands, grid: AbstractArray, indices: list[Any]) -> Any:
    """`grid[indices]`."""
    rule = lambda: abstract_arrays.item(at.contents, grid, indices)  # noqa: E731  # given away at once
    return followed(at, "item", lambda data, *places: get(data, places), [grid, *indices], {}, rule)


def _is_plain(container: Any, is_key: bool) -> bool:
    """Whether reading an item of a container runs no code of the user's."""
    return (type(container) is dict and is_key) or getattr(type(container), "__getitem__", None) in (
        list.__getitem__,
        tuple.__getitem__,
    )


def _slice(at: AbstractOperands, parts: Plan) -> Any:
    """`a:b:c`, which must be the same in every iteration."""
    values = [at.value(part) for part in parts]
    if any(value.__class__ is not Constant for value in values):
        unroll("a slice that changes")
    return Constant(slice(*(value.value for value in values)))


def _pack(at: AbstractOperands, items: Plan, is_list: bool) -> Any:
    """A tuple or list."""
    return AbstractStructure([at.value(item) for item in items], list if is_list else tuple)


def _lambda(at: AbstractOperands, params: Plan, statements: Plan, made: Plan) -> AbstractClosure:
    """A function that is written in the loop."""
    defaults = {name: at.value(default) for name, default in params if default is not None}
    return AbstractClosure(tuple(name for name, _ in params), defaults, statements, made, at)


def _attribute(at: AbstractOperands, base: Plan, name: str) -> Any:
    """`base.name`."""
    held = abstract_records.required(at.value(base))
    if held.__class__ is AbstractArray:
        return abstract_arrays.attribute(at.contents, held, name)
    if held.__class__ is AbstractStructure and name in held.keys:
        return held.items[held.keys.index(name)]
    getter = abstract_records.getter_of(held, name)
    if getter is not None:
        return abstract_helpers.result(at, getter, [held], {})
    if held.__class__ is not Constant:
        unroll("an attribute of a number")
    return at.classified(abstract_arrays.attribute_of_host(held.value, name), "*")


def _abstract_call(at: AbstractOperands, function: Plan, args: Plan, keywords: Plan) -> Any:
    """A call."""
    given = [at.looked_into(arg) if function == ("name", "len") else at.value(arg) for arg in args]
    named = {name: at.value(value) for name, value in keywords}
    if function[0] == "attribute":
        base = abstract_records.required(at.value(function[1]))
        if isinstance(base, AbstractArray):
            return _method(at, base, function[2], given, named)
        if base.__class__ is Constant and isinstance(base.value, Generator):
            return abstract_arrays.drawn(at.contents, function[2], given, named)
        method = abstract_records.method_of(base, function[2])
        if method is not None:
            return abstract_helpers.result(at, method, [base, *given], named)
    return invoked(at, at.value(function), given, named)


def invoked(at: AbstractOperands, called: Any, given: list[Any], named: dict[str, Any]) -> Any:
    """`called(*given, **named)`."""
    if called.__class__ is AbstractClosure:
        return abstract_helpers.of_closure(at, called, given, named)
    if called.__class__ is abstract_transforms.AbstractDerivative:
        return abstract_transforms.result(at, called, given, named, invoked)
    if abstract_helpers.is_helper(called):
        return abstract_helpers.result(at, called.value, given, named)
    value = called.value if called.__class__ is Constant else None
    if hasattr(value, "__rose_transform__"):
        return abstract_transforms.made(at, called, given, named)
    if value is dataclasses.replace and len(given) == 1 and given[0].__class__ is AbstractStructure:
        return abstract_records.replaced(given, named, lambda part: at.classified(part, "*"))
    if isinstance(value, type) and is_record(value):
        return abstract_records.made(value, given, named, lambda part: at.classified(part, "*"))
    if value in (len, sum, list, tuple) and given and _is_pack(given[0]) and not named:
        return _of_pack(at, value, given)
    method = abstract_records.method_of(called, "__call__")
    if method is not None:
        return abstract_helpers.result(at, method, [called, *given], named)
    rule = lambda: AbstractCalls(at.contents, at.tape.session).call(called, given, named)  # noqa: E731  # one of two
    if not (value is int or is_computed(value)):
        return rule()
    return followed(at, value, functools.partial(at.tape.session.hooks.call, value), given, named, rule)


def _is_pack(value: Any) -> bool:
    return value.__class__ is AbstractStructure and value.made in (list, tuple)


def _of_pack(at: AbstractOperands, called: Any, given: list[Any]) -> Any:
    """A builtin of a list or a tuple that the loop has made."""
    if called is sum:
        return abstract_items.total(at, given, lambda a, b: binary(at, "+", a, b))
    (pack,) = given
    return Constant(len(pack.items)) if called is len else AbstractStructure([*pack.items], called)


def _call_method(call: Callable[..., Any], name: str, owner: Any, /, *args: Any, **named: Any) -> Any:
    return call(getattr(owner, name), *args, **named)


def _method(at: AbstractOperands, base: AbstractArray, name: str, given: list[Any], named: dict[str, Any]) -> Any:
    """A method of an array."""
    rule = lambda: AbstractCalls(at.contents, at.tape.session).method(base, name, given, named)  # noqa: E731  # as above
    if not is_method_computed(name):
        return rule()
    return followed(
        at,
        ("method", name),
        functools.partial(_call_method, at.tape.session.hooks.call, name),
        [base, *given],
        named,
        rule,
    )


_RULES: dict[str, Callable[..., Any]] = {
    "value": _constant, "binary": operation, "unary": _unary,
    "compare": _comparison, "circuit": _circuit, "choice": _choice, "item": _item,
    "slice": _slice, "pack": _pack, "attribute": _attribute, "call": _abstract_call, "lambda": _lambda,
    "list": abstract_items.comprehension,
}  # fmt: skip


def items_of(index: Any) -> list[Any]:
    """The indices of `a[index]`."""
    index = abstract_records.required(index)
    each = index.items if index.__class__ is AbstractStructure else [index]
    return [abstract_records.required(part) for part in each]


def _negated(value: Any) -> Any:
    tested = abstract_records.truth(value)
    decided = abstract_numbers.decision(tested)
    if tested.__class__ is Constant:
        return Constant(not tested.value)
    return tested if decided is None else abstract_numbers.lifted(not decided)


def conjunction(word: str, a: Any, b: Any) -> Any:
    """`a and b`, `a or b` as a condition."""
    for value in (a, b):
        boolean = isinstance(value.value, bool) if value.__class__ is Constant else _is_truth(value)
        if not boolean:
            unroll("something else than a truth value is tested")
    decided = abstract_numbers.decision(a)
    if decided is not None:
        kept = a if decided is (word == "or") else b
        return abstract_numbers.number(kept) if kept.__class__ is Constant and a.__class__ is AbstractNumber else kept
    if b.__class__ is Constant:
        return a
    return AbstractNumber(BOOL, None if a.is_lifted or b.is_lifted else ())


def _is_truth(value: Any) -> bool:
    return value.__class__ is AbstractNumber and value.kind is BOOL


def either(a: Any, b: Any, by_running: bool) -> Any:
    """What is one of two values, after an `if`. Of two arrays it is a third, which is `entered` by the caller."""
    if a is b or (a.__class__ is Constant and a == b):
        return a
    if a is None or b is None:
        one = b if a is None else a
        return one if one.__class__ is MaybeBound else MaybeBound(one)
    if MaybeBound in (a.__class__, b.__class__):
        return _either_bound(a, b, by_running)
    if a.__class__ is AbstractArray or b.__class__ is AbstractArray:
        return _either_array(a, b, by_running)
    optional = _optional(a, b) if by_running else None
    if optional is not None:
        return optional
    if abstract_records.is_like(a, b) and a.made is not list:
        return a.with_items([either(x, y, by_running) for x, y in zip(a.items, b.items, strict=True)])
    if any(value.__class__ is AbstractStructure and value.made is list for value in (a, b)):
        return MaybeBound(a, is_one_of_two=True)
    if not all(value.__class__ is AbstractNumber or abstract_numbers.is_known_number(value) for value in (a, b)):
        unroll("one of two values of the host")
    return abstract_numbers.either(abstract_numbers.number(a), abstract_numbers.number(b), by_running)


def _either_array(a: Any, b: Any, by_running: bool) -> Any:
    if a.__class__ is not b.__class__ or (a.shape, a.kind) != (b.shape, b.kind):
        unroll("one of two arrays of several shapes")
    if a.place is b.place:
        return a
    third = AbstractArray(a.shape, a.kind, object(), True, True)
    return third if by_running else MaybeBound(third, is_one_of_two=True)  # nothing may read it


def _either_bound(a: Any, b: Any, by_running: bool) -> MaybeBound:
    first, second = (value.value if value.__class__ is MaybeBound else value for value in (a, b))
    is_one_of_two = any(value.__class__ is MaybeBound and value.is_one_of_two for value in (a, b))
    made = either(first, second, by_running)
    return MaybeBound(made, is_one_of_two) if made.__class__ is not MaybeBound else made


def _optional(a: Any, b: Any) -> Any:
    """What is one of two values of which one may be None, after an `if` that only running decides; None of others."""
    flags = abstract_records.flag_of(a), abstract_records.flag_of(b)
    if None in flags or all(flag == Constant(True) for flag in flags):
        return None
    held = [abstract_records.required(value) for value in (a, b) if value != Constant(None)]
    if any(each.__class__ is AbstractStructure and each.made is list for each in held):
        unroll("a list or None")
    flag = flags[0] if flags[0] == flags[1] else abstract_numbers.staged(BOOL)
    found = _or_nothing(held[0]) if len(held) == 1 else either(held[0], held[1], True)
    return abstract_records.optional(flag, found)


def _or_nothing(value: Any) -> Any:
    """A value where it is there, and zeros that nobody reads where it is None."""
    if value.__class__ is AbstractStructure:
        return value.with_items([_or_nothing(item) for item in value.items])
    if value.__class__ is AbstractArray:
        return AbstractArray(value.shape, value.kind, object(), True, True)
    if abstract_numbers.is_known_number(value):
        kind = abstract_numbers.number(value).kind
        zero = Constant({REAL: 0.0, INT: 0, BOOL: False}[kind])
        return value if value == zero else abstract_numbers.staged(kind)
    if value.__class__ is AbstractNumber and value.is_lifted:
        return AbstractNumber(value.kind, None, value.low, value.high)
    return value
