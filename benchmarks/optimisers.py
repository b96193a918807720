"""`rose.optim.lbfgs` beside SciPy's L-BFGS-B: Rosenbrock's function of 100 variables, layouts of graphs and diagrams.

Diagrams are those of Penrose's gallery, at the first weight of their constraints; `graph K` is a random graph with
arrows of one length, nothing nearer than it may be. Both get our gradient, the same start and the same tolerance;
SciPy is called as it is recommended. `node` is the whole optimisation, exported. Of times the least is told.
"""

import json
import tempfile
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.optimize

import rosejit as rose
from benchmarks.measure import PEERS, Row, Table, node, once, options, per_call
from benchmarks.penrose.graphs import files, load
from benchmarks.penrose.program import energy
from rosejit import Array, Vec


@rose.jit
def rosenbrock(x: Vec["n"]) -> float:
    """A curved valley."""
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


@rose.jit
def tension(x: Vec["d"], arrows: Array["m", 2, int], radii: Vec["n"]) -> float:
    """Arrows as long as they should be, circles apart, all of it near the middle."""
    total = 0.0
    for k in rose.range(len(arrows)):
        a, b = arrows[k]
        dx, dy = x[2 * a] - x[2 * b], x[2 * a + 1] - x[2 * b + 1]
        total += (np.sqrt(dx * dx + dy * dy + 1e-9) - radii[a] - radii[b] - 1.0) ** 2
    for i in rose.range(len(radii)):
        for j in rose.range(i):
            dx, dy = x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]
            total += max(radii[i] + radii[j] + 0.5 - np.sqrt(dx * dx + dy * dy + 1e-9), 0.0) ** 2
        total += 1e-3 * (x[2 * i] ** 2 + x[2 * i + 1] ** 2)
    return total


def graph(seed: int) -> tuple[Any, ...]:
    """A start, a connected graph and the sizes of its circles."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 25))
    tree = [(k, int(rng.integers(k))) for k in range(1, n)]
    more = [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(n // 2)]
    return rng.normal(scale=3.0, size=2 * n), np.array(tree + more), rng.uniform(0.3, 1.2, n)


TOLERANCE = 1e-5
STEPS = 5000

WEIGHT = 1000.0
DIAGRAMS = (
    *("alloy-models__ring-leader-election", "curve-examples__offset", "dataviz__residual", "mobius__mobius"),
    *("geometry-domain__textbook_problems__c01p01", "geometry-domain__textbook_problems__c03p01"),
    *("geometry-domain__textbook_problems__c05p01", "group-theory__quaternion-cayley-graph"),
    *("set-potatoes__relation-not-a-function", "shape-distance__lines-around-rect"),
)


def diagrams() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """The energies of the diagrams that are here, each with its arguments."""
    for path in files():
        graph = load(path)
        if graph.name in DIAGRAMS:
            free, stage = graph.optimised, graph.whole
            args = (graph.x0[free], WEIGHT, stage.objectives, stage.constraints)
            yield graph.name.rpartition("__")[2], energy(graph, free, graph.x0), args


def compared(f: Any, call: tuple[Any, ...], repeat: int) -> Row:
    """One problem solved by both, and by node."""
    solve, both = rose.optim.lbfgs(f, tolerance=TOLERANCE, steps=STEPS), rose.value_and_grad(f)
    found = solve(*call)
    both(*call)
    limits = {"maxiter": STEPS, "maxfun": 2 * STEPS, "gtol": TOLERANCE, "ftol": 0}
    runs = [
        once(lambda: scipy.optimize.minimize(both, call[0], call[1:], "L-BFGS-B", jac=True, options=limits))
        for _ in range(repeat)
    ]
    spent, theirs = min(runs, key=itemgetter(0))
    with tempfile.TemporaryDirectory() as folder:
        module = rose.export({"f": solve}, *call, path=Path(folder) / "it")[1]
        given = json.dumps(call, default=lambda array: array.tolist())
        run = node(PEERS / "exported.mjs", str(module), "f", given, "20")
    assert run["found"]["value"] == found.value, "not the same bits"
    ours = {"ours": found.evaluations, "value": found.value, "ms": 1e3 * per_call(lambda: solve(*call), batches=repeat)}
    return {**ours, "scipy": theirs.nfev, "scipy's": theirs.fun, "scipy ms": 1e3 * spent, "node ms": run["fresh"] / 1e6}


def main() -> None:
    asked = options(__doc__ or "", repeat=3)
    form = {"problem": "", "ours": ",", "scipy": ",", "value": ".6g", "scipy's": ".6g"}
    form |= dict.fromkeys(("ms", "scipy ms", "node ms"), ".2f")
    table = Table("optimisers", "L-BFGS: evaluations, final values, and ms of CPU for the whole of it", form)
    table.add(problem="rosenbrock 100", **compared(rosenbrock, (np.tile([-1.2, 1.0], 50),), asked.repeat))
    for name, f, call in diagrams():
        table.add(problem=name, **compared(f, call, asked.repeat))
    for seed in range(10):
        table.add(problem=f"graph {seed}", **compared(tension, graph(seed), asked.repeat))
    table.finish(asked.json)


if __name__ == "__main__":
    main()
