"""Rewrites comprehensions: their clauses, with hooks around, and lists that are most often Python's own."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import ast
from collections.abc import Callable
from typing import Any

from rosejit.frontend.context import Context
from rosejit.frontend.grammar import gast
from rosejit.frontend.nodes import at, constant, load, method, runtime, store, stores

Rewrite = Callable[[Context, Any], Any]
"""What rewrites an expression inside."""


def comprehension(context: Context, node: Any, expression: Rewrite) -> Any:
    """`[e for i in a if p]` as `[c.put(e) for c, items in comp(a) for i in items for _ in c.when(p)]`."""
    variable = context.counter.next("comp")
    binds = any(isinstance(inner, gast.NamedExpr) for inner in gast.walk(node))
    clauses = [_opening(node, variable, binds, expression(context, node.generators[0].iter))]
    outer = context.hidden
    context.hidden |= {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
    for position, generator in enumerate(node.generators):
        place = generator.iter
        items = load(place, f"{variable}@items")
        if position:
            items = method(place, variable, "over", expression(context, generator.iter))
        clauses.append(ast.comprehension(expression(context, generator.target), items, [], 0))
        for test in generator.ifs:
            if any(isinstance(inner, gast.NamedExpr) for inner in gast.walk(test)):  # Python allows it in no `for`
                clauses[-1].ifs.append(method(test, variable, "holds", expression(context, test)))
                continue
            turns = method(test, variable, "when", expression(context, test))
            clauses.append(ast.comprehension(store(test, f"{variable}@if"), turns, [], 0))
    made = _collected(context, node, variable, clauses, expression)
    if _is_simple(node, clauses[0].iter.args[0]):
        made = _on_host(context, node, clauses[0].iter.args[0], made, expression)
    context.hidden = outer
    return made


_PARTS = (gast.comprehension, gast.Lambda, gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)


def _is_simple(node: Any, items: Any) -> bool:
    """Whether a list is made of what a variable holds, by an expression that may be written twice."""
    if not isinstance(node, gast.ListComp) or len(node.generators) > 1 or not isinstance(items, ast.Name):
        return False
    return not node.generators[0].ifs and not any(isinstance(inner, _PARTS) for inner in gast.walk(node.elt))


def _on_host(context: Context, node: Any, items: Any, general: Any, expression: Rewrite) -> Any:
    """`[e for i in a]` as it is where the host has a few items, which is most often so."""
    target = expression(context, node.generators[0].target)
    clause = ast.comprehension(target, load(items, items.id), [], 0)
    plain = runtime(node, "listed", at(node, ast.ListComp(expression(context, node.elt), [clause])))
    return at(node, ast.IfExp(runtime(node, "few", load(items, items.id)), plain, general))


def _opening(node: Any, variable: str, binds: bool, items: Any) -> Any:
    """The clause that goes around those of the user once."""
    lists = isinstance(node, gast.ListComp)
    more = [constant(node, len(node.generators) == 1)] if lists else []
    opened = runtime(node, "listing" if lists else "comprehension", items, constant(node, binds), *more)
    return ast.comprehension(stores(node, (variable, f"{variable}@items")), opened, [], 0)


def _collected(context: Context, node: Any, variable: str, clauses: list[Any], expression: Rewrite) -> Any:
    """The whole of these clauses, its elements rewritten."""
    if isinstance(node, gast.DictComp):
        key, value = expression(context, node.key), expression(context, node.value)
        return runtime(node, "new", at(node, ast.DictComp(key, value, clauses)))
    element = expression(context, node.elt)
    if isinstance(node, gast.SetComp):
        return runtime(node, "new", at(node, ast.SetComp(element, clauses)))
    element = method(node.elt, variable, "put", element)
    if isinstance(node, gast.GeneratorExp):
        return runtime(node, "generator", at(node, ast.GeneratorExp(element, clauses)))
    return runtime(node, "listed", at(node, ast.ListComp(element, clauses)))
