"""The object that rewritten code calls: one attribute for each hook of the templates."""

# Values of users are of any type: what they are is asked while staging.

import functools
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays.access import check_writable
from rosejit.frontend.arrays.array import Array, content
from rosejit.frontend.arrays.complex_array import ComplexArray
from rosejit.frontend.arrays.host_lists import rolled_item
from rosejit.frontend.arrays.host_tables import UNKNOWN
from rosejit.frontend.arrays.narrow_array import Narrow, NarrowArray
from rosejit.frontend.control import chosen_operators
from rosejit.frontend.control.attribute_slots import Attributes
from rosejit.frontend.control.chosen import Chosen, as_number, compared
from rosejit.frontend.control.comprehensions import Comprehensions
from rosejit.frontend.control.computed_once import computing
from rosejit.frontend.control.exception_handlers import TryStatements
from rosejit.frontend.control.grown_lists import is_grown
from rosejit.frontend.control.if_for import branched, choices, iterate, rows
from rosejit.frontend.control.join import arrive, described
from rosejit.frontend.control.match_patterns import Patterns
from rosejit.frontend.control.optional import Optional, required
from rosejit.frontend.control.short_circuit import Circuits, any_flag_set, negate, no_flag_set
from rosejit.frontend.control.special_methods import Methods, own
from rosejit.frontend.control.staged_counts import why_counted
from rosejit.frontend.control.staged_while import WhileLoop
from rosejit.frontend.control.truth import truth
from rosejit.frontend.control.undefined import (
    MaybeBound,
    check_known,
    read_bound,
    read_bound_attribute,
    require_single_value,
)
from rosejit.frontend.lists import list_making
from rosejit.frontend.numpy import building
from rosejit.frontend.python import grown_items, list_calls, lookups
from rosejit.frontend.python.assert_raise import Messages, is_awaited
from rosejit.frontend.python.attributes import special
from rosejit.frontend.python.ordering import comparison, is_member
from rosejit.frontend.rolling.decide import roll
from rosejit.frontend.scalar_ops.operators import item_of
from rosejit.frontend.scalar_ops.staged_text import percent, text
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays
from rosejit.frontend.syntax.ast_build import HOOKS, RUNTIME
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.argument_identity import ask_equal, ask_identity
from rosejit.frontend.values.complexes import Complex
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.open_lengths import has_open
from rosejit.frontend.values.pytree import FieldProxy, is_staged_deep
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int
from rosejit.frontend.values.tape import UNDEFINED, NonlocalCell, Tape, is_local, refuse_outer_iterator, stored
from rosejit.lazy_dataclass import dataclass


