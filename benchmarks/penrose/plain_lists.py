"""The second form of the energies: one function over the lists and dicts that a file has, as `json.load` gives them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.penrose.graphs import Flags, Floats, Graph, number, operands
from benchmarks.penrose.operations import KNOWN, STAGED, larger
from benchmarks.penrose.program import dependent, places
from rosejit import Array, Vec

# Staged values are of no type that a checker knows.
# pyright: basic

Operations = dict[str, Callable[..., Any]]


def computed(nodes: Any, operations: Operations, procedures: Sequence[Any], given: Any, known: Sequence[Any]):
    """What each node is, or what is `known` of it."""
    values = []
    for k, (op, *rest) in enumerate(nodes):
        if known and known[k] is not None:
            value = known[k]
        elif op in ("input", "param"):
            value = given[rest[0]]
        elif op == "const":
            value = number(rest[0])
        elif op == "bconst":
            value = rest[0] == 1
        elif op == "out":
            value = values[k - rest[0]][rest[1]]
        elif op == "call":
            value = procedures[rest[0]](*[values[k - i] for i in rest[1:]])
        else:
            value = operations[op](*[values[k - i] for i in rest])
        values.append(value)
    return values


def staged_procedures(functions: list[dict[str, Any]]) -> list[Any]:
    """The functions of a file, decorated."""
    made: list[Any] = []

    def add(function: dict[str, Any]) -> None:
        @rose.jit(name=function["name"] if function["name"].isidentifier() else "procedure")
        def procedure(given: list[float]):
            values = computed(function["nodes"], STAGED, made, given, [])
            return tuple([values[k] for k in function["rets"]])

        made.append(lambda *given: procedure(list(given)))

    for function in functions:
        add(function)
    return made


def known_procedures(functions: list[dict[str, Any]]) -> list[Any]:
    """The same of numbers."""
    made: list[Any] = []

    def add(function: dict[str, Any]) -> None:
        def procedure(*given: float) -> list[Any]:
            values = computed(function["nodes"], KNOWN, made, given, [])
            return [values[k] for k in function["rets"]]

        made.append(procedure)

    for function in functions:
        add(function)
    return made


def energy(graph: Graph, free: Flags, x: Floats) -> rose.Function:
    """As that of `program`."""
    data, place = graph.file, places(np.flatnonzero(free).tolist())
    depends = dependent(graph.nodes, operands(graph.nodes), free)
    outside = [0.0 if k in depends else None for k in range(len(graph.nodes))]
    with np.errstate(all="ignore"):
        found = computed(data["nodes"], KNOWN, known_procedures(data["fns"]), x.tolist(), outside)
    known = [None if k in depends else value for k, value in enumerate(found)]
    procedures = staged_procedures(data["fns"])

    @rose.jit
    def energy(x: Vec["n"], weight: float, on: Array["objectives", bool], held: Array["constraints", bool]) -> float:
        values = computed(data["nodes"], STAGED, procedures, {k: x[place[k]] for k in place}, known)
        value: Any = 0.0
        penalty: Any = 0.0
        for k, root in enumerate(data["objectives"]):
            value += np.where(on[k], values[root], 0.0)
        for k, root in enumerate(data["constraints"]):
            y = larger(values[root], 0.0)
            penalty += np.where(held[k], y * y, 0.0)
        return value + weight * penalty

    return energy
