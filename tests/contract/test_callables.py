"""`rose.jit` and all derivatives take whatever can be called, as their users expect of functions."""

import functools
import math
import pickle
import types
import weakref

import numpy as np
import pytest

import rosejit as rose


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
