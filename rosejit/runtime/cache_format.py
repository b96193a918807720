"""An artifact and its native code to the bytes of a file, and back; nothing in them can run but the code.

The native code comes first, so that the engine takes it from where it is; a description in JSON, other data, the Wasm
module and a footer with lengths and a checksum follow. Files of the disk cache have no other data, and saved programs
(`api/programs/program_codec.py`) no native code.
"""

import builtins
import json
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from rosejit.abi import (
    ADDRESS_SPACE,
    EXCHANGE,
    SCALAR_BYTES,
    Artifact,
    Block,
    Either,
    Elements,
    Entry,
    Import,
    Inside,
    Owned,
    Rows,
    Slot,
)
from rosejit.ir.syntax import Failure
from rosejit.lazy_dataclass import dataclass, fields
from rosejit.span import Span

_FOOTER = struct.Struct("<8sQQQQI")  # magic, lengths of code, description, other data and module, checksum of it all
_LENGTHS = struct.Struct("<8sQQQQ")
_MAGIC = b"rosejit2"
_KINDS = {"real": 8, "int": 8, "bool": 1, "array": 0, "dyn": 8, "handle": 8}
"""Of slots, and what their offsets are multiples of."""
_LARGEST = ADDRESS_SPACE[True]


@dataclass(slots=True, frozen=True)
class Sections:
    """What is in a file."""

    native: int
    """The length of the native code, which comes first."""
    description: Any
    data: memoryview
    wasm: bytes


def packed(description: Any, wasm: bytes, native: bytes = b"", data: bytes = b"") -> bytes:
    """The bytes of a file."""
    text = json.dumps(description, separators=(",", ":")).encode()
    lengths = _LENGTHS.pack(_MAGIC, len(native), len(text), len(data), len(wasm))
    content = b"".join((native, text, data, wasm, lengths))
    return content + zlib.crc32(content).to_bytes(4, "little")


def sections(file: bytes) -> Sections:
    """What `packed` was given. Raises ValueError for all other bytes."""
    if len(file) < _FOOTER.size:
        raise ValueError("truncated")
    magic, native, text, data, wasm, checksum = _FOOTER.unpack_from(file, len(file) - _FOOTER.size)
    if magic != _MAGIC or native + text + data + wasm + _FOOTER.size != len(file):
        raise ValueError("not a file of this format")
    whole = memoryview(file)
    if zlib.crc32(whole[:-4]) != checksum:
        raise ValueError("damaged")
    first, then = native + text, native + text + data
    try:
        description = json.loads(file[native:first])
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return Sections(native, description, whole[first:then], file[then : then + wasm])


def dump(key: str, artifact: Artifact, native: bytes, final: bool, exceptions: Sequence[Any] = ()) -> bytes | None:
    """The file for `key`; `final`: better native code is not to be had. None if a failure holds an exception that is
    neither built in nor among `exceptions`."""
    try:
        found = described(artifact, lambda exception: _reference(exception, exceptions))
    except LookupError:
        return None
    return packed({"key": key, "final": final, **found}, artifact.wasm, native)


def read(key: str, data: bytes, exceptions: Sequence[Any] = ()) -> tuple[Artifact, int, bool]:
    """The artifact in a file for `key`, the length of its native code, and whether that is final.

    Raises ValueError for anything but what `dump` wrote.
    """
    found = sections(data)
    try:
        if found.description["key"] != key:
            raise ValueError("the file of another program")
        artifact = artifact_of(found.description, found.wasm, lambda name: _exception_of(name, exceptions))
        return artifact, found.native, bool(found.description["final"])
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"not the description of a program: {error}") from None


def described(artifact: Artifact, name_of: Callable[[Any], Any]) -> dict[str, Any]:
    """All of an artifact but its module; `name_of` gives what an exception is found by."""
    return {
        "entries": [[e.name, _slots(e.params), _slots(e.results)] for e in artifact.entries.values()],
        "imports": [[i.name, _slots(i.params), _slots(i.results)] for i in artifact.imports],
        "failures": [_failure(failure, name_of) for failure in artifact.failures],
        "failure_values": artifact.failure_values,
        "functions": list(artifact.functions.items()),
        "places": [(index, place_words(span)) for index, span in artifact.places.items()],
        "lasting": artifact.lasting,
        "recursive": artifact.recursive,
        "wide": artifact.wide,
        "blocks": [[name, block.bytes, _insides(block.inside)] for name, block in artifact.blocks.items()],
    }


