"""Runs rewritten comprehensions: lists of the host, arrays of the IR, and generators for reductions."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Iterable, Iterator
from types import GeneratorType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays.access import variable
from rosejit.frontend.arrays.array import Array, fresh
from rosejit.frontend.arrays.asarray import stacked
from rosejit.frontend.arrays.row_aliases import spread
from rosejit.frontend.control import retype
from rosejit.frontend.control.grown_lists import each, is_grown
from rosejit.frontend.control.if_for import StagedIf, rows, rows_of_open, runs_at_all
from rosejit.frontend.control.join import Join
from rosejit.frontend.control.list_iteration import check_begins, check_unchanged, gone_through, rows_of_list
from rosejit.frontend.control.loop_carries import LoopCarries
from rosejit.frontend.control.optional import assume
from rosejit.frontend.control.staged_range import StagedRange, item_at, trip_count
from rosejit.frontend.control.truth import truth
from rosejit.frontend.lists.dynamic_list import DynamicList
from rosejit.frontend.lists.list_making import of_comprehension
from rosejit.frontend.lists.list_sites import may_open
from rosejit.frontend.lists.list_steps import refuse
from rosejit.frontend.soa.element_proxy import arrays_in, owned, share_outside
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays
from rosejit.frontend.values.open_lengths import has_open
from rosejit.frontend.values.pytree import members, with_parts
from rosejit.frontend.values.scalars import ATOMS, Bool, type_of
from rosejit.frontend.values.staged_inputs import to_know
from rosejit.frontend.values.tape import UNDEFINED, AttributeSlot, Frame, Tape
from rosejit.ir.syntax import Atom, Block, Lit, Loop, Var
from rosejit.ir.types import INT, REAL
from rosejit.ir.types import Array as ArrayType

_MANY = 1000
"""A list of so many items asks after each whether there is room for more operations."""


class Tests:
    """The conditions of a comprehension while it runs."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.folds = False
        """Whether somebody takes the values one by one and adds them up in variables that loops carry."""
        self.elements: list[Any] | None = None
        """Those of a list so far, of which some may be there on some paths only."""
        self.into: Tests | None = None
        """The comprehension that goes through this one."""
        self.dynamic: Any = None
        """The list that it makes, where only running tells how long that is."""
        self.is_opening = False
        """Whether the function is staged again for such a list, as soon as an item is there."""
        self.site = ""

    def opens(self) -> bool:
        """Whether it can make a list whose length only running tells."""
        self.is_opening = may_open(self.tape)
        return self.is_opening

    def when(self, condition: Any) -> Iterable[Any]:
        """One iteration if the condition holds: the `if` of a comprehension as a `for`."""
        decided = truth(self.tape, condition)
        if decided.__class__ is Bool:
            return self._branch(decided)
        return (None,) if decided else ()

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds that binds a name: the host has to decide it."""
        decided = truth(self.tape, condition)
        if decided.__class__ is Bool:
            raise self.tape.fault(
                UnsupportedSyntax,
                "`:=` in a staged `if` of a comprehension binds a name on some paths only",
                help="compute the value twice, or write the loop as a `for` statement",
            )
        return decided

    def _branch(self, condition: Bool, item: Any = None) -> Iterator[Any]:
        tape, whole = self.tape, self
        while whole.into is not None:
            whole = whole.into
        elements = whole.elements
        if not whole.folds and elements is None and whole.dynamic is None and not whole.opens():
            raise tape.fault(
                UnsupportedSyntax,
                "a staged `if` in a comprehension leaves open how much it gives",
                help="a list over what the host goes through (`[v for v in xs if c]`) may have one; else use "
                "`a if c else b` for the element, or `sum(... if c ...)`",
            )
        count = len(elements or ())
        frame = tape.open("branch")
        assume(tape, condition, True)
        yield item
        tape.close(frame)
        join = Join(tape, condition.atom, frame, Frame("branch", place=frame.place))
        join.contents()
        if elements is not None and not whole.folds:
            tape.has_grown = True
            elements[count:] = [join.join(element, UNDEFINED, "an element") for element in elements[count:]]
        join.emit()


class Comprehension(Tests):
    """One comprehension while it runs; `result` replaces the list that Python makes, if a loop was staged."""

    def __init__(self, tape: Tape, items: Any, binds: bool = False, lists: bool = True, is_keyed: bool = False) -> None:
        super().__init__(tape)
        self._lists, self._is_open = False, is_keyed
        self.result: Any = None
        if lists:
            self.begins_list()
        items = gone_through(items)
        if items.__class__ is Array and has_open(items.shape[:1]):
            items = rows_of_open(tape, items)
        elif items.__class__ is DynamicList:
            items = rows_of_list(tape, items)
        self._items = items
        self._binds = binds
        self._rows: list[list[Any]] = []
        self._arrays: list[list[Array]] = []
        self.staged = items.__class__ is StagedRange

    def begins_list(self) -> None:
        """What it gives is for a list."""
        self._lists, self.elements = True, []
        if self.tape.sites.watches:
            self.site, self.dynamic = of_comprehension(self.tape.session)
        self.result = self.dynamic

    def becomes_list(self) -> None:
        """The same of a generator expression: its list is no array."""
        self._is_open = True
        self.begins_list()

    @property
    def first(self) -> Iterable[Any]:
        """What the first `for` goes through."""
        return self.over(self._items)

    def over(self, items: Any) -> Iterable[Any]:
        """What a `for` goes through: the items themselves, or one staged number."""
        if items.__class__ is StagedRange:
            return self._loop(items)
        if self.tape.has_grown and is_grown(items):
            return self._through(items)
        inner = self.tape.session.hooks.comprehensions.of(items)
        if inner is not None:
            inner.into = self
        return rows(self.tape, items)

    def _through(self, items: Any) -> Iterator[Any]:
        """The items of a list that has grown on some paths only, each where it is there."""
        for value, flag in each(list(items)):
            if flag is True:
                yield value
            else:
                yield from self._branch(flag, value)

    def _loop(self, items: StagedRange) -> Iterator[Any]:
        tape, self.elements = self.tape, None
        if self._binds:
            raise tape.fault(
                UnsupportedSyntax,
                "`:=` in a comprehension over a staged range binds a name in a loop that is not a statement",
                help="write the loop as a `for` statement",
            )
        check_begins(tape, items)
        trips, index = trip_count(items), Var(INT, "i")
        if not self.folds and self.dynamic is None and not self.is_opening:
            self._check_list(items, trips)
        slots: dict[AttributeSlot, Any] = {}
        while True:
            frame = tape.open("loop")
            carries = frame.carries = LoopCarries(tape, frame, 0, (), lambda: runs_at_all(tape, trips))
            carries.know(slots)
            self.staged = True
            self._rows.append([])
            yield item_at(items, index)
            made = self._rows.pop()
            if not frame.unknown_slots:
                break
            slots |= frame.unknown_slots
            tape.close(frame)
        check_unchanged(tape, items, frame)
        stacks = [] if self.folds or self.dynamic is not None else self._stacks(frame, made)
        tape.close(frame)
        carries.finish_carries(())
        found = carries.carries
        body = Block(frame.lets, (*(carry.next for carry in found), *stacks))
        loop = Loop(trips, index, tuple(c.phi for c in found), tuple(c.init for c in found), (), body)
        retype.retype_loop(loop, carries.atoms)
        retype.convert_carries(loop, tape.lets, frame.place)
        outs = self._emit(carries, loop, len(found))
        if not self.folds and self.dynamic is None:
            self._finish(made[0], [fresh(tape, out) for out in outs], loop.trips)
            if self.result.__class__ is StructOfArrays:
                share_outside(tape, frame, made[0], self.result.value)

    def _check_list(self, items: StagedRange, trips: Atom) -> None:
        """A list of a staged loop is an array: one index, and a length that is known."""
        if not self._lists:
            raise self.tape.fault(
                UnsupportedSyntax,
                "what is made over a staged range is a list, or is added up by `sum`, `min`, `max`, `any` or `all`",
                help="make a list: `[... for i in rose.range(n)]`, or leave the range to the host: `range(n)`",
            )
        is_flat = items is not self._items or self._rows
        if is_flat and not self.opens():
            raise self.tape.fault(
                UnsupportedSyntax,
                "a comprehension over more than a staged range makes one flat list, which is not staged",
                help="nest two comprehensions for a matrix: `[[... for j in ...] for i in ...]`",
            )
        if (self._is_open or items.through or not isinstance(trips, Lit)) and not self.opens():
            raise self.tape.fault(
                UnsupportedSyntax,
                "the length of this list is known only when the code runs",
                help=f"`sum(...)` of it works; or take it from a shape; or {to_know(self.tape, trips)}",
            )

    def _emit(self, carries: LoopCarries, loop: Loop, count: int) -> list[Var]:
        for carry in carries.carries:
            if carry.final.type is INT and carry.phi.type is REAL:
                self.tape.mixed |= {carry.final, carry.phi}
            carry.final.type = carry.phi.type
        outs = [Var(ArrayType(loop.stacked, atom.type)) for atom in loop.body.results[count:]]
        if loop.body.lets or outs or count:
            self.tape.bind_all(loop, (*(carry.final for carry in carries.carries), *outs), carries.frame.place)
        for write in carries.later:
            write()
        carries.joined()
        return outs

    # --- elements

    def put(self, value: Any) -> Any:
        """The element of an iteration."""
        if self.dynamic is not None:
            self.tape.session.hooks.call(self.dynamic.append, value)
        elif self.is_opening:
            self.tape.sites.opens_at(self.site, value)
            refuse(self.tape, "a comprehension makes, of items that are not alike,")
        elif self._rows and not self.folds:
            self._rows[-1].append(value)
        if self.elements is not None:
            self.elements.append(value)
        if len(self.tape.lets) > self.tape.room:
            self.tape.unroll_limit()
        return value

    def _stacks(self, frame: Frame, made: list[Any]) -> list[Atom]:
        """The atoms that each iteration adds to the arrays that come out."""
        if len(made) != 1:
            raise self.tape.fault(
                UnsupportedSyntax,
                "this comprehension over a staged range makes another number of elements than iterations",
                help="make an array with `np.zeros`, and fill it in a `for` statement",
            )
        element = owned(made[0])
        made[0] = _regular(self.tape, element)
        leaves: list[Any] = []
        _leaves(made[0], leaves)
        inside = leaves if made[0] is element else [element]
        self._arrays = [list(arrays_in(item)) for item in inside]
        return [self._atom(leaf) for leaf in leaves]

    def _atom(self, leaf: Any) -> Atom:
        if leaf.__class__ is Array:
            return variable(leaf)
        kind = type_of(leaf)
        assert kind is not None
        atom = ATOMS[kind](self.tape, leaf)
        assert atom is not None
        return atom

    def _finish(self, element: Any, stacks: list[Array], trips: Atom) -> None:
        """The result: an array, or columns that look like a list of structures."""
        assert isinstance(trips, Lit)
        spread(stacks, self._arrays)
        value = _columns(element, iter(stacks))
        if value.__class__ is Array:
            self.result = value
        else:
            self.result = StructOfArrays(value) if stacks else [element] * max(0, int(trips.value or 0))


class HostIterations(Tests):
    """Lists over a few items of the host: there is nothing to do but what Python does."""

    def put(self, value: Any) -> Any:
        """The element of an iteration."""
        return value


def _regular(tape: Tape, value: Any) -> Any:
    """The element of an iteration: a list of numbers is a row."""
    if isinstance(value, list):
        items: Any = value
        array = stacked(tape, items, "row") if items else None
        if array is not None:
            return array
    return value


def _leaves(value: Any, found: list[Any]) -> None:
    if value.__class__ is Array or type_of(value) is not None:
        found.append(value)
        return
    for item in members(value) or ():
        _leaves(item, found)


def _columns(value: Any, stacks: Iterator[Array]) -> Any:
    if value.__class__ is Array or type_of(value) is not None:
        return next(stacks)
    inside = members(value)
    return value if inside is None else with_parts(value, [_columns(item, stacks) for item in inside])


# --- around the whole


Opened = tuple[Tests, Iterable[Any]]
"""A comprehension, and what its first `for` goes through."""


def _begun(made: Comprehension) -> Iterator[Opened]:
    yield made, made.first


def _passing(whole: Comprehension, test: Callable[[Any], Any], stops: bool) -> Iterator[Any]:
    """The items that pass a test; with `stops` those before the first that does not."""
    passes: Any = True
    for item in whole.first:
        if not stops or passes is True:
            passes = truth(whole.tape, test(item))
        else:
            opened = StagedIf(whole.tape, passes, (UNDEFINED,), ("whether it goes on",), 1)
            opened.to_else((truth(whole.tape, test(item)),))
            passes = opened.join((False,))[0]
        if stops and passes is False:
            return
        for _ in whole.when(passes):
            yield whole.put(item)


class Comprehensions:
    """The comprehensions of one tape."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._last: Comprehension | None = None
        self._on_host = HostIterations(tape)
        self._opened: Comprehension | None = None
        self._generators: dict[int, tuple[Any, Comprehension]] = {}

    def open(self, items: Any, binds: bool) -> Iterator[Opened]:
        """Begin a comprehension over `items`, when it is asked: gives it once."""
        self._opened = Comprehension(self._tape, items, binds, lists=False)
        return _begun(self._opened)

    def open_list(self, items: Any, binds: bool, single: bool, is_keyed: bool) -> Iterable[Opened]:
        """Begin one that makes a list, or from one a dict or a set; `single`: with one `for` and no `if`."""
        if single and self.few(items):
            return ((self._on_host, items),)
        return self._once(Comprehension(self._tape, items, binds, is_keyed=is_keyed))

    def few(self, items: Any) -> bool:
        """Whether a list over these is what Python makes."""
        kind = items.__class__
        if (kind is not tuple and kind is not list) or len(items) >= _MANY:
            return False
        if self._tape.has_grown and is_grown(items):
            return False
        self._tape.session.opened.goes_through(items)
        return True

    def _once(self, made: Comprehension) -> Iterator[Opened]:
        """Asked again, it is complete, and the last one that was."""
        yield made, made.first
        self._last = made

    def listed(self, made: list[Any]) -> Any:
        """The value of a list comprehension that has just run."""
        tape, whole = self._tape, self._last
        if whole is not None:
            self._last = None
            if whole.result is not None:
                return whole.result
            if tape.has_grown and whole.elements is not None:
                made = whole.elements
        frame = tape.frames[-1]
        if whole is None and len(tape.lets) > frame.room:
            tape.unroll_limit()
        return tape.session.hooks.record_allocation(made)

    def generator(self, made: Any) -> Any:
        """A generator expression; it has not run yet."""
        assert self._opened is not None
        self._generators[id(made)] = (made, self._opened)
        self._tape.record_allocation(made)
        return made

    def through(self, items: Any, function: Callable[[Any], Any] | None = None) -> Any:
        """A generator that goes through a list that has grown on some paths only, or what a function makes of it."""
        whole = Comprehension(self._tape, items, lists=False)
        made = (whole.put(item if function is None else function(item)) for item in whole.first)
        self._generators[id(made)] = (made, whole)
        self._tape.record_allocation(made)
        return made

    def filtered(self, items: Any, test: Callable[[Any], Any], stops: bool) -> Any:
        """`filter(test, items)`, or with `stops` `itertools.takewhile(test, items)`, as a generator expression."""
        whole = Comprehension(self._tape, items, lists=False)
        made = _passing(whole, test, stops)
        self._generators[id(made)] = (made, whole)
        self._tape.record_allocation(made)
        return made

    def all_of(self, generator: Any) -> Any:
        """A list of all that a generator expression gives: some may be there on some paths only, or only running tells
        how many there are."""
        whole = self.of(generator)
        if whole is None:
            return [*generator]
        whole.becomes_list()
        made = [*generator]
        if whole.result is not None:
            return whole.result
        return made if whole.elements is None else whole.elements

    def of(self, generator: Any) -> Comprehension | None:
        """The comprehension that a generator of staged code runs."""
        if not isinstance(generator, GeneratorType):
            return None
        known = self._generators.get(id(generator))
        return None if known is None else known[1]
