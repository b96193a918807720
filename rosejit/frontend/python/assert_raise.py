"""`assert` and `raise`: now on the host, at run time in staged code, with the values that their texts show."""

# Values of users are of any type: what they are is asked while staging.

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from rosejit.errors import RoseAssertionError
from rosejit.frontend.control.optional import negation, nothing_like
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import Poison
from rosejit.frontend.python.ordering import choose
from rosejit.frontend.python.print_ import failing
from rosejit.frontend.scalar_ops import staged_text
from rosejit.frontend.scalar_ops.staged_text import Field, Form, Text, filled
from rosejit.frontend.values.pytree import parts, with_parts
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int
from rosejit.frontend.values.tape import Tape
from rosejit.ir.failure import renewed
from rosejit.ir.syntax import FALSE, Atom, Block, Failure, If
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span

_MOST = 4
"""How many numbers a failing module can leave for the message."""
_LIKE_A_FIELD = re.compile(r"\{\d")


@dataclass(slots=True, frozen=True, eq=False)
class Later:
    """An argument of an exception: the next value of a run, a text with such, a structure of such, or known."""

    kind: Literal["value", "text", "structure", "known"]
    known: Any = None
    """The form of a text, a structure like the one that is made, or the value itself."""
    inside: tuple["Later", ...] = ()

    def of(self, supply: Iterator[Any]) -> Any:
        """The argument."""
        match self.kind:
            case "value":
                return next(supply)
            case "text":
                return filled(self.known, supply)
            case "structure":
                return with_parts(self.known, [item.of(supply) for item in self.inside])
            case "known":
                return self.known


@dataclass(slots=True, frozen=True, eq=False)
class RaisedLater:
    """The values of a run to the exception of a `raise` statement."""

    cls: type[BaseException]
    args: tuple[Later, ...]
    attributes: dict[str, Later]

    def __call__(self, *given: Any) -> BaseException:
        """The exception."""
        supply = iter(given)
        known = [arg.of(supply) for arg in self.args]
        return renewed(self.cls, known, {name: value.of(supply) for name, value in self.attributes.items()})


@dataclass(slots=True, frozen=True, eq=False)
class AssertionLater:
    """The values of a run to the exception of an `assert` statement."""

    form: Form
    place: Span | None

    def __call__(self, *given: Any) -> BaseException:
        """The exception."""
        return RoseAssertionError(filled(self.form, iter(given)), self.place)


