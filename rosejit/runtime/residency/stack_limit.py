"""The calling thread to how much of its stack compiled code may take.

The engine counts from where a call enters it and knows nothing of the end of the thread's stack, beyond which the
process dies. So code that may recurse gets about half of the stack of its thread, and host functions look
whether what is left still has room for one more call (`hosts.py`).
"""

import contextlib
import ctypes
import sys
import threading
from collections.abc import Callable

MODEST = 1 << 20
"""Bytes for code that cannot recurse: its depth is that of its call graph."""
LEAST, MOST = 1 << 15, 1 << 26
PYTHON = 1 << 18
"""Bytes that a host function may need before it calls compiled code again."""

Bounds = tuple[int, int]


def _pthread_bounds() -> Bounds:
    libc = ctypes.CDLL(None)
    libc.pthread_self.restype = ctypes.c_void_p
    attributes = ctypes.create_string_buffer(256)  # an opaque struct of 32 to 64 bytes
    low, size = ctypes.c_size_t(), ctypes.c_size_t()
    if libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes):
        raise OSError("pthread_getattr_np")
    libc.pthread_attr_getstack(attributes, ctypes.byref(low), ctypes.byref(size))
    libc.pthread_attr_destroy(attributes)
    return low.value, low.value + size.value


def _apple_bounds() -> Bounds:
    libc = ctypes.CDLL(None)
    for function in (libc.pthread_self, libc.pthread_get_stackaddr_np):
        function.restype = ctypes.c_void_p
    libc.pthread_get_stacksize_np.restype = ctypes.c_size_t
    thread = ctypes.c_void_p(libc.pthread_self())
    high = int(libc.pthread_get_stackaddr_np(thread))
    return high - int(libc.pthread_get_stacksize_np(thread)), high


def _windows_bounds() -> Bounds:
    low, high = ctypes.c_size_t(), ctypes.c_size_t()
    kernel = ctypes.CDLL("kernel32")
    kernel.GetCurrentThreadStackLimits(ctypes.byref(low), ctypes.byref(high))
    return low.value, high.value


def _page_bounds() -> Bounds:
    return 0, 0  # the page looks after its stack, and tells nobody how much there is


_READERS: dict[str, Callable[[], Bounds]] = {
    "darwin": _apple_bounds, "win32": _windows_bounds, "emscripten": _page_bounds,
}  # fmt: skip


class Stack(threading.local):
    """The stack of the calling thread: read once a thread.

    Reading takes memory, so garbage may be collected meanwhile, and handles that are freed ask for the share: while a
    thread reads, it has no bounds.
    """

    low = high = 0
    """Where there are no bounds, the share is a cautious one."""

    def __init__(self) -> None:
        with contextlib.suppress(AttributeError, OSError):  # a C library without these functions
            low, high = _READERS.get(sys.platform, _pthread_bounds)()
            self.low, self.high = low, high

    @property
    def share(self) -> int:
        """Bytes for code that may recurse: a power of two, about half of the stack."""
        most = (self.high - self.low) * 5 // 8 if self.high else MODEST // 2  # 8 MiB less a page are still 4 for us
        return min(MOST, max(LEAST, 1 << (most.bit_length() - 1)))

    @property
    def floor(self) -> int:
        """Below this address the stack has no room for another call of compiled code."""
        return self.low + self.share + PYTHON if self.high else 0


here = Stack()
