"""Numbers of pieces of code, side by side in columns, to the code."""

# Several functions of NumPy 2.5 are of types that are unknown in part.
# pyright: reportUnknownMemberType=false

from collections.abc import Iterable
from typing import Any

from rosejit.numeric import np

Column = Any
"""An array of integers."""


class FragmentTable:
    """Code that is put together: piece 0 is nothing."""

    def __init__(self) -> None:
        self._chunks: list[Column] = []
        self._lengths: list[Column] = [np.zeros(1, np.int64)]
        self._count = 1
        self._ready: tuple[Column, Column, Column] | None = None

    def add(self, pieces: Iterable[bytes]) -> int:
        """The number of the first of some pieces; the others follow."""
        return self.put(*lengths_of(list(pieces)))

    def add_numbered(self, heads: Column, numbers: Column) -> int:
        """As `add`: pieces of a row of `heads` and a number behind it, all in as many bytes as the largest needs."""
        width = max(1, -(-int(numbers.max(initial=0)).bit_length() // 7))
        groups = numbers[:, None] >> 7 * np.arange(width) & 0x7F
        groups[:, :-1] |= 0x80
        rows = np.concatenate((heads, groups.astype(np.uint8)), axis=1)
        return self.put(rows.ravel(), np.full(len(rows), rows.shape[1]))

    def put(self, code: Column, lengths: Column) -> int:
        """As `add`: pieces of these lengths, side by side."""
        self._chunks.append(code)
        self._lengths.append(lengths)
        first, self._count, self._ready = self._count, self._count + len(lengths), None
        return first

    def joined(self, rows: Column) -> tuple[Column, Column]:
        """The code of pieces, row by row, and where each row ends."""
        if self._ready is None:
            lengths = np.concatenate(self._lengths).astype(np.int32)  # three times as fast here as longer numbers
            self._ready = np.concatenate(self._chunks), np.cumsum(lengths, dtype=np.int32) - lengths, lengths
        code, starts, lengths = self._ready
        given = rows.ravel()
        each = lengths[given]
        ends = np.cumsum(each, dtype=np.int32)
        source = np.repeat(starts[given] - (ends - each), each)
        source += np.arange(len(source), dtype=np.int32)
        return code[source], ends[rows.shape[1] - 1 :: rows.shape[1]]


def lengths_of(pieces: list[bytes]) -> tuple[Column, Column]:
    """Pieces as `put` takes them."""
    return np.frombuffer(b"".join(pieces), np.uint8), np.fromiter(map(len, pieces), np.int64, len(pieces))
