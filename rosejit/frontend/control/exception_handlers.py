"""The hooks of `try` statements and of `contextlib.suppress`: errors of the host unwind, those of staged arithmetic
are branches."""

import dis
import sys
from contextlib import _GeneratorContextManager
from types import FrameType, FunctionType
from typing import Any

from rosejit.errors import RoseError, UnboundStagedName, UnsupportedSyntax
from rosejit.frontend.control.short_circuit import Circuits
from rosejit.frontend.control.special_methods import member_of
from rosejit.frontend.control.undefined import Poison
from rosejit.frontend.scalar_ops.faults import Faults, Level
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.scalars import Int, P
from rosejit.frontend.values.tape import Frame, Tape
from rosejit.ir.failure import renewed
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True)
class TryState:
    """What was open when a `try` began."""

    frames: tuple[Frame, ...]
    heights: tuple[int, ...]
    depth: int
    faults: Faults | None
    """Those that the `try` waits for, if it waits for any."""
    level: Level | None = None
    levels: int = 0


def _kinds(kind: Any) -> tuple[type, ...]:
    if isinstance(kind, tuple):
        return tuple(cls for each in kind for cls in _kinds(each))
    return (kind,) if isinstance(kind, type) else ()


_OF_THE_HOST = (TypeError, AttributeError, NameError, ImportError, OSError, SyntaxError, StopIteration, Warning)


def _is_staged(cls: type) -> bool:
    """Whether staged code may raise what a handler of a class takes, by arithmetic, look-ups, `raise` or `assert`."""
    return not issubclass(cls, _OF_THE_HOST) and (issubclass(cls, Exception) or cls is BaseException)


def entered(tape: Tape, kinds: tuple[Any, ...], owner: FrameType) -> tuple[Faults | None, Level | None, int]:
    """Begin what catches errors of these kinds, a handler each."""
    classes = tuple(_kinds(kind) for kind in kinds)
    faults, level = tape.faults, Level(classes, set(), owner)
    if faults is None and not any(_is_staged(cls) for each in classes for cls in each):
        return None, None, 0
    if faults is None:
        faults = tape.faults = Faults(tape)
    tape.waited = True
    faults.levels.append(level)
    level.settle(tape)
    return faults, level, len(faults.levels) - 1


def left(tape: Tape, faults: Faults | None, level: int) -> None:
    """End what is open from that level on."""
    if faults is not None:
        del faults.levels[level:]
        if not faults.levels and tape.faults is faults:
            tape.faults = None


class Suppressed:
    """`contextlib.suppress` of errors that arithmetic raises."""

    def __init__(self, tape: Tape, manager: Any, classes: tuple[Any, ...]) -> None:
        self._tape, self._manager, self._classes = tape, manager, classes

    def __enter__(self) -> Any:
        self._faults, self._level, self._height = entered(self._tape, (self._classes,), frame_at(1))
        self._depth = len(self._tape.catching)
        self._tape.catching.append(_kinds(self._classes))
        return self._manager.__enter__()

    def __exit__(self, *raised: Any) -> Any:
        suppressed = self._manager.__exit__(*raised)
        del self._tape.catching[self._depth :]
        faults, level = self._faults, self._level
        if faults is None or level is None:
            return suppressed
        if raised[0] is None:
            _check_tested(faults, level)
            caught = _is_one(faults.code(), level.taken(0, faults.codes))
            if caught is not False:
                self._tape.write(
                    faults.cell, P["iselect"].__call__(caught, 0, faults.code()) if caught is not True else 0
                )
        left(self._tape, faults, self._height)
        return suppressed


class Watched:
    """An object of a `with` whose `__exit__` may swallow what Python's arithmetic raises: in its block nothing may."""

    def __init__(self, tape: Tape, manager: Any) -> None:
        self._tape, self._manager = tape, manager

    def __enter__(self) -> Any:
        self._faults, self._level, self._height = entered(self._tape, (Exception,), frame_at(1))
        return self._manager.__enter__()

    def __exit__(self, *raised: Any) -> Any:
        faults, level = self._faults, self._level
        if faults is not None and level is not None:
            if level.recorded:
                raise self._tape.fault(
                    UnsupportedSyntax,
                    f"what a {type(self._manager).__name__} does where arithmetic in its `with` raises is not staged",
                    facts=("its `__exit__` may swallow the error, or a handler around waits for it",),
                    help="write `try` and `except`, or `contextlib.suppress`, in the place of the `with`",
                )
            left(self._tape, faults, self._height)
        return self._manager.__exit__(*raised)


def watched(tape: Tape, manager: Any) -> Any:
    """The object of a `with`, looked at if its `__exit__` is written in Python and may give what is true."""
    leave = member_of(type(manager), "__exit__")
    if type(manager) in (Suppressed, _GeneratorContextManager) or not isinstance(leave, FunctionType):
        return manager
    waits = tape.faults is not None
    return Watched(tape, manager) if waits or not _gives_nothing(leave) else manager


