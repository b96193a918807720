"""What staging depends on beside the program: versions, the machine, and what the process was told."""

import functools
import importlib.util
import os
import platform
import sys
import warnings
from typing import Any

from rosejit.frontend.codes import Open
from rosejit.numeric import loaded
from rosejit.transforms import nans


def surroundings() -> tuple[Any, ...]:
    """All of it, as data. Raises `Open` where a function of the user's is told of NumPy's errors."""
    numpy = loaded()
    ours = (os.environ.get("ROSE_UNROLL_LIMIT"), nans.is_wanted())
    set_up = [(name, value) for name, value in sorted(os.environ.items()) if name.startswith(_OF_LIBRARIES)]
    digits = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else None
    rounded = [_TINY / 2.0, 1.0 + _TINY, -1.0 - _TINY]  # they may flush what is small to zero, or round otherwise
    said = [(what, str(text), str(kind), str(where), line) for what, text, kind, where, line in warnings.filters]
    process = (*_process(), ours, set_up, digits, rounded, said)
    if numpy is None:
        return process
    errors = [*numpy.geterr().values()] if hasattr(numpy, "geterr") else []
    if "call" in errors or "log" in errors:
        raise Open("a function for NumPy's errors")
    return (*process, getattr(numpy, "__version__", "plain"), _stamp(getattr(numpy, "__file__", None)), errors)


_TINY = sys.float_info.min
_OF_LIBRARIES = ("NPY_", "OPENBLAS_", "OMP_", "MKL_", "BLIS_", "VECLIB_", "GLIBC_TUNABLES")
"""What variables begin with that decide how NumPy and the C library compute."""


@functools.cache
def _stamp(file: str | None) -> tuple[int, int] | None:
    """What tells one installation of a package from another."""
    found = os.stat(file) if file and os.path.exists(file) else None
    return (found.st_size, found.st_mtime_ns) if found else None


@functools.cache
def _process() -> tuple[Any, ...]:
    """Versions, and the machine, on which the last bits of what the host computes depend."""
    flags = sys.flags
    gast = importlib.util.find_spec("gast")
    return (
        sys.version,
        (flags.optimize, flags.utf8_mode, flags.bytes_warning),
        _stamp(gast.origin if gast is not None else None),
        (sys.platform, platform.machine(), _libc(), _processor(), os.cpu_count()),
    )


def _libc() -> str | None:
    """The version of the C library; where there is no telling, that of the system that it comes with."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        return platform.version()


def _processor() -> str:
    """What the first processor is and can do, where the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = file.read(8192).partition("\n\n")[0].splitlines()
    except OSError:
        return ""
    return "\n".join([line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))])
