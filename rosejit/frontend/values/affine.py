"""Finds by how much two staged Ints differ, from the operations that made them: `i + 2` is 3 more than `i - 1`."""

from collections.abc import Hashable, Iterable
from itertools import islice

from rosejit.ir.syntax import Apply, Atom, Expr, Index, Let, Lit, Var
from rosejit.ir.types import INT
from rosejit.ops import PRIMITIVES as P

_DEPTH = 24
"""So many operations are followed, one inside the other; what lies deeper is a number like any other."""
_SUMS = {P["iadd"]: (1, 1), P["wadd"]: (1, 1), P["isub"]: (1, -1), P["ineg"]: (-1,)}
"""What each operand counts; `wadd` is staged where it cannot wrap."""

Form = dict[Hashable, int]
"""A sum of terms times constants; that of `None` is added. Ints never wrap, so that these are whole numbers."""


class Definitions:
    """The expressions that made the Ints of the blocks that are open, looked up when somebody asks."""

    def __init__(self) -> None:
        self._exprs: dict[Var, Expr] = {}
        self._forms: dict[Var, Form] = {}
        self._read: dict[int, tuple[list[Let], int]] = {}
        """The lists of lets that were read, by `id`, and how far."""

    def difference(self, blocks: Iterable[list[Let]], a: Atom, b: Atom) -> int | None:
        """`a - b`, if it is the same whenever they are computed; else None. `blocks` are those that are open."""
        self._update(blocks)
        rest = _sum([(self._of(a), 1), (self._of(b), -1)])
        return rest.get(None, 0) if rest.keys() <= {None} else None

    def _update(self, blocks: Iterable[list[Let]]) -> None:
        """Read what was staged since the last time."""
        read: dict[int, tuple[list[Let], int]] = {}
        for lets in blocks:
            _, start = self._read.get(id(lets), (lets, 0))
            for let in islice(lets, start, None):
                if len(let.binders) == 1 and let.binders[0].type is INT:
                    self._exprs[let.binders[0]] = let.expr
            read[id(lets)] = lets, len(lets)
        self._read = read

    def _of(self, atom: Atom, depth: int = _DEPTH) -> Form:
        """`atom` as a sum."""
        if atom.type is not INT:
            return {atom: 1}
        if isinstance(atom, Lit):
            return {None: int(atom.value or 0)}
        if atom not in self._forms:
            self._forms[atom] = self._form(atom, depth)
        return self._forms[atom]

    def _form(self, var: Var, depth: int) -> Form:
        expr = self._exprs.get(var) if depth else None
        if not isinstance(expr, Apply):
            return {self._name(var, expr, depth): 1}
        forms = [self._of(arg, depth - 1) for arg in expr.args]
        if expr.op in _SUMS:
            return _sum(zip(forms, _SUMS[expr.op], strict=True))
        if expr.op in (P["imul"], P["wmul"]):
            for factor, other in (forms, forms[::-1]):
                if factor.keys() <= {None}:
                    return _sum([(other, factor.get(None, 0))])
        return {(expr.op.name, *map(_key, forms)): 1}

    def _name(self, var: Var, expr: Expr | None, depth: int) -> Hashable:
        """What tells a number that is no sum from others: the same element of the same array is the same number."""
        if isinstance(expr, Index) and all(isinstance(step, (Var, Lit)) for step in expr.path):
            return (expr.base, *(_key(self._of(step, depth - 1)) for step in expr.path if isinstance(step, (Var, Lit))))
        return var


def _key(form: Form) -> Hashable:
    return frozenset(form.items())


def _sum(parts: Iterable[tuple[Form, int]]) -> Form:
    found: Form = {}
    for form, factor in parts:
        for term, count in form.items():
            found[term] = found.get(term, 0) + factor * count
    return {term: count for term, count in found.items() if count}
