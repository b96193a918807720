"""Kinds of containers (pytree nodes): one record a kind, and everything that is asked of a structure.

A record knows its values by class and by hint, takes them apart and makes them again, and writes the Python that does
so at the border of a compiled function. Hints, descriptions of arguments, staging, callers, `vmap`, the interpreter and
exports read this table; to the rest a structure is a `Node`. `None` is a node without children and no container.

In what the records write, `$` begins every name that is not the user's, and `constant(value)` names a value.
"""

import collections.abc
import copy
import dataclasses
import functools
import numbers
import typing
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from rosejit.abi import Node, Tree
from rosejit.container_kind import Constant, Container, Read, derived_of, is_derived
from rosejit.narrow_values import NarrowValue, dtype_name, is_narrow_scalar, narrowed, widened
from rosejit.numeric import np

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false


class _Tuple(Container):
    is_fixed = True

    def item(self, arguments: tuple[Any, ...]) -> Any:
        return arguments[0] if len(arguments) == len(("item", ...)) and arguments[1] is Ellipsis else None

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        return f"({', '.join(parts)},)" if parts else "()"


class _List(Container):
    changes = True

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        return f"[{', '.join(parts)}]"

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"[*{parts}]"


class _Dict(Container):
    """Also those of a `TypedDict`, whose parts stand in the order of the class."""

    is_named = of_any_keys = changes = True

    def parts(self, value: Any, read: Read = getattr) -> list[Any]:
        return list(value.values())

    def picked(self, value: Any, keys: Sequence[Any], read: Read = getattr) -> list[Any]:
        return [value[key] for key in keys]

    def keys(self, value: Any) -> tuple[Any, ...]:
        return tuple(value)

    def layout(self, value: Any) -> Any:
        return tuple(value)

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        return dict(zip(value, parts, strict=True))

    def node(self, value: Any, children: tuple[Tree, ...], ordered: bool = False) -> Node:
        return Node(self.name, children, tuple(value), ordered=ordered)

    def make(self, node: Node, parts: list[Any]) -> Any:
        return dict(zip(node.keys, parts, strict=True))

    def fields(self, cls: Any) -> tuple[str, ...] | None:
        return tuple(cls.__annotations__) if typing.is_typeddict(cls) else None

    def item(self, arguments: tuple[Any, ...]) -> Any:
        return arguments[1]

    def described(self, children: tuple[Tree, ...], keys: tuple[Any, ...], cls: Any) -> Node:
        return Node(self.name, children, keys, ordered=cls is None)

    def fits(self, value: Any, cls: Any, keys: tuple[Any, ...], count: int) -> bool:
        return isinstance(value, self.accepts) and set(value) == set(keys)

    def wanted(self, cls: Any, keys: tuple[Any, ...], count: int) -> str:
        shown = "dict" if cls is None else cls.__name__
        return f"a `{shown}` with the keys {', '.join(map(repr, keys))}"

    def each(self, node: Node, value: str) -> str | None:
        return f"{value}.values()" if node.ordered else None

    def take(self, node: Node, value: str, names: Sequence[str], constant: Constant) -> list[str]:
        reads = [f"    {name} = {value}[{constant(key)}]" for name, key in zip(names, node.keys, strict=True)]
        return ["try:", *reads, "except $py_KeyError:", '    raise $Mismatch("a key is missing") from None']

    def unlike(self, node: Node, value: str, constant: Constant) -> str:
        wrong = super().unlike(node, value, constant)
        return f"{wrong} or (*{value},) != {constant(node.keys)}" if node.ordered and node.keys else wrong

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        pairs = zip(map(constant, node.keys), parts, strict=True)
        return f"{{{', '.join([f'{key}: {part}' for key, part in pairs])}}}"

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"$py_dict($py_zip({constant(node.keys)}, {parts}))"


class _Deque(Container):
    """With its `maxlen`."""

    changes = True

    def state(self, value: Any) -> Any:
        return value.maxlen

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        return deque(parts, value.maxlen)

    def make(self, node: Node, parts: list[Any]) -> Any:
        return deque(parts, node.state)

    def unlike(self, node: Node, value: str, constant: Constant) -> str:
        return f"{super().unlike(node, value, constant)} or {value}.maxlen != {node.state}"

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"{constant(deque)}({parts}, {node.state})"


