"""Whether objects among the arguments are one: structures are built anew for staged code, so that it cannot say.

A program that asks (`is`, `id`, a copy of several by `copy.deepcopy`, which are changed together) is staged for
arguments that are as many objects, and a call of it looks whether they are. Programs that do not ask pay nothing.
"""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from typing import Any

from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.containers import CHOSEN, COMPLEX, NARROW, OPTIONAL, TUPLE, derived, of_class
from rosejit.errors import StagingTypeError
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.pytree import attribute, attributes, is_mutable, is_object, staged_leaf
from rosejit.frontend.values.scalars import Real
from rosejit.frontend.values.tape import Place, Tape
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import is_foreign

_NO_OBJECTS = (CHOSEN, COMPLEX, NARROW, OPTIONAL)
"""Kinds whose values are numbers, or one of several values."""
_ARRAY = "array"


@dataclass(slots=True, frozen=True)
class Asked:
    """By what a program asks whether two objects are one, and where."""

    how: str
    place: Place | None


@dataclass(slots=True)
class Questions:
    """Which places in the arguments of a function it asks of whether one object is in two of them."""

    pairs: dict[frozenset[str], Asked] = field(default_factory=dict[frozenset[str], Asked])
    groups: list[tuple[frozenset[str], Asked]] = field(default_factory=list[tuple[frozenset[str], Asked]])
    """Places of which any two are asked for."""

    def of(self, places: Sequence[str]) -> Asked | None:
        """What is asked of two of these places at least."""
        for pair in combinations(places, 2):
            found = self.pairs.get(frozenset(pair))
            if found is not None:
                return found
        return next((asked for group, asked in self.groups if len(group.intersection(places)) > 1), None)

    def __bool__(self) -> bool:
        return bool(self.pairs or self.groups)


@dataclass(slots=True, frozen=True)
class Alias:
    """What an object in a result is, or may be."""

    argument: str = ""
    """The place in the arguments whose object it is."""
    earlier: str = ""
    """The place in the result whose object it is."""
    sources: tuple[str, ...] = ()
    """The places in the arguments whose objects it may be."""
    kin: tuple[str, ...] = ()
    """Places before it in the result whose objects it may be, or share elements with."""
    outside: bool = False
    """Whether it may be an object from outside."""


class ArgumentObjects:
    """The objects that were built for the arguments of one function, and what it asks of them."""

    def __init__(self) -> None:
        self.asks = Questions()
        self.boxes = dict[Any, str]()
        """Where arrays have their numbers, and the places of these."""
        self.aliases = dict[str, Alias]()
        """By place in the result: objects that are, or may be, others too."""
        self.identified: tuple[frozenset[str], Asked] | None = None
        """The places of those whose `id` was asked."""

    def note(self, tape: Tape, trees: Sequence[Tree], names: Iterable[str], values: Sequence[Any]) -> None:
        """Note the objects in arguments of these names; those that the host keeps are the caller's own."""
        for tree, where, value in zip(trees, names, values, strict=True):
            if isinstance(tree, Static) or value.__class__ is Real:
                continue
            if class_of(value) is not None:
                tape.argument_objects[id(value)] = value, self, where
                self.boxes.update(dict.fromkeys(boxes_of(value), where))
            inside = steps(value) if isinstance(tree, Node) and any(map(_holds_objects, tree.children)) else None
            if isinstance(tree, Node) and inside is not None:
                names_inside = [where + step for step, _ in inside]
                self.note(tape, tree.children, names_inside, [part for _, part in inside])

    def place_of(self, tape: Tape, value: Any) -> str | None:
        """The place in the arguments that an object was built for."""
        owner, where = _owner(tape, value)
        return where if owner is self else None

    def ask(self, one: str, other: str, asked: Asked) -> None:
        """Note that it matters whether one object is in two places."""
        if one != other:
            self.asks.pairs.setdefault(frozenset((one, other)), asked)

    def ask_each(self, places: Iterable[str], asked: Asked) -> None:
        """Note that it matters whether one object is in two of these."""
        found = frozenset(places)
        if len(found) > 1:
            self.asks.groups.append((found, asked))

    def identify(self, place: str, asked: Asked) -> None:
        """Note that the `id` of the object in a place was asked."""
        known, first = self.identified or (frozenset[str](), asked)
        if place in known:
            return
        groups = self.asks.groups
        if self.identified in groups:
            groups.remove(self.identified)
        self.identified = known | {place}, first
        self.ask_each(*self.identified)


