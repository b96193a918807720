"""`np.roots` against NumPy, and its derivatives against differences."""

import numpy as np
import pytest

import rosejit as rose

RNG = np.random.default_rng(0)
POLYNOMIALS = [
    [1.0, -3.0, 2.0], [1.0, 0.0, 0.0, -1.0], [2.0, 1.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 0.0, 0.0], [1.0, 2.0],
    RNG.normal(size=11), RNG.normal(size=6) + 1j * RNG.normal(size=6), np.poly([1.0, 2.0, 3.0, 4.0]), [1.0, -2.0, 1.0],
]  # fmt: skip
compiled = rose.jit(lambda p: np.roots(p))


def furthest(found, wanted):
    """How far the roots are from NumPy's, which come in another order."""
    rest, worst = [*wanted], 0.0
    for z in found:
        k = min(range(len(rest)), key=lambda k: abs(rest[k] - z))
        worst = max(worst, abs(rest.pop(k) - z))
    return worst


@pytest.mark.parametrize("k", range(len(POLYNOMIALS)))
def test_they_are_numpys(k):
    p = np.asarray(POLYNOMIALS[k])
    assert furthest(compiled(p), np.roots(p)) < (1e-7 if k == len(POLYNOMIALS) - 1 else 1e-12)


def test_derivatives():
    p = np.array([2.0, 1.0, 3.0, 4.0, 5.0])

    def size(p):
        return np.sum(np.abs(np.roots(p)) ** 4)

    gradient = rose.grad(size)
    steps = 1e-6 * np.eye(5)
    slopes = [(size(p + step) - size(p - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient(p), slopes, rtol=1e-6, atol=1e-6)
    slopes = [(gradient(p + step) - gradient(p - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(rose.hessian(size)(p), slopes, rtol=1e-6, atol=1e-6)


def test_a_first_coefficient_that_is_zero():
    assert not np.isfinite(compiled(np.array([0.0, 1.0, 2.0]))).any()
