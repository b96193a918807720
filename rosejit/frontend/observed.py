"""Watches a staging, to tell whether every other process stages an equal world (`world.py`) in the same way.

It is so where nothing was done but what is listed here: calls of these functions, of the user's functions that belong
to the world, and syntax that cannot look at the order of a set or the identity of a number. What was changed outside
shows when the world is walked again.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
import itertools
import math
import operator
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from rosejit.frontend.contents import is_ours
from rosejit.frontend.grammar import gast
from rosejit.frontend.nodes import inside
from rosejit.frontend.rewrite import Translation
from rosejit.frontend.users import is_users_class, is_users_code
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
    "int64", "bool_", "count_nonzero", "take", "pad", "delete", "append",
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

_EXACT = (
    "FunctionDef Lambda arguments Return Delete Assign AugAssign AnnAssign For While If With withitem Raise Try "
    "ExceptHandler Assert Global Nonlocal Expr Pass Break Continue BoolOp NamedExpr BinOp UnaryOp IfExp Dict ListComp "
    "DictComp GeneratorExp comprehension Yield YieldFrom Compare Call keyword FormattedValue JoinedStr Constant "
    "Attribute Subscript Starred Name List Tuple Slice Load Store Del Param And Or Add Sub Mult MatMult Div Mod Pow "
    "LShift RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn"
)
_SYNTAX = frozenset(_EXACT.split())
_EQUALITY = frozenset({"Eq", "NotEq", "In", "NotIn"})
_SPECIAL = frozenset({"__init__", "__post_init__", "__name__", "__class__", "__len__"})
_PEEKING = frozenset({
    "ctypes", "gi_frame", "gi_code", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "tb_next", "keys",
    "items",
})  # fmt: skip
"""Attributes that lead out of the world, and views of dicts, which make sets, unless they are just gone through."""

_GOING_THROUGH = frozenset(
    {"list", "tuple", "len", "zip", "sorted", "enumerate", "sum", "max", "min", "any", "all", "dict"}
)


class Seen:
    """What a staging was seen to do; `why` says what speaks against a key."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.why = ""
        self.made: dict[int, Any] = {}
        """By `id`: what this staging has specialised."""
        self.files: set[str] = set()
        self._checked: set[int] = set()

    def refuse(self, why: str) -> None:
        """There will be no key."""
        self.why = self.why or why

    def ran(self, function: FunctionType, translation: Translation) -> None:
        """A function was rewritten, to be run."""
        code = function.__code__
        if id(code) in self._checked or is_ours(code):
            return
        self._checked.add(id(code))
        self.files.add(code.co_filename)
        if not self.world.covers(code):
            self.refuse(f"`{function.__qualname__}` is from outside")
        node = translation.source.node
        self.refuse(_unlisted(node) or self.why)
        if self.world.has_nan and any(map(_compares, inside(node))):
            self.refuse("a nan is compared")

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Python calls a function that nobody looks into."""
        if function is getattr or function is hasattr:
            if isinstance(args[0], ModuleType) or type(args[1]) is not str or not _is_harmless(args[1]):
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
        self._not_of_sets(args)

    def handled(self, function: Any, args: tuple[Any, ...]) -> None:
        """A function is called that staging knows."""
        if function is print or getattr(function, "__name__", "").startswith("empty"):
            self.refuse(f"`{function.__name__}` is called")
        if function is type and len(args) != 1:
            self.refuse("a class is made")
        if _is_in(function, _TEXTS) and args:
            self.shown(args[0])
        self._not_of_sets(args)

    def shown(self, value: Any) -> None:
        """A value is made a text, which may hold an address."""
        if type(value) in (list, tuple):
            for item in value:
                self.shown(item)
        elif type(value) not in _SHOWN and not hasattr(value, "leaf"):
            self.refuse(f"a {type(value).__qualname__} is made a text")

    def constructed(self, cls: Any) -> None:
        """An object is made, its constructor staged if it is the user's."""
        if not is_users_class(cls):
            return
        if type(cls.__new__) is FunctionType and is_users_code(cls.__new__.__code__):
            self.refuse(f"`{cls.__qualname__}` has a `__new__`")
        fields = getattr(cls, "__dataclass_fields__", {})
        if any(_is_code(field.default_factory) for field in fields.values()):
            self.refuse(f"a field of `{cls.__qualname__}` is made by a function")

    def _not_of_sets(self, args: tuple[Any, ...]) -> None:
        if any(isinstance(value, (set, frozenset)) for value in args):
            self.refuse("a set is gone through")


def _is_in(function: Any, listed: frozenset[int]) -> bool:
    return id(function) in listed  # `==` might be the user's


def _is_code(value: Any) -> bool:
    return (
        callable(value) and not (isinstance(value, type) and not is_users_class(value)) and not hasattr(value, "leaf")
    )


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
        return (owner, function.__name__) in (
            (dict, "fromkeys"),
            (itertools.chain, "from_iterable"),
            (float, "fromhex"),
        )
    if type(owner) in _METHODS_OF:
        return not function.__name__.startswith("format")
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


# --- syntax


def _unlisted(node: Any) -> str:
    """What is in a function that is not listed."""
    fine = _gone_through(node)
    for inner in inside(node):
        if type(inner).__name__ not in _SYNTAX and id(inner) not in fine:
            return f"`{type(inner).__name__}`"
        if type(inner) is gast.Compare and not _compares_values(inner):
            return "`is`"
        if type(inner) is gast.Attribute and not _is_harmless(inner.attr) and id(inner) not in fine:
            return f"`.{inner.attr}`"
        if inner is not node and type(inner) is gast.FunctionDef and inner.decorator_list:
            return f"a decorator of `{inner.name}`"
    return ""


def _compares(node: Any) -> bool:
    """Whether something may be compared that is equal to itself alone."""
    if type(node) is gast.Attribute:
        return node.attr in ("index", "count", "remove", "eq", "ne", "contains", "indexOf", "countOf")
    return type(node) is gast.Compare and any(type(op).__name__ in _EQUALITY for op in node.ops)


def _gone_through(node: Any) -> set[int]:
    """By `id`: sets written out that are only asked for members, and views of dicts that are only gone through."""
    fine: set[int] = set()
    for inner in inside(node):
        match inner:
            case gast.Compare():
                asked = [
                    c for op, c in zip(inner.ops, inner.comparators, strict=True) if type(op) in (gast.In, gast.NotIn)
                ]
                fine |= {id(c) for c in asked if type(c) is gast.Set}
            case gast.For() | gast.comprehension():
                asked = [inner.iter]
            case gast.Call(func=gast.Name(id=name)) if name in _GOING_THROUGH:
                asked = inner.args
            case _:
                asked = []
        called = [c.func for c in asked if type(c) is gast.Call]
        fine |= {id(f) for f in called if type(f) is gast.Attribute and f.attr in ("keys", "items")}
    return fine


def _is_harmless(name: str) -> bool:
    return name in _SPECIAL or (name not in _PEEKING and not name.startswith("__"))


def _compares_values(node: Any) -> bool:
    """Whether a comparison asks for no identity, but for that of None and the like."""
    for op, left, right in zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False):
        if type(op) in (gast.Is, gast.IsNot) and not (_is_single(left) or _is_single(right)):
            return False
    return True


def _is_single(node: Any) -> bool:
    return type(node) is gast.Constant and (node.value is None or node.value is ... or type(node.value) is bool)
