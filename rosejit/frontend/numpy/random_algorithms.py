"""The algorithms of `np.random.Generator` on the words of a PCG64, in the Python that is staged for them.

A draw takes the state and gives it back in front of what was drawn: the number, high and low half, and the increment,
which stays; with half draws also whether one is left, and that one. Ints stand for the 64 bits that they have.
"""

# Values are numbers, staged or not.

import math
from collections.abc import Callable
from typing import Any

from rosejit.frontend.values import rose_functions as rose
from rosejit.frontend.values.scalars import P
from rosejit.ops.ziggurat import EXPONENTIAL_EDGE, NORMAL_EDGE

_add, _sub, _mul, _high, _mod, _rotate, _up, _down, _int, _choose, _fma, _bits, _from_bits = (
    P[name].__call__
    for name in (
        *("wadd", "wsub", "wmul", "umulh", "urem", "rotr", "shl", "ushr", "bool_to_int", "iselect", "fma", "bits"),
        "from_bits",
    )
)
_normal_width, _normal_inside, _normal_height = (P[f"normal_{what}"].__call__ for what in ("width", "inside", "height"))
_exponential_width, _exponential_inside, _exponential_height = (
    P[f"exponential_{what}"].__call__ for what in ("width", "inside", "height")
)
_HALF = 2**32 - 1
_SIGN = -(2**63)
_MULTIPLIER = (2549297995355413924, 4865540595714422341)
_NORMAL_SCALE = 1.0 / NORMAL_EDGE


def _below(i: Any, j: Any) -> Any:
    """Whether `i` is less than `j`, both as numbers without a sign."""
    return (i ^ _SIGN) < (j ^ _SIGN)


# --- bits


def stepped(high: Any, low: Any, inc_high: Any, inc_low: Any) -> tuple[Any, Any, Any]:
    """The state times the multiplier plus the increment, modulo 2**128, and 64 bits of it (O'Neill's XSL-RR)."""
    mul_high, mul_low = _MULTIPLIER
    product = _mul(low, mul_low)
    high = _add(_high(low, mul_low), _add(_mul(high, mul_low), _mul(low, mul_high)))
    low = _add(product, inc_low)
    high = _add(_add(high, inc_high), _int(_below(low, product)))
    return high, low, _rotate(high ^ low, _down(high, 58))


def halved(high: Any, low: Any, inc_high: Any, inc_low: Any, kept: Any, half: Any) -> tuple[Any, ...]:
    """32 bits: the half that is left, or the low half of a draw, whose high half is left then."""
    there = kept != 0
    next_high, next_low, bits = stepped(high, low, inc_high, inc_low)
    high, low = _choose(there, high, next_high), _choose(there, low, next_low)
    return high, low, _choose(there, 0, 1), _choose(there, half, _down(bits, 32)), _choose(there, half, bits & _HALF)


def unit(bits: Any) -> Any:
    """The 53 upper bits as a number from 0 below 1."""
    return _down(bits, 11) * (1.0 / 2**53)


# --- reals


def random(high: Any, low: Any, inc_high: Any, inc_low: Any) -> tuple[Any, ...]:
    """From 0 below 1."""
    high, low, bits = stepped(high, low, inc_high, inc_low)
    return high, low, unit(bits)


def standard_normal(high: Any, low: Any, inc_high: Any, inc_low: Any, log1p: Callable[[Any], Any]) -> tuple[Any, ...]:
    """By the ziggurat: 8 bits choose the layer, one the sign, 52 the number in it."""
    drawn, accepted = 0.0, False
    while not accepted:
        high, low, bits = stepped(high, low, inc_high, inc_low)
        layer, count = bits & 255, _down(bits, 9) & (2**52 - 1)
        drawn = count * _normal_width(layer)
        if bits & 256 != 0:
            drawn = -drawn
        accepted = count < _normal_inside(layer)
        if not accepted:
            if layer == 0:  # the tail (Marsaglia, 1964)
                inside = False
                while not inside:
                    high, low, first = stepped(high, low, inc_high, inc_low)
                    high, low, second = stepped(high, low, inc_high, inc_low)
                    x, y = -_NORMAL_SCALE * log1p(unit(first)), -log1p(unit(second))
                    inside = y + y > x * x
                    drawn = NORMAL_EDGE + x
                if count & 256 != 0:
                    drawn = -drawn
                accepted = True
            else:
                high, low, other = stepped(high, low, inc_high, inc_low)
                below = _normal_height(layer)
                accepted = (_normal_height(layer - 1) - below) * unit(other) + below < math.exp(-0.5 * drawn * drawn)
    return high, low, drawn


