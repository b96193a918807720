"""What numbers are made of, read off the finished function: numbers of NumPy's, and Reals that are ints on some paths.

Operators of NumPy's numbers never raise, and an Int that is joined with a Real is a Real here and an int in Python. Who
asks is noted while the function is staged; the answer is looked at when all its loops are whole.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rosejit.errors import StagingTypeError, UnsupportedSyntax
from rosejit.frontend.arrays.zero_dimensional import renewed
from rosejit.frontend.scalar_ops.whole_zeros import mend_zeros
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int, P, Real, real_atom, wrap
from rosejit.frontend.values.tape import Frame, Tape
from rosejit.ir.syntax import Apply, Atom, Block, If, Index, Let, Lit, Loop, Var, While
from rosejit.ir.traversal import lets as every_let
from rosejit.ir.types import REAL, Scalar
from rosejit.numeric import np

_KEEP = frozenset(P[name] for name in ("add", "sub", "mul", "neg", "abs", "floordiv", "mod", "max", "min", "pow"))
"""Operations that give an int of ints."""


CLASS_BEFORE_NUMPY = "class before NumPy"
"""What is asked where nobody has loaded NumPy: of arguments alone, which may be NumPy's in a later call."""


def check_asked(tape: Tape, root: Frame, params: Iterable[Var]) -> bool:
    """Whether the answers to what was asked hold for arguments of Python's own classes only. Raise if an operand of an
    operator that was to raise may be NumPy's, or if somebody asked for the class of a number that is an int on some
    paths only."""
    mend_zeros(tape, root.lets)
    operators, tape.operators = tape.operators, []
    kinds, tape.asked_kinds = tape.asked_kinds, []
    weak, tape.weak = tape.weak, []
    if not operators and not kinds and not weak:
        return False
    origins = _Origins(tape, root.lets, params)
    _check_weak(tape, origins, weak)
    for symbol, operands, place in operators:
        if any(origins.may_be_numpys(operand) for operand in operands):
            found = tape.fault(
                UnsupportedSyntax,
                f"`{symbol}` may be of a number of NumPy's, which never raises, and a handler waits for its error",
                facts=("elements of arrays and results of NumPy's functions are such numbers; Python's own raise",),
                help="test before with `if`, and leave the handler out",
            )
            found.span = place or found.span
            raise found
    for var, kind, place in kinds:
        if var.type is not kind or (kind is REAL and origins.may_be_int(var)):
            found = tape.fault(
                UnsupportedSyntax,
                "the class of a number is asked for that is an int on some paths and a float on others",
                facts=("in staged code it is a Real on all",),
                help="make it a float where it begins (`0.0` for `0`), or leave the question out",
            )
            found.span = place or found.span
            raise found
    asked = [atom for atom, name, _ in weak if name in _WEAK or name == CLASS_BEFORE_NUMPY]
    return origins.is_of_unclassed([*asked, *[operand for _, operands, _ in operators for operand in operands]])


def _check_weak(tape: Tape, origins: "_Origins", weak: list[tuple[Atom, str, Any]]) -> None:
    """Raise if a number may be NumPy's on which a dtype, or a rounding, depends."""
    for atom, name, place in weak:
        if name != CLASS_BEFORE_NUMPY and origins.is_of_numpys([atom], arguments=name in _WEAK):
            words, facts, remedy = _WEAK.get(name, _DTYPE)
            found = tape.fault(StagingTypeError, words.format(name), facts=facts, help=remedy)
            found.span = place or found.span
            raise found


