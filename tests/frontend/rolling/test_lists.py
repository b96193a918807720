"""Rolled loops that append to lists of the host, and that read lists at their indices: the bits of unrolled ones."""

import pytest

from rosejit.frontend.rolling import abstract_run
from rosejit.ir.traversal import size
from tests.frontend.oracle import agrees, run, stage
from tests.frontend.rolling.test_decide import M, V, bits, function, reasons  # noqa: F401  # a fixture

CALLS = [(x, n, V, M) for x, n in ((0.5, 3), (-1.25, 0))]
ROLLED = {
    "numbers": "w = []\nfor i in range(100):\n    s = s * x + v[i]\n    w.append(s)\ns = w[3] * w[-1] + len(w)",
    "behind a first": "w = [x]\nfor i in range(100):\n    s = s * x + v[i]\n    w.append(s)\ns = w[0] * w[1] + sum(w)",
    "arrays": "w = []\ny = v * x\nfor i in range(20):\n    y = y * 0.5 + v[i]\n    w.append(y)\ns = np.array(w)",
    "arrays made in the body": "w = []\nfor i in range(70):\n    w.append(np.array([x * i, v[i]]))\ns = np.array(w).sum(axis=0)",
    "ints and truth values": "w, b = [], []\nfor i in range(100):\n    w.append(n * i)\n    b.append(v[i] > x)\ns = w[7] + x if b[3] else x",
    "what the host knows": "w, t, c = [], [], []\nfor i in range(100):\n    s += v[i] * x\n    w.append(0.1 * i)\n    t.append(i)\n"
    "    c.append(2.5)\ns = s + v[t[9]] * w[4] + c[5] + x ** t[3]",
    "backwards": "w = []\nfor i in range(99, -1, -1):\n    s = s * x + v[i]\n    w.append(s)\ns = w[0] - w[99] * 2",
    "and then changed": "w = []\nfor i in range(100):\n    s = s * x + v[i]\n    w.append(s)\nw.pop()\nw[0] = 7.0\nw.append(x)\ns = w[0] + w[98] + w[99]",
    "rows that are changed afterwards": "w = []\nfor i in range(20):\n    w.append(v * i * x)\nw[3][0] = 5.0\ns = w[3][0] + w[4][0] + w[3][1]",
    "in two loops": "w = []\nfor i in range(20):\n    s += v[i]\n    w.append(s)\nfor j in range(30):\n    s += v[j] * x\n    w.append(s)\ns = w[19] + w[49]",
    "a list of the host": "w = [0.3, 1.5, -0.0, 2.0] * 25\nfor i in range(100):\n    s = s * x + w[i] * v[-i]",
    "a tuple of ints": "w = tuple([3, 1, 2] * 30)\nfor i in range(90):\n    s = s * x + v[w[i]] + w[i]",
    "a list of the run": "w = [x * k for k in range(100)]\nfor i in range(100):\n    s = s * 0.5 + w[i] * w[-1 - i] + w[(7 * i) % 100]",
    "a list of arrays of the run": "w = [v[:3] * k * x for k in range(20)]\nfor i in range(20):\n    s += (w[-1 - i] @ m[i]) * w[i][1]",
    "a list of arrays of the host": "w = [np.array([0.1 * k, 1.0]) for k in range(20)]\nfor i in range(20):\n    s += (w[i] @ m[i, :2]) + np.sum(w[i]) * x",
    "what a loop has appended": "w = []\nfor i in range(20):\n    s = s * x + v[i]\n    w.append(s)\nfor i in range(20):\n    s += w[19 - i] * v[i]",
    "a list that changes afterwards": "w = [x * k for k in range(100)]\nfor i in range(100):\n    s = s * 0.5 + w[i]\nw[0] = 9.0\nfor i in range(100):\n    s = s * 0.5 + w[i]",
    "an array of a list that changes afterwards": "w = [v * x, v * 2]\nfor i in range(100):\n    s += w[i % 2][i]\nw[0][1] = 7.0\ns += w[0][1]",
    "tuples at an index": "w = [(k % 7, k % 5 + 2, 0.1 * k) for k in range(90)]\nfor i in range(90):\n    a, b, c = w[i]\n    s = s * x + v[a] * c - v[b]",
    "a loop over numbers": "w = [0.3, 1.5, -0.0, 2.0] * 25\nfor a in w:\n    s = s * x + a",
    "a loop over numbers of the run": "w = [x * k for k in range(80)]\nfor a in w:\n    s = s * 0.5 + a * a",
    "a loop over tuples": "w = [(k % 7, k % 5 + 2, 0.1 * k) for k in range(90)]\nfor a, b, c in w:\n    s = s * x + v[a] * c - v[b]",
    "a loop over tuples in tuples": "w = tuple(((k % 7, k % 5), 0.1 * k, 'bar') for k in range(90))\nfor (a, b), c, name in w:\n    s = s * x + v[a] * c - v[b]",
    "a loop over named tuples": "w = [Pair(k % 7, 0.1 * k) for k in range(90)]\nfor bar in w:\n    s = s * x + v[bar.a] * bar.b",
    "a loop over records": "w = [Point(0.1 * k, 1.0) for k in range(90)]\nfor p in w:\n    s = s * x + p.dot(Point(x, s)) + p.length",
    "a loop over tuples of the run": "w = [(x * k, k, m[k]) for k in range(80)]\nfor a, k, row in w:\n    s = s * 0.5 + a * v[k] + row[1]",
    "a loop over pairs of vectors": "y = np.zeros((100, 3))\nw = [(k, (3 * k) % 20) for k in range(70)]\nfor a, b in w:\n"
    "    d = m[a] - m[b]\n    f = d * (np.sqrt(d @ d + 1.0) - x)\n    y[a] += f\n    y[b] -= f\ns = y",
    "tests of the items of a loop": "s = x\nw = [(k % 3, k % 2 == 0, 0.1 * k) for k in range(90)]\nfor a, even, c in w:\n    if even and a != 2:\n        s += v[a] * c\n    elif a == 1:\n        s -= x * math.sin(c)",
    "a loop over a list and an array": "w = [(k % 7, k % 5) for k in range(100)]\nfor (a, b), c in zip(w, v):\n    s = s * x + v[a] * c - v[b]",
    "a loop over a list by number": "w = [(k % 7, 0.1 * k) for k in range(90)]\nfor i, (a, c) in enumerate(w):\n    s = s * x + v[a] * c - v[i] * i",
    "a loop over a list in a loop": "w = [(k % 7, 0.1 * k) for k in range(40)]\nfor i in range(70):\n    for a, c in w:\n        s = s * 0.01 * x + v[a] * c - v[i]",
    "a loop over a list that is left": "w = [(k % 7, 0.1 * k) for k in range(90)]\nfor a, c in w:\n    if s > x + 1:\n        break\n    s = s * x + v[a] * c",
    "lists in lists": "w = [[x * k, x + k] for k in range(20)]\nfor i in range(20):\n    s = s * 0.5 + w[i][0] * w[i][-1]",
    "lists in lists of the host": "w = [[0.1 * k, 1.5, float(k % 3)] for k in range(20)]\nfor i in range(20):\n    for j in range(3):\n        s = s * x + w[i][j] * v[i] - w[19 - i][j]",
    "lists in lists in a nest": "w = [[x * (k + j) for k in range(20)] for j in range(20)]\nfor i in range(20):\n    for j in range(20):\n        s = s * 0.5 + w[i][j] * w[j][i] + w[i][(j + 1) % 20] * v[j]",
    "rows of lists": "w = [[x * k, x + k] for k in range(20)]\nfor i in range(20):\n    r = w[i]\n    a, b = r\n    s = s * 0.5 + a * b + sum(r) + len(r) + sum(c * v[i] for c in w[-i])",
    "a loop over lists": "w = [[x * k, x + k] for k in range(80)]\nfor r in w:\n    s = s * 0.5 + r[0] * r[1]",
    "a loop over lists that is taken apart": "w = [[k * 0.5, 2.0 - k] for k in range(80)]\nfor a, b in w:\n    s = s * x + a * b",
    "lists in lists that change afterwards": "w = [[x * k, x + k] for k in range(20)]\nfor i in range(20):\n    s = s * 0.5 + w[i][0]\nw[3][0] = 9.0 * x\nfor i in range(20):\n    s = s * 0.5 + w[i][0]",
    "fields that change afterwards": "w = [Point(x * k, 1.0) for k in range(80)]\nfor p in w:\n    s = s * 0.5 + p.x * p.y\nw[3].x = 9.0\nw[4].y = x\nfor p in w:\n    s = s * 0.5 + p.x * p.y",
    "all but the index itself": "y = np.zeros((20, 3))\nfor i in range(20):\n    for j in range(20):\n        if i == j:\n            continue\n        d = m[j] - m[i]\n        y[i] += d * x / (d @ d + 1.0)\ns = y",
    "all but the index itself, of lists": "w = [[x * k, x + k] for k in range(20)]\nfor i in range(20):\n    for j in range(20):\n        if i != j:\n            a, b = w[i][0] - w[j][0], w[i][1] - w[j][1]\n            s += a * b / (a * a + 1.0)",
    "a list in a nest": "w = [[0.3, x, 2.0] for k in range(20)]\nu = [1.0, 2.5, x]\nfor i in range(20):\n    for j in range(3):\n        s += u[j] * m[i, j]",
}  # fmt: skip


