"""Plain `range` loops: rolled where that gives the same bits as unrolled, and unrolled everywhere else."""

import dataclasses
import math
import struct
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from rosejit import Array
from rosejit.errors import RoseError
from rosejit.frontend.hints.hints import Mat, Vec
from rosejit.frontend.rolling import abstract_run, decide
from rosejit.frontend.values import rose_functions as rose
from rosejit.ir.traversal import size
from tests.frontend.loops_generate import loop
from tests.frontend.oracle import agrees, define, run, stage


def price(a, k, rate=0.1, *, scale=2.0):
    if a < 0.0:
        return -a * rate
    total = k * scale
    for j in range(3):
        total += a * j
    return total


def smooth(y, i):
    return (y[max(i - 1, 0)] + y[i]) / 2 if i % 2 else y[0]


def twice(f, y, i):
    return f(y, i) + f(y, 2 * i % 100)


def spread(row):
    low, high = row[0], row[0]
    for a in row:
        low, high = min(low, a), max(high, a)
    work = np.zeros(2)
    work[0] = high - low
    return work[0], low


def marched(row, limit):
    t = 0.0
    for a in row:
        t += max(a * a, 0.1)
        if t > limit:
            break
    for _ in range(4):
        if t * t > limit:
            return t
        t = t * 1.5
    return t - limit


def halves(row, x):
    low, high = [], []
    for k, a in enumerate(row):
        low.append(a * x)
        if k > 0:
            high.append(a - x)
    return low, high


def one_of(y, z, k):
    for j in range(2):
        if k > 90 + j:
            return y
    return z


def settled(row, x):
    y = np.zeros(3)
    for k in range(5):
        w = np.tanh(y * x + row)
        if w @ w > 2.0 + x:
            break
        y = w + y * 0.1
    return y @ row


def first_above(v, least):
    for k in range(100):
        if v[k] < -0.9:
            continue
        if v[k] > least:
            return v[k] * k
    return least


def conjugate(d, b):
    x, r = np.zeros(3), b.copy()
    p, rr = r.copy(), r @ r
    for _ in range(9):
        q = d * p
        a = rr / (p @ q)
        x += a * p
        r -= a * q
        new = r @ r
        if new < 1e-9:
            break
        p = r + (new / rr) * p
        rr = new
    return x


def again(a, k):
    return a if k == 0 else a * again(a, k - 1)


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass
class Point:
    x: float
    y: float

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def times(self, k):
        return Point(self.x * k, self.y * k)

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def length(self):
        return math.sqrt(self.dot(self))


SCOPE = {"Pair": Pair, "Point": Point, "math": math, "np": np, "rose": rose, "Vec": Vec, "Mat": Mat}
SCOPE |= {
    "replace": dataclasses.replace,
    "price": price,
    "smooth": smooth,
    "twice": twice,
    "spread": spread,
    "settled": settled,
    "first_above": first_above,
    "conjugate": conjugate,
    "again": again,
    "halves": halves,
    "one_of": one_of,
    "marched": marched,
}
V = np.linspace(-1.0, 2.0, 100)
M = np.linspace(-1.0, 1.0, 300).reshape(100, 3)
COUNT = 40


@pytest.fixture
def reasons(monkeypatch):
    """Why loops were not rolled; the empty string for those that were."""
    found = []
    why_not = decide.why_not

    def noting(*args):
        found.append(why_not(*args))
        return found[-1]

    monkeypatch.setattr(decide, "why_not", noting)
    return found


def function(body: str, result: str = "s", **more):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"def f(x: float, n: int, v: Vec[100], m: Mat[100, 3]):\n    s = 0.0\n{lines}    return {result}\n"
    return define(text, **SCOPE, **more)


def bits(value):
    """A result so that equal means the same bits."""
    if isinstance(value, (tuple, list)):
        return tuple(map(bits, value))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.kind, tuple(map(bits, value.ravel().tolist()))
    if isinstance(value, float):
        return "nan" if value != value else struct.pack("<d", value)
    return type(value).__name__, value


