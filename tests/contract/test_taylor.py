"""`rose.taylor`: closed forms to order 20, structures, places where it is called, refusals."""

import dataclasses
import math

import numpy as np
import pytest

import rosejit as rose

ORDER = 20
X, V = 0.3, 1.5


def series_of(*, coefficients):
    """Derivatives along V from the derivatives of a function at X."""
    return [V**k * d for k, d in enumerate(coefficients)]


def cycle(values):
    return [values[k % len(values)] for k in range(ORDER + 1)]


def binomial(p, x):
    found, factor = [], 1.0
    for k in range(ORDER + 1):
        found.append(factor * x ** (p - k))
        factor *= p - k
    return found


CLOSED = {
    "exp": (lambda x: math.exp(2.0 * x), [2.0**k * math.exp(2.0 * X) for k in range(ORDER + 1)]),
    "sin": (lambda x: math.sin(x), cycle([math.sin(X), math.cos(X), -math.sin(X), -math.cos(X)])),
    "cosh": (lambda x: math.cosh(x), cycle([math.cosh(X), math.sinh(X)])),
    "log": (
        lambda x: math.log(x),
        [math.log(X), *[(-1.0) ** (k - 1) * math.factorial(k - 1) / X**k for k in range(1, ORDER + 1)]],
    ),
    "1/x": (lambda x: 1.0 / x, [(-1.0) ** k * math.factorial(k) / X ** (k + 1) for k in range(ORDER + 1)]),
    "sqrt": (lambda x: math.sqrt(x), binomial(0.5, X)),
    "x**2.5": (lambda x: x**2.5, binomial(2.5, X)),
    "x**7": (lambda x: x**7, binomial(7, X)),
    "geometric": (lambda x: 1.0 / (1.0 - x), [math.factorial(k) / (1.0 - X) ** (k + 1) for k in range(ORDER + 1)]),
    "x exp x": (lambda x: x * math.exp(x), [(X + k) * math.exp(X) for k in range(ORDER + 1)]),
    "atan": (
        lambda x: math.atan(x),
        [
            math.atan(X),
            *[
                (-1.0) ** (k - 1) * math.factorial(k - 1) * math.sin(k * math.atan2(1.0, X)) / (1.0 + X * X) ** (k / 2)
                for k in range(1, ORDER + 1)
            ],
        ],
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_to_order_20(name):
    f, coefficients = CLOSED[name]
    found = rose.taylor(f, X, V, ORDER)
    assert len(found) == ORDER + 1
    assert list(found) == pytest.approx(series_of(coefficients=coefficients), rel=1e-9)


def test_a_polynomial_ends():
    assert rose.taylor(lambda x: x * x * x - 2.0 * x, 2.0, 1.0, 6) == (4.0, 10.0, 12.0, 6.0, 0.0, 0.0, 0.0)
    assert rose.taylor(lambda x: x**2.0, 0.0, 1.0, 3) == (0.0, 0.0, 2.0, 0.0)
    assert rose.taylor(lambda x: x**2.5, 0.0, 1.0, 2) == (0.0, 0.0, 0.0)
    assert rose.taylor(lambda x: 7.0 + x, 0.0, 1.0, 0) == (7.0,)


@dataclasses.dataclass
class Body:
    place: float
    speed: float
    name: str = "b"


def test_structures():
    def f(body: Body, k: float) -> dict[str, float]:
        return {"energy": k * body.place**2 + body.speed**2, "count": 3}

    value, first, second, third = rose.taylor(f, (Body(2.0, 3.0), 0.5), (Body(1.0, -1.0), 0.0), 3)
    assert value == {"energy": 11.0, "count": 3}
    assert first == {"energy": 2.0 - 6.0, "count": 0}
    assert second == {"energy": 3.0, "count": 0}
    assert third == {"energy": 0.0, "count": 0}


def curve(x):
    y = np.tanh(x) * x[0]
    for i in rose.range(len(x)):
        y[i] = y[i] / (1.0 + x[2 - i] ** 2) if x[i] > 0.15 else x[i] ** 3
    return y


def test_arrays_and_loops():
    x, v = np.array([0.1, 0.2, 0.3]), np.array([1.0, -1.0, 2.0])
    along = rose.jit(lambda t: curve(x + t * v))
    d1 = rose.jacfwd(along)
    d2, d3 = rose.jacfwd(d1), rose.jacfwd(rose.jacfwd(d1))
    found = rose.taylor(curve, x, v, 3)
    for got, wanted in zip(found, (along(0.0), d1(0.0), d2(0.0), d3(0.0)), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-12)
    with rose.disable_jit():
        for got, wanted in zip(rose.taylor(curve, x, v, 3), found, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_inside_staged_code_and_differentiated():
    @rose.jit
    def third(x: float) -> float:
        return rose.taylor(lambda t: math.exp(2.0 * t), x, 1.0, 3)[3]

    assert third(0.1) == pytest.approx(8.0 * math.exp(0.2))
    assert rose.grad(third)(0.1) == pytest.approx(16.0 * math.exp(0.2))
    np.testing.assert_allclose(rose.vmap(third)(np.array([0.1, 0.2])), 8.0 * np.exp([0.2, 0.4]))


def test_while_and_recursion():
    @rose.jit
    def power(x: float, n: int) -> float:
        if n == 0:
            return 1.0
        return x * power(x, n - 1)

    def f(x: float) -> float:
        total, k = 0.0, 0
        while total < 30.0:
            total, k = total + power(x, k), k + 1
        return total

    found = rose.taylor(f, 2.0, 1.0, 4)  # 1 + x + .. + x**4
    assert found == (31.0, 1.0 + 4.0 + 12.0 + 32.0, 2.0 + 12.0 + 48.0, 6.0 + 48.0, 24.0)


def test_a_rule_of_ones_own_counts():
    @rose.jit
    def half_sine(x: float) -> float:
        return 0.5 * math.sin(x)

    @half_sine.jvp
    def half_sine_jvp(x: rose.Dual) -> rose.Dual:
        return rose.Dual(half_sine(x.re), 0.5 * math.cos(x.re) * x.du)

    found = rose.taylor(lambda x: half_sine(2.0 * x), X, 1.0, 6)
    wanted = [0.5 * 2.0**k * math.sin(2.0 * X + k * math.pi / 2) for k in range(7)]
    assert list(found) == pytest.approx(wanted, rel=1e-12)


def test_through_an_implicit_function():
    def cube_root(a: float) -> float:
        return rose.root(lambda y: y * y * y - a, 1.0).x

    wanted = [2.0 ** (1 / 3)]
    for k in range(4):
        wanted.append(wanted[-1] * (1 / 3 - k) / 2.0)
    assert list(rose.taylor(cube_root, 2.0, 1.0, 4)) == pytest.approx(wanted, rel=1e-9)


def test_refusals():
    with pytest.raises(rose.RoseError, match="its order as a whole number"):
        rose.taylor(math.sin, 1.0, 1.0, 1.5)
    with pytest.raises(rose.RoseError, match="its order as a whole number"):
        rose.taylor(math.sin, 1.0, 1.0, -1)
    with pytest.raises(rose.RoseError, match="tangent"):
        rose.taylor(math.sin, 1.0, "a", 1)

    @rose.opaque
    def outside(x: float) -> float:
        return x

    with pytest.raises(rose.NotDifferentiable, match="is opaque and has no derivative"):
        rose.taylor(lambda x: outside(x), 1.0, 1.0, 2)
