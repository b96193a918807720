"""Explicit Runge-Kutta methods with error estimates and interpolants: those of SciPy, whose steps they take, and
Tsitouras's."""

import math
from typing import Any

from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np
from rosejit.solvers.odes import dop853

Row = tuple[float, ...]


@dataclass(frozen=True)
class RungeKutta:
    """A method: its coefficients, and how a step, its error and its interpolant follow from them."""

    nodes: Row
    stages: tuple[Row, ...]
    weights: Row
    errors: tuple[Row, ...]
    """Weights of the error; of two, the first is made smaller by how much smaller the second says it is."""
    between: tuple[Row, ...]
    """Rows of the interpolant beyond the cubic one: weights of all slopes."""
    exponent: float
    """Minus one over one more than the order of the error estimate."""
    more_nodes: Row = ()
    more_stages: tuple[Row, ...] = ()
    """Stages that the interpolant alone needs."""
    jacobians: int = 0

    @property
    def pieces(self) -> int:
        """How many vectors make an interpolant."""
        return 3 + len(self.between)

    def step(self, f: Any, t: Any, y: Any, slope: Any, h: Any) -> Any:
        """The state a step of `h` further on, its slope, the slopes of all stages, and the evaluations."""
        slopes = [slope]
        for node, row in zip(self.nodes[1:], self.stages[1:], strict=True):
            slopes.append(f(t + node * h, y + h * weighted(row, slopes)))
        then = y + h * weighted(self.weights, slopes)
        slopes.append(f(t + h, then))
        return then, slopes[-1], slopes, len(slopes) - 1

    def error(self, h: Any, slopes: Any, tolerated: Any) -> Any:
        """The error of a step in units of what is tolerated: its root mean square."""
        sizes = []
        for row in self.errors:
            ratio = weighted(row, slopes) / tolerated
            sizes.append(ratio @ ratio)
        count = len(tolerated)
        if len(sizes) == 1:
            return abs(h) * math.sqrt(sizes[0] / count)
        whole = sizes[0] + 0.01 * sizes[1]
        return abs(h) * sizes[0] / math.sqrt(whole * count) if whole != 0.0 else 0.0

    def interpolant(self, f: Any, t: Any, y: Any, then: Any, slopes: Any, h: Any) -> Any:
        """The rows of `between` in a step (see `interpolants`), and the evaluations."""
        known = list(slopes)
        for node, row in zip(self.more_nodes, self.more_stages, strict=True):
            known.append(f(t + node * h, y + h * weighted(row, known)))
        change = then - y
        first = h * slopes[0] - change
        rows = [change, first, change - h * slopes[-1] - first]
        rows += [h * weighted(row, known) for row in self.between]
        return np.stack(rows), len(self.more_nodes)


def weighted(weights: Row, vectors: Any) -> Any:
    """A sum of vectors, without those of weight zero."""
    total: Any = None
    for weight, vector in zip(weights, vectors, strict=True):
        if weight != 0.0:
            total = weight * vector if total is None else total + weight * vector
    return total


EXPLICIT = {
    "RK23": RungeKutta(  # Bogacki and Shampine 1989
        nodes=(0.0, 1 / 2, 3 / 4),
        stages=((), (1 / 2,), (0.0, 3 / 4)),
        weights=(2 / 9, 1 / 3, 4 / 9),
        errors=((5 / 72, -1 / 12, -1 / 9, 1 / 8),),
        between=(),
        exponent=-1 / 3,
    ),
    "RK45": RungeKutta(  # Dormand and Prince 1980; the interpolant by Shampine 1986
        nodes=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
        stages=(
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        ),
        weights=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
        errors=((-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40),),
        between=(
            (
                -12715105075 / 11282082432,
                0.0,
                87487479700 / 32700410799,
                -10690763975 / 1880347072,
                701980252875 / 199316789632,
                -1453857185 / 822651844,
                69997945 / 29380423,
            ),
        ),
        exponent=-1 / 5,
    ),
    "Tsit5": RungeKutta(  # Tsitouras 2011, with its interpolant, and the weights of its error in full precision
        nodes=(0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0),
        stages=(
            (),
            (0.161,),
            (-0.008480655492356989, 0.335480655492357),
            (2.8971530571054935, -6.359448489975075, 4.3622954328695815),
            (5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525),
            (5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383),
        ),
        weights=(
            0.09646076681806523,
            0.01,
            0.4798896504144996,
            1.379008574103742,
            -3.290069515436081,
            2.324710524099774,
        ),
        errors=(
            (
                0.0017800110522257773,
                0.0008164344596567463,
                -0.007880878010261994,
                0.14471100717326298,
                -0.5823571654525552,
                0.45808210592918686,
                -1 / 66,
            ),
        ),
        between=(
            (
                -1.0530884977290216,
                0.1017,
                2.490627285651253,
                -16.548102889244902,
                47.37952196281928,
                -34.87065786149661,
                2.5,
            ),
        ),
        exponent=-1 / 5,
    ),
    "DOP853": RungeKutta(
        nodes=dop853.NODES,
        stages=dop853.STAGES,
        weights=dop853.WEIGHTS,
        errors=(dop853.FIFTH, dop853.THIRD),
        between=dop853.BETWEEN,
        exponent=-1 / 8,
        more_nodes=dop853.MORE_NODES,
        more_stages=dop853.MORE_STAGES,
    ),
}
