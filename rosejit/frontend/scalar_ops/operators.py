"""Python's operators on traced scalars; importing the module installs them on the classes.

A power with a constant integral exponent is repeated multiplication (powers by squaring), with finite derivatives at 0.
"""

import numbers
import operator
from collections.abc import Callable
from typing import Any, NoReturn

from rosejit.frontend.arrays.host_tables import UNKNOWN, tabled
from rosejit.frontend.scalar_ops import comparisons, faults
from rosejit.frontend.scalar_ops.decimal_rounding import DIGITS, rounded, rounded_whole
from rosejit.frontend.scalar_ops.integer_math import BIT_COUNT
from rosejit.frontend.scalar_ops.staged_text import mark
from rosejit.frontend.scalar_ops.tangent_ops import words
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.host_scalars import SMALLEST, is_array, is_numpys_value, narrow_dtype, number_kind
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.scalars import (
    NUMBERS,
    Bool,
    Int,
    P,
    Real,
    Tan,
    bool_atom,
    int_atom,
    kind_word,
    made_real,
    real_atom,
    refuse_operand,
    tan_atom,
    type_of,
    unlike_numbers,
)
from rosejit.frontend.values.staged_inputs import to_know
from rosejit.frontend.values.tape import Tape, kind_fault
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import Failure, Lit
from rosejit.ir.types import BOOL, INT, REAL, TAN


