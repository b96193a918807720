"""Reads expressions made of operators, calls, paths and brackets."""

from collections.abc import Callable

from rosejit.errors import VerifyError
from rosejit.ir import syntax as ir
from rosejit.ir.types import INT, UNIT, Array, Nominal, Ref, Tuple, Type
from rosejit.ir.typing import path_type
from rosejit.lazy_dataclass import dataclass
from rosejit.ops import PRIMITIVES
from rosejit.text.lexer import Cursor, Token
from rosejit.text.name_scope import Made, Scope, Value, Wanted, fit
from rosejit.text.operator_table import PRECEDENCE, UNARY, literal, operation, primitive, starts_literal
from rosejit.text.parse_signature import TypeNames, read_argument, read_length


@dataclass(slots=True)
class Environment:
    """What a body sees of the program; `instance` makes one of a generic function from what is in its `<...>`."""

    types: TypeNames
    functions: dict[str, ir.Function]
    generic: dict[str, int]
    instance: Callable[[Token, list[int | Type]], ir.Function]


class Expressions:
    """Reads at the cursor of `scope`; `expr` and `block` read what is between brackets."""

    def __init__(
        self,
        scope: Scope,
        environment: Environment,
        expr: Callable[[Wanted], Value],
        block: Callable[[Wanted], ir.Block],
    ) -> None:
        self.c: Cursor = scope.cursor
        self.scope = scope
        self.environment = environment
        self.expr = expr
        self.block = block
        self._below: dict[ir.Var, int] = {}  # indices of `[for i: n, ...]`, which are below n

    def operations(self, wanted: Wanted) -> Value:
        """`binary ["+=" expr | "?" expr ":" expr]`."""
        token = self.c.token
        value = self._binary(0, wanted)
        if self.c.accept("+="):
            place = self.scope.one(value, token)
            t = place.type.target if isinstance(place.type, Ref) else None
            return Made(ir.Add(place, self._one(t)), ())
        if self.c.accept("?"):
            condition = self.scope.one(value, token)
            then = self._closed(wanted)
            self.c.take(":")
            types = tuple([a.type for a in then.results])
            return Made(ir.If(condition, then, self._closed(types)), types)
        return value

    def _closed(self, wanted: Wanted) -> ir.Block:
        """An expression as a block of its own."""
        outer, token = self.scope.open(), self.c.token
        results = self.scope.name_results(self.expr(wanted), token)
        return self.scope.close(outer, tuple([fit(a, t) for a, t in zip(results, wanted or (None,), strict=False)]))

    def _one(self, t: Type | None = None) -> ir.Atom:
        token = self.c.token
        return fit(self.scope.one(self.expr((t,)), token), t)

    def _list(self, end: str, wanted: Wanted = ()) -> tuple[ir.Atom, ...]:
        """Expressions with commas up to `end`, which is taken."""
        items: list[ir.Atom] = []
        while not self.c.accept(end):
            items.append(self._one(wanted[len(items)] if len(items) < len(wanted) else None))
            if not self.c.sees(end):
                self.c.take(",")
        return tuple(items)

    def _binary(self, level: int, wanted: Wanted) -> Value:
        start = self.c.token
        value = self.unary(wanted)
        while PRECEDENCE.get(self.c.token.kind, -1) >= level:
            token = self.c.token
            self.c.at += 1
            left, second = self.scope.one(value, start), self.c.token
            right = self.scope.one(self._binary(PRECEDENCE[token.kind] + 1, ()), second)
            value = operation(self.c, token, (left, right))
        return value

    def unary(self, wanted: Wanted = ()) -> Value:
        """`operator unary | "fst" unary | "snd" unary | "&" ("fst" | "snd") unary | "&" name [path] | postfix`."""
        token = self.c.token
        if starts_literal(self.c):
            return (literal(self.c),)
        if token.kind in UNARY:
            self.c.at += 1
            return operation(self.c, token, (self._operand(),))
        if self.c.sees("fst", "snd"):
            base, path = self._projection()
            return Made(ir.Index(base, path), (self._path_type(base.type, path, token),))
        if self.c.accept("&"):
            return self._part(token)
        return self._postfix(wanted)

    def _operand(self) -> ir.Atom:
        token = self.c.token
        return self.scope.one(self.unary(), token)

    def _projection(self) -> tuple[ir.Atom, ir.Path]:
        field = ir.Field(0 if self.c.accept("fst") else 1)
        self.c.at += field.number
        return self._operand(), (field,)

    def _part(self, token: Token) -> Value:
        """A part of a place, behind the `&`."""
        if self.c.sees("fst", "snd"):
            place, path = self._projection()
            checked = True
        else:
            place = self.variable(self.c.take("name"))
            if not self.c.sees("[", "@", "."):
                return (place,)
            path, checked, _ = self.path(place.type.target if isinstance(place.type, Ref) else place.type)
        target = place.type.target if isinstance(place.type, Ref) else self.c.fail("this is no place", token)
        return Made(ir.View(place, path, checked), (Ref(self._path_type(target, path, token)),))

    def _postfix(self, wanted: Wanted) -> Value:
        token = self.c.token
        value = self._primary(wanted)
        while self.c.sees("[", "@", "."):
            base = self.scope.one(value, token)
            path, checked, t = self.path(base.type)
            value = Made(ir.Index(base, path, checked), (t,))
        return value

    def path(self, t: Type) -> tuple[ir.Path, bool, Type]:
        """`path ::= "." int | ["@"] "[" step {"," step} "]"` into a `t`: the steps, whether checked, the type there."""
        token = self.c.token
        if self.c.accept("."):
            field = ir.Field(int(self.c.take("number").text))
            return (field,), True, self._path_type(t, (field,), token)
        checked = not self.c.accept("@")
        self.c.take("[")
        steps: list[ir.Atom | ir.Field] = []
        proven = True
        while not steps or self.c.accept(","):
            if self.c.accept("."):
                steps.append(ir.Field(int(self.c.take("number").text)))
            else:
                steps.append(self._one(INT))
                proven = proven and self._is_below(steps[-1], t)
            t = self._path_type(t, (steps[-1],), token)
        self.c.take("]")
        has_index = any(not isinstance(step, ir.Field) for step in steps)
        return tuple(steps), checked and not (has_index and proven), t

    def _is_below(self, index: ir.Atom | ir.Field, t: Type) -> bool:
        length = t.length if isinstance(t, Array) else None
        return length is not None and isinstance(index, ir.Var) and self._below.get(index, length + 1) <= length

    def _path_type(self, t: Type, path: ir.Path, token: Token) -> Type:
        try:
            return path_type(t, path)
        except VerifyError as error:
            return self.c.fail(str(error), token)

    def variable(self, token: Token) -> ir.Atom:
        """What the name at `token` stands for."""
        return self.scope.find(token.text) or self.c.fail(f"there is no variable `{token.text}`", token)

    # --- primaries

    def _primary(self, wanted: Wanted) -> Value:
        token = self.c.token
        if self.c.accept("("):
            return self._parentheses(wanted)
        if self.c.accept("["):
            return self._for(wanted) if self.c.accept("for") else self._array(wanted)
        self.c.take("name")
        if self.c.accept("("):
            return self._call(token)
        if self.scope.find(token.text) is not None:
            return (self.variable(token),)
        if token.text in self.environment.generic and self.c.accept("<"):
            return self._generic_call(token)
        if token.text in PRIMITIVES and len(PRIMITIVES[token.text].params) == 1:  # `sqrt x`, as in the paper
            return primitive(self.c, token, (self._operand(),))
        return (self.variable(token),)

    def _call(self, token: Token) -> Value:
        f = self.environment.functions.get(token.text)
        if f is not None:
            return Made(ir.Call(f, self._list(")", tuple([p.type for p in f.params]))), f.results)
        if token.text not in PRIMITIVES:
            self.c.fail(f"there is no function `{token.text}`", token)
        return primitive(self.c, token, self._list(")", PRIMITIVES[token.text].params))

    def _generic_call(self, token: Token) -> Value:
        arguments = [read_argument(self.c, self.environment.types)]
        while not self.c.accept(">"):
            self.c.take(",")
            arguments.append(read_argument(self.c, self.environment.types))
        f = self.environment.instance(token, arguments)
        self.c.take("(")
        return Made(ir.Call(f, self._list(")", tuple([p.type for p in f.params]))), f.results)

    def _parentheses(self, wanted: Wanted) -> Value:
        """`()`, `(,)`, `(e)`, `(e,)`, `(e, ..)`, behind the `(`."""
        if self.c.accept(")"):
            return (ir.NOTHING,)
        t = wanted[0] if wanted else None
        fields: Wanted = t.items if isinstance(t, Tuple) else t.fields if isinstance(t, Nominal) and t.defined else ()
        if self.c.accept(","):
            self.c.take(")")
            items: tuple[ir.Atom, ...] = ()
        else:
            first = self.c.token
            value = self.expr(fields[:1] or wanted[:1])
            if self.c.accept(")"):
                return value
            items = (fit(self.scope.one(value, first), fields[0] if fields else None),)
            self.c.take(",")
            items += self._list(")", fields[1:])
        return Made(ir.MakeTuple(items), (t if isinstance(t, Nominal) else Tuple(tuple([a.type for a in items])),))

    def _array(self, wanted: Wanted) -> Value:
        t = wanted[0] if wanted else None
        length, element = (t.length or 0, t.element) if isinstance(t, Array) else (0, None)
        if self.c.sees("]"):
            self.c.fail("an array literal has at least one item")
        items = self._list("]", (element,) * length)
        return Made(ir.MakeArray(items), (Array(len(items), items[0].type),))

    def _for(self, wanted: Wanted) -> Value:
        """`[for i: n, block]`, behind the `for`: a loop that stacks the results of its block."""
        name = self.c.take("name").text
        self.c.take(":")
        length = read_length(self.c, self.environment.types)
        self.c.take(",")
        index, mark = ir.Var(INT, name), self.scope.mark
        self._below[index] = length
        self.scope.define(name, index)
        t = wanted[0] if wanted else None
        body = self.block((t.element,) if isinstance(t, Array) else ())
        self.c.take("]")
        self.scope.forget(mark)
        types = tuple([Array(length, a.type) for a in body.results])
        return Made(ir.Loop(ir.integer(length), index, (), (), (), body), types or (Array(length, UNIT),))