class GeneratorGuard:
    """A generator of the host, which may be suspended only where it was entered."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._frame = tape.frames[-1]
        self._recorded = 0

    def out(self, value: Any) -> Any:
        """Before a `yield`."""
        faults = self._tape.faults
        self._recorded = faults.count if faults is not None else 0
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
        faults = self._tape.faults
        if faults is not None and faults.count != self._recorded:
            faults.refuse("a generator goes on")
        return sent


_NUMBERS = NUMBERS | {Complex}
_STILL = NUMBERS | {Array, ComplexArray, NarrowArray, Narrow, Complex, float, int, bool, str, tuple}
"""Types whose augmented assignment is an operation, or is known to be in place."""


_JOINERS = {"RClass": building.along_rows, "CClass": building.along_columns}
"""`np.r_` and `np.c_`, by their classes."""
_SEQUENCES = frozenset({list, tuple})
_PLACES = frozenset({Int, Bool})
_HOLDING = frozenset({Optional, Chosen, list})
"""Types of indices that numbers may be in."""
_UNCHANGING = frozenset({str, bytes, range})
"""Sequences whose items are known by themselves."""
_CONTAINERS = frozenset({list, dict, set, deque, OrderedDict, defaultdict, Counter, bytearray})
"""Types of which operators make new objects."""


def _is_of_caller(tape: Tape, made: Any) -> bool:
    """Whether the function that is being staged has made a function, outside of its staged blocks."""
    if made.__class__ is not FunctionType or tape.frames[-1].kind != "function":
        return False
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and made.__code__ not in frame.f_code.co_consts:
        frame = frame.f_back if not is_users_code(frame.f_code) else None
    return frame is not None


class _Grown:
    """An object of which one item or attribute is read, changed in place if it can be, and written back."""

    __slots__ = ("grown", "method", "owner")

    def __init__(self, owner: Any, grown: Callable[[Any, str], Any], method: str) -> None:
        for name, value in (("owner", owner), ("grown", grown), ("method", method)):
            object.__setattr__(self, name, value)

    def __getattribute__(self, name: str) -> Any:
        return _grown(self, getattr(_held(self, "owner"), name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_held(self, "owner"), name, value)

    def __getitem__(self, index: Any) -> Any:
        return _grown(self, _held(self, "owner")[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        _held(self, "owner")[index] = value


_held = object.__getattribute__


def _grown(grown: _Grown, value: Any) -> Any:
    return _held(grown, "grown")(value, _held(grown, "method"))


class Containers:
    """Reads and writes of containers of the host, and of arrays."""

    def __init__(self, tape: Tape, call: Callable[..., Any], captured: Callable[[Any], Any], methods: Methods) -> None:
        self.tape = tape
        self.call = call
        self.captured = captured
        self.methods = methods
        self.known = methods.known
        """Classes that the methods have met."""
        self._frames, self._changed, self._frozen = tape.frames, tape.undo.known, tape.frozen_containers
        self.attributes = Attributes(tape, self.written)
        self.attributes.is_staged_key = lookups.is_staged_key
        self.attributes.looked_up = self.getitem
        self.attributes.chosen = functools.partial(lookups.written_through, tape)
        self.attributes.is_at = functools.partial(lookups.is_at, tape)
        self.attributes.appended = self.append
        self.attributes.keys_for = functools.partial(lookups.written_at, tape)
        methods.keep, methods.hashed = self.attributes.keep, self._hashed
        methods.inherited = tape.inherited
        methods.check = lambda attributes: check_known(tape, attributes)

    def _hashed(self, function: Any, value: Any) -> Any:
        """The hash of an object that is equal to itself only: as a key, or in a set, it is compared with others."""
        ask_identity(self.tape, value, "a key or a member of a set")
        return function(value)

    def read_outer(self, value: Any) -> Any:
        """A value from outside: arrays become staged ones, and the methods of objects are staged from now on."""
        if value.__class__ in self.known:
            return value
        if value.__class__ is MaybeBound and value.place is not None:
            return read_bound_attribute(self.tape, value, *value.place)
        if value.__class__ is FieldProxy:
            return value.read()
        if is_array(value):
            if value.dtype.kind != "c":
                return self.captured(value)
            what = "a complex array from outside is not read by staged code"
            raise self.tape.type_fault(what, "make it an argument of the function: who changed it would not be heard")
        return self.methods.instrument(value)

    def getitem(self, container: Any, index: Any) -> Any:
        """`container[index]`."""
        if self.tape.has_grown and is_grown(container):
            return self.fresh(grown_items.item(self.tape, container, required(index), self.read_outer))
        if type(index) is int and type(container) in _SEQUENCES:  # most of them
            value = container[index]
            return value if type(value) in self.known else self.read_outer(value)
        if type(index) in _PLACES and type(container) in _SEQUENCES:
            return self._of_sequence(container, index)
        if type(index) is Int and type(container) in _UNCHANGING:
            return self._of_sequence(tuple(container), index)
        if container.__class__ is Chosen or lookups.is_looked_up(container, index):
            return self._looked_up(container, index)
        if container.__class__ is Array and self.tape.faults is not None and is_awaited(self.tape, IndexError):
            return lookups.element(self.tape, container, index)
        plain = as_number(required(index)) if index.__class__ in _HOLDING else index
        if plain is not index:
            return self.getitem(container, plain)
        value = self._item(container, index)
        if index.__class__ is slice and value.__class__ is list:
            return self.record_allocation(value)
        return value if type(value) in self.known else self.read_outer(value)

    def _of_sequence(self, items: Any, index: Any) -> Any:
        if type(index) is Bool:
            index = lookups.number_of(self.tape, index)
        if self.tape.rolled is not None:
            found = rolled_item(self.tape, items, index, self.getitem)
            if found is not UNKNOWN:
                return found
        found = lookups.of_sequence_at(self.tape, items, index, self.read_outer)
        return items[index] if found is None else found

    def _looked_up(self, container: Any, key: Any) -> Any:
        if container.__class__ is Chosen:
            return branched(container, lambda option: self.getitem(option, key))
        return lookups.item(self.tape, container, key, self.read_outer)

    def _item(self, container: Any, index: Any) -> Any:
        if container.__class__ in NUMBERS:
            return item_of(container, index)
        if container.__class__ is defaultdict:
            self._fill(container, index)
        if container.__class__.__name__ in _JOINERS and is_staged_deep(index):
            return _JOINERS[container.__class__.__name__](self.tape, index)
        if is_array(container):
            self.tape.session.opened.goes_through(container)
        return container[index]

    def _fill(self, container: defaultdict[Any, Any], index: Any) -> None:
        """What a dict does itself where it is asked for what it does not have."""
        if container.default_factory is not None and index not in container:
            self.written(container)[index] = self.call(container.default_factory)

    def fresh(self, value: Any) -> Any:
        """What an operator has made."""
        return self.record_allocation(value) if value.__class__ in _CONTAINERS else value

    def append(self, container: Any, value: Any) -> Any:
        """`container.append(value)`, by far the most frequent method of the host's."""
        if type(container) is not list:
            is_one = container.__class__ is Chosen
            if is_one and all(option.__class__ is list for option in container.__rose_options__):
                return branched(container, lambda option: self.append(option, value))
            return self.call(container.__rose_attribute__("append") if is_one else container.append, value)
        if self.tape.rolled is not None and id(container) in self.tape.rolled.growing:
            return self.tape.rolled.growing[id(container)].put(self.tape, value)
        key, frames = id(container), self._frames
        if key not in self._changed or key in self._frozen or not frames or frames[-1].staged:
            if self.attributes.append(container, value):
                return None
            self._change(container, value)
        return container.append(value)

    def written(self, container: Any, *items: Any) -> Any:
        """A container that is about to be changed: in staged code it must have been made in the same block."""
        key, frames = id(container), self._frames  # most were seen before, and nothing has come between
        if key not in self._changed or key in self._frozen or not frames or frames[-1].staged:
            self._change(container, *items)
        return container

    def _change(self, container: Any, *items: Any) -> Any:
        tape = self.tape
        if is_array(container):
            check_writable(self.read_outer(container))
        if (
            require_single_value(container).__class__ in (Array, ComplexArray, NarrowArray)
            or container.__class__ is StructOfArrays
        ):
            return container
        frozen = tape.frozen_containers.get(id(container))
        if frozen is not None and frozen[0] is container and not tape.identities.may_change(container, True):
            made = type(container).__name__ if type(container) in _CONTAINERS else "copy.copy"
            raise tape.fault(
                UnsupportedSyntax,
                f"{described(container)} cannot be changed: {tape.identities.why(container)}",
                help=f"change a copy, made first (`a = {made}(a)`), or use an array (`np.zeros(n)`)",
            )
        if tape.is_staged and not is_local(tape, container) and not _is_of_caller(tape, container):
            tape.sites.opens(tape, container, *items)
            raise tape.fault(
                UnsupportedSyntax,
                f"{described(container)} from outside of a staged branch or loop is changed in it",
                help="bind a new value to a name, or use an array (`np.zeros(n)`), which can be changed anywhere; a "
                "loop whose count staging knows (an `int` as `rose.Static`, a length, elements of a list, `range(100)` "
                "with a `break`) Python runs",
                facts=tape.sites.facts
                + next((why_counted(f.counts) for f in reversed(tape.frames) if f.counts is not None), ()),
            )
        if id(container) not in tape.undo.places:
            tape.undo.may_change(container, tape.here())
        tape.undo.note(container)
        return container

    def grows(self, value: Any, method: str) -> None:
        """A name that an augmented assignment changes: `items += [x]` changes the list itself."""
        kind = value.__class__
        if kind not in _STILL and hasattr(kind, method) and own(value, method) is None:
            self.written(value)

    def grown(self, owner: Any, method: str) -> Any:
        """What takes the place of `owner` in `owner[i] += value` and `owner.name += value`, which may change a list in
        it as well."""
        return owner if owner.__class__ in _STILL else _Grown(owner, self._read_to_grow, method)

    def _read_to_grow(self, value: Any, method: str) -> Any:
        found = self.read_outer(value)  # an array from outside is not NumPy's to change
        self.grows(found, method)
        return found

    def record_allocation(self, container: Any) -> Any:
        """A container that was just made."""
        if self._frames:
            if self.tape.sites.watches:
                container = list_making.in_place_of(self.tape.session, container)
            self.tape.record_allocation(container)
        elif self.tape.faults is not None:
            self.tape.faults.allocated(container)
        return container

    def keyed(self, is_set: bool, *items: Any) -> Any:
        """A dict or a set that a display makes, of which keys may be staged."""
        keys = items if is_set else [key for key, _ in items]
        if not any(map(lookups.is_staged_key, keys)) or any([key.__class__ is Chosen for key in keys]):
            return self.record_allocation({*items} if is_set else dict(items))
        made = self.record_allocation(set[Any]() if is_set else {})
        for item in items:
            if is_set:
                self.call(made.add, item)
            else:
                self.attributes.elements(made)[item[0]] = item[1]
        return made

    def member(self, item: Any, container: Any, negated: bool) -> Any:
        """`item in container`: compared one by one where something staged is involved."""
        if item.__class__ is Chosen:
            found = compared(item, lambda option: self.member(option, container, False))
            return negate(self.tape, found) if negated else found
        if container.__class__ is Chosen:
            found = chosen_operators.member(container, item, lambda option: self.member(item, option, False))
            return negate(self.tape, found) if negated else found
        ask = own(container, "__contains__")
        if ask is not None:
            decided = truth(self.tape, ask(item))
            return negate(self.tape, decided) if negated else decided
        if type(item).__eq__ is object.__eq__ and isinstance(container, (list, tuple, set, dict, frozenset)):
            for each in container:
                ask_equal(self.tape, item, each)
        if hasattr(container, "__next__"):  # it is gone through as far as the item
            refuse_outer_iterator(self.tape, container)
        found = is_member(self.tape, item, container)
        if found is not None:
            return negate(self.tape, found) if negated else found
        return (item not in container) if negated else (item in container)


