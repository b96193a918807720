"""What is known of a number in a loop that may be rolled, and of operations of such numbers.

A *lifted* number would be staged in the rolled loop, while in unrolled iterations the host knows it: the index, say.
Both must give the same bits, so a lifted number may only go where the host and the compiled code do the same.
"""

# Values of users are of any type: what they are is asked while staging.

import itertools
import math
import operator
import struct
from collections.abc import Callable
from typing import Any, NoReturn

from rosejit.frontend.values.host_scalars import LARGEST, SMALLEST, number_kind
from rosejit.ir.types import BOOL, INT, REAL, Scalar
from rosejit.lazy_dataclass import dataclass

_EXACT = 2**53
"""Up to here an Int is a Real without rounding."""
_FIRST = 4
"""How many iterations are followed with the number that the index is."""
_MOST = 8
"""How many host values of a number are followed, one by one."""


class CannotRoll(Exception):
    """The loop must be unrolled: says why, for tests and people, and by which expression, in which line."""

    expression = ""
    line = 0
    file = ""


class TooLong(CannotRoll):
    """The walk through the loop takes too long: more of the loops inside it have to be rolled."""


def unroll(why: str) -> NoReturn:
    """Give up rolling."""
    raise CannotRoll(why)


@dataclass(slots=True, frozen=True)
class AbstractNumber:
    """A number that changes or is staged.

    `hosts` are the values that it may have on the host where the loop is unrolled: none if it is staged there as well,
    None if they are too many. `low` and `high` bound those of an Int, and if they are floats those of a Real.
    """

    kind: Scalar
    hosts: tuple[Any, ...] | None = ()
    low: Any = SMALLEST
    high: Any = LARGEST
    is_certain: bool = False
    """Whether it is not staged in this iteration, where the loop is unrolled."""
    table: Any = None
    """What the host knows of it in every iteration (`abstract_tables.py`)."""

    @property
    def is_lifted(self) -> bool:
        """Whether the host may know it where the loop is unrolled."""
        return self.hosts is None or bool(self.hosts)


