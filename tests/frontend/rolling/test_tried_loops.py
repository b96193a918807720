"""Loops whose bodies change objects: tried as loops, and unrolled where the host knows what changes. Either way the
bits are those of the unrolled loop."""

import itertools
import math
import struct
import warnings
from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

import rosejit as rose
from rosejit.frontend.rolling import tried_loops

pytestmark = pytest.mark.filterwarnings("ignore")


class Body:
    def __init__(self, x, v, kind="a"):
        self.x, self.v, self.kind, self.turns, self.log = x, v, kind, 0, []

    def push(self, f, dt):
        self.v += f * dt
        self.x += self.v * dt

    @property
    def energy(self):
        return 0.5 * self.v**2 + self.x**2


@dataclass
class State:
    position: object
    velocity: object
    mass: float = 2.0


COUNT = {"turns": 0}


def attributes(x):
    b = Body(x, 0.0)
    for _ in range(40):
        b.push(-b.x, 0.1)
    return b.energy


def objects_in_a_list(x):
    bodies = [Body(x, 0.0), Body(2 * x, 1.0, "b"), Body(-x, 0.5)]
    for _ in range(30):
        for i, a in enumerate(bodies):
            for j, b in enumerate(bodies):
                if i != j:
                    a.v += 0.01 * (b.x - a.x) * (1.0 if b.kind == "a" else math.sin(0.3))
        for a in bodies:
            a.push(0.0, 0.1)
    return sum(a.x * a.v for a in bodies)


def arrays_of_objects(x):
    s = State(np.array([x, 0.0]), np.zeros(2))
    for _ in range(30):
        s.velocity += 0.1 * -s.position / s.mass
        s.position = s.position + 0.1 * s.velocity
        if s.position[0] < 0.2:
            s.position[0] = 0.2
            s.velocity[0] *= -0.5
    return s.position @ s.velocity


def a_dict_that_is_made_anew(x):
    v = {"gnd": 0.0, "in": x, "out": 0.5 * x}
    for _ in range(30):
        new = {name: math.sin(a) + 0.1 * v["in"] for name, a in v.items()}
        v = {name: 0.0 if name == "gnd" else v[name] + 0.3 * (new[name] - v[name]) for name in v}
    return v["in"] * v["out"]


def left_by_running(x):
    b = Body(x, 1.0)
    for _ in range(50):
        b.push(-b.x, 0.1)
        if b.x < 0.3:
            break
        b.v *= 0.999
    return b.x * b.v


def a_return_in_it(x):
    b = Body(x, 1.0)
    for _ in range(50):
        b.push(-b.x, 0.1)
        if b.x < 0.3:
            return b.v
    return b.x


def a_field_that_the_host_keeps(x):
    b = Body(x, 1.0)
    for _ in range(30):
        b.kind, b.turns = "b", 3
        b.x = math.sin(b.x) + math.exp(b.turns / 7)
    return b.x + b.turns


def a_counter(x):
    b = Body(x, 1.0)
    for _ in range(30):
        b.turns += 1
        b.x = math.sin(b.x) + math.exp(b.turns / 7)
    return b.x + b.turns


def a_clock(x):
    b, t = Body(x, 1.0), 0.0
    for _ in range(30):
        b.push(math.sin(t), 0.1)
        t += 0.1
    return b.x + math.cos(t)


def the_number_of_the_turn(x):
    b = Body(x, 1.0)
    for k in range(30):
        b.push(math.sin(0.37 * k), 0.1)
    return b.x


def the_number_of_the_last_turn(x):
    b = Body(x, 1.0)
    for k in range(30):  # noqa: B007
        b.push(-b.x, 0.1)
    return b.x * math.exp(k / 7)


def an_int_that_becomes_real(x):
    b = Body(x, 1.0)
    b.turns = 1
    for _ in range(30):
        b.turns = 3 - b.turns if b.turns == 1 else 1
        b.push(-b.x, 0.1 * b.turns)
    return b.x


