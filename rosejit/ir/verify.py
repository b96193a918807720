"""Checks the invariants of docs/ir.md: scope, single binding, types, the four rules of ownership.

Types keep Tans to the linear operations and conditions, indices and trip counts free of them. The order of effects
is the order of the text, and no business of this module.
"""

from rosejit.errors import VerifyError
from rosejit.ir.dump import dump
from rosejit.ir.facts import Scope
from rosejit.ir.syntax import Apply, Atom, Block, Case, Control, Expr, Function, If, Let, Loop, Var, While, assert_never
from rosejit.ir.traversal import consumed, operands, reachable, scopes, views
from rosejit.ir.types import Ref, is_boxed
from rosejit.ir.typing import check_let, check_signature, wrong


def verify(f: Function) -> None:
    """Raise a `VerifyError`, which shows the place, unless `f` is valid; callees are looked at by their signature."""
    verifier = _Verifier()
    try:
        verifier.function(f)
    except VerifyError as error:
        raise VerifyError(f"{error}\n{dump(f, verifier.at, 'here')}") from None


def verify_program(*roots: Function) -> None:
    """Verify `roots` and all that they reach, by calls and by custom derivatives."""
    done: set[Function] = set()
    todo = list(roots)
    while todo:
        for f in reachable(*todo):
            if f not in done:
                done.add(f)
                verify(f)
        todo = [f.rule for f in done if f.rule is not None and f.rule not in done]


class _Verifier:
    def __init__(self) -> None:
        self.at: Let | None = None
        self.bound: set[Var] = set()  # anywhere before, in scope or not
        self.scope: set[Var] = set()
        self.owned: dict[Var, int] = {}  # and the loop that may consume it, by depth
        self.base: dict[Var, Var] = {}  # of a view: the variable at its end
        self.dead: set[Var] = set()
        self.deaths: list[Var] = []  # in order, so that a branch can be taken back
        self.depth = 0

    def function(self, f: Function) -> None:
        check_signature(f)
        self._bind(f.params)
        self.owned.update(dict.fromkeys(f.own, 0))
        if f.body is None:
            if f.host is None:
                wrong("a function without a body")
            return
        self._block(f.body)
        self.at = None
        if tuple([a.type for a in f.body.results]) != f.results:
            wrong("the types of the results are not those of the signature")

    def _bind(self, variables: tuple[Var, ...]) -> None:
        for v in variables:
            if v in self.bound:
                wrong(f"`{v.hint}` is bound twice")
            self.bound.add(v)
            self.scope.add(v)

    def _unbind(self, variables: tuple[Var, ...]) -> None:
        self.scope.difference_update(variables)

    def _own(self, variables: tuple[Var, ...]) -> None:
        for v in variables:
            if (is_boxed(v.type) or isinstance(v.type, Ref)) and v not in self.base:
                self.owned[v] = self.depth

    def _view(self, v: Var, of: Atom) -> None:
        if isinstance(of, Var) and (is_boxed(v.type) or isinstance(v.type, Ref)):
            self.base[v] = self.base.get(of, of)

    def _read(self, a: Atom) -> None:
        if isinstance(a, Var):
            if a not in self.scope:
                wrong(f"`{a.hint}` is read, but not in scope")
            base = self.base.get(a, a)
            if base in self.dead:
                wrong(f"`{a.hint}` is read after `{base.hint}` was consumed")

    def _consume(self, a: Var) -> None:
        if a in self.base:
            wrong(f"`{a.hint}` is a view, and consumed")
        if a not in self.owned:
            wrong(f"`{a.hint}` is only borrowed, and consumed")
        if self.owned[a] != self.depth:
            wrong(f"`{a.hint}` comes from outside of the loop, and is consumed in it")
        if a in self.dead:
            wrong(f"`{a.hint}` is consumed twice")
        self.dead.add(a)
        self.deaths.append(a)

    def _block(self, block: Block) -> None:
        for let in block.lets:
            self.at = let
            check_let(let)
            if isinstance(let.expr, Apply):
                for a in let.expr.args:
                    if a not in self.scope and isinstance(a, Var):
                        self._read(a)
            else:
                self._form(let)
            self._bind(let.binders)
        for a in block.results:
            self._result(a)
        for let in block.lets:
            self._unbind(let.binders)

    def _result(self, a: Atom) -> None:
        self._read(a)
        if isinstance(a.type, Ref):
            wrong(f"a place leaves its block: {a!r}")
        if isinstance(a, Var) and is_boxed(a.type):
            self._consume(a)

    def _form(self, let: Let) -> None:
        e = let.expr
        read = operands(e)
        for a in read:
            self._read(a)
        self._take(e, read)
        for v, of in views(let):
            self._view(v, of)
        if isinstance(e, Control):
            self._blocks(e)
        self.at = let
        self._own(let.binders)

    def _take(self, e: Expr, read: tuple[Atom, ...]) -> None:
        taken = [a for a in consumed(e) if isinstance(a, Var) and (is_boxed(a.type) or isinstance(a.type, Ref))]
        for a in taken:
            self._consume(a)
        if taken and len(read) > len(taken):
            owners = set(taken)
            involved = [a for a in read if isinstance(a, Var) and self.base.get(a, a) in owners]
            if len(involved) > len(taken):
                wrong("an operand is consumed, and another one is the same or a view of it")

    def _blocks(self, e: Control) -> None:
        match e:
            case If() | Case():
                self._sides(scopes(e))
            case Loop():
                ((bound, body),) = scopes(e)
                self._bind(bound)
                self.depth += 1
                self._own(bound)
                self._block(body)
                self.depth -= 1
                self._unbind(bound)
            case While(carries=carries, condition=condition, body=body):
                self._bind(carries)
                self.depth += 1
                self._block(condition)
                self._own(carries)
                self._block(body)
                self.depth -= 1
                self._unbind(carries)
            case _:
                assert_never(e)

    def _sides(self, sides: tuple[Scope, ...]) -> None:
        """What one side consumes is alive in the other, and dead behind both."""
        start = len(self.deaths)
        died: list[Var] = []
        for params, block in sides:
            self.dead.difference_update(died)
            self._bind(params)
            self._block(block)
            self._unbind(params)
            died += [v for v in self.deaths[start:] if v in self.scope]
            del self.deaths[start:]
        self.dead.update(died)
        self.deaths += died
