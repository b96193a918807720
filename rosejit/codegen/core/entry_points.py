"""The border of a module: slots in the exchange block, the entries that move values through them, releases, imports."""

from collections.abc import Sequence

from rosejit.abi import EXCHANGE, Element, Entry, Import, Slot
from rosejit.codegen.core.address_type import NARROW, AddressType
from rosejit.codegen.core.emit_traps import abi_scalar
from rosejit.codegen.core.function_body import LOADS, STORES
from rosejit.codegen.core.layout import Rows, elements_of
from rosejit.codegen.core.module_builder import Callee, ModuleContext
from rosejit.errors import RoseMemoryError
from rosejit.ir.syntax import Function, Var
from rosejit.ir.types import STORED, UNIT, Array, Scalar, Type, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.wasm.instructions import bool_load, i32_store, local_get, local_set, memory_copy
from rosejit.wasm.module import Export, Locals, ValueType


def slot_of(t: Type, releases: dict[Type, str]) -> Slot:
    """How a value of type `t` crosses; `releases` names the exports that free what the host will own."""
    if isinstance(t, Scalar):
        return Slot(abi_scalar(t))
    inner = t.element if isinstance(t, Array) and t.length is None else t
    shape: list[int] = []
    while isinstance(inner, Array) and inner.length is not None:
        shape.append(inner.length)
        inner = inner.element
    if not isinstance(inner, Scalar) or inner is UNIT:
        return Slot("handle", release=releases.setdefault(t, f"release_{len(releases)}"))
    if isinstance(t, Array) and t.length is not None:
        return Slot("array", 0, tuple(shape), _element(inner))
    release = releases.setdefault(t, f"release_{len(releases)}")
    return Slot("dyn", 0, tuple(shape), _element(inner), release)


_STORED: dict[Scalar, Element] = {t: name for name, t in STORED.items()}


def _element(t: Scalar) -> Element:
    """What the host calls the type of elements."""
    return _STORED.get(t) or abi_scalar(t)


@dataclass(slots=True)
class EntryLayout:
    """Where the values of an entry lie: a word of 8 bytes for each, and behind them the elements of arrays.

    So scalars are where a function that takes its arguments or gives its results through memory has them.
    """

    entry: Entry
    params: int
    results: int
    """The addresses of the words."""
    end: int


def entry_layout(name: str, f: Function, releases: dict[Type, str], address: AddressType = NARROW) -> EntryLayout:
    """The slots of the entry for `f`."""
    params = [slot_of(p.type, releases) for p in f.params if p.type is not UNIT]
    results = [slot_of(t, releases) for t in f.results if t is not UNIT]
    words = EXCHANGE + 8 * len(params)
    placed_params, end = _placed(params, EXCHANGE, words + 8 * len(results))
    placed_results, end = _placed(results, words, end)
    if end > address.largest:
        raise RoseMemoryError(
            f"the arguments and results of `{f.name}` take {end:,} bytes, more than the {address.largest:,} that "
            "compiled code can address",
            f.span,
            help="make them smaller: return what is needed of an array, or work on it in parts",
        )
    return EntryLayout(Entry(name, placed_params, placed_results), EXCHANGE, words, end)


