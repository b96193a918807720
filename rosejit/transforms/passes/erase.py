"""A program with Tans into the same program on Reals: to compile it, or to differentiate it again."""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import rebuild
from rosejit.ir.types import REAL, erased, is_linear
from rosejit.ops import PRIMITIVES


def erase(f: ir.Function) -> ir.Function:
    """`f` with every Tan a Real, and calls of functions that are erased too. A function without Tans stays itself."""
    if "erase" not in f.derived:
        if f.body is None or not _mentions_tangents(f):
            f.derived["erase"] = f
        else:
            new = ir.Function(f.name, (), tuple(erased(t) for t in f.results), checkpoint=f.checkpoint, span=f.span)
            f.derived["erase"] = new  # before the body: it may call itself
            Eraser().function(f, new)
    return f.derived["erase"]


def _mentions_tangents(f: ir.Function) -> bool:
    """Whether the signature has a Tan: a function without one has none inside that matters outside, or is a whole
    derivative program, whose inner calls of linear functions have been erased when it was made."""
    return any(is_linear(p.type) for p in f.params) or any(is_linear(t) for t in f.results)


TWINS = {op: PRIMITIVES[op.erased] for op in PRIMITIVES.values() if op.erased}
"""What does on Reals what a linear primitive does on Tans."""


class Eraser:
    """Linear variables get new ones of the erased type, zeros too; all others stay."""

    def __init__(self) -> None:
        self.atoms: dict[ir.Atom, ir.Atom] = {ir.ZERO: ir.real(0.0)}

    def function(self, f: ir.Function, new: ir.Function) -> None:
        """Make `new` of `f`."""
        assert f.body is not None
        new.params = self.binders(f.params)
        new.own = frozenset([p for p, old in zip(new.params, f.params, strict=True) if old in f.own])
        new.body = self.block(f.body)

    def binder(self, v: ir.Var) -> ir.Var:
        """A new variable for a linear one."""
        if not is_linear(v.type):
            return v
        new = self.atoms[v] = ir.Var(erased(v.type), v.hint)
        return new

    def binders(self, many: tuple[ir.Var, ...]) -> tuple[ir.Var, ...]:
        """As `binder`."""
        return tuple([self.binder(v) for v in many])

    def atom(self, a: ir.Atom) -> ir.Atom:
        """What stands for `a`."""
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        """A block erased."""
        lets: list[ir.Let] = []
        atoms, get = self.atoms, self.atoms.get
        for let in block.lets:
            e = let.expr
            if not isinstance(e, ir.Apply):
                self.form(let, e, lets)
            elif e.op.erased:
                (old,) = let.binders
                atoms[old] = new = ir.Var(REAL, old.hint)
                lets.append(ir.Let((new,), ir.Apply(TWINS[e.op], tuple(map(get, e.args, e.args))), let.span))
            else:
                lets.append(let)
        return ir.Block(lets, tuple(map(get, block.results, block.results)))

    def form(self, let: ir.Let, e: ir.Expr, lets: list[ir.Let]) -> None:
        """Append `let` erased; the same one where it has no Tan."""
        if isinstance(e, ir.Index) and e.base not in self.atoms:
            lets.append(let)
            return
        new = rebuild(e, self.atom, self.binder, self.block)
        if isinstance(new, ir.Call):
            new.function = erase(new.function)
        lets.append(ir.Let(self.binders(let.binders), new, let.span))
