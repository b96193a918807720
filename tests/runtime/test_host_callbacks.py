"""Python functions that compiled code calls: values, exceptions, re-entrancy, and signals at the worst moment."""

import math
import signal
import threading
import time
import traceback

import numpy as np
import pytest

from rosejit.abi import Entry, Import, Leaf, Node, Slot
from rosejit.errors import RoseRecursionError, ShapeError, StagingTypeError
from rosejit.runtime.loaded_program import load
from tests.runtime.programs import (
    BOOL,
    INT,
    REAL,
    array,
    artifact,
    function,
    integer,
    prints,
    real,
    signature,
)

R, I, B = Slot("real"), Slot("int"), Slot("bool")
ONE = signature("x", [REAL], REAL)


def one(host, name="g"):
    """`f(x) = g(x) + 1`."""
    body = f"(f64.store (i32.const 72) (f64.add (f64.const 1) (call ${name} (f64.load (i32.const 64)))))"
    program = artifact(
        f'(func (export "f") {body})', Entry("f", (real(64),), (real(72),)), imports=(Import(name, (R,), (R,)),)
    )
    return function(program, ONE, [host])


def test_a_real_goes_in_and_out():
    assert one(math.log)(2.0) == math.log(2.0) + 1
    assert one(lambda x: 3)(2.0) == 4.0
    assert one(np.float32)(0.5) == 1.5


def test_scalars_of_all_kinds_and_several_results():
    swapped = Import("g", (R, I, B), (B, I, R))
    wat = """
      (func (export "f") (local $b i32) (local $n i64) (local $x f64)
        (call $g (f64.load (i32.const 64)) (i64.load (i32.const 72)) (i32.load8_u (i32.const 80)))
        (local.set $x) (local.set $n) (local.set $b)
        (f64.store (i32.const 88) (local.get $x))
        (i64.store (i32.const 96) (local.get $n))
        (i32.store8 (i32.const 104) (local.get $b)))"""
    entry = Entry("f", (real(64), integer(72), Slot("bool", 80)), (real(88), integer(96), Slot("bool", 104)))
    seen = []

    def g(x, n, b):
        seen.append((x, n, b))
        return not b, np.int64(n - 1), x + 1

    f = function(
        artifact(wat, entry, imports=(swapped,)),
        signature("x n b", [REAL, INT, BOOL], Node("tuple", (REAL, INT, BOOL))),
        [g],
    )
    assert f(1.5, -(2**63) + 1, True) == (2.5, -(2**63), False)
    assert f(-0.0, 5, False) == (1.0, 4, True)
    assert seen == [(1.5, -(2**63) + 1, True), (0.0, 5, False)]
    assert [type(v) for v in seen[0]] == [float, int, bool]


def arrays(host, param=array(0, 2, 3), result=array(0, 3)):
    """`f(a) = g(a)` for arrays; the argument at 64, the result at 1024."""
    wat = '(func (export "f") (call $g (i32.const 64) (i32.const 1024)))'
    entry = Entry("f", (array(64, *param.shape),), (array(1024, *result.shape, element=result.element),))
    program = artifact(wat, entry, imports=(Import("g", (param,), (result,)),))
    tree = Leaf("array", result.shape, result.element)
    return function(program, signature("a", [Leaf("array", param.shape)], tree), [host])


def test_arrays_arrive_as_copies_that_cannot_be_written():
    seen = []

    def total(a):
        seen.append(a)
        return a.sum(axis=0)

    f = arrays(total)
    x = np.arange(6.0).reshape(2, 3)
    assert f(x).tolist() == [3, 5, 7]
    f(x + 1)
    assert seen[0].tolist() == x.tolist()
    assert not seen[0].flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        seen[0][0, 0] = 1


def test_array_results_are_converted_and_checked():
    assert arrays(lambda a: [1, 2, 3])(np.zeros((2, 3))).tolist() == [1, 2, 3]
    assert arrays(lambda a: (True, False), result=array(0, 2, element="bool"))(np.zeros((2, 3))).tolist() == [
        True,
        False,
    ]
    for wrong in ([1, 2], np.zeros((3, 1)), "abc", None, [1j, 2, 3]):
        with pytest.raises(ShapeError, match="`g`"):
            arrays(lambda a, wrong=wrong: wrong)(np.zeros((2, 3)))


