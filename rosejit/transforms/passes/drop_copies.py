"""One name for each array: a copy, a loop that gives the rows that it walks, and an array of all rows of another, in
order, are the array itself; then it is copied where ownership asks for that, and nowhere else.

Derivatives make such programs: where no tangent is added to an array, adding a zero leaves a loop that gives what it
reads. What reads the result is then a neighbour of what has made the array.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms, rebuild
from rosejit.ir.types import Array, is_boxed
from rosejit.transforms.passes.dce import where
from rosejit.transforms.passes.insert_copies import body_with_copies


def drop_copies(f: ir.Function) -> ir.Function:
    """`f` with as few copies as it needs; `f` itself where that changes nothing."""
    if f.body is None or not any([_is_candidate(let.expr) for let in forms(f.body)]):
        return f
    sweep = _Sharing()
    made = f.with_body(sweep.block(f.body))
    if sweep.copies + sweep.shared:
        made.body = body_with_copies(made)
    return made if sweep.shared or _copies(made) < sweep.copies else f


def _is_candidate(e: ir.Expr) -> bool:
    match e:
        case ir.Copy():
            return True
        case ir.MakeArray(items=items):
            return is_boxed(items[0].type)
        case ir.Loop():
            return _gives_rows(e)
        case _:
            return False


def _gives_rows(e: ir.Loop) -> bool:
    """Whether a loop gives what it reads of an array at its index."""
    given = set(e.body.results[len(e.carries) :])
    if not given.isdisjoint([scan.param for scan in e.scans]):
        return True
    return bool(given) and any(
        [
            isinstance(let.expr, ir.Index) and let.expr.path == (e.index,) and let.binders[0] in given
            for let in e.body.lets
        ]
    )


def _copies(f: ir.Function) -> int:
    assert f.body is not None
    return sum([isinstance(let.expr, ir.Copy) for let in forms(f.body)])


class _Sharing:
    """One sweep forwards; `atoms` maps names that are gone, `rows` variables to the array and the index they are read
    at."""

    def __init__(self) -> None:
        self.atoms: dict[ir.Atom, ir.Atom] = {}
        self.rows: dict[ir.Atom, tuple[ir.Atom, ir.Atom]] = {}
        self.copies = 0
        self.shared = 0

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        """The block with one name for each array."""
        found = [made for let in block.lets if (made := self.let(let)) is not None]
        return ir.Block(found, tuple([self.atom(a) for a in block.results]))

    def let(self, let: ir.Let) -> ir.Let | None:
        """What stands for a let; None for one that only gives another name."""
        e = let.expr
        if type(e) is ir.Apply:
            return let  # numbers have no other names
        if isinstance(e, ir.Copy) and is_boxed(let.binders[0].type):
            self.copies += 1
            self.atoms[let.binders[0]] = self.atom(e.value)
            return None
        if isinstance(e, ir.Loop):
            for scan in e.scans:
                if not scan.consumes:
                    self.rows[scan.param] = self.atom(scan.array), e.index
        e = rebuild(e, self.atom, block=self.block)
        if isinstance(e, ir.Index) and len(e.path) == 1 and not e.checked and not isinstance(e.path[0], ir.Field):
            self.rows[let.binders[0]] = e.base, e.path[0]
        if isinstance(e, ir.MakeArray):
            whole = self.whole(let.binders[0], [*zip(e.items, map(ir.integer, range(len(e.items))), strict=True)])
            if whole is not None:
                self.shared += 1
                self.atoms[let.binders[0]] = whole
                return None
        return self.loop(let, e) if isinstance(e, ir.Loop) else ir.Let(let.binders, e, let.span)

    def whole(self, v: ir.Var, items: list[tuple[ir.Atom, ir.Atom]]) -> ir.Atom | None:
        """The array, of the type of `v`, of which all items are the rows at their indices."""
        found = {self.rows[row][0] if row in self.rows and self.rows[row][1] == at else None for row, at in items}
        array = found.pop()
        return array if not found and array is not None and array.type == v.type else None

    def loop(self, let: ir.Let, e: ir.Loop) -> ir.Let:
        """A loop without what it gives as it was."""
        n = len(e.carries)
        inside = {*e.carries, *[b for inner in e.body.lets for b in inner.binders], *[s.param for s in e.scans]}
        kept = [True] * n
        for v, row in zip(let.binders[n:], e.body.results[n:], strict=True):
            fits = isinstance(v.type, Array) and v.type.length is not None
            array = self.whole(v, [(row, e.index)]) if fits else None
            kept.append(array is None or array in inside)
            if array is not None and array not in inside:
                self.shared += 1
                self.atoms[v] = array
        body = ir.Block(e.body.lets, where(e.body.results, kept))
        return ir.Let(
            where(let.binders, kept), ir.Loop(e.trips, e.index, e.carries, e.inits, e.scans, body, e.down), let.span
        )
