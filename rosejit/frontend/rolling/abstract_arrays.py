"""What is known of arrays, and of other values from before, in a loop that may be rolled."""

# Values of users are of any type: what they are is asked while staging.

import inspect
from collections.abc import Callable
from types import MemberDescriptorType, ModuleType
from typing import Any

from rosejit.frontend.arrays.array import Array, Host
from rosejit.frontend.arrays.host_tables import is_staged_loop, of_content
from rosejit.frontend.control.undefined import MaybeBound, Poison, UninitialisedCarry
from rosejit.frontend.rolling import abstract_numbers
from rosejit.frontend.rolling.abstract_numbers import AbstractNumber, Constant, unroll
from rosejit.frontend.values.host_scalars import narrow_dtype
from rosejit.frontend.values.scalars import NUMBERS
from rosejit.frontend.values.tape import UNDEFINED, NonlocalCell, Tape
from rosejit.ir.syntax import Var
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar
from rosejit.lazy_dataclass import dataclass
from rosejit.narrow_values import NarrowValue
from rosejit.numeric import np

_DTYPES: dict[Scalar, Any] = {REAL: "float64", INT: "int64", BOOL: "bool"}
_KINDS: dict[str, Scalar] = {"f": REAL, "i": INT, "u": INT, "b": BOOL}
_FEW = 4


@dataclass(slots=True, frozen=True)
class AbstractElements:
    """What an array holds: `hosts` and the bounds as those of an `AbstractNumber`."""

    hosts: tuple[Any, ...] | None
    low: int = abstract_numbers.SMALLEST
    high: int = abstract_numbers.LARGEST
    table: Any = None
    """What the host knows of them in every iteration (`abstract_tables.py`)."""

    @property
    def is_lifted(self) -> bool:
        """Whether the host may know it where the loop is unrolled."""
        return self.hosts != ()


STAGED = AbstractElements(())


@dataclass(slots=True, frozen=True, eq=False)
class AbstractArray:
    """An array. `place` is its identity; a view has that of its base, and is not whole."""

    shape: tuple[int, ...]
    kind: Scalar
    place: Any
    is_whole: bool = True
    is_fresh: bool = False
    """Made in the loop."""


Contents = dict[Any, AbstractElements]


# --- values from before the loop


def classified(tape: Tape, value: Any, enter: Callable[[Any, AbstractElements], None]) -> Any:
    """What is known of `value`; None where it is none. `enter` is told of the arrays."""
    kind: Any = value.__class__
    if kind in NUMBERS:
        return abstract_numbers.staged(value.type) if value.type is not TAN else unroll("a tangent")
    if kind is Array:
        return _grid(tape, value, enter)
    if isinstance(value, NarrowValue) or narrow_dtype(value) is not None:
        unroll("numbers of NumPy's of few bits")
    if issubclass(kind, np.ndarray) and value.dtype.kind in _KINDS:
        return _grid(tape, tape.session.captured(value), enter)
    if value is UNDEFINED or kind in (MaybeBound, UninitialisedCarry, Poison):
        return None
    return unroll("a variable that inner functions rebind") if kind is NonlocalCell else Constant(value)


def _grid(tape: Tape, a: Array, enter: Callable[[Any, AbstractElements], None]) -> AbstractArray:
    if a.type is TAN:
        unroll("an array of tangents")
    enter(a.box, _content(tape, a))
    return AbstractArray(a.shape, a.type, a.box, a.axes is None)


def _content(tape: Tape, a: Array) -> AbstractElements:
    """What an array holds, looked up without a trace."""
    held, crossed = None, False
    for frame in reversed(tape.frames):
        if a.box in frame.contents:
            held = frame.contents[a.box]
            break
        crossed = crossed or is_staged_loop(tape, frame)
    held = tape.host_contents.get(held, held) if isinstance(held, Var) else held
    if isinstance(held, Host) and crossed and not a.box.readonly:
        return STAGED  # the loop around may write it further on
    if isinstance(held, Var):
        return STAGED
    if not isinstance(held, Host):
        return unroll("an array that cannot be reached")
    known = of_data(held.data)
    return AbstractElements(known.hosts, known.low, known.high, of_content(held)) if a.axes is None else known


def of_data(data: Any) -> AbstractElements:
    """The content of an array of the host."""
    if data.size == 0 or data.dtype.kind == "b":
        return AbstractElements(None)
    if data.dtype.kind not in _KINDS:
        unroll("an array of complex numbers or of objects")
    if data.dtype.kind == "f":
        some = np.unique(data)
        plain = some.size <= _FEW and bool(np.isfinite(some).all()) and not np.signbit(data[data == 0.0]).any()
        return AbstractElements(tuple(some.tolist()) if plain else None)
    return AbstractElements(None, int(data.min()), int(data.max()))


def attribute_of_host(value: Any, name: str) -> Any:
    """`value.name`, where reading it runs no code of the user's."""
    if isinstance(value, ModuleType):
        return getattr(value, name, None) or unroll("a module has no such name")
    cls: Any = type(value)
    if isinstance(value, tuple) and name in getattr(cls, "_fields", ()):
        return getattr(value, name)
    held = inspect.getattr_static(cls, name, None)
    own = name in getattr(value, "__dict__", ()) and not hasattr(type(held), "__set__")
    if cls.__getattribute__ is object.__getattribute__ and (own or isinstance(held, MemberDescriptorType)):
        return getattr(value, name, None)
    is_plain = name not in getattr(value, "__dict__", ()) and not hasattr(type(held), "__get__")
    if cls.__getattribute__ is object.__getattribute__ and held is not None and is_plain:  # of the class
        return held
    return unroll("an attribute of the host")


