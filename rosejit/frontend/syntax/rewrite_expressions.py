"""Templates for expressions: short circuits, conditional expressions, calls, subscripts and comprehensions become calls
of the run-time object.

A comprehension keeps its clauses, with hooks around them: over host values it is still Python's own.
"""

import ast
import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rosejit.frontend.syntax.ast_build import LOAD, at, changed, constant, hook, load, method, runtime, store, stores
from rosejit.frontend.syntax.lower_jumps import Handles, NoFlagSet
from rosejit.frontend.syntax.lower_match import RuntimeCall
from rosejit.frontend.syntax.rewrite_context import Context
from rosejit.frontend.syntax.scope import Scope
from rosejit.frontend.syntax.user_code import is_users_class

# Values of users are of any type: what they are is asked while staging.
Rewrite = Callable[[Context, Any], Any]
"""What rewrites an expression inside."""


def comprehension(context: Context, node: Any, expression: Rewrite) -> Any:
    """`[e for i in a if p]` as `[c.put(e) for c, items in comp(a) for i in items for _ in c.when(p)]`."""
    variable = context.counter.next("comp")
    binds = any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node))
    clauses = [_opening(node, variable, binds, expression(context, node.generators[0].iter))]
    outer = context.hidden
    context.hidden |= {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    for position, generator in enumerate(node.generators):
        place = generator.iter
        items = load(place, f"{variable}@items")
        if position:
            items = method(place, variable, "over", expression(context, generator.iter))
        clauses.append(ast.comprehension(expression(context, generator.target), items, [], 0))
        for test in generator.ifs:
            if any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(test)):  # Python allows it in no `for`
                clauses[-1].ifs.append(method(test, variable, "holds", expression(context, test)))
                continue
            guarded = method(test, variable, "when", expression(context, test))
            clauses.append(ast.comprehension(store(test, f"{variable}@if"), guarded, [], 0))
    made = _collected(context, node, variable, clauses, expression)
    if _is_simple(node, clauses[0].iter.args[0]):
        made = _on_host(context, node, clauses[0].iter.args[0], made, expression)
    context.hidden = outer
    return made


