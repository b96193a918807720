"""The 25 problems of DETEST (Hull, Enright, Fellen and Sedgwick, Comparing numerical methods for ordinary differential
equations, 1972), from 0 to 20, and six stiff ones. They run in NumPy and in compiled code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Equation:
    """dy/dt = slope(t, y) from y0 at 0 to `end`; `exact` is the solution there, where it has a closed form or is in the
    Test Set for IVP Solvers (Mazzia and Magherini 2008)."""

    name: str
    slope: Callable[[Any, Any], Any]
    y0: tuple[float, ...]
    end: float = 20.0
    exact: tuple[float, ...] | None = None


def a1(t: Any, y: Any) -> Any:
    """The negative exponential."""
    return -y


def a2(t: Any, y: Any) -> Any:
    """A case of Riccati's equation."""
    return -(y**3) / 2


def a3(t: Any, y: Any) -> Any:
    """An oscillation."""
    return y * np.cos(t)


def a4(t: Any, y: Any) -> Any:
    """A logistic curve."""
    return y / 4 * (1 - y / 20)


def a5(t: Any, y: Any) -> Any:
    """A spiral."""
    return (y - t) / (y + t)


def b1(t: Any, y: Any) -> Any:
    """Two populations."""
    return np.array([2 * (y[0] - y[0] * y[1]), -(y[1] - y[0] * y[1])])


def b2(t: Any, y: Any) -> Any:
    """A linear reaction."""
    return np.array([-y[0] + y[1], y[0] - 2 * y[1] + y[2], y[1] - y[2]])


def b3(t: Any, y: Any) -> Any:
    """A reaction that is not linear."""
    return np.array([-y[0], y[0] - y[1] ** 2, y[1] ** 2])


def b4(t: Any, y: Any) -> Any:
    """An integral surface of a torus."""
    r = np.sqrt(y[0] ** 2 + y[1] ** 2)
    return np.array([-y[1] - y[0] * y[2] / r, y[0] - y[1] * y[2] / r, y[0] / r])


def b5(t: Any, y: Any) -> Any:
    """A rigid body without forces."""
    return np.array([y[1] * y[2], -y[0] * y[2], -0.51 * y[0] * y[1]])


def c1(t: Any, y: Any) -> Any:
    """A radioactive chain."""
    return np.concatenate([-y[:1], y[:-2] - y[1:-1], y[-2:-1]])


def c2(t: Any, y: Any) -> Any:
    """Another one."""
    i = np.arange(1.0, 10.0)
    return np.concatenate([-y[:1], i[:-1] * y[:-2] - i[1:] * y[1:-1], 9 * y[-2:-1]])


def c3(t: Any, y: Any) -> Any:
    """Heat in a rod; c4 in more parts."""
    zero = np.zeros(1)
    return np.concatenate([zero, y[:-1]]) - 2 * y + np.concatenate([y[1:], zero])


SUN = 1.00000597682
MASSES = np.array([0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 0.00000277777777778])
GRAVITY = 2.95912208286
PLANETS = (
    (3.42947415189, 3.35386959711, 1.35494901715),
    (6.64145542550, 5.97156957878, 2.18231499728),
    (11.2630437207, 14.6952576794, 6.27960525067),
    (-30.1552268759, 1.65699966404, 1.43785752721),
    (-21.1238353380, 28.4465098142, 15.3882659679),
)
SPEEDS = (
    (-0.557160570446, 0.505696783289, 0.230578543901),
    (-0.415570776342, 0.365682722812, 0.169143213293),
    (-0.325325669158, 0.189706021964, 0.0877265322780),
    (-0.0240476254170, -0.287659532608, -0.117219543175),
    (-0.176860753121, -0.216393453025, -0.0148647893090),
)


def c5(t: Any, y: Any) -> Any:
    """The five outer planets."""
    at = [y[3 * j : 3 * j + 3] for j in range(5)]
    cubes = [np.sqrt((q * q).sum()) ** 3 for q in at]
    found = [y[15:]]
    for j in range(5):
        pull = -(SUN + MASSES[j]) * at[j] / cubes[j]
        for k in range(5):
            if k != j:
                apart = at[k] - at[j]
                pull = pull + MASSES[k] * (apart / np.sqrt((apart * apart).sum()) ** 3 - at[k] / cubes[k])
        found.append(GRAVITY * pull)
    return np.concatenate(found)


def orbit(t: Any, y: Any) -> Any:
    """Two bodies."""
    r3 = np.sqrt(y[0] ** 2 + y[1] ** 2) ** 3
    return np.array([y[2], y[3], -y[0] / r3, -y[1] / r3])


def e1(t: Any, y: Any) -> Any:
    """Bessel's equation of order 1/2, moved by 1."""
    return np.array([y[1], -(y[1] / (t + 1) + (1 - 0.25 / (t + 1) ** 2) * y[0])])


def e2(t: Any, y: Any) -> Any:
    """Van der Pol's equation."""
    return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])


