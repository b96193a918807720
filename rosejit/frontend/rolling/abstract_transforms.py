"""What is known of derivatives of functions in a loop that may be rolled."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable
from typing import Any

from rosejit.errors import RoseError
from rosejit.frontend.rolling import abstract_arrays, abstract_numbers
from rosejit.frontend.rolling.abstract_arrays import AbstractArray
from rosejit.frontend.rolling.abstract_helpers import AbstractClosure, cells_of
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, Constant, unroll
from rosejit.frontend.rolling.abstract_records import AbstractStructure, leaves, structured
from rosejit.ir.types import REAL
from rosejit.lazy_dataclass import dataclass

Invoke = Callable[..., Any]


@dataclass(slots=True, frozen=True, eq=False)
class AbstractDerivative:
    """A derivative of a function that is written in the loop. `kind` is what the transform says of itself."""

    kind: str
    base: Any
    argnums: Any
    __rose_abstract__ = True


def made(at: Any, transform: Constant, given: list[Any], named: dict[str, Any]) -> Any:
    """`rose.grad(f)` and its like: of a function that does not change with the loop the function itself."""
    given, named = [_known(value) for value in given], {name: _known(value) for name, value in named.items()}
    every = [*given, *named.values()]
    first: Any = given[0] if given else None
    if any(value.__class__ is not Constant for value in every[1:]):
        unroll("a derivative with respect to arguments that change")
    if first.__class__ in (AbstractClosure, AbstractDerivative):
        argnums = (given[1] if len(given) > 1 else named.pop("argnums", Constant(0))).value
        if len(given) > 2 or named or transform.value.__rose_transform__ == "other":
            unroll(f"`rose.{transform.value.__name__}` of a function that is written in the loop")
        return AbstractDerivative(transform.value.__rose_transform__, first, argnums)
    if first.__class__ is not Constant or not at.bound.isdisjoint(cells_of(first.value)):
        unroll("a derivative of a function that reads variables that the loop binds")
    try:
        return Constant(transform.value(*(each.value for each in given), **{k: v.value for k, v in named.items()}))
    except (RoseError, TypeError):
        return unroll("arguments that do not fit")


def _known(value: Any) -> Any:
    """`value`; a tuple of constants, as `argnums` are, as one constant."""
    if value.__class__ is AbstractStructure and all(leaf.__class__ is Constant for leaf in leaves(value)):
        return Constant(tuple(_known(item).value for item in value.items))
    return value


def result(at: Any, derivative: AbstractDerivative, given: list[Any], named: dict[str, Any], call: Invoke) -> Any:
    """What a derivative gives: the function is followed with staged arguments; its derivative is like them."""
    if named:
        unroll("a derivative is called with keywords")
    staged = [_parameter(at, value) for value in given]
    found = call(at, derivative.base, staged, {})
    places = derivative.argnums if isinstance(derivative.argnums, tuple) else (derivative.argnums,)
    if not all(isinstance(k, int) and -len(staged) <= k < len(staged) for k in places):
        unroll("arguments of a derivative by name")
    chosen = [_like(at, staged[k]) for k in places]
    by = AbstractStructure(chosen, tuple) if isinstance(derivative.argnums, tuple) else chosen[0]
    if derivative.kind in ("gradient", "value and gradient", "hessian") and not _is_real(found):
        unroll("a gradient of something else than a number")
    match derivative.kind:
        case "gradient":
            return by
        case "value and gradient":
            return AbstractStructure([abstract_numbers.staged(REAL), by], tuple)
        case "hessian":
            return _product(at, by, by)
        case _:
            return _product(at, found, by)


def _parameter(at: Any, value: Any) -> Any:
    """An argument as the function has it, whose parameters are staged."""
    value = structured(value, lambda part: at.classified(part, "*"))
    if value.__class__ is AbstractStructure:
        return value.with_items([_parameter(at, item) for item in value.items])
    if value.__class__ is AbstractArray:
        return abstract_arrays.fresh(at.contents, value.shape, value.kind)
    if value.__class__ is AbstractNumber or abstract_numbers.is_known_number(value):
        return abstract_numbers.staged(abstract_numbers.number(value).kind)
    return value


def _like(at: Any, value: Any) -> Any:
    """The gradient with respect to an argument, which is like it."""
    if any(leaf.__class__ not in (AbstractNumber, AbstractArray) or leaf.kind is not REAL for leaf in leaves(value)):
        unroll("a derivative with respect to something else than reals")
    return _parameter(at, value)


def _is_real(value: Any) -> bool:
    return value.__class__ is AbstractNumber and value.kind is REAL


def _product(at: Any, outer: Any, inner: Any) -> Any:
    """The Jacobian of a number or an array by another."""
    shapes: list[tuple[int, ...]] = []
    for value in (outer, inner):
        if value.__class__ not in (AbstractNumber, AbstractArray) or value.kind is not REAL:
            unroll("a Jacobian of something else than reals")
        shapes.append(value.shape if value.__class__ is AbstractArray else ())
    shape = shapes[0] + shapes[1]
    return abstract_arrays.fresh(at.contents, shape, REAL) if shape else abstract_numbers.staged(REAL)
