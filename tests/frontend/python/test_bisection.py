"""`bisect` and sums of ranges that only running knows, against CPython; and what is no number is refused in words."""

import bisect
import itertools
import math

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

LISTS = ([], [1.0], [1.0, 2.0, 2.0, 5.0], [3.0, 1.0, 2.0, 0.5, 7.0], [1.0, math.nan, 3.0], [0.0] * 9)
POINTS = (-1.0, 0.0, 1.0, 2.0, 2.5, 9.0, math.nan)


@pytest.mark.parametrize("name", ["bisect", "bisect_left", "bisect_right"])
@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_places(name, kind):
    f = define(f"def f(a, x):\n    return bisect.{name}(a, x)\n", bisect=bisect)
    staged = rose.jit(f)
    for items, x in itertools.product(LISTS, POINTS):
        assert staged(kind(items), x) == f(kind(items), x), (items, x)


def test_what_has_no_staged_bisection():
    with pytest.raises(rose.StagingTypeError, match=r"`bisect.bisect_right` is staged(.|\n)*searchsorted"):
        rose.jit(lambda x: bisect.bisect([1.0, 2.0], x, 1))(1.0)


@pytest.mark.parametrize("bounds", ["n", "3, n", "n, 20", "2, n, 3", "n, 0, -1", "1, n, k", "0, k", "n, n, 2"])
def test_sums_of_ranges(bounds):
    f = define(f"def f(n, k, x):\n    return sum(range({bounds})), sum(range({bounds}), 2) * x\n")
    for n, k in itertools.product((-3, 0, 1, 2, 7, 12, 10**6), (-2, -1, 1, 3)):
        assert rose.jit(f)(n, k, 0.5) == f(n, k, 0.5), (n, k)


def test_the_largest_sum_of_a_range():
    n = 4_294_967_296  # n (n - 1) / 2 is below 2**63, and n (n - 1) is not
    assert rose.jit(lambda n: sum(range(n)))(n) == n * (n - 1) // 2
    with pytest.raises(OverflowError):
        rose.jit(lambda n: sum(range(n)))(2 * n)


@pytest.mark.parametrize("text", ["x @ 2", "2 @ x", "n @ x", "(x > 0.0) @ 1.0"])
def test_a_product_of_arrays_of_two_numbers(text):
    f = define(f"def f(x, n):\n    return {text}\n")
    with pytest.raises(TypeError):
        f(1.0, 2)
    with pytest.raises(rose.StagingTypeError, match="`@` is a product of arrays"):
        rose.jit(f)(1.0, 2)


@pytest.mark.parametrize("text", ["'a' if x > 0.0 else 'b'", "max((x, 'a'), (1.0, 'b'))[1]"])
def test_texts_that_running_would_choose(text):
    with pytest.raises(rose.StagingTypeError, match="compare it, use it as a key, or return it"):
        rose.jit(define(f"def f(x):\n    return ({text}) + x\n"))(1.0)