ROLLED = {
    "the largest of a list": "for i in range(100):\n    p = [s * x, v[i]]\n    s += max(p) + min(a * x for a in p) - max([x, 0.5])",
    "an attribute of a class": "class Plain:\n    g = 9.81\no = Plain()\nfor i in range(100):\n    s += v[i] * o.g",
    "a sum": "for i in range(len(v)):\n    s += v[i] * v[i]",
    "the index as a real": "for i in range(100):\n    s += v[i] * i + i / 4 - (2 * i + 1) * x",
    "an array that a triangle binds": "for i in range(20):\n    for j in range(i + 1, 20):\n        d = m[i] - m[j]\n        s += d @ d",
    "an array that a triangle binds again": "d = m[0]\nfor i in range(20):\n    for j in range(i + 1, 20):\n        d = m[i] - m[j]\n        s += d @ d",
    "powers of the index": "for i in range(100):\n    s += x * i ** 3",
    "an int that widens": "s = 0\nfor i in range(100):\n    s = s + v[i]",
    "steps": "for i in range(3, 300, 4):\n    s += x * i",
    "backwards": "for i in range(99, -1, -1):\n    s = s * x + v[i]",
    "arithmetic of the index": "for i in range(100):\n    s += v[(i * 7 + 3) % 100] * (i // 3) - v[-i]",
    "tests of the index": "for i in range(100):\n    if 0 < i < 99 and not i == 7:\n        s += v[i]\n    elif i > 90 or x > 9:\n        s -= x",
    "a choice": "for i in range(100):\n    s += v[i] if i % 2 else x",
    "a short loop inside": "for i in range(100):\n    for j in range(3):\n        s += m[i, j]",
    "a loop of changing length": "for i in range(16):\n    for j in range(i, 16):\n        s += v[i] * v[j]",
    "a long loop inside": "for i in range(16):\n    for j in range(16):\n        s += v[i] * j",
    "a staged loop inside": "for i in range(16):\n    for j in rose.range(n):\n        s += v[i] * j",
    "a while inside": "for i in range(16):\n    e = v[i] * v[i]\n    while e > 0.01:\n        e = e / 2\n    s += e",
    "break": "for i in range(100):\n    s += v[i]\n    if s < x:\n        break",
    "a break that the index decides": "for i in range(100):\n    s += x\n    if i == 70:\n        break",
    "the index of inner loops that are left": "for i in range(16):\n    for j in range(3):\n        if v[j] > x:\n            continue\n        if v[j] > i:\n            break\n        s += m[i, j] * j",
    "an array that is made anew beside its old name": "y = v * x\nz = y\nfor i in range(16):\n    y = y * 0.5\ny[0] = 3.0\ns = y + z",
    "continue": "for i in range(100):\n    if v[i] < x:\n        continue\n    s += v[i]",
    "return": "for i in range(100):\n    if v[i] > x:\n        return v[i]",
    "a list of the host inside": "pairs = [(0, 1, 0.5), (1, 2, 0.25)]\nfor i in range(100):\n    for a, b, c in pairs:\n        s += (v[a] - v[b]) * c * x",
    "few iterations of much": "pairs = [(k % 3, k % 5, 0.01 * k) for k in range(100)]\nfor i in range(20):\n    for a, b, c in pairs:\n        s += (v[a] - v[b] * x) * c + s * 0.001 * x * c + v[i] * c",
    "a list of arrays inside": "pairs = [(v, 0.5), (m[0] * x, 0.25)]\nfor i in range(100):\n    for a, c in pairs:\n        s += a[i % 3] * c - s * 0.01 * a[1]",
    "an array is taken apart": "y = m[0] * x\nfor i in range(100):\n    a, b, c = y\n    y = np.array([b, c + x, a * 0.5])\ns = y.sum()",
    "rows are taken apart": "for i in range(100):\n    a, b, c = m[i]\n    s += a * b - c * x",
    "a name bound in it": "y = x\nfor i in range(100):\n    y = v[i] * 2\ns = y",
    "bound in it for the first time": "for i in range(100):\n    y = v[i] * 2\ns = y",
    "names that change places": "a, b = x, s\nfor i in range(100):\n    a, b = b, a + v[i]\ns = a - b",
    "stores": "y = np.zeros(100)\ny[0] = 1.0\nfor i in range(1, 100):\n    y[i] = y[i - 1] * v[i]\ns = y",
    "stores under a test": "y = v.copy()\nfor i in range(100):\n    if i > 0:\n        y[i] += y[i - 1]\ns = y",
    "a matrix": "y = np.zeros((100, 3))\nfor i in range(100):\n    for j in range(3):\n        y[i, j] = m[i, j] * x\ns = y",
    "an array bound anew": "y = v * x\nfor i in range(16):\n    y = y * 0.5 + v\ns = y",
    "zeros at first": "y = np.zeros(3)\nfor i in range(100):\n    y = np.tanh(y * x + m[i])\ns = y",
    "in place": "y = v.copy()\nfor i in range(16):\n    y *= x\ns = y",
    "a new array in every iteration": "for i in range(100):\n    y = np.array([v[i], x])\n    y[0] += 1.0\n    s += y.sum()",
    "functions": "for i in range(100):\n    s += math.sin(v[i]) + max(v[i], x) + abs(v[i]) + np.exp(-x) + float(i)",
    "reductions": "for i in range(100):\n    s += m[i].sum() + np.dot(m[i], m[i]) + m[i] @ m[0]",
    "zero is exact": "t = 0.0\nfor i in range(100):\n    s += math.sin(t) + math.cos(t)\n    t = t + x",
    "a list of the host": "w = [1.0, x, 2.0]\nfor i in range(100):\n    for j in range(3):\n        s += m[i, j] * w[j]",
    "a test of the host": "fast = True\nfor i in range(100):\n    if fast:\n        s += v[i]\n    else:\n        s += 1",
    "an else": "for i in range(16):\n    s += x\nelse:\n    s += 1",
    "indices": "at = np.arange(100)[::-1]\nfor i in range(100):\n    s = s * x + v[at[i]]",
    "a staged condition": "for i in range(100):\n    if x > 0:\n        s += v[i]\n    else:\n        k = 3",
    "the elements of an array": "for a in v:\n    s = s * x + a",
    "the elements of an array of the host": "w = np.linspace(0.5, 2.0, 80)\nfor a in w:\n    s = s * x + a",
    "rows": "for row in m:\n    s = s * x + row[0] * row[2] + row.sum()",
    "rows and their elements": "for row in m:\n    for a in row:\n        s = s * x + a",
    "enumerate": "for i, a in enumerate(v):\n    s = s * x + a * i - v[(i * 7) % 100]",
    "enumerate from three": "for i, a in enumerate(v, 3):\n    s = s * x + a * i",
    "enumerate in a loop": "for i in range(20):\n    for j, a in enumerate(m[i]):\n        s = s * x + a * j + i",
    "zip": "for a, row in zip(v, m):\n    s = s * x + a * row[1]",
    "zip of a range": "for i, a in zip(range(3, 303, 3), v):\n    s = s * x + a * i",
    "zip in a loop": "for row in m:\n    for a, b in zip(row, m[0]):\n        s = s * x + a * b",
    "leaving a loop over an array": "for a in v:\n    s += a\n    if s > x:\n        break",
    "stores beside what it goes through": "y = np.zeros(100)\nfor i, a in enumerate(v):\n    y[i] = a * x\ns = y",
    "an array of each kind of index": "for a in np.arange(70):\n    s = s * x + v[a]",
    "a nest of short loops": "y = np.zeros((15, 15))\nfor i in range(1, 15):\n    for j in range(1, 15):\n"
    "        y[i, j] = (x * i - j) ** 2 + min(y[i - 1, j], y[i, j - 1]) + v[i] * v[j]\ns = y",
    "NumPy's reductions": "for i in range(20):\n    s += np.max(m[i]) - np.sum(m[:3], axis=0)[1] + np.prod(m[i])",
    "a long body": "for i in range(100):\n" + "\n".join(f"    s = s * x + v[{k}] * i" for k in range(9)),
    "a helper": "def helper(a):\n    return a * 2\nfor i in range(100):\n    s += helper(x)",
    "helpers with everything": "for i in range(100):\n    s += price(v[i], i, rate=x) + smooth(v, i) + twice(smooth, v, i)",
    "a helper of any number of values": (
        "def least(g, *values):\n    low = min(values)\n    return low - g * math.log(sum(math.exp((low - a) / g) for a in values))"
        "\nfor i in range(100):\n    s += least(0.5, v[i], m[i, 0], x * 0.1) - least(x * x, m[i, 1])"
    ),
    "a helper of no values": "def more(a, *rest, k=2.0):\n    return a * k + len(rest) if rest else a\n"
    "for i in range(100):\n    s += more(x) * more(v[i], 1.0, k=0.5)",
    "a helper of any number of rows": "def dots(a, *rows):\n    return sum([(a * r).sum() for r in rows]) + rows[-1][0]\n"
    "for i in range(90):\n    s += dots(m[i], m[i + 1], m[i + 2] * x)",
    "a helper of rows": "for row in m:\n    s = s * x + spread(row)[1]",
    "a helper that leaves its loops": "for i in range(100):\n    s += marched(m[i], x) * marched(v[:3], v[i])",
    "a helper beside its own names": "y = np.zeros(100)\nfor i in range(100):\n    y[i] = spread(m[i])[0] + s\n    s = y[i]",
    "a lambda": "g = lambda a, b=2.0: a * b + 1\nfor i in range(100):\n    s += g(v[i])",
    "a tuple": "p = (x, s)\nfor i in range(100):\n    p = (p[0] * v[i], p[1] + p[0])\ns = p[0] + p[1]",
    "a named tuple": "p = Pair(x, s)\nfor i in range(100):\n    p = Pair(p.b, p.a * x + v[i])\ns = p.a - p.b",
    "a record": "p = Point(x, s)\nfor i in range(100):\n    p = (p + Point(v[i], x)).times(0.5)\n    s += p.length\ns = s + p.x",
    "a record with an array": "p = Pair(v * x, 2)\nfor i in range(16):\n    p = Pair(p.a * 0.5 + i, p.b)\ns = p.a[p.b]",
    "several targets": "for i in range(100):\n    a = b = c = v[i] * x\n    a += 1.0\n    b *= 2\n    s += a - b * c",
    "several targets in arrays": "y = np.zeros((100, 3))\nfor i in range(100):\n    y[i, 0] = y[i, 2] = t = v[i] * x\n    y[i, 1], (a, b) = c = t, (s, i)\n"
    "    s += y[i, 2] - c[0] * a + b\ns = y",
    "arrays made on one side": "for i in range(70):\n    if v[i] > x:\n        p = m[i] * x\n        q = p / np.sqrt(p @ p + 1.0)\n        s += q[0]",
    "a record with another field": "p = Point(x, s)\nfor i in range(100):\n    p = replace(p, x=p.x * v[i] + p.y)\n    p = replace(p, y=p.y + 0.1 * p.x)\ns = p.x - p.y",
    "records under a test": "p = Point(x, s)\nfor i in range(100):\n    if v[i] > x:\n        p = Point(v[i], p.y)\ns = p.x + p.y",
    "a record of the host": "o = Point(0.5, 2.0)\nfor i in range(100):\n    s += (o + Point(x, v[i])).dot(o) * i",
    "functions of the loop": "for i in range(100):\n    def g(a, b=2.0):\n        return a * b + x\n    h = lambda a: g(a, x) * s\n    s += h(v[i])",
    "a helper that reads variables": "k = 2\ndef helper(a):\n    return a * k\nfor i in range(70):\n    s += helper(x)",
    "a root of the index": "for i in range(100):\n    s += x / math.sqrt(1.0 + i * i * 0.25) + 1.0 / math.sqrt(i + 1)",
    "a solve": "y = v[:2] * x\nfor i in range(100):\n    y = np.linalg.solve(np.eye(2) * (x * x + 9), m[i, :2] + y)\ns = y",
    "one of two arrays": "y = v * 2\nfor i in range(70):\n    z = v * x + i\n    if z[i] * x > y[i]:\n        y = z\n    w = y if x > 0.2 else z\n    s += w[3]\n    w = v\ns = y",
    "nested lists as an array": "for i in range(70):\n    y = np.array([[x, v[i]], [s, 1.0]])\n    s += (y @ y)[0, 1] * 0.01",
    "an array made in the body": "for i in range(100):\n    w = np.zeros((3, 2))\n    for j in range(2):\n        w[j] += v[j:j + 2] * x + i\n        w[j + 1] -= s\n    s = w.sum() * 0.01 + w[2, 1]",
    "arrays of constants": "for i in range(100):\n    w, u, e = np.full((2, 2), 0.1), np.array([3.0, -0.0, x]), np.ones(shape=(2, 3))\n    w[i % 2, 0] = s\n    s = w[0, 0] * x + u[i % 3] * e[1, 2] - w[1, 1]",
    "arrays of Ints": "for i in range(100):\n    k = np.array([2, 7, 5])\n    w = np.zeros((2,), int)\n    w[1] += i * k[i % 3]\n    s = s * x + w[1] + w[0] * x + k[1]",
    "an empty array": "for i in range(100):\n    w = np.empty((2, 2))\n    w[0] = x\n    w[1] = i\n    s += w[0, 1] * w[1, 0] - w[1, 1]",
    "an array that only the host has": "for i in range(100):\n    w = np.array([0.1, 0.7, 0.3])\n    s = s * x + (w[i % 3] + i) * w[1] - w[2]",
    "an array bound anew behind a break": "y = np.zeros(3)\nfor i in range(70):\n    w = y * 0.5 + m[i]\n    if w[1] > x:\n        break\n    y = w + y * 0.1\ns = y",
    "arrays bound anew behind a continue and a break": "y, z = m[0] * x, np.ones(3)\nfor i in range(70):\n    if m[i, 0] < -x:\n        continue\n    y = y * 0.5 + m[i]\n    if y @ y > 4.0 + x:\n        break\n    z = y * z + 1.0\n    y = z * 0.1\ns = y + z",
    "a record bound anew behind a break": "p = Pair(m[0] * x, s)\nfor i in range(70):\n    if p.b > 9.0 + x:\n        break\n    p = Pair(p.a * 0.5 + m[i], p.b + p.a[0])\ns = p.a * p.b",
    "a helper with a loop that is left": "for i in range(70):\n    s = s * x + settled(m[i], x)",
    "a helper with a long loop that is left": "for i in range(70):\n    s = s * x + first_above(v, m[i, 0] + x)",
    "a solver in a helper": "for i in range(20):\n    s += conjugate(m[i] * m[i] + 2.0, m[i + 1] * x)[1]",
    "a list of the run": "for a in [x] * 100:\n    s += a",
    "an item beside a list": "for a, b in zip(v, [x] * 100):\n    s += a * b",
    "a list": "for i in range(100):\n    p = [x, v[i]]\n    s += p[0] * p[-1]",
    "a list that grows": "for i in range(100):\n    p = []\n    for k in range(3):\n        p.append(m[i, k] * x)\n    p.append(p[-1] + i)\n"
    "    s += sum(p) * 0.01 + p[1] + len(p)",
    "comprehensions": "for i in range(100):\n    p = [a * x + i for a in m[i]]\n    q = [p[k] * v[k] for k in range(3) if k != 1]\n    s += sum(p) + q[1]",
    "an array of a comprehension": "for i in range(100):\n    p = np.array([max(v[i], x * k) for k in range(3)])\n    s += p.sum() + sum(a * a for a in p)",
    "lists side by side with a row": "w = [(0.5, 1), (x, 2)]\nfor i in range(100):\n    for k, ((a, j), b) in enumerate(zip(w, m[i])):\n        s += a * b * v[j] * k",
    "a dict of the host": "w = {'a': 0.5, 'b': x}\nfor i in range(100):\n    for k, (n, a) in enumerate(w.items()):\n        s += a * v[i] * k\n    for n in w:\n"
    "        s = s * w[n]",
    "lists of a helper": "for i in range(100):\n    p, q = halves(m[i], x)\n    for a, b in zip(p, q):\n        s += a * b\n    s += p[-1]",
    "a list backwards": "for i in range(100):\n    p = [x, v[i], m[i, 1]]\n    for k, a in enumerate(reversed(p), start=2):\n        s = s * a + k",
    "lists in a list": "for i in range(100):\n    p = [[x, v[i]], [v[i] * x, 2.0]]\n    s += sum([a * b for a, b in p]) + np.array(p).sum()",
    "products of constant arrays": "for i in range(70):\n    w = np.array([[0.0, -0.3], [0.3, 0.1]])\n    u = np.eye(2) + x * w + 0.1 * (w @ w)\n"
    "    s += u[0, 1] + (u @ m[i, :2])[0] + np.linalg.norm(w) * x",
    "an array that a break keeps": "y = v * 2\nz = v.copy()\nfor i in range(70):\n    z = y * 1.5\n    y = y * 0.5 + v\n    if y[i] * x > 3.0:\n        break\n    y[0] = x\ns = y + z",
    "an array that the index keeps": "y = v * 2\nfor i in range(70):\n    if i < 200:\n        y = y * 0.5 + v\ns = y",
    "the last sign": "s = -0.0\nfor i in range(100):\n    s = s * x",
}


