"""An array without dimensions is a number: as an argument, under every hint that admits it, and from outside."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from tests.frontend.oracle import define

SCALE: Any = np.array(2.0)
COUNT = np.array(3)
HELD = SimpleNamespace(w=np.array(2.0))
LISTED = [np.array(2.0)]


@rose.jit
def scaled(x):
    return x * SCALE


@rose.jit
def by_attribute(x):
    return x * HELD.w


@rose.jit
def by_element(x):
    return x * LISTED[0]


@rose.jit
def doubled(x: np.ndarray) -> np.ndarray:
    return x * 2


@pytest.mark.parametrize("f", [scaled, by_attribute, by_element])
def test_from_outside(f: Any) -> None:
    assert f(3.0) == 6.0
    assert rose.grad(f)(3.0) == 2.0


def test_rebound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scaled(3.0) == 6.0
    for value, expected in ((np.array(3), 9.0), (np.ones(()), 3.0), (np.array(0.5), 1.5), (4, 12.0)):
        monkeypatch.setitem(globals(), "SCALE", value)
        assert scaled(3.0) == expected
    monkeypatch.setitem(globals(), "SCALE", np.array(3))
    assert type(scaled(2)) is int
    monkeypatch.setitem(globals(), "SCALE", np.array(2.5))
    assert scaled(2) == 5.0


def test_made_an_int() -> None:
    assert rose.jit(lambda x: x * int(SCALE))(3.0) == 6.0
    assert rose.jit(lambda x: x + float(SCALE))(3.0) == 5.0
    assert rose.jit(lambda x: x * int(COUNT))(2.0) == 6.0
    assert rose.jit(lambda x: x + float(COUNT))(2.0) == 5.0


def test_as_an_argument() -> None:
    assert doubled(np.array(2.0)) == 4.0
    assert doubled(np.ones(2)).tolist() == [2.0, 2.0]
    assert type(doubled(np.array(3))) is int
    assert rose.grad(doubled)(np.array(2.0)) == 2.0
    assert rose.jvp(doubled, (np.array(2.0),), (np.array(3.0),)) == (4.0, 6.0)
    assert rose.vmap(doubled)(np.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_a_named_dimension_is_needed() -> None:
    def f(x: rose.Vec["n"]):
        return x

    with pytest.raises(rose.ShapeError, match="shape \\(\\)"):
        rose.jit(f)(np.array(2.0))


def test_what_it_says_of_itself() -> None:
    assert rose.jit(lambda x: (x.ndim, x.size))(np.array(2.0)) == (0, 1)
    assert rose.jit(lambda x: x.shape)(np.array(2.0)) == ()
    assert rose.jit(lambda x: x * 2 if x.ndim == 0 else x.sum())(np.array(2.0)) == 4.0


METHODS = "sum() mean() min() max() prod() item() copy() round() clip(0.0,1.0) astype(int) astype(float) all() any()"


@pytest.mark.parametrize("text", [*METHODS.split(), "T", "squeeze()", "reshape(1)", "ravel()", "flatten()", "tolist()"])
@pytest.mark.parametrize("value", [np.array(2.5), np.array(3), np.array(True)], ids=["real", "int", "bool"])
def test_methods_of_numpys_scalars(text: str, value: Any) -> None:
    f = define(f"def f(x):\n    return x.{text}\n")
    if text == "round()" and value.dtype == bool:  # float16 in NumPy
        with pytest.raises(rose.StagingTypeError, match="truth values are not rounded"):
            rose.jit(f)(value)
        return
    wanted = f(value)
    for found in (rose.jit(f)(value), rose.jit(define(f"def f(x):\n    return x[()].{text}\n"))(value)):
        assert np.shape(found) == np.shape(wanted)
        assert np.asarray(found).dtype.kind == np.asarray(wanted).dtype.kind
        assert np.all(found == wanted)


def test_what_a_number_has_not() -> None:
    with pytest.raises(AttributeError, match="'float' object has no attribute 'foo'"):
        rose.jit(lambda x: x.foo)(np.array(2.0))
    with pytest.raises(rose.StagingTypeError, match="a number has no length"):
        rose.jit(lambda x: len(x))(np.array(2.0))


def test_a_number_under_the_hint_of_an_array() -> None:
    """The same before and after a call with an array without dimensions."""
    h = rose.jit(define("def h(x: np.ndarray):\n    return x * 2\n", np=np))
    assert h(2.0) == 4.0
    assert h(np.array(2.0)) == h(2.0) == 4.0
    assert (h(2), type(h(2))) == (4, int)
    with pytest.raises(rose.StagingTypeError):
        h("2")
