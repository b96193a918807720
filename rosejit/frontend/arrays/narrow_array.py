"""Staged numbers and arrays of NumPy's dtypes other than float64, int64 and bool: the same numbers in 64 bits, which
every operation brings back into their dtype (integers wrap around, floats are rounded to 24 bits)."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Iterator
from typing import Any

from rosejit import containers, narrow_values
from rosejit.errors import RoseOverflowError
from rosejit.frontend.arrays.array import Array, host_data, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import MaskedArray
from rosejit.frontend.arrays.broadcast import broadcast_map, cast, converted
from rosejit.frontend.values.host_scalars import narrow_dtype
from rosejit.frontend.values.scalars import P, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Failure, Var
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.narrow_values import HELD, STAGED, NarrowValue
from rosejit.numeric import np
from rosejit.ops import ieee754

DTYPES: dict[Scalar, str] = {REAL: "float64", INT: "int64", BOOL: "bool"}
_KINDS: dict[str, Scalar] = {"f": REAL, "i": INT, "u": INT, "b": BOOL}


class Narrow(NarrowValue):
    """A staged number of such a dtype: a scalar of NumPy's, as elements of arrays are."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy leaves operators to us
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __repr__(self) -> str:
        return f"<staged {self.dtype}>"

    @property
    def tape(self) -> Tape:
        """Where its operations are staged."""
        return self.wide.tape


class NarrowArray(NarrowValue):
    """A staged array of such a dtype. `wide` holds its elements, and views of it those of its views."""

    __slots__ = ()
    __array_ufunc__ = None

    def __repr__(self) -> str:
        return f"<staged {self.dtype} array of shape {self.shape}>"

    @property
    def tape(self) -> Tape:
        """Where its operations are staged."""
        return self.wide.tape

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self.wide.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.wide.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.wide.size

    def __len__(self) -> int:
        return len(self.wide)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        found = self.wide[index]
        if found.__class__ is MaskedArray:
            raise self.tape.type_fault(
                f"what a staged mask picks of an array of {self.dtype} is not staged",
                "keep the shape with `np.where(mask, x, 0)`, or pick of `x.astype(np.float64)`",
            )
        return as_dtype(self.tape, found, self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.wide[index] = stored(self.tape, value, self.dtype)


def is_narrow(value: Any) -> bool:
    """Whether a value is a number or an array of such a dtype, staged or not."""
    return isinstance(value, NarrowValue) or narrow_dtype(value) is not None


def require_staged(tape: Tape, dtype: Any) -> None:
    """Refuse dtypes of other bits than are staged."""
    if dtype.name in STAGED or dtype.name in DTYPES.values():
        return
    wider = "complex numbers: see docs/complex.md" if dtype.kind == "c" else "convert with `.astype(np.float64)` before"
    raise tape.type_fault(f"numbers of {dtype} are not staged", wider)


def operand(tape: Tape, value: Any) -> Any:
    """A number or an array of the host of such a dtype as a staged array, or as Python's number in 64 bits; of a staged
    one what holds it."""
    if isinstance(value, NarrowValue):
        return value.wide
    if value.dtype.name not in HELD:
        require_staged(tape, value.dtype)
    found = narrow_values.widened(value)
    return of_host(tape, found) if value.shape else found


def made_outside(tape: Tape, value: Any) -> Any:
    """What a function of the host returned, a number or an array of such a dtype."""
    return value if not value.shape else NarrowArray(operand(tape, value), value.dtype)


def captured(tape: Tape, data: Any, made: Array) -> Any:
    """The staged array for an array from outside; `made` is that in 64 bits."""
    dtype = narrow_dtype(data)
    return made if dtype is None else as_dtype(tape, made, dtype)


# --- into a dtype


def as_dtype(tape: Tape, wide: Any, dtype: Any) -> Any:
    """A number or an array of 64 bits, whose values `dtype` has, as one of that dtype."""
    if dtype.name not in HELD:
        require_staged(tape, dtype)
        kind = _KINDS[dtype.kind]
        if wide.__class__ is Array:
            return converted(wide, kind)
        return wide if type_of(wide) is kind else cast(tape, wide, kind)
    if wide.__class__ is Array:
        return NarrowArray(wide, dtype)
    return Narrow(wide, dtype) if hasattr(wide, "atom") else dtype.type(wide)


def fitted(tape: Tape, x: Any, dtype: Any) -> Any:
    """A number as one that `dtype` has: rounded, without its fraction, or modulo the bits that there are."""
    if dtype.kind == "b":
        return cast(tape, x, BOOL)
    if dtype.kind == "f":
        if not hasattr(x, "atom"):
            return float(x) if dtype.itemsize == 8 else ieee754.single(float(x))
        x = x if type_of(x) is REAL else cast(tape, x, REAL)
        return x if dtype.itemsize == 8 else P["single"].__call__(x)
    if type_of(x) is REAL:
        whole = cast(tape, x, INT)
        require_range(tape, whole, dtype)
        return whole
    x = cast(tape, x, INT)
    bits = 8 * dtype.itemsize
    if bits == 64:
        if dtype.kind == "u":
            require_range(tape, x, dtype)
        return x
    if dtype.kind == "u":
        return P["iand"].__call__(x, (1 << bits) - 1)
    return P["shr"].__call__(P["shl"].__call__(x, 64 - bits), 64 - bits)


def require_range(tape: Tape, x: Any, dtype: Any) -> None:
    """Raise, now or when the code runs, where a whole number is none of `dtype`. Those of uint64 have 63 bits here."""
    if dtype.name == "int64":
        return
    low, high = int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), (1 << 63) - 1)
    message = f"a number does not fit the bits of {dtype} that there are"
    remedy = "compute in 64 bits: `x.astype(np.int64)`; `k.astype(...)` of an array wraps around"
    help_text = "numbers of uint64 have 63 bits in staged code" if dtype.name == "uint64" else remedy
    fits = (x >= low) & (x <= high)
    if hasattr(fits, "atom"):
        tape.check(fits.atom, Failure("overflow", message, tape.here(), help_text))
    elif not fits:
        raise tape.fault(RoseOverflowError, message, help=help_text)


