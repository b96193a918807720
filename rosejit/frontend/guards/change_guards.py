"""What staged code changes outside of itself is changed once for each staging: such code is used once, then staged
again, so that Python's effects happen at each call."""

# Values of users are of any type: what they are is asked while staging.

import warnings
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from rosejit.errors import StagingWarning
from rosejit.frontend.guards.guards import AccessPath, Guard, PathValue, is_known, is_stable
from rosejit.frontend.values.host_values import held_in
from rosejit.frontend.values.pytree import attributes, is_object, parts
from rosejit.frontend.values.tape import Tape
from rosejit.span import Span


class ChangeGuard(Guard):
    """Holds until the code that made the change is run, or a call of it is staged. Code that was made of other code
    has a guard of its own, made of that of the other."""

    __slots__ = ("is_spent", "of")
    can_be_still = False

    def __init__(self, chain: AccessPath, of: "ChangeGuard | None" = None) -> None:
        super().__init__(chain, None)
        self.is_spent = False
        self.of = of

    def holds(self) -> bool:
        """Whether the change has not been made use of."""
        return not self.is_spent

    def use(self) -> bool:
        """The same, and make use of it."""
        fits, self.is_spent = not self.is_spent, True
        if self.of is not None:
            self.of.use()
        return fits


def change_guards(tape: Tape, functions: Iterable[FunctionType], reads: Iterable[PathValue]) -> list[Guard]:
    """A guard for each thing from outside that has other content than before the staging, warned of once a line. What
    keeps what it has computed (a table) changes at the first call only."""
    undo = tape.undo
    found: dict[int, PathValue] = {}
    for read in reads if undo.known else ():
        if read.frozen or is_stable(read.chain):
            continue
        for key in {id(value) for value in _inside(read.value)}.intersection(undo.known):  # many are the functions' own
            longer = key not in found or len(found[key].chain.names) < len(read.chain.names)
            if longer and undo.is_changed(key):
                found[key] = read
    for key, read in found.items():
        _warn(functions, read, undo.places.get(key))
    return [ChangeGuard(read.chain) for read in found.values()]


def _warn(functions: Iterable[FunctionType], read: PathValue, place: Span | None) -> None:
    if place is None:  # only its own code knows where
        return
    found = StagingWarning(
        f"`{read.chain}` is changed while the function is staged: it is staged again for each call, which is slow",
        place,
        help="return the new value, or change it in a function of your own with `rose.opaque`",
    )
    scope = next((f.__globals__ for f in functions if f.__code__.co_filename == place.file), {})
    warnings.warn_explicit(found, None, place.file, place.line, registry=scope.setdefault(_WARNED, {}))


_WARNED = "__warningregistry__"
"""Where Python notes in a module which warnings its lines have given."""


def _inside(value: Any) -> Iterator[Any]:
    """A value, and what is in it: in containers, in objects and their dictionaries, in what holds others."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if id(item) not in seen and not is_known(item):
            seen.add(id(item))
            yield item
            pending += parts(item) or held_in(item)
            if is_object(item):
                pending += [*attributes(item).values(), getattr(item, "__dict__", None)]
