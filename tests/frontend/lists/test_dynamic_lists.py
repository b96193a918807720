"""Lists that staged loops grow: ways to make one x what its items are x what is done with it, beside CPython.

A loop whose length only running tells appends; then a list is used as lists are. Derivatives are beside differences.
"""

import heapq
import math
from collections import deque
from itertools import product
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import list_room
from tests.frontend.oracle import define
from tests.tables import part

# pyright: basic

HEAD = """
import copy, heapq, math
from collections import deque
from dataclasses import dataclass, field
import rosejit as rose
"""

PLACES = {
    "while": """
def f(x: float, n: int) -> float:
    xs = {start}
    k = 0
    while k < n:
        xs.append({item})
        k += 1
    {use}
""",
    "while, some": """
def f(x: float, n: int) -> float:
    xs = {start}
    k = 0
    while k < n:
        if x * k < 1.5:
            xs.append({item})
        k += 1
    {use}
""",
    "for": """
def f(x: float, n: int) -> float:
    xs = {start}
    for k in range(n):
        xs.append({item})
    {use}
""",
    "rose.range, break": """
def f(x: float, n: int) -> float:
    xs = {start}
    for k in rose.range(n):
        if k * x > 2.5:
            break
        xs.append({item})
    {use}
""",
    "attribute": """
class Box:
    def __init__(self, x):
        self.xs = {start}

def f(x: float, n: int) -> float:
    box = Box(x)
    k = 0
    while k < n:
        box.xs.append({item})
        k += 1
    xs = box.xs
    {use}
""",
    "method": """
@dataclass
class Log:
    xs: list = field(default_factory=list)
    def note(self, v):
        self.xs.append(v)

def f(x: float, n: int) -> float:
    log = Log({start})
    k = 0
    while k < n:
        log.note({item})
        k += 1
    xs = log.xs
    {use}
""",
    "dict": """
def f(x: float, n: int) -> float:
    d = dict(xs={start}, other=[1.0])
    k = 0
    while k < n:
        d["xs"].append({item})
        k += 1
    xs = d["xs"]
    {use}
""",
    "helper": """
def put(xs, v):
    xs.append(v)

def collect(x, n):
    xs = {start}
    k = 0
    while k < n:
        put(xs, {item})
        k += 1
    return xs

def f(x: float, n: int) -> float:
    xs = collect(x, n)
    {use}
""",
    "closure": """
def f(x: float, n: int) -> float:
    xs = {start}
    def put(v):
        xs.append(v)
    k = 0
    while k < n:
        put({item})
        k += 1
    {use}
""",
    "nested": """
def f(x: float, n: int) -> float:
    xs = {start}
    i = 0
    while i < n:
        k = 0
        while k < i:
            xs.append({item})
            k += 1
        i += 1
    {use}
""",
    "comprehension": """
def f(x: float, n: int) -> float:
    xs = {start} + [{item} for k in rose.range(n) if k * x < 9.0]
    {use}
""",
    "alias": """
def f(x: float, n: int) -> float:
    xs = {start}
    ys = xs
    k = 0
    while k < n:
        ys.append({item})
        k += 1
    {use}
""",
    "decorated": """
@rose.jit
def collect(x: float, n: int):
    xs = {start}
    k = 0
    while k < n:
        xs.append({item})
        k += 1
    return xs

def f(x: float, n: int) -> float:
    xs = collect(x, n)
    {use}
""",
}
ITEMS = {
    "float": ("[x]", "x * k + math.sin(k * 2.0)"),
    "empty": ("[]", "x - k * k % 5"),
    "int": ("[3]", "k * 7 % 5"),
    "pair": ("[(x, 2)]", "(math.sin(x * k + k), k)"),
    "bool": ("[True]", "k % 3 == 0"),
    "mixed": ("[1]", "k * x"),
}
USES = {
    "len": "return float(len(xs))",
    "last": "return 1.0 * xs[-1]",
    "sum": "return 1.0 * sum(xs)",
    "sum gen": "return sum(v * v for v in xs)",
    "max": "return 1.0 * max(xs)",
    "min key": "return 1.0 * min(xs, key=lambda v: -v)",
    "sorted": "ys = sorted(xs)\n    return 1.0 * ys[0] + 2.0 * ys[len(ys) // 2]",
    "sorted reverse": "ys = sorted(xs, reverse=True)\n    return 1.0 * ys[0] + 2.0 * ys[len(ys) // 2]",
    "sort": "xs.sort()\n    return 1.0 * xs[0] - xs[-1]",
    "sort key": "xs.sort(key=lambda v: (v * 1.0 - 0.3) ** 2)\n    return 1.0 * xs[0] - xs[-1]",
    "reverse": "xs.reverse()\n    return 1.0 * xs[0]",
    "reversed": "t = 0.0\n    for v in reversed(xs):\n        t = 0.5 * t + v\n    return t",
    "slice": "return 1.0 * sum(xs[1:]) + sum(xs[:-1]) * 2 + sum(xs[::-1]) + sum(xs[::2]) + sum(xs[-3:])",
    "enumerate": "t = 0.0\n    for i, v in enumerate(xs):\n        t += i * v\n    return t",
    "zip": "t = 0.0\n    for a, b in zip(xs, xs[1:]):\n        t += (a - b) ** 2\n    return t",
    "index": "return 1.0 * xs.index(xs[-1])",
    "count in": "return 1.0 if xs[0] in xs else 0.0",
    "pop": "v = xs.pop()\n    return 1.0 * v + len(xs)",
    "pop 0": "v = xs.pop(0)\n    return 1.0 * v + len(xs) + sum(xs)",
    "pop at": "v = xs.pop(len(xs) // 2)\n    return 1.0 * v + len(xs) + xs[-1]",
    "insert": "xs.insert(len(xs) // 2, xs[-1])\n    t = 0.0\n    for v in xs:\n        t = 0.5 * t + v\n    return t",
    "set": "xs[-1] = xs[0]\n    xs[0] += xs[0]\n    return 1.0 * sum(xs)",
    "extend": "xs.extend(xs[1:])\n    xs += [xs[0]]\n    return 1.0 * sum(xs) + len(xs)",
    "add": "ys = xs + [xs[0]]\n    return 1.0 * sum(ys) + len(xs)",
    "copy": "ys = list(xs)\n    zs = xs[:]\n    zs.append(xs[0])\n    ys.pop()\n    ws = copy.copy(xs)\n    ws.clear()\n    return 1.0 * sum(ys) + sum(zs) + len(xs) + len(ws)",
    "while pop": "t = 0.0\n    while xs:\n        t = t * 0.9 + xs.pop()\n    return t",
    "comprehension": "ys = [2.0 * v for v in xs]\n    zs = [v for v in ys if v > 0.5]\n    return sum(ys) + sum(zs) + len(zs)",
    "any all": "return (1.0 if any(v > 2.0 for v in xs) else 0.0) + (2.0 if all(v > -5.0 for v in xs) else 0.0)",
    "eq": "return (1.0 if xs == list(xs) else 0.0) + (1.0 if xs != xs[1:] else 0.0)",
    "heap": "h = list(xs)\n    heapq.heapify(h)\n    heapq.heappush(h, xs[0])\n    a = heapq.heappop(h)\n    b = heapq.heapreplace(h, xs[0])\n    c = heapq.heappushpop(h, xs[-1])\n    t = 1.0 * a + 2.0 * b + 3.0 * c\n    while h:\n        t = 0.7 * t + heapq.heappop(h)\n    return t",
    "deque": "q = deque(xs)\n    q.append(xs[0])\n    q.appendleft(xs[-1])\n    t = 0.0\n    while q:\n        t = 0.6 * t + q.popleft()\n    return t",
    "loop append": "ys = []\n    for v in xs:\n        ys.append(v)\n        if v > 1.0:\n            ys.append(v)\n    return 1.0 * sum(ys) + len(ys)",
    "truth": "return 2.0 if xs else 1.0",
    "del": "del xs[0]\n    return 1.0 * sum(xs)",
    "remove": "xs.remove(xs[-1])\n    return 1.0 * len(xs) + sum(xs)",
    "isinstance": "return 1.0 if isinstance(xs, list) and type(xs) is list else 0.0",
    "prod": "return 1.0 * math.prod(xs)",
    "tuple": "ys = tuple(xs)\n    return 1.0 * ys[-1] + len(ys)",
}
PAIR = {
    "pair last": "return xs[-1][0] * xs[-1][1]",
    "pair max": "return max(xs)[0] + min(xs)[0]",
    "pair loop": "t = 0.0\n    for a, b in xs:\n        t += a * b\n    return t",
    "pair sorted": "ys = sorted(xs, key=lambda p: (-p[1], p[0]))\n    return ys[0][0] + ys[-1][0]",
    "pair heap": "h = []\n    for p in xs:\n        heapq.heappush(h, p)\n    t = 0.0\n    while h:\n        a, b = heapq.heappop(h)\n        t = 0.5 * t + a * b\n    return t",
    "pair set": "xs[0] = (xs[-1][0], 5)\n    return xs[0][0] * xs[0][1]",
    "pair unpack": "a, b = xs[len(xs) // 2]\n    return a + b",
    "pair comp": "return sum([a for a, b in xs if b % 2 == 0]) + max(b for _, b in xs)",
}

