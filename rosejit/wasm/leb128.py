"""Integers to LEB128, the variable-length form of every number in a Wasm module, and back."""


def unsigned(n: int) -> bytes:
    """`n >= 0`, seven bits a byte, lowest first."""
    if 0 <= n < 0x80:
        return n.to_bytes(1, "little")
    if n < 0:
        raise ValueError(f"unsigned LEB128 of the negative number {n}")
    groups = bytearray()
    while n >= 0x80:
        groups.append(n & 0x7F | 0x80)
        n >>= 7
    groups.append(n)
    return bytes(groups)


def signed(n: int) -> bytes:
    """Any `n` in two's complement, seven bits a byte, lowest first; bit 6 of the last byte is the sign."""
    groups = bytearray()
    while not -0x40 <= n < 0x40:
        groups.append(n & 0x7F | 0x80)
        n >>= 7
    groups.append(n & 0x7F)
    return bytes(groups)


def read_unsigned(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at`, and where the next byte is."""
    n = shift = 0
    while (group := data[at]) >= 0x80:
        n |= (group & 0x7F) << shift
        shift += 7
        at += 1
    return n | group << shift, at + 1


def read_signed(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at`, and where the next byte is."""
    n, end = read_unsigned(data, at)
    bits = 7 * (end - at)
    return (n - (1 << bits) if n >> bits - 1 else n), end
