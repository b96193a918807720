"""Writes the body of a `for` over a plain `range` as data, where all of it is on the white list for rolling.

A plan is nested tuples of strings and constants, so that it can stand in the rewritten code; `decide.py` reads it.
"""

# Values of users are of any type: what they are is asked while staging.

import ast
import linecache
from collections.abc import Callable
from typing import Any

from rosejit.frontend.syntax import liveness
from rosejit.frontend.syntax.ast_build import at
from rosejit.frontend.syntax.lower_jumps import VALUE, AssignFlag, Body, NoFlagSet, without_jumps
from rosejit.frontend.syntax.rewrite_context import Context

Plan = tuple[Any, ...]
"""(target, body, flags that leave the loop); of the loop to be rolled also the names that are read after it."""


class _Unlisted(Exception):
    """A node, the argument, is not on the white list."""


def plan(context: Context, node: Any) -> Plan | str | None:
    """The plan of a `for` statement; why there is none if its loop is unrolled whatever its values are; None for what
    is no `range` and no array."""
    if context.plain or context.hidden or not _may_roll(context, node.iter):
        return None
    try:
        return (*_loop(context, node), context.names(node).after)
    except _Unlisted as unlisted:
        return _why(context, unlisted, node)


def _why(context: Context, unlisted: _Unlisted, node: Any) -> str:
    (part,) = unlisted.args
    line = getattr(part, "lineno", node.lineno)
    shown = (linecache.getline(context.source.file, line)).strip()
    kind = ast.Yield if isinstance(getattr(part, "value", None), ast.Yield) else type(part)
    what, edit = _WORDS.get(kind, "what is never rolled"), _EDITS.get(kind)
    return f"line {line} holds {what}{f': `{shown}`' if shown else ''}{f' ({edit})' if edit else ''}"


def of_function(context: Context, body: Body) -> tuple[Plan, Plan] | str:
    """The statements of a function and its result; why there are none if no loop that calls it is rolled."""
    *before, last = body.statements
    returns = not body.returns and isinstance(last, ast.Return)
    try:
        made = _block(context, before if returns else body.statements)
        if body.returns:
            return made, ("name", VALUE)
        return made, ("value", None) if not returns or last.value is None else _expression(context, last.value)
    except _Unlisted as unlisted:
        return _why(context, unlisted, last)


def _may_roll(context: Context, node: Any) -> bool:
    """Whether a loop goes through what may be a `range`, an array, or arrays side by side."""
    if not isinstance(node, ast.Call):
        return not isinstance(node, _NEVER_ARRAYS)
    called = node.func  # what `rose.unroll` gives is unrolled
    return not isinstance(called, ast.Attribute) or called.attr not in ("unroll", "range")


_NEVER_ARRAYS = (
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant, ast.JoinedStr),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def _loop(context: Context, node: Any) -> Plan:
    return (_target(context, node.target), _block(context, node.body), tuple(getattr(node, "leaving", ())))


def _block(context: Context, statements: list[Any]) -> Plan:
    """Statements, each behind the line that it is in."""
    made: list[Plan] = []
    for node in statements:
        found = _statement(context, node)
        made += [("line", node.lineno), *found] if found and hasattr(node, "lineno") else found
    return tuple(made)


# --- statements


def _statement(context: Context, node: Any) -> list[Plan]:
    match node:
        case ast.Pass():
            return []
        case ast.Expr() if isinstance(node.value, ast.Constant):
            return []
        case ast.Expr() if _is_append(node.value):
            called: Any = node.value
            return [("append", _name(context, called.func.value), _expression(context, called.args[0]))]
        case ast.Assign() if len(node.targets) == 1:
            return [("bind", _target(context, node.targets[0]), _expression(context, node.value))]
        case ast.Assign() if all(isinstance(target, ast.Name) for target in node.targets):
            first, *others = [_target(context, target) for target in node.targets]
            return [("bind", first, _expression(context, node.value)), *[("bind", other, first) for other in others]]
        case ast.Assign():
            targets = [_target(context, target) for target in node.targets]
            value = ("name", "value of several@")
            return [("bind", value, _expression(context, node.value)), *[("bind", each, value) for each in targets]]
        case ast.AnnAssign():
            return (
                []
                if node.value is None
                else [("bind", _target(context, node.target), _expression(context, node.value))]
            )
        case ast.FunctionDef():
            return [("bind", ("name", node.name), _lambda(context, node))]
        case ast.AugAssign():
            op = _OPERATORS.get(type(node.op)) or _refuse(node)
            return [("change", _target(context, node.target), op, _expression(context, node.value))]
        case ast.If():
            return [("if", _expression(context, node.test), _block(context, node.body), _block(context, node.orelse))]
        case ast.For() if not node.orelse:
            return [("for", _expression(context, node.iter), *_loop(context, node))]
        case ast.While() if not node.orelse:
            return [("while", _expression(context, node.test), _block(context, node.body))]
        case AssignFlag():
            return [("bind", ("name", node.flag), ("value", node.value))] if node.flag in context.tested else []
        case _:
            raise _Unlisted(node)


