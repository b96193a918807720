"""An artifact to Python functions: loads the module into an engine and calls its entries. Knows no compiler."""

from rosejit.runtime.loaded_program import Compiled, load

__all__ = ["Compiled", "load"]
