"""Makes what arithmetic raises a way out of a `try`: a test after each statement that may raise, and handlers behind.

Staged reals raise nothing by themselves. In a `try` (or `with contextlib.suppress`) the hook `faulted` says after a
statement whether one of its operations would have raised in Python; then the rest of the body is left out, as after a
`break`. What a statement computes it keeps under a name of ours until that is known, and what it binds or calls comes
behind the test. The handlers are there twice: where Python put them, for errors of the host, and behind the body, as
branches, for those of staged code. Where nobody waits for such errors the tests say False, and no branch is staged.
"""

import ast
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from rosejit.frontend.syntax.ast_build import copied
from rosejit.frontend.syntax.lower_jumps import LeaveTry, blocks
from rosejit.frontend.syntax.lower_match import RuntimeCall
from rosejit.lazy_dataclass import dataclass

_HARMLESS = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_ASKS = frozenset({"abs", "len", "isinstance", "range", "enumerate", "zip"})
"""Builtins that raise none of the errors; where they are not Python's, the session refuses what it cannot leave."""
_RAISING = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def lower(statements: list[Any]) -> None:
    """Lower, in place, every `try` and `with` of a function and of the functions inside it."""
    _Lowering().inside(statements)


def _like(node: Any, new: Any) -> Any:
    for name in _PLACE:
        setattr(new, name, getattr(node, name))
    return new


def _called(place: Any, method: str, given: Sequence[Any] = ()) -> Any:
    return _like(place, RuntimeCall(method, [*given]))


def _may_raise(node: Any) -> bool:
    """Whether an expression can raise what a handler of arithmetic catches, as far as its form says."""
    if node is None or isinstance(node, _HARMLESS):
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, _RAISING):
        return True
    if isinstance(node, ast.Call):
        own = isinstance(node.func, ast.Name) and node.func.id in _ASKS
        return not own or any(_may_raise(part) for part in (*node.args, *node.keywords))
    plain = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.keyword)
    return not isinstance(node, plain) or any(_may_raise(part) for part in ast.iter_child_nodes(node))


