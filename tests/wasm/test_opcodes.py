"""The table against the assembler and the validator of wasmtime, which share nothing with it."""

import pytest
import wasmtime

from rosejit.wasm.decode import decode, instructions
from rosejit.wasm.encode import encode
from rosejit.wasm.instructions import local_get
from rosejit.wasm.leb128 import unsigned
from rosejit.wasm.module import Data, Memory, ModuleBuilder, ValueType
from rosejit.wasm.opcodes import OP, OPCODES, Opcode

TYPES: dict[str, ValueType] = {"i": "i32", "l": "i64", "f": "f32", "d": "f64", "v": "v128"}

OPERANDS: dict[str, tuple[bytes, str]] = {
    "offset": (unsigned(40), "offset=40"),
    "lane": (b"\1", "1"),
    "lanes": (bytes(range(16)), " ".join(map(str, range(16)))),
    "memory": (b"\0", ""),
    "data": (b"\0", "0"),
    "i32": (b"\x7f", "-1"),
    "i64": (b"\x7f", "-1"),
    "f32": (bytes.fromhex("0000c03f"), "1.5"),
    "f64": (bytes.fromhex("000000000000f83f"), "1.5"),
    "v128": (bytes(range(16)), f"i8x16 {' '.join(map(str, range(16)))}"),
}
"""Each kind of immediate in bytes and as text."""

PLAIN = [opcode for opcode in OPCODES.values() if opcode.signature != "*"]


def emitted(opcode: Opcode) -> bytes:
    alignment = unsigned(opcode.alignment.bit_length() - 1) if opcode.alignment else b""
    return opcode.code + alignment + b"".join(OPERANDS[kind][0] for kind in opcode.immediates)


def assembled_body(text: str) -> bytes:
    return decode(bytes(wasmtime.wat2wasm(text))).functions[0].body


@pytest.mark.parametrize("opcode", PLAIN, ids=lambda opcode: opcode.name)
def test_types_are_those_of_the_validator(opcode: Opcode) -> None:
    params, _, results = opcode.signature.partition(":")
    builder = ModuleBuilder(data=[Data(None, b"data")])
    builder.add_memory(Memory(1))
    f = builder.declare_function([TYPES[c] for c in params], [TYPES[c] for c in results])
    builder.define(f, (), [*(local_get[i] for i in range(len(params))), emitted(opcode)])
    wasmtime.Module.validate(wasmtime.Engine(), encode(builder.build()))


def test_bytes_are_those_of_the_assembler() -> None:
    lines = [" ".join((opcode.name, *(OPERANDS[kind][1] for kind in opcode.immediates))) for opcode in PLAIN]
    body = assembled_body(f"(module (memory 1) (data) (func {' '.join(lines)}))")
    assert body == b"".join(map(emitted, PLAIN))


def test_bytes_of_control_are_those_of_the_assembler() -> None:
    body = assembled_body("""(module (table 1 funcref) (type (func)) (global (mut i32) (i32.const 0))
        (func (local i32)
          unreachable nop block end loop end i32.const 0 if else end
          br 0 br_if 0 br_table 0 0 return call 0 call_indirect (type 0) return_call 0 return_call_indirect (type 0)
          drop select local.get 0 local.set 0 local.tee 0 global.get 0 global.set 0))""")
    met = [instruction.opcode.name for instruction in instructions(body)]
    assert (
        met
        == (
            "unreachable nop block end loop end i32.const if else end br br_if br_table return call call_indirect "
            "return_call return_call_indirect drop select local.get local.set local.tee global.get global.set"
        ).split()
    )
    assert set(met) - {"i32.const"} == {opcode.name for opcode in OPCODES.values() if opcode.signature == "*"}


def test_nothing_is_missing_or_there_twice() -> None:
    first_version, sign_extension, saturating, bulk, tail_calls, simd, relaxed = 172, 5, 8, 4, 2, 236, 17
    count = first_version + sign_extension + saturating + bulk + tail_calls + simd + relaxed
    assert len(set(OP.values())) == len(OP) == count
