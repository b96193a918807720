"""What NumPy's functions do with numbers and arrays of other dtypes than float64, int64 and bool.

They compute in 64 bits, and what they give is brought into the dtype that NumPy itself says for such operands. Sums,
differences and products of integers are right modulo their bits, whatever is added first; floats of 32 bits are rounded
once for each operation of elements, so that `+ - * /` and `sqrt` have NumPy's bits. What is in no table is refused.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false, reportOperatorIssue=false
# pyright: reportUnknownParameterType=false

import operator
from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays import narrow_array
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import MaskedArray
from rosejit.frontend.arrays.broadcast import an_array, broadcast_map
from rosejit.frontend.arrays.complex_array import is_complex
from rosejit.frontend.arrays.narrow_array import (
    DTYPES,
    NarrowArray,
    as_dtype,
    converted_to,
    is_narrow,
    require_range,
    require_staged,
)
from rosejit.frontend.arrays.reductions import chosen, larger
from rosejit.frontend.numpy.array_methods import cumulative
from rosejit.frontend.numpy.narrow_elements import (
    USUAL,
    Operand,
    elementwise,
    holds_narrow,
    in_dtype,
    mapped,
    note_weak,
    operate,
    refuse,
)
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import NUMBERS, P, type_of
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.narrow_values import STAGED
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Make = Callable[..., Any]
Handler = Callable[[Any, Any, Args, Options], Any]


def _where(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    tape = session.tape
    if len(args) != 3 or kwargs:
        return refuse(session, function, " with one argument")
    condition, *sides = [Operand(tape, "where", value) for value in args]

    def resolve(kinds: list[Any]) -> list[Any]:
        return [_sampled(tape, lambda a, b: np.where(True, a, b), kinds)]

    dtypes = resolve([side.kind for side in sides])
    note_weak(tape, "where", sides, dtypes, resolve)
    wide = [in_dtype(tape, side, dtypes[0], False) for side in sides]
    holds = condition.wide
    return mapped(tape, "where", lambda c, x, y: chosen(c, x, y), [holds, *wide], dtypes)


def _sampled(tape: Any, function: Make, kinds: list[Any]) -> Any:
    """The dtype of what NumPy's function gives for operands of these kinds."""
    found = function(*[np.ones(1, kind) if isinstance(kind, np.dtype) else kind(1) for kind in kinds]).dtype
    require_staged(tape, found)
    return found


