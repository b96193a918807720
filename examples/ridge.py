"""A curve through noisy points, and how much each of its terms should be held back.

A polynomial of degree 9 is fitted to 24 points, with a penalty for the size of each coefficient (ridge regression). The
ten penalties are found by descent: of the error on 24 other points, whose gradient goes through the fit by the
implicit function theorem. Draws `ridge.svg`: both sets of points, the fit with almost no penalties, and with those
found.
"""

from pathlib import Path

import numpy as np

import rosejit as rose

RNG = np.random.default_rng(5)
X = np.linspace(-1.0, 1.0, 48)
Y = np.sin(3.0 * X) + 0.35 * RNG.normal(size=48)
DEGREES = np.arange(10)
TERMS = X[:, None] ** DEGREES
SEEN, UNSEEN = slice(0, 48, 2), slice(1, 48, 2)


def fit(logs):
    """The coefficients that fit the seen points best, given the logarithms of the penalties."""

    def residuals(w):
        return TERMS[SEEN] @ w - Y[SEEN], np.exp(0.5 * logs) * w

    return rose.least_squares(residuals, np.zeros(10), gtol=1e-12).x


@rose.jit
def unseen_error(logs):
    missed = TERMS[UNSEEN] @ fit(logs) - Y[UNSEEN]
    return (missed * missed).mean()


search = rose.optim.lbfgs(unseen_error, bounds=(-12.0, 6.0), tolerance=1e-7)


def exact_gradient(logs):
    """The same by the closed form that ridge regression has: dw = -(A'A + P)^-1 P w."""
    a, b = TERMS[SEEN], TERMS[UNSEEN]
    inverse = np.linalg.inv(a.T @ a + np.diag(np.exp(logs)))
    w = inverse @ a.T @ Y[SEEN]
    return -2 / len(b) * (b @ w - Y[UNSEEN]) @ b @ inverse * np.exp(logs) * w


def drawing(curves):
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 -150 440 300" width="880">']
    lines.append('<rect x="-20" y="-150" width="440" height="300" fill="#fff"/>')
    at = np.linspace(-1.0, 1.0, 201)
    for w, colour in curves:
        y = at[:, None] ** DEGREES @ w
        points = " ".join(f"{200 + 200 * a:.1f},{-80 * b:.1f}" for a, b in zip(at, y, strict=True))
        lines.append(f'<polyline class="fit" points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for k, (x, y) in enumerate(zip(X, Y, strict=True)):
        fill = "#fff" if k % 2 else "#364fc7"
        lines.append(
            f'<circle class="point" cx="{200 + 200 * x:.1f}" cy="{-80 * y:.1f}" r="3" fill="{fill}" stroke="#364fc7"/>'
        )
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    start = np.full(10, -8.0)
    assert np.allclose(rose.grad(unseen_error)(start), exact_gradient(start), rtol=1e-4)

    found = search(start)
    print(f"error on the unseen points {unseen_error(start):.4f}, and with the penalties found {found.value:.4f}")
    assert found.converged
    assert found.value < 0.9 * unseen_error(start)
    truth = np.sin(3.0 * X)
    errors = [np.sqrt(((TERMS @ rose.jit(fit)(logs) - truth) ** 2).mean()) for logs in (start, found.x)]
    print("from the curve without noise: {:.4f}, and {:.4f}".format(*errors))
    assert errors[1] < errors[0]
    for degree, log in enumerate(found.x):
        print(f"  x ** {degree}: penalty {np.exp(log):.2g}")
    Path("ridge.svg").write_text(drawing(((rose.jit(fit)(start), "#adb5bd"), (rose.jit(fit)(found.x), "#d6336c"))))
