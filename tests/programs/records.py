"""Dataclasses, named tuples, dicts and tuples in loops and branches; arrays of structures, structures of arrays."""

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.record import Program


@dataclass
class Body:
    place: Any
    speed: Any
    mass: float = 1.0

    @property
    def energy(self):
        return 0.5 * self.mass * self.speed * self.speed

    def moved(self, step):
        return Body(self.place + step * self.speed, self.speed, self.mass)


@dataclass(frozen=True)
class Interval:
    low: float
    high: float

    def has(self, x):
        return self.low <= x and x <= self.high

    def __add__(self, other):
        return Interval(self.low + other.low, self.high + other.high)


class Pair(NamedTuple):
    first: float
    second: float


class Vertex(NamedTuple):
    at: Vec[2]
    weight: float


@rose.jit
def dataclass_in_a_loop(x: float, steps: int) -> Body:
    body = Body(x, 1.0)
    for i in rose.range(steps):
        body = dataclasses.replace(body.moved(0.1), speed=body.speed - 0.1 * body.place, mass=body.mass + i)
    return body


@rose.jit
def dataclass_in_a_branch(x: float) -> float:
    body = Body(x, x * x)
    if x > 1.0:
        body = body.moved(2.0)
    else:
        body = Body(body.speed, 1.0, 3.0)
    return body.energy * body.place


@rose.jit
def dataclass_written(x: float) -> float:
    """Outside staged branches an object is changed as in Python."""
    body = Body(x, 2.0 * x)
    other = body
    other.mass = x + 1.0
    body.speed *= body.mass
    return other.energy


@rose.jit
def dataclass_of_arrays(x: Vec["n"]) -> Vec["n"]:
    """Arrays in an object are changed in place, in loops, too."""
    body = Body(x.copy(), np.zeros(len(x)))
    for i in rose.range(len(x)):
        body.speed[i] = body.place[i] * x[0]
        body.place[0] += body.speed[i]
    body.place += body.speed
    return body.place


@rose.jit
def dataclass_until(x: float) -> Interval:
    found = Interval(0.0, x)
    while found.high - found.low > 1e-2 * x:
        middle = 0.5 * (found.low + found.high)
        if middle * middle < x:
            found = Interval(middle, found.high)
        else:
            found = Interval(found.low, middle)
    return found


@rose.jit
def operators_of_classes(x: float) -> float:
    total = Interval(x, 2.0 * x) + Interval(1.0, x)
    return total.high if total.has(2.0) else total.low


@rose.jit
def named_tuple_in_a_loop(x: float) -> Pair:
    pair = Pair(x, 1.0)
    for _ in rose.range(4):
        first, second = pair
        pair = Pair(second + x, first * second)
    return pair._replace(first=pair.first * 2.0)


@rose.jit
def named_tuple_in_a_branch(x: float, n: int) -> Pair:
    pair = Pair(x, 0.0)
    if n > 3:
        pair = Pair(x * n, 1.0)
    elif n > 1:
        pair = pair._replace(second=x * x)
    return pair


@rose.jit
def tuples_in_a_loop(x: Vec["n"]) -> tuple[Vec["n"], float, int]:
    state = (x, 0.0, 1)
    for i in rose.range(3):
        values, total, count = state
        state = (values * 2.0 - x, total + values[0], count + i)
    return state


@rose.jit
def dict_in_a_loop(x: float, y: Vec["n"]) -> dict[str, Any]:
    state = {"sum": 0.0, "best": y[0], "all": y}
    for i in rose.range(len(y)):
        state = {"sum": state["sum"] + x * y[i], "best": max(state["best"], y[i]), "all": state["all"] * 0.5}
    return state


@rose.jit
def list_in_a_loop(x: float, y: float) -> list[float]:
    values = [x, y]
    for _ in rose.range(3):
        values = [values[1], values[0] * values[1]]
    return values


