"""An artifact to instances that run on the WebAssembly of the page or of node around Pyodide: the one door to `js`.

Python cannot see the memory of a module there, only copy bytes to it and from it, at a microsecond a time. So an
instance has a mirror of the exchange block, which the layers above read and write; a call of an entry copies the
arguments from it, runs, and copies the results to it. Views of a memory are void once it has grown, and made anew.
"""

import functools
import importlib
import math
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any, Literal

from rosejit.abi import ADDRESS_SPACE, EXCHANGE, FAILURE_NUMBER, Artifact, Element, Import, Slot
from rosejit.errors import RoseMemoryError, WasmTrap
from rosejit.numeric import np
from rosejit.runtime.backend import NO_FAILURE, Fault
from rosejit.runtime.marshalling import convert
from rosejit.runtime.marshalling.host_results import Returned
from rosejit.runtime.residency.memory import numbers
from rosejit.runtime.trampoline import PLACE, trampoline

_LETTERS = {"real": "d", "int": "q", "bool": "i", "array": "I"}
_FRAME = re.compile(r"wasm-function\[(\d+)\]")
_STACK = ("call stack", "too much recursion")  # V8 and WebKit, Firefox


class Browser:
    """The engine of the page."""

    def __init__(self) -> None:
        self.js: Any = importlib.import_module("js")
        self.ffi: Any = importlib.import_module("pyodide.ffi")

    @property
    def identity(self) -> str:
        """Of no use to a file of native code: there is none."""
        return "page"

    @property
    def memory_limit(self) -> int:
        """That of addresses of 32 bits: pages know no others everywhere."""
        return ADDRESS_SPACE[False]

    def compile(self, artifact: Artifact, hosts: Sequence[Callable[..., Any]]) -> "BrowserModule":
        """The page's code for `artifact`. Raises WasmTrap if the engine refuses it."""
        return BrowserModule(self, artifact, hosts, self.module(artifact.wasm))

    def quick(self, artifact: Artifact, hosts: Sequence[Callable[..., Any]]) -> None:
        """Nothing: engines of pages begin with quick code, and go on to better code, by themselves."""

    def restore(
        self, data: bytes, size: int, artifact: Artifact, hosts: Sequence[Callable[..., Any]], quick: bool = False
    ) -> "BrowserModule":
        """As `compile`: the page keeps its native code to itself."""
        return self.compile(artifact, hosts)

    def module(self, wasm: bytes) -> Any:
        """The `WebAssembly.Module` of some bytes."""
        try:
            return self.js.WebAssembly.Module.new(self.ffi.to_js(wasm))
        except self.ffi.JsException as error:
            raise WasmTrap(f"the engine refuses the module: {error.message}") from None

    def exports(self, module: Any, imports: dict[str, dict[str, Any]]) -> Any:
        """The exports of a new instance."""
        given = self.ffi.to_js(imports, dict_converter=self.js.Object.fromEntries)
        try:
            return self.js.WebAssembly.Instance.new(module, given).exports
        except self.ffi.JsException as error:
            if "memory" in error.message.lower():
                raise RoseMemoryError(f"no memory for the compiled code: {error.message}") from None
            raise WasmTrap(f"the engine refuses the module: {error.message}") from None


backend = functools.cache(Browser)
"""The engine, made when it is first asked for."""


