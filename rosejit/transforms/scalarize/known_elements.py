"""Arrays that straight-line code makes, reads and writes at constants: their numbers become variables, as those of a
list are.
"""

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import captures, operands, rebuild, scopes
from rosejit.ir.types import BOOL, INT, Array, Type
from rosejit.transforms.scalarize.small_arrays import Atoms, leaf, numbers, paths

MOST = 1 << 16
"""Numbers of an array up to which they are looked at one by one."""
_MAKING = frozenset({ir.Zero, ir.MakeArray, ir.Copy})


def with_known_elements(f: ir.Function) -> ir.Function:
    """`f` with such arrays taken apart; `f` itself where that gains nothing. Linear in the program and in the numbers
    of its arrays."""
    origins = [] if f.body is None else [let for let in f.body.lets if let.expr.__class__ in _MAKING]
    if f.body is None or not any([_is_origin(let) and not numbers(let.binders[0].type) for let in origins]):
        return f
    survey = _Survey(f.body)
    known = survey.accepted()
    return f.with_body(_KnownElements(known, survey.last).block(f.body)) if known else f


def _is_origin(let: ir.Let) -> bool:
    """Whether a let makes an array of numbers."""
    return let.expr.__class__ in _MAKING and numbers(let.binders[0].type, MOST) > 0


def _located(t: Type, path: ir.Path) -> tuple[slice, Type] | None:
    """Which numbers of an array are at a path, and the type of what is there; None if only the run knows, or it is out
    of range."""
    start, size = 0, numbers(t, MOST)
    for step in path:
        if not isinstance(t, Array) or not isinstance(step, ir.Lit) or not isinstance(step.value, int):
            return None
        if t.length is None or not 0 <= step.value < t.length:
            return None
        size //= t.length
        start += size * step.value
        t = t.element
    return slice(start, start + size), t


def _whole_reads(e: ir.Expr) -> tuple[ir.Atom, ...]:
    """What an expression, its blocks included, reads."""
    return (*operands(e), *captures(e)) if scopes(e) else operands(e)


class _Survey:
    """Groups of arrays of which one becomes another, by an update, as a row or a copy: what they gain by being taken
    apart (numbers that are read and written at constants), and what they cost (numbers of those that something reads
    as a whole, or that are put in from elsewhere). `last` tells where a variable is read last."""

    def __init__(self, body: ir.Block) -> None:
        self.parents: dict[ir.Atom, ir.Atom] = {}
        self.balance: dict[ir.Atom, int] = {}
        self.is_large: set[ir.Atom] = set()
        self.last: dict[ir.Atom, int] = {}
        for at, let in enumerate(body.lets):
            e = let.expr
            if isinstance(e, ir.Apply):
                continue  # reads numbers only
            read = _whole_reads(e)
            self.last.update(dict.fromkeys(read, at))
            if not self.follows(let, e):
                for a in read:
                    self.whole(a)
        for a in body.results:
            self.last[a] = len(body.lets)
            self.whole(a)

    def root(self, a: ir.Atom) -> ir.Atom:
        parents = self.parents
        while (above := parents[a]) is not a:
            parents[a] = a = parents[above]
        return a

    def enter(self, v: ir.Var, *others: ir.Atom) -> None:
        """`v` is an array whose numbers are known if those of `others` are; what is from elsewhere is read."""
        self.parents[v] = v
        if not numbers(v.type):
            self.is_large.add(v)
        for a in others:
            if a in self.parents:
                self.parents[self.root(a)] = v
            elif isinstance(a.type, Array):
                self.gain(v, -numbers(a.type, MOST))

    def gain(self, a: ir.Atom, count: int) -> None:
        self.balance[a] = self.balance.get(a, 0) + count

    def whole(self, a: ir.Atom) -> None:
        """Something reads all of an array."""
        if a in self.parents:
            self.gain(a, -numbers(a.type, MOST))

    def follows(self, let: ir.Let, e: ir.Expr) -> bool:
        """Whether the numbers that a let reads and binds are known from those of the group."""
        b = let.binders[0] if let.binders else None
        match e:
            case ir.Zero() | ir.MakeArray() | ir.Copy() if _is_origin(let):
                assert b is not None
                self.enter(b, *(operands(e) if not isinstance(e, ir.Zero) else ()))
                return True
            case ir.Index(base=base, path=path) if base in self.parents and (found := _located(base.type, path)):
                if isinstance(found[1], Array):
                    assert b is not None
                    self.enter(b, base)
                else:
                    self.gain(base, 1)
                return True
            case ir.Update(base=base, path=path, value=value) if base in self.parents and _located(base.type, path):
                assert b is not None
                self.enter(b, base, value)
                if not isinstance(value.type, Array):
                    self.gain(base, 1)
                return True
            case _:
                return False

    def accepted(self) -> set[ir.Atom]:
        """The arrays of groups that gain more than they cost, and of which one is not small."""
        total: dict[ir.Atom, int] = {}
        for a, count in self.balance.items():
            total[self.root(a)] = total.get(self.root(a), 0) + count
        large = {self.root(a) for a in self.is_large}
        return {a for a in self.parents if self.root(a) in large and total.get(self.root(a), -1) >= 0}


