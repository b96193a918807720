"""Long straight code as rows: which code that is, and a text that tells each function from all others."""

import struct

import pytest

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import INT, REAL, Array
from rosejit.ops import PRIMITIVES as P
from rosejit.span import Span
from rosejit.transforms import rows as flat
from rosejit.transforms.rows import ELEMENT, OPS, rows


@pytest.fixture(autouse=True)
def short_code_too(monkeypatch):
    monkeypatch.setattr(flat, "WORTHWHILE", 0)


def function(make, types=(REAL, REAL), name="f", span=None):
    params = tuple([ir.Var(t, f"p{k}") for k, t in enumerate(types)])
    b = Builder()
    results = make(b, *params)
    return ir.Function(name, params, tuple([r.type for r in results]), b.block(*results), span=span)


def test_rows_are_ops_and_places():
    def make(b, x, a):
        y = b.bind(ir.Index(a, (ir.integer(1),)), REAL)
        z = b.apply(P["mul"], x, y)
        return (b.apply(P["select"], b.apply(P["lt"], z, x), z, ir.real(2.0)), x)

    made = rows(function(make, (REAL, Array(3, REAL))))
    assert made is not None
    assert [(OPS[row[0]].name if row[0] != ELEMENT else "element", *row[1:]) for row in made.rows] == [
        ("element", ~1),
        ("mul", ~0, 0),
        ("lt", 1, ~0),
        ("select", 2, 1, ~2),
    ]
    assert made.leaves == [(0, 0), (1, 1), ir.real(2.0)]
    assert made.results == (3, ~0)


def two(op, other="add", swapped=False):
    def make(b, x, y):
        z = b.apply(P[op], *((y, x) if swapped else (x, y)))
        return (b.apply(P[other], z, x),)

    return make


def with_constant(value):
    return lambda b, x, y: (b.apply(P["mul"], b.apply(P["add"], x, ir.real(value)), y),)


def shared(again):
    """x y + x y, by one product or by two: the way back adds in another order."""

    def make(b, x, y):
        first = b.apply(P["mul"], x, y)
        second = b.apply(P["mul"], x, y)
        return (b.apply(P["add"], first, second if again else first),)

    return make


def nan_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


DIFFERENT = [
    function(two("mul")),
    function(two("sub")),
    function(two("sub", swapped=True)),
    function(two("mul", "sub")),
    function(two("mul"), name="g"),
    function(two("mul"), span=Span("file.py", 1, 0, 2, 0, "f")),
    function(two("mul"), span=Span("file.py", 2, 0, 3, 0, "f")),
    function(two("mul")),
    function(lambda b, x, y, z: two("mul")(b, x, y), (REAL, REAL, REAL)),
    function(lambda b, x, y, z: two("mul")(b, x, y), (REAL, REAL, INT)),
    function(lambda b, x, y, z: two("mul")(b, x, y), (REAL, REAL, Array(2, REAL))),
    function(lambda b, x, y, z: two("mul")(b, x, y), (REAL, REAL, Array(3, REAL))),
    function(lambda b, x, y: (*two("mul")(b, x, y), x)),
    function(lambda b, x, y: (*two("mul")(b, x, y), y)),
    function(shared(again=True)),
    function(shared(again=False)),
    *[function(with_constant(value)) for value in (0.0, -0.0, 1.0, 2.0, float("inf"))],
    *[function(with_constant(nan_of(bits))) for bits in (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001)],
]


def test_texts_tell_functions_apart():
    texts = [rows(f).text for f in DIFFERENT]
    same = [7]  # made as the first one is
    assert texts[7] == texts[0]
    assert len(set(texts)) == len(texts) - len(same)


def test_own_arrays_and_checkpoints_are_told_apart():
    f = function(lambda b, x, a: (b.apply(P["mul"], x, x),), (REAL, Array(2, REAL)))
    plain = rows(f).text
    f.own = frozenset(f.params[1:])
    own = rows(f).text
    f.own, f.checkpoint = frozenset(), True
    assert len({plain, own, rows(f).text}) == 3


def test_short_code_is_no_rows(monkeypatch):
    monkeypatch.setattr(flat, "WORTHWHILE", 3)
    assert rows(function(two("mul"))) is None
