import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosejit.wasm.leb128 import read_signed, read_unsigned, signed, unsigned


@given(st.integers(0, 2**70), st.binary(), st.binary())
def test_unsigned_reads_back_wherever_it_stands(n: int, before: bytes, after: bytes) -> None:
    code = unsigned(n)
    assert read_unsigned(before + code + after, len(before)) == (n, len(before + code))


@given(st.integers(-(2**70), 2**70), st.binary(), st.binary())
def test_signed_reads_back_wherever_it_stands(n: int, before: bytes, after: bytes) -> None:
    code = signed(n)
    assert read_signed(before + code + after, len(before)) == (n, len(before + code))


@given(st.integers(0, 2**64))
def test_unsigned_is_as_short_as_can_be(n: int) -> None:
    assert len(unsigned(n)) == max(1, -(-n.bit_length() // 7))


@given(st.integers(-(2**63), 2**63 - 1))
def test_signed_is_as_short_as_can_be(n: int) -> None:
    bits = (n if n >= 0 else ~n).bit_length() + 1
    assert len(signed(n)) == -(-bits // 7)


@pytest.mark.parametrize(
    ("n", "code"),
    [(0, "00"), (63, "3f"), (64, "c000"), (-1, "7f"), (-64, "40"), (-65, "bf7f"), (-123456, "c0bb78"), (127, "ff00")],
)
def test_signed_known_codes(n: int, code: str) -> None:
    assert signed(n).hex() == code


@pytest.mark.parametrize(("n", "code"), [(0, "00"), (127, "7f"), (128, "8001"), (624485, "e58e26")])
def test_unsigned_known_codes(n: int, code: str) -> None:
    assert unsigned(n).hex() == code


def test_unsigned_refuses_negative_numbers() -> None:
    with pytest.raises(ValueError, match="negative"):
        unsigned(-1)
