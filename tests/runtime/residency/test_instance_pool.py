"""Instances: one to a call, whatever the thread; nothing shared with the child of a fork."""

import gc
import threading
import weakref

from rosejit.abi import Entry, Import, Slot
from rosejit.runtime.loaded_program import load
from tests.runtime.programs import (
    PRODUCT,
    REAL,
    SPINNING,
    artifact,
    function,
    prints,
    product,
    real,
    recursive,
    signature,
    spinning,
)


def test_an_instance_is_used_again():
    compiled = load(product())
    made = []
    instantiate = compiled.module.instantiate
    compiled.module.instantiate = lambda: made.append(1) or instantiate()
    f = compiled.function("f", PRODUCT)
    assert [f(2.0, float(k)) for k in range(100)] == [2.0 * k for k in range(100)]
    assert len(made) == 1


def test_threads_never_meet_in_an_instance():
    for program in (product(), product()):
        program.recursive = not program.recursive
        f = function(program, PRODUCT)
        wrong = []

        def work(k, f=f, wrong=wrong):
            wrong += [turn for turn in range(3000) if f(float(k), float(turn)) != k * turn]

        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_two_calls_run_at_once_and_python_goes_on():
    """A call that waits for its flag, in another thread; this one runs Python and a call of the same function."""
    compiled = load(spinning())
    made, caught = [], []
    instantiate = compiled.module.instantiate
    compiled.module.instantiate = lambda: made.append(instantiate()) or made[-1]
    f = compiled.function("f", SPINNING)

    def spin():
        try:
            f(-1.0)
        except KeyboardInterrupt:
            caught.append(True)

    thread = threading.Thread(target=spin)
    thread.start()
    while not made:
        pass
    assert [f(float(k)) for k in range(1000)] == list(map(float, range(1000)))
    assert thread.is_alive()
    made[0].interrupt()
    thread.join()
    assert caught == [True]
    assert f(1.0) == 1.0


def test_thousands_of_failed_calls_leave_nothing_behind():
    """Each takes an instance with it; a store would hold 10,000."""
    prints(
        """
from tests.runtime.programs import REAL, artifact, function, real, signature
from rosejit.abi import Entry
body = "(if (f64.lt (f64.load (i32.const 64)) (f64.const 0)) (then (unreachable)))"
program = artifact(f'(func (export "f") {body})', Entry("f", (real(64),), (real(64),)))
f = function(program, signature("x", [REAL], REAL))
failed = 0
for k in range(12_000):
    try:
        f(-1.0)
    except RuntimeError:
        failed += 1
print(failed, f(1.0))
""",
        "12000 1.0",
    )


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on Python warns of threads before a fork
from rosejit.abi import *
from tests.runtime.programs import *
from tests.runtime.test_handles import Program

def in_child(check):
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        try:
            check()
        finally:
            sys.stdout.flush()
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""


def test_the_child_of_a_fork_calls_and_compiles():
    prints(
        FORK
        + """
many = "".join(f"(func (param f64) (result f64) (f64.mul (local.get 0) (f64.const {k})))" for k in range(300))
big = lambda: artifact(many + '(func (export "f"))', Entry("f", (real(64),), (real(64),)))
f = function(product(), PRODUCT)
g = function(big(), signature("x", [REAL], REAL))
p = Program()
y, handle = p.fwd(3.0)
print(f(2.0, 3.0), g(1.0))

def check():
    print(f(4.0, 5.0), p.bwd(handle, 2.0), p.bwd(p.fwd(7.0)[1], 1.0))
    print(function(product(), PRODUCT)(6.0, 7.0), function(big(), signature("x", [REAL], REAL))(8.0), g(9.0))
    try:
        function(recursive(), signature("x", [REAL], REAL))(1e9)
    except RecursionError:
        print("RecursionError")

in_child(check)
print(f(1.0, 2.0), p.bwd(handle, 1.0))
""",
        "6.0 1.0\n20.0 6.0 7.0\n42.0 8.0 9.0\nRecursionError\n2.0 3.0",
    )


