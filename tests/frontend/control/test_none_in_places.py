"""What may be None in lists that loops go through, rolled ones too, in maxima, as a key and in results: against CPython."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import pytest

import rosejit as rose


@dataclass
class Item:
    w: float
    z: float | None = None


@dataclass
class Found:
    last: float


class Mode(Enum):
    HEAT = 1
    IDLE = 2


@dataclass
class State:
    t: float
    mode: Mode = Mode.IDLE


def skipped(xs):
    total = 0.0
    for v in [x if x > 0 else None for x in xs]:
        if v is None:
            continue
        total += v
    return total


def by_index(xs):
    each = [x if x > 0 else None for x in xs]
    total = 0.0
    for k in range(len(each)):
        if each[k] is not None:
            total += each[k] * k  # pyright: ignore[reportOptionalOperand]
    return total


def appended(xs):
    each = []
    for x in xs:
        each.append(x if x > 0 else None)
    total = 0.0
    for v in each:
        if v is not None:
            total += v
    return total


def fields(xs):
    total = 0.0
    for item in [Item(x, x if x > 0 else None) for x in xs]:
        if item.z is not None:
            total += item.z * item.w
    return total


def pairs(xs):
    total = 0.0
    for w, z in [(x, x if x > 0 else None) for x in xs]:
        if z is not None:
            total += z * w
    return total


def objects(xs):
    total = 0.0
    for item in [Item(x) if x > 0 else None for x in xs]:
        if item is not None:
            total += item.w
    return total


def extremes(xs):
    lo = hi = None
    for x in xs:
        lo = x if lo is None else min(lo, x)
        hi = x if hi is None else max(hi, x)
    return hi - lo  # pyright: ignore[reportOptionalOperand]


def functions_of_it(xs):
    q = xs[0] if xs[0] > 0 else None
    return max(q, 1.0) + sum([q, 1.0]) + min([q, 2.0]) if q is not None else -1.0


def least_unseen(xs):
    xs = xs[:20]  # more elements of a list are not compared with a place
    done, order, n = [False] * len(xs), 0.0, len(xs)
    for step in range(min(n, 4)):
        u = min((i for i in range(n) if not done[i] and xs[i] > 0), key=lambda i: xs[i], default=None)
        if u is None:
            break
        done[u] = True
        order += xs[u] * (step + 1)
    return order


def key_or_none(xs):
    d = {"a": xs[0], "b": xs[1], "c": xs[-1]}
    best = None
    for name in d:
        if d[name] > 0 and (best is None or d[name] < d[best]):
            best = name
    if best is not None:
        d[best] = 7.0
    return d["a"] + 10 * d["b"] + 100 * d["c"]


def in_a_result(xs):
    u = max(xs[0], 0.1) if xs[0] > 0 else None
    if u is None:
        return Found(0.0)
    return Found(u)


USES = (skipped, by_index, appended, fields, pairs, objects, extremes, functions_of_it, least_unseen, key_or_none, in_a_result)  # fmt: skip


@pytest.mark.parametrize("times", [2, 40])
@pytest.mark.parametrize("use", USES)
def test_what_may_be_none(use: Any, times: int) -> None:
    staged = rose.jit(use)
    for xs in ([1.5, -1.0] * times, [-1.0, 2.5] * times, [-1.0, -2.0] * times, [0.5, 0.25] * times):
        assert staged(xs) == use(xs)


def heated(s):
    new = Mode.HEAT if s.t < 1 else Mode.IDLE
    return replace(s, mode=new) if s.t < 2 else s


def is_same(s):
    before = Mode.HEAT if s.t < 1 else Mode.IDLE
    after = Mode.IDLE if s.t > 0.5 else before
    return after is before, after is not before, after == before


def one_of_ones(s):
    first = "a" if s.t < 1 else "b"
    some = [first, "c", "b"]
    k = 0 if s.t < 0.5 else 1 if s.t < 2 else 2
    return some[k], {"a": 1.0, "b": 2.0, "c": 3.0}[some[k]] * s.t


@pytest.mark.parametrize("use", [heated, is_same, one_of_ones])
def test_chosen_members_are_kept_and_compared(use: Any) -> None:
    for t in (0.25, 0.75, 1.5, 2.5):
        assert rose.jit(use)(State(t)) == use(State(t))
