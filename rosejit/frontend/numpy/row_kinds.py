"""Kinds of functions of NumPy: what a row of the registry says of one, and how a call of each kind is staged."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownLambdaType=false

from collections.abc import Callable
from functools import cached_property
from inspect import Signature
from math import prod
from typing import Any

from rosejit.errors import RoseError, ShapeError
from rosejit.frontend.arrays import boolean_indexing
from rosejit.frontend.arrays.access import check_writable
from rosejit.frontend.arrays.array import Array, host_data
from rosejit.frontend.arrays.asarray import as_array
from rosejit.frontend.arrays.boolean_indexing import MaskedArray
from rosejit.frontend.arrays.broadcast import broadcast_map, broadcast_shape, cast, logical
from rosejit.frontend.arrays.call_binding import UFUNC, bound, called, kind_of, own_signature, signature_of
from rosejit.frontend.arrays.getitem import get, set_
from rosejit.frontend.arrays.zero_dimensional import mark
from rosejit.frontend.numpy import manipulation
from rosejit.frontend.numpy.complex_rows import with_complex
from rosejit.frontend.numpy.narrow_rows import with_narrow
from rosejit.frontend.numpy.staged_numpy import array_of
from rosejit.frontend.values.open_lengths import has_open, is_of_open_length, refuse
from rosejit.frontend.values.pytree import is_staged_deep
from rosejit.frontend.values.scalars import type_of
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.lazy_dataclass import dataclass
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Make = Callable[..., Any]
Handler = Callable[[Any, Any, Args, Options], Any]


@dataclass(frozen=True)
class Row:
    """A function of NumPy that is staged."""

    names: str
    """NumPy's names, the function's own first; behind a dot those of a module, or of a method of a ufunc."""
    kind: Callable[["Row"], Handler]
    make: Make
    """What stages it. Its parameters have NumPy's names; those of NumPy's that it has not are refused."""
    signature: str = ""
    """NumPy's. Where there is none, it is that of `make`, or a ufunc's."""
    samples: str = ""
    """Arguments with which the tests call it, `; ` between the calls; functions of elements need none."""
    gives: str = "fresh"
    """A fresh array, a "view" of the first argument, "several" arrays; or it "writes" the first argument."""
    is_method: bool = False
    """Whether arrays have it as a method, too, with the parameters behind the first."""
    picked: Make | None = None
    """What it is of the elements that a staged mask picks, if that is staged."""
    zero_dimensional: bool = False
    """Whether NumPy gives an array without dimensions, and no number, of numbers."""
    any_length: bool = False
    """Whether arrays whose length stays open are taken: `make` asks none how long it is. Functions of elements do."""

    @property
    def name(self) -> str:
        """As messages call it."""
        name = self.names.split()[0]
        return name if name.startswith("scipy.") else f"np.{name}"

    @cached_property
    def binds(self) -> Signature:
        """The signature by which calls are bound."""
        if self.signature:
            return signature_of(self.signature)
        if self.kind is of_elements:
            return signature_of(f"{'x' if self.operands == 1 else 'x1, x2'}, /, {UFUNC}")
        own = own_signature(self.make)
        takes_tape = self.kind in (of_several, of_functions, making)
        return own.replace(parameters=list(own.parameters.values())[takes_tape:])

    @cached_property
    def operands(self) -> int:
        """How many operands a function of elements has."""
        return len(self.make.params if isinstance(self.make, Primitive) else own_signature(self.make).parameters)

    @cached_property
    def method(self) -> Signature:
        """The signature of the method; of one that is no function, too, its own."""
        if not self.is_method:
            return signature_of(self.signature)
        return self.binds.replace(parameters=list(self.binds.parameters.values())[1:])

    @cached_property
    def stages(self) -> Handler:
        """What is done with a call."""
        name = self.names.split()[0]
        narrow = with_narrow(name, self.make, self.kind(self), with_complex, self.kind is of_elements)
        whole = _of_lengths(self, narrow)
        return _marked(self, whole) if self.zero_dimensional or self.kind is making else whole


def require_length(row: Row, tape: Any, args: Args) -> None:
    """Refuse an array of open length where it was not thought of."""
    if not row.any_length and row.kind is not of_elements and any(map(is_of_open_length, args)):
        refuse(tape, f"`{row.name}`")


def _of_lengths(row: Row, handler: Handler) -> Handler:
    def checked(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if session.tape.has_open:
            require_length(row, session.tape, (*args, *kwargs.values()))
        return handler(session, function, args, kwargs)

    return checked


def _marked(row: Row, handler: Handler) -> Handler:
    def noted(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        return marked(session.tape, row, handler(session, function, args, kwargs), (*args, *kwargs.values()))

    return noted


def marked(tape: Any, row: Row, made: Any, args: Args) -> Any:
    """What a function gave, noted where it is a number that is an array without dimensions in NumPy."""
    if made.__class__ is Array or not (row.zero_dimensional or row.kind is making):
        return made
    shown = args[0].box if row.gives == "view" and args[0].__class__ is Array else None
    return mark(tape, made, row.name, shown)


def is_open(*args: Any) -> bool:
    """Whether a length that stays open is in one of the arguments."""
    return any(has_open(arg if isinstance(arg, (tuple, list)) else (arg,)) for arg in args)


def is_staged(*args: Any) -> bool:
    """Whether something staged is in one of the arguments."""
    return any(arg.__class__ is MaskedArray or is_staged_deep(arg) for arg in args)


def name_of(function: Any) -> str:
    """The name of a function, for messages."""
    return getattr(function, "__name__", str(function))


def _title(function: Any) -> str:
    """A function as users write it."""
    return f"{'scipy.special' if 'scipy' in str(getattr(function, '__module__', '')) else 'np'}.{name_of(function)}"


# --- functions of every element


def of_elements(row: Row) -> Handler:
    """A function of the elements, broadcast; `out` is written."""
    count = row.operands

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not is_staged(*args, *kwargs.values()):
            return session.plain(function, args, kwargs)
        if len(args) == count and not kwargs:
            return of_operands(session.tape, function, row.make, args)
        given = bound(session.tape, row.name, row.binds, args, kwargs)
        operands = [given.pop(key) for key in list(row.binds.parameters)[:count]]
        out, where = given.pop("out", None), given.pop("where", True)
        operands = _of_dtype(session.tape, function, operands, given.get("dtype"))
        if where is not True:
            return _where(session, row, function, operands, given, out, where)
        made = called(
            session.tape,
            row.name,
            lambda: of_operands(session.tape, function, row.make, operands),
            row.binds,
            (),
            given,
        )
        return made if out is None else _put(session, made, out)

    return handler


def _of_dtype(tape: Any, function: Any, operands: list[Any], dtype: Any) -> list[Any]:
    """The operands as a `dtype` says in which a function computes: wider ones, as NumPy converts."""
    kind = kind_of(tape, dtype)
    if kind not in (REAL, INT):
        return operands
    found = [_operand(tape, function, value) for value in operands]
    narrow = (INT, BOOL) if kind is REAL else (BOOL,)
    widened = [getattr(x, "type", type_of(x)) in narrow for x in found]
    wanted = REAL if kind is REAL else INT

    def made(x: Any, is_narrow: bool) -> Any:
        return broadcast_map(tape, lambda v: cast(tape, v, wanted), x) if is_narrow else x

    return [made(x, is_narrow) for x, is_narrow in zip(found, widened, strict=True)]


def _where(session: Any, row: Row, function: Any, operands: list[Any], given: Options, out: Any, where: Any) -> Any:
    """`out` with the function where `where` holds; it runs only there, so that it spoils no derivative elsewhere."""
    tape = session.tape
    out = _target(tape, out, "`where` leaves the other elements as they are in `out`: give it")
    mask = array_of(tape, row.name, where)
    if mask.type is not BOOL:
        raise tape.type_fault("`where` is an array of truth values", "write a comparison: `where=x != 0`")
    arrays = [_operand(tape, function, value) for value in operands]
    if broadcast_shape(tape, (mask, *arrays), out.shape) != out.shape:
        raise tape.fault(ShapeError, f"what is computed does not fit into the shape {out.shape} of `out`")
    check_writable(out)
    flat = [
        manipulation.reshape(manipulation.broadcast(x, out.shape), -1) if x.__class__ is Array else x for x in arrays
    ]
    wide = manipulation.reshape(manipulation.broadcast(mask, out.shape), -1)
    picked = [get(x, wide) if x.__class__ is Array else x for x in flat]
    if not any(x.__class__ is Array for x in flat):
        picked[0] = get(array_of(tape, row.name, [flat[0]] * prod(out.shape)), wide)
    made = called(tape, row.name, lambda: of_operands(tape, function, row.make, picked), row.binds, (), given)
    target = manipulation.reshaped(out, (prod(out.shape),))
    set_(target, wide, made)
    set_(out, Ellipsis, manipulation.reshaped(target, out.shape))
    return out


def _target(tape: Any, out: Any, help: str = "leave out `out`") -> Array:
    (out,) = out if out.__class__ is tuple and len(out) == 1 else (out,)
    if out.__class__ is not Array:
        raise tape.type_fault(f"`out` is an array, given {type(out).__name__}", help)
    return out


def _put(session: Any, made: Any, out: Any) -> Any:
    out = _target(session.tape, out)
    set_(out, Ellipsis, made)
    return out


def of_operands(tape: Any, function: Any, make: Make, args: Any) -> Any:
    """`make` of numbers, of arrays element by element, or of what masks pick."""
    if any(arg.__class__ is MaskedArray for arg in args):
        return boolean_indexing.applied(make, *args)
    operands = [_operand(tape, function, arg) for arg in args]
    try:
        make = logical(tape, make, *operands)
        if not any(operand.__class__ is Array for operand in operands):
            return make(*operands)
        return broadcast_map(tape, make, *operands, host=function)
    except RoseError:
        raise
    except TypeError:
        kinds = " and ".join(f"a {x.type if x.__class__ is Array else type_of(x)}" for x in operands)
        raise tape.type_fault(f"`{_title(function)}` of {kinds} is not defined") from None


def _operand(tape: Any, function: Any, value: Any) -> Any:
    found = value if type_of(value) is not None else as_array(tape, value)
    if found is None:
        raise tape.type_fault(f"`{_title(function)}` takes numbers and arrays, given {type(value).__name__}")
    return found


# --- functions of whole arrays


def called_into(tape: Any, name: str, make: Make, signature: Signature, first: Args, given: Options) -> Any:
    """`called`, which puts what it gives into `out`: that must have its shape, and a type that holds it."""
    out = given.get("out")
    if out is None or "out" in own_signature(make).parameters or name.startswith("np.linalg"):
        return called(tape, name, make, signature, first, given)
    del given["out"]
    out = _target(tape, out)
    check_writable(out)
    made = called(tape, name, make, signature, first, given)
    if made.__class__ is tuple or getattr(made, "shape", ()) != out.shape:
        shape = getattr(made, "shape", ())
        raise tape.fault(ShapeError, f"`{name}` gives the shape {shape}, and `out` has the shape {out.shape}")
    set_(out, Ellipsis, made)
    return out


def of_array(row: Row) -> Handler:
    """A function whose first argument is an array."""
    first = next(iter(row.binds.parameters))

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not is_staged(*args, *kwargs.values()):
            return session.plain(function, args, kwargs)
        given = bound(session.tape, row.name, row.binds, args, kwargs)
        value = given.pop(first)
        if value.__class__ is MaskedArray:
            return _of_selection(row, value, given)
        array = array_of(session.tape, row.name, value)
        return called_into(session.tape, row.name, row.make, row.binds, (array,), given)

    return handler


def _of_selection(row: Row, selection: MaskedArray, given: Options) -> Any:
    if row.picked is None:
        selection.refuse(f"`{row.name}`")
    return called(selection.tape, row.name, row.picked, row.binds, (selection,), given)


def of_several(row: Row) -> Handler:
    """A function that is handed the tape and its arguments as they are."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not is_staged(*args, *kwargs.values()):
            return session.plain(function, args, kwargs)
        given = bound(session.tape, row.name, row.binds, args, kwargs)
        return called_into(session.tape, row.name, row.make, row.binds, (session.tape,), given)

    return handler


