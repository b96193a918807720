"""What Python's arithmetic of reals would raise, as conditions on staged operands, where a handler waits for it.

Staged reals are IEEE numbers: what raises in Python is an infinity or nan. In a `try` whose handlers catch the error,
the condition under which Python raises goes to a cell, the class of the error as a number, and the operation is given
operands that do not fault, so that derivatives see nothing of it. NumPy's numbers never raise: an operator whose
operands may be such is refused there, which is looked at when the function is whole.
"""

import math
from collections.abc import Callable
from dataclasses import field
from types import FrameType
from typing import Any, NoReturn

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.values.host_scalars import number_kind
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int, P, Real, real_atom, type_of
from rosejit.frontend.values.tape import AttributeSlot, Frame, NonlocalCell, Tape, unfailing
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import Atom, Block, Call, Lit, Var
from rosejit.ir.traversal import lets as every_let
from rosejit.ir.types import INT, REAL
from rosejit.lazy_dataclass import dataclass

Raised = type[BaseException]
CODES: dict[Raised, int] = {ZeroDivisionError: 1, ValueError: 2, OverflowError: 3}
"""What arithmetic raises, as numbers; what the user's code raises gets the next ones."""
_NEVER = frozenset({
    "copysign", "isnan", "isinf", "isfinite", "cbrt", "atan", "atan2", "tanh", "asinh", "erf", "erfc", "fabs", "hypot",
    "isclose", "degrees", "radians", "gcd", "lcm", "prod", "dist",
})  # fmt: skip
"""Functions of `math` that do not raise."""
_WHOLE = ("floor", "ceil", "trunc")
_UNARY: dict[str, tuple[Raised | None, Raised | None]] = {
    **dict.fromkeys(("sqrt", "asin", "acos", "acosh", "sin", "cos", "tan"), (ValueError, None)),
    **dict.fromkeys(("log", "log2", "log10", "log1p", "atanh"), (ValueError, ValueError)),
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cosh"), (None, OverflowError)),
    "gamma": (ValueError, OverflowError), "lgamma": (None, OverflowError),
}  # fmt: skip
"""What Python raises for nan from what is none, and for an infinity from what is finite."""
_POLES = ("gamma", "lgamma")
_SAFE = {"acosh": 2.0}


@dataclass(slots=True)
class Level:
    """A `try` that is open, and what its handlers catch."""

    classes: tuple[tuple[type, ...], ...]
    recorded: set[int]
    """The codes of the errors that may have been raised in it."""
    owner: FrameType
    """The function that it stands in, as it runs."""
    pending: bool = False
    """Whether one was since the last test."""
    made: dict[int, Any] = field(default_factory=dict[int, Any])
    """What was allocated since the last test, by `id`."""
    known: set[Any] = field(default_factory=set[Any])
    """The arrays, cells and slots that were written before it."""
    frames: tuple[Frame, ...] = ()
    """The blocks that were open at it."""

    def settle(self, tape: Tape) -> None:
        """Begin a statement."""
        self.pending = False
        self.frames = tuple(tape.frames)
        self.known = set().union(*[frame.contents for frame in tape.frames])
        self.made.clear()

    def catches(self, cls: type) -> bool:
        """Whether one of the handlers takes an error of a class."""
        return any(issubclass(cls, kind) for kinds in self.classes for kind in kinds)

    def taken(self, handler: int, codes: dict[Raised, int]) -> list[int]:
        """The codes that a handler takes, those before it excepted."""

        def first(cls: type) -> int:
            found = [k for k, kinds in enumerate(self.classes) if issubclass(cls, kinds)]
            return found[0] if found else -1

        return [code for cls, code in codes.items() if code in self.recorded and first(cls) == handler]


@dataclass(slots=True, frozen=True)
class Kept:
    """What errors of a class hold: their arguments and the values of their attributes."""

    cell: NonlocalCell
    layout: tuple[int, tuple[str, ...]]
    """How many arguments, and the names of the attributes."""


