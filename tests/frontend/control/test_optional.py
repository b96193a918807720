"""A value or None, and only running tells which: as CPython has it, in every place, with derivatives."""

import copy
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import NotDifferentiable, RoseError, StagingTypeError
from tests.frontend.oracle import define


@dataclass
class Hit:
    """An object with numbers in it."""

    time: float
    speed: float


def positive(x):
    """A number or None."""
    if x > 0:
        return x * x
    return None


WORLD = {"rose": rose, "np": np, "math": math, "Hit": Hit, "positive": positive}
VALUES = {
    "number": ("x", "q * q"),
    "int": ("3", "q + x"),
    "bool": ("x > 2.0", "(1.0 if q else x)"),
    "array": ("np.array([x, 2.0 * x])", "q.sum() + q[0]"),
    "tuple": ("(x, 2.0)", "q[0] * q[1]"),
    "list": ("[x, 2.0]", "q[0] + sum(q) + len(q)"),
    "dict": ("{'a': x}", "q['a'] * x"),
    "object": ("Hit(x, 2.0)", "q.time * q.speed"),
    "complex": ("complex(x, 1.0)", "(q * q).real"),
    "text": ("'a'", "(x if q == 'a' else 2.0)"),
    "function": ("math.sin", "q(x)"),
}
MADE = {
    "if": "    q = None\n    if x > 1.0:\n        q = {value}",
    "else": "    if x > 1.0:\n        q = {value}\n    else:\n        q = None",
    "expression": "    q = {value} if x > 1.0 else None",
    "call": "    def made(x):\n        if x > 1.0:\n            return {value}\n    q = made(x)",
    "early return": "    def made(x):\n        if x <= 1.0:\n            return None\n        return {value}\n    q = made(x)",
    "loop": "    q = None\n    for i in rose.range(3):\n        if i + x > 2.5:\n            q = {value}",
    "first of a loop": "    q = None\n    for i in rose.range(3):\n        if q is None and i + x > 2.5:\n            q = {value}",
    "break": "    q = None\n    for i in rose.range(3):\n        if i + x > 2.5:\n            q = {value}\n            break",
    "while": "    q, k = None, x\n    while k > 1.0:\n        q = {value}\n        k = k - 1.0",
    "host loop": "    q = None\n    for i in range(3):\n        if i + x > 2.5:\n            q = {value}",
    "unset": "    q = {value}\n    if x <= 1.0:\n        q = None",
    "in a list": "    r = [None, 1.0]\n    if x > 1.0:\n        r[0] = {value}\n    q = r[0]",
    "attribute in a loop": "    h = Hit(None, 1.0)\n    for i in rose.range(3):\n        if i + x > 2.5:\n            h.time = {value}\n    q = h.time",
    "item in a while": "    r, k = [None, 1.0], x\n    while k > 1.0:\n        r[0] = {value}\n        k = k - 1.0\n    q = r[0]",
    "attribute": "    h = Hit(None, 1.0)\n    if x > 1.0:\n        h.time = {value}\n    q = h.time",
}
USED = {
    "is None": "    if q is None:\n        return -1.0\n    return {use}",
    "is not None": "    if q is not None:\n        return {use}\n    return -1.0",
    "expression": "    return -1.0 if q is None else {use}",
    "and": "    return x if q is not None and {use} > 2.0 else -x",
    "or": "    return x if q is None or {use} > 2.0 else -x",
    "match": "    match q:\n        case None:\n            return -1.0\n    return {use}",
    "unasked": "    return {use}",
    "twice": "    r = 0.0\n    if not (q is None):\n        r = r + {use}\n    if q is not None:\n        r = r + {use}\n    return r",
    "in a loop": "    r = 0.0\n    for k in rose.range(2):\n        if q is not None:\n            r = r + {use}\n    return r",
}


def run(f, x):
    """What a call gives, or that it raises."""
    try:
        return f(x)
    except RoseError as error:
        return (
            "refused" if not isinstance(error, StagingTypeError) or "None on the path" not in str(error) else "raises"
        )
    except (TypeError, AttributeError):
        return "raises"


