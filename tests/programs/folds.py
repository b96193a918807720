"""NumPy's reductions: along axes, of elements that conditions choose, running, and where the extremes are."""

import math

import numpy as np

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.programs.record import Program


@rose.jit
def sums(t: Array[2, 3, 2]) -> Vec[2]:
    return t.sum(axis=1)[0] * t.sum((0, 1)) + np.sum(t, axis=(0, 1), keepdims=True)[0, 0] + np.sum(t) + t[0].sum()


@rose.jit
def sums_of_some(x: Vec["n"]) -> float:
    total = np.sum(x, where=x > 0.5, initial=1.0) + np.mean(x, where=x > 0.5)
    return total * np.max(x, where=x < 1.0, initial=-5.0) + np.prod(x, where=x < 0.0)


@rose.jit
def products(a: Mat["n", "m"]) -> Vec["m"]:
    """Products have a derivative at zero, too."""
    return a.prod(axis=0) + np.prod(a) * np.prod(a, axis=1, keepdims=True)[0]


@rose.jit
def means(a: Mat["n", "m"]) -> Mat["n", "m"]:
    return (a - a.mean(axis=1, keepdims=True)) * np.mean(a) / np.mean(a, axis=0) + np.average(a, axis=0)


@rose.jit
def deviations(a: Mat["n", "m"]) -> Mat["n", "m"]:
    centred = (a - a.mean(axis=0)) / a.std(axis=0)
    return centred * a.var() + np.std(a, axis=1, ddof=1, keepdims=True) + np.var(a[0], ddof=1)


@rose.jit
def weighted(x: Vec["n"], w: Vec["n"]) -> float:
    return np.average(x, weights=w) + np.ptp(x) * np.average(x * w, weights=w * w)


@rose.jit
def extremes(a: Mat["n", "m"]) -> Vec["m"]:
    return a.max(axis=0) * a.min() + np.max(a) - np.min(a, axis=0) + np.amax(a, axis=1, keepdims=True)[1]


@rose.jit
def whole_extremes(k: Array["n", int], x: Vec["n"]) -> float:
    return k.max() * x.min() + np.min(k) + k[np.argmin(k)] * x[k.argmax()]


@rose.jit
def places_of_extremes(a: Mat["n", "m"]) -> float:
    rows = a.argmax(axis=1)
    total = a[0, rows[0]] * a[1, np.argmin(a, axis=1)[1]] + a.ravel()[np.argmax(a)]
    return total + a.argmin() + np.argmax(a, axis=0).sum()


@rose.jit
def first_of_ties(x: Vec["n"]) -> float:
    """Of equal elements the first is the extreme, and has the derivative."""
    return x.max() * 2.0 + np.min(x) + np.argmax(x) + np.argmin(x)


@rose.jit
def quantified(x: Vec["n"], p: Array["n", bool]) -> float:
    total = 0.0
    if np.any(x > 1.0) and not p.all():
        total += x.sum()
    if np.all(x > -2.0):
        total += x.prod()
    both = np.array([x > 0.5, p])
    return total + both.all(axis=0).sum() * x[0] + np.any(both, axis=1, keepdims=True).sum() * x[1] + p.sum() + p.mean()


@rose.jit
def running_totals(a: Mat["n", "m"]) -> Mat["n", "m"]:
    return np.cumsum(a, axis=1) * np.cumprod(a, axis=0) + a.cumsum().reshape(a.shape)


@rose.jit
def running_extremes(x: Vec["n"], k: Array["n", int]) -> Vec["n"]:
    best = np.maximum.accumulate(x)
    return best * np.cumsum(k) + np.cumprod(x) - np.minimum.accumulate(x) * k.cumsum()[-1]


@rose.jit
def reduced(a: Mat["n", "m"]) -> Vec["m"]:
    return np.add.reduce(a) * np.multiply.reduce(a, axis=0) + np.maximum.reduce(a)


@rose.jit
def pairwise(x: Vec["n"], y: Vec["m"]) -> Mat["n", "m"]:
    return np.subtract.outer(x, y) ** 2 + np.multiply.outer(x, y)


@rose.jit
def differences(x: Vec["n"]) -> Vec["m"]:
    return np.diff(x)[1:] * np.diff(x, n=2) + np.gradient(x)[1:-1]


@rose.jit
def clipped(x: Vec["n"], low: float, high: float) -> Vec["n"]:
    bounds = np.clip(x, low, high) + np.clip(x, low, None) * x.clip(max=high)
    return bounds * np.sign(x) + np.clip(low, 0.0, 1.0)


@rose.jit
def clipped_ints(k: Array["n", int]) -> Array["n", int]:
    return np.clip(k, -1, 4) * np.sign(k) + k.clip(0)


@rose.jit
def interpolated(x: float, y: Vec["n"]) -> float:
    """A broken line through points that are known, at a point that is not."""
    return np.interp(x, [0.0, 1.0, 2.5, 4.0], y)


@rose.jit
def interpolated_points(x: Vec["m"], at: Vec["n"], y: Vec["n"]) -> Vec["m"]:
    return np.interp(x, at, y, left=-1.0) * np.interp(x, at, y * y)


@rose.jit
def norms(x: Vec["n"], a: Mat["n", "m"]) -> float:
    total = np.linalg.norm(x) * np.linalg.norm(a) + np.linalg.norm(x, 1) - np.linalg.norm(x, ord=np.inf)
    rows = np.linalg.norm(a, axis=1) * np.linalg.norm(a, axis=1, ord=1)
    return total + rows.sum() + np.linalg.norm(x, 3) + np.linalg.norm(a, "fro") + np.linalg.norm(a, 1)


