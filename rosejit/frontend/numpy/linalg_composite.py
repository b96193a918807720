"""Functions of `np.linalg` that are written with its factorisations: norms, ranks, least squares, products."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from collections.abc import Callable
from math import inf, prod
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import MaskedArray
from rosejit.frontend.arrays.broadcast import broadcast_map, converted
from rosejit.frontend.arrays.reductions import chosen
from rosejit.frontend.numpy import composite, contractions, linalg, manipulation
from rosejit.frontend.numpy import linalg_algorithms as algorithms
from rosejit.frontend.numpy import linalg_kernels as kernels
from rosejit.frontend.numpy import linalg_spectra as spectra
from rosejit.frontend.numpy.linalg import matrices, real, square, stacked, swapped
from rosejit.frontend.numpy.linalg_kernels import Site
from rosejit.frontend.values.scalars import P, type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT
from rosejit.numeric import np

Make = Callable[..., Any]
_EPSILON = algorithms.EPSILON


def mapped(tape: Tape, make: Make, *operands: Any) -> Any:
    """`make` of numbers, or of arrays element by element."""
    if any(x.__class__ is Array for x in operands):
        return broadcast_map(tape, make, *operands)
    return make(*operands)


# --- norms


def norm(tape: Tape, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm`."""
    if x.__class__ is MaskedArray and ord in (None, 2) and axis is None and x.dimensions == 1:
        return _root(tape, x.dot(x))
    a: Any = real(tape, x, "norm")
    if axis is None and (ord is None or (ord in ("f", "fro") and a.ndim == 2)):
        return _root(tape, reductions.total(a * a, None, keepdims))
    along = tuple(reductions.one_axis(a, k) for k in axis) if isinstance(axis, tuple) else reductions.axes_of(a, axis)
    if len(along) == 1:
        return _vector_norm(tape, a, ord, along[0], keepdims)
    if len(set(along)) == 2:
        return _matrix_norm(tape, a, ord, along, keepdims)
    raise tape.fault(ShapeError, f"a norm is one of vectors or matrices, given {len(along)} axes")


def _root(tape: Tape, x: Any) -> Any:
    return mapped(tape, P["sqrt"].__call__, x)


def _vector_norm(tape: Tape, a: Any, order: Any, axis: Any, keepdims: bool) -> Any:
    if order is None or _is(order, 2):
        return _root(tape, reductions.total(a * a, axis, keepdims))
    size = abs(a)
    if _is(order, inf):
        return reductions.largest(size, axis, keepdims, initial=0.0)
    if _is(order, -inf):
        return reductions.smallest(size, axis, keepdims)
    if _is(order, 0):
        return reductions.total(broadcast_map(tape, lambda v: chosen(v != 0.0, 1.0, 0.0), a), axis, keepdims)
    if _is(order, 1):
        return reductions.total(size, axis, keepdims)
    if type_of(order) is None:
        raise tape.fault(RoseValueError, f"`np.linalg.norm` of vectors takes a number as its order, given {order!r}")
    return reductions.total(size**order, axis, keepdims) ** (1.0 / order)


def _is(order: Any, value: Any) -> bool:
    return isinstance(order, (int, float)) and order == value


def _matrix_norm(tape: Tape, a: Any, order: Any, along: tuple[int, ...], keepdims: bool) -> Any:
    if order in (None, "fro", "f"):
        return _root(tape, reductions.total(a * a, along, keepdims))
    if order not in ("nuc", 1, -1, 2, -2, inf, -inf):
        raise tape.fault(RoseValueError, f"`np.linalg.norm` of matrices has no order {order!r}")
    moved = manipulation.transposed(a, [*(k for k in range(a.ndim) if k not in along), *along])
    if order == "nuc":
        found = reductions.total(linalg.svdvals(tape, moved), -1)
    else:
        sums = abs(moved)  # pyright: ignore[reportArgumentType]  # operators are installed
        sizes = (
            linalg.svdvals(tape, moved) if abs(order) == 2 else reductions.total(sums, -2 if abs(order) == 1 else -1)
        )
        found = reductions.largest(sizes, -1, initial=0.0) if order > 0 else reductions.smallest(sizes, -1)
    if not keepdims:
        return found
    shape = tuple(1 if k in along else n for k, n in enumerate(a.shape))
    return manipulation.reshaped(found if found.__class__ is Array else _array(tape, [found]), shape)


