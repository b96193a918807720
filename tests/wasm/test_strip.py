"""Modules without names are the same modules."""

import dataclasses

from rosejit.wasm.decode import decode
from rosejit.wasm.encode import encode
from rosejit.wasm.module import ModuleBuilder
from rosejit.wasm.opcodes import OP
from rosejit.wasm.strip import without_names


def test_only_the_names_go():
    builder = ModuleBuilder("named")
    index = builder.declare_function(("f64",), ("f64",), "identity")
    builder.define(index, (), [OP["local.get"] + b"\0"])
    wasm = encode(builder.build())
    stripped = without_names(wasm)
    assert b"identity" in wasm
    assert b"identity" not in stripped
    assert without_names(stripped) == stripped
    (function,) = decode(stripped).functions
    assert function == dataclasses.replace(decode(wasm).functions[0], name="")
