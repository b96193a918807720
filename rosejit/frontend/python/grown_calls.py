"""What builtins, and methods of lists, make of lists that have grown on some paths only."""

# Values of users are of any type: what they are is asked while staging.

import copy
import dataclasses
import functools
import math
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from rosejit.frontend.control.grown_lists import any_there, each, holds_grown, is_grown, ranks, refuse
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import part, split
from rosejit.frontend.python.builtins import fold
from rosejit.frontend.python.grown_items import is_popped, item_at, place, popped, selected
from rosejit.frontend.python.list_calls import written_for
from rosejit.frontend.python.ordering import both, equal, ordered
from rosejit.frontend.syntax.user_code import is_users_class, is_users_code
from rosejit.frontend.values.rose_functions import is_declared_pure
from rosejit.frontend.values.tape import MaybeBound

_MOST = 64
"""So many items are put side by side at most: the comparisons are as many as the square of that."""


def _len(session: Any, items: Any) -> Any:
    return ranks(session.tape, items)[-1]


def _bool(session: Any, items: Any) -> Any:
    return truth(session.tape, items)


def _list(session: Any, items: Any) -> Any:
    return session.hooks.record_allocation([*items])


def _tuple(session: Any, items: Any) -> Any:
    return (*items,)


def _reversed(session: Any, items: Any) -> Any:
    return [*items[::-1]]


def _enumerate(session: Any, items: Any, start: Any = 0) -> Any:
    before = ranks(session.tape, items)
    rows = [(start + rank, *split(value)) for rank, value in zip(before, items, strict=False)]
    return [part((rank, value), flag) for rank, value, flag in rows]


def _sorted(session: Any, items: Any, key: Any = None, reverse: Any = False) -> Any:
    """What is not there goes behind the rest."""
    tape = session.tape
    keys = [value for value, _ in each(items if key is None else _map(session, key, items))]
    absent = [0 if flag is True else selected(tape, flag, 0, 1) for _, flag in each(items)]
    rows = [*zip(absent, keys, items, strict=True)]
    if reverse:  # equals keep their order
        found = ordered(tape, rows[::-1], lambda row: (1 - row[0], row[1]), False)[::-1]
    else:
        found = ordered(tape, rows, lambda row: (row[0], row[1]), False)
    return session.hooks.record_allocation([item for _, _, item in found])


def _map(session: Any, function: Any, items: Any) -> Any:
    comprehensions = session.hooks.comprehensions
    return comprehensions.all_of(comprehensions.through(items, functools.partial(session.hooks.call, function)))


def _zip(session: Any, *lists: Any, strict: Any = False) -> Any:
    tape = session.tape
    lists = tuple([[*one] if one.__class__ is range else one for one in lists])
    if strict or not all(isinstance(one, (list, tuple)) for one in lists):
        refuse(tape, "`zip` with `strict=True`, or with an iterator or array beside it, goes through", *lists)
    if max(map(len, lists)) > _MOST:
        refuse(tape, f"`zip` puts at most {_MOST} items side by side, given")
    made: list[Any] = []
    lengths = [ranks(tape, one)[-1] for one in lists]
    for k in range(min(map(len, lists))):
        flag: Any = True
        for length in lengths:
            flag = both(tape, flag, truth(tape, length > k))
        if flag is False:
            break
        values: list[Any] = []
        for one in lists:
            at, _ = place(tape, one, k)
            values.append(item_at(tape, one, at, True, session.hooks.read_outer, (IndexError, "")))
        made.append(part(tuple(values), flag))
    return made


def _columns(session: Any, lists: tuple[Any, ...]) -> Any:
    """`zip(*rows)`, of which some rows may be there: tuples of the items of those that are, none if there is no row."""
    rows = [split(row) for row in lists]
    count = len(rows[0][0]) if rows[0][0].__class__ in (list, tuple) else -1
    if not all([r.__class__ in (list, tuple) and len(r) == count and not is_grown(r) for r, _ in rows]):
        refuse(session.tape, "`zip` puts rows that are no lists of one length side by side, of")
    there, read = any_there(session.tape, lists), session.hooks.read_outer
    return [part(tuple([part(read(row[k]), flag) for row, flag in rows]), there) for k in range(count)]


def _filter(session: Any, function: Any, items: Any) -> Any:
    comprehensions = session.hooks.comprehensions
    asked = functools.partial(session.hooks.call, function)
    return comprehensions.all_of(comprehensions.filtered(items, asked, False))


