"""Rows that are put into an array, and read from it again at constants alone, without that array: a loop that makes a
row is then a neighbour of those that read it.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms, operands, rebuild, scopes
from rosejit.ir.types import is_boxed


def with_known_rows(f: ir.Function) -> ir.Function:
    """`f` without such arrays; `f` itself where there are none."""
    if f.body is None or not any([_is_of_rows(let.expr) for let in forms(f.body)]):
        return f
    found = _Survey()
    found.block(f.body)
    known = {v: items for v, items in found.made.items() if v not in found.whole}
    return f.with_body(_KnownRows(known).block(f.body)) if known else f


def _is_of_rows(e: ir.Expr) -> bool:
    return isinstance(e, ir.MakeArray) and is_boxed(e.items[0].type)


class _Survey:
    """Arrays made of rows, and variables that something reads as a whole, or at an index that only the run knows."""

    def __init__(self) -> None:
        self.made: dict[ir.Atom, tuple[ir.Atom, ...]] = {}
        self.whole: set[ir.Atom] = set()

    def block(self, block: ir.Block) -> None:
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.MakeArray) and _is_of_rows(e):
                self.made[let.binders[0]] = e.items
            if not (isinstance(e, ir.Index) and _row(e, self.made) is not None):
                self.whole.update(operands(e))
            for _, inner in scopes(e):
                self.block(inner)
        self.whole.update(block.results)


def _row(e: ir.Index, made: dict[ir.Atom, tuple[ir.Atom, ...]]) -> ir.Atom | None:
    """The row of which an element, or the row itself, is read, if it is known."""
    step = e.path[0]
    if e.base not in made or not isinstance(step, ir.Lit) or not isinstance(step.value, int):
        return None
    items = made[e.base]
    return items[step.value] if 0 <= step.value < len(items) else None


class _KnownRows:
    """Rewrites blocks; `rows` says what stands for a row that was read."""

    def __init__(self, known: dict[ir.Atom, tuple[ir.Atom, ...]]) -> None:
        self.known = known
        self.rows: dict[ir.Atom, ir.Atom] = {}

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.rows.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        new: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            if let.binders and let.binders[0] in self.known:
                continue
            row = _row(e, self.known) if isinstance(e, ir.Index) else None
            if isinstance(e, ir.Index) and row is not None:
                if len(e.path) == 1:
                    self.rows[let.binders[0]] = self.atom(row)
                    continue
                e = ir.Index(row, e.path[1:], e.checked)
            new.append(ir.Let(let.binders, rebuild(e, self.atom, block=self.block), let.span))
        return ir.Block(new, tuple(map(self.atom, block.results)))
