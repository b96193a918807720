"""An artifact to instances that run: the one door to wasmtime.

`Func.__call__` of wasmtime-py takes 24 µs and its typed wrappers 1.2; a bare foreign function with prepared references
0.25. Two things follow: a trap must be read and freed by hand, and the values of a call cross in linear memory, at
addresses that never move (4 GiB are reserved for each memory).
"""

import ctypes
import functools
import math
import os
import re
import struct
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import ADDRESS_SPACE, EXCHANGE, FAILURE_NUMBER, INTERRUPT_FLAG, Artifact, Element
from rosejit.errors import RoseMemoryError, WasmTrap
from rosejit.numeric import np
from rosejit.processor import PROCESSOR
from rosejit.runtime import host_callbacks as host_functions
from rosejit.runtime import wasmtime_library as wasmtime
from rosejit.runtime.backend import NO_FAILURE, Fault
from rosejit.runtime.marshalling.convert import dtype
from rosejit.runtime.marshalling.host_results import signature
from rosejit.runtime.residency.memory import CopiedMemory, numbers, octets_at
from rosejit.runtime.residency.memory_limit import memory_limit
from rosejit.runtime.residency.stack_limit import LEAST, MODEST, MOST, here

_HOST_TRAP = b"a host function raised", 22
_FRAMES = 20  # of Python, that `wasmtime_library` may need
_HAS_WINCH = PROCESSOR in ("x86_64", "AMD64")
"""Whether wasmtime has a second compiler for this machine, complete enough for our modules. Where it has none, making
its engine would end the process."""

_LIFE = compile("", __file__, "exec")
"""Copies of it live as long as an instance. A store must outlive the finalizers of all that may call its instance,
which the cyclic garbage collector runs in no order, on all objects it looks at; a code object is none of these, and
yet there are weak references to it."""
_FAULTS: dict[int | None, Any] = {wasmtime.UNREACHABLE: "unreachable", wasmtime.STACK_OVERFLOW: "stack"}

# What an instance and the engine (and host functions, hosts.py) tell each other, as 8-byte numbers.
_TRAP, _BASE, _SPARE, _STORE, _ARGUMENT = host_functions.TRAP, host_functions.BASE, host_functions.SPARE, 3, 4
_CONTROL_SIZE = 48


def _version() -> str:
    """That of the package that was imported, by the folder beside it: Python's own way takes 20 ms."""
    names = os.listdir(os.path.dirname(wasmtime.folder()))
    found = [name for name in names if name.startswith("wasmtime-") and name.endswith(".dist-info")]
    if len(found) == 1:
        return found[0].removeprefix("wasmtime-").removesuffix(".dist-info")
    from importlib.metadata import version

    return version("wasmtime")


class Wasmtime:
    """The engines of this process: for each share of the stack one of either compiler."""

    def __init__(self) -> None:
        self._engines: dict[tuple[bool, int, bool], wasmtime.Engine] = {}
        self._parallel = True
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    @functools.cached_property
    def identity(self) -> str:
        """Engine, version and platform."""
        return f"wasmtime {_version()} {sys.platform} {PROCESSOR}"

    @property
    def memory_limit(self) -> int:
        """The bytes that the memory of an instance may have now."""
        return memory_limit()

    def compile(self, artifact: Artifact, hosts: Sequence[Callable[..., Any]]) -> "NativeModule":
        """Native code for `artifact`. Raises WasmTrap if the engine refuses it."""
        code = _native(self.engine(_stack(artifact), wide=artifact.wide), artifact)
        _check(artifact, code.exports())
        return NativeModule(self, artifact, hosts, code)

    def quick(self, artifact: Artifact, hosts: Sequence[Callable[..., Any]]) -> "NativeModule | None":
        """Native code for `artifact` of the compiler that does not optimise; None where that knows not all of it."""
        if not _HAS_WINCH or artifact.wide:  # that runs for long anyway
            return None
        try:
            code = wasmtime.Module.compiled(self.engine(_stack(artifact), quick=True), artifact.wasm)
        except wasmtime.Refusal:
            return None
        _check(artifact, code.exports())
        return NativeModule(self, artifact, hosts, code, quick=True)

    def restore(
        self, data: bytes, size: int, artifact: Artifact, hosts: Sequence[Callable[..., Any]], quick: bool = False
    ) -> "NativeModule | None":
        """The module whose native code is the first `size` bytes of `data`.

        Mapping the file would be faster (1.4 against 0.04 ms for 100,000 operations), but who shortens it afterwards
        would end the process.
        """
        if quick and not _HAS_WINCH:
            return None
        try:
            code = wasmtime.Module.restored(self.engine(_stack(artifact), quick, artifact.wide), data, size)
        except wasmtime.Refusal:
            return None
        return NativeModule(self, artifact, hosts, code, quick)

    def engine(self, stack: int, quick: bool = False, wide: bool = False) -> wasmtime.Engine:
        """The engine whose code may take `stack` bytes of a thread's stack, and has addresses of 64 bits if `wide`."""
        key = quick, stack, wide
        return self._engines.get(key) or self._engines.setdefault(key, self._make(*key))

    def _make(self, quick: bool, stack: int, wide: bool) -> wasmtime.Engine:
        assert LEAST <= stack <= MOST, stack  # wrong values end the process, not the call
        reservation = ADDRESS_SPACE[True] if wide else 0
        return wasmtime.Engine(stack, quick=quick, parallel=self._parallel, reservation=reservation)

    def _forget(self) -> None:
        """In the child of a fork, where the threads that compile in parallel do not exist."""
        self._engines.clear()
        self._parallel = False


