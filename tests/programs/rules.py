"""Custom derivatives, on opaque host functions and on transparent ones."""

import math

import numpy as np

import rosejit as rose
from rosejit import Vec
from tests.programs.record import Program


@rose.opaque
def log(x: float) -> float:
    return math.log(x)


@log.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(log(x.re), x.du / x.re)


@rose.opaque
def power(x: float, y: float) -> float:
    return math.pow(x, y)


@power.jvp
def _(x: rose.Dual, y: rose.Dual) -> rose.Dual:
    z = power(x.re, y.re)
    return rose.Dual(z, (x.du * (y.re / x.re) + y.du * log(x.re)) * z)


@rose.opaque
def sine(x: float) -> float:
    return math.sin(x)


@rose.opaque
def cosine(x: float) -> float:
    return math.cos(x)


sine.jvp = lambda x: rose.Dual(sine(x.re), x.du * cosine(x.re))
cosine.jvp = lambda x: rose.Dual(cosine(x.re), x.du * -sine(x.re))


@rose.opaque
def parity(n: int) -> int:
    return n % 2


@rose.opaque
def total(x: Vec["n"]) -> float:
    return float(np.sum(x))


@total.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(total(x.re), sum(x.du[i] for i in rose.range(len(x.du))))


@rose.jit
def halved(x: float) -> float:
    return x / 2.0


@rose.opaque
def calls_compiled(x: float) -> float:
    """A host function that calls compiled code, which enters the engine a second time."""
    return halved(x) * halved(x)


@calls_compiled.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(calls_compiled(x.re), x.du * halved(x.re))


@rose.jit
def safe_sqrt(x: float) -> float:
    return math.sqrt(x)


@safe_sqrt.jvp
def _(x: rose.Dual) -> rose.Dual:
    y = safe_sqrt(x.re)
    return rose.Dual(y, x.du * (0.5 / max(1e-5, y)))


@rose.jit
def rounded(x: float) -> float:
    return math.floor(x + 0.5)


@rounded.jvp
def _(x: rose.Dual) -> rose.Dual:
    """As if it were the identity."""
    return rose.Dual(rounded(x.re), x.du)


@rose.jit
def weighted(x: Vec["n"], w: float) -> float:
    return w * sum(x[i] * x[i] for i in rose.range(len(x)))


@weighted.jvp
def _(x: rose.Dual, w: rose.Dual) -> rose.Dual:
    dy = w.du * sum(x.re[i] * x.re[i] for i in rose.range(len(x.re)))
    for i in rose.range(len(x.re)):
        dy += 2.0 * w.re * x.re[i] * x.du[i]
    return rose.Dual(weighted(x.re, w.re), dy)


@rose.jit
def logarithm(x: float, y: float) -> float:
    return log(x * y) * y


@rose.jit
def powers(x: float, y: float) -> float:
    return power(x, y)


@rose.jit
def opaque_in_loop(x: float) -> float:
    y = x
    for _ in rose.range(3):
        y = sine(y) + 0.5 * cosine(x)
    return y


@rose.jit
def opaque_in_branch(x: float) -> float:
    return log(x) if x > 0.0 else -log(-x)


@rose.jit
def opaque_ints(n: int, x: float) -> float:
    return x * parity(n) + parity(n + 1)


@rose.jit
def opaque_of_array(x: Vec["n"]) -> float:
    y = [x[i] * x[i] for i in rose.range(len(x))]
    return total(y) * total(x)


@rose.jit
def enters_twice(x: float) -> float:
    y = np.zeros(2)
    y[0] = x
    y[1] = calls_compiled(y[0])
    return y[0] * y[1]


@rose.jit
def clamped(x: float) -> float:
    return safe_sqrt(x * x * x)


@rose.jit
def straight_through(x: float) -> float:
    return rounded(x) * x


@rose.jit
def array_rule(x: Vec["n"], w: float) -> float:
    return weighted(x, w * w) * weighted(x, 1.0)


MIXING = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])


@rose.opaque
def mixed(x: Vec[3]) -> Vec[2]:
    return MIXING @ (x * x)


@mixed.jvp
def _(x: rose.Dual) -> rose.Dual:
    return rose.Dual(mixed(x.re), MIXING @ (2.0 * x.re * x.du))


@rose.jit
def softened(x: Vec["n"]) -> float:
    return abs(x).sum()


