"""A WebAssembly module as plain values, together with the builder that hands out its indices."""

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Literal

from rosejit.lazy_dataclass import dataclass

ValueType = Literal["i32", "i64", "f32", "f64", "v128", "funcref"]
Kind = Literal["func", "table", "memory", "global"]
Locals = tuple[tuple[int, ValueType], ...]
"""Runs of locals, `(how many, of what type)`; their indices follow those of the parameters."""


@dataclass(slots=True, frozen=True)
class FuncType:
    """What a function takes and leaves."""

    params: tuple[ValueType, ...] = ()
    results: tuple[ValueType, ...] = ()


@dataclass(slots=True, frozen=True)
class Memory:
    """Linear memory, in pages of 64 KiB; a `wide` one has addresses of 64 bits (memory64)."""

    minimum: int
    maximum: int | None = None
    wide: bool = False


@dataclass(slots=True, frozen=True)
class Table:
    """A table of functions for `call_indirect`."""

    minimum: int
    maximum: int | None = None


@dataclass(slots=True, frozen=True)
class GlobalType:
    """What a global holds."""

    type: ValueType
    mutable: bool = False


@dataclass(slots=True, frozen=True)
class Import:
    """Something the host gives, found under two names."""

    module: str
    name: str
    desc: int | Table | Memory | GlobalType
    """An integer is the type of a function, an index into `Module.types`."""
    label: str = ""
    """What a function is called in texts and stack traces."""


@dataclass(slots=True, frozen=True)
class Function:
    """A function of the module itself."""

    type: int
    """An index into `Module.types`."""
    locals: Locals
    body: bytes
    """Without its last `end`."""
    name: str = ""


@dataclass(slots=True, frozen=True)
class Global:
    """A global of the module itself."""

    type: GlobalType
    init: bytes
    """One constant instruction, without `end`."""


@dataclass(slots=True, frozen=True)
class Export:
    """Something the host may use."""

    name: str
    kind: Kind
    index: int


@dataclass(slots=True, frozen=True)
class Elements:
    """Functions put in a table, from `offset` on, when the module starts."""

    offset: int
    functions: tuple[int, ...]
    table: int = 0


@dataclass(slots=True, frozen=True)
class Data:
    """Bytes put in memory, at `offset`, when the module starts; without an offset, when `memory.init` asks for them."""

    offset: int | None
    bytes: bytes


@dataclass(slots=True, frozen=True)
class Module:
    """A whole module. In every index space what is imported comes first."""

    types: tuple[FuncType, ...] = ()
    imports: tuple[Import, ...] = ()
    functions: tuple[Function, ...] = ()
    tables: tuple[Table, ...] = ()
    memories: tuple[Memory, ...] = ()
    globals: tuple[Global, ...] = ()
    exports: tuple[Export, ...] = ()
    start: int | None = None
    elements: tuple[Elements, ...] = ()
    data: tuple[Data, ...] = ()
    name: str = ""

    @property
    def is_wide(self) -> bool:
        """Whether addresses in the first memory have 64 bits."""
        imported = [item.desc for item in self.imports if isinstance(item.desc, Memory)]
        return any([memory.wide for memory in (*imported, *self.memories)[:1]])


@dataclass(slots=True)
class ModuleBuilder:
    """Collects a module. Imports come first, because their indices do; the lists may be appended to."""

    name: str = ""
    exports: list[Export] = field(default_factory=list[Export])
    elements: list[Elements] = field(default_factory=list[Elements])
    data: list[Data] = field(default_factory=list[Data])
    start: int | None = None
    types: dict[FuncType, int] = field(default_factory=dict[FuncType, int])
    declared: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Functions of the module itself, by type and name."""
    defined: dict[int, Function] = field(default_factory=dict[int, Function])
    """Those that have a body."""
    _imports: list[Import] = field(default_factory=list[Import])
    _imported: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(("func", "table", "memory", "global"), 0))
    _tables: list[Table] = field(default_factory=list[Table])
    _memories: list[Memory] = field(default_factory=list[Memory])
    _globals: list[Global] = field(default_factory=list[Global])

    def type_index(self, params: Iterable[ValueType], results: Iterable[ValueType]) -> int:
        """The index of a function type, the same whenever asked; for indirect calls and blocks with several results."""
        return self.types.setdefault(FuncType(tuple(params), tuple(results)), len(self.types))

    def import_function(
        self, module: str, name: str, params: Iterable[ValueType], results: Iterable[ValueType], label: str = ""
    ) -> int:
        """The index of an imported function."""
        return self._import("func", Import(module, name, self.type_index(params, results), label), self.declared)

    def import_memory(self, module: str, name: str, memory: Memory) -> int:
        """The index of an imported memory."""
        return self._import("memory", Import(module, name, memory), self._memories)

    def import_global(self, module: str, name: str, type: GlobalType) -> int:
        """The index of an imported global."""
        return self._import("global", Import(module, name, type), self._globals)

    def declare_function(self, params: Iterable[ValueType], results: Iterable[ValueType], name: str = "") -> int:
        """The index of a function whose body comes later, so that calls to it can be written at once."""
        self.declared.append((self.type_index(params, results), name))
        return self._imported["func"] + len(self.declared) - 1

    def define(self, index: int, locals: Locals, body: Iterable[bytes]) -> None:
        """Gives a declared function its body: chunks of code, without the last `end`."""
        at = index - self._imported["func"]
        if not 0 <= at < len(self.declared) or index in self.defined:
            raise ValueError(f"function {index} is not declared or already defined")
        type, name = self.declared[at]
        self.defined[index] = Function(type, locals, b"".join(body), name)

    def add_table(self, table: Table) -> int:
        """The index of a new table."""
        self._tables.append(table)
        return self._imported["table"] + len(self._tables) - 1

    def add_memory(self, memory: Memory) -> int:
        """The index of a new memory."""
        self._memories.append(memory)
        return self._imported["memory"] + len(self._memories) - 1

    def add_global(self, type: ValueType, init: bytes, mutable: bool = True, count: int = 1) -> int:
        """The index of a new global, the first of `count` that are alike."""
        index = self._imported["global"] + len(self._globals)
        self._globals += [Global(GlobalType(type, mutable), init)] * count
        return index

    def build(self) -> Module:
        """The module; every function declared must be defined."""
        first = self._imported["func"]
        indices = range(first, first + len(self.declared))
        missing = [self.declared[i - first][1] or str(i) for i in indices if i not in self.defined]
        if missing:
            raise ValueError(f"declared but not defined: {', '.join(missing)}")
        return Module(
            types=tuple(self.types),
            imports=tuple(self._imports),
            functions=tuple(self.defined[i] for i in indices),
            tables=tuple(self._tables),
            memories=tuple(self._memories),
            globals=tuple(self._globals),
            exports=tuple(self.exports),
            start=self.start,
            elements=tuple(self.elements),
            data=tuple(self.data),
            name=self.name,
        )

    def _import(self, kind: Kind, item: Import, own: Sequence[object]) -> int:
        if own:
            raise ValueError(f"import `{item.name}` comes after a {kind} of the module itself")
        self._imports.append(item)
        self._imported[kind] += 1
        return self._imported[kind] - 1
