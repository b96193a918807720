"""One diagram by `rosejit`: whether it is right, and how long it takes to build, to call and to lay out."""

import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import rosejit as rose
from benchmarks.latency import STAGES, stages
from benchmarks.measure import Row, collector_off, per_call
from benchmarks.penrose import plain_lists, program
from benchmarks.penrose.graphs import LOOSE, TOLERANCES, Flags, Floats, Graph, Reference
from benchmarks.penrose.layout import Energy, optimise
from rosejit.runtime.engine import Instance, NativeModule
from rosejit.runtime.residency import tiering

WEIGHT = 1000.0


Form = Callable[[Graph, Flags, Floats], rose.Function]
"""How the energy is written."""


def gradient(graph: Graph, free: Flags, x: Floats, form: Form = program.energy) -> Energy:
    """Energy and gradient by the free inputs."""
    return rose.value_and_grad(form(graph, free, x))


@dataclass
class Checked:
    """The worst errors at the points where Penrose's own values are known."""

    graph: Graph
    form: Form = program.energy
    energy: float = 0.0
    gradient: float = 0.0
    wrong: list[str] = field(default_factory=list[str])
    _programs: dict[tuple[bytes, bytes], Energy] = field(default_factory=dict[tuple[bytes, bytes], Energy])

    def all(self) -> "Checked":
        """Compare with every reference."""
        for reference in self.graph.references():
            errors = reference.errors(*self._found(reference))
            self.energy, self.gradient = max(self.energy, errors[0]), max(self.gradient, errors[1])
            allowed = LOOSE.get((self.graph.name, reference.name), TOLERANCES)
            if errors[0] > allowed[0] or errors[1] > allowed[1]:
                self.wrong.append(reference.name)
        return self

    def _found(self, reference: Reference) -> tuple[float, Floats]:
        """Energy and gradient, of all inputs where all are asked for."""
        stage, x = reference.stage, reference.x
        free = self.graph.optimised | stage.inputs
        key = (free.tobytes(), np.where(free, 0.0, x).tobytes())
        if key not in self._programs:
            self._programs[key] = gradient(self.graph, free, x, self.form)
        value, part = self._programs[key](x[free], reference.weight, stage.objectives, stage.constraints)
        full = np.zeros(self.graph.inputs)
        full[free] = part
        return value, np.where(stage.inputs, full, 0.0)


@contextmanager
def instances() -> Iterator[list[Instance]]:
    """The instances of compiled code that are made inside."""
    found: list[Instance] = []
    original = NativeModule.instantiate

    def kept(module: NativeModule) -> Instance:
        found.append(original(module))
        return found[-1]

    with patch.object(NativeModule, "instantiate", kept):
        yield found


def _nothing(x: float) -> float:
    return x


def measured(graph: Graph, cache: Path, repeat: int) -> Row:
    """Milliseconds of CPU of a build in a warm process, with the disk cache empty and filled, by part; of a build and
    the layout; microseconds of a call, and of the export alone."""
    free, stage = graph.optimised, graph.stages[0]
    x = graph.x0[free]
    moves = [(each, each.inputs[free].astype(float)) for each in graph.stages]
    args = (x, WEIGHT, stage.objectives, stage.constraints)
    rows: list[Row] = []
    for k in range(repeat + 1):  # the first one warms up
        shutil.rmtree(cache, ignore_errors=True)
        parts, f = _built(graph, args)
        start = time.process_time()
        layout = optimise(f, x, moves)
        tiering.idle()  # what has been begun is paid for
        rows.append({**parts, "layout": parts["build"] + 1e3 * (time.process_time() - start)})
        if k and sum(row["layout"] for row in rows) > 20_000:
            break
    rows = rows[1:]
    disk = _built(graph, args)[0]["build"]
    with instances() as made:
        f = gradient(graph, free, graph.x0)
        f(*args)
        tiering.wait()
        f(*args)
    _built(graph, args, plain_lists.energy)
    lists, g = _built(graph, args, plain_lists.energy)
    tiering.wait()
    g(*args)
    overhead = _overhead()
    raw = made[-1].entry("main")
    return {
        **{key: statistics.median([row[key] for row in rows]) for key in rows[0]},
        "disk": disk,
        "call": 1e6 * per_call(lambda: f(*args)),
        "eval": 1e6 * max(per_call(raw) - overhead, 1e-9),
        "lists build": lists["build"],
        "lists call": 1e6 * per_call(lambda: g(*args)),
        "calls": layout[2],
        "value": layout[1],
    }


def _built(graph: Graph, args: tuple[Any, ...], form: Form = program.energy) -> tuple[Row, Energy]:
    """A fresh program, up to its first gradient."""
    with collector_off(), stages() as clock:
        start = time.process_time()
        f = gradient(graph, graph.optimised, graph.x0, form)
        f(*args)
        total = time.process_time() - start
    return {"build": 1e3 * total, **{name: 1e3 * clock.spent[name] for name in (*STAGES, "other")}}, f


def _overhead() -> float:
    """Seconds that it takes to call any export from Python."""
    with instances() as made:
        rose.jit(tier="best")(_nothing)(1.0)
    return per_call(made[-1].entry("main"))
