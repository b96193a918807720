"""The laws of derivatives (DESIGN section 4), as checks on any IR function at any point, to any order.

`JVP` is compared with central differences, and `VJP` with `JVP` by inner product; both are functions of the IR again,
so the same checks on them are the laws of the next order.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from rosejit import interp
from rosejit.ir.syntax import Function
from rosejit.ir.types import has_real
from rosejit.ir.verify import verify_program
from rosejit.transforms.autodiff.derivative_programs import cotangents, differentiable, pushforward

Run = Callable[[Function, Sequence[Any]], tuple[Any, ...]]


def numbers(value: Any) -> Iterator[float]:
    """The reals inside a value, in order."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers(item)


def with_numbers(value: Any, given: Iterator[float]) -> Any:
    """`value` with its reals replaced."""
    if isinstance(value, float):
        return next(given)
    if isinstance(value, list):
        return [with_numbers(item, given) for item in value]
    if isinstance(value, tuple):
        return tuple(with_numbers(item, given) for item in value)
    return value


def inner(a: Any, b: Any) -> float:
    return math.fsum(x * y for x, y in zip(numbers(a), numbers(b), strict=True))


def direction(rng: random.Random, values: Any) -> Any:
    return with_numbers(values, iter(lambda: rng.uniform(-1.0, 1.0), None))


def close(a: float, b: float, tolerance: float, scale: float) -> bool:
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b), scale)


verified = lru_cache(16)(verify_program)
"""Derivatives are made once for a function, and verified once, at however many points they are tried."""


def check_laws(
    f: Function,
    args: Sequence[Any],
    order: int = 2,
    *,
    seed: int = 0,
    run: Run = interp.run,
    differences: bool = True,
    tolerance: float = 1e-5,
) -> None:
    """Raises AssertionError where a law fails at `args`, up to `order`."""
    rng = random.Random(seed)
    args = list(args)
    mask = differentiable(f)
    active = [k for k, on in enumerate(mask) if on]
    reals = [args[k] for k in active]
    forward = pushforward(f, mask)
    verified(forward)
    dx = direction(rng, reals)
    out = run(forward, [*args, *dx])
    n = len(f.results)
    y, dy = list(out[:n]), list(out[n:])
    real_y = [v for v, t in zip(y, f.results, strict=True) if has_real(t)]
    assert run(f, args) == tuple(y) or any(map(math.isnan, numbers(y))), "the primal changed"
    if differences:
        check_differences(f, args, active, dx, real_y, dy, run, tolerance)
    backward = cotangents(f, mask)
    verified(backward)
    ct = direction(rng, real_y)
    back = run(backward, [*args, *ct])
    assert list(back[:n]) == y, "the primal of the reverse pass changed"
    left, right = inner(ct, dy), inner(list(back[n:]), dx)
    scale = math.fsum(abs(a * b) for a, b in zip(numbers(ct), numbers(dy), strict=True))
    assert close(left, right, 1e-9, scale), f"<ct, J dx> = {left!r}, <J' ct, dx> = {right!r}"
    if order > 1:
        check_laws(
            forward, [*args, *dx], order - 1, seed=seed + 1, run=run, differences=differences, tolerance=tolerance
        )
        check_laws(
            backward, [*args, *ct], order - 1, seed=seed + 2, run=run, differences=differences, tolerance=tolerance
        )


def check_differences(
    f: Function,
    args: list[Any],
    active: list[int],
    dx: list[Any],
    y: list[Any],
    dy: list[Any],
    run: Run,
    tolerance: float,
) -> None:
    """JVP against central differences, with the first of three steps that is good enough."""
    errors: list[float] = []
    for step in (1e-5, 1e-4, 1e-6):
        ends: list[list[float]] = []
        for sign in (1.0, -1.0):
            moved = list(args)
            for k, d in zip(active, dx, strict=True):
                pairs = zip(numbers(args[k]), numbers(d), strict=True)
                moved[k] = with_numbers(args[k], iter([a + sign * step * b for a, b in pairs]))
            values = run(f, moved)
            ends.append([x for v, t in zip(values, f.results, strict=True) if has_real(t) for x in numbers(v)])
        quotient = [(a - b) / (2 * step) for a, b in zip(*ends, strict=True)]
        exact = list(numbers(dy))
        scale = max([1.0, *map(abs, exact), *map(abs, numbers(y))])
        errors.append(max([abs(a - b) / scale for a, b in zip(quotient, exact, strict=True)], default=0.0))
        if errors[-1] <= tolerance:
            return
    raise AssertionError(f"JVP differs from differences by {min(errors):.3g}")
