"""Type hints as they are written, in quotes too, to the descriptions of the values that they admit."""

import abc
import dataclasses
import enum
import inspect
import numbers
import sys
import types
import typing
import weakref
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

from rosejit import containers, narrow_values
from rosejit.abi import SCALAR_OF
from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.checked_names import names_for_checkers
from rosejit.frontend.hints.hints import (
    KINDS_OF_CLASSES,
    Array,
    ArrayOf,
    Description,
    Dim,
    Dual,
    DualOf,
    Inferred,
    Kind,
    Mat,
    Nothing,
    OneOf,
    Random,
    Repeated,
    Scalar,
    Static,
    Structure,
    Validated,
    Vec,
    dimension,
)
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import loaded


@dataclass(slots=True)
class Hints:
    """Reads the hints of one function; strings are evaluated where the function was written."""

    scope: dict[str, Any] = field(default_factory=dict[str, Any])
    subject: str = "function"
    waits: bool = False
    """Whether a name that is not there yet is a NameError, to be tried again, and no refusal."""
    reading: list[Any] = field(default_factory=list[Any])
    """The names of hints, and aliases, inside which the hint is."""

    def description(self, hint: Any) -> Description:
        """What values `hint` admits."""
        if isinstance(hint, typing.ForwardRef):
            hint = hint.__forward_arg__
        if not isinstance(hint, str) and not hasattr(type(hint), "__value__"):
            return self._of_object(_meant(hint))
        if any(hint is one or hint == one for one in self.reading):
            return Inferred()  # a hint inside itself: of a tree any value of the host is one
        self.reading.append(hint)
        try:
            return self.description(self.evaluated(hint) if isinstance(hint, str) else hint.__value__)
        finally:
            self.reading.pop()

    def _of_object(self, hint: Any) -> Description:
        if hint is Any or hint is Ellipsis or _says_nothing(hint):
            return Inferred()
        if hasattr(hint, "__supertype__"):  # of `NewType`
            return self.description(hint.__supertype__)
        if hint is None or hint is type(None):
            return Nothing()
        if isinstance(hint, (ArrayOf, Static)) or (isinstance(hint, Structure) and hint.kind == "complex"):
            return hint
        if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
            return self.of_class(hint)
        return self.of_generic(hint)

    def evaluated(self, text: str) -> Any:
        """The object that a hint written as a string stands for."""
        try:
            return self._value(text)
        except Exception as error:
            if self.waits and isinstance(error, NameError):
                raise
            raise StagingTypeError(
                f"the hint `{text}` of `{self.subject}` cannot be evaluated: {error}",
                help="define the name at the top of the module, or leave the hint out",
            ) from None

    def _value(self, text: str) -> Any:
        try:
            return eval(text, self.scope)
        except NameError:
            known = names_for_checkers(self.scope)
            if not self.waits:  # a class inside a function, in the hints of its own methods: whatever the value is
                known |= dict.fromkeys(self.subject.split(".")[:-1], Any)
            if not known:
                raise
            return eval(text, {**known, **self.scope})

    def of_class(self, cls: type) -> Description:
        """What a class admits."""
        if cls in KINDS_OF_CLASSES:
            return Scalar(KINDS_OF_CLASSES[cls])
        if issubclass(cls, complex) and cls.__module__ in ("builtins", "numpy"):
            return Structure("complex", (Scalar("real"), Scalar("real")))
        if cls is Dual:
            return DualOf()
        if cls is Static:
            return Static()
        if _is_ndarray(cls):
            return ArrayOf(None, None)
        if cls in (Vec, Mat, Array):
            rank = {"Vec": 1, "Mat": 2}.get(cls.__name__)
            return ArrayOf(None if rank is None else (Dim("_", anonymous=True),) * rank, "real", cls.__name__)
        if hasattr(cls, "dim_str") and hasattr(cls, "dtypes"):
            return _jaxtyping(cls)
        if cls.__name__ == "Generator" and cls.__module__.startswith("numpy.random"):
            return Random()
        if containers.of_type(cls) is not None:
            return Inferred()
        return self.of_structure(cls) or _of_number_class(cls) or _of_interface(cls) or _of_other(cls, cls)

    def of_structure(self, cls: Any) -> Description | None:
        """A class whose instances have parts that are values."""
        found = containers.declared(cls)
        return None if found is None else Structure(found[0].name, keys=found[1], cls=cls)

    def of_generic(self, hint: Any) -> Description:
        """What a hint with arguments, a union or an alias admits."""
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        alias = origin if origin is not None else hint
        if hasattr(alias, "__value__"):  # `type Row = Vec[3]`, and NumPy's NDArray since 2.5
            return self.description(alias.__value__[args] if args else alias.__value__)
        if origin is typing.Annotated:
            return Validated(self.description(args[0]), hint)
        if origin in _QUALIFIERS or isinstance(hint, dataclasses.InitVar):
            return self.description(args[0] if args else hint.type)
        if origin is typing.Union or isinstance(hint, types.UnionType):
            return OneOf(tuple(self.description(arg) for arg in args), hint)
        container = containers.of_generic(origin)
        item = None if container is None else container.item(args)
        if container is not None and item is not None:
            made = Repeated(container.name, self.description(item))
            is_text = item is str and isinstance(origin, type) and issubclass(str, origin)  # a text is one of texts too
            return OneOf((made, self.description(str)), hint) if is_text else made
        if container is not None and container.is_fixed:
            return Structure(container.name, tuple([self.description(arg) for arg in args]))
        if _is_ndarray(origin) and args and _is_complex(args[-1]):
            part = ArrayOf(None, "real", "NDArray[complex]")
            return Structure("complex", (part, part))
        if _is_ndarray(origin):
            return ArrayOf(None, _element(args[-1]) if args else None, "NDArray")
        structure = self.of_structure(origin) if isinstance(origin, type) else None
        return structure or _of_interface(origin) or _of_other(origin, hint)


