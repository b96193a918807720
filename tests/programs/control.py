"""Every way to leave a loop, a branch or a function, and to bind a name on some paths only."""

import math
from typing import NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Array, Vec
from tests.programs.record import Program

A = np.array


@rose.jit
def halved(x: float) -> float:
    """WHILE of paper 001."""
    t = x
    while t > 1:
        t *= 0.5
    return t


@rose.jit
def forever(x: float) -> float:
    while True:
        x = x * 0.5
        if x < 1:
            return x * x
        if x > 1e6:
            break
    return -x


@rose.jit
def until_done(x: float) -> tuple[float, int]:
    done, turns = False, 0
    while not done:
        x = x / 2 + 0.1
        turns += 1
        done = x < 1.0
    return x, turns


@rose.jit
def loops_in_loops(x: float, n: int) -> float:
    for i in range(n):
        for j in range(n):
            if i * j > 5:
                return x * i * j
            if j > i:
                break
        else:
            continue
        x = x + 0.5 * i
    return x


@rose.jit
def while_in_while(x: float) -> float:
    s = 0.0
    while x < 100.0:
        y = x
        while y > 1.0:
            y = y / 2
            s += y * x
        x = x * 1.5
    return s


@rose.jit
def skipping(x: Vec["n"]) -> float:
    s = 0.0
    k = 0
    while k < len(x):
        k += 1
        if x[k - 1] < 0.0:
            continue
        s += x[k - 1] * k
        if s > 10.0:
            break
    return s * s


@rose.jit
def while_else(x: float, n: int) -> float:
    i = 0
    while i < n:
        if x > 10.0:
            break
        x = x * 2
        i += 1
    else:
        x = x * x
    return x


@rose.jit
def for_else(x: float, n: int) -> float:
    for i in range(n):
        if x > 10.0 + i:
            y = 3.0 * x
            break
        x = x * 2
    else:
        y = x * x
    return y


@rose.jit
def walrus(x: float) -> float:
    if (y := x * x) > 4:
        return y * x
    while (z := y * 2) < 100:
        y = z + x
    return z + y


@rose.jit
def matched(x: float, k: int) -> float:
    match k:
        case 0:
            return x
        case 1 | 2:
            y = x * x
        case n if n > 10:
            y = x * n
        case _:
            y = -x
    return y + x


class Move(NamedTuple):
    turn: float
    step: float


@rose.jit
def matched_structure(m: Move) -> float:
    match m:
        case Move(turn=0.0, step=s):
            return s * s
        case (t, s) if t > 1.0:
            return t * s
        case _:
            return math.sin(m.turn) * m.step


@rose.jit
def elif_chain(x: float) -> float:
    if x < -1.0:
        y = x * x
    elif x < 0.0:
        y = math.exp(x)
    elif 0.0 <= x < 1.0:
        y = math.sqrt(x)
    else:
        y = x if x < 2.0 or (x > 3.0 and not x > 4.0) else 1.0 / x
    return y * 2


@rose.jit
def on_some_paths(x: float) -> float:
    if x > 0:
        y = x * x
        known = True
    else:
        known = False
    return y if known else x


@rose.jit
def checked(x: Vec["n"]) -> float:
    s = 1.0
    for i in rose.range(len(x)):
        assert x[i] > -5.0, f"{x[i]} at {i}"
        if x[i] > 50.0:
            raise ValueError("too large")
        s *= x[i]
    return s


