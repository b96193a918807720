"""Python as the metaprogramming language: what depends on no staged value runs once, as CPython runs it."""

import contextlib
import functools
import itertools
import math
import operator
import random
from dataclasses import dataclass

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec
from tests.programs.record import Program

SCALE = 2.5
WEIGHTS = np.array([0.5, -1.0, 2.0])
BIG = np.linspace(0.0, 1.0, 100)
TABLE = {"linear": lambda x: x, "square": lambda x: x * x, "root": math.sqrt}


def over(constant):
    """A new function for each constant."""

    @rose.jit
    def quotient(y: float) -> float:
        return constant / y

    return quotient


five_over, seven_over = over(5), over(7)


@rose.jit
def global_number(x: float) -> float:
    return SCALE * x


@rose.jit
def captured_array(x: Vec[3]) -> float:
    return sum(WEIGHTS[i] * x[i] for i in rose.range(3)) + WEIGHTS[0]


@rose.jit
def captured_big_array(x: float) -> float:
    total = 0.0
    for i in rose.range(len(BIG)):
        total += math.sqrt(BIG[i] + x * x)
    return total


def two_captured(weight, bias):
    @rose.jit
    def affine(x: float) -> float:
        return x * weight[1] + bias

    return affine


affine = two_captured(WEIGHTS, -0.5)


def smooth(x, power=2):
    y = x
    for _ in range(power - 1):
        y = y * x
    return y / (1.0 + y * y)


@rose.jit
def helpers(x: float) -> float:
    return smooth(x) + smooth(x, power=3) + smooth(smooth(x))


@rose.jit
def staged_choice_in_helper(x: float) -> float:
    return clipped(x, 1.0) + clipped(-x, 0.5)


def clipped(x, limit):
    y = x
    if x > limit:
        y = limit * limit + (x - limit) / 2.0
    return y


@rose.jit
def static_exponent(x: float, n: rose.Static[int]) -> float:
    y = 1.0
    for _ in range(n):
        y *= x
    return y


@functools.partial(rose.jit, static_argnames="kind")
def dispatched(x: float, kind: str) -> float:
    return TABLE[kind](x) if kind in TABLE else {"cube": x**3}[kind]


@rose.jit
def tree(t: rose.Static[tuple | None], x: float) -> float:
    """The tree of the paper on shift and reset: `left * right * value`, and `x` at the leaves."""

    def fold(node):
        if node is None:
            return x
        left, value, right = node
        return fold(left) * fold(right) * value

    return fold(t)


@dataclass
class Shape:
    side: float

    def area(self):
        return self.side * self.side


class Disc(Shape):
    def area(self):
        return math.pi * super().area()


class Accumulator:
    """A class of the host that holds staged values."""

    def __init__(self, start):
        self.total = start
        self.count = 0

    def add(self, value):
        self.total = self.total + value
        self.count += 1
        return self

    @property
    def mean(self):
        return self.total / self.count

    def __add__(self, other):
        return Accumulator(self.total).add(other.total)


@rose.jit
def classes(x: float) -> float:
    shapes = [Shape(x), Disc(2.0 * x), Shape(3.0)]
    a = Accumulator(0.0)
    for s in shapes:
        a.add(s.area())
    return a.mean + (a + Accumulator(x)).total


@rose.jit
def isinstance_decides(x: float) -> float:
    total = 0.0
    for item in (1, 2.5, "three", None, [4, 5], x):
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, list):
            total += sum(item)
        elif item is None:
            continue
        else:
            total += item * x
    return total


@rose.jit
def host_while(x: float) -> float:
    y, n = x, 10
    while n > 1:
        y = y * x if n % 2 else y + x
        n //= 2
    return y


@rose.jit
def host_break(x: float) -> float:
    y = x
    for k in itertools.count():
        if k > 3:
            break
        if k == 1:
            continue
        y = y * x + k
    else:
        y = 0.0
    return y


@rose.jit
def early_return(x: float, n: rose.Static[int]) -> float:
    if n < 0:
        return -x
    for k in range(10):
        if k == n:
            return x * k
    return x * x


