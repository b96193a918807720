"""Algorithms for matrices in the Python that users write, which are staged as their code is.

Rows lie side by side in memory: inner loops go along them. No loop runs longer than its matrix or
a constant says, NaN or not.
"""

# Arguments are staged arrays. Every loop stays a loop.

from collections.abc import Callable
from typing import Any

from rosejit.frontend.values import rose_functions as rose
from rosejit.numeric import np

EPSILON = 2.0**-52
SWEEPS = 40
"""More than any matrix needs: both iterations converge quadratically."""


class Program:
    """A function whose calls in staged code are rewritten and run as calls of the user's functions are."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What it is in Python."""
        return self.function(*args, **options)

    def __rose_stage__(self, session: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A call in staged code."""
        return session.run(self.function, lambda f: f(*args, **options))

    def at(self, tape: Any, *args: Any, **options: Any) -> Any:
        """The same, for who stages."""
        return self.__rose_stage__(tape.session, args, options)


# --- elimination


@Program
def factored(a: Any) -> Any:
    """The triangles of `a` in one matrix, which row went where, the sign of that order; whether there is an inverse."""
    n = a.shape[0]
    w, order = a.copy(), np.zeros(n, dtype=int)
    sign, regular = 1.0, True
    for k in rose.range(n):
        p = k
        for i in rose.range(k + 1, n):
            if abs(w[i, k]) > abs(w[p, k]):
                p = i
        order[k] = p
        sign = sign if p == k else -sign
        row = w[p].copy()
        w[p] = w[k]
        w[k] = row
        pivot = row[k]
        if pivot == 0.0:
            regular = False
        else:
            for i in rose.range(k + 1, n):
                part = w[i, k] / pivot
                w[i, k] = part
                for j in rose.range(k + 1, n):
                    w[i, j] -= part * row[j]
    return w, order, sign, regular


@Program
def substituted(w: Any, order: Any, b: Any) -> Any:
    """The `x` of `a @ x = b` by the triangles of `a`."""
    n = w.shape[0]
    x = reordered(order, b)
    for k in rose.range(n):
        rest = x[k].copy()
        for i in rose.range(k):
            rest -= w[k, i] * x[i]
        x[k] = rest
    for iteration in rose.range(n):
        k = n - 1 - iteration
        rest = x[k].copy()
        for i in rose.range(k + 1, n):
            rest -= w[k, i] * x[i]
        x[k] = rest / w[k, k]
    return x


@Program
def reordered(order: Any, b: Any) -> Any:
    """The rows of `b` in the order of the elimination."""
    x = b.copy()
    for k in rose.range(b.shape[0]):
        p = order[k]
        row = x[p].copy()
        x[p] = x[k]
        x[k] = row
    return x


@Program
def put_back(order: Any, b: Any) -> Any:
    """The same backwards."""
    n = b.shape[0]
    x = b.copy()
    for turn in rose.range(n):
        k = n - 1 - turn
        p = order[k]
        row = x[p].copy()
        x[p] = x[k]
        x[k] = row
    return x


@Program
def log_determinant(w: Any, sign: Any) -> Any:
    """The sign of the determinant, and the logarithm of its magnitude, by the triangles."""
    total = 0.0
    for k in rose.range(w.shape[0]):
        sign *= np.sign(w[k, k])
        total += np.log(abs(w[k, k]))
    return sign, total


@Program
def determinant(w: Any, sign: Any) -> Any:
    """The product of the pivots."""
    for k in rose.range(w.shape[0]):
        sign *= w[k, k]
    return sign


@Program
def triangular(a: Any) -> Any:
    """The lower triangle whose product with its transpose is `a`, and whether `a` is positive definite."""
    n = a.shape[0]
    u, definite = np.zeros((n, n)), True
    for i in rose.range(n):
        for j in rose.range(i, n):
            u[i, j] = a[j, i]
    for k in rose.range(n):
        rest = u[k, k]
        if rest > 0.0:
            root = np.sqrt(rest)
            row = u[k] / root
            row[k] = root
            u[k] = row
            for i in rose.range(k + 1, n):
                part = row[i]
                for j in rose.range(i, n):
                    u[i, j] -= part * row[j]
        else:
            definite = False
    return u.T.copy(), definite


@Program
def forward(t: Any, b: Any, unit: bool) -> Any:
    """The `x` of `t @ x = b`, of which the lower triangle of `t` is read; and whether no element divides by zero."""
    x, regular = b.copy(), True
    for k in rose.range(t.shape[0]):
        rest = x[k].copy()
        for i in rose.range(k):
            rest -= t[k, i] * x[i]
        if not unit:
            if t[k, k] == 0.0:
                regular = False
            rest /= t[k, k]
        x[k] = rest
    return x, regular


# --- reflections


@Program
def reflection(x: Any, k: Any) -> Any:
    """The vector and the factor that reflect the elements of `x` from `k` on to a multiple of the first of them, and
    that multiple, as LAPACK has it: where nothing is left to be zeroed nothing is reflected."""
    n = x.shape[0]
    v = np.zeros(n)
    below = 0.0
    for i in rose.range(k + 1, n):
        below += x[i] * x[i]
    first = x[k]
    v[k] = 1.0
    factor, end = 0.0, first
    if below != 0.0:
        end = -np.copysign(np.sqrt(first * first + below), first)
        factor = (end - first) / end
        for i in rose.range(k + 1, n):
            v[i] = x[i] / (first - end)
    return v, factor, end


@Program
def reflect(w: Any, v: Any, factor: Any, start: Any, first: Any) -> None:
    """Reflect the rows of `w` from `start` on, in the columns from `first` on."""
    rows, columns = w.shape
    mean = np.zeros(columns)
    for i in rose.range(start, rows):
        for c in rose.range(first, columns):
            mean[c] += v[i] * w[i, c]
    for i in rose.range(start, rows):
        part = factor * v[i]
        for c in rose.range(first, columns):
            w[i, c] -= part * mean[c]


@Program
def of_reflections(vectors: Any, factors: Any, columns: int) -> Any:
    """The first columns of the product of reflections: the k-th leaves what is before row and column k as it is."""
    count, n = vectors.shape
    q = np.zeros((n, columns))
    for i in rose.range(columns):
        q[i, i] = 1.0
    for turn in rose.range(count):
        k = count - 1 - turn
        reflect(q, vectors[k], factors[k], k, k)
    return q


@Program
def orthogonalised(a: Any, columns: int) -> Any:
    """The first columns of an orthogonal matrix, and the triangle, whose product is `a`."""
    m, n = a.shape
    count = min(m, n)
    w, vectors, factors = a.copy(), np.zeros((count, m)), np.zeros(count)
    for k in rose.range(count):
        v, factor, end = reflection(w[:, k].copy(), k)
        vectors[k], factors[k] = v, factor
        reflect(w, v, factor, k, k)
        for i in rose.range(k, m):
            w[i, k] = 0.0
        w[k, k] = end
    return of_reflections(vectors, factors, columns), w


# --- eigenvalues: a tridiagonal matrix by reflections, then its QL iteration


@Program
def tridiagonal(a: Any) -> Any:
    """The diagonal, the one below it, and the transpose of the orthogonal matrix that makes `a` tridiagonal."""
    n = a.shape[0]
    w, below = a.copy(), np.zeros(n)
    vectors, factors = np.zeros((n, n)), np.zeros(n)
    for k in rose.range(n - 1):
        v, factor, end = reflection(w[k].copy(), k + 1)
        vectors[k], factors[k], below[k] = v, factor, end
        mean = np.zeros(n)
        for i in rose.range(k + 1, n):
            for j in rose.range(k + 1, n):
                mean[j] += v[i] * w[i, j]
        mean *= factor
        mean -= (0.5 * factor * np.dot(mean, v)) * v
        for i in rose.range(k + 1, n):
            here, there = v[i], mean[i]
            for j in rose.range(k + 1, n):
                w[i, j] -= here * mean[j] + there * v[j]
    return np.diag(w).copy(), below, of_reflections(vectors, factors, n).T.copy()


@Program
def ql_step(d: Any, e: Any, z: Any, place: Any, m: Any) -> Any:
    """One implicit step of the QL iteration on the rows from `place` to `m`; gives the shift. (EISPACK's `tql2`.)"""
    g = d[place]
    p = (d[place + 1] - g) / (2.0 * e[place])
    r = np.copysign(np.hypot(p, 1.0), p)
    d[place] = e[place] / (p + r)
    d[place + 1] = e[place] * (p + r)
    after, shift = d[place + 1], g - d[place]
    for i in rose.range(place + 2, d.shape[0]):
        d[i] -= shift
    p, first = d[m], e[place + 1]
    c, c2, c3, s, s2 = 1.0, 1.0, 1.0, 0.0, 0.0
    for turn in rose.range(m - place):
        i = m - 1 - turn
        c3, c2, s2 = c2, c, s
        g, h = c * e[i], c * p
        r = np.hypot(p, e[i])
        e[i + 1] = s * r
        s, c = e[i] / r, p / r
        p = c * d[i] - s * g
        d[i + 1] = h + s * (c * g + s * d[i])
        for k in rose.range(z.shape[1]):
            upper, lower = z[i, k], z[i + 1, k]
            z[i + 1, k] = s * upper + c * lower
            z[i, k] = c * upper - s * lower
    p = -s * s2 * c3 * first * e[place] / after
    e[place], d[place] = s * p, c * p
    return shift


@Program
def ql(d: Any, e: Any, z: Any) -> Any:
    """The eigenvalues of a tridiagonal matrix in ascending order, and its eigenvectors times `z`, as rows."""
    n = d.shape[0]
    d, e, z = d.copy(), e.copy(), z.copy()
    moved, size = 0.0, 0.0
    for place in rose.range(n):
        size = max(size, abs(d[place]) + abs(e[place]))
        m, turns = place + 1, 0
        while m > place and turns < SWEEPS:
            m = place
            while m < n - 1 and abs(e[m]) > EPSILON * size:
                m += 1
            if m > place:
                moved += ql_step(d, e, z, place, m)
                turns += 1
                if not abs(e[place]) > EPSILON * size:
                    m = place
        d[place] += moved if turns < SWEEPS else np.nan
        e[place] = 0.0
    order = np.argsort(d)
    return d[order], z[order]


@Program
def eigen(a: Any) -> Any:
    """The eigenvalues of a symmetric matrix in ascending order, and its eigenvectors in columns."""
    scale = np.max(abs(a))
    scale = scale if scale > 0.0 and scale < np.inf else 1.0
    spoilt = np.sum(a * 0.0)  # NaN if anything is not finite
    w, z = ql(*tridiagonal(a / scale))
    return w * scale + spoilt, z.T + spoilt


# --- singular values: the rows are turned two by two until they are orthogonal


@Program
def turned(b: Any, v: Any, squares: Any, p: Any, q: Any) -> Any:
    """Turn the rows `p` and `q` of `b` and `v`, if they are not orthogonal; whether they were not."""
    inner = np.dot(b[p], b[q])
    turns = abs(inner) > EPSILON * b.shape[1] ** 0.5 * np.sqrt(squares[p] * squares[q])
    if turns:
        ratio = (squares[q] - squares[p]) / (2.0 * inner)
        t = np.copysign(1.0, ratio) / (abs(ratio) + np.hypot(1.0, ratio))
        c = 1.0 / np.hypot(1.0, t)
        s = c * t
        squares[p] -= t * inner
        squares[q] += t * inner
        for k in rose.range(b.shape[1]):
            x, y = b[p, k], b[q, k]
            b[p, k] = c * x - s * y
            b[q, k] = s * x + c * y
            x, y = v[p, k], v[q, k]
            v[p, k] = c * x - s * y
            v[q, k] = s * x + c * y
    return turns


@Program
def orthogonal_rows(b: Any) -> Any:
    """The rows of `b` turned until they are orthogonal, and the orthogonal matrix that turned them."""
    n = b.shape[0]
    b, v = b.copy(), np.zeros((n, n))
    for i in rose.range(n):
        v[i, i] = 1.0
    again, sweeps = True, 0
    while again and sweeps < SWEEPS:
        again = False
        squares = np.sum(b * b, axis=1)
        for p in rose.range(n - 1):
            for q in rose.range(p + 1, n):
                if turned(b, v, squares, p, q):
                    again = True
        sweeps += 1
    return b, v


@Program
def singular(a: Any) -> Any:
    """The singular values in descending order, between their vectors in columns and in rows. There are not more columns
    than rows."""
    n = a.shape[1]
    scale = np.max(abs(a))
    scale = scale if scale > 0.0 and scale < np.inf else 1.0
    q, r = orthogonalised(a / scale, n)
    r = r[:n].copy()
    _, near = eigen(r @ r.T)  # rows that are orthogonal but for rounding errors, which two or three sweeps take away
    near = near[:, ::-1].T.copy()
    b, turns = orthogonal_rows(near @ r)
    turns = turns @ near
    sizes = np.sqrt(np.sum(b * b, axis=1))
    order = np.argsort(-sizes)
    s, b, turns = sizes[order], b[order], turns[order]
    for j in rose.range(n):
        b[j] = b[j] / (s[j] if s[j] > 0.0 else 1.0)
    if not s[n - 1] > 0.0:
        basis, _ = orthogonalised(b.T.copy(), n)
        for j in rose.range(n):
            if not s[j] > 0.0:
                b[j] = basis[:, j]
    spoilt = np.sum(a * 0.0)
    return q @ turns.T + spoilt, s * scale + spoilt, b + spoilt


@Program
def pseudoinverse(u: Any, s: Any, v: Any, cutoff: Any) -> Any:
    """The inverse on what is left of a matrix without its small singular values."""
    limit = cutoff * np.max(s)
    scaled = u.T.copy()
    for j in rose.range(s.shape[0]):
        scaled[j] = scaled[j] / s[j] if s[j] > limit else scaled[j] * 0.0
    return v.T @ scaled


@Program
def slopes(s: Any, cutoff: Any) -> Any:
    """How the pseudoinverse changes with the even and the odd part of a change of the matrix, and with what is outside
    of its columns: divided differences of 1 / s, which is 0 where s is cut off."""
    kept = s > cutoff * np.max(s)
    y = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    both, same = kept[:, None] & kept, kept[:, None] == kept
    apart, total = np.where(same, 1.0, s[:, None] - s), s[:, None] + s
    even = np.where(both, -y[:, None] * y, (y[:, None] - y) / apart)
    odd = (y[:, None] + y) / np.where(total == 0.0, 1.0, total)
    return 0.5 * even, 0.5 * odd, y * y


@Program
def least_squares(u: Any, s: Any, v: Any, b: Any, cutoff: Any) -> Any:
    """The shortest solution, by the singular value decomposition."""
    limit = cutoff * np.max(s)
    parts = u.T @ b
    for j in rose.range(s.shape[0]):
        parts[j] = parts[j] / s[j] if s[j] > limit else parts[j] * 0.0
    return v.T @ parts


@Program
def rank(s: Any, cutoff: Any) -> Any:
    """How many singular values count."""
    return np.count_nonzero(s > cutoff * np.max(s))


# --- the exponential: a rational function of a matrix made small by halving, then squarings

PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
SMALL = 4.25


@Program
def exponential_parts(a: Any, unit: Any) -> Any:
    """Numerator and denominator of the exponential of `a` halved some times, and how often that was. (Higham, 2005.)"""
    size, scale, halvings = np.max(np.sum(abs(a), axis=0)), 1.0, 0
    while size > SMALL and halvings < 1100:
        size *= 0.5
        scale *= 0.5
        halvings += 1
    b, x = PADE, a * scale
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x2 @ x4
    odd = x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * unit
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * unit
    odd = x @ odd
    return even + odd, even - odd, halvings


@Program
def squared(x: Any, times: Any) -> Any:
    """`x` squared that often."""
    for _ in rose.range(times):
        x = x @ x
    return x


# --- parts put together


@Program
def by_size(w: Any, v: Any) -> Any:
    """Singular values and vectors by the eigenvalues and eigenvectors of a symmetric matrix."""
    order = np.argsort(-abs(w))
    values, u = w[order], v[:, order].copy()
    return u, abs(values), (u * np.sign(values)).T.copy()


@Program
def beside(a: Any, b: Any) -> Any:
    """Two matrices, one on the right of the other."""
    return np.concatenate([a, b], axis=1)


def each(one: Callable[..., Any], made: Any, *stacks: Any) -> Any:
    """What `one` makes of each of the matrices in some stacks, in arrays like those `made`."""
    found = [like.copy() for like in made]
    for k in rose.range(len(stacks[0])):
        parts = one(*[stack[k] for stack in stacks])
        for whole, value in zip(found, parts, strict=True):
            whole[k] = value
    return tuple(found)
