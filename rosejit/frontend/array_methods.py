"""Gives staged arrays the operators and methods of NumPy's; importing it installs them."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

import operator
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from rosejit.errors import ShapeError, StagingTypeError
from rosejit.frontend import reductions
from rosejit.frontend.arrays import Array, Axes, Fixed, Run, host_data
from rosejit.frontend.elementwise import broadcast_shape, mapped
from rosejit.frontend.indexing import assigned, get, set_
from rosejit.frontend.making import as_array
from rosejit.frontend.values import type_of
from rosejit.frontend.views import check_writable, copy, store

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


def operand(a: Array, other: Any) -> Any:
    """The other side of an operator: a number or an array; None for what may have an operator of its own."""
    if type_of(other) is not None:
        return other
    if isinstance(other, (str, bytes, dict, set, type(None))):
        raise a.tape.type_fault(f"an array is combined with numbers and arrays, given {type(other).__name__}")
    return as_array(a.tape, other)


def _forward(op: Callable[[Any, Any], Any]) -> Callable[[Array, Any], Any]:
    equality = op in (operator.eq, operator.ne)

    def method(self: Array, other: Any) -> Any:
        if equality and (other is None or isinstance(other, str)):
            return NotImplemented
        right = operand(self, other)
        return NotImplemented if right is None else mapped(self.tape, op, self, right, host=op)

    return method


def _reverse(op: Callable[[Any, Any], Any]) -> Callable[[Array, Any], Any]:
    def method(self: Array, other: Any) -> Any:
        left = operand(self, other)
        return NotImplemented if left is None else mapped(self.tape, op, left, self, host=op)

    return method


def _in_place(op: Callable[[Any, Any], Any]) -> Callable[[Array, Any], Any]:
    """`y += v` writes the array that `y` and all its other names are bound to."""

    def method(self: Array, other: Any) -> Any:
        right = operand(self, other)
        if right is None:
            return NotImplemented
        check_writable(self)
        if broadcast_shape(self.tape, (self, right)) != self.shape:
            shape = getattr(right, "shape", ())
            raise self.tape.fault(ShapeError, f"an array of shape {shape} does not fit into the shape {self.shape}")
        store(self, assigned(self, mapped(self.tape, op, self, right, host=op)))
        return self

    return method


def _one(op: Callable[[Any], Any]) -> Callable[[Array], Any]:
    return lambda self: mapped(self.tape, op, self, host=op)


def _matmul(self: Array, other: Any) -> Any:
    right = as_array(self.tape, other)
    return NotImplemented if right is None else reductions.matmul(self, right)


def _rmatmul(self: Array, other: Any) -> Any:
    left = as_array(self.tape, other)
    return NotImplemented if left is None else reductions.matmul(left, self)


def dot(self: Array, other: Any) -> Any:
    """`np.dot`: `@`, and a product with a number."""
    right = operand(self, other)
    if right is None:
        raise self.tape.type_fault(f"`dot` takes an array, given {type(other).__name__}")
    if right.__class__ is not Array or not right.shape or not self.shape:
        return mapped(self.tape, operator.mul, self, right, host=operator.mul)
    return reductions.matmul(self, right, "dot")


# --- shape


def transposed(self: Array, order: tuple[int, ...] | None = None) -> Array:
    """A view with the dimensions in another order."""
    order = tuple(reversed(range(self.ndim))) if order is None else order
    own: Axes = tuple(Run(k) for k in range(self.ndim)) if self.axes is None else self.axes
    axes = tuple(e if isinstance(e, Fixed) else Run(order.index(e.axis), e.start, e.step) for e in own)
    made = Array(self.tape, self.box, tuple(self.shape[k] for k in order), self.type, axes)
    made.anchor = self.anchor
    return made


def reshape(self: Array, *shape: Any) -> Array:
    """The elements in their order in another shape, as a new array; one length may be -1."""
    wanted: tuple[int, ...] = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if -1 in wanted:
        rest = -prod(wanted)
        wanted = tuple(prod(self.shape) // rest if n == -1 and rest else n for n in wanted)
    if prod(wanted) != prod(self.shape):
        raise self.tape.fault(ShapeError, f"an array of shape {self.shape} cannot have the shape {wanted}")
    return reductions.reshaped(self, wanted)


def _length(self: Array) -> int:
    if not self.shape:
        raise self.tape.fault(StagingTypeError, "an array without dimensions has no length")
    return self.shape[0]


def _iterate(self: Array) -> Iterator[Any]:
    return (get(self, k) for k in range(_length(self)))


def _unhashable(self: Array) -> int:
    raise self.tape.type_fault("an array is no key and no member of a set", "compare arrays with `np.all(a == b)`")


def _truth(self: Array) -> bool:
    data = host_data(self)
    if data is not None:
        return bool(data)
    raise self.tape.type_fault("Python needs the truth of a staged array", "use `np.all(x)` or `np.any(x)`")


def _contains(self: Array, item: Any) -> Any:
    raise self.tape.type_fault("`in` an array is not staged", "use `np.any(x == item)`")


def _install() -> None:
    methods: dict[str, Any] = {}
    for name, op in _BINARY.items():
        methods |= {f"__{name}__": _forward(op), f"__r{name}__": _reverse(op), f"__i{name}__": _in_place(op)}
    methods |= {f"__{name}__": _forward(op) for name, op in _COMPARISONS.items()}
    methods |= {"__neg__": _one(operator.neg), "__pos__": _one(operator.pos), "__abs__": _one(abs)}
    methods |= {"__invert__": _one(operator.invert), "__matmul__": _matmul, "__rmatmul__": _rmatmul}
    methods |= {"__getitem__": get, "__setitem__": set_, "__len__": _length, "__iter__": _iterate}
    methods |= {"__hash__": _unhashable, "__bool__": _truth, "__contains__": _contains}
    methods |= {"T": property(transposed), "size": property(lambda self: prod(self.shape))}
    methods |= {
        "copy": copy,
        "reshape": reshape,
        "ravel": lambda self: reshape(self, -1),
        "flatten": lambda self: reshape(self, -1),
    }
    methods |= {"sum": reductions.total, "mean": reductions.mean, "prod": reductions.product, "dot": dot}
    methods |= {"all": reductions.every, "any": reductions.some}
    methods |= {
        "max": lambda self, axis=None, keepdims=False: reductions.extreme(self, "max", axis, keepdims),
        "min": lambda self, axis=None, keepdims=False: reductions.extreme(self, "min", axis, keepdims),
        "tolist": lambda self: [item.tolist() if item.__class__ is Array else item for item in self],
    }
    for name, method in methods.items():
        setattr(Array, name, method)


_install()
