"""Syntax that can be staged in every process alike: it looks neither at the order of a set nor at the identity of a
number, and has Python call nothing that is not staged (`observed.py`)."""

# Nodes are of any type.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import builtins
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from rosejit.frontend.grammar import gast
from rosejit.frontend.nodes import inside, is_number

_EXACT = (
    "FunctionDef Lambda arguments Return Delete Assign AugAssign AnnAssign For While If Raise Try "
    "ExceptHandler Assert Global Nonlocal Expr Pass Break Continue BoolOp NamedExpr BinOp UnaryOp IfExp Dict ListComp "
    "DictComp GeneratorExp comprehension Yield Compare Call keyword FormattedValue JoinedStr Constant "
    "Attribute Subscript Starred Name List Tuple Slice Load Store Del Param And Or Add Sub Mult MatMult Div Mod Pow "
    "LShift RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn"
)
_SYNTAX = frozenset(_EXACT.split())
_OF_HINTS = frozenset(["Name", "Attribute", "Subscript", "Constant", "Tuple", "List", "BinOp", "BitOr", "Load"])
_SPECIAL = frozenset({"__init__", "__post_init__", "__name__", "__class__", "__len__"})
_PEEKING = frozenset({
    "ctypes", "gi_frame", "gi_code", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "tb_next", "keys",
    "items", "base", "flags", "obj", "_calls", "_misses", "_shared", "_running", "_kind", "_binding", "along",
    "known", "latest", "encode", "decode",
})  # fmt: skip
"""Attributes that lead out of the world (arrays know of which one they are a part), and views of dicts, which make
sets, unless they are just gone through."""

_CAUGHT = frozenset({
    "ValueError", "TypeError", "KeyError", "IndexError", "LookupError", "AttributeError", "NameError",
    "ZeroDivisionError", "OverflowError", "ArithmeticError", "FloatingPointError", "StopIteration", "AssertionError",
})  # fmt: skip
"""Exceptions that code raises in every process alike."""
_GOING_THROUGH = frozenset(
    {"list", "tuple", "len", "zip", "sorted", "enumerate", "sum", "max", "min", "any", "all", "dict"}
)


def unlisted(node: Any, nodes: list[Any]) -> str:
    """What is in a function that is not listed: `nodes` are all that is in it."""
    fine = _gone_through(nodes)
    for inner in nodes:
        kind = type(inner)
        if kind in _PLAIN:  # most are
            continue
        if kind.__name__ not in _SYNTAX and id(inner) not in fine:
            return f"`{kind.__name__}`"
        if kind is gast.Attribute and not is_harmless(inner.attr) and id(inner) not in fine:
            return f"`.{inner.attr}`"
        ask = _REFUSED.get(kind)
        why = "" if ask is None or inner is node else ask(inner)
        if why:
            return why
    return ""


def _compared(node: Any) -> str:
    return "" if _compares_values(node) else "`is`"


def _defined(node: Any) -> str:
    return f"a decorator, or a hint, of `{node.name}`" if node.decorator_list or _computes_hints(node) else ""


def _tried(node: Any) -> str:
    return "`finally`" if node.finalbody else ""


def _caught(node: Any) -> str:
    fine = node.name is None and _catches_little(node.type)
    return "" if fine else "`except` of errors that depend on the process, or of their texts"


def _annotated(node: Any) -> str:
    """What has nothing but names in it is read by nobody."""
    return "" if _is_hint(node.annotation) else "an annotation that computes"


def _augmented(node: Any) -> str:
    return "`%=`" if type(node.op) is gast.Mod and not is_number(node.value) else ""


_PLAIN = frozenset({gast.Name, gast.Constant, gast.BinOp, gast.Assign, gast.Expr, gast.Tuple, gast.Return})
_REFUSED = {
    gast.Compare: _compared,
    gast.FunctionDef: _defined,
    gast.Try: _tried,
    gast.ExceptHandler: _caught,
    gast.AnnAssign: _annotated,
    gast.AugAssign: _augmented,
}
"""What some nodes must not be; the function itself was decorated, and its hints read, before."""


def _catches_little(kind: Any) -> bool:
    """Whether none of what is caught is an error of depth, memory or files."""
    kinds = kind.elts if type(kind) is gast.Tuple else [kind]
    return all(type(each) is gast.Name and each.id in _CAUGHT for each in kinds)


def _computes_hints(node: Any) -> bool:
    """Whether Python, which evaluates the hints of inner functions as they are, calls anything for that."""
    a = node.args
    parameters = [p for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if p is not None]
    hints = [hint for hint in (node.returns, *(p.annotation for p in parameters)) if hint is not None]
    return not all(map(_is_hint, hints))


def _is_hint(node: Any) -> bool:
    return all(type(inner).__name__ in _OF_HINTS for inner in inside(node))


def _gone_through(nodes: list[Any]) -> set[int]:
    """By `id`: sets written out that are only asked for members, and views of dicts that are only gone through."""
    fine: set[int] = set()
    for inner in nodes:
        kind = type(inner)
        if kind is gast.Compare:
            asked = zip(inner.ops, inner.comparators, strict=True)
            fine |= {id(c) for op, c in asked if type(op) in (gast.In, gast.NotIn) and type(c) is gast.Set}
        if kind is gast.For or kind is gast.comprehension:
            fine |= _views([inner.iter])
        if kind is gast.Call and type(inner.func) is gast.Name and inner.func.id in _GOING_THROUGH:
            fine |= _views(inner.args)
    return fine


def _views(asked: list[Any]) -> set[int]:
    called = [c.func for c in asked if type(c) is gast.Call]
    return {id(f) for f in called if type(f) is gast.Attribute and f.attr in ("keys", "items")}


def is_harmless(name: str) -> bool:
    """Whether an attribute of that name is part of what has it, in every process alike."""
    return name in _SPECIAL or (name not in _PEEKING and not name.startswith("__"))


def _compares_values(node: Any) -> bool:
    """Whether a comparison asks for no identity, but for that of None and the like."""
    for op, left, right in zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False):
        if type(op) in (gast.Is, gast.IsNot) and not (_is_single(left) or _is_single(right)):
            return False
    return True


def _is_single(node: Any) -> bool:
    return type(node) is gast.Constant and (node.value is None or node.value is ... or type(node.value) is bool)


# --- names


def hidden(function: FunctionType, nodes: list[Any]) -> str:
    """What stands for something else than in Python, where it was taken for Python's."""
    taken = {name for inner in nodes if type(inner) in _TAKING for name in _taken(inner)}
    if not taken:
        return ""
    local = {name for code in _codes(function.__code__) for name in (*code.co_varnames, *code.co_cellvars)}
    local.update(function.__code__.co_freevars, function.__globals__)
    found = [name for name in taken if name in local or getattr(builtins, name, None) is not _PYTHONS[name]]
    return f"`{found[0]}` is not Python's" if found else ""


def _taken(node: Any) -> set[str]:
    kind = type(node)
    if kind is gast.Call and type(node.func) is gast.Name:
        name = node.func.id
        is_taken = name == "super" or (name in _GOING_THROUGH and bool(_views(node.args)))
        return {name} if is_taken else set()
    if kind is gast.ExceptHandler:
        return {inner.id for inner in inside(node.type) if type(inner) is gast.Name} & _PYTHONS.keys()
    return set()


_TAKING = (gast.Call, gast.ExceptHandler)
_PYTHONS = dict(vars(builtins))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)
