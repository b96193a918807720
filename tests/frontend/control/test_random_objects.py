"""What may be one object or several, in random programs; `python -m tests.random_objects` runs many more."""

import pytest

from tests import random_objects


@pytest.mark.parametrize("seed", range(60))
def test_numbers_are_those_of_python(seed):
    random_objects.check(seed)


def test_most_programs_run():
    found = [random_objects.check(seed) for seed in range(60, 100)]
    assert found.count("right") > 20
