"""Zeros that nobody reads: arrays of numbers of which loops write each element before anything else is done to them.
Their memory need not be cleared.
"""

from collections import Counter
from math import prod

from rosejit.ir.syntax import Atom, Block, Field, Function, Let, Lit, Loop, Path, Update, Var, Zero
from rosejit.ir.traversal import forms, operands, scopes
from rosejit.ir.types import Array, Scalar, is_boxed
from rosejit.lazy_dataclass import dataclass

CLEARED = 64
"""Bytes of an array up to which a few stores clear it."""

Cells = tuple[int | None, ...]
"""Elements that a loop nest writes: for each axis an index, or None for all."""


def overwritten(f: Function) -> set[Var]:
    """The variables bound to zeros in `f` of which no element is read."""
    assert f.body is not None
    zeros = [v for let in forms(f.body) if isinstance(let.expr, Zero) and _shape(v := let.binders[0])]
    if not zeros:
        return set()
    walk = _Walk()
    walk.block(f.body)
    return {v for v in zeros if _is_whole(_shape(v), walk.written(v, {}).cells)}


def _shape(v: Var) -> tuple[int, ...]:
    """The shape of an array of numbers that is worth looking at; none for all else."""
    t, shape = v.type, list[int]()
    while isinstance(t, Array):
        if t.length is None:
            return ()
        shape.append(t.length)
        t = t.element
    return tuple(shape) if isinstance(t, Scalar) and 8 * prod(shape) > CLEARED else ()


def _is_whole(shape: tuple[int, ...], cells: set[Cells]) -> bool:
    """Whether cells of one kind are all that there are."""
    found = Counter([tuple([k is None for k in at]) for at in cells])
    return any(
        [
            count == prod([n for n, every in zip(shape, whole, strict=True) if not every])
            for whole, count in found.items()
        ]
    )


@dataclass(slots=True)
class _Written:
    """What is written of an array before anything else happens to it, and the name that it has then."""

    cells: set[Cells]
    last: Var


class _Walk:
    """`users` are the lets, and blocks that give it, which name an array, at any depth."""

    def __init__(self) -> None:
        self.users: dict[Atom, list[Let | Block]] = {}

    def block(self, block: Block) -> None:
        """Note who names what in a block."""
        for let in block.lets:
            for a in operands(let.expr):
                self._use(a, let)
            for _, inner in scopes(let.expr):
                self.block(inner)
        for a in block.results:
            self._use(a, block)

    def _use(self, a: Atom, user: Let | Block) -> None:
        if isinstance(a, Var) and is_boxed(a.type):
            self.users.setdefault(a, []).append(user)

    def written(self, v: Var, trips: dict[Atom, int]) -> _Written:
        """What lets write of `v`, one after the other, as long as they do nothing else to it; `trips` are those of the
        loops around, by index."""
        shape, cells = _shape(v), set[Cells]()
        while True:
            users = self.users.get(v, [])
            user = users[0] if len(users) == 1 else None
            e = user.expr if isinstance(user, Let) else None
            if isinstance(user, Let) and isinstance(e, Update) and e.base is v:
                at = _cells(shape, e.path, trips)
                if at is not None:
                    cells.add(at)
                v = user.binders[0]
                continue
            after = self._loop(user, e, v, trips) if isinstance(user, Let) and isinstance(e, Loop) else None
            if after is None:
                return _Written(cells, v)
            cells |= after.cells
            v = after.last

    def _loop(self, let: Let, e: Loop, v: Var, trips: dict[Atom, int]) -> _Written | None:
        """What a loop that carries `v`, and runs, writes of it."""
        if v not in e.inits or not e.constant_trips:
            return None
        k = e.inits.index(v)
        inside = self.written(e.carries[k], {**trips, e.index: e.constant_trips})
        users = self.users.get(inside.last, [])
        if len(users) != 1 or users[0] is not e.body or e.body.results[k] is not inside.last:
            return None
        return _Written(inside.cells, let.binders[k])


def _cells(shape: tuple[int, ...], path: Path, trips: dict[Atom, int]) -> Cells | None:
    """The elements at a path, in all iterations of the loops around; None where that is not known."""
    found: list[int | None] = []
    indices = [step for step in path if isinstance(step, Var)]
    if len(set(indices)) < len(indices):
        return None  # a diagonal
    for n, step in zip(shape, path, strict=False):
        if isinstance(step, Lit) and 0 <= step.value < n:
            found.append(step.value)
        elif not isinstance(step, Field) and trips.get(step) == n:
            found.append(None)
        else:
            return None
    return (*found, *[None] * (len(shape) - len(found)))
