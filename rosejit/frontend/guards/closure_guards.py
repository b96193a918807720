"""What a function that staged code has made reads around it: whether a later call would be staged the same way.

What a function of a module reads is guarded by name (`guards.py`), and looked at again when compiled code runs. What
one inside a staging reads lives as long as that, and changes between two of its calls: `s = s + 1` binds a variable
of its closure anew. The whole of it is compared, so that nothing depends on which names are read.
"""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Iterable, Set
from types import CellType, CodeType, FunctionType
from typing import Any

from rosejit.frontend.guards.change_guards import ChangeGuard
from rosejit.frontend.guards.guards import AccessPath, AskedAgain, Guard
from rosejit.frontend.syntax.code_table import names_in
from rosejit.frontend.syntax.translate import TRANSLATIONS
from rosejit.frontend.syntax.user_code import users_variables
from rosejit.frontend.values.host_values import (
    ATOMS,
    ById,
    Opened,
    Opener,
    atom_key,
    is_frozen,
    is_identity,
    is_iterator,
    named_by_users,
)
from rosejit.frontend.values.reachable_state import Look, View
from rosejit.frontend.values.scalars import NUMBERS
from rosejit.frontend.values.tape import NonlocalCell
from rosejit.ir.syntax import Lit

_NUMBERS = ATOMS | NUMBERS


class ClosureGuard(Guard):
    """What `function`, which staged code has made, read around it when it was staged; or what a value holds that has
    such functions in it."""

    __slots__ = ("codes", "is_of_change", "value")
    can_be_still = False

    def __init__(self, value: Any, name: str) -> None:
        super().__init__(AccessPath({}, (name,)), value, Look(value, _AROUND))
        self.value = value
        self.is_of_change = False
        assert self.look is not None
        found = [each for each in self.look.key if each.__class__ is CodeType]
        self.codes: list[CodeType] = [value.__code__] if isinstance(value, FunctionType) and found else found

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return ClosureGuard, id(self.value)

    def holds(self) -> bool:
        """Whether it would read the same now."""
        assert self.look is not None
        return self.look.holds(self.value)

    def changed(self) -> "ClosureGuard":
        """The guard for what its own code has changed: that code is used once, and then staged again."""
        made = ClosureGuard(self.value, self.chain.names[0])
        made.is_of_change = True
        return made

    def use(self) -> bool:
        """Whether the code may be called now; the next time it may not where it changes what it reads."""
        fits = self.holds()
        if self.is_of_change:
            self.look = Look(object(), _AROUND)
        return fits


def arounds(function: FunctionType, statics: Iterable[Any]) -> list[ClosureGuard]:
    """Guards for what a function, given these values, reaches of the staging around it."""
    found = [ClosureGuard(function, function.__name__)] if TRANSLATIONS.is_translated(function.__code__) else []
    given = [ClosureGuard(value, function.__name__) for value in statics if value.__class__ not in _NUMBERS]
    return found + [guard for guard in given if guard.codes]


def lasting(guards: Iterable[Guard], codes: Iterable[CodeType] | None) -> list[Guard]:
    """Those of `guards` that mean something after the end of a function that ran `codes`, after that of the whole
    staging without them: what was made in it is of the past. What a call gives that gives another thing by now, staged
    code has changed: it is used once."""
    ran = None if codes is None else set(map(id, codes))
    kept = [guard for guard in guards if not _is_inside(guard, ran)]
    return [ChangeGuard(each.chain) if is_answer(each) and not each.holds() else each for each in kept]


def is_answer(guard: Guard) -> bool:
    """Whether a guard is of what a call gives."""
    return isinstance(guard.chain.root, AskedAgain) and not guard.is_of_change


def is_made_inside(chain: AccessPath, ran: Set[int] | None) -> bool:
    """Whether a call is of a cache that one of the functions with these codes has made; any that is staged, if None."""
    code = chain.root.code if isinstance(chain.root, AskedAgain) else None
    return code is not None and _is_of(code, ran)


def _is_of(code: CodeType, ran: Set[int] | None) -> bool:
    if ran is None:
        return TRANSLATIONS.is_translated(code)
    return not ran.isdisjoint(map(id, TRANSLATIONS.around(code)))


def _is_inside(guard: Guard, ran: Set[int] | None) -> bool:
    if isinstance(guard, ClosureGuard):
        return ran is None or all([_is_of(code, ran) for code in guard.codes])
    return is_made_inside(guard.chain, ran)


def numbers_around(function: FunctionType) -> list[Any]:
    """The numbers that `function` reads around it, if staged code has made it; texts and the like count as such."""
    if not TRANSLATIONS.is_translated(function.__code__):
        return []
    held = [_cell_content(cell) for _, cell in users_variables(function)]
    return [_number(value) if value.__class__ in _NUMBERS else None for value in held]


def _number(value: Any) -> Any:
    if value.__class__ in ATOMS:
        return atom_key(value)
    atom = value.atom
    return (value.__class__, atom_key(atom.value)) if atom.__class__ is Lit else ById(atom)


class _Around(View):
    """What staged code has made: staged numbers by which they are, functions by their code and what is around them."""

    atoms = _NUMBERS

    def atom(self, value: Any) -> Any:
        """What tells a number from others."""
        return _number(value)

    def opener(self, value: Any, met: Set[int]) -> Opener | None:
        """How a value is opened, where that is not as the table says."""
        if isinstance(value, FunctionType):
            return _reach_function if TRANSLATIONS.is_translated(value.__code__) else None
        if is_iterator(value):
            return _gone_on
        return (
            _decorated if hasattr(type(value), "__rose_stage__") else _cell if isinstance(value, NonlocalCell) else None
        )


_AROUND = _Around()


def _reach_function(value: FunctionType) -> Opened:
    held = [_cell_content(cell) for _, cell in users_variables(value)]
    variables = value.__globals__
    for name in names_in(value.__code__):
        if name in variables and not (is_identity(variables[name]) or is_frozen(variables[name])):
            held.append(variables[name])
    return value.__code__, [*held, value.__defaults__, value.__kwdefaults__, *named_by_users(value).values()]


def _cell_content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return cell


def _gone_on(value: Any) -> Opened:
    """What an iterator gives next is never what it gave."""
    return object(), []


def _cell(value: NonlocalCell) -> Opened:
    return None, [value.tape.content(value)]


def _decorated(value: Any) -> Opened:
    made = getattr(value, "__wrapped__", None)
    return ById(value), [made] if isinstance(made, FunctionType) else []
