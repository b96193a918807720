"""One of several values of the host, which only running tells: the values, and the position of the one that it is.

Calls of it are branches, one a value. Attributes and comparisons are asked of every value, and chosen from. What else
is done with it is refused, as of any value that differs between paths.
"""

# Values of users are of any type: what they are is asked while staging.

import enum
import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any, NoReturn

from rosejit import containers
from rosejit.containers import DATACLASS, of_class
from rosejit.errors import StagingTypeError
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.asarray import stacked
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.control.grown_lists import is_grown
from rosejit.frontend.control.optional import Optional, nothing_like
from rosejit.frontend.control.undefined import Poison
from rosejit.frontend.lists.dynamic_list import DynamicList
from rosejit.frontend.soa.element_proxy import arrays_in
from rosejit.frontend.soa.struct_of_arrays import TAKEN, detached_at, taken
from rosejit.frontend.syntax.user_code import is_users_class, is_users_code, users_variables
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.pytree import attributes, is_alike, is_object, is_row, is_staged_deep, members, with_parts
from rosejit.frontend.values.scalars import Bool, Int, P
from rosejit.frontend.values.staged_inputs import to_know
from rosejit.frontend.values.tape import UNDEFINED, Frame, Tape, merged, unfailing
from rosejit.ir.syntax import Failure
from rosejit.numeric import np

_WHY = "this is one of several values of the host, chosen by a staged {}, which only running tells"
_REMEDY = (
    "call it, compare it with `==`, or read its attributes, which can be staged; decide all else with `match` or `if`"
)
_FEW = 8
"""So many answers are compared with one by one; of more there is a table."""
_MOST_NODES = 4096
"""So many objects a structure may have of which a staged loop goes from one to the next."""
_MOST_CARRIED = 64
"""So many values a staged loop may choose from that come from its iterations."""
_LOOKED_AT = 64
"""So many objects are looked at for something staged inside: what staged code makes is small, or from outside."""
_COMPUTED = (property, functools.cached_property)


class Chosen(Poison):
    """The one of `__rose_options__` at `__rose_position__`, a staged Int."""

    __slots__ = ("__rose_computed__", "__rose_key__", "__rose_options__", "__rose_position__")

    def __init__(
        self, tape: Tape, position: Int, options: Sequence[Any], key: Any = None, why: str = "", remedy: str = _REMEDY
    ) -> None:
        super().__init__(tape, why, remedy)
        self.__rose_key__ = position if key is None else key
        self.__rose_position__ = position
        self.__rose_options__ = tuple(options)
        self.__rose_computed__ = False
        """Whether they are computed of other ones: a loop might compute more and more."""

    def __getattr__(self, name: str) -> Any:
        if (name.startswith("__") and name.endswith("__")) or not is_users_code(frame_at(1).f_code):
            raise AttributeError(name)  # what we ask of any value is no use of it
        return self.__rose_attribute__(name)

    def __rose_attribute__(self, name: str) -> Any:
        """What the value has under a name."""
        return _attribute(self, name)

    def __rose_use__(self) -> NoReturn:
        """Say why there is no value, and how staging could know the key."""
        why, remedy, key = self.__rose_why__, self.__rose_remedy__, self.__rose_key__
        if not why:
            why, remedy = _WHY.format(type(key).__name__), f"{remedy}; or {to_know(self.__rose_tape__, key.atom)}"
        raise self.__rose_tape__.fault(StagingTypeError, why, help=remedy)

    def __eq__(self, other: Any) -> Any:
        return compared(self, lambda option: option == other)

    def __ne__(self, other: Any) -> Any:
        return compared(self, lambda option: option != other)

    __hash__ = Poison.__hash__

    def __rose_at__(self, position: Any, among: Sequence[Any] = ()) -> "Chosen":
        """Another of the same values, or of those it is `among`."""
        words = self.__rose_why__, self.__rose_remedy__
        return Chosen(self.__rose_tape__, position, among or self.__rose_options__, None, *words)

    __rose_branched__: Callable[["Chosen", Callable[[Any], Any]], Any]
    """What `use` of the value gives, in a staged branch for each; branches are above."""
    __rose_decided__: Callable[[Tape, "Chosen"], Any]
    """Its truth."""


