"""Writes docs/errors.md from programs that go wrong: `python docs/generate_errors.py`, with Python 3.11 or later."""

import linecache
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import numpy as np

import rosejit as rose
from rosejit import Array, Mat, Vec
from rosejit.api.programs.compile_and_load import compile_roots
from rosejit.runtime.cache import Cache
from rosejit.runtime.loaded_program import load
from rosejit.text import parse

TARGET = Path(__file__).parent / "errors.md"


@dataclass(frozen=True)
class Case:
    """A program whose last line ends in an error, and when such errors come."""

    name: str
    when: str
    program: str
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> type[rose.RoseError]:
        """The class of the error."""
        return getattr(rose, self.name)


CASES = (
    Case(
        "UnsupportedSyntax",
        "Python that cannot be staged; mostly when the function is decorated. docs/errors.md lists it. "
        "Also a call in a staged branch or loop that has an effect on the host, or of which nobody knows that it has "
        "none.",
        """
        @rose.jit
        async def later(x: float) -> float:
            return x
        """,
    ),
    Case(
        "StagingTypeError",
        "Types disagree: an argument, the sides of a branch, the loop-carried values of a loop, the annotated "
        "result; or a staged "
        "value stands where Python needs to know the value.",
        """
        @rose.jit
        def pick(x: float) -> float:
            label = f"{x:.2f}"
            return len(label)

        pick(1.0)
        """,
    ),
    Case(
        "ShapeError",
        "Shapes, or the names of dimensions, disagree.",
        """
        @rose.jit
        def times(a: Mat["n", "m"], x: Vec["m"]) -> Vec["n"]:
            return a @ x

        times(np.ones((2, 3)), np.ones(4))
        """,
    ),
    Case(
        "NotDifferentiable",
        "The gradient of something that is not one number, or to an integer; a function of `rose.opaque` without a "
        "`.jvp` rule; a rule that is not linear in its tangents.",
        """
        @rose.opaque
        def look_up(x: float) -> float:
            return round(x, 3)

        rose.grad(lambda x: look_up(x) * x)(1.0)
        """,
    ),
    Case(
        "UnboundStagedName",
        "A name is read on a path that did not bind it.",
        """
        @rose.jit
        def root(x: float) -> float:
            if x > 0:
                y = math.sqrt(x)
            return y

        root(-1.0)
        """,
    ),
    Case(
        "RoseAttributeError",
        "An attribute is read on a path that did not set it.",
        """
        class Ball:
            pass

        @rose.jit
        def speed(x: float) -> float:
            ball = Ball()
            if x > 0:
                ball.speed = math.sqrt(x)
            return ball.speed

        speed(-1.0)
        """,
    ),
    Case(
        "UnrollLimit",
        "A loop of the host, or recursion of the host, stages more operations than `ROSE_UNROLL_LIMIT` (10 million).",
        """
        @rose.jit
        def spin(x: float) -> float:
            for k in rose.unroll(range(1_000_000)):
                x = x * 0.5 + k
            return x

        spin(1.0)
        """,
        (("ROSE_UNROLL_LIMIT", "1000"),),
    ),
    Case(
        "UnrollWarning",
        "A loop that is not written as `rose.unroll` is unrolled to more than 20,000 operations, or for more than a "
        "second. Only ever a warning, once: the program is right.",
        """
        with warnings.catch_warnings():
            warnings.simplefilter("error")

            @rose.jit
            def powers(x: float) -> float:
                total = 0.0
                for k in range(5_000):
                    total += x ** k
                return total

            powers(0.5)
        """,
    ),
    Case(
        "RoseIndexError",
        "An index is out of range: told while staging where it is known outside of staged branches and "
        "loops, else when the code runs.",
        """
        @rose.jit
        def entry(x: Vec["n"], i: int) -> float:
            return x[i]

        entry(np.ones(3), 5)
        """,
    ),
    Case(
        "RoseAssertionError",
        "An `assert` about staged values does not hold.",
        """
        @rose.jit
        def share(part: float, whole: float) -> float:
            assert part <= whole, f"the part {part} is more than {whole}"
            return part / whole

        share(3.0, 2.0)
        """,
    ),
    Case(
        "RoseOverflowError",
        "The result of arithmetic of integers does not fit 64 bits, or a real is too large for an integer.",
        """
        @rose.jit
        def factorial(n: int) -> int:
            product = 1
            for k in range(1, n + 1):
                product *= k
            return product

        factorial(21)
        """,
    ),
    Case(
        "RoseZeroDivisionError",
        "An integer is divided by zero. Reals never fault: `1.0 / 0.0` is inf, as in NumPy.",
        """
        @rose.jit
        def pages(items: int, size: int) -> int:
            return items // size

        pages(7, 0)
        """,
    ),
    Case(
        "RoseValueError",
        "NaN is made an integer, by `int`, `round`, `math.floor` and their like.",
        """
        @rose.jit
        def whole(x: float) -> int:
            return round(x)

        whole(math.nan)
        """,
    ),
    Case(
        "RoseFloatingPointError",
        "`ROSE_DEBUG_NANS=1` is set, and an operation gave nan, in a value or in a derivative.",
        """
        @rose.jit
        def norm(x: float) -> float:
            return math.sqrt(x * x)

        rose.grad(norm)(0.0)
        """,
        (("ROSE_DEBUG_NANS", "1"),),
    ),
    Case(
        "RoseRecursionError",
        "A decorated function calls itself until the stack of the thread is exhausted.",
        """
        @rose.jit
        def down(x: float) -> float:
            return 0.0 if x < 0.0 else 1.0 + down(x)

        down(1.0)
        """,
    ),
    Case(
        "RoseMemoryError",
        "The memory of compiled code is exhausted: a call may take nine tenths of the memory that is free, or what "
        "`ROSE_MEMORY_BYTES` says ([settings](settings.md#the-environment)). A program that needs more than 4 GiB is "
        "compiled with [addresses of 64 bits](codegen.md#memory); here no more are allowed.",
        """
        @rose.jit
        def table(x: float) -> float:
            rows = np.zeros((100_000, 10_000))
            rows[0, 0] = x
            for i in rose.range(1, 100_000):
                rows[i, 0] = rows[i - 1, 0] * x
            return rows[99_999, 0]

        table(1.0)
        """,
        environment=(("ROSE_MEMORY_BYTES", str(1 << 32)),),
    ),
    Case(
        "WasmTrap",
        "Anything else that the engine reports, with the name of the function. Here a module was cut short by hand.",
        """
        @rose.jit
        def cut(x: float) -> float:
            return x

        artifact, hosts = compile_roots({"main": cut.lower(1.0).ir.function})
        artifact.wasm = artifact.wasm[:-3]
        load(artifact, hosts)
        """,
    ),
    Case(
        "ParseError",
        "The text of an IR program is not in its grammar (docs/ir.md).",
        """
        parse("def f(x: Real): Real = let y: Real = x + in y")
        """,
    ),
    Case(
        "CacheError",
        "The disk cache cannot be used. Only ever a warning, once: the call goes on with a program compiled anew.",
        """
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Cache("/dev/null/rosejit").load("0" * 64, ())
        """,
    ),
    Case(
        "StagingWarning",
        "A container or an object from outside is changed while a function is staged. Only ever a warning, once a "
        "line. Where the function reads it too, each call stages it again, so that it changes as in Python; what it "
        "only counts with is changed once for each staging. Also a call that gives another thing each time (a clock, "
        "`open`), and is made once for each staging.",
        """
        calls = []

        @rose.jit
        def counted(x: float) -> float:
            calls.append("counted")
            return x

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            counted(1.0)
        """,
    ),
)