@dataclass(slots=True, frozen=True, eq=False)
class Constant:
    """A value of the host, the same in every iteration, rolled or not."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and (self.value is other.value or same_bits(self.value, other.value))

    __hash__ = None  # type: ignore[assignment]  # compared, never a key


def same_bits(a: Any, b: Any) -> bool:
    """Whether two host numbers are the same constant: of one kind, zeros by their sign."""
    if a.__class__ is not b.__class__ or number_kind(a) is None:
        return False
    return struct.pack("<d", a) == struct.pack("<d", b) if isinstance(a, float) else bool(a == b)


def staged(kind: Scalar) -> AbstractNumber:
    """A number that is staged, whether the loop is rolled or not."""
    return AbstractNumber(kind)


def index(iterations: range, is_one: bool, table: Any) -> list[AbstractNumber]:
    """The variable of a loop: in its first iterations and in its last, which often are special, and in those
    between; `is_one`: in all of them. Its `table` is of all iterations.
    """
    if is_one and iterations:
        ends = min(iterations[0], iterations[-1]), max(iterations[0], iterations[-1])
        return [AbstractNumber(INT, None, *ends, True, table)]
    single = [iterations[k : k + 1] for k in range(min(_FIRST, len(iterations)))]
    pieces = [*single, iterations[_FIRST:-1], iterations[max(_FIRST, len(iterations) - 1) :]]
    ends = [(piece[0], piece[-1]) for piece in pieces if piece]
    return [AbstractNumber(INT, None, min(pair), max(pair), True, table) for pair in ends]


def lifted(value: Any) -> AbstractNumber:
    """A loop-carried number of the host."""
    kind = kind_of(value)
    if kind is None:
        unroll("a value of the host is carried by the loop")
    made = of_hosts(kind, [value])
    return AbstractNumber(kind, made.hosts, made.low, made.high, True)


def kind_of(value: Any) -> Scalar | None:
    """The type of a number of the host."""
    found = number_kind(value)
    return None if found is None else {"real": REAL, "int": INT, "bool": BOOL}[found]


def of_hosts(kind: Scalar, values: list[Any]) -> AbstractNumber:
    """A number that is one of these on the host."""
    kept: list[Any] = []
    for value in values:
        if not any(same_bits(value, other) for other in kept):
            kept.append(value)
    low, high = (min(kept), max(kept)) if kind is INT else (SMALLEST, LARGEST)
    if not SMALLEST <= low <= high <= LARGEST:
        unroll("an int of more than 64 bits")
    return AbstractNumber(kind, tuple(kept) if len(kept) <= _MOST else None, low, high)


def number(value: Any) -> AbstractNumber:
    """`value` as a number, known ones too."""
    if value.__class__ is AbstractNumber:
        return value
    if value.__class__ is Constant:
        return lifted(value.value)
    unroll("a number is needed")


def is_known_number(value: Any) -> bool:
    """Whether it is a number of the host, the same in every iteration."""
    return value.__class__ is Constant and kind_of(value.value) is not None


def decision(value: Any) -> bool | None:
    """The truth of a value where unrolled iterations know it; None where they do not."""
    if value.__class__ is Constant:
        return bool(value.value)
    hosts = value.hosts if value.is_certain else None
    return bool(hosts[0]) if hosts and len(hosts) == 1 else None


_TESTED = frozenset({list, tuple, dict, set, str, type(None)})


# --- joins


def either(a: AbstractNumber, b: AbstractNumber, decided_by_running: bool) -> AbstractNumber:
    """What is one of two numbers, after an `if` that only running decides, in unrolled iterations as well, or that the
    host decides there."""
    if a == b:  # another object, unless it is the same: what an iteration leaves as it was is known by that
        return a if a is b else AbstractNumber(a.kind, a.hosts, a.low, a.high, a.is_certain, a.table)
    if a.kind is not b.kind:
        if decided_by_running and {a.kind, b.kind} == {INT, REAL}:
            return staged(REAL)
        unroll("numbers of two kinds meet")
    if decided_by_running:
        if a.is_lifted and b.is_lifted and (a.hosts is None or b.hosts is None):
            (low, high), (least, most) = bounds(a), bounds(b)
            return AbstractNumber(a.kind, None, min(low, least), max(high, most))
        return staged(a.kind)
    one, other = bounds(a), bounds(b)
    low, high = min(one[0], other[0]), max(one[1], other[1])
    if a.hosts is None or b.hosts is None:
        return AbstractNumber(a.kind, None, low, high)
    return AbstractNumber(a.kind, of_hosts(a.kind, [*a.hosts, *b.hosts]).hosts, low, high)


def bounds(a: AbstractNumber) -> tuple[Any, Any]:
    """Between what the values of a number are on the host: of a Real floats."""
    if a.kind is not REAL:
        return a.low, a.high
    if a.low.__class__ is float:
        return a.low, a.high
    if a.hosts and not any(map(math.isnan, a.hosts)):
        return min(a.hosts), max(a.hosts)
    return -math.inf, math.inf


def settled(a: AbstractNumber) -> AbstractNumber:
    """A number that a loop carries: the bounds of a Real might grow for ever (widening)."""
    if a.kind is REAL and a.hosts is None:
        return AbstractNumber(REAL, None)
    return a if a.table is None else AbstractNumber(a.kind, a.hosts, a.low, a.high, a.is_certain)


# --- operations


PYTHON: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne, "is": operator.is_, "is not": operator.is_not, "neg": operator.neg,
}  # fmt: skip


def on_host(op: str, *values: Any) -> Any:
    """What the host makes of known values; what it raises is raised by unrolled iterations."""
    if op not in ("is", "is not") and any(kind_of(v) is None and not isinstance(v, (str, tuple)) for v in values):
        unroll("an operation of the host")
    try:
        return Constant(PYTHON[op](*values))
    except Exception:
        unroll("the host fails")


def binary(op: str, left: Any, right: Any) -> Any:
    """`left op right`."""
    if left.__class__ is Constant and right.__class__ is Constant:
        return on_host(op, left.value, right.value)
    a, b = number(left), number(right)
    if BOOL in (a.kind, b.kind):
        return _logical(op, a, b)
    real = REAL in (a.kind, b.kind)
    both_on_host = a.is_lifted and b.is_lifted
    if op == "**":
        return _power(a, right, b)
    if op not in ("+", "-", "*", "/", "//", "%"):
        return staged(INT) if not (real or a.is_lifted or b.is_lifted) else unroll("bits of an index")
    if not both_on_host:
        return staged(REAL if real or op == "/" else INT)
    if op in ("/", "//", "%") and _may_be_zero(b):
        unroll("the host would refuse a zero divisor")
    if real and op in ("//", "%"):
        unroll("a remainder of reals")
    if not real and op != "/":
        return _whole(op, a, b)
    if op == "/" and not real and max(map(abs, (a.low, a.high, b.low, b.high))) > _EXACT:
        unroll("a quotient of large ints")
    return _combined(REAL, op, a, b)


def _combined(kind: Scalar, op: str, a: AbstractNumber, b: AbstractNumber) -> AbstractNumber:
    if a.hosts is None or b.hosts is None:
        return _between(op, a, b) if kind is REAL else AbstractNumber(kind, None)
    return of_hosts(kind, [on_host(op, x, y).value for x, y in itertools.product(a.hosts, b.hosts)])


def _between(op: str, a: AbstractNumber, b: AbstractNumber) -> AbstractNumber:
    """Arithmetic of reals: rounding keeps the order, so the ends bound what is between."""
    if op not in ("+", "-", "*", "/"):
        return AbstractNumber(REAL, None)
    ends = (
        [PYTHON[op](float(x), float(y)) for x in bounds(a) for y in bounds(b)]
        if op != "/" or not _may_be_zero(b)
        else []
    )
    if not ends or any(map(math.isnan, ends)):
        return AbstractNumber(REAL, None)
    low = 0.0 if op == "*" and a is b and min(bounds(a)) < 0 < max(bounds(a)) else min(ends)
    return AbstractNumber(REAL, None, low, max(ends))


def _whole(op: str, a: AbstractNumber, b: AbstractNumber) -> AbstractNumber:
    """Arithmetic of ints must fit 64 bits: the host's has no end."""
    corners = [on_host(op, x, y).value for x in (a.low, a.high) for y in (b.low, b.high)]
    if op == "%" and not (a.low == a.high and b.low == b.high):
        widest = max(abs(b.low), abs(b.high))
        corners = [0 if b.low > 0 else -widest, 0 if b.high < 0 else widest]
    if op == "//" and a.low < 0 < a.high:
        corners += [0, -1]
    low, high = min(corners), max(corners)
    if low < SMALLEST or high > LARGEST:
        unroll("arithmetic of the index could overflow")
    exact = _combined(INT, op, a, b)
    return AbstractNumber(INT, exact.hosts, low, high, a.is_certain and b.is_certain)