@rose.jit
def strided(a: Vec["n"], k: int) -> float:
    """Ints that only the run knows as bounds, steps and indices, and in arithmetic."""
    s = 0.0
    for i in range(k, len(a), 2):
        s += a[i] * a[-i - 1] * (i // 2 + 1) + a[(i * 3 + k) % len(a)] - (i - k) / 4
    return s


@rose.jit
def collatz(n: int) -> int:
    k = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k


@rose.jit
def newton(a: float) -> float:
    x = a
    err = 1.0
    while abs(err) > 1e-12:
        err = x * x - a
        x = x - err / (2 * x)
    return x


@rose.jit
def bisection(a: float) -> float:
    low, high = 0.0, 10.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if middle * middle > a:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@rose.jit
def early_return(a: float, limit: int) -> tuple[float, int]:
    """A root of x**3 = a, by Newton's iteration; the number of iterations, or -1 where it does not converge."""
    x = 1.0
    for k in rose.range(limit):
        step = (x**3 - a) / (3 * x**2)
        x -= step
        if abs(step) < 1e-14:
            return x, k + 1
    return x, -1


@rose.jit
def searched(x: Vec["n"], wanted: float) -> float:
    """Binary search, then a line between the neighbours."""
    low, high = 0, len(x) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x[middle] <= wanted:
            low = middle
        else:
            high = middle
    return low + (wanted - x[low]) / (x[high] - x[low])


@rose.jit
def array_in_while(x: Vec["n"]) -> float:
    y = x.copy()
    k = 0
    while y[0] < 100.0:
        y[0] = y[0] * y[1]
        y[k % 3] += 1.0
        k += 1
    return y.sum()


@rose.jit
def swapped(x: Vec[2], n: int) -> float:
    a, b = x.copy(), x * x
    while n > 0:
        a, b = b, a
        a[0] = a[0] + b[1]
        n -= 1
    return a[0] * b[0]


@rose.jit
def arrays_of_ints(order: Array["n", int], x: Vec["n"]) -> float:
    """Follows a chain of indices until it comes back."""
    s, k = 0.0, 0
    while True:
        s = s * 0.5 + x[k] * x[k]
        k = order[k]
        if k == 0:
            return s


@rose.jit
def rejected(x: float) -> float:
    """Step size control: a step that is too large is tried again, smaller."""
    t, h = 0.0, 1.0
    while t < 1.0:
        full = x + h * -x * x
        half = x + h / 2 * -x * x
        half = half + h / 2 * -half * half
        if abs(full - half) > 0.05:
            h = h / 2
            continue
        t, x = t + h, half
    return x


PROGRAMS = (
    Program(halved, [(10.0,), (1.5,)], lambda x: {10.0: 0.625, 1.5: 0.75, 1.0: 1.0}[x], kinks=[(1.0,)]),
    Program(forever, [(10.0,), (0.5,), (1e9,)]),
    Program(until_done, [(10.0,), (0.5,)]),
    Program(loops_in_loops, [(2.0, 10), (2.0, 2), (2.0, 0)]),
    Program(while_in_while, [(1.4,)]),
    Program(skipping, [(A([1.0, -2.0, 2.5, 0.5]),), (A([9.0, 2.0, 3.0]),), (A([-1.0]),)]),
    Program(while_else, [(1.5, 2), (1.5, 20), (11.0, 3), (2.0, 0)]),
    Program(for_else, [(1.5, 2), (1.5, 20), (11.0, 3), (2.0, 0)]),
    Program(walrus, [(3.0,), (1.3,)]),
    Program(matched, [(3.0, k) for k in (0, 1, 2, 5, 11)]),
    Program(matched_structure, [(Move(1.5, 2.0),), (Move(0.5, 2.0),)], kinks=[(Move(0.0, 3.0),)]),
    Program(elif_chain, [(-2.0,), (-0.5,), (0.25,), (1.5,), (2.5,), (3.5,), (5.0,)], exact=False),
    Program(on_some_paths, [(1.5,), (-1.5,)], lambda x: x * x if x > 0 else x),
    Program(checked, [(A([1.5, 2.0, -3.0]),)], lambda x: x.prod(), lambda x: x.prod() / x),
    Program(strided, [(A([0.5, 1.0, 2.0, -1.0, 3.0, 0.3]), 1), (A([0.5, 1.0]), 2)]),
    Program(collatz, [(27,), (1,), (97,)], lambda n: {27: 111, 1: 0, 97: 118}[n]),
    Program(newton, [(2.0,), (0.5,)], math.sqrt, lambda a: 0.5 / math.sqrt(a)),
    Program(bisection, [(2.0,)], slope=lambda a: 0.0, differences=False),
    Program(early_return, [(2.0, 50), (0.7, 50)], exact=False),
    Program(searched, [(A([0.0, 1.0, 2.5, 4.0, 7.0]), 3.0), (A([0.0, 1.0]), 0.2)]),
    Program(array_in_while, [(A([1.2, 2.0, 3.0]),)]),
    Program(swapped, [(A([1.5, 0.75]), 3), (A([1.5, 0.75]), 0)]),
    Program(arrays_of_ints, [(A([2, 0, 3, 1]), A([0.5, 1.5, -0.7, 1.1]))]),
    Program(rejected, [(1.5,), (0.3,)]),
)
