"""Turns a function object into the syntax tree of its definition, with positions in the user's own file."""

import ast
import linecache
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax.ast_build import inside
from rosejit.frontend.syntax.code_comparison import Definition
from rosejit.frontend.syntax.gast_convert import converted, gast
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span

_Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

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
    first = None
    for lines in _texts(function):
        try:
            return _found_in(lines, function, rewritten)
        except UnsupportedSyntax as error:
            first = error
    assert first is not None
    raise first


def _found_in(lines: list[str], function: FunctionType, rewritten: bool) -> Source:
    code = function.__code__
    if not lines:
        raise _missing(function, f"it was compiled from {code.co_filename}, which has no text")
    try:
        definitions, imported = _defined_in(lines)
    except SyntaxError as error:
        raise _changed(function, f"{code.co_filename} is not Python any more: {error.msg}") from None
    found = _pick(definitions.get(code.co_firstlineno, ()), code, imported, rewritten)
    if found is None and code.co_filename.startswith("<"):
        raise _missing(function, f"it is not in the text of {code.co_filename}")
    if found is None:
        raise _changed(function, f"no such definition starts in line {code.co_firstlineno} of {code.co_filename}")
    definition = Definition(found, imported)
    if not rewritten and not definition.gave(code):
        raise _edited(function, definition, lines)
    _refuse_unknown(found, code)
    text = "".join(lines[code.co_firstlineno - 1 : found.end_lineno])
    return Source(code.co_filename, function.__qualname__, converted(found), text)


def is_written(code: CodeType) -> bool:
    """Whether the text that `code` is said to come from has its definition: code that was generated often has none."""
    try:
        definitions, imported = _defined_in(linecache.getlines(code.co_filename))
    except SyntaxError:
        return False
    rewritten = any("@" in name for name in code.co_freevars)  # by us, inside of a function that was
    return _pick(definitions.get(code.co_firstlineno, ()), code, imported, rewritten) is not None


def _where_to_define(file: str) -> str:
    """What to do about a function whose text nobody has kept, by the way it came to be."""
    if file == "<stdin>" or file.startswith("<python-input"):
        return "define it in a file, and import it: the prompt of Python keeps no text before 3.13; IPython's does"
    if file in ("<string>", "<timed exec>", "<timed eval>"):
        return (
            "define it in a file: code of `python -c`, `exec` and `%%time` keeps no text; in a notebook define it in "
            "one cell, and time the call in another; or register the text in `linecache.cache`"
        )
    return "define it in a file or in a notebook cell, or register its text in `linecache.cache`"


def _missing(function: FunctionType, fact: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"the source of `{function.__qualname__}` cannot be found",
        facts=(fact,),
        help=_where_to_define(function.__code__.co_filename),
    )


def _texts(function: FunctionType) -> Iterator[list[str]]:
    """The lines of the file of `function`: as they were read before, then as they are on disk if that is newer."""
    file = function.__code__.co_filename
    held = linecache.getlines(file, function.__globals__)
    if held:
        yield held
    linecache.checkcache(file)
    now = linecache.getlines(file, function.__globals__)
    if now is not held or not held:
        yield now


def _changed(function: FunctionType, fact: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"the source of `{function.__qualname__}` is not where it was", facts=(fact,), help="reload the module"
    )


def _edited(function: FunctionType, found: Definition, lines: list[str]) -> UnsupportedSyntax:
    """The text is not what the function was compiled from."""
    code = function.__code__
    line, said, ran = found.first_difference(code)
    text = lines[line - 1].strip() if line <= len(lines) else ""
    return UnsupportedSyntax(
        f"`{function.__qualname__}` is not what its source says: the file was edited after it was imported",
        facts=(
            f"line {line} of {code.co_filename} is `{text}`, and compiles to `{said}`",
            f"the function that Python runs has `{ran}` there",
        ),
        help="reload the module (`importlib.reload`), or run the cell or the program again",
    )


def _refuse_unknown(node: _Node, code: CodeType) -> None:
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


_Defined = tuple[dict[int, list[_Node]], frozenset[str]]
_defined: dict[int, tuple[list[str], _Defined]] = {}
"""What is known of lists of lines, by which one it is: `linecache` gives the same list until a file has changed, and to
join and compare 10,000 lines for each function in them would take longer than the function."""


def _defined_in(lines: list[str]) -> _Defined:
    known = _defined.get(id(lines))
    if known is not None and known[0] is lines:
        return known[1]
    found = _definitions("".join(lines))
    while len(_defined) >= _FILES:
        _defined.pop(next(iter(_defined)), None)
    _defined[id(lines)] = lines, found
    return found


_FILES = 16
"""Of how many files the definitions are kept."""


@lru_cache(maxsize=_FILES)
def _definitions(text: str) -> _Defined:
    """The functions of a file by the line in which their code starts (that of the first decorator), and the names that
    the module imports."""
    found: dict[int, list[_Node]] = {}
    tree = ast.parse(text)
    for node in inside(tree) if "lambda" in text else _statements(tree):
        if isinstance(node, _Node):
            first = node.decorator_list[0] if not isinstance(node, ast.Lambda) and node.decorator_list else node
            found.setdefault(first.lineno, []).append(node)
    imports = [node for node in _statements(tree, _SCOPES) if isinstance(node, ast.Import | ast.ImportFrom)]
    return found, frozenset((name.asname or name.name).split(".")[0] for node in imports for name in node.names)


def _statements(tree: Any, closed: tuple[type, ...] = ()) -> Iterator[Any]:
    """`tree` and all statements in it, with the clauses that hold some; what is inside `closed` ones is left out."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        for name in () if isinstance(node, closed) else _BLOCKS.intersection(node._fields):
            pending += getattr(node, name)


_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _pick(
    candidates: list[_Node] | tuple[()], code: CodeType, imported: frozenset[str], rewritten: bool = False
) -> _Node | None:
    """The candidate that `code` was compiled from."""
    same = [
        node for node in candidates if (node.name if not isinstance(node, ast.Lambda) else "<lambda>") == code.co_name
    ]
    if len(same) > 1:
        same = [node for node in same if _agrees(node, code, imported)] or (same if rewritten else [])
    if len(same) > 1 and not rewritten:  # one inside another, or constants, whose code has no place
        same = [node for node in same if Definition(node, imported).gave(code)] or same
    return min(same, key=_extent, default=None)


def _extent(node: _Node) -> tuple[int, int, int]:
    """How much text a definition covers: of nested candidates that all contain the code, the innermost is it."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.end_lineno - node.lineno, node.end_col_offset, -node.col_offset)


def _agrees(node: _Node, code: CodeType, imported: frozenset[str]) -> bool:
    if sys.version_info >= (3, 11):
        own = node.body if isinstance(node, ast.Lambda) else node  # the body of one lambda can be another
        return all(_inside(own, place) for place in _places(code))
    return Definition(node, imported).gave(code)


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
