"""Polynomials by their coefficients: `np.polyval` and its like, and the families of `np.polynomial`.

What is linear in the coefficients is a matrix: NumPy's own function says which, asked for what it makes of each unit
vector.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

import operator
from collections.abc import Callable
from typing import Any

from rosejit.errors import RoseValueError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.broadcast import broadcast_map, converted
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import composite, manipulation
from rosejit.frontend.numpy.staged_numpy import array_of, of, vector
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.numeric import np

Make = Callable[..., Any]


# --- highest power first


def polyval(p: Any, x: Any) -> Any:
    """`np.polyval`: by Horner's rule."""
    at = x if type_of(x) is not None else array_of(p.tape, "np.polyval", x)
    if BOOL in (p.type, getattr(at, "type", type_of(at))):
        raise p.tape.type_fault("`np.polyval` takes numbers, given truth values")
    whole = getattr(at, "type", type_of(at)) is INT
    found: Any = 0 if whole else 0.0
    if at.__class__ is Array:
        found = of_host(p.tape, np.full(at.shape, found))
    for coefficient in p:
        found = found * at + coefficient
    return found


def polyadd(tape: Tape, a1: Any, a2: Any) -> Any:
    """`np.polyadd`."""
    return _lined_up(tape, a1, a2, lambda x, y: x + y, False)


def polysub(tape: Tape, a1: Any, a2: Any) -> Any:
    """`np.polysub`."""
    return _lined_up(tape, a1, a2, lambda x, y: x - y, False)


def _lined_up(tape: Tape, a1: Any, a2: Any, op: Make, from_low: bool) -> Any:
    """`op` of coefficients of the same power; those that one has not are zero."""
    x, y = (_coefficients(tape, a) for a in (a1, a2))
    count = max(len(x), len(y))
    return op(_filled(tape, x, count, from_low), _filled(tape, y, count, from_low))


def _filled(tape: Tape, a: Any, count: int, from_low: bool) -> Any:
    lack = count - a.shape[0]
    if not lack:
        return a
    zeros = of(tape).zeros(lack, float if a.type is REAL else int)
    return of(tape).concatenate([a, zeros] if from_low else [zeros, a])


def _coefficients(tape: Tape, a: Any) -> Any:
    found = array_of(tape, "a polynomial", a)
    found = found if found.shape else manipulation.reshaped(found, (1,))
    if found.ndim != 1 or found.type is BOOL:
        raise tape.type_fault("a polynomial is a vector of numbers, its coefficients")
    return found


def polymul(tape: Tape, a1: Any, a2: Any) -> Any:
    """`np.polymul`."""
    x, y = (_whole(tape, _coefficients(tape, a), 0) for a in (a1, a2))
    return composite.convolve(x, y)


def _whole(tape: Tape, a: Any, end: int) -> Any:
    """Coefficients of which the one of the highest power is not zero: where NumPy drops those that are, the length is
    one that only running tells."""
    what = "the coefficient of the highest power is 0, which NumPy drops: in staged code the length is known before"
    if a.shape[0] > 1:
        reductions.require(tape, a[end] != 0, ValueError(what))
    return a


def polyder(p: Any, m: Any = 1) -> Any:
    """`np.polyder`."""
    found: Any = _coefficients(p.tape, p)
    if m < 0 or not p.shape:
        raise p.tape.fault(RoseValueError, "Order of derivative must be positive (see polyint)")
    for _ in range(m):
        found = found[:-1] * np.arange(len(found) - 1, 0, -1)
    return found


def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """`np.polyint`."""
    xp = of(p.tape)
    found: Any = converted(_coefficients(p.tape, p), REAL)
    if m < 0 or not p.shape:
        raise p.tape.fault(RoseValueError, "Order of integral must be positive (see polyder)")
    last = manipulation.at_least(array_of(p.tape, "np.polyint", 0.0 if k is None else k), 1)
    if last.shape not in ((1,), (m,)):
        raise p.tape.fault(RoseValueError, "k must be a scalar or a rank-1 array of length 1 or >m.")
    for turn in range(m):
        constant = last[turn if last.shape[0] > 1 else 0]
        found = xp.concatenate([found / np.arange(float(len(found)), 0.0, -1.0), [constant * 1.0]])
    return _coefficients(p.tape, p) if not m else found


def poly(seq_of_zeros: Any) -> Any:
    """`np.poly` of zeros: the product of `x - zero`."""
    if seq_of_zeros.ndim != 1:
        raise seq_of_zeros.tape.type_fault("`np.poly` of a matrix needs its eigenvalues, and is not staged")
    found: Any = of_host(seq_of_zeros.tape, np.ones(1))
    for zero in seq_of_zeros:
        found = composite.convolve(found, [1.0, -zero * 1.0])
    return found if seq_of_zeros.shape[0] else 1.0


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """`np.vander`."""
    if x.ndim != 1:
        raise x.tape.fault(RoseValueError, "x must be a one-dimensional array or sequence.")
    powers = _powers(x, x.shape[0] if N is None else operator.index(N))
    found = of(x.tape).stack(powers, axis=1) if powers else of(x.tape).zeros((x.shape[0], 0))
    return found if increasing else of(x.tape).flip(found, 1)


