"""Python's operators on staged complex numbers, by CPython's algorithms; importing the module installs them.

A quotient by zero has infinite or undefined parts, as NumPy's has.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from rosejit.frontend.scalar_ops import complex_functions
from rosejit.frontend.scalar_ops.operators import OF_COMPLEX
from rosejit.frontend.values.complexes import Complex, complex_of, parts_of
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.scalars import P, Tan, type_of

Pair = tuple[Any, Any]
_REALS_ALONE = sys.version_info >= (3, 14)
"""Whether a real operand of Python has no imaginary part: before, it had a zero."""


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    if condition.__class__ is bool:
        return a if condition else b
    return P["select"].__call__(condition, a, b)


def _and(a: Any, b: Any) -> Any:
    for one, other in ((a, b), (b, a)):
        if one.__class__ is bool:
            return other if one else False
    return a & b


# --- arithmetic


def _add(a: Pair, b: Pair) -> Any:
    return a[0] + b[0], a[1] + b[1]


def _sub(a: Pair, b: Pair) -> Any:
    return a[0] - b[0], a[1] - b[1]


def times(a: Pair, b: Pair) -> Any:
    """The product."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def quotient(a: Pair, b: Pair) -> Any:
    """By Smith's method: the larger part of the divisor is taken out."""
    if any(part.__class__ is Tan for part in a):
        return times(a, quotient((1.0, 0.0), b))
    by_real = abs(b[0]) >= abs(b[1])
    large, small = _chosen(by_real, *b), _chosen(by_real, *b[::-1])
    known = number_kind(b[0]) is not None and number_kind(b[1]) is not None
    if known and b[0] == 0.0 and b[1] == 0.0:
        return _by_zero(a, True)
    ratio = small / large
    divisor = large + small * ratio
    u, v = _chosen(by_real, *a), _chosen(by_real, *a[::-1])
    over, under = v - u * ratio, u * ratio - v
    found = (u + v * ratio) / divisor, _chosen(by_real, over, under) / divisor
    if known:
        return found
    zero = _and(b[0] == 0.0, b[1] == 0.0)
    return tuple(_chosen(zero, x, y) for x, y in zip(_by_zero(a, zero), found, strict=True))


def _by_zero(a: Pair, zero: Any) -> Pair:
    """What NumPy gives where a divisor is zero; where it is not, nothing that could spoil a derivative."""
    divisor = _chosen(zero, 0.0, 1.0)
    return _over(a[0], divisor), _over(a[1], divisor)


def _over(x: Any, y: Any) -> Any:
    if x.__class__ is float and y.__class__ is float:
        return x / y if y else math.nan if x == 0.0 or math.isnan(x) else math.copysign(math.inf, x)
    return x / y


def raised(a: Pair, k: int) -> Any:
    """A whole power, as CPython multiplies."""
    result: Pair = (1.0, 0.0)
    square, n, mask = a, abs(k), 1
    while n >= mask:
        if n & mask:
            result = times(result, square)
        mask <<= 1
        if n >= mask:
            square = times(square, square)
    return quotient((1.0, 0.0), result) if k < 0 else result


def power(a: Pair, b: Pair) -> Any:
    """`a ** b`: repeated multiplication for a whole number of at most 100 that staging knows, else by polar parts."""
    known = number_kind(b[0]) is not None and number_kind(b[1]) is not None
    if known and b[1] == 0.0 and float(b[0]).is_integer() and abs(b[0]) <= 100.0:
        return raised(a, int(b[0]))
    return complex_functions.applied("pow", *a, *b)


_ARITHMETIC: dict[str, Callable[[Pair, Pair], Any]] = {
    "add": _add, "sub": _sub, "mul": times, "truediv": quotient, "pow": power,
}  # fmt: skip


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**"}


def _alone(name: str, a: Any, b: Any, pairs: tuple[Pair, Pair]) -> Any:
    """Arithmetic with a real operand where that has no imaginary part; None for any other."""
    (x, y), left, right = pairs, type_of(a) is not None, type_of(b) is not None
    if name in ("add", "sub") and (left or right):
        op = {"add": lambda p, q: p + q, "sub": lambda p, q: p - q}[name]
        return op(x[0], y[0]), (x[1] if right else y[1] if name == "add" else -y[1])
    if name == "mul" and (left or right):
        return (x[0] * y[0], x[1] * y[0]) if right else (x[0] * y[0], x[0] * y[1])
    return (x[0] / y[0], x[1] / y[0]) if name == "truediv" and right else None


