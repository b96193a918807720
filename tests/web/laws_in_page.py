"""Runs the laws of tests/test_laws.py with plain arrays in NumPy's place: `run()` gives what each program breaks.

`tests/web/laws.mjs` does so in Pyodide, `python -m tests.web.laws_in_page [START STEP ANSWERS]` on CPython. Importing
this changes nothing; `run` takes NumPy's place in the process. What CPython itself gives is asked of plain arrays too,
but for the programs in ANSWERS, which tests/web/answers.py writes.
"""

import dataclasses
import importlib
import json
import operator
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from rosejit import plain
from rosejit.plain import typing

LAWS = (
    "test_the_answer_is_the_known_one",
    "test_the_interpreter_gives_the_bits_of_cpython",
    "test_wasm_gives_the_bits_of_the_interpreter",
    "test_the_gradient_is_the_known_one",
    "test_what_users_call_gives_the_bits_of_the_interpreter",
)


def to_order_2(program: Any, call: Any) -> None:
    """The laws of derivatives, of compiled code: the interpreter is the same one everywhere."""
    machines, laws = importlib.import_module("tests.backends"), importlib.import_module("tests.laws")
    compiled: dict[Any, Callable[[Any], Any]] = {}

    def engine(f: Any, args: Any) -> Any:
        if f not in compiled:
            compiled[f] = machines.wasm(f)
        return compiled[f](args)

    function, args = machines.staged(program.function, call)
    smooth = program.differences and not any(call is kink for kink in program.kinks)
    laws.check_laws(function, args, order=2, run=engine, differences=smooth)


def failures(laws: list[Callable[[Any, Any], None]], program: Any) -> list[str]:
    """The laws that a program breaks, with the first line of what they say."""
    found: list[str] = []
    for call in (*program.calls, *program.kinks):
        for law in laws:
            try:
                law(program, call)
            except Exception as error:
                at = traceback.extract_tb(error.__traceback__)[-1]
                text = f"{type(error).__name__}: {error}".partition("\n")[0]
                found.append(f"{law.__name__}: {text} ({at.filename.rpartition('/')[2]}:{at.lineno})")
    return found


def run(start: int = 0, step: int = 1, answers: str = "") -> str:
    """The programs, each with what it breaks, as JSON; `answers` is the text that `tests.web.answers` writes."""
    sys.modules |= {"numpy": plain, "numpy.typing": typing}  # the programs import them
    tests: Any = importlib.import_module("tests.test_laws")
    recorded: dict[str, dict[str, list[Any]]] = json.loads(answers or "{}")
    by_plain_arrays = tests.plainly
    found: dict[str, Any] = {}
    for program in tests.PROGRAMS[start::step]:
        asked, tests.plainly = program, by_plain_arrays
        if program.name in recorded:
            calls, given = [*program.calls, *program.kinks], recorded[program.name]
            tests.plainly = lambda _, call, calls=calls, given=given["plain"]: answer(given, calls, call)
            if given["known"]:
                asked = dataclasses.replace(
                    program, answer=lambda *call, calls=calls, given=given["known"]: answer(given, calls, call)
                )
        began = time.perf_counter()
        broken = failures([*(getattr(tests, law) for law in LAWS), to_order_2], asked)
        found[program.name] = {"broken": broken, "seconds": time.perf_counter() - began}
    return json.dumps(found)


def answer(given: list[Any], calls: list[Any], call: Any) -> Any:
    """What was given for that call: a number, or an array."""
    value = next(value for value, one in zip(given, calls, strict=True) if all(map(operator.is_, one, call)))
    return plain.array(value) if isinstance(value, list) else value


if __name__ == "__main__":
    start, step, *path = sys.argv[1:] or (0, 1)
    text = "".join(open(file).read() for file in path)
    given = json.loads(run(int(start), int(step), text))
    broken = {name: each["broken"] for name, each in given.items() if each["broken"]}
    for name, texts in broken.items():
        print(name, *texts[:2], sep="\n    ")
    print(f"{len(given) - len(broken)} of {len(given)} programs obey")
