"""The trace state: the lets of the blocks that are open while a function runs on staged values.

A frame is one open block: its lets, what it allocated, and what it knows of boxes, cells and attribute slots. A host
container may be changed by staged code only in the block that made it.
"""

import linecache
import os
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any, Literal, cast

from rosejit.errors import RoseError, StagingTypeError, UnrollLimit, UnsupportedSyntax
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.affine import Definitions
from rosejit.frontend.values.deferred_effects import DeferredEffects
from rosejit.frontend.values.locations import Place, Places, frame_at
from rosejit.frontend.values.tries import Tries
from rosejit.frontend.values.undo_log import UndoLog
from rosejit.frontend.values.updated_numbers import UpdatedNumbers
from rosejit.ir.failure import KINDS, raised_by
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import TRUE, Apply, Atom, Check, Expr, Failure, Let, Lit, Var
from rosejit.ir.types import REAL, Type
from rosejit.lazy_dataclass import dataclass

UNROLL_LIMIT = 10_000_000
"""How many operations are staged in one function, unless `ROSE_UNROLL_LIMIT` says otherwise."""


@dataclass(slots=True, frozen=True)
class Invalidated:
    """The content of an array that may not be reached any more, and why."""

    reason: str
    help: str = "give the result a name of its own, or copy with `.copy()` before"


@dataclass(slots=True, eq=False)
class NonlocalCell:
    """A variable that several functions share and one of them rebinds. What it holds is known to the frames."""

    tape: "Tape"
    name: str
    read_bound: Callable[["Tape", Any, str], Any]

    @property
    def v(self) -> Any:
        """What the variable is bound to; Python's own error where that is nothing."""
        return self.read_bound(self.tape, self.tape.read_cell(self), self.name)

    @v.setter
    def v(self, value: Any) -> None:
        self.tape.write(self, value)


SEQUENCES = frozenset({list})
MAPPINGS = frozenset({dict, defaultdict, OrderedDict, Counter})
"""Containers whose elements staged blocks may change, one by one; those of classes derived from them as well."""


@lru_cache(2048)
def base_of(cls: Any) -> Any:
    """The class of Python's that keeps the elements of the lists and dicts of a class; None of other ones."""
    if cls in SEQUENCES or cls in MAPPINGS:
        return cls
    if not isinstance(cls, type) or not is_users_class(cls):
        return None
    return next((each for each in cls.__mro__ if each in SEQUENCES or each in MAPPINGS), None)


@dataclass(slots=True, eq=False)
class AttributeSlot:
    """An attribute of an object, or an element of a list or a dict, that staged blocks change. The object has the
    value of the innermost block."""

    owner: Any
    attribute: Any
    """The name; the index or the key of an element."""
    first: Any
    """What it was when staged code first assigned it."""
    place: Place | None = None
    """Where that was."""

    @property
    def is_element(self) -> bool:
        """Whether it is an element of a list or a dict."""
        return base_of(self.owner.__class__) is not None

    @property
    def name(self) -> str:
        """What it is called in messages."""
        if self.is_element:
            return f"element {self.attribute!r} of a {type(self.owner).__name__}"
        return f"`{self.attribute}` of a {type(self.owner).__name__}"

    def read(self) -> Any:
        """What the object has; UNDEFINED if nothing."""
        owner, key, base = self.owner, self.attribute, base_of(self.owner.__class__)
        if base in SEQUENCES:
            return base.__getitem__(owner, key) if key < base.__len__(owner) else UNDEFINED
        if base in MAPPINGS:
            return base.get(owner, key, UNDEFINED)
        if is_computed_once(owner, key):
            return vars(owner).get(key, UNDEFINED)
        return getattr(owner, key, UNDEFINED)

    def put(self, value: Any) -> None:
        """Let the object have a value, or nothing."""
        if self.is_element:
            self._put_element(value)
            return
        if value.__class__ is MaybeBound:
            value.place = (self.owner, self.attribute)
        if value is not UNDEFINED:
            object.__setattr__(self.owner, self.attribute, value)
        elif self.read() is not UNDEFINED:
            object.__delattr__(self.owner, self.attribute)

    def _put_element(self, value: Any) -> None:
        """Elements that were added are taken away from the end."""
        owner, key, base = self.owner, self.attribute, base_of(self.owner.__class__)
        if value is UNDEFINED:
            if base in SEQUENCES:
                base.__delitem__(owner, slice(key, None))
            else:
                base.pop(owner, key, None)
        elif base in SEQUENCES and key >= base.__len__(owner):  # those before it follow
            base.extend(owner, [UNDEFINED] * (key - base.__len__(owner)))
            base.append(owner, value)
        else:
            base.__setitem__(owner, key, value)


