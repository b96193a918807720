"""Stages arithmetic on whole arrays: broadcasting, loops over elements, sums and products."""

# Values of users are of any type: what they are is asked while staging.

import operator
from collections.abc import Callable, Sequence
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays.access import element, is_prefix, number, variable
from rosejit.frontend.arrays.array import Array, atom_of, fresh, host_data, of_host
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.open_lengths import is_one
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.frontend.values.scalars import ATOMS, Int, P, real_atom, refuse_tangent, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Block, Failure, Index, Lit, Loop, Scan, Var, Zero
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, array
from rosejit.ir.types import Array as ArrayType
from rosejit.numeric import np

Make = Callable[..., Any]


# --- broadcasting


def broadcast_shape(tape: Tape, operands: Sequence[Any], *more: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of the operands and of `more`, by NumPy's rules; numbers have the shape ()."""
    shapes = [*(operand.shape if operand.__class__ is Array else () for operand in operands), *more]
    rank = max(map(len, shapes), default=0)
    common: list[int] = []
    for axis in range(-rank, 0):
        lengths = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(lengths) > 1:
            shown = " and ".join(str(shape) for shape in shapes if shape)
            raise tape.fault(ShapeError, f"shapes {shown} do not fit together")
        common.append(lengths.pop() if lengths else 1)
    return tuple(common)


def broadcast_map(tape: Tape, make: Make, *operands: Any, host: Make | None = None) -> Any:
    """`make` of the elements of `operands`, broadcast; numbers stay as they are. Of several numbers it makes of the
    elements come as many arrays.

    `host` is the function of whole arrays that does the same, for operands that staging knows.
    """
    if host is not None:
        known = [host_data(operand) if operand.__class__ is Array else operand for operand in operands]
        if not any(value is None or staged_leaf(value) is not None for value in known):
            with np.errstate(all="ignore"):
                found = host(*known)
            return of_host(tape, found) if isinstance(found, np.ndarray) else found
    shape = broadcast_shape(tape, operands)
    sources = [_Source(operand, len(shape)) if operand.__class__ is Array else operand for operand in operands]
    made = _level(tape, make, sources, shape, 0, ())
    found = [fresh(tape, m) if isinstance(m.type, ArrayType) else number(tape, m) for m in made]  # pyright: ignore[reportArgumentType]  # its kind is known here
    return found[0] if len(found) == 1 else tuple(found)


class _Source:
    """An operand on the way to its elements: a variable that is scanned row by row, or a view that is indexed."""

    def __init__(self, a: Array, rank: int) -> None:
        self.array = a
        self.offset = rank - a.ndim
        self.row: Atom | None = variable(a) if is_prefix(a) is not None else None
        if self.row is None:
            atom_of(a.tape, a.box)

    def length(self, depth: int) -> int | None:
        """How many elements it has along dimension `depth` of the result; None if it does not have that one."""
        return self.array.shape[depth - self.offset] if depth >= self.offset else None


def _level(
    tape: Tape, make: Make, sources: list[Any], shape: tuple[int, ...], depth: int, indices: tuple[Atom, ...]
) -> tuple[Atom, ...]:
    """The parts of the results at `indices`, with the rows of the sources that belong there."""
    if depth == len(shape):
        made = make(*[_element(tape, source, indices) for source in sources])
        return tuple([_result(tape, value) for value in (made if made.__class__ is tuple else (made,))])
    count = shape[depth]
    index = Var(INT, "i")
    scans: list[Scan] = []
    before: list[tuple[_Source, Atom | None]] = []
    for source in sources:
        if isinstance(source, _Source) and source.row is not None and source.length(depth) is not None:
            before.append((source, source.row))
            row_type = array(source.array.shape[depth - source.offset + 1 :], source.array.type)
            if is_one(source.length(depth)) and not is_one(count):
                source.row = tape.bind(Index(source.row, (Lit(0, INT),), checked=False), row_type)
            else:
                param = Var(row_type, "x")
                scans.append(Scan(param, source.row))
                source.row = param
    with tape.block() as lets:
        made = _level(tape, make, sources, shape, depth + 1, (*indices, index))
    for source, row in before:
        source.row = row
    loop = Loop(Lit(count, INT), index, (), (), tuple(scans), Block(lets, made))
    binders = tuple([Var(ArrayType(count, m.type), "x") for m in made])
    tape.bind_all(loop, binders)
    return binders


def _element(tape: Tape, source: Any, indices: tuple[Atom, ...]) -> Any:
    if not isinstance(source, _Source):
        return source
    if source.row is not None:
        return wrap(tape, source.row)
    own = indices[source.offset :]
    at = tuple(Lit(0, INT) if is_one(n) else k for n, k in zip(source.array.shape, own, strict=True))
    return wrap(tape, element(source.array, at))


def _result(tape: Tape, value: Any) -> Atom:
    kind = type_of(value)
    if kind is None:
        raise tape.type_fault(f"the elements of an array are numbers, given {type(value).__name__}")
    atom = ATOMS[kind](tape, value)
    assert atom is not None
    return atom


def converted(a: Array, kind: Scalar) -> Array:
    """`a` with elements of that type, as `astype` converts: Reals lose their fraction, truth is being no zero."""
    if a.type is kind:
        return a
    data = host_data(a)
    if data is not None and kind is TAN and not data.any():
        return fresh(a.tape, a.tape.bind(Zero(), array(a.shape, TAN)))
    if data is not None and kind is not TAN:
        return of_host(a.tape, data.astype({REAL: "float64", INT: "int64", BOOL: "bool"}[kind]))
    return an_array(a.tape, broadcast_map(a.tape, lambda x: cast(a.tape, x, kind), a))


def an_array(tape: Tape, made: Any) -> Array:
    """What was made of the elements of arrays; a number is an array without dimensions."""
    if made.__class__ is Array:
        return made
    return fresh(tape, made.atom) if hasattr(made, "atom") else of_host(tape, np.asarray(made))


def cast(tape: Tape, x: Any, kind: Scalar) -> Any:
    """A number as one of that type."""
    own = type_of(x)
    if kind is BOOL and own in (REAL, INT):
        return x != 0
    if kind is INT and own is REAL:
        return Int(tape, tape.apply(P["to_int"], real_atom(tape, x) or x.atom))
    atom = ATOMS[kind](tape, x)
    if atom is None:
        if TAN in (own, kind):
            refuse_tangent(tape, "a tangent is not made a number, nor a number a tangent")
        raise tape.type_fault(f"{own or type(x).__name__} is not made a {kind}")
    return wrap(tape, atom)


# --- truth values


_OF_BOOLS: dict[Make, Make] = {operator.add: operator.or_, operator.mul: operator.and_, abs: lambda x: x}


def logical(tape: Tape, op: Make, *operands: Any) -> Make:
    """`op` for these arrays and numbers: sums and products of truth values are truth values, as in NumPy."""
    kinds = {operand.type if operand.__class__ is Array else type_of(operand) for operand in operands}
    if kinds != {BOOL} or op not in (*_OF_BOOLS, operator.sub, operator.neg, operator.pos):
        return op
    if op in _OF_BOOLS:
        return _OF_BOOLS[op]
    raise tape.type_fault("truth values have no sign and are not subtracted, in NumPy neither", "use `^` or `~`")


def power_of_elements(base: Any, exponent: Any) -> Any:
    """`base ** exponent` of elements of arrays: of whole ones NumPy makes no fractions; a power of 0.5 is a root."""
    if type_of(base) is not None and number_kind(exponent) == "real" and exponent == 0.5:
        return P["sqrt"].__call__(base if type_of(base) is REAL else base * 1.0)
    if type_of(base) in (INT, BOOL) and number_kind(exponent) == "int" and exponent < 0:
        message = "integers to negative integer powers are not allowed"
        failure = Failure(
            "no integer", message, base.tape.here(), "use an array of floats: `x * 1.0`, or a float `-1.0`"
        )
        base.tape.check(Lit(False, BOOL), failure)
        return +base
    return base**exponent
