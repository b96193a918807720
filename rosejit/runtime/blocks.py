"""Blocks of memory that compiled code has allocated: out of an instance as bytes, and into another one.

Owned data is a tree, since an array has one owner. It is walked breadth first, with the sizes that `Artifact.blocks`
tells; the bytes are those of the blocks one after the other, with zeros where addresses stand.
"""

from collections import deque
from collections.abc import Iterator, Mapping

from rosejit.abi import Block, Either, Elements, Inside, Owned, Rows
from rosejit.runtime.backend import Instance

_Found = tuple[int, int, tuple[Inside, ...]]
"""Where an address stands in a block; the bytes of the block there, and what in them is not plain."""


def fetch(instance: Instance, blocks: Mapping[str, Block], name: str, address: int) -> bytes:
    """The content of the block at an address, and of those that it owns."""
    width = 8 if instance.wide else 4
    found: list[bytearray] = []
    pending = deque([(address, blocks[name].bytes, blocks[name].inside)])
    while pending:
        at, size, inside = pending.popleft()
        content = instance.memory.fetch(at, size)
        for place, bytes_there, inside_there in _owned(blocks, content, inside, width):
            if bytes_there:
                owned = int.from_bytes(content[place : place + width], "little")
                pending.append((owned, bytes_there, inside_there))
            content[place : place + width] = bytes(width)
        found.append(content)
    return b"".join(found)


def store(instance: Instance, blocks: Mapping[str, Block], name: str, content: bytes) -> int:
    """The address of a block with the content that `fetch` gave. Raises RoseMemoryError, ValueError for other bytes."""
    width, taken = 8 if instance.wide else 4, 0
    first = instance.allocate(blocks[name].bytes)
    pending = deque([(first, blocks[name].bytes, blocks[name].inside)])
    while pending:
        at, size, inside = pending.popleft()
        block, taken = bytearray(content[taken : taken + size]), taken + size
        for place, bytes_there, inside_there in _owned(blocks, block, inside, width):
            if bytes_there:
                owned = instance.allocate(bytes_there)
                block[place : place + width] = owned.to_bytes(width, "little")
                pending.append((owned, bytes_there, inside_there))
        instance.memory.store(at, block)
    if taken != len(content):
        raise ValueError("what a pullback keeps is damaged")
    return first


def _owned(
    blocks: Mapping[str, Block], content: bytearray, inside: tuple[Inside, ...], width: int, at: int = 0
) -> Iterator[_Found]:
    """The addresses in a block."""
    for one in inside:
        match one:
            case Owned(offset, name):
                yield at + offset, blocks[name].bytes, blocks[name].inside
            case Elements(stride, element):
                count = int.from_bytes(content[width : 2 * width], "little")
                size = count * stride
                content[2 * width : 3 * width] = size.to_bytes(width, "little")  # there may be room for more
                yield 0, size, (Rows(0, stride, count, element),) if element else ()
            case Rows(offset, stride, length, element):
                for k in range(length):
                    yield from _owned(blocks, content, element, width, at + offset + k * stride)
            case Either(tag, first, second):
                yield from _owned(blocks, content, second if content[at + tag] else first, width, at)