@pytest.mark.parametrize("body", ROLLED.values(), ids=ROLLED)
def test_rolled(body, reasons, monkeypatch):
    f = function(body)
    arguments = [(x, n, V, M) for x, n in ((0.5, 3), (-1.25, 0))]
    monkeypatch.setattr(abstract_run, "FEWEST", 16)  # unrolling is slow
    rolled = stage(f, *arguments[0])
    assert reasons[:1] == [""]
    monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
    unrolled = stage(f, *arguments[0])
    assert size(unrolled.function) > max(1.5 * size(rolled.function), 15)
    for args in arguments:
        assert bits(run(rolled, f, *args)) == bits(run(unrolled, f, *args))
    agrees(f, *arguments)


PEELED = {
    "another start than zero": "t = 0.3617\nfor i in range(100):\n    s += math.sin(t)\n    t = t + x",
    "a power of the host": "t = 0.5\nfor i in range(70):\n    s += t ** 0.5\n    t = t * x * x",
    "a zero divisor": "for i in range(1, 100):\n    s += 1.0 / i * x + 1.0 / (i - 200) * x\nfor i in range(70):\n    if i > 0:\n        s += 1 / i * x",
    "kinds": "k = None\nfor i in range(70):\n    if k is None:\n        s += x\n    s = s * x + v[i]\n    k = s",
    "what the host knows at first": "y = np.array([1.0, 0.5])\nfor i in range(100):\n    y = np.tanh(y) * x + m[i, :2]\ns = y",
    "None at first": "w = None\nfor i in range(100):\n    if w is None:\n        w = v[i]\n    else:\n        w = w * x + v[i]\ns = w",
    "an array that is known and then written": "y = np.array([0.3, 0.7])\nfor i in range(100):\n    s += x * np.exp(y * (i + 1.1))[0]\n    y[0] = s * 1e-4",
    "downwards": "t = 0.5\nfor i in range(99, -1, -1):\n    s += v[i] * t ** 0.5\n    t = t * x * x",
}


