"""Comparisons of sequences that hold staged numbers, and what Python builds on comparisons: `min` and `max` with a key,
`sorted`, `list.sort`, `index`, `count`, `remove` and `in`, as CPython decides them.

An order is made by exchanging neighbours where the right one is less, so equals stay in their order.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import enum
import functools
import operator
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.control.chosen import Chosen, asked
from rosejit.frontend.control.grown_lists import each, is_grown, ranks, refuse
from rosejit.frontend.control.join import Join, both_described
from rosejit.frontend.control.special_methods import own
from rosejit.frontend.control.staged_range import StagedRange
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import Poison, check_known
from rosejit.frontend.values.argument_identity import ask_equal
from rosejit.frontend.values.pytree import is_alike, is_staged_deep, members
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int, P, Real, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Failure
from rosejit.ir.types import INT, REAL

_MOST = 64
"""So many items are put in order at most: the comparisons are as many as the square of that."""
_VIEWS = (type({}.keys()), type({}.values()))
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


class ComparedKey:
    """What `functools.cmp_to_key(compare)` makes of an item: `ask(a, b)` is the number that `compare` gives."""

    def __init__(self, item: Any, ask: Callable[[Any, Any], Any]) -> None:
        self.item, self.ask = item, ask


def _order_of_key(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: _OPERATORS[name](self.ask(self.item, other.item), 0)


for _name, _compare in _OPERATORS.items():
    setattr(ComparedKey, f"__{_name}__", _order_of_key(_name))


def _keys_of_comparison(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`functools.cmp_to_key(compare)`."""
    (compare,) = args

    def ask(a: Any, b: Any) -> Any:
        found = session.hooks.call(compare, a, b)
        _refuse_nan(session.tape, found)
        return found

    return lambda item: ComparedKey(item, ask)


KEYS = {functools.cmp_to_key: (_keys_of_comparison, "mycmp")}


# --- logic


def both(tape: Tape, a: Any, b: Any) -> Any:
    """`a and b` of two truth values."""
    return _combined(tape, a, b, "and")


def either(tape: Tape, a: Any, b: Any) -> Any:
    """`a or b` of two truth values."""
    return _combined(tape, a, b, "or")


def _combined(tape: Tape, a: Any, b: Any, name: str) -> Any:
    if a.__class__ is Bool and b.__class__ is Bool:
        return Bool(tape, tape.apply(P[name], a.atom, b.atom))
    known, other = (a, b) if a.__class__ is not Bool else (b, a)
    return other if known is (name == "and") else known


def differs(tape: Tape, a: Any) -> Any:
    """`not a` of a truth value."""
    return Bool(tape, tape.apply(P["not"], a.atom)) if a.__class__ is Bool else not a


def choose(tape: Tape, condition: Any, a: Any, b: Any, name: str) -> Any:
    """`a if condition else b` of two values; `name` says in messages who chooses."""
    if condition.__class__ is not Bool:
        return a if condition else b
    if a.__class__ is b.__class__ is ComparedKey:
        return ComparedKey(choose(tape, condition, a.item, b.item, name), a.ask)
    sides = []
    for _ in range(2):
        sides.append(tape.open("branch"))
        tape.close(sides[-1])
    join = Join(tape, condition.atom, *sides)
    made = join.join(a, b, name)
    join.emit()
    if isinstance(made, Poison) and not isinstance(a, Poison) and not isinstance(b, Poison):
        why = f"what `{name}` chooses is {' or '.join(both_described(a, b))}, which only running tells"
        return made.__rose_said__(why, "choose the index, which is a number: `min(range(n), key=lambda k: keys[k])`")
    return made


# --- comparisons


def comparison(tape: Tape, name: str) -> Callable[[Any, Any], Any]:
    """The hook for `a == b`, and so on: sequences with staged numbers inside are compared one by one."""
    compare = _OPERATORS[name]

    def hook(a: Any, b: Any) -> Any:
        if isinstance(a, (tuple, list, SimpleNamespace)) or a.__class__ is dict:
            return compared(tape, name, a, b)
        ask_equal(tape, a, b)
        return compare(a, b)

    return hook