def _is_append(node: Any) -> bool:
    """Whether it is `items.append(value)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "append":
        return False
    return isinstance(node.func.value, ast.Name) and len(node.args) == 1 and not node.keywords


def _refuse(node: Any) -> Any:
    raise _Unlisted(node)


def _target(context: Context, node: Any) -> Plan:
    match node:
        case ast.Name():
            return ("name", _own(context, node))
        case ast.Tuple() | ast.List():
            return ("pack", tuple(_target(context, item) for item in node.elts))
        case ast.Subscript():
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
    op = {ast.Not: "not", ast.USub: "-", ast.UAdd: "+"}.get(type(node.op)) or _refuse(node)
    return ("unary", op, _expression(context, node.operand))


def _compare(context: Context, node: Any) -> Plan:
    ops = tuple(_COMPARISONS.get(type(op)) or _refuse(node) for op in node.ops)
    return ("compare", ops, tuple(_expression(context, item) for item in (node.left, *node.comparators)))


def _circuit(context: Context, node: Any) -> Plan:
    word = "or" if isinstance(node.op, ast.Or) else "and"
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
    return ("pack", tuple(_expression(context, item) for item in node.elts), isinstance(node, ast.List))


def _comprehension(context: Context, node: Any) -> Plan:
    """`[element for target in items if tests]`."""
    if len(node.generators) > 1 or node.generators[0].is_async:
        raise _Unlisted(node)
    (made,) = node.generators
    target, items = _target(context, made.target), _expression(context, made.iter)
    return ("list", _expression(context, node.elt), target, items, tuple(_expression(context, t) for t in made.ifs))


def _lambda(context: Context, node: Any) -> Plan:
    """A function that is written in the loop: its parameters with their defaults, its statements, its result."""
    parameters = node.args
    plain = [*parameters.posonlyargs, *parameters.args]
    if parameters.vararg or parameters.kwonlyargs or parameters.kwarg or getattr(node, "decorator_list", ()):
        raise _Unlisted(node)
    is_lambda = isinstance(node, ast.Lambda)
    body = (
        Body([at(node.body, ast.Return(node.body))], frozenset(), returns=False) if is_lambda else without_jumps(node)
    )
    if body is None:
        raise _Unlisted(node)
    defaults = [None] * (len(plain) - len(parameters.defaults)) + parameters.defaults
    given = tuple((p.arg, None if d is None else _expression(context, d)) for p, d in zip(plain, defaults, strict=True))
    names = context.scope.of(node)
    if names.shared or names.rebinds:
        raise _Unlisted(node)
    facts = liveness.analyse(body, names)
    inside = Context(context.source, names, facts, context.globals, context.statement, context.function, outer=context)
    made = of_function(inside, body)
    if isinstance(made, str):
        raise _Unlisted(node)
    return ("lambda", given, *made)


def _call(context: Context, node: Any) -> Plan:
    if any(isinstance(item, ast.Starred) for item in node.args) or any(k.arg is None for k in node.keywords):
        raise _Unlisted(node)
    keywords = tuple((k.arg, _expression(context, k.value)) for k in node.keywords)
    is_fold = isinstance(node.func, ast.Name) and node.func.id in ("sum", "max", "min")
    args = [_comprehension if is_fold and isinstance(a, ast.GeneratorExp) else _expression for a in node.args]
    made = tuple(rule(context, a) for rule, a in zip(args, node.args, strict=True))
    return ("call", _expression(context, node.func), made, keywords)


def _go(context: Context, node: Any) -> Plan:
    return ("unary", "not", ("circuit", "or", tuple(("name", flag) for flag in node.flags)))


_WORDS: dict[type, str] = {
    ast.Expr: "a call whose result is not used", ast.Yield: "a `yield`",
    ast.Name: "a variable that other functions share, or that may be unbound",
    ast.ListComp: "a comprehension", ast.GeneratorExp: "a generator", ast.Lambda: "a lambda",
    ast.Raise: "a `raise`", ast.Assert: "an `assert`", ast.JoinedStr: "an f-string", ast.Dict: "a dict",
    ast.Attribute: "a store to an object",
    ast.For: "an inner loop with `else`", ast.While: "an inner loop with `else`",
    ast.Call: "a call with `*` or `**`", ast.Delete: "a `del`", ast.With: "a `with`", ast.Try: "a `try`",
    ast.FunctionDef: "a function", ast.NamedExpr: "a walrus",
}  # fmt: skip
_EDITS: dict[type, str] = {
    ast.Yield: "the body of the loop that takes the values in its place",
    ast.ListComp: "an array and an inner loop instead", ast.Dict: "names or a dataclass instead of a dict",
    ast.Attribute: "names, or a new instance of the class, instead of assigning its fields",
    ast.Raise: "`rose.range` keeps a loop with checks",
    ast.Assert: "`rose.range` keeps a loop with checks",
}  # fmt: skip
"""What to write instead."""
_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_COMPARISONS: dict[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not",
}  # fmt: skip
_RULES: dict[type, Callable[[Context, Any], Plan]] = {
    ast.Name: _name, ast.Constant: _constant, ast.BinOp: _binary, ast.UnaryOp: _unary, ast.Compare: _compare,
    ast.BoolOp: _circuit, ast.IfExp: _choice, ast.Subscript: _subscript, ast.Slice: _slice,
    ast.Attribute: _attribute, ast.Tuple: _pack, ast.List: _pack, ast.Call: _call, NoFlagSet: _go,
    ast.Lambda: _lambda, ast.ListComp: _comprehension,
}  # fmt: skip


# --- how much it is


_ARRAYS = 128
"""What a call of a method or of a function of NumPy counts for: it may be of arrays, and is then a loop."""


def parts_of(loop: Plan, items: range, known: Callable[[str], Any], called: Callable[[Any], int]) -> int:
    """About how many parts of the plan are gone through when a loop over `items` is unrolled. `known` tells what names
    are bound to, `called` how many parts a function has; ranges that are made of more than names, lengths and sums
    count as one iteration."""
    target, body = loop[:2]
    middle = items[len(items) // 2] if items else 0

    def inside(name: str) -> Any:
        return middle if target == ("name", name) else known(name)

    return len(items) * parts_in(body, inside, called)


def parts_in(node: Any, known: Callable[[str], Any], called: Callable[[Any], int]) -> int:
    """The same of statements or an expression."""
    if node.__class__ is not tuple:
        return 0
    if node[:1] == ("for",):
        items = _range_of(node[1], known)
        return parts_of(node[2:], range(1) if items is None else items, known, called)
    own = 1 if node and node[0].__class__ is str and node[0] != "line" else 0
    if node[:1] == ("call",) and node[1][0] == "attribute" and node[1][1] != ("name", "math"):
        own = _ARRAYS
    elif node[:1] == ("call",) and node[1][0] == "name":
        own += called(known(node[1][1]))
    return own + sum([parts_in(part, known, called) for part in node])


def _range_of(node: Plan, known: Callable[[str], Any]) -> range | None:
    """The range of an inner loop, as far as it can be told."""
    if node[0] != "call" or node[1] != ("name", "range"):
        return None
    args = [_int_of(arg, known) for arg in node[2]]
    try:
        return range(*args)  # type: ignore[arg-type]  # None is refused
    except (TypeError, ValueError):
        return None


def _int_of(node: Plan, known: Callable[[str], Any]) -> int | None:
    match node:
        case ("value", int() as value):
            return value
        case ("name", name):
            value = known(name)
            return value if isinstance(value, int) else None
        case ("binary", "+" | "-" | "*" | "//" as op, left, right):
            a, b = _int_of(left, known), _int_of(right, known)
            if a is None or b is None:
                return None
            return a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a // b if b else None
        case ("unary", "-", operand):
            a = _int_of(operand, known)
            return None if a is None else -a
        case ("call", ("name", "len"), (("name", name),), ()):
            length = getattr(known(name), "shape", None) or getattr(known(name), "__len__", lambda: None)()
            return length[0] if isinstance(length, tuple) else length
        case _:
            return None


# --- what it binds


def bound_names(statements: Plan) -> list[str]:
    """The names that statements bind."""
    found: dict[str, None] = {}
    pending: list[Any] = list(statements)
    while pending:
        match pending.pop():
            case ("bind" | "change", target, *_):
                pending.append(("target", target))
            case ("target", ("name", name)):
                found[name] = None
            case ("target", ("pack", items)):
                pending += [("target", item) for item in items]
            case ("for", _, target, body, _):
                pending += [("target", target), *body]
            case ("if", _, body, orelse):
                pending += [*body, *orelse]
            case ("while", _, body):
                pending += body
            case _:
                pass
    return list(found)
