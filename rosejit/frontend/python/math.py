"""What the functions of `math` do with staged numbers."""

# Values of users are of any type: what they are is asked while staging.

import math
import operator
from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.call_binding import bound, own_signature, signature_of
from rosejit.frontend.scalar_ops import integer_math
from rosejit.frontend.scalar_ops.operators import power
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int, P, Real, real_atom, type_of
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import REAL

Handler = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]

_OPS = [op for op in P.values() if op.math and hasattr(math, op.math)]
"""Those that the Python that runs has."""


def _primitive(op: Primitive) -> Handler:
    single = len(op.params) == 1 and op.result is REAL
    binds = signature_of(", ".join("xyz"[: len(op.params)]) + ", /")

    def handler(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if single and len(args) == 1 and args[0].__class__ is Real:  # most calls
            return Real(session.tape, session.tape.apply(op, args[0].atom, above=3))
        if any(arg.__class__ in NUMBERS for arg in (*args, *kwargs.values())):
            bound(session.tape, f"math.{function.__name__}", binds, args, kwargs)
            return op(*args)
        _refuse_arrays(session, function, args)
        return function(*args, **kwargs)

    return handler


def _refuse_arrays(session: Any, function: Any, args: tuple[Any, ...]) -> None:
    """The functions of `math` take numbers; an array of one element is one, as for NumPy."""
    for arg in args:
        if arg.__class__ is Array and arg.shape:
            name = function.__name__
            raise session.tape.type_fault(
                f"`math.{name}` takes a number, given an array of shape {arg.shape}",
                f"use `np.{name}` or `rose.{name}`",
            )


def _staged(make: Callable[..., Any]) -> Handler:
    """A function that is written with operators; on the host Python's own."""

    def handler(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(arg.__class__ in NUMBERS for arg in (*args, *kwargs.values())):
            bound(session.tape, f"math.{function.__name__}", own_signature(make), args, kwargs)
            return make(*args, **kwargs)
        _refuse_arrays(session, function, args)
        return function(*args, **kwargs)

    return handler


def _items(make: Callable[[Any, list[Any]], Any]) -> Handler:
    """A function of one or two iterables."""

    def handler(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        lists = [list(session.rows(arg)) for arg in args]
        if any(item.__class__ in NUMBERS for items in lists for item in items):
            return make(session.tape, *lists, **kwargs)
        return function(*lists, **kwargs)

    return handler


def _log(x: Any, base: Any = None, /) -> Any:
    log = P["log"]
    return log(x) if base is None else log(x) / log(base)


def _to_int(name: str) -> Callable[[Any], Any]:
    """`math.floor` and its like give integers."""

    def make(x: Any, /) -> Any:
        return getattr(x, f"__{name}__")()

    return make


def _hypot(*args: Any) -> Any:
    if len(args) == 2:
        return P["hypot"].__call__(*args)
    longest: Any = abs(args[0]) if args else 0.0
    for arg in args[1:]:
        longest = P["hypot"].__call__(longest, arg)
    return longest


def _degrees(x: Any, /) -> Any:
    return x * (180.0 / math.pi)


def _radians(x: Any, /) -> Any:
    return x * (math.pi / 180.0)


def _distance(tape: Any, p: list[Any], q: list[Any]) -> Any:
    return _hypot(*[a - b for a, b in zip(p, q, strict=True)])


def _sum(tape: Any, items: list[Any]) -> Any:
    """In twice the precision: what each addition rounds away is added up apart."""
    total: Any = 0.0
    lost: Any = 0.0
    for item in items:
        new = total + item
        part = new - total
        lost = lost + ((total - (new - part)) + (item - part))
        total = new
    return P["select"].__call__(lost == lost, total + lost, total)  # an infinite total has no remainder


def _sumprod(tape: Any, p: list[Any], q: list[Any]) -> Any:
    pairs = list(zip(p, q, strict=True))
    if all(type_of(x) is not REAL for pair in pairs for x in pair):
        return sum((a * b for a, b in pairs), start=0)
    products = [a * b for a, b in pairs]
    rests = [P["fma"].__call__(a, b, -ab) for (a, b), ab in zip(pairs, products, strict=True)]
    return _sum(tape, [*products, *(P["select"].__call__(rest == rest, rest, 0.0) for rest in rests)])


def _is_close(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    gap, largest = abs(a - b), P["max"].__call__(abs(a * 1.0), abs(b * 1.0))
    near = P["le"].__call__(gap, P["max"].__call__(rel_tol * largest, abs_tol))
    finite = P["lt"].__call__(largest, math.inf)
    return P["or"].__call__(P["eq"].__call__(a, b), P["and"].__call__(near, finite))


def _table() -> dict[Any, Handler]:
    table: dict[Any, Handler] = {getattr(math, op.math): _primitive(op) for op in _OPS}
    staged: dict[str, Callable[..., Any]] = {
        "log": _log, "floor": _to_int("floor"), "ceil": _to_int("ceil"), "trunc": _to_int("trunc"), "hypot": _hypot,
        "isclose": _is_close, "fabs": lambda x, /: P["abs"].__call__(x), "degrees": _degrees, "radians": _radians,
        "pow": lambda x, y, /: power(Real(x.tape, real_atom(x.tape, x)) if x.__class__ in (Int, Bool) else x, y),  # pyright: ignore[reportArgumentType]  # known here
    }  # fmt: skip
    items: dict[str, Callable[..., Any]] = {
        "dist": _distance, "fsum": _sum, "sumprod": _sumprod,
    }  # fmt: skip
    for name, make in (staged | integer_math.STAGED).items():
        table[getattr(math, name)] = _staged(make)
    for name, make in items.items():
        if hasattr(math, name):
            table[getattr(math, name)] = _items(make)
    return table


MATH: dict[Any, Handler] = _table()
OF_REALS: dict[Any, Primitive] = {
    getattr(math, op.math): op
    for op in _OPS
    if len(op.params) < 3 and {*op.params, op.result} == {REAL} and not op.failure
} | {
    operator.add: P["add"], operator.sub: P["sub"], operator.mul: P["mul"], operator.truediv: P["div"],
    operator.neg: P["neg"], max: P["max"], min: P["min"],
}  # fmt: skip
"""Functions of one or two numbers that are one operation of Reals, which cannot fail; builtins and operators too."""
