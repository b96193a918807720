"""Reads the block of a function: one method a rule of the grammar (`parser`), in its order."""

import json
from collections.abc import Callable

from rosejit.ir import syntax as ir
from rosejit.ir.types import BOOL, INT, UNIT, Array, Nominal, Ref, Sum, Tuple, Type, fields_of
from rosejit.text.lexer import Cursor, Token
from rosejit.text.name_scope import Binder, Made, Scope, Value, Wanted, fit
from rosejit.text.parse_expression import Environment, Expressions
from rosejit.text.parse_signature import Head, read_type

BLOCK_ENDS = ("}", "]", ")", "in", "def", "host", "checkpoint", "type", "end")


class Body:
    """Reads one body at a cursor."""

    def __init__(self, cursor: Cursor, environment: Environment, head: Head) -> None:
        self.c = cursor
        self.types = environment.types
        self.scope = Scope(cursor, head.params)
        self.expressions = Expressions(self.scope, environment, self._expr, self.block)
        self.forms: dict[str, Callable[[Wanted], Value]] = {
            "if": self._if,
            "case": self._case,
            "loop": self._loop,
            "while": self._while,
            "update": self._update,
            "zero": self._zero,
            "check": self._check,
            "inl": lambda wanted: self._inject(0, wanted),
            "inr": lambda wanted: self._inject(1, wanted),
            "outl": lambda _: self._extract(0),
            "outr": lambda _: self._extract(1),
            "untuple": lambda _: self._untuple(),
            "copy": lambda _: self._copy(),
            "accum": self._accum,
            "resolve": lambda _: self._resolve(),
        }

    def block(self, wanted: Wanted = ()) -> ir.Block:
        """`block ::= {"let" binders "=" expr "in"} [expr {"," expr}]`."""
        outer = self.scope.open()
        results = self._statements(wanted)
        return self.scope.close(outer, results)

    def _statements(self, wanted: Wanted) -> tuple[ir.Atom, ...]:
        while self.c.sees("let"):
            self._let()
        results: list[ir.Atom] = []
        while not self.c.sees(*BLOCK_ENDS):
            token, rest = self.c.token, wanted[len(results) :]
            atoms = self.scope.name_results(self._expr(rest), token)
            results += [fit(a, t) for a, t in zip(atoms, (*rest, *[None] * len(atoms)), strict=False)]
            if not self.c.accept(","):
                break
        return tuple(results)

    def _let(self) -> None:
        token = self.c.take("let")
        binders = self._binders()
        self.c.take("=")
        value = self._expr(tuple([b.type for b in binders]))
        self.scope.bind(binders, value, token)
        self.c.take("in")

    def _binders(self) -> list[Binder]:
        if self.c.accept("("):
            self.c.take(")")
            return []
        found = [self._binder()]
        while self.c.accept(","):
            found.append(self._binder())
        return found

    def _binder(self) -> Binder:
        token = self.c.take("name")
        t = read_type(self.c, self.types) if self.c.accept(":") else None
        like = self.scope.find(self.c.take("name").text) if self.c.accept("like") else None
        return Binder(token, t, like if isinstance(like, ir.Var) else None)

    # --- forms with blocks

    def _expr(self, wanted: Wanted = ()) -> Value:
        form = self.forms.get(self.c.token.kind)
        if form is None:
            return self.expressions.operations(wanted)
        self.c.at += 1
        return form(wanted)

    def _one(self, t: Type | None = None) -> ir.Atom:
        token = self.c.token
        return fit(self.scope.one(self._expr((t,)), token), t)

    def _operand(self, t: Type | None = None) -> ir.Atom:
        token = self.c.token
        return fit(self.scope.one(self.expressions.unary((t,)), token), t)

    def _list(self, end: str, wanted: Wanted = ()) -> tuple[ir.Atom, ...]:
        """Expressions with commas up to `end`, which is taken."""
        items: list[ir.Atom] = []
        while not self.c.accept(end):
            items.append(self._one(wanted[len(items)] if len(items) < len(wanted) else None))
            if not self.c.sees(end):
                self.c.take(",")
        return tuple(items)

    def _braces(self, wanted: Wanted) -> ir.Block:
        self.c.take("{")
        block = self.block(wanted)
        self.c.take("}")
        return block

    def _if(self, wanted: Wanted) -> Value:
        condition = self._one(BOOL)
        then = self._braces(wanted)
        types = tuple([a.type for a in then.results])
        return Made(ir.If(condition, then, self._braces(types)), types)

    def _case(self, wanted: Wanted) -> Value:
        scrutinees = [self._one()]
        while self.c.accept(","):
            scrutinees.append(self._one())
        left = self._side("inl", scrutinees, wanted)
        types = tuple([a.type for a in left.block.results])
        right = self._side("inr", scrutinees, types)
        return Made(ir.Case(tuple(scrutinees), left, right), types)

    def _side(self, word: str, scrutinees: list[ir.Atom], wanted: Wanted) -> ir.Branch:
        self.c.take("{")
        self.c.take(word)
        mark, params = self.scope.mark, list[ir.Var]()
        for number, scrutinee in enumerate(scrutinees):
            if number:
                self.c.take(",")
            token = self.c.take("name")
            params.append(ir.Var(self._payload(scrutinee.type, word, token), token.text))
            self.scope.define(token.text, params[-1])
        self.c.take("->")
        block = self.block(wanted)
        self.c.take("}")
        self.scope.forget(mark)
        return ir.Branch(tuple(params), block)

    def _payload(self, t: Type, word: str, token: Token) -> Type:
        if isinstance(t, Ref):
            return Ref(self._payload(t.target, word, token))
        if not isinstance(t, Sum):
            self.c.fail("this stands for the value of a sum, but what is taken apart is none", token)
        return t.left if word == "inl" else t.right

    def _carries(self) -> tuple[tuple[ir.Var, ...], tuple[ir.Atom, ...]]:
        carries: list[ir.Var] = []
        inits: list[ir.Atom] = []
        if self.c.accept("carry"):
            self.c.take("(")
            while not self.c.accept(")"):
                binder = self._binder()
                self.c.take("=")
                inits.append(self._one(binder.type))
                carries.append(ir.Var(binder.type or inits[-1].type, binder.token.text, binder.like))
                if not self.c.sees(")"):
                    self.c.take(",")
        return tuple(carries), tuple(inits)

    def _scans(self) -> tuple[ir.Scan, ...]:
        scans: list[ir.Scan] = []
        if self.c.accept("scan"):
            self.c.take("(")
            while not self.c.accept(")"):
                binder = self._binder()
                consumes = self.c.accept("from")
                token = self.c.token if consumes else self.c.take("in")
                array = self._one()
                if not isinstance(array.type, Array):
                    self.c.fail("a loop scans arrays", token)
                var = ir.Var(binder.type or array.type.element, binder.token.text, binder.like)
                scans.append(ir.Scan(var, array, consumes))
                if not self.c.sees(")"):
                    self.c.take(",")
        return tuple(scans)

    def _loop(self, wanted: Wanted) -> Value:
        name = self.c.take("name").text
        self.c.take("<")
        trips, index, mark = self._operand(INT), ir.Var(INT, name), self.scope.mark
        down = self.c.accept("down")
        carries, inits = self._carries()
        scans = self._scans()
        for var in (index, *carries, *[scan.param for scan in scans]):
            self.scope.define(var.hint, var)
        body = self._braces((*[c.type for c in carries], *_elements(wanted[len(carries) :])))
        self.scope.forget(mark)
        length = max(int(trips.value or 0), 0) if isinstance(trips, ir.Lit) else None
        stacks = [Array(length, a.type) for a in body.results[len(carries) :]]
        return Made(ir.Loop(trips, index, carries, inits, scans, body, down), (*[c.type for c in carries], *stacks))

    def _while(self, wanted: Wanted) -> Value:
        mark = self.scope.mark
        carries, inits = self._carries()
        for var in carries:
            self.scope.define(var.hint, var)
        condition = self._braces((BOOL,))
        types = tuple([c.type for c in carries])
        body = self._braces((*types, *_elements(wanted[len(carries) + 1 :])))
        self.scope.forget(mark)
        stacks = [Array(None, a.type) for a in body.results[len(carries) :]]
        return Made(ir.While(carries, inits, condition, body), (INT, *types, *stacks))

    # --- other forms that start with a word

    def _update(self, wanted: Wanted) -> Value:
        token = self.c.take("name")
        base = self.expressions.variable(token)
        path, checked, t = self.expressions.path(base.type)
        self.c.take("=")
        return Made(ir.Update(base, path, self._one(t), checked), (base.type,))

    def _zero(self, wanted: Wanted) -> Value:
        like = self._operand() if self.c.accept("like") else None
        return Made(ir.Zero(like), wanted[:1] or (None,))

    def _check(self, wanted: Wanted) -> Value:
        token = self.c.token
        condition = self._one(BOOL)
        texts: list[str] = []
        for _ in range(2):
            self.c.take(",")
            texts.append(json.loads(self.c.take("string").text))
        values: list[ir.Atom] = []
        while self.c.accept(","):
            values.append(self._one())
        span = self.c.source.span(token.start, token.start + len(token.text))
        return Made(ir.Check(condition, ir.Failure(texts[0], texts[1], span), tuple(values)), ())

    def _inject(self, side: int, wanted: Wanted) -> Value:
        t = wanted[0] if wanted else None
        inner = (t.right if side else t.left) if isinstance(t, Sum) else None
        return Made(ir.Inject(side, self._operand(inner)), (t,))

    def _extract(self, side: int) -> Value:
        value = self._operand()
        t = value.type
        return Made(ir.Extract(side, value), ((t.right if side else t.left) if isinstance(t, Sum) else UNIT,))

    def _untuple(self) -> Value:
        value = self._operand()
        return Made(ir.Untuple(value), fields_of(value.type) if isinstance(value.type, Tuple | Nominal) else ())

    def _copy(self) -> Value:
        value = self._operand()
        return Made(ir.Copy(value), (value.type,))

    def _accum(self, wanted: Wanted) -> Value:
        if self.c.sees("name") and self.c.follows("from"):
            return self._accum_block()
        value = self._operand()
        return Made(ir.Accum(value), (Ref(value.type),))

    def _accum_block(self) -> Value:
        """`accum a from z in b`: the block is read in place, then `a` is resolved."""
        name = self.c.take("name")
        self.c.take("from")
        start, mark = self._operand(), self.scope.mark
        place = ir.Var(Ref(start.type), name.text)
        self.scope.emit((place,), ir.Accum(start), name)
        self.scope.define(name.text, place)
        self.c.take("in")
        token = self.c.token
        inner = self._statements(())
        self.scope.forget(mark)
        held = ir.Var(start.type, name.text)
        self.scope.emit((held,), ir.Resolve(place), name)
        if len(inner) != 1:
            self.c.fail("the block of an `accum` has one result", token)
        return Made(ir.MakeTuple((held, *inner)), (Tuple((held.type, inner[0].type)),))

    def _resolve(self) -> Value:
        place = self._operand()
        return Made(ir.Resolve(place), (place.type.target if isinstance(place.type, Ref) else UNIT,))


def _elements(wanted: Wanted) -> Wanted:
    return tuple([t.element if isinstance(t, Array) else None for t in wanted])
