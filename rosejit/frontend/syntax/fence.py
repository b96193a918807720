"""Names every construct of a function that cannot be staged, at its place, before anything runs."""

# Values of users are of any type: what they are is asked while staging.

import ast
import sys
from collections.abc import Callable, Iterator
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax.source import Source
from rosejit.lazy_dataclass import dataclass


@dataclass(slots=True, frozen=True)
class Fault:
    """What cannot be staged, where, and the edit that mends it."""

    message: str
    node: Any
    help: str


@dataclass(slots=True, frozen=True)
class Surroundings:
    """What a node stands in."""

    nested: bool = False
    """In a function inside the staged one."""
    choice: bool = False
    """In a side of a conditional expression."""
    final: bool = False
    """In a `finally` block, outside the loops inside it."""
    loop: bool = False
    handler: bool = False
    """In the body of an `except`."""


Rule = Callable[[Any, Surroundings], Iterator[Fault]]

_WORDS = (
    "async",
    "await",
    "finally",
    "except",
    "raise",
    "global",
    "local",
    "yield",
    ":=",
    "eval",
    "exec",
    "vars",
    "dir",
)
"""Every fault has one of these in its text, but for names in letters that are no ASCII ones."""
_ASYNC = "remove `async` and `await`: staged code runs from beginning to end"
_FRAME_READERS = {"eval", "exec", "globals", "locals", "vars", "dir"}
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})
_LOOPS = frozenset({ast.For, ast.While, ast.AsyncFor})
_SURROUNDING = _FUNCTIONS | _LOOPS | {ast.IfExp, ast.Try, ast.ExceptHandler}
_CHILDLESS = frozenset(
    {ast.Name, ast.Constant, ast.Load, ast.Store, ast.Add, ast.Sub, ast.Mult, ast.Div, str, type(None)}
)


def check(source: Source, scope: dict[str, Any], *, alone: bool = False) -> None:
    """Raise for the faults of the function, the first as the error and the others as facts; `scope` are its globals.

    `alone`: it is staged by itself, not called by staged code; then it may not be a generator.
    """
    if source.text.isascii() and not any(word in source.text for word in _WORDS):
        return
    faults = list(_faults(source.node, scope, _RULES | _ALONE if alone else _RULES))
    if not faults:
        return
    first, *others = sorted(faults, key=lambda fault: (fault.node.lineno, fault.node.col_offset))
    facts = tuple(f"also in line {fault.node.lineno}: {fault.message}" for fault in others)
    raise UnsupportedSyntax(first.message, source.span(first.node), facts=facts, help=first.help)


def _faults(root: Any, scope: dict[str, Any], rules: dict[type, Rule]) -> Iterator[Fault]:
    pending: list[tuple[Any, Surroundings]] = [(root, Surroundings())]
    while pending:
        node, around = pending.pop()
        kind = type(node)
        rule = rules.get(kind)
        if rule is not None:
            yield from rule(node, around)
        elif kind is ast.Call and isinstance(node.func, ast.Name) and node.func.id in _FRAME_READERS:
            yield from _frame_reader(node, root, scope)
        for name in node._fields:
            below = getattr(node, name, None)
            if below.__class__ is list:
                inner = _inside(node, kind, name, around, root) if kind in _SURROUNDING else around
                pending += [(item, inner) for item in below if type(item) not in _CHILDLESS]  # pyright: ignore[reportOptionalIterable]  # never None here
            elif isinstance(below, ast.AST) and type(below) not in _CHILDLESS:
                inner = _inside(node, kind, name, around, root) if kind in _SURROUNDING else around
                pending.append((below, inner))