def _powers(x: Any, count: int) -> list[Any]:
    """1, x, x squared, ..."""
    if x.type is BOOL:
        raise x.tape.type_fault("powers are those of numbers, given truth values")
    found: list[Any] = [x * 0 + 1 if x.type is INT else of_host(x.tape, np.ones(x.shape))][:count]
    while len(found) < count:
        found.append(found[-1] * x)
    return found


# --- families of orthogonal polynomials, and powers: lowest degree first

FAMILIES = {
    "polynomial": ("poly", lambda k: (1.0, 0.0, 0.0)),
    "chebyshev": ("cheb", lambda k: (2.0 if k else 1.0, 0.0, 1.0)),
    "legendre": ("leg", lambda k: ((2.0 * k + 1.0) / (k + 1.0), 0.0, k / (k + 1.0))),
    "hermite": ("herm", lambda k: (2.0, 0.0, 2.0 * k)),
    "hermite_e": ("herme", lambda k: (1.0, 0.0, float(k))),
    "laguerre": ("lag", lambda k: (-1.0 / (k + 1.0), (2.0 * k + 1.0) / (k + 1.0), k / (k + 1.0))),
}
"""Of each module the prefix of its functions, and how p of degree k + 1 follows: `(a x + b) p(k) - c p(k - 1)`."""


def _basis(family: str, x: Any, count: int) -> list[Any]:
    """The first polynomials of a family at `x`."""
    one = x * 0.0 + 1.0
    found = [one][:count]
    for k in range(count - 1):
        a, b, c = FAMILIES[family][1](k)
        new = (a * x + b if b else a * x if a != 1.0 else x) * found[k] if k else a * x + b
        found.append(new - c * found[k - 1] if k and c else new)
    return found


def value(tape: Tape, x: Any, c: Any, tensor: bool = True, *, family: str) -> Any:
    """`polyval`, `chebval`, ...: of several columns of coefficients at all points, or each at its own."""
    columns: Any = manipulation.at_least(array_of(tape, "a polynomial", c), 1)
    at = x if type_of(x) is not None else array_of(tape, "a polynomial", x)
    if not columns.shape[0]:
        raise tape.fault(RoseValueError, "a polynomial has one coefficient at least")
    rank = getattr(at, "ndim", 0)
    if tensor and rank:
        columns = manipulation.reshaped(columns, columns.shape + (1,) * rank)
    found: Any = None
    for coefficient, p in zip(list(columns), _basis(family, at * 1.0, columns.shape[0]), strict=True):
        term = coefficient * p
        found = term if found is None else found + term
    return found


def value2d(tape: Tape, x: Any, y: Any, c: Any, *, family: str) -> Any:
    """`polyval2d`, ...: at pairs of points."""
    found = value(tape, x, c, family=family)
    return value(tape, y, found, False, family=family)


def value3d(tape: Tape, x: Any, y: Any, z: Any, c: Any, *, family: str) -> Any:
    """`polyval3d`, ..."""
    return value(tape, z, value2d(tape, x, y, c, family=family), False, family=family)


def grid2d(tape: Tape, x: Any, y: Any, c: Any, *, family: str) -> Any:
    """`polygrid2d`, ...: at all pairs of two lists of points."""
    return value(tape, y, value(tape, x, c, family=family), family=family)


def grid3d(tape: Tape, x: Any, y: Any, z: Any, c: Any, *, family: str) -> Any:
    """`polygrid3d`, ..."""
    return value(tape, z, grid2d(tape, x, y, c, family=family), family=family)


def vandermonde(tape: Tape, x: Any, deg: Any, *, family: str) -> Any:
    """`polyvander`, ...: the polynomials in a new last axis."""
    at = manipulation.at_least(array_of(tape, "a polynomial", x), 1)
    if deg < 0:
        raise tape.fault(RoseValueError, "deg must be non-negative")
    return of(tape).stack(_basis(family, at * 1.0, operator.index(deg) + 1), axis=-1)


def added(tape: Tape, c1: Any, c2: Any) -> Any:
    """`polyadd`, ..."""
    return _whole(tape, _lined_up(tape, series(tape, c1), series(tape, c2), lambda x, y: x + y, True), -1)


def subtracted(tape: Tape, c1: Any, c2: Any) -> Any:
    """`polysub`, ..."""
    return _whole(tape, _lined_up(tape, series(tape, c1), series(tape, c2), lambda x, y: x - y, True), -1)


