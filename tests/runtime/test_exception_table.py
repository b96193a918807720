"""The first instruction of a function inside its `try`."""

import ctypes
import functools
import signal

from rosejit.runtime.exception_table import whole_try


def guarded(x):
    try:
        return 1 / x
    except BaseException as error:
        return type(error)


def test_nothing_else_changes():
    same = whole_try(lambda: None)
    assert same() is None
    f = whole_try(guarded)
    assert f is guarded
    assert (f(2), f(0)) == (0.5, ZeroDivisionError)


def test_a_long_body():
    body = "\n".join(f"        x = x + {k}" for k in range(3000))
    scope = {}
    exec(f"def f(x):\n    try:\n{body}\n        return x\n    except BaseException as e:\n        return e", scope)
    f = whole_try(scope["f"])
    assert f(0) == sum(range(3000))
    assert isinstance(f(""), TypeError)


def test_a_signal_before_the_first_line():
    """`map` calls two C functions, with no Python between them: one notes a signal, the other is a callback."""

    class Raised(Exception):
        pass

    def handler(number, frame):
        raise Raised

    def body():
        try:
            return seen.append("body") or 1
        except BaseException as error:
            seen.append(type(error))
            return 2

    seen = []
    callback = ctypes.CFUNCTYPE(ctypes.c_int)(whole_try(body))
    note = functools.partial(ctypes.pythonapi.PyErr_SetInterruptEx, int(signal.SIGUSR1))
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        results = list(map(functools.partial.__call__, [note, functools.partial(callback)]))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert (results, seen[-1]) == ([0, 2], Raised)
