"""A function staged for lengths that stay open (`ir/lengths.py`) into one of arrays whose lengths only the run knows:
each name becomes an Int, a parameter behind all others. It assumes that no derivative has been taken of it yet.
"""

from collections.abc import Iterator

from rosejit.errors import StagingTypeError
from rosejit.ir import syntax as ir
from rosejit.ir.lengths import Clipped, Length, names_in
from rosejit.ir.primitive import Primitive
from rosejit.ir.traversal import callees, lets, operands, rebuild, scopes
from rosejit.ir.types import BOOL, INT, Array, Scalar, Type
from rosejit.ops import PRIMITIVES

ADD, MULTIPLY, LARGER = PRIMITIVES["wadd"], PRIMITIVES["wmul"], PRIMITIVES["imax"]


def open_names(f: ir.Function) -> tuple[str, ...]:
    """The names of the lengths that `f` is given arrays of, in order."""
    return tuple(dict.fromkeys(name for p in f.params for name in _names(p.type)))


def _names(t: Type) -> Iterator[str]:
    while isinstance(t, Array):
        if isinstance(t.length, Length):
            yield from names_in(t.length)
        t = t.element


def _mentions(f: ir.Function, seen: set[ir.Function]) -> bool:
    """Whether an open length occurs in `f` or in what it calls."""
    if f in seen:
        return False
    seen.add(f)
    if any(True for v in (*f.params, *(ir.Var(t) for t in f.results)) for _ in _names(v.type)):
        return True
    return f.body is not None and (_occurs(f.body) or any(_mentions(g, seen) for g in callees(f)))


def _occurs(block: ir.Block) -> bool:
    for let in lets(block):
        atoms = (*operands(let.expr), *(a for _, inner in scopes(let.expr) for a in inner.results))
        if any(isinstance(a, ir.Lit) and isinstance(a.value, Length) for a in atoms):
            return True
        if any(_type(v.type) != v.type for v in let.binders):
            return True
    return any(isinstance(a, ir.Lit) and isinstance(a.value, Length) for a in block.results)


def with_open_lengths(f: ir.Function) -> ir.Function:
    """`f` for arrays of any lengths; itself where none is open."""
    names = open_names(f)
    return _opened(f, names) if names else f


def _opened(f: ir.Function, names: tuple[str, ...]) -> ir.Function:
    key = ("open", names)
    if key not in f.derived:
        if f.body is None or f.rule is not None:
            what = "is opaque" if f.body is None else "has a derivative of its own"
            raise StagingTypeError(
                f"`{f.name}` {what}, and is called where lengths of arrays stay open",
                f.span,
                help="export for one length: `rose.ShapeOf(10)`",
            )
        new = f.derived[key] = ir.Function(
            f.name, (), tuple(map(_type, f.results)), checkpoint=f.checkpoint, span=f.span
        )
        _Opener(names).function(f, new)  # the function is known before its body: it may call itself
    return f.derived[key]


def _type(t: Type) -> Type:
    if not isinstance(t, Array):
        return t
    return Array(None if isinstance(t.length, Length) else t.length, _type(t.element))


_ZEROS: dict[Scalar, int | bool] = {INT: 0, BOOL: False}


class _Opener:
    """Makes the variables of a function anew; `head` computes its lengths before anything else."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.params = {name: ir.Var(INT, name) for name in names}
        self.atoms: dict[ir.Atom, ir.Atom] = {}
        self.lengths: dict[Length, ir.Atom] = {}
        self.head: list[ir.Let] = []

    def function(self, f: ir.Function, new: ir.Function) -> None:
        """Make `new` of `f`."""
        assert f.body is not None
        own = [self.binder(p) for p in f.params]
        new.own = frozenset([p for p, old in zip(own, f.params, strict=True) if old in f.own])
        new.params = (*own, *self.params.values())
        body = self.block(f.body)
        new.body = ir.Block([*self.head, *body.lets], body.results)

    def binder(self, v: ir.Var) -> ir.Var:
        """A variable of the opened type."""
        new = self.atoms[v] = ir.Var(_type(v.type), v.hint)
        return new

    def atom(self, a: ir.Atom) -> ir.Atom:
        """What stands for `a`."""
        if isinstance(a, ir.Lit):
            return self.length(a.value) if isinstance(a.value, Length) else a
        return self.atoms[a]

    def length(self, n: "Length | int") -> ir.Atom:
        """A length as an Int."""
        if not isinstance(n, Length):
            return ir.integer(n)
        if n not in self.lengths:
            total: ir.Atom | None = None
            for monomial, coefficient in n.terms:
                term: ir.Atom | None = None if coefficient == 1 and monomial else ir.integer(coefficient)
                for factor in monomial:
                    value = self.factor(factor)
                    term = value if term is None else self.applied(MULTIPLY, term, value)
                assert term is not None
                total = term if total is None else self.applied(ADD, total, term)
            assert total is not None
            self.lengths[n] = total
        return self.lengths[n]

    def factor(self, factor: "str | Clipped") -> ir.Atom:
        """A part of a product."""
        if isinstance(factor, Clipped):
            return self.applied(LARGER, self.length(factor.inside), ir.integer(0))
        return self.params[factor]

    def applied(self, op: Primitive, *args: ir.Atom) -> ir.Atom:
        """An operation at the head of the function."""
        var = ir.Var(INT, "n")
        self.head.append(ir.Let((var,), ir.Apply(op, args)))
        return var

    def block(self, block: ir.Block) -> ir.Block:
        """A block with its variables anew."""
        made: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            (binder,) = let.binders if len(let.binders) == 1 else (None,)
            if isinstance(e, ir.Zero) and binder is not None and _type(binder.type) != binder.type:
                zeros = self.zeros(binder.type, made)
                assert isinstance(zeros, ir.Var)
                self.atoms[binder] = zeros
                continue
            new = rebuild(e, self.atom, self.binder, self.block)
            if isinstance(new, ir.Call) and _mentions(new.function, set()):
                new = ir.Call(_opened(new.function, self.names), (*new.args, *self.params.values()))
            made.append(ir.Let(tuple([self.binder(b) for b in let.binders]), new, let.span))
        return ir.Block(made, tuple(map(self.atom, block.results)))

    def zeros(self, t: Type, made: list[ir.Let]) -> ir.Atom:
        """Zeros of a type that says how long they are."""
        if not isinstance(t, Array):
            assert isinstance(t, Scalar)
            return ir.Lit(_ZEROS.get(t, 0.0), t)
        new = ir.Var(_type(t), "zero")
        if new.type == t:
            made.append(ir.Let((new,), ir.Zero()))
            return new
        assert t.length is not None
        inner: list[ir.Let] = []
        row = self.zeros(t.element, inner)
        loop = ir.Loop(self.length(t.length), ir.Var(INT, "i"), (), (), (), ir.Block(inner, (row,)))
        made.append(ir.Let((new,), loop))
        return new
