"""What staged code changes outside of itself is changed once for each staging. Where it reads that as well, the code is
used once and then staged again, so that it reads at each call what Python would; what it only counts with (a list that
it appends to) has no part in its numbers, and stays with the staging."""

# Values of users are of any type: what they are is asked while staging.

import ast
import functools
import warnings
from collections.abc import Iterable, Set
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from rosejit.errors import StagingWarning, UnsupportedSyntax
from rosejit.frontend.control.special_methods import member_of
from rosejit.frontend.guards.guards import AccessPath, Guard, PathValue, consumed, open_layout
from rosejit.frontend.syntax.source import find
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.host_values import (
    ATOMS,
    ById,
    Opened,
    Opener,
    attributes_of,
    has_data,
    is_frozen,
    is_iterator,
)
from rosejit.frontend.values.reachable_state import Look, View, reachable, reached
from rosejit.frontend.values.tape import Tape
from rosejit.numeric import np
from rosejit.span import Span


class ChangeGuard(Guard):
    """Holds until the code that made the change is run, or a call of it is staged. Code that was made of other code
    has a guard of its own, made of that of the other."""

    __slots__ = ("is_spent", "of")
    can_be_still = False
    is_of_change = True

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


class _BeforeView(View):
    """Values from outside before staged code runs: arrays, which it never writes, by their layout."""

    asks = False

    def __init__(self) -> None:
        self.is_whole = True
        """Whether guards would see what was met in the same way."""

    def opener(self, value: Any, met: Set[int]) -> Opener | None:
        """How a value is opened, where that is not as the table says."""
        if isinstance(value, np.ndarray):
            self.is_whole = False
            return open_layout if is_array(value) else None
        if isinstance(value, ModuleType) or (isinstance(value, type) and has_data(value)):
            self.is_whole = False
        if _computed_once(type(value)):
            self.is_whole = False
            return _open_without_cache
        return None


@functools.lru_cache(maxsize=1024)
def _computed_once(cls: type) -> frozenset[str]:
    """The cached properties of a class."""
    names = {name for each in cls.__mro__ for name in vars(each)}
    return frozenset([name for name in names if isinstance(member_of(cls, name), functools.cached_property)])


def _open_without_cache(value: Any) -> Opened:
    """An object as the table says, without what it has computed of itself and keeps."""
    cached = _computed_once(type(value))
    named = {name: held for name, held in attributes_of(value).items() if name not in cached}
    return ById(value), [*named, *named.values(), type(value)]


class Snapshot(NamedTuple):
    """What a name from outside was when a function that reads it began, by content."""

    chain: AccessPath
    value: Any
    look: Look | None
    """What the value holds; None where nobody can change it."""

    def now(self) -> Any:
        """What it is by now."""
        return _held(self.chain.root, self.chain.names)[0]

    def is_changed(self) -> bool:
        """Whether it is another value by now, or holds other content."""
        if self.value is _UNLOADED:
            return False
        now = self.now()
        if self.look is not None:
            return not self.look.holds(now)
        return now is not self.value and reached(now, _BeforeView()) != reached(self.value, _BeforeView())


class Snapshots:
    """The state before one staging, as far as it has been read: each name is looked at once, when the first function
    that reads it begins."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, tuple[str, ...]], Snapshot] = {}
        self._looks: dict[int, tuple[Look, _BeforeView]] = {}

    def of(self, function: FunctionType, chains: Iterable[tuple[str, ...]]) -> list[Snapshot]:
        """What `function`, which is about to run, can reach from outside: by these names, and in its defaults."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        inside = function.__globals__
        found: dict[int, Snapshot] = {}
        for names in chains:
            root = cells.get(names[0], inside)
            if root is not inside or names[0] in inside:  # others are builtins
                each = self._snapshot(root, names)
                found[id(each)] = each
        if function.__defaults__ or function.__kwdefaults__:
            for each in [self._snapshot(function, (name,)) for name in _DEFAULTS]:
                found[id(each)] = each
        return [*found.values()]

    def _snapshot(self, root: Any, names: tuple[str, ...]) -> Snapshot:
        value, names = _held(root, names)
        known = self._known.get((id(root), names))
        if known is None:
            known = self._known[id(root), names] = Snapshot(AccessPath(root, names), value, self.look(value))
        return known

    def look(self, value: Any) -> Look | None:
        """What a value holds now, or held when it was first looked at; None where nobody can change it."""
        if value.__class__ in ATOMS or is_frozen(value):
            return None
        if id(value) not in self._looks:
            view = _BeforeView()
            self._looks[id(value)] = Look(value, view, False), view
        return self._looks[id(value)][0]

    def unchanged(self, value: Any) -> Look | None:
        """What a value holds, if that was looked at, is all that a guard looks at, and is so still."""
        look, view = self._looks.get(id(value), _NOTHING)
        return look if look is not None and view.is_whole and look.is_same(value) else None


_NOTHING = None, _BeforeView()
_DEFAULTS = ("__defaults__", "__kwdefaults__")
_MISSING = object()
_UNLOADED = object()
"""What a module loads when it is first asked for."""