def note_new(tape: Tape, value: Any) -> Any:
    """`value`, its objects noted as those that a call has given."""
    for _, each in places("", value):
        tape.argument_objects[id(each)] = each, None, ""
    return value


def ask_same(tape: Tape, a: Any, b: Any, how: str) -> None:
    """Note the question whether `a`, which is not `b`, is `b` for Python. Raises where that is not known of objects
    among the arguments."""
    cls = class_of(a)
    if cls is None or class_of(b) != cls:
        return
    (of_a, at_a), (of_b, at_b) = _owner(tape, a), _owner(tape, b)
    if of_a is not None and of_a is of_b:
        of_a.ask(at_a, at_b, Asked(how, tape.here()))
    elif of_a is not of_b and (None not in (of_a, of_b) or not is_made_here(tape, b if of_b is None else a)):
        raise tape.type_fault(
            f"{how} asks whether an object among the arguments is one from outside, which staged code does not know",
            "compare what is in it, or a field that tells it (`c.name == DEFAULT.name`); `None`, or an `object()` that "
            "stands for a missing argument, can be asked for with `is`",
        )


def ask_equal(tape: Tape, a: Any, b: Any) -> None:
    """The same where Python compares, and finds objects equal that are one: those whose class does not say more."""
    if a is not b and a.__class__ is b.__class__ and a.__class__.__eq__ is object.__eq__:
        ask_same(tape, a, b, "`==`")


def ask_copies(tape: Tape, value: Any, how: str) -> None:
    """Note that it matters which objects in `value` are one, of those that can be changed: copies are as many."""
    found = dict[int, tuple[ArgumentObjects, list[str]]]()
    for _, each in places("", value):
        owner, where = _owner(tape, each)
        if owner is not None and can_change(each):
            found.setdefault(id(owner), (owner, []))[1].append(where)
    for owner, held in found.values():
        owner.ask_each(held, Asked(how, tape.here()))


def ask_identity(tape: Tape, value: Any, how: str) -> None:
    """Note that the identity of an object is asked for, to be compared with others."""
    cls, (owner, where) = class_of(value), _owner(tape, value)
    if owner is not None:
        owner.identify(where, Asked(how, tape.here()))
    if cls is not None and (owner is not None or not is_made_here(tape, value)):
        known = tape.identified.setdefault(cls, owner)
        if known is not owner:
            raise tape.type_fault(
                f"{how} is asked of an object among the arguments, and of one from outside: whether these are one is "
                "not known",
                "compare what is in them",
            )


def ask_of_callee(
    tape: Tape, same: Callable[[Any, Any, bool], Any], name: str, asks: Questions, given: Iterable[tuple[str, Any]]
) -> None:
    """Ask with `same` of staged arguments what a function that is called asks of its own."""
    held = {where: each for parameter, value in given for where, each in places(parameter, value)}
    pairs = [pair for pair in asks.pairs] + [
        pair for group, _ in asks.groups for pair in combinations(sorted(group), 2)
    ]
    for one, other in map(sorted, pairs):
        if one in held and other in held:
            error = _twice(name, asks.of((one, other)), one, other, tape.here())
            _require_two(tape, same, held[one], held[other], error)


def _require_two(tape: Tape, same: Callable[[Any, Any, bool], Any], a: Any, b: Any, error: StagingTypeError) -> None:
    """Raise where two objects are one. What cannot be changed, and stands in the body of a loop for other objects in
    each iteration, is two if these are, before the loop and after an iteration."""

    def require(one: Any, other: Any) -> None:
        _require_two(tape, same, one, other, error)

    carried = [frame.carries for frame in reversed(tape.frames) if frame.carries is not None]
    is_frozen = a is not b and not is_mutable(a) and not is_mutable(b)
    if is_frozen and any(carries.take_for_two(a, b, require) for carries in carried):
        return
    if same(a, b, False) is not False:
        raise error


