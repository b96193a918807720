"""What docs/interop.md writes down for libraries that take a logarithm of a density, or a function and its gradient."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec

MEAN, PRECISION = np.array([1.0, -0.5]), np.array([[2.0, 0.6], [0.6, 1.0]])


@rose.jit
def logp(x: Vec[2]) -> float:
    """A normal density."""
    away = x - MEAN
    return -0.5 * (away @ PRECISION @ away)


@rose.jit
def rosenbrock(x: Vec["n"]) -> float:
    return ((x[1:] - x[:-1] ** 2) ** 2).sum() * 100.0 + ((1.0 - x[:-1]) ** 2).sum()


def covers(draws):
    """Whether draws are of the density, to five of their errors with a hundred of them that count."""
    assert np.allclose(draws.mean(0), MEAN, atol=0.5 * np.sqrt(np.diag(np.linalg.inv(PRECISION))).max())


def test_emcee():
    emcee = pytest.importorskip("emcee")
    sampler = emcee.EnsembleSampler(16, 2, rose.vmap(logp), vectorize=True)
    sampler.random_state = np.random.RandomState(1).get_state()
    sampler.run_mcmc(np.random.default_rng(0).normal(size=(16, 2)), 500)
    covers(sampler.get_chain(discard=100, flat=True))


@pytest.mark.filterwarnings("ignore")
def test_blackjax():
    blackjax, jax = pytest.importorskip("blackjax"), pytest.importorskip("jax")
    wrap = pytest.importorskip("rosejit.interop.jax").wrap
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        nuts = blackjax.nuts(wrap(logp), step_size=0.5, inverse_mass_matrix=np.ones(2))
        state, step = nuts.init(jax.numpy.zeros(2)), jax.jit(nuts.step)
        draws = []
        for key in jax.random.split(jax.random.key(0), 300):
            state, _ = step(key, state)
            draws.append(state.position)
        covers(np.array(draws[50:]))
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.filterwarnings("ignore")
def test_nutpie():
    nutpie = pytest.importorskip("nutpie")
    from_pyfunc = pytest.importorskip("nutpie.compiled_pyfunc").from_pyfunc
    both = rose.value_and_grad(logp)
    model = from_pyfunc(2, lambda: both, lambda *seeds: lambda x: {"x": x}, [np.dtype(float)], [(2,)], ["x"])
    trace = nutpie.sample(model, draws=300, tune=200, chains=2, cores=1, seed=1, progress_bar=False)
    covers(np.asarray(trace.posterior["x"]).reshape(-1, 2))


def test_lmfit():
    lmfit = pytest.importorskip("lmfit")
    t = np.linspace(0.0, 2.0, 30)

    @rose.jit
    def decay(t: Vec["n"], a: float, b: float) -> Vec["n"]:
        return a * np.exp(-b * t)

    found = lmfit.Model(decay).fit(decay(t, 2.5, 1.3), t=t, a=1.0, b=1.0)
    assert [found.params["a"].value, found.params["b"].value] == pytest.approx([2.5, 1.3], abs=1e-6)

    slopes = rose.jacobian(lambda p, t: decay(t, p[0], p[1]))

    def residuals(params):
        return decay(t, **params.valuesdict()) - decay(t, 2.5, 1.3)

    def derivatives(params):
        return slopes(np.array([*params.valuesdict().values()]), t)

    params = lmfit.create_params(a=1.0, b=1.0)
    found = lmfit.minimize(residuals, params, Dfun=derivatives, col_deriv=False)
    assert [found.params["a"].value, found.params["b"].value] == pytest.approx([2.5, 1.3], abs=1e-6)


def test_nlopt():
    nlopt = pytest.importorskip("nlopt")
    both = rose.value_and_grad(rosenbrock)

    def objective(x, slope):
        value, found = both(x)
        if slope.size:
            slope[:] = found
        return value

    search = nlopt.opt(nlopt.LD_LBFGS, 5)
    search.set_min_objective(objective)
    search.set_xtol_rel(1e-12)
    assert search.optimize(np.full(5, 0.5)) == pytest.approx(np.ones(5), abs=1e-6)
