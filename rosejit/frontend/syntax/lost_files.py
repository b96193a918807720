"""Code that says no file it is written in: cloudpickle, from 3.1.3 on, writes `<dynamic-code>` there."""

from types import CodeType, FunctionType

from rosejit.frontend.syntax.code_table import ByCode
from rosejit.frontend.syntax.source import is_written

LOST = "<dynamic-code>"


def settle(function: FunctionType, file: str) -> None:
    """Say again that a function is written in `file`, and what is inside of it."""
    if function.__code__.co_filename != file:
        function.__code__ = _written_in(function.__code__, file)


def find_again(function: FunctionType) -> None:
    """Settle a function that came without us, in the file of its module if it is written there."""
    code, file = function.__code__, function.__globals__.get("__file__")
    found = _FOUND.get(code)
    if found is None and isinstance(file, str) and is_written(made := _written_in(code, file)):
        found = _FOUND.put(code, made)
    function.__code__ = found or code


_FOUND = ByCode[CodeType]()
"""The same for all functions that one code makes: what is known of them goes by it."""


def _written_in(code: CodeType, file: str) -> CodeType:
    inside = tuple([_written_in(each, file) if isinstance(each, CodeType) else each for each in code.co_consts])
    return code.replace(co_filename=file, co_consts=inside)
