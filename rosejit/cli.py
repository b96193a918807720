"""The command line: looks inside functions of a file, exports them, and looks after the disk cache."""

import argparse
import importlib.util
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rosejit
from rosejit import demo
from rosejit.api.decorators import jit
from rosejit.api.programs.lowered import Lowered
from rosejit.api.versions import versions
from rosejit.errors import RoseError
from rosejit.export import export
from rosejit.export.watch import changes
from rosejit.runtime import cache
from rosejit.text import show
from rosejit.transforms.autodiff import derivative_programs


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        print(options.run(options))
    except (RoseError, _UserError) as error:
        print(f"rosejit: {error}", file=sys.stderr)
        return 1
    return 0


class _UserError(Exception):
    """Said without a traceback."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rosejit", description="Look inside rosejit.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    look = commands.add_parser("ir", help="print a function of a file as IR")
    look.add_argument("place", metavar="FILE:FUNCTION", help="where the function is")
    look.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="a Python expression for each argument")
    look.add_argument("--as", dest="form", choices=sorted(_FORMS), default="ir", help="what of it (default: ir)")
    look.set_defaults(run=_look)
    away = commands.add_parser("export", help="write functions of a file as WebAssembly for web pages and node")
    away.add_argument("place", metavar="FILE:FUNCTION[,FUNCTION...]", help="where the functions are")
    away.add_argument(
        "arguments",
        nargs="*",
        metavar="ARGUMENT",
        help="a Python expression for each argument whose shape its hint does not tell: 'rose.ShapeOf(\"n\", 3)'",
    )
    away.add_argument("-o", "--output", default="out", metavar="DIR", help="where to write (default: out)")
    away.add_argument("--math", choices=("kernels", "js"), default="kernels", help="js: call the `Math` of the page")
    away.add_argument("--npm", metavar="NAME", help="make the folder an npm package of that name")
    away.add_argument("--watch", action="store_true", help="write again whenever a Python file beside FILE has changed")
    away.set_defaults(run=_export)
    pages = commands.add_parser("demo", help="build the example pages and serve them on this machine")
    pages.add_argument("-o", "--output", metavar="DIR", help="where to build them (default: a temporary folder)")
    pages.add_argument("-p", "--port", type=int, default=8000, help="where to serve them (default: 8000)")
    pages.add_argument("--pyodide", metavar="DIR", help="the npm package pyodide (default: node_modules/pyodide)")
    pages.add_argument("--no-browser", action="store_true", help="open no browser")
    pages.add_argument("--build-only", action="store_true", help="serve nothing")
    pages.set_defaults(run=_demo)
    told = commands.add_parser("explain", help="what a class of errors means, with a program that ends in it")
    told.add_argument("name", nargs="?", metavar="ERROR", help="its name (default: list all)")
    told.set_defaults(run=_explain)
    kept = commands.add_parser("cache", help="the compiled programs on disk")
    kept.add_argument("action", choices=("info", "clear"))
    kept.set_defaults(run=_cache)
    report = commands.add_parser("versions", help="versions of everything that matters in a bug report")
    report.set_defaults(run=_versions)
    return parser


def _look(options: Any) -> str:
    functions, scope = _functions(options.place)
    if len(functions) > 1:
        raise _UserError("`ir` takes one function")
    given = [_value(text, scope) for text in options.arguments]
    try:
        lowered = jit(functions[0]).lower(*given)
    except TypeError as error:
        raise error if isinstance(error, RoseError) else _UserError(str(error)) from None
    return _FORMS[options.form](lowered)


def _value(text: str, scope: dict[str, Any]) -> Any:
    """What an expression of the user's gives, with the names of the file and `rose`."""
    try:
        return eval(text, {"rose": rosejit, **scope})
    except Exception as error:
        raise _UserError(f"the argument `{text}` cannot be evaluated: {error}") from None


def _export(options: Any) -> str:
    return _watch(options) if options.watch else _exported(options)


