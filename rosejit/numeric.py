"""The only door to NumPy, opened at first use: importing rosejit stays cheap, and Pyodide has no NumPy.

Where NumPy is not installed, `rosejit.plain` stands for it.
"""

import array
import importlib
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _Nobody:
        """What is asked of a value while NumPy is not there: no value can be an array yet, nor a scalar of NumPy's."""

    class _Lazy(ModuleType):
        """Stands for the module `numpy` until an attribute is read. A module itself: in staged code its functions are
        NumPy's, which nobody changes."""

        def __getattr__(self, name: str) -> Any:
            if name in ("ndarray", "generic") and loaded() is None:
                return _Nobody
            found = getattr(_opened(), name)
            setattr(self, name, found)
            return found

    np = _Lazy("numpy")

_PLAIN = "rosejit.plain"


def loaded() -> Any:
    """NumPy, or what stands for it, if anybody has used it; else None: no value can be an array."""
    return sys.modules.get("numpy") or sys.modules.get(_PLAIN)


def is_at_hand(worth_loading: bool) -> bool:
    """Whether NumPy itself is there; where it has not been loaded yet, only if what it does is worth 0.1 s."""
    there = sys.modules.get("numpy")
    if there:
        return there is not sys.modules.get(_PLAIN)  # who has no NumPy may give that to programs that import it
    return worth_loading and _PLAIN not in sys.modules and find_spec("numpy") is not None


def is_foreign(cls: type) -> bool:
    """Whether values of a class, none of NumPy's, say that they are arrays: tensors, series, buffers, ..."""
    if cls in (memoryview, array.array):
        return True
    return any(hasattr(cls, way) for way in _WAYS) and not cls.__module__.startswith("rosejit.") and not _is_numpys(cls)


_WAYS = ("__array__", "__array_interface__", "__dlpack__")


def _is_numpys(cls: type) -> bool:
    numpy = loaded()
    return numpy is not None and issubclass(cls, (numpy.ndarray, numpy.generic))


def from_foreign(value: Any) -> Any:
    """Such a value as an array of NumPy, which may share its memory; any other value itself. Raises TypeError, which
    says why, where it is an array that NumPy cannot have: on another device, being traced, ..."""
    if not is_foreign(value.__class__):
        return value
    protocol = hasattr(value, "__dlpack__") and not any(hasattr(value, way) for way in _WAYS[:2])
    try:
        return np.from_dlpack(value) if protocol else np.asarray(value)
    except Exception as error:  # of a library that we know nothing of
        text = str(error).strip().partition("\n")[0]
    raise TypeError(f"{type(value).__module__.partition('.')[0]} says: {text}")


def _opened() -> ModuleType:
    try:
        return importlib.import_module("numpy")
    except ModuleNotFoundError:
        return importlib.import_module(_PLAIN)


__all__ = ["from_foreign", "is_at_hand", "is_foreign", "loaded", "np"]