class Faults:
    """The `try` statements of one function that wait for errors of arithmetic."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.levels: list[Level] = []
        self.codes = dict(CODES)
        self.cell = NonlocalCell(tape, "the error", lambda tape, value, name: value)
        tape.frames[-1].contents[self.cell] = 0
        self.count = 0
        """How many operations may have raised."""
        self.kept: dict[Raised, Kept] = {}
        """Of the classes that the user's `raise` raises what the errors hold."""
        self.bare: set[Raised] = set()
        """Those that something else raises too: of such an error nothing but the class is known."""
        self._around = tape.frames[-1]

    @property
    def pending(self) -> bool:
        """Whether an error may have been raised since the last test: then nothing may have an effect."""
        return any(level.pending for level in self.levels)

    def settle(self, function: FrameType) -> None:
        """Begin a statement of a function, all before it being over."""
        for level in self.levels:
            if level.owner is function:
                level.settle(self.tape)

    def allocated(self, item: Any) -> None:
        """Note what was made."""
        for level in self.levels:
            level.made[id(item)] = item

    def is_new(self, item: Any) -> bool:
        """Whether nothing may have been raised since `item` was made, or it was made behind that."""
        return all(id(item) in level.made for level in self.levels if level.pending)

    def code(self) -> Any:
        """The number of the error that was raised, 0 for none."""
        return self.tape.read_cell(self.cell)

    def catches(self, cls: type) -> bool:
        """Whether a handler waits for an error of a class."""
        return any(level.catches(cls) for level in self.levels)

    def keep(self, error: BaseException, holds: Any, nothing: Callable[[Any], Any]) -> Kept:
        """Where is kept what an error `holds` that is about to be raised: `nothing` of the kind until one was."""
        layout = len(error.args), tuple(vars(error))
        found = self.kept.get(type(error))
        if found is None:
            cell = NonlocalCell(self.tape, f"the {type(error).__name__}", lambda tape, value, name: value)
            found = self.kept[type(error)] = Kept(cell, layout)
            with self.tape.reopened(self._around):
                self._around.contents[cell] = nothing(holds)
        if found.layout != layout:
            self.bare.add(type(error))
        return found

    def _is_own(self, key: Any) -> bool:
        return key is self.cell or any(key is kept.cell for kept in self.kept.values())

    def record(self, cls: Raised, condition: Any, word: str) -> None:
        """An error is raised where `condition` holds."""
        if condition is False:
            return
        if word != "raise":
            self.bare.add(cls)
        self.count += 1
        current, code, tape = self.code(), self.codes.setdefault(cls, len(self.codes) + 1), self.tape
        if condition is True:
            value = code if current.__class__ is not Int else _choose(current == 0, code, current)
        elif current.__class__ is not Int:
            value = _choose(condition, code, current) if current == 0 else current
        else:
            value = _choose(condition & (current == 0), code, current)
        for level in reversed(self.levels):
            self._check_loops(level, word)
            level.recorded.add(code)
            level.pending = True
            if level.catches(cls):
                break
        tape.write(self.cell, value)

    def _check_loops(self, level: Level, word: str) -> None:
        """In a loop of a helper, what comes before the operation also comes behind it, in the next iteration."""
        for frame in self.tape.frames:
            if frame in level.frames or frame.kind != "loop":
                continue
            if frame.carries is None or not frame.carries.counted:
                self.refuse(f"`{word}` may raise in a `while` of a function that is called in the `try`")
            if any(key in level.known and not self._is_own(key) for key in frame.contents) or any(
                isinstance(let.expr, Call) for let in every_let(Block(frame.lets, ()))
            ):
                self.refuse(f"`{word}` may raise in a loop that has an effect, in a function called in the `try`")

    def wrote(self, key: Any) -> None:
        """Something was written: no statement may do so behind what may have raised."""
        if self._is_own(key):
            return
        for level in self.levels:
            slot = key.__class__ is AttributeSlot
            if level.pending and ((id(key.owner) not in level.made) if slot else key in level.known):
                self.refuse(f"{key.name} is changed")

    def refuse(self, what: str) -> NoReturn:
        """Say that a statement goes on behind what may raise."""
        raise self.tape.fault(
            UnsupportedSyntax,
            f"{what}, in a statement that may have raised before what a handler waits for",
            facts=("in staged code the body of a `try` is left between statements",),
            help="take the statement apart, so that what may raise stands alone, or test before with `if`",
        )


