"""Random numbers that would be drawn once, while staging, are refused with the line and the remedy; so is what would
make two generators of one. What NumPy refuses is raised as NumPy raises it, when the code runs."""

import copy
import random
import threading

import numpy as np
import pytest

import rosejit as rose
from rosejit.errors import NotDifferentiable, RoseError, StagingTypeError, UnsupportedSyntax

RNG = np.random.default_rng(0)
STATE = np.random.RandomState(0)
STREAM = random.Random(0)
GUMBEL = RNG.gumbel


def closed():
    rng = np.random.default_rng(0)
    return lambda x: x + rng.normal()


class Held:
    rng = RNG


OUTSIDE = {
    "np.random.normal": lambda x: x + np.random.normal(),
    "np.random.rand": lambda x: x + np.random.rand(),
    "np.random.seed": lambda x: np.random.seed(0) or x,
    "np.random.randint": lambda x: x + np.random.randint(5),
    "np.random.shuffle": lambda x: np.random.shuffle(np.arange(3)) or x,
    "RandomState": lambda x: x + np.random.RandomState(0).normal(),
    "a RandomState of a global": lambda x: x + STATE.normal(),
    "random.random": lambda x: x + random.random(),
    "random.gauss": lambda x: x + random.gauss(0.0, 1.0),
    "random.choice": lambda x: x + random.choice([1.0, 2.0]),
    "random.shuffle": lambda x: random.Random(3).shuffle([1, 2, 3]) or x,
    "random.Random": lambda x: x + random.Random(0).random(),
    "a random.Random of a global": lambda x: x + STREAM.uniform(0.0, 1.0),
    "a generator of a global": lambda x: x + RNG.normal(),
    "of a closure": closed(),
    "of a class": lambda x: x + Held.rng.normal(),
    "a bound method": lambda x: x + GUMBEL(),
    "its bits": lambda x: x + RNG.bit_generator.random_raw(),
    "other bits": lambda x: x + np.random.Generator(np.random.MT19937(0)).normal(),
    "a generator of others": lambda x: x + np.random.default_rng(np.random.MT19937(0)).normal(),
    "of a generator outside": lambda x: x + np.random.default_rng(RNG).normal(),
    "no seed": lambda x: x + np.random.default_rng().normal(),
    "no seed of bits": lambda x: x + np.random.Generator(np.random.PCG64()).normal(),
    "passed on": lambda x: x + taking(x, RNG),
}


@rose.jit
def taking(x: float, rng: np.random.Generator) -> float:
    return x + rng.normal()