def compared(chosen: Chosen, test: Callable[[Any], Any]) -> Any:
    """What a test that has no effect says of the value."""
    return asked(chosen, [test(option) for option in chosen.__rose_options__])


def asked(chosen: Chosen, answers: Sequence[Any]) -> Any:
    """The answer for the value, of one for each: known where all are the same."""
    position, tape = chosen.__rose_position__, chosen.__rose_tape__
    if not all(answer is True or answer is False for answer in answers):
        return selected(tape, position, answers)
    true = [k for k, answer in enumerate(answers) if answer]
    if len(true) in (0, len(answers)):
        return bool(true)
    if len(answers) > _FEW:
        return looked_up(tape, [bool(answer) for answer in answers], position)
    few = true if 2 * len(true) <= len(answers) else [k for k in range(len(answers)) if k not in true]
    found: Any = functools.reduce(operator.or_, [position == k for k in few])
    return found if few is true else found == False  # noqa: E712  # a staged one


def looked_up(tape: Tape, answers: Sequence[Any], position: Any) -> Any:
    """The number at a position that is known to be in range, from an array of the host."""
    with unfailing(tape):
        return get(of_host(tape, np.array(answers), "answers", readonly="it is a table of answers"), position)


def is_member(value: Any) -> bool:
    """Whether a value is a member of an `Enum`."""
    return isinstance(value, enum.Enum)


def as_number(value: Any) -> Any:
    """One of several members of an `Enum` that are numbers, as a staged number; anything else itself."""
    if value.__class__ in (list, tuple) and any(item.__class__ is Chosen for item in value):
        return type(value)(map(as_number, value))
    if value.__class__ is not Chosen:
        return value
    options = value.__rose_options__
    for kind in (int, float):
        if all([isinstance(option, kind) and is_member(option) for option in options]):
            return looked_up(value.__rose_tape__, [*map(kind, options)], value.__rose_position__)
    return value


def _attribute(chosen: Chosen, name: str) -> Any:
    tape, options = chosen.__rose_tape__, chosen.__rose_options__
    if any(isinstance(inspect.getattr_static(type(option), name, None), _COMPUTED) for option in options):
        return Chosen.__rose_branched__(chosen, lambda option: getattr(option, name))
    there = [hasattr(option, name) for option in options]
    if not all(there):
        lacking = options[there.index(False)]
        words = f"'{type(lacking).__name__}' object has no attribute '{name}'"
        if not any(there):
            raise AttributeError(words)
        tape.check(asked(chosen, there).atom, Failure("attribute", words, tape.here()))
    known = [getattr(option, name) if has else None for option, has in zip(options, there, strict=True)]
    return of_those(chosen, known, there)


def of_those(chosen: Chosen, known: Sequence[Any], there: Sequence[bool]) -> Any:
    """What is known for the value, of one for each; where there is nothing, it is not asked for."""
    tape, position = chosen.__rose_tape__, chosen.__rose_position__
    read = tape.session.hooks.read_outer
    given = [read(value) if has else None for value, has in zip(known, there, strict=True)]
    like = given[[*there].index(True)]
    if is_node(like):
        return nodes_at(tape, position, [v if has else like for v, has in zip(given, there, strict=True)])
    return selected(
        tape, position, [v if has else nothing_like(tape, like) for v, has in zip(given, there, strict=True)]
    )


