"""Has the methods of the user's classes that Python itself calls run as staged code while a session stages."""

# Values of users are of any type: what they are is asked while staging.

import dataclasses
import enum
import functools
import operator
import threading
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.syntax.user_code import is_users_class, is_users_code
from rosejit.frontend.values.host_values import HOLDERS, held_in
from rosejit.frontend.values.pytree import attribute, is_record
from rosejit.frontend.values.scalars import NUMBERS, Bool, P
from rosejit.frontend.values.tape import MaybeBound

Call = Callable[..., Any]

_LEFT = frozenset({
    "__new__", "__init_subclass__", "__class_getitem__", "__set_name__", "__del__", "__getattribute__", "__setstate__",
    "__instancecheck__", "__subclasscheck__", "__prepare__", "__init__",
})  # fmt: skip
"""Methods that make objects; constructors are seen to where they are called."""
_DESCRIBING = frozenset({
    "__hash__", "__repr__", "__dir__", "__sizeof__", "__reduce__", "__reduce_ex__", "__getstate__", "__copy__",
    "__deepcopy__",
})  # fmt: skip
"""Methods that describe objects, which our own code calls as well: they run as they are, and are watched."""
_ORDERS = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})
_WITHOUT = frozenset({float, int, bool, str, type(None), FunctionType, Array}) | NUMBERS
"""Types whose values need nothing."""


class _Thread(threading.local):
    call: Call | None = None
    """What calls a function in the staging that is going on in this thread."""
    watch: Call | None = None
    """What calls one there as it is, and looks at what that changes."""
    keep: Call | None = None
    """What makes an attribute of what an object has computed of itself."""
    hashed: Call | None = None
    """What is told of objects that become keys or members of sets by their identity."""


class _Method:
    """Stands in for a method; `asked` says what calls it in this thread, None if nothing wants to.

    Another thread may pickle the class meanwhile, as pools of processes do: what it finds there is the user's own.
    """

    def __init__(self, function: Any, asked: Call) -> None:
        functools.update_wrapper(self, function)
        self._function, self._asked = function, asked

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call, function = self._asked(), self._function
        if call is None or (function.__name__ == "__getattr__" and args[1:] and _is_asked_by_us(args[1])):
            return function(*args, **kwargs)
        return call(function, *args, **kwargs)

    def __reduce__(self) -> Any:
        return _itself, (self._function,)


def _itself(original: Any) -> Any:
    return original


class _Replaced:
    """A member of a class that stands in for the user's own; `users` stagings need it."""

    def __init__(self, original: Any, stand_in: Any) -> None:
        self.original = original
        self.stand_in = stand_in
        self.users = 0


_thread = _Thread()
_lock = threading.Lock()
_replaced: dict[tuple[type, str], _Replaced] = {}


class _Cached(functools.cached_property[Any]):
    """Stands in for a property that an object computes once: what it has computed is an attribute from then on."""

    def __init__(self, original: Any, converted: Call) -> None:
        super().__init__(original.func)
        self.attrname = original.attrname
        self._original, self._converted = original, converted

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        if owner is None or _thread.call is None:
            return self if owner is None else self._original.__get__(owner, cls)
        return self.computed(owner)

    def __reduce__(self) -> Any:
        return _itself, (self._original,)

    def computed(self, owner: Any) -> Any:
        """What is computed now, and kept."""
        value = self._converted(owner)
        if _thread.keep is not None:
            _thread.keep(owner, self.attrname, value)
        return value