def _reduce(session: Any, function: Any, items: Any, first: Any) -> Any:
    through = session.hooks.comprehensions.through(items)
    return fold(session, through, first, functools.partial(session.hooks.call, function), "reduce")


def _folded(function: Any) -> Callable[..., Any]:
    def handler(session: Any, items: Any, *args: Any, **kwargs: Any) -> Any:
        return session.hooks.call(function, session.hooks.comprehensions.through(items), *args, **kwargs)

    return handler


_READS: dict[Any, Callable[..., Any]] = {
    len: _len, bool: _bool, list: _list, tuple: _tuple, reversed: _reversed, enumerate: _enumerate, sorted: _sorted,
    copy.copy: lambda session, items: session.hooks.record_allocation(copy.copy(items)), zip: _zip, iter: _folded(iter),
    **{function: _folded(function) for function in (sum, max, min, any, all, math.prod)},
}  # fmt: skip
"""Functions of such a list, their first argument."""
_SECOND: dict[Any, Callable[..., Any]] = {map: _map, filter: _filter, functools.reduce: _reduce}
_ASKING: frozenset[Any] = frozenset({
    isinstance, type, callable, id, hasattr, getattr, setattr, operator.eq, operator.ne, dataclasses.replace,
})  # fmt: skip
"""Builtins that read nothing of what is in a list."""
_LOOKED_UP = (BuiltinFunctionType, FunctionType, type)
_KEEPING = frozenset({"append", "extend", "insert", "setdefault", "get", "__setitem__"})
"""Methods of containers that keep what they are given, and read nothing of it."""


def called(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with lists that have grown on some paths only; NotImplemented for one that is like any other."""
    found = written_for(session, function, args, kwargs)
    if found is not NotImplemented:
        return found
    given = (*args, *kwargs.values())
    if any([value.__class__ is MaybeBound for value in given]):
        if function is zip and not kwargs:
            return _columns(session, args)
        refuse(session.tape, "the arguments of a call are the items of")
    kind = type(function)
    owner = function.__self__ if kind is BuiltinFunctionType else None
    if owner is not None and is_grown(owner):
        return _method(session, function, owner, args, kwargs)
    if _is_looked_into(kind, function) or not any(map(holds_grown, given)):
        return NotImplemented
    if kind is BuiltinFunctionType and function.__name__ in _KEEPING and isinstance(owner, (list, dict)):
        return NotImplemented
    found = _read(session, function, args, kwargs) if isinstance(function, _LOOKED_UP) else None
    if found is None:
        refuse(session.tape, f"`{getattr(function, '__name__', type(function).__name__)}` is given", *given)
    return found


def _read(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function gives that is known to take such lists; None of any other."""
    if function in _ASKING:
        return NotImplemented
    if function is zip:
        return _zip(session, *args, **kwargs) if all(holds_grown(a) is is_grown(a) for a in args) else None
    if function in _SECOND and len(args) == 2 + (function is functools.reduce):
        return _SECOND[function](session, *args) if is_grown(args[1]) else NotImplemented
    if function not in _READS or not args or any(map(holds_grown, args[1:])):
        return None
    if not is_grown(args[0]):  # a list of such lists
        return NotImplemented if function is not sorted else None
    return _READS[function](session, *args, **kwargs)


def _is_looked_into(kind: Any, function: Any) -> bool:
    """Whether what it calls is staged in its turn: functions and classes of the user's."""
    if is_declared_pure(function):
        return False
    if kind is FunctionType:
        return is_users_code(function.__code__)
    if kind is MethodType or kind is functools.partial:
        return True
    return (isinstance(function, type) and is_users_class(function)) or is_users_class(kind)


# --- methods


def _method(session: Any, function: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of such a list."""
    tape, name = session.tape, function.__name__
    if name in ("append", "extend", "clear", "reverse", "sort") or (
        name == "insert" and args[0].__class__ is int and args[0] == 0
    ):
        return NotImplemented
    if name == "copy":
        return session.hooks.record_allocation(owner[:])
    if name == "count" and len(args) == 1:
        hits = [both(tape, flag, equal(tape, value, args[0])) for value, flag in each(owner)]
        return functools.reduce(operator.add, [selected(tape, hit, 1, 0) for hit in hits], 0)
    if name == "pop" and is_popped(args):
        at = args[0] if args else -1
        is_plain = owner[at].__class__ is not MaybeBound and not session.hooks.grows_in_branch(owner)
        return NotImplemented if is_plain else popped(session, owner, at)
    return refuse(tape, f"`{name}` is called of", owner)