def exchange(containers: Containers, items: Any, i: Any, j: Any) -> bool:
    """Whether `items[i], items[j] = items[j], items[i]` is left to do."""
    if type(items) is not list or (i.__class__ is not Int and j.__class__ is not Int):
        return True
    made = lookups.exchanged(containers.tape, items, i, j)
    for k, each in enumerate(made):
        containers.attributes.elements(items)[k] = each
    return not made


def extended(containers: Containers, items: list[Any], added: Any) -> bool:
    """`items.extend(added)` in a staged branch, which appends one by one; whether it was done."""
    is_known = added.__class__ in _SEQUENCES or (added.__class__ is Array and not has_open(added.shape[:1]))
    if (containers.tape.is_staged or containers.tape.identities.is_shared(items)) and is_known:
        for item in [*added] if containers.tape.has_grown and is_grown(added) else [*rows(containers.tape, added)]:
            containers.append(items, item)
        return True
    return False


def addend(containers: Containers, value: Any, added: Any) -> Any:
    """What is added in `value += added`: nothing more, where that has been appended to a list one by one."""
    if value.__class__ is list and extended(containers, value, added):
        return ()
    if value.__class__ not in _STILL:
        containers.grows(value, "__iadd__")
    return added


@dataclass(slots=True)
class Names:
    """Names that may be unbound, cells, and what a function returns."""

    tape: Tape

    def bound(self, value: Any, name: str) -> Any:
        """The value of a name that may be unbound."""
        return read_bound(self.tape, value, name)

    def cell(self, value: Any, name: str) -> NonlocalCell:
        """The cell of a variable that inner functions rebind."""
        cell = NonlocalCell(self.tape, name, read_bound)
        self.tape.frames[-1].contents[cell] = stored(value)
        return cell

    def rebound(self, cell: NonlocalCell, value: Any) -> Any:
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
        if frame.f_code is session.opened.code:  # most are helpers
            session.returning(value, frame)
        return value

    def _arrived(self, value: Any) -> Any:
        if value.__class__ is not Chosen and require_single_value(value).__class__ is Array:
            content(self.tape, value.box)
        if value.__class__ is MaybeBound:  # all paths return, also those that an error takes
            value = value.value if self.tape.waited else read_bound(self.tape, value, "the result")
        arrive(value)
        return None if value is UNDEFINED else value