def _watch(options: Any) -> str:
    """Export after every change, until Ctrl-C."""
    folder = Path(options.place.rpartition(":")[0]).resolve().parent
    sys.dont_write_bytecode = True  # what was compiled in the second of a change would pass for new
    try:
        for _ in changes(folder):
            try:
                print(_exported(options), flush=True)
            except (RoseError, _UserError) as error:
                print(f"rosejit: {error}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        return "nothing is watched any more"
    raise AssertionError("changes have no end")


def _exported(options: Any) -> str:
    functions, scope = _functions(options.place)
    given = [_value(text, scope) for text in options.arguments]
    named = dict(zip(options.place.rpartition(":")[2].split(","), functions, strict=True))
    try:
        exported = functions[0] if [f.__name__ for f in functions] == [*named] and len(named) == 1 else named
        files = export(exported, *given, path=options.output, math=options.math, npm=options.npm)
    except OSError as error:
        raise _UserError(f"nothing can be written to `{options.output}`: {error.strerror}") from None
    return "\n".join(f"{file}  {file.stat().st_size:,} bytes" for file in files)


def _demo(options: Any) -> str:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.output or temporary)
        pyodide = demo.find_pyodide(options.pyodide)
        if pyodide is None and options.pyodide:
            raise _UserError(f"`{options.pyodide}` is not the folder of the npm package pyodide")
        if pyodide is None:
            print(demo.WITHOUT_PYODIDE, file=sys.stderr)
        demo.build(folder, pyodide)
        if not options.build_only:
            try:
                demo.serve(folder, options.port, not options.no_browser)
            except (OSError, OverflowError):
                help = "is something else served there? Choose another with `--port`, or 0 for any"
                raise _UserError(f"nothing can be served at port {options.port}: {help}") from None
    return f"the pages are in {folder}" if options.output else ""


def _functions(place: str) -> tuple[list[Any], dict[str, Any]]:
    """The functions that `FILE:FUNCTION,...` names, and the names of the file."""
    file, _, names = place.rpartition(":")
    if not file or not Path(file).is_file():
        raise _UserError(f"`{place}` names no function: write FILE:FUNCTION, and FILE must exist")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except RoseError:
        raise
    except Exception as error:
        raise _UserError(f"`{file}` cannot be run\n{_described(error, file)}") from None
    found = [getattr(module, name, None) for name in names.split(",")]
    for name, function in zip(names.split(","), found, strict=True):
        if not callable(function):
            raise _UserError(f"`{file}` has no function `{name}`")
    return found, vars(module)


def _described(error: Exception, file: str) -> str:
    """A traceback that begins in the file of the user."""
    frames = error.__traceback__
    while frames is not None and Path(frames.tb_frame.f_code.co_filename).resolve() != Path(file).resolve():
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip()


def _halves(lowered: Lowered, half: str) -> str:
    f = lowered.ir.function
    return show(getattr(derivative_programs.vjp_programs(f, derivative_programs.differentiable(f)), half))


def _tangents(lowered: Lowered) -> str:
    f = lowered.ir.function
    return show(derivative_programs.pushforward(f, derivative_programs.differentiable(f)))


_FORMS: dict[str, Callable[[Lowered], str]] = {
    "ir": lambda lowered: str(lowered.ir),
    "jvp": _tangents,
    "fwd": lambda lowered: _halves(lowered, "forward"),
    "bwd": lambda lowered: _halves(lowered, "pullback"),
    "wat": lambda lowered: lowered.wat(),
}


_ERRORS = (Path(__file__).parent / "pages" / "errors.md", Path(__file__).parent.parent / "docs" / "errors.md")
"""Where the page of errors is in what is installed, and where in the source of rosejit."""


def _explain(options: Any) -> str:
    page = next(place for place in _ERRORS if place.is_file()).read_text(encoding="utf-8")
    head, *sections = re.split(r"^## (?!What is refused)", page, flags=re.MULTILINE)
    found = {text.partition("\n")[0]: text for text in sections} | {"RoseError": head.removeprefix("# ")}
    if options.name is None:
        return "\n".join(f"{name:24}{_first_sentence(text)}" for name, text in found.items())
    asked = options.name.rpartition(".")[2].lower()
    for name, text in found.items():
        if asked in (name.lower(), name.lower().removeprefix("rose")):
            return _without_fences(text)
    raise _UserError(f"`{options.name}` is no class of errors; `python -m rosejit explain` lists them")


def _first_sentence(section: str) -> str:
    """Of what an entry says, without the class of Python's in parentheses."""
    said = " ".join(section.partition("\n\n")[2].partition("\n\n")[0].splitlines())
    return re.split(r"(?<=\.) ", said.rpartition("`) ")[2], maxsplit=1)[0]


def _without_fences(text: str) -> str:
    """Markdown with its blocks of code set in."""
    lines: list[str] = []
    inside = False
    for line in text.partition("\n## ")[0].rstrip().splitlines():
        if line.startswith("```"):
            inside, line = not inside, ""
        lines.append(f"    {line}" if inside and line else line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip()


def _versions(options: Any) -> str:
    return versions()


def _cache(options: Any) -> str:
    kept = cache.current()
    if options.action == "clear":
        return f"{kept.clear()} programs deleted from {kept.directory}"
    info = kept.info()
    return f"{info.entries} programs, {info.bytes:,} of {info.limit:,} bytes, in {info.directory}"