class _Record:
    """What is common to classes of the user's whose values have their parts as attributes."""

    is_named = True
    name: str

    def step(self, key: Any) -> str:
        return f".{key}"

    def described(self, children: tuple[Tree, ...], keys: tuple[Any, ...], cls: Any) -> Node:
        return Node(self.name, children, keys, cls)

    def fits(self, value: Any, cls: Any, keys: tuple[Any, ...], count: int) -> bool:
        return isinstance(value, cls)

    def wanted(self, cls: Any, keys: tuple[Any, ...], count: int) -> str:
        return f"a `{cls.__name__}`"

    def unlike(self, node: Node, value: str, constant: Constant) -> str:
        return f"$py_type({value}) is not {constant(node.cls)}"

    def each(self, node: Node, value: str) -> str | None:
        return None

    def node(self: Any, value: Any, children: tuple[Tree, ...], ordered: bool = False) -> Node:
        return Node(self.name, children, self.keys(value), type(value))


class _NamedTuple(_Record, Container):
    is_fixed = True

    def owns(self, cls: Any) -> bool:
        return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")

    def keys(self, value: Any) -> tuple[Any, ...]:
        return type(value)._fields

    def layout(self, value: Any) -> Any:
        return len(value)

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        return type(value)._make(parts)

    def make(self, node: Node, parts: list[Any]) -> Any:
        return typing.cast(Any, node.cls)._make(parts)

    def fields(self, cls: Any) -> tuple[str, ...] | None:
        return cls._fields if self.owns(cls) else None

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        return super().literal(node, parts, constant) if parts else f"{constant(node.cls)}()"

    def take(self, node: Node, value: str, names: Sequence[str], constant: Constant) -> list[str]:
        return [f"{', '.join(names)}, = {value}"]

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"{constant(node.cls)}._make({parts})"


class _Dataclass(_Record, Container):
    """Also objects of other classes of the user's, in nodes that have the names of their attributes."""

    def owns(self, cls: Any) -> bool:
        return hasattr(cls, "__dataclass_fields__")

    def is_mutable(self, cls: Any) -> bool:
        found = getattr(cls, "__dataclass_params__", None)
        return found is None or not found.frozen

    def parts(self, value: Any, read: Read = getattr) -> list[Any]:
        return [read(value, name) for name in self.keys(value)]

    def picked(self, value: Any, keys: Sequence[Any], read: Read = getattr) -> list[Any]:
        return [read(value, key) for key in keys]

    def keys(self, value: Any) -> tuple[Any, ...]:
        return tuple([name for name in _names(type(value)) if hasattr(value, name)])

    def layout(self, value: Any) -> Any:
        return self.keys(value)

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        made = copy.copy(value)
        for name, part in zip(self.keys(value), parts, strict=True):
            object.__setattr__(made, name, part)
        return made

    def make(self, node: Node, parts: list[Any]) -> Any:
        made = object.__new__(typing.cast(Any, node.cls))
        for name, part in zip(node.keys, parts, strict=True):
            object.__setattr__(made, name, part)
        return made

    def maker(self, node: Node) -> Callable[..., Any]:
        return _maker(node.cls, node.keys)

    def fields(self, cls: Any) -> tuple[str, ...] | None:
        return _names(cls) if self.owns(cls) else None

    def take(self, node: Node, value: str, names: Sequence[str], constant: Constant) -> list[str]:
        return [f"{name} = {value}.{key}" for name, key in zip(names, node.keys, strict=True)]

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        return f"{constant(_maker(node.cls, node.keys))}({', '.join(parts)})"

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"{constant(_maker(node.cls, node.keys))}(*{parts})"

    def put(self, node: Node, name: str, parts: Sequence[str], constant: Constant) -> list[str]:
        """As the compiled code left it: no constructor runs, and no `__setattr__` of the class."""
        cls: Any = node.cls
        lines, within = [f"{name} = {constant(cls.__new__)}({constant(cls)})"], f"{name}_dict"
        for key, part in zip(node.keys, parts, strict=True):
            held = _member(cls, key)
            if cls.__setattr__ is object.__setattr__:
                lines.append(f"{name}.{key} = {part}")
            elif isinstance(held, MemberDescriptorType):
                lines.append(f"{constant(held.__set__)}({name}, {part})")
            elif _has_plain_dict(cls) and not hasattr(held, "__set__"):
                lines += [f"{within} = {name}.__dict__"] * (f"{within} = {name}.__dict__" not in lines)
                lines.append(f"{within}[{key!r}] = {part}")
            else:
                lines.append(f"{constant(object.__setattr__)}({name}, {key!r}, {part})")
        return [*lines, f"{name} = {name}.__rose_host__()"] if hasattr(cls, "__rose_host__") else lines