def artifact_of(found: Any, wasm: bytes, find: Callable[[Any], Any]) -> Artifact:
    """What `described` was given; `find` gives the exception of a name. Raises ValueError, TypeError, KeyError, ..."""
    return Artifact(
        wasm=wasm,
        entries={name: Entry(name, _slots_of(p), _slots_of(r)) for name, p, r in found["entries"]},
        imports=tuple(Import(name, _slots_of(p, 0), _slots_of(r, 0)) for name, p, r in found["imports"]),
        failures=tuple(_failure_of(failure, find) for failure in found["failures"]),
        failure_values=tuple(map(tuple, found["failure_values"])),
        functions=dict(map(tuple, found["functions"])),
        places={index: Span(*place) for index, place in found["places"]},
        lasting=found["lasting"],
        recursive=found["recursive"],
        wide=bool(found["wide"]),
        blocks={name: Block(size, _insides_of(inside)) for name, size, inside in found["blocks"]},
    )


def _slots(slots: Sequence[Slot]) -> list[Any]:
    return [[slot.kind, slot.offset, slot.shape, slot.element, slot.release] for slot in slots]


def _slots_of(found: Any, least: int = EXCHANGE) -> tuple[Slot, ...]:
    return tuple(_slot(words, least) for words in found)


def _slot(words: Any, least: int) -> Slot:
    """A slot, whose words become Python and addresses: nothing but a slot may be in them."""
    kind, offset, shape, element, release = words
    lengths = tuple(shape)
    whole = type(offset) is int and all([type(n) is int and 0 <= n < _LARGEST for n in lengths])
    if not whole or kind not in _KINDS or element not in SCALAR_BYTES or type(release) is not str:
        raise ValueError("no slot")
    made = Slot(kind, offset, lengths, element, release)
    if not least <= offset <= _LARGEST - made.bytes or offset % (_KINDS[kind] or SCALAR_BYTES[made.element]):
        raise ValueError("a slot lies outside of the memory")
    return made


_INSIDE: dict[str, Any] = {cls.__name__: cls for cls in (Owned, Elements, Rows, Either)}
"""What there is in blocks; fields that are tuples hold more of it."""


def _insides(inside: Sequence[Inside]) -> list[Any]:
    rows = [(type(one).__name__, [getattr(one, field.name) for field in fields(one)]) for one in inside]
    return [
        [name, *[value if type(value) is int or type(value) is str else _insides(value) for value in row]]
        for name, row in rows
    ]


def _insides_of(found: Any) -> tuple[Inside, ...]:
    return tuple([_INSIDE[kind](*[_insides_of(v) if type(v) is list else v for v in words]) for kind, *words in found])


def _failure(failure: Failure, name_of: Callable[[Any], Any]) -> list[Any]:
    place = failure.span and place_words(failure.span)
    return [failure.kind, failure.message, place, failure.help, name_of(failure.exception)]


def place_words(span: Span) -> list[Any]:
    """A place in a source, for `Span(*words)`."""
    return [span.file, span.line, span.col, span.end_line, span.end_col, span.function]


def _failure_of(found: Any, find: Callable[[Any], Any]) -> Failure:
    kind, message, place, help, name = found
    return Failure(kind, message, place and Span(*place), help, find(name))


def _reference(exception: Any, exceptions: Sequence[Any]) -> str | int | None:
    """A built-in exception class by name, others by their place in `exceptions`."""
    if exception is None:
        return None
    for k, given in enumerate(exceptions):
        if given is exception:
            return k
    name = getattr(exception, "__name__", "")
    if getattr(builtins, name, None) is exception and isinstance(exception, type):
        return name
    raise LookupError(name)


def _exception_of(reference: str | int | None, exceptions: Sequence[Any]) -> Any:
    if isinstance(reference, int):
        return exceptions[reference]
    if reference is None:
        return None
    found = getattr(builtins, reference)
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        raise ValueError("no exception")
    return found
