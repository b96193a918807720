"""Divisors, counts and the bits of numbers: as CPython's, at the ends of their ranges."""

import math
import random
import struct

import pytest

import rosejit as rose


@rose.jit
def of_ints(n: int, m: int):
    small, few = abs(n) % 40, abs(m) % 40
    return math.gcd(n, m), math.lcm(n, m), math.gcd(n, m, 6), math.isqrt(abs(n)), math.comb(small, few), n.bit_count()


@rose.jit
def root(n: int):
    return math.isqrt(n)


@rose.jit
def of_reals(x: float, i: int):
    return math.modf(x), math.frexp(x), math.ldexp(x, i), math.remainder(x, 3.0)


def test_ints_as_python():
    rng = random.Random(5)
    pairs = [
        (0, 0),
        (0, -7),
        (-6, 4),
        *((rng.randint(-(10**9), 10**9), rng.randint(-(10**4), 10**4)) for _ in range(200)),
    ]
    for n, m in pairs:
        assert of_ints(n, m) == of_ints.__wrapped__(n, m), (n, m)


@pytest.mark.parametrize("n", [0, 1, 3, 2**53 + 1, 3037000499**2 - 1, 3037000499**2, 2**63 - 1])
def test_whole_roots(n):
    assert root(n) == math.isqrt(n)


@pytest.mark.parametrize("x", [0.0, -0.0, 5e-324, -2.5e-308, 1.7e308, math.pi, -1.5, 4.5])
@pytest.mark.parametrize("i", [0, 3, -1074, -2098, 1000, 2098])
def test_reals_bit_for_bit(x, i):
    try:
        wanted = of_reals.__wrapped__(x, i)
    except OverflowError:  # a Real that is too large is infinite here
        assert of_reals(x, i)[2] == math.copysign(math.inf, x)
    else:
        assert repr(of_reals(x, i)) == repr(wanted)


def test_any_bits_as_python():
    rng = random.Random(6)
    for _ in range(500):
        (x,) = struct.unpack("d", rng.randbytes(8))
        if math.isfinite(x):
            assert repr(of_reals(x, -30)) == repr(of_reals.__wrapped__(x, -30))


def test_derivatives():
    assert rose.grad(lambda x: math.ldexp(x, 3))(1.5) == 8.0
    assert rose.grad(lambda x: math.modf(x)[0])(1.5) == 1.0
    assert rose.grad(lambda x: math.frexp(x)[0])(12.5) == 0.0625
    assert rose.grad(math.remainder, argnums=(0, 1))(13.0, 3.0) == (1.0, -4.0)


def test_errors_of_python():
    with pytest.raises(ValueError, match=r"isqrt\(\) argument must be nonnegative"):
        root(-1)
    with pytest.raises(rose.RoseOverflowError) as raised:
        rose.jit(lambda n: math.factorial(n))(21)
    assert "math.factorial(n)" in str(raised.value)


def test_divisors_of_the_least_int():
    least, most = -(2**63), 2**63 - 1

    @rose.jit
    def gcd(n: int, m: int) -> int:
        return math.gcd(n, m)

    @rose.jit
    def lcm(n: int, m: int) -> int:
        return math.lcm(n, m)

    @rose.jit
    def with_least(n: int) -> int:
        return math.gcd(n, least)

    for n, m in [(6, least), (least, 6), (1, least), (most, least), (least, 2**62), (-4, 6)]:
        assert gcd(n, m) == math.gcd(n, m)
    assert [with_least(n) for n in (6, 1, most)] == [2, 1, 1]
    assert lcm(0, least) == lcm(least, 0) == 0
    for n, m in [(0, least), (least, least)]:
        with pytest.raises(OverflowError):  # 2**63 is no Int
            gcd(n, m)
