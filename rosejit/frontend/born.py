"""Says whether a container of the host was made in the block that is open: only then may staged code change it."""

from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.tape import Tape


def is_own(tape: Tape, container: Any) -> bool:
    """Whether a container was made in the innermost block."""
    for frame in reversed(tape.frames):
        if id(container) in frame.born or frame.kind == "function":
            return True
        if frame.kind != "scratch":
            break
    return False


def consumed(tape: Tape, iterator: Any) -> None:
    """Refuse to use up, once while staging, an iterator from outside that the code goes through often or never."""
    if tape.is_staged and not is_own(tape, iterator):
        raise tape.fault(
            UnsupportedSyntax,
            f"an iterator from outside ({type(iterator).__name__}) is used up in a staged branch or loop",
            help="make a list of it before, and go through that",
        )
