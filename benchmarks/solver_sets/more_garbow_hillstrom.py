"""The 35 problems of Moré, Garbow and Hillstrom (Testing unconstrained optimization software, 1981), some in several
sizes: residuals, where a search begins, and the least sums of squares that are known (all of them where there are
several). They are written in NumPy, and run in it and in compiled code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Residuals = Callable[[Any], Any]


@dataclass(frozen=True)
class Problem:
    """One of them."""

    name: str
    residuals: Residuals
    start: tuple[float, ...]
    minima: tuple[float, ...] = (0.0,)


def rosenbrock(x: Any) -> Any:
    """1."""
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def freudenstein_roth(x: Any) -> Any:
    """2."""
    return np.array([-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]])


def powell_badly_scaled(x: Any) -> Any:
    """3."""
    return np.array([1e4 * x[0] * x[1] - 1, np.exp(-x[0]) + np.exp(-x[1]) - 1.0001])


def brown_badly_scaled(x: Any) -> Any:
    """4."""
    return np.array([x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2])


def beale(x: Any) -> Any:
    """5."""
    return np.array([1.5 - x[0] * (1 - x[1]), 2.25 - x[0] * (1 - x[1] ** 2), 2.625 - x[0] * (1 - x[1] ** 3)])


TEN = np.arange(1.0, 11.0)


def jennrich_sampson(x: Any) -> Any:
    """6."""
    return 2 + 2 * TEN - (np.exp(TEN * x[0]) + np.exp(TEN * x[1]))


def helical_valley(x: Any) -> Any:
    """7."""
    turn = np.arctan(x[1] / x[0]) / (2 * np.pi) + np.where(x[0] > 0, 0.0, 0.5)
    return np.array([10 * (x[2] - 10 * turn), 10 * (np.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2]])


BARD = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39])
FIFTEEN = np.arange(1.0, 16.0)


def bard(x: Any) -> Any:
    """8."""
    return BARD - (x[0] + FIFTEEN / ((16 - FIFTEEN) * x[1] + np.minimum(FIFTEEN, 16 - FIFTEEN) * x[2]))


_HALF = [0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521]
BELL = np.array([*_HALF, 0.3989, *reversed(_HALF)])


def gaussian(x: Any) -> Any:
    """9."""
    return x[0] * np.exp(-x[1] * ((8 - FIFTEEN) / 2 - x[2]) ** 2 / 2) - BELL


_OHMS = [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872]
MEYER = np.array(_OHMS, dtype=float)
DEGREES = 45 + 5 * np.arange(1.0, 17.0)


def meyer(x: Any) -> Any:
    """10."""
    return x[0] * np.exp(x[1] / (DEGREES + x[2])) - MEYER


PARTS = np.arange(1.0, 100.0) / 100
GULF = 25 + (-50 * np.log(PARTS)) ** (2 / 3)


def gulf(x: Any) -> Any:
    """11."""
    return np.exp(-(np.abs(GULF - x[1]) ** x[2]) / x[0]) - PARTS


def box(x: Any) -> Any:
    """12."""
    t = TEN / 10
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))


def powell_singular(x: Any) -> Any:
    """13, and 22 where there are more than four numbers."""
    a, b, c, d = x[0::4], x[1::4], x[2::4], x[3::4]
    return np.concatenate([a + 10 * b, np.sqrt(5) * (c - d), (b - 2 * c) ** 2, np.sqrt(10) * (a - d) ** 2])


def wood(x: Any) -> Any:
    """14."""
    return np.array(
        [
            10 * (x[1] - x[0] ** 2),
            1 - x[0],
            np.sqrt(90) * (x[3] - x[2] ** 2),
            1 - x[2],
            np.sqrt(10) * (x[1] + x[3] - 2),
            (x[1] - x[3]) / np.sqrt(10),
        ]
    )


KOWALIK = np.array([0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
FLOW = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])


def kowalik_osborne(x: Any) -> Any:
    """15."""
    return KOWALIK - x[0] * (FLOW * FLOW + FLOW * x[1]) / (FLOW * FLOW + FLOW * x[2] + x[3])


FIFTHS = np.arange(1.0, 21.0) / 5


def brown_dennis(x: Any) -> Any:
    """16."""
    return (x[0] + FIFTHS * x[1] - np.exp(FIFTHS)) ** 2 + (x[2] + x[3] * np.sin(FIFTHS) - np.cos(FIFTHS)) ** 2


_FIRST = """
.844 .908 .932 .936 .925 .908 .881 .850 .818 .784 .751 .718 .685 .658 .628 .603 .580 .558 .538 .522 .506
.490 .478 .467 .457 .448 .438 .431 .424 .420 .414 .411 .406
"""
OSBORNE_1 = np.array([float(each) for each in _FIRST.split()])


def osborne_1(x: Any) -> Any:
    """17."""
    t = 10 * np.arange(33.0)
    return OSBORNE_1 - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))


def biggs(x: Any) -> Any:
    """18."""
    t = 0.1 * np.arange(1.0, 14.0)
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    return x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) + x[5] * np.exp(-t * x[4]) - y


_SECOND = """
1.366 1.191 1.112 1.013 .991 .885 .831 .847 .786 .725 .746 .679 .608 .655 .616 .606 .602 .626 .651 .724 .649
.649 .694 .644 .624 .661 .612 .558 .533 .495 .500 .423 .395 .375 .372 .391 .396 .405 .428 .429 .523 .562
.607 .653 .672 .708 .633 .668 .645 .632 .591 .559 .597 .625 .739 .710 .729 .720 .636 .581 .428 .292 .162
.098 .054
"""
OSBORNE_2 = np.array([float(each) for each in _SECOND.split()])


def osborne_2(x: Any) -> Any:
    """19."""
    t = np.arange(65.0) / 10
    found = x[0] * np.exp(-t * x[4])
    for k in range(3):
        found = found + x[1 + k] * np.exp(-((t - x[8 + k]) ** 2) * x[5 + k])
    return OSBORNE_2 - found


def watson(x: Any) -> Any:
    """20."""
    n = len(x)
    t = np.arange(1.0, 30.0) / 29
    powers = np.stack([t**j for j in range(n)], 1)
    slopes = np.stack([j * t ** max(j - 1, 0) for j in range(1, n)], 1)
    return np.concatenate([slopes @ x[1:] - (powers @ x) ** 2 - 1, np.array([x[0], x[1] - x[0] ** 2 - 1])])


def extended_rosenbrock(x: Any) -> Any:
    """21."""
    return np.concatenate([10 * (x[1::2] - x[0::2] ** 2), 1 - x[0::2]])


def penalty_1(x: Any) -> Any:
    """23."""
    return np.concatenate([np.sqrt(1e-5) * (x - 1), np.array([(x * x).sum() - 0.25])])


def penalty_2(x: Any) -> Any:
    """24."""
    n = len(x)
    i = np.arange(2.0, n + 1)
    y = np.exp(i / 10) + np.exp((i - 1) / 10)
    weights = n - np.arange(float(n))
    small = np.sqrt(1e-5)
    return np.concatenate(
        [
            np.array([x[0] - 0.2]),
            small * (np.exp(x[1:] / 10) + np.exp(x[:-1] / 10) - y),
            small * (np.exp(x[1:] / 10) - np.exp(-1 / 10)),
            np.array([(weights * x * x).sum() - 1]),
        ]
    )


def variably_dimensioned(x: Any) -> Any:
    """25."""
    total = (np.arange(1.0, len(x) + 1) * (x - 1)).sum()
    return np.concatenate([x - 1, np.array([total, total**2])])


def trigonometric(x: Any) -> Any:
    """26."""
    n = len(x)
    return n - np.cos(x).sum() + np.arange(1.0, n + 1) * (1 - np.cos(x)) - np.sin(x)


def brown_almost_linear(x: Any) -> Any:
    """27."""
    n = len(x)
    return np.concatenate([x[:-1] + x.sum() - (n + 1), np.array([np.prod(x) - 1])])


def neighbours(x: Any) -> Any:
    """What stands left and right of each number; zero at the ends."""
    zero = np.zeros(1)
    return np.concatenate([zero, x[:-1]]), np.concatenate([x[1:], zero])


def boundary_value(x: Any) -> Any:
    """28."""
    n = len(x)
    h = 1 / (n + 1)
    t = h * np.arange(1.0, n + 1)
    left, right = neighbours(x)
    return 2 * x - left - right + h * h * (x + t + 1) ** 3 / 2


def integral_equation(x: Any) -> Any:
    """29."""
    n = len(x)
    h = 1 / (n + 1)
    t = h * np.arange(1.0, n + 1)
    kernel = np.minimum(np.outer(1 - t, t), np.outer(t, 1 - t))
    return x + h * (kernel @ (x + t + 1) ** 3) / 2


def broyden_tridiagonal(x: Any) -> Any:
    """30."""
    left, right = neighbours(x)
    return (3 - 2 * x) * x - left - 2 * right + 1


def broyden_banded(x: Any) -> Any:
    """31."""
    n = len(x)
    band = np.array([[float(i != j and -5 <= j - i <= 1) for j in range(n)] for i in range(n)])
    return x * (2 + 5 * x * x) + 1 - band @ (x * (1 + x))


def linear_full_rank(x: Any) -> Any:
    """32."""
    total = 2 * x.sum() / 20
    return np.concatenate([x - total - 1, np.zeros(20 - len(x)) - total - 1])


def linear_rank_one(x: Any) -> Any:
    """33."""
    return np.arange(1.0, 21.0) * (np.arange(1.0, len(x) + 1) * x).sum() - 1


def linear_rank_one_zeros(x: Any) -> Any:
    """34."""
    n = len(x)
    total = (np.arange(2.0, n) * x[1:-1]).sum()
    return np.concatenate([np.array([-1.0]), np.arange(1.0, 19.0) * total - 1, np.array([-1.0])])


def chebyquad(x: Any) -> Any:
    """35."""
    n = len(x)
    before, now = np.ones(n), 2 * x - 1
    found = []
    for i in range(1, n + 1):
        found.append(now.sum() / n + (0.0 if i % 2 else 1 / (i * i - 1)))
        before, now = now, 2 * (2 * x - 1) * now - before
    return np.array(found)


def _grid(n: int) -> tuple[float, ...]:
    return tuple(k / (n + 1) for k in range(1, n + 1))


def _valley(n: int) -> tuple[float, ...]:
    return tuple(t * (t - 1) for t in _grid(n))


PROBLEMS = (
    Problem("1 rosenbrock", rosenbrock, (-1.2, 1.0)),
    Problem("2 freudenstein roth", freudenstein_roth, (0.5, -2.0), (0.0, 48.9842)),
    Problem("3 powell badly scaled", powell_badly_scaled, (0.0, 1.0)),
    Problem("4 brown badly scaled", brown_badly_scaled, (1.0, 1.0)),
    Problem("5 beale", beale, (1.0, 1.0)),
    Problem("6 jennrich sampson", jennrich_sampson, (0.3, 0.4), (124.362,)),
    Problem("7 helical valley", helical_valley, (-1.0, 0.0, 0.0)),
    Problem("8 bard", bard, (1.0, 1.0, 1.0), (8.21487e-3,)),
    Problem("9 gaussian", gaussian, (0.4, 1.0, 0.0), (1.12793e-8,)),
    Problem("10 meyer", meyer, (0.02, 4000.0, 250.0), (87.9458,)),
    Problem("11 gulf", gulf, (5.0, 2.5, 0.15)),
    Problem("12 box", box, (0.0, 10.0, 20.0)),
    Problem("13 powell singular", powell_singular, (3.0, -1.0, 0.0, 1.0)),
    Problem("14 wood", wood, (-3.0, -1.0, -3.0, -1.0)),
    Problem("15 kowalik osborne", kowalik_osborne, (0.25, 0.39, 0.415, 0.39), (3.07505e-4, 1.02734e-3)),
    Problem("16 brown dennis", brown_dennis, (25.0, 5.0, -5.0, -1.0), (85822.2,)),
    Problem("17 osborne 1", osborne_1, (0.5, 1.5, -1.0, 0.01, 0.02), (5.46489e-5,)),
    Problem("18 biggs", biggs, (1.0, 2.0, 1.0, 1.0, 1.0, 1.0), (0.0, 5.65565e-3)),
    Problem("19 osborne 2", osborne_2, (1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5), (4.01377e-2,)),
    Problem("20 watson 6", watson, (0.0,) * 6, (2.28767e-3,)),
    Problem("20 watson 9", watson, (0.0,) * 9, (1.39976e-6,)),
    Problem("20 watson 12", watson, (0.0,) * 12, (4.72238e-10,)),
    Problem("21 extended rosenbrock 10", extended_rosenbrock, (-1.2, 1.0) * 5),
    Problem("21 extended rosenbrock 30", extended_rosenbrock, (-1.2, 1.0) * 15),
    Problem("22 extended powell 12", powell_singular, (3.0, -1.0, 0.0, 1.0) * 3),
    Problem("23 penalty I 4", penalty_1, (1.0, 2.0, 3.0, 4.0), (2.24997e-5,)),
    Problem("23 penalty I 10", penalty_1, tuple(float(k) for k in range(1, 11)), (7.08765e-5,)),
    Problem("24 penalty II 4", penalty_2, (0.5,) * 4, (9.37629e-6,)),
    Problem("24 penalty II 10", penalty_2, (0.5,) * 10, (2.93660e-4,)),
    Problem("25 variably dimensioned 10", variably_dimensioned, tuple(1 - k / 10 for k in range(1, 11))),
    Problem("26 trigonometric 10", trigonometric, (0.1,) * 10, (0.0, 2.79506e-5)),
    Problem("27 brown almost linear 10", brown_almost_linear, (0.5,) * 10, (0.0, 1.0)),
    Problem("27 brown almost linear 30", brown_almost_linear, (0.5,) * 30, (0.0, 1.0)),
    Problem("28 boundary value 10", boundary_value, _valley(10)),
    Problem("29 integral equation 10", integral_equation, _valley(10)),
    Problem("30 broyden tridiagonal 10", broyden_tridiagonal, (-1.0,) * 10),
    Problem("31 broyden banded 10", broyden_banded, (-1.0,) * 10),
    Problem("32 linear full rank 10", linear_full_rank, (1.0,) * 10, (10.0,)),
    Problem("33 linear rank one 10", linear_rank_one, (1.0,) * 10, (20 * 19 / (2 * 41),)),
    Problem("34 linear rank one, zeros 10", linear_rank_one_zeros, (1.0,) * 10, ((400 + 60 - 6) / (2 * 37),)),
    Problem("35 chebyquad 7", chebyquad, _grid(7)),
    Problem("35 chebyquad 8", chebyquad, _grid(8), (3.51687e-3,)),
    Problem("35 chebyquad 9", chebyquad, _grid(9)),
    Problem("35 chebyquad 10", chebyquad, _grid(10), (6.50395e-3, 4.77271e-3)),
)
ROOTS = tuple(
    problem
    for problem in PROBLEMS
    if problem.residuals
    in (
        rosenbrock,
        freudenstein_roth,
        powell_badly_scaled,
        helical_valley,
        powell_singular,
        extended_rosenbrock,
        trigonometric,
        brown_almost_linear,
        boundary_value,
        integral_equation,
        broyden_tridiagonal,
        broyden_banded,
    )
    or problem.name in ("35 chebyquad 7", "35 chebyquad 9")
)
"""Those that are systems of as many equations as unknowns, and have a root."""


def is_solved(problem: Problem, squares: float) -> bool:
    """Whether a sum of squares is one of the least that are known."""
    return any(abs(squares - least) <= 1e-4 * least + (1e-8 if least == 0.0 else 0.0) for least in problem.minima)
