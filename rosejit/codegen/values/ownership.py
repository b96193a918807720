"""Who owns the boxed values: frees behind the last use, moves to other names, blocks that are built in their place."""

from collections.abc import Callable, Iterable, Sequence

from rosejit.codegen.core.emitter import Emitter, Item
from rosejit.ir.syntax import (
    Accum,
    Atom,
    Case,
    Copy,
    If,
    Inject,
    Loop,
    MakeArray,
    MakeTuple,
    Resolve,
    Update,
    Var,
    Zero,
)
from rosejit.ir.types import Array, Ref, Scalar
from rosejit.wasm.instructions import local_get, local_set, memory_copy


def touch(e: Emitter, atoms: Iterable[Atom]) -> list[Var]:
    """Give places to variables that are read here; those that are owned and not used further on are returned."""
    dying: list[Var] = []
    for v in atoms:
        if type(v) is not Var or v in e.where:
            continue
        e.first(v)
        if type(v.type) is Scalar:
            continue
        owner = e.plan.owner.get(v) if v in e.plan.borrowed else v
        if owner is None or (owner is not v and owner in e.where):
            continue
        if owner is not v:
            e.first(owner)
        if owner not in e.plan.cells:
            dying.append(owner)
    return dying


FRAMED = 256
"""Structures of at most so many bytes that die in the block that made them lie in the frame."""


def free(e: Emitter, variables: Iterable[Var]) -> None:
    """Write the frees of owned variables; where that is possible they get memory that is not to be freed."""
    for v in variables:
        code = e.read(v)
        layout = e.module.layouts.of(v.type.target if isinstance(v.type, Ref) else v.type)
        if layout.flat and layout.bytes <= FRAMED and buildable(e, v, e.where[v], only_blocks=True):
            e.framed[v] = e.frame.slot(layout.bytes), layout.bytes
        else:
            e.body.out += (e.module.drop(v.type), code)


def borrow(e: Emitter, *atoms: Atom) -> None:
    """Before a let is written: frees behind it what of its operands is not used any more."""
    for v in atoms:
        if type(v) is Var and v not in e.where:
            free(e, touch(e, (v,)))


def consume(e: Emitter, atoms: Iterable[Atom]) -> None:
    """Before a let is written: its operands go to new owners, and reads of them that stand above free nothing."""
    for v in atoms:
        if type(v) is Var and type(v.type) is not Scalar:
            e.consumed[v] = None
            if v not in e.where:
                e.first(v)


def alive(e: Emitter, v: Var) -> None:
    """Give `v` a place even if nobody uses it; then it is freed at once."""
    if v not in e.where:
        e.first(v)
        free(e, (v,))


def undefine(e: Emitter, v: Var) -> None:
    """Above this point `v` does not exist; its memory is not its own."""
    place = e.where.pop(v)
    e.placed.discard(v)
    near = e.near.pop(v, None)
    if near is not None:
        a = e.module.address
        e.body.release(a.kind, near)
        e.body.out += (local_set[near], a.load[~place], local_get[e.body.frame])


def begin(e: Emitter, v: Var) -> None:
    """Write the allocation of the block of `v`, unless it has its memory."""
    if v in e.placed:
        undefine(e, v)
        return
    framed = e.framed.pop(v, None)
    if framed is not None:
        e.frame.release(*framed)
        before = e.bind(v)
        e.body.out += (e.module.address.moved(framed[0]), local_get[e.body.frame], before)
        return
    size = e.room.pop(v, None)
    if size is None:
        size = e.module.layouts.of(v.type).bytes
    before = e.bind(v)
    e.body.out += (e.module.heap.allocate(size), before)


def has_home(e: Emitter, v: Var) -> bool:
    """Whether it is settled where `v` lies, so that whatever defines it must build it there."""
    return v in e.placed or v in e.room or v in e.framed


