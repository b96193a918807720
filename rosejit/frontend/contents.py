"""What belongs to an object in a walk (`world.py`): all that code which is handed the object can find out about it.

Everything here is a list of what is known to be all. What is not in it raises `Open`.
"""

# Values of users are of any type: what they are is asked while walking.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false

import dataclasses
import functools
import os
import struct
import sys
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    CellType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from rosejit import abi
from rosejit.frontend import classes
from rosejit.frontend.codes import Open, Scope, facts, text_of
from rosejit.frontend.rewrite import TRANSLATIONS
from rosejit.frontend.users import is_users_class, is_users_code
from rosejit.frontend.world import World
from rosejit.numeric import np

_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep
_DATA = frozenset(
    f"rosejit.{name}" for name in ("abi", "frontend.annotations", "frontend.dimensions", "frontend.checked")
)
"""Modules of ours whose dataclasses are data."""
_LARGE = 16 << 20
"""Bytes of an array that takes too long to look at."""


def content(world: World, value: Any) -> Any:
    """What is to be walked for `value`."""
    kind: Any = type(value)
    known = _KINDS.get(kind) if type(kind) is type else None  # a metaclass may say what is equal
    if known is not None:
        return known(world, value)
    if issubclass(kind, type):
        return classes.of_class(world, value) if is_users_class(value) and not _is_ours(value) else _named(value)
    module = str(kind.__module__)  # Cython's classes of functions have a descriptor there
    if module == "numpy":
        return _of_numpy(value, kind)
    if module.startswith("rosejit."):
        return value.__rose_world__() if hasattr(kind, "__rose_world__") else _of_ours(value, kind)
    if is_users_class(kind):
        return classes.of_object(value, kind)
    return classes.of_hint(world, value)


def _function(world: World, function: FunctionType) -> Any:
    code = function.__code__
    public = _public().get(id(function))
    if public is not None:
        _without_attributes(function)
        return "rosejit", public
    if id(code) not in world.usual:
        if TRANSLATIONS.made(code):
            raise Open(f"`{function.__qualname__}` was made by staged code")
        if is_users_code(code):
            world.usual.add(id(code))
        elif not is_ours(code) and _found(function.__module__, function.__qualname__) is function:
            return _named(function)
    world.functions.append(function)
    given = function.__dict__ if id(code) in world.usual or not is_ours(code) else None
    names, defaults = (function.__name__, function.__qualname__), (function.__defaults__, function.__kwdefaults__)
    return "function", world.scope(function), *names, *defaults, function.__closure__, given


def _scope(world: World, scope: Scope) -> Any:
    known = facts(scope.code)
    world.codes |= known.ids
    if is_ours(scope.code):  # the version of the package says what it reads
        return "ours", known.digest
    world.names.update(known.names)
    is_users = is_users_code(scope.code)
    text = text_of(scope.code.co_filename) if is_users else None
    held = scope.globals
    if type(held) is not dict:
        raise Open("globals that are no dict")
    given = held.get("__builtins__")
    if is_users and given is not sys.modules["builtins"] and given is not vars(sys.modules["builtins"]):
        raise Open("builtins of its own")
    return "code", known.digest, text, [(name, held[name]) for name in known.names if name in held]


def _module(world: World, module: ModuleType) -> Any:
    world.module(module)
    return "module", module.__name__


def _cell(world: World, cell: CellType) -> Any:
    try:
        return "cell", cell.cell_contents
    except ValueError:
        return "empty cell"


def _builtin(world: World, function: Any) -> Any:
    owner = function.__self__
    if owner is None or isinstance(owner, ModuleType):
        return "builtin", function.__module__, function.__qualname__
    return "method", owner, function.__name__


def _named(value: Any) -> Any:
    """What is known by its name: a class or a function of a library."""
    module, name = value.__module__, value.__qualname__
    if _found(module, name) is not value:
        raise Open(f"`{name}` is not to be found in `{module}`")
    if not isinstance(value, type):
        _without_attributes(value)
    elif not _is_fixed(value):
        raise Open(f"`{name}`, a class that anybody can change")
    return "named", module, name


_HEAP_TYPE, _IMMUTABLE = 1 << 9, 1 << 8
"""Flags of classes that are made when Python runs, and of those whose attributes cannot be set."""
_LEFT_ALONE = frozenset({
    "abc", "enum", "typing", "types", "inspect", "numbers", "collections", "dataclasses", "rosejit",
})  # fmt: skip
"""Modules whose classes have attributes that nobody sets: hints and bases are made of them."""