@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("value", VALUES)
def test_as_in_python(value, made, used):
    written, use = VALUES[value]
    source = f"def f(x):\n{MADE[made].format(value=written)}\n{USED[used].format(use=use)}\n"
    plain, staged = define(source, **WORLD), rose.jit(define(source, **WORLD))
    refused = 0
    for x in (0.25, 1.5, 3.0):
        wanted, found = run(plain, x), run(staged, x)
        refused += found == "refused"
        if found != "refused":
            assert found == wanted or found == pytest.approx(wanted, rel=1e-14)
    if value in ("number", "array", "tuple", "complex") or (value == "object" and "loop" not in made):
        assert not refused
    if value == "number" and used in ("is None", "in a loop"):
        slope = rose.grad(staged)
        for x in (0.25, 1.5, 3.25):
            wanted = (plain(x + 1e-6) - plain(x - 1e-6)) / 2e-6
            assert slope(x) == pytest.approx(wanted, abs=1e-5)
            assert rose.jvp(staged, (x,), (1.0,))[1] == slope(x)
            assert rose.grad(slope)(x) == rose.jvp(slope, (x,), (1.0,))[1]


UNBOUND = {
    "None, then a number": "if x > i:\n            q = None\n        if x > i:\n            q = x",
    "None in an iteration, a number in another": "if i == 1 and x > 1:\n            q = x\n        if i == 0:\n            q = None",
    "a text": "if i == 1 and x > 1:\n            q = 'a'\n        if i == 0:\n            q = None",
    "one text, then another": "if i > 1:\n            q = 'a'\n        if i > 0 and q == 'a':\n            x = x + 1.0\n        q = 'b'",
    "unset": "if i == 0:\n            q = x\n        if i > 5:\n            q = None\n        if q is not None:\n            x = x + 1.0",
    "always a number in the end": "if i == 1:\n            q = None\n        if i > 0 and q is None:\n            x = x + 1.0\n        q = x",
    "always None in the end": "if i >= 0:\n            q = x\n        if q is not None:\n            x = x + 1.0\n        q = None",
    "an inner loop": "for k in rose.range(2):\n            if i == 0 and k == 1:\n                q = None\n            if i == 1 and x > 1:\n                q = x",
    "left": "if x > i:\n            q = None\n            break\n        if x > 2 * i:\n            q = x",
    "results": "if i > 1:\n            return None\n        if x > 1.0:\n            return x\n        q = 1.0",
    "results of a search": "if q0 is not None and x > 2:\n            return None\n        if q0 is None and x > 1:\n            return x\n        q0 = q = x",
}
LOOPS = {"for": "for i in rose.range(3):", "while": "i = -1\n    while i < 2:\n        i = i + 1"}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", UNBOUND)
def test_unbound_before_a_loop(name, loop):
    """What an iteration leaves is what the next begins with, whatever is joined with it first."""
    use = "20.0" if "text" in name else "10.0 + q"
    body = f"    {LOOPS[loop]}\n        {UNBOUND[name]}\n    return x if q is None else x + {use}\n"
    source = f"def f(x):\n    q0 = None\n{body}"
    plain, staged = define(source, **WORLD), rose.jit(define(source, **WORLD))
    for x in (0.25, 1.5, 3.25):
        found = run(staged, x)
        assert found in (plain(x), "refused")
        assert found != "refused" or "text" in name or (name, loop) == ("an inner loop", "while")


