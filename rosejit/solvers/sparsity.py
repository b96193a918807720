"""The pattern of a Jacobian to what a sparse fit needs of it: colours, an order, and the factor's pattern.

All of it is found on the host, once for each pattern, and given to compiled code as arrays of whole numbers: a pattern
is data, and no program is compiled for one alone.
"""

import functools
import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

from rosejit.api.decorators import as_function
from rosejit.api.derivation.sparse_derivatives import pattern_of
from rosejit.errors import RoseError, ShapeError, StagingTypeError
from rosejit.frontend.values.pytree import parts, staged_leaf
from rosejit.numeric import np
from rosejit.solvers.programs import state
from rosejit.transforms.jacobians.coloring import column_colours, sources, star_colours

Rows = list[list[int]]
"""For each row of a Jacobian the columns where it may differ from zero."""


class Hessian(NamedTuple):
    """The Hessian of a sum of squares from its diagonal on, column by column in the order of elimination, and where its
    entries are found: each pair of variables stands alone in a row of the sums of columns of one colour."""

    colours: Any
    """The colour of each variable (a star colouring)."""
    seeds: Any
    """Zeros, as many as there are colours."""
    places: Any
    """The row of each entry, in the order of elimination."""
    starts: Any
    """Where each column begins."""
    alone: Any
    """The row of the sums where an entry stands alone."""
    sums: Any
    """The colour of that sum."""


class Structure(NamedTuple):
    """A sparse Jacobian, and the triangle L of its normal equations, L L' = J' J: variables stand in the order in which
    they are eliminated, and entries are counted row by row."""

    order: Any
    """Which variable is eliminated when."""
    colours: Any
    """The colour of each variable, as they are given: those of one colour share no row."""
    seeds: Any
    """Zeros, as many as there are colours."""
    rows: Any
    """The row of each entry."""
    variables: Any
    """Its variable."""
    columns: Any
    """The place of its variable in the order."""
    starts: Any
    """Where each row begins."""
    by_column: Any
    """The entries, column by column."""
    column_starts: Any
    lower: Any
    """The rows of L below its diagonal, column by column."""
    lower_starts: Any
    left: Any
    """Row by row, the columns of L left of its diagonal."""
    left_entries: Any
    """Where these stand in `lower`."""
    left_starts: Any
    hessian: Hessian


def structure(rows: Rows, width: int) -> Structure:
    """What a pattern leads to."""
    around = neighbours(rows, width)
    square = [sorted({j, *near}) for j, near in enumerate(around)]
    order, below = eliminated(around)
    place = {variable: k for k, variable in enumerate(order)}
    placed = [sorted(place[j] for j in row) for row in rows]
    entries = [j for row in placed for j in row]
    of_rows = [i for i, row in enumerate(placed) for _ in row]
    by_column = sorted(range(len(entries)), key=lambda e: (entries[e], e))
    lower = [sorted(place[j] for j in column) for column in below]
    left: list[list[tuple[int, int]]] = [[] for _ in order]
    for k, (start, column) in enumerate(zip(_starts(lower), lower, strict=False)):
        for number, row in enumerate(column):
            left[row].append((k, start + number))
    colours = column_colours(rows, width)
    counts = [0] * width
    for j in entries:
        counts[j] += 1
    return Structure(
        _whole(order),
        _whole(colours),
        _seeds(colours),
        _whole(of_rows),
        _whole([order[k] for k in entries]),
        _whole(entries),
        _whole(_starts(placed)),
        _whole(by_column),
        _whole(_starts([range(n) for n in counts])),
        _whole([row for column in lower for row in column]),
        _whole(_starts(lower)),
        _whole([k for row in left for k, _ in row]),
        _whole([at for row in left for _, at in row]),
        _whole(_starts(left)),
        _hessian(square, order, place),
    )


def _hessian(square: Rows, order: list[int], place: dict[int, int]) -> Hessian:
    colours = star_colours(square)
    alone = iter(sources(square, colours))
    found = [{j: next(alone) for j in row} for row in square]
    columns = [sorted([(place[i], *found[i][j]) for i in square[j] if place[i] >= k]) for k, j in enumerate(order)]
    places, rows, sums = ([entry[n] for column in columns for entry in column] for n in range(3))
    starts = _whole(_starts(columns))
    return Hessian(_whole(colours), _seeds(colours), _whole(places), starts, _whole(rows), _whole(sums))


def _seeds(colours: list[int]) -> Any:
    return _whole([0] * (max(colours, default=-1) + 1))


