"""Pelts of hares and lynxes that the Hudson's Bay Company bought, 1900-1920, and the equations of Lotka and Volterra
that fit them best: the differential equation is solved inside the fit, and the fit is differentiated.

Draws `lynx_and_hare.svg`.
"""

import math
from pathlib import Path

import numpy as np

import rosejit as rose

YEARS = np.arange(21.0)
HARES = np.array([30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6])
HARES = np.concatenate([HARES, [14.6, 16.2, 24.7]])
LYNXES = np.array([4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7])
LYNXES = np.concatenate([LYNXES, [10.1, 8.6]])  # thousands (Elton and Nicholson 1942)


def change(t, state, births, hunt, deaths, feast):
    hares, lynxes = state
    return (births - hunt * lynxes) * hares, (feast * hares - deaths) * lynxes


def populations(p, times):
    """What six numbers, logarithms of rates and of the first year's animals, say of all years."""
    rates = (math.exp(p[0]), math.exp(p[1]), math.exp(p[2]), math.exp(p[3]))
    first = (math.exp(p[4]), math.exp(p[5]))
    return rose.solve_ivp(change, (0.0, 20.0), first, t_eval=times, args=rates, rtol=1e-8, atol=1e-8).y


def fit(hares, lynxes):
    def residuals(p):
        found = populations(p, YEARS)
        return np.log(found[0]) - np.log(hares), np.log(found[1]) - np.log(lynxes)

    start = np.log(np.array([0.5, 0.03, 0.8, 0.03, 30.0, 4.0]))
    return rose.least_squares(residuals, start)


@rose.jit
def fitted(hares, lynxes):
    return fit(hares, lynxes).x


@rose.jit
def births(hares, lynxes):
    return math.exp(fit(hares, lynxes).x[0])


def drawing(curves):
    """Both populations over the years, and the pelts."""
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 440 200" width="880">']
    for values, found, colour in ((HARES, curves[0], "#b8860b"), (LYNXES, curves[1], "#4682b4")):
        points = " ".join(
            f"{t * 20:.1f},{180 - 2 * y:.1f}" for t, y in zip(np.linspace(0, 20, 201), found, strict=True)
        )
        lines.append(f'<polyline class="run" points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for t, y in zip(YEARS, values, strict=True):
            lines.append(f'<circle class="point" cx="{t * 20:.1f}" cy="{180 - 2 * y:.1f}" r="3" fill="{colour}"/>')
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    p = fitted(HARES, LYNXES)
    print("births, hunt, deaths, feast:", [round(float(rate), 4) for rate in np.exp(p[:4])])
    assert np.allclose(np.exp(p[:4]), [0.55, 0.028, 0.80, 0.024], rtol=0.05)  # Stan's case study (Carpenter 2018)

    by_hares = rose.grad(births)(HARES, LYNXES)
    year = int(np.abs(by_hares).argmax())
    print(f"the births depend most on the hares of {1900 + year}: {by_hares[year]:.5f} a thousand")
    step = np.zeros(21)
    step[year] = 1e-3
    difference = (births(HARES + step, LYNXES) - births(HARES - step, LYNXES)) / 2e-3
    assert abs(by_hares[year] / difference - 1) < 1e-3

    Path("lynx_and_hare.svg").write_text(drawing(rose.jit(populations)(p, np.linspace(0, 20, 201))))