def _may_be_zero(b: AbstractNumber) -> bool:
    if b.kind is INT:
        return b.low <= 0 <= b.high and (b.hosts is None or 0 in b.hosts)
    low, high = bounds(b)
    return low <= 0.0 <= high and (b.hosts is None or 0.0 in b.hosts)


def _power(a: AbstractNumber, exponent: Any, b: AbstractNumber) -> AbstractNumber:
    if not a.is_lifted or not b.is_lifted:
        if b.is_lifted and exponent.__class__ is not Constant:
            unroll("the index is an exponent")
        if a.kind is INT and b.kind is INT and exponent.__class__ is Constant and exponent.value < 0:
            unroll("a negative power of an int")
        return staged(REAL if REAL in (a.kind, b.kind) else INT)
    if (
        a.kind is not INT
        or exponent.__class__ is not Constant
        or not isinstance(exponent.value, int)
        or exponent.value < 0
    ):
        unroll("a power on the host")
    made = AbstractNumber(INT, (1,), 1, 1)
    for _ in range(min(exponent.value, 64)):
        made = _whole("*", made, a)
    return AbstractNumber(INT, None, made.low, made.high)


def _logical(op: str, a: AbstractNumber, b: AbstractNumber) -> AbstractNumber:
    if a.kind is not b.kind or op not in ("&", "|", "^"):
        unroll("arithmetic of truth values")
    return _bool(a, b)


def _bool(a: AbstractNumber, b: AbstractNumber) -> AbstractNumber:
    return AbstractNumber(BOOL, None if a.is_lifted and b.is_lifted else ())


def compare(op: str, left: Any, right: Any) -> Any:
    """`left op right`, a truth value."""
    if left.__class__ is Constant and right.__class__ is Constant:
        return on_host(op, left.value, right.value)
    if op in ("is", "is not"):
        unroll("`is` of a staged value")
    a, b = number(left), number(right)
    if BOOL in (a.kind, b.kind) and (a.kind is not b.kind or op not in ("==", "!=")):
        unroll("truth values are compared with numbers")
    if a.is_lifted and b.is_lifted and {a.kind, b.kind} == {INT, REAL}:
        whole = a if a.kind is INT else b
        if max(abs(whole.low), abs(whole.high)) > _EXACT:
            unroll("a large int is compared with a real")
    decided = _decided(op, a, b) if a.is_certain and b.is_certain and a.kind is b.kind is INT else None
    return _bool(a, b) if decided is None else lifted(decided)


