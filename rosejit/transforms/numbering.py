"""Long straight-line code to numbers: each value an op on earlier ones, equal values once; its gradient likewise.

What host loops unroll to is thousands of operations in a row. For such code the passes spend their time on making lets
and walking over them; here a value is a number, its op a tuple, and one sweep forwards and one backwards derive and
simplify it, by the rules of `straight.py` and `simplify.py`: the bits are those of the passes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import REAL, Type
from rosejit.transforms.activity import Mask
from rosejit.transforms.pullbacks import Turn, pullback
from rosejit.transforms.rows import ELEMENT, OPS, Leaf, Row, Rows, count
from rosejit.transforms.sharing import Numbering, Step, is_step
from rosejit.transforms.straight import ADD, back_of


@dataclass(slots=True)
class Straight:
    """A function as numbers: value `k` is `code[k]`, `~k` stands for `leaves[k]`."""

    name: str
    base: ir.Function
    """Whose parameters it takes."""
    code: list[Step]
    leaves: list[Leaf]
    results: tuple["Result", ...]


@dataclass(slots=True, frozen=True)
class Result:
    """A scalar or an array of Reals, by the numbers of its elements."""

    type: Type
    elements: tuple[int, ...]


@cache
def _back(op: Primitive, mask: Mask) -> Callable[[Any], Turn]:
    """What makes the turn of `op` for a sweep, where the operands in `mask` are active."""
    return pullback(*back_of(op, mask), mask)


class _Turns(dict[int, Turn | None]):
    """For each set of active operands, as bits, the way back of an op; None where there is none."""

    def __init__(self, sweep: "_Sweep", op: Primitive) -> None:
        self.sweep, self.op = sweep, op

    def __missing__(self, on: int) -> Turn | None:
        mask = tuple([bool(on >> n & 1) for n in range(len(self.op.params))])
        self[on] = found = _back(self.op, mask)(self.sweep) if on and self.op.differentiable else None
        return found


class _Ways(dict[int, tuple[Primitive, bool, _Turns]]):
    """By code: an op, whether it is a step as it is, its ways back. Of ops that are met: to ask takes their kernels."""

    def __init__(self, sweep: "_Sweep") -> None:
        self.sweep = sweep

    def __missing__(self, code: int) -> tuple[Primitive, bool, _Turns]:
        op = OPS[code]
        self[code] = found = op, is_step(op), _Turns(self.sweep, op)
        return found


class _Sweep:
    """The numbers of the rows of `given`, and what the way back needs of each."""

    def __init__(self, given: Rows, mask: Mask) -> None:
        self.given, self.mask = given, mask
        self.numbering = Numbering()
        length, leaves = len(given.rows), given.leaves[::-1]
        self.number = [0] * length + [self.numbering.leaf(leaf) for leaf in given.leaves][::-1]
        """Of each place."""
        self.active = [0] * length + [int(not isinstance(leaf, ir.Lit) and mask[leaf[0]]) for leaf in leaves]
        """Whether cotangents go to it."""
        self.plus: list[int | None] = [None] * len(self.number)
        """The cotangent of each place, as far as it is known, unless it is in `minus`."""
        self.minus = self.plus[:]
        """What the cotangent is minus of."""
        self.turns: list[tuple[Turn, int, Row]] = []

    def forward(self) -> None:
        """Number all values."""
        number, active, turns = self.number, self.active, self.turns
        special, known, apply = self.numbering.special, self.numbering.known, self.numbering.apply
        setdefault = known.setdefault
        ways = _Ways(self)
        for k, row in enumerate(self.given.rows):
            if len(row) == 3:
                code, a, b = row
                op, plain, way = ways[code]
                on, x, y = active[a] | active[b] << 1, number[a], number[b]
                step = plain and x not in special and y not in special
                number[k] = setdefault((code, x, y), len(known)) if step else apply(op, x, y)
            elif row[0] == ELEMENT:
                number[k], on, way = number[row[1]], active[row[1]], {0: None, 1: self.element}
            elif len(row) == 2:
                code, a = row
                op, plain, way = ways[code]
                on, x = active[a], number[a]
                number[k] = setdefault((code, x), len(known)) if plain and x not in special else apply(op, x)
            else:
                op, _, way = ways[row[0]]
                on = sum([active[a] << n for n, a in enumerate(row[1:])])
                number[k] = apply(op, *[number[a] for a in row[1:]])
            back = way[on]
            if back is not None:
                active[k] = 1
                turns.append((back, k, row))

    def sum(self, place: int) -> int | None:
        """The cotangent of a place."""
        inside = self.minus[place]
        return self.plus[place] if inside is None else self.numbering.opposite(inside)

    def element(self, k: int, row: Row) -> None:
        """The turn of an element: what is read twice has the sum of both cotangents."""
        ct, have = self.sum(k), self.plus[row[1]]
        if ct is not None:
            before = self.numbering.leaf(ir.real(0.0)) if have is None else have
            self.plus[row[1]] = self.numbering.apply(ADD, before, ct)

    def back(self) -> list[Result]:
        """The cotangents of the parameters in the mask for a seed of 1 on the first result."""
        given, leaf = self.given, self.numbering.leaf
        zero = leaf(ir.real(0.0))
        self.plus[given.results[0]] = leaf(ir.real(1.0))
        for back, k, row in reversed(self.turns):
            back(k, row)
        places = {at: self.sum(~k) for k, at in enumerate(given.leaves)}
        found: list[Result] = []
        for k, (p, on) in enumerate(zip(given.base.params, self.mask, strict=True)):
            if on:
                cts = [places.get((k, n)) for n in range(count(p.type))]
                found.append(Result(p.type, tuple([zero if ct is None else ct for ct in cts])))
        return found

    def results(self) -> list[Result]:
        """Those of the function itself."""
        given = self.given
        return [Result(t, (self.number[a],)) for t, a in zip(given.base.results, given.results, strict=True)]

    def made(self, results: tuple[Result, ...]) -> Straight:
        """The code so far, with these results."""
        f = self.given.base
        return Straight(f.name, f, list(self.numbering.known), self.numbering.leaves, results)


def straight(given: Rows) -> Straight:
    """The same function as numbers."""
    sweep = _Sweep(given, (False,) * len(given.base.params))
    sweep.forward()
    return sweep.made(tuple(sweep.results()))


def gradient(given: Rows, mask: Mask) -> Straight | None:
    """The results, and the cotangents of the parameters in `mask` for a seed of 1 on the first behind that one; None
    if that is no Real."""
    if given.base.results[:1] != (REAL,):
        return None
    sweep = _Sweep(given, mask)
    sweep.forward()
    value, *others = sweep.results()
    return sweep.made((value, *sweep.back(), *others))


def arranged(made: Straight, name: str, results: tuple[Result | ir.Atom, ...]) -> Straight | None:
    """`made` under another name and with these of its results; None if there are others."""
    found = tuple([r for r in results if isinstance(r, Result)])
    return replace(made, name=name, results=found) if len(found) == len(results) else None
