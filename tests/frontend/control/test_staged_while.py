"""Arrays that the test of a `while` reads, and names that iterations bind again to the array that they had.

4 ways to bind x 4 tests x 3 places.
"""

import itertools

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

BINDINGS = ("a = a", "a, a = a, a", "b = a; a = b", "a = same(a)")
TESTS = (
    "a[0] > 0.0", "any(a[j] > 1.0 for j in rose.range(3))", "x < 1.0 or a[1] > 0.0", "a.sum() > 0.0 and a[n % 3] > 0.0",
)  # fmt: skip
PLACES = {
    "alone": "    while i < 4 and ({test}):\n        i += 1\n        {bind}\n",
    "in a branch": "    if x > 0.0:\n        a = a * 2.0\n        while i < 4 and ({test}):\n            i += 1\n            {bind}\n",
    "in a loop": "    for k in rose.range(2):\n        while i < 4 + k and ({test}):\n            i += 1\n            {bind}\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("bind", "test"), [*itertools.product(BINDINGS, TESTS)])
def test_a_name_that_is_bound_to_the_array_that_it_had(bind, test, place):
    body = PLACES[place].format(bind=bind, test=test)
    text = f"def same(a):\n    return a\n\ndef f(a, x, n):\n    a = a.copy()\n    i = 0\n{body}    return i, a[0]\n"
    f = define(text, rose=rose)
    args = np.array([1.0, 2.0, 3.0]), 0.5, 4
    assert rose.jit(f)(*args) == f(*args)


def test_what_the_test_reads_of_an_array_that_is_written_under_another_name():
    f = define(
        """
        def f(a, x):
            a = a.copy()
            b = a
            i = 0
            while i < 5 and a[0] < 3.0:
                i += 1
                b[0] += x
                b = b
            return i, a[0]
        """
    )
    args = np.array([1.0, 2.0]), 0.75
    try:
        found = rose.jit(f)(*args)
    except rose.StagingTypeError:
        return
    assert found == f(*args)
