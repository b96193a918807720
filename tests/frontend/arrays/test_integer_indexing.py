"""Integers that pick from behind other axes are tested once, in front: NumPy's numbers and errors, and slopes."""

import numpy as np
import pytest

import rosejit as rose
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms
from tests.backends import staged

A = np.random.default_rng(3).normal(size=(3, 4, 5))
K = np.array([0, 3, -4, 2, 1, -1])
J = np.array([4, -5, 0, 2, -1, 3])

FORMS = {
    "last": (lambda a, k, j: a[:, :, k], (A, J, J)),
    "middle": (lambda a, k, j: a[:, k], (A, K, J)),
    "slices": (lambda a, k, j: a[1:, k, 1:3], (A, K, J)),
    "backwards": (lambda a, k, j: a[::-1, k], (A, K, J)),
    "both": (lambda a, k, j: a[:, k, j], (A, K, J)),
    "one and all": (lambda a, k, j: a[:, 1, j], (A, K, J)),
    "of a matrix": (lambda a, k, j: a[:, k], (A[0], J, J)),
    "of a view": (lambda a, k, j: a.T[:, k], (A[:, :, 0], np.array([2, -3, 0, 1, -1, 2]), J)),
    "of a table": (lambda a, k, j: a[:, k.reshape(2, 3)], (A, K, J)),
    "first": (lambda a, k, j: a[k], (A[0], K, J)),
}


@pytest.mark.parametrize("name", FORMS)
def test_numbers_and_slopes(name) -> None:
    form, args = FORMS[name]
    f = rose.jit(form)
    wanted = form(*args)
    assert np.array_equal(f(*args), wanted)
    weights = np.arange(1.0, 1.0 + wanted.size).reshape(wanted.shape)
    slopes = np.zeros_like(args[0])
    places = form(np.arange(slopes.size).reshape(slopes.shape), *args[1:])
    np.add.at(slopes.ravel(), places.ravel(), weights.ravel())
    assert np.array_equal(rose.grad(lambda a: np.sum(f(a, *args[1:]) * weights))(args[0]), slopes)
    assert np.array_equal(rose.jacfwd(f)(*args), rose.jacrev(f)(*args))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("wrong", [7, -8, 2**62, -(2**62)])
def test_an_index_out_of_range(name, wrong) -> None:
    form, args = FORMS[name]
    f = rose.jit(form)
    for derived in (f, rose.jacfwd(f), rose.jacrev(f)):
        for n in 1, 2:
            given = [x.copy() for x in args]
            given[n][4] = wrong
            try:
                form(*given)
            except IndexError:
                with pytest.raises(IndexError, match="is out of range for length"):
                    derived(*given)


def test_indices_are_tested_once() -> None:
    form, args = FORMS["both"]
    function, _ = staged(rose.jit(form), args)
    assert function.body is not None
    checks = [let for let in forms(function.body) if isinstance(let.expr, ir.Check)]
    assert len(checks) == 2
    assert not [let for let in forms(function.body) if isinstance(let.expr, ir.Index) and let.expr.checked]
