"""The records of the mathematical functions, over few points: errors, derivatives, bits."""

import mpmath
import numpy as np
import pytest

from benchmarks import math_accuracy, math_bits, math_bytes, math_derivatives
from benchmarks.math_points import TRIALS, nearest_to_quarter_turns, points
from rosejit.api.math_functions import NAMES
from rosejit.codegen.program.compile import compile_program
from rosejit.ir.primitive import Kernel
from rosejit.ops import PRIMITIVES, elementary, special

EXACT = {"fmod", "fma", "max", "min", "sign", "isnan", "isinf", "isfinite"}
"""Kernels that round once or not at all."""


def test_every_public_function_is_tried():
    inexact = {name for name, op in NAMES.items() if isinstance(PRIMITIVES[op].wasm, Kernel)} - EXACT
    assert inexact | {"sqrt"} == TRIALS.keys()
    assert all(PRIMITIVES[name] in (*elementary.ALL, *special.ALL, PRIMITIVES["sqrt"]) for name in TRIALS)


@pytest.mark.parametrize("name", TRIALS)
def test_errors_are_within_the_bounds(name):
    worst = math_accuracy.measured(name, 400)
    assert worst.units <= TRIALS[name].bound, worst.at


@pytest.mark.parametrize("name", TRIALS)
def test_derivatives_are_right_where_nothing_is_known_to_be_lost(name):
    for along, point, error, want in math_derivatives.errors(name, 14):
        assert error <= math_derivatives.ENOUGH or math_derivatives.excused(name, point, along), (along, point, want)


@pytest.mark.parametrize("name", TRIALS)
def test_wasm_gives_the_bits_of_the_interpreter(name):
    """In loops that take two iterations at a time."""
    rng = np.random.default_rng(3)
    rows = np.stack([rng.permuted(a)[: math_bits.ROW] for a in points(name, rng, math_bits.ROW)])[None].copy()
    f = math_bits.function(name)
    artifact, _ = compile_program({"main": f})
    mine, meaning = math_bits.in_wasmtime(artifact, rows), math_bits.in_interpreter(f, rows)
    assert not math_bits.differing(mine, meaning).any()


def test_the_nearest_doubles_to_quarter_turns():
    """Kahan's worst case is the nearest of them."""
    found = nearest_to_quarter_turns()
    with mpmath.workprec(1200):
        quarter = mpmath.pi / 2
        distances = {x: abs(mpmath.mpf(x) - mpmath.nint(mpmath.mpf(x) / quarter) * quarter) for x in found}
    worst = min(distances, key=distances.__getitem__)
    assert worst == 6381956970095103.0 * 2.0**797
    assert float(distances[worst]) == pytest.approx(4.687165924254624e-19)


def test_bytes():
    assert math_bytes.scalar("exp(x)") < math_bytes.MOST_FOR_EXP
    assert math_bytes.array("exp(x[i])") < 2 * math_bytes.MOST_FOR_EXP
