"""Host values by kind: what tells one from another, what is in it, and how it can be changed.

This is the one table of kinds. Guards, closures of inner functions and static arguments read it (by
`reachable_state`), and undo. `kind_of` says how a value is opened; `items_of` and `put_items` copy
what a container holds, and put it back. What cannot be looked into (a lock, a file, an iterator) counts as the object
that it is; iterators are refused where staged code reads them.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownLambdaType=false

import array
import enum
import functools
import io
import sys
import threading
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Set, ValuesView
from contextvars import ContextVar
from itertools import chain, compress
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, NamedTuple

from rosejit.frontend.syntax.user_code import is_users, is_users_class
from rosejit.numeric import np

_EXACT = frozenset({int, bool, str, bytes, type(None), type(...), type(NotImplemented)})
ATOMS = _EXACT | {float, complex}
"""Types of values in which there is nothing, and which nobody can change."""


class ById:
    """Equal to another stand-in for the same object, which it keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def atom_key(value: Any) -> Any:
    """What tells an atom from others: 1, 1.0 and True, or 0.0 and -0.0, are different, and nan is itself."""
    kind = value.__class__
    if kind is float:
        return kind, value.hex()
    return (kind, repr(value)) if kind is complex else (kind, value)


Opened = tuple[Any, list[Any]]
"""What tells a value from others of its type, what is in it aside; and what is in it."""
Opener = Callable[[Any], Opened]


class Kind(NamedTuple):
    """How the values of a type are opened, and how they can be changed."""

    open: Opener
    change: str
    """"never": only its children can; "items", "keys": those of a list or dict; "attributes": in a `__dict__`; "slots";
    "any": there is more to look at."""
    is_library: bool = False
    """An object of a library, in which what is deep counts as the object it is."""
    names: tuple[str, ...] = ()
    """The slots."""


# --- attributes


def slots_of(cls: type) -> tuple[str, ...]:
    """The slots of a class and of those above it."""
    return tuple([
        name
        for each in reversed(cls.__mro__)
        for name, member in vars(each).items()
        if type(member) is MemberDescriptorType and not name.startswith("__")
    ])  # fmt: skip


def attributes_of(value: Any) -> dict[str, Any]:
    """What an object has in its slots and in its dictionary."""
    found: dict[str, Any] = {name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)}
    found |= getattr(value, "__dict__", _NOTHING)
    if isinstance(value, enum.Enum):  # which notes under such names what it makes on demand, as `A | B`
        found = {name: held for name, held in found.items() if name[0] != "_" or name == "_value_"}
    return found


_NOTHING: dict[str, Any] = {}
_slots = functools.lru_cache(maxsize=1024)(slots_of)


def _own_data(cls: type) -> dict[str, Any]:
    """The data that a class holds itself: methods and properties are none, the user's own descriptors are."""
    hidden, held = "_" if isinstance(cls, enum.EnumMeta) else "__", vars(cls).items()
    return {
        name: each
        for name, each in held
        if not name.startswith(hidden) and (not hasattr(each, "__get__") or _is_data(each))
    }


def _is_data(descriptor: Any) -> bool:
    return isinstance(descriptor, functools.partialmethod) or is_users_class(type(descriptor))


def has_data(cls: type) -> bool:
    """Whether a class of the user's, or the class of it, holds what can be set: that of an enumeration cannot."""
    kind: Any = type(cls)
    above = kind.__mro__ if is_users_class(kind) else ()
    is_open = is_users_class(cls) and not issubclass(cls, enum.Enum)
    return is_open and any([_own_data(each) for each in (*cls.__mro__[:-1], *above) if is_users_class(each)])


# --- the table


def _named(what: Any, named: dict[str, Any]) -> Opened:
    return what, [*named, *named.values()]


def itself(value: Any) -> Opened:
    """The object that it is, whatever is in it."""
    return ById(value), []


def open_object(value: Any) -> Opened:
    """An object is itself, with its attributes; its class may hold more."""
    kind = type(value)
    what, named = _named(ById(value), attributes_of(value))
    return what, [*named, kind] if is_users_class(kind) else named


def open_class(value: type, names: Set[str] | None = None) -> Opened:
    """A class is itself, with its data of these names; those above it are classes in turn."""
    if not is_users_class(value):
        return ById(value), []
    what, inside = _named(ById(value), _among(_own_data(value), names))
    return what, [*inside, *filter(is_users_class, (*value.__bases__, type(value)))]


def is_users_module(value: ModuleType) -> bool:
    """Whether a module is the user's, also one that no file has made."""
    file = vars(value).get("__file__")  # it may have a `__getattr__`
    return value.__name__ not in sys.builtin_module_names if file is None else is_users(file)


