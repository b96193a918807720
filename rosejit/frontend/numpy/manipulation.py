"""Gives arrays other shapes: as views where NumPy does, else as new arrays with the elements in other places."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays.access import base_lengths, build, element, variable
from rosejit.frontend.arrays.array import Array, Axes, Box, Fixed, Run, atom_of, fresh, host_data, of_host, viewed
from rosejit.frontend.arrays.broadcast import broadcast_map, broadcast_shape
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.reductions import axes_of, chosen, one_axis
from rosejit.frontend.arrays.zero_dimensional import mark
from rosejit.frontend.control.join import unite
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.frontend.values.scalars import P, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Index, Lit, Var
from rosejit.ir.types import INT, REAL, Scalar
from rosejit.numeric import np

Make = Callable[..., Any]


# --- views: the same elements


def transposed(a: Array, order: Sequence[int] | None = None) -> Array:
    """A view with the dimensions in another order."""
    order = tuple(reversed(range(a.ndim))) if order is None else tuple(order)
    if sorted(k % a.ndim if -a.ndim <= k < a.ndim else -1 for k in order) != list(range(a.ndim)):
        raise a.tape.fault(ShapeError, f"{order} does not name the {a.ndim} axes of an array of shape {a.shape}")
    order = tuple(k % a.ndim for k in order)
    own: Axes = tuple(Run(k) for k in range(a.ndim)) if a.axes is None else a.axes
    axes = tuple(e if isinstance(e, Fixed) else replace(e, axis=order.index(e.axis)) for e in own)
    made = Array(a.tape, a.box, tuple(a.shape[k] for k in order), a.type, axes)
    made.anchor = a.anchor
    return made


def transpose(a: Array, *axes: Any) -> Array:
    """`a.transpose(*axes)`."""
    if len(axes) == 1 and not isinstance(axes[0], int):
        axes = () if axes[0] is None else tuple(axes[0])
    return transposed(a, axes or None)


def transpose_to(a: Array, axes: Any = None) -> Array:
    """`np.transpose`."""
    return transposed(a, (axes,) if isinstance(axes, int) else axes)


def permuted(function: Make) -> Make:
    """A function of NumPy's that only changes the order of the axes: it says which where an empty array shows it."""

    def make(a: Array, *args: Any, **options: Any) -> Array:
        try:
            shown = function(np.empty(tuple(range(a.ndim))), *args, **options)  # as long as they are many
        except (ValueError, IndexError) as error:
            raise a.tape.fault(ShapeError, str(error)) from None
        return transposed(a, shown.shape)

    return make


def expanded(a: Array, axis: Any) -> Array:
    """`np.expand_dims`."""
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = a.ndim + len(given)
    new = {k % rank for k in given if -rank <= k < rank}
    if len(new) < len(given):
        raise a.tape.fault(ShapeError, f"axes {axis} are no {len(given)} new ones of an array of {rank} dimensions")
    return get(a, tuple(None if k in new else slice(None) for k in range(rank)))


def squeezed(a: Array, axis: Any = None) -> Any:
    """`np.squeeze`."""
    gone = {k for k, n in enumerate(a.shape) if n == 1}
    if axis is not None:
        wanted = set(axes_of(a, axis))
        if not wanted <= gone:
            raise a.tape.fault(ShapeError, f"axes of an array of shape {a.shape} that are not of length 1 stay")
        gone = wanted
    return get(a, tuple(0 if k in gone else slice(None) for k in range(a.ndim)))


def flipped(m: Array, axis: Any = None) -> Array:
    """`np.flip`."""
    turned = axes_of(m, axis)
    return get(m, tuple(slice(None, None, -1) if k in turned else slice(None) for k in range(m.ndim)))


def fliplr(m: Array) -> Array:
    """`np.fliplr`."""
    return flipped(m, axes_of(m, (0, 1))[1])


def flipud(m: Array) -> Array:
    """`np.flipud`."""
    return flipped(m, 0)


