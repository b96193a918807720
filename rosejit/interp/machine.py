"""Runs compiled blocks on an explicit stack, so that the depth of calls is bounded by memory and not by Python."""

from collections.abc import Callable, Generator
from typing import Any

from rosejit.errors import VerifyError, raise_in_user_code
from rosejit.interp.values import Counters
from rosejit.ir.failure import RECURSION, failure_error
from rosejit.ir.syntax import Failure
from rosejit.lazy_dataclass import dataclass
from rosejit.list_room import NeedsRoom, Outgrown

Frame = list[Any]
"""The values of one activation of a function; slot 0 holds the `Run`."""


@dataclass(slots=True, eq=False)
class Code:
    """A block: its steps, and how its results are taken out of the frame."""

    where: str
    steps: list["Step"]
    results: list[Callable[[Frame], Any]]

    def take(self, frame: Frame) -> list[Any]:
        """The results, for a new owner."""
        return [move(frame) for move in self.results]


Inner = Generator[tuple[Code, Frame], None, None]
"""A form with blocks, in the middle of its work: it yields the blocks that are to be run next."""

Step = Callable[[Frame], Inner | None]


@dataclass(slots=True)
class Run:
    """What all activations of one run share."""

    counters: Counters
    depth_limit: int
    depth: int = 0

    def enter(self) -> None:
        """Count a call that is now open."""
        self.depth += 1
        if self.depth > self.depth_limit:
            fail(RECURSION)


def fail(failure: Failure, *values: Any) -> None:
    """Raise what `failure` stands for, from the user's line."""
    error = failure_error(failure, values)
    if isinstance(error, Outgrown) and error.grow():
        raise NeedsRoom(str(error))
    raise_in_user_code(error, failure.span)


def execute(code: Code, frame: Frame) -> None:
    """Run `code` to its end."""
    counters: Counters = frame[0].counters
    stack: list[tuple[Any, Frame, Inner, Code]] = []
    pending = iter(code.steps)
    counters.operations += len(code.steps)
    try:
        while True:
            inner = None
            for step in pending:
                inner = step(frame)
                if inner is not None:
                    break
            if inner is None:
                if not stack:
                    return
                pending, frame, inner, code = stack.pop()
            request = next(inner, None)
            if request is not None:
                stack.append((pending, frame, inner, code))
                code, frame = request
                pending = iter(code.steps)
                counters.operations += len(code.steps)
    except VerifyError as error:
        raise VerifyError(f"{error} (while running `{code.where}`)") from None
