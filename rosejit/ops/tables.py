"""Powers of two between 1 and 2 as primitives: columns of a table that kernels look into.

A row is found by the lowest bits of an Int, so that every Int has one.
"""

from collections.abc import Mapping
from math import isqrt

from rosejit.ir.primitive import Primitive, Table
from rosejit.ir.types import INT, REAL
from rosejit.ops import floats

Row = tuple[float, int]

_ROWS = 32
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
        rows.append(((power - int(nearest * 2**52) * (_ONE >> 52)) / power, floats.bits(nearest) - (j << 47)))
        power = power * root // _ONE
    return tuple(rows)


TABLES: Mapping[str, tuple[Row, ...]] = {"exp2": _powers()}


def _rest(i: int) -> float:
    return TABLES["exp2"][i % _ROWS][0]


def _bits(i: int) -> int:
    return TABLES["exp2"][i % _ROWS][1]


exp2_rest = Primitive(
    name="exp2_rest",
    params=(INT,),
    result=REAL,
    doc="What is missing of 2**(i / 32) in a double, relative to it; i modulo 32.",
    evaluate=_rest,
    wasm=Table("exp2", 0),
)
exp2_bits = Primitive(
    name="exp2_bits",
    params=(INT,),
    result=INT,
    doc="The bits of 2**(i / 32), i modulo 32, less i << 47: with the bits of any i << 47 those of 2**(i / 32).",
    evaluate=_bits,
    wasm=Table("exp2", 1),
)

ALL = (exp2_rest, exp2_bits)
