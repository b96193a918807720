"""`while` loops; their stacks double when they are full."""

from functools import partial

from rosejit.codegen.core.address_type import Kind
from rosejit.codegen.core.allocator import END
from rosejit.codegen.core.emitter import Emitter, Item
from rosejit.codegen.core.layout import DATA, Column, elements_of
from rosejit.codegen.loops.carried_locals import Carry, close_carries, drop_unread, load, open_carries, poll, store
from rosejit.codegen.values.ownership import alive, begin, consume, free, put_row, touch
from rosejit.ir.syntax import Let, Var, While
from rosejit.lazy_dataclass import dataclass
from rosejit.wasm.instructions import br, i64_const, if_
from rosejit.wasm.instructions import loop as loop_
from rosejit.wasm.opcodes import OP

FIRST = 8
"""The rows that a stack has at first."""


@dataclass(slots=True)
class _Stack:
    var: Var
    rows: Column
    data: Var
    """The address of the elements."""
    used: Var
    """The bytes of the rows that are there."""
    home: Var | None
    """Of structures: the address of the row of this iteration."""


@dataclass(slots=True)
class _While:
    let: Let
    x: While
    carried: list[Carry]
    stacks: list[_Stack]
    iterations: Var | None
    room: Var | None
    """How many rows the stacks can hold."""


def while_(e: Emitter, let: Let) -> None:
    """Binds the number of iterations, the last carries and the stacks."""
    x = let.expr
    assert isinstance(x, While)
    count = 1 + len(x.carries)
    m = _While(let, x, open_carries(e, x.carries, let.binders[1:count]), [], None, None)
    dying = touch(e, e.plan.captures[let])
    free(e, dying)
    for v in let.binders[count:]:
        alive(e, v)
        _open_stack(e, m, v)
    if let.binders[0] in e.where or m.stacks:
        m.iterations = e.temporary("i64")
        if m.stacks:
            m.room = e.temporary(e.module.address.kind)
    _close_stacks(e, m)
    _write(e, m)
    for v in _temporaries(m):
        kind = e.kind(v)
        assert kind is not None
        zero = i64_const[0] if v is m.iterations else e.module.address.zero
        e.body.out.append(store(e, kind, e.where[v], zero))
        e.retire(v)
    for stack in m.stacks:
        if stack.home is not None:
            e.retire(stack.home)
    close_carries(e, m.carried, x.inits)


def _open_stack(e: Emitter, m: _While, v: Var) -> None:
    rows = elements_of(e.module.layouts.of(v.type))
    assert isinstance(rows, Column)
    home = e.temporary(e.module.address.kind) if rows.cell.kind == "inline" else None
    m.stacks.append(_Stack(v, rows, e.temporary(e.module.address.kind), e.temporary(e.module.address.kind), home))


def _temporaries(m: _While) -> list[Var]:
    """The variables that start at zero."""
    found = [v for v in (m.iterations, m.room) if v is not None]
    for stack in m.stacks:
        found += (stack.data, stack.used)
    return found


def _get(e: Emitter, v: Var) -> bytes:
    return e.read(v)


def _put(e: Emitter, v: Var, value: bytes, kind: Kind | None = None) -> bytes:
    return store(e, kind or e.module.address.kind, e.where[v], value)


def _write(e: Emitter, m: _While) -> None:
    """The loop itself; the body is written first, because it is what frees carries that nobody reads."""
    e.body.depth += 2
    body, _ = e.nested(m.x.body, partial(_finish, e, m), partial(_begin, e, m))
    e.body.depth -= 1
    condition, _ = e.nested(m.x.condition, partial(e.push, m.x.condition.results))
    look = poll(e)
    e.body.depth -= 1
    count = (
        b""
        if m.iterations is None
        else _put(e, m.iterations, _get(e, m.iterations) + i64_const[1] + OP["i64.add"], "i64")
    )
    e.body.out.append(b"".join((loop_(), look, condition, if_(), body, count, br[1], END, END)))


def _finish(e: Emitter, m: _While) -> None:
    """The end of an iteration."""
    a, results = e.module.address, m.x.body.results
    nexts, rows = results[: len(m.x.carries)], results[len(m.x.carries) :]
    for stack in m.stacks:
        e.body.out.append(_put(e, stack.used, _get(e, stack.used) + a.const[stack.rows.stride] + a.add))
    items: list[Item] = []
    frees: list[Item] = []
    for stack, row in zip(m.stacks, rows, strict=True):
        if stack.home is not None:
            items += put_row(e, stack.home, row, frees)
        elif stack.rows.cell.kind != "nothing":
            items += (stack.data, stack.used, a.add, row, a.stores[stack.rows.cell.kind][0])
    consume(e, (*nexts, *[row for stack, row in zip(m.stacks, rows, strict=True) if stack.home is None]))
    for carry in m.carried:
        e.assign(carry.kind, carry.place)
    e.push([*items, *nexts, *frees])


def _begin(e: Emitter, m: _While) -> None:
    """The start of an iteration: room for its rows."""
    a = e.module.address
    drop_unread(e, m.carried)
    code: list[bytes] = []
    if m.room is not None and m.iterations is not None:
        code += (_get(e, m.iterations), a.of_int, _get(e, m.room), a.op("eq"), if_(), *_grow(e, m, m.room), END)
    for stack in m.stacks:
        if stack.home is not None:
            code.append(_put(e, stack.home, _get(e, stack.data) + _get(e, stack.used) + a.add))
    e.body.out.append(b"".join(code))


def _grow(e: Emitter, m: _While, room: Var) -> list[bytes]:
    """Twice the rows for all stacks."""
    a = e.module.address
    doubled = _get(e, room) + a.const[1] + a.shl + a.const[FIRST] + a.op("or")
    code: list[bytes] = []
    for stack in m.stacks:
        had = _get(e, room) + a.const[stack.rows.stride] + a.mul
        shall = doubled + a.to_int + e.module.heap.bytes_of(stack.rows.stride)
        old = _get(e, stack.data) + _get(e, stack.used)
        code.append(_put(e, stack.data, old + had + shall + e.module.heap.resize()))
    return [*code, _put(e, room, doubled)]


def _close_stacks(e: Emitter, m: _While) -> None:
    """Behind the loop: the records of the stacks, and the number of iterations."""
    a, let = e.module.address, m.let
    for stack in reversed(m.stacks):
        assert m.iterations is not None
        assert m.room is not None
        record = e.read(stack.var)
        size = _get(e, m.room) + a.const[stack.rows.stride] + a.mul
        code = (
            *(record, _get(e, stack.data), a.store[DATA]),
            *(record, _get(e, m.iterations), a.of_int, a.store[a.length], record, size, a.store[a.capacity]),
        )
        e.body.out.append(b"".join(code))
        begin(e, stack.var)
    if m.iterations is not None and let.binders[0] in e.where:
        before = e.bind(let.binders[0])
        e.body.out += (load(e, "i64", e.where[m.iterations]), before)
