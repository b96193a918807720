"""Functions of elements to functions of plain arrays: NumPy's `ufunc`, its operators and what it does to them."""

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from rosejit.plain.dtypes import Kind, common
from rosejit.plain.ndarray import array_of, broadcast_shapes, made, ndarray, stretched

Rule = Callable[[tuple[Kind, ...]], Kind]


class ufunc:  # NumPy's name
    """A function of numbers that takes arrays too."""

    def __init__(self, name: str, function: Callable[..., Any], kind: Rule) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "numpy"
        self._function = function
        self._kind = kind
        # As NumPy's, they are no methods of Python: what they do with staged arrays is looked up by what they are.
        self.reduce = partial(self._reduce)
        self.accumulate = partial(self._accumulate)
        self.outer = partial(self._outer)
        self.at = partial(self._at)

    def __call__(self, *given: Any, out: Any = None) -> Any:
        """The function of each element, or of each pair of them."""
        arrays = [array_of(x) for x in given]
        kind = self._kind(tuple(a.dtype.kind for a in arrays))
        shape = broadcast_shapes(*(a.shape for a in arrays))
        columns = [stretched(a, shape).values for a in arrays]
        values = list(map(self._function, *columns))
        if kind in "fb":
            values = [float(x) if kind == "f" else bool(x) for x in values]
        if not shape and not any(isinstance(x, ndarray) for x in given):
            return values[0]
        found = made(values, shape, kind)
        if out is None:
            return found if shape else found.item()
        out[...] = found
        return out

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def _reduce(self, a: Any, axis: Any = 0, keepdims: bool = False) -> Any:
        """All elements along an axis together, from the first on."""
        return folded(array_of(a), self._together, axis, keepdims)

    def _accumulate(self, a: Any, axis: int = 0) -> Any:
        """What `reduce` has after each element."""
        return along(array_of(a), self._running, axis)

    def _outer(self, a: Any, b: Any) -> Any:
        """Each element of one with each of the other."""
        left, right = array_of(a), array_of(b)
        return self(left.reshape(*left.shape, *(1,) * right.ndim), right)

    def _at(self, a: ndarray, index: Any, *others: Any) -> None:
        """In place, one pick after the other."""
        places = made(list(range(a.size)), a.shape, "i")[index]
        picks = array_of(places).values
        columns = [stretched(array_of(x), array_of(places).shape).values for x in others]
        block = a.places
        for k, pick in enumerate(picks):
            a.cells[block[pick]] = self._function(a.cells[block[pick]], *(column[k] for column in columns))

    def _together(self, values: list[Any]) -> Any:
        total = values[0]
        for value in values[1:]:
            total = self._function(total, value)
        return total

    def _running(self, values: list[Any]) -> list[Any]:
        found = values[:1]
        for value in values[1:]:
            found.append(self._function(found[-1], value))
        return found


