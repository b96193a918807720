"""Runs of lets that a block has often become calls of one function: the same results, bit for bit, of fewer lets."""

import math
import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, interp
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms, lets, size
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from rosejit.transforms.loops import outline as outlining
from rosejit.transforms.loops import reroll
from rosejit.transforms.passes.inline import inline
from rosejit.transforms.passes.insert_copies import insert_copies
from tests.backends import bits, wasm
from tests.frontend.oracle import define, run, stage
from tests.laws import check_laws


@dataclass(frozen=True)
class Range:
    distance: float


@dataclass(frozen=True)
class Bearing:
    distance: float
    angle: float


KINDS = [None, Range, Bearing, Range, None, Bearing, Bearing, Range, None, Range, None, None, Bearing, Range, Bearing]
SEEN = [k and k(*[0.3 * i - 1.0, 0.2 + 0.1 * i][: len(k.__annotations__)]) for i, k in enumerate(KINDS)]

HEAD = "def f(x: float, m: Array[40, 2]):\n    s, v = x, [x, 0.5, -x]\n    "
HELPERS = """
def wrap(a):
    while a > 1.0: a = 2.0 - a
    while a < -1.0: a = -2.0 - a
    return a

def moved(v, s, k=0.5):
    g = v[0] * s if v[0] > v[1] else v[1] * s
    return [wrap(v[1] + g), wrap(g * k), v[0] + v[2]]

def seen(v, z):
    if isinstance(z, Range): return [v[0], wrap(z.distance * v[1]), v[2]]
    return [wrap(v[0] + z.angle), v[1] * math.sin(z.distance), v[2] * 0.5]

def raising(v, s):
    if s > 1e9: raise ValueError('too much')
    return moved(v, s)

def filled(v, s):
    a = np.zeros(3)
    for i in rose.range(3): a[i] = v[i] * s
    if a[0] > a[1]: a[2] = a[0] - a[1]
    return [a[0], wrap(a[1]), a[2]]

"""
FORMS = {
    "things of several kinds": "for z in SEEN:\n    v = moved(v, s)\n    if z is not None: v = seen(v, z)",
    "the kinds of several texts": "for w in 'abbacabcabbcaabccba':\n    v = moved(v, s) if w == 'a' else filled(v, s)\n"
    "    if w == 'c': s = wrap(v[0])",
    "constants that differ": "for k, z in enumerate(SEEN): v = moved(v, s, 0.1 * k) if z is None else moved(v, 0.3)",
    "errors": "for z in SEEN: v = raising(v, s) if z is None else moved(v, s)",
    "small arrays": "a = np.array([1.0, 2.0, x])\nfor k in (0, 1, 2, 1, 0, 0, 2, 2, 1, 1, 0, 1):\n"
    "    a[k] = wrap(a[k] * s)\n    v = moved(v, a[0])",
    "a large array that is read": "for k in (0, 9, 3, 3, 1, 20, 5, 1, 9): v = moved(v, m[k, 0])",
    "a large array that is written": "a = m * 1.0\nfor k in (0, 9, 3, 3, 1, 20, 5, 1, 9):\n"
    "    v = moved(v, a[k, 0])\n    a[k, 1] = v[0]\ns = a.sum()",
    "in a loop": "for i in rose.range(3):\n    for z in SEEN: v = moved(v, s) if z is None else filled(v, m[i, 1])",
    "what only some of them are asked for": "t = []\nfor z in SEEN:\n    w = moved(v, s)\n"
    "    v = w if z is None else [w[0], s, w[2]]\n    if isinstance(z, Range): t.append(w[1])\ns = sum(t)",
    "a dict": "b = {'v': v}\nfor z in SEEN:\n    b['v'] = moved(b['v'], s)\n    if z is None: b['v'][0] *= 0.5\n"
    "v = b['v']",
}
M = np.sin(np.arange(80.0)).reshape(40, 2)
POINTS = (0.75, -1.25)


@pytest.fixture
def always(monkeypatch):
    """Whatever it saves."""
    monkeypatch.setattr(outlining, "LEAST", 1)
    monkeypatch.setattr(outlining, "LONG", 4)
    monkeypatch.setattr(reroll, "LEAST", 10**15)


def made(body):
    text = HELPERS + HEAD + body.replace("\n", "\n    ") + "\n    return s + v[0] * v[1] - v[2]\n"
    scope = {"Array": Array, "Range": Range, "Bearing": Bearing, "SEEN": SEEN, "math": math, "np": np, "rose": rose}
    f = define(text, **scope)
    return f, stage(f, 0.75, M)


def calls(f):
    return Counter(let.expr.function for let in lets(f.body) if isinstance(let.expr, ir.Call))


@pytest.mark.parametrize("form", FORMS)
def test_the_same_bits(form, monkeypatch, always):
    f, outlined = made(FORMS[form])
    monkeypatch.undo()
    g, unrolled = made(FORMS[form])
    wanted = [bits(run(unrolled, g, x, M)) for x in POINTS]
    verify_program(outlined.function)
    assert [bits(run(outlined, f, x, M)) for x in POINTS] == wanted
    np.testing.assert_allclose([f(x, M) for x in POINTS], [run(outlined, f, x, M) for x in POINTS], rtol=1e-15)
    found = calls(outlined.function)
    assert not calls(unrolled.function)
    assert max(found.values()) >= outlining.FEWEST
    assert size(outlined.function) + sum(size(g) for g in found) < 0.75 * size(unrolled.function)


