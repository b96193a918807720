"""Turns `return`, `break` and `continue` into flags and guarded statements, so that every block has one way out."""

import ast
from dataclasses import field
from typing import Any

from rosejit.lazy_dataclass import dataclass

VALUE = "value@"
RETURNED = "returned@"
_DEEPEST = 25
"""How many early exits in a row nest the rest in their `else`; later ones are guarded by a flag."""


class NoFlagSet(ast.AST):
    """An expression: no flag of `flags` is set."""

    _fields = ("flags",)
    flags: tuple[str, ...]

    def __init__(self, flags: tuple[str, ...]) -> None:
        super().__init__()
        self.flags = flags


class AssignFlag(ast.AST):
    """A statement: `flag = value`."""

    _fields = ("flag", "value")
    flag: str
    value: bool

    def __init__(self, flag: str, value: bool) -> None:
        super().__init__()
        self.flag, self.value = flag, value


class Handles(ast.AST):
    """An expression: a handler of the `try` of that number takes what staged code in its body raised."""

    _fields = ()
    number: int
    handler: int

    def __init__(self, number: int, handler: int) -> None:
        super().__init__()
        self.number, self.handler = number, handler


class LeaveTry(ast.AST):
    """A statement, a jump: the rest of the body of the `try` of that number is left out."""

    _fields = ()
    number: int


@dataclass(slots=True, frozen=True)
class Body:
    """The statements of a function without jumps; `tested` are the flags that some statement reads.

    `returns` says that the value to return is in the variable `VALUE`.
    """

    statements: list[Any]
    tested: frozenset[str]
    returns: bool


def lower(function: Any) -> Body:
    """The body of `function` with jumps as flags."""
    found = without_jumps(function)
    if found is not None:
        return found
    statements = function.body
    last = statements[-1]
    if not ends(statements):
        end = _like(last, ast.Return(None))
        end.lineno, end.col_offset = last.end_lineno, last.col_offset
        statements = [*statements, end]
    lowering = _Lowering()
    lowered, _ = lowering.block(statements, depth=0)
    first = [_like(function, AssignFlag(RETURNED, False))] if RETURNED in lowering.tested else []
    return Body([*first, *lowered], frozenset(lowering.tested), returns=True)


def without_jumps(function: Any) -> Body | None:
    """The body of a function that ends at its end only, as it is; None of any other."""
    *before, last = function.body
    jumps = any(s.__class__ not in _NO_JUMPS and _jumps(s) for s in before) or not (
        isinstance(last, ast.Return) or not _jumps(last)
    )
    return None if jumps else Body(function.body, frozenset(), returns=False)


def ends(statements: list[Any]) -> bool:
    """Whether the end of `statements` is never reached."""
    return any(_ends(s) for s in statements)


def _ends(node: Any) -> bool:
    match node:
        case ast.Return() | ast.Break() | ast.Continue() | ast.Raise() | LeaveTry():
            return True
        case ast.If():
            return ends(node.body) and ends(node.orelse)
        case ast.While():
            return isinstance(node.test, ast.Constant) and bool(node.test.value) and not _breaks(node.body)
        case ast.Try():
            inside = ends(node.body) or ends(node.orelse)
            return inside and all(ends(handler.body) for handler in node.handlers)
        case ast.Match():
            return _is_wildcard(node.cases[-1]) and all(ends(case.body) for case in node.cases)
        case _:
            return False


def _is_wildcard(case: Any) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None


_OPAQUE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_JUMPS = (ast.Return, ast.Break, ast.Continue, LeaveTry)


_FLAT = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, *_JUMPS})
"""Statements without statements inside: most of them."""
_NO_JUMPS = _FLAT.difference(_JUMPS)


def blocks(node: Any) -> list[list[Any]]:
    """The statement lists right inside a statement."""
    if type(node) in _FLAT:
        return []
    if isinstance(node, ast.Match):
        return [case.body for case in node.cases]
    found = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
    return [*found, *(handler.body for handler in getattr(node, "handlers", []))]


def _is_fault(flag: str) -> bool:
    return flag.startswith("fault@")


def _fault(node: Any) -> str:
    return f"fault@{getattr(node, 'number', 0)}"


