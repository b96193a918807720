"""The kernels by name."""

from collections.abc import Callable, Mapping

from rosejit.ir.syntax import Function
from rosejit.ops.kernels import (
    arcs,
    error_function,
    exact,
    exponential,
    gamma,
    integer,
    logarithm,
    power,
    trigonometric,
)
from rosejit.ops.kernels.definition import Definition

_ALL: tuple[Definition, ...] = (
    *integer.ALL,
    *exact.ALL,
    *exponential.ALL,
    *logarithm.ALL,
    *power.ALL,
    *trigonometric.ALL,
    *arcs.ALL,
    *error_function.ALL,
    *gamma.ALL,
)

DEFINITIONS: Mapping[str, Definition] = {d.name: d for d in _ALL}


def _function(definition: Definition) -> Callable[[], Function]:
    return lambda: definition.function


KERNELS: Mapping[str, Callable[[], Function]] = {d.name: _function(d) for d in _ALL}
"""What makes the IR function of a kernel, when a program needs it: the same object every time."""
