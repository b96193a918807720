"""Tuples, arrays and sums: making them, taking them apart, copies and zeros."""

from struct import pack

from rosejit.codegen.core.emitter import Emitter, Item
from rosejit.codegen.core.function_facts import is_table
from rosejit.codegen.core.layout import Cell, Kind, elements_of, record_of, union_of
from rosejit.codegen.core.type_functions import zeroed
from rosejit.codegen.values.ownership import alive, borrow, buildable, construct, consume, has_home, moved_into, rename
from rosejit.ir.syntax import Atom, Copy, Extract, Inject, Let, Lit, MakeArray, MakeTuple, Untuple, Var, Zero
from rosejit.ir.types import Scalar, has_dynamic_length, is_boxed
from rosejit.wasm.instructions import (
    bool_store,
    f64_const,
    i32_const,
    i64_const,
    memory_copy,
)

_ZEROS = {"i32": i32_const[0], "i64": i64_const[0], "f64": f64_const(0.0), None: b""}


def _put(e: Emitter, cell: Cell, home: Var, offset: int, value: Atom, frees: list[Item]) -> list[Item]:
    """Moves a value into a cell of the new block `home`."""
    if cell.kind == "nothing":
        return []
    if cell.kind == "inline":
        address: tuple[Item, ...] = (home, e.module.address.moved(offset)) if offset else (home,)
        return moved_into(e, address, value, frees)
    return [home, value, e.module.address.stores[cell.kind][offset]]


def make_tuple(e: Emitter, let: Let) -> None:
    """A tuple, or the residuals of a function."""
    x = let.expr
    assert isinstance(x, MakeTuple)
    (v,) = let.binders
    record = record_of(e.module.layouts.of(v.type))
    consume(e, x.items)
    parts = zip(record.cells, record.offsets, x.items, strict=True)
    frees: list[Item] = []
    construct(e, v, [*[_put(e, cell, v, offset, item, frees) for cell, offset, item in parts], frees])


def make_array(e: Emitter, let: Let) -> None:
    """An array of given elements; a table that nobody consumes is where it lies in the data."""
    x = let.expr
    assert isinstance(x, MakeArray)
    (v,) = let.binders
    rows = elements_of(e.module.layouts.of(v.type))
    const = e.module.address.const
    if v in e.plan.borrowed:
        e.statement(let, _table)
        return
    consume(e, x.items)
    if is_table(x):
        address = e.module.constant(_constants(rows.cell, x.items))
        size = const[len(x.items) * rows.stride]
        construct(e, v, [(v, const[address], size, memory_copy)] if rows.stride else [])
    else:
        frees: list[Item] = []
        parts = [_put(e, rows.cell, v, k * rows.stride, item, frees) for k, item in enumerate(x.items)]
        construct(e, v, [*parts, frees])


def _table(e: Emitter, let: Let) -> None:
    assert isinstance(let.expr, MakeArray)
    cell = elements_of(e.module.layouts.of(let.binders[0].type)).cell
    e.push((e.module.address.const[e.module.constant(_constants(cell, let.expr.items))],))


_LETTERS: dict[Kind, str] = {
    "real": "d", "int": "q", "bool": "?", "float32": "f",
    "int8": "b", "int16": "h", "int32": "i", "uint8": "B", "uint16": "H", "uint32": "I",
}  # fmt: skip


def _constants(cell: Cell, items: tuple[Atom, ...]) -> bytes:
    values = [item.value for item in items if isinstance(item, Lit)]
    return b"" if values[0] is None else pack(f"<{len(values)}{_LETTERS[cell.kind]}", *values)


def untuple(e: Emitter, let: Let) -> None:
    """All fields, owned; of the tuple only the block is freed."""
    x = let.expr
    assert isinstance(x, Untuple)
    assert isinstance(x.value, Var)
    consume(e, (x.value,))
    layout = e.module.layouts.of(x.value.type)
    record = record_of(layout)
    source = e.read(x.value)
    e.body.out += (e.module.heap.free(layout.bytes), source)
    for v, cell, offset in reversed(list(zip(let.binders, record.cells, record.offsets, strict=True))):
        _take(e, v, cell, offset, source)


