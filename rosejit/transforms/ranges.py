"""Drops the checks of indices and of Ints that the ranges of loops prove needless, in one forward sweep."""

from rosejit.ir import syntax as ir
from rosejit.ir.types import INT, REAL, Array, Ref, Type, fields_of
from rosejit.ir.walk import forms, rebuild
from rosejit.ops import PRIMITIVES
from rosejit.ops.integer import LARGEST, SMALLEST

Range = tuple[int, int]
"""The least and the largest value that a variable can have, wherever it is in scope."""

ANY = (SMALLEST, LARGEST)
SUM = PRIMITIVES["wadd"]
EXACT = 2**53
"""Up to here all Ints are Reals."""
ON_REALS = {PRIMITIVES[f"r{name}"]: PRIMITIVES[name] for name in ("lt", "le", "gt", "ge", "eq", "ne")}


def ranges(f: ir.Function) -> ir.Function:
    """`f` without needless checks, sums of an Int and constants made of one constant; the same object without loops."""
    if f.body is None or not has_loops(f.body):
        return f
    body = _Sweep().block(f.body)
    return ir.Function(f.name, f.params, f.results, body, f.own, None, f.rule, f.checkpoint, f.span)


def has_loops(body: ir.Block) -> bool:
    """Whether there is a loop at any depth."""
    return any(isinstance(let.expr, ir.Loop | ir.While) for let in forms(body))


def range_of(a: ir.Atom | ir.Field, known: dict[ir.Atom, Range]) -> Range:
    """What an Int can be."""
    if isinstance(a, ir.Lit):
        return (a.value, a.value) if isinstance(a.value, int) else ANY
    return ANY if isinstance(a, ir.Field) else known.get(a, ANY)


def result_range(op: ir.Primitive, args: tuple[ir.Atom, ...], known: dict[ir.Atom, Range]) -> Range | None:
    """What `op` gives, if that is sure to fit 64 bits; None else."""
    given = [range_of(a, known) for a in args]
    if op.adds:
        pairs = [(low, high) if sign > 0 else (-high, -low) for sign, (low, high) in zip(op.adds, given, strict=True)]
        found = sum(low for low, _ in pairs), sum(high for _, high in pairs)
    else:
        found = op.bounds(*given) if op.bounds is not None else None
    return found if found is not None and found[0] >= SMALLEST and found[1] <= LARGEST else None


def index_range(trips: ir.Atom, known: dict[ir.Atom, Range]) -> Range:
    """The numbers of the turns of a loop; no turn at all has any number."""
    return 0, max(range_of(trips, known)[1] - 1, 0)


def in_range(base: Type, path: ir.Path, known: dict[ir.Atom, Range]) -> bool:
    """Whether a path is sure to lead somewhere."""
    t = base.target if isinstance(base, Ref) else base
    for step in path:
        if isinstance(step, ir.Field):
            t = fields_of(t)[step.number]
            continue
        assert isinstance(t, Array)
        low, high = range_of(step, known)
        if t.length is None or low < 0 or high >= t.length:
            return False
        t = t.element
    return True


class _Sweep:
    """`known` has the ranges, `sums` what is a variable plus a constant, `atoms` what is just that variable."""

    def __init__(self) -> None:
        self.known: dict[ir.Atom, Range] = {}
        self.sums: dict[ir.Atom, tuple[ir.Var, int]] = {}
        self.atoms: dict[ir.Atom, ir.Atom] = {}

    def atom(self, a: ir.Atom) -> ir.Atom:
        return self.atoms.get(a, a)

    def block(self, block: ir.Block) -> ir.Block:
        new: list[ir.Let] = []
        for let in block.lets:
            e = let.expr
            if isinstance(e, ir.Apply):
                if e.op.result is INT:
                    self.integer(let, e, new)
                elif e.op in ON_REALS:
                    self.comparison(let, e, new)
                else:
                    args = tuple(map(self.atoms.get, e.args, e.args))
                    new.append(let if args == e.args else ir.Let(let.binders, ir.Apply(e.op, args), let.span))
                continue
            if isinstance(e, ir.Loop):
                self.known[e.index] = index_range(self.atom(e.trips), self.known)
            changed = rebuild(e, self.atom, block=self.block)
            if isinstance(changed, ir.Index | ir.Update | ir.View) and changed.checked:
                base = changed.place if isinstance(changed, ir.View) else changed.base
                changed.checked = not in_range(base.type, changed.path, self.known)
            new.append(ir.Let(let.binders, changed, let.span))
        return ir.Block(new, tuple(map(self.atoms.get, block.results, block.results)))

    def integer(self, let: ir.Let, e: ir.Apply, new: list[ir.Let]) -> None:
        """An op that gives an Int."""
        (binder,), op, args = let.binders, e.op, tuple(map(self.atoms.get, e.args, e.args))
        found = result_range(op, args, self.known)
        if found is not None:
            self.known[binder] = found
            op = PRIMITIVES[op.unchecked] if op.unchecked else op
            split = self.split(op, args)
            if split is not None:
                self.sums[binder] = var, constant = split
                if not constant:
                    self.atoms[binder] = var
                    return
                op, args = SUM, (var, ir.integer(constant))
        new.append(ir.Let(let.binders, ir.Apply(op, args), let.span))

    def comparison(self, let: ir.Let, e: ir.Apply, new: list[ir.Let]) -> None:
        """Of an Int with a Real: of two Reals, where the Int is sure to be one."""
        op, (whole, x) = e.op, tuple(map(self.atoms.get, e.args, e.args))
        low, high = range_of(whole, self.known)
        if max(-low, high) <= EXACT:
            real = ir.Var(REAL)
            new.append(ir.Let((real,), ir.Apply(PRIMITIVES["to_real"], (whole,)), let.span))
            op, whole = ON_REALS[op], real
        new.append(ir.Let(let.binders, ir.Apply(op, (whole, x)), let.span))

    def split(self, op: ir.Primitive, args: tuple[ir.Atom, ...]) -> tuple[ir.Var, int] | None:
        """A sum as a variable and a constant; the variable's own sum with a constant fits 64 bits as well."""
        if len(op.adds) != 2:
            return None
        (one, other), (sign, last) = args, op.adds
        if isinstance(one, ir.Lit) and sign == last:
            one, other = other, one
        if not isinstance(one, ir.Var) or not isinstance(other, ir.Lit) or not isinstance(other.value, int):
            return None
        var, constant = self.sums.get(one, (one, 0))
        constant += last * other.value
        return (var, constant) if SMALLEST <= constant <= LARGEST else None
