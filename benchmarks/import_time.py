"""CPU time of `import rosejit` beside `import numpy`, and from there to the first result of a small program.

Each row is a new process, and the rows take turns, so that all see the same machine; figures are medians. Byte code is
cached in a folder of its own: where `PYTHONDONTWRITEBYTECODE` is set, an import is mostly Python's compiler.
`cold`: the disk cache of rosejit is empty; `warm`: it has the program. `more`: than the decorated function alone, which
has imported rosejit.
"""

import statistics
import tempfile
from pathlib import Path

from benchmarks.measure import Row, Table, alone, has, options

DECORATED = """
import rosejit as rose
@rose.jit
def f(x: float, y: float) -> float:
    total = 0.0
    for k in rose.range(10):
        if x > k:
            total = total + x * y
        else:
            total = total - rose.sin(y)
    return total * x
"""

PROGRAMS = {
    "import numpy": "import numpy",
    "import rosejit": "import rosejit",
    "a decorated function": DECORATED,
    "its first result, cold": f"{DECORATED}f(1.5, 2.0)",
    "its first result, warm": f"{DECORATED}f(1.5, 2.0)",
    "its first gradient, cold": f"{DECORATED}rose.grad(f)(1.5, 2.0)",
    "its first gradient, warm": f"{DECORATED}rose.grad(f)(1.5, 2.0)",
    "import jax": "import jax",
}

TIMED = """
import time
start = time.process_time()
exec(compile(open({path!r}).read(), {path!r}, "exec"), {{"__name__": "__main__"}})
spent = time.process_time() - start
import json, sys
print(json.dumps({{"ms": 1e3 * spent, "modules": len(sys.modules),
                  "ours": sum(name.split(".")[0] == "rosejit" for name in sys.modules)}}))
"""


def timed(what: str, folder: Path) -> Row:
    """Milliseconds of one program in a new process."""
    program = folder / "program.py"
    program.write_text(PROGRAMS[what])
    with tempfile.TemporaryDirectory() as empty:
        cache = empty if what.endswith("cold") else str(folder / "cache")
        env = {"ROSE_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "code")}
        return alone(TIMED.format(path=str(program)), env=env)


def measure(times: int, absent: list[str]) -> Table:
    """Medians over `times` processes of each program."""
    columns = {"program": "", "ms": ".1f", "more": ".1f", "of numpy": ".2f", "modules": "", "ours": ""}
    table = Table("import_time", "from the start of the program (ms of CPU)", columns, absent=absent)
    here = [what for what in PROGRAMS if what != "import jax" or "jax" not in absent]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what in here:
            timed(what, folder)  # fills the caches
        turns = [{what: timed(what, folder) for what in here} for _ in range(times)]
    medians = {what: statistics.median(turn[what]["ms"] for turn in turns) for what in here}
    for what, ms in medians.items():
        counted = {key: str(turns[0][what][key]) for key in ("modules", "ours")}
        more = {"more": ms - medians["a decorated function"]} if what.startswith("its") else {}
        table.add(program=what, ms=ms, **more, **{"of numpy": ms / medians["import numpy"]}, **counted)
    return table


def main() -> None:
    """The table."""
    given = options(__doc__ or "", times=15)
    absent = ["jax"] if "jax" in given.without or not has("jax") else []
    measure(given.times, absent).finish(given.json)


if __name__ == "__main__":
    main()
