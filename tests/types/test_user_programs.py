"""Programs as users write them, for type checkers: `tests/types/check.py` says that mypy and pyright find an error in
each line that is marked `# wrong`, and in no other. The right ones run."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import rosejit as rose
from rosejit import Array, Mat, Vec

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value, _):
        return value


@dataclass
class Ball:
    x: float
    v: float


@rose.jit
def scaled(x: float, y: float, times: int = 2) -> float:
    return x * y * times


@rose.jit(fastmath=True, name="swift")
def step(ball: Ball, dt: float) -> Ball:
    return Ball(ball.x + dt * ball.v, scaled(ball.v, 1))


@rose.jit
def energy(x: Vec["n"], m: Mat["n", 3], scale: float) -> float:
    total = x @ x
    for i in rose.range(len(x)):
        total += scaled(x[i], m[i, 0]) + rose.sin(x[i]) + math.exp(m[i][1])
    return total * scale


@rose.jit
def doubled(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    for i in rose.range(len(x)):
        y[i] = 2.0 * x[i]
    return y


@rose.jit
def shifted(x: rose.Vec[3], by: rose.Array["n", int], k: rose.Static[int]) -> rose.Array[..., float]:
    y = x + rose.exp(x)
    y[0] += by[k]
    return y


@rose.jit
def with_extra(x: float) -> tuple[float, int]:
    return x * x, 3


def plain(x: float, y: int) -> float:
    return x * x * y


@rose.opaque
def logarithm(x: float) -> float:
    return math.log(x)


@logarithm.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(logarithm(x.re), x.du / x.re)


@rose.jit
def sine(x: float) -> float:
    return rose.sin(x)


@sine.jvp
def _(x: rose.Dual) -> rose.Dual:
    slope = rose.cos(x.re)
    return rose.Dual(rose.sin(x.re), x.du * slope)


class Spring:
    def __init__(self, stiffness: float) -> None:
        self.stiffness = stiffness

    @rose.jit
    def pull(self, x: float) -> float:
        return self.stiffness * x


@dataclass
class Fit:
    loss: rose.Function[[float, float], float]
    any_loss: rose.Function


def takes_an_array(x: NDArray[np.float64]) -> float:
    return float(x.sum())


def takes_a_function(f: Callable[[float, float], float]) -> float:
    return f(2.0, 3.0)


X, M = np.array([1.0, 2.0, 3.0]), np.ones((3, 3))


def test_calls() -> None:
    assert_type(scaled(2, 3), float)
    assert_type(scaled(np.float64(1), y=2.5), float)
    assert_type(step(Ball(1.0, 2.0), 0.5), Ball)
    assert_type(energy(X, M, 1.0), float)
    assert_type(energy([1.0, 2.0], ((1.0, 2.0, 3.0), [4, 5, 6]), 1), float)
    assert_type(with_extra(2.0), tuple[float, int])
    assert_type(Spring(3.0).pull(2.0), float)
    assert_type(Fit(lambda_free, scaled).loss(1.0, 2.0), float)
    assert_type(logarithm(2.0), float)
    assert takes_an_array(doubled(X)) == 12.0
    assert takes_a_function(scaled) == 12.0
    assert shifted(X, np.array([1, 2]), 1).shape == (3,)
    assert doubled(doubled(X)).tolist() == [4.0, 8.0, 12.0]


@rose.jit
def lambda_free(x: float, y: float) -> float:
    return x - y


def test_gradients() -> None:
    assert_type(rose.grad(scaled)(2, y=3), float)
    assert_type(rose.grad(scaled)(x=2.0, y=3.0, times=1), float)
    assert_type(rose.grad(scaled, (0, 1))(2.0, 3.0), tuple[float, float])
    assert_type(rose.grad(energy)(X, M, 1.0), Vec)
    assert_type(rose.grad(energy, 1)(X, M, 1.0), Mat)
    assert_type(rose.grad(energy, argnums=(0, 1, 2))(X, M, 1.0), tuple[Vec, Mat, float])
    assert_type(rose.grad(energy, "scale")(X, M, 1.0), Any)
    assert_type(rose.grad(rose.grad(plain))(3.0, 2), float)
    assert_type(rose.jit(rose.grad(plain))(3.0, y=2), float)
    assert_type(rose.grad(with_extra, has_aux=True)(2.0), tuple[float, int])
    assert_type(rose.value_and_grad(energy)(X, M, 1.0), tuple[float, Vec])
    assert_type(rose.value_and_grad(scaled, (0, 1))(2.0, 3.0), tuple[float, tuple[float, float]])
    assert_type(rose.value_and_grad(with_extra, has_aux=True)(2.0), tuple[tuple[float, int], float])
    assert_type(rose.checkpoint(scaled)(2.0, 3.0), float)
    assert takes_an_array(rose.grad(energy)(X, M, 1.0)) > 0.0


def test_matrices_of_derivatives() -> None:
    assert_type(rose.jacobian(doubled)(X), Mat)
    assert_type(rose.jacfwd(scaled)(2.0, 3.0), float)
    assert_type(rose.jacrev(doubled)(X)[0, 0], float)
    assert_type(rose.hessian(energy)(X, M, 1.0), Mat)
    assert_type(rose.hessian(scaled)(2.0, 3.0), float)
    assert_type(rose.hvp(energy)(X, X, M, 1.0), Vec)


def test_linear_maps() -> None:
    value, pullback = rose.vjp(scaled, 2.0, 3.0)
    assert_type(value, float)
    assert_type(pullback(1.0), tuple[float, float])
    value, pushforward = rose.linearize(plain, 2.0, 3)
    assert_type(pushforward(1.0, 0), float)
    assert_type(rose.jvp(scaled, (2.0, 3.0), (1.0, 0.0)), tuple[float, float])
    assert_type(rose.jvp(energy, (X, M, 1.0), (X, M, 0.0)), tuple[float, float])


def test_batches() -> None:
    assert_type(rose.vmap(scaled)(X, X), Vec)
    assert_type(rose.vmap(doubled)(M), Mat)
    assert_type(rose.vmap(rose.grad(energy), in_axes=(0, None, None))(M, M, 1.0), Mat)


def test_numbers() -> None:
    assert_type(rose.sqrt(4), float)
    assert_type(rose.isnan(2.0), bool)
    assert_type(rose.stop_gradient(Ball(1.0, 2.0)), Ball)
    assert takes_an_array(rose.exp(X)) > 0.0


def wrong_programs() -> None:
    """Never run."""
    scaled("wrong", 2.0)  # wrong
    scaled(1.0)  # wrong
    scaled(1.0, z=2.0)  # wrong
    scaled(1.0, 2.0, 2.5)  # wrong
    step(1.0, 2.0)  # wrong
    energy("wrong", M, 1.0)  # wrong
    energy(2.0, M, 1.0)  # wrong
    energy(M.tolist(), [1.0, 2.0], 1.0)  # wrong
    shifted(X, X, 1.5)  # wrong
    rose.grad(scaled)("wrong", 2.0)  # wrong
    rose.grad(scaled)(1.0, 2.0).shape  # wrong
    rose.grad(scaled, (0, 1))(1.0, 2.0)[2]  # wrong
    rose.value_and_grad(scaled)(1.0, 2.0) + 1.0  # wrong
    rose.hessian(energy)(X, 2.0, 1.0)  # wrong
    rose.vjp(scaled, "wrong", 2.0)  # wrong
    rose.vjp(scaled, 1.0, 2.0)[1]("wrong")  # wrong
    rose.jit(3)  # wrong
    rose.jit(scaled, fast=True)  # wrong
    rose.grad(2.0)  # wrong
    rose.grad(scaled, 0.5)  # wrong
    rose.sqrt(1.0).real.shape  # wrong
    Spring(2.0).pull("wrong")  # wrong
    Fit(energy, scaled)  # wrong
    takes_a_function(energy)  # wrong
    array: Array["n", int] = 3  # wrong
    del array


@rose.jit
def wrong_result(x: float) -> float:
    return str(x)  # wrong
