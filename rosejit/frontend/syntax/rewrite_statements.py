"""Rewrites statements by the templates of docs/frontend.md: each body once, in place, between hooks."""

# Values of users are of any type: what they are is asked while staging.

import ast
from collections.abc import Callable
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax.ast_build import (
    LOAD,
    assign,
    assign_all,
    at,
    changed,
    choice,
    constant,
    copied,
    do,
    hook,
    inside,
    load,
    loads,
    method,
    runtime,
    store,
)
from rosejit.frontend.syntax.loop_plan import plan
from rosejit.frontend.syntax.lower_jumps import VALUE, AssignFlag
from rosejit.frontend.syntax.rewrite_context import Context
from rosejit.frontend.syntax.rewrite_expressions import expression, generic

Rule = Callable[[Context, Any], list[Any]]


def statement(context: Context, node: Any) -> list[Any]:
    """`node` rewritten."""
    rule = _RULES.get(type(node))
    return [generic(context, node)] if rule is None or context.plain else rule(context, node)


def _attribute(place: Any, variable: str, name: str) -> Any:
    return at(place, ast.Attribute(load(place, variable), name, LOAD))


# --- control flow


def _if(context: Context, node: Any) -> list[Any]:
    """Where Python decides, the variable of the `if` is a bool; else it is true and not True, and both sides run."""
    names = context.names(node)
    variable = context.counter.next("if")
    held = loads(node, names.names)
    facts = [constant(node, names.names), constant(node, names.live)]
    opened = runtime(node.test, "If", expression(context, node.test), held, *facts)
    body, last = context.block(node.body), node.body[-1] if node.orelse else node

    def staged(place: Any, name: str) -> Any:
        return assign_all(place, names.names, method(place, variable, name, held))

    body.append(choice(last, _is_not_true(last, variable), [staged(last, "to_else" if node.orelse else "end")]))
    made = [assign(node.test, variable, opened), choice(node, load(node, variable), body)]
    if node.orelse:
        orelse = [*context.block(node.orelse), choice(node, load(node, variable), [staged(node, "join")])]
        made.append(choice(node, _is_not_true(node, variable), orelse))
    return made


def _is_not_true(place: Any, variable: str) -> Any:
    return at(place, ast.Compare(load(place, variable), [ast.IsNot()], [constant(place, True)]))


def _while(context: Context, node: Any) -> list[Any]:
    flow = context.names(node)
    names = flow.names
    variable = context.counter.next("while")
    held = loads(node, names)
    tried = {inner.target.id for inner in ast.walk(node.test) if isinstance(inner, ast.NamedExpr)}
    unread = sorted(tried - set(names) - context.scope.shared)  # the test runs twice, and must not find what it bound
    tested = method(node.test, variable, "test", expression(context, node.test), held)
    last = node.body[-1]
    leave = choice(node, _attribute(node, variable, "stop"), [at(node, ast.Break())])
    again = choice(node, _attribute(node, variable, "again"), [at(node, ast.Continue())])
    body = [
        assign_all(node, names, method(node, variable, "enter", held)),
        *(assign(node.test, name, hook(node.test, "UNDEFINED")) for name in unread),
        assign_all(node.test, names, tested),
        leave,
        again,
        *context.block(node.body),
        assign_all(last, names, method(last, variable, "back", held)),
    ]
    loop = at(node, ast.While(method(node, variable, "more"), body, []))
    facts = [constant(node, names), constant(node, flow.live)]
    leaving = getattr(node, "leaving", ())
    opened = assign(node, variable, runtime(node, "While", *facts, *([constant(node, leaving)] if leaving else [])))
    return [opened, loop, *(context.block(node.orelse) if node.orelse else [])]


def _for(context: Context, node: Any) -> list[Any]:
    flow = context.names(node)
    names = flow.names
    variable, item = context.counter.next("for"), context.counter.next("item")
    last = node.body[-1]
    held = loads(node, names)
    entered = assign_all(node, names, method(node, variable, "enter", held))
    body = [
        *([choice(node, _attribute(node, variable, "staged"), [entered])] if names else []),
        assign(node.target, expression(context, node.target), load(node.target, item)),
        *context.block(node.body),
        assign_all(last, names, method(last, variable, "back", held)),
    ]
    leaving = getattr(node, "leaving", ())
    if leaving:
        hit = runtime(node, "any_flag_set", *(load(node, flag) for flag in leaving))
        body.append(choice(node, hit, [at(node, ast.Break())]))
    iterable = expression(context, node.iter)
    found = plan(context, node)
    facts = [constant(node, names), constant(node, flow.live), *([] if found is None else [constant(node, found)])]
    facts += [constant(node, leaving)] if leaving else []
    opened = runtime(node.iter, "For" if found is None else "Roll", iterable, *facts)
    loop = at(node, ast.For(store(node.target, item), load(node, variable), body, []))
    return [assign(node.iter, variable, opened), loop, *(context.block(node.orelse) if node.orelse else [])]


