"""Scheduling of basic blocks: steps to columns of numbers, those that are needed (dead code elimination), in the order
in which they are done, cut into parts.

Whatever is done for each of thousands of steps is done here for all of them at once.
"""

# Several functions of NumPy 2.5 are of types that are unknown in part.
# pyright: reportUnknownMemberType=false

from itertools import chain, pairwise
from typing import Any

from rosejit.ir.primitive import Emit
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.ops import PRIMITIVES
from rosejit.transforms.straightline.op_rows import CODES, OPS
from rosejit.transforms.straightline.value_numbering import Step

Column = Any
"""An array of integers."""

SIN, COS = CODES[PRIMITIVES["sin"]], CODES[PRIMITIVES["cos"]]
SELECTS = [code for code, op in enumerate(OPS) if op.wasm == Emit("select")]
BOTH, TWICE, LONE_SIN, LONE_COS, OTHER, FIRST, SECOND = range(len(OPS), len(OPS) + 7)
"""In place of a cosine and of the sine behind it: a call that leaves both, `BOTH`, and nothing, `OTHER`. In place of
two cosines and their sines: a call for two lanes, `TWICE`, that leaves the first cosine; the second out of the local
for lanes, `SECOND`; and the same of the sines, which are on the stack, `FIRST` and `SECOND`. In place of a sine or a
cosine alone: a call that leaves both, and one is dropped."""
CODES_END = len(OPS) + 7
_FEW = 16
"""Calls, or pairs of them, that are not worth another kernel."""
_ROUNDS = 50
"""So often all that nobody reads any more is left out at once; then one by one."""


@dataclass(slots=True)
class Steps:
    """The steps of several functions, side by side. Operands and leaves are numbered in each function by itself."""

    code: list[Step]
    values: list[int]
    """How many steps each function has."""
    leaves: list[int]
    """How many leaves each function has."""
    needed: Column
    """The steps that matter, and with them what they read."""
    behind: Column
    """For each action: with so many operands it stands behind the last one, in the same part."""


@dataclass(slots=True)
class Columns:
    """Steps in the order in which they are done. An operand is a value, leaf `k` is `leaf + k`, none is `none`."""

    values: Column
    """What each step makes."""
    ops: Column
    """Action `k` is `CODES_END + k`."""
    operands: list[Column]
    """In the order of the stack."""
    leaf: int
    none: int
    """Behind it is `none + 1`, what makes lanes of the operand in front."""
    starts: Column
    """Of the parts; and the end of the last one."""
    functions: list[int]
    """The first part of each function; and how many there are."""
    part: Column
    """Of each value; of leaves and of what is never made -1."""
    last: Column
    """The last part that reads a value which is read in a later part than it is made in; else -1."""


def columns(steps: Steps, most: int, whole: int) -> Columns:
    """The steps that are needed, each function in parts of `most` steps, or in one if they are no more than `whole`."""
    count = len(steps.code)
    of = np.repeat(np.arange(len(steps.values)), steps.values)
    ops, operands, behind, none = _split(steps, of)
    values = _ordered(_live(operands, count, none, steps.needed), ops, operands[0], none)
    ops, operands = ops[values], [column[values] for column in operands]
    values, ops, operands = _in_lanes(values, ops, operands, none, of)
    if BOTH in ops:
        for alone, instead in ((SIN, LONE_SIN), (COS, LONE_COS)):
            lone = np.flatnonzero(ops == alone)
            if len(lone) <= _FEW:
                ops[lone] = instead
    chosen = np.isin(ops, SELECTS)
    if len(operands) > 2 and chosen.any():  # the condition is on top
        condition, *others = operands
        pairs = zip((*others, condition), operands, strict=True)
        operands: list[Column] = [np.where(chosen, a, b) for a, b in pairs]
    bounds = np.searchsorted(of[values], np.arange(len(steps.values) + 1)).tolist()
    starts, functions = _cut((ops >= OTHER) & (ops < CODES_END) | behind[values], bounds, most, whole)
    part = np.full(none + 2, -1)
    own = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    part[values] = own
    last = np.full(none + 2, -1)
    for column in operands:
        outside = (part[column] != own) & (column < count)
        found = np.full(none + 2, -1)
        found[column[outside]] = own[outside]  # the last of equal ones stays
        np.maximum(last, found, out=last)
    return Columns(values, ops, operands, count, none, starts, functions, part, last)