def selected(tape: Tape, position: Any, values: Sequence[Any], key: Any = None) -> Any:
    """The one of `values` at a position that is known to be in range; `key` is the staged number that tells it."""
    first = values[0]
    if position.__class__ is not Int or all(value is first for value in values):
        return first if position.__class__ is Int else values[position]
    there = [value is not None for value in values]
    if not all(there) and any(there):
        like = values[there.index(True)]
        held = selected(tape, position, [nothing_like(tape, like) if v is None else v for v in values], key)
        return Optional(tape, asked(Chosen(tape, position, values), there), held)
    if all(isinstance(value, (str, bytes)) and value == first for value in values):
        return first
    if any(value.__class__ is Chosen for value in values):
        return _among_all(tape, position, values)
    with unfailing(tape):
        found = None if any(isinstance(value, Poison) for value in values) else taken_of(tape, values, position)
    return Chosen(tape, position, values, key) if found is None else found


_PLACES = "it is a table of places"


def taken_of(tape: Tape, items: Sequence[Any], index: Any) -> Any:
    """The element of a list of the host at a staged index, as an object whose changes are changes of that in the list;
    None where they are not alike. Texts and members of an `Enum` in objects of staged code may differ."""
    if tape.has_grown and any(map(is_grown, items)):
        return None
    if tape.has_grown and any([item.__class__ is DynamicList for item in items]):  # each has its own length
        return Chosen(tape, get(of_host(tape, np.arange(len(items)), "places", readonly=_PLACES), index), items)
    if items and is_member(items[0]) and all(map(is_member, items)):
        return None  # members, which may be numbers too
    found = taken(tape, items, index)
    if found is not None or not items or not all([tape.identities.home(item) is not None for item in items]):
        return found
    at = get(of_host(tape, np.arange(len(items)), "places", readonly=_PLACES), index)
    with unfailing(tape):
        element = _part_by_part(tape, items, at)
    if element is UNDEFINED:
        return None
    tape.identities.view(element, items, index, TAKEN)
    return element


def _part_by_part(tape: Tape, items: Sequence[Any], index: Any) -> Any:
    """A copy of the element at a staged index, in which what differs is one of several values; UNDEFINED if they are
    not alike."""
    first = items[0]
    if all([item is None for item in items]):
        return None
    if all([item.__class__ is Chosen or is_constant(item) for item in items]):
        options, places = list[Any](), list[Any]()
        for item in items:
            options = all_of(options, (choices_of(item) or ((),))[0])
        for item in items:
            each, at = choices_of(item) or ((), 0)
            places.append(at_place(at, [place_of(option, options) for option in each]))
        column: Any = stacked(tape, places)
        return options[0] if len(options) == 1 else Chosen(tape, get(column, index), options)
    inside = [members(item) or () for item in items]
    if not inside[0] or any(arrays_in(first)) or not all([is_alike(first, item) for item in items]):
        found = detached_at(tape, items, index)
        return UNDEFINED if found is None else found
    parts = [_part_by_part(tape, column, index) for column in zip(*inside, strict=True)]
    if any([part is UNDEFINED for part in parts]):
        return UNDEFINED
    return merged(tape, with_parts(first, parts))


def _among_all(tape: Tape, position: Any, values: Sequence[Any]) -> Chosen:
    """The one at a position of values of which some are one of several themselves."""
    sides = [choices_of(value) or ([value], 0) for value in values]
    options: list[Any] = []
    for each, _ in sides:
        options = all_of(options, each)
    places = [at_place(at, [place_of(option, options) for option in each]) for each, at in sides]
    return Chosen(tape, selected(tape, position, places), options)


def is_node(value: Any) -> bool:
    """Whether a value is an object of a class of the user's that holds nothing staged: it may stand beside others."""
    if is_row(value) or not _has_attributes(value):
        return False
    pending, seen = [value], set[int]()
    while pending and len(seen) < _LOOKED_AT:
        each = pending.pop(0)
        if id(each) in seen or not _has_attributes(each):
            continue
        seen.add(id(each))
        inside = attributes(each).values()
        if any(map(is_staged_deep, inside)):
            return False
        pending += inside
    return True


def _has_attributes(value: Any) -> bool:
    return is_object(value) or (of_class(value.__class__) is DATACLASS and is_users_class(type(value)))