def check_apart(name: str, asks: Questions) -> Callable[[Mapping[str, Any]], None]:
    """What looks at the arguments of a call, by name; raises where an object is in two places that are asked for."""

    def check(given: Mapping[str, Any]) -> None:
        found = dict[int, list[str]]()
        for parameter, value in given.items():
            for where, each in places(parameter, value):
                found.setdefault(id(each), []).append(where)
        for held in found.values():
            asked = asks.of(held) if len(held) > 1 else None
            if asked is not None:
                one, other = next(pair for pair in combinations(held, 2) if asks.of(pair) is not None)
                raise _twice(name, asked, one, other, asked.place)

    return check


def _twice(name: str, asked: Asked | None, one: str, other: str, place: Place | None) -> StagingTypeError:
    assert asked is not None
    line = "" if asked.place is None else f", line {asked.place.line}"
    return StagingTypeError(
        f"the arguments `{one}` and `{other}` of `{name}` are one object",
        place,
        facts=(f"`{name}` asks whether they are ({asked.how}{line}): staged code has a copy for each of them",),
        help=f"hand in objects of their own (`copy.copy(it)`), or make what is shared inside `{name}`, or refer to it "
        "by its place in a list",
    )


# --- objects


def class_of(value: Any) -> Any:
    """What two objects have in common if they may be one; None of what has no identity here."""
    leaf = staged_leaf(value)
    if leaf is not None:
        return _ARRAY if leaf.kind in (_ARRAY, "dyn") else None
    cls = value.__class__
    kind = of_class(cls) or derived(cls)
    if kind in (COMPLEX, NARROW):
        return _ARRAY if getattr(value, "shape", ()) else None
    if kind is None and is_object(value):
        return cls
    if kind is None:
        return _ARRAY if is_array(value) or is_foreign(cls) else None
    return None if kind in _NO_OBJECTS or (kind is TUPLE and not value) else cls


def _holds_objects(tree: Tree) -> bool:
    """Whether a part of an argument is more than a number of its own."""
    return isinstance(tree, Node) or (isinstance(tree, Leaf) and tree.kind in (_ARRAY, "dyn"))


def can_change(value: Any) -> bool:
    """Whether writes to an object can be seen by who has it."""
    kind = of_class(value.__class__) or derived(value.__class__)
    return kind is None or kind in _NO_OBJECTS or kind.is_mutable(value.__class__) or kind.changes


def steps(value: Any) -> list[tuple[str, Any]] | None:
    """The parts of a structure, each with what is written behind the name of the whole for it."""
    kind = of_class(value.__class__) or derived(value.__class__)
    if kind is None and is_object(value):
        return [(f".{name}", part) for name, part in attributes(value, read=True).items()]
    if kind is None or kind in (COMPLEX, NARROW, CHOSEN):
        return None
    inside = kind.parts(value, attribute)
    keys = kind.keys(value) or range(len(inside))
    return [(kind.step(key), part) for key, part in zip(keys, inside, strict=False)]


def places(where: str, value: Any, around: tuple[Any, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The objects in a value, each as often as it is there, with what a user writes for it."""
    if class_of(value) is not None:
        yield where, value
    inside = steps(value)
    if inside and not any(value is each for each in around):
        around = (*around, value)
        for step, part in inside:
            yield from places(where + step, part, around)


def _owner(tape: Tape, value: Any) -> tuple[ArgumentObjects | None, str]:
    found, owner, where = tape.argument_objects.get(id(value), (None, None, ""))
    return (owner, where) if found is value else (None, "")


def boxes_of(value: Any) -> list[Any]:
    """Where a staged array has its numbers."""
    if class_of(value) != _ARRAY or is_array(value):
        return []
    held = [value.real, value.imag] if of_class(value.__class__) is COMPLEX else [getattr(value, "wide", value)]
    return [each.box for each in held if hasattr(each, "box")]


def is_made_here(tape: Tape, value: Any) -> bool:
    """Whether staged code has made an object, so that no argument can be it."""
    boxes = boxes_of(value)
    if boxes:
        return not any(box.readonly for box in boxes)
    if any(frame.allocated.get(id(value)) is value for frame in tape.frames):
        return True
    given, owner, _ = tape.argument_objects.get(id(value), (None, None, ""))
    if given is value and owner is None:
        return True
    return any(staged_leaf(part) is not None for _, part in steps(value) or ())
