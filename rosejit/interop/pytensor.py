"""Functions of rosejit as operations of PyTensor, which PyMC's models are made of: with gradients, to any order."""

# Values of users, and all that PyTensor has, are of any type.

import functools
from typing import Any

from rosejit.api.decorators import as_function
from rosejit.api.derivation.modes import pulled
from rosejit.api.function import Function
from rosejit.errors import StagingTypeError
from rosejit.interop.foreign_arguments import is_number, is_real, leaves_of, refuse_complex, required, with_leaves
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

op = required("pytensor.graph.op", "pytensor")
basic = required("pytensor.graph.basic", "pytensor")
tensors = required("pytensor.tensor", "pytensor")
gradient = required("pytensor.gradient", "pytensor")


def wrap(f: Any, *, ndim: int = 0) -> Any:
    """`f` as a function of PyTensor's variables, for models of PyMC: `pm.Potential("fit", wrap(f)(a, b))`.

    Arguments are real variables of any number of axes, numbers and arrays; they are computed with in float64. The
    result is a number, or an array of `ndim` axes: a graph is made before lengths are known. `pytensor.grad` of it,
    and of that, run compiled code.
    """
    base = as_function(f)

    @functools.wraps(base, updated=())
    def call(*args: Any) -> Any:
        given = [_variable(base, arg) for arg in args]
        return _Call(base, tuple([_Slot(x.ndim) for x in given]), _Slot(ndim))(*given)

    return call


def _variable(base: Function, value: Any) -> Any:
    found = tensors.as_tensor_variable(value)
    if found.dtype.startswith("complex"):
        raise StagingTypeError(f"`{base.__name__}` takes real variables, given one of {found.dtype}")
    return tensors.cast(found, "float64")


@dataclass(slots=True, frozen=True)
class _Slot:
    """Where a variable of so many axes stands in a structure."""

    ndim: int


def _is_slot(value: Any) -> bool:
    return value.__class__ is _Slot


class _Call(op.Op):
    """A call of a function: its arguments go to it in the structure `args`, and what it gives has that of `result`."""

    __props__ = ("function", "args", "result")

    def __init__(self, function: Function, args: tuple[Any, ...], result: Any) -> None:
        self.function = function
        self.args = args
        self.result = result

    def make_node(self, *inputs: Any) -> Any:
        """The node of a graph."""
        outputs = [tensors.TensorType("float64", (None,) * slot.ndim)() for slot in leaves_of(self.result, _is_slot)]
        return basic.Apply(self, [*inputs], outputs)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        """The numbers."""
        values = (x if x.ndim else float(x) for x in map(np.asarray, inputs))
        found = self.function(*with_leaves(self.args, _is_slot, values))
        refuse_complex(self.function, found)
        slots = [*leaves_of(self.result, _is_slot)]
        numbers = [*leaves_of(found, is_number)]
        if [np.ndim(x) for x in numbers if is_real(x)] != [slot.ndim for slot in slots] or len(numbers) != len(slots):
            raise StagingTypeError(
                f"`{self.function.__name__}` should return a real number, or an array of the axes that `wrap` is told",
                facts=(f"it returns {found!r:.60}, and `ndim` is {slots[0].ndim}",),
                help="`wrap(f, ndim=1)` is for a function that returns a vector of floats",
            )
        for storage, number in zip(output_storage, numbers, strict=True):
            storage[0] = np.asarray(number, dtype=float)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        """The cotangents of the inputs: another such call."""
        given = [
            tensors.zeros_like(x) if isinstance(ct.type, gradient.DisconnectedType) else ct
            for x, ct in zip(outputs, cotangents, strict=True)
        ]
        back = pulled(self.function, len(self.args))
        return _Call(back, (self.args, self.result), self.args)(*inputs, *given, return_list=True)

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> list[Any]:
        """As `pullback`, by the name of earlier versions."""
        return self.pullback(inputs, outputs, output_grads)

    def __str__(self) -> str:
        return f"rose {self.function.__name__}"
