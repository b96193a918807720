"""The words and names of the text: which are taken, and what any name of Python becomes."""

import math
import re
import struct

from rosejit.ir.syntax import Atom, Lit
from rosejit.ir.types import BOOL, REAL, TAN
from rosejit.ops import OPERATORS

WORD_OPERATORS = frozenset(symbol for symbol, _ in OPERATORS if symbol.isidentifier())

KEYWORDS = WORD_OPERATORS.union(
    ("def", "own", "host", "checkpoint", "rule", "type", "let", "in", "true", "false", "inf", "nan", "inft", "nant"),
    ("if", "case", "inl", "inr", "outl", "outr", "loop", "down", "carry", "scan", "from", "while", "check", "for"),
    ("accum", "resolve", "copy", "zero", "like", "update", "untuple", "fst", "snd"),
)

TYPE_NAMES = frozenset(("Bool", "Int", "Real", "Tan", "D", "E"))

NAME = re.compile(r"[^\W\d]\w*")


def clean(name: str) -> str:
    """`name` as a name of the text: `<lambda>` becomes `lambda`."""
    if NAME.fullmatch(name):
        return name
    name = re.sub(r"\W+", "_", name).strip("_") or "x"
    return f"_{name}" if name[0].isdigit() else name


def literal_text(lit: Atom) -> str:
    """A literal that reads back as the same bits: Tans end in `t`, NaNs but the usual one show theirs."""
    assert isinstance(lit, Lit)
    if lit.value is None:
        return "()"
    if lit.type in (REAL, TAN):
        return real_text(float(lit.value)) + ("t" if lit.type is TAN else "")
    if lit.type is BOOL:
        return "true" if lit.value else "false"
    return repr(lit.value)


def real_text(x: float) -> str:
    """`x` as Python writes it, but for NaNs."""
    if math.isnan(x):
        (bits,) = struct.unpack("<Q", struct.pack("<d", x))
        return "nan" if bits == 0x7FF8000000000000 else f"nan(0x{bits:x})"
    return repr(x)


def real_of_bits(bits: int) -> float:
    """The Real with these 64 bits."""
    value: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return value
