"""A module, or its bytes, to the WebAssembly text format, indented by blocks."""

import re
from collections.abc import Iterator
from struct import unpack
from typing import Any

from rosejit.wasm.decode import Instruction, decode, instructions
from rosejit.wasm.instructions import BlockType
from rosejit.wasm.module import (
    Data,
    Elements,
    Export,
    Function,
    FuncType,
    Global,
    GlobalType,
    Import,
    Memory,
    Module,
    Table,
)

_INDENT = "  "


def wat(module: Module | bytes) -> str:
    """The text of a module; an assembler makes the same bytes of it again, up to the spelling of names."""
    if isinstance(module, bytes):
        module = decode(module)
    names = _function_names(module)
    own = names[len(names) - len(module.functions) :]
    lines = [f"(module {_identifier(module.name)}" if module.name else "(module"]
    lines += [_INDENT + field for field in _fields(module, names)]
    for name, function in zip(own, module.functions, strict=True):
        lines += _function_text(name, function, module.types[function.type], names)
    return "\n".join(lines) + "\n)\n"


def _fields(module: Module, names: list[str]) -> Iterator[str]:
    """All but the functions."""
    yield from (f"(type (;{index};) (func{_signature(type)}))" for index, type in enumerate(module.types))
    functions = iter(names)
    yield from (_import(item, functions) for item in module.imports)
    yield from (f"(table {_limits(table)} funcref)" for table in module.tables)
    yield from (f"(memory {_memory(memory)})" for memory in module.memories)
    yield from (_global(item, names) for item in module.globals)
    yield from (_export(item, names) for item in module.exports)
    if module.start is not None:
        yield f"(start {names[module.start]})"
    yield from (_elements(item, names) for item in module.elements)
    yield from (_data(item, "i64" if module.is_wide else "i32") for item in module.data)


def _identifier(name: str) -> str:
    return "$" + re.sub(r"[^\w.!#$%&'*+\-/:<=>?@\\^`|~]", "_", name, flags=re.ASCII)


def _function_names(module: Module) -> list[str]:
    """How the text refers to each function: by its name, made unique, or by its index."""
    labels = [item.label for item in module.imports if isinstance(item.desc, int)]
    labels += [function.name for function in module.functions]
    names: list[str] = []
    taken: set[str] = set()
    for index, label in enumerate(labels):
        name = _identifier(label) if label else str(index)
        while name in taken:
            name += f".{index}"
        taken.add(name)
        names.append(name)
    return names


def _string(data: bytes) -> str:
    plain = range(0x20, 0x7F)
    return '"' + "".join(chr(b) if b in plain and chr(b) not in '"\\' else f"\\{b:02x}" for b in data) + '"'


def _signature(type: FuncType) -> str:
    params = f" (param {' '.join(type.params)})" if type.params else ""
    return params + (f" (result {' '.join(type.results)})" if type.results else "")


def _limits(limits: Table | Memory) -> str:
    return str(limits.minimum) if limits.maximum is None else f"{limits.minimum} {limits.maximum}"


def _memory(memory: Memory) -> str:
    return "i64 " * memory.wide + _limits(memory)


def _global_type(type: GlobalType) -> str:
    return f"(mut {type.type})" if type.mutable else type.type


def _import(item: Import, functions: Iterator[str]) -> str:
    match item.desc:
        case int(type):
            desc = f"(func {_definition(next(functions))} (type {type}))"
        case Table() as table:
            desc = f"(table {_limits(table)} funcref)"
        case Memory() as memory:
            desc = f"(memory {_memory(memory)})"
        case GlobalType() as type:
            desc = f"(global {_global_type(type)})"
    return f"(import {_string(item.module.encode())} {_string(item.name.encode())} {desc})"


def _global(item: Global, names: list[str]) -> str:
    init = " ".join(_instruction_text(instruction, names) for instruction in instructions(item.init))
    return f"(global {_global_type(item.type)} ({init}))"


def _export(item: Export, names: list[str]) -> str:
    target = names[item.index] if item.kind == "func" else item.index
    return f"(export {_string(item.name.encode())} ({item.kind} {target}))"


def _definition(name: str) -> str:
    return name if name.startswith("$") else f"(;{name};)"


def _elements(item: Elements, names: list[str]) -> str:
    table = f"(table {item.table}) " if item.table else ""
    return f"(elem {table}(i32.const {item.offset}) func {' '.join(names[i] for i in item.functions)})"


def _data(item: Data, address: str) -> str:
    offset = "" if item.offset is None else f"({address}.const {item.offset}) "
    return f"(data {offset}{_string(item.bytes)})"


def _function_text(name: str, function: Function, type: FuncType, names: list[str]) -> Iterator[str]:
    yield f"{_INDENT}(func {_definition(name)} (type {function.type}){_signature(type)}"
    for count, local in function.locals:
        yield f"{_INDENT * 2}(local{f' {local}' * count})"
    depth = 2
    for instruction in instructions(function.body):
        opcode = instruction.opcode.name
        if opcode in ("end", "else"):
            depth -= 1
        yield _INDENT * depth + _instruction_text(instruction, names)
        if opcode in ("block", "loop", "if", "else"):
            depth += 1
    yield f"{_INDENT})"


def _instruction_text(instruction: Instruction, names: list[str]) -> str:
    opcode, immediates = instruction
    pairs = list(zip(opcode.immediates, immediates, strict=True))
    if opcode.name.endswith("call_indirect"):
        pairs.reverse()  # the text names the table first
    words = (_immediate_text(kind, value, names) for kind, value in pairs)
    return " ".join((opcode.name, *filter(None, words)))


def _immediate_text(kind: str, value: Any, names: list[str]) -> str:
    """Empty for what the text format leaves out."""
    match kind:
        case "block":
            return _block_text(value)
        case "type":
            return f"(type {value})"
        case "func":
            return names[int(value)]
        case "labels" | "lanes":
            return " ".join(map(str, value))
        case "offset":
            return f"offset={value}" if value else ""
        case "memory" | "table":
            return str(value) if value else ""
        case "f32" | "f64":
            return _float_text(value)
        case "v128":
            return _vector_text(value)
        case _:
            return str(value)


def _block_text(result: BlockType) -> str:
    if result is None:
        return ""
    return f"(type {result})" if isinstance(result, int) else f"(result {result})"


def _float_text(data: bytes) -> str:
    """The shortest number that reads back to the same bits."""
    size = len(data)
    bits, fraction = int.from_bytes(data, "little"), {4: 23, 8: 52}[size]
    magnitude, infinity = bits & (1 << 8 * size - 1) - 1, (1 << 8 * size - 1) - (1 << fraction)
    if magnitude > infinity:
        return f"{'' if bits == magnitude else '-'}nan:{magnitude - infinity:#x}"
    return repr(unpack("<f" if size == 4 else "<d", data)[0])


def _vector_text(data: bytes) -> str:
    """As integers where both are small, else as reals, which keep all bits too."""
    integers = unpack("<2q", data)
    if all(abs(n) < 1 << 32 for n in integers):
        return f"i64x2 {integers[0]} {integers[1]}"
    return f"f64x2 {_float_text(data[:8])} {_float_text(data[8:])}"
