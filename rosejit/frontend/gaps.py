"""What goes round a loop, and how names that have no value before it do."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from rosejit.errors import StagingTypeError
from rosejit.frontend.arrays import Array, Box, fresh, placed
from rosejit.frontend.joins import link
from rosejit.frontend.structures import is_row, members, with_parts
from rosejit.frontend.tape import UNDEFINED, Frame, Tape
from rosejit.frontend.unbound import Hole, Poison, as_flag, flag_atom, hint, label
from rosejit.frontend.values import ATOMS, NUMBERS, type_of, wrap
from rosejit.frontend.views import variable
from rosejit.ir.syntax import FALSE, TRUE, Atom, Block, Lit, Var, Zero
from rosejit.ir.types import BOOL, INT, REAL, Scalar, array
from rosejit.ir.walk import free

Finish = Callable[[], Any]
"""Gives the value after the loop, once the results of the loop are there."""


@dataclass(slots=True)
class Carry:
    """One variable that goes round: what it is in the body, what it starts from, what a turn leaves, what comes out."""

    var: Var
    init: Atom
    back: Atom
    out: Var


@dataclass(slots=True)
class Gaps:
    """The variables that go round one loop. A name without a value starts from zeros that nobody reads."""

    tape: Tape
    frame: Frame
    exposed: int
    """How many of the names are read in a turn before they are bound: a change of theirs must be carried."""
    names: tuple[str, ...]
    ran: Callable[[], Any] = lambda: False
    """Whether the loop made a turn at all, asked after it."""
    found: list[Carry] = field(default_factory=list[Carry])
    atoms: dict[Var, Atom] = field(default_factory=dict[Var, Atom])
    """What placeholders stand for that turned out to be no carries."""
    zeros: bool = False
    """Whether a name is zero before the loop: what it is in the body may turn out a tangent."""
    rebound: dict[Box, Box] = field(default_factory=dict[Box, Box])
    """What stands for arrays whose names are other arrays after a turn, and those."""
    peers: dict[Box, tuple[set[Box], set[Box]]] = field(default_factory=dict[Box, tuple[set[Box], set[Box]]])
    """With what the arrays that come out are linked, by what stood for them in the body: where there may have been no
    turn, and where there has been one."""
    placed: dict[Box, Var] = field(default_factory=dict[Box, Var])
    """The boxes of arrays that stand for nothing yet, and their content in the body."""

    def carry(self, var: Var, init: Atom, back: Atom) -> Carry:
        """Let `var` go round."""
        carry = Carry(var, init, back, Var(var.type, var.hint))
        self.found.append(carry)
        return carry

    def used(self) -> dict[Var, None]:
        """The variables that the body reads and does not bind."""
        return free(Block(self.frame.lets, ()))

    def flag(self, was: Any, flag: Any, now: Any) -> Finish:
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
        return lambda: as_flag(self.tape, carry.out)

    def filled(self, held: Any, hole: Any, new: Any, name: str) -> Finish:
        """The value of a name that was unbound before the loop, or may have been in the loop around it."""
        if new is hole:
            self.emptied(held, hole)
            return lambda: held
        inner = hole.become(new) if hole.held is not None else UNDEFINED
        return self._leaf(held.become(new) if held.__class__ is Hole else UNDEFINED, inner, new, name)

    def emptied(self, held: Any, hole: Hole) -> None:
        """A hole that was read and never filled: what it was before the loop, or anything if it was nothing."""
        if hole.held is not None:
            before = held.become(hole.held) if held.__class__ is Hole else UNDEFINED
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

    def _leaf(self, before: Any, p: Any, new: Any, name: str) -> Finish:
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
            return lambda: wrap(self.tape, carry.out)
        if new.__class__ is Array:
            return self._leaf_array(before, p, new, name)
        if is_row(new):
            why = f"{label(name)} is an element of a list that was taken in a loop that is over"
            return lambda: Poison(self.tape, why, "take it again: `items[i]`")
        inside = members(new)
        if not inside:
            return lambda: new
        empty = [UNDEFINED] * len(inside)
        befores, held = (empty if x is UNDEFINED else members(x) or empty for x in (before, p))
        if not len(befores) == len(held) == len(inside):
            self.undecided(name)
        finishes = [self._leaf(b, h, x, name) for b, h, x in zip(befores, held, inside, strict=True)]
        return lambda: with_parts(new, [finish() for finish in finishes])

    def _leaf_array(self, before: Any, p: Any, new: Array, name: str) -> Finish:
        if p is UNDEFINED and self.tape.content(new.box) is not None and not _moves(new):
            return lambda: new  # every turn binds the name to the same array, from outside of the loop
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
            made = fresh(self.tape, carry.out, name)
            link(name, made.box, *self.peers[key][True])
            return made

        return finish

    def undecided(self, name: str) -> NoReturn:
        """Raise: there is nothing that a turn could start from."""
        raise self.tape.fault(
            StagingTypeError,
            f"{label(name)} is read in a staged loop before anything says what it is",
            help=f"bind {label(name)} before the loop",
        )


def _moves(a: Array) -> bool:
    """Whether a view may show another part in each turn."""
    return any(isinstance(placed(entry), Var) for entry in a.axes or ())


def _zero(kind: Scalar) -> Lit:
    return Lit({REAL: 0.0, INT: 0, BOOL: False}.get(kind, 0.0), kind)
