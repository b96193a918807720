import math
import struct
from collections.abc import Sequence

import pytest
import wasmtime
from hypothesis import given
from hypothesis import strategies as st

from rosejit.wasm import instructions as wasm
from rosejit.wasm.encode import encode
from rosejit.wasm.module import Elements, Export, Memory, ModuleBuilder, Table, ValueType
from rosejit.wasm.opcodes import OP


def run(body: Sequence[bytes], result: ValueType, *args: int) -> int | float:
    """What a function of i32 parameters with this body gives."""
    builder = ModuleBuilder()
    builder.add_memory(Memory(2))
    f = builder.declare_function(("i32",) * len(args), (result,))
    builder.define(f, ((2, "i64"),), body)
    builder.exports.append(Export("f", "func", f))
    store = wasmtime.Store()
    instance = wasmtime.Instance(store, wasmtime.Module(store.engine, encode(builder.build())), [])
    return instance.exports(store)["f"](store, *args)


@pytest.mark.parametrize("n", [0, 1, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31)])
def test_i32_const_gives_its_number(n: int) -> None:
    assert run([wasm.i32_const[n]], "i32") == n


@pytest.mark.parametrize("n", [0, -1, 2**40, -(2**40), 2**63 - 1, -(2**63)])
def test_i64_const_gives_its_number(n: int) -> None:
    assert run([wasm.i64_const[n]], "i64") == n


def test_constants_wrap_like_those_of_the_text_format() -> None:
    assert wasm.i32_const[2**32 - 1] == wasm.i32_const[-1]
    assert wasm.i64_const[2**64 - 1] == wasm.i64_const[-1]


@pytest.mark.parametrize("n", [2**32, -(2**31) - 1])
def test_constants_that_do_not_fit_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="32 bits"):
        wasm.i32_const[n]


@given(st.integers(0, 2**64 - 1))
def test_f64_const_keeps_every_bit(bits: int) -> None:
    x = struct.unpack("<d", struct.pack("<Q", bits))[0]
    assert wasm.f64_const(x) == OP["f64.const"] + struct.pack("<Q", bits)


@pytest.mark.parametrize("x", [0.0, -0.0, 1.5, math.pi, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan])
def test_f64_const_gives_its_number(x: float) -> None:
    bits = struct.unpack("<q", struct.pack("<d", x))[0]
    assert run([wasm.f64_const(x), OP["i64.reinterpret_f64"]], "i64") == bits


@pytest.mark.parametrize("x", [0.0, -0.0, 1.5, math.inf])
def test_f32_const_gives_its_number(x: float) -> None:
    assert math.copysign(1.0, run([wasm.f32_const(x)], "f32")) == math.copysign(1.0, x)
    assert run([wasm.f32_const(x)], "f32") == x


@pytest.mark.parametrize("offset", [0, 8, 1000, 0x10000, 0x1FFF0])
def test_what_is_stored_is_loaded(offset: int) -> None:
    address = wasm.i32_const[8]
    body = [address, wasm.f64_const(2.5), wasm.f64_store[offset], address, wasm.f64_load[offset]]
    assert run(body, "f64") == 2.5
    body = [address, wasm.i64_const[-7], wasm.i64_store[offset], address, wasm.i64_load[offset]]
    assert run(body, "i64") == -7
    body = [address, wasm.i32_const[511], wasm.bool_store[offset], address, wasm.bool_load[offset]]
    assert run(body, "i32") == 255


def test_vectors_hold_their_lanes_in_order() -> None:
    low, high = OP["f64x2.extract_lane"] + b"\0", wasm.Immediate("f64x2.extract_lane")[1]
    assert run([wasm.f64x2_const(1.5, 2.5), low], "f64") == 1.5
    assert run([wasm.f64x2_const(1.5, 2.5), high], "f64") == 2.5
    swapped = wasm.shuffle([*range(8, 16), *range(8)])
    body = [wasm.f64x2_const(1.5, 2.5), wasm.f64x2_const(0.0, 0.0), swapped, low]
    assert run(body, "f64") == 2.5
    assert run([wasm.i64x2_const(7, -1), wasm.Immediate("i64x2.extract_lane")[1]], "i64") == -1


def test_memory_instructions_fill_and_copy() -> None:
    const = wasm.i32_const
    body = [const[0], const[7], const[4], wasm.memory_fill, const[100], const[0], const[4], wasm.memory_copy]
    assert run([*body, const[100], wasm.i32_load[0]], "i32") == 0x07070707
    assert run([const[3], wasm.memory_grow, OP["drop"], wasm.memory_size], "i32") == 5


@pytest.mark.parametrize(("n", "result"), [(0, 10), (1, 20), (2, 30), (99, 30)])
def test_br_table_picks_a_label(n: int, result: int) -> None:
    ret, const, end = OP["return"], wasm.i32_const, OP["end"]
    body = [wasm.block(), wasm.block(), wasm.block(), wasm.local_get[0], wasm.br_table([0, 1], 2), end]
    body += [const[10], ret, end, const[20], ret, end, const[30]]
    assert run(body, "i32", n) == result


def test_a_loop_counts() -> None:
    total, turn = wasm.local_get[1], wasm.local_get[0]
    body = [wasm.block(), wasm.loop(), turn, OP["i32.eqz"], wasm.br_if[1]]
    body += [total, turn, OP["i64.extend_i32_u"], OP["i64.add"], wasm.local_set[1]]
    body += [turn, wasm.i32_const[1], OP["i32.sub"], wasm.local_set[0], wasm.br[0], OP["end"], OP["end"], total]
    assert run(body, "i64", 100) == 5050


@pytest.mark.parametrize("n", [0, 1])
def test_if_gives_the_side_taken(n: int) -> None:
    one, two = wasm.f64_const(1.0), wasm.f64_const(2.0)
    assert run([wasm.local_get[0], wasm.if_("f64"), one, OP["else"], two, OP["end"]], "f64", n) == 2.0 - n


@pytest.mark.parametrize("n", [0, 1])
def test_indirect_calls_and_blocks_of_several_results(n: int) -> None:
    builder = ModuleBuilder()
    table = builder.add_table(Table(2, 2))
    pair = builder.type_index((), ("i32", "i32"))
    picked = [builder.declare_function((), ("i32", "i32")) for _ in range(2)]
    main = builder.declare_function(("i32",), ("i32",))
    for k, f in enumerate(picked, 5):
        builder.define(f, (), [wasm.block(pair), wasm.i32_const[10 * k], wasm.i32_const[k], OP["end"]])
    builder.define(main, (), [wasm.local_get[0], wasm.call_indirect(pair, table), OP["i32.sub"]])
    builder.elements.append(Elements(0, tuple(picked)))
    builder.exports.append(Export("main", "func", main))
    store = wasmtime.Store()
    instance = wasmtime.Instance(store, wasmtime.Module(store.engine, encode(builder.build())), [])
    assert instance.exports(store)["main"](store, n) == 9 * (5 + n)


def test_an_instruction_is_made_once_and_big_constants_are_not_kept() -> None:
    assert wasm.local_get[3] is wasm.local_get[3]
    wasm.i64_const[2**50]
    assert 2**50 not in wasm.i64_const


@pytest.mark.parametrize("name", ["f64.add", "call_indirect"])
def test_only_one_immediate_makes_a_table(name: str) -> None:
    with pytest.raises(ValueError, match="one immediate"):
        wasm.Immediate(name)
