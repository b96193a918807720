"""Problems of Hock and Schittkowski (Test examples for nonlinear programming codes, 1981), under their numbers there:
objective, bounds, equalities, inequalities (not negative), where a search begins, and the least values that are known
(where there are several minima, those to which searches lead). They are written in NumPy, and run in it and in
compiled code."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Bounds = tuple[tuple[float | None, float | None], ...]


@dataclass(frozen=True)
class Program:
    """One of them."""

    number: int
    objective: Callable[[Any], Any]
    start: tuple[float, ...]
    minima: tuple[float, ...]
    bounds: Bounds | None = None
    equal: Callable[[Any], Any] | None = None
    positive: Callable[[Any], Any] | None = None

    def constraints(self) -> list[dict[str, Any]]:
        """As SciPy takes them."""
        kinds = (("eq", self.equal), ("ineq", self.positive))
        return [{"type": kind, "fun": f} for kind, f in kinds if f is not None]

    def missed(self, x: Any) -> float:
        """How far the constraint that is violated most is from being met."""
        found = [0.0]
        if self.equal is not None:
            found += [float(abs(c)) for c in self.equal(x)]
        if self.positive is not None:
            found += [float(-c) for c in self.positive(x)]
        for value, (low, high) in zip(x, self.bounds or (), strict=False):
            found += [float(low - value) if low is not None else 0.0, float(value - high) if high is not None else 0.0]
        return max(found)

    def is_solved(self, x: Any, value: float) -> bool:
        """Whether a point meets the constraints to 1e-6, and the value is one of the least that are known to 1e-5."""
        near = any(abs(value - least) <= 1e-5 * max(1.0, abs(least)) for least in self.minima)
        return near and self.missed(x) <= 1e-6


def rosenbrock(x: Any) -> Any:
    """1, 2, 15, 16, 17, 20."""
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def volume(x: Any) -> Any:
    """29, 36, 37."""
    return -x[0] * x[1] * x[2]


def wood(x: Any) -> Any:
    """38, Colville's fourth."""
    a, b, c, d = x
    first = 100 * (b - a**2) ** 2 + (1 - a) ** 2 + 90 * (d - c**2) ** 2 + (1 - c) ** 2
    return first + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1)


def rosen_suzuki(x: Any) -> Any:
    """43."""
    a, b, c, d = x
    return a**2 + b**2 + 2 * c**2 + d**2 - 5 * a - 5 * b - 21 * c + 7 * d


def rosen_suzuki_limits(x: Any) -> Any:
    """43."""
    a, b, c, d = x
    return [
        8 - a**2 - b**2 - c**2 - d**2 - a + b - c + d,
        10 - a**2 - 2 * b**2 - c**2 - 2 * d**2 + a + d,
        5 - 2 * a**2 - b**2 - c**2 - 2 * a + b + d,
    ]


def bilinear(x: Any) -> Any:
    """44."""
    a, b, c, d = x
    return a - b - c - a * c + a * d + b * c - b * d


def bilinear_limits(x: Any) -> Any:
    """44."""
    a, b, c, d = x
    first = [8 - a - 2 * b, 12 - 4 * a - b, 12 - 3 * a - 4 * b]
    return [*first, 8 - 2 * c - d, 8 - c - 2 * d, 5 - c - d]


def powers(x: Any) -> Any:
    """46, 49."""
    a, b, c, d, e = x
    return (a - b) ** 2 + (c - 1) ** 2 + (d - 1) ** 4 + (e - 1) ** 6


def squares(x: Any) -> Any:
    """51, 53."""
    a, b, c, d, e = x
    return (a - b) ** 2 + (b + c - 2) ** 2 + (d - 1) ** 2 + (e - 1) ** 2


def lines(x: Any) -> Any:
    """52, 53."""
    a, b, c, d, e = x
    return [a + 3 * b, c + d - 2 * e, b - e]


