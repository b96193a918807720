"""The kinds of elements of plain arrays under NumPy's names: `float64`, `int64`, `bool_`, and Python objects."""

from typing import Any, Literal

Kind = Literal["f", "i", "b", "O"]
ORDER = "bifO"
"""Each holds all values of those before it."""


class generic:  # NumPy's name
    """What NumPy's scalars are instances of. Plain arrays hold Python's numbers, so nothing here is one."""


class number(generic):
    """Of numbers that are no truth values."""


class floating(number):
    """Of reals."""


class integer(number):
    """Of whole numbers."""


class complexfloating(number):
    """Of complex numbers, which plain arrays do not hold."""


class float64(floating):
    """A real. Called, it gives Python's."""

    def __new__(cls, value: Any = 0.0) -> Any:
        """As `float`."""
        return float(value)


class int64(integer):
    """A whole number. Called, it gives Python's."""

    def __new__(cls, value: Any = 0) -> Any:
        """As `int`."""
        return int(value)


class bool_(generic):
    """A truth value. Called, it gives Python's."""

    def __new__(cls, value: Any = False) -> Any:
        """As `bool`."""
        return bool(value)


class object_(generic):
    """Any object."""


class dtype:
    """What the elements of an array are. There is one object for each kind."""

    _known: dict[Kind, "dtype"] = {}  # noqa: RUF012 - the four of them

    kind: Kind
    name: str
    itemsize: int
    type: type
    letter: str
    """Of `array` and `memoryview`."""

    def __new__(cls, given: Any) -> "dtype":
        """By name, letter, class of Python, or scalar class. Raises TypeError for others."""
        if isinstance(given, dtype):
            return given
        kind = _NAMES.get(given) if isinstance(given, (str, type)) else None
        if kind is None:
            raise TypeError(f"without NumPy there are no arrays of {given!r}")
        if kind not in cls._known:
            made = cls._known[kind] = super().__new__(cls)
            made.kind = kind
            made.name, made.itemsize, made.letter, made.type = _FACTS[kind]
        return cls._known[kind]

    def __repr__(self) -> str:
        return f"dtype({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: Any) -> bool:
        try:
            return dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> Any:
        return dtype, (self.name,)

    @property
    def str(self) -> "str":
        """The name that says the order of bytes too."""
        return f"<{self.kind}{self.itemsize}"


_FACTS: dict[Kind, tuple[str, int, str, type]] = {
    "f": ("float64", 8, "d", float64), "i": ("int64", 8, "q", int64), "b": ("bool", 1, "?", bool_),
    "O": ("object", 8, "", object_),
}  # fmt: skip
_NAMES: dict[Any, Kind] = {
    **dict.fromkeys(("float64", "float", "f8", "<f8", "d", "f", float, float64, floating), "f"),
    **dict.fromkeys(("int64", "int", "i8", "<i8", "q", "l", "i", "intp", int, int64, integer), "i"),
    **dict.fromkeys(("bool", "?", "b", "bool_", "b1", bool, bool_), "b"),
    **dict.fromkeys(("object", "O", object, object_), "O"),
}  # fmt: skip


def kind_of(value: Any) -> Kind:
    """The kind of a Python object."""
    if isinstance(value, bool):
        return "b"
    if isinstance(value, int):
        return "i" if -(1 << 63) <= value < 1 << 63 else "O"
    return "f" if isinstance(value, float) else "O"


def common(*kinds: Kind) -> Kind:
    """The least kind that holds all these."""
    return max(kinds, key=ORDER.index)
