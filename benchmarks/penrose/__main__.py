"""The layouts of Penrose: `python -m benchmarks.penrose [--graphs FOLDER] [--only TEXT] [--repeat N] [--without rose]`.

Every diagram is a program of `rosejit` as a user would write it, of functions and tuples (`program.py`) and, in the
columns of `lists`, over the lists and dicts of the file (`plain_lists.py`). Both are checked against Penrose's own
values, built and called in a warm process, and the first is laid out too, beside npm `rose`, generated C and
TensorFlow.js. Inputs that no stage optimises are known when a program is built. The peers take them as arguments, as
Penrose does.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Row, Table, options
from benchmarks.penrose import peers, plain_lists
from benchmarks.penrose.graphs import files, load
from benchmarks.penrose.ours import Checked, measured

RATIOS = {
    "build/rose": ("build", "rose build"),
    "call/rose": ("call", "rose call"),
    "eval/rose": ("eval", "rose eval"),
    "lists/rose": ("lists call", "rose call"),
    "eval/C": ("eval", "C eval"),
    "layout/rose": ("layout", "rose layout"),
    "tfjs/eval": ("tfjs eval", "call"),
}
"""What is divided by what."""


def compared(path: Path, cache: Path, missing: list[str], repeat: int, budget: float) -> Row:
    """One diagram by everybody."""
    graph = load(path)
    found = measured(graph, cache, repeat)
    checked = Checked(graph).all()
    row: Row = {"diagram": graph.name, "ops": graph.ops, **found}
    of_lists = Checked(graph, plain_lists.energy).all()
    checked.wrong += [f"{name} (lists)" for name in of_lists.wrong]
    row |= {"energy error": checked.energy, "gradient error": checked.gradient, "wrong": " ".join(checked.wrong)}
    if "rose" not in missing:
        row |= {f"rose {key}": value for key, value in peers.npm_rose(path, repeat, budget).items()}
    if "gcc" not in missing:
        row |= {f"C {key}": value for key, value in peers.generated_c(path, budget).items()}
    if "tensorflow.js" not in missing:
        row |= {f"tfjs {key}": value for key, value in peers.tensorflow(path, budget).items()}
    for name, (ours, theirs) in RATIOS.items():
        if row.get(ours) and row.get(theirs):
            row[name] = row[ours] / row[theirs]
    return row


def quartiles(rows: list[Row], key: str) -> Row | None:
    """Of what the rows have under `key`."""
    values = [row[key] for row in rows if row.get(key) is not None]
    if len(values) < 2:
        return None
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"figure": key, "diagrams": len(values), "lower": low, "median": middle, "upper": high}


def main() -> None:
    given = options(__doc__ or "", graphs="", only="", repeat=3, budget=2)
    missing = peers.absent(given.without)
    figures = dict.fromkeys(("build", "lists build", "disk", "layout", "rose build", "rose layout"), ",.1f")
    figures |= dict.fromkeys(("call", "lists call", "eval", "rose call", "rose eval", "C eval"), ",.2f")
    columns = {"diagram": "", "ops": ",", **figures, **dict.fromkeys(RATIOS, ".2f")}
    title = "layouts of Penrose (ms of CPU to build, from the disk cache, and to build and lay out; us a gradient)"
    table = Table("penrose", title, {**columns, "gradient error": ".0e", "wrong": ""})
    folder = Path(given.graphs) if given.graphs else None
    with tempfile.TemporaryDirectory() as directory:
        cache = Path(directory) / "cache"
        os.environ["ROSE_CACHE_DIR"] = str(cache)
        chosen = [path for path in files(folder) if given.only in path.name]
        for path in sorted(chosen, key=lambda path: path.stat().st_size):
            table.add(**compared(path, cache, missing, given.repeat, given.budget))
    table.finish(given.json)
    summary = Table("penrose_quartiles", f"quartiles; absent: {', '.join(missing) or 'nobody'}", {
        "figure": "", "diagrams": ",", "lower": ",.2f", "median": ",.2f", "upper": ",.2f",
    })  # fmt: skip
    for key in [*figures, *RATIOS]:
        found = quartiles(table.rows, key)
        if found is not None:
            summary.add(**found)
    summary.finish()
    if any(row["wrong"] for row in table.rows):
        sys.exit("some values are not those of Penrose")


if __name__ == "__main__":
    main()
