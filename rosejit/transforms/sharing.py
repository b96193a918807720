"""Operations on numbers of values to the number of the result: equal values have one number, what is known is folded.

By the rules of `simplify.py`, so the bits are those of the passes.
"""

from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ops.kernels import small_kernel
from rosejit.transforms.rows import CODES
from rosejit.transforms.simplify import NEGATION, as_negation, folded, without_signs

Step = tuple[int, ...]
"""The code of a primitive and the numbers of its operands."""

_NEGATION = CODES[NEGATION]


def is_step(op: Primitive) -> bool:
    """Whether `op` is a step as it is, of operands that are not `special`."""
    return len(op.params) < 3 and not op.failure and not op.negates and small_kernel(op) is None


class Numbering:
    """The steps in order: the number of a value is its place among them, `~k` stands for `leaves[k]`.

    Who applies an op that `is_step` often does so itself: `known.setdefault(step, len(known))` is its number, unless an
    operand is special.
    """

    def __init__(self) -> None:
        self.known: dict[Step, int] = {}
        self.special: set[int] = set()
        """Values that an op has rules for: constants, and what is minus something."""
        self.leaves: list[Any] = []
        self._leaves: dict[Any, int] = {}
        self._literals: dict[int, ir.Lit] = {}
        self._negated: dict[int, int] = {}  # what a value is minus of

    def leaf(self, leaf: Any) -> int:
        """The number of an argument, of an element, of a constant or of whatever else a user of this reads."""
        literal = isinstance(leaf, ir.Lit)
        key = (leaf.type, leaf.value or repr(leaf.value)) if literal else leaf  # tells 0.0 from -0.0
        number = self._leaves.setdefault(key, ~len(self.leaves))
        if number == ~len(self.leaves):
            self.leaves.append(leaf)
            if literal:
                self._literals[number] = leaf
                self.special.add(number)
        return number

    def opposite(self, a: int) -> int:
        """The number of minus a value."""
        if a in self.special:
            return self.apply(NEGATION, a)
        number = self.known.setdefault((_NEGATION, a), len(self.known))
        self._negated[number] = a
        self.special.add(number)
        return number

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
        literals = self._literals
        if not literals.keys().isdisjoint(args) and (op.neutral or all([a in literals for a in args])):
            atoms = tuple([literals.get(a, a) for a in args])
            simpler, rest = as_negation(op, atoms)
            if simpler is not op:
                return self.apply(simpler, *[self.leaf(a) if isinstance(a, ir.Lit) else a for a in rest])
            found = folded(op, atoms)
            if found is not None:
                return self.leaf(found) if isinstance(found, ir.Lit) else found
        kernel = small_kernel(op)
        if kernel is not None:
            return self._inlined(kernel, args)
        number = self.known.setdefault((CODES[op], *args), len(self.known))
        if op.negates:
            self._negated[number] = args[0]
            self.special.add(number)
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
