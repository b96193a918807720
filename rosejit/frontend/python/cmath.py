"""What the functions of `cmath` do with staged numbers: nothing raises, infinite and undefined results are numbers."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false

import cmath
from collections.abc import Callable
from functools import partial
from typing import Any

from rosejit.frontend.arrays.call_binding import bound, signature_of
from rosejit.frontend.scalar_ops import complex_functions
from rosejit.frontend.scalar_ops.complex_operators import magnitude
from rosejit.frontend.values.complexes import Complex, complex_of, parts_of
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import P

Handler = Callable[..., Any]


def _function(name: str, z: Any) -> Complex:
    return Complex(*complex_functions.applied(name, z.real, z.imag))


def _log(z: Any, base: Any = None) -> Any:
    return _function("log", z) if base is None else _function("log", z) / cmath_log(base)


def cmath_log(z: Any) -> Any:
    """The logarithm, of a number of the host too."""
    return cmath.log(z) if not is_staged_deep(z) else _function("log", Complex(*_pair(z)))


def _pair(value: Any) -> Any:
    return parts_of(value) or (value, 0.0)


def phase(z: Any) -> Any:
    """The angle from the positive real axis."""
    return P["atan2"].__call__(z.imag, z.real)


def _polar(z: Any) -> Any:
    return magnitude(z), phase(z)


def _rect(r: Any, phi: Any) -> Any:
    return complex_of(r * P["cos"].__call__(phi * 1.0), r * P["sin"].__call__(phi * 1.0))


def _any(name: str, z: Any) -> Any:
    return P[name].__call__(z.real) | P[name].__call__(z.imag)


def finite(z: Any) -> Any:
    """Whether both parts are finite."""
    return P["isfinite"].__call__(z.real) & P["isfinite"].__call__(z.imag)


def _is_close(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    a, b = Complex(*_pair(a)), Complex(*_pair(b))
    gap, large = magnitude(a - b), P["max"].__call__(magnitude(a), magnitude(b))
    near = (gap <= rel_tol * large) | (gap <= abs_tol)
    return (a == b) | (near & P["isfinite"].__call__(large))


_ONE: dict[str, Callable[..., Any]] = {
    **{name: partial(_function, name) for name in complex_functions.NAMES if name != "log"},
    "phase": phase, "polar": _polar, "isnan": partial(_any, "isnan"), "isinf": partial(_any, "isinf"),
    "isfinite": finite,
}  # fmt: skip
_OTHERS: dict[str, tuple[Callable[..., Any], str]] = {
    "log": (lambda z, base=None, /: _log(Complex(*_pair(z)), base), "z, base=..., /"),
    "rect": (lambda r, phi, /: _rect(r, phi), "r, phi, /"),
    "isclose": (_is_close, "a, b, *, rel_tol=1e-09, abs_tol=0.0"),
}


def _handler(name: str, make: Callable[..., Any], text: str) -> Handler:
    binds = signature_of(text)

    def handler(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not is_staged_deep((*args, *kwargs.values())):
            return session.plain(function, args, kwargs)
        bound(session.tape, f"cmath.{name}", binds, args, kwargs)
        for value in args:
            if parts_of(value) is None:
                raise session.tape.type_fault(f"`cmath.{name}` takes numbers, given {type(value).__name__}")
        return make(*args, **kwargs)

    return handler


def _of_one(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda z, /: make(Complex(*_pair(z)))


CMATH: dict[Any, Handler] = {
    **{getattr(cmath, name): _handler(name, _of_one(make), "z, /") for name, make in _ONE.items()},
    **{getattr(cmath, name): _handler(name, make, text) for name, (make, text) in _OTHERS.items()},
}
