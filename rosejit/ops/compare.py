"""Comparisons: of Reals, of Ints, of Bools, and what kind of Real it is."""

import math
import operator
from collections.abc import Callable

from rosejit.ir.primitive import Instr, Kernel, Primitive
from rosejit.ir.types import BOOL, INT, REAL, Scalar

_WORDS = {
    "<": "whether the first is smaller",
    "<=": "whether the first is smaller or equal",
    ">": "whether the first is greater",
    ">=": "whether the first is greater or equal",
    "==": "whether they are equal",
    "!=": "whether they differ",
}
_NAMES = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


def _comparison(name: str, symbol: str, operands: Scalar, evaluate: Callable[..., bool], instruction: str) -> Primitive:
    remark = "" if operands is not REAL else "; true for NaN" if symbol == "!=" else "; false for NaN"
    return Primitive(
        name=name,
        symbol=symbol,
        params=(operands, operands),
        result=BOOL,
        doc=f"{_WORDS[symbol].capitalize()}{remark}.",
        evaluate=evaluate,
        wasm=Instr(instruction),
        cheap=True,
        commutes=symbol in ("==", "!="),
    )


def _mixed(symbol: str, evaluate: Callable[[int, float], bool]) -> Primitive:
    """Of an Int and a Real as Python compares them: exactly, where the Int is no Real too."""
    name = f"r{_NAMES[symbol]}"
    remark = "true for NaN" if symbol == "!=" else "false for NaN"
    doc = f"{_WORDS[symbol].capitalize()}, whatever their size; {remark}."
    return Primitive(
        name=name, params=(INT, REAL), result=BOOL, doc=doc, evaluate=evaluate, wasm=Kernel(name), cheap=True
    )


def _kind(name: str, doc: str, evaluate: Callable[[float], bool]) -> Primitive:
    return Primitive(
        name=name,
        params=(REAL,),
        result=BOOL,
        doc=doc,
        evaluate=evaluate,
        wasm=Kernel(name),
        cheap=True,
        rose=name,
        numpy=name,
        math=name,
    )


lt = _comparison("lt", "<", REAL, operator.lt, "f64.lt")
le = _comparison("le", "<=", REAL, operator.le, "f64.le")
gt = _comparison("gt", ">", REAL, operator.gt, "f64.gt")
ge = _comparison("ge", ">=", REAL, operator.ge, "f64.ge")
eq = _comparison("eq", "==", REAL, operator.eq, "f64.eq")
ne = _comparison("ne", "!=", REAL, operator.ne, "f64.ne")

ilt = _comparison("ilt", "<", INT, operator.lt, "i64.lt_s")
ile = _comparison("ile", "<=", INT, operator.le, "i64.le_s")
igt = _comparison("igt", ">", INT, operator.gt, "i64.gt_s")
ige = _comparison("ige", ">=", INT, operator.ge, "i64.ge_s")
ieq = _comparison("ieq", "==", INT, operator.eq, "i64.eq")
ine = _comparison("ine", "!=", INT, operator.ne, "i64.ne")

rlt, rle, rgt, rge, req, rne = (_mixed(symbol, getattr(operator, name)) for symbol, name in _NAMES.items())

beq = _comparison("beq", "==", BOOL, operator.eq, "i32.eq")
bne = _comparison("bne", "!=", BOOL, operator.ne, "i32.ne")

isnan = _kind("isnan", "Whether it is NaN.", math.isnan)
isinf = _kind("isinf", "Whether it is inf or -inf.", math.isinf)
isfinite = _kind("isfinite", "Whether it is neither infinite nor NaN.", math.isfinite)

ALL = (
    lt,
    le,
    gt,
    ge,
    eq,
    ne,
    ilt,
    ile,
    igt,
    ige,
    ieq,
    ine,
    rlt,
    rle,
    rgt,
    rge,
    req,
    rne,
    beq,
    bne,
    isnan,
    isinf,
    isfinite,
)
