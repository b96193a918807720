"""Files with the energy of a diagram into graphs of numbered nodes, with what Penrose computed of them."""

import gzip
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import ROOT

Node = tuple[Any, ...]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

TOLERANCES = (1e-9, 1e-7)
"""What the errors of energy and gradient may be."""
LOOSE = {("curve-examples__offset", "final"): (1e-6, 1e-3)}
"""The same where residuals of 1e-8, left by expressions of size 100, are multiplied by a large weight."""
LEAVES = frozenset({"input", "param", "const"})
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
FOLDER = Path(os.environ.get("ROSE_PENROSE", ROOT.parent / "shared" / "data" / "penrose")) / "graphs"
FALLBACK = ROOT / "tests" / "benchmarks" / "data" / "penrose"
"""A few small diagrams that come with the repository."""


def number(value: Any) -> float:
    """A number as the files write it."""
    return SPECIAL[value] if isinstance(value, str) else float(value)


def numbers(values: Iterable[Any]) -> Floats:
    return np.array([number(v) for v in values], dtype=float)


def flags(bits: str) -> Flags:
    return np.array([bit == "1" for bit in bits], dtype=bool)


_OPERANDS = {**dict.fromkeys(LEAVES, slice(0)), "out": slice(1, 2), "call": slice(2, None)}
_OTHERS = slice(1, None)


def operands(nodes: Iterable[Node]) -> list[Node]:
    """For each node the numbers of those that it reads."""
    return [node[_OPERANDS.get(node[0], _OTHERS)] for node in nodes]


def _absolute(nodes: list[list[Any]]) -> tuple[Node, ...]:
    """Nodes with the numbers of their operands in place of distances, constants as Python's."""
    found: list[Node] = []
    for i, (op, *rest) in enumerate(nodes):
        match op:
            case "input" | "param":
                found.append((op, *rest))
            case "const":
                found.append((op, number(rest[0])))
            case "bconst":
                found.append(("const", rest[0] == 1))
            case "out":
                found.append((op, i - rest[0], rest[1]))
            case "call":
                found.append((op, rest[0], *[i - k for k in rest[1:]]))
            case _:
                found.append((op, *[i - k for k in rest]))
    return tuple(found)


@dataclass(frozen=True)
class Procedure:
    """A function of the graph: as the graph, with `param` for `input`."""

    name: str
    params: int
    nodes: tuple[Node, ...]
    results: tuple[int, ...]


@dataclass(frozen=True)
class Stage:
    """What is optimised, and which terms count."""

    inputs: Flags
    objectives: Flags
    constraints: Flags


@dataclass(frozen=True)
class Reference:
    """The energy at a point, and its gradient, by Penrose itself."""

    name: str
    x: Floats
    stage: Stage
    weight: float
    energy: float
    gradient: Floats

    def errors(self, energy: float, gradient: Floats) -> tuple[float, float]:
        """How far a result is off: the energy relative to itself, the gradient to its largest entry. Infinite where a
        nan is on one side only."""
        finite = self.gradient[np.isfinite(self.gradient)]
        scale = float(np.max(np.abs(finite), initial=0.0))
        pairs = zip(gradient.tolist(), self.gradient.tolist(), strict=True)
        return _gap(energy, self.energy, 0.0), max((_gap(a, b, scale) for a, b in pairs), default=0.0)


def _gap(found: float, wanted: float, scale: float) -> float:
    if found == wanted or (math.isnan(found) and math.isnan(wanted)):
        return 0.0
    off = abs(found - wanted) / max(scale, abs(wanted), 1e-300)
    return off if math.isfinite(off) else math.inf


@dataclass(frozen=True)
class Graph:
    """The energy of one diagram."""

    name: str
    inputs: int
    x0: Floats
    nodes: tuple[Node, ...]
    procedures: tuple[Procedure, ...]
    objectives: tuple[int, ...]
    constraints: tuple[int, ...]
    stages: tuple[Stage, ...]
    file: dict[str, Any]
    """All of it, as `json.load` gives it."""

    @cached_property
    def ops(self) -> int:
        """How many nodes compute something."""
        return sum(node[0] not in LEAVES for node in self.nodes)

    @cached_property
    def whole(self) -> Stage:
        """Everything is optimised, everything counts."""
        return Stage(*[np.ones(k, bool) for k in (self.inputs, len(self.objectives), len(self.constraints))])

    @cached_property
    def optimised(self) -> Flags:
        """The inputs that some stage optimises."""
        return np.logical_or.reduce([stage.inputs for stage in self.stages])

    def references(self) -> Iterator[Reference]:
        """What Penrose computed."""
        for ref in self.file["ref"]:
            stage = self.whole if ref["stage"] < 0 else self.stages[ref["stage"]]
            x = numbers(ref["x"]) if "x" in ref else self.x0
            values = (float(ref["weight"]), number(ref["phi"]), numbers(ref["grad"]))
            yield Reference(ref["point"], x, stage, *values)


def load(path: Path) -> Graph:
    """The graph in a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        raw = json.load(file)
    procedures = [Procedure(f["name"], len(f["params"]), _absolute(f["nodes"]), tuple(f["rets"])) for f in raw["fns"]]
    stages = [Stage(*[flags(s[key]) for key in ("input_mask", "obj_mask", "constr_mask")]) for s in raw["stages"]]
    return Graph(
        path.name.removesuffix(".json.gz"),
        raw["n_inputs"],
        numbers(raw["x0"]),
        _absolute(raw["nodes"]),
        tuple(procedures),
        tuple(raw["objectives"]),
        tuple(raw["constraints"]),
        tuple(stages),
        raw,
    )


def files(folder: Path | None = None) -> list[Path]:
    """All diagrams in a folder, the shared one if none is given; those of the repository where that is absent."""
    chosen = folder or (FOLDER if FOLDER.exists() else FALLBACK)
    return sorted(chosen.glob("*.json.gz"))


def reachable(reads: Sequence[Iterable[int]], roots: Iterable[int], among: set[int]) -> list[int]:
    """The nodes of `among` that `roots` need, in order; `reads` are the operands of each node."""
    level, found = among.intersection(roots), set[int]()
    while level:
        found |= level
        level = among.intersection(chain.from_iterable([reads[k] for k in level])) - found
    return sorted(found)