def open_module(value: ModuleType, names: Set[str] | None = None) -> Opened:
    """A module of the user's is itself, with its data of these names."""
    if not is_users_module(value):
        return ById(value), []
    held = {name: each for name, each in vars(value).items() if name[:2] != "__"}
    if names is not None:
        return _named(ById(value), _among(held, names))
    what, inside = _named(ById(value), {name: each for name, each in held.items() if not is_identity(each)})
    return (what, *[(name, ById(each)) for name, each in held.items() if is_identity(each)]), inside


def _among(named: dict[str, Any], names: Set[str] | None) -> dict[str, Any]:
    return named if names is None else {name: held for name, held in named.items() if name in names}


KEPT = "__rose_kept__"
"""The attribute of a plain function in which what was made of it is kept."""


def named_by_users(function: FunctionType) -> dict[str, Any]:
    """The attributes that users gave a function."""
    named = vars(function)
    return {name: held for name, held in named.items() if name != KEPT} if KEPT in named else named


def open_function(value: FunctionType) -> Opened:
    """A function is itself, with its attributes and defaults; what it reads is guarded where it runs."""
    what, named = _named(ById(value), named_by_users(value))
    return what, [*named, value.__defaults__, value.__kwdefaults__]


def fact_of(value: Any, name: str) -> Any:
    """What a function, a class or a module says that it is, under a name such as `__doc__`; None where it says
    nothing."""
    if isinstance(value, type) and name not in ("__name__", "__qualname__"):
        return vars(value).get(name)  # what is not there may be made when it is asked for
    return vars(value).get(name) if isinstance(value, ModuleType) else getattr(value, name, None)


def globals_of(value: Any) -> tuple[tuple[str, ById], ...]:
    """The globals of a function, by which objects they are."""
    held: dict[str, Any] = getattr(value, "__globals__", None) or {}
    return tuple([(name, ById(each)) for name, each in held.items() if name[:2] != "__"])


def _builtin(value: Any) -> Opened:
    owner = value.__self__
    return (ById(value), []) if owner is None or isinstance(owner, ModuleType) else (value.__name__, [owner])


def _cell(value: CellType) -> Opened:
    try:
        return ById(value), [value.cell_contents]
    except ValueError:  # nothing yet
        return ById(value), []


def elements(value: Any) -> Opened:
    """An array by its elements."""
    if value.dtype == object:
        return value.shape, [*value.flat]
    masked = getattr(value, "_mask", None)  # NumPy's own `tobytes` of such an array writes to it
    covered = None if masked is None else np.asarray(masked).tobytes()
    return (value.shape, value.dtype.str, np.asarray(value).tobytes(), covered), []


def _memory(value: Any) -> Opened:
    view = memoryview(value)
    return (view.format, view.shape, view.tobytes()), []


def _buffer(value: Any) -> Opened:
    return (None, []) if value.closed else ((value.getvalue(), value.tell()), [])


def _reduced(value: Any) -> Opened:
    """A value of a type that is made in C and compares by content: what it says when it is pickled."""
    try:
        found = value.__reduce_ex__(4)
    except Exception:  # whatever a library says where it cannot be
        return ById(value), []
    if isinstance(found, str):
        return ById(value), []
    return ById(found[0]), [list(each) if hasattr(each, "__next__") else each for each in found[1:]]


def _like_array(value: Any) -> Opened:
    """An object of a library that is an array too: a table of pandas, a tensor."""
    try:
        what, inside = elements(np.asarray(value))
    except Exception:  # whatever a library says where it cannot be
        return open_object(value)
    return (ById(value), what, len(inside)), [*inside, *open_object(value)[1]]


def _compared(value: Any) -> Opened:
    """A value of a library that has a hash, and so does not change: it says itself what it is equal to."""
    try:
        hash(value)
    except TypeError:  # something in it can
        return open_object(value)
    return (value,), []


def _proxied(value: Any) -> Any:
    """Of a class; while code is staged it may have a stand-in for the hash that all objects have."""
    own = {name: value[name] for name in value if not (name == "__hash__" and _is_stand_in(value[name]))}
    return None, [*own, *own.values()]


def _is_stand_in(hashing: Any) -> bool:
    """Whether a class has, while code is staged, what tells of the hash that all objects have."""
    return getattr(hashing, "__wrapped__", None) is object.__hash__


def _mapping(value: Any) -> Opened:
    return None, [*dict.__iter__(value), *dict.values(value)]


def _views(value: Any) -> Opened:
    return None, [*value.mapping, *value.mapping.values()]


