"""Runs the laws of tests/test_laws.py with plain arrays in NumPy's place: `run()` gives what each program breaks.

`tests/web/laws.mjs` does so in Pyodide, `python -m tests.web.laws_in_page [START STEP]` on CPython.
"""

import json
import sys
import time
import traceback
from typing import Any

from rosejit import plain
from rosejit.plain import typing

sys.modules |= {"numpy": plain, "numpy.typing": typing}  # the programs import them

from tests import test_laws as laws  # noqa: E402 - NumPy's place must be taken before
from tests.programs import PROGRAMS  # noqa: E402

OF_A_CALL = (
    laws.test_the_answer_is_the_known_one,
    laws.test_the_interpreter_gives_the_bits_of_cpython,
    laws.test_wasm_gives_the_bits_of_the_interpreter,
    laws.test_the_gradient_is_the_known_one,
    laws.test_what_users_call_gives_the_bits_of_the_interpreter,
)
"""All laws but those of the second order, which compare the interpreter with itself."""


def failures(program: Any) -> list[str]:
    """The laws that a program breaks, with the last line of what they say."""
    found: list[str] = []
    for call in (*program.calls, *program.kinks):
        for law in OF_A_CALL:
            try:
                law(program, call)
            except Exception as error:
                at = traceback.extract_tb(error.__traceback__)[-1]
                text = f"{type(error).__name__}: {error}".partition("\n")[0]
                found.append(f"{law.__name__}: {text} ({at.filename.rpartition('/')[2]}:{at.lineno})")
    return found


def run(start: int = 0, step: int = 1) -> str:
    """The programs, each with what it breaks, as JSON."""
    found: dict[str, Any] = {}
    for program in PROGRAMS[start::step]:
        began = time.perf_counter()
        broken = failures(program)
        found[program.name] = {"broken": broken, "seconds": time.perf_counter() - began}
    return json.dumps(found)


if __name__ == "__main__":
    given = json.loads(run(*map(int, sys.argv[1:])))
    broken = {name: each["broken"] for name, each in given.items() if each["broken"]}
    for name, texts in broken.items():
        print(name, *texts[:2], sep="\n    ")
    print(
        f"{len(given) - len(broken)} of {len(given)} programs obey",
        f"{sum(e['seconds'] for e in given.values()):.1f} s",
    )
