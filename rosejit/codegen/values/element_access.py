"""Paths into values: addresses, the tests of indices, and the forms that read and write there."""

from functools import partial

from rosejit.codegen.core.allocator import DROP
from rosejit.codegen.core.emitter import Emitter, Item
from rosejit.codegen.core.layout import DATA, Cell, Column, Rows, elements_of, record_of
from rosejit.codegen.values.ownership import borrow, rename, touch
from rosejit.ir.failure import index_failure
from rosejit.ir.syntax import Atom, Field, Index, Let, Lit, Path, Update, Var, View
from rosejit.ir.types import INT, Ref, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span
from rosejit.wasm.instructions import i32_const, i64_const, local_get, local_set, local_tee, memory_copy
from rosejit.wasm.opcodes import OP

_OUT_OF_RANGE = OP["i64.ge_u"]  # as unsigned numbers, negative indices are large


@dataclass(slots=True)
class AccessTarget:
    """Where a path leads: items that leave an address, an offset from there, and the cell that lies there."""

    items: list[Item]
    offset: int
    cell: Cell


class AccessPath:
    """How far a path has been followed: code that leaves an address, an offset from there, the cell at its end.

    Fields and addresses of arrays are the same on all ways; how an index is written is up to the caller.
    """

    def __init__(self, e: Emitter, base: Var) -> None:
        self.items: list[Item] = [base]
        self.offset = 0
        self._type: Type = base.type.target if isinstance(base.type, Ref) else base.type
        self._layouts = e.module.layouts
        self._address = e.module.address
        self._cell: Cell | None = None

    @property
    def cell(self) -> Cell:
        """The cell behind the last step."""
        assert self._cell is not None
        return self._cell

    def rows(self, step: Field | Atom) -> Rows | Column | None:
        """Go to the array that `step` is an index of, or into a field: then None."""
        if self._cell is not None:
            self._type = self._cell.type
            if self._cell.kind == "address":
                self._load(0)
        layout = self._layouts.of(self._type)
        if isinstance(step, Field):
            record = record_of(layout)
            self._cell = record.cells[step.number]
            self.offset += record.offsets[step.number]
            return None
        rows = elements_of(layout)
        self._cell = rows.cell
        return rows

    def data(self, rows: Rows | Column) -> None:
        """Go to the first element."""
        if isinstance(rows, Column):
            self._load(DATA)

    def _load(self, further: int) -> None:
        self.items.append(self._address.load[self.offset + further])
        self.offset = 0


def kept_offset(e: Emitter, index: Var, stride: int) -> Var | None:
    """The variable that holds the index of a loop times `stride`, if that loop keeps such variables."""
    known = e.offsets.get(index)
    if known is None:
        return None
    if stride not in known:
        v = known[stride] = Var(e.module.address.scalar, "offset")
        e.where[v] = e.body.fresh(
            e.module.address.kind
        )  # it lives through the whole loop, part of which is written already
    return known[stride]


def follow(e: Emitter, base: Atom, path: Path, tests: tuple[int, ...], span: Span | None) -> AccessTarget:
    """The place that `path` leads to from `base`, a boxed value or a place of one."""
    assert isinstance(base, Var)
    if tests:
        return _follow_testing(e, base, path, tests, span)
    access, a = AccessPath(e, base), e.module.address
    for step in path:
        rows = access.rows(step)
        if rows is None or isinstance(step, Field):
            continue
        access.data(rows)
        if isinstance(step, Lit):
            assert isinstance(step.value, int)
            access.offset += behind(e, rows, step.value)
        else:
            kept = kept_offset(e, step, rows.stride)
            access.items += (kept, a.add) if kept is not None else (step, a.scaled(rows.stride), a.add)
    return AccessTarget(access.items, access.offset, access.cell)


def behind(e: Emitter, rows: Rows | Column, number: int) -> int:
    """How many bytes behind the first element lies the one with this number. What is out of range and not tested is in
    code that never runs, and any place will do: there may be no instruction for its own."""
    count = rows.length if isinstance(rows, Rows) else e.module.address.memory // max(rows.stride, 1)
    return number * rows.stride if 0 <= number < count else 0


