"""Handles: the instance they belong to, its release, and their use in other threads and after failures."""

import copy
import gc
import pickle
import threading

import pytest

from rosejit.abi import Entry, Import, Node, Slot
from rosejit.errors import WasmTrap
from rosejit.runtime.handles import Handle
from rosejit.runtime.loaded_program import load
from tests.runtime.programs import INT, REAL, artifact, integer, prints, real, signature

# `fwd(x) = (2 x, a handle on x)`, `bwd(handle, ct) = x * ct`, `live()`: how many records are not released.
WAT = """
  (global $live (mut i32) (i32.const 0))
  (global $free (mut i32) (i32.const 1024))
  (func (export "fwd") (local $at i32)
    (local.set $at (global.get $free))
    (global.set $free (i32.add (local.get $at) (i32.const 8)))
    (global.set $live (i32.add (global.get $live) (i32.const 1)))
    (f64.store (local.get $at) (f64.load (i32.const 64)))
    (f64.store (i32.const 72) (f64.mul (f64.const 2) (f64.load (i32.const 64))))
    (i32.store (i32.const 80) (local.get $at)))
  (func (export "bwd")
    (f64.store (i32.const 104) (f64.mul (f64.load (i32.load (i32.const 88))) (f64.load (i32.const 96)))))
  (func (export "again")
    (i32.store (i32.const 80) (i32.load (i32.const 88)))
    (f64.store (i32.const 72) (f64.load (i32.load (i32.const 88)))))
  (func (export "live") (i64.store (i32.const 64) (i64.extend_i32_s (global.get $live))))
  (func (export "break") (unreachable))
  (func (export "release_0") (param i32)
    (global.set $live (i32.sub (global.get $live) (i32.const 1))))"""
MADE, TAKEN = Slot("handle", 80, release="release_0"), Slot("handle", 88)
ENTRIES = (
    Entry("fwd", (real(64),), (real(72), MADE)),
    Entry("bwd", (TAKEN, real(96)), (real(104),)),
    Entry("again", (TAKEN,), (real(72), MADE)),
    Entry("live", (TAKEN,), (integer(64),)),
    Entry("break", (TAKEN,), ()),
)


class Program:
    def __init__(self):
        compiled = load(artifact(WAT, *ENTRIES))
        self.fwd = compiled.function("fwd", signature("x", [REAL], REAL))
        self.bwd = compiled.function("bwd", signature("ct", [REAL], REAL))
        self.again = compiled.function("again", signature("", [], REAL))
        self.live = compiled.function("live", signature("", [], INT))
        self.break_ = compiled.function("break", signature("", [], Node("none")))


def test_a_pullback_runs_on_what_its_forward_pass_kept():
    p = Program()
    y, first = p.fwd(3.0)
    _, second = p.fwd(5.0)
    assert y == 6.0
    assert [p.bwd(first, 1.0), p.bwd(second, 2.0), p.bwd(first, 10)] == [3.0, 10.0, 30.0]


def test_calls_one_after_the_other_use_one_instance():
    p = Program()
    handles = [p.fwd(float(k))[1] for k in range(10)]
    assert len({id(handle.tape) for handle in handles}) == 1
    assert [p.bwd(handle, 1.0) for handle in handles] == list(map(float, range(10)))
    assert p.live(handles[0]) == 10


def test_a_collected_handle_is_released():
    p = Program()
    _, kept = p.fwd(1.0)
    for k in range(100):
        assert p.bwd(p.fwd(float(k))[1], 1.0) == k
    gc.collect()
    assert p.live(kept) == 1


def test_an_entry_may_take_and_make_handles():
    p = Program()
    _, first = p.fwd(4.0)
    y, second = p.again(first)
    assert y == 4.0
    assert second.tape is first.tape
    assert p.bwd(second, 2.0) == 8.0


def test_a_handle_of_another_program_is_refused():
    p, q = Program(), Program()
    _, handle = p.fwd(1.0)
    with pytest.raises(ValueError, match="another function"):
        q.bwd(handle, 1.0)


def test_handles_cannot_be_copied():
    _, handle = Program().fwd(1.0)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="pullback"):
            attempt(handle)


def test_handles_outlive_a_failure_of_their_instance():
    p = Program()
    _, handle = p.fwd(3.0)
    for _ in range(3):
        with pytest.raises(WasmTrap):
            p.break_(handle)
        assert p.bwd(handle, 2.0) == 6.0
    _, fresh = p.fwd(7.0)
    assert fresh.tape is not handle.tape
    assert p.bwd(handle, 1.0) == 3.0
    del handle
    assert p.bwd(fresh, 1.0) == 7.0


