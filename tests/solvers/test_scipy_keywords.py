"""Every keyword of SciPy's functions, at its default, in calls of ours; what else is given is refused in words."""

import inspect

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import rosejit as rose

X = np.arange(6.0)
SOLVERS = {
    "least_squares": (
        scipy.optimize.least_squares,
        lambda **more: rose.least_squares(lambda x: x - [3.0, 1.0], [1.0, 1.0], **more).x,
        [3.0, 1.0],
    ),
    "curve_fit": (
        scipy.optimize.curve_fit,
        lambda **more: rose.curve_fit(lambda x, a, b: a * x + b, X, 2.0 * X + 1.0, **more)[0],
        [2.0, 1.0],
    ),
    "minimize": (
        scipy.optimize.minimize,
        lambda **more: rose.optim.minimize(lambda x: ((x - 3.0) ** 2).sum(), [1.0, 2.0], **more).x,
        [3.0, 3.0],
    ),
    "root": (scipy.optimize.root, lambda **more: rose.root(lambda x: x**2 - 4.0, [1.0, 3.0], **more).x, [2.0, 2.0]),
    "fixed_point": (
        scipy.optimize.fixed_point,
        lambda **more: rose.fixed_point(lambda x: np.sqrt(10.0 / (x + np.array([3.0, 5.0]))), [1.2, 1.3], **more).x,
        scipy.optimize.fixed_point(lambda x: np.sqrt(10.0 / (x + np.array([3.0, 5.0]))), [1.2, 1.3]),
    ),
    "quad": (scipy.integrate.quad, lambda **more: rose.quad(lambda x: x * x, 0.0, 3.0, **more)[0], 9.0),
    "solve_ivp": (
        scipy.integrate.solve_ivp,
        lambda **more: rose.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0, 2.0], rtol=1e-9, atol=1e-9, **more).y[:, -1],
        np.exp(-1.0) * np.array([1.0, 2.0]),
    ),
    "odeint": (
        scipy.integrate.odeint,
        lambda **more: rose.odeint(lambda y, t: -y, [1.0, 2.0], [0.0, 1.0], **more)[-1],
        np.exp(-1.0) * np.array([1.0, 2.0]),
    ),
}
DEFAULTS = [
    (name, keyword, parameter.default)
    for name, (theirs, _, _) in SOLVERS.items()
    for keyword, parameter in inspect.signature(theirs).parameters.items()
    if parameter.default is not parameter.empty
]


@pytest.mark.parametrize(("name", "keyword", "default"), DEFAULTS)
def test_a_default_of_scipy_changes_nothing(name, keyword, default):
    _, ours, expected = SOLVERS[name]
    assert np.asarray(ours(**{keyword: default})) == pytest.approx(np.asarray(expected), rel=1e-6)


@pytest.mark.parametrize("name", SOLVERS)
def test_what_means_something_else_is_refused(name):
    """Keywords that are not ours, given what no function of SciPy has as its default."""
    theirs, ours, _ = SOLVERS[name]
    known = inspect.signature(getattr(rose, name, rose.optim.minimize)).parameters
    for keyword in {*inspect.signature(theirs).parameters, "surprise"} - {*known, "func", "fun", "options", "xtol"}:
        if keyword not in ("kwargs", "vectorized") and inspect.signature(theirs).parameters.get(keyword) is not None:
            with pytest.raises(
                rose.StagingTypeError, match=f"`rose.{name}` takes no `{keyword}=.*\n  help: "
            ) as caught:
                ours(**{keyword: "another"})
            assert caught.value.help


@pytest.mark.parametrize("name", SOLVERS)
def test_a_keyword_of_nobody(name):
    with pytest.raises(rose.StagingTypeError, match=f"`rose.{name}` takes no `surprise`"):
        SOLVERS[name][1](surprise=1)


def test_options_are_arguments():
    def square(x):
        return ((x - 3.0) ** 2).sum()

    assert rose.optim.minimize(square, np.ones(2), options={"maxiter": 0}).status == 1
    assert rose.optim.minimize(square, np.ones(2), method="lbfgs", options={"maxiter": 9, "disp": False}).success
    with pytest.raises(rose.StagingTypeError, match="takes no `gtol`"):
        rose.optim.minimize(square, np.ones(2), options={"gtol": 1e-5})


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_words_for_methods(method):
    fit = rose.grad(lambda a: rose.least_squares(lambda x: x - a, [1.0], method=method, jac="3-point").x[0])
    assert fit(2.0) == pytest.approx(1.0)


def test_a_list_that_is_hinted_stays_one():
    def residuals(x: list[float]) -> list[float]:
        return [x[0] - 1.0, (x + [2.0])[2] - x[1]]

    assert rose.least_squares(residuals, [0.0, 0.0]).x == pytest.approx([1.0, 2.0])
    assert isinstance(rose.least_squares(residuals, [0.0, 0.0]).x, list)


def test_bounds_as_an_object():
    bounds = scipy.optimize.Bounds([0.0, 0.0], [1.0, 2.0])
    assert rose.least_squares(lambda x: x - 3.0, [0.5, 0.5], bounds=bounds).x == pytest.approx([1.0, 2.0])


def test_a_fit_without_a_beginning_needs_to_know_how_many():
    with pytest.raises(rose.StagingTypeError, match="cannot tell how many parameters"):
        rose.curve_fit(lambda x, *p: p[0] * x, X, X)


def test_steffensen_converges_where_iteration_does_not():
    found = rose.fixed_point(lambda x: 3.0 - 2.0 * x, 0.5, method="del2")
    assert found.success
    assert found.x == pytest.approx(1.0)
    assert rose.grad(lambda a: rose.fixed_point(lambda x: a - 2.0 * x, 0.5, method="del2").x)(3.0) == pytest.approx(
        1 / 3
    )
