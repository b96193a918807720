"""Makes texts: of what staging knows as Python does; of what only running knows for `print`, `assert` and `raise`."""

# Values of users are of any type: what they are is asked while staging.

import itertools
import re
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from rosejit.frontend.arrays.array import Array, host_data
from rosejit.frontend.values.complexes import Complex
from rosejit.frontend.values.pytree import parts
from rosejit.frontend.values.scalars import NUMBERS, Tan
from rosejit.frontend.values.tape import Tape
from rosejit.lazy_dataclass import dataclass

_DEEPEST = 6
"""How far down a structure is looked into: those of users may contain themselves."""
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "a": ascii, "s": str}
_MARK = re.compile("\ue000(\\d+)\ue001")
"""Stands for a staged number in a text that Python makes, while `Tape.quoted` collects them."""


@dataclass(slots=True, frozen=True, eq=False)
class Field:
    """A staged value in a text, and how it is shown."""

    value: Any
    conversion: str = ""
    spec: str = ""


Form = tuple["str | tuple[str, str]", ...]
"""A text with gaps, each with the conversion and the format of the value that goes there."""


class Text:
    """A text of which running tells a part. What Python would do with a text cannot be done with it."""

    __slots__ = ("items", "tape")

    def __init__(self, tape: Tape, items: Sequence[str | Field]) -> None:
        self.tape = tape
        self.items = tuple(items)

    @property
    def values(self) -> list[Any]:
        """The staged values, in order."""
        return [item.value for item in self.items if isinstance(item, Field)]

    @property
    def form(self) -> Form:
        """The text without them."""
        return tuple([item if isinstance(item, str) else (item.conversion, item.spec) for item in self.items])

    def __add__(self, other: Any) -> "Text":
        return Text(self.tape, [*self.items, *_items(self.tape, other, "", "")])

    def __radd__(self, other: Any) -> "Text":
        return Text(self.tape, [*_items(self.tape, other, "", ""), *self.items])

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self.use()

    def __str__(self) -> str:
        if self.tape.frames:
            self.use()
        return filled(self.form, (f"<a staged {value.__class__.__name__}>" for value in self.values))  # of an error

    def use(self, *args: Any) -> NoReturn:
        """Say that there is no text yet."""
        first = self.values[0]
        _refuse(self.tape, "array" if first.__class__ is Array else first.__class__.__name__)


for _name in (
    *("repr", "format", "hash", "eq", "ne", "lt", "le", "gt", "ge", "len", "iter", "getitem", "contains"),
    *("bool", "mul", "rmul", "mod", "rmod"),
):
    setattr(Text, f"__{_name}__", Text.use)


def filled(form: Form, values: Iterator[Any]) -> str:
    """The text with its values."""
    made: list[str] = []
    for item in form:
        if isinstance(item, str):
            made.append(item)
        else:
            conversion, spec = item
            value = next(values)
            made.append(format(_CONVERSIONS[conversion](value) if conversion else value, spec))
    return "".join(made)


# --- making them


def text(tape: Tape, *items: Any) -> Any:
    """An f-string: texts, and values with conversion and format."""
    found: list[str | Field] = []
    for item in items:
        found += [item] if item.__class__ is str else _items(tape, *item)
    return joined(tape, found)


_PERCENT = re.compile(r"%(?:\((\w+)\))?([-+ #0]*)(\d*)(?:\.(\d+))?([a-zA-Z%])")
"""A place for a value, as `%` of texts has it."""


def percent(tape: Tape, pattern: Any, values: Any) -> Any:
    """`pattern % values`, of a text."""
    if pattern.__class__ is Text or not _is_staged(values):
        return pattern % values
    named = isinstance(values, dict)
    given = iter(values if isinstance(values, tuple) else () if named else (values,))
    found: list[str | Field] = []
    end = 0
    for match in _PERCENT.finditer(pattern):
        name, flags, width, digits, kind = match.groups()
        found.append(pattern[end : match.start()])
        end = match.end()
        if kind == "%":
            found.append("%")
            continue
        value = values[name] if named else next(given, tape)
        if value is tape:
            raise TypeError("not enough arguments for format string")
        found += _place(tape, value, flags, width, digits, kind)
    if "%" in _PERCENT.sub("", pattern):
        _refuse_percent(tape, pattern)
    if next(given, tape) is not tape:
        raise TypeError("not all arguments converted during string formatting")
    return joined(tape, [*found, pattern[end:]])