def _choose(condition: Any, code: int, current: Any) -> Any:
    return P["iselect"].__call__(condition, code, current)


# --- operations


def divisor(tape: Tape, symbol: str, left: Any, right: Any) -> Any:
    """The divisor of `/`, `//` and `%` of reals, and 1 where it is zero and a handler waits for that."""
    faults = tape.faults
    if faults is None:
        return right
    right = _harmless(tape, faults, right, 1.0)
    if not faults.catches(ZeroDivisionError):
        return right
    return _instead(tape, faults, ZeroDivisionError, _equals(tape, right, 0.0), symbol, (left, right))


def _harmless(tape: Tape, faults: Faults, atom: Atom, value: float) -> Atom:
    """An operand, and `value` where the statement has raised before: Python never comes there, and what the operation
    has for a derivative may be infinite."""
    code = faults.code() if faults.pending and isinstance(atom, Var) else None
    return _select(tape, code != 0, value, atom) if code.__class__ is Int else atom


def _equals(tape: Tape, atom: Atom, value: float) -> Any:
    if isinstance(atom, Lit):
        return atom.value == value
    return Bool(tape, tape.apply(P["eq"], atom, tape.literal(value)))


def _instead(tape: Tape, faults: Faults, cls: Raised, condition: Any, symbol: str, atoms: tuple[Atom, Atom]) -> Atom:
    """The last of `atoms`, and 1 where `condition` holds, which raises."""
    if condition is False:
        return atoms[-1]
    _note(tape, symbol, *atoms)
    faults.record(cls, condition, symbol)
    return _select(tape, condition, 1.0, atoms[-1])


def _note(tape: Tape, symbol: str, *atoms: Atom) -> None:
    """Keep the operands of an operator, which must be numbers of Python's. Those that loops replace are found again
    by an operation that nobody reads."""
    kept = [tape.apply(P["ine" if atom.type is INT else "ne"], atom, atom) for atom in atoms if isinstance(atom, Var)]
    tape.operators.append((symbol, kept, tape.here()))


def whole_divisor(tape: Tape, symbol: str, left: Any, right: Any) -> Any:
    """The divisor of `//` and `%` of whole numbers, and 1 where it is zero and a handler waits for that."""
    faults = tape.faults
    if faults is None or not faults.catches(ZeroDivisionError) or (isinstance(right, Lit) and right.value):
        return right
    zero = Bool(tape, tape.apply(P["ieq"], right, Lit(0, INT)))
    _note(tape, symbol, left, right)
    faults.record(ZeroDivisionError, zero, symbol)
    return tape.apply(P["iselect"], zero.atom, Lit(1, INT), right)


def finite(tape: Tape, atom: Any, word: str) -> Any:
    """What is made a whole number, and 0.0 where Python raises and a handler waits for that."""
    x, faults = Real(tape, atom), tape.faults
    if faults is None:
        return atom
    for cls, primitive in ((ValueError, P["isnan"]), (OverflowError, P["isinf"])):
        if faults.catches(cls):
            bad = primitive.__call__(x)
            faults.record(cls, bad, word)
            x = Real(tape, _select(tape, bad, 0.0, x.atom))
    return x.atom


def surely(tape: Tape, op: Primitive, *args: Atom) -> Var:
    """The result of `op`, which raises nothing any more that a handler waits for."""
    if tape.faults is None:
        return tape.apply(op, *args)
    with unfailing(tape):
        return tape.apply(op, *args)


def _select(tape: Tape, condition: Any, value: float, atom: Atom) -> Atom:
    if condition.__class__ is not Bool:
        return tape.literal(value) if condition else atom
    return tape.apply(P["select"], condition.atom, tape.literal(value), atom)


def quietly(tape: Tape, call: Callable[..., Any], *args: Any) -> Any:
    """`call(*args)`, of which nobody waits for errors."""
    faults, tape.faults = tape.faults, None
    try:
        return call(*args)
    finally:
        tape.faults = faults


def is_real_power(base: Any, exponent: Any) -> bool:
    """Whether `base ** exponent` is one of reals: of whole numbers only where the exponent is negative."""
    if type_of(base) is REAL or type_of(exponent) is REAL:
        return True
    return number_kind(exponent) is not None and exponent < 0


