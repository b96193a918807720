"""A root that nothing in the program calls, as its own entry: arrays are built where the host reads them."""

from functools import partial

from rosejit.codegen.core.address_type import Kind
from rosejit.codegen.core.emitter import Emitter, Item
from rosejit.codegen.core.entry_points import EntryLayout, argument
from rosejit.codegen.core.function_body import STORES, Body
from rosejit.codegen.core.function_facts import Plan
from rosejit.codegen.core.module_builder import MOST_PARAMS, ModuleContext
from rosejit.codegen.core.split_long import LONGEST, PARENT
from rosejit.codegen.program.form_table import FORMS
from rosejit.codegen.program.functions import finish_function
from rosejit.codegen.values.ownership import consume, put_row
from rosejit.ir.syntax import Block, Function, Var
from rosejit.ir.types import UNIT
from rosejit.wasm.instructions import local_get, local_set
from rosejit.wasm.module import Export


def can_be_direct(f: Function, plan: Plan) -> bool:
    """Whether the parameters of `f` fit the locals of one function, or lie in its frame because it is cut."""
    return plan.weight > LONGEST or len(f.params) <= MOST_PARAMS


def write_direct_entry(module: ModuleContext, f: Function, plan: Plan, place: EntryLayout) -> None:
    """Export `f` with its arguments and results in their slots."""
    assert f.body is not None
    a = module.address
    e = Emitter(module, FORMS, plan, Body(0, a.kind), f.name)
    if plan.weight > LONGEST:
        e.inside = PARENT
    given = [p for p in f.params if p.type is not UNIT]
    for p in given:
        e.fixed[p] = _place(e, a.kind_of(p.type) or "i32")
    homes: dict[int, Var] = {}
    for k, slot in enumerate(place.entry.results):
        if slot.kind == "array":
            home = homes[k] = Var(a.scalar, "result")
            e.where[home] = e.fixed[home] = _place(e, a.kind)
    code, _ = e.nested(f.body, partial(_results, e, f.body, place, homes))
    e.body.out.append(code)
    prologue = [_put(e, e.where[home], a.kind, a.const[place.entry.results[k].offset]) for k, home in homes.items()]
    for p, slot in zip(given, place.entry.params, strict=True):
        if p in e.where:
            prologue.append(_put(e, e.where[p], a.kind_of(p.type) or "i32", argument(module, p, slot, own=p in f.own)))
    index = module.builder.declare_function((), (), place.entry.name)
    finish_function(e, index, b"".join(prologue), polls=False)
    module.builder.exports.append(Export(place.entry.name, "func", index))
    module.record_function(index, f)


def _place(e: Emitter, kind: Kind) -> int:
    """A local, or a slot of the frame where the function is cut."""
    return ~e.frame.slot() if e.inside is PARENT else e.body.local(kind)


def _put(e: Emitter, place: int, kind: Kind, value: bytes) -> bytes:
    """Code that puts `value` there."""
    return value + local_set[place] if place >= 0 else local_get[e.body.frame] + value + STORES[kind][~place]


def _results(e: Emitter, body: Block, place: EntryLayout, homes: dict[int, Var]) -> None:
    items: list[Item] = []
    frees: list[Item] = []
    results = [r for r in body.results if r.type is not UNIT]
    for k, result in enumerate(results):
        if k in homes:
            items += put_row(e, homes[k], result, frees)
        else:
            consume(e, (result,))
            kind = e.module.address.kind_of(result.type)
            assert kind is not None
            items += (e.module.address.zero, result, STORES[kind][place.results + 8 * k])
    e.push([*items, *frees])
