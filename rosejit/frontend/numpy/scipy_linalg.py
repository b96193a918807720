"""Stages functions of `scipy.linalg` with the factorisations of `np.linalg`.

Triangular systems, factors that are kept, the exponential of a matrix. Results are tuples, as SciPy's.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

import operator
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.getitem import get
from rosejit.frontend.numpy import linalg, linalg_banded, manipulation
from rosejit.frontend.numpy import linalg_algorithms as algorithms
from rosejit.frontend.numpy import linalg_composite as composite
from rosejit.frontend.numpy import linalg_kernels as kernels
from rosejit.frontend.numpy.linalg import matrices, real, square, stacked, swapped
from rosejit.frontend.numpy.linalg_kernels import Site
from rosejit.frontend.numpy.row_kinds import Handler, Row, of_several
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import INT

Make = Callable[..., Any]
_BACKWARDS = slice(None, None, -1)


def _columns(tape: Tape, a: Array, b: Any, name: str) -> tuple[Array, bool]:
    """The right sides as columns, and whether they were given as one vector."""
    right = real(tape, b, name)
    is_vector = right.ndim == 1
    if not right.ndim or right.shape[0 if is_vector else -2] != a.shape[-1]:
        raise tape.fault(ShapeError, f"`scipy.linalg.{name}`: shapes {a.shape} and {right.shape} do not fit")
    return (manipulation.expanded(right, 1) if is_vector else right), is_vector


def _answer(found: Any, is_vector: bool) -> Any:
    return found[..., 0] if is_vector else found


def _is_transposed(tape: Tape, trans: Any) -> bool:
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise tape.fault(RoseValueError, f"`trans` is 0, 1, 2, 'N', 'T' or 'C', given {trans!r}")
    return trans not in (0, "N")


# --- triangles


def _substituted(site: Site, t: Any, b: Any, lower: bool) -> Any:
    """The `x` of `t @ x = b`, of a triangle without zeros on its diagonal."""
    if lower:
        return kernels.forward(site, t, b)
    turned = (get(t, (_BACKWARDS, _BACKWARDS)), get(b, _BACKWARDS))
    return get(kernels.forward(site, *turned), _BACKWARDS)


def _with_unit_diagonal(t: Any) -> Any:
    others: Any = kernels.part(t, lambda i, j: i != j)
    return others + kernels.identity(t.tape, t.shape[0])


def solve_triangular(
    tape: Tape, a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    """`scipy.linalg.solve_triangular`."""
    matrix = square(tape, a, "solve_triangular", "scipy")
    right, is_vector = _columns(tape, matrix, b, "solve_triangular")
    is_transposed = _is_transposed(tape, trans)

    def one(site: Site, t: Any, b: Any) -> Any:
        if unit_diagonal:
            t = _with_unit_diagonal(t)
        else:
            (t,) = site.require(reductions.every(manipulation.diagonal(t) != 0.0), "singular matrix", t)  # pyright: ignore
        return _substituted(site, t.T if is_transposed else t, b, lower is not is_transposed)

    return _answer(stacked(tape, one, [right.shape[-2:]], matrix, right), is_vector)


def cholesky(tape: Tape, a: Any, lower: bool = False) -> Any:
    """`scipy.linalg.cholesky`."""
    return linalg.cholesky(tape, a, upper=not lower)


def cho_factor(tape: Tape, a: Any, lower: bool = False) -> Any:
    """`scipy.linalg.cho_factor`: the other triangle, which SciPy does not speak of, is zero."""
    return cholesky(tape, a, lower), lower


def cho_solve(tape: Tape, c_and_lower: Any, b: Any) -> Any:
    """`scipy.linalg.cho_solve`."""
    c, lower = c_and_lower
    matrix = square(tape, c, "cho_solve", "scipy")
    right, is_vector = _columns(tape, matrix, b, "cho_solve")

    def one(site: Site, c: Any, b: Any) -> Any:
        first, second = (c, c.T) if lower else (c.T, c)
        return _substituted(site, second, _substituted(site, first, b, True), False)

    return _answer(stacked(tape, one, [right.shape[-2:]], matrix, right), is_vector)


# --- elimination


def solve(tape: Tape, a: Any, b: Any, lower: bool = False, assume_a: Any = None, transposed: bool = False) -> Any:
    """`scipy.linalg.solve`; a matrix that is said to be symmetric is one by the triangle that is read."""
    matrix = square(tape, a, "solve", "scipy")
    if assume_a in ("sym", "symmetric", "her", "hermitian", "pos", "positive definite"):
        matrix = stacked(tape, lambda site, m: kernels.mirrored(m, lower), [matrix.shape[-2:]], matrix)
    elif assume_a not in (None, "gen", "general"):
        help_text = "leave it out, or take `scipy.linalg.solve_triangular`"
        raise tape.type_fault(f"`scipy.linalg.solve(..., assume_a={assume_a!r})` is not staged", help_text)
    return linalg.solve(tape, swapped(matrix) if transposed else matrix, b)


def lu_factor(tape: Tape, a: Any) -> Any:
    """`scipy.linalg.lu_factor`."""
    matrix = square(tape, a, "lu_factor", "scipy")
    if matrix.ndim != 2:
        raise tape.fault(ShapeError, f"`scipy.linalg.lu_factor` is staged for one matrix, given {matrix.shape}")
    return kernels.lu(Site(tape, tape.here()), matrix)


def lu_solve(tape: Tape, lu_and_piv: Any, b: Any, trans: Any = 0) -> Any:
    """`scipy.linalg.lu_solve`."""
    lu, order = lu_and_piv
    matrix: Any = square(tape, lu, "lu_solve", "scipy")
    right, is_vector = _columns(tape, matrix, b, "lu_solve")
    if matrix.ndim != 2 or right.ndim != 2 or getattr(order, "type", None) is not INT:
        raise tape.fault(ShapeError, "`scipy.linalg.lu_solve` takes what `lu_factor` gives of one matrix, and a matrix")
    site, left = Site(tape, tape.here()), _with_unit_diagonal(matrix)
    if _is_transposed(tape, trans):
        found = _substituted(site, left.T, _substituted(site, matrix.T, right, True), False)
        return _answer(algorithms.put_back.at(tape, order, found), is_vector)
    ordered = algorithms.reordered.at(tape, order, right)
    return _answer(_substituted(site, matrix, _substituted(site, left, ordered, True), False), is_vector)


# --- spectra


def eigh(tape: Tape, a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False) -> Any:
    """`scipy.linalg.eigh`, of `a @ v = w * b @ v`, too."""
    matrix = square(tape, a, "eigh", "scipy")
    if b is None:
        found = linalg.eigh(tape, matrix, "L" if lower else "U")
        return found[0] if eigvals_only else tuple(found)
    n = matrix.shape[-1]

    def one(site: Site, a: Any, b: Any) -> Any:
        c = kernels.cholesky(site, kernels.mirrored(b, lower))
        half: Any = kernels.forward(site, c, kernels.mirrored(a, lower))
        w, v = linalg.eigen(True, site, kernels.forward(site, c, half.T))
        return w if eigvals_only else (w, _substituted(site, c.T, v, False))

    shapes = [(n,)] if eigvals_only else [(n,), (n, n)]
    return stacked(tape, one, shapes, matrix, square(tape, b, "eigh", "scipy"))


def eigvalsh(tape: Tape, a: Any, b: Any = None, *, lower: bool = True) -> Any:
    """`scipy.linalg.eigvalsh`."""
    return eigh(tape, a, b, lower=lower, eigvals_only=True)


def svd(tape: Tape, a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """`scipy.linalg.svd`."""
    found = linalg.svd(tape, a, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def svdvals(tape: Tape, a: Any) -> Any:
    """`scipy.linalg.svdvals`."""
    return linalg.svdvals(tape, a)


def qr(tape: Tape, a: Any, mode: str = "full") -> Any:
    """`scipy.linalg.qr`, without pivoting."""
    modes = {"full": "complete", "economic": "reduced"}
    if mode in modes:
        return tuple(linalg.qr(tape, a, modes[mode]))
    if mode != "r":
        raise tape.type_fault(f"`scipy.linalg.qr` of mode {mode!r} is not staged", "take 'full', 'economic' or 'r'")
    return (linalg.qr(tape, a, "complete")[1],)


def pinv(tape: Tape, a: Any, *, rtol: Any = None) -> Any:
    """`scipy.linalg.pinv`."""
    return composite.pinv(tape, real(tape, a, "pinv"), rtol=rtol)


def expm(tape: Tape, A: Any) -> Any:
    """`scipy.linalg.expm`: its rational function and the squarings are differentiated as they are computed."""
    matrix = square(tape, matrices(tape, A, "expm"), "expm", "scipy")

    def one(site: Site, a: Any) -> Any:
        function = site.kernel("expm_parts", lambda a: algorithms.exponential_parts.at(tape, a, _identity(a)), a)
        top, bottom, squarings = function
        quotient = kernels.solved(site, bottom, top)
        return site.kernel("squared", lambda x, k: algorithms.squared.at(tape, x, k), quotient, squarings)

    return stacked(tape, one, [matrix.shape[-2:]], matrix)


def _identity(a: Any) -> Any:
    return kernels.identity(a.tape, a.shape[0])


# --- the table

ROWS = (
    Row("scipy.linalg.solve_triangular", of_several, solve_triangular,
        "a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True"),
    Row("scipy.linalg.cholesky", of_several, cholesky, "a, lower=False, overwrite_a=False, check_finite=True"),
    Row("scipy.linalg.cho_factor", of_several, cho_factor, "a, lower=False, overwrite_a=False, check_finite=True"),
    Row("scipy.linalg.cho_solve", of_several, cho_solve, "c_and_lower, b, overwrite_b=False, check_finite=True"),
    Row("scipy.linalg.solve", of_several, solve, "a, b, lower=False, overwrite_a=False, overwrite_b=False, "
        "check_finite=True, assume_a=None, transposed=False"),
    Row("scipy.linalg.inv", of_several, lambda tape, a: linalg.inverse(tape, a),
        "a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False"),
    Row("scipy.linalg.det", of_several, lambda tape, a: linalg.determinant(tape, a),
        "a, overwrite_a=False, check_finite=True"),
    Row("scipy.linalg.lu_factor", of_several, lu_factor, "a, overwrite_a=False, check_finite=True"),
    Row("scipy.linalg.lu_solve", of_several, lu_solve, "lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True"),
    Row("scipy.linalg.eigh", of_several, eigh, "a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, "
        "overwrite_b=False, type=1, check_finite=True, subset_by_index=None, subset_by_value=None, driver=..."),
    Row("scipy.linalg.eigvalsh", of_several, eigvalsh, "a, b=None, *, lower=True, overwrite_a=False, "
        "overwrite_b=False, type=1, check_finite=True, subset_by_index=None, subset_by_value=None, driver=..."),
    Row("scipy.linalg.svd", of_several, svd, "a, full_matrices=True, compute_uv=True, overwrite_a=False, "
        "check_finite=True, lapack_driver=..."),
    Row("scipy.linalg.svdvals", of_several, svdvals, "a, overwrite_a=False, check_finite=True"),
    Row("scipy.linalg.qr", of_several, qr, "a, overwrite_a=False, lwork=..., mode='full', pivoting=False, "
        "check_finite=True"),
    Row("scipy.linalg.pinv", of_several, pinv, "a, *, atol=None, rtol=None, return_rank=False, check_finite=True"),
    Row("scipy.linalg.norm", of_several, lambda tape, a, ord=None, axis=None, keepdims=False: composite.norm(
        tape, a, ord, axis, keepdims), "a, ord=None, axis=None, keepdims=False, check_finite=True"),
    Row("scipy.linalg.expm", of_several, expm, "A"),
    Row("scipy.linalg.solve_banded", of_several, linalg_banded.solve_banded,
        "l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True"),
    Row("scipy.linalg.solveh_banded", of_several, linalg_banded.solveh_banded,
        "ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True"),
    Row("scipy.linalg.toeplitz", of_several, linalg_banded.toeplitz, "c, r=None"),
    Row("scipy.linalg.solve_toeplitz", of_several, linalg_banded.solve_toeplitz, "c_or_cr, b, check_finite=True"),
    Row("scipy.linalg.block_diag", of_several, linalg_banded.block_diag, "*arrs"),
)  # fmt: skip


def handler_of(function: Any) -> Handler | None:
    """What is done with a call of a function, if it is one of them."""
    home = getattr(function, "__module__", None)
    return _table().get(function) if isinstance(home, str) and home.startswith("scipy.linalg") else None


@lru_cache(maxsize=1)
def _table() -> dict[Any, Handler]:
    scipy = sys.modules["scipy"]
    return {operator.attrgetter(row.names.partition(".")[2])(scipy): row.stages for row in ROWS}
