"""Appends lets to a block."""

from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import Apply, Atom, Block, Expr, Let, Var
from rosejit.ir.types import Type
from rosejit.span import Span


class Builder:
    """The lets of one block in the making; `span` is given to every let that is appended."""

    __slots__ = ("lets", "span")

    def __init__(self, span: Span | None = None) -> None:
        self.lets: list[Let] = []
        self.span = span

    def bind(self, expr: Expr, type: Type, hint: str = "x") -> Var:
        """Append a let with one binder."""
        var = Var(type, hint)
        self.lets.append(Let((var,), expr, self.span))
        return var

    def bind_all(self, expr: Expr, types: tuple[Type, ...], hint: str = "x") -> tuple[Var, ...]:
        """Append a let with a binder for each type."""
        binders = tuple(Var(t, hint) for t in types)
        self.lets.append(Let(binders, expr, self.span))
        return binders

    def apply(self, op: Primitive, *args: Atom, hint: str = "x") -> Var:
        """Append a primitive."""
        var = Var(op.result, hint)
        self.lets.append(Let((var,), Apply(op, args), self.span))
        return var

    def do(self, expr: Expr) -> None:
        """Append an expression without results."""
        self.lets.append(Let((), expr, self.span))

    def block(self, *results: Atom) -> Block:
        """The lets so far as a block."""
        return Block(self.lets, results)
