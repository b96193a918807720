"""Plain functions given to transforms on the host: set up once, and never stale."""

import functools
import gc
import pickle
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rosejit as rose

X = np.array([1.0, 2.0, 3.0])
V = np.array([1.0, 0.0, 2.0])

# Each gives of `f(x) = k * sum(x**3)` something that has k as a factor: the value or a derivative.
WAYS: dict[str, Callable[[Any], float]] = {
    "grad": lambda f: rose.grad(f)(X)[0] / 3.0,
    "value_and_grad": lambda f: rose.value_and_grad(f)(X)[0] / 36.0,
    "jacobian": lambda f: rose.jacobian(f)(X)[1] / 12.0,
    "hessian": lambda f: rose.hessian(f)(X)[0, 0] / 6.0,
    "hvp": lambda f: rose.hvp(f)(X, V)[0] / 6.0,
    "jvp": lambda f: rose.jvp(f, (X,), (V,))[1] / 57.0,
    "vjp": lambda f: rose.vjp(f, X)[1](1.0)[0][0] / 3.0,
    "linearize": lambda f: rose.linearize(f, X)[1](V) / 57.0,
    "vmap": lambda f: rose.vmap(f)(np.array([X, X]))[1] / 36.0,
    "checkpoint": lambda f: rose.checkpoint(f)(X) / 36.0,
    "grad of grad": lambda f: rose.grad(lambda x: rose.grad(f)(x)[0])(X)[0] / 6.0,
    "of vmap": lambda f: rose.jacobian(rose.vmap(f))(np.array([X, X]))[0, 0, 0] / 3.0,
}


@pytest.mark.parametrize("way", [way for way in WAYS if way != "grad of grad"])  # that makes a lambda anew
def test_a_second_call_of_a_plain_function_stages_nothing(way: str, stagings: list[str]):
    def f(x):
        return 2.0 * np.sum(x**3)

    assert WAYS[way](f) == pytest.approx(2.0)
    begun = len(stagings)
    assert begun
    for _ in range(3):
        assert WAYS[way](f) == pytest.approx(2.0)
    assert len(stagings) == begun


GLOBAL = 2.0
TABLE = {"k": [1.0, 2.0]}


class Held:
    k = 2.0

    def __init__(self) -> None:
        self.own = 2.0


def _closure() -> tuple[Any, Callable[[], None]]:
    k = 2.0

    def f(x):
        return k * np.sum(x**3)

    def change() -> None:
        nonlocal k
        k = 5.0

    return f, change


def _global() -> tuple[Any, Callable[[], None]]:
    return (lambda x: GLOBAL * np.sum(x**3)), lambda: globals().update(GLOBAL=5.0)


def _deep() -> tuple[Any, Callable[[], None]]:
    return (lambda x: TABLE["k"][1] * np.sum(x**3)), lambda: TABLE["k"].__setitem__(1, 5.0)


def _object() -> tuple[Any, Callable[[], None]]:
    held = Held()
    return (lambda x: held.own * np.sum(x**3)), lambda: setattr(held, "own", 5.0)


def _class() -> tuple[Any, Callable[[], None]]:
    return (lambda x: Held.k * np.sum(x**3)), lambda: setattr(Held, "k", 5.0)


def _code() -> tuple[Any, Callable[[], None]]:
    def f(x):
        return 2.0 * np.sum(x**3)

    return f, lambda: setattr(f, "__code__", (lambda x: 5.0 * np.sum(x**3)).__code__)


def _default() -> tuple[Any, Callable[[], None]]:
    def f(x, k=2.0):
        return k * np.sum(x**3)

    return f, lambda: setattr(f, "__defaults__", (5.0,))


def _content_of_default() -> tuple[Any, Callable[[], None]]:
    held = [2.0]

    def f(x, *, k: rose.Static[list] = held):
        return k[0] * np.sum(x**3)

    return f, lambda: held.__setitem__(0, 5.0)


def _keyword_default() -> tuple[Any, Callable[[], None]]:
    def f(x, *, k=2.0):
        return k * np.sum(x**3)

    return f, lambda: f.__kwdefaults__.update(k=5.0)


def _helper() -> tuple[Any, Callable[[], None]]:
    def g():
        return 2.0

    def f(x):
        return g() * np.sum(x**3)

    return f, lambda: setattr(g, "__code__", (lambda: 5.0).__code__)


def _attribute() -> tuple[Any, Callable[[], None]]:
    def f(x):
        return f.k * np.sum(x**3)

    f.k = 2.0
    return f, lambda: setattr(f, "k", 5.0)


