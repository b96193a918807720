"""A plugin for mypy, which takes `"n"` in `Vec["n"]` for a name of a class: `plugins = ["rosejit.interop.mypy"]`.

Dimensions are taken out of the hints of a file before mypy reads them. Only those of names that the file imports from
rosejit; pyright and other checkers need no plugin.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mypy.nodes import Import, ImportBase, ImportFrom, MypyFile
from mypy.plugin import Plugin, ReportConfigContext
from mypy.types import CallableType, Type, UnboundType

_HINTS = ("Array", "Mat", "Vec")


def plugin(version: str) -> type[Plugin]:
    """What mypy asks a plugin for."""
    return _Dimensions


class _Dimensions(Plugin):
    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        """What differs between writing mypy's cache and reading it, for files that name rosejit: what is read from the
        cache has no parsed file."""
        names_it = ctx.path.endswith(".py") and "rosejit" in Path(ctx.path).read_text("utf-8", "replace")
        return ctx.is_check if names_it else None

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        """None. It is the one place where a plugin is given a file that is parsed and not analysed yet."""
        names = {name for found in file.imports for name in _imported(found)}
        if names:
            _in_statements(file.defs, names)
        return []


def _imported(found: ImportBase) -> Iterable[str]:
    """What an import calls the hints."""
    if isinstance(found, ImportFrom) and found.id == "rosejit":
        return [other or name for name, other in found.names if name in _HINTS]
    if isinstance(found, Import):
        return [f"{other or name}.{hint}" for name, other in found.ids if name == "rosejit" for hint in _HINTS]
    return []


def _in_statements(found: Any, names: set[str]) -> None:
    """Statements, lists of them, and what is in them: mypy's own visitors cannot be subclassed from here."""
    if isinstance(found, (list, tuple)):
        for each in found:
            _in_statements(each, names)
    elif found is not None:
        for own in ("type", "unanalyzed_type"):
            if isinstance(getattr(found, own, None), Type):
                _in_hint(getattr(found, own), names)
        for inside in ("defs", "func", "items", "body", "else_body", "finally_body", "handlers", "bodies"):
            _in_statements(getattr(found, inside, None), names)


def _in_hint(hint: Any, names: set[str]) -> None:
    if isinstance(hint, (list, tuple)):
        for each in hint:
            _in_hint(each, names)
    elif isinstance(hint, UnboundType) and hint.name in names:
        hint.args = ()
    elif hint is not None:
        for inside in ("arg_types", "ret_type") if isinstance(hint, CallableType) else ("args", "items"):
            _in_hint(getattr(hint, inside, None), names)
