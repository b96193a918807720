"""Stages sums, products and other folds of arrays, whole or along axes, and products of matrices."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownVariableType=false

from collections.abc import Callable
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays import Array, atom_of, fresh, host_data, of_host
from rosejit.frontend.tape import Tape
from rosejit.frontend.values import ATOMS, P, type_of, wrap
from rosejit.frontend.views import build, element, is_prefix, number, variable
from rosejit.ir.syntax import Atom, Block, Lit, Loop, Scan, Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array

Step = Callable[[Any, Any], Any]


def folded(a: Array, step: Step, start: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`start` combined with the elements by `step`, in order; along `axis` (or several), or over all of them."""
    tape = a.tape
    gone = _axes(a, axis)
    kept = tuple(k for k in range(a.ndim) if k not in gone)
    kind = type_of(start)
    assert kind is not None
    if not kept and is_prefix(a) is not None:
        result: Atom = _scanned(tape, variable(a), a.shape, a.type, step, start, kind)
        return _shaped(tape, result, (1,) * a.ndim if keepdims else ())
    atom_of(tape, a.box)

    def cell(indices: tuple[Atom, ...]) -> Atom:
        place = dict(zip(kept, indices, strict=True))
        return _along(a, step, _atom(tape, start, kind), kind, gone, place)

    result = build(tape, tuple(a.shape[k] for k in kept), kind, cell)
    shape = tuple(1 if k in gone else n for k, n in enumerate(a.shape)) if keepdims else None
    return _shaped(tape, result, shape)


def _axes(a: Array, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(a.ndim))
    wanted: tuple[int, ...] = axis if isinstance(axis, tuple) else (axis,)
    for k in wanted:
        if not -a.ndim <= k < a.ndim:
            raise a.tape.fault(ShapeError, f"axis {k} is out of bounds for an array of shape {a.shape}")
    return tuple(sorted(k % a.ndim for k in wanted))


def _atom(tape: Tape, value: Any, kind: Scalar) -> Atom:
    atom = ATOMS[kind](tape, value)
    assert atom is not None
    return atom


def _scanned(
    tape: Tape, rows: Atom, shape: tuple[int, ...], kind: Scalar, step: Step, start: Any, carried: Scalar
) -> Atom:
    """All elements in the order in which they lie."""
    if not shape:
        return _atom(tape, step(wrap(tape, _atom(tape, start, carried)), wrap(tape, rows)), carried)
    carry, row, index = Var(carried, "total"), Var(array(shape[1:], kind), "x"), Var(INT, "i")
    with tape.block() as lets:
        back = _scanned(tape, row, shape[1:], kind, step, wrap(tape, carry), carried)
    loop = Loop(
        Lit(shape[0], INT), index, (carry,), (_atom(tape, start, carried),), (Scan(row, rows),), Block(lets, (back,))
    )
    return tape.bind(loop, carried, "total")


def _along(a: Array, step: Step, start: Atom, kind: Scalar, gone: tuple[int, ...], place: dict[int, Atom]) -> Atom:
    """The elements along the axes `gone`, at fixed indices of the others."""
    tape = a.tape
    if not gone:
        indices = tuple(place[k] for k in range(a.ndim))
        return _atom(tape, step(wrap(tape, start), wrap(tape, element(a, indices))), kind)
    carry, index = Var(kind, "total"), Var(INT, "k")
    with tape.block() as lets:
        back = _along(a, step, carry, kind, gone[1:], {**place, gone[0]: index})
    loop = Loop(Lit(a.shape[gone[0]], INT), index, (carry,), (start,), (), Block(lets, (back,)))
    return tape.bind(loop, kind, "total")


def _shaped(tape: Tape, result: Atom, shape: tuple[int, ...] | None) -> Any:
    if not isinstance(result.type, Scalar):
        assert isinstance(result, Var)
        made = fresh(tape, result)
        return made if shape is None else reshaped(made, shape)
    if not shape:
        return number(tape, result)
    made = build(tape, shape, result.type, lambda indices: result)
    assert isinstance(made, Var)
    return fresh(tape, made)


