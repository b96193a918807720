"""Logic on Bools; both operands are there, so nothing is short-circuited here."""

# Rules are generic: they run on numbers and on staged values.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import operator
from collections.abc import Callable

from rosejit.ir.primitive import Emit, Instr, Primitive
from rosejit.ir.types import BOOL


def _connective(name: str, doc: str, evaluate: Callable[[bool, bool], bool]) -> Primitive:
    return Primitive(
        name=name,
        symbol=name,
        params=(BOOL, BOOL),
        result=BOOL,
        doc=doc,
        evaluate=evaluate,
        wasm=Instr(f"i32.{name}"),
        cheap=True,
        commutes=True,
    )


not_ = Primitive(
    name="not",
    symbol="not",
    params=(BOOL,),
    result=BOOL,
    doc="Whether it is false.",
    evaluate=operator.not_,
    wasm=Instr("i32.eqz"),
    cheap=True,
)
and_ = _connective("and", "Whether both are true.", operator.and_)
or_ = _connective("or", "Whether one of them is true.", operator.or_)
xor = _connective("xor", "Whether exactly one is true.", operator.xor)
bselect = Primitive(
    name="bselect",
    params=(BOOL, BOOL, BOOL),
    result=BOOL,
    doc="The second where the first is true, else the third.",
    evaluate=lambda c, p, q: p if c else q,
    wasm=Emit("select"),
    cheap=True,
)

ALL = (not_, and_, or_, xor, bselect)
