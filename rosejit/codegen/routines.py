"""Routines to an artifact: each a function without parameters, whose arguments and results lie at fixed addresses.

None is entered twice at a time: they do not call themselves, and an instance runs one call at a time.
"""

from dataclasses import dataclass

from rosejit.abi import Artifact
from rosejit.codegen.body import LOADS, Kind, kind_of
from rosejit.codegen.emitter import literal
from rosejit.codegen.entries import Border, border
from rosejit.codegen.module import Module
from rosejit.codegen.parts import ADDRESS, Part, Slot, Writer
from rosejit.codegen.program import add_memory, write_pending
from rosejit.collector import paused
from rosejit.ir.syntax import Lit
from rosejit.ir.types import BOOL
from rosejit.transforms.numbering import Result
from rosejit.transforms.routines import Add, Invoke, Offset, Out, Param, Place, Program, Routine, Step
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import bool_load, call, f64_load, f64_store, i32_const, if_, local_set, memory_fill
from rosejit.wasm.module import Export, ModuleBuilder
from rosejit.wasm.opcodes import OP


def compile_routines(program: Program) -> Artifact:
    """The module with the last routine as its entry `main`."""
    with paused():
        builder = ModuleBuilder()
        f = program.routines[-1].function
        place = border("main", f, {})
        module = Module(builder, place.end)
        linked = _Linked(module, place)
        for routine in program.routines[:-1]:
            linked.write(routine)
        index = linked.whole(program)
        builder.exports.append(Export("main", "func", index))
        write_pending(module, {}, set())
        add_memory(module)
        wasm, entries = encode(builder.build()), {"main": place.entry}
        names, places = module.names, module.places
        return Artifact(wasm, entries, (), (), names, places, lasting=False, recursive=False)


@dataclass(slots=True)
class _Callee:
    """A routine that is written: its function, and where what it takes and gives lies."""

    index: int
    params: list[Slot]
    results: list[Slot]


class _Linked:
    """The routines of one module."""

    def __init__(self, module: Module, place: Border) -> None:
        self.module = module
        self.place = place
        self.callees: dict[Routine, _Callee] = {}

    def write(self, routine: Routine) -> None:
        """Write a routine that others call."""
        params = self.slots([_kind(routine, k) for k in range(len(routine.params))])
        results = self.slots(["f64"] * len(routine.results))
        index = self.function(routine, params, list(zip(routine.results, results, strict=True)))
        self.callees[routine] = _Callee(index, params, results)

    def whole(self, program: Program) -> int:
        """Write the last routine, which is the entry; sums start from zero."""
        homes: list[tuple[int, Slot]] = []
        zeros: list[bytes] = []
        for result, slot in zip(program.results, self.place.entry.results, strict=True):
            if isinstance(result, Result):
                kind = kind_of(result.type)
                assert kind is not None
                homes.append((result.elements[0], Slot.of(kind, slot.offset)))
            else:
                zeros += (i32_const[slot.offset], i32_const[0], i32_const[result], memory_fill)
        index = self.function(program.routines[-1], [], homes)
        builder = self.module.builder
        main = builder.declare_function((), (), program.routines[-1].function.name)
        builder.define(main, (), [*zeros, call[index]])
        return main

    def function(self, routine: Routine, params: list[Slot], homes: list[tuple[int, Slot]]) -> int:
        """The function of a routine."""
        body = _Body(self, params)
        leaves = [body.leaf(leaf) for leaf in routine.leaves]
        forms = {Add: body.add, Invoke: body.invoke, Out: _nothing}
        name = routine.function.name
        index = Writer(self.module, name, routine.code, leaves, homes, routine.acts, forms).write()
        self.module.told(index, routine.function)
        return index

    def slots(self, kinds: list[Kind]) -> list[Slot]:
        """Places that nothing else has."""
        start = self.module.end
        self.module.reserve(8 * len(kinds))
        return [Slot.of(kind, start + 8 * k) for k, kind in enumerate(kinds)]


def _kind(routine: Routine, k: int) -> Kind:
    """What a parameter is: an index is a number of bytes."""
    kind = "i32" if k in routine.strides else kind_of(routine.params[k])
    assert kind is not None
    return kind


def _nothing(part: Part, k: int, step: Step) -> None:
    """The step before has done it."""


class _Body:
    """What is written for the leaves of one routine, and for its steps that are no primitives."""

    def __init__(self, linked: _Linked, params: list[Slot]) -> None:
        self.linked = linked
        self.params = params

    def leaf(self, leaf: object) -> bytes:
        """Leaves a constant, an argument or an element of one."""
        match leaf:
            case Lit():
                return literal(leaf)
            case Offset(bytes=n):
                return i32_const[n]
            case Param(number=k):
                return self.params[k].load
            case _:
                assert isinstance(leaf, Place)
                base, address = self.address(leaf)
                kind = kind_of(leaf.type)
                assert kind is not None
                return base + (bool_load if leaf.type is BOOL else LOADS[kind])[address]

    def address(self, place: Place) -> tuple[bytes, int]:
        """What leaves a part of the address of an element, and the rest of it."""
        entry = self.linked.place.entry
        slot = entry.params[place.array] if place.array >= 0 else entry.results[~place.array]
        return ADDRESS if place.by is None else self.params[place.by].load, slot.offset + place.bytes

    def add(self, part: Part, k: int, step: Step) -> None:
        """Add to an element of a result."""
        add, value = step
        base, address = self.address(add.place)
        part.top = None
        part.out += (base, base, f64_load[address], part.whole.reads[value], OP["f64.add"], f64_store[address])

    def invoke(self, part: Part, k: int, step: Step) -> None:
        """Call a routine, and give its results locals: they are zero where it does not run."""
        invoked, *given = step
        callee = self.linked.callees[invoked.routine]
        out, reads = part.out, part.whole.reads
        part.top = None
        if invoked.side is not None:
            out += (reads[given.pop(0)], b"" if invoked.side else OP["i32.eqz"], if_())
        for a, slot in zip(given, callee.params, strict=True):
            out += (ADDRESS, reads[a], slot.store)
        out.append(call[callee.index])
        found = [k + 1 + n for n in range(len(callee.results)) if part.whole.uses[k + 1 + n]]
        places = {v: part.named() for v in found}
        for v, place in places.items():
            out += (callee.results[v - k - 1].load, local_set[place])
        if invoked.side is not None:
            out.append(OP["end"])
        for v in found:
            part.keep(v, places[v])
