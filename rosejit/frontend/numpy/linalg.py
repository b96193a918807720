"""Stages `np.linalg` under NumPy's names: arguments, stacks of matrices, results with names."""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownLambdaType=false

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

from rosejit.errors import RoseValueError, ShapeError
from rosejit.frontend.arrays import reductions
from rosejit.frontend.arrays.array import Array, of_host
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import refuse_no_array
from rosejit.frontend.arrays.broadcast import converted
from rosejit.frontend.numpy import linalg_algorithms, manipulation
from rosejit.frontend.numpy import linalg_kernels as kernels
from rosejit.frontend.numpy import linalg_spectra as spectra
from rosejit.frontend.numpy.linalg_kernels import Site
from rosejit.frontend.values.scalars import P
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import REAL, array
from rosejit.numeric import np

Make = Callable[..., Any]

# --- under NumPy's names


def solve(tape: Tape, a: Any, b: Any) -> Any:
    """`np.linalg.solve`: a vector, or the columns of a matrix."""
    matrix, right = square(tape, a, "solve"), real(tape, b, "solve")
    n = matrix.shape[-1]
    if right.ndim == 1:
        if right.shape[0] != n:
            _misfit(tape, matrix, right)
        return solve(tape, matrix, manipulation.expanded(right, 1))[..., 0]
    if right.shape[-2] != n:
        _misfit(tape, matrix, right)
    return stacked(tape, kernels.solved, [right.shape[-2:]], matrix, right)


def inverse(tape: Tape, a: Any) -> Any:
    """`np.linalg.inv`."""
    matrix = square(tape, a, "inv")
    return stacked(tape, kernels.inverse, [matrix.shape[-2:]], matrix)


def determinant(tape: Tape, a: Any) -> Any:
    """`np.linalg.det`."""
    return stacked(tape, kernels.determinant, [()], square(tape, a, "det"))


def log_determinant(tape: Tape, a: Any) -> Any:
    """`np.linalg.slogdet`."""
    return named("SlogdetResult", stacked(tape, kernels.log_determinant, [(), ()], square(tape, a, "slogdet")))


def cholesky(tape: Tape, a: Any, *, upper: bool = False) -> Any:
    """`np.linalg.cholesky`, which reads one triangle."""
    matrix = square(tape, a, "cholesky")
    given = swapped(matrix) if upper else matrix

    def one(site: Site, m: Array) -> Any:
        return kernels.cholesky(site, kernels.mirrored(m))

    found = stacked(tape, one, [matrix.shape[-2:]], given)
    return swapped(found) if upper else found