def folded(a: ndarray, fold: Callable[[list[Any]], Any], axis: Any = None, keepdims: bool = False) -> Any:
    """`fold` of the elements along one axis, several, or all."""
    axes = range(a.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    gone = sorted({k % a.ndim for k in axes}) if a.ndim else []
    left = [k for k in range(a.ndim) if k not in gone]
    rows = a.transpose(left + gone) if a.ndim else a
    count = 1
    for k in gone:
        count *= a.shape[k]
    values = rows.values
    total = 1
    for k in left:
        total *= a.shape[k]
    found = [fold(values[k * count : (k + 1) * count]) for k in range(total)]
    shape = tuple(1 if k in gone else n for k, n in enumerate(a.shape) if keepdims or k not in gone)
    return array_of(found).reshape(shape) if shape else found[0]


def along(a: ndarray, change: Callable[[list[Any]], list[Any]], axis: int | None) -> ndarray:
    """Each line along an axis changed as a whole; the axis may become longer or shorter."""
    if axis is None:
        return array_of(change(a.values))
    last = a.ndim - 1
    order = [k for k in range(a.ndim) if k != axis % a.ndim] + [axis % a.ndim]
    rows = a.transpose(order)
    n, values = a.shape[axis], rows.values
    lines = [change(values[k * n : (k + 1) * n]) for k in range(rows.size // n if n else 0)]
    length = len(lines[0]) if lines else 0
    found = array_of([x for line in lines for x in line]).reshape(*rows.shape[:last], length)
    return found.transpose([order.index(k) for k in range(a.ndim)])


# --- numbers as NumPy treats them: nothing raises


def _safe(function: Callable[..., float]) -> Callable[..., float]:
    def safe(*given: Any) -> float:
        try:
            return function(*given)
        except OverflowError:
            return math.inf
        except ValueError:
            return _at_pole(function, *given)

    return safe


def _at_pole(function: Callable[..., float], x: float, *others: Any) -> float:
    if function in (math.log, math.log2, math.log10) and x == 0.0:
        return -math.inf
    if function is math.log1p and x == -1.0:
        return -math.inf
    if function is math.atanh and abs(x) == 1.0:
        return math.copysign(math.inf, x)
    return math.nan


def _divide(x: Any, y: Any) -> float:
    if y == 0:
        return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)
    return x / y


def _floor_divide(x: Any, y: Any) -> Any:
    if y == 0:
        return _divide(x, y) if isinstance(x, float) or isinstance(y, float) else 0
    return x // y


def _remainder(x: Any, y: Any) -> Any:
    if y == 0:
        return math.nan if isinstance(x, float) or isinstance(y, float) else 0
    return x % y


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return x**y
    try:
        return math.pow(x, y)
    except ValueError:
        return math.inf if x == 0 else math.nan
    except OverflowError:
        return math.inf if x > 0 or y % 2 == 0 else -math.inf


def _maximum(x: Any, y: Any) -> Any:
    return x if x >= y or x != x else y


def _minimum(x: Any, y: Any) -> Any:
    return x if x <= y or x != x else y


def _sign(x: Any) -> Any:
    return x if x != x else (x > 0) - (x < 0)


def _rounded(function: Callable[[float], int]) -> Callable[[Any], Any]:
    """Whole numbers keep their sign at zero, infinities stay."""
    return lambda x: x if isinstance(x, int) or not math.isfinite(x) else math.copysign(float(function(x)), x)


def _cbrt(x: float) -> float:
    return math.copysign(abs(x) ** (1 / 3), x)


def _logaddexp(x: float, y: float) -> float:
    high, low = (x, y) if x >= y else (y, x)
    return high if math.isinf(high) else high + math.log1p(math.exp(low - high))


def _widest(kinds: tuple[Kind, ...]) -> Kind:
    return common(*kinds)


def _numeric(kinds: tuple[Kind, ...]) -> Kind:
    return common("i", *kinds)


def _real(kinds: tuple[Kind, ...]) -> Kind:
    return common("f", *kinds)


def _truth(kinds: tuple[Kind, ...]) -> Kind:
    return "b"


_REAL = {
    "sqrt": math.sqrt, "exp": math.exp, "exp2": lambda x: 2.0**x, "expm1": math.expm1, "log": math.log,
    "log2": math.log2, "log10": math.log10, "log1p": math.log1p, "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan, "arctan2": math.atan2, "sinh": math.sinh,
    "cosh": math.cosh, "tanh": math.tanh, "arcsinh": math.asinh, "arccosh": math.acosh, "arctanh": math.atanh,
    "hypot": math.hypot, "copysign": math.copysign, "fmod": math.fmod, "fabs": math.fabs, "cbrt": _cbrt,
    "logaddexp": _logaddexp, "degrees": math.degrees, "radians": math.radians,
}  # fmt: skip
_TRUTHS = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne, "isnan": math.isnan, "isinf": math.isinf,
    "isfinite": math.isfinite, "signbit": lambda x: math.copysign(1.0, x) < 0,
    "logical_and": lambda x, y: bool(x) and bool(y), "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_xor": lambda x, y: bool(x) != bool(y), "logical_not": operator.not_,
}  # fmt: skip
_SAME = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "negative": operator.neg,
    "positive": operator.pos, "absolute": abs, "floor_divide": _floor_divide, "remainder": _remainder,
    "power": _power, "square": lambda x: x * x, "sign": _sign, "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil), "trunc": _rounded(math.trunc), "rint": _rounded(round),
}  # fmt: skip
_WIDEST = {
    "maximum": _maximum, "minimum": _minimum, "fmax": lambda x, y: x if y != y or x >= y else y,
    "fmin": lambda x, y: x if y != y or x <= y else y, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "invert": lambda x: not x if isinstance(x, bool) else ~x,
}  # fmt: skip


def of_reals(name: str, function: Callable[..., float]) -> ufunc:
    """A function of Reals that nothing raises from."""
    return ufunc(name, _safe(function), _real)


UFUNCS: dict[str, ufunc] = {
    **{name: of_reals(name, f) for name, f in _REAL.items()},
    **{name: ufunc(name, f, _truth) for name, f in _TRUTHS.items()},
    **{name: ufunc(name, f, _numeric) for name, f in _SAME.items()},
    **{name: ufunc(name, f, _widest) for name, f in _WIDEST.items()},
    **{name: ufunc(name, _SAME[name], _widest) for name in ("add", "multiply")},  # of truth values: or, and
    "divide": ufunc("divide", _divide, _real),
    "reciprocal": ufunc("reciprocal", lambda x: _divide(1.0, x), _real),
}
"""By name."""

ALIASES = {
    "true_divide": "divide", "mod": "remainder", "abs": "absolute", "pow": "power", "asin": "arcsin",
    "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "bitwise_not": "invert", "deg2rad": "radians", "rad2deg": "degrees",
}  # fmt: skip
UFUNCS |= {alias: UFUNCS[name] for alias, name in ALIASES.items()}


def _operator(name: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    function = UFUNCS[name]

    def operate(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (ndarray, int, float, list, tuple)):
            return NotImplemented
        return function(other, self) if swapped else function(self, other)

    return operate


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    function = UFUNCS[name]

    def operate(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (ndarray, int, float, list, tuple)):
            return NotImplemented
        self[...] = function(self, other)
        return self

    return operate


def _install() -> None:
    """Give arrays their operators."""
    names = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
        "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    }  # fmt: skip
    for short, name in names.items():
        setattr(ndarray, f"__{short}__", _operator(name))
        setattr(ndarray, f"__r{short}__", _operator(name, swapped=True))
        setattr(ndarray, f"__i{short}__", _in_place(name))
    for short, name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
        setattr(ndarray, f"__{short}__", _operator(name))
    ndarray.__eq__ = _operator("equal")
    ndarray.__ne__ = _operator("not_equal")
    ndarray.__hash__ = None  # pyright: ignore[reportAttributeAccessIssue] - as NumPy's: no key
    for short, name in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
        setattr(ndarray, f"__{short}__", lambda self, name=name: UFUNCS[name](self))


_install()
