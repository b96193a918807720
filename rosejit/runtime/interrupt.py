"""Ctrl-C to a `KeyboardInterrupt` although the main thread is inside compiled code.

Python only notes a signal while C code runs. A thread waits at the far end of the file descriptor to which Python
writes the number of every signal (`signal.set_wakeup_fd`), looks whether the main thread stands in a call of
compiled code, and raises the flag that its loops poll; Python's own handler then runs as soon as the call has ended.
A call costs nothing for it: what it runs is read from the local variables of its frame.

There is one such descriptor for a process. Ours is put in place whenever the main thread makes an instance, and
stays. If another library had its own there (asyncio with signal handlers of its loop, trio), every byte is passed on
to that one; if one comes later and takes the place, it has it until we next make an instance. At exit it is given back.

A handler that is not Python's default may be meant to let the running call finish. It is then a second Ctrl-C
within three seconds that interrupts.
"""

import atexit
import contextlib
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

CALL_FILE = os.path.join(os.path.dirname(__file__), "<call of {}>")
"""The file name of a function that calls compiled code; its variable INSTANCE is the instance that runs."""
INSTANCE = "_rose_instance"
_MARK = CALL_FILE.partition("{}")[0]
_PATIENCE = 3.0  # seconds between two signals that belong together
_SETTLED = 0.05  # seconds after which an interrupted call has ended


def watch() -> None:
    """Begin, or go on, to interrupt the main thread; asked in any other thread this does nothing."""
    if threading.current_thread() is threading.main_thread() and sys.platform != "emscripten":
        _watcher().install()


def stop(threads: Iterable[int]) -> list[Any]:
    """Interrupt the calls of compiled code that run in these threads. Gives their instances: one whose call ends by
    itself is not to be left so."""
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] - documented, the only way
    found = [_instance(frames.get(thread)) for thread in threads]
    running = [instance for instance in found if instance is not None]
    for instance in running:
        instance.interrupt()
    return running


def _instance(frame: FrameType | None) -> Any:
    """The instance that a frame calls compiled code on."""
    if frame is None or not frame.f_code.co_filename.startswith(_MARK):
        return None
    return frame.f_locals.get(INSTANCE)


class _Watcher:
    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._heard, self._mouth, self._closed = _ear_and_mouth()
        self._others: tuple[int, tuple[int, int]] | None = None
        self._asked: tuple[int, float] = (0, 0.0)
        threading.Thread(target=self._listen, name="rosejit-interrupt", daemon=True).start()
        atexit.register(self.remove)

    def install(self) -> None:
        """Take the place of the descriptor that signals are written to."""
        try:
            previous = _replace(self._mouth)
        except ValueError:  # a sub-interpreter: signals are not its business
            return
        if previous not in (-1, self._mouth):
            try:
                self._others = previous, _identity(previous)
            except OSError:  # a socket of Windows, to which nothing can be passed on: it keeps the place
                _replace(previous)

    def remove(self) -> None:
        """Give the place back to whom we took it from."""
        keep = _replace(-1)
        if keep == self._mouth:
            keep = self._others[0] if self._others and _alive(self._others) else -1
        if keep != -1:
            _replace(keep)

    def close(self) -> None:
        """In the child of a fork, whose descriptors are those of the parent."""
        atexit.unregister(self.remove)
        self.remove()
        self._closed()

    def _listen(self) -> None:
        while received := self._heard():
            if self._others and _alive(self._others):
                _pass_on(self._others[0], received)
            if signal.SIGINT in received:
                self._interrupt()

    def _interrupt(self) -> None:
        frame, instance = self._running()
        if instance is None:
            return
        before, when = self._asked
        self._asked = id(instance), time.monotonic()
        again = before == id(instance) and time.monotonic() - when < _PATIENCE
        if again or signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            instance.interrupt()
            time.sleep(_SETTLED)
            if self._running()[0] is not frame:  # it may have ended by itself, and serves another call
                instance.interrupt(False)

    def _running(self) -> tuple[FrameType | None, Any]:
        """The frame in which the main thread calls compiled code, and the instance; else nothing."""
        frame = sys._current_frames().get(self._main)  # pyright: ignore[reportPrivateUsage] - documented, the only way
        instance = _instance(frame)
        return (None, None) if instance is None else (frame, instance)


_watcher = functools.cache(_Watcher)


def _ear_and_mouth() -> tuple[Callable[[], bytes], int, Callable[[], None]]:
    """What waits for bytes, the descriptor that they are written to, and what closes both. A pipe, since to load
    sockets takes 5 ms; but Windows writes signals to a socket only."""
    if sys.platform != "win32":
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        return lambda: os.read(reader, 4096), writer, lambda: (os.close(reader), os.close(writer))[0]
    import socket

    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    return lambda: ear.recv(4096), mouth.fileno(), lambda: (ear.close(), mouth.close())[0]


def _replace(descriptor: int) -> int:
    return signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _alive(others: tuple[int, tuple[int, int]]) -> bool:
    """Whether the descriptor is still what it was, and not another file under the same number."""
    try:
        return _identity(others[0]) == others[1]
    except OSError:
        return False


def _pass_on(descriptor: int, received: bytes) -> None:
    with contextlib.suppress(OSError):  # full, as it would have been for Python
        os.write(descriptor, received)


def _forget() -> None:
    """In the child of a fork, where the listening thread does not exist."""
    if _watcher.cache_info().currsize:
        _watcher().close()
        _watcher.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
