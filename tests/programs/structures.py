"""Structures as arguments and results: they come back as the same class."""

import cmath
import math
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

import rosejit as rose
from rosejit import Vec
from tests.programs.record import Program


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Circle:
    centre: Point
    radius: float


@dataclass
class Layer:
    weight: Vec["n"]
    bias: float


class Options(TypedDict):
    rate: float
    steps: int


@rose.jit
def length(p: Point) -> float:
    return math.sqrt(p.x * p.x + p.y * p.y)


@rose.jit
def rotated(p: Point, angle: float) -> Point:
    c, s = math.cos(angle), math.sin(angle)
    return Point(c * p.x - s * p.y, s * p.x + c * p.y)


@rose.jit
def midpoint(p: Point, q: Point) -> Point:
    return Point((p.x + q.x) / 2, y=(p.y + q.y) / 2)


@rose.jit
def gap(a: Circle, b: Circle) -> float:
    dx, dy = a.centre.x - b.centre.x, a.centre.y - b.centre.y
    return math.sqrt(dx * dx + dy * dy) - a.radius - b.radius


@rose.jit
def grown(c: Circle, factor: float) -> Circle:
    return Circle(Point(c.centre.x * factor, c.centre.y), radius=c.radius * factor)


@rose.jit
def layer(p: Layer, x: Vec["n"]) -> float:
    s = p.bias
    for i in rose.range(len(x)):
        s += p.weight[i] * x[i]
    return math.tanh(s)


@rose.jit
def halved(p: Layer) -> Layer:
    return Layer([0.5 * p.weight[i] for i in rose.range(len(p.weight))], p.bias / 2)


@rose.jit
def by_name(p: dict[str, float], x: float) -> float:
    return p["a"] * x * x + p["b"] * x + p["c"]


@rose.jit
def totals(p: dict[str, float]) -> dict[str, float]:
    return {key: value * value for key, value in p.items()}


@rose.jit
def descent(o: Options, x: float) -> float:
    for _ in rose.range(o["steps"]):
        x -= o["rate"] * 2.0 * x
    return x


@rose.jit
def of_list(x: list[float]) -> float:
    product = 1.0
    for v in x:
        product *= v
    return product + len(x)


@rose.jit
def polygon(points: list[Point]) -> float:
    """The area inside, by the shoelace formula."""
    total = 0.0
    for p, q in zip(points, points[1:] + points[:1], strict=True):
        total += p.x * q.y - q.x * p.y
    return total / 2


@rose.jit
def list_of_vectors(x: list[Vec["n"]]) -> Vec["n"]:
    return [sum(v[i] for v in x) for i in rose.range(len(x[0]))]


@rose.jit
def pair(p: tuple[float, Vec[2]]) -> tuple[Vec[2], float]:
    scale, v = p
    return [v[1] * scale, v[0]], scale * scale


@rose.jit
def any_number(p: tuple[float, ...]) -> float:
    return sum(v * (k + 1) for k, v in enumerate(p))


@rose.jit
def carried_tuple(x: float, n: int) -> tuple[float, float]:
    p = (x, 1.0)
    for _ in rose.range(n):
        p = (p[0] * p[1], p[1] + x)
    return p


@rose.jit
def chosen_tuple(x: float, y: float) -> float:
    a, b = (x, y) if x > y else (y, x * x)
    return a * a - b


@rose.jit
def carried_point(p: Point, n: int) -> Point:
    for _ in rose.range(n):
        p = Point(p.x * p.y, p.y + 0.25)
    return p


@rose.jit
def nested_result(x: float) -> dict[str, tuple[float, list[float]]]:
    return {"powers": (x, [x * x, x * x * x]), "others": (1.0 / x, [])}


@rose.jit
def nothing(x: float) -> None:
    return None


@rose.jit
def unannotated(p, xs, scale):
    return {"sum": sum(xs[k] * scale for k in range(len(xs))), "p": (p[0] * scale, p[1])}


A = np.array


def turned(p, angle):
    z = complex(*p) * cmath.exp(1j * angle)
    return Point(z.real, z.imag)


HERE, THERE = Point(3.0, 4.0), Point(1.0, -0.5)

