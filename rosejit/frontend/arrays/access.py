"""Turns arrays and parts of arrays into variables of the IR: reads, copies, loops over elements, updates."""

from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays.array import (
    FIRST,
    Anchor,
    Array,
    Axes,
    Box,
    Fixed,
    Host,
    Run,
    atom_of,
    content,
    fresh,
    host_data,
    is_anchored,
    of_host,
    shape_of,
)
from rosejit.frontend.arrays.row_aliases import showing
from rosejit.frontend.values.scalars import P, wrap
from rosejit.frontend.values.tape import Invalidated, Tape
from rosejit.ir.syntax import Atom, Block, Copy, Index, Lit, Loop, Path, Update, Var
from rosejit.ir.types import INT, Type, array

Indices = tuple[Atom, ...]


def is_prefix(a: Array) -> int | None:
    """How many indices of the base a view fixes, if it shows all the rest as it lies; else None."""
    if a.axes is None:
        return 0
    fixed = 0
    while fixed < len(a.axes) and isinstance(a.axes[fixed], Fixed):
        fixed += 1
    rest = a.axes[fixed:]
    lengths = base_lengths(a)[fixed:]
    whole = all(entry == Run(k) and a.shape[k] == lengths[k] for k, entry in enumerate(rest))
    return fixed if whole and len(rest) == a.ndim else None


def base_lengths(a: Array) -> tuple[int, ...]:
    """The shape of the array that `a` is a view of."""
    held = content(a.tape, a.box)
    return held.data.shape if held.__class__ is Host else shape_of(held.type)[0]


def whole_axes(a: Array) -> Axes:
    """How the dimensions of the base and those of `a` belong together."""
    return tuple(Run(k) for k in range(a.ndim)) if a.axes is None else a.axes


def base(a: Array) -> tuple[Var, Axes]:
    """A variable to index and the dimensions that are left to index in it."""
    atom = atom_of(a.tape, a.box)
    axes = whole_axes(a)
    if a.anchor is not None and is_anchored(a, atom):
        return a.anchor.var, axes[a.anchor.fixed :]
    return atom, axes


def path(a: Array, axes: Axes, indices: Indices) -> Path:
    """The indices of the base for the element of `a` at `indices`, which are in range."""
    return tuple(e.at if isinstance(e, Fixed) else along(a.tape, e, indices[e.axis]) for e in axes)


def along(tape: Tape, run: Run, k: Atom) -> Atom:
    """The index of the base for index `k` of a dimension of a view, which is known not to overflow."""
    start = run.start
    if isinstance(k, Lit):
        k = Lit(run.step * int(k.value or 0), INT)
    elif run.step != 1:
        k = tape.apply(P["wmul"], Lit(run.step, INT), k)
    if isinstance(k, Lit) and isinstance(start, Lit):
        return Lit(int(start.value or 0) + int(k.value or 0), INT)
    if FIRST in (start, k):
        return k if start == FIRST else start
    return tape.apply(P["wadd"], k, start)


def element(a: Array, indices: Indices) -> Atom:
    """The element at indices that are in range."""
    var, axes = base(a)
    at = path(a, axes, indices)
    return a.tape.bind(Index(var, at, checked=False), a.type) if at else var


def variable(a: Array) -> Var:
    """A variable that holds exactly `a`: the content, a view of it, or a copy of a view that skips."""
    if a.axes is None:
        return atom_of(a.tape, a.box)
    fixed = is_prefix(a)
    if fixed is None:
        return gathered(a)
    var, axes = base(a)
    at = tuple(entry.at for entry in axes if isinstance(entry, Fixed))
    if not at:
        return var
    row = a.tape.bind(Index(var, at, checked=False), array(a.shape, a.type), "row")
    a.anchor = Anchor(atom_of(a.tape, a.box), row, fixed, a.tape.frame, a.tape.frame.epoch)
    return row


def owned(a: Array) -> Var:
    """A variable with the elements of `a` that nothing else holds."""
    if is_prefix(a) is None:
        return gathered(a)
    return a.tape.bind(Copy(variable(a)), array(a.shape, a.type))


