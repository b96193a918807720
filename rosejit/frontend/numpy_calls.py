"""What the functions of NumPy do with staged numbers and arrays."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false

import math
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rosejit.frontend import (
    array_methods,
    derived,
    joining,
    linear_algebra,
    making_calls,
    masks,
    products,
    shapes,
    sorting,
)
from rosejit.frontend.array_methods import METHODS, called, clipped, cumulative, rounded
from rosejit.frontend.arrays import Array
from rosejit.frontend.builtin_calls import BUILTINS
from rosejit.frontend.elementwise import logical, mapped
from rosejit.frontend.indexing import set_
from rosejit.frontend.making import as_array
from rosejit.frontend.masks import Selection
from rosejit.frontend.number_theory import STAGED
from rosejit.frontend.reductions import chosen, maximum
from rosejit.frontend.structures import is_staged_deep
from rosejit.frontend.values import Bool, P, made_real, reals, type_of
from rosejit.ir.types import INT, REAL
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Handler = Callable[[Any, Any, Args, Options], Any]
Make = Callable[..., Any]

PRIMITIVES = {
    "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "cbrt": "cbrt", "hypot": "hypot", "copysign": "copysign", "fmod": "fmod", "isnan": "isnan",
    "isinf": "isinf", "isfinite": "isfinite", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "nearest",
    "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "fix": "trunc",
}  # fmt: skip
"""Functions of every element that are one primitive, under NumPy's name."""

_OPERATORS: dict[str, Make] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "true_divide": operator.truediv, "floor_divide": operator.floordiv, "mod": operator.mod, "remainder": operator.mod,
    "negative": operator.neg, "positive": operator.pos, "abs": abs, "absolute": abs,
    "power": operator.pow, "pow": operator.pow, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "invert": operator.invert, "bitwise_not": operator.invert,
    "left_shift": operator.lshift, "right_shift": operator.rshift,
}  # fmt: skip


def _is_staged(*args: Any) -> bool:
    return any(arg.__class__ is Selection or is_staged_deep(arg) for arg in args)


# --- functions of every element


def _elementwise(make: Make) -> Handler:
    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not _is_staged(*args, *kwargs.values()):
            return session.plain(function, args, kwargs)
        out = kwargs.get("out")
        for name, value in kwargs.items():
            if value is not None and name != "out":
                raise session.tape.type_fault(
                    f"`np.{_name(function)}(..., {name}=...)` is not staged", f"leave out `{name}`"
                )
        made = of_operands(session.tape, function, make, args)
        if out is None:
            return made
        if out.__class__ is not Array:
            raise session.tape.type_fault(f"`out` is an array, given {type(out).__name__}", "leave out `out`")
        set_(out, Ellipsis, made)
        return out

    return handler


def of_operands(tape: Any, function: Any, make: Make, args: Args) -> Any:
    """`make` of numbers, of arrays element by element, or of what masks pick."""
    if any(arg.__class__ is Selection for arg in args):
        return masks.applied(make, *args)
    operands = [_operand(tape, function, arg) for arg in args]
    if not any(operand.__class__ is Array for operand in operands):
        return make(*operands)
    return mapped(tape, logical(tape, make, *operands), *operands, host=function)


def _name(function: Any) -> str:
    return getattr(function, "__name__", str(function))


def _operand(tape: Any, function: Any, value: Any) -> Any:
    found = value if type_of(value) is not None else as_array(tape, value)
    if found is None:
        raise tape.type_fault(f"`np.{_name(function)}` takes numbers and arrays, given {type(value).__name__}")
    return found