PROGRAMS = (
    Program(
        length,
        [(HERE,), (THERE,)],
        lambda p: math.hypot(*p),
        lambda p: Point(p.x / math.hypot(*p), p.y / math.hypot(*p)),
    ),
    Program(rotated, [(HERE, 0.3), (THERE, -2.0)], turned, exact=False),
    Program(midpoint, [(HERE, THERE)], lambda p, q: Point(2.0, 1.75)),
    Program(
        gap,
        [(Circle(HERE, 1.0), Circle(Point(0.0, 0.0), 1.5))],
        lambda a, b: 2.5,
        lambda a, b: Circle(Point(0.6, 0.8), -1.0),
    ),
    Program(grown, [(Circle(HERE, 1.0), 1.5)], lambda c, f: Circle(Point(4.5, 4.0), 1.5)),
    Program(
        layer,
        [(Layer(A([0.3, -0.2]), 0.1), A([1.0, 2.0]))],
        lambda p, x: math.tanh(p.bias + p.weight @ x),
        lambda p, x: Layer(x / math.cosh(p.bias + p.weight @ x) ** 2, 1 / math.cosh(p.bias + p.weight @ x) ** 2),
        exact=False,
    ),
    Program(halved, [(Layer(A([0.3, -0.2]), 0.1),)], lambda p: Layer(p.weight / 2, 0.05)),
    Program(
        by_name, [({"a": 2.0, "b": -3.0, "c": 0.5}, 1.5)], lambda p, x: 0.5, lambda p, x: {"a": x * x, "b": x, "c": 1.0}
    ),
    Program(totals, [({"a": 2.0, "b": -3.0},)], lambda p: {"a": 4.0, "b": 9.0}),
    Program(
        descent,
        [({"rate": 0.1, "steps": 5}, 2.0)],
        lambda o, x: 2 * 0.8**5,
        lambda o, x: {"rate": -10 * x * 0.8**4, "steps": 0.0},
    ),
    Program(
        of_list,
        [([1.5, -2.0, 3.0],), ([],)],
        lambda x: math.prod(x) + len(x),
        lambda x: [math.prod(x[:k] + x[k + 1 :]) for k in range(len(x))],
    ),
    Program(
        polygon,
        [([Point(0.0, 0.0), Point(2.0, 0.0), Point(2.0, 3.0)],)],
        lambda p: 3.0,
        lambda p: [Point(-1.5, 0.0), Point(1.5, -1.0), Point(0.0, 1.0)],
    ),
    Program(list_of_vectors, [([A([1.0, 2.0]), A([0.5, -1.0]), A([3.0, 0.0])],)], lambda x: sum(x)),
    Program(pair, [((2.0, A([1.5, 0.5])),)], lambda p: ([1.0, 1.5], 4.0)),
    Program(
        any_number,
        [((1.0, 2.0, 3.0),), ((4.0,),), ((),)],
        lambda p: sum((k + 1) * v for k, v in enumerate(p)),
        lambda p: tuple(range(1, len(p) + 1)),
    ),
    Program(carried_tuple, [(0.5, 3), (0.5, 0)], lambda x, n: (x * math.prod(1 + k * x for k in range(n)), 1 + n * x)),
    Program(
        chosen_tuple,
        [(2.0, 0.5), (0.5, 2.0)],
        lambda x, y: x * x - y if x > y else y * y - x * x,
        lambda x, y: 2 * x if x > y else -2 * x,
    ),
    Program(
        carried_point,
        [(HERE, 3), (THERE, 0)],
        lambda p, n: Point(p.x * math.prod(p.y + k / 4 for k in range(n)), p.y + n / 4),
    ),
    Program(nested_result, [(2.0,), (-0.5,)], lambda x: {"powers": (x, [x**2, x**3]), "others": (1 / x, [])}),
    Program(nothing, [(2.0,)], lambda x: None),
    Program(
        unannotated,
        [((1.5, 2), [1.0, 2.0], 3.0), ((1.5, 2), A([1.0, 2.0]), 3.0)],
        lambda p, xs, s: {"sum": 9.0, "p": (4.5, 2)},
    ),
)
