"""Numbers the variables and literals of one function, and says how values go in and out of the numbered slots."""

from collections.abc import Callable
from typing import Any

from rosejit.errors import VerifyError
from rosejit.interp.machine import Frame, fail
from rosejit.interp.values import Data, Handle
from rosejit.ir.failure import index_failure
from rosejit.ir.syntax import Atom, Field, Path, Var
from rosejit.ir.types import REAL, TAN, is_boxed
from rosejit.span import Span

Move = Callable[[Frame], Any]
"""Takes a value out of a frame, for a new owner: a boxed one is consumed."""

Put = Callable[[Frame, Any], None]
"""Gives a value a name: a boxed one gets its owner."""

Walk = Callable[[Frame, Any], tuple[Data, int]]
"""Follows a path into data: to the container of its last step, and the key in it."""


class Slots:
    """`frame` is what an activation starts from: the literals at their slots, slot 0 for the run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.frame: Frame = [None]
        self._of: dict[Var, int] = {}
        self._literals: dict[tuple[Any, str], int] = {}

    def bind(self, var: Var) -> int:
        """A new slot for `var`."""
        if var in self._of:
            raise VerifyError(f"`{var.hint}` is bound twice in `{self.name}`")
        slot = self._of[var] = len(self.frame)
        self.frame.append(None)
        return slot

    def read(self, atom: Atom) -> int:
        """The slot of what `atom` stands for."""
        if isinstance(atom, Var):
            if atom not in self._of:
                raise VerifyError(f"`{atom.hint}` is read in `{self.name}`, but not bound before")
            return self._of[atom]
        key = (atom.type, repr(atom.value))
        if key not in self._literals:
            self._literals[key] = len(self.frame)
            value: Any = atom.value
            self.frame.append(float(value) if atom.type in (REAL, TAN) else value)
        return self._literals[key]

    def move(self, atom: Atom) -> Move:
        """How the value of `atom` is taken."""
        slot = self.read(atom)
        if is_boxed(atom.type):
            return lambda frame: frame[slot].take()
        return lambda frame: frame[slot]

    def moves(self, atoms: tuple[Atom, ...]) -> list[Move]:
        """How the values of `atoms` are taken, in order."""
        return [self.move(a) for a in atoms]

    def put(self, var: Var) -> Put:
        """How a value is bound to `var`."""
        slot, hint = self.bind(var), var.hint
        if is_boxed(var.type):

            def own(frame: Frame, value: Any) -> None:
                frame[slot] = Handle(value, hint)

            return own

        def store(frame: Frame, value: Any) -> None:
            frame[slot] = value

        return store

    def puts(self, variables: tuple[Var, ...]) -> list[Put]:
        """How values are bound to `variables`, in order."""
        return [self.put(v) for v in variables]

    def walk(self, path: Path, checked: bool, span: Span | None) -> Walk:
        """How `path` is followed."""
        steps = [(True, s.number) if isinstance(s, Field) else (False, self.read(s)) for s in path]

        def walk(frame: Frame, data: Any) -> tuple[Data, int]:
            container: Data = [data]
            key = 0
            for is_field, step in steps:
                container = container[key]
                key = step if is_field else frame[step]
                if not 0 <= key < len(container):
                    out_of_range(checked, span, key, len(container))
            return container, key

        return walk


def out_of_range(checked: bool, span: Span | None, index: int, length: int) -> None:
    """Fail as a checked index does; an unchecked one must not come here."""
    if not checked:
        raise VerifyError(f"index {index} is out of range for length {length}, but was said to be proven")
    # the frontend has added the length to a negative index once: it is reported as the user wrote it
    fail(index_failure(span), index - length if index < 0 else index, length)
