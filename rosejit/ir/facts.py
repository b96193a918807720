"""The facts of the forms of the IR, in one table: what each form reads, consumes, views, writes, binds and holds, and
whether it may fail.

`rosejit.ir.traversal` and `rosejit.transforms.analysis.effects` ask it on behalf of all passes. Passes that treat forms
one by one have a `match` that `assert_never` closes, or a `Table`: a form that is added is a type error wherever it has
to be known.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from rosejit.ir.syntax import (
    Access,
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
from rosejit.ir.types import Ref
from rosejit.lazy_dataclass import dataclass

AtomMap = Callable[[Atom], Atom]
BinderMap = Callable[[Var], Var]
BlockMap = Callable[[Block], Block]
Scope = tuple[tuple[Var, ...], Block]
"""A block and the variables that its form binds in it."""
Views = tuple[tuple[Var, Atom], ...]
"""Variables, and what they are views of if they are no numbers: what they lead to stays where it is."""

F = TypeVar("F", contravariant=True)
T = TypeVar("T", covariant=True)
E = TypeVar("E")


class Table(Protocol[F, T]):
    """Something for each of the forms `F`: to the type checker a dictionary without one of them is another type."""

    def __getitem__(self, form: type[F], /) -> T: ...


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one form, nested blocks left out."""

    operands: Callable[[Any], tuple[Atom, ...]]
    """The atoms that it reads."""
    consumed: Callable[[Any], Sequence[int]]
    """Which of these it consumes, by number; only the boxed ones and places among them matter."""
    scopes: Callable[[Any], tuple[Scope, ...]]
    """Its blocks, each with the variables that it binds for it."""
    views: Callable[[Let, Any], Views]
    """Of the variables that a let of it binds, or its blocks get, those that are views."""
    writes: Callable[[Any], tuple[Atom, ...]]
    """The places that it adds to."""
    fails: Callable[[Any], bool]
    """Whether it may fail, by itself: a call is for the callee to tell."""
    rebuild: Callable[[Any, AtomMap, BinderMap, BlockMap], Expr]
    """It with other operands, then other variables for its blocks, then other blocks."""


def steps(path: Path) -> tuple[Atom, ...]:
    """The indices of a path, without its fields."""
    return tuple([step for step in path if not isinstance(step, Field)])


def _nothing(e: object) -> tuple[()]:
    return ()


def _no_views(let: Let, e: object) -> tuple[()]:
    return ()


def _never(e: object) -> bool:
    return False


def _form(
    form: type[E],
    operands: Callable[[E], tuple[Atom, ...]],
    rebuild: Callable[[E, AtomMap, BinderMap, BlockMap], Expr],
    *,
    consumed: Callable[[E], Sequence[int]] = _nothing,
    scopes: Callable[[E], tuple[Scope, ...]] = _nothing,
    views: Callable[[Let, E], Views] = _no_views,
    writes: Callable[[E], tuple[Atom, ...]] = _nothing,
    fails: Callable[[E], bool] = _never,
) -> tuple[type[E], Facts]:
    return form, Facts(operands, consumed, scopes, views, writes, fails, rebuild)


def _first(e: object) -> tuple[int]:
    return (0,)