@pytest.mark.parametrize("form", FORMS)
def test_derivatives(form, always):
    """Reverse mode, forward mode and differences agree, and the compiled code with Python."""
    f = made(FORMS[form])[0]
    compiled, x, step = rose.jit(f), 0.75, 1e-6
    np.testing.assert_allclose(compiled(x, M), f(x, M), rtol=1e-14)
    slope, by = rose.grad(compiled, argnums=(0, 1))(x, M)
    d = np.cos(np.arange(80.0)).reshape(40, 2)
    forward = rose.jvp(compiled, (x, M), (1.0, d))[1]
    np.testing.assert_allclose(forward, slope + (by * d).sum(), rtol=1e-10, atol=1e-12)
    difference = (f(x + step, M + step * d) - f(x - step, M - step * d)) / (2 * step)
    np.testing.assert_allclose(forward, difference, rtol=1e-5, atol=1e-6)
    second = rose.grad(rose.grad(compiled))(x, M)
    up, down = (rose.grad(compiled)(x + e, M) for e in (step, -step))
    np.testing.assert_allclose(second, (up - down) / (2 * step), rtol=1e-5, atol=1e-5)


def test_an_error_is_told_where_it_is(always):
    f, staged = made(FORMS["errors"])
    assert calls(staged.function)
    with pytest.raises(ValueError, match="too much") as told:
        rose.jit(f)(2e9, M)
    with pytest.raises(ValueError, match="too much") as wanted:
        f(2e9, M)
    assert str(told.value) == str(wanted.value)


def test_what_is_asked_for_stays_unrolled(always):
    _, staged = made(FORMS["things of several kinds"].replace("SEEN:", "rose.unroll(SEEN):"))
    assert not calls(staged.function)


def test_large_arrays_are_not_copied(always):
    """What writes to an array from around stays where it is."""
    _, staged = made(FORMS["a large array that is written"])
    functions = calls(staged.function)
    copied = [let for g in functions for let in forms(insert_copies(g).body) if isinstance(let.expr, ir.Copy)]
    assert functions
    assert not copied


def test_short_programs_stay():
    assert not calls(made(FORMS["things of several kinds"])[1].function)


G = """
def g(x: Real, y: Real, a: [4]Real): Real, Real, [4]Real =
  let p = x * y in let q = a@[2] in let up = p < q in
  let r = if up {{ let u = p + q in u }} {{ let u = p - {c} in u }} in
  let b = update a@[1] = r in let h = sin(r) in let k = h * y in
  {more} r, k, b
"""


@pytest.mark.parametrize("seed", range(30))
def test_what_was_inlined_becomes_functions_again(seed, always):
    """Calls of two or three functions, with operands of each other's, are put in place, and found."""
    rng = random.Random(seed)
    names = ["g", "h", "k"][: rng.randint(2, 3)]
    text = "".join(
        G.format(c=0.5 + n, more="let r2 = k * 0.5 in let k2 = r2 - h in" if n else "").replace("def g", f"def {name}")
        for n, name in enumerate(names)
    )
    numbers, arrays, body = ["x", "y"], ["a"], []
    for k in range(rng.randint(12, 30)):
        x, y, a = rng.choice(numbers), rng.choice([*numbers, "0.25", "-0.0"]), rng.choice(arrays[-2:])
        body.append(f"  let r{k}, k{k}, b{k} = {rng.choice(names)}({x}, {y}, {a}) in")
        numbers, arrays = [*numbers, f"r{k}", f"k{k}"], [*arrays, f"b{k}"]
    head = "def f(x: Real, y: Real, a: [4]Real): Real, [4]Real =\n"
    f = parse(text + head + "\n".join(body) + f"\n  {rng.choice(numbers[2:])}, {rng.choice(arrays[1:])}")
    flat = inline((f,), small=10**6)[f]
    assert not calls(flat)
    new = flat.with_body(outlining.outline(flat.body, "f"))
    assert calls(new)
    assert size(new) < size(flat)
    flat, new = insert_copies(flat), insert_copies(new)
    verify_program(new)
    args = [0.7, -1.5, [0.5, -0.0, 1.5, 2.0]]
    assert repr(interp.run(new, [*args])) == repr(interp.run(flat, [*args])) == repr(wasm(new)([*args]))
    if seed % 5 == 0:
        check_laws(new, args, order=2)


def test_a_text_without_words_is_gone_through_a_few_times(monkeypatch):
    """Of 100,000 letters at random; where they repeat, all is found."""
    rng, seen = random.Random(0), []
    monkeypatch.setattr(outlining, "Counter", lambda text: seen.append(0) or Counter(text))
    text = [rng.randrange(400) for _ in range(100_000)]
    outlining._joined(text)
    assert len(seen) < 24
    words, starts, sizes = outlining._joined([*range(25)] * 400)
    assert {sizes[word] for word in words} == {25}
    assert starts == [*range(0, 10_000, 25)]
