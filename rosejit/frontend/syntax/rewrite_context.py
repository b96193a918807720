"""What is known of the function whose text is being rewritten."""

import ast
from collections.abc import Callable
from dataclasses import field
from typing import Any

from rosejit.frontend.syntax.liveness import Flow, Names
from rosejit.frontend.syntax.scope import Scope
from rosejit.frontend.syntax.source import Source
from rosejit.lazy_dataclass import dataclass

_NO_NAMES = Names((), 0)


@dataclass(slots=True)
class Counter:
    """Numbers the temporaries of one translation."""

    last: int = 0

    def next(self, what: str) -> str:
        """A variable that nothing else uses."""
        self.last += 1
        return f"{what}@{self.last}"


@dataclass(slots=True)
class Context:
    """The function whose body is being rewritten."""

    source: Source
    scope: Scope
    flow: Flow
    globals: dict[str, Any]
    statement: Callable[["Context", Any], list[Any]]
    function: Callable[["Context", Any], Any]
    counter: Counter = field(default_factory=Counter)
    tested: frozenset[str] = frozenset()
    outer: "Context | None" = None
    """The function around this one."""
    generator: bool = False
    """Whether a `yield` was met."""
    hidden: frozenset[str] = frozenset()
    """The variables of the comprehensions around."""
    plain: bool = False
    """In decorators, annotations and class bodies: names are resolved, nothing else is rewritten."""
    known: dict[str, bool] = field(default_factory=dict[str, bool])
    """Of globals: whether there is no data behind them."""
    certain: frozenset[str] = field(init=False)
    """The function's own names that no other function shares, bound wherever they are read."""

    def __post_init__(self) -> None:
        self.certain = frozenset(self.scope.bound).difference(self.scope.shared, self.flow.undefined)

    def names(self, node: Any) -> Names:
        """The names that the construct `node` can bind."""
        return self.flow.names.get(id(node), _NO_NAMES)

    def block(self, statements: list[Any]) -> list[Any]:
        """Rewritten statements; never none."""
        made: list[Any] = []
        for node in statements:
            made += self.statement(self, node)
        return made or [ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)]
