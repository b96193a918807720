"""A wrong index in a staged branch or loop fails where the run gets there, and nowhere else; outside while staging."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rosejit as rose

TABLE = np.arange(3.0)


def products(x):
    s = 0.0
    for i in rose.range(len(x)):
        s += x[i] * x[0]
    return s


def guarded(x, n: int):
    if n > 3:
        return x[3]
    return x[0]


def negative(x, n: int):
    if n > 3:
        return x[-4]
    return x[0]


def of_rows(x, n: int):
    s = 0.0
    if n > 3:
        s = np.outer(x, x)[3].sum()
    return s + x[0]


def of_a_table(x, n: int):
    if n > 3:
        return TABLE[3] * x[1]
    return x[0]


def by_a_list(x, n: int):
    if n > 3:
        return x[[0, 3]].sum()
    return x[0]


def written(x, n: int):
    y = x.copy()
    if n > 3:
        y[3] = 2.0
    return y[0]


def written_there(x, n: int):
    s = x[0]
    if n > 3:
        y = np.zeros(3)
        y[3] = 2.0
        s += y[0]
    return s


def added(x, n: int):
    y = x.copy()
    if n > 3:
        y[3] += 2.0
    return y[0]


FUNCTIONS = [guarded, negative, of_rows, of_a_table, by_a_list, written, written_there, added]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_where_it_is_not_reached(f: Callable[..., Any]) -> None:
    assert rose.jit(f)(np.ones(3), 2) == 1.0
    assert rose.grad(f)(np.ones(3), 2).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("how", [rose.jit, rose.grad])
def test_where_it_is_reached(f: Callable[..., Any], how: Any) -> None:
    with pytest.raises(rose.RoseIndexError, match="out of range for length 3"):
        how(f)(np.ones(3), 4)


def test_a_loop_without_iterations() -> None:
    assert rose.jit(products)(np.zeros(0)) == 0.0
    assert rose.grad(products)(np.zeros(0)).shape == (0,)
    assert rose.jit(products)(np.full(2, 3.0)) == 18.0


def test_outside_of_branches_it_is_refused_while_staging() -> None:
    with pytest.raises(rose.RoseIndexError, match="index 3 is out of range for length 3"):
        rose.jit(lambda x: x[3]).lower(np.ones(3))
