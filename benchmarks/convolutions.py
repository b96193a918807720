"""The gradient of a small LeNet on batches of images of 8 by 8, beside PyTorch on one thread.

`python -m benchmarks.convolutions` with PyTorch installed; networks as in `tests/contract/test_convolutions.py`.
*ms*: processor time of a call, median of batches that take turns; *first s*: of the first call, with an empty cache.
"""

import json
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import OUT, once, per_call_each
from tests.contract import test_convolutions as networks

SHAPES = [(6, 1, 3, 3), (6,), (16, 6, 3, 3), (16,), (64, 32), (32,), (32, 10), (10,)]


def measured(torch: Any, batch: int) -> list[dict[str, Any]]:
    """A row for each way to write it."""
    rng = np.random.default_rng(0)
    p = tuple(rng.normal(size=shape) * 0.3 for shape in SHAPES)
    x, wanted = rng.normal(size=(batch, 1, 8, 8)), np.eye(10)[rng.integers(0, 10, batch)]
    reference = networks.in_torch(torch, "lenet", p, x, wanted)
    rows: list[dict[str, Any]] = []
    for way, parts in networks.WAYS.items():
        gradient = rose.grad(networks.lenet(*parts))
        first, found = once(lambda f=gradient: f(p, x, wanted))
        error = max(float(np.max(abs(a - b))) for a, b in zip(found, reference, strict=True))
        calls = (
            lambda f=gradient: f(p, x, wanted),
            lambda: networks.in_torch(torch, "lenet", p, x, wanted),
        )
        ours, theirs = per_call_each(*calls, batch=0.2, batches=5)
        times = {"first s": first, "ms": ours * 1e3, "torch ms": theirs * 1e3, "÷ torch": ours / theirs}
        rows.append({"way": way, "batch": batch, **times, "error": error})
    return rows


def main() -> None:
    """The table, and the same as JSON."""
    import torch  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for batch in (1, 16, 128):
        rows += measured(torch, batch)
        for row in rows[-len(networks.WAYS) :]:
            print(
                "  ".join(f"{k} {v if isinstance(v, (str, int)) else f'{v:.3g}'}" for k, v in row.items()), flush=True
            )
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "convolutions.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
