"""`rose.range(n, checkpoint=, snapshots=)`: the same results for every schedule, bounded memory, refusals.

The values have the same bits; sums over iterations in the gradient are taken block by block, which may change the last.
"""

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest

import rosejit as rose
from rosejit import interp
from tests.backends import staged

SCHEDULES = [
    {"checkpoint": False},
    {"checkpoint": True},
    *[{"checkpoint": every} for every in (1, 7, 1000)],
    {"snapshots": 3},
    {"checkpoint": 1, "snapshots": 2},
]
X = np.linspace(0.1, 1.0, 6)


def plain(**kept):
    def f(x, a, b, steps):
        y = x.copy()
        for t in rose.range(steps, **kept):
            z = 0.0
            for i in rose.range(len(x)):
                z += y[i] * b
                y[i] = y[i] + a * math.sin(y[i]) * 0.01 + b * x[i] * 0.001 * t
            a = a * 0.999 + z * 1e-3
        return (y * y).sum() + a

    return f


def downwards(**kept):
    def f(x, a, b, steps):
        total = 0.0
        for t in rose.range(steps - 1, -1, -1, **kept):
            total = math.sin(total * a) + x[t % len(x)] * b + t * a
        return total

    return f


def with_step(**kept):
    def f(x, a, b, steps):
        total = 0.0
        for t in rose.range(3, 3 + 2 * steps, 2, **kept):
            total = math.sin(total * a) + b / t
        return total * x.sum()

    return f


def nested(**kept):
    def f(x, a, b, steps):
        total = 0.0
        for i in rose.range(steps, **kept):
            for j in rose.range(i, **kept):
                total = total * a + math.cos(total) * b * x[j % len(x)]
        return total

    return f


@dataclasses.dataclass
class Body:
    at: float
    speed: float


def of_objects(**kept):
    def f(x, a, b, steps):
        bodies = [Body(x[k], a * k) for k in range(3)]
        for _ in rose.range(steps, **kept):
            for body in bodies:
                body.speed -= 0.01 * body.at * b
                body.at += 0.01 * body.speed
        return sum([body.at**2 for body in bodies])

    return f


def branching(**kept):
    def f(x, a, b, steps):
        count, total = 0, a
        for t in rose.range(steps, **kept):
            if total > 0.5:
                total = total * 0.7
                count += 1
            else:
                total = total + x[t % len(x)] * b
        return total * count + b

    return f


def of_host_length(**kept):
    def f(x, a, b, steps):
        for _ in rose.range(20, **kept):
            a = a + 0.1 * math.sin(a * b)
        return a * x[0]

    return f


LOOPS = [plain, downwards, with_step, nested, of_objects, branching, of_host_length]


@pytest.mark.parametrize("kept", SCHEDULES, ids=str)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_schedules_give_the_same_bits(loop, kept):
    without, having = rose.jit(loop()), rose.jit(loop(**kept))
    slopes, wanted = rose.grad(having, (0, 1, 2)), rose.grad(without, (0, 1, 2))
    for steps in (0, 1, 23):
        args = (X, 0.7, 0.3, steps)
        assert having(*args) == without(*args)
        close(slopes(*args), wanted(*args))
    assert having(*args) == loop()(*args)
    with rose.disable_jit():
        close(slopes(X, 0.7, 0.3, 5), wanted(X, 0.7, 0.3, 5))


def close(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)


def test_a_state_of_arrays_keeps_the_bits():
    wanted = rose.grad(rose.jit(plain()), 0)(X, 0.7, 0.3, 23)
    for kept in SCHEDULES:
        assert rose.grad(rose.jit(plain(**kept)), 0)(X, 0.7, 0.3, 23).tolist() == wanted.tolist()


@pytest.mark.parametrize("kept", [{"checkpoint": True}, {"checkpoint": 1, "snapshots": 2}], ids=str)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_second_derivatives(loop, kept):
    without, having = rose.jit(loop()), rose.jit(loop(**kept))
    args = (X, 0.7, 0.3, 12)
    np.testing.assert_allclose(rose.hessian(having, 0)(*args), rose.hessian(without, 0)(*args), rtol=1e-12, atol=1e-12)
    for f in (having, without):
        twice = rose.grad(lambda a, f=f: rose.grad(f, 1)(X, a, 0.3, 12))(0.7)
        assert twice == pytest.approx(rose.hessian(without, 1)(*args), rel=1e-10, abs=1e-10)
    tangent = rose.jvp(having, args, (X, 1.0, 0.5, None))[1]
    assert tangent == pytest.approx(rose.jvp(without, args, (X, 1.0, 0.5, None))[1], rel=1e-13)


def test_a_staged_length_of_blocks():
    @rose.jit
    def f(x: float, steps: int, every: int) -> float:
        for _ in rose.range(steps, checkpoint=every):
            x = x + 0.1 * math.sin(x)
        return x

    found = {rose.grad(f)(0.3, 50, every) for every in (-3, 0, 1, 7, 50, 99)}
    assert len(found) == 1


