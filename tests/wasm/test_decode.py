import pytest
import wasmtime
from hypothesis import given
from hypothesis import strategies as st

from rosejit.wasm.decode import decode, instructions
from rosejit.wasm.encode import HEADER, encode
from rosejit.wasm.instructions import f64_load, local_get
from rosejit.wasm.module import Module
from rosejit.wasm.opcodes import OP


def test_an_encoded_module_decodes_to_itself(everything: Module, square: Module) -> None:
    for module in (everything, square, Module()):
        assert decode(encode(module)) == module


def test_instructions_come_with_their_immediates() -> None:
    found = list(instructions(local_get[300] + f64_load[16] + OP["f64.add"]))
    names = [(instruction.opcode.name, instruction.immediates) for instruction in found]
    assert names == [
        ("local.get", (300,)),
        ("f64.load", (16,)),
        ("f64.add", ()),
    ]


@pytest.mark.parametrize("text", ["(table i64 1 funcref)", "(table 1 externref)", "(tag)"])
def test_what_we_never_write_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"known|of ours"):
        decode(bytes(wasmtime.wat2wasm(f"(module {text})")))


@pytest.mark.parametrize("body", [b"\x06", b"\xfd\xff\x02", b"\x20", b"\x20\x80", b"\x44abc", b"\x28\x01\x00"])
def test_what_is_no_instruction_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"not an instruction|ends too early|natural alignment"):
        list(instructions(body))


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(ValueError, match="not a WebAssembly module"):
        decode(b"PK\3\4")


@given(st.binary(max_size=40))
def test_noise_is_refused_or_a_module(noise: bytes) -> None:
    try:
        assert isinstance(decode(HEADER + noise), Module)
    except ValueError:
        pass


def test_a_body_without_its_end_is_refused(square: Module) -> None:
    with pytest.raises(ValueError, match="does not end"):
        decode(encode(square)[:-1] + OP["nop"])


def test_a_damaged_module_is_refused_or_a_module(everything: Module) -> None:
    data = encode(everything)
    for at in range(len(HEADER), len(data)):
        for damaged in (data[:at], data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]):
            try:
                assert isinstance(decode(damaged), Module)
            except ValueError:
                pass
