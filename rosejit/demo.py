"""The pages of examples/web to a folder that a server shows: their programs exported, their files beside them."""

import contextlib
import importlib.util
import shutil
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_PLACES = (Path(__file__).parent.parent / "examples" / "web", Path(__file__).parent / "pages" / "web")
"""Where the pages are in the source of rosejit, and where in what is installed."""
_SERVED = (".html", ".css", ".mjs")
_POLICY = "default-src 'self' data:; script-src 'self' 'wasm-unsafe-eval'"


def build(folder: Path) -> None:
    """Write all pages and their programs."""
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
