"""The layout energies of Penrose: values and gradients are those that Penrose computed, and the optimiser ends."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.penrose import plain_lists, program
from benchmarks.penrose.graphs import FALLBACK, load
from benchmarks.penrose.layout import History, optimise
from benchmarks.penrose.ours import Checked, Form, gradient

GRAPHS = sorted(FALLBACK.glob("*.json.gz"))


def name(path: Path) -> str:
    return path.name.partition(".")[0]


@pytest.mark.parametrize("form", [program.energy, plain_lists.energy], ids=["program", "lists"])
@pytest.mark.parametrize("path", GRAPHS, ids=name)
def test_energy_and_gradient_are_those_of_penrose(path: Path, form: Form) -> None:
    checked = Checked(load(path), form).all()
    assert not checked.wrong
    assert checked.energy < 1e-12


def test_the_layout_ends_where_penrose_ends() -> None:
    graph = load(next(path for path in GRAPHS if "shrink" in path.name))
    free = graph.optimised
    energy = gradient(graph, free, graph.x0)
    moves = [(stage, stage.inputs[free].astype(float)) for stage in graph.stages]
    x, value, calls = optimise(energy, graph.x0[free], moves)
    (final,) = [r for r in graph.references() if r.name == "final"]
    assert value < 1e-6 > final.energy
    assert np.allclose(x[-3:], final.x[free][-3:], atol=1e-6), "the circle is where it has to be"
    assert calls < 1000


def test_directions_of_a_quadratic_are_those_of_newton() -> None:
    """Two steps along the axes tell all of a diagonal Hessian."""
    hessian = np.array([2.0, 8.0])
    history = History(2)
    for step in np.eye(2):
        history.add(step, hessian * step)
    assert np.allclose(history.times(np.array([1.0, 1.0])), 1.0 / hessian)
