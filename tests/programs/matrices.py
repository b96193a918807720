"""Products of arrays, and `np.linalg`: elimination whose derivative is a rule."""

import numpy as np

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.programs.record import Program


@rose.jit
def products_of_vectors(x: Vec["n"], y: Vec["n"]) -> float:
    return np.dot(x, y) * (x @ y) + x.dot(y * 2.0) - np.vdot(x, x) * np.inner(y, y) + np.dot(2.0, x)[0]


@rose.jit
def product_with_vector(a: Mat["n", "m"], x: Vec["m"], y: Vec["n"]) -> Vec["n"]:
    return a @ x * (y @ a).sum() + np.dot(a, x) - a.dot(x) * np.matmul(a, x)


@rose.jit
def product_of_matrices(a: Mat["n", "k"], b: Mat["k", "m"]) -> Mat["n", "m"]:
    return a @ b + np.dot(a, b) * np.matmul(a, b)


@rose.jit
def products_of_stacks(t: Array[2, 3, 2], a: Mat[2, 3]) -> Array[2, 3, 3]:
    return t @ a + t @ t.transpose(0, 2, 1)


@rose.jit
def higher_products(t: Array[2, 3, 2], a: Mat[2, 2]) -> Array[2, 3, 2]:
    return np.dot(t, a) + np.inner(t, a) * np.tensordot(t, a, axes=1) + np.tensordot(t, a, axes=([2], [1]))


@rose.jit
def outer_products(x: Vec["n"], y: Vec["m"]) -> Mat["n", "m"]:
    return np.outer(x, y) + np.outer([1.0, x[0], x[1]], y) * np.kron(x, y).reshape(len(x), len(y))


@rose.jit
def subscripts(a: Mat["n", "n"], x: Vec["n"], t: Array[2, "n", "n"]) -> float:
    total = np.einsum("ij,j,i->", a, x, x) + np.einsum("ii", a) * np.einsum("ij->ji", a)[0, 1]
    return total + np.einsum("kij,kji->k", t, t).sum() + np.einsum("i,i", x, x) + np.einsum("bij,j->bi", t, x)[1, 0]


@rose.jit
def cross_products(x: Vec[3], y: Vec[3], a: Mat[2, 3]) -> Vec[3]:
    return np.cross(x, y) + np.cross(a, x)[0] * np.cross(x, [1.0, y[0], 0.0])


@rose.jit
def convolved(x: Vec["n"], k: Vec["m"]) -> float:
    full = np.convolve(x, k)
    return full @ full + np.convolve(x, k, "same")[0] + np.convolve(k, x, mode="valid").sum() + np.polyval(k, x[0])


@rose.jit
def products_of_ints(k: Array["n", int], a: Array["n", "n", int]) -> Array["n", int]:
    return a @ k + np.outer(k, k).sum(axis=0) * (k @ k)


@rose.jit
def solved(a: Mat["n", "n"], b: Vec["n"]) -> Vec["n"]:
    return np.linalg.solve(a, b)


@rose.jit
def solved_often(a: Mat["n", "n"], b: Mat["n", "m"]) -> float:
    """Several right sides; a matrix that depends on the solution."""
    x = np.linalg.solve(a, b)
    return np.linalg.solve(a + x @ x.T, b[:, 0]) @ x[:, 1]


@rose.jit
def solved_in_a_loop(a: Mat["n", "n"], b: Vec["n"], steps: int) -> Vec["n"]:
    """An implicit Euler method: a system in each step."""
    x = b
    for _ in rose.range(steps):
        x = np.linalg.solve(np.eye(len(b)) + 0.1 * a, x)
    return x


@rose.jit
def inverted(a: Mat["n", "n"]) -> Mat["n", "n"]:
    return np.linalg.inv(a) * np.linalg.det(a) + np.linalg.inv(a.T)


@rose.jit
def determinants(a: Mat["n", "n"]) -> float:
    return np.linalg.det(a) * np.linalg.det(a[:2, :2])


@rose.jit
def log_density(x: Vec["n"], covariance: Mat["n", "n"]) -> float:
    """Of the normal distribution."""
    sign, logdet = np.linalg.slogdet(covariance)
    return -0.5 * (x @ np.linalg.solve(covariance, x) + sign * logdet + len(x) * np.log(2.0 * np.pi))


