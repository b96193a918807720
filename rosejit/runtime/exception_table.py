"""A function whose body is one `try` to the same function with its first instruction inside that `try` as well.

Python runs signal handlers at the first instruction of a function, before any `try` is entered. A `KeyboardInterrupt`
raised there leaves the function, and from a callback of ctypes nothing may leave: the C caller, here the engine, would
go on with whatever bytes stand where the result should be. Before 3.11 a `try` that opens a function is entered first.
"""

from collections.abc import Callable, Iterator
from typing import Any

_MORE, _FIRST = 0x40, 0x80


def whole_try(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` itself, its table of exception handlers changed; its body must be one `try` without `else`."""
    code: Any = function.__code__
    table: bytes = getattr(code, "co_exceptiontable", b"")
    if table:
        # An entry is (start, length, target, depth), the first one that of the `try`; units are instructions.
        values = _numbers(table)
        start, length = next(values), next(values)
        rest = table[len(_encoded(start)) + len(_encoded(length)) :]
        opened = bytearray(_encoded(0) + _encoded(start + length) + rest)
        opened[0] |= _FIRST
        function.__code__ = code.replace(co_exceptiontable=bytes(opened))
    return function


def _numbers(table: bytes) -> Iterator[int]:
    """The numbers of a table: six bits a byte, the highest first."""
    number = 0
    for byte in table:
        number = number << 6 | byte & 0x3F
        if not byte & _MORE:
            yield number
            number = 0


def _encoded(number: int) -> bytes:
    digits = [number & 0x3F]
    while number := number >> 6:
        digits.append(number & 0x3F | _MORE)
    return bytes(reversed(digits))
