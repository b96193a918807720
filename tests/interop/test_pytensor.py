"""`rose.interop.pytensor.wrap`: gradients to order two by PyTensor's own check, and a model of PyMC."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec

pytensor = pytest.importorskip("pytensor")
pt = pytest.importorskip("pytensor.tensor")
wrap = pytest.importorskip("rosejit.interop.pytensor").wrap
pytestmark = pytest.mark.filterwarnings("ignore")


@rose.jit
def energy(x: Vec["n"], k: float) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += k * (x[i + 1] - x[i] ** 2) ** 2
    return total


@rose.jit
def product(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
    return np.sin(a @ x) * x[0]


X, A = np.array([0.5, 1.2, 0.8]), np.array([[0.3, -0.5, 0.2], [0.7, 0.1, -0.4]])


def test_values_and_gradients_to_order_two():
    x, k = pt.dvector(), pt.dscalar()
    y = wrap(energy)(x, k)
    slopes = pytensor.grad(y, [x, k])
    curvature = pytensor.grad((slopes[0] ** 2).sum(), k)
    run = pytensor.function([x, k], [y, *slopes, curvature], mode="FAST_COMPILE")
    value, dx, dk, ddk = run(X, 1.5)
    assert value == energy(X, 1.5)
    expected = rose.grad(energy, argnums=(0, 1))(X, 1.5)
    assert np.array_equal(dx, expected[0])
    assert dk == expected[1]
    assert ddk == pytest.approx(2.0 / 1.5 * (expected[0] ** 2).sum(), rel=1e-12)  # the slope is linear in k


def test_pytensors_own_check():
    rng = np.random.default_rng(0)
    for f, args in ((wrap(energy), [X, np.array(1.5)]), (wrap(product, ndim=1), [A, X])):
        pytensor.gradient.verify_grad(f, args, rng=rng, mode="FAST_COMPILE")
        pytensor.gradient.verify_grad(
            lambda *a, f=f: pytensor.grad(f(*a).sum(), a[0]), args, rng=rng, mode="FAST_COMPILE"
        )


def test_as_compiled_by_default():
    x = pt.dvector()
    y = wrap(energy)(x, 2.0)
    value, slope = pytensor.function([x], [y, pytensor.grad(y, x)])(X)
    assert value == energy(X, 2.0)
    assert np.array_equal(slope, rose.grad(energy)(X, 2.0))


def test_refused():
    with pytest.raises(rose.StagingTypeError, match="real variables"):
        wrap(energy)(pt.zvector(), 1.0)
    with pytest.raises(rose.StagingTypeError, match="of the axes that `wrap` is told"):
        wrap(product)(A, X).eval(mode="FAST_COMPILE")


def test_a_model_of_pymc():
    pm = pytest.importorskip("pymc")
    t = np.linspace(0.0, 2.0, 40)
    seen = 2.5 * np.exp(-1.3 * t) + 0.05 * np.random.default_rng(0).normal(size=40)

    @rose.jit
    def fit(a: float, b: float) -> float:
        return -0.5 * (((a * np.exp(-b * t) - seen) / 0.05) ** 2).sum()

    with pm.Model():
        a, b = pm.Normal("a", 2.0, 2.0), pm.Normal("b", 1.0, 2.0)
        pm.Potential("fit", wrap(fit)(a, b))
        best = pm.find_MAP(progressbar=False)
        trace = pm.sample(
            100, tune=200, chains=1, cores=1, random_seed=1, progressbar=False, compute_convergence_checks=False
        )
    assert [best["a"], best["b"]] == pytest.approx([2.5, 1.3], abs=0.1)
    assert [float(trace.posterior[name].mean()) for name in "ab"] == pytest.approx([2.5, 1.3], abs=0.1)
