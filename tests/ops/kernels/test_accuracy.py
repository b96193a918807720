"""Kernels against many digits: a few hundred points a function here, millions in benchmarks/."""

import math
import random

import mpmath
import pytest
from mpmath import mpf

from rosejit import interp
from rosejit.ir.primitive import Kernel
from rosejit.ir.types import REAL
from rosejit.ops import PRIMITIVES, elementary, special
from rosejit.ops.traced_value import define
from rosejit.transforms.autodiff.derivative_programs import pushforward
from tests.ops.kernels.reference import REFERENCES, ulps

POINTS = 300


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workprec(300):
        yield


def exactly(name, args):
    return REFERENCES[name].exact(*[a if isinstance(a, int) else mpf(a) for a in args])


def test_every_inexact_kernel_has_a_reference():
    inexact = {op.name for op in (*elementary.ALL, *special.ALL) if isinstance(op.wasm, Kernel)}
    assert inexact == REFERENCES.keys()


@pytest.mark.parametrize("name", REFERENCES)
def test_error_is_within_the_bound(name):
    reference, op, rng = REFERENCES[name], PRIMITIVES[name], random.Random(name)
    for i in range(POINTS):
        args = reference.draws[i % len(reference.draws)](rng)
        got = op.evaluate(*args)
        assert ulps(got, exactly(name, args)) <= reference.bound, (args, got)


@pytest.mark.parametrize(
    ("name", "x"),
    [
        # The doubles nearest to multiples of π/2 and other known hard cases (Muller, Elementary Functions).
        *(("sin", x) for x in (6381956970095103.0 * 2.0**797, 1e22, 1e300, 2.0**1023, 355.0, 5.0e15)),
        *(("cos", x) for x in (6381956970095103.0 * 2.0**797, 1e22, 5319372648326541.0 * 2.0**-49, 11.0)),
        *(("tan", x) for x in (6381956970095103.0 * 2.0**797, 1e22, 1.5707963267948966, 4.71238898038469)),
        *(
            ("exp", x)
            for x in (7.5417527749959590085206221024712557043923055744016892276704311370849e-10, 709.782712893384)
        ),
        *(("log", x) for x in (1.0 + 2.0**-52, 1.0 - 2.0**-53, 5e-324, 1.7976931348623157e308)),
        *(("lgamma", x) for x in (1.0 + 2.0**-52, 2.0 - 2.0**-52, 3.0, 0.5, 9.999999999999998, 1e15)),
        *(("gamma", x) for x in (171.62437695630272, 23.999999999999996, 24.0, 0.5, 1e-300, -0.5, -1e-10)),
        *(("digamma", x) for x in (1.4616321449683622, 1.4616321449683624, 0.5, 10.0, 9.999999999999998)),
        *(("erfc", x) for x in (0.5, 0.75, -0.75, 26.5, 1e-20)),
    ],
)
def test_hard_points(name, x):
    assert ulps(PRIMITIVES[name].evaluate(x), exactly(name, (x,))) <= REFERENCES[name].bound


@pytest.mark.parametrize("x", [-0.5, -1.5, -2.4570247382208, -10.1, -0.001, -20.7])
@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_below_zero_the_error_is_absolute(name, x):
    """Both have zeros between the integers, where a relative bound would need more digits."""
    exact = mpmath.log(abs(mpmath.gamma(mpf(x)))) if name == "lgamma" else mpmath.digamma(mpf(x))
    assert abs(PRIMITIVES[name].evaluate(x) - exact) <= 4e-15 * max(1.0, abs(float(exact)), 1.0 / abs(x - round(x)))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("x", [-0.5, -0.25, -1.6, -7.3, -1e-5])
def test_polygamma_below_zero(n, x):
    exact = mpmath.polygamma(n, mpf(x))
    below = mpmath.polygamma(n, mpf(1) - mpf(x))
    assert abs(special.polygamma(n, x) - exact) <= 1e-14 * float(abs(exact) + 10 * abs(below))


@pytest.mark.parametrize("k", range(2, 200, 7))
def test_whole_powers_that_are_exact(k):
    assert elementary.exp2(float(k)) == 2.0**k
    assert elementary.log2(2.0**k) == k
    assert elementary.pow_(2.0, float(k)) == 2.0**k
    assert elementary.cbrt(float(k) ** 3) == k
    assert elementary.hypot(3.0 * k, 4.0 * k) == 5.0 * k
    if k < 22:
        assert elementary.log10(10.0**k) == k
        assert elementary.pow_(10.0, float(k)) == 10.0**k
        assert special.gamma(k + 1.0) == math.factorial(k)
    if k < 33:
        assert elementary.pow_(3.0, float(k)) == 3.0**k


# --- derivatives at hard points


def derivatives(name, x):
    """The first and the second, through the transforms, as users get them."""
    first = pushforward(define(name, (REAL,), PRIMITIVES[name]), (True,))
    second = pushforward(first, (True, False))
    _, slope, _, curvature = interp.run(second, [x, 1.0, 1.0])
    return slope, curvature


HARD = {
    "asin": (0.999999, 1e-8, -0.3, 0.5),
    "acos": (0.999999, 1e-8, -0.3),
    "atan": (1e-9, 3.0, 1e8),
    "tanh": (1e-9, 18.0, 40.0, 300.0, -0.4),
    "sigmoid": (40.0, -40.0, 0.3),
    "softplus": (40.0, -40.0, 0.3),
    "log1p": (1e-12, -0.999, 3.0),
    "expm1": (1e-12, -30.0, 3.0),
    "atanh": (1e-9, 0.99999, -0.5),
    "asinh": (1e-9, 1e8, -0.5),
    "acosh": (1.00001, 1e8, 2.0),
    "sech2": (1e-9, 300.0, 1.3, -1.99),
    "bell": (1e-9, 300.0, -600.0, 2.99),
    "cbrt": (1e-9, 8.0, -1e5),
    "erf": (1e-9, 5.0, 1.1),
    "erfc": (5.0, 20.0, -1.0),
    "lgamma": (1e-5, 1.0, 2.0, 50.0),
    "gamma": (0.1, 3.3, 20.0),
    "sin": (1e-9, 1.3),
    "tan": (1e-9, 1.3),
    "log": (1e-9, 1.3),
}


@pytest.mark.parametrize(("name", "x"), [(name, x) for name, points in HARD.items() for x in points])
def test_first_and_second_derivative_at_hard_points(name, x):
    exact = REFERENCES[name].exact
    for order, got in enumerate(derivatives(name, x), 1):
        with mpmath.workprec(900):
            want = mpmath.diff(exact, mpf(x), order, h=mpf(2) ** -300 * max(abs(mpf(x)), 1e-3) * 1e-6)
        assert abs(mpf(got) - want) <= 1e-13 * abs(want), (order, got, mpmath.nstr(want, 17))
