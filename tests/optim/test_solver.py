"""What all solvers share: structures as arguments, results, progress, history, use in compiled code, export."""

import pickle
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from tests.export.machine import NODE, bits, javascript, results

SOLVERS = [
    rose.optim.gradient_descent,
    rose.optim.adam,
    rose.optim.lbfgs,
    rose.optim.newton,
]
each_solver = pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)


class Weights(NamedTuple):
    w: Mat[2, 3]
    b: float


@dataclass(frozen=True)
class Model:
    weights: Weights
    degree: int


@rose.jit
def bowl(x: Vec["n"], centre: Vec["n"], scale: float = 1.0) -> float:
    """Lowest, and zero, at `centre`."""
    return scale * ((x - centre) ** 2).sum()


@rose.jit
def far(goal: float, m: Model) -> float:
    """Lowest where all weights are the goal."""
    return ((m.weights.w - goal) ** 2).sum() + (m.weights.b - goal) ** 2 + 0 * m.degree


def made(solver, f, **options):
    rates = {rose.optim.gradient_descent: {"rate": 0.2}, rose.optim.adam: {"rate": 0.1}}
    return solver(f, **rates.get(solver, {}), **options)


@each_solver
def test_the_minimum_of_a_bowl(solver):
    centre = np.array([1.0, -2.0, 0.5])
    found = made(solver, bowl)(np.zeros(3), centre)
    assert np.allclose(found.x, centre, atol=1e-5)
    assert found.value == bowl(found.x, centre)
    assert np.array_equal(found.gradient, rose.grad(bowl)(found.x, centre))
    assert found.converged
    assert 0 < found.steps < found.evaluations
    assert found.history is None


@each_solver
def test_structures_and_other_arguments(solver):
    model = Model(Weights(np.zeros((2, 3)), 1.0), 3)
    for argnums in (1, "m"):
        found = made(solver, far, argnums=argnums)(0.5, model)
        assert type(found.x) is Model
        assert found.x.degree == 3
        assert found.x.weights.w.shape == (2, 3)
        assert np.allclose(found.x.weights.w, 0.5, atol=1e-5)
        assert abs(found.x.weights.b - 0.5) < 1e-5
        assert np.abs(found.gradient.weights.w).max() <= 1e-6


@each_solver
def test_a_number(solver):
    found = made(solver, lambda x: (x - 2.0) ** 2)(0.0)
    assert type(found.x) is float
    assert abs(found.x - 2.0) < 1e-5


@each_solver
def test_the_end_of_steps_and_the_start_at_the_minimum(solver):
    stopped = made(solver, bowl, steps=0)(np.zeros(2), np.ones(2))
    assert (stopped.steps, stopped.evaluations, stopped.converged, stopped.value) == (0, 1, False, 2.0)
    there = made(solver, bowl)(np.ones(2), np.ones(2))
    assert (there.steps, there.evaluations, there.converged) == (0, 1, True)


@each_solver
def test_nan_ends_it(solver):
    found = made(solver, lambda x: np.sqrt(x).sum() + x[0] ** 2)(np.array([-1.0, 2.0]))
    assert not found.converged
    assert np.isnan(found.value)
    assert found.steps <= 1


@each_solver
def test_progress_and_history(solver):
    seen = []
    f = made(solver, bowl, steps=50, history=True, progress=lambda *told: seen.append(told))
    found = f(np.zeros(3), np.ones(3))
    assert [step for step, _, _ in seen] == list(range(found.steps + 1))
    assert found.history.shape == (51,)
    assert found.history[: found.steps + 1].tolist() == [value for _, value, _ in seen]
    assert np.isnan(found.history[found.steps + 1 :]).all()
    assert seen[-1][1] == found.value
    assert seen[-1][2] == np.abs(found.gradient).max()


def test_progress_is_printed(capsys):
    rose.optim.lbfgs(bowl, progress=True)(np.zeros(3), np.ones(3))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 2
    assert lines[0].split()[:3] == ["step", "0", "value"]


@each_solver
def test_it_is_a_function_like_others(solver):
    f = made(solver, bowl)
    assert isinstance(f, rose.Function)
    assert f.__name__ == f"{solver.__name__}_bowl"
    assert list(f.__signature__.parameters) == ["x", "centre", "scale"]
    nested = rose.jit(lambda x, c: f(x, centre=c).value + 1.0)
    assert nested(np.zeros(2), np.ones(2)) == pytest.approx(1.0, abs=1e-9)
    again = pickle.loads(pickle.dumps(f))
    assert bits(again(np.zeros(2), np.ones(2))) == bits(f(np.zeros(2), np.ones(2)))


def test_what_cannot_be_varied():
    with pytest.raises(rose.NotDifferentiable, match="has no argument `y`"):
        rose.optim.lbfgs(bowl, argnums="y")
    with pytest.raises(rose.StagingTypeError, match="varies one argument, given"):
        rose.optim.lbfgs(bowl, argnums=(0, 1))
    with pytest.raises(rose.RoseError, match="`memory` is at least 1, given 0"):
        rose.optim.lbfgs(bowl, memory=0)
    with pytest.raises(rose.RoseError, match="`steps` is at least 0, given -1"):
        rose.optim.adam(bowl, steps=-1)
    with pytest.raises(rose.StagingTypeError, match="`steps` is an integer"):
        rose.optim.newton(bowl, steps=2.5)
    with pytest.raises(rose.StagingTypeError, match="varies one positional argument, not `rest`"):
        rose.optim.lbfgs(lambda x, *rest: x, argnums="rest")
    with pytest.raises(rose.NotDifferentiable, match="no real number"):
        rose.optim.lbfgs(lambda k: 2 * k)(3)


@each_solver
def test_it_leaves_with_the_page(solver, tmp_path):
    f, call = made(solver, far, argnums=1, history=True, steps=60), (0.5, Model(Weights(np.ones((2, 3)), -1.0), 3))
    module = rose.export({"solve": f}, *call, path=tmp_path)[1]
    found = results(tmp_path, [(module, "solve", f, call)])
    if found:
        assert bits(found[0]) == bits(f(*call))


def test_the_page_hears_of_progress(tmp_path):
    rose.export({"solve": made(SOLVERS[0], bowl, progress=True)}, np.zeros(2), np.ones(2), path=tmp_path / "it")
    text = """import load from "./it/it.mjs";
    const seen = [], { solve } = await load({ imports: { progress: (step, value) => { seen.push([step, value]); } } });
    const { steps, value } = solve([0, 0], [1, 1]);
    console.log(JSON.stringify([seen.length === steps + 1, seen[0], seen.at(-1)[1] === value]));"""
    found = javascript(tmp_path, text)
    if NODE:
        assert found == [True, [0, 2], True]