def eigh(tape: Tape, a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigh`, which reads one triangle."""
    matrix = square(tape, a, "eigh")
    n = matrix.shape[-1]
    return named("EighResult", stacked(tape, partial(eigen, _triangle(tape, UPLO)), [(n,), (n, n)], matrix))


def eigvalsh(tape: Tape, a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigvalsh`."""
    matrix, lower = square(tape, a, "eigvalsh"), _triangle(tape, UPLO)
    return stacked(tape, lambda site, m: eigen(lower, site, m)[0], [matrix.shape[-1:]], matrix)


def _triangle(tape: Tape, UPLO: str) -> bool:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise tape.fault(RoseValueError, f"`UPLO` is 'L' or 'U', given {UPLO!r}")
    return UPLO.upper() == "L"


def eigen(lower: bool, site: Site, m: Array) -> Any:
    """Eigenvalues and vectors of a symmetric matrix, of which one triangle is read."""
    return spectra.eigen(site, kernels.mirrored(m, lower))


def svd(tape: Tape, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """`np.linalg.svd`."""
    matrix = matrices(tape, a, "svd")
    if hermitian:
        return _of_symmetric(tape, square(tape, matrix, "svd"), compute_uv)
    m, n = matrix.shape[-2:]
    k = min(m, n)
    if not compute_uv:
        return stacked(tape, lambda site, x: spectra.singular(site, x)[1], [(k,)], matrix)
    rows, columns = (m, n) if full_matrices else (k, k)

    def one(site: Site, x: Array) -> Any:
        u, s, v = spectra.singular(site, x)
        return _completed(site, u, rows), s, _completed(site, v.T.copy(), columns).T.copy()

    return named("SVDResult", stacked(tape, one, [(m, rows), (k,), (columns, n)], matrix))


def _completed(site: Site, u: Any, columns: int) -> Any:
    """Orthogonal columns with others behind them, that many in all."""
    k = u.shape[1]
    if k == columns:
        return u
    return linalg_algorithms.beside.at(site.tape, u, spectra.orthogonalised(site, u, columns)[0][:, k:])


def _of_symmetric(tape: Tape, matrix: Array, compute_uv: bool) -> Any:
    """The singular values of symmetric matrices, by their eigenvalues."""
    n = matrix.shape[-1]

    def one(site: Site, x: Array) -> Any:
        w, v = eigen(True, site, x)
        return linalg_algorithms.by_size.at(tape, w, v)

    u, s, v = stacked(tape, one, [(n, n), (n,), (n, n)], matrix)
    return named("SVDResult", (u, s, v)) if compute_uv else s


def svdvals(tape: Tape, x: Any) -> Any:
    """`np.linalg.svdvals`."""
    return svd(tape, x, compute_uv=False)


def qr(tape: Tape, a: Any, mode: str = "reduced") -> Any:
    """`np.linalg.qr`."""
    matrix = matrices(tape, a, "qr")
    m, n = matrix.shape[-2:]
    if mode not in ("reduced", "complete", "r"):
        raise tape.type_fault(f"`np.linalg.qr` of mode {mode!r} is not staged", "take 'reduced', 'complete' or 'r'")
    columns = m if mode == "complete" else min(m, n)
    shapes = [(m, columns), (columns, n)]
    if mode == "r":
        return stacked(tape, lambda site, x: spectra.orthogonalised(site, x, columns)[1], shapes[1:], matrix)
    return named("QRResult", stacked(tape, lambda site, x: spectra.orthogonalised(site, x, columns), shapes, matrix))


def refused_eig(tape: Tape, a: Any) -> Any:
    """`np.linalg.eig`."""
    raise tape.type_fault(
        "the eigenvalues of a matrix that need not be symmetric may be complex, and are not staged",
        "of a symmetric one take `np.linalg.eigh` or `eigvalsh`",
    )


# --- stacks of matrices


def stacked(tape: Tape, one: Make, cells: Sequence[tuple[int, ...]], *arrays: Array) -> Any:
    """What `one` makes of a matrix, of every matrix in some stacks that are broadcast; `cells` are the shapes of its
    results."""
    site = Site(tape, tape.here())
    stack = _common(tape, [a.shape[:-2] for a in arrays])
    made = [of_host(tape, np.zeros(stack + cell)) for cell in cells]
    if all(0 in (*stack, *cell) for cell in cells):
        return tuple(made) if len(made) > 1 else made[0]
    if not stack:
        return one(site, *arrays)
    count = prod(stack)
    flat = [
        manipulation.reshaped(manipulation.broadcast(a, stack + a.shape[-2:]), (count, *a.shape[-2:])) for a in arrays
    ]

    held: list[tuple[Any, str]] = []
    awaited = site.is_awaited
    if not awaited and tape.faults is not None and tape.faults.pending:
        tape.faults.refuse("a function is called")
    if awaited:  # one result more: 1.0 where NumPy does not raise
        cells = [*cells, ()]

    def make(*given: Any) -> Any:
        empty = [of_host(tape, np.zeros((count, *cell))) for cell in cells]

        def parts(*xs: Any) -> Any:
            held.clear()
            found = one(Site(tape, site.place, tape.session.opened, held) if awaited else site, *xs)
            found = found if isinstance(found, tuple) else (found,)
            return (*found, *[P["select"](held[0][0], 1.0, 0.0) if held else 1.0][:awaited])

        return tape.session.run(linalg_algorithms.each, lambda f: f(parts, empty, *given))

    found = site.apply(site.function("each", make, [array(a.shape, REAL) for a in flat]), *flat)
    found = found if isinstance(found, tuple) else (found,)
    wholes = [manipulation.reshaped(v, stack + cell) for v, cell in zip(found, cells, strict=True)]
    if awaited:
        fine: Any = wholes.pop()
        if held:
            site.require(reductions.every(fine != 0.0), held[0][1])
    return tuple(wholes) if len(wholes) > 1 else wholes[0]


def named(name: str, values: Any) -> Any:
    """Several results as NumPy gives them."""
    kind = getattr(getattr(np.linalg, "_linalg", None), name, None)
    return values if kind is None else kind(*values)


def _common(tape: Tape, stacks: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*stacks)
    except ValueError:
        raise tape.fault(ShapeError, f"stacks of {' and of '.join(map(str, stacks))} matrices do not fit") from None


def swapped(a: Any) -> Any:
    """Every matrix transposed."""
    return manipulation.transposed(a, [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2])


def real(tape: Tape, value: Any, name: str) -> Array:
    """What may be an array, as one of Reals."""
    found = as_array(tape, value)
    if found is None:
        refuse_no_array(tape, f"`np.linalg.{name}`", value)
    return converted(found, REAL)


def matrices(tape: Tape, value: Any, name: str) -> Array:
    """A matrix or a stack of them."""
    found = real(tape, value, name)
    if found.ndim < 2:
        raise tape.fault(ShapeError, f"`np.linalg.{name}` takes matrices, given an array of shape {found.shape}")
    return found


def square(tape: Tape, value: Any, name: str, home: str = "np") -> Array:
    """A square matrix or a stack of them."""
    found = real(tape, value, name)
    if found.ndim < 2 or found.shape[-1] != found.shape[-2]:
        raise tape.fault(
            ShapeError, f"`{home}.linalg.{name}` takes square matrices, given an array of shape {found.shape}"
        )
    return found


def _misfit(tape: Tape, a: Array, b: Array) -> None:
    raise tape.fault(ShapeError, f"`np.linalg.solve`: shapes {a.shape} and {b.shape} do not fit")
