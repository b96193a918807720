"""An artifact and its native code to the bytes of a cache file, and back; nothing in them can run but the code.

The native code comes first, so that the engine takes it from where it is; a description in JSON, the Wasm module and
a footer with lengths and a checksum follow.
"""

import builtins
import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any

from rosejit.abi import Artifact, Entry, Import, Slot
from rosejit.ir.syntax import Failure
from rosejit.span import Span

_FOOTER = struct.Struct("<8sQQQI")  # magic, length of the code, the description and the module, checksum of it all
_LENGTHS = struct.Struct("<8sQQQ")
_MAGIC = b"rosejit1"


def dump(key: str, artifact: Artifact, native: bytes, final: bool, exceptions: Sequence[Any] = ()) -> bytes | None:
    """The file for `key`; `final`: better native code is not to be had. None if a failure holds an exception that is
    neither built in nor among `exceptions`."""
    try:
        failures = [_failure(failure, exceptions) for failure in artifact.failures]
    except LookupError:
        return None
    description = {
        "key": key,
        "final": final,
        "entries": [[e.name, _slots(e.params), _slots(e.results)] for e in artifact.entries.values()],
        "imports": [[i.name, _slots(i.params), _slots(i.results)] for i in artifact.imports],
        "failures": failures,
        "failure_values": artifact.failure_values,
        "functions": list(artifact.functions.items()),
        "places": [(index, _place(span)) for index, span in artifact.places.items()],
        "lasting": artifact.lasting,
        "recursive": artifact.recursive,
    }
    text = json.dumps(description, separators=(",", ":")).encode()
    content = b"".join((native, text, artifact.wasm, _LENGTHS.pack(_MAGIC, len(native), len(text), len(artifact.wasm))))
    return content + zlib.crc32(content).to_bytes(4, "little")


def read(key: str, data: bytes, exceptions: Sequence[Any] = ()) -> tuple[Artifact, int, bool]:
    """The artifact in a file for `key`, the length of its native code, and whether that is final.

    Raises ValueError for anything but what `dump` wrote.
    """
    if len(data) < _FOOTER.size:
        raise ValueError("truncated")
    magic, native, text, wasm, checksum = _FOOTER.unpack_from(data, len(data) - _FOOTER.size)
    if magic != _MAGIC or native + text + wasm + _FOOTER.size != len(data):
        raise ValueError("not a file of this format")
    if zlib.crc32(memoryview(data)[:-4]) != checksum:
        raise ValueError("damaged")
    try:
        found = json.loads(data[native : native + text])
        if found["key"] != key:
            raise ValueError("the file of another program")
        artifact = _artifact(found, data[native + text : native + text + wasm], exceptions)
        return artifact, native, bool(found["final"])
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"not the description of a program: {error}") from None


def _artifact(found: Any, wasm: bytes, exceptions: Sequence[Any]) -> Artifact:
    return Artifact(
        wasm=wasm,
        entries={name: Entry(name, _slots_of(p), _slots_of(r)) for name, p, r in found["entries"]},
        imports=tuple(Import(name, _slots_of(p), _slots_of(r)) for name, p, r in found["imports"]),
        failures=tuple(_failure_of(failure, exceptions) for failure in found["failures"]),
        failure_values=tuple(map(tuple, found["failure_values"])),
        functions=dict(map(tuple, found["functions"])),
        places={index: Span(*place) for index, place in found["places"]},
        lasting=found["lasting"],
        recursive=found["recursive"],
    )


def _slots(slots: Sequence[Slot]) -> list[Any]:
    return [[slot.kind, slot.offset, slot.shape, slot.element, slot.release] for slot in slots]


def _slots_of(found: Any) -> tuple[Slot, ...]:
    return tuple(Slot(kind, offset, tuple(shape), element, release) for kind, offset, shape, element, release in found)


def _failure(failure: Failure, exceptions: Sequence[Any]) -> list[Any]:
    place = failure.span and _place(failure.span)
    return [failure.kind, failure.message, place, failure.help, _reference(failure.exception, exceptions)]


def _place(span: Span) -> list[Any]:
    return [span.file, span.line, span.col, span.end_line, span.end_col, span.function]


def _failure_of(found: Any, exceptions: Sequence[Any]) -> Failure:
    kind, message, place, help, reference = found
    return Failure(kind, message, place and Span(*place), help, _exception_of(reference, exceptions))


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
