"""Integrals by adaptive Gauss-Kronrod quadrature."""

import math
from collections.abc import Callable
from typing import Any

from rosejit.api.math_functions import stop_gradient
from rosejit.api.public_entry import public
from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.numeric import np
from rosejit.solvers.fitting.linear_least_squares import EPSILON
from rosejit.solvers.programs import amount, check, count, numbers, real, several, solve
from rosejit.solvers.scipy_keywords import takes_scipy_keywords

# Nodes x > 0, their Kronrod weights and their Gauss weights (0: no node of Gauss), then those of the node 0
# (QUADPACK, qk21).
_RULE = (
    (0.995657163025808080735527280689003, 0.011694638867371874278064396062192, 0.0),
    (0.973906528517171720077964012084452, 0.032558162307964727478818972459390, 0.066671344308688137593568809893332),
    (0.930157491355708226001207180059508, 0.054755896574351996031381300244580, 0.0),
    (0.865063366688984510732096688423493, 0.075039674810919952767043140916190, 0.149451349150580593145863396957658),
    (0.780817726586416897063717578345042, 0.093125454583697605535065465083366, 0.0),
    (0.679409568299024406234327365114874, 0.109387158802297641899210590325805, 0.219086362515982043995534934228163),
    (0.562757134668604683339000099272694, 0.123491976262065851077958109585166, 0.0),
    (0.433395394129247190799265943165784, 0.134709217311473325928054001771707, 0.269266719309996355091226921569473),
    (0.294392862701460198131126603103866, 0.142775938577060080797094273138717, 0.0),
    (0.148874338981631210884826001129720, 0.147739104901338491374841515972068, 0.295524224714752870173815619188769),
    (0.0, 0.149445554002916905664936468389821, 0.0),
)
_BOTH = (*((-x, kronrod, gauss) for x, kronrod, gauss in _RULE[:-1]), *reversed(_RULE))


@public
@takes_scipy_keywords
def quad(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: tuple[Any, ...] = (),
    *,
    tol: float = 1.49e-8,
    epsabs: float | None = None,
    epsrel: float | None = None,
    limit: int = 50,
    raise_on_failure: bool = False,
) -> tuple[Any, Any]:
    """The integral of `f(x, *args)` from `a` to `b`, and an estimate of its error.

    The interval with the largest error is halved until the sum of errors is at most `epsabs`, or `epsrel` of the
    integral (both are `tol` if left out), or there are `limit` intervals: then the error says so. Infinite ends
    are mapped to finite ones; they must be known when the program is made. The integral is differentiable by `a`, `b`
    and all that `f` reads.

    >>> import math
    >>> import rosejit as rose
    >>> round(rose.quad(lambda x: math.exp(-x * x), -math.inf, math.inf)[0] ** 2, 9)
    3.141592654
    """
    most, absolute, relative = (
        count(quad, "limit", limit),
        amount(quad, *(("tol", tol) if epsabs is None else ("epsabs", epsabs))),
        amount(quad, *(("tol", tol) if epsrel is None else ("epsrel", epsrel))),
    )
    ends = (_infinite(a), _infinite(b))
    given = tuple(0.0 if infinite else end for end, infinite in zip((a, b), ends, strict=True))

    def build(base):
        def integrated(a, b, args, absolute, relative):
            def function(x):
                return 1.0 * numbers(base(x, *args))

            return _mapped(function, real(a), real(b), ends, absolute, relative, most)

        return integrated

    value, error, intervals = solve(quad, f, build, (*given, several(args), absolute, relative), ends, most)
    if raise_on_failure:

        def outcome():
            allowed = max(absolute, relative * abs(value))
            why = f"the error estimate is {error:.2g}, {allowed:.2g} was asked for"
            return error <= allowed, f"{why} (`limit={most}`)", 21 * (2 * intervals - 1)

        check(quad, outcome)
    return value, error


def _infinite(end: Any) -> int:
    """The sign of an end that is known to be infinite, else 0."""
    return int(math.copysign(1, end)) if isinstance(end, float) and math.isinf(end) else 0


def _mapped(f, a, b, ends, absolute, relative, most):
    """The integral over an interval whose infinite ends are at ±1 of another variable."""
    start, end = ends
    if start and end:

        def both(t):
            rest = 1.0 - t * t
            return f(t / rest) * (1.0 + t * t) / (rest * rest)

        sign = 0.5 * (end - start)
        value, error, intervals = adapted(both, -1.0, 1.0, absolute, relative, most)
        return sign * value, error, intervals
    if start or end:
        finite, side = (a, end) if end else (b, start)

        def half(t):
            return f(finite + side * t / (1.0 - t)) / ((1.0 - t) * (1.0 - t))

        value, error, intervals = adapted(half, 0.0, 1.0, absolute, relative, most)
        return (1.0 if end == 1 or start == -1 else -1.0) * value, error, intervals
    return adapted(f, a, b, absolute, relative, most)


def adapted(f, a, b, absolute, relative, most):
    """The integral over a finite interval, which is halved where the error is largest."""
    left, right = np.zeros(most), np.zeros(most)
    values, errors = np.zeros(most), np.zeros(most)
    left[0], right[0] = a, b
    value, error = rule(f, a, b)
    values[0], errors[0] = value, error
    count = 1
    while count < most and error > max(absolute, relative * abs(value)):
        worst = 0
        for k in iterations(count):
            if errors[k] > errors[worst]:
                worst = k
        middle = 0.5 * (left[worst] + right[worst])
        left[count], right[count] = middle, right[worst]
        right[worst] = middle
        values[worst], errors[worst] = rule(f, left[worst], middle)
        values[count], errors[count] = rule(f, middle, right[count])
        count += 1
        value, error = 0.0, 0.0
        for k in iterations(count):
            value += values[k]
            error += errors[k]
    return value, error, count


def rule(f, a, b):
    """The integral by 21 nodes, and an error estimate from 10 of them, as in QUADPACK."""
    nodes, kronrod, gauss = (np.array([row[k] for row in _BOTH]) for k in range(3))
    middle, half = 0.5 * (a + b), 0.5 * (b - a)
    y = np.zeros(21)
    fine, coarse, size = 0.0, 0.0, 0.0
    for k in iterations(21):
        y[k] = f(middle + half * nodes[k])
        fine += kronrod[k] * y[k]
        coarse += gauss[k] * y[k]
        size += kronrod[k] * abs(y[k])
    spread = 0.0
    for k in iterations(21):
        spread += kronrod[k] * abs(y[k] - 0.5 * fine)
    width = abs(half)
    error = abs(fine - coarse) * width
    if spread > 0.0 and error > 0.0:
        error = spread * width * min(1.0, (200.0 * error / (spread * width)) ** 1.5)
    return half * fine, stop_gradient(max(error, 50.0 * EPSILON * size * width) if error == error else error)
