"""Instructions with their immediates as bytes, made once each, ready to be appended to a function's body.

Whatever takes one integer is a table: `local_get[3]`, `i64_const[-1]`, `f64_load[offset]`, `br[depth]`, `call[index]`.
What takes nothing is in `opcodes.OP`: `OP["f64.add"]`.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from struct import Struct

from rosejit.wasm.leb128 import signed, unsigned
from rosejit.wasm.opcodes import NO_RESULT, OP, OPCODES, VALUE_TYPES

BlockType = str | int | None
"""What a block leaves: nothing, a value of this type, or the results of the function type at this index."""

_KEPT = range(-0x10000, 0x10000)


def _wrapped(bits: int, n: int) -> bytes:
    """Like the text format, takes unsigned numbers too: `0xffffffff` is the i32 `-1`."""
    half = 1 << bits - 1
    if not -half <= n < 2 * half:
        raise ValueError(f"{n} does not fit in {bits} bits")
    return signed(n - 2 * half if n >= half else n)


_ENCODERS: dict[str, Callable[[int], bytes]] = {"i32": partial(_wrapped, 32), "i64": partial(_wrapped, 64)}


class Immediate(dict[int, bytes]):
    """An instruction that takes one integer: `Immediate("local.get")[3]`. Looking up costs what a `dict` does. Others
    may stand before and after it."""

    __slots__ = ("_after", "_encode", "_prefix")

    def __init__(self, name: str, before: bytes = b"", after: bytes = b"") -> None:
        opcode = OPCODES[name]
        if len(opcode.immediates) != 1:
            raise ValueError(f"`{name}` does not take one immediate")
        self._after = after
        self._prefix = before + opcode.code
        if opcode.alignment:
            self._prefix += unsigned(opcode.alignment.bit_length() - 1)
        self._encode = _ENCODERS.get(opcode.immediates[0], unsigned)

    def __missing__(self, n: int) -> bytes:
        code = self._prefix + self._encode(n) + self._after
        if n in _KEPT:  # large constants and addresses are rarely met twice
            self[n] = code
        return code


local_get, local_set, local_tee = Immediate("local.get"), Immediate("local.set"), Immediate("local.tee")
global_get, global_set = Immediate("global.get"), Immediate("global.set")
br, br_if = Immediate("br"), Immediate("br_if")
call = Immediate("call")
i32_const, i64_const = Immediate("i32.const"), Immediate("i64.const")

# by offset, at natural alignment
i32_load, i32_store = Immediate("i32.load"), Immediate("i32.store")
i64_load, i64_store = Immediate("i64.load"), Immediate("i64.store")
f64_load, f64_store = Immediate("f64.load"), Immediate("f64.store")
f32_load = Immediate("f32.load", after=OP["f64.promote_f32"])
f32_store = Immediate("f32.store", before=OP["f32.demote_f64"])
bool_load, bool_store = Immediate("i32.load8_u"), Immediate("i32.store8")
v128_load, v128_store = Immediate("v128.load"), Immediate("v128.store")

memory_size = OP["memory.size"] + b"\0"
memory_grow = OP["memory.grow"] + b"\0"
memory_copy = OP["memory.copy"] + b"\0\0"
memory_fill = OP["memory.fill"] + b"\0"

f32_const: Callable[[float], bytes] = partial(Struct("<cf").pack, OP["f32.const"])
f64_const: Callable[[float], bytes] = partial(Struct("<cd").pack, OP["f64.const"])
"""The constant with all its bits: signed zeros and NaN payloads included."""


def f64x2_const(low: float, high: float) -> bytes:
    """Lane 0, then lane 1."""
    return OP["v128.const"] + Struct("<2d").pack(low, high)


def i64x2_const(low: int, high: int) -> bytes:
    """Lane 0, then lane 1; modulo 2^64."""
    return OP["v128.const"] + b"".join((n % (1 << 64)).to_bytes(8, "little") for n in (low, high))


def shuffle(lanes: Sequence[int]) -> bytes:
    """`i8x16.shuffle`: sixteen bytes picked from the 32 of two operands."""
    return OP["i8x16.shuffle"] + bytes(lanes)


@cache
def block(result: BlockType = None) -> bytes:
    """Opens a block: a branch to it goes to its end."""
    return OP["block"] + _block_type(result)


@cache
def loop(result: BlockType = None) -> bytes:
    """Opens a loop: a branch to it goes to its start."""
    return OP["loop"] + _block_type(result)


@cache
def if_(result: BlockType = None) -> bytes:
    """Takes an i32 and opens the side for other than zero; `OP["else"]` and `OP["end"]` follow."""
    return OP["if"] + _block_type(result)


def _block_type(result: BlockType) -> bytes:
    if result is None:
        return NO_RESULT
    return signed(result) if isinstance(result, int) else VALUE_TYPES[result]


def br_table(labels: Sequence[int], default: int) -> bytes:
    """Branches to `labels[n]` for the i32 `n` on the stack, past their end to `default`."""
    return b"".join((OP["br_table"], unsigned(len(labels)), *map(unsigned, labels), unsigned(default)))


@cache
def call_indirect(type_index: int, table: int = 0) -> bytes:
    """Takes the arguments, then the position of the function in the table."""
    return OP["call_indirect"] + unsigned(type_index) + unsigned(table)
