# gast makes its classes when it is imported, so that a checker finds none of them.
from typing import Any

class AST:
    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None
    _fields: tuple[str, ...]
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

def __getattr__(name: str) -> Any: ...
