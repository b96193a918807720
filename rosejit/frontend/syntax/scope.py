"""Tells whose variable a name is: the function's own, one that inner functions share, or one from outside."""

# Values of users are of any type: what they are is asked while staging.

import ast
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from rosejit.lazy_dataclass import dataclass

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

IMMEDIATE = frozenset({"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})
"""Builtins whose generator argument has run before anything else does."""


@dataclass(slots=True, eq=False)
class Scope:
    """The names of one function. A comprehension belongs to the function it stands in."""

    node: Any
    parent: "Scope | None" = None
    params: tuple[str, ...] = ()
    bound: set[str] = field(default_factory=set[str])
    """Parameters and names that are assigned here."""
    loads: set[str] = field(default_factory=set[str])
    chains: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    """Names of `loads` with attributes that are read from them."""
    rebinds: set[str] = field(default_factory=set[str])
    """Declared `nonlocal`."""
    inner: list["Scope"] = field(default_factory=list["Scope"])
    shared: set[str] = field(default_factory=set[str])
    """Own names that an inner function rebinds: they live in cells."""
    captured: set[str] = field(default_factory=set[str])
    """Own names that inner functions (or generators) read, at any time."""
    straight: int = 0
    """So many statements, from the first, are assignments of plain expressions to one name, which read nothing of the
    function's own that is not bound by then."""

    def owner(self, name: str) -> "Scope | None":
        """The function whose variable `name` is here; None for a global or a variable from outside the source."""
        scope: Scope | None = self
        while scope is not None and name not in scope.bound:
            scope = scope.parent
        return scope

    def of(self, node: Any) -> "Scope":
        """The scope of a function that stands in this one. Handlers of errors stand twice."""
        where = node.lineno, node.col_offset
        there = [each for each in self.inner if (each.node.lineno, each.node.col_offset) == where]
        return next((each for each in there if each.node is node), there[0])


def analyse(node: Any, parent: Scope | None = None) -> Scope:
    """The scope of the function `node`, and of those inside it."""
    scope = Scope(node, parent, tuple(parameters(node)))
    scope.bound |= set(scope.params)
    early = set[str]()
    body: list[Any] = [node.body] if isinstance(node, ast.Lambda) else node.body
    scope.straight = _collect_straight(body, scope, early)
    _collect(body[scope.straight :], scope, frozenset())
    if not early.isdisjoint(scope.bound):
        scope.straight = 0
    scope.bound -= scope.rebinds
    if parent is None:
        _share(scope)
    else:
        parent.inner.append(scope)
    return scope


def parameters(node: Any) -> Iterator[str]:
    """The names of the parameters of a function, in the order in which they are written."""
    arguments = node.args
    for param in (*arguments.posonlyargs, *arguments.args):
        yield param.arg
    if arguments.vararg is not None:
        yield arguments.vararg.arg
    for param in arguments.kwonlyargs:
        yield param.arg
    if arguments.kwarg is not None:
        yield arguments.kwarg.arg


def _share(scope: Scope) -> None:
    """Fill `shared` and `captured` of every function, from the innermost outwards."""
    for inner in scope.inner:
        _share(inner)
    for name in scope.rebinds:
        owner = scope.parent.owner(name) if scope.parent is not None else None
        if owner is not None:
            owner.shared.add(name)
    if scope.parent is not None:
        for name in scope.loads | scope.rebinds:
            owner = scope.owner(name)
            if owner is not None and owner is not scope:
                owner.captured.add(name)


def _collect_straight(statements: list[Any], scope: Scope, early: set[str]) -> int:
    """Enter the names of the first statements, as long as they are assignments of plain expressions to one name; how
    many there are, and into `early` what they read before it is bound. Most of a long function is such, and is looked
    at once, here."""
    bound, read = scope.bound, scope.loads
    for number, node in enumerate(statements):
        if node.__class__ is not ast.Assign:
            return number
        target, *others = node.targets
        names = None if others or target.__class__ is not ast.Name else _read_plainly(node.value, scope.chains)
        if names is None:
            return number
        if not bound.issuperset(names):
            early.update([name for name in names if name not in bound])
        read.update(names)
        bound.add(target.id)
    return len(statements)


def _read_plainly(node: Any, chains: set[tuple[str, ...]]) -> list[str] | None:
    """The names that an expression reads, their attributes going to `chains`; None where a part is not plain."""
    names, pending = list[str](), [node]
    while pending:
        part = pending.pop()
        kind = part.__class__
        if kind is ast.Name:
            names.append(part.id)
        elif kind is ast.BinOp:
            pending += (part.left, part.right)
        elif kind is ast.Call:
            pending += (part.func, *part.args, *part.keywords)
        elif kind is ast.Attribute:
            pending.append(_owner(part, chains))
        elif kind in _PLAIN:
            pending += children(part)
        elif kind is not ast.Constant:
            return None
    return names


_PLAIN = frozenset({ast.UnaryOp, ast.Compare, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.keyword})
"""Expressions that hold names only where they read them."""


def _owner(node: Any, chains: set[tuple[str, ...]]) -> Any:
    """Whose attribute's attribute it is, of any depth; the chains that end in a name are entered."""
    names: list[str] = []
    base = node
    while base.__class__ is ast.Attribute:
        names.append(base.attr)
        base = base.value
    if base.__class__ is ast.Name:
        whole = [*names, base.id][::-1]
        chains.update([tuple(whole[:end]) for end in range(2, len(whole) + 1)])
    return base


def _collect(nodes: Iterable[Any], scope: Scope, hidden: frozenset[str]) -> None:
    """Enter the names of `nodes` into `scope`; `hidden` are the variables of comprehensions around."""
    pending = [*nodes]
    while pending:
        node = pending.pop()
        kind = node.__class__
        if kind is ast.Name:
            if node.id not in hidden:
                (scope.loads if node.ctx.__class__ is ast.Load else scope.bound).add(node.id)
        elif kind is ast.BinOp:
            pending += (node.left, node.right)
        elif kind is ast.Assign:
            pending += node.targets
            pending.append(node.value)
        elif kind in _COLLECTORS:
            _COLLECTORS[kind](node, scope, hidden)
        elif node is not None:
            pending += children(node)


def children(node: Any) -> list[Any]:
    """The nodes right below `node`, but for contexts and operators."""
    found: list[Any] = []
    for name in node._fields:
        below = getattr(node, name, None)
        if below.__class__ is list:
            found += [item for item in below if isinstance(item, ast.AST) and item._fields]  # type: ignore[union-attr]  # a list
        elif isinstance(below, ast.AST) and below._fields:
            found.append(below)
    return found


def _annotated(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    """Annotations of variables are read by nobody, but where a class is made."""
    _collect((node.target, node.value), scope, hidden)
    names = scope if isinstance(scope.node, ast.ClassDef) else Scope(scope.node)
    _collect([node.annotation], names, hidden)
    scope.bound |= names.bound


def _attribute(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    chains = set[tuple[str, ...]]()
    base = _owner(node, chains)
    if base.__class__ is not ast.Name or base.id not in hidden:
        scope.chains |= chains
    _collect([base], scope, hidden)


def _collect_function(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    if not isinstance(node, ast.Lambda):
        scope.bound.add(node.name)
        _collect([*node.decorator_list, node.returns], scope, hidden)
        _collect([param.annotation for param in all_parameters(node)], scope, hidden)
    _collect([*node.args.defaults, *node.args.kw_defaults], scope, hidden)
    inner = analyse(node, scope)
    inner.loads -= hidden
    inner.chains = {chain for chain in inner.chains if chain[0] not in hidden}


def all_parameters(node: Any) -> list[Any]:
    """The parameter nodes of a function."""
    a = node.args
    return [p for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if p is not None]


def _class(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    """A class body reads the names of the function, but binds its own."""
    body = Scope(node, scope)
    scope.bound.add(node.name)
    _collect([*node.decorator_list, *node.bases, *node.keywords], scope, hidden)
    _collect(node.body, body, hidden)
    scope.loads |= body.loads - body.bound
    scope.chains |= {chain for chain in body.chains if chain[0] not in body.bound}
    for method in body.inner:
        method.parent = scope
        scope.inner.append(method)


def _comprehension(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    targets = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    _collect([node.generators[0].iter], scope, hidden)
    inside = hidden | targets
    _collect([part for g in node.generators for part in (g.target, *g.ifs)], scope, inside)
    _collect([g.iter for g in node.generators[1:]], scope, inside)
    _collect([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], scope, inside)


def _generator(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    """Its names are read whenever it is run, as those of a function are."""
    inside = Scope(node, scope)
    _comprehension(node, inside, hidden)
    scope.bound |= inside.bound
    scope.loads |= inside.loads
    scope.chains |= inside.chains
    scope.inner += inside.inner
    scope.captured |= inside.loads


def _call(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    """`sum(e for ...)` runs its generator before anything else happens."""
    if isinstance(node.func, ast.Name) and node.func.id in IMMEDIATE:
        for argument in node.args:
            (_comprehension if isinstance(argument, ast.GeneratorExp) else _any)(argument, scope, hidden)
        _collect([node.func, *node.keywords], scope, hidden)
    else:
        _collect(children(node), scope, hidden)


def _any(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    _collect([node], scope, hidden)


def _handler(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    if node.name is not None:
        scope.bound.add(node.name)
    _collect([node.type, *node.body], scope, hidden)


def _nonlocal(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    scope.rebinds |= set(node.names)


def _pattern(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name is not None:
        scope.bound.add(name)
    _collect(children(node), scope, hidden)


def _import(node: Any, scope: Scope, hidden: frozenset[str]) -> None:
    scope.bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}


_COLLECTORS: dict[type, Any] = {
    ast.Attribute: _attribute,
    ast.AnnAssign: _annotated,
    ast.FunctionDef: _collect_function,
    ast.AsyncFunctionDef: _collect_function,
    ast.Lambda: _collect_function,
    ast.ClassDef: _class,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _generator,
    ast.Call: _call,
    ast.ExceptHandler: _handler,
    ast.Nonlocal: _nonlocal,
    ast.MatchAs: _pattern,
    ast.MatchStar: _pattern,
    ast.MatchMapping: _pattern,
    ast.Import: _import,
    ast.ImportFrom: _import,
}
