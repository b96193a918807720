"""A small LeNet learns to read digits: convolutions as loops of plain Python, pooling, log-softmax, momentum.

The 1,797 digits of 8 by 8 points that scikit-learn ships are those of E. Alpaydin and C. Kaynak, Optical Recognition of
Handwritten Digits, UCI (1998). Four in five of them are learnt from. Compares the gradient with differences, prints the
losses, and draws the kernels of the first layer and digits that were misread: `lenet.svg`.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import rosejit as rose

CLASSES, BATCH, EPOCHS, RATE, MOMENTUM = 10, 16, 8, 0.02, 0.9
SHAPES = [(6, 1, 3, 3), (6,), (16, 6, 3, 3), (16,), (64, 32), (32,), (32, CLASSES), (CLASSES,)]


def convolved(x, w, b):
    """Images, and for each a stack of them: sums over windows as large as the kernels, nothing around."""
    n, channels, height, width = x.shape
    features, _, k, _ = w.shape
    y = np.zeros((n, features, height - k + 1, width - k + 1))
    for i in range(n):
        for f in range(features):
            for r in range(height - k + 1):
                for c in range(width - k + 1):
                    total = b[f]
                    for channel in range(channels):
                        for u in range(k):
                            for v in range(k):
                                total += x[i, channel, r + u, c + v] * w[f, channel, u, v]
                    y[i, f, r, c] = total
    return y


def pooled(x):
    """The largest of each four neighbours."""
    n, channels, height, width = x.shape
    return x.reshape(n, channels, height // 2, 2, width // 2, 2).max(axis=(3, 5))


def log_softmax(x):
    """Logarithms of probabilities."""
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def network(weights, images):
    """The logarithms of how likely each digit is."""
    w1, b1, w2, b2, w3, b3, w4, b4 = weights
    border = ((0, 0), (0, 0), (1, 1), (1, 1))
    h = pooled(np.maximum(convolved(np.pad(images, border), w1, b1), 0.0))
    h = pooled(np.maximum(convolved(np.pad(h, border), w2, b2), 0.0))
    h = np.maximum(h.reshape(len(images), -1) @ w3 + b3, 0.0)
    return log_softmax(h @ w4 + b4)


def loss(weights, images, wanted):
    """The mean of the negative logarithms of what is right, which `wanted` has as ones."""
    return -np.sum(network(weights, images) * wanted) / len(images)


@rose.jit
def step(weights, velocities, images, wanted):
    """One step of gradient descent with momentum."""
    value, gradient = rose.value_and_grad(loss)(weights, images, wanted)
    velocities = [MOMENTUM * v - RATE * g for v, g in zip(velocities, gradient, strict=True)]
    return value, [w + v for w, v in zip(weights, velocities, strict=True)], velocities


def learnt(images, wanted, rng):
    """The weights, and the mean loss of each epoch."""
    fans = [int(np.prod(shape[1:])) if len(shape) == 4 else shape[0] for shape in SHAPES]
    weights = [
        rng.normal(size=shape) * np.sqrt(2.0 / fan) if len(shape) > 1 else np.zeros(shape)
        for shape, fan in zip(SHAPES, fans, strict=True)
    ]
    velocities = [np.zeros(shape) for shape in SHAPES]
    losses = []
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        found = []
        for start in range(0, len(images) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            value, weights, velocities = step(weights, velocities, images[batch], wanted[batch])
            found.append(value)
        losses.append(np.mean(found))
        print(f"epoch {epoch + 1}: loss {losses[-1]:.4f}", flush=True)
    return weights, losses


def check(weights, images, wanted, rng):
    """The gradient along a direction, beside the difference of the loss there."""
    direction = [rng.normal(size=w.shape) for w in weights]
    gradient = rose.grad(loss)(weights, images, wanted)
    slope = sum(float(np.sum(g * d)) for g, d in zip(gradient, direction, strict=True))
    ends = [loss([w + h * d for w, d in zip(weights, direction, strict=True)], images, wanted) for h in (1e-6, -1e-6)]
    assert np.isclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-5), (slope, ends)


def picture(x, y, image, size, name):
    """An image as squares of grey."""
    lowest, highest = image.min(), image.max()
    grey = 255 - np.rint(255 * (image - lowest) / (highest - lowest)).astype(int)
    squares = "".join(
        f'<rect x="{x + size * c}" y="{y + size * r}" width="{size}" height="{size}" '
        f'fill="rgb({grey[r, c]},{grey[r, c]},{grey[r, c]})"/>'
        for r, c in np.ndindex(*image.shape)
    )
    return f'<g class="{name}">{squares}</g>'


def drawing(kernels, losses, misread):
    """The kernels, the losses, and digits that are taken for others."""
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 250" font-family="sans-serif" font-size="13">']
    parts.append('<text x="20" y="24">kernels of the first layer</text>')
    parts += [picture(20 + 55 * k, 36, kernel[0], 15, "kernel") for k, kernel in enumerate(kernels)]
    points = " ".join(
        f"{400 + 290 * k / (len(losses) - 1):.1f},{90 - 50 * v / losses[0]:.1f}" for k, v in enumerate(losses)
    )
    parts.append('<text x="400" y="24">loss by epoch</text>')
    parts.append(f'<polyline class="loss" points="{points}" fill="none" stroke="steelblue" stroke-width="2"/>')
    parts.append('<text x="20" y="124">misread</text>')
    for k, (image, right, found) in enumerate(misread[:8]):
        parts.append(picture(20 + 85 * k, 136, image, 9, "digit"))
        parts.append(f'<text x="{20 + 85 * k}" y="228">{right}, not {found}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main():
    """Learn, test, draw."""
    rng = np.random.default_rng(0)
    pixels, labels = load_digits(return_X_y=True)
    images = pixels.reshape(-1, 1, 8, 8) / 16.0
    wanted = np.eye(CLASSES)[labels]
    order = rng.permutation(len(images))
    seen, held = order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]
    weights, losses = learnt(images[seen], wanted[seen], rng)
    check(weights, images[held[:4]], wanted[held[:4]], rng)
    answers = np.argmax(rose.jit(network)(weights, images[held]), axis=1)
    share = np.mean(answers == labels[held])
    print(f"{share:.1%} of {len(held)} digits that it has not seen are read right")
    assert share > 0.95
    wrong = [(images[k, 0], labels[k], a) for k, a in zip(held, answers, strict=True) if a != labels[k]]
    Path("lenet.svg").write_text(drawing(weights[0], losses, wrong))


if __name__ == "__main__":
    main()