def compared(tape: Tape, name: str, a: Any, b: Any) -> Any:
    """A comparison of any two values."""
    if name in ("eq", "ne") and all(isinstance(each, SimpleNamespace) for each in (a, b)):
        for each in (a, b):
            check_known(tape, vars(each))
        return compared(tape, name, vars(a), vars(b))
    if tape.has_grown and (is_grown(a) or is_grown(b)):
        return _compared_grown(tape, name, a, b)
    sequences = any(isinstance(a, kind) and isinstance(b, kind) for kind in (tuple, list))
    if sequences and _is_compared_by_items(a, b) and (_is_undecided(a) or _is_undecided(b)):
        return _lexicographic(tape, name, a, b) if name not in ("eq", "ne") else _same_items(tape, name, a, b)
    plain: Any = type(a) is type(b) is dict
    if name in ("eq", "ne") and plain and (is_staged_deep(a) or is_staged_deep(b)):
        found = {*a} == {*b}
        for key in a if found else ():
            found = both(tape, found, equal(tape, a[key], b[key]))
        return found if name == "eq" else differs(tape, found)
    if name in ("eq", "ne"):
        ask_equal(tape, a, b)
    elif Chosen in (a.__class__, b.__class__):
        return _in_order(tape, name, a, b)
    return _OPERATORS[name](a, b)


def _compared_grown(tape: Tape, name: str, a: Any, b: Any) -> Any:
    """`a == b` of a list that has grown on some paths only."""
    if name not in ("eq", "ne"):
        refuse(tape, "the order is asked of")
    if a.__class__ is not b.__class__:
        return name == "ne"
    known, other = (a, b) if not is_grown(a) else (b, a)
    if is_grown(known):
        refuse(tape, "another such list is compared with")
    before = ranks(tape, other)
    found = truth(tape, before.pop() == len(known))
    for (value, flag), rank in zip(each(other), before, strict=True):
        for k, wanted in enumerate(known):
            here = both(tape, flag, truth(tape, rank == k))
            if here is not False:
                found = both(tape, found, either(tape, differs(tape, here), equal(tape, value, wanted)))
    return found if name == "eq" else differs(tape, found)


def _in_order(tape: Tape, name: str, a: Any, b: Any) -> Any:
    """A comparison of values of the host, which only running tells: of all that they may be, by the host."""
    if a.__class__ is Chosen:
        return asked(a, [_in_order(tape, name, option, b) for option in a.__rose_options__])
    if b.__class__ is Chosen:
        return asked(b, [_in_order(tape, name, a, option) for option in b.__rose_options__])
    if a is b and isinstance(a, enum.Enum):
        return name in ("le", "ge")  # it has no order, nor is it asked for: items before it differ, or all are equal
    try:
        return _OPERATORS[name](a, b)
    except TypeError as error:
        what = f"{error}, which Python would say where the items before them tie: only running tells whether they do"
        remedy = "make it an `enum.IntEnum`, or put the index of the event there and look it up in a list of events"
        raise tape.type_fault(what, remedy) from None


def _is_undecided(items: Sequence[Any]) -> bool:
    """Whether only running tells what is in a sequence."""
    return is_staged_deep(items) or any(
        item.__class__ is Chosen or (isinstance(item, (tuple, list)) and _is_undecided(item)) for item in items
    )


def _is_compared_by_items(a: Any, b: Any) -> bool:
    """Whether it is Python's own comparison that decides, and not one that a class of the user's has."""
    return all(
        type(v).__lt__ in (tuple.__lt__, list.__lt__) and type(v).__eq__ in (tuple.__eq__, list.__eq__) for v in (a, b)
    )


def equal(tape: Tape, a: Any, b: Any) -> Any:
    """Whether two items are equal, to what goes through containers: the same object is equal to itself."""
    return True if a is b else truth(tape, compared(tape, "eq", a, b))


