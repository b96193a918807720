"""Staged numbers, and the conversions between them."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from rosejit import ops
from rosejit.abi import Leaf
from rosejit.errors import RoseError
from rosejit.frontend.hints import hints
from rosejit.frontend.hints.hints import Kind
from rosejit.frontend.values.host_scalars import LARGEST, PLAIN_KINDS, SMALLEST, narrow_dtype, number_kind
from rosejit.frontend.values.pytree import staged_leaf
from rosejit.frontend.values.tape import Tape
from rosejit.ir.lengths import Length
from rosejit.ir.primitive import Primitive, Staged
from rosejit.ir.syntax import Apply, Atom, Let, Lit, Var, WholeFloat
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar, Type, array

P = ops.PRIMITIVES


class NumpysAnswer:
    """An attribute that NumPy's numbers have and Python's have not: where a handler of the user's waits for an
    `AttributeError`, it is refused."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, number: Any, owner: Any = None) -> Any:
        if number is not None and number.tape.catching and not _is_ours(sys._getframe(1)):
            what = f"`{self._name}` of a number, which NumPy's have and Python's have not,"
            number.tape.refuse_in_try(what, AttributeError)
        return self._answer


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("rosejit.")


class NumberOfNoDimensions:
    """What NumPy's scalars say of themselves: arrays without dimensions are numbers here."""

    __slots__ = ()
    shape: Any = NumpysAnswer(())
    ndim: Any = NumpysAnswer(0)
    size: Any = NumpysAnswer(1)


class Real(Staged, NumberOfNoDimensions, hints.Real):
    """A staged real number."""

    __slots__ = ("atom", "tape")
    __array_ufunc__ = None  # NumPy leaves operators to us
    type = REAL
    leaf = Leaf("real")

    def __init__(self, tape: Tape, atom: Atom) -> None:
        self.tape = tape
        self.atom = atom

    def stage(self, op: Primitive, args: tuple[Any, ...]) -> Any:
        """The result of `op`, some of whose operands are staged."""
        return stage(self.tape, op, args)


class Int(Staged, NumberOfNoDimensions, hints.Int):
    """A staged integer; `low` is a number it is known not to be below."""

    __slots__ = ("atom", "low", "tape")
    __array_ufunc__ = None
    type = INT
    leaf = Leaf("int")

    def __init__(self, tape: Tape, atom: Atom, low: int = SMALLEST) -> None:
        self.tape = tape
        self.atom = atom
        self.low = low

    def stage(self, op: Primitive, args: tuple[Any, ...]) -> Any:
        """The result of `op`, some of whose operands are staged."""
        return stage(self.tape, op, args)


class Bool(Staged, NumberOfNoDimensions, hints.Bool):
    """A staged truth value."""

    __slots__ = ("atom", "tape")
    __array_ufunc__ = None
    type = BOOL
    leaf = Leaf("bool")

    def __init__(self, tape: Tape, atom: Atom) -> None:
        self.tape = tape
        self.atom = atom

    def stage(self, op: Primitive, args: tuple[Any, ...]) -> Any:
        """The result of `op`, some of whose operands are staged."""
        return stage(self.tape, op, args)


class Tan(Staged):
    """A staged tangent, in a `.jvp` rule: tangents can be added, and scaled by numbers."""

    __slots__ = ("atom", "tape")
    __array_ufunc__ = None
    type = TAN
    leaf = Leaf("real")

    def __init__(self, tape: Tape, atom: Atom) -> None:
        self.tape = tape
        self.atom = atom

    def stage(self, op: Primitive, args: tuple[Any, ...]) -> Any:
        """The result of a linear `op`."""
        return stage(self.tape, op, args)


Tan.__name__ = "tangent"  # what messages call it
Number = Real | Int | Bool | Tan
NUMBERS: frozenset[type] = frozenset({Real, Int, Bool, Tan})
_PYTHONS = {"Real": "float", "Int": "int", "Bool": "bool", "Tan": "float", "Complex": "complex"}
CLASSES: dict[Scalar, Callable[[Tape, Atom], Any]] = {REAL: Real, INT: Int, BOOL: Bool, TAN: Tan}


