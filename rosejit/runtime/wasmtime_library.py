"""What rosejit uses of wasmtime's C interface: 50 of its 700 functions, from the library in the package `wasmtime`.

`import wasmtime` declares all of them and takes 25 to 45 ms of a new process; the library opens in half a millisecond.
Addresses are integers here; a vector of the interface is a size and an address.
"""

import ctypes
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from rosejit.processor import PROCESSOR

_LIBRARIES = {"win32": "_wasmtime.dll", "darwin": "_libwasmtime.dylib"}
_MACHINES = {"AMD64": "x86_64", "arm64": "aarch64", "ARM64": "aarch64"}
_Address, _Size, _Flag = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_bool
_Vector = _Size * 2

UNREACHABLE, STACK_OVERFLOW = 9, 0
"""Codes of traps."""
WINCH = 2
"""The strategy of the compiler that does not optimise."""
FUNCTION, MEMORY = 0, 3
"""Kinds of imports and exports."""
_VALUES = {"i32": 0, "i64": 1, "f64": 3}


class Extern(ctypes.Structure):
    """An import or an export of an instance: its kind, and a reference to it, which starts at `REFERENCE`."""

    _fields_ = (("kind", ctypes.c_uint8), ("of", ctypes.c_uint64 * 3))
    kind: int


REFERENCE: int = getattr(Extern, "of").offset  # noqa: B009 - to checkers no field has an offset
Instance = ctypes.c_uint64 * 2


class Refusal(Exception):
    """An error of the engine, in its words."""


def folder() -> str:
    """That of the package `wasmtime`."""
    found = importlib.util.find_spec("wasmtime")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'wasmtime'", name="wasmtime")
    return found.submodule_search_locations[0]


def _opened() -> ctypes.CDLL:
    system = "android" if hasattr(sys, "getandroidapilevel") else sys.platform
    machine = _MACHINES.get(PROCESSOR, PROCESSOR)
    return ctypes.CDLL(os.path.join(folder(), f"{system}-{machine}", _LIBRARIES.get(sys.platform, "_libwasmtime.so")))


library = _opened()


def _declared(name: str, result: Any = None, *parameters: Any) -> Any:
    function = getattr(library, name)
    function.restype, function.argtypes = result, parameters
    return function


