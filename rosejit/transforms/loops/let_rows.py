"""Lets as rows: what two lets have in common that differ in operands alone, and what they read and bind in order.

Lets that repeat, with other operands, are found by this: the iterations of a loop that staging has unrolled
(`reroll.py`), or what a helper does each time that it is called (`outline.py`).
"""

from collections.abc import Sequence
from typing import Any, get_args

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import rebuild, scopes
from rosejit.ir.types import BOOL, INT, REAL, Array, Scalar, Type
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES

NESTED = 16
"""A let of a block with loops or branches in it is as much work as so many of straight-line code."""
WITH_BLOCKS = frozenset(get_args(ir.Control))
ZEROS = {REAL: 0.0, INT: 0, BOOL: False}


def work_of(lets: Sequence[ir.Let], each: int) -> int:
    """The work of lets, of which one by itself is `each`."""
    total = each * len(lets)
    for let in lets:
        if let.expr.__class__ in WITH_BLOCKS:
            total += sum([each + work_of(inner.lets, NESTED) for _, inner in scopes(let.expr)])
    return total


@dataclass(slots=True)
class Row:
    """A let: a number for its form, what it reads, blocks inside it included, and what it binds, inside them too."""

    letter: int
    atoms: list[ir.Atom]
    binders: list[ir.Var]
    work: int


class Rows:
    """Makes the rows of lets: equal forms have equal letters."""

    def __init__(self) -> None:
        self._letters: dict[Any, int] = {}

    def row(self, let: ir.Let, unit: int) -> Row:
        """The row of a let, of which one by itself is so much work."""
        letter = self._letters.setdefault(_form(let), len(self._letters))
        if isinstance(let.expr, ir.Apply):
            return Row(letter, [*let.expr.args], [*let.binders], unit)
        row = Row(letter, [], [], work_of([let], unit))
        _flattened(let, row.atoms, row.binders)
        return row


def _flattened(let: ir.Let, atoms: list[ir.Atom], binders: list[ir.Var]) -> None:
    """The atoms and the binders of a let, in the order in which `Template` goes over them."""

    def atom(a: ir.Atom) -> ir.Atom:
        atoms.append(a)
        return a

    def binder(var: ir.Var) -> ir.Var:
        binders.append(var)
        return var

    def block(inner: ir.Block) -> ir.Block:
        for each in inner.lets:
            _flattened(each, atoms, binders)
        for a in inner.results:
            atom(a)
        return inner

    rebuild(let.expr, atom, binder, block)
    binders += let.binders


def _form(let: ir.Let) -> Any:
    """What two lets have in common that differ in operands alone."""
    e, kinds = let.expr, tuple([_type(b.type) for b in let.binders])
    match e:
        case ir.Apply():
            fixed = tuple([literal_key(a) for a in e.args]) if e.op in _BY_CONSTANT else ()
            return ("op", e.op.name, kinds, id(let.span), *fixed, *[a.type.__class__ is Scalar for a in e.args])
        case ir.Index() | ir.Update():
            path = tuple([step if isinstance(step, ir.Field) else None for step in e.path])
            return e.__class__, kinds, id(let.span), path, e.checked, _type(e.base.type)
        case ir.MakeArray() | ir.Copy() | ir.Zero():
            return e.__class__, kinds, id(let.span), len(getattr(e, "items", ()))
        case ir.Call():
            return "call", id(e.function), kinds, id(let.span), len(e.args)
        case ir.If():
            return "if", kinds, id(let.span), _inside(e.then), _inside(e.orelse)
        case ir.Loop():
            scans = tuple([(_type(s.param.type), s.consumes) for s in e.scans])
            head = literal_key(e.trips), e.down, scans, tuple([_type(c.type) for c in e.carries])
            return "loop", kinds, id(let.span), head, _inside(e.body)
        case ir.While():
            head = tuple([_type(c.type) for c in e.carries])
            return "while", kinds, id(let.span), head, _inside(e.condition), _inside(e.body)
        case ir.Check():
            return "check", id(let.span), e.failure.kind, e.failure.message, e.failure.help, _raised(e), len(e.values)
        case ir.View() | ir.MakeTuple() | ir.Untuple() | ir.Inject() | ir.Extract() | ir.Case():
            return id(let)  # like no other
        case ir.Accum() | ir.Add() | ir.Resolve():
            return id(let)
        case _:
            return ir.assert_never(e)


def _inside(block: ir.Block) -> Any:
    return (*[_form(let) for let in block.lets], *[a.type.__class__ is Scalar for a in block.results])


def _raised(e: ir.Check) -> Any:
    """What tells the exception of a check from another."""
    made = e.failure.exception
    if isinstance(made, BaseException) and not vars(made) and all(isinstance(a, (str, int, float)) for a in made.args):
        return made.__class__, repr(made.args)
    return id(made)


def literal_key(a: ir.Atom) -> Any:
    """What tells a constant from another, zeros by their sign; nothing of a variable."""
    return (a.type, repr(a.value)) if isinstance(a, ir.Lit) else None


def _type(t: Type) -> Any:
    """What tells one type from another; those that no array of a loop holds are like no other."""
    lengths: list[int | None] = []
    while isinstance(t, Array):
        lengths.append(t.length)
        t = t.element
    return (id(t), *lengths) if t in ZEROS and None not in lengths else object()


_BY_CONSTANT = frozenset({op for op in PRIMITIVES.values() if "pow" in op.name})
"""Ops whose constants are more than values."""


Slot = int | ir.Atom
"""What an operand is in any iteration: the number of a binder of the same iteration, or an atom."""


@dataclass(slots=True)
class Template:
    """Copies the lets of the first repetition, operand by operand."""

    slots: list[Slot]
    binders: list[ir.Var]
    atoms_done: int = 0
    binders_done: int = 0

    def let(self, let: ir.Let) -> ir.Let:
        """The next let."""
        expr = rebuild(let.expr, self._atom, self._binder, self._block)
        return ir.Let(tuple([self._binder(b) for b in let.binders]), expr, let.span)

    def _atom(self, _: ir.Atom) -> ir.Atom:
        slot = self.slots[self.atoms_done]
        self.atoms_done += 1
        return self.binders[slot] if isinstance(slot, int) else slot

    def _binder(self, _: ir.Var) -> ir.Var:
        self.binders_done += 1
        return self.binders[self.binders_done - 1]

    def _block(self, block: ir.Block) -> ir.Block:
        lets = [self.let(let) for let in block.lets]
        return ir.Block(lets, tuple([self._atom(a) for a in block.results]))