def total(a: Array, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.sum`: Bools are counted."""
    data = host_data(a)
    if data is not None:
        return _host(a, data.sum(axis=axis, keepdims=keepdims))
    zero = 0 if a.type in (INT, BOOL) else 0.0
    if a.type not in (INT, BOOL, REAL):
        zero = wrap(a.tape, Lit(0.0, a.type))
    return folded(a, lambda s, x: s + x, zero, axis, keepdims)


def _host(a: Array, value: Any) -> Any:
    return of_host(a.tape, value) if getattr(value, "ndim", 0) else value.item()


def extreme(a: Array, name: str, axis: Any = None, keepdims: bool = False, propagate: bool = True) -> Any:
    """The largest or smallest element; NumPy's with NaN wherever one is, Python's as its comparisons say."""
    data = host_data(a)
    if data is not None and propagate:
        return _host(a, getattr(data, name)(axis=axis, keepdims=keepdims))
    if 0 in a.shape:
        raise a.tape.fault(ShapeError, f"`{name}` of an array without elements, its shape is {a.shape}")
    if a.type is BOOL:
        raise a.tape.type_fault(f"`{name}` of truth values", "use `np.any` or `np.all`")
    op = P[{"max": "imax", "min": "imin"}[name]] if a.type is INT else P[f"{name}imum" if propagate else name]
    first = tuple(Lit(0, INT) for _ in a.shape)
    if axis is None:
        return folded(a, op, wrap(a.tape, element(a, first)), None, keepdims)
    start = float("-inf" if name == "max" else "inf") if a.type is REAL else (-(2**63) if name == "max" else 2**63 - 1)
    return folded(a, op, start, axis, keepdims)


def product(a: Array, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.prod`."""
    data = host_data(a)
    if data is not None:
        return _host(a, data.prod(axis=axis, keepdims=keepdims))
    return folded(a, lambda s, x: s * x, 1.0 if a.type is REAL else 1, axis, keepdims)


def mean(a: Array, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.mean`."""
    count = 1
    for k in _axes(a, axis):
        count *= a.shape[k]
    return total(a, axis, keepdims) / float(count)


def every(a: Array, axis: Any = None) -> Any:
    """`np.all` of truth values."""
    return folded(a, lambda s, x: s & (x if a.type is BOOL else x != 0), True, axis)


def some(a: Array, axis: Any = None) -> Any:
    """`np.any` of truth values."""
    return folded(a, lambda s, x: s | (x if a.type is BOOL else x != 0), False, axis)


def scanned_totals(a: Array, step: Step, start: Any) -> Array:
    """The totals after each element of a vector."""
    tape = a.tape
    carry, row, index = Var(a.type, "total"), Var(a.type, "x"), Var(INT, "i")
    with tape.block() as lets:
        back = _atom(tape, step(wrap(tape, carry), wrap(tape, row)), a.type)
    loop = Loop(
        Lit(a.shape[0], INT),
        index,
        (carry,),
        (_atom(tape, start, a.type),),
        (Scan(row, variable(a)),),
        Block(lets, (back, back)),
    )
    last, totals = Var(a.type, "total"), Var(array(a.shape, a.type), "totals")
    tape.bind_all(loop, (last, totals))
    return fresh(tape, totals)


# --- products


def matmul(a: Array, b: Array, name: str = "@") -> Any:
    """`a @ b` of vectors and matrices."""
    tape = a.tape
    if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2):
        raise tape.fault(
            ShapeError,
            f"`{name}` of arrays of shape {a.shape} and {b.shape} is not staged",
            help="it takes vectors and matrices; write higher products as loops",
        )
    if a.shape[-1] != b.shape[0]:
        raise tape.fault(
            ShapeError, f"`{name}`: shapes {a.shape} and {b.shape} do not fit: {a.shape[-1]} is not {b.shape[0]}"
        )
    known = host_data(a), host_data(b)
    if known[0] is not None and known[1] is not None:
        found = known[0] @ known[1]
        return of_host(tape, found) if found.ndim else found.item()
    for operand in (a, b):
        atom_of(tape, operand.box)

    def cell(indices: tuple[Atom, ...]) -> Atom:
        row, column = indices[: a.ndim - 1], indices[a.ndim - 1 :]
        return _dot(tape, a, b, row, column)

    made = build(tape, a.shape[:-1] + b.shape[1:], _product_type(a.type, b.type), cell)
    return fresh(tape, made) if isinstance(made, Var) and not isinstance(made.type, Scalar) else number(tape, made)


def _dot(tape: Tape, a: Array, b: Array, row: tuple[Atom, ...], column: tuple[Atom, ...]) -> Atom:
    """The sum of the products along the inner dimension."""
    kind = _product_type(a.type, b.type)
    carry, index = Var(kind, "total"), Var(INT, "k")
    with tape.block() as lets:
        x, y = wrap(tape, element(a, (*row, index))), wrap(tape, element(b, (index, *column)))
        back = _atom(tape, wrap(tape, carry) + x * y, kind)
    zero = Lit({REAL: 0.0, INT: 0}.get(kind, 0.0), kind)
    loop = Loop(Lit(a.shape[-1], INT), index, (carry,), (zero,), (), Block(lets, (back,)))
    return tape.bind(loop, kind, "total")


def _product_type(a: Scalar, b: Scalar) -> Scalar:
    """The type of a sum of products."""
    kinds = {a, b}
    return TAN if TAN in kinds else REAL if REAL in kinds else INT


# --- other shapes


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
    return (
        fresh(tape, made) if isinstance(made, Var) and not isinstance(made.type, Scalar) else fresh(tape, variable(a))
    )


def _unravelled(
    tape: Tape, indices: tuple[Atom, ...], shape: tuple[int, ...], into: tuple[int, ...]
) -> tuple[Atom, ...]:
    """Indices of one shape as those of another with as many elements."""
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
