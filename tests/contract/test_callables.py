"""`rose.jit` and all derivatives take whatever can be called, as their users expect of functions."""

import functools
import math
import pickle
import types
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec


class Spring:
    """Something with state and ways to be called."""

    def __init__(self, k: float) -> None:
        self.k = k

    def energy(self, x: float) -> float:
        return 0.5 * self.k * x * x

    @rose.jit
    def force(self, x: float) -> float:
        return -self.k * x

    def __call__(self, x: float, y: float = 1.0) -> float:
        return self.k * x * y

    @classmethod
    def named(cls, x: float) -> float:
        return x * x


def scaled(a: float, x: float) -> float:
    return a * x * x


def test_functions_of_math_and_numpy() -> None:
    assert rose.grad(math.sin)(0.0) == 1.0
    assert rose.jit(math.hypot)(3.0, 4.0) == 5.0
    assert rose.grad(np.sum)(np.ones(3)).tolist() == [1.0, 1.0, 1.0]
    assert rose.jit(np.square)(np.arange(3.0)).tolist() == [0.0, 1.0, 4.0]
    assert rose.grad(abs)(-2.0) == -1.0
    assert rose.grad(max, argnums=(0, 1))(1.0, 2.0) == (0.0, 1.0)
    assert rose.grad(rose.grad(np.exp))(0.0) == 1.0
    assert rose.jit(math.sin).__name__ == "sin"


def test_methods() -> None:
    spring = Spring(3.0)
    assert rose.jit(spring.energy)(2.0) == 6.0
    assert rose.grad(spring.energy)(2.0) == 6.0
    assert rose.grad(spring.energy, argnums="x")(2.0) == 6.0
    assert rose.grad(spring.force)(2.0) == -3.0
    assert rose.grad(Spring.named)(2.0) == 4.0
    assert repr(rose.grad(spring.energy)) == "<rose.Function grad_energy(x: float) -> float>"
    gradient = rose.grad(spring.energy)
    gradient(2.0)
    spring.k = 5.0
    assert gradient(2.0) == 10.0


def test_partials_and_objects() -> None:
    assert rose.grad(functools.partial(scaled, 2.0))(3.0) == 12.0
    assert rose.grad(functools.partial(scaled, a=2.0), argnums="x")(x=3.0) == 12.0
    assert rose.grad(Spring(3.0))(2.0) == 3.0
    assert rose.value_and_grad(Spring(3.0), argnums=(0, 1))(2.0, 5.0) == (30.0, (15.0, 6.0))


def test_inside_staged_code() -> None:
    spring = Spring(3.0)

    @rose.jit
    def f(x: float) -> float:
        return rose.grad(math.sin)(x) + rose.grad(spring.energy)(x)

    assert f(0.0) == 1.0
    assert rose.grad(f)(0.0) == 3.0


def test_they_pickle() -> None:
    assert pickle.loads(pickle.dumps(rose.jit(math.hypot)))(3.0, 4.0) == 5.0
    assert pickle.loads(pickle.dumps(rose.grad(Spring(3.0).energy)))(2.0) == 6.0


def test_python_finds_what_a_call_runs_without_a_call() -> None:
    f = rose.jit(Spring(3.0).energy)
    _, pullback = rose.vjp(f, 2.0)
    for function in (f, rose.grad(f), pullback):
        assert type(vars(type(function))["__call__"]) is types.MemberDescriptorType
        assert function.__call__(1.0) == function(1.0)
        assert weakref.ref(function)() is function
    f.note = "its own"
    assert f.note == "its own"


def test_argument_errors_are_those_of_the_function_underneath() -> None:
    with pytest.raises(TypeError, match=r"energy.* missing 1 required positional argument: 'x'"):
        rose.jit(Spring(1.0).energy)()
    with pytest.raises(rose.StagingTypeError, match=r"energy.*`x`"):
        rose.jit(Spring(1.0).energy)("a")
    with pytest.raises(rose.StagingTypeError, match="takes a function, given int"):
        rose.jit(3)


@pytest.mark.parametrize("name", ["method", "partial", "nested partial"])
def test_errors_have_the_place_of_the_users_function(name):
    class Scaled:
        def times(self, x):
            return x * np.ones(2)

    calls = {
        "method": Scaled().times,
        "partial": functools.partial(lambda a, x: a * x * np.ones(2), 2.0),
        "nested partial": functools.partial(functools.partial(Scaled.times, Scaled())),
    }
    with pytest.raises(rose.NotDifferentiable) as caught:
        rose.grad(calls[name])(1.0)
    assert f"{__file__}:" in str(caught.value)
    assert "np.ones(2)" in str(caught.value) or "def times" in str(caught.value)


def test_errors_of_functions_of_python_have_no_place_of_ours():
    with pytest.raises(rose.NotDifferentiable) as caught:
        rose.grad(np.cumsum)(np.ones(3))
    assert "rosejit/api" not in str(caught.value)
    assert "`cumsum` returns an array" in str(caught.value)


@dataclass
class Grid:
    """What a partial binds: its fields are lengths, truth values, texts."""

    n: int = 4
    even: bool = True
    kind: str = "sum"
    step: float = 0.5


def on_grid(p, grid):
    return (np.linspace(0.0, grid.n * grid.step, grid.n) * p).sum() if [False, True][grid.even] else grid.kind


def over(p, n):
    return p * np.ones(n).sum()


