"""Programs staged for open lengths, with an Int for each name."""

import numpy as np
import pytest

import rosejit as rose
from rosejit import interp
from rosejit.ir.verify import verify_program
from rosejit.text import show
from rosejit.transforms.passes.lengths_to_variables import open_names, with_open_lengths

N, M = rose.ShapeOf("n"), rose.ShapeOf("m")


@rose.jit
def doubled(x):
    return x * 2.0


def grown(x, y):
    z = np.zeros((len(x) + 2 * len(y), 2))
    for i in rose.range(len(x) - 1):
        z[i, 1] = x[i + 1] + doubled(y)[0]
    return z, doubled(x[1:])


def test_each_name_is_a_parameter_behind_all_others():
    f = rose.make_ir(grown)(N, M).function
    assert open_names(f) == ("n", "m")
    opened = with_open_lengths(f)
    verify_program(opened)
    assert "def grown(x: [*]Real, y: [*]Real, n: Int, m: Int): [*][2]Real, [*]Real" in show(opened)
    assert with_open_lengths(f) is opened
    assert with_open_lengths(opened) is opened


@pytest.mark.parametrize(("n", "m"), [(0, 1), (1, 1), (4, 2)])
def test_it_computes_what_the_function_does(n, m):
    x, y = np.arange(1.0, n + 1), np.arange(0.5, m)
    opened = with_open_lengths(rose.make_ir(grown)(N, M).function)
    z, tail = interp.run(opened, [x.tolist(), y.tolist(), n, m])
    wanted = rose.jit(grown)(x, y)
    assert np.array(z).reshape(-1, 2).tolist() == wanted[0].tolist()
    assert tail == wanted[1].tolist()


def test_a_program_without_names_is_itself():
    f = rose.make_ir(doubled)(np.ones(3)).function
    assert with_open_lengths(f) is f
