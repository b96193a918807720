"""What a name can be bound to besides a value: nothing, something on some paths, or something that cannot be told."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from rosejit.errors import StagingTypeError, UnboundStagedName, UnsupportedSyntax, with_article
from rosejit.frontend.arrays.array import Array, Box
from rosejit.frontend.values.pytree import members, with_parts
from rosejit.frontend.values.scalars import Bool, type_of, wrap
from rosejit.frontend.values.tape import UNDEFINED, Frame, MaybeBound, Tape, is_computed_once
from rosejit.ir.failure import KINDS
from rosejit.ir.syntax import Atom, Failure, Lit, Var
from rosejit.ir.types import BOOL, array

Flag = bool | Bool


class UninitialisedCarry:
    """What a name that was unbound before a loop holds in its later iterations.

    It takes the form of the first value that it is joined with, or of a number when it is read. Arrays in it from
    outside of the loop are the same ones: if iterations turn out to bind the name to others (`refuted`), the loop is
    staged again.
    """

    __slots__ = ("_frame", "_name", "held", "tape")

    def __init__(self, tape: Tape, frame: Frame, name: str) -> None:
        self.tape = tape
        self._frame = frame
        self._name = name
        self.held: Any = UNDEFINED

    def read(self) -> Any:
        """The value; if it turns out a Real in the loop, the loop makes it one."""
        return self.become(0)

    def become(self, like: Any) -> Any:
        """Placeholders in the form of `like`."""
        if self.held is UNDEFINED:
            self.held = self._form(like)
        return self.held

    def _form(self, like: Any) -> Any:
        kind = type_of(like)
        if kind is not None:
            return wrap(self.tape, Var(kind, hint(self._name)))
        if like.__class__ is Array:
            if self._frame.carries.is_same(like, self._name):
                return like
            box = Box(self._name)
            var = Var(array(like.shape, like.type), hint(self._name))
            self._frame.contents[box] = self._frame.carries.placed[box] = var
            return Array(self.tape, box, like.shape, like.type)
        inside = members(like)
        return with_parts(like, [self._form(item) for item in inside]) if inside else like


class Poison:
    """A value that differs between paths in a way that cannot be staged: an error as soon as it is used."""

    __slots__ = ("__rose_remedy__", "__rose_tape__", "__rose_truth__", "__rose_why__")  # no names that users give

    def __init__(self, tape: Tape, why: str, remedy: str) -> None:
        self.__rose_truth__: Any = None
        """Of an `and` or `or` of two kinds: whether it is true."""
        self.__rose_tape__ = tape
        self.__rose_why__ = why
        self.__rose_remedy__ = remedy

    def __repr__(self) -> str:
        return f"<no single value: {self.__rose_why__}>"

    def __rose_said__(self, why: str, remedy: str) -> "Poison":
        """The same, in other words."""
        self.__rose_why__, self.__rose_remedy__ = why, remedy
        return self

    def __rose_use__(self) -> NoReturn:
        """Say why there is no value."""
        raise self.__rose_tape__.fault(StagingTypeError, self.__rose_why__, help=self.__rose_remedy__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self.__rose_use__()


def _using(self: Poison, *args: Any) -> NoReturn:
    self.__rose_use__()


for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"),
    *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rmatmul", "rand", "ror", "rxor"),
    *("neg", "pos", "abs", "invert", "bool", "index", "float", "int", "lt", "le", "gt", "ge", "eq", "ne", "hash"),
    *("getitem", "setitem", "delitem", "iter", "len", "contains", "call", "str", "format", "enter", "exit"),
):
    setattr(Poison, f"__{_name}__", _using)


def _item_used(self: MaybeBound, *args: Any) -> NoReturn:
    """An item of a list that has grown on some paths only is no value."""
    raise self.flag.tape.fault(
        StagingTypeError,
        "what is done here needs each item of a list whose length only running tells",
        help="go through it with `for`, or index it",
    )


for _name in (
    "bool",
    "iter",
    "str",
    "repr",
    "format",
    "hash",
    "eq",
    "ne",
    "lt",
    "gt",
    "add",
    "radd",
    "mul",
    "rmul",
    "call",
):
    setattr(MaybeBound, f"__{_name}__", _item_used)


def _item_leaves(self: MaybeBound) -> NoReturn:
    """It does not leave the function either."""
    raise self.flag.tape.fault(
        StagingTypeError,
        "a list whose length only running tells is a result, or an argument of a function that is staged by itself",
        help="give all items, with None for those that are not there: `[v if v <= t else None for v in xs]`",
    )


MaybeBound.__rose_use__ = _item_leaves  # pyright: ignore[reportAttributeAccessIssue]  # asked of what the host keeps


def require_single_value(value: Any) -> Any:
    """`value`, unless it differs between paths: Python itself would take that for an object like any other."""
    if isinstance(value, Poison):
        value.__rose_use__()
    return value


def read_bound(tape: Tape, value: Any, name: str) -> Any:
    """The value of a name that is read; raises now or at run time where the name is unbound."""
    if value is UNDEFINED:
        raise tape.fault(UnboundStagedName, unbound(name), help=_remedy(name))
    return _whole(tape, value, ("unbound", unbound(name), _remedy(name))) if value.__class__ is MaybeBound else value


def read_bound_attribute(tape: Tape, value: Any, owner: Any, name: str) -> Any:
    """The value of an attribute that is read; raises now or at run time where there is none."""
    if value.__class__ is not MaybeBound:
        return value
    if is_computed_once(owner, name):
        return tape.session.hooks.computed(owner, name, value)
    words = f"'{type(owner).__name__}' object has no attribute '{name}'"
    return _whole(tape, value, ("attribute", words, _remedy(f"{type(owner).__name__}.{name}")))


def check_known(tape: Tape, attributes: Mapping[str, Any]) -> None:
    """Raise where only running tells which attributes an object has: all of them at once cannot be given."""
    slot = tape.inherited.get(id(attributes))
    if slot is not None:
        name, owner = slot.attribute, with_article(type(slot.owner).__name__)
        raise tape.fault(
            UnsupportedSyntax,
            f"all attributes of {owner} are asked for, and whether it has its own `{name}` only running tells",
            help=f"give it its own where it is made: `self.{name} = ...`",
        )
    for held in attributes.values():
        if held.__class__ is MaybeBound and held.place is not None:
            name, owner = held.place[1], with_article(type(held.place[0]).__name__)
            raise tape.fault(
                UnsupportedSyntax,
                f"all attributes of {owner} are asked for, and whether it has `{name}` only running tells",
                help=f"bind `{name}` on every path that leads here, or ask `hasattr(.., {name!r})`",
            )


def _remedy(name: str) -> str:
    return f"bind `{name}` on every path that leads here"


def _whole(tape: Tape, value: MaybeBound, otherwise: tuple[str, str, str]) -> Any:
    """What a part holds, on the paths on which it is bound; on the others the kind, the words and the help."""
    flag, held = value.flag, value.value
    kind, words, remedy = otherwise
    if flag.__class__ is Bool:
        tape.check(flag.atom, Failure(kind, words, tape.here(), remedy))
    elif not flag:
        raise tape.fault(KINDS[kind], words, help=remedy)
    return held.read() if held.__class__ is UninitialisedCarry else held


def unbound(name: str) -> str:
    """Python's own words."""
    return f"cannot access local variable {label(name)} where it is not associated with a value"


