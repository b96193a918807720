"""Robertson's chemical reaction: rates from 0.04 to 3e7, from the first microsecond to the end of days.

One substance lives so briefly that explicit methods take a step for each of its lives; "Rodas5P" takes 200 over eleven
powers of ten. How the amounts depend on the three rates comes of the same steps. Draws `robertson.svg`.
"""

from pathlib import Path

import numpy as np

import rosejit as rose

RATES = np.array([0.04, 1e4, 3e7])
PUBLISHED = {  # of the first and the last substance: SUNDIALS, CVODE's example `cvRoberts_dns`, tolerance 1e-4
    4e-1: (9.8517e-01, 1.4794e-02),
    4e0: (9.0551e-01, 9.4466e-02),
    4e1: (7.1582e-01, 2.8417e-01),
    4e2: (4.5051e-01, 5.4949e-01),
    4e3: (1.8317e-01, 8.1683e-01),
}


def reaction(t, y, rates):
    slow, back, fast = rates
    made, undone, lost = slow * y[0], back * y[1] * y[2], fast * y[1] ** 2
    return np.array([undone - made, made - undone - lost, lost])


@rose.jit
def amounts(rates, times):
    """What there is of the three substances at some times: a row each."""
    start, atol = np.array([1.0, 0.0, 0.0]), np.array([1e-8, 1e-14, 1e-8])
    span = (0.0, times[-1])
    found = rose.solve_ivp(
        reaction, span, start, "Rodas5P", t_eval=times, args=(rates,), rtol=1e-7, atol=atol, max_steps=2000
    )
    return found.y, found.nit


def drawing(times, y, shares):
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 -20 520 340" width="1040" font-family="sans-serif">']
    lines.append('<rect x="-20" y="-20" width="520" height="340" fill="#fff"/>')
    left, right = np.log10(times[0]), np.log10(times[-1])
    x = 480 * (np.log10(times) - left) / (right - left)
    for power in range(int(left), int(right) + 1, 2):
        at = 480 * (power - left) / (right - left)
        lines.append(f'<line x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="290" stroke="#e9ecef"/>')
        lines.append(f'<text x="{at:.1f}" y="308" font-size="11" text-anchor="middle">1e{power} s</text>')
    for k, (colour, scale) in enumerate((("#d6336c", 1.0), ("#2b8a3e", 2e4), ("#3b5bdb", 1.0))):
        for values, top, unit, dash in ((scale * y[k], 130, 120, ""), (shares[k], 226, 27, "4 3")):
            points = " ".join(f"{a:.1f},{top - unit * b:.1f}" for a, b in zip(x, values, strict=True))
            lines.append(
                f'<polyline class="{"share" if dash else "amount"}" points="{points}" fill="none" stroke="{colour}"'
                f' stroke-width="2" stroke-dasharray="{dash}"/>'
            )
    lines.append('<text x="4" y="-4" font-size="12">amounts (the green one 20,000 times as large)</text>')
    lines.append('<text x="4" y="162" font-size="12">what 1 % more of each rate makes of the first: -2 % to 2 %</text>')
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    known, _ = amounts(RATES, np.array(list(PUBLISHED)))
    for k, (time, published) in enumerate(PUBLISHED.items()):
        print(f"at {time:6.1f} s: {known[0, k]:.5f} and {known[2, k]:.5f}, published {published}")
        assert np.allclose(known[[0, 2], k], published, rtol=5e-4)

    times = np.logspace(-5, 6, 200)
    y, steps = amounts(RATES, times)
    print(f"{steps} steps to {times[-1]:.0e} s; {abs(y.sum(0) - 1).max():.0e} of the substance is lost")
    assert abs(y.sum(0) - 1).max() < 1e-6

    by_rates = rose.jacfwd(lambda logs: np.log(amounts(np.exp(logs), times)[0][0]))(np.log(RATES))
    print("a per cent more of each rate changes the first, in the end, by", by_rates[-1].round(4), "per cent")
    assert abs(by_rates[-1].sum() + 1) < 0.05  # in the end it is c t ** -1, so times and rates scale alike
    Path("robertson.svg").write_text(drawing(times, y, by_rates.T))
