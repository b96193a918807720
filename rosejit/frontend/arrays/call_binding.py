"""Argument binding: the arguments of a call go to the parameters of NumPy's, Python's or our own signature, once.

A parameter that is not staged may say its default, in any place and under its name; anything else is refused by name.
Nothing is ignored. Signatures are texts, because ufuncs and functions written in C have none, and because those of
NumPy differ from release to release; a test compares the texts with the NumPy that is installed.
"""

# Values of users are of any type: what they are is asked while staging.

import inspect
from collections.abc import Callable
from functools import lru_cache
from inspect import Parameter, Signature
from typing import Any

from rosejit.frontend.arrays.array import Array
from rosejit.frontend.values.scalars import type_of
from rosejit.frontend.values.tape import Tape
from rosejit.ir.types import BOOL, INT, REAL, TAN, Scalar
from rosejit.numeric import np

Make = Callable[..., Any]

UFUNC = "out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=..."
"""What every ufunc takes behind its operands."""
_ROW_MAJOR = ("C", "K", "A")
"""Orders in memory, which are all the same to a new array: functions that read elements in an order take it."""
_ONLY_HOW = ("overwrite_a", "overwrite_b", "check_finite", "driver", "lapack_driver", "lwork")
"""Parameters of SciPy's that say how it computes, not what."""


@lru_cache(maxsize=512)
def signature_of(text: str) -> Signature:
    """The signature that a text like "a, axis=None, *, keepdims=False" stands for."""
    return inspect.signature(eval(f"lambda {text}: None"))


@lru_cache(maxsize=512)
def own_signature(make: Make) -> Signature:
    """The signature of a function of ours."""
    return inspect.signature(make)


def bound(tape: Tape, name: str, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What a call gives, by parameter. Arguments that the signature has no place for are the user's error."""
    return bound_arguments(tape, name, signature, args, kwargs).arguments


def bound_arguments(
    tape: Tape, name: str, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """The same as Python keeps it."""
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        known = signature.parameters
        named = [key for key in kwargs if key in known and known[key].kind is Parameter.POSITIONAL_ONLY]
        said = f"`{named[0]}` is positional only" if named else error  # Python's words depend on its version
        raise tape.type_fault(f"`{name}`: {said}", f"`{name}` takes ({_shown(signature)})") from None


def _shown(signature: Signature) -> str:
    plain = [p.replace(annotation=Parameter.empty) for p in signature.parameters.values()]
    return str(Signature(plain))[1:-1].replace("=Ellipsis", "=<nothing>")


def called(
    tape: Tape, name: str, make: Make, signature: Signature, first: tuple[Any, ...], given: dict[str, Any]
) -> Any:
    """`make(*first, ...)` of what was `given` by parameter; `first` has taken the place of as many parameters."""
    own = own_signature(make).parameters
    takes = {p.kind for p in own.values()}
    args, named = list(first), dict[str, Any]()
    whole = Parameter.VAR_POSITIONAL in takes
    for key, value in given.items():
        p = signature.parameters[key]
        if p.kind is Parameter.VAR_POSITIONAL:
            args += value
        elif p.kind is Parameter.VAR_KEYWORD:
            named |= value
        elif key not in own and Parameter.VAR_KEYWORD not in takes:
            _require_default(tape, name, p, value)
        elif whole and p.kind is not Parameter.KEYWORD_ONLY and not named:
            args.append(value)
        else:
            named[key] = value
    made = make(*args, **named)
    return made if given.get("dtype") is None or "dtype" in own else _of_type(tape, name, made, given["dtype"])


def _require_default(tape: Tape, name: str, p: Parameter, value: Any) -> None:
    """Refuse a parameter that is not staged, unless it says what is so anyway."""
    if value is p.default or p.name in ("dtype", *_ONLY_HOW) or value is getattr(np, "_NoValue", None):
        return
    if p.name == "order" and p.default in _ROW_MAJOR and (value is None or value in (*_ROW_MAJOR, "F")):
        return
    if isinstance(value, (bool, int, float, str)) and type(value) is type(p.default) and value == p.default:
        return
    raise tape.type_fault(
        f"`{name}(..., {p.name}=...)` is not staged",
        f"call it without `{p.name}` and write what that does, or use `rose.opaque`",
    )


# --- types of elements


_KINDS: dict[str, Scalar] = {"f": REAL, "i": INT, "b": BOOL}


def kind_of(tape: Tape, dtype: Any) -> Scalar | None:
    """The type of elements that a dtype of NumPy's asks for; None for None."""
    if dtype is None:
        return None
    found = np.dtype(dtype)
    kind = _KINDS.get(found.kind)
    if kind is None or (found.itemsize != 8 and kind is not BOOL):
        raise tape.type_fault(
            f"an array of {found} cannot be staged",
            "here arrays hold float64, int64 or bool: say `.astype(...)` of the result; docs/arrays.md lists more",
        )
    return kind


def _of_type(tape: Tape, name: str, made: Any, dtype: Any) -> Any:
    """A result whose type a `dtype` names that is not staged: it must be that anyway."""
    kind = kind_of(tape, dtype)
    found = made.type if made.__class__ is Array else type_of(made)
    if kind is None or found is kind or (found is TAN and kind is REAL):
        return made
    raise tape.type_fault(
        f"`{name}(..., dtype={np.dtype(dtype)})` is not staged: it gives a {found}", "convert with `.astype(...)`"
    )