_HINTS = {"value": "result", "returned": "returned", "break": "left", "continue": "skipped"}


def hint(name: str) -> str:
    """The name of a variable of the IR for a name of the user's, or for one of ours."""
    first, mark, _ = name.partition("@")
    if mark:
        return _HINTS.get(first, first)
    return name if name.isidentifier() else "choice"


def label(name: str) -> str:
    """A name in the words of an error."""
    first, mark, _ = name.partition("@")
    if mark:
        return "the result" if first == "value" else first
    return f"`{name}`" if name.isidentifier() else name


def split(value: Any) -> tuple[Any, Flag]:
    """What a name holds, and on which paths it is bound."""
    if value is UNDEFINED:
        return UNDEFINED, False
    return (value.value, value.flag) if value.__class__ is MaybeBound else (value, True)


def flag_atom(flag: Flag) -> Atom:
    """A flag as an atom."""
    return flag.atom if flag.__class__ is Bool else Lit(bool(flag), BOOL)  # type: ignore[union-attr]  # the class was tested


def as_flag(tape: Tape, atom: Atom) -> Flag:
    """An atom as a flag: a literal is known now."""
    return bool(atom.value) if isinstance(atom, Lit) else wrap(tape, atom)


def part(value: Any, flag: Flag) -> Any:
    """A value that is bound where `flag` holds."""
    if flag is True:
        return value
    return UNDEFINED if flag is False else MaybeBound(value, flag)


Remedy = Callable[[str], str]
