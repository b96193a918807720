"""Programs that are found on disk without being staged: by all that staging would read (`frontend/world.py`).

The run that fills the cache is watched (`frontend/observed.py`): only if it did nothing that another process could do
otherwise is the key kept, as a note beside the program: which program it is, the structure of its result, and where the
arrays and guards are found in a world that is equal. See docs/adr/0015.
"""

import importlib
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import BuiltinFunctionType
from typing import Any, Protocol

from rosejit import collector, log
from rosejit.abi import Leaf, Node, Static, Tree
from rosejit.api import interpreted, sessions
from rosejit.api.interfaces import Called, interface, known_as
from rosejit.api.kept import Known, Specialisation, reckon
from rosejit.api.options import Options
from rosejit.api.program import recalled
from rosejit.api.staged import with_host_values
from rosejit.api.surroundings import surroundings
from rosejit.errors import CacheError
from rosejit.frontend.binding import Call
from rosejit.frontend.codes import Open, is_read_now
from rosejit.frontend.guards import Capture, Chain, Guard, form_of, guard_again
from rosejit.frontend.observed import Seen
from rosejit.frontend.ran import of_classes, of_functions
from rosejit.frontend.stage import Session
from rosejit.frontend.world import World
from rosejit.ir import syntax as ir
from rosejit.log import note
from rosejit.runtime import cache as disk
from rosejit.runtime.compiled import Compiled


class Keyed(Called, Protocol):
    """A function that is cached."""

    known: Known

    @property
    def options(self) -> Options:
        """How it is compiled."""
        ...


Compile = Callable[[Call, Session], Callable[..., Any]]


@dataclass(slots=True)
class _Wanted:
    """A function for a call whose world is closed."""

    function: Keyed
    call: Call
    world: World
    digest: str


def first(function: Keyed, call: Call, compiled: Compile, is_staged: bool) -> Callable[..., Any]:
    """What to run for a call that there is no code for in this process."""
    if is_staged or not _is_on(function):
        return _unwatched(call, compiled)
    with collector.paused():
        wanted = _wanted(function, call)
        run = None if wanted is None else _found(wanted)
    if wanted is None:
        return _unwatched(call, compiled)
    if run is not None and _mode() != "verify":
        function.known.found[known_as(call)] = run
        reckon(function.known, known_as(call))
        return run
    seen = Seen(wanted.world)
    with _warnings_kept(seen), sessions.session() as at:
        at.seen = seen
        made = compiled(call, at)
    found = function.known.get(known_as(call))
    if found is not None:
        _store(wanted, seen, found)
    return made


def _unwatched(call: Call, compiled: Compile) -> Callable[..., Any]:
    with sessions.session() as at:
        return compiled(call, at)


def _mode() -> str:
    """`ROSE_KEYS`: "1" is on, "verify" stages what was found too, and compares; they are off if nobody asks."""
    return os.environ.get("ROSE_KEYS", "0")


def _is_on(function: Keyed) -> bool:
    if _mode() in ("", "0") or not function.options.cache or log.wants("ir"):
        return False
    return not interpreted.may_be_disabled() and sessions.current() is None


def _wanted(function: Keyed, call: Call) -> _Wanted | None:
    try:
        world = World()
        return _Wanted(function, call, world, _digest(world, function, call))
    except Open as error:
        reason = str(error)
        note("cache", lambda: f"{function.__name__} has no key: {reason} is reached")
    return None


def _digest(world: World, function: Keyed, call: Call) -> str:
    return world.digest(function, call.trees, call.dims, call.statics, surroundings())


def counts(found: Specialisation, function: Keyed, call: Call, seen: Seen | None) -> bool:
    """Whether what was staged before will do: always, unless somebody watches. Then it must be of this staging, or its
    world what it was when it was watched itself; a small function is staged again."""
    if seen is None or id(found) in seen.made:
        return True
    if _is_as_it_was(found, function, call):
        return True
    if _is_small(found):
        return False
    seen.refuse(f"`{function.__name__}` was staged before")
    return True


