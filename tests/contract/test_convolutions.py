"""Convolutional networks as users write them: LeNet and a SqueezeNet block, in plain loops and in windows.

Gradients are compared with each other, with differences, and with PyTorch's where that is installed.
"""

import importlib.util

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import rosejit as rose

RNG = np.random.default_rng(3)


def in_loops(x, w, b):
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


def in_windows(x, w, b):
    windows = sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwuv,ocuv->nohw", windows, w) + b[:, None, None]


def pooled_in_loops(x):
    n, channels, height, width = x.shape
    y = np.zeros((n, channels, height // 2, width // 2))
    for i in range(n):
        for c in range(channels):
            for r in range(height // 2):
                for q in range(width // 2):
                    best = x[i, c, 2 * r, 2 * q]
                    for u in range(2):
                        for v in range(2):
                            best = max(best, x[i, c, 2 * r + u, 2 * q + v])
                    y[i, c, r, q] = best
    return y


def pooled(x):
    n, channels, height, width = x.shape
    return x.reshape(n, channels, height // 2, 2, width // 2, 2).max(axis=(3, 5))


def padded(x):
    return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))


def log_softmax(x):
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def batch_norm(x, gain, offset):
    mean, var = x.mean(axis=(0, 2, 3), keepdims=True), x.var(axis=(0, 2, 3), keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * gain[:, None, None] + offset[:, None, None]


def lenet(conv, pool):
    def loss(p, x, wanted):
        h = pool(np.maximum(conv(padded(x), p[0], p[1]), 0.0))
        h = pool(np.tanh(conv(padded(h), p[2], p[3])))
        h = np.maximum(h.reshape(len(x), -1) @ p[4] + p[5], 0.0)
        return -np.sum(log_softmax(h @ p[6] + p[7]) * wanted) / len(x)

    return loss


def fire(conv, pool):
    """A fire block of SqueezeNet with batch norm: a few features of points, then of points and windows side by side."""

    def loss(p, x, wanted):
        h = np.maximum(batch_norm(conv(x, p[0], p[1]), p[2], p[3]), 0.0)
        points, windows = conv(h, p[4], p[5]), conv(padded(h), p[6], p[7])
        h = pool(np.maximum(np.concatenate([points, windows], axis=1), 0.0))
        return -np.sum(log_softmax(h.mean(axis=(2, 3))) * wanted) / len(x)

    return loss


def in_torch(torch, name, p, x, wanted):
    """The gradient of the same network."""
    F = torch.nn.functional
    p = [torch.tensor(v, requires_grad=True) for v in p]
    x, wanted = torch.tensor(x), torch.tensor(wanted)
    if name == "lenet":
        h = F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1], padding=1)), 2)
        h = F.max_pool2d(torch.tanh(F.conv2d(h, p[2], p[3], padding=1)), 2)
        h = F.relu(h.flatten(1) @ p[4] + p[5]) @ p[6] + p[7]
    else:
        h = F.relu(F.batch_norm(F.conv2d(x, p[0], p[1]), None, None, p[2], p[3], training=True))
        h = torch.cat([F.conv2d(h, p[4], p[5]), F.conv2d(h, p[6], p[7], padding=1)], 1)
        h = F.max_pool2d(F.relu(h), 2).mean((2, 3))
    loss = -(F.log_softmax(h, 1) * wanted).sum() / len(x)
    loss.backward()
    return [v.grad.numpy() for v in p]


def _arrays(*shapes):
    return tuple(RNG.normal(size=shape) * 0.4 for shape in shapes)


NETWORKS = {
    "lenet": (
        lenet,
        _arrays((4, 1, 3, 3), (4,), (6, 4, 3, 3), (6,), (24, 12), (12,), (12, 5), (5,)),
        RNG.normal(size=(3, 1, 8, 8)),
        np.eye(5)[[0, 3, 2]],
    ),
    "fire": (
        fire,
        _arrays((2, 4, 1, 1), (2,), (2,), (2,), (3, 2, 1, 1), (3,), (3, 2, 3, 3), (3,)),
        RNG.normal(size=(2, 4, 4, 4)),
        np.eye(6)[[0, 5]],
    ),
}
WAYS = {"loops": (in_loops, pooled_in_loops), "windows": (in_windows, pooled)}
HAS_TORCH = importlib.util.find_spec("torch") is not None


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients(name):
    make, p, x, wanted = NETWORKS[name]
    found = {way: rose.grad(make(*parts))(p, x, wanted) for way, parts in WAYS.items()}
    reference = in_torch(pytest.importorskip("torch"), name, p, x, wanted) if HAS_TORCH else found["windows"]
    for gradient in found.values():
        for one, other in zip(gradient, reference, strict=True):
            assert np.allclose(one, other, rtol=0.0, atol=1e-10)
    loss, direction = make(in_windows, pooled), [RNG.normal(size=v.shape) for v in p]

    def along(t):
        return loss([p[k] + t * direction[k] for k in range(len(p))], x, wanted)

    slope = sum(float(np.sum(g * d)) for g, d in zip(found["loops"], direction, strict=True))
    assert np.isclose(slope, (along(1e-6) - along(-1e-6)) / 2e-6, rtol=1e-6)
    forward = rose.jit(lambda t: rose.jvp(along, (t,), (1.0,))[1])
    assert np.isclose(forward(0.0), slope, rtol=1e-10)
    if name == "lenet":
        assert np.isclose(rose.grad(forward)(0.0), (forward(1e-6) - forward(-1e-6)) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_values(way):
    """The stack of images that is a single point, and kernels of one point and of the whole image."""
    conv, pool = WAYS[way]
    x, w, b = RNG.normal(size=(2, 3, 4, 4)), RNG.normal(size=(5, 3, 4, 4)), RNG.normal(size=5)
    assert np.allclose(rose.jit(conv)(x, w, b)[:, :, 0, 0], np.tensordot(x, w, ([1, 2, 3], [1, 2, 3])) + b)
    assert np.allclose(rose.jit(conv)(x, w[:, :, :1, :1], b), np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]) + b[
        :, None, None])  # fmt: skip
    assert np.array_equal(rose.jit(pool)(x), pooled(x))
