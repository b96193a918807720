"""Staged numbers have the kind of Python's: what asks for an element, a length or a turn raises, and handlers run."""

import linecache
import numbers
from collections import abc
from typing import Any, SupportsAbs, SupportsFloat, SupportsIndex

import numpy as np
import pytest

import rosejit as rose
from rosejit import StagingTypeError, StagingWarning, UnsupportedSyntax

ASKED = (
    "len(x)", "iter(x)", "x[0]", "x['a']", "list(x)", "tuple(x)", "set(x)", "dict(x)", "sum(x)", "max(x)", "sorted(x)",
    "[q for q in x]", "x()", "0 in x", "(lambda a, b: 1)(*x)", "enumerate(x)", "zip(x)", "x @ x", "'text' % x",
    "'%s' % (x, x)", "FORMAT % x", "next(x)", "x.append(1)", "operator.getitem(x, 0)",
)  # fmt: skip


def made(text: str) -> Any:
    name = f"<{text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"FORMAT": "text", "np": np}
    exec(compile("import operator\n", name, "exec"), scope)
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("caught", ["TypeError", "Exception"])
@pytest.mark.parametrize("asked", ASKED)
def test_handlers_run_as_in_python(asked, caught):
    caught = "AttributeError" if asked == "x.append(1)" and caught == "TypeError" else caught
    body = f"    try:\n        {asked}\n        return x + 0.0\n    except {caught}:\n        return x * 2.0\n"
    f = made(f"def f(x):\n{body}")
    for given in (1.5, 3, True):
        assert rose.jit(f)(given) == f(given) == 2.0 * given


@pytest.mark.parametrize("asked", ["len(x)", "x[0]", "list(x)", "FORMAT % x", "x()"])
def test_without_a_handler_it_is_an_error(asked):
    with pytest.raises(TypeError):
        rose.jit(made(f"def f(x):\n    {asked}\n    return x\n"))(1.0)


def test_elements_of_arrays_may_be_numpys():
    f = made("def f(x):\n    try:\n        return x[0][0]\n    except TypeError:\n        return 7.0\n")
    with pytest.raises((IndexError, StagingTypeError)):
        rose.jit(f)(np.ones(2))


ABSTRACT = (
    abc.Hashable, abc.Iterable, abc.Sized, abc.Container, abc.Collection, abc.Sequence, abc.Callable, numbers.Number,
    numbers.Complex, numbers.Real, numbers.Rational, numbers.Integral, SupportsFloat, SupportsIndex, SupportsAbs, float,
    int, bool, complex, list, object, np.ndarray, str | int,
)  # fmt: skip


@pytest.mark.parametrize("value", [1.5, 3, True, 1j, np.ones(2)], ids=repr)
def test_instances(value):
    def f(x):
        return [bool(isinstance(x, cls)) for cls in ABSTRACT]

    assert rose.jit(f)(value) == f(value)


class Counting:
    def __init__(self):
        self.n = 0
        self.seen = []

    def __hash__(self):
        self.n += 1
        return 1

    def __repr__(self):
        self.seen.append(1)
        return "Counting"


@pytest.mark.parametrize("asked", ["hash(h)", "{h: 1}", "{h}", "h in {1}", "f'{h}'", "repr(h)", "{}.get(h)"])
def test_describing_an_object_of_the_function_may_not_change_it_in_a_branch(asked):
    f = made(f"def f(x, made):\n    h = made()\n    if x > 0:\n        q = {asked}\n    return x * (1 + h.n)\n")
    with pytest.raises(UnsupportedSyntax, match="changes the object"):
        rose.jit(f)(-1.0, Counting)
    outside = made(f"def f(x, made):\n    h = made()\n    q = {asked}\n    return x * (1 + h.n)\n")
    assert rose.jit(outside)(-1.0, Counting) == outside(-1.0, Counting)


HIDDEN = {
    "queue": ("import queue\nq = queue.SimpleQueue()", "q.put(1)", "q.qsize()"),
    "stack": ("import contextlib\nq = contextlib.ExitStack()", "q.callback(int)", "len(q._exit_callbacks)"),
    "semaphore": ("import threading\nq = threading.Semaphore(99)", "q.acquire()", "q._value"),
    "lock": ("import threading\nq = threading.RLock()", "q.acquire()", "q._is_owned()"),
    "attributes of a function": ("def q(): pass\nq.k = 0", "q.__dict__['k'] = q.k + 1", "q.k"),
    "hash": ("import hashlib\nq = hashlib.md5()", "q.update(b'1')", "q.digest()[0]"),
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_changes_of_what_nobody_can_look_into(kind):
    before, change, value = HIDDEN[kind]
    for read in (True, False):
        text = f"{before}\ndef f(x):\n    {change}\n    return x * {value if read else 1.0}\n"
        plain, staged = made(text), rose.jit(made(text))
        with pytest.warns(StagingWarning, match="is changed while the function is staged"):
            found = [staged(2.0) for _ in range(3)]
        assert found == [plain(2.0) for _ in range(3)]


def test_a_change_of_what_no_name_leads_to_is_warned_of():
    text = (
        "import functools, threading\nkept = functools.cache(threading.Lock)\n"
        "def f(x):\n    kept().acquire(False)\n    return x\n"
    )
    with pytest.warns(StagingWarning, match="an object of `lock` may be changed"):
        rose.jit(made(text))(1.0)


def test_numpys_old_generators_do_not_move_staged_rows():
    def f(x):
        rows = np.arange(8.0).reshape(4, 2) * x
        np.random.RandomState(0).shuffle(rows)
        return rows

    with pytest.raises(UnsupportedSyntax, match="RandomState"):
        rose.jit(f)(2.0)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_arrays_with_an_arithmetic_of_their_own():
    with pytest.raises(StagingTypeError, match="computes as NumPy's do"):
        rose.jit(lambda a: a * a)(np.matrix([[1.0, 2.0], [3.0, 4.0]]))
    held = np.ones(3).view(type("Named", (np.ndarray,), {}))
    assert rose.jit(lambda a: (a * 2).sum())(held) == 6.0


OTHERS = {
    "dates": lambda: np.array(["2020-01-01", "2020-01-03"], "M8[D]"),
    "durations": lambda: np.array([1, 2], "m8[D]"),
    "a date": lambda: np.datetime64("2020-01-01"),
    "masked": lambda: np.ma.array([1.0, 2.0], mask=[0, 1]),
    "a masked number": lambda: np.ma.masked,
    "texts": lambda: np.array(["a", "b"]),
    "records": lambda: np.array([(1.0, 2)], [("a", float), ("b", int)]),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_number_of_numpys_meets_staged_ones(kind):
    """The result is Python's, or an error of ours: nothing is masked no longer, in silence."""
    for use in ("V * x", "x * V", "V + A", "A + V", "A @ V", "x == V", "x < V", "np.add(V, x)", "np.maximum(x, V)"):
        for text in (f"    return {use}\n", f"    y = x\n    if x > 0:\n        y = {use}\n    return y\n"):
            f = made(f"def f(x, V):\n    A = np.array([x, 2.0 * x])\n{text}")
            given = OTHERS[kind]()
            try:
                found = rose.jit(f, static_argnames="V")(1.5, given)
            except rose.RoseError:
                continue
            assert not isinstance(given, np.ma.MaskedArray)
            assert np.array_equal(found, f(1.5, given)), use