class BrowserModule:
    """Code of the page, and what stands between it and the host functions."""

    def __init__(self, page: Browser, artifact: Artifact, hosts: Sequence[Callable[..., Any]], code: Any) -> None:
        self.page = page
        self.artifact = artifact
        self.hosts = hosts
        self.code = code
        self.between = page.module(trampoline(artifact.imports)) if artifact.imports else None
        slots = [slot for entry in artifact.entries.values() for slot in (*entry.params, *entry.results)]
        end = max((slot.offset + slot.bytes for slot in slots), default=EXCHANGE)
        self.end = -(-end // 8) * 8
        """Where the exchange block ends."""

    def serialize(self) -> bytes:
        """Nothing: see `Browser.restore`."""
        return b""

    def unload(self) -> None:
        """Nothing: the page's engine sees to its code."""

    def instantiate(self) -> "Instance":
        """A fresh instance."""
        return Instance(self)


class Instance:
    """A module with a memory of its own, and the mirror of its beginning."""

    def __init__(self, module: BrowserModule) -> None:
        self._module = module
        self._page = module.page
        self.trap: object = None  # the status says it all
        self.usable = True
        self.wide, self.limit = False, ADDRESS_SPACE[False]
        self.stack = 0
        self._error: Any = None
        self._hosts = _Hosts(module) if module.between else None
        imports = self._hosts.imports if self._hosts else {}
        self._exports = self._page.exports(module.code, imports)
        self.memory = _Memory(self._page, self._exports.memory)
        if self._hosts:
            self._hosts.memory = self.memory
        self.octets = memoryview(bytearray(module.end))
        self.reals, self.ints, self.words = numbers(self.octets)
        self._header = self._window(0, EXCHANGE)
        self.recover()

    def entry(self, name: str) -> Callable[[], int]:
        """The raw call of an export `() -> ()`; gives 1 if it fails."""
        entry, run = self._module.artifact.entries[name], getattr(self._exports, name)
        send = [self._window(*_extent(entry.params)).push] if entry.params else []
        receive = [self._window(*_extent(entry.results)).pull] if entry.results else []
        steps = (*send, run, *receive)

        def call() -> int:
            try:
                for step in steps:
                    step()
            except Exception as error:  # of JavaScript, and what a host function raised
                self._error = error
                return 1
            return 0

        return call

    def array(self, address: int, shape: tuple[int, ...], element: Element) -> Any:
        """The elements at `address` of the mirror."""
        count, numpy = math.prod(shape), _numpy()
        if not count:
            return numpy.zeros(shape, convert.dtype(element))
        return numpy.frombuffer(self.octets, convert.dtype(element), count, address).reshape(shape)

    def allocate(self, size: int) -> int:
        """The address of a block of memory of the module."""
        try:
            return self._exports.allocate(size) & 0xFFFFFFFF
        except self._page.ffi.JsException:
            self.usable = False
            raise RoseMemoryError(
                f"the memory of the compiled code is exhausted: {size:,} bytes were asked for"
            ) from None

    def release(self, name: str, address: int) -> None:
        """Call the export `name(address: i32)`."""
        try:
            getattr(self._exports, name)(address)
        except self._page.ffi.JsException:
            self.usable = False

    def fault(self, status: int) -> Fault:
        """Why the last call failed."""
        error, self._error = self._error, None
        self._header.pull()
        if not isinstance(error, (self._page.ffi.JsException, RecursionError)):
            raise error
        message = str(getattr(error, "message", error))
        functions = tuple(map(int, _FRAME.findall(str(getattr(error, "stack", "")))))
        return Fault(_kind(message, error), message, functions)

    def take_raised(self, status: int) -> BaseException | None:
        """What a host function raised in the last call."""
        if self._hosts is None:
            return None
        raised, self._hosts.raised = self._hosts.raised, None
        return raised

    def recover(self) -> None:
        """Be ready for a call although an earlier one failed."""
        self.octets[:EXCHANGE] = bytes(EXCHANGE)
        self.words[FAILURE_NUMBER // 4] = NO_FAILURE
        self._header.push()

    def interrupt(self, now: bool = True) -> None:
        """Nothing: there is one thread, and it is in the call. A page ends the worker."""

    def _window(self, start: int, end: int) -> "_Window":
        return _Window(self._page, self.memory, self.octets[start:end], start)


def _numpy() -> Any:
    return np  # its stubs for `frombuffer` want a newer Python than ours


def _extent(slots: Sequence[Slot]) -> tuple[int, int]:
    return min(slot.offset for slot in slots), max(slot.offset + slot.bytes for slot in slots)


def _kind(message: str, error: Any) -> Literal["unreachable", "stack", "other"]:
    text = message.lower()
    if isinstance(error, RecursionError) or any(known in text for known in _STACK):
        return "stack"
    return "unreachable" if "unreachable" in text else "other"


class _Memory:
    """A `WebAssembly.Memory`, as bytes that are copied."""

    def __init__(self, page: Browser, memory: Any) -> None:
        self._page = page
        self._memory = memory

    def view(self, address: int, size: int) -> Any:
        """An `Uint8Array`, until the memory grows."""
        return self._page.js.Uint8Array.new(self._memory.buffer, address, size)

    def fetch(self, address: int, size: int) -> bytearray:
        data = bytearray(size)
        if size:
            self.view(address, size).assign_to(data)
        return data

    def store(self, address: int, data: Any) -> None:
        if len(data):
            self.view(address, len(data)).assign(data)

    def size(self) -> int:
        return self._memory.buffer.byteLength


class _Window:
    """Bytes of a mirror, and the same bytes of the memory."""

    def __init__(self, page: Browser, memory: _Memory, mirror: memoryview, start: int) -> None:
        self._error = page.ffi.JsException
        self._memory = memory
        self._mirror = mirror
        self._start = start
        self._open()

    def push(self) -> None:
        """Copy the mirror to the memory."""
        try:
            self._view.assign(self._mirror)
        except self._error:
            self._open()
            self._view.assign(self._mirror)

    def pull(self) -> None:
        """Copy the memory to the mirror."""
        try:
            self._view.assign_to(self._mirror)
        except self._error:
            self._open()
            self._view.assign_to(self._mirror)

    def _open(self) -> None:
        self._view = self._memory.view(self._start, len(self._mirror))


class _Hosts:
    """The host functions of one instance. It is known to JavaScript, so it knows nothing that JavaScript keeps alive
    but the memories."""

    def __init__(self, module: BrowserModule) -> None:
        self.raised: BaseException | None = None
        self.memory: Any = None
        callbacks = zip(module.artifact.imports, module.hosts, strict=True)
        hosts = {str(k): self._callback(imported, host) for k, (imported, host) in enumerate(callbacks)}
        exports = module.page.exports(module.between, {"host": hosts})
        self._places = _Memory(module.page, exports.memory)
        self.imports = {"host": {name: getattr(exports, name) for name in hosts}}

    def _callback(self, imported: Import, function: Callable[..., Any]) -> Callable[[], None]:
        returned, addresses = Returned(imported), [s for s in imported.results if s.kind == "array"]
        taken = struct.Struct("<" + "".join(_place(slot) for slot in (*imported.params, *addresses)))

        def callback() -> None:
            try:
                values = taken.unpack(self._places.fetch(0, taken.size))
                arguments = [self._given(s, v) for s, v in zip(imported.params, values, strict=False)]
                self._give(imported, returned, function(*arguments), values[len(arguments) :])
            except BaseException as error:
                self.raised = error
                raise WasmTrap("a host function raised") from None

        return callback

    def _given(self, slot: Slot, value: Any) -> Any:
        """An argument of a host function; arrays arrive as copies that cannot be written."""
        if slot.kind != "array":
            return value != 0 if slot.kind == "bool" else value
        numpy = _numpy()
        elements = numpy.frombuffer(self.memory.fetch(value, slot.bytes), convert.dtype(slot.element))
        elements = elements.reshape(slot.shape)
        elements.flags.writeable = False
        return elements

    def _give(self, imported: Import, returned: Returned, result: Any, addresses: Sequence[int]) -> None:
        slots = imported.results
        values = [result] if len(slots) == 1 else returned.several(result) if slots else []
        places, data = iter(addresses), b""
        for slot, value in zip(slots, values, strict=True):
            if slot.kind == "array":
                self.memory.store(next(places), returned.array(value, slot).tobytes())
            else:
                data += struct.pack("<" + _place(slot), returned.convert(slot.kind, value))
        self._places.store(0, data)


def _place(slot: Slot) -> str:
    """The format of a value in its place."""
    letter = _LETTERS[slot.kind]
    return letter + "x" * (PLACE - struct.calcsize("<" + letter))
