"""Elimination of larger matrices by blocks: products of small matrices for the most part.

Each block lies in one piece in memory, so that it is read once for many operations. A matrix is filled
up with ones on the diagonal to whole blocks.
"""

# Arguments are staged arrays. Every loop stays a loop.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import Any

from rosejit.frontend.numpy.linalg_algorithms import Program, forward, triangular
from rosejit.frontend.values import rose_functions as rose
from rosejit.numeric import np

BLOCK = 32
FEWEST = 96
"""Rows from which on blocks are worth it."""


@Program
def unit_block() -> Any:
    """A block with ones on the diagonal."""
    found = np.zeros((BLOCK, BLOCK))
    for i in rose.range(BLOCK):
        found[i, i] = 1.0
    return found


@Program
def in_blocks(a: Any, rows: int, columns: int) -> Any:
    """The blocks of a matrix, that many in each direction."""
    whole = np.zeros((rows * BLOCK, columns * BLOCK))
    whole[: a.shape[0], : a.shape[1]] = a
    if rows == columns:
        for i in rose.range(a.shape[0], rows * BLOCK):
            whole[i, i] = 1.0
    blocks = np.zeros((rows, columns, BLOCK, BLOCK))
    for i in rose.range(rows):
        for j in rose.range(columns):
            for r in rose.range(BLOCK):
                for c in rose.range(BLOCK):
                    blocks[i, j, r, c] = whole[i * BLOCK + r, j * BLOCK + c]
    return blocks


@Program
def of_blocks(blocks: Any, rows: int, columns: int) -> Any:
    """The matrix that blocks are the blocks of."""
    whole = np.zeros((blocks.shape[0] * BLOCK, blocks.shape[1] * BLOCK))
    for i in rose.range(blocks.shape[0]):
        for j in rose.range(blocks.shape[1]):
            for r in rose.range(BLOCK):
                for c in rose.range(BLOCK):
                    whole[i * BLOCK + r, j * BLOCK + c] = blocks[i, j, r, c]
    return whole[:rows, :columns].copy()


@Program
def blocked_triangular(a: Any) -> Any:
    """`triangular` of many rows."""
    n = a.shape[0]
    count = -(-n // BLOCK)
    w = in_blocks(a, count, count)
    lower, upper, unit = np.zeros(w.shape), np.zeros(w.shape), unit_block()
    definite = True
    for j in rose.range(count):
        rest = w[j, j].copy()
        for k in rose.range(j):
            rest -= lower[j, k] @ upper[k, j]
        corner, fits = triangular(rest)
        definite = definite and fits
        lower[j, j] = corner
        inverse, _ = forward(corner, unit, False)
        inverse = inverse.T.copy()
        for i in rose.range(j + 1, count):
            rest = w[i, j].copy()
            for k in rose.range(j):
                rest -= lower[i, k] @ upper[k, j]
            rest = rest @ inverse
            lower[i, j] = rest
            upper[j, i] = rest.T
    return of_blocks(lower, n, n), definite


@Program
def blocked_forward(t: Any, b: Any, unit: bool) -> Any:
    """`forward` of many rows and columns."""
    n, m = b.shape
    count, columns = -(-n // BLOCK), -(-m // BLOCK)
    w, one, regular = in_blocks(t, count, count), unit_block(), True
    x = in_blocks(b, count, columns)
    for i in rose.range(count):
        inverse, fits = forward(w[i, i].copy(), one, unit)
        regular = regular and fits
        for j in rose.range(columns):
            rest = x[i, j].copy()
            for k in rose.range(i):
                rest -= w[i, k] @ x[k, j]
            x[i, j] = inverse @ rest
    return of_blocks(x, n, m), regular


@Program
def panel(p: Any, start: Any) -> Any:
    """`factored` of the rows from `start` on of a matrix of few columns, with the places of the pivots."""
    rows, width = p.shape
    p, order, sign, regular = p.copy(), np.zeros(width, dtype=int), 1.0, True
    for k in rose.range(width):
        at = start + k
        best = at
        for i in rose.range(at + 1, rows):
            if abs(p[i, k]) > abs(p[best, k]):
                best = i
        order[k] = best
        sign = sign if best == at else -sign
        row = p[best].copy()
        p[best] = p[at]
        p[at] = row
        pivot = row[k]
        if pivot == 0.0:
            regular = False
        else:
            for i in rose.range(at + 1, rows):
                part = p[i, k] / pivot
                p[i, k] = part
                for j in rose.range(k + 1, width):
                    p[i, j] -= part * row[j]
    return p, order, sign, regular


@Program
def in_panels(a: Any, count: int) -> Any:
    """Panels of columns, one after the other."""
    blocks = in_blocks(a, count, count)
    panels = np.zeros((count, count * BLOCK, BLOCK))
    for j in rose.range(count):
        for i in rose.range(count):
            for r in rose.range(BLOCK):
                panels[j, i * BLOCK + r] = blocks[i, j, r]
    return panels


@Program
def of_panels(panels: Any, n: int) -> Any:
    """The matrix that panels are the columns of."""
    count, size = panels.shape[0], panels.shape[1]
    found = np.zeros((size, size))
    for j in rose.range(count):
        for i in rose.range(size):
            for c in rose.range(BLOCK):
                found[i, j * BLOCK + c] = panels[j, i, c]
    return found[:n, :n].copy()


@Program
def exchange(w: Any, j: Any, places: Any, start: Any) -> None:
    """Bring the rows of the pivots up in a panel."""
    for c in rose.range(BLOCK):
        row = w[j, places[c]].copy()
        w[j, places[c]] = w[j, start + c]
        w[j, start + c] = row


@Program
def blocked_factored(a: Any) -> Any:
    """`factored` of many rows."""
    n = a.shape[0]
    count = -(-n // BLOCK)
    w = in_panels(a, count)
    order, one = np.zeros(count * BLOCK, dtype=int), unit_block()
    sign, regular = 1.0, True
    for k in rose.range(count):
        start = k * BLOCK
        p, places, turned, fits = panel(w[k].copy(), start)
        sign *= turned
        regular = regular and fits
        w[k] = p
        inverse, _ = forward(p[start : start + BLOCK].copy(), one, True)
        for c in rose.range(BLOCK):
            order[start + c] = places[c]
        for j in rose.range(count):
            if j != k:
                exchange(w, j, places, start)
            if j > k:
                top = inverse @ w[j, start : start + BLOCK].copy()
                w[j, start : start + BLOCK] = top
                for i in rose.range(k + 1, count):
                    at = i * BLOCK
                    w[j, at : at + BLOCK] -= p[at : at + BLOCK].copy() @ top
    return of_panels(w, n), order[:n].copy(), sign, regular
