"""Functions that Python calls and that were given staged values: is their error about those, and what is said then."""

# Values of users are of any type: what they are is asked while staging.

import builtins
import functools
import re
import struct
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from rosejit.errors import RoseError, StagingTypeError, UnsupportedSyntax
from rosejit.frontend.signature.describe import parameter_span
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.tape import Tape
from rosejit.numeric import loaded, np

_LRU_CACHE = type(functools.lru_cache(lambda: None))
_OUR_WORDS = re.compile("'Real'|'Int'|'Bool'|'Array'|array element with a sequence")
_OF_PYTHON = frozenset({"builtins", "operator", "itertools", "functools", "collections"})

_COUNTERPARTS = {
    "`rose.root(f, x0, bracket=(a, b))`": "scipy.optimize: brentq brenth bisect ridder toms748",
    "`rose.root(f, x0)`": "scipy.optimize: newton root_scalar root fsolve broyden1 broyden2 anderson newton_krylov",
    "`rose.fixed_point(f, x0)`": "scipy.optimize: fixed_point",
    "`rose.least_squares(residuals, x0)`": "scipy.optimize: least_squares leastsq lsq_linear",
    "`rose.curve_fit(f, x, y, p0)`": "scipy.optimize: curve_fit",
    "`rose.optim.minimize(f, x0)`": "scipy.optimize: minimize minimize_scalar fmin fmin_bfgs fmin_l_bfgs_b fmin_slsqp",
    "`rose.solve_ivp(f, t_span, y0)`": "scipy.integrate: solve_ivp odeint ode",
    "`rose.quad(f, a, b)`": "scipy.integrate: quad quad_vec romberg fixed_quad quadrature",
    "`np.trapezoid`": "scipy.integrate: trapezoid trapz simpson",
    "`scipy.special.ndtr`, or `math.erf`": "scipy.stats: cdf sf logcdf",
    "its formula, with `scipy.special.gammaln` and the like": "scipy.stats: pdf logpdf pmf logpmf ppf",
}
"""What does in staged code what functions of SciPy's do, by module and name; methods by the module of their class."""


def title_of(function: Any) -> str:
    """A function as users write it: `np.add.reduceat`, `struct.pack`, `scipy.optimize.brentq`."""
    owner: Any = getattr(function, "__self__", None)
    name = getattr(function, "__name__", type(function).__name__)
    if is_numpys(function):
        name = f"{owner.__name__}.{name}" if type(owner).__name__ == "ufunc" else name
        module = getattr(function, "__module__", None) or _module_of_ufunc(function, name)
        return f"{module.split('._')[0]}.{name}".replace("numpy.", "np.", 1)
    if getattr(builtins, name, None) is function:  # `open` says that it is of `io`
        return name
    module = str(getattr(function, "__module__", None) or "builtins").lstrip("_").split("._")[0]
    if isinstance(function, _LRU_CACHE):  # the user's own
        return str(getattr(function, "__qualname__", name)).rpartition("<locals>.")[2]
    return name if module in ("builtins", "main__") else f"{module}.{name}"


def _module_of_ufunc(function: Any, name: str) -> str:
    """Functions that NumPy made for SciPy do not say whose they are."""
    of_scipy = getattr(sys.modules.get("scipy.special"), name, None) is function
    return "scipy.special" if of_scipy and getattr(loaded(), name, None) is not function else "numpy"


def is_numpys(function: Any) -> bool:
    """Whether a function is NumPy's, which would do to staged values what nobody can foresee."""
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or getattr(type(owner), "__module__", "")
    return module.split(".")[0] == "numpy" or (isinstance(function, np.ufunc) if loaded() is not None else False)


def says_of_staged(function: Any, error: Exception, met: Callable[[], bool]) -> bool:
    """Whether an error of a function that is not staged is about staged values: it `met` some if it was given them, or
    if a function of the user's that it called computed with them."""
    home = _home(function)
    if str(getattr(function, "__module__", "")).startswith("rosejit.api."):  # what it says is about what it was given
        return False
    if isinstance(error, RoseError):
        is_foreign = home not in _OF_PYTHON and home != "rosejit" and not is_numpys(function)
        return (is_foreign or isinstance(function, _LRU_CACHE)) and isinstance(error, StagingTypeError) and met()
    if isinstance(error, (TypeError, ValueError)) and _OUR_WORDS.search(str(error)):
        return True
    if is_numpys(function) or home in _OF_PYTHON:  # `islice` says of anything but an int that it is no good value
        return isinstance(error, (TypeError, ValueError) if home == "itertools" else TypeError) and met()
    about = (TypeError, ValueError, IndexError, AttributeError, struct.error)
    is_own = type(error).__module__ != "builtins"  # a library's class of errors
    return (is_own or isinstance(error, about)) and not _raised_by_user(error) and met()


def _raised_by_user(error: Exception) -> bool:
    """Whether the line that raised an error is of the user's code."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and is_users_code(trace.tb_frame.f_code)


def _home(function: Any) -> str:
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    return module.lstrip("_").split(".")[0]


def refuse(tape: Any, function: Any, error: Exception) -> NoReturn:
    """A function that is not staged was given a staged value, and knew no better than `error`."""
    title = title_of(function)
    if isinstance(function, _LRU_CACHE):
        fault = tape.fault(
            StagingTypeError,
            f"`{title}` keeps its results by its arguments, and the value of a staged one only running tells",
            facts=("`functools.lru_cache` or `functools.cache` has made it",),
            help=f"take the cache off, or call what is under it: `{title}.__wrapped__(...)`",
        )
        fault.span = fault.span or parameter_span(function.__wrapped__, "return")
        raise fault from None
    raise tape.fault(
        StagingTypeError,
        f"`{title}` is called by Python, and takes no staged values",
        facts=(f"it says: {str(error).splitlines()[0]}",) if str(error) else (),
        help=_help(title),
    ) from None


def _help(title: str) -> str:
    module, _, name = title.rpartition(".")
    for counterpart, functions in _COUNTERPARTS.items():
        home, _, names = functions.partition(": ")
        if module.startswith(home) and name in names.split():
            return f"use {counterpart}, or make it a function of your own with `rose.opaque`"
    return "use a function of `math`, `numpy` or `rose`, or make it a function of your own with `rose.opaque`"


def fails_inside(tape: Tape, error: Exception) -> UnsupportedSyntax:
    """The refusal of host arithmetic without a result in a staged branch or loop: Python raises only where it gets
    there, which running tells."""
    return UnsupportedSyntax(
        "what Python computes here has no result, in a staged branch or loop",
        tape.places.of_traceback(error.__traceback__),
        facts=(f"it says {type(error).__name__}: {error}", "whether this line is reached only running tells"),
        help="compute it before the branch or loop, or of an argument, which is computed when the code runs",
    )
