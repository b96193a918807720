"""What rosejit uses of NumPy, in plain Python, under the same names: stands for it where there is none (Pyodide).

It is made for arrays of the size that people type and look at, not for speed; compiled code does the work.
"""

import math
from types import SimpleNamespace
from typing import Any

from rosejit.plain import creation, linalg, manipulation, reductions, transposition
from rosejit.plain.dtypes import (
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
from rosejit.plain.elementwise import UFUNCS, of_reals, ufunc
from rosejit.plain.ndarray import broadcast_shapes, ndarray
from rosejit.staged_names import STAGED

__all__ = [
    "bool_", "broadcast_shapes", "complexfloating", "dtype", "float64", "floating", "generic", "int64", "integer",
    "linalg", "ma", "ndarray", "number", "object_", "ufunc",
]  # fmt: skip

__version__ = "none: rosejit.plain"
pi, e, nan, inf, newaxis = math.pi, math.e, math.nan, math.inf, None

globals().update(UFUNCS)
for _module in (creation, transposition, manipulation, reductions):
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


def __getattr__(name: str) -> Any:
    """A function that staged code has, and this module has not written out."""
    if name not in STAGED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    compute = STAGED[name]
    made = globals()[name] = _OnlyStaged(name) if compute is None else of_reals(name, compute)
    return made


amax, amin = reductions.max_, reductions.min_
around = reductions.round_


ma = SimpleNamespace(MaskedArray=type("MaskedArray", (), {}))

_METHODS = (
    "sum", "prod", "max", "min", "argmax", "argmin", "all", "any", "mean", "var", "std", "cumsum", "cumprod", "trace",
    "take", "swapaxes", "squeeze", "repeat", "diagonal", "argsort", "round", "clip", "dot", "nonzero",
)  # fmt: skip
for _name, _method in (
    *((name, globals()[name]) for name in _METHODS),
    ("__matmul__", reductions.matmul),
    ("__rmatmul__", lambda self, other: reductions.matmul(other, self)),
):
    setattr(ndarray, _name, _method)