def real_late(x):
    b, n, turns = Body(x, 1.0), 0, 0
    for _ in range(30):
        turns += 1
        n = n + 1 if turns < 20 else n * b.x
        b.push(-b.x, 0.1)
    return b.x + n


def an_array_of_the_host(x):
    b, a = Body(x, 1.0), np.array([0.3, 0.4])
    for _ in range(30):
        a = np.sin(a) + 0.1
        b.push(a[0], 0.1)
    return b.x + a.sum()


def an_array_of_the_host_in_place(x):
    b, a = Body(x, 1.0), np.array([0.3, 0.4])
    for _ in range(30):
        a[0] = math.sin(a[0]) + 0.1
        b.push(a[0], 0.1)
    return b.x + a.sum()


def a_list_that_grows(x):
    b = Body(x, 1.0)
    for _ in range(30):
        b.push(-b.x, 0.1)
        b.log.append(b.x)
    return sum(b.log)


def an_iterator(x):
    b, each = Body(x, 1.0), itertools.count(1)
    for _ in range(30):
        b.push(math.sin(next(each)), 0.1)
    return b.x


def draws_of_numpy(x):
    b, rng = Body(x, 1.0), np.random.default_rng(3)
    for _ in range(30):
        b.push(rng.normal(), 0.1)
    return b.x


def a_text(x):
    b, k = Body(x, 1.0), "a"
    for _ in range(30):
        b.push(1.0 if k == "a" else -1.0, 0.1)
        k = "b" if k == "a" else "a"
    return b.x


def a_global(x):
    b = Body(x, 1.0)
    here = dict(COUNT)
    for _ in range(30):
        here["turns"] += 1
        b.push(math.sin(here["turns"]), 0.1)
    return b.x


def a_closure(x):
    b, n = Body(x, 1.0), 0

    def turn():
        nonlocal n
        n += 1
        b.push(math.sin(n), 0.1)

    for _ in range(30):
        turn()
    return b.x + n


def two_that_are_swapped(x):
    a, b = Body(x, 0.0), Body(2.0, 1.0)
    for _ in range(31):
        a, b = b, a
        a.push(-b.x, 0.1)
    return a.x - 2 * b.x


def two_names(x):
    a = np.array([x, 1.0])
    s, t = State(a, 1.0), State(a, 2.0)
    for _ in range(30):
        s.position[0] += 0.1 * t.position[1]
        t.position[1] *= 0.9
    return s.position @ t.position


def refused_later(x):
    bodies = [Body(x, 0.0), Body(2 * x, 1.0)]
    for _ in range(30):
        bodies = [Body(b.x + 0.1 * b.v, b.v - 0.1 * b.x) for b in bodies]
    for k, b in enumerate(bodies):
        b.log.append(k)
        b.x += len(b.log)
    return sum(b.x for b in bodies)


def nothing_that_running_tells(x):
    b = Body(1.0, 1.0)
    for _ in range(30):
        b.push(-math.sin(b.x), 0.1)
    return b.x * x


def unbound_before(x):
    b = Body(x, 1.0)
    for _ in range(30):
        b.push(-b.x, 0.1)
        low = b.x if b.x < 0.5 else 0.5
        if low < 0.2:
            break
    return low * b.x


ROLLED = [
    attributes, objects_in_a_list, arrays_of_objects, a_dict_that_is_made_anew, left_by_running, a_return_in_it,
    a_field_that_the_host_keeps, unbound_before,
]  # fmt: skip
UNROLLED = [
    a_counter, a_clock, the_number_of_the_turn, the_number_of_the_last_turn, an_int_that_becomes_real, real_late,
    an_array_of_the_host, an_array_of_the_host_in_place, a_list_that_grows, an_iterator, draws_of_numpy, a_text,
    a_global, a_closure, refused_later, nothing_that_running_tells, two_names, two_that_are_swapped,
]  # fmt: skip


