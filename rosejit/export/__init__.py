"""Functions to files that a web page, a worker or node loads: a Wasm module and the ES module that calls it."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Literal

Given = Callable[..., Any] | tuple[Any, ...]


def export(
    f: Callable[..., Any] | Mapping[str, Given],
    *examples: Any,
    path: str | PathLike[str] = "out",
    math: Literal["kernels", "js"] = "kernels",
    npm: str | None = None,
) -> "list[Any]":
    """Write `f.wasm`, `f.mjs` and `f.d.mts` to the folder `path`; the paths of the files.

    `examples` are arguments (or `rose.ShapeOf(...)`) that say of which types and shapes the exported function is; those
    whose hints say it can be left out. A mapping of names to functions puts several in one module; `(f, *examples)` in
    it has examples of its own. `math="js"` calls the `Math` of the page instead of carrying `exp`, `sin`, ... along:
    smaller, but the last bit is the page's. `npm` is the name of an npm package that the folder becomes: the files are
    called as it is, and beside them are `package.json` and `README.md`. What these say already is kept (a version, a
    license, a README that was not written here).

    >>> import tempfile
    >>> import rosejit as rose
    >>> @rose.jit
    ... def square(x: float) -> float:
    ...     return x * x
    >>> [file.name for file in rose.export(square, path=tempfile.mkdtemp())]
    ['square.wasm', 'square.mjs', 'square.d.mts']
    >>> [file.name for file in rose.export(square, path=tempfile.mkdtemp(), npm="@me/shapes")]
    ['shapes.wasm', 'shapes.mjs', 'shapes.d.mts', 'package.json', 'README.md']
    """
    from rosejit.export.files import write  # most programs never leave Python

    return write(f, examples, path, math, npm)
