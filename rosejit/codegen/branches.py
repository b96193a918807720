"""`if` and `case`."""

from collections.abc import Callable, Sequence
from functools import partial

from rosejit.codegen.body import Kind
from rosejit.codegen.emitter import Emitter, Item
from rosejit.codegen.heap import ELSE, END
from rosejit.codegen.layout import Union, union_of
from rosejit.codegen.ownership import consume, free, put_row, settle, touch
from rosejit.codegen.paths import LOAD
from rosejit.ir.syntax import Atom, Block, Case, If, Let, Var
from rosejit.ir.types import Ref
from rosejit.wasm.instructions import BlockType, bool_load, if_


def branch(e: Emitter, let: Let) -> None:
    """Leaves the results of the side taken."""
    x = let.expr
    assert isinstance(x, If)
    dying = touch(e, e.plan.captures[let])
    _sides(e, let, (x.then, x.orelse), (None, None), dying)
    e.push((x.condition,))


def case(e: Emitter, let: Let) -> None:
    """As `branch`: the tag decides, and each side sees its payloads."""
    x = let.expr
    assert isinstance(x, Case)
    dying = touch(e, (*e.plan.captures[let], *x.scrutinees))
    begins = (partial(_payloads, e, x, 1), partial(_payloads, e, x, 0))
    _sides(e, let, (x.right.block, x.left.block), begins, dying)
    e.push((x.scrutinees[0], bool_load[_union(e, x.scrutinees[0]).tag]))


Begin = Callable[[], None] | None


def _sides(
    e: Emitter, let: Let, blocks: tuple[Block, Block], begins: tuple[Begin, Begin], dying: Sequence[Var]
) -> None:
    """Writes both sides, the first for a condition that holds, and what is freed behind them.

    What only one side consumes is freed at the end of the other.
    """
    free(e, [v for v in dying if v not in e.plan.consumed])  # settles where they lie, before the sides are written
    e.body.depth += 1
    sides = [
        e.nested(block, partial(_results, e, block, let.binders), begin)
        for block, begin in zip(blocks, begins, strict=True)
    ]
    e.body.depth -= 1
    (code, consumed), (other_code, other_consumed) = sides
    outer = e.plan.captures[let]
    code += _freed(e, [v for v in outer if v in other_consumed and v not in consumed])
    other_code += _freed(e, [v for v in outer if v in consumed and v not in other_consumed])
    block_type = _block_type(e, [k for v in let.binders if v not in e.placed and (k := e.kind(v)) is not None])
    e.body.out.append(b"".join((if_(block_type), code, ELSE, other_code, END)))
    for v in let.binders:
        if v in e.placed:
            settle(e, v)


def _results(e: Emitter, block: Block, binders: tuple[Var, ...]) -> None:
    rows: list[Item] = []
    frees: list[Item] = []
    left: list[Atom] = []
    for v, result in zip(binders, block.results, strict=True):
        if v in e.placed:
            rows += put_row(e, v, result, frees)
        else:
            left.append(result)
    consume(e, [result for result in left if isinstance(result, Var)])
    e.push([*rows, *left, *frees])


def _freed(e: Emitter, variables: Sequence[Var]) -> bytes:
    return b"".join([e.read(v) + e.module.drop(v.type) for v in variables])


def _block_type(e: Emitter, kinds: Sequence[Kind]) -> BlockType:
    if len(kinds) > 1:
        return e.module.builder.type_index((), kinds)
    return kinds[0] if kinds else None


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
            read = LOAD["address"][0]
        elif cell.kind in LOAD and not isinstance(v.type, Ref):
            read = LOAD[cell.kind][0]
        else:
            read = b""
        e.body.out += (read, address, before)
