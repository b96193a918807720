"""Functions of `scipy.linalg` against SciPy, with derivatives to order two."""

import numpy as np
import pytest
import scipy.linalg as linalg

import rosejit as rose
from rosejit.errors import StagingTypeError
from rosejit.transforms.passes.insert_copies import insert_copies
from tests.frontend.oracle import stage
from tests.laws import check_laws

RNG = np.random.default_rng(3)
A = RNG.normal(size=(3, 3)) + 2.0 * np.eye(3)
P = A @ A.T + np.eye(3)
B, COLUMNS = RNG.normal(size=3), RNG.normal(size=(3, 2))
LONG, PAIRS, BAND = RNG.normal(size=6), RNG.normal(size=(6, 2)), RNG.normal(size=(4, 6))
ZERO_AT_FIRST = np.array([[1.0], [1.0], [0.01], [1.0]])
POSITIVE = np.array([[0.1], [0.5], [3.0]]) * (1.0 + 0.1 * BAND[:3])
DOMINANT = np.array([4.0, 1.0, -0.5, 0.2, 0.1, 0.3])

CALLS = {
    "lower triangle": (lambda a, b: linalg.solve_triangular(a, b, lower=True), A, B),
    "upper triangle of columns": (lambda a, b: linalg.solve_triangular(a, b), A, COLUMNS),
    "transposed triangle": (lambda a, b: linalg.solve_triangular(a, b, trans="T"), A, B),
    "lower transposed unit triangle": (lambda a, b: linalg.solve_triangular(a, b, 1, True, True), A, B),
    "cholesky": (linalg.cholesky, P),
    "lower cholesky": (lambda a: linalg.cholesky(a, lower=True), P),
    "cho_solve": (lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b), P, B),
    "lower cho_solve": (lambda a, b: linalg.cho_solve(linalg.cho_factor(a, lower=True), b), P, COLUMNS),
    "solve": (linalg.solve, A, COLUMNS),
    "solve, positive definite": (lambda a, b: linalg.solve(a, b, assume_a="pos"), P, B),
    "solve, transposed": (lambda a, b: linalg.solve(a, b, transposed=True), A, B),
    "inv": (linalg.inv, A),
    "det": (linalg.det, A),
    "lu_factor": (lambda a: linalg.lu_factor(a)[0], A),
    "lu_solve": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), A, B),
    "lu_solve, transposed": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1), A, COLUMNS),
    "eigvalsh": (linalg.eigvalsh, P),
    "generalised eigenvalues": (lambda a, b: linalg.eigvalsh(a, b), P, P @ P),
    "svdvals": (linalg.svdvals, COLUMNS),
    "qr": (lambda a: list(linalg.qr(a))[1], COLUMNS),
    "economic qr": (lambda a: linalg.qr(a, mode="economic")[0], COLUMNS),
    "pinv": (linalg.pinv, COLUMNS),
    "norm": (lambda a: linalg.norm(a, 2), COLUMNS),
    "expm": (lambda a: linalg.expm(a), A),
    "expm of a large one": (lambda a: linalg.expm(4.0 * a), A),
    "solve_banded": (lambda a, b: linalg.solve_banded((1, 1), a, b), BAND[:3], LONG),
    "solve_banded of columns": (lambda a, b: linalg.solve_banded((2, 1), a, b), BAND, PAIRS),
    "solve_banded above": (lambda a, b: linalg.solve_banded((0, 2), a, b), 1.0 + BAND[:3] ** 2, LONG),
    "solve_banded that exchanges rows": (lambda a, b: linalg.solve_banded((1, 2), a, b), BAND * ZERO_AT_FIRST, LONG),
    "solve_banded of a full one": (lambda a, b: linalg.solve_banded((3, 3), a, b), RNG.normal(size=(7, 4)), LONG[:4]),
    "solveh_banded": (lambda a, b: linalg.solveh_banded(a, b), POSITIVE, LONG),
    "lower solveh_banded": (lambda a, b: linalg.solveh_banded(a, b, lower=True), POSITIVE[::-1], PAIRS),
    "toeplitz": (linalg.toeplitz, B),
    "toeplitz of two": (linalg.toeplitz, B, LONG),
    "solve_toeplitz": (lambda c, b: linalg.solve_toeplitz(c, b), DOMINANT, LONG),
    "solve_toeplitz of two": (lambda c, r, b: linalg.solve_toeplitz((c, r), b), DOMINANT, LONG / 9.0, PAIRS),
    "block_diag": (lambda a, b: linalg.block_diag(a, b, 2.0), COLUMNS, B),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_scipy(name):
    f, *args = CALLS[name]
    found, wanted = rose.jit(f)(*args), f(*args)
    assert np.allclose(found, wanted, rtol=1e-11, atol=1e-12 * np.abs(wanted).max())
    assert np.shape(found) == np.shape(wanted)


DERIVED = (
    "solve_banded of columns", "solveh_banded", "solve_toeplitz of two", "block_diag",
    "lower transposed unit triangle", "lower cho_solve", "lu_solve, transposed", "generalised eigenvalues", "expm",
)  # fmt: skip


@pytest.mark.parametrize("name", DERIVED)
def test_derivatives(name):
    f, *args = CALLS[name]
    program = insert_copies(stage(f, *args).function)
    check_laws(program, [v.tolist() for v in args], order=2)


def test_vectors():
    w, v = rose.jit(lambda a, b: linalg.eigh(a, b))(P, P @ P)
    assert np.allclose(P @ v, P @ P @ v * w)
    assert np.allclose(v.T @ P @ P @ v, np.eye(3))
    u, s, vh = rose.jit(lambda a: linalg.svd(a))(COLUMNS)
    assert np.allclose(u[:, :2] * s @ vh, COLUMNS)


def test_the_exponential_of_known_matrices():
    turn = rose.jit(lambda x: linalg.expm(np.array([[0.0, -x], [x, 0.0]])))
    assert np.allclose(turn(0.7), [[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]], rtol=1e-15, atol=1e-16)
    assert np.allclose(rose.jacobian(turn)(0.7), [[-np.sin(0.7), -np.cos(0.7)], [np.cos(0.7), -np.sin(0.7)]])
    second = rose.grad(rose.grad(lambda x: linalg.expm(np.array([[x, 1.0], [0.0, x]]))[0, 1]))
    assert second(0.3) == pytest.approx(np.exp(0.3), rel=1e-13)
    assert np.isnan(rose.jit(linalg.expm)(np.full((2, 2), np.inf))).all()
    stack = RNG.normal(size=(4, 2, 2))
    assert np.allclose(rose.jit(lambda a: linalg.expm(a))(stack), linalg.expm(stack))


def test_what_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        rose.jit(lambda a, b: linalg.solve_triangular(a, b))(np.ones((2, 2)) - np.eye(2), np.ones(2))
    with pytest.raises(StagingTypeError, match=r"scipy.linalg.qr\(..., pivoting"):
        rose.jit(lambda a: linalg.qr(a, pivoting=True))(A)
    with pytest.raises(StagingTypeError, match="banded"):
        rose.jit(lambda a, b: linalg.solve(a, b, assume_a="banded"))(A, B)