def _is_fixed(cls: type) -> bool:
    is_immutable = not cls.__flags__ & _HEAP_TYPE or bool(cls.__flags__ & _IMMUTABLE)
    return is_immutable or issubclass(cls, BaseException) or str(cls.__module__).partition(".")[0] in _LEFT_ALONE


_NUMPYS = "_implementation"
"""What NumPy gave its functions before they were written in C."""


def _without_attributes(function: Any) -> None:
    given = [name for name in getattr(function, "__dict__", ()) if not name.startswith("__") and name != _NUMPYS]
    if given:
        raise Open(f"`{function.__qualname__}`, which was given a `{given[0]}`,")


def _found(module: Any, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _of_numpy(value: Any, kind: Any) -> Any:
    if isinstance(value, np.generic):
        if value.dtype.kind not in "fiubc":
            raise Open(f"a {kind.__name__} of NumPy's")
        return "scalar", kind.__name__, value.dtype.str, value.tobytes()
    if kind is np.ndarray:
        if value.dtype.kind not in "fiubc" or value.nbytes > _LARGE:
            raise Open(f"an array of {value.size} {value.dtype}")
        facts = (value.dtype.char, value.dtype.str, value.shape, value.strides, value.flags.writeable)
        return "array", *facts, value.tobytes()
    if kind is np.ufunc:
        if getattr(np, value.__name__, None) is not value:
            raise Open(f"the function `{value.__name__}`")
        return "ufunc", value.__name__
    if kind.__name__ == "_ArrayFunctionDispatcher":
        return _named(value)
    if isinstance(value, np.dtype) and value.kind in "fiubc":
        return "dtype", value.str
    raise Open(f"a {kind.__name__} of NumPy's")


@functools.cache
def _public() -> dict[int, str]:
    """The public functions of this package by `id`: each is what its name and the version of the package say."""
    found = vars(sys.modules["rosejit"])
    return {id(value): name for name, value in found.items() if _is_ours(value) and not isinstance(value, ModuleType)}


def _is_ours(value: Any) -> bool:
    named = isinstance(value, (type, FunctionType))
    return str(value.__module__ if named else type(value).__module__).partition(".")[0] == "rosejit"


def _of_ours(value: Any, kind: Any) -> Any:
    public = _public().get(id(value))
    if public is not None:
        return "rosejit", public
    name: str = kind.__qualname__
    if kind.__module__ not in _DATA or not dataclasses.is_dataclass(kind):
        raise Open(f"a {name}")
    if kind is abi.Static:  # its value is walked itself
        return "Static"
    return name, [getattr(value, field.name) for field in dataclasses.fields(kind)]


def is_ours(code: Any) -> bool:
    """Whether code belongs to this package, solvers and examples apart: those are staged as a user's code."""
    file = code.co_filename
    return file == "<rosejit>" or (file.startswith(_OURS) and not is_users_code(code))


_KINDS: dict[type, Callable[[World, Any], Any]] = {
    FunctionType: _function,
    Scope: _scope,
    ModuleType: _module,
    CellType: _cell,
    BuiltinFunctionType: _builtin,
    MethodType: lambda world, method: ("bound", method.__func__, method.__self__),
    MethodDescriptorType: lambda world, slot: ("slot", slot.__objclass__, slot.__name__),
    ClassMethodDescriptorType: lambda world, slot: ("slot", slot.__objclass__, slot.__name__),
    WrapperDescriptorType: lambda world, slot: ("slot", slot.__objclass__, slot.__name__),
    functools.partial: lambda world, made: ("partial", made.func, made.args, made.keywords, vars(made)),
    complex: lambda world, number: ("complex", struct.pack("<2d", number.real, number.imag)),
    range: lambda world, items: ("range", items.start, items.stop, items.step),
    type(Ellipsis): lambda world, value: "...",
    type(NotImplemented): lambda world, value: "NotImplemented",
    staticmethod: lambda world, member: ("staticmethod", member.__func__),
    classmethod: lambda world, member: ("classmethod", member.__func__),
    property: lambda world, member: ("property", member.fget, member.fset, member.fdel, member.__doc__),
    functools.cached_property: lambda world, member: ("cached", member.func, member.attrname),
    type(dataclasses.MISSING): lambda world, value: "MISSING",
}
