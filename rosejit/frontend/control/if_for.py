"""The run-time side of rewritten statements: `if`, `while` and `for` on host values, and on staged ones."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, cycle, repeat
from operator import length_hint
from time import process_time
from typing import Any

from rosejit.errors import RoseError, StagingTypeError, UnrollWarning
from rosejit.frontend.arrays import host_tables
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.control import retype
from rosejit.frontend.control.checkpointed_loop import in_blocks
from rosejit.frontend.control.chosen import Chosen
from rosejit.frontend.control.grown_lists import goes_through_grown, is_grown, refuse
from rosejit.frontend.control.join import Join
from rosejit.frontend.control.list_iteration import check_begins, check_unchanged, gone_through, rows_of_list
from rosejit.frontend.control.loop_carries import Finaliser, LoopCarries
from rosejit.frontend.control.optional import assume
from rosejit.frontend.control.row_iterators import RowIterator, Sources, leave_early
from rosejit.frontend.control.staged_range import StagedRange, is_downwards, item_at, number_at, trip_count
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import as_flag, split
from rosejit.frontend.lists.dynamic_list import DynamicList
from rosejit.frontend.values.locations import Place
from rosejit.frontend.values.open_lengths import has_open
from rosejit.frontend.values.scalars import Bool, P
from rosejit.frontend.values.tape import UNDEFINED, AttributeSlot, Tape, Unrolled, refuse_outer_iterator
from rosejit.ir.lengths import Length
from rosejit.ir.syntax import Apply, Atom, Block, Call, Let, Lit, Loop, Var
from rosejit.ir.syntax import While as WhileForm
from rosejit.ir.types import BOOL, INT, REAL

Names = tuple[Any, ...]
_MANY = 100_000
"""After so many operations a loop of the host asks how many there will be."""
_TELLS, SECONDS = 20_000, 1.0
"""After so many operations, or so many seconds of work, a loop of the host says that it is unrolled."""
_LOOKS = 5_000
"""After so many operations it looks whether it should."""
_LONG = 64
"""From so many iterations on a loop that is left early does not make the rest of them."""


MOST_TIMES = 200
"""So often a loop is staged at most, each time for what the time before has changed."""


def staged_too_often(tape: Tape) -> RoseError:
    """The refusal of a loop that changes another object each time it is staged."""
    return tape.fault(
        StagingTypeError,
        "this loop changes, each time it is staged, an object of which the time before did not know",
        help="change objects under one name each: with an `if` around each change in place of a name for either",
    )


# --- if


class StagedIf:
    """An `if` that only running decides: both sides are staged, each in its block."""

    def __init__(self, tape: Tape, condition: Bool, before: Names, names: tuple[str, ...], live: int) -> None:
        self._tape = tape
        self._condition = condition
        self._names = names
        self._live = live
        self._before = before
        self._then: Names = ()
        self._sides = [tape.open("branch")]
        assume(tape, condition, True)

    def to_else(self, names: Names) -> Names:
        """End the first side, begin the second, where the names are what they were before."""
        self._then = names
        self._tape.close(self._sides[0])
        self._sides.append(self._tape.open("branch"))
        assume(self._tape, self._condition, False)
        self._sides[1].other = self._sides[0]
        return self._before

    def first_side(self, name: str) -> Any:
        """What the first side has left in a name; nothing while it is not over."""
        return dict(zip(self._names, self._then, strict=False)).get(name, UNDEFINED)

    def end(self, names: Names) -> Names:
        """End the only side that is written."""
        return self.join(self.to_else(names))

    def join(self, names: Names) -> Names:
        """End the second side; the names are what the sides have made of them."""
        then, orelse = self._sides
        self._tape.close(orelse)
        join = Join(self._tape, self._condition.atom, then, orelse)
        join.contents()
        pairs = zip(self._then, names, self._names, strict=True)
        joined = [join.join(a, b, name) if k < self._live else b for k, (a, b, name) in enumerate(pairs)]
        join.emit()
        return tuple(joined)


def branched(chosen: Chosen, use: Callable[[Any], Any]) -> Any:
    """What `use` of one of several values gives: a staged branch for each."""
    tape, options = chosen.__rose_tape__, chosen.__rose_options__
    position: Any = chosen.__rose_position__

    def among(first: int, last: int) -> Any:
        if last - first == 1:
            return use(options[first])
        middle = (first + last) // 2
        condition: Any = position < middle
        opened = StagedIf(tape, condition, (UNDEFINED,), ("what is chosen",), 1)
        opened.to_else((among(first, middle),))
        return opened.join((among(middle, last),))[0]

    return among(0, len(options))


Chosen.__rose_branched__ = staticmethod(branched)


def choices(tape: Tape) -> Callable[[Any, Names, tuple[str, ...], int], "bool | StagedIf"]:
    """What gives the `if` for a condition, its first side begun where only running decides it; Python's own is a
    bool."""

    def choose(condition: Any, before: Names, names: tuple[str, ...], live: int) -> bool | StagedIf:
        if condition is True or condition is False:
            return condition
        decided = truth(tape, condition)
        return StagedIf(tape, decided, before, names, live) if decided.__class__ is Bool else bool(decided)

    return choose


# --- for


class HostFor:
    """A loop over items of the host: each iteration is staged anew. `all_iterations`: nothing in it leaves the loop.
    `why` says why a loop that might have been rolled was not; then it is told of if it becomes long. So many of its
    iterations were staged before as are `peeled`."""

    __slots__ = (
        "_all_iterations",
        "_asks_at",
        "_before",
        "_began_at",
        "_counts",
        "_items",
        "_iterations",
        "_peeled",
        "_record",
        "_since",
        "_tape",
        "_through",
        "_why",
    )
    staged = False

    def __init__(
        self,
        tape: Tape,
        items: Iterable[Any],
        all_iterations: bool,
        why: str = "",
        place: Place | None = None,
        peeled: int = 0,
    ) -> None:
        self._tape = tape
        self._items = items
        self._through = items
        self._all_iterations = all_iterations
        self._why = why
        here = place or (tape.here() if why else None)
        self._record = None if here is None else Unrolled(here, why, iterations=peeled)
        self._peeled = peeled
        self._since = process_time() if why else 0.0

    def __iter__(self) -> Iterator[Any]:
        self._items = iter(self._items)
        self._iterations = length_hint(self._items) + self._peeled
        self._began_at = len(self._tape.lets)
        self._asks_at = min(self._began_at + (_LOOKS if self._why else _MANY), self._tape.room)
        self._counts = self._record is not None
        if self._record is None:
            return self._items
        self._tape.unrolled.append(self._record)
        self._before = operations(self._tape)
        if not self._all_iterations or self._iterations == self._peeled:  # nobody knows how many there are
            return self._items
        self._counts = False
        return chain(self._items, self._ended())

    def stops_after(self, iterations: int) -> None:
        """No more of them are unrolled."""
        self._count(iterations)

    def _ended(self) -> Iterator[Any]:
        """Nothing more; what a loop that nothing leaves has come to is counted once, here."""
        self._count(self._iterations)
        yield from ()

    def _count(self, iterations: int) -> None:
        if self._record is not None:
            self._record.ops = operations(self._tape) - self._before
            self._record.iterations = iterations

    def back(self, names: Names) -> Names:
        """The names as they are, if there is room for another iteration."""
        if len(self._tape.lets) > self._asks_at:
            self._ask()
        if self._tape.has_grown and goes_through_grown(self._through):
            refuse(self._tape, "a loop goes through, and changes,", self._through)
        if self._counts and self._record is not None:
            self._count(self._record.iterations + 1)
        return names

    def _ask(self) -> None:
        """Raise if there is no room, or if there will be none by far: nobody waits a minute to be told."""
        tape, left = self._tape, length_hint(self._items)
        staged, done = len(tape.lets) - self._began_at, self._iterations - left
        if not self._counts:
            self._count(done)
        each = staged / max(done, 1)
        if self._why and (staged > _TELLS or process_time() - self._since > SECONDS):
            self._tell(staged, done)
        following = staged + _LOOKS if self._why else _MANY if staged < _MANY else staged + _MANY
        self._asks_at = min(self._began_at + following, tape.room)
        if len(tape.lets) > tape.room:
            tape.unroll_limit()
        elif staged > _MANY and self._all_iterations and not tape.catching and each * left > 2 * tape.limit:
            tape.unroll_limit(f"this loop has {left:,} more iterations, after {done:,} of about {each:.0f} each")

    def _tell(self, staged: int, done: int) -> None:
        """Warn of the loop, once for all that is staged with it."""
        self._why, record = "", self._record
        if record is None or self._tape.told or self._tape.catching:
            return
        self._tape.told = True
        turns = f"{done:,} of {self._iterations:,}" if self._iterations else f"{record.iterations:,}"  # of a generator
        tell(record, f"{staged:,} operations after {turns} iterations")


class GrownFor(HostFor):
    """A loop over a list that has grown on some paths only: each iteration is a staged branch."""

    __slots__ = ("_flag", "_if", "_last", "_length", "_names", "_whole")
    staged = True

    def __init__(self, tape: Tape, items: Any, names: tuple[str, ...], leaving: tuple[str, ...]) -> None:
        super().__init__(tape, list(items), not leaving)
        self._through = ()
        self._names = names
        self._whole, self._length, self._last = items, len(items), items[-1]
        self._flag: Any = True
        self._if: StagedIf | None = None

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            value, self._flag = split(item)
            if not self._names:  # the text does not call it
                self.enter(())
            yield value

    def enter(self, names: Names) -> Names:
        """Begin the body, in a branch."""
        is_open = self._flag is not True
        self._if = StagedIf(self._tape, self._flag, names, self._names, len(names)) if is_open else None
        return names

    def back(self, names: Names) -> Names:
        """The names after the branch."""
        made = super().back(names if self._if is None else self._if.end(names))
        self._check()
        return made

    def _check(self) -> None:
        if len(self._whole) != self._length or (self._length and self._whole[-1] is not self._last):
            refuse(self._tape, "a loop goes through, and changes,", self._whole)


class IteratorFor(HostFor):
    """A loop over an iterator that flags may leave: where one of them is staged, how far it goes only running tells."""

    __slots__ = ("_flags", "_iterator", "_may_leave", "_turns")

    def __init__(self, tape: Tape, items: Any, leaving: tuple[str, ...], names: tuple[str, ...]) -> None:
        super().__init__(tape, items, False)
        self._iterator, self._may_leave, self._turns = items, False, 0
        self._flags = [k for k, name in enumerate(names) if name in leaving]

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        finally:
            if self._may_leave:
                leave_early(self._tape, self._iterator)

    def back(self, names: Names) -> Names:
        """The names as they are."""
        self._may_leave = self._may_leave or not all([names[k].__class__ is bool for k in self._flags])
        self._turns += self._may_leave
        endless = self._iterator.__class__ in _ENDLESS and length_hint(self._iterator, -1) < 0
        if self._turns > (0 if endless else _TURNS):
            raise self._tape.fault(
                StagingTypeError,
                "how often this loop runs only running tells, and what it goes through may have no end",
                help="count in a `while True:` loop, which is left in the same way",
            )
        return super().back(names)


_ENDLESS = (count, cycle, repeat)
_TURNS = 10_000
"""So many items of an iterator are staged where a staged `if` may leave the loop."""


def operations(tape: Tape) -> int:
    """How many operations were staged in the innermost block, those of blocks inside it too."""
    frame = tape.frames[-1]
    return len(tape.lets) + frame.budget - frame.room


def tell(record: Unrolled, cost: str) -> None:
    """Warn of a loop that is unrolled, once."""
    if record.told:
        return
    record.told = True
    grows = any(word in record.why for word in ("list grows", ".append(", ".extend("))
    instead = ", and no list grows (`a = np.zeros(n)` before it, `a[i] = ...` in it, and a count)" if grows else ""
    stays = f"let it stay a loop, in which names keep their kinds and shapes{instead}: `for i in rose.range(n)`; "
    if "holds a `yield`" in record.why:
        stays = "write the loop in the place of the generator, where it may stay one: `for i in rose.range(n)`; "
    edit = stays + "if it is to be unrolled, or fast enough as it is, `for i in rose.unroll(range(n))`"
    facts, place = (f"it was not rolled: {record.why}",), record.place
    warning = UnrollWarning(f"this loop is unrolled: {cost}", place, facts=facts, help=edit)
    warnings.warn_explicit(warning, UnrollWarning, place.file, place.line)


def tell_of_compilation(unrolled: Sequence[Unrolled], ops: int, seconds: float) -> None:
    """Warn of the longest of the loops that were `unrolled` into a program of so many operations that took so many
    seconds of work from its text to its code, if it is much and a good part of it (the elements of arrays count there
    only). A slow machine alone is no reason: few operations do not take long because of a loop."""
    longest = max(unrolled, key=lambda record: record.ops)
    is_much = ops > _TELLS or (seconds > SECONDS and ops > _TELLS // 10)
    if any(record.told for record in unrolled) or 4 * longest.ops < ops or not is_much:
        return
    of_all = f"{longest.ops:,} of {ops:,} operations"
    part = of_all if longest.ops <= ops else f"{longest.ops:,} operations, of which not all are left,"
    tell(longest, f"{part} after {longest.iterations:,} iterations, and {seconds:.1f} s of compilation")


class StagedFor:
    """A loop over a staged range: its body is staged once.

    A body that changes attributes which nobody knew it would change is staged again. `leaving` are names of flags that
    end the loop. A loop that something leaves is a `while` whose iterations begin with all flags
    False, unless it is so short that iterations which do nothing cost less. `pick` makes the item of an iteration
    from its number. Of a `rolled` loop it is known which names the host steps (`inductions`: their values before each
    iteration and after the last are read from tables, and are the host's after the loop), and what it changes.
    """

    staged = True

    def __init__(
        self,
        items: StagedRange,
        names: tuple[str, ...],
        exposed: int,
        leaving: tuple[str, ...] = (),
        pick: Callable[[Var], Any] | None = None,
        rolled: Sources | None = None,
    ) -> None:
        self._tape = tape = items.tape
        self._items = items
        check_begins(tape, items)
        self._pick = pick
        self._rolled = rolled
        self._inductions = {} if rolled is None else rolled.inductions
        self._standing: dict[str, Any] = {}
        """What stood for the induction variables as the body was entered."""
        self._names = names
        self._trips = trips = trip_count(items)
        few = isinstance(trips, Lit) and not isinstance(trips.value, Length) and int(trips.value or 0) < _LONG
        self._leaving = () if few else leaving
        self._exposed = exposed
        self._place = tape.here()
        self._slots: dict[AttributeSlot, Any] = {}
        """The attributes that an iteration is known to change."""
        self._begin()

    def _begin(self) -> None:
        tape = self._tape
        self._over = True
        self._index = Var(INT, "i")
        rolled = self._rolled
        for each in () if rolled is None else rolled.growing:
            each.open(tape, self._trips, self._index)
        self._frame = tape.open("loop")
        self._carries = LoopCarries(tape, self._frame, self._exposed, self._names, lambda: self._runs())
        self._frame.carries, self._frame.counts = self._carries, self._items
        if rolled is not None:
            host_tables.enter(tape, self._index, self._trips, self._frame, rolled.growing, rolled.written)

    def __iter__(self) -> Iterator[Any]:
        yield self._item()
        for _ in range(MOST_TIMES):
            if self._over:
                return
            self._begin()
            yield self._item()
        raise staged_too_often(self._tape)

    def _item(self) -> Any:
        made = item_at(self._items, self._index) if self._pick is None else self._pick(self._index)
        if not self._names:  # the text does not call it
            self.enter(())
        return made

    def enter(self, names: Names) -> Names:
        """Begin the body, where the names are what they are in any iteration."""
        held = self._carries.enter(names)
        self._carries.know(self._slots)
        if not self._inductions:
            return tuple([False if name in self._leaving else v for v, name in zip(held, self._names, strict=True)])
        self._standing = dict(zip(self._names, held, strict=True))
        order = slice(-2, None, -1) if is_downwards(self._items) else slice(-1)
        each = {name: values[order] for name, values in self._inductions.items()}
        values = {name: host_tables.at_index(self._tape, self._index, v) for name, v in each.items()}
        return tuple([values.get(name, v) for v, name in zip(held, self._names, strict=True)])

    def back(self, names: Names) -> Names:
        """End the body: the names are what they are after the loop."""
        if not self._inductions:
            made = self._back(names)
            return self._grown(made)
        pairs = list(zip(self._names, names, strict=True))
        made = self._back(tuple([self._standing[name] if name in self._inductions else v for name, v in pairs]))
        if not self._over:
            return made
        made = self._grown(made)
        after = {name: values[-1] for name, values in self._inductions.items()}
        return tuple([after.get(name, v) for name, v in zip(self._names, made, strict=True)])

    def _grown(self, names: Names) -> Names:
        for each in () if self._rolled is None or not self._over else self._rolled.growing:
            each.close(self._tape, is_downwards(self._items))
        return names

    def _back(self, names: Names) -> Names:
        tape, carries = self._tape, self._carries
        tape.close(self._frame)
        host_tables.leave(tape, self._index)
        if self._frame.unknown_slots:
            self._slots |= self._frame.unknown_slots
            self._over = False
            return carries.before
        before = carries.listed(names)
        if before is not None:
            self._over = False
            return before
        check_unchanged(tape, self._items, self._frame)
        if any(value is not False and name in self._leaving for value, name in zip(names, self._names, strict=True)):
            return self._left(names)
        finishes = carries.finish_carries(names)
        self._look(carries)
        found = carries.carries
        body = Block(self._frame.lets, tuple(carry.next for carry in found))
        variables = tuple(carry.phi for carry in found)
        inits = tuple(carry.init for carry in found)
        loop = Loop(self._trips, self._index, variables, inits, (), body, is_downwards(self._items))
        retype.retype_loop(loop, carries.atoms)
        retype.convert_carries(loop, tape.lets, self._place)
        schedule = self._items.checkpoint
        made, passed = (loop, ()) if schedule is None else in_blocks(tape, loop, schedule)
        return finished(tape, carries, finishes, made, passed)

    def _runs(self) -> Any:
        """Whether it makes an iteration."""
        return runs_at_all(self._tape, self._trips)

    def _look(self, carries: LoopCarries) -> None:
        """What is asked of the body and of what it carries before it is made a loop."""

    def _left(self, names: Names) -> Names:
        """The loop as one that ends when its count is reached or a flag is set."""
        tape, carries, place, index = self._tape, self._carries, self._place, self._index
        if self._items.checkpoint is not None:
            raise tape.type_fault(
                "a loop with checkpoints is left early",
                "let all its iterations run, with an `if` around what the last ones do",
            )
        following, goes_on = Var(INT, index.hint), Var(BOOL, "more")
        step, test = Apply(P["wadd"], (index, Lit(1, INT))), Apply(P["ilt"], (index, self._trips))
        first: Atom = Lit(0, INT)
        if is_downwards(self._items):
            step, test = Apply(P["wsub"], step.args), Apply(P["ige"], (index, first))
            first = tape.apply(P["wsub"], self._trips, Lit(1, INT))
        tests = [Let((goes_on,), test, place)]
        for held, name in zip(carries.held, self._names, strict=True):
            if name in self._leaving:
                stays, both = Var(BOOL, "stays"), Var(BOOL, "more")
                tests.append(Let((stays,), Apply(P["not"], (held.atom,)), place))
                tests.append(Let((both,), Apply(P["and"], (goes_on, stays)), place))
                goes_on = both
        carries.carry(index, first, following)
        finishes = carries.finish_carries(names)  # it may compute what the iteration leaves
        self._look(carries)
        found, body = carries.carries, [*self._frame.lets, Let((following,), step, place)]
        variables, inits = tuple(carry.phi for carry in found), tuple(carry.init for carry in found)
        loop = WhileForm(variables, inits, Block(tests, (goes_on,)), Block(body, tuple(c.next for c in found)))
        retype.retype_loop(loop, carries.atoms)
        retype.convert_carries(loop, tape.lets, place)
        return finished(tape, carries, finishes, loop, (Var(INT, "turns"),))


def runs_at_all(tape: Tape, trips: Atom) -> Any:
    """Whether a loop of that many iterations makes one."""
    if isinstance(trips, Lit) and not isinstance(trips.value, Length):
        return int(trips.value or 0) > 0
    return as_flag(tape, tape.apply(P["igt"], trips, Lit(0, INT)))


def finished(
    tape: Tape, carries: LoopCarries, finishes: list[Finaliser], loop: Loop | WhileForm | Call, extra: tuple[Var, ...]
) -> Names:
    """Append the loop, unless it does nothing, and give the names after it."""
    for carry in carries.carries:
        if carry.final.type is INT and carry.phi.type is REAL:
            tape.mixed |= {carry.final, carry.phi}
        carry.final.type = carry.phi.type
    if not isinstance(loop, Loop) or loop.body.lets or carries.carries:
        tape.bind_all(loop, (*extra, *(carry.final for carry in carries.carries)), carries.frame.place)
    for write in carries.later:
        write()
    made = tuple([finish() for finish in finishes])
    carries.joined()
    return made


def iterate(
    tape: Tape, items: Any, names: tuple[str, ...], exposed: int, leaving: tuple[str, ...] = (), why: str = ""
) -> HostFor | StagedFor:
    """The `for` over `items`; `why` is as for `HostFor`."""
    items = gone_through(items)
    if items.__class__ is DynamicList:
        items = rows_of_list(tape, items)
    if items.__class__ is StagedRange:
        in_table = items.is_pythons and tape.rolled is not None
        return StagedFor(items, names, exposed, leaving, rolled=Sources((), 0, False) if in_table else None)
    if items.__class__ is Array and has_open(items.shape[:1]):
        return StagedFor(rows_of_open(tape, items), names, exposed, leaving)
    if tape.has_grown and is_grown(items):
        return GrownFor(tape, items, names, leaving)
    found = rows(tape, items)
    if leaving and hasattr(items, "__next__"):
        return IteratorFor(tape, found, leaving, names)
    return HostFor(tape, found, not leaving, why)


def rows_of_open(tape: Tape, items: Array) -> StagedRange:
    """The rows of an array whose length stays open, as a staged range."""
    numbers = StagedRange(tape, 0, items.shape[0], 1)
    return StagedRange(tape, 0, items.shape[0], 1, pick=lambda index: get(items, number_at(numbers, index)))


def rows(tape: Tape, items: Any) -> Any:
    """What Python iterates over; arrays give their elements, or their rows as views."""
    if items.__class__ is not Array:
        if tape.has_grown and is_grown(items):
            refuse(tape, "what is done here needs each item of", items)
        if hasattr(items, "__next__"):
            refuse_outer_iterator(tape, items)
        else:
            tape.session.opened.goes_through(items)
        return items
    if not items.shape:
        raise tape.type_fault("Python iterates over an array without dimensions")
    return RowIterator(items)
