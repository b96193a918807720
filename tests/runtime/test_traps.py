"""Every way in which a call can fail: the class, the words, the line, and that the next call works."""

import traceback

import pytest

from rosejit import errors
from rosejit.abi import Entry
from rosejit.errors import RoseIndexError, RoseMemoryError, RoseRecursionError, WasmTrap
from rosejit.ir.syntax import Failure
from rosejit.span import Span
from tests.runtime.programs import REAL, artifact, function, integer, python, real, recursive, signature

HERE = Span(__file__, 20, 4, 20, 9, "user")
ONE = signature("x", [REAL], REAL)


def failing(*failures, body="", values=(), **more):
    """`f(x) = x`; reports failure number x where x >= 0, after `body`."""
    wat = f"""
      (func $inner {body}
        (i32.store (i32.const 8) (i32.trunc_f64_s (f64.load (i32.const 64))))
        (unreachable))
      (func (export "f") (if (f64.ge (f64.load (i32.const 64)) (f64.const 0)) (then (call $inner))))"""
    entry = Entry("f", (real(64),), (real(64),))
    program = artifact(wat, entry, failures=failures, failure_values=values, functions={0: "inner", 1: "f"}, **more)
    return function(program, ONE)


def indexing(index, length, message="index {0} is out of bounds for an axis of length {1}"):
    store = f"(i64.store (i32.const 16) (i64.const {index})) (i64.store (i32.const 24) (i64.const {length}))"
    return failing(Failure("index", message, HERE), body=store)


@pytest.mark.parametrize(("wrapped", "written"), [(7, 7), (5, 5), (-1, -6), (-2, -7)])
def test_an_index_is_shown_as_the_user_wrote_it(wrapped, written):
    f = indexing(wrapped, 5)
    with pytest.raises(RoseIndexError, match=f"^index {written} is out of bounds for an axis of length 5\n"):
        f(0.0)
    assert f(-1.0) == -1.0


def test_the_traceback_ends_in_the_line_of_the_user():
    with pytest.raises(IndexError) as caught:
        indexing(7, 5)(0.0)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == (__file__, 20, "user")
    assert caught.value.span == HERE


@pytest.mark.parametrize(
    ("kind", "cls", "also"),
    [
        ("assertion", errors.RoseAssertionError, AssertionError),
        ("overflow", errors.RoseOverflowError, OverflowError),
        ("zero division", errors.RoseZeroDivisionError, ZeroDivisionError),
        ("unbound", errors.UnboundStagedName, UnboundLocalError),
        ("shape", errors.ShapeError, ValueError),
    ],
)
def test_each_kind_has_its_class_its_message_and_its_help(kind, cls, also):
    f = failing(Failure("index", "another"), Failure(kind, "so it is", HERE, help="do that"))
    with pytest.raises(cls) as caught:
        f(1.0)
    assert isinstance(caught.value, also)
    assert caught.value.message == "so it is"
    assert "help: do that" in str(caught.value)
    assert f(-2.0) == -2.0


class Missing(Exception):
    def __init__(self, what):
        super().__init__(what)
        self.what = what


@pytest.mark.parametrize("exception", [Missing("it"), lambda: Missing("it")])
def test_the_exception_of_a_raise_is_new_each_time(exception):
    f = failing(Failure("raise", "", HERE, exception=exception))
    seen = []
    for _ in range(2):
        with pytest.raises(Missing, match="it") as caught:
            f(0.0)
        seen.append(caught.value)
    assert seen[0] is not seen[1]
    assert traceback.extract_tb(seen[1].__traceback__)[-1].lineno == 20


def test_a_class_is_raised_with_the_message():
    with pytest.raises(ValueError, match=r"^too small$"):
        failing(Failure("raise", "too small", HERE, exception=ValueError))(0.0)