def wrap(tape: Tape, atom: Atom) -> Any:
    """The staged number that `atom` holds."""
    assert isinstance(atom.type, Scalar)
    return CLASSES[atom.type](tape, atom)


_new = object.__new__


def made_real(tape: Tape, op: Primitive, args: tuple[Atom, ...], frame: FrameType) -> Real:
    """The result of `op`, staged where `frame` stands. Written out, since to call the classes, and for the place, takes
    half as long again."""
    table = tape.places.tables.get(id(frame.f_code))  # most often the user's own
    place = tape.places.of(frame) if table is None else table[frame.f_lasti]
    var, expr, let, made = _new(Var), _new(Apply), _new(Let), _new(Real)
    var.type, var.hint, var.like = op.result, "x", None
    expr.op, expr.args = op, args
    let.binders, let.expr, let.span = (var,), expr, place
    tape.lets.append(let)
    made.tape, made.atom = tape, var
    return made


TYPES: dict[str, Scalar] = {"real": REAL, "int": INT, "bool": BOOL}


def leaf_type(leaf: Leaf) -> Type:
    """The type of the IR for a leaf of known shape."""
    return array(leaf.shape, TYPES[leaf.element]) if leaf.kind == "array" else TYPES[leaf.kind]


def type_of(value: Any) -> Scalar | None:
    """The type of a number, staged or not; None for anything else, and for numbers of NumPy's with another width."""
    if value.__class__ in NUMBERS:
        return value.type
    kind = _host_kind(value)
    return None if kind is None else TYPES[kind]


def _host_kind(value: Any) -> Kind | None:
    kind = PLAIN_KINDS.get(value.__class__)
    if kind is not None or value is None:
        return kind
    return None if narrow_dtype(value) is not None else number_kind(value)


# --- conversions


def real_atom(tape: Tape, value: Any) -> Atom | None:
    """`value` as a Real; None where it is no number."""
    kind = type(value)
    if kind is Real:
        return value.atom
    if kind is float:
        return tape.literal(value)
    if kind is Int:
        return to_real(tape, value.atom)
    if kind is Bool:
        return to_real(tape, tape.apply(P["bool_to_int"], value.atom))
    if isinstance(value, Length):
        return to_real(tape, Lit(value, INT))
    if _host_kind(value) is None:
        return None
    if isinstance(value, int):
        return Lit(WholeFloat(value), REAL)
    return _literal_of_numpys(tape, float(value), REAL)


def _literal_of_numpys(tape: Tape, value: float | int | bool, kind: Scalar) -> Lit:
    """The constant that a number of NumPy's is, which stays known as one."""
    made = Lit(value, kind)
    tape.literals_of_numpys[id(made)] = made
    return made


def reals(tape: Tape, values: tuple[Any, ...]) -> tuple[Atom, ...]:
    """Reals and floats as atoms; none where others are among them, or nothing is staged."""
    if len(values) == 2 and type(values[0]) is Real and type(values[1]) is Real:  # most of them
        return values[0].atom, values[1].atom
    atoms: list[Atom] = []
    staged = False
    for value in values:
        kind = type(value)
        if kind is Real:
            staged = True
            atoms.append(value.atom)
        elif kind is float:
            atoms.append(tape.literal(value))
        else:
            return ()
    return tuple(atoms) if staged else ()


def to_real(tape: Tape, atom: Atom) -> Atom:
    """An Int as a Real."""
    if isinstance(atom, Lit) and not isinstance(atom.value, Length):
        return Lit(WholeFloat(atom.value or 0), REAL)
    return tape.apply(P["to_real"], atom)


def int_atom(tape: Tape, value: Any) -> Atom | None:
    """`value` as an Int; None where it is neither an integer nor a truth value."""
    kind = value.__class__
    if kind is Int:
        return value.atom
    if kind is Bool:
        return tape.apply(P["bool_to_int"], value.atom)
    if number_kind(value) not in ("int", "bool"):
        return None
    if isinstance(value, Length):
        return Lit(value, INT)
    number = int(value)
    if not SMALLEST <= number <= LARGEST:
        raise tape.type_fault(
            f"{number} does not fit the 64 bits of an Int",
            "compute with it outside, or write a float (`2.0**70`) where 16 digits are enough",
        )
    return Lit(number, INT) if isinstance(value, int) else _literal_of_numpys(tape, number, INT)


