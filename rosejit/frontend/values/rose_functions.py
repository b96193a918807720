"""The functions of `rose` that loops are written with, as they are outside of staged code, and `rose.pure`."""

import builtins
from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def range(*args: int, checkpoint: bool | int | None = None, snapshots: int | None = None) -> "builtins.range":
    """`range` whose loop stays a loop in the compiled code; outside of staged code Python's own.

    `checkpoint` is for reverse mode, which keeps something of each iteration: with a number it keeps what the loop
    carries every so many iterations, and runs those in between once more when it comes back; with True as often as the
    root of their number says. `snapshots` is how many states are kept at once, however many iterations there are: those
    between two states run again as often as that takes, which is as seldom as can be (a binomial schedule), in blocks
    of `checkpoint` iterations, or else of as many as there are snapshots. The results are the same.

    Source: Griewank and Walther, Evaluating Derivatives (SIAM 2008), chapter 12; ACM Transactions on Mathematical
    Software 26 (2000), algorithm 799.

    >>> import rosejit as rose
    >>> @rose.grad
    ... def slope(x: float) -> float:
    ...     for _ in rose.range(10_000, checkpoint=True):
    ...         x = x - 0.001 * x * x
    ...     return x
    >>> round(slope(1.0), 6)
    0.008253
    """
    return builtins.range(*args)


def unroll(items: Iterable[T]) -> Iterable[T]:
    """`items`, whose loop is staged iteration by iteration, however many there are.

    >>> import rosejit as rose
    >>> @rose.jit
    ... def polynomial(x: float) -> float:
    ...     return sum(c * x**k for k, c in rose.unroll(list(enumerate([1.0, 0.0, 2.0]))))
    >>> polynomial(3.0)
    19.0
    """
    return items


def pure(function: T) -> T:
    """`function`, noted as one without effects: staged branches and loops may call it while they are staged.

    It is a function, a method of an object, a class or a function made in C. Of host values it runs in Python, once
    for each specialisation, and is not looked into.

    >>> import rosejit as rose
    >>> table = {}
    >>> @rose.pure
    ... def weight(kind):
    ...     return table.setdefault(kind, 0.5 * len(kind))
    >>> @rose.jit
    ... def scaled(x: float) -> float:
    ...     return x * weight("wood") if x > 0.0 else 0.0
    >>> scaled(3.0)
    6.0
    """
    if not callable(function):
        raise TypeError(f"`rose.pure` takes something that can be called, given {type(function).__name__}")
    key: Any = _identity(function)
    _declared[key] = function
    return function


_declared: dict[Any, Any] = {}
"""What `pure` was given, which it keeps: functions of C have no attributes to note it in."""


def is_declared_pure(function: Any) -> bool:
    """Whether `pure` was given a function, or the function of a method."""
    return bool(_declared) and (
        _identity(function) in _declared or id(getattr(function, "__func__", None)) in _declared
    )


def _identity(function: Any) -> Any:
    """A method of an object is made anew at each reading: it is known by both."""
    owner = getattr(function, "__self__", None)
    if owner is None:
        return id(function)
    return id(owner), getattr(function, "__name__", ""), id(getattr(function, "__func__", None))
