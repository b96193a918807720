"""A decorated function as an object: how it is made, called, cached, looked into; what is fixed when it is staged."""

import inspect
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from jaxtyping import Float
from numpy.typing import NDArray

import rosejit as rose
from rosejit import Array, Mat, Vec


@rose.jit
def scaled(x: float, factor: float = 2.0, *, shift: float = 0.5) -> float:
    """Scale and shift."""
    return x * factor + shift


# --- decorating


def test_the_three_ways_of_decorating():
    def f(x: float) -> float:
        return x * x

    @rose.jit()
    def g(x: float) -> float:
        return x * x

    assert rose.jit(f)(3.0) == g(3.0) == rose.jit(name="square")(f)(3.0) == 9.0
    assert rose.jit(name="square")(f).__name__ == "square"


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        rose.jit(lambda x: x, "x")
    with pytest.raises(TypeError):
        rose.jit(statics="x")
    for options in ({"cache": False}, {"fastmath": True}, {"tier": "auto"}, {"static_argnames": ()}):
        assert rose.jit(**options)(lambda x: x + 1.0)(1.0) == 2.0


def test_it_looks_like_the_function():
    assert isinstance(scaled, rose.Function)
    assert scaled.__name__ == "scaled"
    assert scaled.__qualname__ == "scaled"
    assert scaled.__doc__ == "Scale and shift."
    assert scaled.__module__ == __name__
    assert scaled.__wrapped__(3.0) == 6.5
    assert inspect.signature(scaled) == inspect.signature(scaled.__wrapped__)
    assert "\n" not in repr(scaled)
    assert "scaled" in repr(scaled)
    assert callable(scaled)


def test_arguments_by_position_and_by_name():
    assert scaled(3.0) == 6.5
    assert scaled(3.0, 4.0) == 12.5
    assert scaled(3.0, factor=4.0, shift=0.0) == 12.0
    assert scaled(factor=4.0, x=3.0) == 12.5
    assert scaled(3, shift=1) == 7.0


def test_decorating_twice_is_decorating_once():
    assert rose.jit(scaled)(3.0) == 6.5


class Model:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    @rose.jit
    def decay(self, x: float) -> float:
        return x * self.rate

    @staticmethod
    @rose.jit
    def twice(x: float) -> float:
        return 2.0 * x


def test_methods():
    slow, fast = Model(0.5), Model(2.0)
    assert (slow.decay(3.0), fast.decay(3.0), slow.decay(3.0)) == (1.5, 6.0, 1.5)
    assert Model.twice(3.0) == fast.twice(3.0) == 6.0


# --- hints


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Frozen:
    a: float
    b: tuple[Point, ...]


def test_hints_of_other_libraries():
    @rose.jit
    def f(x: Float[np.ndarray, "n m"], y: NDArray[np.float64], z: np.ndarray, c: np.float64) -> float:
        return x[0, 1] * y[0] * z[0, 0, 0] * c + x.shape[1]

    assert f(np.ones((2, 3)), np.full(4, 2.0), np.full((1, 1, 1), 3.0), np.float64(0.5)) == 6.0
    with pytest.raises(rose.ShapeError):
        f(np.ones(2), np.ones(1), np.ones((1, 1, 1)), 1.0)


def test_ranks_that_are_open():
    @rose.jit
    def f(x: Array[..., float], y: Array["b", "n", 3]) -> float:
        return x.ndim + x.size * y[0, 0, 2]

    assert f(2.0 * np.ones((2, 2)), np.full((1, 1, 3), 0.5)) == 4.0
    with pytest.raises(rose.ShapeError):
        f(np.ones(2), np.ones((1, 1, 4)))


def test_structures_come_back_as_their_class():
    f = rose.jit(lambda p: p)
    value = Frozen(1.5, (Point(1.0, 2.0), Point(3.0, 4.0)))
    assert f(value) == value
    assert isinstance(f(value), Frozen)
    assert f({"b": 1.0, "a": (2, True, None)}) == {"b": 1.0, "a": (2, True, None)}
    assert list(f({"b": 1.0, "a": 2.0})) == ["b", "a"]
    assert f([1.0, [2.0]]) == [1.0, [2.0]]
    assert f(()) == ()


