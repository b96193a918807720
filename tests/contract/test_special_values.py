"""Every row of the registry of NumPy's functions on zeros with a sign, NaN, infinities and subnormals, against NumPy:
the sign of each zero too."""

import ast
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rosejit.errors import RoseError
from rosejit.frontend.numpy.row_kinds import of_elements
from tests.contract.test_registry import CALLS, SCALARS, TITLES, USUAL, code, is_narrow, outcome, plain, samples_of
from tests.contract.test_registry import written as written_for
from tests.frontend.oracle import run, stage
from tests.tables import part

INF, NAN = math.inf, math.nan
POOLS: dict[str, list[float]] = {
    "-0.0": [-0.0],
    "zeros": [-0.0, 0.0],
    "units": [-0.0, 0.0, 1.0, -1.0],
    "nan": [NAN, -0.0, 0.0, 1.0],
    "infinite": [INF, -INF, -0.0, 1.0],
    "both": [INF, NAN, 0.0],
    "halves": [-0.5, 0.5, -2.5, 2.5, 1.5, -0.0],
    "extreme": [5e-324, -5e-324, 1e308, -1e308, 2.0**52 + 0.5, -0.0, NAN, INF],
}
"""What the elements are drawn from."""
DRAWS = 3
IN_ANY_ORDER = (
    "mean",
    "dot",
    "matmul",
    "inner",
    "tensordot",
    "einsum",
    "vdot",
    "vecdot",
    "matvec",
    "vecmat",
    "convolve",
)
"""Sums that overflow in one order and not in another."""
TIES = (
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "max",
    "min",
    "reduce",
    "accumulate",
    "outer",
    "nanmax",
    "nanmin",
    "sort",
    "apply_along_axis",
    "apply_over_axes",
    "pad",
    "partition",
    "at",
    "quantile",
    "percentile",
    "nanquantile",
    "nanpercentile",
    "histogramdd",
    "clip",
)
"""Where NumPy gives one of 0.0 and -0.0, by the width of the machine's vectors: signs are not compared."""
UNSORTED = ("argsort", "searchsorted", "digitize", "interp", "histogram", "histogram2d", "partition", "polyfit")
"""Where NumPy's answer is that of an algorithm for what is sorted, or one order of several."""
EVEN = re.compile(r"np.gradient .*(, x|\[)")
"""NumPy takes steps that happen to be equal, also 0, for one step."""
BY_ROUTINE = {"np.dot x, s", "np.inner x, s", "np.dot s, 2.0", "np.tensordot x, s, axes=0", "x.dot x; s"}
"""Products that BLAS skips where the number is zero, NaN or not."""


def is_same(found: Any, wanted: Any, signs: bool) -> bool:
    """Equal up to rounding; zeros with their signs."""
    if isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(is_same(a, b, signs) for a, b in zip(found, wanted, strict=True))
    if isinstance(wanted, complex):
        return is_same(found.real, wanted.real, signs) and is_same(found.imag, wanted.imag, signs)
    if type(found) is not type(wanted) or not isinstance(wanted, float):
        return type(found) is type(wanted) and found == wanted
    if math.isnan(wanted) or math.isinf(wanted) or wanted == 0.0 == found:
        alike = found == wanted or (math.isnan(wanted) and math.isnan(found))
        return alike and (math.isnan(wanted) or not signs or math.copysign(1.0, found) == math.copysign(1.0, wanted))
    return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-13)


def drawn(rng: np.random.Generator, pool: Sequence[float]) -> dict[str, Any]:
    """What the names in sample calls stand for: elements of a pool where they are Reals."""
    found = {
        name: rng.choice(pool, np.shape(value)) if np.asarray(value).dtype.kind == "f" else value
        for name, value in USUAL.items()
    }
    return found | {"s": float(found["s"])}


def used(statements: str) -> list[str]:
    """The names of the arguments of a call."""
    nodes = ast.walk(ast.parse(f"def f():\n {statements}"))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return [name for name in USUAL if name in names]


def faults(title: str, sample: str) -> list[str]:
    """Where a sample call differs from NumPy's on special values."""
    row, last = CALLS[title], title.rpartition(".")[2]
    statements = code(title, row, sample)
    names = used(statements)
    if not any(np.asarray(USUAL[name]).dtype.kind == "f" for name in names):
        return []
    rng = np.random.default_rng(len(title))
    f, args = written_for(statements, USUAL)
    staged = stage(f, *args)
    found: list[str] = []
    for pool, values in POOLS.items():
        if (
            pool == "extreme"
            and row.kind is not of_elements
            and (last in IN_ANY_ORDER or "sum" in last or "gradient" in last)
        ):
            continue
        if f"{title} {sample}" in BY_ROUTINE and pool not in ("zeros", "units", "halves"):
            continue
        for _ in range(DRAWS):
            scope = drawn(rng, values)
            if f"{title} {sample}" in BY_ROUTINE:
                scope["s"] = 2.0
            args = [scope[name] for name in names]
            why = _fault(title, staged, f, args, signs=last not in TIES)
            if why:
                found.append(f"{statements}  [{pool}: {args}]: {why}")
    return found


def _fault(title: str, staged: Any, f: Any, args: list[Any], signs: bool) -> str:
    lifted = [SCALARS[type(a)](a) if title.startswith("x.") and type(a) in SCALARS else a for a in args]
    wanted = outcome(f, lifted)
    try:
        found = run(staged, f, *args)
    except (RoseError, ArithmeticError, ValueError) as error:  # an integer of NaN, which NumPy has of any bits
        return "" if isinstance(wanted, Exception) or _REFUSED.search(str(error)) else f"raises {error!r}"
    if isinstance(wanted, Exception) or is_narrow(wanted):
        return f"gives {found!r}, NumPy raises {wanted!r}" if isinstance(wanted, Exception) else ""
    return "" if is_same(plain(found), plain(wanted), signs) else f"gives {plain(found)}, NumPy {plain(wanted)}"


_REFUSED = re.compile("NaN|64 bits|in staged code|two signs")
"""Integers of NaN, of which NumPy makes any, and results whose length or kind hangs on the values."""
CASES = [
    (title, sample)
    for title in TITLES
    if "linalg" not in title and "polynomial" not in title and title.rpartition(".")[2] not in UNSORTED
    for sample in samples_of(title, CALLS[title])
    if not EVEN.match(f"{title} {sample}")
]


@pytest.mark.parametrize(("title", "sample"), part(CASES, 5), ids=str)
def test_special_values(title: str, sample: str) -> None:
    found = faults(title, sample)
    assert not found, "\n".join(found)
