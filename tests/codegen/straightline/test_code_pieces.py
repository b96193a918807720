"""Pieces of code joined by their numbers."""

import random

import pytest

from rosejit.codegen.straightline.code_pieces import FragmentTable
from rosejit.numeric import np
from rosejit.wasm.leb128 import read_unsigned


@pytest.mark.parametrize("seed", range(5))
def test_pieces_come_in_the_order_of_their_numbers(seed):
    rng = random.Random(seed)
    known = [b"", *[rng.randbytes(rng.randrange(12)) for _ in range(40)]]
    pieces = FragmentTable()
    assert pieces.add(known[1:20]) == 1
    assert pieces.add(known[20:]) == 20
    rows = [[rng.randrange(len(known)) for _ in range(4)] for _ in range(100)]
    code, ends = pieces.joined(np.array(rows))
    expected = [b"".join([known[k] for k in row]) for row in rows]
    assert code.tobytes() == b"".join(expected)
    assert np.diff(ends, prepend=0).tolist() == [len(row) for row in expected]


@pytest.mark.parametrize("numbers", [[0], [127, 0], [128, 1, 300], [2**31, 2**21, 64], []])
def test_numbers_end_pieces(numbers):
    pieces = FragmentTable()
    heads = np.array([[k, 7] for k in range(len(numbers))], np.uint8).reshape(-1, 2)
    first = pieces.add_numbered(heads, np.array(numbers, np.int64))
    code, ends = pieces.joined(np.array([[first + k] for k in range(len(numbers))], np.int64).reshape(-1, 1))
    at, data = 0, code.tobytes()
    for k, number in enumerate(numbers):
        assert data[at : at + 2] == bytes((k, 7))
        assert read_unsigned(data, at + 2) == (number, int(ends[k]))
        at = int(ends[k])
    assert at == len(data)
