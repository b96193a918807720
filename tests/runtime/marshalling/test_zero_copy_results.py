"""Results that stay in the memory of an instance: never changed by a later call, and the instance is used again."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import Mat, Vec
from rosejit.runtime.marshalling import result_buffers
from rosejit.runtime.marshalling.result_buffers import LEAST
from rosejit.runtime.marshalling.zero_copy_results import MOST, MUCH, Lender
from rosejit.runtime.residency.tiering import Code
from tests.runtime.large import SIZE, place

pytestmark = pytest.mark.usefixtures("no_spare_memory")


def rows(x: float, y: Vec[2]) -> Mat[SIZE, 2]:
    return [[x + k, y[0]] for k in rose.range(SIZE)]


def wanted(x: float) -> Any:
    return np.stack([x + np.arange(SIZE), np.full(SIZE, 0.5)], 1)


Y = np.array([0.5, 1.0])


def spare_bytes() -> int:
    return sum([block.nbytes for block in result_buffers.spare()._blocks])


def test_what_is_held_never_changes():
    f = rose.jit(rows)
    held = [f(float(k), Y) for k in range(MOST + 3)]
    assert len(set(map(place, held))) == MOST + 3
    parts = [array[5:7, ::-1] for array in held]
    del held
    others = [f(-1.0, Y) for _ in range(MOST + 1)]
    assert all([np.array_equal(part, wanted(float(k))[5:7, ::-1]) for k, part in enumerate(parts)])
    assert all([np.array_equal(other, wanted(-1.0)) for other in others])


def test_nothing_is_copied_and_instances_are_used_again():
    f = rose.jit(rows)
    result, places = f(0.0, Y), set[int]()
    for k in range(8):
        result = f(float(k), Y)
        places.add(place(result))
        assert np.array_equal(result, wanted(float(k)))
    assert len(places) == MOST
    assert spare_bytes() == 0
    at = place(result)
    del result
    assert place(f(1.0, Y)) == at


def test_more_than_so_many_are_copied():
    f = rose.jit(rows)
    held = [f(float(k), Y) for k in range(MOST + 2)]
    assert spare_bytes() == 0
    del held
    assert spare_bytes() == 2 * 2 * LEAST


def test_what_is_mostly_arguments_is_copied():
    f = rose.jit(lambda x, y: x + y[0])
    x, many = np.ones(SIZE), np.ones((MUCH, SIZE))
    f(x, many[: MUCH - 3])
    assert spare_bytes() == 0
    f(x, many)
    assert spare_bytes() == LEAST


def test_an_ordinary_array():
    result = rose.jit(rows)(1.0, Y)
    assert type(result) is np.ndarray
    assert result.flags.writeable
    assert result.flags.c_contiguous
    assert result.flags.aligned
    result[3] = 7.0
    assert result.copy()[3].tolist() == [7.0, 7.0]


def test_several_results_of_which_one_is_held():
    @rose.jit
    def several(x: float) -> tuple[Vec[SIZE], float, Vec[2], tuple[rose.Array[SIZE, bool], Vec[SIZE]]]:
        many = [x + k for k in rose.range(SIZE)]
        return many, x, np.array([x, x]), (many > 1.0, many * 2.0)

    many, number, two, (above, double) = several(1.0)
    assert (number, two.tolist(), many[1], above[:2].tolist(), double[1]) == (1.0, [1.0, 1.0], 2.0, [False, True], 4.0)
    assert two.flags.owndata
    del many, above
    several(5.0)
    assert np.array_equal(double, 2.0 + 2.0 * np.arange(SIZE))


def test_results_are_arguments():
    @rose.jit
    def step(x: Vec["n"], y: Vec[4]) -> Mat["n", 8]:
        return [[x[i] + y[0] + j for j in rose.range(8)] for i in rose.range(len(x))]

    x = step(np.zeros(SIZE // 4), np.ones(4))
    for k in range(5):
        x = step(x[:, 7], np.ones(4))
        assert (x[:, 0] == 8.0 * k + 9.0).all()


def test_out():
    f = rose.jit(rows)
    out = f(1.0, Y)
    assert f(2.0, Y, out=out) is out
    assert np.array_equal(out, wanted(2.0))
    assert np.array_equal(f(3.0, Y), wanted(3.0))
    assert np.array_equal(out, wanted(2.0))


def test_threads():
    f = rose.jit(rows)

    def work(k: int) -> bool:
        return all([np.array_equal(f(float(k), Y), wanted(float(k))) for _ in range(5)])

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_results_of_which_the_collector_is_the_end():
    f = rose.jit(rows)
    ring: list[Any] = [f(1.0, Y)]
    at = place(ring[0])
    ring.append(ring)
    other = f(2.0, Y)
    assert place(other) != at
    del ring
    gc.collect()
    assert place(f(3.0, Y)) == at
    assert np.array_equal(other, wanted(2.0))


def test_results_outlive_their_function():
    f = rose.jit(lambda x: [x + k for k in rose.range(SIZE)])
    result = f(1.0)
    del f
    rose.clear_caches()
    gc.collect()
    assert np.array_equal(result, 1.0 + np.arange(SIZE))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_after_a_fork_an_instance_of_the_parent_is_not_used(monkeypatch: pytest.MonkeyPatch):
    f = rose.jit(rows)
    result = f(1.0, Y)
    child = os.fork()
    if child == 0:
        made, instantiate = [], Code.instantiate
        monkeypatch.setattr(Code, "instantiate", lambda code: made.append(instantiate(code)) or made[-1])
        del result
        other = f(2.0, Y)
        os._exit(0 if np.array_equal(other, wanted(2.0)) and len(made) == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(result, wanted(1.0))


def test_instances_whose_use_is_timed_are_not_lent():
    class Timed(list[Any]):
        pass

    class Bound:
        class memory:
            @staticmethod
            def size() -> int:
                return 10

    lender, free = Lender(6), []
    assert lender.lend(Timed(), (Bound,)) is None
    assert Lender(10 // MUCH).lend(free, (Bound,)) is None
    loans = [lender.lend(free, (Bound,)) for _ in range(MOST + 1)]
    assert [loan is None for loan in loans] == [False] * MOST + [True]
    assert free == []
    loans.clear()
    assert free == [(Bound,)] * MOST
    assert lender.lend(free, (Bound,)) is not None
