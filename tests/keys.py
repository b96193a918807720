"""Whether programs that are found by content are the right ones: `python -m tests.keys [--why]`.

Every program of `tests/programs`, its gradient and its Jacobian run in processes that hash texts differently and share
a cache. The first one fills it, the second one stages what it finds there too and compares (`ROSE_KEYS=verify`), the
third one uses it. Prints how many have keys, which of those are wrong, and how many have none, with `--why` for what
reasons.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rosejit as rose
from rosejit.errors import CacheError
from tests.machines import bits
from tests.programs import PROGRAMS

Result = tuple[Any, int, str]
"""What a call gives, how often it was staged, and why it has no key."""
_FORMS: dict[str, Callable[[Any], Any]] = {"value": lambda f: f, "gradient": rose.grad, "jacobian": rose.jacrev}


class _Reasons(logging.Handler):
    """Why the last program has no key."""

    why = ""

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if "has no key: " in said:
            self.why = said.partition("has no key: ")[2]


def results() -> Iterator[tuple[str, Result]]:
    """All calls of all programs in this process."""
    reasons = _Reasons()
    logging.getLogger("rosejit").addHandler(reasons)
    for program in PROGRAMS:
        for form, made in _FORMS.items():
            for k, call in enumerate(program.calls):
                rose.clear_caches()
                reasons.why = ""
                f = made(program.function)
                before = f.cache_info().misses
                try:
                    given = repr(bits(f(*call)))
                except CacheError as error:
                    given = f"wrong: {error}"
                except Exception as error:
                    given = type(error).__name__
                yield f"{program.name}-{form}-{k}", (given, f.cache_info().misses - before, reasons.why)


def run(cache: str, seed: int, keys: str) -> dict[str, Result]:
    """The same of a new process."""
    variables = {"ROSE_CACHE_DIR": cache, "PYTHONHASHSEED": str(seed), "ROSE_KEYS": keys, "ROSE_LOG": "cache"}
    with tempfile.NamedTemporaryFile() as file:
        command = [sys.executable, "-m", "tests.keys", "--into", file.name]
        subprocess.run(command, env={**os.environ, **variables}, capture_output=True, check=True)
        return json.load(file)


def main() -> None:
    if "--into" in sys.argv:
        Path(sys.argv[-1]).write_text(json.dumps(dict(results())))
        return
    with tempfile.TemporaryDirectory() as cache:
        filled, verified, found = [run(cache, k, keys) for k, keys in ((1, "1"), (2, "verify"), (3, "1"))]
    with_keys = [name for name, (_, misses, _) in found.items() if not misses]
    wrong = [name for name in filled if not filled[name][0] == verified[name][0] == found[name][0]]
    failed = [name for name, (given, misses, _) in found.items() if misses and given.isidentifier()]
    without = [name for name in found if name not in {*with_keys, *failed}]
    print(f"{len(PROGRAMS)} programs, {len(found)} calls: {len(with_keys)} with keys, {len(wrong)} wrong, "
          f"{len(without)} without, {len(failed)} that raise")  # fmt: skip
    for name in wrong:
        print(name, filled[name], verified[name], found[name])
    if "--why" in sys.argv:
        for why, count in Counter(found[name][2] for name in without).most_common():
            print(f"{count:5}  {why}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
