"""Powers of arrays with one exponent, which NumPy computes in ways of its own, at the numbers where that shows."""

import numpy as np
import pytest

import rosejit as rose

ARRAYS = {
    "float64": np.array([-np.inf, -0.0, 0.0, np.inf, np.nan, -2.0, 3.0, 1e300, 1e-300, 5e-324]),
    "float32": np.array([-np.inf, -0.0, 0.0, np.inf, np.nan, -2.0, 3.0, 0.1], np.float32),
    "int64": np.array([-3, 0, 1, 2, 7]),
}
EXPONENTS = {
    "half": 0.5, "less half": -0.5, "two": 2, "two of float": 2.0, "less one": -1.0, "zero": 0, "zero of float": 0.0,
    "one": 1, "one of float": 1.0, "three": 3, "less two": -2.0, "three halves": 1.5,
}  # fmt: skip


def in_place(x, e):
    y = x.copy()
    y **= e
    return y


WAYS = {
    "operator": lambda x, e: x**e,
    "pow": lambda x, e: pow(x, e),
    "in place": in_place,
    "one by one": lambda x, e: np.array([v**e for v in x]),
    "many exponents": lambda x, e: x ** np.full(len(x), e),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("way", WAYS)
def test_as_numpy(way, kind, exponent):
    x, e, power = ARRAYS[kind], EXPONENTS[exponent], WAYS[way]
    try:
        wanted = power(x, e)
    except TypeError as error:
        wanted = error
    f = rose.jit(lambda x: power(x, e))
    if isinstance(wanted, TypeError):
        with pytest.raises(TypeError):
            f(x)
        return
    try:
        found = f(x)
    except rose.RoseError:
        assert (kind, way) == ("int64", "in place")  # which NumPy takes or not, by its version
        return
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if found.dtype == np.float32 else 1e-14)
    known = ~np.isnan(wanted)
    assert (np.signbit(found[known]) == np.signbit(wanted[known])).all()


def test_slope_of_the_root():
    f = rose.grad(lambda x: (x**0.5).sum())
    np.testing.assert_allclose(f(np.array([4.0, 0.25])), [0.25, 1.0])


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("kind", [float, int, bool, np.float32])
@pytest.mark.parametrize(("shape", "axis"), [((0, 4), 1), ((0, 4), -1), ((2, 0, 3), 0), ((2, 0, 3), 2), ((0, 4), 0)])
def test_positions_in_nothing(name, kind, shape, axis):
    x = np.ones(shape, kind)
    f = rose.jit(lambda x: getattr(np, name)(x, axis=axis))
    if shape[axis] == 0:
        with pytest.raises(ValueError):
            f(x)
        return
    found, wanted = f(x), getattr(np, name)(x, axis=axis)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape


@pytest.mark.parametrize("name", ["isclose", "median", "allclose"])
def test_truth_values(name):
    p, q = np.array([True, False, True]), np.array([True, True, True])
    ask = {"isclose": np.isclose, "allclose": np.allclose, "median": lambda p, q: np.median(p)}[name]
    np.testing.assert_array_equal(rose.jit(ask)(p, q), ask(p, q))