def e3(t: Any, y: Any) -> Any:
    """Duffing's equation."""
    return np.array([y[1], y[0] ** 3 / 6 - y[0] + 2 * np.sin(2.78535 * t)])


def e4(t: Any, y: Any) -> Any:
    """A falling body."""
    return np.array([y[1], 0.032 - 0.4 * y[1] ** 2])


def e5(t: Any, y: Any) -> Any:
    """A pursuit."""
    return np.array([y[1], np.sqrt(1 + y[1] ** 2) / (25 - t)])


def _orbit(name: str, e: float) -> Equation:
    return Equation(name, orbit, (1 - e, 0.0, 0.0, float(np.sqrt((1 + e) / (1 - e)))))


def _flat(rows: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    return tuple(x for row in rows for x in row)


EQUATIONS = (
    Equation("A1", a1, (1.0,), exact=(float(np.exp(-20.0)),)),
    Equation("A2", a2, (1.0,), exact=(float(1 / np.sqrt(21.0)),)),
    Equation("A3", a3, (1.0,), exact=(float(np.exp(np.sin(20.0))),)),
    Equation("A4", a4, (1.0,), exact=(float(20 / (1 + 19 * np.exp(-5.0))),)),
    Equation("A5", a5, (4.0,)),
    Equation("B1", b1, (1.0, 3.0)),
    Equation("B2", b2, (2.0, 0.0, 1.0)),
    Equation("B3", b3, (1.0, 0.0, 0.0)),
    Equation("B4", b4, (3.0, 0.0, 0.0)),
    Equation("B5", b5, (0.0, 1.0, 1.0)),
    Equation("C1", c1, (1.0, *(0.0,) * 9)),
    Equation("C2", c2, (1.0, *(0.0,) * 9)),
    Equation("C3", c3, (1.0, *(0.0,) * 9)),
    Equation("C4", c3, (1.0, *(0.0,) * 50)),
    Equation("C5", c5, _flat(PLANETS) + _flat(SPEEDS)),
    _orbit("D1", 0.1),
    _orbit("D2", 0.3),
    _orbit("D3", 0.5),
    _orbit("D4", 0.7),
    _orbit("D5", 0.9),
    Equation("E1", e1, (0.6713967071418030, 0.09540051444747446)),
    Equation("E2", e2, (2.0, 0.0)),
    Equation("E3", e3, (0.0, 0.0)),
    Equation("E4", e4, (30.0, 0.0)),
    Equation("E5", e5, (0.0, 0.0)),
)


def robertson(t: Any, y: Any) -> Any:
    """A reaction of three substances at rates from 0.04 to 3e7."""
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return np.array([b - a, a - b - c, c])


def relaxation(t: Any, y: Any) -> Any:
    """Van der Pol's equation with jumps."""
    return np.array([y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]])


def prothero(t: Any, y: Any) -> Any:
    """cos t, with strong forces back to it."""
    return -1e6 * (y - np.cos(t)) - np.sin(t)


def oregonator(t: Any, y: Any) -> Any:
    """The reaction of Belousov and Zhabotinsky."""
    return np.array(
        [
            77.27 * (y[1] + y[0] * (1 - 8.375e-6 * y[0] - y[1])),
            (y[2] - (1 + y[0]) * y[1]) / 77.27,
            0.161 * (y[0] - y[2]),
        ]
    )


def hires(t: Any, y: Any) -> Any:
    """Eight substances in plants under light."""
    meeting = 280 * y[5] * y[7]
    return np.array(
        [
            -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
            1.71 * y[0] - 8.75 * y[1],
            -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
            8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
            -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
            -meeting + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
            meeting - 1.81 * y[6],
            -meeting + 1.81 * y[6],
        ]
    )


def diffusion(t: Any, y: Any) -> Any:
    """Heat in a rod of 40 parts that reacts."""
    zero = np.zeros(1)
    return 1600 * (np.concatenate([zero, y[:-1]]) - 2 * y + np.concatenate([y[1:], zero])) + y * (1 - y)


_HIRES = (
    0.7371312573325668e-3,
    0.1442485726316185e-3,
    0.5888729740967575e-4,
    0.1175651343283149e-2,
    0.2386356198831331e-2,
    0.6238968252742796e-2,
    0.2849998395185769e-2,
    0.2850001604814231e-2,
)
STIFF = (
    Equation("Robertson", robertson, (1.0, 0.0, 0.0), 1e5),
    Equation("Van der Pol 1000", relaxation, (2.0, 0.0), 2000.0),
    Equation("Prothero Robinson", prothero, (1.0,), 20.0, (float(np.cos(20.0)),)),
    Equation(
        "Oregonator", oregonator, (1.0, 2.0, 3.0), 360.0, (1.000814870318523, 1228.178521549917, 132.0554942846706)
    ),
    Equation("HIRES", hires, (1.0, *(0.0,) * 6, 0.0057), 321.8122, _HIRES),
    Equation("diffusion 40", diffusion, tuple(float(np.sin(np.pi * k / 41)) for k in range(1, 41)), 1.0),
)
