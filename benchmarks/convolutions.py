"""Gradients of a small LeNet and of a fire block of SqueezeNet, by batches of images, beside PyTorch on one thread.

`python -m benchmarks.convolutions` with PyTorch installed; networks as in `tests/contract/test_convolutions.py`.
*ms*: processor time of a call, median of batches that take turns; *first s*: of the first call, with an empty cache.
"""

import json
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import OUT, once, per_call_each
from tests.contract import test_convolutions as networks

SHAPES = {
    "lenet": [(6, 1, 3, 3), (6,), (16, 6, 3, 3), (16,), (64, 32), (32,), (32, 10), (10,)],
    "fire": [(8, 16, 1, 1), (8,), (8,), (8,), (16, 8, 1, 1), (16,), (16, 8, 3, 3), (16,)],
}
"""Of the parameters."""
IMAGES = {"lenet": ((1, 8, 8), 10), "fire": ((16, 12, 12), 32)}
"""Features, rows and columns of an image, and the number of classes."""


def measured(torch: Any, network: str, batch: int) -> list[dict[str, Any]]:
    """A row for each way to write it."""
    rng = np.random.default_rng(0)
    image, classes = IMAGES[network]
    p = tuple(rng.normal(size=shape) * 0.3 for shape in SHAPES[network])
    x, wanted = rng.normal(size=(batch, *image)), np.eye(classes)[rng.integers(0, classes, batch)]
    reference = networks.in_torch(torch, network, p, x, wanted)
    rows: list[dict[str, Any]] = []
    for way, parts in networks.WAYS.items():
        gradient = rose.grad(networks.NETWORKS[network][0](*parts))
        first, found = once(lambda f=gradient: f(p, x, wanted))
        error = max(float(np.max(abs(a - b))) for a, b in zip(found, reference, strict=True))
        calls = (
            lambda f=gradient: f(p, x, wanted),
            lambda: networks.in_torch(torch, network, p, x, wanted),
        )
        ours, theirs = per_call_each(*calls, batch=0.2, batches=5)
        times = {"first s": first, "ms": ours * 1e3, "torch ms": theirs * 1e3, "÷ torch": ours / theirs}
        rows.append({"network": network, "way": way, "batch": batch, **times, "error": error})
    return rows


def main() -> None:
    """The table, and the same as JSON."""
    import torch  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    batches = [("lenet", 1), ("lenet", 16), ("lenet", 128), ("fire", 1), ("fire", 16)]
    for network, batch in batches:
        rows += measured(torch, network, batch)
        for row in rows[-len(networks.WAYS) :]:
            print(
                "  ".join(f"{k} {v if isinstance(v, (str, int)) else f'{v:.3g}'}" for k, v in row.items()), flush=True
            )
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "convolutions.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
