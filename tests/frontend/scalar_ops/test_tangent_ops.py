"""Rules that add up tangents in staged loops, from zero: a constant zero becomes a tangent, and nothing else does."""

import linecache

import numpy as np
import pytest

import rosejit as rose

X, V = np.array([1.0, 2.0, 3.5]), np.array([1.0, -2.0, 0.5])
LOOP = "for i in rose.range(3):\n    "

SUMS = [
    "s = sum(x.du[i] for i in rose.range(len(x.du)))",
    "s = sum(sum(x.du[j] * 0.5 for j in rose.range(3)) for i in rose.range(2))",
    "s = sum(x.du[i] for i in rose.range(3) if x.re[i] > 0)",
    f"s = 0.0\n{LOOP}s += x.du[i]",
    f"s = 0\n{LOOP}s = s + x.du[i]",
    f"s = 0.0\n{LOOP}s = x.du[i] - (-s)",
    f"s = 0.0\n{LOOP}s = 1.0 * (2 * s / 2.0) + x.du[i]",
    f"s = 0.0\n{LOOP}if x.re[i] > -1:\n        s += x.du[i]",
    "s = 0.0\nfor i in rose.range(2):\n    for j in rose.range(3):\n        s += x.du[j] / 2",
    "s, i = 0.0, 0\nwhile x.re[i] < 100.0:\n    s += x.du[i]\n    i += 1\n    if i > 2:\n        break",
    f"s, t = 0.0, 0.0\n{LOOP}s, t = t + x.du[i], s\ns = s + t",
    f"s = 0.0\n{LOOP}r = s * 0.5\n    s = r + r + x.du[i]\n    last = r",
    "s = x.du[0]\nfor i in rose.range(2):\n    s = s + x.du[i + 1] if i >= 0 else 0.0",
    f"s = x.du[0] * 2\n{LOOP}if i == 0:\n        s = 0.0\n    s += x.du[i]",
    f"def add(a, b):\n    return a + b\ns = 0.0\n{LOOP}s = add(s, x.du[i])",
    f"s = 0.0\ndef add(b):\n    nonlocal s\n    s += b\n{LOOP}add(x.du[i])",
    f"p = (0.0, 0.0)\n{LOOP}p = (p[0] + x.du[i], p[1] + 1.0)\ns = p[0]",
    f"d = np.zeros_like(x.du)\n{LOOP}d[i] = x.du[i]\ns = d.sum()",
    "d = np.zeros_like(x.du)\nd[0] = x.du[0]\nd[1:] += x.du[1:]\nd[:0] = 0.0\ns = sum(d)",
]

FAULTS = {
    f"s = 0.0\n{LOOP}s += x.du[i] + 1.0": ("`+` of a tangent and a number that is none", "s += x.du[i] + 1.0"),
    f"s = 1.0\n{LOOP}s += x.du[i]": ("`+` of a tangent and a number that is none", "s += x.du[i]"),
    f"s = 0.0\n{LOOP}s += x.du[i]\n    s = s * s": ("`*` of a tangent is not linear", "s = s * s"),
    f"s = r = 0.0\n{LOOP}s = r + x.du[i]\n    r = 2.0": (
        "`+` of a tangent and a number that is none",
        "s = r + x.du[i]",
    ),
    f"s = r = 0.0\n{LOOP}r += 1.0\n    s = s + x.du[i] if i > 1 else r": ("`if` of a tangent", "s = s + x.du[i] if"),
    f"s = 0.0\n{LOOP}s += x.du[i]\n    r = s > 1": ("`>` of a tangent", "r = s > 1"),
    f"s = 0.0\n{LOOP}s += abs(s) + x.du[i]": ("`abs` of a tangent", "s += abs(s) + x.du[i]"),
    f"s = 0.0\nd = np.zeros(3)\n{LOOP}d[i] = s\n    s += x.du[i]": ("`=` of a tangent", "d[i] = s"),
    f"d = np.zeros(3)\n{LOOP}d[i] = x.du[i]\ns = d.sum()": ("zeros_like", "d[i] = x.du[i]"),
}


def summed(body: str) -> rose.Function:
    """The product of the sum of a vector, whose rule leaves the derivative in `s`, and its first element."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = (
        "@rose.opaque\ndef total(x: rose.Vec['n']) -> float:\n    return float(np.sum(x))\n\n\n"
        f"@total.jvp\ndef _(x: rose.Dual) -> rose.Dual:\n{lines}    return rose.Dual(total(x.re), s)\n\n\n"
        "@rose.jit\ndef f(x: rose.Vec['n']) -> float:\n    return total(x) * x[0]\n"
    )
    name = f"<rule {body}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"np": np, "rose": rose, "__name__": name}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("body", SUMS)
def test_sums_from_zero(body):
    f = summed(body)
    gradient = np.array([X.sum() + X[0], X[0], X[0]])
    np.testing.assert_allclose(rose.grad(f)(X), gradient, rtol=1e-15)
    assert rose.jvp(f, (X,), (V,)) == (X.sum() * X[0], pytest.approx(gradient @ V))
    np.testing.assert_allclose(rose.hessian(f)(X), [[2.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


@pytest.mark.parametrize("body", FAULTS)
def test_what_is_not_linear(body):
    words, line = FAULTS[body]
    with pytest.raises(rose.StagingTypeError) as caught:
        rose.grad(summed(body))(X)
    assert words in str(caught.value)
    assert line in str(caught.value)
