"""Stages the functions of NumPy that make arrays of staged numbers."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Callable
from typing import Any

from rosejit.frontend.array_methods import kind_of
from rosejit.frontend.arrays import Array, fresh, of_host
from rosejit.frontend.elementwise import cast, converted, mapped
from rosejit.frontend.host import number_kind
from rosejit.frontend.making import as_array
from rosejit.frontend.structures import is_staged_deep
from rosejit.frontend.values import ATOMS, Tan, real_atom, refuse_tangent, type_of, wrap
from rosejit.frontend.views import build, copy
from rosejit.ir.syntax import Zero
from rosejit.ir.types import INT, REAL, TAN, array
from rosejit.numeric import np

Args = tuple[Any, ...]
Options = dict[str, Any]
Handler = Callable[[Any, Any, Args, Options], Any]

_DTYPES = {REAL: "float64", INT: "int64"}


def _array(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.array`, `np.asarray`: the elements may be staged."""
    value, *rest = args
    if not is_staged_deep(value):
        return session.plain(function, args, kwargs)
    options = {key: option for key, option in kwargs.items() if option is not None}
    dtype = rest[0] if rest else options.pop("dtype", None)
    copied = options.pop("copy", function is np.array)
    for name in options:
        raise session.tape.type_fault(f"`np.{function.__name__}(..., {name}=...)` is not staged", f"leave out `{name}`")
    kind = kind_of(session.tape, dtype)
    if type_of(value) is not None:
        number = value if kind is None else cast(session.tape, value, kind)
        return _filled(session, (), number)
    made = as_array(session.tape, value)
    if made is None:
        raise session.tape.type_fault(f"`np.{function.__name__}` takes numbers, given {type(value).__name__}")
    if kind is not None and made.type is not kind:
        return converted(made, kind)
    return copy(made) if value.__class__ is Array and (copied or made.box.held) else made


def _filled(session: Any, shape: tuple[int, ...], value: Any) -> Array:
    """An array of one number."""
    kind = type_of(value)
    assert kind is not None
    atom = ATOMS[kind](session.tape, value)
    assert atom is not None
    made = build(session.tape, shape, kind, lambda indices: atom)
    return fresh(session.tape, made)  # pyright: ignore[reportArgumentType]  # without dimensions a number


def _like(name: str) -> Handler:
    """`np.zeros_like(x)` and its like."""

    def handler(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
        if not is_staged_deep(args):
            return session.plain(function, args, kwargs)
        like = as_array(session.tape, args[0])
        own = type_of(args[0]) if like is None else like.type
        shape = kwargs.get("shape") or (() if like is None else like.shape)
        dtype = kwargs.get("dtype")
        value = {"zeros": 0.0, "ones": 1.0}.get(name)
        if value is None:
            value = args[1] if len(args) > 1 else kwargs["fill_value"]
        if own is TAN and dtype is None:
            return _tangents(session, function, shape, value)
        kind = kind_of(session.tape, dtype) or own
        assert kind is not None
        if name == "full":
            return _full(session, np.full, (shape, value), {"dtype": _DTYPES.get(kind, "bool")})
        return of_host(session.tape, getattr(np, name)(shape, dtype=_DTYPES.get(kind, "bool")))

    return handler


def _tangents(session: Any, function: Any, shape: tuple[int, ...], value: Any) -> Array:
    """An array of one tangent, or of the only constant one, zero."""
    if value.__class__ is Tan:
        return _filled(session, shape, value)
    if number_kind(value) is None or value != 0:
        refuse_tangent(
            session.tape, f"`np.{function.__name__}` of tangents holds no tangents: the only constant one is zero"
        )
    return fresh(session.tape, session.tape.bind(Zero(), array(shape, TAN)))


def _full(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.full(shape, value)` with a staged value."""
    shape = args[0] if args else kwargs["shape"]
    value = args[1] if len(args) > 1 else kwargs["fill_value"]
    if not is_staged_deep((shape, value)):
        return session.plain(function, args, kwargs)
    lengths = lengths_of(session, shape)
    kind = kind_of(session.tape, kwargs.get("dtype", args[2] if len(args) > 2 else None))
    if type_of(value) is None:
        row = as_array(session.tape, value)
        if row is None:
            raise session.tape.type_fault(f"`np.full` takes a number, given {type(value).__name__}")
        row = row if kind is None else converted(row, kind)
        return mapped(session.tape, lambda x, z: x, row, of_host(session.tape, np.zeros(lengths)))
    return _filled(session, lengths, value if kind is None else cast(session.tape, value, kind))


def lengths_of(session: Any, shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of integers."""
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for length in lengths:
        if hasattr(length, "leaf"):
            raise session.tape.type_fault(
                "the shape of an array must be known while staging",
                "take it from the shape of an argument, or make the length `rose.Static`",
            )
    return lengths


def _shaped(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.zeros(shape)` and its like, whose arguments the host knows."""
    for value in (*args, *kwargs.values()):
        lengths_of(session, value)
    return session.plain(function, args, kwargs)


def _linspace(session: Any, function: Any, args: Args, kwargs: Options) -> Any:
    """`np.linspace(start, stop, num)` between staged numbers."""
    names = ("start", "stop", "num", "endpoint")
    options: Options = {"num": 50, "endpoint": True} | dict(zip(names, args, strict=False)) | kwargs
    start, stop, count = options.pop("start"), options.pop("stop"), options.pop("num")
    if not is_staged_deep((start, stop)):
        lengths_of(session, count)
        return session.plain(function, args, kwargs)
    (count,) = lengths_of(session, count)
    gaps = count - 1 if options.pop("endpoint") else count
    if options or any(type_of(end) is None for end in (start, stop)):
        raise session.tape.type_fault("`np.linspace` is staged for two numbers and `num` and `endpoint`")
    first, last = (wrap(session.tape, real_atom(session.tape, end)) for end in (start, stop))  # pyright: ignore[reportArgumentType]  # numbers
    steps = of_host(session.tape, np.arange(float(count)))
    step = (last - first) / float(max(gaps, 1))
    made = mapped(session.tape, lambda k: k * step + first, steps)
    if gaps == count - 1 and count > 1:
        made[count - 1] = last
    return made


FUNCTIONS: dict[str, Handler] = {
    "array": _array, "asarray": _array, "ascontiguousarray": _array, "full": _full, "linspace": _linspace,
    "zeros_like": _like("zeros"), "ones_like": _like("ones"), "empty_like": _like("zeros"), "full_like": _like("full"),
    "zeros": _shaped, "ones": _shaped, "empty": _shaped, "eye": _shaped, "identity": _shaped, "arange": _shaped,
}  # fmt: skip
