"""The pullbacks of primitives: made for each of them, whichever operands are active."""

import math
from itertools import product

import pytest

import rosejit as rose
from rosejit.ops import PRIMITIVES
from rosejit.transforms.straightline.numbered_gradient import _compiled_pullback
from rosejit.transforms.straightline.value_numbering import is_step

STEPS = [op for op in PRIMITIVES.values() if op.differentiable and is_step(op)]


@pytest.mark.parametrize("op", STEPS, ids=lambda op: op.name)
def test_every_set_of_active_operands_has_a_way_back(op):
    for mask in product((False, True), repeat=len(op.params)):
        assert callable(_compiled_pullback(op, mask))


def test_an_op_that_gives_its_operand_no_cotangent():
    @rose.jit
    def f(x: float, y: float) -> float:
        s = x
        for _ in range(60):
            s = math.sin(s * y) + math.copysign(x, y)
        return math.copysign(3.0, s)

    assert rose.grad(f, argnums=(0, 1))(0.3, 0.7) == (0.0, 0.0)
    assert rose.grad(f, argnums=1)(0.3, 0.7) == 0.0
