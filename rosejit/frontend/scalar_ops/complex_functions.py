"""Functions of staged complex numbers: each a function of the program, with a rule for its derivative."""

# Values of users are of any type: what they are is asked while staging. Operators of complex numbers are installed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false, reportOperatorIssue=false

import cmath
import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.scalar_ops import complex_algorithms as algorithms
from rosejit.frontend.values.complexes import Complex
from rosejit.frontend.values.scalars import ATOMS, P, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir import syntax as ir
from rosejit.ir.syntax import Block, Var
from rosejit.ir.types import REAL, TAN, Scalar
from rosejit.transforms.passes.insert_copies import insert_copies

Rule = Callable[[Any, Any], Any]


def _f(name: str, z: Any) -> Any:
    return Complex(*applied(name, z.real, z.imag))


_DERIVATIVES: dict[str, Rule] = {
    "exp": lambda z, w: w, "log": lambda z, w: 1.0 / z, "log10": lambda z, w: 1.0 / (z * math.log(10.0)),
    "sqrt": lambda z, w: 0.5 / w, "sinh": lambda z, w: _f("cosh", z), "cosh": lambda z, w: _f("sinh", z),
    "tanh": lambda z, w: 1.0 - w * w, "sin": lambda z, w: _f("cos", z), "cos": lambda z, w: -_f("sin", z),
    "tan": lambda z, w: 1.0 + w * w,
    "asin": lambda z, w: 1.0 / (_f("sqrt", 1.0 - z) * _f("sqrt", 1.0 + z)),
    "acos": lambda z, w: -1.0 / (_f("sqrt", 1.0 - z) * _f("sqrt", 1.0 + z)),
    "atan": lambda z, w: 1.0 / ((1.0 - 1j * z) * (1.0 + 1j * z)),
    "asinh": lambda z, w: 1.0 / (_f("sqrt", 1.0 - 1j * z) * _f("sqrt", 1.0 + 1j * z)),
    "acosh": lambda z, w: 1.0 / (_f("sqrt", z - 1.0) * _f("sqrt", z + 1.0)),
    "atanh": lambda z, w: 1.0 / ((1.0 - z) * (1.0 + z)),
}  # fmt: skip
"""Of `z`, where the function is `w`. All are holomorphic: the tangent is the derivative times that of `z`."""
_THROUGH = {"sin": "sinh", "cos": "cosh", "tan": "tanh", "asin": "asinh", "atan": "atanh"}
"""Functions that are those of `iz`, which see to infinite parts themselves."""
NAMES = tuple(_DERIVATIVES)


def applied(name: str, *parts: Any) -> tuple[Any, Any]:
    """The parts of a function of a complex number, or of two, whose parts are given."""
    tape: Tape = next(part.tape for part in parts if type_of(part) is not None and hasattr(part, "tape"))
    require_no_handler(tape, f"cmath.{name}" if name in _DERIVATIVES else "**")
    function = _function(tape, name, len(parts))
    atoms = tuple([_atom(tape, part) for part in parts])
    binders = tuple([Var(REAL, name) for _ in function.results])
    tape.bind_all(ir.Call(function, atoms), binders, tape.here())
    re, im = (wrap(tape, b) for b in binders)
    return re, im


def require_no_handler(tape: Tape, word: str) -> None:
    """Refuse a function of complex numbers where a handler waits for what Python's would raise."""
    faults = tape.faults
    if faults is not None and any(map(faults.catches, (ValueError, OverflowError, ZeroDivisionError))):
        raise tape.fault(
            UnsupportedSyntax,
            f"`{word}` of complex numbers raises nothing in staged code, and a handler waits for its error",
            help="test before with `if`, and leave the handler out",
        )


def _atom(tape: Tape, value: Any, kind: Scalar = REAL) -> Any:
    atom = ATOMS[kind](tape, value)
    assert atom is not None
    return atom


def _function(tape: Tape, name: str, count: int) -> ir.Function:
    rule = _DERIVATIVES.get(name)
    title = f"complex_{name}"

    def made() -> ir.Function:
        return _staged(tape, title, [REAL] * count, lambda *parts: _value(tape, name, parts))

    def ruled(rule: Rule, _: ir.Function) -> ir.Function:
        types = [REAL, REAL, TAN, TAN]
        return _staged(tape, f"{title}_rule", types, lambda x, y, dx, dy: _ruled(name, rule, x, y, dx, dy))

    return tape.session.routines.get(title, tape.here, made, None if rule is None else partial(ruled, rule))


def _staged(tape: Tape, title: str, types: list[Scalar], make: Callable[..., Any]) -> ir.Function:
    params = tuple([Var(t, "x") for t in types])
    with tape.session.nested() as opened:
        found = make(*[wrap(tape, v) for v in params])
        results = tuple([_atom(tape, v, TAN if k > 1 else REAL) for k, v in enumerate(found)])
    body = Block(opened.root.lets, results)
    return insert_copies(ir.Function(title, params, tuple(r.type for r in results), body))


