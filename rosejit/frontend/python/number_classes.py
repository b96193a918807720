"""The classes of staged numbers: `isinstance` and `type`.

A staged Real is a float or a float64, and which of them only NumPy tells apart: an element of an array and what a
function of NumPy has given are NumPy's, what is computed of them mostly. Where the answer differs, a number that is
NumPy's at once gets NumPy's, others get Python's, unless they turn out to be made of NumPy's: then the code is refused.
An argument gets what is true of its class, which is part of the key of the call from then on.
"""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.complex_array import ComplexArray
from rosejit.frontend.arrays.narrow_array import Narrow, NarrowArray
from rosejit.frontend.lists.dynamic_dict import DynamicDict, DynamicSet
from rosejit.frontend.lists.dynamic_list import DynamicList
from rosejit.frontend.scalar_ops.origins import CLASS_BEFORE_NUMPY, class_of_element
from rosejit.frontend.soa.struct_of_arrays import StructOfArrays
from rosejit.frontend.syntax.user_code import is_users_code
from rosejit.frontend.values.complexes import Complex
from rosejit.frontend.values.generators import Generator
from rosejit.frontend.values.locations import frame_at
from rosejit.frontend.values.scalars import NUMBERS, Bool, Int, Real
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import Atom, Lit, Var
from rosejit.numeric import loaded, np

Args = tuple[Any, ...]
Options = dict[str, Any]

_PLAIN: dict[type, type] = {
    Real: float,
    Int: int,
    Bool: bool,
    Complex: complex,
    StructOfArrays: list,
    DynamicList: list,
    DynamicDict: dict,
    DynamicSet: set,
}
_NUMPYS: dict[type, str] = {Real: "float64", Int: "int64", Bool: "bool_", Complex: "complex128"}
_Ask = Callable[[Any], Any]
"""What is asked of a class."""


def is_instance(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`isinstance`."""
    value, classes = args
    if value.__class__ in _NUMPYS:
        if value.__class__ in NUMBERS and _is_of(Real, classes) != _is_of(Int, classes):
            _ask_kind(session.tape, value.atom)
        return answered(session.tape, value, lambda cls: _is_below(cls, value.__class__, classes))
    cls: Any = _PLAIN.get(value.__class__)
    if value.__class__ in (Array, ComplexArray, NarrowArray):
        cls = np.ndarray
    elif value.__class__ is Narrow:
        cls = value.dtype.type
    elif isinstance(value, Generator):
        cls = np.random.Generator
    if cls is not None:
        return _is_below(cls, value.__class__, classes)
    found = isinstance(value, classes)
    session.opened.answers.note(session, isinstance, args, kwargs, found)
    return found


def class_of(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`type`."""
    if len(args) != 1:
        made: Any = type(*args, **kwargs)
        if "__module__" not in args[-1]:
            made.__module__ = _module_around()
        return made
    value, kind = args[0], args[0].__class__
    if kind in (Real, Int):
        _ask_kind(session.tape, value.atom)
    if kind in _NUMPYS:
        return answered(session.tape, value, lambda cls: cls)
    if kind is Narrow:
        return value.dtype.type
    return np.ndarray if kind in (Array, ComplexArray, NarrowArray) else _PLAIN.get(kind, type(value))


def answered(tape: Tape, value: Any, ask: _Ask) -> Any:
    """What is true of the class of a number, which may be one of NumPy's."""
    kind, python = value.__class__, ask(_PLAIN[value.__class__])
    if kind is Complex:
        value = value.real if value.real.__class__ in NUMBERS else value.imag
    if id(value) in tape.pythons or isinstance(value.atom, Lit):
        return python
    found = class_of_element(tape, value)
    if found is not None:
        return ask(np.complex128 if kind is Complex and found is np.float64 else found)
    if loaded() is None:
        tape.weak.append((value.atom, CLASS_BEFORE_NUMPY, tape.here()))
    elif any(ask(cls) != python for cls in _possible(tape, kind, value)):
        tape.weak.append((value.atom, "class", tape.here()))
    return python


def _possible(tape: Tape, kind: type, value: Any) -> list[Any]:
    """The classes of NumPy's that a number may have: that of arrays without dimensions an argument only."""
    found: list[Any] = [getattr(np, _NUMPYS[kind])]
    return [*found, np.ndarray] if value.atom in tape.unclassed else found


def _ask_kind(tape: Tape, atom: Atom) -> None:
    """Note that somebody asked for the class of a number."""
    if isinstance(atom, Var):
        tape.asked_kinds.append((atom, atom.type, tape.here()))


def _is_of(kind: Any, classes: Any) -> bool:
    """Whether a staged number of a kind is one of these in Python."""
    return _is_below(_PLAIN.get(kind, kind), kind, classes)


def _is_below(cls: Any, kind: Any, classes: Any) -> bool:
    """Whether a class is below one of these, or our own `kind` is."""
    return any(each in kind.__mro__ or issubclass(cls, each) for each in _flat(classes))


def _flat(classes: Any) -> list[Any]:
    if isinstance(classes, tuple):
        items: Any = classes
        return [cls for item in items for cls in _flat(item)]
    return list(getattr(classes, "__args__", (classes,)))


def _module_around() -> str:
    """The name of the module of the user's that is running, which Python gives to classes."""
    frame: Any = frame_at(1)
    while frame is not None and not is_users_code(frame.f_code):
        frame = frame.f_back
    return "builtins" if frame is None else frame.f_globals.get("__name__", "builtins")