def binomial(n, k):
    return math.comb(n, k) if n >= k >= 0 else 0


@pytest.mark.parametrize(("steps", "snapshots"), [(1, 1), (2, 1), (6, 1), (7, 2), (10, 3), (11, 3), (56, 5), (60, 4)])
def test_as_few_iterations_as_can_be(steps, snapshots):
    """Griewank and Walther, Evaluating Derivatives, proposition 12.3: `r n - binomial(s + r, r - 1)` iterations lead to
    the checkpoints; each runs once more to be differentiated."""

    def f(x: float, a: float, n: int, most: int) -> float:
        for _ in rose.range(n, checkpoint=1, snapshots=most):
            x = x + a * math.sin(x)
        return x

    counters = interp.Counters()
    interp.run(*staged(rose.value_and_grad(rose.jit(f)), (0.3, 0.2, steps, snapshots)), counters)
    calls = Counter({g.name: 0 for g in counters.calls})
    for g, count in counters.calls.items():
        calls[g.name] += count
    ran = calls["binomial"] + calls["fwd_binomial"] - calls["again"]  # those that split call `again` once
    repeats = next(r for r in range(steps) if binomial(snapshots + r, r) >= steps)
    assert ran == repeats * steps - binomial(snapshots + repeats, repeats - 1) + steps


def test_more_states_than_memory_holds():
    """All states would be 4.5 GB, of which `ROSE_MEMORY_BYTES` allows less."""

    @rose.jit
    def f(x: rose.Vec["n"], steps: int) -> float:
        x = x.copy()
        for _ in rose.range(steps, checkpoint=1, snapshots=32):
            x = x * 0.9999
        return x.sum()

    assert rose.grad(f)(np.ones(100_000), 5_600) == pytest.approx(0.9999**5_600, rel=1e-9)


def test_a_batch():
    f = rose.jit(lambda x: of_host_length(checkpoint=True)(np.ones(1), x, 0.3, 0))
    batch = rose.vmap(rose.grad(f))(np.array([0.1, 0.2, 0.3]))
    assert batch.tolist() == [rose.grad(f)(x) for x in (0.1, 0.2, 0.3)]


def test_host_functions_run_once():
    seen = []

    @rose.opaque
    def look(x: float) -> float:
        seen.append(x)
        return 2.0

    @rose.jit
    def f(x: float) -> float:
        for _ in rose.range(9, checkpoint=3):
            x = x * 0.5 + 0.0 * look(1.0)
        return x

    assert rose.grad(f)(1.0) == 0.5**9
    assert len(seen) == 9


def test_memory_is_that_of_the_root():
    def kept(schedule):
        f = rose.jit(lambda x: plain(checkpoint=schedule)(x, 0.7, 0.3, 10_000))
        return rose.grad(f).lower(X).cost().tape_bytes

    assert kept(None) > 500_000
    assert kept(True) < 20_000


@pytest.mark.parametrize("wrong", [0, -1, 2.0, "root"])
def test_wrong_schedules(wrong):
    with pytest.raises(rose.RoseError, match="`checkpoint` is True or the number of iterations"):
        rose.jit(plain(checkpoint=wrong))(X, 0.7, 0.3, 4)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "root"])
def test_wrong_numbers_of_snapshots(wrong):
    with pytest.raises(rose.RoseError, match="`snapshots` is the number of states that are kept at once"):
        rose.jit(plain(snapshots=wrong))(X, 0.7, 0.3, 4)


def test_unknown_keywords():
    def f(x: float) -> float:
        for _ in rose.range(3, foo=True):
            x = x * x
        return x

    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        rose.jit(f)(1.0)
    with pytest.raises(TypeError, match="foo"):
        rose.range(3, foo=True)
    assert list(rose.range(3, checkpoint=True)) == [0, 1, 2]


def test_a_loop_that_is_left_early():
    def f(x: float, n: int) -> float:
        for _ in rose.range(n, checkpoint=True):
            x = x * 1.5
            if x > 10.0:
                break
        return x

    with pytest.raises(rose.RoseError, match="a loop with checkpoints is left early"):
        rose.jit(f)(1.0, 20)


@pytest.mark.parametrize("kept", SCHEDULES, ids=str)
@pytest.mark.parametrize("steps", [-5, -1, 0, 1])
def test_loops_of_no_iterations(kept, steps):
    def f(x: float, n: int) -> float:
        for i in rose.range(n, **kept):
            x = x * 1.5 + i
        return x

    assert rose.jit(f)(2.0, steps) == f(2.0, steps)
    assert rose.grad(rose.jit(f))(2.0, steps) == (1.5 if steps == 1 else 1.0)