def _placed(slots: Sequence[Slot], word: int, end: int) -> tuple[tuple[Slot, ...], int]:
    """`slots` with their offsets: words from `word` on, elements of arrays from `end` on."""
    found: list[Slot] = []
    for k, slot in enumerate(slots):
        offset = word + 8 * k
        if slot.kind == "array":
            offset, end = end, end + -(-slot.bytes // 8) * 8
        found.append(Slot(slot.kind, offset, slot.shape, slot.element, slot.release))
    return tuple(found), end


def import_of(f: Function, address: AddressType) -> tuple[Import, tuple[ValueType, ...], tuple[ValueType, ...]]:
    """A host function as the runtime sees it, and its Wasm type."""
    params = tuple(slot_of(p.type, {}) for p in f.params if p.type is not UNIT)
    results = tuple(slot_of(t, {}) for t in f.results if t is not UNIT)
    places: list[ValueType] = [address.kind for t in f.results if is_boxed(t)]
    returned = address.kinds([t for t in f.results if not is_boxed(t)])
    return Import(f.name, params, results), (*address.kinds([p.type for p in f.params]), *places), returned


_SCRATCH = {"i32": 0, "i64": 1, "f64": 2}
_SCRATCH_LOCALS: Locals = ((1, "i32"), (1, "i64"), (1, "f64"))


def write_entry(module: ModuleContext, f: Function, place: EntryLayout) -> None:
    """Export the function that loads the arguments, calls `f` and stores the results."""
    callee = module.callee(f)
    index = module.builder.declare_function((), (), place.entry.name)
    code = [*_arguments(module, f, callee, place), callee.code, *_results(module, callee, place)]
    module.builder.define(index, _SCRATCH_LOCALS, code)
    module.builder.exports.append(Export(place.entry.name, "func", index))
    module.record_function(index, f)


def write_releases(module: ModuleContext, releases: dict[Type, str]) -> None:
    """Export what gives values back that the host owned."""
    for t, name in releases.items():
        index = module.builder.declare_function((module.address.kind,), (), name)
        module.builder.define(index, (), [local_get[0], module.drop(t)])
        module.builder.exports.append(Export(name, "func", index))


def _arguments(module: ModuleContext, f: Function, callee: Callee, place: EntryLayout) -> list[bytes]:
    """Leaves what `f` takes; Reals and Ints that go through memory are where they must be."""
    code: list[bytes] = []
    a = module.address
    given: list[Var] = [p for p in f.params if p.type is not UNIT]
    for k, (p, slot) in enumerate(zip(given, place.entry.params, strict=True)):
        value = argument(module, p, slot, own=p in f.own)
        if not callee.params_in_memory:
            code.append(value)
        elif slot.kind not in ("real", "int"):
            store = i32_store if slot.kind == "bool" else a.store
            code += (a.zero, value, store[place.params + 8 * k])
    if callee.params_in_memory:
        code.append(a.const[place.params])
    if callee.results_in_memory:
        code.append(a.const[place.results])
    return code


def argument(module: ModuleContext, p: Var, slot: Slot, *, own: bool) -> bytes:
    """Leaves the argument in a slot, a copy of its own if the callee consumes it."""
    a = module.address
    if slot.kind == "bool":
        return a.zero + bool_load[slot.offset]
    kind = a.kind_of(p.type)
    assert kind is not None
    value = a.const[slot.offset] if slot.kind == "array" else a.zero + LOADS[kind][slot.offset]
    if slot.kind == "dyn":  # the host does not write how many bytes it took for the elements
        stride = elements_of(module.layouts.of(p.type)).stride
        value += value + a.load[a.length] + a.const[stride] + a.mul + a.store[a.capacity] + value
    return value + module.glue.copy(p.type) if own and is_boxed(p.type) else value


def _results(module: ModuleContext, callee: Callee, place: EntryLayout) -> list[bytes]:
    """Puts the results, the last of which is on top, into their slots."""
    code: list[bytes] = []
    a = module.address
    slots = list(zip(callee.results, place.entry.results, strict=True))
    for k, (t, slot) in reversed(list(enumerate(slots))):
        kind = a.kind_of(t)
        assert kind is not None
        word = place.results + 8 * k
        scratch = _SCRATCH[kind]
        if slot.kind == "array":
            address = a.zero + a.load[word] if callee.results_in_memory else b""
            code += (address, local_set[scratch], *_copied(module, t, slot, scratch))
        elif not callee.results_in_memory:
            code += (local_set[scratch], a.zero, local_get[scratch], STORES[kind][word])
    return code


def _copied(module: ModuleContext, t: Type, slot: Slot, source: int) -> list[bytes]:
    """Moves an array into its slot and frees its block."""
    rows = elements_of(module.layouts.of(t))
    assert isinstance(rows, Rows)
    const = module.address.const
    copy = [const[slot.offset], local_get[source], const[rows.stride * rows.length], memory_copy]
    return [*copy, local_get[source], module.drop(t)]
