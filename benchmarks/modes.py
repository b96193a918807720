"""Derivatives of other kinds, each in two ways: several tangents at once and one by one, mixed mode and reverse mode,
checkpointed and not, sparse and dense Hessians, a batch on two threads and on one."""

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import PEER_PYTHON, PEERS, Table, once, options, peer_has, per_call, process
from rosejit import Mat, Vec
from rosejit.transforms.autodiff import mixed_mode as mixed
from rosejit.transforms.jacobians import columns


def pendulum(x: float, v: float, k: float, c: float):
    for _ in rose.range(1000):
        v = v + 0.01 * (-k * math.sin(x) - c * v)
        x = x + 0.01 * v
    return x, v


def layer(x: Vec["n"], w: Mat["n", "n"]):
    return [math.tanh(sum(w[i, j] * x[j] for j in rose.range(len(x)))) for i in rose.range(len(x))]


def relaxed(x: Vec["n"]):
    y = x.copy()
    for _ in rose.range(20):
        for i in rose.range(len(x)):
            y[i] = math.sin(y[i]) + 0.5 * y[i - 1]
    return y


def rosenbrock(x: Vec["n"]) -> float:
    total = 0.0
    for i in rose.range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def one_input(x: float) -> float:
    a = math.sin(x) * x + math.exp(-x * x)
    b = math.sqrt(a * a + 1.0) * math.tanh(a)
    return b / (1.0 + b * b) + math.log(1.0 + a * a)


def two_inputs(x: float, w: float) -> float:
    a = math.sin(x * w) * x + math.exp(-x * x) * w
    b = math.sqrt(a * a + 1.0) * math.tanh(a * w)
    return b / (1.0 + b * b) + math.log(1.0 + a * a)


def root(a: float) -> float:
    y = a
    while abs(y * y - a) > 1e-12:
        y = 0.5 * (y + a / y)
    return y


def settle(x: float, a: float) -> float:
    for _ in rose.range(100):
        x = x + 0.01 * math.sin(x * a)
    return x


def steps(step: Callable[..., Any]) -> rose.Function:
    @rose.jit(cache=False)
    def run(x: float, a: float) -> float:
        for _ in rose.range(1000):
            x = step(x, a) - 0.1
        return x * x

    return run


def over_all(kernel: rose.Function) -> rose.Function:
    return rose.jit(cache=False)(lambda *xs: rose.vmap(kernel)(*xs).sum())


def fresh(f: Callable[..., Any]) -> rose.Function:
    """`f` compiled anew, whatever has been switched."""
    return rose.jit(cache=False)(f)


def difference(one: Any, other: Any) -> float:
    """The largest, relative to the largest entry."""
    if isinstance(one, tuple):
        return max(difference(a, b) for a, b in zip(one, other, strict=True))
    return float(np.abs(np.subtract(one, other)).max() / max(np.abs(other).max(), 1e-300))


def wide(table: Table) -> None:
    x, w = np.linspace(0.1, 1.0, 100), np.random.default_rng(0).normal(size=(50, 50)) / 7
    cases: list[tuple[str, Any, Any, Any, tuple[Any, ...]]] = [
        ("jacfwd of a pendulum, 4 inputs", rose.jacfwd, pendulum, (0, 1, 2, 3), (0.3, 0.1, 1.0, 0.1)),
        ("jacfwd of a layer, 50 inputs", rose.jacfwd, layer, 0, (x[:50], w)),
        ("jacfwd of a relaxation, 100 inputs", rose.jacfwd, relaxed, 0, (x,)),
        ("hessian of Rosenbrock, 100 inputs", rose.hessian, rosenbrock, 0, (x,)),
    ]
    most = columns.LANES
    for name, transform, f, argnums, args in cases:
        made = transform(fresh(f), argnums)
        made(*args)
        columns.LANES = 1
        other = transform(fresh(f), argnums)
        other(*args)
        columns.LANES = most
        add(table, name, "4 tangents at once", "one by one", made, other, args)


