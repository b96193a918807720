"""Ufuncs of numbers and arrays of few bits: in which dtype NumPy computes, and how that is done in 64 bits."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false, reportOperatorIssue=false
# pyright: reportUnknownParameterType=false

from collections.abc import Callable
from typing import Any

from rosejit.errors import RoseError
from rosejit.frontend.arrays import narrow_array
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import broadcast_map, cast
from rosejit.frontend.arrays.narrow_array import (
    DTYPES,
    Narrow,
    as_dtype,
    converted_to,
    fitted,
    is_narrow,
    require_range,
    require_staged,
)
from rosejit.frontend.arrays.reductions import chosen, require
from rosejit.frontend.values.scalars import NUMBERS, P, Real, type_of
from rosejit.ir.types import BOOL, INT, REAL, TAN
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Make = Callable[..., Any]
Handler = Callable[[Any, Any, Args, Options], Any]
USUAL = NUMBERS | {Array, float, int, bool, str, type(None), slice}
"""Classes of which no value is narrow, nor holds one."""


def holds_narrow(value: Any) -> bool:
    """Whether a value is of such a dtype, or a list or tuple in which one is."""
    if value.__class__ in USUAL:
        return False
    if value.__class__ in (list, tuple):
        return any(map(holds_narrow, value))
    return is_narrow(value)


# --- functions of elements


def _power(tape: Any, x: Any, k: Any) -> Any:
    message = "Integers to negative integer powers are not allowed."
    require(tape, k >= 0, ValueError(message))
    return P["wpow"].__call__(x, k)


def _shifted(tape: Any, x: Any, k: Any) -> Any:
    return chosen((k >= 0) & (k < 64), P["shl"].__call__(x, k), 0)


def _shifted_down(tape: Any, x: Any, k: Any) -> Any:
    return P["shr"].__call__(x, chosen((k >= 0) & (k < 64), k, 63))


_MODULAR: dict[str, Make] = {
    "add": lambda tape, x, y: P["wadd"].__call__(x, y), "subtract": lambda tape, x, y: P["wsub"].__call__(x, y),
    "multiply": lambda tape, x, y: P["wmul"].__call__(x, y), "square": lambda tape, x: P["wmul"].__call__(x, x),
    "negative": lambda tape, x: P["wsub"].__call__(0, x), "power": _power, "left_shift": _shifted,
    "right_shift": _shifted_down,
}  # fmt: skip
"""Functions of integers of fewer than 64 bits, right modulo 2**64, and so modulo less."""


def _floor_quotient(x: Any, y: Any) -> Any:
    """As NumPy divides floats of 32 bits: each step rounded to them."""
    single = P["single"].__call__
    rest = P["fmod"].__call__(x, y)
    other = (rest != 0.0) & ((y < 0.0) != (rest < 0.0))
    quotient = single(single(x - rest) / y)
    quotient = chosen(other, single(quotient - 1.0), quotient)
    whole = P["floor"].__call__(quotient)
    whole = chosen(quotient - whole > 0.5, single(whole + 1.0), whole)
    found = chosen(quotient != 0.0, whole, P["copysign"].__call__(0.0, x / y))
    return chosen(y == 0.0, x / y, found)


_OF_SINGLES: dict[str, Make] = {"floor_divide": _floor_quotient}


def _made(tape: Any, name: str, make: Make, dtypes: list[Any]) -> Make:
    """What computes a function of elements in 64 bits."""
    whole = all(dtype.kind in "iu" for dtype in dtypes)
    if whole and name in _MODULAR and all(dtype.itemsize < 8 for dtype in dtypes):
        return lambda *operands: _MODULAR[name](tape, *operands)
    if name in _OF_SINGLES and all(dtype.name == "float32" for dtype in dtypes):
        return _OF_SINGLES[name]
    return make


class Operand:
    """An operand in 64 bits, and what NumPy knows it as: a dtype, or the class of a number of Python's."""

    __slots__ = ("kind", "wide")

    def __init__(self, tape: Any, name: str, value: Any) -> None:
        self.wide: Any = value
        self.kind: Any = None
        if is_narrow(value):
            self.wide, self.kind = narrow_array.operand(tape, value), value.dtype
        elif value.__class__ is Array or value.__class__ in NUMBERS:
            kind = value.type
            if kind is TAN:
                raise tape.type_fault(f"`np.{name}` of tangents and of numbers of few bits is not staged")
            self.kind = np.dtype(DTYPES[kind]) if value.__class__ is Array or kind is BOOL else _PYTHONS[kind]
        elif isinstance(value, (np.generic, np.ndarray)):
            self.kind = value.dtype
            self.wide = as_array(tape, value) if value.shape else value.item()
        elif type_of(value) is not None:
            self.kind = np.dtype(bool) if isinstance(value, bool) else _PYTHONS[type_of(value)]
        else:
            found = as_array(tape, value)
            if found is None:
                raise tape.type_fault(f"`np.{name}` takes numbers and arrays, given {type(value).__name__}")
            self.wide, self.kind = found, np.dtype(DTYPES[found.type])

    @property
    def strong(self) -> Any:
        """What it is known as if it is a number of NumPy's."""
        return self.kind if isinstance(self.kind, np.dtype) else np.dtype(self.kind)

    @property
    def sample(self) -> Any:
        """A value that NumPy takes for the same kind."""
        if not isinstance(self.kind, np.dtype):
            return self.kind(1)
        return np.ones((1,) * len(getattr(self.wide, "shape", ())), self.kind)[()]


