"""Arrays of any rank, indexed with numbers, slices, integers and masks; read and written."""

import numpy as np

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.programs.record import Program

EVEN = np.array([True, False, True, False])
CORNERS = np.array([0, -1])


@rose.jit
def three_axes(t: Array[2, 3, 2], i: int) -> float:
    return t[1, 2, 0] * t[0, 0, 1] + t[i][1][1] ** 2 + t[-1, i, -1]


@rose.jit
def sliced(x: Vec["n"]) -> Vec["n-1"]:
    """Slices are values: views that are read."""
    return x[1:] * x[:-1] + x[:-1][::-1]


@rose.jit
def backwards(x: Vec["n"]) -> Vec["m"]:
    return x[::-1][1:] * x[-2::-1]


@rose.jit
def strided(x: Vec[6]) -> Vec[3]:
    return x[::2] * x[5:0:-2] - x[1:4]


@rose.jit
def ellipsis_and_new_axes(t: Array[2, 3, 2]) -> Mat[2, 3]:
    return t[..., 0] * t[:, :, 1] + t[0, None, :, 1]


@rose.jit
def written_backwards(x: Vec["n"]) -> Vec["n"]:
    y = x.copy()
    y[::-1] = x * x
    z = y[::-2]
    z[0] = x[0]
    return y


@rose.jit
def written_block(a: Mat[3, 3], c: float) -> Mat[3, 3]:
    b = a.copy()
    b[:2, 1:] = c * a[1:, :2]
    b[2] = c
    b[:, 0] *= b[2, 2]
    return b


@rose.jit
def rows_written_in_loops(a: Mat["n", "m"], c: float) -> Mat["n", "m"]:
    b = a.copy()
    for i in rose.range(b.shape[0]):
        row = b[i]
        row[0] = c * row[1]
        for j in rose.range(1, b.shape[1]):
            row[j] += row[j - 1]
        b[i, 1:] *= 2.0
    return b


@rose.jit
def view_of_transpose(a: Mat[2, 3]) -> Mat[2, 3]:
    b = a.copy()
    t = b.T
    t[2] = t[0] * t[1]
    column = b[:, 1]
    column += 1.0
    return b


@rose.jit
def deep_views(t: Array[2, 3, 2], i: int) -> Array[2, 3, 2]:
    b = t.copy()
    side = b[:, 1]
    side[i] = b[i, 0] * 2.0
    line = side[:, 1]
    line[0] += t[1, 2, 1]
    return b


@rose.jit
def gathered_known(x: Vec["n"]) -> Vec[4]:
    return x[[2, 0, 0, -1]] ** 2 * x[CORNERS][[0, 1, 1, 0]]


@rose.jit
def gathered_staged(x: Vec["n"], at: Array["m", int]) -> Vec["m"]:
    return x[at] * x[at[::-1]]


@rose.jit
def gathered_rows(a: Mat["n", "m"], at: Array["k", int]) -> Mat["k", "m"]:
    return a[at] * a[0]


@rose.jit
def gathered_columns(a: Mat["n", "m"], at: Array["k", int]) -> Mat["n", "k"]:
    return a[:, at] + a[:, [0]]


@rose.jit
def gathered_cells(a: Mat["n", "m"], i: Array["k", int], j: Array["k", int]) -> Vec["k"]:
    return a[i, j] * a[[0, 1, 0], j]


@rose.jit
def gathered_table(x: Vec["n"]) -> Mat[2, 2]:
    return x[np.array([[0, 1], [2, 0]])]


@rose.jit
def mixed_index(t: Array[2, 3, 2], i: int) -> Mat[2, 3]:
    """A number and integers together, and apart from each other."""
    return t[i, [0, 2]].T @ t[:, [0, 1, 2], i] + t[i][:, [1, 0]].T


@rose.jit
def taken(a: Mat[2, 3], at: Array["m", int]) -> Mat[2, "m"]:
    return np.take(a, at, axis=1) * a.take([0, 5]).sum()