def test_a_fork_inside_a_host_function():
    prints(
        FORK
        + """
def g(x):
    in_child(lambda: print("child", f(x - 1)) if x == 2 else None)
    return x
hosts = (Import("g", (Slot("real"),), (Slot("real"),)),)
body = "(f64.store (i32.const 64) (call $g (f64.load (i32.const 64))))"
program = artifact(f'(func (export "f") {body})', Entry("f", (real(64),), (real(64),)), imports=hosts)
f = function(program, signature("x", [REAL], REAL), [g])
print("parent", f(2.0))
""",
        "child 1.0\nparent 2.0",
    )


def test_a_fork_while_another_thread_is_in_a_call():
    prints(
        FORK
        + """
import threading, time
compiled = load(spinning())
f = compiled.function("f", SPINNING)
threading.Thread(target=f, args=(-1.0,), daemon=True).start()
time.sleep(0.1)
in_child(lambda: print(f(3.0)))
os._exit(0)
""",
        "3.0",
    )


def test_a_thread_with_a_small_stack_gets_an_error_too():
    prints(
        """
import threading
from tests.runtime.programs import REAL, function, recursive, signature
f = function(recursive(), signature("x", [REAL], REAL))
print(f(1000.0))

def work():
    for n in (500.0, 1e9):
        try:
            print(f(n))
        except RecursionError as error:
            print(type(error).__name__)

for size in (1 << 17, 1 << 20, 1 << 26):
    threading.stack_size(size)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(f(40_000.0))
""",
        "1000.0\n" + "500.0\nRoseRecursionError\n" * 3 + "40000.0",
    )


def test_instances_of_a_thread_go_with_it():
    compiled = load(recursive())
    made = []
    instantiate = compiled.module.instantiate
    compiled.module.instantiate = lambda: made.append(weakref.ref(found := instantiate())) or found
    f = compiled.function("f", signature("x", [REAL], REAL))
    for _ in range(3):
        thread = threading.Thread(target=lambda: f(5.0))
        thread.start()
        thread.join()
    assert f(3.0) == 3.0
    assert [instance() is None for instance in made] == [True, True, True, False]


def test_a_function_that_its_host_functions_know_is_collected():
    for again in (True, False):
        r = Slot("real")
        body = "(f64.store (i32.const 64) (call $g (f64.load (i32.const 64))))"
        entry, imports = Entry("f", (real(64),), (real(64),)), (Import("g", (r,), (r,)),)
        program = artifact(f'(func (export "f") {body})', entry, imports=imports, recursive=again)
        f = function(program, signature("x", [REAL], REAL), [lambda x: f(x - 1.0) if x > 0 else x])
        assert f(3.0) == 0.0
        gone = weakref.ref(f)
        del f
        gc.collect()
        assert gone() is None


def test_a_bigger_stack_is_used():
    prints(
        """
import threading
from tests.runtime.programs import REAL, function, recursive, signature
f = function(recursive(), signature("x", [REAL], REAL))
threading.stack_size(1 << 27)
thread = threading.Thread(target=lambda: print(f(1_000_000.0)))
thread.start()
thread.join()
""",
        "1000000.0",
    )


def test_hosts_and_recursion_need_no_engine_of_their_own():
    r = Slot("real")
    body = "(f64.store (i32.const 64) (call $g (f64.load (i32.const 64))))"
    entry = Entry("f", (real(64),), (real(64),))
    program = artifact(f'(func (export "f") {body})', entry, imports=(Import("g", (r,), (r,)),), recursive=False)
    f = function(program, signature("x", [REAL], REAL), [lambda x: g(x) + 1])
    g = function(recursive(), signature("x", [REAL], REAL))
    assert f(100.0) == 101.0
