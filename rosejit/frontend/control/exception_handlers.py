"""Refuses arithmetic of Reals where a handler waits for what Python would raise: staged Reals never raise."""

from typing import Any, NoReturn

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Apply, Block, Let, Lit
from rosejit.ir.traversal import lets as every_let

_RAISES: dict[str, tuple[type[ArithmeticError | ValueError], ...]] = {
    **dict.fromkeys(("div", "floordiv", "mod", "fdiv", "rem"), (ZeroDivisionError,)),
    "pow": (ZeroDivisionError, OverflowError),
    **dict.fromkeys(("sqrt", "log", "log2", "log10", "log1p", "asin", "acos", "acosh", "atanh", "fmod"), (ValueError,)),
    **dict.fromkeys(("sin", "cos", "tan"), (ValueError,)),
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cosh", "hypot"), (OverflowError,)),
    **dict.fromkeys(("gamma", "lgamma"), (ValueError, OverflowError)),
}
"""What Python raises where the primitive gives an infinity or nan."""


def could_raise(classes: tuple[Any, ...]) -> bool:
    """Whether a handler of these classes catches something that Python's arithmetic of reals raises."""
    kinds = [cls for cls in classes if isinstance(cls, type)]
    return any(issubclass(error, cls) for cls in kinds for error in (ZeroDivisionError, ValueError, OverflowError))


class CheckedSuppress:
    """`contextlib.suppress` of errors that arithmetic raises: at its end, as at that of a `try`, no operation on staged
    Reals may have been one that raises them in Python."""

    def __init__(self, tape: Tape, manager: Any, classes: tuple[Any, ...]) -> None:
        self._tape, self._manager, self._classes = tape, manager, classes
        self._first = 0

    def __enter__(self) -> Any:
        self._first = len(self._tape.lets)
        return self._manager.__enter__()

    def __exit__(self, *raised: Any) -> Any:
        suppressed = self._manager.__exit__(*raised)
        if raised[0] is None or suppressed:
            check_handled(self._tape, self._tape.lets[self._first :], self._classes)
        return suppressed


def check_handled(tape: Tape, lets: list[Let], classes: tuple[Any, ...]) -> None:
    """Raise if one of the operations in `lets` would raise, in Python, what a handler of these classes catches."""
    kinds = tuple(cls for cls in classes if isinstance(cls, type))
    for let in every_let(Block(lets, ())):
        expr = let.expr
        if not isinstance(expr, Apply):
            continue
        caught = [error for error in _RAISES.get(expr.op.name, ()) if issubclass(error, kinds)]
        divisor = expr.args[-1]
        if caught and not (caught == [ZeroDivisionError] and isinstance(divisor, Lit) and divisor.value):
            _refuse(tape, let, caught[0])


def _refuse(tape: Tape, let: Let, error: type[Exception]) -> NoReturn:
    word = let.expr.op.word if isinstance(let.expr, Apply) else "this"
    found = tape.fault(
        UnsupportedSyntax,
        f"`{word}` of staged reals never raises, and a handler waits for its {error.__name__}",
        facts=("reals are IEEE numbers: Python's errors are infinities and nan here",),
        help="test before with `if` (or `math.isfinite` behind it), and leave the handler out",
    )
    found.span = let.span or found.span
    raise found
