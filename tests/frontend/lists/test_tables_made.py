"""Dicts, sets and Counters of keys that only running tells: how they are made x what is done with two, beside CPython."""

import math
from itertools import product
from typing import Any

import pytest

import rosejit as rose
from tests.frontend.oracle import define
from tests.tables import part

# pyright: basic

MADE = [
    "{k: x * k for k in range(n)}", "{k % 3: x * k for k in range(n)}", "{k % 5 for k in range(n)}",
    "{k: x * k for k in range(n) if k % 2}", "{k: x * k for k in range(5)}", "{k: x * k for k in range(5) if x * k > 1.0}",
    "set([k % 3 for k in range(n)])", "set(k % 3 for k in range(n))", "dict([(k, x) for k in range(n)])",
    "dict((k, x) for k in range(n))", "Counter([k % 3 for k in range(n)])", "Counter([n, n + 1, n]).most_common()",
    "Counter(k % 3 for k in range(n)).most_common(1)", "len(set([n, n + 1, n, x]))", "{n, 7, 1}", "{n: x, 1: 2.0}",
    "set([n, 3, 1])", "dict([(n, x), (1, 2.0)])", "sorted({k % 5 for k in range(n)})", "max({k % 5 for k in range(n + 1)})",
    "{(k % 2, k % 3): x for k in range(n)}", "{k: 1 for k in [1, 2, n]}", "{v for v in (1, 2, n)}",
    "{k: [x] for k in range(3)}", "{a: b for a, b in zip(range(3), [x, x, 1.0])}", "{str(k): x for k in range(3)}",
    "{i: j for i in range(3) for j in range(n)}", "{**{1: x}, 2: x}", "dict(Counter([k % 3 for k in range(n)]))",
    "{k: v for k, v in {1: x, 2: 3.0}.items() if v > 1.5}", "{k: x for k in range(n)} == {k: x for k in range(n)}",
    "{k: x for k in range(n)} | {3: 2.0}", "{3: 2.0, 9: 1.0} | {k: x for k in range(n)}",
    "[(i, j) for i in range(n % 4) for j in range(i)]", "[i * x for j in range(3) for i in range(n)]",
    "[i * x for j in rose.range(3) for i in rose.range(4)]", "list(x * k for k in range(n))",
    "sorted(-x * k for k in range(n))", "tuple(x * k for k in range(n))", "[x] * n", "n * [x, 2.0]", "[0.0] + [x] * (n - 2)",
    "[k for k in [1, 2] * n if k > 1]", "{1: x}.get(n, 2.0)",
]  # fmt: skip
OPERATORS = ("|", "&", "-", "^", "<", "<=", ">", ">=", "==", "!=")
METHODS = (
    "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint", "update",
)  # fmt: skip
SETS = ("{k % 5 for k in range(n)}", "{k % 3 for k in range(n + 1)}", "{1, 2, 7}", "set([8])")
OF_TWO = [f"{one} {sign} {other}" for one, sign, other in product(SETS, OPERATORS, SETS) if "range" in one + other]
OF_TWO += [f"{one}.{name}({other})" for one, name, other in product(SETS[:2], METHODS, SETS)]
IN_PLACE = ("|=", "&=", "-=", "^=")
ARGUMENTS = ((0, 1.0), (1, 2.0), (7, 2.0), (300, 1.0))


def agree(text: str) -> None:
    f = define(f"from collections import Counter\n{text}", rose=rose)
    staged = rose.jit(f)
    for given in ARGUMENTS:
        found, wanted = staged(*given), f(*given)
        assert (found, type(found)) == (wanted, type(wanted)), given
        if isinstance(wanted, dict):
            assert [*found] == [*wanted], given  # in the order of Python's


@pytest.mark.parametrize("made", MADE)
def test_made_of_what_only_running_tells(made: str) -> None:
    agree(f"def f(n: int, x: float):\n    return {made}\n")


