"""Draws of staged generators are NumPy's to the bit, in wasmtime and in node: tails, layers and rejections included."""

import numpy as np
import pytest

from benchmarks.random_bits import KINDS, differing
from rosejit.ops.ziggurat import EXPONENTIAL_EDGE, NORMAL_EDGE
from tests.export.machine import NODE

DRAWS, SEED = 30_000, 9


def test_draws_are_numpys():
    found = differing([*KINDS], DRAWS, SEED, NODE)
    assert all(not count for counts in found.values() for count in counts), found


@pytest.mark.parametrize(
    ("kind", "edge"), [("standard_normal", NORMAL_EDGE), ("standard_exponential", EXPONENTIAL_EDGE)]
)
def test_the_tails_are_among_them(kind, edge):
    drawn = KINDS[kind](np.random.default_rng(SEED), DRAWS)
    assert (abs(drawn) > edge).sum() > 3
