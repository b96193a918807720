"""The programs and the numbers of the papers."""

import math
import re

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec

# --- Listing 1: linear regression

X = np.array([10.0, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]).reshape(-1, 1)
Y = np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])


@rose.jit
def sqr(x: float) -> float:
    return x * x


@rose.jit
def least_squares(x: Mat["n", "m"], y: Vec["n"], b0: float, b: Vec["m"]) -> float:
    total = 0.0
    for i in rose.range(len(y)):
        y_hat = b0
        for j in range(len(b)):
            y_hat += x[i, j] * b[j]
        total += sqr(y[i] - y_hat)
    return total


@rose.jit
def descend(x: Mat["n", "m"], y: Vec["n"], eta: float, steps: int) -> tuple[float, Vec["m"]]:
    b0, b = 0.0, np.zeros(x.shape[1])
    for _ in rose.range(steps):
        db0, db = rose.grad(least_squares, argnums=(2, 3))(x, y, b0, b)
        b0 = b0 - eta * db0
        b = [b[j] - eta * db[j] for j in rose.range(len(b))]
    return b0, b


def test_anscombe_at_zero():
    assert least_squares(X, Y, 0.0, np.zeros(1)) == pytest.approx(660.1727, abs=1e-9)
    db0, db = rose.grad(least_squares, argnums=(2, 3))(X, Y, 0.0, np.zeros(1))
    assert db0 == pytest.approx(-165.02, abs=1e-9)
    assert isinstance(db0, float)
    assert db.shape == (1,)
    assert db[0] == pytest.approx(-1595.2, abs=1e-9)


def test_anscombe_converges():
    b0, b = descend(X, Y, 1e-4, 120_000)
    assert b0 == pytest.approx(3.00009090909, abs=1e-9)
    assert b[0] == pytest.approx(0.500090909091, abs=1e-9)
    assert least_squares(X, Y, b0, b) == pytest.approx(13.76269, abs=1e-9)


# --- Listings 2 and 3: a quadratic approximation of the power


@rose.opaque
def log(x: float) -> float:
    return math.log(x)


@log.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(log(x.re), x.du / x.re)


@rose.opaque
def power(x: float, y: float) -> float:
    return math.pow(x, y)


@power.jvp
def _(x: rose.Dual, y: rose.Dual) -> rose.Dual:
    z = power(x.re, y.re)
    dw = x.du * (y.re / x.re) + y.du * log(x.re)
    return rose.Dual(z, dw * z)


@rose.jit
def builtin_power(x: float, y: float) -> float:
    return x**y


@pytest.mark.parametrize("f", [power, builtin_power])
def test_power_at_2_3(f):
    near = lambda value: pytest.approx(value, rel=1e-14)
    assert f(2.0, 3.0) == near(8.0)
    assert rose.grad(f, (0, 1))(2.0, 3.0) == near((12.0, 5.545177444479562))
    (xx, xy), (yx, yy) = rose.hessian(f, (0, 1))(2.0, 3.0)
    assert (xx, xy, yx, yy) == near((12.0, 12.317766166719343, 12.317766166719343, 3.843624111345611))


def test_power_of_a_negative_number():
    assert builtin_power(-1.0, 2.0) == 1.0
    dx, dy = rose.grad(builtin_power, (0, 1))(-1.0, 2.0)
    assert dx == -2.0
    assert math.isnan(dy)


def test_an_exception_of_an_opaque_function_reaches_the_caller_as_itself():
    with pytest.raises(ValueError, match="math domain error") as caught:
        rose.grad(power)(-1.0, 2.0)
    assert type(caught.value) is ValueError
    assert rose.grad(power)(2.0, 3.0) == pytest.approx(12.0)


# --- Listing 4: sine and cosine are each other's derivatives


@rose.opaque
def sin(x: float) -> float:
    return math.sin(x)


@rose.opaque
def cos(x: float) -> float:
    return math.cos(x)


@sin.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(sin(x.re), x.du * cos(x.re))


@cos.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(cos(x.re), -x.du * sin(x.re))


@pytest.mark.parametrize("f", [sin, rose.jit(lambda x: math.sin(x))])
def test_derivatives_of_sine_at_1(f):
    for wanted in (
        0.8414709848078965,
        0.5403023058681398,
        -0.8414709848078965,
        -0.5403023058681398,
        0.8414709848078965,
    ):
        assert f(1.0) == pytest.approx(wanted, rel=1e-14)
        f = rose.grad(f)


# --- Listing 5: printing


@rose.opaque
def show(x: float) -> float:
    print(x)
    return x


@show.jvp
def _(x: rose.Dual) -> rose.Dual:
    show(x.re)
    return x


