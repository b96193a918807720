"""The run-time side of rewritten expressions: `and`, `or`, `not`, chained comparisons, conditional expressions."""

from typing import Any

from rosejit.frontend.control.join import Join
from rosejit.frontend.control.optional import assume, combined, negation
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import Poison
from rosejit.frontend.values.scalars import Bool, P
from rosejit.frontend.values.tape import Frame, Tape
from rosejit.ir.syntax import Apply
from rosejit.lazy_dataclass import dataclass

Names = tuple[Any, ...]
_SHORT = 8
"""The right side of `and` is always computed if it is at most this many cheap operations that cannot fail."""


@dataclass(slots=True)
class _Open:
    """An `and` or `or` whose left side is known: on the host, or as a staged condition with the right side's block."""

    value: Any
    is_or: bool = False
    condition: Bool | None = None
    frame: Frame | None = None
    names: Names = ()


@dataclass(slots=True)
class _Choice:
    """A conditional expression; `sides` are the blocks of a staged one."""

    taken: Any
    value: Any = None
    sides: tuple[Frame, ...] = ()


class Circuits:
    """Operands that wait for the rest of their expression."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._open: list[_Open] = []
        self._kept: list[Any] = []
        self._choices: list[_Choice] = []
        self._joined: list[Any] = []

    # --- and, or, chains

    def left(self, value: Any, is_or: bool, names: Names = ()) -> bool:
        """Whether the right side is evaluated; it always is where the left side is staged."""
        decided = truth(self._tape, value)
        if decided.__class__ is not Bool:
            self._open.append(_Open(value, is_or))
            return decided is not is_or
        frame = self._tape.open("branch")
        assume(self._tape, decided, not is_or)
        self._open.append(_Open(value, is_or, decided, frame, names))
        return True

    def right(self, value: Any, names: Names = ()) -> Any:
        """The value of the whole, the right side having been evaluated."""
        opened = self._open.pop()
        if opened.frame is None or opened.condition is None:
            self._joined += names[::-1]
            return value
        frame, condition = opened.frame, opened.condition
        self._tape.close(frame)
        if opened.value is condition and not names and _is_short(frame) and value.__class__ in (Bool, bool):
            self._tape.lets += frame.lets
            if value.__class__ is bool:
                return value if value is opened.is_or else condition
            op = P["or"] if opened.is_or else P["and"]
            made = Bool(self._tape, self._tape.apply(op, condition.atom, value.atom))
            combined(condition, value, made, opened.is_or)
            return made
        return self._branch(opened, condition, frame, value, names)

    def _branch(self, opened: _Open, condition: Bool, frame: Frame, value: Any, names: Names) -> Any:
        other = Frame("branch", place=frame.place)
        left = opened.is_or if opened.value is condition else opened.value
        sides = (other, frame) if opened.is_or else (frame, other)
        join = Join(self._tape, condition.atom, *sides)
        join.contents()

        def joined(right: Any, left: Any) -> Any:
            pair = (left, right) if opened.is_or else (right, left)
            return join.join(*pair, "`and` or `or`")

        result = joined(value, left)
        combined(condition, value, result, opened.is_or)
        if isinstance(result, Poison):  # of two kinds: good for a condition and for nothing else
            with self._tape.reopened(frame):
                known = truth(self._tape, value)
            result.__rose_truth__ = joined(known, opened.is_or)
        after = [joined(new, old) for new, old in zip(names, opened.names, strict=True)]
        self._joined += after[::-1]
        join.emit()
        return result

    def skipped(self, names: Names = ()) -> Any:
        """The value of the whole where the right side is not evaluated."""
        self._joined += names[::-1]
        return self._open.pop().value

    def joined(self) -> Any:
        """The next name that the right side may have bound."""
        return self._joined.pop()

    def save(self, value: Any) -> Any:
        """The middle of `a < b < c`, needed twice."""
        self._kept.append(value)
        return value

    def saved(self) -> Any:
        """That middle, for the second comparison."""
        return self._kept.pop()

    def skipped_chain(self) -> Any:
        """The first comparison, where the second is not made."""
        self._kept.pop()
        return self.skipped()

    # --- conditional expressions

    def choose(self, condition: Any) -> bool:
        """Whether the first side is evaluated."""
        decided = truth(self._tape, condition)
        if decided.__class__ is Bool:
            self._choices.append(_Choice(decided, sides=(self._tape.open("branch"),)))
            assume(self._tape, decided, True)
            return True
        self._choices.append(_Choice(decided))
        return decided

    def first(self, value: Any) -> bool:
        """Whether the second side is evaluated."""
        choice = self._choices[-1]
        choice.value = value
        if not choice.sides:
            return not choice.taken
        self._tape.close(choice.sides[0])
        choice.sides = (choice.sides[0], self._tape.open("branch"))
        assume(self._tape, choice.taken, False)
        return True

    def second(self, value: Any) -> Any:
        """The value of the whole, the second side having been evaluated."""
        choice = self._choices.pop()
        if not choice.sides:
            return value
        self._tape.close(choice.sides[1])
        join = Join(self._tape, choice.taken.atom, *choice.sides)
        join.contents()
        result = join.join(choice.value, value, "the conditional expression")
        join.emit()
        return result

    def chosen(self) -> Any:
        """The first side."""
        return self._choices.pop().value

    # --- after an exception

    def heights(self) -> tuple[int, ...]:
        """How many operands wait."""
        return (len(self._open), len(self._kept), len(self._choices), len(self._joined))

    def unwind(self, heights: tuple[int, ...]) -> None:
        """Forget the operands of expressions that an exception has left."""
        for waiting, height in zip((self._open, self._kept, self._choices, self._joined), heights, strict=True):
            del waiting[height:]


def _is_short(frame: Frame) -> bool:
    """Whether a block may be computed always: a few cheap operations, without effects."""
    if len(frame.lets) > _SHORT or frame.contents:
        return False
    return all(isinstance(let.expr, Apply) and let.expr.op.cheap and not let.expr.op.failure for let in frame.lets)


def negate(tape: Tape, value: Any) -> Any:
    """`not value`."""
    return negation(truth(tape, value))


def no_flag_set(tape: Tape, *flags: Any) -> Any:
    """Whether none of the flags is set."""
    staged = [flag for flag in flags if flag.__class__ is Bool]
    if any(flag is True for flag in flags):
        return False
    if not staged:
        return True
    held = staged[0].atom
    for flag in staged[1:]:
        held = tape.apply(P["or"], held, flag.atom)
    return Bool(tape, tape.apply(P["not"], held))


def any_flag_set(*flags: Any) -> bool:
    """Whether one of the flags is set, and no running is needed to tell."""
    return any(flag is True for flag in flags)
