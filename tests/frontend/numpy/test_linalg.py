"""Solutions, inverses and determinants: values, derivatives by rules, singular matrices."""

import math
import traceback

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec, text
from tests.frontend.oracle import stage


@rose.jit
def solved(a: Mat["n", "n"], b: Vec["n"]) -> Vec["n"]:
    return np.linalg.solve(a, b)


@rose.jit
def determinant(a: Mat["n", "n"]) -> float:
    return np.linalg.det(a)


@rose.jit
def inverse(a: Mat["n", "n"]) -> Mat["n", "n"]:
    return np.linalg.inv(a)


def matrix(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, n))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_values_and_derivatives(n):
    a, b = matrix(n), np.arange(1.0, n + 1.0)
    inv = np.linalg.inv(a)
    assert np.allclose(solved(a, b), inv @ b)
    assert np.allclose(inverse(a), inv)
    assert math.isclose(determinant(a), np.linalg.det(a))
    assert np.allclose(rose.grad(determinant)(a), np.linalg.det(a) * inv.T)
    da, db = rose.vjp(solved, a, b)[1](np.ones(n))
    assert np.allclose(db, inv.T @ np.ones(n))
    assert np.allclose(da, -np.outer(db, inv @ b))


@pytest.mark.parametrize("n", [2, 4])
def test_second_derivatives(n):
    a, b = matrix(n), np.arange(1.0, n + 1.0)
    rose.check_grads(lambda a, b: solved(a, b) @ b, (a, b), order=2)
    rose.check_grads(lambda a: inverse(a).sum() * determinant(a), (a,), order=2)


def test_rules_do_not_go_through_the_elimination():
    """Reverse mode holds what the rule needs, not the steps of the elimination."""
    program = text.show(stage(lambda a, b: np.linalg.solve(a, b), matrix(3), np.ones(3)).function)
    assert "solve" in program
    sizes = [
        rose.grad(lambda a, b: solved(a, b).sum()).lower(matrix(n), np.ones(n)).cost().tape_bytes for n in (16, 32)
    ]
    assert sizes[1] <= 6 * sizes[0]


def test_a_singular_matrix_raises_at_the_line():
    @rose.jit
    def f(a: Mat["n", "n"], b: Vec["n"]) -> float:
        return np.linalg.solve(a, b)[0]  # singular

    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as caught:
        f(np.ones((2, 2)), np.ones(2))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.line is not None
    assert last.line.endswith("# singular")
    assert f(np.eye(2), np.ones(2)) == 1.0
    with pytest.raises(np.linalg.LinAlgError):
        rose.grad(f)(np.zeros((3, 3)), np.ones(3))


def test_the_derivative_of_a_determinant_that_is_zero():
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert determinant(a) == 0.0
    assert rose.grad(determinant)(a).tolist() == [[4.0, -2.0], [-2.0, 1.0]]
    assert rose.grad(determinant)(np.zeros((1, 1))).tolist() == [[1.0]]
    b = np.arange(9.0).reshape(3, 3)
    assert np.allclose(rose.grad(determinant)(b), [[-3.0, 6.0, -3.0], [6.0, -12.0, 6.0], [-3.0, 6.0, -3.0]])
    with pytest.raises(np.linalg.LinAlgError):
        rose.grad(determinant)(np.ones((4, 4)))
