"""Ints that staging has to know: where a function cannot be staged for ints that are passed for defaults, it is staged
again with these known, one program for each value, as if they were `rose.Static`.

`def smooth(x, window: int = 5)` takes `smooth(x, 7)` whether `window` is the length of a list, of which Python must
know how long it is, or a number that is multiplied, of which it need not. Which ones a function needs is tried out when
it is first refused, and kept with its signature."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from rosejit.abi import leaves
from rosejit.errors import StagingTypeError, UnsupportedSyntax
from rosejit.frontend.scalar_ops.origins import class_of_element
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call, Signature
from rosejit.frontend.signature.numeric_kinds import EXACT, exact
from rosejit.frontend.values.scalars import NUMBERS
from rosejit.frontend.values.tries import InVain, Tries
from rosejit.logs import note

Made = TypeVar("Made")
_REFUSED = (StagingTypeError, UnsupportedSyntax)


def staged_with_needed(
    binding: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], at: Session, stage: Callable[[Call], Made]
) -> tuple[Call, Made]:
    """As `_staged_with_needed`; where loops were tried in vain, it is staged again without."""
    tape = at.tape
    if tape.undo.is_open:
        return _staged_with_needed(binding, args, kwargs, at, stage)
    never = frozenset[Any]()
    for _ in range(_TRIES):
        before = tape.error, tape.rolls_more, len(tape.unrolled)
        tries = tape.tries = Tries(True, never)
        try:
            with _unheard(at, lambda tries=tries: not tries.made):
                return _staged_with_needed(binding, args, kwargs, at, stage)
        except (Exception, InVain) as error:
            if not tries.made:
                raise
            place = error.place if isinstance(error, InVain) else tries.made[-1] if tries.is_open else None
            note("compile", lambda place=place: f"{place}: this loop is not rolled, and all is staged again")
        finally:
            tape.tries = Tries()
        never = never | {place}
        tape.error, tape.rolls_more, left = before
        del tape.unrolled[left:]
        if place is None:
            break
    return _staged_with_needed(binding, args, kwargs, at, stage)


_TRIES = 4
"""So often a function is staged with loops that are tried."""


def _staged_with_needed(
    binding: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], at: Session, stage: Callable[[Call], Made]
) -> tuple[Call, Made]:
    """The call with these arguments, and what `stage` makes of it. Raises what `stage` raises when it knows all ints
    that are passed for defaults."""
    passed = [] if binding.needed is None else binding.passed_for_defaults(args, kwargs)
    if binding.needed is None or not passed:
        return _staged_with_classes(binding, args, kwargs, at, stage)
    before, raised, refusal = at.tape.error, at.tape.error, None
    each = [{name} for name in passed]
    for names in (set[str](), *each, *([set(passed)] if len(passed) > 1 else [])):
        binding.needed |= names
        try:
            with _unheard(at):
                call, made = _staged_with_classes(binding, args, kwargs, at, stage)
        except (Exception, InVain) as error:
            binding.needed -= names
            if at.tape.tries.made:
                raise InVain from error
            if not isinstance(error, _REFUSED):
                raise
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


class ClassAsked(Exception):
    """A program that asks what class a number is has been staged for one of Python's, and is given another."""


def settle_classes(at: Session, binding: Signature, call: Call) -> None:
    """Of a program that asks what classes its arguments have, and has answered as for Python's own: raise if one of
    another class is given, of which the key of the call does not say it; the staging around it asks of its own."""
    tape = at.tape
    flags = [flag for p, tree in zip(binding.descriptions, call.trees, strict=True) for flag in exact(p, tree)]
    given = zip(flags, [leaf for tree in call.trees for leaf in leaves(tree)], call.values, strict=True)
    open_ones = [v for flag, leaf, v in given if v.__class__ in NUMBERS and flag & EXACT and leaf.cls is None]
    found = [call.classed] if call.classed is not None else []
    if not binding.asks[0] and (found or any(class_of_element(tape, v) is not None for v in open_ones)):
        raise ClassAsked
    if found:
        raise StagingTypeError(
            f"`{binding.function.__name__}` asks what class a number has, and is given a {type(found[0]).__name__}",
            help="convert it before: `float(x)`, `int(x)` or `bool(x)`",
        )
    tape.weak += [(v.atom, "class", tape.here()) for v in open_ones if id(v) not in tape.pythons]


def _staged_with_classes(
    binding: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], at: Session, stage: Callable[[Call], Made]
) -> tuple[Call, Made]:
    """As `staged_with_needed`; where the program asks what classes its arguments have, these are part of the key."""
    call = binding.bind(args, kwargs)
    try:
        with _unheard(at) if call.classed is not None or at.tape.frames else nullcontext():
            return call, stage(call)
    except ClassAsked:
        binding.asks[0] = True
    call = binding.bind(args, kwargs)
    return call, stage(call)


@contextmanager
def _unheard(at: Session, is_heard: Callable[[], bool] = lambda: False) -> Generator[None]:
    """What is printed inside is heard when it ends; if it fails, only if `is_heard` says so then."""
    trials = at.tape.trials
    heard, kept = trials.heard, list[Callable[[], None]]()
    trials.heard = kept.append
    fails = True
    try:
        yield
        fails = False
    finally:
        trials.heard = heard
        for action in kept if not fails or is_heard() else ():
            heard(action)
