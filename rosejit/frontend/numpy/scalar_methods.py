"""Gives staged numbers the methods of NumPy's scalars and arrays without dimensions; importing it installs them."""

# Values of users are of any type: what they are is asked while staging.

import re
from collections.abc import Callable
from typing import Any

from rosejit.errors import RoseError
from rosejit.frontend.arrays.access import element, number
from rosejit.frontend.arrays.array import Array, fresh
from rosejit.frontend.numpy.registry import METHODS
from rosejit.frontend.scalar_ops.origins import pythons
from rosejit.frontend.values.complexes import Complex
from rosejit.frontend.values.scalars import Bool, Int, Real, Tan
from rosejit.numeric import np

_PYTHONS: dict[type, type] = {Real: float, Int: int, Bool: bool, Tan: object}
_OF_PYTHON: dict[type, str] = {Real: "float", Int: "int", Bool: "bool", Tan: "tangent"}


def _method(name: str) -> Callable[[Any], Any]:
    """What reads an attribute that numbers do not have themselves: the method of an array that holds this one."""

    def method(self: Any) -> Any:
        def called(*args: Any, **options: Any) -> Any:
            made = getattr(fresh(self.tape, self.atom), name)(*args, **options)
            return number(self.tape, element(made, ())) if made.__class__ is Array and not made.shape else made

        return called

    return method


_READ: dict[str, Callable[[Any], Any]] = {
    **{name: _method(name) for name, row in METHODS.items() if row.gives != "writes"},
    "T": lambda self: self,
    "is_integer": lambda self: lambda: True,  # before Python 3.12 of NumPy's integers alone
    "dtype": lambda self: fresh(self.tape, self.atom).dtype,  # pyright: ignore[reportAttributeAccessIssue]  # installed as well
    "tolist": lambda self: lambda: pythons(self.tape, self),
}  # fmt: skip


def _of_numpys(name: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`read`, but where a handler of the user's waits for the `AttributeError` that Python's numbers raise."""

    def asked(self: Any) -> Any:
        if self.tape.catching:
            self.tape.refuse_in_try(f"`{name}` of a number, which NumPy's have and Python's have not,", AttributeError)
        return read(self)

    return asked


for cls, python in _PYTHONS.items():
    for attribute, read in _READ.items():  # with a `__getattr__` all attributes would take five times as long
        if not hasattr(cls, attribute):
            setattr(cls, attribute, property(read if hasattr(python, attribute) else _of_numpys(attribute, read)))


_OF_COMPLEX: dict[str, Callable[[Any], Any]] = {
    "dtype": lambda self: np.dtype(complex),
    "item": lambda self: lambda: Complex(pythons(self.tape, self.real), pythons(self.tape, self.imag)),
}
for attribute, read in _OF_COMPLEX.items():
    setattr(Complex, attribute, property(_of_numpys(attribute, read)))


def _refused(name: str) -> Callable[[Any], Any]:
    """What reads an attribute of Python's numbers that staged ones do not have: no `AttributeError`, which a handler of
    the user's, or `hasattr`, would take for an answer."""

    def refused(self: Any) -> Any:
        raise self.tape.type_fault(
            f"`{name}` of a number needs the value of a staged {type(self).__name__}, which only running tells",
            "use a function of `math` or `numpy`, or make it a function of your own with `rose.opaque`",
        )

    return refused


for cls, python in _PYTHONS.items():
    for attribute in dir(python):
        if not attribute.startswith("_") and not hasattr(cls, attribute):
            setattr(cls, attribute, property(_refused(attribute)))


def reworded(error: AttributeError | TypeError) -> None:
    """Let Python's error about a staged number be what it says of the number: of an attribute that it does not have, or
    of the classes of operands."""
    if isinstance(error, TypeError):
        if not isinstance(error, RoseError) and _OUR_CLASSES.search(str(error)):
            error.args = (_OUR_CLASSES.sub(lambda found: f"'{_WORDS[found.group(1)]}'", str(error)),)
        return
    number: Any = error.obj
    kind: Any = type(number)
    if kind in _OF_PYTHON and str(error) == f"'{kind.__name__}' object has no attribute {error.name!r}":
        error.args = (f"'{_OF_PYTHON[kind]}' object has no attribute {error.name!r}",)


_WORDS = {**{cls.__name__: word for cls, word in _OF_PYTHON.items()}, "Array": "numpy.ndarray"}
_OUR_CLASSES = re.compile(f"'({'|'.join(_WORDS)})'")
