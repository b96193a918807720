"""The loop kernels of the benchmark: loops, NumPy's calls and `fastmath` say the same."""

import numpy as np
import pytest

import rosejit as rose
from benchmarks.kernel_programs import programs


@pytest.mark.parametrize("program", programs(), ids=lambda program: f"{program.name}-{program.gradient}")
def test_all_ways_to_write_a_kernel_agree(program):
    ways = [rose.jit(program.loops), rose.jit(fastmath=True)(program.loops)]
    ways += [rose.jit(program.arrays)] if program.arrays is not None else []
    made = [rose.grad(way)(*program.arguments) if program.gradient else way(*program.arguments) for way in ways]
    for found in made[1:]:
        np.testing.assert_allclose(found, made[0], rtol=1e-9, atol=1e-12)