REFUSALS: dict[str, str] = {
    "`async def`": "async def f(x): return x",
    "`async def` inside": "async def g(): pass",
    "`await`": "async def g(): await x",
    "`async for`": "async def g():\n        async for y in x: pass",
    "`async with`": "async def g():\n        async with x: pass",
    "`async for` in a comprehension": "async def g(): return [y async for y in x]",
    "`global`": "global counter",
    "`nonlocal` of the function around": "nonlocal outside",
    "`yield` in the function itself": "yield x",
    "`yield from`": "yield from x",
    "`:=` in a side of `a if c else b`": "y = (t := x) if x else 1",
    "`return` in `finally`": "try: pass\n    finally: return x",
    "`break` in `finally`": "for y in x:\n        try: pass\n        finally: break",
    "`continue` in `finally`": "for y in x:\n        try: pass\n        finally: continue",
    "`raise` alone, outside of an `except`": "raise",
    "`globals()`": "y = globals()",
    "`locals()`": "y = locals()",
    "`vars()`": "y = vars()",
    "`dir()`": "y = dir()",
    "`eval()`": "y = eval('x')",
    "`exec()`": "exec('y = x')",
}
if sys.version_info >= (3, 11):
    REFUSALS["`except*`"] = "try: pass\n    except* ValueError: pass"
"""What the fence refuses: names for people, and a statement each. `tests/frontend/syntax/test_fence.py` runs them."""

