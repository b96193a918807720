"""The only door to NumPy, opened at first use: importing rosejit stays cheap, and Pyodide has no NumPy.

Where NumPy is not installed, `rosejit.plain` stands for it.
"""

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


def number_of(value: Any) -> Any:
    """A scalar of NumPy as Python's number, which plain arrays give at once."""
    return value.item() if hasattr(value, "item") else value


def _opened() -> ModuleType:
    try:
        return importlib.import_module("numpy")
    except ModuleNotFoundError:
        return importlib.import_module(_PLAIN)


__all__ = ["is_at_hand", "loaded", "np", "number_of"]
