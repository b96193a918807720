"""Images of uint8 and arrays of float32: what calls take, and the memory of an instance, beside the same in 64 bits.

*ms*: processor time of a call, arguments written and results read; both programs are made in one run and take turns.
*MiB*: the linear memory of one instance after it. *in 64 bits* is the same function compiled without
`select_storage`, so that the host widens arguments and narrows results.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, options, per_call_each
from rosejit.api import function
from rosejit.runtime.engine import Instance


def brighter(image: Any) -> Any:
    return image + np.uint8(3)


def histogram(image: Any) -> Any:
    counts = np.zeros(256, np.int64)
    for i in rose.range(image.shape[0]):
        for j in rose.range(image.shape[1]):
            counts[image[i, j]] += 1
    return counts


def blurred(image: Any) -> Any:
    n, m = image.shape
    out = np.zeros(image.shape, np.uint8)
    for i in rose.range(1, n - 1):
        for j in rose.range(1, m - 1):
            total = int(image[i - 1, j]) + int(image[i + 1, j]) + int(image[i, j - 1]) + int(image[i, j + 1])
            out[i, j] = np.uint8((total // 4) & 255)
    return out


def scaled(a: Any) -> Any:
    return a * np.float32(2.0) + np.float32(1.0)


def squares(a: Any) -> Any:
    return (a * a).sum()


def stepped(a: Any) -> Any:
    b = a.copy()
    for _ in rose.range(20):
        for i in rose.range(1, len(b) - 1):
            b[i] = b[i] + np.float32(0.1) * (b[i + 1] - b[i])
    return b


def product(a: Any, b: Any) -> Any:
    return a @ b


@contextmanager
def in_64_bits() -> Iterator[None]:
    """Functions compiled inside hold all numbers so."""
    with mock.patch.object(function, "borders_of", return_value={}):
        yield


def instances() -> dict[int, int]:
    """The bytes of all instances that there are."""
    gc.collect()
    return {id(one): one.memory.size() for one in gc.get_objects() if isinstance(one, Instance)}


def fresh(f: Callable[..., Any]) -> Callable[..., Any]:
    """What compiles `f` anew."""
    return rose.jit(cache=False)(lambda *xs: f(*xs))


def cases() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions with what they are called with."""
    made = np.random.default_rng(0)
    image = made.integers(0, 256, (4096, 4096)).astype(np.uint8)
    long, short = made.normal(size=10**7).astype(np.float32), made.normal(size=1000).astype(np.float32)
    square = made.normal(size=(128, 128)).astype(np.float32)
    return {
        "brighter 4096²": (brighter, (image,)), "histogram 4096²": (histogram, (image,)),
        "blurred 4096²": (blurred, (image,)), "blurred 64²": (blurred, (image[:64, :64].copy(),)),
        "scaled 10⁷": (scaled, (long,)), "squares 10⁷": (squares, (long,)), "squares 10³": (squares, (short,)),
        "gradient of squares 10⁷": (rose.grad(squares), (long,)), "stepped 10³": (stepped, (short,)),
        "product 128²": (product, (square, square)),
    }  # fmt: skip


def main() -> None:
    """The table."""
    given = options(__doc__ or "")
    columns = {"program": "", **dict.fromkeys(("ms", "wide_ms", "ratio"), ".3f"), "mib": ".1f", "wide_mib": ".1f"}
    table = Table("few_bits", "one call, and an instance; `wide` in 64 bits", columns)
    for name, (f, args) in cases().items():
        few, wide = fresh(f), fresh(f)
        before = instances()
        few(*args)
        with_few = instances()
        with in_64_bits():
            wide(*args)
        with_both = instances()
        one, other = per_call_each(lambda f=few, a=args: f(*a), lambda f=wide, a=args: f(*a))
        table.add(
            program=name, ms=1e3 * one, wide_ms=1e3 * other, ratio=one / other,
            mib=max([size for key, size in with_few.items() if key not in before], default=0) / 2**20,
            wide_mib=max([size for key, size in with_both.items() if key not in with_few], default=0) / 2**20,
        )  # fmt: skip
    table.finish(given.json)


if __name__ == "__main__":
    main()