# Values of users are of any type: what they are is asked while staging.
def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent`, one of them staged."""
    tape = base.tape if base.__class__ in NUMBERS else exponent.tape
    if tape.rolled is not None and not (base.__class__ is Int and number_kind(exponent) == "int" and exponent >= 0):
        found = tabled(tape, operator.pow, (base, exponent))
        if found is not UNKNOWN:
            return found
    if tape.faults is not None and faults.is_real_power(base, exponent):
        base = faults.raised(tape, base, exponent, _powered)
        return faults.quietly(tape, _powered, base, exponent)
    return _powered(base, exponent)


def _powered(base: Any, exponent: Any) -> Any:
    if number_kind(exponent) is not None:
        return _constant_power(base, exponent)
    tape = exponent.tape
    if type_of(base) in (INT, BOOL) and type_of(exponent) in (INT, BOOL):
        atom = int_atom(tape, exponent)
        if _is_negation(tape, atom):
            return _fraction(tape, base, exponent)
        natural(exponent, atom, "a negative exponent makes a fraction of an integer power", "use a float as base")
        whole = int_atom(tape, base)
        assert whole is not None
        assert atom is not None
        return Int(tape, tape.apply(P["ipow"], whole, atom))
    left, right = real_atom(tape, base), real_atom(tape, exponent)
    if left is None or right is None:
        return NotImplemented
    return Real(tape, tape.apply(P["pow"], left, right))


def _is_negation(tape: Any, atom: Any) -> bool:
    """Whether an Int was written `-n` in the place where it is used."""
    last = tape.lets[-1] if tape.lets else None
    return last is not None and last.binders[:1] == (atom,) and getattr(last.expr, "op", None) is P["ineg"]


def _fraction(tape: Any, base: Any, exponent: Any) -> Any:
    """`base ** -n` of Ints, which is a float in Python where n is positive, and else a whole number that is one too."""
    found = Real(tape, tape.apply(P["pow"], real_atom(tape, base), real_atom(tape, exponent)))
    held: Any = (exponent <= 0) | (P["abs"].__call__(found) <= 2.0**53)
    words = "a whole power above 2**53, of an exponent that is written `-n`"
    tape.check(held.atom, Failure("overflow", words, tape.here(), "write the exponent without `-`"))
    return found


def _constant_power(base: Any, exponent: Any) -> Any:
    """An integral exponent is repeated multiplication, whose derivatives exist everywhere."""
    tape = base.tape
    whole = number_kind(exponent) != "real" or float(exponent).is_integer()
    if base.__class__ is not Real and number_kind(exponent) == "real":
        base = Real(tape, real_atom(tape, base) or base.atom)
    if not whole or abs(exponent) > 2**16:
        return Real(tape, tape.apply(P["pow"], real_atom(tape, base) or base.atom, tape.literal(float(exponent))))
    k = int(exponent)
    if k < 0:
        return 1.0 / _raised(Real(tape, real_atom(tape, base) or base.atom), -k)
    if k == 0:
        return Real(tape, tape.literal(1.0)) if base.__class__ is Real else Int(tape, Lit(1, INT), 1)
    return _raised(+base, k)  # a Bool is an Int here


def _raised(x: Any, k: int) -> Any:
    if k == 1:
        return x
    half = _raised(x, k // 2)
    square = half * half
    return square * x if k % 2 else square


def natural(value: Any, atom: Any, message: str, help_text: str = "") -> None:
    """See to it that an Int is not negative: now if known, else at run time. With `help_text` the error is ours."""
    staged = value if value.__class__ is Int else None
    if staged is None:
        if number_kind(value) is not None and value < 0:
            raise ValueError(message)
    elif staged.low < 0:
        tape = staged.tape
        held = tape.apply(P["ige"], atom, Lit(0, INT))
        error = None if help_text else ValueError(message)
        kind = "no integer" if help_text else "raise"
        tape.check(held, Failure(kind, message, tape.here(), help_text or None, exception=error))


# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
Method = Callable[[Any, Any], Any]

_HOST = frozenset({str, bytes, list, tuple, dict, set, type(None)})
"""Types that have no operator with a staged number: refused here, in our words."""


# --- numbers and numbers


_DIVISIONS = ("/", "//", "%")


def _on_real(symbol: str, op: Primitive, reverse: bool) -> Method:
    """An operator of a Real and any number. Written out: it runs once for each staged operation."""
    divides, has_remainder = symbol in _DIVISIONS, symbol in _REMAINDERS

    def method(self: Real, other: Any) -> Any:
        tape = self.tape
        atom = other.atom if type(other) is Real else real_atom(tape, other)
        if atom is None:
            return _other(self, symbol, other, reverse)
        args = (atom, self.atom) if reverse else (self.atom, atom)
        if divides:
            if has_remainder and tape.rolled is not None:
                found = _tabled(self, symbol, other, reverse)
                if found is not UNKNOWN:
                    return found
            if tape.faults is not None:
                args = (args[0], faults.divisor(tape, symbol, *args))
        return made_real(tape, op, args, frame_at(1))

    return method


def _on_int(symbol: str, on_ints: Primitive | None, on_reals: Primitive | None, reverse: bool) -> Method:
    """An operator of an Int and any number: with a Real, and where Ints have none, of Reals."""

    def method(self: Int, other: Any) -> Any:
        tape = self.tape
        kind = type_of(other)
        if kind is None or kind is TAN:
            return _other(self, symbol, other, reverse)
        if kind is REAL or on_ints is None:
            if on_reals is None:
                return _other(self, symbol, other, reverse)
            if tape.rolled is not None and symbol in _REMAINDERS:
                found = _tabled(self, symbol, other, reverse)
                if found is not UNKNOWN:
                    return found
            left, right, op = real_atom(tape, self), real_atom(tape, other), on_reals
            if tape.faults is not None and symbol in _DIVISIONS:
                return _divided(tape, symbol, op, (right, left) if reverse else (left, right))
        else:
            left, right, op = self.atom, int_atom(tape, other), on_ints
        assert left is not None
        assert right is not None
        first, second = (right, left) if reverse else (left, right)
        if tape.faults is not None and symbol in _DIVISIONS:
            var = faults.surely(tape, op, first, faults.whole_divisor(tape, symbol, first, second))
        else:
            var = tape.apply(op, first, second)
        if var.type is INT:
            return Int(tape, var, _low(symbol, self, other, reverse))
        return Real(tape, var)

    return method


_REMAINDERS = {"//": operator.floordiv, "%": operator.mod}
"""Operators of reals whose last bits are Python's own."""


def _tabled(self: Any, symbol: str, other: Any, reverse: bool) -> Any:
    """The result, where the host knows the operands in all iterations of a rolled loop; else UNKNOWN."""
    return tabled(self.tape, _REMAINDERS[symbol], (other, self) if reverse else (self, other))


def _divided(tape: Any, symbol: str, op: Primitive, operands: tuple[Any, Any]) -> Real:
    left, right = operands
    return Real(tape, tape.apply(op, left, faults.divisor(tape, symbol, left, right)))


def _low(symbol: str, left: Int, right: Any, reverse: bool) -> int:
    """A lower bound of the result; indices of loops keep theirs."""
    low = right.low if right.__class__ is Int else right if number_kind(right) == "int" else SMALLEST
    if symbol == "+" and left.low > SMALLEST and low > SMALLEST:
        return left.low + low
    if number_kind(right) != "int" or (reverse and symbol != "*"):
        return SMALLEST
    if symbol == "-" and left.low > SMALLEST:
        return left.low - right
    if symbol == "*" and left.low >= 0 and right >= 0:
        return left.low * right
    if symbol == "%" and right > 0:
        return 0
    return left.low // right if symbol == "//" and right > 0 and left.low > SMALLEST else SMALLEST


def _on_bool(symbol: str, name: str, on_bools: Primitive | None) -> Method:
    """An operator of a Bool: of two Bools where there is one, else of the Int that it is in Python."""

    def method(self: Bool, other: Any) -> Any:
        if on_bools is not None:
            right = bool_atom(self.tape, other)
            if right is not None:
                return Bool(self.tape, self.tape.apply(on_bools, self.atom, right))
        if type_of(other) is None:
            return _other(self, symbol, other, name.startswith("__r"))
        if symbol in "+-" and bool_atom(self.tape, other) is not None:
            _ask_bools(self.tape, self, other)
        as_int = Int(self.tape, self.tape.apply(P["bool_to_int"], self.atom), 0)
        return getattr(as_int, name)(other)

    return method


def _ask_bools(tape: Tape, *values: Any) -> None:
    """Truth values of Python's count as 0 and 1 in sums; with those of NumPy's the sum is a truth value."""
    for value in values:
        if id(value) not in tape.pythons and (atom := bool_atom(tape, value)) is not None:
            tape.weak.append((atom, "truth values", tape.here()))


def _negative_bool(self: Bool) -> Any:
    _ask_bools(self.tape, self)
    return -_same(self)


OF_COMPLEX: dict[str, Method] = {}
"""What operators do with a complex number of the host, `complex_operators` says: by the symbol, `r` before it where
that is the left operand."""


OF_NARROW: dict[str, Callable[[Any, Any, Any], Any]] = {}
"""What operators do with a number of the host of a dtype of few bits, `narrow_rows` says, given a tape and both."""


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _other(self: Any, symbol: str, other: Any, reverse: bool = False) -> Any:
    """The answer to an operand that is no number: its own operator, or an error. An array of the host, which NumPy
    leaves to us, is read as one from outside, however it was reached."""
    if is_array(other):
        array = self.tape.session.hooks.read_outer(other)
        return _OPERATORS[symbol](*((array, self) if reverse else (self, array)))
    if symbol in OF_NARROW and narrow_dtype(other) is not None:
        return OF_NARROW[symbol](self.tape, *((other, self) if reverse else (self, other)))
    if isinstance(other, complex):
        return OF_COMPLEX[f"{'r' * reverse}{symbol}"](self, other)
    if is_numpys_value(other) and (symbol not in ("==", "!=") or hasattr(other, "__len__")):
        raise unlike_numbers(self.tape, symbol, other)
    reflected = _REFLECTED.get(symbol)
    can_answer = (
        reflected is None or other.__class__.__name__ == "ndarray" or (not reverse and hasattr(other, reflected))
    )
    is_number = isinstance(other, numbers.Number) and not is_users_class(type(other))  # a Decimal, a Fraction
    if not is_number and (symbol in ("==", "!=") or (other.__class__ not in _HOST and can_answer)):
        return NotImplemented
    if symbol == "*" and self.__class__ is Int and other.__class__ in (list, tuple, str, bytes):
        made = self.tape.session.hooks.repeated(other, self) if isinstance(other, list) else None
        if made is not None:
            return made
        raise self.tape.type_fault(
            f"how often a {type(other).__name__} is repeated, only running tells",
            f"take the count from a length; or {to_know(self.tape, self.atom)}",
        )
    return refuse_operand(self.tape, symbol, other)


_REFLECTED = {
    "+": "__radd__", "-": "__rsub__", "*": "__rmul__", "/": "__rtruediv__", "//": "__rfloordiv__", "%": "__rmod__",
    "**": "__rpow__", "@": "__rmatmul__", "<<": "__rlshift__", ">>": "__rrshift__", "&": "__rand__", "|": "__ror__",
    "^": "__rxor__",
}  # fmt: skip
"""What Python asks the other operand for, the first having no answer."""


def _install_arithmetic() -> None:
    table: tuple[tuple[str, str, str | None, str | None, str | None], ...] = (
        ("+", "add", "add", "iadd", None),
        ("-", "sub", "sub", "isub", None),
        ("*", "mul", "mul", "imul", None),
        ("/", "truediv", "div", None, None),
        ("//", "floordiv", "floordiv", "ifloordiv", None),
        ("%", "mod", "mod", "imod", None),
        ("&", "and", None, "iand", "and"),
        ("|", "or", None, "ior", "or"),
        ("^", "xor", None, "ixor", "xor"),
    )
    for symbol, name, real, integer, boolean in table:
        for reverse in (False, True):
            dunder = f"__{'r' * reverse}{name}__"
            on_reals, on_ints = real and P[real], integer and P[integer]
            if on_reals:
                setattr(Real, dunder, _on_real(symbol, on_reals, reverse))
            setattr(Int, dunder, _on_int(symbol, on_ints or None, on_reals or None, reverse))
            setattr(Bool, dunder, _on_bool(symbol, dunder, P[boolean] if boolean else None))
    for symbol, name in (("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge"), ("==", "eq"), ("!=", "ne")):
        for cls, make in ((Real, comparisons.of_real), (Int, comparisons.of_int), (Bool, comparisons.of_bool)):
            setattr(cls, f"__{name}__", make(symbol, name, _other))


# --- one number


def _negative_real(self: Real) -> Real:
    return Real(self.tape, self.tape.apply(P["neg"], self.atom))


def _negative_int(self: Int) -> Int:
    return Int(self.tape, self.tape.apply(P["ineg"], self.atom))


def _magnitude(self: Any) -> Any:
    if self.__class__ is Real:
        return Real(self.tape, self.tape.apply(P["abs"], self.atom))
    return Int(self.tape, self.tape.apply(P["iabs"], int_atom(self.tape, self) or self.atom), 0)


def _same(self: Any) -> Any:
    return self if self.__class__ is not Bool else Int(self.tape, self.tape.apply(P["bool_to_int"], self.atom), 0)


def _inverted(self: Any) -> Any:
    if self.__class__ is Bool:
        return Bool(self.tape, self.tape.apply(P["not"], self.atom))
    return Int(self.tape, self.tape.apply(P["inot"], self.atom))


def _rounding(name: str) -> Callable[[Any], Any]:
    """To an Int, as `math.floor` and `round` of a float give one."""

    def method(self: Any) -> Any:
        if self.__class__ is not Real:
            return _same(self)
        tape = self.tape
        inside = faults.finite(tape, self.atom, name)
        return Int(tape, faults.surely(tape, P["to_int"], tape.apply(P[name], inside)))

    return method


def _rounded(self: Any, digits: Any = None) -> Any:
    if digits is None:
        if self.__class__ is Bool and id(self) not in self.tape.pythons:
            self.tape.weak.append((self.atom, "round a truth value", self.tape.here()))
        return _rounding("nearest")(self)
    least, most = (-DIGITS, DIGITS) if self.__class__ is Real else (-18, 2**63)
    if number_kind(digits) != "int" or not least <= int(digits) <= most:
        known = f"; or {to_know(digits.tape, digits.atom)}" if digits.__class__ is Int else ""
        raise self.tape.type_fault(
            f"`round` takes a number of digits that staging knows, {least} to {DIGITS}",
            f"round the result of the call{known}",
        )
    if self.__class__ is Real and id(self) not in self.tape.pythons:
        self.tape.weak.append((self.atom, "round", self.tape.here()))
    return (rounded if self.__class__ is Real else rounded_whole)(+self, int(digits))


def _divmod(self: Any, other: Any) -> Any:
    return self // other, self % other


def _rdivmod(self: Any, other: Any) -> Any:
    return other // self, other % self


def _is_integer(self: Any) -> Any:
    if self.__class__ is not Real:
        return True
    whole = self.tape.apply(P["eq"], self.atom, self.tape.apply(P["floor"], self.atom))
    return Bool(self.tape, self.tape.apply(P["and"], whole, self.tape.apply(P["isfinite"], self.atom)))


def _bit_length(self: Any) -> Int:
    """2**63, the magnitude of the smallest, has 64 bits as well where it is read as a number below zero."""
    size = self.tape.apply(P["wabs"], int_atom(self.tape, self) or self.atom)
    return Int(self.tape, self.tape.apply(P["wsub"], Lit(64, INT), self.tape.apply(P["clz"], size)), 0)


_PARTS: dict[str, Callable[[Any], Any]] = {
    "real": _same, "imag": lambda self: 0.0 if self.__class__ is Real else 0,
}  # fmt: skip
_WHOLE_PARTS: dict[str, Callable[[Any], Any]] = {"numerator": _same, "denominator": lambda self: 1}
"""What numbers of Python have besides operators and methods."""


def _no_product(self: Any, other: Any) -> Any:
    """`@` of two numbers; an array says itself that it takes none."""
    if type_of(other) is None:
        return NotImplemented
    raise kind_fault(
        self.tape,
        f"unsupported operand type(s) for @: '{kind_word(self)}' and '{kind_word(other)}'",
        "`@` is a product of arrays, given two numbers",
        "`*` is the product of numbers",
    )


def _shift(symbol: str, op: Primitive, reverse: bool) -> Method:
    def method(self: Any, other: Any) -> Any:
        tape = self.tape
        value, count = (other, self) if reverse else (self, other)
        atoms = int_atom(tape, value), int_atom(tape, count)
        if atoms[0] is None or atoms[1] is None:
            return _other(self, symbol, other, reverse) if is_array(other) else NotImplemented
        natural(count, atoms[1], "a shift count is negative")
        return Int(tape, tape.apply(op, atoms[0], atoms[1]))

    return method


# --- powers


def _power(self: Any, other: Any, modulus: Any = None) -> Any:
    if isinstance(other, complex) and modulus is None:
        return OF_COMPLEX["**"](self, other)
    if modulus is not None:
        return NotImplemented
    return _other(self, "**", other) if type_of(other) is None else power(self, other)


def _rpower(self: Any, other: Any) -> Any:
    if isinstance(other, complex):
        return OF_COMPLEX["r**"](self, other)
    return _other(self, "**", other, reverse=True) if type_of(other) is None else power(other, self)


# --- tangents


def _tan_sum(name: str, reverse: bool) -> Method:
    def method(self: Tan, other: Any) -> Any:
        right = tan_atom(self.tape, other)
        if right is None:
            raise self.tape.type_fault(*words(P[name].word))
        args = (right, self.atom) if reverse else (self.atom, right)
        return Tan(self.tape, self.tape.apply(P[name], *args))

    return method


def _tan_scaled(self: Tan, other: Any) -> Any:
    factor = real_atom(self.tape, other)
    if factor is None:
        return refuse_operand(self.tape, "*", self) if other.__class__ is Tan else NotImplemented
    return Tan(self.tape, self.tape.apply(P["scale"], factor, self.atom))


def _tan_divided(self: Tan, other: Any) -> Any:
    divisor = real_atom(self.tape, other)
    if divisor is None:
        return refuse_operand(self.tape, "/", self) if other.__class__ is Tan else NotImplemented
    return Tan(self.tape, self.tape.apply(P["tdiv"], self.atom, divisor))


def _negative_tan(self: Tan) -> Tan:
    return Tan(self.tape, self.tape.apply(P["tneg"], self.atom))


def _not_linear(symbol: str) -> Callable[..., Any]:
    def method(self: Tan, *others: Any) -> Any:
        return refuse_operand(self.tape, symbol, self)

    return method


_NONLINEAR = {
    "pow": "**", "rpow": "**", "rtruediv": "/", "floordiv": "//", "rfloordiv": "//", "mod": "%", "rmod": "%",
    "divmod": "divmod", "rdivmod": "divmod", "abs": "abs", "round": "round", "floor": "floor", "ceil": "ceil",
    "trunc": "trunc", "int": "int", "bool": "bool", "index": "index", "complex": "complex",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


def _install_tangents() -> None:
    for name, symbol in (("tadd", "add"), ("tsub", "sub")):
        setattr(Tan, f"__{symbol}__", _tan_sum(name, False))
        setattr(Tan, f"__r{symbol}__", _tan_sum(name, True))
    methods: dict[str, Any] = {"__mul__": _tan_scaled, "__rmul__": _tan_scaled, "__truediv__": _tan_divided}
    methods |= {"__neg__": _negative_tan, "__pos__": lambda self: self}  # of a Tan
    methods |= {f"__{name}__": _not_linear(symbol) for name, symbol in _NONLINEAR.items()}
    for name, method in methods.items():
        setattr(Tan, name, method)


# --- what only the host can do


def item_of(self: Any, index: Any) -> Any:
    """`number[index]`. No method: of what has one Python's `%` asks no place in a text."""
    if index == () or index is Ellipsis:  # as of NumPy's arrays without dimensions
        return self
    if self.__class__ is not Tan:
        self.tape.weak.append((self.atom, "class", self.tape.here()))  # NumPy raises an IndexError
    raise kind_fault(
        self.tape,
        f"'{kind_word(self)}' object is not subscriptable",
        f"a staged {type(self).__name__} has no elements",
        "a name that a staged loop reads before it binds it is taken for a number: bind it before the loop",
    )


def _no_items(self: Any) -> NoReturn:
    raise kind_fault(
        self.tape,
        f"'{kind_word(self)}' object is not iterable",
        f"Python iterates over a staged {type(self).__name__}, which only running tells",
        "iterate over `rose.range(n)`",
    )


def _needs_host(what: str, remedy: str, is_known: str = "") -> Callable[..., NoReturn]:
    def method(self: Any, *args: Any) -> NoReturn:
        helped = f"{remedy}{is_known}{to_know(self.tape, self.atom)}" if is_known else remedy
        raise self.tape.type_fault(f"{what.replace('{}', type(self).__name__)}, which only running tells", helped)

    return method


_no_text = _needs_host(
    "text needs the value of a staged {}", "pass the value itself to `print`, which prints when the code runs"
)


def _formatted(self: Any, spec: str) -> str:
    """In the message of a staged `assert` or `raise` a mark, which the value replaces when the message is needed."""
    made = mark(self, spec)
    if made is None:
        _no_text(self)
    return made


_HOST_METHODS = {
    "__bool__": _needs_host(
        "Python needs the truth of a staged {}",
        "in staged code `if`, `while`, `and` and `not` work; pass no staged value to code that decides for itself",
    ),
    "__index__": _needs_host(
        "Python needs the value of a staged {}",
        "numbers that are elements of an array (`np.array(...)`) take such an index; what is no number, choose with "
        "`match` or `if`",
        "; or ",
    ),
    "__float__": _needs_host(
        "Python needs the value of a staged {}",
        "use the function of `math`, `numpy` or `rose` by name; `rose.opaque` makes any other function callable",
    ),
    "__hash__": _needs_host(
        "a key or a member of a set needs the value of a staged {}",
        "decide with `match` or `if`, one key after the other",
        "; or ",
    ),
    "__format__": _formatted,
    "__str__": lambda self: _formatted(self, ""),
    "__int__": _needs_host("Python needs the value of a staged {}", "call `int` by name in staged code"),
    "__complex__": _needs_host("Python needs the value of a staged {}", "call `complex` by name in staged code"),
    "__iter__": _no_items,
}


def _install() -> None:
    _install_arithmetic()
    _install_tangents()
    one: dict[str, Any] = {"__abs__": _magnitude, "__pos__": _same, "__round__": _rounded, "__divmod__": _divmod}
    one |= {"__rdivmod__": _rdivmod, "__pow__": _power, "__rpow__": _rpower, "__trunc__": _rounding("trunc")}
    one |= {"__floor__": _rounding("floor"), "__ceil__": _rounding("ceil")}
    one |= {"__matmul__": _no_product, "__rmatmul__": _no_product}
    one |= {
        "__deepcopy__": lambda self, memo: self,
        "conjugate": _same,
        "is_integer": _is_integer,
        **{name: property(get) for name, get in _PARTS.items()},
    }
    whole: dict[str, Any] = {"__invert__": _inverted, "__lshift__": _shift("<<", P["ishl"], False)}
    whole |= {"__rlshift__": _shift("<<", P["ishl"], True), "__rshift__": _shift(">>", P["ishr"], False)}
    whole |= {"__rrshift__": _shift(">>", P["ishr"], True), "bit_length": _bit_length, "bit_count": BIT_COUNT}
    whole |= {name: property(get) for name, get in _WHOLE_PARTS.items()}
    for cls, methods in ((Real, one), (Int, one | whole), (Bool, one | whole)):
        for name, method in methods.items():
            if name != "is_integer" or hasattr({Real: 0.0, Int: 0, Bool: False}[cls], name):
                setattr(cls, name, method)
    Real.__neg__ = _negative_real  # type: ignore[attr-defined]  # operators are installed, not written in the class
    Int.__neg__ = _negative_int  # type: ignore[attr-defined]  # as above
    Bool.__neg__ = _negative_bool  # type: ignore[attr-defined]  # as above
    for cls in NUMBERS:
        for name, method in _HOST_METHODS.items():
            if name not in vars(cls):
                setattr(cls, name, method)
        cls.__repr__ = lambda self: f"<staged {type(self).__name__}>"  # pyright: ignore[reportAttributeAccessIssue]  # its kind is known here


_install()
