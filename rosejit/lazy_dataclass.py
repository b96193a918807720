"""Dataclasses whose methods are written when they are first called.

The standard decorator has Python compile five methods for each class at once. Of two hundred classes that was half the
time of `import rosejit`, and a program uses few of them. Here a class gets its fields and slots at once; `__init__`,
`__eq__` and `__hash__` write themselves in their first call, and from then on are what the standard ones are.

`field`, `fields` and `replace` are those of `dataclasses`. Classes that users make or read (`rose.Dual`, `rose.Cost`)
keep the standard decorator: tools look at their methods before any is called.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

from rosejit.beside_bytecode import kept

_Method = Callable[..., Any]


def _decorator(
    cls: Any = None, /, *, frozen: bool = False, eq: bool = True, repr: bool = True, slots: bool = False
) -> Any:
    """As `dataclasses.dataclass`, without `InitVar` and fields that are given by keyword only."""

    def decorate(cls: Any) -> Any:
        return _made(cls, frozen, eq, repr, slots)

    return decorate if cls is None else decorate(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _decorator


def _made(cls: Any, frozen: bool, eq: bool, repr: bool, slots: bool) -> Any:
    written: dict[str, Any] = {**vars(cls)}
    own = {name for name, value in written.items() if value is not None}
    undocumented = cls.__doc__ is None
    cls.__doc__ = cls.__doc__ or cls.__name__  # else a signature is made for it
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    if undocumented:
        made.__doc__ = None
    given: dict[str, _Method] = {"__init__": _later(made, "__init__", lambda: _init(made, frozen, slots))}
    if repr:
        given["__repr__"] = _repr
    if eq:
        given["__eq__"] = _later(made, "__eq__", lambda: _eq(made))
    if eq and frozen:
        given["__hash__"] = _later(made, "__hash__", lambda: _hash(made))
    if frozen:
        given |= _frozen(made)
    if frozen and slots:
        given |= {"__getstate__": _state, "__setstate__": _restore}
    for name, method in given.items():
        if name not in own:
            setattr(made, name, method)
    if eq and not frozen and "__hash__" not in own:
        made.__hash__ = None
    return made


def _later(cls: Any, name: str, write: Callable[[], _Method]) -> _Method:
    """A method that puts the one that is written in its place. Two threads write the same."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        written = write()
        written.__name__, written.__qualname__ = name, f"{cls.__qualname__}.{name}"
        written.__module__ = cls.__module__
        setattr(cls, name, written)
        return written(self, *args, **kwargs)

    return method


def _compiled(head: str, body: list[str], names: dict[str, Any]) -> _Method:
    text = f"def method({head}):\n " + "\n ".join(body)
    known = kept(__file__)
    if text not in known:
        known.add(text, compile(text, "<string>", "exec"))
    exec(known[text], names)
    return names["method"]


def _init(cls: Any, frozen: bool, slots: bool) -> _Method:
    head, body = ["self"], list[str]()
    names: dict[str, Any] = {"MISSING": MISSING, "_set": object.__setattr__}
    for f in fields(cls):
        value = _given(f, slots, head, names)
        if value is None:
            continue
        if frozen and slots:
            names[f"_set_{f.name}"] = getattr(cls, f.name).__set__  # half the time of `object.__setattr__`
            body.append(f"_set_{f.name}(self, {value})")
        else:
            body.append(f"_set(self, {f.name!r}, {value})" if frozen else f"self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    return _compiled(", ".join(head), body or ["pass"], names)


def _given(f: "Field[Any]", slots: bool, head: list[str], names: dict[str, Any]) -> str | None:
    """What a field is set to, None if to nothing; its parameter is added to `head`."""
    default = f"_default_{f.name}"
    if f.default_factory is not MISSING:
        names[default] = f.default_factory
        if f.init:
            head.append(f"{f.name}=MISSING")
            return f"{default}() if {f.name} is MISSING else {f.name}"
        return f"{default}()"
    names[default] = f.default
    if f.init:
        head.append(f.name if f.default is MISSING else f"{f.name}={default}")
        return f.name
    return default if slots and f.default is not MISSING else None  # without slots it stays with the class


def _eq(cls: Any) -> _Method:
    names = [f.name for f in fields(cls) if f.compare]
    mine, others = [f"({''.join(f'{side}.{name}, ' for name in names)})" for side in ("self", "other")]
    equal = f"return {mine} == {others}"
    return _compiled(
        "self, other",
        ["if other is self: return True", f"if other.__class__ is self.__class__: {equal}", "return NotImplemented"],
        {},
    )


def _hash(cls: Any) -> _Method:
    names = [f.name for f in fields(cls) if (f.compare if f.hash is None else f.hash)]
    return _compiled("self", [f"return hash(({''.join(f'self.{name}, ' for name in names)}))"], {})


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join([f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr])
    return f"{type(self).__qualname__}({shown})"


def _frozen(cls: Any) -> dict[str, _Method]:
    names = {f.name for f in fields(cls)}

    def set_(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)  # pyright: ignore[reportUnknownMemberType] - any base

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)  # pyright: ignore[reportUnknownMemberType] - any base

    return {"__setattr__": set_, "__delattr__": delete}


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
