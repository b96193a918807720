"""IR functions to a loaded program: optimised, compiled to Wasm and loaded, or found in the disk cache."""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from rosejit import collector
from rosejit.abi import Artifact, Tier
from rosejit.api.deferred import (
    build_routines,
    codegen,
    compile_routines,
    merge_clones,
    pipeline,
    select_storage,
    sincos,
)
from rosejit.api.derivation.derivation_recipe import (
    LONG,
    Program,
    Recipe,
    function_of,
    numbered_of,
    source_of,
    words_of,
)
from rosejit.api.programs import interpreted
from rosejit.api.programs.borders import NO_BORDERS, Borders
from rosejit.errors import RoseMemoryError
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import callees, forms, lets, reachable, require_bound, size
from rosejit.logs import note
from rosejit.numeric import is_at_hand
from rosejit.runtime import backend
from rosejit.runtime import cache as disk
from rosejit.runtime.loaded_program import Compiled, OnFinal
from rosejit.runtime.loaded_program import load as load_artifact
from rosejit.text import show
from rosejit.text.printer import closure
from rosejit.transforms.passes import nan_checks
from rosejit.transforms.straightline.op_rows import rows

Roots = Mapping[str, Program]
Loaded = Compiled | interpreted.Interpreted


def load(roots: Roots, keep: bool, options: str = "", tier: Tier = "auto", borders: Borders = NO_BORDERS) -> Loaded:
    """The program of `roots`, each an entry under its name. `keep`: look on disk first, and leave it there. `borders`
    say of which entries the arrays of arguments and results may cross in fewer than 64 bits.

    Programs that call Python at run time are not kept on disk: what they call has no name that outlives the process.
    """
    if interpreted.is_disabled():
        functions = {name: function_of(program) for name, program in roots.items()}
        return interpreted.Interpreted(_watched(functions, _is_derived(roots)) if nan_checks.is_wanted() else functions)
    with collector.paused():
        sources = closure(tuple(dict.fromkeys(map(source_of, roots.values()))))
        kept = keep and not any(f.host is not None for f in sources)
        exceptions = _exceptions(sources) if kept else []
        given = tuple([(name, border.params, border.results) for name, border in borders.items()])
        digest = _digest(roots, sources, f"{options}{given or ''}") if kept else ""
        found = _recalled(digest, exceptions, tier, _names(roots)) if kept else None
        settled = _keeper(digest, exceptions, _names(roots)) if kept else _keeps_nothing(_names(roots))
        made = found or _made(roots, tier, settled, borders)
        note("ir", lambda: show(*map(function_of, roots.values())))
        if not made.artifact.wide:
            made.wider = partial(_made, roots, tier, settled, borders, wide=True)
        return made


def _made(roots: Roots, tier: Tier, settled: OnFinal, borders: Borders, wide: bool = False) -> Compiled:
    """The program, compiled now."""
    started = time.perf_counter()
    artifact, hosts = compile_program(roots, wide, borders)
    made = load_artifact(artifact, hosts, tier, settled)
    made.repeats = all(hasattr(host, "routine") for host in hosts)
    seconds = time.perf_counter() - started
    note("compile", lambda: _took(roots, artifact, seconds))
    settled(made, None)
    return made


def _recalled(digest: str, exceptions: list[Any], tier: Tier, title: str) -> Compiled | None:
    """The program of that digest, if it is on disk; `exceptions` are those that it names, in order."""
    settled = _keeper(digest, exceptions, title)
    found = disk.current().load(digest, (), exceptions, tier, settled)
    if found is None:
        return None
    note("cache", lambda: f"loaded {title} from {disk.current().directory}")
    if isinstance(found, Compiled):
        return found
    made = load_artifact(found, (), tier, settled)
    settled(made, None)
    return made


def _keeper(digest: str, exceptions: list[Any], title: str) -> OnFinal:
    """Native code goes to disk as it was made first, and again when it is final, to where it went first."""
    kept = disk.current()

    def keep(made: Compiled, error: Exception | None) -> None:
        if error is not None:
            _keeps_nothing(title)(made, error)
        elif kept.store(digest, made, exceptions):
            note("cache", lambda: f"stored {title} in {kept.directory}")

    return keep


