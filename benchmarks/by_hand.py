"""Jacobians and gradients as plain calls, beside C++ whose derivatives are written by hand (`peers/by_hand.cpp`): hand
tracking of GradBench (`ht`), log-sum-exp (`lse`), and the determinant by recursive minors (`det`); milliseconds of CPU.

The hand and its measured points are random, of the shapes that the eval uses; `peak` is what the process held at most,
over what it held before, in MB. *sse2*: the same C++ for 128 bits without fused products, as WebAssembly has them.
"""

import ctypes
import resource
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Row, Table, has_compiler, native, options, per_call_each
from benchmarks.programs import determinant
from rosejit import Array, Mat, Vec

BONES, FINGERS = 22, 5
VERTICES = 544
RNG = np.random.default_rng(31337)

# --- hand tracking


def rotation(r):
    """The rotation about a vector by its length."""
    angle = np.sqrt(r @ r)
    x, y, z = r / angle
    s, c = np.sin(angle), np.cos(angle)
    u = 1.0 - c
    return np.array([
        [x * x * u + c, x * y * u - z * s, x * z * u + y * s],
        [x * y * u + z * s, y * y * u + c, y * z * u - x * s],
        [x * z * u - y * s, y * z * u + x * s, z * z * u + c],
    ])  # fmt: skip


