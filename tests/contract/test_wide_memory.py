"""Programs that outgrow addresses of 32 bits get addresses of 64: here 32 bits reach 64 MiB, and no test takes more."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit.codegen.core.address_type import NARROW, PAGE

REACH = 1 << 26
STEPS = 16_000
X = np.linspace(0.0, 1.0, 1000)


@pytest.fixture(autouse=True)
def short_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NARROW, "pages", REACH // PAGE)
    monkeypatch.setattr(NARROW, "largest", REACH // 2)
    monkeypatch.setenv("ROSE_MEMORY_BYTES", str(5 << 30))
    monkeypatch.setenv("ROSE_CACHE", "0")


def chain(twice: Callable[[float], float] = lambda y: y + y) -> Callable[..., Any]:
    """Steps whose gradient keeps 8,000 bytes of each."""

    @rose.jit(cache=False)
    def run(x: rose.Vec["n"], count: int) -> float:
        x = x.copy()
        for _ in rose.range(count):
            x = x + 0.001 * np.sin(x)
        return twice(x.sum())

    return run


def is_wide(function: rose.Function) -> list[bool]:
    """Of each specialisation that was loaded."""
    return [made.loaded.artifact.wide for made in function.known.values() if made.loaded]


def slopes(count: int) -> Any:
    """The gradient of `chain` by hand, in the order in which its program works."""
    states, x = [], X.copy()
    for _ in range(count):
        states.append(x)
        x = x + 0.001 * np.sin(x)
    slope = np.full(len(X), 2.0)
    for x in reversed(states):
        slope = slope + 0.001 * np.cos(x) * slope
    return slope


def test_a_tape_that_outgrows_its_addresses() -> None:
    slope = rose.grad(chain())
    np.testing.assert_allclose(slope(X, 100), slopes(100), rtol=1e-12)
    assert is_wide(slope) == [False]
    for _ in range(2):
        np.testing.assert_allclose(slope(X, STEPS), slopes(STEPS), rtol=1e-9)
        assert is_wide(slope) == [True]
    np.testing.assert_allclose(slope(X, 100), slopes(100), rtol=1e-12)


def test_pullbacks() -> None:
    f = chain()
    value, small = rose.vjp(f, X, 100)
    assert value == f(X, 100)
    value, back = rose.vjp(f, X, STEPS)
    assert value == f(X, STEPS)
    np.testing.assert_allclose(back(1.0)[0], slopes(STEPS), rtol=1e-9)
    np.testing.assert_allclose(small(1.0)[0], slopes(100), rtol=1e-12)  # of the code that there was
    np.testing.assert_allclose(rose.vjp(f, X, 100)[1](1.0)[0], slopes(100), rtol=1e-12)


def test_what_python_has_seen_is_not_done_again() -> None:
    seen: list[float] = []

    @rose.opaque
    def twice(y: float) -> float:
        seen.append(y)
        return y + y

    @twice.jvp
    def _(y: rose.Dual) -> rose.Dual:
        return rose.Dual(twice(y.re), 2.0 * y.du)

    @rose.jit(cache=False)
    def run(x: rose.Vec["n"], count: int) -> float:
        scale = twice(x[1])
        x = x.copy()
        for _ in rose.range(count):
            x = np.sin(x) + scale * x
        return x.sum()

    slope = rose.grad(run)
    with pytest.raises(rose.RoseMemoryError, match="call it again"):
        slope(X, STEPS)
    count = len(seen)
    found = slope(X, STEPS)
    assert len(seen) == 2 * count
    assert is_wide(slope) == [True]
    assert np.isfinite(found).all()


def test_arguments_that_are_too_large_for_32_bits() -> None:
    @rose.jit(cache=False)
    def total(x: rose.Vec["n"]) -> float:
        return x.sum()

    x = np.arange(float(REACH // 8))
    assert total(x) == x.sum()
    assert is_wide(total) == [True]
    assert total(x[:10]) == 45.0
    assert sorted(is_wide(total)) == [False, True]
    assert (rose.grad(total)(x) == 1.0).all()


def test_host_functions_find_their_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.linspace(0.0, 1.0, 90_000).reshape(300, 300) + np.eye(300)
    found: list[Any] = []
    for bits in ("", "64"):
        monkeypatch.setenv("ROSE_ADDRESS_BITS", bits)

        @rose.opaque
        def turned(x: rose.Vec[300]) -> rose.Vec[300]:
            return x[::-1].copy()

        @rose.jit(cache=False, blas=True)
        def run(a):
            x = turned((a @ a)[0])
            return np.linalg.solve(a, x), [y for y in x]

        found.append(run(a))
        assert is_wide(run) == [bool(bits)]
    (one, rows), (other, others) = found
    assert (one == other).all()
    assert rows == others


def test_what_the_machine_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSE_MEMORY_BYTES", str(1 << 32))
    with pytest.raises(rose.RoseMemoryError, match="ROSE_MEMORY_BYTES"):
        rose.grad(chain())(X, STEPS)
    with pytest.raises(rose.RoseMemoryError, match="more than the 33,554,432"):
        rose.jit(lambda x: x + 1.0)(np.zeros(REACH // 8))


def test_refused_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    f = rose.jit(lambda x: x + 1.0, cache=False)
    x = np.zeros(REACH // 8)
    assert (f(x) == 1.0).all()
    monkeypatch.setenv("ROSE_MEMORY_BYTES", str(REACH))
    rose.clear_caches()
    monkeypatch.setattr("rosejit.runtime.backend.may_be_wide", lambda: True)
    with pytest.raises(rose.RoseMemoryError, match=r"take 134,\d\d\d,\d\d\d bytes, more than the 67,108,864"):
        f(x)
