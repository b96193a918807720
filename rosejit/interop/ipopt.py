"""Nonlinear programs by IPOPT (cyipopt), with exact sparse derivatives: one compiled call each for the values of the
Jacobian of the constraints and of the Hessian of the Lagrangian."""

# Values of users, and all that cyipopt has, are of any type.

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rosejit.abi import Leaf
from rosejit.api import sessions
from rosejit.api.decorators import as_function, jit
from rosejit.api.derivation.gradients import value_and_grad
from rosejit.api.function import Function
from rosejit.api.public_entry import public
from rosejit.api.vectors import in_order_of
from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.values.pytree import parts
from rosejit.interop.foreign_arguments import leaves_of, required, with_leaves
from rosejit.interop.sparse import sparse_hessian, sparse_jacobian
from rosejit.lazy_dataclass import dataclass
from rosejit.solvers.programs import real, vector

INFINITE = 2e19
"""What IPOPT takes for no bound."""
_REACHED = (0, 1)
"""The states in which IPOPT ends at a solution: to the tolerance, and to the acceptable one."""


class Progress(NamedTuple):
    """An iteration, as IPOPT tells of it: `infeasibility` of the constraints, and of the dual problem."""

    iteration: int
    value: float
    infeasibility: float
    dual_infeasibility: float
    barrier: float
    step: float

    def __str__(self) -> str:
        return (
            f"{self.iteration:5d}  f = {self.value:<16.9g} infeasible by {self.infeasibility:.2e}, "
            f"dual {self.dual_infeasibility:.2e}, step {self.step:.2e}"
        )


@dataclass
class Solution:
    """Where IPOPT ended. `multipliers` are those of the constraints, of the lower and of the upper bounds."""

    x: Any
    fun: float
    success: bool
    status: int
    message: str
    nit: int
    constraints: Any
    multipliers: tuple[Any, Any, Any]


@public
def minimize(
    f: Callable[..., Any],
    x0: Any,
    constraints: Any = (),
    bounds: Any = None,
    p: Any = (),
    *,
    start: Solution | None = None,
    callback: Callable[[Progress], Any] | None = None,
    progress: bool = False,
    **options: Any,
) -> Solution:
    """The minimum of `f(x, *p)` over a vector `x`, or a structure of numbers and arrays, where `constraints` and
    `bounds` hold.

    `constraints` is `(g, lower, upper)`, for lower ≤ g(x, *p) ≤ upper, or a list of such; g gives a vector or a number.
    `bounds` is a pair `(low, high)` for each element of x, `None` where there is none, or one pair for all of them, or
    has `lb` and `ub`, numbers or structured as x (`rose.optim.Bounds`). `p` is a tuple of parameters. Whoever solves
    again for other parameters, lengths and functions being the same, stages nothing again; `start`, an earlier
    solution, is where its multipliers begin, too (`x0` may be its `x`).

    `callback` gets a `Progress` each iteration, and ends the search by returning True; `progress=True` prints it. All
    other names are options of IPOPT: `tol=1e-10, max_iter=500, linear_solver="mumps"`.
    """
    cyipopt = required("cyipopt", "ipopt")
    given_x0, (like, x0) = x0, _varied(x0)
    rows = _rows(constraints)
    if like is not None:
        f, rows = like.of_vector(f), [(like.of_vector(g), lower, upper) for g, lower, upper in rows]
    problem = _Problem(f, rows, p, callback, progress, x0)
    low, high = _bounds(bounds, given_x0, len(x0))
    lower, upper = problem.limits(x0)
    solver = cyipopt.Problem(len(x0), len(lower), problem, low, high, lower, upper)
    given = {"print_level": 0, "sb": "yes", **({"warm_start_init_point": "yes"} if start else {}), **options}
    for name, value in given.items():
        solver.add_option(name, value)
    duals = dict(zip(("lagrange", "zl", "zu"), start.multipliers, strict=True)) if start else {}
    x, info = solver.solve(x0, **duals)
    if problem.error is not None:
        raise problem.error
    message = info["status_msg"]
    return Solution(
        np.array(x) if like is None else like.of(np.array(x)),
        float(info["obj_val"]), info["status"] in _REACHED, int(info["status"]),
        message.decode() if isinstance(message, bytes) else str(message), problem.iterations, np.array(info["g"]),
        (np.array(info["mult_g"]), np.array(info["mult_x_L"]), np.array(info["mult_x_U"])),
    )  # fmt: skip


def _is_varied(x: Any) -> bool:
    return isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