def _where(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.where`: both sides are computed, one is selected."""
    if len(args) == 1 and _is_staged(args[0]):
        return _places(session, function, args, kwargs)
    if len(args) == 3 and args[0].__class__ is Bool:
        atoms = reals(session.tape, args[1:])
        if atoms:  # most of them
            return made_real(session.tape, P["select"], (args[0].atom, *atoms), session.tape.here())
    return _elementwise(chosen)(session, function, args, kwargs)


def _logical(name: str) -> Make:
    def make(*operands: Any) -> Any:
        return P[name].__call__(*[x != 0 if type_of(x) in (REAL, INT) else x for x in operands])

    return make


def _extreme(name: str) -> Make:
    def make(x: Any, y: Any) -> Any:
        whole = type_of(x) is INT and type_of(y) is INT
        return maximum(name, INT if whole else REAL).__call__(x, y)

    return make


def _real(x: Any) -> Any:
    return x * 1.0 if type_of(x) is not REAL else x


def _log_of_sum(x: Any, y: Any, power: str, unit: float) -> Any:
    """The logarithm of a sum of powers: the larger one, and a smooth function of how far the other is below."""
    above = x >= y
    top = chosen(above, x, y)
    gap = chosen((x == y) & (abs(x) == math.inf), 0.0, chosen(above, y, x) - top)
    return top + P["log1p"](P[power](gap)) * unit


def _sign(x: Any) -> Any:
    return P["isign" if type_of(x) is INT else "sign"].__call__(x)


_MADE: dict[str, Make] = {
    "maximum": _extreme("max"), "minimum": _extreme("min"), "sign": _sign, "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x, "fabs": lambda x: abs(_real(x)), "float_power": lambda x, y: _real(x) ** y,
    "fmax": lambda x, y: chosen(x != x, y, chosen(y != y, x, P["maximum"](x, y))),
    "fmin": lambda x, y: chosen(x != x, y, chosen(y != y, x, P["minimum"](x, y))),
    "heaviside": lambda x, y: chosen(x == 0.0, _real(y), chosen(x != x, x, P["sign"](x) * 0.5 + 0.5)),
    "signbit": lambda x: P["copysign"](1.0, x) < 0.0,
    "radians": lambda x: x * (np.pi / 180.0), "deg2rad": lambda x: x * (np.pi / 180.0),
    "degrees": lambda x: x * (180.0 / np.pi), "rad2deg": lambda x: x * (180.0 / np.pi),
    "logaddexp": lambda x, y: _log_of_sum(_real(x), _real(y), "exp", 1.0),
    "logaddexp2": lambda x, y: _log_of_sum(_real(x), _real(y), "exp2", 1.0 / math.log(2.0)),
    "sinc": lambda x: chosen(x == 0.0, 1.0, P["sin"](np.pi * x) / (np.pi * chosen(x == 0.0, 1.0, x))),
} | {f"logical_{name}": _logical(name) for name in ("and", "or", "xor", "not")}  # fmt: skip


def _clip(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    given = list(args)
    value = given.pop(0)
    low = given.pop(0) if given else kwargs.get("a_min", kwargs.get("min"))
    high = given.pop(0) if given else kwargs.get("a_max", kwargs.get("max"))
    if not _is_staged(value, low, high):
        return session.plain(function, args, kwargs)
    if value.__class__ is Selection:
        return masks.applied(lambda x: clipped(x, low, high), value)
    if all(type_of(x) is not None for x in (value, low, high) if x is not None):
        return clipped(value, low, high)
    return array_methods.clip(_array_of(session, function, value), low, high)


def _round(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if not _is_staged(*args):
        return session.plain(function, args, kwargs)
    for name in kwargs.keys() - {"decimals"}:
        raise session.tape.type_fault(f"`np.round(..., {name}=...)` is not staged", f"leave out `{name}`")
    digits = args[1] if len(args) > 1 else kwargs.get("decimals", 0)
    return of_operands(session.tape, lambda x: np.round(x, digits), lambda x: rounded(x, digits), args[:1])


# --- functions of whole arrays


def _whole(make: Make) -> Handler:
    """A function whose first argument is an array."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not _is_staged(*args, *kwargs.values()):
            return session.plain(function, args, kwargs)
        if args and args[0].__class__ is Selection:
            return getattr(args[0], _name(function))(*args[1:], **kwargs)
        given = (_array_of(session, function, args[0]), *args[1:]) if args else args
        return called(session.tape, f"np.{_name(function)}", make, given, kwargs)

    return handler


def _array_of(session: Any, function: Any, value: Any) -> Array:
    found = as_array(session.tape, [value] if type_of(value) is not None else value)
    if found is None:
        raise session.tape.type_fault(f"`np.{_name(function)}` takes an array, given {type(value).__name__}")
    return shapes.reshaped(found, ()) if type_of(value) is not None else found


def _several(make: Make) -> Handler:
    """A function that is handed the tape and its arguments as they are."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not _is_staged(*args, *kwargs.values()):
            return session.plain(function, args, kwargs)
        return called(session.tape, f"np.{_name(function)}", make, (session.tape, *args), kwargs)

    return handler


def _places(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """Functions whose result is as long as there are elements that are not zero."""
    if not _is_staged(*args):
        return session.plain(function, args, kwargs)
    found = as_array(session.tape, args[0])
    if found is None or array_methods.host_data(found) is not None:
        return session.plain(function, args, kwargs)
    raise session.tape.type_fault(
        f"`np.{_name(function)}` needs to know where a staged array holds, which only running tells",
        "keep the shape with `np.where(mask, x, 0.0)`, or pick with the mask itself: `x[mask].sum()`, `y[mask] = ...`",
    )


def _shape(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.shape`, `np.ndim`, `np.size`: known while staging."""
    made = args[0] if args[0].__class__ is Array else as_array(session.tape, args[0])
    return function(np.empty(() if made is None else made.shape, bool), *args[1:], **kwargs)


# --- tables


def _written(make: Make) -> Handler:
    """A function that writes its first argument."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if args[0].__class__ is not Array:
            return session.plain(function, args, kwargs)
        called(session.tape, f"np.{_name(function)}", make, args, kwargs)
        return None

    return handler


def _at(op: Make) -> Handler:
    """`np.add.at(y, index, value)`: an index that comes twice counts twice."""
    return _written(lambda a, index, value: set_(a, index, value, op))


def _ufuncs() -> dict[Any, Handler]:
    """The methods of functions of elements: `np.add.at`, `np.maximum.accumulate`, `np.subtract.outer`, ..."""
    found: dict[Any, Handler] = {}
    ops: dict[str, Make] = {name: _OPERATORS[name] for name in ("add", "subtract", "multiply", "divide", "power")}
    ops |= {name: _MADE[name] for name in ("maximum", "minimum", "logical_and", "logical_or")}
    for name, op in ops.items():
        function = getattr(np, name)
        found[function.at] = _at(op)
        found[function.outer] = _whole(lambda a, b, op=op: derived.outer(a, b, op))
    folds = {
        "add": "sum",
        "multiply": "prod",
        "maximum": "max",
        "minimum": "min",
        "logical_and": "all",
        "logical_or": "any",
    }
    for name, fold in folds.items():
        method = METHODS[fold]
        found[getattr(np, name).reduce] = _whole(
            lambda a, axis=0, keepdims=False, method=method: method(a, axis, keepdims)
        )
    for name, start in (("add", 0), ("multiply", 1), ("maximum", float("-inf")), ("minimum", float("inf"))):
        found[getattr(np, name).accumulate] = _whole(
            lambda a, axis=0, op=ops[name], s=start: cumulative(op, s)(a, axis)
        )
    return found


_METHODS = (
    "sum", "mean", "prod", "var", "std", "all", "any", "copy", "cumsum", "cumprod", "trace", "max", "min", "argmax",
    "argmin", "reshape", "ravel", "transpose", "squeeze", "take", "swapaxes", "diagonal", "repeat",
)  # fmt: skip
"""Functions that are methods under the same name."""
_REARRANGING = ("roll", "tile", "tril", "triu", "pad", "delete", "resize")
VIEWS = frozenset({
    "transpose", "reshape", "ravel", "asarray", "ascontiguousarray", "broadcast_to", "squeeze", "expand_dims",
    "swapaxes", "moveaxis", "flip", "fliplr", "flipud", "diagonal", "diag", "rot90", "atleast_1d", "atleast_2d", "real",
})  # fmt: skip
"""Functions that may give their first argument, under another shape."""
UNLIKE = frozenset({"copyto", "fill_diagonal", "put", "at", "split", "array_split", "hsplit", "vsplit", "meshgrid"})
"""Functions that write an array, or give several."""
_PLACES = ("nonzero", "argwhere", "flatnonzero", "extract", "compress", "unique")


def _functions() -> dict[str, Handler]:
    makes: dict[str, Make] = {name: P[ours].__call__ for name, ours in PRIMITIVES.items()} | _OPERATORS | _MADE
    makes |= {name: STAGED[name] for name in ("gcd", "lcm", "ldexp")}
    found: dict[str, Handler] = {name: _elementwise(make) for name, make in makes.items()}
    wholes: dict[str, Make] = {name: METHODS[name] for name in _METHODS}
    wholes |= {"amax": METHODS["max"], "amin": METHODS["min"], "cumulative_sum": METHODS["cumsum"]}
    wholes |= {"dot": products.dot, "matmul": _matmul, "outer": products.outer, "inner": products.inner}
    wholes |= {"vdot": products.vdot, "tensordot": products.tensordot, "kron": products.kron}
    wholes |= {"broadcast_to": shapes.broadcast, "expand_dims": shapes.expanded, "flip": shapes.flipped}
    wholes |= {
        "diag": shapes.diag,
        "rot90": shapes.quarter_turns,
        "moveaxis": shapes.permuted(np.moveaxis),
        "split": shapes.split,
    }
    wholes |= {name: shapes.rearranged(getattr(np, name)) for name in _REARRANGING}
    wholes |= derived.FUNCTIONS | sorting.OF_ONE
    found |= {name: _whole(make) for name, make in wholes.items()}
    several = joining.FUNCTIONS | derived.OF_SEVERAL | sorting.OF_SEVERAL | {"einsum": products.einsum}
    found |= {name: _several(make) for name, make in several.items()}
    found |= {name: _places for name in _PLACES}
    found |= {"where": _where, "clip": _clip, "round": _round, "around": _round}
    found |= {"shape": _shape, "ndim": _shape, "size": _shape}
    found |= {name: _written(make) for name, make in derived.WRITING.items()}
    return found | making_calls.FUNCTIONS


def _matmul(a: Array, b: Any) -> Any:
    other = as_array(a.tape, b)
    if other is None:
        raise a.tape.type_fault(f"`np.matmul` takes arrays, given {type(b).__name__}")
    return products.matmul(a, other, "matmul")


@lru_cache(maxsize=1)
def table() -> dict[Any, Handler]:
    """The handlers, by function."""
    numpy: dict[Any, Handler] = {
        getattr(np, name): handler for name, handler in _functions().items() if hasattr(np, name)
    }
    numbers = {np.float64: BUILTINS[float], np.int64: BUILTINS[int], np.bool_: BUILTINS[bool]}
    algebra = {getattr(np.linalg, name): _several(make) for name, make in linear_algebra.FUNCTIONS.items()}
    return numpy | numbers | algebra | _ufuncs()
