"""Runs the laws of tests/test_laws.py with plain arrays in NumPy's place: `run()` gives what each program breaks.

`tests/web/laws.mjs` does so in Pyodide, `python -m tests.web.laws_in_page [START STEP]` on CPython. Importing this
changes nothing; `run` takes NumPy's place in the process.
"""

import importlib
import json
import sys
import time
import traceback
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
"""All laws of a call but those of the second order, which compare the interpreter with itself."""


def failures(laws: Any, program: Any) -> list[str]:
    """The laws that a program breaks, with the first line of what they say."""
    found: list[str] = []
    for call in (*program.calls, *program.kinks):
        for law in LAWS:
            try:
                getattr(laws, law)(program, call)
            except Exception as error:
                at = traceback.extract_tb(error.__traceback__)[-1]
                text = f"{type(error).__name__}: {error}".partition("\n")[0]
                found.append(f"{law}: {text} ({at.filename.rpartition('/')[2]}:{at.lineno})")
    return found


def run(start: int = 0, step: int = 1) -> str:
    """The programs, each with what it breaks, as JSON."""
    sys.modules |= {"numpy": plain, "numpy.typing": typing}  # the programs import them
    laws = importlib.import_module("tests.test_laws")
    found: dict[str, Any] = {}
    for program in laws.PROGRAMS[start::step]:
        began = time.perf_counter()
        broken = failures(laws, program)
        found[program.name] = {"broken": broken, "seconds": time.perf_counter() - began}
    return json.dumps(found)


if __name__ == "__main__":
    given = json.loads(run(*map(int, sys.argv[1:])))
    broken = {name: each["broken"] for name, each in given.items() if each["broken"]}
    for name, texts in broken.items():
        print(name, *texts[:2], sep="\n    ")
    print(f"{len(given) - len(broken)} of {len(given)} programs obey")
