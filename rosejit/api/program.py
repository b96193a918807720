"""IR functions to a loaded program: optimised, compiled to Wasm and loaded, or found in the disk cache."""

import hashlib
import logging
import os
import time
from collections.abc import Callable
from typing import Any

from rosejit import collector
from rosejit.abi import Artifact
from rosejit.codegen.program import compile_program
from rosejit.ir import syntax as ir
from rosejit.ir.walk import forms, reachable, size
from rosejit.runtime import cache as disk
from rosejit.runtime.compiled import Compiled
from rosejit.runtime.compiled import load as load_artifact
from rosejit.text import show
from rosejit.transforms.pipeline import optimise

Roots = dict[str, ir.Function]

_log = logging.getLogger("rosejit")


def load(roots: Roots, keep: bool, options: str = "") -> Compiled:
    """The program of `roots`, each an entry under its name. `keep`: look on disk first, and leave it there.

    Programs that call Python at run time are not kept on disk: what they call has no name that outlives the process.
    """
    with collector.paused():
        kept = keep and not any(f.host is not None for f in reachable(*roots.values()))
        exceptions = _exceptions(roots) if kept else []
        digest = _digest(roots, options) if kept else ""
        found = disk.current().load(digest, (), exceptions) if kept else None
        if found is not None:
            _note("cache", "loaded %s", ", ".join(f.name for f in roots.values()))
            return found
        started = time.perf_counter()
        artifact, hosts = compile_roots(roots)
        made = load_artifact(artifact, hosts)
        _note_compile(roots, artifact, time.perf_counter() - started)
        if kept:
            disk.current().store(digest, made, exceptions)
        return made


def compile_roots(roots: Roots) -> tuple[Artifact, tuple[Callable[..., Any], ...]]:
    """The artifact and the host functions that it imports, in order."""
    optimised = dict(zip(roots, optimise(*roots.values()), strict=True))
    return compile_program(optimised)


def _digest(roots: Roots, options: str) -> str:
    text = show(*roots.values(), complete=True)
    names = ",".join(f"{name}={f.name}" for name, f in roots.items())
    return hashlib.sha256(f"{options}\n{names}\n{text}".encode()).hexdigest()


def _exceptions(roots: Roots) -> list[Any]:
    """The exceptions that `raise` statements of the program name, in program order."""
    found: list[Any] = []
    for f in reachable(*roots.values()):
        for let in forms(f.body) if f.body is not None else ():
            if isinstance(let.expr, ir.Check) and let.expr.failure.exception is not None:
                found.append(let.expr.failure.exception)
    return found


def _note(topic: str, message: str, *args: Any) -> None:
    if topic in os.environ.get("ROSE_LOG", "").split("|"):
        _log.warning(message, *args)


def _note_compile(roots: Roots, artifact: Artifact, seconds: float) -> None:
    if os.environ.get("ROSE_LOG"):
        count = sum(size(f) for f in reachable(*roots.values()))
        names = ", ".join(f.name for f in roots.values())
        text = "compiled %s: %d ops, %d bytes, %.1f ms"
        _note("compile", text, names, count, len(artifact.wasm), 1e3 * seconds)
        _note("ir", "%s", show(*roots.values()))
