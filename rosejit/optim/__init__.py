"""Objectives to functions that find their minimum: whole optimisations that run, and leave Python, as one program."""

import operator
from collections.abc import Callable
from typing import Any

from rosejit.api.function import Function
from rosejit.api.public_entry import public
from rosejit.errors import RoseValueError, StagingTypeError
from rosejit.optim import curvature, descent, quasi_newton
from rosejit.optim.box import Bounds
from rosejit.optim.constrained import OptimizeResult, minimize
from rosejit.optim.solver import Minimum, Progress, solver
from rosejit.solvers.programs import amount

__all__ = ["Bounds", "Minimum", "OptimizeResult", "adam", "gradient_descent", "lbfgs", "minimize", "newton"]


@public
def gradient_descent(
    f: Callable[..., Any],
    rate: float = 0.01,
    *,
    momentum: float = 0.0,
    steps: int = 1000,
    tolerance: float = 1e-6,
    argnums: int | str = 0,
    progress: Progress | bool | None = None,
    history: bool = False,
    bounds: Any = None,
) -> Function:
    """A function of the arguments of `f` that follows the gradient down from the argument `argnums`.

    It ends after `steps`, or where no entry of the gradient is larger than `tolerance`, and gives a `Minimum`. The
    argument may be a number, an array or a structure of them. `progress(step, value, norm)` is called at every step
    (`True` prints them); `history=True` keeps the values. `bounds` are those of `minimize`, known before the call:
    each point is moved to the nearest one within them, and entries of the gradient that a bound holds do not count.

    >>> import rosejit as rose
    >>> found = rose.optim.gradient_descent(lambda x: (x - 3.0) ** 2, rate=0.4)(0.0)
    >>> round(found.x, 6), found.converged
    (3.0, True)
    """
    options = (float(rate), float(momentum), _whole("steps", steps), amount(gradient_descent, "tolerance", tolerance))
    return solver(gradient_descent, f, descent.descend, argnums, options, progress, history, bounds)


@public
def adam(
    f: Callable[..., Any],
    rate: float = 0.001,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
    steps: int = 1000,
    tolerance: float = 1e-6,
    argnums: int | str = 0,
    progress: Progress | bool | None = None,
    history: bool = False,
    bounds: Any = None,
) -> Function:
    """As `gradient_descent`, with the steps of Adam (Kingma and Ba, 2015).

    >>> import rosejit as rose
    >>> round(rose.optim.adam(lambda x: (x - 3.0) ** 2, rate=0.1)(0.0).x, 4)
    3.0
    """
    options = (
        float(rate),
        *map(float, betas),
        float(epsilon),
        _whole("steps", steps),
        amount(adam, "tolerance", tolerance),
    )
    return solver(adam, f, descent.adapt, argnums, options, progress, history, bounds)


@public
def lbfgs(
    f: Callable[..., Any],
    *,
    memory: int = 10,
    steps: int = 1000,
    tolerance: float = 1e-6,
    argnums: int | str = 0,
    progress: Progress | bool | None = None,
    history: bool = False,
    bounds: Any = None,
) -> Function:
    """As `gradient_descent`, with what the last `memory` steps tell of the curvature, and a line search.

    It also ends where no step along the slope satisfies the Wolfe conditions: at creases, where rounding is all that is
    left, and where the objective has no lower bound.

    >>> import rosejit as rose
    >>> found = rose.optim.lbfgs(lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2)([-1.2, 1.0])
    >>> [round(x, 6) for x in found.x], found.converged
    ([1.0, 1.0], True)
    """
    options = (_whole("memory", memory, least=1), _whole("steps", steps), amount(lbfgs, "tolerance", tolerance))
    return solver(lbfgs, f, quasi_newton.remember, argnums, options, progress, history, bounds)


@public
def newton(
    f: Callable[..., Any],
    *,
    steps: int = 100,
    tolerance: float = 1e-8,
    argnums: int | str = 0,
    progress: Progress | bool | None = None,
    history: bool = False,
    bounds: Any = None,
) -> Function:
    """As `lbfgs`, with the Hessian: few steps, each of which solves a dense system.

    >>> import rosejit as rose
    >>> found = rose.optim.newton(lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2)([-1.2, 1.0])
    >>> found.converged, found.steps < 30
    (True, True)
    """
    options = (_whole("steps", steps), amount(newton, "tolerance", tolerance))
    return solver(newton, f, curvature.solve_curvature, argnums, options, progress, history, bounds)


def _whole(name: str, value: int, least: int = 0) -> int:
    """An option that counts."""
    try:
        count = operator.index(value)
    except TypeError:
        raise StagingTypeError(f"`{name}` is an integer, given {value!r}") from None
    if count < least:
        raise RoseValueError(f"`{name}` is at least {least}, given {count}")
    return count
