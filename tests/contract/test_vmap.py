"""`rose.vmap`: batches of any function, stacked along axis 0, in staged code and out of it."""

import math
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms

X = np.linspace(0.1, 0.9, 5)


@rose.jit
def wave(x: float, y: float) -> float:
    return math.sin(x) * y


@rose.jit
def several(a: Mat["n", "m"], v: Vec["m"]):
    return a @ v, v.sum(), len(v), v[0] > 0.5


batched_wave = rose.vmap(wave, in_axes=(0, None))


class Point(NamedTuple):
    x: float
    v: Vec[2]


@dataclass
class Body:
    mass: float
    number: int


def describe(p: Point, body: Body, power: rose.Static[int] = 2, gain: float = 3.0):
    return {"s": p.x**power * body.mass * gain, "t": p.v * body.number, "body": body}


def test_arguments_and_results():
    np.testing.assert_allclose(rose.vmap(wave)(X, X), np.sin(X) * X)
    np.testing.assert_allclose(rose.vmap(wave, (0, None))(X, 2.0), 2 * np.sin(X))
    np.testing.assert_allclose(rose.vmap(wave, [None, 0])(0.5, X), math.sin(0.5) * X)
    np.testing.assert_allclose(rose.vmap(wave)(y=[1.0, 2.0], x=[0.5, 0.5]), np.array([1.0, 2.0]) * math.sin(0.5))
    assert rose.vmap(wave)(np.zeros(0), np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_axes(axis):
    a, v = np.arange(24.0).reshape(4, 2, 3), np.array([[0.1, 0.2, 0.3], [0.6, 0.5, 0.4]] * 2)
    products, sums, lengths, flags = rose.vmap(several, in_axes=(axis, 0))(np.moveaxis(a, 0, axis), v)
    np.testing.assert_allclose(products, np.einsum("bij,bj->bi", a, v))
    np.testing.assert_allclose(sums, v.sum(axis=1))
    assert lengths.dtype == np.int64
    assert lengths.tolist() == [3] * 4
    assert flags.dtype == np.bool_
    assert flags.tolist() == [False, True, False, True]


def test_structures_static_arguments_and_defaults():
    found = rose.vmap(describe)(Point(X, np.ones((5, 2))), Body(X, np.arange(5)))
    np.testing.assert_allclose(found["s"], 3 * X**3)
    np.testing.assert_allclose(found["t"], np.outer(np.arange(5), [1.0, 1.0]))
    assert isinstance(found["body"], Body)
    np.testing.assert_array_equal(found["body"].number, np.arange(5))
    one = rose.vmap(describe, in_axes=(Point(0, None), 0))
    found = one(Point(X, np.ones(2)), Body(X, np.arange(5)), power=3, gain=X)
    np.testing.assert_allclose(found["s"], X**5)
    np.testing.assert_allclose(rose.vmap(lambda d, *r: d["u"] + r[0], ({"u": 0}, None))({"u": X}, 1.0), X + 1)
    np.testing.assert_allclose(rose.vmap(lambda *xs: xs[0] - xs[1])(X, 2 * X), -X)


def test_results_of_any_kind():
    first, second = rose.vmap(lambda x: [x, 2 * x])(X)
    np.testing.assert_allclose(second, 2 * first)
    assert rose.vmap(lambda x: None)(X) is None
    assert rose.vmap(lambda x: (x, "name"))(X)[1] == "name"
    np.testing.assert_array_equal(rose.vmap(lambda x: 1.0)(X), np.ones(5))
    np.testing.assert_array_equal(rose.vmap(lambda k: k * 2)(np.arange(3)), [0, 2, 4])


def test_nested_jitted_and_in_staged_code():
    np.testing.assert_allclose(rose.vmap(batched_wave, (None, 0))(X, X), np.outer(X, np.sin(X)))
    np.testing.assert_allclose(rose.jit(rose.vmap(wave))(X, X), np.sin(X) * X)

    @rose.jit
    def closes_over(a: Vec["n"]):
        b = a * 2
        return rose.vmap(lambda t: t * b[0] + a[1])(a)

    np.testing.assert_allclose(closes_over(X), X * 2 * X[0] + X[1])

    @rose.jit
    def rows(a: Mat["n", "m"]) -> float:
        return rose.vmap(lambda row: (row * row).sum())(a).sum()

    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(rose.grad(rows)(a), 2 * a)


def test_derivatives():
    np.testing.assert_allclose(rose.vmap(rose.grad(wave))(X, X), np.cos(X) * X)
    total = rose.jit(lambda x: batched_wave(x, 2.0).sum())
    np.testing.assert_allclose(rose.grad(total)(X), 2 * np.cos(X))
    np.testing.assert_allclose(rose.hessian(total)(X), np.diag(-2 * np.sin(X)))
    np.testing.assert_allclose(rose.jacobian(batched_wave)(X, 2.0), np.diag(2 * np.cos(X)))
    np.testing.assert_allclose(rose.vmap(rose.hessian(wave, argnums=(0, 1)))(X, X)[0][1], np.cos(X))
    rose.check_grads(rose.vmap(several, (1, 0)), (np.ones((3, 2, 4)), np.ones((2, 4))))


def test_the_batch_is_a_map():
    function = batched_wave.lower(X, 2.0).ir.function
    loops = [let.expr for let in forms(function.body) if isinstance(let.expr, ir.Loop)]
    assert [(loop.trips.value, loop.carries) for loop in loops] == [(5, ())]
    assert [f.expr.function.name for f in forms(loops[0].body) if isinstance(f.expr, ir.Call)] == ["wave"]


def test_effects_are_in_order(capfd):
    seen = []

    @rose.opaque
    def note(x: float) -> float:
        seen.append(x)
        return x

    for threads in (1, 2):
        seen.clear()
        np.testing.assert_array_equal(rose.vmap(lambda x: note(x) + 1.0, threads=threads)(X), X + 1)
        assert seen == X.tolist()


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
def test_threads(threads):
    a, v = np.random.default_rng(0).normal(size=(3, 7, 4)), np.ones((7, 4))
    for one, other in zip(
        rose.vmap(several, (1, 0))(a, v), rose.vmap(several, (1, 0), threads=threads)(a, v), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    spread = rose.vmap(wave, (0, None), threads=threads)
    np.testing.assert_array_equal(rose.grad(lambda x: spread(x, 2.0).sum())(X), 2 * np.cos(X))
    assert spread(np.zeros(0), 1.0).shape == (0,)


def test_the_first_failure_of_a_batch_is_raised():
    @rose.jit
    def checked(k: int) -> int:
        assert k < 5, f"{k} is too large"
        return k

    for threads in (1, 2, 3):
        with pytest.raises(rose.RoseAssertionError, match="5 is too large"):
            rose.vmap(checked, threads=threads)(np.arange(12))
    np.testing.assert_array_equal(rose.vmap(checked, threads=2)(np.arange(4)), np.arange(4))


def test_pickles():
    made = pickle.loads(pickle.dumps(batched_wave))
    np.testing.assert_array_equal(made(X, 2.0), batched_wave(X, 2.0))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: rose.vmap(wave)(X, X[:3]), rose.ShapeError, "`x` has 5 along axis 0, `y` has 3 along axis 0"),
        (lambda: rose.vmap(lambda x: x)(1.0), rose.ShapeError, "`x` is one number: it has no axis 0"),
        (lambda: rose.vmap(wave)(X, 1.0), rose.ShapeError, "`y` is one number: it has no axis 0"),
        (lambda: rose.vmap(wave, (2, 0))(X, X), rose.ShapeError, r"`x` has the shape \(5,\): it has no axis 2"),
        (lambda: rose.vmap(wave, None)(1.0, 2.0), rose.ShapeError, "no argument is mapped over"),
        (lambda: rose.vmap(wave, (0,)), rose.StagingTypeError, "`in_axes` has 1 entries, and `wave` 2 parameters"),
        (lambda: rose.vmap(wave, (0, 0, 0)), rose.StagingTypeError, "3 entries, and `wave` 2 parameters"),
        (lambda: rose.vmap(wave, "x"), rose.StagingTypeError, "`in_axes` is a number"),
        (lambda: rose.vmap(wave, (0, "x"))(X, X), rose.ShapeError, "`in_axes` has 'x' for `y`"),
        (lambda: rose.vmap(wave, threads=0), rose.StagingTypeError, "at least 1, given 0"),
        (lambda: rose.vmap(wave)(X), TypeError, "missing 1 required positional argument: 'y'"),
        (lambda: rose.vmap(lambda d: d["a"], ((0, 0),))({"a": X}), rose.StagingTypeError, "for a structure of 1"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


SPINNING = """
import os, signal, threading
import numpy as np
import rosejit as rose

def spin(x: float) -> float:
    for _ in rose.range(10**12):
        x = x * 0.999
    return x

batch = rose.vmap(spin, threads=2)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    batch(np.ones(4))
except KeyboardInterrupt:
    print("stopped")
"""


def test_an_interrupt_reaches_all_threads(tmp_path):
    program = tmp_path / "spinning.py"
    program.write_text(SPINNING)
    environment = {**os.environ, "PYTHONPATH": str(Path(rose.__file__).parent.parent)}
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.stdout == "stopped\n", done.stderr


def test_a_failure_ends_the_other_threads():
    @rose.jit
    def endless(k: int) -> int:
        assert k != 0, "no step"
        i = 0
        while i < 2**60:
            i += k
        return i

    with pytest.raises(rose.RoseAssertionError, match="no step"):
        rose.vmap(endless, threads=2)(np.array([0, 1]))


def test_threads_write_to_given_arrays():
    both = rose.vmap(rose.value_and_grad(lambda x: x * x), threads=2)
    values, slopes = np.zeros(5), np.zeros(5)
    found = both(np.arange(5.0), out=(values, slopes))
    assert found[0] is values
    assert found[1] is slopes
    assert values.tolist() == [0.0, 1.0, 4.0, 9.0, 16.0]
    assert slopes.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert both(np.arange(5.0), out=(None, slopes))[0] is not values
    with pytest.raises(rose.ShapeError, match="must have the shape"):
        both(np.arange(6.0), out=(values, slopes))
    with pytest.raises(rose.StagingTypeError, match="structure of the result"):
        both(np.arange(5.0), out=values)


def test_given_arrays_do_not_share_memory():
    @rose.jit
    def both(x: Vec["n"]) -> tuple[Vec["n"], Vec["n"]]:
        return x * 3.0, x * 5.0

    buffer, x = np.zeros(10), np.arange(5.0)
    for call, given in ((both, x), (rose.vmap(lambda x: (x * 3.0, x * 5.0), threads=2), x)):
        call(given, out=(buffer[::2], buffer[1::2]))
        assert buffer.tolist() == [value for pair in zip(x * 3.0, x * 5.0, strict=True) for value in pair]
        for out in ((buffer[:5], buffer[4:9]), (buffer[:5], buffer[:5])):
            with pytest.raises(rose.StagingTypeError, match="same memory"):
                call(given, out=out)


def test_a_function_of_the_package_with_names_that_numpy_loads_late():
    assert rose.vmap(rose.jit(rose.abs))(np.array([-1.0, 2.0])).tolist() == [1.0, 2.0]


def halved(x: float) -> float:
    return 0.5 * x


def halves(x: Vec[2]) -> float:
    return 0.5 * (x[0] - x[1])


WAYS_OF_INTS = {
    "outside": lambda f, data: rose.vmap(f)(data),
    "after floats": lambda f, data: [mapped := rose.vmap(f), mapped(1.0 * data), mapped(data)][-1],
    "as a list": lambda f, data: rose.vmap(f)(data.tolist()),
    "compiled": lambda f, data: rose.vmap(f).lower(data).compile()(data),
    "threads": lambda f, data: rose.vmap(f, threads=2)(data),
    "twice": lambda f, data: rose.vmap(rose.vmap(f))(data[None])[0],
}


@pytest.mark.parametrize("way", WAYS_OF_INTS.values(), ids=WAYS_OF_INTS)
@pytest.mark.parametrize("f", [halved, halves])
def test_ints_where_hints_say_floats(f, way):
    data = np.array([3, -1, 4]) if f is halved else np.array([[3, 1], [4, 1], [5, 9]])
    np.testing.assert_array_equal(way(f, data), [f(row) for row in data])


@pytest.mark.parametrize("f", [lambda x: rose.vmap(halved)(x), lambda x: rose.vmap(rose.vmap(halved))(x[None])[0]])
def test_staged_ints_where_hints_say_floats(f):
    np.testing.assert_array_equal(rose.jit(f)(np.array([3, -1, 4])), [1.5, -0.5, 2.0])
