import gc
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import Vec
from rosejit.runtime.marshalling import result_buffers
from rosejit.runtime.marshalling.result_buffers import LEAST, Spare
from rosejit.runtime.marshalling.zero_copy_results import MOST
from tests.runtime.large import SIZE, place

pytestmark = pytest.mark.usefixtures("no_spare_memory")


def double(x: Vec["n"]) -> Vec["n"]:
    return 2.0 * x


def kept(spare: Spare) -> list[int]:
    return [block.nbytes for block in spare._blocks]


def test_a_result_that_is_held_never_changes():
    f = rose.jit(double)
    held = [f(np.full(SIZE, float(k))) for k in range(4)]
    assert len(set(map(place, held))) == 4
    assert all([(array == 2.0 * k).all() for k, array in enumerate(held)])


@pytest.mark.parametrize(
    "part",
    [
        lambda a: a[7:],
        lambda a: a.reshape(2, -1)[1],
        lambda a: a[::-1],
        lambda a: a.view(np.int64),
        lambda a: np.asarray(memoryview(a)),
        lambda a: np.from_dlpack(a),
        lambda a: np.broadcast_to(a, (2, SIZE))[1, 3:],
        lambda a: np.ma.masked_array(a)[4:].data,
        lambda a: next(np.nditer(a)),
        lambda a: np.split(a, 2)[1],
    ],
)
def test_a_part_of_a_result_never_changes(part: Any):
    f = rose.jit(double)
    result = f(np.arange(float(SIZE)))
    held = part(result)
    wanted = held.copy()
    del result
    others = [f(np.full(SIZE, -1.0)) for _ in range(3)]
    assert np.array_equal(held, wanted)
    assert not any([np.shares_memory(held, other) for other in others])


def test_what_nobody_holds_is_used_again():
    f = rose.jit(double)
    first = place(f(np.ones(SIZE)))
    assert place(f(np.ones(SIZE))) == first
    x = f(np.ones(SIZE))
    places = set[int]()
    for _ in range(6):
        x = f(x)
        places.add(place(x))
    assert len(places) == 2
    assert (x == 2.0**7).all()


def test_small_results_are_arrays_of_their_own():
    assert rose.jit(double)(np.ones(SIZE - 1)).flags.owndata


def test_a_large_result_is_an_ordinary_array():
    result = rose.jit(double)(np.ones((SIZE,)))
    assert type(result) is np.ndarray
    assert result.dtype is np.dtype(float)
    assert result.flags.writeable
    assert result.flags.c_contiguous
    assert result.flags.aligned
    result[3] = 7.0
    assert np.array_equal(pickle.loads(pickle.dumps(result)), result)


def test_shapes_and_types_of_large_results():
    @rose.jit
    def many(x: rose.Mat["n", 4]):
        return x + 1.0, x > 0.5, {"count": np.ones(x.shape, int)}

    real, less, counts = many(np.eye(2 * SIZE, 4))
    assert real.shape == less.shape == counts["count"].shape == (2 * SIZE, 4)
    assert (real.dtype, less.dtype, counts["count"].dtype) == (float, bool, np.int64)
    assert np.array_equal(real, np.eye(2 * SIZE, 4) + 1.0)
    assert np.array_equal(less, np.eye(2 * SIZE, 4) > 0.5)
    assert (counts["count"] == 1).all()


def test_out_of_which_only_one_is_given():
    @rose.jit
    def two(x: Vec["n"]) -> tuple[Vec["n"], Vec["n"]]:
        return x + 1.0, x + 2.0

    out = np.zeros(SIZE)
    first, second = two(np.zeros(SIZE), out=(None, out))
    assert second is out
    assert (first == 1.0).all()
    assert (out == 2.0).all()


def test_threads_get_memory_of_their_own():
    f = rose.jit(double)
    f(np.zeros(SIZE))

    def work(k: int) -> bool:
        x = np.full(SIZE, float(k))
        return all([(f(x) == 2.0 * k).all() for _ in range(8)])

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_results_of_which_the_collector_is_the_end():
    f = rose.jit(double)
    ring: list[Any] = [f(np.ones(SIZE))]
    at = place(ring[0])
    ring.append(ring)
    other = f(np.full(SIZE, 2.0))
    assert place(other) != at
    del ring
    gc.collect()
    assert place(f(np.ones(SIZE))) == at
    assert (other == 4.0).all()


def test_at_most_so_much_is_kept():
    spare = Spare(100)
    for size in (40, 50, 60):
        spare.keep(np.empty(size, np.uint8))
    assert kept(spare) == [60]
    spare.keep(np.empty(101, np.uint8))
    assert kept(spare) == []


def test_nothing_is_kept_where_nothing_may_be():
    spare = Spare(0)
    array = spare.copy(np.arange(3.0))
    assert array.tolist() == [0.0, 1.0, 2.0]
    del array
    assert kept(spare) == []


def test_only_memory_of_the_same_size_is_taken():
    spare = Spare(1000)
    for size in (16, 24, 16):
        spare.keep(np.empty(size, np.uint8))
    assert spare.take(24).nbytes == 24
    assert kept(spare) == [16, 16]
    assert spare.take(8).nbytes == 8
    assert kept(spare) == [16, 16]


def test_nobody_waits_for_the_lock():
    spare = Spare(1000)
    spare.keep(np.empty(16, np.uint8))
    with spare._lock:  # as a finalizer finds it that runs in the middle of `take`
        assert spare.take(16).nbytes == 16
        spare.keep(np.empty(16, np.uint8))
        spare.clear()
    assert kept(spare) == [16]


def test_where_memory_is_short_what_is_kept_goes(monkeypatch: pytest.MonkeyPatch):
    spare = Spare(1000)
    spare.keep(np.empty(16, np.uint8))
    empty, refused = np.empty, [True]

    def short(*args: Any) -> Any:
        if refused.pop():
            refused.append(False)
            raise MemoryError
        return empty(*args)

    monkeypatch.setattr(result_buffers.np, "empty", short, raising=False)
    assert spare.take(8).nbytes == 8
    assert kept(spare) == []


def test_clearing_caches_lets_go():
    f = rose.jit(double)
    held = [f(np.ones(SIZE)) for _ in range(MOST + 1)]  # the last is copied
    del held
    assert kept(result_buffers.spare()) == [LEAST]
    rose.clear_caches()
    assert kept(result_buffers.spare()) == []


def test_a_result_that_goes_in_another_thread():
    f = rose.jit(double)
    box = [f(np.ones(SIZE))]
    at = place(box[0])
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    assert place(f(np.ones(SIZE))) == at