def test_a_handle_in_another_thread():
    p = Program()
    handles = [p.fwd(float(k))[1] for k in range(8)]
    wrong = []

    def pull(k):
        for turn in range(200):
            if p.bwd(handles[k], float(turn)) != k * turn:
                wrong.append((k, turn))

    def push():
        for turn in range(200):
            y, handle = p.fwd(float(turn))
            if (y, p.bwd(handle, 1.0)) != (2.0 * turn, turn):
                wrong.append(turn)

    threads = [threading.Thread(target=pull, args=(k,)) for k in range(8)]
    threads += [threading.Thread(target=push) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert p.live(handles[0]) >= 8


def test_a_handle_that_dies_in_another_thread():
    p = Program()
    _, kept = p.fwd(1.0)
    dying = [p.fwd(2.0)[1] for _ in range(5)]
    thread = threading.Thread(target=dying.clear)
    thread.start()
    thread.join()
    assert p.live(kept) == 1


def test_a_handle_that_dies_while_its_instance_runs_is_released_afterwards():
    r = Slot("real")
    wat = WAT.replace('(func (export "bwd")', '(func (export "bwd") (drop (call $drop (f64.const 0)))')
    victims = []
    compiled = load(artifact(wat, *ENTRIES, imports=(Import("drop", (r,), (r,)),)), [lambda x: victims.clear() or 0.0])
    fwd = compiled.function("fwd", signature("x", [REAL], REAL))
    bwd = compiled.function("bwd", signature("ct", [REAL], REAL))
    live = compiled.function("live", signature("", [], INT))
    _, handle = fwd(3.0)
    victims += [fwd(1.0)[1], fwd(2.0)[1]]
    assert live(handle) == 3
    assert bwd(handle, 2.0) == 6.0
    assert live(handle) == 1


def test_calls_that_come_back_in_through_a_host_function():
    """A new forward pass finds another instance; a pullback runs on its own, whose outer call goes on unharmed."""
    r = Slot("real")
    wat = WAT.replace('(func (export "bwd")', '(func (export "bwd") (drop (call $inside (f64.const 0)))')
    seen = []

    def inside(x):
        if not seen:
            seen.append(None)
            y, other = fwd(5.0)
            seen.append((y, other.tape is handle.tape, bwd(handle, 100.0), bwd(other, 1.0)))
        return x

    compiled = load(artifact(wat, *ENTRIES, imports=(Import("inside", (r,), (r,)),)), [inside])
    fwd = compiled.function("fwd", signature("x", [REAL], REAL))
    bwd = compiled.function("bwd", signature("ct", [REAL], REAL))
    _, handle = fwd(3.0)
    assert bwd(handle, 2.0) == 6.0
    assert seen[1] == (10.0, False, 300.0, 5.0)


def test_a_host_function_that_fails_on_a_tape():
    r = Slot("real")
    wat = WAT.replace('(func (export "bwd")', '(func (export "bwd") (drop (call $g (f64.load (i32.const 96))))')
    compiled = load(artifact(wat, *ENTRIES, imports=(Import("g", (r,), (r,)),)), [lambda x: 1 / x])
    fwd = compiled.function("fwd", signature("x", [REAL], REAL))
    bwd = compiled.function("bwd", signature("ct", [REAL], REAL))
    _, handle = fwd(3.0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            bwd(handle, 0.0)
        assert bwd(handle, 2.0) == 6.0


def test_handles_at_the_exit_of_the_interpreter():
    prints(
        """
import atexit
from tests.runtime.test_handles import Program
p = Program()
kept = p.fwd(1.0)
ring = [p.fwd(2.0)]
ring.append(ring)
atexit.register(lambda: print(p.bwd(kept[1], 4.0)))
""",
        "4.0",
    )


def test_a_handle_is_opaque():
    _, handle = Program().fwd(1.0)
    assert isinstance(handle, Handle)
    assert not hasattr(handle, "__dict__")


def test_finalizers_may_call_what_is_garbage_together_with_them():
    """The cyclic collector runs them in no order; in a process of its own, since it is a crash that is looked for."""
    prints(
        """
import gc
from tests.runtime.programs import PRODUCT, function, product
from tests.runtime.test_handles import Program

class Owner:
    def __init__(self):
        self.me, self.program, self.product = self, Program(), function(product(), PRODUCT)
        self.handles = [self.program.fwd(float(k))[1] for k in range(3)]
        self.product(1.0, 1.0)

    def __del__(self):
        calls.append((self.product(2.0, 3.0), [self.program.bwd(handle, 1.0) for handle in self.handles]))

calls = []
gc.disable()
for _ in range(20):
    Owner()
gc.collect()
print(len(calls), calls[0], calls.count(calls[0]))
""",
        "20 (6.0, [0.0, 1.0, 2.0]) 20",
    )