def bend(x, z):
    """The motion of a joint: by `x` about the first axis, then by `z` about the third."""
    cx, sx, cz, sz = np.cos(x), np.sin(x), np.cos(z), np.sin(z)
    return np.array(
        [[cz, -sz * cx, sz * sx, 0.0], [sz, cz * cx, -cz * sx, 0.0], [0.0, sx, cx, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )


def parent_of(bone):
    return -1 if bone == 0 else 0 if bone % 4 == 1 else bone - 1


@rose.jit
def positions(
    theta: Vec[26], relative: Array[22, 4, 4], inverse: Array[22, 4, 4], base: Mat[3, "v"], weights: Mat[22, "v"]
) -> Mat[3, "v"]:
    """Where the vertices of the hand are: 0-2 turn it, 3-5 shift it, four numbers bend each finger."""
    angles = [(0.0, 0.0) for _ in range(BONES)]
    for finger in range(FINGERS):
        t, first = theta[6 + 4 * finger : 10 + 4 * finger], 2 + 4 * finger
        angles[first], angles[first + 1], angles[first + 2] = (t[0], t[1]), (t[2], 0.0), (t[3], 0.0)
    absolute = []
    at = np.zeros_like(base)
    for bone in range(BONES):
        local = relative[bone] @ bend(*angles[bone])
        parent = parent_of(bone)
        absolute.append(local if parent < 0 else absolute[parent] @ local)
        motion = absolute[bone] @ inverse[bone]
        at += weights[bone] * (motion[:3, :3] @ base + motion[:3, 3:])
    return rotation(theta[:3]) @ at + theta[3:6, None]


@rose.jit
def errors(
    theta: Vec[26], relative: Array[22, 4, 4], inverse: Array[22, 4, 4], base: Mat[3, "v"], weights: Mat[22, "v"],
    which: Array["n", int], points: Mat[3, "n"],
) -> Mat[3, "n"]:  # fmt: skip
    """How far each measured point is from its vertex."""
    return points - positions(theta, relative, inverse, base, weights)[:, which]


@rose.jit
def errors_in_triangles(
    free: Vec[28], us: Mat["n", 2], relative: Array[22, 4, 4], inverse: Array[22, 4, 4], base: Mat[3, "v"],
    weights: Mat[22, "v"], triangles: Array["t", 3, int], which: Array["n", int], points: Mat[3, "n"],
) -> Mat[3, "n"]:  # fmt: skip
    """How far each is from its point in a triangle; the first two numbers move these in all triangles alike, so that
    the Jacobian has two columns for all `us`."""
    at = positions(free[2:], relative, inverse, base, weights)
    corners = triangles[which]
    u, v = us[:, 0] + free[0], us[:, 1] + free[1]
    return points - (u * at[:, corners[:, 0]] + v * at[:, corners[:, 1]] + (1.0 - u - v) * at[:, corners[:, 2]])


def motions(count: int) -> np.ndarray:
    """Random rotations with shifts, as squares of four."""
    made = np.tile(np.eye(4), (count, 1, 1))
    made[:, :3, :3] = np.linalg.qr(RNG.normal(size=(count, 3, 3)))[0]
    made[:, :3, 3] = RNG.normal(size=(count, 3))
    return made


def hand(n: int) -> tuple[np.ndarray, ...]:
    """Angles, and a model with `n` measured points."""
    weights = RNG.uniform(size=(BONES, VERTICES))
    model = motions(BONES), motions(BONES), RNG.normal(size=(3, VERTICES)), weights / weights.sum(axis=0)
    return RNG.normal(size=26), *model, RNG.integers(0, VERTICES, n), RNG.normal(size=(3, n))


# --- log-sum-exp


@rose.jit
def lse(x: Vec["n"]) -> float:
    top = x[0]
    for i in rose.range(len(x)):
        top = max(top, x[i])
    total = 0.0
    for i in rose.range(len(x)):
        total += np.exp(x[i] - top)
    return top + np.log(total)


# --- beside C++

Case = tuple[str, str, Callable[[], Any], str, Callable[[ctypes.CDLL], Any]]


def pointers(*arrays: np.ndarray) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(a.ctypes.data) for a in arrays]


def lengths(*numbers: int) -> list[ctypes.c_long]:
    return [*map(ctypes.c_long, numbers)]


def tracking() -> Iterator[Case]:
    """Name, size, the call of ours, the library of the peer and its call, which gives fresh arrays as ours does."""
    simple, harder = rose.jacfwd(errors), rose.jacfwd(errors_in_triangles)
    for n in (1_600, 51_200):
        theta, *model, which, points = hand(n)
        us, triangles = RNG.uniform(0, 0.5, size=(n, 2)), RNG.integers(0, VERTICES, size=(1_000, 3))
        chosen, free = RNG.integers(0, 1_000, n), np.concatenate([np.zeros(2), theta])
        given = [theta, *model, which, points]
        more = [us, *model, triangles, chosen, points]

        def by_hand(call: Any, columns: int, *args: Any, n: int = n) -> np.ndarray:
            found, jacobian = np.empty((3, n)), np.empty((3, n, columns))
            call(*lengths(VERTICES, n), *pointers(*args, found, jacobian))
            return jacobian

        theirs = partial(_call, "hand_tracking", by_hand, 26, *given)
        yield "ht", f"{n}", partial(simple, *given), "by_hand", theirs
        theirs = partial(_call, "hand_tracking_complicated", by_hand, 28, theta, *more)
        yield "ht", f"{n}, us", partial(harder, free, *more), "by_hand", theirs


def _call(name: str, run: Callable[..., Any], *args: Any) -> Any:
    """`run` of a function of the library that comes last."""
    return run(args[-1][name], *args[:-1])


def soft(call: Any, x: np.ndarray) -> np.ndarray:
    found = np.empty_like(x)
    call(*lengths(len(x)), *pointers(x, found))
    return found


def maxima() -> Iterator[Case]:
    """As above."""
    gradient = rose.grad(lse)
    for n in (1_000, 100_000, 1_000_000):
        x = RNG.normal(size=n)
        yield "lse", f"{n}", partial(gradient, x), "by_hand", partial(_call, "lse_gradient", soft, x)


def minors() -> Iterator[Case]:
    """As above."""
    slope = rose.grad(determinant)
    for size in (5, 8, 10, 11):
        a = RNG.normal(size=(size, size))
        ours = partial(slope, a, 0, 2**size - 1)
        yield "det", f"{size}", ours, "programs", partial(_call, "determinant", soft, a)


EVALS = {"ht": tracking, "lse": maxima, "det": minors}


def held() -> float:
    """MB that the process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    asked = options(__doc__ or "", only="ht,lse,det", batches=9)
    form = {"eval": "", "size": "", "call": ".4f", "c++": ".4f", "sse2": ".4f", "ratio": ".2f", "peak": ".0f"}
    columns = {**form, "÷ sse2": ".2f"}
    table = Table("by_hand", "derivatives beside C++ by hand (ms of CPU)", columns)
    if not has_compiler():
        table.absent.append("g++")
        return table.finish(asked.json)
    for name, size, ours, library, theirs in [case for eval_ in asked.only.split(",") for case in EVALS[eval_]()]:
        best, narrow = native(library), native(library, "-msse2")
        before = held()
        found = ours()
        row: Row = {"peak": held() - before}
        wanted = theirs(best)
        assert np.allclose(found, wanted, rtol=1e-8, atol=1e-8 * float(np.max(np.abs(wanted)))), (name, size)
        runs = ours, partial(theirs, best), partial(theirs, narrow)
        call, cpp, sse2 = per_call_each(*runs, batches=asked.batches)
        times = {"call": 1e3 * call, "c++": 1e3 * cpp, "sse2": 1e3 * sse2}
        table.add(eval=name, size=size, ratio=call / cpp, **times, **{"÷ sse2": call / sse2}, **row)
    return table.finish(asked.json)


if __name__ == "__main__":
    main()
