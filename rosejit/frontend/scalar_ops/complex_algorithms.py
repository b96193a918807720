"""CPython's algorithms for functions of complex numbers, in the Python that is staged for them.

The parts `x` and `y` are finite; `of` calls another of the functions by name.
"""

# Arguments are staged numbers.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
import sys
from typing import Any

LARGE = sys.float_info.max / 4.0
SQRT_LARGE = math.sqrt(LARGE)
LOG_LARGE = math.log(LARGE)
SMALL = sys.float_info.min
SQRT_SMALL = math.sqrt(SMALL)
LN2 = math.log(2.0)
LN10 = math.log(10.0)


def exp(of: Any, x: Any, y: Any) -> Any:
    """The exponential."""
    if x > LOG_LARGE:
        s = math.exp(x - 1.0)
        re, im = s * math.cos(y) * math.e, y if y == 0.0 else s * math.sin(y) * math.e
    else:
        s = math.exp(x)
        re, im = s * math.cos(y), s * math.sin(y)
    return re, im


def log(of: Any, x: Any, y: Any) -> Any:
    """The logarithm; accurate where the absolute value is near 1."""
    ax, ay = abs(x), abs(y)
    if ax > LARGE or ay > LARGE:
        re = math.log(math.hypot(ax / 2.0, ay / 2.0)) + LN2
    elif ax < SMALL and ay < SMALL:
        re = math.log(math.hypot(ax * 2.0**53, ay * 2.0**53)) - 53 * LN2
    else:
        h = math.hypot(ax, ay)
        if h >= 0.71 and h <= 1.73:
            am = ax if ax > ay else ay
            an = ay if ax > ay else ax
            re = math.log1p((am - 1.0) * (am + 1.0) + an * an) / 2.0
        else:
            re = math.log(h)
    return re, math.atan2(y, x)


def log10(of: Any, x: Any, y: Any) -> Any:
    """The logarithm to base 10."""
    re, im = of("log", x, y)
    return re / LN10, im / LN10


def sqrt(of: Any, x: Any, y: Any) -> Any:
    """The root with a real part that is not negative."""
    ax, ay = abs(x), abs(y)
    if ax == 0.0 and ay == 0.0:
        re, im = 0.0, y
    else:
        if ax < SMALL and ay < SMALL:
            ax = ax * 2.0**54
            s = math.sqrt((ax + math.hypot(ax, ay * 2.0**54)) * 0.5) * 2.0**-27
        else:
            ax = ax / 8.0
            s = 2.0 * math.sqrt(ax + math.hypot(ax, ay / 8.0))
        d = ay / (2.0 * s)
        if x >= 0.0:
            re, im = s, math.copysign(d, y)
        else:
            re, im = d, math.copysign(s, y)
    return re, im


def cosh(of: Any, x: Any, y: Any) -> Any:
    """The hyperbolic cosine."""
    if abs(x) > LOG_LARGE:
        less = x - math.copysign(1.0, x)
        re = math.cos(y) * math.cosh(less) * math.e
        im = math.copysign(1.0, x) * y if y == 0.0 else math.sin(y) * math.sinh(less) * math.e
    else:
        re, im = math.cos(y) * math.cosh(x), math.sin(y) * math.sinh(x)
    return re, im


def sinh(of: Any, x: Any, y: Any) -> Any:
    """The hyperbolic sine."""
    if abs(x) > LOG_LARGE:
        less = x - math.copysign(1.0, x)
        re = math.cos(y) * math.sinh(less) * math.e
        im = y if y == 0.0 else math.sin(y) * math.cosh(less) * math.e
    else:
        re, im = math.cos(y) * math.sinh(x), math.sin(y) * math.cosh(x)
    return re, im


def tanh(of: Any, x: Any, y: Any) -> Any:
    """The hyperbolic tangent."""
    if abs(x) > LOG_LARGE:
        re, im = math.copysign(1.0, x), 4.0 * math.sin(y) * math.cos(y) * math.exp(-2.0 * abs(x))
    else:
        tx, ty, cx = math.tanh(x), math.tan(y), 1.0 / math.cosh(x)
        txty = tx * ty
        denominator = 1.0 + txty * txty
        re, im = tx * (1.0 + ty * ty) / denominator, ((ty / denominator) * cx) * cx
    return re, im


