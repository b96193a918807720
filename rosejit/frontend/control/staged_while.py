"""The run-time side of a rewritten `while`: a loop of the host, or one of the IR, as its test turns out."""

from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays.array import Array, Host
from rosejit.frontend.control import retype
from rosejit.frontend.control.if_for import MOST_TIMES, Names, finished, runs_at_all, staged_too_often
from rosejit.frontend.control.loop_carries import LoopCarries
from rosejit.frontend.control.truth import truth
from rosejit.frontend.values.scalars import NUMBERS, Bool
from rosejit.frontend.values.tape import UNDEFINED, AttributeSlot, Frame, MaybeBound, Tape, stored
from rosejit.ir.syntax import TRUE, Atom, Block, Lit, Var, While
from rosejit.ir.traversal import free
from rosejit.ir.types import BOOL, INT
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True)
class _Start:
    """What was before the first iteration: if that iteration makes the test a staged one, it is forgotten, and the loop
    begins here. Else each `while True` with a staged exit would be there twice, and 2**d times if it is d deep."""

    frame: Frame
    names: Names
    size: int
    contents: dict[Any, Any]
    diverges: bool

    @classmethod
    def at(cls, tape: Tape, names: Names) -> "_Start":
        frame = tape.frame
        for held in frame.contents.values():
            if held.__class__ is Host:
                held.is_shared = True
        return cls(frame, names, len(frame.lets), dict(frame.contents), frame.diverges)

    def again(self, tape: Tape) -> None:
        """Forget what was staged since. What was made since may stay: nobody knows it any more."""
        frame = self.frame
        del frame.lets[self.size :]
        frame.epoch += 1
        frame.diverges = self.diverges
        touched = list(frame.contents)
        for key in touched:
            if key in self.contents:
                frame.contents[key] = self.contents[key]
            elif tape.content(key, frame) is not None:
                del frame.contents[key]
            elif key.__class__ is AttributeSlot:
                frame.contents[key] = stored(key.first)
        tape.put_back(touched)


class WhileLoop:
    """A loop whose test is tried on the host first. If only running decides it, then what the test has staged is
    forgotten and it is staged again, in the loop. A test that changes something (`:=`, a helper that writes to an
    array) is staged before the loop and at the end of each iteration instead.

    `leaving` are names of flags that end the loop: in an iteration they are False to begin with.
    """

    def __init__(self, tape: Tape, names: tuple[str, ...], exposed: int, leaving: tuple[str, ...] = ()) -> None:
        self._tape = tape
        self._names = names
        self._exposed = exposed
        self._leaving = leaving
        self._frame: Frame | None = None
        self._before: Names = ()
        self._start: _Start | None = None
        self._trial: list[Any] | None = None
        self._host_iterations = self._times = 0
        self._loop: _Loop | None = None
        self._slots: dict[AttributeSlot, Any] = {}
        """The attributes that an iteration is known to change."""
        self.stop = False
        """Whether the loop is over."""
        self.again = False
        """Whether the test is staged once more, in the loop."""

    def more(self) -> bool:
        """Whether there is another iteration, as far as the loop knows."""
        return not self.stop

    def enter(self, names: Names) -> Names:
        """Begin the test."""
        if self._loop is not None:
            return names
        tape = self._tape
        self._times += 1
        if self.again and self._times > MOST_TIMES + self._host_iterations:
            raise staged_too_often(tape)
        if self._start is None:
            self._start = _Start.at(tape, names)
        if self.again:
            sure = self._host_iterations == 1  # the test held at the place where the loop begins now
            self._loop = _Loop(tape, self._names, self._exposed, sure)
            return self._loop.enter(names, self._slots)
        self._frame, self._before = tape.open("scratch"), names
        if self._trial is None:
            self._trial = tape.trials.begin()
        return names

    def _commit_trial(self, counts: bool) -> None:
        """Whether what was said since the loop, or this test, began is said."""
        assert self._trial is not None
        self._tape.trials.commit_trial(self._trial, counts)
        self._trial = None

    def test(self, condition: Any, names: Names) -> Names:
        """End the test: on the host it decides, else it is staged again, where the names are what they always are."""
        tape = self._tape
        decided = truth(tape, condition)
        if self._loop is not None:
            return self._tested(self._loop, decided, names)
        frame, start = self._frame, self._start
        assert frame is not None
        assert start is not None
        if decided.__class__ is not Bool:
            tape.adopt(frame)
            self.stop = not decided
            self._host_iterations += 1
            if self.stop or self._host_iterations > 1:
                self._commit_trial(counts=True)
            return names
        if self._changes(frame, names):
            tape.adopt(frame)
            self._commit_trial(counts=True)
            return self._rotated(decided.atom, names)
        tape.close(frame)
        self._commit_trial(counts=False)
        self.again = True
        if self._host_iterations != 1:
            self._host_iterations = 0
            return self._before
        start.again(tape)
        return start.names

    def _rotated(self, first: Atom, names: Names) -> Names:
        self._loop = _Loop(self._tape, self._names, self._exposed, sure=False, first=first)
        return self._in_iteration(self._loop.enter(names, self._slots))

    def _tested(self, loop: "_Loop", decided: Any, names: Names) -> Names:
        atom = decided.atom if decided.__class__ is Bool else Lit(bool(decided), BOOL)
        if loop.first is not None:
            if loop.is_again:
                self._slots |= loop.unknown_slots
                return self._rotated(loop.first, loop.forget())
            self.stop = True
            return loop.finish_rotated(atom, names)
        self.again = False
        loop.tested(atom, names)
        return self._in_iteration(names)

    def _in_iteration(self, names: Names) -> Names:
        return tuple([False if name in self._leaving else v for v, name in zip(names, self._names, strict=True)])

    def _changes(self, frame: Frame, names: Names) -> bool:
        """Whether the test has bound names or written to arrays."""
        tape = self._tape
        if any(a is not b for a, b in zip(self._before, names, strict=True)):
            return True
        below = ((tape.content(key, frame), value) for key, value in frame.contents.items())
        return any(old is not None and old is not new for old, new in below)

    def back(self, names: Names) -> Names:
        """End an iteration; after a staged one the names are what they are after the loop."""
        loop = self._loop
        if loop is None or loop.first is not None:
            return names
        if loop.unknown_slots:
            self._slots |= loop.unknown_slots
            self._loop, self.again = None, True
            return loop.forget()
        before = loop.listed(names)
        if before is not None:
            self._loop, self.again = None, True
            return before
        self.stop = True
        return loop.finish(names)


