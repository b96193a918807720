"""A compiled program as a thing: bound to what was read when it was lowered, called, saved, loaded, pickled."""

# Values of users are of any type.

import contextlib
import hashlib
import inspect
import os
import pickle
import stat
import sys
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rosejit.abi import Tier
from rosejit.api.calling import argument_words
from rosejit.api.deferred import lowered, wat
from rosejit.api.programs import program_codec
from rosejit.api.programs.program_codec import Program
from rosejit.api.programs.value_codec import is_importable_main
from rosejit.api.public_entry import entry, public
from rosejit.errors import CacheError, StagingTypeError, WasmTrap
from rosejit.runtime import cache as disk
from rosejit.runtime import loaded_program

if TYPE_CHECKING:
    from rosejit.api.programs.lowered import Cost, Ir


class Compiled:
    """A function compiled for arguments of certain types and shapes: `f.lower(*args).compile()`, or `rose.load(path)`.

    It is bound to what the function read from outside when it was lowered, arrays included, and asks nothing of the
    outside again: what has changed since changes nothing. Arguments are checked, and those of other types or shapes
    refused. Objects do not change: a copy of one is itself.

    >>> import rosejit as rose
    >>> square = rose.jit(lambda x: x * x).lower(3.0).compile()
    >>> square(4.0), square.signature
    (16.0, <Signature (x: float) -> float>)
    """

    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]
    """As in `Function`."""

    def __init__(self, program: Program, loaded: loaded_program.Compiled) -> None:
        self._program = program
        self._loaded = loaded
        self.__name__, self.__qualname__ = program.interface.name, program.interface.qualname
        self.__call__ = entry(_Called(program, loaded), self, [0])

    @cached_property
    def ir(self) -> "Ir":
        """The program before it was optimised."""
        return lowered.Ir.of_text(self._program.text())

    @property
    def wasm(self) -> bytes:
        """The module."""
        return self._program.artifact.wasm

    def wat(self) -> str:
        """The module as text."""
        return wat.wat(self.wasm)

    def cost(self) -> "Cost":
        """What it costs."""
        return lowered.cost(self.ir.function, self.wasm)

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters and the result, with their types and shapes."""
        return argument_words.shown(self._program.interface, self._program.statics)

    @public
    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write the program to a file, for `rose.load` in another process: Wasm and a description, no native code.

        Classes of the user's, and functions that the program calls back, are named: they have to be found in modules
        there. Raises StagingTypeError for what only this process has.
        """
        data = program_codec.dump(self._program)
        _write(os.fspath(path), data)
        _keep(self._program, self._loaded, data)

    def __reduce__(self) -> Any:
        """The bytes of the file that `save` writes, and beside it what has no name in a module."""
        data, beside = written(self._program, self._loaded)
        return _unpickled, (data, beside_pickled(beside))

    def __copy__(self) -> "Compiled":
        """Itself: it does not change."""
        return self

    def __deepcopy__(self, memo: Any) -> "Compiled":
        """As `__copy__`."""
        return self

    def __repr__(self) -> str:
        return f"<rose.Compiled {self.__name__}{self.signature}>"

    def _repr_html_(self) -> str:
        return lowered.html_views.listing(repr(self), str(self.ir))


class _Called:
    """What the entry calls: the code, and the words for arguments that do not fit."""

    def __init__(self, program: Program, loaded: loaded_program.Compiled) -> None:
        self._program = program
        loaded.repeats = False  # what is bound stays what it is
        self.latest = loaded.function(program.entry, program.interface)

    def other(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Exception | None]:
        """What is raised for arguments that do not fit."""
        return None, argument_words.misfit(self._program.interface, self._program.statics, args, kwargs)


def made(program: Program, tier: Tier) -> Compiled:
    """A program that was compiled just now, and native code for it."""
    return Compiled(program, loaded_program.load(program.artifact, program.hosts, tier))