@pytest.mark.parametrize("body", PEELED.values(), ids=PEELED)
def test_rolled_after_the_first_iteration(body, reasons, monkeypatch):
    f = function(body)
    arguments = [(x, n, V, M) for x, n in ((0.5, 3), (-1.25, 0))]
    rolled = stage(f, *arguments[0])
    assert [bool(reason) for reason in reasons[-2:]] == [True, False]
    monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
    unrolled = stage(f, *arguments[0])
    assert size(unrolled.function) > 1.5 * size(rolled.function)
    for args in arguments:
        assert bits(run(rolled, f, *args)) == bits(run(unrolled, f, *args))
    agrees(f, *arguments)


UNROLLED = {
    "few iterations": "for i in range(63):\n    s += v[i]",
    "asked for": "for i in rose.unroll(range(100)):\n    s += v[i]",
    "a record that is changed": "p = Point(x, s)\nfor i in range(100):\n    p.x += v[i]\ns = p.x",
    "a list under a name": "p = [x, s]\nfor i in range(100):\n    p = [p[1], v[i]]\ns = p[0]",
    "the host in a record": "p = Point(x, 0)\nfor i in range(100):\n    p = Point(p.x * 0.5, i)\ns = p.x * v[p.y]",
    "a dict is changed": "w = {}\nfor i in range(100):\n    w[i] = v[i]\ns = w[3]",
    "the index is an exponent": "for i in range(100):\n    s += x ** i",
    "an array that a triangle binds is read after it": "d = m[0]\nfor i in range(20):\n    for j in range(i + 1, 20):\n        d = m[i] - m[j]\n"
    "    s += d[0] * x",
    "an array that a triangle binds is written after it": "d = m[0] * x\nfor i in range(40):\n    for j in range(i + 1, 40):\n"
    "        d = m[i] - m[j]\n    d[0] += x\ns = d[0]",
    "the index overflows": "for i in range(100):\n    s += x * (i * 2 ** 62)",
    "a quotient of the index": "for i in range(100):\n    s += x * (i % (i + 1)) / 1 if i else 1 / (i + 1) // (i - 200.5)",
    "the index afterwards": "for i in range(100):\n    s += x\ns += x ** i",
    "a helper that reads a variable of the loop": "k = 2\ndef helper(a):\n    return a * k\nfor i in range(70):\n    s += helper(x)\n    k = k + 1",
    "a helper that writes": "y = v.copy()\ndef put(a, i):\n    a[i] = x\n    return x\nfor i in range(70):\n    s += put(y, i)",
    "a helper of any keywords": "def helper(a, **more):\n    return a * more['k']\nfor i in range(70):\n    s += helper(x, k=s)",
    "a helper that prints": "def helper(a):\n    print(a)\n    return a\nfor i in range(70):\n    s += helper(x)",
    "a helper that needs the index": "def helper(a, i):\n    return a ** i\nfor i in range(70):\n    s += helper(x, i)",
    "a list that grows under a test": "for i in range(100):\n    p = [x]\n    if v[i] > 0.0 or i > 200:\n        s += p[0]\n    if i < 200:\n        p.append(v[i])\n    s += p[-1]",
    "a list that has two names": "for i in range(70):\n    p = [x]\n    q = p\n    p.append(v[i])\n    s += q[-1]",
    "a list that another function holds": "for i in range(70):\n    p = [x]\n    g = lambda: p\n    q = g()\n    p.append(v[i])\n    s += q[-1]",
    "a list that a helper lengthens": "def longer(p, a):\n    p.append(a)\n    return a\nfor i in range(70):\n    p = [x]\n    s += longer(p, v[i]) + p[-1]",
    "one of two lists": "for i in range(100):\n    if i < 200:\n        p = [x, v[i]]\n    else:\n        p = [x]\n    s += p[-1]",
    "a sum that the host has": "for i in range(100):\n    s += x * sum([0.1 * i, 0.2, 0.3])",
    "an array that the index keeps, written under two names": "y = v * 2\nz = y\nfor i in range(70):\n    if i < 200:\n        z = v * x\n        y = z\n    y[0] = s\n    s += z[0] + x",
    "a helper that gives one of two arrays, by the index": "y, z = v * x, v * 2\nfor i in range(100):\n    s += one_of(y, z, i)[3] * x",
    "a helper that calls itself": "for i in range(70):\n    s += again(x, 12)",
    "printing": "for i in range(100):\n    print(i)\n    s += x",
    "a lambda of what is not followed": "for i in range(70):\n    g = lambda a: sum([a, x])\n    h = lambda a: f'{a}'\n    s += g(x)",
    "a text": "for i in range(100):\n    w = f'{i}'\n    s += x",
    "a slice that moves": "for i in range(70):\n    s += v[i:i + 3].sum()",
    "an array of the host": "y = np.zeros(100)\nfor i in range(100):\n    y[i] = i * 0.5\ns = y",
    "the index at a break": "for i in range(100):\n    s += x\n    if i == 70:\n        break\ns += i",
    "two names of one array behind a break": "y = m[0] * x\nz = y * 2\nfor i in range(70):\n    if y[0] > x:\n        break\n    y = y * 0.5 + m[i]\n    z = y\n    z[0] += x\ns = y + z",
    "an old array behind a break": "y, z = m[0] * x, m[1] * x\nfor i in range(70):\n    if y[0] > x + i:\n        break\n    y = z\n    y[0] += 0.1\ns = y + z",
    "two names of one array": "y = v.copy()\nz = y\nfor i in range(70):\n    y *= x\n    s += z[0]",
    "arrays of two shapes": "y = v * 2\nfor i in range(70):\n    y = v[i:] * x\n    s += y[0]",
    "in a try": "try:\n    for i in range(70):\n        s += x\nexcept ValueError:\n    pass",
    "another iterable": "for a in {k: x for k in range(100)}:\n    s += a * x",
    "an iterator that has been begun": "e = enumerate(v)\nnext(e)\nfor i, a in e:\n    s = s * x + a * i",
    "an array that is written meanwhile": "y = v.copy()\nfor a in y:\n    y[1] = a * x\n    s = s * x + a",
    "rows that are written": "y = m.copy()\nfor row in y:\n    row[0] = x\ns = y",
    "things of several lengths": "for a, b in zip(v, m[:70, 0]):\n    s += a * b",
    "an item beside an iterator": "for a, b in zip(v, iter([x] * 100)):\n    s += a * b",
    "the item afterwards as an index": "for k, a in enumerate(v):\n    s += a\ns += v[k] * x ** k",
}


