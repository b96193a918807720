"""Stages a Python function, runs the IR in the interpreter, and compares with what CPython says."""

import linecache
import sys
import textwrap
from typing import Any

import numpy as np

from rosejit import interp
from rosejit.abi import Leaf, leaves
from rosejit.api.checking.check_compare import differ
from rosejit.errors import RoseError
from rosejit.frontend.session.session import Session, Staged
from rosejit.frontend.signature.binding import signature
from rosejit.frontend.values.pytree import Supply, build
from rosejit.ir.verify import verify
from rosejit.transforms.passes.insert_copies import insert_copies

FILES = iter(range(10**9))


def define(source: str, **scope: Any) -> Any:
    """The last function of a source text, which tracebacks and staging find."""
    text = textwrap.dedent(source)
    name = f"<test {next(FILES)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = dict(scope)
    exec(compile(text, name, "exec"), names)
    made = [value for key, value in names.items() if key not in scope and getattr(value, "__code__", None)]
    return made[-1]


def stage(f: Any, *args: Any, **kwargs: Any) -> Staged:
    """`f` staged for these arguments."""
    known = signature(f)
    return Session().stage(f, known, known.bind(args, kwargs))


def run(staged: Staged, f: Any, *args: Any, **kwargs: Any) -> Any:
    """What the staged program gives."""
    program = insert_copies(staged.function)
    verify(program)
    call = signature(f).bind(args, kwargs)
    found = interp.run(program, [*call.values, *(capture.read() for capture in staged.captures)])
    values = [_value(leaf, value) for leaf, value in zip(leaves(staged.result), found, strict=True)]
    return build(staged.result, Supply(values), Supply(staged.statics))


def _value(leaf: Leaf, value: Any) -> Any:
    return np.asarray(value).reshape(leaf.shape) if leaf.kind == "array" else value


def evaluate(f: Any, *args: Any, **kwargs: Any) -> Any:
    """`f(*args, **kwargs)`, staged and run."""
    return run(stage(f, *args, **kwargs), f, *args, **kwargs)


def agrees(f: Any, *argument_lists: tuple[Any, ...]) -> None:
    """CPython and the staged program give the same, errors included. One program serves all arguments of one shape."""
    programs: dict[Any, Staged] = {}
    for args in argument_lists:
        key = str(signature(f).bind(args, {}).key)
        if key not in programs:
            programs[key] = stage(f, *args)
        try:
            wanted = f(*[np.array(a) if isinstance(a, np.ndarray) else a for a in args])
        except Exception as error:  # the staged program must raise the same
            _check_error(programs[key], f, args, error)
            continue
        found = run(programs[key], f, *args)
        assert same(found, wanted), f"{f.__name__}{args} is {found!r}, CPython says {wanted!r}"


def _check_error(staged: Staged, f: Any, args: tuple[Any, ...], wanted: Exception) -> None:
    try:
        found = run(staged, f, *args)
    except Exception as error:
        base = NameError if isinstance(wanted, NameError) else type(wanted)
        assert isinstance(error, base), f"{error!r} is no {base.__name__}"
        return
    raise AssertionError(f"{f.__name__}{args} is {found!r}, CPython raises {wanted!r}")


def same(a: Any, b: Any) -> bool:
    """Equal in structure and, to the last digits, in numbers: what `rose.check` takes for the same."""
    return differ(a, b, 1e-12) is None


def fault(f: Any, *args: Any) -> RoseError:
    """The error of staging `f` for these arguments, or of running it."""
    try:
        found = evaluate(f, *args)
    except RoseError as error:
        return error
    raise AssertionError(f"no error: {found!r}")


def says(error: RoseError, *words: str, line: str, at: str = "", help: str = "") -> None:
    """An error quotes `line` of its file, with carets under `at`, has all `words`, and says what to do."""
    text = str(error)
    assert error.span is not None, text
    whole = linecache.getline(error.span.file, error.span.line)
    assert whole.strip().startswith(line), f"it quotes {whole.strip()!r}:\n{text}"
    assert f"{error.span.file}:{error.span.line}:{error.span.col + 1} in " in text, text
    marked = whole[error.span.col : error.span.end_col]
    if at and not (sys.version_info < (3, 11) and marked == whole.strip()):  # there instructions know only their line
        assert marked == at, f"it marks {marked!r}"
    for word in words:
        assert word in text, text
    assert help in (error.help or ""), text