@rose.jit
def known_mask(x: Vec[4]) -> Vec[2]:
    """A mask that staging knows is the integers it stands for."""
    return x[EVEN] * x[~EVEN] + x[[True, True, False, False]]


@rose.jit
def where_known(x: Vec[4]) -> float:
    (at,) = np.where(EVEN)
    total = 0.0
    for k in at:
        total += x[k] * k
    return total + x[np.nonzero(EVEN)[0]].sum() + np.count_nonzero(EVEN)


@rose.jit
def masked_folds(x: Vec["n"], on: Array["n", bool]) -> Vec[5]:
    """How many elements a mask picks only running tells; these do not need to know while staging."""
    picked = x[on]
    return np.array([picked.sum(), (picked * picked).mean(), picked.max(), x[x < 0.5].prod(), picked.min()])


@rose.jit
def masked_statistics(x: Vec["n"], y: Vec["n"], on: Array["n", bool], a: Mat["n", 2]) -> Vec[9]:
    """Products, norms, spreads and counts of what a mask picks."""
    u, v, rows = x[on], y[on], a[on]
    first = np.array([u @ v, np.dot(u, u), np.linalg.norm(v), u.var(), v.std(ddof=1)])
    share = u.sum() / len(u) + rows.sum() / rows.size + v.sum() * u.shape[0]
    agree = 1.0 if (u > -2.0).all() and np.any(v == v) else 0.0
    return np.concatenate([first, [share, agree, u.max(initial=0.9), np.count_nonzero(u > 0.0)]])


@rose.jit
def masked_roots(x: Vec["n"]) -> Vec["n"]:
    """The root is not computed where the mask does not hold: no NaN reaches the derivative."""
    y = np.zeros(len(x))
    y[x > 0.0] = np.sqrt(x[x > 0.0])
    return y


@rose.jit
def masked_writes(x: Vec["n"], on: Array["n", bool], c: float) -> Vec["n"]:
    y = x.copy()
    y[on] *= c
    y[y > 1.0] = c
    y[~on] -= x[~on] ** 2
    return y


@rose.jit
def masked_rows(a: Mat[3, 3], on: Array[3, bool], c: float) -> Mat[3, 3]:
    b = a.copy()
    b[on] = b[0] * c
    b[:, on] += 1.0
    b[b < 0.0] = 0.5
    b[0] += a[on].sum(axis=0) + a[:, on].mean(axis=1)
    return b


@rose.jit
def scattered(x: Vec["n"], at: Array["m", int], v: Vec["m"]) -> Vec["n"]:
    """Of several values for one place the last stays."""
    y = x.copy()
    y[at] = v * v
    y[[0, 1]] *= 3.0
    return y


@rose.jit
def scattered_cells(a: Mat["n", "n"], at: Array["n", int], c: float) -> Mat["n", "n"]:
    b = a.copy()
    b[at, at] += c
    b[np.arange(len(at)), 0] = a[1]
    return b


@rose.jit
def scattered_sums(at: Array["m", int], v: Vec["m"], rows: Mat["m", 2]) -> Mat[3, 2]:
    """An index that comes twice counts twice."""
    y = np.zeros((3, 2))
    np.add.at(y, at, rows)
    z = np.zeros(3)
    np.add.at(z, at, v)
    return y * z[:, None]


@rose.jit
def chosen_places(x: Vec["n"]) -> Vec["n"]:
    """Places that the program itself finds."""
    y = x.copy()
    for _ in rose.range(2):
        y[np.argmin(y)] += x[np.argmax(x)]
    y[y.argmax()] *= 2.0
    return y


@rose.jit
def inner_product_of_views(a: Mat[3, 3]) -> float:
    return a[::2, 1] @ a[1, ::2] + a[::-1, ::-1][0] @ a[:, 0]


@rose.jit
def where_chooses(x: Vec["n"], y: Vec["n"], c: float) -> Vec["n"]:
    z = np.where(x > y, x * y, c)
    return np.where(c > 0.0, z, -z) + np.where([True, False, True], x, 0.0)


