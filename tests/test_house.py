"""The house rules that a machine can check: sizes, complexity, docstrings of modules, inheritance, words."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "rosejit").rglob("*.py"))

MODULE_LINES = 640
FUNCTION_LINES = 40
TABLE_LINES = 80  # of a function that is mostly one `match`: a case for each form of the language
PUBLIC_METHODS = 10
COMPLEXITY = 10

# "module" or "module:function" -> the limit it may reach. Raise one only in a commit that says why.
EXCEPTIONS: dict[str, int] = {
    # hooks of the rewriting templates (docs/frontend.md), each a name that rewritten code calls
    "rosejit/frontend/control/short_circuit.py:Circuits": 13,
    "rosejit/frontend/session/session.py:Session": 15,
    "rosejit/frontend/values/tape.py:Tape": 24,
    # a method a form of the IR, and what `transforms/series` has another way
    "rosejit/transforms/autodiff/jvp.py:Forward": 30,
    "rosejit/transforms/jacobians/multi_tangent.py:Widener": 12,
    # what a kind of container is, a method a question: adding one is adding one record
    "rosejit/container_kind.py:Container": 25,
    # NumPy's methods, under NumPy's names
    "rosejit/plain/ndarray.py:ndarray": 26,
    # what users call, and what the other modules of `api` need of it
    "rosejit/api/function.py:Function": 12,
}

BANNED_NAMES = {"utils", "util", "helpers", "common", "base", "misc", "manager", "handler"}
BANNED_WORDS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError|raise TypeError$")
BARE_EXEMPTION = re.compile(r"#\s*(noqa|type:\s*ignore)\s*(\[[\w,-]+\]|:\s*[A-Z0-9, ]+)?\s*(.*)$")

Callable = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def each_module(function):
    return pytest.mark.parametrize("path", MODULES, ids=name)(function)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Callable]]:
    """Every function of `tree` with its dotted name, nested ones too."""
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name, node
        yield from functions(node, f"{prefix}{node.name}." if named else prefix)


def own_nodes(function: Callable) -> Iterator[ast.AST]:
    """The nodes of `function` less those of the functions and classes inside it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))


def complexity(function: Callable) -> int:
    """Ruff's C901, but for a whole `match`, which counts as one decision: it is how this project writes a table."""
    branching = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.Match)
    return 1 + sum(isinstance(node, branching) for node in own_nodes(function))


def length(function: Callable) -> int:
    """Lines of `function`, its docstring and the functions inside it apart."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        doc = function.body[0]
        lines -= (doc.end_lineno or doc.lineno) - doc.lineno + 1
    inner = [node for node in own_nodes(function) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return lines - sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in inner)


def lines_allowed(function: Callable) -> int:
    tables = [node for node in function.body if isinstance(node, ast.Match)]
    lines = sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in tables)
    return TABLE_LINES if lines > 0.7 * length(function) else FUNCTION_LINES


def over(path: Path, measure, allowed) -> list[str]:
    """The functions of `path` for which `measure` passes what is `allowed`, in words."""
    found = []
    for function, node in functions(parse(path)):
        key = f"{name(path)}:{function}"
        size, limit = measure(node), EXCEPTIONS.get(key, allowed(node))
        if size > limit:
            found.append(f"{key} (line {node.lineno}): {size}, allowed {limit}")
    return found


@each_module
def test_modules_are_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    allowed = EXCEPTIONS.get(name(path), MODULE_LINES)
    assert lines <= allowed, f"{name(path)} has {lines} lines, allowed {allowed}: it has two jobs"


@each_module
def test_functions_are_short(path):
    assert not over(path, length, lines_allowed)


@each_module
def test_functions_are_simple(path):
    assert not over(path, complexity, lambda function: COMPLEXITY)


@each_module
def test_classes_are_small(path):
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):  # inside a module: a method a form
            # a property and its setter are one
            public = {f.name for f in node.body if isinstance(f, Callable) and not f.name.startswith("_")}
            allowed = EXCEPTIONS.get(f"{name(path)}:{node.name}", PUBLIC_METHODS)
            assert len(public) <= allowed, f"{node.name} has {len(public)} public methods"


@each_module
def test_modules_say_what_they_are_for(path):
    assert ast.get_docstring(parse(path)), f"{name(path)} has no docstring: one sentence, what it turns into what"


@each_module
def test_names_of_modules_say_something(path):
    assert path.stem not in BANNED_NAMES


@each_module
def test_nothing_is_left_for_later(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [f"{name(path)}:{i}: {line.strip()}" for i, line in enumerate(lines, 1) if BANNED_WORDS.search(line)]
    assert not found


@each_module
def test_exemptions_have_a_code_and_a_reason(path):
    for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        exemption = BARE_EXEMPTION.search(line)
        if exemption:
            assert exemption[2], f"{name(path)}:{i}: an exemption without a code"
            assert exemption[3], f"{name(path)}:{i}: an exemption without a reason on the line"


def test_inheritance_is_one_deep():
    """A class of ours has no grandparent of ours; errors, `_`-named markers of theirs and NumPy's classes excepted."""
    bases: dict[str, set[str]] = {}
    for path in MODULES:
        if path.name == "errors.py" or path.parent.name == "plain":
            continue
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {b.id for b in node.bases if isinstance(b, ast.Name)}
    deep = {c: p for c, parents in bases.items() for p in parents if p in bases and bases[p] & bases.keys()}
    assert not deep


def test_exceptions_are_still_needed():
    gone = [key for key in EXCEPTIONS if not (ROOT / key.split(":")[0]).exists()]
    assert not gone


MIRRORS = {"creation", "integer", "linalg", "manipulation", "reductions", "typing"}
"""Names of two modules that mirror each other (docs/architecture.md, "Rooms")."""


def test_a_module_name_stands_once():
    stems = [path.stem for path in MODULES if path.stem != "__init__"]
    assert {stem for stem in stems if stems.count(stem) > 1} == MIRRORS


QUOTED_FILE = re.compile(r"`((?:[\w.]+/)*\w+\.py)`")


def test_files_that_documents_name_exist():
    """Every `path.py` in backticks, in documents and in the package, is a file: of the package, or from the root on."""
    folders = [ROOT / each for each in ("rosejit", "tests", "benchmarks", "docs", "examples")]  # no environments
    known = [path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("*.py")]
    ends = {"/".join(path.split("/")[k:]) for path in known for k in range(path.count("/") + 1)}
    texts = [*MODULES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    lines = [(name(path), line) for path in texts for line in path.read_text(encoding="utf-8").splitlines()]
    allowed = {"tests/x/test_y.py", "rosejit/x/y.py"}  # stand for any
    missing = [f"{where}: {file}" for where, line in lines for file in QUOTED_FILE.findall(line)
               if file not in ends | allowed]  # fmt: skip
    assert not missing


def test_nothing_that_git_ignores_and_no_link_is_committed():
    """A link `.venv` that somebody commits stands in the way of the commands of README.md."""

    def listed(*options: str) -> list[str]:
        found = subprocess.run(["git", "ls-files", *options], cwd=ROOT, capture_output=True, text=True, check=True)
        return found.stdout.splitlines()

    if not (ROOT / ".git").exists():
        pytest.skip("no checkout of git: a source distribution")
    assert not listed("--cached", "--ignored", "--exclude-standard")
    assert not [line for line in listed("--stage") if line.startswith("120000")]
