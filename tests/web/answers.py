"""What CPython and NumPy give for the programs that plain arrays cannot run: `answers()`, for Pyodide to compare."""

import json

import numpy as np

from tests.backends import plainly
from tests.programs import PROGRAMS

NUMPYS = {
    *("folds.compared", "folds.deviations", "folds.differences", "folds.interpolated_points", "folds.norms"),
    *("folds.ranked", "folds.sums_of_some", "folds.weighted", "indexing.copied_here_and_there"),
    *("indexing.masked_statistics", "matrices.convolved", "matrices.cross_products"),
    *("matrices.higher_products", "matrices.stacks_of_systems", "matrices.subscripts"),
    *("named.of_arrays", "named.of_one", "windows.correlated"),
}
"""Programs that as plain Python ask NumPy for what plain arrays have not."""


def answers() -> str:
    """For each of them the results of its calls, and the known answers that ask NumPy, as JSON."""
    found: dict[str, dict[str, list[object]]] = {}
    for program in PROGRAMS:
        if program.name in NUMPYS:
            calls, known = [*program.calls, *program.kinks], program.answer
            found[program.name] = {
                "plain": [np.asarray(plainly(program.function, call)).tolist() for call in calls],
                "known": [] if known is None else [np.asarray(known(*call)).tolist() for call in calls],
            }
    return json.dumps(found)


if __name__ == "__main__":
    print(answers())