@rose.jit
def host_matches(x: float, command: rose.Static[tuple]) -> float:
    match command:
        case ("scale", float(factor)):
            return factor * x
        case ("shift", offset) if offset > 0:
            return x + offset
        case ("poly", *coefficients):
            return sum(c * x**k for k, c in enumerate(coefficients))
        case _:
            return x * x


@rose.jit
def containers(x: float, y: float) -> float:
    values = [x, y, x * y]
    values.append(values[0] + 1.0)
    values[1] = values.pop() * values[1]
    named = dict(zip("abc", values, strict=True))
    named["d"] = named.get("z", 2.0)
    first, *others = sorted(named)
    squares = {key: value * value for key, value in named.items() if key != first}
    return sum(squares[k] for k in others) + len({len(values), 3}) * named[first]


@rose.jit
def iteration(x: float) -> float:
    def powers():
        p = 1.0
        for _ in range(4):
            yield p
            p = p * x

    pairs = itertools.accumulate(powers(), operator.add)
    total = functools.reduce(lambda a, b: a * 0.5 + b, pairs)
    for i, v in enumerate(reversed([x, 2.0, x])):
        total += i * v
    return total + sum(map(operator.mul, [x, 1.0], (3.0, x)))


@rose.jit
def strings(x: float, name: rose.Static[str]) -> float:
    key = f"{name.upper()}-{len(name):02d}"
    return x * len(key) + (x if key.startswith("A") else 0.0)


@rose.jit
def tried(x: float) -> float:
    try:
        y = x * {"a": 2.0}["b"]
    except KeyError as error:
        y = x * len(error.args)
    else:
        y = 0.0
    finally:
        y = y + 1.0
    with contextlib.suppress(ZeroDivisionError):
        y = y + 1 // 0
    return y


@rose.jit
def nested_functions(x: float, y: float) -> float:
    calls = 0

    def step(v):
        nonlocal calls
        calls += 1
        return v * x + calls

    compose = lambda f, g: lambda v: f(g(v))
    return compose(step, compose(step, lambda v: v * v))(y) * calls


@rose.jit
def starred(*xs: float) -> float:
    return hypotenuse(*xs[:2]) + hypotenuse(**{"a": xs[0], "b": xs[2]})


def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


@rose.jit
def partially(x: float) -> float:
    return functools.partial(smooth, power=3)(x) + functools.reduce(max, [x, 0.5, x * x])


@rose.jit
def default_values(x: float, y: float = 2.0, *, n: int = 3, shift=0.5) -> float:
    return x * y + n * shift


@rose.jit
def quotients(z: float) -> float:
    return seven_over(z) + seven_over(z) + five_over(z)


@rose.jit
def network(x: Vec["n"], widths: rose.Static[list]) -> float:
    """The shape of the program depends on host data."""
    rng = random.Random(0)
    h = [x[i] for i in range(len(x))]
    for width in widths:
        w = [[rng.uniform(-1.0, 1.0) for _ in h] for _ in range(width)]
        h = [math.tanh(sum(w[k][i] * v for i, v in enumerate(h))) for k in range(width)]
    return sum(h)


@rose.jit
def unrolled(x: Mat["n", "m"]) -> float:
    total = 0.0
    for i, row in enumerate(x):
        for v, w in zip(row, reversed(row)):
            total += v * w * (i + 1)
    return total


@rose.jit
def hypothetical(x: float, switch: rose.Static[bool]) -> float:
    y = np.zeros(2) if switch else None
    if switch and y is not None:
        y[0] = x
        return y[0] * y[0]
    return 0.0 if not switch else x


@rose.jit
def long_plain_range(x: float) -> float:
    """Long enough that a plain `range` is staged as a loop, with the same bits."""
    total = 0.0
    for i in range(200):
        total += x * i
    return total


scaled = rose.jit(lambda x: SCALE * x)

