"""The names in scope while a body is read, and the lets it becomes."""

from collections.abc import Sequence

from rosejit.errors import VerifyError
from rosejit.ir.syntax import NOTHING, Atom, Block, Expr, Let, Lit, Var
from rosejit.ir.types import INT, REAL, TAN, Type
from rosejit.ir.typing import check_let
from rosejit.lazy_dataclass import dataclass
from rosejit.text.lexer import Cursor, Token


@dataclass(slots=True)
class Made:
    """An expression before its results have names; a type is None where only the binder can say it."""

    expr: Expr
    types: tuple[Type | None, ...]


Value = Made | tuple[Atom, ...]

Wanted = tuple[Type | None, ...]
"""The types that the place of an expression asks for, as far as known: literals, zeros, sums and tuples follow them."""


@dataclass(slots=True)
class Binder:
    """A name, its type where it is given, and where the lengths and tags of the type are found."""

    token: Token
    type: Type | None
    like: Var | None


class Scope:
    """Names are undone at the end of a block; the lets of the open block are in `lets`."""

    def __init__(self, cursor: Cursor, names: dict[str, Var]) -> None:
        self.cursor = cursor
        self.lets: list[Let] = []
        self._names: dict[str, Atom] = dict(names)
        self._undo: list[tuple[str, Atom | None]] = []

    def find(self, name: str) -> Atom | None:
        """What `name` stands for."""
        return self._names.get(name)

    def define(self, name: str, atom: Atom) -> None:
        """Let `name` stand for `atom` to the end of the block."""
        self._undo.append((name, self._names.get(name)))
        self._names[name] = atom

    def open(self) -> tuple[list[Let], int]:
        """Start a block; what it gives is for `close`."""
        outer, self.lets = self.lets, []
        return outer, len(self._undo)

    def close(self, outer: tuple[list[Let], int], results: tuple[Atom, ...]) -> Block:
        """End a block."""
        block = Block(self.lets, results)
        self.lets = outer[0]
        self.forget(outer[1])
        return block

    def forget(self, mark: int) -> None:
        """Undo the definitions after the first `mark` ones."""
        while len(self._undo) > mark:
            name, old = self._undo.pop()
            if old is None:
                del self._names[name]
            else:
                self._names[name] = old

    @property
    def mark(self) -> int:
        """How many definitions there are to undo."""
        return len(self._undo)

    # --- lets

    def emit(self, binders: tuple[Var, ...], expr: Expr, token: Token) -> None:
        """Append a let that started at `token`."""
        cursor = self.cursor
        last = cursor.tokens[max(cursor.at - 1, 0)]
        let = Let(binders, expr, cursor.source.span(token.start, last.start + len(last.text)))
        try:
            check_let(let)
        except VerifyError as error:
            cursor.fail(str(error), token)
        self.lets.append(let)

    def name_results(self, value: Value, token: Token) -> tuple[Atom, ...]:
        """`value` under names; one without results is `()`."""
        if not isinstance(value, Made):
            return value
        if any(t is None for t in value.types):
            self.cursor.fail("the type of this is not known here: bind it with one", token)
        binders = tuple([Var(t) for t in value.types if t is not None])
        self.emit(binders, value.expr, token)
        return binders or (NOTHING,)

    def one(self, value: Value, token: Token) -> Atom:
        """The only result of `value`."""
        atoms = self.name_results(value, token)
        return atoms[0] if len(atoms) == 1 else self.cursor.fail(f"one value is needed, not {len(atoms)}", token)

    def bind(self, binders: Sequence[Binder], value: Value, token: Token) -> None:
        """Give the results of `value` the names of `binders`."""
        if isinstance(value, Made) and not value.types and len(binders) == 1:  # `let u: () = a += x in`
            value = self.name_results(value, token)
        count = len(value.types) if isinstance(value, Made) else len(value)
        if count != len(binders):
            self.cursor.fail(f"{count} results are bound to {len(binders)} names", token)
        if isinstance(value, Made):
            variables = tuple([self._variable(b, t) for b, t in zip(binders, value.types, strict=True)])
            self.emit(variables, value.expr, token)
            value = variables
        for binder, atom in zip(binders, value, strict=True):
            self.define(binder.token.text, atom if binder.type is None else self._typed(atom, binder))

    def _variable(self, binder: Binder, t: Type | None) -> Var:
        known = binder.type or t
        if known is None:
            self.cursor.fail(f"the type of `{binder.token.text}` must be given", binder.token)
        return Var(known, binder.token.text, binder.like)

    def _typed(self, atom: Atom, binder: Binder) -> Atom:
        fitted = fit(atom, binder.type)
        if fitted.type != binder.type:
            self.cursor.fail(f"`{binder.token.text}` is given a value of another type", binder.token)
        return fitted


def fit(atom: Atom, t: Type | None) -> Atom:
    """`atom`, a whole number made Real and a number made Tan where such a `t` is wanted."""
    if isinstance(atom, Lit) and atom.type is not t and atom.value is not None:
        if t is REAL and atom.type is INT:
            return Lit(float(atom.value), REAL)
        if t is TAN and atom.type in (INT, REAL):
            return Lit(float(atom.value), TAN)
    return atom
