"""Whether the mathematical functions give the same bits in wasmtime, in node and in the interpreter.

`python -m benchmarks.math_bits --points 100000 --functions sin,cos`: one module for all three; NaNs are all alike.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import wasmtime

from benchmarks.math_points import TRIALS, points
from benchmarks.measure import Table, options, process
from rosejit import interp
from rosejit.abi import Artifact
from rosejit.codegen.program.compile import compile_program
from rosejit.ir.syntax import Function
from rosejit.ops import PRIMITIVES
from rosejit.text import parse

ROW = 1001  # odd: pairs, and one alone

SCRIPT = """
import { readFileSync, writeFileSync } from "node:fs";
const [wasm, input, output, columns, row, results] = process.argv.slice(2);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasm)));
const data = readFileSync(input), places = JSON.parse(columns), size = 8 * row;
const found = new Uint8Array(data.length / places.length);
for (let at = 0, k = 0; at < data.length; at += places.length * size, k += size) {
  places.forEach((place, i) =>
    new Uint8Array(exports.memory.buffer, place, size).set(data.subarray(at + i * size, at + (i + 1) * size)));
  exports.main();
  found.set(new Uint8Array(exports.memory.buffer, Number(results), size), k);
}
writeFileSync(output, found);
console.log("{}");
"""


def function(name: str) -> Function:
    """The function of rows of arguments, in IR."""
    names = "xy"[: len(PRIMITIVES[name].params)]
    params = ", ".join(f"{a}: [{ROW}]Real" for a in names)
    args = ", ".join(f"{a}[i]" for a in names)
    return parse(f"def f({params}): [{ROW}]Real = loop i < {ROW} {{ {name}({args}) }}")


def in_wasmtime(artifact: Artifact, rows: Any) -> Any:
    """What the engine of Python gives."""
    store = wasmtime.Store()
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, artifact.wasm), []).exports(store)
    memory, main, entry = exports["memory"], exports["main"], artifact.entries["main"]
    assert isinstance(memory, wasmtime.Memory)
    assert isinstance(main, wasmtime.Func)
    found: list[Any] = []
    for row in rows:
        for slot, column in zip(entry.params, row, strict=True):
            memory.write(store, column.tobytes(), slot.offset)
        main(store)
        at = entry.results[0].offset
        found.append(np.frombuffer(bytes(memory.read(store, at, at + 8 * ROW))))
    return np.array(found)


def in_node(artifact: Artifact, rows: Any) -> Any:
    """What V8 gives."""
    entry = artifact.entries["main"]
    with tempfile.TemporaryDirectory() as folder:
        script, wasm, given, found = (Path(folder) / name for name in ("run.mjs", "f.wasm", "in", "out"))
        script.write_text(SCRIPT)
        wasm.write_bytes(artifact.wasm)
        given.write_bytes(rows.tobytes())
        columns = str([slot.offset for slot in entry.params])
        process(
            ["node", str(script), str(wasm), str(given), str(found), columns, str(ROW), str(entry.results[0].offset)]
        )
        return np.frombuffer(found.read_bytes()).reshape(-1, ROW)


def in_interpreter(f: Function, rows: Any) -> Any:
    """What the IR means."""
    return np.array([interp.run(f, [list(column) for column in row.tolist()])[0] for row in rows])


def differing(a: Any, b: Any) -> Any:
    """Where the bits differ."""
    return (a.view(np.int64) != b.view(np.int64)) & ~(np.isnan(a) & np.isnan(b))


def main() -> None:
    """The table."""
    given = options(__doc__ or "", points=100_000, functions=",".join(TRIALS), seed=1)
    columns = {"function": "", "points": "d", "node": "d", "interpreter": "d", "at": ""}
    table = Table("math_bits", "points at which bits differ from those of wasmtime", columns)
    for name in given.functions.split(","):
        rng = np.random.default_rng([given.seed, *name.encode()])
        arrays = points(name, rng, given.points)
        order = rng.permutation(len(arrays[0]))[: len(arrays[0]) // ROW * ROW]
        rows = np.stack([a[order].reshape(-1, ROW) for a in arrays], axis=1).copy()
        f = function(name)
        artifact, _ = compile_program({"main": f})
        mine = in_wasmtime(artifact, rows)
        node, meaning = differing(mine, in_node(artifact, rows)), differing(mine, in_interpreter(f, rows))
        at = [rows[k // ROW, :, k % ROW].tolist() for k in np.flatnonzero(node | meaning)[:3]]
        table.add(
            function=name, points=mine.size, node=int(node.sum()), interpreter=int(meaning.sum()), at=str(at or "")
        )
    table.finish(given.json)
    sys.exit(any(row["node"] or row["interpreter"] for row in table.rows))


if __name__ == "__main__":
    main()