HEAD = """\
# Errors

Every error is a `rose.RoseError`, and also the class of Python's that you would catch. A message says what is wrong;
then where, with the line; then what was found; then, after `help:`, the edit that mends it. The traceback ends in your
line (`ROSE_FULL_TRACEBACK=1` shows ours too), and from Python 3.11 on with the command that prints the entry of this
page, as `python -m rosejit explain ShapeError`. A failed compile leaves nothing behind, and after an error of running
code the function is usable again. `docs/generate_errors.py` wrote this page, and runs the programs on it.
"""


def scope() -> dict[str, Any]:
    """The names that the programs use."""
    return {
        "rose": rose, "math": math, "np": np, "Array": Array, "Mat": Mat, "Vec": Vec, "compile_roots": compile_roots,
        "load": load, "parse": parse, "warnings": warnings, "Cache": lambda where: Cache(Path(where)),
    }  # fmt: skip


def define(text: str, file: str) -> Callable[[], None]:
    """What runs a program text that tracebacks find."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return lambda: exec(compile(text, file, "exec"), scope())


@contextmanager
def environment(values: tuple[tuple[str, str], ...]) -> Iterator[None]:
    """A block with these variables set."""
    before = {name: os.environ.get(name) for name, _ in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def error_of(case: Case) -> rose.RoseError:
    """The error in which its program ends."""
    with environment(case.environment):
        try:
            define(dedent(case.program).strip() + "\n", "demo.py")()
        except rose.RoseError as error:
            return error
    raise AssertionError(f"the program for {case.name} does not fail")


def refusal_of(statement: str) -> rose.UnsupportedSyntax:
    """The error of a function with this statement."""
    body = statement if statement.startswith("async def f") else f"def f(x):\n    {statement}\n"
    inner = indent("@rose.jit\n" + body, "    ")
    text = f"def make():\n    outside = 1\n{inner}\n\nmake()\n"
    try:
        define(text, "fence.py")()
    except rose.UnsupportedSyntax as error:
        return error
    raise AssertionError(f"{statement!r} is not refused")


MEETS: dict[str, str] = {
    "an array of a list that grows on one side": (
        "q = [1.0]; (q.append(x) if x > 0 else None); return np.linalg.norm(q)"
    ),
    "another kind of item in a list that a staged loop grows": (
        "q = [1.0]\nfor k in rose.range(n):\n    q.append('a')\nreturn q[0]"
    ),
    "a list in a list that a staged loop grows": (
        "q = []\nfor k in rose.range(n):\n    q.append([x])\n    q[k][0] = 2.0\nreturn q[0][0]"
    ),
    "an array of `n` elements": "return np.zeros(n).sum()",
    "a list of `n` lists of many lengths": "return [[x] * k for k in range(n)][0][0]",
    "`min` of texts by a key": "d = {'a': x, 'b': 2.0}\nreturn min(d, key=d.get) + x",
    "many items in order by a key": "return sorted([x * k for k in range(80)], key=lambda v: -v)[0]",
    "`round` to digits that vary": "return round(x, n)",
    "a `for` of the host over a staged range": "return sum(map(float, range(n)))",
    "an index of a staged range": "return range(n)[1] * x",
    "a key of a dict": "return {'a': x, 'b': 2.0}[n]",
    "a number from a text": "return float(f'{x:.2f}')",
    "the length of a text": "return len(str(n)) * x",
    "a method of `float`": "return len(x.hex()) * x",
    "`pow` of reals with a modulus": "return pow(x, 2, 3)",
    "an integer that does not fit": "return n + 2**70",
    "an order of complex numbers": "return 1.0 if x + 1j < 2.0 else x",
    "code in C": "return struct.unpack('d', struct.pack('d', x))[0]",
    "a class of a library": "return float(Decimal(x))",
    "an array without dimensions that two names have": "y = np.where(x > 0, x, 2.0)\nz = y\nz -= 1.0\nreturn y * z",
    "another type in an array without dimensions": "y = np.where(x > 0, n, 2)\ny /= 2.0\nreturn y * x",
    "`np.fromiter`": "return np.fromiter((x * k for k in range(3)), float).sum()",
    "a NumPy function that is not staged": "return np.unique(np.ones(3) * x).sum()",
    "`try` around what can fail": (
        "try:\n    return np.average([1.0, 2.0], weights=[x, x])\nexcept ZeroDivisionError:\n    return 0.0"
    ),
    "`try` around an index": "try:\n    return np.array([1.0, x])[[n, 0]].sum()\nexcept IndexError:\n    return 0.0",
    "an iterator as the result": "return (x * k for k in (1.0, 2.0))",
    "a masked array as the result": "return np.ma.array([1.0, 2.0], mask=[0, 1])",
    "a tuple that is repeated `n` times": "return len((0.0,) * n) * x",
    "`functools.reduce` over a staged range": "return functools.reduce(operator.mul, range(1, n), x)",
    "`itertools.islice` of `n` items": "return sum(itertools.islice([1.0, 2.0], n)) * x",
    "a width of `format` that varies": "if x > 0:\n    raise ValueError('{:{}}'.format(x, n))\nreturn x",
    "`==` with a `Decimal`": "return 1.0 if x == Decimal(2) else x",
    "an index that a list does not have, on one side": "return [1.0][3] if n > 5 else x",
    "a key of a dict on one side": "d = {}\nif x > 0:\n    d['a'] = [x]\nd['b'] = x\nreturn d['b']",
    "all attributes of an object with one on one side": (
        "s = types.SimpleNamespace()\nif x > 0:\n    s.a = x\nreturn len(vars(s)) * x"
    ),
    "printing to a file of the function": (
        "out = io.StringIO()\nif x > 0:\n    print(x, file=out)\nreturn len(out.getvalue()) * x"
    ),
    "`as_integer_ratio`": "return x.as_integer_ratio()[0] * x",
    "`%` of a text with what it cannot show": "if x > 0:\n    raise ValueError('bad %d' % x)\nreturn x",
}
"""Programs of a number `x` and an integer `n` in which Python would need what only running tells."""


def met(body: str) -> rose.RoseError:
    """The error of a function with this body."""
    modules = "import functools, io, itertools, operator, struct, types\nfrom decimal import Decimal\n"
    text = f"{modules}\ndef f(x: float, n: int):\n{indent(body, '    ')}"
    try:
        define(text + "\n\nrose.jit(f)(1.5, 2)\n", "met.py")()
    except rose.RoseError as error:
        return error
    raise AssertionError(f"{body!r} is not refused")


def meetings() -> str:
    """The table of what meets staged values."""
    lines = [
        "## What is refused where it meets a staged value",
        "",
        "Python needs a value, a length or a truth that only running tells: `x` is a staged float, `n` a staged int.",
        "",
        "| construct | message | help |",
        "|---|---|---|",
    ]
    for name, body in MEETS.items():
        error = met(body)
        lines.append(f"| {name} | {error.message} | {error.help or ''} |")
    return "\n".join(lines) + "\n"


def section(case: Case) -> str:
    """An entry of the page."""
    error = error_of(case)
    assert type(error) is case.kind, error
    caught = [base.__name__ for base in case.kind.__mro__[1:] if base.__name__ in _CAUGHT]
    also = ", ".join(f"`{name}`" for name in caught)
    shown = re.sub("[0-9a-f]{64}", "<digest>", str(error))
    settings = "".join(f"# {name}={value}\n" for name, value in case.environment)
    program = dedent(case.program).strip()
    return (
        f"## {case.name}\n\n(Python's {also}) {case.when}\n\n```py\n{settings}{program}\n```\n```text\n{shown}\n```\n"
    )


_CAUGHT = {
    "SyntaxError", "TypeError", "ValueError", "UnboundLocalError", "RuntimeError", "IndexError", "AssertionError",
    "AttributeError", "OverflowError",
    "ZeroDivisionError", "FloatingPointError", "RecursionError", "MemoryError", "OSError", "Warning",
}  # fmt: skip


def refusals() -> str:
    """The list of what the fence refuses."""
    lines = [
        "## What is refused at decoration",
        "",
        f"{len(REFUSALS)} constructs, all those of a function at once. Everything else of Python is staged, "
        "or runs on the host, or is an error where it meets a staged value.",
        "",
        "| construct | message | help |",
        "|---|---|---|",
    ]
    for name, statement in REFUSALS.items():
        error = refusal_of(statement)
        *_, message = error.message, *error.facts  # an `await` stands in an `async def`, which comes first
        lines.append(f"| {name} | {message.rpartition(': ')[2]} | {error.help} |")
    return "\n".join(lines) + "\n"


def text() -> str:
    """The whole page."""
    return "\n".join([HEAD, *map(section, CASES), refusals(), meetings()])


def comparable(page: str) -> str:
    """The page without what differs between versions of Python and machines: columns, carets and large numbers, and
    the syntax of later versions."""
    lines = [line for line in page.splitlines() if not re.fullmatch(r" +\^+", line) and "`except*`" not in line]
    lines = [re.sub(r"^\d+ constructs", "all constructs", line) for line in lines]
    return re.sub(r"\b\d[\d,]{3,}\b", "N", re.sub(r"(\.py:\d+):\d+", r"\1", "\n".join(lines)))


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(f"{len(CASES)} classes, {len(REFUSALS)} constructs refused")
