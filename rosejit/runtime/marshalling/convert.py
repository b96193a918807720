"""Python and NumPy values to what crosses the border; `Mismatch` for a value that is not of the kind asked for."""

import contextlib
from typing import Any, NoReturn

from rosejit.abi import Element
from rosejit.containers import is_container
from rosejit.errors import RoseOverflowError
from rosejit.list_room import Mismatch
from rosejit.numeric import from_foreign, loaded, np

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
_KINDS: dict[Element, str] = {"real": "fiub", "int": "iu", "bool": "b"}
_DTYPES: dict[Element, str] = {"real": "float64", "int": "int64", "bool": "bool"}
"""Elements of few bits are called as their dtype."""


def dtype(element: Element) -> Any:
    """The dtype of arrays of `element`."""
    return np.dtype(_DTYPES.get(element, element))


def real(value: Any) -> float:
    """A float from a float, an int or a real scalar of NumPy."""
    if isinstance(value, (float, int)):
        try:
            return float(value)
        except OverflowError:
            raise Mismatch("an int that no float is near to") from None
    return float(_scalar(value, "fiub", "a real number"))


def exact_integer(value: Any) -> int:
    """As `integer`, but from no number of few bits: that asks for other code."""
    _require_64_bits(value)
    return integer(value)


def _require_64_bits(value: Any) -> None:
    dtype: Any = getattr(value, "dtype", None)
    if getattr(dtype, "kind", "") in ("f", "i", "u") and (dtype.itemsize != 8 or dtype.kind == "u"):
        raise Mismatch(f"numbers of 64 bits are needed, not of {dtype}")


def exact_real(value: Any) -> float:
    """As `real`, but from no int, nor from a number of few bits: these ask for other code."""
    _require_64_bits(value)
    return float(value) if isinstance(value, float) else float(_scalar(value, "f", "a float"))


def of_pythons(value: Any) -> NoReturn:
    """For a number of another class than Python's own, where the program asks for it: that asks for other code."""
    raise Mismatch(f"a number of another class, {type(value).__name__}")


def integer(value: Any) -> int:
    """An int from an int or an integer of NumPy, but from no bool. Raises RoseOverflowError beyond 64 bits."""
    if isinstance(value, bool):
        raise Mismatch("an integer is needed, not a bool")
    number = int(value) if isinstance(value, int) else int(_scalar(value, "iu", "an integer"))
    if not INT_MIN <= number <= INT_MAX:
        too_big(number)
    return number


def boolean(value: Any) -> bool:
    """A bool from a bool or one of NumPy's."""
    return value if isinstance(value, bool) else bool(_scalar(value, "b", "a bool"))


def too_big(*numbers: Any) -> NoReturn:
    """Refuse the first of some ints, or lists of ints, that is too big; nothing wraps in silence."""
    for number in numbers:
        parts: list[Any] = [number] if isinstance(number, int) else [*number]
        for part in parts:
            if not INT_MIN <= part <= INT_MAX:
                raise RoseOverflowError(f"the integer {part} does not fit 64 bits")
    raise AssertionError(numbers)


def array(value: Any, shape: tuple[int, ...], element: Element) -> Any:
    """An array of that shape and dtype from an array, nested lists or what NumPy makes an array of."""
    found = _asarray(value)
    if found.dtype.kind not in _KINDS[element] and (found.size or isinstance(value, np.ndarray)):
        found = _of_big_ints(value, element)
    if found.shape != shape:
        raise Mismatch(f"an array of shape {shape} is needed, this has {found.shape}")
    if element == "int" and found.dtype.kind == "u" and found.size and int(found.max()) > INT_MAX:
        too_big(int(found.max()))
    return found.astype(dtype(element), copy=False)


def stored_array(value: Any, shape: tuple[int, ...], element: Element) -> Any:
    """An array of that shape from one of that dtype of few bits."""
    found = _asarray(value)
    if found.dtype.name != element or found.shape != shape:
        raise Mismatch(f"an array of {element} and of shape {shape} is needed")
    return found.astype(dtype(element), copy=False)  # its bytes may be the other way round


def exact_array(value: Any, shape: tuple[int, ...], element: Element) -> Any:
    """As `array`, but from no ints or bools where Reals are asked for."""
    found = _asarray(value)
    if element == "real" and found.dtype.kind != "f" and found.size:
        raise Mismatch(f"an array of floats is needed, not of {found.dtype}")
    _require_64_bits(found)
    return array(value, shape, element)


def own_array(value: Any, shape: tuple[int, ...], element: Element) -> Any:
    """As `array`, but from no list, nor another container."""
    _require_array(value)
    return array(value, shape, element)


def own_exact_array(value: Any, shape: tuple[int, ...], element: Element) -> Any:
    """As `exact_array`, but from no list, nor another container."""
    _require_array(value)
    return exact_array(value, shape, element)


def _require_array(value: Any) -> None:
    if is_container(value):
        raise Mismatch("an array is needed, not a list or a tuple")


def _asarray(value: Any, dtype: type | None = None) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        raise Mismatch("a masked array has no value at its masked places")
    try:
        return np.asarray(from_foreign(value), dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise Mismatch(f"no array: {error}") from None


def _of_big_ints(value: Any, element: Element) -> Any:
    """NumPy makes floats or objects of lists with ints beyond 64 bits; nothing else may be here."""
    found = _asarray(value, object) if isinstance(value, (list, tuple)) else _asarray(value)
    kinds: set[Any] = {type(number) for number in found.flat} if found.dtype.kind == "O" else set()
    if element == "int" and kinds == {int}:
        too_big(max(found.flat, key=abs))
    if element == "real" and kinds and kinds <= {int, float, bool}:
        with contextlib.suppress(OverflowError):
            return found.astype(float)
    raise Mismatch(f"an array of {_DTYPES[element]} is needed, not of {found.dtype}")


def _scalar(value: Any, kinds: str, wanted: str) -> Any:
    """`value` if it is a scalar of NumPy or an array without axes, of one of the dtype `kinds`."""
    try:
        value = from_foreign(value)
    except TypeError as error:
        raise Mismatch(str(error)) from None
    numpy = loaded()  # without it nothing can be one of its values
    known = numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray))
    if known and value.ndim == 0 and value.dtype.kind in kinds:
        if getattr(value, "mask", False):
            raise Mismatch("a masked number has no value")
        return value.item()
    raise Mismatch(f"{wanted} is needed, not a {type(value).__name__}")
