"""Names every construct of a function that cannot be staged, at its place, before anything runs."""

# Values of users are of any type: what they are is asked while staging.

from collections.abc import Callable, Iterator
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax.gast_convert import gast
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


Rule = Callable[[Any, Surroundings], Iterator[Fault]]

_WORDS = ("async", "await", "finally", "except", "global", "local", "yield", ":=", "eval", "exec", "vars", "dir")
"""Every fault has one of these in its text, but for names in letters that are no ASCII ones."""
_ASYNC = "remove `async` and `await`: staged code runs from beginning to end"
_FRAME_READERS = {"eval", "exec", "globals", "locals", "vars", "dir"}
_FUNCTIONS = frozenset({gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda})
_LOOPS = frozenset({gast.For, gast.While, gast.AsyncFor})
_SURROUNDING = _FUNCTIONS | _LOOPS | {gast.IfExp, gast.Try}
_CHILDLESS = frozenset(
    {gast.Name, gast.Constant, gast.Load, gast.Store, gast.Add, gast.Sub, gast.Mult, gast.Div, str, type(None)}
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
        elif kind is gast.Call and isinstance(node.func, gast.Name) and node.func.id in _FRAME_READERS:
            yield from _frame_reader(node, root, scope)
        for name in node._fields:
            below = getattr(node, name, None)
            if below.__class__ is list:
                inner = _inside(node, kind, name, around, root) if kind in _SURROUNDING else around
                pending += [(item, inner) for item in below if type(item) not in _CHILDLESS]  # pyright: ignore[reportOptionalIterable]  # never None here
            elif isinstance(below, gast.AST) and type(below) not in _CHILDLESS:
                inner = _inside(node, kind, name, around, root) if kind in _SURROUNDING else around
                pending.append((below, inner))


def _inside(node: Any, kind: type, name: str, around: Surroundings, root: Any) -> Surroundings:
    """What the field `name` of `node` stands in."""
    if kind in _FUNCTIONS:
        return around if node is root else Surroundings(nested=True)
    if kind is gast.IfExp and name != "test":
        return Surroundings(around.nested, True, around.final, around.loop)
    if kind is gast.Try and name == "finalbody":
        return Surroundings(around.nested, around.choice, True, False)
    if kind in _LOOPS and name == "body":
        return Surroundings(around.nested, around.choice, around.final, True)
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


def _comprehension(node: Any, around: Surroundings) -> Iterator[Fault]:
    if node.is_async:
        yield Fault("`async for` cannot be staged", node.target, _ASYNC)


def _frame_reader(node: Any, root: Any, scope: dict[str, Any]) -> Iterator[Fault]:
    """A builtin that looks at the frame it is called from, which is not quite the user's."""
    name = node.func.id
    assigned = (n.id for n in gast.walk(root) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load))
    if name in scope or name in assigned or (name in ("vars", "dir") and node.args):
        return
    yield Fault(f"`{name}()` cannot be staged", node, "name the variables that you need")


_RULES: dict[type, Rule] = {
    gast.AsyncFunctionDef: _refuse("`async def` cannot be staged", _ASYNC),
    gast.Await: _refuse("`await` cannot be staged", _ASYNC),
    gast.AsyncFor: _refuse("`async for` cannot be staged", _ASYNC),
    gast.AsyncWith: _refuse("`async with` cannot be staged", _ASYNC),
    gast.TryStar: _refuse("`except*` cannot be staged", "use `except`"),
    gast.Global: _global,
    gast.Nonlocal: _nonlocal,
    gast.NamedExpr: _walrus,
    gast.Return: _leaving("return"),
    gast.Break: _leaving("break"),
    gast.Continue: _leaving("continue"),
    gast.comprehension: _comprehension,
}
_ALONE: dict[type, Rule] = {gast.Yield: _yield, gast.YieldFrom: _yield}
