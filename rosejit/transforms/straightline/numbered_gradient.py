"""Long straight-line code of one function, and its gradient, as a routine: reverse mode on value numbers.

What host loops unroll to is thousands of operations in a row. For such code the passes spend their time on making lets
and walking over them; here a value is a number, its op a tuple, and one sweep forwards and one backwards derive and
simplify it, by the rules of `straightline_reverse.py` and `simplify.py`: the bits are those of the passes.
"""

from collections.abc import Callable, Container
from functools import cache
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import INT, REAL, Array, Scalar, Type
from rosejit.transforms.analysis.activity import Mask
from rosejit.transforms.autodiff.straightline_reverse import ADD, primitive_transpose
from rosejit.transforms.passes.simplify import NEGATION
from rosejit.transforms.straightline.op_rows import CODES, ELEMENT, OPS, OpRows, Row
from rosejit.transforms.straightline.pullback_codegen import PullbackStep, compile_pullback
from rosejit.transforms.straightline.routine_ir import (
    WORTHWHILE,
    ElementAddress,
    ResultNumbers,
    Routine,
    RoutineProgram,
)
from rosejit.transforms.straightline.value_numbering import ValueNumbering, is_numeric

Results = tuple[ResultNumbers | ir.Atom, ...]


class _Unfit(Exception):
    """Something is no arithmetic on numbers and on elements at known places."""


@cache
def _compiled_pullback(op: Primitive, mask: Mask) -> Callable[[Any], PullbackStep]:
    """What makes the pullback of `op` for a sweep, where the operands in `mask` are active."""
    return compile_pullback(*primitive_transpose(op, mask), mask)


class _PullbacksByMask(dict[int, PullbackStep | None]):
    """For each set of active operands, as bits, the pullback of an op; None where there is none."""

    def __init__(self, sweep: "_ReverseSweep", op: Primitive) -> None:
        self.sweep, self.op = sweep, op

    def __missing__(self, on: int) -> PullbackStep | None:
        mask = tuple([bool(on >> n & 1) for n in range(len(self.op.params))])
        self[on] = found = _compiled_pullback(self.op, mask)(self.sweep) if on and self.op.differentiable else None
        return found


class _PullbacksByCode(dict[int, tuple[Primitive, Container[int], _PullbacksByMask]]):
    """By code: an op, the values that it has rules for, its pullbacks. Of ops that are met: to ask takes their
    kernels."""

    def __init__(self, sweep: "_ReverseSweep") -> None:
        self.sweep = sweep

    def __missing__(self, code: int) -> tuple[Primitive, Container[int], _PullbacksByMask]:
        op = OPS[code] if code < len(OPS) else None
        if op is None or not is_numeric(op):
            raise _Unfit
        self[code] = found = op, self.sweep.numbering.closed(op), _PullbacksByMask(self.sweep, op)
        return found


