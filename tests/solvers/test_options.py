"""Options of solvers that are numbers: what is none, or means nothing, is refused at the call, by name."""

import math

import numpy as np
import pytest

import rosejit as rose


def value(x):
    return (x - 1.0) ** 2


SOLVERS = {
    "root": (lambda **o: rose.root(lambda x: x - 1.0, 0.5, **o), ["tol"], ["maxiter"]),
    "fixed_point": (lambda **o: rose.fixed_point(math.cos, 0.5, **o), ["tol"], ["maxiter"]),
    "least_squares": (
        lambda **o: rose.least_squares(lambda x: [x - 1.0], 0.5, **o), ["ftol", "xtol", "gtol", "f_scale"], ["max_nfev"]
    ),
    "quad": (lambda **o: rose.quad(math.cos, 0.0, 1.0, **o), ["epsabs", "epsrel"], ["limit"]),
    "minimize": (lambda **o: rose.optim.minimize(value, 0.5, **o), ["tol"], ["maxiter"]),
    "gradient_descent": (lambda **o: rose.optim.gradient_descent(value, 0.1, **o)(0.5), ["tolerance"], []),
    "adam": (lambda **o: rose.optim.adam(value, **o)(0.5), ["tolerance"], []),
    "lbfgs": (lambda **o: rose.optim.lbfgs(value, **o)(0.5), ["tolerance"], []),
    "newton": (lambda **o: rose.optim.newton(value, **o)(0.5), ["tolerance"], []),
}  # fmt: skip
AMOUNTS = [(name, option) for name, (_, amounts, counts) in SOLVERS.items() for option in (*amounts, *counts)]
COUNTS = [(name, option) for name, (_, _, counts) in SOLVERS.items() for option in counts]


@pytest.mark.parametrize("given", [-1.0, math.nan, "a", "1", [1.0], np.ones(2)], ids=repr)
@pytest.mark.parametrize(("name", "option"), AMOUNTS)
def test_no_number_of_at_least_0(name, option, given):
    with pytest.raises(rose.RoseValueError, match=f"`{option}` of `rose.{name}` is a number of at least 0, given"):
        SOLVERS[name][0](**{option: given})


@pytest.mark.parametrize(("name", "option"), COUNTS)
def test_no_whole_number(name, option):
    with pytest.raises(rose.RoseValueError, match=f"`{option}` of `rose.{name}` is a whole number, given 2.5"):
        SOLVERS[name][0](**{option: 2.5})


@pytest.mark.parametrize(
    ("returned", "words"),
    [(None, "gives numbers, this one None"), ("a", "gives numbers, this one 'a'"), (True, "this one a bool"),
     (1j, "this one a complex"), ([1.0, 2.0], "gives one number, this one 2")],
)  # fmt: skip
def test_an_objective_that_gives_no_number(returned, words):
    with pytest.raises((rose.StagingTypeError, rose.ShapeError), match=words):
        rose.optim.minimize(lambda x: returned, np.zeros(2))


@pytest.mark.parametrize("x", [np.zeros(2), [0.0, 0.0]], ids=repr)
def test_one_argument_needs_no_tuple(x):
    def gap(x, a):
        return (x[0] - a) ** 2 + (x[1] - a) ** 2

    less = {"type": "ineq", "fun": lambda x, most: most - x[0], "args": 2.0}
    assert list(rose.optim.minimize(gap, x, 3.0).x) == pytest.approx([3.0, 3.0])
    assert list(rose.optim.minimize(gap, x, (3.0,), constraints=less).x) == pytest.approx([2.0, 3.0], abs=1e-6)


def test_limits_of_another_length():
    from scipy import optimize

    three = optimize.NonlinearConstraint(lambda x: [x[0], x[1], x[0] * x[1]], [0.0, 1.0], [2.0, 2.0])
    with pytest.raises(rose.ShapeError, match="there are 2 limits for 3 values of a constraint"):
        rose.optim.minimize(lambda x: x[0] + x[1], np.ones(2), constraints=three)
