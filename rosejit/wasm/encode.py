"""A module to the bytes of the WebAssembly binary format."""

from collections.abc import Iterable
from itertools import groupby

from rosejit.wasm.instructions import i32_const, i64_const
from rosejit.wasm.leb128 import unsigned
from rosejit.wasm.module import (
    Data,
    Elements,
    Export,
    Function,
    FuncType,
    Global,
    GlobalType,
    Import,
    Kind,
    Memory,
    Module,
    Table,
    ValueType,
)
from rosejit.wasm.opcodes import OP, VALUE_TYPES

HEADER = b"\0asm\1\0\0\0"
KINDS: tuple[Kind, ...] = ("func", "table", "memory", "global")
"""Of imports and exports, at the position that is their number."""

_END = OP["end"]
WIDE = 4
"""The flag of a memory whose addresses have 64 bits."""


def encode(module: Module) -> bytes:
    """The module as an engine loads it, with the names of its functions."""
    passive = any(segment.offset is None for segment in module.data)
    sections = (
        _vector_section(1, map(_func_type, module.types)),
        _vector_section(2, map(_import, module.imports)),
        _vector_section(3, (unsigned(function.type) for function in module.functions)),
        _vector_section(4, map(_table, module.tables)),
        _vector_section(5, map(_memory, module.memories)),
        _vector_section(6, _globals(module.globals)),
        _vector_section(7, map(_export, module.exports)),
        b"" if module.start is None else _section(8, unsigned(module.start)),
        _vector_section(9, map(_elements, module.elements)),
        _section(12, unsigned(len(module.data))) if passive else b"",
        _vector_section(10, map(_encode_function, module.functions)),
        _vector_section(11, [_data(item, wide=module.is_wide) for item in module.data]),
        _name_section(module),
    )
    return HEADER + b"".join(sections)


def _section(number: int, content: bytes) -> bytes:
    return b"".join((bytes((number,)), unsigned(len(content)), content))


def _vector_section(number: int, items: Iterable[bytes]) -> bytes:
    entries = list(items)
    return _section(number, unsigned(len(entries)) + b"".join(entries)) if entries else b""


def _name(text: str) -> bytes:
    encoded = text.encode()
    return unsigned(len(encoded)) + encoded


def _types(types: tuple[ValueType, ...]) -> bytes:
    return unsigned(len(types)) + b"".join([VALUE_TYPES[type] for type in types])


def _func_type(type: FuncType) -> bytes:
    return b"\x60" + _types(type.params) + _types(type.results)


def _limits(limits: Table | Memory) -> bytes:
    if limits.maximum is None:
        return b"\0" + unsigned(limits.minimum)
    return b"\1" + unsigned(limits.minimum) + unsigned(limits.maximum)


def _table(table: Table) -> bytes:
    return VALUE_TYPES["funcref"] + _limits(table)


def _memory(memory: Memory) -> bytes:
    flags, *rest = _limits(memory)
    return bytes((flags | WIDE * memory.wide, *rest))


def _global_type(type: GlobalType) -> bytes:
    return VALUE_TYPES[type.type] + (b"\1" if type.mutable else b"\0")


def _global(item: Global) -> bytes:
    return _global_type(item.type) + item.init + _END


def _globals(items: tuple[Global, ...]) -> list[bytes]:
    """Thousands in a row may be one object."""
    found: list[bytes] = []
    for _, run in groupby(items, id):
        same = list(run)
        found += [_global(same[0])] * len(same)
    return found


def _import(item: Import) -> bytes:
    match item.desc:
        case int():
            desc = b"\0" + unsigned(item.desc)
        case Table():
            desc = b"\1" + _table(item.desc)
        case Memory():
            desc = b"\2" + _memory(item.desc)
        case GlobalType():
            desc = b"\3" + _global_type(item.desc)
    return _name(item.module) + _name(item.name) + desc


def _export(item: Export) -> bytes:
    return _name(item.name) + bytes((KINDS.index(item.kind),)) + unsigned(item.index)


def _elements(item: Elements) -> bytes:
    head = b"\0" if item.table == 0 else b"\2" + unsigned(item.table)
    kind = b"" if item.table == 0 else b"\0"
    functions = b"".join(map(unsigned, item.functions))
    return b"".join((head, i32_const[item.offset], _END, kind, unsigned(len(item.functions)), functions))


def _data(item: Data, *, wide: bool) -> bytes:
    const = i64_const if wide else i32_const
    head = b"\1" if item.offset is None else b"\0" + const[item.offset] + _END
    return b"".join((head, unsigned(len(item.bytes)), item.bytes))


def _encode_function(function: Function) -> bytes:
    runs = b"".join([unsigned(count) + VALUE_TYPES[type] for count, type in function.locals])
    head = unsigned(len(function.locals)) + runs
    size = unsigned(len(head) + len(function.body) + len(_END))
    return b"".join((size, head, function.body, _END))


def _name_section(module: Module) -> bytes:
    labels = [item.label for item in module.imports if isinstance(item.desc, int)]
    labels += [function.name for function in module.functions]
    names = [unsigned(index) + _name(label) for index, label in enumerate(labels) if label]
    content = _section(0, _name(module.name)) if module.name else b""
    if names:
        content += _section(1, unsigned(len(names)) + b"".join(names))
    return _section(0, _name("name") + content) if content else b""
