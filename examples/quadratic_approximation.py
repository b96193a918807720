"""The local quadratic approximation of `x ** y`: listings 2 and 3 of the Rose paper.

The power is defined twice: once as an opaque host function with a custom derivative, as the paper does, and once with
Python's own operator. Only first derivatives are ever written down; the Hessian follows from them.
"""

import math
from typing import NamedTuple

import rosejit as rose


@rose.opaque
def log(x: float) -> float:
    return math.log(x)


@log.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(log(x.re), x.du / x.re)


@rose.opaque
def power(x: float, y: float) -> float:
    return math.pow(x, y)


@power.jvp
def _(x: rose.Dual, y: rose.Dual) -> rose.Dual:
    z = power(x.re, y.re)
    dw = x.du * (y.re / x.re) + y.du * log(x.re)
    return rose.Dual(z, dw * z)


@rose.jit
def builtin_power(x: float, y: float) -> float:
    return x**y


class Shape(NamedTuple):
    """Value, gradient and Hessian of a function of two numbers at one point."""

    z: float
    g: tuple[float, float]
    h: tuple[tuple[float, float], tuple[float, float]]

    def at(self, dx: float, dy: float) -> float:
        """The quadratic approximation, (dx, dy) away from the point."""
        (gx, gy), ((hxx, hxy), (hyx, hyy)) = self.g, self.h
        return self.z + gx * dx + gy * dy + (hxx * dx * dx + (hxy + hyx) * dx * dy + hyy * dy * dy) / 2


@rose.jit
def opaque_shape(x: float, y: float) -> Shape:
    return Shape(power(x, y), rose.grad(power, (0, 1))(x, y), rose.hessian(power, (0, 1))(x, y))


@rose.jit
def builtin_shape(x: float, y: float) -> Shape:
    return Shape(builtin_power(x, y), rose.grad(builtin_power, (0, 1))(x, y), rose.hessian(builtin_power, (0, 1))(x, y))


def flat(shape: Shape) -> list[float]:
    return [shape.z, *shape.g, *shape.h[0], *shape.h[1]]


if __name__ == "__main__":
    expected = [8, 12, 5.545177444479562, 12, 12.317766166719343, 12.317766166719343, 3.843624111345611]
    for name, shape in (("opaque", opaque_shape(2.0, 3.0)), ("built-in", builtin_shape(2.0, 3.0))):
        print(f"x ** y at (2, 3), {name}:\n  value    {shape.z}\n  gradient {shape.g}\n  Hessian  {shape.h}")
        assert all(math.isclose(a, b, rel_tol=1e-14) for a, b in zip(flat(shape), expected, strict=True))

    print("distance   x ** y             approximation      error / distance ** 3")
    shape = builtin_shape(2.0, 3.0)
    for distance in (0.1, 0.01, 0.001):
        true, near = (2 + distance) ** (3 + distance), shape.at(distance, distance)
        print(f"{distance:<8}   {true:<16.14g}   {near:<16.14g}   {(true - near) / distance**3:.4f}")
        assert abs(true - near) < 18 * distance**3

    z, (dx, dy), _ = builtin_shape(-1.0, 2.0)
    assert (z, dx) == (1.0, -2.0)
    assert math.isnan(dy)  # no real power of -1 near 2