def bool_atom(tape: Tape, value: Any) -> Atom | None:
    """`value` as a Bool; None where it is none."""
    if value.__class__ is Bool:
        return value.atom
    if number_kind(value) != "bool":
        return None
    return Lit(value, BOOL) if value.__class__ is bool else _literal_of_numpys(tape, bool(value), BOOL)


def tan_atom(tape: Tape, value: Any) -> Atom | None:
    """`value` as a tangent: the only constant one is zero, and what a loop starts from zero may turn out one."""
    if value.__class__ is Tan:
        return value.atom
    if value.__class__ in (Real, Int):
        return value.atom if any(f.carries is not None and f.carries.zeros for f in tape.frames) else None
    return Lit(0.0, TAN) if number_kind(value) is not None and value == 0 else None


ATOMS: dict[Scalar, Callable[[Tape, Any], Atom | None]] = {
    REAL: real_atom, INT: int_atom, BOOL: bool_atom, TAN: tan_atom,
}  # fmt: skip


def stage(tape: Tape, op: Primitive, args: tuple[Any, ...]) -> Any:
    """Append `op` to the tape, its operands converted to the types that it takes."""
    atoms: list[Atom] = []
    for arg, wanted in zip(args, op.params, strict=True):
        atom = ATOMS[wanted](tape, arg)
        if atom is None:
            refuse_operand(tape, op.word, arg, wanted)
        atoms.append(atom)  # pyright: ignore[reportArgumentType]  # known here
    return wrap(tape, tape.apply(op, *atoms))


_CONVERSIONS: dict[type, str] = {
    str: "convert text before: `float(...)`",
    list: "make the list an array: `np.array(...)`",
    tuple: "make the tuple an array: `np.array(...)`",
    complex: "complex numbers have no order, and other operators than real ones: use `z.real`, `z.imag` or `abs(z)`",
    type(None): "a function without `return` gives None",
}
"""What to do about operands that are no numbers."""


def refuse_operand(tape: Tape, name: str, arg: Any, wanted: Scalar | None = None) -> Any:
    """Raise for an operand that an operation does not take."""
    if wanted is TAN:
        refuse_tangent(tape, "a choice between a tangent and a number that is none is not linear")
    if arg.__class__ is Tan:
        refuse_tangent(tape, f"`{name}` of a tangent is not linear")
    needs = "" if wanted is None else f" a {wanted},"
    raise tape.type_fault(
        f"`{name}` takes{needs or ' a number,'} given {type(arg).__name__}",
        _CONVERSIONS.get(type(arg), "convert it before: `float(...)`" if hasattr(arg, "__float__") else None),
    )


def unlike_numbers(tape: Tape, symbol: str, value: Any) -> RoseError:
    """The error for an operand of NumPy's that is neither a number nor an array of numbers."""
    kind = value.dtype if type(value).__name__ in ("ndarray", value.dtype.type.__name__) else type(value).__name__
    return tape.type_fault(
        f"`{symbol}` takes numbers, given {'an array of ' if value.ndim else ''}{kind}",
        "convert it before (`x.astype(np.float64)`, `x.filled(0.0)`), or compute with it outside",
    )


def refuse_tangent(tape: Tape, message: str) -> NoReturn:
    """Raise for what a rule does with a tangent."""
    raise tape.type_fault(
        message, "the result of a rule must be linear in the tangents: add them, and scale them by numbers"
    )


def passed_tangent(tape: Tape, name: str = "") -> RoseError:
    """The error for a tangent that a rule hands on to a function, or to a derivative of one."""
    whom = f"`{name}`" if name else "a derivative"
    return tape.type_fault(
        f"a tangent cannot be passed to {whom}, which need not be linear in it",
        "write in the rule what is to be done with the tangent: add tangents, and scale them by numbers",
    )


def is_staged(value: Any) -> bool:
    """Whether `value` is a staged number or a staged array."""
    return staged_leaf(value) is not None


def kind_word(value: Any) -> str:
    """The name of the class that a value has in Python."""
    name = type(value).__name__
    return _PYTHONS.get(name, "numpy.ndarray" if name.endswith("Array") else name)
