"""What may be one object or several, in random programs; `python -m tests.random_objects` runs many more."""

import pytest

from tests import random_objects
from tests.frontend.outcomes import outcome


@pytest.mark.parametrize("seed", range(60))
def test_numbers_are_those_of_python(seed):
    random_objects.check(seed)


def test_most_programs_run():
    found = [random_objects.check(seed) for seed in range(60, 100)]
    assert found.count("right") > 20


@pytest.mark.parametrize("seed", range(50))
def test_with_more_of_python(seed):
    random_objects.check(seed, "wider")


def test_a_function_in_a_loop_in_a_handler():
    """Handlers stand twice in what is made of a function."""
    source = """
def f(x: float, y: float, i: int, n: int) -> float:
    p = 0
    try:
        if x > y:
            raise ValueError
    except ValueError:
        for k in range(3):
            p += max(range(3), key=lambda q: x * q * k)
    return x * p
"""
    assert outcome(source) == "right"


def test_what_is_chosen_among_what_is_chosen():
    """A list with elements that are chosen themselves, beside objects with staged attributes, at a staged index."""
    source = """
class P:
    def __init__(self, u, w):
        self.u = u
        self.w = w

def f(x: float, y: float, i: int, n: int) -> float:
    shapes = [P(x, "a"), P(y, 2.0)]
    m = [shapes[n % 2], P(x * y, 1.0), P(0.5, None)]
    return m[i].u
"""
    assert outcome(source) == "right"
