"""The primitives by name, and those that are operators by symbol and operand types."""

from rosejit.ir.primitive import Primitive
from rosejit.ir.types import Scalar
from rosejit.ops import arith, compare, elementary, fastmath, integer, linear, logic, special, tables

_ALL = (
    *(*arith.ALL, *compare.ALL, *logic.ALL, *integer.ALL, *linear.ALL, *fastmath.ALL),
    *(*elementary.ALL, *special.ALL, *tables.ALL),
)

PRIMITIVES: dict[str, Primitive] = {op.name: op for op in _ALL}

OPERATORS: dict[tuple[str, tuple[Scalar, ...]], Primitive] = {(op.symbol, op.params): op for op in _ALL if op.symbol}

assert len(PRIMITIVES) == len(_ALL), "two primitives have one name"
assert len(OPERATORS) == sum(1 for op in _ALL if op.symbol), "two primitives have one symbol and the same operands"
