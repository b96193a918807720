"""Names that a module imports for type checkers alone: under `if TYPE_CHECKING:`."""

# Modules of users are of any kind: what they hold is asked while staging.

import ast
import functools
import importlib.util
import linecache
import sys
from typing import Any


def names_for_checkers(scope: dict[str, Any]) -> dict[str, Any]:
    """The names that the module of a function, whose globals are `scope`, imports for type checkers, with what they
    stand for where their modules are loaded anyway; else with Any, what an argument is like being asked of it."""
    found: dict[str, Any] = {}
    for name, module, attribute in _imports("".join(linecache.getlines(scope.get("__file__") or ""))):
        try:
            title = importlib.util.resolve_name(module, scope.get("__package__") or None)
        except ImportError:
            title = module
        held = sys.modules.get(title)
        found[name] = held if attribute is None else getattr(held, attribute, Any)
        found[name] = Any if found[name] is None else found[name]
    return found


@functools.lru_cache(maxsize=64)
def _imports(text: str) -> tuple[tuple[str, str, str | None], ...]:
    """A name, a module, and what of it the name stands for: None for the module itself."""
    if "TYPE_CHECKING" not in text:
        return ()
    found: list[tuple[str, str, str | None]] = []
    for statement in ast.walk(ast.parse(text)):
        if isinstance(statement, ast.If) and ast.unparse(statement.test).split(".")[-1] == "TYPE_CHECKING":
            for each in ast.walk(ast.Module(statement.body, [])):
                if isinstance(each, ast.Import):
                    found += [
                        (a.asname or a.name.split(".")[0], a.name if a.asname else a.name.split(".")[0], None)
                        for a in each.names
                    ]
                elif isinstance(each, ast.ImportFrom):
                    module = "." * each.level + (each.module or "")
                    found += [(a.asname or a.name, module, a.name) for a in each.names]
    return tuple(found)
