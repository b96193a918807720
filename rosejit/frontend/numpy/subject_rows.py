"""Rows of the registry by subject: statistics, selection, building of arrays, calculus of samples, polynomials."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownVariableType=false

from functools import partial
from typing import Any

from rosejit.frontend.arrays.call_binding import UFUNC
from rosejit.frontend.numpy import (
    building,
    calculus,
    contractions,
    conversions,
    creation,
    manipulation,
    polynomial_fits,
    polynomials,
    selection,
    statistics,
)
from rosejit.frontend.numpy.row_kinds import (
    Row,
    of_array,
    of_elements,
    of_functions,
    of_places,
    of_several,
    of_shape,
    writing,
)

_FOLD = "a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True"
_EXTREME = "a, axis=None, out=None, keepdims=False, initial=None, where=True"
_SPREAD = "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=..., correction=..."
_QUANTILE = "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None"
_MEDIAN = "a, axis=None, out=None, overwrite_input=False, keepdims=False"
_RUNNING = "a, axis=None, dtype=None, out=None"
_OF_TWO = f"x1, x2, /, {UFUNC}".replace("out=None", "out=(None, None)")
_INITIAL = "x, /, *, axis=None, dtype=None, out=None, include_initial=False"
_HOLES = "[s, np.nan, 2.0]; [[s, np.nan], [x[0], 1.0]], 0"
"""Sample calls with NaN."""


def _asks(a: Any) -> Any:
    """What functions take whose results staging knows, or never does."""
    return a


_STATISTICS = (
    Row("median", of_array, statistics.median, _MEDIAN, "a; x; k; t, (0, 2); t, 1; a, None"),
    Row("quantile", of_array, statistics.quantile, _QUANTILE,
        "a, 0.3; x, 1.0; x, 0.5, 0; a, [0.1, 0.75], 1; t, 0.3, (0, 2); x, 0.6, method='lower'; "
        "x, 0.6, method='inverted_cdf'; a, 0.4, 1, method='midpoint'; k, 0.4, method='nearest'; a, [[0.2], [0.9]]"),
    Row("percentile", of_array, statistics.percentile, _QUANTILE,
        "a, 30.0; x, 75; a, [10, 50], 1; x, s; a, 30, method='hazen'; k, 40, method='higher'"),
    Row("nanmedian", of_array, statistics.nanmedian, _MEDIAN, f"a; {_HOLES}; k; [np.nan, np.nan]; t, (0, 2)"),
    Row("nanquantile", of_array, statistics.nanquantile, _QUANTILE, "a, 0.3; [s, np.nan, 2.0], 0.25; x, [0.2, 1.0]; "
        "k, 0.3"),
    Row("nanpercentile", of_array, statistics.nanpercentile, _QUANTILE, "a, 30.0; [s, np.nan, 2.0], 25, 0; x, s"),
    Row("nansum", of_array, statistics.nansum, _FOLD, f"a; {_HOLES}; k"),
    Row("nanprod", of_array, statistics.nanprod, _FOLD.replace("=0", "=1"), f"a; {_HOLES}; k"),
    Row("nanmean", of_array, statistics.nanmean, "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True",
        f"a; {_HOLES}; [np.nan, np.nan]; k"),
    Row("nanvar", of_array, statistics.nanvar, _SPREAD, f"a; {_HOLES}; a, ddof=1; k"),
    Row("nanstd", of_array, statistics.nanstd, _SPREAD, "a; [s, np.nan, 2.0]; a, ddof=1; k"),
    Row("nanmax", of_array, statistics.nanmax, _EXTREME, f"a; {_HOLES}; k; p"),
    Row("nanmin", of_array, statistics.nanmin, _EXTREME, f"a; {_HOLES}; k; [np.nan, np.nan]"),
    Row("nanargmax", of_array, statistics.nanargmax, "a, axis=None, out=None, *, keepdims=False", f"a; {_HOLES}; k"),
    Row("nanargmin", of_array, statistics.nanargmin, "a, axis=None, out=None, *, keepdims=False", f"a; {_HOLES}; k"),
    Row("nancumsum", of_array, statistics.nancumsum, _RUNNING, f"a; {_HOLES}; k; a, 1"),
    Row("nancumprod", of_array, statistics.nancumprod, _RUNNING, f"a; {_HOLES}; k; a, 1"),
    Row("average", of_array, statistics.average, "a, axis=None, weights=None, returned=False, *, keepdims=False",
        "a; x, weights=x * x; a, 1, x; a, weights=a * a; a, 1, x, True; t, (1, 2), t[0]"),
    Row("histogram", of_several, statistics.histogram, "a, bins=10, range=None, density=None, weights=None",
        "x, 4; a, [-2.5, 0.0, 1.0, 7.0]; x, 3, (0.0, 2.0); x, 3, weights=x * s; x, 3, density=True; k, 2; a, [0.0, s]",
        "several"),
    Row("histogram_bin_edges", of_several, statistics.histogram_bin_edges, "a, bins=10, range=None, weights=None",
        "x, 4; a; x, [0.0, s, 2.0]; k, 2"),
    Row("histogramdd", of_several, statistics.histogramdd, "sample, bins=10, range=None, density=None, weights=None",
        "m, 2; [x, x * s], 3; m, 2, weights=x; m, 2, density=True; m, [2, 3, 2]", "several"),
    Row("histogram2d", of_several, statistics.histogram2d, "x, y, bins=10, range=None, density=None, weights=None",
        "x, x * s, 3; x, x * x, [3, 2]; x, x, [0.0, s, 3.0]; x, x, 2, [[0.0, 2.0], [0.0, 3.0]]", "several"),
    Row("bincount", of_several, statistics.bincount, "x, /, weights=None, minlength=0",
        "[0, 1, 1], x; abs(k), minlength=5; abs(k), x, 4; [2, 0, i], None, 3"),
    Row("cov", of_array, statistics.cov,
        "m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None",
        "a; x, x * x; m, rowvar=False; a, ddof=0; a, fweights=[1, 2, 1]; a, aweights=x; x; m, bias=True; a, a * a",
        zero_dimensional=True),
    Row("corrcoef", of_array, statistics.corrcoef, "x, y=None, rowvar=True, *, dtype=None",
        "m; a * a; x, x * x; x; m, rowvar=False"),
    Row("correlate", of_array, statistics.correlate,
        samples="x, x; x, [1.0, s]; x, [1.0, s], 'same'; x, x[:2], 'full'; [1.0, s], x; [1.0, s], x, 'full'"),
)  # fmt: skip
_SELECTION = (
    Row("isin", of_several, selection.isin,
        "element, test_elements, assume_unique=False, invert=False, *, kind=None",
        "k, [2, 3]; x, [0.5, s]; a, [1.0]; i, k; a, np.arange(20) * 0.5; k, []; s, [0.5, s]",
        zero_dimensional=True),
    Row("take_along_axis", of_array, selection.take_along_axis, "arr, indices, axis=-1",
        "a, np.argsort(a, 1), 1; x, np.argsort(x); a, np.array([[0], [1]]), 1; a, np.array([0, 4]), None; "
        "t, np.argmax(t, 1, keepdims=True), 1"),
    Row("put_along_axis", writing, selection.put_along_axis, "arr, indices, values, axis",
        "np.array([0, 2]), s, 0; np.array([1]), 2.0, None; np.argsort(x), x, -1", "writes"),
    Row("lexsort", of_several, selection.lexsort, "keys, axis=-1", "(x, x * x); [k, k * 0]; [a[0], x * 0.0, p * 1]; m"),
    Row("partition", of_array, selection.partition, "a, kth, axis=-1, kind='introselect', order=None",
        "x, 1; a, 0; a, [0, 1], 1; k, -1; a, 2, None"),
    Row("argpartition", of_array, selection.argpartition, "a, kth, axis=-1, kind='introselect', order=None",
        "x, 1; a, 0; k, [0, 2]", is_method=True),
    Row("choose", of_array, selection.choose, "a, choices, out=None, mode='raise'",
        "k % 2, [x, x * 2]; k, [x, 1.0], mode='wrap'; k, [x, s], mode='clip'; k[0] - 1, [s, 2.0]; "
        "[0, 1], m[:2, :2]",
        is_method=True),
    Row("select", of_several, selection.select, samples="[x > 1, x > 0.6], [x, 2 * x], 0.0; [s > 1], [s]; "
        "[x > 1], [k], -1", zero_dimensional=True),
    Row("piecewise", of_functions, lambda tape, x, condlist, funclist, *args, **kw: conversions.piecewise(
        tape, x, condlist, funclist, args, kw), "x, condlist, funclist, *args, **kw",
        "x, [x > 1, x <= 1], [1.0, 2.0]; x, [x > 1], [np.log, lambda v: -v * s]; s, [s > 1, s < 0], [1.0, 2.0, 3.0]; "
        "x, x > 1, [lambda v, c: v * c, 0.0], 2.0; a, [a < 0, a > 2], [np.abs, 2.0, np.sin]", zero_dimensional=True),
    Row("extract", of_several, selection.extract, "condition, arr",
        "[True, False, True], x; [[1, 0, 1], [0, 0, 1]], a"),
    Row("compress", of_several, selection.compress, "condition, a, axis=None, out=None",
        "[True, False, True], x; [True, False], a, 0; [0, 1], a, 1; [True], a"),
    Row("place", writing, selection.place, "arr, mask, vals", "x > 0.6, [s]; p, [1.0, s]; [True, False, True], [s]",
        "writes"),
    Row("putmask", writing, selection.putmask, "a, mask, values", "x > 0.6, x * 2; p, [1.0, s]; p, s", "writes"),
    Row("put", writing, selection.put, "a, ind, v, mode='raise'",
        "[1], s; [0, 2], x[:2]; [0, 1, 2], [s, 1.0]; [7], s, 'clip'; [4], s, mode='wrap'; i, s", "writes"),
    Row("copyto", writing, selection.copy_to, "dst, src, casting='same_kind', where=True",
        "x; s; x * 2, where=p; s, where=x > 1; 1.0, where=[True, False, True]", "writes"),
    Row("fill_diagonal", writing, selection.fill_diagonal, "a, val, wrap=False", "s; x; [s, 1.0]; s, True", "writes"),
    Row("unravel_index", of_several, selection.unravel_index, "indices, shape, order='C'",
        "np.argmax(a), (2, 3); abs(k), (2, 2); i, 3", "several"),
    Row("ravel_multi_index", of_several, selection.ravel_multi_index, "multi_index, dims, mode='raise', order='C'",
        "(i, i), (4, 5); (abs(k), k % 2), (4, 2); (k, k), (2, 3), 'wrap'; (k, k), (2, 3), ('clip', 'wrap')"),
    *(Row(name, of_shape, _asks, signature, samples, "several") for name, signature, samples in (
        ("triu_indices_from", "arr, k=0", "m; m, 1"), ("tril_indices_from", "arr, k=0", "m; m, -1"),
        ("diag_indices_from", "arr", "m"),
    )),
    *(Row(name, of_places, _asks) for name in (
        "union1d", "intersect1d", "setdiff1d", "setxor1d", "unique_all", "unique_counts", "unique_inverse",
        "unique_values", "trim_zeros",
    )),
    *(Row(name, of_shape, _asks, signature, samples) for name, signature, samples in (
        ("iscomplexobj", "x", "a; s"), ("isrealobj", "x", "a; k"), ("iterable", "y", "a; x"),
    )),
)  # fmt: skip
_BUILDING = (
    Row("block", of_several, building.block, samples="[[m, m], [m, m]]; [x, s]; [[a], [x]]; s; [[s, 1.0], [2.0, s]]"),
    Row("ix_", of_several, building.ix_, "*args", "abs(k), [0, 1]; abs(k)", "several"),
    Row("broadcast_arrays", of_several, building.broadcast_arrays, "*args, subok=False", "x, a; a; x, s; "
        "x, [[1.0], [s]]", "several"),
    Row("insert", of_array, building.insert, "arr, obj, values, axis=None",
        "x, 1, s; a, [0, 2], s, axis=1; x, [0, 3], [s, 1.0]; a, 1, x, 0; x, slice(0, 2), s; a, 2, s; k, 1, 7"),
    Row("pad", of_array, building.pad, "array, pad_width, mode='constant', **kwargs",
        "x, 1; a, ((1, 0), (0, 2)); x, 2, 'edge'; x, (1, 2), constant_values=3.0; x, 1, mode='reflect'; "
        "x, 2, 'linear_ramp'; "
        "a, 1, 'mean'; x, 1, 'maximum'; a, (1, 2), 'minimum'; x, 2, 'wrap'; x, 2, 'symmetric'; "
        "x, 1, constant_values=s; "
        "a, 1, 'median'; x, (2, 1), 'linear_ramp', end_values=(s, 1.0); x, 1, 'mean', stat_length=2; k, 1, 'mean'; "
        "a, ((1, 1), (0, 2)), constant_values=((s, 1.0), (2.0, s))"),
    Row("lib.stride_tricks.sliding_window_view", of_array, building.sliding_window_view,
        "x, window_shape, axis=None, *, subok=False, writeable=False", "x, 2; a, (2, 2); a, 2, axis=1; "
        "t, (2, 2), (0, 2)", "view"),
    Row("fromfunction", of_functions, building.fromfunction, "function, shape, *, dtype=float, like=None, **kwargs",
        "lambda i, j: i * s + j, (2, 3); lambda i: i * s, (3,), dtype=int; lambda i, c: i * c, (2,), c=s"),
    Row("apply_along_axis", of_functions, lambda tape, func1d, axis, arr, *args, **kwargs: building.apply_along_axis(
        tape, func1d, axis, arr, *args, **kwargs), "func1d, axis, arr, *args, **kwargs",
        "lambda v: v.sum() * s, 0, a; np.sort, 1, a; lambda v: v[0] if v[0] > 0 else v[1], 1, a; "
        "lambda v, c: v * c, 0, x, s; np.max, 1, t; np.cumsum, 0, t; np.sum, 0, x",
        zero_dimensional=True),
    Row("apply_over_axes", of_functions, building.apply_over_axes, "func, a, axes",
        "np.sum, a, [0, 1]; np.max, t, (0, 2); np.sum, x, 0"),
    Row("ndenumerate", of_several, building.ndenumerate, "arr", "a; x; t", "several"),
    Row("nditer", of_several, building.nditer,
        "op, flags=None, op_flags=None, op_dtypes=None, order='K', casting='safe', "
        "op_axes=None, itershape=None, buffersize=0", "x; [x, x]; s; a, order='C'", "several"),
    Row("unstack", of_array, manipulation.unstacked, "x, /, *, axis=0", "a; t, axis=1; x", "several"),
    Row("dsplit", of_array, manipulation.dsplit, samples="t, 2; t, [1]", gives="several"),
    Row("rollaxis", of_array, lambda a, axis, start=0: manipulation.permuted(conversions.rollaxis)(a, axis, start),
        "a, axis, start=0", "t, 2; t, 0, 2; a, 1", "view"),
    Row("diagflat", of_array, lambda v, k=0: manipulation.diag(manipulation.ravel(v), k), samples="x; a; x, 1"),
    Row("astype", of_several, conversions.astype, "x, dtype, /, *, copy=True, device=None", "x, int; k, float; "
        "a, bool", any_length=True),
    Row("asanyarray", of_several, creation.asarray, "a, dtype=None, order='K', *, device=None, copy=None, like=None",
        "x; [s, 1]; k, float", "view"),
    Row("asfortranarray", of_several, creation.ascontiguousarray, "a, dtype=None, *, like=None", "x; a; k, float",
        "view"),
    Row("asarray_chkfinite", of_several, conversions.checked_finite, "a, dtype=None, order=None", "x; [s, 1]", "view"),
    Row("logspace", of_several, conversions.logspace,
        "start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0", "0, s, 4; s, 2.0, 3, False; "
        "0, s, 3, base=2.0"),
    Row("geomspace", of_several, conversions.geomspace,
        "start, stop, num=50, endpoint=True, dtype=None, axis=0", "1, s, 4; s, 8.0, 3; s, 2.0, 3, False"),
    Row("isscalar", of_several, conversions.isscalar, "element", "s; x; i"),
    Row("result_type", of_several, conversions.result_type, "*arrays_and_dtypes", "x, 1; k, s; k, i; p"),
    Row("einsum_path", of_several, contractions.einsum_path, "*operands, optimize='greedy', einsum_call=False",
        "'ij,jk->ik', a, m; 'ij,jk,kl->il', a, m, m", "several"),
    Row("divmod", of_several, conversions.quotient_and_rest, _OF_TWO, "x, s; a, 2; k, 2; 5, s", "several"),
    Row("modf", of_several, conversions.parts_of, _OF_TWO.replace("x1, x2", "x"), "x; a; s", "several"),
    Row("isposinf", of_elements, lambda x: x == float("inf"), "x, out=None", "x; s; k"),
    Row("isneginf", of_elements, lambda x: x == float("-inf"), "x, out=None", "x; s; k"),
)  # fmt: skip
_CALCULUS = (
    Row("diff", of_array, calculus.diff, "a, n=1, axis=-1, prepend=..., append=...",
        "x; a; a, 2; k; x, prepend=s; a, axis=0, append=a; x, 1, -1, 0.0, [s, 1.0]; p; x, 0"),
    Row("ediff1d", of_array, calculus.ediff1d, "ary, to_end=None, to_begin=None", "x; a; x, s; x, [s, 1.0], 2.0; k, 1"),
    Row("trapezoid trapz", of_array, calculus.trapezoid,
        samples="a; a, x; a, a * a; a, a * a, axis=0; a, [s, 2.0], axis=0; x, dx=s; x, None, s"),
    Row("gradient", of_array, calculus.gradient, "f, *varargs, axis=None, edge_order=1",
        "x; x, s; x, 2; x, x * x; a; a, 2.0, axis=1; a, s, x; x, edge_order=2; x, x * x, edge_order=2; "
        "t[:, :, :2], axis=(0, 1); k; "
        "m, 1.0, [0.0, 1.0, s * 2], axis=(1, 0)"),
    Row("cumulative_sum", of_array, calculus.cumulative_sum, _INITIAL, "x; a, axis=1; k; "
        "a, axis=0, include_initial=True"),
    Row("cumulative_prod", of_array, calculus.cumulative_prod, _INITIAL, "x; a, axis=1; k; "
        "a, axis=0, include_initial=True"),
    Row("unwrap", of_array, calculus.unwrap, "p, discont=None, axis=-1, *, period=6.283185307179586",
        "x * 4; a, axis=0; x * 9.0, period=2.0; a * 5.0; a, 4.0; x, period=s"),
    Row("interp", of_several, calculus.interp, "x, xp, fp, left=None, right=None, period=None",
        "s, x, x * x; a, [0.0, 1.0, 3.0], x; x * 2, [0.0, 1.0, 3.0], [0, 1, 0.5]; s, x, x, -1.0, 9.0; s, [1.0], [2.0]; "
        "a, x, x * x, period=1.7; s, [1.0, 0.2, 0.7], x, None, None, s * 0.5; "
        "a, [0.5, 1.0, 2.0], x, left=s, right=0.0"),
)  # fmt: skip
_POLYNOMIALS = (
    Row("polyval", of_array, polynomials.polyval, samples="x, s; [1.0, 2.0, s], a; x, 2"),
    Row("polyadd", of_several, polynomials.polyadd, samples="x, x; x, [s, 1.0]; [s], x; k, k"),
    Row("polysub", of_several, polynomials.polysub, samples="x, a[0]; x, [s, 1.0]; [s], x; k, 1"),
    Row("polymul", of_several, polynomials.polymul, samples="x, x; x, [s, 1.0]; k, k; x, s"),
    Row("polyder", of_array, polynomials.polyder, samples="x; x, 2; k; x, 0; x, 4"),
    Row("polyint", of_array, polynomials.polyint, samples="x; x, 2, k=[s, 1]; k; x, 1, s; x, 2, 1.0"),
    Row("poly", of_array, polynomials.poly, samples="x; k; [s, 1.0]"),
    Row("vander", of_array, polynomials.vander, samples="x; x, 2; k, 4; x, increasing=True; x, 0"),
    Row("polyfit", of_several, polynomial_fits.polyfit, "x, y, deg, rcond=None, full=False, w=None, cov=False",
        "x, x * x + s, 1; x, m, 1, w=x; x, a[0], 0, cov='unscaled'; x, a[0], 0, None, True; x, a[1], 1, cov=True; "
        "k, x, 1; x, m, 1, cov='unscaled'", "several"),
)  # fmt: skip
_IN_FAMILIES: tuple[tuple[str, Any, str, str], ...] = (
    ("val", polynomials.value, "x, c, tensor=True", "x, x; s, [1.0, s]; a, [x, x * x]; x, m, False; x, [s]"),
    ("val2d", polynomials.value2d, "x, y, c", "x, x * s, m; s, 2.0, m"),
    ("val3d", polynomials.value3d, "x, y, z, c", "s, 2.0, s, t[:, :2, :2]"),
    ("grid2d", polynomials.grid2d, "x, y, c", "x, [s, 1.0], m"),
    ("grid3d", polynomials.grid3d, "x, y, z, c", "s, [s, 1.0], 2.0, t[:, :2, :2]"),
    ("vander", polynomials.vandermonde, "x, deg", "x, 3; s, 2; a, 0"),
    ("der", polynomials.derivative, "c, m=1, scl=1, axis=0", "x; m, 2; x, 1, 2.0; a, 1, 1, 1; x, scl=s; x, 0"),
    ("int", polynomials.integral, "c, m=1, k=[], lbnd=0, scl=1, axis=0",
     "x; x, 2; x, 1, s; x, 2, [s, 1.0], 0.5; a, 1, [], 0, 2.0, 1; x, 2, [s], 0.0, 3.0"),
    ("fromroots", polynomials.from_roots, "roots", "x; [s, 1.0]"),
    ("mul", polynomials.multiplied, "c1, c2", "x, x; [s, 1.0], x"),
    ("mulx", polynomials.times_x, "c", "x; [s]"),
    ("fit", polynomial_fits.fit, "x, y, deg, rcond=None, full=False, w=None",
     "x, x * x + s, 1; x, m + s, [2, 0], w=x; x, a[0], 0, None, True; k, x, 1"),
    ("companion", polynomial_fits.companion, "c", "x; [s, 1.0]"),
)  # fmt: skip
"""What each module of `np.polynomial` has under its own prefix."""


_WHOLE = ("polynomial", "legendre")
"""The families that are tried with all sample calls: the others run through the same code."""


def _of_families() -> list[Row]:
    found: list[Row] = []
    for module, (prefix, _) in polynomials.FAMILIES.items():
        for name, make, signature, samples in _IN_FAMILIES:
            title = f"polynomial.{module}.{prefix}{name}"
            few = samples if module in _WHOLE else "; ".join(samples.split("; ")[:2])
            found.append(Row(title, of_several, partial(make, family=module), signature, few))
        for name, make in (("add", polynomials.added), ("sub", polynomials.subtracted)):
            title = f"polynomial.{module}.{prefix}{name}"
            found.append(Row(title, of_several, make, "c1, c2", "x, a[0]; x, [s, 1.0]; [s], x"))
    return found


SUBJECTS: tuple[Row, ...] = (
    *_STATISTICS, *_SELECTION, *_BUILDING, *_CALCULUS, *_POLYNOMIALS, *_of_families(),
)  # fmt: skip
"""All of them."""
OF_ARRAYS: tuple[Row, ...] = (
    Row("partition", of_array, selection.partition_in_place, "kth, axis=-1, kind='introselect', order=None", "1; "
        "0, 0", "writes"),
    Row("put", of_array, selection.put_method, "indices, values, mode='raise'", "[1], s; [0, 4], [s, 1.0]; "
        "7, s, 'clip'", "writes"),
    Row("compress", of_array, selection.compress_method, "condition, axis=None, out=None", "[True, False]; "
        "[True, False, True], 1"),
)  # fmt: skip
"""Methods of arrays that have another signature than the function."""
