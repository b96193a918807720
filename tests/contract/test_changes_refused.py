"""What staged code may not do to values of the host and to arrays, and how it is told; nothing is half done."""

import collections
import functools
import types
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec
from rosejit.errors import RoseError, StagingTypeError, UnsupportedSyntax
from tests.frontend.oracle import define, evaluate, fault


@dataclass
class Record:
    u: float

    def grow(self, k):
        self.u = self.u + k


class Counter:
    def __init__(self, w):
        self.w = w

    def step(self, x):
        self.w = self.w * x


def append(items, v):
    items.append(v)


SCOPE: dict[str, Any] = {
    "np": np, "rose": rose, "Mat": Mat, "Vec": Vec, "Array": Array, "collections": collections, "Record": Record,
    "Counter": Counter, "append": append,
}  # fmt: skip
X = np.array([0.5, 1.0, 2.0])
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
ARGUMENTS = (X, np.array([True, False, True]), M, 1.5, 1)
HEADER = "def f(x: Vec[3], p: Array[3, bool], m: Mat[3, 3], s: float, i: int):"


def faulty(statements: str) -> RoseError:
    """The error of a function of these statements, one a line."""
    body = "\n".join("    " + line for line in statements.split("\n"))
    return fault(define(f"{HEADER}\n{body}", **SCOPE), *ARGUMENTS)


CHANGES = {
    "l = []\nfor j in rose.range(3): l.append(x[j])\nreturn l": "a list",
    "l = []\nif s > 1: l.insert(0, s)\nreturn l": "a list",
    "l = [s]\nfor j in rose.range(3): append(l, x[j])\nreturn l": "a list",
    "l = [s]\nfor j in rose.range(3): l += [x[j]]\nreturn l": "a list",
    "l = [1, 2]\nfor j in rose.range(3): del l[0]\nreturn l": "a list",
    "l = [3, 1]\nif s > 0: l.sort()\nreturn l[0]": "a list",
    "d = {}\nfor j in rose.range(3): d[0] = x[j]\nreturn d": "a dict",
    "d = {}\nif s > 1: d.update(a=s)\nreturn d": "a dict",
    "d = {}\nwhile s > 1:\n    s = s / 2\n    d.setdefault(0, s)\nreturn d": "a dict",
    "d = collections.defaultdict(float)\nfor j in rose.range(3): d[0] += x[j]\nreturn d[0]": "a defaultdict",
    "d = set()\nif s > 1: d.add(1)\nreturn len(d)": "a set",
    "q = collections.deque([s])\nfor j in rose.range(3): q.append(x[j])\nreturn q[0]": "a deque",
    "t = iter([1.0, 2.0])\nfor j in rose.range(2): s += next(t)\nreturn s": "an iterator",
    "t = (v for v in [1.0, 2.0])\nfor j in rose.range(2):\n    for v in t: s += v\nreturn s": "an iterator",
    "t = zip([1.0], [2.0])\nif s > 1: s += sum(u * v for u, v in t)\nreturn s": "an iterator",
}
"""Changes of containers from outside in staged branches and loops, and what is named in the refusal."""
HIDDEN = {
    "import heapq\nl = [3.0, 1.0]\nfor j in rose.range(2): heapq.heappush(l, 2.0)\nreturn len(l)": "a list",
    "import bisect\nl = [1.0, 3.0]\nif s > 1: bisect.insort(l, 2.0)\nreturn l[0]": "a list",
}
"""Changes by functions that nobody can look into."""
ARRAYS = {
    "x[0] = 1.0\nreturn x": "`x` is an argument",
    "y = x\ny += 1.0\nreturn y": "`x` is an argument",
    "y = x[1:]\ny[0] = s\nreturn y": "`x` is an argument",
    "y = x.reshape(3, 1)\ny[0, 0] = s\nreturn y": "`x` is an argument",
    "y = m.T\ny[0, 1] = s\nreturn y": "`m` is an argument",
    "y = np.broadcast_to(x, (2, 3))\ny[0, 0] = s\nreturn y": "`x` is an argument",
    "y = np.diagonal(m.copy())\ny[0] = 1.0\nreturn y": "never written",
    "y = x.copy()\nz = x * 2\nu = y if s > 1 else z\nu[0] = 9.0\nreturn y[0]": "may be the same",
    "y = x.copy()\nz = y.reshape(3, 1)\nz[0, 0] = s\nreturn y": "may be the same",
    "y = x.copy()\nz = y.reshape(3, 1)\ny[0] = s\nreturn z": "may be the same",
    "y = x.copy()\nz = np.broadcast_to(y, (2, 3))\ny[0] = s\nreturn z": "may be the same",
    "y = m.copy()\nz = np.diag(y)\ny[0] = s\nreturn z": "may be the same",
    "y = m.copy()\nz = y.ravel()\nfor j in rose.range(3): z[j] = s\nreturn y": "may be the same",
    "y = np.zeros(3)\ny.shape = (3, 1)\nreturn y": "the shape",
    "y = np.zeros(3, dtype=int)\ny[0] = s\nreturn y": "cannot hold a Real",
    "y = x\nfor j in rose.range(3): y = np.concatenate([y, [s]])\nreturn y": "(4,)",
    "return np.zeros(i)": "shape of an array",
    "return np.full((i, 2), s)": "shape of an array",
    "return x[:i]": "bounds of a slice",
    "return x.reshape(i, -1)": "a shape",
    "return p - p": "not subtracted",
    "return p @ p": "truth values",
    "return {x: 1}": "no key",
    "return s in x": "`in` an array",
    "return 1.0 if x else 2.0": "ambiguous",
}
MASKS = {
    "return x[x > 1]": "number of elements",
    "return x[x > 1] + x": "number of elements",
    "return x[x > 1].reshape(2)": "`.reshape`",
    "return [v for v in x[x > 1]]": "a loop",
    "return x[x > 1][0]": "an index",
    "return np.where(x > 1)": "`np.where`",
    "return np.nonzero(p)[0]": "`np.nonzero`",
    "return m[p].sum(axis=1)": "along another axis",
    "y = x.copy()\ny[p] = [1.0, 2.0]\nreturn y": "an array with a value",
    "y = x.copy()\ny[p] = x\nreturn y": "an array with a value",
    "y = x.copy()\ny[m > 0] = 1.0\nreturn y": "has 1 dimension",
    "return [x[j] for j in rose.range(3) if x[j] > 1]": "a staged `if`",
}
FUNCTIONS = {
    "return np.unique(x)": "`np.unique`",
    "return np.linalg.eigvals(m)": "may be complex",
    "return np.linalg.norm(m, 3)": "order 3",
    "return np.nextafter(x, 1.0)": "`np.nextafter`",
    "return x.byteswap()": "`.byteswap`",
    "return np.sum(x, dtype=np.float16)": "float16",
    "return np.exp(x, where=p)": "where",
    "return np.cumsum(x, 0, None, x)": "np.cumsum",
    "return np.linalg.solve(m, x[:2])": "(2,)",
    "return np.linalg.inv(m[:2])": "square",
    "return np.interp(s, x, x[:2])": "one length",
    "return np.concatenate([x, m])": "cannot be joined",
    "return np.einsum('ij,j', m, x[:2])": "einsum",
    "return np.random.default_rng(0).gamma(x)": "gamma",
}


