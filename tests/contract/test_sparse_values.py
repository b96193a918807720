"""The places and the numbers of sparse derivatives, each by itself."""

import numpy as np
import pytest

import rosejit as rose


def energy(x):
    return (x[:-1] * x[:-1] * x[1:]).sum()


def differences(x, k):
    return x[1:] * x[:-1] * k


SCALE = np.array([2.0, 3.0])


def scaled(x):
    return (x * x * x).sum() * SCALE[0]


X = np.array([1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("sparse", "dense", "args"),
    [
        (rose.sparse_hessian(energy), rose.hessian(energy), (X,)),
        (rose.sparse_jacobian(differences), rose.jacobian(differences), (X, 2.0)),
        (rose.sparse_hessian(scaled), rose.hessian(scaled), (X,)),
    ],
)
def test_structure_and_values(sparse, dense, args):
    rows, columns = sparse.structure(*args)
    assert (rows.dtype, columns.dtype) == (np.int32, np.int32)
    assert sparse.structure(*args)[0] is rows
    for factor in (1.0, 3.0):
        given = (factor * args[0], *args[1:])
        full, values = np.zeros(dense(*given).shape), sparse.values(*given)
        full[rows, columns] = values
        assert np.allclose(full, dense(*given), rtol=1e-14, atol=0)
        out = np.empty_like(values)
        assert sparse.values(*given, out=out) is out
        assert np.array_equal(out, values)
        matrix = sparse(*given)
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        assert np.array_equal(matrix.toarray(), full)


def test_other_shapes_and_changes_outside_are_seen(monkeypatch):
    hessian = rose.sparse_hessian(scaled)
    assert np.array_equal(hessian.values(X), 12.0 * X)
    assert np.array_equal(hessian.values(X[:2]), 12.0 * X[:2])
    monkeypatch.setitem(globals(), "SCALE", np.array([3.0, 3.0]))
    assert np.array_equal(hessian.values(X[:2]), 18.0 * X[:2])
    with rose.disable_jit():
        assert np.array_equal(hessian.values(X[:2]), 18.0 * X[:2])
    assert np.array_equal(hessian.values(X), 18.0 * X)


def test_out_of_another_shape():
    with pytest.raises((rose.ShapeError, rose.StagingTypeError), match="`out`"):
        rose.sparse_hessian(energy).values(X, out=np.zeros(2))


def test_results_may_be_written():
    matrix = rose.sparse_hessian(energy)(X)
    matrix.data[:] = 0.0
    assert rose.sparse_hessian(energy)(X).data.any()


def test_matrices_of_one_pattern_are_each_their_own():
    jacobian = rose.sparse_jacobian(lambda x: (x[1:] * x[:-1], x * x))
    x = np.array([1.0, 2.0, 3.0])
    made = [jacobian(k * x) for k in (1.0, 2.0, 3.0)]
    for k, (one, other) in enumerate(made, 1):
        assert np.array_equal(one.toarray(), k * np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]))
        assert np.array_equal(other.toarray(), np.diag(2.0 * k * x))
    first = made[0][0]
    first.data[:] = 0.0
    first.sum_duplicates()
    first.note = "mine"
    assert made[1][0].sum() == 16.0
    assert not hasattr(made[1][0], "note")
    assert not hasattr(jacobian(x)[0], "note")
    assert jacobian(x)[0].sum() == 8.0
    assert (made[1][0] @ np.ones(3)).tolist() == [6.0, 10.0]
    assert made[1][0].T.tocsc().tocsr().shape == (3, 2)
