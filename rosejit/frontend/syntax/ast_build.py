"""Makes nodes of the rewritten program, each at the place of the node it stands for, and walks over trees."""

# Values of users are of any type: what they are is asked while staging.

import ast
from collections.abc import Iterator
from typing import Any

RUNTIME = "rose@"
"""The variable that holds the run-time object. Names with `@` cannot be the user's."""

HOOKS = {name: f"{RUNTIME}{name}" for name in ("If", "append", "call", "fresh", "getitem", "read_outer", "returned")}
"""Methods of it that most lines call, and the variables that hold them: these are found sooner, by one node less."""

LOAD = ast.Load()
STORE = ast.Store()


def at(place: Any, node: Any) -> Any:
    """`node`, with the position of `place`."""
    node.lineno = place.lineno
    node.col_offset = place.col_offset
    node.end_lineno = place.end_lineno
    node.end_col_offset = place.end_col_offset
    return node


def changed(node: Any, parts: dict[str, Any]) -> Any:
    """`node` with other parts, where it stands."""
    made = _new(node.__class__)
    made.__dict__ = {**node.__dict__, **parts}
    return made


_new = ast.AST.__new__  # constructors look at each field, and take twice as long


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
    name = HOOKS.get(method)
    return at(place, ast.Attribute(load(place, RUNTIME), method, LOAD)) if name is None else load(place, name)


def runtime(place: Any, method: str, *args: Any) -> Any:
    """A call of a method of the run-time object."""
    name = HOOKS.get(method)
    if name is None:
        return _call(place, hook(place, method), [*args])
    holder, own = _new(ast.Name), place.__dict__  # written out: most nodes that are made are these
    holder.__dict__ = {
        "id": name,
        "ctx": LOAD,
        "lineno": own["lineno"],
        "col_offset": own["col_offset"],
        "end_lineno": own["end_lineno"],
        "end_col_offset": own["end_col_offset"],
    }
    return _call(place, holder, [*args])


def method(place: Any, variable: str, name: str, *args: Any) -> Any:
    """A call of a method of what is in `variable`."""
    return _call(place, at(place, ast.Attribute(load(place, variable), name, LOAD)), [*args])


def _call(place: Any, function: Any, args: list[Any]) -> Any:
    made, own = _new(ast.Call), place.__dict__
    made.__dict__ = {
        "func": function,
        "args": args,
        "keywords": [],
        "lineno": own["lineno"],
        "col_offset": own["col_offset"],
        "end_lineno": own["end_lineno"],
        "end_col_offset": own["end_col_offset"],
    }
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
