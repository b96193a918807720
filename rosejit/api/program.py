"""IR functions to a loaded program: optimised, compiled to Wasm and loaded, or found in the disk cache."""

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any

from rosejit import collector
from rosejit.abi import Artifact, Tier
from rosejit.api import interpreted
from rosejit.api.recipe import LONG, Program, Recipe, function_of, source_of, straight_of, words_of
from rosejit.codegen.program import compile_program
from rosejit.codegen.routines import compile_routines, compile_straight
from rosejit.ir import syntax as ir
from rosejit.ir.walk import callees, forms, reachable, size
from rosejit.log import note
from rosejit.numeric import is_at_hand
from rosejit.runtime import cache as disk
from rosejit.runtime.compiled import Compiled, Settled
from rosejit.runtime.compiled import load as load_artifact
from rosejit.text import show
from rosejit.text.printer import closure
from rosejit.transforms import nans
from rosejit.transforms.both import both
from rosejit.transforms.link import link
from rosejit.transforms.outline import outline
from rosejit.transforms.pipeline import optimise
from rosejit.transforms.rows import Rows, rows
from rosejit.transforms.shapes import shape

Roots = Mapping[str, Program]
Loaded = Compiled | interpreted.Interpreted


def load(roots: Roots, keep: bool, options: str = "", tier: Tier = "auto") -> Loaded:
    """The program of `roots`, each an entry under its name. `keep`: look on disk first, and leave it there.

    Programs that call Python at run time are not kept on disk: what they call has no name that outlives the process.
    """
    if interpreted.is_disabled():
        functions = {name: function_of(program) for name, program in roots.items()}
        return interpreted.Interpreted(_watched(functions, _is_derived(roots)) if nans.is_wanted() else functions)
    with collector.paused():
        sources = closure(tuple(dict.fromkeys(map(source_of, roots.values()))))
        kept = keep and not any(f.host is not None for f in sources)
        exceptions = _exceptions(sources) if kept else []
        straight = rows(sources[0]) if len(sources) == 1 and not nans.is_wanted() else None
        digest = _digest(roots, sources, straight, options) if kept else ""
        found = recalled(digest, exceptions, tier, _names(roots)) if kept else None
        if found is not None:
            note("ir", lambda: show(*map(function_of, roots.values())))
            return found
        started = time.perf_counter()
        artifact, hosts = _compiled(roots, straight)
        settled = _keeper(digest, exceptions, _names(roots)) if kept else _keeps_nothing(_names(roots))
        made = load_artifact(artifact, hosts, tier, settled)
        seconds = time.perf_counter() - started
        note("compile", lambda: _took(roots, artifact, seconds))
        note("ir", lambda: show(*map(function_of, roots.values())))
        settled(made, None)
        if kept:
            made.kept_as = (digest, exceptions)
        return made


def recalled(digest: str, exceptions: list[Any], tier: Tier, title: str) -> Compiled | None:
    """The program of that digest, if it is on disk; `exceptions` are those that it names, in order."""
    settled = _keeper(digest, exceptions, title)
    found = disk.current().load(digest, (), exceptions, tier, settled)
    if found is None:
        return None
    note("cache", lambda: f"loaded {title} from {disk.current().directory}")
    if isinstance(found, Compiled):
        made = found
    else:
        made = load_artifact(found, (), tier, settled)
        settled(made, None)
    made.kept_as = (digest, exceptions)
    return made


def _keeper(digest: str, exceptions: list[Any], title: str) -> Settled:
    """Native code goes to disk as it was made first, and again when it is final, to where it went first."""
    kept = disk.current()

    def keep(made: Compiled, error: Exception | None) -> None:
        if error is not None:
            _keeps_nothing(title)(made, error)
        elif kept.store(digest, made, exceptions):
            note("cache", lambda: f"stored {title} in {kept.directory}")

    return keep


