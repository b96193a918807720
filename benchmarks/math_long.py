"""The values of mathematical functions in `long double`: eleven more bits, fast enough for millions of points.

They tell which points are worth an exact value. From NumPy, and from glibc by way of a C compiler; where neither has a
function in more than 53 bits there is None.
"""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SLACK = 0.05
"""In units in the last place of a double: more than what these values may be off."""

_NUMPY = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    **{n: n for n in "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh cbrt hypot".split()},  # noqa: SIM905
    "pow": "power",
}
_GLIBC = {"erf": "erfl", "erfc": "erfcl", "gamma": "tgammal", "lgamma": "lgammal"}


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def in_c(lines: list[str]) -> ctypes.CDLL | None:
    """Functions in C that may call those of glibc; None without a compiler."""
    if shutil.which("gcc") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "f.c", Path(folder) / "f.so"
        source.write_text("\n".join(["#include <math.h>", *lines, ""]))
        subprocess.run(
            ["gcc", "-O2", "-fno-builtin", "-shared", "-fPIC", str(source), "-o", str(target), "-lm"], check=True
        )
        return ctypes.CDLL(str(target))


@cache
def _library() -> ctypes.CDLL | None:
    return in_c(
        [
            f"void loop_{name}(const double *x, long double *y, long n) {{ while (n--) *y++ = {f}(*x++); }}"
            for name, f in _GLIBC.items()
        ]
    )


def _by_glibc(name: str, x: Any) -> Any:
    y = np.empty(len(x), dtype=np.longdouble)
    x = np.ascontiguousarray(x)
    loop = getattr(_library(), f"loop_{name}")
    loop(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(len(x)))
    return y


def values(name: str, arrays: tuple[Any, ...]) -> Any:
    """The function in more bits, or None."""
    if np.finfo(np.longdouble).nmant < 63:
        return None
    special: dict[str, Callable[..., Any]] = {"sigmoid": _sigmoid, "softplus": _softplus}
    f = special.get(name) or getattr(np, _NUMPY.get(name, ""), None)
    with np.errstate(all="ignore"):
        if f is not None:
            return f(*[a.astype(np.longdouble) for a in arrays])
        return _by_glibc(name, arrays[0]) if name in _GLIBC and _library() is not None else None


def suspects(name: str, arrays: tuple[Any, ...], got: Any, near_zeros: float) -> Any:
    """The points whose errors may be the largest, and that of the largest error within `near_zeros`."""
    y = values(name, arrays)
    if y is None:
        return np.arange(len(got))
    with np.errstate(all="ignore"):
        nearest = y.astype(np.float64)
        off = np.abs(got - y)
        units = off / np.spacing(np.abs(nearest))
        units = np.where(np.isfinite(units), units, np.where((got == nearest) | np.isnan(nearest), 0.0, np.inf))
        excused = np.where((off <= near_zeros) & (np.abs(nearest) < 1.0), off, 0.0)
    units = np.where(excused > 0.0, 0.0, units)
    chosen = units >= min(float(units.max()), 1e9) - 2 * SLACK
    chosen[int(np.argmax(excused))] = True
    return np.flatnonzero(chosen)