_PARTS = (ast.comprehension, ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def _is_simple(node: Any, items: Any) -> bool:
    """Whether a list is made of what a variable holds, by an expression that may be written twice."""
    if not isinstance(node, ast.ListComp) or len(node.generators) > 1 or not isinstance(items, ast.Name):
        return False
    return not node.generators[0].ifs and not any(isinstance(inner, _PARTS) for inner in ast.walk(node.elt))


def _on_host(context: Context, node: Any, items: Any, general: Any, expression: Rewrite) -> Any:
    """`[e for i in a]` as it is where the host has a few items, which is most often so."""
    target = expression(context, node.generators[0].target)
    clause = ast.comprehension(target, load(items, items.id), [], 0)
    plain = runtime(node, "listed", at(node, ast.ListComp(expression(context, node.elt), [clause])))
    return at(node, ast.IfExp(runtime(node, "few", load(items, items.id)), plain, general))


def _opening(node: Any, variable: str, binds: bool, items: Any) -> Any:
    """The clause that goes around those of the user once."""
    lists, single = not isinstance(node, ast.GeneratorExp), len(node.generators) == 1 and not node.generators[0].ifs
    more = [constant(node, single), constant(node, not isinstance(node, ast.ListComp))] if lists else []
    opened = runtime(node, "listing" if lists else "comprehension", items, constant(node, binds), *more)
    return ast.comprehension(stores(node, (variable, f"{variable}@items")), opened, [], 0)


def _collected(context: Context, node: Any, variable: str, clauses: list[Any], expression: Rewrite) -> Any:
    """The whole of these clauses, its elements rewritten."""
    if isinstance(node, ast.DictComp):
        element = at(node.key, ast.Tuple([expression(context, node.key), expression(context, node.value)], LOAD))
    else:
        element = expression(context, node.elt)
    element = method(node, variable, "put", element)
    if isinstance(node, ast.GeneratorExp):
        return runtime(node, "generator", at(node, ast.GeneratorExp(element, clauses)))
    made = at(node, ast.ListComp(element, clauses))
    if isinstance(node, ast.ListComp):
        return runtime(node, "listed", made)
    return runtime(node, "keyed_comprehension", constant(node, isinstance(node, ast.SetComp)), made)


# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
_FRAME_DEPENDENT = frozenset({"super"})

Rule = Callable[[Context, Any], Any]


def expression(context: Context, node: Any) -> Any:
    """`node` rewritten."""
    rule = _RULES.get(type(node))
    return generic(context, node) if rule is None else rule(context, node)


def generic(context: Context, node: Any) -> Any:
    """The same node of the standard `ast`, its parts rewritten."""
    kind: Any = node.__class__
    made = kind(**{name: _field(context, getattr(node, name)) for name in kind._fields if hasattr(node, name)})
    return at(node, made) if hasattr(node, "lineno") else made


def _field(context: Context, value: Any) -> Any:
    if isinstance(value, list):
        items: list[Any] = value
        return [_field(context, item) for item in items]
    return expression(context, value) if isinstance(value, ast.AST) else value


# --- names


def _name(context: Context, node: Any) -> Any:
    name, scope = node.id, context.scope
    if name in context.certain:
        return node
    stored = node.ctx.__class__ is not ast.Load
    if name in context.hidden:
        return node
    owner = scope if name in scope.bound else scope.owner(name)
    if owner is None:
        return node if stored or context.plain or _is_known(context, name) else runtime(node, "read_outer", node)
    if name in owner.shared:
        return at(node, ast.Attribute(load(node, name), "v", ast.Store() if stored else LOAD))
    return runtime(node, "bound", node, constant(node, name)) if not stored and _unsure(context, owner, node) else node


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
    """Whether a global is something that no data hides behind: a module, a function, a class that no user wrote."""
    known = context.known.get(name)
    if known is None:
        known = context.known[name] = _hides_nothing(context, name)
    return known


def _hides_nothing(context: Context, name: str) -> bool:
    value = context.globals.get(name, getattr(builtins, name, None))
    if isinstance(value, type):
        return not is_users_class(value)
    return isinstance(value, ModuleType) or (callable(value) and not is_users_class(type(value)))


def _attribute(context: Context, node: Any) -> Any:
    if node.attr == "__class__" and type(node.ctx) is ast.Load and not context.plain:
        return runtime(node, "kind", expression(context, node.value))
    made = changed(node, {"value": expression(context, node.value)})
    if context.plain:
        return made
    if type(node.ctx) is not ast.Load:
        made.value = runtime(node.value, "owner", made.value)
        return made
    if node.attr.startswith("__"):  # which every object has
        made.value = runtime(node.value, "special", made.value, constant(node, node.attr))
    return made if _is_module_member(context, node) else runtime(node, "read_outer", made)


def _is_module_member(context: Context, node: Any) -> bool:
    """Whether `node` is `module.name` or `module.inner.name`, and no array."""
    names: list[str] = []
    base = node
    while isinstance(base, ast.Attribute):
        names.append(base.attr)
        base = base.value
    if not isinstance(base, ast.Name) or context.scope.owner(base.id) is not None:
        return False
    value = context.globals.get(base.id)
    for name in reversed(names):
        if not isinstance(value, ModuleType):
            return False
        value = getattr(value, name, None)
    return value is not None and not hasattr(value, "__array__")


def _callee(context: Context, node: Any) -> Any:
    """What is called: a name or a method is taken as it is."""
    if isinstance(node, ast.Attribute) and node.attr != "__class__":
        base = expression(context, node.value)
        if node.attr.startswith("__") and node.attr.endswith("__") and node.attr != "__init__":
            base = runtime(node.value, "special", base, constant(node, node.attr))
        return node if base is node.value else changed(node, {"value": base})
    if isinstance(node, ast.Name) and context.scope.owner(node.id) is None:
        return node
    return expression(context, node)


def _call(context: Context, node: Any) -> Any:
    args = [expression(context, argument) for argument in node.args]
    keywords = [changed(k, {"value": expression(context, k.value)}) for k in node.keywords]
    if context.plain or (isinstance(node.func, ast.Name) and node.func.id in _FRAME_DEPENDENT):
        return changed(node, {"func": expression(context, node.func), "args": args, "keywords": keywords})
    if _is_append(node):
        items: Any = node.func
        return runtime(node, "append", expression(context, items.value), *args)
    args.insert(0, _callee(context, node.func))
    return changed(node, {"func": hook(node, "call"), "args": args, "keywords": keywords})


def _is_append(node: Any) -> bool:
    """Whether a call is `items.append(x)`, which is so frequent that there is a hook of its own."""
    plain = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred) and not node.keywords
    return plain and isinstance(node.func, ast.Attribute) and node.func.attr == "append"


