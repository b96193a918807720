"""IR functions to an artifact: the call graph, one module, and what the runtime must know of it."""

from collections.abc import Callable, Mapping
from typing import Any

from rosejit.abi import EXCHANGE, Artifact, Import
from rosejit.codegen.core.address_type import NARROW, PAGE, WIDE, AddressType
from rosejit.codegen.core.entry_points import entry_layout, import_of, write_entry, write_releases
from rosejit.codegen.core.function_facts import Plan, plan_function
from rosejit.codegen.core.layout import Layouts, blocks_of
from rosejit.codegen.core.module_builder import ModuleContext, area_of
from rosejit.codegen.loops.unroll_legality import OFTEN
from rosejit.codegen.program.direct_entry import can_be_direct, write_direct_entry
from rosejit.codegen.program.functions import write_function
from rosejit.codegen.program.prebuilt_kernels import written_alone
from rosejit.collector import deep_recursion, paused
from rosejit.errors import RoseMemoryError
from rosejit.ir.syntax import Function
from rosejit.ir.traversal import forms
from rosejit.ir.types import Array, Type
from rosejit.span import Span
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import call
from rosejit.wasm.module import Export, Memory, ModuleBuilder

Plans = dict[Function, Plan]


def compile_program(
    roots: Mapping[str, Function], wide: bool = False
) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
    """One module with an entry for each root, and the host functions that it imports, in order; with addresses of 64
    bits if `wide`. Raises RoseMemoryError for what addresses do not reach."""
    address = WIDE if wide else NARROW
    with paused(), deep_recursion():
        plans, hosts = _plan(roots)
        try:
            return _compiled(roots, plans, hosts, address)
        except RoseMemoryError as error:
            error.span = error.span or _too_large(plans, address)
            raise


def _compiled(
    roots: Mapping[str, Function], plans: Plans, hosts: list[Function], address: AddressType
) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
    builder = ModuleBuilder()
    releases: dict[Type, str] = {}
    borders = [entry_layout(name, f, releases, address) for name, f in roots.items()]
    module = ModuleContext(builder, max((place.end for place in borders), default=EXCHANGE), address)
    imports = _import(module, hosts)
    repeated = _recursive(roots, plans)
    direct = _direct(roots, plans)
    for f in plans:
        if f not in direct:
            module.record_function(module.callee(f).index, f)
    for f, place in zip(roots.values(), borders, strict=True):
        if f in direct:
            write_direct_entry(module, f, plans[f], place)
        else:
            write_entry(module, f, place)
    write_releases(module, releases)
    handles = {slot.release for place in borders for slot in place.entry.results if slot.kind == "handle"}
    if handles or any(slot.kind == "dyn" for place in borders for slot in place.entry.params):
        module.heap.export()
    write_pending(module, plans, repeated)
    add_memory(module)
    artifact = Artifact(
        encode(builder.build()),
        {place.entry.name: place.entry for place in borders},
        imports,
        tuple(module.failures.all),
        module.names,
        module.places,
        bool(repeated) or any(plan.polls for plan in plans.values()),
        bool(repeated),
        tuple(module.failures.values),
        address.wide,
        blocks_of(module.layouts, {t: name for t, name in releases.items() if name in handles}),
    )
    return artifact, tuple(f.host for f in hosts if f.host is not None)


def _too_large(plans: Plans, address: AddressType) -> Span | None:
    """Where a value is made that is too large for a block."""
    layouts = Layouts(address)
    for f in plans:
        for let in forms(f.body) if f.body is not None else ():
            for b in let.binders:
                try:
                    if isinstance(b.type, Array):
                        layouts.of(b.type)
                except RoseMemoryError:
                    return let.span
    return None


def _plan(roots: Mapping[str, Function]) -> tuple[Plans, list[Function]]:
    """The plans of all functions that are called, and the host functions among them."""
    plans: Plans = {}
    hosts: dict[Function, None] = {}
    todo = list(roots.values())[::-1]
    while todo:
        f = todo.pop()
        if f.host is not None:
            hosts[f] = None
        elif f not in plans:
            plans[f] = plan_function(f, area_of)
            todo += reversed(plans[f].calls)
    _count(roots, plans)
    return plans, list(hosts)


def _count(roots: Mapping[str, Function], plans: Plans) -> None:
    """Tell each function how often loops call it, up to `OFTEN`, as a power of two: few values, few visits."""
    todo = [(f, 1) for f in roots.values()]
    seen: set[tuple[Function, int]] = set()
    while todo:
        f, times = todo.pop()
        if f not in plans or (f, times) in seen:
            continue
        seen.add((f, times))
        plans[f].times = max(plans[f].times, times)
        todo += [(g, min(times << (n.bit_length() - 1), OFTEN)) for g, n in plans[f].calls.items()]


def _import(module: ModuleContext, hosts: list[Function]) -> tuple[Import, ...]:
    found: list[Import] = []
    for number, f in enumerate(hosts):
        imported, params, results = import_of(f, module.address)
        index = module.builder.import_function("host", str(number), params, results, f.name)
        module.hosts[f] = call[index]
        module.record_function(index, f)
        found.append(imported)
    return tuple(found)


def _recursive(roots: Mapping[str, Function], plans: Plans) -> set[Function]:
    """Functions without which no function could call itself: those to which a walk comes back while it is in them."""
    found: set[Function] = set()
    state: dict[Function, bool] = {}  # whether the walk is still inside
    stack = [(f, False) for f in roots.values()]
    while stack:
        f, left = stack.pop()
        if left:
            state[f] = False
        elif f not in state:
            state[f] = True
            stack.append((f, True))
            stack += [(g, False) for g in plans[f].calls if g in plans]
        elif state[f]:
            found.add(f)
    return found


def _direct(roots: Mapping[str, Function], plans: Plans) -> set[Function]:
    """The roots that can be entries themselves."""
    called = {f for plan in plans.values() for f in plan.calls}
    once = [f for f in roots.values() if f not in called and list(roots.values()).count(f) == 1]
    return {f for f in once if can_be_direct(f, plans[f])}


def write_pending(module: ModuleContext, plans: Plans, repeated: set[Function]) -> None:
    """Write all functions that are called and not written yet, kernels among them."""
    while module.pending:
        f = module.pending.pop()
        if f in plans:
            write_function(module, f, plans[f], polls=f in repeated)
        else:
            _write_kernel(module, f)


def _write_kernel(module: ModuleContext, f: Function) -> None:
    alone = written_alone(f)
    if alone is not None:
        module.builder.define(module.callee(f).index, alone.locals, (alone.code(module),))
        return
    plan = plan_function(f, area_of)
    plan.kernel = True
    write_function(module, f, plan, polls=False)


def add_memory(module: ModuleContext) -> None:
    """Give the module its memory, when all else is written."""
    end = module.finish()
    a = module.address
    index = module.builder.add_memory(Memory(-(-end // PAGE) + 1, a.pages, a.wide))
    module.builder.exports.append(Export("memory", "memory", index))
