"""Derivatives by vectors of matrices some of whose eigenvalues, or singular values, are exactly equal: finite and right
for the vectors that are determined, in both modes, and no numbers for the others."""

import numpy as np
import pytest

import rosejit as rose

C = np.arange(1.0, 6.0)
POINTS = {
    "generic": np.array([0.7, -1.3, 2.1, 0.4, -0.2]),
    "axis": np.array([2.0, 0.0, 0.0, 0.0, 0.0]),
    "two": np.array([1.0, 1.0, 0.0, 0.0, 0.0]),
    "other axis": np.array([0.0, 0.0, 0.0, 0.0, 3.0]),
}


def bumped(x):
    """All eigenvalues but the largest are 3; that one's vector is `x` of length 1."""
    return np.outer(x, x) + 3.0 * np.eye(5)


VECTORS = {
    "eigh": lambda a: np.linalg.eigh(a)[1][:, 4],
    "left": lambda a: np.linalg.svd(a)[0][:, 0],
    "right": lambda a: np.linalg.svd(a)[2][0],
    "left of tall": lambda a: np.linalg.svd(np.concatenate([a, a]), full_matrices=False)[0][:5, 0] * 2.0**0.5,
    "right of wide": lambda a: np.linalg.svd(np.concatenate([a, a], axis=1), full_matrices=False)[2][0, :5] * 2.0**0.5,
}
DIRECTION = np.array([1.0, 2.0, -1.0, 0.5, 3.0])


def slope(x, d):
    """Of the square of `c x / |x|`, which no sign changes."""
    n = np.linalg.norm(x)
    return 2.0 * (C @ x) / n * (C @ d / n - (C @ x) * (x @ d) / n**3)


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("point", POINTS)
def test_the_vector_that_is_determined(vector, point):
    x = POINTS[point]
    f = rose.jit(lambda x: (VECTORS[vector](bumped(x)) @ C) ** 2)
    wanted = slope(x, DIRECTION)
    np.testing.assert_allclose(rose.grad(f)(x) @ DIRECTION, wanted, rtol=1e-9)
    np.testing.assert_allclose(rose.jvp(f, (x,), (DIRECTION,))[1], wanted, rtol=1e-9)


PARTS = {
    "eigh": lambda a, k: np.linalg.eigh(a)[1][0, k],
    "left": lambda a, k: np.linalg.svd(a)[0][0, k],
    "right": lambda a, k: np.linalg.svd(a)[2][k, 0],
}
MATRICES = {"identity": np.eye(3), "two alike": np.diag([1.0, 1.0, 2.0]), "all apart": np.diag([1.0, 3.0, 2.0])}


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("part", PARTS)
def test_modes_agree_on_what_is_determined(part, matrix, k):
    a = MATRICES[matrix]
    values = np.sort(np.diag(a)) if part == "eigh" else np.sort(np.diag(a))[::-1]
    f = rose.jit(lambda a: PARTS[part](a, k))
    is_determined = np.count_nonzero(values == values[k]) == 1
    assert np.isfinite(rose.grad(f)(a)).all() == is_determined
    assert np.isfinite(rose.jvp(f, (a,), (np.ones((3, 3)),))[1]) == is_determined
