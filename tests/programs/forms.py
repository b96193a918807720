"""Forms of Python of which each behaves one way on host values and another on staged ones."""

import numpy as np

import rosejit as rose
from rosejit import Static, Vec
from tests.programs.record import Program


@rose.jit
def unrolled_ranges(x: Vec[3], n: Static[int]) -> float:
    """Whatever the body does, `rose.unroll` runs it on the host."""
    parts, total = [], 0.0
    for i in rose.unroll(range(n)):
        parts.append(x[i % 3] ** i)
    for v in rose.unroll([1.0, 2.0]):
        total += v * parts[-1]
    for _ in range(100):
        total = total * 0.5 + 1e-3
    return total + sum(parts)


@rose.jit
def ranges_with_steps(x: Vec["n"], k: int) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1, -1, -2):
        total = total * 0.5 + x[i] * i
    for i in range(1, k, 3):
        total += x[i % len(x)] * i
    for i in reversed(rose.range(k)):
        total = total * 0.9 + i
    return total


@rose.jit
def folded_generators(x: Vec["n"]) -> float:
    """Reductions over staged ranges."""
    n = len(x)
    total = min(x[i] * x[i] for i in rose.range(n)) + max(x[i] + i for i in rose.range(n))
    if any(x[i] > 1.0 for i in rose.range(n)) and not all(x[i] > 1.0 for i in rose.range(n)):
        total += sum(x[i] * x[j] for i in rose.range(n) for j in rose.range(i) if x[j] > 0.0)
    return total + max((x[i] for i in rose.range(0)), default=2.0)


@rose.jit
def walked(x: Vec["n"], y: Vec["n"]) -> float:
    total = 0.0
    for k, (a, b) in enumerate(zip(x, reversed(y))):
        total += k * a * b
    for v in x:
        total = total * 0.5 + v
    return total


@rose.jit
def conditions_of_the_host(x: float, n: Static[int], flag: Static[bool]) -> float:
    """Decided while staging: the other side is not looked at."""
    if flag and 0 < n < 10 and not n == 5:
        y = x * n
    elif flag or n > 100:
        y = unknown(x)  # never reached
    else:
        y = -x
    z = y if n else no_name  # never reached
    left = int(n)
    while left > 1:
        z, left = z * x, left // 2
        if left == 3:
            continue
        if left == 2:
            break
    return z


@rose.jit
def conditions_of_the_run(x: float, n: int, flag: bool) -> float:
    if flag and 0 < n < 10 and not n == 5:
        y = x * n
    elif flag or n > 100:
        y = x / n
    else:
        y = -x
    z = y if n else x * x
    while n > 1:
        z, n = z * x, n // 2
        if n == 3:
            continue
        if n == 2:
            break
    return z


@rose.jit
def both_sides(x: float, y: float, p: bool) -> float:
    """`&`, `|`, `^` and `~` compute both sides; `and` and `or` do not."""
    q = (x > 0.0) & (y > 0.0) | ~p
    r = (x > y) ^ p
    total = 1.0 if q else 0.5
    if r or x / y > 1e300:
        total += x
    if y != 0.0 and x / y > 0.5:
        total *= y
    return total


@rose.jit
def assertions(x: float, n: Static[int]) -> float:
    assert n > 0, f"of the host: {n}"
    assert x > -100.0, "of the run"
    assert x == x
    return x * n


@rose.jit
def errors(x: float, n: Static[int]) -> float:
    """Those of the host are caught by the host, those of the run leave the function."""
    try:
        if n > 1:
            raise KeyError(n)
        y = x
    except KeyError as error:
        y = x * len(error.args) * 2.0
    if x > 100.0:
        raise ValueError("too large")
    return y


@rose.jit
def printed(x: float, n: Static[int]) -> float:
    """Output of the host comes while staging, that of branches and loops when the code runs."""
    print("staging", n, end="")
    y = x
    for i in rose.range(n):
        if x > 100.0:
            print("turn", i, y)
        y = y * x
    return y


@rose.jit
def texts(x: float, unit: Static[str]) -> float:
    label = f"{unit:>4}|{len(unit)}|{unit!r}"
    return x * len(label) + (x if label.endswith("'") else 0.0)


@rose.jit
def returns_early(x: Vec["n"], limit: float) -> float:
    """From loops in branches in loops."""
    total = 0.0
    for i in rose.range(len(x)):
        if x[i] < 0.0:
            for j in rose.range(i):
                if total + x[j] > limit:
                    return total * x[j]
                total += x[j]
            continue
        if x[i] > 10.0:
            break
        total += x[i] * x[i]
    else:
        total += 1.0
    return total - limit


@rose.jit
def ints(n: int, m: int) -> int:
    """Exact, and floored as in Python."""
    total = n // m * 3 + n % m - (-n) // m + divmod(n, m)[1] + (n & m) + (n | 1) + (n ^ m) + (n << 2) + (n >> 1)
    return total + abs(-n) + n**2 + int(n / m) + round(n * 1.5) + ~m + min(n, m) + max(n, m) + bool(n)


@rose.jit
def widening(x: float, n: int) -> float:
    """Ints join Reals at branches, loops and returns."""
    total = 0
    for i in rose.range(n):
        total += x * i
    y = 1 if x > 1.0 else x
    if n > 5:
        return n
    return total + y


X = np.array([1.2, 0.7, -1.5])

PROGRAMS = (
    Program(unrolled_ranges, [(X, 4), (X, 1)]),
    Program(ranges_with_steps, [(X, 5), (X, 0)]),
    Program(folded_generators, [(X,)]),
    Program(walked, [(X, X * 2.0)]),
    Program(conditions_of_the_host, [(1.5, 4, True), (1.5, 9, False), (1.5, 7, True)]),
    Program(
        conditions_of_the_run, [(1.5, 4, True), (1.5, 5, True), (1.5, 7, True), (1.5, 200, False), (1.5, 0, False)]
    ),
    Program(
        both_sides,
        [(1.5, 0.5, True), (1.5, 2.0, True), (-1.5, 2.0, False), (-1.5, 2.0, True)],
        lambda x, y, p: (
            ((1 if x > 0 < y or not p else 0.5) + ((x > y) ^ p or x / y > 1e300) * x) * (y if x / y > 0.5 else 1)
        ),
        plain=False,  # `~` of a bool of Python is a number that is not 0
    ),
    Program(assertions, [(1.5, 2)], lambda x, n: 3.0, lambda x, n: 2.0),
    Program(errors, [(1.5, 1), (1.5, 2)], lambda x, n: x * n, lambda x, n: n),
    Program(printed, [(1.5, 3)], lambda x, n: x**4, lambda x, n: 4 * x**3),
    Program(texts, [(1.5, "cm"), (1.5, "m")]),
    Program(returns_early, [(X, 2.5), (X, 1.0), (X + 1.6, 1.0), (X * 20.0, 1.0)]),
    Program(ints, [(7, 3), (-7, 3), (100, -7)]),
    Program(widening, [(1.5, 3), (0.5, 0), (1.5, 7)]),
)
