"""`taylor`: a function to its derivatives of all orders along a line."""

import inspect
import math
from collections.abc import Callable
from typing import Any

from rosejit.api import sessions
from rosejit.api.calling.specialisation import of_values, require_lengths
from rosejit.api.decorators import as_function, from_source
from rosejit.api.deferred import derivative_programs, pipeline
from rosejit.api.deferred import taylor as series
from rosejit.api.derivation.modes import given_trees, linear_atoms, linear_value
from rosejit.api.function import Function
from rosejit.api.public_entry import public
from rosejit.errors import StagingTypeError
from rosejit.frontend.session.session import Session
from rosejit.frontend.signature.binding import advanced
from rosejit.frontend.values.scalars import number_kind
from rosejit.ir import syntax as ir


@public
def taylor(f: Callable[..., Any], x: Any, v: Any, order: int) -> tuple[Any, ...]:
    """The derivatives of `t -> f(x + t v)` at 0: a tuple of `order + 1` results, the value first, each structured as
    what `f` returns.

    All come from one pass that computes truncated power series; its cost grows with the square of `order`, where nested
    `jvp` doubles with each. `v` is structured as `x`. Where `f` takes several arguments, `x` and `v` are tuples of
    them. Divided by `k!`, result `k` is the coefficient of `t ** k`. Raises `NotDifferentiable` where `jvp` does.

    Source: Griewank and Walther, Evaluating Derivatives (SIAM 2008), chapter 13.

    >>> import rosejit as rose
    >>> rose.taylor(lambda x: x * x * x, 2.0, 1.0, 4)
    (8.0, 12.0, 12.0, 6.0, 0.0)
    """
    base = as_function(f)
    order = _order(order)
    at = sessions.current()
    if at is not None:
        return _inside(at, base, x, v, order)
    return _of_order(base, order)(x, v)


def _order(order: Any) -> int:
    if number_kind(order) != "int" or order < 0:
        raise StagingTypeError(
            f"`taylor` takes its order as a whole number from 0, known when the function is staged, given {order!r}"
        )
    return int(order)


def _of_order(base: Function, order: int) -> Function:
    """`taylor` of `base` to that order as a function of a point and a direction, made once."""
    key = ("taylor", order)
    if key not in base.along:

        def both(x, v):
            return taylor(base, x, v, order)

        base.along[key] = from_source(both, base.options, (), f"taylor_{base.__name__}")
    return base.along[key]


def _inside(at: Session, base: Function, x: Any, v: Any, order: int) -> tuple[Any, ...]:
    primals, directions = (x, v) if _is_several(base, x) else ((x,), (v,))
    call, found = base.specialised(tuple(primals), {}, at)
    staged = of_values(found.staged)
    require_lengths(staged, "a Taylor series")
    args = tuple(sessions.arguments(at, staged, call))
    trees = given_trees(base, staged, len(primals))
    given = linear_atoms(at, trees, tuple(directions), len(args))
    b = sessions.builder(at)
    derived = series.taylor(pipeline.prepared(staged.function), tuple([dx is not None for dx in given]), order)
    pairs = zip(args, given, derived.mask, strict=True)
    moving = [dx or derivative_programs.zero(b, a) for a, dx, on in pairs if on]
    found = b.bind_all(ir.Call(derived.function, (*args, *moving)), derived.function.results, "y")
    n = len(staged.function.results)
    results, rest = found[:n], iter(found[n:])
    rows = [[next(rest) for _ in range(order)] if on else [None] * order for on in derived.results]
    value = sessions.value(at, staged.result, advanced(at.tape, call, tuple(results)), staged.statics)
    count = len(results) - staged.states
    orders: list[Any] = [value]
    for k in range(order):
        factor = float(math.factorial(k + 1))
        column = [None if c is None else series.scaled(b, c, factor) for c in [row[k] for row in rows[:count]]]
        orders.append(linear_value(at, b, staged.result, results[:count], column, staged.statics))
    return tuple(orders)


def _is_several(base: Function, x: Any) -> bool:
    """Whether `x` is the tuple of the arguments, and not the first of them."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    taken = [p for p in base.__signature__.parameters.values() if p.kind in kinds]
    needed = [p for p in taken if p.default is p.empty]
    return isinstance(x, tuple) and max(len(needed), 1) <= len(x) <= len(taken) and len(taken) > 1
