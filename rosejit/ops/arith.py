"""Arithmetic on Reals: what one instruction does, what selects, and the exact operations of IEEE 754."""

# Rules are generic: they run on numbers and on staged values.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import math
from typing import Any

from rosejit.ir.primitive import Emit, Instr, Kernel, Primitive
from rosejit.ir.types import BOOL, REAL
from rosejit.ops import ieee754
from rosejit.ops.fastmath import fadd, fdiv, fsqrt, fsub
from rosejit.ops.linear import tratio, tselect

# --- one instruction

add = Primitive(
    name="add",
    symbol="+",
    params=(REAL, REAL),
    result=REAL,
    doc="The sum.",
    evaluate=lambda x, y: x + y,
    partials=lambda x, y, r: (1.0, 1.0),
    wasm=Instr("f64.add"),
    cheap=True,
    commutes=True,
    minus=("~sub", "sub"),
    relaxed=lambda x, y: fadd(x, y),
)
sub = Primitive(
    name="sub",
    symbol="-",
    params=(REAL, REAL),
    result=REAL,
    doc="The difference.",
    evaluate=lambda x, y: x - y,
    partials=lambda x, y, r: (1.0, -1.0),
    wasm=Instr("f64.sub"),
    cheap=True,
    minus=("", "add"),
    relaxed=lambda x, y: fsub(x, y),
)
mul = Primitive(
    name="mul",
    symbol="*",
    params=(REAL, REAL),
    result=REAL,
    doc="The product.",
    evaluate=lambda x, y: x * y,
    partials=lambda x, y, r: (y, x),
    wasm=Instr("f64.mul"),
    cheap=True,
    commutes=True,
    neutral=(1.0, 1.0),
    minus=("-mul", "-mul"),
)
div = Primitive(
    name="div",
    symbol="/",
    params=(REAL, REAL),
    result=REAL,
    doc="The quotient; by zero it is infinite, or NaN for 0/0.",
    evaluate=ieee754.divide,
    partials=lambda x, y, r: (1.0 / y, -(r * (1.0 / y))),  # one division for both
    wasm=Instr("f64.div"),
    neutral=(None, 1.0),
    minus=("-div", "-div"),
    inverse="mul",
    relaxed=lambda x, y: x * fdiv(1.0, y),
)
neg = Primitive(
    name="neg",
    symbol="-",
    params=(REAL,),
    result=REAL,
    doc="The opposite; flips the sign of zeros too.",
    evaluate=lambda x: -x,
    partials=lambda x, r: (-1.0,),
    wasm=Instr("f64.neg"),
    cheap=True,
    negates=True,
)
abs_ = Primitive(
    name="abs",
    rose="abs",
    params=(REAL,),
    result=REAL,
    doc="The magnitude; its derivative at 0 is 0.",
    evaluate=math.fabs,
    partials=lambda x, r: (sign(x),),
    wasm=Instr("f64.abs"),
    cheap=True,
)
sqrt = Primitive(
    name="sqrt",
    rose="sqrt",
    numpy="sqrt",
    math="sqrt",
    params=(REAL,),
    result=REAL,
    doc="The square root, correctly rounded; NaN below 0. Its derivative at 0 is inf.",
    evaluate=ieee754.square_root,
    partials=lambda x, r: (0.5 * (1.0 / r),),  # 1 / r is often at hand: a distance is divided by
    wasm=Instr("f64.sqrt"),
    relaxed=lambda x: fsqrt(x),
)
floor = Primitive(
    name="floor",
    rose="floor",
    params=(REAL,),
    result=REAL,
    doc="The next integer downwards, as a Real; derivative 0.",
    evaluate=ieee754.floor,
    wasm=Instr("f64.floor"),
    cheap=True,
)
ceil = Primitive(
    name="ceil",
    rose="ceil",
    params=(REAL,),
    result=REAL,
    doc="The next integer upwards, as a Real; derivative 0.",
    evaluate=ieee754.ceil,
    wasm=Instr("f64.ceil"),
    cheap=True,
)
trunc = Primitive(
    name="trunc",
    rose="trunc",
    params=(REAL,),
    result=REAL,
    doc="The integer part, as a Real; derivative 0.",
    evaluate=ieee754.trunc,
    wasm=Instr("f64.trunc"),
    cheap=True,
)
nearest = Primitive(
    name="nearest",
    rose="round",
    numpy="rint",
    params=(REAL,),
    result=REAL,
    doc="The nearest integer, as a Real, halves to even; derivative 0.",
    evaluate=ieee754.nearest,
    wasm=Instr("f64.nearest"),
    cheap=True,
)
single = Primitive(
    name="single",
    params=(REAL,),
    result=REAL,
    doc="The nearest float of 32 bits, halves to even; infinite beyond them. The derivative is that of the argument.",
    evaluate=ieee754.single,
    partials=lambda x, r: (1.0,),
    wasm=Instr("f32.demote_f64", "f64.promote_f32"),
    js="Math.fround",
    cheap=True,
)
copysign = Primitive(
    name="copysign",
    rose="copysign",
    numpy="copysign",
    math="copysign",
    params=(REAL, REAL),
    result=REAL,
    doc="The magnitude of the first with the sign of the second.",
    evaluate=math.copysign,
    partials=lambda x, y, r: (sign(x) * copysign(1.0, y), None),
    wasm=Instr("f64.copysign"),
    cheap=True,
)
maximum = Primitive(
    name="maximum",
    params=(REAL, REAL),
    result=REAL,
    doc="The larger, NaN where either is NaN, as `numpy.maximum`; the derivative of a tie is that of the first.",
    evaluate=ieee754.maximum,
    tangent=lambda args, r, tangents: _chosen((args[0] >= args[1]) | (args[0] != args[0]), *tangents),
    wasm=Instr("f64.max"),
    cheap=True,
)
minimum = Primitive(
    name="minimum",
    params=(REAL, REAL),
    result=REAL,
    doc="The smaller, NaN where either is NaN, as `numpy.minimum`; the derivative of a tie is that of the first.",
    evaluate=ieee754.minimum,
    tangent=lambda args, r, tangents: _chosen((args[0] <= args[1]) | (args[0] != args[0]), *tangents),
    wasm=Instr("f64.min"),
    cheap=True,
)


