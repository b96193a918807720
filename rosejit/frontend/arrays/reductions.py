"""Reductions (folds) and scans of arrays, whole or along axes.

Sums along an axis whose rows lie contiguously add a whole row at a time, so that memory is read in order; the order in
which one sum adds its terms stays.
"""

import operator
from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays.access import build, element, is_prefix, number, variable, whole_axes
from rosejit.frontend.arrays.array import Array, Run, atom_of, fresh, host_data, of_host
from rosejit.frontend.arrays.broadcast import an_array, broadcast_map, broadcast_shape, cast, converted
from rosejit.frontend.arrays.call_binding import kind_of
from rosejit.frontend.values.host_scalars import LARGEST, SMALLEST
from rosejit.frontend.values.open_lengths import OpenLength, as_staged
from rosejit.frontend.values.scalars import ATOMS, P, refuse_tangent, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Block, Failure, Index, Lit, Loop, Scan, Update, Var, Zero
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array
from rosejit.numeric import np
from rosejit.transforms.scalarize.small_arrays import SMALL

# Values of users are of any type: what they are is asked while staging.
Labels = Sequence[Any]
"""A name for each axis of an array: axes of one name run together."""


def is_short(length: Any) -> bool:
    """Whether a row is kept in registers."""
    return length.__class__ is not OpenLength and length <= SMALL


def runs_along(a: Array, labels: Labels, label: Any) -> bool:
    """Whether elements at the next index of that name lie side by side, and are many: short rows are numbers, and stay
    in registers as sums of their own."""
    last = whole_axes(a)[-1]
    if not isinstance(last, Run) or last.step != 1 or is_short(a.shape[last.axis]):
        return False
    return labels[last.axis] == label and labels.count(label) == 1


def added_up(
    tape: Tape, kind: Scalar, lengths: dict[Any, int], result: Labels, term: Callable[[dict[Any, Atom]], Any]
) -> Var:
    """The array with the axes `result` to whose elements all terms have been added, in loops in the order of
    `lengths`."""
    whole = array(tuple(lengths[label] for label in result), kind)

    def level(left: Labels, places: dict[Any, Atom], sums: Var) -> Var:
        if not left:
            at = tuple(places[label] for label in result)
            before = wrap(tape, tape.bind(Index(sums, at, checked=False), kind))
            added = ATOMS[kind](tape, before + term(places))
            assert added is not None
            return tape.bind(Update(sums, at, added, checked=False), whole, "sums")
        carry, index = Var(whole, "sums"), Var(INT, "i")
        with tape.block() as lets:
            back = level(left[1:], {**places, left[0]: index}, carry)
        loop = Loop(Lit(lengths[left[0]], INT), index, (carry,), (sums,), (), Block(lets, (back,)))
        return tape.bind(loop, whole, "sums")

    return level(list(lengths), {}, tape.bind(Zero(), whole, "sums"))


# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownVariableType=false
Step = Callable[[Any, Any], Any]
Axis = Any
"""None for all axes, one of them, or a tuple."""


FREE_SUM: dict[Scalar, Step] = {REAL: P["fadd"].__call__, TAN: P["tfadd"].__call__}
"""How NumPy adds, which promises no order."""


# --- any fold


