"""Choices that depend on staged values: only the side taken runs, and only it is differentiated."""

import math

import rosejit as rose
from rosejit import Vec
from tests.programs.record import Program


@rose.jit
def leaky(x: float) -> float:
    if x > 0.0:
        y = x
    else:
        y = 0.01 * x
    return y


@rose.jit
def shift_reset(x: float) -> float:
    """Section 3 of the paper on shift and reset."""
    return -1 * x * x if x > 0.0 else x * x


@rose.jit
def free_variables(p: bool, a: float, b: float) -> float:
    """The rule for `if` of the paper on Futhark: a side that does not read a variable gives it zero."""
    if p:
        y = a * a
    else:
        y = 3.0 * b
    return y


@rose.jit
def staircase(x: float) -> float:
    if x < 0.0:
        y = -x
    elif x < 1.0:
        y = x * x
    elif x < 2.0:
        y = 2.0 * x - 1.0
    else:
        y = math.sqrt(x) + 3.0 - math.sqrt(2.0)
    return y


@rose.jit
def nested(x: float, y: float) -> float:
    if x < y:
        if y < 10.0:
            z = x * y
        else:
            z = x + y
    else:
        z = x / y
        if z > 2.0:
            z = z * z
    return z * x


@rose.jit
def guarded_root(x: float) -> float:
    y = 0.0
    if x > 0.0:
        y = math.sqrt(x)
    return y + x


@rose.jit
def ternaries(x: float) -> float:
    return x * x if x > 1.0 else (x if x > -1.0 else -x * x)


@rose.jit
def both_and_either(x: float, y: float) -> float:
    z = 0.0
    if x > 0.0 and y > 0.0:
        z += x * y
    if x > 0.0 or y > 0.0:
        z += x + y
    if not x > y:
        z -= x * x
    return z


@rose.jit
def inside(x: float, low: float, high: float) -> float:
    return x * x if low < x <= high else low * high


@rose.jit
def short_circuit(n: int, k: int) -> int:
    m = 0
    if n != 0 and k // n > 2:
        m = 1
    if n == 0 or k % n == 0:
        m += 2
    return m


@rose.jit
def truth(x: float, y: float) -> bool:
    return x < y and not (x < 0.0 or y > 10.0)


@rose.jit
def eager_truth(x: float, y: float) -> bool:
    return ((x < y) & (y < 10.0)) | ((x > y) ^ (x > 5.0))


@rose.jit
def chosen_by_int(n: int, x: float) -> float:
    if n == 0:
        y = 1.0
    elif n == 1:
        y = x
    elif n > 1:
        y = x * x
    else:
        y = 1.0 / x
    return y


@rose.jit
def several_names(x: float, y: float) -> float:
    if x < y:
        x, y = y, x
        swapped = 1.0
    else:
        swapped = -1.0
    return swapped * (x * x - y)


@rose.jit
def bound_on_one_side(x: float) -> float:
    scale = 2.0
    if x > 1.0:
        half = x / scale
        scale = half * half
    return scale * x


@rose.jit
def median(a: float, b: float, c: float) -> float:
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return b


@rose.jit
def huber(x: float, delta: float) -> float:
    size = abs(x)
    return 0.5 * x * x if size <= delta else delta * (size - 0.5 * delta)


@rose.jit
def int_joins_real(x: float, n: int) -> float:
    y = n if x > 0.0 else x
    if x < 0.0:
        z = 1
    else:
        z = x * y
    return y + z


@rose.jit
def branch_in_vector(x: Vec["n"]) -> float:
    if x[0] > x[1]:
        y = x[0] * x[2]
    else:
        y = x[1] / x[2]
    return y


