"""Pullbacks and pushforwards with every kind of thing that a forward pass keeps: function, primals, cotangent."""

import math
import os
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec


@dataclass(frozen=True)
class Body:
    mass: float
    place: Vec[3]
    name: str = "a"


class Pair(NamedTuple):
    left: float
    right: Vec["n"]


def of_body(b: Body, k: int):
    return {"energy": b.mass * (b.place * b.place).sum() ** k, "name": b.name, "twice": 2 * k, "body": b}


def of_pair(p: Pair) -> Pair:
    return Pair(p.left * p.right.sum(), np.sin(p.right) * p.left)


def several(x: float, y: Vec["n"], z: list[float]):
    return [x * y, (z[0] * z[1], x * x)], None


def branch(x: float) -> float:
    if x > 1.0:
        y = math.sin(x) * x
        return y * y
    return math.exp(x)


def either(x: float, y: Vec["n"]) -> float:
    """The sides keep things of different types."""
    if x > 0.0:
        z = np.sin(y * x)
        return (z * z).sum()
    if x > -1.0:
        return x**3 * y[0]
    return math.cos(x)


def loop(x: Vec["n"]) -> float:
    total = 1.0
    for i in rose.range(len(x)):
        total = math.sin(total * x[i]) + x[i]
    return total


def loop_of_branches(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x)):
        if x[i] > 0.5:
            y = np.sin(x * x[i])
            total = math.sin(total) + (y * y).sum()
        else:
            total = total * math.exp(x[i])
    return total


def search(x: float) -> float:
    """How often it goes round only the run knows."""
    y = x
    while abs(y * y - x) > 1e-12:
        y = 0.5 * (y + x / y)
    return y


def search_of_arrays(x: Vec["n"]) -> float:
    y = x.copy()
    while (y * y).sum() < 1000.0:
        y = y * 1.5 + np.sin(y)
    return y.sum()


def search_in_a_search(x: float) -> float:
    total, y = 0.0, x
    while y < 20.0:
        z = y
        while z > 1.0:
            z = math.sqrt(z) * 0.9
            if z > 2.0:
                total = total + math.sin(z) * z
        total = total * 0.5 + z
        y = y * 1.7
    return total


def never_entered(x: float) -> float:
    y = x
    while y > 100.0:
        y = math.sin(y) * y
    return y * y


@rose.jit
def tree(x: float, n: int) -> float:
    if n < 2:
        return math.sin(x) * x
    return tree(x * 0.9, n - 1) * math.cos(x) + tree(x * 1.1, n - 2)


@rose.jit
def chain(x: float, n: int) -> float:
    return x if n == 0 else math.sin(chain(x, n - 1)) + x


def updates(x: Mat["n", "m"]) -> Vec["n"]:
    y = np.zeros(x.shape)
    for i in rose.range(x.shape[0]):
        for j in rose.range(x.shape[1]):
            y[i, j] += x[i, j] * x[i - 1, j] ** 2
    return y.sum(axis=1)


def checkpointed(x: float) -> float:
    y = x
    for _ in rose.range(50, checkpoint=True):
        y = math.sin(y) + 0.1 * x
    return y


def solved(a: Mat["n", "n"], b: Vec["n"]) -> Vec["n"]:
    return np.linalg.solve(a, b)


def phase(z: complex) -> complex:
    return z * z + 1.0 / z


def half(x):
    return (x * x * x).sum()


@rose.opaque
def outside(x: float) -> float:
    return math.log(x)


@outside.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(outside(x.re), x.du / x.re)


def with_host_function(x: float) -> float:
    return outside(x) * x


def with_checks(x: Vec["n"], i: int) -> float:
    if x[i] > 100.0:
        raise KeyError("large")
    return x[i] ** 3


SCALE = np.array([1.0, 2.0, 4.0])


def captured(x: Vec[3]) -> float:
    return (SCALE * np.sin(x)).sum()


