"""An IR function to a Wasm function: parameters, body, results, and the frame if it needs one."""

from functools import partial

from rosejit.codegen.core.emitter import Emitter, Item
from rosejit.codegen.core.function_body import STORES, Body
from rosejit.codegen.core.function_facts import Plan
from rosejit.codegen.core.module_builder import Callee, ModuleContext, passed
from rosejit.codegen.core.split_long import LONGEST, PARENT
from rosejit.codegen.loops.carried_locals import poll
from rosejit.codegen.program.form_table import FORMS
from rosejit.codegen.values.ownership import consume, free
from rosejit.errors import VerifyError
from rosejit.ir.syntax import Block, Function, Var
from rosejit.ir.types import UNIT
from rosejit.wasm.instructions import local_get, local_set, memory_copy


def write_function(module: ModuleContext, f: Function, plan: Plan, *, polls: bool) -> None:
    """Define the function for `f`; with `polls` it looks at the interrupt flag when it is called."""
    assert f.body is not None
    callee = module.callee(f)
    params, _ = callee.signature(module.address)
    body = Body(len(params), module.address.kind)
    e = Emitter(module, FORMS, plan, body, f.name)
    area = _open(e, f, callee)
    code, _ = e.nested(f.body, partial(_results, e, f.body, callee, area))
    _require_in_scope(e, f, area)
    free(e, [p for p in f.params if p in f.own and p not in e.where and p.type is not UNIT])
    e.body.out.insert(0, code)
    finish_function(e, callee.index, _prologue(e, f, callee, area), polls=polls)


def _require_in_scope(e: Emitter, f: Function, area: Var | None) -> None:
    """Raise for a variable that is read and that nothing above has bound: its local would hold 0."""
    unbound = e.where.keys() - {*f.params, area, e.frame_variable}
    if unbound:
        named = ", ".join(sorted({f"`{v.hint}`" for v in unbound}))
        raise VerifyError(f"{named} of `{f.name}` is read, but not in scope")


def finish_function(e: Emitter, index: int, prologue: bytes, *, polls: bool) -> None:
    """Define function `index` by the code that was written, in a frame if that needs one."""
    body, heap = e.body, e.module.heap
    epilogue = b""
    if body.uses_frame:
        prologue = heap.allocate(e.frame.bytes) + local_set[body.frame] + prologue
        epilogue = local_get[body.frame] + heap.free(e.frame.bytes)
    if polls:
        prologue = poll(e) + prologue
    e.module.builder.define(index, *body.finish(prologue, epilogue))


def _open(e: Emitter, f: Function, callee: Callee) -> Var | None:
    """Says where the parameters are; the variable that holds the address for the results, if there is one."""
    given = [p for p in f.params if p.type is not UNIT]
    large = e.plan.weight > LONGEST
    if large:
        e.inside = PARENT
    in_frame = large or callee.params_in_memory
    for k, p in enumerate(given):
        e.fixed[p] = ~e.frame.slot() if in_frame else k
    if not callee.results_in_memory:
        return None
    area = Var(e.module.address.scalar, "results")
    e.where[area] = e.fixed[area] = ~e.frame.slot() if large else len(callee.signature(e.module.address)[0]) - 1
    return area


def _prologue(e: Emitter, f: Function, callee: Callee, area: Var | None) -> bytes:
    """Puts parameters into the frame; those that come through memory lie in the order of their slots."""
    given = [p for p in f.params if p.type is not UNIT]
    frame = local_get[e.body.frame] if e.body.uses_frame else b""
    code: list[bytes] = []
    if callee.params_in_memory:
        first = e.module.address.moved(~e.fixed[given[0]])
        frame = local_get[e.body.frame]
        code += (frame, first, local_get[0], e.module.address.const[8 * len(given)], memory_copy)
    else:
        for k, p in enumerate(given):
            kind = e.module.address.kind_of(p.type)
            place = e.fixed[p]
            if place < 0 and p in e.where:
                assert kind is not None
                code += (frame, local_get[k], STORES[kind][~place])
    if area is not None and e.where[area] < 0:
        code += (
            local_get[e.body.frame],
            local_get[len(callee.signature(e.module.address)[0]) - 1],
            e.module.address.store[~e.where[area]],
        )
    return b"".join(code)


def _results(e: Emitter, body: Block, callee: Callee, area: Var | None) -> None:
    consume(e, body.results)
    if area is None:
        e.push(body.results)
        return
    results = [r for r in body.results if r.type is not UNIT]
    groups: list[tuple[Item, ...]] = []
    for k, (r, t) in enumerate(zip(results, passed(callee.results), strict=True)):
        kind = e.module.address.kind_of(t)
        assert kind is not None
        groups.append((area, r, STORES[kind][8 * k]))
    e.push_groups(groups)
