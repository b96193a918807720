"""GradBench's workloads, in milliseconds of CPU, beside C++ derivatives written by hand (`peers/gradbench.cpp`).

Inputs are random, of the shapes and distributions that the evals use. Both sides run in turns, in this process, and
must agree; `ratio` is ours by theirs, `primal` a derivative by the function it belongs to, `table` the milliseconds of
`manual` (for particle `handcpp`) on the machine of the reference table. `tape` is what the reverse pass keeps.
"""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.gradbench.task import functions
from benchmarks.measure import Row, Table, has_compiler, native, once, options, per_call_each

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


def llsq(n: int, m: int = 128) -> Row:
    return {"x": RNG.uniform(size=m), "n": n}


Workload = tuple[str, str, Callable[[], Row], dict[str, float]]


def workloads() -> Iterator[Workload]:
    """Eval, label, input, and the milliseconds of each function in the reference table, the primal first."""
    for d, k, primal, derivative in ((2, 5, 0.0714, 0.110), (10, 25, 1.38, 2.54), (64, 100, 44.9, 177.0)):
        yield "gmm", f"{d}_{k}_1000", lambda d=d, k=k: gmm(d, k), {"objective": primal, "jacobian": derivative}
    for n, m, p, primal, derivative in ((49, 7776, 31843, 0.678, 3.98), (356, 226730, 1255268, 27.6, 364.0)):
        sizes = {"objective": primal, "jacobian": derivative}
        yield "ba", f"n={n},m={m},p={p}", lambda n=n, m=m, p=p: ba(n, m, p), sizes
    for layers, c, primal, derivative in ((2, 1024, 1.17, 7.42), (6, 8192, 27.6, 452.0)):
        sizes = {"objective": primal, "jacobian": derivative}
        yield "lstm", f"l={layers},c={c}", lambda layers=layers, c=c: lstm(layers, c), sizes
    for k, n, d, primal, derivative in (
        (10, 1000, 8, 0.0192, 0.0224), (100, 10000, 8, 1.85, 2.18), (1000, 10000, 16, 38.7, 42.2)
    ):  # fmt: skip
        sizes = {"cost": primal, "dir": derivative}
        yield "kmeans", f"k={k},n={n},d={d}", lambda k=k, n=n, d=d: kmeans(k, n, d), sizes
    for n, primal, derivative in ((16, 0.00192, 0.00333), (256, 0.0236, 0.0472), (16392, 1.5, 3.03)):
        yield "llsq", f"n={n},m=128", lambda n=n: llsq(n), {"primal": primal, "gradient": derivative}
    yield "particle", "w=0", lambda: {"w": 0.0}, {"rr": 0.683, "rf": 0.675, "fr": 0.669, "ff": 0.684}


# --- the peer

Peer = Callable[[], Any]

LARGE = 1 << 20
"""Bytes of results from which the peer gets fresh arrays for each call, as a caller of ours does. The system clears
such memory; ours is recycled (`docs/arrays.md`), as NumPy around C++ would not do."""


