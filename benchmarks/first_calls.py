"""First calls of programs as users wrote them: seconds of CPU of staging alone, of the first value and of the first
gradient, in a new process with an empty cache; and why the longest loop was not rolled, if one was not."""

import json
import sys
import tempfile
import warnings
from typing import Any

import rosejit as rose
from benchmarks.first_call_programs import PLAIN
from benchmarks.measure import Table, alone, once, options, per_call

_CHILD = "import sys; from benchmarks.first_calls import measured; measured(sys.argv[1])"


def measured(name: str) -> None:
    """Print the row of one program."""
    rose.grad(rose.jit(lambda x: x * x))(1.0)
    f, args, argnums = PLAIN[name]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        staging, lowered = once(lambda: rose.jit(f).lower(*args))
        made = rose.jit(f)
        value, _ = once(lambda: made(*args))
        gradient, _ = once(lambda: rose.grad(made, argnums)(*args))
    row: dict[str, Any] = {"program": name, "staging": staging, "value": value, "gradient": gradient}
    row["ops"] = str(lowered.ir).count("let ")
    row["plain"] = 1e3 * per_call(lambda: f(*args), batches=3)
    row["why"] = next((str(w.message).split("it was not rolled: ")[-1].splitlines()[0] for w in told), "")
    print(json.dumps(row))


def main() -> None:
    """The table."""
    given = options(__doc__ or "", programs=";".join(PLAIN))
    columns = {"program": "", "ops": ",", **dict.fromkeys(("staging", "value", "gradient", "plain"), ".2f"), "why": ""}
    table = Table("first_calls", "first calls of programs as users wrote them (s of CPU; plain Python in ms)", columns)
    for name in given.programs.split(";"):
        with tempfile.TemporaryDirectory() as folder:
            table.add(**alone(_CHILD, name, env={"ROSE_CACHE_DIR": folder}))
    table.finish(given.json)


if __name__ == "__main__":
    sys.exit(main())