ATTRIBUTES = [
    "c = Counter(s)\nfor j in rose.range(3): c.step(x[j])\nreturn c.w",
    "c = Counter(s)\nif s > 1: c.w = 3.0\nreturn c.w",
    "c = Counter(s)\nfor j in rose.range(2): setattr(c, 'w', x[j])\nreturn c.w",
    "d = Record(s)\nfor j in rose.range(3): d.grow(1.0)\nreturn d.u",
]


@pytest.mark.parametrize("statements", ATTRIBUTES)
def test_attributes_may_be_changed(statements: str) -> None:
    body = "\n".join("    " + line for line in statements.split("\n"))
    function = define(f"{HEADER}\n{body}", **SCOPE)
    assert evaluate(function, *ARGUMENTS) == function(*ARGUMENTS)


@pytest.mark.parametrize("statements", [*CHANGES, *HIDDEN])
def test_the_host_is_not_changed_in_staged_code(statements: str) -> None:
    error = faulty(statements)
    assert isinstance(error, UnsupportedSyntax)
    assert ({**CHANGES, **HIDDEN}[statements]) in str(error)
    assert "a staged " in str(error)
    assert "help: " in str(error)


@pytest.mark.parametrize("statements", [*ARRAYS, *MASKS, *FUNCTIONS])
def test_what_arrays_cannot_do_is_refused(statements: str) -> None:
    error = faulty(statements)
    assert {**ARRAYS, **MASKS, **FUNCTIONS}[statements] in str(error)
    assert statements.rpartition("\n")[2].strip().split(": ")[-1] in str(error) or "\n" in statements


def test_nothing_is_half_done():
    kept, table, queue = [1.0], {"a": 1.0}, [3.0, 1.0]

    def f(x: Vec[3]):
        for v in x:
            kept.append(2.0) if len(kept) > 9 else None
        for i in rose.range(3):
            kept.append(x[i])
        return x

    def g(x: Vec[3]):
        for i in rose.range(3):
            table.update(b=x[i])
        return x

    def h(x: Vec[3]):
        import heapq

        for _ in rose.range(3):
            heapq.heappush(queue, 2.0)
        return x

    for function in (f, g, h):
        with pytest.raises(UnsupportedSyntax):
            evaluate(function, X)
    assert (kept, table, queue) == ([1.0], {"a": 1.0}, [3.0, 1.0])


