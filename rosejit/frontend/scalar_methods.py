"""Gives staged numbers the methods of NumPy's scalars and arrays without dimensions; importing it installs them."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from typing import Any

from rosejit.frontend.array_methods import METHODS, method_of
from rosejit.frontend.arrays import Array, fresh
from rosejit.frontend.values import NUMBERS, Bool, Int, Real, Tan
from rosejit.frontend.views import element, number

_NAMES = frozenset({
    "sum", "mean", "prod", "min", "max", "all", "any", "clip", "copy", "dot", "cumsum", "cumprod", "reshape", "ravel",
    "flatten", "squeeze", "transpose", "round", "astype", "item", "conj",
})  # fmt: skip
"""The methods of arrays that are those of a number too."""
_OF_PYTHON: dict[type, str] = {Real: "float", Int: "int", Bool: "bool", Tan: "tangent"}


def _method(self: Any, name: str) -> Any:
    """An attribute that numbers do not have themselves: the method of an array that holds this one."""
    if name == "T":
        return self
    if name == "dtype":
        return fresh(self.tape, self.atom).dtype  # pyright: ignore[reportAttributeAccessIssue]  # installed as well
    if name not in _NAMES and name != "tolist":
        raise AttributeError(f"'{_OF_PYTHON[type(self)]}' object has no attribute {name!r}")

    def called(*args: Any, **options: Any) -> Any:
        if name == "tolist":
            return self
        made = method_of(name, METHODS[name])(fresh(self.tape, self.atom), *args, **options)
        return number(self.tape, element(made, ())) if made.__class__ is Array and not made.shape else made

    return called


for cls in NUMBERS:
    cls.__getattr__ = _method  # methods are installed
