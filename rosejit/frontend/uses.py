"""Finds the names that expressions and statements read and bind."""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownVariableType=false

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rosejit.frontend.grammar import gast
from rosejit.frontend.jumps import Go, SetFlag, blocks
from rosejit.frontend.scope import COMPREHENSIONS, FUNCTIONS, children

Mask = int
"""A set of names, one bit each: the sets are small and there are many of them."""


@dataclass(slots=True)
class Use:
    """What one expression does to names."""

    reads: Mask = 0
    sites: list[tuple[Mask, Any]] = field(default_factory=list[tuple[Mask, Any]])
    binds: Mask = 0
    """By `:=`."""
    kills: Mask = 0
    """Those of `binds` that happen whenever the expression is evaluated."""


class Uses:
    """What expressions read and bind; remembered, since loops ask more than once."""

    def __init__(self, bits: dict[str, Mask]) -> None:
        self.bits = bits
        self.known: dict[int, Use] = {}
        self.bound: dict[int, Mask] = {}

    def mask(self, names: Iterable[str]) -> Mask:
        """The set of `names`."""
        found = 0
        for name in names:
            found |= self.bits.get(name, 0)
        return found

    def unpack(self, mask: Mask) -> tuple[str, ...]:
        """The names of a set."""
        return tuple(name for name, bit in self.bits.items() if bit & mask)

    def of(self, *nodes: Any) -> Use:
        """What the expressions `nodes` do together."""
        key = id(nodes[0]) if len(nodes) == 1 else 0
        use = self.known.get(key) if key else None
        if use is None:
            use = Use()
            for node in nodes:
                if node is not None:
                    self._gather(node, use, False)
            if key:
                self.known[key] = use
        return use

    def _gather(self, node: Any, use: Use, maybe: bool) -> None:
        kind = type(node)
        if kind is gast.Name:
            bit = self.bits.get(node.id, 0)
            if bit and type(node.ctx) is gast.Load:
                use.reads |= bit & ~use.kills
                use.sites.append((bit, node))
        elif kind is gast.BinOp:
            self._gather(node.left, use, maybe)
            self._gather(node.right, use, maybe)
        elif kind is gast.NamedExpr:
            self._gather(node.value, use, maybe)
            bit = self.bits.get(node.target.id, 0)
            use.binds |= bit
            use.kills |= 0 if maybe else bit
        elif kind is Go:
            use.reads |= self.mask(node.flags)
        elif kind in FUNCTIONS:
            for default in _around(node):
                self._gather(default, use, maybe)
        elif kind is not gast.Constant:
            first = kind in (gast.BoolOp, gast.IfExp, gast.Compare)
            inside = maybe or kind in COMPREHENSIONS
            for child in _evaluated(node) if first else children(node):
                self._gather(child, use, inside)
                inside = inside or first

    def binds(self, statements: list[Any]) -> Mask:
        """The names that `statements` can bind."""
        found = 0
        for node in statements:
            mask = self.bound.get(id(node))
            if mask is None:
                mask = self.bound[id(node)] = self._binds(node)
            found |= mask
        return found

    def _binds(self, node: Any) -> Mask:
        match node:
            case SetFlag():
                return self.bits.get(node.flag, 0)
            case gast.FunctionDef() | gast.ClassDef():
                return self.bits.get(node.name, 0)
            case gast.Import() | gast.ImportFrom():
                return self.imported(node)
            case _:
                found = self._stored(node)
                for block in blocks(node):
                    found |= self.binds(block)
                return found

    def _stored(self, node: Any) -> Mask:
        """The names bound by the expressions of a statement: targets, `:=`, patterns, `as`."""
        found = 0
        pending = [child for child in children(node) if not isinstance(child, gast.stmt)]
        while pending:
            child = pending.pop()
            if isinstance(child, gast.Name):
                found |= 0 if isinstance(child.ctx, gast.Load) else self.bits.get(child.id, 0)
            elif isinstance(child, gast.pattern):
                found |= self.pattern(child)
            elif not isinstance(child, gast.Lambda):
                pending += [c for c in children(child) if not isinstance(c, gast.stmt)]
        return found

    def pattern(self, node: Any) -> Mask:
        """The names that a `case` pattern binds."""
        found = 0
        for inner in gast.walk(node):
            name = getattr(inner, "name", None) or getattr(inner, "rest", None)
            if isinstance(inner, gast.pattern) and name:
                found |= self.bits.get(name, 0)
        return found

    def imported(self, node: Any) -> Mask:
        """The names that an `import` binds."""
        return self.mask((alias.asname or alias.name).split(".")[0] for alias in node.names)

    def targets(self, *nodes: Any) -> Mask:
        """The names that targets bind: `a`, `(a, b)`, `[a, *b]`, but neither `a[i]` nor `a.b`."""
        found = 0
        for node in nodes:
            kind = type(node)
            if kind is gast.Name:
                found |= self.bits.get(node.id, 0)
            elif kind is gast.Tuple or kind is gast.List:
                found |= self.targets(*node.elts)
            elif kind is gast.Starred:
                found |= self.targets(node.value)
        return found


def _around(node: Any) -> list[Any]:
    """What is evaluated where a function is made."""
    found = (*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ()))
    return [part for part in found if part is not None]


def _evaluated(node: Any) -> list[Any]:
    """The operands of an expression that may skip some, those first that it never skips."""
    if isinstance(node, gast.BoolOp):
        return node.values
    if isinstance(node, gast.IfExp):
        return [node.test, node.body, node.orelse]
    return [node.left, *node.comparators]