def test_the_memory_of_the_caller_is_not_written():
    table = np.array([3, 1, 2])

    def f(x: Vec[3]):
        np.random.default_rng(0).shuffle(table)
        return x * table

    with pytest.raises(StagingTypeError, match="never written"):
        evaluate(f, X)
    assert table.tolist() == [3, 1, 2]


def _load(name: str) -> float:
    if name != "rate":
        raise AttributeError(name)
    lazy.rate = 2.0
    return 2.0


lazy = types.ModuleType("lazy")
lazy.__getattr__ = _load


@rose.jit
def by_rate(x: float) -> float:
    return x * lazy.rate


@rose.jit
def thrice(x: float) -> float:
    for _ in rose.range(3):
        x = by_rate(x)
    return x


def test_what_a_module_loads_when_it_is_asked_for_is_no_change() -> None:
    assert thrice(1.0) == 8.0


_DESCRIBED = {
    "repr": "repr(c)", "the method": "c.__repr__()", "hash": "hash(c)", "a set": "{c}", "a dict": "{c: 1}",
    "a look-up": "{}.get(c)", "dir": "dir(c)", "an f-string": "f'{c!r}'",
}  # fmt: skip


@pytest.mark.parametrize("way", _DESCRIBED)
@pytest.mark.parametrize("block", ["for i in rose.range(3)", "if x > 0.0", "while s < 2.0 * x"])
def test_what_describes_an_object_has_no_effect_in_a_block(block, way):
    seen = []

    class Told:
        def __repr__(self):
            seen.append("repr")
            return "told"

        def __hash__(self):
            seen.append("hash")
            return 1

        def __dir__(self):
            seen.append("dir")
            return []

    c = Told()
    text = f"def f(x):\n    s = 0.0\n    {block}:\n        {_DESCRIBED[way]}\n        s += x\n    return s\n"
    with pytest.raises(UnsupportedSyntax, match="`seen`, from outside of a staged branch or loop, is changed in it"):
        rose.jit(define(text, c=c, rose=rose))(1.0)


def test_what_describes_an_object_without_an_effect():
    class Still:
        def __hash__(self):
            return 7

        def __repr__(self):
            return "still"

    c = Still()
    f = define(
        """
        def f(x):
            s = 0.0
            for i in rose.range(3):
                s += x * {c: hash(c)}[c] + len(repr(c))
            return s
        """,
        c=c,
        rose=rose,
    )
    assert rose.jit(f)(2.0) == f(2.0)


def test_a_cache_is_not_cleared_in_staged_code():
    table = functools.lru_cache(lambda k: 2.0 * k)
    f = define("def f(x):\n    y = x * table(2)\n    table.cache_clear()\n    return y\n", table=table)
    with pytest.raises(UnsupportedSyntax, match=r"a cache is cleared while the function is staged(.|\n)*rose\.opaque"):
        rose.jit(f)(1.0)


@pytest.mark.parametrize(
    ("hint", "change", "value", "copy"),
    [
        ("dict", "p['u'] = p['u'] * 2.0", {"u": 1.0}, "dict"),
        ("list[float]", "p[0] = p[0] * 2.0", [1.0, 2.0], "list"),
        ("list[float]", "p.append(2.0)", [1.0, 2.0], "list"),
    ],
)
def test_a_container_that_is_an_argument_is_changed_in_a_copy(hint, change, value, copy):
    refused = rose.jit(define(f"def f(p: {hint}) -> float:\n    {change}\n    return sum(p)\n", **SCOPE))
    with pytest.raises(UnsupportedSyntax, match=rf"`a = {copy}\(a\)`"):
        refused(value)
    result = "p['u']" if copy == "dict" else "p[0] + p[-1]"
    text = f"def f(p: {hint}) -> float:\n    p = {copy}(p)\n    {change}\n    return {result}\n"
    before = value.copy()
    plain = define(text, **SCOPE)
    assert rose.jit(plain)(value) == plain(value)
    assert value == before


def test_a_cross_product_in_the_plane_says_what_to_write():
    planar = rose.jit(define("def f(p: Mat[4, 2]) -> float:\n    return np.cross(p, p).sum()\n", **SCOPE))
    with pytest.raises(rose.ShapeError, match=r"a\[..., 0\] \* b\[..., 1\] - a\[..., 1\] \* b\[..., 0\]"):
        planar(np.ones((4, 2)))