@pytest.mark.parametrize("body", ROLLED.values(), ids=ROLLED)
def test_rolled(body, reasons, monkeypatch):  # noqa: F811  # the fixture
    f = function(body)
    monkeypatch.setattr(abstract_run, "FEWEST", 16)
    rolled = stage(f, *CALLS[0])
    assert reasons
    assert not any(reasons), reasons
    monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
    unrolled = stage(f, *CALLS[0])
    assert size(unrolled.function) > size(rolled.function)
    for args in CALLS:
        assert bits(run(rolled, f, *args)) == bits(run(unrolled, f, *args))
    agrees(f, *CALLS)


UNROLLED = {
    "under a test": "w = []\nfor i in range(100):\n    s += v[i] * x\n    if i % 2:\n        w.append(s)\ns = w[3]",
    "twice": "w = []\nfor i in range(100):\n    s += v[i] * x\n    w.append(s)\n    w.append(x)\ns = w[3]",
    "read meanwhile": "w = [x]\nfor i in range(100):\n    w.append(w[-1] * 0.5 + v[i])\ns = w[3]",
    "read by another name": "w = [x]\nu = w\nfor i in range(100):\n    s += v[i] * len(u)\n    w.append(s)\ns = w[3]",
    "read inside another": "w = [x]\nu = (w, x)\nfor i in range(100):\n    s += v[i] * u[0][0]\n    w.append(s)\ns = w[3]",
    "an array that is written": "w = []\ny = v * x\nfor i in range(20):\n    y = y * 0.5\n    w.append(y)\n    y[0] = 3.0\ns = w[3][0]",
    "an array that is written afterwards": "w = []\ny = v * x\nfor i in range(20):\n    y = y * 0.5\n    w.append(y)\ny[0] = 9.0\ns = w[-1][0] + y[1]",
    "several kinds": "w = []\nfor i in range(100):\n    w.append(x if i % 2 else n)\ns = w[3] + w[4]",
    "left early": "w = []\nfor i in range(100):\n    s += v[i] * x\n    w.append(s)\n    if i == 70:\n        break\ns = w[-1] + len(w)",
    "by an inner loop": "w = []\nfor i in range(20):\n    for j in range(3):\n        w.append(m[i, j] * x)\ns = w[3] + len(w)",
    "by a helper": "w = []\ndef put(a):\n    w.append(a)\n    return a\nfor i in range(70):\n    s += put(x * i)\ns += w[4]",
    "items of several kinds": "w = [x, 1, 2.0] * 30\nfor i in range(90):\n    s += w[i]",
    "items of a list that are written": "w = [v * x, v * 2]\nfor i in range(100):\n    y = w[i % 2]\n    y[0] = y[0] + x\n    s += y[0]",
    "a loop over a list that grows": "w = [0.5] * 70\nfor a in w:\n    s = s * x + a\n    if len(w) < 75:\n        w.append(a)",
    "a loop over items of several kinds": "w = [(1, 2.0), (1.0, 2.0)] * 40\nfor a, b in w:\n    s = s * x + a * b",
    "a loop over tuples of several lengths": "w = [(1, 2.0), (1, 2.0, 3)] * 40\nfor p in w:\n    s = s * x + p[0] * len(p)",
    "a loop over texts": "w = ['one', 'two'] * 40\nfor name in w:\n    s = s * x + (1.0 if name == 'one' else 2.0)",
    "an item of a loop afterwards": "w = [(k % 7, 0.1 * k) for k in range(90)]\nfor a, c in w:\n    s = s * x + v[a] * c\ns = s * x ** a",
    "the exponents of a loop": "w = [(k % 7, 0.1 * k) for k in range(90)]\nfor a, c in w:\n    s = s * 0.1 + x ** a",
    "lists in lists of staged and other numbers": "w = [[x, 1.0], [2.0, x]] * 10\nfor i in range(20):\n    s += w[i][0] * w[i][1]",
    "lists in lists of several lengths": "w = [[x, x + 1], [x]] * 10\nfor i in range(20):\n    s += w[i][0] * sum(w[i])",
    "a row of a list afterwards": "w = [[x * k, x + k] for k in range(20)]\nfor i in range(20):\n    r = w[i]\n    s += r[0] * r[1]\nr[0] = 7.0\ns += w[19][0]",
    "a row of a list that is changed": "w = [[x * k, x + k] for k in range(20)]\nfor i in range(20):\n    w[i][0] += s\n    s += w[i][1]\ns += w[7][0]",
}  # fmt: skip


@pytest.mark.parametrize("body", UNROLLED.values(), ids=UNROLLED)
def test_unrolled(body, reasons, monkeypatch):  # noqa: F811  # the fixture
    f = function(body)
    monkeypatch.setattr(abstract_run, "FEWEST", 16)
    staged = stage(f, *CALLS[0])
    assert not reasons or any(reasons)
    for args in CALLS:
        assert bits(run(staged, f, *args)) == bits(f(*args))
