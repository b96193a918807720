"""Rewritten functions behave as the originals where nothing is staged."""

import linecache
import sys
import types

import pytest

import rosejit as rose
from rosejit.frontend.session.session import Session
from rosejit.frontend.syntax.translate import TRANSLATIONS, Translations
from tests.frontend.oracle import define

PROGRAMS = {
    "branches": ("def f(x):\n    if x > 1: return 'a'\n    elif x: return 'b'\n    return None", [2, 1, 0]),
    "loops": (
        "def f(n):\n    out = []\n    for i in range(n):\n        if i == 2: continue\n        if i == 5: break\n"
        "        out.append(i)\n    else:\n        out.append('end')\n    return out",
        [0, 3, 9],
    ),
    "while": (
        "def f(n):\n    while n > 0:\n        n -= 2\n        if n == 3: return 'three'\n    else:\n        n = -1\n    return n",
        [0, 4, 7],
    ),
    "nested jumps": (
        "def f(n):\n    hits = []\n    for i in range(n):\n        for j in range(n):\n            if j > i: break\n"
        "            if (i + j) % 2: continue\n            if i == 3: return hits, i\n            hits.append((i, j))\n    return hits",
        [0, 3, 6],
    ),
    "try": (
        "def f(k):\n    log = []\n    for v in [1, 0, 'a']:\n        try:\n            log.append(10 // v)\n"
        "            if k == v: return log, 'early'\n        except ZeroDivisionError as e:\n            log.append(str(e))\n"
        "            continue\n        except TypeError:\n            log.append('type')\n        else:\n            log.append('ok')\n"
        "        finally:\n            log.append('finally')\n    return log",
        [1, 2],
    ),
    "with": (
        "def f(n):\n    import contextlib\n    log = []\n    @contextlib.contextmanager\n    def m(k):\n        log.append(k)\n"
        "        try:\n            yield k * 2\n        finally:\n            log.append(-k)\n    for i in range(3):\n"
        "        with m(i) as a, m(i + 1):\n            if a == n: return log, a\n            if a == 0: continue\n        log.append('x')\n    return log",
        [2, 100],
    ),
    "closures": (
        "def f(n):\n    total = 0\n    def add(k):\n        nonlocal total\n        total += k\n        return total\n"
        "    fs = [lambda k=i: k * n for i in range(3)]\n    return [add(g()) for g in fs], total, add.__name__",
        [1, 4],
    ),
    "unbound": (
        "def f(n):\n    if n: y = 1\n    try:\n        return y\n    except UnboundLocalError:\n        return 'unbound'",
        [0, 1],
    ),
    "deleted": (
        "def f(n):\n    y = n\n    del y\n    try:\n        y\n    except NameError as e:\n        return isinstance(e, UnboundLocalError)\n    return 0",
        [1],
    ),
    "classes": (
        "def f(n):\n    class A:\n        k = n\n        __slots__ = ('v',)\n        def __init__(self, v):\n            self.v = v if v else self.k\n"
        "        @property\n        def twice(self): return self.v * 2\n    class B(A):\n        def __init__(self, v):\n            super().__init__(v + 1)\n"
        "    return A(0).twice, B(n).v, [type(x).__name__ for x in (A(1), B(2))]",
        [3],
    ),
    "generators": (
        "def f(n):\n    def g(k):\n        for i in range(k):\n            got = yield i * 2\n            if got: return\n"
        "    a = list(g(n))\n    h = g(5)\n    next(h)\n    try:\n        h.send(True)\n    except StopIteration:\n        a.append('stop')\n"
        "    return a, sum(i for i in g(3)), [*g(2)]",
        [3],
    ),
    "match": (
        "def f(p):\n    match p:\n        case 0 | 1: return 'small'\n        case int(n) if n > 10: return n\n        case (a, b): return a, b\n"
        "        case {'k': v, **rest}: return v, rest\n        case None: return 'none'\n        case _: return 'other'",
        [0, 1, 11, 5, (1, 2), {"k": 1, "z": 2}, None, "s"],
    ),
    "match values": (
        "def f(p):\n    match p:\n        case 'a': r = 1\n        case None | True: r = 2\n        case n if n == 5: r = n\n        case other: r = [other]\n    return r",
        ["a", None, True, 5, 7],
    ),
    "operators": (
        "def f(x):\n    return x and x > 1, x or 'no', not x, 0 < x < 3, 1 if x else 2, x in (1, 2), x not in [1], x is None, (y := x) and y",
        [0, 1, 5],
    ),
    "comprehensions": (
        "def f(n):\n    i = 'kept'\n    return [i * j for i in range(n) for j in range(i) if j], {i: n for i in range(2)}, {i % 2 for i in range(n)}, i,"
        " [[a for a in range(b)] for b in range(n)], tuple(x for x in range(n) if x % 2), [y := n, y]",
        [0, 4],
    ),
    "arguments": (
        "def f(a, /, b=2, *rest, c, d=4, **more):\n    def g(*args, **kwargs): return args, kwargs\n    return g(a, b, *rest, c=c, d=d, **more)",
        [],
    ),
    "unpacking": ("def f(n):\n    a, (b, *c), d = n, (1, 2, 3), [4]\n    x = y = [a]\n    x[0] += 1\n    x[1:] = c\n    return a, b, c, d, y", [1]),
    "strings": ("def f(n):\n    return f'{n:>3} {n!r} {[i for i in range(n)]} {\"a\" if n else \"b\"}'", [2]),
    "assertions": (
        "def f(n):\n    try:\n        assert n > 1, f'too small: {n}'\n        assert n < 9\n    except AssertionError as e:\n        return str(e)\n    return 'ok'",
        [0, 5, 9],
    ),
    "raising": (
        "def f(n):\n    try:\n        if n: raise ValueError('v') from KeyError('k')\n        raise RuntimeError\n    except ValueError as e:\n"
        "        return type(e.__cause__).__name__\n    except RuntimeError as e:\n        return 'runtime'",
        [0, 1],
    ),
    "annotated": ("def f(n):\n    y: int\n    z: float = n\n    return z", [1]),
    "walrus loops": ("def f(n):\n    it = iter(range(n))\n    out = []\n    while (v := next(it, None)) is not None:\n        out.append(v)\n    return out", [0, 3]),
    "pops": ("def f(n):\n    stack = list(range(n))\n    out = []\n    while stack and stack.pop() > 1:\n        out.append(len(stack))\n    return out", [0, 5]),
}  # fmt: skip