def _take(e: Emitter, v: Var, cell: Cell, offset: int, source: bytes) -> None:
    """Write that `v` becomes the owner of what is in a cell of `source`."""
    if cell.kind == "nothing" or (v not in e.where and not is_boxed(v.type)):
        return
    if cell.kind == "inline":
        address: tuple[Item, ...] = (source, e.module.address.moved(offset)) if offset else (source,)
        construct(e, v, [(v, *address, e.module.address.const[cell.bytes], memory_copy)])
    else:
        before = e.bind(v)
        e.push((before, source, e.module.address.loads[cell.kind][offset]))


def inject(e: Emitter, let: Let) -> None:
    """A sum; where it can, it takes over the block of the value."""
    x = let.expr
    assert isinstance(x, Inject)
    (v,) = let.binders
    layout = e.module.layouts.of(v.type)
    union = union_of(layout)
    cell = union.cells[x.side]
    tag: tuple[Item, ...] = (v, i32_const[x.side], bool_store[union.tag])
    if cell.kind == "inline":
        alive(e, v)
        if buildable(e, x.value, e.where[v], only_blocks=v not in e.placed):
            if v not in e.placed and v not in e.framed:
                e.room[v] = max(e.room.get(v, 0), layout.bytes)
            e.push(tag)
            rename(e, v, x.value)
            return
    consume(e, (x.value,))
    frees: list[Item] = []
    construct(e, v, [_put(e, cell, v, 0, x.value, frees), tag, frees])


def extract(e: Emitter, let: Let) -> None:
    """The value of a sum; of the sum only the block is freed."""
    x = let.expr
    assert isinstance(x, Extract)
    (v,) = let.binders
    consume(e, (x.value,))
    assert isinstance(x.value, Var)
    layout = e.module.layouts.of(x.value.type)
    source = e.read(x.value)
    e.body.out += (e.module.heap.free(layout.bytes), source)
    _take(e, v, union_of(layout).cells[x.side], 0, source)


def copy(e: Emitter, let: Let) -> None:
    """An owned copy."""
    x = let.expr
    assert isinstance(x, Copy)
    (v,) = let.binders
    borrow(e, x.value)
    if not has_home(e, v):
        e.statement(let, _copied)
        return
    layout = e.module.layouts.of(v.type)
    own: tuple[Item, ...] = () if layout.flat else (v, e.module.glue.own(v.type))
    construct(e, v, [(v, x.value, e.module.address.const[layout.bytes], memory_copy, *own)])


def _copied(e: Emitter, let: Let) -> None:
    assert isinstance(let.expr, Copy)
    value = let.expr.value
    e.push((value, e.module.glue.copy(value.type)) if is_boxed(value.type) else (value,))


def zero(e: Emitter, let: Let) -> None:
    """A zero of the type of the binder."""
    x = let.expr
    assert isinstance(x, Zero)
    (v,) = let.binders
    if isinstance(v.type, Scalar):
        e.statement(let, zero_value)
        return
    if v in e.plan.overwritten:
        construct(e, v, [])
        return
    like = x.like if has_dynamic_length(v.type) else None
    source: tuple[Item, ...] = () if like is None else (like,)
    if like is not None:
        borrow(e, like)
    glue, like_type = e.module.glue, like.type if like is not None else None
    if not has_home(e, v):
        before = e.bind(v)
        e.push((before, *source, glue.zero(v.type, like_type)))
        return
    size = e.module.layouts.of(v.type).bytes
    fill: tuple[Item, ...] = (v, *source, glue.fill(v.type, like_type)) if glue.needs_fill(v.type) else ()
    construct(e, v, [(*zeroed(e.module.address, v, size), *fill)])


def zero_value(e: Emitter, let: Let) -> None:
    """A zero that is no block."""
    e.push((_ZEROS[e.module.address.kind_of(let.binders[0].type)],))
