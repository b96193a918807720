"""The functions of `scipy.special` that are staged, against SciPy: values at all edges, derivatives inside."""

import math

import numpy as np
import pytest
import scipy.special as sc
from scipy.special import logsumexp

import rosejit as rose
from rosejit import Mat, Vec

ONE = "expit gammaln erf erfc psi digamma expm1 log1p gamma entr logit ndtr log_ndtr log_expit exp2 cbrt".split()
TWO = "xlogy xlog1py betaln beta rel_entr kl_div huber pseudo_huber".split()
EDGES = [
    0.0, 1.0, 0.5, 0.3, 0.29, 0.65, 1e-300, 1e-9, 0.999999, 1.5, 7.25, 30.0, 171.0, 1e3, 1e8, math.inf, math.nan,
    -0.25, -1.5, -13.9, -14.1, -37.5, -40.0, -1e3, -1e9, -math.inf,
]  # fmt: skip
INSIDE = {"logit": (0.05, 0.95), "log_ndtr": (-60.0, 8.0), "ndtr": (-6.0, 6.0), "expit": (-20.0, 20.0)}
NOT_OURS = {"psi": [0.0], "digamma": [0.0], "gamma": [0.0, -1e3, -1e9, -40.0, -math.inf], "gammaln": [-math.inf]}
"""Poles, where releases of SciPy differ, too."""


def same(found, expected, close=1e-12, zero=1e-300):
    with np.errstate(all="ignore"):
        assert np.allclose(found, expected, rtol=close, atol=zero, equal_nan=True), (found, expected)


@pytest.mark.parametrize("name", ONE)
def test_values_of_one(name):
    function = getattr(sc, name)
    x = np.array([value for value in EDGES if value not in NOT_OURS.get(name, [])])
    if name in ("psi", "digamma"):
        x = x[(x > 0.0) | (x != np.floor(x)) | np.isnan(x)]

    @rose.jit
    def f(x: Vec["n"]) -> Vec["n"]:
        return function(x)

    with np.errstate(all="ignore"):
        expected = function(x)
    same(f(x), expected, zero=1e-15 if name == "gammaln" else 1e-300)  # near its roots at 1 and 2
    compiled = f(x)
    with rose.disable_jit():
        assert np.array_equal(f(x), compiled, equal_nan=True)
    same(rose.jit(lambda s: function(s))(0.4), function(0.4))


@pytest.mark.parametrize("name", TWO)
def test_values_of_two(name):
    function = getattr(sc, name)
    values = [0.0, 0.5, 1.0, 2.25, 30.0, math.inf, math.nan, -0.5, -1.0, -2.5]
    if name.startswith("beta"):
        values = [0.5, 1.0, 2.25, 30.0, 1e5, 1e7, 1e12, -0.25, -2.6]
    a, b = (np.array(v).ravel() for v in np.meshgrid(values, values))

    @rose.jit
    def f(a: Vec["n"], b: Vec["n"]) -> Vec["n"]:
        return function(a, b)

    with np.errstate(all="ignore"):
        expected = function(a, b)
    found = f(a, b)
    if name.startswith("beta"):  # what cancels in them cancels in SciPy's, too
        keep = np.isfinite(expected) & ((np.maximum(a, b) > 1e10) | (np.abs(a) + np.abs(b) < 1e5))
        keep &= ((a > 0) & (b > 0)) | (np.abs(a) + np.abs(b) < 10.0)
        assert keep.sum() > 40
        return same(found[keep], expected[keep], 1e-10)
    return same(found, expected)


@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_derivatives(name):
    function = getattr(sc, name)
    low, high = INSIDE.get(name, (0.3, 3.0))
    rng = np.random.default_rng(3)
    for _ in range(4):
        args = tuple(rng.uniform(low, high, 1 + (name in TWO)).tolist())
        f = rose.jit(lambda *xs: function(*xs))
        rose.check_grads(f, args, order=2)


def test_derivatives_against_formulas():
    assert rose.grad(lambda x: sc.log_ndtr(x))(-50.0) == pytest.approx(50.0199840319, rel=1e-11)
    assert rose.grad(lambda x: sc.log_ndtr(x))(-1e6) == pytest.approx(1e6)
    assert rose.grad(lambda x, y: sc.xlogy(x, y))(0.0, 3.0) == pytest.approx(math.log(3.0))
    assert rose.grad(lambda x, y: sc.xlogy(x, y), (0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert rose.grad(lambda x: sc.entr(x))(0.0) == 0.0
    assert rose.grad(lambda x: sc.betaln(x, 2.0))(1e9) == pytest.approx(-2e-9, rel=1e-8)
    assert rose.grad(lambda x: sc.logit(x))(0.5) == 4.0


A = np.array([[0.5, -2.0, 3.0], [1000.0, 999.0, -np.inf]])


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_sums_of_exponentials(axis):
    weights = np.array([0.5, 2.0, 1.0])

    @rose.jit
    def f(a: Mat["n", "m"]):
        summed = logsumexp(a, axis=axis), logsumexp(a, axis, b=weights), logsumexp(a, axis=axis, keepdims=True)
        return summed, sc.softmax(a, axis=axis), sc.log_softmax(a, axis=axis)

    with np.errstate(all="ignore"):
        summed, soft, log_soft = f.__wrapped__(A)
        for found, expected in zip([*f(A)[0], *f(A)[1:]], [*summed, soft, log_soft], strict=True):
            assert np.shape(found) == np.shape(expected)
            same(found, expected)
    finite = np.array([[0.5, -2.0, 3.0], [1.0, 0.2, -0.7]])
    rose.check_grads(lambda a: np.sum(f(a)[0][1]) + (f(a)[1] ** 2).sum() + (f(a)[2] ** 2).sum(), (finite,), order=2)


def test_in_loops_on_the_host_and_misused():
    @rose.jit
    def f(x: Vec["n"]) -> float:
        total = sc.erf(0.5)
        for i in range(80):
            total = total + sc.gammaln(x[i % 2] + i) * sc.expit(0.1 * i)
        return total

    x = np.array([1.5, 2.5])
    assert f(x) == pytest.approx(f.__wrapped__(x), rel=1e-13)
    for wrong in (lambda x: sc.erf(x, nonsense=True), lambda x: sc.erf("a", x), lambda x: sc.airy(x)):
        with pytest.raises((TypeError, ValueError)) as caught:
            rose.jit(wrong)(1.0)
        assert isinstance(caught.value, rose.RoseError)
    with pytest.raises(rose.StagingTypeError, match=r"`scipy\.special\.j0` of staged values is not staged"):
        rose.jit(lambda x: sc.j0(x))(1.0)
    with pytest.raises(rose.RoseError, match="return_sign"):
        rose.jit(lambda x: logsumexp(x, return_sign=True))(x)
