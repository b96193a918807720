"""Loop-carried values of a staged loop: the phi of each name that the body rebinds.

While the body is staged a placeholder (the phi) stands for each number and array that a name holds. After it, a name
that comes back unchanged is no carry: its placeholder is replaced by its value. Others get an initial value, a next
value and a final one. A name without a value before the loop starts from zeros that nobody reads.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import field
from typing import Any

from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.arrays.access import put, store, variable
from rosejit.frontend.arrays.array import Array, Box, Host, atom_of, fresh, titled
from rosejit.frontend.arrays.asarray import read_like
from rosejit.frontend.control import carried_objects, chosen, optional
from rosejit.frontend.control.carry_aliases import Handle, after_an_iteration, follow, roots
from rosejit.frontend.control.join import as_left, differing, record_sources, same_number
from rosejit.frontend.control.undefined import (
    MaybeBound,
    Poison,
    UninitialisedCarry,
    flag_atom,
    hint,
    label,
    part,
    split,
)
from rosejit.frontend.control.uninitialised_carries import Carry, Finaliser, UninitialisedCarries
from rosejit.frontend.soa.struct_of_arrays import of_list
from rosejit.frontend.values.argument_identity import places
from rosejit.frontend.values.complexes import widened
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.pytree import is_alike, is_mutable, is_row, members, objects, with_parts
from rosejit.frontend.values.scalars import ATOMS, NUMBERS, type_of, wrap
from rosejit.frontend.values.tape import (
    UNDEFINED,
    AttributeSlot,
    Invalidated,
    NonlocalCell,
    Tape,
    loaded,
    merged,
)
from rosejit.frontend.values.tries import InVain
from rosejit.ir.syntax import Lit, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array
from rosejit.lazy_dataclass import dataclass


def _is_hole(p: Any) -> bool:
    """Whether what stands for a name in the body stands for one without a beginning."""
    return p.__class__ is MaybeBound and p.value.__class__ is UninitialisedCarry


# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false
@dataclass(slots=True)
class LoopCarries(UninitialisedCarries):
    """The changes of one loop. `frame` is its block, closed when `settle` is called."""

    before: tuple[Any, ...] = ()
    held: tuple[Any, ...] = ()
    later: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    slots: dict[AttributeSlot, Any] = field(default_factory=dict[AttributeSlot, Any])
    """The attributes that iterations change, and what they begin with, where that is not what they are before."""
    again: bool = False
    """Whether an object is changed in place of which the body did not know: it is staged again."""
    owned: dict[int, Any] = field(default_factory=dict[int, Any])
    """By `id`: what stands in the body for objects that nothing else is."""
    began: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])
    """By `id`: with which parts those began."""
    moving: dict[int, Any] = field(default_factory=dict[int, Any])
    """By `id`: the objects that have to be such."""
    counted: bool = True
    """Whether it is a `for`, which ends."""
    tried: Any = None
    """Of a loop that is tried, its place: numbers that the host knows stay what they are, or it was in vain."""
    of_host: list[Var] = field(default_factory=list[Var])
    """What stands in the body for arrays that the host knows before it."""
    changes_hosts: bool = False
    """Whether an iteration changes such an array, or leaves one in a name."""

    two: dict[tuple[tuple[int, str], ...], Callable[[Any, Any], None]] = field(default_factory=dict[Any, Any])
    """Pairs of places in names, by number, in which two objects have to be, and what raises where they are one."""

    # --- entering

    def enter(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the names are bound to in the body."""
        self.before = values
        self.two.clear()
        self.held = tuple(self.placeholder(v, n) for v, n in zip(values, self.names, strict=True))
        return self.held

    def listed(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The names before the loop, with lists of the host as lists that staged loops make where iterations leave
        those, and None as an optional value where they leave values; None if there are none."""
        if self.tape.sites.watches:
            for before, after in zip(self.before, values, strict=True):
                self.tape.sites.meet(self.tape, before, after)
        moved = self._moved(values)
        if moved is not None:
            return moved
        rows = zip(self.before, self.held, values, self.names, strict=True)
        made = tuple([self._begun(v, p, x) if _is_hole(p) else self._listed(v, x, name) for v, p, x, name in rows])
        is_other = any(a is not b for a, b in zip(made, self.before, strict=True))
        for slot, (_, before) in self.frame.entry_values.items():
            if slot in self.slots:
                found = self._listed(before, loaded(self.frame.contents[slot]), slot.name)
                if found is not before:
                    is_other, self.slots[slot] = True, found
        self._require_two(values)
        is_other = is_other or self.refuted(zip(self.before, self.held, values, self.names, strict=True))
        return made if is_other else None

    def take_for_two(self, a: Any, b: Any, require: Callable[[Any, Any], None]) -> bool:
        """Whether what stands for values in the body has two objects in it, which then are two in each iteration."""
        found = {id(each): (k, at) for k, p in enumerate(self.held) for at, each in places("", p)}
        if id(a) not in found or id(b) not in found:
            return False
        self.two.setdefault((found[id(a)], found[id(b)]), require)
        return True

    def _require_two(self, values: tuple[Any, ...]) -> None:
        """Raise if objects that were taken for two are one, before the loop or after an iteration."""
        done = 0
        while done < len(self.two):  # an iteration may leave others of them there
            ((k, at), (m, other)), require = [*self.two.items()][done]
            for row in (self.before, values):
                a, b = dict(places("", row[k])).get(at), dict(places("", row[m])).get(other)
                if a is None or b is None or (a is not b and self.take_for_two(a, b, require)):
                    continue
                require(a, b)
            done += 1

    def _listed(self, before: Any, after: Any, name: str) -> Any:
        if chosen.is_member(before) and type_of(before) is not None:
            before = before if type_of(after) is None or chosen.is_member(after) else before.value
        before = chosen.begun(self.tape, self.frame, before, after, lambda: differing(before, after, name))
        held, _ = optional.alike(self.tape, before, after, lambda _: nullcontext())
        found = of_list(self.tape, widened(read_like(self.tape, held, after), after), after)
        inside = members(found)
        if found is after or not inside or not is_alike(found, after):
            return found
        made = [self._listed(*pair, name) for pair in zip(inside, members(after) or (), strict=True)]
        if all(a is b for a, b in zip(made, inside, strict=True)):
            return found
        if is_mutable(found):
            self.tape.freeze("it may be one of two in a staged loop", found)
        return merged(self.tape, with_parts(found, made))

    def _begun(self, before: Any, p: Any, after: Any) -> Any:
        """A name without a beginning: as an optional value, where the iteration was staged for a value or None, and
        leaves the other."""
        (held, was), hole, new = split(before), p.value, split(after)[0]
        if hole.held is UNDEFINED or new is UNDEFINED or new is hole:
            return before
        kinds = (hole.held.__class__, new.__class__)
        found, _ = optional.alike(self.tape, hole.held, new, lambda _: nullcontext())
        if found.__class__ is not optional.Optional or kinds == (optional.Optional, optional.Optional):
            return before
        made = optional.Optional(self.tape, False, optional.nothing_like(self.tape, found.__rose_held__))
        return MaybeBound(held.become(made) if held.__class__ is UninitialisedCarry else made, was)

    def know(self, slots: dict[AttributeSlot, Any]) -> None:
        """Let attributes be, in the body, what they are in any iteration; with what they begin, if that is known."""
        self.slots = slots
        for slot, begun in slots.items():
            found = slot.read() if begun is None else begun
            before = self.tape.session.captured(found) if is_array(found) else found
            standing = self.placeholder(before, slot.name)
            self.frame.entry_values[slot] = (standing, before)
            self.tape.write(slot, standing)

    def placeholder(self, value: Any, name: str) -> Any:
        """What stands for `value` in any iteration."""
        kind = None if chosen.is_member(value) else type_of(value)  # a member or a number: an iteration tells
        if kind is not None:
            if self.tried is not None and (value.__class__ not in NUMBERS or value.atom.__class__ is Lit):
                return value
            self.zeros = self.zeros or (value.__class__ not in NUMBERS and value == 0)
            return wrap(self.tape, Var(kind, hint(name)))
        if value.__class__ is Array:
            return self._alias(value, name)
        if value is UNDEFINED:
            return MaybeBound(
                UninitialisedCarry(self.tape, self.frame, name), wrap(self.tape, Var(BOOL, f"{hint(name)}_bound"))
            )
        if value.__class__ is MaybeBound:
            flag = value.flag if value.flag is True else wrap(self.tape, Var(BOOL, f"{hint(name)}_bound"))
            return MaybeBound(self.placeholder(value.value, name), flag)
        if value.__class__ is UninitialisedCarry:
            return UninitialisedCarry(self.tape, self.frame, name)
        if is_row(value):
            why = f"{label(name)} is an element of a list, and another one in later iterations of a staged loop"
            return Poison(self.tape, why, "let the loop carry its index, and take `items[k]` in the loop")
        if value.__class__ is chosen.Chosen:
            return chosen.at_position(value, self.placeholder(value.__rose_position__, name))
        inside = members(value)
        if not inside or carried_objects.is_changed_in_place(self.tape, value):
            return value
        return self._holding_placeholders(value, inside, name)

    def _holding_placeholders(self, value: Any, inside: list[Any], name: str) -> Any:
        made = with_parts(value, [self.placeholder(item, name) for item in inside])
        if all(x is y for x, y in zip(members(made) or (), inside, strict=True)):
            return value
        if self.tape.moved.get(id(value)) is value:
            self.owned[id(made)], self.began[id(made)] = made, members(made) or []
            self.frame.allocated[id(made)] = made
        elif is_mutable(value):
            self.stand_ins[id(made)] = made, value
        return merged(self.tape, made)

    def move(self, value: Any) -> None:
        """An iteration changes what stands for `value`, and may leave another object in its place."""
        self.moving[id(value)] = value
        self.again = True

    def _moved(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The names before the loop with copies of the objects that iterations change and exchange: nothing else is one
        of those, and the objects themselves are given up. None if there is nothing to stage again."""
        rows = [*zip(self.before, self.held, values, self.names, strict=True)]
        slots = [(slot, *entry) for slot, entry in self.frame.entry_values.items()]
        rows += [(v, p, loaded(self.frame.contents[slot]), slot.name) for slot, p, v in slots]
        read = [*rows[: self.exposed], *rows[len(self.names) :]]
        if self.owned:
            carried_objects.check_apart(self.tape, self.frame, self.owned, rows, read)
        copy = carried_objects.copier(self.tape, rows, self.moving)
        if copy is None and (self.again or self.frame.unknown_slots):
            return self.before
        if copy is None:
            carried_objects.check_changed(self.tape, self.frame, read)
            return None
        self.slots |= {slot: copy(v) for slot, _, v in slots if slot in self.slots and copy(v) is not v}
        return tuple([copy(v) for v in self.before])

    def joined(self) -> None:
        """Note which objects those that came out may be."""
        if self.objects:
            self.tape.identities.joined(
                self.objects, (self.frame,), "it may be one of two after a staged loop", self.stand_ins
            )

    def _alias(self, value: Array, name: str) -> Array:
        var = Var(array(value.shape, value.type), hint(name))
        if self.tape.content(value.box).__class__ is Host:
            self.of_host.append(var)
        box = Box(name, value.box.readonly, value.box.held)
        self.frame.contents[box] = var
        self.aliases[box] = (value, var)
        merged(self.tape, box)
        return Array(self.tape, box, value.shape, value.type)

    def untouched(self, contents: dict[Any, Any]) -> bool:
        """Whether `contents`, of the block of this loop, are those of its beginning."""
        for key, value in contents.items():
            if key in self.aliases:
                start = self.aliases[key][1]
            elif key in self.frame.entry_values:
                start = self.frame.entry_values[key][0]
            else:
                start = value if self.tape.content(key, self.frame) is None else None
            if value is not start:
                return False
        return True

    # --- after an iteration

    def finish_carries(self, values: tuple[Any, ...]) -> list[Finaliser]:
        """Decide what is carried, given what an iteration left in the names. Gives what each name is after the loop."""
        rows = zip(self.before, self.held, values, self.names, strict=True)
        finishes = [self._value(v, p, x, n, k < self.exposed) for k, (v, p, x, n) in enumerate(rows)]
        self._cells()
        if self.aliases or self.placed or self.rebound:
            read = self.used().keys() | {carry.next for carry in self.carries}
            self._overlaps(read)
            self._aliases(read)
        self._contents()
        for box, var in self.placed.items():
            if self.frame.contents[box] is not var:
                self.undecided(box.name)
        return finishes

    def _value(self, v: Any, p: Any, x: Any, name: str, exposed: bool) -> Finaliser:
        """The value after the loop of what was `v` before, `p` in the body and `x` after an iteration."""
        x = read_like(self.tape, x, v)
        if v is UNDEFINED or v.__class__ in (MaybeBound, UninitialisedCarry):
            return self._partial(v, p, x, name, exposed)
        if v.__class__ is optional.Optional:
            x = optional.alike(self.tape, v, x, lambda _: self.tape.reopened(self.frame))[1]
        if x is UNDEFINED or x.__class__ is MaybeBound:
            return self._unbinding(v, p, name, exposed)
        if v.__class__ is chosen.Chosen and chosen.choices_of(x) is not None:
            return self._choice(v, p, x, name, exposed)
        if (x is p and not self._holds_owned(p)) or (x is v and members(v) and not _holds_array(v)):
            return self._unchanged(v, p)
        kind, new = type_of(v), type_of(x)
        if kind is not None and new is not None:
            return self._number(v, p, x, kind, new, name, exposed)
        if v.__class__ is Array and x.__class__ is Array:
            return self._array(v, p, x, name)
        if members(v) and is_alike(v, x):
            return self._structure(v, p, x, name, exposed)
        if v is x or (v.__class__ is x.__class__ and isinstance(v, (str, bytes)) and v == x):
            return lambda: v
        return self._poison(v, p, x, name, exposed)

    def _holds_owned(self, p: Any) -> bool:
        return bool(self.owned) and any([id(found) in self.owned for found in objects(p)])

    def _choice(self, v: Any, p: Any, x: Any, name: str, exposed: bool) -> Finaliser:
        with self.tape.reopened(self.frame):
            there = chosen.position_in(v, x)
        finish = self._number(v.__rose_position__, p.__rose_position__, there, INT, INT, name, exposed)
        return lambda: chosen.at_position(v, finish())

    def _unchanged(self, v: Any, p: Any) -> Finaliser:
        """The placeholder stands for the value before the loop."""
        if p.__class__ in NUMBERS:
            atom = ATOMS[p.type](self.tape, v)
            assert atom is not None
            self.atoms[p.atom] = atom
        elif p.__class__ is Array:
            return lambda: v  # `_aliases` sees to its content
        else:
            for item, inner in zip(members(v) or (), members(p) or (), strict=False):
                if item is not inner:
                    self._unchanged(item, inner)
        return lambda: v

    def _number(self, v: Any, p: Any, x: Any, kind: Scalar, new: Scalar, name: str, exposed: bool) -> Finaliser:
        if same_number(x, p) or same_number(x, v):
            return self._unchanged(v, p)
        if self.tried is not None and (p.__class__ not in NUMBERS or p.atom.__class__ is Lit):
            raise InVain(self.tried)
        kinds = {kind, new}
        if kind is not new and kinds != {INT, REAL} and (TAN not in kinds or BOOL in kinds):
            return self._poison(v, p, x, name, exposed)
        both = (TAN, TAN) if TAN in kinds else (kind, new)
        init, back = ATOMS[both[0]](self.tape, v), ATOMS[both[1]](self.tape, x)
        if init is None or back is None:
            return self._poison(v, p, x, name, exposed)
        carry = self.carry(p.atom, init, back)
        return lambda: wrap(self.tape, carry.final)

    def _array(self, v: Array, p: Array, x: Array, name: str) -> Finaliser:
        if x.box is p.box and x.axes is None:
            return self._unchanged(v, p)
        if x.shape != v.shape or x.type is not v.type:
            reshaped = x.shape != v.shape
            raise self.tape.fault(
                ShapeError if reshaped else StagingTypeError,
                differing(v, x, name)[0],
                help="an array that a staged loop rebinds keeps its shape: make it as large as it will be before"
                if reshaped
                else "an array that a staged loop rebinds keeps its kind of elements: begin with floats, `a + 0.0`",
            )
        var = self.aliases[p.box][1]
        self.rebound[p.box] = x.box
        self._note_host(self.frame.contents.get(x.box) or self.tape.content(x.box))
        with self.tape.reopened(self.frame):
            back = variable(x)
        carry = self.carry(var, variable(v), back)

        def finish() -> Array:
            made = fresh(self.tape, carry.final, name)
            merged(self.tape, made.box)
            ran = self.ran() is True
            made.box.readonly = x.box.readonly or ("" if ran else v.box.readonly)
            made.box.held = x.box.held or v.box.held
            record_sources(name, made.box, *self.peers[p.box][ran])
            return made

        return finish

    def _structure(self, v: Any, p: Any, x: Any, name: str, exposed: bool) -> Finaliser:
        if p is v:
            carried_objects.refuse_other(self.tape, v, name)
        with as_left(self.tape, self.frame, x):
            begun = self.began[id(p)] if id(p) in self.owned else members(p) or ()
            rows = list(zip(members(v) or (), begun, members(x) or (), strict=True))
        finishes = [self._value(a, b, c, name, exposed) for a, b, c in rows]

        def finish() -> Any:
            made = merged(self.tape, with_parts(v, [finish() for finish in finishes]))
            self.came_out(made, v, x)
            return made

        return finish

    def _partial(self, v: Any, p: Any, x: Any, name: str, exposed: bool) -> Finaliser:
        """A name that was unbound before the loop, on some paths at least."""
        held, was = split(v)
        inner, flag = split(p)
        new, now = split(x)
        if x is p:
            return self._unchanged_part(v, p)
        bound = self.flag(was, flag, now)
        if new is UNDEFINED or new is inner:
            new = inner
        if held is UNDEFINED or held.__class__ is UninitialisedCarry:
            value = self.filled(held, inner, new, name)
        else:
            value = self._value(held, inner, new, name, exposed)
        return lambda: part(value(), bound())

    def _unchanged_part(self, v: Any, p: Any) -> Finaliser:
        held, was = split(v)
        inner, flag = split(p)
        if flag.__class__ is not bool:
            self.atoms[flag.atom] = flag_atom(was)  # pyright: ignore[reportArgumentType, reportAttributeAccessIssue]  # its kind is known here
        if inner.__class__ is UninitialisedCarry:
            self.emptied(held, inner)
        elif inner is not held:
            self._unchanged(held, inner)
        return lambda: v

    def _unbinding(self, v: Any, p: Any, name: str, exposed: bool) -> Finaliser:
        """A name that was bound before the loop, and that an iteration may unbind."""
        why = f"{label(name)} is bound before the loop and may be unbound after an iteration of it"
        if exposed:
            raise self.tape.fault(StagingTypeError, why, help=f"do not `del {name}` in a staged loop")
        self._unchanged(v, p)  # loops inside may begin with it, and no iteration reads it
        return lambda: Poison(self.tape, why, f"do not `del {name}` in a staged loop")

    def _poison(self, v: Any, p: Any, x: Any, name: str, exposed: bool) -> Finaliser:
        self.tape.sites.meet(self.tape, v, x, is_last=True)
        untold = next((value for value in (x, v) if isinstance(value, Poison)), None)
        why, remedy = differing(v, x, name) if untold is None else (untold.__rose_why__, untold.__rose_remedy__)
        if exposed:
            raise self.tape.fault(StagingTypeError, why, help=remedy)
        self._unchanged(v, p)  # loops inside may begin with it, and no iteration reads it
        return lambda: Poison(self.tape, why, remedy)

    # --- arrays and cells

    def _overlaps(self, read: set[Any]) -> None:
        """Raise where two names may be one array in some iteration, and one is written there."""
        if not self.rebound:
            return
        known = [(box, var, roots(original.box)) for box, (original, var) in self.aliases.items()]
        known += [(box, var, set[Box]()) for box, var in self.placed.items()]
        handles = [self._handle(box, var, start, var in read) for box, var, start in known]
        own = {handle.box for handle in handles}
        handles += [Handle(box, set(), roots(end), False, False) for box, end in self.rebound.items() if box not in own]
        for one, other in follow(handles, lambda box: self.tape.content(box) is not None):
            if (one.written and other.used) or (other.written and one.used):
                self._entangled(one.box)
            both = Box()
            one.peers.add(both)
            other.peers.add(both)
        lost = {box for handle in handles for box in self._lost(handle)}
        for handle in handles:
            made = handle.peers | (handle.end - own)
            self.peers[handle.box] = made | (handle.arrays - lost), made | (after_an_iteration(handle, handles) - lost)

    def _note_host(self, held: Any) -> None:
        self.changes_hosts = self.changes_hosts or held.__class__ is Host

    def _handle(self, box: Box, var: Var, start: set[Box], read: bool) -> Handle:
        end = roots(self.rebound[box]) if box in self.rebound else {box}
        written = self.frame.contents[box] is not var
        return Handle(box, start, end, written, written or read)

    def _lost(self, handle: Handle) -> set[Box]:
        """The arrays from outside that iterations have written under this name, so that nothing else shows it."""
        frame, direct = self.frame, handle.arrays & self.frame.contents.keys()
        if handle.used and (direct or (handle.written and handle.arrays & frame.reads_outer)):
            self._entangled(handle.box)
        if not handle.written or handle.box not in self.rebound:
            return set()
        why = f"it was changed as {label(handle.box.name)}, which a staged loop then bound to another array"
        self.later += [_loser(self.tape, box, Invalidated(why)) for box in handle.arrays]
        return handle.arrays

    def _aliases(self, read: set[Any]) -> None:
        """Arrays whose names are bound to the same array after an iteration: the placeholder is that array."""
        for box, (original, var) in self.aliases.items():
            now = self.frame.contents[box]
            if original.box in self.frame.contents and var in read:
                self._entangled(original.box)  # the placeholder does not see what is written to the array itself
            if box in self.rebound:
                continue
            if now is var:
                if var in read:
                    self.atoms[var] = variable(original)
                continue
            self._note_host(now)
            self._alone(original, box, read)
            if now.__class__ is Invalidated:
                put(original, now)
            else:
                self.later.append(_writer(original, self.carry(var, variable(original), now)))

    def _alone(self, original: Array, own: Box, read: set[Any]) -> None:
        """Raise if an array that is written under a rebound name is also reached by another name."""
        same = original.box.linked or {original.box}  # those that may be the same one
        others = any(
            array_.box in same and box is not own and (var in read or self.frame.contents[box] is not var)
            for box, (array_, var) in self.aliases.items()
        )
        if others or not same.isdisjoint(self.frame.reads_outer) or not same.isdisjoint(self.frame.contents):
            self._entangled(original.box)

    def _entangled(self, box: Box) -> None:
        name = label(box.name)
        raise self.tape.type_fault(
            f"{name} is changed in a staged loop under two names",
            f"use one name for {name} inside the loop, or `.copy()`",
        )

    def _contents(self) -> None:
        """What an iteration wrote to arrays and cells of the blocks around."""
        for key, now in list(self.frame.contents.items()):
            if key.__class__ in (NonlocalCell, AttributeSlot):
                continue
            before = self.tape.content(key)
            if before is None or now is before:
                continue
            if now.__class__ is Invalidated:
                if key in self.frame.reads_outer:
                    raise self.tape.type_fault(f"{titled(key)} cannot be used here: {now.reason}", now.help)
                self.tape.write(key, now)
                continue
            self._note_host(before)
            self._note_host(now)
            start = atom_of(self.tape, key) if before.__class__ is Host else before
            carry = self.carry(Var(start.type, key.name), start, now)
            self.atoms[start] = carry.phi
            self.later.append(_refill(self.tape, key, carry))

    def _cells(self) -> None:
        """What an iteration left in the variables that functions share."""
        for cell, (standing, before) in self.frame.entry_values.items():
            finish = self._value(before, standing, loaded(self.frame.contents[cell]), cell.name, True)
            self.later.append(_rewrite(self.tape, cell, finish))


def _holds_array(value: Any) -> bool:
    return value.__class__ is Array or any(_holds_array(item) for item in members(value) or ())


def _writer(original: Array, carry: Carry) -> Callable[[], None]:
    return lambda: store(original, carry.final)


def _loser(tape: Tape, box: Box, moved: Invalidated) -> Callable[[], None]:
    return lambda: tape.write(box, moved)


def _refill(tape: Tape, box: Box, carry: Carry) -> Callable[[], None]:
    return lambda: tape.write(box, carry.final)


def _rewrite(tape: Tape, cell: NonlocalCell, finish: Finaliser) -> Callable[[], None]:
    return lambda: tape.write(cell, finish())
