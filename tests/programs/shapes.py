"""Arrays in other shapes, broadcast, joined, made: with the functions of NumPy."""

import numpy as np
from numpy.typing import NDArray

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.programs.record import Program


@rose.jit
def described(t: NDArray[np.float64]) -> float:
    return len(t) * t[0, 0, 0] + t.ndim * t[0, 1, 0] + t.size + t.shape[1] + len(t[0, 0]) + np.ndim(t) + np.shape(t)[2]


@rose.jit
def reshaped(x: Vec[6]) -> Mat[3, 2]:
    m = x.reshape(2, 3)
    return m.T * x.reshape((3, -1)) + np.reshape(m * 2.0, (3, 2))


@rose.jit
def ravelled(a: Mat["n", "m"]) -> Vec["k"]:
    return a.ravel() * a.T.ravel() + a.flatten() + a.T.reshape(-1)


@rose.jit
def turned(t: Array[2, 3, 2]) -> Array[2, 2, 3]:
    return t.transpose(0, 2, 1) * np.moveaxis(t, 1, -1) + t.swapaxes(1, 2) + np.transpose(t.T, (2, 0, 1))


@rose.jit
def transposed(a: Mat["n", "m"]) -> Mat["m", "n"]:
    return a.T * 2.0 + a.T.T.T


@rose.jit
def flipped(a: Mat["n", "m"]) -> Mat["n", "m"]:
    return np.flip(a) * np.fliplr(a) + np.flipud(a) + np.flip(a, axis=1)


@rose.jit
def grown_and_squeezed(x: Vec["n"]) -> Vec["n"]:
    column = np.expand_dims(x, 1)
    return np.squeeze(column * 2.0) + column.squeeze(axis=1) * x + np.atleast_2d(x)[0]


@rose.jit
def broadcast(a: Mat["n", "m"], x: Vec["m"], y: Vec["n"]) -> Mat["n", "m"]:
    return a * x + y[:, None] / x - np.broadcast_to(x, a.shape) * 2.0


@rose.jit
def broadcast_high(t: Array[2, 3, 2], x: Vec[2]) -> Array[2, 3, 2]:
    return t * x + t[:1] - t[:, :1, :1] * x[:, None, None]


@rose.jit
def stacked(x: Vec["n"], y: Vec["n"]) -> Mat["n", 2]:
    both = np.stack([x, y])
    return np.stack((x * y, both[0]), axis=1) + np.column_stack([y, x]) + both.T


@rose.jit
def concatenated(x: Vec["n"], a: Mat[2, "n"]) -> Mat[3, "n"]:
    lower = np.concatenate([x[:1], x[1:]])
    return np.concatenate([a, lower[None]]) * np.vstack([x, a]) + np.append(x[1:], x[0])


@rose.jit
def side_by_side(a: Mat["n", 2], x: Vec["n"]) -> Mat["n", 5]:
    return np.concatenate((a, a * 2.0, x[:, None]), axis=1) + np.hstack([x[:, None], a, a])


@rose.jit
def joined_in_a_loop(x: Vec["n"]) -> Vec["n"]:
    y = x
    for _ in rose.range(3):
        y = np.concatenate([y[1:], [y[0] * 2.0]])
        y = np.stack([y, x])[0] + np.roll(y, 1)
    return y


@rose.jit
def long_joined(x: Vec["n"]) -> Vec["m"]:
    """More than are written out one by one."""
    return np.concatenate([x, x * x, x[::-1]])


