"""Keeps the zeros of ints without a sign where an int has become a Real because it is a float on other paths.

`-sum(x for x in xs if c)` of nothing is the int 0 in Python, and -0.0 of a Real. A Real that may be an int (a join, a
carry that begins with 0, `max(0, x)`) is followed, in the finished function, to the operations that give an int of ints
and a zero with a sign of floats: `-`, `*`, `//` and `%`. There a flag, which is made beside the number, chooses.
"""

from typing import Any

from rosejit.frontend.values.scalars import P, Real, real_atom
from rosejit.frontend.values.tape import Tape
from rosejit.ir.primitive import Primitive
from rosejit.ir.syntax import (
    FALSE,
    TRUE,
    Apply,
    Atom,
    Block,
    If,
    Index,
    Let,
    Lit,
    Loop,
    MakeArray,
    Var,
    While,
    WholeFloat,
)
from rosejit.ir.traversal import scopes
from rosejit.ir.types import BOOL, INT, REAL, array

Flag = bool | Atom
"""Whether a number is an int in Python: as staging knows, or as running tells."""

_OF_INTS = frozenset(P[name] for name in ("add", "sub", "mul", "neg", "abs", "floordiv", "mod"))
"""Operations that give an int of ints."""
_SIGNED = frozenset(P[name] for name in ("neg", "mul", "floordiv", "mod"))
"""Those that give a zero with a sign of floats."""
_CHOICES = {P["max"]: P["gt"], P["min"]: P["lt"]}
"""Those that give one of two, and when it is the second."""


def mend_zeros(tape: Tape, lets: list[Let]) -> None:
    """Let operations on Reals that are ints on some paths give the zeros that Python gives."""
    if tape.mixed:
        _Zeros(tape).mend(Block(lets, ()))


def surely_float(tape: Tape, value: Any) -> Atom:
    """A number as a Real that is a float in Python, also where it may be an int, or become a Real that may be one: a
    product with 1.0 that goes away again."""
    made = real_atom(tape, value) or value.atom
    if isinstance(made, Lit):
        return tape.literal(float(made.value))
    if value.__class__ is not Real:
        tape.floats.add(made)
    in_loop = any(frame.kind == "loop" for frame in tape.frames)
    return tape.apply(P["mul"], made, tape.literal(1.0)) if in_loop or tape.mixed else made