def _gives_nothing(function: FunctionType) -> bool:
    """Whether all that a function returns is written down as None or False."""
    before: Any = True
    for step in dis.get_instructions(function):
        if step.opname == "RETURN_CONST" and step.argval:
            return False
        if step.opname == "RETURN_VALUE" and before:
            return False
        before = step.argval if step.opname == "LOAD_CONST" else True
    return True


def _check_tested(faults: Faults, level: Level) -> None:
    if level.pending:
        faults.refuse("the block ends")


def _is_one(code: Any, codes: list[int]) -> Any:
    """Whether a code is one of these."""
    if code.__class__ is not Int:
        return code in codes
    found: Any = False
    for each in codes:
        found = code == each if found is False else found | (code == each)
    return found


@dataclass(slots=True)
class TryStatements:
    """`try` statements."""

    tape: Tape
    circuits: Circuits
    caught: tuple[Faults | None, tuple[type[BaseException], ...]] = (None, ())
    """What the handler that begins takes."""

    def trying(self, final: bool, *kinds: Any) -> TryState:
        """Begin a `try` whose handlers catch these; with a `finally` that does something if `final`."""
        tape = self.tape
        opened = tuple(tape.frames), self.circuits.heights(), len(tape.catching)
        tape.catching.append((BaseException,) if final else tuple(cls for kind in kinds for cls in _kinds(kind)))
        return TryState(*opened, *entered(tape, kinds, frame_at(1)))

    def faulted(self) -> Any:
        """Whether the statement before has raised, as far as somebody waits for that."""
        faults = self.tape.faults
        if faults is None:
            return False
        pending = faults.pending
        faults.settle(frame_at(1))
        return self.escaped() if pending else False

    def escaped(self) -> Any:
        """Whether a `try` or a `with` inside has left an error to those around."""
        faults = self.tape.faults
        if faults is None:
            return False
        code = faults.code()
        return code != 0 if code.__class__ is Int else bool(code)

    def tried(self, attempt: TryState) -> None:
        """The body has ended without an exception of the host."""
        del self.tape.catching[attempt.depth :]
        if attempt.faults is not None and attempt.level is not None:
            _check_tested(attempt.faults, attempt.level)
            left(self.tape, attempt.faults, attempt.levels)

    def handles(self, attempt: TryState, handler: int) -> Any:
        """Whether a handler takes what staged code has raised."""
        if attempt.faults is None or attempt.level is None:
            return False
        codes = attempt.level.taken(handler, attempt.faults.codes)
        self.caught = attempt.faults, tuple([cls for cls, code in attempt.faults.codes.items() if code in codes])
        return _is_one(attempt.faults.code(), codes) if codes else False

    def handled(self) -> None:
        """A handler takes the error."""
        if self.tape.faults is not None:
            self.tape.write(self.tape.faults.cell, 0)

    def raised_error(self) -> Any:
        """What the name in `except E as name` is bound to: an error that the user's `raise` made."""
        faults, classes = self.caught
        if faults is not None and len(classes) == 1 and classes[0] in faults.kept and classes[0] not in faults.bare:
            kept = faults.kept[classes[0]]
            holds: Any = self.tape.read_cell(kept.cell)
            if not isinstance(holds, Poison):
                return renewed(classes[0], holds[0], dict(zip(kept.layout[1], holds[1], strict=True)))
        several = len(classes) > 1
        return Poison(
            self.tape,
            f"which error it is only running tells ({', '.join([cls.__name__ for cls in classes])})"
            if several
            else "an error that staged arithmetic raises has no object: only its class is known",
            "write a handler for each class" if several else "leave out `as`, and say in the handler what it is",
        )

    def reraised(self) -> None:
        """A bare `raise` in a handler of staged code."""
        raise self.tape.fault(
            UnsupportedSyntax,
            "a bare `raise` in a handler of what staged arithmetic raises cannot be staged",
            help="raise an error of your own, or test before with `if`",
        )

    def unwound(self, attempt: TryState) -> None:
        """The body has ended with an exception, which a handler has caught."""
        tape = self.tape
        tape.quoted = None
        del tape.catching[attempt.depth :]
        error = sys.exc_info()[1]
        if isinstance(error, UnboundStagedName) and not tape.is_staged:
            tape.error = None  # as Python's own: on the host a name can be looked for
        elif isinstance(error, RoseError):
            raise error
        if len(tape.frames) != len(attempt.frames) or any(
            a is not b for a, b in zip(tape.frames, attempt.frames, strict=True)
        ):
            del tape.frames[len(attempt.frames) :]
            tape.lets = tape.frames[-1].lets
            raise tape.fault(
                UnsupportedSyntax,
                f"{type(error).__name__} is raised inside a staged branch or loop and caught outside",
                help="catch it inside, or decide with `if`",
            )
        self._unwind_faults(attempt)
        self.circuits.unwind(attempt.heights)

    def _unwind_faults(self, attempt: TryState) -> None:
        """The host has raised behind what may have raised in staged code: which of the two comes first is not known."""
        faults, level = attempt.faults, attempt.level
        if faults is None or level is None:
            return
        if level.pending:
            faults.refuse("the host raises")
        left(self.tape, faults, attempt.levels)
