"""Python names to names and texts of JavaScript."""

import json
import math
import re
from typing import Any

from rosejit.errors import StagingTypeError
from rosejit.numeric import np

_RESERVED = (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends "
    "false finally for function if implements import in instanceof interface let load new null package private "
    "protected public return static super switch this throw true try typeof var void while with yield "
    "Array Boolean Infinity NaN"  # what our own code inside functions means by them
)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def is_word(text: str) -> bool:
    """Whether `text` can stand behind a dot."""
    return _WORD.fullmatch(text) is not None


def is_variable(name: str) -> bool:
    """Whether `name` can be the name of a variable of JavaScript."""
    return is_word(name) and variable(name) == name


def variable(name: str) -> str:
    """A variable for the Python name `name`; no name of Python has the `$` with which ours begin and such end."""
    return f"{name}$" if name in _RESERVED.split() else name


def text(value: str) -> str:
    """A string literal."""
    return json.dumps(value, ensure_ascii=False)


def key(name: Any) -> str:
    """What stands before the colon in an object."""
    word = str(name)
    if word == "__proto__":
        return f"[{text(word)}]"  # else it would be the prototype
    return word if is_word(word) else text(word)


def member(base: str, name: Any) -> str:
    """A property of `base`."""
    return f"{base}.{name}" if is_word(str(name)) else f"{base}[{text(str(name))}]"


def loop_counter(loop: int) -> str:
    """The number at which loop `loop` is, as a part of a path: `$said` puts it in where something is wrong."""
    return f"\0{loop}"


def literal(value: Any, what: str) -> str:
    """A host value as JavaScript; `what` says whose it is, should there be no such thing."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value)) if abs(value) < 1 << 53 else f"{int(value)}n"
        case float():
            return _real(float(value))  # NumPy's are among them
        case str():
            return text(value)
        case list() | tuple():
            return f"[{', '.join(literal(item, what) for item in value)}]"
        case dict():
            return f"{{ {', '.join(f'{key(k)}: {literal(v, what)}' for k, v in value.items())} }}"
        case np.ndarray() | np.generic():
            return literal(value.tolist(), what)
    raise StagingTypeError(f"{what} is a {type(value).__name__}, which has no form in JavaScript")


def _real(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else f"{'-' * (value < 0)}Infinity"


def has_literal(value: Any) -> bool:
    """Whether a host value has a form in JavaScript."""
    try:
        literal(value, "a value")
    except StagingTypeError:
        return False
    return True
