"""Roots and fixed points: published problems, derivatives of any order, failures in words."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec


def rosenbrock(x):
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def powell_badly_scaled(x):
    return [1e4 * x[0] * x[1] - 1, math.exp(-x[0]) + math.exp(-x[1]) - 1.0001]


def helical_valley(x):
    angle = math.atan2(x[1], x[0]) / (2 * math.pi)
    return [10 * (x[2] - 10 * angle), 10 * (math.hypot(x[0], x[1]) - 1), x[2]]


def wood(x):
    return [
        -200 * x[0] * (x[1] - x[0] ** 2) - (1 - x[0]),
        200 * (x[1] - x[0] ** 2) + 20.2 * (x[1] - 1) + 19.8 * (x[3] - 1),
        -180 * x[2] * (x[3] - x[2] ** 2) - (1 - x[2]),
        180 * (x[3] - x[2] ** 2) + 20.2 * (x[3] - 1) + 19.8 * (x[1] - 1),
    ]


def broyden_tridiagonal(x):
    n = len(x)
    y = np.zeros(n)
    for i in rose.range(n):
        before = x[i - 1] if i > 0 else 0.0
        after = x[i + 1] if i < n - 1 else 0.0
        y[i] = (3 - 2 * x[i]) * x[i] - before - 2 * after + 1
    return y


def discrete_boundary_value(x):
    n = len(x)
    h = 1 / (n + 1)
    y = np.zeros(n)
    for i in rose.range(n):
        before = x[i - 1] if i > 0 else 0.0
        after = x[i + 1] if i < n - 1 else 0.0
        y[i] = 2 * x[i] - before - after + h * h * (x[i] + (i + 1) * h + 1) ** 3 / 2
    return y


def trigonometric(x):
    n = len(x)
    total = n - np.cos(x).sum()
    y = np.zeros(n)
    for i in rose.range(n):
        y[i] = total + (i + 1) * (1 - math.cos(x[i])) - math.sin(x[i])
    return y


def brown_almost_linear(x):
    n = len(x)
    y = x + x.sum() - (n + 1)
    y[n - 1] = np.prod(x) - 1
    return y


K = np.arange(1, 11) / 11
PROBLEMS = [  # Moré, Garbow and Hillstrom, Testing unconstrained optimization software, 1981: systems, and their starts
    (rosenbrock, [-1.2, 1.0]),
    (powell_badly_scaled, [0.0, 1.0]),
    (helical_valley, [-1.0, 0.0, 0.0]),
    (wood, [-3.0, -1.0, -3.0, -1.0]),
    (broyden_tridiagonal, -np.ones(12)),
    (discrete_boundary_value, K * (K - 1)),
    (brown_almost_linear, np.full(5, 0.5)),
]


@pytest.mark.parametrize(("f", "start"), PROBLEMS, ids=lambda each: getattr(each, "__name__", ""))
def test_published_systems_are_solved(f, start):
    found = rose.root(f, np.array(start))
    assert found.success, found
    assert found.message == "the solution converged"
    assert np.abs(found.fun).max() < 1e-10
    assert found.nfev < 150


@pytest.mark.parametrize("method", ["hybr", "newton", "broyden1", "lm"])
def test_methods_find_the_same_root(method):
    found = rose.root(trigonometric, np.full(6, 1 / 60), method=method, tol=1e-14)
    if found.success:  # there are points where the sum of squares is least and not zero
        assert np.abs(found.fun).max() < 1e-12
    found = rose.root(lambda x: [x[0] ** 2 + x[1] ** 2 - 4, x[0] * x[1] - 1], [2.0, 0.3], method=method)
    assert found.success
    assert found.x == pytest.approx([math.sqrt(2 + math.sqrt(3)), math.sqrt(2 - math.sqrt(3))], rel=1e-14)


@pytest.mark.parametrize(
    ("f", "a", "b", "x"),
    [
        (lambda x: math.cos(x) - x, 0.0, 1.0, 0.7390851332151607),
        (lambda x: x**3 - 2 * x - 5, 2.0, 3.0, 2.0945514815423265),
        (lambda x: (x - 1) ** 9, 0.0, 3.0, 1.0),
        (lambda x: math.exp(x) - 1e-8, -50.0, 3.0, math.log(1e-8)),
        (lambda x: x, -1.0, 1.0, 0.0),
        (lambda x: x, 0.0, 1.0, 0.0),
        (lambda x: math.atan(x - 1e5), 0, 10**6, 1e5),
    ],
)
def test_brackets(f, a, b, x):
    for ends in ((a, b), (b, a)):
        found = rose.root(f, bracket=ends)
        assert found.success
        assert found.x == pytest.approx(x, rel=1e-11, abs=1e-11)
        assert found.nfev < 120


@dataclass(frozen=True)
class State:
    p: float
    q: tuple[float, Vec[2]]


def test_structures_are_unknowns():
    def f(s, a):
        return State(s.p**2 - a, (s.q[0] - s.p, s.q[1] - s.p * np.array([1.0, 2.0])))

    found = rose.root(f, State(1.0, (1.0, np.ones(2))), (4.0,))
    assert found.success
    assert isinstance(found.x, State)
    assert (found.x.p, found.x.q[0]) == (2.0, 2.0)
    assert found.x.q[1].tolist() == [2.0, 4.0]
    gradient = rose.grad(lambda a: rose.root(f, State(1.0, (1.0, np.ones(2))), (a,)).x.q[1][1])(4.0)
    assert gradient == pytest.approx(0.5, rel=1e-14)


# --- derivatives: of √(ab) (1 + a), the sum of the solution of x² = ab, y = ax


def system(a, b):
    return lambda v: np.array([v[0] * v[0] - a * b, v[1] - v[0] * a])


WAYS = {
    "hybr": lambda a, b: rose.root(system(a, b), np.ones(2)).x.sum(),
    "newton": lambda a, b: rose.root(system(a, b), np.ones(2), method="newton").x.sum(),
    "broyden1": lambda a, b: rose.root(system(a, b), np.ones(2), method="broyden1").x.sum(),
    "lm": lambda a, b: rose.root(system(a, b), np.ones(2), method="lm").x.sum(),
    "args": lambda a, b: rose.root(lambda v, a, b: system(a, b)(v), np.ones(2), (a, b)).x.sum(),
    "brentq": lambda a, b: rose.root(lambda x: x * x - a * b, bracket=(0.0, 100.0)).x * (1 + a),
    "fixed point": lambda a, b: rose.fixed_point(lambda x: 0.5 * (x + a * b / x), 1.0).x * (1 + a),
    "fixed point, hybr": lambda a, b: rose.fixed_point(lambda x: a * b / x, 1.5, method="hybr").x * (1 + a),
    "inside another": lambda a, b: (
        rose.root(lambda x: x - rose.root(lambda y: y * y - a * b + 0 * x, 1.0).x * (1 + a), 1.0).x
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_derivatives_to_order_three(way):
    f = rose.jit(WAYS[way])
    a, b = 1.7, 0.6
    r = math.sqrt(a * b)
    assert f(a, b) == pytest.approx(r * (1 + a), rel=1e-12)
    by_a, by_b = 0.5 * r * (1 + a) / a + r, 0.5 * r * (1 + a) / b
    assert rose.grad(f, (0, 1))(a, b) == pytest.approx((by_a, by_b), rel=1e-11)
    assert rose.jvp(f, (a, b), (1.0, 2.0))[1] == pytest.approx(by_a + 2 * by_b, rel=1e-11)
    second = -0.25 * r * (1 + a) / a**2 + r / a
    assert rose.hessian(f)(a, b) == pytest.approx(second, rel=1e-10)
    assert rose.grad(rose.grad(f), 1)(a, b) == pytest.approx((0.5 * by_a) / b, rel=1e-10)
    if way == "hybr":
        third = 0.375 * r * (1 + a) / a**3 - 0.75 * r / a**2
        assert rose.grad(rose.grad(rose.grad(f)))(a, b) == pytest.approx(third, rel=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_batches(way):
    a = np.array([0.5, 1.0, 4.0])
    r = np.sqrt(a)
    gradient = rose.vmap(rose.grad(WAYS[way]), (0, None))(a, 1.0)
    assert gradient == pytest.approx(0.5 * r * (1 + a) / a + r, rel=1e-10)


@rose.jit
def kepler(mean: float, eccentricity: float) -> float:
    return rose.root(lambda e: e - eccentricity * math.sin(e) - mean, mean).x


def test_the_implicit_derivative_is_that_of_the_unrolled_loop():
    @rose.jit
    def unrolled(mean: float, eccentricity: float) -> float:
        e = mean
        for _ in rose.range(30):
            e -= (e - eccentricity * math.sin(e) - mean) / (1 - eccentricity * math.cos(e))
        return e

    at = (1.3, 0.4)
    assert rose.grad(kepler, (0, 1))(*at) == pytest.approx(rose.grad(unrolled, (0, 1))(*at), rel=1e-13)
    rose.check_grads(kepler, at, order=2)


def test_a_search_keeps_nothing_for_its_derivative():
    assert rose.grad(kepler).lower(1.3, 0.4).cost().tape_bytes == 0


def test_solvers_of_ones_own():
    @rose.jit
    def conjugate_gradients(x0: Vec["n"], a: Mat["n", "n"], b: Vec["n"]) -> Vec["n"]:
        x, r = x0.copy(), b - a @ x0
        p, steps = r, 0
        while steps < 50 and r @ r > 1e-28:
            q = a @ p
            size = (r @ r) / (p @ q)
            x = x + size * p
            r_next = r - size * q
            p = r_next + (r_next @ r_next) / (r @ r) * p
            r = r_next
            steps += 1
        return x

    solved = rose.implicit(lambda x, a, b: a @ x - b, conjugate_gradients)
    rng = np.random.default_rng(1)
    half = rng.normal(size=(4, 4))
    a, b = half @ half.T + np.eye(4), rng.normal(size=4)
    assert solved(np.zeros(4), a, b) == pytest.approx(np.linalg.solve(a, b), rel=1e-10)
    total = rose.grad(lambda a, b: solved(np.zeros(4), a, b).sum(), (0, 1))(a, b)
    adjoint = np.linalg.solve(a.T, np.ones(4))
    assert total[1] == pytest.approx(adjoint, rel=1e-10)
    assert total[0] == pytest.approx(-np.outer(adjoint, np.linalg.solve(a, b)), rel=1e-10)


def test_hyperparameters_of_a_fit():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(20, 3)), rng.normal(size=20)

    def weights(penalty):
        slope = rose.grad(lambda w: ((x @ w - y) ** 2).sum() + penalty * (w @ w))
        return rose.root(slope, np.zeros(3)).x

    def ridge(penalty):
        return np.linalg.solve(x.T @ x + penalty * np.eye(3), x.T @ y)

    inverse = np.linalg.inv(x.T @ x + 0.7 * np.eye(3))
    assert rose.jit(weights)(0.7) == pytest.approx(ridge(0.7), rel=1e-10)
    assert rose.jacobian(weights)(0.7) == pytest.approx(-inverse @ ridge(0.7), rel=1e-10)


# --- what goes wrong says so


FAILURES = {
    "no bracket": (lambda: rose.root(lambda x: x * x + 1, bracket=(0.0, 1.0)), 6),
    "NaN at an end": (lambda: rose.root(lambda x: math.sqrt(x), bracket=(-1.0, 1.0)), 4),
    "NaN inside": (lambda: rose.root(lambda x: math.log(x - 0.4) * (x - 0.9), bracket=(0.0, 1.0)), 4),
    "NaN at the start": (lambda: rose.root(lambda x: math.sqrt(x) + 1, -1.0), 4),
    "singular": (lambda: rose.root(lambda x: x * x + 1, 0.0), 5),
    "no root": (lambda: rose.root(lambda x: math.exp(x[0]) + np.zeros(1) + 1 + x[0] ** 2, np.zeros(1)), 3),
    "too few": (lambda: rose.root(lambda x: x * x - 2, 1.0, maxiter=2), 2),
    "singular, newton": (lambda: rose.root(lambda x: x * x + 1, 0.0, method="newton"), 5),
    "NaN, newton": (lambda: rose.root(lambda x: math.log(x), -2.0, method="newton"), 4),
    "singular, broyden1": (lambda: rose.root(lambda x: x * x + 1, 0.0, method="broyden1"), 5),
    "NaN, broyden1": (lambda: rose.root(lambda x: math.log(x), -2.0, method="broyden1"), 4),
    "no root, broyden1": (lambda: rose.root(lambda x: x * x + 1, 3.0, method="broyden1"), 3),
    "NaN, lm": (lambda: rose.root(lambda x: math.log(x), -2.0, method="lm"), 4),
    "too few, lm": (lambda: rose.root(lambda x: x * x - 2, 1.0, method="lm", maxiter=2), 2),
    "expanding": (lambda: rose.fixed_point(lambda x: 2 * x + 1, 1.0), 2),
    "to infinity": (lambda: rose.fixed_point(lambda x: x * x, 3.0), 4),
    "fewer equations that differ": (lambda: rose.root(lambda x: [x[0] + x[1] - 1, x[0] + x[1] - 2], [0.0, 0.0]), 5),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_a_status_and_words(failure):
    run, status = FAILURES[failure]
    found = run()
    assert not found.success
    assert found.status == status
    assert found.message


def test_a_double_root_is_found_and_differentiated_as_far_as_the_search_came():
    def double(a):
        return rose.root(lambda x: (x[0] - a) ** 2 + np.zeros(1), np.zeros(1)).x[0]

    assert rose.jit(double)(1.0) == pytest.approx(1.0, abs=1e-10)
    assert rose.grad(double)(1.0) == pytest.approx(1.0, rel=1e-6)


def test_several_in_one_program():
    @rose.jit
    def sides(a, b):
        first = rose.root(lambda x: x * x - a, 1.0).x
        total = 0.0
        for k in rose.range(3):
            total += rose.root(lambda x, b: x * x - b * first, 1.0, (b + k,)).x
        return total

    first = math.sqrt(2)
    assert sides(2.0, 3.0) == pytest.approx(sum(math.sqrt(k * first) for k in (3, 4, 5)), rel=1e-12)
    known = sum(0.25 * math.sqrt(k * first) / 2.0 for k in (3, 4, 5))
    assert rose.grad(sides)(2.0, 3.0) == pytest.approx(known, rel=1e-12)


def test_a_failure_can_be_raised():
    with pytest.raises(rose.RoseValueError, match="same sign at both ends"):
        rose.root(lambda x: x * x + 1, bracket=(0.0, 1.0), raise_on_failure=True)
    assert rose.root(lambda x: x - 1, 0.0, raise_on_failure=True).x == 1.0
    with pytest.raises(rose.StagingTypeError, match="cannot raise in compiled code"):
        rose.jit(lambda a: rose.root(lambda x: x - a, 0.0, raise_on_failure=True).x)(1.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rose.root(lambda x: x[:1], np.zeros(2)), "as many equations as unknowns"),
        (lambda: rose.root(lambda x: x), "needs `x0`"),
        (lambda: rose.root(lambda x: x, 1.0, method="magic"), "knows no method 'magic'"),
        (lambda: rose.root(lambda x: x, 1.0, method="krylov"), "no method 'krylov'(.|\\n)*\"broyden1\""),
        (lambda: rose.root(lambda x: x, "a"), "no real number"),
    ],
)
def test_wrong_calls_are_refused(call, words):
    with pytest.raises(rose.RoseError, match=words):
        call()


def test_no_root_in_a_bracket_is_no_number():
    def found(a):
        return rose.root(lambda x: x * x + a, bracket=(0.0, 1.0)).x

    assert math.isnan(rose.jit(found)(1.0))
    assert math.isnan(rose.grad(found)(1.0))
    assert rose.grad(found)(-0.25) == pytest.approx(-1.0)
