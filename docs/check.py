"""Runs the code blocks of README.md and docs/ and compares what they show: `docs/check.py [--rewrite] [FILE ...]`.

The blocks of a document are one program, run from top to bottom. In a ```python block, `# ->` behind a statement (or on
the lines after it, one each) shows what the statement prints, or the value it has, or `raises Class: first line of the
message`; `...` stands for any text. A ```python jax block runs where there is a package `jax`. A ```rose block is a
program of the IR, which must verify and print itself; with ```rose sugar it must only verify. Any other block is not
run.
"""

import argparse
import ast
import contextlib
import importlib.util
import io
import linecache
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w*)(?: (\w+))?$")
SHOWN = re.compile(r"(?:^|  )# -> ?(.*)$")


@dataclass(slots=True, frozen=True)
class Block:
    """The lines `first` to `last` (from 1, both inside the fence) of a document."""

    language: str
    variant: str
    first: int
    last: int


@dataclass(slots=True, frozen=True)
class Shown:
    """What the document says a statement gives, what it gives, and the lines of the document that say it."""

    lines: tuple[int, ...]
    after: int
    expected: str
    found: str

    @property
    def agrees(self) -> bool:
        """Whether the two are equal, `...` standing for anything."""
        pattern = ".*".join(re.escape(part) for part in self.expected.split("..."))
        return re.fullmatch(pattern, self.found, re.DOTALL) is not None


def blocks(lines: list[str]) -> Iterator[Block]:
    """The fenced blocks of a document."""
    opened: tuple[str, str, int] | None = None
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence and opened is None:
            opened = (fence[1], fence[2] or "", number + 1)
        elif fence and opened is not None:
            yield Block(*opened, number - 1)
            opened = None


def as_module(path: Path, lines: list[str], python: list[Block]) -> tuple[types.ModuleType, ast.Module]:
    """The Python of a document under the document's own name and line numbers, for tracebacks and for staging."""
    kept = {number for block in python for number in range(block.first, block.last + 1)}
    source = [line if number in kept else "" for number, line in enumerate(lines, 1)]
    text = "\n".join(source) + "\n"
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    module = types.ModuleType("document_" + re.sub(r"\W", "_", path.stem))  # `math.md` is not `math`
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    return module, ast.parse(text, str(path))


def outcome(statement: ast.stmt, path: Path, module: types.ModuleType) -> tuple[str, Exception | None]:
    """What `statement` printed, then its value; and the error that ended it."""
    printed, ended = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), str(path), "eval"), module.__dict__)
                if value is not None:
                    print(repr(value))
            else:
                exec(compile(ast.Module([statement], []), str(path), "exec"), module.__dict__)
        except Exception as error:
            ended = error
    return printed.getvalue(), ended


def run(statement: ast.stmt, path: Path, module: types.ModuleType) -> str:
    """What `statement` printed, then its value or its error."""
    text, error = outcome(statement, path, module)
    if error is not None:
        text += f"raises {type(error).__name__}: {str(error).splitlines()[0]}"
    return text.rstrip("\n")


def check_python(path: Path, lines: list[str], python: list[Block]) -> Iterator[Shown]:
    """Every statement that shows something, or that raises without saying so."""
    module, tree = as_module(path, lines, python)
    starts = [statement.lineno for statement in tree.body] + [len(lines) + 1]
    for statement, following in zip(tree.body, starts[1:], strict=True):
        end = statement.end_lineno or statement.lineno
        block_end = next(block.last for block in python if block.first <= end <= block.last)
        says = {n: SHOWN.search(lines[n - 1]) for n in range(end, min(following, block_end + 1))}
        shown = {n: match[1].rstrip() for n, match in says.items() if match}
        found = run(statement, path, module)
        if shown or found.startswith("raises "):
            yield Shown(tuple(shown), end, "\n".join(shown.values()), found)


def check_rose(lines: list[str], block: Block) -> Shown:
    """The program of a ```rose block beside its print."""
    from rosejit import text
    from rosejit.ir.verify import verify

    source = "\n".join(lines[block.first - 1 : block.last])
    numbers = tuple(range(block.first, block.last + 1))
    functions = text.parse_program(source).values()
    for function in functions:
        verify(function)
    printed = source if block.variant == "sugar" else text.show(*functions, alone=True).rstrip("\n")
    return Shown(numbers, block.last, source, printed)


def rewritten(lines: list[str], shown: list[Shown]) -> list[str]:
    """The document with what was found in place of what it showed; `...` that still agree stay."""
    lines = list(lines)
    for item in sorted(shown, key=lambda item: item.after, reverse=True):
        if item.agrees:
            continue
        found = item.found.splitlines()
        for number in reversed([n for n in item.lines if n != item.after]):
            del lines[number - 1]
        bare = SHOWN.sub("", lines[item.after - 1])
        if item.after in item.lines and len(found) == 1:
            lines[item.after - 1] = f"{bare}  # -> {found[0]}"
        else:
            lines[item.after - 1 : item.after] = [bare, *(f"# -> {line}".rstrip() for line in found)]
    return lines


def runs(block: Block) -> bool:
    """Whether it is Python, and the package is there that it is said to need."""
    there = not block.variant or importlib.util.find_spec(block.variant) is not None
    return block.language == "python" and there


def check(path: Path, *, rewrite: bool = False) -> list[Shown]:
    """What `path` shows and what came, statement by statement."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = list(blocks(lines))
    shown = list(check_python(path, lines, [block for block in found if runs(block)]))
    if rewrite:
        path.write_text("\n".join(rewritten(lines, shown)) + "\n", encoding="utf-8")
    return shown + [check_rose(lines, block) for block in found if block.language == "rose"]


def documents() -> list[Path]:
    """README.md, CONTRIBUTING.md and everything under docs/."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> int:
    """Check the documents named on the command line, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rewrite", action="store_true", help="put what was found in place of what was shown")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    options = parser.parse_args()
    wrong = 0
    for path in [file.resolve() for file in options.files] or documents():
        shown = check(path, rewrite=options.rewrite)
        differ = [item for item in shown if not item.agrees]
        wrong += len(differ)
        print(f"{path.relative_to(ROOT)}: {len(shown) - len(differ)} of {len(shown)} as shown")
        for item in differ:
            print(f"  {path}:{item.after}\n    shown: {item.expected!r}\n    found: {item.found!r}")
    return 1 if wrong and not options.rewrite else 0


if __name__ == "__main__":
    sys.exit(main())
