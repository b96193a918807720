"""What staged masks pick: functions that run only there, two masks that must be one, derivatives."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, ShapeError, StagingTypeError, Vec
from tests.frontend.oracle import agrees, evaluate

X = np.array([0.5, -1.0, 2.0])


def test_functions_run_only_where_the_mask_holds():
    def f(x: Vec["n"]) -> float:
        return np.sqrt(x[x > 0.0]).sum()

    assert evaluate(f, X) == np.sqrt(X[X > 0]).sum()
    assert rose.grad(rose.jit(f))(np.array([0.0, 4.0])).tolist() == [0.0, 0.25]

    def ints(k: Array["n", int]) -> int:
        return (12 // k[k != 0]).sum()

    agrees(ints, (np.array([3, 0, -5]),))


def test_masks_that_are_equal_when_the_code_runs():
    def f(x: Vec["n"], y: Vec["n"]):
        z = y.copy()
        z[x > 0.0] = x[y > 0.0] * 2.0
        return z

    assert evaluate(f, X, X + 0.1).tolist() == [1.0, -0.9, 4.0]
    with pytest.raises(ShapeError, match="two staged masks pick different elements"):
        evaluate(f, X, -X)


def test_a_mask_that_was_changed_is_another():
    def f(x: Vec["n"], p: Array["n", bool]):
        on = p.copy()
        picked = x[on]
        on[0] = x[0] > 100.0
        y = x.copy()
        y[on] = picked
        return y

    assert evaluate(f, X, np.array([False, True, True])).tolist() == X.tolist()
    with pytest.raises(ShapeError):
        evaluate(f, X, np.array([True, True, True]))


def test_a_selection_holds_what_was_there():
    def f(x: Vec["n"], p: Array["n", bool]):
        y = x.copy()
        picked = y[p]
        y[:] = 0.0
        return picked.sum(), picked.size, y

    agrees(f, (X, np.array([True, False, True])))


@pytest.mark.parametrize(
    "use", ["len(s)", "s[0]", "[v for v in s]", "s + x", "s.reshape(1, -1)", "s.max(axis=1)", "[s]"]
)
def test_what_needs_the_length(use):
    scope = {"np": np, "Vec": Vec}
    exec(f"f = lambda s, x: {use}", scope)

    def f(x: Vec["n"]):
        return scope["f"](x[x > 0.0], x)

    with pytest.raises(StagingTypeError, match="number of elements"):
        evaluate(f, X)


def test_counts_are_of_elements_and_not_of_rows():
    def f(a: Array["n", "m"], p: Array["n", bool], q: Array["m", bool]):
        return a[p].size, a[:, q].size, a[a > 0.0].size, a[p].shape, a[:, q].shape, len(a[p]), len(a[:, q]), a[p].ndim

    a = np.arange(6.0).reshape(3, 2) - 2.0
    for p in (np.array([True, False, True]), np.array([False] * 3)):
        agrees(f, (a, p, np.array([True, False])))


def test_statistics_of_what_a_mask_picks():
    def f(x: Vec["n"], p: Array["n", bool]):
        u = x[p]
        return u @ u, np.linalg.norm(u), u.var(), u.std(), (u > 0.0).any(), np.all(u > 0.0), u.sum() / max(len(u), 1)

    for p in ([True, False, True], [True, True, True], [False, True, False]):
        assert np.allclose(evaluate(f, X, np.array(p)), f(X, np.array(p)), 1e-15)


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_extreme_of_no_elements(name):
    def f(x: Vec["n"]) -> float:
        return getattr(x[x > 10.0], name)()

    def initial(x: Vec["n"]) -> float:
        return getattr(x[x > 10.0], name)(initial=3.0)

    with pytest.raises(ValueError, match=f"zero-size array to reduction operation {name}imum"):
        f(X)
    with pytest.raises(ShapeError, match=f"zero-size array to reduction operation {name}imum"):
        evaluate(f, X)
    assert evaluate(initial, X) == 3.0