@pytest.mark.parametrize("body", UNROLLED.values(), ids=UNROLLED)
def test_unrolled(body, reasons, capsys):
    f = function(body)
    staged = stage(f, 0.5, 3, V, M)
    assert not reasons or reasons[-1]
    del staged
    agrees(f, (0.5, 3, V, M), (-1.25, 0, V, M))


def test_a_list_that_a_long_loop_inside_makes(reasons):
    f = function(
        "for i in range(20):\n    p = []\n    for j in range(70):\n        p.append(v[j] * x)\n    s += p[3] * v[i]"
    )
    stage(f, 0.5, 3, V, M)
    assert "a list grows in a block in which it was not made" in reasons[0]
    assert "" in reasons[1:]
    agrees(f, (0.5, 3, V, M))


def test_helpers_run_as_often_as_in_python():
    log = []

    def note(k):
        log.append(k)

    f = define(
        "def f(x: float):\n    for i in range(100):\n        x = x * 0.5\n        note(i)\n    return x", note=note
    )
    stage(f, 1.0)
    assert log == list(range(100))


def test_attributes_of_plain_objects_are_read_and_no_code_runs(reasons):
    @dataclass
    class Settings:
        rate: float
        weights: list[float]

    class Live:
        @property
        def rate(self):
            raise AssertionError

        steps = 3

    text = "def f(x: float):\n    for i in range(100):\n        x = x * o.rate + o.weights[1]\n    return x"
    assert size(stage(define(text, o=Settings(0.5, [1.0, 2.0])), 1.0).function) < 10
    text = "def f(x: float):\n    for i in range(100):\n        x = x * o.rate\n    return x"
    with pytest.raises(AssertionError):
        stage(define(text, o=Live()), 1.0)
    assert reasons[0] == ""
    assert "holds a `raise`" in reasons[1]


