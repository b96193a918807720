"""Functions that are staged from Python text of ours, called in every place of a function of the user's.

18 calls x 15 places x 4 ways (called, called by a decorated function, mapped, differentiated): 1,080 results, each the
one that CPython gives. What is known of the function being staged must be its own while another one is staged in it.
"""

import math

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

CALLS = {
    "remainder": "math.remainder(x, 1.75)",
    "gcd": "x * math.gcd(n, 12)",
    "gcd of three": "x * math.gcd(n, 12, n + 2)",
    "lcm": "x * math.lcm(n, 6)",
    "comb": "x * math.comb(n, 3)",
    "perm": "x * math.perm(n, 2)",
    "perm of one": "x * math.perm(n)",
    "factorial": "x * math.factorial(n)",
    "isqrt": "x * math.isqrt(n * 5)",
    "modf": "math.modf(x)[0] + 10.0 * math.modf(x)[1]",
    "frexp": "math.frexp(x)[0] + math.frexp(x)[1]",
    "ldexp": "math.ldexp(x, n)",
    "bit_count": "x * (n * 7).bit_count()",
    "np.gcd": "x * np.gcd(n, 12)",
    "np.lcm": "x * np.lcm(n, 6)",
    "np.ldexp": "np.ldexp(x, n)",
    "np.linalg.solve": "np.linalg.solve(np.array([[2.0, x], [0.0, 1.0]]), np.array([x, 1.0]))[0]",
    "np.sort": "np.sort(np.array([3.0, x, 1.0]))[1] + x",
}
PLACES = {
    "returned": "return {}",
    "after an early return": "if x == 0.25: return 0.5\nreturn {}",
    "after two": "if x == 0.25: return 0.5\nif x > 100.0: return 0.75\nreturn {}",
    "before an early return": "s = {}\nif x == 0.25: return 0.5\nreturn s",
    "the early return": "if x > 0.5: return {}\nreturn 2.0 * x",
    "both returns": "if x > 100.0: return {0}\nreturn 2.0 * ({0})",
    "in an if": "s = 0.0\nif x > 0.5: s = {}\nreturn s",
    "in an untaken if": "s = x\nif x < 0.5: s = {}\nreturn s",
    "in a loop": "s = 0.0\nfor i in rose.range(3): s += {}\nreturn s",
    "in a loop that returns": "s = 0.0\nfor i in rose.range(5):\n    if i == n - 2: return s\n    s += {}\nreturn 7.0",
    "in a while": "s, k = 0.0, n\nwhile k > 2:\n    s += {}\n    k -= 1\nreturn s",
    "in a comprehension": "return sum([{} for i in rose.range(3)])",
    "in a function inside": "def inner(x, n):\n    if x == 0.25: return 0.5\n    return {}\nreturn inner(x, n) + 1.0",
    "in a lambda": "if x == 0.25: return 0.5\nreturn (lambda x, n: {})(x, n)",
    "in a decorated function": "if x == 0.25: return 0.5\nreturn called(x, n) + 1.0",
}
POINTS = ((3.3, 4), (0.25, 5), (-1.2, 3))


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_as_in_python(call, place):
    world = {"math": math, "np": np, "rose": rose}
    told = "def called(x: float, n: int) -> float:\n    if x == 0.25: return 0.5\n    return " + call
    lines = place.format(call).replace("\n", "\n    ")
    text = f"def f(x: float, n: int) -> float:\n    {lines}"
    plain = define(text, called=define(told, **world), **world)
    f = rose.jit(define(text, called=rose.jit(define(told, **world)), **world))
    g = rose.jit(define("def g(x: float, n: int) -> float:\n    return f(x, n)", f=f))
    expected = [float(plain(x, n)) for x, n in POINTS]
    assert [f(x, n) for x, n in POINTS] == pytest.approx(expected, rel=1e-15)
    assert [g(x, n) for x, n in POINTS] == pytest.approx(expected, rel=1e-15)
    for n in {n for _, n in POINTS}:
        points = np.array([x for x, other in POINTS if other == n])
        each = [y for y, (_, other) in zip(expected, POINTS, strict=True) if other == n]
        assert list(rose.vmap(f, in_axes=(0, None))(points, n)) == pytest.approx(each, rel=1e-15)
    h = 1e-6
    x, n = POINTS[0]
    slope = (plain(x + h, n) - plain(x - h, n)) / (2.0 * h)
    assert rose.grad(f)(x, n) == pytest.approx(slope, rel=1e-6, abs=1e-8)
