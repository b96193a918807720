"""Kernels of integer operations that take more than one instruction; checked ones give a result and a fault."""

import operator
from collections.abc import Callable
from typing import Any

from rosejit.ir.types import INT, REAL
from rosejit.ops.arith import select
from rosejit.ops.integer import SMALLEST, bool_to_int, imin, iselect, quot, rem, sat_int, to_real, ushr
from rosejit.ops.kernels.definition import Definition
from rosejit.ops.traced_value import branch, repeat

# --- raw


def _imax(i: Any, j: Any) -> Any:
    return iselect(i > j, i, j)


def _imin(i: Any, j: Any) -> Any:
    return iselect(i < j, i, j)


def _isign(i: Any) -> Any:
    return bool_to_int(i > 0) - bool_to_int(i < 0)


def _wrap_index(i: Any, n: Any) -> Any:
    return i + ((i >> 63) & n)


def _wneg(i: Any) -> Any:
    return 0 - i


def _inot(i: Any) -> Any:
    return i ^ -1


def _wabs(i: Any) -> Any:
    sign = i >> 63
    return (i ^ sign) - sign


def _ishr(i: Any, k: Any) -> Any:
    return i >> imin(k, 63)


def _wmod(i: Any, j: Any) -> Any:
    r = rem(i, j)
    return r + (j & _opposed(r, j))


def _wfloordiv(i: Any, j: Any) -> Any:
    q = quot(i, j)
    return q + _opposed(i - q * j, j)


def _opposed(r: Any, j: Any) -> Any:
    """-1 where the remainder `r` is not 0 and has not the sign of the divisor, else 0."""
    return ((r ^ j) & (r | (0 - r))) >> 63


def _umulh(i: Any, j: Any) -> Any:
    mask = 2**32 - 1
    above, below, over, under = ushr(i, 32), i & mask, ushr(j, 32), j & mask
    middle = above * under + ushr(below * under, 32)
    return above * over + ushr(middle, 32) + ushr(below * over + (middle & mask), 32)


def _wpow(i: Any, k: Any) -> Any:
    def iteration(_: Any, result: Any, square: Any, rest: Any) -> Any:
        return iselect((rest & 1) == 1, result * square, result), square * square, ushr(rest, 1)

    return repeat(63, iteration, 1, i, k)[0]


# --- checked


def _iadd(i: Any, j: Any) -> Any:
    r = i + j
    return r, ushr((i ^ r) & (j ^ r), 63)


def _isub(i: Any, j: Any) -> Any:
    r = i - j
    return r, ushr((i ^ j) & (i ^ r), 63)


def _imul(i: Any, j: Any) -> Any:
    r = i * j

    def long() -> Any:
        wrong = branch((i == -1) | (i == 0), lambda: (i != 0) & (j == SMALLEST), lambda: quot(r, i) != j)
        return bool_to_int(wrong)

    both_short = ushr(i + 2**31, 32) | ushr(j + 2**31, 32)
    return r, branch(both_short == 0, lambda: 0, long)


def _ineg(i: Any) -> Any:
    return 0 - i, bool_to_int(i == SMALLEST)


def _iabs(i: Any) -> Any:
    return _wabs(i), bool_to_int(i == SMALLEST)


def _ishl(i: Any, k: Any) -> Any:
    r = i << k
    fits = (ushr(k, 6) == 0) & ((r >> k) == i)
    return iselect(i == 0, 0, r), bool_to_int(~fits & (i != 0)) | ushr(k, 63)


def _ifloordiv(i: Any, j: Any) -> Any:
    bad = (i == SMALLEST) & (j == -1)
    fault = bool_to_int(j == 0) + 2 * bool_to_int(bad)
    return branch(fault == 0, lambda: _wfloordiv(i, j), lambda: 0), fault


def _imod(i: Any, j: Any) -> Any:
    return branch(j == 0, lambda: 0, lambda: _wmod(i, j)), bool_to_int(j == 0)


def _to_int(x: Any) -> Any:
    fits = (x >= -(2.0**63)) & (x < 2.0**63)
    return sat_int(x), bool_to_int(~fits) + bool_to_int(x != x)


def _ipow(i: Any, k: Any) -> Any:
    def iteration(_: Any, result: Any, fault: Any, square: Any, large: Any, rest: Any) -> Any:
        taken = rest & 1
        product, wrong = IMUL(result, square)
        next_square, too_large = IMUL(square, square)
        fault = fault | (taken & (wrong | large))
        return iselect(taken == 1, product, result), fault, next_square, large | too_large, rest >> 1

    # 0, 1 and -1 only need the parity of a large exponent; any other number overflows from 64 on.
    short = iselect(ushr(k, 6) == 0, k, 64 + (k & 1))
    result, fault, *_ = repeat(7, iteration, 1, 0, i, 0, short)
    return result, fault | ushr(k, 63)


# --- with Reals

_LARGEST_REAL = 2.0**63 - 2.0**10
"""The largest Real that is an Int."""


def _order(name: str) -> Callable[[Any, Any], Any]:
    """How an Int compares with a Real, exactly: by the sign of what the nearest Real and the rest are away from it.

    If the nearest Real is not exact, its distance to any `x` near it is, and any other `x` is further than the rest.
    """

    def body(i: Any, x: Any) -> Any:
        nearest = to_real(i)
        nearest = select(nearest < _LARGEST_REAL, nearest, _LARGEST_REAL)
        return getattr(operator, name)((nearest - x) + to_real(i - sat_int(nearest)), 0.0)

    return body


IMUL = Definition(_imul, INT, INT)

ALL = (
    *(Definition(body, INT, INT) for body in (_imax, _imin, _wrap_index, _ishr, _wmod, _wfloordiv, _wpow, _umulh)),
    *(Definition(body, INT) for body in (_isign, _wneg, _inot, _wabs, _ineg, _iabs)),
    *(Definition(body, INT, INT) for body in (_iadd, _isub, _ishl, _ifloordiv, _imod, _ipow)),
    IMUL,
    Definition(_to_int, REAL),
    *(Definition(_order(name), INT, REAL, name=f"r{name}") for name in ("lt", "le", "gt", "ge", "eq", "ne")),
)
