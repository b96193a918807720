"""Functions out of a process and into another: by name where that finds them, else by value, by way of cloudpickle.

By value a function takes along the text of the files that it and what it calls are written in: it is staged again where
it arrives, and there may be no such file, as there is none of a notebook's cell.
"""

# Values of users are of any type.

import ast
import functools
import importlib
import linecache
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from rosejit.api.function import Function
from rosejit.api.programs.value_codec import is_importable_main
from rosejit.errors import StagingTypeError
from rosejit.frontend.hints.read_hints import ARRIVED
from rosejit.frontend.syntax.lost_files import LOST, find_again, settle
from rosejit.frontend.syntax.user_code import is_users_class

_CLOUD = "cloudpickle"
_NUMBERS = frozenset({float, int, bool, str, complex})


def reduced(f: Function, named: str | None, made: tuple[Any, ...], fill: Callable[..., Any], state: Any) -> Any:
    """What `f` is pickled as: its name; what makes it, if it was `made` of another function; or a blank function, which
    `fill` makes whole with `state`: the user's functions, the first of them its source, and more."""
    caller = str(sys._getframe(3).f_globals.get("__name__"))  # who asks `Function.__reduce__`, which asks `rebuilt`
    by_value = _CLOUD in caller
    if named is not None and not (f.__module__ == "__main__" and (by_value or not is_importable_main())):
        return named
    if made or caller == "copy":
        return made or (_filled_anew, (fill, state))
    if by_value:
        return _blank, (), (fill, state, *_written(state), _hinted(state)), None, None, _filled
    try:
        cloudpickle = importlib.import_module(_CLOUD)
    except ImportError:
        if named is not None:
            return named
        raise StagingTypeError(
            f"`{f.__name__}` cannot be pickled: it has no name in a module that another process could import",
            help='define it at the top of a module, or let it travel by value: `pip install "rosejit[workers]"`',
        ) from None
    import pickle  # who asks has loaded it

    return pickle.loads, (cloudpickle.dumps(f),)


def _blank() -> Function:
    """Not a function yet. It is known to the pickle by then: what is inside may call it."""
    return Function.__new__(Function)


def _filled_anew(fill: Callable[..., Function], state: Any) -> Function:
    return fill(*state)


def _filled(blank: Function, words: tuple[Any, ...]) -> None:
    fill, state, files, texts, hinted = words
    for function, file in files:
        settle(function, file)
    for file, text in texts.items():
        if "".join(linecache.getlines(file)) != text:
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    for value, names in hinted:
        _known(value, names)
    made = fill(*state)
    blank.__dict__.update(made.__dict__)
    Function.__init__(blank, made.binding, made.options, made.kind, made.rule)


def find_all_again(function: FunctionType) -> None:
    """Settle a function that came without us, and those that it calls."""
    for found in _reached(function) if function.__code__.co_filename == LOST else ():
        if isinstance(found, FunctionType) and found.__code__.co_filename == LOST:
            find_again(found)


# --- what goes along


def _reached(first: Any) -> Iterator[Any]:
    """The user's functions and classes that travel by value with what is given, in order."""
    pending, seen, alive = deque([first]), set[int](), []
    while pending:
        found = pending.popleft()
        if id(found) in seen:
            continue
        seen.add(id(found))
        alive.append(found)  # and its id is that of nothing else
        if not isinstance(found, (FunctionType, type)):
            pending += _held(found)
        elif not _is_named(found):
            yield found
            pending += [*_of_hints(found).values(), *_inside(found)]


def _inside(found: Any) -> Iterator[Any]:
    """What a function or a class has that may be one."""
    if isinstance(found, type):
        yield from (*found.__mro__, *vars(found).values())
        return
    yield from (found.__defaults__, found.__kwdefaults__, vars(found))
    yield from [found.__globals__[name] for name in _names(found.__code__) if name in found.__globals__]
    yield from [cell.cell_contents for cell in found.__closure__ or () if _holds(cell)]


def _held(value: Any) -> Iterator[Any]:
    """What something else has: a container, a method, a function of ours, an instance of a class that goes along."""
    if isinstance(value, (list, tuple, set, frozenset)):
        yield from [each for each in value if type(each) not in _NUMBERS]
    elif isinstance(value, dict):
        yield from [each for each in value.values() if type(each) not in _NUMBERS]
    elif isinstance(value, (staticmethod, classmethod, MethodType)):
        yield from (value.__func__, getattr(value, "__self__", None))
    elif isinstance(value, property):
        yield from (value.fget, value.fset)
    elif isinstance(value, functools.cached_property):
        yield value.func
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, Function):
        yield from (getattr(value, "__wrapped__", None), value.rule)
    elif is_users_class(type(value)) and not _is_named(type(value)):
        yield from (type(value), getattr(value, "__dict__", None))


def _holds(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - whether it can be read is the question
    except ValueError:
        return False
    return True


def _is_named(value: Any) -> bool:
    """Whether a function or a class is found by its name in a module other than the program that runs."""
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    found = found.__wrapped__ if isinstance(found, Function) else found
    return found is value and value.__module__ != "__main__"


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _written(first: Any) -> tuple[list[tuple[FunctionType, str]], dict[str, str]]:
    """The file that each of the functions is written in, and the text of each file."""
    files = [(found, found.__code__.co_filename) for found in _reached(first) if isinstance(found, FunctionType)]
    return files, {file: "".join(linecache.getlines(file)) for _, file in files}


def _hinted(first: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Them, and for each what its hints name, where these are texts: nobody else sees that they are needed."""
    return [(found, names) for found in _reached(first) if (names := _of_hints(found))]


def _of_hints(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    scope = value.__globals__ if isinstance(value, FunctionType) else vars(sys.modules.get(value.__module__, object))
    for hint in getattr(value, "__annotations__", {}).values():
        try:
            names = [node.id for node in ast.walk(ast.parse(hint)) if isinstance(node, ast.Name)]
        except (SyntaxError, TypeError, ValueError):
            continue
        found |= {name: scope[name] for name in names if name in scope}
    return found


def _known(value: Any, names: dict[str, Any]) -> None:
    """Give a function or a class that has arrived what its hints name: a class has no module to look in any more."""
    if isinstance(value, type):
        ARRIVED[value] = names
        return
    for name, named in names.items():
        value.__globals__.setdefault(name, named)