@rose.jit
def made_like(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros_like(x)
    z = np.ones_like(x) * x[0]
    w = np.full_like(x, 2.0)
    w[1] = x[1]
    v = np.empty_like(x)
    v[:] = x
    return y + z * w - v


@rose.jit
def made_filled(c: float, n: int) -> Mat[2, 3]:
    e = np.empty((2, 3))
    e[:] = np.full((2, 3), c)
    e[0] += np.full(3, n)
    return e + np.ones((2, 3)) * c - np.zeros(3)


@rose.jit
def made_of_numbers(c: float, k: int) -> Mat[2, 2]:
    m = np.array([[c, 1.0], [k, c * k]])
    return m @ np.array([[1, 0], [2, 1]]) + np.asarray([c, 2.0])


@rose.jit
def grids(a: float, b: float) -> Vec[4]:
    return np.linspace(a, b, 4) * np.arange(4) + np.arange(0.0, 2.0, 0.5) * np.linspace(0.0, 1.0, 4)


@rose.jit
def identities(x: Vec[3]) -> Mat[3, 3]:
    return np.eye(3) * x + np.eye(3, k=1) - np.identity(3) @ np.diag(x)


@rose.jit
def repeated(x: Vec["n"]) -> Mat[2, "m"]:
    return np.tile(x, 2) * np.repeat(x, 2) + np.tile(x, (2, 2))


@rose.jit
def padded(x: Vec["n"]) -> Vec["m"]:
    return np.pad(x, 1) * np.pad(x, (2, 0), constant_values=1.5)


@rose.jit
def triangles(a: Mat["n", "n"]) -> Mat["n", "n"]:
    return np.tril(a) @ np.triu(a, 1) + np.diag(np.diag(a)) * np.trace(a) + a.trace()


@rose.jit
def diagonals(a: Mat[3, 3]) -> Vec[2]:
    return np.diagonal(a, 1) * a.diagonal()[:2] + np.diag(a, -1)


@rose.jit
def parted(x: Vec[6]) -> Vec[2]:
    a, b, c = np.split(x, 3)
    d, e = np.array_split(x, 2)
    return a * b + c - d[1:] * e[:2]


@rose.jit
def meshed(x: Vec["n"], y: Vec["m"]) -> Mat["m", "n"]:
    u, v = np.meshgrid(x, y)
    return u * v + u


@rose.jit
def comprehended(x: Vec["n"], a: Mat["n", "m"]) -> Mat["n", "m"]:
    rows = [[x[i] * a[i, j] for j in rose.range(a.shape[1])] for i in rose.range(len(x))]
    return np.array(rows) + np.stack([a[i] * 2.0 for i in rose.range(len(x))])


@rose.jit
def comprehended_on_the_host(x: Vec["n"]) -> Mat[3, "n"]:
    return np.array([x * k for k in range(3)]) + np.array([v * v for v in x])


@rose.jit
def converted(x: Vec["n"], k: Array["n", int], p: Array["n", bool]) -> Vec["n"]:
    whole = (x * 3.0).astype(int)
    return x * k.astype(float) + p.astype(float) * x + whole + np.array(k, dtype=float) * np.float64(x[0])


@rose.jit
def one_element(a: Mat[1, 1], x: Vec["n"]) -> float:
    c = np.array(x[0])
    return a.item() * x.item(1) + c * 2.0 + c[()] + float(x[:1].sum())


A = np.array
T = np.arange(12.0).reshape(2, 3, 2) / 4.0 - 1.0
M = A([[1.2, 0.7, -1.5], [0.3, -0.5, 0.4], [0.8, 1.1, 0.6]])
X = A([1.2, 0.7, -1.5])
Y = A([0.5, 2.0, 0.8])
SIX = A([1.2, 0.7, -1.5, 0.9, 2.0, 0.1])

PROGRAMS = (
    Program(described, [(T,)]),
    Program(reshaped, [(SIX,)]),
    Program(ravelled, [(M[:2],)]),
    Program(turned, [(T,)], lambda t: t.transpose(0, 2, 1) ** 2 + t.transpose(0, 2, 1) * 2),
    Program(transposed, [(M[:2],)], lambda a: 3 * a.T),
    Program(flipped, [(M[:2],)]),
    Program(grown_and_squeezed, [(X,)], lambda x: 3 * x + x * x),
    Program(broadcast, [(M, X, Y)]),
    Program(broadcast_high, [(T, A([0.5, 2.0]))]),
    Program(stacked, [(X, Y)]),
    Program(concatenated, [(X, M[:2])]),
    Program(side_by_side, [(M[:, :2], X)]),
    Program(joined_in_a_loop, [(X,)]),
    Program(long_joined, [(np.linspace(-1.0, 2.0, 12),)]),
    Program(made_like, [(X,)]),
    Program(made_filled, [(1.5, 2)]),
    Program(made_of_numbers, [(1.5, 2)]),
    Program(grids, [(0.5, 2.0)], exact=False),
    Program(identities, [(X,)]),
    Program(repeated, [(X,)]),
    Program(padded, [(X,)]),
    Program(triangles, [(M,)], exact=False),
    Program(diagonals, [(M,)]),
    Program(parted, [(SIX,)]),
    Program(meshed, [(X, Y[:2])]),
    Program(comprehended, [(X, M)]),
    Program(comprehended_on_the_host, [(X,)]),
    Program(converted, [(X, A([2, -1, 3]), A([True, False, True]))]),
    Program(one_element, [(A([[0.5]]), X)], lambda a, x: a[0, 0] * x[1] + 4 * x[0]),
)