def test_the_length_of_an_array_does_not_show():
    f = define(
        "def f(x: Vec['n']):\n    s = 0.0\n    for i in range(len(x)):\n        s += x[i]\n    return s", **SCOPE
    )
    assert [size(stage(f, np.ones(n)).function) for n in (63, 64, 10**6)] == [126, 3, 3]


def outcomes(f, fewest, monkeypatch, calls):
    """The bits that `f` gives when loops are rolled from `fewest` iterations on; or what it raises, at which call."""
    monkeypatch.setattr(abstract_run, "FEWEST", fewest)
    try:
        staged = stage(f, *calls[0])
    except (RoseError, ArithmeticError) as error:
        return [type(error)] * len(calls)
    found = []
    for args in calls:
        try:
            found.append(bits(run(staged, f, *args)))
        except RoseError as error:
            found.append(type(error))
    return found


def test_random_loops_have_the_same_bits(monkeypatch, reasons):
    counts = Counter()
    for seed in range(COUNT):
        f = define(loop(seed), **SCOPE)
        v = np.random.default_rng(seed).normal(size=7)
        calls = [(0.7, -0.3, v, 3), (-1.2, 0.4, v, 0), (0.1, 0.2, v, 5)]
        unrolled = outcomes(f, 10**9, monkeypatch, calls)
        before = reasons.count("")
        rolled = outcomes(f, 2, monkeypatch, calls)
        counts["rolled" if reasons.count("") > before else "unrolled"] += 1
        for now, wanted in zip(rolled, unrolled, strict=True):
            assert now == wanted or (isinstance(now, type) and isinstance(wanted, type)), loop(seed)
    assert counts["rolled"] > COUNT / 2


