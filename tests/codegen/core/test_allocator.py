"""The allocator, called as a function of its own module."""

import pytest
import wasmtime

from rosejit.abi import FAILURE_NUMBER, FAILURE_VALUES, OUT_OF_MEMORY
from rosejit.codegen.core.address_type import NARROW, WIDE
from rosejit.codegen.core.allocator import Heap, reserved, size_class
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import local_get
from rosejit.wasm.module import Export, Memory, ModuleBuilder
from tests.codegen.machine import ENGINE

START = 64
BOTH = pytest.mark.parametrize("address", [NARROW, WIDE], ids=["i32", "i64"])


class Allocator:
    """The functions of a heap, exported."""

    def __init__(self, address, pages=1, most=1 << 10):
        builder = ModuleBuilder()
        heap = Heap(builder, START, address)
        self.sizes = (8, 24, 40, 1000)
        for size in self.sizes:
            self._export(builder, f"take{size}", (), (address.kind,), heap.allocate(size))
            self._export(builder, f"give{size}", (address.kind,), (), local_get[0] + heap.free(size))
        self._export(builder, "take", (address.kind,), (address.kind,), local_get[0] + heap.allocate_some())
        self._export(builder, "give", (address.kind, address.kind), (), local_get[0] + local_get[1] + heap.free_some())
        for stride in (8, 16, 24):
            self._export(builder, f"bytes_of{stride}", ("i64",), (address.kind,), local_get[0] + heap.bytes_of(stride))
        four = b"".join(local_get[k] for k in range(4))
        self._export(builder, "resize", (address.kind,) * 4, (address.kind,), four + heap.resize())
        heap.finish(START + reserved(address))
        builder.exports.append(Export("memory", "memory", builder.add_memory(Memory(pages, most, address.wide))))
        self.store = wasmtime.Store(ENGINE)
        self.exports = wasmtime.Instance(self.store, wasmtime.Module(ENGINE, encode(builder.build())), []).exports(
            self.store
        )
        self.top_at = heap.top

    def _export(self, builder, name, params, results, code):
        index = builder.declare_function(params, results, name)
        builder.define(index, (), [code])
        builder.exports.append(Export(name, "func", index))

    def __getattr__(self, name):
        return lambda *args: self.exports[name](self.store, *args)

    def word(self, address):
        return int.from_bytes(self.exports["memory"].read(self.store, address, address + 4), "little")

    @property
    def top(self):
        return self.word(self.top_at)


def test_four_classes_an_octave():
    assert [size_class(n) for n in (0, 1, 8, 9, 32, 33, 64, 65, 80, 81, 129)] == [
        *((0, 8), (0, 8), (0, 8), (1, 16), (3, 32), (4, 40)),
        *((7, 64), (8, 80), (8, 80), (9, 96), (12, 160)),
    ]
    for n in range(1, 5000):
        number, rounded = size_class(n)
        assert n <= rounded <= max(8, 1.25 * n + 8)
        assert size_class(rounded) == (number, rounded)


@BOTH
def test_what_is_given_back_is_taken_next(address):
    heap = Allocator(address)
    first, second = heap.take24(), heap.take24()
    assert second == first + 24
    heap.give24(first)
    heap.give24(second)
    assert [heap.take24(), heap.take24()] == [second, first]
    assert heap.take24() == second + 24


@BOTH
def test_the_class_found_at_run_time_is_that_of_compile_time(address):
    heap = Allocator(address)
    for size in heap.sizes[1:]:
        block = heap.take(size)
        heap.give(block, size)
        assert getattr(heap, f"take{size}")() == block
    for size in (17, 20, 31, 33, 63, 65, 127, 1 << 16, (1 << 16) + 1):
        top = heap.top
        heap.take(size)
        assert heap.top - top == size_class(size)[1]


@BOTH
def test_no_block_that_the_host_takes_is_smaller_than_a_record(address):
    heap = Allocator(address)
    top = heap.top
    block = heap.take(8)
    assert heap.top - top == size_class(address.record)[1]
    heap.give(block, 8)
    assert heap.take(address.record) == block


@BOTH
def test_nothing_takes_no_room(address):
    heap = Allocator(address)
    top = heap.top
    assert heap.take(0) == 0
    heap.give(0, 0)
    assert heap.top == top


@BOTH
def test_memory_grows(address):
    heap = Allocator(address)
    blocks = [heap.take(60_000) for _ in range(20)]
    assert len(set(blocks)) == 20
    assert heap.exports["memory"].data_len(heap.store) > 20 * 60_000


@BOTH
def test_exhaustion_says_how_much_was_asked(address):
    heap = Allocator(address, most=2)
    with pytest.raises(wasmtime.Trap):
        heap.take(1_000_000)
    assert heap.word(FAILURE_NUMBER) == OUT_OF_MEMORY % (1 << 32)
    assert heap.word(FAILURE_VALUES) == size_class(1_000_000)[1]


@BOTH
def test_products_that_do_not_fit(address):
    heap = Allocator(address)
    assert heap.bytes_of24(1000) == 24_000
    for length, stride in ((1 << 40, 8), ((1 << 62) + 1, 8), (address.largest // 8, 16)):
        with pytest.raises(wasmtime.Trap):
            getattr(heap, f"bytes_of{stride}")(length)
        assert heap.word(FAILURE_NUMBER) == OUT_OF_MEMORY % (1 << 32)


@BOTH
def test_resize_keeps_what_is_used(address):
    heap = Allocator(address)
    old = heap.take(16)
    heap.exports["memory"].write(heap.store, b"abcdefghijklmnop", old)
    new = heap.resize(old, 10, 16, 64)
    assert heap.exports["memory"].read(heap.store, new, new + 10) == b"abcdefghij"
    assert heap.take(16) == old