def _clip(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    tape = session.tape
    named = {"a_min": "min", "a_max": "max"}
    bounds = dict(zip(("min", "max"), args[1:], strict=False)) | {named.get(k, k): v for k, v in kwargs.items()}
    if len(args) > 3 or bounds.keys() - {"min", "max"}:
        return refuse(session, function, " with other arguments than two bounds")
    used = [key for key in ("min", "max") if bounds.get(key) is not None]
    operands = [Operand(tape, "clip", value) for value in (*args[:1], *[bounds[key] for key in used])]

    def bounded(a: Any, *given: Any) -> Any:
        found = dict(zip(used, given, strict=True))
        return np.clip(a, found.get("min"), found.get("max"))

    def resolve(kinds: list[Any]) -> list[Any]:
        return [_sampled(tape, bounded, kinds)]

    dtypes = resolve([operand.kind for operand in operands])
    note_weak(tape, "clip", operands, dtypes, resolve)
    wide = [in_dtype(tape, operand, dtypes[0], False) for operand in operands]

    def make(x: Any, *given: Any) -> Any:
        for key, bound in zip(used, given, strict=True):
            x = larger("max" if key == "min" else "min", x, bound)
        return x

    return mapped(tape, "clip", make, wide, dtypes)


def _round(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    a, *rest = args
    decimals = rest[0] if rest else kwargs.get("decimals", 0)
    if a.dtype.kind == "f" and decimals != 0:
        return refuse(session, function, " with `decimals`")
    return _widely(session, row, function, args, kwargs, a.dtype)


# --- functions of whole arrays


def wide_of(tape: Any, value: Any) -> Any:
    """An argument with numbers of 64 bits."""
    if value.__class__ in (list, tuple):
        return type(value)([wide_of(tape, item) for item in value])
    return narrow_array.operand(tape, value) if is_narrow(value) else value


def dtype_in(value: Any) -> Any:
    """The dtype of an array, a number, or an array that a list is made into."""
    if value.__class__ in (list, tuple):
        return np.result_type(*[dtype_in(item) for item in value]) if value else np.dtype(float)
    if value.__class__ is Array or value.__class__ in NUMBERS:
        return np.dtype(DTYPES[value.type])
    return value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype


def _widely(session: Any, row: Any, function: Any, args: Args, kwargs: Options, dtype: Any, fits: bool = True) -> Any:
    """What the function gives in 64 bits, in `dtype`; `fits` says that its values are such already."""
    if not fits:
        require_staged(session.tape, dtype)
    args = tuple([wide_of(session.tape, arg) for arg in args])
    kwargs = {key: wide_of(session.tape, value) for key, value in kwargs.items()}
    return _of_dtype(session.tape, row(session, function, args, kwargs), dtype, fits)


def _of_dtype(tape: Any, found: Any, dtype: Any, fits: bool) -> Any:
    if isinstance(found, (list, tuple)):
        return type(found)([_of_dtype(tape, each, dtype, fits) for each in found])
    if fits or dtype.name not in STAGED:
        return as_dtype(tape, found, dtype)
    return converted_to(tape, found, dtype)


def _of_first(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A function that moves elements of its first argument, or gives views of it."""
    if any(map(holds_narrow, (*args[1:], *kwargs.values()))):
        args = (args[0], *[wide_of(session.tape, arg) for arg in args[1:]])
    return _widely(session, row, function, args, kwargs, dtype_in(args[0]))


def _of_second(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A function that picks elements of its second argument."""
    return _widely(session, row, function, args, kwargs, dtype_in(args[1]))


def _of_list(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A function of several arrays, which are put together."""
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    first = list(args[0]) if isinstance(args[0], (list, tuple)) else args[0]
    if first.__class__ is not list:
        return refuse(session, function, "")
    if dtype is not None and not np.can_cast(dtype_in(first), dtype, casting):
        raise session.tape.type_fault(
            f"`np.{function.__name__}` does not cast {dtype_in(first)} to {np.dtype(dtype)} by the rule {casting!r}",
            "convert the result: `.astype(...)`",
        )
    found = _widely(session, row, function, (first, *args[1:]), kwargs, dtype_in(first))
    return found if dtype is None else _as_type(session.tape, found, dtype)


def _of_all(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A product or a function that is a sum of products: modulo the bits, or rounded once."""
    if others := kwargs.keys() - {"mode", "axes"}:
        return refuse(session, function, f" with `{min(others)}`")
    operands = [arg for arg in args if not isinstance(arg, (str, int))]
    return _widely(session, row, function, args, kwargs, dtype_in(operands), fits=False)


def _einsum(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if not isinstance(args[0], str):
        return refuse(session, function, " with lists of labels")
    return _of_all(session, row, function, args, kwargs)


def _of_matrices(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """Of matrices of float32 what NumPy computes in float32 is computed in 64 bits, and rounded once."""
    dtypes = [dtype_in(arg) for arg in args if not isinstance(arg, (str, int, float, tuple, type(None)))]
    for each in dtypes:
        require_staged(session.tape, each)
    dtype = np.dtype("float32" if {each.name for each in dtypes} == {"float32"} else "float64")
    return _widely(session, row, function, args, kwargs, dtype, fits=dtype.itemsize == 8)


def _divmod(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if kwargs or len(args) != 2:
        return refuse(session, function, " with options")
    return operate(session.tape, "divmod", *args)


def _result_type(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    def kind(arg: Any) -> Any:
        named = isinstance(arg, (str, type, np.dtype))
        return np.dtype(arg) if named else Operand(session.tape, "result_type", arg).sample

    return np.result_type(*map(kind, args))


def _append(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    return _widely(session, row, function, args, kwargs, dtype_in(list(args[:2])))


def _difference(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if len(args) > 1 or kwargs.keys() - {"axis"}:
        return refuse(session, function, " with other arguments than `axis`")
    return _widely(session, row, function, args, kwargs, dtype_in(*args), fits=False)


def _wide(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A function whose results are places or truth values, or that NumPy computes in 64 bits itself: the same for the
    numbers in 64 bits."""
    args = tuple([wide_of(session.tape, arg) for arg in args])
    return row(session, function, args, {key: wide_of(session.tape, value) for key, value in kwargs.items()})


_PLACES = ("axis", "dtype")


def _counted(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    if dtype_in(args[0]).name == "uint64":
        return refuse(session, function, " of uint64, which NumPy refuses too,")
    return _wide(session, row, function, args, kwargs)


def _but(is_refused: Callable[[Any], bool], how: str, handler: Make) -> Make:
    """The same, but for arguments of dtypes that are refused, because NumPy's own few bits would show."""

    def handle(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
        dtypes = [dtype_in(arg) for arg in (*args, *kwargs.values()) if holds_narrow(arg)]
        refused = next((dtype for dtype in dtypes if is_refused(dtype)), None)
        if refused is not None:
            return refuse(session, function, how.format(refused))
        return handler(session, row, function, args, kwargs)

    return handle


def _filling(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A function that moves elements of its first argument, and puts others beside them."""
    dtype = dtype_in(args[0])
    for arg in (*args[1:], *kwargs.values()):
        if is_staged_deep(arg) and (not is_narrow(arg) or dtype_in(arg) != dtype):
            return refuse(session, function, " with other staged numbers")
    for value in [kwargs["constant_values"]] if "constant_values" in kwargs else args[2:]:
        if not is_staged_deep(value) and not isinstance(value, str) and np.any(np.asarray(value) != _cut(value, dtype)):
            return refuse(session, function, f" with {value!r}, which is no {dtype},")
    return _widely(session, row, function, args, kwargs, dtype)


def _cut(value: Any, dtype: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)


def _as_sampled(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A function of an array whose dtype is asked of NumPy, by arrays of ones; it is computed in 64 bits, and rounded
    once."""
    given = (*args, *kwargs.values())
    if any(is_staged_deep(arg) and not is_narrow(arg) and arg.__class__ is not Array for arg in given):
        return refuse(session, function, " with staged options")
    few = [_few(arg) for arg in args]
    found = np.asarray(function(*few, **{key: _few(arg) for key, arg in kwargs.items()})).dtype
    return _widely(session, row, function, args, kwargs, found, fits=found.itemsize == 8 and found.kind != "u")


def _few(value: Any) -> Any:
    """Three ones along each axis of an array; of anything else itself."""
    staged = is_narrow(value) or value.__class__ is Array
    return np.ones([min(n, 3) for n in value.shape], dtype_in(value)) if staged else value


def _meshgrid(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    found = row(session, function, tuple([wide_of(session.tape, arg) for arg in args]), kwargs)
    return type(found)([as_dtype(session.tape, each, dtype_in(arg)) for each, arg in zip(found, args, strict=True)])


def _outer(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.subtract.outer(a, b)`."""
    ufunc, (a, b) = function.__self__, args
    if kwargs or not (hasattr(a, "shape") and hasattr(b, "shape")):
        return refuse(session, function, " of others than two arrays")
    return operate(session.tape, ufunc.__name__, a.reshape(*a.shape, *[1] * len(b.shape)), b)


def _select(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    tape, (conditions, choices, *rest) = session.tape, args
    default = rest[0] if rest else kwargs.pop("default", 0)
    if kwargs:
        return refuse(session, function, f" with `{next(iter(kwargs))}`")
    operands = [Operand(tape, "select", value) for value in (*choices, default)]

    def resolve(kinds: list[Any]) -> list[Any]:
        return [_sampled(tape, lambda *each: np.zeros(0, np.result_type(*each)), kinds)]

    dtypes = resolve([operand.kind for operand in operands])
    note_weak(tape, "select", operands, dtypes, resolve)
    *wide, other = [in_dtype(tape, operand, dtypes[0], False) for operand in operands]
    holds = [wide_of(tape, condition) for condition in conditions]
    return as_dtype(tape, row(session, function, (holds, wide, other), {}), dtypes[0])


def _fold(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """A sum and its like: of integers modulo the bits; of floats of 32 bits computed in 64, and rounded once."""
    tape, (a, *rest) = session.tape, args
    a = session.hooks.call(np.asarray, a) if isinstance(a, (list, tuple)) else a
    options = dict(zip(_PLACES, rest, strict=False)) | kwargs if len(rest) <= 2 else None
    if options is None or any(map(is_staged_deep, options.values())) or options.get("out") is not None:
        return refuse(session, function, " with staged options, or with `out`")
    dtype = options.pop("dtype", None)
    if dtype is not None:
        a = _as_type(tape, a, dtype)
        if not is_narrow(a):
            return row(session, function, (a,), options)
    sample = np.ones((1,) * max(a.ndim, 1), a.dtype)
    found = np.asarray(function(sample, **{} if dtype is None else {"dtype": dtype})).dtype
    if function.__name__ in _RUNNING and a.dtype.name == "float32":
        return _running(session, function.__name__, a, options.get("axis"))
    return _widely(session, row, function, (a,), options, found, fits=found.itemsize == 8 and found.kind != "u")


_RUNNING = {"cumsum": (operator.add, -0.0), "cumprod": (operator.mul, 1)}


def _running(session: Any, name: str, a: Any, axis: Any) -> Any:
    """Running sums of floats of 32 bits, each rounded, in order."""
    op, start = _RUNNING[name]
    single = P["single"].__call__
    make = cumulative(lambda x, y: single(op(x, y)), start)
    return as_dtype(session.tape, make(narrow_array.operand(session.tape, a), axis), a.dtype)


# --- new arrays


def _as_type(tape: Any, value: Any, dtype: Any) -> Any:
    """`value.astype(dtype)`."""
    if np.dtype(dtype).kind == "c":
        raise tape.type_fault("numbers of few bits are not made complex", "convert before: `.astype(np.float64)`")
    wide = narrow_array.operand(tape, value) if is_narrow(value) else value
    wide = wide if type_of(wide) is not None or wide.__class__ is Array else as_array(tape, wide)
    if wide is None:
        raise tape.type_fault(f"numbers and arrays have a dtype, given {type(value).__name__}")
    return converted_to(tape, wide, np.dtype(dtype))


def astype(a: Any, dtype: Any, copy: bool = True) -> Any:
    """`x.astype(dtype)`, from or to a dtype of few bits."""
    made = _as_type(a.tape, a, dtype)
    if not is_narrow(a) or made.dtype != a.dtype:
        return made
    return made.copy() if copy else a


def _astype(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.astype`."""
    if len(args) != 2 or kwargs.keys() - {"copy"}:
        return refuse(session, function, " with such options")
    a, dtype = args
    return astype(a, dtype, kwargs.get("copy", True))


def _array(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    tape, (value, *rest) = session.tape, args
    options = dict(zip(("dtype",), rest, strict=False)) | kwargs
    dtype = options.pop("dtype", None)
    if options.keys() - {"copy"} or len(rest) > 1:
        return refuse(session, function, " with other options than `dtype` and `copy`")
    if isinstance(value, (list, tuple)):
        found = dtype_in(value)
        wide = row(session, function, (wide_of(tape, value),), {})
        _refuse_weak(tape, function, value, wide, dtype)
        return _of_dtype(tape, wide, np.dtype(dtype), False) if dtype is not None else as_dtype(tape, wide, found)
    if is_narrow(value) and not isinstance(value, narrow_array.NarrowValue):
        value = NarrowArray(narrow_array.operand(tape, value), value.dtype) if value.shape else value
    if dtype is None or (is_narrow(value) and np.dtype(dtype) == value.dtype):
        copies = function is np.array and options.get("copy", True)
        return value.copy() if copies and value.__class__ is NarrowArray else value
    _refuse_weak(tape, function, value, value, dtype)
    return _as_type(tape, value, dtype)


def _refuse_weak(tape: Any, function: Any, value: Any, wide: Any, dtype: Any) -> None:
    """Refuse whole numbers that do not fit: NumPy's would wrap around, and Python's are refused by NumPy too."""
    if dtype is None or np.dtype(dtype).kind not in "iu" or np.dtype(dtype).itemsize == 8:
        return
    if value.__class__ is not Array and not is_narrow(value):
        kind = wide.type if wide.__class__ is Array else type_of(wide)
        if kind is REAL:
            raise tape.type_fault(
                f"`np.{function.__name__}(..., dtype={np.dtype(dtype)})` of floats is not staged",
                "convert the array: `.astype(...)` drops the fraction",
            )
        if wide.__class__ is not Array:
            require_range(tape, wide, np.dtype(dtype))
            return
        broadcast_map(tape, lambda x: _in_range(tape, x, np.dtype(dtype)), wide)


def _in_range(tape: Any, x: Any, dtype: Any) -> Any:
    require_range(tape, x, dtype)
    return x


def _like(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    like, *rest = args
    names = ("fill_value", "dtype") if function is np.full_like else ("dtype",)
    options = dict(zip(names, rest, strict=False)) | kwargs
    if options.keys() - {"fill_value", "dtype", "shape"} or len(rest) > len(names):
        return refuse(session, function, " with such options")
    dtype = np.dtype(options.pop("dtype", None) or dtype_in(like))
    shape = options.get("shape")
    fill = options.get("fill_value", int(function is np.ones_like))
    return _filled(session, np.shape(np.empty(like.shape)) if shape is None else shape, fill, dtype)


def _full(session: Any, row: Any, function: Any, args: Args, kwargs: Options) -> Any:
    options = dict(zip(("shape", "fill_value", "dtype"), args, strict=False)) | kwargs
    if options.keys() - {"shape", "fill_value", "dtype"} or len(args) > 3:
        return refuse(session, function, " with such options")
    fill = options["fill_value"]
    dtype = options.get("dtype")
    return _filled(session, options["shape"], fill, dtype_in(fill) if dtype is None else np.dtype(dtype))


def _filled(session: Any, shape: Any, fill: Any, dtype: Any) -> Any:
    require_staged(session.tape, dtype)
    made: Any = session.hooks.call(np.zeros, shape, DTYPES[{"f": REAL, "b": BOOL}.get(dtype.kind, INT)])
    made = an_array(session.tape, made)
    if dtype.name in STAGED:
        made = NarrowArray(made, dtype)
    made[...] = fill
    return made


def scalar_class(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.float32(x)` and its like."""
    if not is_staged_deep((args, tuple(kwargs.values()))):
        return session.plain(function, args, kwargs)
    if len(args) != 1 or kwargs:
        return refuse(session, function, " with other than one argument")
    tape, value, dtype = session.tape, args[0], np.dtype(function)
    if type_of(value) is INT and dtype.kind in "iu":  # Python's must fit, NumPy's wrap around
        require_range(tape, value, dtype)
    return _as_type(tape, value, dtype)


def scalar_classes() -> dict[Any, Handler]:
    """By class."""
    names = (*STAGED, "float16", "longdouble")
    return {getattr(np, name): scalar_class for name in names if hasattr(np, name)}


# --- the table

_MOVED = (  # noqa: SIM905 - a list of words is longer
    "reshape ravel transpose swapaxes moveaxis squeeze expand_dims broadcast_to flip fliplr flipud rot90 diagonal diag "
    "atleast_1d atleast_2d atleast_3d copy take repeat roll tile tril triu delete resize split array_split hsplit "
    "vsplit dsplit sort partition max min real rollaxis matrix_transpose take_along_axis nanmax nanmin "
    "lib.stride_tricks.sliding_window_view minimum.reduce maximum.reduce minimum.accumulate maximum.accumulate"
).split()
FOLDED = ["sum", "prod", "mean", "var", "std", "cumsum", "cumprod", "trace", "median", "ptp"]
_PRODUCTS = ["dot", "matmul", "inner", "outer", "vdot", "vecdot", "kron", "convolve", "cross", "tensordot", "correlate"]
_LINALG = ["linalg.solve", "linalg.inv", "linalg.det", "linalg.cholesky", "linalg.norm", "linalg.pinv"]
_SAME = (  # noqa: SIM905 - a list of words is longer
    "argmax argmin argsort lexsort any all count_nonzero nonzero flatnonzero argwhere shape ndim size array_equal isin "
    "searchsorted digitize interp cov corrcoef"
).split()
_SAMPLED = (  # noqa: SIM905 - a list of words is longer
    "nanmedian nanmean nanstd nanvar nansum nanprod average gradient cumulative_sum cumulative_prod add.reduce "
    "multiply.reduce add.accumulate multiply.accumulate"
).split()
_JOINED = ["concatenate", "stack", "vstack", "hstack", "column_stack", "dstack", "block"]
_WIDE_INTS = _but(lambda dtype: dtype.kind == "f" or dtype.name == "uint64", " of {}", _wide)
_WHOLE = _but(lambda dtype: dtype.kind == "f", " of {}", _of_first)
_UNSIGNED = _but(
    lambda dtype: dtype.kind == "i", " of signed integers, whose differences wrap around in NumPy,", _as_sampled
)
_QUANTILES = _but(lambda dtype: dtype.name == "float16", " of {}", _UNSIGNED)
_SUMS = _but(lambda dtype: dtype.kind in "iu", " of integers, of which sums wrap around,", _as_sampled)
TABLE: dict[str, Make] = {
    **dict.fromkeys(_MOVED, _of_first), **dict.fromkeys(FOLDED, _fold), **dict.fromkeys(_PRODUCTS, _of_all),
    **dict.fromkeys(_SAMPLED, _as_sampled), **dict.fromkeys(("pad", "insert"), _filling),
    **dict.fromkeys(("histogram", "isclose", "allclose", "array_equiv", "fft.fft", "fft.rfft"), _WIDE_INTS),
    **dict.fromkeys(("percentile", "quantile", "nanpercentile", "nanquantile"), _QUANTILES),
    **dict.fromkeys(("compress", "extract"), _of_second),
    **dict.fromkeys(("trapezoid", "trapz", "ediff1d"), _SUMS), "nan_to_num": _WHOLE,
    "meshgrid": _meshgrid, "select": _select,
    **dict.fromkeys(("add.outer", "subtract.outer", "multiply.outer", "maximum.outer", "minimum.outer"), _outer),
    **dict.fromkeys(_SAME, _wide), "bincount": _counted, **dict.fromkeys(_JOINED, _of_list), "append": _append,
    "diff": _difference, **dict.fromkeys(_LINALG, _of_matrices), "einsum": _einsum, "divmod": _divmod,
    "result_type": _result_type, "where": _where, "clip": _clip, "round": _round, "array": _array, "asarray": _array,
    "asanyarray": _array, "ascontiguousarray": _array, "full": _full,
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like"), _like),
    "astype": _astype,
}  # fmt: skip
"""By the names of the registry; what they are given first is the handler for numbers of 64 bits."""
_MAKING = frozenset({
    "array", "asarray", "asanyarray", "ascontiguousarray", "full", "zeros_like", "ones_like", "empty_like", "full_like",
    "sum", "prod", "mean", "cumsum", "cumprod", "concatenate", "stack", "vstack", "hstack",
})  # fmt: skip
"""Functions of arrays of 64 bits that can give others, where `dtype=` says so."""


def with_narrow(name: str, make: Make, usual: Handler, with_complex: Make, of_elements: bool) -> Handler:
    """The same for numbers of 64 bits; for others what the table says, or a refusal. `with_complex` adds what is done
    with complex numbers to `usual`, which arguments of the usual classes go to at once."""
    own, makes, handler = TABLE.get(name), name in _MAKING, with_complex(name, usual)

    def handle(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        plain = not kwargs
        for arg in args:
            if arg.__class__ not in USUAL:
                if holds_narrow(arg) or (makes and _names_narrow(arg)):
                    break
                plain = False
            elif of_elements and arg.__class__ is Array and arg.type is BOOL and _is_less(session.tape, function, args):
                break
        else:
            if plain:
                return usual(session, function, args, kwargs)
            if not kwargs or not _is_narrow_named(kwargs, makes):
                return handler(session, function, args, kwargs)
        if not is_staged_deep((args, tuple(kwargs.values()))):
            return session.plain(function, args, kwargs)
        if own is not None:
            return own(session, handler, function, args, kwargs)
        if not of_elements or not isinstance(function, np.ufunc) or kwargs:
            return refuse(session, function, f" with `{next(iter(kwargs))}`" if kwargs and of_elements else "")
        return elementwise(session, name, make, function, args)

    return handle


def _is_narrow_named(kwargs: Options, makes: bool) -> bool:
    return any(map(holds_narrow, kwargs.values())) or (makes and _asks_narrow(kwargs.get("dtype")))


def _is_less(tape: Any, function: Any, args: Args) -> bool:
    """Whether NumPy computes a function of arrays of truth values, and of what is beside them, in few bits."""
    if not isinstance(function, np.ufunc) or len(args) != function.nin or any(map(is_complex, args)):
        return False
    kinds = [Operand(tape, function.__name__, arg).kind for arg in args if arg.__class__ is not MaskedArray]
    if len(kinds) < len(args):
        return False
    try:
        found = function.resolve_dtypes((*kinds, *[None] * function.nout))
    except TypeError:
        return False
    return any(dtype.name not in DTYPES.values() for dtype in found)


def _asks_narrow(dtype: Any) -> bool:
    """Whether a `dtype` is one of few bits."""
    if dtype is None:
        return False
    found = np.dtype(dtype)
    return found.name not in DTYPES.values() and found.kind in "fiu"


def _names_narrow(value: Any) -> bool:
    """Whether an argument by place is such a dtype."""
    return isinstance(value, (type, np.dtype)) and value is not type(None) and _asks_narrow(value)
