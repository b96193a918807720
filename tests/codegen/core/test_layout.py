"""Sizes and offsets, worked out by hand."""

import pytest

from rosejit.codegen.core.layout import INLINE_LIMIT, Layouts, Record, Rows, Union, elements_of, record_of
from rosejit.errors import RoseMemoryError
from rosejit.ir.types import BOOL, INT, REAL, TAN, UNIT, Array, Nominal, Sum, Tuple


@pytest.fixture
def layouts():
    return Layouts()


@pytest.mark.parametrize(
    ("t", "size", "flat"),
    [
        (Array(3, REAL), 24, True),
        (Array(3, TAN), 24, True),
        (Array(3, BOOL), 3, True),
        (Array(0, REAL), 0, True),
        (Array(4, UNIT), 0, True),
        (Array(2, Array(3, INT)), 48, True),
        (Array(2, Tuple((BOOL, REAL))), 32, True),
        (Tuple((BOOL, REAL, BOOL)), 16, True),
        (Tuple(()), 0, True),
        (Tuple((UNIT, INT)), 8, True),
        (Sum(UNIT, REAL), 16, True),
        (Sum(UNIT, UNIT), 1, True),
        (Sum(BOOL, BOOL), 2, True),
        (Sum(Array(2, REAL), INT), 24, True),
        (Array(None, REAL), 12, False),
        (Array(3, Array(None, REAL)), 12, False),
        (Tuple((REAL, Array(100, REAL))), 16, False),
        (Sum(Array(100, REAL), REAL), 16, False),
        (Array(2, Array(100, REAL)), 1600, True),
    ],
    ids=repr,
)
def test_blocks(layouts, t, size, flat):
    layout = layouts.of(t)
    assert (layout.bytes, layout.flat) == (size, flat)


def test_fields_of_large_alignment_come_first(layouts):
    record = record_of(layouts.of(Tuple((BOOL, REAL, BOOL, INT))))
    assert record.offsets == (16, 0, 17, 8)


def test_heavy_fields_of_nominals_are_addresses(layouts):
    t = Nominal("Res")
    t.fields = (REAL, Array(2, REAL), t, Sum(UNIT, t))
    layout = layouts.of(t)
    assert isinstance(layout.parts, Record)
    assert [cell.kind for cell in layout.parts.cells] == ["real", "address", "address", "address"]
    assert layout.bytes == 24


def test_what_is_large_lies_behind_an_address_but_not_in_arrays(layouts):
    large = Array(INLINE_LIMIT // 8 + 1, REAL)
    union = layouts.of(Sum(large, REAL)).parts
    assert isinstance(union, Union)
    assert [cell.kind for cell in union.cells] == ["address", "real"]
    rows = elements_of(layouts.of(Array(2, large)))
    assert isinstance(rows, Rows)
    assert (rows.cell.kind, rows.stride) == ("inline", INLINE_LIMIT + 8)


def test_the_tag_lies_behind_the_larger_side(layouts):
    union = layouts.of(Sum(Tuple((REAL, REAL)), BOOL)).parts
    assert isinstance(union, Union)
    assert union.tag == 16


def test_a_layout_is_made_once(layouts):
    assert layouts.of(Array(3, REAL)) is layouts.of(Array(3, REAL))


def test_too_large():
    with pytest.raises(RoseMemoryError, match="takes 8,000,000,000 bytes"):
        Layouts().of(Array(1000, Array(1_000_000, REAL)))
