"""Stages the functions of NumPy that sort: the order is found by merging, and then elements are picked in it."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.

from collections.abc import Callable
from math import prod
from typing import Any

from rosejit.errors import RoseValueError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.access import element
from rosejit.frontend.arrays.array import Array, atom_of, host_data, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import broadcast_map
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import manipulation
from rosejit.frontend.numpy.array_methods import put_all
from rosejit.frontend.numpy.linalg_kernels import Site
from rosejit.frontend.numpy.staged_numpy import array_of
from rosejit.frontend.values import rose_functions as rose
from rosejit.frontend.values.scalars import P, int_atom, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Lit
from rosejit.ir.types import INT, array
from rosejit.numeric import np

Make = Callable[..., Any]


def merged(x: Any) -> Any:
    """The places of the elements of a vector in ascending order, equal ones as they lie, NaN last."""
    n = len(x)
    at, other = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
    for i in rose.range(n):
        at[i] = i
    width = 1
    while width < n:
        for start in rose.range(0, n, 2 * width):
            i, j = start, min(start + width, n)
            middle, end = j, min(start + 2 * width, n)
            for k in rose.range(start, end):
                if i < middle and (
                    j >= end or not (x[at[j]] < x[at[i]] or (x[at[i]] != x[at[i]] and x[at[j]] == x[at[j]]))
                ):
                    other[k] = at[i]
                    i += 1
                else:
                    other[k] = at[j]
                    j += 1
        at, other = other, at
        width *= 2
    return at


def each_merged(rows: Any, one: Make) -> Any:
    """The order of each row."""
    found = np.zeros(rows.shape, dtype=int)
    for k in rose.range(len(rows)):
        found[k] = one(rows[k])
    return found


def argsort(a: Array, axis: Any = -1, kind: Any = None, stable: Any = None) -> Array:
    """`np.argsort`, always stable."""
    tape = a.tape
    if axis is None:
        a, axis = manipulation.reshape(a, -1), 0
    data = host_data(a)
    if data is not None:
        return of_host(tape, np.argsort(data, axis, kind="stable"))
    axis = reductions.one_axis(a, axis)
    order = [*(k for k in range(a.ndim) if k != axis), axis]
    moved = manipulation.transposed(a, order)
    rows = manipulation.reshaped(moved, (prod(moved.shape[:-1]), moved.shape[-1]))
    site = Site(tape, tape.here())

    def make(rows: Any) -> Any:
        run = tape.session.run
        return run(each_merged, lambda f: f(rows, lambda row: run(merged, lambda g: g(row))))

    found = site.apply(site.function("argsort", make, [array(rows.shape, a.type)]), rows)
    return manipulation.transposed(manipulation.reshaped(found, moved.shape), [order.index(k) for k in range(a.ndim)])


def sort(a: Array, axis: Any = -1, kind: Any = None, stable: Any = None) -> Array:
    """`np.sort`."""
    if axis is None:
        a, axis = manipulation.reshape(a, -1), 0
    axis = reductions.one_axis(a, axis)
    order = argsort(a, axis)
    if a.ndim == 1:
        return get(a, order)
    grid = [of_host(a.tape, line) for line in np.ogrid[tuple(slice(n) for n in a.shape)]]
    return get(a, tuple(order if k == axis else line for k, line in enumerate(grid)))


def searchsorted(a: Array, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """`np.searchsorted`, by bisection."""
    tape, points = a.tape, a
    if sorter is not None:
        order = as_array(tape, sorter)
        if order is None or order.shape != points.shape or order.type is not INT:
            raise tape.fault(RoseValueError, "sorter.size must equal a.size")
        points = get(points, order)
    if points.ndim != 1 or side not in ("left", "right"):
        raise tape.type_fault("`np.searchsorted` takes a sorted vector, and looks on the left or on the right")
    atom_of(tape, points.box)

    def rank(x: Any) -> Any:
        n = points.shape[0]
        count: Any = 0
        step = 1 << max(n.bit_length() - 1, 0) if n else 0
        while step:
            tried = count + step
            at = int_atom(tape, P["imin"](tried, n) - 1)
            point = wrap(tape, element(points, (at or Lit(0, INT),)))
            below = _before(point, x) if side == "left" else ~_before(x, point)
            count = chosen(below & (tried <= n), tried, count)
            step //= 2
        return count

    return rank(v) if type_of(v) is not None else broadcast_map(tape, rank, as_array(tape, v))


def _before(x: Any, y: Any) -> Any:
    """Whether a number comes before another: NaN after all."""
    return (x < y) | ((y != y) & (x == x))


def digitize(tape: Tape, x: Any, bins: Any, right: bool = False) -> Any:
    """`np.digitize`: bins that descend are known while staging."""
    edges = as_array(tape, bins)
    known = host_data(edges) if edges is not None and edges.ndim == 1 else None
    if known is not None and len(known) > 1 and (known[1:] <= known[:-1]).all() and known[0] > known[-1]:
        ranks = searchsorted(of_host(tape, known[::-1].copy()), x, "right" if right else "left")
        return len(known) - ranks
    if edges is not None and edges.ndim == 1 and edges.shape[0] > 1:
        ascend = reductions.every(
            broadcast_map(tape, lambda x, y: x <= y, get(edges, slice(None, -1)), get(edges, slice(1, None)))
        )
        reductions.require(tape, ascend, ValueError("the bins of `np.digitize` ascend, in staged code"))
    return searchsorted(array_of(tape, "np.digitize", bins), x, "left" if right else "right")


def sort_in_place(a: Array, axis: int = -1) -> None:
    """`x.sort()`."""
    put_all(a, sort(a, axis))