CONVOLUTION = """
def f(x: Array[4, 3, 9, 9], w: Array[5, 3, 3, 3]):
    n, c, h, l = x.shape
    o, _, k, _ = w.shape
    y = np.zeros((n, o, h - k + 1, l - k + 1))
    for i in range(n):
        for g in range(o):
            for r in range(h - k + 1):
                for q in range(l - k + 1):
                    total = 0.0
                    for d in range(c):
                        for u in range(k):
                            for v in range(k):
                                total += x[i, d, r + u, q + v] * w[g, d, u, v]
                    y[i, g, r, q] = total
    return y
"""


def test_a_convolution_in_seven_plain_ranges(reasons):
    """A nest of short loops that is too long to be followed with its inner loops unrolled is followed with these rolled."""
    f = define(CONVOLUTION, **SCOPE, Array=Array)
    x, w = np.sin(np.arange(972.0)).reshape(4, 3, 9, 9), np.cos(np.arange(135.0)).reshape(5, 3, 3, 3)
    staged = stage(f, x, w)
    assert size(staged.function) < 1000
    assert not any(reasons)
    assert bits(run(staged, f, x, w)) == bits(f(x, w))


WHERE = {
    "for i in range(70):\n    y = v[i]\n    s += 1 + x ** i": "the index is an exponent (`x ** i`), in line 5: `s += 1 + x ** i`",
    "h = 0.5\nfor i in range(70):\n    s += x * np.tanh(np.array([h, 1]))[0]\n    h = math.cos(h)": "(`np.array([h, 1])`), in line 5:",
    "w = []\nfor i in range(70):\n    w.extend([x])\ns = w[3]": "line 5 holds a call whose result is not used: `w.extend([x])`",
    "h = 0.5\ndef helper(a):\n    return a ** 2\nfor i in range(70):\n    s += x * helper(h)\n    h = math.cos(h)": "(`a ** 2`), in line 7: ",
}


@pytest.mark.parametrize("body", WHERE)
def test_why_a_loop_is_not_rolled_names_the_expression(body, monkeypatch):
    said = []
    monkeypatch.setattr(decide, "note", lambda _topic, text: said.append(text()))
    stage(function(body), 0.5, 3, V, M)
    assert WHERE[body] in said[0]
