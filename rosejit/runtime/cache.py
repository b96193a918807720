"""The digest of a program to the program, compiled in an earlier process: files in a directory of the user's own.

A file is native code, so whoever can write one can run anything: the directory must belong to the user and be closed
to the writing of others. Files are written under another name and renamed, and checked when they are read; what is
damaged or foreign is deleted. Nothing here fails a call: what goes wrong is a `CacheError` as a warning, once.
"""

import contextlib
import functools
import hashlib
import os
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from rosejit.abi import Artifact, Tier
from rosejit.errors import CacheError
from rosejit.lazy_dataclass import dataclass
from rosejit.runtime import backend, cache_format
from rosejit.runtime.loaded_program import Compiled, OnFinal, nobody, restored

LIMIT = 256 << 20
"""Bytes that the files may take; the ones that were used longest ago go first."""
_SHARE = 32
"""What part of the limit is written between two looks at all files, on average: 13,000 files take 0.2 s. A look leaves
four such parts free, so the limit is passed once in a hundred looks, and not by much."""
_LITTLE = 1 << 16
"""Bytes of Wasm whose quick native code, four times as large, is written in no time (0.2 ms). That of larger programs
is written when they are met again: 10 ms for 10,000 operations, a third of what making it took."""
_SUFFIX, _UNFINISHED = ".rose", ".tmp"
OF_MODULE = "module "
"""What the digest of a program begins with if it is that of its module: native code depends on nothing else then."""
_ABANDONED = 3600  # seconds after which the file of a writer that died is deleted


@dataclass(slots=True, frozen=True)
class CacheInfo:
    """What is in a cache."""

    directory: Path
    entries: int
    bytes: int
    limit: int


