"""Value numbering of basic blocks: from an operation on numbers of values to the number of its result. Equal values
have one number (common subexpressions are shared), what is known is folded.

By the rules of `simplify.py`, so the bits are those of the passes.
"""

import sys
from collections.abc import Container
from functools import cache
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Emit, Primitive
from rosejit.ops.kernels import small_kernel
from rosejit.transforms.passes.simplify import NEGATION, folded, reduced, without_signs
from rosejit.transforms.straightline.op_rows import CODES

Step = tuple[int, ...]
"""The code of a primitive and the numbers of its operands."""

_NEGATION = CODES[NEGATION]
_NEUTRAL = {sign * n for op in CODES for n in op.neutral if n is not None for sign in (1, -1)}

EVERYTHING: Container[int] = range(-sys.maxsize, sys.maxsize)
"""All numbers of values."""


def is_numeric(op: Primitive) -> bool:
    """Whether `op` has a place in a routine: it cannot fail, and is instructions, a call of a kernel or a selection."""
    return not op.failure and (not isinstance(op.wasm, Emit) or op.wasm.name == "select")


def is_step(op: Primitive) -> bool:
    """Whether `op` is a step as it is, of operands that are not `special`."""
    return len(op.params) < 3 and not op.failure and not op.negates and small_kernel(op) is None


class ValueNumbering:
    """The steps in order: the number of a value is its place among them, `~k` stands for `leaves[k]`.

    Who applies an op often makes its step without a call where no rule may apply: `known.setdefault(step, len(known))`
    is its number. That is so for an op that `is_step`, unless an operand is `special`; and see `closed`.
    """

    def __init__(self) -> None:
        self.known: dict[Step, int] = {}
        self.special: set[int] = set()
        """Values that an op has rules for: constants, and what is minus something."""
        self.ruled: set[int] = set()
        """Those that an op has rules for beside any other: constants that are neutral, and what is minus something."""
        self.leaves: list[Any] = []
        self.constants: dict[int, ir.Lit] = {}
        """The leaves that are."""
        self._leaves: dict[Any, int] = {}
        self._negated: dict[int, int] = {}  # what a value is minus of

    def closed(self, op: Primitive) -> Container[int]:
        """The values that `op` has rules for; beside them there is one where all operands are constants."""
        if small_kernel(op) is not None:
            return EVERYTHING
        return self.ruled if op.neutral or op.negates else self._negated if op.minus else ()

    def leaf(self, leaf: Any) -> int:
        """The number of an argument, of an element, of a constant or of whatever else a user of this reads."""
        if type(leaf) is ir.Lit:
            return self.literal(leaf)
        number = self._leaves.setdefault(leaf, ~len(self.leaves))
        if number == ~len(self.leaves):
            self.leaves.append(leaf)
        return number

    def literal(self, a: ir.Lit) -> int:
        """The number of a constant."""
        key = a.type, a.value or repr(a.value)  # tells 0.0 from -0.0
        number = self._leaves.get(key)
        if number is None:
            self._leaves[key] = number = ~len(self.leaves)
            self.leaves.append(a)
            self.constants[number] = a
            self.special.add(number)
            if a.value in _NEUTRAL:
                self.ruled.add(number)
        return number

    def opposite(self, a: int) -> int:
        """The number of minus a value."""
        if a in self.special:
            return self.apply(NEGATION, a)
        number = self.known.setdefault((_NEGATION, a), len(self.known))
        if number not in self._negated:
            self._negated[number] = a
            self.special.add(number)
            self.ruled.add(number)
        return number

    def apply(self, op: Primitive, *args: int) -> int:
        """The number of what `op` gives."""
        negated = self._negated
        if op.negates and args[0] in negated:
            return negated[args[0]]
        if op.minus:
            a, b = args
            if a in negated or b in negated:
                bare, (x, y), odd = _bare(op, a in negated, b in negated)
                given = a, b, negated.get(a, a), negated.get(b, b)
                found = self._new_value(bare, (given[x], given[y]))
                return self.opposite(found) if odd else found
        return self._new_value(op, args)

    def _new_value(self, op: Primitive, args: tuple[int, ...]) -> int:
        constants = self.constants
        if (op.neutral or max(args) < 0) and not constants.keys().isdisjoint(args):
            atoms = tuple([constants.get(a, a) for a in args])
            simpler, rest = reduced(op, atoms)
            if simpler is not op:
                return self.apply(simpler, *[self.literal(a) if type(a) is ir.Lit else a for a in rest])
            found = folded(op, atoms)
            if found is not None:
                return self.literal(found) if type(found) is ir.Lit else found
        kernel = small_kernel(op)
        if kernel is not None:
            return self._inlined(kernel, args)
        if op.negates and args[0] not in self.special:
            return self.opposite(args[0])
        return self.known.setdefault((CODES[op], *args), len(self.known))

    def _inlined(self, kernel: ir.Function, args: tuple[int, ...]) -> int:
        values, known = [*args], self.known
        for op, code, operands in _steps(kernel):
            given = [values[a] if type(a) is int else self.literal(a) for a in operands]
            if code is None or max(given) < 0:
                values.append(self.apply(op, *given))
            else:
                values.append(known.setdefault((code, *given), len(known)))
        return values[-1]


@cache
def _bare(op: Primitive, one: bool, other: bool) -> tuple[Primitive, tuple[int, ...], bool]:
    """An op of two operands, some of which are minus something, after signs have gone into it; which it takes of these
    two and of what they are minus of; and whether the result is minus what it gives."""
    return without_signs(op, (0, 1), {k: k + 2 for k, on in enumerate((one, other)) if on})


@cache
def _steps(kernel: ir.Function) -> list[tuple[Primitive, int | None, tuple[Any, ...]]]:
    """The ops of a small kernel, the last of which gives its result; their codes, where there are no rules for them;
    their operands: constants, and numbers of parameters or, behind those, of steps."""
    assert kernel.body is not None
    places = {v: k for k, v in enumerate((*kernel.params, *[let.binders[0] for let in kernel.body.lets]))}
    assert kernel.body.results == kernel.body.lets[-1].binders
    found: list[tuple[Primitive, int | None, tuple[Any, ...]]] = []
    for let in kernel.body.lets:
        assert isinstance(let.expr, ir.Apply)
        op, args = let.expr.op, let.expr.args
        ruled = op.neutral or op.minus or op.negates or op.failure or small_kernel(op)
        operands = tuple([a if isinstance(a, ir.Lit) else places[a] for a in args])
        found.append((op, None if ruled else CODES[op], operands))
    return found
