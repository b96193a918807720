"""Functions of every kind of argument and result, with arguments and what CPython and calculus say of them."""

import math
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Vec


@dataclass
class Body:
    mass: float
    at: Vec[2]


@dataclass(frozen=True, slots=True)
class Frozen:
    a: float
    b: int


class Pair(NamedTuple):
    left: float
    right: float


class Colour(Enum):
    RED = 1
    BLUE = 2


class TooFar(ValueError):
    """Of the user's own."""


WEIGHTS = np.array([1.0, 2.0, 3.0])
INDICES = [2, 0, 1]


@rose.opaque
def logarithm(x: float) -> float:
    return math.log(x)


@logarithm.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(logarithm(x.re), x.du / x.re)


def number(x: float, n: int, flag: bool) -> float:
    return x * n if flag else x


def with_defaults(x: float, scale: float = 2.0, *rest: float, **more: float) -> float:
    total = x * scale
    for each in rest:
        total = total + each
    return total + more["a"]


def arrays(x: Vec["n"], w: rose.Array["n", int]):
    return x * w, x.sum(), x > 0.5


def captured(x):
    return (x * WEIGHTS).sum() + x[INDICES[0]]


def body(b: Body) -> Body:
    return Body(b.mass * 2.0, b.at + 1.0)


def frozen(f: Frozen) -> Frozen:
    return Frozen(f.a * f.b, f.b + 1)


def pair(p: Pair) -> Pair:
    return Pair(p.right, p.left)


def nested(d, bodies: list[Body]):
    return {"total": d["a"] * sum(b.mass for b in bodies), "rest": [d["b"], (d["a"],)], "none": None}


def many(xs: list[float]) -> list[float]:
    return [x * 2.0 for x in xs]


def turned(queue):
    return deque([queue[1], queue[0] * 2.0])


def looped(x: float):
    return [Pair(x * i, x) for i in rose.range(2)]


def static(x: float, colour: rose.Static[Colour], table: rose.Static[list]) -> float:
    return x * table[0] if colour is Colour.RED else -x


def gives_host(x: float):
    return {"name": "f", "colour": Colour.BLUE, "x": x}


def with_opaque(x: float) -> float:
    return logarithm(x) * x


def prints(x: float) -> float:
    if x > 0:
        print("x is", x, f"<{x:.2f}>", sep="|")
    return x


def raises(x: float) -> float:
    if x > 100.0:
        raise TooFar(f"{x} is too far")
    assert x > -100.0, f"{x} {x} {x} {x} {x} is too small"
    return x


def squares(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        total += x[i] * x[i]
    return total


def energy(bodies: list[Body]) -> float:
    return sum(b.mass * b.mass + b.at[0] for b in bodies)


def product(x, v):
    return rose.jvp(squares, (x,), (v,)), rose.vjp(squares, x)[1](1.0)


X = np.array([1.0, -2.0, 3.0])
BODIES = [Body(2.0, np.array([1.0, 0.0])), Body(3.0, np.array([0.0, 1.0]))]
Case = tuple[Any, tuple[Any, ...], dict[str, Any], Any]
CASES: dict[str, Case] = {
    "numbers": (rose.jit(number), (1.5, 3, True), {}, 4.5),
    "defaults": (rose.jit(with_defaults), (1.0,), {"a": 4.0}, 6.0),
    "rest": (rose.jit(with_defaults), (1.0, 3.0, 5.0, 6.0), {"a": 4.0}, 18.0),
    "arrays": (rose.jit(arrays), (X, np.array([1, 2, 3])), {}, (np.array([1.0, -4.0, 9.0]), 2.0, X > 0.5)),
    "captured": (rose.jit(captured), (X,), {}, 9.0),
    "dataclass": (rose.jit(body), (BODIES[0],), {}, Body(4.0, np.array([2.0, 1.0]))),
    "frozen, slots": (rose.jit(frozen), (Frozen(1.5, 2),), {}, Frozen(3.0, 3)),
    "named tuple": (rose.jit(pair), (Pair(1.0, 2.0),), {}, Pair(2.0, 1.0)),
    "nested": (
        rose.jit(nested), ({"a": 2.0, "b": X}, BODIES), {}, {"total": 10.0, "rest": [X, (2.0,)], "none": None}
    ),
    "list": (rose.jit(many), ([1.0, 2.0, 3.0, 4.0, 5.0],), {}, [2.0, 4.0, 6.0, 8.0, 10.0]),
    "list of a staged loop": (rose.jit(looped), (3.0,), {}, [Pair(0.0, 3.0), Pair(3.0, 3.0)]),
    "deque": (rose.jit(turned), (deque([1.0, 2.0]),), {}, deque([2.0, 2.0])),
    "static": (rose.jit(static), (2.0, Colour.RED, [3.0, "x"]), {}, 6.0),
    "host values in results": (rose.jit(gives_host), (2.0,), {}, {"name": "f", "colour": Colour.BLUE, "x": 2.0}),
    "opaque": (rose.jit(with_opaque), (2.0,), {}, 2.0 * math.log(2.0)),
    "print": (rose.jit(prints), (2.0,), {}, 2.0),
    "raise": (rose.jit(raises), (2.0,), {}, 2.0),
    "grad": (rose.grad(squares), (X,), {}, 2.0 * X),
    "grad of an opaque function": (rose.grad(with_opaque), (2.0,), {}, math.log(2.0) + 1.0),
    "value_and_grad": (rose.value_and_grad(squares), (X,), {}, (14.0, 2.0 * X)),
    "grad of a list": (
        rose.grad(energy), (BODIES,), {}, [Body(4.0, np.array([1.0, 0.0])), Body(6.0, np.array([1.0, 0.0]))]
    ),
    "hessian": (rose.hessian(squares), (X,), {}, 2.0 * np.eye(3)),
    "hvp": (rose.hvp(squares), (X, np.ones(3)), {}, np.full(3, 2.0)),
    "jvp and vjp": (rose.jit(product), (X, np.ones(3)), {}, ((14.0, 4.0), (2.0 * X,))),
    "vmap": (rose.vmap(with_opaque), (np.array([1.0, 2.0]),), {}, np.array([0.0, 2.0 * math.log(2.0)])),
}  # fmt: skip


def same(found: Any, expected: Any) -> bool:
    """Whether two results have the same classes and numbers."""
    if type(found) is not type(expected):
        return False
    if isinstance(expected, np.ndarray):
        return found.dtype == expected.dtype and np.allclose(found, expected, rtol=1e-14, atol=0.0)
    if isinstance(expected, (tuple, list, deque)):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, dict):
        return [*found] == [*expected] and all(map(same, found.values(), expected.values()))
    if hasattr(expected, "__dataclass_fields__"):
        return all(same(getattr(found, n), getattr(expected, n)) for n in expected.__dataclass_fields__)
    return math.isclose(found, expected, rel_tol=1e-14) if isinstance(expected, float) else found == expected
