"""Which classes of arrays and numbers compute in ways of their own, which staged code would pass over."""

import functools

from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.numeric import np


@functools.lru_cache(256)
def has_own_arithmetic(cls: type) -> bool:
    """Whether a class of arrays computes otherwise than NumPy's arrays: matrices, arrays with units."""
    if not issubclass(cls, np.ndarray) or cls is np.ndarray or cls.__module__.startswith("numpy.ma"):
        return False
    return any(getattr(cls, name) is not getattr(np.ndarray, name) for name in _ARITHMETIC)


_ARITHMETIC = ("__add__", "__mul__", "__matmul__", "__pow__", "__array_ufunc__", "__array_function__", "sum")


@functools.lru_cache(256)
def is_number_of_its_own(cls: type) -> bool:
    """Whether a class of the user's, derived from one of Python's numbers, has operators of its own."""
    own = [base for base in cls.__mro__ if is_users_class(base)]
    return any(name in vars(base) for base in own for name in _OPERATORS)


_OPERATORS = {
    name
    for name in {*dir(int), *dir(float), *dir(complex)} - {*dir(object)}
    if name.startswith("__") and name not in ("__getnewargs__", "__getformat__")
} | {"__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__ne__"}
"""The names of the operators of numbers."""
