"""Statistics of arrays: order statistics, sums without NaN, histograms and covariances."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from collections.abc import Callable
from math import floor, inf, nan, prod
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array, host_data
from rosejit.frontend.arrays.broadcast import an_array, broadcast_map, converted
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import composite, manipulation, sorting
from rosejit.frontend.numpy.staged_numpy import array_of, lined, of, vector, with_axes
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.numeric import np

Make = Callable[..., Any]


# --- order statistics


def median(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.median`: the mean of the two in the middle; NaN where one is."""
    _require_elements(a, axis, "median")
    a = converted(a, INT) if a.type is BOOL else a
    ranked = sorting.sort(lined(a, axis), -1)
    n = ranked.shape[-1]
    low, high, last = (get(ranked, (Ellipsis, k)) for k in ((n - 1) // 2, n // 2, n - 1))
    if n % 2:
        found = broadcast_map(a.tape, lambda x, z: chosen(z != z, nan, x + 0.0), low, last)  # a mean of one
    else:
        found = broadcast_map(a.tape, lambda x, y, z: chosen(z != z, nan, (x + y + 0.0) / 2.0), low, high, last)
    return with_axes(a, found, axis, keepdims)


def _require_elements(a: Any, axis: Any, name: str) -> None:
    if not all(a.shape[k] for k in reductions.axes_of(a, axis)):
        raise a.tape.fault(ShapeError, f"`np.{name}` of an array without elements, its shape is {a.shape}")


def quantile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    """`np.quantile`: of every method of NumPy's; a `q` that is staged on the straight line between two elements."""
    return _quantile(a, q, axis, method, keepdims, 1.0)


def percentile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    """`np.percentile`."""
    return _quantile(a, q, axis, method, keepdims, 100.0)


def nanquantile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    """`np.nanquantile`: of the elements that are no NaN."""
    return _quantile(a, q, axis, method, keepdims, 1.0, True)


def nanpercentile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    """`np.nanpercentile`."""
    return _quantile(a, q, axis, method, keepdims, 100.0, True)


def nanmedian(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.nanmedian`: the mean of the two in the middle of those that are no NaN."""
    if a.type is not REAL:
        return median(a, axis, keepdims)
    _require_elements(a, axis, "nanmedian")
    ranked = sorting.sort(lined(a, axis), -1)
    xp, (rows, each, top) = of(a.tape), _rows_of_numbers(a.tape, ranked)
    x, y = rows[each, xp.maximum(top // 2, 0)], rows[each, xp.maximum((top + 1) // 2, 0)]
    found = xp.where(top % 2 == 0, x, (x + y) / 2.0) + 0.0
    return with_axes(a, _unrolled(ranked, xp.where(top < 0, nan, found)), axis, keepdims)


def _quantile(a: Any, q: Any, axis: Any, method: str, keepdims: bool, whole: float, counted: bool = False) -> Any:
    tape, places = a.tape, array_of(a.tape, "np.quantile", q)
    if a.type is BOOL or places.type is BOOL:
        raise tape.type_fault("a quantile lies between numbers, and truth values are not subtracted")
    _require_elements(a, axis, "quantile")
    inside = (places >= 0.0) & (places <= whole)
    what = "Percentiles must be in the range [0, 100]" if whole > 1.0 else "Quantiles must be in the range [0, 1]"
    reductions.require(tape, reductions.every(an_array(tape, inside)), ValueError(what))
    ranked = sorting.sort(lined(a, axis), -1)
    if counted and a.type is REAL:
        pick = _among_numbers(tape, ranked, method)
    else:
        pick = _of_method(tape, ranked, method) if method != "linear" else _on_line(tape, ranked)
    known = host_data(places)
    flat: Any = manipulation.reshape(places, -1)
    values: Any = (known / whole).ravel() if known is not None else [place / whole for place in flat]
    found = [with_axes(a, pick(value), axis, keepdims) for value in (values.tolist() if known is not None else values)]
    if not places.shape:
        return found[0]
    stack = of(tape).stack(found) if found else of(tape).zeros((0, *with_axes(a, pick(0.5), axis, keepdims).shape))
    return manipulation.reshaped(stack, places.shape + stack.shape[1:])


def _between(tape: Tape, ranked: Any, low: Any, high: Any, part: Any) -> Any:
    """The number that lies a `part` of the way from one element to another; NaN where one is."""
    x, y, last = (get(ranked, (Ellipsis, k)) for k in (low, high, ranked.shape[-1] - 1))

    def between(x: Any, y: Any, last: Any, part: Any) -> Any:
        apart = y - x
        found = chosen(part >= 0.5, y - apart * (1.0 - part), x + apart * part)
        return chosen(last != last, nan, chosen(apart == 0, x, found))

    return broadcast_map(tape, between, x, y, last, part)


def _on_line(tape: Tape, ranked: Any) -> Make:
    top = ranked.shape[-1] - 1

    def pick(q: Any) -> Any:
        place = q * float(top)
        low = floor(place) if type(place) is float else of(tape).floor(place).astype(int)
        high = of(tape).minimum(low + 1, top) if type(place) is not float else min(low + 1, top)
        return _between(tape, ranked, low, high, place - low)

    return pick


def _of_method(tape: Tape, ranked: Any, method: str) -> Make:
    """NumPy says which elements a method takes: asked for the quantiles of 0, 1, ..., it gives their places."""
    top = ranked.shape[-1] - 1

    def pick(q: Any) -> Any:
        if type(q) is not float:
            raise tape.type_fault(f"`method={method!r}` needs a `q` that staging knows", "take `method='linear'`")
        try:
            place = float(np.quantile(np.arange(top + 1.0), q, method=method))  # pyright: ignore[reportCallIssue, reportArgumentType]  # NumPy checks it
        except ValueError as error:
            raise tape.fault(RoseValueError, str(error)) from None
        low = floor(place)
        if method not in _OF_ELEMENTS:
            return _between(tape, ranked, low, min(low + 1, top), place - low)
        one, last = get(ranked, (Ellipsis, low)), get(ranked, (Ellipsis, top))
        return broadcast_map(tape, lambda x, z: chosen(z != z, nan, x), one, last) if ranked.type is REAL else one

    return pick


_OF_ELEMENTS = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
"""Methods that give one of the elements, in their type."""


def _among_numbers(tape: Tape, ranked: Any, method: str) -> Make:
    """Of each row without its NaN, which come last: how many there are only running tells."""
    if method != "linear":
        raise tape.type_fault(f"`method={method!r}` is not staged for NaN-aware quantiles", "take `method='linear'`")
    xp, (rows, each, top) = of(tape), _rows_of_numbers(tape, ranked)

    def pick(q: Any) -> Any:
        place = xp.maximum(q * top, 0.0)
        low = xp.floor(place).astype(int)
        x, y = rows[each, low], rows[each, xp.minimum(low + 1, xp.maximum(top, 0))]
        apart, part = y - x, place - low
        found = xp.where(part >= 0.5, y - apart * (1.0 - part), x + apart * part)
        return _unrolled(ranked, xp.where(top < 0, nan, found))

    return pick


def _rows_of_numbers(tape: Tape, ranked: Any) -> tuple[Any, Any, Any]:
    """The rows, their indices, and the place of the last number in each: -1 where there is none."""
    xp = of(tape)
    rows: Any = manipulation.reshaped(ranked, (prod(ranked.shape[:-1]), ranked.shape[-1]))
    return rows, np.arange(rows.shape[0]), xp.sum(~xp.isnan(rows), axis=1) - 1


def _unrolled(ranked: Any, found: Any) -> Any:
    """One number for each row, in the shape of these."""
    shape = ranked.shape[:-1]
    return manipulation.reshaped(found, shape) if shape else found[0]


# --- without NaN


def _holes(a: Any, value: float) -> Any:
    """`a` with a number in place of each NaN, which has no derivative there."""
    if a.type is not REAL:
        return a
    return an_array(a.tape, broadcast_map(a.tape, lambda x: chosen(x != x, value, x), a))


def _numbers(a: Any) -> Any:
    """Where there is no NaN."""
    return an_array(a.tape, broadcast_map(a.tape, lambda x: x == x, a))


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = 0, where: Any = True
) -> Any:
    """`np.nansum`."""
    a = converted(a, INT) if a.type is BOOL else a
    return reductions.total(_holes(a, 0.0), axis, keepdims, initial, where, dtype)


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = 1, where: Any = True
) -> Any:
    """`np.nanprod`."""
    return reductions.product(_holes(a, 1.0), axis, keepdims, initial, where, dtype)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """`np.nancumsum`."""
    return of(a.tape).cumsum(_holes(a, 0.0), axis, dtype)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """`np.nancumprod`."""
    return of(a.tape).cumprod(_holes(a, 1.0), axis, dtype)


def nanmean(a: Any, axis: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    """`np.nanmean`: NaN of no numbers."""
    a = converted(a, INT) if a.type is BOOL else a
    used = _numbers(a) & (True if where is True else reductions.as_mask(a, where))
    return reductions.mean(a, axis, keepdims, an_array(a.tape, used))


def nanvar(
    a: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False, where: Any = True, correction: Any = ...
) -> Any:
    """`np.nanvar`: NaN where not more numbers are than `ddof`."""
    xp, ddof = of(a.tape), _correction(a, ddof, correction)
    used = an_array(a.tape, _numbers(a) & (True if where is True else reductions.as_mask(a, where)))
    middle = reductions.mean(a, axis, True, used)
    apart: Any = an_array(a.tape, broadcast_map(a.tape, lambda use, x, m: chosen(use, x - m, 0.0), used, a, middle))
    free = xp.sum(used, axis, keepdims=keepdims) - ddof
    return xp.sum(apart * apart, axis, keepdims=keepdims) / xp.where(free > 0, free, nan)


def _correction(a: Any, ddof: Any, correction: Any) -> Any:
    if correction is not ... and ddof:
        raise a.tape.fault(RoseValueError, "ddof and correction can't be provided simultaneously.")
    return ddof if correction is ... else correction


def nanstd(
    a: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False, where: Any = True, correction: Any = ...
) -> Any:
    """`np.nanstd`."""
    return of(a.tape).sqrt(nanvar(a, axis, ddof, keepdims, where, correction))


def nanmax(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """`np.nanmax`: NaN of no numbers."""
    return _nan_extreme(a, "max", axis, keepdims, initial, where)


def nanmin(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """`np.nanmin`."""
    return _nan_extreme(a, "min", axis, keepdims, initial, where)


def _nan_extreme(a: Any, name: str, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    found = reductions.extreme(_holes(a, -inf if name == "max" else inf), name, axis, keepdims, initial, where)
    if a.type is not REAL or initial is not None:
        return found
    some = reductions.some(_numbers(a), axis, keepdims)
    return broadcast_map(a.tape, lambda any, x: chosen(any, x, nan), some, found)


def nanargmax(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.nanargmax`; of no numbers an error, as in NumPy."""
    return _nan_position(a, "max", axis, keepdims)


def nanargmin(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.nanargmin`."""
    return _nan_position(a, "min", axis, keepdims)


def _nan_position(a: Any, name: str, axis: Any, keepdims: bool) -> Any:
    if a.type is REAL:
        some = reductions.every(an_array(a.tape, reductions.some(_numbers(a), axis)))
        reductions.require(a.tape, some, ValueError("All-NaN slice encountered"))
    return reductions.position(_holes(a, -inf if name == "max" else inf), name, axis, keepdims)


# --- averages


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    """`np.average`."""
    xp = of(a.tape)
    if weights is None:
        found: Any = reductions.mean(a, axis, keepdims)
        scale: Any = float(prod(a.shape[k] for k in reductions.axes_of(a, axis)))
    else:
        w = _weights(a, axis, weights)
        scale = reductions.total(an_array(a.tape, broadcast_map(a.tape, lambda x, y: y, a, w)), axis, keepdims)
        holds = reductions.every(an_array(a.tape, scale != 0.0))
        reductions.require(a.tape, holds, ZeroDivisionError("Weights sum to zero, can't be normalized"))
        found = reductions.total(an_array(a.tape, a * w), axis, keepdims) / scale
    return (found, xp.broadcast_to(scale, found.shape) * 1.0 if found.shape else scale * 1.0) if returned else found


def _weights(a: Any, axis: Any, weights: Any) -> Any:
    """The weights with the dimensions of `a`: of its shape, or of its lengths along `axis`."""
    w = array_of(a.tape, "np.average", weights)
    if w.shape == a.shape:
        return w
    axes = () if axis is None else tuple(axis) if isinstance(axis, tuple) else (axis,)
    wanted = tuple(a.shape[reductions.one_axis(a, k)] for k in axes)
    if axis is None or w.shape != wanted:
        raise a.tape.fault(ShapeError, f"weights of shape {w.shape} do not fit {a.shape}")
    order = [k % a.ndim for k in axes]
    w = manipulation.transposed(w, [order.index(k) for k in sorted(order)])
    return manipulation.reshaped(w, tuple(n if k in order else 1 for k, n in enumerate(a.shape)))


# --- histograms


def histogram(tape: Tape, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram`: counts, or sums of weights, and the edges."""
    values = manipulation.reshape(array_of(tape, "np.histogram", a), -1)
    edges = _edges(tape, values, bins, range)
    counts = _counted(tape, [values], [edges], weights, None if weights is None else array_of(tape, "", weights))
    return (counts if not density else _density(tape, counts, [edges])), edges


def histogram_bin_edges(tape: Tape, a: Any, bins: Any = 10, range: Any = None) -> Any:
    """`np.histogram_bin_edges`."""
    return _edges(tape, manipulation.reshape(array_of(tape, "np.histogram", a), -1), bins, range)


def histogramdd(
    tape: Tape, sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`np.histogramdd`: rows of coordinates, or a list of them."""
    if isinstance(sample, (list, tuple)):
        columns = [vector(tape, "np.histogramdd", column) for column in sample]
    else:
        points = array_of(tape, "np.histogramdd", sample)
        if points.ndim not in (1, 2) or not points.shape[-1]:
            raise tape.fault(ShapeError, f"`np.histogramdd` takes rows of coordinates, given the shape {points.shape}")
        points = points if points.ndim == 2 else manipulation.reshape(points, -1, 1)
        columns = [get(points, (slice(None), k)) for k in np.arange(points.shape[1]).tolist()]
    count = len(columns)
    parts = list(bins) if np.ndim(bins) or isinstance(bins, (list, tuple)) else [bins] * count
    ranges = [None] * count if range is None else list(range)
    if len(parts) != count or len(ranges) != count:
        raise tape.fault(ShapeError, f"`np.histogramdd` takes bins and ranges for each of {count} dimensions")
    edges = [_edges(tape, *each) for each in zip(columns, parts, ranges, strict=True)]
    counts = _counted(tape, columns, edges, weights, 1.0 if weights is None else array_of(tape, "", weights) * 1.0)
    return (counts if not density else _density(tape, counts, edges)), tuple(edges)


def histogram2d(
    tape: Tape, x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`np.histogram2d`."""
    if not isinstance(bins, int) and len(bins) not in (1, 2):
        bins = [bins, bins]
    elif not isinstance(bins, int) and len(bins) == 1:
        bins = [bins[0], bins[0]]
    counts, edges = histogramdd(tape, [x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]


def _edges(tape: Tape, values: Any, bins: Any, range: Any) -> Any:
    xp = of(tape)
    if isinstance(bins, str):
        raise tape.type_fault(
            f"`bins={bins!r}` takes as many bins as the values ask for, which only running tells", "give their number"
        )
    if not isinstance(bins, (int, np.integer)):
        edges = vector(tape, "np.histogram", bins)
        ascend = edges[1:] >= edges[:-1]
        what = "`bins` must increase monotonically, when an array"
        reductions.require(tape, reductions.every(an_array(tape, ascend)), ValueError(what))
        return edges
    if bins < 1:
        raise tape.fault(RoseValueError, "`bins` must be positive, when an integer")
    first, last = range if range is not None else (0.0, 1.0) if not values.size else (xp.min(values), xp.max(values))
    holds: Any = (abs(first) < inf) & (abs(last) < inf) & (first <= last)
    reductions.require(tape, holds, ValueError("the range of a histogram is finite, and its ends in order"))
    single = first == last
    return xp.linspace(chosen(single, first - 0.5, first), chosen(single, last + 0.5, last), int(bins) + 1)


def _counted(tape: Tape, columns: list[Any], edges: list[Any], weights: Any, given: Any) -> Any:
    """How many points, or what weights, lie in each box; the last ones are closed."""
    xp = of(tape)
    lengths = [edge.shape[0] - 1 for edge in edges]
    size = prod(lengths)
    place: Any = 0
    inside: Any = True
    for column, edge, length in zip(columns, edges, lengths, strict=True):
        at = xp.searchsorted(edge, column, "right") - 1
        at = xp.where(column == edge[length], length - 1, at)
        inside = (at >= 0) & (at < length) & (column == column) & inside
        place = place * length + at
    whole = given is None or (given.__class__ is Array and given.type is not REAL)
    made = xp.zeros(size + 1, int if whole else float)
    values: Any = 1 if given is None else given if given.__class__ is not Array else manipulation.reshape(given, -1)
    if weights is not None and values.shape != columns[0].shape:
        raise tape.fault(ShapeError, "weights should have the same shape as a.")
    xp.add.at(made, xp.where(inside, place, size), values)
    return manipulation.reshaped(made[:size], tuple(lengths))


def _density(tape: Tape, counts: Any, edges: list[Any]) -> Any:
    xp = of(tape)
    widths: Any = 1.0
    for k, edge in enumerate(edges):
        shape = [1] * len(edges)
        shape[k] = -1
        widths = widths * manipulation.reshaped(
            xp.diff(edge * 1.0), tuple(edge.shape[0] - 1 if n < 0 else n for n in shape)
        )
    return counts / widths / counts.sum()


def bincount(tape: Tape, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """`np.bincount`; of staged numbers as many bins as `minlength` says, which they must be below."""
    places = vector(tape, "np.bincount", x)
    if places.type is not INT and places.shape[0]:
        raise tape.type_fault(f"`np.bincount` counts integers, given an array of {places.type}s")
    known = host_data(places)
    count = minlength if known is None else max(minlength, int(known.max()) + 1 if known.size else 0)
    if known is None and not minlength:
        raise tape.type_fault(
            "`np.bincount` of staged numbers is as long as the largest of them, which only running tells",
            "give `minlength`: all numbers must be below it",
        )
    xp = of(tape)
    if places.shape[0]:
        reductions.require(tape, xp.all(places >= 0), ValueError("'list' argument must have no negative elements"))
        if known is None:
            reductions.require(tape, xp.all(places < count), ValueError(_TOO_LONG))
    made = xp.zeros(count, int if weights is None or not places.shape[0] else float)
    values: Any = 1 if weights is None else vector(tape, "np.bincount", weights) * 1.0
    if weights is not None and values.shape != places.shape:
        raise tape.fault(RoseValueError, "The weights and list don't have the same length.")
    if places.shape[0]:
        xp.add.at(made, places, values)
    return made


_TOO_LONG = "in staged code `np.bincount` has `minlength` bins: a number is not below it"


# --- covariances


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None,
) -> Any:  # fmt: skip
    """`np.cov`."""
    xp, rows = of(m.tape), _observations(m, y, rowvar)
    if ddof is not None and ddof != int(ddof):
        raise m.tape.fault(RoseValueError, "ddof must be integer")
    less = (0 if bias else 1) if ddof is None else ddof
    w: Any = None
    for given, what in ((fweights, "fweights"), (aweights, "aweights")):
        if given is not None:
            each = vector(m.tape, f"np.cov: {what}", given)
            if each.shape[0] != rows.shape[1] or (what == "fweights" and each.type is not INT):
                raise m.tape.fault(RoseValueError, f"`{what}` is one weight for each of {rows.shape[1]} observations")
            reductions.require(m.tape, ~xp.any(each < 0), ValueError(f"{what} cannot be negative"))
            w = each if w is None else w * each
    total = rows.shape[1] if w is None else xp.sum(w)
    if w is not None:
        reductions.require(m.tape, total != 0, ZeroDivisionError("Weights sum to zero, can't be normalized"))
    middle = xp.mean(rows, axis=1) if w is None else xp.sum(rows * w, axis=1) / total
    free: Any = total - less if aweights is None else total - (less and less * xp.sum(w * aweights) / total)
    scale: Any = xp.maximum(free, 0) * 1.0 if hasattr(free, "atom") else np.float64(max(free, 0))
    apart = rows - middle[:, None]
    found = xp.dot(apart, (apart if w is None else apart * w).T) / scale
    return xp.squeeze(found)


def _observations(m: Any, y: Any, rowvar: bool) -> Any:
    """A row for each variable."""
    rows: list[Any] = []
    for each in (m,) if y is None else (m, array_of(m.tape, "np.cov", y)):
        if each.ndim > 2:
            raise m.tape.fault(ShapeError, f"`np.cov` takes rows of observations, given an array of shape {each.shape}")
        whole: Any = manipulation.at_least(each, 2)
        as_rows = rowvar or (each.ndim == 1 if not rows else whole.shape[0] == 1)
        rows.append(whole if as_rows else whole.T)
    rows = [converted(row, REAL) for row in rows]
    return rows[0] if len(rows) == 1 else of(m.tape).concatenate(rows, axis=0)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """`np.corrcoef`: from -1 to 1."""
    xp, found = of(x.tape), cov(x, y, rowvar)
    if not getattr(found, "ndim", 0):
        return found / found
    sizes = xp.sqrt(xp.diag(found))
    return xp.clip(found / sizes[:, None] / sizes, -1.0, 1.0)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """`np.correlate`."""
    other = vector(a.tape, "np.correlate", v)
    if a.ndim == 1 and a.shape[0] < other.shape[0]:
        return composite.convolve(other, a[::-1], mode)[::-1]
    return composite.convolve(a, other[::-1], mode)