@rose.jit
def factored(a: Mat["n", "n"], b: Vec["n"]) -> float:
    lower = np.linalg.cholesky(a)
    y = np.linalg.solve(lower, b)
    return y @ y + np.log(np.diag(lower)).sum()


@rose.jit
def stacks_of_systems(a: Array["k", 2, 2], b: Array["k", 2, 1]) -> float:
    return np.linalg.solve(a, b).sum() + np.linalg.inv(a)[0].sum() * np.linalg.det(a).prod()


@rose.jit
def powers_of_matrices(a: Mat["n", "n"]) -> Mat["n", "n"]:
    return np.linalg.matrix_power(a, 3) @ np.linalg.matrix_power(a, -1) + np.linalg.multi_dot([a, a.T, a])


@rose.jit
def regression(x: Mat["n", "m"], y: Vec["n"], rate: float) -> Vec["m"]:
    """The normal equations of ridge regression."""
    return np.linalg.solve(x.T @ x + rate * np.eye(x.shape[1]), x.T @ y)


@rose.jit
def newton_system(p: Vec[2]) -> Vec[2]:
    """The crossing of a circle and a curve; at the solution the derivative is that of the start: zero."""
    for _ in rose.range(3):
        residual = np.array([p[0] ** 2 + p[1] ** 2 - 4.0, p[0] * p[1] - 1.0])
        jacobian = np.array([[2.0 * p[0], 2.0 * p[1]], [p[1], p[0]]])
        p = p - np.linalg.solve(jacobian, residual)
    return p


A = np.array
SPD = A([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
PIVOTED = A([[0.0, 1.0, 0.5], [1.0, -3.0, 0.2], [2.5, 0.2, 2.0]])
T = np.arange(12.0).reshape(2, 3, 2) / 4.0 - 1.0
X, Y = A([1.2, 0.7, -1.5]), A([0.5, 2.0, 0.8])

PROGRAMS = (
    Program(products_of_vectors, [(X, Y)], exact=False),
    Program(product_with_vector, [(T[0], Y[:2], X)], exact=False),
    Program(product_of_matrices, [(T[0], T[1].T)], lambda a, b: a @ b + (a @ b) ** 2, exact=False),
    Program(products_of_stacks, [(T, T[0].T)], exact=False),
    Program(higher_products, [(T, A([[0.5, 1.0], [2.0, -0.3]]))], exact=False),
    Program(outer_products, [(X, Y)], exact=False),
    Program(subscripts, [(SPD, X, np.stack([PIVOTED, SPD]))], exact=False),
    Program(cross_products, [(X, Y, PIVOTED[1:])], exact=False),
    Program(convolved, [(A([1.2, 0.7, -1.5, 0.4]), A([0.5, 2.0]))], exact=False),
    Program(products_of_ints, [(A([2, -1]), A([[1, 2], [3, 4]]))], lambda k, a: a @ k + k * k.sum() * 5),
    Program(solved, [(PIVOTED, X), (A([[2.0]]), A([3.0]))], np.linalg.solve, exact=False),
    Program(solved_often, [(PIVOTED, np.stack([X, Y], axis=1))], exact=False),
    Program(solved_in_a_loop, [(SPD, X, 3), (SPD, X, 0)], exact=False),
    Program(inverted, [(PIVOTED,), (SPD[:2, :2],)], exact=False),
    Program(determinants, [(PIVOTED,), (SPD,)], exact=False),
    Program(log_density, [(X, SPD)], exact=False),
    Program(factored, [(SPD, X)], exact=False),
    Program(
        stacks_of_systems, [(np.stack([SPD[:2, :2], PIVOTED[1:, 1:]]), X[:2, None] * np.ones((2, 1, 1)))], exact=False
    ),
    Program(powers_of_matrices, [(PIVOTED,)], exact=False),
    Program(regression, [(T.reshape(4, 3), A([0.5, 1.0, -1.0, 2.0]), 0.1)], exact=False),
    Program(newton_system, [(A([2.0, 0.4]),)], exact=False),
)
