import wasmtime

from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import f64_const, local_get, local_set
from rosejit.wasm.module import Data, Export, Memory, Module, ModuleBuilder
from rosejit.wasm.opcodes import OP


def valid(module: Module) -> bytes:
    data = encode(module)
    wasmtime.Module.validate(wasmtime.Engine(), data)
    return data


def test_an_empty_module_is_its_header() -> None:
    assert valid(Module()) == b"\0asm\1\0\0\0"


def test_a_square_takes_38_bytes(square: Module) -> None:
    assert valid(square).hex(" ") == (
        "00 61 73 6d 01 00 00 00 "  # header
        "01 06 01 60 01 7c 01 7c "  # types
        "03 02 01 00 "  # functions
        "07 05 01 01 66 00 00 "  # exports
        "0a 09 01 07 00 20 00 20 00 a2 0b"  # code
    )


def test_every_section_is_valid(everything: Module) -> None:
    valid(everything)


def test_data_lies_at_its_offset() -> None:
    builder = ModuleBuilder()
    builder.exports.append(Export("memory", "memory", builder.add_memory(Memory(1))))
    builder.data += [Data(0, b"first"), Data(65530, b"\0\xff las")]
    store = wasmtime.Store()
    instance = wasmtime.Instance(store, wasmtime.Module(store.engine, valid(builder.build())), [])
    memory = instance.exports(store)["memory"]
    assert isinstance(memory, wasmtime.Memory)
    assert bytes(memory.read(store, 0, 6)) == b"first\0"
    assert bytes(memory.read(store, 65530, 65536)) == b"\0\xff las"


def test_a_function_may_be_large() -> None:
    builder = ModuleBuilder()
    f = builder.declare_function(("f64",), ("f64",))
    turn = [local_get[0], f64_const(0.5), OP["f64.add"], local_set[0]]
    builder.define(f, (), [*(turn * 25_000), local_get[0]])
    valid(builder.build())


def test_functions_may_be_many() -> None:
    builder = ModuleBuilder()
    for index in [builder.declare_function((), ("f64",), f"f{i}") for i in range(2_000)]:
        builder.define(index, (), [f64_const(float(index))])
    assert len(valid(builder.build())) > 2_000 * 12
