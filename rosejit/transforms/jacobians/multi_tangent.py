"""A function with tangents into the same one with `k` tangents for each: one primal computation pushes all of them.

Every linear variable becomes `k` variables, every linear let `k` lets, side by side; what is not linear stays single.
Each lane does what the function did with one tangent, operation by operation: the bits are the same.
"""

from collections.abc import Iterable

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import operands, rebuild
from rosejit.ir.types import is_linear


def widen(f: ir.Function, lanes: int) -> ir.Function:
    """`f` with `lanes` variables for each linear parameter and result, next to each other in its place. A function
    without linear parameters stays itself."""
    if lanes == 1 or f.body is None or not any(is_linear(p.type) for p in f.params):
        return f
    key = ("wide", lanes)
    if key not in f.derived:
        new = ir.Function(f"{f.name}_{lanes}", (), _repeated(f.results, lanes), span=f.span)
        f.derived[key] = new  # before the body: it may call itself
        widener = Widener(lanes)
        new.params = widener.binders(f.params)
        new.own = frozenset(v for v in new.params if v in {lane for p in f.own for lane in widener.of(p)})
        new.body = widener.block(f.body)
    return f.derived[key]


def _repeated(types: Iterable[ir.Type], lanes: int) -> tuple[ir.Type, ...]:
    return tuple(t for type_ in types for t in (type_,) * (lanes if is_linear(type_) else 1))


class Widener:
    """The state of one function that is widened: the lanes of its linear variables."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.known: dict[ir.Atom, tuple[ir.Atom, ...]] = {}

    def of(self, a: ir.Atom) -> tuple[ir.Atom, ...]:
        """The lanes of a linear atom; what is not linear, once."""
        return self.known.get(a) or ((a,) * self.lanes if is_linear(a.type) else (a,))

    def atoms(self, many: Iterable[ir.Atom]) -> tuple[ir.Atom, ...]:
        """As `of`, of several."""
        return tuple([lane for a in many for lane in self.of(a)])

    def split(self, v: ir.Var) -> tuple[ir.Var, ...]:
        """The lanes of a variable that is bound here."""
        self.known[v] = made = tuple([ir.Var(v.type, v.hint, v.like) for _ in range(self.lanes)])
        return made

    def binders(self, many: Iterable[ir.Var]) -> tuple[ir.Var, ...]:
        """As `split`, of those that are linear."""
        return tuple([lane for v in many for lane in (self.split(v) if is_linear(v.type) else (v,))])

    def block(self, block: ir.Block) -> ir.Block:
        """The lets of `block`, the linear ones once a lane."""
        lets: list[ir.Let] = []
        for let in block.lets:
            lets += self.lets(let)
        return ir.Block(lets, self.atoms(block.results))

    def lets(self, let: ir.Let) -> list[ir.Let]:
        """What stands for `let`."""
        e = let.expr
        if isinstance(e, ir.Control | ir.Call) and not (isinstance(e, ir.Call) and e.function.body is None):
            new = self.form(e)
            return [ir.Let(self.binders(let.binders), new, let.span)]
        if any([is_linear(v.type) for v in (*let.binders, *operands(e))]):
            return self.repeated(let)
        return [let]

    def repeated(self, let: ir.Let) -> list[ir.Let]:
        """A linear let for each lane."""
        binders = [self.split(b) for b in let.binders]
        made: list[ir.Let] = []
        for lane in range(self.lanes):

            def atom(a: ir.Atom, lane: int = lane) -> ir.Atom:
                return self.known[a][lane] if a in self.known else a

            made.append(ir.Let(tuple([b[lane] for b in binders]), rebuild(let.expr, atom), let.span))
        return made

    def form(self, e: ir.Control | ir.Call) -> ir.Expr:
        """What holds blocks or calls, with lanes."""
        match e:
            case ir.If():
                return ir.If(e.condition, self.block(e.then), self.block(e.orelse))
            case ir.Case():
                return ir.Case(self.atoms(e.scrutinees), self.branch(e, e.left), self.branch(e, e.right))
            case ir.Loop():
                inits, scans = self.atoms(e.inits), self.scans(e.scans)
                carries = self.binders(e.carries)
                return ir.Loop(e.trips, e.index, carries, inits, scans, self.block(e.body), e.down)
            case ir.While():
                inits, carries = self.atoms(e.inits), self.binders(e.carries)
                return ir.While(carries, inits, self.block(e.condition), self.block(e.body))
            case ir.Call():
                return ir.Call(self.callee(e.function), self.atoms(e.args))
            case _:
                return ir.assert_never(e)

    def callee(self, f: ir.Function) -> ir.Function:
        """What is called for `f`."""
        return widen(f, self.lanes)

    def branch(self, e: ir.Case, side: ir.Branch) -> ir.Branch:
        """A payload of a linear scrutinee has lanes even where it holds no tangent."""
        pairs = zip(side.params, e.scrutinees, strict=True)
        params = [lane for p, s in pairs for lane in (self.split(p) if is_linear(s.type) else (p,))]
        return ir.Branch(tuple(params), self.block(side.block))

    def scans(self, scans: tuple[ir.Scan, ...]) -> tuple[ir.Scan, ...]:
        """A scan a lane."""
        found: list[ir.Scan] = []
        for s in scans:
            arrays = self.of(s.array)
            params = self.split(s.param) if is_linear(s.array.type) else (s.param,)
            found += [ir.Scan(p, a, s.consumes) for p, a in zip(params, arrays, strict=True)]
        return tuple(found)