def test_numbers_and_arrays_as_results_of_one_call():
    imported = Import("g", (R,), (R, array(0, 2), I, array(0, 1)))
    wat = """
      (func (export "f") (local $x f64) (local $n i64)
        (call $g (f64.load (i32.const 64)) (i32.const 72) (i32.const 88))
        (local.set $n) (local.set $x)
        (f64.store (i32.const 96) (local.get $x))
        (i64.store (i32.const 104) (local.get $n)))"""
    entry = Entry("f", (real(64),), (real(96), array(72, 2), integer(104), array(88, 1)))
    tree = Node("tuple", (REAL, Leaf("array", (2,)), INT, Leaf("array", (1,))))
    f = function(
        artifact(wat, entry, imports=(imported,)), signature("x", [REAL], tree), [lambda x: (x, [1, 2], 3, [4])]
    )
    x, a, n, b = f(5.0)
    assert (x, a.tolist(), n, b.tolist()) == (5.0, [1.0, 2.0], 3, [4.0])


@pytest.mark.parametrize("big", [2**63, -(2**63) - 1, np.uint64(2**63)])
def test_an_int_that_is_too_big_is_an_overflow(big):
    body = "(i64.store (i32.const 64) (call $g))"
    program = artifact(f'(func (export "f") {body})', Entry("f", (), (integer(64),)), imports=(Import("g", (), (I,)),))
    with pytest.raises(OverflowError, match="64 bits"):
        function(program, signature("", [], INT), [lambda: big])()


def test_arrays_without_elements():
    f = arrays(lambda a: a, param=array(0, 0), result=array(0, 0))
    assert f([]).shape == (0,)


@pytest.mark.parametrize("wrong", ["1", None, [1.0], 1j])
def test_a_wrong_result_names_the_function(wrong):
    with pytest.raises(StagingTypeError, match="`log` gave"):
        one(lambda x: wrong, "log")(1.0)


def test_a_wrong_number_of_results():
    program = artifact(
        '(func (export "f") (call $g) (drop) (drop))', Entry("f", (), ()), imports=(Import("g", (), (R, R)),)
    )
    for wrong in (1.0, (1.0,), (1.0, 2.0, 3.0), None):
        with pytest.raises(StagingTypeError, match="2 values"):
            function(program, signature("", [], Node("none")), [lambda wrong=wrong: wrong])()


def test_a_function_without_values_is_called_in_order():
    program = artifact(
        '(func (export "f") (call $a) (call $b) (call $a))',
        Entry("f", (), ()),
        imports=(Import("a", (), ()), Import("b", (), ())),
    )
    seen = []
    f = function(program, signature("", [], Node("none")), [lambda: seen.append("a"), lambda: seen.append("b")])
    assert f() is None
    assert seen == ["a", "b", "a"]


# ---- exceptions


class Odd(Exception):
    pass


@pytest.mark.parametrize("error", [Odd("so"), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), StopIteration()])
def test_an_exception_reaches_the_caller_as_itself(error):
    fail = [True]

    def g(x):
        if fail[0]:
            raise error
        return x

    f = one(g)
    with pytest.raises(type(error)) as caught:
        f(1.0)
    assert caught.value is error
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "g"
    fail[0] = False
    assert f(1.0) == 2.0


def test_no_exception_is_left_over():
    f = one(lambda x: 1 / x)
    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            f(0.0)
        assert f(2.0) == 1.5


def test_a_failing_call_inside_does_not_stop_the_one_outside():
    def g(x):
        try:
            inner(0.0)
        except ZeroDivisionError:
            return x
        raise AssertionError

    inner = one(lambda x: 1 / x)
    assert one(g)(5.0) == 6.0


# ---- calls that come back in


def test_a_function_may_call_itself_through_the_host():
    def g(x):
        return x * f(x - 1) - x if x > 0 else 0.0

    f = one(g)
    assert [f(float(n)) for n in range(6)] == [1, 1, 1, 1, 1, 1]
    depth = 40

    def count(x):
        return h(x - 1) if x > 0 else 0.0

    h = one(count)
    assert h(float(depth)) == depth + 1


