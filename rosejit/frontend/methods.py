"""Has the methods of the user's classes that Python itself calls run as staged code while a session stages."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import functools
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from rosejit.frontend.arrays import Array
from rosejit.frontend.users import is_users_class, is_users_code
from rosejit.frontend.values import NUMBERS

Call = Callable[..., Any]

_LEFT = frozenset({
    "__new__", "__init_subclass__", "__class_getitem__", "__set_name__", "__del__", "__getattribute__", "__hash__",
    "__repr__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__copy__", "__deepcopy__", "__sizeof__",
    "__dir__", "__instancecheck__", "__subclasscheck__", "__prepare__", "__init__",
})  # fmt: skip
"""Methods that make or describe objects; constructors are seen to where they are called."""
_CONTAINERS = frozenset({list, tuple, dict, set})
_WITHOUT = frozenset({float, int, bool, str, type(None), FunctionType, Array}) | NUMBERS
"""Types whose values need nothing."""


class _Thread(threading.local):
    call: Call | None = None
    """What calls a function in the staging that is going on in this thread."""


class _Replaced:
    """A member of a class that stands in for the user's own; `users` stagings need it."""

    def __init__(self, original: Any, stand_in: Any) -> None:
        self.original = original
        self.stand_in = stand_in
        self.users = 0


_thread = _Thread()
_lock = threading.Lock()
_replaced: dict[tuple[type, str], _Replaced] = {}


class Methods:
    """The classes whose objects one session has met.

    Python calls `__add__`, the function of a property or `__enter__` without asking anybody, so while a session stages
    they are stand-ins in the class: in the thread of the session they run as staged code, in others as ever.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._outer: Call | None = None
        self._held: list[tuple[type, str]] = []
        self.known: set[type] = set(_WITHOUT)

    def begin(self) -> None:
        """Staging begins."""
        self._outer, _thread.call = _thread.call, self._call

    def end(self) -> None:
        """Staging is over: the classes are again what they were."""
        _thread.call = self._outer
        with _lock:
            for key in self._held:
                entry = _replaced[key]
                entry.users -= 1
                if not entry.users:
                    del _replaced[key]
                    if vars(key[0]).get(key[1]) is entry.stand_in:
                        type.__setattr__(*key, entry.original)
        self._held.clear()
        self.known = set(_WITHOUT)

    def meet(self, value: Any) -> Any:
        """`value`, which staged code will use; of a container also the classes of what is in it."""
        kind: type = value.__class__
        if kind in _CONTAINERS:
            for inner in set(map(type, value.values() if kind is dict else value)) - self.known:
                self.meet_class(inner)
        elif kind not in self.known:
            self.meet_class(kind)
        return value

    def meet_class(self, cls: type) -> None:
        """Let the methods of a class, and of those above it, be staged."""
        for base in cls.__mro__:
            if base not in self.known and is_users_class(base):
                self.known.add(base)
                self._replace(base)

    def _replace(self, cls: type) -> None:
        with _lock:
            for name, member in list(vars(cls).items()):
                key = (cls, name)
                entry = _replaced.get(key)
                if entry is None or vars(cls)[name] is not entry.stand_in:
                    stand_in = self._stand_in(name, member)
                    if stand_in is None:
                        continue
                    entry = _replaced[key] = _Replaced(member, stand_in)
                    type.__setattr__(cls, name, stand_in)
                entry.users += 1
                self._held.append(key)
        for member in list(vars(cls).values()):
            if any(_is_users(getattr(type(member), name, None)) for name in ("__get__", "__set__")):
                self.meet_class(type(member))

    def _stand_in(self, name: str, member: Any) -> Any:
        """What replaces a member of a class; None for what needs none."""
        if type(member) is property:
            parts = (member.fget, member.fset, member.fdel)
            if not any(_is_users(part) for part in parts):
                return None
            return property(*(self._converted(part) for part in parts), member.__doc__)
        if isinstance(member, functools.cached_property):
            return property(self._cached(member)) if _is_users(member.func) else None
        special = name.startswith("__") and name.endswith("__") and name not in _LEFT
        return self._converted(member) if special and _is_users(member) else None

    def _converted(self, function: Any) -> Any:
        if not _is_users(function):
            return function

        @functools.wraps(function)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            call = _thread.call
            return function(*args, **kwargs) if call is None else call(function, *args, **kwargs)

        return stand_in

    def _cached(self, member: Any) -> Any:
        """A property that an object computes once: what it has computed is kept, but nothing that is staged."""
        converted, name = self._converted(member.func), member.attrname

        def get(owner: Any) -> Any:
            if _thread.call is None:
                return member.__get__(owner, type(owner))
            known = vars(owner)
            return known[name] if name in known else converted(owner)

        return get


def _is_users(function: Any) -> bool:
    return type(function) is FunctionType and is_users_code(function.__code__)


def own(value: Any, name: str) -> Any:
    """A special method that the class of `value` was given by a user, bound; None if it has none.

    Python insists on a bool of `__bool__` and on an int of `__len__`: who takes a staged one calls the method itself.
    """
    found = getattr(value.__class__, name, None)
    return functools.partial(found, value) if type(found) is FunctionType else None