def of_functions(row: Row) -> Handler:
    """A function that calls functions of the user's, which may read what is staged wherever they like."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        given = bound(session.tape, row.name, row.binds, args, kwargs)
        return called(session.tape, row.name, row.make, row.binds, (session.tape,), given)

    return handler


def making(row: Row) -> Handler:
    """A function that makes an array."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if args and not kwargs and len(args) == 1 and not is_staged(*args) and not is_open(*args):
            return session.plain(definite(function), args, kwargs)
        given = bound(session.tape, row.name, row.binds, args, kwargs)
        if not is_staged(*given.values()) and not is_open(*given.values()):
            return session.plain(definite(function), args, kwargs)
        kind_of(session.tape, given.get("dtype"))
        return called(session.tape, row.name, row.make, row.binds, (session.tape,), given)

    return handler


def definite(function: Any) -> Any:
    """What gives zeros for `np.empty`, as staged code has them: what lies in the memory would be in the compiled
    program."""
    return np.zeros if function is np.empty else np.zeros_like if function is np.empty_like else function


def writing(row: Row) -> Handler:
    """A function that writes its first argument."""
    first = next(iter(row.binds.parameters))

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        given = bound(session.tape, row.name, row.binds, args, kwargs)
        target = given.pop(first)
        if target.__class__ is not Array:
            return session.plain(function, args, kwargs)
        called(session.tape, row.name, row.make, row.binds, (target,), given)
        return None

    return handler


def of_shape(row: Row) -> Handler:
    """A function of the shape and the type, which are known while staging."""
    first = next(iter(row.binds.parameters))

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        given = bound(session.tape, row.name, row.binds, args, kwargs)
        value = given.pop(first)
        made = value if value.__class__ is Array else as_array(session.tape, value)
        kinds: dict[Any, type] = {REAL: float, INT: int}
        kind = kinds.get(getattr(made, "type", type_of(value)), bool)
        try:
            return function(np.empty(() if made is None else made.shape, kind), **given)
        except (ValueError, IndexError) as error:
            raise session.tape.fault(ShapeError, str(error)) from None

    return handler


def of_places(row: Row) -> Handler:
    """A function whose result is as long as there are elements that are not zero: refused, unless those are known."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        arrays = [as_array(session.tape, arg) for arg in args if is_staged(arg)]
        if all(a is not None and host_data(a) is not None for a in arrays):
            return session.plain(function, args, kwargs)
        raise session.tape.type_fault(
            f"`np.{name_of(function)}` needs to know where a staged array holds, which only running tells",
            "keep the shape with `np.where(mask, x, 0.0)`, or pick with the mask itself: `x[mask].sum()`, "
            "`y[mask] = ...`",
        )

    return handler
