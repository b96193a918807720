"""Linear regression by gradient descent: the first listing of the Rose paper, on Anscombe's quartet and on real data.

The sum of squares is an ordinary Python function; its gradient, its Hessian and the descent itself are compiled.
Prints the fits, compares them with `numpy.linalg.lstsq`, and writes the plot `linear_regression.svg`.
"""

import time
from pathlib import Path

import numpy as np

import rosejit as rose
from rosejit import Mat, Vec

# F. J. Anscombe, Graphs in Statistical Analysis, The American Statistician 27 (1973).
X123 = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
ANSCOMBE = {
    "I": (X123, [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]),
    "II": (X123, [9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74]),
    "III": (X123, [7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73]),
    "IV": (
        [8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8],
        [6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89],
    ),
}

FEATURES = "intercept age sex bmi bp s1 s2 s3 s4 s5 s6"


@rose.jit
def sqr(x: float) -> float:
    return x * x


@rose.jit
def least_squares(x: Mat["n", "m"], y: Vec["n"], b0: float, b: Vec["m"]) -> float:
    total = 0.0
    for i in rose.range(len(y)):
        y_hat = b0
        for j in rose.range(len(b)):
            y_hat += x[i, j] * b[j]
        total += sqr(y[i] - y_hat)
    return total


gradient = rose.grad(least_squares, argnums=(2, 3))


@rose.jit
def descend(x: Mat["n", "m"], y: Vec["n"], b0: float, b: Vec["m"], eta: float, steps: int) -> tuple[float, Vec["m"]]:
    """Take `steps` steps downhill, each `eta` times the gradient."""
    for _ in rose.range(steps):
        db0, db = gradient(x, y, b0, b)
        b0 = b0 - eta * db0
        b = [b[j] - eta * db[j] for j in rose.range(len(b))]
    return b0, b


def fit(x, y, eta, steps, tolerance):
    """Descend from zero, `steps` at a time, until so many move no parameter by more than `tolerance` of itself."""
    b0, b = 0.0, np.zeros(x.shape[1])
    for done in range(steps, 100 * steps, steps):
        before = np.array([b0, *b])
        b0, b = descend(x, y, b0, b, eta, steps)
        moved = np.max(np.abs(before / [b0, *b] - 1))
        print(f"  {done:7,} steps   loss {least_squares(x, y, b0, b):.10g}   moved {moved:.1e}", flush=True)
        if moved <= tolerance:
            return b0, b
    raise SystemExit("did not converge")


def exact(x, y):
    """The minimum by linear algebra, intercept first."""
    return np.linalg.lstsq(np.column_stack([np.ones(len(y)), x]), y, rcond=None)[0]


def anscombe():
    """Fit the four data sets as the paper does: step 1e-4, until nothing moves any more."""
    x, y = np.array(ANSCOMBE["I"][0], float).reshape(-1, 1), np.array(ANSCOMBE["I"][1])
    assert abs(least_squares(x, y, 0.0, np.zeros(1)) - 660.1727) < 1e-9
    db0, db = gradient(x, y, 0.0, np.zeros(1))
    assert abs(db0 + 165.02) < 1e-9
    assert abs(db[0] + 1595.2) < 1e-9

    fits = {}
    for name, (xs, ys) in ANSCOMBE.items():
        print(f"Anscombe {name}")
        x, y = np.array(xs, float).reshape(-1, 1), np.array(ys)
        b0, b = fits[name] = fit(x, y, eta=1e-4, steps=20_000, tolerance=0)
        print(f"  y = {b0:.12g} + {b[0]:.12g} x")
        assert np.allclose((b0, *b), exact(x, y), rtol=1e-9, atol=0)
    assert abs(fits["I"][0] - 3.00009090909) < 1e-9
    assert abs(fits["I"][1][0] - 0.500090909091) < 1e-9
    return fits


def diabetes():
    """Fit 442 patients with 10 features each; the compiled Hessian says how long a step may be."""
    try:
        from sklearn.datasets import load_diabetes
    except ImportError:
        print("Diabetes: left out, its data come with scikit-learn (pip install scikit-learn)")
        return
    print("Diabetes")
    x, y = load_diabetes(return_X_y=True)
    (h00, h01), (h10, h11) = rose.hessian(least_squares, argnums=(2, 3))(x, y, 0.0, np.zeros(10))
    hessian = np.block([[np.reshape(h00, (1, 1)), np.reshape(h01, (1, 10))], [np.reshape(h10, (10, 1)), h11]])
    curvature = np.linalg.eigvalsh(hessian)
    best = exact(x, y)
    b0, b = fit(x, y, 2 / (curvature[0] + curvature[-1]), steps=50_000, tolerance=1e-7)
    for name, ours, lstsq in zip(FEATURES.split(), (b0, *b), best, strict=True):
        print(f"  {name:9} {ours:17.10f}   lstsq {lstsq:17.10f}   relative difference {abs(ours / lstsq - 1):.1e}")
    assert np.allclose((b0, *b), best, rtol=1e-6, atol=0)


def panel(name, xs, ys, b0, slope):
    """One data set and its line, drawn in a box of 300 x 220 with the origin at its top left."""

    def at(x, y):
        return 34 + (x - 2) * 250 / 18, 196 - (y - 2) * 172 / 12

    marks = []
    for x in range(4, 21, 4):
        px, _ = at(x, 2)
        marks.append(f'<line class="grid" x1="{px:.1f}" y1="24" x2="{px:.1f}" y2="196"/>')
        marks.append(f'<text class="tick" x="{px:.1f}" y="211" text-anchor="middle">{x}</text>')
    for y in range(2, 15, 4):
        _, py = at(2, y)
        marks.append(f'<line class="grid" x1="34" y1="{py:.1f}" x2="284" y2="{py:.1f}"/>')
        marks.append(f'<text class="tick" x="28" y="{py + 3.5:.1f}" text-anchor="end">{y}</text>')
    (x1, y1), (x2, y2) = at(2, b0 + 2 * slope), at(20, b0 + 20 * slope)
    marks.append(f'<line class="fit" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
    for x, y in zip(xs, ys, strict=True):
        px, py = at(x, y)
        marks.append(f'<circle class="point" cx="{px:.1f}" cy="{py:.1f}" r="4.5"/>')
    marks.append(f'<text class="name" x="34" y="15">{name}</text>')
    marks.append(f'<text class="tick" x="284" y="15" text-anchor="end">y = {b0:.3f} + {slope:.3f} x</text>')
    return marks


def plot(fits, path):
    """Write the four panels as one SVG file."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 500" font-family="sans-serif">',
        "<style>.grid{stroke:#e4e4ec}.tick{font-size:10px;fill:#667}.name{font-size:13px;font-weight:bold;fill:#223}",
        ".fit{stroke:#d6336c;stroke-width:2}.point{fill:#3b5bdb;fill-opacity:.75;stroke:#fff}</style>",
        '<rect width="640" height="500" fill="#fff"/>',
        '<text class="name" x="44" y="28">Anscombe\'s quartet, fitted by gradient descent with rosejit</text>',
    ]
    for k, (name, (b0, b)) in enumerate(fits.items()):
        lines.append(f'<g transform="translate({10 + k % 2 * 310}, {40 + k // 2 * 226})">')
        lines += panel(name, *ANSCOMBE[name], b0, b[0])
        lines.append("</g>")
    lines.append("</svg>")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"plot: {path}")


if __name__ == "__main__":
    started = time.perf_counter()
    plot(anscombe(), "linear_regression.svg")
    diabetes()
    print(f"all fits agree with numpy.linalg.lstsq ({time.perf_counter() - started:.1f} s)")