def _binary(name: str, reverse: bool) -> Callable[[Any, Any], Any]:
    make = _ARITHMETIC[name]

    def method(self: Any, other: Any, modulus: Any = None) -> Any:
        given = parts_of(other) if modulus is None else None
        own = parts_of(self)
        if given is None or own is None:
            return NotImplemented
        operands = (other, self) if reverse else (self, other)
        pairs = (given, own) if reverse else (own, given)
        found = _alone(name, *operands, pairs) if _REALS_ALONE else None
        return complex_of(*(make(*pairs) if found is None else found))

    return method


def _equal(self: Any, other: Any) -> Any:
    own, given = parts_of(self), parts_of(other)
    if own is None or given is None:
        return NotImplemented
    return _and(own[0] == given[0], own[1] == given[1])


def _unequal(self: Any, other: Any) -> Any:
    same = _equal(self, other)
    if same is NotImplemented:
        return same
    return not same if same.__class__ is bool else ~same


def _refused(symbol: str) -> Callable[..., NoReturn]:
    def method(self: Any, *others: Any) -> NoReturn:
        raise self.tape.type_fault(
            f"complex numbers have no `{symbol}`, in Python neither",
            "compare or convert `abs(z)`, `z.real` or `z.imag`",
        )

    return method


_HOST = {
    "bool": "Python needs the truth of a staged complex number",
    "complex": "Python needs the value of a staged complex number",
    "hash": "a key or a member of a set needs the value of a staged complex number",
    "index": "Python needs the value of a staged complex number", "float": "a complex number is no float",
    "int": "a complex number is no int", "iter": "a complex number has no elements",
}  # fmt: skip


def _needs_host(what: str) -> Callable[..., NoReturn]:
    def method(self: Any, *args: Any) -> NoReturn:
        raise self.tape.type_fault(what, "in staged code use its parts `z.real` and `z.imag`, or `abs(z)`")

    return method


def _text(self: Any, spec: str = "") -> NoReturn:
    raise self.tape.type_fault(
        "text needs the value of a staged complex number, which only running tells",
        "pass the number itself to `print`, which prints when the code runs; or its parts",
    )


def magnitude(self: Any) -> Any:
    """`abs(z)`."""
    complex_functions.require_no_handler(self.tape, "abs")
    return P["hypot"].__call__(self.real, self.imag)


def _install() -> None:
    methods: dict[str, Any] = {}
    for name in _ARITHMETIC:
        methods |= {f"__{name}__": _binary(name, False), f"__r{name}__": _binary(name, True)}
        symbol = _SYMBOLS[name]
        OF_COMPLEX[symbol], OF_COMPLEX[f"r{symbol}"] = methods[f"__{name}__"], methods[f"__r{name}__"]
    refused = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "floordiv": "//", "mod": "%", "divmod": "divmod"}
    refused |= {"round": "round", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "matmul": "@", "and": "&"}
    refused |= {"or": "|", "xor": "^"}
    OF_COMPLEX["=="], OF_COMPLEX["!="] = _equal, _unequal
    for name, symbol in refused.items():
        methods |= {f"__{name}__": _refused(symbol), f"__r{name}__": _refused(symbol)}
        OF_COMPLEX[symbol] = OF_COMPLEX[f"r{symbol}"] = _refused(symbol)
    methods |= {f"__{name}__": _needs_host(what) for name, what in _HOST.items()}
    methods |= {"__eq__": _equal, "__ne__": _unequal, "__abs__": magnitude, "__pos__": lambda self: self}
    methods |= {"__neg__": lambda self: Complex(-self.real, -self.imag), "__str__": _text, "__format__": _text}
    conjugate = lambda self: Complex(self.real, -self.imag)  # noqa: E731  # two names of one method
    methods |= {"conjugate": conjugate, "conj": conjugate}
    for name, method in methods.items():
        setattr(Complex, name, method)


_install()
