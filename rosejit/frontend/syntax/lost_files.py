"""Code that says no file it is written in: cloudpickle, from 3.1.3 on, writes `<dynamic-code>` there."""

from types import CodeType, FunctionType

from rosejit.frontend.syntax.source import is_written

LOST = "<dynamic-code>"


def settle(function: FunctionType, file: str) -> None:
    """Say again that a function is written in `file`, and what is inside of it."""
    if function.__code__.co_filename != file:
        function.__code__ = _written_in(function.__code__, file)


def find_again(function: FunctionType) -> None:
    """Settle a function that came without us, in the file of its module if it is written there."""
    file = function.__globals__.get("__file__")
    if isinstance(file, str) and is_written(found := _written_in(function.__code__, file)):
        function.__code__ = found


def _written_in(code: CodeType, file: str) -> CodeType:
    inside = tuple([_written_in(each, file) if isinstance(each, CodeType) else each for each in code.co_consts])
    return code.replace(co_filename=file, co_consts=inside)
