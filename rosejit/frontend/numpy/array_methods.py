"""Gives staged arrays the operators of NumPy's, and says what their methods do; importing it installs the operators."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

import operator
from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import Any

from rosejit.errors import RoseValueError, ShapeError, StagingTypeError
from rosejit.frontend.arrays import narrow_array, reductions
from rosejit.frontend.arrays.access import check_writable, copy, store
from rosejit.frontend.arrays.array import Array, host_data
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import MaskedArray, applied
from rosejit.frontend.arrays.broadcast import (
    broadcast_map,
    broadcast_shape,
    cast,
    converted,
    logical,
    power_of_elements,
)
from rosejit.frontend.arrays.call_binding import kind_of
from rosejit.frontend.arrays.complex_array import as_complex, elementwise, is_complex
from rosejit.frontend.arrays.getitem import get, set_
from rosejit.frontend.arrays.host_tables import UNKNOWN, tabled
from rosejit.frontend.arrays.narrow_array import is_narrow
from rosejit.frontend.arrays.setitem_cast import assigned
from rosejit.frontend.numpy import contractions, manipulation
from rosejit.frontend.scalar_ops.operators import OF_NARROW
from rosejit.frontend.scalar_ops.origins import pythons
from rosejit.frontend.scalar_ops.staged_text import require_host_parts
from rosejit.frontend.values.host_scalars import is_numpys_value, narrow_dtype
from rosejit.frontend.values.scalars import P, type_of, unlike_numbers, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Lit
from rosejit.ir.types import BOOL, INT, REAL, TAN
from rosejit.narrow_values import STAGED, NarrowValue
from rosejit.numeric import np

Op = Callable[..., Any]

_BINARY: dict[str, Op] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": power_of_elements, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift, "rshift": operator.rshift,
}  # fmt: skip
_COMPARISONS: dict[str, Op] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


# --- operators


def operand(a: Array, other: Any) -> Any:
    """The other side of an operator: a number or an array; None for what may have an operator of its own."""
    if type_of(other) is not None:
        return other
    if isinstance(other, NarrowValue):
        return None
    if isinstance(other, (str, bytes, dict, set, type(None))):
        raise a.tape.type_fault(f"an array is combined with numbers and arrays, given {type(other).__name__}")
    return as_array(a.tape, other)


def of_elements(op: Op, left: Any, right: Any) -> Any:
    """An operator of two operands, one of them an array at least."""
    tape = left.tape if left.__class__ is Array else right.tape
    if tape.rolled is not None:
        found = tabled(tape, partial(of_elements, op), (left, right))
        if found is not UNKNOWN:
            return found
    if op is power_of_elements and right.__class__ is Array and not right.shape and host_data(right) is not None:
        right = host_data(right).item()
    if op in _OF_FEW_BITS and _is_of_bools(left, right):
        if op is power_of_elements and right.__class__ is int and right == 2:
            return tape.session.hooks.call(np.square, left)
        return OF_NARROW[_TOLD[op]](tape, left, right)
    return broadcast_map(tape, logical(tape, op, left, right), left, right, host=op)


_TOLD: dict[Op, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", power_of_elements: "**", operator.and_: "&", operator.or_: "|", operator.xor: "^",
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==", operator.ne: "!=",
    operator.lshift: "<<", operator.rshift: ">>",
}  # fmt: skip
_OF_FEW_BITS = frozenset({operator.floordiv, operator.mod, power_of_elements, operator.lshift, operator.rshift})
"""Operators of which NumPy gives int8 where both operands are truth values."""


def _is_of_bools(left: Any, right: Any) -> bool:
    return any(x.__class__ is Array and x.type is BOOL for x in (left, right))


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "power_of_elements": "**"}


def _unlike(self: Array, op: Op, other: Any) -> Any:
    """The answer to an operand that is no number: its own operator, or an error for one of NumPy's."""
    if is_numpys_value(other):
        raise unlike_numbers(self.tape, _SYMBOLS.get(op.__name__, op.__name__), other)
    return NotImplemented


