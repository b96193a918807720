"""All that is tested with addresses of 32 bits, with 64: `ROSE_ADDRESS_BITS=64 pytest tests/codegen`; here a sample."""

import pytest

from rosejit import interp
from rosejit.codegen.core.address_type import NARROW, WIDE
from rosejit.ir.types import INT, REAL, UNIT, Array
from rosejit.wasm.instructions import i64_const
from tests.codegen.machine import Machine, same
from tests.codegen.program.test_compile import random_program


@pytest.mark.parametrize("address", [NARROW, WIDE], ids=["i32", "i64"])
def test_what_lies_in_memory(address):
    assert address.record == 3 * address.bytes == address.capacity + address.bytes
    assert [address.kind_of(t) for t in (REAL, INT, UNIT, Array(3, REAL))] == ["f64", "i64", None, address.kind]
    assert address.moved(0) == b""
    assert address.largest < address.memory
    assert (address.pages + 1) << 16 == address.memory


def test_an_index_is_an_offset_where_both_have_64_bits():
    assert WIDE.scaled(1) == b""
    assert WIDE.scaled(24) == i64_const[24] + WIDE.mul
    assert NARROW.scaled(1) == NARROW.of_int


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed):
    f, args = random_program(seed)
    narrow, wide = Machine(f, NARROW), Machine(f, WIDE)
    assert (narrow.artifact.wide, wide.artifact.wide) == (False, True)
    expected = interp.run(f, args)
    assert same(narrow(*args), expected)
    assert same(wide(*args), expected)
    tops = [narrow.top, wide.top]
    assert same(wide(*args), expected)
    narrow(*args)
    assert (wide.top == tops[1]) == (narrow.top == tops[0]), "what the host gives grows, nothing else"
