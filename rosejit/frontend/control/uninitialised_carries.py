"""Carries of names that are bound to nothing before a loop: they start from zeros that nobody reads."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any, NoReturn

from rosejit.errors import StagingTypeError
from rosejit.frontend.arrays.access import variable
from rosejit.frontend.arrays.array import Array, Box, fresh
from rosejit.frontend.control import carry_aliases
from rosejit.frontend.control.join import as_left, is_from_around, record_sources
from rosejit.frontend.control.undefined import (
    Poison,
    UninitialisedCarry,
    as_flag,
    flag_atom,
    hint,
    label,
    split,
)
from rosejit.frontend.values.pytree import is_mutable, is_row, members, with_parts
from rosejit.frontend.values.scalars import ATOMS, NUMBERS, type_of, wrap
from rosejit.frontend.values.tape import (
    UNDEFINED,
    Frame,
    Tape,
    merged,
)
from rosejit.ir.syntax import FALSE, TRUE, Atom, Block, Let, Lit, Var, Zero
from rosejit.ir.traversal import free
from rosejit.ir.types import BOOL, INT, REAL, Scalar, array
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
    objects: list[tuple[Any, tuple[Any, Any]]] = field(default_factory=list[tuple[Any, tuple[Any, Any]]])
    """Structures that come out, each with what it was before, and after an iteration."""
    aliases: dict[Box, tuple[Array, Var]] = field(default_factory=dict[Box, tuple[Array, Var]])
    """The boxes that stand in for arrays whose names are rebound: those arrays, and the content in the body."""
    is_rotated: bool = False
    """Whether it is a `while` that begins with its body: it is not staged again."""
    stand_ins: dict[int, tuple[Any, Any]] = field(default_factory=dict[int, tuple[Any, Any]])
    """By `id`: what stands in the body for objects that can be changed, and those."""

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
            if held.box in self.placed:
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
            self.came_out(made, UNDEFINED, new)
            return made

        return finish

    def _leaf_array(self, before: Any, p: Any, new: Array, name: str) -> Finaliser:
        if p is UNDEFINED and self.tape.content(new.box) is not None and not carry_aliases.moves(new):
            return lambda: new  # every iteration binds the name to the same array, from outside of the loop
        if p.__class__ is Array and p.box not in self.placed and are_one(p, new):
            original = self.aliases[p.box][0] if p.box in self.aliases else new
            return lambda: original if new.axes is None else replaced(new, original.box)
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

    def is_same(self, value: Array, name: str) -> bool:
        """Whether a name without a beginning that an iteration binds to an array is taken to be that one in the later
        ones."""
        if self.is_rotated or (self.frame.place, name) in self.tape.copied:
            return False
        frames = self.tape.frames
        if self.frame not in frames or carry_aliases.moves(value):
            return False
        if value.box in self.aliases:
            return value.axes is None or self.aliases[value.box][0].axes is None
        return self.tape.content(value.box, self.frame) is not None

    def refuted(self, rows: Iterable[tuple[Any, Any, Any, str]]) -> bool:
        """Whether a name was taken to be bound to one array in all iterations, and is not: of names, what they hold
        before the loop, in an iteration and after it. The loop is then staged again, in which it is bound to copies."""
        rows = [*rows]
        kept = {p.box for _, p, x, _ in rows for p, x in _arrays_of(p, x) if p.box in self.aliases and are_one(p, x)}
        copied = [name for v, p, x, name in rows if self._is_refuted(split(v)[0], split(p)[0], split(x)[0], kept)]
        self.tape.copied |= {(self.frame.place, name) for name in copied}
        return bool(copied)

    def _is_refuted(self, before: Any, hole: Any, new: Any, kept: set[Box]) -> bool:
        if hole.__class__ is not UninitialisedCarry or hole.held is UNDEFINED or new is hole:
            return False
        around = before.become(new) if before.__class__ is UninitialisedCarry else new
        for same in (new, around):
            for p, x in _arrays_of(hole.held, same):
                if p.box not in self.placed and not (are_one(p, x) and (p.box not in self.aliases or p.box in kept)):
                    return True
        return False

    def came_out(self, made: Any, before: Any, after: Any) -> None:
        """Note a structure that is what it was `before` the loop, or what an iteration has left."""
        if is_mutable(made):
            self.objects.append((made, (before, after)))

    def undecided(self, name: str) -> NoReturn:
        """Raise: there is nothing that an iteration could start from."""
        raise self.tape.fault(
            StagingTypeError,
            f"{label(name)} is read in a staged loop before anything says what it is",
            help=f"bind {label(name)} before the loop",
        )


def _arrays_of(p: Any, x: Any) -> Iterator[tuple[Array, Any]]:
    """The arrays in a structure, each with what is in its place in another."""
    if p.__class__ is Array:
        yield p, x
        return
    inside = [*(members(x) or ())]
    for k, item in enumerate(members(p) or ()):
        yield from _arrays_of(item, inside[k] if k < len(inside) else None)


def are_one(p: Array, x: Any) -> bool:
    """Whether two arrays are the same one, or the same part of one."""
    return x.__class__ is Array and x.box is p.box and x.axes == p.axes


def replaced(part: Array, box: Box) -> Array:
    """The same part of another array."""
    return Array(part.tape, box, part.shape, part.type, part.axes)


def _zero(kind: Scalar) -> Lit:
    return Lit({REAL: 0.0, INT: 0, BOOL: False}.get(kind, 0.0), kind)
