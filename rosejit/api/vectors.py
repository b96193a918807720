"""Structures of numbers to one vector and back: what every solver works on. Staged, like the solvers."""

from collections.abc import Sequence
from typing import Any

from rosejit import containers
from rosejit.errors import NotDifferentiable, ShapeError
from rosejit.frontend.values.pytree import attribute, parts, staged_leaf, with_parts
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


def in_order_of(like: Any, y: Any) -> Any:
    """What is in the structure `y`, in the order of `like`: parts that have names in both stand by their names, not by
    their places. Raises ShapeError where the names differ.
    """
    inside, wanted = parts(y), parts(like)
    if inside is None or wanted is None:
        return y
    (kind, given), (_, names) = _named(y), _named(like)
    if names and given:
        if {*names} != {*given}:
            found = f"the parts {_listed(names)} are needed, given {_listed(given)}"
            raise ShapeError(found, help="give all of them, by these names")
        inside = kind.picked(y, names, attribute)
    if len(inside) != len(wanted):
        return y
    return [in_order_of(each, part) for each, part in zip(wanted, inside, strict=True)]


def _named(x: Any) -> tuple[Any, tuple[Any, ...]]:
    """The kind of a structure, and the names of its parts, if they have any."""
    kind = containers.of_class(type(x))
    return kind, () if kind is None else kind.keys(x)


def _listed(names: Sequence[Any]) -> str:
    return ", ".join([repr(name) for name in names])


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
