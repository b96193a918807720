"""Programs for `test_rose_check.py`, which plants defects and wants the lines that they are in."""

import math

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec


@rose.jit
def waves(x: float, y: float) -> float:
    a = x * y
    b = math.exp(-a)
    c = math.sin(a + b)
    return c * x + b


@rose.jit
def inner(a: float) -> float:
    u = a * a + 1.0
    v = math.sin(u)
    return v + u


@rose.jit
def outer(x: float, y: float) -> float:
    t = x + y
    s = inner(t * 0.5)
    return s * t


@rose.jit
def looped(x: float, v: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(v)):
        w = v[i] * x
        z = math.sin(w)
        total = total + z * w
    return total / len(v)


@rose.jit
def stored(v: Vec["n"]) -> float:
    out = np.zeros(len(v))
    for i in rose.range(len(v)):
        out[i] = math.sin(v[i])
    total = 0.0
    for i in rose.range(len(v)):
        total += out[i] * v[i]
    return total


def scaled(a: float) -> float:
    b = 2.0 * a
    c = math.sin(b)
    return c - a


@rose.jit
def of_plain_helper(x: float) -> float:
    y = x * 3.0
    return scaled(y) + y


@rose.jit
def branches(x: float, y: float) -> float:
    a = x * y
    if a > 0.5:
        b = a * 3.0
    else:
        b = a - 7.0
    c = math.sin(b)
    return c + a


@rose.jit
def compares(x: float, y: float) -> float:
    a = x * y
    b = 1.0
    if a > 0.5:
        b = a * 3.0
    return b + a


@rose.jit
def squares(n: int) -> int:
    k = n + 3
    q = k // 4
    return q * q + k


@rose.jit
def remainders(n: int, m: int) -> int:
    k = n + m
    r = k % 5
    return r * 100 + k


@rose.jit
def sums(n: int, x: float) -> float:
    total = x
    count = 0
    for i in rose.range(n):
        count = count + 1
        total = total + x * i
    return total * count


@rose.jit
def whiles(x: float) -> float:
    y = x
    while y < 100.0:
        y = y * 3.0
    return y + x


@rose.jit
def matrix(m: Mat[2, 2], v: Vec[2]) -> float:
    w = v * 2.0
    u = m @ w
    return u[0] * u[1] + w[0]


@rose.jit
def reduced(v: Vec["n"]) -> float:
    w = v * v
    s = np.sum(w)
    return math.sqrt(s) + w[0]


@rose.jit
def clipped(x: float, y: float) -> float:
    a = x + y
    b = max(a, 1.0)
    return b * a


@rose.jit
def divides(x: float, y: float) -> float:
    a = x + 2.0
    b = a / y
    c = b * b
    return c + a


@rose.jit
def products(x: float, y: float) -> float:
    a = math.exp(x)
    b = a * y
    c = b + x
    return c + a


@rose.jit
def roots(x: float) -> float:
    a = x * x
    b = math.sqrt(a + 1.0)
    return b - a


@rose.jit
def powers(x: float, y: float) -> float:
    a = x + y
    b = a**y
    return b * x


@rose.jit
def differences(x: float, y: float) -> float:
    a = math.exp(x) * y
    b = x * y
    c = a - b
    d = math.sin(c)
    return d * x


@rose.jit
def differences_in_a_loop(x: float, n: int) -> float:
    y = x
    for i in rose.range(n):
        z = 1.0 - y
        y = y * z + 1.0
    return y
