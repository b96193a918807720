"""Functions of complex arrays: values against NumPy's, gradients of all arguments against JAX's, by its conventions.

The calls are those of `tests/frontend/numpy/test_complex_arrays.py`; what is differentiated is a sum of the results,
and of their imaginary parts, with weights. `python -m benchmarks.complex_functions`, if JAX is installed; `--only fft`.
"""

import argparse
import json
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import OUT
from rosejit.errors import RoseError
from tests.frontend.numpy.test_complex_arrays import GIVEN, TABLE

CLOSE = 1e-10
MORE: dict[str, Callable[..., Any]] = {
    "np.fft.ifftn(z)": lambda z, w, x, m, v: np.fft.ifftn(z),
    "np.fft.rfft2(x)": lambda z, w, x, m, v: np.fft.rfft2(x),
    "np.fft.irfftn(z)": lambda z, w, x, m, v: np.fft.irfftn(z),
    "np.fft.hfft(z)": lambda z, w, x, m, v: np.fft.hfft(z),
    "np.fft.ihfft(x)": lambda z, w, x, m, v: np.fft.ihfft(x),
}
"""Calls beside those of the tests."""


def error_of(found: Any, wanted: Any) -> float:
    """The largest difference of two arrays, to the largest number."""
    a, b = np.asarray(found), np.asarray(wanted)
    assert a.shape == b.shape, (a.shape, b.shape)
    if not b.size or a.dtype == b.dtype == bool:
        return float(np.any(a != b))
    return float(np.max(np.abs(a - b)) / max(1.0, float(np.max(np.abs(b)))))


def loss_of(f: Callable[..., Any], value: Any, library: Any) -> Callable[..., Any]:
    """A sum with weights of a function's result."""
    weights = np.random.default_rng(3).normal(size=(2, *np.shape(value)))

    def loss(z: Any, w: Any, x: Any, m: Any, v: Any) -> Any:
        found = f(z, w, x, m, v)
        return library.sum(library.real(found) * weights[0]) + library.sum(library.imag(found) * weights[1])

    return loss


def with_library(f: Callable[..., Any], library: Any) -> Callable[..., Any]:
    """A function that is written with `np`, with another in its place."""
    assert isinstance(f, types.FunctionType)
    return types.FunctionType(f.__code__, {**f.__globals__, "np": library}, f.__name__, f.__defaults__, f.__closure__)


def judged(jax: Any, call: str, f: Callable[..., Any]) -> dict[str, Any]:
    """A row: errors of the value and of the gradient, or why there is none."""
    row: dict[str, Any] = {"call": call, "value": None, "gradient": None, "why": ""}
    try:
        wanted = f(*GIVEN)
        row["value"] = error_of(rose.jit(f)(*GIVEN), wanted)
    except RoseError as error:
        return row | {"why": f"refused: {error.message}"}
    if np.asarray(wanted).dtype.kind not in "fc":
        return row | {"why": "no derivative"}
    places = tuple(range(len(GIVEN)))
    ours = rose.grad(loss_of(f, wanted, np), places)(*GIVEN)
    try:
        theirs = jax.jit(jax.grad(loss_of(with_library(f, jax.numpy), wanted, jax.numpy), places))(*GIVEN)
    except (TypeError, NotImplementedError, AttributeError, ValueError) as error:
        return row | {"why": f"JAX refuses: {str(error).splitlines()[0]:.60}"}
    return row | {"gradient": max(map(error_of, ours, theirs))}


def main() -> None:
    """The largest errors and what was not compared, and all as JSON."""
    import jax  # pyright: ignore[reportMissingImports]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parts = parser.parse_args().only.split(",")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    warnings.simplefilter("ignore")
    rows = [judged(jax, c, f) for c, f in (TABLE | MORE).items() if any(part in c for part in parts)]
    for row in rows:
        if row["why"] not in ("", "no derivative") or max(row["value"] or 0.0, row["gradient"] or 0.0) > CLOSE:
            print(*row.values(), sep="  ")
    values, gradients = ([row[key] for row in rows if row[key] is not None] for key in ("value", "gradient"))
    print(f"{len(values)} calls against NumPy, largest error {max(values):.1e}; "
        f"{len(gradients)} gradients against JAX, largest error {max(gradients):.1e}")  # fmt: skip
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "complex_functions.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