def is_computed_once(owner: Any, name: str) -> bool:
    """Whether an attribute is a property that an object computes when it is first asked for it."""
    return isinstance(getattr(type(owner), name, None), cached_property)


NOTHING = object()
"""None, as the content of a cell or a slot."""


def stored(value: Any) -> Any:
    """A value as the content of a cell or a slot."""
    return NOTHING if value is None else value


def loaded(content: Any) -> Any:
    """The content of a cell or a slot as the value that it is."""
    return None if content is NOTHING else content


@dataclass(slots=True, eq=False)
class Unrolled:
    """A loop that is unrolled, and why; how many operations came of how many iterations, and whether anybody was told
    of it."""

    place: Place
    why: str
    ops: int = 0
    iterations: int = 0
    told: bool = False


Kind = Literal["function", "branch", "loop", "scratch"]


class Frame:
    """A block that is open. Written out, since there is one for every side of every branch."""

    __slots__ = (
        *(
            "allocated",
            "budget",
            "carries",
            "contents",
            "counts",
            "diverges",
            "entry_values",
            "epoch",
            "kind",
            "known",
            "lets",
            "unknown_slots",
            "other",
            "place",
        ),
        *("room", "staged", "reads_outer"),
    )

    def __init__(self, kind: Kind, place: Place | None = None) -> None:
        self.kind: Kind = kind
        self.place = place
        self.lets: list[Let] = []
        self.contents: dict[Any, Any] = {}
        """What was written in the block: arrays and cells by identity."""
        self.entry_values: dict[Any, tuple[Any, Any]] = {}
        """Of a loop: for the cells that were touched in it, and the slots that it changes, the placeholder, and what
        they held before."""
        self.unknown_slots: dict[AttributeSlot, None] = {}
        """Of a loop: the slots that were changed in it and that it did not know. It is staged again."""
        self.allocated: dict[int, Any] = {}
        """The host containers that were made in the block, by `id`."""
        self.reads_outer: set[Any] = set()
        """Of a loop or a function: the arrays of the blocks around that were read in it."""
        self.diverges = False
        """Whether a `raise` was staged in it: its end is never reached."""
        self.epoch = 0
        """How often a part of the block was forgotten: what was bound in it before may be gone."""
        self.known: dict[Any, bool] | None = None
        """Of the side of a branch: the flags of optional values that its condition tells."""
        self.other: Frame | None = None
        """Of the second side of a branch: the first."""
        self.counts: Any = None
        """Of a loop over a range: the range."""
        self.carries: Any = None
        """Of a loop: what makes the placeholders."""
        self.staged = False
        """Whether it is a branch or a loop, or inside one: what happens in it may happen often or never."""
        self.budget = self.room = 0
        """How many operations may be staged in the block: when it was opened, and now, less those of blocks inside."""