@functools.lru_cache(1024)
def _names(cls: Any) -> tuple[str, ...]:
    return tuple([field.name for field in dataclasses.fields(cls)])


def _member(cls: Any, name: str) -> Any:
    return next((vars(each)[name] for each in cls.__mro__ if name in vars(each)), None)


def _has_plain_dict(cls: Any) -> bool:
    """Whether the `__dict__` of an object is where its attributes are."""
    return type(_member(cls, "__dict__")) is GetSetDescriptorType and cls.__getattribute__ is object.__getattribute__


@functools.lru_cache(256)
def _maker(cls: Any, keys: tuple[str, ...]) -> Callable[..., Any]:
    """A function of its parts to a value of a class."""
    scope: dict[str, Any] = {}

    def constant(value: Any) -> str:
        name = f"$k{len(scope)}"
        scope[name] = value
        return name

    parts = [f"$x{k}" for k in range(len(keys))]
    lines = DATACLASS.put(Node("dataclass", keys=keys, cls=cls), "$made", parts, constant)
    text = "\n    ".join([f"def make({', '.join(parts)}):", *lines, "return $made"])
    names = {name.replace("$", "_rose_"): value for name, value in scope.items()}
    exec(text.replace("$", "_rose_"), names)
    return names["make"]


class _Complex(Container):
    """A complex number of two Reals, or an array of them of two arrays; `sign` is what the imaginary part is told with.
    Of what hints say (the state of the node) Reals are taken too."""

    is_fixed = True
    staged: Callable[[Any, Any], Any] = complex
    """What makes such a number of staged parts: the frontend knows."""

    def __init__(self, name: str, sign: int) -> None:
        super().__init__(name, complex, (numbers.Complex,))
        self.sign = sign

    def owns(self, cls: Any) -> bool:
        return self.sign > 0 and (cls is complex or getattr(cls, "__rose_complex__", False) is True)

    def parts(self, value: Any, read: Read = getattr) -> list[Any]:
        return [*split(value, self.sign)]

    def picked(self, value: Any, keys: Sequence[Any], read: Read = getattr) -> list[Any]:
        return [*split(value, self.sign)]

    def layout(self, value: Any) -> Any:
        return None

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        return _Complex.staged(*parts)

    def node(self, value: Any, children: tuple[Tree, ...], ordered: bool = False) -> Node:
        return Node(self.name, children)

    def make(self, node: Node, parts: list[Any]) -> Any:
        re, im = parts
        return _Complex.staged(re, im if self.sign > 0 else -im)

    def described(self, children: tuple[Tree, ...], keys: tuple[Any, ...], cls: Any) -> Node:
        return Node(self.name, children, state="any")

    def fits(self, value: Any, cls: Any, keys: tuple[Any, ...], count: int) -> bool:
        return isinstance(value, self.accepts) or hasattr(value, "__array__") or isinstance(value, list)

    def wanted(self, cls: Any, keys: tuple[Any, ...], count: int) -> str:
        return "a complex number"

    def step(self, key: Any) -> str:
        return (".real", ".imag")[key]

    def unlike(self, node: Node, value: str, constant: Constant) -> str:
        admitted = is_complex if node.state is None else is_number
        rank = len(getattr(node.children[0], "shape", ()))
        return f"{value}.__class__ is not {constant(complex)} and not {constant(admitted)}({value}, {rank})"

    def each(self, node: Node, value: str) -> str | None:
        return None

    def take(self, node: Node, value: str, names: Sequence[str], constant: Constant) -> list[str]:
        return [f"{', '.join(names)} = {constant(split)}({value}, {self.sign})"]

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        return f"{constant(joined)}({parts[0]}, {'-' * (self.sign < 0)}{parts[1]})"

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"{constant(joined)}(*{parts})"


