"""A solver and the user's function to one program: how every solver of this package is run."""

import math
from collections.abc import Callable
from typing import Any

from rosejit.api import sessions
from rosejit.api.calling.specialisation import NO_RETURN
from rosejit.api.decorators import as_function, from_source
from rosejit.api.function import Function, made_once, ready
from rosejit.api.wrapping.stand_ins import program_of_call
from rosejit.errors import RoseError, RoseValueError, ShapeError, StagingTypeError
from rosejit.frontend.hints.hints import Repeated
from rosejit.frontend.signature.describe import parameter_span
from rosejit.frontend.values.pytree import parts, staged_leaf, with_parts
from rosejit.numeric import np


def solve(transform: Callable[..., Any], f: Any, build: Callable[[Function], Any], given: Any, *options: Any) -> Any:
    """What `build(f)`, a function to be staged, makes of `given`; compiled once for all calls with these options.

    Tolerances and limits are for the run, and come with what is given.
    """

    def program(base: Function) -> Function:
        name = f"{transform.__name__}_{base.__name__}"
        return made_once(base, (transform, *options), lambda: from_source(build(base), base.options, (), name))

    def fits(made: Function) -> bool:
        try:
            return ready(made, made.binding.bind(given, {})) is not None
        except RoseError:
            return False

    at = sessions.current()
    try:
        if at is not None:
            return program(as_function(f)).__rose_stage__(at, given, {})
        if not all(map(_is_word, options)):
            return program(as_function(f))(*given)
        with program_of_call(f, program, fits) as made:
            return made(*given)
    except (StagingTypeError, ShapeError) as error:
        error.span = error.span or parameter_span(as_function(f).binding.function, "return")
        raise


def _is_word(option: Any) -> bool:
    """Whether an option holds no function, which may be another one at each call."""
    if isinstance(option, tuple):
        return all(map(_is_word, option))
    return option is None or isinstance(option, (str, bool, int, float))


def checked(transform: Callable[..., Any], result: Any, raise_on_failure: bool) -> Any:
    """`result`, or the error that says in words why it is no solution."""
    if raise_on_failure:
        check(transform, lambda: (result.success, result.message, result.nfev))
    return result


def check(transform: Callable[..., Any], outcome: Callable[[], tuple[Any, str, Any]]) -> None:
    """Raise where no solution was found; `outcome` gives success, why not, and the evaluations of the function."""
    name = transform.__name__
    if sessions.current() is not None:
        raise StagingTypeError(
            f"`rose.{name}` cannot raise in compiled code",
            help="leave `raise_on_failure` out, and look at what it gives: failures are a status, or no number",
        )
    success, message, evaluations = outcome()
    if not success:
        raise RoseValueError(
            f"`rose.{name}` found no solution: {message}",
            facts=(f"it ended after {evaluations} evaluations of the function",),
            help="leave `raise_on_failure` out to see where it ended",
        )


def several(args: Any) -> Any:
    """Further arguments: one that is in no tuple is one, as SciPy has it."""
    return args if isinstance(args, (tuple, list)) else (args,)


def state(f: Function, x0: Any, position: int = 0) -> Any:
    """`x0` as a solver holds it: its integers as Reals, and a list of numbers a vector, as SciPy has it, unless `f` has
    the hint of a list at that position.
    """
    if type(x0) is not list or not x0 or not all([_is_number(each) for each in x0]):
        return real(x0)
    hints = f.binding.descriptions[position : position + 1]
    return real(x0) if isinstance((*hints, None)[0], Repeated) else np.array(real(x0))


def _is_number(x: Any) -> bool:
    leaf = staged_leaf(x)
    return isinstance(x, (int, float)) if leaf is None else leaf.kind in ("int", "real")


def real(x: Any) -> Any:
    """`x`, its integers as Reals: numbers, arrays and containers of them. Fields of classes stay what they are."""
    if type(x) in (list, tuple, dict):
        return with_parts(x, [real(part) for part in parts(x) or ()])
    leaf = staged_leaf(x)
    whole = type(x) is int if leaf is None else "int" in (leaf.kind, leaf.element if leaf.kind == "array" else "")
    return 1.0 * x if whole else x


def vector(y: Any) -> Any:
    """The numbers of a result, constants too, as one vector."""
    found = _vectors(y)
    return found[0] if len(found) == 1 else np.concatenate(found)


def _vectors(y: Any) -> list[Any]:
    inside = parts(y)
    if inside is not None:
        return [found for part in inside for found in _vectors(part)]
    y = 1.0 * numbers(y)
    return [y.ravel() if getattr(y, "ndim", 0) else np.array([y])]


def numbers(y: Any) -> Any:
    """The result of the user's function, which is not None, nor a text."""
    if y is None or isinstance(y, str):
        raise StagingTypeError(f"a function that is solved for gives numbers, this one {y!r}", help=NO_RETURN)
    return y


def option(transform: Callable[..., Any], name: str, given: Any, known: tuple[str, ...]) -> str:
    """`given`, if it is one of the words that `name` may be."""
    if given not in known:
        raise RoseValueError(
            f"`rose.{transform.__name__}` knows no {name} {given!r}",
            help=f"the choices are {', '.join(repr(each) for each in known)}",
        )
    return given


def amount(transform: Callable[..., Any], name: str, given: Any) -> float:
    """A tolerance or a scale, which staging knows: a number that is not negative."""
    try:
        found = math.nan if isinstance(given, str) else float(given)
    except (TypeError, ValueError) as error:
        if isinstance(error, RoseError):
            raise
        found = math.nan
    if not found >= 0.0:
        raise RoseValueError(f"`{name}` of `rose.{transform.__name__}` is a number of at least 0, given {given!r}")
    return found


def count(transform: Callable[..., Any], name: str, given: Any) -> int:
    """A limit of iterations or calls: an integer that is not negative."""
    found = amount(transform, name, given)
    if not found.is_integer():
        raise RoseValueError(f"`{name}` of `rose.{transform.__name__}` is a whole number, given {given!r}")
    return int(found)
