"""Writes the results of calls that Python makes to the arrays that `out=` gives."""

# The values are whatever a user's function gives.

from typing import Any

from rosejit.errors import StagingTypeError
from rosejit.frontend.values.pytree import parts, with_parts
from rosejit.numeric import np
from rosejit.runtime.marshalling.read_results import apart, checked


def placed(name: str, result: Any, out: Any) -> Any:
    """`result` of the function `name` with its arrays in those of `out`, which is structured as it is."""
    pairs: list[tuple[Any, Any]] = []
    made = _paired(result, out, pairs)
    if not pairs:
        raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
    apart([given for given, _ in pairs])
    for given, array in pairs:
        if given is not None:
            given[...] = array
    return made


def _paired(result: Any, out: Any, pairs: list[tuple[Any, Any]]) -> Any:
    if isinstance(result, np.ndarray):
        pairs.append((checked(out, result.shape, result.dtype), result))
        return result if out is None else out
    inside = parts(result)
    if inside is None:
        return result
    given = [None] * len(inside) if out is None else parts(out)
    if given is None or len(given) != len(inside):
        raise StagingTypeError(f"`out` must have the structure of the result, a {type(result).__name__}")
    return with_parts(result, [_paired(*pair, pairs) for pair in zip(inside, given, strict=True)])
