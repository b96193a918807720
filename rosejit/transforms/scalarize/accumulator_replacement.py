"""Places of arrays that are only touched at constants into places of their numbers, which are variables."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import forms, operands, rebuild, scopes
from rosejit.ir.types import REAL, Array, Ref, Type
from rosejit.transforms.scalarize.small_arrays import Atoms, leaf, numbers, paths

MOST = 32
"""Numbers of an array up to which it is taken apart: all its places are then written one by one in the program."""


def scalarize_accumulators(f: ir.Function) -> ir.Function:
    """`f` with the places of such arrays taken apart; the same object where there are none."""
    if f.body is None:
        return f
    opened = {let.binders[0] for let in forms(f.body) if isinstance(let.expr, ir.Accum) and _size(let.binders[0].type)}
    if opened:
        opened -= _touched(f.body, opened)
    if not opened:
        return f
    body = _AccumulatorScalarization(opened).block(f.body)
    return f.with_body(body)


def _size(t: Type) -> int:
    """How many numbers a place of a small array holds; 0 for all others."""
    array = t.target if isinstance(t, Ref) else t
    count = numbers(array, MOST)
    return count if count and leaf(array) is REAL else 0


def _number(t: Type, path: ir.Path) -> int | None:
    """Which number of an array is at a path; None where that is not one, or only the run knows."""
    at = 0
    for step in path:
        if not isinstance(t, Array) or not isinstance(step, ir.Lit) or not isinstance(step.value, int):
            return None
        if t.length is None or not 0 <= step.value < t.length:
            return None
        at, t = at * t.length + step.value, t.element
    return at if t is REAL else None


def _touched(body: ir.Block, opened: set[ir.Var]) -> set[ir.Atom]:
    """The places of which something touches more than a number, or one at an index that only the run knows; small
    arrays may be read whole in the end, of which little is left to be gained."""
    found: set[ir.Atom] = set()
    resolved: dict[ir.Atom, ir.Atom] = {}
    for let in forms(body):
        e = let.expr
        match e:
            case ir.Resolve(place=place):
                if place in opened and not numbers(let.binders[0].type):
                    resolved[let.binders[0]] = place
            case ir.View(place=place, path=path) if isinstance(place.type, Ref):
                if place in opened and _number(place.type.target, path) is None:
                    found.add(place)
            case ir.Index(base=base, path=path) if base in resolved and _number(base.type, path) is not None:
                pass
            case _:
                read = [*operands(e), *[a for _, block in scopes(e) for a in block.results]]
                found.update([resolved.get(a, a) for a in read if a in opened or a in resolved])
    found.update([resolved[a] for a in body.results if a in resolved])
    return found


class _AccumulatorScalarization:
    """`parts` are the numbers of arrays that are known, and the places of their numbers; `atoms` says what stands for a
    variable."""

    def __init__(self, opened: set[ir.Var]) -> None:
        self.opened = opened
        self.parts: dict[ir.Atom, Atoms] = {}
        self.atoms: dict[ir.Atom, ir.Atom] = {}

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        """The block with its places taken apart."""
        new: list[ir.Let] = []
        for let in block.lets:
            if isinstance(let.expr, ir.Apply) and self.atoms.keys().isdisjoint(let.expr.args):
                new.append(let)
                continue
            e = rebuild(let.expr, self.atom, block=self.block)
            if not self.taken(let, e, new):
                new.append(ir.Let(let.binders, e, let.span))
        return ir.Block(new, tuple([self.atom(a) for a in block.results]))

    def taken(self, let: ir.Let, e: ir.Expr, new: list[ir.Let]) -> bool:
        """Whether something else has come for a let."""
        match e:
            case ir.Zero() if size := _size(let.binders[0].type):
                self.parts[let.binders[0]] = (ir.real(0.0),) * size
            case ir.MakeArray(items=items) if items[0].type is REAL and len(items) <= MOST:
                self.parts[let.binders[0]] = items
            case ir.Accum(value=value) if let.binders[0] in self.opened:
                starts = self.parts.get(value) or self.read(let, value, new)
                self.parts[let.binders[0]] = self.each(let, [ir.Accum(a) for a in starts], Ref(REAL), new)
                return True
            case ir.View(place=place, path=path) if place in self.parts and isinstance(place.type, Ref):
                at = _number(place.type.target, path)
                assert at is not None
                self.atoms[let.binders[0]] = self.parts[place][at]
                return True
            case ir.Resolve(place=place) if place in self.parts:
                items = self.each(let, [ir.Resolve(p) for p in self.parts[place]], REAL, new)
                self.parts[let.binders[0]] = items
                self.bind_array(let.binders[0], items, let, new)
                return True
            case ir.Index(base=base, path=path) if base in self.parts:
                at = _number(base.type, path)
                if at is not None:
                    self.atoms[let.binders[0]] = self.parts[base][at]
                    return True
            case _:
                return False
        return False

    def read(self, let: ir.Let, array: ir.Atom, new: list[ir.Let]) -> Atoms:
        """The numbers of an array."""
        return self.each(let, [ir.Index(array, path, False) for path in paths(array.type)], REAL, new)

    def each(self, let: ir.Let, many: list[ir.Expr], t: Type, new: list[ir.Let]) -> Atoms:
        """Variables for the results of expressions, bound where `let` was."""
        made = [ir.Var(t, let.binders[0].hint) for _ in many]
        new += [ir.Let((v,), e, let.span) for v, e in zip(made, many, strict=True)]
        return tuple(made)

    def bind_array(self, v: ir.Var, items: Atoms, let: ir.Let, new: list[ir.Let]) -> None:
        """Bind `v` to the array of `items`."""
        t = v.type
        assert isinstance(t, Array)
        if isinstance(t.element, Array):
            size = numbers(t.element, MOST)
            rows = [ir.Var(t.element, v.hint) for _ in range(len(items) // size)]
            for k, row in enumerate(rows):
                self.bind_array(row, items[k * size : (k + 1) * size], let, new)
            items = tuple(rows)
        new.append(ir.Let((v,), ir.MakeArray(items), let.span))
