"""Staged arrays of complex numbers: two arrays of Reals of one shape, which views of it share."""

# Values of users are of any type: what they are is asked while staging. Operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportIndexIssue=false, reportAttributeAccessIssue=false

from collections.abc import Callable, Iterator
from typing import Any

from rosejit import containers
from rosejit.frontend.arrays import array, narrow_array
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import MaskedArray
from rosejit.frontend.arrays.broadcast import an_array, broadcast_map, converted
from rosejit.frontend.values import complexes
from rosejit.frontend.values.complexes import Complex, complex_of, parts_of
from rosejit.frontend.values.open_lengths import has_open, refuse
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import REAL, TAN
from rosejit.numeric import np

Make = Callable[..., Any]


class ComplexArray:
    """An array of complex numbers. `real` and `imag` are its parts, which writes to them change."""

    __slots__ = ("_imag", "_real")
    __rose_complex__ = True
    __array_ufunc__ = None  # NumPy leaves operators to us

    def __init__(self, real: Any, imag: Any) -> None:
        self._real = real
        self._imag = imag

    def __repr__(self) -> str:
        return f"<staged complex array of shape {self.shape}>"

    @property
    def real(self) -> Any:
        """The real parts, a view."""
        return self._real

    @real.setter
    def real(self, value: Any) -> None:
        self._real[...] = value

    @property
    def imag(self) -> Any:
        """The imaginary parts, a view."""
        return self._imag

    @imag.setter
    def imag(self, value: Any) -> None:
        self._imag[...] = value

    @property
    def tape(self) -> Tape:
        """Where its operations are staged."""
        return self._real.tape

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self._real.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._real.size

    @property
    def dtype(self) -> Any:
        """As NumPy has it."""
        return np.dtype(complex)

    def __len__(self) -> int:
        return len(self._real)

    def __getitem__(self, index: Any) -> Any:
        return joined(self._real[index], self._imag[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        real, imag = both(self.tape, value)
        self._real[index], self._imag[index] = real, imag

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))


def joined(real: Any, imag: Any) -> Any:
    """What is complex of two numbers or two arrays."""
    if real.__class__ is Array or imag.__class__ is Array:
        tape = real.tape if real.__class__ is Array else imag.tape
        arrays = [as_array(tape, part) for part in (real, imag)]
        kinds = {a.type for a in arrays if a is not None}
        return ComplexArray(*(a if TAN in kinds or a is None else converted(a, REAL) for a in arrays))
    if real.__class__ is MaskedArray:
        raise real.tape.type_fault(
            "what a staged mask picks of a complex array is not staged", "pick from `z.real` and `z.imag`"
        )
    return complex_of(real, imag)


def is_complex(value: Any) -> bool:
    """Whether a value is a complex number or an array of them, staged or not."""
    return value.__class__ is ComplexArray or complexes.is_complex(value) or _is_hosts(value)


def _is_hosts(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "c"


def columns_of(value: Any) -> Any:
    """The columns of a list of complex numbers that a staged loop made."""
    found = getattr(value, "value", None) if value.__class__.__name__ == "StructOfArrays" else None
    return found if found.__class__ is ComplexArray else None


def holds_complex(value: Any) -> bool:
    """Whether something complex is in a value, or in a list or tuple that it is."""
    if value.__class__ in (list, tuple):
        return any(map(holds_complex, value))
    return is_complex(value) or columns_of(value) is not None


def both(tape: Tape, value: Any) -> tuple[Any, Any]:
    """The real and the imaginary part of numbers, arrays, or lists of them."""
    value = value if columns_of(value) is None else columns_of(value)
    if value.__class__ is ComplexArray:
        return value.real, value.imag
    if value.__class__ is Array:
        return converted(value, REAL), of_host(tape, np.zeros(value.shape))
    if isinstance(value, np.ndarray) and value.ndim:
        return of_host(tape, value.real.astype(float)), of_host(tape, value.imag.astype(float))
    if value.__class__ in (list, tuple):
        pairs = [both(tape, item) for item in value]
        return [real for real, _ in pairs], [imag for _, imag in pairs]
    found = parts_of(value.item() if isinstance(value, np.ndarray) else value)
    if found is None:
        raise tape.type_fault(f"complex arrays hold numbers, given {type(value).__name__}")
    return found


def as_complex(tape: Tape, value: Any) -> Any:
    """Numbers, arrays, or lists of them, as a complex array, or a complex number."""
    value = value if columns_of(value) is None else columns_of(value)
    if value.__class__ is ComplexArray or complexes.is_complex(value):
        return value
    real, imag = both(tape, value)
    _require_length(tape, real)
    if type_of(real) is not None:
        return complex_of(real, imag) if type_of(imag) is not None else None
    arrays = [an_array(tape, as_array(tape, part)) for part in (real, imag)]
    return ComplexArray(*(converted(a, REAL) if a.type is not TAN else a for a in arrays))


def made_outside(tape: Tape, value: Any) -> Any:
    """What a function of the host returned, as a value of staged code."""
    if narrow_array.is_narrow(value):
        return narrow_array.made_outside(tape, value)
    if not _is_hosts(value) or not isinstance(value, np.ndarray):
        return array.made_outside(tape, value)
    if value.dtype.itemsize != 16:
        raise tape.type_fault(f"an array of {value.dtype} cannot be staged", "convert with `.astype(complex)`")
    return as_complex(tape, value) if value.ndim else complex(value)


def _require_length(tape: Tape, *parts: Any) -> None:
    if any(has_open(getattr(part, "shape", ())) for part in parts):
        refuse(tape, "complex arithmetic")


def elementwise(tape: Tape, make: Make, *operands: Any) -> Any:
    """`make` of the elements of arrays and of numbers, broadcast; some are complex, or what it makes is."""
    given = [o if type_of(o) is not None or complexes.is_complex(o) else _array(tape, o) for o in operands]
    flat: list[Any] = []
    for operand in given:
        flat += [operand.real, operand.imag] if operand.__class__ is ComplexArray else [operand] * _is_array(operand)

    def made(*elements: Any) -> Any:
        supply = iter(elements)
        numbers: list[Any] = []
        for operand in given:
            if operand.__class__ is ComplexArray:
                numbers.append(Complex(next(supply), next(supply)))
            else:
                numbers.append(next(supply) if _is_array(operand) else operand)
        found = make(*numbers)
        return (found.real, found.imag) if complexes.is_complex(found) else found

    if not flat:
        return make(*given)
    _require_length(tape, *flat)
    found = broadcast_map(tape, made, *flat)
    return joined(*found) if found.__class__ is tuple else found


def _is_array(value: Any) -> bool:
    return value.__class__ is Array


def _array(tape: Tape, value: Any) -> Any:
    if value.__class__ in (Array, ComplexArray):
        return value
    found = as_complex(tape, value) if holds_complex(value) else as_array(tape, value)
    if found is None:
        raise tape.type_fault(f"complex arrays are combined with numbers and arrays, given {type(value).__name__}")
    return found


def _of_parts(real: Any, imag: Any) -> Any:
    if isinstance(real, np.ndarray) and isinstance(imag, np.ndarray):
        return containers.joined(real, imag)
    if Array in (real.__class__, imag.__class__):
        return joined(real, imag)
    return complex_of(real, imag)


ComplexArray.__name__ = "complex array"  # what messages call it
type(containers.COMPLEX).staged = staticmethod(_of_parts)
containers.COMPLEX.accepts = (*containers.COMPLEX.accepts, ComplexArray, Array)
