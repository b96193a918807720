"""Rolled loops read what the host computes from their indices in tables: the bits of the unrolled loops, and Python's."""

import itertools
import math

import pytest

import rosejit as api
from rosejit.frontend.rolling import abstract_run
from rosejit.ir.traversal import size
from tests.frontend.oracle import agrees, run, stage
from tests.frontend.rolling.test_decide import M, V, bits, function, reasons  # noqa: F401  # a fixture

TABLED = {
    "a sine": "for i in range(100):\n    s += v[i] * math.sin(0.1 * i)",
    "powers": "for i in range(100):\n    s += x * (i + 0.5) ** 2 + v[i] * i ** 0.5 + (-1) ** i",
    "remainders": "for i in range(100):\n    s += x * ((0.37 * i) % 1.0) + v[i] * (0.7 * i // 2)",
    "a quotient whose divisor may be 0": "for i in range(100):\n    s += x / (3 * i - 100) + 1.0 / (i - 99.5) * v[i]",
    "bits": "for i in range(100):\n    s += v[i & 7] * (i ^ 3) + v[i | 1 if i < 90 else 3]",
    "an index from a table": "for i in range(100):\n    s = s * x + v[i ** 2 % 97] + v[int(0.31 * i)] + v[round(0.7 * i)]",
    "a test of a table": "for i in range(100):\n    if math.sin(0.1 * i) > 0.3:\n        s += v[i]\n    else:\n        s -= x",
    "two axes": "for i in range(16):\n    for j in range(20):\n        s += x * math.exp(-0.1 * i * j) + math.cos(0.3 * j)",
    "a triangle": "for i in range(20):\n    for j in range(i + 1):\n        s += x * math.exp(-0.1 * i * j) + v[j] * math.cos(0.3 * j)",
    "a triangle downwards": "for i in range(29, -1, -1):\n    for j in range(i + 1):\n        s = s * x + 0.9 ** j * 1.1 ** (i - j)",
    "the rest of a triangle": "for i in range(20):\n    for j in range(i, 20):\n        s = s * x + v[j] * math.sqrt(j - i + 0.5)",
    "a triangle that is left": "for i in range(30):\n    for j in range(i * i % 17, i + 3):\n        s = s * 0.5 + math.sin(0.1 * j) * v[j]\n"
    "        if s > x:\n            break\n    s -= 0.1",
    "a pyramid": "for i in range(17):\n    for j in range(i):\n        for k in range(j, i):\n            s = s * x + math.sin(0.1 * i * j + k)",
    "its last index": "for i in range(18):\n    for j in range(i + 2):\n        s = s * x + math.cos(0.1 * j)\n    s -= x * math.sin(i)",
    "a helper": "for i in range(100):\n    s += x * gauss(i, 3.0)",
    "an array": "for i in range(100):\n    d = np.array([0.1 * i - 5.0, 1.0, 0.3])\n    d = d / np.linalg.norm(d)\n"
    "    s += d[0] * x + (d @ d) * v[i] + np.sum(d ** 2) * x",
    "rays": "for j in range(12):\n    for i in range(14):\n        d = np.array([(i + .5) / 14 - .5, (j + .5) / 12 - .5, 1.0])\n"
    "        d = d / np.sqrt(np.dot(d, d))\n        o = np.array([0.0, x, -3.0])\n        b = np.dot(o, d)\n        s += b * b",
    "a matrix": "for i in range(70):\n    c, w = math.cos(0.1 * i), math.sin(0.1 * i)\n    r = np.array([[c, -w], [w, c]])\n"
    "    s += (r @ r.copy() @ m[i, :2])[0] + r.sum() * x",
    "NumPy's functions of numbers": "for i in range(100):\n    s += np.sin(0.1 * i) * x + np.hypot(i, 0.5) * v[i]",
    "whole functions": "for i in range(90):\n    s += x * math.gcd(i, 12) + v[math.isqrt(i)] + v[math.floor(0.3 * i)] / math.comb(12, i % 12)",
    "an array of the host": "w = np.linspace(0.5, 2.0, 80)\nfor a in w:\n    s = s * x + math.sin(a)",
    "elements at an index": "w = np.linspace(0.5, 2.0, 80)\nfor i in range(80):\n    s = s * x + math.sin(w[i]) * v[i]",
    "backwards": "for i in range(99, -1, -1):\n    s = s * x + math.sin(0.1 * i)",
    "steps": "for i in range(3, 300, 4):\n    s = s * x + math.sin(0.1 * i)",
    "leaving": "for i in range(100):\n    s += math.sin(0.1 * i) * v[i]\n    if s > x:\n        break",
    "an array of the host that two loops read": "w = np.linspace(0.5, 2.0, 80)\nfor i in range(80):\n    s = s * x + w[i]\n"
    "for i in range(80):\n    s = s * x + math.sin(w[i])",
    "methods": "for i in range(80):\n    w = np.array([0.1 * i, 0.7, 3.0])\n    u = w.copy() * 0.3\n"
    "    s += u.sum() * x + w.mean() * v[i] + u.dot(w) * x + w.max() + w.argmax() * x",
    "time": "t = 0.0\nfor i in range(100):\n    s += x * math.sin(t) + v[i] * t\n    t += 0.1\ns = s * t",
    "a counter": "k = 0\nfor i in range(100):\n    s += v[k % 50] * math.sqrt(k + 0.3)\n    k = k + 1\ns = s * x ** (k - 97)",
    "time backwards": "t = 3.0\nfor i in range(99, -1, -1):\n    t -= 0.1 * i\n    s = s * x + math.cos(t)\ns += t",
    "a counter of a nest": "for j in range(20):\n    t = 0.5\n    for i in range(18):\n        s = s * x + math.cos(t * j)\n        t *= 1.1\n    s -= t",
    "steps of what the index says": "t = 1\nfor i in range(1, 100):\n    t += i * 2\n    s = s * x + t * v[i]\ns = s * t",
    "a recurrence": "h = 0.1\nfor i in range(70):\n    s += x * math.sin(h)\n    h = 0.9 * h + 0.01 * i\ns += h",
    "divided in place": "y = np.zeros(100)\nfor i in range(70):\n    d = np.array([0.1 * i, 1.0])\n    d /= np.linalg.norm(d)\n    p = d * x + v[i]\n    y[i] = p @ d\ns = y",
    "on a side": "for i in range(100):\n    if v[i] > x:\n        s += math.sin(0.1 * i)\n    elif i > 50:\n        s -= x * i ** 0.5",
}