def _each(f: AtomMap, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    return tuple([f(a) for a in atoms])


def _path(f: AtomMap, path: Path) -> Path:
    return tuple([step if type(step) is Field else f(step) for step in path])


def _given(e: Call) -> Sequence[int]:
    own = e.function.own
    return [k for k, p in enumerate(e.function.params) if p in own] if own else ()


def _case(e: Case, f: AtomMap, binder: BinderMap, block: BlockMap) -> Case:
    scrutinees = _each(f, e.scrutinees)
    left = Branch(tuple([binder(p) for p in e.left.params]), block(e.left.block))
    return Case(scrutinees, left, Branch(tuple([binder(p) for p in e.right.params]), block(e.right.block)))


def _payloads(let: Let, e: Case) -> Views:
    sides = (e.left.params, e.right.params)
    return tuple([pair for params in sides for pair in zip(params, e.scrutinees, strict=True)])


def _loop(e: Loop, f: AtomMap, binder: BinderMap, block: BlockMap) -> Loop:
    trips, inits = f(e.trips), _each(f, e.inits)
    arrays = [f(scan.array) for scan in e.scans]
    index, carries = binder(e.index), tuple([binder(c) for c in e.carries])
    scans = tuple([Scan(binder(s.param), a, s.consumes) for s, a in zip(e.scans, arrays, strict=True)])
    return Loop(trips, index, carries, inits, scans, block(e.body), e.down)


def _started(e: Loop) -> Sequence[int]:
    first = 1 + len(e.inits)
    return [*range(1, first), *[k for k, scan in enumerate(e.scans, first) if scan.consumes]]


def _while(e: While, f: AtomMap, binder: BinderMap, block: BlockMap) -> While:
    inits, carries = _each(f, e.inits), tuple([binder(c) for c in e.carries])
    return While(carries, inits, block(e.condition), block(e.body))


def _row(e: MakeTuple | MakeArray) -> Sequence[int]:
    return range(len(e.items))


def _is_checked(e: Access) -> bool:
    return e.checked


# fmt: off
FACTS: Table[Expr, Facts] = dict([
    _form(Apply, lambda e: e.args, lambda e, f, v, b: Apply(e.op, _each(f, e.args)),
          fails=lambda e: e.op.failure != ""),
    _form(Call, lambda e: e.args, lambda e, f, v, b: Call(e.function, _each(f, e.args)),
          consumed=_given, writes=lambda e: tuple([a for a in e.args if isinstance(a.type, Ref)])),
    _form(Index, lambda e: (e.base, *steps(e.path)),
          lambda e, f, v, b: Index(f(e.base), _path(f, e.path), e.checked),
          views=lambda let, e: ((let.binders[0], e.base),), fails=_is_checked),
    _form(Update, lambda e: (e.base, *steps(e.path), e.value),
          lambda e, f, v, b: Update(f(e.base), _path(f, e.path), f(e.value), e.checked),
          consumed=_first, fails=_is_checked),
    _form(View, lambda e: (e.place, *steps(e.path)),
          lambda e, f, v, b: View(f(e.place), _path(f, e.path), e.checked),
          views=lambda let, e: ((let.binders[0], e.place),), fails=_is_checked),
    _form(MakeTuple, lambda e: e.items, lambda e, f, v, b: MakeTuple(_each(f, e.items)), consumed=_row),
    _form(Untuple, lambda e: (e.value,), lambda e, f, v, b: Untuple(f(e.value)), consumed=_first),
    _form(MakeArray, lambda e: e.items, lambda e, f, v, b: MakeArray(_each(f, e.items)), consumed=_row),
    _form(Inject, lambda e: (e.value,), lambda e, f, v, b: Inject(e.side, f(e.value)), consumed=_first),
    _form(Extract, lambda e: (e.value,), lambda e, f, v, b: Extract(e.side, f(e.value)), consumed=_first),
    _form(Copy, lambda e: (e.value,), lambda e, f, v, b: Copy(f(e.value))),
    _form(Zero, lambda e: () if e.like is None else (e.like,),
          lambda e, f, v, b: Zero(None if e.like is None else f(e.like))),
    _form(Accum, lambda e: (e.value,), lambda e, f, v, b: Accum(f(e.value)), consumed=_first),
    _form(Add, lambda e: (e.place, e.value), lambda e, f, v, b: Add(f(e.place), f(e.value)),
          writes=lambda e: (e.place,)),
    _form(Resolve, lambda e: (e.place,), lambda e, f, v, b: Resolve(f(e.place)), consumed=_first),
    _form(Check, lambda e: (e.condition, *e.values),
          lambda e, f, v, b: Check(f(e.condition), e.failure, _each(f, e.values)), fails=lambda e: True),
    _form(If, lambda e: (e.condition,), lambda e, f, v, b: If(f(e.condition), b(e.then), b(e.orelse)),
          scopes=lambda e: (((), e.then), ((), e.orelse))),
    _form(Case, lambda e: e.scrutinees, _case, views=_payloads,
          scopes=lambda e: ((e.left.params, e.left.block), (e.right.params, e.right.block))),
    _form(Loop, lambda e: (e.trips, *e.inits, *[scan.array for scan in e.scans]), _loop, consumed=_started,
          scopes=lambda e: (((e.index, *e.carries, *[scan.param for scan in e.scans]), e.body),),
          views=lambda let, e: tuple([(scan.param, scan.array) for scan in e.scans if not scan.consumes])),
    _form(While, lambda e: e.inits, _while, consumed=lambda e: range(len(e.inits)),
          scopes=lambda e: ((e.carries, e.condition), (e.carries, e.body))),
])
# fmt: on
