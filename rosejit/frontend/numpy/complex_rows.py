"""What the functions of NumPy do with complex arrays: each by its elements, by its parts, or by products of parts.

Functions that only move or add elements are those of real arrays, applied to the real and the imaginary part. Quotients
and functions of elements are CPython's: of NumPy's they differ by rounding.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false, reportOperatorIssue=false

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.broadcast import an_array
from rosejit.frontend.arrays.complex_array import (
    ComplexArray,
    as_complex,
    both,
    elementwise,
    holds_complex,
    is_complex,
    joined,
)
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.python import cmath
from rosejit.frontend.scalar_ops import complex_functions
from rosejit.frontend.scalar_ops.complex_operators import magnitude
from rosejit.frontend.values import rose_functions as rose
from rosejit.frontend.values.complexes import Complex, parts_of
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import P, type_of
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Make = Callable[..., Any]
Handler = Callable[[Any, Any, Args, Options], Any]


# --- functions of elements


def _of(name: str) -> Make:
    return lambda z: Complex(*complex_functions.applied(name, *_pair(z)))


def _pair(z: Any) -> tuple[Any, Any]:
    found = parts_of(z)
    assert found is not None
    return found


def _sign(z: Any) -> Any:
    size = magnitude(z)
    return z / chosen(size == 0.0, 1.0, size)


def _expm1(z: Any) -> Any:
    x, y = _pair(z)
    half = P["sin"](y * 0.5)
    less, more = P["expm1"](x), P["exp"](x)
    return Complex(less * P["cos"](y) - 2.0 * half * half, more * P["sin"](y))


def _log1p(z: Any) -> Any:
    x, y = _pair(z)
    return Complex(*complex_functions.applied("log", x + 1.0, y))


def _where(condition: Any, a: Any, b: Any) -> Any:
    (x, y), (u, v) = _pair(a), _pair(b)
    return Complex(chosen(condition, x, u), chosen(condition, y, v))


def _bound_of(z: Any, other: Any, name: str) -> Any:
    raise TypeError(name)


_ELEMENTS: dict[str, Make] = {
    **{name: _of(name) for name in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"arc{name}": _of(f"a{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "log2": lambda z: _of("log")(z) * (1.0 / math.log(2.0)), "exp2": lambda z: _of("exp")(z * math.log(2.0)),
    "expm1": _expm1, "log1p": _log1p, "absolute": abs, "square": lambda z: z * z, "reciprocal": lambda z: 1.0 / z,
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "power": operator.pow, "negative": operator.neg, "positive": operator.pos, "equal": operator.eq,
    "not_equal": operator.ne, "where": _where, "sign": _sign, "float_power": operator.pow,
    "isnan": lambda z: P["isnan"](z.real) | P["isnan"](z.imag), "isfinite": cmath.finite,
    "isinf": lambda z: P["isinf"](z.real) | P["isinf"](z.imag),
    "isclose": lambda a, b, rtol=1e-05, atol=1e-08: _close(a, b, rtol, atol),
}  # fmt: skip
for _new, _old in {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}.items():  # fmt: skip
    _ELEMENTS[_new] = _ELEMENTS[_old]


def _close(a: Any, b: Any, rtol: Any, atol: Any) -> Any:
    a, b = Complex(*_pair(a)), Complex(*_pair(b))
    return (a == b) | ((magnitude(a - b) <= atol + rtol * magnitude(b)) & P["isfinite"](magnitude(b)))


# --- functions of the parts

_BY_PARTS = frozenset({
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "broadcast_to", "flip", "fliplr",
    "flipud", "rot90", "diagonal", "diag", "atleast_1d", "atleast_2d", "copy", "take", "repeat", "roll", "tile", "tril",
    "triu", "sum", "mean", "cumsum", "trace", "diff", "delete", "split", "array_split", "hsplit", "vsplit",
    "concatenate", "stack", "vstack", "hstack", "column_stack", "dstack", "trapezoid", "cumulative_sum",
})  # fmt: skip
"""Functions whose first argument alone is complex, and that are the same of its parts."""
_SHAPES = frozenset({"shape", "ndim", "size"})
_PRODUCTS = frozenset({"dot", "matmul", "inner", "outer", "tensordot", "kron", "convolve", "cross"})
"""Functions that are linear in each of two arguments."""


def _part(value: Any, k: int) -> Any:
    """The real or the imaginary part of an argument; of lists those of what is in them."""
    if value.__class__ in (list, tuple):
        return type(value)([_part(item, k) for item in value])
    if is_complex(value):
        return (value.real, value.imag)[k]
    return value if not k else value * 0.0 if type_of(value) is not None else np.zeros(np.shape(value))


def _by_parts(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    first, *rest = args
    _require_real(session, function, rest, kwargs)
    made = [session.hooks.call(function, _converted(session.tape, first, k), *rest, **kwargs) for k in (0, 1)]
    return _together(*made)


def _require_real(session: Any, function: Any, rest: Any, kwargs: Options) -> None:
    if any(map(holds_complex, (*rest, *kwargs.values()))):
        _refuse(session, function, " with a complex argument behind the arrays")


def _together(real: Any, imag: Any) -> Any:
    if isinstance(real, (list, tuple)):
        return [_together(*pair) for pair in zip(real, imag, strict=True)]
    return joined(real, imag)


def _converted(tape: Any, value: Any, k: int) -> Any:
    """A part of the first argument as a staged array, or a list of those."""
    return both(tape, value)[k]


def _bilinear(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    a, b, *rest = args
    _require_real(session, function, rest, kwargs)
    pairs = [both(session.tape, x) if holds_complex(x) else (x, None) for x in (a, b)]

    def product(x: Any, y: Any) -> Any:
        return session.hooks.call(function, x, y, *rest, **kwargs)

    (p, q), (u, v) = pairs
    if q is None:
        return joined(product(p, u), product(p, v))
    if v is None:
        return joined(product(p, u), product(q, u))
    return joined(product(p, u) - product(q, v), product(p, v) + product(q, u))


def _einsum(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    text, *operands = args
    if not isinstance(text, str) or len(operands) > 2:
        raise session.tape.type_fault(
            "`np.einsum` of more than two operands is not staged where some are complex", "multiply two at a time"
        )
    if len(operands) == 1:
        real, imag = both(session.tape, operands[0])
        return joined(*[session.hooks.call(function, text, part, **kwargs) for part in (real, imag)])
    call = partial(session.hooks.call, function, text)

    def product(x: Any, y: Any, **options: Any) -> Any:
        return call(x, y, **options)

    return _bilinear(_Calling(session.tape, product), function, tuple(operands), kwargs)


class _Calling:
    """Stands for a session whose calls are of one function."""

    def __init__(self, tape: Any, make: Make) -> None:
        self.tape = tape
        self.hooks = self
        self._make = make

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The call."""
        return self._make(*args, **kwargs)


