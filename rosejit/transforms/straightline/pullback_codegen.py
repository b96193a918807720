"""Pullbacks of primitives, compiled: from the straight-line code of one to a Python function that does it on value
numbers in place of variables.

It runs once for every operation that is differentiated, so it has no loops and no look-ups of rules: signs are moved
where it is made, once for a cotangent and once for minus one.
"""

from collections.abc import Callable, Iterator
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ops import PRIMITIVES
from rosejit.transforms.analysis.activity import Mask
from rosejit.transforms.analysis.rule_templates import needed
from rosejit.transforms.passes.simplify import without_signs
from rosejit.transforms.straightline.op_rows import CODES, Row
from rosejit.transforms.straightline.value_numbering import is_step

PullbackStep = Callable[[int, Row], None]
"""Given a row, by its place, adds to the cotangents of its operands."""

_ADD, _SUB = CODES[PRIMITIVES["add"]], CODES[PRIMITIVES["sub"]]

_SOURCE = """
def bind(sweep):
    number, plus, minus, numbering = sweep.number, sweep.plus, sweep.minus, sweep.numbering
    known, special, opposite, apply = numbering.known, numbering.special, numbering.opposite, numbering.apply
    setdefault = known.setdefault
    {leaves}

    def turn(k, row):
        ct = plus[k]
        if ct is None:
            ct = minus[k]
            if ct is None:
                return
            {places} = row
            if ct in special:
                ct = opposite(ct)
                {general}
            else:
                {opposite}
        else:
            {places} = row
            if ct in special:
                {general}
            else:
                {usual}

    return turn
"""

_PLUS = """have = plus[{place}]
if have is not None:
    plus[{place}] = setdefault(({add}, have, {part}), len(known))
else:
    have = minus[{place}]
    if have is None:
        plus[{place}] = {part}
    else:
        plus[{place}], minus[{place}] = setdefault(({sub}, {part}, have), len(known)), None
"""
_MINUS = """have = plus[{place}]
if have is not None:
    plus[{place}] = setdefault(({sub}, have, {part}), len(known))
else:
    have = minus[{place}]
    if have is None:
        minus[{place}] = {part}
    else:
        other = opposite({part})
        plus[{place}], minus[{place}] = setdefault(({sub}, other, have), len(known)), None
"""
_GENERAL = """have, inside = plus[{place}], minus[{place}]
if inside is not None:
    have, minus[{place}] = opposite(inside), None
plus[{place}] = {part} if have is None else apply(add, have, {part})
"""


def compile_pullback(
    params: tuple[ir.Var, ...], lets: list[ir.Let], outputs: tuple[ir.Atom | None, ...], mask: Mask
) -> Callable[[Any], PullbackStep]:
    """What makes, for a sweep of `numbered_gradient.py`, the pullback of an op whose operands in `mask` are active;
    the rest is as `straightline_reverse.primitive_transpose` gives it."""
    return _PullbackSource(params, needed(lets, outputs), outputs, mask).compiled()


class _PullbackSource:
    """The source of a pullback in the making."""

    def __init__(
        self,
        params: tuple[ir.Var, ...],
        lets: list[tuple[ir.Var, ir.Apply]],
        outputs: tuple[ir.Atom | None, ...],
        mask: Mask,
    ) -> None:
        *operands, self.result, self.ct = params
        self.operands = operands
        self.lets, self.outputs, self.mask = lets, outputs, mask
        self.scope: dict[str, Any] = {"add": PRIMITIVES["add"]}
        self.names: dict[ir.Atom, str] = {p: f"a{k}" for k, p in enumerate(operands)}
        self.names |= {self.result: "y", self.ct: "ct"}
        self.leaves: list[str] = []

    def compiled(self) -> Callable[[Any], PullbackStep]:
        """The function."""
        given = list(self.given())
        lines = {
            "general": [*given, *self.general()],
            "usual": [*given, *self.usual(minus=False)],
            "opposite": [*given, *self.usual(minus=True)],
            "leaves": self.leaves,
        }
        places = ", ".join(["_", *[f"p{k}" for k in range(len(self.operands))]])
        exec(_filled(_SOURCE.replace("{places}", places), lines), self.scope)
        return self.scope["bind"]

    def constant(self, value: Any) -> str:
        """A name for an object."""
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def name(self, a: ir.Atom) -> str:
        """The name of the number of an atom."""
        if isinstance(a, ir.Lit):
            name = f"l{len(self.leaves)}"
            self.leaves.append(f"{name} = numbering.leaf({self.constant(a)})")
            return name
        return self.names.setdefault(a, f"v{len(self.names)}")

    def given(self) -> Iterator[str]:
        """Fetches the numbers of what is read."""
        read = {a for _, e in self.lets for a in e.args} | set(self.outputs)
        for k, p in enumerate(self.operands):
            if p in read:
                yield f"a{k} = number[p{k}]"
        if self.result in read:
            yield "y = number[k]"

    def parts(self) -> Iterator[tuple[str, ir.Atom]]:
        """The places that are added to, and what."""
        places = [f"p{k}" for k, on in enumerate(self.mask) if on]
        for place, part in zip(places, self.outputs, strict=True):
            if part is not None:
                yield place, part

    def general(self) -> Iterator[str]:
        """The pullback with a constant as cotangent, or with one that is minus another value."""
        for var, e in self.lets:
            yield f"{self.name(var)} = apply({', '.join([self.constant(e.op), *map(self.name, e.args)])})"
        for place, part in self.parts():
            yield from _GENERAL.format(place=place, part=self.name(part)).splitlines()

    def usual(self, minus: bool) -> Iterator[str]:
        """The pullback where no op has a rule for the cotangent, or for what it is `minus` of."""
        negated: dict[ir.Atom, ir.Atom] = {}
        same: dict[ir.Atom, ir.Atom] = {}
        if minus:
            negated[self.ct] = bare = ir.Var(self.ct.type)
            self.names[bare] = "ct"
        for var, e in self.lets:
            args = tuple([same.get(a, a) for a in e.args])
            if e.op.negates:
                inside = negated.get(args[0])
                if inside is None:
                    negated[var] = args[0]
                else:
                    same[var] = inside
                continue
            op, args, odd = without_signs(e.op, args, negated)
            bare = ir.Var(op.result) if odd else var
            if odd:
                negated[var] = bare
            given = [f"opposite({self.name(negated[a])})" if a in negated else self.name(a) for a in args]
            if is_step(op):
                yield f"{self.name(bare)} = setdefault(({CODES[op]}, {', '.join(given)}), len(known))"
            else:
                yield f"{self.name(bare)} = apply({', '.join([self.constant(op), *given])})"
        for place, part in self.parts():
            part, template = (negated[part], _MINUS) if part in negated else (same.get(part, part), _PLUS)
            yield from template.format(place=place, part=self.name(part), add=_ADD, sub=_SUB).splitlines()


def _filled(template: str, lines: dict[str, list[str]]) -> str:
    """`template` with lines in place of names, as deep as those stand."""
    found: list[str] = []
    for line in template.splitlines():
        word = line.strip().strip("{}")
        pad = line[: len(line) - len(line.lstrip())]
        found += [pad + each for each in lines[word] or ["pass"]] if word in lines else [line]
    return "\n".join(found)
