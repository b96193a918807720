"""What users call: a function that is staged and compiled for each kind of arguments, and cached."""

import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rosejit.abi import Tree
from rosejit.api.program import load
from rosejit.api.staged import Staged
from rosejit.errors import RoseError, without_internal_frames
from rosejit.frontend import staging
from rosejit.frontend.binding import Call
from rosejit.frontend.binding import Signature as Binding
from rosejit.runtime.marshal import Mismatch
from rosejit.runtime.marshal import Signature as Interface


@dataclass(slots=True, frozen=True)
class Options:
    """How a function is compiled: see `rose.jit`."""

    cache: bool = True
    fastmath: bool = False
    tier: str = "auto"

    @property
    def text(self) -> str:
        """What of it decides the compiled code."""
        return f"fastmath={self.fastmath}"


class CacheInfo(NamedTuple):
    """Calls that found compiled code, calls that had to stage, and for how many kinds of arguments there is code."""

    hits: int
    misses: int
    size: int


@dataclass(slots=True)
class Specialisation:
    """A function for one key: staged, and compiled when it is first called."""

    staged: Staged
    call: Callable[..., Any] | None = None


class Function:
    """A function of staged values. Subclasses say how it is bound and staged; this class caches and calls.

    `parameters` are those of the Python function that a caller sees.
    """

    __name__: str
    __wrapped__: Callable[..., Any]
    __signature__: inspect.Signature

    def __init__(self, binding: Binding, options: Options) -> None:
        self._binding = binding
        self._options = options
        self._known: dict[tuple[Tree, ...], Specialisation] = {}
        self._lock = threading.RLock()
        self._latest: Callable[..., Any] = _unstaged
        self._misses = 0
        self._hits = 0

    # --- to be said by subclasses

    def _stage(self, call: Call) -> Staged:
        raise NotImplementedError

    # --- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the compiled function; inside a staged function, stage a call."""
        try:
            return self._latest(*args, **kwargs)
        except Mismatch:
            pass
        try:
            return self._other(args, kwargs)
        except RoseError as error:
            raise error.with_traceback(without_internal_frames(error.__traceback__)) from error.__cause__

    def _other(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that the latest code does not fit."""
        if staging.active():
            return staging.call(self, args, kwargs)
        out = {"out": kwargs.pop("out")} if "out" in kwargs and "out" not in self.__signature__.parameters else {}
        call = self._binding.bind(args, kwargs)
        with self._lock:
            run = self._compiled(call)
        self._latest = run
        return run(*args, **kwargs, **out)

    def specialise(self, call: Call) -> Staged:
        """`self` staged for the arguments of `call`; staged anew where what it read has changed."""
        with self._lock:
            return self._specialisation(call).staged

    def _specialisation(self, call: Call) -> Specialisation:
        key = call.key
        found = self._known.get(key)
        if found is not None and staging.is_current(found.staged.reads):
            self._hits += 1
            return found
        self._misses += 1
        made = Specialisation(self._stage(call))
        self._known[key] = made
        return made

    def _compiled(self, call: Call) -> Callable[..., Any]:
        found = self._specialisation(call)
        if found.call is None:
            staged = found.staged
            program = load({"main": staged.function}, self._options.cache, self._options.text)
            interface = Interface(
                name=self.__name__,
                parameters=tuple(self.__signature__.parameters.values()),
                trees=staged.trees,
                result=staged.result,
                reads=staged.reads,
                same=staging.same_static,
                qualname=getattr(self, "__qualname__", self.__name__),
            )
            found.call = program.function("main", interface)
        return found.call

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As functions do: a method when read from an instance."""
        return self if instance is None else functools.partial(self, instance)

    # --- looking inside

    def cache_info(self) -> CacheInfo:
        """What the memory cache holds."""
        return CacheInfo(self._hits, self._misses, len(self._known))

    def cache_clear(self) -> None:
        """Forget all compiled code of this function; the disk cache stays."""
        with self._lock:
            self._known.clear()
            self._latest = _unstaged

    def __repr__(self) -> str:
        return f"<rose.Function {self.__name__}{self.__signature__}>"


def _unstaged(*args: Any, **kwargs: Any) -> Any:
    raise Mismatch
