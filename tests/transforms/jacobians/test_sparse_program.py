"""Patterns of Jacobians: no entry is missed, in programs of all forms; exact where nothing depends on real numbers."""

import random

import numpy as np
import pytest

from rosejit import interp
from rosejit.errors import NotDifferentiable
from rosejit.ir.types import REAL, array, has_real
from rosejit.text import parse
from rosejit.transforms.autodiff.derivative_programs import differentiable, pushforward
from rosejit.transforms.jacobians.array_loops import shape_of
from rosejit.transforms.jacobians.coloring import both_ways, column_colours, columns_of, sources, star_colours
from rosejit.transforms.jacobians.sparse_program import pattern
from tests import random_ir
from tests.backends import flat, staged
from tests.programs import PROGRAMS


def columns(f, args, mask):
    """The Jacobian, column by column, by forward mode in the interpreter."""
    push = pushforward(f, mask)
    reals = [k for k, on in enumerate(mask) if on]
    zeros = [np.zeros(shape_of(f.params[k].type)) for k in reals]
    for n, k in enumerate(reals):
        for at in np.ndindex(zeros[n].shape):
            dx = [z.copy() for z in zeros]
            dx[n][at] = 1.0
            yield list(flat(interp.run(push, [*args, *[d.tolist() for d in dx]])[len(f.results) :]))


def check_nothing_is_missed(f, args, mask):
    found = pattern(f, mask, args)
    jacobian = list(columns(f, args, mask))
    assert len(jacobian) == found.width
    for j, column in enumerate(jacobian):
        assert len(column) == len(found.rows)
        assert all(j in row for row, value in zip(found.rows, column, strict=True) if value != 0.0)


def is_flat(f):
    """Whether everything real is a number or an array of known lengths: what a Jacobian is made of."""
    types = [t for t in [*[p.type for p in f.params], *f.results] if has_real(t)]
    try:
        regular = all(array(shape_of(t), REAL) == t for t in types)
    except NotDifferentiable:
        return False
    return regular and any(map(has_real, f.results)) and any(differentiable(f))


@pytest.mark.parametrize("tested", PROGRAMS, ids=lambda tested: tested.name)
def test_nothing_is_missed_in_programs(tested):
    f, args = staged(tested.function, tested.calls[0])
    if is_flat(f):
        check_nothing_is_missed(f, args, differentiable(f))


@pytest.mark.parametrize("tested", PROGRAMS[::8], ids=lambda tested: tested.name)
def test_nothing_is_missed_in_gradients(tested):
    f, args = staged(tested.function, tested.calls[0])
    if is_flat(f):
        mask, rng = differentiable(f), random.Random(0)
        (_, (reverse, given)) = random_ir.derived(f, args, rng.randrange(9))
        check_nothing_is_missed(reverse, given, (*mask, *(False for _ in given[len(mask) :])))


@pytest.mark.parametrize("seed", range(10))
def test_nothing_is_missed_in_random_programs(seed):
    f, args = random_ir.sample(seed)
    if is_flat(f):
        check_nothing_is_missed(f, args, differentiable(f))


# --- exact patterns


def found(text, args, mask):
    return pattern(parse(text), mask, args).rows


def test_a_loop_is_walked_with_its_indices():
    text = """
def f(x: [4]Real): [4]Real =
  let y = loop i < 4 { let j = 3 - i in let a = x[i] in let b = x[j] in let c = floor(x[0]) in
    let p = a * b in let q = p + c in q } in
  y
"""
    assert found(text, [None], (True,)) == [[0, 3], [1, 2], [1, 2], [0, 3]]


def test_integers_among_the_arguments_decide():
    text = """
def f(x: [3]Real, at: [2]Int, k: Int): [2]Real =
  let y = loop i < 2 { let j = at[i] in let a = x[j] in let b = x[k] in let c = a - b in c } in
  y
"""
    assert found(text, [None, [2, 0], 1], (True, False, False)) == [[1, 2], [0, 1]]


def test_both_sides_of_an_open_branch_count():
    text = """
def f(x: [3]Real): Real =
  let c = x[0] > 1.0 in
  let y = if c { let a = x[1] in a } { let b = x[2] in b } in
  y
"""
    assert found(text, [None], (True,)) == [[1, 2]]


def test_an_open_index_may_be_any():
    text = """
def f(x: [3]Real, y: [2]Real): [2]Real =
  let k = to_int(x[0]) in
  let a = x[k] in
  let z = copy y in
  let w = update z[k] = a in
  w
"""
    assert found(text, [None, None], (True, True)) == [[0, 1, 2, 3], [0, 1, 2, 4]]


def test_an_open_loop_is_walked_until_nothing_is_added():
    text = """
def f(x: [4]Real, n: Real): [4]Real =
  let y = copy x in
  let k, z = while carry (a: [4]Real = y) { let h = a[0] in let more = h < n in more }
    { let p = a[1] in let b = update a[0] = p in let q = b[2] in let c = update b[1] = q in c } in
  z
"""
    assert found(text, [None, None], (True, False)) == [[0, 1, 2], [1, 2], [2], [3]]


def test_a_recursion_without_end_takes_all():
    text = """
def f(x: Real, y: Real): Real =
  let c = x < 0.0 in
  let r = if c { y } { let z = x - 1.0 in let s = f(z, y) in s } in
  r
"""
    given = pattern(parse(text), (True, True), [None, None])
    assert given.rows == [[0, 1]]
    assert not given.exact


# --- colours


def banded(n, width):
    return [[j for j in range(max(0, i - width), min(n, i + width + 1))] for i in range(n)]


def random_symmetric(n, seed):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) < 0.15)
    return [list(map(int, np.flatnonzero(row))) for row in dense | dense.T | np.eye(n, dtype=bool)]


PATTERNS = [banded(30, 1), banded(30, 2), [[j for j in range(20) if not i or not j or i == j] for i in range(20)]]
PATTERNS += [random_symmetric(25, seed) for seed in range(6)]


@pytest.mark.parametrize("rows", PATTERNS)
def test_no_row_has_a_colour_twice(rows):
    colours = column_colours(rows, len(rows))
    assert all(len({colours[j] for j in row}) == len(row) for row in rows)
    assert columns_of(rows, len(rows)) == rows  # symmetric


@pytest.mark.parametrize("rows", PATTERNS)
def test_each_entry_of_a_symmetric_matrix_is_read_where_it_is_alone(rows):
    n = len(rows)
    rng = np.random.default_rng(0)
    matrix = np.zeros((n, n))
    for i, row in enumerate(rows):
        matrix[i, row] = rng.normal(size=len(row))
    matrix = matrix + matrix.T
    colours = star_colours(rows)
    sums = np.array([matrix[:, [j for j in range(n) if colours[j] == c]].sum(axis=1) for c in range(max(colours) + 1)])
    places = iter(sources(rows, colours))
    for i, row in enumerate(rows):
        for j in row:
            at, colour = next(places)
            assert sums[colour, at] == pytest.approx(matrix[i, j], abs=1e-12)


def test_how_many_colours():
    assert max(column_colours(banded(50, 1), 50)) + 1 == 3
    assert max(star_colours(banded(50, 1))) + 1 == 3
    arrow = PATTERNS[2]
    assert max(column_colours(arrow, 20)) + 1 == 20
    assert max(star_colours(arrow)) + 1 == 2
    assert both_ways([[0, 1], [1]]) == [[0], [1]]
