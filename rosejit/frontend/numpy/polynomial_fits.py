"""Least-squares fits of polynomials: `np.polyfit` and the `fit` of each family of `np.polynomial`.

The columns of the matrix are scaled to length 1, as NumPy does, and the derivative is that of `np.linalg.lstsq`.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false

import operator
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.broadcast import converted
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import linalg, manipulation, polynomials
from rosejit.frontend.numpy import linalg_composite as more
from rosejit.frontend.numpy.linalg_algorithms import EPSILON
from rosejit.frontend.numpy.staged_numpy import array_of, of, vector
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import REAL
from rosejit.numeric import np


def polyfit(
    tape: Tape, x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False
) -> Any:
    """`np.polyfit`: the highest power first. There is no warning of a rank that is low: only running tells."""
    count = _degree(tape, "np.polyfit", deg) + 1
    places, values = _samples(tape, "np.polyfit", x, y)
    matrix, right, scale = _scaled(tape, "np.polyfit", polynomials.vander(places, count), values, w, False)
    n = places.shape[0]
    rcond = n * EPSILON if rcond is None else rcond
    c, rest, rank, s = more.lstsq(tape, matrix, right, rcond)
    finite = reductions.every(more.mapped(tape, lambda v: v == v, s))
    reductions.require(tape, finite, np.linalg.LinAlgError("SVD did not converge in Linear Least Squares"))
    c = (c.T / scale).T
    if full:
        return c, rest, rank, s, rcond
    if not cov:
        return c
    spread: Any = linalg.inverse(tape, matrix.T @ matrix) / (scale[:, None] * scale)
    if cov == "unscaled":
        return c, spread if values.ndim == 1 else spread[:, :, None]
    if n <= count:
        message = "the number of data points must exceed order to scale the covariance matrix"
        raise tape.fault(RoseValueError, message)
    factor = rest / (n - count)
    return c, spread * factor if values.ndim == 1 else spread[:, :, None] * factor


def fit(
    tape: Tape, x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, *, family: str
) -> Any:
    """`polyfit`, `chebfit`, ...: the lowest degree first, of all degrees up to one or of those in a list."""
    name = f"np.polynomial.{family}.{polynomials.FAMILIES[family][0]}fit"
    listed = sorted(_degree(tape, name, d) for d in deg) if isinstance(deg, (list, tuple, np.ndarray)) else None
    degrees = listed or list(range(_degree(tape, name, deg) + 1))
    places, values = _samples(tape, name, x, y)
    basis = polynomials.vandermonde(tape, places, degrees[-1], family=family)
    used = of(tape).stack([basis[:, k] for k in degrees], axis=1)
    matrix, right, scale = _scaled(tape, name, used, values, w, True)
    rcond = places.shape[0] * EPSILON if rcond is None else rcond
    c, rest, rank, s = more.lstsq(tape, matrix, right, rcond)
    c = (c.T / scale).T
    if listed:
        found: Any = of_host(tape, np.zeros((degrees[-1] + 1, *c.shape[1:])))
        for row, k in enumerate(degrees):
            found[k] = c[row]
        c = found
    return (c, [rest, rank, s, rcond]) if full else c


def _degree(tape: Tape, name: str, deg: Any) -> int:
    try:
        found = operator.index(deg)
    except TypeError:
        raise tape.type_fault(f"the degree of `{name}` is an int that staging knows, given {deg!r}") from None
    if found < 0:
        raise tape.fault(RoseValueError, f"the degree of `{name}` is not below 0, given {found}")
    return found


def _samples(tape: Tape, name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Places, and a value or a row of values at each."""
    places, values = converted(vector(tape, name, x), REAL), converted(array_of(tape, name, y), REAL)
    if not places.shape[0]:
        raise tape.fault(ShapeError, f"`{name}` takes one sample at least, given none")
    if values.ndim not in (1, 2) or values.shape[0] != places.shape[0]:
        raise tape.fault(ShapeError, f"`{name}`: values of shape {values.shape} at {places.shape[0]} places do not fit")
    return places, values


def _scaled(tape: Tape, name: str, matrix: Any, values: Any, w: Any, spares: bool) -> tuple[Any, Any, Any]:
    """The matrix and the values with weights, and by what the columns were divided; not by 0 if that `spares` them."""
    if w is not None:
        weights = converted(vector(tape, name, w), REAL)
        if weights.shape[0] != values.shape[0]:
            raise tape.fault(ShapeError, f"`{name}`: {weights.shape[0]} weights of {values.shape[0]} samples")
        column: Any = manipulation.expanded(weights, 1)
        matrix, values = matrix * column, values * (column if values.ndim == 2 else weights)
    scale = of(tape).sqrt(of(tape).sum(matrix * matrix, axis=0))
    if spares:
        scale = more.mapped(tape, lambda v: chosen(v == 0.0, 1.0, v), scale)
    return matrix / scale, values, scale


def companion(tape: Tape, c: Any, *, family: str) -> Array:
    """`polycompanion`, ...: only the quotients by the last coefficient are in it, each times a matrix of NumPy's."""
    given: Any = polynomials.series(tape, c)
    n = given.shape[0] - 1
    if n < 1:
        raise tape.fault(RoseValueError, "Series must have maximum degree of at least 1.")
    make = getattr(getattr(np.polynomial, family), polynomials.FAMILIES[family][0] + "companion")
    last = np.eye(n + 1)[n]
    start: Any = make(last)
    found: Any = of_host(tape, start + np.zeros((n, n)))
    for k, unit in enumerate(np.eye(n + 1)[:n]):
        step = make(last + unit) - start
        found = found + of_host(tape, step) * (given[k] / given[n])
    return found
