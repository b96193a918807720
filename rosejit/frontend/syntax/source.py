"""Turns a function object into the syntax tree of its definition, with positions in the user's own file."""

import ast
import itertools
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import Any

from rosejit.errors import UnsupportedSyntax
from rosejit.frontend.syntax.ast_build import inside
from rosejit.frontend.syntax.code_comparison import Definition, every
from rosejit.lazy_dataclass import dataclass
from rosejit.span import Span

_Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_KNOWN = {
    "AnnAssign", "Assert", "Assign", "AsyncFor", "AsyncFunctionDef", "AsyncWith", "Attribute", "AugAssign", "Await",
    "BinOp", "BoolOp", "Break", "Call", "ClassDef", "Compare", "Continue", "Delete", "Dict", "DictComp", "Expr", "For",
    "FormattedValue", "FunctionDef", "GeneratorExp", "Global", "If", "IfExp", "Import", "ImportFrom", "Interpolation",
    "JoinedStr", "Lambda", "List", "ListComp", "Match", "Name", "NamedExpr", "Nonlocal", "Pass", "Raise", "Return",
    "Set", "SetComp", "Slice", "Starred", "Subscript", "TemplateStr", "Try", "TryStar", "Tuple", "TypeAlias", "UnaryOp",
    "While", "With", "Yield", "YieldFrom", "expr", "stmt",
}  # fmt: skip
# Old kinds of constants are classes still, and no parser makes them.
_UNKNOWN = {
    node
    for name, node in vars(ast).items()
    if isinstance(node, type) and issubclass(node, ast.expr | ast.stmt) and not issubclass(node, ast.Constant)
    if name not in _KNOWN
}
"""What a newer Python may have."""


@dataclass(slots=True, frozen=True)
class Source:
    """The definition of one function; `node` is the parser's, which others have too: nothing in it is changed."""

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
    alone = _alone(lines, code)
    if alone is not None and (rewritten or Definition(alone, _imported_in(lines)).gave(code)):
        return _source(function, alone, lines)
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
    return _source(function, found, lines)


def _source(function: FunctionType, found: _Node, lines: list[str]) -> Source:
    code = function.__code__
    _refuse_unknown(found, code)
    text = "".join(lines[code.co_firstlineno - 1 : found.end_lineno])
    return Source(code.co_filename, function.__qualname__, found, text)


def is_written(code: CodeType) -> bool:
    """Whether the text that `code` is said to come from has its definition: code that was generated often has none."""
    lines = linecache.getlines(code.co_filename)
    if _alone(lines, code) is not None:
        return True
    try:
        definitions, imported = _defined_in(lines)
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
                f"`{type(inner).__name__}` is newer than this rosejit",
                Span(code.co_filename, at.lineno, at.col_offset, at.end_lineno, at.end_col_offset, code.co_name),
                help="upgrade rosejit, or write it as older versions of Python have it",
            )


# --- which definition


def _alone(lines: list[str], code: CodeType) -> _Node | None:
    """The `def` that begins where `code` does and has its name, from its own lines: files are long. None where these
    cannot be told from those below, and of lambdas."""
    file, key = _file_of(lines), (code.co_firstlineno, code.co_name)
    if key not in file.alone:
        none = code.co_name == "<lambda>" or code.co_firstlineno > len(lines) or file.whole is not None
        file.alone[key] = None if none else _parsed_alone(lines, code)
    return file.alone[key]


def _parsed_alone(lines: list[str], code: CodeType) -> _Node | None:
    first = code.co_firstlineno
    start = lines[first - 1]
    margin = start[: len(start) - len(start.lstrip())]
    last = max(line for each in every(code) for _, _, line in each.co_lines() if line is not None)
    before = "\n" * (first - 2) + "if 1:\n" if margin else "\n" * (first - 1)
    for end in itertools.islice(_ends(lines, last, len(margin)), _TRIALS):
        try:
            tree = ast.parse(before + "".join(lines[first - 1 : end]))
        except SyntaxError:  # a line inside of a text, or of brackets
            continue
        body = tree.body[0].body if margin and isinstance(tree.body[0], ast.If) else tree.body
        found = body[0]
        if len(body) == 1 and isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and found.name == code.co_name:
            return found
        return None
    return None


