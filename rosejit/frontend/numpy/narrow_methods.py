"""Gives numbers and arrays of few bits the operators and methods of NumPy's; importing it installs them."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false, reportOperatorIssue=false
# pyright: reportUnknownParameterType=false

from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays.narrow_array import (
    Narrow,
    NarrowArray,
    as_dtype,
)
from rosejit.frontend.numpy.narrow_elements import (
    operate,
)
from rosejit.frontend.numpy.narrow_rows import FOLDED, astype, dtype_in
from rosejit.frontend.scalar_ops import operators
from rosejit.frontend.scalar_ops.origins import pythons
from rosejit.numeric import np

Make = Callable[..., Any]

# --- operators and methods

_UFUNCS: dict[str, str] = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul", "divmod": "divmod",
}  # fmt: skip
_COMPARED = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
_SYMBOLS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder", "**": "power",
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<": "less", "<=": "less_equal", ">": "greater",
    ">=": "greater_equal", "==": "equal", "!=": "not_equal", "@": "matmul", "<<": "left_shift", ">>": "right_shift",
}  # fmt: skip


def _binary(name: str, reverse: bool) -> Make:
    def method(self: Any, other: Any, modulus: Any = None) -> Any:
        if modulus is not None or other is None or isinstance(other, (str, dict, set)):
            return NotImplemented
        return operate(self.tape, name, *((other, self) if reverse else (self, other)))

    return method


def _in_place(name: str) -> Make:
    def method(self: NarrowArray, other: Any) -> Any:
        made = operate(self.tape, name, self, other)
        if not np.can_cast(dtype_in(made), self.dtype, "same_kind"):
            raise self.tape.type_fault(
                f"`np.{name}` gives {dtype_in(made)} here, which an array of {self.dtype} does not hold",
                "bind the result to a name: `y = y + v`",
            )
        if made.shape != self.shape:
            raise self.tape.type_fault(f"an array of shape {made.shape} does not fit into the shape {self.shape}")
        self[...] = made
        return self

    return method


def _one(name: str) -> Make:
    return lambda self: operate(self.tape, name, self)


def _function(name: str) -> Make:
    return lambda self, *args, **kwargs: self.tape.session.hooks.call(getattr(np, name), self, *args, **kwargs)


def _unknown(self: Any, name: str) -> Any:
    if name.startswith("_") or not hasattr(np.ndarray, name):
        raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
    raise self.tape.type_fault(
        f"`.{name}` of an array of {self.dtype} is not staged", "convert before: `x.astype(np.float64)`"
    )


def _needs_host(what: str) -> Make:
    def method(self: Any, *args: Any) -> Any:
        raise self.tape.type_fault(
            f"{what} needs the value of a staged {self.dtype}, which only running tells",
            "convert with `int(x)` or `float(x)` first",
        )

    return method


def _of_wide(name: str) -> Make:
    """What NumPy's scalars give as numbers of Python's."""
    return lambda self, *args: getattr(self.wide, name)(*args)


def _as_number(self: Any, *index: Any) -> Any:
    """`x.item()`: a number of Python's."""
    return pythons(self.tape, self.wide if self.__class__ is Narrow else self.wide.item(*index))


def _fill(self: Any, value: Any) -> None:
    self[...] = value


def _reshaped(self: Any, *shape: Any, **options: Any) -> Any:
    return as_dtype(self.tape, self.wide.reshape(*shape, **options), self.dtype)


def _transposed(self: Any, *axes: Any) -> Any:
    return as_dtype(self.tape, self.wide.transpose(*axes), self.dtype)


def _copied(self: Any, *_: Any) -> Any:
    return as_dtype(self.tape, self.wide.copy(), self.dtype)


def _no_power(self: Any, base: Any, modulus: Any = None) -> Any:
    return NotImplemented if modulus is not None else operate(self.tape, "power", base, self)


def _dunders() -> dict[str, Any]:
    methods: dict[str, Any] = {}
    for name, ufunc in _UFUNCS.items():
        methods |= {f"__{name}__": _binary(ufunc, False), f"__r{name}__": _binary(ufunc, True)}
    methods |= {f"__{name}__": _binary(ufunc, False) for name, ufunc in _COMPARED.items()}
    methods |= {"__neg__": _one("negative"), "__pos__": _one("positive"), "__abs__": _one("absolute")}
    methods |= {"__invert__": _one("invert"), "__hash__": _needs_host("a key or a member of a set")}
    methods |= {
        "__index__": _needs_host("Python"),
        "__float__": _needs_host("Python"),
        "__int__": _needs_host("Python"),
    }
    methods |= {"__format__": _needs_host("text"), "__str__": _needs_host("text"), "__bool__": _needs_host("Python")}
    methods |= {"__contains__": _needs_host("`in`"), "__complex__": _needs_host("Python"), "__getattr__": _unknown}
    methods |= {"astype": astype, "item": _as_number, "itemsize": property(lambda self: self.dtype.itemsize)}
    methods |= {"nbytes": property(lambda self: self.dtype.itemsize * self.size), "real": property(lambda self: self)}
    methods |= {name: _function(name) for name in (*FOLDED, "max", "min", "argmax", "argmin", "any", "all")}
    methods |= {name: _function(name) for name in ("clip", "round", "dot", "ravel", "squeeze", "take", "repeat")}
    methods |= {"copy": _copied, "reshape": _reshaped}
    return methods


def _install() -> None:
    both = _dunders()
    array: dict[str, Any] = {f"__i{name}__": _in_place(ufunc) for name, ufunc in _UFUNCS.items() if name != "divmod"}
    array |= {name: _function(name) for name in ("swapaxes", "diagonal", "argsort")}
    array |= {"T": property(_transposed), "transpose": _transposed, "fill": _fill}
    array |= {"mT": property(lambda self: as_dtype(self.tape, self.wide.mT, self.dtype))}
    array |= {"tolist": lambda self: self.wide.tolist(), "flatten": lambda self: self.ravel().copy()}
    number: dict[str, Any] = {"__round__": _of_wide("__round__"), "__trunc__": _of_wide("__trunc__")}
    number |= {"__floor__": _of_wide("__floor__"), "__ceil__": _of_wide("__ceil__"), "tolist": lambda self: self.wide}
    number |= {"__deepcopy__": lambda self, memo: self, "T": property(lambda self: self)}
    for cls, own in ((NarrowArray, both | array), (Narrow, both | number)):
        for name, method in own.items():
            setattr(cls, name, method)
    for symbol, ufunc in _SYMBOLS.items():
        operators.OF_NARROW[symbol] = lambda tape, a, b, ufunc=ufunc: operate(tape, ufunc, a, b)


_install()
