"""What is done to boxed values whole, as functions made for each type on demand: drop, copy, zeros like, add.

Each walks the cells of a block, or of two blocks of one shape side by side; recursive types give recursive functions.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from rosejit.codegen.core.address_type import AddressType
from rosejit.codegen.core.allocator import ELSE, END, Heap
from rosejit.codegen.core.layout import DATA, Cell, Column, Layout, Layouts, Record, Rows, Union
from rosejit.ir.types import Array, Type, has_dynamic_length, has_real, is_linear
from rosejit.wasm.instructions import (
    bool_load,
    bool_store,
    br_if,
    call,
    f64_const,
    f64_load,
    f64_store,
    f64x2_const,
    i32_const,
    if_,
    local_get,
    local_set,
    local_tee,
    loop,
    memory_copy,
    memory_fill,
    v128_load,
    v128_store,
)
from rosejit.wasm.module import ModuleBuilder, ValueType
from rosejit.wasm.opcodes import OP

Code = list[bytes]
T = TypeVar("T")
Visit = Callable[[tuple[Cell, ...], tuple[int, ...]], Code]
"""The code for a cell at an offset of local 0, and for its partner at an offset of local 1."""


def zeroed(address: AddressType, home: T, size: int) -> list[T | bytes]:
    """Makes `size` bytes at the address that `home` leaves zero; `memory.fill` takes 3 ns whatever the size."""
    if size > 64:
        return [home, i32_const[0], address.const[size], memory_fill]
    code: list[T | bytes] = []
    for at in range(0, size // 16 * 16, 16):
        code += (home, f64x2_const(0.0, 0.0), v128_store[at])
    if size & 8:
        code += (home, f64_const(0.0), f64_store[size // 16 * 16])
    for at in range(size // 8 * 8, size):
        code += (home, i32_const[0], bool_store[at])
    return code


class TypeFunctions:
    """Code for whole values; `drop`, `copy`, ... give a call, and make the function behind it when first needed."""

    def __init__(self, builder: ModuleBuilder, heap: Heap, layouts: Layouts, address: AddressType) -> None:
        self._builder = builder
        self._a = address
        self._heap = heap
        self._layouts = layouts
        self._calls: dict[object, bytes] = {}

    def drop(self, t: Type) -> bytes:
        """Takes an owned value and frees all it owns."""
        layout = self._layouts.of(t)
        if layout.flat:
            return self._heap.free(layout.bytes)
        code = lambda: [local_get[0], self.clear(t), local_get[0], self._heap.free(layout.bytes)]  # noqa: E731 - short
        return self._type_function(("drop", t), 1, False, code)

    def clear(self, t: Type) -> bytes:
        """Takes an address; frees what the cells there own, but not the block."""

        def visit(cells: tuple[Cell, ...], offsets: tuple[int, ...]) -> Code:
            (cell,), (offset,) = cells, offsets
            if cell.flat:
                return []
            if cell.kind == "address":
                return [local_get[0], self._a.load[offset], self.drop(cell.type)]
            return [local_get[0], self._a.moved(offset), self.clear(cell.type)]

        layout = self._layouts.of(t)

        def code() -> Code:
            walk = self._walk((layout,), visit)
            if isinstance(layout.parts, Column):  # the walk moves local 0
                record = 3
                free = [
                    local_get[record],
                    self._a.load[DATA],
                    local_get[record],
                    self._a.load[self._a.capacity],
                    self._heap.free_some(),
                ]
                return [local_get[0], local_set[record], *walk, *free]
            return walk

        return self._type_function(("clear", t), 1, False, code)

    def copy(self, t: Type) -> bytes:
        """Takes a value, leaves an owned one that shares nothing with it."""
        layout = self._layouts.of(t)
        if isinstance(layout.parts, Column):
            column = layout.parts
            return self._type_function(("copy", t), 1, True, lambda: self._copy_column(t, column))
        new = 2

        def code() -> Code:
            own = [] if layout.flat else [local_get[new], self.own(t)]
            block = [self._heap.allocate(layout.bytes), local_tee[new]]
            return [*block, local_get[0], self._a.const[layout.bytes], memory_copy, *own, local_get[new]]

        return self._type_function(("copy", layout.bytes if layout.flat else t), 1, True, code)

    def own(self, t: Type) -> bytes:
        """Takes the address of cells that were copied byte by byte; gives them copies of what they own."""

        def visit(cells: tuple[Cell, ...], offsets: tuple[int, ...]) -> Code:
            (cell,), (offset,) = cells, offsets
            if cell.flat:
                return []
            if cell.kind == "address":
                return [local_get[0], local_get[0], self._a.load[offset], self.copy(cell.type), self._a.store[offset]]
            return [local_get[0], self._a.moved(offset), self.own(cell.type)]

        return self._type_function(("own", t), 1, False, lambda: self._walk((self._layouts.of(t),), visit))

    def _copy_column(self, t: Type, column: Column) -> Code:
        record, new, size = 0, 2, 3
        own: Code = []
        if not column.cell.flat:
            assert isinstance(t, Array)
            own = [local_get[new], self._type_function(("own", t), 1, False, lambda: self._own_column(t, column))]
        return [
            *(self._heap.allocate(self._a.record), local_set[new]),
            *(
                local_get[record],
                self._a.load[self._a.length],
                self._a.const[column.stride],
                self._a.mul,
                local_set[size],
            ),
            *(local_get[new], local_get[size], self._heap.allocate_some(), self._a.store[DATA]),
            *(local_get[new], local_get[record], self._a.load[self._a.length], self._a.store[self._a.length]),
            *(local_get[new], local_get[size], self._a.store[self._a.capacity]),
            *(local_get[new], self._a.load[DATA], local_get[record], self._a.load[DATA], local_get[size], memory_copy),
            *(*own, local_get[new]),
        ]

    def _own_column(self, t: Type, column: Column) -> Code:
        def visit(cells: tuple[Cell, ...], offsets: tuple[int, ...]) -> Code:
            if column.cell.kind == "address":
                return [local_get[0], local_get[0], self._a.load[0], self.copy(column.cell.type), self._a.store[0]]
            return [local_get[0], self.own(column.cell.type)]

        return self._walk((self._layouts.of(t),), visit)

    # --- zeros

    def zero(self, t: Type, like: Type | None) -> bytes:
        """Takes a value of type `like`, if one is given; leaves an owned zero of `t` with its lengths and tags."""
        layout = self._layouts.of(t)
        new = 2
        source = [local_get[0]] if like is not None else []

        def code() -> Code:
            if isinstance(layout.parts, Column):
                assert like is not None
                return self._zero_column(layout.parts, t, like)
            block = [self._heap.allocate(layout.bytes), local_set[new], *zeroed(self._a, local_get[new], layout.bytes)]
            fill = [local_get[new], *source, self.fill(t, like)] if self.needs_fill(t) else []
            return [*block, *fill, local_get[new]]

        key = ("zero", t, like) if self.needs_fill(t) else ("zero", layout.bytes, like is None)
        return self._type_function(key, len(source), True, code)

    def needs_fill(self, t: Type) -> bool:
        """Whether bytes of zero are not yet a zero of `t`."""
        return has_dynamic_length(t) or not self._layouts.of(t).flat

    def fill(self, t: Type, like: Type | None) -> bytes:
        """Takes the address of zero bytes and, if one is given, a value of type `like`; sets tags and owned blocks."""
        here = self._layouts.of(t)
        there = None if like is None or not has_dynamic_length(t) else self._layouts.of(like)

        def visit(cells: tuple[Cell, ...], offsets: tuple[int, ...]) -> Code:
            return self._fill_cell(cells[0], offsets[0], cells[1] if there else None, offsets[-1])

        def code() -> Code:
            layouts = (here,) if there is None else (here, there)
            tag: Code = []
            if isinstance(here.parts, Union) and there is not None:
                assert isinstance(there.parts, Union)
                tag = [local_get[0], local_get[1], bool_load[there.parts.tag], bool_store[here.parts.tag]]
            return [*tag, *self._walk(layouts, visit)]

        return self._type_function(("fill", t, like), 1 if like is None else 2, False, code)

    def _fill_cell(self, cell: Cell, offset: int, like: Cell | None, at: int) -> Code:
        if cell.kind not in ("address", "inline") or not (cell.kind == "address" or self.needs_fill(cell.type)):
            return []
        source: Code = []
        like_type = None
        if like is not None and has_dynamic_length(cell.type):
            like_type = like.type
            source = [local_get[1], self._a.load[at]] if like.kind == "address" else [local_get[1], self._a.moved(at)]
        if cell.kind == "address":
            return [local_get[0], *source, self.zero(cell.type, like_type), self._a.store[offset]]
        return [local_get[0], self._a.moved(offset), *source, self.fill(cell.type, like_type)]

    def _zero_column(self, column: Column, t: Type, like: Type) -> Code:
        new, size = 2, 3
        fill: Code = []
        if column.cell.kind == "address" or (column.cell.kind == "inline" and self.needs_fill(column.cell.type)):
            fill = [local_get[new], local_get[0], self.fill(t, like)]
        return [
            *(self._heap.allocate(self._a.record), local_set[new]),
            *(local_get[0], self._a.load[self._a.length], self._a.const[column.stride], self._a.mul, local_set[size]),
            *(local_get[new], local_get[size], self._heap.allocate_some(), self._a.store[DATA]),
            *(local_get[new], local_get[0], self._a.load[self._a.length], self._a.store[self._a.length]),
            *(local_get[new], local_get[size], self._a.store[self._a.capacity]),
            *(local_get[new], self._a.load[DATA], i32_const[0], local_get[size], memory_fill),
            *(*fill, local_get[new]),
        ]

    # --- sums

    def add(self, t: Type) -> bytes:
        """Takes two addresses; adds the Reals and Tans at the second to those at the first."""
        layout = self._layouts.of(t)
        if isinstance(layout.parts, Rows) and (count := self._reals(layout)):
            return self._a.const[8 * count] + self._add_reals()

        def code() -> Code:
            parts = layout.parts
            if isinstance(parts, Column) and parts.cell.kind == "real":
                data = [local_get[0], self._a.load[DATA], local_get[1], self._a.load[DATA]]
                return [
                    *data,
                    local_get[0],
                    self._a.load[self._a.length],
                    self._a.const[3],
                    self._a.shl,
                    self._add_reals(),
                ]
            return self._walk((layout, layout), self._add_cell)

        return self._type_function(("add", t), 2, False, code)

    def _add_cell(self, cells: tuple[Cell, ...], offsets: tuple[int, ...]) -> Code:
        cell, offset = cells[0], offsets[0]
        if cell.kind == "real":
            both = [local_get[0], f64_load[offset], local_get[1], f64_load[offset]]
            return [local_get[0], *both, OP["f64.add"], f64_store[offset]]
        if not (has_real(cell.type) or is_linear(cell.type)):
            return []
        if cell.kind == "address":
            return [local_get[0], self._a.load[offset], local_get[1], self._a.load[offset], self.add(cell.type)]
        return [local_get[0], self._a.moved(offset), local_get[1], self._a.moved(offset), self.add(cell.type)]

    def _reals(self, layout: Layout) -> int:
        """How many Reals there are, where there is nothing else."""
        parts = layout.parts
        if not isinstance(parts, Rows):
            return 0
        inner = 1 if parts.cell.kind == "real" else 0
        if parts.cell.kind == "inline":
            inner = self._reals(self._layouts.of(parts.cell.type))
        return parts.length * inner

    def _add_reals(self) -> bytes:
        """Takes two addresses and a number of bytes; two sums at a time, which changes no bit."""
        to, source, end = 0, 1, 2
        two = [local_get[to], self._a.const[8], self._a.add, local_get[end], self._a.op("lt_u")]
        advance = [
            local_get[to],
            self._a.const[16],
            self._a.add,
            local_set[to],
            local_get[source],
            self._a.const[16],
            self._a.add,
        ]
        code = [
            *(local_get[to], local_get[end], self._a.add, local_set[end]),
            *(*two, if_(), loop()),
            *(local_get[to], local_get[to], v128_load[0], local_get[source], v128_load[0], OP["f64x2.add"]),
            *(v128_store[0], *advance, local_set[source], *two, br_if[0], END, END),
            *(local_get[to], local_get[end], self._a.op("lt_u"), if_(), local_get[to]),
            *(local_get[to], f64_load[0], local_get[source], f64_load[0], OP["f64.add"], f64_store[0], END),
        ]
        return self._type_function("add reals", 3, False, lambda: code)

    # --- walks

    def _type_function(self, key: object, params: int, result: bool, code: Callable[[], Code]) -> bytes:
        """A call of the function for `key`: its parameters, at least up to local 4, and a result are addresses."""
        if key not in self._calls:
            results: Sequence[ValueType] = (self._a.kind,) if result else ()
            name = f"glue.{key if isinstance(key, str) else key[0]}"  # type: ignore[index]  # else it is a tuple
            index = self._builder.declare_function((self._a.kind,) * params, results, name)
            self._calls[key] = call[index]
            self._builder.define(index, ((5 - params, self._a.kind),), code())
        return self._calls[key]

    def _walk(self, layouts: tuple[Layout, ...], visit: Visit) -> Code:
        """The cells of the blocks at locals 0 (and 1), which it may move; a second block decides tags and lengths."""
        parts = tuple(layout.parts for layout in layouts)
        last = parts[-1]
        if isinstance(last, Record):
            records = [p for p in parts if isinstance(p, Record)]
            code: Code = []
            for k in range(len(last.cells)):
                code += visit(tuple(r.cells[k] for r in records), tuple(r.offsets[k] for r in records))
            return code
        if isinstance(last, Union):
            sides = [visit(tuple(p.cells[k] for p in parts if isinstance(p, Union)), (0,) * len(parts)) for k in (0, 1)]
            tag = [local_get[len(parts) - 1], bool_load[last.tag]]
            return [*tag, if_(), *sides[1], ELSE, *sides[0], END] if sides[0] or sides[1] else []
        return self._rows([p for p in parts if isinstance(p, Rows | Column)], visit)

    def _rows(self, parts: Sequence[Rows | Column], visit: Visit) -> Code:
        inner = visit(tuple(p.cell for p in parts), (0,) * len(parts))
        first = parts[0]
        if not inner or (isinstance(first, Rows) and first.length == 0):
            return []
        end = 2
        if isinstance(first, Rows):
            start = [local_get[0], self._a.const[first.length * first.stride], self._a.add, local_set[end]]
        else:
            size = [local_get[0], self._a.load[self._a.length], self._a.const[first.stride], self._a.mul]
            start = [*size, local_get[0], self._a.load[DATA], local_tee[0], self._a.add, local_set[end]]
            if len(parts) > 1:
                start += [local_get[1], self._a.load[DATA], local_set[1]]
        advance = [local_get[0], self._a.const[first.stride], self._a.add, local_set[0]]
        if len(parts) > 1:
            advance += [local_get[1], self._a.const[parts[1].stride], self._a.add, local_set[1]]
        more = [local_get[0], local_get[end], self._a.op("ne")]
        return [*start, *more, if_(), loop(), *inner, *advance, *more, br_if[0], END, END]