def converted_to(tape: Tape, value: Any, dtype: Any) -> Any:
    """`value.astype(dtype)`, of a number or an array of 64 bits: a new one."""
    require_staged(tape, dtype)
    if value.__class__ is not Array:
        return as_dtype(tape, fitted(tape, value, dtype), dtype)
    data = host_data(value)
    if data is not None and (data.dtype.kind != "f" or dtype.kind == "f"):
        with np.errstate(over="ignore"):
            return as_dtype(tape, of_host(tape, narrow_values.widened(data.astype(dtype))), dtype)
    return as_dtype(tape, broadcast_map(tape, lambda x: fitted(tape, x, dtype), value), dtype)


def stored(tape: Tape, value: Any, dtype: Any) -> Any:
    """What is put into an array of `dtype`, in 64 bits. Floats are not cut to integers, as NumPy does in silence."""
    given = value.dtype if is_narrow(value) else None
    if given is not None:
        value = operand(tape, value)
    elif value.__class__ is not Array and type_of(value) is None:
        value = as_array(tape, value)
    if given == dtype:
        return value
    require_staged(tape, dtype)
    kind = value.type if value.__class__ is Array else type_of(value)
    if kind is REAL and dtype.kind != "f":
        raise tape.type_fault(
            f"an array of {dtype} cannot hold a {kind}", f"say so: `.astype(np.{dtype})` drops the fraction"
        )
    if value.__class__ is Array:
        return converted_to(tape, value, dtype).wide
    if kind is INT and given is None and dtype.kind != "f":
        require_range(tape, value, dtype)
    return fitted(tape, value, dtype)


def narrow_of(wide: Any, name: str) -> Any:
    """A value of the dtype of that name, of a part of 64 bits which it has."""
    if isinstance(getattr(wide, "atom", None), Var):
        wide.tape.given[wide.atom] = np.dtype(name).type
    if wide.__class__ is Array or hasattr(wide, "atom"):
        return as_dtype(wide.tape, wide, np.dtype(name))
    return narrow_values.narrowed(wide, name)


Narrow.__name__ = "number of NumPy's"  # what messages call it
NarrowArray.__name__ = "array of few bits"
type(containers.NARROW).staged = staticmethod(narrow_of)
containers.NARROW.accepts = (NarrowValue,)
