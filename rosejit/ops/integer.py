"""Integers of 64 bits: checked arithmetic that is never silently wrong, and raw operations for proven ranges."""

# Rules are generic: they run on numbers and on staged values.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import operator
from collections.abc import Callable
from math import isnan

from rosejit.ir.primitive import Emit, Instr, Kernel, Primitive
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.ops import ieee754

SMALLEST = -(2**63)
LARGEST = 2**63 - 1
_ONE = (INT,)
_TWO = (INT, INT)


# --- on Python's ints


def wrap(i: int) -> int:
    """The Int with the lowest 64 bits of `i`."""
    return ((i - SMALLEST) & (2**64 - 1)) + SMALLEST


def _fitting(i: int) -> int:
    if SMALLEST <= i <= LARGEST:
        return i
    raise OverflowError("the result does not fit 64 bits")


def _power(i: int, k: int) -> int:
    if k < 0 or (k > 63 and abs(i) > 1):
        raise OverflowError("the result does not fit 64 bits")
    return _fitting(i ** (k if k < 64 else 64 + k % 2))


def _wrapping_power(i: int, k: int) -> int:
    return wrap(pow(i, k, 2**64))


def _shift_left(i: int, k: int) -> int:
    if k < 0 or (k > 63 and i != 0):
        raise OverflowError("the result does not fit 64 bits")
    return _fitting(i << min(k, 63))


def _truncate(x: float) -> int:
    if -(2.0**63) <= x < 2.0**63:
        return int(x)
    raise ValueError("NaN is no integer") if isnan(x) else OverflowError("the result does not fit 64 bits")


def _saturate(x: float) -> int:
    if -(2.0**63) <= x < 2.0**63:
        return int(x)
    return LARGEST if x > 0.0 else SMALLEST if x < 0.0 else 0


def _quotient(i: int, j: int) -> int:
    q = abs(i) // abs(j)
    return q if (i < 0) == (j < 0) else -q


# --- the least and the largest result


Bounds = tuple[int, int]


def _products(i: Bounds, j: Bounds) -> Bounds:
    corners = [a * b for a in i for b in j]
    return min(corners), max(corners)


def _remainders(i: Bounds, j: Bounds) -> Bounds | None:
    return (0, j[1] - 1) if j[0] > 0 else None