def construct(e: Emitter, v: Var, groups: Sequence[Sequence[Item]]) -> None:
    """Write the allocation of `v` and what fills it."""
    alive(e, v)
    e.push_groups(groups)
    begin(e, v)


def rename(e: Emitter, new: Var, old: Atom, write: Callable[[Var], Sequence[Item]] = lambda _: ()) -> None:
    """Write that the value of `old`, which is consumed, goes on as `new`.

    `write` gives items that are to be written behind that; they may use the name that it is given.
    """
    assert isinstance(old, Var)
    alive(e, new)
    place = e.where[new]
    undefined = old in e.fixed or old in e.where  # a parameter, a carry, or owned by a block around this one
    if undefined or not (place < 0 or e.inside is None or old in e.inside):
        consume(e, (old,))
        e.push(write(new))
        before = e.bind(new)
        e.push((before, old))
        return
    e.consumed[old] = None
    placed, size, framed = new in e.placed, e.room.pop(new, None), e.framed.pop(new, None)
    undefine(e, new)
    e.where[old] = place
    if framed is not None:
        e.framed[old] = framed
    if placed:
        e.placed.add(old)
    if size is not None:
        e.room[old] = size
    e.push(write(old))


def buildable(e: Emitter, v: Atom, place: int, *, only_blocks: bool) -> bool:
    """Whether the definition of `v`, which stands above in this block, can build it where `place` says.

    With `only_blocks`, whether it is something that allocates its own block, which can then be larger than it needs.
    """
    while isinstance(v, Var):
        let, block = e.plan.defined.get(v, (None, None))
        if let is None or block is not e.block or not (place < 0 or e.inside is None or v in e.inside):
            return False
        match let.expr:
            case Update(base=a) | Accum(value=a) | Resolve(place=a):
                v = a
            case MakeTuple() | MakeArray() | Zero() | Copy() | Inject():
                return True
            case If() | Case():
                return not only_blocks
            case Loop(carries=carries, inits=inits) as x:
                k = let.binders.index(v)
                if k >= len(carries):
                    return isinstance(v.type, Array) and v.type.length is not None and not only_blocks
                if only_blocks or (place < 0 and e.inside is None) or not _stays(e, x, k):
                    return False
                v = inits[k]
            case _:
                return False
    return False


def _stays(e: Emitter, x: Loop, k: int) -> bool:
    """Whether a carry is the same block in all iterations."""
    return _home(e, x.body.results[k]) is x.carries[k]


def _home(e: Emitter, v: Atom) -> Atom | None:
    """The variable in whose block `v` lies: what it was before all updates; None if it may be another block."""
    while isinstance(v, Var) and v in e.plan.defined:
        let, _ = e.plan.defined[v]
        match let.expr:
            case Update(base=a):
                v = a
            case If(then=then, orelse=orelse):
                one, other = (_home(e, side.results[let.binders.index(v)]) for side in (then, orelse))
                return one if one is other else None
            case Loop(inits=inits) as x:
                k = let.binders.index(v)
                if k >= len(inits) or not _stays(e, x, k):
                    return None
                v = inits[k]
            case _:
                return None
    return v


def put_row(e: Emitter, home: Var, value: Atom, frees: list[Item]) -> list[Item]:
    """What moves the boxed `value` into the memory that `home` points to; nothing if it is built there."""
    place = e.where[home]
    if buildable(e, value, place, only_blocks=False):
        assert isinstance(value, Var)
        e.consumed[value] = None
        e.where[value] = place
        e.placed.add(value)
        return []
    return moved_into(e, (home,), value, frees)


def moved_into(e: Emitter, address: Sequence[Item], value: Atom, frees: list[Item]) -> list[Item]:
    """What copies the block of the boxed `value` to an address.

    What frees the block is added to `frees`, which are to be written behind all other items: those may still read it.
    """
    consume(e, (value,))
    size = e.module.layouts.of(value.type).bytes
    frees += (value, e.module.heap.free(size))
    return [*address, value, e.module.address.const[size], memory_copy]