@pytest.mark.parametrize("where", ["outside", "loop", "untaken"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_draws_of_the_host_are_refused(name, where):
    draw = OUTSIDE[name]

    def outside(x: float) -> float:
        return draw(x)

    def loop(x: float) -> float:
        t = 0.0
        for _ in rose.range(3):
            t += draw(x)
        return t

    def untaken(x: float) -> float:
        return draw(x) if x < 0.0 else x

    if where == "outside" and name in ("RandomState", "random.shuffle", "random.Random"):  # made there, from a seed
        assert rose.jit(outside)(1.0) == draw(1.0)
        return
    before = RNG.bit_generator.state, STATE.get_state()[1].tolist(), STREAM.getstate(), random.getstate()
    with pytest.raises((StagingTypeError, UnsupportedSyntax)) as found:
        rose.jit(locals()[where])(1.0)
    assert before == (RNG.bit_generator.state, STATE.get_state()[1].tolist(), STREAM.getstate(), random.getstate())
    assert found.value.span.file == __file__
    assert found.value.help


def given(function):
    """A function of a number and a generator, called."""
    return lambda: rose.jit(function)(1.0, np.random.default_rng(0))


class Of(np.random.Generator):
    pass


MISUSE = {
    "given twice": lambda: rose.jit(lambda a, b: a.random() + b.random())(RNG, RNG),
    "given twice in a list": lambda: rose.jit(lambda rngs: rngs[0].random())([RNG, RNG]),
    "returned": given(lambda x, rng: rng),
    "returned beside": given(lambda x, rng: (x + rng.random(), rng)),
    "not staged": given(lambda x, rng: x + rng.gamma(2.0)),
    "spawned": given(lambda x, rng: rng.spawn(2)[0].random()),
    "of another size": given(lambda x, rng: rng.random(int(x))),
    "size that does not fit": given(lambda x, rng: rng.normal(np.zeros(3), 1.0, 2)),
    "float32": given(lambda x, rng: rng.random(3, dtype=np.float32)),
    "int32": given(lambda x, rng: rng.integers(3, dtype=np.int32)),
    "out": given(lambda x, rng: rng.random(3, out=np.zeros(3))),
    "inverse": given(lambda x, rng: rng.standard_exponential(method="inv")),
    "an unknown keyword": given(lambda x, rng: rng.normal(mean=x)),
    "a list shuffled": given(lambda x, rng: rng.shuffle([1, x])),
    "a staged length": lambda: rose.jit(lambda n, rng: rng.permutation(n)[0])(3, np.random.default_rng(0)),
    "words": given(lambda x, rng: rng.choice(["a", "b"])),
    "weighted sample": given(lambda x, rng: rng.choice(3, 2, False, [0.2, 0.3, 0.5])),
    "a float bound": given(lambda x, rng: rng.integers(x)),
    "other bits": lambda: taking(1.0, np.random.Generator(np.random.MT19937(0))),
    "no generator": lambda: taking(1.0, 3),
    "the old kind": lambda: taking(1.0, STATE),
    "shared by a batch": lambda: rose.vmap(taking)(np.ones(2), RNG),
    "shared by name": lambda: rose.vmap(taking, in_axes=(0, None))(np.ones(2), RNG),
    "threads": lambda: rose.vmap(taking, threads=2)(np.ones(4), RNG.spawn(4)),
    "twice in a batch": lambda: rose.vmap(taking)(np.ones(2), [RNG, RNG]),
    "opaque": given(lambda x, rng: rose.opaque(lambda x, rng: 1.0)(x, rng)),
    "with respect to it": lambda: rose.grad(taking, argnums=1)(1.0, RNG),
    "joined": given(lambda x, rng: (rng if x > 0.0 else np.random.default_rng(1)).random() + rng.random()),
}


@pytest.mark.parametrize("name", MISUSE)
def test_what_has_no_meaning_is_refused(name):
    with pytest.raises(RoseError):
        MISUSE[name]()


def test_a_rule_draws_nothing():
    @rose.jit
    def f(x: float, rng: np.random.Generator) -> float:
        return x * rng.random()

    f.jvp(lambda x, rng: rose.Dual(x.re, x.du))
    with pytest.raises(NotDifferentiable, match="draws random numbers"):
        f(1.0, np.random.default_rng(0))


FAILING = {
    "scale": lambda x, rng: rng.normal(0.0, x),
    "minus zero": lambda x, rng: rng.normal(0.0, 0.0 * x),
    "exponential": lambda x, rng: rng.exponential(x),
    "uniform": lambda x, rng: rng.uniform(0.0, x),
    "infinite": lambda x, rng: rng.uniform(0.0, x * np.inf),
    "array": lambda x, rng: rng.normal(0.0, np.array([1.0, x]))[0],
    "integers": lambda x, rng: x * rng.integers(int(x)),
    "bounds": lambda x, rng: x * rng.integers(4, int(x)),
    "known bounds": lambda x, rng: x * rng.integers(4, 4),
    "endpoint": lambda x, rng: x * rng.integers(0, int(x), endpoint=True),
    "known scale": lambda x, rng: x * rng.normal(0.0, -1.0),
    "choice": lambda x, rng: x * rng.choice(int(x)),
    "nothing": lambda x, rng: x * rng.choice(np.zeros(0)),
    "weights": lambda x, rng: x * rng.choice(2, p=[x, 0.5]),
    "known weights": lambda x, rng: x * rng.choice(2, p=[0.9, 0.5]),
    "sample": lambda x, rng: x * rng.choice(2, 3, replace=False)[0],
}


@pytest.mark.parametrize("name", FAILING)
def test_what_numpy_raises_is_raised(name):
    f = FAILING[name]
    with pytest.raises((ValueError, OverflowError)) as expected:
        f(-2.0, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    with pytest.raises(type(expected.value)) as found:
        rose.jit(f)(-2.0, rng)
    assert str(expected.value) in str(found.value)
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state

    @rose.jit
    def untaken(x, rng):
        return f(x, rng) if x > 0.0 else rng.random()

    assert untaken(-2.0, rng) == np.random.default_rng(0).random()


def test_a_generator_that_is_drawn_from_meanwhile_is_told():
    rng = np.random.default_rng(0)

    @rose.opaque
    def meddle(x: float) -> float:
        rng.random()
        return x

    @rose.jit
    def f(x: float, g: np.random.Generator) -> float:
        return meddle(x) + g.random()

    with pytest.raises(StagingTypeError, match="drawn from elsewhere"):
        f(1.0, rng)


def test_results_that_are_generators_are_numpys():
    made = rose.jit(lambda x: np.random.default_rng(3))(1.0)
    assert made.bit_generator.state == np.random.default_rng(3).bit_generator.state

    @rose.jit
    def inner(x):
        rng = np.random.default_rng(3)
        return rng, x * rng.random()

    @rose.jit
    def outer(x):
        rng, y = inner(x)
        return y + rng.random()

    rng = np.random.default_rng(3)
    assert outer(2.0) == 2.0 * rng.random() + rng.random()


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32, 2**32 + 5, 2**63 - 1])
def test_a_staged_seed_gives_numpys_state(seed):
    @rose.jit
    def f(seed: int) -> float:
        return np.random.default_rng(seed).random()

    assert f(seed) == np.random.default_rng(seed).random()


def test_a_staged_seed_is_not_negative():
    with pytest.raises(ValueError, match="expected non-negative integer"):
        rose.jit(lambda seed: np.random.default_rng(seed).random())(-1)


@pytest.mark.parametrize("seed", [np.random.SeedSequence(5), [1, 2, 3], 2**200, np.int64(7)])
def test_seeds_of_the_host(seed):
    assert rose.jit(lambda x: x * np.random.default_rng(seed).random())(1.0) == np.random.default_rng(seed).random()


def test_a_deep_copy_is_another_generator():
    def f(x, rng):
        other = copy.deepcopy(rng)
        return x * rng.random() + rng.random() - other.random()

    assert rose.jit(f)(2.0, np.random.default_rng(0)) == f(2.0, np.random.default_rng(0))


def test_a_generator_keeps_its_half_draw():
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    f = rose.jit(lambda rng: rng.integers(10))
    drawn = [f(rng), rng.integers(10), f(rng), rng.random(), f(rng)]
    assert drawn == [*other.integers(10, size=3), other.random(), other.integers(10)]


def test_batches():
    xs = np.linspace(1.0, 2.0, 5)

    def f(x, rng):
        return x * rng.normal() + rng.integers(3)

    ours, numpys = np.random.default_rng(3).spawn(5), np.random.default_rng(3).spawn(5)
    for _ in range(2):
        assert rose.vmap(f)(xs, ours).tolist() == [f(x, rng) for x, rng in zip(xs, numpys, strict=True)]
        assert [rng.bit_generator.state for rng in ours] == [rng.bit_generator.state for rng in numpys]
    slopes = rose.vmap(rose.grad(f))(xs, ours)
    assert slopes.tolist() == [rng.normal() for rng in numpys]


def test_threads_have_generators_of_their_own():
    rngs = np.random.default_rng(3).spawn(4)
    f = rose.jit(lambda rng: rng.normal(size=1000))
    found = [None] * 4

    def work(k):
        found[k] = f(rngs[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for drawn, rng in zip(found, np.random.default_rng(3).spawn(4), strict=True):
        assert drawn.tolist() == rng.normal(size=1000).tolist()