def quarter_turns(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """`np.rot90`."""
    first, second = (one_axis(m, axis) for axis in axes)
    if first == second:
        raise m.tape.fault(ShapeError, f"`np.rot90` turns from one axis to another, given {axes}")
    order = [second if axis == first else first if axis == second else axis for axis in range(m.ndim)]
    rotations = (
        lambda: get(m, Ellipsis),
        lambda: transposed(flipped(m, second), order),
        lambda: flipped(m, (first, second)),
        lambda: flipped(transposed(m, order), second),
    )
    return rotations[k % 4]()


def split(ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`np.split`."""
    return _parted(ary, indices_or_sections, axis, True)


def array_split(ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`np.array_split`."""
    return _parted(ary, indices_or_sections, axis, False)


def hsplit(ary: Array, indices_or_sections: Any) -> list[Any]:
    """`np.hsplit`."""
    return split(ary, indices_or_sections, min(1, ary.ndim - 1))


def vsplit(ary: Array, indices_or_sections: Any) -> list[Any]:
    """`np.vsplit`."""
    return split(ary, indices_or_sections, 0)


def _parted(a: Array, sections: Any, axis: int, equal: bool) -> list[Any]:
    axis = one_axis(a, axis)
    rows = np.arange(a.shape[axis])
    pieces = np.split(rows, sections, 0) if equal else np.array_split(rows, sections, 0)
    found: list[Any] = []
    stop = 0
    for piece in pieces:
        start = int(piece[0]) if len(piece) else stop
        stop = start + len(piece)
        place: list[Any] = [slice(None)] * a.ndim
        place[axis] = slice(start, stop)
        found.append(get(a, tuple(place)))
    return found


def at_least(a: Array, rank: int) -> Any:
    """An array of that rank at least: axes of length 1 come before its own."""
    return get(a, (None,) * (rank - a.ndim) + (Ellipsis,)) if a.ndim < rank else a


def raised(rank: int, a: Array) -> Any:
    """`np.atleast_1d`, `np.atleast_2d`, `np.atleast_3d` of one array."""
    if rank < 3 or a.ndim > 2:
        return at_least(a, rank)
    return get(a, {0: (None, None, None), 1: (None, Ellipsis, None), 2: (Ellipsis, None)}[a.ndim])


def matrix_transposed(x: Array) -> Array:
    """`np.matrix_transpose`."""
    if x.ndim < 2:
        raise x.tape.fault(RoseValueError, f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return transposed(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def unstacked(x: Array, axis: int = 0) -> tuple[Any, ...]:
    """`np.unstack`."""
    if not x.ndim:
        raise x.tape.fault(RoseValueError, "Input array must be at least 1-d.")
    axis = one_axis(x, axis)
    return tuple(get(x, (*[slice(None)] * axis, k)) for k in range(x.shape[axis]))


def dsplit(ary: Array, indices_or_sections: Any) -> list[Any]:
    """`np.dsplit`."""
    if ary.ndim < 3:
        raise ary.tape.fault(RoseValueError, "dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


# --- new arrays that NumPy would make views: writing one of the two moves the other


def _shared(a: Array, made: Array) -> Array:
    """`made` holds what `a` does, and in NumPy is it: from the first write on only what was written can be used."""
    made.box.readonly, made.box.held = a.box.readonly, a.box.held
    if not a.box.readonly or a.box.row_of:
        unite({a.box, made.box}.union(a.box.linked or ()))
    return made


def reshape(a: Array, *shape: Any) -> Array:
    """The elements in their order in another shape; one length may be -1."""
    wanted: tuple[int, ...] = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    for length in wanted:
        if not isinstance(length, (int, np.integer)):
            raise a.tape.type_fault("a shape is made of integers that staging knows", "make them `rose.Static`")
    if -1 in wanted:
        rest = -prod(wanted)
        wanted = tuple(prod(a.shape) // rest if n == -1 and rest else n for n in wanted)
    if prod(wanted) != prod(a.shape):
        raise a.tape.fault(ShapeError, f"an array of shape {a.shape} cannot have the shape {wanted}")
    if wanted == a.shape:
        return get(a, Ellipsis) if wanted else a
    made = reshaped(a, wanted)
    return _shared(a, made) if _is_view(a, wanted) else made


def reshape_to(a: Array, shape: Any, order: Any = "C") -> Array:
    """`np.reshape`."""
    return in_order(a, shape, order)


def reshape_method(a: Array, *shape: Any, order: Any = "C") -> Array:
    """`x.reshape(...)`."""
    return in_order(a, shape[0] if len(shape) == 1 else shape, order)


def in_order(a: Array, shape: Any, order: Any) -> Array:
    """The elements in another shape, read and laid row by row, or with order "F" column by column."""
    if not _is_column_major(a, order):
        return reshape(a, shape)
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return transposed(reshape(transposed(a), tuple(reversed(lengths))))


def _is_column_major(a: Array, order: Any) -> bool:
    """Whether an order is that of columns. Orders of memory are refused where they may differ from that of rows: how
    NumPy lays out what operators give is not modelled."""
    if order in ("A", "K") and a.ndim > 1 and prod(a.shape) > 1:
        raise a.tape.type_fault(
            f"`order={order!r}` is the order in memory, which staged arrays do not have", "'C' or 'F'"
        )
    if order not in ("C", "F", "A", "K"):
        raise a.tape.fault(RoseValueError, f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return order == "F" and a.ndim > 1


def ravel(a: Array, order: Any = "C") -> Array:
    """`np.ravel`: a view only where the elements lie one behind the other."""
    if _is_column_major(a, order):
        return ravel(transposed(a))
    data, _ = _memory(a)
    return reshape(a, -1) if data.flags.c_contiguous else reshaped(a, (prod(a.shape),))


def _is_view(a: Array, shape: tuple[int, ...]) -> bool:
    """Whether NumPy can give the array that shape where it lies."""
    shown, memory = _memory(a)
    return a.axes is None or bool(np.may_share_memory(shown.reshape(shape), memory))


def _memory(a: Array) -> tuple[Any, Any]:
    """An array of NumPy's that lies in memory as `a` does, and the whole of it."""
    memory = np.empty(base_lengths(a), bool)
    if a.axes is None:
        return memory, memory
    axes = tuple(Fixed(Lit(0, INT)) if isinstance(entry, Fixed) else entry for entry in a.axes)
    return viewed(memory, Array(a.tape, a.box, a.shape, a.type, axes)), memory


def reshaped(a: Array, shape: tuple[int, ...]) -> Array:
    """The elements of `a`, in order, as an array of another shape: always a new one."""
    tape = a.tape
    data = host_data(a)
    if data is not None:
        return of_host(tape, data.reshape(shape).copy())
    atom_of(tape, a.box)

    def cell(indices: tuple[Atom, ...]) -> Atom:
        return element(a, _unravelled(tape, indices, shape, a.shape))

    made = build(tape, shape, a.type, cell)
    return fresh(tape, made)  # pyright: ignore[reportArgumentType]  # without dimensions a number


def _unravelled(
    tape: Tape, indices: tuple[Atom, ...], shape: tuple[int, ...], into: tuple[int, ...]
) -> tuple[Atom, ...]:
    """Indices of one shape as those of another with as many elements."""
    if not into:
        return ()
    flat: Atom = Lit(0, INT)
    for index, length in zip(indices, shape, strict=True):
        flat = (
            index
            if flat == Lit(0, INT)
            else tape.apply(P["wadd"], tape.apply(P["wmul"], flat, Lit(length, INT)), index)
        )
    found: list[Atom] = []
    for length in reversed(into[1:]):
        found.insert(0, tape.apply(P["wmod"], flat, Lit(length, INT)))
        flat = tape.apply(P["wfloordiv"], flat, Lit(length, INT))
    return (flat, *found)


def broadcast_to(array: Array, shape: Any) -> Any:
    """`np.broadcast_to`, which nobody may write."""
    return mark(array.tape, broadcast(array, shape), "np.broadcast_to", Box())


def broadcast(a: Array, shape: Any) -> Array:
    """`np.broadcast_to`, which nobody may write."""
    lengths: tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
    zero = of_host(a.tape, np.zeros(lengths))
    if broadcast_shape(a.tape, (a, zero)) != lengths:
        raise a.tape.fault(ShapeError, f"an array of shape {a.shape} does not fit into the shape {lengths}")
    return read_only(a, broadcast_map(a.tape, lambda x, z: x, a, zero), "broadcast_to")


def read_only(a: Array, made: Any, name: str) -> Any:
    """What NumPy makes a view that is not written."""
    if made.__class__ is Array:
        made = _shared(a, made)
        made.box.readonly = made.box.readonly or f"what `np.{name}` gives is never written"
    return made


def diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """`np.diagonal`, which nobody may write."""
    if a.ndim < 2:
        raise a.tape.fault(ShapeError, f"a diagonal is one of a matrix, given an array of shape {a.shape}")
    first, second = one_axis(a, axis1), one_axis(a, axis2)
    if first == second:
        raise a.tape.fault(ShapeError, "axis1 and axis2 cannot be the same")
    moved = transposed(a, [*(k for k in range(a.ndim) if k not in (first, second)), first, second])
    row, column = max(-offset, 0), max(offset, 0)
    count = max(0, min(moved.shape[-2] - row, moved.shape[-1] - column))
    atom_of(a.tape, a.box)

    def at(indices: tuple[Atom, ...]) -> Atom:
        last = indices[-1]
        pair = tuple(a.tape.apply(P["wadd"], last, Lit(k, INT)) if k else last for k in (row, column))
        return element(moved, (*indices[:-1], *pair))

    made = fresh(a.tape, build(a.tape, (*moved.shape[:-2], count), a.type, at))  # pyright: ignore[reportArgumentType]  # an array
    return read_only(a, made, "diagonal")


def moved_last(a: Array, axis: int) -> Array:
    """A view with an axis behind all others."""
    at = one_axis(a, axis)
    return transposed(a, [*(k for k in range(a.ndim) if k != at), at])


# --- elements in other places


def rearranged(function: Make) -> Make:
    """A function of NumPy's that copies elements to places that depend on the shape only, and may put zeros between.

    It is asked where they go: applied to the numbers 1, 2, ... of the elements.
    """

    def make(a: Array, *args: Any, **kwargs: Any) -> Any:
        for arg in (*args, *kwargs.values()):
            if staged_leaf(arg) is not None:
                raise a.tape.type_fault(f"`np.{function.__name__}`: only the array may be staged")
        fill = kwargs.pop("constant_values", 0)
        places = np.arange(1, prod(a.shape) + 1).reshape(a.shape)
        return picked(a, function(places, *args, **kwargs), fill)

    return make


def picked(a: Array, places: Any, fill: Any = 0) -> Array:
    """The array of the elements whose numbers, counted from 1, are `places`; 0 stands for `fill`."""
    tape = a.tape
    places = places.astype("int64")
    flat = variable(reshaped(a, (prod(a.shape),)) if a.ndim != 1 else a)
    at = of_host(tape, np.maximum(places - 1, 0))
    keep = None if places.all() else of_host(tape, places > 0)
    if not prod(a.shape):
        return broadcast_map(tape, lambda k: cast_fill(a, fill), at)

    def cell(indices: tuple[Atom, ...]) -> Atom:
        found = tape.bind(Index(flat, (element(at, indices),), checked=False), a.type)
        if keep is None:
            return found
        kept = wrap(tape, element(keep, indices))
        return chosen(kept, wrap(tape, found), cast_fill(a, fill)).atom

    for used in (at, keep):
        if used is not None:
            atom_of(tape, used.box)
    made = build(tape, places.shape, a.type, cell)
    assert isinstance(made, Var)
    return fresh(tape, made)


def cast_fill(a: Array, fill: Any) -> Any:
    """What stands between the elements of `a`."""
    kinds: dict[Scalar, type] = {REAL: float, INT: int}
    return kinds.get(a.type, bool)(fill)


def diag(v: Array, k: int = 0) -> Array:
    """`np.diag`."""
    return diagonal(v, k) if v.ndim == 2 else rearranged(np.diag)(v, k)
