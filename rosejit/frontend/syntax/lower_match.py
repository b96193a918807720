"""Turns `match` statements into `if` statements, which can be staged; Python takes the subject apart."""

import ast
from dataclasses import field
from typing import Any

from rosejit.frontend.syntax.lower_jumps import blocks, ends
from rosejit.lazy_dataclass import dataclass

_POSITIONS = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class RuntimeCall(ast.AST):
    """An expression: what a method of the run-time object says."""

    _fields = ("args",)
    method: str
    args: list[Any]

    def __init__(self, method: str, args: list[Any]) -> None:
        super().__init__()
        self.method, self.args = method, args


def lower(statements: list[Any]) -> None:
    """Replace, in place and at any depth, every `match` but those with an `|` that binds names: Python decides them."""
    position = 0
    while position < len(statements):
        node = statements[position]
        for block in blocks(node):
            lower(block)
        if isinstance(node, ast.Match) and not any(_binds_in_or(case.pattern) for case in node.cases):
            statements[position : position + 1] = _Match(node).statements()
        position += 1


def _binds_in_or(pattern: Any) -> bool:
    return any(isinstance(p, ast.MatchOr) and _binds(p) for p in ast.walk(pattern))


def _binds(pattern: Any) -> bool:
    return any(getattr(p, "name", None) or getattr(p, "rest", None) for p in ast.walk(pattern))


@dataclass(slots=True)
class _Taken:
    """What a pattern asks of a value."""

    before: list[Any] = field(default_factory=list[Any])
    """The statements that take the value apart. They may run where it has another form."""
    tests: list[Any] = field(default_factory=list[Any])
    bound: list[Any] = field(default_factory=list[Any])
    """The statements that bind the names."""


