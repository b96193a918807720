"""What the functions of NumPy do with staged numbers and arrays."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend import array_methods, reductions
from rosejit.frontend.arrays import Array, fresh, of_host
from rosejit.frontend.elementwise import broadcast_shape, converted, mapped
from rosejit.frontend.making import as_array, common_type
from rosejit.frontend.structures import is_staged_deep
from rosejit.frontend.values import ATOMS, P, type_of, wrap
from rosejit.frontend.views import build, copy, element, variable
from rosejit.ir.syntax import Atom, MakeArray, Var, Zero
from rosejit.ir.types import INT, REAL, TAN, Scalar, array
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Handler = Callable[[Any, Any, Args, Options], Any]
Make = Callable[..., Any]

_NAMES = {
    "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "cbrt": "cbrt", "hypot": "hypot", "copysign": "copysign", "fmod": "fmod", "isnan": "isnan",
    "isinf": "isinf", "isfinite": "isfinite", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "nearest",
    "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh",
}  # fmt: skip
"""Functions of every element that are one primitive, under NumPy's name."""

_OPERATORS: dict[str, Make] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "true_divide": operator.truediv, "floor_divide": operator.floordiv, "mod": operator.mod, "remainder": operator.mod,
    "negative": operator.neg, "positive": operator.pos, "abs": abs, "absolute": abs, "fabs": abs,
    "power": operator.pow, "pow": operator.pow, "float_power": operator.pow, "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "invert": operator.invert,
    "radians": lambda x: x * (np.pi / 180.0), "deg2rad": lambda x: x * (np.pi / 180.0),
    "degrees": lambda x: x * (180.0 / np.pi), "rad2deg": lambda x: x * (180.0 / np.pi),
}  # fmt: skip


def _elementwise(make: Make, host: Make | None = None) -> Handler:
    """A function of every element; `host` does it to whole arrays that staging knows, if not NumPy's own function."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not any(is_staged_deep(arg) for arg in args):
            return session.plain(function, args, kwargs)
        _no_options(session, function, kwargs)
        operands = [_operand(session, function, arg) for arg in args]
        if not any(operand.__class__ is Array for operand in operands):
            return make(*operands)
        return mapped(session.tape, make, *operands, host=host or function)

    return handler


def _no_options(session: Any, function: Any, kwargs: Options) -> None:
    for name in kwargs:
        raise session.tape.type_fault(f"`np.{function.__name__}(..., {name}=...)` is not staged", f"leave out `{name}`")


def _operand(session: Any, function: Any, value: Any) -> Any:
    found = value if type_of(value) is not None else as_array(session.tape, value)
    if found is None:
        raise session.tape.type_fault(
            f"`np.{function.__name__}` takes numbers and arrays, given {type(value).__name__}"
        )
    return found


def _whole(make: Make) -> Handler:
    """A function whose first argument is an array."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not any(is_staged_deep(arg) for arg in args):
            return session.plain(function, args, kwargs)
        first = _operand(session, function, args[0])
        if first.__class__ is not Array:
            first = _zero_dimensional(session, first)
        return make(first, *args[1:], **kwargs)

    return handler


def _zero_dimensional(session: Any, value: Any) -> Array:
    made = as_array(session.tape, [value])
    assert made is not None
    return array_methods.reshape(made, ())


# --- choices


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    """`np.where` of one element: both sides are computed, one is selected."""
    if isinstance(condition, (bool, np.bool_)):
        return x if condition else y
    kinds = {type_of(x), type_of(y)}
    if type_of(condition) in (REAL, INT):
        condition = condition != 0
    name = "select" if REAL in kinds else "iselect" if INT in kinds else "bselect"
    return P[name].__call__(condition, x, y)


def _logical(name: str) -> Make:
    def make(*operands: Any) -> Any:
        return P[name].__call__(*[x != 0 if type_of(x) in (REAL, INT) else x for x in operands])

    return make


def _extreme(name: str) -> Make:
    def make(x: Any, y: Any) -> Any:
        whole = type_of(x) is INT and type_of(y) is INT
        return P[{"maximum": "imax", "minimum": "imin"}[name]].__call__(x, y) if whole else P[name].__call__(x, y)

    return make


def _clipped(x: Any, low: Any, high: Any) -> Any:
    if low is not None:
        x = _extreme("maximum")(x, low)
    return x if high is None else _extreme("minimum")(x, high)


