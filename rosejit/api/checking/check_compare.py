"""Runs a function one way or another, on copies of its arguments, and says where two runs differ."""

import contextlib
import copy
import dis
import io
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from rosejit.api.checking.plain_calls import Stopped, limited
from rosejit.errors import RoseError, UnboundStagedName
from rosejit.frontend.syntax.user_code import is_users
from rosejit.frontend.values.pytree import parts
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

# Arguments and results are whatever a user's function takes and gives.


@dataclass(slots=True)
class Outcome:
    """What came of one run: a value or an error, what was printed, and the arguments as they are behind it."""

    value: Any = None
    error: Exception | None = None
    printed: str = ""
    arguments: tuple[Any, ...] = ()
    stopped: Stopped | None = None
    path: int = 0
    """Tells runs that go through other lines."""

    def __str__(self) -> str:
        if self.stopped is not None:
            return "stopped"
        return repr(self.value) if self.error is None else f"{type(self.error).__name__}: {_first_line(self.error)}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


def outcome(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    around: AbstractContextManager[Any],
    seconds: float | None = None,
    in_folder: str | None = None,
) -> Outcome:
    """`function(*args)` inside of `around`; it is stopped after so many seconds, if that is given, where Python runs in
    files of a folder, or in the user's."""
    given = copied(args)
    shown = io.StringIO()
    limit = limited(seconds, in_folder) if seconds is not None else contextlib.nullcontext()
    found = Outcome(arguments=given)
    try:
        with warnings.catch_warnings(), around, contextlib.redirect_stdout(shown), limit as path:
            warnings.simplefilter("ignore")  # each run says the same
            found.value = function(*given)
        found.path = 0 if path is None else path.key
    except Stopped as stopped:
        found.stopped = stopped
    except Exception as error:  # the other runs must raise the same
        found.error = error
    found.printed = shown.getvalue()
    return found


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments for one run: what it changes nobody else sees."""
    try:
        return copy.deepcopy(args)
    except Exception:  # a lock, an open file: an argument that cannot be copied is its own copy
        return tuple([_copied(arg) for arg in args])


def _copied(arg: Any) -> Any:
    try:
        return copy.deepcopy(arg)
    except Exception:  # as above
        return arg


# --- values


def numbers(value: Any) -> Iterator[Any]:
    """The numbers in a value of any structure, in order."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bool | int | float):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)
    else:
        for part in parts(value) or ():
            yield from numbers(part)


def differ(found: Any, wanted: Any, tolerance: float, path: str = "") -> str | None:
    """Where `found` is another value than `wanted`, as words; None where it is the same."""
    here = f"at {path}: " if path else ""
    if isinstance(found, np.ndarray) or isinstance(wanted, np.ndarray):
        return _arrays_differ(found, wanted, tolerance, here)
    wanted = wanted.item() if isinstance(wanted, np.generic) else wanted
    found = found.item() if isinstance(found, np.generic) else found
    if isinstance(found, bool | int | float | complex) and isinstance(wanted, bool | int | float | complex):
        kinds = _kind(found) == _kind(wanted)
        close = is_close if not isinstance(wanted, complex) else _complex_close
        same = kinds and close(found, wanted, tolerance)  # pyright: ignore[reportArgumentType]  # of one kind
        return None if same else f"{here}{found!r}, and not {wanted!r}"
    inside, others = parts(found), parts(wanted)
    if inside is not None and others is not None:
        if type(found) is not type(wanted) or len(inside) != len(others):
            return (
                f"{here}a {type(found).__name__} of {len(inside)}, and not a {type(wanted).__name__} of {len(others)}"
            )
        if isinstance(wanted, dict) and [*found] != [*wanted]:  # type: ignore[misc]  # it is of the same class
            return f"{here}the keys {[*found]}, and not {[*wanted]}"  # type: ignore[misc]  # as above
        for k, (one, other) in enumerate(zip(inside, others, strict=True)):
            words = differ(one, other, tolerance, f"{path}[{k}]")
            if words is not None:
                return words
        return None
    if type(found) is not type(wanted):
        return f"{here}a {type(found).__name__}, and not a {type(wanted).__name__}"
    if hasattr(wanted, "__dict__") and not isinstance(wanted, type) and not callable(wanted):
        return differ(vars(found), vars(wanted), tolerance, path)
    return None if not isinstance(wanted, str | bytes) or found == wanted else f"{here}{found!r}, and not {wanted!r}"