class _Optional(Container):
    """A value or None: the flag that says whether it is there, and the value. Never an argument from the host."""

    is_fixed = True
    staged: Callable[[Any, Any], Any]
    """What makes one of staged parts: the frontend knows."""

    def owns(self, cls: Any) -> bool:
        return getattr(cls, "__rose_optional__", False) is True

    def parts(self, value: Any, read: Read = getattr) -> list[Any]:
        return [value.__rose_flag__, value.__rose_held__]

    def picked(self, value: Any, keys: Sequence[Any], read: Read = getattr) -> list[Any]:
        return self.parts(value)

    def layout(self, value: Any) -> Any:
        return None

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        return _Optional.staged(*parts)

    def node(self, value: Any, children: tuple[Tree, ...], ordered: bool = False) -> Node:
        return Node(self.name, children)

    def make(self, node: Node, parts: list[Any]) -> Any:
        return _Optional.staged(*parts)

    def each(self, node: Node, value: str) -> str | None:
        return None

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        return f"({parts[1]} if {parts[0]} else None)"

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"{constant(_Optional.staged)}(*{parts})"


class _Chosen(Container):
    """One of several values of the host, its position among them being its one part; a node has them all behind that.
    Of derivatives (the state of the node) it has None in its place. Never an argument from the host."""

    is_fixed = True

    def owns(self, cls: Any) -> bool:
        return hasattr(cls, "__rose_options__")

    def parts(self, value: Any, read: Read = getattr) -> list[Any]:
        return [value.__rose_position__]

    def picked(self, value: Any, keys: Sequence[Any], read: Read = getattr) -> list[Any]:
        return self.parts(value)

    def layout(self, value: Any) -> Any:
        return [*map(id, value.__rose_options__)]

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        return value.__rose_at__(*parts)

    def node(self, value: Any, children: tuple[Tree, ...], ordered: bool = False) -> Node:
        return Node(self.name, children)

    def make(self, node: Node, parts: list[Any]) -> Any:
        return None if node.state else _Chosen.staged(*parts)

    staged: Callable[..., Any]
    """What makes one of a staged position and the values: the frontend knows."""

    def each(self, node: Node, value: str) -> str | None:
        return None

    def literal(self, node: Node, parts: Sequence[str], constant: Constant) -> str:
        if node.state:
            return "None"
        position, *options = parts
        if getattr(node.children[0], "shape", ()):
            return f"{constant(picked_out)}({position}, {', '.join(options)})"
        return f"({', '.join(options)},)[{position}]"

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f"{constant(partial(self.make, node))}([*{parts}])"


def picked_out(positions: Any, *options: Any) -> Any:
    """Of several values the one at a position; at an array of positions a list, along each axis."""
    if getattr(positions, "shape", ()):
        return [picked_out(each, *options) for each in positions]
    return options[positions]


_Chosen.staged = staticmethod(picked_out)


