"""Loops over plain ranges of which nobody could tell beforehand whether they may be rolled, because their bodies hold
more than abstract interpretation follows: objects that change, calls for what they do, lists of objects.

The first iterations are unrolled. Where much would follow, the rest is staged once, as `rose.range` is, and looked at:
it stands if iterations use only what running tells in the unrolled loop as well. Then both do the same with the same
operands. Else, or where the rest cannot be staged so, the function is staged again, and the loop unrolled.
"""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Iterator
from typing import Any

from rosejit.frontend.control.if_for import HostFor, StagedFor, operations
from rosejit.frontend.control.loop_carries import LoopCarries
from rosejit.frontend.control.short_circuit import no_flag_set
from rosejit.frontend.control.staged_range import StagedRange
from rosejit.frontend.syntax.loop_plan import Plan
from rosejit.frontend.values.locations import Place
from rosejit.frontend.values.tape import Tape
from rosejit.frontend.values.tries import InVain
from rosejit.ir.syntax import Lit

PEELED = 2
"""So many iterations are unrolled: then names hold what they hold in all later ones."""
LEAST = 2_000
"""So many operations must be left to unroll."""

Names = tuple[Any, ...]


def _uses_number(plan: Plan | str) -> bool:
    """Whether the body of a loop, as far as there is a plan of it, reads the number of the iteration."""
    return not isinstance(plan, str) and (plan[0][0] != "name" or _reads(plan[1], plan[0]))


def _reads(node: Any, name: Plan) -> bool:
    return node == name or (node.__class__ is tuple and any(_reads(part, name) for part in node))


class TriedFor:
    """A loop that is unrolled as `host` unrolls it, until it is tried whether the rest may be rolled."""

    def __init__(
        self, tape: Tape, host: HostFor, items: range, plan: Plan | str, *facts: Any, place: Place | None
    ) -> None:
        self._tape = tape
        self._plan = plan
        self._host = host
        self._items = items
        self._facts = facts
        self._place = place
        self._rest: _RestFor | None = None

    @property
    def staged(self) -> bool:
        """Whether the rest is being staged once."""
        return self._rest is not None

    def __iter__(self) -> Iterator[Any]:
        tape, before, done = self._tape, 0, 0
        for item in self._host:
            yield item
            done += 1
            now, left = operations(tape), len(self._items) - done
            if done == PEELED and left > 1 and (now - before) * left >= LEAST and self._may_try():
                break
            before = now
        else:
            return
        self._host.stops_after(done)
        tries = tape.tries
        tries.made.append(self._place)
        tries.is_open = True
        numbers = StagedRange(tape, 0, len(self._items) - done, 1)  # others than the loop has: it may use none
        self._rest = _RestFor(numbers, *self._facts, place=self._place)
        yield from self._rest
        tries.is_open = False

    def _may_try(self) -> bool:
        tape = self._tape
        is_right = tape.rolled is None and not tape.catching and not _uses_number(self._plan)
        return is_right and tape.tries.may_try(self._place)

    def enter(self, names: Names) -> Names:
        """Begin the body of the staged loop."""
        assert self._rest is not None
        return self._rest.enter(names)

    def back(self, names: Names) -> Names:
        """End an iteration."""
        return (self._host if self._rest is None else self._rest).back(names)


class _RestFor(StagedFor):
    """The rest of a loop, which must use nothing that the host would know."""

    def __init__(self, *facts: Any, place: Place | None) -> None:
        self._where = place
        super().__init__(*facts)

    def _begin(self) -> None:
        super()._begin()
        self._carries.tried = self._where

    def _back(self, names: Names) -> Names:
        mixed = len(self._tape.mixed)
        made = super()._back(names)
        if self._over and (len(self._tape.mixed) > mixed or any(c.final.type != c.init.type for c in self._carried)):
            raise InVain(self._where)
        return made

    def _runs(self) -> Any:
        flags = [value for value, name in zip(self._carries.before, self._names, strict=True) if name in self._leaving]
        return no_flag_set(self._tape, *flags)

    def _look(self, carries: LoopCarries) -> None:
        self._tape.tries.settle()
        self._carried = [carry for carry in carries.carries if carry.phi is not self._index]
        used = carries.used().keys() | {carry.next for carry in self._carried if carry.next.__class__ is not Lit}
        is_same = all(c.init.type == c.phi.type == c.next.type for c in self._carried)
        of_host = any(carry.next.__class__ is Lit for carry in self._carried) or carries.changes_hosts
        if of_host or not is_same or self._index in used or not used.isdisjoint(carries.of_host):
            raise InVain(self._where)
