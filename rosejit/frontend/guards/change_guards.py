"""What staged code changes outside of itself is changed once for each staging. Where it reads that as well, the code is
used once and then staged again, so that it reads at each call what Python would; what it only counts with (a list that
it appends to) has no part in its numbers, and stays with the staging."""

# Values of users are of any type: what they are is asked while staging.

import warnings
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from rosejit.errors import StagingWarning
from rosejit.frontend.guards.guards import AccessPath, Guard, PathValue, is_known, is_stable
from rosejit.frontend.syntax.gast_convert import gast
from rosejit.frontend.syntax.source import find
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
    """A guard for each thing from outside that was read and has other content than before the staging. All that has is
    warned of, once a line. What keeps what it has computed (a table) changes at the first call only."""
    undo = tape.undo
    found: dict[int, list[PathValue]] = {}
    for read in reads if undo.known else ():
        if not read.frozen and not is_stable(read.chain):
            inside = {id(value) for value in _inside(read.value)}
            for key in inside.intersection(undo.known):  # many are the functions' own
                if key in found or undo.is_changed(key):
                    found.setdefault(key, []).append(read)
    guards: list[Guard] = []
    for key, ways in found.items():
        is_read = any([_is_read(functions, way.chain) for way in ways])
        longest = max(ways, key=lambda way: len(way.chain.names))
        _warn(functions, longest, undo.places.get(key), is_read)
        guards += [ChangeGuard(longest.chain)] if is_read else []
    return guards


def _is_read(functions: Iterable[FunctionType], chain: AccessPath) -> bool:
    """Whether one of the functions reads the first name of a chain other than to change what it holds: as a statement
    `names.append(x)`, `counts[key] += 1` or `it.count = 1` does."""
    name = chain.names[0]
    for function in functions:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if cells.get(name, function.__globals__) is chain.root:
            nodes = [*gast.walk(find(function).node)]
            loads = [each for each in nodes if isinstance(each, gast.Name) and isinstance(each.ctx, gast.Load)]
            if [each.id for each in loads].count(name) > [*map(_changed, nodes)].count(name):
                return True
    return False


def _changed(node: Any) -> str:
    """The name of what a statement only changes."""
    targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
    base: Any = next((each.value for each in targets if isinstance(each, (gast.Attribute, gast.Subscript))), None)
    if (
        isinstance(node, gast.Expr)
        and isinstance(node.value, gast.Call)
        and isinstance(node.value.func, gast.Attribute)
    ):
        base = node.value.func.value
    while isinstance(base, gast.Attribute):
        base = base.value
    return base.id if isinstance(base, gast.Name) else ""


def _warn(functions: Iterable[FunctionType], read: PathValue, place: Span | None, is_read: bool) -> None:
    if place is None:  # only its own code knows where
        return
    outcome = "it is staged again for each call, which is slow" if is_read else "once, and not at each call"
    found = StagingWarning(
        f"`{read.chain}` is changed while the function is staged: {outcome}",
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
