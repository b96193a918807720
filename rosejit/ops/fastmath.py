"""Arithmetic that need not keep to the last bit: sums whose terms may come in any order, and divisions by products."""

# Rules are generic: they run on numbers and on staged values.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from typing import Any

from rosejit.ir.primitive import Instr, Primitive
from rosejit.ir.types import REAL
from rosejit.ops import ieee754
from rosejit.ops.linear import tfadd


def _sum_of_tangents(add: Primitive, dx: Any, dy: Any) -> Any:
    """An absent one is zero."""
    return dx if dy is None else dy if dx is None else add(dx, dy)


def _difference_of_tangents(add: Primitive, dx: Any, dy: Any) -> Any:
    return _sum_of_tangents(add, dx, None if dy is None else -dy)


fadd = Primitive(
    name="fadd",
    word="+",
    params=(REAL, REAL),
    result=REAL,
    doc="The sum; a loop may take the terms of a running sum in another order.",
    evaluate=lambda x, y: x + y,
    tangent=lambda args, r, tangents: _sum_of_tangents(tfadd, *tangents),
    wasm=Instr("f64.add"),
    cheap=True,
    commutes=True,
    minus=("~fsub", "fsub"),
    gathers=(0, 1),
)
fsub = Primitive(
    name="fsub",
    word="-",
    params=(REAL, REAL),
    result=REAL,
    doc="The difference; the first may be a running sum, whose terms a loop may take in another order.",
    evaluate=lambda x, y: x - y,
    tangent=lambda args, r, tangents: _difference_of_tangents(tfadd, *tangents),
    wasm=Instr("f64.sub"),
    cheap=True,
    minus=("", "fadd"),
    gathers=(0,),
)
fdiv = Primitive(
    name="fdiv",
    word="/",
    params=(REAL, REAL),
    result=REAL,
    doc="The quotient; its derivative shares one reciprocal.",
    evaluate=ieee754.divide,
    partials=lambda x, y, r: (fdiv(1.0, y), -(r * fdiv(1.0, y))),
    wasm=Instr("f64.div"),
    neutral=(None, 1.0),
    minus=("-fdiv", "-fdiv"),
    inverse="mul",
)
fsqrt = Primitive(
    name="fsqrt",
    word="sqrt",
    params=(REAL,),
    result=REAL,
    doc="The square root; its derivative shares the reciprocal with other divisions by it.",
    evaluate=ieee754.square_root,
    partials=lambda x, r: (0.5 * fdiv(1.0, r),),
    wasm=Instr("f64.sqrt"),
)

ALL = (fadd, fsub, fdiv, fsqrt)