def _is_as_it_was(found: Specialisation, function: Keyed, call: Call) -> bool:
    try:
        return found.world is not None and _digest(World(), function, call) == found.world
    except Open:
        return False


SMALL = 64
"""Operations of a function that is staged again rather than trusted."""


def _is_small(found: Specialisation) -> bool:
    program = found.staged.program
    return isinstance(program, ir.Function) and program.body is not None and len(program.body.lets) <= SMALL


# --- filling


@contextmanager
def _warnings_kept(seen: Seen) -> Generator[None]:
    """A staging that warns is not skipped: what it says is said each time. (Other threads may change the filters.)"""
    if any(not thread.name.startswith("rosejit") for thread in threading.enumerate()[1:]):
        yield
        return
    found: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as recorded:
            found = recorded
            yield
    finally:
        for each in found:
            if not issubclass(each.category, CacheError):
                seen.refuse("a warning is given")
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno, source=each.source)


def _store(wanted: _Wanted, seen: Seen, made: Specialisation) -> None:
    if not seen.why and not all([is_read_now(file, found) for file, found in seen.sources.items()]):
        seen.refuse("a file has changed since it was read")
    if not seen.why:
        try:
            if _digest(World(), wanted.function, wanted.call) != wanted.digest:
                seen.refuse("something from outside was changed")
        except Open as error:
            seen.refuse(str(error))
    if seen.why:
        note("cache", lambda: f"{wanted.function.__name__} has no key: {seen.why}")
        return
    made.world = wanted.digest
    facts = _facts(wanted, made)
    if facts is None:
        note("cache", lambda: f"{wanted.function.__name__} has no key: its result, or an array it reads, has no name")
        return
    if _mode() == "verify":
        _verify(wanted, facts)
    disk.current().keep_note(wanted.digest, facts)


def _verify(wanted: _Wanted, facts: dict[str, Any]) -> None:
    found = disk.current().note(wanted.digest)
    if found is None:
        return
    wrong = [name for name, value in json.loads(json.dumps(facts)).items() if value != found[name]]
    note("cache", lambda: f"the key of {wanted.function.__name__} is {'wrong' if wrong else 'right'}")
    if wrong:
        raise CacheError(f"the key of `{wanted.function.__name__}` stands for two programs: {', '.join(wrong)} differ")


def _facts(wanted: _Wanted, made: Specialisation) -> dict[str, Any] | None:
    """What is noted; None where it cannot be said without this process."""
    source, kept = made.staged.source, made.loaded
    if not isinstance(kept, Compiled) or kept.kept_as is None or source.outer or source.boxes:
        return None
    if made.staged.trees != tuple(wanted.call.trees):
        return None
    try:
        places = _Places(wanted.world)
        guards = [guard for guard in made.guards if places.has(guard.chain)]
        return {
            "program": kept.kept_as[0],
            "exceptions": [_exception(wanted.world, each) for each in kept.kept_as[1]],
            "result": _tree(wanted.world, with_host_values(made.staged.result, iter(made.staged.statics))),
            "captures": [places.of(capture.chain) for capture in source.captures],
            "still": [places.of(guard.chain) for guard in guards if form_of(guard) == "still"],
            "guards": [[form_of(g), *[places.of(c) for c in _chains(g)]] for g in guards if form_of(g) != "still"],
        }
    except LookupError:
        return None


def _chains(guard: Guard) -> Iterator[Chain]:
    yield guard.chain
    if form_of(guard) == "alias":
        yield guard.expected


