"""Runs artifacts on the engine directly, and compares with the interpreter: results to the bit, failures, leaks."""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import wasmtime

from rosejit import interp
from rosejit.abi import FAILURE_NUMBER, FAILURE_VALUES, INTERRUPT_FLAG, Slot
from rosejit.codegen.core.address_type import AddressType
from rosejit.codegen.core.entry_points import entry_layout
from rosejit.codegen.core.layout import Cell, Column, Layout, Layouts, Record, Rows, Union
from rosejit.codegen.program.compile import compile_program
from rosejit.ir.failure import failure_error
from rosejit.ir.syntax import Function
from rosejit.ir.types import UNIT, Nominal, Type
from rosejit.ir.verify import verify_program
from rosejit.text import parse
from tests.backends import ADDRESS

_config = wasmtime.Config()
_config.max_wasm_stack = 1 << 20
_config.wasm_memory64 = True
ENGINE = wasmtime.Engine(_config)

FORMAT = {"real": "<d", "int": "<q", "bool": "<?"}


def same(a: Any, b: Any) -> bool:
    """Whether two results have the same bits; NaNs are all alike."""
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack("<d", a) == struct.pack("<d", b) or (a != a and b != b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and a == b


def agrees(f: Function | str, *calls: tuple[Any, ...], turns: int = 3) -> "Machine":
    """Check `f` on all arguments: the bits of the interpreter, and nothing left in the heap."""
    if isinstance(f, str):
        f = parse(f)
    verify_program(f)
    machine = Machine(f)
    for args in calls:
        expected = interp.run(f, args)
        assert same(machine(*args), expected), f"{machine(*args)} instead of {expected}"
        given = any(slot.kind in ("dyn", "handle") for slot in machine.artifact.entries["main"].params)
        top = machine.top
        for _ in range(turns):
            machine(*args)
        assert given or machine.top == top, "the heap grows with every call"
    return machine


def fails(f: Function | str, *args: Any) -> "Failed":
    """What `f` fails with; the interpreter must fail there too, with the same message."""
    if isinstance(f, str):
        f = parse(f)
    verify_program(f)
    machine = Machine(f)
    with pytest.raises(Failed) as caught:
        machine(*args)
    with pytest.raises(Exception) as expected:
        interp.run(f, args)
    failed = caught.value
    failure = machine.artifact.failures[failed.number]
    values = list(failed.values)
    if failure.kind == "index" and values[0] < 0:
        values[0] -= values[1]  # as it is shown to users: what staged code does with negative indices is undone
    error = failure_error(failure, values)
    assert (type(error), str(error)) == (type(expected.value), str(expected.value))
    return failed


class Failed(Exception):
    """A program failed: the number of the failure and the words at FAILURE_VALUES."""

    def __init__(self, number: int, values: list[Any], trap: str) -> None:
        super().__init__(f"failure {number} {values}: {trap}")
        self.number = number
        self.values = values
        self.trap = trap


class Machine:
    """One instance of a compiled program."""

    def __init__(self, roots: Mapping[str, Function] | Function, address: AddressType = ADDRESS) -> None:
        if isinstance(roots, Function):
            roots = {"main": roots}
        self.roots = roots
        self.artifact, hosts = compile_program(roots, address.wide)
        self.address = address
        self.word = "<Q" if address.wide else "<I"
        self.store = wasmtime.Store(ENGINE)
        module = wasmtime.Module(ENGINE, self.artifact.wasm)
        imports = [
            wasmtime.Func(self.store, module.imports[k].type, self._host(host, k)) for k, host in enumerate(hosts)
        ]
        self.exports = wasmtime.Instance(self.store, module, imports).exports(self.store)
        self.memory = self.exports["memory"]
        self.layouts = Layouts(address)
        self.open_residuals = True
        """Whether residuals are given as tuples and freed, or as addresses."""
        self._top = max(entry_layout(name, f, {}).end for name, f in roots.items())
        self._top += address.bytes * address.classes

    def _host(self, host: Callable[..., Any], number: int) -> Callable[..., Any]:
        imported = self.artifact.imports[number]

        def called(*args: Any) -> Any:
            count = len(imported.params)
            given = [
                bool(a) if s.kind == "bool" else self._array(a, s) if s.kind == "array" else a
                for s, a in zip(imported.params, args[:count], strict=True)
            ]
            result = host(*given)
            results = [result] if len(imported.results) == 1 else list(result or ())
            places = list(args[count:])
            returned = []
            for slot, value in zip(imported.results, results, strict=True):
                if slot.kind == "array":
                    self.write_array(places.pop(0), slot, value)
                else:
                    returned.append(int(value) if slot.kind == "bool" else value)
            return None if not returned else returned[0] if len(returned) == 1 else returned

        return called

    # --- memory

    def read(self, offset: int, form: str) -> Any:
        return struct.unpack(form, self.memory.read(self.store, offset, offset + struct.calcsize(form)))[0]

    def write(self, offset: int, form: str, value: Any) -> None:
        self.memory.write(self.store, struct.pack(form, value), offset)

    def _array(self, address: int, slot: Slot, shape: tuple[int, ...] | None = None) -> Any:
        shape = slot.shape if shape is None else shape
        form = FORMAT[slot.element]
        if not shape:
            return self.read(address, form)
        size = struct.calcsize(form)
        for n in shape[1:]:
            size *= n
        return [self._array(address + size * i, slot, shape[1:]) for i in range(shape[0])]

    def write_array(self, address: int, slot: Slot, value: Any) -> int:
        if not isinstance(value, (list, tuple)):
            self.write(address, FORMAT[slot.element], value)
            return address + struct.calcsize(FORMAT[slot.element])
        for item in value:
            address = self.write_array(address, slot, item)
        return address

    @property
    def top(self) -> int:
        """How far the heap has grown."""
        return self.read(self._top, self.word)

    def room(self, size: int) -> int:
        """Memory of our own, behind all blocks."""
        address = self.top
        while address + size > self.memory.data_len(self.store):
            self.memory.grow(self.store, 1)
        self.write(self._top, self.word, address + -(-size // 8) * 8)
        return address

    def put(self, t: Type, value: Any) -> int:
        """The address of a block that holds a boxed value."""
        address = self.room(self.layouts.of(t).bytes)
        self._fill(address, self.layouts.of(t), value)
        return address

    def _fill(self, address: int, layout: Layout, value: Any) -> None:
        match layout.parts:
            case Record(cells=cells, offsets=offsets):
                for cell, offset, item in zip(cells, offsets, value, strict=True):
                    self._fill_cell(address + offset, cell, item)
            case Rows(cell=cell, stride=stride):
                for i, item in enumerate(value):
                    self._fill_cell(address + i * stride, cell, item)
            case Column(cell=cell, stride=stride):
                data = self.room(stride * len(value))
                for i, item in enumerate(value):
                    self._fill_cell(data + i * stride, cell, item)
                for offset, word in ((0, data), (1, len(value)), (2, stride * len(value))):
                    self.write(address + offset * self.address.bytes, self.word, word)
            case Union(cells=cells, tag=tag):
                self.write(address + tag, "<B", value[0])
                self._fill_cell(address, cells[value[0]], value[1])

    def _fill_cell(self, address: int, cell: Cell, value: Any) -> None:
        if cell.kind == "inline":
            self._fill(address, self.layouts.of(cell.type), value)
        elif cell.kind == "address":
            self.write(address, self.word, self.put(cell.type, value))
        elif cell.kind != "nothing":
            self.write(address, FORMAT[cell.kind], value)

    def get(self, t: Type, address: int) -> Any:
        """The boxed value in a block."""
        layout = self.layouts.of(t)
        match layout.parts:
            case Record(cells=cells, offsets=offsets):
                return tuple(self._cell(address + o, cell) for cell, o in zip(cells, offsets, strict=True))
            case Rows(cell=cell, stride=stride, length=length):
                return [self._cell(address + i * stride, cell) for i in range(length)]
            case Column(cell=cell, stride=stride):
                data, length = self.read(address, self.word), self.read(address + self.address.length, self.word)
                return [self._cell(data + i * stride, cell) for i in range(length)]
            case Union(cells=cells, tag=tag):
                side = self.read(address + tag, "<B")
                return side, self._cell(address, cells[side])

    def _cell(self, address: int, cell: Cell) -> Any:
        if cell.kind == "inline":
            return self.get(cell.type, address)
        if cell.kind == "address":
            return self.get(cell.type, self.read(address, self.word))
        return None if cell.kind == "nothing" else self.read(address, FORMAT[cell.kind])

    # --- calls

    def call(self, name: str, *args: Any) -> tuple[Any, ...]:
        """The results of an entry, those that the host would own read and freed."""
        entry, f = self.artifact.entries[name], self.roots[name]
        given = [(p, value) for p, value in zip(f.params, args, strict=True) if p.type is not UNIT]
        for slot, (p, value) in zip(entry.params, given, strict=True):
            if slot.kind == "array":
                self.write_array(slot.offset, slot, value)
            elif slot.kind in FORMAT:
                self.write(slot.offset, FORMAT[slot.kind], value)
            else:
                self.write(slot.offset, self.word, value if type(value) is int else self.put(p.type, value))
        try:
            self.exports[name](self.store)
        except wasmtime.Trap as trap:
            if "unreachable" not in str(trap):
                raise Failed(0, [], str(trap)) from None
            number = self.read(FAILURE_NUMBER, "<i")
            kinds = self.artifact.failure_values[number] if number >= 0 else ("int",)
            forms = {"real": "<d", "int": "<q", "bool": "<q"}
            values = [self.read(FAILURE_VALUES + 8 * k, forms[kind]) for k, kind in enumerate(kinds)]
            told = [bool(v) if kind == "bool" else v for v, kind in zip(values, kinds, strict=True)]
            raise Failed(number, told, str(trap)) from None
        slots = iter(entry.results)
        return tuple(None if t is UNIT else self._result(next(slots), t) for t in f.results)

    def _result(self, slot: Slot, t: Type) -> Any:
        if slot.kind == "array":
            return self._array(slot.offset, slot)
        if slot.kind in FORMAT:
            return self.read(slot.offset, FORMAT[slot.kind])
        address = self.read(slot.offset, self.word)
        if isinstance(t, Nominal) and not self.open_residuals:
            return address
        value = self.get(t, address)
        self.release(slot, address)
        return value

    def release(self, slot: Slot, address: int) -> None:
        self.exports[slot.release](self.store, address)

    def interrupt(self) -> None:
        self.write(INTERRUPT_FLAG, "<i", 1)

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        (name,) = self.roots
        return self.call(name, *args)
