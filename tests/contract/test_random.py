"""Random numbers in staged code: kinds of draws in all places give the numbers that CPython's NumPy gives, and leave
the generator where that leaves it; so do derivatives. What draws on the host is refused with its line."""

import importlib.util
import itertools
import sys
import textwrap

import numpy as np
import pytest

import rosejit as rose
from tests.tables import crossed

DRAWS = {
    "random": "rng.random()",
    "uniform": "rng.uniform(-1.0, x)",
    "normal": "rng.normal(x, 2.0)",
    "scale": "rng.normal(scale=x)",
    "standard_normal": "rng.standard_normal() * x",
    "exponential": "rng.exponential(x)",
    "standard_exponential": "x - rng.standard_exponential()",
    "integers": "x * rng.integers(7)",
    "bounds": "x + rng.integers(-5, 2**40) * 1e-12",
    "staged bound": "x * rng.integers(k, 2 * k, endpoint=True)",
    "several": "rng.random(3)[2] * x",
    "matrix": "rng.normal(x, 1.5, size=(2, 2))[1, 0]",
    "array": "rng.normal(np.array([x, 2.0, 3.0]), x)[1]",
    "many integers": "x * rng.integers(0, 9, size=5)[3]",
    "integers of an array": "x * rng.integers([3, 8, 2**35])[2] * 1e-9",
    "choice": "x * rng.choice(5)",
    "choice of items": "x * rng.choice(np.array([1.0, 2.0, 4.0]), 2)[1]",
    "choice by weight": "x * rng.choice(4, p=[0.1, 0.2, 0.3, 0.4])",
    "sample": "x * rng.choice(9, 4, replace=False)[2]",
    "permutation": "x * rng.permutation(6)[1]",
    "shuffle": "x * shuffled(rng)",
}

PLACES = {
    "outside": "return DRAW + DRAW",
    "if": "y = 0.5\nif x > 0.0:\n    y = DRAW\nreturn y + rng.random()",
    "untaken if": "y = 0.5\nif x < 0.0:\n    y = DRAW\nreturn y + rng.random()",
    "both sides": "if k < 0:\n    y = DRAW\nelse:\n    y = rng.random() + DRAW\nreturn y * DRAW",
    "loop": "t = 0.0\nfor i in rose.range(k):\n    t += DRAW\nreturn t + rng.random()",
    "plain loop": "t = 0.0\nfor i in range(3):\n    t += DRAW\nreturn t + rng.random()",
    "staged range": "t = 0.0\nfor i in range(k):\n    if i % 2 == 1:\n        t += DRAW\nreturn t + rng.random()",
    "nested": "t = 0.0\nfor i in rose.range(2):\n    for j in rose.range(i + 1):\n        t = t * 0.5 + DRAW\nreturn t",
    "while": "t, n = 0.0, 0\nwhile abs(t) < 4.0 and n < k:\n    t += DRAW\n    n += 1\nreturn t + rng.random()",
    "condition": "t, n = 0.0, 0\nwhile rng.random() < 0.8 and n < 9:\n    t += DRAW\n    n += 1\nreturn t - DRAW",
    "break": "t = 0.0\nfor i in rose.range(9):\n    y = DRAW\n    if y > x / 2:\n        break\n    t += y\nreturn t",
    "return": "for i in rose.range(4):\n    y = DRAW\n    if y > x:\n        return y\nreturn DRAW",
    "comprehension": "ys = [DRAW for _ in rose.range(3)]\nreturn ys[0] - ys[2] + rng.random()",
    "short circuit": "y = 1.0\nif x > 0.0 and DRAW > 0.2 and DRAW < 0.9:\n    y = DRAW\nreturn y",
    "conditional": "y = DRAW if rng.random() < 0.5 else rng.random() - DRAW\nreturn y + DRAW",
    "plain callee": "return plain(x, k, rng) + plain(x, k, rng)",
    "decorated callee": "t = 0.0\nfor i in rose.range(k):\n    t += decorated(x, k, rng)\nreturn t + rng.random()",
    "recursion": "return recursive(x, k, rng) + DRAW",
    "closure": "def inner(s):\n    return s + DRAW\nreturn inner(1.0) * inner(2.0)",
    "object": "w = Walker(rng)\nt = 0.0\nfor i in rose.range(k):\n    t += w.step() + DRAW\nreturn t",
    "list": "rngs = [rng, np.random.default_rng(k_seed)]\nreturn DRAW + rngs[0].random() + rngs[1].normal()",
    "made inside": "rng = np.random.default_rng(5)\nt = 0.0\nfor i in rose.range(k):\n    t += DRAW\nreturn t",
    "made of bits": "rng = np.random.Generator(np.random.PCG64(7))\nreturn DRAW + DRAW",
    "staged seed": "rng = np.random.default_rng(k)\nreturn DRAW + DRAW",
    "made in a loop": "t = 0.0\nfor i in rose.range(k):\n    t += np.random.default_rng(i).normal()\nreturn t * DRAW",
}

