"""Calls that give what is kept elsewhere: an object in a cache, a setting of a library, what is in a file.

Python would ask again at each call, so the guard asks again: what comes back must be what it was, by content. An array
is handed in at each call, as one that has a name. What is another thing each time (a clock) is warned of.
"""

# Values of users are of any type: what they are is asked while staging.

import abc
import functools
import sys
import warnings
from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from rosejit.errors import StagingWarning
from rosejit.frontend.guards.change_guards import ChangeGuard
from rosejit.frontend.guards.closure_guards import is_made_inside
from rosejit.frontend.guards.guards import AccessPath, AskedAgain, Guard, PathValue
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.reachable_state import Look, View
from rosejit.frontend.values.tape import Tape
from rosejit.list_room import is_opened, room
from rosejit.numeric import np

_CACHE = type(functools.lru_cache(lambda: None))

_KEPT_BY_MODULE = {
    "os": "getenv",
    "posix": "getcwd listdir",
    "nt": "getcwd listdir",
    "genericpath": "exists isfile isdir getsize",
    "posixpath": "exists",
    "pathlib": "Path.read_text Path.read_bytes Path.exists Path.is_file Path.is_dir",
    "sys": "getrecursionlimit getswitchinterval",
    "gc": "get_threshold isenabled get_debug",
    "decimal": "getcontext",
    "_decimal": "getcontext",
    "locale": "getlocale localeconv",
    "logging": "getLogger",
    "importlib": "import_module",
    "numpy": "geterr getbufsize get_printoptions load loadtxt genfromtxt fromfile",
}
"""By module the functions that read what anybody may set, and change nothing."""
_OTHER_BY_MODULE = {
    "time": "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns thread_time "
    "localtime gmtime ctime",
    "datetime": "datetime.now datetime.utcnow datetime.today date.today",
    "uuid": "uuid1 uuid4",
    "posix": "urandom times",
    "io": "open",
    "pathlib": "Path.open Path.stat",
    "secrets": "token_bytes token_hex token_urlsafe randbelow choice",
}
"""By module those that give another thing each time, or what cannot be asked for again."""
_KEPT, _OTHER = (
    {module: frozenset(names.split()) for module, names in each.items()} for each in (_KEPT_BY_MODULE, _OTHER_BY_MODULE)
)
_METHODS = frozenset({"__subclasses__", "cache_info"})
"""Methods of classes, and of caches, that do."""


def _is_among(function: Any, table: dict[str, frozenset[str]]) -> bool:
    kind = type(function)
    if kind is not BuiltinFunctionType and kind is not FunctionType and kind.__module__ != "numpy":
        return False
    owner = getattr(function, "__self__", None)
    module = str(getattr(function, "__module__", None) or getattr(owner, "__module__", None) or "")
    top = module.partition(".")[0]
    return getattr(function, "__qualname__", "") in table.get(top if top in ("numpy", "pathlib") else module, ())


def is_asked_again(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call gives what may be another thing, or hold others, at the next call."""
    if type(function) is _CACHE or function is room or function is is_opened:
        return True
    if function is issubclass or function is isinstance:
        return len(args) == 2 and any(map(_is_abstract, args[1] if isinstance(args[1], tuple) else args[1:]))
    if type(function) is BuiltinFunctionType and function.__name__ in _METHODS:
        return isinstance(function.__self__, (type, _CACHE))
    return _is_among(function, _KEPT)


def _is_abstract(cls: Any) -> bool:
    """Whether anybody may register classes with one."""
    return isinstance(cls, abc.ABCMeta)


def _tells(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call shows a text to somebody: a warning, a message of a logger that is heard, standard output."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if function is warnings.warn or function is warnings.warn_explicit:
        return True
    if getattr(function, "__module__", "") == "logging" and name in _LEVELS:
        found: list[Any] = [each for each in (owner, *args[:1]) if hasattr(each, "isEnabledFor")]
        logger: Any = found[0] if found else function.__globals__["root"]
        return bool(logger.isEnabledFor(_LEVELS[name]))
    return owner is not None and (owner is sys.stdout or owner is sys.stderr) and name in ("write", "writelines")


_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "exception": 40, "critical": 50}
"""By their names the levels of messages of `logging`."""
_GIVES = (
    "`{}` is called once, while the function is staged: later calls have what it gave then",
    "call it outside, and pass what it gives; or call it in a function of your own with `rose.opaque`",
)
_SHOWS = (
    "`{}` is called once, while the function is staged: later calls show nothing",
    "show a number of the call with `print`, which does so each time; or call it in a function of your own with "
    "`rose.opaque`",
)


def warn_of_once(tape: Tape, function: Any, args: tuple[Any, ...]) -> None:
    """Warn of a call that gives or shows another thing each time, and here is made once for each staging."""
    gives = _is_among(function, _OTHER) and not (args and function.__name__ in ("localtime", "gmtime", "ctime"))
    if not gives and not _tells(function, args):
        return
    words, remedy = _GIVES if gives else _SHOWS
    place, frame = tape.here(), frame_at(1)
    while frame is not None and not is_users_code(frame.f_code):
        frame = frame.f_back
    if place is None or frame is None:
        return
    found = StagingWarning(words.format(getattr(function, "__qualname__", function.__name__)), place, help=remedy)
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(found, None, place.file, place.line, registry=registry)


class Answers:
    """What calls in one function have given that is kept elsewhere."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[PathValue, Look | None]] = {}

    def note(self, session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any) -> bool:
        """Note what a call gave, if that is kept elsewhere, and what is in it; whether it is an array, to be handed in
        at each call."""
        if not is_asked_again(function, args):
            return False
        owner = function.__self__ if type(function) is BuiltinFunctionType else function
        key = id(owner), id(found), tuple(map(id, args))
        if key not in self._known:
            name = getattr(function, "__name__", "a cached function")
            chain = AccessPath(AskedAgain(function, args, kwargs), (f"{name}()",))
            self._known[key] = PathValue(chain, found), session.snapshots.look(found)
        if is_array(found):
            session.opened.handed.setdefault(id(found), []).append(self._known[key][0].chain)
        return is_array(found) and found.dtype.kind != "c"

    def of(self, codes: Iterable[CodeType]) -> tuple[list[PathValue], list[Guard]]:
        """What is as it was when it was given, and guards for what staged code itself has changed since: that code is
        used once. What a function with these codes has made itself is no concern."""
        ran = set(map(id, codes))
        found = [(read, look) for read, look in self._known.values() if not is_made_inside(read.chain, ran)]
        kept = [read for read, look in found if _is_as_given(read, look)]
        return kept, [ChangeGuard(read.chain) for read, _ in found if read not in kept]


def _is_as_given(read: PathValue, look: Look | None) -> bool:
    if isinstance(read.value, np.ndarray):  # which staged code never writes
        return True
    return (look or Look(read.value, View())).holds(read.chain.read())


def modules(reads: Iterable[PathValue]) -> list[PathValue]:
    """Modules that calls have given: what they hold is looked at, as no names lead there."""
    return [read for read in reads if isinstance(read.value, ModuleType)]