def test_lambdas_take_the_types_of_their_arguments():
    f = rose.jit(lambda x: x + x)
    assert f(2) == 4
    assert type(f(2)) is int
    assert type(f(2.0)) is float
    assert f(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert f.cache_info().size == 3


def test_strings_as_hints():
    @rose.jit
    def f(x: "float", v: "Vec['n']") -> "float":
        return x * v[0]

    assert f(2.0, [3.0]) == 6.0


# --- one specialisation for each kind of arguments


def test_shapes_and_types_are_the_key():
    @rose.jit
    def f(x: Vec["n"]) -> float:
        return sum(x[i] for i in rose.range(len(x)))

    assert [f(np.ones(n)) for n in (3, 4, 3, 0, 4)] == [3.0, 4.0, 3.0, 0.0, 4.0]
    assert f.cache_info().size == 3
    f.cache_clear()
    assert f.cache_info().size == 0
    assert f(np.ones(2)) == 2.0


def test_numbers_are_not_the_key():
    runs = []

    @rose.jit
    def f(x: float, n: int) -> float:
        runs.append(1)
        return x * n

    assert [f(x, n) for x, n in ((1.0, 2), (3.0, 4), (-1.0, 10))] == [2.0, 12.0, -10.0]
    assert len(runs) == 1


def test_statics_are_the_key():
    runs = []

    @rose.jit(static_argnames="power")
    def f(x: float, power=2) -> float:
        runs.append(power)
        return x**power if isinstance(power, int) else sum(power) * x

    assert [f(2.0), f(2.0, 3), f(2.0, power=3), f(2.0, [1, 2]), f(2.0, [1, 2]), f(2.0, [2, 2])] == [4, 8, 8, 6, 6, 8]
    assert runs == [2, 3, [1, 2], [2, 2]]


def test_statics_are_keyed_by_content():
    @rose.jit
    def f(x: float, table: rose.Static[dict], weights: rose.Static[np.ndarray]) -> float:
        return x * table["a"] + weights[1]

    weights = np.array([1.0, 2.0])
    assert f(2.0, {"a": 3.0}, weights) == 8.0
    assert f(2.0, {"a": 4.0}, weights) == 10.0
    weights[1] = 5.0
    assert f(2.0, {"a": 4.0}, weights) == 13.0
    assert f(2.0, {"a": 3.0}, np.array([1.0, 2.0])) == 8.0


# --- what was read outside is read again


RATE = 2.0
TABLE = {"a": 1.0}
ARRAY = np.array([1.0, 2.0])


def helper(v):
    return v * RATE


@rose.jit
def reads(x: float) -> float:
    return helper(x) + TABLE["a"] + ARRAY[0]


def test_globals_that_change(monkeypatch):
    module = inspect.getmodule(test_globals_that_change)
    assert (reads(3.0), rose.grad(reads)(3.0)) == (8.0, 2.0)
    monkeypatch.setattr(module, "RATE", 5.0)
    assert (reads(3.0), rose.grad(reads)(3.0)) == (17.0, 5.0)
    monkeypatch.setitem(TABLE, "a", 10.0)
    assert reads(3.0) == 26.0
    monkeypatch.setattr(module, "helper", lambda v: v + 1.0)
    assert (reads(3.0), rose.grad(reads)(3.0)) == (15.0, 1.0)
    ARRAY[0] = 7.0
    try:
        assert reads(3.0) == 21.0
    finally:
        ARRAY[0] = 1.0
    monkeypatch.setattr(module, "ARRAY", np.array([100.0, 0.0, 0.0]))
    assert reads(3.0) == 114.0


def test_cells_that_change():
    k = 2.0

    @rose.jit
    def f(x: float) -> float:
        return x * k

    assert f(3.0) == 6.0
    k = 4.0
    assert f(3.0) == 12.0
    assert rose.grad(f)(3.0) == 4.0


def test_attributes_that_change():
    model = Model(0.5)
    f = rose.jit(lambda x: model.rate * x)
    assert f(2.0) == 1.0
    model.rate = 3.0
    assert f(2.0) == 6.0


def test_a_callee_that_changes(monkeypatch):
    @rose.jit
    def inner(x: float) -> float:
        return x * RATE

    outer = rose.jit(lambda x: inner(x) + 1.0)
    assert outer(3.0) == 7.0
    monkeypatch.setattr(inspect.getmodule(test_cells_that_change), "RATE", 4.0)
    assert outer(3.0) == 13.0


def test_a_name_that_comes_later():
    @rose.jit
    def f(x: float) -> float:
        return later(x)

    with pytest.raises(NameError):
        f(1.0)

    def later(v):
        return v + 1.0

    assert f(1.0) == 2.0


# --- staging runs Python once


def test_printing(capsys):
    @rose.jit
    def f(x: float) -> float:
        print("staging")
        for i in rose.range(2):
            print("turn", i, x)
        if x > 1.0:
            print("large", x)
        return x

    f(2.0)
    assert capsys.readouterr().out == "staging\nturn 0 2.0\nturn 1 2.0\nlarge 2.0\n"
    f(0.5)
    assert capsys.readouterr().out == "turn 0 0.5\nturn 1 0.5\n"
    rose.grad(f)(2.0)
    assert capsys.readouterr().out.endswith("turn 0 2.0\nturn 1 2.0\nlarge 2.0\n")


def test_opaque_functions_run_in_program_order():
    seen = []

    @rose.opaque
    def note(x: float) -> None:
        seen.append(x)

    @rose.jit
    def f(x: float, n: int) -> float:
        note(x)
        for i in rose.range(n):
            note(x + i)
            if i == 1:
                note(-1.0)
        note(0.0)
        return x * x

    assert f(10.0, 3) == 100.0
    wanted = [10.0, 10.0, 11.0, -1.0, 12.0, 0.0]
    assert seen == wanted
    for derivative in (lambda: rose.grad(f)(10.0, 3), lambda: rose.grad(rose.grad(f))(10.0, 3)):
        seen.clear()
        derivative()
        assert seen == wanted


# --- looking inside


def test_lower():
    lowered = scaled.lower(3.0)
    assert "def scaled(" in str(lowered.ir)
    assert lowered.wasm[:4] == b"\0asm"
    assert lowered.wat().startswith("(module")
    assert lowered.cost().module_bytes == len(lowered.wasm)
    assert lowered.cost().ops > 0
    assert lowered.compile()(3.0, 2.0, shift=0.5) == 6.5
    assert str(rose.make_ir(scaled)(3.0)) == str(lowered.ir)


def test_lower_needs_shapes_only():
    @rose.jit
    def f(a: Mat["n", "m"], c: float) -> float:
        return a[0, 0] * c

    text = str(f.lower(rose.ShapeOf(3, 4), rose.ShapeOf()).ir)
    assert text == str(f.lower(np.ones((3, 4)), 2.0).ir)
    assert "[3][4]Real" in text


def test_derivatives_can_be_lowered():
    text = str(rose.grad(scaled).lower(3.0).ir)
    assert "scaled" in text
    assert str(rose.make_ir(rose.grad(scaled))(3.0)) == text


def test_clear_caches():
    assert scaled(3.0) == 6.5
    rose.clear_caches()
    assert scaled.cache_info().size == 0
    assert scaled(3.0) == 6.5


def test_show_versions(capsys):
    rose.show_versions()
    text = capsys.readouterr().out
    for name in ("rosejit", "wasmtime", "numpy", "beartype", "Python"):
        assert name.lower() in text.lower()


# --- mathematics


NAMES = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh cbrt "
    "erf erfc gamma lgamma digamma floor ceil trunc round abs sign isnan isinf isfinite sigmoid softplus"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_one_number(name):
    function = getattr(rose, name)
    x = 1.3 if name == "acosh" else 0.7
    f = rose.jit(lambda x: function(x))
    assert f(x) == function(x)
    rose.check_grads(rose.jit(lambda x: function(x) * 1.0), (x,), order=2)


@pytest.mark.parametrize("name", ["atan2", "pow", "hypot", "copysign", "fmod", "min", "max"])
def test_functions_of_two_numbers(name):
    function = getattr(rose, name)
    f = rose.jit(lambda x, y: function(x, y))
    assert f(0.7, 1.9) == function(0.7, 1.9)
    rose.check_grads(f, (0.7, 1.9), order=2)


def test_functions_of_more():
    f = rose.jit(lambda x, y, z: rose.fma(x, y, z) + x)
    assert f(2.0, 3.0, 4.0) == 12.0
    assert rose.grad(f, (0, 1, 2))(2.0, 3.0, 4.0) == (4.0, 2.0, 1.0)
    v = np.array([0.5, -1.0, 2.0])
    e = np.exp(v)
    assert rose.jit(lambda v: rose.logsumexp(v))(v) == pytest.approx(math.log(e.sum()), rel=1e-14)
    assert rose.grad(lambda v: rose.logsumexp(v))(v) == pytest.approx(e / e.sum(), rel=1e-13)
    assert rose.jit(lambda v: rose.softmax(v))(v) == pytest.approx(e / e.sum(), rel=1e-14)
    rose.check_grads(lambda v: rose.softmax(v)[0] * v[1], (v,), order=2)


def test_no_function_of_mathematics_is_a_call_of_python():
    for name in NAMES:
        function = getattr(rose, name)
        artifact = rose.jit(lambda x: function(x)).lower(0.7)
        assert b'"host"' not in artifact.wasm
        assert "(import" not in artifact.wat(), name


def test_jit_of_a_function_made_of_another():
    assert rose.jit(rose.grad(lambda x: x * x * x))(2.0) == 12.0
    assert rose.jit(name="slope")(rose.grad(lambda x: x * x * x)).__name__ == "slope"
    with pytest.raises(rose.StagingTypeError, match="`static_argnames` cannot be given for `grad_f`"):
        rose.jit(static_argnames="x")(rose.grad(rose.jit(lambda x: x, name="f")))


def test_host_values_in_results():
    @rose.jit
    def named(x):
        return x, "name"

    assert named(1.0) == (1.0, "name")
    assert rose.jit(lambda x: named(x)[1])(1.0) == "name"


def test_a_decorated_function_as_a_default_value():
    square = rose.jit(lambda x: x * x)
    f = rose.jit(lambda x, g=square: g(x))
    assert f(3.0) == 9.0
    assert f.lower(3.0).compile()(3.0) == 9.0
    assert rose.grad(f)(3.0) == 6.0


INF = math.inf


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_the_logarithm_of_a_sum_of_two_is_smooth_where_they_are_equal(name):
    f = getattr(np, name)
    unit = 1.0 if name == "logaddexp" else math.log(2.0)

    def run(x: float, y: float) -> float:
        return f(x, y)

    for a in (-3.0, 0.0, 1.5):
        assert rose.grad(run, (0, 1))(a, a) == (0.5, 0.5)
        ((xx, xy), (yx, yy)) = rose.hessian(run, (0, 1))(a, a)
        assert (xx, yy) == pytest.approx((unit / 4, unit / 4), rel=1e-15)
        assert (xy, yx) == pytest.approx((-unit / 4, -unit / 4), rel=1e-15)
    awkward = (0.0, 2.5, -800.0, INF, -INF, math.nan)
    for x in awkward:
        for y in awkward:
            with np.errstate(all="ignore"):
                assert rose.jit(run)(x, y) == pytest.approx(float(f(x, y)), rel=4e-16, abs=1e-240, nan_ok=True)


@pytest.mark.parametrize(
    ("values", "expected"), [([INF, 1.0], INF), ([INF, INF], INF), ([-INF, -INF], -INF), ([-INF, 2.0], 2.0)]
)
def test_logsumexp_of_infinities(values, expected):
    assert rose.logsumexp(values) == expected
    assert rose.jit(lambda v: rose.logsumexp(v))(np.array(values)) == expected


def test_what_is_negligible_in_logsumexp_is_nothing_in_its_derivative():
    v = np.array([3.0, -686.5, -687.5, -720.0, -INF, 2.5])
    e = np.exp(v - 3.0)
    assert rose.logsumexp(v) == rose.jit(lambda v: rose.logsumexp(v))(v) == 3.0 + math.log(e.sum())
    slopes = rose.grad(lambda v: rose.logsumexp(v))(v)
    assert slopes == pytest.approx(e / e.sum(), rel=1e-13, abs=1e-299)
    assert slopes[1] > 0.0
    assert not slopes[2:5].any()
    rows = np.array([v, v])
    assert rose.grad(lambda a: rose.logsumexp(a, axis=1).sum())(rows).tolist() == [slopes.tolist()] * 2
    assert rose.logsumexp(rows, axis=1).tolist() == [rose.logsumexp(v)] * 2


def test_the_hessian_of_a_power_at_exponent_0():
    """x**y is 1 + y log(x) near there."""

    def power(x: float, y: float) -> float:
        return x**y

    assert rose.hessian(power, (0, 1))(2.0, 0.0) == ((0.0, 0.5), (0.5, pytest.approx(math.log(2.0) ** 2, rel=1e-15)))
    assert rose.hessian(power, (0, 1))(0.0, 0.0) == ((0.0, 0.0), (0.0, 0.0))


def test_the_derivative_of_a_logarithm_of_huge_numbers():
    for name, base in (("log10", 10.0), ("log2", 2.0)):
        f = getattr(math, name)
        slope = rose.grad(lambda x, f=f: f(x))(1e308)
        assert slope == pytest.approx(1.0 / math.log(base) * 1e-308, rel=1e-14)
