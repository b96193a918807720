"""SciPy's keywords that our solvers lack: taken where they ask for nothing else, or refused with what to do."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from rosejit.errors import StagingTypeError

Solver = TypeVar("Solver", bound=Callable[..., Any])

_APPROXIMATED = (None, False, 0, "2-point", "3-point", "cs")
_EXACT = "derivatives are exact: leave it out"
_FIELDS = "the result says so in its fields: leave it out"
_STEPS = "`solve_ivp` has `first_step` and `max_step`; the rest is found: leave it out"

KEYWORDS: dict[str, tuple[tuple[Any, ...], str]] = {
    "jac": (_APPROXIMATED, f"{_EXACT}, and give a function that returns its value alone"),
    "Dfun": (_APPROXIMATED, _EXACT),
    "hessp": ((None,), _EXACT),
    "diff_step": ((None,), _EXACT),
    "col_deriv": ((0, 1, False, True), _EXACT),
    "x_scale": ((None, 1.0, "jac"), "scale the unknowns in the function itself"),
    "tr_solver": ((None, "exact", "lsmr"), "`jac_sparsity` says which factorisation: leave it out"),
    "tr_options": ((None, {}), "there is nothing to set: leave it out"),
    "kwargs": ((None, {}), "bind them: `lambda x: f(x, key=value)`"),
    "verbose": ((0, False), _FIELDS),
    "disp": ((0, False), _FIELDS),
    "full_output": ((0, False), _FIELDS),
    "ixpr": ((0, False), _FIELDS),
    "printmessg": ((0, False), _FIELDS),
    "callback": ((None,), "nothing is called between iterations; write the loop over `rose.grad`, or leave it out"),
    "options": ((None, {}), "give them as arguments: `tol=`, `maxiter=`"),
    "vectorized": ((False, True), "leave it out"),
    "workers": ((None, 1), "`rose.vmap` solves many at once"),
    "check_finite": ((None, False, True), "what is infinite or no number is a status"),
    "nan_policy": ((None, "raise"), "leave out the data that are no numbers before the fit"),
    "points": ((None,), "add the integrals between these points"),
    "weight": ((None,), "multiply by it in the function"),
    "wvar": ((None,), "multiply by the weight in the function"),
    "wopts": ((None,), "multiply by the weight in the function"),
    "maxp1": ((50,), "`limit` bounds the intervals: leave it out"),
    "limlst": ((50,), "`limit` bounds the intervals: leave it out"),
    "complex_func": ((False,), "integrate the real and the imaginary part"),
    "min_step": ((0, 0.0), _STEPS),
    "h0": ((0, 0.0), _STEPS),
    "hmax": ((0, 0.0), _STEPS),
    "hmin": ((0, 0.0), _STEPS),
    "mxhnil": ((0,), _STEPS),
    "mxordn": ((12,), _STEPS),
    "mxords": ((5,), _STEPS),
    "tcrit": ((None,), "solve from one of these times to the next"),
    "ml": ((None,), "derivatives are exact and dense: leave it out"),
    "mu": ((None,), "derivatives are exact and dense: leave it out"),
    "lband": ((None,), "derivatives are exact and dense: leave it out"),
    "uband": ((None,), "derivatives are exact and dense: leave it out"),
}
"""Of each keyword what asks for nothing else than is done here, and what to do instead of all else."""
_RENAMED = {"maxfev": "max_nfev", "xtol": "tol"}
_FUNCTION = ("fun", "func", "f")
_ENDS_NOTHING = ("ftol", "xtol", "gtol")
"""Where None is not the default: no such test."""


def takes_scipy_keywords(solver: Solver) -> Solver:
    """`solver`, which may also be called with the keywords that SciPy's function of its name has; None stands for a
    default, as it often does there.
    """
    known = inspect.signature(solver).parameters

    @functools.wraps(solver)
    def called(*args: Any, **given: Any) -> Any:
        return solver(*args, **_ours(solver.__name__, given, tuple(known)))

    return called  # type: ignore[return-value]  # of the same signature, for editors


def _ours(name: str, given: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """The keywords that are ours, of all that are `given`."""
    options = given.get("options")
    if isinstance(options, dict):
        given = {**options, **given, "options": None}
    found: dict[str, Any] = {}
    for key, value in given.items():
        ours = known[0] if key in _FUNCTION else key if key in known else _RENAMED.get(key, key)
        if ours in known:
            if value is not None or key in _ENDS_NOTHING:
                found[ours] = value
        elif key not in KEYWORDS:
            listed = ", ".join([f"`{each}`" for each in known])
            raise StagingTypeError(f"`rose.{name}` takes no `{key}`", help=f"it takes {listed}")
        elif not any([_is_same(value, idle) for idle in KEYWORDS[key][0]]):
            raise StagingTypeError(f"`rose.{name}` takes no `{key}={_shown(value)}`", help=KEYWORDS[key][1])
    return found


def _is_same(value: Any, idle: Any) -> bool:
    return value is idle or (value.__class__ is idle.__class__ and value == idle)


def _shown(value: Any) -> str:
    return value.__name__ if callable(value) and hasattr(value, "__name__") else repr(value)