def acos(of: Any, x: Any, y: Any) -> Any:
    """The arc cosine."""
    if abs(x) > LARGE or abs(y) > LARGE:
        re = math.atan2(abs(y), x)
        im = math.copysign(math.log(math.hypot(x / 2.0, y / 2.0)) + LN2 * 2.0, -y)
    else:
        a, b = of("sqrt", 1.0 - x, -y)
        c, d = of("sqrt", 1.0 + x, y)
        re, im = 2.0 * math.atan2(a, c), math.asinh(c * b - d * a)
    return re, im


def acosh(of: Any, x: Any, y: Any) -> Any:
    """The hyperbolic arc cosine."""
    if abs(x) > LARGE or abs(y) > LARGE:
        re, im = math.log(math.hypot(x / 2.0, y / 2.0)) + LN2 * 2.0, math.atan2(y, x)
    else:
        a, b = of("sqrt", x - 1.0, y)
        c, d = of("sqrt", x + 1.0, y)
        re, im = math.asinh(a * c + b * d), 2.0 * math.atan2(b, c)
    return re, im


def asinh(of: Any, x: Any, y: Any) -> Any:
    """The hyperbolic arc sine."""
    if abs(x) > LARGE or abs(y) > LARGE:
        re = math.copysign(math.log(math.hypot(x / 2.0, y / 2.0)) + LN2 * 2.0, x)
        im = math.atan2(y, abs(x))
    else:
        a, b = of("sqrt", 1.0 + y, -x)
        c, d = of("sqrt", 1.0 - y, x)
        re, im = math.asinh(a * d - c * b), math.atan2(y, a * c - b * d)
    return re, im


def atanh(of: Any, x: Any, y: Any) -> Any:
    """The hyperbolic arc tangent."""
    sign = math.copysign(1.0, x)
    x, y = x * sign, y * sign
    ay = abs(y)
    if x > SQRT_LARGE or ay > SQRT_LARGE:
        h = math.hypot(x / 2.0, y / 2.0)
        re, im = x / 4.0 / h / h, -math.copysign(math.pi / 2.0, -y)
    elif x == 1.0 and ay < SQRT_SMALL:
        if ay == 0.0:
            re, im = math.inf, y
        else:
            re = -math.log(math.sqrt(ay) / math.sqrt(math.hypot(ay, 2.0)))
            im = math.copysign(math.atan2(2.0, -ay) / 2.0, y)
    else:
        re = math.log1p(4.0 * x / ((1.0 - x) * (1.0 - x) + ay * ay)) / 4.0
        im = -math.atan2(-2.0 * y, (1.0 - x) * (1.0 + x) - ay * ay) / 2.0
    return re * sign, im * sign


def sin(of: Any, x: Any, y: Any) -> Any:
    """The sine."""
    re, im = of("sinh", -y, x)
    return im, -re


def cos(of: Any, x: Any, y: Any) -> Any:
    """The cosine."""
    return of("cosh", -y, x)


def tan(of: Any, x: Any, y: Any) -> Any:
    """The tangent."""
    re, im = of("tanh", -y, x)
    return im, -re


def asin(of: Any, x: Any, y: Any) -> Any:
    """The arc sine."""
    re, im = of("asinh", -y, x)
    return im, -re


def atan(of: Any, x: Any, y: Any) -> Any:
    """The arc tangent."""
    re, im = of("atanh", -y, x)
    return im, -re


def pow(of: Any, x: Any, y: Any, u: Any, v: Any) -> Any:
    """The power `x + yi` to `u + vi`."""
    if u == 0.0 and v == 0.0:
        re, im = 1.0, 0.0
    elif x == 0.0 and y == 0.0:
        re = math.nan if v != 0.0 or u < 0.0 else 0.0
        im = re
    else:
        size, at = math.hypot(x, y), math.atan2(y, x)
        length, phase = math.pow(size, u), at * u
        if v != 0.0:
            length = length * math.exp(-at * v)
            phase = phase + v * math.log(size)
        re, im = length * math.cos(phase), length * math.sin(phase)
    return re, im


def everywhere(x: Any, y: Any, finite: Any, special: Any) -> Any:
    """A function of finite parts by its algorithm, and of others by its table."""
    if math.isfinite(x) and math.isfinite(y):
        re, im = finite(x, y)
    else:
        re, im = special(x, y)
    return re, im