_QUALIFIERS = (typing.ClassVar, typing.Final)


def _says_nothing(hint: Any) -> bool:
    """Whether the value alone says what it is: a type variable, `Self`, or what no value has."""
    return isinstance(hint, typing.TypeVar) or (
        getattr(hint, "__module__", "") in ("typing", "typing_extensions")
        and getattr(hint, "_name", None) in ("Self", "NoReturn", "Never")
    )


def _of_interface(cls: Any) -> Description | None:
    """A protocol or an abstract class: whatever the value is; beartype looks at its class, if that can be asked for,
    but not inside: of a list it would look at one item."""
    return Validated(Inferred(), cls) if isinstance(cls, abc.ABCMeta) else None


def _of_other(cls: Any, hint: Any) -> Description:
    """A class that says nothing of parts: classes derived from it may have some, so the value tells. Texts, members of
    enumerations, and what is no class, are of the host.
    """
    is_open = isinstance(cls, type) and not issubclass(cls, (str, bytes, enum.Enum, numbers.Number, type))
    return Validated(Inferred(), hint) if is_open else Static(hint)


def _meant(hint: Any) -> Any:
    """What a `type` statement gives another name to: since NumPy 2.5 `NDArray` is one."""
    while hasattr(type(hint), "__value__"):
        hint = hint.__value__
    origin = typing.get_origin(hint)
    return origin.__value__[typing.get_args(hint)] if hasattr(type(origin), "__value__") else hint


def _is_ndarray(cls: Any) -> bool:
    numpy = loaded()
    return numpy is not None and cls is numpy.ndarray


def _of_number_class(cls: type) -> Description | None:
    """`np.float64` and the like."""
    numpy = loaded()
    if numpy is None or not issubclass(cls, numpy.generic):
        return None
    if narrow_values.is_narrow_scalar(cls):
        return Inferred()
    kind = _element(cls)
    return None if kind is None else Scalar(kind)


def _is_complex(hint: Any) -> bool:
    scalar = (typing.get_args(hint) or (hint,))[0]
    return isinstance(scalar, type) and issubclass(scalar, (complex, *_complexes()))


def _complexes() -> tuple[type, ...]:
    numpy = loaded()
    return () if numpy is None else (numpy.complexfloating,)


def _element(hint: Any) -> Kind | None:
    """The kind of element that `np.dtype[np.float64]` or `np.float64` stands for; None for any, and for a dtype of few
    bits: that of the value counts."""
    numpy = loaded()
    scalar = (typing.get_args(hint) or (hint,))[0]
    if isinstance(scalar, type) and narrow_values.is_narrow_scalar(scalar):
        return None
    for base, kind in ((numpy.floating, "real"), (numpy.integer, "int"), (numpy.bool_, "bool")):
        if isinstance(scalar, type) and issubclass(scalar, base):
            return typing.cast(Kind, kind)
    return None


def _jaxtyping(cls: Any) -> ArrayOf:
    words = cls.dim_str.split()
    names = cls.dtypes if isinstance(cls.dtypes, Iterable) else ()
    kinds: set[Kind] = {SCALAR_OF.get(str(name)[0], "real") for name in names}
    return ArrayOf(tuple(dimension(word) for word in words), kinds.pop() if len(kinds) == 1 else None, cls.__name__)


ARRIVED: "weakref.WeakKeyDictionary[type, dict[str, Any]]" = weakref.WeakKeyDictionary()
"""What their hints name, by classes that came from another process without their module."""


def parts_of(structure: Structure) -> tuple[Any, ...]:
    """The descriptions of the parts of a structure."""
    if structure.cls is None or structure.items:
        return structure.items
    cls = structure.cls
    scope = {**vars(sys.modules.get(cls.__module__, typing)), **ARRIVED.get(cls, {}), cls.__name__: cls}
    reader = Hints(scope, cls.__qualname__)
    hints = _class_hints(cls)
    return tuple(reader.description(hints[key]) if key in hints else Inferred() for key in structure.keys)


def _class_hints(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found.update(inspect.get_annotations(base) if sys.version_info < (3, 14) else _annotations(base))
    return found


def _annotations(owner: Any) -> dict[str, Any]:
    """The raw hints of a function or class; since 3.14 they are made when they are asked for."""
    try:
        return dict(getattr(owner, "__annotations__", {}))
    except NameError as error:
        raise StagingTypeError(
            f"the hints of `{owner.__qualname__}` cannot be evaluated: {error}",
            help="write the hint in quotes, or define the name before the function is decorated",
        ) from None


def parameter_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The hints of `function` as they were written, `return` included."""
    return _annotations(function)