def test_values_of_all_kinds_go_into_the_message():
    body = """
      (f64.store (i32.const 16) (f64.const 1.5))
      (i64.store (i32.const 24) (i64.const -3))
      (i64.store (i32.const 32) (i64.const 1))"""
    failure = Failure("assertion", "x = {0}, n = {1}, {2}", HERE)
    f = failing(failure, body=body, values=(("real", "int", "bool"),))
    with pytest.raises(AssertionError, match=r"^x = 1\.5, n = -3, True\n"):
        f(0.0)


def trapping(body):
    wat = f'(func $inner {body}) (func (export "f") (call $inner))'
    entry = Entry("f", (real(64),), (real(64),))
    return function(artifact(wat, entry, functions={0: "inner", 1: "f"}), ONE)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("(unreachable)", "unreachable"),
        ("(drop (i32.load (i32.const -4)))", "out of bounds memory access"),
        ("(drop (i32.div_s (i32.const 1) (i32.const 0)))", "divide by zero"),
        ("(drop (i32.trunc_f64_s (f64.const nan)))", "invalid conversion to integer"),
    ],
)
def test_any_other_trap_names_the_function(body, reason):
    f = trapping(body)
    for _ in range(3):
        with pytest.raises(WasmTrap, match=f"`inner` failed: .*{reason}"):
            f(0.0)


def test_too_deep_recursion_is_an_error_and_the_next_call_works():
    f = function(recursive(), ONE)
    for _ in range(2):
        with pytest.raises(RoseRecursionError, match="`down`"):
            f(1e12)
    assert f(20_000.0) == 20_000.0


def test_running_out_of_memory_says_how_much_was_asked():
    wat = """
      (func (export "f")
        (i64.store (i32.const 16) (i64.load (i32.const 64)))
        (i32.store (i32.const 8) (i32.const -2))
        (unreachable))"""
    f = function(artifact(wat, Entry("f", (integer(64),), ())), signature("n", [leaf_int()], none()))
    with pytest.raises(RoseMemoryError, match=r"5,000,000,000 bytes were asked for, 65,536 of at most") as caught:
        f(5_000_000_000)
    assert isinstance(caught.value, MemoryError)


def leaf_int():
    from rosejit.abi import Leaf

    return Leaf("int")


def none():
    from rosejit.abi import Node

    return Node("none")


def test_memory_that_grows_stays_where_it_is():
    wat = """
      (func (export "f")
        (drop (memory.grow (i32.const 1000)))
        (f64.store (i32.const 30000000) (f64.load (i32.const 64)))
        (f64.store (i32.const 64) (f64.load (i32.const 30000000))))"""
    f = function(artifact(wat, Entry("f", (real(64),), (real(64),))), ONE)
    assert [f(float(k)) for k in range(5)] == [0.0, 1.0, 2.0, 3.0, 4.0]


SHORT = """
import resource
from tests.runtime.programs import PRODUCT, function, product
f, g = [function(product(), PRODUCT) for _ in range(2)]
assert f(2.0, 3.0) == 6.0
used = int(open("/proc/self/statm").read().split()[0]) * 4096
def leave(more):
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))
"""


def test_a_process_without_address_space_gets_an_error():
    code = f"""{SHORT}
leave(-(2 << 30))
try:
    g(2.0, 3.0)
except MemoryError as error:
    leave(8 << 30)
    print(type(error).__name__, f(4.0, 5.0))
"""
    done = python(code)
    assert done.stdout.strip() == "RoseMemoryError 20.0", done


def test_where_there_is_address_space_for_one_they_take_turns():
    done = python(f"{SHORT}leave(1 << 30)\nprint([g(2.0, 3.0), f(4.0, 5.0), g(1.0, 7.0)])")
    assert done.stdout.strip() == "[6.0, 20.0, 7.0]", done


def test_a_module_that_the_engine_refuses():
    program = artifact('(func (export "f"))', Entry("f", (), ()))
    program.wasm = program.wasm[:-3]
    with pytest.raises(WasmTrap, match="refuses"):
        function(program, signature("", [], none()))