def add(table: Table, name: str, this: str, that: str, one: Any, other: Any, args: tuple[Any, ...]) -> None:
    """A row: `one` beside `other`, measured in turns."""
    figures = [min(per_call(lambda f=f: f(*args), batches=3) for _ in range(3)) for f in (one, other)]
    tape = [f.lower(*args).cost().tape_bytes for f in (one, other)]
    table.add(
        what=name, this=this, us=1e6 * figures[0], that=that, other_us=1e6 * figures[1], ratio=figures[1] / figures[0],
        tape=tape[0], other_tape=tape[1], difference=difference(one(*args), other(*args)),
    )  # fmt: skip


def mixed_mode(table: Table) -> None:
    for n in (10_000, 300_000):
        x, w = np.linspace(0.1, 2.0, n), np.linspace(1.0, 2.0, n)
        for f, args in ((one_input, (x,)), (two_inputs, (x, w)), (root, (x,))):
            found: list[Any] = []
            for mixed.ENABLED in (True, False):
                found.append(rose.grad(over_all(fresh(f)), tuple(range(len(args)))))
                found[-1](*args)
            mixed.ENABLED = True
            add(table, f"gradient of {n} times {f.__name__}", "mixed", "reverse", found[0], found[1], args)


def checkpoints(table: Table) -> None:
    again, kept = (rose.grad(steps(step), 1) for step in (rose.checkpoint(settle), fresh(settle)))
    add(table, "1000 steps of 100", "checkpointed", "kept", again, kept, (0.3, 1.1))


def sparse(table: Table) -> None:
    for n in (100, 10_000):
        x = np.linspace(-1.0, 2.0, n)
        hessian = rose.sparse_hessian(fresh(rosenbrock))
        first, found = once(lambda hessian=hessian, x=x: hessian(x))
        seconds = per_call(lambda hessian=hessian, x=x: hessian(x))
        row = {"what": f"Hessian of Rosenbrock, n = {n}: {hessian.colours(x).max() + 1} colours, {found.nnz} entries"}
        row |= {"this": "sparse", "us": 1e6 * seconds, "that": "its first call", "other_us": 1e6 * first}
        if n == 100:
            row["difference"] = difference(found.toarray(), rose.hessian(fresh(rosenbrock))(x))
        table.add(**row)
        if peer_has("casadi"):
            peer = process([PEER_PYTHON, str(PEERS / "casadi_sparse.py"), str(n)])
            assert peer["entries"] == found.nnz
            row = {"what": f"the same beside CasADi {peer['version']}", "this": "sparse", "us": 1e6 * seconds}
            row |= {"that": "CasADi's SX", "other_us": 1e6 * peer["seconds"], "ratio": seconds / peer["seconds"]}
            table.add(**row, difference=abs(found.sum() / peer["sum"] - 1.0))
            row = {"what": "from the function to the first Hessian", "this": "sparse", "us": 1e6 * first}
            row |= {"that": "CasADi's SX", "other_us": 1e6 * peer["first"], "ratio": first / peer["first"]}
            table.add(**row)


def threads(table: Table) -> None:
    """The processor time of two threads over the time of the wall: 2 where two cores are free."""
    kernel, x = fresh(settle), np.linspace(0.0, 1.0, 20_000)
    batch = rose.vmap(kernel, (0, None))
    halves = [x[: len(x) // 2], x[len(x) // 2 :]]
    batch(halves[0], 1.1)
    spent: list[float] = []

    def run(half: Any) -> None:
        before = time.thread_time()
        batch(half, 1.1)
        spent.append(time.thread_time() - before)

    run(halves[0])
    pair = [threading.Thread(target=run, args=(half,)) for half in halves]
    start = time.perf_counter()
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
    wall = time.perf_counter() - start
    row = {"this": "two threads, wall", "us": 1e6 * wall, "that": "CPU of both", "other_us": 1e6 * sum(spent[1:])}
    table.add(what="a batch of 20000", **row, ratio=sum(spent[1:]) / wall)


def main() -> None:
    given = options(__doc__ or "")
    forms = {"us": ",.1f", "other_us": ",.1f", "ratio": ".2f", "tape": ",", "other_tape": ",", "difference": ".0e"}
    order = ("what", "this", "us", "that", "other_us", "ratio", "tape", "other_tape", "difference")
    table = Table("modes", "microseconds of CPU a call, in two ways", {key: forms.get(key, "") for key in order})
    for part in (wide, mixed_mode, checkpoints, sparse, threads):
        part(table)
    table.finish(given.json)


if __name__ == "__main__":
    main()
