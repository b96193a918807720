"""Every solver x what derivatives are asked for: differences, unrolled loops, order two, `vmap`, the same bits in node.

Each solver finds one number that depends on one parameter. Beside it stands the same number found by a plain loop with
a fixed number of iterations (Newton, Runge-Kutta, Gauss-Legendre), which is differentiated as any program is.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import rosejit as rose
from tests.export import machine

POINT, OTHER = 0.8, 1.3
X = np.linspace(0.0, 2.0, 9)
Y = 2.0 * np.exp(-1.3 * X) + 0.1 * np.cos(5.0 * X)

# --- systems of equations


def equations(x, a):
    return np.array([x[0] ** 2 + x[1] ** 2 - 4.0 * a, x[0] * x[1] - a * a])


def root(a, method):
    return rose.root(equations, np.array([2.0, 0.3]), (a,), method=method, tol=1e-13).x[0]


def unrolled_root(a):
    x = np.array([2.0, 0.3])
    for _ in rose.range(9):
        slope = np.array([[2.0 * x[0], 2.0 * x[1]], [x[1], x[0]]])
        x = x - np.linalg.solve(slope, equations(x, a))
    return x[0]


def cosine(x, a):
    return math.cos(x) - a * x


def bracketed(a):
    return rose.root(cosine, bracket=(0.0, 2.0), args=(a,)).x


def fixed(a, method):
    return rose.fixed_point(lambda x: math.cos(0.5 * x) / (1.0 + a), 0.5, method=method, tol=1e-14).x


def own(a):
    def newton(x, a):
        for _ in rose.range(12):
            x = x + cosine(x, a) / (math.sin(x) + a)
        return x

    return rose.implicit(cosine, newton)(1.0, a)


def unrolled_cosine(a):
    x = 1.0
    for _ in rose.range(12):
        x = x + cosine(x, a) / (math.sin(x) + a)
    return x


def unrolled_fixed(a):
    x = 0.5
    for _ in rose.range(60):
        x = math.cos(0.5 * x) / (1.0 + a)
    return x


# --- fits


def residuals(p, a):
    return np.concatenate([p[0] * np.exp(-p[1] * X) - Y, 0.3 * a * p])


PATTERN = sparse.csr_array(np.concatenate([np.ones((len(X), 2)), np.eye(2)]))
TIGHT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-13}


def fit(a, **options):
    return rose.least_squares(residuals, np.array([1.0, 1.0]), (a,), **TIGHT, **options).x[1]


def soft(p, a):
    return (2.0 * (np.sqrt(1.0 + residuals(p, a) ** 2) - 1.0)).sum()


def unrolled_fit(a, cost=lambda p, a: (residuals(p, a) ** 2).sum()):
    p = np.array([1.8, 1.1])
    for _ in rose.range(8):
        p = p - np.linalg.solve(rose.hessian(cost)(p, a), rose.grad(cost)(p, a))
    return p[1]


def curve(a):
    return rose.curve_fit(lambda x, p, q: p * np.exp(-q * x), X, Y + 0.1 * a * X, (1.0, 1.0))[0][1]


def unrolled_curve(a):
    return unrolled_fit(a, lambda p, a: ((p[0] * np.exp(-p[1] * X) - Y - 0.1 * a * X) ** 2).sum())


# --- integrals and differential equations


def integral(a):
    return rose.quad(lambda x: math.exp(-a * x) * math.sin(3.0 * x), 0.0, 2.0)[0]


def unrolled_integral(a):
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total = 0.0
    for x, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        total += weight * math.exp(-a * (x + 1.0)) * math.sin(3.0 * (x + 1.0))
    return total


def swing(t, y, a):
    return np.array([y[1], -a * math.sin(y[0]) - 0.1 * y[1]])


START = np.array([1.0, 0.0])


def solution(a, method, **options):
    tolerance = 1e-6 if method == "RK23" else 1e-10
    return rose.solve_ivp(swing, (0.0, 1.5), START, method, args=(a,), rtol=tolerance, atol=tolerance, **options)


def at_end(a, method):
    return solution(a, method).y[0, -1]


def between(a):
    return solution(a, "RK45", dense_output=True, max_steps=200).sol(1.5)[0]


def by_odeint(a):
    return rose.odeint(swing, START, [0.0, 0.7, 1.5], (a,), tfirst=True, rtol=1e-10, atol=1e-10)[-1, 0]


def runge_kutta(a, end, steps=150):
    y, h = 1.0 * START, end / steps
    for _ in rose.range(steps):
        k = swing(0.0, y, a)
        m = swing(0.0, y + 0.5 * h * k, a)
        n = swing(0.0, y + 0.5 * h * m, a)
        y = y + h / 6.0 * (k + 2.0 * m + 2.0 * n + swing(0.0, y + h * n, a))
    return y


def crosses(t, y, a):
    return y[0] - 0.5


def event(a):
    return solution(a, "DOP853", events=crosses).t_events[0][0]


def unrolled_event(a):
    time = 1.2
    for _ in rose.range(8):
        y = runge_kutta(a, time)
        time = time - (y[0] - 0.5) / y[1]
    return time


# --- minima and sums


def cost(p, a):
    return (p[0] - a) ** 4 + 2.0 * (p[0] - a) ** 2 + (p[1] - 2.0 * p[0]) ** 2 + a * p[1]


def minimum(a, method, **more):
    found = rose.optim.minimize(cost, np.array([0.3, 0.2]), (a,), method=method, tol=1e-10, **more)
    return found.x[0]


def unrolled_minimum(a):
    p = np.array([0.5, 0.5])
    for _ in rose.range(15):
        p = p - np.linalg.solve(rose.hessian(cost)(p, a), rose.grad(cost)(p, a))
    return p[0]


DISC = {"type": "eq", "fun": lambda p: p[0] * p[0] + p[1] * p[1] - 1.0}


def unrolled_on_the_disc(a):
    angle = 0.9
    for _ in rose.range(12):

        def around(angle, a):
            return cost(np.array([math.cos(angle), math.sin(angle)]), a)

        angle = angle - rose.grad(around)(angle, a) / rose.hessian(around)(angle, a)
    return math.cos(angle)


def term(a, x):
    return (np.exp(-a * x) * np.sin(x)).sum()


def added(a):
    return rose.sum_over(term, over="x", rows=4)(a, X)


SOLVERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    **{f"root {m}": (partial(root, method=m), unrolled_root) for m in ("hybr", "newton", "broyden1", "lm")},
    "root brentq": (bracketed, unrolled_cosine),
    "fixed_point iteration": (partial(fixed, method="iteration"), unrolled_fixed),
    "fixed_point hybr": (partial(fixed, method="hybr"), unrolled_fixed),
    "implicit": (own, unrolled_cosine),
    "least_squares": (fit, unrolled_fit),
    "least_squares, bounds": (partial(fit, bounds=(0.0, 5.0)), unrolled_fit),
    "least_squares, loss": (partial(fit, loss="soft_l1"), partial(unrolled_fit, cost=soft)),
    "least_squares, sparse": (partial(fit, jac_sparsity=PATTERN), unrolled_fit),
    "curve_fit": (curve, unrolled_curve),
    "quad": (integral, unrolled_integral),
    **{
        f"solve_ivp {m}": (partial(at_end, method=m), lambda a: runge_kutta(a, 1.5)[0])
        for m in ("RK23", "RK45", "DOP853", "Tsit5", "Rodas5P")
    },
    "solve_ivp, dense output": (between, lambda a: runge_kutta(a, 1.5)[0]),
    "solve_ivp, event": (event, unrolled_event),
    "odeint": (by_odeint, lambda a: runge_kutta(a, 1.5)[0]),
    "minimize SLSQP": (partial(minimum, method="SLSQP"), unrolled_minimum),
    "minimize L-BFGS-B": (partial(minimum, method="L-BFGS-B", bounds=(-9.0, 9.0)), unrolled_minimum),
    "minimize, constraint": (partial(minimum, method="SLSQP", constraints=DISC), unrolled_on_the_disc),
    "sum_over": (added, lambda a: term(a, X)),
}
ROUGH = {"solve_ivp RK23": 1e-4, "least_squares, loss": 1e-5}
"""How far a number and its derivatives may be off relative to them, where that is more than 1e-7."""


def difference(f, h=1e-3):
    """Of order four."""
    return (8.0 * (f(POINT + h) - f(POINT - h)) - (f(POINT + 2 * h) - f(POINT - 2 * h))) / (12.0 * h)


@pytest.mark.parametrize("name", SOLVERS)
def test_derivatives(name, tmp_path):
    solver, unrolled = SOLVERS[name]
    near = partial(pytest.approx, rel=ROUGH.get(name, 1e-7))

    def value(a: float) -> float:
        return solver(a)

    def plain(a: float) -> float:
        return unrolled(a)

    functions = {"value": rose.jit(value), "slope": rose.grad(value), "bend": rose.hessian(value)}
    known = {"value": rose.jit(plain), "slope": rose.grad(plain), "bend": rose.hessian(plain)}
    for key, f in functions.items():
        assert f(POINT) == near(known[key](POINT)), key
    assert functions["slope"](POINT) == pytest.approx(difference(functions["value"]), rel=ROUGH.get(name, 1e-6))
    assert functions["bend"](POINT) == pytest.approx(difference(functions["slope"]), rel=ROUGH.get(name, 1e-6))
    for f in functions.values():
        assert rose.vmap(f)(np.array([POINT, OTHER])) == pytest.approx([f(POINT), f(OTHER)], rel=1e-12)
    rose.export(functions, POINT, path=tmp_path / "out")
    jobs = [(tmp_path / "out" / "out.mjs", key, f, (at,)) for key, f in functions.items() for at in (POINT, OTHER)]
    found = machine.results(tmp_path, jobs)
    wanted = [machine.bits([f(at)]) for f in functions.values() for at in (POINT, OTHER)]
    assert found is None or [machine.bits(each) for each in found] == wanted
