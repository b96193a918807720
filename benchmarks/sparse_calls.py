"""Sparse derivatives beside CasADi's, of the race car that CasADi's own examples have: minimal time over `N` intervals
with Runge-Kutta steps, multiple shooting, a limit of the speed along the track. n = 3 N + 3 unknowns.

An interpreter runs it that has CasADi. `csr` is a call that gives a csr matrix; `values` one that writes the values
into an array of the caller, by `.values(x, out=...)`; `casadi` is the call of a function of SX over buffers, its
cheapest, into arrays of the caller. `difference` is the largest of entries, relative to the largest entry.
"""

import importlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import HOW, Table, has, options, per_call_each
from rosejit import Vec

# CasADi has no types, and staged values are of none that a checker knows.
# pyright: basic


def constraints(z: Vec["n"]) -> Vec["m"]:
    """Dynamics between the points, the limit of the speed at each, and both ends."""
    return _constraints(z, (len(z) - 3) // 3, np.sin, np.concatenate)


def lagrangian(z: Vec["n"], weights: Vec["m"]) -> float:
    """The time, and the weighted constraints."""
    return z[len(z) - 1] + np.dot(weights, constraints(z))


def _constraints(z: Any, count: int, sin: Callable[[Any], Any], joined: Callable[[Any], Any]) -> Any:
    """The same text for NumPy and for CasADi."""
    position, speed = z[: count + 1], z[count + 1 : 2 * count + 2]
    throttle, step = z[2 * count + 2 : 3 * count + 2], z[3 * count + 2] / count
    p, v = position[:count], speed[:count]
    p1, v1 = v, throttle - v
    p2, v2 = v + step / 2 * v1, throttle - (v + step / 2 * v1)
    p3, v3 = v + step / 2 * v2, throttle - (v + step / 2 * v2)
    p4, v4 = v + step * v3, throttle - (v + step * v3)
    moved = p + step / 6 * (p1 + 2 * p2 + 2 * p3 + p4) - position[1:]
    faster = v + step / 6 * (v1 + 2 * v2 + 2 * v3 + v4) - speed[1:]
    slow = speed - (1 - sin(2 * np.pi * position) / 2)
    ends = [position[:1], speed[:1], position[count:] - 1]
    return joined([moved, faster, slow, *ends])


def casadi_functions(count: int) -> tuple[Any, Any]:
    """Jacobian and Hessian as CasADi makes them of SX."""
    casadi: Any = importlib.import_module("casadi")
    z = casadi.SX.sym("z", 3 * count + 3)
    found = _constraints(z, count, casadi.sin, lambda parts: casadi.vertcat(*parts))
    weights = casadi.SX.sym("weights", found.shape[0])
    whole = z[3 * count + 2] + casadi.dot(weights, found)
    jacobian = casadi.Function("jacobian", [z], [casadi.jacobian(found, z)])
    return jacobian, casadi.Function("hessian", [z, weights], [casadi.hessian(whole, z)[0]])


def buffered(function: Any, args: tuple[Any, ...]) -> tuple[Callable[[], None], Any]:
    """CasADi's call over buffers, and the array of its result: values by columns."""
    held, trigger = function.buffer()
    for k, argument in enumerate(args):
        held.set_arg(k, memoryview(argument))
    out = np.zeros(function.nnz_out(0))
    held.set_res(0, memoryview(out))
    return partial(_call, trigger, (function, held, args, out)), out


def _call(trigger: Callable[[], None], alive: Any) -> None:
    """CasADi keeps nothing `alive` of what the call needs."""
    trigger()


def by_rows(function: Any, values: Any) -> Any:
    """The matrix that CasADi's values by columns are."""
    import scipy.sparse

    columns, rows = function.sparsity_out(0).get_ccs()
    return scipy.sparse.csc_matrix((values, rows, columns), function.size_out(0)).tocsr()


def difference(ours: Any, theirs: Any) -> float:
    return float(abs(ours - theirs).max() / abs(theirs).max())


def rows_of(table: Table, count: int) -> None:
    """Both matrices for so many intervals."""
    n, draw = 3 * count + 3, np.random.default_rng(0)
    z = np.concatenate([np.linspace(0.0, 1.0, count + 1), np.full(count + 1, 0.7), np.ones(count), [1.5]])
    weights = draw.normal(size=3 * count + 4)
    start = time.process_time()
    theirs = casadi_functions(count)
    casadi_build = time.process_time() - start
    made = (("Jacobian", rose.sparse_jacobian(rose.jit(cache=False)(constraints)), (z,)),
            ("Hessian", rose.sparse_hessian(rose.jit(cache=False)(lagrangian)), (z, weights)))  # fmt: skip
    for (what, ours, args), function in zip(made, theirs, strict=True):
        start = time.process_time()
        matrix = ours(*args)
        first = time.process_time() - start
        trigger, out = buffered(function, args)
        trigger()
        values = ours.values(*args)
        calls = (
            lambda f=ours, a=args: f(*a),
            lambda f=ours, a=args, v=values: f.values(*a, out=v),
            trigger,
        )
        csr, alone, casadi = [1e6 * seconds for seconds in per_call_each(*calls)]
        table.add(
            what=what, n=n, entries=matrix.nnz, csr=csr, values=alone, casadi=casadi, **{"csr/casadi": csr / casadi},
            **{"values/casadi": alone / casadi, "first ms": 1e3 * first, "casadi ms": 1e3 * casadi_build},
            difference=difference(matrix, by_rows(function, out)),
        )  # fmt: skip


def main() -> None:
    """The table."""
    given = options(__doc__ or "", intervals=[100, 4000])
    columns = {"what": "", "n": ",", "entries": ",", **dict.fromkeys(("csr", "values", "casadi"), ",.1f")}
    columns |= {"csr/casadi": ".2f", "values/casadi": ".2f", "first ms": ",.0f", "casadi ms": ",.0f"}
    title = "sparse derivatives of the race car (us of CPU a call)"
    table = Table("sparse_calls", title, columns | {"difference": ".0e"})
    if not has("casadi"):
        print(f"absent: casadi ({HOW['casadi']})")
        return
    for count in given.intervals:
        rows_of(table, count)
    table.finish(given.json)


if __name__ == "__main__":
    main()