def outcome(function, *args, **kwargs):
    """The value, or the type and text of the exception."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


def rewritten(function):
    """The function rewritten, in a staging that stages nothing and never ends."""
    session = Session()
    opened = session.nested()
    opened.__enter__()
    made = session.rewritten(function)
    STAGINGS[made] = opened
    return made


STAGINGS = {}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_cpython(name):
    source, inputs = PROGRAMS[name]
    f = define(source)
    for value in inputs:
        assert outcome(rewritten(f), value) == outcome(f, value), value


def test_parameters_of_every_kind():
    f = define(PROGRAMS["arguments"][0])
    g = rewritten(f)
    assert g(1, 3, 5, c=6, e=7) == f(1, 3, 5, c=6, e=7)
    assert g(1, c=2) == f(1, c=2)
    assert outcome(g, 1)[0] is TypeError


def test_globals_and_cells_stay_live():
    names = {"scale": 2}
    outer = define(
        "def outer():\n    k = 1\n    def f(x): return x * scale + k\n    def set_k(v):\n        nonlocal k\n        k = v\n    return f, set_k",
        **names,
    )
    f, set_k = outer()
    g = rewritten(f)
    assert g(3) == 7
    f.__globals__["scale"] = 10
    set_k(5)
    assert g(3) == 35


def test_names_lines_and_files_are_the_users():
    f = define("def outer():\n    def f(x):\n        def inner(): return x\n        return inner\n    return f")()
    code = rewritten(f).__code__
    assert (code.co_name, code.co_filename, code.co_firstlineno) == ("f", f.__code__.co_filename, 2)
    (inner,) = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    assert inner.co_firstlineno == 3
    if sys.version_info >= (3, 11):
        assert code.co_qualname == f.__qualname__
        assert inner.co_qualname == f"{f.__qualname__}.<locals>.inner"


def test_a_function_that_names_itself():
    f = define("def f(n):\n    return 1 if n == 0 else n * f(n - 1)")
    assert rewritten(f)(5) == 120
    nested = define("def outer():\n    def f(n):\n        return 1 if n == 0 else n * f(n - 1)\n    return f")()
    assert rewritten(nested)(5) == 120


def test_private_names_of_a_class():
    cls = define(
        "class Keeper:\n    def __init__(self): self.__v = 3\n    def get(self):\n        return self.__v\ndef f(): return Keeper"
    )()
    assert rewritten(cls.get)(cls()) == 3


def test_future_annotations_are_kept():
    f = define(
        "from __future__ import annotations\ndef f(x):\n    def g(y: undefined_name): return y\n    return g(x), g.__annotations__"
    )
    assert rewritten(f)(1) == (1, {"y": "undefined_name"})


def test_one_translation_for_all_closures_of_a_function():
    outer = define("def outer(k):\n    def f(x):\n        return x + k\n    return f")
    assert TRANSLATIONS.of(outer(1)) is TRANSLATIONS.of(outer(2))
    assert [rewritten(outer(k))(1) for k in (1, 2)] == [2, 3]


def test_a_translation_dies_with_its_code():
    known = Translations()
    f = define("def f(x): return x")
    made = known.of(f)
    assert known.is_translated(made.code)
    assert not known.is_translated(f.__code__)


def test_what_is_read_from_outside():
    f = define(
        "import math\ndef f(x):\n    def g(y): return y + shift\n    return math.sin(x) + cfg.a.b + g(x)",
        cfg=None,
        shift=1,
    )
    chains = TRANSLATIONS.of(f).chains
    assert {("math",), ("math", "sin"), ("cfg",), ("cfg", "a"), ("cfg", "a", "b"), ("shift",)} <= set(chains)
    assert not any(chain[0] in ("x", "y", "g") for chain in chains)


def test_annotations_of_variables_are_read_where_a_class_is_made_alone():
    f = define("def f(x):\n    y: T = x\n    class C:\n        n: U = 1\n    return y + C.n", U=int)
    assert [chain for chain in TRANSLATIONS.of(f).chains if chain[0] in "TU"] == [("U",)]
    assert rewritten(f)(1) == 2


INNER = ("(lambda q: q + x)(1.0)", "sum(q * x for q in (1.0, 2.0))", "(lambda q: (lambda r: r * q)(x))(2.0)")
AROUND = {
    "handler": "try:\n  y = 1.0 / x\n except ZeroDivisionError:\n  y = {}\n",
    "its class": "try:\n  y = 1.0 / x\n except (lambda: ZeroDivisionError)():\n  y = {}\n",
    "finally": "try:\n  y = {} / x\n except ZeroDivisionError:\n  y = 2.0\n finally:\n  z = {}\n",
    "return": "try:\n  return {} / x\n except ZeroDivisionError:\n  return {}\n",
    "loop": "y = 0.0\n for i in range(3):\n  try:\n   y += 1.0 / (x - i)\n  except ZeroDivisionError:\n   y += {}\n   continue\n",
    "default": "\n def g(a, b={}):\n  return a + b\n y = g(x)\n",
    "test": "y = x\n while y < {}:\n  y = y + 10.0\n",
}


@pytest.mark.parametrize("around", AROUND)
def test_functions_inside_what_stands_twice(around):
    for inner in INNER:
        text = f"def f(x):\n {AROUND[around].replace('{}', inner)} return y\n"
        name = f"<{around} {inner}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        scope = {}
        exec(compile(text, name, "exec"), scope)
        for x in (0.0, 2.0):
            assert rose.jit(scope["f"])(x) == scope["f"](x)
