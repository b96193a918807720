"""Minima under bounds and constraints, differentiable by all that objective and constraints read."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rosejit.api.decorators import as_function
from rosejit.api.derivation.gradients import grad, hessian, jacobian, value_and_grad
from rosejit.api.function import Function
from rosejit.api.math_functions import stop_gradient
from rosejit.api.public_entry import public
from rosejit.api.vectors import flat, unflat
from rosejit.errors import RoseValueError, ShapeError, StagingTypeError
from rosejit.numeric import np
from rosejit.optim.box import box_of, inside, sides
from rosejit.optim.quasi_newton import remember
from rosejit.optim.sequential_qp import missing, sequential
from rosejit.solvers.implicit import solution, still
from rosejit.solvers.programs import amount, checked, count, option, real, several, solve, state, vector
from rosejit.solvers.scipy_keywords import takes_scipy_keywords

MESSAGES = {
    0: "the conditions of a minimum hold, within `tol` or as far as rounding lets one see",
    1: "the limit of iterations was reached",
    2: "no step makes the objective smaller: nothing bounds it, it has a crease, or rounding is all that is left",
    3: "the objective, a constraint or a derivative is infinite or no number",
    4: "the constraints cannot all be met near here",
    5: "a lower bound is above its upper bound",
}
METHODS = ("L-BFGS-B", "SLSQP")
SPELLED = {each.lower().replace("-", ""): each for each in METHODS} | {"lbfgs": "L-BFGS-B"}


@dataclass(frozen=True)
class OptimizeResult:
    """Where a search for a minimum ended."""

    x: Any
    """The solution, structured as the first guess."""
    fun: Any
    """The objective there."""
    jac: Any
    """Its gradient, as a vector."""
    multipliers: Any
    """What the objective would gain, each constraint relaxed: a vector for each constraint."""
    maxcv: Any
    """How far the constraint that is violated most is from being met."""
    success: Any
    status: Any
    nit: Any
    nfev: Any
    njev: Any

    @property
    def message(self) -> str:
        """`status` in words."""
        return MESSAGES[int(self.status)]


@public
@takes_scipy_keywords
def minimize(
    f: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    bounds: Any = None,
    constraints: Any = (),
    method: str | None = None,
    hess: str = "exact",
    tol: float = 1e-8,
    maxiter: int | None = None,
    raise_on_failure: bool = False,
) -> OptimizeResult:
    """The least `f(x, *args)` near `x0`, a number, an array or a structure of them, within bounds and constraints.

    `bounds` are SciPy's: a pair (min, max) for each number, None where there is none, or `Bounds(lb, ub)`. So are
    `constraints`: one or a sequence of `{"type": "eq", "fun": h}`, where h(x) is zero, `{"type": "ineq", "fun": g}`,
    where g(x) is not negative (so for a function alone), `NonlinearConstraint`, `LinearConstraint`. What they give may
    be numbers, arrays or structures. With constraints the method is "SLSQP", sequential quadratic programming with
    exact derivatives, for small dense problems; else "L-BFGS-B". Bounds hold at every point that is tried.
    `hess="bfgs"` has "SLSQP" do without second derivatives, in more iterations: where there are none, or the unknowns
    are many.

    `tol` bounds the gradient of the Lagrangian, relative to that of `f`, and what constraints lack; without constraints
    its square root does, where no step makes `f` smaller and none promises more than rounding hides. Derivatives of `x`
    are those of the minimum by everything that `f`, bounds and constraints read, as the constraints that hold it go on
    holding it (the implicit function theorem of the Karush-Kuhn-Tucker conditions).

    >>> import rosejit as rose
    >>> square = {"type": "ineq", "fun": lambda x: 2.0 - x[0] ** 2 - x[1] ** 2}
    >>> found = rose.optim.minimize(lambda x: x[0] + x[1], [0.0, 0.0], constraints=square)
    >>> found.x.round(6).tolist(), found.success, round(float(found.multipliers[0][0]), 6)
    ([-1.0, -1.0], True, 0.5)
    """
    rules = [rule for each in _listed(constraints) for rule in _rules(each)]
    kinds, functions = tuple([kind for kind, _, _ in rules]), tuple([function for _, function, _ in rules])
    word = method or ("SLSQP" if rules else "L-BFGS-B")
    word = option(minimize, "method", SPELLED.get(str(word).lower().replace("-", ""), word), METHODS)
    if rules and word != "SLSQP":
        raise RoseValueError(
            f"`rose.optim.minimize` has no constraints with the method {word!r}", help='the method is "SLSQP"'
        )
    option(minimize, "hess", hess, ("exact", "bfgs"))
    most = maxiter if maxiter is not None else 200 if word == "SLSQP" else 5000
    options = (word, hess == "exact")
    ends = (amount(minimize, "tol", tol), count(minimize, "maxiter", most))

    def build(base):
        def minimized(x0, args, bounds, more, ends):
            def objective(x):
                return base(x, *args)

            def at(function, given):
                return lambda x: function(x, *given)

            given = [at(function, each) for function, each in zip(functions, more, strict=True)]
            return _minimized(objective, state(base, x0), bounds, kinds, given, *options, *ends)

        return minimized

    more = tuple([each for _, _, each in rules])
    found = solve(minimize, f, build, (x0, several(args), sides(bounds), more, ends), *options, kinds, functions)
    return checked(minimize, found, raise_on_failure)


def _listed(constraints: Any) -> list[Any]:
    return list(constraints) if isinstance(constraints, (list, tuple)) else [constraints]


def _rules(constraint: Any) -> list[tuple[str, Function, tuple[Any, ...]]]:
    """A constraint as SciPy takes it: "eq" or "ineq", its function, and more arguments of that."""
    if isinstance(constraint, dict):
        kind = constraint.get("type")
        if kind not in ("eq", "ineq") or "fun" not in constraint:
            raise RoseValueError(
                f"a constraint is {{'type': 'eq' or 'ineq', 'fun': ...}}, given {constraint!r}",
                help="'eq': the function is zero; 'ineq': it is not negative",
            )
        return [(kind, as_function(constraint["fun"]), tuple(several(constraint.get("args", ()))))]
    if hasattr(constraint, "lb") and hasattr(constraint, "ub"):
        return _between(constraint)
    if callable(constraint):
        return [("ineq", as_function(constraint), ())]
    raise StagingTypeError(
        f"a constraint is a dict, a function or one of SciPy's constraints, given {type(constraint).__name__}",
        help="{'type': 'eq', 'fun': h} where h(x) is zero; {'type': 'ineq', 'fun': g} where g(x) is not negative",
    )


def _between(constraint: Any) -> list[tuple[str, Function, tuple[Any, ...]]]:
    """Of SciPy's `NonlinearConstraint` or `LinearConstraint`, whose values lie between `lb` and `ub`: those that are
    one, then those that have a lower, and those that have an upper limit."""
    lb, ub = np.broadcast_arrays(*[np.atleast_1d(np.asarray(side, float)) for side in (constraint.lb, constraint.ub)])
    matrix = getattr(constraint, "A", None)
    rows = None if matrix is None else np.atleast_2d(matrix.toarray() if hasattr(matrix, "toarray") else matrix)

    def limited(kind, which, side, sign):
        def lacking(x):
            values = vector(constraint.fun(x)) if rows is None else rows @ flat(real(x))
            if len(side) not in (1, len(values)):
                raise ShapeError(
                    f"there are {len(side)} limits for {len(values)} values of a constraint",
                    help="give one for all of them, or one for each",
                )
            chosen = [k for k in range(len(values)) if which[k % len(which)]]
            return [sign * (values[k] - float(side[k % len(side)])) for k in chosen]

        return kind, as_function(lacking), ()

    sides = (
        ("eq", lb == ub, lb, 1.0),
        ("ineq", (lb != ub) & (lb > -math.inf), lb, 1.0),
        ("ineq", (lb != ub) & (ub < math.inf), ub, -1.0),
    )
    return [limited(*each) for each in sides if each[1].any()]


def _minimized(objective, x0, bounds, kinds, given, method, exact, tolerance, limit):
    """The minimum of a function of a structure."""
    v0 = flat(x0)
    n, box = len(v0), box_of(bounds, x0)
    values = _together(lambda v: objective(unflat(x0, v)), [_at(c, x0) for c in given])
    fixed = stop_gradient(box)
    start = inside(stop_gradient(v0), fixed)
    searched = still(values, start)
    lengths = [len(vector(c(x0))) for c in given]
    equal = np.array([kind == "eq" for kind, length in zip(kinds, lengths, strict=True) for _ in range(length)], bool)
    if method == "SLSQP":
        curved = hessian(lambda v, weights: searched(v) @ weights) if exact else None
        found = sequential(searched, jacobian(searched), curved, start, fixed, equal, tolerance, limit)
    else:
        found = _descended(lambda v: searched(v)[0], start, fixed, tolerance, limit)
    v, multipliers, status, nit, nfev, njev = found
    if fixed is not None and (fixed[0] > fixed[1]).any():
        status = 5
    m = len(equal)
    conditions = _conditions(values, equal | (multipliers[:m] > 0.0), _ends(v, multipliers[m:], box))
    z = solution(conditions, np.concatenate([v, multipliers[:m]]))
    v, multipliers = z[:n], z[n:]
    y = values(v)
    lack = missing(equal, y[1:])
    most = lack.max() if len(lack) else 0.0
    ends = [sum(lengths[: k + 1]) for k in range(len(lengths))]
    prices = tuple([multipliers[end - length : end] for end, length in zip(ends, lengths, strict=True)])
    jac = grad(lambda v: values(v)[0])(v)
    return OptimizeResult(unflat(x0, v), y[0], jac, prices, most, status == 0, status, nit, nfev, njev)


def _at(constraint, x0):
    return lambda v: constraint(unflat(x0, v))


def _together(objective, given):
    """Objective and constraints as one vector."""

    def values(v):
        y = objective(v)
        if isinstance(y, (bool, complex)):
            raise StagingTypeError(f"an objective gives one real number, this one a {type(y).__name__}")
        first = vector(y)
        if len(first) != 1:
            raise ShapeError(f"an objective gives one number, this one {len(first)}", help="return one, say a sum")
        return np.concatenate([first, *[vector(c(v)) for c in given]])

    return values


def _descended(objective, start, box, tolerance, limit):
    """As `sequential`, without constraints, by the gradient alone."""
    v, value, slope, nit, nfev, done, _ = remember(
        value_and_grad(objective), objective, start, None, False, box, 10, limit, tolerance
    )
    number = abs(value) + abs(slope).sum() < math.inf
    status = 3 if not number else 0 if done else 1 if nit >= limit else 2
    multipliers = np.zeros(0)
    if box is not None:
        lower, upper = box
        multipliers = np.concatenate([np.where(v <= lower, slope, 0.0), np.where(v >= upper, -slope, 0.0)])
    return v, multipliers, status, nit, nfev, nfev


def _ends(found, multipliers, box):
    """Which numbers a bound holds, those of multipliers, and where; or None."""
    if box is None:
        return None
    n, (lower, upper) = len(found), box
    low, high = multipliers[:n] > 0.0, multipliers[n:] > 0.0
    return low | high, np.where(low, lower, upper)


def _conditions(values, active, ends):
    """The conditions of Karush, Kuhn and Tucker near a solution: what is active, and what a bound holds, stays so."""
    slopes = jacobian(values)

    def conditions(z):
        n = len(z) - len(active)
        v, prices = z[:n], z[n:]
        table = slopes(v)
        slope = table[0] - table[1:].T @ prices
        if ends is not None:
            slope = np.where(ends[0], v - ends[1], slope)
        return np.concatenate([slope, np.where(active, values(v)[1:], prices)])

    return conditions