class _Structure:
    """A structure of numbers and arrays as a vector of those that are real; the others stay what they are."""

    def __init__(self, example: Any) -> None:
        self._example = example
        self._functions: dict[Any, Function] = {}

    def of(self, v: Any) -> Any:
        """The structure with the numbers of a vector."""
        return with_leaves(self._example, _is_varied, self._cut(v))

    def _cut(self, v: Any) -> Iterator[Any]:
        """A vector as the numbers and arrays of the structure, one after another."""
        start = 0
        for leaf in leaves_of(self._example, _is_varied):
            end = start + np.size(leaf)
            yield v[start:end].reshape(np.shape(leaf)) if np.ndim(leaf) else v[start]
            start = end

    def of_vector(self, f: Any) -> Function:
        """A function of a structure as one of a vector."""
        if f not in self._functions:
            called = as_function(f)

            def varied(v, *p):
                return called(self.of(v), *p)

            while len(self._functions) >= PROBLEMS:
                del self._functions[next(iter(self._functions))]
            self._functions[f] = jit(varied)
        return self._functions[f]


_STRUCTURES: dict[Any, _Structure] = {}
"""By what is fixed of them, so that the functions of a problem solved again are the same."""


def _varied(x0: Any) -> tuple[_Structure | None, Any]:
    """How the variables are a vector, if they are a structure, and the vector to start from."""
    if parts(x0) is None or (type(x0) in (list, tuple) and all(isinstance(x, (int, float)) for x in x0)):
        x0 = np.array(x0, dtype=float)
        if x0.ndim != 1:
            raise ShapeError(f"`minimize` varies a vector, given an array of shape {x0.shape}")
        return None, x0
    x0 = real(x0)
    start = [np.ravel(x) for x in leaves_of(x0, _is_varied)]
    if not start:
        raise StagingTypeError("there is no real number in what `minimize` is to vary", help="give floats, or arrays")
    key = _fixed(x0)
    while len(_STRUCTURES) >= PROBLEMS and key not in _STRUCTURES:
        del _STRUCTURES[next(iter(_STRUCTURES))]
    return _STRUCTURES.setdefault(key, _Structure(x0)), np.concatenate(start)


def _fixed(x: Any) -> Any:
    """What of a structure does not vary: its classes, keys, shapes, and values that are not real."""
    if _is_varied(x):
        return np.shape(x)
    inside = parts(x)
    if inside is None:
        return type(x), repr(np.asarray(x).tolist())
    return type(x), tuple(x) if isinstance(x, dict) else (), *map(_fixed, inside)


def _rows(constraints: Any) -> list[tuple[Any, Any, Any]]:
    found = (
        [constraints] if isinstance(constraints, tuple) and constraints and callable(constraints[0]) else constraints
    )
    for each in found:
        if not (isinstance(each, (tuple, list)) and len(each) == 3 and callable(each[0])):
            raise StagingTypeError(
                f"a constraint is `(g, lower, upper)`, given {each!r:.60}",
                help="an equation is `(g, 0.0, 0.0)`; `-np.inf` and `np.inf` are no bounds",
            )
    return [tuple(each) for each in found]


def _bounds(bounds: Any, x: Any, count: int) -> tuple[Any, Any]:
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        low, high = (np.clip(vector(in_order_of(x, side)), -INFINITE, INFINITE) for side in (bounds.lb, bounds.ub))
        if {len(low), len(high)} - {1, count}:
            raise ShapeError(f"`bounds` has {len(low)} and {len(high)} numbers for the {count} of x")
        return np.broadcast_to(low, count), np.broadcast_to(high, count)
    if bounds is None:
        bounds = (None, None)
    pairs: Sequence[Any] = bounds
    if len(pairs) == 2 and all(b is None or np.ndim(b) == 0 for b in pairs):
        pairs = [bounds] * count
    if len(pairs) != count or any(len(pair) != 2 for pair in pairs):
        raise ShapeError(
            f"`bounds` is a pair for each of the {count} elements of x, or one for all: given {len(pairs)}"
        )
    low = [-INFINITE if pair[0] is None else pair[0] for pair in pairs]
    high = [INFINITE if pair[1] is None else pair[1] for pair in pairs]
    return np.clip(low, -INFINITE, INFINITE), np.clip(high, -INFINITE, INFINITE)