def _split(steps: Steps, of: Column) -> tuple[Column, list[Column], Column, int]:
    """Ops and operands of all steps, and which steps stand behind others. `of`: the function of each step."""
    code, count = steps.code, len(steps.code)
    none = count + sum(steps.leaves)
    lengths = np.fromiter(map(len, code), np.int64, count)
    flat = np.fromiter(chain.from_iterable(code), np.int64, int(lengths.sum()))
    at = np.cumsum(lengths) - lengths
    ops = flat[at]
    if len(steps.values) > 1:
        first, leaf = [np.cumsum(many) - many for many in (np.array(steps.values), np.array(steps.leaves))]
        own = np.repeat(of, lengths)
        flat += np.where(flat < 0, -leaf[own], first[own])
    flat = np.where(flat < 0, count + ~flat, flat)
    operands: list[Column] = []
    for k in range(1, max(2, int(lengths.max(initial=2)))):
        there = lengths > k
        operands.append(np.where(there, flat[np.where(there, at + k, 0)], none))
    behind = np.zeros(count, bool)
    acts = np.flatnonzero(ops < 0)
    ops[acts] = CODES_END + ~ops[acts]
    behind[acts] = lengths[acts] - 1 == steps.behind[ops[acts] - CODES_END]
    return ops, operands, behind, none


def _live(operands: list[Column], steps: int, none: int, results: Column) -> Column:
    """The values that results need."""
    uses = np.bincount(np.concatenate((*operands, results)), minlength=none + 1)
    live, dead = np.ones(steps, bool), np.flatnonzero(uses[:steps] == 0)
    for _ in range(_ROUNDS):
        if not len(dead):
            return np.flatnonzero(live)
        live[dead] = False
        read = np.concatenate([column[dead] for column in operands])
        np.subtract.at(uses, read, 1)
        read = np.unique(read[read < steps])
        dead = read[uses[read] == 0]
    return _live_by_steps([column.tolist() for column in operands], none, results)


def _live_by_steps(operands: list[list[int]], none: int, results: Column) -> Column:
    """The same from the last to the first, where the chains of what nobody needs are long."""
    read = bytearray(none + 1)
    for a in results.tolist():
        read[a] = 1
    for k in range(len(operands[0]) - 1, -1, -1):
        if read[k]:
            for column in operands:
                read[column[k]] = 1
    return np.flatnonzero(np.frombuffer(read, np.uint8, len(operands[0])))


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


def _in_lanes(
    values: Column, ops: Column, operands: list[Column], none: int, of: Column
) -> tuple[Column, Column, list[Column]]:
    """The same with two calls for a cosine and a sine of one function done at once, if what the first gives is not read
    before the second: then it waits."""
    calls = np.flatnonzero(ops == BOTH)
    if len(calls) < 2 * _FEW:
        return values, ops, operands
    own = of[values[calls]].tolist()
    first = np.full(none + 2, len(ops))
    for column in operands:
        read = np.full(none + 2, len(ops))
        read[column[::-1]] = np.arange(len(ops) - 1, -1, -1)  # the last of equal ones stays
        first = np.minimum(first, read)
    until = np.minimum(first[values[calls]], first[values[calls + 1]])
    pairs, waiting = list[tuple[int, int]](), -1
    for k, at in enumerate(calls.tolist()):
        if waiting >= 0 and at < until[waiting] and own[k] == own[waiting]:
            pairs.append((waiting, k))
            waiting = -1
        else:
            waiting = k
    if len(pairs) < _FEW:
        return values, ops, operands
    one, two = calls[[pair[0] for pair in pairs]], calls[[pair[1] for pair in pairs]]
    place = np.arange(len(ops)) * 4
    for k, at in enumerate((one, two, one + 1, two + 1)):
        place[at] = 4 * two + k
    ops = ops.copy()
    ops[one], ops[two], ops[one + 1], ops[two + 1] = TWICE, SECOND, FIRST, SECOND
    columns = [*operands, *[np.full(len(ops), none) for _ in range(3 - len(operands))]]
    columns[1][one], columns[2][one] = none + 1, columns[0][two]
    columns[0][two] = none
    order = np.argsort(place, kind="stable")
    return values[order], ops[order], [column[order] for column in columns]


def _cut(stays: Column, bounds: list[int], most: int, whole: int) -> tuple[Column, list[int]]:
    """Where parts start, and which part is the first of each function. What `stays` is in the part of what is in front
    of it: the sine behind a cosine, what belongs to one call."""
    starts: list[int] = []
    functions: list[int] = []
    for start, end in pairwise(bounds):
        functions.append(len(starts))
        length = most if end - start > whole else whole
        starts.append(start)
        while starts[-1] + length < end:
            cut = starts[-1] + length
            while cut < end and stays[cut]:
                cut += 1
            if cut == end:
                break
            starts.append(cut)
    return np.array([*starts, bounds[-1]]), [*functions, len(starts)]
