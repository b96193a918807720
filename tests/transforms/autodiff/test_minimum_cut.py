"""Minimum cuts, beside all cuts of small graphs."""

import random
from itertools import product

import pytest

from rosejit.transforms.autodiff.minimum_cut import UNBOUNDED, sink_side


def capacity(edges, there):
    """Of the edges that lead to the side of the sink."""
    return sum(size for start, end, size in edges if start not in there and end in there)


@pytest.mark.parametrize("seed", range(60))
def test_no_cut_is_smaller_and_none_as_small_has_fewer_nodes_at_the_sink(seed):
    rng = random.Random(seed)
    nodes = rng.randint(2, 8)
    edges = [
        (*rng.sample(range(nodes), 2), rng.choice([1, 1, 2, 3, 5, UNBOUNDED])) for _ in range(rng.randint(0, 3 * nodes))
    ]
    found = sink_side(nodes, edges, 0, 1)
    cuts = [{1, *[k + 2 for k, one in enumerate(bits) if one]} for bits in product([0, 1], repeat=nodes - 2)]
    assert found in cuts
    best = min(capacity(edges, cut) for cut in cuts)
    assert capacity(edges, found) == best
    assert all(found <= cut for cut in cuts if capacity(edges, cut) == best)


def test_a_flow_goes_back_on_an_edge_where_that_lets_more_through():
    """The network of Ford and Fulkerson's example: two paths of one unit cross in the middle."""
    edges = [(0, 2, 1), (0, 3, 1), (2, 3, 1), (2, 1, 1), (3, 1, 1)]
    assert capacity(edges, sink_side(4, edges, 0, 1)) == 2


def test_long_chains_and_wide_fans():
    n = 3000
    chain = [(0, 2, 9), *[(k, k + 1, 7 if k != n // 2 else 2) for k in range(2, n)], (n, 1, 9)]
    assert sink_side(n + 1, chain, 0, 1) == {1, *range(n // 2 + 1, n + 1)}
    fan = [edge for k in range(2, n) for edge in ((0, k, 1), (k, 1, 2))]
    assert sink_side(n, fan, 0, 1) == {1, *range(2, n)}