@rose.jit
def shown(x: float) -> float:
    return show(x) * x


def test_print_runs_once_in_the_value_and_once_in_the_gradient(capsys):
    assert shown(3.0) == 9.0
    assert capsys.readouterr().out == "3.0\n"
    assert rose.grad(shown)(3.0) == 6.0
    assert capsys.readouterr().out == "3.0\n"
    assert rose.value_and_grad(shown)(3.0) == (9.0, 6.0)
    assert capsys.readouterr().out == "3.0\n"
    y, pullback = rose.vjp(shown, 3.0)
    assert capsys.readouterr().out == "3.0\n"
    assert (y, pullback(1.0), pullback(2.0)) == (9.0, (6.0,), (12.0,))
    assert capsys.readouterr().out == ""


# --- Listing 6: a square root whose derivative stays finite


@rose.jit
def safe_sqrt(x: float) -> float:
    return math.sqrt(x)


@safe_sqrt.jvp
def _(x: rose.Dual) -> rose.Dual:
    y = safe_sqrt(x.re)
    return rose.Dual(y, x.du * (0.5 / max(1e-5, y)))


def test_clamped_square_root():
    slope = rose.grad(safe_sqrt)
    assert slope(0.0) == 49999.99999999999
    assert slope(1e-12) == 49999.99999999999
    assert slope(4.0) == 0.25
    assert rose.grad(slope)(4.0) == -0.03125
    assert rose.grad(slope)(0.0) == 0.0
    assert rose.grad(rose.jit(lambda x: math.sqrt(x)))(0.0) == math.inf


# --- Figure 4: metaprogramming


def over(x):
    @rose.jit
    def quotient(y: float) -> float:
        return x / y

    return quotient


f0, f1, f2 = over(5), over(7), over(5)


@rose.jit
def h(z: float) -> float:
    return f1(z) + f1(z)


def test_figure_4_keeps_calls():
    text = str(rose.make_ir(h)(2.0))
    assert len(re.findall(r"^def ", text, re.M)) == 2
    assert len(re.findall(r"^def quotient\b", text, re.M)) == 1
    assert len(re.findall(r"^def h\b", text, re.M)) == 1
    assert len(re.findall(r"= quotient\(", text)) == 2
    assert "7.0 / y" in text


def test_figure_4_makes_three_functions():
    for f, wanted in ((f0, "5.0 / y"), (f1, "7.0 / y"), (f2, "5.0 / y")):
        text = str(rose.make_ir(f)(2.0))
        assert wanted in text
        assert len(re.findall(r"^def ", text, re.M)) == 1
    assert [f(2.0) for f in (f0, f1, f2)] == [2.5, 3.5, 2.5]
    assert rose.grad(h)(2.0) == -3.5


# --- the other papers


def test_sum_of_a_line_and_a_cube():
    """Paper 001: 2x + x*x*x, reverse over reverse."""
    f = rose.jit(lambda x: 2.0 * x + x * x * x)
    assert rose.grad(f)(3.0) == 29.0
    assert rose.grad(rose.grad(f))(3.0) == 18.0


def test_loops_of_the_paper_on_futhark():
    @rose.jit
    def free(x: float) -> float:
        y = 1.0
        for _ in rose.range(5):
            y = y * x
        return y

    @rose.jit
    def carried(x: float) -> float:
        y = x
        for _ in rose.range(3):
            y = y * y
        return y

    assert (free(2.0), rose.grad(free)(2.0)) == (32.0, 80.0)
    assert carried(1.1) == pytest.approx(2.1435888100000016, rel=1e-15)
    assert rose.grad(carried)(1.1) == pytest.approx(15.589736800000008, rel=1e-15)


def test_sine_times_cosine():
    """Paper 003: sin(x1) * cos(x2) at (1, 1)."""
    f = rose.jit(lambda a, b: math.sin(a) * math.cos(b))
    assert f(1.0, 1.0) == pytest.approx(0.4546487134128409, rel=1e-14)
    assert rose.grad(f, (0, 1))(1.0, 1.0) == pytest.approx((0.2919265817264289, -0.7080734182735712), rel=1e-14)


def test_prices_are_linear():
    """Paper 004: the functor of prices, 10, 20 and 30 for A, B and C."""
    cost = rose.jit(lambda a, b, c: 10.0 * a + 20.0 * b + 30.0 * c)
    y, pullback = rose.vjp(cost, 1.0, 1.0, 1.0)
    assert (y, pullback(1.0)) == (60.0, (10.0, 20.0, 30.0))
    y, pushforward = rose.linearize(cost, 0.0, 0.0, 0.0)
    assert (y, pushforward(1.0, 1.0, 1.0)) == (0.0, 60.0)
