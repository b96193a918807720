"""Which operations have been done: value numbers of a block and of those around it."""

from collections.abc import Callable
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive

Key = tuple[Any, ...]


class EqualOperations:
    """`known` is the variable that was bound first to each operation, or to what else has a key."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[Key, ir.Var] = {}

    def first(self, binder: ir.Var, op: Primitive, args: tuple[ir.Atom, ...]) -> ir.Var:
        """The variable that was bound to `op` of `args` first: `binder`, where there was none."""
        if any([type(a) is ir.Lit for a in args]):
            return self.known.setdefault((op, *map(_identity, args)), binder)
        return self.known.setdefault((op, args), binder)

    def inside(self, block: ir.Block, sweep: Callable[[ir.Block], ir.Block]) -> ir.Block:
        """What a sweep makes of a block inside another: what becomes known there is forgotten."""
        outside = len(self.known)
        made = sweep(block)
        while len(self.known) > outside:
            self.known.popitem()
        return made


def _identity(a: ir.Atom) -> Any:
    """A key that tells 0.0 from -0.0 and 1 from 1.0 and True."""
    if type(a) is ir.Lit:
        return a.type, a.value or repr(a.value)
    return a
