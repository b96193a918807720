"""The allocator inside a module: free lists by size class in front of a pointer that only grows.

Sizes are rounded up to four classes an octave, from 8 bytes on. The head of the list of each class is a word in
memory; a free block holds the address of the next. Where the size is known at compile time so is the class, and
allocation is the pop of a list. After a failure the instance is thrown away, so nothing here is undone.
"""

from rosejit.abi import FAILURE_NUMBER, FAILURE_VALUES, OUT_OF_MEMORY
from rosejit.codegen.core.address_type import PAGE, AddressType, Kind
from rosejit.wasm.instructions import (
    call,
    i32_const,
    i32_store,
    i64_const,
    i64_store,
    if_,
    local_get,
    local_set,
    local_tee,
    memory_copy,
    memory_grow,
    memory_size,
)
from rosejit.wasm.module import Data, Export, ModuleBuilder
from rosejit.wasm.opcodes import OP

ELSE, END, DROP, UNREACHABLE = OP["else"], OP["end"], OP["drop"], OP["unreachable"]


def reserved(address: AddressType) -> int:
    """The bytes of the list heads and of the pointer behind them."""
    return address.bytes * address.classes + 8


def size_class(size: int) -> tuple[int, int]:
    """The class of a block of `size` bytes, and the bytes that its blocks have."""
    units = (max(size, 1) - 1) >> 3
    shift = max(units.bit_length() - 3, 0)
    return 4 * shift + (units >> shift), ((units >> shift) + 1) << (shift + 3)


