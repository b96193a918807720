"""The pages of examples/web to a folder that a server shows: their programs exported, their files beside them."""

import contextlib
import importlib.util
import os
import shutil
import sys
import webbrowser
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_PLACES = (Path(__file__).parent.parent / "examples" / "web", Path(__file__).parent / "pages" / "web")
"""Where the pages are in the source of rosejit, and where in what is installed."""
_SERVED = (".html", ".css", ".mjs")
_POLICY = "default-src 'self' data:; script-src 'self' 'wasm-unsafe-eval'"


_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
WITHOUT_PYODIDE = (
    "the page where people type functions needs Pyodide, which is not here: `npm install pyodide` in this folder, "
    "or say where it is (`--pyodide DIR`)"
)


def build(folder: Path, pyodide: Path | None = None) -> None:
    """Write all pages and their programs; with `pyodide`, the folder of that npm package, what they need of it."""
    pages = next(place for place in _PLACES if place.is_dir())
    folder.mkdir(parents=True, exist_ok=True)
    for file in pages.iterdir():
        if file.suffix in _SERVED:
            shutil.copy(file, folder)
    spec = importlib.util.spec_from_file_location("rosejit_pages", pages / "programs.py")
    assert spec is not None
    assert spec.loader is not None
    programs = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = programs
    spec.loader.exec_module(programs)
    programs.build(folder)
    _write_packages(folder / "python.zip", pages / "live.py")
    if pyodide is not None:
        (folder / "pyodide").mkdir(exist_ok=True)
        for name in _PYODIDE:
            shutil.copy(pyodide / name, folder / "pyodide")


def find_pyodide(given: str | None = None) -> Path | None:
    """The folder of the npm package: the given one, that of ROSE_PYODIDE, or one below the working directory."""
    named = given or os.environ.get("ROSE_PYODIDE")
    place = Path(named) if named else Path("node_modules") / "pyodide"
    return place if all((place / name).is_file() for name in _PYODIDE) else None


def _write_packages(file: Path, program: Path) -> None:
    """What Python in a page needs, and a program."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        root = Path(__file__).parent
        for source in sorted(root.rglob("*.*")):
            inside = "pages" not in source.relative_to(root).parts
            if inside and source.suffix in (".py", ".mjs"):
                archive.write(source, Path("rosejit") / source.relative_to(root))
        archive.write(program, program.name)


class _Handler(SimpleHTTPRequestHandler):
    """Files of one folder, with the types that modules need and a policy that forbids `eval`."""

    extensions_map = {  # noqa: RUF012 - the base class declares it for instances
        **SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        """As it is, with the policy."""
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal stays readable."""


class _Server(ThreadingHTTPServer):
    """Says nothing where a page is left before it is loaded."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tell of real errors only."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of `folder` that only this machine reaches; port 0 is any that is free."""
    return _Server(("127.0.0.1", port), partial(_Handler, directory=str(folder)))


def serve(folder: Path, port: int, browser: bool) -> None:
    """Show the pages until Ctrl-C."""
    with server(folder, port) as running:
        address = f"http://127.0.0.1:{running.server_port}/"
        print(f"{address}   (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(address)
        with contextlib.suppress(KeyboardInterrupt):
            running.serve_forever()