# --- selections


def _chosen(condition: Any, dx: Any, dy: Any) -> Any:
    """The tangent of one of two; an absent one is zero."""
    if dx is None and dy is None:
        return None
    return tselect(condition, 0.0 if dx is None else dx, 0.0 if dy is None else dy)


select = Primitive(
    name="select",
    params=(BOOL, REAL, REAL),
    result=REAL,
    doc="The second where the first is true, else the third; in value, tangent and cotangent.",
    evaluate=lambda c, x, y: x if c else y,
    tangent=lambda args, r, tangents: _chosen(args[0], *tangents[1:]),
    wasm=Emit("select"),
    cheap=True,
)
max_ = Primitive(
    name="max",
    rose="max",
    params=(REAL, REAL),
    result=REAL,
    doc="The second if it is greater, else the first, as CPython's `max`: `max(1.0, nan)` is 1.0.",
    evaluate=lambda x, y: y if y > x else x,
    tangent=lambda args, r, tangents: _chosen(args[1] > args[0], *reversed(tangents)),
    wasm=Kernel("max"),
    cheap=True,
)
min_ = Primitive(
    name="min",
    rose="min",
    params=(REAL, REAL),
    result=REAL,
    doc="The second if it is smaller, else the first, as CPython's `min`: `min(1.0, nan)` is 1.0.",
    evaluate=lambda x, y: y if y < x else x,
    tangent=lambda args, r, tangents: _chosen(args[1] < args[0], *reversed(tangents)),
    wasm=Kernel("min"),
    cheap=True,
)
sign = Primitive(
    name="sign",
    rose="sign",
    params=(REAL,),
    result=REAL,
    doc="1 above 0, -1 below, 0.0 of either zero, and NaN of NaN; derivative 0.",
    evaluate=ieee754.sign,
    wasm=Kernel("sign"),
    cheap=True,
)

# --- exact, by a kernel

ratio = Primitive(
    name="ratio",
    params=(REAL, REAL),
    result=REAL,
    doc="The quotient; 0 by 0 is 0.",
    evaluate=ieee754.ratio,
    tangent=lambda args, r, tangents: _of_ratio(args[1], r, *tangents),
    wasm=Kernel("ratio"),
)


def _of_ratio(y: Any, r: Any, dx: Any, dy: Any) -> Any:
    """A slope that nobody asks about is 0 here too."""
    moved = dx if dy is None else -(r * dy) if dx is None else dx - r * dy
    return tratio(moved, y)


fmod = Primitive(
    name="fmod",
    rose="fmod",
    math="fmod",
    params=(REAL, REAL),
    result=REAL,
    doc="The remainder of the quotient rounded towards zero, as C's `fmod`: exact, with the sign of the first.",
    evaluate=ieee754.fmod,
    partials=lambda x, y, r: (1.0, -nearest((x - r) / y)),
    wasm=Kernel("fmod"),
)
mod = Primitive(
    name="mod",
    symbol="%",
    params=(REAL, REAL),
    result=REAL,
    doc="The remainder of the floored quotient, as Python's `%`: with the sign of the second.",
    evaluate=ieee754.mod,
    partials=lambda x, y, r: (1.0, -nearest((x - r) / y)),
    wasm=Kernel("mod"),
)
floordiv = Primitive(
    name="floordiv",
    symbol="//",
    params=(REAL, REAL),
    result=REAL,
    doc="The floored quotient, as Python's `//`; a zero divisor gives inf or NaN. Derivative 0.",
    evaluate=ieee754.floordiv,
    wasm=Kernel("floordiv"),
)
fma = Primitive(
    name="fma",
    rose="fma",
    math="fma",
    params=(REAL, REAL, REAL),
    result=REAL,
    doc="The first times the second plus the third, rounded once.",
    evaluate=ieee754.fma,
    partials=lambda x, y, z, r: (y, x, 1.0),
    wasm=Kernel("fma"),
)

ALL = (
    *(add, sub, mul, div, neg, abs_, sqrt, floor, ceil, trunc, nearest, single, copysign, maximum, minimum),
    *(select, max_, min_, sign, ratio, fmod, mod, floordiv, fma),
)