def product_rules(x: Any) -> Any:
    """78, 80, 81."""
    a, b, c, d, e = x
    return [a**2 + b**2 + c**2 + d**2 + e**2 - 10, b * c - 5 * d * e, a**3 + b**3 + 1]


def product(x: Any) -> Any:
    """78."""
    return x[0] * x[1] * x[2] * x[3] * x[4]


def hs76(x: Any) -> Any:
    """76."""
    a, b, c, d = x
    return a**2 + 0.5 * b**2 + c**2 + 0.5 * d**2 - a * c + c * d - a - 3 * b + c - d


def hs77(x: Any) -> Any:
    """77."""
    a, b, c, d, e = x
    return (a - 1) ** 2 + (a - b) ** 2 + (c - 1) ** 2 + (d - 1) ** 4 + (e - 1) ** 6


def hs79(x: Any) -> Any:
    """79."""
    a, b, c, d, e = x
    return (a - 1) ** 2 + (a - b) ** 2 + (b - c) ** 2 + (c - d) ** 4 + (d - e) ** 4


def hs100(x: Any) -> Any:
    """100."""
    a, b, c, d, e, f, g = x
    first = (a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2
    return first + 10 * e**6 + 7 * f**2 + g**4 - 4 * f * g - 10 * f - 8 * g


def hs100_limits(x: Any) -> Any:
    """100."""
    a, b, c, d, e, f, g = x
    return [
        127 - 2 * a**2 - 3 * b**4 - c - 4 * d**2 - 5 * e,
        282 - 7 * a - 3 * b - 10 * c**2 - d + e,
        196 - 23 * a - b**2 - 6 * f**2 + 8 * g,
        -4 * a**2 - b**2 + 3 * a * b - 2 * c**2 - 5 * f + 11 * g,
    ]


def hs113(x: Any) -> Any:
    """113."""
    a, b, c, d, e, f, g, h, i, j = x
    first = a**2 + b**2 + a * b - 14 * a - 16 * b + (c - 10) ** 2 + 4 * (d - 5) ** 2 + (e - 3) ** 2
    return first + 2 * (f - 1) ** 2 + 5 * g**2 + 7 * (h - 11) ** 2 + 2 * (i - 10) ** 2 + (j - 7) ** 2 + 45


def hs113_limits(x: Any) -> Any:
    """113."""
    a, b, c, d, e, f, g, h, i, j = x
    return [
        105 - 4 * a - 5 * b + 3 * g - 9 * h,
        -10 * a + 8 * b + 17 * g - 2 * h,
        8 * a - 2 * b - 5 * i + 2 * j + 12,
        -3 * (a - 2) ** 2 - 4 * (b - 3) ** 2 - 2 * c**2 + 7 * d + 120,
        -5 * a**2 - 8 * b - (c - 6) ** 2 + 2 * d + 40,
        -0.5 * (a - 8) ** 2 - 2 * (b - 4) ** 2 - 3 * e**2 + f + 30,
        -(a**2) - 2 * (b - 2) ** 2 + 2 * a * b - 14 * e + 6 * f,
        3 * a - 6 * b - 12 * (i - 8) ** 2 + 7 * j,
    ]


ROOT2, ROOT3 = math.sqrt(2), math.sqrt(3)
HALF: Bounds = ((-0.5, 0.5), (None, 1.0))


def positive(n: int) -> Bounds:
    """No number below zero."""
    return ((0.0, None),) * n


PROGRAMS = (
    Program(1, rosenbrock, (-2.0, 1.0), (0.0,), ((None, None), (-1.5, None))),
    Program(2, rosenbrock, (-2.0, 1.0), (0.0504261879, 4.9412293), ((None, None), (1.5, None))),
    Program(3, lambda x: x[1] + 1e-5 * (x[1] - x[0]) ** 2, (10.0, 1.0), (0.0,), ((None, None), (0.0, None))),
    Program(4, lambda x: (x[0] + 1) ** 3 / 3 + x[1], (1.125, 0.125), (8 / 3,), ((1.0, None), (0.0, None))),
    Program(
        5,
        lambda x: np.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1,
        (0.0, 0.0),
        (-ROOT3 / 2 - math.pi / 3,),
        ((-1.5, 4.0), (-3.0, 3.0)),
    ),
    Program(6, lambda x: (1 - x[0]) ** 2, (-1.2, 1.0), (0.0,), equal=lambda x: [10 * (x[1] - x[0] ** 2)]),
    Program(
        7,
        lambda x: np.log(1 + x[0] ** 2) - x[1],
        (2.0, 2.0),
        (-ROOT3,),
        equal=lambda x: [(1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4],
    ),
    Program(
        8, lambda x: 0 * x[0] - 1, (2.0, 1.0), (-1.0,), equal=lambda x: [x[0] ** 2 + x[1] ** 2 - 25, x[0] * x[1] - 9]
    ),
    Program(
        9,
        lambda x: np.sin(math.pi * x[0] / 12) * np.cos(math.pi * x[1] / 16),
        (0.0, 0.0),
        (-0.5,),
        equal=lambda x: [4 * x[0] - 3 * x[1]],
    ),
    Program(
        10,
        lambda x: x[0] - x[1],
        (-10.0, 10.0),
        (-1.0,),
        positive=lambda x: [-3 * x[0] ** 2 + 2 * x[0] * x[1] - x[1] ** 2 + 1],
    ),
    Program(
        11,
        lambda x: (x[0] - 5) ** 2 + x[1] ** 2 - 25,
        (4.9, 0.1),
        (-8.498464223,),
        positive=lambda x: [-(x[0] ** 2) + x[1]],
    ),
    Program(
        12,
        lambda x: 0.5 * x[0] ** 2 + x[1] ** 2 - x[0] * x[1] - 7 * x[0] - 7 * x[1],
        (0.0, 0.0),
        (-30.0,),
        positive=lambda x: [25 - 4 * x[0] ** 2 - x[1] ** 2],
    ),
    Program(
        13,
        lambda x: (x[0] - 2) ** 2 + x[1] ** 2,
        (-2.0, -2.0),
        (1.0,),
        positive(2),
        positive=lambda x: [(1 - x[0]) ** 3 - x[1]],
    ),
    Program(
        14,
        lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2,
        (2.0, 2.0),
        (9 - 2.875 * math.sqrt(7),),
        equal=lambda x: [x[0] - 2 * x[1] + 1],
        positive=lambda x: [-0.25 * x[0] ** 2 - x[1] ** 2 + 1],
    ),
    Program(
        15,
        rosenbrock,
        (-2.0, 1.0),
        (306.5, 360.379767),
        ((None, 0.5), (None, None)),
        positive=lambda x: [x[0] * x[1] - 1, x[0] + x[1] ** 2],
    ),
    Program(
        16,
        rosenbrock,
        (-2.0, 1.0),
        (0.25, 3.9820635, 23.144661),
        HALF,
        positive=lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1]],
    ),
    Program(17, rosenbrock, (-2.0, 1.0), (1.0,), HALF, positive=lambda x: [x[1] ** 2 - x[0], x[0] ** 2 - x[1]]),
    Program(
        18,
        lambda x: 0.01 * x[0] ** 2 + x[1] ** 2,
        (2.0, 2.0),
        (5.0,),
        ((2.0, 50.0), (0.0, 50.0)),
        positive=lambda x: [x[0] * x[1] - 25, x[0] ** 2 + x[1] ** 2 - 25],
    ),
    Program(
        19,
        lambda x: (x[0] - 10) ** 3 + (x[1] - 20) ** 3,
        (20.1, 5.84),
        (-6961.81381,),
        ((13.0, 100.0), (0.0, 100.0)),
        positive=lambda x: [
            (x[0] - 5) ** 2 + (x[1] - 5) ** 2 - 100,
            82.81 - (x[1] - 5) ** 2 - (x[0] - 6) ** 2,
        ],
    ),
    Program(
        20,
        rosenbrock,
        (-2.0, 1.0),
        (81.5 - 25 * ROOT3, 40.1987298),
        ((-0.5, 0.5), (None, None)),
        positive=lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1], x[0] ** 2 + x[1] ** 2 - 1],
    ),
    Program(
        21,
        lambda x: 0.01 * x[0] ** 2 + x[1] ** 2 - 100,
        (-1.0, -1.0),
        (-99.96,),
        ((2.0, 50.0), (-50.0, 50.0)),
        positive=lambda x: [10 * x[0] - x[1] - 10],
    ),
    Program(
        22,
        lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2,
        (2.0, 2.0),
        (1.0,),
        positive=lambda x: [-x[0] - x[1] + 2, -(x[0] ** 2) + x[1]],
    ),
    Program(
        23,
        lambda x: x[0] ** 2 + x[1] ** 2,
        (3.0, 1.0),
        (2.0,),
        ((-50.0, 50.0),) * 2,
        positive=lambda x: [
            x[0] + x[1] - 1,
            x[0] ** 2 + x[1] ** 2 - 1,
            9 * x[0] ** 2 + x[1] ** 2 - 9,
            x[0] ** 2 - x[1],
            x[1] ** 2 - x[0],
        ],
    ),
    Program(
        24,
        lambda x: ((x[0] - 3) ** 2 - 9) * x[1] ** 3 / (27 * ROOT3),
        (1.0, 0.5),
        (-1.0,),
        positive(2),
        positive=lambda x: [x[0] / ROOT3 - x[1], x[0] + ROOT3 * x[1], 6 - x[0] - ROOT3 * x[1]],
    ),
    Program(
        26,
        lambda x: (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4,
        (-2.6, 2.0, 2.0),
        (0.0,),
        equal=lambda x: [(1 + x[1] ** 2) * x[0] + x[2] ** 4 - 3],
    ),
    Program(
        27,
        lambda x: 0.01 * (x[0] - 1) ** 2 + (x[1] - x[0] ** 2) ** 2,
        (2.0, 2.0, 2.0),
        (0.04,),
        equal=lambda x: [x[0] + x[2] ** 2 + 1],
    ),
    Program(
        28,
        lambda x: (x[0] + x[1]) ** 2 + (x[1] + x[2]) ** 2,
        (-4.0, 1.0, 1.0),
        (0.0,),
        equal=lambda x: [x[0] + 2 * x[1] + 3 * x[2] - 1],
    ),
    Program(
        29,
        volume,
        (1.0, 1.0, 1.0),
        (-16 * ROOT2,),
        positive=lambda x: [48 - x[0] ** 2 - 2 * x[1] ** 2 - 4 * x[2] ** 2],
    ),
    Program(
        30,
        lambda x: x[0] ** 2 + x[1] ** 2 + x[2] ** 2,
        (1.0, 1.0, 1.0),
        (1.0,),
        ((1.0, 10.0), (-10.0, 10.0), (-10.0, 10.0)),
        positive=lambda x: [x[0] ** 2 + x[1] ** 2 - 1],
    ),
    Program(
        31,
        lambda x: 9 * x[0] ** 2 + x[1] ** 2 + 9 * x[2] ** 2,
        (1.0, 1.0, 1.0),
        (6.0,),
        ((-10.0, 10.0), (1.0, 10.0), (-10.0, 1.0)),
        positive=lambda x: [x[0] * x[1] - 1],
    ),
    Program(
        32,
        lambda x: (x[0] + 3 * x[1] + x[2]) ** 2 + 4 * (x[0] - x[1]) ** 2,
        (0.1, 0.7, 0.2),
        (1.0,),
        positive(3),
        equal=lambda x: [1 - x[0] - x[1] - x[2]],
        positive=lambda x: [6 * x[1] + 4 * x[2] - x[0] ** 3 - 3],
    ),
    Program(
        33,
        lambda x: (x[0] - 1) * (x[0] - 2) * (x[0] - 3) + x[2],
        (0.0, 0.0, 3.0),
        (ROOT2 - 6, -4.0),
        ((0.0, None), (0.0, None), (0.0, 5.0)),
        positive=lambda x: [x[2] ** 2 - x[1] ** 2 - x[0] ** 2, x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 4],
    ),
    Program(
        34,
        lambda x: -x[0],
        (0.0, 1.05, 2.9),
        (-math.log(math.log(10)),),
        ((0.0, 100.0), (0.0, 100.0), (0.0, 10.0)),
        positive=lambda x: [x[1] - np.exp(x[0]), x[2] - np.exp(x[1])],
    ),
    Program(
        35,
        lambda x: (
            9
            - 8 * x[0]
            - 6 * x[1]
            - 4 * x[2]
            + 2 * x[0] ** 2
            + 2 * x[1] ** 2
            + x[2] ** 2
            + 2 * x[0] * x[1]
            + 2 * x[0] * x[2]
        ),
        (0.5, 0.5, 0.5),
        (1 / 9,),
        positive(3),
        positive=lambda x: [3 - x[0] - x[1] - 2 * x[2]],
    ),
    Program(
        36,
        volume,
        (10.0, 10.0, 10.0),
        (-3300.0,),
        ((0.0, 20.0), (0.0, 11.0), (0.0, 42.0)),
        positive=lambda x: [72 - x[0] - 2 * x[1] - 2 * x[2]],
    ),
    Program(
        37,
        volume,
        (10.0, 10.0, 10.0),
        (-3456.0,),
        ((0.0, 42.0),) * 3,
        positive=lambda x: [72 - x[0] - 2 * x[1] - 2 * x[2], x[0] + 2 * x[1] + 2 * x[2]],
    ),
    Program(38, wood, (-3.0, -1.0, -3.0, -1.0), (0.0,), ((-10.0, 10.0),) * 4),
    Program(
        39,
        lambda x: -x[0],
        (2.0, 2.0, 2.0, 2.0),
        (-1.0,),
        equal=lambda x: [x[1] - x[0] ** 3 - x[2] ** 2, x[0] ** 2 - x[1] - x[3] ** 2],
    ),
    Program(
        40,
        lambda x: -x[0] * x[1] * x[2] * x[3],
        (0.8, 0.8, 0.8, 0.8),
        (-0.25,),
        equal=lambda x: [x[0] ** 3 + x[1] ** 2 - 1, x[0] ** 2 * x[3] - x[2], x[3] ** 2 - x[1]],
    ),
    Program(
        41,
        lambda x: 2 - x[0] * x[1] * x[2],
        (2.0, 2.0, 2.0, 2.0),
        (52 / 27,),
        ((0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 2.0)),
        equal=lambda x: [x[0] + 2 * x[1] + 2 * x[2] - x[3]],
    ),
    Program(
        42,
        lambda x: (x[0] - 1) ** 2 + (x[1] - 2) ** 2 + (x[2] - 3) ** 2 + (x[3] - 4) ** 2,
        (1.0, 1.0, 1.0, 1.0),
        (28 - 10 * ROOT2,),
        equal=lambda x: [x[0] - 2, x[2] ** 2 + x[3] ** 2 - 2],
    ),
    Program(43, rosen_suzuki, (0.0, 0.0, 0.0, 0.0), (-44.0,), positive=rosen_suzuki_limits),
    Program(44, bilinear, (0.0, 0.0, 0.0, 0.0), (-15.0, -13.0), positive(4), positive=bilinear_limits),
    Program(
        45,
        lambda x: 2 - x[0] * x[1] * x[2] * x[3] * x[4] / 120,
        (2.0, 2.0, 2.0, 2.0, 2.0),
        (1.0,),
        ((0.0, 1.0), (0.0, 2.0), (0.0, 3.0), (0.0, 4.0), (0.0, 5.0)),
    ),
    Program(
        46,
        powers,
        (ROOT2 / 2, 1.75, 0.5, 2.0, 2.0),
        (0.0,),
        equal=lambda x: [x[0] ** 2 * x[3] + np.sin(x[3] - x[4]) - 1, x[1] + x[2] ** 4 * x[3] ** 2 - 2],
    ),
    Program(
        48,
        lambda x: (x[0] - 1) ** 2 + (x[1] - x[2]) ** 2 + (x[3] - x[4]) ** 2,
        (3.0, 5.0, -3.0, 2.0, -2.0),
        (0.0,),
        equal=lambda x: [x[0] + x[1] + x[2] + x[3] + x[4] - 5, x[2] - 2 * (x[3] + x[4]) + 3],
    ),
    Program(
        49,
        powers,
        (10.0, 7.0, 2.0, -3.0, 0.8),
        (0.0,),
        equal=lambda x: [x[0] + x[1] + x[2] + 4 * x[3] - 7, x[2] + 5 * x[4] - 6],
    ),
    Program(
        50,
        lambda x: (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 2 + (x[2] - x[3]) ** 4 + (x[3] - x[4]) ** 2,
        (35.0, -31.0, 11.0, 5.0, -5.0),
        (0.0,),
        equal=lambda x: [x[k] + 2 * x[k + 1] + 3 * x[k + 2] - 6 for k in range(3)],
    ),
    Program(
        51,
        squares,
        (2.5, 0.5, 2.0, -1.0, 0.5),
        (0.0,),
        equal=lambda x: [x[0] + 3 * x[1] - 4, x[2] + x[3] - 2 * x[4], x[1] - x[4]],
    ),
    Program(
        52,
        lambda x: (4 * x[0] - x[1]) ** 2 + (x[1] + x[2] - 2) ** 2 + (x[3] - 1) ** 2 + (x[4] - 1) ** 2,
        (2.0, 2.0, 2.0, 2.0, 2.0),
        (1859 / 349,),
        equal=lines,
    ),
    Program(53, squares, (2.0, 2.0, 2.0, 2.0, 2.0), (176 / 43,), ((-10.0, 10.0),) * 5, equal=lines),
    Program(
        60,
        lambda x: (x[0] - 1) ** 2 + (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4,
        (2.0, 2.0, 2.0),
        (0.03256820025,),
        ((-10.0, 10.0),) * 3,
        equal=lambda x: [x[0] * (1 + x[1] ** 2) + x[2] ** 4 - 4 - 3 * ROOT2],
    ),
    Program(
        61,
        lambda x: 4 * x[0] ** 2 + 2 * x[1] ** 2 + 2 * x[2] ** 2 - 33 * x[0] + 16 * x[1] - 24 * x[2],
        (0.0, 0.0, 0.0),
        (-143.6461422,),
        equal=lambda x: [3 * x[0] - 2 * x[1] ** 2 - 7, 4 * x[0] - x[2] ** 2 - 11],
    ),
    Program(
        63,
        lambda x: 1000 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - x[0] * x[1] - x[0] * x[2],
        (2.0, 2.0, 2.0),
        (961.7151721,),
        positive(3),
        equal=lambda x: [8 * x[0] + 14 * x[1] + 7 * x[2] - 56, x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 25],
    ),
    Program(
        64,
        lambda x: 5 * x[0] + 5e4 / x[0] + 20 * x[1] + 7.2e4 / x[1] + 10 * x[2] + 1.44e5 / x[2],
        (1.0, 1.0, 1.0),
        (6299.842428,),
        ((1e-5, 300.0),) * 3,
        positive=lambda x: [1 - 4 / x[0] - 32 / x[1] - 120 / x[2]],
    ),
    Program(
        65,
        lambda x: (x[0] - x[1]) ** 2 + (x[0] + x[1] - 10) ** 2 / 9 + (x[2] - 5) ** 2,
        (-5.0, 5.0, 0.0),
        (0.9535288567,),
        ((-4.5, 4.5), (-4.5, 4.5), (-5.0, 5.0)),
        positive=lambda x: [48 - x[0] ** 2 - x[1] ** 2 - x[2] ** 2],
    ),
    Program(
        66,
        lambda x: 0.2 * x[2] - 0.8 * x[0],
        (0.0, 1.05, 2.9),
        (0.5181632741,),
        ((0.0, 100.0), (0.0, 100.0), (0.0, 10.0)),
        positive=lambda x: [x[1] - np.exp(x[0]), x[2] - np.exp(x[1])],
    ),
    Program(
        71,
        lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
        (1.0, 5.0, 5.0, 1.0),
        (17.0140173,),
        ((1.0, 5.0),) * 4,
        equal=lambda x: [x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + x[3] ** 2 - 40],
        positive=lambda x: [x[0] * x[1] * x[2] * x[3] - 25],
    ),
    Program(
        72,
        lambda x: 1 + x[0] + x[1] + x[2] + x[3],
        (1.0, 1.0, 1.0, 1.0),
        (727.67937,),
        ((1e-3, 4e5), (1e-3, 3e5), (1e-3, 2e5), (1e-3, 1e5)),
        positive=lambda x: [
            0.0401 - 4 / x[0] - 2.25 / x[1] - 1 / x[2] - 0.25 / x[3],
            0.010085 - 0.16 / x[0] - 0.36 / x[1] - 0.64 / x[2] - 0.64 / x[3],
        ],
    ),
    Program(
        76,
        hs76,
        (0.5, 0.5, 0.5, 0.5),
        (-4.681818181,),
        positive(4),
        positive=lambda x: [
            5 - x[0] - 2 * x[1] - x[2] - x[3],
            4 - 3 * x[0] - x[1] - 2 * x[2] + x[3],
            x[1] + 4 * x[2] - 1.5,
        ],
    ),
    Program(
        77,
        hs77,
        (2.0, 2.0, 2.0, 2.0, 2.0),
        (0.24150513,),
        equal=lambda x: [
            x[0] ** 2 * x[3] + np.sin(x[3] - x[4]) - 2 * ROOT2,
            x[1] + x[2] ** 4 * x[3] ** 2 - 8 - ROOT2,
        ],
    ),
    Program(78, product, (-2.0, 1.5, 2.0, -1.0, -1.0), (-2.91970041,), equal=product_rules),
    Program(
        79,
        hs79,
        (2.0, 2.0, 2.0, 2.0, 2.0),
        (0.0787768209,),
        equal=lambda x: [
            x[0] + x[1] ** 2 + x[2] ** 3 - 2 - 3 * ROOT2,
            x[1] - x[2] ** 2 + x[3] + 2 - 2 * ROOT2,
            x[0] * x[4] - 2,
        ],
    ),
    Program(
        80,
        lambda x: np.exp(product(x)),
        (-2.0, 2.0, 2.0, -1.0, -1.0),
        (0.0539498478,),
        ((-2.3, 2.3), (-2.3, 2.3), (-3.2, 3.2), (-3.2, 3.2), (-3.2, 3.2)),
        equal=product_rules,
    ),
    Program(
        81,
        lambda x: np.exp(product(x)) - 0.5 * (x[0] ** 3 + x[1] ** 3 + 1) ** 2,
        (-2.0, 2.0, 2.0, -1.0, -1.0),
        (0.0539498478,),
        ((-2.3, 2.3), (-2.3, 2.3), (-3.2, 3.2), (-3.2, 3.2), (-3.2, 3.2)),
        equal=product_rules,
    ),
    Program(100, hs100, (1.0, 2.0, 0.0, 4.0, 0.0, 1.0, 1.0), (680.6300573,), positive=hs100_limits),
    Program(113, hs113, (2.0, 3.0, 5.0, 5.0, 1.0, 2.0, 7.0, 3.0, 6.0, 10.0), (24.3062091,), positive=hs113_limits),
)
