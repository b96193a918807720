"""Ints that staging has to know: where a function cannot be staged for ints that are passed for defaults, it is staged
again with these known, one program for each value, as if they were `rose.Static`.

`def smooth(x, window: int = 5)` takes `smooth(x, 7)` whether `window` is the length of a list, of which Python must
know how long it is, or a number that is multiplied, of which it need not. Which ones a function needs is tried out when
it is first refused, and kept with its signature."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from rosejit.errors import StagingTypeError, UnsupportedSyntax
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call, Signature
from rosejit.logs import note

Made = TypeVar("Made")
_REFUSED = (StagingTypeError, UnsupportedSyntax)


def staged_with_needed(
    binding: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], at: Session, stage: Callable[[Call], Made]
) -> tuple[Call, Made]:
    """The call with these arguments, and what `stage` makes of it. Raises what `stage` raises when it knows all ints
    that are passed for defaults."""
    passed = [] if binding.needed is None else binding.passed_for_defaults(args, kwargs)
    if binding.needed is None or not passed:
        call = binding.bind(args, kwargs)
        return call, stage(call)
    before, raised, refusal = at.tape.error, at.tape.error, None
    each = [{name} for name in passed]
    for names in (set[str](), *each, *([set(passed)] if len(passed) > 1 else [])):
        binding.needed |= names
        try:
            call = binding.bind(args, kwargs)
            with _unheard(at):
                made = stage(call)
        except _REFUSED as error:
            binding.needed -= names
            refusal = error
            at.tape.error, raised = before, at.tape.error
        else:
            if names:
                told = f"`{binding.function.__name__}` is staged for each value of {', '.join(map(repr, names))}"
                note("compile", lambda told=told: told)
            return call, made
    at.tape.error = raised
    assert refusal is not None
    raise refusal


@contextmanager
def _unheard(at: Session) -> Generator[None]:
    """What is printed inside is heard when it ends, and never if it fails."""
    trials = at.tape.trials
    heard, kept = trials.heard, list[Callable[[], None]]()
    trials.heard = kept.append
    try:
        yield
    finally:
        trials.heard = heard
    for action in kept:
        heard(action)
