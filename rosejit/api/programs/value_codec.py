"""Values of the host to JSON and back; classes, functions and modules are named, as pickle names them."""

# Values of users are of any type.

import enum
import sys
import types
from collections.abc import Callable
from importlib import import_module
from typing import Any

from rosejit.api.deferred import assert_raise, host_scalars
from rosejit.errors import CacheError, StagingTypeError
from rosejit.numeric import loaded, np
from rosejit.runtime.cache_format import place_words
from rosejit.span import Span

Missing = object()
_CONTAINERS: dict[str, Any] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}


class Writer:
    """Values to JSON. What has no name in a module goes to `pickled`, and is refused if there is no such list."""

    def __init__(self, title: str, pickled: list[Any] | None = None) -> None:
        self.title = title
        self.pickled = pickled

    def name(self, named: Any, what: str) -> str | int:
        """What a class, a function or a module is found by."""
        if isinstance(named, types.ModuleType):
            return f"{named.__name__}:"
        module, name = getattr(named, "__module__", None), getattr(named, "__qualname__", None)
        is_here = _found(str(module), str(name))
        if (is_here is named or getattr(is_here, "__wrapped__", Missing) is named) and (
            module != "__main__" or self.pickled is None
        ):
            return f"{module}:{name}"
        if self.pickled is None:
            raise StagingTypeError(
                f"`{self.title}` cannot be saved: {what} `{name or type(named).__name__}` has no name in a module",
                help="define it at the top of a module, so that another process finds it",
            )
        self.pickled.append(named)
        return len(self.pickled) - 1

    def value(self, value: Any, what: str) -> Any:
        """`value`, which `what` says where it stands; raises StagingTypeError for what only this process has."""
        cls = type(value)
        if value is None or cls in (bool, int, str):
            return value
        if cls is float:
            return {"float": value.hex()}
        if cls is complex:
            return {"complex": [value.real.hex(), value.imag.hex()]}
        if cls is bytes:
            return {"bytes": value.hex()}
        if cls.__name__ in _CONTAINERS and cls is _CONTAINERS[cls.__name__]:
            return {cls.__name__: [self.value(item, what) for item in value]}
        if cls is dict:
            return {"dict": [[self.value(key, what), self.value(item, what)] for key, item in value.items()]}
        if cls in (range, slice):
            return {cls.__name__: [self.value(getattr(value, at), what) for at in ("start", "stop", "step")]}
        if isinstance(value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)):
            return {"name": self.name(value, what)}
        return self._made(value, what)

    def _made(self, value: Any, what: str) -> Any:
        """A number or an array of NumPy, a record, a member of an enum, an exception, or what is pickled."""
        if hasattr(type(value), "__rose_saved__"):
            return value.__rose_saved__()
        numpy = loaded()
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype.kind in "biufc":
            array = numpy.ascontiguousarray(value)
            words = [value.dtype.str, list(value.shape), array.tobytes().hex()]
            return {"array" if type(value) is numpy.ndarray else "number": words}
        if isinstance(value, enum.Enum):
            return {"enum": [self.name(type(value), what), value.name]}
        if isinstance(value, BaseException):
            return {"exception": self._exception(value, what)}
        if isinstance(value, assert_raise.RaisedLater):
            attributes = [[name, self._later(each, what)] for name, each in value.attributes.items()]
            return {"raised": [self.name(value.cls, what), [self._later(e, what) for e in value.args], attributes]}
        if isinstance(value, assert_raise.AssertionLater):
            return {"assertion": [value.form, value.place and place_words(value.place)]}
        names = _fields(value)
        if names is not None:
            parts = [self.value(getattr(value, name), what) for name in names]
            return {"record": [self.name(type(value), what), names, parts]}
        if self.pickled is None:
            raise StagingTypeError(
                f"`{self.title}` cannot be saved: {what} is {type(value).__name__}, which no file can hold",
                help="numbers, texts, arrays, structures of such, and what has a name in a module are saved",
            )
        self.pickled.append(value)
        return {"name": len(self.pickled) - 1}

    def _exception(self, value: BaseException, what: str) -> Any:
        attributes = [[name, self.value(each, what)] for name, each in vars(value).items()]
        return [self.name(type(value), what), [self.value(arg, what) for arg in value.args], attributes]

    def _later(self, later: Any, what: str) -> Any:
        known = later.known if later.kind == "text" else self.value(later.known, what)
        return [later.kind, known, [self._later(item, what) for item in later.inside]]


def _fields(value: Any) -> list[str] | None:
    """The names of all that a named tuple or a record holds; None for other objects."""
    cls: Any = type(value)
    if cls.__new__ is not object.__new__:
        return [*cls._fields] if isinstance(value, tuple) and hasattr(cls, "_fields") else None
    names = [*getattr(cls, "__dataclass_fields__", ())]
    whole = all([hasattr(value, name) for name in names]) and {*getattr(value, "__dict__", ())} <= {*names}
    return names if names and whole else None


