"""The allocator inside a module: free lists by size class in front of a pointer that only grows.

Sizes are rounded up to four classes an octave, from 8 bytes on. The head of the list of each class is a word in
memory; a free block holds the address of the next. Where the size is known at compile time so is the class, and
allocation is the pop of a list. After a failure the instance is thrown away, so nothing here is undone.
"""

from rosejit.abi import FAILURE_NUMBER, FAILURE_VALUES, OUT_OF_MEMORY
from rosejit.codegen.core.layout import LARGEST
from rosejit.wasm.instructions import (
    br_if,
    call,
    i32_const,
    i32_load,
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
from rosejit.wasm.module import Data, Export, ModuleBuilder, ValueType
from rosejit.wasm.opcodes import OP

CLASSES = 128
RESERVED = 4 * CLASSES + 8
"""The bytes of the list heads and of the pointer behind them."""

ELSE, END, DROP, UNREACHABLE = OP["else"], OP["end"], OP["drop"], OP["unreachable"]
_PAGE = 16  # a page is 2 ** 16 bytes


def size_class(size: int) -> tuple[int, int]:
    """The class of a block of `size` bytes, and the bytes that its blocks have."""
    units = (max(size, 1) - 1) >> 3
    shift = max(units.bit_length() - 3, 0)
    return 4 * shift + (units >> shift), ((units >> shift) + 1) << (shift + 3)


class Heap:
    """Code that takes and gives back blocks; the functions it calls are put into the module when first needed.

    `start` is the address of the list heads.
    """

    def __init__(self, builder: ModuleBuilder, start: int) -> None:
        self._builder = builder
        self._start = start
        self.top = start + 4 * CLASSES
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
        return i32_const[self._start + 4 * number] + i32_const[rounded] + call[self._index("allocate")]

    def free(self, size: int) -> bytes:
        """Takes the address of a block of `size` bytes."""
        number, _ = size_class(size)
        return i32_const[self._start + 4 * number] + call[self._index("free")]

    def allocate_some(self) -> bytes:
        """Takes a number of bytes, an i32; leaves the address of a block of so many, or 0 for none."""
        return call[self._index("allocate_some")]

    def export(self) -> None:
        """Let the host take blocks."""
        self._builder.exports.append(Export("allocate", "func", self._index("allocate_some")))

    def free_some(self) -> bytes:
        """Takes an address and the number of bytes that were asked for."""
        return call[self._index("free_some")]

    def bytes_of(self) -> bytes:
        """Takes a length (i64, not negative) and a stride (i64); leaves their product as an i32, or fails."""
        return call[self._index("bytes_of")]

    def resize(self) -> bytes:
        """Takes an address, the bytes used, the bytes it has and the bytes it shall have; leaves a new address."""
        return call[self._index("resize")]

    def finish(self, heap_start: int) -> None:
        """Say where the heap begins, and how much memory there is at first."""
        if self._functions:
            self._builder.data.append(Data(self.top, heap_start.to_bytes(4, "little")))

    def _index(self, name: str) -> int:
        if name not in self._functions:
            params, results, locals_, body = getattr(self, f"_{name}")()
            index = self._builder.declare_function(params, results, f"heap.{name}")
            self._functions[name] = index
            self._builder.define(index, ((len(locals_), "i32"),) if locals_ else (), body)
        return self._functions[name]

    # --- the functions: their parameters, results, further locals and code

    _Made = tuple[tuple[ValueType, ...], tuple[ValueType, ...], tuple[int, ...], list[bytes]]

    def _allocate(self) -> _Made:
        head, size, block = 0, 1, 2
        code = [
            *(local_get[head], i32_load[0], local_tee[block], if_("i32")),
            *(local_get[head], local_get[block], i32_load[0], i32_store[0], local_get[block]),
            *(ELSE, local_get[size], call[self._index("extend")], END),
        ]
        return ("i32", "i32"), ("i32",), (block,), code

    def _free(self) -> _Made:
        block, head = 0, 1
        code = [
            *(local_get[block], local_get[head], i32_load[0], i32_store[0]),
            *(local_get[head], local_get[block], i32_store[0]),
        ]
        return ("i32", "i32"), (), (), code

    def _extend(self) -> _Made:
        """A block behind all others; the memory grows by an eighth, or by as much as is needed."""
        size, block, need = 0, 1, 2
        end = [local_get[block], OP["i64.extend_i32_u"], local_get[size], OP["i64.extend_i32_u"], OP["i64.add"]]
        code = [
            *(i32_const[0], i32_load[self.top], local_set[block]),
            # pages that are missing
            *(*end, i64_const[(1 << _PAGE) - 1], OP["i64.add"], i64_const[_PAGE], OP["i64.shr_u"], OP["i32.wrap_i64"]),
            *(memory_size, OP["i32.sub"], local_tee[need], i32_const[0], OP["i32.gt_s"], if_()),
            *(local_get[need], memory_size, i32_const[3], OP["i32.shr_u"], OP["i32.add"], memory_grow),
            *(i32_const[-1], OP["i32.eq"], if_(), local_get[need], memory_grow, i32_const[-1], OP["i32.eq"]),
            *(if_(), local_get[size], OP["i64.extend_i32_u"], call[self._index("exhausted")], UNREACHABLE, END),
            *(END, END),
            *(i32_const[0], *end, OP["i32.wrap_i64"], i32_store[self.top], local_get[block]),
        ]
        return ("i32",), ("i32",), (block, need), code

    def _exhausted(self) -> _Made:
        code = [
            *(i32_const[0], i32_const[OUT_OF_MEMORY], i32_store[FAILURE_NUMBER]),
            *(i32_const[0], local_get[0], i64_store[FAILURE_VALUES], UNREACHABLE),
        ]
        return ("i64",), (), (), code

    def _class(self, size: int, units: int, shift: int) -> list[bytes]:
        """Leaves the address of the list head for `size` bytes and sets the locals `units` and `shift`.

        The smallest class is left out: hosts take records of columns as 8 bytes, and those need 12.
        """
        return [
            *(local_get[size], i32_const[9], local_get[size], i32_const[9], OP["i32.gt_u"], OP["select"]),
            local_set[size],
            *(local_get[size], i32_const[1], OP["i32.sub"], i32_const[3], OP["i32.shr_u"], local_tee[units]),
            *(i32_const[4], OP["i32.or"], OP["i32.clz"], local_set[shift]),
            *(i32_const[29], local_get[shift], OP["i32.sub"], local_set[shift]),
            *(local_get[units], local_get[shift], OP["i32.shr_u"], local_tee[units]),
            *(local_get[shift], i32_const[2], OP["i32.shl"], OP["i32.add"]),
            *(i32_const[2], OP["i32.shl"], i32_const[self._start], OP["i32.add"]),
        ]

    def _allocate_some(self) -> _Made:
        size, units, shift = 0, 1, 2
        code = [
            *(local_get[size], OP["i32.eqz"], if_(), i32_const[0], OP["return"], END),
            *self._class(size, units, shift),
            *(local_get[units], i32_const[1], OP["i32.add"]),
            *(local_get[shift], i32_const[3], OP["i32.add"], OP["i32.shl"]),
            call[self._index("allocate")],
        ]
        return ("i32",), ("i32",), (units, shift), code

    def _free_some(self) -> _Made:
        block, size, units, shift = 0, 1, 2, 3
        code = [
            *(local_get[size], OP["i32.eqz"], if_(), OP["return"], END),
            *(local_get[block], *self._class(size, units, shift), call[self._index("free")]),
        ]
        return ("i32", "i32"), (), (units, shift), code

    def _bytes_of(self) -> _Made:
        length, stride = 0, 1
        product = [local_get[length], local_get[stride], OP["i64.mul"]]
        code = [
            *(OP["block"], b"\x40", OP["block"], b"\x40"),
            *(local_get[length], i64_const[LARGEST], OP["i64.gt_u"], br_if[0]),
            *(*product, i64_const[LARGEST], OP["i64.le_u"], br_if[1], END),
            *(*product, call[self._index("exhausted")], UNREACHABLE, END),
            *(*product, OP["i32.wrap_i64"]),
        ]
        return ("i64", "i64"), ("i32",), (), code

    def _resize(self) -> _Made:
        old, used, had, shall, new = 0, 1, 2, 3, 4
        code = [
            *(local_get[shall], call[self._index("allocate_some")], local_tee[new]),
            *(local_get[old], local_get[used], memory_copy),
            *(local_get[old], local_get[had], call[self._index("free_some")], local_get[new]),
        ]
        return ("i32", "i32", "i32", "i32"), ("i32",), (new,), code
