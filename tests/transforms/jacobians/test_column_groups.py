"""Columns of a Jacobian in groups by what they reach: the same bits as `jvp`, and less to compute."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec
from rosejit.transforms.jacobians.column_groups import separated
from rosejit.transforms.jacobians.columns import CODE, LANES
from rosejit.transforms.pipeline import prepared
from tests.backends import staged

RNG = np.random.default_rng(17)


@rose.jit
def fingers(t: Vec[10], x: Mat[3, "m"]) -> Mat[2, "m"]:
    """Three chains, which begin at one hand, and move each its part of all points."""
    base = np.array([np.sin(t[0]), np.cos(t[0])])
    a, b = x[0], x[1]
    for k in range(3):
        u = base[0] + np.sin(t[1 + 3 * k])
        v = base[1] * np.cos(t[2 + 3 * k]) + t[3 + 3 * k]
        a = a + x[k] * (u * v) + np.exp(x[2] * v * 0.1)
        b = b + x[k] * u - np.sin(x[2] * u)
    return np.stack([a, b])


@rose.jit
def several(s: float, t: Vec[6], u: Mat[2, 3], x: Vec["m"]) -> tuple[Vec["m"], float, int]:
    """Parameters of each shape, results of each kind; one element is not read, one result depends on few."""
    y = x * s
    for k in range(5):
        y = y + np.sin(x * t[k]) * (u[0, 0] if k < 2 else u[1, 2])
    return y, t[1] * u[1, 1], len(x)


@rose.jit
def by_branch(t: Vec[8], x: Vec["m"]) -> Vec["m"]:
    """Control flow: everything goes through `y`."""
    y = x * 1.0
    if t[0] > 0.0:
        y = y + t[1] * np.sin(x)
    for i in rose.range(len(x)):
        y[i] = y[i] * np.cos(t[2]) if i % 2 == 0 else y[i] + t[3] * x[i]
    for k in range(4, 8):
        for i in rose.range(len(x)):
            if x[i] > 0.0:
                y[i] += np.sin(x[i] * t[k])
    return y


@rose.jit
def one_after_another(t: Vec[9], x: Vec["m"]) -> Vec["m"]:
    """Each number reaches all that comes later: there is less to win."""
    y = x * 1.0
    for k in range(9):
        y = np.sin(y * t[k])
    return y


@rose.jit
def all_at_once(t: Vec[9], x: Vec["m"]) -> Vec["m"]:
    """A loop of the program reads the elements at indices that only the run knows."""
    y = x * 1.0
    for i in rose.range(len(x)):
        y[i] = y[i] * t[i % 9] + t[(i * i) % 9]
    return y


@rose.jit
def called(t: Vec[11], x: Mat[3, "m"], which: Array["n", int]) -> Mat[2, "n"]:
    """Another function is given a part of the numbers; what it gives is read at indices."""
    return t[0] - fingers(t[1:], x)[:, which]


CASES = {
    "called": (called, (RNG.normal(size=11), RNG.normal(size=(3, 7)), RNG.integers(0, 7, size=12))),
    "fingers": (fingers, (RNG.normal(size=10), RNG.normal(size=(3, 7)))),
    "several": (several, (0.7, RNG.normal(size=6), RNG.normal(size=(2, 3)), RNG.normal(size=5))),
    "by_branch": (by_branch, (np.abs(RNG.normal(size=8)), RNG.normal(size=6))),
    "one_after_another": (one_after_another, (RNG.normal(size=9), RNG.normal(size=5))),
    "all_at_once": (all_at_once, (RNG.normal(size=9), RNG.normal(size=12))),
}
GROUPED = {"called", "fingers", "several"}


def groups(name: str, argnums: tuple[int, ...]):
    f, args = CASES[name]
    function, _ = staged(f, args)
    function = prepared(function)
    mask = tuple(k in argnums for k in range(len(function.params)))
    return separated(function, mask, LANES, CODE)


@pytest.mark.parametrize("name", CASES)
def test_groups_are_taken_where_they_pay(name) -> None:
    argnums = (0, 1, 2) if name == "several" else (0,)
    assert (groups(name, argnums) is not None) == (name in GROUPED)


def test_groups_keep_to_a_finger() -> None:
    found = groups("fingers", (0,))
    assert found is not None
    assert [k for group in found.groups for k in group] == list(range(10))
    assert all(len({(k + 2) // 3 for k in group}) == 1 for group in found.groups)


def columns(f, args, k):
    """The Jacobian by argument `k`, one `jvp` after the other."""
    x = np.asarray(args[k])
    pushed = []
    for j in range(x.size):
        unit = np.zeros(x.size)
        unit[j] = 1.0
        dx = float(unit[0]) if x.ndim == 0 else unit.reshape(x.shape)
        dy = rose.jvp(f, args, tuple(dx if i == k else rose_zero(a) for i, a in enumerate(args)))[1]
        pushed.append([np.asarray(y) for y in (dy if isinstance(dy, tuple) else (dy,))])
    return [np.stack(column, axis=-1).reshape(column[0].shape + x.shape) for column in zip(*pushed, strict=True)]


def rose_zero(a):
    return 0.0 if isinstance(a, float) else np.zeros_like(a)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("interpreted", [False, True])
def test_columns_are_those_of_jvp(name, interpreted) -> None:
    f, args = CASES[name]
    argnums = (0, 1, 2) if name == "several" else (0,)
    if interpreted:
        with rose.disable_jit():
            found = rose.jacfwd(f, argnums)(*args)
    else:
        found = rose.jacfwd(f, argnums)(*args)
    rows = found if isinstance(found[0], tuple) else (found,)
    for j, row in enumerate(rows):
        for k, block in zip(argnums, row if isinstance(row, tuple) else (), strict=False):
            assert np.array_equal(np.asarray(block), columns(f, args, k)[j]), (j, k)


@pytest.mark.parametrize("name", ["fingers", "by_branch"])
def test_derivatives_of_them_and_batches(name) -> None:
    f, (t, x) = CASES[name]

    @rose.jit
    def norm(t: Vec["t"], x):
        return (rose.jacfwd(f)(t, x) ** 2).sum()

    slope = rose.grad(norm)(t, x)
    for k in (0, 3):
        step = np.zeros_like(t)
        step[k] = 1e-6
        assert np.isclose((norm(t + step, x) - norm(t - step, x)) / 2e-6, slope[k], rtol=1e-5, atol=1e-5)
    many = np.stack([t, t * 0.5])
    batch = rose.vmap(rose.jacfwd(f), in_axes=(0, None))(many, x)
    assert all(np.array_equal(batch[k], rose.jacfwd(f)(many[k], x)) for k in range(2))