class Methods:
    """The classes whose objects one session has met.

    Python calls `__add__`, the function of a property or `__enter__` without asking anybody, so while a session stages
    they are stand-ins in the class: in the thread of the session they run as staged code, in others as ever.
    """

    def __init__(self, call: Call, watch: Call) -> None:
        self._call = call
        self._watch = watch
        self.keep: Call | None = None
        """What makes an attribute of what an object has computed of itself."""
        self.check: Call | None = None
        """What looks at attributes that are asked for all at once."""
        self.inherited: dict[int, Any] = {}
        """By `id`: those of which only running tells whether an object has one itself."""
        self.hashed: Call | None = None
        """What is told of objects that become keys, or members of sets, by their identity."""
        self._outer: tuple[Call | None, ...] = (None, None, None, None)
        self._held: list[tuple[type, str]] = []
        self.known: set[type] = set(_WITHOUT)

    def begin(self) -> None:
        """Staging begins."""
        self._outer = _thread.call, _thread.watch, _thread.keep, _thread.hashed
        _thread.call, _thread.watch, _thread.keep, _thread.hashed = self._call, self._watch, self.keep, self.hashed

    def end(self) -> None:
        """Staging is over: the classes are again what they were."""
        _thread.call, _thread.watch, _thread.keep, _thread.hashed = self._outer
        with _lock:
            for key in self._held:
                entry = _replaced[key]
                entry.users -= 1
                if not entry.users:
                    del _replaced[key]
                    if vars(key[0]).get(key[1]) is not entry.stand_in:
                        continue
                    if entry.original is None:
                        type.__delattr__(*key)
                    else:
                        type.__setattr__(*key, entry.original)
        self._held.clear()
        self.known.clear()
        self.known |= _WITHOUT

    def instrument(self, value: Any) -> Any:
        """`value`, which staged code will use, or a class itself; of a container also the classes of what is in it."""
        kind: type = value.__class__
        if kind in HOLDERS:
            if id(value) in self.inherited and self.check is not None:
                self.check(value)
            for inner in set(map(type, held_in(value))) - self.known:
                if inner is MaybeBound and isinstance(value, dict) and self.check is not None:
                    self.check(value)
                self.instrument_class(inner)
        elif kind not in self.known:
            cls = value if isinstance(value, type) else kind
            if cls not in self.known:
                self.instrument_class(cls)
        return value

    def instrument_class(self, cls: type) -> None:
        """Let the methods of a class, and of those above it, be staged."""
        for base in cls.__mro__:
            if base not in self.known and is_users_class(base):
                self.known.add(base)
                self._replace(base)
                self.instrument_class(type(base))

    def _replace(self, cls: type) -> None:
        with _lock:
            members = dict(vars(cls))
            if "__eq__" in members:
                members.setdefault("__ne__", None)
            if cls.__hash__ is object.__hash__ and not isinstance(cls, type(enum.Enum)):
                members.setdefault("__hash__", None)
            for name, member in members.items():
                key = (cls, name)
                entry = _replaced.get(key)
                if entry is None or member is not entry.stand_in:
                    stand_in = self._stand_in(cls, name, member)
                    if stand_in is None:
                        continue
                    entry = _replaced[key] = _Replaced(member, stand_in)
                    type.__setattr__(cls, name, stand_in)
                entry.users += 1
                self._held.append(key)
        for member in list(vars(cls).values()):
            if any(_is_users(getattr(type(member), name, None)) for name in ("__get__", "__set__")):
                self.instrument_class(type(member))

    def _stand_in(self, cls: Any, name: str, member: Any) -> Any:
        """What replaces a member of a class; None for what needs none."""
        if name == "__ne__" and member is None and type(vars(cls)["__eq__"]) in _FUNCTIONS:
            return _differs
        if name == "__hash__" and member is None:
            return _Method(object.__hash__, lambda: _thread.hashed) if cls.__hash__ is object.__hash__ else None
        if name == "__eq__" and type(member) is FunctionType and is_record(cls) and not _is_users(member):
            return _Method(member, lambda: _thread.call and _fields_agree)
        if name in _ORDERS and type(member) is FunctionType and is_record(cls) and not _is_users(member):
            return _Method(member, lambda: _thread.call and _fields_in_order)
        if type(member) is property:
            get, put, delete = member.fget, member.fset, member.fdel
            if not any(map(_is_users, (get, put, delete))):
                return None
            return property(self._converted(get), self._converted(put), self._converted(delete), member.__doc__)
        if isinstance(member, functools.cached_property):
            return _Cached(member, self._converted(member.func)) if _is_users(member.func) else None
        if name in _DESCRIBING:
            return _Method(member, lambda: _thread.watch) if _is_users(member) else None
        special = name.startswith("__") and name.endswith("__") and name not in _LEFT
        return self._converted(member) if special and _is_users(member) else None

    def _converted(self, function: Any) -> Any:
        return _Method(function, lambda: _thread.call) if _is_users(function) else function


