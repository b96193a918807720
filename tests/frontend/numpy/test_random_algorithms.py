"""The algorithms of generators on the host's numbers: the words of NumPy's states, seeds and logarithms."""

import math
import random

import numpy as np
import pytest

from rosejit.frontend.numpy import random_algorithms
from rosejit.frontend.values.generators import words_of

SEEDS = [0, 1, 12345, 2**32 - 1, 2**32, 2**40 + 7, 2**63 - 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_gives_the_words_of_numpys_state(seed):
    assert [*random_algorithms.seeded(seed)] == words_of(np.random.PCG64(seed))[:4].tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_and_halves_are_those_of_numpy(seed):
    bits = np.random.PCG64(seed)
    words = words_of(bits).tolist()
    for _ in range(50):
        high, low, drawn = random_algorithms.stepped(*words[:4])
        words[:2] = high, low
        assert drawn % 2**64 == bits.random_raw()
        assert words == words_of(bits).tolist()
    rng = np.random.Generator(bits)
    for _ in range(51):
        *words[:2], words[4], words[5], drawn = random_algorithms.halved(*words)
        assert drawn == rng.integers(2**32)
        assert words == words_of(bits).tolist()


def test_the_logarithm_is_the_librarys_or_one_unit_away():
    """To the bit where the C library is glibc on a processor with fused operations."""
    rng = random.Random(1)
    for _ in range(20_000):
        u = math.floor(rng.random() * 2.0 ** -rng.choice([0, 0, 1, 10, 30]) * 2**53) / 2**53
        for given in (u, 1.0 - u):
            if 0.0 <= given < 1.0:
                expected = math.log1p(-given)
                assert abs(random_algorithms.log_of_rest(given) - expected) <= math.ulp(expected)
