"""`if` and `case`."""

from collections.abc import Callable, Sequence
from functools import partial

from rosejit.codegen.core.allocator import ELSE, END
from rosejit.codegen.core.emitter import Emitter, Form, Item
from rosejit.codegen.core.function_body import STORES
from rosejit.codegen.core.layout import Union, union_of
from rosejit.codegen.values.ownership import consume, free, put_row, touch, undefine
from rosejit.ir.syntax import Atom, Block, Case, If, Let, Var
from rosejit.ir.types import UNIT, Ref, is_boxed
from rosejit.wasm.instructions import bool_load, if_, local_set, local_tee

Finish = Callable[[Block], None]
Begin = Callable[[], None] | None


def branch(e: Emitter, let: Let) -> None:
    """Leaves the only result of the side taken."""
    _branch(e, let, partial(_leave, e, let.binders))


def branch_statement(e: Emitter, let: Let) -> None:
    """Binds the results of the side taken."""
    _bound(e, let, branch, _branch)


def case(e: Emitter, let: Let) -> None:
    """As `branch`: the tag decides, and each side sees its payloads."""
    _case(e, let, partial(_leave, e, let.binders))


def case_statement(e: Emitter, let: Let) -> None:
    """Binds the results of the side taken."""
    _bound(e, let, case, _case)


def _branch(e: Emitter, let: Let, finish: Finish) -> None:
    x = let.expr
    assert isinstance(x, If)
    dying = touch(e, e.plan.captures[let])
    _sides(e, let, (x.then, x.orelse), (None, None), dying, finish)
    e.push((x.condition,))


def _case(e: Emitter, let: Let, finish: Finish) -> None:
    x = let.expr
    assert isinstance(x, Case)
    dying = touch(e, (*e.plan.captures[let], *x.scrutinees))
    begins = (partial(_payloads, e, x, 1), partial(_payloads, e, x, 0))
    _sides(e, let, (x.right.block, x.left.block), begins, dying, finish)
    e.push((x.scrutinees[0], bool_load[_union(e, x.scrutinees[0]).tag]))


def _bound(e: Emitter, let: Let, value: Form, write: Callable[[Emitter, Let, Finish], None]) -> None:
    """One result goes over the stack, several from each side to their places: engines limit results of blocks."""
    stacked = [v for v in let.binders if v.type is not UNIT and v not in e.placed]
    if len(stacked) == 1:
        e.statement(let, value)
        return
    write(e, let, partial(_assign, e, let.binders))
    for v in stacked:
        place = e.where.pop(v, None)
        near = e.near.pop(v, None)
        if place is not None:
            e.release(v, place)
        if near is not None:
            e.body.release(e.kind(v) or "i32", near)


def _sides(
    e: Emitter,
    let: Let,
    blocks: tuple[Block, Block],
    begins: tuple[Begin, Begin],
    dying: Sequence[Var],
    finish: Finish,
) -> None:
    """Writes both sides, the first for a condition that holds, and what is freed behind them.

    What only one side consumes is freed at the end of the other.
    """
    free(e, [v for v in dying if v not in e.plan.consumed])  # settles where they lie, before the sides are written
    e.body.depth += 1
    sides = [e.nested(block, partial(finish, block), begin) for block, begin in zip(blocks, begins, strict=True)]
    e.body.depth -= 1
    (code, consumed), (other_code, other_consumed) = sides
    outer = e.plan.captures[let]
    code += _freed(e, [v for v in outer if v in other_consumed and v not in consumed])
    other_code += _freed(e, [v for v in outer if v in consumed and v not in other_consumed])
    left = [kind for v in let.binders if v not in e.placed and (kind := e.kind(v)) is not None]
    e.body.out.append(b"".join((if_(left[0] if len(left) == 1 else None), code, ELSE, other_code, END)))
    for v in let.binders:
        if v in e.placed:
            undefine(e, v)


def _leave(e: Emitter, binders: tuple[Var, ...], block: Block) -> None:
    """Rows go to their places, the other result stays on the stack."""
    rows, frees = _rows(e, binders, block)
    left = [r for v, r in zip(binders, block.results, strict=True) if v not in e.placed]
    consume(e, left)
    e.push([*rows, *left, *frees])


def _assign(e: Emitter, binders: tuple[Var, ...], block: Block) -> None:
    """All results go to their places."""
    rows, frees = _rows(e, binders, block)
    groups: list[list[Item]] = [rows]
    for v, result in zip(binders, block.results, strict=True):
        if v not in e.placed and v.type is not UNIT:
            consume(e, (result,))
            if v in e.where:
                groups.append(_assigned(e, v, result))
            elif is_boxed(v.type):
                frees += (result, e.module.drop(v.type))
    e.push_groups([*groups, frees])


def _assigned(e: Emitter, v: Var, result: Atom) -> list[Item]:
    place = e.where[v]
    if place >= 0:
        return [result, local_set[place]]
    near = e.near.get(v)
    keep = b"" if near is None else local_tee[near]
    return [e.frame_address(), result, keep, STORES[e.kind(v) or "i32"][~place]]


def _rows(e: Emitter, binders: tuple[Var, ...], block: Block) -> tuple[list[Item], list[Item]]:
    """What moves results into memory that waits for them, and what frees theirs."""
    rows: list[Item] = []
    frees: list[Item] = []
    for v, result in zip(binders, block.results, strict=True):
        if v in e.placed:
            rows += put_row(e, v, result, frees)
    return rows, frees


def _freed(e: Emitter, variables: Sequence[Var]) -> bytes:
    return b"".join([e.read(v) + e.module.drop(v.type) for v in variables])


def _union(e: Emitter, scrutinee: Atom) -> Union:
    t = scrutinee.type.target if isinstance(scrutinee.type, Ref) else scrutinee.type
    return union_of(e.module.layouts.of(t))


def _payloads(e: Emitter, x: Case, side: int) -> None:
    """Binds what a side sees of the scrutinees: a scalar, a view, or a place."""
    params = (x.right if side else x.left).params
    for v, scrutinee in zip(params, x.scrutinees, strict=True):
        if v not in e.where:
            continue
        cell = _union(e, scrutinee).cells[side]
        assert isinstance(scrutinee, Var)
        address = e.read(scrutinee)
        before = e.bind(v)
        if cell.kind == "address":
            read = e.module.address.load[0]
        elif cell.kind in e.module.address.loads and not isinstance(v.type, Ref):
            read = e.module.address.loads[cell.kind][0]
        else:
            read = b""
        e.body.out += (read, address, before)