@dataclass(slots=True)
class _Lowering:
    """One function; `number` is that of the innermost `try` that is open, 0 outside of all."""

    last: int = 0
    kept: int = 0
    open: list[int] = field(default_factory=list[int])

    def inside(self, statements: list[Any]) -> None:
        """Lower each `try` and `with` among the statements of no `try`."""
        position = 0
        while position < len(statements):
            node = statements[position]
            if isinstance(node, (ast.Try, ast.With)):
                self.attempt(node)
            elif isinstance(node, ast.ClassDef):
                self.inside([each for each in node.body if isinstance(each, ast.FunctionDef)])
            else:
                for block in blocks(node):
                    self.inside(block)
            position += 1

    def attempt(self, node: Any) -> None:
        """A `try` or a `with`: its body can be left behind each statement."""
        self.last += 1
        number = node.number = self.last
        self.open.append(number)
        node.body = self.guarded(node.body)
        self.open.pop()
        if isinstance(node, ast.With):
            return
        node.staged = [copied(handler) for handler in node.handlers]
        for handler in node.staged:
            body = [_Reraise().visit(each) for each in handler.body]
            handler.body = [*self.begun(handler), *body, *self.ended(handler)]
        bodies = [node.orelse, node.finalbody, *(handler.body for handler in (*node.handlers, *node.staged))]
        if not self.open:
            for block in bodies:
                self.inside(block)
            return
        node.orelse = self.guarded(node.orelse) if node.orelse else []
        self.inside(node.finalbody)
        for handler in (*node.handlers, *node.staged):
            handler.body = self.guarded(handler.body)

    def begun(self, handler: Any) -> list[Any]:
        """What a handler that is a branch begins with: the error is over, and its name bound."""
        over = _like(handler, ast.Expr(_called(handler, "handled")))
        if handler.name is None:
            return [over]
        name = _like(handler, ast.Name(handler.name, ast.Store()))
        return [over, _like(handler, ast.Assign([name], _called(handler, "raised_error"), None))]

    def ended(self, handler: Any) -> list[Any]:
        """What it ends with: Python deletes the name."""
        name = ast.Name(handler.name, ast.Del())
        return [] if handler.name is None else [_like(handler, ast.Delete([_like(handler, name)]))]

    def guarded(self, statements: list[Any]) -> list[Any]:
        """The statements of the body of a `try`, and the tests between them."""
        return [made for node in statements for made in self.statement(node)]

    def test(self, node: Any, *before: Any, hook: str = "faulted") -> Any:
        leave = LeaveTry()
        leave.number = self.open[-1]
        return _like(node, ast.If(_called(node, hook), [*before, _like(node, leave)], []))

    def keep(self, value: Any) -> tuple[list[Any], Any]:
        """Compute a value before anything is done with it; gives the statements, and how it is read."""
        if not _may_raise(value):
            return [], value
        store, read = self.name(value)
        return [_like(value, ast.Assign([store], value, None)), self.test(value)], read

    def name(self, place: Any) -> tuple[Any, Any]:
        self.kept += 1
        name = f"kept@{self.kept}"
        pair = (ast.Name(name, context) for context in (ast.Store(), ast.Load()))
        store, read = (_like(place, made) for made in pair)
        return store, read

    def statement(self, node: Any) -> list[Any]:
        """One statement in the body of a `try`."""
        match node:
            case ast.Assign() | ast.AnnAssign() | ast.Return():
                return self.valued(node)
            case ast.AugAssign():
                return self.augmented(node)
            case ast.Expr():
                return self.called(node)
            case ast.If():
                before, node.test = self.keep(node.test)
                node.body, node.orelse = self.guarded(node.body), self.guarded(node.orelse)
                return [*before, node]
            case ast.For():
                before, node.iter = self.keep(node.iter)
                node.body, node.orelse = [self.test(node), *self.guarded(node.body)], self.guarded(node.orelse)
                return [*before, node, self.test(node)]
            case ast.While():
                return self.repeated(node)
            case ast.Try() | ast.With():
                self.attempt(node)
                return [node, self.test(node, hook="escaped")]
            case ast.FunctionDef():
                self.nested(node)
                return [node, self.test(node)]
            case ast.Raise() if node.exc is not None:
                given = [_called(node, "raises"), node.exc, *([] if node.cause is None else [node.cause])]
                return [_like(node, ast.Expr(_called(node, "raised_here", given))), self.test(node)]
            case ast.Break() | ast.Continue() | ast.Pass() | ast.Raise():
                return [node]
            case _:
                return [node, self.test(node)]

    def nested(self, node: Any) -> None:
        """A function inside: a body of its own."""
        outer, self.open = self.open, []
        self.inside(node.body)
        self.open = outer

    def valued(self, node: Any) -> list[Any]:
        if node.value is None:
            return [node]
        before, node.value = self.keep(node.value)
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        after = [self.test(node)] if any(_may_raise(target) for target in targets) else []
        return [*before, node, *after]

    def augmented(self, node: Any) -> list[Any]:
        """`y += v`: `y` stays what it was if the operation raises."""
        before, node.value = self.keep(node.value)
        if not isinstance(node.target, ast.Name):
            return [*before, node, self.test(node)]
        if not isinstance(node.op, _RAISING):
            return [*before, node, self.test(node)]
        store, read = self.name(node)
        old = _like(node, ast.Name(node.target.id, ast.Load()))
        back = _like(node, ast.Name(node.target.id, ast.Store()))
        saved = _like(node, ast.Assign([store], old, None))
        restored = _like(node, ast.Assign([back], read, None))
        return [*before, saved, node, self.test(node, restored)]

    def called(self, node: Any) -> list[Any]:
        """A call whose arguments may raise: they are computed before."""
        call, before = node.value, list[Any]()
        if isinstance(call, ast.Call) and not any(isinstance(arg, ast.Starred) for arg in call.args):
            for position, arg in enumerate(call.args):
                first, call.args[position] = self.keep(arg)
                before += first
            for keyword in call.keywords:
                first, keyword.value = self.keep(keyword.value)
                before += first
        return [*before, node, self.test(node)]

    def repeated(self, node: Any) -> list[Any]:
        """A `while` whose test may raise leaves it by a `break`."""
        before, test = self.keep(node.test)
        node.orelse = self.guarded(node.orelse)
        if before and not node.orelse:
            leave = _like(node.test, ast.If(test, [_like(node.test, ast.Pass())], [_like(node.test, ast.Break())]))
            node.test = _like(node.test, ast.Constant(True, None))
            before = [*before, leave]
        else:
            before = []
        node.body = [self.test(node), *before, *self.guarded(node.body)]
        return [node, self.test(node)]


class _Reraise(ast.NodeTransformer):
    """A bare `raise` in a handler that is a branch: there is no error to raise again while staging."""

    def visit_Raise(self, node: Any) -> Any:
        if node.exc is not None:
            return node
        return _like(node, ast.Expr(_called(node, "reraised")))

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    def visit_Try(self, node: Any) -> Any:
        """The `raise` in a handler inside is that one's."""
        node.body, node.orelse, node.finalbody = (
            [self.visit(each) for each in block] for block in (node.body, node.orelse, node.finalbody)
        )
        return node