def _arrays_differ(found: Any, wanted: Any, tolerance: float, here: str) -> str | None:
    try:
        a, b = np.asarray(found), np.asarray(wanted)
    except ValueError:  # a list of rows that are not of one length
        return f"{here}{found!r}, and not {wanted!r}"
    if a.shape != b.shape:
        return f"{here}an array of shape {a.shape}, and not {b.shape}"
    if a.dtype.kind == "c" or b.dtype.kind == "c":
        if a.dtype.kind != b.dtype.kind:
            return f"{here}an array of {a.dtype}, and not {b.dtype}"
        return _arrays_differ(a.real, b.real, tolerance, here) or _arrays_differ(a.imag, b.imag, tolerance, here)
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        return None
    scale = max([abs(x) for x in b.ravel().tolist() if math.isfinite(x)], default=0.0)
    for k, (x, y) in enumerate(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)):
        if not is_close(x, y, tolerance, scale):
            at = list(map(int, np.unravel_index(k, a.shape)))
            return f"{here}{x!r} at {at}, and not {y!r}" if at else f"{here}{x!r}, and not {y!r}"
    return None


def is_close(a: float, b: float, tolerance: float, scale: float = 0.0) -> bool:
    """Whether two numbers are the same but for rounding; zeros of both signs, and all NaN, are one."""
    if a == b or (a != a and b != b):
        return True
    if not (math.isfinite(a) and math.isfinite(b)):
        return False
    return abs(a - b) <= tolerance * max(abs(a), abs(b), scale)


def _kind(number: complex) -> int:
    return isinstance(number, bool) - isinstance(number, complex)


def _complex_close(a: complex, b: complex, tolerance: float) -> bool:
    scale = abs(b) if math.isfinite(abs(b)) else 0.0
    return is_close(a.real, b.real, tolerance, scale) and is_close(a.imag, b.imag, tolerance, scale)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two values hold the same numbers, to the last bit; all NaN are one."""
    return list(map(repr, numbers(a))) == list(map(repr, numbers(b)))


# --- errors


def errors_differ(found: Exception, wanted: Exception) -> str | None:
    """How an error is another one than CPython's: in its class, or in what the user's own `raise` or `assert` says."""
    kind = NameError if isinstance(wanted, NameError) and isinstance(found, UnboundStagedName) else type(wanted)
    words = f"{type(found).__name__}: {_first_line(found)}, and not {type(wanted).__name__}: {_first_line(wanted)}"
    if not isinstance(found, kind):
        return words
    said = is_raised(wanted) or isinstance(wanted, AssertionError)
    return words if said and _first_line(wanted) not in str(found) else None


def is_raised(error: Exception) -> bool:
    """Whether a `raise` statement of the user's raised an error, not an operation."""
    last = _last(error.__traceback__)
    if last is None or not is_users(last.tb_frame.f_code.co_filename):
        return False
    code = last.tb_frame.f_code.co_code
    return dis.opname[code[last.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


def _last(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def excused(found: Outcome, wanted: Outcome) -> str | None:
    """Why a run that raises and one that does not may both be right, by the contract: in words."""
    error = wanted.error
    if found.error is None and error is not None and _is_of_numbers(error) and not is_raised(error):
        return f"CPython raises {wanted}, where Reals are inf or nan"
    if wanted.error is None and isinstance(found.error, OverflowError) and isinstance(found.error, RoseError):
        return "an Int has 64 bits, and CPython's ints any number"
    return None


def _is_of_numbers(error: Exception) -> bool:
    """Whether an operation, or a function of `math`, says that it has no value at a point."""
    if isinstance(error, ZeroDivisionError | OverflowError):
        return True
    return type(error) is ValueError and ("math" in str(error) or "expected a" in str(error))


def printed_differ(found: str, wanted: str) -> str | None:
    """How other lines are printed. What is known while staging is printed then, before all else: the order is free."""
    one, other = sorted(found.splitlines()), sorted(wanted.splitlines())
    if one == other:
        return None
    for a, b in zip(found.splitlines(), wanted.splitlines(), strict=False):
        if a != b:
            return f"it prints {a!r}, and not {b!r}"
    return f"it prints {len(one)} lines, and not {len(other)}"
