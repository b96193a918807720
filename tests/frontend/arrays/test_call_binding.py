"""Arguments that a signature has no place for: of NumPy's functions, of `math`, of builtins and of our own."""

import math

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, StagingTypeError, Vec
from tests.frontend.oracle import agrees, define, fault, says

X, K = np.array([0.5, 1.0, 2.0]), np.array([300, -1])
SCOPE = {"np": np, "math": math, "rose": rose, "Array": Array, "Vec": Vec}

WRONG = {
    "range(k, foo=True)": "foo", "rose.range(k, foo=True)": "foo", "sum(x, foo=1)": "foo", "all(x, 2)": "too many",
    "bool(s, 1)": "too many", "max(s, 1.0, foo=2)": "foo", "float(s, base=2)": "base", "len(x, 1)": "too many",
    "isinstance(s)": "missing", "math.sin(s, s)": "too many", "math.sin(x=s)": "positional only",
    "math.gcd(k, foo=1)": "foo", "math.floor(s, 1)": "too many", "np.max(x, nonsense=3)": "nonsense",
    "np.sin(x, x, x)": "too many", "np.sum(x, out=x)": "out", "x.sum(out=x)": "out", "np.add(x, x, where=x > 1)": "where",
    "np.sum(x, None, np.float16)": "float16", "np.full(3, s, dtype=np.float16)": "float16",
    "x.astype('f2')": "float16",
}  # fmt: skip
"""Calls, and what the error names."""
RIGHT = [
    "np.max(-x, None, None, False)", "np.sum(x, None, float)", "np.max(x, 0, None, True)", "np.full_like(x, 2.7, int)",
    "np.linspace(s, 2.0, 3, True, True)", "np.transpose(x[None], axes=(1, 0))", "np.swapaxes(x[None], axis1=0, axis2=1)",
    "np.moveaxis(x[None], source=0, destination=1)", "np.exp(x, np.zeros(3))", "pow(base=s, exp=2)", "sum(x, start=1.0)",
    "np.inner(s, 3.0)", "np.kron(s, 3.0)", "np.tensordot(x, s, axes=0)", "np.searchsorted(x, np.nan)", "np.std(k)",
    "np.clip(a=x, a_min=0.7, a_max=1.0)", "np.sum(a=x, axis=0)", "np.dot(a=x, b=x)",
]  # fmt: skip
HEADER = "def f(x: Vec[3], s: float, k: int, a: Array[2, int]):"


@pytest.mark.parametrize("call", WRONG)
def test_what_has_no_place_is_refused(call):
    f = define(f"{HEADER}\n    return {call}", **SCOPE)
    error = fault(f, X, 1.5, 2, K)
    assert isinstance(error, StagingTypeError), error
    says(error, WRONG[call], line="return")


@pytest.mark.parametrize("call", RIGHT)
def test_arguments_by_place_and_by_name(call):
    agrees(define(f"{HEADER}\n    return {call}", **SCOPE), (X, 1.5, 2, K))


def test_sinc_has_derivatives_at_zero():
    def sinc(x: float) -> float:
        return np.sinc(x)

    found = [
        rose.grad(sinc)(0.0),
        rose.grad(rose.grad(sinc))(0.0),
        rose.grad(rose.grad(rose.grad(rose.grad(sinc))))(0.0),
    ]
    assert found == pytest.approx([0.0, -(math.pi**2) / 3, math.pi**4 / 5], abs=1e-14, rel=1e-13)
