"""Lists of the host that every iteration of a rolled loop appends one item to: the items are kept in an array, by the
number of the iteration, and are appended to the list after the loop."""

# Values of users are of any type: what they are is asked while staging.

from typing import Any

from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.getitem import get, set_
from rosejit.frontend.values.scalars import Int
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Lit, Var
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

_DTYPES: dict[Scalar, str] = {REAL: "float64", INT: "int64", BOOL: "bool"}


@dataclass(slots=True)
class GrowingList:
    """A list, and its items to come: numbers or arrays of a kind, or `known` ones of the host, one an iteration."""

    items: list[Any]
    kind: Scalar = REAL
    shape: tuple[int, ...] = ()
    known: list[Any] | None = None
    held: Array | None = None
    """What the items are kept in."""
    index: Var | None = None

    def open(self, tape: Tape, trips: Atom, index: Var) -> None:
        """Make the array, before the loop with that index."""
        self.index = index
        if self.known is None:
            assert isinstance(trips, Lit)
            length = trips.value
            self.held = of_host(tape, np.zeros((length, *self.shape), _DTYPES[self.kind]), "items")

    def put(self, tape: Tape, item: Any) -> None:
        """Append, in the body of the loop."""
        if self.held is not None:
            assert self.index is not None
            set_(self.held, Int(tape, self.index, 0), item)

    def close(self, tape: Tape, backwards: bool) -> None:
        """Append the items to the list, after the loop."""
        found = self.known
        if self.held is not None:
            found = [get(self.held, k) for k in range(self.held.shape[0])]
            found = found[::-1] if backwards else found
        for item in found or ():
            tape.session.hooks.containers.append(self.items, item)
