"""Hints to stand-ins for arguments that nobody gave: where a hint says all, no example is needed."""

import inspect
from typing import Any

from rosejit.api.function import Function
from rosejit.containers import KINDS
from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import ArrayOf, Nothing, Scalar, ShapeOf, Structure
from rosejit.frontend.hints.read_hints import parts_of

_CLASSES = {"real": float, "int": int, "bool": bool}
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def completed(f: Function, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """`given`, and what the hints say of the parameters behind it that have no default."""
    found = list(given)
    shown = f.__signature__.parameters
    for parameter in f.binding.parameters[len(given) :]:
        if parameter.kind not in _BY_POSITION or shown[parameter.name].default is not inspect.Parameter.empty:
            break
        example = _example(parameter.description)
        if example is None:
            raise StagingTypeError(
                f"to export `{f.__name__}` an example of `{parameter.name}` is needed",
                facts=("its hint does not say which types and shapes it has",),
                help=f"write `rose.export({f.__name__}, ...)` with an argument for each parameter, "
                "or `rose.ShapeOf(3, 4)` for an array of which only the shape matters, "
                '`rose.ShapeOf("n")` for one of any length; '
                "on the command line the same, behind the names of the functions",
            )
        found.append(example[0])
    return tuple(found)


def _example(description: Any) -> tuple[Any] | None:
    """What stands for a value of that description, in a tuple; None where the description leaves something open."""
    match description:
        case Scalar(kind=kind):
            return (ShapeOf(dtype=_CLASSES[kind]),)
        case ArrayOf(dims=dims, element=element) if dims is not None:
            sizes = [dim.size for dim in dims]
            if any(size is None for size in sizes):
                return None
            return (ShapeOf(*[size for size in sizes if size is not None], dtype=_CLASSES[element or "real"]),)
        case Structure():
            return _structure(description)
        case Nothing():
            return (None,)
        case _:
            return None


def _structure(description: Structure) -> tuple[Any] | None:
    parts = [_example(part) for part in parts_of(description)]
    values = [part[0] for part in parts if part is not None]
    if len(values) < len(parts):
        return None
    kind = KINDS[description.kind]
    return (kind.make(kind.described((), description.keys, description.cls), values),)
