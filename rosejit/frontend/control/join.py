"""Joins what the two sides of a staged `if` leave behind: results of the branch, one value for each name."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from types import NoneType
from typing import Any

from rosejit.errors import UnsupportedSyntax, with_article
from rosejit.frontend.arrays.access import variable
from rosejit.frontend.arrays.array import FIRST, Array, Box, Host, atom_of, fresh, placed, placed_at
from rosejit.frontend.arrays.asarray import read_like
from rosejit.frontend.control import optional
from rosejit.frontend.control.chosen import (
    Chosen,
    all_of,
    are_nodes,
    as_number,
    at_place,
    choices_of,
    fixed,
    is_member,
    place_of,
)
from rosejit.frontend.control.identities import objects_in
from rosejit.frontend.control.undefined import Poison, UninitialisedCarry, as_flag, flag_atom, hint, label, part, split
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays, of_list
from rosejit.frontend.syntax.lower_jumps import VALUE
from rosejit.frontend.values.complexes import Complex, widened
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.pytree import is_alike, is_mutable, is_row, members, with_parts
from rosejit.frontend.values.scalars import ATOMS, NUMBERS, type_of, wrap
from rosejit.frontend.values.tape import (
    UNDEFINED,
    AttributeSlot,
    Frame,
    Invalidated,
    MaybeBound,
    NonlocalCell,
    Tape,
    base_of,
    loaded,
    merged,
)
from rosejit.ir.syntax import Atom, Block, If, Lit, Var, Zero
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, Type, array
from rosejit.narrow_values import NarrowValue

_OR_NOTHING = "give a truth value beside it: `return True, x` and `return False, 0.0`, and make None of it outside"
_TEXTS = "compare it, use it as a key, or return it; make texts of it with `+` or an f-string: `s + 'c'`"
_BY_INDEX = "decide about the index instead: `k = 0 if c else 1`, and take `items[k]` after it"


@contextmanager
def as_left(tape: Tape, side: Frame, value: Any) -> Generator[None]:
    """An object as a block has left it that is over: what that changed in it was put back then."""
    slots = tape.slots.get(id(value), {}).values()
    changed = [slot for slot in slots if slot.owner is value and slot in side.contents]
    for slot in changed:
        slot.put(loaded(side.contents[slot]))
    try:
        yield
    finally:
        tape.put_back(reversed(changed))


def is_from_around(tape: Tape, value: Any) -> bool:
    """Whether the blocks that are open have made an object: then it is the same one behind a block that names it."""
    return any(frame.allocated.get(id(value)) is value for frame in tape.frames)


class Join:
    """One `if` whose sides are staged; `join` may be called until `emit`."""

    def __init__(self, tape: Tape, condition: Atom, then: Frame, orelse: Frame) -> None:
        self.tape = tape
        self.condition = condition
        self.sides = (then, orelse)
        self._results: tuple[list[Atom], list[Atom]] = ([], [])
        self._binders: list[Var] = []
        self._made: dict[tuple[int, int], tuple[Any, Any, Any]] = {}
        self._objects: list[tuple[Any, tuple[Any, Any]]] = []
        """Structures that were made, each with those of the sides."""
        self._why = ""
        self._written: dict[Any, Any] = {}
        """What arrays and cells hold after the branch; set at the end: the sides still see what they held before."""

    # --- results

    def _result(self, then: Atom, orelse: Atom, kind: Type, name: str) -> Var:
        binder = Var(kind, hint(name))
        self._results[0].append(then)
        self._results[1].append(orelse)
        self._binders.append(binder)
        return binder

    def _nothing(self, side: int, kind: Type) -> Atom:
        """A value that is never read, for the side that has none."""
        if isinstance(kind, Scalar):
            return Lit({REAL: 0.0, INT: 0, BOOL: False}.get(kind, 0.0), kind)
        with self.tape.reopened(self.sides[side]):
            return self.tape.bind(Zero(), kind)

    # --- values

    def join(self, then: Any, orelse: Any, name: str) -> Any:
        """The one value of two, as a result of the branch where they differ."""
        if then is orelse:
            return then
        for side, frame in enumerate(self.sides):
            if frame.diverges:  # its end is never reached: what it left does not matter
                return self._survivor((orelse, then)[side], 1 - side, name)
        a, a_flag = split(then)
        b, b_flag = split(orelse)
        if isinstance(a_flag, Poison) or isinstance(b_flag, Poison):  # of a list that was given up
            return then if isinstance(a_flag, Poison) else orelse
        if a_flag is True and b_flag is True:
            return self._both(a, b, name)
        flag = self._flag(a_flag, b_flag, name)
        if a is UNDEFINED:
            return part(self._half(b, 1, name), flag)
        if b is UNDEFINED:
            return part(self._half(a, 0, name), flag)
        return part(self._both(a, b, name), flag)

    def _survivor(self, value: Any, side: int, name: str) -> Any:
        """What one side left, the end of the other being never reached."""
        held, flag = split(value)
        if held is UNDEFINED:
            return UNDEFINED
        if flag.__class__ is not bool:
            flags: list[Any] = [flag, flag]
            flags[1 - side] = False
            flag = self._flag(*flags, name)  # pyright: ignore[reportCallIssue]  # bound by the session
        return part(self._half(held, side, name), flag)

    def _flag(self, then: Any, orelse: Any, name: str) -> Any:
        if then is True and orelse is False:
            return as_flag(self.tape, self.condition)
        return as_flag(self.tape, self._result(flag_atom(then), flag_atom(orelse), BOOL, f"{name}_bound"))

    def _both(self, a: Any, b: Any, name: str) -> Any:
        if a is b:  # and what the sides have changed in it is joined
            return a
        untold = next((v for v in (a, b) if isinstance(v, Poison) and v.__class__ is not Chosen), None)
        if untold is not None:
            return untold
        if a.__class__ is UninitialisedCarry or b.__class__ is UninitialisedCarry:
            a, b = (v.become(other) if v.__class__ is UninitialisedCarry else v for v, other in ((a, b), (b, a)))
        a, b = widened(read_like(self.tape, a, b), b), widened(read_like(self.tape, b, a), a)
        a, b = optional.alike(self.tape, a, b, lambda side: self.tape.reopened(self.sides[side]))
        a, b = (self._number_like(side, *pair) for side, pair in enumerate(((a, b), (b, a))))
        a_type, b_type = type_of(a), type_of(b)
        if a_type is not None and b_type is not None:
            return self._numbers(a, b, a_type, b_type, name)
        if Chosen in (a.__class__, b.__class__) or are_nodes(a, b):
            return self._chosen(a, b, name)
        if a.__class__ is Array and b.__class__ is Array:
            return self._arrays(a, b, name)
        if StructOfArrays in (a.__class__, b.__class__):
            a, b = (self._listed(side, *pair) for side, pair in enumerate(((a, b), (b, a))))
        parts = self._alike(a, b)
        if parts is not None:
            return self._structures(a, b, parts, name)
        if a.__class__ is b.__class__ and isinstance(a, (str, bytes, NoneType)) and a == b:
            return a
        return self._chosen(a, b, name)

    def _alike(self, a: Any, b: Any) -> list[Any] | None:
        """The parts of two structures that have the same; None where they are not such."""
        with as_left(self.tape, self.sides[0], a), as_left(self.tape, self.sides[1], b):
            if self.tape.sites.watches:
                self.tape.sites.meet(self.tape, a, b)
            return [members(a) or (), members(b) or ()] if members(a) is not None and is_alike(a, b) else None

    def _lists(self, a: Any, b: Any, name: str) -> Any:
        """One of two lists of which one has more items: some may be there."""
        known = self._made.get((id(a), id(b)))
        if known is not None:
            return known[2]
        with as_left(self.tape, self.sides[0], a), as_left(self.tape, self.sides[1], b):
            parts = [[*a], [*b]]
        self.tape.has_grown = True
        made: list[Any] = [self.join(x, y, name) for x, y in zip_longest(*parts, fillvalue=UNDEFINED)]
        self.tape.sites.stands(self.tape, made, a, b)
        self._made[id(a), id(b)] = (a, b, merged(self.tape, made))
        self._objects.append((made, (a, b)))
        self._why = self._why or f"{label(name)} may be one of two after a staged `if`"
        return made

    def _chosen(self, a: Any, b: Any, name: str) -> Any:
        """One of several values of the host that are the same wherever they are used; of others none. What is done with
        it that cannot be staged is refused in words of how it came to be."""
        sides = [choices_of(v) or self._fixed(v, side) for v, side in zip((a, b), self.sides, strict=True)]
        if sides[0] is None or sides[1] is None:
            if a.__class__ is b.__class__ is list:
                return self._lists(a, b, name)
            self.tape.sites.meet(self.tape, a, b, is_last=True)
            return self._poison(name, a, b)
        poison = a if a.__class__ is Chosen else b if b.__class__ is Chosen else self._poison(name, a, b)
        options = all_of(sides[0][0], sides[1][0])
        places = [place_of(each, options) for each in sides[1][0]]
        with self.tape.reopened(self.sides[1]):
            there = at_place(sides[1][1], places)
        position = self._numbers(sides[0][1], there, INT, INT, name)
        return Chosen(self.tape, position, options, None, poison.__rose_why__, poison.__rose_remedy__)

    def _fixed(self, value: Any, side: Frame) -> tuple[Sequence[Any], Any] | None:
        return None if id(value) in side.allocated else fixed(self.tape, value)

    def _number_like(self, side: int, value: Any, like: Any) -> Any:
        """A number that an `Enum` has, where the other side has another number."""
        if value.__class__ is not Chosen or type_of(like) is None or is_member(like):
            return value
        with self.tape.reopened(self.sides[side]):
            return as_number(value)

    def _listed(self, side: int, value: Any, like: Any) -> Any:
        with self.tape.reopened(self.sides[side]):
            return of_list(self.tape, value, like)

    def _numbers(self, a: Any, b: Any, a_type: Scalar, b_type: Scalar, name: str) -> Any:
        if is_member(a) and is_member(b):
            return self._chosen(a, b, name)
        if same_number(a, b):
            return a
        if a is True and b is False:
            return as_flag(self.tape, self.condition)
        kind = a_type
        if a_type is not b_type:
            kinds = {a_type, b_type}
            if kinds != {INT, REAL} and (TAN not in kinds or BOOL in kinds):
                return self._poison(name, a, b)
            kind = REAL if kinds == {INT, REAL} else TAN  # which only a zero can become
        then, orelse = self._atom(0, a, kind), self._atom(1, b, kind)
        if then is None or orelse is None:
            return self._poison(name, a, b)
        made = self._result(then, orelse, kind, name)
        if kind is REAL and a_type is not b_type and isinstance(made, Var):
            self.tape.mixed.add(made)
        return wrap(self.tape, made)

    def _atom(self, side: int, value: Any, kind: Scalar) -> Atom | None:
        """A number as an atom of a type, converted at the end of its side."""
        if value.__class__ in NUMBERS and value.type is kind:
            return value.atom
        with self.tape.reopened(self.sides[side]):
            return ATOMS[kind](self.tape, value)

    def _arrays(self, a: Array, b: Array, name: str) -> Any:
        """One of two arrays: a new one. Whoever writes it, or one of them, must not rely on the others any more."""
        if a.box is b.box and a.axes == b.axes:
            return a
        if a.shape != b.shape or a.type is not b.type:
            return self._poison(name, a, b)
        if a.box is b.box and _are_parallel(a, b):
            return self._view(a, b, name)
        known = self._made.get((id(a.box), id(b.box)))
        if known is not None and a.axes is None and b.axes is None:
            return known[2]
        with self.tape.reopened(self.sides[0]):
            then = variable(a)
        with self.tape.reopened(self.sides[1]):
            orelse = variable(b)
        made = fresh(self.tape, self._result(then, orelse, then.type, name), name)
        merged(self.tape, made.box)
        record_sources(name, made.box, a.box, b.box)
        made.box.readonly = a.box.readonly or b.box.readonly
        made.box.held = a.box.held or b.box.held
        self._made[id(a.box), id(b.box)] = (a, b, made)
        return made

    def _view(self, a: Array, b: Array, name: str, side: int | None = None) -> Array:
        """One of two views of the same array, or that of one side: the places are results of the branch."""

        def place(then: Atom, orelse: Atom) -> Atom:
            if then is orelse and (side is None or isinstance(then, Lit)):
                return then
            pair = [then, orelse]
            if side is not None:
                pair[1 - side] = FIRST
            return self._result(pair[0], pair[1], INT, name)

        pairs = zip(a.axes or (), b.axes or (), strict=True)
        axes = tuple(placed_at(x, place(placed(x), placed(y))) for x, y in pairs)
        return Array(self.tape, a.box, a.shape, a.type, axes)

    def _structures(self, a: Any, b: Any, parts: list[Any], name: str) -> Any:
        known = self._made.get((id(a), id(b)))
        if known is not None:
            return known[2]
        made = merged(self.tape, self._again(a, 0, [self.join(x, y, name) for x, y in zip(*parts, strict=True)]))
        self._made[id(a), id(b)] = (a, b, made)
        if is_mutable(made):
            self.tape.sites.stands(self.tape, made, a, b)
            self._objects.append((made, (a, b)))
            self._why = self._why or f"{label(name)} may be one of two after a staged `if`"
        return made

    def _half(self, value: Any, side: int, name: str) -> Any:
        """A value of one side only, which leaves its block as a result all the same."""
        if value.__class__ is MaybeBound:  # an item of a list
            flags: list[Any] = [False, False]
            flags[side] = value.flag
            return part(self._half(value.value, side, name), self._flag(flags[0], flags[1], name))
        if value.__class__ in NUMBERS:
            kind: Scalar = value.type
            atoms: list[Atom] = [value.atom, value.atom]
            atoms[1 - side] = self._nothing(1 - side, kind)
            return wrap(self.tape, self._result(atoms[0], atoms[1], kind, name))
        if value.__class__ is Array and self.tape.content(value.box) is not None:
            return value if value.axes is None else self._view(value, value, name, side)
        if value.__class__ is Array and value.box in self.sides[side].contents:
            return self._leaving(value, side, name)
        if is_row(value):
            return self._poison(name, value, value)
        if is_from_around(self.tape, value):
            return value  # what the side has changed in it is joined
        with as_left(self.tape, self.sides[side], value):
            inside = members(value)
        if inside is None or not inside:
            return value
        known = self._made.get((id(value), side))
        if known is not None:
            return known[2]
        made = merged(self.tape, self._again(value, side, [self._half(item, side, name) for item in inside]))
        if is_mutable(made):
            self._made[id(value), side] = (value, None, made)
            self._objects.append((made, (UNDEFINED, value) if side else (value, UNDEFINED)))
            self._why = self._why or f"{label(name)} may be one of two after a staged `if`"
        return made

    def _again(self, value: Any, side: int, parts: list[Any]) -> Any:
        """A structure with other parts, as many as a side has left in it."""
        with as_left(self.tape, self.sides[side], value):
            return with_parts(value, parts)

    def _leaving(self, value: Array, side: int, name: str) -> Array:
        """An array that one side has made: a new one for each name, unless they name the same."""
        known = self._made.get((id(value.box), side))
        if known is not None and value.axes is None:
            return known[2]
        with self.tape.reopened(self.sides[side]):
            var = variable(value)
        atoms: list[Atom] = [var, var]
        atoms[1 - side] = self._nothing(1 - side, array(value.shape, value.type))
        made = fresh(self.tape, self._result(atoms[0], atoms[1], var.type, name), name)
        made.box.readonly, made.box.held = value.box.readonly, value.box.held
        made.box.row_of = value.box.row_of
        record_sources(name, made.box, value.box)
        if value.axes is None:
            self._made[id(value.box), side] = (value, None, made)
        return made

    def _poison(self, name: str, a: Any, b: Any) -> Poison:
        if is_row(a) or is_row(b):
            why = f"{label(name)} is an element of a list, and which one only running tells"
            return Poison(self.tape, why, _BY_INDEX)
        one, other = both_described(a, b)
        why = f"{label(name)} is {one} on one side of the `if` and {other} on the other"
        if a is None or b is None:
            return Poison(self.tape, why, _OR_NOTHING)
        if isinstance(a, str) and isinstance(b, str):
            return Poison(self.tape, why, _TEXTS)
        return Poison(self.tape, why, f"make {label(name)} the same kind of value on both sides")

    # --- arrays and cells that were written

    def contents(self) -> None:
        """Join what the sides wrote to arrays and cells of the blocks around."""
        self._check_additions()
        keys = dict.fromkeys([*self.sides[0].contents, *self.sides[1].contents])
        for key in keys:
            before = self.tape.content(key)
            if before is None:
                continue
            then, orelse = (side.contents.get(key, before) for side in self.sides)
            if key.__class__ in (NonlocalCell, AttributeSlot):
                made = self._written[key] = self.join(loaded(then), loaded(orelse), key.name)
                self.tape.has_grown = self.tape.has_grown or (made.__class__ is MaybeBound and _is_item(key))
            else:
                self._written[key] = self._content(key, before, then, orelse)

    def _check_additions(self) -> None:
        """Elements that the sides add to lists and dicts must be the same ones, in the same order."""
        added = [[key for key in side.contents if self._adds(key)] for side in self.sides]
        if any(side.diverges for side in self.sides) or added[0] == added[1]:
            return
        single = [key for key in (*added[0], *added[1]) if key not in added[0] or key not in added[1]]
        if single and all(key.owner.__class__ is list for key in single):
            return
        one = (single or added[0])[0]
        side = self.sides[one not in self.sides[0].contents]
        self.tape.sites.opens(self.tape, one.owner, (one.attribute, loaded(side.contents[one])))
        error = self.tape.fault(
            UnsupportedSyntax,
            f"{described(one.owner)} from outside of a staged `if` gets an element on one side of it alone: its length "
            "would be known only when the code runs",
            facts=self.tape.sites.facts,
            help="let both sides add the same elements in the same order, bind the value to a name and add it after "
            "the `if`, or use an array (`np.zeros(n)`)",
        )
        error.span = one.place or error.span
        raise error

    def _adds(self, key: Any) -> bool:
        """Whether what a side wrote is a new element of a list or a dict."""
        return key.__class__ is AttributeSlot and key.is_element and loaded(self.tape.content(key)) is UNDEFINED

    def _content(self, box: Box, before: Any, then: Any, orelse: Any) -> Any:
        diverges = [side.diverges for side in self.sides]
        if then.__class__ is Invalidated or orelse.__class__ is Invalidated:
            moved = then if then.__class__ is Invalidated else orelse
            return moved if not diverges[0 if moved is then else 1] else (orelse if moved is then else then)
        if before.__class__ is Host:
            before = atom_of(self.tape, box)
        then, orelse = (before if v.__class__ is Host else v for v in (then, orelse))
        if diverges[0] or diverges[1]:
            then, orelse = (before if diverges[0] else then), (before if diverges[1] else orelse)
        return then if then is orelse else self._result(then, orelse, then.type, box.name)

    def emit(self) -> None:
        """Append the branch, unless it does nothing."""
        then, orelse = self.sides
        if then.diverges and orelse.diverges:
            self.tape.frame.diverges = True
        one = self._one_object()
        if then.lets or orelse.lets or self._binders:
            blocks = (Block(side.lets, tuple(r)) for side, r in zip(self.sides, self._results, strict=True))
            self.tape.bind_all(If(self.condition, *blocks), tuple(self._binders), then.place)
        if one is None:
            self.tape.identities.joined(self._objects, self.sides, self._why)
        else:
            self.tape.identities.views(*one, self._why)
        for key, value in self._written.items():
            self.tape.write(key, value)

    def _one_object(self) -> tuple[list[Any], list[Any], list[Any]] | None:
        """The only object that was made, the objects from around that it may be, and its place among these."""
        identities = self.tape.identities
        made, sides = self._objects[-1] if self._objects else (None, (UNDEFINED, UNDEFINED))
        inside = [*objects_in(made)]
        is_one = len(inside) == len(self._objects) and not any(base_of(item.__class__) for item in inside)
        if not is_one:
            return None
        options, at = list[Any](), [0, 0]
        for k, side in enumerate(sides):
            if identities.absent.get(id(side), UNDEFINED) is side:
                continue
            with self.tape.reopened(self.sides[k]):
                found = identities.places([side]) if side is not UNDEFINED else None
                if found is not None:
                    options = all_of(options, found[0])
                    at[k] = at_place(found[1][0], [place_of(each, options) for each in found[0]])
            if found is None:
                return None
        if not options or not all([is_from_around(self.tape, each) for each in options]):
            return None
        return [made], options, [self._numbers(at[0], at[1], INT, INT, "place")]


def _is_item(key: Any) -> bool:
    return key.__class__ is AttributeSlot and key.owner.__class__ is list


def _are_parallel(a: Array, b: Array) -> bool:
    """Whether two views of one array differ at most in where they begin."""
    if a.axes is None or b.axes is None:
        return False
    return [placed_at(entry, FIRST) for entry in a.axes] == [placed_at(entry, FIRST) for entry in b.axes]


def record_sources(name: str, made: Box, *boxes: Box) -> None:
    """Note that `made`, which `name` is bound to, may be one of `boxes`."""
    if name == VALUE:
        made.sources = {made}.union(*(box.sources or {box} for box in boxes))
    else:
        unite({made, *boxes})


_WITHOUT_ARRAYS = NUMBERS | {float, int, bool, str, type(None)}


def arrive(value: Any) -> None:
    """Link the arrays in the result of a function with those that they may be."""
    if value.__class__ is Array:
        if value.box.sources:
            unite(value.box.sources)
            value.box.sources = None
        return
    if value.__class__ in (tuple, list) and _WITHOUT_ARRAYS.issuperset(map(type, value)):
        return
    for item in members(value) or ():
        if item.__class__ not in _WITHOUT_ARRAYS:
            arrive(item)


def unite(boxes: set[Box]) -> None:
    """Note that these may be one array."""
    group: set[Box] = set()
    for box in boxes:
        group |= {box} if box.linked is None else box.linked
    for box in group:
        box.linked = group


def same_number(a: Any, b: Any) -> bool:
    """Whether two numbers are the same constant (zeros by their sign), or the same staged value."""
    if a.__class__ in NUMBERS or b.__class__ in NUMBERS:
        return a.__class__ is b.__class__ and a.atom is b.atom
    if number_kind(a) != number_kind(b):
        return False
    return repr(a) == repr(b) if number_kind(a) == "real" else a == b


def described(value: Any) -> str:
    """A value in the words of an error."""
    if value is UNDEFINED:
        return "unbound"
    if value.__class__ is Array:
        return f"an array of shape {value.shape}"
    if value.__class__ is Chosen:
        return f"one of {', '.join([described(option) for option in value.__rose_options__])}"
    if isinstance(value, NarrowValue):
        return f"a staged number of {value.dtype}" if not value.wide.shape else f"an array of {value.dtype}"
    if value.__class__ in NUMBERS or value.__class__ is Complex:
        return f"a staged {type(value).__name__}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    return with_article(type(value).__name__)


_ELEMENTS = {REAL: "floats", INT: "ints", BOOL: "bools", TAN: "tangents"}


def both_described(a: Any, b: Any) -> tuple[str, str]:
    """Two values in words that differ, where their lengths, keys or parts do."""
    if a.__class__ is b.__class__ is Array and a.shape == b.shape:
        return f"{described(a)} of {_ELEMENTS[a.type]}", f"{described(b)} of {_ELEMENTS[b.type]}"
    if isinstance(a, (tuple, list, dict)) and type(a) is type(b) and len(a) != len(b):
        return f"{described(a)} of {len(a)}", f"{described(b)} of {len(b)}"
    if isinstance(a, dict) and type(a) is type(b) and list(a) != list(b):
        return f"{described(a)} with the keys {_keys_of(a)}", f"one with {_keys_of(b)} (in this order)"
    if isinstance(a, (tuple, list, dict)) and type(a) is type(b):
        keys = list(a) if isinstance(a, dict) else range(len(a))
        for key in keys:
            one, other = both_described(a[key], b[key])
            if one != other:
                return f"{described(a)} with {one} at {key!r}", f"one with {other}"
    return described(a), described(b)


def _keys_of(a: dict[Any, Any]) -> str:
    return ", ".join([repr(key) for key in a])


def differing(before: Any, after: Any, name: str) -> tuple[str, str]:
    """What is said of a name that is one thing before a loop and another after an iteration of it, and what to do."""
    one, other = both_described(before, after)
    why = f"{label(name)} is {one} before the loop and {other} after an iteration of it"
    return why, f"bind {label(name)} to the same kind of value; a host value cannot change in a staged loop"
