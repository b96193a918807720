"""Fits the polynomials of `rosejit/ops/kernels/` and writes them to `coefficients.py`, each with how far it is off.

Interpolation at Chebyshev nodes with 60 digits, which is within a small factor of the best polynomial of its degree;
the coefficients are rounded to doubles and the error is measured with the rounded ones.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import mpmath
from mpmath import mpf

mpmath.mp.dps = 60

TARGET = Path(__file__).parent.parent / "rosejit" / "ops" / "kernels" / "coefficients.py"


class Fit(NamedTuple):
    """`terms` coefficients of a polynomial near `f` from `a` to `b`; its error counts relative to `weight`."""

    f: Callable[[mpf], mpf]
    a: float
    b: float
    terms: int
    weight: Callable[[mpf], mpf]
    inside: int = 0
    """How often the weight vanishes at 0, which is inside the interval."""


def places(fit: Fit) -> list[mpf]:
    """Chebyshev nodes; where the weight vanishes at 0, all but the first of one more, which is put at 0, or all but
    those next to 0 of some more."""
    a, b, n = mpf(fit.a), mpf(fit.b), fit.terms
    if fit.inside:
        more = n + fit.inside
        nodes = [(a + b) / 2 + (b - a) / 2 * mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * more)) for i in range(more)]
        return sorted(nodes, key=abs)[fit.inside :]
    if a == 0 and fit.weight(mpf(0)) == 0:
        last = mpmath.cos(mpmath.pi / (2 * (n + 1)))
        a = -b * (1 - last) / (1 + last)
        n += 1
    return [(a + b) / 2 + (b - a) / 2 * mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * n)) for i in range(fit.terms)]


def polynomial(fit: Fit) -> list[float]:
    """The coefficients, lowest power first."""
    nodes, n = places(fit), fit.terms
    table = [fit.f(x) for x in nodes]  # Newton's divided differences
    for depth in range(1, n):
        for i in range(n - 1, depth - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - depth])
    coefficients = [mpf(0)] * n
    for i in range(n - 1, -1, -1):
        shifted = [mpf(0), *coefficients[:-1]]
        coefficients = [s - nodes[i] * c for s, c in zip(shifted, coefficients, strict=True)]
        coefficients[0] += table[i]
    return [float(c) for c in coefficients]


def error(fit: Fit, coefficients: list[float], points: int = 301) -> mpf:
    """The largest of |polynomial - f| * weight."""
    worst = mpf(0)
    for i in range(points):
        x = mpf(fit.a) + (mpf(fit.b) - mpf(fit.a)) * i / (points - 1)
        value = mpf(0)
        for c in reversed(coefficients):
            value = value * x + mpf(c)
        worst = max(worst, abs((value - fit.f(x)) * fit.weight(x)))
    return worst


def odd(f: Callable[[mpf], mpf], lead: int) -> Callable[[mpf], mpf]:
    """(f(r) - r * its linear coefficient) / r**3 as a function of z = r**2."""

    def quotient(z: mpf) -> mpf:
        r = mpmath.sqrt(max(z, mpf("1e-24")))
        with mpmath.workdps(120):
            return (f(r) - lead * r) / r**3

    return quotient


def even(f: Callable[[mpf], mpf], sign: int) -> Callable[[mpf], mpf]:
    """(f(r) - 1 - sign * r**2 / 2) / r**4 as a function of z = r**2."""

    def quotient(z: mpf) -> mpf:
        r = mpmath.sqrt(max(z, mpf("1e-24")))
        with mpmath.workdps(140):
            return (f(r) - 1 - mpf(sign) * r * r / 2) / r**4

    return quotient


def fifth(z: mpf) -> mpf:
    """(2 atanh(s) - 2 s - 2 s**3 / 3) / s**5 as a function of z = s**2."""
    s = mpmath.sqrt(max(z, mpf("1e-20")))
    with mpmath.workdps(160):
        return (2 * mpmath.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5


HALF_LN2 = float(mpmath.log(2) / 2) * 1.0001
HALF_PART = HALF_LN2 / 32
QUARTER = float(mpmath.pi / 4) * 1.0001
SQUARE_ROOT = float((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)) * 1.0001


def cubed(z: mpf) -> mpf:
    """The weight of a cubic remainder beside its linear term."""
    return z


def one(_: mpf) -> mpf:
    """The weight of an absolute error."""
    return mpf(1)


def erf_rest(z: mpf) -> mpf:
    """erf(x) / x - 1 as a function of z = x**2."""
    x = mpmath.sqrt(max(z, mpf("1e-30")))
    with mpmath.workdps(100):
        return mpmath.erf(x) / x - 1


def erfc_rest(t: mpf) -> mpf:
    """exp(x**2) erfc(x) (1 + 2 x) - 5/4 as a function of t = (x - 7/2) / (x + 7/2)."""
    x = mpf(7) / 2 * (1 + t) / (1 - t)
    with mpmath.workdps(700):
        return mpmath.exp(x * x) * mpmath.erfc(x) * (1 + 2 * x) - mpf(5) / 4


def inner(v: mpf) -> mpf:
    """u = v + 1/2 from 0 to 1, less where a quotient would be 0/0."""
    return min(max(v + mpf("0.5"), mpf("1e-25")), 1 - mpf("1e-25"))


def reciprocal_gamma(v: mpf) -> mpf:
    """(1 / gamma(1 + u) - 1) / (u (1 - u))."""
    u = inner(v)
    with mpmath.workdps(100):
        return (mpmath.rgamma(1 + u) - 1) / (u * (1 - u))


def log_gamma(v: mpf) -> mpf:
    """-log(gamma(1 + u)) / (u (1 - u)) - 1/2."""
    u = inner(v)
    with mpmath.workdps(100):
        return -mpmath.loggamma(1 + u) / (u * (1 - u)) - mpf("0.5")


PSI_ROOT = mpmath.findroot(lambda u: mpmath.digamma(1 + u), mpf("0.461632144968362341262659542325721"))


def digamma(v: mpf) -> mpf:
    """digamma(1 + u) / (u - its root) - 1."""
    u = inner(v)
    if abs(u - PSI_ROOT) < mpf("1e-25"):
        u = PSI_ROOT + mpf("1e-25")
    with mpmath.workdps(120):
        return mpmath.digamma(1 + u) / (u - PSI_ROOT) - 1


def stirling(x: mpf) -> mpf:
    """What is left of log(gamma(x)) after the leading terms of Stirling's series."""
    return mpmath.loggamma(x) - ((x - mpf("0.5")) * mpmath.log(x) - x + mpmath.log(2 * mpmath.pi) / 2)