class Hooks:
    """What the name `rose@` stands for in rewritten code."""

    def __init__(
        self,
        tape: Tape,
        call: Callable[..., Any],
        captured: Callable[[Any], Any],
        methods: Methods,
        entered: Callable[[Any], Any],
    ) -> None:
        circuits, containers = Circuits(tape), Containers(tape, call, captured, methods)
        self.tape, self.containers = tape, containers
        self.call, self.kind = call, lambda value: call(type, value)
        self.decorator = lambda function: functools.partial(call, function)
        self.entered = entered
        self._control(tape, circuits, methods)
        self._expressions(tape, circuits)
        self._names(tape, containers, Patterns(tape, call, containers.getitem))
        self.module = ModuleType("rose@")
        """The same for rewritten code: Python finds what is in a module in half the time."""
        vars(self.module).update(vars(self), UNDEFINED=UNDEFINED, slice=slice)
        own = {name: CellType(getattr(self, hook)) for hook, name in HOOKS.items()}
        vars(self.module).update(__cells__={RUNTIME: CellType(self.module), **own})

    def _control(self, tape: Tape, circuits: Circuits, methods: Methods) -> None:
        attempts = TryStatements(tape, circuits)
        self.If = choices(tape)
        self.While = lambda names, exposed, leaving=(): WhileLoop(tape, names, exposed, leaving)
        self.For = lambda items, names, exposed, leaving=(): iterate(
            tape, methods.instrument(items), names, exposed, leaving
        )
        self.Roll = lambda items, names, exposed, plan, leaving=(): roll(
            tape, methods.instrument(items), names, exposed, plan, leaving, frame_at(1)
        )
        self.no_flag_set, self.any_flag_set = lambda *flags: no_flag_set(tape, *flags), any_flag_set
        self.trying, self.tried, self.unwound = attempts.trying, attempts.tried, attempts.unwound
        self.faulted, self.handles, self.handled = attempts.faulted, attempts.handles, attempts.handled
        self.escaped = attempts.escaped
        self.raised_error, self.reraised = attempts.raised_error, attempts.reraised
        self.suspension = lambda: GeneratorGuard(tape)
        self.rows = lambda items: rows(tape, items)
        self.starred = lambda items: items if tape.has_grown and is_grown(items) else rows(tape, items)

    def _expressions(self, tape: Tape, circuits: Circuits) -> None:
        made, messages = Comprehensions(tape), Messages(tape)
        self.comprehensions = made
        for name in ("eq", "ne", "lt", "le", "gt", "ge"):
            setattr(self, name, comparison(tape, name))
        self.negate = lambda value: negate(tape, value)
        self.left, self.right = circuits.left, circuits.right
        self.skipped, self.joined, self.chosen = circuits.skipped, circuits.joined, circuits.chosen
        self.save, self.saved, self.skipped_chain = circuits.save, circuits.saved, circuits.skipped_chain
        self.choose, self.first, self.second = circuits.choose, circuits.first, circuits.second
        self.repeated = lambda items, times: list_making.repeated(tape.session, items, times)
        self.computed = computing(tape, circuits, self.containers.attributes)
        self.comprehension, self.listing = made.open, made.open_list
        self.listed, self.few, self.generator = made.listed, made.few, made.generator
        self.holds, self.unless = messages.holds, messages.unless
        self.text = lambda *items: chosen_operators.shown(items, lambda *known: text(tape, *known))
        self.percent = lambda pattern, values: chosen_operators.filled(
            pattern, values, lambda pattern, values: percent(tape, pattern, values)
        )
        self.raises, self.raised, self.raised_here = messages.raises, messages.raised, messages.raised_here

    def _names(self, tape: Tape, containers: Containers, patterns: Patterns) -> None:
        names, attributes = Names(tape), containers.attributes
        self.read_outer, self.getitem, self.written = containers.read_outer, containers.getitem, containers.written
        self.record_allocation, self.member = containers.record_allocation, containers.member
        self.fresh, self.append, self.keyed = containers.fresh, containers.append, containers.keyed
        self.keyed_comprehension = lambda is_set, made: list_calls.keyed(tape.session, is_set, made)
        self.grows, self.grown = containers.grows, containers.grown
        self.exchange = functools.partial(exchange, containers)
        self.addend, self.extended = functools.partial(addend, containers), functools.partial(extended, containers)
        self.owner, self.elements, self.assign = attributes.of, attributes.elements, attributes.assign
        self.assign_element, self.replace = attributes.assign_element, attributes.replace
        self.grows_in_branch = attributes.grows_in_branch
        self.bound, self.cell, self.result, self.returned = names.bound, names.cell, names.result, names.returned
        self.rebound = names.rebound
        self.sequence, self.mapping, self.instance = patterns.sequence, patterns.mapping, patterns.instance
        self.decided, self.same, self.special = patterns.decided, patterns.same, special
