"""Says what host values are as numbers and arrays, and converts them."""

# Values of users are of any type: what they are is asked while staging.

import operator
from typing import Any

from rosejit.abi import SCALAR_OF
from rosejit.frontend.hints.hints import Kind
from rosejit.numeric import from_foreign, is_foreign, loaded, np

SMALLEST, LARGEST = -(2**63), 2**63 - 1


class UnpassedInt(int):
    """The integer that a parameter has by default: where nobody has passed one, it is a host value,
    and its own key."""

    __slots__ = ()

    def fits(self, value: Any) -> bool:
        """Whether another argument is this default too."""
        return value.__class__ is UnpassedInt and value == self

    def __rose_saved__(self) -> int:
        return int(self)


class NeededInt(UnpassedInt):
    """The integer that a call passes for a default, in a function that cannot be staged without knowing it: a host
    value, and its own key."""

    __slots__ = ()

    def fits(self, value: Any) -> bool:
        """Whether another argument is this number."""
        return (value.__class__ is NeededInt or is_passed_int(value)) and int(value) == int(self)

    def __eq__(self, other: object) -> bool:
        return other.__class__ is NeededInt and int(self) == int(other)  # type: ignore[call-overload]  # an int

    __hash__ = int.__hash__


HOST_INTS = frozenset({UnpassedInt, NeededInt})
"""The classes of integers of the host among the arguments of a call, which stay such wherever they are handed on."""


def is_passed_int(value: Any) -> bool:
    """Whether an argument is an integer of Python's or NumPy's."""
    return value.__class__ is int or isinstance(value, np.integer)


class Bound:
    """Stands for the value that `functools.partial` binds to a parameter: it is closed over, unless the call passes
    another."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)

    def fits(self, value: Any) -> bool:
        """Whether another argument is closed over too: it is its own key, and guards see what it is."""
        return value.__class__ is Bound

    def __rose_saved__(self) -> dict[str, Any]:
        return {"bound": 0}


def number_kind(value: Any) -> Kind | None:
    """What kind of number a host value is; None for what is none."""
    kind = PLAIN_KINDS.get(value.__class__)
    if kind is not None or value is None:
        return kind
    if isinstance(value, (int, float)):
        return "int" if isinstance(value, int) else "real"
    numpy = loaded()
    if numpy is None:
        return None
    if isinstance(value, numpy.generic) or (
        isinstance(value, numpy.ndarray) and value.ndim == 0 and not hasattr(value, "_mask")
    ):
        scalar: Any = value
        return SCALAR_OF.get(scalar.dtype.kind)
    return None


def narrow_dtype(value: Any) -> Any:
    """The dtype of a scalar or an array of NumPy's whose numbers have fewer than 64 bits, or more, or no sign; None for
    any other value. Arithmetic on such is other than on ours."""
    numpy = loaded()
    if numpy is None or not isinstance(value, (numpy.generic, numpy.ndarray)):
        return None
    dtype: Any = value.dtype
    return dtype if dtype.kind in "fiu" and (dtype.itemsize != 8 or dtype.kind == "u") else None


def is_array(value: Any) -> bool:
    """Whether a value is an array of numbers of NumPy's, which need not be loaded for that."""
    return value.__class__.__name__ == "ndarray" and value.dtype.kind in "fiubc"


def is_numpys_value(value: Any) -> bool:
    """Whether a value is an array or a scalar of NumPy's, of any class and dtype."""
    numpy = loaded()
    return numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray))


PLAIN_KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "real"}
"""By the classes that most numbers have."""


def register_whole(cls: type) -> None:
    """A class whose objects stand where the host has whole numbers."""
    PLAIN_KINDS[cls] = "int"


def as_number(kind: Kind, value: Any) -> float | int | bool | None:
    """`value` as a Python number of that kind; None where it is none."""
    found = number_kind(value)
    if found is None or getattr(value, "mask", False):  # NumPy takes 0 or NaN for what is masked
        return None
    if kind in (found, "real"):
        return float(value) if kind == "real" else operator.index(value) if kind == "int" else bool(value)
    return None


_DTYPES: dict[str, tuple[str, ...]] = {"real": ("f", "i", "u"), "int": ("i", "u"), "bool": ("b",)}
_NUMPY_NAMES: dict[Kind, str] = {"real": "float64", "int": "int64", "bool": "bool"}


def as_array(element: Kind | None, value: Any) -> tuple[Any, str]:
    """`value` as a contiguous array and its kind of element; or None and why not."""
    if not isinstance(value, (np.ndarray, list, tuple)) and not is_foreign(type(value)):
        return None, "it is no array and no list"
    try:
        value = from_foreign(value)
    except TypeError as error:
        return None, str(error)
    try:
        found = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        return None, f"NumPy says: {error}"
    letter = found.dtype.kind
    if element is None:
        element = SCALAR_OF.get(letter)
    empty = found.size == 0 and not isinstance(value, np.ndarray)
    if element is None or not (letter in _DTYPES[element] or empty):
        return None, f"its elements are {found.dtype}"
    if letter == "u" and element == "int" and found.size and int(found.max()) > LARGEST:
        return None, "an element does not fit 64 bits"
    return np.ascontiguousarray(found, dtype=_NUMPY_NAMES[element]).reshape(found.shape), element
