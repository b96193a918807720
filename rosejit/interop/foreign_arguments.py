"""What wrappers for other frameworks share: the arrays among the arguments of a call, and which of them have a
derivative."""

# Values of users are of any type.

import importlib
from collections.abc import Callable, Iterator
from typing import Any, Literal

from rosejit.abi import Leaf, Node
from rosejit.api import sessions
from rosejit.containers import is_complex
from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.hints import Static
from rosejit.frontend.values.pytree import parts, with_parts
from rosejit.numeric import np

Structure = Any
"""Tuples, lists, dicts, records, ..., as functions of rosejit take and give them."""


def required(module: str, extra: str) -> Any:
    """The module of a framework. Raises ImportError, which says what to install, where it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != module.split(".")[0]:
            raise  # it is there, and lacks something itself
        text = f'`rosejit.interop.{extra}` needs {module}, which is not installed: `pip install "rosejit[{extra}]"`'
        raise ImportError(text, name=module) from None


_ATOMS = frozenset({float, int, bool, str, type(None), np.ndarray})
"""Classes of values with nothing inside, unless they are leaves."""


def leaves_of(value: Structure, is_leaf: Callable[[Any], bool]) -> Iterator[Any]:
    """What is a leaf in a structure, in order."""
    if is_leaf(value):
        yield value
        return
    for part in _inside(value) or ():
        if is_leaf(part):
            yield part
        elif part.__class__ not in _ATOMS:
            yield from leaves_of(part, is_leaf)


def with_leaves(value: Structure, is_leaf: Callable[[Any], bool], found: Iterator[Any]) -> Structure:
    """`value` with other leaves."""
    if is_leaf(value):
        return next(found)
    if value.__class__ in _ATOMS:
        return value
    if value.__class__ is tuple:
        return tuple([with_leaves(part, is_leaf, found) for part in value])
    inside = parts(value)
    if inside is None or not any(True for _ in leaves_of(value, is_leaf)):
        return value
    return with_parts(value, [with_leaves(part, is_leaf, found) for part in inside])


def mapped(value: Structure, is_leaf: Callable[[Any], bool], change: Callable[[Any], Any]) -> Structure:
    """`value` with its leaves changed, and None for the rest."""
    if is_leaf(value):
        return change(value)
    inside = _inside(value)
    return None if inside is None else with_parts(value, [mapped(part, is_leaf, change) for part in inside])


def beside(value: Structure, other: Structure, is_leaf: Callable[[Any], bool]) -> Iterator[Any]:
    """What is in `other` where `value`, a structure that is like it, has its leaves."""
    if is_leaf(value):
        yield other
        return
    for part, its in zip(_inside(value) or (), _inside(other) or (), strict=False):
        if is_leaf(part):
            yield its
        elif part.__class__ not in _ATOMS:
            yield from beside(part, its, is_leaf)


def _inside(value: Structure) -> Any:
    return value if value.__class__ is tuple else None if value.__class__ in _ATOMS else parts(value)


def is_atom(value: Any) -> bool:
    """Whether there is nothing inside a value."""
    return value.__class__ in _ATOMS


def gives_real(function: Any, args: tuple[Any, ...]) -> Literal["number", "array"] | None:
    """Whether the result for these arguments is one real number, or one array of such: known once it is staged. None
    where that fails: the call tells why."""
    try:
        with sessions.session() as at:
            found = function.specialised(args, {}, at)[1].staged.result
    except Exception:
        return None
    if not isinstance(found, Leaf):
        return None
    return "number" if found.kind == "real" else "array" if found.shape and found.element == "real" else None


def is_number(value: Any) -> bool:
    """Whether a result is a number or an array."""
    return isinstance(value, (bool, int, float, np.ndarray))


def is_real(value: Any) -> bool:
    """Whether a result has a derivative."""
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def refuse_complex(function: Any, result: Any) -> None:
    """Refuse a result, or the tree of one, with complex numbers: their derivatives have other conventions elsewhere."""
    is_node = isinstance(result, Node)
    if is_complex(result) or (is_node and result.kind == "complex"):
        raise StagingTypeError(
            f"`{function.__name__}` is wrapped, and returns complex numbers",
            help="return the real and the imaginary part: `z.real, z.imag`",
        )
    for part in result.children if is_node else parts(result) or ():
        refuse_complex(function, part)


def in_order(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments by position, as derivatives take them."""
    if not kwargs:
        return args
    bound = function.__signature__.bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise StagingTypeError(
            f"`{function.__name__}` is wrapped, and takes its arguments by position",
            facts=(f"`{next(iter(bound.kwargs))}` is given by name only",),
            help="wrap a function of that argument by position, which hands it on",
        )
    return bound.args


def require_hosts(function: Any, args: tuple[Any, ...], is_leaf: Callable[[Any], bool], what: str) -> None:
    """Refuse leaves in arguments that are static: their values are needed while the function is staged."""
    for parameter, value in zip(function.binding.parameters, args, strict=False):
        if isinstance(parameter.description, Static) and any(True for _ in leaves_of(value, is_leaf)):
            raise StagingTypeError(
                f"`{function.__name__}` keeps `{parameter.name}` as a host value, and is given {what} for it",
                help="give a Python number, a text or an array of NumPy",
            )
