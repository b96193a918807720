"""What rosejit uses of NumPy, in plain Python, under the same names: stands for it where there is none (Pyodide).

It is made for arrays of the size that people type and look at, not for speed; compiled code does the work.
"""

import math
from types import SimpleNamespace
from typing import Any

from rosejit.plain import joining, linalg, making, sums, turning
from rosejit.plain.elementwise import UFUNCS, ufunc
from rosejit.plain.kinds import (
    bool_,
    complexfloating,
    dtype,
    float64,
    floating,
    generic,
    int64,
    integer,
    number,
    object_,
)
from rosejit.plain.ndarray import broadcast_shapes, ndarray

__all__ = [
    "bool_", "broadcast_shapes", "complexfloating", "dtype", "float64", "floating", "generic", "int64", "integer",
    "linalg", "ma", "ndarray", "number", "object_", "ufunc",
]  # fmt: skip

__version__ = "none: rosejit.plain"
pi, e, nan, inf, newaxis = math.pi, math.e, math.nan, math.inf, None

globals().update(UFUNCS)
for _module in (making, turning, joining, sums):
    _own = {name: value for name, value in vars(_module).items() if not name.startswith("_")}
    globals().update({name.rstrip("_"): value for name, value in _own.items()})


class _OnlyStaged:
    """A function of NumPy that staged code has, and arrays that the host knows have not."""

    __module__ = "numpy"

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **options: Any) -> Any:
        raise AttributeError(f"`np.{self.__name__}` of arrays that are known needs NumPy, which is not installed")

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


_STAGED = (
    "average", "argwhere", "compress", "concat", "convolve", "cross", "cumulative_sum", "digitize", "dstack", "einsum",
    "extract", "fill_diagonal", "fix", "float_power", "gradient", "heaviside", "hsplit", "interp", "kron",
    "left_shift", "logaddexp", "median", "nan_to_num", "nansum", "percentile", "polyval", "ptp", "quantile", "real",
    "resize", "right_shift", "row_stack", "searchsorted", "select", "sinc", "tensordot", "trapezoid", "vsplit",
)  # fmt: skip
globals().update({name: _OnlyStaged(name) for name in _STAGED if name not in globals()})
amax, amin = sums.max_, sums.min_
around = sums.round_


ma = SimpleNamespace(MaskedArray=type("MaskedArray", (), {}))

_METHODS = (
    "sum", "prod", "max", "min", "argmax", "argmin", "all", "any", "mean", "var", "std", "cumsum", "cumprod", "trace",
    "take", "swapaxes", "squeeze", "repeat", "diagonal", "argsort", "round", "clip", "dot", "nonzero",
)  # fmt: skip
for _name, _method in (
    *((name, globals()[name]) for name in _METHODS),
    ("__matmul__", sums.matmul),
    ("__rmatmul__", lambda self, other: sums.matmul(other, self)),
):
    setattr(ndarray, _name, _method)
