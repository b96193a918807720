"""Arrays: indexing, views, writing, aliases, what may not be written."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import rosejit as decorated
from rosejit import text
from rosejit.api.public_hints import Array, Mat, Vec
from rosejit.errors import RoseIndexError, ShapeError, StagingTypeError
from rosejit.frontend.values import rose_functions as rose
from tests.frontend.oracle import agrees, define, evaluate, fault, says, stage

A = np.arange(1.0, 7.0).reshape(2, 3)
X = np.array([1.0, -2.0, 3.0])

READS = [
    "a[1]", "a[-1]", "a[1, 2]", "a[-1, -3]", "a[i]", "a[i, 2]", "a[0, i]", "a[i, i]", "a[i][i]", "a[:, 1]", "a[:, i]",
    "a[1:]", "a[:, ::-1]", "a[::-1, ::2]", "a[..., 0]", "a[0, ...]", "a[None, 0]", "a[:, None, 1]", "a[1:][0, i]",
    "a[:, 1:][i]", "a.T", "a.T[i]", "a.T[1:, i]", "a[0][::-1][i]", "a[:0]", "a[i - 1]", "a[[1, 0]]", "x[[i, 0, -1]]",
    "x[-1:]", "x[5:]", "x[::2]", "x[-3:2][i]", "a.T.T[i, 1]", "(a + 1)[i]", "a.copy()[i]", "x[True and 1]",
]  # fmt: skip


@pytest.mark.parametrize("read", READS)
def test_reads(read):
    f = define(f"def f(a: Mat[2, 3], x: Vec[3], i: int): return {read}", Mat=Mat, Vec=Vec)
    agrees(f, (A, X, 1), (A, X, 0))


WRITES = [
    "y[1] = 5.0", "y[i] = x[0]", "y[-1] += 2", "y[i] *= i", "y[1:] = y[:-1]", "y[::2] = 7", "y[:] = x * 2", "y += 1",
    "y *= x", "y -= a[0]", "b[i] = x", "b[1] = 3.0", "b[:, 1] = [8.0, 9.0]", "b[:, i] += 1", "b[i, 2] = y[i]",
    "b[i][1] = 4.0", "b[0] += b[1]", "b[::-1, 0] = x[:2]", "r = b[i]; r[0] = 6.0; r += 1", "b.T[i] = 5.0",
    "c = b.T; c[2, i] = 1.5", "s = y[1:]; s[0] = 9.0; y[2] = s[0] + s[1]", "z = y; z[0] = 3.0", "y[i], y[0] = y[0], y[i]",
    "b[i] = b[1 - i]", "b[:] = b[::-1].copy()", "y[...] = 2.0", "b[..., 0] = 1.0",
]  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_writes(write):
    source = f"""
        def f(a: Mat[2, 3], x: Vec[3], i: int):
            b = a.copy()
            y = x.copy()
            {write}
            return b, y
    """
    f = define(source, Mat=Mat, Vec=Vec)
    agrees(f, (A, X, 1), (A, X, 0))


class Pair(NamedTuple):
    x: float
    v: Vec["n"]


@dataclass
class Box:
    x: float
    v: Vec["n"]


@pytest.mark.parametrize("record", [Pair, Box])
def test_records_keep_new_arrays(record):
    def chosen(x: float, v: Vec["n"]):
        def nothing():
            return record(0.0, np.zeros(len(v)))

        r = nothing() if x < 0 else record(x, x * v)
        return r.x + r.v[1]

    agrees(chosen, (2.0, X), (-2.0, X))

    def written(v: Vec["n"]):
        r = record(0.0, np.zeros(len(v)))
        for i in rose.range(len(v)):
            r.v[i] = v[i] * v[i]
        return r.v

    agrees(written, (X,))


def test_writes_in_loops_and_branches():
    def cumulative(x: Vec["n"]):
        y = np.zeros(len(x))
        y[0] = x[0]
        for i in rose.range(1, len(x)):
            y[i] = y[i - 1] * x[i]
        return y

    def chosen(x: Vec["n"], c: float):
        y = x.copy()
        z = y
        if c > 0:
            y[0] = c
        else:
            y[1] = y[0]
        return z

    def matrix(a: Mat["n", "m"]):
        b = a.copy()
        for i in rose.range(a.shape[0]):
            row = b[i]
            for j in rose.range(1, a.shape[1]):
                row[j] += row[j - 1]
        return b

    agrees(cumulative, (np.array([1.0, 2.0, 3.0, 4.0]),))
    agrees(chosen, (X, 1.0), (X, -1.0))
    agrees(matrix, (A,))
    assert "copy" not in text.show(stage(cumulative, X).function)


def test_helpers_write_what_they_are_given():
    def swap(y, i, j):
        y[i], y[j] = y[j], y[i]

    def f(x: Vec["n"]):
        y = x.copy()
        for i in rose.range(len(x) // 2):
            swap(y, i, len(x) - 1 - i)
        return y

    agrees(f, (np.array([1.0, 2.0, 3.0, 4.0]),))


def test_arrays_that_are_swapped_or_rebound_in_a_loop():
    def swapped(x: Vec["n"], k: int):
        a, b = x.copy(), x * 2
        for i in rose.range(k):
            a[0] = a[0] + 1
            a, b = b, a
        return a, b

    def rebound(x: Vec["n"], k: int):
        v = x
        for _ in rose.range(k):
            v = v * 0.5 + x
        return v

    agrees(swapped, (X, 0), (X, 1), (X, 4))
    agrees(rebound, (X, 0), (X, 3))


def test_two_names_for_one_array_in_a_loop():
    def f(x: Vec["n"]):
        y = x.copy()
        z = y
        for i in rose.range(len(x)):
            y[i] = y[i] + 1
            z[0] = z[0] * 2
        return y, z

    agrees(f, (X,))


def test_an_array_that_a_choice_may_have_made_the_same():
    def reads(x: Vec["n"], c: float):
        y, z = x.copy(), x * 2
        u = y if c > 0 else z
        return u.sum() + y[0] + z[0]

    def writes(x: Vec["n"], c: float):
        y, z = x.copy(), x * 2
        u = y if c > 0 else z
        u[0] = 9.0
        return y[0]  # moved

    agrees(reads, (X, 1.0), (X, -1.0))
    error = fault(writes, X, 1.0)
    assert isinstance(error, StagingTypeError)
    says(error, "`", "may be the same array", line="return y[0]  # moved", help=".copy()")


def test_an_alias_that_a_loop_rebinds():
    def f(x: Vec["n"]):
        y = x.copy()
        z = y
        for i in rose.range(3):
            y[0] = y[0] + z[1]  # two names
            y = y if i > 5 else y
            if i > 7:
                y = x * 2
        return y

    error = fault(f, X)
    assert isinstance(error, StagingTypeError)
    assert "two names" in str(error)


def test_what_may_not_be_written():
    captured = np.array([1.0, 2.0, 3.0])

    def argument(x: Vec["n"]):
        x[0] = 1.0  # argument
        return x

    def outside(x: float):
        captured[0] = x  # outside
        return x

    def in_place(x: Vec["n"]):
        x += 1  # in place
        return x

    for f, line, argument_ in ((argument, "x[0] = 1.0", X), (outside, "captured[0] = x", 1.0), (in_place, "x += 1", X)):
        error = fault(f, argument_)
        assert isinstance(error, StagingTypeError)
        says(error, "never written", line=line, help=".copy()")


def test_indices_out_of_range():
    def known(x: Vec["n"]):
        return x[3]  # known

    def staged(x: Vec["n"], i: int):
        return x[i]  # staged

    def stored(x: Vec["n"], i: int):
        y = x.copy()
        y[i] = 0.0  # stored
        return y

    def viewed(a: Mat["n", "m"], i: int):
        row = a[i]  # viewed
        return 1.0

    def sliced(x: Vec["n"], i: int):
        return x[1:][i]  # sliced

    error = fault(known, X)
    assert isinstance(error, RoseIndexError)
    says(error, "3", "(3,)", line="return x[3]  # known", at="x[3]")
    for f, line, args in (
        (staged, "return x[i]  # staged", (X, 3)),
        (staged, "return x[i]  # staged", (X, -4)),
        (stored, "y[i] = 0.0  # stored", (X, 3)),
        (viewed, "row = a[i]  # viewed", (A, 2)),
        (sliced, "return x[1:][i]  # sliced", (X, 2)),
    ):
        error = fault(f, *args)
        assert isinstance(error, RoseIndexError)
        says(error, "out of range", line=line)


def test_indices_that_are_none():
    cases = {
        "x[0, 1]": (RoseIndexError, "1 dimension"),
        "x[1.5]": (StagingTypeError, "integers"),
        "x['a']": (StagingTypeError, "integers"),
        "x[i:]": (StagingTypeError, "slice"),
        "x[x > 0]": (StagingTypeError, "number of elements"),
        "x[[0.5]]": (StagingTypeError, "integers"),
    }
    for use, (kind, word) in cases.items():
        f = define(f"def f(x: Vec['n'], i: int):\n    return {use}  # index", Vec=Vec)
        error = fault(f, X, 1)
        assert isinstance(error, kind), use
        says(error, word, line=f"return {use}  # index")


def test_what_does_not_fit():
    cases = {
        "y[:2] = x": (ShapeError, "(3,)"),
        "y += np.zeros((2, 3))": (ShapeError, "(2, 3)"),
        "k[0] = x[0]": (StagingTypeError, "Real"),
        "y[0] = 'a'": (StagingTypeError, "str"),
        "y[0] = x": (ShapeError, "(3,)"),
    }
    for use, (kind, word) in cases.items():
        source = (
            f"def f(x: Vec['n'], n: Array['m', int]):\n    y, k = x.copy(), n.copy()\n    {use}  # fits\n    return y"
        )
        f = define(source, Vec=Vec, Array=Array, np=np)
        error = fault(f, X, np.array([1, 2]))
        assert isinstance(error, kind), use
        says(error, word, line=f"{use}  # fits")


def test_elements_of_other_kinds():
    def f(n: Array["k", int], p: Array["k", bool], i: int):
        m = n.copy()
        m[i] = m[i] * 2 + n.sum()
        q = p.copy()
        q[0] = n[0] > i
        r = np.zeros(2)
        r[0] = n[1]
        return m, q, r, n[i] // 2, p[i], ~p

    agrees(f, (np.array([4, 5]), np.array([True, False]), 1))


def test_arrays_known_while_staging():
    def f(x: float):
        steps = np.arange(3)
        table = np.array([1.0, 2.0, 4.0])
        total = 0.0
        for k in steps:
            total += table[k] * x
        table[0] = 8.0
        return total + table[0], table * 2, [10.0, 20.0, 30.0][steps[1]]

    agrees(f, (1.5,))


def test_known_arrays_change_in_loops():
    def f(x: Vec["n"]):
        seen = np.zeros(2)
        for i in rose.range(len(x)):
            if seen[0] > 1:
                seen[1] = seen[1] + x[i]
            seen[0] = seen[0] + 1
        return seen

    agrees(f, (np.array([1.0, 2.0, 3.0, 4.0]),))


def test_shapes_are_the_hosts():
    def f(a: Mat["n", "m"]):
        return len(a), a.shape, a.ndim, a.size, a[0].shape, a.T.shape

    assert evaluate(f, A) == (2, (2, 3), 2, 6, (3,), (3, 2))


def test_iteration():
    def f(a: Mat["n", "m"]):
        total = 0.0
        for row in a:
            for k, v in enumerate(row):
                total += k * v
        for u, v in zip(a[0], reversed(a[1])):
            total += u * v
        first, *rest = a[0]
        return total, first, rest, list(a[1]), [r.sum() for r in a]

    agrees(f, (A,))


_POWERS = {
    "a ** -1": False, "(a + 1) ** -2": False, "np.power(a, -1)": False, "a[a > 1] ** -1": False,
    "a ** k": False, "2 ** (a - 9)": False, "a ** np.array([1, -1, 2])": False, "(a > 1) ** -1": False,
    "a ** -1.0": True, "(a * 1.0) ** -1": True, "np.power(a, -1.0)": True, "a ** 2": True, "a ** (k + 1)": True,
}  # fmt: skip


@pytest.mark.parametrize("power", _POWERS)
def test_integers_to_negative_powers(power):
    text = f"def f(a: Ints, k: int):\n    return np.sum({power})"
    f = define(text, Ints=Array["n", int], np=np)
    a = np.array([1, 2, 4])
    if _POWERS[power]:
        assert decorated.jit(f)(a, -1) == f(a, -1)
        return
    for call in (f, decorated.jit(f)):
        with pytest.raises(ValueError, match="negative"):
            call(a, -1)
