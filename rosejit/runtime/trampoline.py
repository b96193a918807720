"""The imports of a module to a second module that has them as exports, and passes their values through its memory.

JavaScript has one kind of number: a Real that is whole would reach Python as an int, -0.0 as 0, and an Int of Python
reaches Wasm only as a BigInt. Bytes in a memory are what they are. An import `k` becomes a function that stores its
arguments, 8 bytes each from address 0 on, calls the host's `k: () -> ()`, and loads the results from the same places.
"""

from collections.abc import Sequence

from rosejit.abi import Import
from rosejit.runtime.marshalling.host_results import signature
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import (
    call,
    f64_load,
    f64_store,
    i32_const,
    i32_load,
    i32_store,
    i64_load,
    i64_store,
    local_get,
)
from rosejit.wasm.module import Export, Memory, ModuleBuilder

_STORES = {"f64": f64_store, "i64": i64_store, "i32": i32_store}
_LOADS = {"f64": f64_load, "i64": i64_load, "i32": i32_load}
PLACE = 8
"""Bytes for each value."""


def trampoline(imports: Sequence[Import]) -> bytes:
    """The module that stands between a program and its host functions; its memory is exported as `memory`."""
    b = ModuleBuilder()
    signatures = [signature(imported) for imported in imports]
    hosts = [b.import_function("host", str(k), (), ()) for k in range(len(imports))]
    for k, (params, results) in enumerate(signatures):
        index = b.declare_function(params, results)
        zero = i32_const[0]
        stores = [zero + local_get[i] + _STORES[t][PLACE * i] for i, t in enumerate(params)]
        loads = [zero + _LOADS[t][PLACE * i] for i, t in enumerate(results)]
        b.define(index, (), [*stores, call[hosts[k]], *loads])
        b.exports.append(Export(str(k), "func", index))
    places = max((len(side) for pair in signatures for side in pair), default=0)
    b.exports.append(Export("memory", "memory", b.add_memory(Memory(1 + PLACE * places // (1 << 16)))))
    return encode(b.build())
