"""The calls that a package's own doctests make of its plain functions, as literals."""

import ast
import doctest
import importlib.util
import inspect
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

MOST = 4
"""Calls of one function that are tried."""
_LITERALS = (
    ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


class Call(NamedTuple):
    """One call of a doctest: the text, and code that makes its arguments anew."""

    text: str
    made: Any

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """The arguments, in new lists and dicts."""
        return eval(self.made, {"list": list, "dict": dict})


def imported_copy(package: str, own: list[str], folder: Path) -> ModuleType:
    """The package, imported from a copy outside of `site-packages` and the standard library, as if it were the user's
    own code; so are the packages of `own`, which it imports."""
    for name in [*own, package]:
        top = name.partition(".")[0]
        spec = importlib.util.find_spec(top)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"no module {top} with Python source")
        source = Path(spec.origin)
        if source.name == "__init__.py":
            shutil.copytree(source.parent, folder / top, dirs_exist_ok=True, ignore=_without_tests)
        else:
            shutil.copy(source, folder / source.name)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    tops = {name.partition(".")[0] for name in [*own, package]}
    for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
        del sys.modules[name]
    return importlib.import_module(package)


_without_tests = shutil.ignore_patterns("tests", "__pycache__")


def functions(package: ModuleType) -> Iterator[Callable[..., Any]]:
    """The plain functions that a package and its modules define, each once, in the order of their modules."""
    seen: set[Any] = set()
    for module in _modules(package):
        for value in list(vars(module).values()):
            if inspect.isfunction(value) and value.__module__ == module.__name__ and value not in seen:
                seen.add(value)
                yield value


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for found in pkgutil.walk_packages(
        getattr(package, "__path__", []), f"{package.__name__}.", onerror=lambda _: None
    ):
        if ".tests" in found.name or found.name.endswith("__main__"):
            continue
        try:
            yield importlib.import_module(found.name)
        except Exception as error:  # its own dependencies
            print(f"{found.name} is left out: {type(error).__name__}: {error}", file=sys.stderr)


def calls(function: Callable[..., Any]) -> list[Call]:
    """The calls of a function by its own name in its docstring whose arguments are literals, or names of literals."""
    try:
        examples = doctest.DocTestParser().get_examples(function.__doc__ or "")
    except ValueError:  # no doctest, though it looks like one
        return []
    known: dict[str, ast.expr] = {}
    found: dict[str, Call] = {}
    for example in examples:
        try:
            tree = ast.parse(example.source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node.func) == function.__name__:
                _add(found, node, known)
        for statement in tree.body:
            _learn(statement, known)
    return list(found.values())[:MOST]


def _called(function: ast.expr) -> str:
    return getattr(function, "id", None) or getattr(function, "attr", "")


def _add(found: dict[str, Call], node: ast.Call, known: dict[str, ast.expr]) -> None:
    values = [*node.args, *(word.value for word in node.keywords)]
    if any(word.arg is None for word in node.keywords) or not all(_is_literal(v, known) for v in values):
        return
    words = {str(word.arg): word.value for word in node.keywords}
    pair = ast.Tuple(
        [ast.List(node.args, ast.Load()), ast.Dict([ast.Constant(name) for name in words], list(words.values()))],
        ast.Load(),
    )
    whole = ast.fix_missing_locations(ast.Expression(_Replaced(known).visit(pair)))
    found.setdefault(ast.unparse(node), Call(ast.unparse(node), compile(whole, "<doctest>", "eval")))


def _learn(statement: ast.stmt, known: dict[str, ast.expr]) -> None:
    match statement:
        case ast.Assign([ast.Name(name)], value):
            known.pop(name, None)
            if _is_literal(value, known):
                known[name] = _Replaced(known).visit(value)
        case _:
            pass


def _is_literal(node: ast.expr, known: dict[str, ast.expr]) -> bool:
    return all(isinstance(part, _LITERALS) or getattr(part, "id", None) in known for part in ast.walk(node))


class _Replaced(ast.NodeTransformer):
    """Puts literals in place of names."""

    def __init__(self, known: dict[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.known.get(node.id, node)
