"""One function for all of the same code that are made anew for each call of a solver.

`minimize(lambda p: loss(p, data), p0)` in a function makes another lambda, with cells of its own, at each call, and
`minimize(model.loss, p0)` another method. A stand-in reads what these would: for the length of a call its cells hold
what those of the lambda do, or the object. Its guards look at them, as at every variable that may have been bound anew,
and say whether what is compiled fits. Between calls its cells are empty. What guards remember of what was in them is
bounded: stand-ins are few, and those that have much go.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import is_
from types import CellType, FunctionType, MethodType
from typing import Any

from rosejit.api import sessions
from rosejit.api.decorators import as_function
from rosejit.api.function import Function
from rosejit.api.programs import interpreted
from rosejit.api.wrapping.callables import is_plain
from rosejit.api.wrapping.kept_functions import looked_at
from rosejit.frontend.syntax.translate import TRANSLATIONS
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.host_values import KEPT, named_by_users
from rosejit.frontend.values.reachable_state import reachable
from rosejit.lazy_dataclass import dataclass

_MOST = 32
"""How many stand-ins there are; of more, the one that was not used for longest goes."""
_LARGE = 1 << 22
"""How many bytes a stand-in may remember between calls."""
_SEEN = object()
"""In a function: a stand-in was used for it. If it comes again it lives longer than a call, and may keep its own."""


@dataclass(slots=True, eq=False)
class _StandIn:
    looked_at: list[Any]
    made: Function
    cells: tuple[CellType, ...]
    lock: Any

    def is_large(self) -> bool:
        """Whether it has more than should outlive a call: what its cells reach, or programs for options."""
        size = 0
        for held in reachable([cell.cell_contents for cell in self.cells if cell != _EMPTY]):
            size += getattr(held, "nbytes", 0) if is_array(held) else 64
            if size > _LARGE:
                return True
        return len(self.made._made) > _MOST

    def bind(self, f: FunctionType | MethodType | None) -> None:
        """Hold what the cells of `f` do; nothing where there is none."""
        theirs = [CellType() for _ in self.cells] if f is None else _cells(f)
        for cell, other in zip(self.cells, theirs, strict=True):
            if other == _EMPTY:
                del cell.cell_contents
            else:
                cell.cell_contents = other.cell_contents


_EMPTY = CellType()


def _cells(f: FunctionType | MethodType) -> tuple[CellType, ...]:
    return (CellType(f.__self__),) if isinstance(f, MethodType) else f.__closure__ or ()


def _written(f: Any) -> FunctionType:
    return f.__func__ if isinstance(f, MethodType) else f


_known: OrderedDict[int, _StandIn] = OrderedDict()
"""By the code, which each holds, of a function or a method."""
_changing = threading.Lock()


@contextmanager
def program_of_call(
    f: Any, program: Callable[[Function], Function], fits: Callable[[Function], bool]
) -> Iterator[Function]:
    """What `program` makes of `f` decorated, or of what stands in for it, for a call that ends in this block. `fits`
    says whether a program is compiled for the call."""
    standing = _standing_for(f) if _is_made_anew(f) else None
    if standing is None or not standing.lock.acquire(blocking=False):
        yield program(as_function(f))
        return
    made = None
    try:
        standing.bind(f)
        made = program(standing.made)
        marks = {} if isinstance(f, MethodType) else vars(f)
        if KEPT not in marks or fits(made):
            marks[KEPT] = _SEEN
            yield made
            return
    finally:
        if made is None or (made.cache_info().misses and standing.is_large()):
            _forget(standing)
        standing.bind(None)
        standing.lock.release()
    yield program(as_function(f))


def _is_made_anew(f: Any) -> bool:
    """Whether a function may be one of many of its code: a lambda, a method, or one that another function makes."""
    written = _written(f)
    if written.__class__ is not FunctionType or sessions.current() is not None or not is_plain(written):
        return False
    if f is written and ("<" not in f.__qualname__ or vars(f).get(KEPT, _SEEN) is not _SEEN):
        return False
    if "ROSE_CHECK" in os.environ or interpreted.may_be_disabled() or TRANSLATIONS.is_translated(written.__code__):
        return False
    hints = written.__annotations__.values()
    return not named_by_users(written) and not any(hint.__class__ is str for hint in hints)


def _standing_for(f: FunctionType | MethodType) -> _StandIn:
    written = _written(f)
    key, now = id(written.__code__), [written.__globals__, type(f), *looked_at(written)]
    with _changing:
        found = _known.get(key)
        if found is None or len(now) != len(found.looked_at) or not all(map(is_, now, found.looked_at)):
            found = _known[key] = _StandIn(now, *_made(f), threading.Lock())
        _known.move_to_end(key)
        while len(_known) > _MOST:
            _known.popitem(last=False)
    return found


def _made(f: FunctionType | MethodType) -> tuple[Function, tuple[CellType, ...]]:
    """The stand-in, decorated, and its cells, which are empty."""
    if isinstance(f, MethodType):
        made = as_function(MethodType(f.__func__, _Nobody()))
        passing: Any = made.binding.function
        named = dict(zip(passing.__code__.co_freevars, passing.__closure__, strict=True))
        del named["self"].cell_contents
        return made, (named["self"],)
    cells = tuple([CellType() for _ in f.__closure__ or ()])
    plain = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, cells)
    plain.__kwdefaults__, plain.__annotations__ = f.__kwdefaults__, f.__annotations__
    plain.__qualname__, plain.__module__, plain.__doc__ = f.__qualname__, f.__module__, f.__doc__
    return as_function(plain), cells


class _Nobody:
    """Whose method it is before the first call."""


def _forget(standing: _StandIn) -> None:
    with _changing:
        for key in [key for key, each in _known.items() if each is standing]:
            del _known[key]
