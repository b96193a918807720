"""Code that is replaced while it is in use: what calls, pullbacks, hosts and other processes see of it."""

import gc
import threading
import time
from pathlib import Path

import pytest

from rosejit.abi import Entry, Import, Slot
from rosejit.errors import WasmTrap
from rosejit.runtime import backend
from rosejit.runtime import cache as disk
from rosejit.runtime.cache import Cache
from rosejit.runtime.loaded_program import Compiled, load
from rosejit.runtime.residency import tiering
from tests.runtime.programs import REAL, artifact, product, real, signature

PRODUCT = signature("x y", [REAL, REAL], REAL)


@pytest.fixture
def slow(monkeypatch):
    """Every program is large, and used enough at once; the compiler that optimises begins when the event is set."""
    may_begin = threading.Event()
    engine, compile_ = backend.current(), backend.current().compile

    def later(program, hosts):
        assert may_begin.wait(60)
        return compile_(program, hosts)

    monkeypatch.setattr(tiering, "SMALL", 0)
    monkeypatch.setattr(tiering, "price", lambda size: 0.0)
    monkeypatch.setattr(engine, "compile", later)
    yield may_begin
    may_begin.set()
    assert tiering.wait(60)


def brief(made):
    made.lasting = False
    return made


def test_the_first_call_does_not_wait_and_later_ones_run_better_code(slow):
    settled = []
    program = load(brief(product()), (), "auto", lambda made, error: settled.append((made.module, error)))
    f = program.function("f", PRODUCT)
    assert f(3.0, 4.0) == 12.0
    assert not program.module.final
    slow.set()
    assert tiering.wait(60)
    assert program.module.final
    assert settled == [(program.module, None)]
    assert f(3.0, 5.0) == 15.0


@pytest.fixture
def dear(monkeypatch):
    """Better code is worth being made after a fiftieth of a second."""
    monkeypatch.setattr(tiering, "SMALL", 0)
    monkeypatch.setattr(tiering, "price", lambda size: 0.02)


def used(f, final):
    """Calls `f` until its code is final, a minute at most; gives how long that was."""
    start = time.perf_counter()
    while not final() and time.perf_counter() < start + 60:
        assert f(3.0, 4.0) == 12.0
    return time.perf_counter() - start


def test_better_code_is_made_when_calls_have_taken_as_long(dear):
    program = load(brief(product()), (), "auto")
    f = program.function("f", PRODUCT)
    assert [f(float(k), 2.0) for k in range(3)] == [0.0, 2.0, 4.0]
    assert tiering.idle(60)
    assert not program.module.final
    assert used(f, lambda: program.module.final) >= 0.02
    assert f(3.0, 5.0) == 15.0


def test_who_waits_does_not_have_to_use_it(dear):
    program = load(brief(product()), (), "auto")
    assert tiering.wait(60)
    assert program.module.final
    assert program.function("f", PRODUCT)(3.0, 4.0) == 12.0


