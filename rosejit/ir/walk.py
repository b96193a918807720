"""The only generic traversals: what an expression reads, what it binds inside, and copies of it under new names."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from rosejit.ir.syntax import (
    Accum,
    Add,
    Apply,
    Atom,
    Block,
    Branch,
    Call,
    Case,
    Check,
    Copy,
    Expr,
    Extract,
    Field,
    Function,
    If,
    Index,
    Inject,
    Let,
    Loop,
    MakeArray,
    MakeTuple,
    Path,
    Resolve,
    Scan,
    Untuple,
    Update,
    Var,
    View,
    While,
    Zero,
)

AtomMap = Callable[[Atom], Atom]
Scope = tuple[tuple[Var, ...], Block]
"""A block and the variables that its form binds in it."""


def steps(path: Path) -> tuple[Atom, ...]:
    """The indices of a path, without its fields."""
    return tuple([step for step in path if not isinstance(step, Field)])


def operands(e: Expr) -> tuple[Atom, ...]:
    """The atoms that `e` itself reads, nested blocks left out."""
    match e:
        case Apply(args=args) | Call(args=args):
            return args
        case Index(base=base, path=path):
            return (base, *steps(path))
        case MakeTuple(items=items) | MakeArray(items=items):
            return items
        case Untuple(value=value) | Inject(value=value) | Extract(value=value) | Copy(value=value):
            return (value,)
        case Accum(value=value):
            return (value,)
        case Resolve(place=place):
            return (place,)
        case Case(scrutinees=scrutinees):
            return scrutinees
        case Update(base=base, path=path, value=value):
            return (base, *steps(path), value)
        case View(place=place, path=path):
            return (place, *steps(path))
        case Add(place=place, value=value):
            return (place, value)
        case Zero(like=like):
            return () if like is None else (like,)
        case If(condition=condition):
            return (condition,)
        case Loop(trips=trips, inits=inits, scans=scans):
            return (trips, *inits, *(scan.array for scan in scans))
        case While(inits=inits):
            return inits
        case Check(condition=condition, values=values):
            return (condition, *values)


def consumed(e: Expr) -> tuple[Atom, ...]:
    """The atoms that `e` itself consumes, nested blocks left out (only the heavy ones and places among them matter)."""
    match e:
        case MakeTuple(items=items) | MakeArray(items=items):
            return items
        case Untuple(value=value) | Inject(value=value) | Extract(value=value) | Accum(value=value):
            return (value,)
        case Update(base=base):
            return (base,)
        case Resolve(place=place):
            return (place,)
        case Call(function=function, args=args):
            return (
                tuple(a for p, a in zip(function.params, args, strict=True) if p in function.own)
                if function.own
                else ()
            )
        case Loop(inits=inits, scans=scans):
            return (*inits, *(scan.array for scan in scans if scan.consumes))
        case While(inits=inits):
            return inits
        case _:
            return ()


def consumed_within(block: Block) -> set[Atom]:
    """Everything that `block` consumes, in nested blocks too."""
    found: set[Atom] = set(block.results)
    for let in block.lets:
        found.update(consumed(let.expr))
        for _, inner in scopes(let.expr):
            found |= consumed_within(inner)
    return found


_WITH_BLOCKS = frozenset({If, Case, Loop, While})


def scopes(e: Expr) -> tuple[Scope, ...]:
    """The blocks inside `e`, each with the variables that `e` binds for it."""
    if e.__class__ not in _WITH_BLOCKS:
        return ()
    match e:
        case If(then=then, orelse=orelse):
            return (((), then), ((), orelse))
        case Case(left=left, right=right):
            return ((left.params, left.block), (right.params, right.block))
        case Loop(index=index, carries=carries, scans=scans, body=body):
            return (((index, *carries, *(scan.param for scan in scans)), body),)
        case While(carries=carries, condition=condition, body=body):
            return ((carries, condition), (carries, body))
        case _:
            return ()


def lets(block: Block) -> Iterator[Let]:
    """Every let of `block`, nested ones behind the let that holds them."""
    for let in block.lets:
        yield let
        if not isinstance(let.expr, Apply):
            for _, inner in scopes(let.expr):
                yield from lets(inner)


def forms(block: Block) -> Iterator[Let]:
    """As `lets`, without primitives: they are most of a program, and few look for them."""
    for let in [let for let in block.lets if let.expr.__class__ is not Apply]:
        yield let
        if let.expr.__class__ in _WITH_BLOCKS:
            for _, inner in scopes(let.expr):
                yield from forms(inner)


def size(f: Function) -> int:
    """The number of lets of `f`, nested ones counted, callees not."""
    pending = [] if f.body is None else [f.body]
    total = 0
    while pending:
        found = pending.pop().lets
        total += len(found)
        for let in [let for let in found if let.expr.__class__ in _WITH_BLOCKS]:
            pending += [block for _, block in scopes(let.expr)]
    return total


def callees(f: Function) -> list[Function]:
    """The functions that `f` calls, each once, in the order of the first call."""
    if f.body is None:
        return []
    body, found = f.derived.get("callees", (None, []))
    if body is not f.body:
        found = list(dict.fromkeys(let.expr.function for let in forms(f.body) if isinstance(let.expr, Call)))
        f.derived["callees"] = (f.body, found)
    return found


def reachable(*roots: Function) -> list[Function]:
    """`roots` and all they call, callees before callers (but for cycles)."""
    done: dict[Function, None] = {}
    entered: set[Function] = set()
    stack: list[tuple[Function, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        f, left = stack.pop()
        if left:
            done[f] = None
        elif f not in entered:
            entered.add(f)
            stack.append((f, True))
            stack += [(g, False) for g in reversed(callees(f)) if g not in entered]
    return list(done)


def free(block: Block, bound: tuple[Var, ...] = ()) -> dict[Var, None]:
    """The variables that `block` reads and neither it nor `bound` binds, in the order of the first read."""
    known: set[Atom] = set(bound)
    found: dict[Var, None] = {}
    if _WITH_BLOCKS.isdisjoint([let.expr.__class__ for let in block.lets]):  # what is bound is bound before it is read
        known.update(chain.from_iterable([let.binders for let in block.lets]))
        read = [let.expr.args if isinstance(let.expr, Apply) else operands(let.expr) for let in block.lets]
        atoms = chain(chain.from_iterable(read), block.results)
        return dict.fromkeys([a for a in atoms if isinstance(a, Var) and a not in known])

    def visit(inner: Block) -> None:
        for let in inner.lets:
            expr = let.expr
            plain = isinstance(expr, Apply)  # most of them
            for atom in expr.args if plain else operands(expr):
                if isinstance(atom, Var) and atom not in known:
                    found[atom] = None
            for params, nested in () if plain else scopes(expr):
                known.update(params)
                visit(nested)
            known.update(let.binders)
        for atom in inner.results:
            if isinstance(atom, Var) and atom not in known:
                found[atom] = None

    visit(block)
    return found


def captures(e: Expr) -> dict[Var, None]:
    """The variables of the enclosing blocks that the blocks inside `e` read."""
    found: dict[Var, None] = {}
    for params, block in scopes(e):
        found.update(free(block, params))
    return found


# --- copies


class Renaming:
    """Copies of expressions and blocks in which every binder is new and outer variables follow `atoms`."""

    __slots__ = ("atoms",)

    def __init__(self, atoms: Mapping[Var, Atom] | None = None) -> None:
        self.atoms: dict[Atom, Atom] = {} if atoms is None else {**atoms}

    def atom(self, a: Atom) -> Atom:
        """What stands for `a` in the copy."""
        return self.atoms.get(a, a)

    def fresh(self, var: Var) -> Var:
        """A new binder, which stands for `var` from now on."""
        new = Var(var.type, var.hint)
        self.atoms[var] = new
        return new

    def block(self, block: Block) -> Block:
        """A copy of a block."""
        copied = [self.let(let) for let in block.lets]
        return Block(copied, tuple(self.atom(a) for a in block.results))

    def let(self, let: Let) -> Let:
        """A copy of a let."""
        e = let.expr
        if isinstance(e, Apply):
            get = self.atoms.get
            return Let((self.fresh(let.binders[0]),), Apply(e.op, tuple(map(get, e.args, e.args))), let.span)
        expr = rebuild(e, self.atom, self.fresh, self.block)
        return Let(tuple([self.fresh(b) for b in let.binders]), expr, let.span)


def rebuild(
    e: Expr,
    atom: AtomMap,
    binder: Callable[[Var], Var] = lambda var: var,
    block: Callable[[Block], Block] = lambda inner: inner,
) -> Expr:
    """`e` with its operands through `atom`, the variables it binds inside through `binder`, its blocks through `block`.

    Operands first, then binders, then blocks, so that a map may be filled on the way.
    """
    if isinstance(e, Call):  # most of what is rebuilt, and of no other pieces than operands
        return Call(e.function, tuple([atom(a) for a in e.args]))
    if isinstance(e, Index):
        return Index(atom(e.base), tuple([s if type(s) is Field else atom(s) for s in e.path]), e.checked)

    def atoms(many: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple([atom(a) for a in many])

    def path(old: Path) -> Path:
        return tuple([step if isinstance(step, Field) else atom(step) for step in old])

    def binders(many: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple([binder(v) for v in many])

    match e:
        case Apply(op=op, args=args):
            return Apply(op, atoms(args))
        case MakeTuple():
            return MakeTuple(atoms(e.items))
        case Untuple():
            return Untuple(atom(e.value))
        case MakeArray():
            return MakeArray(atoms(e.items))
        case Inject():
            return Inject(e.side, atom(e.value))
        case Extract():
            return Extract(e.side, atom(e.value))
        case Case():
            scrutinees = atoms(e.scrutinees)
            left = Branch(binders(e.left.params), block(e.left.block))
            return Case(scrutinees, left, Branch(binders(e.right.params), block(e.right.block)))
        case Update():
            return Update(atom(e.base), path(e.path), atom(e.value), e.checked)
        case Copy():
            return Copy(atom(e.value))
        case Zero():
            return Zero(None if e.like is None else atom(e.like))
        case If():
            return If(atom(e.condition), block(e.then), block(e.orelse))
        case Loop():
            trips, inits = atom(e.trips), atoms(e.inits)
            arrays = atoms(tuple(scan.array for scan in e.scans))
            index, carries = binder(e.index), binders(e.carries)
            scans = tuple([Scan(binder(s.param), a, s.consumes) for s, a in zip(e.scans, arrays, strict=True)])
            return Loop(trips, index, carries, inits, scans, block(e.body), e.down)
        case While():
            inits, carries = atoms(e.inits), binders(e.carries)
            return While(carries, inits, block(e.condition), block(e.body))
        case Accum():
            return Accum(atom(e.value))
        case Add():
            return Add(atom(e.place), atom(e.value))
        case View():
            return View(atom(e.place), path(e.path), e.checked)
        case Resolve():
            return Resolve(atom(e.place))
        case Check():
            return Check(atom(e.condition), e.failure, atoms(e.values))


def within(let: Let, block: Callable[[Block], Block]) -> Let:
    """`let` with the blocks inside it through `block`; the same object where there are none."""
    if let.expr.__class__ not in _WITH_BLOCKS:
        return let
    return Let(let.binders, rebuild(let.expr, lambda a: a, block=block), let.span)