def test_arguments_of_the_outer_call_survive_the_inner_one():
    wat = """
      (func (export "f")
        (f64.store (i32.const 80) (f64.add (call $g (f64.load (i32.const 64))) (f64.load (i32.const 72)))))"""
    program = artifact(wat, Entry("f", (real(64), real(72)), (real(80),)), imports=(Import("g", (R,), (R,)),))
    f = function(program, signature("x y", [REAL, REAL], REAL), [lambda x: f(x - 1, 100.0) if x > 0 else 0.0])
    assert f(3.0, 1.0) == 301.0


def test_endless_calls_through_the_host_are_a_recursion_error():
    """In a process of its own: what is tested is that it does not die."""
    prints(
        """
import sys
from tests.runtime.test_host_callbacks import one
f = one(lambda x: f(x))
for limit in (1000, 10**6):
    sys.setrecursionlimit(limit)
    for _ in range(3):
        try:
            f(1.0)
        except RecursionError:
            print("RecursionError", end=" ")
ok = [False]
f = one(lambda x: x)
print(f(2.0))
""",
        "RecursionError " * 6 + "3.0",
    )


def test_deep_stacks_of_compiled_code_under_each_other():
    """Each level takes most of its share; the third would pass the end of the stack of the thread."""
    prints(
        """
from rosejit.abi import Entry, Import, Slot
from rosejit.errors import RoseRecursionError
from rosejit.runtime.residency.stack_limit import here
from tests.runtime.programs import REAL, artifact, function, real, signature
wat = '''
  (func $down (param f64) (result f64)
    (if (result f64) (f64.le (local.get 0) (f64.const 0)) (then (call $g (f64.const 0)))
      (else (f64.add (f64.const 1) (call $down (f64.sub (local.get 0) (f64.const 1)))))))
  (func (export "f") (f64.store (i32.const 72) (call $down (f64.load (i32.const 64)))))'''
slot = Slot("real")
program = artifact(wat, Entry("f", (real(64),), (real(72),)), imports=(Import("g", (slot,), (slot,)),))
depth = here.share // 40 + 0.0
f = function(program, signature("x", [REAL], REAL), [lambda x: f(depth)])
try:
    f(depth / 4)
except RoseRecursionError as error:
    print(error)
""",
        "compiled code and host functions call each other too deeply: the stack is exhausted",
    )


def test_host_functions_in_another_thread():
    f = one(lambda x: threading.get_ident() % 1000 + x)
    results = []
    thread = threading.Thread(target=lambda: results.append((f(0.0), threading.get_ident() % 1000 + 1.0)))
    thread.start()
    thread.join()
    assert results[0][0] == results[0][1]


def test_a_signal_at_the_first_instruction_of_a_callback():
    """Its handler raises before any `try` is entered; the exception must not be lost, nor garbage be returned."""
    wat = """
      (func (export "f")
        (call $ready)
        (loop $wait (br_if $wait (i32.eqz (i32.load (i32.const 64)))))
        (f64.store (i32.const 72) (call $g (f64.const 1))))"""
    imports = (Import("ready", (), ()), Import("g", (R,), (R,)))
    program = artifact(wat, Entry("f", (), (real(72),)), imports=imports)
    called, ready = [], threading.Event()
    compiled = load(program, [ready.set, lambda x: called.append(x) or x])
    f = compiled.function("f", signature("", [], REAL))
    made = []
    instantiate = compiled.module.instantiate
    compiled.module.instantiate = lambda: made.append(instantiate()) or made[-1]

    def handler(number, frame):
        raise Odd(number)

    def interrupt():
        ready.wait()
        time.sleep(0.02)  # the call is in its loop
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
        time.sleep(0.02)  # the signal has arrived
        made[-1].words[16] = 1

    before = signal.signal(signal.SIGUSR1, handler)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(Odd):
            f()
    finally:
        signal.signal(signal.SIGUSR1, before)
        thread.join()
    assert called == []
    assert isinstance(RoseRecursionError("x"), RecursionError)