@dataclass(slots=True)
class Messages:
    """The hooks."""

    tape: Tape
    held: Any = None

    def holds(self, condition: Any) -> bool:
        """Whether an assertion is known to hold."""
        decided = truth(self.tape, condition)
        self.held = decided
        if decided.__class__ is Bool:
            self.tape.quoted = []
            return False
        if not decided and (self.tape.is_staged or not self.tape.catching):
            self.tape.quoted = []
        return decided

    def unless(self, message: Any = None) -> None:
        """The message of an assertion that does not hold, or that only running tells."""
        tape, condition, quoted = self.tape, self.held, self._quoted()
        if quoted is None:
            raise AssertionError(*(() if message is None else (message,)))
        place = tape.here()
        said = "assertion failed" if message is None else staged_text.message(tape, message, quoted)
        if condition.__class__ is Bool and is_awaited(tape, AssertionError):
            tape.faults.record(AssertionError, negation(condition), "assert")
            return
        if condition.__class__ is not Bool and tape.is_staged and is_awaited(tape, AssertionError):
            tape.faults.record(AssertionError, True, "assert")
            return
        atom = condition.atom if condition.__class__ is Bool else FALSE
        if atom is FALSE and not tape.is_staged:
            error = AssertionError(*(() if message is None else (message,)))
            if isinstance(said, Text):
                tape.raising = (error, functools.partial(self._check, atom, said, place))
            raise error
        self._check(atom, said, place)

    def _check(self, atom: Atom, said: Any, place: Span | None) -> None:
        tape = self.tape
        if not isinstance(said, Text):
            tape.check(atom, Failure("assertion", said, place))
            return
        form, values = said.form, said.values
        template = _template(form)
        if template is not None and _fit(values):
            tape.check(atom, Failure("assertion", template, place), *(value.atom for value in values))
        else:
            self._fail(atom, values, AssertionLater(form, place), RoseAssertionError, form)

    def raises(self) -> bool:
        """Whether a `raise` happens now, whatever it says: where the host would catch it."""
        if self.tape.catching and not self.tape.is_staged:
            return True
        self.tape.quoted = []
        return False

    def raised(self, now: bool, error: Any) -> Any:
        """What a `raise` raises now; None in a staged branch, of which what follows is never reached. If only running
        tells what the message shows, and nothing catches it, the code raises it when it runs."""
        if now:
            return error
        quoted = self._quoted() or []
        made = error() if isinstance(error, type) else error
        values: list[Any] = []
        args = tuple([self._later(arg, quoted, values) for arg in made.args])
        attributes = {name: self._later(value, (), values) for name, value in vars(made).items()}
        if not values and not self.tape.is_staged:
            return error
        if self.tape.is_staged and is_awaited(self.tape, type(made)):
            self._keep(self.tape.faults, made, quoted)
            self.tape.faults.record(type(made), True, "raise")
            return None
        emit = functools.partial(self._raise_later, made, args, attributes, values, quoted, self.tape.here())
        if self.tape.is_staged:
            emit()
            return None
        self.tape.raising = (made, emit)
        return made

    def _keep(self, faults: Any, error: BaseException, quoted: Sequence[Field]) -> None:
        """Keep what an error holds for the handler that waits for it."""
        args = tuple([self._without_text(arg, quoted) for arg in error.args])
        holds = args, tuple([self._without_text(value, ()) for value in vars(error).values()])
        cell, code = faults.keep(error, holds, functools.partial(nothing_like, self.tape)).cell, faults.code()
        before = self.tape.read_cell(cell)
        known = code == 0 if code.__class__ is Int else not code
        self.tape.write(cell, choose(self.tape, known, holds, before, "raise"))

    def _without_text(self, value: Any, quoted: Sequence[Field]) -> Any:
        """A value that an error holds; a text with staged numbers in it has no place in staged code."""
        if isinstance(value, str) and isinstance(staged_text.message(self.tape, value, quoted), Text):
            words = "the text of the error has numbers in it which only running tells"
            return Poison(self.tape, words, "give the numbers to the error, as its arguments or attributes")
        return value

    def raised_here(self, now: bool, error: Any, *cause: Any) -> None:
        """`raise error` in the body of a `try`: if only running tells, what comes behind is left out there."""
        found = self.raised(now, error)
        if found is None:
            return
        if cause and (cause[0] is None or isinstance(cause[0], BaseException)):
            raise found from cause[0]
        raise found

    def _raise_later(
        self,
        made: BaseException,
        args: tuple[Later, ...],
        attributes: dict[str, Later],
        values: list[Any],
        quoted: list[Any],
        place: Span | None,
    ) -> None:
        cls = type(made)
        with_values = RaisedLater(cls, args, attributes)
        said = staged_text.message(self.tape, made.args[0], quoted) if values and len(made.args) == 1 else ""
        form = said.form if isinstance(said, Text) else (cls.__name__,)
        if not values:
            self.tape.check(FALSE, Failure("raise", str(made), place, exception=made))
        elif _fit(values):
            template = _template(form) if isinstance(said, Text) else None
            failure = Failure("raise", template or cls.__name__, place, exception=with_values)
            self.tape.check(FALSE, failure, *(value.atom for value in values))
        else:
            self._fail(FALSE, values, with_values, cls, form)
        self.tape.frame.diverges = True

    def _later(self, value: Any, quoted: Sequence[Field], values: list[Any]) -> Later:
        """What makes an argument; the staged values in it go to `values`."""
        if value.__class__ is str:
            value = staged_text.message(self.tape, value, quoted)
        if value.__class__ in NUMBERS:
            values.append(value)
            return Later("value")
        if isinstance(value, Text):
            values += value.values
            return Later("text", value.form)
        inside = parts(value)
        if not inside:
            return Later("known", value)
        made = tuple([self._later(item, quoted, values) for item in inside])
        return Later("structure", with_parts(value, [None] * len(made)), made)

    def _fail(
        self,
        condition: Atom,
        values: Sequence[Any],
        error: Callable[..., BaseException],
        cls: type[BaseException],
        form: Form,
    ) -> None:
        """Raise at run time, from Python, unless `condition` holds: for more values than a check can leave."""
        tape = self.tape
        if tape.catching:
            tape.refuse_in_try("this check")

        with tape.block() as lets:
            failing(tape.session, error, values, cls.__name__, form)
        tape.bind_all(If(condition, Block([], ()), Block(lets, ())), ())

    def _quoted(self) -> list[Any] | None:
        quoted, self.tape.quoted = self.tape.quoted, None
        return quoted


def is_awaited(tape: Tape, cls: type[BaseException]) -> bool:
    """Whether a handler of staged code waits for an error of a class."""
    return tape.faults is not None and tape.faults.catches(cls)


def is_handled(tape: Tape, condition: Bool, error: Exception, word: str = "raise") -> bool:
    """Whether a handler of staged code waits for an error, which is then raised where `condition` does not hold."""
    if not is_awaited(tape, type(error)):
        return False
    Messages(tape)._keep(tape.faults, error, ())
    tape.faults.record(type(error), negation(condition), word)
    return True


def raised_unless(tape: Tape, condition: Bool, cls: type[Exception], *args: Any) -> bool:
    """`cls(*args)` is raised where `condition` does not hold; whether a handler of staged code waits for that."""
    if is_awaited(tape, cls):
        tape.faults.record(cls, negation(condition), cls.__name__)
        return True
    values: list[Any] = []
    made = RaisedLater(cls, tuple([Messages(tape)._later(arg, (), values) for arg in args]), {})
    if not _fit(values):
        values, made = [], RaisedLater(cls, (), {})
    failure = Failure("raise", cls.__name__, tape.here(), exception=made)
    tape.check(condition.atom, failure, *(value.atom for value in values))
    return False


def _fit(values: Sequence[Any]) -> bool:
    return len(values) <= _MOST and all(value.__class__ in NUMBERS for value in values)


def _template(form: Form) -> str | None:
    """The message of a failure, with `{0}`, `{1:.3f}`, ... for the values; None where it cannot be written so."""
    made: list[str] = []
    number = 0
    for item in form:
        if isinstance(item, str):
            if _LIKE_A_FIELD.search(item):
                return None
            made.append(item)
            continue
        conversion, spec = item
        if "{" in spec or "}" in spec:
            return None
        made.append(f"{{{number}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}")
        number += 1
    return "".join(made)
