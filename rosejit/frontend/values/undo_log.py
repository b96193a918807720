"""Remembers what the host's containers and objects held before staged code changed them, and puts that back."""

# Values of users are of any type: what they are is asked while staging.

from types import ModuleType
from typing import Any
from weakref import ProxyTypes

from rosejit.frontend.values.host_values import ATOMS, atom_key, attributes_of, items_of, put_items

_MISSING = object()


class UndoLog:
    """What was changed since the outermost `with`; an exception that leaves that one puts all of it back."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, Any, dict[str, Any] | None]] = {}
        """By `id`: each container or object, the items that it had, and its attributes."""
        self.places: dict[int, Any] = {}
        """By `id`: where code of the user's first changed a container or an object."""
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._depth -= 1
        if self._depth:
            return
        known = list(self.known.values())
        self.known.clear()
        self.places.clear()
        if kind is not None:
            for owner, items, named in known:
                put_items(owner, items)
                _put_attributes(owner, named)

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

    def is_changed(self, key: int) -> bool:
        """Whether what is known by `key` has other content than it had then."""
        owner, items, named = self.known[key]
        return not (_alike(items_of(owner), items) and _alike(_attributes(owner), named))


def _alike(one: Any, other: Any) -> bool:
    """Whether two copies of what is in a container hold the same objects, or equal numbers and strings."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return _alike(list(one), list(other)) and _alike(list(one.values()), list(other.values()))
    if not isinstance(one, (list, tuple)):
        return one == other  # copies: of sets, or None
    return len(one) == len(other) and all([a is b or _is_equal(a, b) for a, b in zip(one, other, strict=True)])


def _is_equal(one: Any, other: Any) -> bool:
    return type(one) in ATOMS and type(one) is type(other) and atom_key(one) == atom_key(other)


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
    setting, deleting = (
        (type.__setattr__, type.__delattr__) if isinstance(owner, type) else (object.__setattr__, object.__delattr__)
    )
    now = _attributes(owner) or {}
    for name in {**now, **before}:
        value = before.get(name, _MISSING)
        if value is _MISSING:
            deleting(owner, name)
        elif now.get(name, _MISSING) is not value:
            setting(owner, name, value)
