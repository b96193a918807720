"""Type hints of parameters, as descriptions of the values they admit: scalars, arrays with dimensions, structures.

A dimension is a number, a name or an expression of names (`"n+1"`).
"""

import ast
import dataclasses
import functools
import inspect
import operator
import re
import sys
import types
import typing
import weakref
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, Literal

from rosejit import containers, narrow_values
from rosejit.abi import SCALAR_OF
from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.checked_names import names_for_checkers
from rosejit.ir.lengths import Length, named
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import loaded


@dataclass(slots=True, frozen=True)
class Dim:
    """One dimension of a hint: a number, a name or an expression of names; `many` stands for any number of them."""

    text: str
    size: int | None = None
    many: bool = False
    anonymous: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it binds a name."""
        return self.text.isidentifier() and not self.anonymous

    def value(self, known: dict[str, Any]) -> Any:
        """What an expression gives; None while a name in it is unknown."""
        if self.size is not None:
            return self.size
        if self.text.isidentifier():
            return known.get(self.text)
        if any(name not in known for name in re.findall(r"[A-Za-z_]\w*", self.text)):
            return None
        found = eval(self.text, {"__builtins__": {}}, dict(known))  # checked by `dimension`: names, numbers, + - * //
        return found if isinstance(found, Length) else int(found)


_ALLOWED = (ast.Expression, ast.Name, ast.Constant, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Load)


def dimension(given: object) -> Dim:
    """A dimension as it is written in a hint. Raises StagingTypeError for anything else."""
    if given is Ellipsis:
        return Dim("...", many=True)
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return Dim(str(given), given)
    if isinstance(given, str):
        text = given.strip().rpartition("=")[2].lstrip("#")
        if text == "..." or text.startswith("*"):
            return Dim(text, many=True)
        if text.isdecimal():
            return Dim(text, int(text))
        if text.startswith("_"):
            return Dim(text, anonymous=True)
        if is_expression(text):
            return Dim(text)
    raise StagingTypeError(
        f"`{given!r}` is no dimension",
        help='a dimension is a number, a name such as "n", an expression such as "n+1", or `...`',
    )


@functools.cache
def is_expression(text: str) -> bool:
    """Whether a text is arithmetic of names and numbers."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return all(isinstance(node, _ALLOWED) and type(getattr(node, "value", 0)) is int for node in ast.walk(tree))


# Values of users are of any type: what they are is asked while staging.
Kind = Literal["real", "int", "bool"]


class Real:
    """A real number, IEEE f64: in a hint the same as `float`.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def f(x: rose.Real) -> rose.Real:
    ...     return x / 2.0
    >>> f(3.0)
    1.5
    """

    __slots__ = ()


class Int:
    """An integer of 64 bits: in a hint the same as `int`.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def f(x: rose.Int) -> rose.Int:
    ...     return x // 2
    >>> f(3)
    1
    """

    __slots__ = ()


class Bool:
    """A truth value: in a hint the same as `bool`.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def f(x: rose.Bool) -> rose.Bool:
    ...     return not x
    >>> f(True)
    False
    """

    __slots__ = ()


@dataclasses.dataclass(slots=True)
class Dual:
    """A value `re` and its tangent `du`: what the parameters and the result of a `.jvp` rule are.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def cube(x: float) -> float:
    ...     return x * x * x
    >>> @cube.jvp
    ... def _(x: rose.Dual) -> rose.Dual:
    ...     return rose.Dual(cube(x.re), 3.0 * x.re * x.re * x.du)
    >>> rose.grad(cube)(2.0)
    12.0
    """

    re: Any
    du: Any


# --- descriptions


@dataclass(slots=True, frozen=True)
class Scalar:
    """A number of one kind."""

    kind: Kind


@dataclass(slots=True, frozen=True)
class ArrayOf:
    """An array: `dims` is None where any shape will do, `element` where any kind will."""

    dims: tuple[Dim, ...] | None
    element: Kind | None
    text: str = "ndarray"

    def __repr__(self) -> str:
        return self.text

    @property
    def admits_numbers(self) -> bool:
        """Whether an array without dimensions fits, which is a number inside."""
        return self.dims is None or all(dim.many for dim in self.dims)

    def __call__(self) -> typing.NoReturn:
        """Never: a hint is not called."""
        raise TypeError(f"`{self.text}` is a hint")  # `typing` takes only callables for hints


@dataclass(slots=True, frozen=True)
class Structure:
    """A structure of known parts; of a class they are found when they are needed, since it may contain itself, unless
    `items` says something else of them."""

    kind: str
    """Of `containers.KINDS`."""
    items: tuple[Any, ...] = ()
    keys: tuple[str, ...] = ()
    cls: type | None = None

    def __repr__(self) -> str:
        return str(self.items[0]) if self.kind == "complex" else f"<{self.kind}>"


