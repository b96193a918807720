"""`np.polyfit` and the fits of `np.polynomial`: exact polynomials, NumPy's numbers, refusals.

The rows of the registry have the derivatives.
"""

import numpy as np
import pytest

import rosejit as rose

X = np.linspace(-1.0, 2.0, 9)
Y = np.stack([np.sin(3.0 * X), X**3 - X], 1)
W = 1.0 + 0.5 * np.cos(np.arange(9.0))


def close(found, wanted):
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            close(one, other)
        return
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"w": W}, {"full": True}, {"cov": True}, {"cov": "unscaled", "w": W}, {"rcond": 1e-3}]
)
def test_polyfit_as_numpy(options):
    y = Y[:, 0].copy() if "w" in options else Y
    close(rose.jit(lambda x, y: np.polyfit(x, y, 3, **options))(X, y), np.polyfit(X, y, 3, **options))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("polynomial.polyfit", {"deg": 2, "full": True}),
        ("chebyshev.chebfit", {"deg": [3, 0], "w": W}),
        ("legendre.legfit", {"deg": 3, "w": W}),
        ("hermite_e.hermefit", {"deg": [1]}),
    ],
)
def test_fits_of_families_as_numpy(name, options):
    module, function = name.split(".")
    fit = getattr(getattr(np.polynomial, module), function)
    close(rose.jit(lambda x, y: fit(x, y, **options))(X, Y), fit(X, Y, **options))


def test_a_polynomial_is_found_again_and_moves_with_its_values():
    wanted = np.array([2.0, -1.0, 0.5])
    values = np.polyval(wanted, X)
    assert np.allclose(rose.jit(lambda y: np.polyfit(X, y, 2))(values), wanted, atol=1e-14)
    slopes = rose.jacobian(lambda y: np.polyfit(X, y, 2))(values)  # a fit is linear in its values
    assert np.allclose(slopes @ values, wanted)
    assert np.allclose(slopes @ np.vander(X, 3), np.eye(3), atol=1e-13)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda x, y: np.polyfit(x, y, -1), ValueError, "not below 0"),
        (lambda x, y: np.polyfit(x, y, x[0]), TypeError, "an int that staging knows"),
        (lambda x, y: np.polyfit(x, y[:4], 1), ValueError, "do not fit"),
        (lambda x, y: np.polyfit(x, y, 1, w=y[:4]), ValueError, "4 weights of 9 samples"),
        (lambda x, y: np.polyfit(x[:2], y[:2], 1, cov=True), ValueError, "must exceed order"),
        (lambda x, y: np.polyfit(x * np.nan, y, 1), np.linalg.LinAlgError, "did not converge"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        rose.jit(call)(X, X)
