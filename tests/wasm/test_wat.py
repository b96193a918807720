from dataclasses import replace

import wasmtime
from hypothesis import given
from hypothesis import strategies as st

from rosejit.wasm.encode import encode
from rosejit.wasm.module import Function, FuncType, Module
from rosejit.wasm.opcodes import OP, OPCODES
from rosejit.wasm.wat import wat


def nameless(module: Module) -> Module:
    return replace(
        module,
        name="",
        imports=tuple(replace(item, label="") for item in module.imports),
        functions=tuple(replace(item, name="") for item in module.functions),
    )


def test_the_text_assembles_to_the_same_bytes(everything: Module, square: Module) -> None:
    for module in (nameless(everything), square, Module()):
        assert bytes(wasmtime.wat2wasm(wat(module))) == encode(module)


def test_names_change_no_code(everything: Module) -> None:
    assembled = bytes(wasmtime.wat2wasm(wat(everything)))
    unnamed = encode(nameless(everything))
    assert assembled[: len(unnamed)] == unnamed


def test_bytes_give_the_same_text_as_their_module(everything: Module) -> None:
    assert wat(encode(everything)) == wat(everything)


def test_names_are_spelt_for_the_text_and_kept_apart(everything: Module) -> None:
    text = wat(everything)
    for line in (
        "(module $everything",
        '(import "host" "0" (func $log_it (type 0)))',
        "(func $main (type 3)",
        "(func $main.3 (type 1)",
        "(func (;4;) (type 4)",
    ):
        assert line in text


def test_a_small_module_reads_like_this(square: Module) -> None:
    assert (
        wat(square)
        == """\
(module
  (type (;0;) (func (param f64) (result f64)))
  (export "f" (func 0))
  (func (;0;) (type 0) (param f64) (result f64)
    local.get 0
    local.get 0
    f64.mul
  )
)
"""
    )


def test_blocks_are_indented(everything: Module) -> None:
    assert """
    block
      loop
        local.get 1
        br_table 0 1 1
      end
    end
    local.get 1
    if (result f64)
      f64.const 3.141592653589793
    else
      local.get 0
    end
""" in wat(everything)


def test_every_plain_instruction_is_written_by_its_name() -> None:
    body = b"".join(opcode.code for opcode in OPCODES.values() if opcode.signature != "*" and not opcode.immediates)
    data = encode(Module(types=(FuncType(),), functions=(Function(0, (), body),)))
    assert bytes(wasmtime.wat2wasm(wat(data))) == data


@given(st.lists(st.integers(0, 2**64 - 1)), st.lists(st.integers(0, 2**32 - 1)), st.lists(st.integers(0, 2**128 - 1)))
def test_constants_keep_every_bit(doubles: list[int], singles: list[int], vectors: list[int]) -> None:
    body = [OP["f64.const"] + bits.to_bytes(8, "little") for bits in doubles]
    body += [OP["f32.const"] + bits.to_bytes(4, "little") for bits in singles]
    body += [OP["v128.const"] + bits.to_bytes(16, "little") for bits in vectors]
    data = encode(Module(types=(FuncType(),), functions=(Function(0, (), b"".join(body)),)))
    assert bytes(wasmtime.wat2wasm(wat(data))) == data