@public
def load(path: "str | os.PathLike[str]") -> Compiled:
    """The program in a file that `Compiled.save` wrote, with this version of rosejit and on this kind of machine.

    Nothing is staged, and no source is needed. The module is validated again; native code of it comes from the user's
    own disk cache, or is made. Raises CacheError for what is damaged, foreign, or another user's.

    >>> import os, tempfile
    >>> import rosejit as rose
    >>> path = os.path.join(tempfile.mkdtemp(), "square.rose")
    >>> rose.jit(lambda x: x * x).lower(3.0).compile().save(path)
    >>> rose.load(path)(4.0)
    16.0
    """
    title = f"`{os.fspath(path)}`"
    with open(path, "rb") as file:
        trusted = _is_trusted(os.fstat(file.fileno()), os.fspath(path))
        data = file.read()
    program, loaded = _loaded(data, title, trusted)
    try:
        return Compiled(program, loaded)
    except AssertionError as error:
        raise _not_saved(title, error) from None


def written(program: Program, loaded: loaded_program.Compiled) -> tuple[bytes, list[Any]]:
    """A program for a pickle: the bytes of a file, and beside it what has no name in a module."""
    beside: list[Any] = []
    data = program_codec.dump(program, beside)
    _keep(program, loaded, data)
    return data, beside


def _keep(program: Program, loaded: loaded_program.Compiled, data: bytes) -> None:
    """Leave the native code where this user's other processes find it, unless it is that of wider addresses by now."""
    if program.kept and loaded.artifact is program.artifact:
        disk.current().store(_digest(data), loaded, program.exceptions)


def beside_pickled(beside: list[Any]) -> Any:
    """What goes along with a program and has no name in a module: itself, for cloudpickle and where processes import
    what runs here, or the bytes that cloudpickle makes of it; to be asked by `__reduce__`. Raises StagingTypeError
    where that is needed and not there."""
    if not beside or "cloudpickle" in str(sys._getframe(2).f_globals.get("__name__")):
        return beside
    reason = ""
    try:
        pickle.dumps(beside)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        reason = str(error)
    if not reason and is_importable_main():
        return beside
    try:
        return import_module("cloudpickle").dumps(beside)
    except ImportError:
        if not reason:
            return beside
    raise StagingTypeError(
        f"a compiled program cannot be pickled: {reason}",
        help='define it at the top of a module, or let it travel by value: `pip install "rosejit[workers]"`',
    )


def _unpickled(data: bytes, beside: Any) -> Compiled:
    return Compiled(*unpickled(data, beside))


def unpickled(data: bytes, beside: Any) -> tuple[Program, loaded_program.Compiled]:
    """The program that was `written`, and its code here."""
    found = pickle.loads(beside) if isinstance(beside, bytes) else beside
    return _loaded(data, "the pickled program", True, found)


def _loaded(
    data: bytes, title: str, trusted: bool, beside: list[Any] | None = None
) -> tuple[Program, loaded_program.Compiled]:
    program = program_codec.read(data, title, trusted, beside)
    kept = disk.current() if program.kept else None
    digest = _digest(data)

    def settled(code: loaded_program.Compiled, error: Exception | None) -> None:
        if error is None and kept is not None:
            kept.store(digest, code, program.exceptions)

    found = kept and kept.load(digest, program.hosts, program.exceptions, program.tier, settled)
    try:
        if not isinstance(found, loaded_program.Compiled):
            found = loaded_program.load(program.artifact, program.hosts, program.tier, settled)
            settled(found, None)
        return program, found
    except (WasmTrap, AssertionError) as error:
        raise _not_saved(title, error) from None


def _not_saved(title: str, error: Exception) -> CacheError:
    return CacheError(f"{title} is no saved program: {error}", help="save it again")


def _digest(data: bytes) -> str:
    """What identifies the module and its description, which tells how native code of it is entered."""
    return disk.OF_MODULE + hashlib.sha256(data).hexdigest()


def _is_trusted(found: os.stat_result, path: str) -> bool:
    """Whether nobody but the user can have written the file; raises CacheError for that of another user."""
    if not hasattr(os, "getuid"):
        return True
    if found.st_uid not in (0, os.getuid()):
        raise CacheError(
            f"`{path}` belongs to another user, who may change it at any moment",
            help="copy it, if you trust that user: the copy is yours",
        )
    return not stat.S_IMODE(found.st_mode) & 0o022


def _write(path: str, data: bytes) -> None:
    """All of the file at once, or nothing; others can read it if they can read what this user writes."""
    import tempfile  # which takes as long as loading a program

    descriptor, temporary = tempfile.mkstemp(".tmp", dir=os.path.dirname(path) or ".")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o644 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