_TRIALS = 4


def _ends(lines: list[str], last: int, margin: int) -> Iterator[int]:
    """Before which lines, after the last one that is run, a block of that margin may end."""
    for number in range(last, len(lines)):
        line = lines[number]
        words = line.lstrip()
        if words and not words.startswith("#") and len(line) - len(words) <= margin:
            yield number
    yield len(lines)


def _imported_in(lines: list[str]) -> frozenset[str]:
    """The names that the imports of a module give, as far as these are a line each. Python asks since 3.12."""
    if sys.version_info < (3, 12):
        return frozenset()
    file = _file_of(lines)
    if file.imported is None:
        found = [_IMPORT.match(line) for line in lines if line.startswith(("import ", "from "))]
        parts = [part.split() for match in found if match for part in match[1].split(",")]
        file.imported = frozenset(words[-1].split(".")[0] for words in parts if words)
    return file.imported


_IMPORT = re.compile(r"(?:from\s+\S+\s+)?import\s+([^#]*)")


_Defined = tuple[dict[int, list[_Node]], frozenset[str]]


@dataclass(slots=True, eq=False)
class _File:
    """What is known of a list of lines."""

    lines: list[str]
    whole: _Defined | None = None
    alone: dict[tuple[int, str], _Node | None] = field(default_factory=dict[tuple[int, str], _Node | None])
    """By line and name, what `_alone` has found."""
    imported: frozenset[str] | None = None


_files: dict[int, _File] = {}
"""By which list it is: `linecache` gives the same one until a file has changed, and to join and compare 10,000 lines
for each function in them would take longer than the function."""


def _file_of(lines: list[str]) -> _File:
    known = _files.get(id(lines))
    if known is not None and known.lines is lines:
        return known
    while len(_files) >= _FILES:
        _files.pop(next(iter(_files)), None)
    return _files.setdefault(id(lines), _File(lines))


def _defined_in(lines: list[str]) -> _Defined:
    file = _file_of(lines)
    if file.whole is None:
        file.whole = _definitions("".join(lines))
    return file.whole


_NEW_LINE = re.compile("\r\n|\r|\n")
_FILES = 16
"""Of how many files the definitions are kept."""


@lru_cache(maxsize=_FILES)
def _definitions(text: str) -> _Defined:
    """The functions of a file by the line in which their code starts (that of the first decorator), and the names that
    the module imports."""
    found: dict[int, list[_Node]] = {}
    tree = ast.parse(text)
    imports: list[ast.Import | ast.ImportFrom] = []
    lambdas = frozenset(line for line, words in enumerate(_NEW_LINE.split(text), 1) if "lambda" in words)
    for node, outermost in _statements(tree):
        if outermost and isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(node)
        for each in _functions(node, lambdas):
            first = each.decorator_list[0] if not isinstance(each, ast.Lambda) and each.decorator_list else each
            found.setdefault(first.lineno, []).append(each)
    return found, frozenset((name.asname or name.name).split(".")[0] for node in imports for name in node.names)


def _statements(tree: Any) -> Iterator[tuple[Any, bool]]:
    """All statements of a module, with the clauses that hold some, and whether each stands in no function or class."""
    pending = [(tree, True)]
    while pending:
        node, outermost = pending.pop()
        yield node, outermost
        for name in _blocks_of(node.__class__):
            inside_of = outermost and not isinstance(node, _SCOPES)
            pending += [(each, inside_of) for each in getattr(node, name)]


@cache
def _blocks_of(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name in _BLOCKS)


_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _functions(statement: Any, lambdas: frozenset[int]) -> Iterator[_Node]:
    """The function that a statement defines, and the lambdas in it; `lambdas` are the lines that have some."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement
    if not lambdas:
        return
    blocks = _blocks_of(statement.__class__)
    last: Any = getattr(statement, "end_lineno", None)
    if blocks or not lambdas.isdisjoint(range(statement.lineno, last + 1)):
        kept = {name: value for name, value in ast.iter_fields(statement) if name not in blocks}
        parts = [part for value in kept.values() for part in (value if isinstance(value, list) else [value])]
        for part in parts:
            if isinstance(part, ast.AST):
                yield from (node for node in inside(part) if isinstance(node, ast.Lambda))


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