def gauss(i, w):
    return math.exp(-((i - 50) ** 2) / w**2)


def staged_both_ways(body, monkeypatch, reasons, arguments):  # noqa: F811  # the fixture's value
    """The function with its loops rolled, and unrolled."""
    f = function(body, gauss=gauss)
    monkeypatch.setattr(abstract_run, "FEWEST", 16)
    rolled = stage(f, *arguments[0])
    assert reasons[:1] == [""], reasons
    monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
    return f, rolled, stage(f, *arguments[0])


@pytest.mark.parametrize("body", TABLED.values(), ids=TABLED)
def test_tabled(body, reasons, monkeypatch):  # noqa: F811  # the fixture
    arguments = [(x, n, V, M) for x, n in ((0.5, 3), (-1.25, 0))]
    f, rolled, unrolled = staged_both_ways(body, monkeypatch, reasons, arguments)
    assert size(unrolled.function) > 1.5 * size(rolled.function)
    for args in arguments:
        assert bits(run(rolled, f, *args)) == bits(run(unrolled, f, *args))
    agrees(f, *arguments)


INDICES = (
    "math.sin(0.1 * {i})", "({i} + 1) ** 0.3", "(0.3 * {i}) % 1.1", "{i} ** 2", "2.0 ** -{i}", "math.log({i} + 0.1)",
    "np.cos(0.7 * {i})", "math.atan2({i}, 3.0)", "0.1 * {i} // 0.3", "(-1) ** {i}", "1 / (2 * {i} + 1)",
    "np.array([0.1 * {i}, 1.0]).sum()", "np.linalg.norm(np.array([0.1 * {i}, 1.0, 2.0]))", "float(round(0.37 * {i}, 1))",
    "math.sin({i}) * math.cos({i} * 0.5) + 0.25 ** {i}", "np.exp(np.array([-0.1 * {i}, 0.2]))[{i} % 2]",
)  # fmt: skip
"""Functions of an index that the host computes otherwise than compiled code, or that rules do not let through."""
SHAPES = (
    "for i in range(20):\n    {body}",
    "for i in range(23, 2, -1):\n    {body}",
    "for i in range(1, 60, 3):\n    {body}",
    "for i, a in enumerate(v):\n    {body}",
    "for k in range(5):\n    for i in range(18):\n        {body}",
    "for i in range(18):\n    for k in range(i % 3 + 1):\n        {body}",
    "for i in range(18):\n    for j in range(17):\n        {body}",
    "for i in range(18):\n    for j in range(i + 1):\n        {body}",
    "for i in range(19, -1, -1):\n    for j in range(i // 3, i):\n        {body}",
)
USES = (
    "s = s * 0.5 + x * ({e})", "s += v[int(abs({e}) * 7) % 100]", "s += x if ({e}) > 0.4 else v[i % 100]",
    "h = {e}\n{pad}if x > 0:\n{pad}    s += h * h\n{pad}else:\n{pad}    s -= h",
    "w = np.array([{e}, x, 1.0])\n{pad}s += w[0] * w[1] + w.sum()", "s += max({e}, x) * 0.5",
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_functions_of_an_index_in_all_shapes_and_uses_have_the_same_bits(shape, monkeypatch, reasons):  # noqa: F811
    """Rolled or not is theirs to say; the bits are the law."""
    rolled_ones = 0
    for k, (e, use) in enumerate(itertools.product(INDICES, USES)):
        if k % len(SHAPES) != SHAPES.index(shape):  # each pair in one shape
            continue
        index = e.format(i="(i + 2 * j)" if "j in" in shape else "i")
        pad = "    " * shape.count("\n")
        body = shape.format(body=use.format(e=index, pad=pad))
        f = function(body)
        monkeypatch.setattr(abstract_run, "FEWEST", 4)
        before = len(reasons)
        rolled = stage(f, 0.5, 3, V, M)
        rolled_ones += reasons[before : before + 1] == [""]
        monkeypatch.setattr(abstract_run, "FEWEST", 10**9)
        unrolled = stage(f, 0.5, 3, V, M)
        for x in (0.5, -1.25):
            found = bits(run(rolled, f, x, 3, V, M))
            assert found == bits(run(unrolled, f, x, 3, V, M)), body
            if "sum" not in body and "norm" not in body:
                assert found == bits(f(x, 3, V, M)), body
    assert rolled_ones > 4


UNTABLED = {
    "an error of the host": "for i in range(100):\n    s += x * math.log(i - 200.0) if i > 300 else x",
    "two kinds": "for i in range(70):\n    s += x * (2 ** (i - 3))",
    "more than 64 bits": "for i in range(100):\n    s += x * float(3 ** i % 7)",
    "of several shapes": "for i in range(70):\n    s += x * np.sum(np.ones(i + 1))",
    "what is carried": "h = 0.1\nfor i in range(70):\n    s += x * math.sin(h)\n    h = math.cos(h) + 0.01 * i",
    "of the iteration before": "h = 0.1\nfor i in range(70):\n    s += x * math.sin(h)\n    h = math.cos(0.1 * i)",
    "an error of the host beside a triangle's": "for i in range(40):\n    for j in range(i + 1, 40):\n        s += x * math.log(j - i)\n"
    "    for j in range(i):\n        s += x / (j - i) + 1.0 / (j - i)",
    "a carried number that steps in a triangle": "t = 0.0\nfor i in range(40):\n    for j in range(i):\n        t += 0.1\n    s += x * math.sin(t)",
    "the last index of a triangle": "for i in range(70):\n    for j in range(i + 1):\n        s = s * x + v[j]\n    s -= x * math.sin(j)",
    "a counter of a triangle": "for i in range(18):\n    t = 0.5\n    for j in range(i + 2):\n        s = s * x + math.cos(t * j)\n        t *= 1.1\n    s -= t",
    "printed": "for i in range(70):\n    print(math.sin(0.1 * i))\n    s += x",
}


@pytest.mark.parametrize("body", UNTABLED.values(), ids=UNTABLED)
def test_without_a_table_a_loop_is_unrolled(body, reasons, capsys):  # noqa: F811
    f = function(body)
    try:
        wanted = f(0.5, 3, V, M)
    except ValueError:
        wanted = None
    if wanted is not None:
        assert bits(run(stage(f, 0.5, 3, V, M), f, 0.5, 3, V, M)) == bits(wanted)
    assert not reasons or reasons[-1]


def test_a_table_of_a_large_nest_is_of_its_axes_only():
    """70 x 70 points, of which a row of numbers depends on one index."""
    f = function("for i in range(70):\n    for j in range(70):\n        s += x * math.sin(0.1 * i) * v[j]")
    staged = stage(f, 0.5, 3, V, M)
    assert size(staged.function) < 80
    assert bits(run(staged, f, 0.5, 3, V, M)) == bits(f(0.5, 3, V, M))


CHECKED = ("powers", "two axes", "an array", "time", "an array of the host that two loops read", "divided in place")


@pytest.mark.parametrize("name", CHECKED)
def test_derivatives_of_loops_with_tables(name):
    """By CPython, the interpreter and compiled code, differences, both modes, to order 2."""
    f = function(TABLED[name])
    assert api.check(api.jit(f), 0.5, 3, V, M, order=2)


READS = (
    "math.cos(w[i - 1])",
    "math.cos(w[i % 3] + 0.1 * i)",
    "(w[i - 1] + 2.0) ** 0.5",
    "np.exp(-w[i - 1])",
    "np.tanh(w)[3]",
    "np.tanh(w * (i + 1))[i - 1]",
    "np.sin(w[:5]).sum()",
    "1.0 / (w[3] + 1.5)",
    "(w * 2.0)[i % 5]",
    "np.linalg.norm(w)",
    "(w.reshape(10, 10) @ w[:10])[1]",
    "math.sqrt(max(w[4], 0.25))",
)
WRITTEN = {
    "behind": "for i in range(100):\n    s += {0} * 0.01\n    w[i] = s * 0.1 + x",
    "before": "for i in range(100):\n    w[i % 7] += s * 0.1\n    s += {0} * 0.01",
    "under a test": "for i in range(100):\n    if v[i] > x:\n        w[i] = {0} * 0.1 + x\n    s += w[3]",
    "in a loop inside": "for i in range(20):\n    for j in range(20):\n        s += {0} * 0.01\n        w[j] = s * 0.01 + x",
    "behind a loop inside": "for k in range(20):\n    for i in range(100):\n        s += {0} * 0.001\n    w[3] = s\n    w[4] = x",
    "in a staged loop": "for k in rose.range(n):\n    for i in range(100):\n        s += {0} * 0.001\n    w[3] = s\n    w[4] = x",
    "in a while": "k = 0\nwhile k < 3 + x:\n    for i in range(100):\n        s += {0} * 0.001\n    w[k] += s + 0.1\n    k += 1",
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("start", ["np.zeros(100)", "np.linspace(0.3, 0.9, 100)"])
def test_what_a_loop_writes_is_in_no_table(start, written, read, monkeypatch):
    """An array that the host knew before the loop is read in it as it has become."""
    f = function(f"w = {start}\n{WRITTEN[written].format(read)}\ns = s + w")
    monkeypatch.setattr(abstract_run, "FEWEST", 16)
    staged = stage(f, 0.3, 4, V, M)
    for x in (0.3, -0.2):
        assert run(staged, f, x, 4, V, M) == pytest.approx(f(x, 4, V, M), rel=1e-12)
