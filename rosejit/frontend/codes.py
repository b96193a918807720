"""Code and the text that it was made from, by content: what belongs to it, and which names it has."""

import linecache
import marshal
import os
import tokenize
from dataclasses import dataclass
from hashlib import blake2b
from types import CodeType
from typing import Any

from rosejit.frontend.by_code import ByCode
from rosejit.frontend.source import Source


class Open(Exception):
    """Something is reached whose content is not all there is to it: there is no key for that."""


@dataclass(slots=True, frozen=True, eq=False)
class Scope:
    """Code and the globals that it reads."""

    code: CodeType
    globals: dict[str, Any]


@dataclass(slots=True, frozen=True)
class Facts:
    """Of a code object: its digest, the names in it in order, and the `id` of it and of the code inside it."""

    digest: bytes
    names: tuple[str, ...]
    ids: frozenset[int]


_facts = ByCode[Facts]()


def facts(code: CodeType) -> Facts:
    """What is known of `code`, found once for the process: code does not change."""
    known = _facts.get(code)
    if known is not None:
        return known
    names, ids = set[str](), set[int]()
    pending = [code]
    while pending:
        inner = pending.pop()
        names.update(inner.co_names)
        ids.add(id(inner))
        pending += [each for each in inner.co_consts if isinstance(each, CodeType)]
    try:
        digest = blake2b(marshal.dumps(code, 2), digest_size=32).digest()  # no references, no interning: by content
    except ValueError as error:
        raise Open(str(error)) from None
    return _facts.put(code, Facts(digest, tuple(sorted(names)), frozenset(ids)))


_texts: dict[str, tuple[tuple[int, ...], bytes]] = {}


def text_of(file: str) -> bytes:
    """The digest of the text that functions of a file are staged from, as it is now. Raises `Open` without one."""
    lines = _registered(file)
    if lines is not None:
        return blake2b("".join(lines).encode("utf-8", "surrogatepass"), digest_size=32).digest()
    try:
        found = os.stat(file)
        stamp = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        known = _texts.get(file)
        if known is not None and known[0] == stamp:
            return known[1]
        if not os.path.isabs(file):
            raise Open(f"{file} is a relative path")
        with open(file, "rb") as opened:
            made = blake2b(opened.read(), digest_size=32).digest()
    except (OSError, ValueError):
        raise Open(f"{file} has no text") from None
    _texts[file] = (stamp, made)
    return made


def _registered(file: str) -> list[str] | None:
    """The lines of what is no file: cells of notebooks, code from the standard input."""
    entry: Any = linecache.cache.get(file)
    return entry[2] if entry is not None and len(entry) > 1 and entry[1] is None else None


def is_read_now(file: str, sources: list[Source]) -> bool:
    """Whether what staging has read of a file is what is in it."""
    held = linecache.getlines(file)
    if not all(["".join(held[s.node.lineno - 1 : s.node.end_lineno]) in s.text for s in sources]):
        return False
    if _registered(file) is not None:
        return True
    try:
        with tokenize.open(file) as opened:
            lines = opened.readlines()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return False
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines == held
