"""The types of the IR and the two maps on them: `tangent` (D in docs/ir.md) and `erased` (E)."""

from typing import Literal, get_args

from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, frozen=True, eq=False)
class Scalar:
    """A type without parts; each exists once."""

    name: str

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return {"()": "UNIT"}.get(self.name, self.name.upper())


UNIT = Scalar("()")
BOOL = Scalar("Bool")
INT = Scalar("Int")
REAL = Scalar("Real")
TAN = Scalar("Tan")

Stored = Literal["float32", "int8", "int16", "int32", "uint8", "uint16", "uint32"]
STORED: dict[Stored, Scalar] = {name: Scalar(name) for name in get_args(Stored)}
"""How elements of arrays lie in memory that have fewer bits than their Real or Int, by NumPy's name. No variable has
such a type: what is read is a Real or an Int. Only code generation sees them (`select_storage`)."""


@dataclass(slots=True, frozen=True)
class Array:
    """`[n]T`; `length` is None for `[*]T`, whose length only the run knows."""

    length: int | None
    element: "Type"


@dataclass(slots=True, frozen=True)
class Tuple:
    """`(T, U)`."""

    items: tuple["Type", ...]


@dataclass(slots=True, frozen=True)
class Sum:
    """`T|U`: a tag and one of two values."""

    left: "Type"
    right: "Type"


@dataclass(slots=True, frozen=True)
class Ref:
    """`&T`: a place that can only be added to. Never inside another type."""

    target: "Type"


class Nominal:
    """The residuals of a function: a named tuple type, so that recursive functions have finite types.

    The type is its object. `of` is None for the residuals themselves; the images under D and E are made once,
    on demand, and compute their fields from the type they stand for.
    """

    __slots__ = ("_erased", "_fields", "_real", "_tangent", "map", "name", "of")

    def __init__(self, name: str, of: "Nominal | None" = None, map: str = "") -> None:
        self.name = name
        self.of = of
        self.map = map
        self._fields: tuple[Type, ...] | None = None
        self._tangent: Nominal | None = None
        self._erased: Nominal | None = None
        self._real: bool | None = None

    def __repr__(self) -> str:
        return f"{self.map}.{self.of!r}" if self.of is not None else self.name

    @property
    def defined(self) -> bool:
        """Whether the fields are known."""
        return self.of.defined if self.of is not None else self._fields is not None

    @property
    def fields(self) -> tuple["Type", ...]:
        """The types of the fields."""
        if self._fields is None:
            assert self.of is not None, f"the fields of {self.name} are not known yet"
            image = tangent if self.map == "D" else erased
            self._fields = tuple(image(field) for field in self.of.fields)
        return self._fields

    @fields.setter
    def fields(self, fields: tuple["Type", ...]) -> None:
        self._fields = fields

    @property
    def has_real(self) -> bool:
        """Whether a Real is inside; while the fields are not known, assumed (and then kept to)."""
        if self._real is None:
            self._real = self._finds_real()
        return self._real

    def _finds_real(self) -> bool:
        """Nominal types may contain each other: that none has a Real is known when all that is inside was seen."""
        seen: set[Nominal] = set()
        pending: list[Type] = [self]
        while pending:
            match pending.pop():
                case Scalar() as t:
                    if t is REAL:
                        return True
                case Array(element=inner) | Ref(target=inner):
                    pending.append(inner)
                case Tuple(items=items):
                    pending += items
                case Sum(left=left, right=right):
                    pending += (left, right)
                case Nominal() as t:
                    if t._real or t.map == "E":
                        return True
                    if t._real is None and t not in seen:
                        seen.add(t)
                        if t.of is None and t._fields is None:
                            t._real = True
                            return True
                        pending += (t.of,) if t.of is not None else t._fields or ()
        for t in seen:
            t._real = False
        return False

    @property
    def tangent(self) -> "Nominal":
        """Its image under D."""
        if self._tangent is None:
            self._tangent = Nominal(self.name, self, "D")
        return self._tangent

    @property
    def erased(self) -> "Nominal":
        """Its image under E."""
        if self.map != "D":
            return self
        if self._erased is None:
            self._erased = Nominal(self.name, self, "E")
        return self._erased


Type = Scalar | Array | Tuple | Sum | Ref | Nominal


def is_boxed(t: Type) -> bool:
    """Whether values of `t` live in memory and are owned: everything but scalars and references."""
    return not isinstance(t, Scalar | Ref)


def has_real(t: Type) -> bool:
    """Whether `t` contains a Real: whether it has a tangent type."""
    match t:
        case Scalar():
            return t is REAL
        case Array(element=inner) | Ref(target=inner):
            return has_real(inner)
        case Tuple(items=items):
            return any(has_real(item) for item in items)
        case Sum(left=left, right=right):
            return has_real(left) or has_real(right)
        case Nominal():
            return t.has_real


def is_linear(t: Type) -> bool:
    """Whether `t` contains a Tan."""
    match t:
        case Scalar():
            return t is TAN
        case Array(element=inner) | Ref(target=inner):
            return is_linear(inner)
        case Tuple(items=items):
            return any(is_linear(item) for item in items)
        case Sum(left=left, right=right):
            return is_linear(left) or is_linear(right)
        case Nominal():
            return t.map == "D"


def tangent(t: Type) -> Type:
    """The type of tangents of `t`; `()` where it has none."""
    if t is REAL:
        return TAN
    if not has_real(t):
        return UNIT
    match t:
        case Array(length=length, element=element):
            return Array(length, tangent(element))
        case Tuple(items=items):
            return Tuple(tuple(tangent(item) for item in items))
        case Sum(left=left, right=right):
            return Sum(tangent(left), tangent(right))
        case Ref(target=target):
            return Ref(tangent(target))
        case Nominal():
            return t.tangent
        case Scalar():
            return UNIT


def erased(t: Type) -> Type:
    """`t` with every Tan a Real."""
    if t is TAN:
        return REAL
    if not is_linear(t):
        return t
    match t:
        case Array(length=length, element=element):
            return Array(length, erased(element))
        case Tuple(items=items):
            return Tuple(tuple(erased(item) for item in items))
        case Sum(left=left, right=right):
            return Sum(erased(left), erased(right))
        case Ref(target=target):
            return Ref(erased(target))
        case Nominal():
            return t.erased
        case Scalar():
            return t


def fields_of(t: Type) -> tuple[Type, ...]:
    """The fields of a tuple type, structural or nominal."""
    if isinstance(t, Tuple):
        return t.items
    assert isinstance(t, Nominal), t
    return t.fields


def has_dynamic_length(t: Type) -> bool:
    """Whether a zero of `t` needs a value to copy lengths and tags from."""
    match t:
        case Scalar():
            return False
        case Array(length=length, element=element):
            return length is None or has_dynamic_length(element)
        case Tuple(items=items):
            return any(has_dynamic_length(item) for item in items)
        case Ref(target=target):
            return has_dynamic_length(target)
        case Sum() | Nominal():
            return True


def array(shape: tuple[int | None, ...], element: Type) -> Type:
    """The array type of that shape, outermost length first."""
    for length in reversed(shape):
        element = Array(length, element)
    return element
