"""The functions of `math` about divisors, counts and the bits of numbers, in the Python that is staged for them.

The values of a Real's neighbours and exponent are read off its bits (IEEE 754); the rest is Euclid's algorithm,
Newton's iteration for a whole root (as in CPython's documentation of `math.isqrt`), and products.
"""

# Values of users are of any type: what they are is asked while staging.

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

from rosejit.frontend.values import rose_functions as rose
from rosejit.frontend.values.scalars import NUMBERS, P

_bits, _from_bits, _select, _ushr = (P[name].__call__ for name in ("bits", "from_bits", "select", "ushr"))

# --- whole numbers


def gcd(*numbers: int) -> int:
    """The greatest common divisor, 0 of nothing."""
    found = 0
    for number in numbers:
        a, b = found, number
        while b:
            a, b = b, a % b
        found = a
    return abs(found)


def lcm(*numbers: int) -> int:
    """The least common multiple, 1 of nothing."""
    found = 1
    for number in numbers:
        found = 0 if found == 0 or number == 0 else found // math.gcd(found, number) * number
    return abs(found)


def isqrt(n: int, /) -> int:
    """The root, cut: a root of 53 bits is off by one at most."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), 3037000499)
    if root * root > n:
        root -= 1
    elif root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


def factorial(n: int, /) -> int:
    """The product of the numbers to `n`."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    found = 1
    for k in rose.range(2, n + 1):
        found *= k
    return found


def perm(n: int, k: int | None = None, /) -> int:
    """The ways to take `k` of `n` in order."""
    if k is None:
        return math.factorial(n)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    found = 0
    if k <= n:
        found = 1
        for i in rose.range(k):
            found *= n - i
    return found


def comb(n: int, k: int, /) -> int:
    """The ways to take `k` of `n`: each partial product is itself such a number."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    found = 0
    if k <= n:
        found = 1
        for i in rose.range(min(k, n - k)):
            common = math.gcd(found, i + 1)
            found = found // common * ((n - i) // ((i + 1) // common))
    return found


def bit_count(n: int) -> int:
    """The bits that are set in the magnitude, added up in fields of 2, 4 and 8, and these by a product."""
    bits = P["wabs"].__call__(n)
    bits = P["wsub"].__call__(bits, _ushr(bits, 1) & 0x5555555555555555)
    bits = (bits & 0x3333333333333333) + (_ushr(bits, 2) & 0x3333333333333333)
    bits = (bits + _ushr(bits, 4)) & 0x0F0F0F0F0F0F0F0F
    return _ushr(P["wmul"].__call__(bits, 0x0101010101010101), 56)


# --- Reals and their bits


def modf(x: float, /) -> tuple[float, float]:
    """The part behind the point and the whole part, both with the sign of `x`."""
    whole = P["trunc"].__call__(x)
    return math.copysign(_select(abs(x) == math.inf, 0.0, x - whole), x), whole


def ldexp(x: float, i: int, /) -> float:
    """`x * 2**i`, rounded once: where the result has fewer bits, the steps before the last are exact."""
    for _ in range(2):
        if i > 1023:
            x *= 2.0**1023
            i -= 1023
        elif i < -1022:
            x *= 2.0**-969
            i += 969
    return x * _from_bits(P["shl"].__call__(min(max(i, -1022), 1023) + 1023, 52))


def frexp(x: float, /) -> tuple[float, int]:
    """The fraction from 1/2 to 1 and the exponent; 0, infinities and NaN have the exponent 0."""
    if x == 0.0 or not math.isfinite(x):
        return x, 0
    is_subnormal = abs(x) < 2.0**-1022
    exponent = (_ushr(_bits(_select(is_subnormal, x * 2.0**54, x)), 52) & 0x7FF) - 1022
    exponent -= 54 * is_subnormal
    return math.ldexp(x, -exponent), exponent


def remainder(x: float, y: float, /) -> float:
    """`x - n * y` with the whole `n` nearest to `x / y`, the even one of two: exact (IEEE 754)."""
    if math.isinf(y) and math.isfinite(x):
        return x
    size, step = abs(x), abs(y)
    rest = math.fmod(size, step)
    other = step - rest
    if rest > other:
        rest = -other
    elif rest == other:
        rest -= 2.0 * math.fmod(0.5 * (size - rest), step)
    return math.copysign(1.0, x) * rest


def modular_power(base: int, exp: int, mod: int) -> int:
    """`pow(base, exp, mod)`, by squaring; the modulus is below 2**31.5 or so, or a product does not fit."""
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if exp < 0:
        raise ValueError("pow() with a modulus and a negative exponent, an inverse, is not staged")
    found, square = 1 % mod, base % mod
    while exp > 0:
        if exp % 2 == 1:
            found = found * square % mod
        exp //= 2
        if exp > 0:
            square = square * square % mod
    return found


def staged(algorithm: Any) -> Callable[..., Any]:
    """A function that stages one of these for numbers, some of them staged."""

    @wraps(algorithm)
    def make(*args: Any, **kwargs: Any) -> Any:
        tape = next(arg.tape for arg in (*args, *kwargs.values()) if arg.__class__ in NUMBERS)
        return tape.session.run(algorithm, lambda f: f(*args, **kwargs))

    return make


STAGED: dict[str, Callable[..., Any]] = {
    f.__name__: staged(f) for f in (gcd, lcm, isqrt, factorial, perm, comb, modf, ldexp, frexp, remainder)
}
"""What stages the functions of `math` that are these, by name."""
MODULAR_POWER = staged(modular_power)
BIT_COUNT = staged(bit_count)
