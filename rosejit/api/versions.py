"""What a bug report should say."""

import platform
import sys

_PACKAGES = ("rosejit", "wasmtime", "numpy", "gast", "beartype")


def versions() -> str:
    """Versions of rosejit, of what it runs on and of what it needs, a line each."""
    from importlib import metadata  # takes 10 ms, and few ask

    lines = [f"python {platform.python_version()} ({platform.python_implementation()}, {sys.platform})"]
    for name in _PACKAGES:
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = "not installed"
        lines.append(f"{name} {found}")
    return "\n".join([*lines, f"machine {platform.machine()}"])


def show_versions() -> None:
    """Print `versions()`."""
    print(versions())
