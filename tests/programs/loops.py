"""Loops over `rose.range`, which stay loops, and the values that they carry."""

import math

import rosejit as rose
from rosejit import Vec
from tests.programs.record import Program


@rose.jit
def times_five(x: float) -> float:
    """The first loop of the paper on Futhark: `x` is free in the body."""
    y = 1.0
    for _ in rose.range(5):
        y = y * x
    return y


@rose.jit
def squared_thrice(x: float) -> float:
    y = x
    for _ in rose.range(3):
        y = y * y
    return y


@rose.jit
def no_turn(x: float) -> float:
    y = x
    for _ in rose.range(0):
        y = y * y
    return y


@rose.jit
def integer_power(x: float, n: int) -> float:
    y = 1.0
    for _ in rose.range(n):
        y *= x
    return y


@rose.jit
def geometric(x: float, n: int) -> float:
    total, term = 0.0, 1.0
    for _ in rose.range(n):
        total += term
        term *= x
    return total


@rose.jit
def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in rose.range(n):
        a, b = b, a + b
    return a


@rose.jit
def newton_root(x: float) -> float:
    y = x
    for _ in rose.range(8):
        y = 0.5 * (y + x / y)
    return y


@rose.jit
def exponential_series(x: float) -> float:
    total, term = 1.0, 1.0
    for k in rose.range(1, 25):
        term = term * x / k
        total += term
    return total


@rose.jit
def horner(c: Vec["n"], x: float) -> float:
    y = 0.0
    for i in rose.range(len(c)):
        y = y * x + c[len(c) - 1 - i]
    return y


@rose.jit
def odd_numbers(n: int) -> int:
    total = 0
    for k in rose.range(1, n, 2):
        total += k
    return total


@rose.jit
def countdown(x: float) -> float:
    y = 0.0
    for k in rose.range(5, 0, -1):
        y = (y + k) * x
    return y


@rose.jit
def triangle(x: Vec[4]) -> float:
    total = 0.0
    for i in rose.range(4):
        for j in rose.range(i + 1):
            total += x[i] * x[j]
    return total


@rose.jit
def captured_carry(x: float, y: Vec[3]) -> float:
    s = x
    for i in rose.range(3):
        t = y[i]
        for _ in rose.range(2):
            t = (t * x + s) * 0.5
        s = s * t + y[i]
    return s


@rose.jit
def branch_in_loop(x: Vec["n"]) -> float:
    up, down = 1.0, 0.0
    for i in rose.range(len(x)):
        if x[i] > 0.0:
            up *= x[i]
        else:
            down += x[i] * x[i]
    return up + down


@rose.jit
def loop_in_branch(x: float, n: int) -> float:
    if n > 3:
        y = x
        for _ in rose.range(n):
            y = math.sin(y)
    else:
        y = 0.0
        for k in rose.range(n):
            y += x**2 * k
    return y


@rose.jit
def widening_carry(x: Vec["n"]) -> float:
    total = 0
    for i in rose.range(len(x)):
        total += x[i]
    return total


@rose.jit
def rotating(x: float, y: float, z: float) -> float:
    for k in rose.range(4):
        x, y, z = y, z, x * y + k
    return x * y + z


@rose.jit
def swapped_and_idle(x: float, y: float) -> float:
    """Carries that the body only moves."""
    for _ in rose.range(5):
        x, y = y, x
    return x * x + y


@rose.jit
def bound_in_the_loop(x: Vec["n"]) -> float:
    for i in rose.range(len(x)):
        last = x[i] * x[i]
    return last


@rose.jit
def logistic_map(x: float, r: float) -> float:
    for _ in rose.range(6):
        x = r * x * (1.0 - x)
    return x


@rose.jit
def euler(y: float, rate: float, steps: int) -> float:
    dt = 1.0 / steps
    for _ in rose.range(steps):
        y += dt * rate * y
    return y


@rose.jit
def pendulum(angle: float, speed: float) -> tuple[float, float]:
    for _ in rose.range(20):
        speed -= 0.05 * math.sin(angle)
        angle += 0.05 * speed
    return angle, speed


@rose.jit
def index_after_loop(n: int) -> int:
    k = -1
    for i in rose.range(n):
        k = i * i
    return k


@rose.jit
def host_in_staged_loop(x: float) -> float:
    y = 0.0
    for i in rose.range(3):
        for k in range(2):
            for c in (1.0, 0.5):
                y += c * x * (i + k)
    return y


