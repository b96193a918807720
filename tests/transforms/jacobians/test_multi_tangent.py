"""Several tangents pushed at once give the bits of single pushes, for programs of all forms and their derivatives."""

import random

import numpy as np
import pytest

import rosejit as rose
from rosejit import interp
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import erased, has_real, tangent
from rosejit.ir.verify import verify_program
from rosejit.transforms.autodiff.derivative_programs import differentiable, program, pushforward
from rosejit.transforms.jacobians.columns import LANES, LinearizedPushforward, RecomputedPushforward, evenly
from tests import random_ir
from tests.backends import bits, staged
from tests.laws import direction
from tests.programs import PROGRAMS

WIDTH = 3


def wide(f, mask, kept):
    """`f` into `(x.., dx..) -> dy..`, tangents of each parameter and result next to each other."""
    b = Builder()
    params = tuple(ir.Var(p.type, p.hint) for p in f.params)
    types = {k: erased(tangent(p.type)) for k, p in enumerate(params) if mask[k]}
    given = {k: tuple(ir.Var(t, "dx") for _ in range(WIDTH)) for k, t in types.items()}
    pusher = LinearizedPushforward(f, params, b, mask) if kept else RecomputedPushforward(f, params)
    pushed = pusher.push(b, mask, WIDTH, given)
    tangents = [dx for lanes in given.values() for dx in lanes]
    return program("wide", f, (*params, *tangents), b, tuple(dy for lanes in pushed for dy in lanes))


def check_lanes(f, args):
    mask, rng = differentiable(f), random.Random(0)
    primals = [a for a, on in zip(args, mask, strict=True) if on]
    directions = [direction(rng, primals) for _ in range(WIDTH)]
    single = pushforward(f, mask)
    reals = [k for k, t in enumerate(f.results) if has_real(t)]
    columns = [interp.run(single, [*args, *dx])[len(f.results) :] for dx in directions]
    wanted = [column[k] for k in range(len(reals)) for column in columns]
    lanes = [dx[k] for k in range(len(primals)) for dx in directions]
    for kept in (False, True):
        made = wide(f, mask, kept)
        verify_program(made)
        assert bits(interp.run(made, [*args, *lanes])) == bits(wanted)


@pytest.mark.parametrize("tested", PROGRAMS, ids=lambda tested: tested.name)
def test_programs(tested):
    f, args = staged(tested.function, tested.calls[0])
    if any(map(has_real, f.results)) and any(differentiable(f)):
        check_lanes(f, args)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_and_their_gradients(seed):
    f, args = random_ir.sample(seed)
    check_lanes(f, args)
    reverse = list(random_ir.derived(f, args, seed))[1]
    check_lanes(*reverse)


def test_equal_parts():
    assert [evenly(n, 4) for n in (0, 1, 4, 5, 6, 7, 8, 9, 100)] == [1, 1, 4, 3, 3, 4, 4, 3, 4]


# --- what they are for


@rose.jit
def every_shape(x: rose.Mat["n", "m"], a: float, v: rose.Vec["k"]):
    y = x * a
    for i in rose.range(len(v)):
        y[i % len(x), 0] = y[(i + 1) % len(x), -1] * v[i]
    return y, y.sum() * v[0], a * v


@pytest.mark.parametrize("count", [1, 3, 5, 9])
@pytest.mark.parametrize("argnums", [0, 1, 2, (0, 1, 2), (2, 1)])
def test_jacobians(count, argnums):
    rng = np.random.default_rng(count)
    args = rng.normal(size=(2, count)), 1.5, rng.normal(size=count)
    forward, reverse = rose.jacfwd(every_shape, argnums)(*args), rose.jacrev(every_shape, argnums)(*args)
    for one, other in zip(_leaves(forward), _leaves(reverse), strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def _leaves(value):
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [value]


def test_columns_are_single_pushes():
    x = np.linspace(0.1, 0.9, 2 * LANES + 1)

    @rose.jit
    def f(x: rose.Vec["n"]):
        return [rose.sin(x[i]) * x[i - 1] / x[i - 2] for i in rose.range(len(x))]

    columns = [rose.jvp(f, (x,), (unit,))[1] for unit in np.eye(len(x))]
    np.testing.assert_array_equal(rose.jacfwd(f)(x), np.array(columns).T)


def test_effects_happen_once():
    seen = []

    @rose.opaque
    def note(x: float) -> float:
        seen.append(x)
        return x

    @note.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(note(x.re), x.du)

    rose.jacfwd(lambda x: note(x[0]) * x)(np.linspace(1.0, 2.0, 4 * LANES))
    assert seen == [1.0]
