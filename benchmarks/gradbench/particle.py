"""`particle`: the charge that steers a particle to the origin; a derivative of a path that follows derivatives.

The first letter of a mode says how the cost of the path is differentiated, the second how the potential is, on the way:
`f` forward, `r` reverse.
"""

import math
from typing import Any

import rosejit as rose
from benchmarks.gradbench.task import Task


def forward(f: Any) -> Any:
    """The derivative of a function of one number, by its tangent."""
    return lambda x: rose.jvp(f, (x,), (1.0,))[1]


def distance(x, y, charge_x, charge_y):
    return math.sqrt((x - charge_x) ** 2 + (y - charge_y) ** 2)


@rose.jit
def potential(x: float, y: float, w: float) -> float:
    return 1.0 / distance(x, y, 10.0, 10.0 - w) + 1.0 / distance(x, y, 10.0, 0.0)


@rose.jit
def slope_reverse(x: float, y: float, w: float) -> tuple[float, float]:
    return rose.grad(potential, argnums=(0, 1))(x, y, w)


@rose.jit
def slope_forward(x: float, y: float, w: float) -> tuple[float, float]:
    return forward(lambda x: potential(x, y, w))(x), forward(lambda y: potential(x, y, w))(y)


def mode(outer: Any, slope: Any) -> Any:
    """The whole computation, with its two ways of differentiating."""

    @rose.jit
    def cost(w: float) -> float:
        x, y, vx, vy, dt = 0.0, 8.0, 0.75, 0.0, 0.1
        while True:
            ax, ay = slope(x, y, w)
            x += dt * vx
            y += dt * vy
            if y <= 0.0:
                return (x - y / vy * vx) ** 2
            vx -= dt * ax
            vy -= dt * ay

    derivative = outer(cost)

    @rose.jit
    def argmin(x: float) -> float:
        fx, g = cost(x), derivative(x)
        eta, i = 1e-5, 0
        while abs(g) > 1e-5:
            if i == 10:
                eta *= 2.0
                i = 0
                continue
            step = x - eta * g
            if abs(x - step) <= 1e-5:
                return x
            f_step = cost(step)
            if f_step < fx:
                x, fx, g = step, f_step, derivative(step)
                i += 1
            else:
                eta /= 2.0
                i = 0
        return x

    return argmin


def arguments(given: dict[str, Any]) -> tuple[float]:
    return (float(given["w"]),)


FUNCTIONS = {
    first + second: Task(mode(outer, slope), arguments)
    for first, outer in (("r", rose.grad), ("f", forward))
    for second, slope in (("r", slope_reverse), ("f", slope_forward))
}
