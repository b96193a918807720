"""Calls of functions of the module and of the host."""

from rosejit.codegen.core.address_type import Kind
from rosejit.codegen.core.emitter import Emitter, Item
from rosejit.codegen.core.function_body import LOADS, STORES
from rosejit.codegen.core.module_builder import Callee
from rosejit.codegen.core.split_long import PARENT
from rosejit.codegen.values.ownership import borrow, consume, touch
from rosejit.ir.syntax import Atom, Call, Let, Var
from rosejit.ir.types import UNIT, Ref, is_boxed
from rosejit.wasm.instructions import local_get, local_set, local_tee


def call(e: Emitter, let: Let) -> None:
    """Leaves the results, which do not come through memory."""
    x = let.expr
    assert isinstance(x, Call)
    if x.function.host is not None:
        _host(e, x)
        return
    callee = e.module.callee(x.function)
    assert not callee.results_in_memory
    _arguments(e, x, callee, (callee.code,))


def call_statement(e: Emitter, let: Let) -> None:
    """Binds the results."""
    x = let.expr
    assert isinstance(x, Call)
    if x.function.host is not None or not e.module.callee(x.function).results_in_memory:
        e.statement(let, call)
        return
    callee = e.module.callee(x.function)
    area = 8 * len(callee.params) * callee.params_in_memory
    frame = e.frame_address()
    groups: list[tuple[Item, ...]] = []
    for k, v in enumerate(v for v in let.binders if v.type is not UNIT):
        kind = e.module.address.kind_of(v.type)
        assert kind is not None
        load = LOADS[kind][area + 8 * k]
        place = e.where.get(v, 0)
        if place < 0 and v not in e.near:
            groups.append((frame, frame, load, STORES[kind][~place]))
            e.release(v, e.where.pop(v))
        else:
            before = e.bind(v)
            e.body.out += (load, local_get[e.body.frame], before)
    e.push_groups(groups)
    _arguments(e, x, callee, (frame, e.module.address.moved(area), callee.code))


def _arguments(e: Emitter, x: Call, callee: Callee, rest: tuple[Item, ...]) -> None:
    """Leaves the arguments, or the address at which they lie, and then writes `rest`."""
    f = x.function
    given = list(zip(f.params, x.args, strict=True))
    borrow(e, *[a for p, a in given if p not in f.own and _is_address(a)])
    consume(e, [a for p, a in given if p in f.own])
    atoms: list[Atom] = [a for p, a in given if p.type is not UNIT]
    if not callee.params_in_memory:
        e.push((*atoms, *rest))
        return
    frame = e.frame_address()
    e.push((frame, *rest))
    touch(e, atoms)
    groups: list[tuple[Item, ...]] = []
    for k, item in enumerate(atoms):
        a: Item = item  # computed in its place it could make a call, which would use the same memory
        if e.inside is not PARENT and isinstance(item, Var):
            a = e.read(item)
        kind = e.module.address.kind_of(item.type)
        assert kind is not None
        groups.append((frame, a, STORES[kind][8 * k]))
    e.push_groups(groups)


def _is_address(a: Atom) -> bool:
    return is_boxed(a.type) or isinstance(a.type, Ref)


def _host(e: Emitter, x: Call) -> None:
    """Array results go into fresh blocks whose addresses are passed behind the arguments; scalars are returned."""
    borrow(e, *[a for a in x.args if is_boxed(a.type)])
    f = x.function
    results = [t for t in f.results if t is not UNIT]
    kinds: list[Kind] = [e.module.address.kind_of(t) or "i32" for t in results]
    scratch = [e.body.local(kind) for kind in kinds]
    for kind, local in zip(kinds, scratch, strict=True):
        e.body.release(kind, local)
    blocks: list[Item] = []
    returned: list[Item] = []
    for t, local in zip(results, scratch, strict=True):
        if is_boxed(t):
            blocks += (e.module.heap.allocate(e.module.layouts.of(t).bytes), local_tee[local])
        else:
            returned.insert(0, local_set[local])
    order: list[Item] = [*returned, *(local_get[local] for local in scratch)] if blocks else []
    atoms = [a for a in x.args if a.type is not UNIT]
    e.push((*atoms, *blocks, e.module.hosts[f], *order))
