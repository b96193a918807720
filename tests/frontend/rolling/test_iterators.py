"""Iterators over arrays and ranges: what a rolled loop has gone through is gone, as in Python."""

import itertools

import pytest

from rosejit import UnsupportedSyntax
from tests.frontend.oracle import agrees, fault, says
from tests.frontend.rolling.test_decide import M, V, function, reasons  # noqa: F401  # a fixture

MAKERS = {
    "iter(v)": "b",
    "iter([x, 2.0, 3.0])": "b",
    "(2 * a for a in v[:5])": "b",
    "map(math.sin, v[:5])": "b",
    "enumerate([x, 2.0, 3.0])": "a, b",
    "zip(v, v)": "a, b",
    "zip(range(100), v)": "a, b",
    "zip(range(100), v, strict=True)": "a, b",
    "zip(v, range(5, 105), m[:, 0])": "a, b, c",
    "enumerate(v)": "a, b",
    "enumerate(v, 2)": "a, b",
    "reversed(v)": "b",
    "reversed(range(100))": "b",
}
UNROLLED = "iter(", "(2 * a", "map(", "enumerate(["
FIRST = {
    "pass": 0,
    "next(z)": 0,
    "for {names} in z:\n    s = s * 0.9 + b": 1,
    "if len(v) < 5:\n    for {names} in z:\n        s = s * 0.9 + b": 0,
    "for k in range(3):\n    for {names} in z:\n        s = s * 0.9 + b * k": 0,
}
THEN = (
    "for {names} in z:\n    s = s * 0.8 + b * b",
    "for item in z:\n    s += 1.0",
    "s += next(z, (0, 7.0))[1] if '{names}' != 'b' else next(z, 7.0)",
    "s += len(list(z))",
)


@pytest.mark.parametrize("maker", MAKERS)
def test_what_is_gone_through_is_gone(maker, reasons):  # noqa: F811
    for first, then in itertools.product(FIRST, THEN):
        body = f"z = {maker}\n{first}\n{then}".replace("{names}", MAKERS[maker])
        before = len(reasons)
        agrees(function(body), (0.5, 3, V, M), (-1.0, 3, V[::-1].copy(), M))
        if not maker.startswith(UNROLLED):
            assert reasons[before : before + FIRST[first]] == [""] * FIRST[first], body


LATER = (
    "s += len(list(z))", "s += len([*z])", "s = next(z)", "s += sum(1.0 for _ in z)", "a, b = z", "s += len(dict.fromkeys(z))",
    "s += sum(map(len, z))", "s += len([0.0 for _ in z])", "for a in enumerate(z):\n    s += 1.0", "s += len([*zip(z, v)])",
    "s += max(z)", "s += float(3 in z)", "if any(z):\n    s += 1.0",
)  # fmt: skip


@pytest.mark.parametrize("maker", MAKERS)
def test_how_far_a_loop_that_is_left_early_has_come_is_not_known(maker):
    names = MAKERS[maker]
    text = f"z = {maker}\nfor {names} in z:\n    s = s * 0.9 + b\n    if s > x:\n        break\nfor {names} in z:\n    s += b"
    error = fault(function(text), 0.5, 3, V, M)
    says(error, "only running leaves", "by an index", line=f"for {names} in z:")
    left = text.rpartition("\nfor")[0]
    for later in LATER:
        error = fault(function(f"{left}\n{later}"), 0.5, 3, V, M)
        assert isinstance(error, UnsupportedSyntax)
        assert "only running leaves" in str(error)
    agrees(function(text.replace("z = ", "s = 0.0\nz = ").rpartition("\nfor")[0]), (0.5, 3, V, M), (1e9, 3, V, M))


@pytest.mark.parametrize("maker", MAKERS)
def test_on_a_staged_side_an_iterator_from_outside_is_refused(maker):
    names = MAKERS[maker]
    text = f"z = {maker}\nif x > 0.0:\n    for {names} in z:\n        s += b\nfor {names} in z:\n    s += b"
    error = fault(function(text), 0.5, 3, V, M)
    says(error, "an iterator from outside", "make a list of it", line=f"for {names} in z:")
