"""What functions of NumPy say of types, and those that give an array another form of the same numbers."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from typing import Any

from rosejit.errors import RoseValueError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.numpy import array_methods, creation, selection
from rosejit.frontend.numpy.staged_numpy import array_of, of
from rosejit.frontend.python.number_classes import answered
from rosejit.frontend.values.scalars import NUMBERS, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT
from rosejit.numeric import np


def astype(tape: Tape, x: Any, dtype: Any, copy: bool = True) -> Any:
    """`np.astype`."""
    if x.__class__ is not Array:
        raise tape.type_fault(f"Input should be a NumPy array. It is of type {type(x).__name__}.")
    return array_methods.astype(x, dtype, copy)


def checked_finite(tape: Tape, a: Any, dtype: Any = None) -> Any:
    """`np.asarray_chkfinite`."""
    made = creation.asarray(tape, a, dtype)
    what = "array must not contain infs or NaNs"
    reductions.require(tape, of(tape).all(of(tape).isfinite(made)), ValueError(what))
    return made


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """`np.rollaxis`, of NumPy's own arrays."""
    return np.rollaxis(a, axis, start)


def piecewise(tape: Tape, x: Any, condlist: Any, funclist: Any, args: Any, kw: Any) -> Any:
    """`np.piecewise`."""
    return selection.piecewise(array_of(tape, "np.piecewise", x), condlist, funclist, *args, **kw)


def logspace(tape: Tape, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0) -> Any:
    """`np.logspace`."""
    return of(tape).power(base * 1.0, of(tape).linspace(start, stop, num, endpoint))


def geomspace(tape: Tape, start: Any, stop: Any, num: Any = 50, endpoint: bool = True) -> Any:
    """`np.geomspace` between two numbers of one sign."""
    xp = of(tape)
    if any(type_of(end) is None for end in (start, stop)):
        raise tape.type_fault("`np.geomspace` is staged between two numbers")
    signs = xp.sign(start) * xp.sign(stop)  # a product of the numbers may be 0
    reductions.require(tape, signs != 0, ValueError("Geometric sequence cannot include zero"))
    reductions.require(
        tape, (signs > 0) | (signs != signs), ValueError("a geometric sequence between two signs is complex")
    )
    steps = np.arange(float(num)) / (max(num - 1, 1) if endpoint else max(num, 1))
    sizes = xp.power(abs(start) * 1.0, 1.0 - steps) * xp.power(abs(stop) * 1.0, steps)  # their ratio may be infinite
    return sizes * xp.sign(start)


def isscalar(tape: Tape, element: Any) -> bool:
    """`np.isscalar`: staged numbers are, and arrays without dimensions are not."""
    if element.__class__ in NUMBERS:
        return answered(tape, element, lambda cls: cls is not np.ndarray)
    return type_of(element) is not None


def result_type(tape: Tape, *arrays_and_dtypes: Any) -> Any:
    """`np.result_type`: what staged numbers and arrays count as, of Python's numbers and NumPy's arrays."""
    plain = {INT: 1, BOOL: True}

    def shown(value: Any) -> Any:
        if value.__class__ is Array:
            return np.empty(1, value.dtype)
        return plain.get(value.type, 1.0) if hasattr(value, "atom") else value

    return np.result_type(*map(shown, arrays_and_dtypes))


def quotient_and_rest(tape: Tape, x1: Any, x2: Any) -> tuple[Any, Any]:
    """`np.divmod`."""
    return of(tape).floor_divide(x1, x2), of(tape).remainder(x1, x2)


def parts_of(tape: Tape, x: Any) -> tuple[Any, Any]:
    """`np.modf`: the fraction, and the whole part, which has no derivative."""
    xp = of(tape)
    value = x * 1.0 if type_of(x) is not None else array_of(tape, "np.modf", x) * 1.0
    whole = xp.trunc(value)
    if type_of(value) is BOOL:
        raise tape.fault(RoseValueError, "`np.modf` takes numbers")
    return xp.copysign(xp.where(xp.isinf(value), 0.0, value - whole), value), whole
