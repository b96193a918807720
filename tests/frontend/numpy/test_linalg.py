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


# --- factorisations


def of(name, **options):
    function = getattr(np.linalg, name)
    return rose.jit(lambda a: function(a, **options))


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (4, 4)])
def test_factors_multiply_to_the_matrix(shape):
    a = np.random.default_rng(8).normal(size=shape)
    q, r = of("qr")(a)
    assert np.allclose(q, np.linalg.qr(a).Q)  # with LAPACK's signs
    assert np.allclose(r, np.linalg.qr(a).R)
    u, s, vh = of("svd")(a)
    k = len(s)
    assert np.allclose(s, np.linalg.svdvals(a), rtol=1e-14)
    assert np.allclose(u[:, :k] * s @ vh[:k], a)
    for v in (u, vh):
        assert np.allclose(v @ v.T, np.eye(len(v)), atol=1e-14)
    symmetric = a @ a.T - np.eye(len(a))
    w, v = of("eigh")(symmetric)
    assert np.allclose(w, np.linalg.eigvalsh(symmetric), atol=1e-14)
    assert np.allclose(symmetric @ v, v * w)
    assert type(of("eigh")(symmetric)).__name__ == "EighResult"
    assert of("slogdet")(symmetric).sign == np.linalg.slogdet(symmetric).sign


def test_by_blocks():
    """Larger ones, of whole blocks and of more: Cholesky, elimination, inverse."""
    n = 100
    a = np.random.default_rng(9).normal(size=(n, n))
    definite = a @ a.T + np.eye(n)
    lower = of("cholesky")(definite)
    assert np.allclose(lower, np.linalg.cholesky(definite), rtol=1e-12, atol=1e-12)
    assert np.allclose(of("inv")(a) @ a, np.eye(n), atol=1e-10)
    assert np.allclose(a @ rose.jit(np.linalg.solve)(a, a[0]), a[0], atol=1e-10)
    assert of("slogdet")(a) == pytest.approx(tuple(np.linalg.slogdet(a)))
    gradient = rose.grad(lambda a: np.linalg.slogdet(a)[1])(a)
    assert np.allclose(gradient, np.linalg.inv(a).T, atol=1e-10)
    for name in ("inv", "cholesky"):
        with pytest.raises(np.linalg.LinAlgError):
            of(name)(np.zeros((n, n)))


def test_singular_values_that_are_known():
    """The Hilbert matrix by mpmath with 60 digits, and numbers that are far apart."""
    mpmath = pytest.importorskip("mpmath")
    hilbert = 1.0 / (np.arange(8)[:, None] + np.arange(8) + 1.0)
    with mpmath.workdps(60):
        exact = sorted(
            (float(w) for w in mpmath.eigsy(mpmath.matrix(hilbert.tolist()), eigvals_only=True)), reverse=True
        )
    assert np.abs(of("svdvals")(hilbert) - exact).max() <= 4e-16 * exact[0]
    assert np.abs(of("eigvalsh")(hilbert)[::-1] - exact).max() <= 4e-15 * exact[0]
    assert np.allclose(of("svdvals")(np.diag([1e200, 1e190, 1e180])), [1e200, 1e190, 1e180], rtol=1e-14)


def test_values_that_are_equal():
    """Derivatives of the values are right; those of vectors, which are not determined, are not finite."""
    assert np.allclose(rose.grad(lambda a: np.linalg.eigh(a)[0].sum())(np.eye(3)), np.eye(3))
    assert np.allclose(rose.grad(lambda a: np.linalg.norm(a, "nuc"))(np.eye(3)), np.eye(3))
    assert np.isnan(rose.grad(lambda a: np.linalg.eigh(a)[1][0, 0])(np.eye(2))).any()
    assert rose.hessian(lambda a: np.linalg.pinv(a)[0, 0])(np.eye(2))[0, 0, 0, 0] == 2.0


def test_matrices_of_lower_rank():
    a = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
    assert of("matrix_rank")(a) == 1
    assert np.allclose(of("pinv")(a), np.linalg.pinv(a))
    x, rest, rank, s = rose.jit(np.linalg.lstsq)(a, np.array([1.0, 0.0, 2.0]))
    wanted = np.linalg.lstsq(a, np.array([1.0, 0.0, 2.0]), None)
    assert np.allclose(x, wanted[0])
    assert rank == 1
    assert np.isnan(rest).all()  # NumPy's are then none
    assert np.allclose(s, wanted[3])
    assert of("cond")(np.ones((3, 3))) > 1e15
    assert of("cond", p=1)(np.ones((3, 3))) == math.inf


@pytest.mark.parametrize("name", ["eigvalsh", "svdvals", "pinv", "det"])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_stays_so(name, bad):
    a = np.eye(3)
    a[0, 1] = a[1, 0] = bad
    assert not np.isfinite(of(name)(a)).all()


@pytest.mark.parametrize("name", ["svdvals", "pinv", "qr", "eigvalsh", "inv", "det", "cholesky"])
@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_no_elements(name, shape):
    found, wanted = of(name)(np.zeros(shape)), getattr(np.linalg, name)(np.zeros(shape))
    assert [np.shape(v) for v in np.atleast_1d(found)] == [np.shape(v) for v in np.atleast_1d(wanted)]


def test_batches():
    stack = np.random.default_rng(4).normal(size=(4, 3, 3))
    stack = stack + np.swapaxes(stack, 1, 2)
    assert np.allclose(rose.vmap(lambda a: np.linalg.eigh(a)[0])(stack), np.linalg.eigvalsh(stack))
    gradient = rose.grad(lambda a: np.linalg.svdvals(a)[:, 0].sum())(stack)
    u, _, vh = np.linalg.svd(stack)
    assert np.allclose(gradient, u[:, :, :1] * vh[:, :1])