class Tape:
    """The blocks that are open, innermost last. Nested stagings share one tape; variables are never mistaken."""

    waited = False
    """Whether handlers have waited for errors of arithmetic."""
    columns: dict[int, tuple[tuple[Any, ...], Any]]
    """By `id`: lists of the host as they were, and their items by their parts (`arrays/host_lists.py`)."""
    rows: dict[int, tuple[tuple[Any, ...], Any]]
    """The same of lists of lists, and what their rows have in common."""
    changed_in_place: dict[int, Any]
    """By `id`: the objects that iterations of staged loops change in place, though they bind a name to them."""
    told = False
    """Whether somebody was told of a loop that is unrolled to very many operations."""
    host_contents: dict[Var, Any]
    """Arrays that were known to the host until a rolled loop read them at its index."""
    given: dict[Var, Any]
    """The classes of numbers that are arguments, where they are not Python's own."""
    copied: frozenset[tuple[Place | None, str]] = frozenset()
    """Loops and names that iterations bind to several arrays, nothing being bound to them before."""
    lists: dict[Atom, tuple[Any, ...]]
    """By array: the numbers of a list of the host that stand in it side by side, each of the class it has there."""
    inherited: dict[int, AttributeSlot]
    """By `id` of the attributes of an object: one that staged blocks bind, where its class has another one."""
    unclassed: set[Var]
    """Numbers that are arguments, of whose classes the key of the call says nothing."""
    _literals: dict[float, Lit]
    rolled: Any = None
    """The rolled loops that are open, if there are any (`arrays/host_tables.py`)."""
    rolls_more = False
    """Whether a loop was found in which so much is unrolled that shorter ones are rolled as well."""
    keeps_unrolled = False
    """Whether somebody has asked for a loop to be unrolled."""
    has_open = False
    """Whether there are arrays whose length stays open."""
    has_grown = False
    """Whether there are lists that have grown on some paths only (`control/grown_lists.py`)."""
    moved: dict[int, Any]
    """By `id`: copies of objects that loops carry, which were given up for these."""
    shared: dict[int, Any]
    """By `id`: what may not be changed before it is decided which of those go on that it may be one with."""
    argument_objects: dict[int, tuple[Any, Any, str]]
    """By `id`: objects that were built for arguments, whose, and where."""
    identified: dict[Any, Any]
    """By class: of whose objects the `id` was asked."""
    identities: Any = None
    """Which objects may be the same (`control/identities.py`)."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.lets: list[Let] = []
        self.places = Places()
        self.catching, self.handlers_around = list[tuple[type, ...]](), 0
        """What the `try` statements that are open catch (with a `finally` all), those of callers coming first."""
        self.faults: Any = None
        """What handlers that are open wait for, if they wait for errors of arithmetic (`scalar_ops/faults.py`)."""
        self.operators: list[tuple[str, list[Var], Place | None]] = []
        """Operators whose errors handlers wait for, with their operands."""
        self.implied: dict[tuple[Any, bool], dict[Any, bool]] = {}
        """What a condition, if it is true or if it is not, says of the flags of optional values."""
        self.asked_kinds, self.weak = list[tuple[Var, Type, Place | None]](), list[tuple[Atom, str, Place | None]]()
        """Numbers whose class somebody asked for, and what it was; Python's numbers beside those of few bits."""
        self.mixed, self.numpys, self.floats = set[Var](), set[Var](), set[Var]()
        """Reals that are ints on some paths; numbers that functions of NumPy have given, and that `float` has made."""
        self.updated = UpdatedNumbers()
        self.pythons, self.literals_of_numpys = dict[int, Any](), dict[int, Lit]()
        """By `id`: numbers that `float`, `int` and `bool` have given; constants that were NumPy's on the host."""
        self.used_up, self.merged, self.left_early = dict[int, Any](), dict[int, Any](), dict[int, Any]()
        """By `id`: iterators that were gone through; structures, and boxes of arrays, of which only running tells which
        object they are; iterators of which only running tells how far they were gone through."""
        self.error: RoseError | None = None
        """The first error raised by staging: swallowing it in user code does not help."""
        self.limit = int(os.environ.get("ROSE_UNROLL_LIMIT", UNROLL_LIMIT))
        self.session: Any = None
        """What owns the tape: it knows the functions that are being staged."""
        self.tries, self.trials, self.sites = Tries(), DeferredEffects(), cast(Any, None)
        """Loops, and iterations of the function that is being staged, that may be forgotten; where lists are made."""
        self.quoted: list[Any] | None = None
        """While the message of a staged `assert` or `raise` is made: the staged values that it shows."""
        self.raising: tuple[BaseException, Callable[[], None]] | None = None
        """An error of the user's whose message running tells, on its way out, and what stages it."""
        self.frozen_containers: dict[int, tuple[Any, str]] = {}
        """Containers of the host that may not be changed any more, by `id`, and why."""
        self.definitions, self.argument_objects, self.identified, self.unclassed = Definitions(), {}, {}, set()
        self.undo, self.unrolled, self.rows, self.changed_in_place, self.lists = UndoLog(), [], {}, {}, {}
        self.slots: dict[int, dict[Any, AttributeSlot]] = {}
        """The attributes that staged blocks have changed, by `id` of the object and by name."""
        self._literals, self.host_contents, self.columns, self.given, self.inherited = {}, {}, {}, {}, {}

    # --- lets

    def literal(self, value: float) -> Lit:
        """A Real constant."""
        if value == 0.0 or value != value:  # zeros have two signs; nan is not found again
            return Lit(value, REAL)
        known = self._literals.get(value)
        if known is None:
            known = self._literals[value] = Lit(value, REAL)
        return known

    def apply(self, op: Primitive, *args: Atom, above: int = 1) -> Var:
        """The result of `op`, staged at the user's line; `above` calls lie between this and the user's, at least."""
        var = Var(op.result)
        place = self.places.of(frame_at(above))
        if op.failure and self.catching and op.failure != "overflow":  # Python's ints have no end: nobody waits for it
            self.refuse_in_try(f"`{op.word}`", *[KINDS[kind] for kind in op.failure.split("|")])
        self.lets.append(Let((var,), Apply(op, args), place))
        return var

    def bind(self, expr: Expr, kind: Type, hint: str = "x") -> Var:
        """The one result of `expr`."""
        if self.catching and getattr(expr, "checked", False):
            self.refuse_in_try("this index", KINDS["index"])
        var = Var(kind, hint)
        self.lets.append(Let((var,), expr, self.places.of(frame_at(1))))
        return var

    def bind_all(self, expr: Expr, binders: tuple[Var, ...], place: Place | None = None) -> None:
        """Append an expression with these results."""
        if self.faults is not None and self.faults.pending and getattr(expr, "function", None) is not None:
            self.faults.refuse("a function is called")
        self.lets.append(Let(binders, expr, place or self.here()))

    def check(self, condition: Atom, failure: Failure, *values: Atom) -> None:
        """Fail at run time unless `condition` holds."""
        if self.catching:
            what = "this index" if failure.kind == "index" else "this check"
            self.refuse_in_try(what, *raised_by(failure))
        if condition is not TRUE:
            self.lets.append(Let((), Check(condition, failure, values), failure.span))

    def refuse_in_try(self, what: str, *classes: type, quiet: bool = False) -> None:
        """The host has left a `try` long before staged code fails in it: that is right where nobody would catch it.
        Without classes it is not known what is raised; what is `quiet` does nothing else. A call is named before a
        part of it."""
        handlers = open_handlers(self)
        behind = not quiet and self.faults is not None and self.faults.pending
        caught = any(issubclass(cls, kind) for cls in classes for kinds in handlers for kind in kinds)
        if handlers and (not classes or behind or caught):
            place = self.here()
            line = linecache.getline(place.file, place.line)[place.col :] if place is not None else ""
            called = re.match(r"[A-Za-z_][\w.]*(?=\()", line)
            what = f"`{called.group()}`" if called else what
            raise self.fault(
                UnsupportedSyntax,
                f"{what} can fail at run time, inside a `try`: its handler is on the host, and would not be asked",
                help="move it out of the `try`, or test before with `if` (a determinant, a divisor, a length)",
            )

    # --- blocks

    @property
    def frame(self) -> Frame:
        """The innermost block."""
        return self.frames[-1]

    @property
    def room(self) -> int:
        """How many operations the innermost block may have."""
        return self.frames[-1].room if self.frames else self.limit

    @property
    def is_staged(self) -> bool:
        """Whether a branch or a loop is open, or an error may have been raised: what happens now may happen often or
        never when the code runs."""
        frames = self.frames
        return (frames[-1].staged if frames else False) or (self.faults is not None and self.faults.pending)

    def open(self, kind: Kind) -> Frame:
        """Begin a block: what is staged from now on goes there."""
        frame = Frame(kind, None if kind == "function" else self.places.of(frame_at(1)))
        frame.staged = kind == "branch" or kind == "loop" or self.is_staged
        frame.budget = frame.room = self.limit if kind == "function" else self.room - len(self.lets)
        if frame.room < 0:
            self.unroll_limit()
        self.frames.append(frame)
        self.lets = frame.lets
        return frame

    def close(self, frame: Frame) -> Frame:
        """End the innermost block, which must be `frame`."""
        if self.frames[-1] is not frame:
            raise self.fault(
                UnsupportedSyntax,
                "the blocks of staged control flow are left in another order than they were entered",
                help="do not suspend a generator inside a staged `if` or loop",
            )
        self.frames.pop()
        self.lets = []
        if self.slots:
            self.put_back(frame.contents)
        if self.frames:
            outer = self.frames[-1]
            outer.room -= len(frame.lets) + frame.budget - frame.room
            self.lets = outer.lets
        return frame

    def adopt(self, frame: Frame) -> None:
        """End a scratch block as if it had never been one."""
        self.close(frame)
        outer = self.frames[-1]
        outer.lets += frame.lets
        outer.room += len(frame.lets)
        outer.contents |= frame.contents
        self.put_back(frame.contents)
        outer.allocated |= frame.allocated

    @contextmanager
    def block(self) -> Generator[list[Let]]:
        """A block of our own making, in which no user code runs."""
        outer, self.lets = self.lets, []
        frame = self.frames[-1]
        saved, frame.lets = frame.lets, self.lets
        try:
            yield self.lets
        finally:
            self.lets, frame.lets = outer, saved

    @contextmanager
    def reopened(self, frame: Frame) -> Generator[None]:
        """Stage something more at the end of a block that was just closed."""
        self.frames.append(frame)
        self.lets = frame.lets
        try:
            yield
        finally:
            self.frames.pop()
            self.lets = self.frames[-1].lets

    def unroll_limit(self, *facts: str) -> None:
        """Raise: there is no end to it."""
        raise self.fault(
            UnrollLimit,
            f"more than {self.limit} operations {'would be' if facts else 'were'} staged in one function",
            facts=facts,
            help="let the loop stay a loop: `for i in rose.range(n)`",
        )

    # --- contents

    def content(self, key: Any, around: Frame | None = None) -> Any:
        """What an array (its box) or a cell holds now; None if it was made in a block that is over.

        With `around`: what the blocks around that one say, all of them if it is closed.
        """
        frames = self.frames
        if around is not None and around in frames:
            frames = frames[: frames.index(around)]
        for frame in reversed(frames):
            found = frame.contents.get(key)
            if found is not None:
                return found
        return None

    def write(self, key: Any, value: Any) -> None:
        """Put a value in an array, a cell or a slot, in the innermost block."""
        if self.faults is not None:
            self.faults.wrote(key)
        if key.__class__ is NonlocalCell:
            self._enter_loops(key)
        elif key.__class__ is AttributeSlot:
            key.put(value)
        self.frames[-1].contents[key] = stored(value)

    def put_back(self, contents: Iterable[Any]) -> None:
        """Let objects have what the open blocks say of the slots in `contents`."""
        for key in contents:
            if key.__class__ is AttributeSlot:
                value = self.content(key)
                if value is not None:
                    key.put(loaded(value))

    def read_cell(self, cell: NonlocalCell) -> Any:
        """What a cell holds: in a loop a placeholder from the first touch on."""
        self._enter_loops(cell)
        value = self.content(cell)
        return UNDEFINED if value is None else loaded(value)

    def _enter_loops(self, cell: NonlocalCell) -> None:
        holder = next((k for k in range(len(self.frames) - 1, -1, -1) if cell in self.frames[k].contents), -1)
        for frame in self.frames[holder + 1 :] if holder >= 0 else ():
            if frame.kind == "loop":
                before = loaded(self.content(cell, frame))
                standing = frame.carries.placeholder(before, cell.name)
                frame.entry_values[cell] = (standing, before)
                frame.contents[cell] = stored(standing)

    def record_allocation(self, *made: Any) -> None:
        """Note that these were made in the innermost block."""
        for item in made:
            self.frames[-1].allocated[id(item)] = item
            if self.faults is not None:
                self.faults.allocated(item)

    def freeze(self, why: str, *containers: Any) -> None:
        """From now on changes of these are refused: another container may have to change with them."""
        for container in containers:
            self.frozen_containers[id(container)] = (container, why)
            self.shared.pop(id(container), None)

    # --- errors

    def here(self) -> Place | None:
        """The line of the user's that is running."""
        return self.places.of(frame_at(1))

    def fault(
        self,
        kind: type[RoseError],
        message: str,
        *,
        help: str | None = None,
        facts: tuple[str, ...] = (),
    ) -> RoseError:
        """An error at the user's line, with the calls that led there; it is to be raised."""
        *calls, place = self.places.chain(frame_at(1)) or (None,)
        error = kind(message, place, facts=facts, help=help, chain=tuple(calls))
        if self.error is None:
            self.error = error
        return error

    def type_fault(self, message: str, help: str | None = None, *facts: str) -> RoseError:
        """`fault` of the most frequent kind."""
        return self.fault(StagingTypeError, message, help=help, facts=facts)