def _inside(node: Any, kind: type, name: str, around: Surroundings, root: Any) -> Surroundings:
    """What the field `name` of `node` stands in."""
    if kind in _FUNCTIONS:
        return around if node is root else Surroundings(nested=True)
    if kind is ast.IfExp and name != "test":
        return Surroundings(around.nested, True, around.final, around.loop, around.handler)
    if kind is ast.Try and name == "finalbody":
        return Surroundings(around.nested, around.choice, True, False, around.handler)
    if kind in _LOOPS and name == "body":
        return Surroundings(around.nested, around.choice, around.final, True, around.handler)
    if kind is ast.ExceptHandler:
        return Surroundings(around.nested, around.choice, around.final, around.loop, True)
    return around


# --- rules


def _refuse(message: str, remedy: str) -> Rule:
    def rule(node: Any, around: Surroundings) -> Iterator[Fault]:
        yield Fault(message, node, remedy)

    return rule


def _yield(node: Any, around: Surroundings) -> Iterator[Fault]:
    if not around.nested:
        yield Fault("a generator cannot be staged", node, "collect the values in a list or an array and return that")


def _nonlocal(node: Any, around: Surroundings) -> Iterator[Fault]:
    if not around.nested:
        names = ", ".join(f"`{name}`" for name in node.names)
        yield Fault(
            f"a staged function cannot rebind {names} of the function around it",
            node,
            "return the new value, and bind it where the call is",
        )


def _global(node: Any, around: Surroundings) -> Iterator[Fault]:
    names = ", ".join(f"`{name}`" for name in node.names)
    yield Fault(
        f"a staged function cannot declare {names} global",
        node,
        "reading a global needs no declaration; to change it, return the new value and bind it where the call is",
    )


def _walrus(node: Any, around: Surroundings) -> Iterator[Fault]:
    if around.choice:
        yield Fault(
            f"`{node.target.id} := ...` in a side of a conditional expression cannot be staged",
            node,
            "use an `if` statement",
        )


def _leaving(word: str) -> Rule:
    def rule(node: Any, around: Surroundings) -> Iterator[Fault]:
        if around.final and not (around.loop and word != "return"):
            yield Fault(f"`{word}` in a `finally` block cannot be staged", node, f"move the `{word}` behind the `try`")

    return rule


def _raise(node: Any, around: Surroundings) -> Iterator[Fault]:
    if node.exc is None and not around.handler:
        yield Fault(
            "a `raise` without an error, outside of an `except`, cannot be staged",
            node,
            "name the error: `raise ValueError(...)`; or move the `raise` into the `except`",
        )


def _comprehension(node: Any, around: Surroundings) -> Iterator[Fault]:
    if node.is_async:
        yield Fault("`async for` cannot be staged", node.target, _ASYNC)


def _frame_reader(node: Any, root: Any, scope: dict[str, Any]) -> Iterator[Fault]:
    """A builtin that looks at the frame it is called from, which is not quite the user's."""
    name = node.func.id
    if name in scope or any(_binds(n, name) for n in ast.walk(root)) or (name in ("vars", "dir") and node.args):
        return
    yield Fault(f"`{name}()` cannot be staged", node, "name the variables that you need")


def _binds(node: Any, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.ExceptHandler):
        return node.name == name
    return isinstance(node, ast.arg) and node.arg == name


_RULES: dict[type, Rule] = {
    ast.AsyncFunctionDef: _refuse("`async def` cannot be staged", _ASYNC),
    ast.Await: _refuse("`await` cannot be staged", _ASYNC),
    ast.AsyncFor: _refuse("`async for` cannot be staged", _ASYNC),
    ast.AsyncWith: _refuse("`async with` cannot be staged", _ASYNC),
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.NamedExpr: _walrus,
    ast.Return: _leaving("return"),
    ast.Break: _leaving("break"),
    ast.Continue: _leaving("continue"),
    ast.Raise: _raise,
    ast.comprehension: _comprehension,
}
if sys.version_info >= (3, 11):
    _RULES[ast.TryStar] = _refuse("`except*` cannot be staged", "use `except`")
_ALONE: dict[type, Rule] = {ast.Yield: _yield, ast.YieldFrom: _yield}
