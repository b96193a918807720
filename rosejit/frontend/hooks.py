"""The object that rewritten code calls: one attribute for each hook of the templates."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from rosejit.errors import RoseError, UnboundStagedName, UnsupportedSyntax
from rosejit.frontend.arrays import Array, content
from rosejit.frontend.attributes import Attributes
from rosejit.frontend.born import is_own
from rosejit.frontend.circuits import Circuits, go, hit, negate
from rosejit.frontend.columns import Columns, taken
from rosejit.frontend.comprehensions import Comprehensions
from rosejit.frontend.control import choices, iterate
from rosejit.frontend.joins import arrive, shown
from rosejit.frontend.messages import Messages
from rosejit.frontend.methods import Methods, own
from rosejit.frontend.patterns import Patterns
from rosejit.frontend.places import frame_at
from rosejit.frontend.rolling import roll
from rosejit.frontend.structures import Entry
from rosejit.frontend.tape import UNDEFINED, Cell, Frame, Tape, stored
from rosejit.frontend.texts import text
from rosejit.frontend.truth import truth
from rosejit.frontend.unbound import Part, settled, settled_attribute, told
from rosejit.frontend.values import NUMBERS, Int
from rosejit.frontend.whiles import WhileLoop


@dataclass(slots=True)
class Attempt:
    """What was open when a `try` began."""

    frames: tuple[Frame, ...]
    heights: tuple[int, ...]
    depth: int


class Suspension:
    """A generator of the host, which may be suspended only where it was entered."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._frame = tape.frames[-1]

    def out(self, value: Any) -> Any:
        """Before a `yield`."""
        if self._tape.frames[-1] is not self._frame:
            raise self._tape.fault(
                UnsupportedSyntax,
                "`yield` in a staged `if` or loop cannot be staged",
                help="yield outside of it, or collect the values in an array",
            )
        return value

    def back(self, sent: Any) -> Any:
        """After a `yield`."""
        self._frame = self._tape.frames[-1]
        return sent


_STILL = NUMBERS | {Array, float, int, bool, str, tuple}
"""Types whose augmented assignment is an operation, or is known to be in place."""


class Containers:
    """Reads and writes of containers of the host, and of arrays."""

    def __init__(self, tape: Tape, call: Callable[..., Any], captured: Callable[[Any], Any], methods: Methods) -> None:
        self.tape = tape
        self.call = call
        self.captured = captured
        self.methods = methods
        self.known = methods.known
        """Classes that the methods have met."""
        self._frames, self._changed, self._sealed = tape.frames, tape.undo.known, tape.sealed

    def given(self, value: Any) -> Any:
        """A value from outside: arrays become staged ones, and the methods of objects are staged from now on."""
        if value.__class__ in self.known:
            return value
        if value.__class__ is Part and value.place is not None:
            return settled_attribute(self.tape, value, *value.place)
        if value.__class__ is Entry:
            return value.read()
        return self.captured(value) if _is_array(value) else self.methods.meet(value)

    def item(self, container: Any, index: Any) -> Any:
        """`container[index]`."""
        if type(index) is Int and type(container) in (list, tuple):
            found = taken(self.tape, container, index)
            return container[index] if found is None else found
        value = container[index]
        return value if type(value) in self.known else self.given(value)

    def append(self, container: Any, value: Any) -> Any:
        """`container.append(value)`, by far the most frequent method of the host's."""
        if type(container) is not list:
            return self.call(container.append, value)
        key, frames = id(container), self._frames
        if key not in self._changed or key in self._sealed or not frames or frames[-1].staged:
            self._change(container)
        return container.append(value)

    def written(self, container: Any) -> Any:
        """A container that is about to be changed: in staged code it must have been made in the same block."""
        key, frames = id(container), self._frames  # most were seen before, and nothing has come between
        if key not in self._changed or key in self._sealed or not frames or frames[-1].staged:
            self._change(container)
        return container

    def _change(self, container: Any) -> Any:
        tape = self.tape
        if told(container).__class__ is Array or container.__class__ is Columns:
            return container
        sealed = tape.sealed.get(id(container))
        if sealed is not None and sealed[0] is container:
            raise tape.fault(
                UnsupportedSyntax,
                f"{shown(container)} cannot be changed: {sealed[1]}",
                help="change a copy (`copy.copy`, `list(...)`), or use an array (`np.zeros(n)`)",
            )
        if tape.is_staged and not is_own(tape, container):
            raise tape.fault(
                UnsupportedSyntax,
                f"{shown(container)} from outside is changed in a staged branch or loop",
                help="bind a new value to a name, or use an array (`np.zeros(n)`), which can be changed anywhere",
            )
        tape.undo.note(container)
        return container

    def grows(self, value: Any, method: str) -> None:
        """A name that an augmented assignment changes: `items += [x]` changes the list itself."""
        kind = value.__class__
        if kind not in _STILL and hasattr(kind, method):
            self.written(value)

    def divides(self, value: Any) -> Any:
        """The left side of `%`, which is of numbers, or fills texts."""
        if self.tape.session.seen is not None:
            self.tape.session.seen.divides(value)
        return value

    def new(self, container: Any) -> Any:
        """A container that was just made."""
        if len(self.tape.frames) > 1:
            self.tape.frames[-1].born[id(container)] = container
        return container

    def member(self, item: Any, container: Any, negated: bool) -> Any:
        """`item in container`: compared one by one where something staged is involved."""
        ask = own(container, "__contains__")
        if ask is not None:
            decided = truth(self.tape, ask(item))
            return negate(self.tape, decided) if negated else decided
        inside: Any = container
        staged = item.__class__ in NUMBERS
        if isinstance(container, (list, tuple)) and (staged or any(x.__class__ in NUMBERS for x in inside)):
            found: Any = False
            for other in inside:
                found = (item == other) | found
            return negate(self.tape, found) if negated else found
        return (item not in container) if negated else (item in container)