ARGUMENTS = ((0.37, 7), (1.9, 1), (-0.8, 4), (0.21, 0))


def _rows() -> list[tuple[str, str, str]]:
    """A third of the ways with each item and use."""
    kinds = [(item, use) for item in ITEMS for use in (PAIR if item == "pair" else USES)]
    return [(place, item, use) for place, (item, use) in product(PLACES, kinds)]


def outcome(f: Any, args: Any) -> Any:
    """A result, or the class and the words of an error of Python's."""
    try:
        return f(*args)
    except (IndexError, ValueError) as error:
        return type(error), str(error)


def close(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return a == b
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


@pytest.mark.parametrize(("place", "item", "use"), part(_rows(), 29))
def test_a_list_that_a_loop_has_grown_is_a_list(place: str, item: str, use: str) -> None:
    start, appended = ITEMS[item]
    text = PLACES[place].format(start=start, item=appended, use={**USES, **PAIR}[use])
    f = define(HEAD + text)
    compiled, slope = rose.jit(f), rose.grad(rose.jit(f))
    for x, n in ARGUMENTS:
        wanted, found = outcome(f, (x, n)), outcome(compiled, (x, n))
        assert close(found, wanted), (x, n)
        if not isinstance(wanted, tuple):
            step = 1e-6
            difference = (f(x + step, n) - f(x - step, n)) / (2 * step)
            assert close(slope(x, n), difference, 1e-4 * (1 + abs(difference)))


# --- results


def history(x: float) -> list[float]:
    out = []
    while x > 0.1:
        out.append(x)
        x = 0.7 * x
    return out


def steps(y: float, tolerance: float) -> tuple[list[float], list[float]]:
    """Heun's method with steps of a length that an error decides."""
    t, h = 0.0, 0.1
    ts, ys = [t], [y]
    while t < 5.0:
        k1 = -y
        k2 = -(y + h * k1)
        error = abs(h * (k2 - k1) / 2)
        if error < tolerance:
            t += h
            y += h * (k1 + k2) / 2
            ts.append(t)
            ys.append(y)
        h *= min(2.0, max(0.3, 0.9 * math.sqrt(tolerance / (error + 1e-12))))
    return ts, ys


def shortest(weights: np.ndarray, source: int, target: int) -> tuple[float, list[int]]:
    """Dijkstra's algorithm, and the path."""
    count = len(weights)
    distance, previous = [math.inf] * count, [-1] * count
    distance[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if u == target:
            break
        if d > distance[u]:
            continue
        for v in range(count):
            if weights[u, v] > 0:
                longer = d + weights[u, v]
                if longer < distance[v]:
                    distance[v] = longer
                    previous[v] = u
                    heapq.heappush(heap, (longer, v))
    path, u = [], target
    while u != -1:
        path.append(u)
        u = previous[u]
    path.reverse()
    return distance[target], path


def reached(adjacent: np.ndarray, start: int) -> list[int]:
    """Nodes in the order in which a search in breadth comes to them."""
    order, seen = [], [False] * len(adjacent)
    seen[start] = True
    queue = deque([start])
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in range(len(adjacent)):
            if adjacent[u, v] and not seen[v]:
                seen[v] = True
                queue.append(v)
    return order


def above(xs: list[float], t: float) -> list[float]:
    return [x for x in xs if x > t]


def passed(xs: list[float], t: float) -> tuple[list[float], int]:
    found = []
    for x in xs:
        if x > t:
            found.append(2.0 * x)
    return found[::-1], len(found)


RNG = np.random.default_rng(0)
WEIGHTS = RNG.uniform(0.1, 1.0, (12, 12)) * (RNG.uniform(size=(12, 12)) < 0.4)
RESULTS = {
    history: [(2.0,), (0.05,), (1e9,)],
    steps: [(1.0, 1e-3), (2.0, 1e-2)],
    shortest: [(WEIGHTS, 0, k) for k in (0, 7, 11)],
    reached: [(WEIGHTS > 0, k) for k in (0, 5)],
    above: [([1.0, 2.0, 3.0], t) for t in (1.5, 5.0)],
    passed: [([1.0, 2.0, 3.0], t) for t in (1.5, 5.0)],
}


@pytest.mark.parametrize(("f", "args"), [(f, args) for f, each in RESULTS.items() for args in each])
def test_such_a_list_is_returned(f: Any, args: Any) -> None:
    found, wanted = rose.jit(f)(*args), f(*args)
    assert found == wanted
    lists = found if isinstance(found, tuple) else (found,)
    assert all(type(each) is list for each in lists if not isinstance(each, float | int))


def test_the_gradient_of_a_shortest_path_is_its_edges() -> None:
    length = rose.jit(lambda w: shortest(w, 0, 11)[0])
    path = shortest(WEIGHTS, 0, 11)[1]
    edges = np.zeros_like(WEIGHTS)
    for a, b in zip(path, path[1:], strict=False):
        edges[a, b] = 1.0
    np.testing.assert_array_equal(rose.grad(length)(WEIGHTS), edges)


@rose.jit
def total(x: float, n: int) -> float:
    xs = [x]
    k = 1
    while k < n:
        xs.append(x * k)
        k += 1
    return sum(xs)


def test_there_is_room_for_as_many_as_come() -> None:
    for n in (10, 300, 5_000):
        assert total(0.5, n) == total.__wrapped__(0.5, n)
        assert rose.grad(total)(0.5, n) == pytest.approx(total.__wrapped__(1.0, n))
        assert rose.vjp(total, 0.5, n)[1](1.0)[0] == pytest.approx(total.__wrapped__(1.0, n))
        assert rose.hessian(total)(0.5, n) == 0.0


def test_a_program_that_is_bound_says_that_it_has_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_room, "_ROOM", {})
    bound = rose.jit(total.__wrapped__).lower(0.5, 3).compile()
    assert bound(0.5, 200) == total.__wrapped__(0.5, 200)
    with pytest.raises(rose.RoseError, match="256 items"):
        bound(0.5, 5_000)


def test_a_list_of_unlike_items_is_refused_with_the_reason() -> None:
    f = define("""
def f(n: int) -> int:
    xs = [1.0]
    k = 0
    while k < n:
        xs.append((k, k))
        k += 1
    return len(xs)
""")
    with pytest.raises(rose.RoseError, match="changed in it"):
        rose.jit(f)(3)


def test_a_loop_through_a_list_may_not_change_its_length() -> None:
    f = define("""
def f(n: int) -> int:
    xs = [0]
    k = 0
    while k < n:
        xs.append(k)
        k += 1
    for v in xs:
        if v > 2:
            xs.append(0)
    return len(xs)
""")
    with pytest.raises(rose.RoseError, match="goes through, and changes"):
        rose.jit(f)(5)


# --- what Python's own objects would show, and rows do not


KEPT = """
import numpy as np
from collections import deque


def array(n: int) -> float:
    q, kept = np.zeros(2), []
    for i in range(n):
        kept.append(q)
        q += 1.0
    return sum(k.sum() for k in kept)


def view(n: int) -> float:
    q, kept = np.zeros(4), []
    for i in range(n):
        kept.append(q[:2])
    q[0] = 9.0
    return sum(k.sum() for k in kept)


def comprehension(n: int) -> float:
    q = np.zeros(2)
    kept = [q for _ in range(n)]
    q[0] += 1.0
    return sum(k.sum() for k in kept)


def in_tuples(n: int) -> float:
    q, kept = np.zeros(2), deque()
    for i in range(n):
        kept.append((q, i))
        q[0] += 1.0
    return sum(k[0].sum() for k in kept)


def by_key(n: int) -> float:
    d = {}
    for k in range(n):
        d[k] = np.ones(2) * k
    for k in range(n):
        d[k][0] += 10.0
    return sum(v.sum() for v in d.values())


def keys(n: int) -> int:
    d = {}
    shown = d.keys()
    for k in range(n):
        d[k] = 1
    return len(shown)


def values(n: int) -> float:
    d = {}
    for k in range(n):
        d[k] = 1.0
    for k, v in d.items():
        if k + 1 in d:
            d[k + 1] += 0.5 * v
    return d[n - 1]


def generator(n: int) -> int:
    a = []
    for i in range(n):
        a.append(i)
    shown = (v for v in a)
    a.append(10)
    return sum(shown)


def zipped(n: int) -> int:
    a = []
    for i in range(n):
        a.append(i)
    shown = zip(a, a)
    a.append(10)
    return sum(u * v for u, v in shown)


def backwards(n: int) -> int:
    a = []
    for i in range(n):
        a.append(i + 1)
    t = 0
    for u in reversed(a):
        a[0] = 50
        t += u
    return t


def of_three(n: int) -> list[int]:
    d = deque(maxlen=3)
    for i in range(n):
        d.append(i)
    return list(d)


def matched(n: int) -> int:
    a = []
    for i in range(n):
        a.append(i)
    match a:
        case [x, y, *_]:
            return x + y
    return -1


def changed(n: int) -> float:
    kept = []
    for i in range(n):
        kept.append([1.0, 2.0])
    kept[0][1] = 9.0
    return sum(a * b for a, b in kept)


def equal(n: int) -> tuple[bool, bool, bool]:
    d, e, s, t, a = {}, {}, set(), set(), []
    for i in range(n):
        d[i] = e[i] = i
        s.add(i)
        t.add(i)
        a.append(i)
    return d == e, s == t, a == (0, 1)
"""
_NAMES = [line.split("(")[0].removeprefix("def ") for line in KEPT.splitlines() if line.startswith("def ")]


@pytest.mark.parametrize("name", _NAMES)
def test_what_rows_do_not_show_is_refused(name: str) -> None:
    parts = KEPT.split("\n\n\n")
    f = define(parts[0] + "\n" + next(part for part in parts if part.startswith(f"def {name}(")))
    for n in (2, 5):
        try:
            assert rose.jit(f)(n) == f(n)
        except rose.RoseError as error:
            assert error.span is not None


@pytest.mark.parametrize("mode", ["jacobian", "jacfwd", "jacrev", "jvp", "linearize", "vjp", "taylor", "vmap"])
def test_there_is_no_derivative_of_such_a_list(mode: str) -> None:
    ways = {
        "jvp": lambda: rose.jvp(history, (2.0,), (1.0,)),
        "linearize": lambda: rose.linearize(history, 2.0)[1](1.0),
        "vjp": lambda: rose.vjp(history, 2.0)[1]([1.0]),
        "taylor": lambda: rose.taylor(history, 2.0, 1.0, 2),
        "vmap": lambda: rose.vmap(history)(np.ones(3)),
    }
    with pytest.raises(rose.RoseError, match="length only running tells"):
        ways.get(mode, lambda: getattr(rose, mode)(history)(2.0))()


def test_such_a_list_is_not_exported(tmp_path: Any) -> None:
    with pytest.raises(rose.RoseError, match="only running tells is not exported"):
        rose.export(rose.jit(history), 2.0, path=tmp_path)


def test_a_saved_program_gives_lists(tmp_path: Any) -> None:
    rose.jit(history).lower(2.0).compile().save(tmp_path / "history.rose")
    assert rose.load(tmp_path / "history.rose")(3.0) == history(3.0)


def test_the_interpreter_gives_lists_too() -> None:
    with rose.disable_jit():
        found = rose.jit(history)(2.0)
    assert found == history(2.0)
    assert type(found) is list


# --- arrays that are taken out and changed: they would be those in the list

TAKEN = {
    "index": "v = xs[0]",
    "neg": "v = xs[-1]",
    "staged": "v = xs[n // 2]",
    "max": "v = max(xs, key=lambda a: a[0])",
    "loop": "v = xs[0]\n    for w in xs:\n        if w[0] > v[0]:\n            v = w",
    "pop": "v = xs.pop()\n    xs.append(v)",
    "slice": "v = xs[1:][0]",
    "sorted": "v = sorted(xs, key=lambda a: -a[0])[0]",
    "last": "v = xs[0]\n    for v in xs:\n        pass",
    "while": "i = 0\n    v = xs[0]\n    while i < n:\n        v = xs[i]\n        i += 1",
    "ifexp": "v = xs[0] if n > 3 else xs[-1]",
    "if": "v = xs[0]\n    if n > 2:\n        v = xs[-1]",
    "comp": "v = [w for w in xs if w[0] > 0.5][-1]",
    "zip": "v = xs[0]\n    for v, w in zip(xs, xs):\n        pass",
    "copy": "v = list(xs)[-1]",
    "helper": "v = last(xs)",
    "tuple": "v = (xs[-1], 1)[0]",
    "popleft": "v = xs.pop(0)\n    xs.append(v)",
    "enum": "v = xs[0]\n    for i, w in enumerate(xs):\n        if i == n - 1:\n            v = w",
}
CHANGED = {
    "elem": "v[0] = 50.0",
    "iadd": "v += 1.0",
    "slice": "v[:] = 3.0",
    "fill": "v.fill(4.0)",
    "sort": "v[0] += 9\n    v.sort()",
    "in loop": "for j in rose.range(2):\n        v[j] += 2.0",
    "helper": "bump(v)",
    "out": "np.add(v, 1.0, out=v)",
}


def last(xs):
    return xs[-1]


def bump(v):
    v[0] += 5.0


@pytest.mark.parametrize("get", TAKEN)
@pytest.mark.parametrize("change", CHANGED)
def test_a_change_of_what_is_taken_out_is_not_lost(get: str, change: str) -> None:
    f = define(
        f"""
def f(n: int) -> float:
    xs = []
    k = 0
    while k < n:
        xs.append(np.ones(2) * k)
        k += 1
    {TAKEN[get]}
    {CHANGED[change]}
    return sum(w.sum() for w in xs)
""",
        np=np,
        rose=rose,
        last=last,
        bump=bump,
    )
    try:
        assert rose.jit(f)(5) == f(5)
    except rose.RoseError as error:
        assert error.span is not None


@pytest.mark.parametrize("head", ["for i in rose.range(n):", "for i in range(n):"])
def test_one_of_two_lists_at_a_time_is_no_endless_staging(head: str) -> None:
    f = define(
        f"""
def f(n: int) -> int:
    a, b = [], []
    {head}
        c = a if i % 3 == 0 else b
        c.append(i)
    return len(a) + 10 * len(b)
""",
        rose=rose,
    )
    with pytest.raises(rose.RoseError, match="each time it is staged"):
        rose.jit(f)(6)