class Cache:
    """The compiled programs in `directory`, which is made when the first one is stored."""

    def __init__(self, directory: Path, limit: int = LIMIT) -> None:
        self.directory = directory
        self.limit = limit
        self._warned = False

    def load(
        self,
        digest: str,
        hosts: Sequence[Callable[..., Any]] = (),
        exceptions: Sequence[Any] = (),
        tier: Tier = "auto",
        on_final: OnFinal = nobody,
    ) -> Compiled | Artifact | None:
        """The program of that digest, its artifact if it has no native code that is good enough for `tier`; `hosts` and
        `exceptions` are as they were for `store`, `on_final` is as for `compiled.load`."""
        path, key = self._place(digest)
        try:
            if not self._trusted():
                return None
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            return self._warn(f"cannot read {path}: {error.strerror}")
        found = _restored(key, data, hosts, exceptions, tier, on_final)
        if found is None:
            _delete(path)
        else:
            _touch(path)
        return found

    def store(self, digest: str, compiled: Compiled, exceptions: Sequence[Any] = ()) -> bool:
        """Keep `compiled`, unless one of its failures raises an object that only `exceptions` could name. Whether it
        was kept."""
        path, key = self._place(digest)
        module, artifact = compiled.module, compiled.artifact
        native = module.final or len(artifact.wasm) <= _LITTLE or path.exists()
        data = cache_format.dump(key, artifact, module.serialize() if native else b"", module.final, exceptions)
        if data is None or len(data) > self.limit:
            return False
        try:
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            if not self._trusted():
                return False
            _write(path, data)
            if _is_due(key, len(data), self.limit):
                self._make_room()
        except OSError as error:
            self._warn(f"cannot write to {self.directory}: {error.strerror}")
            return False
        return True

    def info(self) -> CacheInfo:
        """How much there is."""
        files = list(self._files())
        return CacheInfo(self.directory, len(files), sum(size for _, size, _ in files), self.limit)

    def clear(self) -> int:
        """Delete all programs; gives how many there were."""
        files = [*self._files(), *self._files(_UNFINISHED)]
        return sum(_delete(path) and path.endswith(_SUFFIX) for path, _, _ in files)

    def _place(self, digest: str) -> tuple[Path, str]:
        """The file for a digest, and what makes it this program on this machine with this version."""
        package = "" if digest.startswith(OF_MODULE) else _package()
        key = hashlib.sha256(f"{digest} {backend.current().identity} {package}".encode()).hexdigest()
        return self.directory / f"{key}{_SUFFIX}", key

    def _trusted(self) -> bool:
        """Whether nobody else can have written here. Raises FileNotFoundError if there is nothing."""
        found, link = os.stat(self.directory), os.lstat(self.directory)
        if not hasattr(os, "getuid"):
            return True
        if found.st_uid != os.getuid() or link.st_uid not in (0, os.getuid()):
            self._warn(f"{self.directory} belongs to another user: nothing is loaded from there")
            return False
        if stat.S_IMODE(found.st_mode) & 0o022:
            self._warn(f"others can write to {self.directory}: nothing is loaded from there until `chmod 700`")
            return False
        return True

    def _make_room(self) -> None:
        for path, _, when in self._files(_UNFINISHED):
            if time.time() - when > _ABANDONED:
                _delete(path)
        files = list(self._files())
        excess = sum(size for _, size, _ in files) - self.limit
        if excess <= 0:
            return
        excess += self.limit // _SHARE * 4
        for path, size, _ in sorted(files, key=lambda file: file[2]):
            if excess > 0 and _delete(path):
                excess -= size

    def _files(self, suffix: str = _SUFFIX) -> Iterator[tuple[str, int, float]]:
        """Path, size and time of last use of each file."""
        try:
            with os.scandir(self.directory) as found:
                for file in found:
                    if file.name.endswith(suffix):
                        facts = file.stat()
                        yield file.path, facts.st_size, facts.st_mtime
        except OSError:  # no directory, or another process deletes too
            return

    def _warn(self, message: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(CacheError(f"programs are compiled anew: {message}"), stacklevel=_above())


def _is_due(key: str, added: int, limit: int) -> bool:
    """Whether it is this program's lot to look how much there is: many processes write here, each of them little, and
    none can count for all. Keys are uniform."""
    return int(key[:8], 16) * limit < added * _SHARE << 32


def _above() -> int:
    """How far above its caller's the user's line is, as `warnings.warn` counts."""
    frame, level = sys._getframe(1), 1  # pyright: ignore[reportPrivateUsage] - the one fast way to it
    while frame.f_back is not None and _is_ours(frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_ours(frame: FrameType) -> bool:
    """Also of functions that are made at run time, which are in no module."""
    return frame.f_globals.get("__name__", "rosejit").partition(".")[0] == "rosejit"


def current() -> Cache:
    """The cache in `ROSE_CACHE_DIR`, or in the user's directory for such things."""
    return _cache(os.environ.get("ROSE_CACHE_DIR") or _user_directory())


@functools.cache
def _cache(directory: str) -> Cache:
    return Cache(Path(directory))


def _user_directory() -> str:
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "rosejit", "cache")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/rosejit")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "rosejit")


@functools.cache
def _package() -> str:
    """What tells this version of the package from all others, those between two releases too."""
    root = os.path.dirname(os.path.dirname(__file__))
    facts: list[tuple[str, int, int]] = []
    pending = [root]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    found = entry.stat()
                    facts.append((entry.path[len(root) :], found.st_size, found.st_mtime_ns))
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    pending.append(entry.path)
    return hashlib.sha256(repr(sorted(facts)).encode()).hexdigest()


def _restored(
    key: str,
    data: bytes,
    hosts: Sequence[Callable[..., Any]],
    exceptions: Sequence[Any],
    tier: Tier,
    on_final: OnFinal,
) -> Compiled | Artifact | None:
    try:
        artifact, size, final = cache_format.read(key, data, exceptions)
    except ValueError:
        return None
    if len(artifact.imports) != len(hosts):
        return None
    if not (final or (size and tier != "best")):
        return artifact
    module = backend.current().restore(data, size, artifact, hosts, quick=not final)
    return None if module is None else restored(artifact, module, final, hosts, tier, on_final)


def _write(path: Path, data: bytes) -> None:
    """All of the file at once, or nothing: other processes read and write here too."""
    import tempfile  # with what it needs 10 ms, and most processes write nothing

    descriptor, temporary = tempfile.mkstemp(_UNFINISHED, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        _delete(temporary)
        raise


def _delete(path: str | Path) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):  # a read-only directory is read all the same
        os.utime(path)