BOUND = {
    "dataclass": (on_grid, "grid", Grid(), 4.0),
    "int": (over, "n", 3, 3.0),
    "int of NumPy": (over, "n", np.int64(3), 3.0),
    "computed": (lambda p, end: p * len(range(int(end / 0.5))), "end", 2.0, 4.0),
    "bool": (lambda p, on: p * [1.0, 2.0][on], "on", True, 2.0),
    "list": (lambda p, ks: sum(p * k for k in ks), "ks", [1.0, 2.0], 3.0),
    "dict": (lambda p, d: p * d[d["key"]], "d", {"key": "a", "a": 3.0}, 3.0),
    "text": (lambda p, name: getattr(p, name), "name", "real", 1.0),
    "function": (lambda p, g: g(p) * 2.0, "g", math.sin, 2.0 * math.cos(2.0)),
    "array": (lambda p, a: p * a.sum() * len(a), "a", np.ones(2), 4.0),
}


@pytest.mark.parametrize("name", BOUND)
def test_what_a_partial_binds_is_closed_over(name):
    f, parameter, value, slope = BOUND[name]
    swapped = lambda bound, p: f(p, bound)
    ways = [
        functools.partial(f, **{parameter: value}),
        functools.partial(swapped, value),
        functools.partial(functools.partial(f, **{parameter: value})),
    ]
    for bound in ways:
        assert rose.grad(bound)(2.0) == pytest.approx(slope)
        assert rose.vmap(rose.grad(bound))(np.full(2, 2.0)) == pytest.approx([slope, slope])
        assert rose.vjp(bound, 2.0)[1](1.0)[0] == pytest.approx(slope)
    g = rose.grad(ways[0])
    assert g(2.0, **{parameter: value}) == pytest.approx(slope) if name in ("array", "list") else True
    assert f"{parameter}={value!r}" in str(g.__signature__).replace("\n", "")


def test_a_change_of_what_a_partial_binds_is_seen():
    grid, weights = Grid(), np.ones(2)
    bound = functools.partial(lambda p, grid, w: p * grid.n * w.sum(), grid=grid, w=weights)
    gradient = rose.grad(bound)
    assert gradient(1.0) == 8.0
    grid.n = 5
    assert gradient(1.0) == 10.0
    weights[0] = 2.0
    assert gradient(1.0) == 15.0
    bound.keywords["grid"] = Grid(1)
    assert gradient(1.0) == 3.0
    with pytest.raises(rose.NotDifferentiable, match=r"that `functools\.partial` binds"):
        rose.grad(bound, argnums="w")(1.0)
    assert rose.grad(bound, argnums="w")(1.0, w=weights).tolist() == [1.0, 1.0]


def test_a_hint_of_an_array_converts_what_a_partial_binds():
    def dot(x: Vec["n"], k: Vec["n"]) -> float:
        return (x * k).sum()

    assert rose.grad(functools.partial(dot, k=[1, 2]))([1, 2]).tolist() == [1.0, 2.0]
    with pytest.raises(rose.ShapeError):
        rose.grad(functools.partial(dot, k=[1, 2]))([1, 2, 3])


STAGED_INSIDE = {
    "keyword": lambda x, k: rose.grad(functools.partial(lambda p, k: p * p * k, k=k))(x),
    "position": lambda x, k: rose.grad(functools.partial(lambda k, p: p * p * k, k))(x),
    "in an array": lambda x, k: rose.grad(functools.partial(lambda p, a: p * p * a.sum(), a=k * np.ones(1)))(x),
    "in a list": lambda x, k: rose.grad(functools.partial(lambda p, a: p * p * a[0], a=[k]))(x),
    "method": lambda x, k: rose.grad(Spring(2.0 * k).energy)(x),
    "object": lambda x, k: rose.grad(functools.partial(Spring(k), y=2.0 * x))(x),
    "vmap": lambda x, k: rose.vmap(functools.partial(lambda p, k: 2.0 * p * k, k=k))(x * np.ones(2)).sum() / 2.0,
}


@pytest.mark.parametrize("name", STAGED_INSIDE)
def test_staged_values_are_bound_in_staged_code(name):
    assert rose.value_and_grad(STAGED_INSIDE[name], argnums=(0, 1))(2.0, 3.0) == (12.0, (6.0, 4.0))


def test_defaults_and_what_is_bound_are_saved(tmp_path):
    def scale(x, n=3):
        return x * n

    for f in (scale, functools.partial(scale, n=3), functools.partial(lambda x, grid: x * grid.n, grid=Grid(3))):
        compiled = rose.jit(f).lower(1.0).compile()
        compiled.save(tmp_path / "scale.rose")
        assert rose.load(tmp_path / "scale.rose")(2.0) == compiled(2.0) == 6.0


def kept_by_method():
    class Log:
        def __init__(self) -> None:
            self.lines = []

        def energy(self, x):
            self.lines.append(x)
            return x * x

    log = Log()
    return log.energy, log.lines


def kept_by_partial():
    lines = []

    def energy(lines, x):
        lines.append(x)
        return x * x

    return functools.partial(energy, lines), lines


@pytest.mark.parametrize("make", [kept_by_method, kept_by_partial])
def test_no_staged_value_stays_in_what_is_bound(make):
    energy, lines = make()
    for gradient in (rose.grad(energy), rose.grad(lambda x: energy(x))):
        with pytest.raises(rose.UnsupportedSyntax, match=r"lines\.append\(x\)"):
            gradient(2.0)
        assert lines == []