# --- arithmetic (written out because there is so much of it)


def _binary(context: Context, node: Any) -> Any:
    """An operator; where it may have made a container that is used further, that is noted."""
    made = _operand(context, node)
    return made if context.plain or not _may_make(node) else runtime(node, "fresh", made)


def _may_make(node: Any) -> bool:
    """Whether an operator may make a container: none is made with a number that is written there, but by `2 * [a]`."""
    if node.op.__class__ not in _MAKING:
        return False
    left, right = node.left.__class__, node.right.__class__
    if left is not ast.Constant and right is not ast.Constant:
        return True
    kinds = {side.value.__class__ for side in (node.left, node.right) if side.__class__ is ast.Constant}
    return float not in kinds and (int not in kinds or isinstance(node.op, ast.Mult))


def _operand(context: Context, node: Any) -> Any:
    """What an operator takes, which changes nothing."""
    kind = node.__class__
    if kind is ast.Name:
        return node if node.id in context.certain else _name(context, node)
    if kind is not ast.BinOp:
        return expression(context, node)
    left, right = _operand(context, node.left), _operand(context, node.right)
    if node.op.__class__ is ast.Mod and not context.plain and _is_text(node.left):
        return runtime(node, "percent", left, right)
    if left is node.left and right is node.right:
        return node
    return changed(node, {"left": left, "right": right})


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


_MAKING = frozenset({ast.Add, ast.Mult, ast.Sub, ast.BitOr, ast.BitAnd, ast.BitXor})
"""Operators of containers."""


_OPERATORS: dict[type, Any] = {
    getattr(ast, name): getattr(ast, name)()
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
    return node


def _unary(context: Context, node: Any) -> Any:
    operand = _operand(context, node.operand)
    if type(node.op) is ast.Not and not context.plain:
        return runtime(node, "negate", operand)
    return changed(node, {"operand": operand})


# --- short circuits and choices


def _bool(context: Context, node: Any) -> Any:
    if context.plain:
        return generic(context, node)
    is_or = type(node.op) is ast.Or
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
    made = at(place, ast.IfExp(test, runtime(place, "right", right, *held()), runtime(place, "skipped", *held())))
    if not names:
        return made
    rebound = [at(place, ast.NamedExpr(store(place, name), runtime(place, "joined"))) for name in names]
    everything = at(place, ast.Tuple([made, *rebound], LOAD))
    return at(place, ast.Subscript(everything, constant(place, 0), LOAD))


def _compare(context: Context, node: Any) -> Any:
    left = _operand(context, node.left)
    if context.plain:
        rights = [expression(context, c) for c in node.comparators]
        return at(node, ast.Compare(left, [_operator(op) for op in node.ops], rights))
    return _chain(context, node, left, 0)


def _text(context: Context, node: Any) -> Any:
    """An f-string: the run-time object puts it together, or makes a text of which running tells a part."""
    if context.plain or all(isinstance(value, ast.Constant) for value in node.values):
        return generic(context, node)
    values = [value for value in node.values if getattr(value, "value", None) != ""]  # Python 3.12 ends formats so
    return runtime(node, "text", *[_text_item(context, value) for value in values])


def _text_item(context: Context, node: Any) -> Any:
    if isinstance(node, ast.Constant):
        return constant(node, node.value)
    how = "" if node.conversion < 0 else chr(node.conversion)
    spec = constant(node, "") if node.format_spec is None else expression(context, node.format_spec)
    return at(node, ast.Tuple([expression(context, node.value), constant(node, how), spec], LOAD))


_COMPARISONS: dict[type, str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
"""The hooks for comparisons, but for those with a number or a text that is written there: no items are compared."""


def _is_no_container(node: Any) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str))


def _chain(context: Context, node: Any, left: Any, position: int) -> Any:
    """`a < b < c`: `b` is kept on a stack while the first comparison is decided."""
    op = node.ops[position]
    right = _operand(context, node.comparators[position])
    last = position == len(node.ops) - 1
    if not last:
        right = runtime(node.comparators[position], "save", right)
    if isinstance(op, (ast.In, ast.NotIn)):
        made = runtime(node, "member", left, right, constant(node, isinstance(op, ast.NotIn)))
    elif isinstance(op, (ast.Is, ast.IsNot)):
        made = runtime(node, "same", left, right, constant(node, isinstance(op, ast.IsNot)))
    elif _is_no_container(left) or _is_no_container(right):
        made = at(node, ast.Compare(left, [_operator(op)], [right]))
    else:
        made = runtime(node, _COMPARISONS[type(op)], left, right)
    if last:
        return made
    rest = _chain(context, node, runtime(node, "saved"), position + 1)
    test = runtime(node, "left", made, constant(node, False))
    return at(node, ast.IfExp(test, runtime(node, "right", rest), runtime(node, "skipped_chain")))