# --- folds


def _product(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.prod` of all elements, or along one axis."""
    a, axis = args[0], kwargs.get("axis", args[1] if len(args) > 1 else None)
    if len(args) > 2 or kwargs.keys() - {"axis"} or not (axis is None or isinstance(axis, int)):
        raise session.tape.type_fault("`np.prod` of a complex array is staged along one axis, or of all elements")
    a = as_complex(session.tape, a)
    rows = a.reshape(-1) if axis is None else session.hooks.call(np.moveaxis, a, axis, 0)
    return session.run(multiplied, lambda f: f(rows, rows[0] * 0.0 + 1.0 if len(rows) else 1.0 + 0j))


def multiplied(rows: Any, start: Any) -> Any:
    """The product of rows, in order."""
    found = start
    for k in rose.range(len(rows)):
        found = found * rows[k]
    return found


def polynomial(p: Any, x: Any) -> Any:
    """Horner's rule."""
    found = x * 0.0 + p[0]
    for k in range(1, len(p)):
        found = found * x + p[k]
    return found


# --- the table


def _elements(make: Make) -> Handler:
    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if kwargs:
            _refuse(session, function, f" with `{next(iter(kwargs))}`")
        return elementwise(session.tape, make, *args)

    return handler


def _of_first(make: Make) -> Handler:
    """A function of one complex array or number, and of what else it takes."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        return make(session, as_complex(session.tape, args[0]), *args[1:], **kwargs)

    return handler


def _angle(session: Any, z: Any, deg: bool = False) -> Any:
    found = elementwise(session.tape, cmath.phase, z)
    return found * (180.0 / np.pi) if deg else found


def _spread(root: bool) -> Make:
    def make(session: Any, z: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
        call = session.hooks.call
        rest = z - call(np.mean, z, axis=axis, keepdims=True)
        squares = rest.real * rest.real + rest.imag * rest.imag
        whole = call(np.sum, squares, axis=axis, keepdims=keepdims)
        count = z.size / whole.size
        found = whole / (count - ddof)
        return call(np.sqrt, found) if root else found

    return make


def _norm(session: Any, z: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord not in (None, "fro") and (z.ndim == 2 and axis is None):
        _refuse(session, np.linalg.norm, f" with `ord={ord}`")
    return session.hooks.call(np.linalg.norm, abs(z), ord, axis, keepdims)


def _solve(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """Of a system twice as large, of the parts."""
    call, tape = session.hooks.call, session.tape
    (a, b), (u, v) = both(tape, args[0]), both(tape, args[1])
    a, b, u, v = (an_array(tape, as_array(tape, part)) for part in (a, b, u, v))
    whole = call(np.concatenate, [call(np.concatenate, [a, -b], -1), call(np.concatenate, [b, a], -1)], -2)
    axis = -1 if u.ndim == 1 else -2
    found = call(np.linalg.solve, whole, call(np.concatenate, [u, v], axis))
    n = a.shape[-1]
    return joined(found[:n], found[n:]) if u.ndim == 1 else joined(found[..., :n, :], found[..., n:, :])


def _inverse(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    return _solve(session, np.linalg.solve, (args[0], np.eye(args[0].shape[-1])), kwargs)


def _filled(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.full` of a complex number."""
    shape, value = args[0], args[1]
    if holds_complex(value) and kwargs.get("dtype") in (None, complex):
        return as_complex(session.tape, np.zeros(shape)) + value
    return _refuse(session, function, "")


def _array(session: Any, object: Any, dtype: Any = None, copy: Any = None) -> Any:
    if dtype is not None and not _is_complex_type(dtype):
        raise session.tape.type_fault("complex numbers are not made real", "take `z.real`")
    return object.copy() if object.__class__ is ComplexArray and copy is not False else object


def _like(value: complex | None) -> Make:
    def make(session: Any, z: Any, fill: Any = value, dtype: Any = None) -> Any:
        if dtype is not None and not _is_complex_type(dtype):
            return session.hooks.call(np.full, np.shape(np.empty(z.shape, bool)), fill, dtype)
        return as_complex(session.tape, np.zeros(z.shape)) + fill

    return make


def _vdot(session: Any, a: Any, b: Any) -> Any:
    call = session.hooks.call
    return call(np.dot, call(np.ravel, a.conj()), call(np.ravel, b))


def _nonzero(z: Any) -> Any:
    return z != 0.0


def _of_truth(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    return session.hooks.call(function, elementwise(session.tape, _nonzero, args[0]), *args[1:], **kwargs)


def _all_close(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    name = {"allclose": np.isclose, "array_equal": np.equal}[function.__name__]
    return session.hooks.call(np.all, session.hooks.call(name, *args, **kwargs))


def _real_if_close(session: Any, z: Any, tol: Any = 100) -> Any:
    raise session.tape.type_fault(
        "`np.real_if_close` gives one type or another, which only running tells", "take `z.real`, or keep it complex"
    )


TABLE: dict[str, Handler] = {
    **{name: _elements(make) for name, make in _ELEMENTS.items()},
    **dict.fromkeys(_BY_PARTS, _by_parts),
    **dict.fromkeys(_PRODUCTS, _bilinear),
    "einsum": _einsum, "prod": _product, "var": _of_first(_spread(False)), "std": _of_first(_spread(True)),
    "linalg.norm": _of_first(_norm), "linalg.solve": _solve, "linalg.inv": _inverse, "vdot": _of_first(_vdot),
    "all": _of_truth, "any": _of_truth, "count_nonzero": _of_truth, "allclose": _all_close, "array_equal": _all_close,
    "real": _of_first(lambda session, z: z.real), "array": _of_first(_array), "asarray": _of_first(_array),
    "ascontiguousarray": _of_first(_array), "full": _filled, "zeros_like": _of_first(_like(0j)),
    "ones_like": _of_first(_like(1 + 0j)), "empty_like": _of_first(_like(0j)), "full_like": _of_first(_like(None)),
    **{name: _of_first(lambda session, z, name=name: getattr(z.real, name)) for name in _SHAPES},
    "polyval": lambda session, function, args, kwargs: polynomial(
        args[0], args[1] if is_complex(args[1]) or type_of(args[1]) is not None else as_complex(session.tape, args[1])
    ),
}  # fmt: skip
"""By the names of the registry."""


def with_complex(name: str, handler: Handler) -> Handler:
    """The same for real arguments; for others what the table says, or a refusal."""
    own = TABLE.get(name)

    def handle(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if kwargs.get("dtype") is not None and _is_complex_type(kwargs["dtype"]) and is_staged_deep(args):
            rest = {key: value for key, value in kwargs.items() if key != "dtype"}
            return as_complex(session.tape, handle(session, function, args, rest))
        if not (any(map(holds_complex, args)) or (kwargs and any(map(holds_complex, kwargs.values())))):
            return handler(session, function, args, kwargs)
        if not is_staged_deep((args, tuple(kwargs.values()))):
            return session.plain(function, args, kwargs)
        return own(session, function, args, kwargs) if own is not None else _refuse(session, function, "")

    return handle


def _is_complex_type(dtype: Any) -> bool:
    return dtype is complex or np.dtype(dtype).name == "complex128"


def _refuse(session: Any, function: Any, how: str) -> Any:
    name = getattr(function, "__name__", "this function")
    raise session.tape.type_fault(
        f"`np.{name}`{how} of complex arrays is not staged", "docs/complex.md lists what is; write it with the parts"
    )


# --- functions that are staged of real arrays too, because what they give is complex, or the parts of it


def _conjugate(session: Any, z: Any) -> Any:
    return z if z.__class__ is Array else z.conjugate()


def _imaginary(session: Any, z: Any) -> Any:
    return z.imag


def _of_one(make: Make) -> Handler:
    """A function of one array or number, which may be real."""
    return lambda session, function, args, kwargs: make(session, _as_array(session, args[0]))


def _as_array(session: Any, value: Any) -> Any:
    if is_complex(value) or type_of(value) is not None:
        return value
    return as_complex(session.tape, value) if holds_complex(value) else as_array(session.tape, value)


OTHERS: dict[str, Handler] = {
    "conjugate": _of_one(_conjugate), "imag": _of_one(_imaginary), "angle": _of_first(_angle),
    "real_if_close": _of_first(_real_if_close),
    "iscomplex": _of_first(lambda session, z: elementwise(session.tape, lambda x: x.imag != 0.0, z)),
    "isreal": _of_first(lambda session, z: elementwise(session.tape, lambda x: x.imag == 0.0, z)),
    "iscomplexobj": lambda session, function, args, kwargs: is_complex(args[0]),
    "isrealobj": lambda session, function, args, kwargs: not is_complex(args[0]),
}  # fmt: skip


TABLE.update(OTHERS)


def staged_only(handler: Handler) -> Handler:
    """The same where something is staged."""

    def handle(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not is_staged_deep((args, tuple(kwargs.values()))):
            return session.plain(function, args, kwargs)
        return handler(session, function, args, kwargs)

    return handle


def others() -> dict[Any, Handler]:
    """By function."""
    return {getattr(np, name): staged_only(handler) for name, handler in OTHERS.items() if hasattr(np, name)}


# --- operators and methods


def _binary(op: Make, reverse: bool) -> Make:
    def method(self: ComplexArray, other: Any) -> Any:
        operands = (other, self) if reverse else (self, other)
        return elementwise(self.tape, op, *operands)

    return method


def _in_place(op: Make) -> Make:
    def method(self: ComplexArray, other: Any) -> Any:
        self[...] = elementwise(self.tape, op, self, other)
        return self

    return method


def _refused(symbol: str) -> Make:
    def method(self: ComplexArray, *others: Any) -> Any:
        raise self.tape.type_fault(
            f"complex arrays have no `{symbol}` here", "compare or convert `abs(z)`, `z.real` or `z.imag`"
        )

    return method


def _function(name: str) -> Make:
    return lambda self, *args, **kwargs: self.tape.session.hooks.call(getattr(np, name), self, *args, **kwargs)


def _of_each(name: str) -> Make:
    return lambda self, *args, **kwargs: _together(
        getattr(self.real, name)(*args, **kwargs), getattr(self.imag, name)(*args, **kwargs)
    )


def _unknown(self: ComplexArray, name: str) -> Any:
    if name.startswith("_") or not hasattr(np.ndarray, name):
        raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
    raise self.tape.type_fault(f"`.{name}` of a complex array is not staged", "docs/complex.md lists what is")


def _as_type(self: ComplexArray, dtype: Any, copy: bool = True) -> Any:
    if not _is_complex_type(dtype):
        raise self.tape.type_fault("a complex array is not made real", "take `z.real`")
    return self.copy() if copy else self


def _product_of(self: ComplexArray, other: Any, reverse: bool) -> Any:
    operands = (other, self) if reverse else (self, other)
    return self.tape.session.hooks.call(np.matmul, *operands)


def _install() -> None:
    binary = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv}
    methods: dict[str, Any] = {}
    for name, op in (binary | {"pow": operator.pow}).items():
        methods |= {f"__{name}__": _binary(op, False), f"__r{name}__": _binary(op, True), f"__i{name}__": _in_place(op)}
    methods |= {"__eq__": _binary(operator.eq, False), "__ne__": _binary(operator.ne, False)}
    refused = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "floordiv": "//", "mod": "%", "and": "&", "or": "|"}
    refused |= {"xor": "^", "bool": "bool", "contains": "in", "hash": "hash", "format": "format", "str": "str"}
    methods |= {f"__{name}__": _refused(symbol) for name, symbol in refused.items()}
    methods |= {"__neg__": lambda self: joined(-self.real, -self.imag), "__pos__": lambda self: self.copy()}
    methods |= {"__abs__": lambda self: elementwise(self.tape, abs, self), "__getattr__": _unknown}
    methods |= {"__matmul__": partial(_product_of, reverse=False), "__rmatmul__": partial(_product_of, reverse=True)}
    conjugate = lambda self: joined(self.real, -self.imag)  # noqa: E731  # two names of one method
    methods |= {"conj": conjugate, "conjugate": conjugate, "astype": _as_type}
    methods |= {
        "T": property(lambda self: joined(self.real.T, self.imag.T)),
        "nbytes": property(lambda self: 16 * self.size),
    }
    methods |= {name: _function(name) for name in ("dot", "prod", "var", "std", "all", "any")}
    each = (
        "reshape",
        "ravel",
        "flatten",
        "transpose",
        "copy",
        "sum",
        "mean",
        "cumsum",
        "trace",
        "diagonal",
        "swapaxes",
    )
    methods |= {name: _of_each(name) for name in (*each, "squeeze", "take", "repeat", "item", "tolist")}
    methods["fill"] = lambda self, value: self.__setitem__(Ellipsis, value)
    for name, method in methods.items():
        own = method if not isinstance(method, partial) else (lambda self, other, made=method: made(self, other))
        setattr(ComplexArray, name, own)


_install()