def _held(root: Any, names: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """What a name stands for, and attributes as long as these are of modules or decorated functions, and the names that
    lead there: to read others may run code."""
    if isinstance(root, dict):
        value = root.get(names[0], _MISSING)
    elif isinstance(root, FunctionType):
        value = getattr(root, names[0])
    else:
        try:
            value = root.cell_contents
        except ValueError:  # nothing yet
            value = _MISSING
    for k, name in enumerate(names[1:], 1):
        if isinstance(value, ModuleType) or hasattr(type(value), "__rose_stage__"):
            loads = "__getattr__" in vars(value) or hasattr(type(value), "__getattr__")
            value = vars(value).get(name, _UNLOADED if loads else _MISSING)
        else:
            return value, names[:k]
    return value, names


def change_guards(
    tape: Tape, functions: Iterable[FunctionType], snapshots: Iterable[Snapshot], unchanged: Iterable[Snapshot]
) -> list[Guard]:
    """A guard for each thing from outside that was read and has other content than before the staging; those that were
    `unchanged` when a staged block began must be so. All that has is warned of, once a line. What keeps what it has
    computed (a table) changes at the first call only."""
    check_unchanged(tape, unchanged)
    guards: list[Guard] = []
    for snapshot in snapshots:
        if snapshot.is_changed() or _may_be_changed(tape, snapshot.value):
            chain = snapshot.chain
            is_read = isinstance(chain.root, FunctionType) or _is_read(functions, chain)
            _warn(functions, chain, _place(tape, snapshot.value), is_read)
            guards += [ChangeGuard(chain)] if is_read else []
    return guards


def _may_be_changed(tape: Tape, value: Any) -> bool:
    """Whether code of the user's may have changed an object in a value into which nobody can look."""
    hidden = tape.undo.hidden
    found = [id(each) for each in reachable([value]) if id(each) in hidden] if hidden else []
    for each in found:
        del hidden[each]
    return bool(found)


def check_unchanged(tape: Tape, snapshots: Iterable[Snapshot]) -> None:
    """Raise where a function that is staged in a branch or a loop has changed something from outside, unseen: in a
    method that Python itself calls."""
    for snapshot in snapshots:
        if snapshot.is_changed():
            raise tape.fault(
                UnsupportedSyntax,
                f"`{snapshot.chain}`, from outside of a staged branch or loop, is changed in it",
                help="return the new value, or change it in a function of your own with `rose.opaque`",
            )


def check_iterators(tape: Tape, reads: Iterable[PathValue]) -> None:
    """Raise where staged code has gone through an iterator that something from outside holds."""
    for read in reads if tape.used_up else ():
        if not read.frozen:
            for value in reachable([read.value]):
                if tape.used_up.get(id(value)) is value and is_iterator(value):
                    raise consumed(read.chain, value)


def _place(tape: Tape, value: Any) -> Span | None:
    """Where code of the user's changed what is in a value."""
    places = tape.undo.places
    if not places:
        return None
    inside = [each for held in reachable([value]) for each in (held, getattr(held, "__dict__", None))]
    return next((places[id(each)] for each in inside if id(each) in places), None)


def _is_read(functions: Iterable[FunctionType], chain: AccessPath) -> bool:
    """Whether one of the functions reads the first name of a chain other than to change what it holds: as a statement
    `names.append(x)`, `counts[key] += 1` or `it.count = 1` does."""
    name = chain.names[0]
    for function in functions:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if cells.get(name, function.__globals__) is chain.root:
            nodes = [*ast.walk(find(function).node)]
            loads = [each for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
            changed = [each for each in nodes if _changed(each) == name and not _tells(each, chain.root)]
            if [each.id for each in loads].count(name) > len(changed):
                return True
    return False


def _changed(node: Any) -> str:
    """The name of what a statement only changes."""
    targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
    base: Any = next((each.value for each in targets if isinstance(each, (ast.Attribute, ast.Subscript))), None)
    if _is_method_statement(node):
        base = node.value.func.value
    while isinstance(base, ast.Attribute):
        base = base.value
    return base.id if isinstance(base, ast.Name) else ""


def _is_method_statement(node: Any) -> bool:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)
    )


def _tells(node: Any, root: Any) -> bool:
    """Whether a statement calls a method of the user's with something in which that can leave what it has read."""
    if not _is_method_statement(node):
        return False
    given = [*node.value.args, *[each.value for each in node.value.keywords]]
    if all([isinstance(each, ast.Constant) for each in given]):
        return False
    names: list[str] = []
    base: Any = node.value.func
    while isinstance(base, ast.Attribute):
        names.insert(0, base.attr)
        base = base.value
    value, rest = _held(root, (base.id, *names))
    for name in names[len(rest) - 1 : -1]:
        value = attributes_of(value).get(name, _MISSING)
    return value is _MISSING or is_users_class(type(value)) or isinstance(value, (FunctionType, ModuleType, type))


def _warn(functions: Iterable[FunctionType], chain: AccessPath, place: Span | None, is_read: bool) -> None:
    if place is None:  # only its own code knows where
        return
    outcome = "it is staged again for each call, which is slow" if is_read else "once, and not at each call"
    found = StagingWarning(
        f"`{chain}` is changed while the function is staged: {outcome}",
        place,
        help="return the new value, or change it in a function of your own with `rose.opaque`",
    )
    scope = next((f.__globals__ for f in functions if f.__code__.co_filename == place.file), {})
    warnings.warn_explicit(found, None, place.file, place.line, registry=scope.setdefault(_WARNED, {}))


_WARNED = "__warningregistry__"
"""Where Python notes in a module which warnings its lines have given."""
