"""`rose.sum_over`: sums over rows and their derivatives against the function of all rows at once."""

import math
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import rosejit as rose

RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(103, 3)), (RNG.random(103) < 0.5) * 1.0, RNG.normal(size=3)


@rose.jit
def logistic(w: rose.Vec["d"], x: rose.Mat["n", "d"], y: rose.Vec["n"]) -> float:
    z = x @ w
    return (np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0.0) - z * y).sum()


def logistic_of_one(w: rose.Vec["d"], x: rose.Vec["d"], y: float) -> float:
    z = x @ w
    return math.log1p(math.exp(-abs(z))) + max(z, 0.0) - z * y


def blocks(data, length=10):
    for k in range(0, len(data), length):
        yield data[k : k + length]


FUNCTIONS = [logistic, logistic_of_one]
TRANSFORMS = {
    "value": lambda f: f,
    "grad": rose.grad,
    "value_and_grad": rose.value_and_grad,
    "hessian": rose.hessian,
    "jacobian of grad": lambda f: rose.jacobian(rose.grad(f)),
    "jacfwd": rose.jacfwd,
}
WAYS = {
    "in turn": {},
    "threads": {"threads": 3},
    "map": {"map": map},
    "futures": {"map": lambda f, tasks: [ThreadPoolExecutor(1).submit(f, task) for task in tasks]},
}


def close(found, wanted):
    if isinstance(wanted, (tuple, list)):
        for one, other in zip(found, wanted, strict=True):
            close(one, other)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_sums_are_those_of_all_rows(f, transform, way):
    total = rose.sum_over(f, over=("x", "y"), rows=10, **WAYS[way])
    found, wanted = TRANSFORMS[transform](total), TRANSFORMS[transform](logistic)
    close(found(W, X, Y), wanted(W, X, Y))
    close(found(w=W, y=Y, x=X), wanted(W, X, Y))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_products_with_the_hessian(f):
    total = rose.sum_over(f, over=(1, 2), rows=10)
    close(rose.hvp(total)(W, X[0], X, Y), rose.hvp(logistic)(W, X[0], X, Y))


def test_the_order_of_additions_is_that_of_the_rows():
    sums = {rose.sum_over(logistic, ("x", "y"), rows=7, threads=k)(W, X, Y) for k in (1, 2, 5)}
    assert len(sums) == 1


@pytest.mark.parametrize("rows", [1, 103, 1000])
def test_lengths_of_blocks(rows):
    close(rose.grad(rose.sum_over(logistic, ("x", "y"), rows=rows))(W, X, Y), rose.grad(logistic)(W, X, Y))


def test_no_rows():
    assert rose.sum_over(logistic, ("x", "y"))(W, X[:0], Y[:0]) == 0.0


def test_iterators_and_memory_maps(tmp_path):
    total = rose.sum_over(logistic, ("x", "y"), rows=25)
    close(total(W, blocks(X), blocks(Y)), logistic(W, X, Y))
    np.save(tmp_path / "x.npy", X)
    close(rose.grad(total)(W, np.load(tmp_path / "x.npy", mmap_mode="r"), Y.tolist()), rose.grad(logistic)(W, X, Y))


def test_in_staged_code():
    total = rose.sum_over(logistic, ("x", "y"), rows=10)

    @rose.jit
    def penalised(w: rose.Vec["d"], x: rose.Mat["n", "d"], y: rose.Vec["n"]) -> float:
        return total(w, x, y) + 0.5 * w @ w

    @rose.jit
    def whole(w: rose.Vec["d"], x: rose.Mat["n", "d"], y: rose.Vec["n"]) -> float:
        return logistic(w, x, y) + 0.5 * w @ w

    for transform in (lambda f: f, rose.grad, rose.hessian):
        close(transform(penalised)(W, X, Y), transform(whole)(W, X, Y))
    close(rose.jit(lambda w: rose.grad(total)(w, X, Y))(W), rose.grad(logistic)(W, X, Y))


def test_structures():
    def moments(scale: float, x: rose.Vec["n"]) -> dict[str, float]:
        return {"sum": scale * x.sum(), "squares": (scale * x**2).sum()}

    found = rose.sum_over(moments, "x", rows=9)(2.0, Y)
    assert found == {"sum": 2.0 * Y.sum(), "squares": 2.0 * Y.sum()}


def test_blocks_run_side_by_side():
    names = set()

    @rose.opaque
    def look(x: float) -> float:
        names.add(threading.current_thread().name)
        return x

    rose.sum_over(lambda x: look(x.sum()), 0, rows=1, threads=2)(np.ones(50))
    assert len(names) >= 2


