"""The pattern of a sparse matrix to colours: columns of one colour are added up in one sweep, and can be told apart.

Greedy colourings, for a Jacobian (columns of one colour share no row) and for a symmetric matrix (star colourings: the
entry of each pair of columns stands alone in one of both).
"""

from collections.abc import Callable, Sequence
from itertools import count

Pattern = Sequence[Sequence[int]]
"""For each row the columns that are not zero."""
Colours = list[int]


def columns_of(rows: Pattern, width: int) -> list[list[int]]:
    """For each column the rows that are not zero."""
    columns: list[list[int]] = [[] for _ in range(width)]
    for i, row in enumerate(rows):
        for j in row:
            columns[j].append(i)
    return columns


def both_ways(rows: Pattern) -> list[list[int]]:
    """The entries of a square pattern that it has on both sides of the diagonal."""
    sets = [set(row) for row in rows]
    return [[j for j in row if i in sets[j]] for i, row in enumerate(rows)]


def column_colours(rows: Pattern, width: int) -> Colours:
    """Colours of columns, such that no row has two entries of one colour; the better of two orders."""
    columns = columns_of(rows, width)

    def taken(j: int, colours: Colours) -> set[int]:
        return {colours[k] for i in columns[j] for k in rows[i]}

    return _fewest(columns, taken)


def star_colours(rows: Pattern) -> Colours:
    """Colours of a symmetric pattern: neighbours differ, and no path of four columns has two colours (Gebremedhin,
    Manne and Pothen 2005: what is needed to read each entry directly)."""

    def taken(j: int, colours: Colours) -> set[int]:
        found: set[int] = set()
        for k in rows[j]:
            if k == j:
                continue
            found.add(colours[k])
            for m in rows[k]:
                if m in (j, k) or colours[m] < 0:
                    continue
                if colours[k] < 0 or any(n != k and colours[n] == colours[k] for n in rows[m]):
                    found.add(colours[m])
        return found

    return _fewest(rows, taken)


def _fewest(neighbours: Pattern, taken: Callable[[int, Colours], set[int]]) -> Colours:
    """The better of two greedy colourings: in the given order, and with the columns of most entries first."""
    width = len(neighbours)
    natural = _greedy(range(width), width, taken)
    by_degree = _greedy(sorted(range(width), key=lambda j: -len(neighbours[j])), width, taken)
    return min(natural, by_degree, key=lambda colours: max(colours, default=0))


def _greedy(order: Sequence[int], width: int, taken: Callable[[int, Colours], set[int]]) -> Colours:
    colours = [-1] * width
    for j in order:
        used = taken(j, colours)
        colours[j] = next(c for c in count() if c not in used)
    return colours


def sources(rows: Pattern, colours: Colours) -> list[tuple[int, int]]:
    """For each entry of a symmetric pattern, row by row, the row and the colour where it stands alone."""
    found: list[tuple[int, int]] = []
    alone: list[set[int]] = []
    for row in rows:
        seen: dict[int, int] = {}
        for j in row:
            seen[colours[j]] = seen.get(colours[j], 0) + 1
        alone.append({c for c, n in seen.items() if n == 1})
    for i, row in enumerate(rows):
        for j in row:
            found.append((i, colours[j]) if colours[j] in alone[i] else (j, colours[i]))
    return found
