"""Arrays whose length only the run knows: into the memory of an instance and out of it."""

import math
import struct
from typing import Any

from rosejit.abi import SCALAR_BYTES, Scalar, Slot
from rosejit.errors import WasmTrap
from rosejit.numeric import np
from rosejit.runtime.backend import Instance
from rosejit.runtime.marshalling import convert

_RECORD = struct.Struct("<Ii")  # address of the data, length


def rows(value: Any, shape: tuple[int, ...], element: Scalar) -> Any:
    """An array of any number of elements of that shape; raises `Mismatch` for other things."""
    try:
        count = len(value)
    except TypeError:
        raise convert.Mismatch(f"an array is needed, not a {type(value).__name__}") from None
    return convert.array(value, (count, *shape), element)


def send(instance: Instance, elements: Any, slot: Slot) -> int:
    """The address of a record of a copy of `elements`, which `give_back` frees."""
    data = instance.allocate(elements.nbytes) if elements.nbytes else 0
    record = instance.allocate(_RECORD.size)
    if elements.nbytes:
        instance.memory.store(data, elements.tobytes())
    instance.memory.store(record, _RECORD.pack(data, len(elements)))
    return record - (1 << 32) if record >= 1 << 31 else record


def receive(instance: Instance, address: int, slot: Slot) -> Any:
    """A copy of the array of a record, which is given back."""
    address &= 0xFFFFFFFF
    if address + _RECORD.size > instance.memory.size():
        raise WasmTrap("a result lies outside of the memory")
    data, length = _RECORD.unpack(instance.memory.fetch(address, _RECORD.size))
    shape = (length, *slot.shape)
    size = SCALAR_BYTES[slot.element] * math.prod(shape)
    if length < 0 or data + size > instance.memory.size():
        raise WasmTrap("a result lies outside of the memory")
    numpy: Any = np  # its stubs for `frombuffer` want a newer Python than ours
    copy = numpy.frombuffer(instance.memory.fetch(data, size), convert.dtype(slot.element)).reshape(shape)
    give_back(instance, address, slot)
    return copy


def give_back(instance: Instance, address: int, slot: Slot) -> None:
    """Free a record and its elements."""
    instance.release(slot.release, address)
    if not instance.usable:
        raise WasmTrap("an array could not be freed")
