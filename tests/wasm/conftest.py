"""Modules for the tests of the encoder, the decoder and the text."""

import math

import pytest

from rosejit.wasm import instructions as wasm
from rosejit.wasm.module import Data, Elements, Export, GlobalType, Memory, Module, ModuleBuilder, Table
from rosejit.wasm.opcodes import OP


@pytest.fixture
def square() -> Module:
    """Exports `f(x) = x * x`."""
    builder = ModuleBuilder()
    f = builder.declare_function(("f64",), ("f64",))
    builder.define(f, (), [wasm.local_get[0], wasm.local_get[0], OP["f64.mul"]])
    builder.exports.append(Export("f", "func", f))
    return builder.build()


@pytest.fixture
def everything() -> Module:
    """Has every section, every kind of immediate, and names that need care."""
    builder = ModuleBuilder("everything")
    log = builder.import_function("host", "0", ("f64",), ("f64",), "log it")
    builder.import_global("host", 'a "quoted" \\ name é', GlobalType("i32"))
    stack = builder.add_global("i32", wasm.i32_const[1024])
    builder.add_global("f64", wasm.f64_const(-0.0), mutable=False)
    builder.add_memory(Memory(1, 16))
    tables = [builder.add_table(Table(4)), builder.add_table(Table(2, 2))]
    pair = builder.type_index(("f64",), ("f64", "i64"))
    start = builder.declare_function((), (), "start")
    main = builder.declare_function(("f64", "i32"), ("f64",), "main")
    twin = builder.declare_function(("f64",), ("f64", "i64"), "main")
    nameless = builder.declare_function((), ("v128",))
    builder.define(start, (), [wasm.call[nameless], OP["drop"]])
    builder.define(main, ((2, "f64"), (1, "i64")), [*control(pair, tables[1], twin, log), *memory(stack)])
    builder.define(twin, ((1, "f64"),), [wasm.local_get[0], wasm.i64_const[-(2**63)]])
    builder.define(nameless, (), constants())
    builder.exports += [Export("main", "func", main), Export("memory", "memory", 0), Export("sp", "global", stack)]
    builder.exports.append(Export("a table", "table", tables[1]))
    builder.start = start
    builder.elements += [Elements(1, (main, twin)), Elements(0, (nameless, twin), tables[1])]
    builder.data += [Data(16, bytes(range(256))), Data(None, b'passive "\\'), Data(2**31, b"z")]
    return builder.build()


def control(pair: int, table: int, twin: int, log: int) -> list[bytes]:
    end, drop, x, n = OP["end"], OP["drop"], wasm.local_get[0], wasm.local_get[1]
    body = [wasm.block(), wasm.loop(), n, wasm.br_table([0, 1], 1), end, end]
    body += [n, wasm.if_("f64"), wasm.f64_const(math.pi), OP["else"], x, end]
    body += [x, wasm.block(pair), wasm.i32_const[1], wasm.call_indirect(pair, table), wasm.local_set[4]]
    body += [wasm.call[log], wasm.local_get[4], end, drop, OP["f64.add"]]
    return [*body, wasm.call[twin], drop, wasm.local_tee[2], drop]


def memory(stack: int) -> list[bytes]:
    zero, top = wasm.i32_const[0], wasm.global_get[stack]
    body = [top, zero, wasm.i32_const[4], OP["memory.init"] + b"\1\0", OP["data.drop"] + b"\1"]
    body += [top, zero, wasm.i32_const[8], wasm.memory_copy, zero, zero, wasm.i32_const[8], wasm.memory_fill]
    body += [wasm.memory_size, wasm.memory_grow, wasm.global_set[stack]]
    return [*body, zero, zero, wasm.f64_load[0x7FFFFFF8], wasm.f64_store[8], zero, wasm.f64_load[16]]


def constants() -> list[bytes]:
    drop = OP["drop"]
    floats = [0.0, -0.0, 0.1, 1e300, 5e-324, math.inf, -math.inf, math.nan, -math.nan]
    body = [code for x in floats for code in (wasm.f64_const(x), drop)]
    body += [OP["f64.const"], bytes.fromhex("010000000000f0ff"), drop]  # a signalling NaN, negative
    for bits in ("cdcccc3d", "0100807f", "000080ff"):  # 0.1, a signalling NaN, -inf
        body += [OP["f32.const"], bytes.fromhex(bits), drop]
    body += [wasm.f64x2_const(-1.0, math.inf), drop, wasm.i64x2_const(-1, 1)]
    body += [wasm.f64x2_const(0.1, math.nan), wasm.shuffle([8, *range(15)]), wasm.Immediate("f64x2.extract_lane")[1]]
    body += [drop, wasm.i32_const[0], wasm.i64x2_const(0, 0)]
    return [*body, OP["v128.load64_lane"], b"\3\x10\1"]
