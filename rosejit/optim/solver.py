"""An objective and a method to a function of the same arguments that gives the minimum."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from rosejit.api.calling.specialisation import Staged, positions
from rosejit.api.decorators import as_function, opaque, wrapped_like
from rosejit.api.derivation.gradients import value_and_grad
from rosejit.api.function import Function, FunctionSource, share
from rosejit.api.vectors import flat, in_order_of, unflat
from rosejit.errors import RoseValueError, StagingTypeError
from rosejit.frontend.hints.hints import Inferred
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call, handed_on
from rosejit.frontend.values.pytree import parts, with_parts
from rosejit.frontend.values.reachable_state import structural_key
from rosejit.optim.box import box_of, inside, sides
from rosejit.solvers.programs import vector

Progress = Callable[[int, float, float], Any]
Method = Callable[..., Any]


class Minimum(NamedTuple):
    """Where an optimisation ended."""

    x: Any
    """The argument that was varied, in its own structure."""
    value: Any
    """The objective there."""
    gradient: Any
    """And its gradient, structured as `x`."""
    steps: Any
    evaluations: Any
    """How often value and gradient were computed."""
    converged: Any
    """Whether the largest entry of the gradient is within the tolerance, of those that no bound holds; of `lbfgs` also
    within its square root, where no step makes the objective smaller and none promises more than rounding hides."""
    history: Any = None
    """The value before every step and after the last, then NaN; None unless `history=True`."""


def solver(
    transform: Callable[..., Function],
    f: Callable[..., Any],
    method: Method,
    argnums: int | str,
    options: tuple[Any, ...],
    progress: Progress | bool | None,
    history: bool,
    bounds: Any = None,
) -> Function:
    """The function that runs `method(evaluate, objective, x, report, history, box, *options)` on the objective `f`.

    `evaluate(v)` gives value and gradient at a vector; `report(step, value, norm)` is to be called at every step.
    """
    base = as_function(f)
    names = tuple(parameter.name for parameter in base.binding.parameters)
    varied = positions(argnums, names, base.__name__)
    if len(varied) != 1:
        raise StagingTypeError(
            f"`{transform.__name__}` varies one argument, given `argnums={argnums!r}`",
            help="put what is to be varied into one tuple or structure",
        )
    (k,) = varied
    if base.binding.parameters[k].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        raise StagingTypeError(f"`{transform.__name__}` varies one positional argument, not `{names[k]}`")
    gradient = value_and_grad(base, k)
    report = _reporter(progress)
    around = None if bounds is None else _known(sides(bounds))

    def solve(*args, **kwargs):
        def evaluate(v):
            value, slope = gradient(*args[:k], unflat(args[k], v), *args[k + 1 :], **kwargs)
            return value, flat(slope)

        def objective(v):
            return base(*args[:k], unflat(args[k], v), *args[k + 1 :], **kwargs)

        start = flat(args[k])
        box = box_of(around, args[k])
        v, value, slope, steps, evaluations, converged, values = method(
            evaluate, objective, inside(start, box), report, history, box, *options
        )
        found = unflat(args[k], v)
        return Minimum(found, value, unflat(args[k], slope), steps, evaluations, converged, values)

    binding = replace(base.binding, result=Inferred(), result_hint=None)

    def stage(self: Function, call: Call, at: Session) -> Staged:
        source = at.stage(solve, binding, handed_on(call), self.__name__, (self, call.key))
        return Staged(source.function, tuple(call.trees), source.result, tuple(source.statics), source)

    def rebuilt(self: Function) -> Any:
        return solver, (transform, base, method, argnums, options, progress, history, bounds)

    made = Function(binding, base.options, FunctionSource(stage, rebuilt))
    wrapped_like(made, base, f"{transform.__name__}_{base.__name__}")
    share(made, base, transform, argnums, options, report, history, None if around is None else structural_key(around))
    return made


def _known(bounds: Any) -> Any:
    """Lower and upper bounds, of which nothing changes any more."""
    lower, upper = [_kept(bound) for bound in bounds]
    low, high = [tuple(map(float, vector(side))) for side in (lower, in_order_of(lower, upper))]
    if any([a > b for a, b in zip(low, high, strict=False)]):
        raise RoseValueError(f"a lower bound is above its upper bound: {low} and {high}")
    return lower, upper


def _kept(bound: Any) -> Any:
    """A bound as it is now: its numbers in tuples, by the names that it has."""
    inside = parts(bound)
    return tuple(map(float, vector(bound))) if inside is None else with_parts(bound, [_kept(part) for part in inside])


def _reporter(progress: Progress | bool | None) -> Function | None:
    """`progress` as a function that compiled code calls; in a page that is one the page gives."""
    if not progress:
        return None
    told: Progress = _print if progress is True else progress

    def report(step: int, value: float, norm: float) -> None:
        told(step, value, norm)

    report.__name__ = report.__qualname__ = "progress"
    return opaque(report)


def _print(step: int, value: float, norm: float) -> None:
    print(f"step {step:5}   value {value:.10g}   gradient {norm:.2e}")
