"""Numbers and arrays of NumPy's dtypes other than float64, int64 and bool, on the host: what they are in 64 bits."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
from typing import Any

from rosejit.errors import RoseOverflowError
from rosejit.numeric import from_foreign, np

STAGED = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float32")
"""Dtypes, beside float64, int64 and bool, in which staged code computes."""
HELD = (*STAGED, "float16")
"""Those that arguments and arrays may have: with float16 nothing is computed."""


class NarrowValue:
    """A staged number or array of a dtype of NumPy's that is none of float64, int64 and bool: `wide` holds the same
    numbers in 64 bits. What does not know the class refuses it."""

    __slots__ = ("dtype", "wide")

    def __init__(self, wide: Any, dtype: Any) -> None:
        self.wide = wide
        self.dtype = dtype


@functools.lru_cache(1024)
def is_narrow_scalar(cls: Any) -> bool:
    """Whether a class is that of NumPy's numbers of a dtype that is none of float64, int64 and bool."""
    if cls.__module__ != "numpy" or not issubclass(cls, np.number) or issubclass(cls, np.complexfloating):
        return False
    if cls in (np.number, np.floating, np.integer, getattr(np, "inexact", None), *_signs()):
        return False
    dtype: Any = np.dtype(cls)
    return dtype.itemsize != 8 or dtype.kind == "u"


def _signs() -> tuple[Any, ...]:
    return getattr(np, "signedinteger", None), getattr(np, "unsignedinteger", None)


def dtype_name(value: Any) -> str | None:
    """The name of the dtype of a number or an array, of another library too."""
    return getattr(getattr(_of_numpy(value), "dtype", None), "name", None)


def _of_numpy(value: Any) -> Any:
    try:
        return from_foreign(value)
    except TypeError:
        return value


def widened(value: Any) -> Any:
    """A number or an array in 64 bits. Raises OverflowError for what does not fit."""
    value = _of_numpy(value)
    if value.dtype.kind == "f":
        return value.astype(float) if value.shape else float(value)
    if value.size and value.dtype.kind == "u" and value.dtype.itemsize == 8 and value.max() >= 1 << 63:
        raise RoseOverflowError(f"{value.max()} does not fit the 63 bits that numbers of uint64 have in staged code")
    return value.astype("int64") if value.shape else int(value)


def narrowed(value: Any, name: str) -> Any:
    """A number or an array of the host in that dtype, in which it fits; floats are rounded."""
    dtype = np.dtype(name)
    return value.astype(dtype) if getattr(value, "shape", ()) else dtype.type(value)
