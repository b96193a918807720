"""The allocator, called as a function of its own module."""

import pytest
import wasmtime

from rosejit.abi import FAILURE_NUMBER, FAILURE_VALUES, OUT_OF_MEMORY
from rosejit.codegen.core.allocator import RESERVED, Heap, size_class
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import local_get
from rosejit.wasm.module import Export, Memory, ModuleBuilder
from tests.codegen.machine import ENGINE

START = 64


class Allocator:
    """The functions of a heap, exported."""

    def __init__(self, pages=1, most=1 << 10):
        builder = ModuleBuilder()
        heap = Heap(builder, START)
        self.sizes = (8, 24, 40, 1000)
        for size in self.sizes:
            self._export(builder, f"take{size}", (), ("i32",), heap.allocate(size))
            self._export(builder, f"give{size}", ("i32",), (), local_get[0] + heap.free(size))
        self._export(builder, "take", ("i32",), ("i32",), local_get[0] + heap.allocate_some())
        self._export(builder, "give", ("i32", "i32"), (), local_get[0] + local_get[1] + heap.free_some())
        self._export(builder, "bytes_of", ("i64", "i64"), ("i32",), local_get[0] + local_get[1] + heap.bytes_of())
        four = b"".join(local_get[k] for k in range(4))
        self._export(builder, "resize", ("i32",) * 4, ("i32",), four + heap.resize())
        heap.finish(START + RESERVED)
        builder.exports.append(Export("memory", "memory", builder.add_memory(Memory(pages, most))))
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


def test_what_is_given_back_is_taken_next():
    heap = Allocator()
    first, second = heap.take24(), heap.take24()
    assert second == first + 24
    heap.give24(first)
    heap.give24(second)
    assert [heap.take24(), heap.take24()] == [second, first]
    assert heap.take24() == second + 24


def test_the_class_found_at_run_time_is_that_of_compile_time():
    heap = Allocator()
    for size in heap.sizes[1:]:
        block = heap.take(size)
        heap.give(block, size)
        assert getattr(heap, f"take{size}")() == block
    for size in (9, 16, 31, 33, 63, 65, 127, 1 << 16, (1 << 16) + 1):
        top = heap.top
        heap.take(size)
        assert heap.top - top == size_class(size)[1]


def test_no_block_that_the_host_takes_is_smaller_than_a_record():
    heap = Allocator()
    top = heap.top
    block = heap.take(8)
    assert heap.top - top == 16
    heap.give(block, 8)
    assert heap.take(12) == block


def test_nothing_takes_no_room():
    heap = Allocator()
    top = heap.top
    assert heap.take(0) == 0
    heap.give(0, 0)
    assert heap.top == top


def test_memory_grows():
    heap = Allocator()
    blocks = [heap.take(60_000) for _ in range(20)]
    assert len(set(blocks)) == 20
    assert heap.exports["memory"].data_len(heap.store) > 20 * 60_000


def test_exhaustion_says_how_much_was_asked():
    heap = Allocator(most=2)
    with pytest.raises(wasmtime.Trap):
        heap.take(1_000_000)
    assert heap.word(FAILURE_NUMBER) == OUT_OF_MEMORY % (1 << 32)
    assert heap.word(FAILURE_VALUES) == size_class(1_000_000)[1]


def test_products_that_do_not_fit():
    heap = Allocator()
    assert heap.bytes_of(1000, 24) == 24_000
    for length, stride in ((1 << 40, 8), ((1 << 62) + 1, 8), (1 << 28, 16)):
        with pytest.raises(wasmtime.Trap):
            heap.bytes_of(length, stride)
        assert heap.word(FAILURE_NUMBER) == OUT_OF_MEMORY % (1 << 32)


def test_resize_keeps_what_is_used():
    heap = Allocator()
    old = heap.take(16)
    heap.exports["memory"].write(heap.store, b"abcdefghijklmnop", old)
    new = heap.resize(old, 10, 16, 64)
    assert heap.exports["memory"].read(heap.store, new, new + 10) == b"abcdefghij"
    assert heap.take(16) == old
