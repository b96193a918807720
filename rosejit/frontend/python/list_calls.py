"""What functions make of lists, dicts and sets whose length only running tells."""

# Values of users are of any type: what they are is asked while staging.

import copy
import functools
import heapq
import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.control.chosen import Chosen
from rosejit.frontend.control.grown_lists import is_grown
from rosejit.frontend.control.if_for import rows
from rosejit.frontend.lists import dynamic_list, list_making
from rosejit.frontend.lists.dynamic_array import OPTIONS, REDUCTIONS, DynamicArray, as_array
from rosejit.frontend.lists.dynamic_dict import DYNAMIC, DynamicDict
from rosejit.frontend.lists.dynamic_list import DynamicList
from rosejit.frontend.lists.dynamic_set import DynamicSet
from rosejit.frontend.lists.list_steps import refuse, view
from rosejit.frontend.python.lookups import is_staged_key
from rosejit.frontend.values.tape import MaybeBound
from rosejit.numeric import np

_WRITTEN: dict[Any, Callable[..., Any]] = {
    sum: dynamic_list.total, max: dynamic_list.largest, min: dynamic_list.smallest, any: dynamic_list.any_of,
    all: dynamic_list.all_of, math.prod: dynamic_list.product, sorted: dynamic_list.in_order,
    reversed: dynamic_list.backwards, heapq.heappush: dynamic_list.push, heapq.heappop: dynamic_list.pop,
    heapq.heapreplace: dynamic_list.replace, heapq.heappushpop: dynamic_list.push_and_pop,
    heapq.heapify: dynamic_list.heapify,
}  # fmt: skip
"""By functions of lists, their first argument, what is staged in their place."""
_AFTER: dict[Any, Callable[..., Any]] = {
    map: dynamic_list.mapped,
    filter: dynamic_list.filtered,
    functools.reduce: dynamic_list.folded,
}
"""The same of functions of a function and a list."""
_AFTER_LENGTHS = {map: (2,), filter: (2,), functools.reduce: (2, 3)}
_TABLES_COPIED: dict[Any, tuple[Any, ...]] = {
    copy.copy: (DynamicDict, DynamicSet), copy.deepcopy: (DynamicDict, DynamicSet), dict: (DynamicDict,),
    set: (DynamicSet,),
}  # fmt: skip
"""Functions that make another dict, or set, of one."""
_ITERATORS: frozenset[Any] = frozenset({map, filter, reversed})
"""Those that give an iterator, which sees what changes in the list."""
_COPIED: dict[Any, type | None] = {list: list, tuple: tuple, deque: deque, copy.copy: None, copy.deepcopy: None}
"""Functions that make another list, and of what class; None: of its own."""
_OF_ANY_ORDER: frozenset[Any] = frozenset({max, min, any, all, sorted})
"""Those that give the same of the items in any order."""
TABLES: frozenset[Any] = frozenset({dict, set, Counter})
"""What is made of many items, and may get keys that only running tells."""
_NEVER: frozenset[Any] = frozenset({
    iter, set, frozenset, dict, Counter, defaultdict, str, repr, format, print, next, hash,
})  # fmt: skip


