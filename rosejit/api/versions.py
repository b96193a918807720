"""What a bug report should say."""

import os
import platform
import sys

from rosejit.runtime import cache

_PACKAGES = ("rosejit", "wasmtime", "numpy", "beartype", "scipy")


def versions() -> str:
    """Versions of rosejit, of what it runs on and of what it needs, a line each."""
    lines = [f"python {platform.python_version()} ({platform.python_implementation()}, {sys.platform})"]
    for name in _PACKAGES:
        lines.append(f"{name} {_version(name)}")
    settings = [f"{key}={os.environ[key]}" for key in sorted(os.environ) if key.startswith("ROSE_")]
    return "\n".join([*lines, f"machine {platform.machine()}", f"cache {cache.current().directory}", *settings])


def _version(name: str) -> str:
    """What is installed; a package that is only on the path says so itself."""
    from importlib import metadata  # takes 10 ms, and few ask

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        found = getattr(sys.modules.get(name), "__version__", None)
        return "not installed" if found is None else f"{found} (not installed, from {_folder(name)})"


def _folder(name: str) -> str:
    return os.path.dirname(os.path.dirname(str(sys.modules[name].__file__)))


def show_versions() -> None:
    """Print `versions()`: rosejit, Python, the libraries, the machine; what a report of a fault should have.

    >>> import rosejit as rose
    >>> rose.show_versions()  # doctest: +ELLIPSIS
    python 3...
    """
    print(versions())
