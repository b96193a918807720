"""Ints and Reals are compared as CPython compares them, however large."""

import math

import pytest

from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import agrees, define

WHOLE = [0, 3, -1, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1, 2**63 - 512, -(2**63)]
REAL = [0.0, -0.0, 2.5, math.inf, -math.inf, math.nan, 5e-324, 2.0**70, -(2.0**63)]
POINTS = [(n, x) for n in WHOLE for x in (*REAL, float(n), *(math.nextafter(float(n), end) for end in (-1e300, 1e300)))]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_an_int_and_a_real(symbol):
    agrees(define(f"def f(n: int, x: float): return n {symbol} x, x {symbol} n"), *POINTS)


@pytest.mark.parametrize("symbol", COMPARISONS)
@pytest.mark.parametrize(
    "number", [2**53, 2**53 + 1, -(2**53) - 1, 2**63, 2**70 + 1, -(2**70) - 1, 10**400, -(10**400)]
)
def test_a_real_and_a_host_int(symbol, number):
    f = define(f"def f(n: int, x: float): return x {symbol} {number}, {number} {symbol} x")
    agrees(f, *POINTS, *((0, near) for near in (2.0**70, -(2.0**70), math.nextafter(2.0**70, 1e300))))


@pytest.mark.parametrize("symbol", COMPARISONS)
@pytest.mark.parametrize("number", ["2.5", "2.0**53", "-(2.0**53)", "2.0**63", "math.inf", "math.nan"])
def test_an_int_and_a_host_float(symbol, number):
    agrees(define(f"def f(n: int, x: float): return n {symbol} {number}, {number} {symbol} n", math=math), *POINTS)


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_an_int_and_what_a_loop_makes_a_real(symbol):
    f = define(
        f"""
        def f(n: int):
            s, found = 0, 0
            for _ in rose.range(4):
                found = found * 4 + (2 if s {symbol} n else 0) + (1 if n {symbol} s else 0)
                s = s + 4503599627370496.0
            return found
        """,
        rose=rose,
    )
    agrees(f, (2**53,), (2**53 + 1,), (2**53 - 1,), (0,))


def test_in_chains_and_containers():
    f = define("def f(n: int, x: float): return n <= x <= n, x in (n, 3), max(n, 2) < x")
    agrees(f, *POINTS)