HEAD = """
from dataclasses import dataclass

import numpy as np

import rosejit as rose
from tests.tables import crossed

k_seed = 11


class Walker:
    def __init__(self, rng):
        self.rng = rng

    def step(self):
        return self.rng.normal()


def shuffled(rng):
    y = np.arange(5)
    rng.shuffle(y)
    return y[2]


"""
HELPERS = {
    "plain": """
def plain_{n}(x: float, k: int, rng: np.random.Generator) -> float:
    return {draw} if x > 0.0 else 1.0
""",
    "decorated": """
@rose.jit
def decorated_{n}(x: float, k: int, rng: np.random.Generator) -> float:
    return {draw} if x > 0.0 else 1.0
""",
    "recursive": """
@rose.jit
def recursive_{n}(x: float, k: int, rng: np.random.Generator) -> float:
    if k <= 0:
        return x
    return recursive_{n}(x, k - 1, rng) + {draw}
""",
}
FUNCTION = """
def f_{n}(x: float, k: int, rng: np.random.Generator) -> float:
{body}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A module with a function for each kind of draw in each place, and for what these call."""
    text, names = HEAD, {}
    for n, (draw, place) in enumerate(itertools.product(DRAWS, PLACES)):
        body = PLACES[place].replace("DRAW", f"({DRAWS[draw]})")
        for called, helper in HELPERS.items():
            if f"{called}(" in body:
                body = body.replace(f"{called}(", f"{called}_{n}(")
                text += helper.format(n=n, draw=DRAWS[draw])
        text += FUNCTION.format(n=n, body=textwrap.indent(body, "    "))
        names[draw, place] = f"f_{n}"
    path = tmp_path_factory.mktemp("random") / "random_programs.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("random_programs", path)
    module = sys.modules["random_programs"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {key: getattr(module, name) for key, name in names.items()}


def runs(f, count=2, seed=42):
    """The results of calls in a row, and where the generator is then."""
    rng = np.random.default_rng(seed)
    return [f(1.25, 3, rng) for _ in range(count)], rng.bit_generator.state


@pytest.mark.parametrize(("draw", "place"), crossed(DRAWS, PLACES, 2))
def test_draws_are_those_of_numpy(programs, draw, place):
    f = programs[draw, place]
    assert runs(rose.jit(f)) == runs(f)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("draw", ["normal", "exponential", "integers", "shuffle"])
def test_the_interpreter_draws_the_same(programs, draw, place):
    f = programs[draw, place]
    with rose.disable_jit():
        assert runs(rose.jit(f), 1) == runs(f, 1)


SMOOTH = (
    *("outside", "if", "untaken if", "loop", "nested"),
    *("comprehension", "decorated callee", "recursion", "made inside"),
)


@pytest.mark.parametrize(("draw", "place"), crossed(DRAWS, SMOOTH, 3))
def test_derivatives_draw_once(programs, draw, place):
    """Values and states of all derivatives are those of the function, and slopes those of its differences."""
    f = programs[draw, place]
    g, h = rose.jit(f), 1e-4

    def at(x):
        return f(x, 3, np.random.default_rng(42))

    slope = (at(1.25 + h) - at(1.25 - h)) / (2 * h)
    expected, state = runs(f, 1)
    before = np.random.default_rng(42).bit_generator.state
    ways = {
        "grad": lambda rng: (expected[0], rose.grad(g)(1.25, 3, rng)),
        "value_and_grad": lambda rng: rose.value_and_grad(g)(1.25, 3, rng),
        "jvp": lambda rng: rose.jvp(g, (1.25, 3, rng), (1.0, None, None)),
        "jacfwd": lambda rng: (expected[0], rose.jacfwd(g)(1.25, 3, rng)),
        "jacrev": lambda rng: (expected[0], rose.jacrev(g)(1.25, 3, rng)),
        "vjp": lambda rng: (lambda y, back: (y, back(1.0)[0]))(*rose.vjp(g, 1.25, 3, rng)),
        "linearize": lambda rng: (lambda y, along: (y, along(1.0, None, None)))(*rose.linearize(g, 1.25, 3, rng)),
    }
    for name, way in ways.items():
        rng = np.random.default_rng(42)
        value, found = way(rng)
        assert value == expected[0], name
        assert found == pytest.approx(slope, rel=1e-6, abs=1e-6), name
        if place != "made inside":
            assert rng.bit_generator.state == state, name
    rng = np.random.default_rng(42)
    second = (at(1.25 + h) - 2 * at(1.25) + at(1.25 - h)) / h**2
    assert rose.hessian(g)(1.25, 3, rng) == pytest.approx(second, rel=1e-4, abs=1e-4)
    assert rng.bit_generator.state == (state if place != "made inside" else before)