backend = functools.cache(Wasmtime)
"""The engines of this process, made when they are first asked for."""


def _stack(artifact: Artifact) -> int:
    return here.share if artifact.recursive else MODEST


def _native(engine: wasmtime.Engine, artifact: Artifact) -> wasmtime.Module:
    """Native code for `artifact`. Raises WasmTrap if the engine refuses it."""
    try:
        return wasmtime.Module.compiled(engine, artifact.wasm)
    except wasmtime.Refusal as error:
        raise WasmTrap(f"the engine refuses the module: {_reason(error)}") from None


def _check(artifact: Artifact, exports: dict[str, tuple[int, ...]]) -> None:
    """That the module has what the artifact says: raw calls and raw memory would not notice."""
    memory = exports.get("memory", (-1,))
    slots = [slot for entry in artifact.entries.values() for slot in (*entry.params, *entry.results)]
    needed = max((slot.offset + slot.bytes for slot in slots), default=EXCHANGE)
    assert memory[0] == wasmtime.MEMORY, "no memory"
    assert memory[1] << 16 >= needed, f"the exchange block ends at {needed}"
    types = {name: (0, 0) for name in artifact.entries} | {slot.release: (1, 0) for slot in slots if slot.release}
    if "allocate" in exports:
        types["allocate"] = (1, 1)
    for name, counts in types.items():
        kind, *found = exports.get(name, (-1,))
        assert kind == wasmtime.FUNCTION, f"no function {name}"
        assert tuple(found) == counts, f"{name} has another type"


class NativeModule:
    """Native code, loaded into each engine that its instances run in."""

    def __init__(
        self,
        engines: Wasmtime,
        artifact: Artifact,
        hosts: Sequence[Callable[..., Any]],
        code: wasmtime.Module,
        quick: bool = False,
    ) -> None:
        self._engine = functools.partial(engines.engine, quick=quick, wide=artifact.wide)
        self._artifact = artifact
        self._code: wasmtime.Module | None = code
        self._loaded = {_stack(artifact): (self._engine(_stack(artifact)), code, _host_types(artifact))}
        self._order = [_import_number(*imported) for imported in code.imports()]
        self.externs = wasmtime.Extern * len(self._order)
        self.raised: dict[int, BaseException] = {}
        """What host functions have raised, by the address of the control block of their instance."""
        self.callbacks = [
            host_functions.callback(imported, host, self.raised, artifact.wide)
            for imported, host in zip(artifact.imports, hosts, strict=True)
        ]

    def serialize(self) -> bytes:
        """The native code."""
        return self._compiled().serialized()

    def unload(self) -> None:
        """Drop the native code until an instance is asked for."""
        self._loaded, self._code = {}, None

    def _compiled(self) -> wasmtime.Module:
        code = self._code
        if code is None:
            code = self._code = _native(self._engine(_stack(self._artifact)), self._artifact)
        return code

    def instantiate(self) -> "Instance":
        """A fresh instance in a store of its own: dropping it gives everything back."""
        _enter(_FRAMES)
        stack = _stack(self._artifact)
        engine = self._engine(stack)
        loaded = self._loaded.get(stack)
        if loaded is None or loaded[0] is not engine:
            known = self._code
            data = known.serialized() if known else b""
            code = wasmtime.Module.restored(engine, data, len(data)) if known else self._compiled()
            loaded = self._loaded[stack] = (engine, code, _host_types(self._artifact))
        hosts = [(loaded[2][k], self.callbacks[k]) for k in self._order]
        made = Instance(self, engine, loaded[1], hosts, self._artifact.wide)
        made.stack = stack if self._artifact.recursive else 0
        return made