@rose.jit
def untaken_faults(x: float, n: int) -> float:
    """The side that divides by zero, or indexes out of range, is never run."""
    if n > 0:
        y = x * (12 // n)
    else:
        y = x
    return y


@rose.jit
def cases_of_pairs(x: float, n: int, p: bool) -> float:
    """The parts of a pattern are compared like any values, and bound only where all of it fits."""
    y = 1.0
    match (n % 3, p, (x, x * x)):
        case (0, True, (a, b)) if a < b:
            y = a * b
        case (0 | 2, _, (a, _)) if a < 0:
            y = -a
        case (1 | 2, False, (_, b)):
            y = b * b
        case (k, True, (a, *_)) if k:
            y = a * k
        case _:
            y = x + 10.0
    return y


PROGRAMS = (
    Program(leaky, [(1.5,), (-2.0,)], None, lambda x: 1.0 if x > 0 else 0.01),
    Program(shift_reset, [(2.0,), (-3.0,)], lambda x: -x * abs(x), lambda x: -2 * abs(x), kinks=[(0.0,)]),
    Program(free_variables, [(True, 2.0, 5.0), (False, 2.0, 5.0)], lambda p, a, b: 4.0 if p else 15.0),
    Program(
        staircase,
        [(-0.5,), (0.5,), (1.5,), (4.0,)],
        None,
        lambda x: -1 if x < 0 else 2 * x if x < 1 else 2 if x < 2 else 0.5 / math.sqrt(x),
    ),
    Program(nested, [(1.5, 2.5), (1.5, 12.0), (6.0, 2.0), (3.0, 2.0)]),
    Program(
        guarded_root,
        [(4.0,), (-1.0,)],
        lambda x: x + math.sqrt(max(x, 0)),
        lambda x: 1.25 if x > 0 else 1.0,
        kinks=[(0.0,)],
    ),
    Program(ternaries, [(3.0,), (0.5,), (-3.0,)], None, lambda x: max(1.0, 2 * abs(x)) if abs(x) > 1 else 1.0),
    Program(both_and_either, [(1.0, 2.0), (1.0, -2.0), (-1.0, 2.0), (-1.0, -2.0)]),
    Program(inside, [(1.0, 0.5, 2.0), (3.0, 0.5, 2.0), (0.1, 0.5, 2.0)]),
    Program(short_circuit, [(0, 9), (3, 9), (4, 9), (2, 1)]),
    Program(truth, [(1.0, 2.0), (-1.0, 2.0), (1.0, 20.0), (2.0, 1.0)]),
    Program(eager_truth, [(1.0, 2.0), (6.0, 2.0), (1.0, 20.0), (2.0, 1.0)]),
    Program(chosen_by_int, [(0, 1.5), (1, 1.5), (5, 1.5), (-1, 1.5)]),
    Program(
        several_names, [(1.0, 2.0), (2.0, 1.0)], lambda x, y: math.copysign(1, y - x) * (max(x, y) ** 2 - min(x, y))
    ),
    Program(
        bound_on_one_side,
        [(3.0,), (0.5,)],
        lambda x: x**3 / 4 if x > 1 else 2 * x,
        lambda x: 0.75 * x * x if x > 1 else 2.0,
    ),
    Program(
        median,
        [(1.0, 2.0, 3.0), (3.0, 1.0, 2.0), (2.0, 3.0, 1.0)],
        lambda *x: sorted(x)[1],
        lambda a, b, c: float(a == sorted((a, b, c))[1]),
    ),
    Program(huber, [(0.5, 1.0), (3.0, 1.0), (-3.0, 1.0)], None, lambda x, d: max(-d, min(d, x))),
    Program(
        int_joins_real,
        [(1.5, 4), (-1.5, 4)],
        lambda x, n: n + x * n if x > 0 else x + 1,
        lambda x, n: n if x > 0 else 1.0,
    ),
    Program(
        branch_in_vector,
        [([2.0, 1.0, 4.0],), ([1.0, 2.0, 4.0],)],
        None,
        lambda x: [x[2], 0, x[0]] if x[0] > x[1] else [0, 1 / x[2], -x[1] / x[2] ** 2],
    ),
    Program(
        cases_of_pairs,
        [(2.0, 3, True), (-0.5, 5, True), (1.5, 4, False), (1.5, 2, True), (0.5, 0, False)],
        lambda x, n, p: {3: 8.0, 5: 0.5, 4: 1.5**4, 2: 3.0, 0: 10.5}[n],
        lambda x, n, p: {3: 12.0, 5: -1.0, 4: 4 * 1.5**3, 2: 2.0, 0: 1.0}[n],
    ),
    Program(untaken_faults, [(1.5, 4), (1.5, 0)], None, lambda x, n: 3.0 if n else 1.0),
)