def written_for(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with such lists; NotImplemented for one that is like any other."""
    if function.__class__ is type and function in TABLES and len(args) == 1 and not kwargs:
        made = table_of(session, function, args[0])
        if made is not NotImplemented:
            return made
    found = next((value for value in args if value.__class__ in DYNAMIC), None)
    if found is None or not _may_be_in_c(function):
        return NotImplemented
    kind = found.__class__
    if args[0] is found and _is_reduction(function, found, kwargs):
        given = {name: value for name, value in kwargs.items() if name != "axis"}
        held = found.held if kind is DynamicArray else found
        made = session.hooks.call(REDUCTIONS[function.__name__], held, *args[1:], **given)
    elif kind is DynamicArray:
        made = _of_array(session, function)
    elif kind is DynamicList or args[0] is not found:
        made = _of_list(session, function, found, args, kwargs)
    else:
        made = _of_keys(session, function, found, args, kwargs)
    if made is NotImplemented and (function in _NEVER or _is_numpys(function)):
        refuse(session.tape, f"`{_name(function)}` is given")
    return made


def keyed(session: Any, is_set: bool, made: list[Any]) -> Any:
    """A dict or a set that a comprehension makes, of which keys may be staged."""
    items = session.hooks.listed(made)
    found = table_for(session, set if is_set else dict, items)
    return session.hooks.keyed(is_set, *items) if found is NotImplemented else found


def table_of(session: Any, kind: Any, given: Any) -> Any:
    """`dict(given)`, `set(given)` or `Counter(given)` with keys that only running tells; NotImplemented where Python
    makes it."""
    comprehensions = session.hooks.comprehensions
    if given.__class__ is Array and given.ndim == 1:
        return NotImplemented if kind is dict else table_for(session, kind, [*rows(session.tape, given)])
    if comprehensions.of(given) is not None:
        items = comprehensions.all_of(given)
        made = table_for(session, kind, items)
        return session.hooks.call(kind, items) if made is NotImplemented else made
    return table_for(session, kind, given) if given.__class__ in (list, tuple, DynamicList) else NotImplemented


def table_for(session: Any, kind: Any, given: Any) -> Any:
    """The same of a list."""
    if given.__class__ is DynamicList:
        made = list_making.table(session, kind, given)
    else:
        items = [item.value if item.__class__ is MaybeBound else item for item in given]
        keys = items if kind is not dict else [item[0] for item in items if isinstance(item, (tuple, list)) and item]
        if any([key.__class__ is Chosen for key in keys]) or not (any(map(is_staged_key, keys)) or is_grown(given)):
            return NotImplemented
        made = list_making.table(session, kind, items)
    if made is None:
        return NotImplemented
    session.hooks.call(made.tally if kind is Counter else made.update, given)
    return made


def _may_be_in_c(function: Any) -> bool:
    """Whether a function may be one of those in the tables: those of users are staged."""
    if isinstance(function, (BuiltinFunctionType, type)) or _is_numpys(function):
        return True
    return function is copy.copy or function is copy.deepcopy


def _is_reduction(function: Any, found: Any, kwargs: dict[str, Any]) -> bool:
    """Whether NumPy reduces numbers of a list, or of an array made of one, to one."""
    name = _name(function)
    is_of_numbers = found.__class__ is DynamicArray or (found.__class__ is DynamicList and _has_numbers(found))
    if not is_of_numbers or not _is_numpys(function) or name not in REDUCTIONS:
        return False
    return kwargs.keys() <= {"axis", *OPTIONS.get(name, ())} and kwargs.get("axis") in (None, 0)


def _of_array(session: Any, function: Any) -> Any:
    if function is not len and function is not isinstance:
        refuse(session.tape, f"`{_name(function)}` is given an array made of")
    return NotImplemented


def _of_keys(session: Any, function: Any, found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of a dict or a set."""
    is_dict = found.__class__ is DynamicDict
    is_copied = len(args) == 1 and not kwargs and found.__class__ in _TABLES_COPIED.get(function, ())
    if is_copied:
        return session.hooks.call(found.plain if function is dict else found.copy)
    if (is_dict and (function in _WRITTEN or function in (list, tuple))) or function in _OF_ANY_ORDER:
        return session.hooks.call(function, found.known, *args[1:], **kwargs)
    if function in _COPIED or function in _WRITTEN:
        refuse(session.tape, f"`{_name(function)}` is given")
    return NotImplemented


def _of_list(session: Any, function: Any, found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    hooks = session.hooks
    if len(args) == 1 and not kwargs and function in _COPIED:
        return hooks.call(found.copy, _COPIED[function])
    if len(args) == 1 and not kwargs and (function is np.array or function is np.asarray) and _has_numbers(found):
        return hooks.call(as_array, found)
    is_after = (
        any([value is found for value in args[1:2]]) and function in _AFTER and len(args) in _AFTER_LENGTHS[function]
    )
    if not is_after and (function not in _WRITTEN or args[0] is not found):
        return NotImplemented
    made = hooks.call(_AFTER[function] if is_after else _WRITTEN[function], *args, **kwargs)
    if function in _ITERATORS and made.__class__ is DynamicList:
        hooks.call(view, made, found)
    return made


def _has_numbers(items: Any) -> bool:
    """Whether the items of a list are numbers."""
    return items.rows.__class__ is Array and items.rows.ndim == 1


def _is_numpys(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)
