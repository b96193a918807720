"""What help says is done, word for word, and the program gives what Python gives: each way that a help names."""

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rosejit as rose

FOLLOWED: dict[str, tuple[str, list[str], list[str]]] = {
    "grad of an int": ("f = lambda x: x ** 2\nrose.grad(f)(3)", ["`float(x)`"], ["rose.grad(f)(float(3))"]),
    "grad of an array of ints": (
        "f = lambda x: (x ** 2).sum()\nx = np.array([1, 2, 3])\nrose.grad(f)(x)",
        ["`x.astype(float)`"],
        ["rose.grad(f)(x.astype(float))"],
    ),
    "grad by the other argument": (
        "f = lambda n, x: x ** n\nrose.grad(f)(3, 2.0)", ["`argnums=1`"], ["rose.grad(f, argnums=1)(3, 2.0)"]
    ),
    "grad of an object": (
        "class M:\n    def __init__(self, w):\n        self.w = w\nf = lambda m: (m.w ** 2).sum()\n"
        "rose.grad(f)(M(np.ones(2)))",
        ["make `M` a `@dataclass` that declares its fields, with `w: ndarray`", "pass its numbers"],
        ["from numpy import ndarray\n@dataclass\nclass M:\n    w: ndarray\nrose.grad(f)(M(np.ones(2)))"],
    ),
    "grad of a generator": (
        "f = lambda xs: sum(x * x for x in xs)\nrose.grad(f)(x for x in [1.0, 2.0])",
        ["`list(xs)`"],
        ["rose.grad(f)(list(x for x in [1.0, 2.0]))"],
    ),
    "a default that is an int": (
        "f = lambda x, k=2: x * k\nrose.grad(f, argnums='k')(1.0)",
        ["`k=2.0`", "`argnums=0`"],
        ["rose.grad(f, argnums='k')(1.0, k=2.0)", "rose.grad(f, argnums=0)(1.0)"],
    ),
    "what a partial binds": (
        "f = functools.partial(lambda x, k: x * k, k=2.0)\nrose.grad(f, argnums='k')(1.0)",
        ["pass it in the call, `k=...`"],
        ["rose.grad(f, argnums='k')(1.0, k=2.0)"],
    ),
    "no return": ("def f(x):\n    y = x * 2\nrose.grad(f)(1.0)", ["`return` what it has"], [
        "def f(x):\n    y = x * 2\n    return y\nrose.grad(f)(1.0)"
    ]),
    "a pair": ("f = lambda x: (x * x, x)\nrose.grad(f)(1.0)", ["`has_aux=True`", "`rose.jacobian`"], [
        "rose.grad(f, has_aux=True)(1.0)", "rose.jacobian(f)(1.0)"
    ]),
    "an array": ("f = lambda x: x * x\nrose.grad(f)(np.ones(2))", ["`.sum()`", "`rose.jacobian`"], [
        "rose.grad(lambda x: f(x).sum())(np.ones(2))", "rose.jacobian(f)(np.ones(2))"
    ]),
    "a key that is an argument": (
        "def f(kind, x):\n    return sum(v for v in {0: (1.0,), 1: (x, x)}[kind])\nrose.jit(f)(1, 2.0)",
        ["hint it as `kind: rose.Static[int]`", "`static_argnames`", "`lambda x: f(kind, x)`", "`match` or `if`"],
        [
            "def f(kind: rose.Static[int], x):\n    return sum(v for v in {0: (1.0,), 1: (x, x)}[kind])\n"
            "rose.jit(f)(1, 2.0)",
            "rose.jit(static_argnames='kind')(f)(1, 2.0)",
            "kind = 1\nrose.jit(lambda x: f(kind, x))(2.0)",
            "def f(kind, x):\n    match kind:\n        case 0:\n            return 1.0\n        case _:\n"
            "            return x + x\nrose.jit(f)(1, 2.0)",
        ],
    ),
    "a key that is a field": (
        "@dataclass(frozen=True)\nclass Obs:\n    time: float\n    group: int\n"
        "def nll(v, data):\n    groups = {}\n    for o in data:\n        groups.setdefault(o.group, []).append(o)\n"
        "    return sum(v * o.time * len(m) for m in groups.values() for o in m)\n"
        "data = [Obs(1.0, 0), Obs(2.0, 1), Obs(3.0, 0)]\nrose.grad(nll)(2.0, data)",
        ["`data[0].group`", "in `Obs` as `group: rose.Static[int]`", "`static_argnames`", "`lambda v: nll(v, data)`"],
        [
            "@dataclass(frozen=True)\nclass Obs:\n    time: float\n    group: rose.Static[int]\n"
            "rose.grad(nll)(2.0, [Obs(1.0, 0), Obs(2.0, 1), Obs(3.0, 0)])",
            "rose.grad(rose.jit(static_argnames='data')(nll))(2.0, data)",
            "rose.grad(lambda v: nll(v, data))(2.0)",
        ],
    ),
    "an index of tuples": (
        "def f(kind, x):\n    return sum(v for v in [(1.0,), (x, x)][kind])\nrose.jit(f)(1, 2.0)",
        ["`match` or `if`", "`lambda x: f(kind, x)`"],
        ["kind = 1\nrose.jit(lambda x: f(kind, x))(2.0)"],
    ),
    "a length": (
        "def f(x, n):\n    return (x * np.ones(n)).sum()\nrose.jit(f)(2.0, 3)",
        ["hint it as `n: rose.Static[int]`", "`lambda x: f(x, n)`", "from the shape of an argument"],
        [
            "def f(x, n: rose.Static[int]):\n    return (x * np.ones(n)).sum()\nrose.jit(f)(2.0, 3)",
            "n = 3\nrose.jit(lambda x: f(x, n))(2.0)",
            "rose.jit(lambda x, like: f(x, like.shape[0]))(2.0, np.ones(3))",
        ],
    ),
    "a tuple that is repeated": (
        "def f(x, n):\n    return sum((x,) * n)\nrose.jit(f)(2.0, 3)",
        ["from a length", "`lambda x: f(x, n)`"],
        ["n = 3\nrose.jit(lambda x: f(x, n))(2.0)", "rose.jit(lambda x, q: sum((x,) * len(q)))(2.0, np.ones(3))"],
    ),
    "a cache": (
        "@functools.lru_cache\ndef sq(x):\n    return x * x\nrose.grad(lambda x: sq(x))(3.0)",
        ["take the cache off", "`sq.__wrapped__(...)`"],
        ["rose.grad(lambda x: sq.__wrapped__(x))(3.0)",
         "def sq(x):\n    return x * x\nrose.grad(lambda x: sq(x))(3.0)"],
    ),
    "a list from outside": (
        "kept = []\ndef f(x):\n    y = 2.0 * x\n    kept.append(y)\n    return y * y\nrose.grad(f)(1.0)",
        ["return the value, and keep it where the call is"],
        ["def f(x):\n    y = 2.0 * x\n    return y * y, y\n"
         "slope, y = rose.grad(f, has_aux=True)(1.0)\nkept.append(y)\nslope"],
    ),
}  # fmt: skip
EXPECTED: dict[str, list[Any]] = {
    "grad of an int": [6.0], "grad of an array of ints": [[2.0, 4.0, 6.0]], "grad by the other argument": [12.0],
    "grad of an object": ["M(w=array([2., 2.]))"], "grad of a generator": [[2.0, 4.0]],
    "a default that is an int": [1.0, 2.0], "what a partial binds": [1.0], "no return": [2.0],
    "a pair": [(2.0, 1.0), (2.0, 1.0)], "an array": [[2.0, 2.0], [[2.0, 0.0], [0.0, 2.0]]],
    "a key that is an argument": [4.0] * 4, "a key that is a field": [10.0] * 3,
    "an index of tuples": [4.0], "a length": [6.0] * 3, "a tuple that is repeated": [6.0] * 2,
    "a cache": [6.0] * 2, "a list from outside": [8.0],
}  # fmt: skip


