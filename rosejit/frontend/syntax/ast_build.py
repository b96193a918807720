"""Makes nodes of the rewritten program, each at the place of the node it stands for, and walks over trees."""

# Values of users are of any type: what they are is asked while staging.

import ast
from collections.abc import Iterator
from typing import Any

RUNTIME = "rose@"
"""The variable that holds the run-time object. Names with `@` cannot be the user's."""

LOAD = ast.Load()
STORE = ast.Store()


def at(place: Any, node: Any) -> Any:
    """`node`, with the position of `place`."""
    node.lineno = place.lineno
    node.col_offset = place.col_offset
    node.end_lineno = place.end_lineno
    node.end_col_offset = place.end_col_offset
    return node


def load(place: Any, name: str) -> Any:
    """The variable `name`."""
    return at(place, ast.Name(name, LOAD))


def store(place: Any, name: str) -> Any:
    """The variable `name`, as a target."""
    return at(place, ast.Name(name, STORE))


def constant(place: Any, value: Any) -> Any:
    """A literal; tuples of literals too."""
    return at(place, ast.Constant(value))


def hook(place: Any, method: str) -> Any:
    """The attribute `method` of the run-time object."""
    return at(place, ast.Attribute(load(place, RUNTIME), method, LOAD))


def runtime(place: Any, method: str, *args: Any) -> Any:
    """A call of a method of the run-time object."""
    return _method_call(place, RUNTIME, method, args)


def method(place: Any, variable: str, name: str, *args: Any) -> Any:
    """A call of a method of what is in `variable`."""
    return _method_call(place, variable, name, args)


def _method_call(place: Any, variable: str, name: str, args: tuple[Any, ...]) -> Any:
    position = {
        "lineno": place.lineno,
        "col_offset": place.col_offset,
        "end_lineno": place.end_lineno,
        "end_col_offset": place.end_col_offset,
    }
    holder = ast.Name(variable, LOAD)
    holder.__dict__.update(position)
    bound = ast.Attribute(holder, name, LOAD)
    bound.__dict__.update(position)
    made = ast.Call(bound, list(args), [])
    made.__dict__.update(position)
    return made


def assign(place: Any, target: Any, value: Any) -> Any:
    """`target = value`; `target` is a node or the name of a variable."""
    return at(place, ast.Assign([store(place, target) if isinstance(target, str) else target], value))


def do(place: Any, value: Any) -> Any:
    """An expression as a statement."""
    return at(place, ast.Expr(value))


def choice(place: Any, test: Any, body: list[Any]) -> Any:
    """`if test: body`."""
    return at(place, ast.If(test, body, []))


def loads(place: Any, names: tuple[str, ...]) -> Any:
    """The tuple of these variables."""
    return at(place, ast.Tuple([load(place, name) for name in names], LOAD))


def stores(place: Any, names: tuple[str, ...]) -> Any:
    """The tuple of these variables, as a target."""
    return at(place, ast.Tuple([store(place, name) for name in names], STORE))


def assign_all(place: Any, names: tuple[str, ...], value: Any) -> Any:
    """`(a, b, ...) = value`; without names `value` is only evaluated."""
    return assign(place, stores(place, names), value) if names else do(place, value)


_ENDS = (ast.Name, ast.Constant)
"""Nodes below which there is nothing."""


def inside(tree: Any) -> Iterator[Any]:
    """`tree` and all nodes below it but contexts and operators, in no order: `ast.walk` takes four times as long, and
    files are long."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, _ENDS):  # most of them
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                pending += [item for item in value if isinstance(item, ast.AST) and item._fields]  # type: ignore[union-attr]  # a list
            elif isinstance(value, ast.AST) and value._fields:
                pending.append(value)


def copied(tree: Any) -> Any:
    """A tree that may be changed; contexts and operators have nothing of their own, and stay what they are."""
    if tree.__class__ is list:
        return [copied(item) for item in tree]
    if not isinstance(tree, ast.AST) or not tree._fields:
        return tree
    made = tree.__class__.__new__(tree.__class__)
    made.__dict__.update((name, copied(value)) for name, value in tree.__dict__.items())
    return made