def are_nodes(a: Any, b: Any) -> bool:
    """Whether two objects belong to one structure of the host, as a tree or a list of links is: one of them holds
    others, or they differ in their classes."""
    if a is None or b is None or not (is_node(a) and is_node(b)):
        return False
    return a.__class__ is not b.__class__ or any([is_node(v) for each in (a, b) for v in attributes(each).values()])


def nodes_at(tape: Tape, position: Any, values: Sequence[Any]) -> Any:
    """The one at a position of objects of which some may be the same, or None."""
    there = [value is not None for value in values]
    some = [value for value in values if value is not None]
    if not all([is_node(value) for value in some]):
        return selected(tape, position, values)
    options = all_of([], some)
    held = Chosen(tape, at_place(position, [max(place_of(value, options), 0) for value in values]), options)
    return held if all(there) else Optional(tape, asked(Chosen(tape, position, values), there), held)


def _structure_of(value: Any) -> list[Any]:
    """An object from outside, and those of users' classes that it holds."""
    found, pending = dict[int, Any](), [value]
    while pending and len(found) <= _MOST_NODES:
        each = pending.pop(0)
        if id(each) not in found and is_node(each):
            found[id(each)] = each
            pending += attributes(each).values()
        elif each.__class__ in (list, tuple, dict):
            pending += each.values() if each.__class__ is dict else each
    return list(found.values()) if len(found) <= _MOST_NODES else [value]


def is_constant(value: Any) -> bool:
    """Whether a value of the host is what it is wherever it is used: a text, a class, a function that holds nothing
    staged."""
    if isinstance(value, FunctionType):
        held = _held(value)
        return held is not None and not is_staged_deep(held)
    return isinstance(value, (str, bytes, enum.Enum, BuiltinFunctionType, type))


def _held(function: FunctionType) -> list[Any] | None:
    """What a function holds in its defaults and variables; None where one of these has no value yet."""
    by_name = function.__kwdefaults__ or {}
    try:
        held = [cell.cell_contents for _, cell in users_variables(function)]
    except ValueError:
        return None
    return [*held, *(function.__defaults__ or ()), *by_name, *by_name.values()]


def choices_of(value: Any) -> tuple[Sequence[Any], Any] | None:
    """The values that a value may be, and its position; None of what cannot be one of several."""
    if value.__class__ is Chosen:
        return value.__rose_options__, value.__rose_position__
    return ([value], 0) if is_constant(value) or is_node(value) else None


def fixed(tape: Tape, value: Any) -> tuple[Sequence[Any], Any] | None:
    """The same of a tuple or a set of the host that is never changed, as it is beside one of another length."""
    is_outer = value.__class__ in (list, set) and tape.identities.home(value) is None
    if not (is_outer or value.__class__ in (tuple, frozenset)):
        return None
    return ([value], 0) if all([is_constant(item) or number_kind(item) is not None for item in value]) else None


