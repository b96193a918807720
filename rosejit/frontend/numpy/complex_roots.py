"""Stages `np.roots`: Aberth's iteration for all roots at once, whose derivative is the rule of implicit functions."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# pyright: reportOperatorIssue=false

from functools import partial
from typing import Any

from rosejit.frontend.arrays.array import of_host
from rosejit.frontend.arrays.call_binding import bound, signature_of
from rosejit.frontend.arrays.complex_array import ComplexArray, as_complex, both
from rosejit.frontend.numpy.complex_rows import staged_only
from rosejit.frontend.numpy.linalg_kernels import Site
from rosejit.frontend.values import rose_functions as rose
from rosejit.frontend.values.tape import Tape
from rosejit.numeric import np


def roots(tape: Tape, p: Any) -> Any:
    """The roots of the polynomial with these coefficients, the highest first, in no order."""
    p = as_complex(tape, p)
    if p.__class__ is not ComplexArray or p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    n = p.shape[0] - 1
    if n < 1:
        return np.zeros(0)
    site = Site(tape, tape.here())
    made = partial(_found, tape, n)
    real, imag = site.kernel("roots", made, *both(tape, p), rule=partial(_rule, n))
    return ComplexArray(real, imag)


def _handled(session: Any, function: Any, args: Any, kwargs: Any) -> Any:
    given = bound(session.tape, "np.roots", signature_of("p"), args, kwargs)
    return roots(session.tape, given["p"])


def functions() -> dict[Any, Any]:
    """By function."""
    return {np.roots: staged_only(_handled)} if hasattr(np, "roots") else {}


def _found(tape: Tape, n: int, real: Any, imag: Any) -> tuple[Any, Any]:
    start = 0.4 + 2.0 * np.pi * np.arange(n) / n
    x, y = of_host(tape, np.cos(start)), of_host(tape, np.sin(start))
    made = tape.session.run(iterated, lambda f: f(ComplexArray(real, imag), x, y))
    return made.real, made.imag


def _rule(n: int, found: Any, real: Any, imag: Any, d_real: Any, d_imag: Any) -> tuple[Any, ...]:
    """Of p(z) = 0 follows p'(z) dz = -dp(z)."""
    z, p, dp = ComplexArray(*found), ComplexArray(real, imag), ComplexArray(d_real, d_imag)
    power = z * 0.0 + 1.0
    slope, change = power * 0.0, power * dp[n]
    for k in range(1, n + 1):
        slope = slope + power * (p[n - k] * float(k))
        power = power * z
        change = change + power * dp[n - k]
    dz = change * (-1.0 / slope)
    return dz.real, dz.imag


def iterated(p: Any, x: Any, y: Any) -> Any:
    """All roots of `p`: each is moved as by Newton's method, away from the others."""
    n = p.shape[0] - 1
    size = 1e-300
    for k in rose.range(n):
        size = max(size, abs(p[k + 1] / p[0]) ** (1.0 / (k + 1.0)))
    re, im = size * x, size * y
    moved, count = 1.0, 0
    while moved > 0.0 and count < 200:  # a few are needed where no roots are equal
        moved = 0.0
        count += 1
        for i in rose.range(n):
            z = complex(re[i], im[i])
            value, slope, bound = p[0], 0j, abs(p[0])
            for k in rose.range(n):
                slope = slope * z + value
                value = value * z + p[k + 1]
                bound = bound * abs(z) + abs(p[k + 1])
            others = 0j
            for j in rose.range(n):
                if j != i:
                    apart = z - complex(re[j], im[j])
                    if apart != 0.0:
                        others = others + 1.0 / apart
            if abs(value) > 4e-16 * bound:
                below = slope - value * others
                step = value / below if below != 0.0 else complex(size, size) * 1e-3
                if abs(step) > 4e-16 * abs(z):
                    moved = moved + 1.0
                re[i] = re[i] - step.real
                im[i] = im[i] - step.imag
    found = np.zeros(n, dtype=complex)
    found.real = re
    found.imag = im
    return found
