"""Sums along axes: which are sums of their own, and which are added up a row at a time."""

import numpy as np
import pytest

import rosejit as rose

A = np.random.default_rng(4).normal(size=(11, 12, 13))
ACROSS = {
    "rows": lambda a: a[0].sum(axis=0),
    "kept axes": lambda a: a.sum(axis=0, keepdims=True),
    "two axes": lambda a: np.sum(a, axis=(0, 1)),
    "a middle one": lambda a: a.sum(axis=1),
    "where": lambda a: np.sum(a, axis=0, where=a > 0.0),
    "an initial": lambda a: np.sum(a[0], axis=0, initial=2.5),
    "means": lambda a: a[1].mean(axis=0) + a[2].var(axis=0),
    "parts": lambda a: a[::2, 1:, 2:].sum(axis=1),
}
ALONE = {
    "columns": lambda a: a.sum(axis=1 + 1),
    "all": lambda a: a[0].sum(),
    "columns too": lambda a: a.sum(axis=(0, 2)),
    "every second one": lambda a: a[0, :, ::2].sum(axis=0),
    "the other way round": lambda a: a[0].T.sum(axis=0),
    "short rows": lambda a: a[0, :, :5].sum(axis=0),
    "few rows": lambda a: a[0, :5].sum(axis=0),
}


@pytest.mark.parametrize("name", ACROSS)
def test_sums_side_by_side(name):
    f = ACROSS[name]
    text = str(rose.make_ir(f)(A))
    assert "update sums" in text
    assert "fadd" not in text
    assert np.allclose(rose.jit(f)(A), f(A), rtol=1e-13, atol=1e-13)
    rose.check_grads(lambda a: (f(a) ** 2).sum(), (A[:, :, :12],), order=1)


@pytest.mark.parametrize("name", ALONE)
def test_sums_of_their_own(name):
    f = ALONE[name]
    text = str(rose.make_ir(f)(A))
    assert "fadd" in text
    assert "update sums" not in text
    assert np.allclose(rose.jit(f)(A), f(A), rtol=1e-13, atol=1e-13)


def test_a_sum_of_rows_is_that_of_loops():
    """Term after term, to the bit."""
    wanted = np.zeros(13)
    for row in A[0]:
        wanted = wanted + row
    assert (rose.jit(lambda a: a.sum(axis=0))(A[0]) == wanted).all()
