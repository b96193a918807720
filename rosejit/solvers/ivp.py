"""Initial value problems of ordinary differential equations: solutions that are differentiable by all that is read."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rosejit.api.public_entry import public
from rosejit.api.vectors import flat, unflat
from rosejit.errors import StagingTypeError
from rosejit.frontend.values.pytree import parts, with_parts
from rosejit.numeric import np
from rosejit.solvers.programs import checked, option, real, solve, vector
from rosejit.solvers.runge_kutta import integrate

MESSAGES = {
    0: "the end of the interval was reached",
    -1: "the step that the tolerances ask for is smaller than the spacing of numbers",
    -2: "the function is infinite or no number where it begins",
    -3: "the limit of steps was reached",
}


@dataclass(frozen=True)
class OdeResult:
    """The solution of an initial value problem at some times."""

    t: Any
    """`t_eval`, or the ends of the interval."""
    y: Any
    """The state at these times, structured as `y0` (a dict for a class, whose fields may be hinted as numbers): the
    times are the last axis of each number and array. NaN at times that were not reached."""
    success: Any
    status: Any
    nfev: Any
    nit: Any
    """How many steps were tried."""

    @property
    def message(self) -> str:
        """`status` in words."""
        return MESSAGES[int(self.status)]


@public
def solve_ivp(
    f: Callable[..., Any],
    t_span: tuple[Any, Any],
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    *,
    args: tuple[Any, ...] = (),
    rtol: float = 1e-3,
    atol: float = 1e-6,
    max_steps: int = 10_000,
    raise_on_failure: bool = False,
) -> OdeResult:
    """The solution of dy/dt = `f(t, y, *args)` from `y0` at the first time of `t_span` to the second.

    By the method of Dormand and Prince ("RK45"), with SciPy's step control. `y0` is an array, a number or a structure
    of them, and `f` gives its derivative in the same structure. `t_eval` are the times, in order, at which the solution
    is wanted. Derivatives are those of the steps that were taken (discrete adjoint), their lengths held fixed.

    >>> import math
    >>> import rosejit as rose
    >>> decay = rose.solve_ivp(lambda t, y, rate: -rate * y, (0.0, 1.0), 1.0, args=(2.0,), rtol=1e-8, atol=1e-10)
    >>> bool(abs(decay.y[-1] - math.exp(-2.0)) < 1e-8)
    True
    """
    option(solve_ivp, "method", method, ("RK45",))
    options = (float(rtol), float(atol), int(max_steps))
    start, end = t_span

    def build(base):
        def solved(start, end, y0, t_eval, args):
            return _solution(base, real(start), real(end), real(y0), t_eval, args, options)

        return solved

    found = solve(solve_ivp, f, build, (start, end, y0, t_eval, args), method, *options)
    return checked(solve_ivp, found, raise_on_failure)


def _solution(base, start, end, y0, t_eval, args, options):
    """The solution for a state that is a structure."""

    def slope(t, v):
        return vector(base(t, unflat(y0, v), *args))

    v0 = flat(y0)
    if len(slope(start, v0)) != len(v0):
        raise StagingTypeError(
            f"the function gives {len(slope(start, v0))} derivatives for a state of {len(v0)} numbers",
            help="return the derivative in the structure of the state",
        )
    times = np.array([start, end]) if t_eval is None else 1.0 * vector(t_eval)
    found, status, tried, nfev = integrate(slope, start, end, v0, times, *options)
    return OdeResult(times, _over_time(y0, found), status == 0, status, nfev, tried)


def _over_time(like, found):
    """`found`, a row for each time, as the structure `like` with the times as last axes."""
    return _columns(like, found.T, 0)[0]


def _columns(like: Any, table: Any, first: int) -> tuple[Any, int]:
    """The structure with its numbers from the rows of `table` from `first` on, and where they end."""
    inside = parts(like)
    if inside is not None:
        made = []
        for part in inside:
            value, first = _columns(part, table, first)
            made.append(value)
        names = _fields(like)
        return (dict(zip(names, made, strict=True)) if names else with_parts(like, made)), first
    leaf = getattr(like, "leaf", None)
    if leaf is None or "real" not in (leaf.kind, leaf.element if leaf.kind == "array" else ""):
        return like, first
    if leaf.kind != "array":
        return table[first], first + 1
    end = first + math.prod(leaf.shape)
    return table[first:end].reshape((*leaf.shape, table.shape[1])), end


def _fields(like: Any) -> tuple[str, ...]:
    """The names of the fields of a dataclass or a named tuple."""
    return tuple(getattr(like, "__dataclass_fields__", getattr(like, "_fields", ())))