class Heap:
    """Code that takes and gives back blocks; the functions it calls are put into the module when first needed.

    `start` is the address of the list heads.
    """

    def __init__(self, builder: ModuleBuilder, start: int, address: AddressType) -> None:
        self._builder = builder
        self._start = start
        self._address = address
        self.top = start + address.bytes * address.classes
        """The address of the pointer to the end of what was ever allocated."""
        self._functions: dict[str, int] = {}

    @property
    def functions(self) -> dict[str, int]:
        """A copy of the functions that take and give back blocks, as far as they are needed."""
        return self._functions.copy()

    @functions.setter
    def functions(self, functions: dict[str, int]) -> None:
        self._functions = functions.copy()

    def allocate(self, size: int) -> bytes:
        """Leaves the address of a block of `size` bytes; its content is anything."""
        number, rounded = size_class(size)
        return self._head(number) + self._address.const[rounded] + call[self._index("allocate")]

    def free(self, size: int) -> bytes:
        """Takes the address of a block of `size` bytes."""
        number, _ = size_class(size)
        return self._head(number) + call[self._index("free")]

    def allocate_some(self) -> bytes:
        """Takes a number of bytes; leaves the address of a block of so many, or 0 for none."""
        return call[self._index("allocate_some")]

    def export(self) -> None:
        """Let the host take blocks."""
        self._builder.exports.append(Export("allocate", "func", self._index("allocate_some")))

    def free_some(self) -> bytes:
        """Takes an address and the number of bytes that were asked for."""
        return call[self._index("free_some")]

    def bytes_of(self, stride: int) -> bytes:
        """Takes a length (i64, not negative); leaves it times `stride` as a number of bytes, or fails."""
        most = self._address.largest // max(stride, 1)
        return i64_const[stride] + i64_const[most] + call[self._index("bytes_of")]

    def resize(self) -> bytes:
        """Takes an address, the bytes used, the bytes it has and the bytes it shall have; leaves a new address."""
        return call[self._index("resize")]

    def finish(self, heap_start: int) -> None:
        """Say where the heap begins, and how much memory there is at first."""
        if self._functions:
            self._builder.data.append(Data(self.top, heap_start.to_bytes(self._address.bytes, "little")))

    def _head(self, number: int) -> bytes:
        """The address of the list head of a class."""
        return self._address.const[self._start + self._address.bytes * number]

    def _index(self, name: str) -> int:
        if name not in self._functions:
            params, results, locals_, body = getattr(self, f"_{name}")()
            index = self._builder.declare_function(params, results, f"heap.{name}")
            self._functions[name] = index
            self._builder.define(index, ((len(locals_), self._address.kind),) if locals_ else (), body)
        return self._functions[name]

    # --- the functions: their parameters, results, further locals and code

    _Made = tuple[tuple[Kind, ...], tuple[Kind, ...], tuple[int, ...], list[bytes]]

    def _allocate(self) -> _Made:
        head, size, block, a = 0, 1, 2, self._address
        code = [
            *(local_get[head], a.load[0], local_tee[block], a.test, if_(a.kind)),
            *(local_get[head], local_get[block], a.load[0], a.store[0], local_get[block]),
            *(ELSE, local_get[size], call[self._index("extend")], END),
        ]
        return (a.kind, a.kind), (a.kind,), (block,), code

    def _free(self) -> _Made:
        block, head, a = 0, 1, self._address
        code = [
            *(local_get[block], local_get[head], a.load[0], a.store[0]),
            *(local_get[head], local_get[block], a.store[0]),
        ]
        return (a.kind, a.kind), (), (), code

    def _extend(self) -> _Made:
        """A block behind all others; the memory grows by an eighth, or by as much as is needed."""
        size, block, need, a = 0, 1, 2, self._address
        end = [local_get[block], a.to_int, local_get[size], a.to_int, OP["i64.add"]]
        pages = [i64_const[PAGE - 1], OP["i64.add"], i64_const[PAGE.bit_length() - 1], OP["i64.shr_u"], a.of_int]
        code = [
            *(a.zero, a.load[self.top], local_set[block]),
            # pages that are missing
            *(*end, *pages, memory_size, a.sub, local_tee[need], a.zero, a.op("gt_s"), if_()),
            *(local_get[need], memory_size, a.const[3], a.shr_u, a.add, memory_grow),
            *(a.const[-1], a.op("eq"), if_(), local_get[need], memory_grow, a.const[-1], a.op("eq")),
            *(if_(), local_get[size], a.to_int, call[self._index("exhausted")], UNREACHABLE, END),
            *(END, END),
            *(a.zero, *end, a.of_int, a.store[self.top], local_get[block]),
        ]
        return (a.kind,), (a.kind,), (block, need), code

    def _exhausted(self) -> _Made:
        zero = self._address.zero
        code = [
            *(zero, i32_const[OUT_OF_MEMORY], i32_store[FAILURE_NUMBER]),
            *(zero, local_get[0], i64_store[FAILURE_VALUES], UNREACHABLE),
        ]
        return ("i64",), (), (), code

    def _class(self, size: int, units: int, shift: int) -> list[bytes]:
        """Leaves the address of the list head for `size` bytes and sets the locals `units` and `shift`.

        The smallest classes are left out: hosts take records of columns as two words, and those need three.
        """
        a = self._address
        least, highest = a.const[2 * a.bytes + 1], 8 * a.bytes - 3
        return [
            *(local_get[size], least, local_get[size], least, a.op("gt_u"), OP["select"]),
            local_set[size],
            *(local_get[size], a.const[1], a.sub, a.const[3], a.shr_u, local_tee[units]),
            *(a.const[4], a.op("or"), a.op("clz"), local_set[shift]),
            *(a.const[highest], local_get[shift], a.sub, local_set[shift]),
            *(local_get[units], local_get[shift], a.shr_u, local_tee[units]),
            *(local_get[shift], a.const[2], a.shl, a.add),
            *(a.const[a.bytes.bit_length() - 1], a.shl, a.const[self._start], a.add),
        ]

    def _allocate_some(self) -> _Made:
        size, units, shift, a = 0, 1, 2, self._address
        code = [
            *(local_get[size], a.op("eqz"), if_(), a.zero, OP["return"], END),
            *self._class(size, units, shift),
            *(local_get[units], a.const[1], a.add),
            *(local_get[shift], a.const[3], a.add, a.shl),
            call[self._index("allocate")],
        ]
        return (a.kind,), (a.kind,), (units, shift), code

    def _free_some(self) -> _Made:
        block, size, units, shift, a = 0, 1, 2, 3, self._address
        code = [
            *(local_get[size], a.op("eqz"), if_(), OP["return"], END),
            *(local_get[block], *self._class(size, units, shift), call[self._index("free")]),
        ]
        return (a.kind, a.kind), (), (units, shift), code

    def _bytes_of(self) -> _Made:
        length, stride, most, a = 0, 1, 2, self._address
        product = [local_get[length], local_get[stride], OP["i64.mul"]]
        code = [
            *(local_get[length], local_get[most], OP["i64.gt_u"], if_()),
            *(*product, call[self._index("exhausted")], UNREACHABLE, END),
            *(*product, a.of_int),
        ]
        return ("i64", "i64", "i64"), (a.kind,), (), code

    def _resize(self) -> _Made:
        old, used, had, shall, new, a = 0, 1, 2, 3, 4, self._address
        code = [
            *(local_get[shall], call[self._index("allocate_some")], local_tee[new]),
            *(local_get[old], local_get[used], memory_copy),
            *(local_get[old], local_get[had], call[self._index("free_some")], local_get[new]),
        ]
        return (a.kind, a.kind, a.kind, a.kind), (a.kind,), (new,), code
