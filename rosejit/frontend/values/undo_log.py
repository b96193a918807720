"""Remembers what the host's containers and objects held before staged code changed them, and puts that back."""

# Values of users are of any type: what they are is asked while staging.

import warnings
from types import ModuleType, WrapperDescriptorType
from typing import Any
from weakref import ProxyTypes

from rosejit.errors import StagingWarning
from rosejit.frontend.values.host_values import attributes_of, is_opaque, items_of, put_items

_MISSING = object()


class UndoLog:
    """What was changed since the outermost `with`; an exception that leaves that one puts all of it back."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, Any, dict[str, Any] | None]] = {}
        """By `id`: each container or object, the items that it had, and its attributes."""
        self.places: dict[int, Any] = {}
        """By `id`: where code of the user's first changed a container or an object."""
        self.hidden: dict[int, Any] = {}
        """By `id`: objects that may have changed, into which nobody can look."""
        self._made: dict[int, Any] = {}
        self._alive: list[Any] = []
        self._depth = 0

    @property
    def is_open(self) -> bool:
        """Whether something is being staged."""
        return self._depth > 0

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._depth -= 1
        if self._depth:
            return
        if kind is None:
            for each in self.hidden.values():
                _warn(each, self.places[id(each)])
        known = list(self.known.values())
        self.known.clear()
        self.places.clear()
        self.hidden.clear()
        self._made.clear()
        self._alive.clear()
        if kind is not None:
            for owner, items, named in known:
                put_items(owner, items)
                _put_attributes(owner, named)

    def made(self, value: Any) -> None:
        """Note an object that staged code has made, into which nobody can look."""
        if is_opaque(value):
            self._made[id(value)] = value

    def may_change(self, owner: Any, place: Any) -> None:
        """Code of the user's, here, calls what may change `owner`, or changes it."""
        if id(owner) not in self.places and not isinstance(owner, (ModuleType, type, type(None))):
            self.places[id(owner)] = place
            self._alive.append(owner)
            if is_opaque(owner) and id(owner) not in self._made and place is not None:
                self.hidden[id(owner)] = owner

    def note(self, owner: Any) -> None:
        """`owner` is about to be changed, or what it is a weak proxy of."""
        if type(owner) in ProxyTypes:
            owner = _behind(owner)
        if id(owner) in self.known:
            return
        if owner.__class__ is list or owner.__class__ is dict:  # most of them
            self.known[id(owner)] = (owner, owner.copy(), None)
        else:
            self.known[id(owner)] = (owner, items_of(owner), _attributes(owner))


def _warn(owner: Any, place: Any) -> None:
    found = StagingWarning(
        f"an object of `{type(owner).__name__}` may be changed while the function is staged: once, not at each call",
        place,
        help="change it before the call, or in a function of your own with `rose.opaque`; if it does not change, say "
        "`rose.pure(f)` of the function `f` that uses it",
    )
    warnings.warn_explicit(found, None, place.file, place.line)


def _behind(proxy: Any) -> Any:
    """What a weak proxy stands for: whose method it gives. What is gone already is changed by nobody."""
    try:
        return proxy.__format__.__self__
    except ReferenceError:
        return proxy


def _attributes(owner: Any) -> dict[str, Any] | None:
    if isinstance(owner, (type, ModuleType)):
        return dict(vars(owner))
    named = attributes_of(owner)
    return named if named or hasattr(owner, "__dict__") else None


def _put_attributes(owner: Any, before: dict[str, Any] | None) -> None:
    if before is None:
        return
    setting, deleting = _by_python(owner, "__setattr__"), _by_python(owner, "__delattr__")
    now = _attributes(owner) or {}
    for name in {**now, **before}:
        value = before.get(name, _MISSING)
        if value is _MISSING:
            deleting(owner, name)
        elif now.get(name, _MISSING) is not value:
            setting(owner, name, value)


def _by_python(owner: Any, name: str) -> Any:
    """How Python itself sets or deletes an attribute of an object, whatever its class does."""
    cls: type = type(owner)
    return next(vars(each)[name] for each in cls.__mro__ if type(vars(each).get(name)) is WrapperDescriptorType)


def is_changed(value: Any, before: Any) -> bool:
    """Whether other objects are in a container than before."""
    if len(value) != len(before):
        return True
    if isinstance(value, set):
        return value != before
    pairs = zip(value.items(), before.items(), strict=True) if isinstance(value, dict) else [(value, before)]
    return any(a is not b for x, y in pairs for a, b in zip(x, y, strict=True))