def is_importable_main() -> bool:
    """Whether another process can import the program that runs, as those of `multiprocessing` do."""
    return hasattr(sys.modules.get("__main__"), "__file__")


def _found(module: str, name: str) -> Any:
    """What has that name in a module, `Missing` if nothing has."""
    try:
        found: Any = import_module(module)
    except (ImportError, ValueError):
        return Missing
    for part in name.split(".") if name else ():
        found = getattr(found, part, Missing)
    return found


class Reader:
    """JSON to values; `pickled` is what the writer put there. Raises ValueError, TypeError, ... for other JSON.

    `trusted`: what the JSON names may be imported, which runs it.
    """

    def __init__(self, title: str, trusted: bool, pickled: list[Any] | None = None) -> None:
        self.title = title
        self.trusted = trusted
        self.pickled = pickled or []

    def named(self, name: Any, kind: type = object) -> Any:
        """The class, function or module of a name; it must be of that kind."""
        if type(name) is int:
            return self.pickled[name]
        module, _, qualname = name.partition(":")
        if not self.trusted and module != "builtins":
            raise CacheError(
                f"others can write to {self.title}, and it names `{name}`, which would be run",
                help=f"if nobody has changed it: `chmod go-w {self.title}`",
            )
        found = _found(module, qualname)
        if found is Missing:
            raise CacheError(
                f"{self.title} needs `{module}.{qualname}`, which is not there",
                help=f"it is found by the name that it had where the program was saved: make `import {module}` work, "
                "with that name in it, or save the program again",
            )
        if not isinstance(found, kind):
            raise ValueError(f"{name} is no {kind.__name__}")
        return found

    def value(self, words: Any) -> Any:
        """The value that a writer was given."""
        if words is None or type(words) in (bool, int, str):
            return words
        ((kind, inside),) = words.items()
        if kind in _CONTAINERS:
            return _CONTAINERS[kind]([self.value(item) for item in inside])
        return _READERS[kind](self, inside)

    def exception(self, words: Any) -> Any:
        """The exception of a failure: a class, one that is copied, or what makes one."""
        if words is None:
            return None
        ((kind, inside),) = words.items()
        if kind not in ("name", "exception", "raised", "assertion"):
            raise ValueError("no exception")
        return self.raisable(inside) if kind == "name" else _READERS[kind](self, inside)

    def raisable(self, name: Any) -> Any:
        """A class of exceptions."""
        found = self.named(name, type)
        if not issubclass(found, BaseException):
            raise ValueError("no exception")
        return found

    def later(self, words: Any) -> Any:
        """An argument of an exception that is made later."""
        kind, known, inside = words
        known = _form(known) if kind == "text" else self.value(known)
        return assert_raise.Later(kind, known, tuple(map(self.later, inside)))


def _form(words: Any) -> Any:
    return tuple([item if type(item) is str else tuple(item) for item in words])


def _array(reader: Reader, words: Any) -> Any:
    dtype, shape, data = words
    found: Any = np.frombuffer(bytes.fromhex(data), np.dtype(dtype)).reshape(shape)
    return found.copy()


def _record(reader: Reader, words: Any) -> Any:
    name, names, values = words
    cls, parts = reader.named(name, type), [reader.value(value) for value in values]
    if issubclass(cls, tuple):
        return tuple.__new__(cls, parts)
    made = object.__new__(cls)
    for field, part in zip(names, parts, strict=True):
        object.__setattr__(made, field, part)
    return made


def _exception(reader: Reader, words: Any) -> Any:
    name, args, attributes = words
    cls = reader.raisable(name)
    made = cls.__new__(cls, *map(reader.value, args))
    made.args = tuple(map(reader.value, args))
    made.__dict__.update({name: reader.value(value) for name, value in attributes})
    return made


def _raised(reader: Reader, words: Any) -> Any:
    name, args, attributes = words
    later = {name: reader.later(value) for name, value in attributes}
    return assert_raise.RaisedLater(reader.raisable(name), tuple(map(reader.later, args)), later)


_READERS: dict[str, Callable[[Reader, Any], Any]] = {
    "bound": lambda reader, words: host_scalars.Bound(...),
    "float": lambda reader, words: float.fromhex(words),
    "complex": lambda reader, words: complex(*map(float.fromhex, words)),
    "bytes": lambda reader, words: bytes.fromhex(words),
    "dict": lambda reader, words: {reader.value(key): reader.value(item) for key, item in words},
    "range": lambda reader, words: range(*words),
    "slice": lambda reader, words: slice(*map(reader.value, words)),
    "name": lambda reader, words: reader.named(words),
    "array": _array,
    "number": lambda reader, words: _array(reader, words)[()],
    "enum": lambda reader, words: reader.named(words[0], enum.EnumMeta)[words[1]],
    "record": _record,
    "exception": _exception,
    "raised": _raised,
    "assertion": lambda reader, words: assert_raise.AssertionLater(_form(words[0]), words[1] and Span(*words[1])),
}