def standard_exponential(
    high: Any, low: Any, inc_high: Any, inc_low: Any, log1p: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """By the ziggurat: 8 bits choose the layer, 53 the number in it."""
    drawn, accepted = 0.0, False
    while not accepted:
        high, low, bits = stepped(high, low, inc_high, inc_low)
        layer, count = _down(bits, 3) & 255, _down(bits, 11)
        drawn = count * _exponential_width(layer)
        accepted = count < _exponential_inside(layer)
        if not accepted:
            high, low, other = stepped(high, low, inc_high, inc_low)
            if layer == 0:
                drawn = EXPONENTIAL_EDGE - log1p(unit(other))
                accepted = True
            else:
                below = _exponential_height(layer)
                accepted = (_exponential_height(layer - 1) - below) * unit(other) + below < math.exp(-drawn)
    return high, low, drawn


_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
_LOG = (
    *(6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01),
    *(1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01),
)


def _series(f: Any, square: Any) -> Any:
    """The polynomial of fdlibm's `log1p`."""
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    r = _fma(z, _LOG[0], z2 * _fma(z, _LOG[2], _LOG[1]))
    r = _fma(z4, _fma(z, _LOG[4], _LOG[3]), r)
    r = _fma(z4 * z2, _fma(z, _LOG[6], _LOG[5]), r)
    return s * (r + square)


def log_of_rest(u: Any) -> Any:
    """The logarithm of `1 - u`, `u` from 0 below 1, to the bit as glibc's `log1p` on x86-64 gives it: the polynomial of
    fdlibm with fused operations where its compiler puts them. The nearest number is another one in 1 of 90 cases."""
    x = -u
    k, f, correction = 0, x, 0.0
    top = 1
    if u > 2.0**-29:
        if _down(_bits(u), 32) > 0x3FD2BEC3:
            whole = 1.0 + x
            word = _bits(whole)
            k = (word >> 52) - 1023
            correction = (x - (whole - 1.0)) / whole
            top = (word >> 32) & 0xFFFFF
            rest = word & (2**52 - 1)
            if top < 0x6A09E:
                f = _from_bits(rest | (1023 << 52)) - 1.0
            else:
                k = k + 1
                f = _from_bits(rest | (1022 << 52)) - 1.0
                top = (0x100000 - top) >> 2
        square = 0.5 * f * f
        shift = _fma(k * 1.0, _LN2[1], correction)
        if top == 0:
            if f == 0.0:
                found = _fma(k * 1.0, _LN2[0], shift)
            else:
                slope = _fma(-f, 0.66666666666666666, 1.0) * square
                found = _fma(k * 1.0, _LN2[0], -((slope - shift) - f))
        else:
            r = _series(f, square)
            found = f - (square - r) if k == 0 else _fma(k * 1.0, _LN2[0], -((square - (shift + r)) - f))
    else:
        found = x
        if u >= 2.0**-54:
            found = _fma(-(x * x), 0.5, x)
    return found


# --- integers


def bounded(
    high: Any, low: Any, inc_high: Any, inc_low: Any, kept: Any, half: Any, most: Any
) -> tuple[Any, ...]:  # fmt: skip
    """From 0 to `most`, a number without a sign, by a product and rejection (Lemire, 2019): with half draws where they
    have bits enough."""
    drawn = 0
    if most != 0:
        if _down(most, 32) == 0:
            high, low, kept, half, bits = halved(high, low, inc_high, inc_low, kept, half)
            if most == _HALF:
                drawn = bits
            else:
                size = most + 1
                product = _mul(bits, size)
                if (product & _HALF) < size:
                    threshold = _mod(_HALF - most, size)
                    while (product & _HALF) < threshold:
                        high, low, kept, half, bits = halved(high, low, inc_high, inc_low, kept, half)
                        product = _mul(bits, size)
                drawn = _down(product, 32)
        else:
            high, low, bits = stepped(high, low, inc_high, inc_low)
            if most == -1:
                drawn = bits
            else:
                size = _add(most, 1)
                rest = _mul(bits, size)
                if _below(rest, size):
                    threshold = _mod(_sub(-1, most), size)
                    while _below(rest, threshold):
                        high, low, bits = stepped(high, low, inc_high, inc_low)
                        rest = _mul(bits, size)
                drawn = _high(bits, size)
    return high, low, kept, half, drawn


def interval(
    high: Any, low: Any, inc_high: Any, inc_low: Any, kept: Any, half: Any, most: Any
) -> tuple[Any, ...]:  # fmt: skip
    """From 0 to `most`, below 2**32, by as many bits as it has, and rejection."""
    mask = _down(-1, P["clz"].__call__(most))
    drawn = most + 1
    while drawn > most:
        high, low, kept, half, bits = halved(high, low, inc_high, inc_low, kept, half)
        drawn = bits & mask
    return high, low, kept, half, drawn


# --- arrays


def filled(out: Any, draw: Callable[[Any], Any]) -> None:
    """Each element drawn in turn."""
    for i in rose.range(out.shape[0]):
        out[i] = draw(i)


def shuffled(x: Any, first: int, below: Callable[[Any], Any], held: Callable[[Any], Any]) -> None:
    """The elements from `first` on exchanged with one before them, or none, from the last to the first."""
    last = x.shape[0] - 1
    for k in rose.range(max(last - first + 1, 0)):
        i = last - k
        j = below(i)
        there = held(x[j])
        x[j] = x[i]
        x[i] = there


def sampled(found: Any, taken: Any, below: Callable[[Any], Any]) -> None:
    """Different numbers below the length of `taken`, which has zeros (Floyd): one that was there makes way for the
    largest yet."""
    first = taken.shape[0] - found.shape[0]
    for k in rose.range(found.shape[0]):
        drawn = below(first + k)
        if taken[drawn] != 0:
            drawn = first + k
        taken[drawn] = 1
        found[k] = drawn


# --- seeds


def _mixed(value: Any, constant: int, factor: int) -> tuple[Any, int]:
    """A word and the next constant of a hash of 32 bits."""
    value, constant = value ^ constant, constant * factor & _HALF
    value = _mul(value, constant) & _HALF
    return value ^ _down(value, 16), constant


def seeded(seed: Any) -> tuple[Any, ...]:
    """The state that `np.random.SeedSequence(seed)` gives a PCG64, `seed` below 2**63 and not below 0."""
    constant, pool = 0x43B0D7E5, list[Any]()
    for word in (seed & _HALF, _down(seed, 32), 0, 0):
        mixed, constant = _mixed(word, constant, 0x931E8875)
        pool.append(mixed)
    for source in range(4):
        for target in range(4):
            if source != target:
                mixed, constant = _mixed(pool[source], constant, 0x931E8875)
                word = _sub(_mul(pool[target], 0xCA01F9DD), _mul(mixed, 0x4973F715)) & _HALF
                pool[target] = word ^ _down(word, 16)
    constant, words = 0x8B51F9DD, list[Any]()
    for k in range(8):
        mixed, constant = _mixed(pool[k % 4], constant, 0x58F38DED)
        words.append(mixed)
    start_high, start_low, inc_high, inc_low = (words[k] | _up(words[k + 1], 32) for k in range(0, 8, 2))
    inc_high, inc_low = _up(inc_high, 1) | _down(inc_low, 63), _up(inc_low, 1) | 1
    low = _add(inc_low, start_low)
    high = _add(_add(inc_high, start_high), _int(_below(low, inc_low)))
    high, low, _ = stepped(high, low, inc_high, inc_low)
    return high, low, inc_high, inc_low
