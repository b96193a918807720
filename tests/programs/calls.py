"""Decorated functions that call decorated functions: calls stay calls, and each kind of arguments is staged once."""

import math

import numpy as np

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.programs.record import Program


@rose.jit
def sq(x: float) -> float:
    return x * x


@rose.jit
def two(x: float, y: float) -> float:
    return x * y


@rose.jit
def fourth(x: float) -> float:
    return sq(sq(x))


@rose.jit
def same_twice(x: float) -> float:
    return two(x, x) + sq(x) * x


@rose.jit
def level1(x: float) -> float:
    return sq(x) - 0.5 * x * sq(0.5)


@rose.jit
def level2(x: float) -> float:
    return level1(x) * level1(x + 0.25)


@rose.jit
def tower(x: float) -> float:
    return level2(x) - level2(0.5 * x)


@rose.jit
def element(x: Vec["n"], i: int) -> float:
    return x[i] * x[i]


@rose.jit
def calls_in_loop(x: Vec["n"]) -> float:
    s = 1.0
    for i in rose.range(len(x)):
        s = s * element(x, i) + x[i]
    return s


@rose.jit
def inner(x: Vec["n"], y: Vec["n"]) -> float:
    s = 0.0
    for i in rose.range(len(x)):
        s += x[i] * y[len(y) - 1 - i]
    return s


@rose.jit
def same_array_twice(x: Vec["n"]) -> float:
    return inner(x, x) * inner(x, x)


@rose.jit
def doubled(x: Vec["n"]) -> Vec["n"]:
    return [2.0 * x[i] for i in rose.range(len(x))]


@rose.jit
def result_updated(x: Vec["n"]) -> float:
    y = doubled(x)
    y[0] = y[1] * x[0]
    z = doubled(y)
    return z[0] * y[0] + x[0]


@rose.jit
def result_and_sum(x: Vec["n"]) -> tuple[Vec["n"], float]:
    y = [x[i] * x[i] for i in rose.range(len(x))]
    return y, sum(y[i] * x[i] for i in rose.range(len(x)))


@rose.jit
def kept_result(x: Vec["n"]) -> float:
    """An array that is a result of a call, and that the call's derivative needs, is changed by the caller."""
    y, s = result_and_sum(x)
    y[0] = s
    z, t = result_and_sum(y)
    return z[0] * t


@rose.jit
def scaled(x: float, factor: float = 3.0, *, shift: float = 0.5) -> float:
    return x * factor + shift


@rose.jit
def defaults_and_keywords(x: float) -> float:
    return scaled(x) + scaled(x, 2.0) * scaled(x, shift=x) - scaled(factor=x, x=4.0)


@rose.jit
def call_in_branch(x: float) -> float:
    if x > 1.0:
        y = sq(x)
    else:
        y = two(x, 3.0)
    return y * sq(y)


@rose.jit
def of_any_number(x):
    return x * x + x


@rose.jit
def specialised(x: float, n: int) -> float:
    return of_any_number(x) + of_any_number(n) + of_any_number(2)


@rose.jit
def norm(x: Array["n"]) -> float:
    return math.sqrt(sum(x[i] * x[i] for i in rose.range(len(x))))


@rose.jit
def two_lengths(x: Vec["n"], y: Vec["m"]) -> float:
    return norm(x) * norm(y)


@rose.jit
def row_norms(a: Mat["n", "m"]) -> Vec["n"]:
    return [norm(a[i]) for i in rose.range(len(a))]


@rose.jit
def fill(x: Vec["n"]) -> Vec["n"]:
    y = np.zeros(len(x))
    for i in rose.range(len(x)):
        y[i] = sq(x[i])
    return y


@rose.jit
def array_through_calls(x: Vec["n"]) -> float:
    y = x.copy()
    for _ in rose.range(3):
        y = fill(y)
    return y[0] + y[1]


@rose.jit
def gradient_inside(x: float, y: float) -> float:
    return rose.grad(two)(x, y) * x + rose.grad(two, 1)(x, y) * y


@rose.jit
def newton(x: float) -> float:
    """The cube root, by Newton's method on a function whose derivative is taken inside."""
    y = x
    for _ in rose.range(12):
        value, slope = rose.value_and_grad(lambda t: t * t * t - x)(y)
        y = y - value / slope
    return y


@rose.jit
def confusion(x: float) -> float:
    """`D(x -> x * D(y -> x + y)(1))`: the inner derivative is 1, whatever `x` is."""
    return x * rose.grad(lambda y: x + y)(1.0)


@rose.jit
def curvature(x: float) -> float:
    return rose.grad(rose.grad(fourth))(x)


A = np.array

PROGRAMS = (
    Program(fourth, [(1.3,), (-0.5,)], lambda x: x**4, lambda x: 4 * x**3),
    Program(same_twice, [(1.3,), (-0.5,)], lambda x: x * x + x**3, lambda x: 2 * x + 3 * x * x),
    Program(tower, [(1.3,), (-0.5,)]),
    Program(calls_in_loop, [(A([1.2, 0.7, 1.5]),), (A([-0.4]),)]),
    Program(
        same_array_twice,
        [(A([1.2, 0.7, 1.5]),)],
        lambda x: np.dot(x, x[::-1]) ** 2,
        lambda x: 4 * np.dot(x, x[::-1]) * x[::-1],
    ),
    Program(
        result_updated,
        [(A([1.2, 0.7]),)],
        lambda x: 2 * (2 * x[0] * x[1]) ** 2 + x[0],
        lambda x: [16 * x[0] * x[1] ** 2 + 1, 16 * x[0] ** 2 * x[1]],
    ),
    Program(
        kept_result,
        [(A([1.2, 0.7]),)],
        lambda x: (x[0] ** 3 + x[1] ** 3) ** 2 * ((x[0] ** 3 + x[1] ** 3) ** 3 + x[1] ** 6),
    ),
    Program(
        defaults_and_keywords,
        [(1.3,), (-0.5,)],
        lambda x: 3 * x + 0.5 + (2 * x + 0.5) * 4 * x - 4 * x - 0.5,
        lambda x: 16 * x + 1,
    ),
    Program(
        call_in_branch,
        [(1.3,), (-0.5,)],
        lambda x: x**6 if x > 1 else 27 * x**3,
        lambda x: 6 * x**5 if x > 1 else 81 * x * x,
    ),
    Program(specialised, [(1.3, 4), (-0.5, -3)], lambda x, n: x * x + x + n * n + n + 6, lambda x, n: 2 * x + 1),
    Program(
        two_lengths,
        [(A([3.0, 4.0]), A([2.0])), (A([1.0, 2.0, 2.0]), A([0.6, 0.8]))],
        lambda x, y: np.linalg.norm(x) * np.linalg.norm(y),
        lambda x, y: x / np.linalg.norm(x) * np.linalg.norm(y),
    ),
    Program(row_norms, [(A([[3.0, 4.0], [6.0, 8.0]]),)], lambda a: [5.0, 10.0]),
    Program(array_through_calls, [(A([1.2, -0.7]),)], lambda x: sum(x**8), lambda x: 8 * x**7),
    Program(gradient_inside, [(1.3, 0.7)], lambda x, y: 2 * x * y, lambda x, y: 2 * y, plain=False),
    Program(newton, [(2.0,), (0.5,)], lambda x: x ** (1 / 3), lambda x: x ** (-2 / 3) / 3, plain=False),
    Program(confusion, [(1.0,), (2.5,)], lambda x: x, lambda x: 1.0, plain=False),
    Program(curvature, [(1.3,)], lambda x: 12 * x * x, lambda x: 24 * x, plain=False),
)
