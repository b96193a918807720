"""Writes the body of a `for` over a plain `range` as data, where all of it is on the white list for rolling.

A plan is nested tuples of strings and constants, so that it can stand in the rewritten code; `rolling.py` reads it.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections.abc import Callable
from typing import Any

from rosejit.frontend.context import Context
from rosejit.frontend.grammar import gast
from rosejit.frontend.jumps import Go, SetFlag

Plan = tuple[Any, ...]
"""(target, body, flags that leave the loop); of the loop to be rolled also the names that are read after it."""


class _Unlisted(Exception):
    """A node, the argument, is not on the white list."""


def plan(context: Context, node: Any) -> Plan | str | None:
    """The plan of a `for` statement; why there is none if its loop is unrolled whatever its values are; None for no
    `range`."""
    if context.plain or context.hidden or not _is_range(context, node.iter):
        return None
    try:
        return (*_loop(context, node), context.names(node).after)
    except _Unlisted as unlisted:
        (part,) = unlisted.args
        return f"line {getattr(part, 'lineno', node.lineno)} holds {_WORDS.get(type(part), 'what is never rolled')}"


def _is_range(context: Context, node: Any) -> bool:
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Name)
        and node.func.id == "range"
        and context.scope.owner("range") is None
    )


def _loop(context: Context, node: Any) -> Plan:
    return (_target(context, node.target), _block(context, node.body), tuple(getattr(node, "leaving", ())))


def _block(context: Context, statements: list[Any]) -> Plan:
    return tuple(made for node in statements for made in _statement(context, node))


# --- statements


def _statement(context: Context, node: Any) -> list[Plan]:
    match node:
        case gast.Pass():
            return []
        case gast.Expr() if isinstance(node.value, gast.Constant):
            return []
        case gast.Assign() if len(node.targets) == 1:
            return [("bind", _target(context, node.targets[0]), _expression(context, node.value))]
        case gast.AnnAssign():
            return (
                []
                if node.value is None
                else [("bind", _target(context, node.target), _expression(context, node.value))]
            )
        case gast.AugAssign():
            op = _OPERATORS.get(type(node.op)) or _refuse(node)
            return [("change", _target(context, node.target), op, _expression(context, node.value))]
        case gast.If():
            return [("if", _expression(context, node.test), _block(context, node.body), _block(context, node.orelse))]
        case gast.For() if not node.orelse:
            return [("for", _expression(context, node.iter), *_loop(context, node))]
        case gast.While() if not node.orelse:
            return [("while", _expression(context, node.test), _block(context, node.body))]
        case SetFlag():
            return [("bind", ("name", node.flag), ("value", node.value))] if node.flag in context.tested else []
        case _:
            raise _Unlisted(node)


def _refuse(node: Any) -> Any:
    raise _Unlisted(node)


def _target(context: Context, node: Any) -> Plan:
    match node:
        case gast.Name():
            return ("name", _own(context, node))
        case gast.Tuple() | gast.List():
            return ("pack", tuple(_target(context, item) for item in node.elts))
        case gast.Subscript():
            return ("item", _expression(context, node.value), _expression(context, node.slice))
        case _:
            raise _Unlisted(node)


def _own(context: Context, node: Any) -> str:
    owner = context.scope.owner(node.id)
    if owner is not None and node.id in owner.shared:
        raise _Unlisted(node)
    return node.id


# --- expressions


def _expression(context: Context, node: Any) -> Plan:
    rule = _RULES.get(type(node))
    if rule is None:
        raise _Unlisted(node)
    return rule(context, node)


def _name(context: Context, node: Any) -> Plan:
    if id(node) in context.flow.unsure:
        raise _Unlisted(node)
    return ("name", _own(context, node))


def _constant(context: Context, node: Any) -> Plan:
    return ("value", node.value)


def _binary(context: Context, node: Any) -> Plan:
    op = _OPERATORS.get(type(node.op)) or _refuse(node)
    return ("binary", op, _expression(context, node.left), _expression(context, node.right))


def _unary(context: Context, node: Any) -> Plan:
    op = {gast.Not: "not", gast.USub: "-", gast.UAdd: "+"}.get(type(node.op)) or _refuse(node)
    return ("unary", op, _expression(context, node.operand))


def _compare(context: Context, node: Any) -> Plan:
    ops = tuple(_COMPARISONS.get(type(op)) or _refuse(node) for op in node.ops)
    return ("compare", ops, tuple(_expression(context, item) for item in (node.left, *node.comparators)))


def _circuit(context: Context, node: Any) -> Plan:
    word = "or" if isinstance(node.op, gast.Or) else "and"
    return ("circuit", word, tuple(_expression(context, item) for item in node.values))


def _choice(context: Context, node: Any) -> Plan:
    return ("choice", *(_expression(context, item) for item in (node.test, node.body, node.orelse)))


def _subscript(context: Context, node: Any) -> Plan:
    return ("item", _expression(context, node.value), _expression(context, node.slice))


def _slice(context: Context, node: Any) -> Plan:
    parts = (node.lower, node.upper, node.step)
    return ("slice", tuple(("value", None) if part is None else _expression(context, part) for part in parts))


def _attribute(context: Context, node: Any) -> Plan:
    return ("attribute", _expression(context, node.value), node.attr)


def _pack(context: Context, node: Any) -> Plan:
    return ("pack", tuple(_expression(context, item) for item in node.elts))


def _call(context: Context, node: Any) -> Plan:
    if any(isinstance(item, gast.Starred) for item in node.args) or any(k.arg is None for k in node.keywords):
        raise _Unlisted(node)
    keywords = tuple((k.arg, _expression(context, k.value)) for k in node.keywords)
    return ("call", _expression(context, node.func), tuple(_expression(context, a) for a in node.args), keywords)


def _go(context: Context, node: Any) -> Plan:
    return ("unary", "not", ("circuit", "or", tuple(("name", flag) for flag in node.flags)))


_WORDS: dict[type, str] = {
    gast.Expr: "a call for what it does", gast.Name: "a variable that other functions share, or that may be unbound",
    gast.ListComp: "a comprehension", gast.GeneratorExp: "a generator", gast.Lambda: "a lambda",
    gast.Raise: "a `raise`", gast.Assert: "an `assert`", gast.JoinedStr: "an f-string", gast.Dict: "a dict",
    gast.Attribute: "a store to an object", gast.Assign: "an assignment to several targets",
    gast.For: "an inner loop with `else`", gast.While: "an inner loop with `else`",
    gast.Call: "a call with `*` or `**`", gast.Delete: "a `del`", gast.With: "a `with`", gast.Try: "a `try`",
    gast.FunctionDef: "a function", gast.NamedExpr: "a walrus",
}  # fmt: skip
_OPERATORS: dict[type, str] = {
    gast.Add: "+", gast.Sub: "-", gast.Mult: "*", gast.Div: "/", gast.FloorDiv: "//", gast.Mod: "%", gast.Pow: "**",
    gast.MatMult: "@", gast.BitAnd: "&", gast.BitOr: "|", gast.BitXor: "^",
}  # fmt: skip
_COMPARISONS: dict[type, str] = {
    gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=", gast.Eq: "==", gast.NotEq: "!=", gast.Is: "is",
    gast.IsNot: "is not",
}  # fmt: skip
_RULES: dict[type, Callable[[Context, Any], Plan]] = {
    gast.Name: _name, gast.Constant: _constant, gast.BinOp: _binary, gast.UnaryOp: _unary, gast.Compare: _compare,
    gast.BoolOp: _circuit, gast.IfExp: _choice, gast.Subscript: _subscript, gast.Slice: _slice,
    gast.Attribute: _attribute, gast.Tuple: _pack, gast.List: _pack, gast.Call: _call, Go: _go,
}  # fmt: skip