@rose.jit
def copied_here_and_there(a: Mat[2, 3]) -> Mat[2, 3]:
    b, c = np.zeros((2, 3)), a.copy()
    np.copyto(b, a * 2.0)
    c[:] = b
    b.fill(1.0)
    np.fill_diagonal(c, a[0, 1])
    return b + c


A = np.array
T = np.array([[[0.5, -1.0], [1.5, 0.3], [0.8, 2.0]], [[-0.4, 0.6], [1.1, -0.7], [0.9, 0.2]]])
M = A([[1.2, 0.7, -1.5], [0.3, -0.5, 0.4], [0.8, 1.1, 0.6]])
X = A([1.2, 0.7, -1.5, 0.9])
M4 = A([[0.5, 1.0], [-0.3, 0.8], [1.5, -1.0], [0.2, 0.4]])

PROGRAMS = (
    Program(three_axes, [(T, 0), (T, 1)]),
    Program(sliced, [(X,), (A([2.0]),)]),
    Program(backwards, [(X,)]),
    Program(strided, [(A([1.2, 0.7, -1.5, 0.9, 2.0, 0.1]),)]),
    Program(ellipsis_and_new_axes, [(T,)], lambda t: t[..., 0] * t[..., 1] + t[0, :, 1]),
    Program(written_backwards, [(X,)], lambda x: [0.81, 2.25, 0.49, 1.2]),
    Program(written_block, [(M, 0.5)]),
    Program(rows_written_in_loops, [(M, 0.5)]),
    Program(view_of_transpose, [(M[:2],)]),
    Program(deep_views, [(T, 0), (T, 1)]),
    Program(gathered_known, [(X,)]),
    Program(gathered_staged, [(X, A([3, 0, -2]))]),
    Program(gathered_rows, [(M, A([2, 0]))]),
    Program(gathered_columns, [(M, A([2, -3, 1]))]),
    Program(gathered_cells, [(M, A([2, 0, 1]), A([0, 1, -1]))]),
    Program(gathered_table, [(X,)], lambda x: [[x[0], x[1]], [x[2], x[0]]]),
    Program(mixed_index, [(T, 0), (T, 1)], exact=False),
    Program(taken, [(M[:2], A([2, 0, 1, 1]))]),
    Program(known_mask, [(X,)]),
    Program(where_known, [(X,)], lambda x: 2 * x[2] + x[0] + x[2] + 2, lambda x: [1.0, 0.0, 3.0, 0.0]),
    Program(
        masked_folds,
        [(X, A([True, False, True, True])), (X, A([False, True, False, True]))],
        lambda x, on: [x[on].sum(), (x[on] ** 2).mean(), x[on].max(), x[x < 0.5].prod(), x[on].min()],
    ),
    Program(masked_statistics, [(X, A([0.3, 1.1, 0.4, -0.6]), EVEN ^ [False, True, False, False], M4)]),
    Program(masked_roots, [(X,)], lambda x: np.sqrt(np.maximum(x, 0.0)), kinks=[(A([0.0, 1.0, -1.0]),)]),
    Program(masked_writes, [(X, A([True, False, True, True]), 0.5)]),
    Program(masked_rows, [(M, A([False, True, False]), 0.5)]),
    Program(scattered, [(X, A([2, -1, 2]), A([1.0, 2.0, 3.0]))]),
    Program(scattered_cells, [(M, A([2, 0, 2]), 0.5)]),
    Program(scattered_sums, [(A([0, 2, 0]), A([0.5, 2.0, 1.5]), M[:, :2])]),
    Program(chosen_places, [(X,)]),
    Program(inner_product_of_views, [(M,)], exact=False),
    Program(where_chooses, [(X[:3], A([0.5, 0.8, 0.2]), 2.0), (X[:3], A([0.5, 0.8, 0.2]), -2.0)]),
    Program(copied_here_and_there, [(M[:2],)]),
)
