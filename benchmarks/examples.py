"""What every example takes to compile and to run: of this tree, and of another one beside it (`--before PATH`).

    git worktree add /tmp/before COMMIT
    python -m benchmarks.examples --before /tmp/before

Each example runs in processes of its own, the trees in turn: first with an empty disk cache, then with what that left.
`run` is CPU inside compiled functions, `compile` all else but imports: the example's own Python, and compiling, also in
the thread that optimises. `--only robot` takes one example, by name or pattern.
"""

import statistics
import tempfile
from pathlib import Path

from benchmarks.measure import ROOT, Row, Table, alone, options

DRIVER = """
import contextlib, io, json, runpy, sys, time
begun = time.process_time()
sys.path.insert(0, sys.argv[2])
import numpy, wasmtime
import rosejit
from rosejit.runtime import compiled
imported = time.process_time()
spent, original = [0.0, 0], compiled.entry_function

def entry_function(*args, **kwargs):
    f = original(*args, **kwargs)

    def timed(*args, **kwargs):
        start = time.thread_time()
        try:
            return f(*args, **kwargs)
        finally:
            spent[0] += time.thread_time() - start
            spent[1] += 1

    return timed

compiled.entry_function = entry_function
sys.argv = sys.argv[1:2]
with contextlib.redirect_stdout(io.StringIO()):
    runpy.run_path(sys.argv[0], run_name="__main__")
run, calls = spent
print(json.dumps({"run": run, "calls": calls, "compile": time.process_time() - imported - run}))
"""


def measured(tree: Path, example: Path) -> tuple[Row, Row]:
    """With an empty disk cache, and with a filled one."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"ROSE_CACHE_DIR": folder, "PYTHONPATH": str(tree)}
        cold, warm = (alone(DRIVER, str(tree / "examples" / example.name), str(tree), env=env) for _ in range(2))
    return cold, warm


def main() -> None:
    """One row an example and tree; the last column is the ratio to the tree before."""
    given = options(__doc__ or "", before="", times=3, only="")
    trees = {"before": Path(given.before), "now": ROOT} if given.before else {"now": ROOT}
    form = dict.fromkeys(["compile", "run", "warm compile", "warm run"], ".1f")
    columns = {"example": "", "tree": "", "calls": ",", **form, "compile ratio": ".2f", "run ratio": ".2f"}
    table = Table("examples", "every example (ms of CPU; `warm`: with a filled disk cache)", columns)
    for example in sorted((ROOT / "examples").glob(f"{given.only or '*'}.py")):
        found: dict[str, list[tuple[Row, Row]]] = {name: [] for name in trees}
        for _ in range(given.times):
            for name, tree in trees.items():
                if (tree / "examples" / example.name).exists():
                    found[name].append(measured(tree, example))
        before: Row = {}
        for name, runs in found.items():
            if runs:
                row = _row(runs)
                table.add(example=example.stem, tree=name, **row, **_ratios(row, before))
                before = before or row
    table.finish(given.json)


def _row(runs: list[tuple[Row, Row]]) -> Row:
    def median(which: int, key: str) -> float:
        return 1e3 * statistics.median([run[which][key] for run in runs])

    warm = {f"warm {key}": median(1, key) for key in ("compile", "run")}
    return {"calls": runs[0][0]["calls"], **{key: median(0, key) for key in ("compile", "run")}, **warm}


def _ratios(row: Row, before: Row) -> Row:
    return {f"{key} ratio": row[key] / before[key] for key in ("compile", "run") if before.get(key)}


if __name__ == "__main__":
    main()