def _same_items(tape: Tape, name: str, a: Sequence[Any], b: Sequence[Any]) -> Any:
    found: Any = len(a) == len(b)
    for x, y in zip(a, b, strict=False):
        if found is False:
            break
        found = both(tape, found, equal(tape, x, y))
    return found if name == "eq" else differs(tape, found)


def _lexicographic(tape: Tape, name: str, a: Sequence[Any], b: Sequence[Any]) -> Any:
    """The first items that differ decide; where there are none, the lengths."""
    decided: list[tuple[Any, Any]] = []
    for x, y in zip(a, b, strict=False):
        same = equal(tape, x, y)
        if same is not True:
            decided.append((same, truth(tape, compared(tape, name, x, y))))
        if same is False:
            break
    found: Any = _OPERATORS[name](len(a), len(b))
    for same, less in reversed(decided):
        found = either(tape, both(tape, same, found), both(tape, differs(tape, same), less))
    return found


# --- what is built on them


def extreme(tape: Tape, name: str, items: Sequence[Any], key: Callable[[Any], Any] | None) -> Any:
    """The first of the greatest items, or of the least, by a key."""
    with _kept(tape, items, f"`{name}` chooses it") as (at, chosen):
        best, place = items[0], at[0]
        best_key = best if key is None else key(best)
        for item, item_place in zip(items[1:], at[1:], strict=True):
            item_key = item if key is None else key(item)
            better = truth(tape, compared(tape, "gt" if name == "max" else "lt", item_key, best_key))
            best = choose(tape, better, item, best, name)
            best_key = best if key is None else choose(tape, better, item_key, best_key, name)
            place = choose(tape, better, item_place, place, "index")
        chosen.append((best, place))
    return best


@contextmanager
def _kept(tape: Tape, items: Sequence[Any], why: str) -> Generator[tuple[Sequence[Any], list[tuple[Any, Any]]]]:
    """The places of `items`, and a list for what is chosen of them, with its places: to change that is to change
    the item that it is. Where that cannot be the places are Nones."""
    found, chosen = tape.identities.places(items), list[tuple[Any, Any]]()
    if found is None:
        yield [None] * len(items), chosen
        return
    with tape.identities.forgotten() as joined:
        yield found[1], chosen
    made = [(item, place) for item, place in chosen if not any(item is other for other in items)]
    if len(made) == len(chosen) and all([is_alike(items[0], item) for item, _ in made]):
        apart = len(made) == len({*map(id, items)}) and tape.identities.are_apart(items)
        tape.identities.views([item for item, _ in made], found[0], [place for _, place in made], why, apart)
    else:
        tape.identities.joined(joined, (), why)


def ordered(tape: Tape, items: list[Any], key: Callable[[Any], Any] | None, reverse: bool) -> list[Any]:
    """The items in order; those with equal keys stay in theirs."""
    keys = list(items) if key is None else [key(item) for item in items]
    if not any(map(is_staged, keys)):
        return [items[k] for k in sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)]
    if len(items) > _MOST:
        raise tape.type_fault(
            f"{len(items)} items are put in order by keys that only running tells: at most {_MOST} are",
            "make the keys an array, and use `np.sort` or `np.argsort`",
        )
    for found in keys:
        _refuse_nan(tape, found)
    with _kept(tape, items, "`sorted` has put it in order") as (at, chosen):
        rows = list(zip(keys, items, at, strict=True))
        rows = rows[::-1] if reverse else rows
        for last in range(len(rows) - 1, 0, -1):
            for k in range(last):
                rows[k : k + 2] = _exchanged(tape, rows[k], rows[k + 1], key is None)
        rows = rows[::-1] if reverse else rows
        chosen += [(item, place) for _, item, place in rows]
    return [item for _, item, _ in rows]


def is_put_in_order(tape: Tape, items: Sequence[Any]) -> bool:
    """Whether items are compared one by one, and not as an array: they are no numbers, or some of them may be ints."""
    if {INT, REAL} <= {type_of(item) for item in items}:
        return True
    return any(
        item.atom in tape.mixed if item.__class__ in NUMBERS else isinstance(item, (tuple, list)) or is_staged(item)
        for item in items
    )