def all_of(options: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """The values of both."""
    return [*options, *(each for each in others if place_of(each, options) < 0)]


def begun(tape: Tape, body: Frame, before: Any, after: Any, said: Callable[[], tuple[str, str]]) -> Any:
    """What stands before a loop whose iterations, of a `body`, leave another value of the host: one of all of them.
    What cannot be staged is refused in the words that are `said`."""
    if after is not before and is_node(before) and _may_be_of_it(tape, body, after):
        nodes = _structure_of(before)
        if len(nodes) > 1:
            first: Any = 0
            return Chosen(tape, first, nodes)
    sides = choices_of(before), choices_of(after)
    if sides[0] is None or sides[1] is None or any([_is_made_in(body, each) for each in sides[1][0]]):
        return before
    options = all_of(sides[0][0], sides[1][0])
    if len(options) == len(sides[0][0]) or len(options) > _MOST_CARRIED:  # more and more, each made anew
        return before
    if after.__class__ is before.__class__ is Chosen and after.__rose_computed__:
        before.__rose_use__()
    words = after if after.__class__ is Chosen else before
    is_said = words.__class__ is Chosen and words.__rose_why__
    why, remedy = (words.__rose_why__, words.__rose_remedy__) if is_said else said()
    return Chosen(tape, sides[0][1], options, None, why, remedy)


def _may_be_of_it(tape: Tape, body: Frame, after: Any) -> bool:
    """Whether an iteration may have gone to another object of a structure of the host: it has made none."""
    if after.__class__ is Chosen:
        return is_node(after.__rose_options__[0])
    if after is None or isinstance(after, Poison) or tape.merged.get(id(after)) is after:
        return True
    return is_node(after) and not _is_made_in(body, after)


def _is_made_in(body: Frame, value: Any) -> bool:
    """Whether an iteration has made an object, as each would make another one."""
    return body.allocated.get(id(value)) is value


def at_position(chosen: Chosen, position: Any, among: Sequence[Any] = ()) -> Any:
    """Another of the same values, or of those it is `among`."""
    if position.__class__ is not Int:
        return (among or chosen.__rose_options__)[position]
    return chosen.__rose_at__(position, among)


def position_in(chosen: Chosen, value: Any) -> Any:
    """The position of a value that is one of these; None for other ones."""
    options, position = choices_of(value) or ((), 0)
    places = [place_of(each, chosen.__rose_options__) for each in options]
    return None if not places or min(places) < 0 else at_place(position, places)


def place_of(option: Any, options: Sequence[Any]) -> int:
    """Where a value is among others, -1 if nowhere."""
    return next((k for k, each in enumerate(options) if each is option or _is_same(each, option)), -1)


def _is_same(a: Any, b: Any) -> bool:
    """Whether texts are equal, or functions made by one `def` hold the same."""
    if isinstance(a, FunctionType) and isinstance(b, FunctionType):
        held = _held(a), _held(b)
        same_code = a.__code__ is b.__code__ and held[0] is not None and held[1] is not None
        return same_code and [*map(id, held[0] or ())] == [*map(id, held[1] or ())]
    return a.__class__ is b.__class__ and isinstance(a, (str, bytes)) and a == b


def at_place(position: Any, places: Sequence[int]) -> Any:
    """The place of the value at a position."""
    if position.__class__ is not Int:
        return places[position]
    if [*places] == [*range(len(places))]:
        return position
    if len(places) > _FEW:
        return looked_up(position.tape, places, position)
    found: Any = places[-1]
    for k in range(len(places) - 1):
        found = P["iselect"].__call__(position == k, places[k], found)
    return found


def none_among(value: Any) -> Any:
    """A structure in which what is a value of the host or None is one of several, None the last."""
    if value.__class__ is Optional:
        choices, flag = choices_of(value.__rose_held__), value.__rose_flag__
        if choices is None or flag.__class__ is not Bool:
            return value
        options, position = choices
        return Chosen(flag.tape, P["iselect"].__call__(flag, position, len(options)), [*options, None])
    inside = members(value)
    return value if not inside else with_parts(value, [none_among(part) for part in inside])


def _or_none(chosen: Chosen) -> Any:
    """The same as a value or None, where None is the last of the values."""
    options, position = chosen.__rose_options__, chosen.__rose_position__
    if options[-1] is not None:
        return chosen
    flag, last = position != len(options) - 1, len(options) - 2
    return Optional(chosen.__rose_tape__, flag, at_position(chosen, P["imin"].__call__(position, last), options[:-1]))


def _made(position: Any, *options: Any) -> Any:
    """The one of some values at a staged position; of an array of positions a list."""
    if position.__class__ is Int:
        return _or_none(Chosen(position.tape, position, options))
    if position.__class__ is Array:
        return [_made(each, *options) for each in position]
    return containers.picked_out(position, *options)


type(containers.CHOSEN).staged = staticmethod(_made)
