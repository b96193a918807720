"""Writes docs/ops.md and the public names of the operations from the records: `python docs/generate_ops.py`."""

import re
from pathlib import Path

from rosejit.ir.primitive import Instr, Primitive
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.ops import arith, compare, elementary, fastmath, integer, linear, logic, special, tables

TARGET = Path(__file__).parent / "ops.md"
NAMES = Path(__file__).parent.parent / "rosejit" / "api" / "scalar_functions.py"
ROOMS = (
    ("Reals", arith),
    ("Reals that need not keep to the last bit", fastmath),
    ("Elementary functions", elementary),
    ("Special functions", special),
    ("Comparisons", compare),
    ("Logic", logic),
    ("Integers", integer),
    ("Tables", tables),
    ("Tangents", linear),
)
HEAD = """\
# The primitives

Written by `docs/generate_ops.py` from the records in `rosejit/ops/`. *Derivative*: how the tangent is made (`Σ`: a
factor an argument; `rule`: a rule of its own; nothing: it is zero). *Wasm*: instructions, or a kernel: a function of
the IR in `rosejit/ops/kernels/`, made of the same steps in Python, in wasmtime and in a browser; or a table in the
data of the module. Elementary functions are right to 1 unit in the last place; [math.md](math.md) has the errors that
were found.
"""


def form(op: Primitive) -> str:
    """How it is written in the text of the IR."""
    if op.symbol and len(op.params) == 2:
        return f"a {op.symbol} b"
    if op.symbol:
        return f"{op.symbol} a" if op.symbol.isidentifier() else f"{op.symbol}a"
    return f"{op.name}({', '.join('abc'[: len(op.params)])})"


def row(op: Primitive) -> str:
    """A line of the table."""
    types = f"{', '.join(map(repr, op.params))} → {op.result!r}"
    derivative = "Σ" if op.partials else "rule" if op.tangent else "linear" if op.transpose else ""
    wasm = f"`{' '.join(op.wasm.names)}`" if isinstance(op.wasm, Instr) else type(op.wasm).__name__.lower()
    fails = f" Fails: {op.failure.replace('|', ' or ')}." if op.failure else ""
    return f"| `{op.name}` | `{form(op)}` | {types} | {op.doc}{fails} | {derivative} | {wasm} |".replace("||", "|")


def text() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, room in ROOMS:
        lines = [f"## {title}", "| name | form | types | meaning | derivative | Wasm |", "|---|---|---|---|---|---|"]
        parts.append("\n".join([*lines, *map(row, room.ALL)]) + "\n")
    return "\n".join(parts)


def _natural(name: str) -> list[int | str]:
    """Numbers in names in the order of their size."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


_PYTHON = {REAL: "float", INT: "int", BOOL: "bool"}


def _type(op: Primitive) -> str:
    """What type checkers take its function for."""
    return "OfNumber" if (op.result, len(op.params)) == (REAL, 1) else f"OfNumbers[{_PYTHON[op.result]}]"


def names() -> str:
    """The module of the public functions, so that editors and type checkers see them."""
    public = {op.rose: _type(op) for _, room in ROOMS for op in room.ALL if op.rose}
    ordered = sorted(public, key=_natural)
    lines = [
        '"""The public functions of numbers, for type checkers. Written by `docs/generate_ops.py` from the records."""',
        "",
        "from typing import TYPE_CHECKING",
        "",
        "if TYPE_CHECKING:  # Python finds them in the table when they are first asked for: `rosejit.__getattr__`",
        "    from rosejit.api.calling.call_types import OfNumber, OfNumbers",
        "",
        *(f"    {name}: {public[name]}" for name in ordered),
        "",
        "__all__ = [",
        *(f'    "{name}",' for name in ordered),
        "]",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    NAMES.write_text(names(), encoding="utf-8")