def test_threads_that_use_it_at_once_make_it_once(dear, monkeypatch):
    made, compile_ = [], backend.current().compile
    monkeypatch.setattr(backend.current(), "compile", lambda *given: made.append(1) or compile_(*given))
    program = load(brief(product()), (), "auto")
    f = program.function("f", PRODUCT)
    threads = [threading.Thread(target=used, args=(f, lambda: program.module.final)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (program.module.final, made) == (True, [1])


def test_fast_stays_and_best_is_there_at_once(slow):
    slow.set()
    fast, best = load(product(), (), "fast"), load(product(), (), "best")
    assert tiering.wait(60)
    assert (fast.module.final, best.module.final) == (False, True)
    assert [each.function("f", PRODUCT)(0.1, 0.2) for each in (fast, best)] == [0.1 * 0.2] * 2


def test_what_is_small_or_lasts_is_optimised_at_once(monkeypatch):
    assert load(brief(product()), (), "auto").module.final
    monkeypatch.setattr(tiering, "SMALL", 0)
    assert load(product(), (), "auto").module.final


def test_a_call_that_is_running_ends_on_the_code_that_it_began_with(slow):
    r, entry = Slot("real"), Entry("f", (real(64),), (real(64),))
    body = "(f64.store (i32.const 64) (f64.add (f64.load (i32.const 64)) (call $g (f64.load (i32.const 64)))))"
    made = []

    def swap(x):
        if not program.module.final:
            slow.set()
            assert tiering.wait(60)
        return x

    program = load(
        brief(artifact(f'(func (export "f") {body})', entry, imports=(Import("g", (r,), (r,)),))), [swap], "auto"
    )
    f = program.function("f", signature("x", [REAL], REAL))
    assert f(2.0) == 4.0
    instantiate = program.module.instantiate
    program.module.instantiate = lambda: made.append(1) or instantiate()
    assert (f(3.0), f(4.0)) == (6.0, 8.0)
    assert made == [1]  # the instance of the running call was not taken back


def test_many_threads_call_while_the_code_changes(slow):
    program = load(brief(product()), (), "auto")
    f = program.function("f", PRODUCT)
    wrong = []

    def calls():
        for k in range(3_000):
            if f(float(k), 2.0) != 2.0 * k:
                wrong.append(k)

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    slow.set()
    for thread in threads:
        thread.join()
    assert tiering.wait(60)
    assert (wrong, program.module.final) == ([], True)


def test_code_that_nobody_needs_any_more_is_not_made(slow, monkeypatch):
    first = load(brief(product()), (), "auto")  # the compiler has begun with this one
    second, settled = load(brief(product()), (), "auto", lambda *found: settled.append(found)), []
    del second
    gc.collect()
    slow.set()
    assert tiering.wait(60)
    assert first.module.final
    assert settled == []


def test_a_compiler_that_fails_leaves_what_there_is(slow, monkeypatch):
    settled = []

    def refuses(program, hosts):
        raise WasmTrap("no")

    monkeypatch.setattr(backend.current(), "compile", refuses)
    program = load(brief(product()), (), "auto", lambda made, error: settled.append(str(error)))
    assert tiering.wait(60)
    assert settled == ["no"]
    assert (program.function("f", PRODUCT)(3.0, 4.0), program.module.final) == (12.0, False)


def test_an_engine_without_a_second_compiler(monkeypatch):
    monkeypatch.setattr(backend.current(), "quick", lambda program, hosts: None)
    assert load(product(), (), "fast").module.final


def test_what_the_quick_compiler_does_not_know_is_optimised():
    body = "(drop (i32x4.relaxed_trunc_f32x4_s (v128.const i64x2 0 0)))"
    program = load(artifact(f'(func (export "f") {body})', Entry("f", (), ())), (), "fast")
    assert program.module.final


def test_the_disk_has_quick_code_first_and_then_what_is_final(dear, tmp_path):
    cache = Cache(tmp_path)
    program = load(brief(product()), (), "auto", lambda made, error: cache.store("a", made))
    cache.store("a", program)
    assert not isinstance(cache.load("a", tier="best"), Compiled)
    for tier in ("fast", "auto"):
        found = cache.load("a", (), (), tier, lambda made, error: cache.store("a", made))
        assert isinstance(found, Compiled)
        assert (found.module.final, found.function("f", PRODUCT)(3.0, 4.0)) == (False, 12.0)
    used(found.function("f", PRODUCT), lambda: found.module.final)
    assert tiering.idle(60)
    for tier in ("fast", "auto", "best"):
        found = cache.load("a", tier=tier)
        assert isinstance(found, Compiled)
        assert (found.module.final, found.function("f", PRODUCT)(3.0, 4.0)) == (True, 12.0)


def test_quick_code_of_large_programs_goes_to_disk_when_they_are_met_again(dear, monkeypatch, tmp_path):
    monkeypatch.setattr(disk, "_LITTLE", 0)
    cache = Cache(tmp_path)
    program = load(brief(product()), (), "auto")
    cache.store("a", program)
    assert not isinstance(cache.load("a"), Compiled)
    cache.store("a", program)
    found = cache.load("a")
    assert isinstance(found, Compiled)
    assert (found.module.final, found.function("f", PRODUCT)(3.0, 4.0)) == (False, 12.0)


def test_there_is_one_file_for_both(slow, tmp_path: Path):
    cache = Cache(tmp_path)
    cache.store("a", load(product(), (), "fast"))
    slow.set()
    cache.store("a", load(product(), (), "best"))
    assert cache.info().entries == 1
