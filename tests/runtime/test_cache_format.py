"""Files of the cache: what is not exactly what was written is a ValueError and nothing else."""

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rosejit.abi import Artifact, Entry, Slot
from rosejit.ir.syntax import Failure
from rosejit.runtime import cache_format

FAILURE = Failure("raise", "x", exception=KeyError)
PROGRAM = Artifact(b"wasm", {"f": Entry("f", (Slot("real", 64),), ())}, failures=(FAILURE,))
FILE = cache_format.dump("key", PROGRAM, b"native code", True) or b""


def with_description(change):
    """A file with a right checksum and a changed description."""
    start, end = FILE.index(b'{"key"'), FILE.index(b"wasm", FILE.index(b'{"key"'))
    text = change(FILE[start:end])
    lengths = cache_format._LENGTHS.pack(cache_format._MAGIC, start, len(text), 0, 4)
    content = FILE[:start] + text + b"wasm" + lengths
    return content + zlib.crc32(content).to_bytes(4, "little")


def test_there_and_back():
    found, size, final = cache_format.read("key", FILE)
    assert (FILE[:size], final) == (b"native code", True)
    assert (found.wasm, found.entries) == (PROGRAM.wasm, PROGRAM.entries)
    assert found.failures[0].exception is KeyError
    assert cache_format.read("key", with_description(lambda text: text))[0].entries == PROGRAM.entries


@given(some.binary(max_size=300))
def test_any_bytes(data):
    with pytest.raises(ValueError):
        cache_format.read("key", data)


@given(some.integers(0, len(FILE) - 1), some.integers(1, 255))
def test_any_changed_byte(at, difference):
    with pytest.raises(ValueError):
        cache_format.read("key", FILE[:at] + bytes([FILE[at] ^ difference]) + FILE[at + 1 :])


@given(some.integers(0, len(FILE) - 1))
def test_any_cut(length):
    with pytest.raises(ValueError):
        cache_format.read("key", FILE[:length])


ANYTHING = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(some.sampled_from(["entries", "imports", "failures", "failure_values", "functions", None]), ANYTHING)
def test_any_description_under_a_right_checksum(field, value):
    def change(text):
        description = json.loads(text)
        if field is None:
            return json.dumps(value).encode()
        description[field] = value
        return json.dumps(description).encode()

    try:
        cache_format.read("key", with_description(change))
    except ValueError:
        pass


@pytest.mark.parametrize("name", ["print", "eval", "len", "no such name", "object"])
def test_only_exceptions_are_found_among_builtins(name):
    with pytest.raises(ValueError):
        cache_format.read("key", with_description(lambda text: text.replace(b"KeyError", name.encode())))


def test_a_reference_beyond_what_was_given():
    own = type("Own", (Exception,), {})
    program = Artifact(b"", {}, failures=(Failure("raise", "", exception=own),))
    data = cache_format.dump("key", program, b"", False, [None, own])
    assert cache_format.read("key", data, [None, own])[0].failures[0].exception is own
    with pytest.raises(ValueError):
        cache_format.read("key", data, [])
    assert cache_format.dump("key", program, b"", False, []) is None
