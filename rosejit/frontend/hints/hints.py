"""Type hints of parameters, as descriptions of the values they admit: scalars, arrays with dimensions, structures.

A dimension is a number, a name or an expression of names (`"n+1"`).
"""

import ast
import dataclasses
import functools
import operator
import re
import typing
from typing import Any, Literal

from rosejit import narrow_values
from rosejit.abi import SCALAR_OF
from rosejit.errors import StagingTypeError
from rosejit.ir.lengths import Length, named
from rosejit.lazy_dataclass import dataclass


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


def aligned(dims: tuple[Dim, ...], shape: tuple[int, ...]) -> list[tuple[Dim, int]] | None:
    """Each dimension with its length; None where the ranks do not fit."""
    many = [k for k, dim in enumerate(dims) if dim.many]
    if not many:
        return list(zip(dims, shape, strict=True)) if len(dims) == len(shape) else None
    first, last = many[0], len(dims) - many[0] - 1
    if len(shape) < first + last:
        return None
    ends = list(zip(dims[first + 1 :], shape[len(shape) - last :], strict=True))
    return list(zip(dims[:first], shape[:first], strict=True)) + ends


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
    """A union: the first part that fits. Which that is for a number, or a list, does not depend on the order."""

    parts: tuple[Any, ...]
    hint: Any

    @property
    def of_numbers(self) -> tuple[Any, ...]:
        """What numbers are tried as: a Real where no other kind is named, and no part takes all; else, if one part or
        another takes it, each what it is."""
        kinds = {part.kind for part in self.parts if isinstance(part, Scalar)}
        others = [part for part in self.parts if not isinstance(part, Scalar) and takes_numbers(part)]
        if kinds == {"real"} and all(isinstance(part, ArrayOf) for part in others):
            return (Scalar("real"),)
        if len(others) == bool(others) and not kinds:
            return self.parts
        scalars = tuple([part for part in self.parts if isinstance(part, Scalar)])
        if not others and "real" not in kinds:
            return scalars
        return (Numbers((*scalars, *others)),)

    @property
    def of_lists(self) -> tuple[Any, ...]:
        """What lists and tuples are tried as: arrays only where nothing else takes them."""
        found = tuple([part for part in self.parts if takes_lists(part)])
        return found or self.parts


@dataclass(slots=True, frozen=True)
class Numbers:
    """A number that one of the `parts` takes, described by itself: its kind is its own."""

    parts: tuple[Any, ...]


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
    Scalar | ArrayOf | Structure | Repeated | Static | OneOf | Numbers | Validated
    | Inferred | Nothing | DualOf | Random
)  # fmt: skip


def takes_numbers(description: Any) -> bool:
    """Whether a description takes some numbers."""
    match description:
        case Validated(Inferred(), hint):
            return _admits_number(typing.get_origin(hint) or hint)
        case Validated(base):
            return takes_numbers(base)
        case OneOf(parts) | Numbers(parts):
            return any(map(takes_numbers, parts))
        case ArrayOf():
            return description.admits_numbers
        case Static(hint):
            return any(map(_admits_number, typing.get_args(hint) or (hint,)))
        case Structure(kind):
            return kind == "complex"
        case _:
            return isinstance(description, (Scalar, Inferred))


def takes_lists(description: Any) -> bool:
    """Whether a description takes some lists, or tuples, and leaves them what they are."""
    match description:
        case Validated(Inferred(), hint):
            return _is_above(typing.get_origin(hint) or hint, list)
        case Validated(base):
            return takes_lists(base)
        case Structure(kind) | Repeated(kind):
            return kind in ("list", "tuple", "namedtuple")
        case _:
            return isinstance(description, Inferred)


def _admits_number(hint: Any) -> bool:
    """Whether a class has numbers, or an item of a `Literal` is one."""
    if not isinstance(hint, type):
        return hint is Any or isinstance(hint, (int, float))
    return _is_above(int, hint) or _is_above(float, hint) or _is_above(hint, float)


def _is_above(base: Any, cls: Any) -> bool:
    """Whether a class is derived from another. Of a protocol nobody can ask."""
    try:
        return issubclass(cls, base)
    except TypeError:
        return False


# --- the public array hints


def _array(name: str, given: Any, rank: int | None) -> Any:
    items: list[Any] = list(given) if isinstance(given, tuple) else [given]
    element: Kind = "real"
    if items and items[-1] is complex:
        part = _array(name, tuple(items[:-1]), rank)
        part = dataclasses.replace(part, text=f"{part.text[:-1]}, complex]")
        return Structure("complex", (part, part))
    if items and (items[-1] in KINDS_OF_CLASSES):
        element = KINDS_OF_CLASSES[items.pop()]
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
        self.kind: Kind = kind if dtype is None else KINDS_OF_CLASSES[dtype]

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


KINDS_OF_CLASSES: dict[Any, Kind] = {
    float: "real", int: "int", bool: "bool", Real: "real", Int: "int", Bool: "bool",
}  # fmt: skip
