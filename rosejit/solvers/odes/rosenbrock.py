"""Rodas5P (Steinebach 2023): a Rosenbrock method of order five for stiff equations, with exact Jacobians.

A step solves eight linear systems with one matrix, and no nonlinear one: so it has an end, and derivatives like any
other program. It is L-stable, and takes times into account by the derivative of the function by them.
"""

import math
from typing import Any

from rosejit.api.derivation.gradients import jacobian
from rosejit.frontend.values.rose_functions import range as iterations
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.solvers.fitting.linear_least_squares import backward
from rosejit.solvers.odes.runge_kutta import weighted

GAMMA = 0.21193756319429014
NODES = (0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0)
BY_TIME = (GAMMA, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0.0, 0.0, 0.0)
_LAST = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946)
STAGES = (
    (),
    (3.0,),
    (2.849394379747939, 0.45842242204463923),
    (-6.954028509809101, 2.489845061869568, -10.358996098473584),
    (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
    _LAST,
    (*_LAST, 1.0),
    (*_LAST, 1.0, 1.0),
)
COUPLINGS = (
    (),
    (-14.155112264123755,),
    (-17.97296035885952, -2.859693295451294),
    (147.12150275711716, -1.41221402718213, 71.68940251302358),
    (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
    (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
    (
        30.91273214028599,
        -3.1208243349937974,
        77.79954646070892,
        34.28646028294783,
        -19.097331116725623,
        -28.087943162872662,
    ),
    (
        37.80277123390563,
        -3.2571969029072276,
        112.26918849496327,
        66.9347231244047,
        -40.06618937091002,
        -54.66780262877968,
        -9.48861652309627,
    ),
)
BETWEEN = (
    (
        25.948786856663858,
        -2.5579724845846235,
        10.433815404888879,
        -2.3679251022685204,
        0.524948541321073,
        1.1241088310450404,
        0.4272876194431874,
        -0.17202221070155493,
    ),
    (
        -9.91568850695171,
        -0.9689944594115154,
        3.0438037242978453,
        -24.495224566215796,
        20.176138334709044,
        15.98066361424651,
        -6.789040303419874,
        -6.710236069923372,
    ),
    (
        11.419903575922262,
        2.8879645146136994,
        72.92137995996029,
        80.12511834622643,
        -52.072871366152654,
        -59.78993625266729,
        -0.15582684282751913,
        4.883087185713722,
    ),
)


@dataclass(frozen=True)
class Rosenbrock:
    """The method; see `runge_kutta.RungeKutta` for what its functions give."""

    exponent: float = -1 / 5
    pieces: int = 4
    jacobians: int = 1
    """Jacobians, and factorisations, of a step."""

    def step(self, f: Any, t: Any, y: Any, slope: Any, h: Any) -> Any:
        """The state a step of `h` further on, its slope, the increments of all stages, and the evaluations."""
        factors, order = factored(np.eye(len(y)) / (GAMMA * h) - jacobian(f, 1)(t, y))
        change = h * jacobian(f, 0)(t, y)
        found = []
        for node, by_time, row, coupling in zip(NODES, BY_TIME, STAGES, COUPLINGS, strict=True):
            right = f(t + node * h, y + weighted(row, found)) + weighted(coupling, found) / h if found else slope
            if by_time != 0.0:
                right = right + by_time * change
            found.append(substituted(factors, order, right))
        then = y + (weighted(STAGES[-1], found[:-1]) + found[-1])
        return then, f(t + h, then), found, len(NODES)

    def error(self, h: Any, found: Any, tolerated: Any) -> Any:
        """The error of a step in units of what is tolerated: its root mean square."""
        ratio = found[-1] / tolerated
        return math.sqrt((ratio @ ratio) / len(tolerated))

    def interpolant(self, f: Any, t: Any, y: Any, then: Any, found: Any, h: Any) -> Any:
        """The rows of `between` in a step (see `interpolants`), and the evaluations."""
        first, second, third = (weighted(row, found) for row in BETWEEN)
        return np.stack([then - y, first, second + third, -third]), 0


def factored(matrix: Any) -> Any:
    """Triangular factors of a matrix, in one, and the order of its rows. No number where the matrix is singular."""
    rows, n = 1.0 * matrix, len(matrix)
    order = np.arange(n)
    for k in iterations(n):
        best = k
        for i in iterations(k + 1, n):
            if abs(rows[i, k]) > abs(rows[best, k]):
                best = i
        if best != k:
            order[k], order[best] = order[best], order[k]
            for j in iterations(n):
                rows[k, j], rows[best, j] = rows[best, j], rows[k, j]
        for i in iterations(k + 1, n):
            rows[i, k] = rows[i, k] / rows[k, k]
            for j in iterations(k + 1, n):
                rows[i, j] -= rows[i, k] * rows[k, j]
    return rows, order


def substituted(factors: Any, order: Any, right: Any) -> Any:
    """The x of `matrix @ x = right`, from the factors of the matrix."""
    n = len(right)
    x = np.zeros(n)
    for i in iterations(n):
        total = right[order[i]]
        for j in iterations(i):
            total -= factors[i, j] * x[j]
        x[i] = total
    return backward(lambda i, j: factors[i, j], x, n)