def _array(tape: Tape, values: Any) -> Array:
    found = as_array(tape, values)
    assert found is not None
    return found


def vector_norm(tape: Tape, x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """`np.linalg.vector_norm`: of several axes as of one."""
    a = real(tape, x, "vector_norm")
    along = reductions.axes_of(a, axis)
    if len(along) == 1:
        return _vector_norm(tape, a, ord, along[0], keepdims)
    return _vector_norm(tape, a, ord, along, keepdims)


def matrix_norm(tape: Tape, x: Any, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`np.linalg.matrix_norm`."""
    return norm(tape, matrices(tape, x, "matrix_norm"), ord, (-2, -1), keepdims)


def cond(tape: Tape, x: Any, p: Any = None) -> Any:
    """`np.linalg.cond`: infinite for a matrix without inverse."""
    a = matrices(tape, x, "cond")
    if 0 in a.shape[-2:]:
        raise tape.fault(ShapeError, f"`np.linalg.cond` is not defined on empty arrays, given one of shape {a.shape}")
    if p is None or _is(p, 2) or _is(p, -2):
        sizes = linalg.svdvals(tape, a)
        ends = (-1, 0) if p == -2 else (0, -1)
        found = sizes[..., ends[0]] / sizes[..., ends[1]]
    else:
        a = square(tape, a, "cond")
        y = stacked(tape, lambda site, m: kernels.inverse(site, m, False), [a.shape[-2:]], a)
        if p == "nuc":
            y = mapped(tape, lambda v: chosen(v - v == 0.0, v, 0.0), y) + 0.0 * y
        found = norm(tape, a, p, (-2, -1)) * norm(tape, y, p, (-2, -1))
    spoilt = reductions.some(mapped(tape, lambda v: v != v, a), (-2, -1))
    return mapped(tape, lambda v, bad: chosen((v != v) & ~bad, inf, v), found, spoilt)


def matrix_rank(tape: Tape, A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """`np.linalg.matrix_rank`."""
    if tol is not None and rtol is not None:
        raise tape.fault(RoseValueError, "`np.linalg.matrix_rank` takes `tol` or `rtol`, given both")
    a: Any = real(tape, A, "matrix_rank")
    if a.ndim < 2:
        return mapped(tape, lambda v: chosen(v, 1, 0), reductions.some(a != 0.0))
    sizes = linalg.svd(tape, a, compute_uv=False, hermitian=hermitian)
    finite = reductions.every(mapped(tape, lambda s: s == s, sizes))
    reductions.require(tape, finite, np.linalg.LinAlgError("SVD did not converge"))
    if tol is None:
        rtol = max(a.shape[-2:]) * _EPSILON if rtol is None else _behind(tape, rtol)
        tol = reductions.largest(sizes, -1, True, initial=0.0) * rtol
    else:
        tol = _behind(tape, tol)
    return composite.count_nonzero(mapped(tape, lambda s, t: s > t, sizes, tol), axis=-1)


def _behind(tape: Tape, value: Any) -> Any:
    """A limit for each matrix, along with all its values."""
    return value if type_of(value) is not None else manipulation.expanded(real(tape, value, "matrix_rank"), -1)


# --- least squares


def pinv(tape: Tape, a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = ...) -> Any:
    """`np.linalg.pinv`; the derivative is that of matrices of the same rank."""
    matrix = matrices(tape, a, "pinv")
    if rcond is not None and rtol is not ...:
        raise tape.fault(RoseValueError, "`np.linalg.pinv` takes `rcond` or `rtol`, given both")
    m, n = matrix.shape[-2:]
    if rcond is None:
        rcond = 1e-15 if rtol is ... else max(m, n) * _EPSILON if rtol is None else rtol
    if rtol is None and getattr(as_array(tape, a), "type", None) in (INT, BOOL):
        raise tape.type_fault("`np.linalg.pinv` with `rtol=None` takes Reals", "convert with `.astype(float)`")
    if type_of(rcond) is None:
        raise tape.type_fault("`np.linalg.pinv` is staged with one number as `rcond`", "call it for each matrix")

    def one(site: Site, x: Array) -> Any:
        return spectra.pseudoinverse(site, kernels.mirrored(x) if hermitian else x, rcond)

    return stacked(tape, one, [(n, m)], square(tape, matrix, "pinv") if hermitian else matrix)


def lstsq(tape: Tape, a: Any, b: Any, rcond: Any = None) -> Any:
    """`np.linalg.lstsq`: the residuals of a matrix of lower rank are NaN, as only running tells that it is one."""
    matrix, right = real(tape, a, "lstsq"), real(tape, b, "lstsq")
    if matrix.ndim != 2 or right.ndim not in (1, 2) or matrix.shape[0] != right.shape[0]:
        message = f"`np.linalg.lstsq` takes a matrix and as many rows, given shapes {matrix.shape} and {right.shape}"
        raise tape.fault(ShapeError, message)
    m, n = matrix.shape
    rcond = max(m, n) * _EPSILON if rcond is None else _EPSILON if _is(rcond, -1) else rcond
    columns: Any = manipulation.expanded(right, 1) if right.ndim == 1 else right
    none = of_host(tape, np.zeros(0))
    x: Any
    if not m or not n:
        x, s, rank = of_host(tape, np.zeros((n, columns.shape[1]))), none, 0
    else:
        site = Site(tape, tape.here())
        x, s, rank = spectra.least_squares(site, matrix, columns, rcond)
    rest: Any = none
    if m > n:
        away = columns - contractions.matmul(matrix, x)
        rest = mapped(tape, lambda v, r: chosen(r == n, v, np.nan), reductions.total(away * away, 0), rank)
    return (x[:, 0] if right.ndim == 1 else x), rest, rank, s


# --- products and axes


def matrix_power(tape: Tape, a: Any, n: int) -> Any:
    """`np.linalg.matrix_power`, multiplied in NumPy's order."""
    if not isinstance(n, int):
        raise tape.type_fault("`np.linalg.matrix_power` takes an exponent that staging knows")
    matrix = as_array(tape, a)
    whole = matrix is not None and matrix.type is INT and n >= 0
    if matrix is None or matrix.type is BOOL:
        raise tape.type_fault("`np.linalg.matrix_power` takes a matrix of numbers")
    of_reals = square(tape, a, "matrix_power")
    matrix = matrix if whole else of_reals
    if not n:
        unit = converted(kernels.identity(tape, matrix.shape[-1]), matrix.type)
        return manipulation.broadcast(unit, matrix.shape).copy() if matrix.ndim > 2 else unit  # pyright: ignore
    factor: Any = linalg.inverse(tape, matrix) if n < 0 else matrix
    n = abs(n)
    if n == 3:
        return contractions.matmul(contractions.matmul(factor, factor), factor)
    found: Any = None
    while n:
        n, bit = divmod(n, 2)
        if bit:
            found = factor if found is None else contractions.matmul(found, factor)
        if n:
            factor = contractions.matmul(factor, factor)
    return found if found is not matrix else found.copy()


def multi_dot(tape: Tape, arrays: Any) -> Any:
    """`np.linalg.multi_dot`, in the order of the fewest multiplications."""
    given: list[Any] = [as_array(tape, a) for a in arrays]
    if len(given) < 2 or any(a is None or a.ndim not in (1, 2) or a.type is BOOL for a in given):
        raise tape.type_fault("`np.linalg.multi_dot` takes two matrices or more, of numbers")
    if any(a.ndim != 2 for a in given[1:-1]):
        raise tape.fault(ShapeError, "between the first and the last, `np.linalg.multi_dot` takes matrices")
    lengths = [given[0].shape[0] if given[0].ndim == 2 else 1, *(a.shape[-1] for a in given[:-1])]
    lengths.append(given[-1].shape[1] if given[-1].ndim == 2 else 1)
    best = _cheapest(lengths)

    def made(i: int, j: int) -> Any:
        if i == j:
            return given[i]
        k = best[i, j][1]
        return contractions.matmul(made(i, k), made(k + 1, j), "multi_dot")

    return made(0, len(given) - 1)


def _cheapest(lengths: list[int]) -> dict[tuple[int, int], tuple[int, int]]:
    """The cost of each product of neighbours, and behind which factor it is parted: at the first of the cheapest
    places, of three factors at the last, as NumPy does."""
    count = len(lengths) - 1
    best = {(i, i): (0, i) for i in range(count)}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            costs = [
                (best[i, k][0] + best[k + 1, j][0] + lengths[i] * lengths[k + 1] * lengths[j + 1], k)
                for k in range(i, j)
            ]
            best[i, j] = min(costs, key=lambda cost: (cost[0], -cost[1] if count == 3 else cost[1]))
    return best


def tensorsolve(tape: Tape, a: Any, b: Any, axes: Any = None) -> Any:
    """`np.linalg.tensorsolve`."""
    left, right = real(tape, a, "tensorsolve"), real(tape, b, "tensorsolve")
    if axes is not None:
        gone = [reductions.one_axis(left, axis) for axis in axes]
        left = manipulation.transposed(left, [*(k for k in range(left.ndim) if k not in gone), *gone])
    shape = left.shape[right.ndim :]
    if prod(shape) ** 2 != prod(left.shape):
        raise tape.fault(ShapeError, f"`np.linalg.tensorsolve`: shapes {left.shape} and {right.shape} do not fit")
    n = prod(shape)
    found = linalg.solve(tape, manipulation.reshaped(left, (n, n)), manipulation.reshaped(right, (prod(right.shape),)))
    return manipulation.reshaped(found, shape)


def tensorinv(tape: Tape, a: Any, ind: int = 2) -> Any:
    """`np.linalg.tensorinv`."""
    array = real(tape, a, "tensorinv")
    if not isinstance(ind, int) or ind <= 0:
        raise tape.fault(RoseValueError, f"`ind` is a positive integer, given {ind!r}")
    first, last = array.shape[:ind], array.shape[ind:]
    if prod(first) != prod(last):
        raise tape.fault(ShapeError, f"`np.linalg.tensorinv`: the shape {array.shape} is not square at {ind}")
    matrix = manipulation.reshaped(array, (prod(first), prod(last)))
    return manipulation.reshaped(linalg.inverse(tape, matrix), last + first)


def matrix_transpose(x: Any) -> Any:
    """`np.linalg.matrix_transpose`."""
    if x.ndim < 2:
        raise x.tape.fault(ShapeError, f"`matrix_transpose` takes matrices, given an array of shape {x.shape}")
    return swapped(x)


def diagonal(x: Any, offset: int = 0) -> Any:
    """`np.linalg.diagonal`: of the last two axes."""
    return manipulation.diagonal(x, offset, -2, -1)


def trace(x: Any, offset: int = 0) -> Any:
    """`np.linalg.trace`: over the last two axes."""
    return reductions.total(diagonal(x, offset), -1)


def outer(x1: Any, x2: Any) -> Any:
    """`np.linalg.outer`: of vectors."""
    other = as_array(x1.tape, x2)
    if x1.ndim != 1 or other is None or other.ndim != 1:
        raise x1.tape.fault(ShapeError, "`np.linalg.outer` takes two vectors")
    return contractions.outer(x1, other)


def vecdot(x1: Any, x2: Any, axis: int = -1) -> Any:
    """`np.vecdot`."""
    other = as_array(x1.tape, x2)
    if other is None or not x1.ndim or not other.ndim:
        raise x1.tape.fault(ShapeError, "`np.vecdot` takes two arrays of vectors")
    if x1.type is BOOL and other.type is BOOL:
        raise x1.tape.type_fault("`np.vecdot` of truth values", "count with `.astype(int)`")
    left: Any = manipulation.moved_last(x1, axis)
    right: Any = manipulation.moved_last(other, axis)
    if left.shape[-1] != right.shape[-1]:
        raise x1.tape.fault(ShapeError, f"`np.vecdot`: vectors of {left.shape[-1]} and of {right.shape[-1]} do not fit")
    return reductions.total(left * right, -1)


def matvec(x1: Any, x2: Any) -> Any:
    """`np.matvec`."""
    other = as_array(x1.tape, x2)
    if other is None or not other.ndim:
        raise x1.tape.fault(ShapeError, "`np.matvec` takes matrices and vectors")
    return contractions.matmul(x1, manipulation.expanded(other, -1), "np.matvec")[..., 0]


def vecmat(x1: Any, x2: Any) -> Any:
    """`np.vecmat`."""
    other = as_array(x1.tape, x2)
    if other is None or not x1.ndim:
        raise x1.tape.fault(ShapeError, "`np.vecmat` takes vectors and matrices")
    return contractions.matmul(manipulation.expanded(x1, -2), other, "np.vecmat")[..., 0, :]


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """`np.linalg.tensordot`."""
    return contractions.tensordot(x1, x2, axes)
