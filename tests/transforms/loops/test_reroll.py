"""Repetitions that become loops: the same results, bit for bit, of fewer lets."""

import itertools
import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, interp
from rosejit.ir.traversal import lets, size
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.loops import let_rows
from rosejit.transforms.loops import reroll as rerolling
from rosejit.transforms.passes.insert_copies import insert_copies
from tests.backends import bits
from tests.frontend.oracle import define, run, stage


class Body:
    """A state that its own methods change."""

    def __init__(self, x, v):
        self.x, self.v, self.log = x, v, []

    def step(self, dt):
        self.v = self.v - dt * self.x
        self.x = self.x + dt * self.v
        self.log.append(self.x * self.v)


HEAD = "def f(x: float, m: Array[30, 2]):\n    s = x\n    "
FORMS = {
    "fields of an object": "b = Body(x, 0.5)\nfor i in range(30): b.step(0.1)\ns = sum(b.log) + b.x",
    "a dict": (
        "d = {'a': x, 'b': 0.5}\nfor i in range(30):\n    d['a'] += d['b'] * 0.1\n"
        "    d['b'] = math.tanh(d['a'])\ns = d['b']"
    ),
    "items of a list": "p = [x, 0.5]\nfor i in range(30): p[0], p[1] = p[0] + p[1] * 0.1, p[0] * 0.7\ns = p[0] * p[1]",
    "a list by itself": "p = [x]\nfor i in range(30): p.append(math.sin(p[-1]) + p[i] * 0.5)\ns = p[-1] + p[7]",
    "two and three before": "p = [x, 0.5, x]\nfor i in range(30): p.append(p[-1] * 0.5 + p[-3] * x)\ns = p[-1] - p[-2]",
    "under an if of the host": (
        "p = []\nfor i in range(60):\n    s = s * 0.9 + x\n    if i % 3 == 0: p.append(s)\ns = sum(p)"
    ),
    "pairs of a dict": (
        "for (a, b), w in {(i, i + 1): 0.1 * i for i in range(30)}.items(): s += w * m[a, 0] * m[b - 1, 1]"
    ),
    "rows and slices": "y = np.zeros(60)\nfor i in range(30): y[2 * i:2 * i + 2] = m[i] * x\ns = y[3:55:2].sum()",
    "branches": "for i in range(30):\n    d = {'a': s}\n    if d['a'] > 1.0: s = s * x\n    else: s += m[i, 1]",
    "a while": (
        "for i in range(30):\n    d = {'a': s}\n    while d['a'] > 1.0: d['a'] = d['a'] * x\n    s = d['a'] + m[i, 0]"
    ),
    "checks": (
        "for i in range(30):\n    d = {'a': s}\n    if d['a'] > 1e9: raise ValueError('too much')\n"
        "    s = d['a'] * x + 1.0"
    ),
    "a list of matrices": (
        "p = []\nfor i in range(30): p.append({'m': np.outer(m[i], m[i]) * x})\nfor q in p: s += np.trace(q['m'])"
    ),
    "complex": "z = 0j\nfor i in range(30): z = z * complex(x, 0.5) + 1.0\ns = abs(z)",
    "products of ranges": "for i, j in itertools.product(range(9), range(9)): s += x * i * m[j, 0]",
    "triangles": "for i in range(30):\n    for j in range(i): s += m[i, 0] * m[j, 1] * x",
    "ints": "k = 0\nfor i in range(30):\n    d = {'k': k}\n    k = d['k'] + (2 if m[i, 0] > 0 else i)\ns = x * k",
    "-0.0 and nan": (
        "d = {'s': -0.0}\nfor i in range(30): d['s'] = d['s'] * -0.0 + (math.nan if i == 29 else -0.0)\ns = d['s'] * x"
    ),
}


@pytest.fixture
def always(monkeypatch):
    """Whatever it saves."""
    monkeypatch.setattr(rerolling, "LEAST", 1)
    monkeypatch.setattr(let_rows, "NESTED", 1)


M = np.sin(np.arange(60.0)).reshape(30, 2)


def made(body):
    text = HEAD + body.replace("\n", "\n    ") + "\n    return s\n"
    f = define(text, Array=Array, Body=Body, itertools=itertools, math=math, np=np)
    return f, stage(f, 0.75, M)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_bits(form, monkeypatch, always):
    f, rolled = made(FORMS[form])
    monkeypatch.undo()
    g, unrolled = made(FORMS[form])
    wanted = [bits(run(unrolled, g, x, M)) for x in (0.75, -1.25)]
    verify_program(rolled.function)
    assert [bits(run(rolled, f, x, M)) for x in (0.75, -1.25)] == wanted
    assert size(rolled.function) < max(0.75 * size(unrolled.function), 50)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_gradient(form, monkeypatch, always):
    rolled = rose.grad(made(FORMS[form])[0], argnums=(0, 1))(0.75, M)
    monkeypatch.undo()
    wanted = rose.grad(made(FORMS[form])[0], argnums=(0, 1))(0.75, M)
    np.testing.assert_allclose(rolled[0], wanted[0], rtol=1e-12)
    np.testing.assert_allclose(rolled[1], wanted[1], rtol=1e-12, atol=1e-14)


def test_short_loops_stay():
    assert size(made(FORMS["a dict"])[1].function) > 80


def test_what_is_asked_for_stays_unrolled(always):
    body = "d = {'s': s}\nfor i in rose.unroll(range(30)): d['s'] = d['s'] * x + m[i, 0]\ns = d['s']"
    _, staged = made("import rosejit as rose\n" + body)
    assert size(staged.function) > 80


def parsed(text):
    """As if all of it came of one line."""
    f = parse(text)
    for let in f.body.lets:
        let.span = None
    return f


REPEATED = "let {0} = {1} * x in let {2} = a@[{3}] in let {4} = {0} + {2} in "


@pytest.mark.parametrize(
    "places",
    [range(12), range(24, 0, -2), [3] * 12, [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]],
    ids=["up", "down by two", "one", "any"],
)
def test_places_in_an_array(places, always):
    """By the index where they go evenly, else from an array of places."""
    text = "".join(
        REPEATED.format(f"p{k}", f"s{k - 1}" if k else "x", f"q{k}", place, f"s{k}") for k, place in enumerate(places)
    )
    f = parsed(f"def f(x: Real, a: [25]Real): Real, Real = {text}s11, s5")
    new = insert_copies(f.with_body(rerolling.reroll(f.body)))
    verify_program(new)
    args = [0.7, [0.1 * k for k in range(25)]]
    assert interp.run(new, args) == interp.run(f, args)
    assert len(list(lets(new.body))) < 10


@pytest.mark.parametrize(
    "broken", ["s3", "s0 * x", "x * s8"], ids=["a value of long before", "another operation", "the other way round"]
)
def test_what_is_no_loop_stays(broken, always):
    text = "".join(REPEATED.format(f"p{k}", f"s{k - 1}" if k else "x", f"q{k}", 3, f"s{k}") for k in range(9))
    text += f"let s9 = {broken if '*' in broken else broken + ' + x'} in "
    text += REPEATED.format("p10", "s9", "q10", 3, "s10")
    f = parsed(f"def f(x: Real, a: [25]Real): Real = {text}s10")
    new = f.with_body(rerolling.reroll(f.body))
    assert interp.run(new, [0.7, [0.1] * 25]) == interp.run(f, [0.7, [0.1] * 25])
