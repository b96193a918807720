"""The only generic traversals: what an expression reads, what it binds inside, and copies of it under new names."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import get_args

from rosejit.errors import VerifyError
from rosejit.ir.facts import FACTS, AtomMap, BinderMap, BlockMap, Scope, Views
from rosejit.ir.syntax import Apply, Atom, Block, Call, Control, Expr, Function, Let, Var


def operands(e: Expr) -> tuple[Atom, ...]:
    """The atoms that `e` itself reads, nested blocks left out."""
    return FACTS[e.__class__].operands(e)


def consumed(e: Expr) -> tuple[Atom, ...]:
    """The atoms that `e` itself consumes, nested blocks left out (only the boxed ones and places among them matter)."""
    facts = FACTS[e.__class__]
    numbers = facts.consumed(e)
    if not numbers:
        return ()
    read = facts.operands(e)
    return tuple([read[k] for k in numbers])


def views(let: Let) -> Views:
    """Of the variables that `let` binds, or the blocks in it get, those that are views, with what they lead into."""
    return FACTS[let.expr.__class__].views(let, let.expr)


def writes(e: Expr) -> tuple[Atom, ...]:
    """The places that `e` itself adds to, or hands to a function that may."""
    return FACTS[e.__class__].writes(e)


def fails(e: Expr) -> bool:
    """Whether `e` itself may fail; of a call that is for the callee to tell."""
    return FACTS[e.__class__].fails(e)


def consumed_within(block: Block) -> set[Atom]:
    """Everything that `block` consumes, in nested blocks too."""
    found: set[Atom] = set(block.results)
    for let in block.lets:
        found.update(consumed(let.expr))
        for _, inner in scopes(let.expr):
            found |= consumed_within(inner)
    return found


_WITH_BLOCKS: frozenset[type] = frozenset(get_args(Control))


def scopes(e: Expr) -> tuple[Scope, ...]:
    """The blocks inside `e`, each with the variables that `e` binds for it."""
    return FACTS[e.__class__].scopes(e)


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


def require_bound(functions: Iterable[Function]) -> None:
    """Raise `VerifyError` for a variable that is read and never bound: in compiled code it would be 0."""
    for f in functions:
        unbound = free(f.body, f.params) if f.body is not None else None
        if unbound:
            raise VerifyError(f"`{next(iter(unbound)).hint}` of `{f.name}` is read, but not in scope")


def bound(e: Expr) -> set[Var]:
    """All that the blocks inside `e` bind, at any depth, and are given."""
    found: set[Var] = set()
    for params, block in scopes(e):
        found.update(params)
        for let in lets(block):
            found.update(let.binders, *[inner for inner, _ in scopes(let.expr)])
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


def _same_binder(var: Var) -> Var:
    return var


def _same_block(inner: Block) -> Block:
    return inner


def rebuild(e: Expr, atom: AtomMap, binder: BinderMap = _same_binder, block: BlockMap = _same_block) -> Expr:
    """`e` with its operands through `atom`, the variables it binds inside through `binder`, its blocks through `block`.

    Operands first, then binders, then blocks, so that a map may be filled on the way.
    """
    return FACTS[e.__class__].rebuild(e, atom, binder, block)


def renamed(block: Block, atoms: Mapping[Var, Atom]) -> Block:
    """`block` with other atoms for its free variables; its binders stay."""

    def atom(a: Atom) -> Atom:
        return atoms.get(a, a) if isinstance(a, Var) else a

    def inner(old: Block) -> Block:
        lets = [Let(let.binders, rebuild(let.expr, atom, block=inner), let.span) for let in old.lets]
        return Block(lets, tuple([atom(a) for a in old.results]))

    return inner(block)


def within(let: Let, block: BlockMap) -> Let:
    """`let` with the blocks inside it through `block`; the same object where there are none."""
    if let.expr.__class__ not in _WITH_BLOCKS:
        return let
    return Let(let.binders, rebuild(let.expr, lambda a: a, block=block), let.span)
