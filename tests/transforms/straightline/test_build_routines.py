"""What becomes a routine, what stands where it is called, and what is left to the passes."""

import pytest

from rosejit.text import parse
from rosejit.transforms.straightline import build_routines
from rosejit.transforms.straightline.routine_ir import ByteOffset, CallRoutine, ElementAddress, ParameterLeaf


@pytest.fixture(autouse=True)
def short_code_too(monkeypatch):
    monkeypatch.setattr(build_routines, "WORTHWHILE", 0)


READS = """
def g(x: [4][3]Real, k: Int): Real =
  let a: Real = x@[k, 1] in let b: Real = x@[2, 0] in let c: Real = a * b in c
def f(x: [4][3]Real): Real =
  let a: Real = g(x, 1) in let b: Real = g(x, 3) in let c: Real = a + b in c
"""


def test_an_index_is_a_number_of_bytes(monkeypatch):
    monkeypatch.setattr(build_routines, "SMALL", 0)
    made = build_routines.build_routines(parse(READS))
    g, f = made.routines
    assert g.strides == {0: 24}
    assert {leaf for leaf in g.leaves if isinstance(leaf, ElementAddress)} == {
        ElementAddress(0, g.function.results[0], 8, 0),
        ElementAddress(0, g.function.results[0], 48, None),
    }
    assert [leaf for leaf in f.leaves if isinstance(leaf, ByteOffset)] == [ByteOffset(24), ByteOffset(72)]
    assert sum([isinstance(made.actions[~step[0]], CallRoutine) for step in f.code if step[0] < 0]) == 2


def test_what_is_short_stands_where_it_is_called():
    (f,) = build_routines.build_routines(parse(READS)).routines
    assert not any([isinstance(leaf, ParameterLeaf | ByteOffset) for leaf in f.leaves])
    assert [len(step) for step in f.code] == [3, 3, 3]


def test_equal_calls_are_shared_where_they_stand():
    (f,) = build_routines.build_routines(parse(READS.replace("g(x, 3)", "g(x, 1)"))).routines
    assert len(f.code) == 2


@pytest.mark.parametrize(
    "text",
    [
        "def f(x: Real): Real = let y: Real = if true { x } { 0.0 } in y",
        "def f(x: [6]Real, k: Int): Real = let y: Real = x[k] in y",
        "def f(x: Real, y: Real): Real = let z: Int = to_int(x) in let w: Real = to_real(z) in w",
        "def f(x: [6]Real): [6]Real = x",
        "def f(x: [6]Real): Real = let y: Real = x[6] in y",
        "def f(x: [6]Real): Real = let y: Real = x[-1] in y",
        "def f(x: Real): Real = let y: Real = f(x) in y",
    ],
)
def test_what_is_not_straight_is_left_to_the_passes(text):
    g = "def g(x: Real): Real = let y: Real = x + x in y\n"
    called = text.replace("= let", "= let a: Real = g(1.0) in let", 1)
    assert build_routines.build_routines(parse(g + called)) is None


def test_an_index_that_is_known_in_the_caller_alone_may_be_out_of_range():
    text = """
def g(x: [4]Real, k: Int): Real = let a: Real = x[k] in let b: Real = a + a in b
def f(x: [4]Real): Real = let a: Real = g(x, 1) in let b: Real = g(x, AT) in let c: Real = a + b in c
"""
    assert build_routines.build_routines(parse(text.replace("AT", "3"))) is not None
    assert build_routines.build_routines(parse(text.replace("AT", "4"))) is None


def test_one_function_is_one_routine():
    (f,) = build_routines.build_routines(
        parse("def f(x: [2]Real): Real = let a: Real = x@[1] in let b: Real = a * a in b")
    ).routines
    assert len(f.code) == 1
