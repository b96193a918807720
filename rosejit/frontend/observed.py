"""Watches a staging, to tell whether every other process stages an equal world (`world.py`) in the same way.

It is so where nothing was done but what is listed here: calls of these functions, of the user's functions that belong
to the world, and syntax that cannot look at the order of a set or the identity of a number. What was changed outside
shows when the world is walked again.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import dataclasses
import functools
import itertools
import math
import operator
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from rosejit.frontend.contents import is_ours
from rosejit.frontend.listed import hidden, is_harmless, unlisted
from rosejit.frontend.nodes import inside
from rosejit.frontend.rewrite import TRANSLATIONS, Translation
from rosejit.frontend.runs import runs
from rosejit.frontend.source import Source
from rosejit.frontend.users import is_users, is_users_class, is_users_code
from rosejit.frontend.world import World
from rosejit.numeric import loaded, np

_CALLING = frozenset(map(id, (map, filter, functools.reduce, sorted, itertools.accumulate, itertools.starmap)))
"""They call what they are given, which is staged."""
_HOLDING = frozenset(
    map(id, (callable, isinstance, issubclass, functools.partial, list, tuple, dict, zip, enumerate, len))
)
"""They are given functions and do not call them."""
_TEXTS = frozenset(map(id, (str, repr, ascii, format)))
_OF_PYTHON = _CALLING | _HOLDING | frozenset(map(id, (
    abs, all, any, bin, chr, complex, divmod, float, int, bool, iter, max, min, next, ord, pow, range, reversed, round,
    slice, sum, super, type, object, operator.itemgetter, itertools.product, itertools.permutations,
    itertools.combinations, itertools.combinations_with_replacement, itertools.chain, itertools.islice,
    itertools.repeat, itertools.cycle, itertools.count, itertools.zip_longest, itertools.compress,
)))  # fmt: skip
_OF_OPERATOR = frozenset({
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs", "lt", "le", "gt", "ge", "eq", "ne",
    "and_", "or_", "xor", "invert", "matmul", "not_", "truth", "getitem", "contains", "index", "concat", "countOf",
    "indexOf", "lshift", "rshift", "inv",
})  # fmt: skip
_OF_NUMPY = frozenset({
    "arange", "array", "asarray", "ascontiguousarray", "linspace", "logspace", "geomspace", "zeros", "zeros_like",
    "ones", "ones_like", "full", "full_like", "eye", "identity", "diag", "diagonal", "tri", "tril", "triu", "outer",
    "inner", "dot", "vdot", "matmul", "tensordot", "einsum", "kron", "cross", "trace", "concatenate", "stack",
    "hstack", "vstack", "column_stack", "split", "reshape", "ravel", "transpose", "swapaxes", "moveaxis",
    "expand_dims", "squeeze", "tile", "repeat", "roll", "flip", "fliplr", "flipud", "rot90", "broadcast_to",
    "atleast_1d", "atleast_2d", "meshgrid", "sum", "prod", "mean", "std", "var", "min", "max", "amin", "amax",
    "argmin", "argmax", "cumsum", "cumprod", "diff", "clip", "where", "sort", "argsort", "searchsorted", "nonzero",
    "flatnonzero", "argwhere", "unique", "all", "any", "median", "ndim", "shape", "size", "allclose", "isclose",
    "array_equal", "round", "interp", "polyval", "trapezoid", "copy", "norm", "det", "inv", "solve", "float64",
    "int64", "bool_", "count_nonzero", "take", "delete", "append",
})  # fmt: skip
_OF_ARRAYS = frozenset({
    "sum", "prod", "mean", "std", "var", "min", "max", "argmin", "argmax", "cumsum", "cumprod", "copy", "reshape",
    "ravel", "flatten", "transpose", "swapaxes", "squeeze", "tolist", "item", "dot", "trace", "diagonal", "astype",
    "all", "any", "nonzero", "clip", "round", "repeat", "take", "sort", "argsort",
})  # fmt: skip
_TRANSFORMS = frozenset({
    "grad", "value_and_grad", "jacfwd", "jacrev", "jacobian", "hessian", "hvp", "jvp", "vjp", "linearize", "vmap",
    "checkpoint",
})  # fmt: skip
"""Functions of ours that take functions, which are staged when they are called."""
_OF_ROSE = frozenset({"logsumexp", "softmax", "stop_gradient"})
_CLASS_METHODS = ((dict, "fromkeys"), (itertools.chain, "from_iterable"), (float, "fromhex"))
_NUMBERS = frozenset(map(id, (float, int, bool)))
_METHODS_OF = (list, dict, tuple, str, bytes, int, float, bool, complex, range, type(None))
_SHOWN = frozenset({int, float, bool, str, bytes, complex, type(None)})
"""What has a text that no address is in."""


class Seen:
    """What a staging was seen to do; `why` says what speaks against a key."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.why = ""
        self.made: dict[int, Any] = {}
        """By `id`: what this staging has specialised."""
        self.sources: dict[str, list[Source]] = {}
        """By file: the text that was staged."""
        self._checked: set[tuple[int, int]] = set()
        self._watch = runs(self._begins)

    def refuse(self, why: str) -> None:
        """There will be no key."""
        self.why = self.why or why

    def begin(self, meet: Callable[[type], None]) -> None:
        """Staging begins. Classes are met first: else what their operators do might go unseen."""
        if self.world.nans() > 1:
            self.refuse("there is more than one nan")
        for cls in self.world.classes:
            meet(cls)
        if not self._watch.begin():
            self.refuse("somebody else is watching")

    def end(self) -> None:
        """Staging is over."""
        if not self._watch.end():
            self.refuse("nobody was watching")

    def _begins(self, code: CodeType, caller: CodeType | None) -> bool:
        """Code of the user's runs that is not rewritten: Python, or a library, calls it."""
        if TRANSLATIONS.made(code) or is_ours(code) or not is_users(code.co_filename):
            return True
        if code.co_name == "__getattr__" and caller is not None and is_ours(caller):
            return False  # asked for what is ours alone
        self.refuse(f"`{code.co_name}` is called by Python")
        return True

    def ran(self, function: FunctionType, translation: Translation) -> None:
        """A function was rewritten, to be run."""
        code = function.__code__
        key = (id(code), id(function.__globals__))
        if key in self._checked or is_ours(code):
            return
        self._checked.add(key)
        self.sources.setdefault(code.co_filename, []).append(translation.source)
        if not self.world.covers(code):
            self.refuse(f"`{function.__qualname__}` is from outside")
        read = {chain[0] for chain in translation.chains}.difference(code.co_freevars)
        if not self.world.names >= read:
            self.refuse("the text of a file is not that of the code")
        node = translation.source.node
        nodes = [*inside(node)]
        self.refuse(unlisted(node, nodes) or hidden(function, nodes) or self.why)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Python calls a function that nobody looks into."""
        self._given(function, args, kwargs)
        if function is getattr or function is hasattr:
            if len(args) < 2 or isinstance(args[0], ModuleType) or type(args[1]) is not str or not is_harmless(args[1]):
                self.refuse(f"`{function.__name__}` is called")
        elif _is_of_rose(function, _TRANSFORMS):
            if any(_is_code(value) and not _is_without_hints(value) for value in (*args, *kwargs.values())):
                self.refuse(f"`{function.__qualname__}` is given a function with hints")
        elif not _is_listed(function):
            self.refuse(f"`{getattr(function, '__qualname__', type(function).__qualname__)}` is called")
        elif _is_in(function, _CALLING):
            if any(isinstance(value, type) and not _is_in(value, _NUMBERS) for value in (*args, *kwargs.values())):
                self.refuse(f"`{function.__qualname__}` is given a class")
        elif not _is_in(function, _HOLDING):
            held = isinstance(function, BuiltinFunctionType) and isinstance(function.__self__, _METHODS_OF)
            if any(_is_code(value) for value in (*(() if held else args), *kwargs.values())):
                self.refuse(f"`{function.__qualname__}` is given a function")

    def handled(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A function is called that staging knows."""
        self._given(function, args, kwargs)
        if function is print or getattr(function, "__name__", "").startswith("empty"):
            self.refuse(f"`{function.__name__}` is called")
        if function is type and len(args) != 1:
            self.refuse("a class is made")
        if _is_in(function, _TEXTS) and args:
            self.shown(args[0])

    def shown(self, value: Any, spec: Any = "") -> None:
        """A value is made a text, which may hold an address, or be what the user's country writes."""
        if spec and (type(spec) is not str or spec.endswith("n")):
            self.refuse("a text as the country writes it")
        if type(value) in (list, tuple):
            for item in value:
                self.shown(item)
        elif type(value) not in _SHOWN and not _is_of_staging(value):
            self.refuse(f"a {type(value).__qualname__} is made a text")

    def constructed(self, cls: Any) -> None:
        """An object is made, its constructor staged if it is the user's."""
        if not is_users_class(cls):
            is_record = hasattr(cls, "__dataclass_fields__") or hasattr(cls, "_fields")
            if is_record and str(cls.__module__).partition(".")[0] != "rosejit":
                self.refuse(f"`{cls.__qualname__}` is from a library")
            return
        if type(cls.__new__) is FunctionType and is_users_code(cls.__new__.__code__):
            self.refuse(f"`{cls.__qualname__}` has a `__new__`")
        fields = getattr(cls, "__dataclass_fields__", {})
        if not all(_is_in(field.default_factory, _MAKING) for field in fields.values()):
            self.refuse(f"a field of `{cls.__qualname__}` is made by a function")

    def divides(self, value: Any) -> None:
        """What `%` has on its left: texts may hold an address after it."""
        if isinstance(value, (str, bytes)):
            self.refuse("a text is made by `%`")

    def _given(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """What a function that nobody looks into is given."""
        if any(isinstance(value, (set, frozenset)) for value in args):
            self.refuse("a set is gone through")
        if function is operator.mod and args:
            self.divides(args[0])
        if (function is isinstance or function is issubclass) and len(args) == 2:
            own = args[0] if function is issubclass and issubclass(type(args[0]), type) else type(args[0])
            known = own.__mro__
            if not _is_of_staging(args[0]) and any(type(c) is not type and c not in known for c in _classes(args[1])):
                self.refuse("a class is asked that others can join")
        if _is_numpys_own(function) and any(map(_has_object, (*args, *kwargs.values()))):
            self.refuse("NumPy is given an object")


_MAKING = frozenset(map(id, (dataclasses.MISSING, list, dict, tuple, int, float, bool, str)))


def _classes(given: Any) -> Iterator[Any]:
    """The classes that `isinstance` is given, in tuples and unions."""
    inside = given if isinstance(given, tuple) else getattr(given, "__args__", None)
    if inside is None:
        yield given
    for each in inside or ():
        yield from _classes(each)


def _has_object(value: Any) -> bool:
    """Whether an object of the user's, whose methods NumPy may call, is in a value."""
    if type(value) in (list, tuple):
        return any(map(_has_object, value))
    if type(value) is dict:
        return any(map(_has_object, value.values()))
    return is_users_class(type(value))


def _is_numpys_own(function: Any) -> bool:
    return str(getattr(function, "__module__", None) or type(function).__module__).partition(".")[0] == "numpy"


def _is_in(function: Any, listed: frozenset[int]) -> bool:
    return id(function) in listed  # `==` might be the user's


def _is_code(value: Any) -> bool:
    return callable(value) and not (isinstance(value, type) and not is_users_class(value)) and not _is_of_staging(value)


def _is_of_staging(value: Any) -> bool:
    """Whether a value is a staged one, or another of ours that is no function."""
    return str(type(value).__module__).startswith("rosejit.frontend.")


def _is_listed(function: Any) -> bool:
    """Whether a function does nothing but compute from its arguments, the same in each process."""
    if _is_in(function, _OF_PYTHON):
        return True
    kind = type(function)
    if isinstance(function, type):
        listed = is_users_class(function) and type(function) is type
        return (
            listed
            or (issubclass(function, BaseException) and function.__module__ == "builtins")
            or _is_numpys(function)
        )
    if kind is BuiltinFunctionType:
        return _is_listed_builtin(function)
    if kind is operator.itemgetter:
        return True
    if kind is FunctionType:
        ours = is_ours(function.__code__) and str(function.__module__).startswith("rosejit.frontend.")
        return ours or hasattr(function, "__rose_primitive__") or _is_of_rose(function, _OF_ROSE)
    return _is_numpys(function)


def _is_listed_builtin(function: Any) -> bool:
    owner = function.__self__
    if owner is math:
        return True
    if isinstance(owner, ModuleType) or owner is None:
        if function.__module__ in ("operator", "_operator"):
            return function.__name__ in _OF_OPERATOR
        return function is getattr(functools, "reduce", None) or _is_numpys(function)
    if isinstance(owner, type):
        return (owner, function.__name__) in _CLASS_METHODS
    if type(owner) in _METHODS_OF:
        return not function.__name__.startswith(("format", "encode", "decode"))
    return loaded() is not None and type(owner) is np.ndarray and function.__name__ in _OF_ARRAYS


def _is_numpys(function: Any) -> bool:
    numpy = loaded()
    name = getattr(function, "__name__", "")
    if numpy is None or (name not in _OF_NUMPY and type(function) is not getattr(numpy, "ufunc", None)):
        return False
    return getattr(numpy, name, None) is function or getattr(numpy.linalg, name, None) is function


def _is_of_rose(function: Any, listed: frozenset[str]) -> bool:
    name = getattr(function, "__name__", "")
    return name in listed and function is getattr(sys.modules["rosejit"], name, None) and is_ours(function.__code__)


def _is_without_hints(function: Any) -> bool:
    """Whether no hint, which may name anything, says what a function takes; those of decorated ones have been read."""
    return hasattr(type(function), "__rose_stage__") or not getattr(function, "__annotations__", True)