@dataclass(slots=True, frozen=True)
class Repeated:
    """A list, a tuple of any length, a dict, ...: every part the same."""

    kind: str
    """Of `containers.KINDS`."""
    item: Any


@dataclass(slots=True, frozen=True)
class Static:
    """A value that Python knows while the function is compiled, as a string or the length of an array: each value has a
    program of its own. Written `rose.Static[T]`, or `rose.Static`; beartype checks `T`.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def power(x: float, kind: rose.Static[str]) -> float:
    ...     return x * x if kind == "square" else x
    >>> rose.grad(power)(3.0, "square")
    6.0
    """

    hint: Any = Any

    def __class_getitem__(cls, hint: Any) -> "Static":
        return cls(hint)


@dataclass(slots=True, frozen=True)
class OneOf:
    """A union: the first part that fits."""

    parts: tuple[Any, ...]
    hint: Any


@dataclass(slots=True, frozen=True)
class Validated:
    """`Annotated[T, ...]`: as `T`, and beartype has the last word."""

    base: Any
    hint: Any


@dataclass(slots=True, frozen=True)
class Inferred:
    """No hint: whatever the argument is."""


@dataclass(slots=True, frozen=True)
class Nothing:
    """`None`."""


@dataclass(slots=True, frozen=True)
class Random:
    """A `np.random.Generator`, or with `batch` a list of them that is mapped over."""

    batch: bool = False


@dataclass(slots=True, frozen=True)
class DualOf:
    """`rose.Dual`: `base` is what the parameter of the differentiated function is."""


Description = (
    Scalar | ArrayOf | Structure | Repeated | Static | OneOf | Validated | Inferred | Nothing | DualOf | Random
)  # fmt: skip


# --- the public array hints


def _array(name: str, given: Any, rank: int | None) -> Any:
    items: list[Any] = list(given) if isinstance(given, tuple) else [given]
    element: Kind = "real"
    if items and items[-1] is complex:
        part = _array(name, tuple(items[:-1]), rank)
        part = dataclasses.replace(part, text=f"{part.text[:-1]}, complex]")
        return Structure("complex", (part, part))
    if items and (items[-1] in _KINDS_OF_CLASSES):
        element = _KINDS_OF_CLASSES[items.pop()]
    dims: list[Dim] = []
    for item in items:
        words = item.split() if isinstance(item, str) and not is_expression(item) else [item]
        dims += [dimension(word) for word in words]
    if rank is not None and len(dims) != rank:
        raise StagingTypeError(
            f"`{name}` takes {rank} dimension{'s' * (rank > 1)}, given {len(dims)}",
            help=f"write `{'Vec' if len(dims) == 1 else 'Mat' if len(dims) == 2 else 'Array'}[...]`",
        )
    shown = [dim.text if dim.size is not None or dim.text == "..." else f'"{dim.text}"' for dim in dims]
    shown += [] if element == "real" else [{"int": "int", "bool": "bool"}[element]]
    return ArrayOf(tuple(dims), element, f"{name}[{', '.join(shown)}]")


class Vec:
    """`Vec["n"]`, `Vec[3]`: a vector of Reals. A name stands for one length within a call.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def dot(x: rose.Vec["n"], y: rose.Vec["n"]) -> float:
    ...     return x @ y
    >>> dot([1.0, 2.0], [3.0, 4.0])
    11.0
    """

    def __class_getitem__(cls, dims: Any) -> ArrayOf:
        return _array("Vec", dims, 1)


class Mat:
    """`Mat["n", "m"]`: a matrix of Reals.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def trace(a: rose.Mat["n", "n"]) -> float:
    ...     return sum(a[i, i] for i in rose.range(len(a)))
    >>> trace([[1.0, 2.0], [3.0, 4.0]])
    5.0
    """

    def __class_getitem__(cls, dims: Any) -> ArrayOf:
        return _array("Mat", dims, 2)


class Array:
    """`Array["b", "n", 3]`, `Array["n", int]`, `Array[..., float]`: an array of any rank and kind of element.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def picked(x: rose.Vec["n"], at: rose.Array["m", int]) -> rose.Vec["m"]:
    ...     return x[at]
    >>> picked([1.0, 2.0, 4.0], [2, 0])
    array([4., 1.])
    """

    def __class_getitem__(cls, dims: Any) -> ArrayOf:
        return _array("Array", dims, None)


