"""A graph into the functions that a user would write: one for each term, and the energy, which calls them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.penrose.graphs import LEAVES, Flags, Floats, Graph, Node, Procedure, operands, reachable
from benchmarks.penrose.operations import KNOWN, STAGED, larger
from rosejit import Array, Vec

# Staged values are of no type that a checker knows.
# pyright: basic

Operation = Callable[..., Any]
Step = tuple[Operation, tuple[int, ...]]
"""What makes a value, and of which values before it."""
Reads = Sequence[tuple[int, ...]]
"""For each node the numbers of those that it reads."""


def run(steps: Sequence[Step], values: list[Any]) -> list[Any]:
    """`values`, and after them what each step makes of those before it."""
    for operation, at in steps:
        values.append(operation(*[values[k] for k in at]))
    return values


@cache
def result(k: int) -> Operation:
    """What takes one result of a procedure."""
    return lambda results: results[k]


@dataclass(slots=True)
class Library:
    """What nodes do: operations by name, and the procedures of a graph."""

    operations: dict[str, Operation]
    procedures: list[Operation]

    def steps(self, nodes: Sequence[Node], reads: Reads, first: Sequence[int], then: Sequence[int]) -> tuple[Step, ...]:
        """How the nodes `then` are computed from those that come `first`, each from what is before it."""
        at, known = places((*first, *then)).__getitem__, self.operations
        return tuple([
            (known.get(nodes[k][0]) or self._operation(nodes[k]), tuple(map(at, reads[k]))) for k in then
        ])  # fmt: skip

    def _operation(self, node: Node) -> Operation:
        return self.procedures[node[1]] if node[0] == "call" else result(node[2])


def places(numbers: Sequence[int]) -> dict[int, int]:
    """Where each of these numbers is."""
    return {k: place for place, k in enumerate(numbers)}


def leaves(nodes: Sequence[Node], wanted: Iterable[int]) -> tuple[list[int], list[int]]:
    """The `wanted` nodes that compute nothing, and the others."""
    first = [k for k in wanted if nodes[k][0] in LEAVES]
    return first, [k for k in wanted if nodes[k][0] not in LEAVES]


def procedure(staging: Library, knowing: Library, p: Procedure) -> None:
    """Add a procedure to the libraries: a decorated function, and the same for numbers that the host knows."""
    nodes, reads = p.nodes, operands(p.nodes)
    first, then = leaves(nodes, reachable(reads, p.results, set(range(len(nodes)))))
    constants = [k for k in first if nodes[k][0] == "const"]
    params = [k for k in first if nodes[k][0] == "param"]
    at = places([*constants, *params, *then])
    values = tuple([nodes[k][1] for k in constants])
    taken = tuple([nodes[k][1] for k in params])
    results = tuple([at[k] for k in p.results])
    made = (values, taken, staging.steps(nodes, reads, [*constants, *params], then), results)
    steps = knowing.steps(nodes, reads, [*constants, *params], then)

    @rose.jit(name=p.name if p.name.isidentifier() else "procedure")
    def staged(given: list[float]):
        constants, taken, steps, results = made
        values = run(steps, [*constants, *[given[k] for k in taken]])
        return tuple([values[k] for k in results])

    def known(*given: float) -> tuple[Any, ...]:
        found = run(steps, [*values, *[given[k] for k in taken]])
        return tuple([found[k] for k in results])

    staging.procedures.append(lambda *given: staged(list(given)))
    knowing.procedures.append(known)


Point = Vec["n"]
Path = tuple[tuple[Any, ...], tuple[int, ...], tuple[Step, ...]]
"""How a value is computed: constants, where the inputs are read, and steps, of which it is the last."""


def term(made: Path) -> rose.Function:
    """A term of the energy, as a function of what is optimised."""

    @rose.jit
    def term(x: Point) -> float:
        constants, inputs, steps = made
        return run(steps, [*constants, *[x[k] for k in inputs]])[-1]

    return term


def dependent(nodes: Sequence[Node], reads: Reads, free: Flags) -> set[int]:
    """The nodes that depend on a free input."""
    inputs, found = free.tolist(), set[int]()
    for k, node in enumerate(nodes):
        if inputs[node[1]] if node[0] == "input" else not found.isdisjoint(reads[k]):
            found.add(k)
    return found


def energy(graph: Graph, free: Flags, x: Floats) -> rose.Function:
    """The energy as a function of the free inputs, the weight of the constraints, and which terms count. The other
    inputs are what they are in `x`, so that all that depends on no others is computed here and now."""
    staging, knowing = Library(STAGED, []), Library(KNOWN, [])
    for p in graph.procedures:
        procedure(staging, knowing, p)
    nodes, reads = graph.nodes, operands(graph.nodes)
    depends = dependent(nodes, reads, free)
    first, then = leaves(nodes, [k for k in range(len(nodes)) if k not in depends])
    given = x.tolist()
    values = [given[nodes[k][1]] if nodes[k][0] == "input" else nodes[k][1] for k in first]
    with np.errstate(all="ignore"):
        known = dict(zip([*first, *then], run(knowing.steps(nodes, reads, first, then), values), strict=True))
    place = places(np.flatnonzero(free).tolist())

    def path(root: int) -> Path:
        inputs, inner = leaves(nodes, reachable(reads, (root,), depends))
        outside = {k: known[k] for k in chain.from_iterable([reads[i] for i in inner]) if k not in depends}
        steps = staging.steps(nodes, reads, [*outside, *inputs], inner)
        return tuple(outside.values()), tuple([place[nodes[k][1]] for k in inputs]), steps

    def terms(roots: Iterable[int]) -> tuple[Any, ...]:
        return tuple([term(path(root)) if root in depends else known[root] for root in roots])

    always = [np.logical_and.reduce([getattr(stage, kind) for stage in graph.stages]) for kind in KINDS]
    return combined(terms(graph.objectives), terms(graph.constraints), *[tuple(on.tolist()) for on in always])


KINDS = ("objectives", "constraints")


def combined(
    objectives: tuple[Any, ...], constraints: tuple[Any, ...], counts: tuple[bool, ...], holds: tuple[bool, ...]
) -> rose.Function:
    """The energy of terms, of which some are numbers; some count in all stages."""

    @rose.jit
    def energy(x: Point, weight: float, on: Array["objectives", bool], held: Array["constraints", bool]) -> float:
        value: Any = 0.0
        penalty: Any = 0.0
        for k, term in enumerate(objectives):
            y: Any = term(x) if callable(term) else term
            value += y if counts[k] else np.where(on[k], y, 0.0)
        for k, term in enumerate(constraints):
            y = larger(term(x) if callable(term) else term, 0.0)
            penalty += y * y if holds[k] else np.where(held[k], y * y, 0.0)
        return value + weight * penalty

    return energy