def _forward(op: Op) -> Op:
    equality = op in (operator.eq, operator.ne)

    def method(self: Array, other: Any) -> Any:
        if is_complex(other):
            return elementwise(self.tape, op, self, other)
        if equality and (other is None or isinstance(other, str)):
            return NotImplemented
        if narrow_dtype(other) is not None:
            return OF_NARROW[_TOLD[op]](self.tape, self, other)
        right = operand(self, other)
        return _unlike(self, op, other) if right is None else of_elements(op, self, right)

    return method


def _reverse(op: Op) -> Op:
    def method(self: Array, other: Any) -> Any:
        if is_complex(other):
            return elementwise(self.tape, op, other, self)
        if narrow_dtype(other) is not None:
            return OF_NARROW[_TOLD[op]](self.tape, other, self)
        left = operand(self, other)
        return _unlike(self, op, other) if left is None else of_elements(op, left, self)

    return method


def _in_place(op: Op) -> Op:
    """`y += v` writes the array that `y` and all its other names are bound to."""

    def method(self: Array, other: Any) -> Any:
        if is_complex(other):
            raise self.tape.type_fault("an array of real numbers holds no complex ones", "write `y = y + z`")
        if is_narrow(other):
            return _in_place_of_narrow(op, self, other)
        right = operand(self, other)
        if right is None:
            return NotImplemented
        check_writable(self)
        if broadcast_shape(self.tape, (self, right)) != self.shape:
            shape = getattr(right, "shape", ())
            raise self.tape.fault(ShapeError, f"an array of shape {shape} does not fit into the shape {self.shape}")
        store(self, assigned(self, of_elements(op, self, right)))
        return self

    return method


def _in_place_of_narrow(op: Op, a: Array, other: Any) -> Any:
    made = OF_NARROW[_TOLD[op]](a.tape, a, other)
    check_writable(a)
    if made.shape != a.shape:
        raise a.tape.fault(ShapeError, f"an array of shape {made.shape} does not fit into the shape {a.shape}")
    if is_narrow(made) or made.type is not a.type:
        kinds = f"it gives {made.dtype}, and the array holds {np.dtype(narrow_array.DTYPES[a.type])}"
        raise a.tape.type_fault(f"`{_TOLD[op]}=` does not fit: {kinds}", "bind the result to a name: `y = y + v`")
    store(a, assigned(a, made))
    return a


def _one(op: Op) -> Op:
    def method(self: Array) -> Any:
        found = UNKNOWN if self.tape.rolled is None else tabled(self.tape, method, (self,))
        return broadcast_map(self.tape, logical(self.tape, op, self), self, host=op) if found is UNKNOWN else found

    return method


def _both(self: Any, other: Any) -> Any:
    return self // other, self % other


def _both_reversed(self: Any, other: Any) -> Any:
    return other // self, other % self


def _matmul(self: Array, other: Any) -> Any:
    if is_narrow(other):
        return OF_NARROW["@"](self.tape, self, other)
    right = as_array(self.tape, other)
    return _unlike(self, operator.matmul, other) if right is None else _product(self.tape, self, right)


def _rmatmul(self: Array, other: Any) -> Any:
    if is_narrow(other):
        return OF_NARROW["@"](self.tape, other, self)
    left = as_array(self.tape, other)
    return _unlike(self, operator.matmul, other) if left is None else _product(self.tape, left, self)


def _product(tape: Tape, left: Array, right: Array) -> Any:
    found = UNKNOWN if tape.rolled is None else tabled(tape, contractions.matmul, (left, right))
    return contractions.matmul(left, right) if found is UNKNOWN else found


def _imatmul(self: Array, other: Any) -> Any:
    made = _matmul(self, other)
    return NotImplemented if made is NotImplemented else put_all(self, made)


# --- what Python asks


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


def _unknown(self: Array, name: str) -> Any:
    """An attribute that arrays here do not have: NumPy's are refused, others do not exist."""
    if name.startswith("_") or not hasattr(np.ndarray, name):
        raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
    raise self.tape.type_fault(
        f"`.{name}` of a staged array is not staged", "docs/arrays.md lists what is; write the rest as a loop"
    )


# --- methods


def astype(a: Array, dtype: Any, copy: bool = True) -> Any:
    """`x.astype(dtype)`: a new array, of Reals, Ints, Bools or complex numbers; unless `copy`, `a` itself if it is one
    of these."""
    if dtype is complex or np.dtype(dtype).name == "complex128":
        return as_complex(a.tape, a)
    if np.dtype(dtype).name in STAGED:
        return narrow_array.converted_to(a.tape, a, np.dtype(dtype))
    kind = kind_of(a.tape, dtype)
    assert kind is not None
    same = a.type is kind or (a.type is TAN and kind is REAL)
    if same:
        return _copy(a) if copy else a
    return converted(a, kind)


