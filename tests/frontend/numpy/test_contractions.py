"""Products of arrays: which are sums of their own, and which are added up a row at a time."""

import numpy as np
import pytest

import rosejit as rose

LONG, SHORT = 11, 4


def arrays(*shapes):
    rng = np.random.default_rng(3)
    return [rng.normal(size=shape) for shape in shapes]


ACROSS = {
    "a @ b": (lambda a, b: a @ b, (5, 6), (6, LONG)),
    "x @ b": (lambda a, b: a @ b, (6,), (6, LONG)),
    "a.T @ b": (lambda a, b: a.T @ b, (6, 5), (6, LONG)),
    "a[::2] @ b[1:, 1:]": (lambda a, b: a[::2] @ b[1:, 1:], (5, 6), (7, LONG + 1)),
    "stacks": (lambda a, b: a @ b, (2, 3, 5), (5, LONG)),
    "stacks of both": (lambda a, b: a @ b, (2, 3, 5), (2, 5, LONG)),
    "einsum": (lambda a, b: np.einsum("ki,kj->ij", a, b), (6, 5), (6, LONG)),
    "two sums": (lambda a, b: np.einsum("kl,klj->j", a, b), (3, 4), (3, 4, LONG)),
    "tensordot": (lambda a, b: np.tensordot(a, b, 1), (3, 5), (5, 2, LONG)),
    "nothing to add": (lambda a, b: a @ b, (3, 0), (0, LONG)),
}
WHOLE = {
    "a @ b": (lambda a, b: a @ b, (3, 3), (3, LONG)),
    "one term": (lambda a, b: a @ b, (3, 1), (1, LONG)),
    "a view": (lambda a, b: a[:3, :3] @ b + a[:3, 3:], (4, 4), (3, LONG)),
    "stacks": (lambda a, b: a @ b, (2, 3, 4), (4, LONG)),
    "stacks of both": (lambda a, b: a @ b, (2, 3, 4), (2, 4, LONG)),
    "einsum": (lambda a, b: np.einsum("ki,kj->ij", a, b), (2, 5), (2, LONG)),
    "two sums": (lambda a, b: np.einsum("kl,klj->j", a, b), (2, 2), (2, 2, LONG)),
    "tensordot": (lambda a, b: np.tensordot(a, b, 1), (3, 4), (4, 2, LONG)),
}
ALONE = {
    "a @ b.T": (lambda a, b: a @ b.T, (5, 6), (LONG, 6)),
    "a @ x": (lambda a, b: a @ b, (LONG, 6), (6,)),
    "short rows": (lambda a, b: a @ b, (5, 6), (6, SHORT)),
    "every second column": (lambda a, b: a @ b[:, ::2], (5, 6), (6, 2 * LONG)),
    "columns of one": (lambda a, b: np.einsum("ij,kj->ij", a, b), (5, LONG), (3, LONG)),
    "a trace": (lambda a, b: np.einsum("ii,ij->j", a, b[:, :SHORT]), (6, 6), (6, LONG)),
}


@pytest.mark.parametrize("name", ACROSS)
def test_sums_side_by_side(name):
    f, *shapes = ACROSS[name]
    args = arrays(*shapes)
    text = str(rose.make_ir(f)(*args))
    assert "update sums" in text
    assert "fadd" not in text
    assert np.allclose(rose.jit(f)(*args), f(*args), rtol=1e-13, atol=1e-13)
    if all(np.size(a) for a in args):
        rose.check_grads(lambda a, b: (f(a, b) ** 2).sum(), tuple(args), order=2)


@pytest.mark.parametrize("name", WHOLE)
def test_sums_of_few_terms_are_written_once(name):
    f, *shapes = WHOLE[name]
    args = arrays(*shapes)
    assert "update" not in str(rose.make_ir(f)(*args))
    assert np.allclose(rose.jit(f)(*args), f(*args), rtol=1e-13, atol=1e-13)
    rose.check_grads(lambda a, b: (f(a, b) ** 2).sum(), tuple(args), order=2)


@pytest.mark.parametrize("name", [name for name in ALONE if name != "columns of one"])
def test_sums_of_their_own(name):
    f, *shapes = ALONE[name]
    args = arrays(*shapes)
    assert "fadd" in str(rose.make_ir(f)(*args))
    assert np.allclose(rose.jit(f)(*args), f(*args), rtol=1e-13, atol=1e-13)


def test_a_sum_is_that_of_loops():
    """Term after term, to the bit."""
    a, b = arrays((7, 9), (9, 13))
    wanted = np.zeros((7, 13))
    for k in range(9):
        wanted = wanted + a[:, k : k + 1] * b[k]
    assert (rose.jit(lambda a, b: a @ b)(a, b) == wanted).all()


def test_ints_are_not_added_out_of_order():
    """One that overflows fails as before."""
    a, b = np.full((2, 3), 1 << 40), np.full((3, LONG), 1 << 40)
    with pytest.raises(rose.RoseOverflowError):
        rose.jit(lambda a, b: a @ b)(a, b)