def raised(tape: Tape, base: Any, exponent: Any, power: Callable[[Any, Any], Any], named: str = "**") -> Any:
    """`base ** exponent` of reals as Python has it, or `math.pow`."""
    faults = tape.faults
    pole = ZeroDivisionError if named == "**" else ValueError
    x: Any = Real(tape, _harmless(tape, faults, _real(tape, base).atom, 1.0))
    y: Any = _real(tape, exponent)
    note = named == "**"
    if note and (faults.catches(pole) or faults.catches(OverflowError)):
        _note(tape, named, x.atom, y.atom)
    if faults.catches(pole):
        bad = (x == 0.0) & (y < 0.0) & _finite(y)
        if not note:
            bad = bad | ((x < 0.0) & _finite(x) & _finite(y) & (P["floor"].__call__(y) != y))
        faults.record(pole, bad, named)
        x = Real(tape, _select(tape, bad, 1.0, x.atom))
    if faults.catches(OverflowError):
        held = exponent if exponent.__class__ not in NUMBERS else y
        first = _real(tape, quietly(tape, power, x, held))
        bad = P["isinf"].__call__(first) & _finite(x) & _finite(y) & (x != 0.0)
        faults.record(OverflowError, bad, named)
        x = Real(tape, _select(tape, bad, 1.0, x.atom))
    return x


def _real(tape: Tape, value: Any) -> Any:
    atom = real_atom(tape, value)
    assert atom is not None
    return value if value.__class__ is Real else Real(tape, atom)


def _finite(x: Any) -> Any:
    return P["isfinite"].__call__(x)


def function(tape: Tape, name: str, args: tuple[Any, ...], make: Callable[..., Any]) -> Any:
    """`math.name(*args)` where a handler waits for one of its errors."""
    faults = tape.faults

    def call(*given: Any) -> Any:
        return quietly(tape, make, *given)

    if faults.pending:
        safe = _SAFE.get(name, 0.5)
        args = tuple([Real(tape, _harmless(tape, faults, x.atom, safe)) if x.__class__ is Real else x for x in args])
    if name == "log" and len(args) == 2:
        x, base = (function(tape, "log", (arg,), make) if arg.__class__ in NUMBERS else math.log(arg) for arg in args)
        return x / base
    if name in _WHOLE:
        return make(*args)
    if name in _NEVER or not (faults.catches(ValueError) or faults.catches(OverflowError)):
        return call(*args)
    if name in _UNARY and len(args) == 1:
        return call(_inside(tape, faults, name, _real(tape, args[0]), call))
    if name == "fmod":
        x, y = (_real(tape, arg) for arg in args)
        bad = ((y == 0.0) | P["isinf"].__call__(x)) & (x == x) & (y == y)
        if faults.catches(ValueError):
            faults.record(ValueError, bad, "math.fmod")
            x, y = (Real(tape, _select(tape, bad, 1.0, each.atom)) for each in (x, y))
        return call(x, y)
    if name == "pow":
        return call(raised(tape, args[0], args[1], call, "math.pow"), args[1])
    raise tape.fault(
        UnsupportedSyntax,
        f"`math.{name}` of staged numbers never raises, and a handler waits for its errors",
        help="test before with `if`, and leave the handler out",
    )


def _inside(tape: Tape, faults: Faults, name: str, x: Any, call: Callable[..., Any]) -> Any:
    """`x`, and a number inside the domain where the function raises."""
    on_nan, on_infinity = _UNARY[name]
    result = _real(tape, call(x))
    bad: Any = False
    infinite = P["isinf"].__call__(result) & _finite(x)
    found: list[tuple[Raised | None, Any]] = [(on_nan, (result != result) & (x == x)), (on_infinity, infinite)]
    if name in _POLES:
        pole = (x <= 0.0) & (P["floor"].__call__(x) == x)
        if name == "lgamma":
            pole = pole & _finite(x)
        found = [(ValueError, pole), (OverflowError, infinite & P["not"].__call__(pole))]
    for cls, condition in found:
        if cls is not None and faults.catches(cls):
            faults.record(cls, condition, f"math.{name}")
            bad = condition if bad is False else bad | condition
    return x if bad is False else Real(tape, _select(tape, bad, _SAFE.get(name, 0.5), x.atom))