def _jumps(node: Any) -> bool:
    """Whether `node` is or contains a jump, or a `raise` that something could follow."""
    if type(node) in _FLAT or isinstance(node, _OPAQUE):
        return isinstance(node, _JUMPS)
    return any(_jumps(s) or isinstance(s, ast.Raise) for block in blocks(node) for s in block)


def _breaks(statements: list[Any]) -> bool:
    """Whether a `break` of the loop around `statements` is among them."""
    for node in statements:
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, (*_OPAQUE, ast.For, ast.While)):
            if _breaks(getattr(node, "orelse", [])):
                return True
        elif any(_breaks(block) for block in blocks(node)):
            return True
    return False


def _like(node: Any, new: Any) -> Any:
    for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(new, attribute, getattr(node, attribute))
    return new


Flags = frozenset[str]
_NONE: Flags = frozenset()


@dataclass(slots=True)
class _Lowering:
    """Lowers one function; `tested` grows as guards are made."""

    tested: set[str] = field(default_factory=set[str])
    loops: int = 0
    loop: int = 0
    """The number of the innermost loop that is open."""

    def block(self, statements: list[Any], depth: int) -> tuple[list[Any], Flags]:
        """`statements` without jumps, and the flags that they may set."""
        lowered: list[Any] = []
        for position, node in enumerate(statements):
            rest = statements[position + 1 :]
            if isinstance(node, ast.If) and rest and depth < _DEEPEST and (ends(node.body) or ends(node.orelse)):
                made, flags = self.absorbing(node, rest, depth + 1)
                return [*lowered, made], flags
            made_list, flags = self.statement(node, depth)
            lowered += made_list
            if _ends(node) or not rest:
                return lowered, flags
            if flags:
                body, others = self.block(rest, depth)
                return [*lowered, self.guard(node, flags, body)], flags | others
        return lowered, _NONE

    def absorbing(self, node: Any, rest: list[Any], depth: int) -> tuple[Any, Flags]:
        """`if c: A` where `A` always leaves: the rest is its `else`. Likewise the other way round."""
        body, orelse = node.body, node.orelse
        if not ends(body):
            body = [*body, *rest]
        elif not ends(orelse):
            orelse = [*orelse, *rest]
        return self.choice(node, body, orelse, depth)

    def choice(self, node: Any, body: list[Any], orelse: list[Any], depth: int) -> tuple[Any, Flags]:
        then, flags = self.block(body, depth)
        other, others = self.block(orelse, depth)
        return _like(node, ast.If(node.test, then, other)), flags | others

    def guard(self, node: Any, flags: Flags, body: list[Any]) -> Any:
        """`body`, run unless one of `flags` is set."""
        return _like(node, ast.If(self.no_flag_set(node, flags), body, []))

    def no_flag_set(self, node: Any, flags: Flags) -> Any:
        self.tested |= flags
        return _like(node, NoFlagSet(tuple(sorted(flags))))

    def statement(self, node: Any, depth: int) -> tuple[list[Any], Flags]:
        """One statement; what it becomes and the flags that it may set."""
        match node:
            case ast.Return():
                value = _like(node, ast.Constant(None)) if node.value is None else node.value
                name = _like(node, ast.Name(VALUE, ast.Store()))
                return [_like(node, ast.Assign([name], value, None)), *self.leave(node, RETURNED)], frozenset(
                    {RETURNED}
                )
            case ast.Break():
                return self.leave(node, f"break@{self.loop}"), frozenset({f"break@{self.loop}"})
            case ast.Continue():
                return self.leave(node, f"continue@{self.loop}"), frozenset({f"continue@{self.loop}"})
            case LeaveTry():
                return self.leave(node, _fault(node)), frozenset({_fault(node)})
            case ast.Raise():
                return [node, *self.leave(node, RETURNED)], frozenset({RETURNED})
            case ast.For() | ast.While() if any(_jumps(s) for s in (*node.body, *node.orelse)):
                return self.repetition(node, depth)
            case ast.If() if _jumps(node):
                made, flags = self.choice(node, node.body, node.orelse, depth)
                return [made], flags
            case ast.With() if _jumps(node):
                body, flags = self.block(node.body, depth)
                first = self.begun(node, flags)
                return [*first, _like(node, ast.With(node.items, body, None))], flags - {_fault(node)}
            case ast.Match() if _jumps(node):
                return self.selection(node, depth)
            case ast.Try() if _jumps(node):
                return self.attempt(node, depth)
            case _:
                return [node], _NONE

    def leave(self, node: Any, flag: str) -> list[Any]:
        return [_like(node, AssignFlag(flag, True))]

    def repetition(self, node: Any, depth: int) -> tuple[list[Any], Flags]:
        """A loop in which something jumps. `leaving` says which flags end it."""
        self.loops += 1
        outer, self.loop = self.loop, self.loops
        breaking, continuing = f"break@{self.loop}", f"continue@{self.loop}"
        body, flags = self.block(node.body, depth)
        self.loop = outer
        leaving = frozenset(flag for flag in flags if flag in (breaking, RETURNED) or _is_fault(flag))
        self.tested |= leaving
        if isinstance(node, ast.For):
            made = self.counted(node, leaving, body, breaking.replace("break", "turn"))
        else:
            go = [self.no_flag_set(node.test, leaving)] if leaving else []
            test = _like(node.test, ast.BoolOp(ast.And(), [*go, node.test])) if go else node.test
            made = _like(node, ast.While(test, body, []))
        if continuing in self.tested:
            made.body.insert(0, _like(node, AssignFlag(continuing, False)))
        made.leaving = tuple(sorted(leaving))
        first = [_like(node, AssignFlag(breaking, False))] if breaking in leaving else []
        after, others = self.block(node.orelse, depth)
        if after and leaving:
            after = [self.guard(node.orelse[0], leaving, after)]
        return [*first, made, *after], (leaving - {breaking}) | others

    def counted(self, node: Any, leaving: Flags, body: list[Any], iteration: str) -> Any:
        """A `for` that something leaves: iterations after that do nothing, and bind nothing."""
        if not leaving:
            return _like(node, ast.For(node.target, node.iter, body, [], None))
        read = _like(node.target, ast.Name(iteration, ast.Load()))
        bound = _like(node.target, ast.Assign([node.target], read, None))
        target = _like(node.target, ast.Name(iteration, ast.Store()))
        return _like(node, ast.For(target, node.iter, [self.guard(node, leaving, [bound, *body])], [], None))

    def selection(self, node: Any, depth: int) -> tuple[list[Any], Flags]:
        cases: list[Any] = []
        flags = _NONE
        for case in node.cases:
            body, others = self.block(case.body, depth)
            flags |= others
            cases.append(ast.match_case(case.pattern, case.guard, body))
        return [_like(node, ast.Match(node.subject, cases))], flags

    def attempt(self, node: Any, depth: int) -> tuple[list[Any], Flags]:
        """A `try`. What staged code raised in its body its handlers take as branches, in place of the `else`."""
        body, flags = self.block(node.body, depth)
        set_in_body = flags
        orelse, others = self.block(node.orelse, depth)
        if orelse and flags:
            orelse = [self.guard(node.orelse[0], flags, orelse)]
        flags = (flags - {_fault(node)}) | others
        handlers: list[Any] = []
        for handler in node.handlers:
            caught, others = self.block(handler.body, depth)
            flags |= others
            handlers.append(_like(handler, ast.ExceptHandler(handler.type, handler.name, caught)))
        for position, handler in reversed([*enumerate(getattr(node, "staged", ()))]):
            caught, others = self.block(handler.body, depth)
            flags |= others
            orelse = [_like(handler, ast.If(_like(handler, Handles(node.number, position)), caught, orelse))]
        final, others = self.block(node.finalbody, depth)  # a loop or a `try` in it is left, but not it
        flags |= others
        made = _like(node, ast.Try(body, handlers, orelse, final))
        made.number = getattr(node, "number", 0)
        return [*self.begun(node, set_in_body), made], flags

    def begun(self, node: Any, flags: Flags) -> list[Any]:
        """The flag that leaves a `try` or a `with`, not set."""
        flag = _fault(node)
        return [_like(node, AssignFlag(flag, False))] if flag in flags & self.tested else []
