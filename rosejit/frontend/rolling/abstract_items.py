"""What Python goes through item by item in a loop that may be rolled: lists, tuples and dicts, made in the loop or the
host's, side by side with others, and comprehensions over them."""

# Values of users are of any type: what they are is asked while staging.

import functools
from collections.abc import Callable
from typing import Any

from rosejit.frontend.rolling.abstract_arrays import AbstractArray
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, Constant, truth, unroll
from rosejit.frontend.rolling.abstract_records import AbstractStructure, leaves, required, structured
from rosejit.frontend.syntax.loop_plan import Plan, bound_names

_VIEWS = ("items", "keys", "values")


def each_of(at: Any, node: Plan) -> list[Any] | None:
    """The items of an expression that Python goes through one by one. None of ranges, arrays, and of what is not
    known here; the arrays among them may not be written."""
    found = _of_call(at, node) if node[0] == "call" else _of_value(at, at.looked_into(node))
    if found is None:
        return None
    inside = [leaf for item in found for leaf in leaves(item)]
    at.picked.update([leaf.place for leaf in inside if leaf.__class__ is AbstractArray and not leaf.is_fresh])
    return found if all(leaf.__class__ in (Constant, AbstractNumber, AbstractArray) for leaf in inside) else None


def _of_value(at: Any, value: Any) -> list[Any] | None:
    value = required(value)
    if value.__class__ is AbstractStructure and value.made in (list, tuple):
        return value.items
    held: Any = value.value if value.__class__ is Constant else None
    if type(held) not in (list, tuple, dict) or id(held) in at.growing:
        return None
    return [structured(at.classified(item, ""), lambda part: at.classified(part, "")) for item in held]


def _of_call(at: Any, node: Plan) -> list[Any] | None:
    """The items of `zip`, `enumerate` and `reversed` of such, and of the views of a dict."""
    _, function, args, keywords = node
    if function[0] == "attribute" and function[2] in _VIEWS and not args and function[1][0] in ("name", "attribute"):
        held = at.value(function[1])
        is_dict = held.__class__ is Constant and type(held.value) is dict
        return _of_value(at, Constant([*getattr(held.value, function[2])()])) if is_dict else None
    named: Any = at.value(function) if function[0] == "name" else None
    called = named.value if named.__class__ is Constant else None
    if called not in (zip, enumerate, reversed) or not args:
        return None
    sources = args if called is zip else args[:1]
    found = [each_of(at, source) for source in sources]
    if all(items is None for items in found):
        return None
    if called is reversed:
        return found[0] and found[0][::-1]
    every = [_every(at, source) if items is None else items for source, items in zip(sources, found, strict=True)]
    if called is enumerate:
        every = [_numbers(at, (*args[1:], *(value for _, value in keywords)), len(every[0])), *every]
    elif keywords and len({*map(len, every)}) > 1:
        unroll("the host fails")
    return [AbstractStructure([*items], tuple) for items in zip(*every, strict=False)]


def _numbers(at: Any, start: Plan, length: int) -> list[Any]:
    first = at.value(start[0]) if start else Constant(0)
    known = first.__class__ is Constant and type(first.value) is int
    return [Constant(first.value + k) for k in range(length)] if known else unroll("a number of items that changes")


def _every(at: Any, node: Plan) -> list[Any]:
    """The items of a range or of an array, one by one."""
    if node[0] == "call" and node[1][0] == "name" and at.value(node[1]) == Constant(range):
        ends = [at.value(arg) for arg in node[2]]
        if not all(end.__class__ is Constant for end in ends):
            unroll("a list over a range that changes")
        return [Constant(k) for k in range(*(end.value for end in ends))]
    value = at.value(node)
    if value.__class__ is not AbstractArray or not value.shape:
        unroll("a list over something else than a range, an array or a list")
    return [at.row(value, Constant(k)) for k in range(value.shape[0])]


def comprehension(at: Any, element: Plan, target: Plan, source: Plan, tests: Plan) -> AbstractStructure:
    """`[element for target in source if tests]`; its variables are its own."""
    items = each_of(at, source)
    own = bound_names((("bind", target),))
    hidden = {name: at.names[name] for name in own if name in at.names}
    made: list[Any] = []
    for item in _every(at, source) if items is None else items:
        at.bind(target, item)
        kept = [truth(at.value(test)) for test in tests]
        if any(test.__class__ is not Constant for test in kept):
            unroll("a list of some items, which the host does not know")
        if all(test.value for test in kept):
            made.append(at.value(element))
    for name in own:
        at.names.pop(name, None)
    at.names |= hidden
    return AbstractStructure(made)


def total(at: Any, given: list[Any], add: Callable[[Any, Any], Any]) -> Any:
    """`sum(items)`, `sum(items, start)`. The host has its own way to add floats, which it keeps to itself."""
    items = _of_value(at, given[0])
    if items is None or any(item.__class__ is AbstractNumber and item.is_lifted for item in items):
        unroll("a sum of something else than a list of staged values")
    return functools.reduce(add, items, given[1] if len(given) > 1 else Constant(0))