# --- parts


def item(contents: Contents, grid: AbstractArray, indices: list[Any]) -> Any:
    """`grid[indices]`."""
    part = element(grid, indices)
    if part is not None:
        return AbstractArray(part, grid.kind, grid.place, False, grid.is_fresh)
    held = contents[grid.place]
    staged = any(i.__class__ is AbstractNumber and not i.is_lifted for i in indices)
    if staged and held.table is not None:  # from now on the whole of it is staged
        contents[grid.place] = AbstractElements(held.hosts, held.low, held.high)
    return abstract_numbers.staged(grid.kind) if staged else AbstractNumber(grid.kind, held.hosts, held.low, held.high)


def element(grid: AbstractArray, indices: list[Any]) -> tuple[int, ...] | None:
    """The shape of a part of `grid`; None for one element."""
    plain: list[Any] = []
    for at in indices:
        if at.__class__ is AbstractNumber and at.kind is INT:
            plain.append(0)
        elif at.__class__ is Constant and (at.value in (None, Ellipsis) or isinstance(at.value, (int, slice))):
            plain.append(at.value)
        else:
            unroll("an index that is no number")
    try:
        found = dummy(grid)[tuple(plain)]
    except IndexError:
        unroll("the host fails")
    return found.shape if isinstance(found, np.ndarray) else None


def attribute(contents: Contents, grid: AbstractArray, name: str) -> Any:
    """`grid.name`."""
    if name in ("shape", "size", "ndim"):
        return Constant(getattr(dummy(grid), name))
    if name == "T":
        return AbstractArray(grid.shape[::-1], grid.kind, grid.place, False, grid.is_fresh)
    return unroll("an attribute of an array")


# --- operations


def drawn(contents: Contents, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """What a method of a generator of random numbers draws: its state is staged, so it is too."""
    if any(not (each.__class__ is Constant or is_staged(contents, each)) for each in (*args, *named.values())):
        unroll("a draw by what the host knows in unrolled iterations")
    if name.startswith("_") or name in ("spawn", "bit_generator", "shuffle"):
        unroll(f"`{name}` of a generator")
    method = getattr(np.random.default_rng(0), name, None)
    return unroll("a generator has no such method") if method is None else result(contents, method, args, named)


def is_staged(contents: Contents, value: Any) -> bool:
    """Whether a number or an array is staged, whether the loop is rolled or not."""
    return value.__class__ in (AbstractNumber, AbstractArray) and not is_lifted(contents, value)


def combined(contents: Contents, op: str, left: Any, right: Any) -> Any:
    """`left op right`, one of them an array."""
    made = result(contents, lambda a, b: abstract_numbers.PYTHON[op](a, b), [left, right], {})
    if all(is_lifted(contents, value) for value in (left, right)):
        if op not in ("+", "-", "*") or made.__class__ is not AbstractArray or made.kind is not REAL:
            unroll("arithmetic of arrays on the host")
        contents[made.place] = AbstractElements(None)
    return made


def is_lifted(contents: Contents, value: Any) -> bool:
    """Whether the host may know a value where the loop is unrolled."""
    if value.__class__ is AbstractArray:
        return contents[value.place].is_lifted
    return value.__class__ is Constant or value.is_lifted


def result(contents: Contents, function: Callable[..., Any], args: list[Any], named: dict[str, Any]) -> Any:
    """What NumPy's `function` gives, by its shape: a staged number, or a new array."""
    try:
        with np.errstate(all="ignore"):
            found = function(*map(dummy, args), **{name: dummy(value) for name, value in named.items()})
    except (ArithmeticError, ValueError, TypeError, IndexError):
        unroll("the host fails")
    return of_result(contents, found, STAGED)


def of_result(contents: Contents, found: Any, content: AbstractElements) -> Any:
    """A staged number, or a new array with that content, like `found`."""
    kind = _KINDS.get(getattr(found, "dtype", np.asarray(found).dtype).kind)
    if kind is None or narrow_dtype(found) is not None:
        unroll("a result that is no number")
    if not isinstance(found, np.ndarray):
        return abstract_numbers.staged(kind)
    return fresh(contents, found.shape, kind, content)


def fresh(
    contents: Contents, shape: tuple[int, ...], kind: Scalar, content: AbstractElements = STAGED
) -> AbstractArray:
    """A new array."""
    made = AbstractArray(shape, kind, object(), True, True)
    contents[made.place] = content
    return made


def dummy(value: Any) -> Any:
    """A value like `value` for NumPy."""
    if value.__class__ is AbstractArray:
        shape = value.shape
        is_square = value.kind is REAL and len(shape) > 1 and shape[-1] == shape[-2]
        one = np.eye(shape[-1]) if is_square else np.zeros((), _DTYPES[value.kind])  # which has an inverse
        return np.broadcast_to(one, shape)
    if value.__class__ is AbstractNumber:
        return {REAL: 1.0, INT: 1, BOOL: True}[value.kind]
    if value.__class__ is Constant:
        return value.value
    return [dummy(item) for item in getattr(value, "items", ())]
