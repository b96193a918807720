"""A function to the pattern of its Jacobian, and to a program of sweeps that each add up columns of one colour."""

# What is known is of any shape: lists in lists, as the types say.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import BOOL, INT, REAL, Array, Type, array, has_real, tangent
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis.abstract_values import Known, anything, zero
from rosejit.transforms.analysis.activity import Mask
from rosejit.transforms.analysis.jacobian_dependence import TooDeep, dependences
from rosejit.transforms.autodiff.derivative_programs import Atoms, forward, program
from rosejit.transforms.jacobians.array_loops import nest, shape_of, size_of, sweep
from rosejit.transforms.jacobians.columns import (
    LANES,
    LinearizedPushforward,
    RecomputedPushforward,
    evenly,
    tangents_only,
)

Rows = list[list[int]]
Limit = Callable[[int, int], float]


@dataclass(slots=True)
class Pattern:
    """For each element of the real results, in order, the elements of the parameters in the mask that it depends on,
    of `width`; `exact` is False where the analysis gave up, and all were taken."""

    rows: Rows
    width: int
    exact: bool = True
    kept: dict[str, Any] = field(default_factory=lambda: {})
    """What who asks has made of it."""


def unlimited(height: int, width: int) -> float:
    """As many iterations as there are."""
    return math.inf


def pattern(f: ir.Function, mask: Mask, args: Sequence[Any], most: Limit = unlimited) -> Pattern:
    """The structural pattern of the Jacobian of `f`; `args` has the integers and truth values among its arguments
    (nested lists), and anything for the others. No entry is missed. At most `most(height, width)` iterations of
    loops are followed."""
    width = size_of(*[p.type for p, on in zip(f.params, mask, strict=True) if on])
    height = size_of(*[t for t in f.results if has_real(t)])
    derived = forward(f, mask).derived
    known = [a if _is_discrete(p.type) else anything(p.type) for p, a in zip(f.params, args, strict=True)]
    first = 0
    tangents: list[Known] = []
    for p, on, wanted in zip(f.params, derived.mask, mask, strict=True):
        if on:
            tangents.append(_inputs(shape_of(p.type), first) if wanted else zero(tangent(p.type)))
        if wanted:
            first += size_of(p.type)
    try:
        limit = most(height, width)
        found = iter(dependences(tangents_only(derived.function, len(f.results)), [*known, *tangents], limit))
    except (TooDeep, RecursionError):
        return Pattern([list(range(width))] * height, width, exact=False)
    bits: list[int] = []
    for t, on in zip(f.results, derived.results, strict=True):
        if has_real(t):
            bits += _flat(next(found)) if on else [0] * size_of(t)
    return Pattern([_members(b) for b in bits], width)


def _is_discrete(t: Type) -> bool:
    while isinstance(t, Array):
        t = t.element
    return t in (INT, BOOL)


def _inputs(shape: tuple[int, ...], first: int) -> Known:
    """An array of which each element depends on itself; `first` is the number of the first."""
    if not shape:
        return 1 << first
    step = 1
    for n in shape[1:]:
        step *= n
    return [_inputs(shape[1:], first + k * step) for k in range(shape[0])]


def _flat(value: Known) -> list[int]:
    return [bits for item in value for bits in _flat(item)] if isinstance(value, list) else [value]


def _members(bits: int) -> list[int]:
    found: list[int] = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


# --- sweeps


def sweeps(f: ir.Function, mask: Mask, colours: int) -> ir.Function:
    """`f` into `(colour of each column, x..) -> y..`: for each real result an array with one row for each of `colours`,
    the sum of the columns of that colour."""
    key = ("sweeps", mask, colours)
    if key not in f.derived:
        b = Builder(f.span)
        params = tuple(ir.Var(p.type, p.hint) for p in f.params)
        width = size_of(*[p.type for p, on in zip(params, mask, strict=True) if on])
        given = ir.Var(Array(width, INT), "colours")
        lanes = evenly(colours, LANES)
        pusher = RecomputedPushforward(f, params) if colours <= lanes else LinearizedPushforward(f, params, b, mask)
        shapes = [shape_of(t) for t in f.results if has_real(t)]
        wholes = tuple([b.bind(ir.Zero(), array((colours, *shape), REAL), "sums") for shape in shapes])

        def iteration(inner: Builder, indices: Atoms, wholes: Atoms) -> Atoms:
            first = inner.apply(PRIMITIVES["wmul"], indices[0], ir.integer(lanes), hint="c")
            start = inner.apply(PRIMITIVES["imin"], first, ir.integer(colours - lanes), hint="c")
            numbers = [inner.apply(PRIMITIVES["wadd"], start, ir.integer(lane), hint="c") for lane in range(lanes)]
            seeds = {k: tuple(_seeds(inner, params, mask, k, given, c) for c in numbers) for k in _active(mask)}
            pushed = pusher.push(inner, mask, lanes, seeds)
            changed: list[ir.Atom] = []
            for whole, rows in zip(wholes, pushed, strict=True):
                for c, row in zip(numbers, rows, strict=True):
                    whole = inner.bind(ir.Update(whole, (c,), row, checked=False), whole.type, "sums")
                changed.append(whole)
            return tuple(changed)

        found = sweep(b, (-(-colours // lanes),), wholes, iteration) if colours else wholes
        f.derived[key] = program(f"sweeps_{f.name}", f, (given, *params), b, found)
    return f.derived[key]


def _active(mask: Mask) -> list[int]:
    return [k for k, on in enumerate(mask) if on]


def _seeds(b: Builder, params: tuple[ir.Var, ...], mask: Mask, k: int, colours: ir.Var, colour: ir.Atom) -> ir.Atom:
    """The tangent of parameter `k` that is 1 where a column has the colour."""
    first = size_of(*[params[i].type for i in _active(mask) if i < k])
    shape = shape_of(params[k].type)

    def one(inner: Builder, indices: Atoms) -> Atoms:
        place: ir.Atom = ir.integer(first)
        step = 1
        for index, n in zip(reversed(indices), reversed(shape), strict=True):
            scaled = index if step == 1 else inner.apply(PRIMITIVES["wmul"], index, ir.integer(step), hint="i")
            place = inner.apply(PRIMITIVES["wadd"], place, scaled, hint="i")
            step *= n
        own_colour = inner.bind(ir.Index(colours, (place,), checked=False), INT, "c")
        same = inner.apply(PRIMITIVES["ieq"], own_colour, colour)
        return (inner.apply(PRIMITIVES["select"], same, ir.real(1.0), ir.real(0.0), hint="seed"),)

    return nest(b, shape, one)[0]
