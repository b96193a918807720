"""`check_grads`: the derivatives of a function against differences and against each other."""

# The values are whatever a user's function takes and returns.

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rosejit.api.decorators import as_function
from rosejit.api.derivation.modes import jvp, vjp
from rosejit.api.public_entry import public
from rosejit.containers import is_complex, joined, of_argument, of_class, split
from rosejit.errors import RoseAssertionError, StagingTypeError
from rosejit.numeric import np


@public
def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("fwd", "rev"),
    *,
    rtol: float = 1e-5,
    atol: float = 1e-7,
    seed: int = 0,
) -> None:
    """Raises `RoseAssertionError` where a derivative of `f` at `args`, up to `order`, is wrong.

    Along one random direction the forward derivative is compared with central differences, and the reverse one (with
    "rev") with the forward one by inner product; then the derivatives of the modes asked for are checked in this way.

    >>> import rosejit as rose
    >>> rose.check_grads(lambda x: x * x * x, (1.5,), order=2)
    """
    base = as_function(f)
    if isinstance(modes, str) or not set(modes) <= {"fwd", "rev"}:
        raise StagingTypeError(
            f"`check_grads` knows no modes {modes!r}", help='`modes` is a tuple of "fwd", "rev", or both'
        )
    rng = random.Random(seed)
    args = tuple(args)
    tangents = tuple(_direction(rng, a) for a in args)
    y, dy = jvp(base, args, tangents)
    _against_differences(base, args, tangents, y, dy, rtol, atol)
    if "rev" in modes:
        ct = _direction(rng, y)
        _, pullback = vjp(base, *args)
        left, right = _inner(ct, dy), _inner(pullback(ct), tangents)
        scale = max(1.0, abs(left), sum(abs(a * b) for a, b in _pairs(ct, dy)))
        if not abs(left - right) <= max(1e-9, rtol * 1e-3) * scale:
            raise RoseAssertionError(
                f"reverse mode disagrees with forward mode: <ct, J dx> = {left!r}, <J' ct, dx> = {right!r}"
            )
    if order > 1:
        rest = {"order": order - 1, "modes": modes, "rtol": rtol * 10, "atol": atol * 10, "seed": seed + 1}
        if "fwd" in modes:
            check_grads(lambda *xs: jvp(base, xs, tangents)[1], args, **rest)
        if "rev" in modes:
            ct = _direction(rng, y)
            check_grads(lambda *xs: vjp(base, *xs)[1](ct), args, **rest)


def _against_differences(
    f: Callable[..., Any], args: tuple[Any, ...], tangents: tuple[Any, ...], y: Any, dy: Any, rtol: float, atol: float
) -> None:
    """The best of three steps: one is too long, another too short."""
    exact = list(_numbers(dy))
    scale = max([1.0, *map(abs, exact), *map(abs, _numbers(y))])
    best = float("inf")
    for step in (1e-4, 1e-5, 1e-6):
        ends = [list(_numbers(f(*_moved(args, tangents, sign * step)))) for sign in (1.0, -1.0)]
        found = [(a - b) / (2 * step) for a, b in zip(*ends, strict=True)]
        errors = [abs(a - b) for a, b in zip(found, exact, strict=True)]
        if not any(map(math.isnan, errors)):  # a NaN is greater than nothing: `max` would pass it over
            best = min(best, max(errors, default=0.0))
    if not best <= atol + rtol * scale:
        raise RoseAssertionError(f"forward mode differs from differences by {best:.3g}, of numbers up to {scale:.3g}")


# --- structures of numbers


def _parts(value: Any) -> Iterator[Any]:
    value = _told(value)
    container = of_class(type(value)) or of_argument(value)
    if container is not None:
        yield from container.parts(value)


def _told(value: Any) -> Any:
    """The parts of what is complex."""
    return split(value) if is_complex(value) else value


def _numbers(value: Any) -> Iterator[float]:
    """The reals of a structure, in order."""
    value = _told(value)
    if isinstance(value, float | np.floating):
        yield float(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            yield from map(float, value.ravel())
    else:
        for part in _parts(value):
            yield from _numbers(part)


def _rebuilt(value: Any, new: Callable[[float], Any]) -> Any:
    """`value` with every real `x` replaced by `new(x)`."""
    if isinstance(value, float | np.floating):
        return new(float(value))
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.array([new(float(x)) for x in value.ravel()]).reshape(value.shape)
    if is_complex(value):
        return joined(*[_rebuilt(part, new) for part in split(value)])
    container = of_class(type(value)) or of_argument(value)
    if container is None:
        return value
    return container.like(value, [_rebuilt(part, new) for part in container.parts(value)])


def _direction(rng: random.Random, value: Any) -> Any:
    """Random tangents or cotangents of `value`; what has none stays."""
    return _rebuilt(value, lambda _: rng.uniform(-1.0, 1.0))


def _moved(args: tuple[Any, ...], tangents: tuple[Any, ...], step: float) -> tuple[Any, ...]:
    steps = _numbers(tangents)
    return _rebuilt(args, lambda x: x + step * next(steps))


def _pairs(a: Any, b: Any) -> Iterator[tuple[float, float]]:
    """The reals that stand at the same place of both structures: of a cotangent and a tangent that are complex the
    latter is conjugate, as cotangents are told."""
    if is_complex(a) or is_complex(b):
        (p, q), (u, v) = split(a), split(b)
        yield from _pairs((p, q), (u, -v))
        return
    if isinstance(a, float | np.floating) and isinstance(b, float | np.floating):
        yield float(a), float(b)
    elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype.kind == b.dtype.kind == "f":
            yield from zip(map(float, a.ravel()), map(float, b.ravel()), strict=True)
    else:
        for one, other in zip(_parts(a), _parts(b), strict=True):
            yield from _pairs(one, other)


def _inner(a: Any, b: Any) -> float:
    return sum(x * y for x, y in _pairs(a, b))
