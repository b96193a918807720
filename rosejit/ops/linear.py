"""The linear operations on Tans: the only ones that are transposed."""

# Rules are generic: they run on numbers and on staged values.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from rosejit.ir.primitive import Emit, Instr, Kernel, Primitive
from rosejit.ir.types import BOOL, REAL, TAN
from rosejit.ops import ieee754

tadd = Primitive(
    name="tadd",
    symbol="+",
    params=(TAN, TAN),
    result=TAN,
    doc="The sum of two tangents.",
    evaluate=lambda s, t: s + t,
    transpose=lambda ct, s, t: (ct, ct),
    erased="add",
    wasm=Instr("f64.add"),
    cheap=True,
    commutes=True,
)
tfadd = Primitive(
    name="tfadd",
    word="+",
    params=(TAN, TAN),
    result=TAN,
    doc="The sum of two tangents; a loop may take the terms of a running sum in another order.",
    evaluate=lambda s, t: s + t,
    transpose=lambda ct, s, t: (ct, ct),
    erased="fadd",
    wasm=Instr("f64.add"),
    cheap=True,
    commutes=True,
    gathers=(0, 1),
)
tsub = Primitive(
    name="tsub",
    symbol="-",
    params=(TAN, TAN),
    result=TAN,
    doc="The difference of two tangents.",
    evaluate=lambda s, t: s - t,
    transpose=lambda ct, s, t: (ct, -ct),
    erased="sub",
    wasm=Instr("f64.sub"),
    cheap=True,
)
tneg = Primitive(
    name="tneg",
    symbol="-",
    params=(TAN,),
    result=TAN,
    doc="The opposite of a tangent.",
    evaluate=lambda t: -t,
    transpose=lambda ct, t: (-ct,),
    erased="neg",
    wasm=Instr("f64.neg"),
    cheap=True,
)
scale = Primitive(
    name="scale",
    symbol="*",
    params=(REAL, TAN),
    result=TAN,
    doc="A number times a tangent.",
    evaluate=lambda c, t: c * t,
    transpose=lambda ct, c, t: (None, c * ct),
    erased="mul",
    wasm=Instr("f64.mul"),
    cheap=True,
)
tdiv = Primitive(
    name="tdiv",
    symbol="/",
    params=(TAN, REAL),
    result=TAN,
    doc="A tangent divided by a number.",
    evaluate=ieee754.divide,
    transpose=lambda ct, t, c: (ct / c, None),
    erased="div",
    wasm=Instr("f64.div"),
)
tratio = Primitive(
    name="tratio",
    params=(TAN, REAL),
    result=TAN,
    doc="A tangent divided by a number; 0 by 0 is 0.",
    evaluate=ieee754.ratio,
    transpose=lambda ct, t, c: (tratio(ct, c), None),
    erased="ratio",
    wasm=Kernel("ratio"),
)
tselect = Primitive(
    name="tselect",
    params=(BOOL, TAN, TAN),
    result=TAN,
    doc="The second tangent where the first is true, else the third.",
    evaluate=lambda c, s, t: s if c else t,
    transpose=lambda ct, c, s, t: (None, tselect(c, ct, 0.0), tselect(c, 0.0, ct)),
    erased="select",
    wasm=Emit("select"),
    selects=True,
    cheap=True,
)

ALL = (tadd, tfadd, tsub, tneg, scale, tdiv, tratio, tselect)