@rose.jit
def nested_in_a_loop(p: Vertex, steps: int) -> Vertex:
    state = {"vertex": p, "best": (p.weight, p)}
    for _ in rose.range(steps):
        vertex = Vertex(state["vertex"].at * 0.5 + 1.0, state["vertex"].weight * state["vertex"].at[0])
        best = (vertex.weight, vertex) if vertex.weight > state["best"][0] else state["best"]
        state = {"vertex": vertex, "best": best}
    return state["best"][1]


@rose.jit
def array_of_structures(vertices: list[Vertex]) -> float:
    total = 0.0
    for v in vertices:
        total += v.weight * (v.at @ v.at)
    heaviest = max(vertices[0].weight, vertices[-1].weight)
    return total * heaviest


@rose.jit
def comprehended_structures(x: Vec["n"], a: Mat["n", 2]) -> float:
    """A comprehension of structures over a staged range is a structure of arrays."""
    vertices = [Vertex(a[i] * 2.0, x[i]) for i in rose.range(len(x))]
    total = 0.0
    for i in rose.range(len(x)):
        total += vertices[i].weight * vertices[i].at.sum()
    return total + vertices[0].weight * len(vertices) + sum(v.at[1] for v in vertices)


@rose.jit
def comprehended_dicts(x: Vec["n"]) -> float:
    points = [{"u": v * v, "v": (v, 2.0 * v)} for v in x]
    staged = [{"u": x[i] * x[i], "v": (x[i], i)} for i in rose.range(len(x))]
    return points[0]["u"] * points[-1]["v"][1] + staged[1]["u"] * staged[2]["v"][0] + staged[2]["v"][1]


@rose.jit
def structure_of_arrays(p: Vertex, ps: dict[str, Vec["n"]]) -> dict[str, Vec["n"]]:
    moved = {name: values * p.weight + p.at[0] for name, values in ps.items()}
    for i in rose.range(len(moved["x"])):
        moved["x"][i] += moved["y"][i]
    return moved


@rose.jit
def spring_chain(x: Vec["n"], k: float) -> float:
    """Objects with methods, a list of them, and a staged loop over time."""
    place, speed = x.copy(), np.zeros(len(x))
    for _ in rose.range(4):
        force = np.zeros(len(x))
        for i in range(len(x) - 1):
            pull = k * (place[i + 1] - place[i])
            force[i] += pull
            force[i + 1] -= pull
        bodies = [Body(place[i], speed[i]) for i in range(len(x))]
        speed = speed + 0.1 * force
        place = np.array([body.moved(0.1).place for body in bodies])
    return sum(Body(place[i], speed[i]).energy for i in range(len(x)))


A = np.array
X = A([1.2, 0.7, -1.5])
V = Vertex(A([0.5, 2.0]), 1.5)
W = Vertex(A([-1.0, 0.3]), 0.5)

PROGRAMS = (
    Program(dataclass_in_a_loop, [(0.5, 3), (0.5, 0)]),
    Program(dataclass_in_a_branch, [(1.5,), (0.5,)]),
    Program(
        dataclass_written, [(1.5,)], lambda x: 2 * x * x * (x + 1) ** 3, lambda x: 2 * x * (x + 1) ** 2 * (5 * x + 2)
    ),
    Program(dataclass_of_arrays, [(X,)]),
    Program(dataclass_until, [(2.0,)]),
    Program(operators_of_classes, [(0.8,), (1.5,)], lambda x: 3 * x if x < 1 else x + 1),
    Program(named_tuple_in_a_loop, [(0.5,)]),
    Program(named_tuple_in_a_branch, [(0.5, 5), (0.5, 2), (0.5, 0)]),
    Program(tuples_in_a_loop, [(X,)]),
    Program(dict_in_a_loop, [(0.5, X)]),
    Program(list_in_a_loop, [(0.5, 2.0)]),
    Program(nested_in_a_loop, [(V, 3), (W, 2)]),
    Program(array_of_structures, [([V, W],), ([V],)], exact=False),
    Program(comprehended_structures, [(X, A([[0.5, 1.0], [2.0, -0.3], [0.1, 0.4]]))]),
    Program(comprehended_dicts, [(X,)]),
    Program(structure_of_arrays, [(V, {"x": X, "y": X * 0.5})]),
    Program(spring_chain, [(X, 2.0)]),
)