_DTYPE = (
    "`np.{}` of a number that may be NumPy's and of numbers of few bits: in which dtype?",
    (
        "an element of an array, or what a function of NumPy gives, makes the result wider",
        "a number of Python's does not",
    ),
    "say it: `x.astype(np.float64)` for the wider one, `np.float32(s)` for the other",
)
_ROUND = (
    "`{}` to digits of a number that may be NumPy's, which rounds otherwise than Python",
    ("`round(np.float64(2.675), 2)` is 2.68, and `round(2.675, 2)` is 2.67",),
    "say it: `np.round(x, digits)` for NumPy's, `round(float(x), digits)` for Python's",
)
_BOOLS = (
    "`+` or `-` of {} that may be NumPy's, which do not count",
    (
        "`np.True_ + np.True_` is True, and `True + True` is 2",
        "elements of arrays, and what is compared with them, are NumPy's",
    ),
    "say it: `int(p[0]) + int(p[1])` counts, `p[0] | p[1]` is a truth value",
)
_CLASS = (
    "the class of a number is asked for that may be NumPy's",
    (
        "elements of arrays, and what is computed of them, are float64, int64 or bool of NumPy's",
        "what `float`, `int`, `bool` and functions of `math` give is Python's",
    ),
    "convert before: ask of `float(x)`, `int(x)` or `bool(x)`; or ask of the element, as it comes out of the array",
)
_IDENTITY = (
    "`is` of a truth value that may be NumPy's, which is neither True nor False itself",
    ("`np.True_ is True` is False, in a `case True` as well", "what elements of arrays are compared with is NumPy's"),
    "leave out `is True`, or write `bool(p) is True`; for `case True` let the subject be `bool(p)`",
)
_ROUND_BOOL = (
    "`round` of a truth value that may be NumPy's, which has no such method",
    ("`round(np.True_)` is an error, and `round(True)` is 1",),
    "say it: `int(p)`",
)
_INDEX = (
    "a list or a tuple is asked for the element at a truth value that may be NumPy's, which is no index",
    ("`[1, 2][np.True_]` is an error, and `[1, 2][True]` is 2", "what elements of arrays are compared with is NumPy's"),
    "say it: `items[int(p)]`",
)
_WEAK = {
    "index": _INDEX, "round": _ROUND, "truth values": _BOOLS, "class": _CLASS, "identity": _IDENTITY,
    "round a truth value": _ROUND_BOOL,
}  # fmt: skip
"""What is refused of numbers that may be NumPy's, by what was asked; of all else the dtype is, for which numbers that
are arguments count as Python's."""


def pythons(tape: Tape, made: Any) -> Any:
    """A number as Python's, whatever it is made of."""
    if made.__class__ in (Real, Int, Bool):
        made = renewed(tape, made) if tape.updated.names else made
        made = wrap(tape, made.atom) if made.__class__ is not Int else Int(tape, made.atom, made.low)
        tape.pythons[id(made)] = made
        return made
    return made.item() if isinstance(made, np.generic) else made


def ask_truth(tape: Tape, *values: Any) -> None:
    """Note that somebody has asked whether truth values are True or False itself: none of NumPy's are."""
    for value in values:
        if value.__class__ is Bool and id(value) not in tape.pythons:
            tape.weak.append((value.atom, "identity", tape.here()))


def is_of_numpy(cls: Any) -> bool:
    """Whether the numbers of a class are NumPy's."""
    return cls.__module__ == "numpy"


def class_of_element(tape: Tape, value: Any) -> Any:
    """The class of a staged number that is NumPy's at once, as it came out of an array or of a function of NumPy; or
    that an argument has, if that is not Python's own. None for others."""
    atom = value.atom
    if id(value) in tape.pythons:
        return None
    if atom in tape.given:
        return tape.given[atom]
    made = next((let.expr for frame in reversed(tape.frames) for let in frame.lets if atom in let.binders), None)
    if isinstance(made, Index) and made.base in tape.lists:
        classes = {_class_in_list(tape, item) for item in tape.lists[made.base]}
        return classes.pop() if len(classes) == 1 else None
    return getattr(np, _NUMPYS[value.__class__]) if atom in tape.numpys or isinstance(made, Index) else None


def _class_in_list(tape: Tape, item: Any) -> Any:
    if item.__class__ in NUMBERS:
        return class_of_element(tape, item)
    return type(item) if isinstance(item, np.generic) else None


_NUMPYS: dict[type, str] = {Real: "float64", Int: "int64", Bool: "bool_"}


