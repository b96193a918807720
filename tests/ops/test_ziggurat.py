"""The layers of ziggurats: boxes of one area that cover the density."""

import math

import mpmath
import pytest

from rosejit.ops import ziggurat

DENSITIES = {
    "normal": (ziggurat.normal, 52, ziggurat.NORMAL_EDGE, lambda x: mpmath.exp(-x * x / 2)),
    "exponential": (ziggurat.exponential, 53, ziggurat.EXPONENTIAL_EDGE, lambda x: mpmath.exp(-x)),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_layers_have_one_area_and_end_at_the_density(name):
    make, bits, edge, density = DENSITIES[name]
    layers, heights = make()
    edges = [0.0, *(width * 2**bits for width, _ in layers[1:])]
    assert len(layers) == len(heights) == ziggurat.LAYERS
    assert edges[-1] == edge
    area = edge * density(edge) + mpmath.quad(density, [edge, edge + 5, mpmath.inf])
    assert layers[0][0] * 2**bits * heights[-1][0] == pytest.approx(float(area), rel=1e-13)
    for below, above in zip(range(1, 255), range(2, 256), strict=True):
        width = edges[above]
        assert heights[above][0] == pytest.approx(float(density(mpmath.mpf(width))), rel=1e-13)
        assert width * (heights[below][0] - heights[above][0]) == pytest.approx(float(area), rel=1e-10)
        assert layers[above][1] == pytest.approx(edges[below] / width * 2**bits, abs=3.0)
    assert layers[1][1] == 0
    assert math.isclose(layers[0][1], edge / (layers[0][0] * 2**bits) * 2**bits, rel_tol=1e-13)