def _conditional(context: Context, node: Any) -> Any:
    if context.plain:
        return generic(context, node)
    test = runtime(node.test, "choose", expression(context, node.test))
    first = runtime(node.body, "first", expression(context, node.body))
    inner = at(node, ast.IfExp(test, first, runtime(node, "first", constant(node, None))))
    second = runtime(node.orelse, "second", expression(context, node.orelse))
    return at(node, ast.IfExp(inner, second, runtime(node, "chosen")))


def _go(context: Context, node: Any) -> Any:
    return runtime(node, "no_flag_set", *(load(node, flag) for flag in node.flags))


# --- containers


def _subscript(context: Context, node: Any) -> Any:
    base = expression(context, node.value)
    if context.plain or type(node.ctx) is not ast.Load:
        if not context.plain:
            base = runtime(node.value, "elements", base)
        return changed(node, {"value": base, "slice": expression(context, node.slice)})
    return runtime(node, "getitem", base, _index(context, node.slice))


def _index(context: Context, node: Any) -> Any:
    """An index as a value: slices become `slice(...)`."""
    if isinstance(node, ast.Tuple):
        return at(node, ast.Tuple([_index(context, item) for item in node.elts], LOAD))
    if not isinstance(node, ast.Slice):
        return expression(context, node)
    parts = [node.lower, node.upper, node.step]
    return runtime(node, "slice", *(constant(node, None) if p is None else expression(context, p) for p in parts))


def _is_keyed(node: Any) -> bool:
    """Whether a dict or a set is displayed whose keys may be staged."""
    keys = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Set) else ()
    return any(not isinstance(key, ast.Constant) for key in keys) and not any(
        key is None or isinstance(key, ast.Starred) for key in keys
    )


def _keyed(context: Context, node: Any) -> Any:
    items = node.elts if isinstance(node, ast.Set) else []
    if isinstance(node, ast.Dict):
        items = [
            at(node, ast.Tuple([key, value], LOAD)) for key, value in zip(node.keys, node.values, strict=True) if key
        ]
    return runtime(
        node, "keyed", constant(node, isinstance(node, ast.Set)), *[expression(context, item) for item in items]
    )


def _display(context: Context, node: Any) -> Any:
    if not context.plain and _is_keyed(node):
        return _keyed(context, node)
    made = generic(context, node)
    stored = not isinstance(getattr(node, "ctx", None), ast.Load | None)
    return made if stored or context.plain else runtime(node, "record_allocation", made)


def _starred(context: Context, node: Any) -> Any:
    """`*items`, which goes through them."""
    made = generic(context, node)
    if not context.plain and type(node.ctx) is ast.Load:
        made.value = runtime(node, "starred", made.value)
    return made


def _comprehension(context: Context, node: Any) -> Any:
    return generic(context, node) if context.plain else comprehension(context, node, expression)


# --- functions inside expressions


def _rewrite_lambda(context: Context, node: Any) -> Any:
    return context.function(context, node)


def _yield(context: Context, node: Any) -> Any:
    context.generator = True
    value = constant(node, None) if node.value is None else expression(context, node.value)
    out = method(node, "generator@", "out", value)
    return method(node, "generator@", "back", at(node, ast.Yield(out)))


_RULES: dict[type, Rule] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.List: _display,
    ast.Dict: _display,
    ast.Starred: _starred,
    ast.Set: _display,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Lambda: _rewrite_lambda,
    ast.FunctionDef: _rewrite_lambda,
    ast.Yield: _yield,
    ast.JoinedStr: _text,
    ast.NamedExpr: _named,
    NoFlagSet: _go,
    Handles: lambda context, node: runtime(
        node, "handles", load(node, f"attempt@{node.number}"), constant(node, node.handler)
    ),
    RuntimeCall: lambda context, node: runtime(node, node.method, *(expression(context, arg) for arg in node.args)),
    **dict.fromkeys(_OPERATORS, _ready),
}