def _set_flag(context: Context, node: Any) -> list[Any]:
    return [assign(node, node.flag, constant(node, node.value))] if node.flag in context.tested else []


def _return(context: Context, node: Any) -> list[Any]:
    value = constant(node, None) if node.value is None else expression(context, node.value)
    return [at(node, ast.Return(runtime(node.value or node, "returned", value)))]


def _assert(context: Context, node: Any) -> list[Any]:
    message = [] if node.msg is None else [expression(context, node.msg)]
    held = runtime(node.test, "holds", expression(context, node.test))
    said = runtime(node, "unless", *message)
    return [do(node, at(node, ast.BoolOp(ast.Or(), [held, said])))]


def _raise(context: Context, node: Any) -> list[Any]:
    if node.exc is None:
        return [generic(context, node)]
    error = context.counter.next("error")
    made = assign(node, error, runtime(node, "raised", runtime(node, "raises"), expression(context, node.exc)))
    now: Any = at(node, ast.Raise(load(node, error), None if node.cause is None else expression(context, node.cause)))
    is_known = at(node, ast.Compare(load(node, error), [ast.IsNot()], [constant(node, None)]))
    return [made, choice(node, is_known, [now])]


def _try(context: Context, node: Any) -> list[Any]:
    variable = f"attempt@{node.number}"
    body = [*context.block(node.body), do(node, runtime(node, "tried", load(node, variable)))]
    handlers = [_handler(context, handler, variable) for handler in node.handlers]
    orelse = context.block(node.orelse) if node.orelse else []
    final = context.block(node.finalbody) if node.finalbody else []
    return [
        assign(node, variable, runtime(node, "trying", constant(node, bool(node.finalbody)), *_caught(context, node))),
        at(node, ast.Try(body, handlers, orelse, final)),
    ]


def _caught(context: Context, node: Any) -> list[Any]:
    """What the handlers of a `try` catch."""
    kinds = [handler.type for handler in node.handlers]
    return [load(node, "BaseException") if kind is None else expression(context, kind) for kind in kinds]


def _handler(context: Context, node: Any, attempt: str) -> Any:
    """`except E as e`: `e` is an ordinary name that is unbound at the end, where Python would delete it."""
    body = [do(node, runtime(node, "unwound", load(node, attempt))), *context.block(node.body)]
    kind = None if node.type is None else expression(context, node.type)
    if node.name is None:
        return at(node, ast.ExceptHandler(kind, None, body))
    caught = context.counter.next("caught")
    name = at(node, ast.Name(node.name, ast.Store()))
    bound = assign(node, expression(context, name), load(node, caught))
    unbound = assign(node, expression(context, name), hook(node, "UNDEFINED"))
    return at(node, ast.ExceptHandler(kind, caught, [bound, *body, unbound]))


def _with(context: Context, node: Any) -> list[Any]:
    items = [generic(context, item) for item in node.items]
    for item in [] if context.plain else items:
        item.context_expr = runtime(item.context_expr, "entered", item.context_expr)
    return [at(node, ast.With(items, context.block(node.body)))]


def _match(context: Context, node: Any) -> list[Any]:
    cases: list[Any] = []
    for case in node.cases:
        guard = None if case.guard is None else expression(context, case.guard)
        names = [getattr(part, field, None) for part in ast.walk(case.pattern) for field in ("name", "rest")]
        _refuse_shared(context, case.pattern, *names)
        outer, context.plain = context.plain, True
        pattern = generic(context, case.pattern)
        context.plain = outer
        cases.append(ast.match_case(pattern, guard, context.block(case.body)))
    return [at(node, ast.Match(runtime(node.subject, "decided", expression(context, node.subject)), cases))]


# --- binding


def _assign(context: Context, node: Any) -> list[Any]:
    value, first = expression(context, node.value), node.targets[0]
    if first.__class__ is ast.Name and len(node.targets) == 1 and first.id in context.certain and first.id != VALUE:
        return [node if value is node.value else changed(node, {"value": value})]
    if isinstance(first, ast.Name) and first.id == VALUE:
        value = runtime(node.value, "result", value)
    if any(isinstance(t, ast.Tuple | ast.List) for t in node.targets) and not isinstance(node.value, ast.Tuple):
        value = runtime(node.value, "rows", value)
    made = at(node, ast.Assign([expression(context, target) for target in node.targets], value))
    exchanged = _exchanged(node)
    if exchanged is None:
        return [made]
    test = runtime(node, "exchange", *[expression(context, copied(part)) for part in exchanged])
    return [choice(node, test, [made])]


