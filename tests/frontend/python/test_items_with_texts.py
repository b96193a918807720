"""Items of a staged number and values of the host, in heaps and in orders: what ties is told apart by the host's order."""

import enum
import heapq

import pytest

import rosejit
from rosejit.errors import StagingTypeError


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Kind(enum.Enum):
    A = 1
    B = 2


RESTS = {
    "texts": ("a", "b", "a"),
    "ints": (3, 1, 3),
    "enums of ints": (Level.HIGH, Level.LOW, Level.HIGH),
    "tuples": ((1, "z"), (1, "b"), (0, "c")),
    "bytes": (b"a", b"b", b"a"),
}


def costs(x):
    return (x * 2, x + 0.8, 1.6)  # all the same for 0.8


def items(x, rests, weights):
    return [(cost, rest) for cost, rest in zip(costs(x), rests, strict=True)]


def read(found, rests, weights):
    total = 0.0
    for cost, rest in found:
        for known, weight in zip(rests, weights, strict=True):
            if rest == known:
                total = total * 1.5 + cost * weight
    return total


def pushed(x, rests):
    heap = []
    for item in items(x, rests, None):
        heapq.heappush(heap, item)
    return read([heapq.heappop(heap) for _ in range(3)], rests, (1.0, 2.0, 4.0))


def heaped(x, rests):
    heap = items(x, rests, None)
    heapq.heapify(heap)
    first = heapq.heapreplace(heap, (x + 1.0, rests[1]))
    return read([first, *(heapq.heappop(heap) for _ in range(3))], rests, (1.0, 2.0, 4.0))


def in_order(x, rests):
    return read(sorted(items(x, rests, None)), rests, (1.0, 2.0, 4.0))


def least(x, rests):
    return read([min(items(x, rests, None)), max(items(x, rests, None))], rests, (1.0, 2.0, 4.0))


@pytest.mark.parametrize("use", [pushed, heaped, in_order, least])
@pytest.mark.parametrize("rests", RESTS.values(), ids=RESTS)
def test_as_python(rests, use):
    def f(x: float) -> float:
        return use(x, rests)

    compiled, gradient = rosejit.jit(f), rosejit.grad(f)
    for x in (0.8, 0.3, 1.2):
        assert compiled(x) == f(x)
    for x in (0.3, 1.2):
        assert gradient(x) == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-6)


def test_what_has_no_order_is_refused_by_its_name():
    def f(x: float) -> float:
        heap = [(x, 0, Kind.A), (1.0, 1, Kind.B), (2 * x, 2, Kind.A)]
        heapq.heapify(heap)
        heapq.heappop(heap)
        return heapq.heappop(heap)[0]

    with pytest.raises(StagingTypeError, match=r"'Kind' and 'Kind'.*where the items before them tie"):
        rosejit.jit(f)(0.5)