class _ReverseSweep:
    """The numbers of the rows of `given`, and what the reverse pass needs of each."""

    def __init__(self, given: OpRows, mask: Mask) -> None:
        self.given, self.mask = given, mask
        self.numbering = ValueNumbering()
        params, length, leaf = given.base.params, len(given.rows), self.numbering.leaf
        leaves = [
            leaf(ElementAddress(k, p.type, 0, None)) if isinstance(p.type, Scalar) else 0 for k, p in enumerate(params)
        ]
        self.number = [0] * length + [*leaves, *map(self.numbering.literal, given.constants)][::-1]
        """Of each place."""
        self.active = [0] * (length + len(given.constants)) + [int(on) for on in mask[::-1]]
        """Whether cotangents go to it."""
        self.plus: list[int | None] = [None] * len(self.number)
        """The cotangent of each place, as far as it is known, unless it is in `minus`."""
        self.minus = self.plus[:]
        """What the cotangent is minus of."""
        self.pullbacks: list[tuple[PullbackStep, int, Row]] = []
        self.elements: dict[tuple[int, int], int] = {}
        """The numbers of elements that are read, by parameter and place in it."""
        self.sums: dict[int, int] = {}
        """The cotangents of elements, by their numbers."""

    def forward(self) -> None:
        """Number all values."""
        number, active, pullbacks = self.number, self.active, self.pullbacks
        known, apply, constants = self.numbering.known, self.numbering.apply, self.numbering.constants
        setdefault, opposite, negation, element = known.setdefault, self.numbering.opposite, CODES[NEGATION], ELEMENT
        pullbacks_by_code = _PullbacksByCode(self)
        for k, row in enumerate(self.given.rows):
            code = row[0]
            if code == element:
                number[k], on, way = self.read(row), active[row[1]], {0: None, 1: self.element}
            elif len(row) == 3:
                _, a, b = row
                op, closed, way = pullbacks_by_code[code]
                on, x, y = active[a] | active[b] << 1, number[a], number[b]
                if x in closed or y in closed or (x in constants and y in constants):
                    number[k] = apply(op, x, y)
                else:
                    number[k] = setdefault((code, x, y), len(known))
            elif len(row) == 2:
                _, a = row
                op, closed, way = pullbacks_by_code[code]
                on, x = active[a], number[a]
                if code == negation:
                    number[k] = opposite(x)
                else:
                    ruled = x in closed or x in constants
                    number[k] = apply(op, x) if ruled else setdefault((code, x), len(known))
            else:
                op, _, way = pullbacks_by_code[code]
                on = sum([active[a] << n for n, a in enumerate(row[1:])])
                number[k] = apply(op, *[number[a] for a in row[1:]])
            pullback_step = way[on]
            if pullback_step is not None:
                active[k] = 1
                pullbacks.append((pullback_step, k, row))

    def read(self, row: Row) -> int:
        """The number of an element: of a parameter, at a place that is known."""
        _, base, *steps = row
        params, offset = self.given.base.params, 0
        if not -len(params) <= base < 0:
            raise _Unfit
        t: Type = params[~base].type
        for step in steps:
            at = self.given.constant(step)
            if at is None or not isinstance(at.value, int) or not isinstance(t, Array) or t.length is None:
                raise _Unfit
            t, offset = t.element, offset * t.length + at.value
        if t is not REAL:
            raise _Unfit
        found = self.elements.get((~base, offset))
        if found is None:
            found = self.numbering.leaf(ElementAddress(~base, REAL, 8 * offset, None))
            self.elements[~base, offset] = found
        return found

    def sum(self, place: int) -> int | None:
        """The cotangent of a place."""
        inside = self.minus[place]
        return self.plus[place] if inside is None else self.numbering.opposite(inside)

    def element(self, k: int, _: Row) -> None:
        """The pullback of an element: what is read twice has the sum of both cotangents."""
        ct, number = self.sum(k), self.number[k]
        if ct is not None:
            before = self.sums.get(number)
            before = self.numbering.leaf(ir.real(0.0)) if before is None else before
            self.sums[number] = self.numbering.apply(ADD, before, ct)

    def run_reverse(self) -> list[ResultNumbers]:
        """The cotangents of the parameters in the mask for a seed of 1 on the first result."""
        leaf, elements, sums = self.numbering.leaf, self.elements, self.sums
        zero = leaf(ir.real(0.0))
        self.plus[self.given.results[0]] = leaf(ir.real(1.0))
        for pullback_step, k, row in reversed(self.pullbacks):
            pullback_step(k, row)
        found: list[ResultNumbers] = []
        for k, (p, on) in enumerate(zip(self.given.base.params, self.mask, strict=True)):
            if on and isinstance(p.type, Array):
                read = [elements.get((k, n)) for n in range(_count(p.type))]
                found.append(ResultNumbers(p.type, tuple([zero if n is None else sums.get(n, zero) for n in read])))
            elif on:
                ct = self.sum(~k)
                found.append(ResultNumbers(p.type, (zero if ct is None else ct,)))
        return found

    def results(self) -> list[ResultNumbers]:
        """Those of the function itself."""
        given = self.given
        return [ResultNumbers(t, (self.number[a],)) for t, a in zip(given.base.results, given.results, strict=True)]

    def numbered(self, name: str, results: tuple[ResultNumbers, ...]) -> RoutineProgram:
        """The program of all steps so far, with these results."""
        f = self.given.base
        whole = ir.Function(name, f.params, tuple([r.type for r in results]), span=f.span)
        return RoutineProgram([Routine(whole, list(self.numbering.known), self.numbering.leaves)], results)


def value_numbered(given: OpRows) -> RoutineProgram | None:
    """The same function as a routine; None if it is short, or takes or gives more than numbers."""
    sweep = _swept(given, (False,) * len(given.base.params))
    return sweep and sweep.numbered(given.base.name, tuple(sweep.results()))


def gradient(given: OpRows, mask: Mask, name: str, arranged: Callable[[Results], Results]) -> RoutineProgram | None:
    """A program `name` of what `arranged` makes of the results and, behind the first one, the cotangents of the
    parameters in `mask` for a seed of 1 on that. None as of `value_numbered`, if the first result is no Real, or if
    there is more in what `arranged` gives."""
    f = given.base
    sweep = _swept(given, mask) if f.rule is None and f.results[:1] == (REAL,) else None
    if sweep is None:
        return None
    value, *others = sweep.results()
    wanted = arranged((value, *sweep.run_reverse(), *others))
    results = tuple([r for r in wanted if isinstance(r, ResultNumbers)])
    return sweep.numbered(name, results) if len(results) == len(wanted) else None


def _swept(given: OpRows, mask: Mask) -> _ReverseSweep | None:
    """A sweep that has gone forward; None where the rows are few, or there is more than numbers in them."""
    f = given.base
    if len(given.rows) < WORTHWHILE or not all([t is REAL or t is INT for t in f.results]):
        return None
    if not all([_count(p.type) for p in f.params]):
        return None
    sweep = _ReverseSweep(given, mask)
    try:
        sweep.forward()
    except _Unfit:
        return None
    return sweep


def _count(t: Type) -> int:
    """How many numbers there are in a value of type `t`, if they are Reals side by side, or one Int; else 0."""
    found = 1
    while isinstance(t, Array):
        found, t = found * (t.length or 0), t.element
    return found if t is REAL or (t is INT and found == 1) else 0
