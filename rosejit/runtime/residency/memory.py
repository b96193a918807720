"""An address to views of the memory there, indexed by number, not by byte: `reals[address >> 3]`."""

import ctypes
import functools
from collections.abc import Callable
from typing import Any


@functools.cache
def _octets(size: int) -> Any:
    """A type of ctypes, which would take longer to make than all the rest."""
    return ctypes.c_uint8 * size


AT_ONCE = 1 << 16
"""Arrays of so many bytes, at most, are copied to a `place`: NumPy takes 0.1 µs longer, and lets other threads run."""


@functools.lru_cache(256)
def _place(size: int) -> Any:
    return ctypes.c_char * size


def place(octets: Any, address: int, size: int) -> Any:
    """The `size` bytes from `address` on, written by `place.raw = data`: bytes, or an array of C's order."""
    return _place(size).from_buffer(octets, address)


def octets_at(address: int, size: int) -> Any:
    """The `size` bytes from `address` on; nothing checks that they exist."""
    return memoryview(_octets(size).from_address(address)).cast("B")


def numbers(octets: Any) -> tuple[Any, Any, Any]:
    """The same bytes as f64, as i64 and as i32."""
    return octets.cast("d"), octets.cast("q"), octets.cast("i")


class CopiedMemory:
    """The memory of an instance, as bytes that are copied."""

    def __init__(self, octets: Any, size: Callable[[], int]) -> None:
        self._octets = octets
        self.size = size

    def fetch(self, address: int, size: int) -> bytearray:
        """These bytes, which must exist."""
        return bytearray(self._octets[address : address + size])

    def store(self, address: int, data: Any) -> None:
        """Write bytes."""
        self._octets[address : address + len(data)] = data