class ShapeOf:
    """Stands for an argument of which only the shape is known: `ShapeOf(3, 4)` or `ShapeOf((3, 4))`, `ShapeOf()` for a
    number; `ShapeOf(x)` for an array or number `x` has its shape, and its kind of elements. The first length may be a
    name, `ShapeOf("n", 3)`: `rose.export` then makes a module that takes any.

    >>> import rosejit as rose
    >>> rose.jit(lambda x: (x * x).sum()).lower(rose.ShapeOf(3)).compile()([1.0, 2.0, 3.0])
    14.0
    """

    __slots__ = ("kind", "shape")

    def __init__(self, *shape: Any, dtype: type | None = None) -> None:
        like: Any = shape[0] if len(shape) == 1 else shape
        kind: Kind = "real"
        if isinstance(like, (float, bool)):
            shape, kind = (), "bool" if isinstance(like, bool) else "real"
        elif hasattr(like, "shape") and (
            like.dtype.kind not in SCALAR_OF or narrow_values.is_narrow_scalar(like.dtype.type)
        ):
            raise StagingTypeError(
                f"`ShapeOf` stands for arrays of float64, int64 or bool, not of {like.dtype}",
                help="give the array itself",
            )
        elif hasattr(like, "shape"):
            shape, kind = tuple(like.shape), SCALAR_OF[like.dtype.kind]
        elif isinstance(like, (tuple, list)):
            shape = tuple(like)
        self.shape: tuple[Any, ...] = tuple([_length(length, k) for k, length in enumerate(shape)])
        self.kind: Kind = kind if dtype is None else _KINDS_OF_CLASSES[dtype]

    def __repr__(self) -> str:
        return f"ShapeOf({', '.join(map(str, self.shape))})"


def _length(given: Any, axis: int) -> Any:
    if not isinstance(given, str):
        return operator.index(given)
    if not given.isidentifier():
        raise StagingTypeError(f"{given!r} is no name of a length", help='write `rose.ShapeOf("n", 3)`')
    if axis:
        raise StagingTypeError(
            f"only the first length of an array can be open: `{given}` is that of axis {axis}",
            help=f'transpose the array, `rose.ShapeOf("{given}", ...)`, or give this length as a number',
        )
    return named(given)


_KINDS_OF_CLASSES: dict[Any, Kind] = {
    float: "real", int: "int", bool: "bool", Real: "real", Int: "int", Bool: "bool",
}  # fmt: skip


# --- from hints to descriptions


@dataclass(slots=True)
class Hints:
    """Reads the hints of one function; strings are evaluated where the function was written."""

    scope: dict[str, Any] = field(default_factory=dict[str, Any])
    subject: str = "function"

    def description(self, hint: Any) -> Description:
        """What values `hint` admits."""
        if isinstance(hint, typing.ForwardRef):
            hint = hint.__forward_arg__
        hint = _meant(hint)
        if isinstance(hint, str):
            hint = self.evaluated(hint)
        if hint is Any or hint is Ellipsis:
            return Inferred()
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
            raise StagingTypeError(
                f"the hint `{text}` of `{self.subject}` cannot be evaluated: {error}",
                help="define the name before the function, at the top of the module",
            ) from None

    def _value(self, text: str) -> Any:
        try:
            return eval(text, self.scope)
        except NameError:
            known = names_for_checkers(self.scope)
            if not known:
                raise
            return eval(text, {**known, **self.scope})

    def of_class(self, cls: type) -> Description:
        """What a class admits."""
        if cls in _KINDS_OF_CLASSES:
            return Scalar(_KINDS_OF_CLASSES[cls])
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
        return self.of_structure(cls) or _of_number_class(cls) or Static(cls)

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
        if origin is typing.Union or isinstance(hint, types.UnionType):
            return OneOf(tuple(self.description(arg) for arg in args), hint)
        container = containers.of_generic(origin)
        item = None if container is None else container.item(args)
        if container is not None and item is not None:
            return Repeated(container.name, self.description(item))
        if container is not None and container.is_fixed:
            return Structure(container.name, tuple([self.description(arg) for arg in args]))
        if _is_ndarray(origin) and args and _is_complex(args[-1]):
            part = ArrayOf(None, "real", "NDArray[complex]")
            return Structure("complex", (part, part))
        if _is_ndarray(origin):
            return ArrayOf(None, _element(args[-1]) if args else None, "NDArray")
        structure = self.of_structure(origin) if isinstance(origin, type) else None
        return structure or Static(hint)


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
            help="define the name before the function is decorated",
        ) from None


def parameter_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The hints of `function` as they were written, `return` included."""
    return _annotations(function)
