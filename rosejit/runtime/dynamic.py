"""Arrays whose length only the run knows: into the memory of an instance and out of it."""

import math
from typing import Any

from rosejit.abi import Scalar, Slot
from rosejit.errors import WasmTrap
from rosejit.runtime import convert
from rosejit.runtime.backend import Instance


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
    record = instance.allocate(8)
    if elements.nbytes:
        instance.array(data, elements.shape, slot.element)[...] = elements
    instance.words[record // 4], instance.words[record // 4 + 1] = _signed(data), len(elements)
    return _signed(record)


def receive(instance: Instance, address: int, slot: Slot) -> Any:
    """A copy of the array of a record, which is given back."""
    address &= 0xFFFFFFFF
    if address + 8 > instance.size():
        raise WasmTrap("a result lies outside of the memory")
    data, length = instance.words[address // 4] & 0xFFFFFFFF, instance.words[address // 4 + 1]
    shape = (length, *slot.shape)
    size = convert.dtype(slot.element).itemsize * math.prod(shape)
    if length < 0 or data + size > instance.size():
        raise WasmTrap("a result lies outside of the memory")
    copy = instance.array(data, shape, slot.element).copy()
    give_back(instance, address, slot)
    return copy


def give_back(instance: Instance, address: int, slot: Slot) -> None:
    """Free a record and its elements."""
    instance.release(slot.release, address)
    if not instance.usable:
        raise WasmTrap("an array could not be freed")


def _signed(address: int) -> int:
    return address - (1 << 32) if address >= 1 << 31 else address