class _Match:
    """One `match` on its way to a chain of `if`."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.place = f"{node.lineno}.{node.col_offset}"
        self.count = 0

    def name(self, what: str) -> str:
        self.count += 1
        return f"{what}@{self.place}.{self.count}"

    def statements(self) -> list[Any]:
        node, subject = self.node, self.name("subject")
        chain: list[Any] = []
        for case in reversed(node.cases):
            chain = self.case(case, subject, chain)
        return [_assign(node.subject, [subject], node.subject), *(chain or [_like(node, ast.Pass())])]

    def case(self, case: Any, subject: str, otherwise: list[Any]) -> list[Any]:
        """The statements for this case and those after it."""
        place, taken = case.pattern, _Taken()
        self.take(place, subject, taken)
        before, tests, bound, body = taken.before, taken.tests, taken.bound, case.body
        if case.guard is not None and bound and tests:  # the guard reads names that only a match binds
            if ends(body):  # what comes next is reached only where the case was not taken
                inner = [*bound, _like(case.guard, ast.If(case.guard, body, []))]
                return [*before, self.choice(place, tests, inner, []), *otherwise]
            done = self.name("matched")
            found = [_assign(place, [done], _constant(place, True)), *body]
            inner = [*bound, _like(case.guard, ast.If(case.guard, found, []))]
            rest = _like(place, ast.If(_like(place, ast.UnaryOp(ast.Not(), _read(place, done))), otherwise, []))
            first = _assign(place, [done], _constant(place, False))
            return [*before, first, self.choice(place, tests, inner, []), *([rest] if otherwise else [])]
        if case.guard is None:
            body = [*bound, *body]
        else:
            before, tests = [*before, *bound], [*tests, case.guard]
        return [*before, *([self.choice(place, tests, body, otherwise)] if tests else body)]

    def choice(self, place: Any, tests: list[Any], body: list[Any], otherwise: list[Any]) -> Any:
        return _like(place, ast.If(_all(place, tests), body, otherwise))

    # --- patterns

    def take(self, pattern: Any, value: str, taken: _Taken) -> None:
        """Add to `taken` what `pattern` asks of the variable `value`."""
        match pattern:
            case ast.MatchValue():
                taken.tests.append(_compare(pattern, value, ast.Eq(), pattern.value))
            case ast.MatchSingleton():
                taken.tests.append(_compare(pattern, value, ast.Is(), _constant(pattern, pattern.value)))
            case ast.MatchAs():
                if pattern.pattern is not None:
                    self.take(pattern.pattern, value, taken)
                if pattern.name is not None:
                    taken.bound.append(_assign(pattern, [pattern.name], _read(pattern, value)))
            case ast.MatchOr():
                self.alternatives(pattern, value, taken)
            case ast.MatchSequence():
                self.sequence(pattern, value, taken)
            case ast.MatchMapping():
                keys = _like(pattern, ast.Tuple(list(pattern.keys), ast.Load()))
                rest = [] if pattern.rest is None else [_like(pattern, ast.MatchAs(None, pattern.rest))]
                wanted = [keys, _constant(pattern, bool(rest))]
                self.parts(pattern, "mapping", value, wanted, [*pattern.patterns, *rest], taken)
            case ast.MatchClass():
                named = _constant(pattern, tuple(pattern.kwd_attrs))
                wanted = [pattern.cls, _constant(pattern, len(pattern.patterns)), named]
                self.parts(pattern, "instance", value, wanted, [*pattern.patterns, *pattern.kwd_patterns], taken)
            case _:
                raise AssertionError(f"a pattern of kind {type(pattern).__name__}")

    def alternatives(self, pattern: Any, value: str, taken: _Taken) -> None:
        tests: list[Any] = []
        for alternative in pattern.patterns:
            one = _Taken()
            self.take(alternative, value, one)
            taken.before += one.before
            tests.append(_all(alternative, one.tests) if one.tests else _constant(alternative, True))
        taken.tests.append(_like(pattern, ast.BoolOp(ast.Or(), tests)))

    def sequence(self, pattern: Any, value: str, taken: _Taken) -> None:
        items = pattern.patterns
        star = next((k for k, item in enumerate(items) if isinstance(item, ast.MatchStar)), len(items))
        counts = [_constant(pattern, n) for n in (star, star < len(items), max(0, len(items) - star - 1))]
        parts = [_like(p, ast.MatchAs(None, p.name)) if isinstance(p, ast.MatchStar) else p for p in items]
        self.parts(pattern, "sequence", value, counts, parts, taken)

    def parts(
        self, pattern: Any, method: str, value: str, wanted: list[Any], patterns: list[Any], taken: _Taken
    ) -> None:
        """Ask the run-time object whether `value` has the form of `pattern`, and for its parts; go on with them."""
        names = [self.name("fits"), *(self.name("part") for _ in patterns)]
        ask = _like(pattern, RuntimeCall(method, [_read(pattern, value), *wanted]))
        taken.before.append(_assign(pattern, names, ask))
        taken.tests.append(_read(pattern, names[0]))
        for name, part in zip(names[1:], patterns, strict=True):
            self.take(part, name, taken)


# --- nodes


def _all(place: Any, tests: list[Any]) -> Any:
    return tests[0] if len(tests) == 1 else _like(place, ast.BoolOp(ast.And(), tests))


def _compare(place: Any, name: str, op: Any, value: Any) -> Any:
    return _like(place, ast.Compare(_read(place, name), [op], [value]))


def _constant(place: Any, value: Any) -> Any:
    return _like(place, ast.Constant(value, None))


def _read(place: Any, name: str) -> Any:
    return _like(place, ast.Name(name, ast.Load()))


def _assign(place: Any, names: list[str], value: Any) -> Any:
    stores: list[Any] = [_like(place, ast.Name(name, ast.Store())) for name in names]
    alone = len(stores) == 1 and value.__class__ is not RuntimeCall
    target = stores[0] if alone else _like(place, ast.Tuple(stores, ast.Store()))
    return _like(place, ast.Assign([target], value, None))


def _like(place: Any, node: Any) -> Any:
    for attribute in _POSITIONS:
        setattr(node, attribute, getattr(place, attribute))
    return node
