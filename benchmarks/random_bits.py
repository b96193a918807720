"""Whether staged generators draw NumPy's bits, in wasmtime and in node.

`python -m benchmarks.random_bits --draws 1000000 --kinds normal,integers`: a seed goes in, and all draws come out.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rosejit as rose
from benchmarks.measure import Table, options

Draw = Callable[[Any, int], Any]
KINDS: dict[str, Draw] = {
    "random": lambda rng, n: rng.random(n),
    "uniform": lambda rng, n: rng.uniform(-1.0, 2.5, n),
    "standard_normal": lambda rng, n: rng.standard_normal(n),
    "normal": lambda rng, n: rng.normal(1.0, 0.3, n),
    "standard_exponential": lambda rng, n: rng.standard_exponential(n),
    "exponential": lambda rng, n: rng.exponential(3.0, n),
    "integers": lambda rng, n: rng.integers(0, 10, n),
    "rejected halves": lambda rng, n: rng.integers(-5, 3 * 10**9, n),
    "halves": lambda rng, n: rng.integers(0, 2**32, n),
    "rejected words": lambda rng, n: rng.integers(-3 * 10**18, 3 * 10**18, n),
    "words": lambda rng, n: rng.integers(-(2**63), 2**63, n),
    "choice": lambda rng, n: rng.choice(1000, n),
    "choice by weight": lambda rng, n: rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4]),
    "sample": lambda rng, n: rng.choice(n, n // 2, replace=False),
    "few of many": lambda rng, n: rng.choice(n, n // 100, replace=False),
    "permutation": lambda rng, n: rng.permutation(n),
}
SCRIPT = """
import {{ writeFileSync }} from "node:fs";
import load from {module};
const program = await load();
for (const name of {names}) {{
  const found = program[name]({seed});
  writeFileSync({folder} + "/" + name, new Uint8Array(found.buffer, found.byteOffset, found.byteLength));
}}
"""


def program(draw: Draw, count: int) -> rose.Function:
    """`count` draws of the generator that a seed makes."""

    def drawn(seed: int):
        return draw(np.random.default_rng(seed), count)

    return rose.jit(drawn)


def differing(names: list[str], count: int, seed: int, node: str | None) -> dict[str, tuple[int, int | None]]:
    """For each kind how many draws are not NumPy's in wasmtime, and in node where there is one."""
    programs = {f"f{k}": program(KINDS[name], count) for k, name in enumerate(names)}
    expected = {f"f{k}": KINDS[name](np.random.default_rng(seed), count) for k, name in enumerate(names)}
    found: dict[str, tuple[int, int | None]] = {}
    with tempfile.TemporaryDirectory() as folder:
        if node is not None:
            module = rose.export({key: (f, seed) for key, f in programs.items()}, path=Path(folder) / "draws")[1]
            text = SCRIPT.format(
                module=repr(module.resolve().as_uri()), names=[*programs], seed=seed, folder=repr(str(folder))
            )
            (Path(folder) / "main.mjs").write_text(text)
            subprocess.run([node, str(Path(folder) / "main.mjs")], check=True)
        for name, (key, numpys) in zip(names, expected.items(), strict=True):
            there = None
            if node is not None:
                there = int((np.frombuffer((Path(folder) / key).read_bytes(), numpys.dtype) != numpys).sum())
            found[name] = int((programs[key](seed) != numpys).sum()), there
    return found


def main() -> None:
    """The table; fails where bits differ."""
    given = options(__doc__ or "", draws=1_000_000, kinds=",".join(KINDS), seed=9)
    columns = {"draws of": "", "number": "d", "wasmtime": "d", "node": "d"}
    table = Table("random_bits", "draws whose bits differ from NumPy's", columns)
    for name, (here, there) in differing(given.kinds.split(","), given.draws, given.seed, shutil.which("node")).items():
        table.add(**{"draws of": name, "number": given.draws, "wasmtime": here, "node": there})
    table.finish(given.json)
    sys.exit(any(row["wasmtime"] or row["node"] for row in table.rows))


if __name__ == "__main__":
    main()
