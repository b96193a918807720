"""Writes docs/math.md from the records of `benchmarks/math_*.py`: `python -m docs.generate_math [FOLDER]`."""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.math_derivatives import ENOUGH, LOSSES
from benchmarks.math_points import TRIALS
from benchmarks.measure import OUT

TARGET = Path(__file__).parent / "math.md"

HEAD = """\
# Mathematical functions

Written by `docs/generate_math.py` from the records of `benchmarks/math_accuracy.py`, `math_derivatives.py`,
`math_speed.py`, `math_bits.py` and `math_bytes.py`. WebAssembly has `sqrt`, and no other function of this page: each is
a *kernel*, a function of the IR in `rosejit/ops/kernels/`, compiled into the modules that use it, once. The
interpreter, wasmtime and a browser take the same steps and give the same bits. Loops over arrays take two iterations at
a time with f64x2: that code is made from the kernel (`rosejit/codegen/loops/simd_kernels.py`), so the bits are the same
again. `exp`, `exp2`, `sigmoid` and `tanh` look into 512 bytes of powers of two (`rosejit/ops/tables.py`).
"""

EDGES = """\
## Edge cases
Zeros with their signs, infinities, NaN, subnormals and exact cases are those of C99, Annex F
(`tests/ops/kernels/test_edges.py`). What is different, and why:

| function | here | C99 | reason |
|---|---|---|---|
| all | no flags are raised; a NaN has any bits | flags, payloads | WebAssembly has no flags and leaves NaNs open |
| `logsumexp` | the slope by what is 690 below the largest is 0 | | no bit of a sum; subnormal products are slow |
| `round` | half to even | `round`: half away from zero | Python and NumPy (C's `rint` does so too) |
| `max`, `min` | the first of equals; `max(1.0, nan)` is 1.0, `max(nan, 1.0)` NaN | `fmax`: the number | Python |
| `np.maximum`, `np.minimum` | NaN if one is; -0.0 is below 0.0 (NumPy: by machine) | `fmax`: the number | NumPy |
| `%`, `//` | the sign of the divisor | `fmod`: that of the dividend | Python; `fmod` is C's |

`gamma` and `lgamma` are as in C99 where Python's raise. C99 has no `digamma`, `sigmoid`, `softplus`, `sign`:
`digamma` is -inf at 0.0 and inf at -0.0, NaN at negative integers and -inf; `sigmoid` is 0 at -inf and 1 at inf;
`softplus` is 0 at -inf and inf at inf; `sign` is 0.0 at both zeros, as in NumPy, and keeps NaN.
"""


def rows(folder: Path, table: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a record by function."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads((folder / f"{table}.json").read_text())["rows"]:
        found.setdefault(row["function"].split()[0], []).append(row)
    return found


def cell(value: Any, form: str) -> str:
    """A number, if there is one."""
    return "" if value is None else format(value, form)


def errors(folder: Path) -> str:
    """The table of accuracy."""
    record = rows(folder, "math_accuracy")
    lines = [
        "## Errors",
        "In units in the last place, over the whole domain: evenly, all binades alike, random bits, dense at hard",
        "points.",
        "",
        "| function | points | largest error | promised | at |",
        "|---|---|---|---|---|",
    ]
    for name in TRIALS:
        (row,) = record[name]
        near = f" (near its zeros {row['near zeros']:.1e} absolute)" if row.get("near zeros") else ""
        lines.append(f"| `{name}` | {row['points']:,} | {row['ulp']:.3f} | {row['bound']:g}{near} | `{row['at']}` |")
    return "\n".join([*lines, ""])


def derivatives(folder: Path) -> str:
    """The table of errors of derivatives, and where digits are lost."""
    record = rows(folder, "math_derivatives")
    lines = [
        "## Derivatives",
        f"Relative errors of first and second derivatives, as the transforms give them; promised is {ENOUGH:.0e}.",
        "Those that are subnormal or overflow are not judged.",
        "",
        "| function | first | second |",
        "|---|---|---|",
    ]
    for name in TRIALS:
        parts = {
            order: ", ".join(
                f"{r['error']:.1e}" + (f" (∂{r['d']})" if len(record[name]) > 2 else "")
                for r in record[name]
                if len(r["d"]) == order
            )
            for order in (1, 2)
        }
        lines.append(f"| `{name}` | {parts[1]} | {parts[2]} |")
    lines += ["", "Digits are lost, and not looked at above:", ""]
    lines += [f"- {', '.join(f'`{f}`' for f in loss.functions)}: {loss.reason}." for loss in LOSSES]
    return "\n".join([*lines, ""])


def costs(folder: Path) -> str:
    """The table of times and bytes."""
    speed, sizes = rows(folder, "math_speed"), rows(folder, "math_bytes")
    lines = [
        "## Costs",
        "Nanoseconds a call in a loop: one at a time, two at a time over arrays, glibc from a loop in C, NumPy over",
        "arrays (with AVX-512); and the bytes that a module grows by, for one at a time and for both.",
        "",
        "| function | one | two | glibc | NumPy | bytes: one | both |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in TRIALS:
        (t,), (b,) = speed[name], sizes[name]
        times = [cell(t.get(key), ".1f") for key in ("scalar", "array", "glibc", "numpy")]
        lines.append(f"| `{name}` | {' | '.join(times)} | {b['scalar']:,} | {b['array']:,} |")
    return "\n".join([*lines, ""])


def bits(folder: Path) -> str:
    """How many bits were compared."""
    record = [row for found in rows(folder, "math_bits").values() for row in found]
    total, off = sum(r["points"] for r in record), sum(r["node"] + r["interpreter"] for r in record)
    least = min(r["points"] for r in record)
    return (
        "## Bits\n"
        f"wasmtime, node and the interpreter were compared at {least:,} points or more of each of {len(record)}\n"
        f"functions, {total:,} in all: results differ at {off}.\n"
    )


def text(folder: Path) -> str:
    """The whole page."""
    return "\n".join([HEAD, errors(folder), derivatives(folder), EDGES, costs(folder), bits(folder)])


if __name__ == "__main__":
    TARGET.write_text(text(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT), encoding="utf-8")
