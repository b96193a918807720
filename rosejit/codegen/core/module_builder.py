"""What the functions of one module share: the heap, glue, failures, and how every function is called."""

from collections.abc import Sequence
from struct import pack

from rosejit.codegen.core.address_type import NARROW, AddressType, Kind
from rosejit.codegen.core.allocator import DROP, Heap, reserved
from rosejit.codegen.core.emit_traps import Failures
from rosejit.codegen.core.layout import Layouts
from rosejit.codegen.core.type_functions import TypeFunctions
from rosejit.ir.primitive import Instr, Kernel, Primitive, Table
from rosejit.ir.syntax import Function
from rosejit.ir.types import REAL, UNIT, Ref, Scalar, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.ops.kernels import KERNELS, small_kernel
from rosejit.ops.tables import TABLES
from rosejit.span import Span
from rosejit.wasm.instructions import call, f64_load, i64_load
from rosejit.wasm.module import Data, ModuleBuilder
from rosejit.wasm.opcodes import OP

MOST_RESULTS = 8
"""More results go through memory whose address the caller passes behind the arguments."""

MOST_PARAMS = 200
"""More arguments go through memory whose address the caller passes instead."""


@dataclass(slots=True, frozen=True)
class Callee:
    """How a function is called. Values in memory lie 8 bytes apart."""

    index: int
    params: tuple[Type, ...]
    results: tuple[Type, ...]
    """Both without `()`, which is never passed."""

    @classmethod
    def of(cls, f: Function, index: int = -1) -> "Callee":
        """How `f` is called, which is function `index` of the module."""
        return cls(index, passed([p.type for p in f.params]), passed(f.results))

    @property
    def code(self) -> bytes:
        """The call."""
        return call[self.index]

    @property
    def params_in_memory(self) -> bool:
        """Whether the caller passes the address of the arguments."""
        return len(self.params) > MOST_PARAMS

    @property
    def results_in_memory(self) -> bool:
        """Whether the caller passes the address for the results."""
        return len(self.results) > MOST_RESULTS

    @property
    def area(self) -> int:
        """The bytes of memory that a call needs."""
        return 8 * (len(self.params) * self.params_in_memory + len(self.results) * self.results_in_memory)

    def signature(self, address: AddressType) -> tuple[tuple[Kind, ...], tuple[Kind, ...]]:
        """The Wasm types."""
        params = (address.kind,) if self.params_in_memory else address.kinds(self.params)
        if self.results_in_memory:
            return (*params, address.kind), ()
        return params, address.kinds(self.results)


def passed(types: Sequence[Type]) -> tuple[Type, ...]:
    """`types` without `()`."""
    return tuple(t for t in types if t is not UNIT)


def area_of(f: Function) -> int:
    """The bytes of frame that a call of `f` needs; host functions are passed everything directly."""
    return 0 if f.host else Callee.of(f).area


class ModuleContext:
    """The module in the making."""

    def __init__(self, builder: ModuleBuilder, heap_start: int, address: AddressType = NARROW) -> None:
        self.builder = builder
        self.address = address
        self.layouts = Layouts(address)
        self.heap = Heap(builder, heap_start, address)
        self.glue = TypeFunctions(builder, self.heap, self.layouts, address)
        self.codes: dict[Primitive, bytes] = {}
        """What a primitive is behind its operands, where that is all."""
        self.callees: dict[Function, Callee] = {}
        self.worthwhile: dict[Function, bool] = {}
        """Of kernels: whether doing them to two lanes at a time is faster."""
        self.paired: dict[Function, int] = {}
        """The functions that do kernels to two lanes at a time."""
        self.hosts: dict[Function, bytes] = {}
        """The calls of host functions."""
        self.names: dict[int, str] = {}
        """Of functions that users know, by index."""
        self.places: dict[int, Span] = {}
        """Where those are written."""
        self.pending: list[Function] = []
        """Functions that are called but not written yet."""
        self.failures = Failures(builder, address)
        self.constants: dict[bytes, int] = {}
        """The addresses of data."""
        self.end = heap_start + reserved(address)
        """Where the memory ends that has a purpose already."""

    # --- functions

    def callee(self, f: Function) -> Callee:
        """How `f` is called; it is written sooner or later."""
        known = self.callees.get(f)
        if known is None:
            index = self.builder.declare_function(*Callee.of(f).signature(self.address), f.name)
            known = self.callees[f] = Callee.of(f, index)
            self.pending.append(f)
        return known

    def record_function(self, index: int, f: Function) -> None:
        """Note what the Wasm function `index` is to the user: what is derived of a function goes under its name."""
        self.names[index] = f.span.function.rpartition(".")[2] if f.span is not None and f.span.function else f.name
        if f.span is not None:
            self.places[index] = f.span

    # --- primitives

    def code(self, op: Primitive) -> bytes | None:
        """What stands for `op` behind its operands, if that is all there is to it."""
        if op not in self.codes:
            match op.wasm:
                case Instr(names=names) if not op.failure:
                    self.codes[op] = b"".join([OP[name] for name in names])
                case Kernel() if not op.failure and small_kernel(op) is None:
                    self.codes[op] = self.callee(self.kernel(op)).code
                case Table(column=column):
                    row, address = self.row(op.wasm)
                    load = f64_load if op.result is REAL else i64_load
                    self.codes[op] = self.address.of_int + row + load[address + 8 * column]
                case _:
                    return None
        return self.codes[op]

    def kernel(self, op: Primitive) -> Function:
        """The function that computes `op`."""
        assert isinstance(op.wasm, Kernel)
        return KERNELS[op.wasm.name]()

    # --- values

    def constant(self, data: bytes) -> int:
        """The address at which `data` lies when a program starts."""
        address = self.constants.get(data)
        if address is None:
            address = self.constants[data] = -(-self.end // 16) * 16  # so that 16 bytes lie in one line of a cache
            self.end = address + -(-len(data) // 8) * 8
        return address

    def row(self, table: Table) -> tuple[bytes, int]:
        """What takes a number, as addresses are, and leaves how far its row is from the start of the table; where that
        is."""
        rows = TABLES[table.name]()
        address = self.constant(b"".join([pack("<dq", *row) for row in rows]))
        a = self.address
        return a.const[len(rows) - 1] + a.op("and") + a.const[4] + a.shl, address

    def reserve(self, size: int) -> None:
        """Keep the `size` bytes from `end` on, a multiple of 8, for whoever asks."""
        self.end += size

    def finish(self) -> int:
        """Put constants and the start of the heap into the data of the module; the end of them all."""
        for data, address in self.constants.items():
            self.builder.data.append(Data(address, data))
        self.heap.finish(self.end)
        return self.end

    def drop(self, t: Type) -> bytes:
        """Takes a value that nobody needs, and frees it if it is boxed."""
        if isinstance(t, Scalar):
            return b"" if t is UNIT else DROP
        return self.glue.drop(t.target if isinstance(t, Ref) else t)
