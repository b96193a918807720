"""Arrays under several names: in containers, in functions, in branches and loops; what is written shows everywhere."""

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.record import Program


def row_of(b, k):
    return b[k]


def doubled(y):
    """Changes what it is given, and gives it back."""
    y *= 2.0
    return y


def rebound(y):
    """Binds its own name to another array: the caller's stays."""
    y = y * 3.0
    y[0] = 1.0
    return y


def accumulate(total, *rows):
    for row in rows:
        total += row


@rose.jit
def in_containers(x: Vec["n"]) -> Vec["n"]:
    y, z = x.copy(), x * 2.0
    arrays = [y, z]
    named = {"y": y, "both": (z, y)}
    arrays[0][1] = named["both"][0][0]
    named["y"] += 1.0
    for a in (y, z, y):
        a[0] *= 1.5
    arrays[1] = arrays[0]
    return arrays[1] * z


@rose.jit
def through_functions(a: Mat["n", "m"]) -> Mat["n", "m"]:
    b = a.copy()
    same = doubled(row_of(b, 0))
    same[1] = 0.5
    other = rebound(b[1])
    accumulate(b[-1], other, same)
    return b


@rose.jit
def in_place_operators(x: Vec["n"], k: float) -> Vec["n"]:
    y = x.copy()
    z = y
    y += k
    y -= x * 2.0
    y *= y
    y /= k
    y **= 2
    z %= 1.75
    y[0] += z[1]
    w = z * 3.0
    w //= 0.7
    return y + z * w


@rose.jit
def not_in_place(x: Vec["n"]) -> Vec["n"]:
    """`y = y + 1` binds the name to another array; `y += 1` does not."""
    y = x.copy()
    z = y
    y = y + 1.0
    z += 5.0
    y[0] = z[0]
    return y * z


@rose.jit
def shifted_in_place(x: Vec["n"]) -> Vec["n"]:
    """The right side is read before anything is written."""
    y = x.copy()
    y[1:] = y[:-1] * 2.0
    y[:-1] += y[1:]
    y[:] = y[::-1]
    return y


@rose.jit
def alias_in_a_branch(x: Vec["n"], c: float) -> Vec["n"]:
    y = x.copy()
    z = y
    if c > 0.0:
        z[0] = c * y[1]
        if c > 1.0:
            y[1] = z[0] * c
    else:
        y *= c
    return z


@rose.jit
def alias_in_a_loop(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    z = y
    for i in rose.range(len(x)):
        z[i] = y[0] * 0.5 + z[i]
        if y[i] > 1.0:
            y[0] -= z[i]
    return y


@rose.jit
def chosen_and_read(x: Vec["n"], c: float) -> float:
    """One of two arrays, as a staged condition says: all three may be read."""
    y, z = x.copy(), x * x
    u = y if c > 0.0 else z
    return u.sum() + y[0] * z[1] * u[0]


@rose.jit
def chosen_and_copied(x: Vec["n"], c: float) -> Vec["n"]:
    y, z = x.copy(), x * x
    u = (y if c > 0.0 else z).copy()
    u[0] = c
    return u + y * z


@rose.jit
def three_in_turn(x: Vec["n"], steps: int) -> Vec["n"]:
    a, b, c = x.copy(), x * 0.5, np.zeros(len(x))
    for i in rose.range(steps):
        c[0] += a[0] * b[1]
        a, b, c = b, c, a
        a[1] = a[1] + i
    return a * b - c


@rose.jit
def rebound_in_a_loop(x: Vec["n"]) -> Vec["n"]:
    y = x
    for _ in rose.range(3):
        y = y * 0.5 + x
        y[0] = y[1] * x[0]
    return y


@rose.jit
def rebound_in_a_branch(x: Vec["n"], c: float) -> Vec["n"]:
    y = x.copy()
    if c > 0.0:
        y = np.concatenate([y[1:], y[:1]])
    y[0] *= c
    return y


@rose.jit
def rows_kept(a: Mat["n", "m"]) -> Mat["n", "m"]:
    """A view shows what is written later."""
    b = a.copy()
    first, last = b[0], b[-1]
    for i in rose.range(1, len(a)):
        b[i] += first
        first[0] *= 0.5
    last[1] = first[0]
    return b


@rose.jit
def written_by_a_closure(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()

    def bump(k, by):
        y[k] += by

    bump(0, 1.0)
    for i in rose.range(len(x)):
        bump(i, y[0])
    if x[0] > 0.0:
        bump(1, -2.0)
    return y


@rose.jit
def shapes_that_share(x: Vec[6]) -> Mat[2, 3]:
    """What `reshape` gives is the same array: here it is the only one that is used any more."""
    y = x.copy()
    m = y.reshape(2, 3)
    m[0] = m[1] * 2.0
    m.T[0] += 1.0
    w = np.zeros(4)
    w[1:3] = x[:2]
    return m * w.reshape(2, 2).sum()


@rose.jit
def matrix_built_by_rows(x: Vec["n"]) -> Mat["n", "n"]:
    m = np.zeros((len(x), len(x)))
    for i in rose.range(len(x)):
        row = m[i]
        for j in rose.range(i + 1):
            row[j] = x[i] * x[j]
            m[j, i] = row[j]
    return m


@rose.jit
def arguments_stay(x: Vec["n"], a: Mat["n", "n"]) -> float:
    """Nothing that the caller holds is written: these are arrays of their own."""
    y, b, z = x.copy(), a[0].copy(), a * 1.0
    y[0] = 0.0
    b += 1.0
    z[1] = b
    return (y * x).sum() + (z * a).sum() + b[0]


A = np.array
X = A([1.2, 0.7, -1.5])
M = A([[1.2, 0.7, -1.5], [0.3, -0.5, 0.4], [0.8, 1.1, 0.6]])

PROGRAMS = (
    Program(in_containers, [(X,)]),
    Program(through_functions, [(M,)]),
    Program(in_place_operators, [(X, 0.5)]),
    Program(not_in_place, [(X,)]),
    Program(shifted_in_place, [(X,)]),
    Program(alias_in_a_branch, [(X, 2.0), (X, 0.5), (X, -0.5)]),
    Program(alias_in_a_loop, [(X,)]),
    Program(chosen_and_read, [(X, 1.0), (X, -1.0)]),
    Program(chosen_and_copied, [(X, 1.0), (X, -1.0)]),
    Program(three_in_turn, [(X, 4), (X, 0)]),
    Program(rebound_in_a_loop, [(X,)]),
    Program(rebound_in_a_branch, [(X, 1.5), (X, -1.5)]),
    Program(rows_kept, [(M,)]),
    Program(written_by_a_closure, [(X,), (-X,)]),
    Program(shapes_that_share, [(A([1.2, 0.7, -1.5, 0.9, 2.0, 0.1]),)]),
    Program(matrix_built_by_rows, [(X,)], lambda x: np.outer(x, x)),
    Program(arguments_stay, [(X, M)]),
)