def _negated(value: Any) -> Any:
    return Bool(value.tape, value.tape.apply(P["not"], value.atom)) if value.__class__ is Bool else not value


def _differs(self: Any, other: Any) -> Any:
    """`!=` of a class that has `==` alone."""
    found = self.__eq__(other)
    return found if found is NotImplemented else _negated(found)


def _fields_agree(generated: Any, self: Any, other: Any) -> Any:
    """The `==` of a dataclass: Python compares the fields as tuples, and wants to know the result."""
    if other.__class__ is not self.__class__:
        return generated(self, other)
    found: Any = True
    for field in dataclasses.fields(self):
        if field.compare:
            equal = _compared(operator.eq, attribute(self, field.name), attribute(other, field.name))
            found = equal if found is True else found & equal if equal is not True else found
    return found


def _fields_in_order(generated: Any, self: Any, other: Any) -> Any:
    """`<` and the like of a dataclass that has an order: that of the fields as tuples."""
    if other.__class__ is not self.__class__:
        return generated(self, other)
    names = [field.name for field in dataclasses.fields(self) if field.compare]
    pair = [tuple([attribute(each, name) for name in names]) for each in (self, other)]
    return _compared(getattr(operator, generated.__name__), *pair)


def _compared(compare: Call, a: Any, b: Any) -> Any:
    """What a comparison says in staged code."""
    assert _thread.call is not None
    return _thread.call(compare, a, b)


def _is_asked_by_us(name: str) -> bool:
    """Whether it is not the user's code that wants an attribute: then a `raise` says no, and is not staged."""
    return name == "leaf" or (name.startswith("__") and name.endswith("__"))


def _is_users(function: Any) -> bool:
    return type(function) is FunctionType and is_users_code(function.__code__)


def member_of(cls: type, name: str) -> Any:
    """What a class, or one above it, holds under a name, as its user wrote it; None if it holds nothing."""
    for each in cls.__mro__:
        if name in vars(each):
            member = vars(each)[name]
            entry = _replaced.get((each, name))
            return member if entry is None or member is not entry.stand_in else entry.original
    return None


def special_names(cls: type) -> frozenset[str]:
    """The special methods that a class has itself, beside those that it has only while code is staged."""
    found = [name for name, member in vars(cls).items() if name[:2] == "__" and type(member) in _METHODS]
    return frozenset([name for name in found if member_of(cls, name) is not None])


_FUNCTIONS = (FunctionType, _Method)
_METHODS = (*_FUNCTIONS, staticmethod, classmethod)


def as_written(owner: Any, name: str, value: Any) -> Any:
    """What an attribute of a class is, which reads as `value`, beside what stands in for it while code is staged."""
    if not _replaced or not isinstance(owner, type):
        return value
    entries = [entry for cls in owner.__mro__ if (entry := _replaced.get((cls, name))) is not None]
    return next((entry.original for entry in entries if value is entry.stand_in), value)


def own(value: Any, name: str) -> Any:
    """A special method that the class of `value` was given by a user, bound; None if it has none.

    Python insists on a bool of `__bool__` and on an int of `__len__`: who takes a staged one calls the method itself.
    """
    found: Any = getattr(value.__class__, name, None)
    return functools.partial(found, value) if type(found) in _FUNCTIONS else None
