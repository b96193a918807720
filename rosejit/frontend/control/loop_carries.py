"""Loop-carried values of a staged loop: the phi of each name that the body rebinds.

While the body is staged a placeholder (the phi) stands for each number and array that a name holds. After it, a name
that comes back unchanged is no carry: its placeholder is replaced by its value. Others get an initial value, a next
value and a final one. A name without a value before the loop starts from zeros that nobody reads.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import field
from typing import Any, NoReturn

from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.arrays.access import put, store, variable
from rosejit.frontend.arrays.array import Array, Box, Host, atom_of, fresh, titled
from rosejit.frontend.arrays.asarray import read_like
from rosejit.frontend.control import carry_aliases, chosen, optional
from rosejit.frontend.control.carry_aliases import Handle, after_an_iteration, follow, roots
from rosejit.frontend.control.join import as_left, differing, is_from_around, record_sources, same_number
from rosejit.frontend.control.undefined import (
    MaybeBound,
    Poison,
    UninitialisedCarry,
    as_flag,
    flag_atom,
    hint,
    label,
    part,
    split,
)
from rosejit.frontend.soa.struct_of_arrays import of_list
from rosejit.frontend.values.complexes import widened
from rosejit.frontend.values.host_scalars import is_array
from rosejit.frontend.values.pytree import is_alike, is_mutable, is_row, members, with_parts
from rosejit.frontend.values.scalars import ATOMS, NUMBERS, type_of, wrap
from rosejit.frontend.values.tape import (
    UNDEFINED,
    AttributeSlot,
    Frame,
    Invalidated,
    NonlocalCell,
    Tape,
    loaded,
    merged,
)
from rosejit.ir.syntax import FALSE, TRUE, Atom, Block, Let, Lit, Var, Zero
from rosejit.ir.traversal import free
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array
from rosejit.lazy_dataclass import dataclass

# Values of users are of any type: what they are is asked while staging.
Finaliser = Callable[[], Any]
"""Gives the value after the loop, once the results of the loop are there."""


@dataclass(slots=True)
class Carry:
    """One loop-carried variable: what it is in the body, what it starts from, what an iteration leaves, what comes
    out.
    """

    phi: Var
    init: Atom
    next: Atom
    final: Var


@dataclass(slots=True)
class UninitialisedCarries:
    """The loop-carried variables of one loop. A name without a value starts from zeros that nobody reads."""

    tape: Tape
    frame: Frame
    exposed: int
    """How many of the names are read in an iteration before they are bound: a change of theirs must be carried."""
    names: tuple[str, ...]
    ran: Callable[[], Any] = lambda: False
    """Whether the loop made an iteration at all, asked after it."""
    carries: list[Carry] = field(default_factory=list[Carry])
    atoms: dict[Var, Atom] = field(default_factory=dict[Var, Atom])
    """What placeholders stand for that turned out to be no carries."""
    zeros: bool = False
    """Whether a name is zero before the loop: what it is in the body may turn out a tangent."""
    rebound: dict[Box, Box] = field(default_factory=dict[Box, Box])
    """What stands for arrays whose names are other arrays after an iteration, and those."""
    peers: dict[Box, tuple[set[Box], set[Box]]] = field(default_factory=dict[Box, tuple[set[Box], set[Box]]])
    """With what the arrays that come out are linked, by what stood for them in the body: where there may have been no
    iteration, and where there has been one."""
    placed: dict[Box, Var] = field(default_factory=dict[Box, Var])
    """The boxes of arrays that stand for nothing yet, and their content in the body."""
    test: list[Let] = field(default_factory=list[Let])
    """The test of a `while`, once it is staged; the frame holds the body."""

    def carry(self, var: Var, init: Atom, back: Atom) -> Carry:
        """Let the loop carry `var`."""
        carry = Carry(var, init, back, Var(var.type, var.hint))
        self.carries.append(carry)
        return carry

    def used(self) -> dict[Var, None]:
        """The variables that the test and the body read and do not bind."""
        return free(Block([*self.test, *self.frame.lets], ()))

    def flag(self, was: Any, flag: Any, now: Any) -> Finaliser:
        """Whether the name is bound after the loop."""
        if was is True and now is True:
            return lambda: True
        if now is True and was is False:
            if flag.__class__ is not bool and flag.atom in self.used():
                self.carry(flag.atom, FALSE, TRUE)
            return self.ran
        if now is flag:
            self.atoms[flag.atom] = flag_atom(was)
            return lambda: was
        var = flag.atom if flag.__class__ is not bool else Var(BOOL, "bound")
        carry = self.carry(var, flag_atom(was), flag_atom(now))
        return lambda: as_flag(self.tape, carry.final)

    def filled(self, held: Any, hole: Any, new: Any, name: str) -> Finaliser:
        """The value of a name that was unbound before the loop, or may have been in the loop around it."""
        if new is hole:
            self.emptied(held, hole)
            return lambda: held
        before = held.become(new) if held.__class__ is UninitialisedCarry else UNDEFINED
        return self._leaf(before, hole.held, new, name)

    def emptied(self, held: Any, hole: UninitialisedCarry) -> None:
        """A hole that was read and never filled: what it was before the loop, or anything if it was nothing."""
        if hole.held is not UNDEFINED:
            before = held.become(hole.held) if held.__class__ is UninitialisedCarry else UNDEFINED
            self._substitute(before, hole.held)

    def _substitute(self, before: Any, held: Any) -> None:
        if held.__class__ in NUMBERS:
            atom = _zero(held.type) if before is UNDEFINED else ATOMS[held.type](self.tape, before)
            assert atom is not None
            self.atoms[held.atom] = atom
        elif held.__class__ is Array:
            self.atoms[self.placed[held.box]] = self._array_before(before, held)
        else:
            rows = members(held) or []
            befores = [UNDEFINED] * len(rows) if before is UNDEFINED else members(before) or []
            for one, inner in zip(befores, rows, strict=True):
                self._substitute(one, inner)

    def _array_before(self, before: Any, like: Array) -> Var:
        if before is UNDEFINED:
            return self.tape.bind(Zero(), array(like.shape, like.type))
        return variable(before)

    def _leaf(self, before: Any, p: Any, new: Any, name: str) -> Finaliser:
        """The carry of a value without a beginning: zeros that nobody reads, or what the loop around carries."""
        kind = type_of(new)
        if kind is not None:
            if p is not UNDEFINED and (p.__class__ not in NUMBERS or {kind, p.type} not in ({kind}, {INT, REAL})):
                self.undecided(name)
            init = _zero(kind) if before is UNDEFINED else ATOMS[before.type](self.tape, before)
            back = ATOMS[kind](self.tape, new)
            assert init is not None
            assert back is not None
            carry = self.carry(Var(kind, hint(name)) if p is UNDEFINED else p.atom, init, back)
            return lambda: wrap(self.tape, carry.final)
        if new.__class__ is Array:
            return self._leaf_array(before, p, new, name)
        if is_row(new):
            why = f"{label(name)} is an element of a list that was taken in a loop that is over"
            return lambda: Poison(self.tape, why, "take it again: `items[i]`")
        if p is UNDEFINED and is_from_around(self.tape, new):
            return lambda: new
        with as_left(self.tape, self.frame, new):
            inside = members(new)
        if p is not UNDEFINED and not carry_aliases.is_formed(p, new, inside):
            self.undecided(name)
        if not inside:
            return lambda: new
        empty = [UNDEFINED] * len(inside)
        befores, held = (empty if x is UNDEFINED else members(x) or empty for x in (before, p))
        if not len(befores) == len(held) == len(inside):
            self.undecided(name)
        finishes = [self._leaf(b, h, x, name) for b, h, x in zip(befores, held, inside, strict=True)]

        def finish() -> Any:
            made = merged(self.tape, with_parts(new, [finish() for finish in finishes]))
            if is_mutable(new) and is_from_around(self.tape, new):
                self.tape.freeze(f"{label(name)} may be one of two after a staged loop", new, made)
            return made

        return finish

    def _leaf_array(self, before: Any, p: Any, new: Array, name: str) -> Finaliser:
        if p is UNDEFINED and self.tape.content(new.box) is not None and not carry_aliases.moves(new):
            return lambda: new  # every iteration binds the name to the same array, from outside of the loop
        if p is not UNDEFINED and (p.__class__ is not Array or p.shape != new.shape or p.type is not new.type):
            self.undecided(name)
        with self.tape.reopened(self.frame):
            back = variable(new)
        var = Var(back.type, hint(name)) if p is UNDEFINED else self.placed[p.box]
        key = Box(name) if p is UNDEFINED else p.box
        self.rebound[key] = new.box
        init = self._array_before(before, new)
        carry = self.carry(var, init, back)

        def finish() -> Array:
            made = fresh(self.tape, carry.final, name)
            merged(self.tape, made.box)
            record_sources(name, made.box, *self.peers[key][True])
            return made

        return finish

    def undecided(self, name: str) -> NoReturn:
        """Raise: there is nothing that an iteration could start from."""
        raise self.tape.fault(
            StagingTypeError,
            f"{label(name)} is read in a staged loop before anything says what it is",
            help=f"bind {label(name)} before the loop",
        )


def _is_hole(p: Any) -> bool:
    """Whether what stands for a name in the body stands for one without a beginning."""
    return p.__class__ is MaybeBound and p.value.__class__ is UninitialisedCarry


def _zero(kind: Scalar) -> Lit:
    return Lit({REAL: 0.0, INT: 0, BOOL: False}.get(kind, 0.0), kind)


# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false
@dataclass(slots=True)
class LoopCarries(UninitialisedCarries):
    """The changes of one loop. `frame` is its block, closed when `settle` is called."""

    before: tuple[Any, ...] = ()
    held: tuple[Any, ...] = ()
    aliases: dict[Box, tuple[Array, Var]] = field(default_factory=dict[Box, tuple[Array, Var]])
    """The boxes that stand in for arrays whose names are rebound: those arrays, and the content in the body."""
    later: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    slots: dict[AttributeSlot, Any] = field(default_factory=dict[AttributeSlot, Any])
    """The attributes that iterations change, and what they begin with, where that is not what they are before."""
    stand_ins: dict[int, tuple[Any, Any]] = field(default_factory=dict[int, tuple[Any, Any]])
    """By `id`: what stands in the body for objects that can be changed, and those."""
    counted: bool = True
    """Whether it is a `for`, which ends."""

    # --- entering

    def enter(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the names are bound to in the body."""
        self.before = values
        self.held = tuple(self.placeholder(v, n) for v, n in zip(values, self.names, strict=True))
        return self.held

    def listed(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The names before the loop, with lists of the host as lists that staged loops make where iterations leave
        those, and None as an optional value where they leave values; None if there are none."""
        rows = zip(self.before, self.held, values, self.names, strict=True)
        made = tuple([self._begun(v, p, x) if _is_hole(p) else self._listed(v, x, name) for v, p, x, name in rows])
        is_other = any(a is not b for a, b in zip(made, self.before, strict=True))
        for slot, (_, before) in self.frame.entry_values.items():
            if slot in self.slots:
                found = self._listed(before, loaded(self.frame.contents[slot]), slot.name)
                if found is not before:
                    is_other, self.slots[slot] = True, found
        return made if is_other else None

    def _listed(self, before: Any, after: Any, name: str) -> Any:
        before = chosen.begun(self.tape, before, after, lambda: differing(before, after, name))
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
        kind = type_of(value)
        if kind is not None:
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
        if not inside or carry_aliases.is_changed_in_place(self.tape, value):
            return value
        return self._holding_placeholders(value, inside, name)

    def _holding_placeholders(self, value: Any, inside: list[Any], name: str) -> Any:
        made = with_parts(value, [self.placeholder(item, name) for item in inside])
        if all(x is y for x, y in zip(members(made) or (), inside, strict=True)):
            return value
        if is_mutable(value):
            self.stand_ins[id(made)] = made, value
        return merged(self.tape, made)

    def _alias(self, value: Array, name: str) -> Array:
        var = Var(array(value.shape, value.type), hint(name))
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
            return self._unbinding(v, x, name, exposed)
        if v.__class__ is chosen.Chosen and chosen.choices_of(x) is not None:
            return self._choice(v, p, x, name, exposed)
        if x is p or (x is v and members(v) and not _holds_array(v)):
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
        return self._poison(v, x, name, exposed)

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
        kinds = {kind, new}
        if kind is not new and kinds != {INT, REAL} and (TAN not in kinds or BOOL in kinds):
            return self._poison(v, x, name, exposed)
        both = (TAN, TAN) if TAN in kinds else (kind, new)
        init, back = ATOMS[both[0]](self.tape, v), ATOMS[both[1]](self.tape, x)
        if init is None or back is None:
            return self._poison(v, x, name, exposed)
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
            carry_aliases.refuse_other(self.tape, v, name)
        with as_left(self.tape, self.frame, x):
            rows = list(zip(members(v) or (), members(p) or (), members(x) or (), strict=True))
        finishes = [self._value(a, b, c, name, exposed) for a, b, c in rows]

        def finish() -> Any:
            made = merged(self.tape, with_parts(v, [finish() for finish in finishes]))
            if is_mutable(v):
                self.tape.freeze(f"{label(name)} may be one of two after a staged loop", v, x, made)
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

    def _unbinding(self, v: Any, x: Any, name: str, exposed: bool) -> Finaliser:
        """A name that was bound before the loop, and that an iteration may unbind."""
        why = f"{label(name)} is bound before the loop and may be unbound after an iteration of it"
        if exposed:
            raise self.tape.fault(StagingTypeError, why, help=f"do not `del {name}` in a staged loop")
        return lambda: Poison(self.tape, why, f"do not `del {name}` in a staged loop")

    def _poison(self, v: Any, x: Any, name: str, exposed: bool) -> Finaliser:
        why, remedy = differing(v, x, name)
        if isinstance(x, Poison):
            why, remedy = x.__rose_why__, x.__rose_remedy__
        if exposed:
            raise self.tape.fault(StagingTypeError, why, help=remedy)
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
