"""The bytes of a module to those of the same module without the names of its functions."""

from rosejit.wasm.encode import HEADER
from rosejit.wasm.leb128 import read_unsigned

_CUSTOM = 0


def without_names(wasm: bytes) -> bytes:
    """`wasm` less its custom sections, which no engine needs."""
    kept = [HEADER]
    at = len(HEADER)
    while at < len(wasm):
        size, start = read_unsigned(wasm, at + 1)
        if wasm[at] != _CUSTOM:
            kept.append(wasm[at : start + size])
        at = start + size
    return b"".join(kept)