ROWS: tuple[tuple[Any, Opener, str], ...] = (
    (list, lambda value: (None, list.copy(value)), "items"),
    (tuple, lambda value: (None, list(tuple.__iter__(value))), "never"),
    (OrderedDict, lambda value: (None, [*value, *value.values()]), "any"),
    (defaultdict, lambda value: (None, [*value, *value.values(), value.default_factory]), "any"),
    (dict, _mapping, "keys"),
    (MappingProxyType, _proxied, "any"),
    ((KeysView, ValuesView, ItemsView), _views, "any"),
    (set, lambda value: (None, list(set.__iter__(value))), "any"),
    (frozenset, lambda value: (None, list(frozenset.__iter__(value))), "never"),
    (deque, lambda value: (value.maxlen, list(deque.__iter__(value))), "items"),
    ((array.array, bytearray, memoryview), _memory, "any"),
    ((range, slice), lambda value: (None, [value.start, value.stop, value.step]), "never"),
    (functools.partial, lambda value: (None, [value.func, value.args, value.keywords, vars(value)]), "any"),
    (MethodType, lambda value: (None, [value.__func__, value.__self__]), "never"),
    (BuiltinFunctionType, _builtin, "never"),
    (FunctionType, open_function, "any"),
    ((staticmethod, classmethod), lambda value: (None, [value.__func__]), "never"),
    (property, lambda value: (None, [value.fget, value.fset, value.fdel]), "never"),
    (CellType, _cell, "any"),
    ((io.StringIO, io.BytesIO), _buffer, "any"),
    (threading.local, lambda value: _named(ById(value), vars(value)), "any"),
    (ContextVar, lambda value: (ById(value), [value.get(None)]), "any"),
    (weakref.ref, lambda value: (ById(value), [value()]), "any"),
    (type, open_class, "any"),
    (ModuleType, open_module, "any"),
    (int, lambda value: (int.__int__(value), []), "never"),
    (float, lambda value: (float.hex(value), []), "never"),
    (str, lambda value: (str.__str__(value), []), "never"),
    (bytes, lambda value: (bytes.__getitem__(value, slice(None)), []), "never"),
)
"""Types, how their values are opened, and how these can be changed. Those of a class derived from one have attributes
too. What has no row is an object with attributes, or is made in C."""


HOLDERS: dict[type, Callable[[Any], Iterable[Any]]] = {
    **dict.fromkeys((list, tuple, set, frozenset, deque), iter),
    **dict.fromkeys((dict, OrderedDict, defaultdict, MappingProxyType), lambda value: value.values()),
}
"""The rows whose values are containers of any values, and what gives these, the keys aside."""


def held_in(value: Any) -> list[Any]:
    """The elements of a container of Python's, of a class derived from one too; nothing for what is none."""
    for cls in type(value).__mro__:
        if cls in HOLDERS:
            return list(HOLDERS[cls](value))
    return []


@functools.lru_cache(maxsize=2048)
def kind_of(cls: type) -> Kind:
    """The kind of the values of a type."""
    if cls in ATOMS:
        return Kind(lambda value: (atom_key(value), []), "never")
    if issubclass(cls, enum.Enum):
        return Kind(open_object, "any")
    if _is_still(cls) or (str(cls.__module__).startswith("rosejit.") and not is_users_class(cls)):
        return Kind(itself, "any")
    if type(cls).__module__ == "_ctypes" or cls.__module__ == "mmap":
        return Kind(_memory, "any")
    scalar = (np.generic, lambda value: ((value.dtype.str, value.tobytes()), []), "never")
    for types, opened, change in ((np.ndarray, elements, "any"), scalar, *ROWS):
        if issubclass(cls, types):
            is_derived = cls is not types and not (isinstance(types, tuple) and cls in types)
            has_more = is_derived and types not in (type, ModuleType) and (cls.__dictoffset__ or slots_of(cls))
            return Kind(_beside(opened), "any") if has_more else Kind(opened, change)
    return _kind_of_object(cls)


def _beside(opened: Opener) -> Opener:
    def both(value: Any) -> Opened:
        what, inside = opened(value)
        named = attributes_of(value)
        return (what, len(inside)), [*inside, *named, *named.values(), type(value)]

    return both


def _kind_of_object(cls: type) -> Kind:
    slots, is_library = slots_of(cls), not (is_users_class(cls) or cls is SimpleNamespace)
    is_plain = cls.__getattribute__ is object.__getattribute__ or cls is SimpleNamespace
    has_dict = cls.__dictoffset__ != 0
    if not has_dict and not slots:
        return _kind_of_c(cls)
    if is_library and hasattr(cls, "__array__"):
        return Kind(_like_array, "any", is_library)
    if is_library and cls.__eq__ is not object.__eq__ and cls.__hash__ is not None:
        return Kind(_compared, "never", is_library)
    if has_dict and not slots:
        return Kind(open_object, "attributes" if is_plain else "any", is_library)
    return Kind(open_object, "any" if has_dict or not is_plain else "slots", is_library, slots)


