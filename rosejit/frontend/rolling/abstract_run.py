"""Abstract interpretation of the body of a host loop, iteration by iteration, until a fixpoint is reached.

Decides whether a plain `range` loop may be staged once, as `rose.range` is, with the same bits, effects and errors.
The abstract values are constants, staged numbers and *lifted* ones (staged in the rolled loop, known to the host when
it is unrolled): see `abstract_numbers`.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

from rosejit.frontend.rolling import abstract_arrays, abstract_helpers, abstract_numbers
from rosejit.frontend.rolling.abstract_arrays import STAGED, AbstractArray, AbstractElements
from rosejit.frontend.rolling.abstract_helpers import AbstractClosure
from rosejit.frontend.rolling.abstract_inductions import before_each, inductions
from rosejit.frontend.rolling.abstract_items import each_of
from rosejit.frontend.rolling.abstract_lists import append, note_made
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, CannotRoll, Constant, TooLong, unroll
from rosejit.frontend.rolling.abstract_operands import (
    AbstractOperands,
    MaybeBound,
    binary,
    either,
    items_of,
    operation,
    part,
)
from rosejit.frontend.rolling.abstract_records import (
    AbstractStructure,
    is_changed_by,
    leaves,
    required,
    structured,
    truth,
)
from rosejit.frontend.rolling.abstract_tables import listed
from rosejit.frontend.syntax.loop_plan import Plan, bound_names, parts_of
from rosejit.frontend.values import rose_functions
from rosejit.ir.types import INT
from rosejit.lazy_dataclass import dataclass

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
FEWEST = 64
"""From so many trips on a loop is rolled, where that is safe."""
OUTER, INNER = 31, 6
"""How much work an iteration of a shorter loop is that is rolled, in parts of plans: if it is in no rolled loop, and if
it is in one."""
_ITERATIONS = 8
"""After so many iterations the loop-carried values must be settled."""


_blocks = itertools.count(1)

Snapshot = tuple[dict[str, Any], dict[Any, AbstractElements]]


@dataclass(slots=True, frozen=True)
class TripRange:
    """A range that changes: the variable of the loop, and whether it makes an iteration in any case."""

    variable: AbstractNumber
    certain: bool


@dataclass(slots=True)
class AbstractRun(AbstractOperands):
    """The walk through a plan."""

    written: set[Any] = field(default_factory=set[Any])
    """The arrays that are written."""
    grown: dict[int, tuple[list[Any], Any]] = field(default_factory=dict[int, tuple[list[Any], Any]])
    """The lists that were appended to, by `id`, and by what."""

    # --- loops

    def iterations(
        self, each: list[Any], is_tuple: bool, plan: Plan
    ) -> tuple[list[AbstractNumber], Callable[[Any], Any]]:
        """What the number of an iteration goes through in a loop over ranges and arrays of one length, side by side,
        and what makes of it the item."""
        if not is_tuple and isinstance(each[0], range):
            table = self.tables.index(plan[1], each[0])
            return abstract_numbers.index(each[0], self.tape.rolls_more, table), lambda variable: variable
        lengths = [_length(a) for a in each]

        def item(number: Any) -> Any:
            found = [self._of_range(a, number) if isinstance(a, range) else self.row(a, number) for a in each]
            return AbstractStructure(found, tuple) if is_tuple else found[0]

        table = self.tables.index(plan[1], range(lengths[0]))
        return abstract_numbers.index(range(lengths[0]), self.tape.rolls_more, table), item

    def row(self, source: Any, number: Any) -> Any:
        """`source[number]`."""
        if source.__class__ is AbstractArray:
            return part(self, source, [number])
        if number.__class__ is Constant:
            found = self.classified(source.value[number.value], "*")
            return structured(found, lambda part: self.classified(part, "*"))
        return listed(self, source, number)

    def _of_range(self, items: range, number: Any) -> Any:
        if number.__class__ is Constant:
            return Constant(items[number.value])
        scaled = number if items.step == 1 else binary(self, "*", number, Constant(items.step))
        return scaled if items.start == 0 else binary(self, "+", scaled, Constant(items.start))

    def run_to_fixpoint(
        self,
        pieces: list[AbstractNumber],
        item: Callable[[Any], Any],
        plan: Plan,
        before: dict[str, Any],
        steps: bool = True,
    ) -> dict[str, list[Any]]:
        """Follow iterations of a loop whose number goes through `pieces`, and whose variable is the `item` of it, until
        nothing changes any more; `before` are the names that it binds as they were. Gives its induction variables, if
        the loop `steps` through all of the numbers."""
        target, body, _ = plan
        names, stepped = list(before), dict[str, list[Any]]()
        around = dict(self.contents)
        if pieces and steps:
            stepped = inductions(self, pieces[0], plan, before, lambda number: self.bind(target, item(number)))
        for variable in pieces:
            seen: Any = None
            for _ in range(_ITERATIONS):
                for name in names:
                    self.names[name] = self._settled(self.lookup(name))
                for name, values in stepped.items():
                    self.names[name] = before_each(self, name, variable, values)
                self.bind(target, item(variable))
                self.inner(body)
                state = self._state(names)
                if state == seen or variable.low == variable.high:
                    break
                seen = state
            else:
                unroll("the loop-carried values are not settled after some iterations")
        for place, held in {**self.origins, **around}.items():
            if id(held.table) in self.tables.relied and self.contents[place].table is not held.table:
                unroll("an array is read as the host knows it, and written")
        for name in names:
            self.names[name] = self._settled(self.lookup(name))
        self.names.update({name: Constant(values[-1]) for name, values in stepped.items()})
        return stepped

    def _settled(self, value: Any) -> Any:
        """A value as the next iteration finds it: its table was that of this one."""
        if value.__class__ is AbstractStructure:
            return value.with_items([self._settled(item) for item in value.items])
        if value.__class__ is MaybeBound:
            return MaybeBound(self._settled(value.value), value.is_one_of_two)
        if value.__class__ is AbstractArray and self.contents[value.place].table is not None:
            held = self.contents[value.place]
            self.contents[value.place] = AbstractElements(held.hosts, held.low, held.high)
        return abstract_numbers.settled(value) if value.__class__ is AbstractNumber else value

    def carried(self, name: str) -> Any:
        """What a name that the loop binds is before it: what is in a tuple or a record is carried by itself."""
        value = self.lookup(name)
        held = structured(value, lambda part: self.classified(part, name))
        self.names[name] = _as_carried(held)
        return value if held is value else self.names[name]

    def _carried(self, names: list[str]) -> dict[str, Any]:
        return {name: self.carried(name) for name in names}

    def _state(self, names: Any) -> Any:
        outer = {place: self.contents[place] for place in self.written if place in self.reached}
        return [self._comparable(self.names.get(name)) for name in names], outer

    def _comparable(self, value: Any) -> Any:
        """A value as two iterations compare it: an array by what it is, not by which."""
        if value.__class__ is AbstractStructure:
            return value.made, value.keys, [self._comparable(item) for item in value.items]
        if value.__class__ is MaybeBound:
            return MaybeBound, self._comparable(value.value)
        if value.__class__ is AbstractClosure:
            return value.params, value.statements, value.result
        return (
            (value.shape, value.kind, value.is_fresh, self.contents[value.place])
            if isinstance(value, AbstractArray)
            else value
        )

    # --- binding

    def bind(self, target: Plan, value: Any) -> None:
        """`target = value`."""
        match target:
            case ("name", name):
                self.names[name] = value
            case ("pack", items):
                parts = self._parts(value)
                if len(parts) != len(items):
                    unroll("something is taken apart that has not as many parts")
                for item, part in zip(items, parts, strict=True):
                    self.bind(item, part)
            case (_, base, index):
                self._store(self.value(base), items_of(self.value(index)), value)
            case _:
                unroll("an unknown target")

    def _parts(self, value: Any) -> Any:
        """What is bound when a value is taken apart."""
        value = required(value)
        if value.__class__ is AbstractArray and value.shape:
            return [abstract_arrays.item(self.contents, value, [Constant(k)]) for k in range(value.shape[0])]
        value = structured(value, lambda part: self.classified(part, ""))
        return (
            value.items if value.__class__ is AbstractStructure else unroll("something is taken apart that is no tuple")
        )

    def _store(self, base: Any, index: list[Any], value: Any) -> None:
        """`base[index] = value`."""
        base, value = required(base), required(value)
        if base.__class__ is not AbstractArray or not base.is_whole:
            unroll("a container of the host, or a part of an array, is changed")
        abstract_arrays.element(base, index)
        self._write(base, value, all(i.__class__ is not AbstractNumber or i.is_lifted for i in index))

    def _write(self, base: AbstractArray, value: Any, is_index_known: bool = True) -> None:
        """Staged by a staged value or index; what only the host does stays there."""
        if (
            value.__class__ is not AbstractArray
            and base.kind is not abstract_numbers.number(value).kind
            and base.kind is INT
        ):
            unroll("an array of ints is given another number")
        held = self.contents[base.place]
        on_host = held.is_lifted and is_index_known and abstract_arrays.is_lifted(self.contents, value)
        self.contents[base.place] = AbstractElements(None) if on_host else STAGED
        self.written.add(base.place)

    # --- statements

    def inner(self, statements: Plan) -> None:
        """Follow the statements of a block that is staged in the rolled loop."""
        around, self.opened = self.opened, next(_blocks)
        try:
            self.block(statements)
        finally:
            self.opened = around

    def block(self, statements: Plan) -> None:
        """Follow statements."""
        line = 0
        try:
            for node in statements:
                if node[0] == "line":
                    line = node[1]
                else:
                    self._statement(node)
        except CannotRoll as refusal:
            refusal.line = refusal.line or line
            raise

    def _statement(self, node: Plan) -> None:
        match node:
            case ("bind", target, expression):
                self.bind(target, self.value(expression))
                note_made(self, target, expression)
            case ("change", target, op, expression):
                self._change(target, op, expression)
            case ("append", *_):
                append(self, node)
            case ("if", test, body, orelse):
                self._if(truth(self.value(test)), body, orelse)
            case ("for", items, *plan):
                self._for(items, tuple(plan))
            case ("while", test, body):
                self._while(test, body)
            case _:
                unroll("an unknown statement")

    def _change(self, target: Plan, op: str, expression: Plan) -> None:
        """`target op= expression`."""
        was = self.widened(target)
        if is_changed_by(op, was):
            unroll("an operator of the user's changes its operand")
        made = operation(self, op, target, expression)
        if was.__class__ is not AbstractArray or target[0] != "name":
            self.bind(target, made)
            return
        if made.shape != was.shape or made.kind is not was.kind or not was.is_whole:
            unroll("an array changes its shape in place")
        self._write(was, made)

    def _if(self, test: Any, body: Plan, orelse: Plan) -> None:
        if test.__class__ is Constant:
            self.block(body if test.value else orelse)
            return
        before = self._snapshot()
        self.inner(body)
        then = self._snapshot()
        self.names, self.contents = dict(before[0]), {**self.origins, **before[1]}
        self.inner(orelse)
        decided = abstract_numbers.decision(test)
        if decided is None:
            self._join(then, not test.is_lifted)
        else:
            self._take(before[1], *((then, self._snapshot()) if decided else (self._snapshot(), then)))

    def _take(self, before: dict[Any, AbstractElements], taken: Snapshot, other: Snapshot) -> None:
        """What is after an `if` of which the host knows the side, in this iteration, where the loop is unrolled."""
        self.names, self.contents = dict(taken[0]), {**other[1], **self.origins, **taken[1]}
        for name in taken[0].keys() | other[0].keys():
            was = None if name in taken[0] and name in other[0] else self.classified(self.reader(name), name)
            mine, its = taken[0].get(name, was), other[0].get(name, was)
            if isinstance(mine, AbstractArray) and isinstance(its, AbstractArray) and mine.place is not its.place:
                self.names[name] = self._third(mine, its, before, taken)
                continue
            same = either(mine, its, False) is mine if AbstractArray in (mine.__class__, its.__class__) else mine == its
            if not same and AbstractStructure in (mine.__class__, its.__class__) and None not in (mine, its):
                joined = either(mine, its, False)  # as the rolled loop joins them
                mine = joined if joined.__class__ is MaybeBound else mine
            self.names[name] = abstract_numbers.number(mine) if mine.__class__ is Constant and not same else mine

    def _third(self, mine: AbstractArray, its: AbstractArray, before: Any, taken: Snapshot) -> Any:
        """The array after an `if` that is `mine` where the loop is unrolled, and one of two where it is rolled: nothing
        may read it, unless it was made in the `if`, under one name."""
        names = [leaf for value in taken[0].values() for leaf in leaves(value) if leaf.__class__ is AbstractArray]
        is_own = mine.place not in before and mine.place not in self.origins
        is_shared = [leaf.place for leaf in names].count(mine.place) > 1
        third = either(mine, its, is_own and not is_shared and not taken[1][mine.place].is_lifted)
        if third.__class__ is MaybeBound:
            self.entered(third.value)
            self.same.join(third.value, mine, its)
            return third
        self.entered(third)
        self.same.join(third, mine, its)
        return third

    def _snapshot(self) -> Snapshot:
        return dict(self.names), dict(self.contents)

    def _join(self, other: Snapshot, by_running: bool) -> None:
        """What is after two sides, this and the other."""
        names, contents = other
        for name in names.keys() | self.names.keys():
            before = None if name in names and name in self.names else self.classified(self.reader(name), name)
            mine, its = self.names.get(name, before), names.get(name, before)
            self.names[name] = either(mine, its, by_running)
            self.same.join(self.names[name], mine, its)
        for place in contents.keys() | self.contents.keys():
            before = self.origins.get(place, STAGED)
            mine, its = self.contents.get(place, before), contents.get(place, before)
            self.contents[place] = mine if mine == its else STAGED if by_running else AbstractElements(None)
        for value in self.names.values():
            self.entered(value.value if value.__class__ is MaybeBound else value)

    # --- loops inside

    def _range(self, node: Plan) -> Any:
        """The range of an inner loop: Python's, or what is known of one that changes."""
        if node[0] != "call" or node[3]:
            unroll("a loop over something else than a range")
        function, args = self.value(node[1]), [self.value(arg) for arg in node[2]]
        if function.__class__ is not Constant or function.value not in (range, rose_functions.range) or not args:
            unroll("a loop over something else than a range")
        if function.value is range and all(arg.__class__ is Constant for arg in args):
            return range(*(arg.value for arg in args))
        numbers = [abstract_numbers.number(arg) for arg in args]
        if any(n.kind is not INT for n in numbers):
            unroll("a range of no ints")
        if function.value is rose_functions.range or any(not n.is_lifted for n in numbers):
            return TripRange(abstract_numbers.staged(INT), False)
        if len(numbers) == 3:
            unroll("a range with a step that changes")
        start, stop = numbers if len(numbers) == 2 else (abstract_numbers.lifted(0), numbers[0])
        table = self.tables.longest(node, *([Constant(0), args[0]] if len(args) == 1 else args))
        variable = AbstractNumber(INT, None, start.low, max(start.low, stop.high - 1), table=table)
        return TripRange(variable, start.high < stop.low)

    def _for(self, node: Plan, plan: Plan) -> None:
        names = bound_names((("for", (), *plan),))
        held = each_of(self, node)
        if held is not None:
            if not self._once(node, plan, len(held)):
                self._each(held, plan)
            return
        each, is_tuple = self._sources(node)
        if each[0].__class__ is TripRange:
            self._staged_loop(each[0], plan, names)
            return
        numbers = each[0] if isinstance(each[0], range) else range(_length(each[0]))
        pieces, item = self.iterations(each, is_tuple, plan)
        if is_long(numbers, plan, self._constant, INNER):
            self.run_to_fixpoint(pieces, item, plan, self._carried(names))
        else:
            places = range(len(numbers)) if is_tuple or numbers is not each[0] else numbers
            self._each((item(Constant(k)) for k in places), plan)
        if any(a.place in self.written for a in each if isinstance(a, AbstractArray)):
            unroll("an array that a loop goes through is written")

    def _once(self, node: Plan, plan: Plan, length: int) -> bool:
        """Whether a loop over lists of the host is rolled itself; then it is followed as one."""
        if not is_long(range(length), plan, self._constant, INNER):
            return False
        state = self._snapshot(), set(self.written), dict(self.grown)
        try:
            each, is_tuple = self._sources(node)
            pieces, item = self.iterations(each, is_tuple, plan)
            self.run_to_fixpoint(pieces, item, plan, self._carried(bound_names((("for", (), *plan),))))
        except TooLong:
            raise
        except CannotRoll:
            (self.names, self.contents), self.written, self.grown = state
            return False
        return True

    def _each(self, items: Iterable[Any], plan: Plan) -> None:
        """Iterations, one by one."""
        target, body, leaving = plan
        for item in items:
            self.bind(target, item)
            self.block(body)
            if any(self.names.get(flag) == Constant(True) for flag in leaving):
                break

    def _sources(self, node: Plan) -> tuple[list[Any], bool]:
        """What an inner loop goes through side by side, and whether its items are tuples."""
        function: Any = self.value(node[1]) if node[0] == "call" and node[1][0] == "name" else None
        called = function.value if function.__class__ is Constant else None
        if called is range or (node[0] == "call" and _is_rose_range(self, node[1])):
            return [self._range(node)], False
        if called is reversed and len(node[2]) == 1 and node[2][0][0] == "call" and not node[3]:
            forwards = self._range(node[2][0])
            return [forwards[::-1] if isinstance(forwards, range) else unroll("a range that changes, backwards")], False
        is_tuple = called is enumerate or called is zip
        if is_tuple and (node[3] or not node[2] or (called is enumerate and len(node[2]) > 1)):
            unroll("a loop over something else than a range or arrays")
        each = [self.value(part) for part in (node[2] if is_tuple else (node,))]
        found = [value.value if value.__class__ is Constant else value for value in each]
        found = [Constant(a) if type(a) in (list, tuple) and id(a) not in self.growing else a for a in found]
        if not all(isinstance(a, range) or _is_source(a) for a in found):
            unroll("a loop over something else than a range, arrays or lists")
        lengths = {_length(a) for a in found}
        if len(lengths) > 1 or any(isinstance(a, range) and a.step == -1 for a in found):
            unroll("a loop over things of several lengths, or backwards")
        return ([range(lengths.pop()), *found] if called is enumerate else found), is_tuple

    def _constant(self, name: str) -> Any:
        """What the host knows a name to be; an array stands for its shape."""
        try:
            value: Any = self.names[name] if name in self.names else self.reader(name)
        except CannotRoll:
            return None
        return value.value if value.__class__ is Constant else value

    def _staged_loop(self, trips: "TripRange", plan: Plan, names: list[str]) -> None:
        """A loop over bounds that change, or that only running tells."""
        by_running = not trips.variable.is_lifted
        for name in names:
            self.lookup(name)
        before = self._snapshot()
        if by_running:
            self._placeholders(names)
        self.run_to_fixpoint([trips.variable], lambda variable: variable, plan, self._carried(names), steps=False)
        if not trips.certain:
            self._join(before, by_running)

    def _placeholders(self, names: list[str]) -> None:
        """In a loop that is staged in any case the numbers that it binds are staged."""
        for name in names:
            value = self.lookup(name)
            if value.__class__ is AbstractNumber or abstract_numbers.is_known_number(value):
                self.names[name] = abstract_numbers.staged(abstract_numbers.number(value).kind)

    def _while(self, test: Plan, body: Plan) -> None:
        names = bound_names(body)
        decided = truth(self.value(test))
        while decided.__class__ is Constant and decided.value:
            self.block(body)
            decided = truth(self.value(test))
        if decided.__class__ is Constant:
            return
        for name in names:
            self.lookup(name)
        before = self._snapshot()
        self._placeholders(names)
        for _ in range(2):
            decided = truth(self.value(test))
            if decided.__class__ is Constant or decided.is_lifted:
                unroll("a `while` that the host decides")
            self.inner(body)
        self._join(before, True)
        for name in names:
            was, now = before[0][name], self.names[name]
            both = was.__class__ in (AbstractNumber, Constant) and now.__class__ is AbstractNumber
            if both and abstract_numbers.number(was).kind is not now.kind:
                unroll(f"`{name}` changes its kind in a `while`")


