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
    if width in map(len, rows):
        return list(range(width))
    columns = columns_of(rows, width)

    def greedy(order: Sequence[int], most: int) -> Colours | None:
        colours = [-1] * width
        used: list[set[int]] = [set() for _ in rows]
        for j in order:
            colours[j] = _first_free(set[int]().union(*[used[i] for i in columns[j]]))
            if colours[j] > most:
                return None
            for i in columns[j]:
                used[i].add(colours[j])
        return colours

    return _fewest(columns, greedy)


def star_colours(rows: Pattern) -> Colours:
    """Colours of a symmetric pattern: neighbours differ, and no path of four columns has two colours (Gebremedhin,
    Manne and Pothen 2005: what is needed to read each entry directly)."""
    neighbours = [[k for k in row if k != j] for j, row in enumerate(rows)]
    return _fewest(rows, lambda order, most: _star_greedy(neighbours, order, most))


def _star_greedy(neighbours: Pattern, order: Sequence[int], most: int) -> Colours | None:
    """What a column may not have is known at its neighbours, and kept there: a dense row costs no more than others."""
    colours = [-1] * len(neighbours)
    around: list[dict[int, int]] = [{} for _ in neighbours]
    """For each column the colours of its neighbours; with the one neighbour of that colour, -1 if there are several."""
    ends: list[set[int]] = [set() for _ in neighbours]
    """For each coloured column the colours of those neighbours that have another neighbour of its own colour."""
    for j in order:
        used: set[int] = set()
        for k in neighbours[j]:
            if colours[k] < 0:
                used.update(around[k])
            else:
                used.add(colours[k])
                used |= ends[k]
        colour = colours[j] = _first_free(used)
        if colour > most:
            return None
        for m in neighbours[j]:
            other = around[m].get(colour)
            around[m][colour] = j if other is None else -1
            if other is not None and colours[m] >= 0:
                ends[j].add(colours[m])
                if other >= 0:
                    ends[other].add(colours[m])
        for k in neighbours[j]:
            if colours[k] >= 0 and around[j][colours[k]] < 0:
                ends[k].add(colour)
    return colours


def _fewest(neighbours: Pattern, greedy: Callable[[Sequence[int], int], Colours | None]) -> Colours:
    """The better of two greedy colourings: with the columns of most entries first, and in the given order, which is
    given up where it needs more (beside a dense row each column may need a colour of its own)."""
    width = len(neighbours)
    by_degree = greedy(sorted(range(width), key=lambda j: -len(neighbours[j])), width) or []
    return greedy(range(width), max(by_degree, default=0)) or by_degree


def _first_free(used: set[int]) -> int:
    return next(colour for colour in count() if colour not in used)


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
