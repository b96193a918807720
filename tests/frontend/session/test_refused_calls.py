"""Functions of SciPy's that are given staged values: refused with the line, and with what does the same staged."""

import re

import pytest

import rosejit as rose
from rosejit.errors import StagingTypeError
from rosejit.frontend.session.refused_calls import _COUNTERPARTS

pytest.importorskip("scipy")
from scipy import integrate, optimize, special, stats

CALLS = {
    "brentq": (lambda x: optimize.brentq(lambda t: t**3 - x, 0.0, 3.0), "rose.root(f, x0, bracket=(a, b))"),
    "fsolve": (lambda x: optimize.fsolve(lambda t: t**3 - x, 1.0)[0], "rose.root(f, x0)"),
    "fixed_point": (lambda x: optimize.fixed_point(lambda t: 0.5 * (t + x / t), 1.0), "rose.fixed_point(f, x0)"),
    "leastsq": (lambda x: optimize.leastsq(lambda t: t - x, [1.0])[0][0], "rose.least_squares(residuals, x0)"),
    "minimize": (lambda x: optimize.minimize(lambda t: (t[0] - x) ** 2, [1.0]).x[0], "rose.optim.minimize(f, x0)"),
    "quad": (lambda x: integrate.quad(lambda t: t * x, 0.0, 1.0)[0], "rose.quad(f, a, b)"),
    "a bound": (lambda x: integrate.quad(lambda t: t, 0.0, x)[0], "rose.quad(f, a, b)"),
    "solve_ivp": (lambda x: integrate.solve_ivp(lambda t, y: -x * y, (0.0, 1.0), [1.0]).y[0, -1],
                  "rose.solve_ivp(f, t_span, y0)"),
    "cdf": (lambda x: stats.norm.cdf(x), "scipy.special.ndtr"),
    "logpdf": (lambda x: stats.norm.logpdf(0.3, x, 1.0), "scipy.special.gammaln"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_the_message_has_the_line_and_the_counterpart(name):
    call, counterpart = CALLS[name]

    def program(x: float) -> float:
        return call(x)

    with pytest.raises(StagingTypeError) as caught:
        rose.jit(program)(2.0)
    text = str(caught.value)
    assert "is called by Python, and takes no staged values" in text
    assert re.search(rf"{re.escape(__file__)}:\d+", text)
    assert f"help: use `{counterpart}`" in text or f"`{counterpart}`" in text.split("help:")[1]


def test_what_is_named_instead_exists():
    for counterpart in _COUNTERPARTS:
        for name in re.findall(r"rose\.([\w.]+)", counterpart):
            found = rose
            for part in name.split("."):
                found = getattr(found, part)
    assert rose.jit(lambda x: special.ndtr(x))(0.0) == 0.5
    assert rose.grad(lambda x: special.gammaln(x))(1.0) == pytest.approx(-0.5772156649015329, rel=1e-14)


def test_errors_that_are_not_about_staged_values_stay():
    def program(x: float) -> float:
        return x * optimize.brentq(lambda t: t + 5.0, 0.0, 1.0)

    with pytest.raises(ValueError, match="different signs"):
        rose.jit(program)(2.0)


def test_errors_of_the_users_function_that_a_library_calls_stay():
    def refuse(t: float, x: float) -> float:
        _ = t * x
        raise IndexError("no element")

    def program(x: float) -> float:
        return optimize.brentq(refuse, 0.0, 1.0, args=(x,))

    with pytest.raises(IndexError, match="no"):
        rose.jit(program)(2.0)
