"""`rose.interop.ipopt.minimize` on problems with known optima, by IPOPT itself."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec

pytest.importorskip("cyipopt")
from rosejit.interop.ipopt import Progress, minimize


@rose.jit
def hs71(x: Vec[4]) -> float:
    return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]


def product(x):
    return x[0] * x[1] * x[2] * x[3]


def squares(x):
    return (x * x).sum()


HS71 = [(product, 25.0, np.inf), (squares, 40.0, 40.0)]
OPTIMUM = [1.0, 4.74299963, 3.82114998, 1.37940829]


def test_the_problem_of_hock_and_schittkowski():
    found = minimize(hs71, [1.0, 5.0, 5.0, 1.0], constraints=HS71, bounds=[(1.0, 5.0)] * 4, tol=1e-10)
    assert found.success
    assert found.x == pytest.approx(OPTIMUM, abs=1e-7)
    assert found.fun == pytest.approx(17.0140173, abs=1e-6)
    assert found.constraints == pytest.approx([25.0, 40.0], abs=1e-6)
    assert found.multipliers[0] == pytest.approx([-0.55229366, 0.16146857], abs=1e-6)
    assert found.nit < 12
    again = minimize(hs71, found.x, HS71, (1.0, 5.0), start=found, mu_init=1e-9, warm_start_bound_push=1e-9)
    assert again.x == pytest.approx(OPTIMUM, abs=1e-6)
    assert again.nit <= found.nit


def test_without_constraints_and_with_parameters():
    @rose.jit
    def rosenbrock(x: Vec["n"], a: float) -> float:
        total = 0.0
        for i in rose.range(len(x) - 1):
            total += a * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
        return total

    for a in (10.0, 100.0):
        found = minimize(rosenbrock, np.full(30, 0.5), p=(a,), tol=1e-10)
        assert found.success
        assert found.x == pytest.approx(np.ones(30), abs=1e-7)
    assert rosenbrock.cache_info().size <= 1
    bounded = minimize(rosenbrock, np.zeros(2), bounds=(None, 0.5), p=(100.0,))
    assert bounded.x == pytest.approx([0.5, 0.25], abs=1e-5)


def test_a_band_of_equations():
    """The shortest path through two points with a prescribed curvature: as by linear algebra."""
    n = 60

    @rose.jit
    def length(x: Vec["n"]) -> float:
        return ((x[1:] - x[:-1]) ** 2).sum()

    @rose.jit
    def ends(x: Vec["n"]) -> Vec[2]:
        return np.array([x[0], x[len(x) - 1] - 1.0])

    found = minimize(length, np.zeros(n), constraints=(ends, 0.0, 0.0), tol=1e-12)
    assert found.x == pytest.approx(np.linspace(0.0, 1.0, n), abs=1e-9)
    assert found.nit <= 2


def test_progress_callback_and_errors(capsys):
    told = []
    found = minimize(hs71, [1.0, 5.0, 5.0, 1.0], HS71, (1.0, 5.0), progress=True,
                     callback=lambda at: told.append(at) or at.iteration == 2)  # fmt: skip
    assert not found.success
    assert [type(at) for at in told] == [Progress] * 3
    assert capsys.readouterr().out.count("f = ") == 3

    def failing(x):
        assert x[0] < 0.5, "too far"
        return x[0] ** 2

    with pytest.raises(AssertionError, match="too far"):
        minimize(failing, [1.0, 2.0])


REFUSED = {
    "a matrix": lambda: minimize(hs71, np.ones((2, 2))),
    "bounds of others": lambda: minimize(hs71, np.ones(4), bounds=[(0.0, 1.0)] * 3),
    "no constraint": lambda: minimize(hs71, np.ones(4), constraints=[product]),
    "limits of others": lambda: minimize(hs71, np.ones(4), constraints=(product, np.zeros(3), np.ones(3))),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    with pytest.raises(rose.RoseError):
        REFUSED[what]()