def test_processes():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        total = rose.sum_over(logistic, ("x", "y"), rows=60, map=pool.map)
        close(rose.grad(total)(W, X, Y), rose.grad(logistic)(W, X, Y))
    assert pickle.loads(pickle.dumps(rose.sum_over(logistic, "x")))(W, X[:3], Y[:3]) == logistic(W, X[:3], Y[:3])


WRONG = {
    "no such argument": (lambda: rose.sum_over(logistic, "q"), "has no argument 'q' to be summed over"),
    "none": (lambda: rose.sum_over(logistic, ()), "needs the name of an argument"),
    "rows": (lambda: rose.sum_over(logistic, "x", rows=0), "takes `rows` as a whole number from 1, given 0"),
    "threads": (lambda: rose.sum_over(logistic, "x", threads=1.5), "takes `threads` as a whole number from 1"),
    "by the rows": (lambda: rose.grad(rose.sum_over(logistic, "x"), "x"), "not taken with respect to the rows"),
    "lengths": (lambda: rose.sum_over(logistic, ("x", "y"))(W, X, Y[:4]), "different numbers of rows: .103, 4."),
    "mixed": (lambda: rose.sum_over(logistic, ("x", "y"))(W, X, blocks(Y)), "either all arguments with rows"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_uses(name):
    use, words = WRONG[name]
    with pytest.raises(rose.RoseError, match=words):
        use()


@rose.jit
def square(x: rose.Vec["n"]) -> rose.Vec["n"]:
    return x * x


VALUES_A_ROW = {
    "no hints": lambda x: x * x,
    "hints": square,
    "two a row": lambda x: np.stack([x, x]),
    "a list": lambda x: [each * each for each in x],
    "in a structure": lambda x: {"sum": x.sum(), "all": (x,)},
}
PLACES = {
    "call": lambda total, data: total(data),
    "staged": lambda total, data: rose.jit(lambda x: total(x))(data),
    "iterator": lambda total, data: total(blocks(data, 5)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("count", [1, 5, 10, 12])
@pytest.mark.parametrize("name", VALUES_A_ROW)
def test_values_a_row_are_no_sum(name, count, place):
    """Wherever blocks are of one length, adding them would go through."""
    total = rose.sum_over(VALUES_A_ROW[name], "x", rows=5)
    with pytest.raises(rose.ShapeError, match=r"a value for each row|the sums of two blocks"):
        PLACES[place](total, RNG.normal(size=count))


def test_sums_of_a_length_that_is_that_of_a_block():
    total = rose.sum_over(lambda w, x: (x * w).sum(axis=0), "x", rows=3)
    for each in (total, rose.jit(lambda w, x: total(w, x))):
        np.testing.assert_allclose(each(W, X), (X * W).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(rose.jacfwd(total)(W, X), np.diag(X.sum(axis=0)), atol=1e-12)


def test_arguments_by_name():
    total, rows = rose.sum_over(logistic_of_one, over=("x", "y")), rose.sum_over(logistic, over=("x", "y"), rows=10)
    expected = rose.grad(logistic)(W, X, Y)
    for each in (total, rows):
        np.testing.assert_allclose(rose.grad(each, argnums="w")(W, X, Y), expected, rtol=1e-12)
        np.testing.assert_allclose(rose.grad(each, argnums=("w",))(W, X, Y)[0], expected, rtol=1e-12)
        np.testing.assert_allclose(rose.value_and_grad(each, argnums="w")(W, X, Y)[1], expected, rtol=1e-12)
    with pytest.raises(rose.StagingTypeError, match="with respect to the rows"):
        rose.grad(total, argnums="x")


def test_ints_in_columns_of_floats():
    def off(w: float, x: float) -> float:
        return (w - x) ** 2

    x = np.arange(10)
    total = rose.sum_over(off, over="x", rows=3)
    assert total(2.0, x) == ((2.0 - x) ** 2).sum()
    assert rose.grad(total)(2.0, x) == (2.0 * (2.0 - x)).sum()


def test_columns_that_are_none():
    total = rose.sum_over(lambda x, y: (x * y).sum(), over=("x", "y"), rows=3)
    with pytest.raises(rose.ShapeError, match="one number"):
        total(1.0, np.ones(3))
    with pytest.raises(rose.ShapeError, match="ends before"):
        total(iter([np.ones(3)]), iter([np.ones(3), np.ones(2)]))