def is_staged(key: Any) -> bool:
    """Whether only running tells how a key compares: it holds staged numbers, which a class of the user's compares."""
    if key.__class__ is ComparedKey:
        return is_staged_deep(key.item)
    return is_staged_deep(key) or (own(key, "__lt__") is not None and any(map(is_staged_deep, members(key) or ())))


def _exchanged(tape: Tape, first: Any, second: Any, alone: bool) -> list[Any]:
    less = truth(tape, compared(tape, "lt", second[0], first[0]))
    if less.__class__ is not Bool:
        return [second, first] if less else [first, second]
    made: list[Any] = []
    for one, other in ((second, first), (first, second)):
        key = choose(tape, less, one[0], other[0], "sorted")
        item = key if alone else choose(tape, less, one[1], other[1], "sorted")
        made.append((key, item, choose(tape, less, one[2], other[2], "index")))
    return made


def _refuse_nan(tape: Tape, key: Any) -> None:
    """An order with nan in it would depend on which items are compared first."""
    if key.__class__ is Real:
        words = "nan has no place in an order: `sorted` in Python gives one that depends on the order before"
        failure = Failure("raise", words, tape.here(), exception=ValueError(words))
        tape.check(tape.apply(P["eq"], key.atom, key.atom), failure)
    elif isinstance(key, (tuple, list)):
        for item in key:
            _refuse_nan(tape, item)


def position(tape: Tape, items: Sequence[Any], item: Any, first: int = 0) -> tuple[Any, Any]:
    """The index of the first item that is equal, from `first` on, and whether there is one."""
    found: Any = False
    at: Any = 0
    for k in range(len(items) - 1, first - 1, -1):
        same = equal(tape, items[k], item)
        at = choose(tape, same, k, at, "index")
        found = either(tape, same, found)
    return at, found


def is_member(tape: Tape, item: Any, container: Any) -> Any:
    """`item in container`, for containers whose items are compared one by one; None for other ones."""
    if container.__class__ is StagedRange or container.__class__ is range:
        return _in_range(tape, item, container)
    items: Any = container
    if isinstance(container, (set, frozenset, dict, *_VIEWS)):
        if not is_staged_deep(item) and not is_staged_deep(list(items)):
            return None
    elif not isinstance(container, (list, tuple)):
        return None
    elif tape.has_grown and is_grown(container):
        hits = [both(tape, flag, equal(tape, other, item)) for other, flag in each(container)]
        return functools.reduce(lambda found, hit: either(tape, hit, found), hits, False)
    elif not (is_staged_deep(item) or is_staged_deep(container)):
        return None
    found: Any = False
    for other in items:
        if (item.__class__ in NUMBERS or item.__class__ is Array) and isinstance(other, (str, bytes, type(None))):
            continue
        found = either(tape, equal(tape, other, item), found)
    return found


def _in_range(tape: Tape, item: Any, numbers: Any) -> Any:
    """`item in range(...)`, where only running tells."""
    bounds = (numbers.start, numbers.stop, numbers.step)
    if not any(value.__class__ in NUMBERS for value in (item, *bounds)):
        return item in range(*bounds)
    step = bounds[2]
    if step.__class__ is Int or (item.__class__ is not Int and step not in (1, -1)):
        raise tape.type_fault(
            "`in` of a range asks for an integer, and for a step that is known" if step.__class__ is Int else
            "`in` of a range with steps asks for an integer",
            "compare with the bounds: `start <= k and k < stop and (k - start) % step == 0`",
        )  # fmt: skip
    low, high = (bounds[0], bounds[1]) if step > 0 else (bounds[1] + 1, bounds[0] + 1)
    inside = both(tape, truth(tape, item >= low), truth(tape, item < high))
    if item.__class__ is Real:
        return both(tape, inside, truth(tape, item % 1.0 == 0.0))
    if step in (1, -1):
        return inside
    return both(tape, inside, truth(tape, (item - bounds[0]) % abs(step) == 0))