def gathered(a: Array) -> Var:
    """The elements of `a` in an array of their own, one by one."""
    atom_of(a.tape, a.box)
    made = build(a.tape, a.shape, a.type, lambda indices: element(a, indices))
    assert isinstance(made, Var)
    return made


def copy(a: Array) -> Array:
    """A new array with the same elements."""
    data = host_data(a)
    if data is not None:
        return of_host(a.tape, data.copy())
    return fresh(a.tape, owned(a) if a.shape else element(a, ()))  # pyright: ignore[reportArgumentType]  # without dimensions a number


def build(tape: Tape, shape: tuple[int, ...], kind: Type, make: Callable[[Indices], Atom]) -> Atom:
    """The array of that shape whose elements `make` stages, given their indices."""

    def level(depth: int, indices: Indices) -> Atom:
        if depth == len(shape):
            return make(indices)
        index = Var(INT, "i")
        with tape.block() as lets:
            made = level(depth + 1, (*indices, index))
        body = Block(lets, (made,))
        return tape.bind(Loop(Lit(shape[depth], INT), index, (), (), (), body), array(shape[depth:], kind))

    return level(0, ())


# --- writing


def check_writable(a: Array) -> None:
    """Raise if the array may not be written."""
    if a.box.readonly:
        raise a.tape.type_fault(a.box.readonly, "write to a copy: `y = x.copy()`")
    if a.box.held:
        raise a.tape.type_fault(a.box.held, "put a copy there: `.copy()`")


def _another(box: Box) -> str:
    return f"`{box.name}`, which may be the same array," if box.name != "array" else "another that may be the same one"


def put(a: Array, value: Any, in_place: bool = True) -> None:
    """Replace the content of the box of `a`; arrays that may be the same one are lost.

    Unless `in_place`, another array has taken the place of a row of a list: the one that was there is as it was.
    """
    box = a.box
    a.tape.write(box, value)
    if box in a.tape.updated.shown:
        a.tape.updated.overwritten[value] = a.tape.updated.shown[box]
    same = box.linked or {box}
    for other in same:
        if other is not box:
            a.tape.write(other, Invalidated(f"{_another(box)} was changed"))
    for other in showing(same) if in_place else ():
        a.tape.write(other, Invalidated("an array that a list holds was changed", "put a copy in the list: `.copy()`"))


def store(a: Array, value: Atom, checked: bool = False, in_place: bool = True) -> None:
    """Write a number to the element that `a` shows, or an array of its shape; `checked`: its indices are to be."""
    var = atom_of(a.tape, a.box)
    axes = whole_axes(a)
    fixed = is_prefix(a)
    if not axes or (fixed == 0 and a.ndim):
        put(a, value, in_place)
    elif fixed is not None:
        at = tuple(entry.at for entry in axes if isinstance(entry, Fixed))
        put(a, a.tape.bind(Update(var, at, value, checked=checked), var.type, var.hint), in_place)
    else:
        put(a, _scattered(a, axes, var, value), in_place)


def _scattered(a: Array, axes: Axes, var: Var, value: Atom) -> Atom:
    """The content with the elements of `value` where the view shows them."""
    tape = a.tape

    def level(depth: int, into: Var, indices: Indices) -> Var:
        if depth == a.ndim:
            new = tape.bind(Index(value, indices, checked=False), a.type) if indices else value
            return tape.bind(Update(into, path(a, axes, indices), new, checked=False), var.type, var.hint)
        index, carry = Var(INT, "i"), Var(var.type, var.hint)
        with tape.block() as lets:
            done = level(depth + 1, carry, (*indices, index))
        loop = Loop(Lit(a.shape[depth], INT), index, (carry,), (into,), (), Block(lets, (done,)))
        return tape.bind(loop, var.type, var.hint)

    return level(0, var, ())


def number(tape: Tape, atom: Atom) -> Any:
    """An element that was read."""
    return atom.value if isinstance(atom, Lit) else wrap(tape, atom)