def _follow_testing(e: Emitter, base: Var, path: Path, tests: tuple[int, ...], span: Span | None) -> AccessTarget:
    """As `follow`, with tests: all operands are there before the first test, so that effects keep their order."""
    steps = [step for step in path if not isinstance(step, Field)]
    touch(e, steps)
    first = steps[0] if isinstance(path[0], Var) and 0 in tests else None
    number = e.module.failures.number(index_failure(span), (INT, INT))
    access = AccessPath(e, base)
    for k, step in enumerate(path):
        rows = access.rows(step)
        if rows is None or isinstance(step, Field):
            continue
        index = i64_const[step.value] if isinstance(step, Lit) else e.read(step)
        if k in tests:
            access.items += _test(e, rows, access.offset, step if step is first else index, index, number)
        access.data(rows)
        access.items += (index, e.module.address.scaled(rows.stride), e.module.address.add)
    return AccessTarget(access.items, access.offset, access.cell)


def _test(e: Emitter, rows: Rows | Column, offset: int, tested: Item, index: bytes, number: int) -> list[Item]:
    """Fails unless an index is in range; an address is on the stack before and after."""
    if isinstance(rows, Rows):
        length, keep = i64_const[rows.length], b""
    else:
        tested = index  # what computes it might use the local that keeps the record
        a = e.module.address
        record = e.body.local(a.kind)
        e.body.release(a.kind, record)
        keep = local_tee[record]
        length = local_get[record] + a.load[offset + a.length] + a.to_int
    handler = index + length + i32_const[number] + e.module.failures.fail_index()
    return [keep, tested, length, _OUT_OF_RANGE, e.body.fail_if(handler)]


def view_of(e: Emitter, target: AccessTarget) -> list[Item]:
    """The items that leave the boxed value, or the place, that a path leads to."""
    if target.cell.kind == "address":
        return [*target.items, e.module.address.load[target.offset]]
    return [*target.items, e.module.address.moved(target.offset)] if target.offset else target.items


def index(e: Emitter, let: Let) -> None:
    """A read or a view."""
    x = let.expr
    assert isinstance(x, Index)
    borrow(e, x.base)
    target = follow(e, x.base, x.path, e.plan.tests.get(x, ()), let.span)
    loads = e.module.address.loads
    if target.cell.kind in loads:
        e.push([*target.items, loads[target.cell.kind][target.offset]])
    elif target.cell.kind == "nothing":
        e.push([*target.items, DROP])
    else:
        e.push(view_of(e, target))


def index_statement(e: Emitter, let: Let) -> None:
    """A read that nobody uses is left out, unless it can fail."""
    assert isinstance(let.expr, Index)
    if let.binders[0] in e.where or let.expr in e.plan.tests:
        e.statement(let, index)


def view(e: Emitter, let: Let) -> None:
    """The address of a part of a place."""
    x = let.expr
    assert isinstance(x, View)
    borrow(e, x.place)
    e.push(view_of(e, follow(e, x.place, x.path, e.plan.tests.get(x, ()), let.span)))


def view_statement(e: Emitter, let: Let) -> None:
    """The same into a local."""
    e.statement(let, view)


def update(e: Emitter, let: Let) -> None:
    """A write into an array that goes on under a new name."""
    x = let.expr
    assert isinstance(x, Update)
    borrow(e, x.value)
    rename(e, let.binders[0], x.base, partial(_written, e, x, let.span))


def _written(e: Emitter, x: Update, span: Span | None, name: Var) -> list[Item]:
    """Stores the value in the array that is called `name` here."""
    tests = e.plan.tests.get(x, ())
    value: Item = x.value
    if tests and isinstance(value, Var):
        touch(e, (value,))
        value = e.read(value)
    target = follow(e, name, x.path, tests, span)
    cell, offset = target.cell, target.offset
    if cell.kind != "address" and cell.kind in e.module.address.stores:
        return [*target.items, value, e.module.address.stores[cell.kind][offset]]
    if cell.kind == "nothing":
        return [*target.items, DROP]
    return [*target.items, e.module.address.moved(offset), value, *_replaced(e, cell)]


def _replaced(e: Emitter, cell: Cell) -> list[Item]:
    """Takes the address of a cell and a boxed value; puts a copy of the value there and frees what was there."""
    a, glue, t = e.module.address, e.module.glue, cell.type
    if cell.kind == "inline" and cell.flat:
        return [a.const[cell.bytes], memory_copy]
    value, address = e.body.local(a.kind), e.body.local(a.kind)
    e.body.release(a.kind, value)
    e.body.release(a.kind, address)
    items: list[Item] = [local_set[value], local_tee[address]]
    if cell.kind == "address":
        put = [local_get[address], local_get[value], glue.copy(t), a.store[0]]
        return [*items, a.load[0], e.module.drop(t), *put]
    put = [local_get[address], local_get[value], a.const[cell.bytes], memory_copy]
    return [*items, glue.clear(t), *put, local_get[address], glue.own(t)]
