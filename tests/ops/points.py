"""Where primitives are tried: interior points for derivatives, awkward ones, and many for accuracy."""

import math
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rosejit.ir.primitive import Primitive
from rosejit.ir.types import BOOL, INT, Scalar
from rosejit.ops import PRIMITIVES

SMALLEST, LARGEST = -(2**63), 2**63 - 1
REALS = (
    *(0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 7.25, 710.0, 1e16, 2.0**52, 2.0**63, 1e300, 1e-300),
    *(math.inf, math.nan, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, math.pi / 2, 1e22),
)
REALS += tuple(-x for x in REALS)
INTS = (
    *(0, 1, 2, 3, 7, 10, 62, 63, 64, 65, 2**31, 2**32, 2**62, 3037000499, 3037000500),
    *(LARGEST, LARGEST - 1, SMALLEST, SMALLEST + 1, -1, -2, -3, -7, -10, -(2**31), -3037000500),
)

DOMAINS = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "fsqrt", "pow", "cbrt", "gamma", "lgamma", "digamma"), (0.3, 3.0)),
    **dict.fromkeys(("asin", "acos", "atanh"), (-0.9, 0.9)),
    "log1p": (-0.5, 3.0),
    "acosh": (1.2, 3.0),
    "polygamma": (0.5, 4.0),
}
"""Where a function is smooth and its derivatives moderate, if not on [-2, 2]."""


def for_each(among: Callable[[Primitive], Any]) -> Any:
    """The test is run for the primitives of which `among` holds."""
    return pytest.mark.parametrize("op", [op for op in PRIMITIVES.values() if among(op)], ids=lambda op: op.name)


def inside(op: Primitive, rng: random.Random) -> list[Any]:
    """Arguments where `op` is smooth."""
    low, high = DOMAINS.get(op.name, (-2.0, 2.0))
    return [
        rng.random() < 0.5 if t is BOOL else rng.randint(0, 3) if t is INT else rng.uniform(low, high)
        for t in op.params
    ]


def awkward(op: Primitive, count: int, seed: int = 0) -> Iterator[list[Any]]:
    """Arguments of all sizes: edges of the types, random bits, small numbers."""
    rng = random.Random(seed)
    for _ in range(count):
        yield [_awkward(t, rng) for t in op.params]


def _awkward(t: Scalar, rng: random.Random) -> Any:
    if t is BOOL:
        return rng.random() < 0.5
    choice = rng.random()
    if t is INT:
        if choice < 0.5:
            return rng.choice(INTS)
        return rng.randint(-100, 100) if choice < 0.7 else rng.randint(SMALLEST, LARGEST)
    if choice < 0.4:
        return rng.choice(REALS)
    if choice < 0.7:
        return rng.uniform(-10.0, 10.0)
    return struct.unpack("<d", rng.randbytes(8))[0]


def proven(op: Primitive, args: list[Any]) -> bool:
    """Whether an unchecked operation may be applied to `args`."""
    if op.name in ("quot", "wfloordiv"):
        return args[1] != 0 and args != [SMALLEST, -1]
    if op.name in ("rem", "urem", "wmod"):
        return args[1] != 0
    return not (op.name in ("wpow", "ishr", "ipow", "ishl") and args[1] < 0) and not (
        op.name == "polygamma" and not 0 <= args[0] < 9
    )


def identical(a: Any, b: Any) -> bool:
    """The same number of the same type: the same bits, any NaN for a NaN."""
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack("<d", a) == struct.pack("<d", b) or (a != a and b != b)
    return type(a) is type(b) and a == b
