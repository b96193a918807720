"""`UnrollLimit`: what counts, and that it is told before the time is spent."""

import pytest

import rosejit as rose
from tests.frontend.oracle import define


def limited(monkeypatch, limit, body):
    monkeypatch.setenv("ROSE_UNROLL_LIMIT", str(limit))
    return rose.jit(define("def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())))


FOR = "for k in range(1000):\n    x = x * 0.5 + [k][0]\nreturn x"
BRANCHES = "for k in range(1000):\n    x = [x][0]\n    if x > k:\n        x = x * 0.5\nreturn x"
WHILE = "k = 0\nwhile k < 1000:\n    k += 1\n    x = x * 0.5 + k\nreturn x"
LISTED = "return sum([x * [k][0] for k in range(1000)])"


@pytest.mark.parametrize("body", [FOR, BRANCHES, WHILE, LISTED], ids=["for", "branches", "while", "comprehension"])
def test_the_operations_of_a_function_are_counted_once(monkeypatch, body):
    limited(monkeypatch, 5_000, body).lower(1.0)
    with pytest.raises(rose.UnrollLimit, match="more than 900 operations"):
        limited(monkeypatch, 900, body).lower(1.0)


def test_every_function_has_its_own_limit(monkeypatch):
    callee = limited(monkeypatch, 2_500, FOR)
    caller = limited(monkeypatch, 2_500, "for k in range(200):\n    x = g([x][0])\nreturn x")
    caller.__wrapped__.__globals__["g"] = callee
    assert caller(0.0) == pytest.approx(callee(caller(0.0)), rel=1e-9)


@pytest.mark.parametrize("turns", [10**7, 10**12])
def test_loops_that_are_far_too_long_are_refused_soon(monkeypatch, turns):
    """After 100,000 operations it is clear how many there will be."""
    with pytest.raises(rose.UnrollLimit, match="would be staged") as caught:
        limited(monkeypatch, 10**7, f"for k in range({turns}):\n    x = x * 0.5 + [k][0] + 1\nreturn x").lower(1.0)
    assert "more turns, after 33," in str(caught.value)


def test_a_loop_that_is_left_early_is_not_judged_by_its_range(monkeypatch):
    body = "for k in range(10**12):\n    x = x * 0.5 + [k][0]\n    if k == 51_000:\n        break\nreturn x"
    assert len(limited(monkeypatch, 10**7, body).lower(1.0).ir) == 102_002