class _Origins:
    """The operands of every variable, of joins and of what loops carry too."""

    def __init__(self, tape: Tape, lets: list[Let], params: Iterable[Var]) -> None:
        self._tape = tape
        self._made: dict[Atom, Sequence[Atom] | None] = {var: () for var in params if isinstance(var.type, Scalar)}
        self._made |= {held: self._in_list(items) for held, items in tape.lists.items()}
        self._ops: dict[Var, Any] = {}
        for let in every_let(Block(lets, ())):
            self._enter(let)

    def _in_list(self, items: Sequence[Any]) -> Sequence[Atom]:
        """The numbers of a list that are staged, or NumPy's."""
        known = [item for item in items if item.__class__ not in NUMBERS and isinstance(item, np.generic)]
        staged = [item.atom for item in items if item.__class__ in NUMBERS and id(item) not in self._tape.pythons]
        return [*staged, *[atom for item in known[:1] if (atom := real_atom(self._tape, item)) is not None]]

    def _enter(self, let: Let) -> None:
        expr, made = let.expr, self._made
        if isinstance(expr, Apply):
            made[let.binders[0]] = expr.args
            self._ops[let.binders[0]] = expr.op
        elif isinstance(expr, Index):
            made[let.binders[0]] = (expr.base,)
        elif isinstance(expr, If):
            for binder, then, other in zip(let.binders, expr.then.results, expr.orelse.results, strict=True):
                made[binder] = (then, other)
        elif isinstance(expr, Loop | While):
            made[expr.index if isinstance(expr, Loop) else let.binders[0]] = ()
            results = let.binders if isinstance(expr, Loop) else let.binders[1:]
            for phi, init, after, binder in zip(expr.carries, expr.inits, expr.body.results, results, strict=False):
                made[phi], made[binder] = (init, after), (phi,)

    def _any(self, start: Iterable[Atom], is_it: Callable[[Var], bool | None]) -> bool:
        """Whether it is so of a variable, or of an operand, ...; `is_it` gives None where the operands tell."""
        pending, seen = list(start), set[Var]()
        while pending:
            held = pending.pop()
            if isinstance(held, Lit):
                if id(held) in self._tape.literals_of_numpys:
                    return True
                continue
            if held in seen:
                continue
            seen.add(held)
            answer = is_it(held)
            if answer:
                return True
            pending += (self._made.get(held) or ()) if answer is None else ()
        return False

    def may_be_numpys(self, kept: Var) -> bool:
        """Whether a number of NumPy's may be an operand of what was kept, or has gone into one."""
        return self.is_of_numpys(self._made.get(kept) or ())  # nothing of what was forgotten

    def is_of_numpys(self, start: Iterable[Atom], arguments: bool = True) -> bool:
        """Whether one of these may be a number of NumPy's, or made of `arguments` that are."""

        def is_numpys(var: Var) -> bool | None:
            if var in self._tape.given:
                return arguments and is_of_numpy(self._tape.given[var])
            if var in self._tape.numpys or var not in self._made:
                return True
            return self._is_pythons(var)

        return self._any(start, is_numpys)

    def is_of_unclassed(self, start: Iterable[Atom]) -> bool:
        """Whether one of these is made of an argument that may be a number of NumPy's in another call."""
        return self._any(start, lambda var: var in self._tape.unclassed or self._is_pythons(var))

    def _is_pythons(self, var: Var) -> bool | None:
        """False for what is Python's, whatever it is made of."""
        op = self._ops.get(var)
        return False if op is not None and (op.math or op is P["to_int"]) else None

    def may_be_int(self, asked: Var) -> bool:
        """Whether a Real is an int on some path of Python's."""

        def is_mixed(var: Var) -> bool | None:
            if var in self._tape.mixed:
                return True
            op = self._ops.get(var)
            if op is None:
                return None
            whole = op in _KEEP and all(self._is_whole(arg) for arg in self._made[var] or ())
            return None if whole else False

        return self._any([asked], is_mixed)

    def _is_whole(self, atom: Atom) -> bool:
        """Whether an operand may be an int: not what Python knows as a float."""
        if isinstance(atom, Lit):
            return float(atom.value or 0).is_integer()
        return self._ops.get(atom) is P["to_real"] or self._any([atom], lambda var: var in self._tape.mixed or None)