class _Zeros:
    """The flags of one function."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._maybe: set[Var] = set()
        self._made: dict[Var, Let] = {}
        self._flags: dict[Var, Flag] = {}
        self._signed: dict[int, Let] = {}
        self._added: dict[int, tuple[list[Let], list[Let]]] = {}
        """By `id` of a let, those to stand before and behind it."""

    def mend(self, root: Block) -> None:
        """Follow the ints, and mend what they come to."""
        self._scan(root)
        for let, flags in [(let, [*map(self._flag, _operands(let))]) for let in self._signed.values()]:
            if False not in flags:
                self._mend(let, [flag for flag in flags if flag is not True])
        if self._added:
            self._insert(root)

    # --- which may be ints

    def _may(self, atom: Atom) -> bool:
        return isinstance(atom.value, WholeFloat) if isinstance(atom, Lit) else atom in self._maybe

    def _scan(self, block: Block) -> None:
        for let in block.lets:
            expr = let.expr
            for binder in let.binders:
                self._made[binder] = let
            if isinstance(expr, Apply):
                self._scan_apply(let, expr)
            elif isinstance(expr, Index):
                if let.binders[0].type is REAL and any(map(self._may, self._in_list(expr))):
                    self._maybe.add(let.binders[0])
            elif isinstance(expr, If):
                self._scan(expr.then)
                self._scan(expr.orelse)
                pairs = zip(let.binders, expr.then.results, expr.orelse.results, strict=True)
                self._maybe.update([v for v, a, b in pairs if v.type is REAL and (self._may(a) or self._may(b))])
            elif isinstance(expr, Loop | While):
                self._scan_loop(let, expr)

    def _in_list(self, expr: Index) -> tuple[Atom, ...]:
        """All that an element of a list may be."""
        made = self._made[expr.base].expr if expr.base in self._tape.lists and expr.base in self._made else None
        return made.items if isinstance(made, MakeArray) else ()

    def _scan_apply(self, let: Let, expr: Apply) -> None:
        op, args, var = expr.op, expr.args, let.binders[0]
        if op is P["to_real"]:
            is_int = var not in self._tape.floats and var not in self._tape.numpys
        elif op in _CHOICES or op is P["select"]:
            is_int = any(map(self._may, args[-2:]))
        else:
            is_int = op in _OF_INTS and all(map(self._may, args))
        if is_int:
            self._maybe.add(var)
            if op in _SIGNED and not any(isinstance(a, Lit) and op is P["mul"] and a.value > 0 for a in args):
                self._signed[id(let)] = let

    def _scan_loop(self, let: Let, expr: Loop | While) -> None:
        finals = _finals(let, expr)
        for phi in expr.carries:
            self._made[phi] = let
        before = -1
        while before != len(self._maybe):
            before = len(self._maybe)
            rows = zip(expr.carries, expr.inits, expr.body.results, finals, strict=False)
            for phi, init, after, final in rows:
                if phi.type is REAL and (self._may(init) or self._may(after)):
                    self._maybe |= {phi, final}
            if isinstance(expr, While):
                self._scan(expr.condition)
            self._scan(expr.body)

    # --- the flags

    def _flag(self, atom: Atom) -> Flag:
        if isinstance(atom, Lit) or atom not in self._maybe:
            return self._may(atom)
        if atom not in self._flags:
            let = self._made[atom]
            expr: Any = let.expr
            if isinstance(expr, Apply):
                self._flags[atom] = self._flag_of_operation(let, expr)
            elif isinstance(expr, Index):
                self._flags[atom] = self._flag_of_element(let, expr)
            elif isinstance(expr, If):
                self._flags[atom] = self._flag_of_join(let, expr, let.binders.index(atom))
            elif atom in expr.carries:
                self._carry(let, expr, expr.carries.index(atom))
            else:
                self._flags[atom] = self._flag_of_final(let, expr, _finals(let, expr).index(atom))
        return self._flags[atom]

    def _flag_of_operation(self, let: Let, expr: Apply) -> Flag:
        op, args = expr.op, expr.args
        if op is P["to_real"]:
            return True
        if op is P["select"]:
            return self._chosen(let, args[0], self._flag(args[1]), self._flag(args[2]))
        first, second = self._flag(args[0]), self._flag(args[-1])
        if op not in _CHOICES:
            return self._both(let, first, second)
        if first is second:
            return first
        return self._chosen(let, self._behind(let, _CHOICES[op], args[1], args[0]), second, first)

    def _flag_of_element(self, let: Let, expr: Index) -> Flag:
        flags = [*map(self._flag, self._in_list(expr))]
        if len({*flags}) == 1:
            return flags[0]
        every, made = Var(array((len(flags),), BOOL), "are_ints"), Var(BOOL, "is_int")
        behind = self._added.setdefault(id(let), ([], []))[1]
        behind.append(Let((every,), MakeArray(tuple(map(_atom, flags))), let.span))
        behind.append(Let((made,), Index(every, expr.path, checked=False), let.span))
        return made

    def _flag_of_join(self, let: Let, expr: If, k: int) -> Flag:
        then, orelse = self._flag(expr.then.results[k]), self._flag(expr.orelse.results[k])
        if isinstance(then, bool) and isinstance(orelse, bool):
            return self._chosen(let, expr.condition, then, orelse)
        made = Var(BOOL, "is_int")
        expr.then.results = (*expr.then.results, _atom(then))
        expr.orelse.results = (*expr.orelse.results, _atom(orelse))
        let.binders = (*let.binders, made)
        return made

    def _flag_of_final(self, let: Let, expr: Loop | While, k: int) -> Flag:
        after = self._flag(expr.body.results[k])
        if after is False and expr.carries[k] not in self._flags:
            count = expr.trips if isinstance(expr, Loop) else let.binders[0]
            is_left = count.value <= 0 if isinstance(count, Lit) else self._behind(let, P["ile"], count, Lit(0, INT))
            return self._both(let, self._flag(expr.inits[k]), is_left)
        self._flag(expr.carries[k])
        return self._flags[_finals(let, expr)[k]]

    def _carry(self, let: Let, expr: Loop | While, k: int) -> None:
        """Let a loop carry the flag of what it carries."""
        phi, final = Var(BOOL, "is_int"), Var(BOOL, "is_int")
        self._flags[expr.carries[k]] = phi
        self._flags[_finals(let, expr)[k]] = final
        init, after = _atom(self._flag(expr.inits[k])), _atom(self._flag(expr.body.results[k]))
        count = len(expr.carries)  # by now others may be carried as well
        at = count + isinstance(expr, While)
        expr.carries, expr.inits = (*expr.carries, phi), (*expr.inits, init)
        expr.body.results = (*expr.body.results[:count], after, *expr.body.results[count:])
        let.binders = (*let.binders[:at], final, *let.binders[at:])

    def _both(self, let: Let, a: Flag, b: Flag) -> Flag:
        if a is False or b is False:
            return False
        return b if a is True else a if b is True else a if a is b else self._behind(let, P["and"], a, b)

    def _chosen(self, let: Let, condition: Atom, a: Flag, b: Flag) -> Flag:
        if a is b:
            return a
        if a is True and b is False:
            return condition
        other = self._behind(let, P["not"], condition)
        if a is False or b is False:
            return self._both(let, condition if b is False else other, a if b is False else b)
        one, two = self._both(let, condition, a), self._both(let, other, b)
        return self._behind(let, P["or"], _atom(one), _atom(two))

    # --- what is added

    def _behind(self, let: Let, op: Primitive, *args: Atom) -> Var:
        return _staged(let, self._added.setdefault(id(let), ([], []))[1], op, *args)

    def _mend(self, let: Let, flags: list[Any]) -> None:
        """`0 - a` for `-a`, and `a * b + 0` for `a * b`, of ints: where all flags say so."""
        expr: Any = let.expr
        before = self._added.setdefault(id(let), ([], []))[0]
        plain = _staged(let, before, expr.op, *expr.args)
        zero = Lit(0.0, REAL)
        whole = Apply(P["sub"], (zero, expr.args[0])) if expr.op is P["neg"] else Apply(P["add"], (plain, zero))
        if not flags:
            let.expr = whole
            return
        var = Var(REAL)
        before.append(Let((var,), whole, let.span))
        flag = flags[0] if len(flags) == 1 else _staged(let, before, P["and"], *flags)
        let.expr = Apply(P["select"], (flag, var, plain))

    def _insert(self, block: Block) -> None:
        made: list[Let] = []
        for let in block.lets:
            for _, inner in scopes(let.expr):
                self._insert(inner)
            before, behind = self._added.get(id(let), _NOTHING)
            made += [*before, let, *behind]
        block.lets[:] = made


_NOTHING: tuple[list[Let], list[Let]] = [], []


def _staged(let: Let, lets: list[Let], op: Primitive, *args: Atom) -> Var:
    var = Var(op.result, "x" if op.result is REAL else "is_int")
    lets.append(Let((var,), Apply(op, args), let.span))
    return var


def _operands(let: Let) -> tuple[Atom, ...]:
    assert isinstance(let.expr, Apply)
    return let.expr.args


def _atom(flag: Flag) -> Atom:
    return flag if not isinstance(flag, bool) else TRUE if flag else FALSE


def _finals(let: Let, expr: Loop | While) -> tuple[Var, ...]:
    first = 1 if isinstance(expr, While) else 0
    return let.binders[first : first + len(expr.carries)]