def _exchanged(node: Any) -> tuple[Any, Any, Any] | None:
    """The container and the two indices of `items[i], items[j] = items[j], items[i]`, if asking for these twice shows
    nobody anything."""
    target, value = node.targets[0], node.value
    pair = (ast.Tuple, ast.Subscript, ast.Subscript)
    if len(node.targets) != 1 or any(_classes(side) != pair for side in (target, value)):
        return None
    first, second = value.elts[1], value.elts[0]
    if not (_is_same(first, target.elts[0]) and _is_same(second, target.elts[1])):
        return None
    if not _is_same(first.value, second.value):
        return None
    is_plain = all(isinstance(part, _PLAIN) for each in (first, second) for part in inside(each))
    return (first.value, first.slice, second.slice) if is_plain else None


_PLAIN = (ast.Subscript, ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp)


def _classes(node: Any) -> tuple[type, ...]:
    return (type(node), *map(type, getattr(node, "elts", ())))


def _is_same(a: Any, b: Any) -> bool:
    return ast.dump(a).replace("Store()", "Load()") == ast.dump(b).replace("Store()", "Load()")


def _annotated(context: Context, node: Any) -> list[Any]:
    """Annotations of local variables are never evaluated."""
    if node.value is None:
        return []
    return [assign(node, expression(context, node.target), expression(context, node.value))]


def _augmented(context: Context, node: Any) -> list[Any]:
    before: list[Any] = []
    target = node.target
    if isinstance(target, ast.Name) and id(target) in context.flow.unsure and target.id in context.flow.undefined:
        checked = runtime(target, "bound", load(target, target.id), constant(target, target.id))
        before.append(assign(target, target.id, checked))
    op, method, stored = (
        expression(context, node.op),
        constant(node, _IN_PLACE[type(node.op)]),
        expression(context, target),
    )
    value = expression(context, node.value)
    if isinstance(target, ast.Name):
        read = expression(context, at(target, ast.Name(target.id, ast.Load())))
        if isinstance(node.op, ast.Add):
            value = runtime(node, "addend", read, value)
        else:
            before.append(do(node, runtime(node, "grows", read, method)))
    else:
        stored.value = runtime(target, "grown", stored.value, method)
    return [*before, at(node, ast.AugAssign(stored, op, value))]


_IN_PLACE = {
    getattr(ast, name): f"__i{name.lower()}__" for name in ("Add", "Sub", "Mod", "Pow", "LShift", "RShift", "FloorDiv")
} | {
    ast.Mult: "__imul__",
    ast.MatMult: "__imatmul__",
    ast.Div: "__itruediv__",
    ast.BitAnd: "__iand__",
    ast.BitOr: "__ior__",
    ast.BitXor: "__ixor__",
}


def _delete(context: Context, node: Any) -> list[Any]:
    """`del x` leaves `x` unbound, which staged code can join; items and attributes go at once."""
    made: list[Any] = []
    for target in node.targets:
        if isinstance(target, ast.Name):
            read = ast.Name(target.id, ast.Load())
            at(target, read)
            checked = runtime(target, "bound", expression(context, read), constant(target, target.id))
            kept = ast.Name(target.id, ast.Store())
            made += [
                do(target, checked),
                assign(target, expression(context, at(target, kept)), hook(target, "UNDEFINED")),
            ]
        else:
            made.append(at(node, ast.Delete([expression(context, target)])))
    return made


def _refuse_shared(context: Context, node: Any, *names: str | None) -> None:
    """A name that an inner function rebinds lives in a cell, which only assignment can fill."""
    for name in names:
        if name in context.scope.shared:
            raise UnsupportedSyntax(
                f"`{name}` is rebound by an inner function and bound here by something else than an assignment",
                context.source.span(node),
                help="bind another name here and assign it",
            )


def _import(context: Context, node: Any) -> list[Any]:
    _refuse_shared(context, node, *((alias.asname or alias.name).split(".")[0] for alias in node.names))
    return [generic(context, node)]


def _rewrite_inner_function(context: Context, node: Any) -> list[Any]:
    _refuse_shared(context, node, node.name)
    return [context.function(context, node)]


def _class(context: Context, node: Any) -> list[Any]:
    """The body of a class runs on the host as it is; its methods are functions as all others."""
    _refuse_shared(context, node, node.name)
    outer, context.plain = context.plain, True
    made = generic(context, node)
    context.plain = outer
    return [made]


def _nothing(context: Context, node: Any) -> list[Any]:
    return []


_RULES: dict[type, Rule] = {
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Return: _return,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Try: _try,
    ast.With: _with,
    ast.Match: _match,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.FunctionDef: _rewrite_inner_function,
    ast.ClassDef: _class,
    ast.Nonlocal: _nothing,
    AssignFlag: _set_flag,
}