def gamma_star(w: mpf) -> mpf:
    """(exp(stirling(x)) - 1) * x as a function of w = 1 / x."""
    w = max(w, mpf("1e-15"))
    with mpmath.workdps(150):
        return mpmath.expm1(stirling(1 / w)) / w


def stirling_rest(z: mpf) -> mpf:
    """stirling(x) * x as a function of z = x**-2."""
    with mpmath.workdps(200):
        x = 1 / mpmath.sqrt(max(z, mpf("1e-26")))
        return x * stirling(x)


def digamma_rest(z: mpf) -> mpf:
    """(log(x) - 1 / (2 x) - digamma(x)) * x**2 as a function of z = x**-2."""
    with mpmath.workdps(200):
        x = 1 / mpmath.sqrt(max(z, mpf("1e-26")))
        return x * x * (mpmath.log(x) - 1 / (2 * x) - mpmath.digamma(x))


def exp_rest(r: mpf) -> mpf:
    """(exp(r) - 1 - r) / r**2."""
    r = r if abs(r) > mpf("1e-20") else mpf("1e-20")
    with mpmath.workdps(140):
        return (mpmath.exp(r) - 1 - r) / r**2


FITS = {
    "EXP": Fit(exp_rest, -HALF_PART, HALF_PART, 5, lambda r: r * r, 2),
    "EXP_LONG": Fit(exp_rest, -HALF_PART, HALF_PART, 6, lambda r: r, 1),
    "SINH": Fit(odd(mpmath.sinh, 1), 0.0, HALF_LN2**2, 6, cubed),
    "COSH": Fit(even(mpmath.cosh, 1), 0.0, HALF_LN2**2, 5, lambda z: z * z),
    "LOG": Fit(odd(lambda s: 2 * mpmath.atanh(s), 2), 0.0, SQUARE_ROOT**2, 8, cubed),
    "LOG_SHORT": Fit(odd(lambda s: 2 * mpmath.atanh(s), 2), 0.0, SQUARE_ROOT**2, 7, cubed),
    "LOG_FIFTH": Fit(fifth, 0.0, 0.1011**2, 6, lambda z: z * z),
    "SIN": Fit(odd(mpmath.sin, 1), 0.0, QUARTER**2, 6, cubed),
    "COS": Fit(even(mpmath.cos, -1), 0.0, QUARTER**2, 6, lambda z: z * z),
    "ATAN": Fit(odd(mpmath.atan, 1), 0.0, 0.1251**2, 7, cubed),
    "ATAN_WIDE": Fit(odd(mpmath.atan, 1), 0.0, 0.4376**2, 12, cubed),
    "ASIN": Fit(odd(mpmath.asin, 1), 0.0, 0.2501, 13, cubed),
    "ERF": Fit(erf_rest, 0.0, 0.5625, 11, one),
    "ERFC": Fit(erfc_rest, -0.75, (27.5 - 3.5) / (27.5 + 3.5), 22, one),
    "RECIPROCAL_GAMMA": Fit(reciprocal_gamma, -0.5, 0.5, 14, lambda v: (mpf("0.5") + v) * (mpf("0.5") - v)),
    "GAMMA_STAR": Fit(gamma_star, 0.0, 1 / 24, 8, cubed),
    "LOG_GAMMA": Fit(log_gamma, -0.5, 0.5, 22, one),
    "STIRLING": Fit(stirling_rest, 0.0, 0.01, 6, lambda z: mpmath.sqrt(z) / 10),
    "DIGAMMA": Fit(digamma, -0.5, 0.5, 24, one),
    "DIGAMMA_REST": Fit(digamma_rest, 0.0, 0.01, 6, lambda z: z / 2),
}


def text() -> str:
    """The module `rosejit/ops/kernels/coefficients.py`."""
    parts = [
        '"""What kernels are made of, written by benchmarks/fit_kernels.py; coefficients, lowest power first."""\n'
    ]
    for name, fit in FITS.items():
        coefficients = polynomial(fit)
        lines = "".join(f"    {c!r},\n" for c in coefficients)
        parts.append(f"{name} = (  # within 2**{int(mpmath.log(error(fit, coefficients), 2))}\n{lines})\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
