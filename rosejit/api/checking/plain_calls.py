"""Runs functions of `rose` as the plain Python that they are written in: what `rose.check` compares with."""

import copy
import math
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

from rosejit.frontend.hints.hints import Dual
from rosejit.frontend.syntax.user_code import is_users
from rosejit.frontend.values.pytree import parts, with_parts
from rosejit.numeric import np


class Parted(Exception):
    """Another run does other things than the first: what the first has kept does not fit."""


class PlainRun:
    """A run in CPython. It keeps what `stop_gradient` gave, and calls of functions with custom derivatives; one that
    is given those of an earlier run takes these for constants, and such functions for linear ones around them."""

    def __init__(self, earlier: "PlainRun | None" = None) -> None:
        self.kept: list[Any] = []
        self._earlier: Iterator[Any] | None = None if earlier is None else iter(earlier.kept)
        self._quiet = False

    def held(self, value: Any) -> Any:
        """What is constant as far as derivatives go."""
        if self._quiet:
            return value
        if self._earlier is not None:
            return copy.deepcopy(self._next())
        self.kept.append(copy.deepcopy(value))
        return value

    def call(self, body: Callable[..., Any], rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a decorated function."""
        if rule is None or self._quiet or kwargs:
            return body(*args, **kwargs)
        self._quiet = True
        try:
            if self._earlier is None:
                given = copy.deepcopy(args)
                value = body(*args)
                self.kept.append((given, copy.deepcopy(value)))
                return value
            given, value = self._next()
            made = rule(*[_dual(a, b) for a, b in zip(given, args, strict=True)])
            return _moved(value, made.du)
        finally:
            self._quiet = False

    def _next(self) -> Any:
        assert self._earlier is not None
        for found in self._earlier:
            return found
        raise Parted


def _is_real(value: Any) -> bool:
    return isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def _dual(old: Any, new: Any) -> Any:
    """The argument of a rule, from an old value to a new one."""
    du = _step(old, new)
    return old if du is None else Dual(old, du)


def _step(old: Any, new: Any) -> Any:
    if _is_real(new) or _is_real(old):
        return new - old
    inside = parts(old)
    if inside is None:
        return None
    steps = [_step(a, b) for a, b in zip(inside, parts(new) or (), strict=True)]
    return None if all(step is None for step in steps) else with_parts(old, steps)


def _moved(value: Any, du: Any) -> Any:
    """`value` and a step of it."""
    if du is None or (isinstance(du, int | float) and du == 0):
        return value
    inside = parts(value)
    if inside is None or isinstance(du, np.ndarray):
        return value + du
    return with_parts(value, [_moved(a, b) for a, b in zip(inside, parts(du) or (), strict=True)])


PLAIN: ContextVar[PlainRun | None] = ContextVar("rosejit_plain", default=None)
"""The run in CPython that is going on here."""


def held(value: Any) -> Any:
    """`value`, which `stop_gradient` gives outside of staged code."""
    run = PLAIN.get()
    return value if run is None else run.held(value)


# --- time


class Stopped(BaseException):
    """A run took too long; no handler of the user's takes it for an error."""

    def __init__(self, file: str, line: int) -> None:
        self.file, self.line = file, line


class Path:
    """The lines that a run goes through, as one number."""

    def __init__(self) -> None:
        self.key = 0


@contextmanager
def limited(seconds: float, in_folder: str | None = None) -> Generator[Path]:
    """A block that ends by `Stopped` at the first line of Python after so many seconds: in files of a folder, or
    outside of this package. Gives the path that it takes."""
    end = time.perf_counter() + seconds
    clock, path = time.perf_counter, Path()
    tracers: dict[str, Any] = {}  # by file: Python asks at each call, of ours too

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal end
        if event == "line" and clock() > end:  # not where a generator that nobody wants is closed: who would see it?
            if in_folder is not None:  # raised again in generators that are closed then, it is a warning
                end = math.inf
            raise Stopped(frame.f_code.co_filename, frame.f_lineno)
        path.key = hash((path.key, frame.f_lineno, frame.f_code.co_firstlineno))
        return line

    def called(frame: FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        if file not in tracers:
            inside = is_users(file) if in_folder is None else file.startswith(in_folder)
            tracers[file] = line if inside else None
        return tracers[file]

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield path
    finally:
        sys.settrace(before)
