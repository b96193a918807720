"""`rose.sparse_jacobian`, `rose.sparse_hessian`: the numbers of the dense ones, in few sweeps."""

import inspect
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import rosejit as rose
from rosejit import Vec

X = np.linspace(0.1, 1.1, 12)


@rose.jit
def rosenbrock(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


@rose.jit
def stencil(u: Vec["n"], k: float):
    return [u[i] * u[i] * k - (u[i - 1] if i > 0 else 0.0) for i in rose.range(len(u))], u.sum()


def test_the_chained_rosenbrock_function():
    hessian = rose.sparse_hessian(rosenbrock)
    x = np.linspace(-1.0, 2.0, 100)
    found = hessian(x)
    assert scipy.sparse.issparse(found)
    np.testing.assert_allclose(found.toarray(), rose.hessian(rosenbrock)(x), rtol=1e-14)
    near = np.abs(np.subtract.outer(np.arange(100), np.arange(100))) <= 1
    np.testing.assert_array_equal(hessian.pattern(x).toarray(), near)
    assert set(hessian.colours(x)) == {0, 1, 2}


def test_a_large_one():
    n = 10_000
    x = np.linspace(-1.0, 2.0, n)
    hessian = rose.sparse_hessian(rosenbrock)
    found = hessian(x)
    assert found.nnz == 3 * n - 2
    assert hessian.colours(x).max() + 1 <= 3
    diagonal = np.full(n, 200.0)
    diagonal[:-1] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal[1:-1] += 200
    np.testing.assert_allclose(found.diagonal(), diagonal, rtol=1e-12)
    np.testing.assert_allclose(found.diagonal(1), -400 * x[:-1], rtol=1e-12)
    np.testing.assert_array_equal(found.diagonal(1), found.diagonal(-1))
    assert np.isfinite(scipy.sparse.linalg.spsolve(found.tocsc(), np.ones(n))).all()


def same(found, dense):
    if isinstance(dense, tuple):
        assert len(found) == len(dense)
        for one, other in zip(found, dense, strict=True):
            same(one, other)
    else:
        np.testing.assert_allclose(found.toarray().ravel(), np.ravel(dense), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("argnums", [0, 1, "u", (0, 1), (1, 0)])
def test_jacobians_are_the_dense_ones(argnums):
    same(rose.sparse_jacobian(stencil, argnums)(X, 1.5), rose.jacobian(stencil, argnums)(X, 1.5))


@rose.jit
def coupled(p, a: rose.Mat["n", "m"], v: Vec["m"]) -> float:
    total = p["s"] * p["s"] * v[0]
    for i in rose.range(a.shape[0]):
        for j in rose.range(a.shape[1]):
            total += math.sin(a[i, j]) * v[j] * p["s"]
    return total


@pytest.mark.parametrize("argnums", [1, (1, 2), (2, 1)])
def test_hessians_are_the_dense_ones(argnums):
    args = {"s": 0.5}, np.arange(6.0).reshape(2, 3), np.array([0.3, 0.2, 0.1])
    dense, found = rose.hessian(coupled, argnums)(*args), rose.sparse_hessian(coupled, argnums)(*args)
    same(found, dense)


def test_structures_have_a_matrix_for_each_leaf():
    args = {"s": 0.5}, np.arange(6.0).reshape(2, 3), np.array([0.3, 0.2, 0.1])
    found = rose.sparse_hessian(coupled)(*args)
    assert found["s"]["s"].toarray() == rose.hessian(coupled)(*args)["s"]["s"]


def test_symmetry_saves_colours():
    @rose.jit
    def arrow(x: Vec["n"]) -> float:
        total = 0.0
        for i in rose.range(len(x)):
            total += x[0] * x[0] * x[i] * x[i]
        return total

    hessian = rose.sparse_hessian(arrow)
    assert hessian.colours(X).max() + 1 == 2
    np.testing.assert_allclose(hessian(X).toarray(), rose.hessian(arrow)(X))


def test_integers_among_the_arguments_decide_the_pattern():
    @rose.jit
    def springs(x: Vec["n"], ends: rose.Array["m", 2, int]) -> float:
        total = 0.0
        for k in rose.range(len(ends)):
            total += math.exp(x[ends[k, 0]] - x[ends[k, 1]])
        return total

    hessian = rose.sparse_hessian(springs)
    for ends in ([[0, 3], [1, 2]], [[0, 1], [1, 2]]):
        given = np.array(ends)
        found = hessian(X[:5], given)
        np.testing.assert_allclose(found.toarray(), rose.hessian(springs)(X[:5], given))
        assert found.nnz == len({(i, j) for pair in ends for i in pair for j in pair})


def test_rules_need_not_be_symmetric():
    @rose.jit
    def kept(x: float) -> float:
        return x

    @kept.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(x.re, 2.0 * x.du)

    @rose.jit
    def f(x: Vec["n"]) -> float:
        return kept(x[0]) * x[1] * x[1] + x[2] * x[3]

    np.testing.assert_allclose(rose.sparse_hessian(f)(X[:4]).toarray(), rose.hessian(f)(X[:4]))


def test_captured_arrays_may_change():
    weights, order = np.ones(3), np.array([2, 0, 1])

    @rose.jit
    def f(x: Vec[3]):
        return [weights[i] * x[order[i]] ** 2 for i in rose.range(3)]

    jacobian = rose.sparse_jacobian(f)
    np.testing.assert_allclose(jacobian(X[:3]).toarray(), rose.jacobian(f)(X[:3]))
    weights[:] = 2.0
    order[:] = [0, 1, 2]
    np.testing.assert_allclose(jacobian(X[:3]).toarray(), np.diag(4.0 * X[:3]))


def test_nothing_depends_on_anything():
    assert rose.sparse_jacobian(lambda x: x * 0 + 1.0 if x is None else np.zeros(2))(X).nnz == 0
    assert rose.sparse_hessian(lambda x: x.sum())(X).nnz == 0


def test_effects_happen_once():
    seen = []

    @rose.opaque
    def note(x: float) -> float:
        seen.append(x)
        return x

    @note.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(note(x.re), x.du)

    rose.sparse_jacobian(lambda x: note(x[0]) * x)(X)
    assert seen == [X[0]]


def test_refusals():
    with pytest.raises(rose.StagingTypeError, match="a sparse matrix is made on the host"):
        rose.jit(lambda x: rose.sparse_jacobian(stencil)(x, 1.0))(X)
    with pytest.raises(rose.NotDifferentiable, match="returns one Real"):
        rose.sparse_hessian(stencil)(X, 1.0)
    with pytest.raises(rose.NotDifferentiable, match="has no argument 5"):
        rose.sparse_jacobian(stencil, 5)(X, 1.0)


def test_it_is_a_function_like_others():
    hessian = rose.sparse_hessian(rosenbrock)
    assert repr(hessian) == "<rose.SparseFunction sparse_hessian_rosenbrock>"
    assert list(inspect.signature(hessian).parameters) == ["x"]
    assert (pickle.loads(pickle.dumps(hessian))(X) != hessian(X)).nnz == 0


def test_scipy_is_imported_at_the_first_call():
    code = "import sys, rosejit; print('scipy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
