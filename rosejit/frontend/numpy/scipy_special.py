"""The functions of `scipy.special` that are staged: rows as NumPy's.

At edges (`xlogy(0, 0)`, `entr(0)`) the value is what SciPy defines, a constant, and so is its derivative.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

import math
import operator
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy.exponentials import log_softmax, softmax, weighted_logsumexp
from rosejit.frontend.numpy.row_kinds import Handler, Row, of_array, of_elements
from rosejit.frontend.values.scalars import P

ROOT_HALF = math.sqrt(0.5)
FAR_BELOW = -14.0
"""From here the twelve terms of the asymptotic series of `log_ndtr` are exact."""
MANY = 1e6
"""From here, and so much above the other operand, `betaln` goes by its expansion: logarithms of gamma would cancel."""


def _real(x: Any) -> Any:
    return x * 1.0


def _logit(x: Any) -> Any:
    x = _real(x)
    middle = (x > 0.3) & (x < 0.65)
    near = chosen(middle, 2.0 * x - 1.0, 0.0)
    far = chosen(middle, 0.25, x)
    return chosen(middle, P["log1p"](near) - P["log1p"](-near), P["log"](far / (1.0 - far)))


def _times_log(name: str, least: float, neutral: float) -> Callable[[Any, Any], Any]:
    """x log(y) or x log(1 + y); 0 where x is, whatever the other factor."""

    def make(x: Any, y: Any) -> Any:
        x, y = _real(x), _real(y)
        endless = (x == 0.0) & ((y <= least) | (y == math.inf))
        return x * P[name].__call__(chosen(endless, neutral, y))

    return make


def _entr(x: Any) -> Any:
    x = _real(x)
    inside = x > 0.0
    own = chosen(inside, x, 1.0)
    edge = chosen(x == 0.0, 0.0, chosen(x < 0.0, -math.inf, x))
    return chosen(inside, -own * P["log"](own), edge)


def _relative(more: Callable[[Any, Any], Any], at_zero: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """x log(x / y) and more, for positive operands; a value where x is 0; inf elsewhere."""

    def make(x: Any, y: Any) -> Any:
        x, y = _real(x), _real(y)
        inside = (x > 0.0) & (y > 0.0)
        own, other = chosen(inside, x, 1.0), chosen(inside, y, 1.0)
        edge = chosen((x == 0.0) & (y >= 0.0), at_zero(y), chosen((x != x) | (y != y), math.nan, math.inf))
        return chosen(inside, own * P["log"](own / other) + more(own, other), edge)

    return make


def _betaln(a: Any, b: Any) -> Any:
    a, b = _real(a), _real(b)
    large, small = chosen(a > b, a, b), chosen(a > b, b, a)
    far = (large > MANY) & (large > MANY * abs(small))
    big = chosen(far, large, MANY)
    series = P["lgamma"](small) - small * P["log"](big)
    series = series + small * (1.0 - small) / (2.0 * big)
    series = series + small * (1.0 - small) * (1.0 - 2.0 * small) / (12.0 * big * big)
    return chosen(far, series, P["lgamma"](a) + P["lgamma"](b) - P["lgamma"](a + b))


def _sign_of_gamma(x: Any) -> Any:
    below = P["floor"](x)
    return chosen((x > 0.0) | (below == 2.0 * P["floor"](0.5 * below)), 1.0, -1.0)


def _beta(a: Any, b: Any) -> Any:
    a, b = _real(a), _real(b)
    sign = _sign_of_gamma(a) * _sign_of_gamma(b) * _sign_of_gamma(a + b)
    return sign * P["exp"](_betaln(a, b))


def _ndtr(x: Any) -> Any:
    return 0.5 * P["erfc"](_real(x) * -ROOT_HALF)


def _log_ndtr(x: Any) -> Any:
    x = _real(x)
    above, far = x > 0.0, x < FAR_BELOW
    high = P["log1p"](-0.5 * P["erfc"](chosen(above, x, 0.0) * ROOT_HALF))
    middle = P["log"](_ndtr(chosen(above | far, 0.0, x)))
    low = chosen(far, x, FAR_BELOW)
    inverse = 1.0 / (low * low)
    terms: Any = 0.0
    for k in range(12, 0, -1):  # 1 - 1/x^2 + 3/x^4 - 15/x^6 + ...
        terms = -(2.0 * k - 1.0) * inverse * (1.0 + terms)
    tail = -0.5 * low * low - P["log"](-low) - 0.5 * math.log(2.0 * math.pi) + P["log1p"](terms)
    return chosen(above, high, chosen(far, tail, middle))


def _huber(delta: Any, r: Any) -> Any:
    delta, size = _real(delta), abs(_real(r))
    return chosen(delta < 0.0, math.inf, chosen(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)))


def _pseudo_huber(delta: Any, r: Any) -> Any:
    delta, r = _real(delta), _real(r)
    endless = (abs(r) == math.inf) & (delta < math.inf)
    inside = (delta > 0.0) & (r != 0.0) & (abs(r) != math.inf)
    ratio = chosen(inside, r / chosen(delta > 0.0, delta, 1.0), 0.0)
    square = ratio * ratio
    edge = chosen(delta < 0.0, math.inf, chosen((delta == 0.0) | (r == 0.0), 0.0, chosen(endless, math.inf, math.nan)))
    return chosen(inside, delta * delta * (square / (P["sqrt"](1.0 + square) + 1.0)), edge)  # sqrt(..) - 1 cancels


def _log_sum(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False) -> Any:
    return weighted_logsumexp(a, axis, b, keepdims)


def _row(names: str, kind: Any, make: Any, signature: str = "") -> Row:
    return Row(" ".join([f"scipy.special.{name}" for name in names.split()]), kind, make, signature)


_PRIMITIVES = {
    "expit": "sigmoid", "gammaln": "lgamma", "erf": "erf", "erfc": "erfc", "psi digamma": "digamma", "expm1": "expm1",
    "log1p": "log1p", "gamma": "gamma", "exp2": "exp2", "cbrt": "cbrt",
}  # fmt: skip
_WRITTEN: dict[str, Callable[..., Any]] = {
    "xlogy": _times_log("log", 0.0, 1.0),
    "xlog1py": _times_log("log1p", -1.0, 0.0),
    "entr": _entr,
    "rel_entr": _relative(lambda x, y: 0.0, lambda y: 0.0),
    "kl_div": _relative(lambda x, y: y - x, lambda y: y),
    "betaln": _betaln,
    "beta": _beta,
    "logit": _logit,
    "ndtr": _ndtr,
    "log_ndtr": _log_ndtr,
    "log_expit": lambda x: -P["softplus"](-_real(x)),
    "huber": _huber,
    "pseudo_huber": _pseudo_huber,
}

ROWS: tuple[Row, ...] = (
    *[_row(names, of_elements, P[name]) for names, name in _PRIMITIVES.items()],
    *[_row(name, of_elements, make) for name, make in _WRITTEN.items()],
    _row("logsumexp", of_array, _log_sum, "a, axis=None, b=None, keepdims=False, return_sign=False"),
    _row("softmax", of_array, softmax, "x, axis=None"),
    _row("log_softmax", of_array, log_softmax, "x, axis=None"),
)
"""All of them."""


def handler_of(function: Any) -> Handler | None:
    """What is done with a call of a function, if it is one of them."""
    return _table().get(function) if "scipy.special" in sys.modules else None


@lru_cache(maxsize=1)
def _table() -> dict[Any, Handler]:
    scipy = sys.modules["scipy"]
    names = [(name.partition(".")[2], row) for row in ROWS for name in row.names.split()]
    return {operator.attrgetter(name)(scipy): row.stages for name, row in names}
