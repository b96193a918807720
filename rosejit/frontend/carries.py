"""Carries what a staged loop changes: placeholders while the body is staged, then what comes in, back and out."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend.arrays import Array, Box, Host, atom_of, fresh, titled
from rosejit.frontend.columns import of_list
from rosejit.frontend.gaps import Carry, Finish, Gaps
from rosejit.frontend.joins import both_shown, link, same_number, shown
from rosejit.frontend.overlaps import Handle, after_a_turn, follow, roots
from rosejit.frontend.structures import is_alike, is_mutable, is_row, members, with_parts
from rosejit.frontend.tape import UNDEFINED, Cell, Moved, Slot, Tape, loaded
from rosejit.frontend.unbound import Hole, Part, Poison, flag_atom, hint, label, part, split
from rosejit.frontend.values import ATOMS, NUMBERS, type_of, wrap
from rosejit.frontend.views import put, store, variable
from rosejit.ir.syntax import Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array


@dataclass(slots=True)
class Carries(Gaps):
    """The changes of one loop. `frame` is its block, closed when `settle` is called."""

    before: tuple[Any, ...] = ()
    held: tuple[Any, ...] = ()
    aliases: dict[Box, tuple[Array, Var]] = field(default_factory=dict[Box, tuple[Array, Var]])
    """The boxes that stand in for arrays whose names are rebound: those arrays, and the content in the body."""
    later: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    # --- entering

    def enter(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the names are bound to in the body."""
        self.before = values
        self.held = tuple(self.placeholder(v, n) for v, n in zip(values, self.names, strict=True))
        return self.held

    def listed(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The names before the loop, with lists of the host as lists that staged loops make where turns leave those;
        None if there are none."""
        made = tuple(of_list(self.tape, v, x) for v, x in zip(self.before, values, strict=True))
        return made if any(a is not b for a, b in zip(made, self.before, strict=True)) else None

    def know(self, slots: Iterable[Slot]) -> None:
        """Let attributes be, in the body, what they are in any turn."""
        for slot in slots:
            before = getattr(slot.owner, slot.attribute, UNDEFINED)
            standing = self.placeholder(before, slot.name)
            self.frame.entries[slot] = (standing, before)
            self.tape.write(slot, standing)

    def placeholder(self, value: Any, name: str) -> Any:
        """What stands for `value` in any turn."""
        kind = type_of(value)
        if kind is not None:
            self.zeros = self.zeros or (value.__class__ not in NUMBERS and value == 0)
            return wrap(self.tape, Var(kind, hint(name)))
        if value.__class__ is Array:
            return self._alias(value, name)
        if value is UNDEFINED:
            return Part(Hole(self.tape, self.frame, name), wrap(self.tape, Var(BOOL, f"{hint(name)}_bound")))
        if value.__class__ is Part:
            flag = value.flag if value.flag is True else wrap(self.tape, Var(BOOL, f"{hint(name)}_bound"))
            return Part(self.placeholder(value.value, name), flag)
        if value.__class__ is Hole:
            return Hole(self.tape, self.frame, name)
        if is_row(value):
            why = f"{label(name)} is an element of a list, and another one in later turns of a staged loop"
            return Poison(self.tape, why, "let the loop carry its index, and take `items[k]` in the loop")
        inside = members(value)
        if not inside:
            return value
        made = with_parts(value, [self.placeholder(item, name) for item in inside])
        return made if any(x is not y for x, y in zip(members(made) or (), inside, strict=True)) else value

    def _alias(self, value: Array, name: str) -> Array:
        var = Var(array(value.shape, value.type), hint(name))
        box = Box(name, value.box.readonly, value.box.held)
        self.frame.contents[box] = var
        self.aliases[box] = (value, var)
        return Array(self.tape, box, value.shape, value.type)

    def untouched(self, contents: dict[Any, Any]) -> bool:
        """Whether `contents`, of the block of this loop, are those of its beginning."""
        for key, value in contents.items():
            if key in self.aliases:
                start = self.aliases[key][1]
            elif key in self.frame.entries:
                start = self.frame.entries[key][0]
            else:
                start = value if self.tape.content(key, self.frame) is None else None
            if value is not start:
                return False
        return True

    # --- after a turn

    def settle(self, values: tuple[Any, ...]) -> list[Finish]:
        """Decide what is carried, given what a turn left in the names. Gives what each name is after the loop."""
        rows = zip(self.before, self.held, values, self.names, strict=True)
        finishes = [self._value(v, p, x, n, k < self.exposed) for k, (v, p, x, n) in enumerate(rows)]
        self._cells()
        if self.aliases or self.placed or self.rebound:
            read = self.used().keys() | {carry.back for carry in self.found}
            self._overlaps(read)
            self._aliases(read)
        self._contents()
        for box, var in self.placed.items():
            if self.frame.contents[box] is not var:
                self.undecided(box.name)
        return finishes

    def _value(self, v: Any, p: Any, x: Any, name: str, exposed: bool) -> Finish:
        """The value after the loop of what was `v` before, `p` in the body and `x` after a turn."""
        if v is UNDEFINED or v.__class__ in (Part, Hole):
            return self._partial(v, p, x, name, exposed)
        if x is UNDEFINED or x.__class__ is Part:
            return self._unbinding(v, x, name, exposed)
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

    def _unchanged(self, v: Any, p: Any) -> Finish:
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

    def _number(self, v: Any, p: Any, x: Any, kind: Scalar, new: Scalar, name: str, exposed: bool) -> Finish:
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
        return lambda: wrap(self.tape, carry.out)

    def _array(self, v: Array, p: Array, x: Array, name: str) -> Finish:
        if x.box is p.box and x.axes is None:
            return self._unchanged(v, p)
        if x.shape != v.shape or x.type is not v.type:
            raise self.tape.fault(
                ShapeError if x.shape != v.shape else StagingTypeError,
                f"{label(name)} is {shown(v)} before the loop and {shown(x)} after a turn of it",
                help="an array that a staged loop rebinds keeps its shape: make it as large as it will be before",
            )
        var = self.aliases[p.box][1]
        self.rebound[p.box] = x.box
        with self.tape.reopened(self.frame):
            back = variable(x)
        carry = self.carry(var, variable(v), back)

        def finish() -> Array:
            made = fresh(self.tape, carry.out, name)
            ran = self.ran() is True
            made.box.readonly = x.box.readonly or ("" if ran else v.box.readonly)
            made.box.held = x.box.held or v.box.held
            link(name, made.box, *self.peers[p.box][ran])
            return made

        return finish

    def _structure(self, v: Any, p: Any, x: Any, name: str, exposed: bool) -> Finish:
        rows = zip(members(v) or (), members(p) or (), members(x) or (), strict=True)
        finishes = [self._value(a, b, c, name, exposed) for a, b, c in rows]

        def finish() -> Any:
            made = with_parts(v, [finish() for finish in finishes])
            if is_mutable(v):
                self.tape.seal(f"{label(name)} may be one of two after a staged loop", v, x, made)
            return made

        return finish

    def _partial(self, v: Any, p: Any, x: Any, name: str, exposed: bool) -> Finish:
        """A name that was unbound before the loop, on some paths at least."""
        held, was = split(v)
        inner, flag = split(p)
        new, now = split(x)
        if x is p:
            return self._unchanged_part(v, p)
        bound = self.flag(was, flag, now)
        if new is UNDEFINED or new is inner:
            new = inner
        if held is UNDEFINED or held.__class__ is Hole:
            value = self.filled(held, inner, new, name)
        else:
            value = self._value(held, inner, new, name, exposed)
        return lambda: part(value(), bound())

    def _unchanged_part(self, v: Any, p: Any) -> Finish:
        held, was = split(v)
        inner, flag = split(p)
        if flag.__class__ is not bool:
            self.atoms[flag.atom] = flag_atom(was)  # pyright: ignore[reportArgumentType, reportAttributeAccessIssue]  # its kind is known here
        if inner.__class__ is Hole:
            self.emptied(held, inner)
        elif inner is not held:
            self._unchanged(held, inner)
        return lambda: v

    def _unbinding(self, v: Any, x: Any, name: str, exposed: bool) -> Finish:
        """A name that was bound before the loop, and that a turn may unbind."""
        why = f"{label(name)} is bound before the loop and may be unbound after a turn of it"
        if exposed:
            raise self.tape.fault(StagingTypeError, why, help=f"do not `del {name}` in a staged loop")
        return lambda: Poison(self.tape, why, f"do not `del {name}` in a staged loop")

    def _poison(self, v: Any, x: Any, name: str, exposed: bool) -> Finish:
        before, after = both_shown(v, x)
        why = f"{label(name)} is {before} before the loop and {after} after a turn of it"
        remedy = f"bind {label(name)} to the same kind of value; a host value cannot change in a staged loop"
        if x.__class__ is Poison:
            why, remedy = x.why, x.remedy
        if exposed:
            raise self.tape.fault(StagingTypeError, why, help=remedy)
        return lambda: Poison(self.tape, why, remedy)

    # --- arrays and cells

    def _overlaps(self, read: set[Any]) -> None:
        """Raise where two names may be one array in some turn, and one is written there."""
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
            self.peers[handle.box] = made | (handle.arrays - lost), made | (after_a_turn(handle, handles) - lost)

    def _handle(self, box: Box, var: Var, start: set[Box], read: bool) -> Handle:
        end = roots(self.rebound[box]) if box in self.rebound else {box}
        written = self.frame.contents[box] is not var
        return Handle(box, start, end, written, written or read)

    def _lost(self, handle: Handle) -> set[Box]:
        """The arrays from outside that turns have written under this name, so that nothing else shows it."""
        frame, direct = self.frame, handle.arrays & self.frame.contents.keys()
        if handle.used and (direct or (handle.written and handle.arrays & frame.touched)):
            self._entangled(handle.box)
        if not handle.written or handle.box not in self.rebound:
            return set()
        why = f"it was changed as {label(handle.box.name)}, which a staged loop then bound to another array"
        self.later += [_loser(self.tape, box, Moved(why)) for box in handle.arrays]
        return handle.arrays

    def _aliases(self, read: set[Any]) -> None:
        """Arrays whose names are bound to the same array after a turn: the placeholder is that array."""
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
            if now.__class__ is Moved:
                put(original, now)
            else:
                self.later.append(_writer(original, self.carry(var, variable(original), now)))

    def _alone(self, original: Array, own: Box, read: set[Any]) -> None:
        """Raise if an array that is written under a rebound name is also reached by another name."""
        others = any(
            array_.box is original.box and box is not own and (var in read or self.frame.contents[box] is not var)
            for box, (array_, var) in self.aliases.items()
        )
        if others or original.box in self.frame.touched or original.box in self.frame.contents:
            self._entangled(original.box)

    def _entangled(self, box: Box) -> None:
        name = label(box.name)
        raise self.tape.type_fault(
            f"{name} is changed in a staged loop under two names",
            f"use one name for {name} inside the loop, or `.copy()`",
        )

    def _contents(self) -> None:
        """What a turn wrote to arrays and cells of the blocks around."""
        for key, now in list(self.frame.contents.items()):
            if key.__class__ in (Cell, Slot):
                continue
            before = self.tape.content(key)
            if before is None or now is before:
                continue
            if now.__class__ is Moved:
                if key in self.frame.touched:
                    raise self.tape.type_fault(f"{titled(key)} cannot be used here: {now.reason}", now.help)
                self.tape.write(key, now)
                continue
            start = atom_of(self.tape, key) if before.__class__ is Host else before
            carry = self.carry(Var(start.type, key.name), start, now)
            self.atoms[start] = carry.var
            self.later.append(_refill(self.tape, key, carry))

    def _cells(self) -> None:
        """What a turn left in the variables that functions share."""
        for cell, (standing, before) in self.frame.entries.items():
            finish = self._value(before, standing, loaded(self.frame.contents[cell]), cell.name, True)
            self.later.append(_rewrite(self.tape, cell, finish))


def _holds_array(value: Any) -> bool:
    return value.__class__ is Array or any(_holds_array(item) for item in members(value) or ())


def _writer(original: Array, carry: Carry) -> Callable[[], None]:
    return lambda: store(original, carry.out)


def _loser(tape: Tape, box: Box, moved: Moved) -> Callable[[], None]:
    return lambda: tape.write(box, moved)


def _refill(tape: Tape, box: Box, carry: Carry) -> Callable[[], None]:
    return lambda: tape.write(box, carry.out)


def _rewrite(tape: Tape, cell: Cell, finish: Finish) -> Callable[[], None]:
    return lambda: tape.write(cell, finish())