def is_complex(value: Any, rank: int = 0) -> bool:
    """Whether a value of the host is a complex number, or an array of them."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c"


def is_number(value: Any, rank: int) -> bool:
    """Whether a value of the host can be a complex number, or with `rank` an array of them."""
    is_one = isinstance(value, numbers.Complex) or (getattr(value, "shape", None) == () and value.dtype.kind in "biufc")
    return is_one if not rank else hasattr(value, "__array__") or isinstance(value, list)


def split(value: Any, sign: int = 1) -> tuple[Any, Any]:
    """The real and the imaginary part of a number or an array, the latter times `sign`."""
    value = np.asarray(value) if isinstance(value, list) or not hasattr(value, "imag") else value
    return value.real, value.imag if sign > 0 else -value.imag


def joined(re: Any, im: Any) -> Any:
    """The complex number, or the array, of two parts of the host."""
    if not getattr(re, "shape", ()):
        return complex(re, im)
    made = np.empty(re.shape, complex)
    made.real, made.imag = re, im
    return made


class _Narrow(Container):
    """A number or an array of a dtype of few bits, whose name is the state of the node: one part, in 64 bits."""

    is_fixed = True
    staged: Callable[[Any, str], Any]
    """What makes such a value of a staged part: the frontend knows."""

    def owns(self, cls: Any) -> bool:
        return isinstance(cls, type) and (issubclass(cls, NarrowValue) or is_narrow_scalar(cls))

    def parts(self, value: Any, read: Read = getattr) -> list[Any]:
        return [value.wide if isinstance(value, NarrowValue) else widened(value)]

    def picked(self, value: Any, keys: Sequence[Any], read: Read = getattr) -> list[Any]:
        return self.parts(value)

    def layout(self, value: Any) -> Any:
        return value.dtype.name

    def like(self, value: Any, parts: Sequence[Any]) -> Any:
        return _Narrow.staged(parts[0], value.dtype.name)

    def node(self, value: Any, children: tuple[Tree, ...], ordered: bool = False) -> Node:
        return Node(self.name, children, state=value.dtype.name)

    def make(self, node: Node, parts: list[Any]) -> Any:
        return _Narrow.staged(parts[0], node.state)

    def unlike(self, node: Node, value: str, constant: Constant) -> str:
        return f'{constant(dtype_name)}({value}) != "{node.state}"'

    def each(self, node: Node, value: str) -> str | None:
        return None

    def take(self, node: Node, value: str, names: Sequence[str], constant: Constant) -> list[str]:
        return [f"{names[0]} = {constant(widened)}({value})"]

    def gathered(self, node: Node, parts: str, constant: Constant) -> str:
        return f'{constant(narrowed)}(*{parts}, "{node.state}")'


TUPLE = _Tuple("tuple", tuple, (tuple,), (tuple,))
LIST = _List("list", list, (list, tuple), (list, collections.abc.Sequence))
DICT = _Dict("dict", dict, (dict,), (dict, collections.abc.Mapping))
DEQUE = _Deque("deque", deque, (deque,), (deque,))
NAMED_TUPLE = _NamedTuple("namedtuple")
DATACLASS = _Dataclass("dataclass")
COMPLEX = _Complex("complex", 1)
CONJUGATE = _Complex("conjugate", -1)
"""As cotangents of complex numbers are told: by the convention of JAX that of z is du/dx - i du/dy."""
OPTIONAL = _Optional("optional")
CHOSEN = _Chosen("chosen")
NARROW = _Narrow("narrow", NarrowValue, (NarrowValue,))

KINDS: dict[str, Container] = {kind.name: kind for kind in (
    TUPLE, LIST, DICT, DEQUE, NAMED_TUPLE, DATACLASS, COMPLEX, CONJUGATE, OPTIONAL, CHOSEN, NARROW,
    *derived_of((TUPLE, LIST, DICT, DEQUE)),
)}  # fmt: skip
"""The table. Arguments and results of classes derived from those of Python have kinds of their own."""


@functools.lru_cache(2048)
def of_class(cls: Any) -> Container | None:
    """The kind of the values of a class; None for what is no container."""
    return next((kind for kind in KINDS.values() if kind.owns(cls)), None)


def of_type(cls: Any) -> Container | None:
    """The kind whose values all have this class."""
    return next((kind for kind in KINDS.values() if kind.type is cls and cls is not None), None)


def of_argument(value: Any) -> Container | None:
    """The kind that a value without a hint is an argument of."""
    return next((kind for kind in KINDS.values() if kind.type is not None and isinstance(value, kind.type)), None)


def is_container(value: Any) -> bool:
    """Whether a value is of some kind, or of a class derived from one."""
    return of_class(type(value)) is not None or of_argument(value) is not None


@functools.lru_cache(2048)
def derived(cls: Any) -> Container | None:
    """The kind of the values of a class that is derived from one of Python's containers, records aside."""
    if not is_derived(cls):
        return None
    return next(KINDS[f"derived {kind.name}"] for kind in (TUPLE, LIST, DICT, DEQUE) if issubclass(cls, kind.type))


def of_node(node: Node) -> Container:
    """The kind of a node."""
    return KINDS[node.kind]


def of_generic(origin: Any) -> Container | None:
    """The kind that a hint with arguments is for."""
    return next((kind for kind in KINDS.values() if origin in kind.generics), None)


def declared(cls: Any) -> tuple[Container, tuple[str, ...]] | None:
    """The kind of the values of a class of the user's, and the names of their parts."""
    for kind in reversed(KINDS.values()):
        names = kind.fields(cls)
        if names is not None:
            return kind, names
    return None
