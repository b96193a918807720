"""Turns a function object into the syntax tree of its definition, with positions in the user's own file."""

import ast
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.grammar import converted, gast
from rosejit.frontend.nodes import inside
from rosejit.span import Span

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# A newer Python may have nodes that this gast drops; they are found before it is asked. (Old kinds of constants are
# classes still, and no parser makes them.)
_UNKNOWN = {
    node
    for name, node in vars(ast).items()
    if isinstance(node, type) and issubclass(node, ast.expr | ast.stmt) and not issubclass(node, ast.Constant)
    if not hasattr(gast, name)
}


@dataclass(slots=True, frozen=True)
class Source:
    """The definition of one function; `node` is gast's, lines and columns are those of the file."""

    file: str
    name: str
    node: Any
    text: str

    def span(self, node: Any) -> Span:
        """The place of `node` in the user's file."""
        return Span(self.file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, self.name)


def find(function: FunctionType, *, rewritten: bool = False) -> Source:
    """The source of `function`; raises UnsupportedSyntax where it cannot be found. Of `rewritten` code, which
    is another than its source compiles to, Python 3.10 may find the neighbour in the same line."""
    code = function.__code__
    lines = _lines(function)
    if not lines:
        raise _missing(function, f"it was compiled from {code.co_filename}, which has no text")
    try:
        definitions = _definitions("".join(lines))
    except SyntaxError as error:
        raise _changed(function, f"{code.co_filename} is not Python any more: {error.msg}") from None
    found = _pick(definitions.get(code.co_firstlineno, ()), code, rewritten)
    if found is None and code.co_filename.startswith("<"):
        raise _missing(function, f"it is not in the text of {code.co_filename}")
    if found is None:
        raise _changed(function, f"no such definition starts in line {code.co_firstlineno} of {code.co_filename}")
    _refuse_unknown(found, code)
    text = "".join(lines[code.co_firstlineno - 1 : found.end_lineno])
    return Source(code.co_filename, function.__qualname__, converted(found), text)


def is_written(code: CodeType) -> bool:
    """Whether the text that `code` is said to come from has its definition: code that was generated often has none."""
    try:
        definitions = _definitions("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return False
    return _pick(definitions.get(code.co_firstlineno, ()), code) is not None


def _missing(function: FunctionType, fact: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"the source of `{function.__qualname__}` cannot be found",
        facts=(fact,),
        help="define it in a file or in a notebook cell, or register its text in `linecache.cache`",
    )


def _lines(function: FunctionType) -> list[str]:
    """The lines of the file of `function`, reread if it changed on disk."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return linecache.getlines(file, function.__globals__)


def _changed(function: FunctionType, fact: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"the source of `{function.__qualname__}` is not where it was", facts=(fact,), help="reload the module"
    )


def _refuse_unknown(node: Definition, code: CodeType) -> None:
    if not _UNKNOWN:
        return
    for inner in inside(node):
        if type(inner) in _UNKNOWN:
            at: Any = inner
            raise UnsupportedSyntax(
                f"`{type(inner).__name__}` is newer than the installed gast",
                Span(code.co_filename, at.lineno, at.col_offset, at.end_lineno, at.end_col_offset, code.co_name),
                help="upgrade gast",
            )


# --- which definition


@lru_cache(maxsize=16)
def _definitions(text: str) -> dict[int, list[Definition]]:
    """The functions of a file by the line in which their code starts (that of the first decorator)."""
    found: dict[int, list[Definition]] = {}
    tree = ast.parse(text)
    for node in inside(tree) if "lambda" in text else _statements(tree):
        if isinstance(node, Definition):
            first = node.decorator_list[0] if not isinstance(node, ast.Lambda) and node.decorator_list else node
            found.setdefault(first.lineno, []).append(node)
    return found


def _statements(tree: Any) -> Iterator[Any]:
    """`tree` and all statements in it, with the clauses that hold some."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        for name in _BLOCKS.intersection(node._fields):
            pending += getattr(node, name)


_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})


def _pick(candidates: list[Definition] | tuple[()], code: CodeType, rewritten: bool = False) -> Definition | None:
    """The candidate that `code` was compiled from."""
    same = [
        node for node in candidates if (node.name if not isinstance(node, ast.Lambda) else "<lambda>") == code.co_name
    ]
    if len(same) > 1:
        same = [node for node in same if _agrees(node, code)] or (same if rewritten else [])
    return min(same, key=_extent, default=None)


def _extent(node: Definition) -> tuple[int, int, int]:
    """How much text a definition covers: of nested candidates that all contain the code, the innermost is it."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.end_lineno - node.lineno, node.end_col_offset, -node.col_offset)


def _agrees(node: Definition, code: CodeType) -> bool:
    if sys.version_info >= (3, 11):
        own = node.body if isinstance(node, ast.Lambda) else node  # the body of one lambda can be another
        return all(_inside(own, place) for place in _places(code))
    return _same_code(_compiled(node, code), code)


def _places(code: CodeType) -> Iterator[tuple[int, int]]:
    """Where the instructions of `code` begin; those that stand for no expression are left out."""
    positions: Callable[[], Any] = getattr(code, "co_positions")  # noqa: B009 - absent before 3.11
    for line, _, column, end in positions():
        if line is not None and column is not None and end:
            yield line, column


def _inside(node: ast.expr | ast.stmt, place: tuple[int, int]) -> bool:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset) <= place < (node.end_lineno, node.end_col_offset)


def _compiled(node: Definition, code: CodeType) -> CodeType:
    """`node` compiled where the free variables of `code` are those of an enclosing function."""
    body = ast.Return(node) if isinstance(node, ast.Lambda) else node
    scope = ast.parse(f"def scope({', '.join(filter(str.isidentifier, code.co_freevars))}): pass")
    function = scope.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = [body]
    outer = compile(ast.fix_missing_locations(scope), code.co_filename, "exec", dont_inherit=True)
    return _inner(_inner(outer))


def _inner(code: CodeType) -> CodeType:
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _same_code(left: CodeType, right: CodeType) -> bool:
    """Whether two code objects do the same, wherever they stand."""
    if any(getattr(left, part) != getattr(right, part) for part in ("co_code", "co_argcount", "co_kwonlyargcount")):
        return False
    for part in ("co_names", "co_varnames", "co_freevars", "co_cellvars"):
        if [*map(_unmangled, getattr(left, part))] != [*map(_unmangled, getattr(right, part))]:
            return False
    if len(left.co_consts) != len(right.co_consts):
        return False
    return all(_same_constant(a, b) for a, b in zip(left.co_consts, right.co_consts, strict=True))


def _unmangled(name: str) -> str:
    """`__x` of `_C__x`, which it is in code of a class `C`."""
    is_mangled = name.startswith("_") and not name.startswith("__") and "__" in name
    return "__" + name.partition("__")[2] if is_mangled else name


def _same_constant(a: object, b: object) -> bool:
    if isinstance(a, CodeType) and isinstance(b, CodeType):
        return _same_code(a, b)
    if isinstance(a, str) and isinstance(b, str) and "<locals>" in a and "<locals>" in b:
        return a.rpartition("<locals>")[2] == b.rpartition("<locals>")[2]  # names of inner functions
    return type(a) is type(b) and a == b
