"""Turns `match` statements whose patterns are values into `if` statements, which can be staged."""

from typing import Any

from rosejit.frontend.grammar import gast
from rosejit.frontend.jumps import blocks

_POSITIONS = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def lower(statements: list[Any]) -> None:
    """Replace, in place and at any depth, every `match` that only compares; others stay and are decided by Python."""
    position = 0
    while position < len(statements):
        node = statements[position]
        for block in blocks(node):
            lower(block)
        if isinstance(node, gast.Match) and all(_compares(case.pattern) for case in node.cases):
            statements[position : position + 1] = _tests(node)
        position += 1


def _compares(pattern: Any) -> bool:
    match pattern:
        case gast.MatchValue() | gast.MatchSingleton():
            return True
        case gast.MatchOr():
            return all(_compares(p) and not isinstance(p, gast.MatchAs) for p in pattern.patterns)
        case gast.MatchAs():
            return pattern.pattern is None
        case _:
            return False


def _tests(node: Any) -> list[Any]:
    subject = f"subject@{node.lineno}.{node.col_offset}"
    chain: list[Any] = []
    for case in reversed(node.cases):
        chain = _case(case, subject, chain)
    return [_assign(node.subject, subject, node.subject), *(chain or [_like(node, gast.Pass())])]


def _case(case: Any, subject: str, otherwise: list[Any]) -> list[Any]:
    """The statements for this case and those after it."""
    pattern = case.pattern
    if isinstance(pattern, gast.MatchAs):
        bound = [] if pattern.name is None else [_assign(pattern, pattern.name, _read(pattern, subject))]
        if case.guard is None:
            return [*bound, *case.body]
        return [*bound, _like(pattern, gast.If(case.guard, case.body, otherwise))]
    test = _test(pattern, subject)
    if case.guard is not None:
        test = _like(pattern, gast.BoolOp(gast.And(), [test, case.guard]))
    return [_like(pattern, gast.If(test, case.body, otherwise))]


def _test(pattern: Any, subject: str) -> Any:
    match pattern:
        case gast.MatchOr():
            return _like(pattern, gast.BoolOp(gast.Or(), [_test(p, subject) for p in pattern.patterns]))
        case gast.MatchSingleton():
            value = _like(pattern, gast.Constant(pattern.value, None))
            return _like(pattern, gast.Compare(_read(pattern, subject), [gast.Is()], [value]))
        case _:
            return _like(pattern, gast.Compare(_read(pattern, subject), [gast.Eq()], [pattern.value]))


def _read(place: Any, name: str) -> Any:
    return _like(place, gast.Name(name, gast.Load(), None, None))


def _assign(place: Any, name: str, value: Any) -> Any:
    return _like(place, gast.Assign([_like(place, gast.Name(name, gast.Store(), None, None))], value, None))


def _like(place: Any, node: Any) -> Any:
    for attribute in _POSITIONS:
        setattr(node, attribute, getattr(place, attribute))
    return node
