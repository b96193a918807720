"""The calls of section 3 of the contract, with structures, auxiliary values, names, and inside staged code."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Layer:
    weight: Vec["n"]
    bias: float
    power: int = 2


@rose.jit
def product(x: float, y: float, n: int = 2) -> float:
    return x * x * y * n


@rose.jit
def layer(p: Layer, x: Vec["n"]) -> float:
    s = p.bias
    for i in rose.range(len(x)):
        s += p.weight[i] * x[i]
    return s * s


@rose.jit
def polar(p: Point) -> Point:
    return Point(math.hypot(p.x, p.y), math.atan2(p.y, p.x))


@rose.jit
def linear(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
    return [sum(a[i, j] * x[j] for j in rose.range(len(x))) for i in rose.range(a.shape[0])]


W, X = np.array([0.5, -1.0]), np.array([2.0, 3.0])


# --- grad, value_and_grad


def test_argnums():
    assert rose.grad(product)(3.0, 2.0) == 24.0
    assert rose.grad(product, 1)(3.0, 2.0) == 18.0
    assert rose.grad(product, -2)(3.0, 2.0) == 18.0
    assert rose.grad(product, argnums="y")(3.0, 2.0) == 18.0
    assert rose.grad(product, (0, 1))(3.0, 2.0) == (24.0, 18.0)
    assert rose.grad(product, (1, 0))(3.0, 2.0) == (18.0, 24.0)
    assert rose.grad(product, ("y", 0))(3.0, 2.0) == (18.0, 24.0)
    assert rose.grad(product, (0,))(3.0, 2.0) == (24.0,)


def test_argnums_as_numpy_and_lists_write_them():
    assert rose.grad(product, np.int64(1))(3.0, 2.0) == 18.0
    assert rose.grad(product, [np.int32(-2), 0])(3.0, 2.0) == (18.0, 24.0)
    assert rose.jacfwd(product, np.uint8(1))(3.0, 2.0) == 18.0
    for wrong in (True, np.True_, 1.0, None, range(1), np.array([1])):  # also what is equal to one that was taken
        with pytest.raises(rose.NotDifferentiable, match="`argnums` is a number"):
            rose.grad(product, wrong)(3.0, 2.0)


def test_argnums_count_what_is_given_to_star_args():
    def product(*xs: float, power: int = 1) -> float:
        return xs[0] * xs[1] * xs[2] ** power

    assert rose.grad(product)(2.0, 3.0, 4.0) == 12.0
    assert rose.grad(product, argnums=(0, 2))(2.0, 3.0, 4.0) == (12.0, 6.0)
    assert rose.grad(product, argnums="xs")(2.0, 3.0, 4.0, power=2) == (48.0, 32.0, 48.0)
    assert rose.jacrev(product, argnums=2)(2.0, 3.0, 4.0) == 6.0
    assert rose.hessian(product, argnums=1)(2.0, 3.0, 4.0) == 0.0
    with pytest.raises(rose.NotDifferentiable, match=r"`xs\[2\]`"):
        rose.grad(product, argnums=7)(2.0, 3.0, 4.0)


def test_host_values_stay_host_values_in_all_modes():
    @rose.jit
    def power(x: float, k: rose.Static[int]) -> float:
        for _ in range(k):
            x = x * x
        return x

    for tangents in ((3.0, None), (3.0, 0.0)):
        assert rose.jvp(power, (2.0, 2), tangents) == (16.0, 96.0)
    assert rose.linearize(power, 2.0, 2)[1](3.0, None) == 96.0
    assert rose.vjp(power, 2.0, 2)[1](1.0)[0] == 32.0


def test_defaults_and_keywords():
    assert rose.grad(product)(3.0, 2.0, 1) == 12.0
    assert rose.grad(product)(3.0, y=2.0, n=1) == 12.0
    assert rose.grad(product)(y=2.0, x=3.0) == 24.0


def test_gradients_have_the_structure_of_the_argument():
    gradient = rose.grad(layer)(Layer(W, 1.5), X)
    assert isinstance(gradient, Layer)
    assert gradient.weight.tolist() == [-2.0, -3.0]
    assert gradient.bias == -1.0
    assert gradient.power == 0
    dp, dx = rose.grad(layer, (0, 1))(Layer(W, 1.5), X)
    assert dx.tolist() == [-0.5, 1.0]
    assert dp.bias == -1.0


def test_gradients_of_lists_and_dicts():
    f = rose.jit(lambda p: p["a"] * p["b"][0] + p["b"][1] ** 2)
    assert rose.grad(f)({"a": 2.0, "b": [3.0, 4.0]}) == {"a": 3.0, "b": [2.0, 8.0]}


def test_value_and_gradient():
    value, gradient = rose.value_and_grad(product)(3.0, 2.0)
    assert (value, gradient) == (36.0, 24.0)
    assert type(value) is float
    assert rose.value_and_grad(product, (0, 1))(3.0, 2.0) == (36.0, (24.0, 18.0))


def test_auxiliary_results():
    @rose.jit
    def loss(x: float) -> tuple[float, dict[str, float]]:
        y = x * x
        return y * x, {"square": y, "n": 1}

    assert rose.grad(loss, has_aux=True)(3.0) == (27.0, {"square": 9.0, "n": 1})
    assert rose.value_and_grad(loss, has_aux=True)(3.0) == ((27.0, {"square": 9.0, "n": 1}), 27.0)


def test_unused_arguments_have_gradient_zero():
    f = rose.jit(lambda x, v, y: x * 2.0)
    assert rose.grad(f, (0, 2))(1.0, X, 3.0) == (2.0, 0.0)
    assert rose.grad(f, 1)(1.0, X, 3.0).tolist() == [0.0, 0.0]
    constant = rose.jit(lambda x: 3.0)
    assert rose.grad(constant)(1.0) == 0.0
    assert rose.grad(rose.grad(constant))(1.0) == 0.0


def test_gradients_are_functions():
    gradient = rose.grad(product, (0, 1))
    twice = rose.jit(lambda x, y: gradient(x, y)[0] * 2.0)
    assert twice(3.0, 2.0) == 48.0
    assert rose.grad(twice)(3.0, 2.0) == 16.0
    assert rose.grad(lambda x, y: rose.grad(product)(x, y), 1)(3.0, 2.0) == 12.0


# --- jvp, vjp, linearize


def test_jvp():
    assert rose.jvp(product, (3.0, 2.0), (1.0, 0.0)) == (36.0, 24.0)
    assert rose.jvp(product, (3.0, 2.0), (0.5, -1.0)) == (36.0, 12.0 - 18.0)
    y, dy = rose.jvp(polar, (Point(3.0, 4.0),), (Point(1.0, 0.0),))
    assert y == pytest.approx(Point(5.0, math.atan2(4.0, 3.0)))
    assert isinstance(dy, Point)
    assert dy == pytest.approx((0.6, -0.16))
    y, dy = rose.jvp(linear, (np.eye(2), X), (np.ones((2, 2)), np.array([1.0, 0.0])))
    assert y.tolist() == [2.0, 3.0]
    assert dy.tolist() == [6.0, 5.0]


def test_vjp():
    y, pullback = rose.vjp(product, 3.0, 2.0)
    assert y == 36.0
    assert pullback(1.0) == (24.0, 18.0)
    assert pullback(-2.0) == (-48.0, -36.0)
    y, pullback = rose.vjp(polar, Point(3.0, 4.0))
    (ct,) = pullback(Point(1.0, 0.0))
    assert isinstance(ct, Point)
    assert ct == pytest.approx((0.6, 0.8))
    y, pullback = rose.vjp(linear, np.eye(2), X)
    da, dx = pullback(np.array([1.0, 2.0]))
    assert da.tolist() == [[2.0, 3.0], [4.0, 6.0]]
    assert dx.tolist() == [1.0, 2.0]


def test_linearize():
    y, pushforward = rose.linearize(linear, np.eye(2), X)
    assert y.tolist() == [2.0, 3.0]
    assert pushforward(np.zeros((2, 2)), np.array([1.0, -1.0])).tolist() == [1.0, -1.0]
    assert pushforward(np.ones((2, 2)), np.zeros(2)).tolist() == [5.0, 5.0]


def test_the_forward_pass_runs_once():
    runs = []

    @rose.opaque
    def counted(x: float) -> float:
        runs.append(x)
        return x

    counted.jvp = lambda x: rose.Dual(counted(x.re), x.du)
    f = rose.jit(lambda x: counted(x) * x)
    _, pullback = rose.vjp(f, 3.0)
    assert runs == [3.0]
    assert [pullback(k) for k in (1.0, 2.0)] == [(6.0,), (12.0,)]
    assert runs == [3.0]
    _, pushforward = rose.linearize(f, 4.0)
    assert [pushforward(k) for k in (1.0, 2.0)] == [8.0, 16.0]
    assert runs == [3.0, 4.0]


def test_linear_maps_inside_staged_code():
    @rose.jit
    def inside(x: Vec["n"]) -> float:
        y, pullback = rose.vjp(layer, Layer(x, 1.0), x)
        dp, dx = pullback(2.0)
        _, pushforward = rose.linearize(product, x[0], x[1])
        return y + dp.weight[0] + dx[1] + pushforward(1.0, 2.0) + rose.jvp(product, (x[0], x[1]), (1.0, 2.0))[1]

    a, b = 0.5, 2.0
    s = 1.0 + a * a + b * b
    tangent = 2 * (2 * a * b + 2 * a * a)
    assert inside([a, b]) == pytest.approx(s * s + 4 * s * a + 4 * s * b + 2 * tangent)
    rose.check_grads(inside, (np.array([a, b]),), order=2)


# --- Jacobians, Hessians


@pytest.mark.parametrize("mode", [rose.jacfwd, rose.jacrev, rose.jacobian])
def test_jacobians(mode):
    a = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert mode(linear, 1)(a, X).tolist() == a.tolist()
    da = mode(linear)(a, X)
    assert da.shape == (3, 3, 2)
    assert np.array_equal(da, np.einsum("ik,j->ikj", np.eye(3), X))
    da, dx = mode(linear, (0, 1))(a, X)
    assert dx.tolist() == a.tolist()
    assert da.shape == (3, 3, 2)
    assert mode(product, (0, 1))(3.0, 2.0) == (24.0, 18.0)
    found = mode(polar)(Point(3.0, 4.0))
    assert isinstance(found, Point)
    assert np.array(found) == pytest.approx(np.array([[0.6, 0.8], [-0.16, 0.12]]))


def test_hessians():
    assert rose.hessian(product)(3.0, 2.0) == 8.0
    assert rose.hessian(product, (0, 1))(3.0, 2.0) == ((8.0, 12.0), (12.0, 0.0))
    f = rose.jit(lambda x: sum(x[i] * x[i] * x[(i + 1) % len(x)] for i in rose.range(len(x))))
    x = np.array([1.0, 2.0, 3.0])
    wanted = [[4.0, 2.0, 6.0], [2.0, 6.0, 4.0], [6.0, 4.0, 2.0]]
    assert rose.hessian(f)(x).tolist() == wanted
    v = np.array([1.0, -1.0, 0.5])
    assert rose.hvp(f)(x, v).tolist() == (np.array(wanted) @ v).tolist()


def test_hessian_vector_products():
    f = rose.jit(lambda x: x[0] ** 2 * x[1])
    assert rose.hvp(f)(np.array([3.0, 2.0]), np.array([1.0, 0.0])).tolist() == [4.0, 6.0]


def test_hessians_are_functions():
    f = rose.jit(lambda x: math.sin(x) * x)
    # f'' = 2 cos x - x sin x, f''' = -3 sin x - x cos x
    wanted = -3 * math.sin(0.7) - 0.7 * math.cos(0.7)
    assert rose.grad(rose.hessian(f))(0.7) == pytest.approx(wanted, rel=1e-13)


# --- stop_gradient, check_grads


def test_stop_gradient():
    f = rose.jit(lambda x: rose.stop_gradient(x) * x)
    assert (f(3.0), rose.grad(f)(3.0), rose.grad(rose.grad(f))(3.0)) == (9.0, 3.0, 0.0)
    g = rose.jit(lambda x: rose.stop_gradient(x)[0] * x[1])
    assert rose.grad(g)(np.array([3.0, 4.0])).tolist() == [0.0, 3.0]
    assert rose.stop_gradient(2.0) == 2.0


def test_check_grads_accepts_what_is_right():
    for f, args in (
        (product, (3.0, 2.0)),
        (layer, (Layer(W, 1.5), X)),
        (polar, (Point(3.0, 4.0),)),
        (linear, (np.eye(2), X)),
    ):
        rose.check_grads(f, args, order=2)
        rose.check_grads(f, args, order=1, modes=("fwd",))
        rose.check_grads(f, args, order=1, modes=("rev",))


def test_check_grads_refuses_what_is_wrong():
    @rose.jit
    def f(x: float) -> float:
        return x * x

    f.jvp = lambda x: rose.Dual(f(x.re), 3.0 * x.re * x.du)
    for modes in (("fwd",), ("rev",), ("fwd", "rev")):
        with pytest.raises(AssertionError):
            rose.check_grads(f, (1.5,), order=1, modes=modes)


def test_check_grads_passes_no_nan():
    """One that is not compared: the largest of errors is found among numbers, and NaN is greater than none."""
    f = lambda x, y: (y * y, math.sqrt(x) * 0.0)  # the slope of sqrt at 0 is infinite
    for modes in [(), ("fwd",), ("rev",), ("fwd", "rev")]:
        with pytest.raises(rose.RoseAssertionError):
            rose.check_grads(f, (0.0, 2.0), order=1, modes=modes)


@pytest.mark.parametrize("modes", ["fwd", ("forward",), ("fwd", "reverse")])
def test_check_grads_knows_its_modes(modes):
    with pytest.raises(rose.StagingTypeError, match="knows no modes"):
        rose.check_grads(lambda x: x, (1.0,), modes=modes)


def test_derivatives_at_kinks():
    """The derivative of the argument that is returned."""
    slope = lambda f, *x: rose.grad(rose.jit(f), tuple(range(len(x))))(*x)
    assert slope(lambda x: abs(x), 0.0) == (0.0,)
    assert slope(lambda x, y: max(x, y), 1.0, 1.0) == (1.0, 0.0)
    assert slope(lambda x, y: min(x, y), 1.0, 1.0) == (1.0, 0.0)
    assert slope(lambda x, y: np.maximum(x, y), 1.0, 1.0) == (1.0, 0.0)
    assert slope(lambda x: math.sqrt(x), 0.0) == (math.inf,)
    assert slope(lambda x: math.floor(x) + round(x) + int(x) + math.ceil(x) + (x > 1.0) + 0.5, 1.3) == (0.0,)
    assert slope(lambda x: x**3 + x**1 + x**0, 0.0) == (1.0,)
    assert slope(lambda x, y: x if x > y else y, 1.0, 1.0) == (0.0, 1.0)


def test_numbers_without_a_derivative_in_structures_of_jacobians():
    """Each stands once, as a zero of its kind."""
    p = Layer(W, 0.25, 3)
    for one in (rose.jacfwd, rose.jacrev, rose.jacobian):
        found = one(layer)(p, X)
        assert found.power == 0
        assert found.bias == pytest.approx(2 * (W @ X + 0.25))
    second = rose.hessian(layer)(p, X)
    np.testing.assert_allclose(second.weight.weight, 2 * np.outer(X, X), rtol=1e-14)
    np.testing.assert_allclose(second.weight.bias, 2 * X, rtol=1e-14)
    np.testing.assert_allclose(second.bias.weight, 2 * X, rtol=1e-14)
    assert (second.bias.bias, second.bias.power, second.weight.power, second.power) == (2.0, 0, 0, 0)


def test_an_untaken_side_poisons_nothing():
    f = rose.jit(lambda x: math.sqrt(x) if x > 0.0 else 0.0)
    assert rose.grad(f)(0.0) == 0.0
    assert rose.grad(rose.grad(f))(-1.0) == 0.0

    @rose.jit
    def guarded(x: float, y: float) -> float:
        z = 1.0
        if y != 0.0:
            z = x / y
        return z * x

    assert rose.grad(guarded, (0, 1))(2.0, 0.0) == (1.0, 0.0)
