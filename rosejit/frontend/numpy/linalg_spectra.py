"""Eigenvalues, singular values and orthogonal triangles of one matrix, with the rules of their derivatives.

Vectors of values that are equal are not determined: their derivatives divide by zero. Those of the values are right,
and those of the other vectors.
"""

# Values of users are of any type: what they are is asked while staging. The operators of arrays are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false

import math
from typing import Any

from rosejit.frontend.arrays.access import build
from rosejit.frontend.arrays.array import Array, fresh
from rosejit.frontend.arrays.broadcast import broadcast_map
from rosejit.frontend.arrays.reductions import chosen, total
from rosejit.frontend.numpy import linalg_algorithms as algorithms
from rosejit.frontend.numpy.linalg_kernels import Site, identity, part, triangle_inverse, upper, zero_tangent
from rosejit.frontend.values.scalars import P, Tan, wrap
from rosejit.ir.types import REAL


def eigen(site: Site, a: Array) -> tuple[Any, Any]:
    """The eigenvalues of a symmetric matrix, ascending, and their vectors in columns."""

    w, v = site.kernel("eigh", lambda a: algorithms.eigen.at(site.tape, a), a, rule=_no_change, routine=True)
    return _eigenvalues(site, a, w, v), _eigenvectors(site, a, w, v)


def _no_change(y: Any, a: Any, da: Any) -> Any:
    """The tangents of factors that are handed on with rules of their own."""
    return tuple(zero_tangent(v, v.shape) for v in y)


def _eigenvalues(site: Site, a: Any, w: Any, v: Any) -> Any:
    def rule(y: Any, a: Any, w: Any, v: Any, da: Any, dw: Any, dv: Any) -> Any:
        vectors = _eigenvectors(site, a, w, v)
        return total(vectors * (da @ vectors), 0)

    return site.kernel("eigenvalues", lambda a, w, v: w.copy(), a, w, v, rule=rule)


def _eigenvectors(site: Site, a: Any, w: Any, v: Any) -> Any:
    def rule(y: Any, a: Any, w: Any, v: Any, da: Any, dw: Any, dv: Any) -> Any:
        values = _eigenvalues(site, a, w, v)
        change = da @ y
        return y @ _over_gaps(y.T @ change, values) + _undetermined(change, values)

    return site.kernel("eigenvectors", lambda a, w, v: v.copy(), a, w, v, rule=rule)


def _over_gaps(t: Any, w: Any) -> Any:
    """Tangents divided by how far the value of the column is above that of the row; 0 on the diagonal, and 0 where
    values are equal and the tangent is 0: on the way back, of vectors that nobody reads."""
    tape = w.tape

    def cell(at: tuple[Any, ...]) -> Any:
        i, j = (wrap(tape, k) for k in at)
        return chosen(i == j, math.inf, w[j] - w[i]).atom

    n = w.shape[0]
    return _ratios(t, fresh(tape, build(tape, (n, n), REAL, cell)))  # pyright: ignore[reportArgumentType]  # an array


def _undetermined(t: Any, w: Any) -> Any:
    """0, but no number in the columns of tangents whose values equal one beside them, unless the tangent is 0."""
    tape, n = w.tape, w.shape[0]

    def cell(at: tuple[Any, ...]) -> Any:
        (j,) = (wrap(tape, k) for k in at)
        before, after = w[chosen(j > 0, j - 1, 0)], w[chosen(j < n - 1, j + 1, n - 1)]
        return chosen(((j > 0) & (before == w[j])) | ((j < n - 1) & (after == w[j])), 0.0, math.inf).atom

    return _ratios(t, fresh(tape, build(tape, (n,), REAL, cell)))  # pyright: ignore[reportArgumentType]  # an array


def _ratios(t: Any, divisors: Any) -> Any:
    """Tangents divided by numbers; 0 by 0 is 0."""
    tape = t.tape
    return broadcast_map(tape, lambda x, by: Tan(tape, tape.apply(P["tratio"], x.atom, by.atom)), t, divisors)


def singular(site: Site, a: Any) -> tuple[Any, Any, Any]:
    """The singular values of a matrix, descending, between their vectors in columns and in rows."""
    if a.shape[0] < a.shape[1]:
        u, s, v = singular(site, a.T.copy())
        return v.T, s, u.T

    held = _factors(site, a)
    return _left(site, a, *held), _singular_values(site, a, *held), _right(site, a, *held)


def _singular_values(site: Site, a: Any, u: Any, s: Any, v: Any) -> Any:
    def rule(y: Any, a: Any, u: Any, s: Any, v: Any, da: Any, *tangents: Any) -> Any:
        return total(_left(site, a, u, s, v) * (da @ _right(site, a, u, s, v).T), 0)

    return site.kernel("singular_values", lambda a, u, s, v: s.copy(), a, u, s, v, rule=rule)


def _left(site: Site, a: Any, u: Any, s: Any, v: Any) -> Any:
    def rule(y: Any, a: Any, u: Any, s: Any, v: Any, da: Any, *tangents: Any) -> Any:
        sizes, right = _singular_values(site, a, u, s, v), _right(site, a, u, s, v)
        change = da @ right.T
        inner = y.T @ change
        found = y @ _over_gaps(inner * sizes + sizes[:, None] * inner.T, sizes * sizes)
        found = found + _undetermined(change, sizes)
        return found if a.shape[0] == a.shape[1] else found + (change - y @ inner) / sizes

    return site.kernel("left_vectors", lambda a, u, s, v: u.copy(), a, u, s, v, rule=rule)


