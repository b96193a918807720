"""The bytes of a module back to a `Module`, and of a body to its instructions, as far as `encode` writes the format."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple, TypeVar, cast

from rosejit.lazy_dataclass import dataclass
from rosejit.wasm.encode import HEADER, KINDS, WIDE
from rosejit.wasm.leb128 import read_signed, read_unsigned
from rosejit.wasm.module import (
    Data,
    Elements,
    Export,
    Function,
    FuncType,
    Global,
    GlobalType,
    Import,
    Locals,
    Memory,
    Module,
    Table,
    ValueType,
)
from rosejit.wasm.opcodes import NO_RESULT, OP, OPCODES, VALUE_TYPES, Opcode

T = TypeVar("T")

_TYPE_NAMES = cast("dict[int, ValueType]", {code[0]: name for name, code in VALUE_TYPES.items()})
_FIRST_PAGE = {opcode.code[0]: opcode for opcode in OPCODES.values() if len(opcode.code) == 1}
_PAGES = {
    (opcode.code[0], read_unsigned(opcode.code, 1)[0]): opcode for opcode in OPCODES.values() if len(opcode.code) > 1
}


class Instruction(NamedTuple):
    """One instruction as it stands in a body."""

    opcode: Opcode
    immediates: tuple[Any, ...]
    """Integers; the bytes of a float or vector; a type, an index or None for a block; a tuple of labels."""


@dataclass(slots=True)
class _Reader:
    data: bytes
    at: int = 0

    def take(self, count: int) -> bytes:
        taken = self.data[self.at : self.at + count]
        if len(taken) < count:
            raise ValueError("the module ends too early")
        self.at += count
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def unsigned(self) -> int:
        n, self.at = read_unsigned(self.data, self.at)
        return n

    def signed(self) -> int:
        n, self.at = read_signed(self.data, self.at)
        return n

    def name(self) -> str:
        return self.take(self.unsigned()).decode()

    def vector(self, item: Callable[[], T]) -> tuple[T, ...]:
        return tuple([item() for _ in range(self.unsigned())])

    def value_type(self) -> ValueType:
        return _TYPE_NAMES[self.byte()]


def decode(data: bytes) -> Module:
    """The module that encodes to `data`. Raises `ValueError` for what is no module, or uses more than we write."""
    if data[: len(HEADER)] != HEADER:
        raise ValueError("not a WebAssembly module")
    try:
        return _module(_Reader(data, len(HEADER)))
    except (LookupError, UnicodeDecodeError) as error:
        raise ValueError(f"not a module of ours: {error}") from error


def _module(reader: _Reader) -> Module:
    parts: dict[str, Any] = {}
    types_of: tuple[int, ...] = ()
    names = _Names("", {})
    while reader.at < len(reader.data):
        number = reader.byte()
        content = _Reader(reader.take(reader.unsigned()))
        if number == 0:
            names = _names(content) if content.name() == "name" else names
        elif number == 3:
            types_of = content.vector(content.unsigned)
        elif number == 8:
            parts["start"] = content.unsigned()
        elif number == 10:
            bodies = content.vector(lambda content=content: _body(content))
            parts["functions"] = tuple(Function(t, *body) for t, body in zip(types_of, bodies, strict=True))
        elif number != 12:
            field, item = _VECTORS[number]
            parts[field] = content.vector(lambda item=item, content=content: item(content))
    return _named(Module(**parts), names)


class _Names(NamedTuple):
    module: str
    functions: dict[int, str]


def _names(content: _Reader) -> _Names:
    module, functions = "", ()
    while content.at < len(content.data):
        number = content.byte()
        part = _Reader(content.take(content.unsigned()))
        if number == 0:
            module = part.name()
        elif number == 1:
            functions = part.vector(lambda part=part: (part.unsigned(), part.name()))
    return _Names(module, dict(functions))


def _named(module: Module, names: _Names) -> Module:
    labels = (names.functions.get(index, "") for index in count())
    return replace(
        module,
        name=names.module,
        imports=tuple(
            replace(item, label=next(labels)) if isinstance(item.desc, int) else item for item in module.imports
        ),
        functions=tuple(replace(item, name=next(labels)) for item in module.functions),
    )


def _func_type(reader: _Reader) -> FuncType:
    if reader.byte() != 0x60:
        raise ValueError("only function types are known")
    return FuncType(reader.vector(reader.value_type), reader.vector(reader.value_type))


def _limits(reader: _Reader, known: int = 1) -> tuple[int, int | None, int]:
    """The least, the most, and the flags, none but `known` ones."""
    flags = reader.byte()
    if flags & ~known:
        raise ValueError("shared memories and 64-bit tables are not known")
    return reader.unsigned(), reader.unsigned() if flags & 1 else None, flags


def _table(reader: _Reader) -> Table:
    if reader.value_type() != "funcref":
        raise ValueError("only tables of functions are known")
    return Table(*_limits(reader)[:2])


def _memory(reader: _Reader) -> Memory:
    least, most, flags = _limits(reader, 1 | WIDE)
    return Memory(least, most, bool(flags & WIDE))


def _global_type(reader: _Reader) -> GlobalType:
    return GlobalType(reader.value_type(), bool(reader.byte()))


def _import(reader: _Reader) -> Import:
    module, name = reader.name(), reader.name()
    kinds = (_Reader.unsigned, _table, _memory, _global_type)
    return Import(module, name, kinds[reader.byte()](reader))


def _global(reader: _Reader) -> Global:
    return Global(_global_type(reader), _constant(reader))


def _export(reader: _Reader) -> Export:
    return Export(reader.name(), KINDS[reader.byte()], reader.unsigned())


def _elements(reader: _Reader) -> Elements:
    flag = reader.unsigned()
    table = reader.unsigned() if flag == 2 else 0
    offset = _offset(reader)
    if flag not in (0, 2) or (flag == 2 and reader.byte() != 0):
        raise ValueError("only active lists of functions are known")
    return Elements(offset, reader.vector(reader.unsigned), table)


def _data(reader: _Reader) -> Data:
    offset = None if reader.unsigned() else _offset(reader)
    return Data(offset, reader.take(reader.unsigned()))


_VECTORS: dict[int, tuple[str, Callable[[_Reader], object]]] = {
    1: ("types", _func_type),
    2: ("imports", _import),
    4: ("tables", _table),
    5: ("memories", _memory),
    6: ("globals", _global),
    7: ("exports", _export),
    9: ("elements", _elements),
    11: ("data", _data),
}


def _constant(reader: _Reader) -> bytes:
    first = reader.at
    while _instruction(reader).opcode.name != "end":
        pass
    return reader.data[first : reader.at - 1]


def _offset(reader: _Reader) -> int:
    (constant,) = instructions(_constant(reader))
    if constant.opcode.name not in ("i32.const", "i64.const"):
        raise ValueError("only constant offsets are known")
    return constant.immediates[0] % (1 << (32 if constant.opcode.name == "i32.const" else 64))


def _body(reader: _Reader) -> tuple[Locals, bytes]:
    content = _Reader(reader.take(reader.unsigned()))
    runs = content.vector(lambda: (content.unsigned(), content.value_type()))
    body, last = content.data[content.at : -1], content.data[-1:]
    if last != OP["end"]:
        raise ValueError("a body does not end with `end`")
    return runs, body


def instructions(body: bytes) -> Iterator[Instruction]:
    """The instructions of a body, in order."""
    reader = _Reader(body)
    try:
        while reader.at < len(body):
            yield _instruction(reader)
    except LookupError as error:
        raise ValueError(f"not an instruction of ours: {error}") from error


def _instruction(reader: _Reader) -> Instruction:
    first = reader.byte()
    opcode = _FIRST_PAGE.get(first) or _PAGES[first, reader.unsigned()]
    if opcode.alignment and 1 << reader.unsigned() != opcode.alignment:
        raise ValueError("only natural alignment is known")
    return Instruction(opcode, tuple([_IMMEDIATES.get(kind, _Reader.unsigned)(reader) for kind in opcode.immediates]))


def _block_type(reader: _Reader) -> str | int | None:
    first = reader.data[reader.at]
    if first == NO_RESULT[0]:
        reader.at += 1
        return None
    return reader.value_type() if first in _TYPE_NAMES else reader.signed()


_IMMEDIATES: dict[str, Callable[[_Reader], Any]] = {
    "block": _block_type,
    "labels": lambda reader: (*reader.vector(reader.unsigned), reader.unsigned()),
    "i32": _Reader.signed,
    "i64": _Reader.signed,
    "f32": lambda reader: reader.take(4),
    "f64": lambda reader: reader.take(8),
    "v128": lambda reader: reader.take(16),
    "lanes": lambda reader: reader.take(16),
}