_PYTHONS: dict[Any, type] = {REAL: float, INT: int, BOOL: bool}


def in_dtype(tape: Any, operand: Operand, dtype: Any, exactly: bool) -> Any:
    """An operand as the numbers of the dtype in which NumPy computes."""
    x, weak = operand.wide, not isinstance(operand.kind, np.dtype)
    if x.__class__ is Array:
        wide = {"f": REAL, "b": BOOL}.get(dtype.kind, INT)
        rounds = dtype.name == "float32" and operand.kind.name != "float32" and operand.kind.itemsize > 2
        if rounds:
            return converted_to(tape, x, dtype).wide
        return x if x.type is wide else as_dtype(tape, x, np.dtype(DTYPES[wide]))
    if dtype.kind == "f":
        return fitted(tape, x, dtype)
    if dtype.kind == "b":
        return cast(tape, x, BOOL) if hasattr(x, "atom") else bool(x)
    x = cast(tape, x, INT) if hasattr(x, "atom") else int(x)
    if weak and not exactly:
        require_range(tape, x, dtype)
    return x


def resolved(tape: Any, function: Any, kinds: list[Any]) -> tuple[Any, ...]:
    """The dtypes of the operands and of the results with which NumPy computes."""
    try:
        return function.resolve_dtypes((*kinds, *[None] * function.nout))
    except TypeError:
        shown = " and ".join([kind.__name__ if isinstance(kind, type) else str(kind) for kind in kinds])
        raise tape.type_fault(f"`np.{function.__name__}` of {shown} is not defined") from None


def note_weak(tape: Any, name: str, operands: list[Operand], dtypes: Any, resolve: Make) -> None:
    """Note a staged number on which it depends, being one of Python's, in which dtype NumPy computes."""
    for k, operand in enumerate(operands):
        if (
            isinstance(operand.kind, np.dtype)
            or operand.wide.__class__ not in NUMBERS
            or id(operand.wide) in tape.pythons
        ):
            continue
        strong = resolve([other.strong if j == k else other.kind for j, other in enumerate(operands)])
        if tuple(strong) != tuple(dtypes):
            tape.weak.append((operand.wide.atom, name, tape.here()))


def elementwise(session: Any, name: str, make: Make, function: Any, args: Args) -> Any:
    """A ufunc of numbers and arrays, broadcast."""
    tape = session.tape
    operands = [Operand(tape, name, value) for value in args]
    dtypes = resolved(tape, function, [operand.kind for operand in operands])
    note_weak(tape, name, operands, dtypes, lambda kinds: resolved(tape, function, kinds))
    for dtype in dtypes:
        require_staged(tape, dtype)
    taken, given = dtypes[: len(operands)], dtypes[len(operands) :]
    exactly = all(dtype.kind == "b" for dtype in given) and all(dtype.kind in "iu" for dtype in taken)
    wide = [in_dtype(tape, operand, dtype, exactly) for operand, dtype in zip(operands, taken, strict=True)]
    return mapped(tape, name, _made(tape, name, make, list(taken)), wide, given)


def mapped(tape: Any, name: str, make: Make, wide: list[Any], dtypes: Any) -> Any:
    """`make` of the elements of operands in 64 bits, its results in `dtypes`."""

    def element(*operands: Any) -> Any:
        try:
            found = make(*operands)
        except RoseError:
            raise
        except TypeError:
            raise tape.type_fault(f"`np.{name}` of such operands is not defined") from None
        results: tuple[Any, ...] = found if found.__class__ is tuple else (found,)
        made = [fitted(tape, x, dtype) for x, dtype in zip(results, dtypes, strict=True)]
        return tuple(made) if len(made) > 1 else made[0]

    is_array = any(x.__class__ is Array for x in wide)
    found = broadcast_map(tape, element, *wide) if is_array else element(*wide)
    results: tuple[Any, ...] = found if found.__class__ is tuple else (found,)
    made = [as_dtype(tape, x, dtype) for x, dtype in zip(results, dtypes, strict=True)]
    return tuple(made) if len(made) > 1 else made[0]


def refuse(session: Any, function: Any, how: str) -> Any:
    """Raise for what is not staged of numbers of few bits."""
    name = getattr(function, "__name__", "this function")
    raise session.tape.type_fault(
        f"`np.{name}`{how} is not staged for numbers of other dtypes than float64, int64 and bool",
        "convert before: `x.astype(np.float64)`, `x.astype(np.int64)`; docs/arrays.md lists what is",
    )


def operate(tape: Any, name: str, *operands: Any) -> Any:
    """A ufunc, as an operator calls it."""
    if name == "power" and operands[0].__class__ is Narrow and operands[1].__class__ is float:
        operands = operands[0], Real(tape, tape.literal(operands[1]))  # of one number 0.5 is a power too
    if name == "divmod":
        return tuple([operate(tape, each, *operands) for each in ("floor_divide", "remainder")])
    return tape.session.hooks.call(getattr(np, name), *operands)