def open_handlers(tape: Tape) -> list[tuple[type, ...]]:
    """What handlers catch that are open in the function that is being staged."""
    return tape.catching[tape.handlers_around :]


@contextmanager
def unfailing(tape: Tape) -> Generator[None]:
    """What is staged inside is known not to fail: no handler that is open is asked."""
    catching, tape.catching = tape.catching, []
    try:
        yield
    finally:
        tape.catching = catching


def waits_on_host(tape: Tape, cls: type) -> bool:
    """Whether a handler of the host catches what is raised now."""
    return not tape.is_staged and any(issubclass(cls, kind) for kinds in tape.catching for kind in kinds)


def kind_fault(tape: Tape, said: str, message: str, help: str | None = None) -> Exception:
    """What Python raises for an operand of a number's kind, `said` in its words, where a handler of the host waits for
    that; else a fault."""
    return TypeError(said) if waits_on_host(tape, TypeError) else tape.type_fault(message, help)


class Undefined:
    """What a name is bound to while the user has bound it to nothing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = Undefined()


class MaybeBound:
    """A name or an attribute that is bound on the paths on which `flag` is true."""

    __slots__ = ("flag", "place", "value")

    def __init__(self, value: Any, flag: Any) -> None:
        self.value = value
        self.flag = flag
        self.place: tuple[Any, str] | None = None
        """Of an attribute: the object and the name."""


def merged(tape: Tape, made: Any) -> Any:
    """Note that only running tells which object `made` is; gives it."""
    tape.merged[id(made)] = made
    return made


def is_local(tape: Tape, container: Any) -> bool:
    """Whether a container was made in the innermost block, and since the last statement that may have raised."""
    if tape.faults is not None and not tape.faults.is_new(container):
        return False
    for frame in reversed(tape.frames):
        if id(container) in frame.allocated or (frame.kind == "function" and not frame.staged):
            return True
        if frame.kind != "scratch":
            break
    return False


def refuse_outer_iterator(tape: Tape, iterator: Any) -> None:
    """Refuse to use up, once while staging, an iterator from outside that the code goes through often or never; note
    that it is gone through."""
    tape.used_up[id(iterator)] = iterator
    if tape.left_early.get(id(iterator)) is iterator:
        raise tape.fault(
            UnsupportedSyntax,
            "this iterator was gone through by a loop that only running leaves, early or not, so how far is not known",
            help="go through a list or an array by an index, and keep the index",
        )
    if not is_local(tape, iterator):
        tape.tries.acts()
    if tape.is_staged and not is_local(tape, iterator):
        raise tape.fault(
            UnsupportedSyntax,
            f"an iterator from outside ({type(iterator).__name__}) is used up in a staged branch or loop",
            help="make a list of it before, and go through that",
        )
