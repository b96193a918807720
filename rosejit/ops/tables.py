"""Powers of two between 1 and 2, the bits of 2/π, and the layers of ziggurats as primitives: columns of tables.

A row is found by the lowest bits of an Int, so that every Int has one. A table is made when it is first looked into.
"""

from collections.abc import Callable, Mapping
from functools import cache
from math import isqrt

from rosejit.ir.primitive import Primitive, Table
from rosejit.ir.types import INT, REAL, Scalar
from rosejit.ops import ieee754, ziggurat

Row = tuple[float, int]

_ROWS = 32
_WORDS = 20
_ONE = 1 << 160


def _powers() -> tuple[Row, ...]:
    """For each j: what is missing of 2**(j / 32) in a double, relative to it, and its bits less j << 47."""
    root = 2 * _ONE
    for _ in range(5):
        root = isqrt(root * _ONE)
    rows: list[Row] = []
    power = _ONE
    for j in range(_ROWS):
        nearest = power / _ONE
        rows.append(((power - int(nearest * 2**52) * (_ONE >> 52)) / power, ieee754.bits(nearest) - (j << 47)))
        power = power * root // _ONE
    return tuple(rows)


def _two_over_pi() -> tuple[Row, ...]:
    """64 zeros, then the bits of 2/π behind the point, 64 in a row: of 1216 bits the largest double needs the last."""
    bits, one = 64 * (_WORDS - 1), 1 << 64 * (_WORDS + 1)
    found = 2 * (one << bits) // (16 * _arctan(5, one) - 4 * _arctan(239, one))  # Machin (1706)
    words = [found >> bits - 64 * j & 2**64 - 1 if j < _WORDS else 0 for j in range(_ROWS)]
    return tuple([(0.0, word - (word >> 63 << 64)) for word in words])


def _arctan(n: int, one: int) -> int:
    """The arc tangent of 1 / n in units of 1 / one."""
    power = total = one // n
    k = 1
    while power:
        power //= n * n
        k += 2
        total += power // k if k % 4 == 1 else -(power // k)
    return total


TABLES: Mapping[str, Callable[[], tuple[Row, ...]]] = {
    "exp2": cache(_powers),
    "2/pi": cache(_two_over_pi),
    "normal": lambda: ziggurat.normal()[0],
    "normal height": lambda: ziggurat.normal()[1],
    "exponential": lambda: ziggurat.exponential()[0],
    "exponential height": lambda: ziggurat.exponential()[1],
}
"""What makes the rows of a table, or has made them: a power of two of them."""


def _column(name: str, table: str, column: int, result: Scalar, doc: str) -> Primitive:
    """What reads a column of a table."""

    def entry(i: int) -> float | int:
        rows = TABLES[table]()
        return rows[i % len(rows)][column]

    return Primitive(name, (INT,), result, doc, evaluate=entry, wasm=Table(table, column))


exp2_rest = _column(
    "exp2_rest", "exp2", 0, REAL, "What is missing of 2**(i / 32) in a double, relative to it; i modulo 32."
)
exp2_bits = _column(
    "exp2_bits",
    "exp2",
    1,
    INT,
    "The bits of 2**(i / 32), i modulo 32, less i << 47: with the bits of any i << 47 those of 2**(i / 32).",
)
two_over_pi = _column(
    "two_over_pi",
    "2/pi",
    1,
    INT,
    "For i from 1 to 19 bits 64 (i - 1) to 64 i of 2/π behind the point, else 0; i modulo 32.",
)

_LAYERS = tuple(
    _column(f"{name}_{what}", table, column, result, f"{doc} of the {name} density; i modulo {ziggurat.LAYERS}.")
    for name in ("normal", "exponential")
    for what, table, column, result, doc in (
        ("width", name, 0, REAL, "The unit of the numbers in layer i of the ziggurat"),
        ("inside", name, 1, INT, "How many of these units are surely under it in layer i of the ziggurat"),
        ("height", f"{name} height", 0, REAL, "The height at the edge of layer i of the ziggurat"),
    )
)

ALL = (exp2_rest, exp2_bits, two_over_pi, *_LAYERS)