def _kind_of_c(cls: type) -> Kind:
    """A type made in C. That it has a hash of its own says that nobody can change its values."""
    if cls.__hash__ is None or (cls.__module__, cls.__name__) == ("decimal", "Context"):
        return Kind(_reduced, "any", is_library=True)
    if cls.__hash__ is not object.__hash__ and not _is_stand_in(cls.__hash__):
        return Kind(_reduced, "never", is_library=True)
    return Kind(open_object if is_users_class(cls) else itself, "any" if hasattr(cls, "__next__") else "never", True)


def is_opaque(value: Any) -> bool:
    """Whether nobody can see what is in an object of a library, or whether it has changed: it is made in C."""
    cls = type(value)
    is_ours = _is_still(cls) or str(cls.__module__).startswith("rosejit.") or isinstance(value, _IDENTICAL)
    return not is_ours and cls is not object and kind_of(cls).open is itself


def is_iterator(value: Any) -> bool:
    """Whether a value is an iterator of Python's or of a library, which nobody can look into."""
    cls = value.__class__  # a weak proxy says that of what it stands for
    return hasattr(cls, "__next__") and not is_users_class(cls) and not isinstance(value, io.IOBase)


# --- what is frozen

_IDENTICAL = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)


def is_identity(value: Any) -> bool:
    """Whether a value counts as the object that it is: functions, decorated ones too, classes and modules."""
    return isinstance(value, _IDENTICAL) or _is_still(type(value))


@functools.lru_cache(maxsize=1024)
def _is_still(cls: type) -> bool:
    """Whether there is nothing in the values of a type, and nobody can change them: decorated functions, and NumPy's,
    which need not be loaded for that."""
    is_numpys = cls.__module__ == "numpy" and cls.__name__ in ("ufunc", "_ArrayFunctionDispatcher")
    return is_numpys or hasattr(cls, "__rose_stage__")


_FROZEN = frozenset((tuple, frozenset))
_FUNCTIONS = frozenset((FunctionType, BuiltinFunctionType))
_SURE = ATOMS | _FROZEN | _FUNCTIONS


def _of(types: Set[type], values: list[Any]) -> Iterator[Any]:
    """The values of these types."""
    return compress(values, map(types.__contains__, map(type, values)))


def _is_bare(value: Any) -> bool:
    """Whether a function has no attributes, and is bound to nothing."""
    return not (named_by_users(value) if type(value) is FunctionType else _builtin(value)[1])


def is_frozen(value: Any) -> bool:
    """Whether nobody can change a value, down to its parts. Functions without attributes count as what they are."""
    kind = type(value)
    if kind in ATOMS:
        return True
    if kind in _FUNCTIONS:
        return _is_bare(value)
    level: list[Any] = [value]
    while level:  # tables are long: all that is equally deep is asked at once
        kinds = set(map(type, level))
        if not kinds <= _SURE and not all(map(_is_still, kinds - _SURE)):
            return False
        if not kinds.isdisjoint(_FUNCTIONS) and not all(map(_is_bare, set(_of(_FUNCTIONS, level)))):
            return False
        if kinds.isdisjoint(_FROZEN):
            return True
        level = list(chain.from_iterable(level if kinds <= _FROZEN else _of(_FROZEN, level)))
    return True


# --- what is put back


def _refill(owner: Any, items: Any, kind: Any) -> None:
    kind.clear(owner)
    for key, value in items.items():
        kind.__setitem__(owner, key, value)


_ITEMS: tuple[tuple[Any, Callable[[Any], Any], Callable[[Any, Any], None]], ...] = (
    (list, list.copy, lambda owner, items: list.__setitem__(owner, slice(None), items)),
    (deque, list, lambda owner, items: (deque.clear(owner), deque.extend(owner, items))[1]),
    (OrderedDict, dict, lambda owner, items: _refill(owner, items, OrderedDict)),
    (dict, dict, lambda owner, items: _refill(owner, items, dict)),
    (set, set, lambda owner, items: (set.clear(owner), set.update(owner, items))[1]),
    (bytearray, bytes, lambda owner, items: bytearray.__setitem__(owner, slice(None), items)),
    (
        array.array,
        lambda owner: array.array(owner.typecode, owner),
        lambda owner, items: array.array.__setitem__(owner, slice(None), items),
    ),
)
"""Containers, how their items are copied, and how these are put back."""


def items_of(owner: Any) -> Any:
    """A copy of what is in a container; None for what is none."""
    return next((copy(owner) for types, copy, _ in _ITEMS if isinstance(owner, types)), None)


def put_items(owner: Any, items: Any) -> None:
    """Let a container have the items that were copied."""
    put = next((put for types, _, put in _ITEMS if isinstance(owner, types)), None)
    if put is not None:
        put(owner, items)
