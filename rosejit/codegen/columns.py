"""Steps of straight code to columns of numbers: what is needed, in the order in which it is done, cut into parts.

Whatever is done for each of thousands of steps is done here for all of them at once.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Any

from rosejit.numeric import np
from rosejit.ops import PRIMITIVES
from rosejit.transforms.rows import CODES, OPS
from rosejit.transforms.sharing import Step

Column = Any
"""An array of integers."""

SIN, COS, SELECT = CODES[PRIMITIVES["sin"]], CODES[PRIMITIVES["cos"]], CODES[PRIMITIVES["select"]]
BOTH, OTHER = len(OPS), len(OPS) + 1
"""In place of a cosine and of the sine behind it: a call that leaves both, and nothing."""


@dataclass(slots=True)
class Columns:
    """Steps in the order in which they are done. An operand is a value, leaf `k` is `leaf + k`, none is `none`."""

    values: Column
    """What each step makes."""
    ops: Column
    operands: list[Column]
    """In the order of the stack."""
    leaf: int
    none: int
    starts: Column
    """Of the parts; and the end of the last one."""
    part: Column
    """Of each value; of leaves and of what is never made -1."""
    last: Column
    """The last part that reads a value which is read in a later part than it is made in; else -1."""


def columns(code: list[Step], leaves: int, results: Column, most: int) -> Columns:
    """The steps of `code` that `results` need, in parts of `most` steps."""
    ops, operands, none = _split(code, leaves)
    values = _ordered(_live([column.tolist() for column in operands], none, results), ops, operands[0], none)
    ops, operands = ops[values], [column[values] for column in operands]
    chosen = ops == SELECT
    if len(operands) > 2 and chosen.any():  # the condition is on top
        condition, *others = operands
        pairs = zip((*others, condition), operands, strict=True)
        operands: list[Column] = [np.where(chosen, a, b) for a, b in pairs]
    starts = _cut(ops, most)
    part = np.full(none + 1, -1)
    own = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    part[values] = own
    last = np.full(none + 1, -1)
    for column in operands:
        outside = (part[column] != own) & (column < len(code))
        found = np.full(none + 1, -1)
        found[column[outside]] = own[outside]  # the last of equal ones stays
        np.maximum(last, found, out=last)
    return Columns(values, ops, operands, len(code), none, starts, part, last)


def _split(code: list[Step], leaves: int) -> tuple[Column, list[Column], int]:
    """Ops and operands of all steps."""
    none = len(code) + leaves
    lengths = np.fromiter(map(len, code), np.int64, len(code))
    flat = np.fromiter(chain.from_iterable(code), np.int64, int(lengths.sum()))
    flat = np.where(flat < 0, len(code) + ~flat, flat)
    at = np.cumsum(lengths) - lengths
    operands = [flat[at + 1]]
    for k in range(2, int(lengths.max(initial=2))):
        there = lengths > k
        operands.append(np.where(there, flat[np.where(there, at + k, 0)], none))
    return flat[at], operands, none


def _live(operands: list[list[int]], none: int, results: Column) -> Column:
    """The values that results need."""
    read = bytearray(none + 1)
    for a in results.tolist():
        read[a] = 1
    first, *others = operands
    second, *third = others or [first]
    for k in range(len(first) - 1, -1, -1):
        if read[k]:
            read[first[k]] = read[second[k]] = 1
            for column in third:
                read[column[k]] = 1
    return np.flatnonzero(np.frombuffer(read, np.uint8, len(first)))


def _ordered(values: Column, ops: Column, angles: Column, none: int) -> Column:
    """The same with the cosine and the sine of one value together, where the first of them was: one call gives both."""
    sines, cosines = values[ops[values] == SIN], values[ops[values] == COS]
    _, first, second = np.intersect1d(angles[sines], angles[cosines], assume_unique=True, return_indices=True)
    sines, cosines = sines[first], cosines[second]
    if not len(sines):
        return values
    place = np.arange(2 * len(ops), step=2)
    place[cosines] = np.minimum(place[sines], place[cosines])
    place[sines] = place[cosines] + 1
    ops[cosines], ops[sines], angles[sines] = BOTH, OTHER, none
    return values[np.argsort(place[values], kind="stable")]


def _cut(ops: Column, most: int) -> Column:
    """Where parts of `most` steps start; no part ends between a cosine and its sine."""
    starts = [0]
    while starts[-1] < len(ops):
        end = min(starts[-1] + most, len(ops))
        starts.append(end + int(end < len(ops) and ops[end] == OTHER))
    return np.array(starts)