def _clip(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    low = args[1] if len(args) > 1 else kwargs.get("a_min", kwargs.get("min"))
    high = args[2] if len(args) > 2 else kwargs.get("a_max", kwargs.get("max"))
    operands = [None if bound is None else _operand(session, function, bound) for bound in (args[0], low, high)]  # pyright: ignore[reportGeneralTypeIssues]  # the count was checked
    if not any(is_staged_deep(operand) for operand in operands):
        return session.plain(function, args, kwargs)
    given = [operand for operand in operands if operand is not None]

    def make(x: Any, *bounds: Any) -> Any:
        queue = list(bounds)
        return _clipped(x, *(None if operand is None else queue.pop(0) for operand in operands[1:]))

    return mapped(session.tape, make, *given) if Array in map(type, given) else make(*given)


def _sign(x: Any) -> Any:
    return P["isign" if type_of(x) is INT else "sign"].__call__(x)


def _rounded(x: Any, digits: int = 0) -> Any:
    """As NumPy rounds: scaled, to the nearest, and back."""
    nearest = P["nearest"]
    return nearest(x) if not digits else nearest(x * 10.0**digits) / 10.0**digits


def _round(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if not any(is_staged_deep(arg) for arg in args):
        return session.plain(function, args, kwargs)
    options = dict(kwargs)
    digits = args[1] if len(args) > 1 else options.pop("decimals", 0)
    rounded = _elementwise(lambda x: _rounded(x, digits), lambda x: function(x, digits))
    return rounded(session, function, args[:1], options)


# --- new arrays


def _array(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.array`, `np.asarray`: the elements may be staged."""
    value = args[0]
    if not is_staged_deep(value):
        return session.plain(function, args, kwargs)
    made = value if value.__class__ is Array else as_array(session.tape, value)
    if made is None:
        return made if type_of(value) is None else _zero_dimensional(session, value)
    kind = _kind_of(session, kwargs.get("dtype"))
    made = made if kind is None else converted(made, kind)
    return copy(made) if value.__class__ is Array and function is np.array else made


def _kind_of(session: Any, dtype: Any) -> Scalar | None:
    if dtype is None:
        return None
    letter = np.dtype(dtype).kind
    if letter not in "fiub":
        raise session.tape.type_fault(f"an array of {dtype} cannot be staged", "arrays hold floats, ints or bools")
    return {"f": REAL, "i": INT, "u": INT}.get(letter)


def _like(name: str) -> Handler:
    """`np.zeros_like(x)` and its like."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not is_staged_deep(args):
            return session.plain(function, args, kwargs)
        like = as_array(session.tape, args[0])
        shape = () if like is None else like.shape
        if name == "full" or like is None:
            return _full(
                session, np.full, (shape, args[1] if name == "full" else {"zeros": 0.0, "ones": 1.0}[name]), kwargs
            )
        if like.type is TAN and name == "zeros":
            return fresh(session.tape, session.tape.bind(Zero(), array(shape, TAN)))
        dtype = kwargs.get("dtype", {REAL: "float64", INT: "int64"}.get(like.type, "bool"))
        made = getattr(np, name)(shape, dtype=dtype)
        return of_host(session.tape, made)

    return handler


def _full(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.full(shape, value)` with a staged value."""
    shape, value = args[0], args[1]
    if not is_staged_deep(value):
        return session.plain(function, args, kwargs)
    lengths: tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = type_of(value)
    if kind is None:
        raise session.tape.type_fault(f"`np.full` takes a number, given {type(value).__name__}")
    atom = ATOMS[kind](session.tape, value)
    made = build(session.tape, lengths, kind, lambda indices: atom or Var(kind))
    assert isinstance(made, Var)
    return fresh(session.tape, made)


def _joined(session: Any, arrays: Sequence[Any], axis: int, stack: bool) -> Any:
    """Arrays one behind the other along an axis; for `stack` along a new one."""
    tape = session.tape
    if stack and all(type_of(item) is not None for item in arrays):
        return as_array(tape, list(arrays))
    items = [as_array(tape, item) for item in arrays]
    parts: list[Array] = []
    for item in items:
        if item is None:
            raise tape.type_fault("only arrays can be joined")
        parts.append(item)
    kind = common_type(parts)
    if kind is None:
        raise tape.type_fault("arrays of numbers and of truth values cannot be joined")
    parts = [converted(part, kind) for part in parts]
    rank = parts[0].ndim + stack
    if not rank or not -rank <= axis < rank:
        raise tape.fault(ShapeError, f"axis {axis} is out of bounds for arrays of shape {parts[0].shape}")
    axis %= rank
    shapes = [part.shape if stack else part.shape[:axis] + part.shape[axis + 1 :] for part in parts]
    if len(set(shapes)) > 1 or len({part.ndim for part in parts}) > 1:
        raise tape.fault(
            ShapeError, f"arrays of shapes {', '.join(str(part.shape) for part in parts)} cannot be joined"
        )
    return _laid(tape, parts, axis, stack, kind)


def _laid(tape: Any, parts: list[Array], axis: int, stack: bool, kind: Scalar) -> Array:
    """The joined array: rows are moved to the front, written out there, and moved back."""
    fronts: list[Atom] = []
    if stack:
        fronts = [variable(part) for part in parts]
    else:
        for part in parts:
            order = (axis, *(k for k in range(part.ndim) if k != axis))
            front: Any = array_methods.transposed(part, order)  # an Array: its indexing is installed by `indexing`
            fronts += [
                variable(front[k]) if front.ndim > 1 else _scalar(tape, front[k], kind) for k in range(front.shape[0])
            ]
    rest = parts[0].shape if stack else parts[0].shape[:axis] + parts[0].shape[axis + 1 :]
    whole = array((len(fronts), *rest), kind)
    made = fresh(tape, tape.bind(MakeArray(tuple(fronts)) if fronts else Zero(), whole))
    if axis == 0:
        return made
    back = (*range(1, axis + 1), 0, *range(axis + 1, made.ndim))
    return copy(array_methods.transposed(made, back))


def _scalar(tape: Any, value: Any, kind: Scalar) -> Atom:
    atom = ATOMS[kind](tape, value)
    assert atom is not None
    return atom


def _stack(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if not is_staged_deep(list(args[0])):
        return session.plain(function, args, kwargs)
    return _joined(session, list(args[0]), args[1] if len(args) > 1 else kwargs.get("axis", 0), True)


def _concatenate(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if not is_staged_deep(list(args[0])):
        return session.plain(function, args, kwargs)
    return _joined(session, list(args[0]), args[1] if len(args) > 1 else kwargs.get("axis", 0), False)


# --- products


def _outer(a: Array, b: Any) -> Any:
    other = as_array(a.tape, b)
    assert other is not None
    left, right = array_methods.reshape(a, (-1, 1)), array_methods.reshape(other, (1, -1))
    return mapped(a.tape, operator.mul, left, right, host=operator.mul)


def _matmul(a: Array, b: Any) -> Any:
    return a @ b  # installed by `array_methods`


def _inner(a: Array, b: Any) -> Any:
    return array_methods.dot(a, b)


def _transpose(a: Array, axes: Any = None) -> Array:
    return array_methods.transposed(a, None if axes is None else tuple(axes))


def _cumulative(op: Make, start: float) -> Make:
    """`np.cumsum` and `np.cumprod` of a vector: a loop that hands out its carry."""

    def make(a: Array) -> Array:
        made = copy(array_methods.reshape(a, -1))
        return reductions.scanned_totals(made, op, wrap(a.tape, ATOMS[a.type](a.tape, start) or variable(made)))

    return make


def _broadcast(a: Array, shape: Any) -> Array:
    lengths: tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
    zero = of_host(a.tape, np.zeros(lengths))
    if broadcast_shape(a.tape, (a, zero)) != lengths:
        raise a.tape.fault(ShapeError, f"an array of shape {a.shape} does not fit into the shape {lengths}")
    return mapped(a.tape, lambda x, z: x, a, zero)


def _norm(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if not is_staged_deep(args[0]):
        return session.plain(function, args, kwargs)
    _no_options(session, function, kwargs)
    a = as_array(session.tape, args[0])
    if a is None or len(args) > 1:
        raise session.tape.type_fault("`np.linalg.norm` is staged for one array, without other arguments")
    return P["sqrt"].__call__(reductions.total(mapped(session.tape, lambda x: x * x, a)))


def _shape(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    made = args[0] if args[0].__class__ is Array else as_array(session.tape, args[0])
    return () if made is None else {"shape": made.shape, "ndim": made.ndim}[function.__name__]


@lru_cache(maxsize=1)
def table() -> dict[Any, Handler]:
    """The handlers, by function."""
    makes: dict[str, Make] = {name: P[ours].__call__ for name, ours in _NAMES.items()} | _OPERATORS
    makes |= {"where": _chosen, "maximum": _extreme("maximum"), "minimum": _extreme("minimum"), "sign": _sign}
    makes |= {f"logical_{name}": _logical(name) for name in ("and", "or", "xor", "not")}
    found: dict[str, Handler] = {name: _elementwise(make) for name, make in makes.items()}
    wholes: dict[str, Make] = {
        "sum": reductions.total, "mean": reductions.mean, "average": reductions.mean, "prod": reductions.product,
        "all": reductions.every, "any": reductions.some, "dot": array_methods.dot, "matmul": _matmul, "outer": _outer,
        "inner": _inner, "vdot": _inner, "transpose": _transpose, "reshape": array_methods.reshape, "copy": copy,
        "ravel": lambda a: array_methods.reshape(a, -1), "cumsum": _cumulative(operator.add, 0),
        "cumprod": _cumulative(operator.mul, 1), "broadcast_to": _broadcast,
        "max": lambda a, axis=None, keepdims=False: reductions.extreme(a, "max", axis, keepdims),
        "min": lambda a, axis=None, keepdims=False: reductions.extreme(a, "min", axis, keepdims),
    }  # fmt: skip
    wholes |= {"amax": wholes["max"], "amin": wholes["min"]}
    found |= {name: _whole(make) for name, make in wholes.items()}
    found |= {"clip": _clip, "round": _round, "around": _round, "array": _array, "asarray": _array, "full": _full}
    found |= {
        "zeros_like": _like("zeros"),
        "ones_like": _like("ones"),
        "empty_like": _like("zeros"),
        "full_like": _like("full"),
    }
    found |= {"stack": _stack, "concatenate": _concatenate, "shape": _shape, "ndim": _shape}
    numpy = {getattr(np, name): handler for name, handler in found.items() if hasattr(np, name)}
    return {**numpy, np.linalg.norm: _norm}


_ = element