def _quotients(i: Bounds, j: Bounds) -> Bounds | None:
    if j[0] <= 0:
        return None
    corners = [a // b for a in i for b in j]
    return min(corners), max(corners)


def _larger(i: Bounds, j: Bounds) -> Bounds:
    return max(i[0], j[0]), max(i[1], j[1])


def _smaller(i: Bounds, j: Bounds) -> Bounds:
    return min(i[0], j[0]), min(i[1], j[1])


# --- checked


def _checked(
    name: str,
    params: tuple[Scalar, ...],
    doc: str,
    evaluate: Callable[..., int],
    unchecked: str,
    *,
    symbol: str = "",
    word: str = "",
    failure: str = "overflow",
    commutes: bool = False,
    adds: tuple[int, ...] = (),
    bounds: Callable[..., Bounds | None] | None = None,
) -> Primitive:
    return Primitive(
        name=name,
        symbol=symbol,
        word=word,
        params=params,
        result=INT,
        doc=doc,
        evaluate=evaluate,
        wasm=Kernel(name),
        failure=failure,
        unchecked=unchecked,
        cheap=True,
        commutes=commutes,
        adds=adds,
        bounds=bounds,
    )


iadd = _checked("iadd", _TWO, "The sum.", lambda i, j: _fitting(i + j), "wadd", symbol="+", commutes=True, adds=(1, 1))
isub = _checked("isub", _TWO, "The difference.", lambda i, j: _fitting(i - j), "wsub", symbol="-", adds=(1, -1))
imul = _checked(
    "imul", _TWO, "The product.", lambda i, j: _fitting(i * j), "wmul", symbol="*", commutes=True, bounds=_products
)
ineg = _checked("ineg", _ONE, "The opposite.", lambda i: _fitting(-i), "wneg", symbol="-", adds=(-1,))
iabs = _checked("iabs", _ONE, "The magnitude.", lambda i: _fitting(abs(i)), "wabs", word="abs")
ipow = _checked(
    "ipow",
    _TWO,
    "The power; `0 ** 0` is 1. The caller makes sure that the exponent is not negative.",
    _power,
    "wpow",
    word="**",
)
ishl = _checked(
    "ishl", _TWO, "Python's `<<`. The caller makes sure that the count is not negative.", _shift_left, "shl", word="<<"
)
ifloordiv = _checked(
    "ifloordiv",
    _TWO,
    "The floored quotient, as Python's `//`.",
    lambda i, j: _fitting(i // j),
    "wfloordiv",
    symbol="//",
    failure="zero division|overflow",  # -2**63 // -1
    bounds=_quotients,
)
imod = _checked(
    "imod",
    _TWO,
    "The remainder of the floored quotient, as Python's `%`: with the sign of the second.",
    operator.mod,
    "wmod",
    symbol="%",
    failure="zero division",
    bounds=_remainders,
)
to_int = _checked(
    "to_int",
    (REAL,),
    "The integer part of a Real; fails where it does not fit, and for NaN.",
    _truncate,
    "sat_int",
    word="int",
    failure="overflow|no integer",
)


# --- raw


def _raw(
    name: str,
    params: tuple[Scalar, ...],
    doc: str,
    evaluate: Callable[..., int | float],
    instruction: str = "",
    *,
    commutes: bool = False,
    adds: tuple[int, ...] = (),
    bounds: Callable[..., Bounds | None] | None = None,
) -> Primitive:
    return Primitive(
        name=name,
        params=params,
        result=REAL if instruction.startswith("f64") else INT,
        doc=doc,
        evaluate=evaluate,
        wasm=Instr(instruction) if instruction else Kernel(name),
        cheap=True,
        commutes=commutes,
        adds=adds,
        bounds=bounds,
    )


wadd = _raw("wadd", _TWO, "The sum modulo 2**64.", lambda i, j: wrap(i + j), "i64.add", commutes=True, adds=(1, 1))
wsub = _raw("wsub", _TWO, "The difference modulo 2**64.", lambda i, j: wrap(i - j), "i64.sub", adds=(1, -1))
wmul = _raw(
    "wmul", _TWO, "The product modulo 2**64.", lambda i, j: wrap(i * j), "i64.mul", commutes=True, bounds=_products
)
wneg = _raw("wneg", _ONE, "The opposite modulo 2**64.", lambda i: wrap(-i), adds=(-1,))
wabs = _raw("wabs", _ONE, "The magnitude modulo 2**64.", lambda i: wrap(abs(i)))
wpow = _raw("wpow", _TWO, "The power modulo 2**64; the exponent is proven not to be negative.", _wrapping_power)
wfloordiv = _raw(
    "wfloordiv", _TWO, "The floored quotient, which is proven to exist.", operator.floordiv, bounds=_quotients
)
wmod = _raw("wmod", _TWO, "Its remainder; the divisor is proven not to be 0.", operator.mod, bounds=_remainders)
quot = _raw("quot", _TWO, "The quotient rounded towards zero, which is proven to exist.", _quotient, "i64.div_s")
rem = _raw(
    "rem", _TWO, "Its remainder; the divisor is proven not to be 0.", lambda i, j: i - j * _quotient(i, j), "i64.rem_s"
)
urem = _raw(
    "urem",
    _TWO,
    "The remainder of both as numbers without a sign; the divisor is proven not to be 0.",
    lambda i, j: wrap((i % 2**64) % (j % 2**64)),
    "i64.rem_u",
)
umulh = _raw(
    "umulh",
    _TWO,
    "The high 64 bits of the product of both as numbers without a sign.",
    lambda i, j: wrap((i % 2**64) * (j % 2**64) >> 64),
    commutes=True,
)
rotr = _raw(
    "rotr",
    _TWO,
    "Bits shifted down, those that fall out put in above; the count modulo 64.",
    lambda i, k: wrap((i % 2**64 * (2**64 + 1)) >> (k & 63)),
    "i64.rotr",
)
shl = _raw("shl", _TWO, "Bits shifted up; the count modulo 64.", lambda i, k: wrap(i << (k & 63)), "i64.shl")
shr = _raw("shr", _TWO, "Shifted down, the sign copied; the count modulo 64.", lambda i, k: i >> (k & 63), "i64.shr_s")
ushr = _raw(
    "ushr",
    _TWO,
    "Shifted down, zeros filled in; the count modulo 64.",
    lambda i, k: wrap((i % 2**64) >> (k & 63)),
    "i64.shr_u",
)
ishr = _raw("ishr", _TWO, "Python's `>>`; the count is proven not to be negative.", lambda i, k: i >> k)
iand = _raw("iand", _TWO, "The bits that are set in both.", operator.and_, "i64.and", commutes=True)
ior = _raw("ior", _TWO, "The bits that are set in one of them.", operator.or_, "i64.or", commutes=True)
ixor = _raw("ixor", _TWO, "The bits that differ.", operator.xor, "i64.xor", commutes=True)
inot = _raw("inot", _ONE, "All bits flipped.", lambda i: ~i)
clz = _raw(
    "clz",
    _ONE,
    "The number of zero bits above the highest set one.",
    lambda i: 64 - (i % 2**64).bit_length(),
    "i64.clz",
)
imax = _raw("imax", _TWO, "The larger.", max, commutes=True, bounds=_larger)
imin = _raw("imin", _TWO, "The smaller.", min, commutes=True, bounds=_smaller)
isign = _raw("isign", _ONE, "1, 0 or -1.", lambda i: (i > 0) - (i < 0))
wrap_index = _raw(
    "wrap_index", _TWO, "`i + n` where `i` is negative, else `i`.", lambda i, n: wrap(i + n) if i < 0 else i
)
iselect = Primitive(
    name="iselect",
    params=(BOOL, INT, INT),
    result=INT,
    doc="The second where the first is true, else the third.",
    evaluate=lambda c, i, j: i if c else j,
    wasm=Emit("select"),
    cheap=True,
)

# --- between types

bool_to_int = _raw("bool_to_int", (BOOL,), "1 for true, 0 for false.", int, "i64.extend_i32_u")
to_real = _raw("to_real", _ONE, "The nearest Real.", float, "f64.convert_i64_s")
sat_int = _raw("sat_int", (REAL,), "The integer part, cut to 64 bits; 0 for NaN.", _saturate, "i64.trunc_sat_f64_s")
bits = _raw("bits", (REAL,), "The bits of a Real.", ieee754.bits, "i64.reinterpret_f64")
from_bits = _raw("from_bits", _ONE, "The Real of these bits.", ieee754.from_bits, "f64.reinterpret_i64")

ALL = (
    *(iadd, isub, imul, ineg, iabs, ipow, ishl, ifloordiv, imod, to_int),
    *(wadd, wsub, wmul, wneg, wabs, wpow, wfloordiv, wmod, quot, rem, urem, umulh, rotr),
    *(shl, shr, ushr, ishr),
    *(iand, ior, ixor, inot, clz, imax, imin, isign, wrap_index, iselect),
    *(bool_to_int, to_real, sat_int, bits, from_bits),
)