def braces(tape: Tape, pattern: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`pattern.format(*args, **kwargs)`."""
    formatter, places = string.Formatter(), itertools.count()

    def filled_in(pattern: str) -> Any:
        found: list[str | Field] = []
        for words, name, spec, conversion in formatter.parse(pattern):
            found.append(words)
            if name is not None:
                whole = f"{next(places)}{name}" if not name or name[0] in ".[" else name
                value = formatter.get_field(whole, args, kwargs)[0]
                found += _items(tape, value, conversion or "", filled_in(spec or ""))
        return joined(tape, found)

    return filled_in(pattern)


def _place(tape: Tape, value: Any, flags: str, width: str, digits: str | None, kind: str) -> list[str | Field]:
    """One value of `%`."""
    if not _is_staged(value):
        return [f"%{flags}{width}{'' if digits is None else '.' + digits}{kind}" % (value,)]
    if kind in "rsa":
        spec = ("<" if "-" in flags else ">") + width if width else ""
        return _items(tape, value, kind, spec + ("" if digits is None else f".{digits}"))
    is_whole = kind in "diuxXo"
    if (
        value.__class__ not in NUMBERS
        or (is_whole and value.__class__.__name__ == "Real")
        or kind not in "diuxXoeEfFgG"
    ):
        _refuse_percent(tape, f"%{kind}", value)
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zeros = "0" if "0" in flags and "-" not in flags and width else ""
    align = "<" if "-" in flags and width else "" if zeros or not width else ">"
    kind = "d" if kind in "iu" else kind
    hashed = "#" if "#" in flags else ""
    return [Field(value, "", f"{align}{sign}{hashed}{zeros}{width}{'' if digits is None else '.' + digits}{kind}")]


def _refuse_percent(tape: Tape, what: str, value: Any = None) -> NoReturn:
    shown = "a staged value" if value is None else f"a staged {value.__class__.__name__}"
    raise tape.type_fault(
        f"`{what}` in a text that `%` makes does not show {shown}",
        "write an f-string, or `%g`, `%f`, `%e`, `%s` (`%d` for an integer)",
    )


def joined(tape: Tape, items: Sequence[str | Field]) -> Any:
    """One text of some; an ordinary one if all of it is known."""
    if all(isinstance(item, str) for item in items):
        return "".join([item for item in items if isinstance(item, str)])
    return Text(tape, items)


def message(tape: Tape, value: Any, quoted: Sequence[Field] = ()) -> Any:
    """What `str(value)` is, or the text that it will be."""
    if value.__class__ is str and quoted:
        pieces = _MARK.split(value)
        return joined(tape, [quoted[int(p)] if k % 2 else p for k, p in enumerate(pieces) if k % 2 or p])
    return joined(tape, _items(tape, value, "", ""))


def mark(value: Any, spec: str) -> str | None:
    """What Python is given for the text of a staged number, while somebody collects them."""
    quoted = value.tape.quoted
    if quoted is None or value.__class__ is Tan:
        return None
    quoted.append(Field(value, "", spec))
    return f"\ue000{len(quoted) - 1}\ue001"


def _items(tape: Tape, value: Any, conversion: str, spec: Any) -> list[str | Field]:
    """What the text of a value consists of."""
    if spec.__class__ is Text:
        spec.use()
    if value.__class__ is Text:
        if spec or conversion in ("r", "a"):
            value.use()
        return list(value.items)
    if value.__class__ in NUMBERS or (value.__class__ is Array and host_data(value) is None):
        if value.__class__ is Tan:
            _refuse(tape, "tangent")
        return [Field(value, conversion, spec)]
    if value.__class__ in (tuple, list) and not spec and _is_staged(value):
        return _of_sequence(tape, value)
    known = require_host_parts(tape, value)
    return [format(_CONVERSIONS[conversion](known) if conversion else known, spec)]


def _of_sequence(tape: Tape, value: Any) -> list[str | Field]:
    start, end = ("[", "]") if value.__class__ is list else ("(", ",)" if len(value) == 1 else ")")
    found: list[str | Field] = [start]
    for k, item in enumerate(value):
        found += [", "] if k else []
        found += _items(tape, item, "r", "")
    return [*found, end]


def _is_staged(value: Any, depth: int = 0) -> bool:
    if value.__class__ in NUMBERS or value.__class__ is Text:
        return True
    if value.__class__ is Array:
        return host_data(value) is None
    return depth < _DEEPEST and any(_is_staged(item, depth + 1) for item in parts(value) or ())


def require_host_parts(tape: Tape, value: Any, depth: int = 0) -> Any:
    """`value` as Python shows it; raises where staged values are in it."""
    if value.__class__ is Array:
        data = host_data(value)
        if data is None:
            _refuse(tape, "array")
        return data
    if value.__class__ in NUMBERS or value.__class__ is Complex:
        _refuse(tape, value.__class__.__name__)
    for item in (parts(value) or ()) if depth < _DEEPEST else ():
        require_host_parts(tape, item, depth + 1)
    return value


def _refuse(tape: Tape, what: str) -> NoReturn:
    raise tape.type_fault(
        f"text needs the value of a staged {what}, which only running tells",
        "give the text, or the value itself, to `print`, `assert` or `raise`, which show it when the code runs; "
        "`round(x, digits)` and `int(x)` cut numbers without a text",
    )