class _Places:
    """Where a chain begins, in words that another process understands."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._cells: dict[int, tuple[int, int]] = {}
        self._globals: dict[int, tuple[int, int]] = {}
        for k, function in enumerate(world.functions):
            self._globals.setdefault(id(function.__globals__), (k, -1))
            for i, cell in enumerate(function.__closure__ or ()):
                self._cells.setdefault(id(cell), (k, i))

    def has(self, chain: Chain) -> bool:
        """Whether the chain begins in the world; else in what staging has made, which nobody can change."""
        return id(chain.root) in (self._globals if isinstance(chain.root, dict) else self._cells)

    def of(self, chain: Chain | None) -> list[Any]:
        """Raises LookupError for what is no part of the world."""
        if chain is None:
            raise LookupError
        known = self._globals if isinstance(chain.root, dict) else self._cells
        return [*known[id(chain.root)], *chain.names]


_PLAIN = (int, float, str, bool, type(None))


def _exception(world: World, given: Any) -> list[Any]:
    """The exception of a `raise`: its class and, if it has been made, what it was made of."""
    if isinstance(given, type):
        return [_class(world, given)]
    simple = isinstance(given, BaseException) and not vars(given) and all(type(arg) in _PLAIN for arg in given.args)
    if not simple or type(type(given).__new__) is not BuiltinFunctionType:
        raise LookupError
    return [_class(world, type(given)), list(given.args)]


def _class(world: World, cls: type) -> str | int:
    if getattr(sys.modules["builtins"], cls.__name__, None) is cls:
        return cls.__name__
    if cls.__module__ == "numpy.linalg":
        return f"{cls.__module__}.{cls.__name__}"
    return _position(world.classes, cls)


def _tree(world: World, tree: Tree) -> Any:
    match tree:
        case Leaf(kind, shape, element):
            return ["leaf", kind, shape, element]
        case Node(kind, children, keys, cls):
            if any(type(key) is not str for key in keys):
                raise LookupError
            number = None if cls is None else _position(world.classes, cls)
            return [kind, [_tree(world, child) for child in children], keys, number]
        case Static(value):
            if type(value) not in _PLAIN or type(value) is float:
                raise LookupError
            return ["static", value]


def _position(classes: list[type], cls: type) -> int:
    for k, each in enumerate(classes):
        if each is cls:
            return k
    raise LookupError


# --- finding


def _found(wanted: _Wanted) -> Callable[..., Any] | None:
    facts = disk.current().note(wanted.digest)
    if facts is None:
        return None
    function, world = wanted.function, wanted.world
    exceptions = [_exception_of(world, *each) for each in facts["exceptions"]]
    program = recalled(facts["program"], exceptions, function.options.tier, function.__name__)
    if program is None:
        return None
    captures = [_captured(_chain(world, place)) for place in facts["captures"]]
    guards = [guard_again(form, *[_chain(world, place) for place in places]) for form, *places in facts["guards"]]
    guards += [*of_functions(world.functions), *of_classes(world.classes, world.functions)]
    still = [sessions.still(_chain(world, place)) for place in facts["still"]]
    reads = (*sessions.reads_of(captures, guards), *still)
    trees = tuple(wanted.call.trees)
    return program.function("main", interface(function, trees, _tree_of(world, facts["result"]), reads))


def _exception_of(world: World, known: str | int, args: list[Any] | None = None) -> Any:
    if isinstance(known, str):
        module, _, name = known.rpartition(".")
        cls: Any = getattr(importlib.import_module(module or "builtins"), name)
    else:
        cls = world.classes[known]
    return cls if args is None else cls.__new__(cls, *args)


def _chain(world: World, place: list[Any]) -> Chain:
    number, cell, *names = place
    function = world.functions[number]
    cells: Any = function.__closure__
    return Chain(function.__globals__ if cell < 0 else cells[cell], tuple(names))


def _captured(chain: Chain) -> Capture:
    return Capture(chain.read(), chain)


def _tree_of(world: World, found: list[Any]) -> Tree:
    match found:
        case ["leaf", kind, shape, element]:
            return Leaf(kind, tuple(shape), element)
        case ["static", value]:
            return Static(value)
        case [kind, children, keys, number]:
            cls = None if number is None else world.classes[number]
            return Node(kind, tuple([_tree_of(world, child) for child in children]), tuple(keys), cls)
        case _:
            raise AssertionError(found)
