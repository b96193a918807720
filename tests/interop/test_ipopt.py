"""`rose.interop.ipopt.minimize` on problems with known optima, by IPOPT itself."""

import importlib
import pathlib
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec

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


@dataclass
class Path:
    points: Mat["n", 2]
    ends: dict[str, float]


def test_a_structure_is_varied():
    """The shortest way between two lines is perpendicular to both."""

    def length(path, scale):
        first, last = path.points[0], path.points[len(path.points) - 1]
        inner = ((path.points[1:] - path.points[:-1]) ** 2).sum()
        return scale * (inner + (first[0] - path.ends["a"]) ** 2 + first[1] ** 2
                        + (last[0] - path.ends["b"]) ** 2 + (last[1] - 3.0) ** 2)  # fmt: skip

    apart = lambda path, scale: path.ends["a"] + path.ends["b"]
    start = Path(np.ones((2, 2)), {"a": 2.0, "b": 5.0})
    for scale in (1.0, 2.0):
        found = minimize(length, start, constraints=(apart, 4.0, 4.0), p=(scale,), tol=1e-10)
        assert isinstance(found.x, Path)
        assert found.x.points == pytest.approx(np.array([[2.0, 1.0], [2.0, 2.0]]), abs=1e-7)
        assert found.x.ends == pytest.approx({"a": 2.0, "b": 2.0}, abs=1e-7)
        assert found.fun == pytest.approx(3.0 * scale, rel=1e-9)
    at = rose.optim.Bounds(-np.inf, Path(np.full((2, 2), 9.0), {"a": 1.0, "b": 9.0}))
    bounded = minimize(length, found.x, constraints=(apart, 4.0, 4.0), p=(1.0,), bounds=at, tol=1e-10)
    assert bounded.x.ends == pytest.approx({"a": 1.0, "b": 3.0}, abs=1e-6)
    listed = minimize(lambda xs: ((xs[0] - 1.0) ** 2).sum() + (xs[1] - xs[0][0]) ** 2, [np.zeros(2), 0.0])
    assert [listed.x[0].tolist(), listed.x[1]] == [pytest.approx([1.0, 1.0]), pytest.approx(1.0)]


def test_the_plan_of_the_page_on_optimal_control(tmp_path, monkeypatch):
    """The program of docs/how-to/optimal-control.md, by IPOPT in place of our own method."""
    text = pathlib.Path(__file__).parents[2].joinpath("docs", "how-to", "optimal-control.md").read_text()
    tmp_path.joinpath("controlled.py").write_text(text.split("```python\n")[1].split("```")[0])
    monkeypatch.syspath_prepend(tmp_path)
    page = importlib.import_module("controlled")
    found = minimize(page.cost, page.start, constraints=(page.gaps, 0.0, 0.0), bounds=page.bounds)
    assert found.success
    assert found.fun == pytest.approx(page.found.fun, rel=1e-7)
    assert found.x.u == pytest.approx(page.found.x.u, abs=1e-4)


REFUSED = {
    "a matrix": lambda: minimize(hs71, np.ones((2, 2))),
    "bounds of others": lambda: minimize(hs71, np.ones(4), bounds=[(0.0, 1.0)] * 3),
    "bounds of another structure": lambda: minimize(
        lambda x: x[0].sum(), [np.ones(3)], bounds=rose.optim.Bounds(np.zeros(2), 1.0)
    ),
    "no constraint": lambda: minimize(hs71, np.ones(4), constraints=[product]),
    "limits of others": lambda: minimize(hs71, np.ones(4), constraints=(product, np.zeros(3), np.ones(3))),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    with pytest.raises(rose.RoseError):
        REFUSED[what]()
