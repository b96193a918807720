"""`UnrollLimit`: what counts, and that it is told before the time is spent."""

import pytest

import rosejit as rose
from rosejit.api import function
from rosejit.frontend.control import if_for
from tests.frontend.oracle import define


def limited(monkeypatch, limit, body):
    monkeypatch.setenv("ROSE_UNROLL_LIMIT", str(limit))
    return rose.jit(define("def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines()), rose=rose))


FOR = "for k in range(1000):\n    x = x * 0.5 + {0: k}[0]\nreturn x"
BRANCHES = "for k in range(1000):\n    x = {0: x}[0]\n    if x > k:\n        x = x * 0.5\nreturn x"
WHILE = "k = 0\nwhile k < 1000:\n    k += 1\n    x = x * 0.5 + k\nreturn x"
LISTED = "return sum([x * {0: k}[0] for k in range(1000)])"


@pytest.mark.parametrize("body", [FOR, BRANCHES, WHILE, LISTED], ids=["for", "branches", "while", "comprehension"])
def test_the_operations_of_a_function_are_counted_once(monkeypatch, body):
    limited(monkeypatch, 5_000, body).lower(1.0)
    with pytest.raises(rose.UnrollLimit, match="more than 900 operations"):
        limited(monkeypatch, 900, body).lower(1.0)


def test_every_function_has_its_own_limit(monkeypatch):
    callee = limited(monkeypatch, 2_500, FOR)
    caller = limited(monkeypatch, 2_500, "for k in range(200):\n    x = g({0: x}[0])\nreturn x")
    caller.__wrapped__.__globals__["g"] = callee
    assert caller(0.0) == pytest.approx(callee(caller(0.0)), rel=1e-9)


@pytest.mark.parametrize("turns", [10**7, 10**12])
def test_loops_that_are_far_too_long_are_refused_soon(monkeypatch, turns):
    """After 100,000 operations it is clear how many there will be."""
    with pytest.warns(rose.UnrollWarning), pytest.raises(rose.UnrollLimit, match="would be staged") as caught:
        limited(monkeypatch, 10**7, f"for k in range({turns}):\n    x = x * 0.5 + {{0: k}}[0] + 1\nreturn x").lower(1.0)
    assert "more iterations, after 33," in str(caught.value)


def test_a_loop_that_is_left_early_is_not_judged_by_its_range(monkeypatch):
    body = "for k in range(10**12):\n    x = x * 0.5 + {0: k}[0]\n    if k == 51_000:\n        break\nreturn x"
    with pytest.warns(rose.UnrollWarning):
        assert "loop i < 51001 " in str(limited(monkeypatch, 10**7, body).lower(1.0).ir)  # a loop again


# --- `UnrollWarning`

LONG = {
    "for i in range(9_000):\n    x = x * 0.5 + {0: i}[0] + 1.0\nreturn x": "holds a dict",
    "for i in range(90):\n    for j in range(100):\n        x = x * 0.5 + x ** j + i\nreturn x": "index is an exponent",
    "for i in range(30):\n    for j in rose.unroll(range(900)):\n        x = x * 0.5 + i\nreturn x": "call of `unroll`",
    "for i in range(9_000):\n    import math\n    x = x * 0.5 + i + x\nreturn x": "line 3 holds",
}


@pytest.mark.parametrize("body", LONG)
def test_a_loop_that_is_unrolled_to_very_many_operations_is_told_of_once(monkeypatch, body):
    f = limited(monkeypatch, 10**7, body)
    with pytest.warns(rose.UnrollWarning) as caught:
        f.lower(1.0)
    (warning,) = caught
    first = "for" + body.partition("for")[2].partition("\n")[0]
    assert (warning.lineno, LONG[body] in str(warning.message), first in str(warning.message)) == (2, True, True)
    assert "rose.range" in str(warning.message)


def test_what_is_asked_for_or_short_is_not_told_of(monkeypatch):
    for body in (
        "for i in rose.unroll(range(9_000)):\n    x = x * 0.5 + {0: i}[0] + 1.0\nreturn x",
        "for i in range(1_000):\n    x = x * 0.5 + {0: i}[0] + 1.0\nreturn x",
        "for i in range(9_000):\n    x = x * 0.5 + i + 1.0\nreturn x",
    ):
        limited(monkeypatch, 10**7, body).lower(1.0)


def test_host_work_of_a_second_with_few_operations_is_not_told_of(monkeypatch):
    monkeypatch.setattr(if_for, "SECONDS", 1.0)
    seconds = iter(range(0, 10**6, 2))
    monkeypatch.setattr(if_for, "process_time", lambda: float(next(seconds)))
    limited(monkeypatch, 10**7, "for i in range(900):\n    x = x * 0.5 + {0: i}[0]\nreturn x").lower(1.0)
    with pytest.warns(rose.UnrollWarning, match="5,0.. operations after"):
        limited(monkeypatch, 10**7, "for i in range(3_000):\n    x = x * 0.5 + {0: i}[0]\nreturn x").lower(1.0)


def test_a_second_of_compilation_is_told_of_with_the_longest_loop_once(monkeypatch):
    monkeypatch.setattr(if_for, "SECONDS", 1.0)
    seconds = iter(range(0, 10**6, 2))
    monkeypatch.setattr(function, "_clock", lambda: float(next(seconds)))

    @rose.jit(cache=False)
    def f(x: float) -> float:
        held = []
        for _ in range(3):
            held.append(x)
        for i in range(1_500):
            held.append(held[i] * 0.5 + x)
        return held[-1]

    with pytest.warns(rose.UnrollWarning, match="after 1,500 iterations, and 2.0 s of compilation") as caught:
        f(1.0)
    rose.grad(f)(1.0)  # of the same loop: nobody is told again, and warnings are errors
    (warning,) = caught
    assert "a list that grows is read (`held[i]`), in line" in str(warning.message)
    assert "for i in range(1_500)" in str(warning.message)
    assert "rose.range" in str(warning.message)