def drawn(rng: np.random.Generator, x: float) -> float:
    return rng.normal() * x * x


V = np.linspace(0.1, 1.2, 9)
A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.3, 0.1, 2.0]])
BODY = Body(2.0, np.array([0.5, 1.0, -0.25]))
GRADIENT = rose.grad(loop)
CASES = {
    "number": (branch, (1.7,), 1.0),
    "other side": (branch, (0.3,), 2.0),
    "array": (lambda x: np.sin(x) * x, (V,), V),
    "matrix": (lambda a, x: a @ x, (A, A[0]), A[1]),
    "class": (of_body, (BODY, 2), {"energy": 1.5, "name": None, "twice": None, "body": Body(0.5, np.ones(3))}),
    "named tuple": (of_pair, (Pair(2.0, V),), Pair(1.0, V)),
    "lists": (several, (2.0, V, [3.0, 4.0]), ([V, (1.0, 2.0)], None)),
    "first of two": (either, (0.7, V), 1.0),
    "second of two": (either, (-0.7, V), 1.0),
    "none of two": (either, (-2.0, V), 1.0),
    "loop": (loop, (V,), 1.0),
    "empty loop": (loop, (np.zeros(0),), 1.0),
    "loop of branches": (loop_of_branches, (V,), 1.0),
    "search": (search, (2.0,), 1.0),
    "search of arrays": (search_of_arrays, (V,), 1.0),
    "search in a search": (search_in_a_search, (3.0,), 1.0),
    "search that ends at once": (never_entered, (3.0,), 1.0),
    "recursion": (tree, (0.8, 9), 1.0),
    "deep recursion": (chain, (0.8, 1500), 1.0),
    "updates": (updates, (A,), A[0]),
    "checkpoints": (checkpointed, (0.5,), 1.0),
    "solve": (solved, (A, A[0]), A[1]),
    "complex": (phase, (1.0 + 2.0j,), 1.0 - 0.5j),
    "float32": (half, (V.astype(np.float32),), np.float32(1.0)),
    "host function": (with_host_function, (3.0,), 1.0),
    "checks": (with_checks, (V, 3), 1.0),
    "captured": (captured, (A[0],), 1.0),
    "random": (drawn, (np.random.default_rng(0), 2.0), 1.0),
    "order 2": (GRADIENT, (V,), V),
    "order 2 of a search": (rose.grad(search_of_arrays), (V,), V),
    "order 2 of recursion": (rose.grad(tree), (0.8, 6), 1.0),
    "order 3": (rose.hessian(loop), (V[:3],), A),
    "batch": (rose.vmap(branch), (V,), V),
}


def tangents(primals):
    """One for each: itself, `None` for what has none."""
    return [None if isinstance(x, int) else x for x in primals]


def maps(name):
    """The pullback and the pushforward of a case, with what they are given."""
    f, primals, ct = CASES[name]
    primals = [np.random.default_rng(0) if isinstance(x, np.random.Generator) else x for x in primals]
    found = {"pullback": (rose.vjp(f, *primals)[1], [ct])}
    if name not in ("random",):
        found["pushforward"] = (rose.linearize(f, *primals)[1], tangents(primals))
    return found


def told(found):
    """All of a result to the last bit."""
    if isinstance(found, (tuple, list)):
        return [type(found).__name__, *map(told, found)]
    if isinstance(found, dict):
        return {key: told(value) for key, value in found.items()}
    if isinstance(found, Body):
        return ["Body", told(found.mass), told(found.place), found.name]
    return (str(found.dtype), found.shape, found.tobytes()) if isinstance(found, np.ndarray) else repr(found)


def calls(pickles):
    """What a worker does: each map is called twice, and sent on as it is."""
    import pickle

    found = {}
    for key, text in pickles.items():
        linear, given = pickle.loads(text)
        found[key] = [told(linear(*given)), told(linear(*given)), told(pickle.loads(pickle.dumps(linear))(*given))]
    return found, os.getpid()