def _starts(parts: Sequence[Sequence[Any]]) -> list[int]:
    """Where each of the parts begins when they stand one after the other, and where the last ends."""
    found = [0]
    for part in parts:
        found.append(found[-1] + len(part))
    return found


def _whole(numbers: list[int]) -> Any:
    return np.array(numbers, dtype=np.int64)


def neighbours(rows: Rows, width: int) -> list[set[int]]:
    """For each variable those that stand with it in a row."""
    found: list[set[int]] = [set() for _ in range(width)]
    for row in rows:
        for j in row:
            found[j].update(row)
    for j, around in enumerate(found):
        around.discard(j)
    return found


def eliminated(around: list[set[int]]) -> tuple[list[int], list[set[int]]]:
    """The variables in the order of elimination, and for each of them those of later ones that its column of L has.

    Next is always a variable with fewest neighbours (minimum degree, Tinney and Walker 1967), which become neighbours
    of each other. For a chain L is as narrow as the chain, for points and cameras all points come first.
    """
    heap = [(len(each), j) for j, each in enumerate(around)]
    heapq.heapify(heap)
    order: list[int] = []
    done = [False] * len(around)
    while heap:
        degree, j = heapq.heappop(heap)
        if done[j] or degree != len(around[j]):
            continue
        done[j] = True
        order.append(j)
        for k in around[j]:
            other = around[k]
            other |= around[j]
            other.discard(j)
            other.discard(k)
            heapq.heappush(heap, (len(other), k))
    return order, [around[j] for j in order]


def worthwhile(rows: Rows, width: int) -> bool:
    """Whether few entries of the normal equations are not zero: at most a quarter."""
    most = width * width // 4
    return max(map(len, rows), default=0) ** 2 <= most and sum(map(len, neighbours(rows, width))) <= most


LEAST = 100
"""From so many numbers on it is worth while to look."""


def affordable(height: int, width: int) -> float:
    """How many iterations of loops are followed to find a pattern: a few for each row, and as many as take the time of
    one dense step."""
    return 5.0 * (height + width) + 6e-4 * height * width**2


def found_structure(residuals: Any, x0: Any, args: tuple[Any, ...]) -> Structure | None:
    """The structure of a fit, if it is sparse, and known without running the program."""
    count = _count(x0)
    if count < LEAST:
        return None
    try:
        function = as_function(residuals)
        found = pattern_of(function, (state(function, x0), *args), affordable)
    except RoseError:  # the fit says what is wrong
        return None
    if "structure" not in found.kept:
        sparse = found.exact and found.width == count and worthwhile(found.rows, found.width)
        found.kept["structure"] = structure(found.rows, found.width) if sparse else None
    return found.kept["structure"]


def _count(x: Any) -> int:
    inside = parts(x)
    return int(np.size(x)) if inside is None else sum([_count(part) for part in inside])


def given_structure(matrix: Any) -> Structure:
    """The structure that a user says a fit has: a matrix, dense or SciPy's, of which entries are not zero."""
    if staged_leaf(matrix) is not None:
        raise StagingTypeError(
            "`jac_sparsity` is to be known before anything runs, and here it is an array of the compiled program",
            help="make a `scipy.sparse` matrix of it outside: `csr_array(pattern)`",
        )
    matrix = matrix if hasattr(matrix, "nonzero") else np.array(matrix)
    if len(matrix.shape) != 2:
        raise ShapeError(f"`jac_sparsity` is a matrix, given an array of the shape {tuple(matrix.shape)}")
    height, width = (int(n) for n in matrix.shape)
    rows, columns = (np.array(each, dtype=np.int64) for each in matrix.nonzero())
    return _remembered(rows.tobytes(), columns.tobytes(), height, width)


@functools.lru_cache(maxsize=32)
def _remembered(rows: bytes, columns: bytes, height: int, width: int) -> Structure:
    found: Rows = [[] for _ in range(height)]
    for i, j in zip(memoryview(rows).cast("q"), memoryview(columns).cast("q"), strict=True):
        found[i].append(j)
    return structure(found, width)


def matrix_of(s: Structure, entries: Any) -> Any:
    """The Jacobian as a matrix of SciPy; the entries alone where there is no SciPy."""
    try:
        from scipy.sparse import csr_array
    except ImportError:
        return entries
    return csr_array((entries, s.variables, s.starts), shape=(len(s.starts) - 1, len(s.order)))