_new_config = _declared("wasm_config_new", _Address)
_set_strategy = _declared("wasmtime_config_strategy_set", None, _Address, ctypes.c_uint8)
_set_parallel = _declared("wasmtime_config_parallel_compilation_set", None, _Address, _Flag)
_set_may_move = _declared("wasmtime_config_memory_may_move_set", None, _Address, _Flag)
_set_memory64 = _declared("wasmtime_config_wasm_memory64_set", None, _Address, _Flag)
_set_flag = _declared("wasmtime_config_cranelift_flag_set", None, _Address, ctypes.c_char_p, ctypes.c_char_p)
_set_reservation = _declared("wasmtime_config_memory_reservation_set", None, _Address, ctypes.c_uint64)
_set_async_stack = _declared("wasmtime_config_async_stack_size_set", None, _Address, _Size)
_set_stack = _declared("wasmtime_config_max_wasm_stack_set", None, _Address, _Size)
_new_engine = _declared("wasm_engine_new_with_config", _Address, _Address)
_new_module = _declared("wasmtime_module_new", _Address, _Address, ctypes.c_char_p, _Size, _Address)
_serialize = _declared("wasmtime_module_serialize", _Address, _Address, _Address)
_deserialize = _declared("wasmtime_module_deserialize", _Address, _Address, ctypes.c_char_p, _Size, _Address)
_exports = _declared("wasmtime_module_exports", None, _Address, _Address)
_imports = _declared("wasmtime_module_imports", None, _Address, _Address)
_export_name = _declared("wasm_exporttype_name", _Address, _Address)
_export_type = _declared("wasm_exporttype_type", _Address, _Address)
_import_module = _declared("wasm_importtype_module", _Address, _Address)
_import_name = _declared("wasm_importtype_name", _Address, _Address)
_kind = _declared("wasm_externtype_kind", ctypes.c_uint8, _Address)
_as_function = _declared("wasm_externtype_as_functype", _Address, _Address)
_as_memory = _declared("wasm_externtype_as_memorytype", _Address, _Address)
_parameters = _declared("wasm_functype_params", _Address, _Address)
_results = _declared("wasm_functype_results", _Address, _Address)
_least_pages = _declared("wasmtime_memorytype_minimum", ctypes.c_uint64, _Address)
_new_value_type = _declared("wasm_valtype_new", _Address, ctypes.c_uint8)
_new_value_types = _declared("wasm_valtype_vec_new", None, _Address, _Size, _Address)
_new_function_type = _declared("wasm_functype_new", _Address, _Address, _Address)
_error_message = _declared("wasmtime_error_message", None, _Address, _Address)
_trap_message = _declared("wasm_trap_message", None, _Address, _Address)
_trap_code = _declared("wasmtime_trap_code", _Flag, _Address, _Address)
_trap_trace = _declared("wasm_trap_trace", None, _Address, _Address)
_function_index = _declared("wasm_frame_func_index", ctypes.c_uint32, _Address)
_delete_bytes = _declared("wasm_byte_vec_delete", None, _Address)
_delete_engine = _declared("wasm_engine_delete", None, _Address)
_delete_module = _declared("wasmtime_module_delete", None, _Address)
_delete_function_type = _declared("wasm_functype_delete", None, _Address)
_delete_exports = _declared("wasm_exporttype_vec_delete", None, _Address)
_delete_imports = _declared("wasm_importtype_vec_delete", None, _Address)
_delete_frames = _declared("wasm_frame_vec_delete", None, _Address)
delete_trap = _declared("wasm_trap_delete", None, _Address)
delete_error = _declared("wasmtime_error_delete", None, _Address)
delete_store = _declared("wasmtime_store_delete", None, _Address)
new_store = _declared("wasmtime_store_new", _Address, _Address, _Address, _Address)
store_context = _declared("wasmtime_store_context", _Address, _Address)
limit_store = _declared("wasmtime_store_limiter", None, _Address, *[ctypes.c_int64] * 5)
new_instance = _declared("wasmtime_instance_new", _Address, _Address, _Address, _Address, _Size, _Address, _Address)
instance_export = _declared("wasmtime_instance_export_get", _Flag, _Address, _Address, ctypes.c_char_p, _Size, _Address)
memory_data = _declared("wasmtime_memory_data", _Address, _Address, _Address)
memory_size = _declared("wasmtime_memory_data_size", _Size, _Address, _Address)
new_function = _declared("wasmtime_func_new_unchecked", None, *[_Address] * 6)
new_trap = _declared("wasmtime_trap_new", _Address, ctypes.c_char_p, _Size)
call = ctypes.CFUNCTYPE(_Size)(("wasmtime_func_call_unchecked", library))
"""No declared arguments: prepared ctypes objects pass through, which saves a quarter of a call."""


class _Owned:
    """Something of the engine's, at `address`, that goes with the object."""

    __slots__ = ("__weakref__", "_delete", "address")

    def __init__(self, address: int, delete: Callable[[int], None]) -> None:
        self.address, self._delete = address, delete

    def __del__(self) -> None:
        self._delete(self.address)


class Engine(_Owned):
    """A compiler and its settings: of the stack that code may take, of how it compiles, of the width of addresses."""

    __slots__ = ()

    def __init__(self, stack: int, *, quick: bool, parallel: bool, reservation: int = 0) -> None:
        config = _new_config()
        if quick:
            _set_strategy(config, WINCH)
        _set_parallel(config, parallel)
        _set_may_move(config, False)
        if reservation:
            _set_memory64(config, True)
            # Against others who run code in this process, which is all ours; tests of addresses take half the time.
            _set_flag(config, b"enable_heap_access_spectre_mitigation", b"false")
            _set_reservation(config, reservation)
        _set_async_stack(config, stack + (1 << 20))  # must be the larger one
        _set_stack(config, stack)
        super().__init__(_new_engine(config), _delete_engine)  # which takes the settings