@rose.jit
def softmax_of_rows(a: Mat["n", "m"]) -> Mat["n", "m"]:
    e = np.exp(a - np.max(a, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@rose.jit
def cross_entropy(a: Mat["n", "m"], at: Array["n", int]) -> float:
    logs = a - np.log(np.exp(a).sum(axis=1))[:, None]
    return -np.mean(logs[np.arange(len(at)), at])


@rose.jit
def distances(p: Mat["n", 2]) -> float:
    apart = p[:, None, :] - p[None, :, :]
    squares = (apart**2).sum(axis=-1)
    return np.sqrt(squares[0, 1]) + np.sum(1.0 / (1.0 + squares))


@rose.jit
def ranked(x: Vec["n"], a: Mat["n", "n"]) -> Vec["n"]:
    """Sorting has the derivative of the permutation that it is."""
    order = np.argsort(x)
    rows = np.sort(a, axis=0)[1] * np.median(a, axis=1) + sorted(x, reverse=True)[0]
    return np.sort(x) * a[order, order] + rows * np.median(x) + np.searchsorted(np.sort(x), x)


@rose.jit
def logical(x: Vec["n"], p: Array["n", bool]) -> Vec["n"]:
    either = np.logical_or(p, x > 0.0) & ~np.logical_and(p, x > 1.0) ^ np.logical_xor(p, x < 0.0)
    return np.where(np.logical_not(either), x, 0.5) + (p + p) * x + (p * either) * 2.0


@rose.jit
def compared(x: Vec["n"], y: Vec["n"]) -> float:
    total = 0.0
    if np.allclose(x, y) or np.array_equal(x, y * 2.0):
        total += 1.0
    return (
        total + np.isclose(x, y).sum() + np.count_nonzero(x > y) * x[0] + np.select([x > y, y > 1.0], [x, y], 0.5).sum()
    )


@rose.jit
def builtins_of_arrays(x: Vec["n"], p: Array["n", bool]) -> float:
    total = sum(x) + max(x) - min(x) + sum(v * v for v in x) + abs(x)[0] + len(x) + sum(x[1:], 2.0)
    if any(p) and not all(p):
        total += sum(v for k, v in enumerate(reversed(x)) if k > 0) + math.prod(x) * math.fsum(x)
    return total + sum(u * v for u, v in zip(x, x[::-1]))


A = np.array
M = A([[1.2, 0.7, -1.5], [0.3, -0.5, 0.4]])
T = np.arange(12.0).reshape(2, 3, 2) / 4.0 - 1.0
X = A([1.2, 0.7, -1.5, 0.9])
P = A([True, False, True, True])

PROGRAMS = (
    Program(sums, [(T,)], exact=False),
    Program(sums_of_some, [(X,)]),
    Program(products, [(M,), (A([[0.0, 0.7, -1.5], [0.0, 2.0, 0.0]]),)]),
    Program(means, [(M,)], exact=False),
    Program(deviations, [(M,)], exact=False),
    Program(weighted, [(X, A([0.5, 2.0, 1.0, 0.25]))], exact=False),
    Program(extremes, [(M,)]),
    Program(whole_extremes, [(A([3, -1, 2]), A([0.5, 2.0, 1.0]))], lambda k, x: 3 * 0.5 - 1 - 0.5),
    Program(places_of_extremes, [(M,)], lambda a: a[0, 0] * a[1, 1] + a[0, 0] + 2 + 1),
    Program(first_of_ties, [(A([0.5, 2.0, 1.0]),)], kinks=[(A([2.0, 1.0, 2.0, 1.0]),)]),
    Program(quantified, [(X, P), (-X, ~P)]),
    Program(running_totals, [(M,), (A([[0.0, 0.5], [2.0, 0.0]]),)]),
    Program(running_extremes, [(X, A([2, -1, 3, 0]))]),
    Program(reduced, [(M,)]),
    Program(pairwise, [(X, A([0.5, 2.0]))]),
    Program(differences, [(X,)]),
    Program(clipped, [(X, 0.2, 1.0)]),
    Program(clipped_ints, [(A([7, -3, 2, 0]),)], lambda k: [11, 1, 4, 0]),
    Program(
        interpolated,
        [(0.4, X), (1.0 + 1e-3, X), (3.0, X)],
        lambda x, y: np.interp(x, [0.0, 1.0, 2.5, 4.0], y),
        kinks=[(-0.5, X), (4.5, X), (1.0, X), (4.0, X)],
    ),
    Program(interpolated_points, [(A([0.1, 0.7, 2.2]), A([0.0, 0.5, 1.0, 2.0]), X)]),
    Program(norms, [(A([1.2, -0.7]), M)], exact=False),
    Program(softmax_of_rows, [(M,)], exact=False),
    Program(cross_entropy, [(M, A([2, 0]))], exact=False),
    Program(distances, [(A([[0.5, 1.0], [2.0, -0.3], [0.1, 0.4]]),)], exact=False),
    Program(
        ranked,
        [
            (A([1.2, -0.7, 0.5]), np.concatenate([M, -M[:1] * 0.5])),
            (A([-0.5, 0.3, 2.0]), np.diag([1.0, 2.0, 3.0]) + np.arange(9.0).reshape(3, 3) / 10.0),
        ],
    ),
    Program(logical, [(X, P)]),
    Program(compared, [(X, X[::-1].copy())], kinks=[(X, X)]),
    Program(builtins_of_arrays, [(X, P)], exact=False),
)