def _real(tape: Tape, c: Any) -> Any:
    return converted(_coefficients(tape, c), REAL)


def series(tape: Tape, c: Any) -> Any:
    """Coefficients of a family: Reals, one at least, the last of them not 0."""
    found = _real(tape, c)
    if not found.shape[0]:
        raise tape.fault(RoseValueError, "Coefficient array is empty")
    return _whole(tape, found, -1)


def multiplied(tape: Tape, c1: Any, c2: Any, *, family: str) -> Any:
    """`polymul`, ...: which polynomial the product of two is made of, NumPy says."""
    x, y = series(tape, c1), series(tape, c2)
    one = _theirs(family, "mul")
    n, m = x.shape[0], y.shape[0]
    table = np.zeros((n + m - 1, n, m))
    for i, j in np.ndindex(n, m):
        made = one(np.eye(n)[i, : i + 1], np.eye(m)[j, : j + 1])
        table[: len(made), i, j] = made
    return of(tape).einsum("kij,i,j->k", table, x, y)


def times_x(tape: Tape, c: Any, *, family: str) -> Any:
    """`polymulx`, ..."""
    return _linear(tape, series(tape, c), _theirs(family, "mulx"))


def from_roots(tape: Tape, roots: Any, *, family: str) -> Any:
    """`polyfromroots`, ...: the product of `x - root`, in the family."""
    found: Any = of_host(tape, np.ones(1))
    given = vector(tape, "roots", roots)
    if given.type is BOOL:
        raise tape.type_fault("roots are numbers, given truth values")
    for root in given:
        found = _linear(tape, found, _theirs(family, "mulx")) - _filled(tape, found * root, found.shape[0] + 1, True)
    return found


def _linear(tape: Tape, c: Any, function: Make) -> Any:
    """A function of NumPy's that is linear in the coefficients."""
    columns = [function(row) for row in np.eye(c.shape[0])]
    length = max(map(len, columns))
    matrix = np.stack([np.concatenate([column, np.zeros(length - len(column))]) for column in columns], 1)
    used = (matrix != 0.0).reshape(matrix.shape + (1,) * (c.ndim - 1))
    terms = broadcast_map(tape, lambda use, x, y: chosen(use, x * y, 0.0), of_host(tape, used), of_host(
        tape, matrix.reshape(used.shape)), c)  # fmt: skip
    return of(tape).sum(terms, axis=1)


def _theirs(family: str, name: str) -> Make:
    return getattr(getattr(np.polynomial, family), FAMILIES[family][0] + name)


def derivative(tape: Tape, c: Any, m: Any = 1, scl: Any = 1, axis: Any = 0, *, family: str) -> Any:
    """`polyder`, ..."""
    return _along(tape, c, axis, lambda column: _theirs(family, "der")(column, m) * 1.0, scl, m)


def _along(tape: Tape, c: Any, axis: Any, function: Make, scale: Any, turns: Any) -> Any:
    columns = array_of(tape, "a polynomial", c)
    xp = of(tape)
    if columns.type is BOOL or not columns.shape or not isinstance(turns, int) or turns < 0:
        raise tape.type_fault(
            "a polynomial is an array of numbers, and the order of a derivative is known and not below 0"
        )
    axis = reductions.one_axis(columns, axis)
    if not columns.shape[axis]:
        raise tape.fault(RoseValueError, "a polynomial has one coefficient at least")
    moved = xp.moveaxis(columns, axis, 0)
    found = xp.moveaxis(_linear(tape, moved, function), 0, axis)
    return found if not turns else found * scale**turns


def integral(
    tape: Tape, c: Any, m: Any = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: Any = 0, *, family: str
) -> Any:
    """`polyint`, ...: with constants and a scale that staging knows."""
    if any(type_of(v) is None for v in (lbnd, scl)) or any(hasattr(v, "atom") for v in (lbnd, scl)):
        raise tape.type_fault("`lbnd` and `scl` are numbers that staging knows")
    constants = [k] if type_of(k) is not None else list(k)
    one = _theirs(family, "int")
    found = _along(tape, c, axis, lambda column: one(column, m, [], lbnd, scl) * 1.0, 1, m)
    if len(constants) > m:
        raise tape.fault(RoseValueError, "Too many integration constants")
    for turn, constant in enumerate(constants):
        rest = m - 1 - turn  # so often a constant is integrated after it was added
        powers = one(np.ones(1), rest, [], lbnd, scl) * 1.0 if rest else np.ones(1)
        column = np.concatenate([powers, np.zeros(found.shape[axis] - len(powers))])
        shape = [1] * found.ndim
        shape[axis] = -1
        found = found + array_of(tape, "k", column.reshape(shape)) * constant
    return found
