"""Arrays of Reals, element by element: loops over shapes, unit vectors, indices from positions."""

from collections.abc import Callable
from math import prod

from rosejit.errors import NotDifferentiable
from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import INT, REAL, Array, Type
from rosejit.ops import PRIMITIVES

Atoms = tuple[ir.Atom, ...]
Body = Callable[[Builder, Atoms], Atoms]


def shape_of(t: Type) -> tuple[int, ...]:
    """The shape of a Real or an array of Reals. Raises `NotDifferentiable` where it depends on the run."""
    shape: list[int] = []
    while isinstance(t, Array):
        if t.length is None:
            raise NotDifferentiable("the Jacobian of an array whose length only the run knows has no shape")
        shape.append(t.length)
        t = t.element
    return tuple(shape)


def size_of(*types: Type) -> int:
    """How many Reals values of these types hold."""
    return sum(prod(shape_of(t)) for t in types)


def nest(b: Builder, shape: tuple[int, ...], body: Body, indices: Atoms = ()) -> Atoms:
    """The results of `body` at every index of `shape`, stacked: loops, the first axis outermost."""
    if len(indices) == len(shape):
        return body(b, indices)
    inner = Builder(b.span)
    index = ir.Var(INT, "i")
    results = nest(inner, shape, body, (*indices, index))
    length = shape[len(indices)]
    types = tuple(Array(length, a.type) for a in results)
    return b.bind_all(ir.Loop(ir.integer(length), index, (), (), (), inner.block(*results)), types, "row")


def sweep(b: Builder, shape: tuple[int, ...], carries: Atoms, body: Callable[[Builder, Atoms, Atoms], Atoms]) -> Atoms:
    """What `body` makes of `carries`, which it changes in place at every index of `shape`."""

    def level(b: Builder, carries: Atoms, indices: Atoms) -> Atoms:
        if len(indices) == len(shape):
            return body(b, indices, carries)
        inner = Builder(b.span)
        index = ir.Var(INT, "i")
        held = tuple(ir.Var(c.type, "whole") for c in carries)
        after = level(inner, held, (*indices, index))
        loop = ir.Loop(ir.integer(shape[len(indices)]), index, held, carries, (), inner.block(*after))
        return b.bind_all(loop, tuple(c.type for c in carries), "whole")

    return level(b, carries, ())


def unit(b: Builder, t: Type, indices: Atoms) -> ir.Atom:
    """The array of type `t` that is 1 at `indices` and 0 elsewhere."""
    if t is REAL:
        return ir.real(1.0)
    start = b.bind(ir.Zero(), t, "zero")
    return b.bind(ir.Update(start, indices, ir.real(1.0), checked=False), t, "unit")


def at(b: Builder, shape: tuple[int, ...], position: ir.Atom) -> Atoms:
    """The indices of the element at a position, counted as the elements lie in memory."""
    if isinstance(position, ir.Lit):
        assert isinstance(position.value, int)
        return tuple(ir.integer(position.value // prod(shape[k + 1 :]) % n) for k, n in enumerate(shape))
    if not shape:
        return ()
    found: list[ir.Atom] = []
    for n in reversed(shape[1:]):
        found.append(b.apply(PRIMITIVES["rem"], position, ir.integer(n), hint="i"))
        position = b.apply(PRIMITIVES["quot"], position, ir.integer(n), hint="i")
    return (position, *reversed(found))


def element(b: Builder, a: ir.Atom, indices: Atoms) -> ir.Atom:
    """The number at `indices`; `a` itself where it is one."""
    return a if not indices else b.bind(ir.Index(a, indices, checked=False), REAL, "y")
