"""Follows the statements of a loop that may be rolled, turn by turn, until what goes round is settled."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from dataclasses import dataclass, field
from typing import Any

from rosejit.frontend import functions, grids, lifted
from rosejit.frontend.grids import STAGED, Content, Grid
from rosejit.frontend.lifted import Known, Number, unroll
from rosejit.frontend.operands import Operands, Pack, either, items_of, operation
from rosejit.frontend.plans import Plan
from rosejit.ir.types import INT

FEWEST = 64
"""From so many trips on a loop is rolled, where that is safe."""
_TURNS = 8
"""After so many turns what goes round must be settled."""


Snapshot = tuple[dict[str, Any], dict[Any, Content]]


@dataclass(slots=True, frozen=True)
class Trips:
    """A range that changes: the variable of the loop, and whether it makes a turn in any case."""

    variable: Number
    certain: bool


@dataclass(slots=True)
class Turns(Operands):
    """The walk through a plan."""

    written: set[Any] = field(default_factory=set[Any])
    """The arrays that are written."""

    # --- loops

    def settle(self, pieces: list[Number], plan: Plan, names: Any) -> None:
        """Follow turns of a loop whose variable goes through `pieces`, until nothing changes any more."""
        target, body, _ = plan
        for name in names:
            value = self.found(name)
            if lifted.is_known_number(value):
                self.names[name] = lifted.number(value)
        for variable in pieces:
            seen: Any = None
            for _ in range(_TURNS):
                self.bind(target, variable)
                self.block(body)
                state = self._state(names)
                if state == seen or variable.low == variable.high:
                    break
                seen = state
            else:
                unroll("what goes round is not settled after some turns")

    def _state(self, names: Any) -> Any:
        outer = {place: self.contents[place] for place in self.written if place in self.reached}
        return [self._shown(self.names.get(name)) for name in names], outer

    def _shown(self, value: Any) -> Any:
        """A value as two turns compare it: an array by what it is, not by which."""
        return (
            (value.shape, value.kind, value.is_fresh, self.contents[value.place]) if isinstance(value, Grid) else value
        )

    # --- binding

    def bind(self, target: Plan, value: Any) -> None:
        """`target = value`."""
        match target:
            case ("name", name):
                self.names[name] = unroll("a tuple is bound to a name") if value.__class__ is Pack else value
            case ("pack", items):
                if value.__class__ is not Pack or len(value.items) != len(items):
                    unroll("something is taken apart that is no tuple")
                for item, part in zip(items, value.items, strict=True):
                    self.bind(item, part)
            case (_, base, index):
                self._store(self.value(base), items_of(self.value(index)), value)
            case _:
                unroll("an unknown target")

    def _store(self, base: Any, index: list[Any], value: Any) -> None:
        """`base[index] = value`."""
        if base.__class__ is not Grid or not base.is_whole:
            unroll("a container of the host, or a part of an array, is changed")
        grids.element(base, index)
        self._write(base, value, all(i.__class__ is not Number or i.is_lifted for i in index))

    def _write(self, base: Grid, value: Any, is_index_known: bool = True) -> None:
        """Staged by a staged value or index; what only the host does stays there."""
        if value.__class__ is not Grid and base.kind is not lifted.number(value).kind and base.kind is INT:
            unroll("an array of ints is given another number")
        held = self.contents[base.place]
        on_host = held.is_lifted and is_index_known and grids.is_lifted(self.contents, value)
        self.contents[base.place] = Content(None) if on_host else STAGED
        self.written.add(base.place)

    # --- statements

    def block(self, statements: Plan) -> None:
        """Follow statements."""
        for node in statements:
            match node:
                case ("bind", target, expression):
                    self.bind(target, self.value(expression))
                case ("change", target, op, expression):
                    self._change(target, op, expression)
                case ("if", test, body, orelse):
                    self._if(lifted.truth(self.value(test)), body, orelse)
                case ("for", items, *plan):
                    self._for(self._range(items), tuple(plan))
                case ("while", test, body):
                    self._while(test, body)
                case _:
                    unroll("an unknown statement")

    def _change(self, target: Plan, op: str, expression: Plan) -> None:
        """`target op= expression`."""
        was = self.widened(target)
        made = operation(self, op, target, expression)
        if was.__class__ is not Grid or target[0] != "name":
            self.bind(target, made)
            return
        if made.shape != was.shape or made.kind is not was.kind or not was.is_whole:
            unroll("an array changes its shape in place")
        self._write(was, made)

    def _if(self, test: Any, body: Plan, orelse: Plan) -> None:
        if test.__class__ is Known:
            self.block(body if test.value else orelse)
            return
        before = self._snapshot()
        self.block(body)
        then = self._snapshot()
        self.names, self.contents = dict(before[0]), {**self.origins, **before[1]}
        self.block(orelse)
        decided = lifted.decision(test)
        if decided is None:
            self._join(then, not test.is_lifted)
        else:
            self._take(*((then, self._snapshot()) if decided else (self._snapshot(), then)))

    def _take(self, taken: Snapshot, other: Snapshot) -> None:
        """What is after an `if` of which the host knows the side, in this turn, where the loop is unrolled."""
        self.names, self.contents = dict(taken[0]), {**other[1], **self.origins, **taken[1]}
        for name in taken[0].keys() | other[0].keys():
            was = None if name in taken[0] and name in other[0] else self.classified(self.reader(name), name)
            mine, its = taken[0].get(name, was), other[0].get(name, was)
            same = either(mine, its, False) is mine if Grid in (mine.__class__, its.__class__) else mine == its
            self.names[name] = lifted.number(mine) if mine.__class__ is Known and not same else mine

    def _snapshot(self) -> Snapshot:
        return dict(self.names), dict(self.contents)

    def _join(self, other: Snapshot, by_running: bool) -> None:
        """What is after two sides, this and the other."""
        names, contents = other
        for name in names.keys() | self.names.keys():
            before = None if name in names and name in self.names else self.classified(self.reader(name), name)
            self.names[name] = either(self.names.get(name, before), names.get(name, before), by_running)
        for place in contents.keys() | self.contents.keys():
            before = self.origins.get(place, STAGED)
            mine, its = self.contents.get(place, before), contents.get(place, before)
            self.contents[place] = mine if mine == its else STAGED if by_running else Content(None)

    # --- loops inside

    def _range(self, node: Plan) -> Any:
        """The range of an inner loop: Python's, or what is known of one that changes."""
        if node[0] != "call" or node[3]:
            unroll("a loop over something else than a range")
        function, args = self.value(node[1]), [self.value(arg) for arg in node[2]]
        if function.__class__ is not Known or function.value not in (range, functions.range) or not args:
            unroll("a loop over something else than a range")
        if function.value is range and all(arg.__class__ is Known for arg in args):
            return range(*(arg.value for arg in args))
        numbers = [lifted.number(arg) for arg in args]
        if any(n.kind is not INT for n in numbers):
            unroll("a range of no ints")
        if function.value is functions.range or any(not n.is_lifted for n in numbers):
            return Trips(lifted.staged(INT), False)
        if len(numbers) == 3:
            unroll("a range with a step that changes")
        start, stop = numbers if len(numbers) == 2 else (lifted.lifted(0), numbers[0])
        return Trips(Number(INT, None, start.low, max(start.low, stop.high - 1)), start.high < stop.low)

    def _for(self, items: Any, plan: Plan) -> None:
        target, body, leaving = plan
        names = bound_names((("for", (), *plan),))
        if items.__class__ is Trips:
            self._staged_loop(items, plan, names)
        elif len(items) >= FEWEST:
            self.settle(lifted.index(items), plan, names)
        else:
            for k in items:
                self.bind(target, Known(k))
                self.block(body)
                if any(self.names.get(flag) == Known(True) for flag in leaving):
                    break

    def _staged_loop(self, trips: "Trips", plan: Plan, names: list[str]) -> None:
        """A loop over bounds that change, or that only running tells."""
        by_running = not trips.variable.is_lifted
        for name in names:
            self.found(name)
        before = self._snapshot()
        if by_running:
            self._placeholders(names)
        self.settle([trips.variable], plan, names)
        if not trips.certain:
            self._join(before, by_running)

    def _placeholders(self, names: list[str]) -> None:
        """In a loop that is staged in any case the numbers that it binds are staged."""
        for name in names:
            value = self.found(name)
            if value.__class__ is Number or lifted.is_known_number(value):
                self.names[name] = lifted.staged(lifted.number(value).kind)

    def _while(self, test: Plan, body: Plan) -> None:
        names = bound_names(body)
        decided = lifted.truth(self.value(test))
        while decided.__class__ is Known and decided.value:
            self.block(body)
            decided = lifted.truth(self.value(test))
        if decided.__class__ is Known:
            return
        for name in names:
            self.found(name)
        before = self._snapshot()
        self._placeholders(names)
        for _ in range(2):
            decided = lifted.truth(self.value(test))
            if decided.__class__ is Known or decided.is_lifted:
                unroll("a `while` that the host decides")
            self.block(body)
        self._join(before, True)
        for name in names:
            was, now = before[0][name], self.names[name]
            both = was.__class__ in (Number, Known) and now.__class__ is Number
            if both and lifted.number(was).kind is not now.kind:
                unroll(f"`{name}` changes its kind in a `while`")


def bound_names(statements: Plan) -> list[str]:
    """The names that statements bind."""
    found: dict[str, None] = {}
    pending: list[Any] = list(statements)
    while pending:
        match pending.pop():
            case ("bind" | "change", target, *_):
                pending.append(("target", target))
            case ("target", ("name", name)):
                found[name] = None
            case ("target", ("pack", items)):
                pending += [("target", item) for item in items]
            case ("for", _, target, body, _):
                pending += [("target", target), *body]
            case ("if", _, body, orelse):
                pending += [*body, *orelse]
            case ("while", _, body):
                pending += body
            case _:
                pass
    return list(found)