def _ruled(name: str, rule: Rule, x: Any, y: Any, dx: Any, dy: Any) -> Any:
    z, w = Complex(x, y), Complex(*applied(name, x, y))
    dw = rule(z, w) * Complex(dx, dy)
    return w.real, w.imag, dw.real, dw.imag


def _value(tape: Tape, name: str, parts: tuple[Any, ...]) -> Any:
    def others(called: str, *given: Any) -> Any:
        return applied(called, *given)

    run, algorithm = tape.session.run, getattr(algorithms, name)
    if name in _THROUGH or name in ("log10", "pow"):
        return run(algorithm, lambda f: f(others, *parts))
    table = _Special(tape, name)

    def finite(x: Any, y: Any) -> Any:
        return run(algorithm, lambda f: f(others, x, y))

    return run(algorithms.everywhere, lambda f: f(*parts, finite, table.parts))


# --- infinite parts, and those that are no numbers

_KINDS = (-math.inf, -1.0, -0.0, 0.0, 1.0, math.inf, math.nan)
"""One of each kind of number that the tables tell apart."""
_UNDEFINED = {"exp": math.inf, "cosh": math.inf, "sinh": math.inf}
"""What the real part is where CPython raises an error of the domain and the argument's real part is infinite."""
_DIRECTIONS: dict[str, Callable[[float], tuple[float, float, bool, bool]]] = {}


class _Special:
    """What a function is where a part is not finite, by the kinds of the parts, as the tables of C99 have it."""

    def __init__(self, tape: Tape, name: str) -> None:
        self.tape = tape
        self.name = name
        found = [_of_kinds(name, x, y) for x, y in product(_KINDS, _KINDS)]
        self.real = [z.real for z in found]
        self.imag = [z.imag for z in found]

    def parts(self, x: Any, y: Any) -> Any:
        """Both parts of the function there."""
        at = _kind(x) * 7 + _kind(y)
        re, im = (_taken(table, at) for table in (self.real, self.imag))
        if self.name not in ("exp", "cosh", "sinh", "tanh"):
            return re, im
        c, s = P["cos"].__call__(y), P["sin"].__call__(y)
        along = P["isinf"].__call__(x) & P["isfinite"].__call__(y) & (y != 0.0)
        a, b = _far(self.name, x, c, s)
        return P["select"].__call__(along, a, re), P["select"].__call__(along, b, im)


def _far(name: str, x: Any, c: Any, s: Any) -> tuple[Any, Any]:
    """A function of an infinite real part, where cosine and sine of the imaginary one are `c` and `s`."""
    sign, copied = P["copysign"].__call__, P["copysign"].__call__
    if name == "exp":
        size = P["exp"].__call__(x)
        return copied(size, c), copied(size, s)
    if name == "tanh":
        return sign(1.0, x), copied(0.0, 2.0 * s * c)
    along = sign(1.0, x)
    if name == "cosh":
        return copied(math.inf, c), copied(math.inf, s * along)
    return copied(math.inf, c * along), copied(math.inf, s)


def _of_kinds(name: str, x: float, y: float) -> complex:
    if math.isfinite(x) and math.isfinite(y):
        return 0j
    try:
        return getattr(cmath, name)(complex(x, y))
    except ValueError:
        if math.isinf(x):
            return complex(_UNDEFINED.get(name, math.nan), math.nan)
        if name == "cosh" and x == 0.0:
            return complex(math.nan, 0.0)
        return complex(x if name in ("sinh", "tanh") and x == 0.0 else math.nan, math.nan)


def _kind(x: Any) -> Any:
    """The place of a Real in `_KINDS`, as a Real."""
    select = P["select"].__call__
    negative = P["copysign"].__call__(1.0, x) < 0.0
    size = select(P["isinf"].__call__(x), 3.0, select(x == 0.0, 1.0, 2.0))
    return select(x != x, 6.0, select(negative, 3.0 - size, 2.0 + size))


def _taken(table: list[float], at: Any) -> Any:
    """The entry of a table: of its few values each is chosen at the places that have it."""
    places: dict[str, list[int]] = {}
    for k, value in enumerate(table):
        if k // 7 in (0, 5, 6) or k % 7 in (0, 5, 6):
            places.setdefault(repr(value), []).append(k)
    ordered = sorted(places.items(), key=lambda item: -len(item[1]))
    found: Any = float(ordered[0][0])
    for text, indices in ordered[1:]:
        hit: Any = None
        for k in indices:
            hit = (at == float(k)) if hit is None else hit | (at == float(k))
        found = P["select"].__call__(hit, float(text), found)
    return found