def _keeps_nothing(title: str) -> Settled:
    def told(made: Compiled, error: Exception | None) -> None:
        if error is not None:
            note("compile", lambda: f"{title} stays as it was made first: {error}")

    return told


def _names(roots: Roots) -> str:
    return ", ".join(program.name for program in roots.values())


def _compiled(roots: Roots, straight: Rows | None) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
    """The artifact and the host functions that it imports, in order."""
    if len(roots) == 1 and "main" in roots and not nans.is_wanted():
        line = straight_of(roots["main"], straight)
        if line is not None:
            return compile_straight(line), ()
        whole = roots["main"]
        f = outline(whole) if isinstance(whole, ir.Function) else function_of(whole)
        linked = link(f) if _is_for_columns(f) else None
        if linked is not None:
            return compile_routines(linked), ()
    functions = {name: function_of(program) for name, program in roots.items()}
    return compile_roots(functions, _is_derived(roots))


def _is_for_columns(f: ir.Function) -> bool:
    """Whether NumPy is there for the code of `f`."""
    return is_at_hand(worth_loading=False) or is_at_hand(worth_loading=sum(map(size, reachable(f))) >= LONG)


def _took(roots: Roots, artifact: Artifact, seconds: float) -> str:
    functions = {name: function_of(program) for name, program in roots.items()}
    count = sum(size(f) for f in reachable(*functions.values()))
    each = 1e6 * seconds / max(count, 1)
    took = f"{1e3 * seconds:.1f} ms ({each:.0f} µs an op)"
    return f"compiled {_names(functions)}: {count} ops, {len(artifact.wasm)} bytes, {took}"


def compile_roots(
    roots: dict[str, ir.Function], derived: bool = False
) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
    """The artifact and the host functions that it imports, in order. `derived`: they compute a derivative."""
    made = _watched(roots, derived) if nans.is_wanted() else _optimised(roots)
    both(*made.values())
    return compile_program(made)


def _optimised(roots: dict[str, ir.Function]) -> dict[str, ir.Function]:
    return dict(zip(roots, optimise(*roots.values()), strict=True))


def _is_derived(roots: Roots) -> bool:
    return any(isinstance(program, Recipe) for program in roots.values())


def _watched(roots: dict[str, ir.Function], derived: bool) -> dict[str, ir.Function]:
    """The roots, failing at the first nan. Optimised first: that makes functions which nobody else has."""
    made = _optimised(roots)
    nans.watched(tuple(made.values()), derived)
    return made


def _digest(roots: Roots, sources: list[ir.Function], straight: Rows | None, options: str) -> str:
    """A key for what is made of `sources`, which are `straight` code if that is given: nothing has to be derived."""
    text = _text(sources) if straight is None else straight.text
    words = {name: words_of(program) for name, program in roots.items()}
    return hashlib.sha256(f"{options}{' nans' * nans.is_wanted()}\n{words!r}\n".encode() + text).hexdigest()


def _text(sources: list[ir.Function]) -> bytes:
    """What tells `sources` from all others. Host code makes many functions of nothing but primitives and calls: their
    shapes are known sooner than their texts, and are looked at anyway where they are compiled."""
    shapes = {f: shape(f) for f in sources}
    printed = {f: None for f, found in shapes.items() if found is None}
    for f in printed:
        if any([g not in printed for g in (*callees(f), *([f.rule] if f.rule else []))]):
            return show(*sources, alone=True, complete=True).encode()
    numbers = {f: k for k, f in enumerate(sources)}
    texts = [found.text(f, numbers) for f, found in shapes.items() if found is not None]
    return b"\0".join([show(*printed, alone=True, complete=True).encode(), *texts])


def _exceptions(sources: list[ir.Function]) -> list[Any]:
    """The exceptions that `raise` statements of the program name, in program order."""
    found: list[Any] = []
    for f in sources:
        for let in forms(f.body) if f.body is not None else ():
            if isinstance(let.expr, ir.Check) and let.expr.failure.exception is not None:
                found.append(let.expr.failure.exception)
    return found