PROGRAMS = (
    Program(global_number, [(1.5,)], lambda x: 2.5 * x, lambda x: 2.5),
    Program(captured_array, [(np.array([1.0, 2.0, 3.0]),)], lambda x: x @ WEIGHTS + 0.5, lambda x: WEIGHTS),
    Program(
        captured_big_array, [(1.5,)], lambda x: np.sqrt(BIG + x * x).sum(), lambda x: (x / np.sqrt(BIG + x * x)).sum()
    ),
    Program(affine, [(1.5,)], lambda x: -x - 0.5, lambda x: -1.0),
    Program(helpers, [(0.5,), (-2.0,)], None, None),
    Program(staged_choice_in_helper, [(0.7,), (2.0,), (-3.0,)]),
    Program(static_exponent, [(1.5, 4), (-0.5, 0)], lambda x, n: x**n, lambda x, n: n * x ** (n - 1)),
    Program(
        dispatched,
        [(1.5, "linear"), (1.5, "square"), (1.5, "root"), (1.5, "cube")],
        lambda x, k: x ** {"linear": 1, "square": 2, "root": 0.5, "cube": 3}[k],
        exact=False,
    ),
    Program(
        tree,
        [((((None, 2.0, None), 3.0, (None, 5.0, None))), 2.0), (None, 2.0)],
        lambda t, x: 480.0 if t else x,
    ),
    Program(
        classes,
        [(1.5,)],
        lambda x: (x * x * (1 + 4 * math.pi) + 9) * 4 / 3 + x,
        lambda x: x * (1 + 4 * math.pi) * 8 / 3 + 1,
    ),
    Program(isinstance_decides, [(1.5,)], lambda x: 3.5 * x + 14 + x * x, lambda x: 3.5 + 2 * x),
    Program(host_while, [(1.5,)], lambda x: 2 * x * x + x, lambda x: 4 * x + 1),
    Program(host_break, [(1.5,)], lambda x: (x**2 * x + 2) * x + 3, lambda x: 4 * x**3 + 2),
    Program(early_return, [(1.5, -1), (1.5, 3), (1.5, 20)], lambda x, n: -x if n < 0 else n * x if n < 10 else x * x),
    Program(
        host_matches,
        [(1.5, ("scale", 2.0)), (1.5, ("shift", 3)), (1.5, ("poly", 1.0, 2.0, 3.0)), (1.5, ("shift", -1))],
        lambda x, c: {"scale": 3.0, "shift": 4.5 if c[1] > 0 else 2.25, "poly": 10.75}[c[0]],
    ),
    Program(
        containers,
        [(1.5, 0.5)],
        lambda x, y: ((x + 1) * y) ** 2 + (x * y) ** 2 + 4 + x,
        lambda x, y: 2 * (x + 1) * y * y + 2 * x * y * y + 1,
    ),
    Program(iteration, [(1.5,), (-0.5,)]),
    Program(strings, [(1.5, "alpha"), (1.5, "be")], lambda x, name: 9 * x if name == "alpha" else 5 * x),
    Program(tried, [(1.5,)], lambda x: x + 1, lambda x: 1.0),
    Program(nested_functions, [(1.5, 0.5)], lambda x, y: ((y * y * x + 1) * x + 2) * 2, lambda x, y: 4 * x * y * y + 2),
    Program(starred, [(3.0, 4.0, 4.0)], lambda *x: 10.0, lambda *x: 1.2),
    Program(partially, [(1.5,), (0.3,)]),
    Program(default_values, [(1.5,), (1.5, 3.0)], lambda x, y=2.0: x * y + 1.5, lambda x, y=2.0: y),
    Program(quotients, [(2.0,), (-0.5,)], lambda z: 19 / z, lambda z: -19 / z**2),
    Program(network, [(np.array([0.3, -0.5]), [3, 2])], None, None, exact=False),
    Program(
        unrolled,
        [(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),)],
        lambda x: 10.0 + 2 * 73.0,
        lambda x: [[6, 4, 2], [24, 20, 16]],
    ),
    Program(hypothetical, [(1.5, True), (1.5, False)], lambda x, s: x * x if s else 0.0),
    Program(long_plain_range, [(1.5,)], lambda x: 19900 * x, lambda x: 19900.0),
    Program(scaled, [(1.5,)], lambda x: 2.5 * x, lambda x: 2.5),
)