@rose.jit
def staged_in_host_loop(x: float) -> float:
    y = 1.0
    for k in range(1, 4):
        for _ in rose.range(k):
            y *= x
        y += k
    return y


@rose.jit
def signs(a: Vec["n"], b: Vec["n"]) -> float:
    """The sign is taken of values that have a derivative, which passes nothing on."""
    kept = [math.copysign(1.5, a[i] * b[i]) for i in rose.range(len(a))]
    s = 0.0
    for i in rose.range(len(a)):
        s = s * 0.5 + kept[len(a) - 1 - i] * a[i] + math.copysign(b[i], a[i] * s)
    return s


PROGRAMS = (
    Program(signs, [([0.7, -1.2, 0.4], [1.1, 0.3, -0.6])]),
    Program(times_five, [(2.0,), (-0.5,)], lambda x: x**5, lambda x: 5 * x**4),
    Program(squared_thrice, [(1.1,), (-0.9,)], lambda x: x**8, lambda x: 8 * x**7),
    Program(no_turn, [(1.1,)], lambda x: x, lambda x: 1.0),
    Program(integer_power, [(1.5, 4), (1.5, 0), (-2.0, 3)], lambda x, n: x**n, lambda x, n: n * x ** (n - 1)),
    Program(geometric, [(0.5, 10), (1.5, 3), (2.0, 0)], lambda x, n: (1 - x**n) / (1 - x), None),
    Program(
        fibonacci,
        [(10,), (0,), (90,)],
        lambda n: round(((1 + 5**0.5) / 2) ** n / 5**0.5) if n < 70 else 2880067194370816120,
    ),
    Program(newton_root, [(2.0,), (0.5,)], math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    Program(exponential_series, [(1.0,), (-0.5,)], math.exp, math.exp),
    Program(
        horner,
        [([1.0, -2.0, 0.5], 1.5), ([3.0], 2.0)],
        lambda c, x: sum(a * x**k for k, a in enumerate(c)),
        lambda c, x: [x**k for k in range(len(c))],
    ),
    Program(odd_numbers, [(10,), (1,), (-5,)], lambda n: max(n // 2, 0) ** 2),
    Program(
        countdown,
        [(0.5,), (1.5,)],
        lambda x: sum(k * x**k for k in range(6)),
        lambda x: sum(k * k * x ** (k - 1) for k in range(1, 6)),
    ),
    Program(
        triangle,
        [([1.2, 0.7, -1.5, 0.9],)],
        lambda x: (sum(x) ** 2 + sum(v * v for v in x)) / 2,
        lambda x: [sum(x) + v for v in x],
    ),
    Program(captured_carry, [(0.9, [0.7, 1.4, -0.5])]),
    Program(
        branch_in_loop,
        [([1.2, -0.7, 1.5, -0.9],), ([-1.0],)],
        lambda x: math.prod(v for v in x if v > 0) + sum(v * v for v in x if v < 0),
    ),
    Program(loop_in_branch, [(1.5, 5), (1.5, 3), (1.5, 0)], exact=False),
    Program(widening_carry, [([1.2, -0.7, 1.5],), ([0.5],)], sum, lambda x: [1.0] * len(x)),
    Program(rotating, [(1.2, 0.7, -1.5)]),
    Program(swapped_and_idle, [(1.2, 0.7)], lambda x, y: y * y + x, lambda x, y: 1.0),
    Program(bound_in_the_loop, [([1.2, 0.7, 1.5],)], lambda x: x[-1] ** 2, lambda x: [0.0, 0.0, 2 * x[2]]),
    Program(logistic_map, [(0.3, 2.5), (0.6, 3.1)]),
    Program(
        euler, [(1.0, 0.5, 10), (2.0, -1.0, 4)], lambda y, r, n: y * (1 + r / n) ** n, lambda y, r, n: (1 + r / n) ** n
    ),
    Program(pendulum, [(0.5, 0.0), (1.5, -0.3)], exact=False),
    Program(index_after_loop, [(5,), (0,)], lambda n: (n - 1) ** 2 if n else -1),
    Program(host_in_staged_loop, [(1.5,)], lambda x: 13.5 * x, lambda x: 13.5),
    Program(
        staged_in_host_loop,
        [(1.5,), (-0.5,)],
        lambda x: x**6 + x**5 + 2 * x**3 + 3,
        lambda x: 6 * x**5 + 5 * x**4 + 6 * x**2,
    ),
)
