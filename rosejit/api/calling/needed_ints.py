"""Ints that staging has to know: where a function cannot be staged for ints that are passed for defaults, it is staged
again with these known, one program for each value, as if they were `rose.Static`.

`def smooth(x, window: int = 5)` takes `smooth(x, 7)` whether `window` is the length of a list, of which Python must
know how long it is, or a number that is multiplied, of which it need not. Which ones a function needs is tried out when
it is first refused, and kept with its signature."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from rosejit.abi import leaves
from rosejit.errors import RoseMemoryError, StagingTypeError, UnsupportedSyntax
from rosejit.frontend.lists.list_sites import StagedAgain
from rosejit.frontend.scalar_ops.origins import class_of_element
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import Call, Signature
from rosejit.frontend.signature.numeric_kinds import EXACT, exact
from rosejit.frontend.values.scalars import NUMBERS
from rosejit.frontend.values.tries import InVain, Tries
from rosejit.list_room import Outgrown
from rosejit.logs import note

Made = TypeVar("Made")
_REFUSED = (StagingTypeError, UnsupportedSyntax)


class _Before:
    """What a tape knew before a staging that may be given up."""

    def __init__(self, tape: Any) -> None:
        self._tape = tape
        self._known = tape.error, tape.rolls_more, dict(tape.identified), len(tape.unrolled)

    def restore(self) -> None:
        """Forget what was found since."""
        tape = self._tape
        tape.error, tape.rolls_more, identified, left = self._known
        tape.identified = dict(identified)
        del tape.unrolled[left:]


def staged_with_needed(
    binding: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], at: Session, stage: Callable[[Call], Made]
) -> tuple[Call, Made]:
    """As `_staged_with_needed`; where loops were tried in vain, it is staged again without, and where staged loops grow
    lists, with these as such from the beginning."""
    tape = at.tape
    if tape.undo.is_open:
        return _staged_with_needed(binding, args, kwargs, at, stage)
    attempts = 0
    while True:
        attempts += 1
        tape.sites.is_closed = attempts > _AGAIN
        before = _Before(tape)
        tape.sites.begins()
        try:
            return _staged_with_tries(binding, args, kwargs, at, stage)
        except StagedAgain:
            pass
        except Outgrown as error:  # of items that staging knows
            if not error.grow():
                raise RoseMemoryError(str(error), help="keep fewer items") from None
        except KeyError:
            if attempts > _AGAIN or not any([key.grow() for key in tape.sites.complete]):
                raise
        before.restore()


def _staged_with_tries(
    binding: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], at: Session, stage: Callable[[Call], Made]
) -> tuple[Call, Made]:
    tape = at.tape
    never = frozenset[Any]()
    for _ in range(_TRIES):
        before = _Before(tape)
        tries = tape.tries = Tries(True, never)
        try:
            with _unheard(at, lambda tries=tries: not tries.made and not tape.sites.is_pending):
                return _staged_with_needed(binding, args, kwargs, at, stage)
        except (Exception, InVain) as error:
            if not tries.made or tape.sites.is_pending:
                raise
            place = error.place if isinstance(error, InVain) else tries.made[-1] if tries.is_open else None
            note("compile", lambda place=place: f"{place}: this loop is not rolled, and all is staged again")
        finally:
            tape.tries = Tries()
        never = never | {place}
        before.restore()
        if place is None:
            break
    return _staged_with_needed(binding, args, kwargs, at, stage)


def settle(tape: Any) -> None:
    """Raise if what was staged is to be staged again."""
    tape.tries.settle()
    tape.sites.settle()


_AGAIN = 40
"""So often a function is staged for lists that its loops grow."""
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
    before, raised, refusal = _Before(at.tape), at.tape.error, None
    each = [{name} for name in passed]
    for names in (set[str](), *each, *([set(passed)] if len(passed) > 1 else [])):
        binding.needed |= names
        try:
            with _unheard(at):
                call, made = _staged_with_classes(binding, args, kwargs, at, stage)
        except (Exception, InVain) as error:
            binding.needed -= names
            at.tape.sites.settle()
            if at.tape.tries.made:
                raise InVain from error
            if not isinstance(error, _REFUSED):
                raise
            refusal, raised = error, at.tape.error
            before.restore()
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
    call, before = binding.bind(args, kwargs), _Before(at.tape)
    try:
        with _unheard(at) if call.classed is not None or at.tape.frames else nullcontext():
            return call, stage(call)
    except ClassAsked:
        binding.asks[0] = True
    before.restore()
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
