"""Tells which code begins to run in this thread, whoever calls it.

Since Python 3.12 by `sys.monitoring`: what need not be told again costs nothing from then on. Before that by a profile
function, which Python calls at each call and each return of whatever is called: staging takes two times as long.
"""

import sys
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, Protocol

Told = Callable[[CodeType, CodeType | None], bool]
"""Is given code that begins to run and that of its caller in Python; gives whether it is to be told of no more."""


class Runs(Protocol):
    """What watches one thread."""

    def begin(self) -> bool:
        """Whether it can: nobody else does."""
        ...

    def end(self) -> bool:
        """Whether it did all the time."""
        ...


def runs(told: Told) -> Runs:
    """The watch that this Python has."""
    return Profiled(told) if MONITORING is None else Monitored(told)


MONITORING: Any = getattr(sys, "monitoring", None)
_TOOLS, _TOOL = 6, 4
"""How many there may be, and one of the numbers that Python has named for nobody."""


class Monitored:
    """By `sys.monitoring`."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._thread = 0
        self._callback = self._starts  # one object, to be known again

    def begin(self) -> bool:
        """Whether it can: nobody else does."""
        if _is_watched() or any(MONITORING.get_tool(number) is not None for number in range(_TOOLS)):
            return False
        self._thread = get_ident()
        MONITORING.use_tool_id(_TOOL, "rosejit")
        for event in _events():
            MONITORING.register_callback(_TOOL, event, self._callback)
        MONITORING.set_events(_TOOL, sum(_events()))
        MONITORING.restart_events()  # some were disabled before
        return True

    def end(self) -> bool:
        """Whether it did all the time."""
        if not self._thread or MONITORING.get_tool(_TOOL) != "rosejit":
            return False
        watched = MONITORING.get_events(_TOOL) == sum(_events())
        MONITORING.set_events(_TOOL, 0)
        held = [MONITORING.register_callback(_TOOL, event, None) for event in _events()]
        MONITORING.free_tool_id(_TOOL)
        return watched and all(each is self._callback for each in held)

    def _starts(self, code: CodeType, offset: int) -> Any:
        if get_ident() != self._thread:
            return None
        caller = sys._getframe(1).f_back  # no other way to it
        known = self._told(code, None if caller is None else caller.f_code)
        return MONITORING.DISABLE if known else None


def _is_watched() -> bool:
    """Whether somebody else is told of what runs, and may do something then."""
    return sys.getprofile() is not None or sys.gettrace() is not None


def _events() -> tuple[int, int]:
    return MONITORING.events.PY_START, MONITORING.events.PY_RESUME


class Profiled:
    """By a profile function."""

    def __init__(self, told: Told) -> None:
        self._profile = _profile(told)

    def begin(self) -> bool:
        """Whether it can: nobody else does."""
        if _is_watched():
            return False
        sys.setprofile(self._profile)
        return True

    def end(self) -> bool:
        """Whether it did all the time: an error in a profile function removes it."""
        if sys.getprofile() is not self._profile:
            return False
        sys.setprofile(None)
        return True


def _profile(told: Told) -> Callable[[FrameType, str, Any], None]:
    known: dict[int, CodeType] = {}

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and id(frame.f_code) not in known:
            caller = frame.f_back
            if told(frame.f_code, None if caller is None else caller.f_code):
                known[id(frame.f_code)] = frame.f_code

    return profile