class Module(_Owned):
    """Native code."""

    __slots__ = ()

    def __init__(self, address: int) -> None:
        super().__init__(address, _delete_module)

    @classmethod
    def compiled(cls, engine: Engine, wasm: bytes) -> "Module":
        """Of Wasm. Raises Refusal."""
        return cls(_made(_new_module, engine.address, wasm, len(wasm)))

    @classmethod
    def restored(cls, engine: Engine, data: bytes, size: int) -> "Module":
        """Of what `serialized` gave, the first bytes of `data`. Raises Refusal."""
        return cls(_made(_deserialize, engine.address, data, size))

    def serialized(self) -> bytes:
        """The native code."""
        found = _Vector()
        _succeeds(_serialize(self.address, found))
        return _taken(found)

    def exports(self) -> dict[str, tuple[int, ...]]:
        """The kind of each export, then the numbers of parameters and results, or the first pages of a memory."""
        return {
            _text(_export_name(each)): _facts(_export_type(each))
            for each in _items(partial(_exports, self.address), _delete_exports)
        }

    def imports(self) -> list[tuple[str, str]]:
        """Module and name of each import."""
        found = _items(partial(_imports, self.address), _delete_imports)
        return [(_text(_import_module(each)), _text(_import_name(each))) for each in found]


class FunctionType(_Owned):
    """The type of a host function; it belongs to the engine that sees it first."""

    __slots__ = ()

    def __init__(self, parameters: Sequence[str], results: Sequence[str]) -> None:
        vectors = _Vector(), _Vector()
        for vector, values in zip(vectors, (parameters, results), strict=True):
            made = (_Address * len(values))(*[_new_value_type(_VALUES[value]) for value in values])
            _new_value_types(vector, len(values), made)
        super().__init__(_new_function_type(*vectors), _delete_function_type)


def trap_facts(trap: int) -> tuple[int | None, str, tuple[int, ...]]:
    """The code of a trap, if it has one, its words, and the indices of the functions that were running. It is freed."""
    code, words = ctypes.c_uint8(), _Vector()
    known = _trap_code(trap, ctypes.byref(code))
    _trap_message(trap, words)
    functions = tuple([_function_index(frame) for frame in _items(partial(_trap_trace, trap), _delete_frames)])
    delete_trap(trap)
    return code.value if known else None, _taken(words)[:-1].decode(), functions  # but for a zero


def error_words(error: int) -> str:
    """The words of an error, which is freed."""
    words = _Vector()
    _error_message(error, words)
    delete_error(error)
    return _taken(words).decode()


def _succeeds(error: int | None) -> None:
    if error:
        raise Refusal(error_words(error))


def _made(function: Callable[..., int | None], *arguments: Any) -> int:
    """What a function writes to the place behind its arguments. Raises Refusal."""
    made = _Address()
    _succeeds(function(*arguments, ctypes.byref(made)))
    assert made.value is not None
    return made.value


def _facts(type_: int) -> tuple[int, ...]:
    kind = _kind(type_)
    if kind == FUNCTION:
        function = _as_function(type_)
        return kind, *[_Vector.from_address(of(function))[0] for of in (_parameters, _results)]
    return (kind, _least_pages(_as_memory(type_))) if kind == MEMORY else (kind,)


def _items(fill: Callable[[Any], None], delete: Callable[[Any], None]) -> Iterator[int]:
    """The addresses in a vector, while it is there."""
    found = _Vector()
    fill(found)
    try:
        if found[0]:
            yield from (_Address * found[0]).from_address(found[1])
    finally:
        delete(found)


def _bytes(vector: Any) -> bytes:
    return ctypes.string_at(vector[1], vector[0]) if vector[0] else b""


def _taken(vector: Any) -> bytes:
    found = _bytes(vector)
    _delete_bytes(vector)
    return found


def _text(name: int | None) -> str:
    return _bytes(_Vector.from_address(name)).decode() if name else ""