def sizes_of(module: str, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The lengths that the C++ functions of an eval take first."""
    match module:
        case "gmm":
            return args[1].shape[1], len(args[0]), len(args[4])
        case "ba":
            return len(args[0]), len(args[1]), len(args[2])
        case "lstm":
            return len(args[0]) // 2, *args[3].shape
        case "kmeans":
            return len(args[0]), *args[1].shape
        case "llsq":
            return len(args[0]), args[1]
        case _:
            return ()


def outputs_of(module: str, function: str, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Arrays for what a C++ function gives; None where it returns a number."""
    match module, function:
        case "gmm", "jacobian":
            return tuple(map(np.empty_like, args[:4]))
        case "ba", "objective":
            return np.empty((len(args[2]), 2)), np.empty(len(args[2]))
        case "ba", "jacobian":
            p = len(args[2])
            return np.empty(3 * p + 1, np.int64), np.empty(31 * p, np.int64), np.empty(31 * p)
        case "lstm", "jacobian":
            return np.empty_like(args[0]), np.empty_like(args[1])
        case ("kmeans", "dir") | ("llsq", "gradient"):
            return (np.empty_like(args[0]),)
        case _:
            return None


def peer(library: ctypes.CDLL, module: str, function: str, args: tuple[Any, ...]) -> Peer:
    """A call of the C++ function of that name, its arguments converted already."""
    f = library["particle" if module == "particle" else f"{module}_{function}"]
    f.restype = ctypes.c_double
    outputs = outputs_of(module, function, args)
    arrays = [np.ascontiguousarray(a) for a in args if isinstance(a, np.ndarray)]
    numbers = [ctypes.c_double(a) for a in args] if module == "particle" else []
    given = [*map(ctypes.c_long, sizes_of(module, args)), *map(pointer, arrays)]
    results = [*map(pointer, outputs or ())]

    def call(_: Any = arrays) -> Any:
        number = f(*given, *results, *numbers)
        return number if outputs is None else outputs

    def call_with_fresh_results(_: Any = arrays) -> Any:
        fresh = tuple(map(np.empty_like, outputs or ()))
        f(*given, *map(pointer, fresh), *numbers)
        return fresh

    return call_with_fresh_results if sum(a.nbytes for a in outputs or ()) > LARGE else call


def pointer(array: Any) -> ctypes.c_void_p:
    """The address of an array's elements."""
    return ctypes.c_void_p(array.ctypes.data)


def agree(ours: Any, theirs: Any) -> bool:
    """Whether two results are the same numbers, to within rounding."""
    if isinstance(theirs, tuple) and isinstance(ours, tuple):
        return all(map(agree, ours, theirs))
    (theirs,) = theirs if isinstance(theirs, tuple) else (theirs,)
    return bool(np.allclose(ours, theirs, rtol=1e-8, atol=1e-8 * float(np.max(np.abs(theirs)))))


# --- the table


def measured(module: str, function: str, args: tuple[Any, ...], library: ctypes.CDLL | None) -> Row:
    """One function of an eval, compiled, checked, and then run in turns with its peer."""
    lowered = functions(module)[function].function.lower(*args)
    first, run = once(lowered.compile)
    row = {"compile": 1e3 * first, "tape": lowered.cost().tape_bytes, "bytes": len(lowered.wasm)}
    if library is None:
        (ours,) = per_call_each(lambda: run(*args))
        return {**row, "call": 1e3 * ours}
    other = peer(library, module, function, args)
    assert agree(run(*args), other()), f"{module}.{function} differs from C++"
    ours, theirs = per_call_each(lambda: run(*args), other)
    return {**row, "call": 1e3 * ours, "c++": 1e3 * theirs, "ratio": ours / theirs}


def main() -> None:
    asked = options(__doc__ or "", only="")
    here = "g++" not in asked.without and has_compiler()
    library = native("gradbench") if here else None
    title = "GradBench's workloads beside hand-written C++ (ms of CPU)"
    form = {"eval": "", "function": "", "workload": "", "compile": ".0f", "call": ".4f", "c++": ".4f", "ratio": ".2f"}
    columns = {**form, "primal": ".1f", "table": ".4f", "tape": ",", "bytes": ","}
    table = Table("gradbench", title, columns, absent=[] if here else ["g++"])
    for module, label, given, sizes in workloads():
        if asked.only and module not in asked.only.split(","):
            continue
        inputs, primal = given(), None
        for function, milliseconds in sizes.items():
            args = functions(module)[function].arguments(inputs)
            row = measured(module, function, args, library)
            against = None if primal is None else row["call"] / primal
            primal = primal or row["call"] if module != "particle" else None
            table.add(eval=module, function=function, workload=label, table=milliseconds, primal=against, **row)
    table.finish(asked.json)


if __name__ == "__main__":
    main()
