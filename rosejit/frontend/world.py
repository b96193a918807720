"""All that staging a function can read, by content: two functions with one digest are staged to one program.

The walk is a pickle (protocol 3) of what the function closes over: numbers, texts, tuples, lists and dicts as they are,
by their exact types, in order, a shared one as shared. Everything else is a number in it, and what belongs to the
number follows (`contents.py`). Pickles are read back to what was written, so equal bytes are equal worlds; what cannot
be written down raises `Open`. In protocol 3 sets, whose order is of the process, are calls of `set`, which are refused.
"""

# Values of users are of any type: what they are is asked while walking.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import builtins
import io
import pickle
import re
import struct
from hashlib import blake2b
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rosejit.frontend.codes import Open, Scope

_SPECIAL = re.compile(rb"(?s)(?=G([\x7f\xff][\xf0-\xff].{6}))")
_REAL = struct.Struct(">d")
"""How pickle writes a float."""


class Mark:
    """In a walk: the object of a number."""


class World:
    """What is reached from a function. Functions and classes are numbered as they are met, by content alone."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self.classes: list[type] = []
        self.codes: set[int] = set()
        """By `id`: the code of all functions in it, and of functions that those make."""
        self.names: set[str] = set()
        """All names in that code: of globals, of attributes."""
        self.usual: set[int] = set()
        """By `id`: the user's code that functions in it have."""
        self._written = b""
        self._met: list[Any] = []
        self._scopes: dict[tuple[int, int], Scope] = {}
        self._modules: dict[int, tuple[ModuleType, set[str]]] = {}

    def digest(self, *given: Any) -> str:
        """The digest of what is `given` and of all that it reaches. Raises `Open` where that has no end."""
        from rosejit.frontend.contents import content  # it needs this module to say what it meets

        out = io.BytesIO()
        walk = _Walk(out, self._met)
        self.module(builtins)
        try:
            walk.dump(given)
            done = 0
            while done < len(self._met):
                fresh = self._met[done:]
                done = len(self._met)
                walk.dump([content(self, each) for each in fresh])
                if done == len(self._met):
                    walk.dump(self._of_modules())
        except Open:
            raise
        except Exception as error:  # a dict that another thread changes, a class whose `__module__` is no text
            raise Open(f"what cannot be walked ({error})") from None
        self._written = out.getvalue()
        return blake2b(self._written, digest_size=32).hexdigest()

    def nans(self) -> int:
        """How many floats in it are no numbers: each is equal to what it is identical with, and to nothing else."""
        return sum(number != number for (number,) in map(_REAL.unpack, _SPECIAL.findall(self._written)))

    def scope(self, function: FunctionType) -> Scope:
        """What all functions of one code have in common: that, and the globals that it names."""
        key = (id(function.__code__), id(function.__globals__))
        found = self._scopes.get(key)
        if found is None:
            found = self._scopes[key] = Scope(function.__code__, function.__globals__)
        return found

    def covers(self, code: CodeType) -> bool:
        """Whether a function of that code belongs to it."""
        return id(code) in self.codes

    def module(self, module: ModuleType) -> None:
        """From now on attributes of the module that code names are part of the world."""
        if vars(module).get("__getattr__") is not None and not is_known_package(module.__name__):
            raise Open(f"the module `{module.__name__}`, which makes its attributes")
        self._modules.setdefault(id(module), (module, set()))

    def _of_modules(self) -> list[Any]:
        """The attributes of modules that have been named since."""
        found: list[Any] = []
        for module, seen in list(self._modules.values()):
            held = vars(module)
            fresh = sorted(name for name in self.names - seen if name in held)
            seen |= self.names
            found += [(module.__name__, name, held[name]) for name in fresh]
        return found


class _Walk(pickle.Pickler):
    def __init__(self, out: io.BytesIO, met: list[Any]) -> None:
        super().__init__(out, 3)
        self._met = met

    def reducer_override(self, value: Any, /) -> Any:
        """Whatever pickle does not know as data: a number."""
        if value is Mark:
            return NotImplemented
        if (
            value is set or value is frozenset or value is bytearray
        ):  # named, or called for what pickle makes of their objects
            raise Open(f"a {value.__name__}")
        self._met.append(value)
        return Mark, (len(self._met),)


def is_known_package(name: str) -> bool:
    """Whether a module is one of those whose lazy attributes are always the same."""
    return name.partition(".")[0] in ("numpy", "rosejit")
