"""What is known of code objects, as long as they live."""

import weakref
from collections.abc import Iterator
from types import CodeType
from typing import Generic, TypeVar

T = TypeVar("T")


class ByCode(Generic[T]):
    """A table by code object: by which one it is, since those of one text in one place are equal.

    An address alone is not enough: what Python does when an object goes is not done where it fails, at the end of the
    stack for one, and then another object is at that address.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[weakref.ref[CodeType], T]] = {}

    def get(self, code: CodeType) -> T | None:
        """What is known of `code`."""
        found = self._held.get(id(code))
        return found[1] if found is not None and found[0]() is code else None

    def __contains__(self, code: CodeType) -> bool:
        found = self._held.get(id(code))
        return found is not None and found[0]() is code

    def put(self, code: CodeType, value: T) -> T:
        """Know `value` of `code` from now on; gives it."""
        key = id(code)
        self._held[key] = (weakref.ref(code, lambda _: self._held.pop(key, None)), value)
        return value


_names = ByCode[frozenset[str]]()


def names_in(code: CodeType) -> frozenset[str]:
    """Every name in `code`, and in that of functions inside: of globals and of attributes."""
    known = _names.get(code)
    return _names.put(code, frozenset(_every_name(code))) if known is None else known


def _every_name(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _every_name(inner)


def texts_in(constants: tuple[object, ...]) -> Iterator[str]:
    """The texts among the constants of code, and of functions inside, that may be names."""
    for each in constants:
        if isinstance(each, CodeType):
            yield from texts_in(each.co_consts)
        elif isinstance(each, tuple):
            yield from texts_in(each)
        elif isinstance(each, str) and each.isidentifier():
            yield each