CHANGES = {
    "closure": _closure,
    "global": _global,
    "deep": _deep,
    "object": _object,
    "class": _class,
    "code": _code,
    "default": _default,
    "content of a default": _content_of_default,
    "keyword default": _keyword_default,
    "helper": _helper,
    "attribute": _attribute,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_is_staged_again(change: str, way: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(globals(), "GLOBAL", 2.0)
    monkeypatch.setitem(globals(), "TABLE", {"k": [1.0, 2.0]})
    monkeypatch.setattr(Held, "k", 2.0)
    f, changed = CHANGES[change]()
    run = WAYS[way]
    assert [run(f), run(f)] == pytest.approx([2.0, 2.0])
    changed()
    assert [run(f), run(f)] == pytest.approx([5.0, 5.0])


def test_hints_are_read_again_where_they_have_changed():
    def f(x: rose.Vec[3]) -> float:
        return np.sum(x**3)

    assert rose.grad(f)(X)[0] == 3.0
    f.__annotations__["x"] = rose.Vec[2]
    with pytest.raises(rose.RoseError, match="x"):
        rose.grad(f)(X)
    f.__annotations__["x"] = "rose.Vec[Size]"
    f.__globals__["Size"] = 3
    try:
        assert rose.grad(f)(X)[0] == 3.0
        assert rose.grad(f)(X)[0] == 3.0
        f.__globals__["Size"] = 2
        with pytest.raises(rose.RoseError, match="x"):
            rose.grad(f)(X)
    finally:
        del f.__globals__["Size"]


def test_a_wrapper_has_no_part_in_what_was_made_of_the_wrapped():
    def f(x):
        return 2.0 * np.sum(x**3)

    assert rose.jvp(f, (X,), (V,))[1] == 114.0

    @functools.wraps(f)
    def g(x):
        return 5.0 * np.sum(x**3)

    assert [rose.jvp(each, (X,), (V,))[1] for each in (g, f, g)] == [285.0, 114.0, 285.0]


def test_a_rule_belongs_to_the_function_that_it_is_given_to():
    def f(x):
        return x * x

    one, other = rose.grad(f), rose.grad(f)
    assert (one(3.0), other(3.0), rose.grad(one)(3.0)) == (6.0, 6.0, 2.0)

    @one.jvp
    def _(x: rose.Dual) -> rose.Dual:
        return rose.Dual(2.0 * x.re, 7.0 * x.du)

    assert [rose.grad(one)(3.0), rose.grad(other)(3.0), rose.grad(rose.grad(f))(3.0)] == [7.0, 2.0, 2.0]
    assert rose.jvp(one, (3.0,), (1.0,)) == (6.0, 7.0)
    assert rose.jvp(other, (3.0,), (1.0,)) == (6.0, 2.0)


def test_functions_of_one_kind_have_attributes_and_counts_of_their_own():
    def f(x):
        return x * x

    one, other = rose.grad(f), rose.grad(f)
    one.note = "mine"
    one(1.0)
    assert not hasattr(other, "note")
    assert one is not other
    assert (one.cache_info().misses, other.cache_info().misses) == (1, 0)
    assert one.__wrapped__ is other.__wrapped__ is f


def test_all_ways_agree_in_the_interpreter_and_after_forgetting():
    def f(x):
        return 2.0 * np.sum(x**3)

    for run in WAYS.values():
        assert run(f) == pytest.approx(2.0)
    with rose.disable_jit():
        for run in WAYS.values():
            assert run(f) == pytest.approx(2.0)
    rose.clear_caches()
    for run in WAYS.values():
        assert run(f) == pytest.approx(2.0)


def test_a_function_and_what_was_made_of_it_live_equally_long():
    def made(k: float) -> weakref.ref[Any]:
        held = np.full(1000, k)

        def f(x):
            return held[0] * np.sum(x * x)

        f.again = f  # a cycle, as in `self.loss = lambda x: self.k * x`
        assert rose.hvp(f)(X, V)[0] == 2.0 * k
        assert rose.vjp(f, X)[1](1.0)[0][0] == 2.0 * k
        return weakref.ref(f)

    found = [made(float(k)) for k in range(3)]
    gc.collect()
    assert [each() for each in found] == [None, None, None]


def test_what_was_made_is_no_part_of_a_function_elsewhere():
    def f(x):
        return x * x

    assert rose.grad(f)(3.0) == 6.0
    state = {name: held for name, held in vars(f).items() if name.startswith("__rose")}
    assert state
    assert b"rosejit" not in pickle.dumps(state)
    again = types.FunctionType(f.__code__, f.__globals__, "f")
    vars(again).update(pickle.loads(pickle.dumps(state)))
    assert rose.grad(again)(3.0) == 6.0


def test_shapes_and_kinds_take_turns(stagings: list[str]):
    def f(x):
        return np.sum(x * x)

    points = [np.ones(n) for n in (2, 3, 4)]
    for x in points:
        rose.hvp(f)(x, x)
        rose.vjp(f, x)
    begun = len(stagings)
    for x in points * 2:
        assert np.array_equal(rose.hvp(f)(x, x), 2.0 * x)
        y, back = rose.vjp(f, x)
        assert y == len(x)
        assert np.array_equal(back(1.0)[0], 2.0 * x)
    assert len(stagings) == begun
