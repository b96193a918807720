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


KINDS = VALUES | {"complex": 1.5 + 2.0j}
SPECIAL = [
    "__repr__", "__doc__", "__dir__", "__init__", "__iter__", "__sizeof__", "__new__", "__reduce__", "__getnewargs__",
    "__subclasshook__", "__array__", "__matmul__", "__module__", "__slots__",
]  # fmt: skip
WAYS = {
    "read": "x.{name}",
    "called": "x.{name}()",
    "by name": "getattr(x, {name!r})",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [*SPECIAL, "shape", "ndim", "size", "T", "dtype", "is_integer", "hex", "nbytes"])
@pytest.mark.parametrize("kind", KINDS)
def test_handlers_that_wait_for_an_attribute_error(kind, name, way):
    """CPython's answer, or a refusal: what our numbers have of their own, and NumPy's have, is no answer."""
    text = WAYS[way].format(name=name)
    lines = f"    try:\n        y = {text}\n    except AttributeError:\n        return False\n    return True\n"
    f = define(f"def f(x: {kind}):\n{lines}")
    try:
        wanted = f(KINDS[kind])
    except TypeError:
        return  # the call lacks arguments
    try:
        assert rose.jit(f)(KINDS[kind]) == wanted
    except rose.RoseError as error:
        assert error.span is not None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_attributes_are_pythons(kind, name):
    f = define(f"def f(x: {kind}):\n    return x.{name}\n")
    error = rose.RoseError if hasattr(KINDS[kind], name) else AttributeError
    with pytest.raises(error, match=name):
        rose.jit(f)(KINDS[kind])


@pytest.mark.parametrize("name", ["shape", "ndim", "size", "T", "tolist", "real", "conjugate"])
def test_complex_numbers_ask_whose_they_are(name):
    f = define(f"def f(z: complex):\n    return hasattr(z, {name!r})\n")
    try:
        assert rose.jit(f)(1.0 + 2.0j) == hasattr(1j, name)
    except rose.RoseError as error:
        assert "whose it is" in str(error)
        assert not hasattr(1j, name)