def _decided(op: str, a: AbstractNumber, b: AbstractNumber) -> bool | None:
    """What the bounds of two Ints tell of a comparison."""
    if op in ("==", "!="):
        if a.low == a.high == b.low == b.high:
            return op == "=="
        return op == "!=" if a.high < b.low or b.high < a.low else None
    corners = {PYTHON[op](x, y) for x in (a.low, a.high) for y in (b.low, b.high)}
    return corners.pop() if len(corners) == 1 else None


def truth(value: Any) -> Any:
    """`value` as a test."""
    if value.__class__ is Constant:
        plain = kind_of(value.value) is not None or type(value.value) in _TESTED
        return Constant(bool(value.value)) if plain else unroll("a test of a value of the host")
    found = number(value)
    return found if found.kind is BOOL else compare("!=", found, Constant(0))


def negative(value: Any) -> Any:
    """`-value`."""
    if value.__class__ is Constant:
        return on_host("neg", value.value)
    a = number(value)
    if a.kind is BOOL:
        unroll("arithmetic of truth values")
    if not a.is_lifted:
        return staged(a.kind)
    if a.kind is INT:
        return _whole("-", AbstractNumber(INT, (0,), 0, 0), a)
    low, high = bounds(a)
    return AbstractNumber(REAL, a.hosts and tuple(-x for x in a.hosts), -high, -low)


def as_real(value: Any) -> Any:
    """`float(value)`."""
    a = number(value)
    if a.kind is BOOL:
        unroll("a truth value as a real")
    if a.kind is REAL or not a.is_lifted:
        return a if a.kind is REAL else staged(REAL)
    return AbstractNumber(REAL, a.hosts and tuple(float(x) for x in a.hosts), float(a.low), float(a.high))


def largest(name: str, values: list[Any]) -> Any:
    """`max(...)` or `min(...)` of numbers."""
    numbers = [number(value) for value in values]
    kinds = {n.kind for n in numbers}
    host = all(n.is_lifted for n in numbers)
    if BOOL in kinds or (host and len(kinds) > 1):
        unroll(f"`{name}` of numbers of two kinds")
    kind = REAL if REAL in kinds else INT
    if not host:
        return staged(kind)
    pick = max if name == "max" else min
    ends = [bounds(n) for n in numbers]
    return AbstractNumber(kind, None, pick(low for low, _ in ends), pick(high for _, high in ends))


def magnitude(value: Any) -> Any:
    """`abs(value)`."""
    a = number(value)
    if a.kind is BOOL:
        unroll("arithmetic of truth values")
    if not a.is_lifted:
        return staged(a.kind)
    if a.kind is INT and a.low == SMALLEST:
        unroll("arithmetic of the index could overflow")
    high = max(map(abs, bounds(a)))
    return AbstractNumber(a.kind, a.hosts and tuple(map(abs, a.hosts)), 0 if a.kind is INT else 0.0, high)


def elementary(function: Callable[..., Any], compiled: Callable[..., Any], kind: Scalar, args: list[Any]) -> Any:
    """A function of numbers that the host computes with `function`, and the compiled code as `compiled` does."""
    numbers = [number(arg) for arg in args]
    if any(n.kind is BOOL for n in numbers):
        unroll("a function of truth values")
    if not all(n.is_lifted for n in numbers):
        return staged(kind)
    first = numbers[0]
    if function.__name__ == "sqrt" and first.hosts is None and bounds(first)[0] >= 0 and bounds(first)[1] <= _EXACT:
        low, high = bounds(first)
        return AbstractNumber(REAL, None, math.sqrt(low), math.sqrt(high))  # both round correctly
    hosts: list[Any] = []
    for combination in itertools.product(*(n.hosts or unroll("a function of the index") for n in numbers)):
        try:
            found = function(*combination), compiled(*map(float, combination))
        except (ArithmeticError, ValueError, TypeError):
            unroll("the host fails")
        if not same_bits(float(found[0]), float(found[1])) and not math.isnan(found[0]):
            unroll("the host's function has other bits")
        hosts.append(found[0])
    return of_hosts(kind, hosts)
