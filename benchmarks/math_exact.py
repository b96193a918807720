"""The exact values of mathematical functions: nearest doubles, and what is left in units in their last place.

By MPFR where the package `gmpy2` is installed, which is several times faster; else by mpmath. `disagreement` compares.
"""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from benchmarks.math_points import TRIALS
from benchmarks.measure import has

BITS = 160


def source() -> str:
    """Where the values come from."""
    return "MPFR" if has("gmpy2") else "mpmath"


def exact(name: str, arrays: tuple[Any, ...]) -> Any:
    """Pairs for each point; NaN: there is no finite argument, or no such value."""
    return by_mpfr(name, arrays) if has("gmpy2") else by_mpmath(name, arrays)


def by_mpmath(name: str, arrays: tuple[Any, ...]) -> Any:
    """As `exact`."""
    with mpmath.workprec(BITS):
        return _pairs(TRIALS[name].exact, mpmath.mpf, arrays)


def by_mpfr(name: str, arrays: tuple[Any, ...]) -> Any:
    """As `exact`."""
    import gmpy2

    special: dict[str, Callable[..., Any]] = {
        "pow": lambda x, y: x**y,
        "lgamma": lambda x: gmpy2.lgamma(x)[0],
        "sigmoid": lambda x: 1 / (1 + gmpy2.exp(-x)),
        "softplus": lambda x: max(x, 0) + gmpy2.log1p(gmpy2.exp(-abs(x))),
    }
    with gmpy2.context(precision=BITS, emax=2**30, emin=-(2**30)):
        return _pairs(special.get(name) or getattr(gmpy2, name), gmpy2.mpfr, arrays)


def _pairs(f: Callable[..., Any], number: Callable[[float], Any], arrays: tuple[Any, ...]) -> Any:
    found = np.full((len(arrays[0]), 2), math.nan)
    finite = np.all([np.isfinite(a) for a in arrays], axis=0)
    for k, row in zip(np.flatnonzero(finite), zip(*(a[finite].tolist() for a in arrays), strict=True), strict=True):
        try:
            r = f(*map(number, row))
        except (ValueError, ZeroDivisionError):  # a pole
            continue
        if isinstance(r, mpmath.mpc):
            continue
        nearest = float(r)
        found[k] = nearest, float((r - nearest) / math.ulp(nearest)) if math.isfinite(nearest) else 0.0
    return found


def disagreement(name: str, arrays: tuple[Any, ...]) -> float:
    """The largest difference of both sources, in units in the last place of a double."""
    (a, b), (c, d) = exact(name, arrays).T, by_mpmath(name, arrays).T
    with np.errstate(all="ignore"):
        off = np.abs((a - c) / np.spacing(np.abs(c)) + (b - d))
    return float(np.max(off[np.isfinite(a) & np.isfinite(c)], initial=0.0))
