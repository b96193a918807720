"""The tables of the ziggurat method for normal and exponential numbers (Marsaglia and Tsang, 2000), as NumPy has them.

256 layers of one area cover the density: layer i is `edge[i]` wide, layer 0 is the box below the tail with the tail.
"""

from functools import cache
from math import sqrt, ulp

Row = tuple[float, int]

LAYERS = 256
NORMAL_EDGE = 3.6541528853610088
"""Where the tail of the normal density begins."""
EXPONENTIAL_EDGE = 7.69711747013105
"""The same of the exponential density."""
_NORMAL_AREA = 0.0049286732339746519


def _normal_edges() -> tuple[list[float], list[float]]:
    """The edges and the density there, each step rounded to a double as when NumPy's tables were made: there one of the
    exponentials, whose exact value is near the middle of two doubles, was rounded to the other one."""
    from decimal import Decimal  # only programs that draw need it

    edges, heights = [0.0] * (LAYERS - 1) + [NORMAL_EDGE], [1.0] * LAYERS
    for i in range(LAYERS - 1, 0, -1):
        heights[i] = float(Decimal(-0.5 * edges[i] * edges[i]).exp())
        if i == 38:
            heights[i] += ulp(heights[i])
        if i > 1:
            edges[i - 1] = sqrt(-2.0 * float(Decimal(heights[i] + _NORMAL_AREA / edges[i]).ln()))
    return edges, heights


@cache
def normal() -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """For each layer the unit of its numbers and how many of 2**52 are under the density; and the density."""
    edges, heights = _normal_edges()
    widths = [_NORMAL_AREA / heights[-1], *edges[1:]]
    inside = [edges[-1] * heights[-1] / _NORMAL_AREA, *(edges[i] / edges[i + 1] for i in range(LAYERS - 1))]
    layers = tuple([(width / 2**52, round(part * 2**52)) for width, part in zip(widths, inside, strict=True)])
    return layers, tuple([(height, 0) for height in heights])


@cache
def exponential() -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The same for the exponential density, of 2**53: all even."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 40
        last = Decimal("7.6971174701310497140446280481")
        area = (last + 1) * (-last).exp()
        edges = [Decimal(0)] * (LAYERS - 1) + [last]
        for i in range(LAYERS - 1, 1, -1):
            edges[i - 1] = -(area / edges[i] + (-edges[i]).exp()).ln()
        heights = [(-x).exp() for x in edges]
        widths = [area / heights[-1], *edges[1:]]
        inside = [last / widths[0], *(edges[i] / edges[i + 1] for i in range(LAYERS - 1))]
        layers = tuple([(float(w / 2**53), 2 * int(part * 2**52)) for w, part in zip(widths, inside, strict=True)])
        return layers, tuple([(float(height), 0) for height in heights])
