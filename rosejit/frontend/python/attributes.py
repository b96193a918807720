"""The builtins that ask objects for attributes, and change these, by name."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.arrays.complex_array import ComplexArray
from rosejit.frontend.arrays.narrow_array import Narrow, NarrowArray
from rosejit.frontend.control.chosen import Chosen, compared
from rosejit.frontend.control.if_for import StagedIf
from rosejit.frontend.control.optional import single
from rosejit.frontend.control.undefined import MaybeBound, UninitialisedCarry, as_flag, check_known, flag_atom
from rosejit.frontend.python.identity import IDENTITIES
from rosejit.frontend.python.number_classes import answered, class_of
from rosejit.frontend.syntax.user_code import is_users_class
from rosejit.frontend.values.complexes import Complex
from rosejit.frontend.values.host_values import attributes_of
from rosejit.frontend.values.pytree import is_open
from rosejit.frontend.values.scalars import Bool, Int, Real
from rosejit.frontend.values.tape import Tape, is_computed_once
from rosejit.ir.syntax import FALSE, Failure

Handler = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]
_NUMBERS: dict[type, Any] = {Real: 1.0, Int: 1, Bool: True, Complex: 1j}
"""A number of each kind."""


def _has(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`hasattr`, of an attribute that is bound on some paths too."""
    owner, name = args
    if owner.__class__ in _NUMBERS:
        return _of_number(session.tape, owner, name)
    if owner.__class__ is Narrow:
        return hasattr(owner.dtype.type, name)
    held = _held(owner, name)
    if held.__class__ is not MaybeBound:
        return hasattr(owner, name)
    if is_computed_once(owner, name):
        session.hooks.computed(owner, name, held)
        return True
    return as_flag(session.tape, flag_atom(held.flag))


def _get(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`getattr`; its third argument where the attribute is unbound."""
    owner, name, *otherwise = args
    if name == "__class__" and owner.__class__ in (*_NUMBERS, Array, ComplexArray, Narrow, NarrowArray):
        return class_of(session, type, (owner,), {})
    if owner.__class__ in _NUMBERS and not hasattr(_NUMBERS[owner.__class__], name):
        if name in _OF_NO_DIMENSIONS and otherwise == [_OF_NO_DIMENSIONS[name]]:
            return otherwise[0]  # whosever number it is
        if not _of_number(session.tape, owner, name):
            return getattr(_NUMBERS[owner.__class__], *args[1:])  # its error, or the third argument
    if str(name).startswith("__"):
        special(owner, name)
    held, hooks = _held(owner, name), session.hooks
    if held.__class__ is not MaybeBound or not otherwise or is_computed_once(owner, name):
        return hooks.read_outer(getattr(*args))
    hooks.choose(hooks.negate(held.flag))
    hooks.first(otherwise[0])
    return hooks.second(held.value.read() if held.value.__class__ is UninitialisedCarry else held.value)


def _of_number(tape: Tape, number: Any, name: str) -> bool:
    """Whether numbers such as a staged one have an attribute: ours have those of arrays as well."""
    return answered(tape, number, lambda cls: any(name in vars(base) for base in cls.__mro__))


_OF_NO_DIMENSIONS: dict[str, Any] = {"ndim": 0, "shape": (), "size": 1}
"""What NumPy's numbers say of themselves, and users where Python's say nothing."""


def special(value: Any, name: str) -> Any:
    """The owner of an attribute `__name__` that is read: what staged numbers have of their own is no answer of
    Python's."""
    value = single(value)
    cls = value.__class__
    number = _NUMBERS.get(cls)
    if number is None or (name in _MEANT[cls] and hasattr(number, name)):
        return value
    if hasattr(number, name):
        raise value.tape.type_fault(
            f"`{name}` of a number needs the value of a staged {cls.__name__}, which only running tells",
            "use an operator, or a function of `math` or `numpy`; `rose.opaque` makes a function of your own of it",
        )
    if hasattr(value, name):
        raise AttributeError(f"'{type(number).__name__}' object has no attribute {name!r}")
    return value


_OWN = {"__init__", "__doc__", "__repr__", "__new__", "__slots__", "__module__"}
_MEANT = {
    cls: {name for base in cls.__mro__ if base is not object for name in vars(base)} - _OWN | {"__class__"}
    for cls in _NUMBERS
}
"""The operators that are installed: what they do is what Python does."""


def _held(owner: Any, name: Any) -> Any:
    cls = type(owner)
    return attributes_of(owner).get(name) if is_users_class(cls) or is_open(cls) else None


def _change(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`setattr`, `delattr`."""
    return _by_name(session, args, lambda owner, *rest: function(session.hooks.owner(owner), *rest))


def _assign(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`object.__setattr__`."""
    _by_name(session, args, session.hooks.assign)


def _by_name(session: Any, args: tuple[Any, ...], change: Callable[..., Any]) -> Any:
    """`change(owner, name, ...)`; of a name that only running tells, in a branch for each that it may be."""
    owner, name, *rest = args
    if name.__class__ is not Chosen:
        return change(owner, name, *rest)
    for option in dict.fromkeys(name.__rose_options__):
        opened = StagedIf(session.tape, compared(name, option.__eq__), (), (), 0)
        try:
            change(owner, option, *rest)
        except AttributeError as error:  # of one that it has not, which may not be asked for
            session.tape.check(FALSE, Failure("attribute", str(error), session.tape.here()))
        opened.end(())
    return None


def _names(session: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`dir`."""
    for owner in args:
        if owner.__class__ in _NUMBERS:
            return dir(_NUMBERS[owner.__class__])
        is_asked = is_users_class(type(owner)) and hasattr(type(owner), "__getattr__")
        check_known(session.tape, owner.__dict__ if is_asked and hasattr(owner, "__dict__") else attributes_of(owner))
    return function(*args)


ATTRIBUTES: dict[Any, tuple[Handler, str]] = {
    getattr: (_get, "obj, name, default=..., /"), hasattr: (_has, "obj, name, /"),
    setattr: (_change, "obj, name, value, /"), delattr: (_change, "obj, name, /"), dir: (_names, "obj, /"),
    object.__setattr__: (_assign, "obj, name, value, /"), **IDENTITIES,
}  # fmt: skip
"""What they do in staged code, and their signatures."""