def _keeps_nothing(title: str) -> OnFinal:
    def note_failure(made: Compiled, error: Exception | None) -> None:
        if error is not None:
            note("compile", lambda: f"{title} stays as it was made first: {error}")

    return note_failure


def _names(roots: Roots) -> str:
    return ", ".join(program.name for program in roots.values())


def compile_program(
    roots: Roots, wide: bool = False, borders: Borders = NO_BORDERS
) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
    """The artifact and the host functions that it imports, in order. `wide`, or where sizes that are known need it:
    addresses have 64 bits."""
    require_bound(closure(tuple(dict.fromkeys(map(source_of, roots.values())))))
    if not wide:
        with contextlib.suppress(RoseMemoryError):  # said again below
            found = _numbered(roots)
            if found is not None:
                return found, ()
    functions = {name: function_of(program) for name, program in roots.items()}
    return compile_roots(functions, _is_derived(roots), wide, borders)


def _numbered(roots: Roots) -> Artifact | None:
    """The artifact of a straight-line program, which has addresses of 32 bits; None for other programs."""
    if len(roots) == 1 and "main" in roots and not nan_checks.is_wanted():
        whole = roots["main"]
        routines = numbered_of(whole)
        if routines is None:
            f = merge_clones.merge_functions(whole) if isinstance(whole, ir.Function) else function_of(whole)
            routines = build_routines.build_routines(f) if _is_for_columns(f) else None
        if routines is not None:
            return compile_routines.compile_routines(routines)
    return None


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
    roots: dict[str, ir.Function], derived: bool = False, wide: bool = False, borders: Borders = NO_BORDERS
) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
    """As `compile_program`, of functions. `derived`: they compute a derivative."""
    made = _watched(roots, derived) if nan_checks.is_wanted() else _optimised(roots)
    if borders:
        made = select_storage.select_storage(made, borders)
    sincos.fuse_sincos(*made.values())
    if not wide and os.environ.get("ROSE_ADDRESS_BITS") != "64":
        try:
            return codegen.compile_program(made)
        except RoseMemoryError:
            if not backend.may_be_wide():
                raise
    return codegen.compile_program(made, wide=True)


def _optimised(roots: dict[str, ir.Function]) -> dict[str, ir.Function]:
    return dict(zip(roots, pipeline.optimise(*roots.values()), strict=True))


def _is_derived(roots: Roots) -> bool:
    return any(isinstance(program, Recipe) for program in roots.values())


def _watched(roots: dict[str, ir.Function], derived: bool) -> dict[str, ir.Function]:
    """The roots, failing at the first nan. Optimised first: that makes functions which nobody else has."""
    made = _optimised(roots)
    nan_checks.watched(tuple(made.values()), derived)
    return made


def _digest(roots: Roots, sources: list[ir.Function], options: str) -> str:
    """A key for what is made of `sources`: nothing has to be derived. Who looks for nans wants the line of each let."""
    words = {name: words_of(program) for name, program in roots.items()}
    nans = [let.span for f in sources if f.body for let in lets(f.body)] if nan_checks.is_wanted() else ""
    return hashlib.sha256(
        f"{options}{os.environ.get('ROSE_ADDRESS_BITS', '')}{nans}\n{words!r}\n".encode() + _text(sources)
    ).hexdigest()


def _printed(sources: Iterable[ir.Function]) -> bytes:
    return show(*sources, alone=True, complete=True).encode()


def _text(sources: list[ir.Function]) -> bytes:
    """What tells `sources` from all others. Host code makes many functions of nothing but primitives and calls: their
    rows are known sooner than their texts, and are looked at anyway where they are compiled."""
    captured = {f: rows(f) for f in sources}
    others = [f for f, found in captured.items() if found is None]
    known = set(others)
    for f in others:
        if not known.issuperset((*callees(f), *([f.rule] if f.rule else []))):
            return _printed(sources)
    numbers = {f: k for k, f in enumerate(sources)}
    texts = [found.text(numbers) for found in captured.values() if found is not None]
    return b"\0".join([_printed(others), *texts])


def _exceptions(sources: list[ir.Function]) -> list[Any]:
    """The exceptions that `raise` statements of the program name, in program order."""
    found: list[Any] = []
    for f in sources:
        for let in forms(f.body) if f.body is not None else ():
            if isinstance(let.expr, ir.Check) and let.expr.failure.exception is not None:
                found.append(let.expr.failure.exception)
    return found
