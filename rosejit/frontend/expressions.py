"""Rewrites expressions: circuits, choices, calls, subscripts and comprehensions call the run-time object."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import ast
import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rosejit.frontend.clauses import comprehension
from rosejit.frontend.context import Context
from rosejit.frontend.grammar import gast
from rosejit.frontend.jumps import Go
from rosejit.frontend.matches import Ask
from rosejit.frontend.nodes import LOAD, at, constant, hook, is_number, load, method, runtime, store
from rosejit.frontend.scope import Scope

_FRAME_DEPENDENT = frozenset({"super"})

Rule = Callable[[Context, Any], Any]


def expression(context: Context, node: Any) -> Any:
    """`node` rewritten."""
    rule = _RULES.get(type(node))
    return generic(context, node) if rule is None else rule(context, node)


def generic(context: Context, node: Any) -> Any:
    """The same node of the standard `ast`, its parts rewritten."""
    kind: Any = getattr(ast, type(node).__name__)
    made = kind(**{name: _field(context, getattr(node, name)) for name in kind._fields if hasattr(node, name)})
    return at(node, made) if hasattr(node, "lineno") else made


def _field(context: Context, value: Any) -> Any:
    if isinstance(value, list):
        items: list[Any] = value
        return [_field(context, item) for item in items]
    return expression(context, value) if isinstance(value, gast.AST) else value


# --- names


def _name(context: Context, node: Any) -> Any:
    name = node.id
    stored = type(node.ctx) is not gast.Load
    made = store(node, name) if stored else load(node, name)
    if name in context.hidden:
        return made
    owner = context.scope.owner(name)
    if owner is None:
        return made if stored or context.plain or _is_known(context, name) else runtime(node, "given", made)
    if name in owner.shared:
        return at(node, ast.Attribute(load(node, name), "v", ast.Store() if stored else LOAD))
    return runtime(node, "bound", made, constant(node, name)) if not stored and _unsure(context, owner, node) else made


def _named(context: Context, node: Any) -> Any:
    """`:=`; a variable that inner functions rebind is set by a call."""
    name, value = node.target.id, expression(context, node.value)
    owner = None if name in context.hidden else context.scope.owner(name)
    if owner is None or name not in owner.shared:
        return at(node, ast.NamedExpr(store(node.target, name), value))
    return runtime(node, "rebound", load(node.target, name), value)


def _unsure(context: Context, owner: Scope, node: Any) -> bool:
    """Whether the variable may be unbound when it is read here."""
    if owner is context.scope:
        return id(node) in context.flow.unsure and node.id in context.flow.undefined
    around = context.outer
    while around is not None and around.scope is not owner:
        around = around.outer
    return around is not None and node.id in around.flow.undefined


def _is_known(context: Context, name: str) -> bool:
    """Whether a global is something that no data hides behind: a module, a function, a class."""
    value = context.globals.get(name, getattr(builtins, name, None))
    return isinstance(value, (ModuleType, type)) or callable(value)


def _attribute(context: Context, node: Any) -> Any:
    if node.attr == "__class__" and type(node.ctx) is gast.Load and not context.plain:
        return runtime(node, "kind", expression(context, node.value))
    made = at(node, ast.Attribute(expression(context, node.value), node.attr, expression(context, node.ctx)))
    if context.plain:
        return made
    if type(node.ctx) is not gast.Load:
        made.value = runtime(node.value, "owner", made.value)
        return made
    if node.attr.startswith("__"):  # which every object has
        made.value = runtime(node.value, "told", made.value)
    return made if _is_module_member(context, node) else runtime(node, "given", made)


def _is_module_member(context: Context, node: Any) -> bool:
    """Whether `node` is `module.name` or `module.inner.name`, and no array."""
    names: list[str] = []
    base = node
    while isinstance(base, gast.Attribute):
        names.append(base.attr)
        base = base.value
    if not isinstance(base, gast.Name) or context.scope.owner(base.id) is not None:
        return False
    value = context.globals.get(base.id)
    for name in reversed(names):
        if not isinstance(value, ModuleType):
            return False
        value = getattr(value, name, None)
    return value is not None and not hasattr(value, "__array__")


def _callee(context: Context, node: Any) -> Any:
    """What is called: a name or a method is taken as it is."""
    if isinstance(node, gast.Attribute) and node.attr != "__class__":
        return at(node, ast.Attribute(expression(context, node.value), node.attr, LOAD))
    if isinstance(node, gast.Name) and context.scope.owner(node.id) is None:
        return load(node, node.id)
    return expression(context, node)


def _call(context: Context, node: Any) -> Any:
    args = [expression(context, argument) for argument in node.args]
    keywords = [at(k, ast.keyword(k.arg, expression(context, k.value))) for k in node.keywords]
    if context.plain or (isinstance(node.func, gast.Name) and node.func.id in _FRAME_DEPENDENT):
        return at(node, ast.Call(expression(context, node.func), args, keywords))
    if _is_append(node):
        return runtime(node, "append", expression(context, node.func.value), *args)
    return at(node, ast.Call(hook(node, "call"), [_callee(context, node.func), *args], keywords))


def _is_append(node: Any) -> bool:
    """Whether a call is `items.append(x)`, which is so frequent that there is a hook of its own."""
    plain = len(node.args) == 1 and not isinstance(node.args[0], gast.Starred) and not node.keywords
    return plain and isinstance(node.func, gast.Attribute) and node.func.attr == "append"


# --- arithmetic (written out because there is so much of it)


def _binary(context: Context, node: Any) -> Any:
    left, right = expression(context, node.left), expression(context, node.right)
    if type(node.op) is gast.Mod and not (context.plain or is_number(node.left) or is_number(node.right)):
        left = runtime(node.left, "divides", left)
    return at(node, ast.BinOp(left, _operator(node.op), right))


_OPERATORS: dict[type, Any] = {
    getattr(gast, name): getattr(ast, name)()
    for name in (
        *("Add", "Sub", "Mult", "MatMult", "Div", "Mod", "Pow", "LShift", "RShift", "BitOr", "BitXor", "BitAnd"),
        *("FloorDiv", "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn", "Not", "Invert"),
        *("UAdd", "USub", "Load", "Store", "Del"),
    )
}


def _operator(node: Any) -> Any:
    return _OPERATORS[type(node)]


def _ready(context: Context, node: Any) -> Any:
    return _OPERATORS[type(node)]


def _constant(context: Context, node: Any) -> Any:
    return at(node, ast.Constant(node.value, node.kind))


def _unary(context: Context, node: Any) -> Any:
    operand = expression(context, node.operand)
    if type(node.op) is gast.Not and not context.plain:
        return runtime(node, "negate", operand)
    return at(node, ast.UnaryOp(_operator(node.op), operand))


# --- short circuits and choices


def _bool(context: Context, node: Any) -> Any:
    if context.plain:
        return generic(context, node)
    is_or = type(node.op) is gast.Or
    names = context.names(node).names
    made = expression(context, node.values[-1])
    for value in reversed(node.values[:-1]):
        made = _circuit(value, expression(context, value), is_or, made, names)
    return made


def _circuit(place: Any, left: Any, is_or: bool, right: Any, names: tuple[str, ...]) -> Any:
    """`left and right`. Names that `right` may bind are saved before, and joined after."""

    def held() -> list[Any]:
        if not names:
            return []
        return [at(place, ast.Tuple([load(place, name) for name in names], LOAD))]

    test = runtime(place, "left", left, constant(place, is_or), *held())
    made = at(place, ast.IfExp(test, runtime(place, "right", right, *held()), runtime(place, "only", *held())))
    if not names:
        return made
    rebound = [at(place, ast.NamedExpr(store(place, name), runtime(place, "joined"))) for name in names]
    everything = at(place, ast.Tuple([made, *rebound], LOAD))
    return at(place, ast.Subscript(everything, constant(place, 0), LOAD))


def _compare(context: Context, node: Any) -> Any:
    left = expression(context, node.left)
    if context.plain:
        rights = [expression(context, c) for c in node.comparators]
        return at(node, ast.Compare(left, [_operator(op) for op in node.ops], rights))
    return _chain(context, node, left, 0)


def _text(context: Context, node: Any) -> Any:
    """An f-string: the run-time object puts it together, or makes a text of which running tells a part."""
    if context.plain or all(isinstance(value, gast.Constant) for value in node.values):
        return generic(context, node)
    values = [value for value in node.values if getattr(value, "value", None) != ""]  # Python 3.12 ends formats so
    return runtime(node, "text", *[_text_item(context, value) for value in values])


def _text_item(context: Context, node: Any) -> Any:
    if isinstance(node, gast.Constant):
        return constant(node, node.value)
    how = "" if node.conversion < 0 else chr(node.conversion)
    spec = constant(node, "") if node.format_spec is None else expression(context, node.format_spec)
    return at(node, ast.Tuple([expression(context, node.value), constant(node, how), spec], LOAD))


def _chain(context: Context, node: Any, left: Any, position: int) -> Any:
    """`a < b < c`: `b` is kept on a stack while the first comparison is decided."""
    op = node.ops[position]
    right = expression(context, node.comparators[position])
    last = position == len(node.ops) - 1
    if not last:
        right = runtime(node.comparators[position], "keep", right)
    if isinstance(op, (gast.In, gast.NotIn)):
        made = runtime(node, "member", left, right, constant(node, isinstance(op, gast.NotIn)))
    elif isinstance(op, (gast.Is, gast.IsNot)):
        made = runtime(node, "same", left, right, constant(node, isinstance(op, gast.IsNot)))
    else:
        made = at(node, ast.Compare(left, [_operator(op)], [right]))
    if last:
        return made
    rest = _chain(context, node, runtime(node, "kept"), position + 1)
    test = runtime(node, "left", made, constant(node, False))
    return at(node, ast.IfExp(test, runtime(node, "right", rest), runtime(node, "only_kept")))


def _conditional(context: Context, node: Any) -> Any:
    if context.plain:
        return generic(context, node)
    test = runtime(node.test, "choose", expression(context, node.test))
    first = runtime(node.body, "first", expression(context, node.body))
    inner = at(node, ast.IfExp(test, first, runtime(node, "first", constant(node, None))))
    second = runtime(node.orelse, "second", expression(context, node.orelse))
    return at(node, ast.IfExp(inner, second, runtime(node, "chosen")))


def _go(context: Context, node: Any) -> Any:
    return runtime(node, "go", *(load(node, flag) for flag in node.flags))


# --- containers


def _subscript(context: Context, node: Any) -> Any:
    base = expression(context, node.value)
    if context.plain or type(node.ctx) is not gast.Load:
        if not context.plain:
            base = runtime(node.value, "written", base)
        return at(node, ast.Subscript(base, expression(context, node.slice), _operator(node.ctx)))
    return runtime(node, "item", base, _index(context, node.slice))


def _index(context: Context, node: Any) -> Any:
    """An index as a value: slices become `slice(...)`."""
    if isinstance(node, gast.Tuple):
        return at(node, ast.Tuple([_index(context, item) for item in node.elts], LOAD))
    if not isinstance(node, gast.Slice):
        return expression(context, node)
    parts = [node.lower, node.upper, node.step]
    return runtime(node, "slice", *(constant(node, None) if p is None else expression(context, p) for p in parts))


def _display(context: Context, node: Any) -> Any:
    made = generic(context, node)
    stored = not isinstance(getattr(node, "ctx", None), gast.Load | None)
    return made if stored or context.plain else runtime(node, "new", made)


def _comprehension(context: Context, node: Any) -> Any:
    return generic(context, node) if context.plain else comprehension(context, node, expression)


# --- functions inside expressions


def _function(context: Context, node: Any) -> Any:
    return context.function(context, node)


def _handler(context: Context, node: Any) -> Any:
    """In the body of a class; gast's handler has a node where Python's has a string."""
    name = None if node.name is None else node.name.id
    kind = None if node.type is None else expression(context, node.type)
    return at(node, ast.ExceptHandler(kind, name, [expression(context, s) for s in node.body]))


def _yield(context: Context, node: Any) -> Any:
    context.generator = True
    value = constant(node, None) if node.value is None else expression(context, node.value)
    out = method(node, "generator@", "out", value)
    return method(node, "generator@", "back", at(node, ast.Yield(out)))


_RULES: dict[type, Rule] = {
    gast.Name: _name,
    gast.Constant: _constant,
    gast.BinOp: _binary,
    gast.UnaryOp: _unary,
    gast.Attribute: _attribute,
    gast.Call: _call,
    gast.BoolOp: _bool,
    gast.Compare: _compare,
    gast.IfExp: _conditional,
    gast.Subscript: _subscript,
    gast.List: _display,
    gast.Dict: _display,
    gast.Set: _display,
    gast.ListComp: _comprehension,
    gast.SetComp: _comprehension,
    gast.DictComp: _comprehension,
    gast.GeneratorExp: _comprehension,
    gast.Lambda: _function,
    gast.FunctionDef: _function,
    gast.ExceptHandler: _handler,
    gast.Yield: _yield,
    gast.JoinedStr: _text,
    gast.NamedExpr: _named,
    Go: _go,
    Ask: lambda context, node: runtime(node, node.method, *(expression(context, arg) for arg in node.args)),
    **dict.fromkeys(_OPERATORS, _ready),
}
