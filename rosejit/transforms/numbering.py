"""Long straight-line code to numbers: each value an op on earlier ones, equal values once; its gradient likewise.

What host loops unroll to is thousands of operations in a row. For such code the passes spend their time on making lets
and walking over them; here a value is a number, its op a tuple, and one sweep forwards and one backwards derive and
simplify it, by the rules of `straight.py` and `simplify.py`: the bits are those of the passes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Emit, Primitive
from rosejit.ir.types import INT, REAL, Array, Type, has_real
from rosejit.ops.kernels import small_kernel
from rosejit.transforms.activity import Mask
from rosejit.transforms.simplify import NEGATION, as_negation, folded, minus, without_signs
from rosejit.transforms.straight import ADD, back_of
from rosejit.transforms.templates import numbers

WORTHWHILE = 100
"""Shorter code takes no time worth saving."""

Step = tuple[Any, ...]
"""A primitive and its operands, by number."""
Leaf = ir.Lit | tuple[int, int]
"""A constant, or the number of an argument and the place of an element in it."""


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


class Numbering:
    """Gives equal values equal numbers, and folds what is known."""

    def __init__(self) -> None:
        self.code: list[Step] = []
        self.leaves: list[Leaf] = []
        self._known: dict[Any, int] = {}
        self._literals: dict[int, ir.Lit] = {}
        self._negated: dict[int, int] = {}  # what a value is minus of
        self._special: set[int] = set()  # the keys of both

    def leaf(self, leaf: Leaf) -> int:
        """The number of an argument, of an element or of a constant."""
        literal = isinstance(leaf, ir.Lit)
        key = (leaf.type, repr(leaf.value)) if literal else leaf  # tells 0.0 from -0.0
        number = self._known.setdefault(key, ~len(self.leaves))
        if number == ~len(self.leaves):
            self.leaves.append(leaf)
            if literal:
                self._literals[number] = leaf
                self._special.add(number)
        return number

    def plain(self) -> tuple[Callable[..., int], Callable[..., int], Callable[..., int]]:
        """`apply` of one and of two operands, for primitives that `is_plain`, and of the one that changes the sign:
        these run once or more for each operation."""
        code, special, apply, setdefault = self.code, self._special, self.apply, self._known.setdefault
        append, negated = code.append, self._negated

        def one(op: Primitive, a: int) -> int:
            if a in special:
                return apply(op, a)
            step, new = (op, a), len(code)
            number = setdefault(step, new)
            if number == new:
                append(step)
            return number

        def two(op: Primitive, a: int, b: int) -> int:
            if a in special or b in special:
                inside, k = (negated[b], 1) if b in negated else (negated.get(a), 0)
                rule = minus(op)[k] if op.minus else None
                if rule is None or inside is None:
                    return apply(op, a, b)
                bare, flips, swaps = rule
                a, b = (a, inside) if k else (inside, b)
                found = two(bare, b, a) if swaps else two(bare, a, b)
                return opposite(bare, found) if flips else found
            step, new = (op, a, b), len(code)
            number = setdefault(step, new)
            if number == new:
                append(step)
            return number

        def opposite(_: Primitive, a: int) -> int:
            if a in special:
                return apply(NEGATION, a)
            step, new = (NEGATION, a), len(code)
            number = setdefault(step, new)
            if number == new:
                append(step)
                negated[number] = a
                special.add(number)
            return number

        return one, two, opposite

    def apply(self, op: Primitive, *args: int) -> int:
        """The number of what `op` gives."""
        if op.negates and args[0] in self._negated:
            return self._negated[args[0]]
        if not self._negated.keys().isdisjoint(args):
            bare, args, odd = without_signs(op, args, self._negated)
            found = self._made(bare, args)
            return self.apply(NEGATION, found) if odd else found
        return self._made(op, args)

    def _made(self, op: Primitive, args: tuple[int, ...]) -> int:
        known = self._literals
        if not known.keys().isdisjoint(args):
            atoms = tuple([known.get(a, a) for a in args])
            simpler, rest = as_negation(op, atoms)
            if simpler is not op:
                return self.apply(simpler, *[self.leaf(a) if isinstance(a, ir.Lit) else a for a in rest])
            found = folded(op, atoms)
            if found is not None:
                return self.leaf(found) if isinstance(found, ir.Lit) else found
        kernel = small_kernel(op)
        if kernel is not None:
            return self._inlined(kernel, args)
        number = self._known.setdefault((op, *args), len(self.code))
        if number == len(self.code):
            self.code.append((op, *args))
            if op.negates:
                self._negated[number] = args[0]
                self._special.add(number)
        return number

    def _inlined(self, kernel: ir.Function, args: tuple[int, ...]) -> int:
        assert kernel.body is not None
        at: dict[ir.Atom, int] = dict(zip(kernel.params, args, strict=True))
        for let in kernel.body.lets:
            assert isinstance(let.expr, ir.Apply)
            given = [self.leaf(a) if isinstance(a, ir.Lit) else at[a] for a in let.expr.args]
            at[let.binders[0]] = self.apply(let.expr.op, *given)
        (result,) = kernel.body.results
        return self.leaf(result) if isinstance(result, ir.Lit) else at[result]


@cache
def way(op: Primitive) -> Literal["one", "two", "opposite", "apply"]:
    """Which function of a numbering applies `op`."""
    if op is NEGATION:
        return "opposite"
    plain = len(op.params) < 3 and not op.failure and small_kernel(op) is None
    return ("one", "two")[len(op.params) - 1] if plain else "apply"


@cache
def _back(op: Primitive, mask: Mask) -> Callable[..., tuple[int | None, ...]]:
    """What gives the cotangents of the operands in `mask`, as numbers."""
    return numbers(*back_of(op, mask), way)


Turn = tuple[ir.Var, Any, tuple[int, ...], int, tuple[ir.Atom, ...]]
"""A variable; what gives its way back, or the leaf that it is; operands, its number, active operands."""


class _Ways(dict[Primitive, Callable[..., int] | None]):
    """How an op is applied; None where that is more than an op of numbers."""

    def __init__(self, numbering: Numbering) -> None:
        one, two, opposite = numbering.plain()
        self.ways = {"one": one, "two": two, "opposite": opposite, "apply": numbering.apply}

    def __missing__(self, op: Primitive) -> Callable[..., int] | None:
        if op.failure or (isinstance(op.wasm, Emit) and op.wasm.name != "select"):
            self[op] = None
        else:
            self[op] = self.ways[way(op)]
        return self[op]


class _Sweep:
    """The numbers of the variables of `f`, and what the way back needs of each."""

    def __init__(self, f: ir.Function, mask: Mask) -> None:
        self.f = f
        self.mask = mask
        self.numbering = Numbering()
        self.at: dict[ir.Atom, int] = {}
        self.active: set[ir.Atom] = {p for p, on in zip(f.params, mask, strict=True) if on}
        self.turns: list[Turn] = []
        self.places = {p: k for k, p in enumerate(f.params)}
        for k, p in enumerate(f.params):
            if p.type is REAL or p.type is INT:
                self.at[p] = self.numbering.leaf((k, 0))

    def number(self, a: ir.Atom) -> int:
        return self.numbering.leaf(a) if isinstance(a, ir.Lit) else self.at[a]

    def forward(self) -> bool:
        """Number all values; False where something is not an op of numbers."""
        assert self.f.body is not None
        at, active, turns, number = self.at, self.active, self.turns, self.number
        how = _Ways(self.numbering)
        for let in self.f.body.lets:
            e, y = let.expr, let.binders[0] if let.binders else None
            if type(e) is not ir.Apply or y is None:
                if not isinstance(e, ir.Index) or not self._element(e, let.binders[0]):
                    return False
                continue
            op, args = e.op, e.args
            apply = how[op]
            if apply is None:
                return False
            given = tuple([at[a] if type(a) is ir.Var else number(a) for a in args])
            at[y] = k = apply(op, *given)
            if op.differentiable and not active.isdisjoint(args):
                on = tuple([a in active for a in args])
                turns.append((y, _back(op, on), given, k, args if all(on) else tuple([a for a in args if a in active])))
                active.add(y)
        return True

    def _element(self, e: ir.Index, y: ir.Var) -> bool:
        """An element of an argument at a place that is known."""
        p, offset = self.places.get(e.base), 0  # type: ignore[arg-type]  # whatever is no parameter is not found
        t = e.base.type
        for step in e.path:
            if not isinstance(step, ir.Lit) or not isinstance(t, Array) or t.length is None or not has_real(t):
                return False
            if not isinstance(step.value, int) or not 0 <= step.value < t.length:
                return False
            t, offset = t.element, offset * t.length + step.value
        if p is None or t is not REAL:
            return False
        self.at[y] = number = self.numbering.leaf((p, offset))
        if e.base in self.active:
            self.turns.append((y, (p, offset), (), number, ()))
            self.active.add(y)
        return True

    def back(self) -> dict[Any, int]:
        """The cotangents of parameters, and of elements by parameter and place, for a seed of 1."""
        assert self.f.body is not None
        numbering = self.numbering
        one, two, opposite = numbering.plain()
        apply, leaf = numbering.apply, numbering.leaf
        zero = leaf(ir.real(0.0))
        sums: dict[Any, int] = {self.f.body.results[0]: leaf(ir.real(1.0))}
        take, get = sums.pop, sums.get
        for y, make, given, number, operands in reversed(self.turns):
            ct = take(y, None)
            if ct is None:
                continue
            if not operands:
                sums[make] = apply(ADD, get(make, zero), ct)
                continue
            for x, part in zip(operands, make(one, two, opposite, apply, leaf, *given, number, ct), strict=True):
                if part is not None:
                    have = get(x)
                    sums[x] = part if have is None else two(ADD, have, part)
        return sums

    def made(self, results: tuple[Result, ...]) -> Straight:
        return Straight(self.f.name, self.f, self.numbering.code, self.numbering.leaves, results)

    def results(self) -> list[Result]:
        """Those of `f` itself."""
        assert self.f.body is not None
        return [Result(a.type, (self.number(a),)) for a in self.f.body.results]


def _sweep(f: ir.Function, mask: Mask) -> _Sweep | None:
    """`f` numbered, if it is long and straight, and takes only Reals, Ints and arrays of Reals of known lengths."""
    if f.body is None or f.rule is not None or len(f.body.lets) < WORTHWHILE:
        return None
    if not all([_length(p.type) for p in f.params]) or not all([t is REAL or t is INT for t in f.results]):
        return None
    sweep = _Sweep(f, mask)
    return sweep if sweep.forward() else None


def _length(t: Type) -> int:
    """How many numbers there are in a value of type `t`, if they are Reals side by side; else 0."""
    count = 1
    while isinstance(t, Array):
        count, t = count * (t.length or 0), t.element
    return count if t is REAL or (t is INT and count == 1) else 0


def straight(f: ir.Function) -> Straight | None:
    """`f` as numbers; None where that cannot be, or is not worth it."""
    sweep = _sweep(f, (False,) * len(f.params))
    return None if sweep is None else sweep.made(tuple(sweep.results()))


def gradient(f: ir.Function, mask: Mask) -> Straight | None:
    """The results of `f`, the cotangents of the parameters in `mask` for a seed of 1 on the first behind that one."""
    sweep = _sweep(f, mask)
    if sweep is None or sweep.f.results[:1] != (REAL,):
        return None
    value, *others = sweep.results()
    sums, zero = sweep.back(), sweep.numbering.leaf(ir.real(0.0))
    cts: list[Result] = []
    for k, (p, on) in enumerate(zip(f.params, mask, strict=True)):
        if on and p.type is REAL:
            cts.append(Result(REAL, (sums.get(p, zero),)))
        elif on:
            cts.append(Result(p.type, tuple([sums.get((k, place), zero) for place in range(_length(p.type))])))
    return sweep.made((value, *cts, *others))


def arranged(made: Straight, name: str, results: tuple[Result | ir.Atom, ...]) -> Straight | None:
    """`made` under another name and with these of its results; None if there are others."""
    found = tuple([r for r in results if isinstance(r, Result)])
    return replace(made, name=name, results=found) if len(found) == len(results) else None
