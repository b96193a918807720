"""What staged numbers are said to have: what Python's have, and NumPy's where they are elements of arrays."""

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

NAMES = [
    "__iter__", "__len__", "__getitem__", "__array__", "__float__", "__index__", "__add__", "__matmul__", "__call__",
    "shape", "ndim", "size", "dtype", "T", "item", "sum", "any", "copy", "real", "imag", "conjugate", "is_integer",
    "hex", "as_integer_ratio", "bit_length", "numerator", "tape", "atom", "leaf", "append", "keys", "x",
]  # fmt: skip
VALUES = {"float": 1.5, "int": 3, "bool": True}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", VALUES)
def test_numbers_of_python(kind, name):
    is_read = "" if hasattr(VALUES[kind], name) else f", getattr(x, {name!r}, None) is None"
    text = f"def f(x: {kind}):\n    return hasattr(x, {name!r}), {name!r} in dir(x){is_read}\n"
    f = define(text)
    assert rose.jit(f)(VALUES[kind]) == f(VALUES[kind])
    if not hasattr(VALUES[kind], name):
        with pytest.raises(AttributeError, match=f"'{kind}' object has no attribute '{name}'"):
            rose.jit(define(f"def f(x: {kind}):\n    return getattr(x, {name!r})\n"))(VALUES[kind])


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("tape", "atom", "leaf")])
def test_elements_of_arrays(name):
    f = define(f"def f(v):\n    return hasattr(v[0], {name!r})\n")
    assert rose.jit(f)(np.array([1.5, 2.0])) == f(np.array([1.5, 2.0]))


@pytest.mark.parametrize("value", [1.5, 2, [1.0, 2.0]], ids=repr)
def test_code_that_asks_whether_it_has_many(value):
    def total(x):
        return sum(x) if hasattr(x, "__iter__") else 10.0 * x

    assert rose.jit(total)(value) == total(value)
