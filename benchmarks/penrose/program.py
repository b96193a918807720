"""A graph into the functions that a user would write: one for each term, and the energy, which calls them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.penrose.graphs import Flags, Floats, Graph, Node, Procedure, operands, reachable
from benchmarks.penrose.operations import KNOWN, STAGED, larger
from rosejit import Array, Vec

# Staged values are of no type that a checker knows.
# pyright: basic

Operation = Callable[..., Any]
Step = tuple[Operation, tuple[int, ...]]


def run(steps: Sequence[Step], values: list[Any]) -> list[Any]:
    """`values`, and after them what each step makes of those before it."""
    for operation, at in steps:
        values.append(operation(*[values[k] for k in at]))
    return values


def result(k: int) -> Operation:
    """What takes one result of a procedure."""
    return lambda results: results[k]


@dataclass(slots=True)
class Library:
    """The procedures of a graph: decorated functions, and the same for numbers that the host knows."""

    staged: list[Operation]
    known: list[Operation]

    def step(self, node: Node) -> Operation:
        """What a node does in staged code."""
        return self.staged[node[1]] if node[0] == "call" else result(node[2]) if node[0] == "out" else STAGED[node[0]]

    def value(self, node: Node, leaf: Sequence[Any], values: dict[int, Any]) -> Any:
        """What a node is, where the host knows its operands."""
        match node:
            case ("const", value):
                return value
            case ("input" | "param", k):
                return leaf[k]
            case ("call", k, *_):
                return self.known[k](*[values[a] for a in operands(node)])
            case ("out", call, k):
                return values[call][k]
            case _:
                found = KNOWN[node[0]](*[values[a] for a in operands(node)])
                return bool(found) if isinstance(found, (bool, np.bool_)) else float(found)


Path = tuple[tuple[Any, ...], tuple[int, ...], tuple[Step, ...], tuple[int, ...]]
"""How values are computed: constants, where the inputs are read, steps, and which values are the results."""


def path(
    library: Library, nodes: tuple[Node, ...], roots: Sequence[int], known: dict[int, Any], places: dict[int, int]
) -> Path:
    """How `roots` are computed where `known` are the values of nodes, and `places` say where inputs are."""
    inner = reachable(nodes, roots, known)
    outside = dict.fromkeys([k for i in inner for k in operands(nodes[i]) if k in known])
    outside |= dict.fromkeys([root for root in roots if root in known])
    leaves = [i for i in inner if nodes[i][0] in ("input", "param")]
    at = {k: n for n, k in enumerate([*outside, *leaves])}
    steps: list[Step] = []
    for i in inner:
        if i not in at:
            steps.append((library.step(nodes[i]), tuple([at[k] for k in operands(nodes[i])])))
            at[i] = len(at)
    constants = tuple([known[k] for k in outside])
    reads = tuple([places[nodes[i][1]] for i in leaves])
    return constants, reads, tuple(steps), tuple([at[r] for r in roots])


def procedure(library: Library, p: Procedure) -> None:
    """Add a procedure to the library."""
    constants = {i: node[1] for i, node in enumerate(p.nodes) if node[0] == "const"}
    made = path(library, p.nodes, p.results, constants, {k: k for k in range(p.params)})

    @rose.jit(name=p.name if p.name.isidentifier() else "procedure")
    def staged(given: list[float]):
        constants, reads, steps, results = made
        values = run(steps, [*constants, *[given[k] for k in reads]])
        return tuple([values[k] for k in results])

    def known(*given: float) -> tuple[Any, ...]:
        values: dict[int, Any] = {}
        for i, node in enumerate(p.nodes):
            values[i] = library.value(node, given, values)
        return tuple([values[k] for k in p.results])

    library.staged.append(lambda *given: staged(list(given)))
    library.known.append(known)


def term(made: Path) -> rose.Function:
    """A term of the energy, as a function of what is optimised."""

    @rose.jit
    def term(x: Vec["n"]) -> float:
        constants, reads, steps, (root,) = made
        return run(steps, [*constants, *[x[k] for k in reads]])[root]

    return term


def reached(nodes: tuple[Node, ...], free: Flags) -> list[bool]:
    """For each node whether it depends on a free input."""
    found: list[bool] = []
    for node in nodes:
        found.append(bool(free[node[1]]) if node[0] == "input" else any([found[k] for k in operands(node)]))
    return found


def energy(graph: Graph, free: Flags, x: Floats) -> rose.Function:
    """The energy as a function of the free inputs, the weight of the constraints, and which terms count. The other
    inputs are what they are in `x`, so that all that depends on no others is computed here and now."""
    library = Library([], [])
    for p in graph.procedures:
        procedure(library, p)
    nodes, depends = graph.nodes, reached(graph.nodes, free)
    known: dict[int, Any] = {}
    given = x.tolist()
    with np.errstate(all="ignore"):
        for i in reachable(nodes, (*graph.objectives, *graph.constraints)):
            if not depends[i]:
                known[i] = library.value(nodes[i], given, known)
    places = {int(k): n for n, k in enumerate(np.flatnonzero(free))}

    def terms(roots: Iterable[int]) -> tuple[Any, ...]:
        return tuple([term(path(library, nodes, (r,), known, places)) if depends[r] else known[r] for r in roots])

    always = [np.logical_and.reduce([getattr(stage, kind) for stage in graph.stages]) for kind in KINDS]
    return combined(terms(graph.objectives), terms(graph.constraints), *[tuple(on.tolist()) for on in always])


KINDS = ("objectives", "constraints")


def combined(
    objectives: tuple[Any, ...], constraints: tuple[Any, ...], counts: tuple[bool, ...], holds: tuple[bool, ...]
) -> rose.Function:
    """The energy of terms, of which some are numbers; some count in all stages."""

    @rose.jit
    def energy(x: Vec["n"], weight: float, on: Array["objectives", bool], held: Array["constraints", bool]) -> float:
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
