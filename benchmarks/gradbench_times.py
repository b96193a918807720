"""GradBench's workloads at sizes of its own, in milliseconds of CPU, beside hand-written C++ on the reference machine.

Inputs are random, of the shapes and distributions that the evals use; `tape` is what the reverse pass keeps. The
reference figures are those of the tool `manual` (for particle the `handcpp` of the same measurement).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.gradbench.task import functions
from benchmarks.measure import Row, Table, once, options, per_call

RNG = np.random.default_rng(31337)
CAMERA = [-0.758453, -1.109613, -0.845551, 34.556073, 39.676747, 53.881673, 419.194514, 5.864426, -8.51887, 0.087812]


def gmm(d: int, k: int, n: int = 1000) -> Row:
    mixture = {"alpha": RNG.normal(size=k), "mu": RNG.uniform(size=(k, d)), "q": RNG.normal(size=(k, d))}
    below, x = RNG.normal(size=(k, d * (d - 1) // 2)), RNG.normal(size=(n, d))
    return {"d": d, "k": k, "n": n, "m": 0, "gamma": 1.0, **mixture, "l": below, "x": x}


def lstm(layers: int, c: int, b: int = 14) -> Row:
    weights = {"main_params": RNG.uniform(size=(2 * layers, 4 * b)), "extra_params": RNG.uniform(size=(3, b))}
    return {**weights, "state": RNG.uniform(size=(2 * layers, b)), "sequence": RNG.integers(0, 2, size=(c, b))}


def kmeans(k: int, n: int, d: int) -> Row:
    points = RNG.uniform(size=(n, d))
    return {"points": points, "centroids": points[-k:]}


def ba(n: int, m: int, p: int) -> Row:
    observed = {"x": [7.203245, 0.001144, 3.023326], "w": 0.417022, "feat": [271.760969, 834.209256]}
    return {"n": n, "m": m, "p": p, "cam": [*CAMERA, 0.002739], **observed}


def workloads() -> Iterator[tuple[str, str, str, Row, float]]:
    """Eval, function, label, input, and the milliseconds of the reference."""
    for (d, k), primal, derivative in (((2, 5), 0.0714, 0.110), ((10, 25), 1.38, 2.54)):
        given = gmm(d, k)
        yield "gmm", "objective", f"{d}_{k}_1000", given, primal
        yield "gmm", "jacobian", f"{d}_{k}_1000", given, derivative
    given = lstm(2, 1024)
    yield "lstm", "objective", "l=2,c=1024", given, 1.17
    yield "lstm", "jacobian", "l=2,c=1024", given, 7.42
    for (k, n, d), primal, derivative in (((10, 1000, 8), 0.0192, 0.0224), ((100, 10000, 8), 1.85, 2.18)):
        given = kmeans(k, n, d)
        yield "kmeans", "cost", f"k={k},n={n},d={d}", given, primal
        yield "kmeans", "dir", f"k={k},n={n},d={d}", given, derivative
    for n, primal, derivative in ((16, 0.00192, 0.00333), (256, 0.0236, 0.0472), (16392, 1.5, 3.03)):
        given = {"x": RNG.uniform(size=128), "n": n}
        yield "llsq", "primal", f"n={n},m=128", given, primal
        yield "llsq", "gradient", f"n={n},m=128", given, derivative
    given = ba(49, 7776, 31843)
    yield "ba", "objective", "ba1", given, 0.678
    yield "ba", "jacobian", "ba1", given, 3.98
    for mode, reference in (("rr", 0.683), ("rf", 0.675), ("fr", 0.669), ("ff", 0.684)):
        yield "particle", mode, "w=0", {"w": 0.0}, reference


def measured(module: str, function: str, given: Any) -> Row:
    """One function of an eval, compiled, and then run."""
    task = functions(module)[function]
    arguments = task.arguments(given)
    lowered = task.function.lower(*arguments)
    first, run = once(lowered.compile)
    call = 1e3 * per_call(lambda: run(*arguments), batch=0.05, batches=7)
    return {"compile": 1e3 * first, "call": call, "tape": lowered.cost().tape_bytes, "bytes": len(lowered.wasm)}


def main() -> None:
    asked = options(__doc__ or "")
    title = "GradBench's workloads (ms of CPU; reference: hand-written C++ on another machine)"
    form = {"eval": "", "function": "", "workload": "", "compile": ".0f", "call": ".4f", "reference": ".4f"}
    table = Table("gradbench", title, {**form, "ratio": ".1f", "tape": ",", "bytes": ","})
    for module, function, label, given, reference in workloads():
        row = measured(module, function, given)
        ratio = row["call"] / reference
        table.add(eval=module, function=function, workload=label, reference=reference, ratio=ratio, **row)
    table.finish(asked.json)


if __name__ == "__main__":
    main()
