"""Arrays whose length only the run knows: into the memory of an instance and out of it."""

import math
import struct
from typing import Any

from rosejit.abi import SCALAR_BYTES, Element, Slot
from rosejit.errors import WasmTrap
from rosejit.ir.types import STORED
from rosejit.numeric import np
from rosejit.runtime.backend import Instance
from rosejit.runtime.marshalling import convert

_RECORDS = {False: struct.Struct("<II"), True: struct.Struct("<QQ")}  # address of the data, length


def rows(value: Any, shape: tuple[int, ...], element: Element) -> Any:
    """An array of any number of elements of that shape; raises `Mismatch` for other things."""
    try:
        count = len(value)
    except TypeError:
        raise convert.Mismatch(f"an array is needed, not a {type(value).__name__}") from None
    if element in STORED:
        return convert.stored_array(value, (count, *shape), element)
    return convert.array(value, (count, *shape), element)


def send(instance: Instance, elements: Any, slot: Slot) -> int:
    """The address of a record of a copy of `elements`, which `give_back` frees."""
    form = _RECORDS[instance.wide]
    data = instance.allocate(elements.nbytes) if elements.nbytes else 0
    record = instance.allocate(form.size)
    if elements.nbytes:
        instance.memory.store(data, elements.tobytes())
    instance.memory.store(record, form.pack(data, len(elements)))
    return record


def unsigned(instance: Instance, address: int) -> int:
    """An address of 32 bits as it stands in a word of 8 bytes, the other half of which may be anything."""
    return address if instance.wide else address & 0xFFFFFFFF


def receive(instance: Instance, address: int, slot: Slot) -> Any:
    """A copy of the array of a record, which is given back."""
    form = _RECORDS[instance.wide]
    address = unsigned(instance, address)
    if not 0 <= address <= instance.memory.size() - form.size:
        raise WasmTrap("a result lies outside of the memory")
    data, length = form.unpack(instance.memory.fetch(address, form.size))
    shape = (length, *slot.shape)
    size = SCALAR_BYTES[slot.element] * math.prod(shape)
    if data + size > instance.memory.size():
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
