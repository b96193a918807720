"""Functions of `scipy.linalg` of matrices that are bands, blocks or the same along diagonals, in staged NumPy.

Bands are eliminated in their band, with exchanges of rows in it, and differentiated as they are computed.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false

from typing import Any

from rosejit.errors import ShapeError
from rosejit.frontend.arrays.array import of_host
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.numpy import concatenate, linalg, manipulation
from rosejit.frontend.numpy.linalg import real
from rosejit.frontend.numpy.linalg_algorithms import Program
from rosejit.frontend.numpy.linalg_kernels import Site, or_identity
from rosejit.frontend.scalar_ops.faults import quietly
from rosejit.frontend.values import rose_functions as rose
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape, unfailing
from rosejit.numeric import np

# --- algorithms


@Program
def band_rows(ab: Any, lower: int, upper: int) -> Any:
    """The rows of a band, its diagonal in column `lower`, with room for what exchanges of rows bring."""
    n = ab.shape[1]
    w = np.zeros((n, 2 * lower + upper + 1))
    for d in rose.range(-lower, upper + 1):
        for i in rose.range(max(0, -d), n - max(0, d)):
            w[i, d + lower] = ab[upper - d, i + d]
    return w


@Program
def band_solved(rows: Any, b: Any, lower: int, upper: int) -> Any:
    """The `x` of `a @ x = b` by the rows of a band; whether there is one."""
    n = b.shape[0]
    w, x = rows.copy(), b.copy()
    regular = True
    for k in rose.range(n):
        end = min(k + lower + 1, n)
        p = k
        for i in rose.range(k + 1, end):
            if abs(w[i, k - i + lower]) > abs(w[p, k - p + lower]):
                p = i
        for c in rose.range(lower + upper + 1):
            kept = w[k, c + lower]
            w[k, c + lower] = w[p, k + c - p + lower]
            w[p, k + c - p + lower] = kept
        row = x[p].copy()
        x[p] = x[k]
        x[k] = row
        pivot = w[k, lower]
        if pivot == 0.0:
            regular = False
        else:
            for i in rose.range(k + 1, end):
                part = w[i, k - i + lower] / pivot
                for c in rose.range(1, lower + upper + 1):
                    w[i, k + c - i + lower] -= part * w[k, c + lower]
                x[i] -= part * row
    for turn in rose.range(n):
        k = n - 1 - turn
        rest = x[k].copy()
        for c in rose.range(1, min(lower + upper + 1, n - k)):
            rest -= w[k, c + lower] * x[k + c]
        x[k] = rest / w[k, lower]
    return x, regular


@Program
def positive_band_solved(columns: Any, b: Any) -> Any:
    """The same of a symmetric band by its lower diagonals, `columns[d, j]` being `a[j + d, j]`; whether it is positive
    definite."""
    n, count = b.shape[0], columns.shape[0]
    w, x = columns.copy(), b.copy()
    positive = True
    for k in rose.range(n):
        pivot = w[0, k]
        if pivot > 0.0:
            end = min(count, n - k)
            for i in rose.range(1, end):
                part = w[i, k] / pivot
                for j in rose.range(i, end):
                    w[j - i, k + i] -= part * w[j, k]
                x[k + i] -= part * x[k]
        else:
            positive = False
    for turn in rose.range(n):
        k = n - 1 - turn
        rest = x[k].copy()
        for i in rose.range(1, min(count, n - k)):
            rest -= w[i, k] * x[k + i]
        x[k] = rest / w[0, k]
    return x, positive


# --- functions


def _right(tape: Tape, b: Any, n: int, name: str) -> tuple[Any, bool]:
    right = real(tape, b, name)
    if right.ndim not in (1, 2) or right.shape[0] != n:
        raise tape.fault(ShapeError, f"`scipy.linalg.{name}`: {n} unknowns and right sides of shape {right.shape}")
    return (manipulation.expanded(right, 1) if right.ndim == 1 else right), right.ndim == 1


def _band(tape: Tape, ab: Any, name: str) -> Any:
    band = real(tape, ab, name)
    if band.ndim != 2:
        raise tape.fault(ShapeError, f"`scipy.linalg.{name}` takes a matrix of diagonals, given {band.shape}")
    return band


def _required(tape: Tape, solve: Any, band: Any, diagonal: int, message: str, is_vector: bool) -> Any:
    """What `solve` gives for a band, if there is a solution; the row of the band that is the diagonal is known."""
    site = Site(tape, tape.here())
    with unfailing(tape):
        x, holds = quietly(tape, solve, band)
    site.require(holds, message)
    if site.is_awaited:  # derivatives go through the steps, in which nothing may be infinite
        with unfailing(tape):
            x, _ = quietly(tape, solve, or_identity(holds, band, lambda row, _: row == diagonal))
    return x[..., 0] if is_vector else x


def solve_banded(tape: Tape, l_and_u: Any, ab: Any, b: Any) -> Any:
    """`scipy.linalg.solve_banded`."""
    band = _band(tape, ab, "solve_banded")
    lower, upper = (int(each) for each in l_and_u)
    if band.shape[0] != lower + upper + 1:
        message = f"`scipy.linalg.solve_banded` of {lower} and {upper} diagonals takes {lower + upper + 1} rows"
        raise tape.fault(ShapeError, f"{message}, given {band.shape}")
    right, is_vector = _right(tape, b, band.shape[1], "solve_banded")

    def solve(band: Any) -> Any:
        return band_solved.at(tape, band_rows.at(tape, band, lower, upper), right, lower, upper)

    return _required(tape, solve, band, upper, "singular matrix", is_vector)


def solveh_banded(tape: Tape, ab: Any, b: Any, lower: bool = False) -> Any:
    """`scipy.linalg.solveh_banded`."""
    band = _band(tape, ab, "solveh_banded")
    count, n = band.shape
    right, is_vector = _right(tape, b, n, "solveh_banded")
    if not lower:
        padded = concatenate.joined(tape, [band, of_host(tape, np.zeros((count, count)))], 1, "solveh_banded")
        d, j = np.indices((count, n))
        band = get(padded, (of_host(tape, count - 1 - d), of_host(tape, j + d)))
    message = "the matrix is not positive definite"
    return _required(tape, lambda band: positive_band_solved.at(tape, band, right), band, 0, message, is_vector)


def toeplitz(tape: Tape, c: Any, r: Any = None) -> Any:
    """`scipy.linalg.toeplitz`."""
    column = real(tape, c, "toeplitz")
    row = column if r is None else real(tape, r, "toeplitz")
    if column.ndim != 1 or row.ndim != 1:
        raise tape.fault(ShapeError, f"`scipy.linalg.toeplitz` takes vectors, given {column.shape} and {row.shape}")
    joined = concatenate.joined(tape, [get(column, slice(None, None, -1)), get(row, slice(1, None))], 0, "toeplitz")
    i, j = np.indices((column.shape[0], row.shape[0]))
    return get(joined, of_host(tape, column.shape[0] - 1 - i + j))


def solve_toeplitz(tape: Tape, c_or_cr: Any, b: Any) -> Any:
    """`scipy.linalg.solve_toeplitz`, by elimination."""
    pair = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)
    return linalg.solve(tape, toeplitz(tape, *pair), b)


def block_diag(tape: Tape, *arrs: Any) -> Any:
    """`scipy.linalg.block_diag`."""
    arrays = [[each] if type_of(each) is not None else each for each in arrs]
    blocks = [real(tape, each, "block_diag") for each in arrays] or [of_host(tape, np.zeros((1, 0)))]
    blocks = [manipulation.reshape(each, (1, -1)) if each.ndim < 2 else each for each in blocks]
    width, before, rows = sum(each.shape[1] for each in blocks), 0, list[Any]()
    for each in blocks:
        height, own = each.shape
        sides = [of_host(tape, np.zeros((height, count))) for count in (before, width - before - own)]
        rows.append(concatenate.joined(tape, [sides[0], each, sides[1]], 1, "block_diag"))
        before += own
    return concatenate.joined(tape, rows, 0, "block_diag")
