"""Straight-line programs to an artifact: each routine is a Wasm function without parameters, and what it takes and
gives lies in globals.

None is entered twice at a time: they do not call themselves, and an instance runs one call at a time.
"""

from collections.abc import Iterator
from itertools import chain, count

from rosejit.abi import Artifact
from rosejit.codegen.core.address_type import KINDS, Kind
from rosejit.codegen.core.emitter import literal
from rosejit.codegen.core.entry_points import EntryLayout, entry_layout
from rosejit.codegen.core.function_body import LOADS, STORES
from rosejit.codegen.core.module_builder import ModuleContext
from rosejit.codegen.program.compile import add_memory
from rosejit.codegen.straightline.emit import ADDRESS, StraightLineEmitter, StraightLineModule
from rosejit.codegen.straightline.schedule import Steps
from rosejit.collector import paused
from rosejit.ir.syntax import Lit
from rosejit.ir.types import BOOL, Scalar, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.transforms.straightline.routine_ir import (
    AccumulatedElement,
    Action,
    AddToElement,
    ByteOffset,
    CallRoutine,
    ElementAddress,
    GetResult,
    Guard,
    Leaf,
    ParameterLeaf,
    ResultNumbers,
    Routine,
    RoutineProgram,
    SetArgument,
    ZeroIfSkipped,
)
from rosejit.transforms.straightline.value_numbering import Step
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import (
    bool_load,
    call,
    f64_const,
    f64_load,
    f64_store,
    global_get,
    global_set,
    i32_const,
    i64_const,
    if_,
    memory_fill,
)
from rosejit.wasm.module import Export, ModuleBuilder
from rosejit.wasm.opcodes import OP

_ROUND = 4096
"""The constants of kernels begin at a multiple of it: kernels are written once for each place."""
_ZEROS: dict[Kind, bytes] = {"f64": f64_const(0.0), "i64": i64_const[0], "i32": i32_const[0]}
_BEHIND: dict[type, int] = {SetArgument: 2, CallRoutine: 1, ZeroIfSkipped: 1, GetResult: 1}
"""With so many operands an action stands behind the last one."""


