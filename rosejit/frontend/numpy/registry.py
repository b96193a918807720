"""The registry of the functions of NumPy that are staged: one row each. Whoever asks what NumPy has, or what one of
its functions does, reads it here."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownVariableType=false

import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from rosejit.collector import paused
from rosejit.frontend.arrays import boolean_indexing, reductions
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.boolean_indexing import MaskedArray
from rosejit.frontend.arrays.broadcast import power_of_elements
from rosejit.frontend.arrays.call_binding import UFUNC, bound
from rosejit.frontend.arrays.reductions import chosen, larger
from rosejit.frontend.numpy import array_methods as methods
from rosejit.frontend.numpy import (
    complex_roots,
    complex_rows,
    composite,
    concatenate,
    contractions,
    creation,
    fft,
    linalg,
    manipulation,
    narrow_rows,
    sorting,
)
from rosejit.frontend.numpy import linalg_composite as more
from rosejit.frontend.numpy.array_methods import cumulative
from rosejit.frontend.numpy.building import FlatElements
from rosejit.frontend.numpy.row_kinds import (
    Handler,
    Row,
    called_into,
    making,
    marked,
    of_array,
    of_elements,
    of_places,
    of_several,
    of_shape,
    require_length,
    writing,
)
from rosejit.frontend.numpy.selection import fill_flat, put_flat
from rosejit.frontend.numpy.staged_numpy import array_of
from rosejit.frontend.numpy.subject_rows import OF_ARRAYS, SUBJECTS
from rosejit.frontend.python.builtins import BUILTINS
from rosejit.frontend.scalar_ops.integer_math import STAGED
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.scalars import Bool, P, made_real, reals, type_of
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.numeric import np
from rosejit.staged_names import STAGED as NAMES

Make = Callable[..., Any]

# --- functions of elements


def _logical(name: str, *operands: Any) -> Any:
    return P[name].__call__(*[x != 0 if type_of(x) in (REAL, INT) else x for x in operands])


def _real(x: Any) -> Any:
    return x * 1.0 if type_of(x) is not REAL else x


def _log_of_sum(x: Any, y: Any, power: str, unit: float) -> Any:
    """The logarithm of a sum of powers: the larger one, and a smooth function of how far the other is below."""
    above = x >= y
    top = chosen(above, x, y)
    gap = chosen((x == y) & (abs(x) == math.inf), 0.0, chosen(above, y, x) - top)
    return top + P["log1p"](P[power](gap)) * unit


def _whole(name: str) -> Make:
    """`np.floor` and its like: whole numbers stay what they are."""
    return lambda x: P[name].__call__(x) if type_of(x) is REAL else x


def _fmod(x: Any, y: Any) -> Any:
    if REAL in (type_of(x), type_of(y)):
        return P["fmod"].__call__(x, y)
    rest = abs(x) % abs(y)
    return chosen(x < 0, -rest, rest)


def _reciprocal(x: Any) -> Any:
    if type_of(x) is REAL:
        return 1.0 / x
    whole = 1 // abs(x)
    return chosen(x < 0, -whole, whole)


def _integers(name: str) -> Make:
    """A function that Reals do not have."""

    def make(x: Any, y: Any) -> Any:
        if REAL in (type_of(x), type_of(y)):
            raise TypeError(name)
        return STAGED[name](x, y)

    return make


def _ldexp(x: Any, y: Any) -> Any:
    if type_of(y) is REAL:
        raise TypeError("ldexp")
    return STAGED["ldexp"](x, y)


def _sign(x: Any) -> Any:
    if type_of(x) is BOOL:
        raise TypeError("sign")
    return P["isign" if type_of(x) is INT else "sign"].__call__(x)


_ELEMENTS: dict[str, Make] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide true_divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder mod": operator.mod, "negative": operator.neg,
    "positive": operator.pos, "absolute abs": abs, "power pow": power_of_elements, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq,
    "not_equal": operator.ne, "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "invert bitwise_not": operator.invert, "left_shift": operator.lshift, "right_shift": operator.rshift,
    "maximum": lambda x, y: larger("max", x, y), "minimum": lambda x, y: larger("min", x, y), "sign": _sign,
    "square": lambda x: x * x,
    "reciprocal": _reciprocal, "fabs": lambda x: abs(_real(x)), "float_power": lambda x, y: _real(x) ** y,
    "fmax": lambda x, y: chosen(x != x, y, chosen(y != y, x, larger("max", x, y))),
    "fmin": lambda x, y: chosen(x != x, y, chosen(y != y, x, larger("min", x, y))),
    "heaviside": lambda x, y: chosen(x == 0.0, _real(y), chosen(x != x, x, P["sign"](x) * 0.5 + 0.5)),
    "signbit": lambda x: P["copysign"](1.0, x) < 0.0,
    "radians deg2rad": lambda x: x * (np.pi / 180.0), "degrees rad2deg": lambda x: x * (180.0 / np.pi),
    "logaddexp": lambda x, y: _log_of_sum(_real(x), _real(y), "exp", 1.0),
    "logaddexp2": lambda x, y: _log_of_sum(_real(x), _real(y), "exp2", 1.0 / math.log(2.0)),
    "logical_and": lambda x, y: _logical("and", x, y), "logical_or": lambda x, y: _logical("or", x, y),
    "logical_xor": lambda x, y: _logical("xor", x, y), "logical_not": lambda x: _logical("not", x),
    "floor": _whole("floor"), "ceil": _whole("ceil"), "trunc": _whole("trunc"), "fmod": _fmod,
    "gcd": _integers("gcd"), "lcm": _integers("lcm"),
    "ldexp": _ldexp,
}  # fmt: skip
"""Functions of every element that are no primitive, or the one that the types of the operands say."""
_SAMPLES = {
    "gcd": "k, 4; i, 6", "lcm": "k, 4; i, 6", "ldexp": "x, k; s, 2", "left_shift": "k + 1, 2; k, i",
    "right_shift": "k, 2; k, i", "bitwise_and": "k, 2; p, p; i, 3", "bitwise_or": "k, 2; p, p",
    "bitwise_xor": "k, 2; p, p", "invert bitwise_not": "k; p; i", "subtract": "x, a; a, s; k, 2; s, i",
    "power pow": "x, a; a, 2; k, 2; x, s; 2, s", "negative": "a; s; k", "positive": "a; s; k",
}  # fmt: skip
"""Sample calls of those that are for other numbers than the rest."""


def _where(row: Row) -> Handler:
    """`np.where`: both sides are computed, one is selected."""
    places, elements = of_places(row), of_elements(row)

    def handler(session: Any, function: Any, args: Any, kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            return places(session, function, args, kwargs)
        if len(args) == 3 and args[0].__class__ is Bool and not kwargs:
            atoms = reals(session.tape, args[1:])
            if atoms:  # most of them
                return made_real(session.tape, P["select"], (args[0].atom, *atoms), frame_at(0))
        return elements(session, function, args, kwargs)

    return handler


# --- functions of arrays

_FOLD = "a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True"
_EXTREME = "a, axis=None, out=None, keepdims=False, initial=None, where=True"
_SPREAD = "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=..., correction=..."
_QUANTIFIER = "axis=None, out=None, *, keepdims=False, where=True"
_SPREAD_OF = "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=..."
_LIKE = "a, dtype=None, order='K', subok=True, shape=None, *, device=None"
_NEW = "shape, dtype=None, order='C', *, device=None, like=None"
_JOIN = ", dtype=None, casting='same_kind'"


def _asks(a: Any) -> Any:
    """What functions take whose results staging knows, or never does."""
    return a


def _raised(rank: int, tape: Any, *arys: Any) -> Any:
    """One array, or a tuple of several, with so many dimensions at least."""
    found = tuple(manipulation.raised(rank, array_of(tape, f"np.atleast_{rank}d", a)) for a in arys)
    return found[0] if len(found) == 1 else found


def _rearranged(name: str) -> Make:
    return lambda a, *args, **options: manipulation.rearranged(getattr(np, name))(a, *args, **options)


def _permuted(name: str) -> Make:
    return lambda a, *args, **options: manipulation.permuted(getattr(np, name))(a, *args, **options)


_REDUCTIONS = (
    Row("sum", of_array, reductions.total, _FOLD, "a; t, (0, 2); k; p; a, where=a > 0; s", is_method=True,
        picked=MaskedArray.total, any_length=True),
    Row("prod", of_array, reductions.product, _FOLD.replace("=0", "=1"), "a; k; x, where=p", is_method=True,
        picked=MaskedArray.product, any_length=True),
    Row("mean", of_array, reductions.mean, "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True",
        "a; t, (0, 2); k; p; a, where=a > 0", is_method=True, picked=MaskedArray.mean, any_length=True),
    Row("var", of_array, reductions.variance, _SPREAD, "a; a, ddof=1; k", picked=boolean_indexing.variance),
    Row("std", of_array, reductions.deviation, _SPREAD, "a; a, ddof=1; k", picked=boolean_indexing.deviation),
    Row("max amax", of_array, reductions.largest, _EXTREME, "a; k; p; a, initial=3.0; t, (0, 1)", is_method=True,
        picked=partial(MaskedArray.extreme, name="max"), any_length=True),
    Row("min amin", of_array, reductions.smallest, _EXTREME, "a; k; p; a, initial=0.3", is_method=True,
        picked=partial(MaskedArray.extreme, name="min"), any_length=True),
    Row("all", of_array, reductions.every, "a, axis=None, out=None, keepdims=False, *, where=True", "p; a; a > 0",
        picked=boolean_indexing.every, any_length=True),
    Row("any", of_array, reductions.some, "a, axis=None, out=None, keepdims=False, *, where=True", "p; a; a > 5",
        picked=boolean_indexing.some, any_length=True),
    Row("argmax", of_array, reductions.argmax, "a, axis=None, out=None, *, keepdims=False", "a; k; p", is_method=True),
    Row("argmin", of_array, reductions.argmin, "a, axis=None, out=None, *, keepdims=False", "a; k; p", is_method=True),
    Row("cumsum", of_array, cumulative(operator.add, -0.0), "a, axis=None, dtype=None, out=None", "a; k; p",
        is_method=True, any_length=True),
    Row("cumprod", of_array, cumulative(operator.mul, 1), "a, axis=None, dtype=None, out=None", "a; k", is_method=True,
        any_length=True),
    Row("count_nonzero", of_array, composite.count_nonzero, "a, axis=None, *, keepdims=False", "a; p; k, axis=0",
        picked=boolean_indexing.count_nonzero),
    Row("ptp", of_array, composite.ptp, "a, axis=None, out=None, keepdims=False", "a; k"),
    Row("trace", of_array, methods.trace, "a, offset=0, axis1=0, axis2=1, dtype=None, out=None", "a; m, 1",
        is_method=True),
)  # fmt: skip
_PRODUCT = f"{UFUNC.replace('where=True, ', '')}, axes=..., axis=..., keepdims=..."
_PRODUCTS = (
    Row("dot", of_array, contractions.dot, "a, b, out=None", "x, x; a, m; x, s; s, 2.0; t, [1.0, s, 2.0, 0.5]",
        is_method=True, picked=MaskedArray.dot, any_length=True),
    Row("matmul", of_array, contractions.matmul_of,
        f"x1, x2, /, {_PRODUCT}",
        "x, x; a, m; m, x; t[:, :, :3], m", any_length=True),
    Row("inner", of_array, contractions.inner, "a, b, /", "x, x; a, a; a, x; s, 3.0; x, s", picked=MaskedArray.dot,
        any_length=True),
    Row("outer", of_array, contractions.outer, "a, b, out=None", "x, x; x, [1.0, s]; s, 2.0; a, x"),
    Row("vdot", of_array, contractions.vdot, "a, b, /", "x, x; a, a; s, 2.0"),
    Row("tensordot", of_array, contractions.tensordot,
        samples="a, m, axes=1; a, a; x, s, axes=0; a, t, ([0, 1], [0, 1]); a, m, axes=(1, 0)", zero_dimensional=True),
    Row("kron", of_array, contractions.kron, samples="x, x; a, x; s, 3.0; a, s; a, a"),
    Row("cross", of_array, composite.cross, "a, b, axisa=-1, axisb=-1, axisc=-1, axis=None",
        "x, x * x; a, a * a; x, [1.0, s, 2.0]; a, x; m, x, axisa=0; m, m, 0, 0, 0; m, m, axis=0"),
    Row("convolve", of_array, composite.convolve,
        samples="x, x; x, [1.0, s]; x, [1.0, s], 'same'; x, x[:2], 'valid'; [1.0, s], x, 'same'"),
    Row("einsum", of_several, contractions.einsum, "*operands, out=None, optimize=False, **kwargs",
        "'ij,jk->ik', a, m; 'ij,ij', a, a; 'ii', m; 'i,j', x, x; 'ij->j', a; 'ijk,k', t, t[0, 0]; '...j,j->...', a, x; "
        "'...i,...i', a, a; '...ij->...ji', t; a, [0, 1], x, [1]; a, [0, 1], m, [1, 2], [0, 2]; "
        "'...,...', a[:, :1], x; a, [..., 0], x, [0], [...]; 'i...->...', a; 'ij,...', m, s"),
)  # fmt: skip
_SHAPES = (
    Row(
        "reshape", of_array, manipulation.reshape_to, "a, /, shape, order='C', *, copy=None", "a, (3, 2); a, -1",
        "view", zero_dimensional=True,
    ),
    Row("ravel", of_array, manipulation.ravel, "a, order='C'", "a; np.transpose(t)", "view", is_method=True,
        picked=boolean_indexing.flat),
    Row("transpose", of_array, manipulation.transpose_to, "a, axes=None", "a; t, (1, 0, 2); t, [2, 0, 1]", "view"),
    Row("swapaxes", of_array, _permuted("swapaxes"), "a, axis1, axis2", "t, 0, 1; a, 0, -1", "view", is_method=True),
    Row("moveaxis", of_array, _permuted("moveaxis"), "a, source, destination", "t, 0, -1; t, [0, 1], [1, 0]", "view"),
    Row("squeeze", of_array, manipulation.squeezed, "a, axis=None",
        "x[None]; a[None, :, None]; a[None], 0; x[None, :1]; s", "view", is_method=True, zero_dimensional=True),
    Row("expand_dims", of_array, manipulation.expanded, "a, axis", "x, 0; a, (0, 2); s, 0; s, ()", "view",
        zero_dimensional=True),
    Row("broadcast_to", of_array, manipulation.broadcast_to, "array, shape, subok=False", "x, (2, 3); s, 3; s, ()",
        "view"),
    Row("flip", of_array, manipulation.flipped, "m, axis=None", "a; a, 1; t, (0, 2)", "view"),
    Row("fliplr", of_array, manipulation.fliplr, samples="a", gives="view"),
    Row("flipud", of_array, manipulation.flipud, samples="a; x", gives="view"),
    Row("rot90", of_array, manipulation.quarter_turns, samples="a; a, 2; a, -1; t, 1, (1, 2)", gives="view"),
    Row(
        "diagonal", of_array, manipulation.diagonal, "a, offset=0, axis1=0, axis2=1", "a; m, 1", "view", is_method=True
    ),
    Row("diag", of_array, manipulation.diag, samples="x; m; a, 1; x, -1", gives="view"),
    *(
        Row(f"atleast_{rank}d", of_several, partial(_raised, rank), "*arys", "s; a; x, a; t; x", "view")
        for rank in (1, 2, 3)
    ),
    Row("real", of_several, creation.real, samples="x; k; s; [s, s]", gives="view"),
    Row("copy", of_array, methods.copy, "a, order='K', subok=False", "a; s", picked=lambda a: a, any_length=True,
        zero_dimensional=True),
    Row("take", of_array, methods.take, "a, indices, axis=None, out=None, mode='raise'",
        "a, [0, 4]; x, k - 1; a, [0, 2], 1; a, i; t, [[0], [1]], 1", is_method=True),
    Row("repeat", of_array, _rearranged("repeat"), "a, repeats, axis=None", "x, 2; a, 2, 1; x, [1, 0, 2]",
        is_method=True),
    Row("roll", of_array, _rearranged("roll"), "a, shift, axis=None", "x, 1; a, -1; a, 1, 0"),
    Row("tile", of_array, _rearranged("tile"), "A, reps", "x, 2; a, (2, 1)"),
    Row("tril", of_array, _rearranged("tril"), "m, k=0", "a; m, 1"),
    Row("triu", of_array, _rearranged("triu"), "m, k=0", "a; m, -1"),
    Row("delete", of_array, _rearranged("delete"), "arr, obj, axis=None", "x, 1; a, 0, 1; x, [0, 2]"),
    Row("resize", of_array, _rearranged("resize"), "a, new_shape", "x, (2, 3); a, 4"),
    Row("split", of_array, manipulation.split, samples="x, 3; a, [1], 1; a, 3, 1", gives="several"),
    Row("array_split", of_array, manipulation.array_split, samples="x, 2; a, 2, 1", gives="several"),
    Row("hsplit", of_array, manipulation.hsplit, samples="a, 3; x, [1]", gives="several"),
    Row("vsplit", of_array, manipulation.vsplit, samples="a, 2", gives="several"),
    Row("concatenate concat", of_several, concatenate.concatenate, f"arrays, /, axis=0, out=None, *{_JOIN}",
        "[x, x * s]; [a, a], 1; (x, [s]), 0; [a, x[None]], None; [x, k]"),
    Row("stack", of_several, concatenate.stack, f"arrays, axis=0, out=None, *{_JOIN}",
        "[x, x * s]; [a, a], 1; (x, x), -1; [s, 1.0]"),
    Row("vstack row_stack", of_several, concatenate.vstack, f"tup, *{_JOIN}", "[x, a]; [s, 1.0]"),
    Row("hstack", of_several, concatenate.hstack, f"tup, *{_JOIN}", "[x, x]; [a, a]; [s, x]"),
    Row("column_stack", of_several, concatenate.column_stack, samples="[x, x]; [a, a[:, :1]]"),
    Row("dstack", of_several, concatenate.dstack, samples="[x, x]; [a, a]; [t, t]"),
    Row("append", of_several, concatenate.append, samples="x, s; a, a; a, [[s, 1.0, 2.0]], 0"),
    Row("meshgrid", of_several, concatenate.meshgrid, "*xi, copy=True, sparse=False, indexing='xy'",
        "x, x; x, [s, 1.0], indexing='ij'; x", "several"),
)  # fmt: skip
_NEW_ARRAYS = (
    Row("array", making, creation.array_of_object,
        "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, ndmax=..., like=None",
        "[s, x[0], 1]; [[s, 1], [2, i]]; x; [x, x]; k, float; s; [s > 0, True]; x, int"),
    Row("asarray", making, creation.asarray, "a, dtype=None, order='K', *, device=None, copy=None, like=None",
        "x; [s, 1]; k, float", "view", any_length=True),
    Row("ascontiguousarray", making, creation.ascontiguousarray, "a, dtype=None, *, like=None",
        "x; np.transpose(a)", "view"),
    Row("full", making, creation.full, "shape, fill_value, dtype=None, order='C', *, device=None, like=None",
        "3, s; (2, 3), x; 3, i; (2, 2), 1.5; 3, s, int; 2, 7", any_length=True),
    Row("zeros_like", making, creation.zeros_like, _LIKE, "a; k; s; x, int; a, shape=(2,); a, shape=3",
        any_length=True),
    Row("ones_like", making, creation.ones_like, _LIKE, "a; k; p; x, int; a, shape=0", any_length=True),
    Row("empty_like", making, creation.empty_like, _LIKE.replace("a", "prototype, /", 1), "x; k; a, int",
        any_length=True),
    Row("full_like", making, creation.full_like, _LIKE.replace(",", ", fill_value,", 1),
        "x, s; a, 2; k, 2.7; x, 2.7, int; k, s; x, [s, 1.0, 2.0]", any_length=True),
    Row("zeros", making, creation.zeros, _NEW, "3; (2, 2), int", any_length=True),
    Row("ones", making, creation.ones, _NEW, "3; (2, 2), bool", any_length=True),
    Row("empty", making, creation.zeros, _NEW, "3; (2, 2), int", any_length=True),
    Row("eye", making, creation.of_known, "N, M=None, k=0, dtype=float, order='C', *, device=None, like=None",
        "3; 2, 3, 1; 2, dtype=int"),
    Row("identity", making, creation.of_known, "n, dtype=None, *, like=None", "3"),
    Row("arange", making, creation.arange,
        "start_or_stop, /, stop=None, step=1, *, dtype=None, device=None, like=None", "3; 1, 7, 2; 0.0, 1.0, 0.25",
        any_length=True),
    Row("linspace", making, creation.linspace,
        "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None",
        "0, 1, 5; s, 2.0, 4; 0, s, 3, False; s, 2, 3, True, True; s, 3.0, 1; 0.0, s, 0"),
)  # fmt: skip
_OTHERS = (
    Row("where", _where, chosen, "condition, x=None, y=None, /", "a > 0, a, x; p, x, s; s > 1, s, 2.0; p, k, 0",
        any_length=True, zero_dimensional=True),
    Row("clip", of_array, methods.clip_to,
        f"a, a_min=..., a_max=..., {UFUNC}, min=..., max=...",
        "x, 0.6, 1.5; a, x, 2 * x + 1; k, 0, 2; x, None, 1.0; s, 0, 1; x, min=0.7, max=None; x, a_min=0.7, a_max=s",
        picked=methods.clip_to, any_length=True),
    Row("round around", of_array, methods.round_to, "a, decimals=0, out=None", "a; x * 3.3, 1; s, 1; k; a * 100.0, -1",
        is_method=True, picked=methods.round_to, any_length=True),
    Row("fix", of_elements, _whole("trunc"), "x, out=None", "a; s"),
    Row("sinc", of_elements, composite.sinc, "x", "a; s; x - 0.5; k"),
    Row("isclose", of_array, composite.isclose, samples="x, 1.0; a, x; s, 1.5; x, x + 1e-9, 1e-3, 0.1, True"),
    Row("allclose", of_array, composite.allclose, samples="x, x; a, x; s, 1.5; k, k"),
    Row("array_equal", of_array, composite.array_equal, "a1, a2, equal_nan=False", "x, x; x, a; s, 1.5; k, k"),
    Row("array_equiv", of_array, composite.array_equiv, "a1, a2", "x, x; x, a; s, 1.5; [x, x], x"),
    Row("nan_to_num", of_array, composite.nan_to_num, "x, copy=True, nan=0.0, posinf=None, neginf=None",
        "a; s; k; [s, np.nan, np.inf, -np.inf], True, 2.0"),
    Row("sort", of_array, sorting.sort, "a, axis=-1, kind=None, order=None, *, stable=None, descending=False",
        "a; x * [3.0, -1.0, 0.5]; t, 1; a, None; k"),
    Row("argsort", of_array, sorting.argsort, "a, axis=-1, kind=None, order=None, *, stable=None, descending=False",
        "a; t, 1; k; a, None", is_method=True),
    Row("searchsorted", of_array, sorting.searchsorted, "a, v, side='left', sorter=None",
        "x, s; [0.0, 1.0, 1.0, 2.0], a; x, 1.0, 'right'; x, [s, np.nan]; x, np.nan", is_method=True),
    Row("digitize", of_several, sorting.digitize,
        samples="x, [0.0, 1.0, 2.0]; s, [0.0, s, 3.0], True; a, [-9.0, s]; x, [i]"),
    Row("shape", of_shape, _asks, samples="a; s; [x, x]", any_length=True),
    Row("ndim", of_shape, _asks, samples="a; s", any_length=True),
    Row("size", of_shape, _asks, "a, axis=None", samples="a; s; a, 0", any_length=True),
    *(Row(name, of_places, _asks) for name in ("nonzero", "argwhere", "flatnonzero", "unique")),
)  # fmt: skip
_LINEAR_ALGEBRA = (
    Row("linalg.solve", of_several, linalg.solve, samples="m, x; m, a.T; [m, m], [a.T, a.T]"),
    Row("linalg.inv", of_several, linalg.inverse, samples="m; [m, 2 * m]; m[:1, :1]"),
    Row("linalg.det", of_several, linalg.determinant, samples="m; m[:2, :2]; [m, 2 * m]"),
    Row("linalg.slogdet", of_several, linalg.log_determinant, samples="m; [m, -m]"),
    Row("linalg.cholesky", of_several, linalg.cholesky, "a, /, *, upper=False",
        "m; [m, 2 * m]; m + np.triu(m, 1), upper=True"),
    Row("linalg.eigh", of_several, linalg.eigh, samples="m; [m, m @ m]; m, 'U'"),
    Row("linalg.eigvalsh", of_several, linalg.eigvalsh, samples="m; [m, m @ m]; m, 'U'"),
    Row("linalg.svd", of_several, linalg.svd,
        samples="a; a.T, False; [m, 2 * m]; m, hermitian=True"),
    Row("linalg.svdvals", of_several, linalg.svdvals, "x, /", "m; a; [a, 2 * a]"),
    Row("linalg.qr", of_several, linalg.qr, samples="m; a; a.T; a.T, 'complete'; [a, a], 'r'"),
    Row("linalg.norm", of_several, more.norm,
        samples="x; a; a, axis=1; x, 1; x, np.inf; x, -np.inf; x, 3; a, 'fro'; a, 1; a, np.inf; a, 2, 0, True; x, 0; "
            "a, -1; t, None, (0, 1); a, 'nuc'; a, 2; m, -2; t, 2, (0, 2); t, 1, (2, 0), True; t, -np.inf, (1, 2)"),
    Row("linalg.vector_norm", of_several, more.vector_norm, "x, /, *, axis=None, keepdims=False, ord=2",
        "x; a; a, axis=1; t, axis=(0, 2), keepdims=True; a, ord=1; x, ord=2.5"),
    Row("linalg.matrix_norm", of_several, more.matrix_norm, "x, /, *, keepdims=False, ord='fro'",
        "a; t; a, ord=2; t, ord=1, keepdims=True; m, ord='nuc'"),
    Row("linalg.cond", of_several, more.cond, samples="a; m, -2; m, 1; [m, 2 * m], np.inf; m, 'nuc'"),
    Row("linalg.matrix_rank", of_several, more.matrix_rank, "A, tol=None, hermitian=False, *, rtol=None",
        "m; a; [m, 2 * m]; x; m, 2.5; m, hermitian=True"),
    Row("linalg.pinv", of_several, more.pinv, "a, rcond=None, hermitian=False, *, rtol=...",
        "a; [m, m]; m, hermitian=True; a.T, 0.3"),
    Row("linalg.lstsq", of_several, more.lstsq, samples="a.T, x; a, a"),
    Row("linalg.matrix_power", of_several, more.matrix_power, samples="m, 2; m, 0; m, -1; m, 3; [m, m], 5; [m, m], 0"),
    Row("linalg.multi_dot", of_several, more.multi_dot, "arrays, *, out=None", "[m, m, x]; [a, m]; [a, m, a.T, a]"),
    Row("linalg.tensorsolve", of_several, more.tensorsolve, samples="m[:, None], x; m[None], x, (0,)"),
    Row("linalg.tensorinv", of_several, more.tensorinv, samples="m[None, :, None], 2; m, 1"),
    Row("linalg.cross", of_array, composite.cross_of, "x1, x2, /, *, axis=-1", "x, x * x; a, a * a; a, x"),
    Row("linalg.outer", of_array, more.outer, "x1, x2, /", "x, x; x, [1.0, s]"),
    Row("linalg.trace", of_array, more.trace, "x, /, *, offset=0, dtype=None", "m; t; a, offset=1; k[:, None]"),
    Row("linalg.diagonal", of_array, more.diagonal, "x, /, *, offset=0", "m; t; a, offset=1", "view"),
    Row("linalg.matrix_transpose matrix_transpose", of_array, more.matrix_transpose, "x, /", "a; t", "view"),
    Row("linalg.matmul", of_array, contractions.matmul_of, "x1, x2, /", "a, m; m, x; t[:, :, :3], m"),
    Row("linalg.tensordot", of_array, more.tensordot, "x1, x2, /, *, axes=2", "a, a; a, m, axes=1"),
    Row("linalg.vecdot", of_array, more.vecdot, "x1, x2, /, *, axis=-1", "a, x; a, a; x, x; a, a, axis=0"),
    Row("vecdot", of_array, more.vecdot, f"x1, x2, /, {_PRODUCT}", "a, x; a, a; x, x; t, t, axis=0"),
    Row("matvec", of_array, more.matvec, f"x1, x2, /, {_PRODUCT}", "m, x; m, a"),
    Row("vecmat", of_array, more.vecmat, f"x1, x2, /, {_PRODUCT}", "x, m; a, m"),
    *(Row(f"linalg.{name}", of_several, linalg.refused_eig, "a") for name in ("eig", "eigvals")),
)  # fmt: skip


def _methods_of_ufuncs() -> list[Row]:
    """`np.add.at`, `np.maximum.accumulate`, `np.subtract.outer`, ..."""
    found: list[Row] = []
    ops = {names.split()[0]: make for names, make in _ELEMENTS.items()}
    for name in ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "logical_and", "logical_or"):
        at, outer = partial(composite.write_at, op=ops[name]), partial(composite.outer, op=ops[name])
        found.append(Row(f"{name}.at", writing, at, "a, indices, b, /", "[0, 0, 1], s", "writes"))
        found.append(Row(f"{name}.outer", of_array, outer, f"A, B, /, *, {UFUNC.replace(' *,', '')}", "x, a"))
    folds = (
        ("add", reductions.total, -0.0), ("multiply", reductions.product, 1),
        ("maximum", reductions.largest, -math.inf), ("minimum", reductions.smallest, math.inf),
        ("logical_and", reductions.every, True), ("logical_or", reductions.some, False),
    )  # fmt: skip
    fold = "array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True"
    for name, make, start in folds:
        found.append(Row(f"{name}.reduce", of_array, partial(composite.reduced, fold=make), fold, "a; t, (0, 2)"))
        if not isinstance(start, bool):
            running = partial(
                composite.accumulated, running=cumulative(ops[name], start), counts=name in ("add", "multiply")
            )
            found.append(Row(f"{name}.accumulate", of_array, running, "array, axis=0, dtype=None, out=None", "a; x"))
    for name in ("logaddexp", "logaddexp2"):
        total = partial(reductions.folded, step=ops[name], start=-math.inf)
        found.append(Row(f"{name}.reduce", of_array, partial(composite.reduced, fold=total), fold, "a; t, (0, 2); k"))
    return found


ROWS: tuple[Row, ...] = (
    *(Row(op.numpy, of_elements, op) for op in P.values() if op.numpy),
    *(Row(names, of_elements, make, samples=_SAMPLES.get(names, "")) for names, make in _ELEMENTS.items()),
    *_REDUCTIONS, *_PRODUCTS, *_SHAPES, *_NEW_ARRAYS, *_OTHERS, *_LINEAR_ALGEBRA, *SUBJECTS, *_methods_of_ufuncs(),
)  # fmt: skip
"""All of them."""
BY_NAME: dict[str, Row] = {name: row for row in ROWS for name in row.names.split()}

NAMES.update(
    (name, row.make.evaluate if isinstance(row.make, Primitive) else None)
    for name, row in BY_NAME.items()
    if "." not in name
)

METHODS: dict[str, Row] = {row.names.split()[0]: row for row in ROWS if row.is_method} | {
    row.names: row for row in (
        Row("reshape", of_array, manipulation.reshape_method, "*shape, order='C', copy=None",
            "3, 2; (3, -1); -1; 3, 2, order='F'", "view"),
        Row("transpose", of_array, manipulation.transpose, "*axes", "; 1, 0; (1, 0)", "view"),
        Row("clip", of_array, methods.clip, "min=None, max=None, out=None", "0.6, 1.5; min=0.6", any_length=True),
        Row("all", of_array, reductions.every, _QUANTIFIER, "; 0", picked=boolean_indexing.every, any_length=True),
        Row("any", of_array, reductions.some, _QUANTIFIER, "; 0", picked=boolean_indexing.some, any_length=True),
        Row("var", of_array, reductions.variance, _SPREAD_OF, "; 0; ddof=1", picked=boolean_indexing.variance),
        Row("std", of_array, reductions.deviation, _SPREAD_OF, "; 0; ddof=1", picked=boolean_indexing.deviation),
        Row("copy", of_array, methods.copy, "order='C'", "", picked=lambda a: a, any_length=True),
        Row("flatten", of_array, methods.flattened, "order='C'", "", picked=boolean_indexing.flat),
        Row("astype", of_array, methods.astype, "dtype, order='K', casting='unsafe', subok=True, copy=True",
            "float; int; bool"),
        Row("item", of_array, methods.item, "*args", "0; (1, 2); 1, 2"),
        Row("tolist", of_array, methods.listed, "", ""),
        *(Row(name, of_array, methods.conjugate, "", "", "view") for name in ("conj", "conjugate")),
        Row("view", of_array, methods.viewed_again, "dtype=None, type=...", "", "view"),
        Row("nonzero", of_array, methods.known_places, ""),
        Row("fill", of_array, methods.fill, "value", "s; 2", "writes"),
        Row("sort", of_array, sorting.sort_in_place, "axis=-1, kind=None, order=None, *, stable=None, descending=False",
            "; 0", "writes"),
        *OF_ARRAYS,
    )
}  # fmt: skip
"""The methods of arrays: functions of that name without their first parameter, and those with another signature."""


def method_of(name: str, row: Row, make: Make) -> Make:
    """The method that binds its arguments."""
    title = f"x.{name}"

    def method(self: Any, *args: Any, **options: Any) -> Any:
        if self.tape.has_open:
            require_length(row, self.tape, (self, *args))
        given = bound(self.tape, title, row.method, args, options)
        return marked(self.tape, row, called_into(self.tape, title, make, row.method, (self,), given), (self,))

    return method


def _install() -> None:
    for name, row in METHODS.items():
        setattr(Array, name, method_of(name, row, row.make))
        if row.picked is not None:
            setattr(MaskedArray, name, method_of(name, row, row.picked))
    Array.flat = property(  # pyright: ignore[reportAttributeAccessIssue]  # installed as the others
        lambda self: FlatElements(self, put_flat), fill_flat
    )


_install()


def _numpys(cls: Any, like: type) -> Handler:
    """`np.float64` and `np.int64`: as Python's `like`, but a number of NumPy's."""

    def made(session: Any, function: Any, args: Any, kwargs: Any) -> Any:
        found = BUILTINS[like](session, function, args, kwargs)
        session.tape.pythons.pop(id(found), None)
        return cls(found) if type(found) is like else found

    return made


@lru_cache(maxsize=1)
def table() -> Mapping[Any, Handler | Row]:
    """The functions that are staged, with their handlers, or with the rows that make these when they are asked for."""
    numbers = {np.float64: _numpys(np.float64, float), np.int64: _numpys(np.int64, int), np.bool_: BUILTINS[bool]}
    with paused():
        return (
            numbers
            | narrow_rows.scalar_classes()
            | complex_rows.others()
            | complex_roots.functions()
            | fft.functions()
            | _rows()
        )


_LATER = "polynomial."
"""What NumPy itself imports at first use."""


def handler_of(function: Any) -> Handler | None:
    """What stages a function of NumPy's."""
    found = table().get(function)
    if found is None and str(getattr(function, "__module__", "")).startswith("numpy.polynomial"):
        found = _rows(_LATER).get(function)
    return found.stages if isinstance(found, Row) else found


@lru_cache(maxsize=2)
def _rows(prefix: str = "") -> dict[Any, Row]:
    found: dict[Any, Row] = {}
    for name, row in BY_NAME.items():
        if name.startswith(_LATER) is not bool(prefix):
            continue
        try:
            found[operator.attrgetter(name)(np)] = row
        except AttributeError:  # a name of another release, or none of plain arrays
            continue
    return found


def row_of(function: Any) -> Row | None:
    """What the registry says of a function of NumPy's."""
    return _rows().get(function)
