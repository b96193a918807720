"""`rose.range(n, checkpoint=)`: the same results for every schedule, memory that does not grow with n, refusals.

The values have the same bits; sums over iterations in the gradient are taken block by block, which may change the last.
"""

import dataclasses
import math

import numpy as np
import pytest

import rosejit as rose

SCHEDULES = [False, True, 1, 7, 1000]
X = np.linspace(0.1, 1.0, 6)


def plain(kept):
    def f(x, a, b, steps):
        y = x.copy()
        for t in rose.range(steps, checkpoint=kept):
            z = 0.0
            for i in rose.range(len(x)):
                z += y[i] * b
                y[i] = y[i] + a * math.sin(y[i]) * 0.01 + b * x[i] * 0.001 * t
            a = a * 0.999 + z * 1e-3
        return (y * y).sum() + a

    return f


def downwards(kept):
    def f(x, a, b, steps):
        total = 0.0
        for t in rose.range(steps - 1, -1, -1, checkpoint=kept):
            total = math.sin(total * a) + x[t % len(x)] * b + t * a
        return total

    return f


def with_step(kept):
    def f(x, a, b, steps):
        total = 0.0
        for t in rose.range(3, 3 + 2 * steps, 2, checkpoint=kept):
            total = math.sin(total * a) + b / t
        return total * x.sum()

    return f


def nested(kept):
    def f(x, a, b, steps):
        total = 0.0
        for i in rose.range(steps, checkpoint=kept):
            for j in rose.range(i, checkpoint=kept):
                total = total * a + math.cos(total) * b * x[j % len(x)]
        return total

    return f


@dataclasses.dataclass
class Body:
    at: float
    speed: float


def of_objects(kept):
    def f(x, a, b, steps):
        bodies = [Body(x[k], a * k) for k in range(3)]
        for _ in rose.range(steps, checkpoint=kept):
            for body in bodies:
                body.speed -= 0.01 * body.at * b
                body.at += 0.01 * body.speed
        return sum([body.at**2 for body in bodies])

    return f


def branching(kept):
    def f(x, a, b, steps):
        count, total = 0, a
        for t in rose.range(steps, checkpoint=kept):
            if total > 0.5:
                total = total * 0.7
                count += 1
            else:
                total = total + x[t % len(x)] * b
        return total * count + b

    return f


def of_host_length(kept):
    def f(x, a, b, steps):
        for _ in rose.range(20, checkpoint=kept):
            a = a + 0.1 * math.sin(a * b)
        return a * x[0]

    return f


LOOPS = [plain, downwards, with_step, nested, of_objects, branching, of_host_length]


@pytest.mark.parametrize("kept", SCHEDULES, ids=str)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_schedules_give_the_same_bits(loop, kept):
    without, having = rose.jit(loop(None)), rose.jit(loop(kept))
    slopes, wanted = rose.grad(having, (0, 1, 2)), rose.grad(without, (0, 1, 2))
    for steps in (0, 1, 23):
        args = (X, 0.7, 0.3, steps)
        assert having(*args) == without(*args)
        close(slopes(*args), wanted(*args))
    assert having(*args) == loop(None)(*args)
    with rose.disable_jit():
        close(slopes(X, 0.7, 0.3, 5), wanted(X, 0.7, 0.3, 5))


def close(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)


def test_a_state_of_arrays_keeps_the_bits():
    wanted = rose.grad(rose.jit(plain(None)), 0)(X, 0.7, 0.3, 23)
    for kept in (True, 1, 5):
        assert rose.grad(rose.jit(plain(kept)), 0)(X, 0.7, 0.3, 23).tolist() == wanted.tolist()


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_second_derivatives(loop):
    without, having = rose.jit(loop(None)), rose.jit(loop(True))
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


def test_a_batch():
    f = rose.jit(lambda x: of_host_length(True)(np.ones(1), x, 0.3, 0))
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
        f = rose.jit(lambda x: plain(schedule)(x, 0.7, 0.3, 10_000))
        return rose.grad(f).lower(X).cost().tape_bytes

    assert kept(None) > 500_000
    assert kept(True) < 20_000


@pytest.mark.parametrize("wrong", [0, -1, 2.0, "root"])
def test_wrong_schedules(wrong):
    with pytest.raises(rose.RoseError, match="`checkpoint` is True or the number of iterations"):
        rose.jit(plain(wrong))(X, 0.7, 0.3, 4)


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


@pytest.mark.parametrize("kept", [True, 1, 3])
@pytest.mark.parametrize("steps", [-5, -1, 0, 1])
def test_loops_of_no_iterations(kept, steps):
    def f(x: float, n: int) -> float:
        for i in rose.range(n, checkpoint=kept):
            x = x * 1.5 + i
        return x

    assert rose.jit(f)(2.0, steps) == f(2.0, steps)
    assert rose.grad(rose.jit(f))(2.0, steps) == (1.5 if steps == 1 else 1.0)
