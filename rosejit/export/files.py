"""Functions to the files of an exported module or package, and where they go."""

import re
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from rosejit.errors import StagingTypeError
from rosejit.export.es_module import module_text
from rosejit.export.npm_package import PackageName, package_files
from rosejit.export.program import bundle
from rosejit.export.typescript import declarations
from rosejit.wasm.strip import without_names


def write(
    given: Any, examples: tuple[Any, ...], path: str | PathLike[str], math: str, npm: str | None = None
) -> list[Path]:
    """See `rose.export`."""
    package = None if npm is None else PackageName(npm)
    if math not in ("kernels", "js"):
        raise StagingTypeError(f'`math` is "kernels" or "js", not {math!r}')
    folder = Path(path)
    functions = _functions(given, examples)
    if "then" in functions:
        raise StagingTypeError(
            "no exported function can be called `then`: `await load()` would call it",
            help='give it another name: `rose.export({"after": then}, ...)`',
        )
    stem = _stem(folder.resolve().name if isinstance(given, Mapping) else next(iter(functions)))
    if package is not None:
        package.require_own(folder)
        stem = package.stem
    made = bundle(functions, math)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        f"{stem}.wasm": without_names(made.artifact.wasm),
        f"{stem}.mjs": module_text(made, stem).encode(),
        f"{stem}.d.mts": declarations(made).encode(),
    }
    if package is not None:
        contents |= package_files(made, package, folder, list(contents))
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in contents]


Functions = dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]


def _functions(given: Any, examples: tuple[Any, ...]) -> Functions:
    """The functions by name, each with its examples."""
    if not isinstance(given, Mapping):
        return {_stem(getattr(given, "__name__", "")): (_require_function(given), examples)}
    named: Mapping[Any, Any] = given
    if not named:
        raise StagingTypeError("nothing is exported: the mapping of names to functions is empty")
    found: Functions = {}
    for name, f in named.items():
        if not isinstance(name, str) or not name:
            raise StagingTypeError(f"`rose.export` takes a mapping of names to functions; {name!r} is no name")
        if isinstance(f, tuple):
            function, *own = f
            found[name] = (_require_function(function), tuple(own))
        else:
            found[name] = (_require_function(f), examples)
    return found


def _require_function(f: Any) -> Callable[..., Any]:
    if not callable(f):
        raise StagingTypeError(
            f"`rose.export` takes a function, given {type(f).__name__}",
            help='write `rose.export(f, *examples)` or `rose.export({"name": f, ...}, *examples)`',
        )
    return f


def _stem(name: str) -> str:
    """The name of files: of `<lambda>` what is left without the brackets."""
    return re.sub(r"[^\w.-]+", "", name) or "module"
