"""A transformation called with what its function does not take says what Python says of the call."""

from collections.abc import Callable
from typing import Any

import pytest

import rosejit as rose


def product(a, b):
    return a * b


@pytest.mark.parametrize(
    "call",
    [
        lambda: rose.jit(product)(1.0),
        lambda: rose.grad(product)(1.0),
        lambda: rose.vjp(product, 1.0),
        lambda: rose.jvp(product, (1.0,), (1.0,)),
        lambda: rose.jit(lambda x: rose.vjp(product, x)[0])(1.0),
        lambda: rose.jit(lambda x: rose.jvp(product, (x,), (x,))[0])(1.0),
    ],
)
def test_a_missing_argument(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'") as caught:
        call()
    assert type(caught.value) is TypeError


@pytest.mark.parametrize("argnums", [True, False, (0, True)])
def test_a_truth_value_is_no_argument_number(argnums: Any) -> None:
    with pytest.raises(rose.NotDifferentiable, match=r"no argument (True|False)"):
        rose.grad(product, argnums=argnums)(1.0, 2.0)