def _shape(g: Function, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of what a constraint gives, a number being one of one row: known once it is staged."""
    with sessions.session() as at:
        found = g.specialised(args, {}, at)[1].staged.result
    if not isinstance(found, Leaf):
        raise StagingTypeError(
            f"the constraint `{g.__name__}` returns a structure",
            help="return a vector or a number, or give one constraint for each part",
        )
    return np.shape(g(*args)) if found.kind == "dyn" else found.shape or (1,)


_MADE: dict[Any, tuple[Any, ...]] = {}
"""By their functions the derivatives of the last problems, so that a problem solved again is not staged again."""
PROBLEMS = 32


def _derivatives(f: Any, functions: tuple[Any, ...]) -> tuple[Any, ...]:
    """Value and gradient, the constraints, their Jacobian, and the Hessian of the Lagrangian."""
    key = (f, functions)
    if key not in _MADE:
        while len(_MADE) >= PROBLEMS:
            del _MADE[next(iter(_MADE))]
        _MADE[key] = _made(as_function(f), [as_function(g) for g in functions])
    return _MADE[key]


def _made(value: Any, parts: list[Any]) -> tuple[Any, ...]:
    if not parts:

        def alone(x, factor, multipliers, *p):
            return factor * value(x, *p)

        return value_and_grad(value), None, None, sparse_hessian(jit(alone))

    def constraints(x, *p):
        return np.concatenate([np.atleast_1d(g(x, *p)) for g in parts])

    rows = jit(constraints)

    def lagrangian(x, factor, multipliers, *p):
        return factor * value(x, *p) + np.sum(multipliers * rows(x, *p))

    return value_and_grad(value), rows, sparse_jacobian(rows), sparse_hessian(jit(lagrangian))


class _Problem:
    """What cyipopt calls, by the names that it asks for."""

    def __init__(self, f: Any, rows: list[Any], p: Any, callback: Any, progress: bool, x0: Any) -> None:
        self._value, self._rows, self._jacobian, self._hessian = _derivatives(f, tuple([g for g, _, _ in rows]))
        self._given = rows
        self._p = tuple(p)
        self._callback = callback
        self._progress = progress
        self._at: tuple[Any, Any] = (None, None)
        self._x0 = x0
        self._count = 0
        self._lower: Any = None
        self.error: BaseException | None = None
        self.iterations = 0

    def limits(self, x: Any) -> tuple[Any, Any]:
        """The bounds of all constraints."""
        low: list[Any] = []
        high: list[Any] = []
        for g, lower, upper in self._given:
            shape = _shape(as_function(g), (x, *self._p))
            try:
                low.append(np.broadcast_to(np.asarray(lower, dtype=float), shape))
                high.append(np.broadcast_to(np.asarray(upper, dtype=float), shape))
            except ValueError as error:
                raise ShapeError(f"the bounds of a constraint of shape {shape} do not fit: {error}") from None
        lower, upper = (np.concatenate([*map(np.ravel, each), np.zeros(0)]) for each in (low, high))
        self._count = len(lower)
        return np.clip(lower, -INFINITE, INFINITE), np.clip(upper, -INFINITE, INFINITE)

    def _asked(self, function: Callable[..., Any], *args: Any) -> Any:
        """What a function gives. What it raises is kept: IPOPT goes its own way then."""
        try:
            return function(*args, *self._p)
        except BaseException as error:
            self.error = self.error or error
            raise

    def _both(self, x: Any) -> Any:
        if self._at[0] is None or not np.array_equal(self._at[0], x):
            self._at = (np.array(x), self._asked(self._value, x))
        return self._at[1]

    def objective(self, x: Any) -> float:
        """The value."""
        return self._both(x)[0]

    def gradient(self, x: Any) -> Any:
        """The gradient."""
        return self._both(x)[1]

    def constraints(self, x: Any) -> Any:
        """All constraints."""
        return np.zeros(0) if self._rows is None else self._asked(self._rows, x)

    def jacobianstructure(self) -> Any:
        """Where the Jacobian differs from zero."""
        none = np.zeros(0, dtype=np.int32)
        return (none, none) if self._rows is None else self._asked(self._jacobian.structure, self._x0)

    def jacobian(self, x: Any) -> Any:
        """Its numbers."""
        return np.zeros(0) if self._rows is None else self._asked(self._jacobian.values, x)

    def hessianstructure(self) -> Any:
        """Where the lower half of the Hessian of the Lagrangian differs from zero."""
        rows, columns = self._asked(self._hessian.structure, self._x0, 1.0, np.ones(self._count))
        self._lower = np.flatnonzero(rows >= columns)
        return rows[self._lower], columns[self._lower]

    def hessian(self, x: Any, multipliers: Any, factor: float) -> Any:
        """Its numbers."""
        return self._asked(self._hessian.values, x, float(factor), np.asarray(multipliers))[self._lower]

    def intermediate(self, *told: Any) -> bool:
        """After each iteration: whether to go on."""
        _, self.iterations, value, infeasibility, dual, barrier, step, *_ = told
        found = Progress(self.iterations, value, infeasibility, dual, barrier, step)
        if self._progress:
            print(found)
        return self._callback is None or not self._callback(found)