def _right(site: Site, a: Any, u: Any, s: Any, v: Any) -> Any:
    def rule(y: Any, a: Any, u: Any, s: Any, v: Any, da: Any, *tangents: Any) -> Any:
        sizes, left = _singular_values(site, a, u, s, v), _left(site, a, u, s, v)
        change = left.T @ da
        inner = change @ y.T
        turned = _over_gaps(sizes[:, None] * inner + inner.T * sizes, sizes * sizes)
        return turned.T @ y + _undetermined(change.T, sizes).T

    return site.kernel("right_vectors", lambda a, u, s, v: v.copy(), a, u, s, v, rule=rule)


def orthogonalised(site: Site, a: Any, columns: int) -> tuple[Any, Any]:
    """The first columns of an orthogonal matrix, and the triangle, whose product is `a`; differentiated step by step if
    there are more of them than the columns of `a` determine."""
    m, n = a.shape
    if columns > n:
        return site.kernel(f"complete_qr{columns}", lambda a: algorithms.orthogonalised.at(site.tape, a, columns), a)
    if m < n:
        q, r = orthogonalised(site, a[:, :m].copy(), m)
        return q, algorithms.beside.at(site.tape, r, q.T @ a[:, m:])

    def make(a: Any) -> Any:
        q, r = algorithms.orthogonalised.at(site.tape, a, n)
        return q, r[:n].copy()

    def rule(y: Any, a: Any, da: Any) -> Any:
        q, r = y
        across = da @ triangle_inverse(site, r.T.copy()).T
        inner = q.T @ across
        below: Any = part(inner, lambda i, j: j < i)
        turn = below - below.T
        return across + q @ (turn - inner), upper(inner - turn) @ r

    return site.kernel("qr", make, a, rule=rule, routine=True)


# --- least squares


EXACT = 1e-8
"""Up to here what is cut off are zeros with rounding errors."""


def pseudoinverse(site: Site, a: Any, cutoff: Any) -> Any:
    """The pseudoinverse: singular values up to `cutoff` times the largest are zeros. The rank is that of all around."""
    if not isinstance(cutoff, float) or cutoff > EXACT:
        return _truncated(site, a, cutoff)

    def make(a: Any) -> Any:
        return algorithms.pseudoinverse.at(site.tape, *_factors(site, a), cutoff)

    def rule(y: Any, a: Any, da: Any) -> Any:
        outside, inside = _less_identity(a @ y), _less_identity(y @ a)
        return -(y @ da @ y) - (y @ y.T) @ (da.T @ outside) - (inside @ da.T) @ (y.T @ y)

    return site.kernel(f"pinv{cutoff}", make, a, rule=rule)


def _truncated(site: Site, a: Any, cutoff: Any) -> Any:
    """The same where singular values are cut off that are not zero."""
    if a.shape[0] < a.shape[1]:
        return _truncated(site, a.T.copy(), cutoff).T

    def make(a: Any, cutoff: Any) -> Any:
        return algorithms.pseudoinverse.at(site.tape, *_factors(site, a), cutoff)

    def rule(y: Any, a: Any, cutoff: Any, da: Any, dcutoff: Any) -> Any:
        u, s, v = singular(site, a)
        even, odd, scale = algorithms.slopes.at(site.tape, s, cutoff)
        across = da @ v.T
        inner = u.T @ across
        change = u @ (even * (inner + inner.T) + odd * (inner - inner.T)) + (across - u @ inner) * scale
        return (change @ v).T

    return site.kernel("truncated_pinv", make, a, cutoff, rule=rule)


def _factors(site: Site, a: Any) -> tuple[Any, Any, Any]:
    """The factors of the singular value decomposition, without derivative."""
    if a.shape[0] < a.shape[1]:
        u, s, v = _factors(site, a.T.copy())
        return v.T, s, u.T
    return site.kernel("svd", lambda a: algorithms.singular.at(site.tape, a), a, rule=_no_change, routine=True)


def _less_identity(a: Any) -> Any:
    return a - identity(a.tape, a.shape[0])


def least_squares(site: Site, a: Any, b: Any, cutoff: Any) -> tuple[Any, Any, Any]:
    """The shortest `x` for which `a @ x` is nearest to `b`, the singular values, and how many of them count."""
    s = singular(site, a)[1]
    rank = algorithms.rank.at(site.tape, s, cutoff)
    if not isinstance(cutoff, float) or cutoff > EXACT:
        return _truncated(site, a, cutoff) @ b, s, rank

    def make(a: Any, b: Any) -> Any:
        return algorithms.least_squares.at(site.tape, *_factors(site, a), b, cutoff)

    def rule(x: Any, a: Any, b: Any, da: Any, db: Any) -> Any:
        y = pseudoinverse(site, a, cutoff)
        change = y @ (db - da @ x) + (y @ y.T) @ (da.T @ (b - a @ x))
        return change - _less_identity(y @ a) @ (da.T @ (y.T @ x))

    return site.kernel(f"lstsq{cutoff}", make, a, b, rule=rule), s, rank
