"""Functions of NumPy in expressions, and their messages. Rows are tested in `tests/contract/test_registry.py`."""

import numpy as np
import pytest

from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.hints.hints import Array, Mat, Vec
from tests.frontend.oracle import agrees, define, fault, says

A = np.array([[1.0, -2.0, 0.5], [4.0, 0.25, 6.0]])
X = np.array([0.5, 1.0, 2.0])
SCOPE = {"np": np, "Mat": Mat, "Vec": Vec, "Array": Array}

EXPRESSIONS = [
    # element by element, with broadcasting
    "a + x", "x - a", "a * 2", "1 / x", "a / x", "a // 2", "a % 3", "x ** 2", "2 ** x", "-a", "abs(a)", "a > x", "a == x",
    "(a > 0) & (a < 5)", "~(a > 0)", "x[:, None] * x", "a[:, :1] + a", "k * 2 + s", "k * k", "x * i", "p | (k > 1)",
    # functions of every element
    "np.sqrt(x)", "np.exp(a)", "np.log(x)", "np.sin(a)", "np.tanh(a)", "np.arctan2(a, x)", "np.hypot(a, x)", "np.abs(a)",
    "np.floor(a)", "np.sign(a)", "np.square(a)", "np.maximum(a, x)", "np.minimum(x, 1.0)", "np.power(x, 3)",
    "np.clip(a, 0, 3)", "np.clip(x, None, 1.5)", "np.where(a > 0, a, x)", "np.where(x > 1, 1.0, 0.0)", "np.isnan(x)",
    "np.logical_and(a > 0, a < 5)", "np.logical_not(p)", "np.add(x, 1)", "np.round(x * 3.3)", "np.round(a * 1.37, 2)", "np.round(x * s, decimals=1)",
    "np.round(1.2345, 2) * s", "np.round([1.25, 1.5], decimals=1) * s", "np.sin(s)", "np.sqrt(4.0)",
    "np.maximum(s, 1.0)", "np.rint(a)", "np.copysign(x, -1.0)", "np.degrees(x)", "np.reciprocal(x)",
    # folds
    "a.sum()", "a.sum(axis=0)", "a.sum(axis=1)", "a.sum(axis=-1, keepdims=True)", "np.sum(a, axis=(0, 1))", "x.mean()",
    "a.mean(axis=0)", "a.max()", "a.min(axis=1)", "np.max(a, axis=0)", "x.prod()", "k.sum()", "p.sum()", "np.all(x > 0)",
    "np.any(a > 5)", "(a > 0).all(axis=0)", "np.cumsum(x)", "np.cumprod(x)", "np.linalg.norm(x)", "a[:, 1:].sum(axis=0)",
    # products
    "x @ x", "a @ x", "x @ a.T", "a @ a.T", "np.dot(x, x)", "np.dot(a, x)", "x.dot(2.0)", "np.matmul(a, x)", "np.outer(x, x)",
    "np.inner(x, x)", "k @ k", "a.dot(x)",
    # shapes
    "a.T", "np.transpose(a)", "a.reshape(3, 2)", "a.reshape(-1)", "a.reshape((6, 1))", "a.ravel()", "np.reshape(x, (3, 1))",
    "a.T.reshape(2, 3)", "a.copy()", "np.copy(x)", "np.shape(a)", "np.ndim(x)", "a.size", "np.broadcast_to(x, (2, 3))",
    # new arrays
    "np.array([s, 1.0])", "np.array([[s, 1], [x[0], x[1]]])", "np.array(x)", "np.asarray([x, x])", "np.zeros_like(a)",
    "np.ones_like(x) * s", "np.full(3, s)", "np.full((2, 2), 1.5)", "np.full_like(x, s)", "np.zeros((2, 2)) + s",
    "np.ones(3) * x", "np.arange(3.0) + x", "np.linspace(0, 1, 3) * s", "np.eye(2) * s", "np.array([1, 2])[i] * s",
    "np.stack([x, x * 2])", "np.stack([x, x], axis=1)", "np.concatenate([x, x[:1]])", "np.concatenate([a, a], axis=1)",
    "np.concatenate([a, a * 2])", "np.stack([s, 1.0])", "np.array([True, s > 0])", "np.array(k, dtype=float) / 2",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_numpy(expression):
    header = "def f(a: Mat[2, 3], x: Vec[3], k: Array[2, int], p: Array[2, bool], s: float, i: int):"
    f = define(f"{header}\n    return {expression}", **SCOPE)
    agrees(f, (A, X, np.array([2, 3]), np.array([True, False]), 1.5, 1))


@pytest.mark.parametrize("expression", [*EXPRESSIONS, "np.power(k, 2)", "np.sign(k)", "np.clip(k, 0, 2)", "-k // 2"])
def test_as_numpy_where_staging_knows_the_arrays(expression):
    known = "a, x, k, p = np.array(A), np.array(X), np.array([2, 3]), np.array([True, False])"
    f = define(f"def f(s: float, i: int):\n    {known}\n    return {expression}", A=A.tolist(), X=X.tolist(), **SCOPE)
    agrees(f, (1.5, 1))


MISFITS = {
    "a + x[:2]": (ShapeError, "(2,)"),
    "a @ x[:2]": (ShapeError, "(2,)"),
    "np.dot(x, a)": (ShapeError, "(3,)"),
    "np.stack([x, x[:2]])": (ShapeError, "cannot be joined"),
    "a.reshape(4, 2)": (ShapeError, "(4, 2)"),
    "a.sum(axis=2)": (ShapeError, "axis 2"),
    "x + 'a'": (StagingTypeError, "str"),
    "np.sin(x, out=a)": (StagingTypeError, "out"),
    "np.round(x, out=a)": (StagingTypeError, "out"),
    "np.nextafter(x, 1.0)": (StagingTypeError, "`np.nextafter`"),
    "np.subtract.reduce(x)": (StagingTypeError, "`np.subtract.reduce`"),
    "np.array([x[0], True])": (StagingTypeError, "truth values"),
    "x.max(axis=5)": (ShapeError, "axis 5"),
}


@pytest.mark.parametrize("expression", MISFITS)
def test_what_does_not_fit(expression):
    f = define(f"def f(a: Mat[2, 3], x: Vec[3]):\n    return {expression}  # misfit", **SCOPE)
    kind, word = MISFITS[expression]
    error = fault(f, A, X)
    assert isinstance(error, kind), error
    says(error, "" if word == "np.asarray" else word, line=f"return {expression}  # misfit")


def test_methods_that_an_array_does_not_have():
    f = define("def f(x: Vec[3]):\n    return x.nonsense()", **SCOPE)
    with pytest.raises(AttributeError):
        fault(f, X)


def test_functions_of_known_arrays_are_numpys():
    def f(x: Vec[3]):
        basis = np.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
        order = np.argsort(np.array([3, 1, 2]))
        return basis[0, 0] * x[0] + x[order[0]] + np.fft.fft(np.ones(2)).real.sum()

    agrees(f, (X,))