@pytest.mark.parametrize("made", part(OF_TWO, 4))
def test_of_two_sets(made: str) -> None:
    agree(f"def f(n: int, x: float):\n    return {made}\n")


@pytest.mark.parametrize(("sign", "other"), [*product(IN_PLACE, SETS)])
def test_a_set_changes_in_place(sign: str, other: str) -> None:
    agree(f"def f(n: int, x: float):\n    s = {SETS[0]}\n    r = s\n    s {sign} {other}\n    return s, r, s is r\n")


REDUCED = [
    f"np.{name}({{}})" for name in ("sum", "mean", "max", "min", "prod", "var", "std", "median", "amax", "amin")
]  # fmt: skip
REDUCED += ["np.std({}, ddof=1)", "np.sum({}, axis=0)", "1.0 * np.argmax({})", "1.0 * np.argmin({})"]
REDUCED += [f"np.array({{}}).{name}()" for name in ("sum", "mean", "max", "min", "prod", "var", "std")]
REDUCED += ["1.0 * np.array({}).argmin()", "np.array({}).tolist()[-1]", "np.mean(np.array({}))"]
GROWN = (
    "[math.sin(x * k) for k in range(n)]",
    "[x + (k * 7 % 5) for k in range(n) if k % 3]",
    "[(k * 3) % 7 for k in range(n)]",
)


@pytest.mark.parametrize(("reduced", "grown"), part([*product(REDUCED, GROWN)], 2))
def test_numpy_reduces_a_list(reduced: str, grown: str) -> None:
    f = define(f"import math\nimport numpy as np\ndef f(n: int, x: float):\n    return {reduced.format(grown)}\n")
    staged, slope = rose.jit(f), rose.grad(rose.jit(f), argnums=1)
    for n, x in ((4, 0.5), (7, 0.3), (40, 1.1)):
        assert math.isclose(staged(n, x), f(n, x), rel_tol=1e-12)
        difference: Any = (f(n, x + 1e-6) - f(n, x - 1e-6)) / 2e-6
        assert math.isclose(slope(n, x), difference, rel_tol=1e-4, abs_tol=1e-6)


@pytest.mark.parametrize("reduced", ["np.max({})", "np.min({})", "np.argmax({})", "np.array({}).argmin()", "max({})"])
def test_nothing_has_no_greatest(reduced: str) -> None:
    f = define(f"import numpy as np\ndef f(n: int, x: float):\n    return {reduced.format('[x for k in range(n)]')}\n")
    for call in (f, rose.jit(f)):
        with pytest.raises(ValueError, match="empty|zero-size"):
            call(0, 1.0)


@pytest.mark.parametrize(
    "reduced", ["np.max({})", "np.min({})", "1.0 * np.argmax({})", "1.0 * np.argmin({})", "np.median({})"]
)
def test_not_a_number_is_as_numpy_has_it(reduced: str) -> None:
    grown = "[x if k == 2 else 1.0 * k for k in range(n)]"
    f = define(f"import numpy as np\ndef f(n: int, x: float):\n    return {reduced.format(grown)}\n")
    found, wanted = rose.jit(f)(5, math.nan), f(5, math.nan)
    assert repr(float(found)) == repr(float(wanted))


@pytest.mark.parametrize("x", [1e300, -1e19, math.inf, -math.inf, 0.0, -0.0, 2.0**53, 0.25])
def test_keys_are_any_numbers(x: float) -> None:
    f = define(
        "def f(n: int, x: float):\n    d = {}\n    for k in range(n):\n        d[x * (k % 2 + 1)] = k\n    return d\n"
    )
    assert rose.jit(f)(5, x) == f(5, x)


def test_not_a_number_is_no_key() -> None:
    f = define("def f(n: int, x: float):\n    d = {}\n    for k in range(n):\n        d[x] = k\n    return len(d)\n")
    with pytest.raises(ValueError, match="NaN"):
        rose.jit(f)(5, math.nan)
