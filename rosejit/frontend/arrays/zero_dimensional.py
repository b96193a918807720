"""Numbers that are arrays without dimensions in NumPy, as `np.where(c, x, y)` gives: `y -= 1` changes one in place.

Here `y` gets a new number. That is the same as long as nobody looks at the old one behind the operator, by another
name, in a list, or in the next iteration: an SSA value that an update in place has consumed is not read again. Whether
it is can be told of the finished function, when all its loops are whole.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.arrays.array import Box
from rosejit.frontend.arrays.narrow_array import Narrow
from rosejit.frontend.values.complexes import Complex
from rosejit.frontend.values.scalars import ATOMS, NUMBERS, Bool, Int, P, Real, type_of, wrap
from rosejit.frontend.values.tape import Tape
from rosejit.ir.syntax import FALSE, TRUE, Apply, Atom, Block, If, Let, Loop, Var, While
from rosejit.ir.traversal import lets as every_let
from rosejit.ir.traversal import operands, scopes
from rosejit.ir.types import BOOL, INT, REAL
from rosejit.span import Span

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "and_": "&",
    "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@",
}  # fmt: skip


def mark(tape: Tape, made: Any, name: str, shown: Box | None = None) -> Any:
    """`made`, noted as an array without dimensions that `name` gives, if it is a number of the run; `shown`: it is a
    view of that array."""
    if made.__class__ is Complex:
        return Complex(*[mark(tape, part, name, shown) for part in (made.real, made.imag)])
    if made.__class__ is Narrow:
        return Narrow(mark(tape, made.wide, name, shown), made.dtype)
    kind = type_of(made)
    if kind not in _SELECT or (made.__class__ not in NUMBERS and (shown is None or shown.readonly)):
        return made
    lets = tape.frames[-1].lets
    if made.__class__ not in NUMBERS or not lets or made.atom not in lets[-1].binders:
        made = renewed(tape, made)  # an argument, which is no array, or a constant
    tape.updated.names[made.atom] = name
    tape.updated.views.discard(made.atom)
    if shown is not None:
        tape.updated.shown.setdefault(shown, []).append(made.atom)
        tape.updated.views.add(made.atom)
    return made


_WORDS = "write `y = y - 1` for `y -= 1`, or make it a number where it begins: `y = float(np.where(...))`"
_SELECT = {REAL: P["select"], INT: P["iselect"], BOOL: P["bselect"]}


def renewed(tape: Tape, number: Any) -> Any:
    """A number in a variable of its own."""
    kind = type_of(number)
    assert kind is not None
    atom = ATOMS[kind](tape, number)
    assert atom is not None
    return wrap(tape, tape.apply(_SELECT[kind], TRUE, atom, atom))


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    op: Callable[[Any, Any], Any] = getattr(operator, name)

    def method(self: Any, other: Any) -> Any:
        made, tape = op(self, other), self.tape
        if tape.updated.names or tape.frames[-1].kind != "function":  # in a loop the mark may come later
            _note(tape, self, made, _SYMBOLS[name])
        return made

    return method


def _note(tape: Tape, updated: Any, made: Any, symbol: str) -> None:
    if updated.__class__ is Narrow and made.__class__ is Narrow and made.dtype == updated.dtype:
        _note(tape, updated.wide, made.wide, symbol)
    elif updated.__class__ is Complex and made.__class__ is Complex:
        _note(tape, updated.real, made.real, symbol)
        _note(tape, updated.imag, made.imag, symbol)
    elif updated.__class__ in NUMBERS and made.__class__ in NUMBERS:
        if isinstance(made.atom, Var) and made.atom is not updated.atom:
            tape.updated.in_place[made.atom] = (updated.atom, symbol)
    elif not tape.updated.names.keys().isdisjoint(map(_atom, (updated, *_parts(updated)))):
        fact = "an array without dimensions keeps its shape and its dtype in NumPy"
        raise tape.fault(UnsupportedSyntax, f"`{symbol}=` gives another type", facts=(fact,), help=_WORDS)


def _parts(value: Any) -> tuple[Any, ...]:
    if value.__class__ is Complex:
        return value.real, value.imag
    return (value.wide,) if value.__class__ is Narrow else ()


def _atom(value: Any) -> Any:
    return value.atom if value.__class__ in NUMBERS else None


def check_in_place(tape: Tape, lets: list[Let], results: tuple[Atom, ...]) -> None:
    """Raise if a number is read after it was changed in place, under another name, as NumPy does it."""
    if tape.updated.names and (tape.updated.in_place or tape.updated.overwritten):
        _Reads(tape, Block(lets, results)).check()


class _Reads:
    """One function. `arrays` are the variables that may be arrays without dimensions: what was marked, and what
    branches, loops and updates in place make of these; `groups` those that may be the same array."""

    def __init__(self, tape: Tape, block: Block) -> None:
        self.tape = tape
        self.block = block
        self.groups: dict[Var, set[Var]] = {}
        self.updates: dict[Var, tuple[Atom, str]] = {}
        """By what it gave, each update in place: its operand, and the operator."""
        lets = list(every_let(block))
        known = {binder for let in lets for binder in let.binders}
        known.update([param for let in lets for params, _ in scopes(let.expr) for param in params])
        for let in lets:
            for binder in let.binders:
                if binder in tape.updated.in_place:
                    self.updates[binder] = _of_loops(tape.updated.in_place[binder], let, known)
        reals = dict(map(_widened, lets))
        edges = [(reals.get(source, source), to) for let in lets for source, to in self._edges(let)]
        arrays: set[Atom] = set(tape.updated.names)
        count = -1
        while len(arrays) > count:
            count = len(arrays)
            arrays.update([to for source, to in edges if source in arrays])
        for var in arrays:
            if isinstance(var, Var):
                self.groups[var] = {var}
        for source, to in edges:
            if source in arrays and isinstance(source, Var):
                self._unite(source, to)

    def _unite(self, a: Var, b: Var) -> None:
        joined = self.groups[a] | self.groups[b]
        for var in joined:
            self.groups[var] = joined

    def _edges(self, let: Let) -> Iterable[tuple[Atom, Var]]:
        """What may be the same array as what `let` binds."""
        expr = let.expr
        for binder in let.binders:
            if binder in self.updates:
                yield self.updates[binder][0], binder
        if isinstance(expr, If):
            for binder, then, orelse in zip(let.binders, expr.then.results, expr.orelse.results, strict=True):
                yield from ((then, binder), (orelse, binder))
        elif isinstance(expr, Loop | While):
            binders = let.binders if isinstance(expr, Loop) else let.binders[1:]
            carried = zip(expr.carries, expr.inits, expr.body.results, binders, strict=False)
            for phi, init, after, binder in carried:
                yield from ((init, phi), (after, phi), (phi, binder), (init, binder))

    def check(self) -> None:
        """Go through the function in its order."""
        if any(var in self.groups for var, _ in self.updates.values()) or self.tape.updated.overwritten:
            self._walk(self.block, set())

    def _walk(self, block: Block, stale: set[Var]) -> set[Var]:
        """The values that were changed in place, behind the block, of those that were before it."""
        for let in block.lets:
            self._read(operands(let.expr), stale, let.span)
            if isinstance(let.expr, If):
                sides = [self._walk(side, set(stale)) for side in (let.expr.then, let.expr.orelse)]
                stale = sides[0] | sides[1]
            elif scopes(let.expr):
                for _ in range(2):  # what an iteration has changed the next one reads
                    for params, inner in scopes(let.expr):
                        stale = self._walk(inner, stale.difference(params))
            for binder in let.binders:
                self._bind(binder, let, stale)
        self._read(block.results, stale, block.lets[-1].span if block.lets else None)
        return stale

    def _bind(self, binder: Var, let: Let, stale: set[Var]) -> None:
        stale.discard(binder)
        updated, symbol = self.updates.get(binder, (None, ""))
        if isinstance(updated, Var) and updated in self.groups:
            self._update(updated, binder, symbol, let.span)
            stale |= self.groups[updated] - {binder}
        for var in self.tape.updated.overwritten.get(binder, ()):
            stale |= self.groups[var]

    def _update(self, updated: Var, made: Var, symbol: str, place: Span | None) -> None:
        """An update in place of what may be an array without dimensions."""
        name = self._name(updated)
        arrays = self.groups[updated] & self.tape.updated.names.keys()
        if any(var.type is not made.type for var in arrays):
            fact = f"what `{name}` gives is an array without dimensions in NumPy, which keeps its type"
            self._refuse(f"`{symbol}=` gives another type", fact, place)
        if not self.tape.updated.views.isdisjoint(self.groups[updated]):
            fact = f"`{name}` gives a view in NumPy, of an array that `{symbol}=` changes as well"
            self._refuse(f"`{symbol}=` of a view without dimensions", fact, place)

    def _read(self, atoms: Iterable[Atom], stale: set[Var], place: Span | None) -> None:
        for atom in atoms if stale else ():
            if isinstance(atom, Var) and atom in stale:
                fact = f"what `{self._name(atom)}` gives of numbers is an array without dimensions in NumPy, which"
                self._refuse(
                    "a number is read that was changed in place by another name",
                    f"{fact} `y -= 1` changes for all its names, and `y = y - 1` does not",
                    place,
                )

    def _name(self, var: Var) -> str:
        names = [name for each, name in self.tape.updated.names.items() if each in self.groups[var]]
        return names[0]

    def _refuse(self, what: str, fact: str, place: Span | None) -> None:
        found = self.tape.fault(UnsupportedSyntax, what, facts=(fact,), help=_WORDS)
        found.span = place or found.span
        raise found


def _widened(let: Let) -> tuple[Atom | None, Atom]:
    """A Real that was made of an Int, as joins do it, and that."""
    made = let.binders[0] if let.binders else FALSE
    expr = let.expr
    return (made, expr.args[0]) if isinstance(expr, Apply) and expr.op is P["to_real"] else (None, made)


def _of_loops(update: tuple[Var, str], let: Let, known: set[Var]) -> tuple[Atom, str]:
    """An update, whose operand may have stood for what a loop turned out not to carry: it is the first of `let` now."""
    return update if update[0] in known else (next(iter(operands(let.expr)), update[0]), update[1])


for _name in _SYMBOLS:
    for _cls in (Real, Int, Bool, Complex, Narrow):
        setattr(_cls, f"__i{_name.rstrip('_')}__", _in_place(_name))