def _length(source: Any) -> int:
    held = source.value if source.__class__ is Constant else source
    return held.shape[0] if held.__class__ is AbstractArray else len(held)


def _is_source(a: Any) -> bool:
    if a.__class__ is Constant:
        return type(a.value) in (list, tuple)
    return a.__class__ is AbstractArray and a.shape != ()


def _as_carried(value: Any) -> Any:
    if value.__class__ is AbstractStructure:
        return value.with_items([_as_carried(item) for item in value.items])
    return abstract_numbers.number(value) if abstract_numbers.is_known_number(value) else value


def _is_rose_range(at: AbstractOperands, function: Plan) -> bool:
    """Whether an expression is `rose.range`."""
    try:
        found = at.value(function)
    except CannotRoll:  # a method of an array
        return False
    return found.__class__ is Constant and found.value is rose_functions.range


_SHORTEST = 8
"""From so many trips on what helpers do counts for the work of a loop."""


def is_long(items: range, plan: Plan, known: Callable[[str], Any], work: int) -> bool:
    """Whether a loop is to be rolled, if that is safe: one of fewer trips if it is as much as `FEWEST` of so much work,
    loops inside counted as often as they are made, and helpers by what they do. `known` tells what names are."""
    called = abstract_helpers.parts_of if len(items) >= _SHORTEST else lambda _: 0
    return len(items) > 1 and (len(items) >= FEWEST or parts_of(plan, items, known, called) >= FEWEST * work)
