"""Random Python functions give the same staged as in CPython, or are refused."""

from collections import Counter

import pytest

from tests.frontend.generate import Arrays, Flow, outcome, program

COUNT = 40


@pytest.mark.parametrize("kind", [Flow, Arrays])
def test_random_programs(kind):
    outcomes = Counter(outcome(program(kind, seed)) for seed in range(COUNT))
    assert outcomes["equal"] > 0.5 * COUNT
    assert outcomes["refused"] < 0.25 * COUNT