def folded(a: Array, step: Step, start: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """`start` combined with the elements by `step`, in order; along `axis` (or several), or over all of them."""
    tape = a.tape
    gone = axes_of(a, axis)
    kept = tuple(k for k in range(a.ndim) if k not in gone)
    kind = type_of(start)
    assert kind is not None
    if not kept and is_prefix(a) is not None:
        result: Atom = _scanned(tape, variable(a), a.shape, a.type, step, start, kind)
        return shaped(tape, result, (1,) * a.ndim if keepdims else ())
    atom_of(tape, a.box)

    def cell(indices: tuple[Atom, ...]) -> Atom:
        place = dict(zip(kept, indices, strict=True))
        return _along(a, step, atom(tape, start, kind), kind, gone, place)

    return kept_axes(a, gone, keepdims, build(tape, tuple(a.shape[k] for k in kept), kind, cell))


def axes_of(a: Array, axis: Axis) -> tuple[int, ...]:
    """The axes that a fold goes along, from 0."""
    if axis is None:
        return tuple(range(a.ndim))
    wanted: tuple[int, ...] = axis if isinstance(axis, tuple) else (axis,)
    for k in wanted:
        if not isinstance(k, (int, np.integer)):
            raise a.tape.type_fault(f"an axis is an integer that staging knows, given {type(k).__name__}")
        if not -a.ndim <= k < a.ndim:
            raise a.tape.fault(ShapeError, f"axis {k} is out of bounds for an array of shape {a.shape}")
    found = {int(k) % a.ndim for k in wanted}
    if len(found) < len(wanted):
        raise a.tape.fault(ShapeError, f"an axis comes twice in {axis}")
    return tuple(sorted(found))


def atom(tape: Tape, value: Any, kind: Scalar) -> Atom:
    """A number as an atom of that type."""
    made = ATOMS[kind](tape, value)
    assert made is not None
    return made


def _scanned(
    tape: Tape, rows: Atom, shape: tuple[int, ...], kind: Scalar, step: Step, start: Any, carried: Scalar
) -> Atom:
    """All elements in the order in which they lie."""
    if not shape:
        return atom(tape, step(wrap(tape, atom(tape, start, carried)), wrap(tape, rows)), carried)
    carry, row, index = Var(carried, "total"), Var(array(shape[1:], kind), "x"), Var(INT, "i")
    with tape.block() as lets:
        back = _scanned(tape, row, shape[1:], kind, step, wrap(tape, carry), carried)
    loop = Loop(
        Lit(shape[0], INT), index, (carry,), (atom(tape, start, carried),), (Scan(row, rows),), Block(lets, (back,))
    )
    return tape.bind(loop, carried, "total")


def _along(a: Array, step: Step, start: Atom, kind: Scalar, gone: tuple[int, ...], place: dict[int, Atom]) -> Atom:
    """The elements along the axes `gone`, at fixed indices of the others."""
    tape = a.tape
    if not gone:
        indices = tuple(place[k] for k in range(a.ndim))
        return atom(tape, step(wrap(tape, start), wrap(tape, element(a, indices))), kind)
    carry, index = Var(kind, "total"), Var(INT, "k")
    with tape.block() as lets:
        back = _along(a, step, carry, kind, gone[1:], {**place, gone[0]: index})
    loop = Loop(Lit(a.shape[gone[0]], INT), index, (carry,), (start,), (), Block(lets, (back,)))
    return tape.bind(loop, kind, "total")


def kept_axes(a: Array, gone: tuple[int, ...], keepdims: bool, result: Atom) -> Any:
    """What was folded along the axes `gone`; with `keepdims` they stay, with length 1."""
    shape = tuple(1 if k in gone else n for k, n in enumerate(a.shape) if keepdims or k not in gone)
    return shaped(a.tape, result, shape)


def shaped(tape: Tape, result: Atom, shape: tuple[int, ...]) -> Any:
    """A number, or an array with more axes of length 1 than `result` has."""
    if not shape:
        return number(tape, result)
    assert isinstance(result.type, Scalar) or isinstance(result, Var)
    if isinstance(result, Var) and not isinstance(result.type, Scalar):
        made = fresh(tape, result)
        if made.shape == shape:
            return made
        own = [k for k, n in enumerate(shape) if n != 1]
        given = [k for k, n in enumerate(made.shape) if n != 1]
        places = dict(zip(given, own, strict=True))
        zero = Lit(0, INT)

        def at(indices: tuple[Atom, ...]) -> Atom:
            return element(made, tuple(indices[places[k]] if k in places else zero for k in range(made.ndim)))

        kind, make = made.type, at
    else:
        kind, make = result.type, lambda indices: result
    whole = build(tape, shape, kind, make)
    assert isinstance(whole, Var)
    return fresh(tape, whole)


def _host(a: Array, value: Any) -> Any:
    return of_host(a.tape, value) if getattr(value, "ndim", 0) else value


def _restricted(a: Array, where: Any, neutral: Any) -> Array:
    """`a` with `neutral` where `where` is false."""
    if where is True:
        return a
    mask = where if type_of(where) is BOOL else as_mask(a, where)
    if broadcast_shape(a.tape, (mask, a)) != a.shape:
        raise a.tape.fault(ShapeError, f"`where` of shape {mask.shape} does not fit an array of shape {a.shape}")
    return an_array(a.tape, broadcast_map(a.tape, lambda keep, x: chosen(keep, x, neutral), mask, a))


def as_mask(a: Array, where: Any) -> Array:
    """What `where` says, as an array of truth values."""
    mask = of_host(a.tape, np.asarray(where)) if isinstance(where, (list, tuple, np.ndarray)) else where
    if mask.__class__ is not Array or mask.type is not BOOL:
        raise a.tape.type_fault("`where` is an array of truth values", "write a comparison: `where=x != 0`")
    return mask


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """One of two numbers; both were computed."""
    if isinstance(condition, (bool, np.bool_)):
        return x if condition else y
    kinds = {type_of(x), type_of(y)}
    if type_of(condition) in (REAL, INT):
        condition = condition != 0
    name = "tselect" if TAN in kinds else "select" if REAL in kinds else "iselect" if INT in kinds else "bselect"
    return P[name].__call__(condition, x, y)


# --- sums, products, extremes


def as_type(a: Array, dtype: Any) -> Array:
    """What is folded: the elements as a `dtype` says."""
    kind = kind_of(a.tape, dtype)
    if kind is BOOL:
        raise a.tape.type_fault(
            "sums and products of truth values are counts here: `dtype=bool` is not staged", "use `any` or `all`"
        )
    return a if kind is None or (a.type is TAN and kind is REAL) else converted(a, kind)


def _as_element(found: Any, initial: Any) -> Any:
    """What a fold starts from, as what comes out of it."""
    if type_of(initial) is None:
        return initial
    tape = (
        next(v.tape for v in (found, initial) if hasattr(v, "tape"))
        if hasattr(found, "tape") or hasattr(initial, "tape")
        else None
    )
    kind = found.type if found.__class__ is Array else type_of(found)
    return initial if tape is None or kind is None else cast(tape, initial, kind)


def require(tape: Tape, holds: Any, error: Exception) -> None:
    """Raise what NumPy raises, at the user's line, unless a condition holds: now, or when the code runs."""
    if hasattr(holds, "atom"):
        tape.check(holds.atom, Failure("raise", str(error), tape.here(), exception=error))
    elif not holds:
        raise error


def one_axis(a: Array, axis: Any) -> int:
    """The axis that a function goes along, of those that take one."""
    if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
        raise a.tape.type_fault(f"an axis is one integer that staging knows, given {axis!r}")
    return axes_of(a, int(axis))[0]


def total(
    a: Array, axis: Axis = None, keepdims: bool = False, initial: Any = 0, where: Any = True, dtype: Any = None
) -> Any:
    """`np.sum`: Bools are counted."""
    a = as_type(a, dtype)
    data = host_data(a) if where is True else None
    if data is not None:
        return _host(a, data.sum(axis=axis, keepdims=keepdims)) + initial
    zero = 0 if a.type in (INT, BOOL) else 0.0
    if a.type not in (INT, BOOL, REAL):
        zero = wrap(a.tape, Lit(0.0, a.type))
    a = _restricted(a, where, zero)
    gone, last = axes_of(a, axis), a.ndim - 1
    far = gone and last not in gone and not is_short(prod(a.shape[k] for k in gone))
    if far and a.type in FREE_SUM and runs_along(a, range(a.ndim), last):
        found = _added_up(a, gone, keepdims)
    else:
        found = folded(a, FREE_SUM.get(a.type, operator.add), zero, axis, keepdims)
    return found if initial.__class__ is int and not initial else found + _as_element(found, initial)


def _added_up(a: Array, gone: tuple[int, ...], keepdims: bool) -> Any:
    """The sums along the axes `gone`, a row of them at a time."""
    atom_of(a.tape, a.box)
    kept = [k for k in range(a.ndim) if k not in gone]
    order = {k: a.shape[k] for k in (*kept[:-1], *gone, kept[-1])}

    def term(places: dict[int, Atom]) -> Any:
        return wrap(a.tape, element(a, tuple([places[k] for k in range(a.ndim)])))

    return kept_axes(a, gone, keepdims, added_up(a.tape, a.type, order, kept, term))


def product(
    a: Array, axis: Axis = None, keepdims: bool = False, initial: Any = 1, where: Any = True, dtype: Any = None
) -> Any:
    """`np.prod`."""
    a = as_type(a, dtype)
    data = host_data(a) if where is True else None
    if data is not None:
        return _host(a, data.prod(axis=axis, keepdims=keepdims)) * initial
    if a.type is TAN:
        refuse_tangent(a.tape, "`prod` of tangents is not linear")
    one = 1.0 if a.type is REAL else 1
    found = folded(_restricted(a, where, one), operator.mul, one, axis, keepdims)
    return found if initial.__class__ is int and initial == 1 else found * _as_element(found, initial)


def maximum(name: str, kind: Scalar, propagate: bool = True) -> Any:
    """The primitive that is the larger of two numbers, or the smaller."""
    return P[{"max": "imax", "min": "imin"}[name] if kind is INT else f"{name}imum" if propagate else name]


def larger(name: str, x: Any, y: Any) -> Any:
    """The larger of two numbers, or the smaller, of the type that holds both."""
    kinds = {type_of(x), type_of(y)}
    if kinds == {BOOL}:
        return P["or" if name == "max" else "and"].__call__(x, y)
    return maximum(name, INT if kinds <= {INT, BOOL} else REAL).__call__(x, y)


def extreme(
    a: Array,
    name: str,
    axis: Axis = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
    propagate: bool = True,
) -> Any:
    """The largest or smallest element; NumPy's with NaN wherever one is, Python's as its comparisons say."""
    if initial is None and where is not True:
        raise a.tape.type_fault(f"`{name}` with `where` needs a value to start from", "give `initial`, too")
    gone = axes_of(a, axis)
    empty = f"`{name}` of an array without elements, its shape is {a.shape}"
    open_lengths = [as_staged(a.shape[k]) for k in gone if a.shape[k].__class__ is OpenLength]
    if initial is None and 0 in [a.shape[k] for k in gone if a.shape[k].__class__ is not OpenLength]:
        raise a.tape.fault(ShapeError, empty)
    for length in open_lengths if initial is None else ():
        require(a.tape, length > 0, ShapeError(empty))
    data = host_data(a) if where is True and initial is None else None
    if data is not None and propagate:
        return _host(a, getattr(data, name)(axis=axis, keepdims=keepdims))
    if a.type is BOOL and initial is None:
        return {"max": some, "min": every}[name](a, axis, keepdims)
    if a.type is BOOL:
        raise a.tape.type_fault(f"`{name}` of truth values takes no `initial` and no `where`", "use `any` or `all`")
    worst = _worst(name, a.type)
    op = maximum(name, a.type, propagate)
    if axis is None and initial is None:
        return folded(a, op, wrap(a.tape, element(a, tuple(Lit(0, INT) for _ in a.shape))), None, keepdims)
    found = folded(_restricted(a, where, worst), op, worst, axis, keepdims)
    return found if initial is None else broadcast_map(a.tape, op, found, initial)


def largest(a: Array, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """`np.max`."""
    return extreme(a, "max", axis, keepdims, initial, where)


def smallest(a: Array, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """`np.min`."""
    return extreme(a, "min", axis, keepdims, initial, where)


def _worst(name: str, kind: Scalar) -> Any:
    """What every number is at least (for `min`: at most)."""
    if kind is INT:
        return SMALLEST if name == "max" else LARGEST
    return -inf if name == "max" else inf


def first_of(start: float, kind: Scalar) -> Any:
    """What a running total starts from, as a number of the kind of the elements."""
    if kind is not INT:
        return float(start)
    return int(start) if abs(start) < inf else SMALLEST if start < 0 else LARGEST


def every(a: Array, axis: Axis = None, keepdims: bool = False, where: Any = True) -> Any:
    """`np.all` of truth values."""
    a = _restricted(converted(a, BOOL), where, True)
    return folded(a, lambda s, x: s & x, True, axis, keepdims)


def some(a: Array, axis: Axis = None, keepdims: bool = False, where: Any = True) -> Any:
    """`np.any` of truth values."""
    a = _restricted(converted(a, BOOL), where, False)
    return folded(a, lambda s, x: s | x, False, axis, keepdims)


# --- means


def _count(a: Array, axis: Axis) -> int:
    return prod(a.shape[k] for k in axes_of(a, axis))


def mean(a: Array, axis: Axis = None, keepdims: bool = False, where: Any = True) -> Any:
    """`np.mean`."""
    count: Any = _count(a, axis)
    count = as_staged(count) if count.__class__ is OpenLength else float(count)
    if where is not True:
        used = an_array(a.tape, broadcast_map(a.tape, lambda keep, x: keep, as_mask(a, where), a))
        count = total(used, axis, keepdims)
    return total(a, axis, keepdims, where=where) / count


def variance(
    a: Array, axis: Axis = None, ddof: Any = 0, keepdims: bool = False, where: Any = True, mean: Any = ...,
    correction: Any = ...,
) -> Any:  # fmt: skip
    """`np.var`: from a mean that is given, if one is."""
    if correction is not ... and ddof:
        raise a.tape.fault(RoseValueError, "ddof and correction can't be provided simultaneously.")
    less = ddof if correction is ... else correction
    a = converted(a, REAL)
    middle = _mean_of(a, axis, where) if mean is ... else mean
    apart = an_array(a.tape, broadcast_map(a.tape, operator.sub, a, middle))
    if apart.shape != a.shape:
        raise a.tape.fault(ShapeError, f"a mean of shape {getattr(mean, 'shape', ())} does not fit the shape {a.shape}")
    squares = an_array(a.tape, broadcast_map(a.tape, operator.mul, apart, apart))
    if where is True:
        count: Any = wrap(a.tape, Lit(float(max(_count(a, axis) - less, 0)), REAL))
    else:
        used = total(
            an_array(a.tape, broadcast_map(a.tape, lambda keep, x: keep, as_mask(a, where), a)), axis, keepdims
        )
        count = broadcast_map(a.tape, lambda n: larger("max", n - less, 0.0), used)
    return total(squares, axis, keepdims, where=where) / count


def _mean_of(a: Array, axis: Axis, where: Any) -> Any:
    return mean(a, axis, True, where)


def deviation(
    a: Array, axis: Axis = None, ddof: Any = 0, keepdims: bool = False, where: Any = True, mean: Any = ...,
    correction: Any = ...,
) -> Any:  # fmt: skip
    """`np.std`."""
    found = variance(a, axis, ddof, keepdims, where, mean, correction)
    return broadcast_map(a.tape, P["sqrt"].__call__, found)


# --- where the extreme is


def position(a: Array, name: str, axis: Axis = None, keepdims: bool = False) -> Any:
    """`np.argmax`, `np.argmin`: where the first of the extreme elements is, or the first NaN."""
    data = host_data(a)
    if data is not None:
        return _host(a, getattr(np, f"arg{name}")(data, axis=axis, keepdims=keepdims))
    if axis is not None:
        axis = one_axis(a, axis)
    a = converted(a, INT) if a.type is BOOL else a
    gone = axes_of(a, axis)
    if 0 in [a.shape[k] for k in gone]:
        raise a.tape.fault(ShapeError, f"`arg{name}` of an array without elements, its shape is {a.shape}")
    kept = tuple(k for k in range(a.ndim) if k not in gone)
    atom_of(a.tape, a.box)

    def cell(indices: tuple[Atom, ...]) -> Atom:
        return _position(a, name, gone, dict(zip(kept, indices, strict=True)))

    return kept_axes(a, gone, keepdims, build(a.tape, tuple(a.shape[k] for k in kept), INT, cell))


def argmax(a: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """`np.argmax`."""
    return position(a, "max", axis, keepdims)


def argmin(a: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """`np.argmin`."""
    return position(a, "min", axis, keepdims)


def _position(a: Array, name: str, gone: tuple[int, ...], place: dict[int, Atom]) -> Atom:
    """The number, in order, of the extreme element along the axes `gone`."""
    tape = a.tape
    first = element(a, tuple(place.get(k, Lit(0, INT)) for k in range(a.ndim)))
    carries = Var(a.type, "best"), Var(INT, "at"), Var(INT, "k")

    def level(gone: tuple[int, ...], place: dict[int, Atom], held: tuple[Atom, ...]) -> tuple[Atom, ...]:
        if not gone:
            x, best = wrap(tape, element(a, tuple(place[k] for k in range(a.ndim)))), wrap(tape, held[0])
            better = x > best if name == "max" else x < best
            if a.type is REAL:
                better = better | ((x != x) & (best == best))
            at, k = wrap(tape, held[1]), wrap(tape, held[2])
            pair = chosen(better, x, best), chosen(better, k, at)
            return pair[0].atom, pair[1].atom, tape.apply(P["wadd"], k.atom, Lit(1, INT))
        inner = tuple(Var(carry.type, carry.hint) for carry in carries)
        index = Var(INT, "i")
        with tape.block() as lets:
            back = level(gone[1:], {**place, gone[0]: index}, inner)
        outs = tuple(Var(carry.type, carry.hint) for carry in carries)
        loop = Loop(Lit(a.shape[gone[0]], INT), index, inner, held, (), Block(lets, back))
        tape.bind_all(loop, outs)
        return outs

    return level(gone, place, (first, Lit(0, INT), Lit(0, INT)))[1]


# --- running totals


def running(a: Array, step: Step, start: Any) -> Array:
    """The totals after each element along the last axis."""
    tape, kind = a.tape, type_of(start)
    assert kind is not None
    atom_of(tape, a.box)

    def row(indices: tuple[Atom, ...]) -> Atom:
        carry, index = Var(kind, "total"), Var(INT, "i")
        with tape.block() as lets:
            x = wrap(tape, element(a, (*indices, index)))
            back = atom(tape, step(wrap(tape, carry), x), kind)
        loop = Loop(Lit(a.shape[-1], INT), index, (carry,), (atom(tape, start, kind),), (), Block(lets, (back, back)))
        last, totals = Var(kind, "total"), Var(array(a.shape[-1:], kind), "totals")
        tape.bind_all(loop, (last, totals))
        return totals

    made = build(tape, a.shape[:-1], array(a.shape[-1:], kind), row)
    assert isinstance(made, Var)
    return fresh(tape, made)
