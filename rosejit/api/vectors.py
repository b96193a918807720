"""Structures of numbers to one vector and back: what every solver works on. Staged, like the solvers."""

from typing import Any

from rosejit.errors import NotDifferentiable
from rosejit.frontend.values.pytree import parts, staged_leaf, with_parts
from rosejit.numeric import np


def flat(x: Any) -> Any:
    """The Reals in `x` as one vector."""
    found = _reals(x)
    if not found:
        raise NotDifferentiable(
            "there is no real number in the argument that is to be varied",
            help="give it as a float, as an array of floats, or as a structure of such",
        )
    return found[0] if len(found) == 1 else np.concatenate(found)


def _reals(x: Any) -> list[Any]:
    inside = parts(x)
    if inside is not None:
        return [found for part in inside for found in _reals(part)]
    return [_vector(x)] if is_real(x) else []


def is_real(x: Any) -> bool:
    """Whether `x` is a staged Real, or an array of them."""
    leaf = staged_leaf(x)
    return leaf is not None and "real" in (leaf.kind, leaf.element if leaf.kind == "array" else "")


def _vector(x: Any) -> Any:
    if x.leaf.kind != "array":
        return np.array([x])
    return x if x.ndim == 1 else x.ravel()


def unflat(like: Any, v: Any) -> Any:
    """A structure as `like` with its Reals from the vector `v`."""
    made, _ = _taken(like, v, 0)
    return made


def _taken(like: Any, v: Any, start: int) -> tuple[Any, int]:
    """The structure with its Reals from `v[start]` on, and where they end."""
    inside = parts(like)
    if inside is not None:
        made = []
        for part in inside:
            value, start = _taken(part, v, start)
            made.append(value)
        return with_parts(like, made), start
    if not is_real(like):
        return like, start
    if like.leaf.kind != "array":
        return v[start], start + 1
    end = start + like.size
    if like.ndim == 1 and len(v) == end and start == 0:
        return v, end
    return v[start:end].reshape(like.shape), end