_AS_BEFORE = NUMBERS | {float, int, bool, Array}
"""Classes of values that an iteration leaves where such values were before the loop."""
_OPEN = (type(UNDEFINED), MaybeBound)
"""Classes of what a name without a beginning was bound to."""


class _Loop:
    """The block of a staged loop. With `first`, the test of the first iteration, the loop carries whether it goes
    on.
    """

    def __init__(self, tape: Tape, names: tuple[str, ...], exposed: int, sure: bool, first: Atom | None = None) -> None:
        self.first = first
        self._tape = tape
        self._iterations = iterations = Var(INT, "turns")
        self._frame = tape.open("loop")
        ran = (lambda: True) if sure else (lambda: runs_at_all(tape, iterations))
        self._carries = LoopCarries(tape, self._frame, exposed, names, ran)
        self._frame.carries = self._carries
        self._carries.counted = False
        self._carries.is_rotated = first is not None
        self._names: Names = ()
        self._condition: Atom = TRUE
        self._test = self._frame.lets
        self._contents: dict[Any, Any] = {}

    @property
    def unknown_slots(self) -> dict[AttributeSlot, None]:
        """The attributes that an iteration has changed and that were not known: it is to be staged again."""
        return self._frame.unknown_slots

    @property
    def is_again(self) -> bool:
        """Whether it is to be staged again for these, or for an object that it changes in place."""
        return bool(self._frame.unknown_slots) or (self._carries.again and not self._carries.moving)

    def forget(self) -> Names:
        """Forget the iteration: the names as they were before."""
        self._tape.close(self._frame)
        return self._carries.before

    def listed(self, names: Names) -> Names | None:
        """The names before the loop, if lists of the host among them have to be lists of staged loops, arrays that
        objects hold staged ones, or None an optional value."""
        pairs = zip(names, self._carries.before, strict=True)
        if (
            not self._carries.slots
            and not self._carries.again
            and all(
                x is v or (x.__class__ in _AS_BEFORE and v is not None and v.__class__ not in _OPEN) for x, v in pairs
            )
        ):
            return None
        self._tape.close(self._frame)
        before = self._carries.listed(names)
        if before is None:
            self._tape.frames.append(self._frame)
            self._tape.lets = self._frame.lets
        return before

    def enter(self, names: Names, slots: dict[AttributeSlot, Any]) -> Names:
        """The names as they are in any iteration, and attributes too."""
        entered = self._carries.enter(names)
        self._carries.know(slots)
        return entered

    def tested(self, condition: Atom, names: Names) -> None:
        """What was staged is the test; the body begins."""
        self._condition, self._names = condition, names
        self._contents = dict(self._frame.contents)
        self._carries.test = self._test
        self._frame.lets = self._tape.lets = []

    def finish(self, names: Names) -> Names:
        """Emit the loop, given the names at the end of an iteration."""
        carries, tape, body = self._carries, self._tape, self._frame.lets
        leaks = free(Block(body, ())).keys() & {b for let in self._test for b in let.binders}
        changed = any(a is not b for a, b in zip(self._names, carries.held, strict=True))
        tape.close(self._frame)
        if leaks or changed or not carries.untouched(self._contents):
            raise tape.fault(
                UnsupportedSyntax,
                "the test of this `while` changes something that the loop uses",
                help="make the change in the body: `while True: ...; if not test: break`",
            )
        return self._emit(names, Block(self._test, (self._condition,)), body)

    def finish_rotated(self, condition: Atom, names: Names) -> Names:
        """As `finish`; `condition` is the test at the end of an iteration."""
        assert self.first is not None
        self._tape.close(self._frame)
        goes_on = Var(BOOL, "more")
        self._carries.carry(goes_on, self.first, condition)
        return self._emit(names, Block([], (goes_on,)), self._frame.lets)

    def _emit(self, names: Names, test: Block, body: list[Any]) -> Names:
        carries, tape = self._carries, self._tape
        finishes = carries.finish_carries(names)
        found = carries.carries
        variables, inits = tuple(carry.phi for carry in found), tuple(carry.init for carry in found)
        loop = While(variables, inits, test, Block(body, tuple(carry.next for carry in found)))
        retype.retype_loop(loop, carries.atoms)
        retype.convert_carries(loop, tape.lets, self._frame.place)
        return finished(tape, carries, finishes, loop, (self._iterations,))
