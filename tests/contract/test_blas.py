"""`rose.jit(blas=True)`: the numbers and derivatives of plain code, by calls of NumPy's routines."""

import pickle

import numpy as np
import pytest
from scipy import linalg

import rosejit as rose
from rosejit.frontend.numpy.blas import LEAST_PRODUCT, LEAST_ROWS
from rosejit.host_routines import ROUTINES
from rosejit.ir.traversal import reachable
from rosejit.runtime import cache

RNG = np.random.default_rng(0)
N = LEAST_ROWS
A, B = RNG.normal(size=(N + 6, N)), RNG.normal(size=(N, N + 2))
S = A.T @ A / N + np.eye(N)
V = RNG.normal(size=N)


def routines(function, *args):
    """The routines that the program of a function calls."""
    hosts = [f.host for f in reachable(function.lower(*args).ir.function)]
    return {host.routine[0].partition(" ")[0] for host in hosts if host is not None}


def tall(a):
    return np.concatenate([a, 0.5 * a[:6]])


PROGRAMS = {
    "product": lambda a: np.sum(np.sin(a @ B)),
    "cholesky": lambda a: np.sum(np.linalg.cholesky(a) ** 3),
    "solve": lambda a: V @ np.linalg.solve(a, V),
    "inv": lambda a: np.sum(np.linalg.inv(a) ** 3),
    "det": lambda a: np.linalg.det(a * 0.4),
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "qr": lambda a: np.sum(np.linalg.qr(tall(a))[1] ** 3),
    "eigh": lambda a: np.sum(np.linalg.eigvalsh(a) ** 1.5),
    "svd": lambda a: np.sum(np.linalg.svdvals(tall(a)) ** 3),
    "forward": lambda a: np.sum(linalg.solve_triangular(a, B, lower=True) ** 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives_are_those_of_plain_code(name):
    """Along a line, so that the second derivative is a number: JVP and gradient of the directional derivative agree."""
    f, d = PROGRAMS[name], S @ S / N
    plain, blas = rose.jit(f), rose.jit(f, blas=True)
    assert not routines(plain, S)
    assert name in routines(blas, S)
    assert np.isclose(blas(S), plain(S), rtol=1e-11)
    gradient = rose.grad(blas)(S)
    assert np.allclose(gradient, rose.grad(plain)(S), rtol=1e-9, atol=1e-9 * abs(gradient).max())
    first, second = [
        rose.jit(lambda t, each=each: rose.jvp(lambda s: each(S + s * d), (t,), (1.0,))[1]) for each in (blas, plain)
    ]
    assert np.isclose(first(0.0), np.sum(gradient * d), rtol=1e-9)
    wanted = rose.grad(second)(0.0)
    assert np.isclose(rose.grad(first)(0.0), wanted, rtol=1e-8)
    assert np.isclose(rose.jvp(first, (0.0,), (1.0,))[1], wanted, rtol=1e-8)


def test_every_routine_is_tried():
    assert {*PROGRAMS} == {"product", *ROUTINES} - {"triangle_inverse"}  # which the derivative of `cholesky` calls
    assert "triangle_inverse" in routines(rose.grad(rose.jit(PROGRAMS["cholesky"], blas=True)), S)


@pytest.mark.parametrize("names", ["ik,kj->ij", "ki,kj->ij", "ik,jk->ij", "ki,jk->ij", "ik,kj->ji", "ki,jk->ji"])
def test_products_in_every_orientation(names):
    given = {"i": 66, "j": 65, "k": 64}
    left, right, result = names.replace("->", ",").split(",")
    a, b, c = (RNG.normal(size=[given[x] for x in axes]) for axes in (left, right, result))
    blas = rose.jit(lambda a, b: np.sum(c * np.einsum(names, a, b) ** 2), blas=True)
    assert routines(blas, a, b) == {"product"}
    assert np.isclose(blas(a, b), np.sum(c * np.einsum(names, a, b) ** 2))
    found = rose.grad(blas, (0, 1))(a, b)
    ct = 2.0 * c * np.einsum(names, a, b)
    assert np.allclose(found[0], np.einsum(f"{result},{right}->{left}", ct, b))
    assert np.allclose(found[1], np.einsum(f"{left},{result}->{right}", a, ct))


def test_rows_of_a_stack_are_one_product():
    x = RNG.normal(size=(3, 22, N))
    blas = rose.jit(lambda x: x @ B, blas=True)
    assert routines(blas, x) == {"product"}
    assert np.allclose(blas(x), x @ B)


def test_what_is_small_and_what_has_no_reals_stays():
    n = round((LEAST_PRODUCT - 1) ** (1 / 3)) - 1
    assert not routines(rose.jit(lambda a: a @ a, blas=True), np.ones((n, n)))
    assert not routines(rose.jit(lambda a: a @ a, blas=True), np.ones((N, N), int))
    assert not routines(rose.jit(lambda a: np.linalg.inv(a), blas=True), np.eye(N - 1))


@rose.jit
def square(a):
    return a @ a


def test_it_holds_for_what_is_called_and_for_derivatives_and_nowhere_else():
    blas = rose.jit(lambda a: np.sum(square(a)), blas=True)
    for _ in range(2):
        assert routines(blas, S) == {"product"}
        assert not routines(square, S)
        assert not routines(rose.jit(lambda a: np.sum(square(a))), S)
    assert routines(rose.jit(lambda a: blas(a) + square(a)[0, 0]), S) == {"product"}
    assert routines(rose.grad(blas), S) == {"product"}
    assert routines(rose.jit(rose.grad(lambda a: np.sum(a @ a)), blas=True), S) == {"product"}


def test_batches_and_jacobians():
    f = lambda t: np.sum(np.linalg.inv(S + t * A.T @ A), axis=0)[:3]
    plain, blas = rose.jit(f), rose.jit(f, blas=True)
    ts = np.array([0.1, 0.4])
    assert np.allclose(rose.vmap(blas)(ts), rose.vmap(plain)(ts))
    assert np.allclose(rose.vmap(rose.jacfwd(blas))(ts), rose.vmap(rose.jacfwd(plain))(ts))
    wide = lambda p: np.sum((S * p[0] + p[1] * np.eye(N)) @ S)  # two tangents in one pass
    assert np.allclose(rose.jacfwd(rose.jit(wide, blas=True))(np.ones(2)), rose.grad(wide)(np.ones(2)))


def test_taylor_and_checkpoints():
    f = lambda t: np.sum(np.exp(t) * (S @ (S * t)))
    blas = rose.jit(f, blas=True)
    assert np.allclose(rose.taylor(blas, 0.3, 1.0, 3), rose.taylor(f, 0.3, 1.0, 3))
    assert np.isclose(rose.grad(rose.checkpoint(blas))(0.3), rose.grad(f)(0.3))


def test_it_is_saved_pickled_and_interpreted(tmp_path, monkeypatch):
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path / "cache"))
    blas = rose.jit(PROGRAMS["cholesky"], blas=True)
    assert np.isclose(blas(S), PROGRAMS["cholesky"](S))
    assert cache.current().info().entries == 0
    compiled = rose.grad(blas).lower(S).compile()
    wanted = compiled(S)
    compiled.save(tmp_path / "program")
    assert np.array_equal(rose.load(tmp_path / "program")(S), wanted)
    assert np.array_equal(pickle.loads(pickle.dumps(compiled))(S), wanted)
    assert routines(pickle.loads(pickle.dumps(rose.jit(np.linalg.inv, blas=True))), S) == {"inv"}
    with rose.disable_jit():
        assert np.isclose(blas(S), PROGRAMS["cholesky"](S))


def test_errors_are_those_of_plain_code(tmp_path):
    for function in (np.linalg.solve, lambda a, b: np.linalg.inv(a) @ b):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            rose.jit(function, blas=True)(S * 0.0, V)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        rose.jit(lambda a: np.linalg.cholesky(a), blas=True)(-S)
    assert np.isnan(rose.jit(lambda a: np.linalg.eigh(a)[0], blas=True)(S * np.nan)).all()
    with pytest.raises(rose.StagingTypeError, match="`blas=True`"):
        rose.export(rose.jit(lambda a: a @ a, blas=True), S, path=tmp_path)
    with pytest.raises(rose.StagingTypeError, match="blas"):
        rose.jit(blas=1)