def _is_array(value: Any) -> bool:
    """Whether a value is an array of numbers of NumPy's, which need not be loaded for that."""
    return value.__class__.__name__ == "ndarray" and value.dtype.kind in "fiub"


@dataclass(slots=True)
class Names:
    """Names that may be unbound, cells, and what a function returns."""

    tape: Tape

    def bound(self, value: Any, name: str) -> Any:
        """The value of a name that may be unbound."""
        return settled(self.tape, value, name)

    def cell(self, value: Any, name: str) -> Cell:
        """The cell of a variable that inner functions rebind."""
        cell = Cell(self.tape, name, settled)
        self.tape.frames[-1].contents[cell] = stored(value)
        return cell

    def rebound(self, cell: Cell, value: Any) -> Any:
        """`cell := value`."""
        cell.v = value
        return value

    def result(self, value: Any) -> Any:
        """The value of a `return` statement, checked while its line is running."""
        self.tape.session.returning(value, frame_at(1))
        return value

    def returned(self, value: Any) -> Any:
        """The value of a function."""
        if type(value) not in NUMBERS:
            value = self._arrived(value)
        frame, session = frame_at(1), self.tape.session
        if frame.f_code is session.code:  # most are helpers
            session.returning(value, frame)
        return value

    def _arrived(self, value: Any) -> Any:
        if told(value).__class__ is Array:
            content(self.tape, value.box)
        if value.__class__ is Part:
            value = settled(self.tape, value, "the result")
        arrive(value)
        return None if value is UNDEFINED else value


@dataclass(slots=True)
class Attempts:
    """`try` statements."""

    tape: Tape
    circuits: Circuits

    def trying(self) -> Attempt:
        """Begin a `try`."""
        self.tape.trying += 1
        return Attempt(tuple(self.tape.frames), self.circuits.heights(), self.tape.trying - 1)

    def tried(self, attempt: Attempt) -> None:
        """The body has ended without an exception."""
        self.tape.trying = attempt.depth

    def unwound(self, attempt: Attempt) -> None:
        """The body has ended with an exception, which a handler has caught."""
        tape = self.tape
        tape.trying = attempt.depth
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
        self.circuits.unwind(attempt.heights)


class Hooks:
    """What the name `rose@` stands for in rewritten code."""

    def __init__(self, tape: Tape, call: Callable[..., Any], captured: Callable[[Any], Any], methods: Methods) -> None:
        circuits, made = Circuits(tape), Comprehensions(tape)
        containers, messages = Containers(tape, call, captured, methods), Messages(tape)
        names, attempts, patterns = Names(tape), Attempts(tape, circuits), Patterns(tape, call, containers.item)
        self.tape = tape
        self.comprehensions = made
        self.containers = containers
        self.call, self.kind = call, lambda value: call(type, value)
        self.If = choices(tape)
        self.While = lambda names, exposed, leaving=(): WhileLoop(tape, names, exposed, leaving)
        self.For = lambda items, names, exposed, leaving=(): iterate(tape, methods.meet(items), names, exposed, leaving)
        self.Roll = lambda items, names, exposed, plan, leaving=(): roll(
            tape, methods.meet(items), names, exposed, plan, leaving, frame_at(1)
        )
        self.go = lambda *flags: go(tape, *flags)
        self.hit = hit
        self.negate = lambda value: negate(tape, value)
        self.left, self.right, self.only, self.joined = circuits.left, circuits.right, circuits.only, circuits.joined
        self.keep, self.kept, self.only_kept = circuits.keep, circuits.kept, circuits.only_kept
        self.choose, self.first, self.second = circuits.choose, circuits.first, circuits.second
        self.chosen = circuits.chosen
        self.comprehension, self.listing = made.open, made.open_list
        self.listed, self.few, self.generator = made.listed, made.few, made.generator
        self.holds, self.unless = messages.holds, messages.unless
        self.text = lambda *items: text(tape, *items)
        self.raises, self.raise_later = messages.raises, messages.raise_later
        self.given, self.item, self.written = containers.given, containers.item, containers.written
        self.new, self.member, self.append = containers.new, containers.member, containers.append
        self.grows, self.divides = containers.grows, containers.divides
        attributes = Attributes(tape, containers.written)
        self.owner, self.assign = attributes.of, attributes.assign
        self.bound, self.cell, self.result, self.returned = names.bound, names.cell, names.result, names.returned
        self.rebound = names.rebound
        self.trying, self.tried, self.unwound = attempts.trying, attempts.tried, attempts.unwound
        self.sequence, self.mapping, self.instance = patterns.sequence, patterns.mapping, patterns.instance
        self.decided, self.same, self.told = patterns.decided, patterns.same, told
        self.suspension = lambda: Suspension(tape)
        self.module = ModuleType("rose@")
        """The same for rewritten code: Python finds what is in a module in half the time."""
        vars(self.module).update(vars(self), UNDEFINED=UNDEFINED, slice=slice)
