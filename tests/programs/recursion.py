"""Functions that call themselves on staged values, alone and in cycles."""

import math

import numpy as np

import rosejit as rose
from rosejit import Array, Vec
from tests.programs.record import Program

A = np.array


@rose.jit
def power(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@rose.jit
def power_without_hints(x, n):
    return 1 if n == 0 else x * power_without_hints(x, n - 1)


@rose.jit
def power_by_squaring(x: float, n: int):
    if n > 1:
        half = power_by_squaring(x, n // 2)
        return half * half * x if n % 2 == 1 else half * half
    return x if n == 1 else 1.0


@rose.jit
def factorial(n):
    if n > 1:
        return n * factorial(n - 1)
    return 1


@rose.jit
def gcd(a: int, b: int) -> int:
    return a if b == 0 else gcd(b, a % b)


@rose.jit
def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@rose.jit
def is_even(n: int):
    if n == 0:
        return True
    return is_odd(n - 1)


@rose.jit
def is_odd(n: int):
    if n == 0:
        return False
    return is_even(n - 1)


@rose.jit
def sines_in_turn(x: float, n: int) -> float:
    if n == 0:
        return x
    return math.sin(cosines_in_turn(x, n - 1)) * x


@rose.jit
def cosines_in_turn(x: float, n: int) -> float:
    if n == 0:
        return x * x
    return math.cos(sines_in_turn(x, n - 1)) + x


@rose.jit
def tree(i: int, left: Array["n", int], right: Array["n", int], value: Vec["n"], x: float) -> float:
    """The fold of paper 001 over a tree as index arrays."""
    if i < 0:
        return x
    return tree(left[i], left, right, value, x) * tree(right[i], left, right, value, x) * value[i]


@rose.jit
def fold_tree(value: Vec[3], x: float) -> float:
    return tree(0, np.array([1, -1, -1]), np.array([2, -1, -1]), value, x)


WEIGHTS = np.array([0.5, -1.0, 2.0, 1.5])
OTHERS = np.array([1.5, 0.5, -0.5, 2.0])


@rose.jit
def weighted(i: int, x: Vec["n"]) -> float:
    if i >= len(x):
        return 0.0
    return x[i] * WEIGHTS[i] + squares(i + 1, x)


@rose.jit
def squares(i: int, x: Vec["n"]) -> float:
    if i >= len(x):
        return 0.0
    return x[i] * x[i] * OTHERS[i] + weighted(i + 1, x)


@rose.jit
def both_orders(x: Vec["n"]) -> float:
    """Each of the two functions reads an array from outside that the other does not know."""
    return weighted(0, x) * squares(0, x)


@rose.jit
def closed_over(a: float, n: int) -> float:
    b = a * a

    @rose.jit
    def go(k: int) -> float:
        if k == 0:
            return b
        return a * go(k - 1)

    return go(n) + go(n + 1)


@rose.jit
def in_loops_and_branches(x: float, n: int) -> float:
    if n <= 0:
        return x
    s = 0.0
    for i in rose.range(n):
        if i % 2 == 0:
            s += in_loops_and_branches(x * 0.5, n - 1 - i)
        else:
            s += math.sin(in_loops_and_branches(x, n - 2))
    return s


@rose.jit
def products_up_to(x: Vec["n"], k: int) -> Vec["n"]:
    """An array goes down and comes back."""
    if k == 0:
        return x
    y = products_up_to(x, k - 1).copy()
    y[k] = y[k] * y[k - 1]
    return y


@rose.jit
def last_product(x: Vec["n"]) -> float:
    return products_up_to(x, len(x) - 1)[-1]


@rose.jit
def sum_and_count(x: float, k: int) -> tuple[float, int]:
    if k == 0:
        return x, 1
    total, count = sum_and_count(x * x, k - 1)
    return total + x, count * 2


@rose.jit
def simpson(a: float, b: float, tolerance: float, depth: int) -> float:
    """The integral of sin(x * x) from a to b, where the depth follows the values."""
    m = (a + b) / 2
    whole = (b - a) / 6 * (math.sin(a * a) + 4 * math.sin(m * m) + math.sin(b * b))
    left = (m - a) / 6 * (math.sin(a * a) + 4 * math.sin(((a + m) / 2) ** 2) + math.sin(m * m))
    right = (b - m) / 6 * (math.sin(m * m) + 4 * math.sin(((m + b) / 2) ** 2) + math.sin(b * b))
    if depth == 0 or abs(left + right - whole) < 15 * tolerance:
        return left + right + (left + right - whole) / 15
    return simpson(a, m, tolerance / 2, depth - 1) + simpson(m, b, tolerance / 2, depth - 1)


@rose.jit
def with_rule(x: float, n: int) -> float:
    return 1.0 if n == 0 else x * with_rule(x, n - 1)


@with_rule.jvp
def _(x: rose.Dual, n: int) -> rose.Dual:
    slope = n * with_rule(x.re, n - 1) if n > 0 else 0.0
    return rose.Dual(with_rule(x.re, n), x.du * slope)


@rose.jit
def sine(x: float, n: int) -> float:
    return x - x**3 / 6 if n == 0 else 2 * sine(x / 2, n - 1) * cosine(x / 2, n - 1)


@rose.jit
def cosine(x: float, n: int) -> float:
    return 1 - x * x / 2 if n == 0 else 1 - 2 * sine(x / 2, n - 1) ** 2


@sine.jvp
def _(x: rose.Dual, n: int) -> rose.Dual:
    return rose.Dual(sine(x.re, n), x.du * cosine(x.re, n))


@cosine.jvp
def _(x: rose.Dual, n: int) -> rose.Dual:
    return rose.Dual(cosine(x.re, n), -x.du * sine(x.re, n))


@rose.jit
def cycle_with_rules(x: float) -> float:
    return sine(x, 9) * cosine(x, 9)


PROGRAMS = (
    Program(power, [(1.3, 5), (-0.5, 4), (2.0, 0)], lambda x, n: x**n, lambda x, n: n * x ** (n - 1)),
    Program(power_without_hints, [(1.3, 5), (-0.5, 4)], lambda x, n: x**n, lambda x, n: n * x ** (n - 1)),
    Program(power_by_squaring, [(1.3, 13), (-0.5, 4)], lambda x, n: x**n, lambda x, n: n * x ** (n - 1)),
    Program(factorial, [(10,), (0,)], math.factorial),
    Program(gcd, [(48, 36), (17, 5), (0, 3)], math.gcd),
    Program(ackermann, [(2, 3), (1, 1)], lambda m, n: 2 * n + 3 if m == 2 else n + 2),
    Program(is_even, [(4,), (7,)], lambda n: n % 2 == 0),
    Program(sines_in_turn, [(0.7, 5), (-0.4, 4)]),
    Program(fold_tree, [(A([2.0, 3.0, 5.0]), 2.0), (A([1.5, -0.5, 0.7]), 1.2)], lambda v, x: v.prod() * x**4),
    Program(
        both_orders,
        [(A([1.2, 0.7, -1.5, 0.3]),), (A([-0.4]),)],
        lambda x: (
            sum(x[i] * WEIGHTS[i] if i % 2 == 0 else x[i] ** 2 * OTHERS[i] for i in range(len(x)))
            * sum(x[i] * WEIGHTS[i] if i % 2 == 1 else x[i] ** 2 * OTHERS[i] for i in range(len(x)))
        ),
    ),
    Program(
        closed_over,
        [(1.3, 3), (-0.5, 0)],
        lambda a, n: a ** (n + 2) + a ** (n + 3),
        lambda a, n: (n + 2) * a ** (n + 1) + (n + 3) * a ** (n + 2),
        plain=False,
    ),
    Program(in_loops_and_branches, [(1.2, 5), (0.4, 3)]),
    Program(last_product, [(A([1.2, 0.7, -1.5]),), (A([0.3]),)], lambda x: x.prod(), lambda x: x.prod() / x),
    Program(sum_and_count, [(1.1, 3), (0.7, 0)], lambda x, k: (sum(x ** (2**j) for j in range(k + 1)), 2**k)),
    Program(simpson, [(0.1, 1.7, 0.0, 3)], kinks=[(0.1, 1.7, 1e-4, 20)]),
    Program(with_rule, [(1.3, 5), (-0.5, 4)], lambda x, n: x**n, lambda x, n: n * x ** (n - 1)),
    Program(cycle_with_rules, [(0.7,)], differences=False),
)
