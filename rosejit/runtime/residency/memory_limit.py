"""How much memory one call of compiled code may take.

Addresses of 32 bits reach 4 GiB. Where those do not suffice a program gets addresses of 64 bits, and then it is the
memory of the machine that ends: a process that takes more than there is would be ended by the system, not by an error.
"""

import contextlib
import os

from rosejit.abi import ADDRESS_SPACE

_CONTROL_GROUP = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"
_SHARE = 0.9
"""Of the memory that is free: others need some meanwhile."""


def memory_limit() -> int:
    """The bytes: what `ROSE_MEMORY_BYTES` says, or nine tenths of the memory that is free now, 4 GiB at least."""
    given = os.environ.get("ROSE_MEMORY_BYTES")
    most = int(given) if given else max(int(_SHARE * _free()), ADDRESS_SPACE[False])
    return min(most, ADDRESS_SPACE[True])


def _free() -> int:
    """The bytes of memory that are free, for this process; of systems that do not say, all bytes that there are."""
    found = ADDRESS_SPACE[False]
    with contextlib.suppress(OSError, ValueError, AttributeError):
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/meminfo") as lines:
        found = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    with contextlib.suppress(OSError, ValueError):
        most, used = (int(_line(path)) for path in _CONTROL_GROUP)
        found = min(found, most - used)
    return found


def _line(path: str) -> str:
    with open(path) as file:
        return file.read()