class _KnownElements:
    """Rewrites the block. `parts` are the numbers of arrays in `known`, `atoms` says what stands for a variable."""

    def __init__(self, known: set[ir.Atom], last: dict[ir.Atom, int]) -> None:
        self.known, self.last = known, last
        self.parts: dict[ir.Atom, list[ir.Atom]] = {}
        self.atoms: dict[ir.Atom, ir.Atom] = {}
        self.new: list[ir.Let] = []

    def block(self, block: ir.Block) -> ir.Block:
        for at, let in enumerate(block.lets):
            e = let.expr
            if isinstance(e, ir.Apply):
                if not self.atoms.keys().isdisjoint(e.args):
                    let = ir.Let(let.binders, ir.Apply(e.op, tuple([self.atoms.get(a, a) for a in e.args])), let.span)
                self.new.append(let)
            elif not self.taken(let, e, at):
                self.gathered(_whole_reads(e), let)
                self.new.append(ir.Let(let.binders, self.renamed(e), let.span))
        if block.lets:
            self.gathered(block.results, block.lets[-1])
        return ir.Block(self.new, tuple([self.atoms.get(a, a) for a in block.results]))

    def renamed(self, e: ir.Expr) -> ir.Expr:
        """An expression with what stands for its variables."""
        return rebuild(e, lambda a: self.atoms.get(a, a), block=self.inside)

    def inside(self, block: ir.Block) -> ir.Block:
        lets = [ir.Let(let.binders, self.renamed(let.expr), let.span) for let in block.lets]
        return ir.Block(lets, tuple([self.atoms.get(a, a) for a in block.results]))

    def taken(self, let: ir.Let, e: ir.Expr, at: int) -> bool:
        """Whether the numbers that a let binds are known."""
        b = let.binders[0] if let.binders else None
        if isinstance(e, ir.Index) and e.base in self.known:
            if (found := _located(e.base.type, e.path)) is None:
                return False
            assert b is not None
            if isinstance(found[1], Array):
                self.parts[b] = self.parts[e.base][found[0]]
            else:
                self.atoms[b] = self.parts[e.base][found[0].start]
            return True
        if b not in self.known:
            return False
        assert b is not None
        match e:
            case ir.Update(base=base, path=path, value=value):
                found = _located(base.type, path)
                assert found is not None
                given = self.numbers(value, let)
                items = self.parts.pop(base) if self.last[base] == at else list(self.parts[base])
                items[found[0]] = given
                self.parts[b] = items
            case ir.Zero():
                kind = leaf(b.type)
                zero = ir.Lit(False if kind is BOOL else 0 if kind is INT else 0.0, kind)
                self.parts[b] = [zero] * numbers(b.type, MOST)
            case _:
                self.parts[b] = [number for a in operands(e) for number in self.numbers(a, let)]
        return True

    def numbers(self, a: ir.Atom, let: ir.Let) -> list[ir.Atom]:
        """The numbers of an array, or a number."""
        if a in self.known:
            return list(self.parts[a])
        a = self.atoms.get(a, a)
        if not isinstance(a.type, Array):
            return [a]
        found = [ir.Var(leaf(a.type), "x") for _ in range(numbers(a.type, MOST))]
        reads = zip(found, paths(a.type), strict=True)
        self.new += [ir.Let((v,), ir.Index(a, path, False), let.span) for v, path in reads]
        return [*found]

    def gathered(self, read: Atoms, let: ir.Let) -> None:
        """Bind what is `read` as a whole to new arrays."""
        for a in dict.fromkeys(read):
            if a in self.known:
                self.atoms[a] = self.array(a.type, tuple(self.parts[a]), let)

    def array(self, t: Type, items: Atoms, let: ir.Let) -> ir.Var:
        """An array of numbers."""
        assert isinstance(t, Array)
        assert t.length is not None
        if isinstance(t.element, Array):
            size = len(items) // t.length
            items = tuple([self.array(t.element, items[k * size : (k + 1) * size], let) for k in range(t.length)])
        made = ir.Var(t, "x")
        self.new.append(ir.Let((made,), ir.MakeArray(items), let.span))
        return made
