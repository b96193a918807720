"""What no memory holds: refused with how much was asked for, never an error of ours."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rosejit as rose


@pytest.mark.parametrize("f", [lambda x: np.outer(x, x), lambda x: (np.outer(x, x), 1)])
def test_more_than_can_be_addressed(f: Callable[..., Any]) -> None:
    with pytest.raises(rose.RoseMemoryError, match=r"12,800,\d\d\d,\d\d\d"):
        rose.jit(f)(np.ones(40000))


def test_by_the_host() -> None:
    def f(x):
        return np.zeros((10**7, 10**7)) + x

    with pytest.raises(rose.RoseMemoryError, match="Unable to allocate") as caught:
        rose.jit(f)(1.0)
    assert caught.value.span is not None
    assert caught.value.span.line == f.__code__.co_firstlineno + 1