def program(text: str, name: str) -> Callable[[dict[str, Any]], Any]:
    """What runs all lines of a text but the last, whose value it gives; errors find the text."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    *head, last = text.splitlines(keepends=True)

    def run(scope: dict[str, Any]) -> Any:
        exec(compile("".join(head), name, "exec"), scope)
        return eval(compile("\n" * len(head) + last, name, "eval"), scope)

    return run


@pytest.mark.parametrize("name", FOLLOWED)
def test_help_works_as_it_is_written(name):
    wrong, words, ways = FOLLOWED[name]
    scope: dict[str, Any] = {}
    exec("import functools, math\nimport numpy as np\nimport rosejit as rose\nfrom dataclasses import dataclass", scope)
    with pytest.raises(rose.RoseError) as caught:
        program(wrong, f"<wrong {name}>")(scope)
    assert caught.value.span is not None
    for word in words:
        assert word in (caught.value.help or ""), caught.value
    assert len(ways) == len(EXPECTED[name])
    for k, (way, expected) in enumerate(zip(ways, EXPECTED[name], strict=True)):
        found = program(way, f"<followed {name} {k}>")(dict(scope))
        found = found.tolist() if isinstance(found, np.ndarray) else found
        shown = str(found) if isinstance(expected, str) else found
        assert shown == (pytest.approx(expected) if isinstance(expected, float) else expected)
