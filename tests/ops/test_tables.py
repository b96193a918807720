"""Tables of constants: the numbers that they stand for, to more bits than a double has."""

from fractions import Fraction

import mpmath
import pytest

from rosejit.ir.primitive import Table
from rosejit.ops.ieee754 import from_bits
from rosejit.ops.tables import TABLES, exp2_bits, exp2_rest, two_over_pi
from tests.ops.points import for_each

ROWS = 32


@for_each(lambda op: isinstance(op.wasm, Table))
def test_columns_and_lengths(op):
    assert op.wasm.column in (0, 1)
    assert len(TABLES[op.wasm.name]()).bit_count() == 1


@pytest.mark.parametrize("j", range(ROWS))
def test_the_32nd_power_of_a_row_is_a_power_of_two(j):
    head = from_bits(exp2_bits.evaluate(j) + (j << 47))
    assert head == pytest.approx(2.0 ** (j / ROWS), rel=2.0**-52)
    power = (Fraction(head) * (1 + Fraction(exp2_rest.evaluate(j)))) ** ROWS
    assert abs(power / 2**j - 1) < Fraction(1, 2**98)


@pytest.mark.parametrize("i", [-1, 32, 2**62 + 5, -(2**63)])
def test_rows_are_counted_modulo_their_number(i):
    assert exp2_rest.evaluate(i) == exp2_rest.evaluate(i % ROWS)
    assert exp2_bits.evaluate(i) == exp2_bits.evaluate(i % ROWS)


def test_words_are_the_bits_of_two_over_pi():
    words = [two_over_pi.evaluate(i) for i in range(ROWS)]
    assert words[0] == 0
    assert not any(words[20:])
    with mpmath.workdps(420):
        expected = int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** (64 * 19)))
    assert sum((word % 2**64) << 64 * (19 - i) for i, word in enumerate(words[:20])) == expected


def test_powers_of_two_are_exact():
    assert exp2_rest.evaluate(0) == 0.0
    assert from_bits(exp2_bits.evaluate(0)) == 1.0