def _host_types(artifact: Artifact) -> list[wasmtime.FunctionType]:
    """The types of the imports."""
    return [wasmtime.FunctionType(*signature(imported, artifact.wide)) for imported in artifact.imports]


def _import_number(module: str, name: str) -> int:
    if module != "host" or not name.isdigit():
        raise WasmTrap(f"the engine refuses the module: it imports {module}.{name}")
    return int(name)


class Instance:
    """A module with its memory, in a store of its own that may move between threads but runs on one at a time."""

    def __init__(
        self,
        module: NativeModule,
        engine: wasmtime.Engine,
        code: wasmtime.Module,
        hosts: list[tuple[wasmtime.FunctionType, Any]],
        wide: bool,
    ) -> None:
        self._module = module
        self.wide = wide
        block = bytearray(_CONTROL_SIZE)
        self._at = ctypes.addressof(ctypes.c_char.from_buffer(block))
        self._control = memoryview(block).cast("Q")
        self.trap: object = ctypes.c_uint64.from_buffer(block, 8 * _TRAP)  # looked at a call: an index takes longer
        self.usable = True
        self.stack = 0
        module.raised.pop(self._at, None)  # of an instance that was there before and that a signal ended
        self._calls: dict[str, Callable[[], int]] = {}
        self._life = _LIFE.replace(co_firstlineno=1)
        weakref.finalize(self._life, _close, block).atexit = False
        store = self._control[_STORE] = wasmtime.new_store(engine.address, None, None)
        self._context: int = wasmtime.store_context(store)
        self.limit = _limited(store, code) if wide else ADDRESS_SPACE[False]
        imports = module.externs()
        for extern, (type_, host) in zip(imports, hosts, strict=True):
            extern.kind = wasmtime.FUNCTION
            made = ctypes.byref(extern, wasmtime.REFERENCE)
            wasmtime.new_function(self._context, type_.address, host, self._at, None, made)
        self._arm()
        self._raw = _instantiated(self._context, code, imports)
        memory = self._export("memory")
        base = wasmtime.memory_data(self._context, memory)
        self._control[_BASE] = base
        self.octets = octets_at(base, ADDRESS_SPACE[wide])
        self.reals, self.ints, self.words = numbers(self.octets)
        size = functools.partial(wasmtime.memory_size, self._context, memory)
        self.memory = CopiedMemory(self.octets, size)
        self.words[FAILURE_NUMBER // 4] = NO_FAILURE

    def entry(self, name: str) -> Callable[[], int]:
        """The raw call of an export `() -> ()`; gives 0, or the address of an error."""
        return self._call(name, 0)

    def array(self, address: int, shape: tuple[int, ...], element: Element) -> Any:
        """The elements at `address`, shared with the memory."""
        count = math.prod(shape)
        if not count:
            return np.zeros(shape, dtype(element))
        numpy: Any = np  # its stubs for `frombuffer` want a newer Python than ours
        elements = numpy.frombuffer(self.octets, dtype(element), count, address)
        return elements.reshape(shape)

    def allocate(self, size: int) -> int:
        """The address of a block of memory of the module."""
        if self._call_with("allocate", size):
            return self._control[_ARGUMENT] if self.wide else self._control[_ARGUMENT] & 0xFFFFFFFF
        raise RoseMemoryError(f"the memory of the compiled code is exhausted: {size:,} bytes were asked for")

    def release(self, name: str, address: int) -> None:
        """Call the export `name(address)`."""
        self._call_with(name, address)

    def fault(self, status: int) -> Fault:
        """Why the last call failed; the trap is freed."""
        _enter(_FRAMES)
        self._arm()
        if status:
            return Fault("other", wasmtime.error_words(status))
        trap, self._control[_TRAP] = self._control[_TRAP], 0
        code, words, functions = wasmtime.trap_facts(trap)
        return Fault(_FAULTS.get(code, "other"), words.rpartition("wasm trap: ")[2].strip(), functions)

    def take_raised(self, status: int) -> BaseException | None:
        """What a host function raised in the last call, which is then dealt with."""
        raised = self._module.raised.pop(self._at, None)
        if raised is not None:
            self._control[_SPARE] = wasmtime.new_trap(*_HOST_TRAP)
            wasmtime.delete_error(status)
        return raised

    def recover(self) -> None:
        """Be ready for a call although an earlier one failed."""
        self._arm()
        if self._control[_TRAP]:
            wasmtime.delete_trap(self._control[_TRAP])
            self._control[_TRAP] = 0
        self.words[INTERRUPT_FLAG // 4] = 0
        self.words[FAILURE_NUMBER // 4] = NO_FAILURE

    def interrupt(self, now: bool = True) -> None:
        """Make the loops of a running call fail; or no longer."""
        self.words[INTERRUPT_FLAG // 4] = now

    def _call_with(self, name: str, argument: int) -> bool:
        """Call an export that takes an address or a size; false, and no longer usable, if it fails."""
        self._control[_ARGUMENT] = argument
        call = self._calls.get(name) or self._calls.setdefault(name, self._call(name, 1))
        status = call()
        if status or self.trap:
            self.usable = False
            self.fault(status)
        return self.usable

    def _call(self, name: str, arguments: int) -> Callable[[], int]:
        # References pass as they are; a pointer would be converted at each call, for 20 ns.
        context, function = ctypes.byref(ctypes.c_char.from_address(self._context)), self._export(name)
        control = ctypes.c_char.from_address(self._at)
        place, trap = ctypes.byref(control, 8 * _ARGUMENT), ctypes.byref(control, 8 * _TRAP)
        return functools.partial(wasmtime.call, context, function, place, arguments, trap)

    def _arm(self) -> None:
        """See to it that host functions have a trap to return: making one takes a call, which a signal can stop."""
        if self._module.callbacks and not self._control[_SPARE]:
            self._control[_SPARE] = wasmtime.new_trap(*_HOST_TRAP)

    def _export(self, name: str) -> Any:
        """A reference to an export."""
        encoded, item = name.encode(), wasmtime.Extern()
        if not wasmtime.instance_export(self._context, self._raw, encoded, len(encoded), ctypes.byref(item)):
            raise WasmTrap(f"the module has no export {name}")
        return ctypes.byref(item, wasmtime.REFERENCE)


def _limited(store: Any, code: wasmtime.Module) -> int:
    """The bytes beyond which the memory does not grow from now on. Raises RoseMemoryError where it begins with more."""
    limit = memory_limit()
    least = code.exports()["memory"][1] << 16
    if least > limit:
        raise RoseMemoryError(
            f"arguments and results take {least:,} bytes, more than the {limit:,} that a call may take now",
            help="work on parts of the arrays; a call may take what `ROSE_MEMORY_BYTES` says, or else nine tenths of "
            "the memory that is free",
        )
    wasmtime.limit_store(store, limit, -1, -1, -1, -1)
    return limit


def _instantiated(context: Any, code: wasmtime.Module, imports: Any) -> Any:
    """The instance in a store; it has no start function, so that only a lack of memory can stop it."""
    raw, trap = wasmtime.Instance(), ctypes.c_void_p()
    failed = wasmtime.new_instance(context, code.address, imports, len(imports), raw, ctypes.byref(trap))
    if failed:
        error = wasmtime.error_words(failed)
        if "memory" in error or "mmap" in error:
            raise RoseMemoryError(f"no memory for the compiled code: {' '.join(error.split())}")
        raise WasmTrap(f"the engine refuses the module: {_reason(error)}")
    return raw


def _reason(error: object) -> str:
    """The last of the causes that an error of the engine lists, without offsets."""
    causes = [line.strip() for line in str(error).splitlines() if line.strip()]
    return re.sub(r"^\d+: | \(at offset 0x[0-9a-f]+\)", "", causes[-1]) if causes else "it gives no reason"


def _enter(frames: int) -> None:
    """Raise RecursionError here, where there are no more `frames`: ctypes would make another error of it."""
    if frames:
        _enter(frames - 1)


def _close(block: bytearray) -> None:
    """Give back the store of an instance, and the traps that nobody took."""
    trap, _, spare, store = struct.unpack_from("4Q", block)
    for unread in (trap, spare):
        if unread:
            wasmtime.delete_trap(unread)
    if store:
        wasmtime.delete_store(store)