@softened.jvp
def _(x: rose.Dual) -> rose.Dual:
    """The rule reads an array that the function does not."""
    total = 0.0
    for i in rose.range(len(x.du)):
        total += MIXING[1, 0] * np.tanh(x.re[i]) * x.du[i]
    return rose.Dual(softened(x.re), total)


@rose.jit
def array_in_a_rule(x: Vec[3], c: float) -> float:
    y = mixed(x * c)
    return y[0] * y[1] + c


@rose.jit
def array_of_the_rule_alone(x: Vec[3]) -> float:
    t = 0.0
    for k in rose.range(1, 3):
        t += softened(x[k - 1 : k + 1]) * x[k]
    return t


@rose.jit
def stopped(x: float) -> float:
    return rose.stop_gradient(x * x) * x


A = np.array


@rose.jit
def guarded(x: float) -> float:
    return math.sqrt(x)


@guarded.jvp
def _(x: rose.Dual) -> rose.Dual:
    y = guarded(x.re)
    return rose.Dual(y, x.du * (0.5 / max(1e-5, y)))


def spring(i: int, rest: float) -> rose.Function:
    """One of many functions that differ in constants alone, with a rule inside."""

    @rose.jit
    def pull(x: Vec["n"], k: float) -> float:
        dx, dy = x[i + 2] - x[i], x[i + 3] - x[i + 1]
        length = guarded(dx * dx + dy * dy)
        return k * (length - rest) * (length - rest) + dx * length + max(dy, rest) + math.sin(rest * dx)

    return pull


SPRINGS = tuple([spring(i, rest) for i, rest in ((0, 1.0), (2, 0.5), (0, -0.0))])


@rose.jit
def clones(x: Vec["n"], k: float) -> float:
    total = 0.0
    for each in SPRINGS:
        total = total + each(x, k) * each(x, 0.5)
    return total


PROGRAMS = (
    Program(logarithm, [(1.5, 2.0), (0.5, 0.3)], lambda x, y: y * math.log(x * y), lambda x, y: y / x),
    Program(powers, [(2.0, 3.0), (0.5, -1.5)], lambda x, y: x**y, lambda x, y: y * x ** (y - 1)),
    Program(opaque_in_loop, [(0.5,), (-1.2,)]),
    Program(
        opaque_in_branch,
        [(1.5,), (-0.5,)],
        lambda x: math.copysign(math.log(abs(x)), x) if x > 0 else -math.log(-x),
        lambda x: 1 / abs(x),
    ),
    Program(opaque_ints, [(3, 1.5), (4, 1.5)], lambda n, x: x if n % 2 else 1.0),
    Program(
        opaque_of_array,
        [(A([1.2, 0.7, 1.5]),)],
        lambda x: (x * x).sum() * x.sum(),
        lambda x: 2 * x * x.sum() + (x * x).sum(),
    ),
    Program(enters_twice, [(1.5,), (-0.5,)], lambda x: x**3 / 4, lambda x: 3 * x * x / 4),
    Program(clamped, [(1.5,), (4.0,)], lambda x: x**1.5, lambda x: 1.5 * x**0.5, kinks=[(0.0,)]),
    Program(
        straight_through,
        [(1.3,), (-0.7,)],
        lambda x: math.floor(x + 0.5) * x,
        lambda x: x + math.floor(x + 0.5),
        differences=False,
    ),
    Program(
        array_rule,
        [(A([1.2, 0.7]), 1.5)],
        lambda x, w: (w * (x * x).sum()) ** 2,
        lambda x, w: 4 * w * w * (x * x).sum() * x,
    ),
    Program(
        array_in_a_rule,
        [(A([1.2, 0.7, -0.4]), 1.5)],
        lambda x, c: np.prod(MIXING @ (x * c) ** 2) + c,
        lambda x, c: 2 * c * c * x * (MIXING[::-1].T @ (MIXING @ (x * c) ** 2)),
        differences=False,  # to `MIXING`, of which the rule says nothing
    ),
    Program(clones, [(A([0.3, -0.2, 1.1, 0.9, 2.5, 0.4]), 0.7)]),
    Program(array_of_the_rule_alone, [(A([1.2, 0.7, -0.4]),)], differences=False),
    Program(stopped, [(1.5,), (-2.0,)], lambda x: x**3, lambda x: x * x, differences=False),
)
