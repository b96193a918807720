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


def chain(steps: int | None, schedule: bool | None = None) -> Callable[..., Any]:
    """Many steps of a thousand numbers, as many as is said, here or in a call."""

    @rose.jit
    def run(x: rose.Vec["n"], count: int) -> float:
        x = x.copy()
        for _ in rose.range(count if steps is None else steps, checkpoint=schedule):
            x = np.sin(x) + 0.5 * x
        return x.sum()

    return run


@pytest.mark.parametrize("steps", [400_000, None])
def test_what_a_gradient_keeps(steps: int | None) -> None:
    """Refused before the loop begins, at its line or in its function, with the size and what to do."""
    x = np.linspace(0.0, 1.0, 1000)
    f = chain(steps)
    asked = "3,200,000,000" if steps else "6,400,000,000"
    with pytest.raises(rose.RoseMemoryError, match=asked) as caught:
        rose.grad(f)(x, 800_000)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    assert "checkpoint=True" in str(caught.value)


def test_the_remedy_is_one() -> None:
    x = np.linspace(0.0, 1.0, 10)
    kept, again = (rose.grad(chain(1000, schedule)).lower(x, 1) for schedule in (None, True))
    assert 10 * again.cost().tape_bytes < kept.cost().tape_bytes
    assert (rose.grad(chain(1000, True))(x, 1) == rose.grad(chain(1000))(x, 1)).all()