def compile_routines(program: RoutineProgram) -> Artifact:
    """The module with the last routine as its entry `main`."""
    with paused():
        builder = ModuleBuilder()
        f = program.routines[-1].function
        place = entry_layout("main", f, {})
        module = ModuleContext(builder, -(-place.end // _ROUND) * _ROUND)
        index = _RoutineModule(module, place, program).write()
        builder.exports.append(Export("main", "func", index))
        add_memory(module)
        wasm, entries = encode(builder.build()), {"main": place.entry}
        names, places = module.names, module.places
        return Artifact(wasm, entries, (), (), names, places, lasting=False, recursive=False)


@dataclass(slots=True, eq=False)
class _Store:
    """A step that puts its last operand where a result lies."""

    code: bytes


class _RoutineModule:
    """The routines of one module: their steps side by side, what they take and give in globals."""

    def __init__(self, module: ModuleContext, place: EntryLayout, program: RoutineProgram) -> None:
        self.module, self.place, self.program = module, place, program
        self.actions: list[Action | _Store] = [*program.actions]
        self.params: dict[Routine, list[int]] = {}
        """The globals of the parameters of each routine."""
        self.results: dict[Routine, list[int]] = {}
        """The globals of its results."""
        self.codes: list[list[Step]] = []
        self.leaves: list[list[bytes]] = []
        self.needed: list[int] = []
        """The steps that matter."""
        self.held: dict[int, int] = {}
        self.homes: dict[int, int] = {}
        """The values that are results, and where they lie: in globals, or in memory those of the whole."""
        self.before = 0
        """So many steps have the routines so far."""

    def write(self) -> int:
        """The index of the entry; sums start from zero there."""
        *others, whole = self.program.routines
        for routine in others:
            self.routine(routine)
        zeros = self.whole(whole)
        given = StraightLineModule(
            Steps(
                list(chain.from_iterable(self.codes)),
                list(map(len, self.codes)),
                list(map(len, self.leaves)),
                np.array(self.needed, np.int64),
                np.array([_BEHIND.get(type(action), -1) for action in self.actions], np.int64),
            ),
            [routine.function.name for routine in self.program.routines],
            list(chain.from_iterable(self.leaves)),
            self.done,
            np.array([type(action) is GetResult for action in self.actions], bool),
            self.held,
            self.homes,
        )
        writer = StraightLineEmitter(self.module, given)
        index = writer.write()
        for routine, function in zip(self.program.routines, writer.functions, strict=True):
            self.module.record_function(function, routine.function)
        if zeros:
            builder = self.module.builder
            main = builder.declare_function((), (), whole.function.name)
            builder.define(main, (), [*zeros, call[index]])
            self.module.record_function(main, whole.function)
            return main
        return index

    def routine(self, routine: Routine) -> None:
        """Add a routine that others call."""
        kinds: list[Kind] = ["i32" if k in routine.strides else _kind(t) for k, t in enumerate(routine.params)]
        free = {kind: self.globals(kind, kinds.count(kind)) for kind in dict.fromkeys(kinds)}
        self.params[routine] = [next(free[kind]) for kind in kinds]
        self.results[routine] = places = [*self.globals("f64", len(routine.results))]
        code = self.code(routine)
        for a, place in zip(routine.results, places, strict=True):
            self.place_result(code, a, (self.held, place), _Store(global_set[place]))
        self.before += len(code)

    def globals(self, kind: Kind, number: int) -> Iterator[int]:
        """So many new globals."""
        first = self.module.builder.add_global(kind, _ZEROS[kind], count=number)
        return iter(range(first, first + number))

    def whole(self, routine: Routine) -> list[bytes]:
        """Add the last routine; what makes its sums zero."""
        self.params[routine] = []
        code, zeros = self.code(routine), list[bytes]()
        address = ~len(routine.leaves)
        self.leaves[-1].append(ADDRESS)
        for result, slot in zip(self.program.results, self.place.entry.results, strict=True):
            if not isinstance(result, ResultNumbers):
                zeros += (i32_const[slot.offset], i32_const[0], i32_const[result], memory_fill)
                continue
            store = STORES[_kind(result.type)]
            for a, at in zip(result.elements, count(slot.offset, 8), strict=False):
                self.place_result(code, a, (self.homes, at), _Store(store[at]), address)
        return zeros

    def code(self, routine: Routine) -> list[Step]:
        """The steps of a routine, to which more may be added."""
        params, code = self.params[routine], [*routine.code]
        self.codes.append(code)
        self.leaves.append([self.leaf(leaf, params) for leaf in routine.leaves])
        self.needed += [self.before + k for k in routine.acts]
        return code

    def place_result(
        self, code: list[Step], a: int, home: tuple[dict[int, int], int], store: _Store, *front: int
    ) -> None:
        """The value `a` is a result: made where that lies, or put there if it is no step, or a result already."""
        places, place = home
        value = self.before + a
        if a < 0 or value in places:
            value = self.before + len(code)
            code.append((~len(self.actions), *front, a))
            self.actions.append(store)
        else:
            places[value] = place
        self.needed.append(value)

    # --- code

    def leaf(self, leaf: Leaf, params: list[int]) -> bytes:
        """Leaves a constant, an argument or an element of one."""
        match leaf:
            case Lit():
                return literal(leaf)
            case ParameterLeaf(number=k):
                return global_get[params[k]]
            case ElementAddress():
                base, address = self.address(leaf, params)
                return base + (bool_load if leaf.type is BOOL else LOADS[_kind(leaf.type)])[address]
            case ByteOffset(bytes=n):
                return i32_const[n]
            case AccumulatedElement(place=place):
                base, address = self.address(place, params)
                return base + base + f64_load[address]

    def address(self, place: ElementAddress, params: list[int]) -> tuple[bytes, int]:
        """What leaves a part of the address of an element, and the rest of it."""
        return ADDRESS if place.by is None else global_get[params[place.by]], self.offset(place)

    def offset(self, place: ElementAddress) -> int:
        """How far an element is from what its parameter says."""
        entry = self.place.entry
        slot = entry.params[place.array] if place.array >= 0 else entry.results[~place.array]
        return slot.offset + place.bytes

    def done(self, functions: list[int]) -> list[bytes]:
        """What each action does with its operands; `functions` are the indices of the routines."""
        indices = dict(zip(self.program.routines, functions, strict=True))
        known = {action: self.action(action, indices) for action in dict.fromkeys(self.actions)}
        return [known[action] for action in self.actions]

    def action(self, action: Action | _Store, indices: dict[Routine, int]) -> bytes:
        """Of one action."""
        match action:
            case SetArgument(routine=routine, number=k):
                return global_set[self.params[routine][k]]
            case GetResult(routine=routine, number=k):
                return global_get[self.results[routine][k]]
            case CallRoutine(routine=routine):
                return call[indices[routine]]
            case AddToElement(place=place):
                return OP["f64.add"] + f64_store[self.offset(place)]
            case Guard(side=side):
                return (b"" if side else OP["i32.eqz"]) + if_()
            case ZeroIfSkipped(routine=routine):
                zeros = [_ZEROS["f64"] + global_set[place] for place in self.results[routine]]
                return b"".join([*([OP["else"]] if zeros else []), *zeros, OP["end"]])
            case _Store(code=code):
                return code


def _kind(t: Type) -> Kind:
    """Of a scalar, or of the elements of an array of Reals."""
    kind = KINDS[t] if isinstance(t, Scalar) else "f64"
    assert kind is not None
    return kind
