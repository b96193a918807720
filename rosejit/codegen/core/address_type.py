"""What an address is in a module: a number of 32 bits, or of 64 (memory64) where a program needs more than 4 GiB.

Sizes in bytes, offsets, and the lengths in records of arrays are of the same type. A module has one of the two, and all
code that makes or uses addresses takes instructions from it.
"""

from collections.abc import Sequence
from typing import Literal

from rosejit.abi import ADDRESS_SPACE
from rosejit.ir.types import BOOL, INT, REAL, TAN, UNIT, Scalar, Type
from rosejit.wasm.instructions import (
    Immediate,
    bool_load,
    bool_store,
    f32_load,
    f32_store,
    f64_load,
    f64_store,
    i32_const,
    i32_load,
    i32_store,
    i64_const,
    i64_load,
    i64_store,
)
from rosejit.wasm.opcodes import OP

Kind = Literal["f64", "i64", "i32"]

KINDS: dict[Scalar, Kind | None] = {REAL: "f64", TAN: "f64", INT: "i64", BOOL: "i32", UNIT: None}
"""The Wasm types of scalars."""

_FEW = [("uint" if sign == "u" else "int", bits, sign) for sign in "su" for bits in (8, 16, 32)]
_LOADS = {"float32": f32_load, **{f"{name}{bits}": Immediate(f"i64.load{bits}_{sign}") for name, bits, sign in _FEW}}
_STORES = {"float32": f32_store, **{f"{name}{bits}": Immediate(f"i64.store{bits}") for name, bits, _ in _FEW}}
"""Of elements of few bits: what is loaded becomes a Real or an Int, and what is stored is one that has no more."""

PAGE = 1 << 16
"""Memory grows by so many bytes."""


class AddressType:
    """The instructions for addresses of 32 or 64 bits. A block has `largest` bytes at most."""

    def __init__(self, kind: Literal["i32", "i64"], largest: int, classes: int) -> None:
        self.kind: Kind = kind
        self.wide = kind == "i64"
        self.bytes = 8 if self.wide else 4
        """What an address takes in memory; all that has one of its own there takes 8."""
        self.scalar = INT if self.wide else BOOL
        """The type of variables of our own that hold addresses."""
        self.memory = ADDRESS_SPACE[self.wide]
        """No address is as large."""
        self.offsets = 1 << (8 * self.bytes - 1)
        """Offsets that are smaller are positive as numbers with a sign."""
        self.largest = largest
        self.pages = self.memory // PAGE - 1
        """Of the memory. One is left out: the end of the heap is an address too."""
        self.classes = classes
        """How many sizes of blocks there are."""
        self.length, self.capacity, self.record = self.bytes, 2 * self.bytes, 3 * self.bytes
        """Offsets in the record of an array of any length, behind the address of its elements; its bytes."""
        self.const = i64_const if self.wide else i32_const
        self.load = i64_load if self.wide else i32_load
        self.store = i64_store if self.wide else i32_store
        self.zero = self.const[0]
        self.add, self.sub, self.mul = self.op("add"), self.op("sub"), self.op("mul")
        self.shl, self.shr_u = self.op("shl"), self.op("shr_u")
        self.of_int = b"" if self.wide else OP["i32.wrap_i64"]
        """Takes an Int that is not negative, leaves it as an address."""
        self.to_int = b"" if self.wide else OP["i64.extend_i32_u"]
        """The other way round."""
        self.test = self.zero + self.op("ne") if self.wide else b""
        """Takes an address, leaves an i32 that says whether it is not 0."""
        self.loads = {"real": f64_load, "int": i64_load, "bool": bool_load, "address": self.load, **_LOADS}
        self.stores = {"real": f64_store, "int": i64_store, "bool": bool_store, "address": self.store, **_STORES}
        """By offset, of the kinds of cells."""

    def op(self, name: str) -> bytes:
        """An instruction on addresses."""
        return OP[f"{self.kind}.{name}"]

    def moved(self, offset: int) -> bytes:
        """Adds a constant to the address on the stack."""
        return self.const[offset] + self.add if offset else b""

    def scaled(self, stride: int) -> bytes:
        """Takes an Int, leaves it as an offset, times `stride`."""
        if stride & (stride - 1) == 0:
            shift = stride.bit_length() - 1
            return self.of_int + (
                self.const[shift] + self.shl if shift > 0 else b"" if stride else self.zero + self.mul
            )
        return self.of_int + self.const[stride] + self.mul

    def kind_of(self, t: Type) -> Kind | None:
        """The Wasm type of a variable of type `t`; `()` has none."""
        return KINDS[t] if type(t) is Scalar else self.kind  # hashing other types takes long

    def kinds(self, types: Sequence[Type]) -> tuple[Kind, ...]:
        """The Wasm types of values; those of type `()` are left out."""
        return tuple(kind for t in types if (kind := self.kind_of(t)) is not None)


NARROW = AddressType("i32", 1 << 31, 128)
"""No block is larger than 2 GiB: sizes stay positive as numbers with a sign."""

WIDE = AddressType("i64", 1 << 37, 160)
