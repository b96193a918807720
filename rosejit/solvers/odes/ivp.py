"""Initial value problems of ordinary differential equations: solutions that are differentiable by all that is read."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rosejit.api import sessions
from rosejit.api.decorators import as_function
from rosejit.api.public_entry import public
from rosejit.api.vectors import flat, in_order_of, unflat
from rosejit.errors import RoseValueError, StagingTypeError
from rosejit.numeric import np
from rosejit.solvers.fitting.fits import limits
from rosejit.solvers.odes.interpolants import OdeSolution, over_time
from rosejit.solvers.odes.ode_events import Occasions
from rosejit.solvers.odes.rosenbrock import Rosenbrock
from rosejit.solvers.odes.runge_kutta import EXPLICIT
from rosejit.solvers.odes.stepping import Control, integrate
from rosejit.solvers.programs import check, checked, option, real, several, solve, state, vector
from rosejit.solvers.scipy_keywords import takes_scipy_keywords

MESSAGES = {
    1: "a terminal event happened",
    0: "the end of the interval was reached",
    -1: "the step that the tolerances ask for is smaller than the spacing of numbers",
    -2: "the state or the function where it begins, or an end of the interval, is infinite or no number",
    -3: "the limit of steps was reached",
    -4: "the value of an event is infinite or no number",
    -5: "the times of `t_eval` are not in order, or not between the ends of the interval",
    -6: "an event happened more often than `max_events`",
}
METHODS = {**EXPLICIT, "Rodas5P": Rosenbrock()}
STIFF = ("Radau", "BDF", "LSODA")


NO_EVENTS = Occasions((), (), (), 0)


@dataclass(frozen=True)
class OdeResult:
    """The solution of an initial value problem at some times."""

    t: Any
    """`t_eval`, or the ends of the interval that was covered."""
    y: Any
    """The state at these times, structured as `y0` (a dict for a class, whose fields may be hinted as numbers): the
    times are the last axis of each number and array. NaN at times that were not reached."""
    sol: Any
    """The solution as a function of time, with `dense_output=True`."""
    t_events: Any
    """The times of each event. Their number is `max_events` in compiled code, the rest NaN; outside, as many as are."""
    y_events: Any
    """The states there: the times are the first axis."""
    success: Any
    status: Any
    nfev: Any
    njev: Any
    nlu: Any
    nit: Any
    """How many steps were tried."""

    @property
    def message(self) -> str:
        """`status` in words."""
        return MESSAGES[int(self.status)]


@public
@takes_scipy_keywords
def solve_ivp(
    f: Callable[..., Any],
    t_span: tuple[Any, Any],
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    *,
    args: tuple[Any, ...] = (),
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    first_step: float | None = None,
    max_step: float = math.inf,
    max_steps: int = 10_000,
    max_events: int = 100,
    raise_on_failure: bool = False,
) -> OdeResult:
    """The solution of dy/dt = `f(t, y, *args)` from `y0` at the first time of `t_span` to the second.

    `method` is "RK23", "RK45" or "DOP853", with SciPy's step control, "Tsit5" with the same, or "Rodas5P" for stiff
    equations, with exact Jacobians. `y0` is an array, a number or a structure of them, and `f` gives its derivative in
    the same structure; tolerances are numbers, or structured so. `t_eval` are the times, in order, at which the
    solution is wanted; `dense_output=True` gives it as a function, `sol(t)`. `events` are functions of what `f` takes:
    the times where they are zero are found, with attributes `terminal` and `direction` as SciPy has them. Derivatives
    are those of the steps that were taken (discrete adjoint), their lengths held fixed; the time of an event has those
    of a root.

    >>> import math
    >>> import rosejit as rose
    >>> decay = rose.solve_ivp(lambda t, y, rate: -rate * y, (0.0, 1.0), 1.0, args=(2.0,), rtol=1e-8, atol=1e-10)
    >>> bool(abs(decay.y[-1] - math.exp(-2.0)) < 1e-8)
    True
    >>> half = rose.solve_ivp(lambda t, y: -y, (0.0, 1.0), 1.0, "DOP853", events=lambda t, y: y - 0.5)
    >>> round(float(half.t_events[0][0]), 4)
    0.6931
    """
    check_method(method)
    given = _events(events)
    functions = tuple(as_function(g) for g in given)
    directions = tuple(float(getattr(g, "direction", 0) or 0) for g in given)
    terminal = tuple(int(getattr(g, "terminal", 0) or 0) for g in given)
    first = None if first_step is None else float(first_step)
    _check_positive(first_step=first, max_step=float(max_step), rtol=rtol, atol=atol)
    dense, most = bool(dense_output), max(1, int(max_steps))
    options = (first, float(max_step), most, dense)
    start, end = t_span

    def build(base):
        def solved(start, end, y0, t_eval, args, rtol, atol):
            def at_vector(g):
                return lambda t, v: g(t, unflat(y0, v), *args)

            y0 = state(base, y0, 1)
            occasions = Occasions(tuple(at_vector(g) for g in functions), directions, terminal, int(max_events))
            ends = (real(start), real(end))
            return _solution(base, METHODS[method], ends, y0, t_eval, args, occasions, (rtol, atol, *options))

        return solved

    key = (method, functions, directions, terminal, int(max_events), *options)
    found = solve(solve_ivp, f, build, (start, end, y0, t_eval, several(args), rtol, atol), *key)
    return checked(solve_ivp, found if sessions.current() is not None else _trimmed(found), raise_on_failure)


@public
@takes_scipy_keywords
def odeint(
    f: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    *,
    tfirst: bool = False,
    rtol: Any = 1.49012e-8,
    atol: Any = 1.49012e-8,
    method: str = "Rodas5P",
    mxstep: int = 10_000,
    raise_on_failure: bool = False,
) -> Any:
    """The solution of dy/dt = `f(y, t, *args)` at the times `t`, of which the first is where the state is `y0`.

    The times are the first axis of each number and array of the state, NaN where they were not reached. `f` takes the
    time first with `tfirst=True`. `method` is one of `solve_ivp`; "Rodas5P" is right for stiff equations and others.

    >>> import math
    >>> import rosejit as rose
    >>> y = rose.odeint(lambda y, t, rate: -rate * y, 1.0, [0.0, 0.5, 1.0], (2.0,))
    >>> bool(abs(y[-1] - math.exp(-2.0)) < 1e-7)
    True
    """
    check_method(method)
    options = (bool(tfirst), max(1, int(mxstep) or 10_000))

    def build(base):
        def solved(y0, t, args, rtol, atol):
            def ordered(time, y, *args):
                return base(time, y, *args) if tfirst else base(y, time, *args)

            times, y0 = 1.0 * vector(t), state(base, y0, int(bool(tfirst)))
            ends = (times[0], times[len(times) - 1])
            more = (rtol, atol, None, math.inf, options[1], False)
            found = _solution(ordered, METHODS[method], ends, y0, t, args, NO_EVENTS, more, 1)
            return found.y, found.status, found.nfev

        return solved

    y, status, nfev = solve(odeint, f, build, (y0, t, several(args), rtol, atol), method, *options)
    if raise_on_failure:
        check(odeint, lambda: (status >= 0, MESSAGES[int(status)], nfev))
    return y


def _check_positive(**options: Any) -> None:
    """Refuse lengths and tolerances that mean nothing; of tolerances, those that Python knows."""
    for name, value in options.items():
        least = "greater than 0" if name.endswith("_step") else "at least 0"
        wrong = isinstance(value, (int, float)) and not (value > 0 or (value == 0 and name.endswith("tol")))
        if wrong:
            raise RoseValueError(f"`{name}` of `rose.solve_ivp` is {least}, given {value}")


def check_method(name: str) -> None:
    """Refuse methods that are not there, in words that name one for the same problems."""
    if name in STIFF:
        raise RoseValueError(
            f"rosejit has no method {name!r}",
            help='for stiff equations there is "Rodas5P", with exact Jacobians',
        )
    option(solve_ivp, "method", name, tuple(METHODS))


def _events(events: Any) -> tuple[Any, ...]:
    """One event, some or none, as a tuple."""
    if events is None:
        return ()
    return tuple(events) if isinstance(events, (list, tuple)) else (events,)


def _is_empty(times: Any) -> bool:
    """Whether no times are asked for."""
    return isinstance(times, (list, tuple)) and not times


def _solution(base, method, ends, y0, t_eval, args, occasions, options, axis=-1):
    """The solution for a state that is a structure."""
    start, end = ends

    def slope(t, v):
        return vector(in_order_of(y0, base(t, unflat(y0, v), *args)))

    v0 = flat(y0)
    if len(slope(start, v0)) != len(v0):
        raise StagingTypeError(
            f"the function gives {len(slope(start, v0))} derivatives for a state of {len(v0)} numbers",
            help="return the derivative in the structure of the state",
        )
    rtol, atol, first, longest, most, dense = options
    control = Control(tolerance("rtol", rtol, y0), tolerance("atol", atol, y0), first, longest, most, dense)
    times = np.zeros(0) if t_eval is None or _is_empty(t_eval) else 1.0 * vector(t_eval)
    table, t, y, status, tried, nfev, found, knots = integrate(method, slope, start, end, v0, times, occasions, control)
    if t_eval is None:
        reached = status >= 0
        times = np.array([start, t if reached else end])
        table = np.stack([v0, y if reached else np.nan * y])
    t_events, y_events, _ = found
    solution = None
    if dense:
        ts, widths, starts, rows, steps = knots
        solution = OdeSolution(ts, widths, starts, rows, steps, y0)
    happened, where = None, None
    if occasions.functions:
        happened = [t_events[k] for k in range(len(occasions.functions))]
        where = [over_time(y0, y_events[k], 1) for k in range(len(occasions.functions))]
    work = (nfev, tried * method.jacobians, tried * method.jacobians, tried)
    return OdeResult(times, over_time(y0, table, axis), solution, happened, where, status >= 0, status, *work)


def tolerance(name: str, given: Any, y0: Any) -> Any:
    """A tolerance for each number of the state."""
    return limits(given, y0, f"`{name}` has {{}} numbers for a state of {{}}")


def _trimmed(found: Any) -> Any:
    """A result of compiled code without the room that events and steps did not need."""
    sol, events, where = found.sol, found.t_events, found.y_events
    if sol is not None:
        steps = max(int(sol.steps), 1)
        parts = {name: getattr(sol, name)[:steps] for name in ("widths", "starts", "rows")}
        sol = replace(sol, ts=sol.ts[: int(sol.steps) + 1], **parts)
    if events is not None:
        counts = [sum(1 for t in times if t == t) for times in events]
        events = [times[:count] for times, count in zip(events, counts, strict=True)]
        where = [_first(states, count) for states, count in zip(where, counts, strict=True)]
    return replace(found, sol=sol, t_events=events, y_events=where)


def _first(states: Any, count: int) -> Any:
    """The first of the states in each array of a structure."""
    if isinstance(states, dict):
        return {name: _first(part, count) for name, part in states.items()}
    if isinstance(states, (list, tuple)):
        return type(states)([_first(part, count) for part in states])
    return states[:count]