_copy = copy


def item(a: Array, *index: Any) -> Any:
    """`x.item()`, `x.item(k)`: one element."""
    at: Any = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    if not at and prod(a.shape) != 1:
        raise a.tape.fault(ShapeError, f"only an array of one element has `.item()`, its shape is {a.shape}")
    if len(at) == 1 and a.ndim != 1:
        return pythons(a.tape, get(manipulation.reshape(a, -1), at[0]))
    return pythons(a.tape, get(a, at or (0,) * a.ndim))


def put_all(a: Array, value: Any) -> Array:
    """`x[...] = value`."""
    set_(a, Ellipsis, value)
    return a


def clipped(x: Any, low: Any, high: Any) -> Any:
    """One number between two; None is no bound."""
    for name, bound in (("max", low), ("min", high)):
        if bound is not None:
            x = reductions.larger(name, x, bound)
    return x


def _between_numbers(x: Any, low: Any, high: Any) -> Any:
    """A Real between two numbers, which are the same for all elements: NumPy keeps the sign of a zero there."""
    if type_of(x) is not REAL:
        return clipped(x, low, high)
    for name, bound in (("max", low), ("min", high)):
        found, is_number = P[name].__call__(x, bound), bound == bound
        x = found if is_number is True else reductions.chosen(is_number, found, bound)
    return x


def clip(a: Array, min: Any = None, max: Any = None) -> Any:
    """`x.clip(min, max)`."""
    bounds = [bound if bound is None or type_of(bound) is not None else as_array(a.tape, bound) for bound in (min, max)]
    given = [bound for bound in bounds if bound is not None]
    are_numbers = all(type_of(bound) is not None for bound in bounds)

    def make(x: Any, *values: Any) -> Any:
        if are_numbers:
            return _between_numbers(x, *values)
        queue = list(values)
        return clipped(x, *(None if bound is None else queue.pop(0) for bound in bounds))

    return broadcast_map(a.tape, make, a, *given)


def clip_to(a: Any, a_min: Any = ..., a_max: Any = ..., min: Any = ..., max: Any = ...) -> Any:
    """`np.clip`, whose bounds have two names each."""
    old, new = [b for b in (a_min, a_max) if b is not ...], [b for b in (min, max) if b is not ...]
    if len(old) == 1 or (old and new):
        raise a.tape.type_fault("`np.clip` takes two bounds by place, or `min` and `max` by name")
    low, high = (None if b is ... else b for b in ((a_min, a_max) if old else (min, max)))
    return applied(lambda x: clipped(x, low, high), a) if a.__class__ is MaskedArray else clip(a, low, high)


def rounded(x: Any, digits: int = 0) -> Any:
    """As NumPy rounds: scaled, to the nearest, and back."""
    kind, scale, nearest = type_of(x), 10.0 ** abs(digits), P["nearest"].__call__
    if kind is BOOL:
        raise x.tape.type_fault("truth values are not rounded", "convert with `.astype(float)`")
    if kind is INT:
        return x if digits >= 0 else cast(x.tape, nearest(x / scale) * scale, INT)
    if not digits:
        return nearest(x)
    return nearest(x * scale) / scale if digits > 0 else nearest(x / scale) * scale


def cumulative(op: Op, start: float) -> Op:
    """`np.cumsum`, `np.cumprod` and their like: along one axis, or of all elements in order. A sum starts from -0.0,
    which changes no number that is added to it."""

    def make(a: Array, axis: Any = None, dtype: Any = None) -> Array:
        a = reductions.as_type(a, dtype)
        a = converted(a, INT) if a.type is BOOL else a
        first = reductions.first_of(start, a.type) if a.type is not TAN else wrap(a.tape, Lit(0.0, TAN))
        if axis is None:
            flat = a if a.ndim == 1 else manipulation.reshaped(a, (prod(a.shape),))
            return reductions.running(flat, op, first)
        axis = reductions.one_axis(a, axis)
        order = (*(k for k in range(a.ndim) if k != axis), axis)
        made = reductions.running(manipulation.transposed(a, order), op, first)
        return manipulation.transposed(made, tuple(order.index(k) for k in range(a.ndim)))

    return make


def trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """`np.trace`."""
    return reductions.total(manipulation.diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


def take(a: Array, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    """`np.take`."""
    if axis is None:
        a, axis = manipulation.reshape(a, -1), 0
    axis = reductions.one_axis(a, axis)
    if mode not in ("raise", "wrap", "clip"):
        raise a.tape.fault(RoseValueError, f"clipmode must be 'clip', 'raise' or 'wrap', given {mode!r}")
    if mode != "raise":
        at: Any = indices if type_of(indices) is not None else as_array(a.tape, indices)
        length = a.shape[axis]
        indices = at % length if mode == "wrap" else broadcast_map(a.tape, lambda k: clipped(k, 0, length - 1), at)
    return get(a, (*[slice(None)] * axis, indices))


def round_to(a: Any, decimals: int = 0) -> Any:
    """`np.round`."""
    if a.__class__ is MaskedArray:
        return applied(lambda x: rounded(x, decimals), a)
    return broadcast_map(a.tape, lambda x: rounded(x, decimals), a)


def fill(a: Array, value: Any) -> None:
    """`x.fill(value)`."""
    put_all(a, value)


def listed(a: Any) -> list[Any]:
    """`x.tolist()`."""
    made = [item.tolist() if item.__class__ is Array else pythons(a.tape, item) for item in a]
    a.tape.record_allocation(made)
    return made


def conjugate(a: Array) -> Array:
    """`x.conj()`: itself."""
    return a


def flattened(a: Array, order: Any = "C") -> Array:
    """`x.flatten()`: a copy."""
    return _copy(manipulation.in_order(a, -1, order))


def viewed_again(a: Array) -> Array:
    """`x.view()`: the same elements, under another name."""
    return get(a, Ellipsis) if a.ndim else a


def known_places(a: Array) -> Any:
    """`x.nonzero()`, of elements that staging knows."""
    data = host_data(a)
    if data is None:
        raise a.tape.type_fault(
            "`x.nonzero()` needs to know where a staged array holds, which only running tells",
            "keep the shape with `np.where(mask, x, 0.0)`",
        )
    return data.nonzero()


def _install() -> None:
    methods: dict[str, Any] = {}
    for name, op in _BINARY.items():
        methods |= {f"__{name}__": _forward(op), f"__r{name}__": _reverse(op), f"__i{name}__": _in_place(op)}
    methods |= {f"__{name}__": _forward(op) for name, op in _COMPARISONS.items()}
    methods |= {"__neg__": _one(operator.neg), "__pos__": _one(operator.pos), "__abs__": _one(abs)}
    methods |= {"__invert__": _one(operator.invert), "__divmod__": _both, "__rdivmod__": _both_reversed}
    methods |= {"__matmul__": _matmul, "__rmatmul__": _rmatmul, "__imatmul__": _imatmul}
    methods |= {"__getitem__": get, "__setitem__": set_, "__len__": _length, "__iter__": _iterate}
    methods |= {"__copy__": _copy, "__deepcopy__": lambda self, memo: _copy(self)}
    methods |= {"__format__": lambda self, spec: format(require_host_parts(self.tape, self), spec)}
    methods |= {"__str__": lambda self: str(require_host_parts(self.tape, self))}
    methods |= {"__hash__": _unhashable, "__bool__": _truth, "__contains__": _contains, "__getattr__": _unknown}
    methods |= {"T": property(manipulation.transposed), "size": property(lambda self: prod(self.shape))}
    methods |= {"real": property(lambda self: self), "itemsize": property(lambda self: self.dtype.itemsize)}
    methods |= {"imag": property(lambda self: self * 0 if self.type is not BOOL else self & False)}
    methods |= {"nbytes": property(lambda self: self.dtype.itemsize * prod(self.shape))}
    methods |= {"mT": property(manipulation.matrix_transposed), "device": property(lambda self: "cpu")}
    methods["dtype"] = property(lambda self: np.dtype({REAL: "float64", INT: "int64", BOOL: "bool"}.get(self.type)))
    for name, method in methods.items():
        setattr(Array, name, method)


_install()
