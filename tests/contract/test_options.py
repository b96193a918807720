"""The options of `rose.jit`, and `out=`."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.runtime import cache


@rose.jit
def doubled(x: Vec["n"]) -> Vec["n"]:
    return x * 2.0


@rose.jit
def split(x: Vec["n"]) -> tuple[Vec["n"], float, Vec["n"]]:
    return x * 2.0, x.sum(), x + 1.0


def test_static_argnames_of_every_form():
    for names in ("n", ("n",), ["n"]):
        f = rose.jit(static_argnames=names)(lambda x, n: x**n)
        assert f(2.0, 3) == f(2.0, n=3) == 8.0
    f = rose.jit(static_argnames=("mode", "k"))(lambda x, mode, k=2: x * k if mode == "times" else x + k)
    assert (f(3.0, "times"), f(3.0, "plus"), f(3.0, mode="plus", k=5)) == (6.0, 5.0, 8.0)
    with pytest.raises(rose.StagingTypeError, match="has no parameter `z`"):
        rose.jit(static_argnames="z")(lambda x: x)


@pytest.mark.parametrize(
    "options", [{"cache": "no"}, {"fastmath": 1}, {"tier": "warp"}, {"tier": 3}, {"name": 3}], ids=str
)
def test_options_that_mean_nothing_are_refused_at_decoration(options):
    with pytest.raises(rose.StagingTypeError, match=next(iter(options))):
        rose.jit(**options)
    with pytest.raises(TypeError, match="unexpected keyword"):
        rose.jit(statics="n")


def test_options_that_change_nothing_yet_change_nothing():
    def f(x: float) -> float:
        return x * 0.0 + (x - x)

    for options in ({"fastmath": False}, {"tier": "fast"}, {"tier": "best"}, {"tier": "auto"}):
        assert np.isnan(rose.jit(**options)(f)(np.inf))


def test_cache_false_leaves_nothing_on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("ROSE_CACHE_DIR", str(tmp_path))
    for options, entries in (({"cache": False}, 0), ({"cache": True}, 1)):
        assert rose.jit(**options)(lambda x: x * 3.25)(2.0) == 6.5
        assert cache.current().info().entries == entries


def test_the_name_is_that_of_errors_and_ir():
    f = rose.jit(name="speed")(lambda x, y: x // y)
    assert repr(f) == "<rose.Function speed(x, y)>"
    assert "def speed(" in str(f.lower(1, 2).ir)
    assert f.__name__ == "speed"


def test_out_is_written_in_place():
    x, out = np.arange(3.0), np.zeros((3, 2))
    assert doubled(x, out=out[:, 1]) is not None
    assert out[:, 1].tolist() == [0.0, 2.0, 4.0]
    assert doubled(x, out=x) is x
    assert x.tolist() == [0.0, 2.0, 4.0]
    a = np.zeros(3)
    found = split(x, out=(a, None, None))
    assert found[0] is a
    assert (a.tolist(), found[1], found[2].tolist()) == ([0.0, 4.0, 8.0], 6.0, [1.0, 3.0, 5.0])
    gradient = rose.grad(lambda v: (v * v).sum())
    assert gradient(x, out=a) is a
    assert a.tolist() == [0.0, 4.0, 8.0]


@pytest.mark.parametrize(
    ("out", "error"),
    [(np.zeros(4), rose.ShapeError), (np.zeros(3, int), rose.StagingTypeError), ([0.0] * 3, rose.StagingTypeError)],
    ids=["shape", "kind", "list"],
)
def test_out_that_does_not_fit(out, error):
    with pytest.raises(error, match="`out` must"):
        doubled(np.ones(3), out=out)


def test_out_that_cannot_be_written():
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(rose.StagingTypeError, match="`out` cannot be written"):
        doubled(np.ones(3), out=fixed)


def test_out_of_functions_without_arrays_and_of_those_that_have_a_parameter_of_that_name():
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        rose.jit(lambda x: x)(1.0, out=np.zeros(1))
    assert rose.jit(lambda x, out: x + out)(1.0, out=2.0) == 3.0


def test_out_in_staged_code():
    @rose.jit
    def f(x: Vec["n"]) -> tuple[Vec["n"], Vec["n"]]:
        a, b = np.zeros(len(x)), np.zeros(len(x))
        doubled(x, out=a)
        split(a, out=(None, None, b))
        return a, b

    a, b = f(np.array([1.0, 2.0]))
    assert (a.tolist(), b.tolist()) == ([2.0, 4.0], [3.0, 5.0])

    @rose.jit
    def wrong(x: Vec["n"]) -> Vec["n"]:
        return doubled(x, out=np.zeros(7))

    with pytest.raises(rose.StagingTypeError, match="`out` must be like the result"):
        wrong(np.ones(2))

    @rose.jit
    def readonly(x: Vec["n"]) -> Vec["n"]:
        return doubled(x, out=x)

    with pytest.raises(rose.StagingTypeError, match="argument"):
        readonly(np.ones(2))
