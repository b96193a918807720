"""A program with Tans into the same program on Reals: to compile it, or to differentiate it again."""

from functools import cache

from rosejit.ir import syntax as ir
from rosejit.ir.primitive import Primitive
from rosejit.ir.types import REAL, TAN, erased, is_linear
from rosejit.ir.walk import rebuild
from rosejit.ops import PRIMITIVES


def erase(f: ir.Function) -> ir.Function:
    """`f` with every Tan a Real, and calls of functions that are erased too. A function without Tans stays itself."""
    if "erase" not in f.derived:
        if f.body is None or not _mentions_tangents(f):
            f.derived["erase"] = f
        else:
            new = ir.Function(f.name, (), tuple(erased(t) for t in f.results), checkpoint=f.checkpoint, span=f.span)
            f.derived["erase"] = new  # before the body: it may call itself
            _Eraser(f).into(new)
    return f.derived["erase"]


def _mentions_tangents(f: ir.Function) -> bool:
    """Whether the signature has a Tan: a function without one has none inside that matters outside, or is a whole
    derivative program, whose inner calls of linear functions have been erased when it was made."""
    return any(is_linear(p.type) for p in f.params) or any(is_linear(t) for t in f.results)


@cache
def _twin(op: Primitive) -> Primitive:
    return PRIMITIVES[op.erased] if op.erased else op


class _Eraser:
    """Linear variables get new ones of the erased type; all others stay."""

    def __init__(self, f: ir.Function) -> None:
        self.f = f
        self.vars: dict[ir.Var, ir.Var] = {}

    def into(self, new: ir.Function) -> None:
        f = self.f
        assert f.body is not None
        new.params = tuple(self.binder(p) for p in f.params)
        new.own = frozenset(self.vars.get(p, p) for p in f.own)
        new.body = self.block(f.body)

    def binder(self, v: ir.Var) -> ir.Var:
        if v.type is TAN:
            new = self.vars[v] = ir.Var(REAL, v.hint)
            return new
        if is_linear(v.type):
            new = self.vars[v] = ir.Var(erased(v.type), v.hint)
            return new
        return v

    def atom(self, a: ir.Atom) -> ir.Atom:
        if isinstance(a, ir.Var):
            return self.vars.get(a, a)
        return ir.Lit(a.value, REAL) if a.type is TAN else a

    def block(self, block: ir.Block) -> ir.Block:
        lets: list[ir.Let] = []
        get = self.vars.get
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                op = _twin(e.op)
                args = tuple([get(a, a) if isinstance(a, ir.Var) else self.atom(a) for a in e.args])
                lets.append(ir.Let((self.binder(let.binders[0]),), ir.Apply(op, args), let.span))
                continue
            new = rebuild(e, self.atom, self.binder, self.block)
            if isinstance(new, ir.Call):
                new.function = erase(new.function)
            lets.append(ir.Let(tuple([self.binder(b) for b in let.binders]), new, let.span))
        return ir.Block(lets, tuple([self.atom(a) for a in block.results]))
