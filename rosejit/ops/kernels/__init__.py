"""The kernels by name."""

from collections.abc import Callable, Mapping
from functools import cache

from rosejit.ir.primitive import Kernel, Primitive
from rosejit.ir.syntax import Apply, Function
from rosejit.ops.kernels import (
    correctly_rounded,
    error_function,
    exponential,
    gamma,
    integer,
    inverse_trig,
    logarithm,
    power,
    trigonometric,
)
from rosejit.ops.kernels.definition import Definition

_ALL: tuple[Definition, ...] = (
    *integer.ALL,
    *correctly_rounded.ALL,
    *exponential.ALL,
    *logarithm.ALL,
    *power.ALL,
    *trigonometric.ALL,
    *inverse_trig.ALL,
    *error_function.ALL,
    *gamma.ALL,
)

DEFINITIONS: Mapping[str, Definition] = {d.name: d for d in _ALL}


def _kernel_function(definition: Definition) -> Callable[[], Function]:
    return lambda: definition.function


_SMALL = 10
"""So many operations are written where they are used."""


@cache
def small_kernel(op: Primitive) -> Function | None:
    """The kernel of `op`, if it is straight-line code and so small that it needs no function of its own."""
    if not isinstance(op.wasm, Kernel):
        return None
    f = KERNELS[op.wasm.name]()
    assert f.body is not None
    small = len(f.body.lets) <= _SMALL and all(type(let.expr) is Apply for let in f.body.lets)
    return f if small else None


KERNELS: Mapping[str, Callable[[], Function]] = {d.name: _kernel_function(d) for d in _ALL}
"""What makes the IR function of a kernel, when a program needs it: the same object every time."""


def is_kernel(f: Function) -> bool:
    """Whether `f` is a kernel, and no function of the program."""
    return f.name in DEFINITIONS and KERNELS[f.name]() is f