RESULTS = {
    "number": lambda x: x * x if x > 0 else None,
    "array": lambda x: np.array([x, x * x]) if x > 0 else None,
    "in a tuple": lambda x: (x if x > 0 else None, None if x > 0 else 2.0 * x),
    "in a dict": lambda x: {"a": positive(x), "b": x},
    "object": lambda x: Hit(x, 2.0) if x > 0 else None,
    "falls off the end": positive,
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    f = RESULTS[name]
    staged = rose.jit(f)
    compiled = staged.lower(1.0).compile()
    loaded = pickle.loads(pickle.dumps(compiled)) if name != "object" else copy.copy(compiled)
    for x in (2.0, -2.0):
        for each in (staged, compiled, loaded, rose.jit(lambda x: staged(x))):
            np.testing.assert_equal(each(x), f(x))
        with rose.disable_jit():
            np.testing.assert_equal(staged(x), f(x))
        assert rose.check(f, x)


@rose.jit
def least(x: float, n: int) -> float | None:
    """The least distance to an even number below `n`; None where there is none."""
    best = None
    for i in rose.range(n):
        distance = (2 * i - x) ** 2
        if best is None or distance < best:
            best = distance
    return best


def test_derivatives_are_those_of_the_value():
    assert least(3.5, 0) is None
    assert least(3.5, 5) == 0.25
    assert rose.grad(least)(3.5, 5) == -1.0
    assert rose.value_and_grad(least)(3.5, 5) == (0.25, -1.0)
    assert rose.hessian(least)(3.5, 5) == 2.0
    assert rose.jacfwd(least)(3.5, 5) == rose.jacrev(least)(3.5, 5) == -1.0
    value, pull = rose.vjp(lambda x: least(x, 5), 3.5)
    assert (value, pull(2.0)) == (0.25, (-2.0,))
    assert rose.taylor(lambda x: least(x, 5), 3.5, 1.0, 2) == (0.25, -1.0, 2.0)
    for derivative in (rose.grad, rose.hessian, rose.jacfwd, rose.jacrev):
        with pytest.raises(StagingTypeError, match="taken where its result is None"):
            derivative(least)(3.5, 0)


def test_what_is_stacked_is_never_none():
    with pytest.raises(
        StagingTypeError, match="`positive` gives a value or None, and `rose.vmap` stacks what it gives"
    ):
        rose.vmap(positive)(np.array([1.0, -1.0]))


def test_hints():
    def number(x: float) -> float:
        return positive(x)  # what is promised is not kept

    with pytest.raises(StagingTypeError, match="should return a number, and returns value or None"):
        rose.jit(number)(1.0)

    @rose.jit
    def other(q: float | None) -> float:
        return 7.0 if q is None else q

    assert [rose.jit(lambda x: other(positive(x)))(x) for x in (2.0, -2.0)] == [4.0, 7.0]
    with pytest.raises(NotDifferentiable):
        rose.grad(lambda x: (positive(x), 1.0))(1.0)


@pytest.mark.parametrize(
    "asks", ["isinstance(q, float)", "type(q)", "str(q)", "f'{q}'", "hash(q)", "np.shape(q)", "print(q)"]
)
def test_who_asks_what_it_is_is_not_told(asks):
    f = define(f"def f(x):\n    q = positive(x)\n    {asks}\n    return x", **WORLD)
    with pytest.raises(RoseError):
        rose.jit(f)(1.0)


_INDEXED = {
    "an element": "a[k]", "of two": "m[k, 1]", "the second": "m[1, k]", "a row": "m[k].sum()", "of a list": "[t, 2.0, 3.0][k]",
    "stored": "stored(a.copy(), k)", "added": "added(a.copy(), k)",
}  # fmt: skip
_FIND = """
def find(a, t):
    for i in rose.range(len(a)):
        if a[i] == t:
            return i
    return None


def stored(b, k):
    b[k] = 7.0
    return b.sum()


def added(b, k):
    b[k] += 7.0
    return b.sum()


"""


@pytest.mark.parametrize("use", _INDEXED)
def test_an_index_or_none(use):
    text = f"{_FIND}def f(a, m, t):\n    k = find(a, t)\n    return -1.0 if k is None else {_INDEXED[use]}\n"
    f = define(text, rose=rose)
    a = np.array([1.0, 2.0, 3.0])
    for t in 2.0, 3.0, 9.0:
        assert rose.jit(f)(a, np.outer(a, a), t) == f(a, np.outer(a, a), t)
    unasked = define(f"{_FIND}def f(a, m, t):\n    k = find(a, t)\n    return {_INDEXED[use]}\n", rose=rose)
    with pytest.raises(TypeError, match="None"):
        rose.jit(unasked)(a, np.outer(a, a), 9.0)
