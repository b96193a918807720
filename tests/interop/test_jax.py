"""`rose.interop.jax.wrap`: JAX's own checks to order two, its transformations, and values against JAX's functions."""

import math
import pickle

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
check_grads = pytest.importorskip("jax.test_util").check_grads

from rosejit.interop.jax import wrap  # noqa: E402 - as above

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def x64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@rose.jit
def energy(x: Vec["n"], k: float) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += k * (x[i + 1] - x[i] ** 2) ** 2
    return total


def own(x, k):
    return (k * (x[1:] - x[:-1] ** 2) ** 2).sum()


@rose.jit
def product(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
    return np.sin(a @ x) * x[0]


def own_product(a, x):
    return jnp.sin(a @ x) * x[0]


@rose.jit
def several(p: dict[str, float], x: Vec["n"], n: int):
    return {"value": p["a"] * math.exp(p["b"]) * x.sum(), "pair": (x * p["a"], n + 1)}


X, K = np.array([0.5, 1.2, 0.8]), 1.5
A = np.array([[0.3, -0.5, 0.2], [0.7, 0.1, -0.4]])


def numbers(f, g, *args):
    """What JAX makes of both functions, to be the same."""
    found, expected = (jax.tree_util.tree_leaves(one(*map(jnp.asarray, args))) for one in (f, g))
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        assert np.allclose(x, y, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("f", "args"), [(energy, (X, K)), (product, (A, X))], ids=["number", "array"])
def test_check_grads_to_order_two(f, args):
    check_grads(wrap(f), tuple(map(jnp.asarray, args)), order=2)


KS = np.array([1.5, 2.0, 0.3])
TRANSFORMED = {
    "jit": (jax.jit, X, K),
    "grad": (jax.grad, X, K),
    "hessian": (jax.hessian, X, K),
    "reverse twice": (lambda f: jax.jacrev(jax.jacrev(f)), X, K),
    "reverse over forward": (lambda f: jax.jacrev(jax.jacfwd(f)), X, K),
    "jit of grad": (lambda f: jax.jit(jax.grad(f, argnums=(0, 1))), X, K),
    "grad of jit": (lambda f: jax.grad(jax.jit(f), argnums=1), X, K),
    "jit around and inside": (lambda f: jax.jit(jax.hessian(jax.jit(f))), X, K),
    "batch": (lambda f: jax.vmap(f, (None, 0)), X, KS),
    "grad of a batch": (
        lambda f: jax.grad(lambda x, k: jax.vmap(f, (0, None))(jnp.outer(x, x), k).sum(), argnums=(0, 1)), X, K),
    "hessian of a batch": (lambda f: jax.hessian(lambda x, k: jax.vmap(f, (None, 0))(x, x * k).sum()), X, K),
    "batch of grads": (lambda f: jax.vmap(jax.grad(f), (None, 0)), X, KS),
    "batch of batches": (lambda f: jax.vmap(jax.vmap(jax.grad(f), (None, 0)), (1, None)), np.outer(X, X), KS),
    "grad of grad": (lambda f: jax.grad(lambda x, k: (jax.grad(f)(x, k) ** 2).sum()), X, K),
    "scan": (
        lambda f: jax.grad(lambda x, k: jax.lax.scan(lambda c, k: (c * f(x, k), c), 1.0, x * k)[0], argnums=1), X, K),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformations_are_those_of_jax(name):
    transform, *args = TRANSFORMED[name]
    numbers(transform(wrap(energy)), transform(own), *args)


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
def test_jacobians(mode):
    for argnums in (0, 1):
        both = (getattr(jax, mode)(f, argnums=argnums) for f in (wrap(product), own_product))
        numbers(*both, A, X)
    both = (getattr(jax, mode)(getattr(jax, mode)(f, argnums=0), argnums=1) for f in (wrap(product), own_product))
    numbers(*both, A, X)


def test_structures_and_integers():
    p = {"a": jnp.asarray(2.0), "b": 0.5}
    found = wrap(several)(p, jnp.asarray(X), jnp.asarray(4))
    assert (found["pair"][1], found["pair"][1].dtype) == (5, jnp.int64)
    slope = jax.grad(lambda p, x, n: wrap(several)(p, x, n)["value"])({**p, "b": jnp.asarray(0.5)}, jnp.asarray(X), 2)
    assert slope["b"] == pytest.approx(2.0 * math.exp(0.5) * X.sum())
    step = jax.jvp(lambda x, n: wrap(several)(p, x, n), (jnp.asarray(X), jnp.asarray(3)), (jnp.ones(3), _float0()))[1]
    assert np.allclose(step["pair"][0], 2.0)


def _float0():
    return np.zeros((), jax.dtypes.float0)


def test_float32_is_given_where_it_is_asked_for():
    x = jnp.asarray(X, jnp.float32)
    with pytest.raises(rose.StagingTypeError, match="computes in float64"):
        wrap(energy)(x, K)
    f = wrap(energy, dtype=jnp.float32)
    assert {f(x, K).dtype, jax.grad(f)(x, K).dtype, jax.jit(jax.hessian(f))(x, K).dtype} == {jnp.dtype("float32")}


def test_what_jax_has_not_is_refused():
    with pytest.raises(rose.StagingTypeError, match="real arrays"):
        wrap(energy)(jnp.asarray(X, complex), K)
    for f in (lambda x: x * 1j, lambda x: {"z": x[0] * 1j}):
        with pytest.raises(rose.StagingTypeError, match="returns complex numbers"):
            wrap(f)(jnp.asarray(X))
    with pytest.raises(rose.StagingTypeError, match="keeps `n` as a host value"):
        wrap(rose.jit(lambda x, n: x * n, static_argnames="n"))(jnp.asarray(X), jnp.asarray(2))
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(rose.StagingTypeError, match="jax_enable_x64"):
        wrap(energy)(X, K)


def test_a_wrapped_function_is_pickled():
    assert pickle.loads(pickle.dumps(wrap(energy)))(jnp.asarray(X), K) == energy(X, K)