def test_a_text_is_printed_as_often_as_by_the_unrolled_loop(monkeypatch, capsys):
    def f(x):
        b = Body(x, 1.0)
        for _ in range(20):
            print("a turn")
            b.push(-b.x, 0.1)
        return b.x

    for least in (0, 10**12):
        monkeypatch.setattr(tried_loops, "LEAST", least)
        made = rose.jit(cache=False)(f)
        made(0.7)
        made(0.8)
        assert capsys.readouterr().out.count("a turn") == 20


def test_an_interruption_is_one(monkeypatch):
    monkeypatch.setattr(tried_loops, "LEAST", 0)
    looks = []

    def interrupted(self, carries):
        looks.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(tried_loops._RestFor, "_look", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rose.jit(cache=False)(attributes)(0.7)
    assert len(looks) == 1


def size(program, x):
    return str(rose.jit(program, cache=False).lower(x).ir).count("let ")


@pytest.mark.parametrize("program", [*ROLLED, *UNROLLED])
def test_the_bits_are_those_of_the_unrolled_loop(program, monkeypatch):
    for x in (0.7, 3.0):
        found = []
        for least in (0, 10**12):
            monkeypatch.setattr(tried_loops, "LEAST", least)
            made = rose.jit(program, cache=False)
            value = made(x)
            found.append((type(value), struct.pack("<d", value), made(x + 0.1), rose.grad(made)(x)))
        assert found[0][:3] == found[1][:3]
        assert found[0][3] == pytest.approx(found[1][3], rel=1e-9)
        assert found[0][1] == pytest.approx(found[1][1])
        if program is not refused_later:
            assert struct.unpack("<d", found[0][1])[0] == pytest.approx(program(x), rel=1e-12)


@pytest.mark.parametrize("program", ROLLED)
def test_a_loop_that_uses_what_running_tells_is_rolled(program, monkeypatch):
    sizes = []
    for least in (0, 10**12):
        monkeypatch.setattr(tried_loops, "LEAST", least)
        sizes.append(size(program, 0.7))
    assert 3 * sizes[0] < sizes[1]


def test_what_nothing_undoes_is_done_once(monkeypatch):
    monkeypatch.setattr(tried_loops, "LEAST", 0)
    numbers = deque([0.1, 0.2, 0.3])

    @rose.jit(cache=False)
    def f(x):
        b = Body(x, 1.0)
        for _ in range(20):
            b.push(-b.x, 0.1)
        b.x *= numbers.popleft()
        for _ in range(20):
            b.turns += 1
            b.push(math.sin(b.turns), 0.1)
        return b.x

    def plain(x, factor):
        b = Body(x, 1.0)
        for _ in range(20):
            b.push(-b.x, 0.1)
        b.x *= factor
        for k in range(20):
            b.push(math.sin(k + 1), 0.1)
        return b.x

    assert f(0.7) == pytest.approx(plain(0.7, 0.1), rel=1e-12)
    assert [*numbers] == [0.2, 0.3]


def test_a_handler_of_the_user_hides_nothing(monkeypatch):
    monkeypatch.setattr(tried_loops, "LEAST", 0)
    numbers = deque([0.5, 0.2])

    @rose.jit(cache=False)
    def f(x):
        b = Body(x, 1.0)
        for _ in range(20):
            b.push(-b.x, 0.1)
        try:
            factor = numbers.popleft()
        except:  # noqa: E722
            factor = 100.0
        return factor * b.energy

    def plain(x):
        b = Body(x, 1.0)
        for _ in range(20):
            b.push(-b.x, 0.1)
        return 0.5 * b.energy

    assert f(0.7) == pytest.approx(plain(0.7), rel=1e-12)
    assert [*numbers] == [0.2]


def test_what_is_printed_while_it_is_staged_is_printed_once(monkeypatch, capsys):
    monkeypatch.setattr(tried_loops, "LEAST", 0)

    @rose.jit(cache=False)
    def f(x):
        print("begins", x)
        b = Body(x, 1.0)
        for k in range(20):
            b.push(math.sin(k), 0.1)
        return b.x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(0.7)
    assert capsys.readouterr().out.count("begins") == 1
